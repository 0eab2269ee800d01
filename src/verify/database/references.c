/* database/references.c: references of the original, and the broader rows that a release must add to them.
 *
 * By definition (docs/databases.md): the rows of a reference that share a value of one of its groups are a set, and so are those
 * whose targets are in a set of the reference that the last group refers to. Sets of two rows or more are listed as lists of rows
 * in the order of keys; equal ones count once; each lies inside the next larger that shares a row with it. A broader row stands
 * for each, and shows what all its rows share; one more stands for everything.
 *
 * Cost: rows × groups for the sets, and for each set its rows × columns.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdio.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_sort.h"
#include "kn_verify_references.h"

enum { MOST_DIGITS = 18, KEY_TEXT = 40 };

#define LINKED UINT64_C(256) /* what rows share: a set of another reference, behind the columns of groups */

/* ---- What is declared ---- */

const kn_spec_table *kn_vdb_said(const kn_vdb *v, const char *table)
{
    for (int i = 0; i < v->spec->table_count; i++)
        if (strcmp(v->spec->tables[i].name, table) == 0) return &v->spec->tables[i];
    return NULL;
}

bool kn_vdb_ignored(const kn_spec_table *said, const char *const *columns, int count)
{
    for (int i = 0; i < said->ignored_count; i++)
        for (int c = 0; c < count; c++)
            if (strcmp(said->ignored[i], columns[c]) == 0) return true;
    return false;
}

kn_status kn_vdb_sort_tables(kn_vdb *v, const kn_spec_table **out, kn_error *err)
{
    int            count = 0;
    kn_spec_table *sorted = kn_vdb_take(v, (size_t)v->spec->table_count, sizeof *sorted);
    if (!sorted) return kn_vdb_no_memory(v, err);
    for (int turn = 0; turn < 2; turn++)
        for (int i = 0; i < v->spec->table_count; i++)
            if (v->spec->tables[i].reference == (turn == 1)) sorted[count++] = v->spec->tables[i];
    for (int i = 0; i < count; i++) v->reference_count += sorted[i].reference;
    *out = sorted;
    return KN_OK;
}

/* The reference of that name; -1: none. */
static int find_reference(const kn_vdb *v, const char *name)
{
    int at = kn_vsheets_find(&v->original, name), first = v->original.count - v->reference_count;
    return at >= first ? at - first : -1;
}

/* The names of a reference's key. */
static const char *const *key_names(const kn_vdb *v, int reference, int *count)
{
    const kn_vsheet     *sheet = &v->original.list[v->table_count + reference];
    const kn_spec_table *said = kn_vdb_said(v, sheet->name);
    *count = said->has_key ? said->key_count : sheet->declared->key_count;
    return said->has_key ? said->key : sheet->declared->key;
}

/* Columns that hold a reference's keys are no part of the release's key: two rows may refer to one broader row. `targets` NULL: they
 * are in the order of the reference's key. */
static kn_status refer(kn_vdb *v, int table, int reference, const char *const *columns, const char *const *targets,
                       int count, kn_error *err)
{
    kn_vdb_table      *t = &v->tables[table];
    const kn_vsheet   *sheet = &v->original.list[table];
    int                size = 0;
    const char *const *key = key_names(v, reference, &size);
    kn_vdb_refer       one = {.reference = reference, .count = count, .label = -1};
    one.columns = kn_vdb_take(v, (size_t)count, sizeof *one.columns);
    if (!one.columns) return kn_vdb_no_memory(v, err);
    bool fits = size == count && count > 0;
    for (int i = 0; fits && i < count; i++) {
        int at = i;
        for (at = targets ? 0 : i; targets && at < count && strcmp(targets[at], key[i]) != 0;) at++;
        one.columns[i] = at < count ? kn_vsheet_find(sheet, columns[at]) : -1;
        fits = one.columns[i] >= 0;
    }
    if (!fits)
        return kn_fail(err, KN_INPUT, "table \"%s\" refers to the reference \"%s\" by other columns than its key",
                       sheet->name, v->original.list[v->table_count + reference].name);
    for (int o = 0; o < t->refer_count; o++)
        if (t->refer[o].reference == reference && t->refer[o].count == count &&
            memcmp(t->refer[o].columns, one.columns, (size_t)count * sizeof(int)) == 0)
            return KN_OK; /* said twice */
    for (int i = 0; i < count; i++) {
        if (t->refers[one.columns[i]] >= 0)
            return kn_fail(err, KN_INPUT, "table \"%s\", column \"%s\" is part of two keys of references", sheet->name,
                           kn_vsheet_name(sheet, one.columns[i]));
        t->refers[one.columns[i]] = reference;
        for (int k = 0; k < t->key_count; k++) t->key_drawn = t->key_drawn || t->key_columns[k] == one.columns[i];
    }
    if (t->key_drawn) t->key_count = 0;
    t->refer[t->refer_count++] = one;
    return KN_OK;
}

kn_status kn_vdb_refers(kn_vdb *v, int table, kn_error *err)
{
    const kn_vsheet        *sheet = &v->original.list[table];
    const kn_catalog_table *declared = sheet->declared;
    const kn_spec_table    *said = kn_vdb_said(v, sheet->name);
    kn_vdb_table           *t = &v->tables[table];
    size_t                  most = (size_t)declared->link_count + (size_t)(said ? said->link_count : 0);
    t->refers = kn_vdb_take(v, (size_t)sheet->column_count, sizeof(int));
    t->refer = kn_vdb_take(v, most, sizeof *t->refer);
    if (!t->refers || !t->refer) return kn_vdb_no_memory(v, err);
    t->drawn = -1;
    for (int c = 0; c < sheet->column_count; c++) t->refers[c] = -1;
    for (int l = 0; l < declared->link_count; l++) {
        const kn_catalog_link *link = &declared->links[l];
        int                    reference = find_reference(v, link->target);
        if (reference < 0 || (said && kn_vdb_ignored(said, link->columns, link->count))) continue;
        const char *const *targets = link->target_columns[0] ? link->target_columns : NULL;
        KN_TRY(refer(v, table, reference, link->columns, targets, link->count, err));
    }
    for (int l = 0; said && l < said->link_count; l++) {
        int reference = find_reference(v, said->link_targets[l]);
        if (reference >= 0) KN_TRY(refer(v, table, reference, said->link_lists[l], NULL, said->link_counts[l], err));
    }
    return KN_OK;
}

/* ---- Keys and links of references ---- */

static kn_status take_key(kn_vdb *v, kn_vref *r, kn_error *err)
{
    const kn_catalog_table *declared = r->original->declared;
    bool                    said = r->said->has_key;
    const char *const      *names = said ? r->said->key : declared->key;
    int64_t                 twice = -1;
    r->key_count = said ? r->said->key_count : declared->key_count;
    r->key = kn_vdb_take(v, (size_t)r->key_count, sizeof *r->key);
    if (!r->key) return kn_vdb_no_memory(v, err);
    for (int i = 0; i < r->key_count; i++) {
        r->key[i] = kn_vsheet_find(r->original, names[i]);
        if (r->key[i] < 0) return kn_fail(err, KN_INPUT, "reference \"%s\" has no column \"%s\"", r->name, names[i]);
    }
    kn_vdb_lookup l = {r->original, r->original, r->key, r->key, r->key_count};
    if (r->key_count > 0) KN_TRY(kn_vdb_look_up(NULL, &twice, v, &l, err));
    return twice < 0 ? KN_OK : kn_fail(err, KN_INPUT, "reference \"%s\": two rows have the same key, or none", r->name);
}

/* One foreign key of a reference; `target` NULL: the key of the table that it refers to. */
static kn_status take_link(kn_vdb *v, kn_vref *r, const char *const *columns, int count, const char *to,
                           const char *target, kn_error *err)
{
    int reference = find_reference(v, to), column = kn_vsheet_find(r->original, columns[0]);
    if (kn_vdb_ignored(r->said, columns, count)) {
        for (int i = 0; reference < 0 && kn_vsheets_find(&v->original, to) >= 0 && i < count; i++)
            r->left_out[kn_vsheet_find(r->original, columns[i])] = kn_vdb_ignored(r->said, &columns[i], 1);
        return KN_OK;
    }
    if (reference < 0 && kn_vsheets_find(&v->original, to) >= 0)
        return kn_fail(err, KN_INPUT,
                       "table \"%s\" is said to be a reference, but refers to \"%s\", which is of persons", r->name,
                       to);
    if (reference < 0) return KN_OK;
    const kn_vref *t = &v->references[reference];
    r->targets[r->target_count++] = reference;
    if (count == 1 && column >= 0 && t->key_count == 1 && (!target || kn_vsheet_find(t->original, target) == t->key[0]))
        r->links[r->link_count++] = (kn_vref_link){column, reference, NULL};
    return KN_OK;
}

static kn_status take_links(kn_vdb *v, kn_vref *r, kn_error *err)
{
    const kn_catalog_table *declared = r->original->declared;
    size_t                  most = (size_t)declared->link_count + (size_t)r->said->link_count;
    r->targets = kn_vdb_take(v, most, sizeof *r->targets);
    r->links = kn_vdb_take(v, most, sizeof *r->links);
    if (!r->targets || !r->links) return kn_vdb_no_memory(v, err);
    for (int l = 0; l < declared->link_count; l++) {
        const kn_catalog_link *link = &declared->links[l];
        KN_TRY(take_link(v, r, link->columns, link->count, link->target, link->target_columns[0], err));
    }
    for (int l = 0; l < r->said->link_count; l++)
        KN_TRY(take_link(v, r, r->said->link_lists[l], r->said->link_counts[l], r->said->link_targets[l], NULL, err));
    return KN_OK;
}

/* Grows `from` to all references that these lead to. */
static void spread(const kn_vdb *v, bool *from)
{
    for (bool more = true; more;) {
        more = false;
        for (int r = 0; r < v->reference_count; r++)
            for (int i = 0; from[r] && i < v->references[r].target_count; i++) {
                more = more || !from[v->references[r].targets[i]];
                from[v->references[r].targets[i]] = true;
            }
    }
}

/* Keeps the links to references that do not lead back, and finds the rows that they refer to. */
static kn_status keep_links(kn_vdb *v, kn_vref *r, bool *reached, kn_error *err)
{
    int kept = 0;
    for (int l = 0; l < r->link_count; l++) {
        kn_vref_link link = r->links[l];
        kn_vref     *t = &v->references[link.target];
        int64_t      twice = -1;
        memset(reached, 0, (size_t)v->reference_count * sizeof *reached);
        reached[link.target] = true;
        spread(v, reached);
        bool known = t == r || reached[r - v->references];
        for (int i = 0; i < kept; i++) known = known || r->links[i].column == link.column;
        if (known) continue;
        link.rows = kn_vdb_take(v, (size_t)r->original->rows, sizeof *link.rows);
        if (!link.rows) return kn_vdb_no_memory(v, err);
        kn_vdb_lookup look = {t->original, r->original, t->key, &link.column, 1};
        KN_TRY(kn_vdb_look_up(link.rows, &twice, v, &look, err));
        r->links[kept++] = link;
    }
    r->link_count = kept;
    return KN_OK;
}

/* ---- Sets of rows ---- */

typedef struct set {
    size_t   begin, end; /* of `members`: ranks, ascending */
    uint32_t first, size;
    uint64_t narrow; /* of equal sets the one that counts has the least */
} set;

typedef struct sets {
    kn_vdb         *v;
    kn_vref        *r;
    uint32_t       *rank, *row; /* of a row in the order of keys, and back          */
    kn_sort_record *pairs;      /* (what is shared, rank)                           */
    size_t          pair_count, pair_capacity;
    set            *list;
    size_t          count;
    int             columns[256]; /* of the groups, narrowest first                 */
    int             column_count;
} sets;

static int64_t whole_number(kn_string text)
{
    int64_t number = 0;
    if (text.size == 0 || text.size > MOST_DIGITS || (text.size > 1 && text.data[0] == '0')) return -1;
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] < '0' || text.data[i] > '9') return -1;
        number = number * 10 + (text.data[i] - '0');
    }
    return number;
}

static bool like_uuid(kn_string text)
{
    static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    if (text.size != sizeof form - 1) return false;
    for (size_t i = 0; i < text.size; i++)
        if (form[i] == '-' ? text.data[i] != '-' : !memchr("0123456789abcdefABCDEF", text.data[i], 22)) return false;
    return true;
}

static kn_string key_text(const kn_vref *r, int64_t row)
{
    return kn_vsheet_text(r->original, r->key[0], kn_vsheet_code(r->original, r->key[0], row));
}

static kn_vref_kind kind_of(const kn_vref *r)
{
    bool numbers = r->key_count == 1, uuids = numbers && r->original->rows > 0;
    for (int64_t row = 0; row < r->original->rows; row++) {
        numbers = numbers && whole_number(key_text(r, row)) >= 0;
        uuids = uuids && like_uuid(key_text(r, row));
    }
    return numbers ? KN_VREF_NUMBERS : uuids ? KN_VREF_UUIDS : KN_VREF_TEXTS;
}

static bool key_before(const void *arg, uint32_t a, uint32_t b)
{
    const kn_vref *r = arg;
    kn_string      x = key_text(r, a), y = key_text(r, b);
    int64_t        m = whole_number(x), n = whole_number(y);
    if (r->kind == KN_VREF_NUMBERS) return m < n;
    int order = memcmp(x.data, y.data, x.size < y.size ? x.size : y.size);
    return order ? order < 0 : x.size < y.size;
}

static kn_status rank_rows(sets *s, kn_error *err)
{
    size_t rows = (size_t)s->r->original->rows;
    s->row = kn_vdb_take(s->v, rows, sizeof *s->row);
    s->rank = kn_vdb_take(s->v, rows, sizeof *s->rank);
    if (!s->row || !s->rank) return kn_vdb_no_memory(s->v, err);
    s->r->kind = kind_of(s->r);
    for (size_t i = 0; i < rows; i++) s->row[i] = (uint32_t)i;
    kn_sort_numbers(s->row, rows, key_before, s->r);
    for (size_t i = 0; i < rows; i++) s->rank[s->row[i]] = (uint32_t)i;
    return KN_OK;
}

/* The groups that the spec names, else the column of the only link to another reference. */
static kn_status find_groups(sets *s, kn_error *err)
{
    const kn_vref *r = s->r;
    if (r->said->groups) {
        for (int i = 0; i < r->said->group_count && i < 256; i++) {
            s->columns[i] = kn_vsheet_find(r->original, r->said->groups[i]);
            if (s->columns[i] < 0 || r->left_out[s->columns[i]])
                return kn_fail(err, KN_INPUT, "reference \"%s\": column \"%s\" cannot be one of its groups", r->name,
                               r->said->groups[i]);
        }
        s->column_count = r->said->group_count < 256 ? r->said->group_count : 256;
        return KN_OK;
    }
    int shown = 0;
    for (int l = 0; l < r->link_count; l++) {
        if (r->left_out[r->links[l].column]) continue;
        s->columns[0] = r->links[l].column;
        shown++;
    }
    s->column_count = shown == 1;
    return KN_OK;
}

static const kn_vref_link *link_at(const kn_vref *r, int column)
{
    for (int l = 0; l < r->link_count; l++)
        if (r->links[l].column == column) return &r->links[l];
    return NULL;
}

static kn_status add_pair(sets *s, uint64_t what, int64_t row, kn_error *err)
{
    void *pairs = s->pairs;
    if (!kn_grow(s->v->ctx, &pairs, &s->pair_capacity, s->pair_count + 1, sizeof *s->pairs))
        return kn_vdb_no_memory(s->v, err);
    s->pairs = pairs;
    s->pairs[s->pair_count++] = (kn_sort_record){what, s->rank[row]};
    return KN_OK;
}

static kn_status pair_row(sets *s, int64_t row, kn_error *err)
{
    const kn_vref *r = s->r;
    for (int i = 0; i < s->column_count; i++) {
        uint32_t            code = kn_vsheet_code(r->original, s->columns[i], row);
        const kn_vref_link *link = i + 1 == s->column_count ? link_at(r, s->columns[i]) : NULL;
        if (code == kn_vsheet_distinct(r->original, s->columns[i])) return KN_OK;
        KN_TRY(add_pair(s, (uint64_t)i << 32 | code, row, err));
        if (!link || link->rows[row] == KN_V_NONE) continue;
        const kn_vref *t = &s->v->references[link->target];
        for (uint32_t at = t->above[link->rows[row]]; at != t->count - 1; at = t->above[t->original->rows + at])
            KN_TRY(add_pair(s, LINKED << 32 | at, row, err));
    }
    return KN_OK;
}

static int by_place(const void *arg, const void *a, const void *b)
{
    const set *x = a, *y = b;
    (void)arg;
    if (x->first != y->first) return x->first < y->first ? -1 : 1;
    if (x->size != y->size) return x->size < y->size ? -1 : 1;
    return x->narrow < y->narrow ? -1 : x->narrow > y->narrow;
}

/* By what the rows of a set are together: the first of the groups, and of sets of another reference the smallest. */
static uint64_t narrowness(const sets *s, uint64_t what)
{
    if (what >> 32 != LINKED) return what >> 32 << 32;
    const kn_vref *t = &s->v->references[link_at(s->r, s->columns[s->column_count - 1])->target];
    return LINKED << 32 | t->sizes[(uint32_t)what];
}

static kn_status list_sets(sets *s, kn_error *err)
{
    for (int64_t row = 0; row < s->r->original->rows; row++) KN_TRY(pair_row(s, row, err));
    KN_TRY(kn_sort_records(s->v->ctx, s->pairs, s->pair_count, NULL, NULL, err));
    s->list = kn_vdb_take(s->v, s->pair_count, sizeof *s->list);
    if (!s->list) return kn_vdb_no_memory(s->v, err);
    for (size_t begin = 0, end; begin < s->pair_count; begin = end) {
        for (end = begin; end < s->pair_count && s->pairs[end].key == s->pairs[begin].key;) end++;
        if (end - begin > 1)
            s->list[s->count++] = (set){begin, end, (uint32_t)s->pairs[begin].id, (uint32_t)(end - begin),
                                        narrowness(s, s->pairs[begin].key)};
    }
    kn_sort_in_place(s->list, s->count, sizeof *s->list, by_place, NULL);
    size_t kept = 0; /* one inside the other or apart: with the same first row and size they are equal */
    for (size_t i = 0; i < s->count; i++)
        if (i == 0 || s->list[i].first != s->list[kept - 1].first || s->list[i].size != s->list[kept - 1].size)
            s->list[kept++] = s->list[i];
    s->count = kept;
    return KN_OK;
}

/* From the largest set to the smallest: the last one that had all rows of a set is above it. */
static kn_status nest(sets *s, kn_error *err)
{
    kn_vref        *r = s->r;
    size_t          rows = (size_t)r->original->rows;
    uint32_t       *owner = kn_vdb_take(s->v, rows, sizeof *owner);
    kn_sort_record *order = kn_vdb_take(s->v, s->count, sizeof *order);
    r->count = (uint32_t)s->count + 1;
    r->above = kn_vdb_take(s->v, rows + r->count, sizeof *r->above);
    if (!owner || !order || !r->above) return kn_vdb_no_memory(s->v, err);
    for (size_t i = 0; i < rows; i++) owner[i] = r->count - 1;
    for (size_t i = 0; i < s->count; i++) order[i] = (kn_sort_record){UINT32_MAX - s->list[i].size, i};
    KN_TRY(kn_sort_records(s->v->ctx, order, s->count, NULL, NULL, err));
    for (size_t o = 0; o < s->count; o++) {
        const set *one = &s->list[order[o].id];
        uint32_t   above = owner[s->pairs[one->begin].id];
        for (size_t m = one->begin; m < one->end; m++) {
            if (owner[s->pairs[m].id] != above)
                return kn_fail(err, KN_INPUT, "reference \"%s\": its groups are not one inside the other", r->name);
            owner[s->pairs[m].id] = (uint32_t)order[o].id;
        }
        r->above[rows + order[o].id] = above;
    }
    for (size_t i = 0; i < rows; i++) r->above[s->row[i]] = owner[i];
    r->above[rows + r->count - 1] = KN_V_NONE;
    return KN_OK;
}

/* ---- What broader rows show ---- */

static bool is_taken(const kn_vref *r, const char *text, size_t size)
{
    for (int64_t row = 0; row < r->original->rows; row++)
        if (kn_string_equal(key_text(r, row), (kn_string){text, size})) return true;
    return false;
}

static kn_status name_sets(kn_vdb *v, kn_vref *r, kn_error *err)
{
    int64_t next = 0;
    r->keys = kn_vdb_take(v, r->count, sizeof *r->keys);
    if (!r->keys) return kn_vdb_no_memory(v, err);
    for (int64_t row = 0; r->kind == KN_VREF_NUMBERS && row < r->original->rows; row++)
        if (whole_number(key_text(r, row)) > next) next = whole_number(key_text(r, row));
    for (uint32_t g = 0; g < r->count; g++) {
        char *text = kn_vdb_take(v, KEY_TEXT, 1);
        int   size = 0;
        if (!text) return kn_vdb_no_memory(v, err);
        for (bool taken = true; taken; taken = r->kind != KN_VREF_NUMBERS && is_taken(r, text, (size_t)size)) {
            next++;
            size = r->kind == KN_VREF_NUMBERS ? snprintf(text, KEY_TEXT, "%" PRId64, next)
                   : r->kind == KN_VREF_UUIDS
                       ? snprintf(text, KEY_TEXT, "00000000-0000-4000-8000-%012" PRIx64, (uint64_t)next)
                       : snprintf(text, KEY_TEXT, "*%" PRId64, next);
        }
        r->keys[g] = (kn_string){text, (size_t)size};
    }
    return KN_OK;
}

/* Is a row, or a broader one, of a reference below one of its broader rows, or is it? */
static bool is_below(const kn_vref *t, uint32_t node, uint32_t top)
{
    while (node != top && t->above[node] != KN_V_NONE) node = (uint32_t)t->original->rows + t->above[node];
    return node == top;
}

/* The narrowest that all targets of a set's rows are below: a row itself, or a broader one; that of everything shows nothing. */
static kn_string shared_target(const sets *s, const set *one, const kn_vref_link *link)
{
    const kn_vref *t = &s->v->references[link->target];
    uint32_t       rows = (uint32_t)t->original->rows, at = link->rows[s->row[s->pairs[one->begin].id]];
    for (size_t m = one->begin; m < one->end; m++)
        if (link->rows[s->row[s->pairs[m].id]] == KN_V_NONE) return (kn_string){NULL, 0};
    for (;; at = rows + t->above[at]) {
        bool all = true;
        for (size_t m = one->begin; all && m < one->end; m++) all = is_below(t, link->rows[s->row[s->pairs[m].id]], at);
        if (all) break;
    }
    if (at < rows) return key_text(t, at);
    return at == rows + t->count - 1 || t->labels ? (kn_string){NULL, 0} : t->keys[at - rows];
}

static kn_string shared_text(const sets *s, const set *one, int column)
{
    const kn_vsheet *sheet = s->r->original;
    uint32_t         code = kn_vsheet_code(sheet, column, s->row[s->pairs[one->begin].id]);
    for (size_t m = one->begin; m < one->end; m++)
        if (kn_vsheet_code(sheet, column, s->row[s->pairs[m].id]) != code) return (kn_string){NULL, 0};
    return kn_vsheet_text(sheet, column, code);
}

static kn_status show(sets *s, kn_error *err)
{
    kn_vref *r = s->r;
    int      columns = r->original->column_count;
    r->cells = kn_vdb_take(s->v, (size_t)r->count * (size_t)columns, sizeof *r->cells);
    if (!r->cells) return kn_vdb_no_memory(s->v, err);
    for (uint32_t g = 0; g < r->count; g++)
        for (int c = 0; c < columns; c++) {
            kn_string          *cell = &r->cells[(size_t)g * (size_t)columns + (size_t)c];
            const kn_vref_link *link = link_at(r, c);
            if (c == r->key[0])
                *cell = r->keys[g];
            else if (g + 1 < r->count)
                *cell = link ? shared_target(s, &s->list[g], link) : shared_text(s, &s->list[g], c);
        }
    return KN_OK;
}

/* "COLUMN: VALUE" for a set of rows that share a value, "COLUMN.LABEL" for rows whose targets are in a set with that label. */
static kn_status label(sets *s, kn_error *err)
{
    kn_vref *r = s->r;
    r->names = kn_vdb_take(s->v, r->count, sizeof *r->names);
    r->sizes = kn_vdb_take(s->v, r->count, sizeof *r->sizes);
    if (!r->names || !r->sizes) return kn_vdb_no_memory(s->v, err);
    r->names[r->count - 1] = (kn_string){"*", 1};
    for (size_t i = 0; i < s->count; i++) {
        uint64_t    what = s->pairs[s->list[i].begin].key;
        bool        linked = what >> 32 == LINKED;
        int         column = s->columns[linked ? s->column_count - 1 : (int)(what >> 32)];
        const char *name = kn_vsheet_name(r->original, column);
        kn_string   text = linked ? s->v->references[link_at(r, column)->target].names[(uint32_t)what]
                                  : kn_vsheet_text(r->original, column, (uint32_t)what);
        size_t      size = strlen(name) + text.size + 2;
        char       *to = kn_vdb_take(s->v, size, 1);
        if (!to) return kn_vdb_no_memory(s->v, err);
        int begin = snprintf(to, size + 1, "%s%s", name, linked ? "." : ": ");
        memcpy(to + begin, text.data, text.size);
        r->names[i] = (kn_string){to, (size_t)begin + text.size};
        r->sizes[i] = s->list[i].size;
    }
    return KN_OK;
}

/* ---- All of them ---- */

static kn_status widen(kn_vdb *v, kn_vref *r, kn_error *err)
{
    sets s = {.v = v, .r = r};
    if (r->wide) return KN_OK;
    r->wide = true;
    if (r->key_count == 0)
        return kn_fail(err, KN_INPUT, "rows refer to the reference \"%s\", which has no key", r->name);
    r->labels = r->said->labels || r->key_count > 1;
    r->row_keys = kn_vdb_take(v, (size_t)r->original->rows, sizeof *r->row_keys);
    if (!r->row_keys) return kn_vdb_no_memory(v, err);
    for (int64_t row = 0; row < r->original->rows; row++)
        KN_TRY(kn_vdb_key_text(v, r->original, r->key, r->key_count, row, &r->row_keys[row], err));
    for (int l = 0; l < r->link_count; l++) KN_TRY(widen(v, &v->references[r->links[l].target], err));
    kn_status st = find_groups(&s, err);
    if (st == KN_OK) st = rank_rows(&s, err);
    if (st == KN_OK) st = list_sets(&s, err);
    if (st == KN_OK) st = nest(&s, err);
    if (st == KN_OK) st = label(&s, err);
    if (st == KN_OK && !r->labels) st = name_sets(v, r, err);
    if (st == KN_OK && !r->labels) st = show(&s, err);
    kn_free(s.pairs);
    return st;
}

/* Broader rows are in the release where rows refer to them: persons', or other broader rows. */
static void need(kn_vdb *v, kn_vref *r)
{
    if (r->labels || r->needed) return;
    r->needed = true;
    for (int l = 0; l < r->link_count; l++) need(v, &v->references[r->links[l].target]);
}

kn_status kn_vdb_references(kn_vdb *v, kn_error *err)
{
    bool *reached = kn_vdb_take(v, (size_t)v->reference_count, sizeof *reached);
    v->references = kn_vdb_take(v, (size_t)v->reference_count, sizeof *v->references);
    if (!reached || !v->references) return kn_vdb_no_memory(v, err);
    for (int i = 0; i < v->reference_count; i++) {
        kn_vref *r = &v->references[i];
        r->original = &v->original.list[v->table_count + i];
        r->name = r->original->name;
        r->said = kn_vdb_said(v, r->name);
        r->left_out = kn_vdb_take(v, (size_t)r->original->column_count, sizeof *r->left_out);
        if (!r->left_out) return kn_vdb_no_memory(v, err);
        for (int a = 0; a < r->said->attribute_count; a++) {
            int c = kn_vsheet_find(r->original, r->said->attributes[a].name);
            if (c >= 0 && r->said->attributes[a].role == KN_ROLE_IDENTIFIER) r->left_out[c] = true;
        }
        KN_TRY(take_key(v, r, err));
    }
    for (int i = 0; i < v->reference_count; i++) KN_TRY(take_links(v, &v->references[i], err));
    for (int i = 0; i < v->reference_count; i++) KN_TRY(keep_links(v, &v->references[i], reached, err));
    for (int t = 0; t < v->table_count; t++)
        for (int c = 0; c < v->original.list[t].column_count; c++)
            if (v->tables[t].refers[c] >= 0) {
                KN_TRY(widen(v, &v->references[v->tables[t].refers[c]], err));
                v->references[v->tables[t].refers[c]].direct = true;
                need(v, &v->references[v->tables[t].refers[c]]);
            }
    return KN_OK;
}
