/* kn_database.c: tables with keys: making a database, and finding for each row the row that its foreign key refers to.
 *
 * Interface: kn_database.h. A join of n rows to m costs O(n + m + distinct keys): the dictionaries of both columns are
 * sorted, so one walk along them translates the codes of one into those of the other; a key of one column is then an
 * array look-up, a longer one a hash look-up. Whether a key is one is found out among the rows that agree in one of its columns.
 *
 * Limits: 2^32 - 3 rows per table, KN_DATABASE_MOST_TABLES tables.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_database.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_broader.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_fault.h"
#include "kn_hash.h"
#include "kn_nearest.h"
#include "kn_parallel.h"
#include "kn_sort.h"
#include "kn_table_select.h"

#define WHAT "a database"

#define NO_CODE UINT32_MAX

enum {
    AT_ONCE = 1 << 12,   /* codes whose rows one thread compares at a time        */
    FEW_ROWS = 24,       /* are compared with each other; more are sorted before  */
    MANY_ROWS = 1 << 14, /* that one thread joins at a time                       */
};

/* ---- Making and ending ---- */

kn_status kn_database_create(kn_database **out, kn_context *ctx, const char *source, kn_error *err)
{
    *out = NULL;
    kn_database *db = kn_alloc_zero(ctx, sizeof *db);
    if (!db) return kn_fail_memory(err, ctx, WHAT);
    db->ctx = ctx;
    db->entity = -1;
    db->source = kn_strndup(ctx, source, strlen(source));
    if (!db->source) {
        kn_free(db);
        return kn_fail_memory(err, ctx, WHAT);
    }
    *out = db;
    return KN_OK;
}

static void free_foreign(kn_foreign_key *f)
{
    KN_FREE(f->target_name, f->columns, f->target_columns);
}

static void free_table(kn_database_table *t)
{
    if (t->columns && t->table)
        for (int c = 0; c < t->table->column_count; c++) {
            KN_FREE(t->columns[c].declared, t->columns[c].label);
            kn_hierarchy_free(t->columns[c].hierarchy);
        }
    for (int i = 0; i < t->foreign_count; i++) free_foreign(&t->foreign[i]);
    KN_FREE(t->foreign, t->columns, t->key, t->children, t->quasi, t->groups, t->drawn_key, t->name);
    kn_broader_free(t->broader);
    kn_table_free(t->table);
}

void kn_database_free(kn_database *db)
{
    if (!db) return;
    for (int t = 0; t < db->table_count; t++) free_table(&db->tables[t]);
    kn_database_free(db->references);
    KN_FREE(db->tables, db->order, db->source, db->timezone, db);
}

void kn_database_forget(kn_database *db, int kept)
{
    for (int t = 0; t < db->table_count; t++)
        if (t != kept) kn_table_forget(db->tables[t].table);
    if (db->references) kn_database_forget(db->references, -1);
}

kn_status kn_database_add(kn_database *db, const char *name, kn_table *table, kn_error *err)
{
    kn_database_table t = {.table = table, .parent = -1, .link = -1, .depth = -1, .group_count = -1};
    if (db->table_count == KN_DATABASE_MOST_TABLES || table->rows > (int64_t)UINT32_MAX - 3) {
        kn_status status = db->table_count == KN_DATABASE_MOST_TABLES
                               ? kn_fail(err, KN_INPUT, "%s: more than %d tables", db->source, KN_DATABASE_MOST_TABLES)
                               : kn_fail(err, KN_INPUT, "%s: table \"%s\" has too many rows", db->source, name);
        kn_table_free(table);
        return status;
    }
    kn_database_table *tables = kn_realloc_array(db->ctx, db->tables, (size_t)db->table_count + 1, sizeof *tables);
    if (tables) db->tables = tables;
    t.name = kn_strndup(db->ctx, name, strlen(name));
    t.columns = kn_alloc_array_zero(db->ctx, (size_t)table->column_count + 1, sizeof *t.columns);
    if (!tables || !t.name || !t.columns) {
        free_table(&t);
        return kn_fail_memory(err, db->ctx, WHAT);
    }
    for (int c = 0; c < table->column_count; c++) {
        t.columns[c].weight = (kn_ratio){1, 1};
        t.columns[c].whole = -1;
    }
    db->tables[db->table_count++] = t;
    return KN_OK;
}

static kn_status no_column(const kn_database *db, const kn_database_table *t, const char *name, kn_error *err)
{
    kn_nearest near = {.text = name};
    for (int c = 0; c < t->table->column_count; c++) kn_nearest_try(&near, t->table->columns[c].name);
    return kn_fail(err, KN_INPUT, "%s: table \"%s\" has no column \"%s\"%s%s%s", db->source, t->name, name,
                   KN_MEANT(near));
}

static kn_status find_columns(const kn_database *db, int table, const char *const *names, int count, int *out,
                              kn_error *err)
{
    const kn_database_table *t = &db->tables[table];
    for (int i = 0; i < count; i++) {
        out[i] = kn_table_find(t->table, names[i]);
        if (out[i] < 0) return no_column(db, t, names[i], err);
        for (int j = 0; j < i; j++)
            if (out[i] == out[j])
                return kn_fail(err, KN_INPUT, "%s: column \"%s\" is twice in a key of table \"%s\"", db->source,
                               names[i], t->name);
    }
    return KN_OK;
}

kn_status kn_database_set_key(kn_database *db, int table, const char *const *columns, int count, kn_error *err)
{
    kn_database_table *t = &db->tables[table];
    int               *key = kn_alloc_array(db->ctx, (size_t)count + 1, sizeof *key);
    if (!key) return kn_fail_memory(err, db->ctx, WHAT);
    kn_status status = find_columns(db, table, columns, count, key, err);
    if (status != KN_OK) {
        kn_free(key);
        return status;
    }
    for (int i = 0; i < t->key_count; i++) t->columns[t->key[i]].key = false;
    kn_free(t->key);
    t->key = key;
    t->key_count = count;
    for (int i = 0; i < count; i++) t->columns[key[i]].key = true;
    return KN_OK;
}

/* Brings the columns of a foreign key into the order of the key that `names` are. false: they are not that key. */
static bool order_by_key(const kn_database_table *to, kn_foreign_key *f, const char *const *names, int *room)
{
    for (int i = 0; i < to->key_count; i++) {
        int at = 0;
        while (at < f->column_count && kn_table_find(to->table, names[at]) != to->key[i]) at++;
        if (at == f->column_count) return false;
        room[i] = f->columns[at];
    }
    memcpy(f->columns, room, (size_t)f->column_count * sizeof *room);
    return true;
}

/* A foreign key to a reference: to its key. */
static kn_status find_reference(kn_database *db, int table, kn_foreign_key *f, const char *const *target_columns,
                                kn_error *err)
{
    f->reference = db->references ? kn_database_find(db->references, f->target_name) : -1;
    if (f->reference < 0) return KN_OK;
    const kn_database_table *to = &db->references->tables[f->reference];
    bool                     fits = to->key_count > 0 && f->column_count == to->key_count;
    if (fits && target_columns) {
        int *room = kn_alloc_array(db->ctx, (size_t)f->column_count, sizeof *room);
        if (!room) return kn_fail_memory(err, db->ctx, WHAT);
        fits = order_by_key(to, f, target_columns, room);
        kn_free(room);
    }
    if (fits) return KN_OK;
    return kn_fail(err, KN_INPUT,
                   "%s: table \"%s\" refers to rows of the reference \"%s\" by other columns than its key; leave the "
                   "link out (ignore: [\"%s\"])",
                   db->source, db->tables[table].name, to->name, db->tables[table].table->columns[f->columns[0]].name);
}

/* The target and its columns; target -1 where it was not read. */
static kn_status find_target(kn_database *db, int table, kn_foreign_key *f, const char *const *target_columns,
                             kn_error *err)
{
    f->target = kn_database_find(db, f->target_name);
    if (f->target < 0) return find_reference(db, table, f, target_columns, err);
    const kn_database_table *target = &db->tables[f->target];
    f->target_columns = kn_alloc_array(db->ctx, (size_t)f->column_count, sizeof *f->target_columns);
    if (!f->target_columns) return kn_fail_memory(err, db->ctx, WHAT);
    if (target_columns) return find_columns(db, f->target, target_columns, f->column_count, f->target_columns, err);
    if (target->key_count == 0)
        return kn_fail(err, KN_INPUT, "%s: table \"%s\", whose rows table \"%s\" names, has no key", db->source,
                       target->name, db->tables[table].name);
    if (target->key_count != f->column_count)
        return kn_fail(err, KN_INPUT, "%s: table \"%s\" names rows of \"%s\" by %d columns, whose key has %d",
                       db->source, db->tables[table].name, target->name, f->column_count, target->key_count);
    memcpy(f->target_columns, target->key, (size_t)f->column_count * sizeof(int));
    return KN_OK;
}

static bool same_key(const kn_foreign_key *a, const kn_foreign_key *b)
{
    return a->target == b->target && a->column_count == b->column_count &&
           strcmp(a->target_name, b->target_name) == 0 &&
           memcmp(a->columns, b->columns, (size_t)a->column_count * sizeof(int)) == 0;
}

static kn_status fill_foreign(kn_database *db, int table, kn_foreign_key *f, const char *const *columns,
                              const char *target, const char *const *target_columns, kn_error *err)
{
    f->target_name = kn_strndup(db->ctx, target, strlen(target));
    f->columns = kn_alloc_array(db->ctx, (size_t)f->column_count, sizeof *f->columns);
    if (!f->target_name || !f->columns) return kn_fail_memory(err, db->ctx, WHAT);
    KN_TRY(find_columns(db, table, columns, f->column_count, f->columns, err));
    return find_target(db, table, f, target_columns, err);
}

kn_status kn_database_link(kn_database *db, int table, const char *const *columns, int count, const char *target,
                           const char *const *target_columns, kn_error *err)
{
    kn_database_table *t = &db->tables[table];
    kn_foreign_key     f = {.target = -1, .reference = -1, .column_count = count};
    kn_status          status = fill_foreign(db, table, &f, columns, target, target_columns, err);
    for (int i = 0; status == KN_OK && i < t->foreign_count; i++)
        if (same_key(&t->foreign[i], &f)) { /* given twice: by the catalog and by the user */
            free_foreign(&f);
            return KN_OK;
        }
    if (status == KN_OK) {
        kn_foreign_key *all = kn_realloc_array(db->ctx, t->foreign, (size_t)t->foreign_count + 1, sizeof *all);
        if (all) t->foreign = all;
        if (!all) status = kn_fail_memory(err, db->ctx, WHAT);
    }
    if (status != KN_OK) {
        free_foreign(&f);
        return status;
    }
    t->foreign[t->foreign_count++] = f;
    for (int i = 0; f.reference >= 0 && i < count; i++) t->columns[f.columns[i]].refers = true;
    for (int i = 0; f.target >= 0 && i < count; i++) {
        t->columns[f.columns[i]].foreign = true;
        db->tables[f.target].columns[f.target_columns[i]].joined = true;
    }
    return KN_OK;
}

/* ---- Looking ---- */

int kn_database_tables(const kn_database *db)
{
    return db->table_count;
}

const char *kn_database_table_name(const kn_database *db, int table)
{
    return db->tables[table].name;
}

const kn_table *kn_database_content(const kn_database *db, int table)
{
    return db->tables[table].table;
}

int kn_database_find(const kn_database *db, const char *name)
{
    for (int t = 0; t < db->table_count; t++)
        if (strcmp(db->tables[t].name, name) == 0) return t;
    return -1;
}

static const char *wrong_table(const kn_database *db, const kn_database_table *t)
{
    int columns = t->table->column_count;
    for (int i = 0; i < t->key_count; i++)
        if (t->key[i] < 0 || t->key[i] >= columns) return "a key's column is none of the table";
    for (int i = 0; i < t->foreign_count; i++) {
        const kn_foreign_key *f = &t->foreign[i];
        if (f->target >= db->table_count || f->column_count < 1) return "a foreign key has no target or columns";
        if ((f->target >= 0) != (f->target_columns != NULL)) return "a foreign key's target columns";
        for (int j = 0; j < f->column_count; j++) {
            if (f->columns[j] < 0 || f->columns[j] >= columns) return "a foreign key's column is none of the table";
            if (f->target >= 0 && f->target_columns[j] >= db->tables[f->target].table->column_count)
                return "a foreign key's target column is none of its table";
        }
    }
    for (int c = 0; c < columns; c++) {
        const kn_database_column *d = &t->columns[c];
        if ((d->key || d->foreign || d->joined) && t->table->columns[c].type != KN_TYPE_TEXT)
            return "a key column is not text";
    }
    return NULL;
}

bool kn_database_validate(const kn_database *db, const char **reason)
{
    for (int t = 0; t < db->table_count; t++) {
        if (!kn_table_validate(db->tables[t].table, reason)) return false;
        *reason = wrong_table(db, &db->tables[t]);
        if (*reason) return false;
    }
    return true;
}

/* ---- Joining ---- */

/* The key columns of the target, and a way from their codes to a row. */
typedef struct key_index {
    const kn_table *table;
    const int      *columns;
    int             count;
    uint32_t       *rows; /* one column: by code; several: hash slots; KN_ROW_NONE: free */
    size_t          mask;
    int64_t         faults; /* rows with a key that an earlier row has */
} key_index;

static uint64_t hash_codes(const uint32_t *codes, int count)
{
    uint64_t h = 0x2545f4914f6cdd1du;
    for (int i = 0; i < count; i++) h = kn_hash_mix(h ^ codes[i], 0x9e3779b97f4a7c15u) + 0xd1342543de82ef95u;
    return kn_hash_word(h);
}

static bool row_codes(const kn_table *table, const int *columns, int count, int64_t row, uint32_t *codes)
{
    for (int i = 0; i < count; i++) {
        const kn_column *column = &table->columns[columns[i]];
        codes[i] = kn_column_code(column, row);
        if (codes[i] == column->dict.count) return false;
    }
    return true;
}

/* The slot of a key's row, or the free one where it belongs. */
static uint32_t *key_slot(const key_index *x, const uint32_t *codes, uint32_t *scratch)
{
    if (x->count == 1) return &x->rows[codes[0]];
    for (size_t i = (size_t)(hash_codes(codes, x->count) >> 16) & x->mask;; i = (i + 1) & x->mask) {
        if (x->rows[i] == KN_ROW_NONE) return &x->rows[i];
        (void)row_codes(x->table, x->columns, x->count, x->rows[i], scratch);
        if (memcmp(scratch, codes, (size_t)x->count * sizeof *codes) == 0) return &x->rows[i];
    }
}

static bool key_index_make(key_index *x, kn_context *ctx, uint32_t *codes, uint32_t *scratch)
{
    size_t slots = x->count == 1 ? (size_t)x->table->columns[x->columns[0]].dict.count + 1 : 16;
    while (x->count > 1 && slots < 2 * (size_t)x->table->rows) slots *= 2;
    x->mask = slots - 1;
    x->rows = kn_alloc_array(ctx, slots, sizeof *x->rows);
    if (!x->rows) return false;
    memset(x->rows, 0xff, slots * sizeof *x->rows);
    for (int64_t row = 0; row < x->table->rows; row++) {
        if (!row_codes(x->table, x->columns, x->count, row, codes)) continue;
        uint32_t *slot = key_slot(x, codes, scratch);
        if (*slot == KN_ROW_NONE)
            *slot = (uint32_t)row;
        else
            x->faults++;
    }
    return true;
}

/* For each code of one text column the code of the same text in another; NO_CODE: it has none. */
static uint32_t *translate(kn_context *ctx, const kn_column *from, const kn_column *to)
{
    uint32_t *map = kn_alloc_array(ctx, (size_t)from->dict.count + 1, sizeof *map);
    if (!map) return NULL;
    for (uint32_t a = 0, b = 0; a < from->dict.count; a++) {
        int order = 1;
        for (; b < to->dict.count; b++) {
            order = kn_string_compare(kn_dictionary_text(&from->dict, a), kn_dictionary_text(&to->dict, b));
            if (order <= 0) break;
        }
        map[a] = order == 0 ? b : NO_CODE;
    }
    return map;
}

typedef struct join {
    key_index  index;
    uint32_t **maps;                    /* per column of the key */
    uint32_t  *codes, *scratch, *found; /* the last: the answer  */
} join;

static void join_free(join *j)
{
    for (int i = 0; j->maps && i < j->index.count; i++) kn_free(j->maps[i]);
    KN_FREE(j->maps, j->codes, j->scratch, j->found, j->index.rows);
}

static bool join_prepare(join *j, const kn_database *db, const kn_table *table, const kn_foreign_key *f)
{
    size_t count = (size_t)f->column_count;
    j->maps = kn_alloc_array_zero(db->ctx, count, sizeof *j->maps);
    j->codes = kn_alloc_array(db->ctx, count, sizeof *j->codes);
    j->scratch = kn_alloc_array(db->ctx, count, sizeof *j->scratch);
    j->found = kn_alloc_array(db->ctx, (size_t)table->rows + 1, sizeof *j->found);
    if (!j->maps || !j->codes || !j->scratch || !j->found) return false;
    for (size_t i = 0; i < count; i++) {
        j->maps[i] = translate(db->ctx, &table->columns[f->columns[i]], &j->index.table->columns[f->target_columns[i]]);
        if (!j->maps[i]) return false;
    }
    return key_index_make(&j->index, db->ctx, j->codes, j->scratch);
}

/* Of a key of one column. */
typedef struct join_column {
    const kn_column *from;
    const uint32_t  *map, *rows; /* code → the target's code → its row */
    uint32_t        *found;
} join_column;

static kn_status join_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const join_column *j = arg;
    (void)worker;
    (void)err;
    for (int64_t row = begin; row < end; row++) {
        uint32_t code = kn_column_code(j->from, row);
        uint32_t target = code == j->from->dict.count ? NO_CODE : j->map[code];
        j->found[row] = target != NO_CODE             ? j->rows[target]
                        : code == j->from->dict.count ? KN_ROW_MISSING
                                                      : KN_ROW_NONE;
    }
    return KN_OK;
}

static void join_rows(join *j, const kn_table *table, const kn_foreign_key *f)
{
    for (int64_t row = 0; row < table->rows; row++) {
        bool known = true;
        j->found[row] = KN_ROW_MISSING;
        if (!row_codes(table, f->columns, f->column_count, row, j->codes)) continue;
        for (int i = 0; i < f->column_count; i++) {
            j->codes[i] = j->maps[i][j->codes[i]];
            known = known && j->codes[i] != NO_CODE;
        }
        j->found[row] = known ? *key_slot(&j->index, j->codes, j->scratch) : KN_ROW_NONE;
    }
}

/* A deliberate fault: the first row refers to the wrong parent. */
static inline void mistake_parent(uint32_t *found, int64_t rows)
{
    for (int64_t r = 1; r < rows; r++) {
        uint32_t first = found[0];
        if (found[r] == first) continue;
        found[0] = found[r];
        found[r] = first;
        return;
    }
}

kn_status kn_database_join(uint32_t **out, const kn_database *db, int table, int link, int64_t *twice, kn_error *err)
{
    const kn_database_table *t = &db->tables[table];
    const kn_foreign_key    *f = &t->foreign[link];
    *out = NULL;
    if (f->target < 0) return kn_fail(err, KN_INTERNAL, "a join to a table that was not read");
    join j = {.index = {.table = db->tables[f->target].table, .columns = f->target_columns, .count = f->column_count}};
    kn_status status = KN_OK;
    if (!join_prepare(&j, db, t->table, f)) {
        status = kn_fail_memory(err, db->ctx, WHAT);
    } else if (j.index.faults > 0 && !twice) {
        status = kn_fail(err, KN_INPUT, "%s: table \"%s\": %lld %s a key that another row has", db->source,
                         db->tables[f->target].name, (long long)j.index.faults,
                         j.index.faults == 1 ? "row has" : "rows have");
    } else if (f->column_count == 1) {
        join_column c = {&t->table->columns[f->columns[0]], j.maps[0], j.index.rows, j.found};
        status = kn_parallel_for(db->ctx, t->table->rows, MANY_ROWS, join_range, &c, err);
    } else {
        join_rows(&j, t->table, f);
    }
    if (status == KN_OK) {
        if (kn_fault("join-wrong-parent")) mistake_parent(j.found, t->table->rows);
        if (twice) *twice = j.index.faults;
        *out = j.found;
        j.found = NULL;
    }
    join_free(&j);
    return status;
}

/* ---- Keys that are none ---- */

/* The rows of a table that have a key, by one of its columns: in the table's order such rows are mostly neighbours, and only
 * those that agree there are compared. */
typedef struct key_groups {
    kn_context     *ctx;
    const kn_table *table;
    const int      *columns;
    int             count, by; /* `by`: the column */
    uint32_t       *start;     /* per code of it, and one more: where its rows begin in the list */
    uint32_t       *list;
    int64_t         missing; /* rows without a key                      */
    _Atomic int64_t repeats; /* rows with a key that another one has, too: all but one of each */
} key_groups;

static bool has_key(const key_groups *g, int64_t row)
{
    for (int i = 0; i < g->count; i++) {
        const kn_column *column = &g->table->columns[g->columns[i]];
        if (kn_column_code(column, row) == column->dict.count) return false;
    }
    return true;
}

static int compare_keys(const void *arg, uint64_t a, uint64_t b)
{
    const key_groups *g = arg;
    for (int i = 0; i < g->count; i++) {
        const kn_column *column = &g->table->columns[g->columns[i]];
        uint32_t         x = kn_column_code(column, (int64_t)a), y = kn_column_code(column, (int64_t)b);
        if (x != y) return x < y ? -1 : 1;
    }
    return 0;
}

static int by_key_then_row(const void *arg, uint64_t a, uint64_t b)
{
    int order = compare_keys(arg, a, b);
    return order ? order : a < b ? -1 : a > b;
}

static kn_status count_among(const key_groups *g, const uint32_t *rows, uint32_t count, int64_t *repeats, kn_error *err)
{
    if (g->count == 1 || count < 2) {
        *repeats += count > 0 ? count - 1 : 0;
        return KN_OK;
    }
    if (count <= FEW_ROWS) {
        for (uint32_t i = 1; i < count; i++) {
            bool again = false;
            for (uint32_t j = 0; j < i && !again; j++) again = compare_keys(g, rows[i], rows[j]) == 0;
            *repeats += again;
        }
        return KN_OK;
    }
    kn_sort_record *room = kn_alloc_array(g->ctx, (size_t)count, sizeof *room);
    if (!room) return kn_fail_memory(err, g->ctx, WHAT);
    for (uint32_t i = 0; i < count; i++) room[i] = (kn_sort_record){0, rows[i]};
    kn_status status = kn_sort_records(g->ctx, room, count, by_key_then_row, g, err);
    for (uint32_t i = 1; status == KN_OK && i < count; i++)
        *repeats += compare_keys(g, room[i].id, room[i - 1].id) == 0;
    kn_free(room);
    return status;
}

static kn_status count_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    key_groups *g = arg;
    int64_t     repeats = 0;
    (void)worker;
    for (int64_t c = begin; c < end; c++)
        KN_TRY(count_among(g, g->list + g->start[c], g->start[c + 1] - g->start[c], &repeats, err));
    atomic_fetch_add_explicit(&g->repeats, repeats, memory_order_relaxed);
    return KN_OK;
}

static kn_status group_rows(key_groups *g, kn_error *err)
{
    const kn_column *column = &g->table->columns[g->columns[g->by]];
    size_t           codes = column->dict.count;
    g->start = kn_alloc_array_zero(g->ctx, codes + 2, sizeof *g->start);
    g->list = kn_alloc_array(g->ctx, (size_t)g->table->rows + 1, sizeof *g->list);
    if (!g->start || !g->list) return kn_fail_memory(err, g->ctx, WHAT);
    /* Counts two places up; filling moves where a code's rows begin to their end. */
    for (int64_t r = 0; r < g->table->rows; r++) {
        if (has_key(g, r))
            g->start[kn_column_code(column, r) + 2]++;
        else
            g->missing++;
    }
    for (size_t c = 0; c < codes; c++) g->start[c + 2] += g->start[c + 1];
    for (int64_t r = 0; r < g->table->rows; r++)
        if (g->missing == 0 || has_key(g, r)) g->list[g->start[kn_column_code(column, r) + 1]++] = (uint32_t)r;
    return KN_OK;
}

kn_status kn_database_key_faults(int64_t *out, const kn_database *db, int table, kn_error *err)
{
    const kn_database_table *t = &db->tables[table];
    key_groups               g = {.ctx = db->ctx, .table = t->table, .columns = t->key, .count = t->key_count};
    *out = 0;
    if (t->key_count == 0) return KN_OK;
    for (int i = 1; i < g.count; i++)
        if (t->table->columns[t->key[i]].dict.count > t->table->columns[t->key[g.by]].dict.count) g.by = i;
    kn_status status = group_rows(&g, err);
    if (status == KN_OK)
        status = kn_parallel_for(db->ctx, t->table->columns[t->key[g.by]].dict.count, AT_ONCE, count_range, &g, err);
    if (status == KN_OK) *out = g.missing + atomic_load(&g.repeats);
    KN_FREE(g.start, g.list);
    return status;
}

/* Rows of a table whose parent exists; the parent's own orphans are already removed. */
static kn_status drop_orphans(kn_database *db, kn_database_table *t, int64_t *dropped, kn_error *err)
{
    uint32_t *parent = NULL;
    kn_table *kept = NULL;
    int64_t   count = 0;
    KN_TRY(kn_database_join(&parent, db, (int)(t - db->tables), t->link, NULL, err));
    int64_t  *rows = kn_alloc_array(db->ctx, (size_t)t->table->rows + 1, sizeof *rows);
    kn_status st = rows ? KN_OK : kn_fail_memory(err, db->ctx, "reading a database");
    for (int64_t r = 0; rows && r < t->table->rows; r++)
        if (parent[r] < KN_ROW_MISSING) rows[count++] = r;
    if (st == KN_OK && count < t->table->rows) st = kn_table_select(&kept, db->ctx, t->table, rows, count, err);
    if (kept) {
        *dropped += t->table->rows - count;
        kn_table_free(t->table);
        t->table = kept;
    }
    KN_FREE(rows, parent);
    return st;
}

kn_status kn_database_drop_orphans(kn_database *db, int64_t *dropped, kn_error *err)
{
    *dropped = 0;
    for (int i = 1; i < db->table_count; i++) KN_TRY(drop_orphans(db, &db->tables[db->order[i]], dropped, err));
    return KN_OK;
}
