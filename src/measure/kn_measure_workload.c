/* kn_measure_workload.c: the public function kn_measure_workload: a workload's answers from two files.
 *
 * Both tables are read as kn_measure reads them, with the quasi-identifiers and the columns that the queries name.
 * Rows are grouped by those columns: the original's by their values, the release's by their cells; from there on only
 * distinct combinations are looked at (kn_workload_eval.c). Published statistics come from a side file, or from
 * columns of the release itself that have the names a summary's columns have; the release is then grouped by all
 * quasi-identifiers, so that each combination belongs to one class.
 *
 * Cost: reading, one grouping per table, then per query O(combinations). Memory: both tables' columns and the
 * combinations.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <kanon/workload.h>

#include <math.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_csv_read.h"
#include "kn_error.h"
#include "kn_freq.h"
#include "kn_measuring.h"
#include "kn_options.h"
#include "kn_summary.h"
#include "kn_workload_eval.h"

static const char what[] = "answering a workload";

/* Combinations of codes, unpacked. */
typedef struct side {
    kn_freq   *freq;
    uint32_t **codes;
} side;

typedef struct job {
    kn_measuring       m;
    kn_context        *ctx;
    const kn_workload *workload;
    const char        *summary_path;
    const char       **names; /* that the queries name     */
    int                name_count;
    const char       **extra; /* of these, no quasi-identifiers */
    int                extra_count;
    kn_table          *summary;    /* what holds published statistics: a side file, or the release; NULL: none */
    int               *statistics; /* quasi-identifiers × KN_STATISTICS: its columns; -1: none             */
    kn_eval_column    *columns;    /* quasi-identifiers first                                           */
    int               *quasi;      /* per column: which quasi-identifier; -1: none                      */
    int                column_count, quasi_count;
    side               original, release;
    uint32_t          *class_of;
    kn_published      *published;
    kn_answer         *answers;
} job;

/* The report with what it points to. */
typedef struct report {
    kn_workload_report report;
    kn_answer         *answers;
} report;

void kn_workload_report_free(kn_workload_report *public_part)
{
    if (!public_part) return;
    report *r = (report *)public_part;
    kn_free(r->answers);
    kn_free(r);
}

/* ---- Which columns ---- */

static bool is_quasi(const kn_spec *spec, const char *name)
{
    int at = kn_spec_find(spec, name);
    return at >= 0 && spec->attributes[at].role == KN_ROLE_QUASI;
}

/* Are all columns that the queries name in that file? Standard input cannot be looked at twice: its reader reports it. */
static kn_status check_names(job *j, const char *path, const kn_csv_options *csv, const char *where, kn_error *err)
{
    kn_csv_names found;
    kn_status    st = KN_OK;
    if (!path || strcmp(path, "-") == 0) return KN_OK;
    KN_TRY(kn_csv_read_names(&found, j->ctx, path, csv, err));
    for (int i = 0; st == KN_OK && i < j->name_count; i++) {
        bool there = false;
        for (int c = 0; c < found.count; c++) there = there || strcmp(found.names[c], j->names[i]) == 0;
        if (!there)
            st = kn_workload_no_column(j->workload, j->names[i], where, (const char *const *)found.names, found.count,
                                       err);
    }
    kn_csv_names_free(&found);
    return st;
}

static kn_status find_columns(job *j, kn_error *err)
{
    const kn_spec            *spec = j->m.spec;
    const kn_measure_options *o = j->m.options;
    const char               *original = o->originals            ? o->original_count > 0 ? o->originals[0] : NULL
                                         : spec->input_count > 0 ? spec->inputs[0]
                                                                 : NULL;
    const char               *release = o->release ? o->release : spec->output;
    kn_csv_options            csv = KN_CSV_OPTIONS_INIT;
    KN_TRY(kn_workload_columns(&j->names, &j->name_count, j->ctx, j->workload, err));
    KN_TRY(check_names(j, original, &spec->csv, "the original", err));
    csv.delimiter = spec->csv.delimiter;
    KN_TRY(check_names(j, release, &csv, "the release", err));
    j->extra = kn_alloc_array(j->ctx, (size_t)j->name_count + 1, sizeof *j->extra);
    if (!j->extra) return kn_fail_memory(err, j->ctx, what);
    for (int i = 0; spec->csv.count && i < j->name_count; i++)
        if (strcmp(j->names[i], spec->csv.count) == 0)
            return kn_fail(err, KN_INPUT, "the workload names column \"%s\", which counts rows; COUNT(*) counts them",
                           j->names[i]);
    for (int i = 0; i < j->name_count; i++)
        if (!is_quasi(spec, j->names[i])) j->extra[j->extra_count++] = j->names[i];
    j->m.extra = j->extra;
    j->m.extra_count = j->extra_count;
    return KN_OK;
}

/* ---- Published statistics: where they are ---- */

/* The columns of `table` that have a summary's names; false: there are none. */
static kn_status find_statistics(bool *found, job *j, const kn_table *table, kn_error *err)
{
    const char **names = kn_alloc_array(j->ctx, (size_t)j->m.quasi_count + 1, sizeof *names);
    kn_status    st = names ? KN_OK : kn_fail_memory(err, j->ctx, what);
    *found = false;
    for (int q = 0; st == KN_OK && q < j->m.quasi_count; q++) names[q] = j->m.quasi[q].attribute->name;
    for (int i = 0; st == KN_OK && i < j->m.quasi_count * KN_STATISTICS; i++) {
        char *name = kn_summary_name(j->ctx, names, j->m.quasi_count, names[i / KN_STATISTICS],
                                     (kn_statistic)(i % KN_STATISTICS));
        if (!name) st = kn_fail_memory(err, j->ctx, what);
        j->statistics[i] = name && kn_spec_find(j->m.spec, name) < 0 ? kn_table_find(table, name) : -1;
        *found = *found || j->statistics[i] >= 0;
        kn_free(name);
    }
    kn_free(names);
    return st;
}

static kn_status read_side_file(job *j, kn_error *err)
{
    kn_csv_options  csv = KN_CSV_OPTIONS_INIT;
    kn_column_type *types = kn_arena_array(&j->m.arena, (size_t)j->m.quasi_count + 1, sizeof *types);
    if (!types) return kn_fail_memory(err, j->ctx, what);
    for (int q = 0; q < j->m.quasi_count; q++)
        types[q] = (kn_column_type){j->m.quasi[q].attribute->name, KN_TYPE_TEXT, NULL};
    csv.types = types;
    csv.type_count = j->m.quasi_count;
    csv.delimiter = j->m.spec->csv.delimiter;
    csv.na = j->m.spec->csv.na;
    csv.na_count = j->m.spec->csv.na_count;
    csv.guarded = j->m.spec->spreadsheet_safe;
    return kn_table_read_csv(&j->summary, j->ctx, j->summary_path, &csv, err);
}

static kn_status find_summary(job *j, kn_error *err)
{
    bool found = false;
    j->statistics = kn_arena_array(&j->m.arena, (size_t)j->m.quasi_count * KN_STATISTICS + 1, sizeof *j->statistics);
    if (!j->statistics) return kn_fail_memory(err, j->ctx, what);
    if (j->summary_path) {
        KN_TRY(read_side_file(j, err));
        KN_TRY(find_statistics(&found, j, j->summary, err));
        return found ? KN_OK
                     : kn_fail(err, KN_INPUT, "%s has no statistics of a quasi-identifier: no column like \"%s_mean\"",
                               j->summary_path, j->m.quasi[0].attribute->name);
    }
    KN_TRY(find_statistics(&found, j, j->m.release, err));
    if (found) j->summary = j->m.release;
    return KN_OK;
}

/* ---- Combinations ---- */

static bool is_named(const job *j, const char *name)
{
    for (int i = 0; i < j->name_count; i++)
        if (strcmp(j->names[i], name) == 0) return true;
    return false;
}

static kn_status list_columns(job *j, kn_error *err)
{
    size_t most = (size_t)j->m.quasi_count + (size_t)j->extra_count + 1;
    j->columns = kn_arena_array_zero(&j->m.arena, most, sizeof *j->columns);
    j->quasi = kn_arena_array_zero(&j->m.arena, most, sizeof *j->quasi);
    if (j->m.arena.failed) return kn_fail_memory(err, j->ctx, what);
    for (int q = 0; q < j->m.quasi_count; q++) {
        const kn_measuring_quasi *from = &j->m.quasi[q];
        bool                      last_chance = j->quasi_count == 0 && q + 1 == j->m.quasi_count && j->extra_count == 0;
        if (!j->summary && !is_named(j, from->attribute->name) && !last_chance) continue;
        j->quasi[j->column_count] = q;
        j->columns[j->column_count++] = (kn_eval_column){.name = from->attribute->name,
                                                         .format = from->attribute->format,
                                                         .original = &j->m.original->columns[from->original],
                                                         .hierarchy = from->hierarchy,
                                                         .cells = from->cells,
                                                         .cell_count = from->cell_count};
        j->quasi_count++;
    }
    for (int i = 0; i < j->extra_count; i++) {
        int at = kn_spec_find(j->m.spec, j->extra[i]);
        j->quasi[j->column_count] = -1;
        j->columns[j->column_count++] =
            (kn_eval_column){.name = j->extra[i],
                             .format = at >= 0 ? j->m.spec->attributes[at].format : NULL,
                             .original = &j->m.original->columns[kn_table_find(j->m.original, j->extra[i])],
                             .shown = &j->m.release->columns[kn_table_find(j->m.release, j->extra[i])]};
    }
    return KN_OK;
}

static kn_status unpack(side *s, job *j, kn_error *err)
{
    s->codes = kn_arena_array_zero(&j->m.arena, (size_t)j->column_count + 1, sizeof *s->codes);
    if (!s->codes) return kn_fail_memory(err, j->ctx, what);
    for (int c = 0; c < j->column_count; c++) {
        s->codes[c] = kn_arena_array(&j->m.arena, (size_t)s->freq->classes + 1, sizeof **s->codes);
        if (!s->codes[c]) return kn_fail_memory(err, j->ctx, what);
        for (int64_t i = 0; i < s->freq->classes; i++) s->codes[c][i] = kn_freq_code(s->freq, i, c);
    }
    return KN_OK;
}

/* One combination per different cells: several texts may be one cell. */
static kn_status roll_up(kn_freq **out, job *j, const kn_freq *texts, kn_error *err)
{
    kn_rollup *by = kn_arena_array_zero(&j->m.arena, (size_t)j->column_count + 1, sizeof *by);
    if (!by) return kn_fail_memory(err, j->ctx, what);
    for (int c = 0; c < j->quasi_count; c++) {
        by[c].map = j->m.quasi[j->quasi[c]].map;
        by[c].distinct = j->m.quasi[j->quasi[c]].cell_count;
    }
    return kn_freq_rollup(out, texts, by, err);
}

static uint32_t star_of(const kn_column *column)
{
    for (uint32_t c = 0; c < column->dict.count; c++)
        if (kn_string_equal(kn_dictionary_text(&column->dict, c), kn_string_of("*"))) return c;
    return UINT32_MAX;
}

/* How many rows of the release hold no information. Suppressed rows that keep their sensitive cells are rows like
 * others, with "*" for quasi-identifiers. */
static int64_t silent_rows(const job *j)
{
    return j->m.spec->suppressed == KN_SUPPRESSED_KEEP_SENSITIVE ? 0 : j->m.starred;
}

/* Removes them from their combination. */
static void leave_out_suppressed(job *j)
{
    kn_freq *freq = j->release.freq;
    for (int64_t i = 0; silent_rows(j) > 0 && i < freq->classes; i++) {
        bool stars = true;
        for (int c = 0; stars && c < j->column_count; c++) {
            const kn_measuring_quasi *q = j->quasi[c] >= 0 ? &j->m.quasi[j->quasi[c]] : NULL;
            stars = j->release.codes[c][i] == (q ? q->map[q->star] : star_of(j->columns[c].shown));
        }
        if (!stars) continue;
        freq->counts[i] -= silent_rows(j);
        return;
    }
}

static kn_status group_rows(job *j, kn_error *err)
{
    int     *columns = kn_arena_array(&j->m.arena, (size_t)j->column_count + 1, sizeof *columns);
    kn_freq *texts = NULL;
    if (!columns) return kn_fail_memory(err, j->ctx, what);
    for (int c = 0; c < j->column_count; c++) columns[c] = (int)(j->columns[c].original - j->m.original->columns);
    kn_status st = kn_freq_of_table(&j->original.freq, j->ctx, j->m.original, columns, j->column_count, err);
    for (int c = 0; c < j->column_count; c++)
        columns[c] = j->quasi[c] >= 0 ? j->m.releases[j->quasi[c]] : (int)(j->columns[c].shown - j->m.release->columns);
    if (st == KN_OK) st = kn_freq_of_table(&texts, j->ctx, j->m.release, columns, j->column_count, err);
    if (st == KN_OK) st = roll_up(&j->release.freq, j, texts, err);
    kn_freq_free(texts);
    if (st == KN_OK) st = unpack(&j->original, j, err);
    if (st == KN_OK) st = unpack(&j->release, j, err);
    if (st == KN_OK) leave_out_suppressed(j);
    return st;
}

/* ---- Published statistics: whose they are ---- */

/* The release's cell of each text of a column of the summary; UINT32_MAX: the release does not show it. */
static uint32_t *map_texts(job *j, const kn_measuring_quasi *q, const kn_column *column)
{
    const kn_dictionary *from = &column->dict, *to = &j->m.release->columns[q->released].dict;
    uint32_t            *map = kn_arena_array(&j->m.arena, (size_t)from->count + 1, sizeof *map);
    if (!map) return NULL;
    /* Both are sorted by bytes. */
    for (uint32_t code = 0, at = 0; code < from->count; code++) {
        int order = 1;
        while (at < to->count &&
               (order = kn_string_compare(kn_dictionary_text(to, at), kn_dictionary_text(from, code))) < 0)
            at++;
        map[code] = at < to->count && order == 0 ? q->map[at] : UINT32_MAX;
    }
    map[from->count] = q->map[to->count];
    return map;
}

/* A statistic as a number. A column of the release holds "*" in suppressed rows, so that it was read as text. */
static double number_at(const job *j, int column, int64_t row)
{
    if (column < 0) return NAN;
    const kn_column *c = &j->summary->columns[column];
    uint32_t         code = kn_column_code(c, row);
    kn_decimal       number;
    if (code >= c->dict.count) return NAN;
    if (c->type == KN_TYPE_INTEGER) return (double)c->dict.integers[code];
    if (c->type == KN_TYPE_DECIMAL) return c->dict.decimals[code];
    kn_string text = kn_dictionary_text(&c->dict, code);
    bool      fine = kn_parse_declared_decimal(text, '.', &number) ||
                kn_parse_declared_decimal(text, j->m.spec->csv.decimal, &number);
    return fine ? number.nearest : NAN;
}

static void copy_statistics(job *j, int64_t row, int64_t class_index)
{
    for (int c = 0; c < j->quasi_count; c++) {
        const int *at = &j->statistics[j->quasi[c] * KN_STATISTICS];
        j->published[class_index * j->column_count + c] =
            (kn_published){.low = number_at(j, at[KN_STATISTIC_MIN], row),
                           .high = number_at(j, at[KN_STATISTIC_MAX], row),
                           .mean = number_at(j, at[KN_STATISTIC_MEAN], row)};
    }
}

static kn_status match_classes(job *j, const kn_freq *classes, uint32_t *const *maps, kn_error *err)
{
    const kn_table *t = j->summary;
    uint64_t       *key = kn_alloc_array(j->ctx, (size_t)classes->layout.words, sizeof *key);
    kn_status       st = key ? KN_OK : kn_fail_memory(err, j->ctx, what);
    for (int64_t row = 0; st == KN_OK && row < t->rows; row++) {
        bool shown = true;
        memset(key, 0, (size_t)classes->layout.words * sizeof *key);
        for (int c = 0; c < j->quasi_count && shown; c++) {
            const char      *name = j->columns[c].name;
            const kn_column *column = &t->columns[kn_table_find(t, name)];
            uint32_t         cell = maps[c][kn_column_code(column, row)];
            kn_field         field = classes->layout.fields[c];
            shown = cell != UINT32_MAX;
            if (shown) key[field.word] |= (uint64_t)cell << field.shift;
        }
        int64_t found = shown ? kn_freq_find(classes, key) : -1;
        if (found >= 0)
            copy_statistics(j, row, found);
        else if (j->summary_path)
            st = kn_fail(err, KN_INPUT, "%s: row %lld is about a class that the release does not have", j->summary_path,
                         (long long)row + 1);
    }
    kn_free(key);
    return st;
}

static kn_status take_statistics(job *j, const kn_freq *classes, kn_error *err)
{
    uint32_t **maps = kn_arena_array(&j->m.arena, (size_t)j->quasi_count + 1, sizeof *maps);
    size_t     cells = (size_t)classes->classes * (size_t)j->column_count;
    j->published = kn_arena_array(&j->m.arena, cells + 1, sizeof *j->published);
    if (j->m.arena.failed) return kn_fail_memory(err, j->ctx, what);
    for (size_t i = 0; i < cells; i++) j->published[i] = (kn_published){NAN, NAN, NAN};
    for (int c = 0; c < j->quasi_count; c++) {
        int column = kn_table_find(j->summary, j->columns[c].name);
        maps[c] = map_texts(j, &j->m.quasi[j->quasi[c]], &j->summary->columns[column]);
        if (!maps[c]) return kn_fail_memory(err, j->ctx, what);
    }
    return match_classes(j, classes, maps, err);
}

static kn_status read_published(job *j, kn_error *err)
{
    kn_freq *classes = NULL;
    int64_t *starts = NULL, count = j->release.freq->classes;
    if (!j->summary) return KN_OK;
    KN_TRY(kn_freq_fold(&classes, &starts, j->release.freq, j->quasi_count, err));
    j->class_of = kn_arena_array(&j->m.arena, (size_t)count + 1, sizeof *j->class_of);
    kn_status st = j->class_of ? take_statistics(j, classes, err) : kn_fail_memory(err, j->ctx, what);
    for (int64_t c = 0; st == KN_OK && c < classes->classes; c++)
        for (int64_t i = starts[c]; i < starts[c + 1]; i++) j->class_of[i] = (uint32_t)c;
    kn_freq_free(classes);
    kn_free(starts);
    return st;
}

/* ---- The report ---- */

static kn_status write_report(kn_workload_report **out, job *j, kn_error *err)
{
    report *r = kn_alloc_zero(j->ctx, sizeof *r);
    if (!r) return kn_fail_memory(err, j->ctx, what);
    kn_workload_report *p = &r->report;
    p->query_count = j->workload->query_count;
    p->rows = kn_table_total(j->m.original);
    p->released = kn_table_total(j->m.release) - silent_rows(j);
    p->combinations = j->release.freq->classes;
    for (int q = 0; q < p->query_count; q++) {
        p->weight += j->workload->queries[q].weight;
        p->total += j->workload->queries[q].weight * j->answers[q].error;
    }
    p->mean = p->total / p->weight;
    p->answers = r->answers = j->answers;
    j->answers = NULL;
    *out = p;
    return KN_OK;
}

static kn_status answer(kn_workload_report **out, job *j, kn_error *err)
{
    KN_TRY(find_columns(j, err));
    KN_TRY(kn_measuring_read(&j->m, err));
    KN_TRY(find_summary(j, err));
    KN_TRY(list_columns(j, err));
    KN_TRY(group_rows(j, err));
    KN_TRY(read_published(j, err));
    j->answers = kn_alloc_array_zero(j->ctx, (size_t)j->workload->query_count, sizeof *j->answers);
    if (!j->answers) return kn_fail_memory(err, j->ctx, what);
    kn_eval_input input = {
        .workload = j->workload,
        .columns = j->columns,
        .column_count = j->column_count,
        .decimal = j->m.spec->csv.decimal,
        .timezone = j->m.zone,
        .members = j->m.members.codes,
        .original = {j->original.freq->classes, j->original.freq->counts, (const uint32_t *const *)j->original.codes},
        .release = {j->release.freq->classes, j->release.freq->counts, (const uint32_t *const *)j->release.codes},
        .suppressed = kn_table_total(j->m.original) - (kn_table_total(j->m.release) - silent_rows(j)),
        .class_of = j->class_of,
        .published = j->published};
    KN_TRY(kn_workload_eval(j->answers, j->ctx, &input, err));
    return write_report(out, j, err);
}

kn_status kn_measure_workload(kn_workload_report **out, kn_context *ctx, const kn_spec *spec,
                              const kn_measure_options *options, const kn_workload *workload, const char *summary,
                              kn_error *err)
{
    *out = NULL;
    KN_SERVE(ctx, err);
    KN_OPTIONS(kn_measure_options, KN_MEASURE_OPTIONS_INIT, options, "measure options", err);
    job j = {.ctx = ctx, .workload = workload, .summary_path = summary};
    kn_measuring_init(&j.m, ctx, spec, options);
    kn_status st = answer(out, &j, err);
    if (j.summary != j.m.release) kn_table_free(j.summary);
    kn_freq_free(j.original.freq);
    kn_freq_free(j.release.freq);
    kn_free(j.names);
    kn_free(j.extra);
    kn_free(j.answers);
    kn_measuring_free(&j.m);
    return st;
}
