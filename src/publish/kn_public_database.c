/* kn_public_database.c: the facts of a released database (kn_public.h): its tables and columns, and how many persons
 * look alike in all their rows.
 *
 * Each row gets a number for what it and the rows below it show (its sight), equal numbers for equal sights: tables
 * are visited from the outermost inwards, and a row's sight is its quasi-identifiers with the sorted numbers of the
 * rows that belong to it. Persons with equal numbers are a class. Cost: linear in the rows, except for sorting the
 * rows that belong to each row; rows to which none belong are numbered on all threads. An anatomy shows its quasi-identifiers unchanged: it has no such classes.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_compare.h"
#include "kn_database.h"
#include "kn_error.h"
#include "kn_interner.h"
#include "kn_parallel.h"
#include "kn_public.h"

#define WHAT "reading the release"

enum {
    AT_ONCE = 1 << 12, /* rows that one thread takes at a time  */
    FEW = 24           /* are sorted where they are             */
};

static const kn_attribute *attribute_of(const kn_spec *spec, const char *table, const char *column)
{
    for (int t = 0; t < spec->table_count; t++)
        for (int i = 0; strcmp(spec->tables[t].name, table) == 0 && i < spec->tables[t].attribute_count; i++)
            if (strcmp(spec->tables[t].attributes[i].name, column) == 0) return &spec->tables[t].attributes[i];
    return NULL;
}

/* The sensitive column of a list that an anatomy adds: the list's name begins with that of the column's table
 * (anatomy_schema.c), and its second column is the sensitive one. */
static const kn_attribute *listed(const kn_spec *spec, const kn_database_table *t)
{
    const kn_attribute *found = NULL;
    size_t              longest = 0;
    if (!spec->anatomy || t->table->column_count != 3) return NULL;
    for (int i = 0; i < spec->table_count; i++) {
        const char         *name = spec->tables[i].name;
        size_t              size = strlen(name);
        const kn_attribute *a = attribute_of(spec, name, t->table->columns[1].name);
        if (strcmp(name, t->name) == 0) return NULL;
        if (strncmp(name, t->name, size) != 0 || t->name[size] != '_' || size < longest) continue;
        if (!a || a->role != KN_ROLE_SENSITIVE) continue;
        found = a;
        longest = size;
    }
    return found;
}

static bool is_quasi(const kn_public_column *c)
{
    return c->attribute && c->attribute->role == KN_ROLE_QUASI;
}

/* ---- Tables and columns ---- */

static kn_status measure_column(kn_public *p, const kn_public_reader *reader, const kn_column *column, int64_t rows,
                                kn_public_column *out, kn_error *err)
{
    int64_t *counts = kn_alloc_array_zero(p->ctx, (size_t)column->dict.count + 1, sizeof *counts);
    if (!counts) return kn_fail_memory(err, p->ctx, WHAT);
    for (int64_t r = 0; r < rows; r++) counts[kn_column_code(column, r)]++;
    kn_status st =
        kn_public_labels(out, p->ctx, reader, column, counts, 0, p->spec->csv.decimal, !p->spec->anatomy, err);
    kn_free(counts);
    out->level = -1; /* rows are generalized one by one */
    return st;
}

static kn_status describe_table(kn_public *p, const kn_public_reader *reader, const kn_database_table *t,
                                kn_public_part *part, kn_error *err)
{
    part->name = kn_arena_strndup(&p->arena, t->name, strlen(t->name));
    part->rows = t->table->rows;
    part->column_count = t->table->column_count;
    part->columns = kn_public_alloc(p, (size_t)part->column_count, sizeof *part->columns, err);
    if (!part->name || !part->columns) return kn_fail_memory(err, p->ctx, WHAT);
    for (int c = 0; c < part->column_count; c++) {
        kn_public_column *column = &part->columns[c];
        const char       *name = t->table->columns[c].name, *of = t->columns[c].label_of;
        *column = (kn_public_column){.level = -1, .lm = NAN};
        column->attribute = attribute_of(p->spec, t->name, of ? of : name);
        column->name = kn_arena_strndup(&p->arena, name, strlen(name));
        if (!column->name) return kn_fail_memory(err, p->ctx, WHAT);
        if (is_quasi(column)) KN_TRY(measure_column(p, reader, &t->table->columns[c], part->rows, column, err));
        if (t->columns[c].refers) column->lm = NAN; /* how broad a row of a reference is, is not known here */
    }
    const kn_attribute *sensitive = listed(p->spec, t);
    part->list = sensitive != NULL;
    if (part->list) part->columns[1].attribute = sensitive;
    return KN_OK;
}

/* ---- Persons who look alike ---- */

/* The rows that belong to each row of a table, as numbers of their sights. */
typedef struct kin {
    int64_t  *starts; /* rows + 1 */
    uint64_t *sights; /* table in the upper half */
} kin;

static void kin_free(kin *k)
{
    kn_free(k->starts);
    kn_free(k->sights);
}

static void count_rows(kin *k, const kn_table *child, const uint32_t *parent)
{
    for (int64_t r = 0; r < child->rows; r++)
        if (parent[r] < KN_ROW_MISSING) k->starts[parent[r] + 1]++;
}

static void add_rows(kin *k, const kn_table *child, int table, const uint32_t *parent, const uint32_t *sights)
{
    for (int64_t r = 0; r < child->rows; r++)
        if (parent[r] < KN_ROW_MISSING) k->sights[k->starts[parent[r]]++] = (uint64_t)table << 32 | sights[r];
}

/* Most rows have few others. */
static kn_status sort_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const kin *k = arg;
    (void)worker;
    (void)err;
    for (int64_t r = begin; r < end; r++) {
        uint64_t *list = k->sights + k->starts[r];
        int64_t   count = k->starts[r + 1] - k->starts[r];
        if (count > FEW) qsort(list, (size_t)count, sizeof *list, kn_compare_u64);
        for (int64_t i = 1; i < count && count <= FEW; i++) {
            uint64_t sight = list[i];
            int64_t  at = i;
            for (; at > 0 && list[at - 1] > sight; at--) list[at] = list[at - 1];
            list[at] = sight;
        }
    }
    return KN_OK;
}

/* `parents`: per child table the row that each of its rows belongs to. */
static kn_status gather(kin *k, kn_context *ctx, const kn_database *db, int table, uint32_t **sights,
                        uint32_t *const *parents, kn_error *err)
{
    const kn_database_table *t = &db->tables[table];
    int64_t                  rows = t->table->rows;
    k->starts = kn_alloc_array_zero(ctx, (size_t)rows + 2, sizeof *k->starts);
    if (!k->starts) return kn_fail_memory(err, ctx, WHAT);
    for (int c = 0; c < t->child_count; c++) count_rows(k, db->tables[t->children[c]].table, parents[c]);
    for (int64_t r = 0; r < rows; r++) k->starts[r + 1] += k->starts[r];
    k->sights = kn_alloc_array(ctx, (size_t)k->starts[rows] + 1, sizeof *k->sights);
    if (!k->sights) return kn_fail_memory(err, ctx, WHAT);
    for (int c = 0; c < t->child_count; c++)
        add_rows(k, db->tables[t->children[c]].table, t->children[c], parents[c], sights[t->children[c]]);
    for (int64_t r = rows; r > 0; r--) k->starts[r] = k->starts[r - 1]; /* filling moved each to its end */
    k->starts[0] = 0;
    return kn_parallel_for(ctx, rows, AT_ONCE, sort_range, k, err);
}

static kn_status join_children(kin *k, kn_context *ctx, const kn_database *db, int table, uint32_t **sights,
                               kn_error *err)
{
    const kn_database_table *t = &db->tables[table];
    uint32_t               **parents = kn_alloc_array_zero(ctx, (size_t)t->child_count + 1, sizeof *parents);
    kn_status                st = parents ? KN_OK : kn_fail_memory(err, ctx, WHAT);
    for (int c = 0; c < t->child_count && st == KN_OK; c++)
        st = kn_database_join(&parents[c], db, t->children[c], db->tables[t->children[c]].link, NULL, err);
    if (st == KN_OK) st = gather(k, ctx, db, table, sights, parents, err);
    for (int c = 0; parents && c < t->child_count; c++) kn_free(parents[c]);
    kn_free(parents);
    return st;
}

/* Rows to which no others belong: their quasi-identifiers are the digits of a number. */
typedef struct plain_rows {
    const kn_table       *table;
    const kn_public_part *part;
    uint32_t             *sights;
} plain_rows;

static kn_status see_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const plain_rows *p = arg;
    (void)worker;
    (void)err;
    for (int64_t r = begin; r < end; r++) {
        uint64_t number = 0;
        for (int c = 0; c < p->table->column_count; c++)
            if (is_quasi(&p->part->columns[c]))
                number =
                    number * ((uint64_t)p->table->columns[c].dict.count + 1) + kn_column_code(&p->table->columns[c], r);
        p->sights[r] = (uint32_t)number;
    }
    return KN_OK;
}

/* Is every such number one of 32 bits? */
static bool is_plain(const kn_database_table *t, const kn_public_part *part)
{
    uint64_t numbers = t->child_count > 0 ? (uint64_t)UINT32_MAX + 1 : 1;
    for (int c = 0; c < t->table->column_count && numbers <= UINT32_MAX; c++)
        if (is_quasi(&part->columns[c])) numbers *= (uint64_t)t->table->columns[c].dict.count + 1;
    return numbers <= UINT32_MAX;
}

/* Rows that do not look alike get different numbers, of persons one after the other: so many are different. */
static kn_status see_table(kn_public *p, const kn_database *db, int table, uint32_t **sights, int64_t *different,
                           kn_error *err)
{
    const kn_table       *t = db->tables[table].table;
    const kn_public_part *part = &p->parts[table];
    kin                   k = {NULL, NULL};
    kn_interner           seen;
    kn_buffer             sight;
    sights[table] = kn_alloc_array(p->ctx, (size_t)t->rows + 1, sizeof **sights);
    if (!sights[table]) return kn_fail_memory(err, p->ctx, WHAT);
    if (table != db->entity && is_plain(&db->tables[table], part)) {
        plain_rows plain = {t, part, sights[table]};
        return kn_parallel_for(p->ctx, t->rows, AT_ONCE, see_range, &plain, err);
    }
    kn_interner_init(&seen, p->ctx);
    kn_buffer_init(&sight, p->ctx);
    kn_status st = join_children(&k, p->ctx, db, table, sights, err);
    for (int64_t r = 0; r < t->rows && st == KN_OK; r++) {
        kn_buffer_clear(&sight);
        for (int c = 0; c < t->column_count; c++) {
            uint32_t code = kn_column_code(&t->columns[c], r);
            if (is_quasi(&part->columns[c])) kn_buffer_append(&sight, &code, sizeof code);
        }
        kn_buffer_append(&sight, k.sights + k.starts[r], (size_t)(k.starts[r + 1] - k.starts[r]) * sizeof *k.sights);
        uint32_t id =
            sight.failed ? KN_ID_FAILED : kn_intern(&seen, (kn_string){sight.size ? sight.data : "", sight.size});
        if (id == KN_ID_FAILED) st = kn_fail_memory(err, p->ctx, WHAT);
        sights[table][r] = id - 1;
    }
    *different = (int64_t)seen.count;
    kn_buffer_free(&sight);
    kn_interner_free(&seen);
    kin_free(&k);
    return st;
}

static kn_status classes_of_persons(kn_public *p, kn_database *db, const char *persons, kn_error *err)
{
    KN_TRY(kn_database_choose(db, persons, err));
    uint32_t **sights = kn_alloc_array_zero(p->ctx, (size_t)db->table_count, sizeof *sights);
    int64_t    different = 0, *sizes = NULL, rows = db->tables[db->entity].table->rows;
    kn_status  st = sights ? KN_OK : kn_fail_memory(err, p->ctx, WHAT);
    for (int i = db->table_count - 1; i >= 0 && st == KN_OK; i--)
        st = see_table(p, db, db->order[i], sights, &different, err);
    if (st == KN_OK) {
        sizes = kn_alloc_array_zero(p->ctx, (size_t)different + 1, sizeof *sizes);
        if (!sizes) st = kn_fail_memory(err, p->ctx, WHAT);
    }
    for (int64_t r = 0; r < rows && st == KN_OK; r++) sizes[sights[db->entity][r]]++;
    if (st == KN_OK) st = kn_public_sizes(p, sizes, different, err);
    kn_free(sizes);
    for (int t = 0; sights && t < db->table_count; t++) kn_free(sights[t]);
    kn_free(sights);
    return st;
}

/* ---- All of it ---- */

static kn_status measure(kn_public *p, const kn_public_reader *reader, kn_database *db, const char *persons,
                         kn_error *err)
{
    p->parts = kn_public_alloc(p, (size_t)db->table_count, sizeof *p->parts, err);
    if (!p->parts) return KN_MEMORY;
    p->part_count = db->table_count;
    for (int t = 0; t < db->table_count; t++) {
        KN_TRY(describe_table(p, reader, &db->tables[t], &p->parts[t], err));
        if (strcmp(db->tables[t].name, persons) == 0) p->units = p->parts[t].rows;
    }
    if (p->spec->anatomy) return KN_OK;
    kn_public_mean_loss(p);
    KN_TRY(classes_of_persons(p, db, persons, err));
    double *reached = (double *)(uintptr_t)p->in_release;
    for (int i = 0; i < p->spec->model_count; i++)
        if (p->spec->models[i].kind == KN_MODEL_K && p->k > 0) reached[i] = (double)p->k;
    return KN_OK;
}

kn_status kn_public_of_database(kn_public **out, kn_context *ctx, const kn_spec *spec, const kn_public_reader *reader,
                                kn_database *release, const char *persons, kn_error *err)
{
    kn_public *p = NULL;
    *out = NULL;
    KN_TRY(kn_public_create(&p, ctx, KN_SHAPE_DATABASE, spec, err));
    kn_status st = measure(p, reader, release, persons, err);
    if (st == KN_OK)
        *out = p;
    else
        kn_public_free(p);
    return st;
}
