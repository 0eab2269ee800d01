/* kn_measure.c: the public functions of kanon/measure.h: every metric of a release from two files.
 *
 * The original is read with the spec's types (its quasi-identifiers only), the release as text; each distinct text of a
 * quasi-identifier becomes a cell (kn_cell_parse), rows with the same cells are a class, and the classes are a plan
 * that kn_metrics measures. Rows are never matched: lm, ncp and prec look at the release alone, entropy at how often
 * each value occurs in the original, the others at class sizes.
 *
 * Suppressed are the rows of the release that are "*" in every column (in every declared one that is not sensitive,
 * where the spec keeps the sensitive cells of suppressed rows) and the rows of the original that the release lacks.
 * dm_star is known if nothing is suppressed, or if every quasi-identifier's cells are on one level.
 *
 * Cost: reading, then one grouping of the release. Memory: the release's columns and the original's quasi-identifiers.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <kanon/measure.h>

#include "kn_alloc.h"
#include "kn_column_union.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_freq.h"
#include "kn_hierarchy_make.h"
#include "kn_measuring.h"
#include "kn_metrics.h"
#include "kn_options.h"
#include "kn_sort.h"
#include "kn_table_select.h"

static const char what[] = "measuring a release";

typedef kn_measuring_quasi quasi;
typedef kn_measuring       job;

/* The report with what it points to. */
typedef struct report {
    kn_measure_report report;
    kn_arena          arena;
} report;

void kn_measure_report_free(kn_measure_report *public_part)
{
    if (!public_part) return;
    report *r = (report *)public_part;
    kn_arena_free(&r->arena);
    kn_free(r);
}

/* ---- Reading ---- */

static const char *release_path(const job *j)
{
    return j->options->release ? j->options->release : j->spec->output;
}

static kn_status find_quasi(job *j, kn_error *err)
{
    size_t n = (size_t)j->spec->attribute_count;
    j->quasi = kn_arena_array_zero(&j->arena, n, sizeof *j->quasi);
    j->originals = kn_arena_array_zero(&j->arena, n, sizeof *j->originals);
    j->releases = kn_arena_array_zero(&j->arena, n, sizeof *j->releases);
    j->hierarchies = kn_arena_array_zero(&j->arena, n, sizeof *j->hierarchies);
    j->weights = kn_arena_array_zero(&j->arena, n, sizeof *j->weights);
    if (j->arena.failed) return kn_fail_memory(err, j->ctx, what);
    for (size_t i = 0; i < n; i++) {
        const kn_attribute *a = &j->spec->attributes[i];
        if (a->role != KN_ROLE_QUASI) continue;
        j->weights[j->quasi_count] = a->weight;
        j->quasi[j->quasi_count++].attribute = a;
    }
    if (j->quasi_count == 0) return kn_fail(err, KN_USAGE, "no quasi-identifier is named: there is nothing to measure");
    return KN_OK;
}

/* The quasi-identifiers of the original or the population, and `extra` more columns, with their declared types. */
static kn_status read_typed(kn_table **out, job *j, const char *const *paths, int count, char delimiter, int extra,
                            kn_error *err)
{
    kn_csv_options  csv = j->spec->csv;
    size_t          most = (size_t)j->quasi_count + (size_t)extra;
    kn_column_type *types = kn_arena_array_zero(&j->arena, most, sizeof *types);
    const char    **names = kn_arena_array_zero(&j->arena, most, sizeof *names);
    if (j->arena.failed) return kn_fail_memory(err, j->ctx, what);
    csv.type_count = csv.column_count = 0;
    for (int i = 0; i < j->quasi_count + extra; i++) {
        int                 at = i < j->quasi_count ? -1 : kn_spec_find(j->spec, j->extra[i - j->quasi_count]);
        const kn_attribute *a = i < j->quasi_count ? j->quasi[i].attribute : at >= 0 ? &j->spec->attributes[at] : NULL;
        names[csv.column_count++] = a ? a->name : j->extra[i - j->quasi_count];
        if (a) types[csv.type_count++] = (kn_column_type){a->name, a->type, a->format};
    }
    csv.delimiter = delimiter;
    if (paths == &j->spec->population) csv.count = NULL;
    csv.types = types;
    csv.columns = names;
    return kn_table_read_csv_files(out, j->ctx, paths, count, &csv, err);
}

/* All columns: whether a row is suppressed shows in every one. A release has a header and is UTF-8, whatever its
 * original was. */
static kn_status read_release(job *j, kn_error *err)
{
    kn_csv_options  csv = KN_CSV_OPTIONS_INIT;
    size_t          most = (size_t)j->quasi_count + (size_t)j->extra_count;
    kn_column_type *types = kn_arena_array_zero(&j->arena, most, sizeof *types);
    if (!types) return kn_fail_memory(err, j->ctx, what);
    for (int q = 0; q < j->quasi_count; q++)
        types[csv.type_count++] = (kn_column_type){j->quasi[q].attribute->name, KN_TYPE_TEXT, NULL};
    for (int i = 0; i < j->extra_count; i++)
        types[csv.type_count++] = (kn_column_type){j->extra[i], KN_TYPE_TEXT, NULL};
    csv.delimiter = j->spec->csv.delimiter;
    csv.na = j->spec->csv.na;
    csv.na_count = j->spec->csv.na_count;
    csv.guarded = j->spec->spreadsheet_safe;
    csv.count = j->spec->expand ? NULL : j->spec->csv.count;
    csv.types = types;
    return kn_table_read_csv(&j->release, j->ctx, release_path(j), &csv, err);
}

/* missing: drop leaves rows with a missing quasi-identifier out before anything else is done. */
static kn_status drop_missing(job *j, kn_error *err)
{
    kn_table *t = j->original;
    if (j->spec->missing != KN_MISSING_DROP) return KN_OK;
    int64_t *rows = kn_alloc_array(j->ctx, (size_t)t->rows + 1, sizeof *rows), count = 0;
    if (!rows) return kn_fail_memory(err, j->ctx, what);
    for (int64_t row = 0; row < t->rows; row++) {
        bool missing = false;
        for (int q = 0; q < j->quasi_count && !missing; q++) {
            const kn_column *c = &t->columns[j->originals[q]];
            missing = kn_column_code(c, row) == c->dict.count;
        }
        if (!missing) rows[count++] = row;
    }
    kn_status st = KN_OK;
    if (count < t->rows) {
        st = kn_table_select(&j->original, j->ctx, t, rows, count, err);
        if (st == KN_OK) kn_table_free(t);
    }
    kn_free(rows);
    return st;
}

static kn_status read_tables(job *j, kn_error *err)
{
    const kn_measure_options *o = j->options;
    const char *const        *paths = o->originals ? o->originals : j->spec->inputs;
    int                       count = o->originals ? o->original_count : j->spec->input_count;
    if (count < 1) return kn_fail(err, KN_USAGE, "no original is named");
    if (!release_path(j)) return kn_fail(err, KN_USAGE, "no release is named");
    KN_TRY(find_quasi(j, err));
    KN_TRY(read_typed(&j->original, j, paths, count, j->spec->csv.delimiter, j->extra_count, err));
    KN_TRY(read_release(j, err));
    if (j->spec->population) KN_TRY(read_typed(&j->population, j, &j->spec->population, 1, 0, 0, err));
    for (int q = 0; q < j->quasi_count; q++) {
        j->quasi[q].original = j->originals[q] = kn_table_find(j->original, j->quasi[q].attribute->name);
        j->quasi[q].released = j->releases[q] = kn_table_find(j->release, j->quasi[q].attribute->name);
    }
    KN_TRY(drop_missing(j, err));
    if (kn_table_total(j->release) > kn_table_total(j->original))
        return kn_fail(err, KN_INPUT, "%s: it has %lld rows, its original only %lld%s", release_path(j),
                       (long long)kn_table_total(j->release), (long long)kn_table_total(j->original),
                       j->spec->missing == KN_MISSING_DROP ? " without missing quasi-identifiers" : "");
    return j->spec->csv.timezone ? kn_timezone_open(&j->zone, j->ctx, j->spec->csv.timezone, err) : KN_OK;
}

/* ---- Suppressed rows ---- */

/* Is a suppressed row "*" in this column? In all of them, or where its sensitive cells are kept, in those that are
 * declared and not sensitive. */
static bool shows_suppression(const job *j, const kn_column *column)
{
    if (j->spec->suppressed != KN_SUPPRESSED_KEEP_SENSITIVE) return true;
    int a = kn_spec_find(j->spec, column->name);
    return a >= 0 && j->spec->attributes[a].role != KN_ROLE_SENSITIVE;
}

static uint32_t star_code(const kn_column *column)
{
    for (uint32_t c = 0; c < column->dict.count; c++)
        if (kn_string_equal(kn_dictionary_text(&column->dict, c), kn_string_of("*"))) return c;
    return UINT32_MAX;
}

static kn_status find_suppressed(job *j, kn_error *err)
{
    const kn_table *t = j->release;
    j->suppressed = kn_arena_array(&j->arena, (size_t)t->rows + 1, sizeof *j->suppressed);
    if (!j->suppressed) return kn_fail_memory(err, j->ctx, what);
    memset(j->suppressed, true, (size_t)t->rows);
    for (int q = 0; q < j->quasi_count; q++) j->quasi[q].star = star_code(&t->columns[j->releases[q]]);
    for (int c = 0; c < t->column_count; c++) {
        const kn_column *column = &t->columns[c];
        uint32_t         star = star_code(column);
        if (!shows_suppression(j, column)) continue;
        for (int64_t row = 0; row < t->rows; row++)
            j->suppressed[row] = j->suppressed[row] && kn_column_code(column, row) == star;
    }
    for (int64_t row = 0; row < t->rows; row++)
        if (j->suppressed[row]) j->starred += kn_table_weight(t, row);
    return KN_OK;
}

/* ---- Cells ---- */

/* Texts of the release in rows that are not suppressed. */
typedef struct used_texts {
    kn_arena   room;
    uint32_t   count;
    uint32_t  *codes;
    kn_string *texts;
    kn_cell   *cells;
} used_texts;

static kn_status find_used(job *j, const quasi *q, used_texts *u, kn_error *err)
{
    const kn_column *column = &j->release->columns[q->released];
    size_t           n = (size_t)column->dict.count + 1;
    bool            *seen = kn_arena_array_zero(&u->room, n, sizeof *seen);
    u->codes = kn_arena_array(&u->room, n, sizeof *u->codes);
    u->texts = kn_arena_array(&u->room, n, sizeof *u->texts);
    u->cells = kn_arena_array(&u->room, n, sizeof *u->cells);
    bool made = !u->room.failed;
    for (int64_t row = 0; made && row < j->release->rows; row++)
        if (!j->suppressed[row]) seen[kn_column_code(column, row)] = true;
    for (uint32_t c = 0; made && c < n; c++) {
        if (!seen[c]) continue;
        u->codes[u->count] = c;
        u->texts[u->count++] = c < column->dict.count ? kn_dictionary_text(&column->dict, c) : (kn_string){NULL, 0};
    }
    return made ? KN_OK : kn_fail_memory(err, j->ctx, what);
}

/* Reports the place of a text that is not a cell. */
static kn_status bad_cell(const job *j, const quasi *q, uint32_t code, kn_error *err)
{
    const kn_column *column = &j->release->columns[q->released];
    int64_t          row = 0;
    while (row < j->release->rows && (j->suppressed[row] || kn_column_code(column, row) != code)) row++;
    return kn_fail(err, KN_INPUT,
                   "%s: row %lld, column \"%s\": neither a value of the original, a label of the hierarchy, an "
                   "interval, a set nor \"*\"",
                   release_path(j), (long long)row + 1, q->attribute->name);
}

static kn_status parse_texts(job *j, quasi *q, used_texts *u, kn_error *err)
{
    kn_cell_rules   rules = {j->spec->csv.decimal, q->attribute->format, j->zone};
    kn_cell_parser *parser = NULL;
    size_t          bad = 0;
    KN_TRY(kn_cell_parser_make(&parser, j->ctx, &j->original->columns[q->original], q->hierarchy, &rules, err));
    kn_status st = kn_cell_parse_column(u->cells, &q->level, parser, u->texts, u->count, &j->members, &bad, err);
    if (st == KN_INPUT) st = bad_cell(j, q, u->codes[bad], err);
    kn_cell_parser_free(parser);
    return st;
}

static kn_status make_hierarchy(job *j, quasi *q, const kn_hierarchy_spec *from, kn_error *err)
{
    uint32_t         *leaves = NULL;
    kn_hierarchy_spec spec = *from;
    spec.decimal = j->spec->csv.decimal;
    spec.timezone = j->spec->csv.timezone;
    kn_column_type type = {q->attribute->name, q->attribute->type, q->attribute->format};
    kn_csv_options csv = j->spec->csv;
    kn_table      *counts = NULL;
    int            people = j->population ? kn_table_find(j->population, q->attribute->name) : 0;
    csv.types = &type;
    csv.type_count = 1;
    if (spec.population) KN_TRY(kn_hierarchy_read_counts(&counts, j->ctx, spec.population, &csv, err));
    kn_status st = kn_hierarchy_make_over(&q->hierarchy, &leaves, j->ctx, j->original, q->original,
                                          counts ? counts : j->population, counts ? 0 : people, &spec, false, err);
    kn_table_free(counts);
    kn_free(leaves);
    return st;
}

/* Without a hierarchy a column that shows nothing but values, labels of the hierarchy that its type suggests and "*" has
 * that one, as anonymize sees it; otherwise its intervals and sets are measured by themselves. Partitioning has none. */
static kn_status parse_without_hierarchy(job *j, quasi *q, used_texts *u, kn_error *err)
{
    bool              partition = !j->spec->method_auto && kn_method_family(j->spec->method) == KN_FAMILY_PARTITION;
    int               people = j->population ? kn_table_find(j->population, q->attribute->name) : -1;
    kn_hierarchy_spec rule = KN_HIERARCHY_SPEC_INIT;
    rule.kind = KN_HIERARCHY_SUPPRESS;
    if (!partition)
        KN_TRY(kn_hierarchy_by_type_over(&rule, &j->arena, &j->original->columns[q->original],
                                         people < 0 ? NULL : &j->population->columns[people], j->spec->csv.decimal,
                                         err));
    KN_TRY(make_hierarchy(j, q, &rule, err));
    size_t    members = j->members.count;
    kn_status st = parse_texts(j, q, u, err);
    bool      plain = st == KN_OK;
    for (uint32_t i = 0; i < u->count && plain; i++)
        plain = u->cells[i].kind == KN_CELL_NODE || u->cells[i].kind == KN_CELL_VALUE;
    if (plain || st == KN_MEMORY) return st;
    j->members.count = members;
    kn_hierarchy_free(q->hierarchy);
    q->hierarchy = NULL;
    return parse_texts(j, q, u, err);
}

/* Numbers the different cells and maps the release's codes to them. Texts of suppressed rows alone go where "*"
 * goes. */
static kn_status number_cells(job *j, quasi *q, const used_texts *u, kn_sort_record *records, kn_error *err)
{
    const uint32_t *members = j->members.codes;
    for (uint32_t i = 0; i < u->count; i++) records[i] = (kn_sort_record){kn_cell_hash(members, &u->cells[i]), i};
    KN_TRY(kn_sort_records(j->ctx, records, u->count, NULL, NULL, err));
    uint32_t first = 0; /* number of the first cell with the hash at hand */
    for (uint32_t i = 0; i < u->count; i++) {
        const kn_cell *cell = &u->cells[records[i].id];
        if (i > 0 && records[i].key != records[i - 1].key) first = q->cell_count;
        uint32_t n = first;
        while (n < q->cell_count && !kn_cell_equal(members, &q->cells[n], cell)) n++;
        if (n == q->cell_count) q->cells[q->cell_count++] = *cell;
        q->map[u->codes[records[i].id]] = n;
    }
    bool star_used = false;
    for (uint32_t i = 0; i < u->count; i++) star_used = star_used || u->codes[i] == q->star;
    if (j->starred > 0 && !star_used) {
        q->map[q->star] = q->cell_count;
        q->cells[q->cell_count++] = (kn_cell){KN_CELL_STAR, 0, 0};
    }
    return KN_OK;
}

static kn_status read_cells(job *j, quasi *q, kn_error *err)
{
    used_texts u = {.room = {.ctx = j->ctx}};
    size_t     n = (size_t)j->release->columns[q->released].dict.count + 2;
    kn_status  st = find_used(j, q, &u, err);
    if (st == KN_OK && q->hierarchy) {
        st = parse_texts(j, q, &u, err);
    } else if (st == KN_OK && q->attribute->has_hierarchy) {
        st = make_hierarchy(j, q, &q->attribute->hierarchy, err);
        if (st == KN_OK) st = parse_texts(j, q, &u, err);
    } else if (st == KN_OK) {
        st = parse_without_hierarchy(j, q, &u, err);
    }
    kn_sort_record *records = kn_arena_array(&u.room, n, sizeof *records);
    q->map = kn_arena_array_zero(&j->arena, n, sizeof *q->map);
    q->cells = kn_arena_array(&j->arena, n, sizeof *q->cells);
    if (st == KN_OK && (u.room.failed || j->arena.failed)) st = kn_fail_memory(err, j->ctx, what);
    if (st == KN_OK) st = number_cells(j, q, &u, records, err);
    kn_arena_free(&u.room);
    return st;
}

/* ---- The plan ---- */

static bool is_star_class(const job *j, const kn_freq *freq, int64_t index)
{
    if (j->starred == 0) return false;
    for (int q = 0; q < j->quasi_count; q++)
        if (kn_freq_code(freq, index, q) != j->quasi[q].map[j->quasi[q].star]) return false;
    return true;
}

static kn_status plan_classes(job *j, const kn_freq *freq, kn_error *err)
{
    size_t count = (size_t)j->quasi_count;
    if (freq->classes >= KN_CLASS_SUPPRESSED) return kn_fail(err, KN_INPUT, "%s: too many classes", release_path(j));
    KN_TRY(kn_plan_create(&j->plan, j->ctx, 0, j->quasi_count, (uint32_t)freq->classes, err));
    kn_plan *plan = j->plan;
    plan->classes = 0;
    for (int64_t i = 0; i < freq->classes; i++) {
        int64_t rows = freq->counts[i] - (is_star_class(j, freq, i) ? j->starred : 0);
        if (rows == 0) continue;
        plan->class_rows[plan->classes] = rows;
        for (size_t q = 0; q < count; q++)
            plan->cells[plan->classes * count + q] = j->quasi[q].cells[kn_freq_code(freq, i, (int)q)];
        plan->classes++;
    }
    plan->members = j->members.codes;
    plan->member_count = j->members.count;
    j->members = (kn_cell_members){.ctx = j->ctx};
    plan->suppressed = kn_table_total(j->original) - (kn_table_total(j->release) - j->starred);
    bool node = plan->classes > 0;
    for (size_t q = 0; q < count; q++) node = node && j->quasi[q].level >= 0;
    if (!node) return KN_OK;
    plan->levels = kn_alloc_array(j->ctx, count, sizeof *plan->levels);
    if (!plan->levels) return kn_fail_memory(err, j->ctx, what);
    plan->level_count = j->quasi_count;
    for (size_t q = 0; q < count; q++) plan->levels[q] = j->quasi[q].level;
    return KN_OK;
}

static kn_status make_plan(job *j, kn_error *err)
{
    kn_freq   *texts = NULL, *classes = NULL;
    kn_rollup *by = kn_arena_array_zero(&j->arena, (size_t)j->quasi_count, sizeof *by);
    if (!by) return kn_fail_memory(err, j->ctx, what);
    for (int q = 0; q < j->quasi_count; q++) {
        j->hierarchies[q] = j->quasi[q].hierarchy;
        by[q].map = j->quasi[q].map;
        by[q].distinct = j->quasi[q].cell_count;
    }
    kn_status st = kn_freq_of_table(&texts, j->ctx, j->release, j->releases, j->quasi_count, err);
    if (st == KN_OK) st = kn_freq_rollup(&classes, texts, by, err);
    if (st == KN_OK) st = plan_classes(j, classes, err);
    kn_freq_free(texts);
    kn_freq_free(classes);
    return st;
}

/* ---- For others ---- */

void kn_measuring_init(kn_measuring *j, kn_context *ctx, const kn_spec *spec, const kn_measure_options *options)
{
    *j = (job){.ctx = ctx, .spec = spec, .options = options, .members = {.ctx = ctx}};
    kn_arena_init(&j->arena, ctx);
}

kn_status kn_measuring_read(kn_measuring *j, kn_error *err)
{
    KN_TRY(kn_spec_check_one_table(j->spec, "kn_measure_database and kn_measure_records measure such", err));
    KN_TRY(read_tables(j, err));
    KN_TRY(find_suppressed(j, err));
    for (int q = 0; q < j->quasi_count; q++) KN_TRY(read_cells(j, &j->quasi[q], err));
    return KN_OK;
}

kn_status kn_measuring_one(kn_metrics **out, kn_measuring *j, kn_error *err)
{
    j->suppressed = kn_arena_array_zero(&j->arena, (size_t)j->release->rows + 1, sizeof *j->suppressed);
    if (!j->suppressed) return kn_fail_memory(err, j->ctx, what);
    for (int q = 0; q < j->quasi_count; q++) KN_TRY(read_cells(j, &j->quasi[q], err));
    KN_TRY(make_plan(j, err));
    return kn_metrics_of_release(out, j->ctx, j->original, j->originals, j->hierarchies, j->weights, j->plan, 1, err);
}

void kn_measuring_free(kn_measuring *j)
{
    for (int q = 0; q < j->quasi_count; q++) kn_hierarchy_free(j->quasi[q].hierarchy);
    kn_plan_free(j->plan);
    kn_cell_members_free(&j->members);
    kn_table_free(j->original);
    kn_table_free(j->release);
    kn_table_free(j->population);
    kn_timezone_free(j->zone);
    kn_arena_free(&j->arena);
}

/* ---- The report ---- */

/* The largest size that any promise asks of every class, as kn_requirements has it. */
static int64_t requested_k(const kn_spec *spec)
{
    int64_t k = 1;
    for (int i = 0; i < spec->model_count; i++) {
        const kn_model *m = &spec->models[i];
        int64_t         asked = 1;
        if (m->kind == KN_MODEL_K || m->kind == KN_MODEL_ALPHA_K) asked = m->k;
        if (m->kind == KN_MODEL_MAX_RISK && m->bound.numerator > 0) {
            uint64_t whole = m->bound.denominator / m->bound.numerator;
            whole += m->bound.denominator % m->bound.numerator > 0;
            asked = whole > INT64_MAX ? INT64_MAX : (int64_t)whole;
        }
        if (asked > k) k = asked;
    }
    return k;
}

static kn_status write_report(kn_measure_report **out, job *j, const kn_metrics *m, kn_error *err)
{
    report *r = kn_alloc_zero(j->ctx, sizeof *r);
    if (!r) return kn_fail_memory(err, j->ctx, what);
    kn_arena_init(&r->arena, j->ctx);
    kn_measured_attribute *attributes = kn_arena_alloc(&r->arena, (size_t)j->quasi_count * sizeof *attributes);
    bool                   made = attributes;
    for (int q = 0; made && q < j->quasi_count; q++) {
        const kn_attribute_loss *loss = &m->per_attribute[q];
        const char              *name = j->quasi[q].attribute->name;
        attributes[q] = (kn_measured_attribute){kn_arena_strndup(&r->arena, name, strlen(name)), loss->lm, loss->ncp,
                                                loss->prec, loss->entropy};
        made = attributes[q].name;
    }
    kn_measure_report *p = &r->report;
    if (!made) {
        kn_measure_report_free(p);
        return kn_fail_memory(err, j->ctx, what);
    }
    p->rows = kn_table_total(j->original);
    p->suppressed = j->plan->suppressed;
    p->released = p->rows - p->suppressed;
    p->classes = j->plan->classes;
    for (uint32_t c = 0; c < j->plan->classes; c++)
        if (p->k == 0 || j->plan->class_rows[c] < p->k) p->k = j->plan->class_rows[c];
    memcpy(p->metrics, m->value, sizeof p->metrics);
    p->attribute_count = j->quasi_count;
    p->attributes = attributes;
    *out = p;
    return KN_OK;
}

static kn_status measure(kn_measure_report **out, job *j, kn_error *err)
{
    kn_metrics *metrics = NULL;
    KN_TRY(kn_measuring_read(j, err));
    KN_TRY(make_plan(j, err));
    KN_TRY(kn_metrics_of_release(&metrics, j->ctx, j->original, j->originals, j->hierarchies, j->weights, j->plan,
                                 requested_k(j->spec), err));
    kn_status st = write_report(out, j, metrics, err);
    kn_metrics_free(metrics);
    return st;
}

kn_status kn_measure(kn_measure_report **out, kn_context *ctx, const kn_spec *spec, const kn_measure_options *options,
                     kn_error *err)
{
    *out = NULL;
    KN_SERVE(ctx, err);
    KN_OPTIONS(kn_measure_options, KN_MEASURE_OPTIONS_INIT, options, "measure options", err);
    job j;
    kn_measuring_init(&j, ctx, spec, options);
    kn_status st = measure(out, &j, err);
    kn_measuring_free(&j);
    return st;
}
