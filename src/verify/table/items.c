/* table/items.c: the column of sets (role: set): what its cells mean, whether a cell stands for another, and k^m within each class.
 *
 * From the definition: of every class all combinations of 1 to m labels of each row are numbered and counted one by one. A cell is "*" or labels
 * in the order of their bytes, each once and none empty, between separators; there is one text for no label at all. A class shows "*" in all of
 * its cells or in none. A cell stands for an original set if it is "*", or if each item of the set is, or is below, one of the labels and each label
 * is, or is above, one of the items.
 *
 * Cost: the combinations of every row, up to the work limit. Memory: about 40 bytes per different combination of one class.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <math.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_verify_internal.h"

#define WHAT "verifying"
#define WORK_LIMIT INT64_C(10000000000)

enum { SHOWN = 5 };

/* ---- Texts ---- */

/* The next item of a text; false: there is none. *uneven: one was empty, or had blanks around it. */
static bool next_item(kn_string text, char separator, size_t *at, kn_string *out, bool *uneven)
{
    while (*at <= text.size && text.size > 0) {
        size_t begin = *at, end = begin;
        while (end < text.size && text.data[end] != separator) end++;
        *at = end + 1;
        kn_string whole = {text.data + begin, end - begin};
        *out = kn_value_trim(whole);
        *uneven = *uneven || out->size == 0 || out->size < whole.size;
        if (out->size > 0) return true;
    }
    return false;
}

/* Adds the numbers of a text's items; *ordered: they ascend by their bytes, and nothing else is there. */
static bool add_items(kn_texts *numbers, kn_string text, char separator, uint32_t **to, size_t *count, size_t *capacity,
                      bool *ordered)
{
    kn_string item, last = {NULL, 0};
    bool      uneven = false;
    *ordered = true;
    for (size_t at = 0; next_item(text, separator, &at, &item, &uneven);) {
        uint32_t number = kn_texts_add(numbers, item, false);
        if (number == KN_V_NONE || !KN_GROW(numbers->ctx, to, capacity, *count + 1)) return false;
        (*to)[(*count)++] = number;
        *ordered = *ordered && (!last.data || kn_string_compare(last, item) < 0);
        last = item;
    }
    *ordered = *ordered && !uneven;
    return true;
}

static kn_status read_sets(kn_vsets *sets, kn_verifier *v, const kn_vcolumn *column, const bool *used, kn_error *err)
{
    size_t count = 0, capacity = 0;
    bool   good = true;
    kn_texts_init(&sets->texts, v->ctx);
    KN_ALLOC_ZERO(v->ctx, sets->start, (size_t)column->count + 1);
    KN_ALLOC_ZERO(v->ctx, sets->ordered, (size_t)column->count + 1);
    good = sets->start && sets->ordered;
    for (uint32_t t = 0; good && t < column->count; t++) {
        sets->start[t] = count;
        sets->ordered[t] = true;
        if (kn_v_is_missing(v->spec, column->texts[t]) || (used && !used[t])) continue;
        good = add_items(&sets->texts, column->texts[t], v->items->separator, &sets->items, &count, &capacity,
                         &sets->ordered[t]);
    }
    if (good) sets->start[column->count] = count;
    return good ? KN_OK : kn_fail_memory(err, v->ctx, WHAT);
}

/* ---- Meanings ---- */

/* What the items of the rows that are not left out mean: texts, none of which is a missing cell. */
static kn_status make_domain(kn_verifier *v, kn_error *err)
{
    static const char *const none[] = {""};
    kn_vitems               *i = v->items;
    uint32_t                 n = i->original_sets.texts.count;
    uint32_t                *codes = kn_arena_array(&v->arena, (size_t)n + 1, sizeof *codes);
    if (!codes) return kn_fail_memory(err, v->ctx, WHAT);
    for (uint32_t c = 0; c < n; c++) codes[c] = c;
    i->column = (kn_vcolumn){.texts = i->original_sets.texts.texts, .count = n, .width = 4, .codes = codes};
    i->plain = *v->spec;
    i->plain.csv.na = none;
    i->plain.csv.na_count = 1;
    kn_vrows rows = {n, NULL};
    KN_TRY(kn_vdomain_make(&i->domain, v->ctx, &i->plain, i->attribute, &rows, &i->column, NULL, v->zone, err));
    kn_attribute a = *i->attribute;
    kn_arena     room = {.ctx = v->ctx};
    kn_status    st = a.has_hierarchy ? KN_OK : kn_vtree_by_type(&a.hierarchy, &room, &i->domain, err);
    a.has_hierarchy = true;
    if (st == KN_OK) st = kn_vtree_make(&i->tree, v->ctx, &a, &i->domain, err);
    kn_arena_free(&room);
    return st;
}

/* The labels of the release: each a value of the original, a label of the hierarchy, or both. */
static kn_status find_labels(kn_verifier *v, kn_error *err)
{
    kn_vitems *i = v->items;
    uint32_t   n = i->release_sets.texts.count;
    i->value_of = kn_arena_array(&v->arena, (size_t)n + 1, sizeof *i->value_of);
    i->label_of = kn_arena_array(&v->arena, (size_t)n + 1, sizeof *i->label_of);
    i->star = KN_V_NONE;
    if (v->arena.failed) return kn_fail_memory(err, v->ctx, WHAT);
    for (uint32_t t = 0; t < n; t++) {
        kn_string text = i->release_sets.texts.texts[t];
        i->value_of[t] = kn_vdomain_find(&i->domain, text);
        i->label_of[t] = kn_texts_find(&i->tree->labels, text);
        if (kn_string_equal(text, kn_string_of("*"))) i->star = t;
    }
    return KN_OK;
}

static bool is_star(const kn_vitems *i, uint32_t text)
{
    const kn_vsets *s = &i->release_sets;
    return s->start[text + 1] == s->start[text] + 1 && s->items[s->start[text]] == i->star;
}

/* The form of the released cells: what could mark a row. */
static void check_cells(kn_verifier *v)
{
    const kn_vitems *i = v->items;
    const kn_vsets  *s = &i->release_sets;
    int              shown = 0, empty = 0;
    for (uint32_t t = 0; t < i->release->count && shown < SHOWN; t++) {
        bool known = true;
        empty += s->start[t + 1] == s->start[t];
        for (uint64_t l = s->start[t]; l < s->start[t + 1]; l++)
            known = known && (s->items[l] == i->star
                                  ? is_star(i, t)
                                  : i->value_of[s->items[l]] != KN_V_NONE || i->label_of[s->items[l]] != KN_V_NONE);
        if (known && s->ordered[t]) continue;
        shown++;
        kn_vproblem(v->notes, "row %" PRId64 ", column \"%s\": %s", kn_vcolumn_first(i->release, t) + 1,
                    i->attribute->name,
                    known ? "items must be in the order of their bytes, each once and without blanks around them: that "
                            "can mark a row"
                          : "neither * nor items of the original and labels of the hierarchy");
    }
    if (empty > 1)
        kn_vproblem(v->notes, "column \"%s\": no items are written in several ways: that can mark a row",
                    i->attribute->name);
}

kn_status kn_verify_open_items(kn_verifier *v, kn_error *err)
{
    kn_vitems *i = v->items;
    if (!i) return KN_OK;
    bool *used = kn_arena_array_zero(&v->arena, (size_t)i->original->count + 1, sizeof *used);
    if (!used) return kn_fail_memory(err, v->ctx, WHAT);
    for (int64_t row = 0; row < v->original->rows; row++)
        if (!v->dropped || !v->dropped[row]) used[kn_vcode(i->original, row)] = true;
    i->separator = i->attribute->separator ? i->attribute->separator[0] : ';';
    KN_TRY(read_sets(&i->original_sets, v, i->original, used, err));
    KN_TRY(read_sets(&i->release_sets, v, i->release, NULL, err));
    KN_TRY(make_domain(v, err));
    KN_TRY(find_labels(v, err));
    check_cells(v);
    return KN_OK;
}

void kn_verify_close_items(kn_verifier *v)
{
    kn_vitems *i = v->items;
    if (!i) return;
    for (int side = 0; side < 2; side++) {
        kn_vsets *s = side == 0 ? &i->original_sets : &i->release_sets;
        kn_texts_free(&s->texts);
        KN_FREE(s->start, s->items, s->ordered);
    }
    kn_vdomain_free(&i->domain);
    kn_vtree_free(i->tree);
}

/* ---- Cells and originals ---- */

/* Is the item, or one above it, called so? *cover: of how many leaves; NAN: in several ways. */
static bool stands_for(const kn_vitems *i, uint32_t label, uint32_t item, double *cover)
{
    uint32_t        value = i->domain.of_original[item];
    const kn_vtree *t = i->tree;
    bool            found = i->value_of[label] == value;
    *cover = found ? 1 : -1;
    if (value == KN_V_NONE || value == KN_V_MISSING || i->label_of[label] == KN_V_NONE || t->leaves == 0) return found;
    const uint32_t *path = t->paths + (size_t)t->leaf_of_value[value] * (t->height + 1);
    for (uint32_t level = 0; level <= t->height; level++) {
        if (t->label[path[level]] != i->label_of[label]) continue;
        double here = t->cover[path[level]];
        *cover = *cover < 0 || *cover == here ? here : (double)NAN;
        found = true;
    }
    return found;
}

bool kn_verify_items_stand(const kn_vitems *i, uint32_t original, uint32_t release)
{
    const kn_vsets *o = &i->original_sets, *r = &i->release_sets;
    double          cover;
    if (is_star(i, release)) return true;
    for (uint64_t x = o->start[original]; x < o->start[original + 1]; x++) {
        bool covered = false;
        for (uint64_t l = r->start[release]; !covered && l < r->start[release + 1]; l++)
            covered = stands_for(i, r->items[l], o->items[x], &cover);
        if (!covered) return false;
    }
    for (uint64_t l = r->start[release]; l < r->start[release + 1]; l++) {
        bool covers = false;
        for (uint64_t x = o->start[original]; !covers && x < o->start[original + 1]; x++)
            covers = stands_for(i, r->items[l], o->items[x], &cover);
        if (!covers) return false;
    }
    return true;
}

/* ---- What was lost, with a row map ---- */

static bool is_repeated(const kn_vsets *o, uint64_t from, uint64_t at)
{
    for (uint64_t x = from; x < at; x++)
        if (o->items[x] == o->items[at]) return true;
    return false;
}

/* Of one row: *kept items, and what they lost. */
static void measure_row(const kn_vitems *i, uint32_t original, uint32_t release, bool hidden, kn_verify_report *to,
                        double *loss)
{
    const kn_vsets *o = &i->original_sets, *r = &i->release_sets;
    double          leaves = i->tree->leaves;
    for (uint64_t x = o->start[original]; x < o->start[original + 1]; x++) {
        double best = -1, cover;
        if (is_repeated(o, o->start[original], x)) continue;
        to->items++;
        if (hidden) *loss += 1;
        for (uint64_t l = r->start[release]; !hidden && l < r->start[release + 1]; l++) {
            if (!stands_for(i, r->items[l], o->items[x], &cover)) continue;
            to->items_kept += i->value_of[r->items[l]] == i->domain.of_original[o->items[x]];
            best = best < 0 ? cover : (double)NAN; /* two labels: it is not known by which it is shown */
        }
        if (!hidden && leaves > 1) *loss += (best - 1) / (leaves - 1);
    }
}

static kn_status measure(kn_verifier *v, kn_error *err)
{
    const kn_vitems *i = v->items;
    double           loss = 0;
    v->report->items_loss = NAN;
    if (!v->map || !v->map_ok || v->report->assignment != KN_ASSIGNMENT_PROVED) return KN_OK;
    uint8_t *seen = kn_alloc_zero(v->ctx, (size_t)v->original->rows + 1);
    if (!seen) return kn_fail_memory(err, v->ctx, WHAT);
    for (int64_t row = 0; row < v->release->rows; row++) {
        uint32_t r = kn_vcode(i->release, row);
        seen[v->map[row]] = 1;
        measure_row(i, kn_vcode(i->original, v->map[row]), r, v->starred[row] || is_star(i, r), v->report, &loss);
    }
    for (int64_t row = 0; row < v->original->rows; row++)
        if (!seen[row] && !(v->dropped && v->dropped[row]))
            measure_row(i, kn_vcode(i->original, row), 0, true, v->report, &loss);
    kn_free(seen);
    v->report->items_loss = v->report->items > 0 ? loss / (double)v->report->items : 0;
    return KN_OK;
}

/* ---- The promise ---- */

typedef struct counting {
    kn_verifier *v;
    kn_vnumbers  numbers; /* (number of a combination + 1, label) → number */
    int64_t     *rows;    /* per number                                   */
    uint32_t    *first;   /* per number: a row of it                      */
    size_t       capacity, first_capacity;
    int64_t      work, limit;
    bool         memory;
} counting;

/* Counts the combinations that continue one with the labels [from, to) of a row. */
static void count_row(counting *c, const uint32_t *labels, size_t count, uint64_t prefix, int left, int64_t row)
{
    for (size_t l = 0; l < count && !c->memory && c->work <= c->limit; l++) {
        uint32_t known = c->numbers.count, number = kn_vnumbers_add(&c->numbers, prefix << 32 | labels[l]);
        c->work++;
        c->memory = number == KN_V_NONE || !KN_GROW(c->v->ctx, &c->rows, &c->capacity, (size_t)known + 1) ||
                    !KN_GROW(c->v->ctx, &c->first, &c->first_capacity, (size_t)known + 1);
        if (c->memory) return;
        if (number == known) {
            c->rows[number] = 0;
            c->first[number] = (uint32_t)row;
        }
        c->rows[number]++;
        if (left > 1) count_row(c, labels + l + 1, count - l - 1, (uint64_t)number + 1, left - 1, row);
    }
}

/* One class: its rows are rows[0 .. count). */
static void judge_class(counting *c, const kn_sort_record *rows, size_t count)
{
    kn_verifier      *v = c->v;
    const kn_vitems  *i = v->items;
    const kn_vsets   *s = &i->release_sets;
    kn_verify_report *to = v->report;
    size_t            stars = 0;
    kn_vnumbers_free(&c->numbers);
    c->numbers = (kn_vnumbers){.ctx = v->ctx};
    for (size_t r = 0; r < count; r++) {
        uint32_t text = kn_vcode(i->release, (int64_t)rows[r].id);
        stars += is_star(i, text);
        if (!is_star(i, text))
            count_row(c, s->items + s->start[text], (size_t)(s->start[text + 1] - s->start[text]), 0, to->kmn.m,
                      (int64_t)rows[r].id);
    }
    if (stars > 0 && stars < count && !v->report->more_problems)
        kn_vproblem(v->notes, "row %" PRIu64 ", column \"%s\": some rows of its class show * and others items",
                    rows[0].id + 1, i->attribute->name);
    to->items_hidden += stars == count;
    int64_t fewest = (int64_t)count;
    for (uint32_t n = 0; n < c->numbers.count; n++) {
        if (c->rows[n] < fewest) fewest = c->rows[n];
        to->items_combinations++;
        if (c->rows[n] >= to->kmn.k) continue;
        if (to->items_violations++ < SHOWN)
            kn_vproblem(v->notes,
                        "row %" PRIu32 ", column \"%s\": only %" PRId64 " %s a combination of items that it shows",
                        c->first[n] + 1, i->attribute->name, c->rows[n],
                        c->rows[n] == 1 ? "row of its class shows" : "rows of its class show");
    }
    if (to->items_k == 0 || fewest < to->items_k) to->items_k = fewest;
}

kn_status kn_verify_items(kn_verifier *v, bool *counted, kn_error *err)
{
    if (!v->items) return KN_OK;
    v->report->kmn = v->spec->kmn;
    counting        c = {.v = v, .limit = v->options->work_limit > 0 ? v->options->work_limit : WORK_LIMIT};
    kn_sort_record *rows = kn_alloc_array(v->ctx, (size_t)v->release->rows + 1, sizeof *rows);
    size_t          count = 0;
    kn_status       st = rows ? KN_OK : kn_fail_memory(err, v->ctx, WHAT);
    for (int64_t row = 0; st == KN_OK && row < v->release->rows; row++)
        if (!v->starred[row]) rows[count++] = (kn_sort_record){v->classes.of_row[row], (uint64_t)row};
    if (st == KN_OK) st = kn_sort_records(v->ctx, rows, count, NULL, NULL, err);
    for (size_t begin = 0, end; st == KN_OK && begin < count; begin = end) {
        end = begin + 1;
        while (end < count && rows[end].key == rows[begin].key) end++;
        judge_class(&c, rows + begin, end - begin);
        if (c.memory) st = kn_fail_memory(err, v->ctx, WHAT);
        if (st == KN_OK && kn_cancelled(v->ctx)) st = kn_fail_cancelled(err);
    }
    if (c.work > c.limit) {
        *counted = false;
        kn_vopen(v->notes,
                 "whether every combination of items has enough rows: %" PRId64 " steps were not enough (--work-limit)",
                 c.limit);
    }
    kn_vnumbers_free(&c.numbers);
    KN_FREE(rows, c.rows, c.first);
    return st == KN_OK ? measure(v, err) : st;
}
