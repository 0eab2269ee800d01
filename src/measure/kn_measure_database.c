/* kn_measure_database.c: kn_measure_database of kanon/measure.h: what a release of a database lost, from the two alone.
 *
 * Table by table the rows that belong to persons are measured as those of a table are (kn_measure.c), deleted ones as suppressed:
 * no row is matched with another. LM (Definition 7) adds what deleted rows weigh beyond their quasi-identifiers; classes, k and DM
 * (Definition 8) come from the trees of the released persons.
 *
 * Cost: reading, the trees of both, one grouping per table. Memory: both databases, and 4 bytes per cell of one table.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_broader.h"
#include "kn_context.h"
#include "kn_database_known.h"
#include "kn_database_roles.h"
#include "kn_database_write.h"
#include "kn_error.h"
#include "kn_measuring.h"
#include "kn_options.h"
#include "kn_plan.h"
#include "kn_spec_of_database.h"
#include "kn_tuple.h"

static const char what[] = "measuring a release";

/* The report with what it points to. */
typedef struct report {
    kn_database_measure_report report;
    kn_arena                   arena;
} report;

typedef struct job {
    kn_context    *ctx;
    const kn_spec *spec;
    report        *to;
    const char    *path; /* of the release */
    kn_database   *original, *release;
    kn_forest     *before, *after;
    kn_timezone   *zone;
    double         lost, lost_released; /* cells */
    int64_t        cells, released;
} job;

void kn_database_measure_report_free(kn_database_measure_report *public_part)
{
    if (!public_part) return;
    report *r = (report *)public_part;
    kn_arena_free(&r->arena);
    kn_free(r);
}

/* ---- Reading ---- */

/* Is a column part of a key of which another one holds all of it? */
static bool is_part(const kn_database_table *t, const char *name)
{
    int c = kn_table_find(t->table, name);
    return c >= 0 && t->columns[c].whole >= 0 && t->columns[c].whole != c;
}

/* The quasi-identifiers as text; keys are where the original has them. */
static kn_status released_tables(job *j, kn_spec_table *tables, int *count, kn_error *err)
{
    for (int i = 0; i < j->spec->table_count; i++) {
        const kn_spec_table *said = &j->spec->tables[i];
        if (said->reference) continue;
        kn_spec_table *to = &tables[(*count)++];
        kn_attribute  *list = kn_arena_array(&j->to->arena, (size_t)said->attribute_count + 1, sizeof *list);
        if (!list) return kn_fail_memory(err, j->ctx, what);
        *to = *said;
        to->attributes = list;
        to->attribute_count = to->link_count = to->ignored_count = 0;
        KN_TRY(kn_known_keys(to, &j->to->arena, j->original, err));
        const kn_database_table *from = &j->original->tables[kn_database_find(j->original, said->name)];
        for (int a = 0; a < said->attribute_count; a++) {
            if (said->attributes[a].role != KN_ROLE_QUASI || is_part(from, said->attributes[a].name)) continue;
            kn_attribute *copy = &list[to->attribute_count++];
            *copy = said->attributes[a];
            copy->has_hierarchy = false;
            copy->type = KN_TYPE_TEXT;
            copy->format = NULL;
        }
    }
    return KN_OK;
}

static kn_status find_column(int *to, const job *j, const char *table, const kn_table *release, const char *name,
                             kn_error *err)
{
    *to = kn_table_find(release, name);
    if (*to < 0) return kn_fail(err, KN_INPUT, "%s: table \"%s\" has no column \"%s\"", j->path, table, name);
    return KN_OK;
}

/* Where groups are shown in a column of their own, or keys of several columns are one quasi-identifier, all of it is put together,
 * as it is in the original. */
static kn_status join_labels(job *j, const kn_database_table *t, kn_error *err)
{
    kn_table *release = j->release->tables[kn_database_find(j->release, t->name)].table;
    for (int q = 0; q < t->quasi_count; q++) {
        const char *label = t->columns[t->quasi[q]].label;
        if (!label) continue;
        const kn_foreign_key *f = kn_reference_link(t, t->quasi[q]);
        int                  *columns = kn_arena_array(&j->to->arena, (size_t)f->column_count, sizeof *columns), at;
        if (!columns) return kn_fail_memory(err, j->ctx, what);
        for (int i = 0; i < f->column_count; i++)
            KN_TRY(find_column(&columns[i], j, t->name, release, t->table->columns[f->columns[i]].name, err));
        KN_TRY(find_column(&at, j, t->name, release, label, err));
        KN_TRY(kn_tuple_column(j->ctx, release, columns, f->column_count, at, err));
    }
    return KN_OK;
}

static kn_status read_release(job *j, kn_error *err)
{
    kn_database_options reading = KN_DATABASE_OPTIONS_INIT;
    kn_csv_options      csv = kn_known_release_csv(j->spec, j->path);
    kn_spec_table      *tables = kn_arena_array(&j->to->arena, (size_t)j->spec->table_count + 1, sizeof *tables);
    if (!tables) return kn_fail_memory(err, j->ctx, what);
    KN_TRY(released_tables(j, tables, &reading.table_count, err));
    reading.tables = tables;
    reading.csv = &csv;
    KN_TRY(kn_database_read(&j->release, j->ctx, j->path, &reading, err));
    KN_TRY(kn_database_choose(j->release, j->spec->entity_table, err));
    for (int t = 0; t < j->original->table_count; t++) KN_TRY(join_labels(j, &j->original->tables[t], err));
    KN_TRY(kn_database_roles(j->release, tables, reading.table_count, err));
    return kn_forest_build(&j->after, j->ctx, j->release, err);
}

/* ---- One table ---- */

/* The quasi-identifiers of the rows that belong to persons; codes are those of the table. */
static kn_status view_rows(kn_table *view, kn_arena *arena, const kn_forest *f, int table, const int *columns,
                           int count, kn_error *err)
{
    const kn_table *from = f->db->tables[table].table;
    bool           *owned = kn_arena_array_zero(arena, (size_t)from->rows + 1, sizeof *owned);
    kn_column      *to = kn_arena_array_zero(arena, (size_t)count + 1, sizeof *to);
    *view = (kn_table){.ctx = arena->ctx, .columns = to, .column_count = count};
    if (!owned || !to) return kn_fail_memory(err, arena->ctx, what);
    for (uint64_t v = 0; v < f->nodes; v++)
        if (f->table[v] == table) owned[f->row[v]] = true;
    for (int64_t row = 0; row < from->rows; row++) view->rows += owned[row];
    view->total = view->rows;
    for (int c = 0; c < count; c++) {
        uint32_t *codes = kn_arena_array(arena, (size_t)view->rows + 1, sizeof *codes);
        int64_t   at = 0;
        if (!codes) return kn_fail_memory(err, arena->ctx, what);
        to[c] = from->columns[columns[c]];
        to[c].width = sizeof *codes;
        to[c].codes = codes;
        to[c].missing = 0;
        for (int64_t row = 0; row < from->rows; row++) {
            if (!owned[row]) continue;
            codes[at] = kn_column_code(&from->columns[columns[c]], row);
            to[c].missing += codes[at++] == to[c].dict.count;
        }
    }
    return KN_OK;
}

static const kn_attribute *find_attribute(const kn_spec *spec, const char *table, const char *column)
{
    for (int i = 0; i < spec->table_count; i++)
        for (int a = 0; strcmp(spec->tables[i].name, table) == 0 && a < spec->tables[i].attribute_count; a++)
            if (strcmp(spec->tables[i].attributes[a].name, column) == 0) return &spec->tables[i].attributes[a];
    return NULL;
}

static kn_status prepare(job *j, kn_measuring *m, const kn_database_table *t, kn_error *err)
{
    size_t n = (size_t)t->quasi_count + 1;
    m->quasi = kn_arena_array_zero(&m->arena, n, sizeof *m->quasi);
    m->originals = kn_arena_array(&m->arena, n, sizeof *m->originals);
    m->releases = kn_arena_array(&m->arena, n, sizeof *m->releases);
    m->hierarchies = kn_arena_array_zero(&m->arena, n, sizeof *m->hierarchies);
    m->weights = kn_arena_array(&m->arena, n, sizeof *m->weights);
    if (m->arena.failed) return kn_fail_memory(err, j->ctx, what);
    m->quasi_count = t->quasi_count;
    for (int q = 0; q < t->quasi_count; q++) {
        m->originals[q] = m->releases[q] = q;
        m->weights[q] = (kn_ratio){1, 1};
        m->quasi[q].attribute = find_attribute(j->spec, t->name, t->table->columns[t->quasi[q]].name);
        m->quasi[q].original = m->quasi[q].released = q;
        m->quasi[q].star = UINT32_MAX;
        m->quasi[q].hierarchy = t->columns[t->quasi[q]].hierarchy;
    }
    return KN_OK;
}

/* Where the columns of the original are in the release. */
static kn_status find_columns(const job *j, int *to, const kn_database_table *t, const kn_table *release, kn_error *err)
{
    for (int q = 0; q < t->quasi_count; q++)
        KN_TRY(find_column(&to[q], j, t->name, release, t->table->columns[t->quasi[q]].name, err));
    return KN_OK;
}

/* Does a cell show its value, a broader one, or nothing? */
static void add_cell(kn_measured_column *to, const kn_cell *cell, const kn_hierarchy *h, int64_t rows)
{
    bool node = cell->kind == KN_CELL_NODE;
    if (cell->kind == KN_CELL_VALUE || (node && cell->a <= h->leaves))
        to->kept += rows;
    else if (cell->kind == KN_CELL_STAR || (node && cell->a + 1 == h->nodes))
        to->suppressed += rows;
    else
        to->generalized += rows;
}

static kn_status tell_columns(job *j, const kn_measuring *m, const kn_metrics *metrics, int table, kn_error *err)
{
    kn_database_measure_report *r = &j->to->report;
    kn_measured_column         *columns = (kn_measured_column *)(uintptr_t)r->columns;
    for (int q = 0; q < m->quasi_count; q++) {
        const kn_attribute_loss *loss = &metrics->per_attribute[q];
        const char              *name = m->quasi[q].attribute->name;
        kn_measured_column      *to = &columns[r->column_count++];
        *to = (kn_measured_column){.table = table,
                                   .name = kn_arena_strndup(&j->to->arena, name, strlen(name)),
                                   .lm = loss->lm,
                                   .ncp = loss->ncp,
                                   .prec = loss->prec,
                                   .entropy = loss->entropy,
                                   .suppressed = m->plan->suppressed};
        if (!to->name) return kn_fail_memory(err, j->ctx, what);
        for (uint32_t c = 0; c < m->plan->classes; c++)
            add_cell(to, &m->plan->cells[(size_t)c * (size_t)m->quasi_count + (size_t)q], m->quasi[q].hierarchy,
                     m->plan->class_rows[c]);
    }
    return KN_OK;
}

static kn_status compare_columns(job *j, kn_measuring *m, int table, double *lost, kn_error *err)
{
    const kn_database_table *t = &j->original->tables[table];
    int                      there = kn_database_find(j->release, t->name);
    kn_metrics              *metrics = NULL;
    KN_TRY(prepare(j, m, t, err));
    KN_TRY(find_columns(j, m->releases, t, j->release->tables[there].table, err));
    KN_TRY(view_rows(m->original, &m->arena, j->before, table, t->quasi, t->quasi_count, err));
    KN_TRY(view_rows(m->release, &m->arena, j->after, there, m->releases, t->quasi_count, err));
    for (int q = 0; q < t->quasi_count; q++) m->releases[q] = q;
    kn_status st = kn_measuring_one(&metrics, m, err);
    if (st == KN_OK) st = tell_columns(j, m, metrics, table, err);
    for (int q = 0; st == KN_OK && q < t->quasi_count; q++)
        *lost += metrics->per_attribute[q].lm * (double)m->original->rows;
    kn_metrics_free(metrics);
    return st;
}

/* Tables, time zone and hierarchies are not for kn_measuring_free to free. */
static kn_status measure_columns(job *j, int table, const char *path, double *lost, kn_error *err)
{
    kn_measure_options options = KN_MEASURE_OPTIONS_INIT;
    kn_measuring       m;
    kn_table           original, release;
    options.release = path; /* where a cell is that cannot be read */
    kn_measuring_init(&m, j->ctx, j->spec, &options);
    m.original = &original;
    m.release = &release;
    m.zone = j->zone;
    kn_status st = compare_columns(j, &m, table, lost, err);
    m.original = m.release = NULL;
    m.zone = NULL;
    m.quasi_count = 0;
    kn_measuring_free(&m);
    return st;
}

static int64_t rows_of(const kn_forest *f, int table)
{
    return f->db->tables[table].table->rows - f->missing[table] - f->dangling[table] - f->lost[table];
}

static kn_status measure_table(job *j, kn_measured_table *to, int table, kn_error *err)
{
    const kn_database_table *t = &j->original->tables[table];
    int                      there = kn_database_find(j->release, t->name);
    char                     path[600];
    double                   lost = 0;
    *to = (kn_measured_table){.name = kn_arena_strndup(&j->to->arena, t->name, strlen(t->name)),
                              .rows = rows_of(j->before, table),
                              .released = rows_of(j->after, there)};
    if (!to->name) return kn_fail_memory(err, j->ctx, what);
    to->deleted = to->rows - to->released;
    if (to->deleted < 0)
        return kn_fail(err, KN_INPUT, "%s: table \"%s\" has %lld rows, its original only %lld", j->path, t->name,
                       (long long)to->released, (long long)to->rows);
    snprintf(path, sizeof path, "%.300s: table \"%.200s\"", j->path, t->name);
    if (t->quasi_count > 0 && to->rows > 0) KN_TRY(measure_columns(j, table, path, &lost, err));
    lost += (double)t->weight * (double)to->deleted;
    to->cells = to->rows * (t->quasi_count + t->weight);
    to->lm = to->cells > 0 ? lost / (double)to->cells : 0;
    j->lost += lost;
    j->cells += to->cells;
    j->released += to->released * (t->quasi_count + t->weight);
    j->lost_released += lost - (double)to->deleted * (double)(t->quasi_count + t->weight);
    return KN_OK;
}

/* ---- All of them ---- */

static kn_status measure_tables(job *j, kn_error *err)
{
    kn_database_measure_report *r = &j->to->report;
    size_t                      columns = 1;
    for (int t = 0; t < j->original->table_count; t++) columns += (size_t)j->original->tables[t].quasi_count;
    kn_measured_table *tables =
        kn_arena_array_zero(&j->to->arena, (size_t)j->original->table_count + 1, sizeof *tables);
    r->tables = tables;
    r->columns = kn_arena_array_zero(&j->to->arena, columns, sizeof *r->columns);
    if (!tables || !r->columns) return kn_fail_memory(err, j->ctx, what);
    r->table_count = j->original->table_count;
    for (int t = 0; t < r->table_count; t++) KN_TRY(measure_table(j, &tables[t], t, err));
    r->lm = j->cells > 0 ? j->lost / (double)j->cells : 0;
    r->lm_released = j->released > 0 && j->lost_released > 0 ? j->lost_released / (double)j->released : 0;
    return KN_OK;
}

/* Equal trees are neighbours in a forest. */
static void tell_classes(job *j)
{
    kn_database_measure_report *r = &j->to->report;
    const kn_forest            *f = j->after;
    int64_t                     first = 0;
    r->persons = j->before->entities;
    r->released = f->entities;
    r->suppressed = r->persons - r->released;
    r->dm = (double)r->suppressed * (double)r->persons;
    for (int64_t e = 0; e < f->entities; e++) {
        if (e + 1 < f->entities && f->subtree[f->start[e + 1]] == f->subtree[f->start[e]]) continue;
        int64_t size = e + 1 - first;
        r->classes++;
        r->dm += (double)size * (double)size;
        if (r->k == 0 || size < r->k) r->k = size;
        first = e + 1;
    }
}

static kn_status run(job *j, const char *original, kn_error *err)
{
    if (j->spec->csv.timezone) KN_TRY(kn_timezone_open(&j->zone, j->ctx, j->spec->csv.timezone, err));
    bool files = kn_database_kind_of(j->path) == KN_DATABASE_FOLDER; /* as it was read when it was released */
    KN_TRY(kn_database_read_persons(&j->original, &j->before, j->ctx, original, j->spec, files, err));
    KN_TRY(read_release(j, err));
    tell_classes(j);
    return measure_tables(j, err);
}

kn_status kn_measure_database(kn_database_measure_report **out, kn_context *ctx, const kn_spec *spec,
                              const kn_measure_options *options, kn_error *err)
{
    *out = NULL;
    KN_SERVE(ctx, err);
    if (!spec) return kn_fail(err, KN_USAGE, "measure: the spec is missing");
    KN_OPTIONS(kn_measure_options, KN_MEASURE_OPTIONS_INIT, options, "measure options", err);
    KN_TRY(kn_spec_check_is_database(spec, err));
    if (spec->anatomy)
        return kn_fail(err, KN_USAGE, "an anatomy shows its cells as they were; verify says which rows it lacks");
    if ((options->originals ? options->original_count : spec->input_count) != 1)
        return kn_fail(err, KN_USAGE, "one database is needed as the original");
    if (!options->release && !spec->output) return kn_fail(err, KN_USAGE, "no release is named");
    job j = {.ctx = ctx, .spec = spec, .path = options->release ? options->release : spec->output};
    j.to = kn_alloc_zero(ctx, sizeof *j.to);
    if (!j.to) return kn_fail_memory(err, ctx, what);
    kn_arena_init(&j.to->arena, ctx);
    kn_status st = run(&j, options->originals ? options->originals[0] : spec->inputs[0], err);
    kn_forest_free(j.before);
    kn_forest_free(j.after);
    kn_database_free(j.original);
    kn_database_free(j.release);
    kn_timezone_free(j.zone);
    if (st == KN_OK)
        *out = &j.to->report;
    else
        kn_database_measure_report_free(&j.to->report);
    return st;
}
