/* kn_public_table.c: the facts of a released table (kn_public.h): read from its file as anybody could read it.
 *
 * Every column is read as text; a suppressed row is one that shows "*" throughout (with suppressed: keep-sensitive,
 * in every quasi-identifier). Other rows with equal quasi-identifiers are a class. Where a promise depends on the
 * order of sensitive values or on their hierarchy they are read a second time, with a type. Cost: one or two readings
 * of the file, and one grouping for each promise about a sensitive column.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_freq.h"
#include "kn_hierarchy.h"
#include "kn_model.h"
#include "kn_parallel.h"
#include "kn_public.h"
#include "kn_request_document.h"

typedef struct reading {
    kn_public              *facts;
    kn_context             *ctx;
    const kn_spec          *spec;
    const kn_public_reader *reader;
    const char             *missing;
    kn_table               *table;
    int                     quasi_count;
    int                    *quasi; /* columns of the table, in the spec's order */
    uint32_t               *stars; /* per column of the table: the code of "*"; UINT32_MAX: it does not occur */
    kn_freq                *freq;
    int64_t                 starred_class; /* all quasi-identifiers "*"; -1: none */
    int64_t                 suppressed;
} reading;

static bool released(const kn_attribute *a)
{
    if (a->role == KN_ROLE_COUNT) return false; /* it is no column, but says how many rows a row is */
    return a->role != KN_ROLE_IDENTIFIER || a->pseudonym_key_file;
}

/* ---- Reading ---- */

/* Declared columns as text, or (typed) sensitive ones with the type the user gave. */
static kn_status read_columns(kn_table **out, const reading *r, bool typed, kn_error *err)
{
    const kn_spec  *spec = r->spec;
    size_t          most = (size_t)spec->attribute_count + 1;
    kn_column_type *types = kn_alloc_array_zero(r->ctx, most, sizeof *types);
    const char    **names = kn_alloc_array(r->ctx, most, sizeof *names);
    const char     *na[] = {r->missing, "*"};
    kn_csv_options  options = KN_CSV_OPTIONS_INIT;
    options.decimal = spec->csv.decimal;
    options.timezone = spec->csv.timezone;
    options.na = na;
    options.guarded = spec->spreadsheet_safe;
    options.na_count = typed ? 2 : 1;
    options.count = spec->expand ? NULL : spec->csv.count;
    kn_status st = types && names ? KN_OK : kn_fail_memory(err, r->ctx, "reading the release");
    for (int i = 0; st == KN_OK && i < spec->attribute_count; i++) {
        const kn_attribute *a = &spec->attributes[i];
        if (!released(a) || (typed && a->role != KN_ROLE_SENSITIVE)) continue;
        types[options.type_count] = (kn_column_type){a->name, typed ? a->type : KN_TYPE_TEXT, typed ? a->format : NULL};
        names[options.type_count++] = a->name;
    }
    options.types = types;
    options.columns = names;
    options.column_count = options.type_count;
    if (st == KN_OK) st = r->reader->table(out, r->reader->state, &options, err);
    kn_free(types);
    kn_free(names);
    return st;
}

static uint32_t star_of(const kn_column *column)
{
    for (uint32_t i = 0; i < column->dict.count; i++)
        if (kn_string_equal(kn_dictionary_text(&column->dict, i), kn_string_of("*"))) return i;
    return UINT32_MAX;
}

static bool columns_exist(reading *r, kn_error *err)
{
    kn_public_part *part = kn_public_alloc(r->facts, 1, sizeof *part, err);
    if (!part) return false;
    int counts = r->table->counts && r->spec->csv.count ? kn_spec_find(r->spec, r->spec->csv.count) : -1;
    part->columns = kn_public_alloc(r->facts, (size_t)r->table->column_count + 1, sizeof *part->columns, err);
    r->quasi = kn_public_alloc(r->facts, (size_t)r->spec->attribute_count, sizeof *r->quasi, err);
    r->stars = kn_public_alloc(r->facts, (size_t)r->table->column_count, sizeof *r->stars, err);
    if (!part->columns || !r->quasi || !r->stars) return false;
    part->rows = kn_table_total(r->table);
    part->column_count = r->table->column_count;
    for (int c = 0; c < part->column_count; c++) {
        int index = kn_spec_find(r->spec, r->table->columns[c].name);
        part->columns[c] = (kn_public_column){.level = -1, .lm = NAN};
        r->stars[c] = star_of(&r->table->columns[c]);
        if (index < 0) continue;
        part->columns[c].attribute = &r->spec->attributes[index];
        part->columns[c].name = r->spec->attributes[index].name;
        part->columns[c].pseudonym = r->spec->attributes[index].role == KN_ROLE_IDENTIFIER;
    }
    if (counts >= 0) /* behind the others, as in the file */
        part->columns[part->column_count++] = (kn_public_column){.level = -1,
                                                                 .lm = NAN,
                                                                 .attribute = &r->spec->attributes[counts],
                                                                 .name = r->spec->attributes[counts].name};
    for (int i = 0; i < r->spec->attribute_count; i++)
        if (r->spec->attributes[i].role == KN_ROLE_QUASI)
            r->quasi[r->quasi_count++] = kn_table_find(r->table, r->spec->attributes[i].name);
    r->facts->parts = part;
    r->facts->part_count = 1;
    r->facts->units = part->rows;
    return true;
}

/* ---- Classes ---- */

static bool all_stars(const reading *r, int64_t row)
{
    for (int c = 0; c < r->table->column_count; c++)
        if (kn_column_code(&r->table->columns[c], row) != r->stars[c]) return false;
    return true;
}

enum { GRAIN = 1 << 16 };

typedef struct stars {
    const reading  *r;
    _Atomic int64_t rows;
} stars;

static kn_status count_stars(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    stars  *s = arg;
    int64_t rows = 0;
    (void)worker, (void)err;
    for (int64_t row = begin; row < end; row++)
        if (all_stars(s->r, row)) rows += kn_table_weight(s->r->table, row);
    s->rows += rows;
    return KN_OK;
}

/* How many rows may be suppressed: none where nobody may be known to be absent. */
static int64_t budget_of(const reading *r)
{
    const kn_spec *s = r->spec;
    for (int i = 0; i < s->model_count; i++)
        if (s->models[i].kind == KN_MODEL_PRESENCE && s->models[i].low.numerator > 0) return 0;
    return s->suppression_is_count ? s->suppression_rows : kn_fraction_of(s->suppression, kn_table_total(r->table));
}

/* Rows of stars are suppressed, unless there are more than may be: then they were generalized to the top. */
static kn_status find_suppressed(reading *r, kn_error *err)
{
    stars s = {.r = r};
    r->starred_class = -1;
    for (int64_t i = 0; i < r->freq->classes && r->starred_class < 0; i++) {
        int q = 0;
        while (q < r->quasi_count && kn_freq_code(r->freq, i, q) == r->stars[r->quasi[q]]) q++;
        if (q == r->quasi_count) r->starred_class = i;
    }
    if (r->starred_class < 0 || r->spec->suppressed == KN_SUPPRESSED_DROP) return KN_OK;
    if (r->spec->suppressed == KN_SUPPRESSED_KEEP_SENSITIVE)
        s.rows = r->freq->counts[r->starred_class];
    else
        KN_TRY(kn_parallel_for(r->ctx, r->table->rows, GRAIN, count_stars, &s, err));
    if (s.rows <= budget_of(r)) r->suppressed = s.rows;
    return KN_OK;
}

static kn_status measure_classes(reading *r, kn_error *err)
{
    int64_t *sizes = kn_alloc_array(r->ctx, (size_t)r->freq->classes + 1, sizeof *sizes), count = 0;
    if (!sizes) return kn_fail_memory(err, r->ctx, "reading the release");
    for (int64_t i = 0; i < r->freq->classes; i++) {
        int64_t size = r->freq->counts[i] - (i == r->starred_class ? r->suppressed : 0);
        if (size > 0) sizes[count++] = size;
    }
    kn_status st = kn_public_sizes(r->facts, sizes, count, err);
    kn_free(sizes);
    if (r->spec->suppressed == KN_SUPPRESSED_STAR)
        r->facts->dm += (double)r->suppressed * (double)kn_table_total(r->table);
    if (r->spec->suppressed != KN_SUPPRESSED_DROP) r->facts->suppressed = r->suppressed;
    return st;
}

static kn_status measure_columns(reading *r, kn_error *err)
{
    bool      by_type = r->spec->method_auto || kn_method_family(r->spec->method) != KN_FAMILY_PARTITION;
    kn_status st = KN_OK;
    for (int q = 0; q < r->quasi_count && st == KN_OK; q++) {
        const kn_column *column = &r->table->columns[r->quasi[q]];
        int64_t         *counts = kn_alloc_array_zero(r->ctx, (size_t)column->dict.count + 1, sizeof *counts);
        if (!counts) return kn_fail_memory(err, r->ctx, "reading the release");
        for (int64_t i = 0; i < r->freq->classes; i++)
            counts[kn_freq_code(r->freq, i, q)] += r->freq->counts[i] - (i == r->starred_class ? r->suppressed : 0);
        st = kn_public_labels(&r->facts->parts[0].columns[r->quasi[q]], r->ctx, r->reader, column, counts,
                              r->suppressed, r->spec->csv.decimal, by_type, err);
        kn_free(counts);
    }
    if (st == KN_OK) kn_public_mean_loss(r->facts);
    return st;
}

/* ---- Promises ---- */

typedef struct judging {
    kn_class_histograms classes;
    kn_reference        reference;
    kn_scratch          scratch;
    kn_hierarchy       *hierarchy;
} judging;

/* The histogram of a class without what suppressed rows show: the code `shown`. */
static kn_histogram histogram_of(const reading *r, judging *j, int64_t index, uint32_t shown)
{
    int64_t      begin = j->classes.starts[index], end = j->classes.starts[index + 1];
    uint32_t    *codes = j->classes.codes + begin;
    int64_t     *counts = j->classes.counts + begin;
    kn_histogram h = {codes, counts, end - begin, 0};
    if (index == r->starred_class && r->spec->suppressed == KN_SUPPRESSED_STAR) {
        int64_t at = 0;
        while (at < h.values && codes[at] != shown) at++;
        if (at < h.values && (counts[at] -= r->suppressed) <= 0) {
            h.values--;
            memmove(codes + at, codes + at + 1, (size_t)(h.values - at) * sizeof *codes);
            memmove(counts + at, counts + at + 1, (size_t)(h.values - at) * sizeof *counts);
        }
    }
    for (int64_t v = 0; v < h.values; v++) h.rows += counts[v];
    return h;
}

static kn_status judge(reading *r, judging *j, const kn_column *column, uint32_t shown, const kn_model *model,
                       double *reached, kn_error *err)
{
    int64_t      *counts = kn_alloc_array_zero(r->ctx, (size_t)column->dict.count + 1, sizeof *counts);
    kn_histogram *all = kn_alloc_array(r->ctx, (size_t)r->freq->classes + 1, sizeof *all);
    if (!counts || !all) {
        kn_free(counts);
        kn_free(all);
        return kn_fail_memory(err, r->ctx, "reading the release");
    }
    for (int64_t i = 0; i < r->freq->classes; i++) {
        all[i] = histogram_of(r, j, i, shown);
        for (int64_t v = 0; v < all[i].values; v++) counts[all[i].codes[v]] += all[i].counts[v];
    }
    kn_status st = kn_reference_make(&j->reference, r->ctx, counts, column->dict.count, j->hierarchy, err);
    if (st == KN_OK) st = kn_scratch_make(&j->scratch, &j->reference, err);
    bool larger = kn_model_larger_is_stronger(model->kind);
    for (int64_t i = 0; st == KN_OK && i < r->freq->classes; i++) {
        if (all[i].values == 0) continue;
        double here = kn_model_reached(model, &all[i], &j->reference, &j->scratch);
        if (isnan(*reached) || (larger ? here < *reached : here > *reached)) *reached = here;
    }
    kn_free(all);
    return st;
}

/* Where the order of values or their place in a hierarchy matters, the column is read once more, with a type; "*" is then a
 * missing cell. */
static bool needs_type(const kn_model *model)
{
    return model->kind == KN_MODEL_T_ORDERED || model->kind == KN_MODEL_T_HIERARCHICAL;
}

static kn_status read_hierarchy(reading *r, judging *j, const kn_model *model, const kn_table *typed, kn_error *err)
{
    const kn_attribute *a = &r->spec->attributes[kn_spec_find(r->spec, model->attribute)];
    if (model->kind != KN_MODEL_T_HIERARCHICAL) return KN_OK;
    KN_TRY(r->reader->hierarchy(&j->hierarchy, r->reader->state, a, err));
    return kn_hierarchy_bind(j->hierarchy, typed, kn_table_find(typed, model->attribute), a->hierarchy.decimal, false,
                             err);
}

static kn_status judge_model(reading *r, const kn_table *typed, const kn_model *model, double *reached, kn_error *err)
{
    judging   j = {.classes = {0}};
    kn_freq  *freq = NULL;
    int       place = kn_table_find(r->table, model->attribute);
    uint32_t  shown = r->stars[place];
    kn_column text = r->table->columns[place];
    kn_status st = read_hierarchy(r, &j, model, typed, err);
    if (typed) { /* rows of one table are grouped: the typed column replaces its text meanwhile           */
        r->table->columns[place] = typed->columns[kn_table_find(typed, model->attribute)];
        shown = r->table->columns[place].dict.count;
    }
    if (st == KN_OK) st = kn_freq_histograms(&freq, &j.classes, r->ctx, r->table, r->quasi, r->quasi_count, place, err);
    if (st == KN_OK) st = judge(r, &j, &r->table->columns[place], shown, model, reached, err);
    r->table->columns[place] = text;
    kn_scratch_free(&j.scratch);
    kn_reference_free(&j.reference);
    kn_class_histograms_free(&j.classes);
    kn_freq_free(freq);
    kn_hierarchy_free(j.hierarchy);
    return st;
}

/* A hierarchy built over the original's values cannot be derived from the release alone. */
static bool can_judge(const kn_spec *spec, const kn_model *model)
{
    if (!model->attribute) return false;
    if (model->kind != KN_MODEL_T_HIERARCHICAL) return true;
    const kn_attribute *a = &spec->attributes[kn_spec_find(spec, model->attribute)];
    return a->has_hierarchy && (a->hierarchy.kind == KN_HIERARCHY_FILE || a->hierarchy.kind == KN_HIERARCHY_TAXONOMY);
}

/* The smallest class, including the suppressed rows where keep-sensitive makes them a class. */
static int64_t smallest_judged(const reading *r)
{
    bool kept = r->spec->suppressed == KN_SUPPRESSED_KEEP_SENSITIVE && r->suppressed > 0;
    return kept && (r->facts->classes == 0 || r->suppressed < r->facts->k) ? r->suppressed : r->facts->k;
}

static kn_status judge_models(reading *r, kn_error *err)
{
    const kn_spec *spec = r->spec;
    double        *reached = (double *)(uintptr_t)r->facts->in_release;
    kn_table      *typed = NULL;
    kn_status      st = KN_OK;
    bool    kept = spec->suppressed == KN_SUPPRESSED_KEEP_SENSITIVE; /* suppressed rows are a class like any other */
    int64_t rows = kn_table_total(r->table) - (kept ? 0 : r->suppressed), smallest = smallest_judged(r);
    double  classes = (double)(kept ? r->freq->classes : r->facts->classes);
    for (int i = 0; i < spec->model_count && st == KN_OK; i++) {
        const kn_model *m = &spec->models[i];
        if (smallest == 0) continue;
        if (m->kind == KN_MODEL_K) reached[i] = (double)smallest;
        if (m->kind == KN_MODEL_MAX_RISK) reached[i] = 1 / (double)smallest;
        if (m->kind == KN_MODEL_AVERAGE_RISK && rows > 0) reached[i] = classes / (double)rows;
        if (!can_judge(spec, m)) continue;
        if (needs_type(m) && !typed) st = read_columns(&typed, r, true, err);
        if (st == KN_OK) st = judge_model(r, needs_type(m) ? typed : NULL, m, &reached[i], err);
    }
    kn_table_free(typed);
    return st;
}

/* Does a pseudonym show that several rows are one person's? */
static bool pseudonyms_repeat(const reading *r)
{
    int64_t rows = r->table->rows - (r->spec->suppressed == KN_SUPPRESSED_STAR ? r->suppressed : 0);
    for (int c = 0; c < r->table->column_count; c++) {
        const kn_column *column = &r->table->columns[c];
        int64_t          different = (int64_t)column->dict.count + (column->missing > 0) - (r->stars[c] != UINT32_MAX);
        if (r->facts->parts[0].columns[c].pseudonym && different < rows) return true;
    }
    return false;
}

/* ---- All of it ---- */

static kn_status measure(reading *r, kn_error *err)
{
    KN_TRY(read_columns(&r->table, r, false, err));
    if (!columns_exist(r, err)) return KN_MEMORY;
    KN_TRY(kn_freq_of_table(&r->freq, r->ctx, r->table, r->quasi, r->quasi_count, err));
    KN_TRY(find_suppressed(r, err));
    KN_TRY(measure_classes(r, err));
    KN_TRY(measure_columns(r, err));
    kn_public *p = r->facts;
    int64_t    k = kn_request_k(r->spec);
    if (p->classes > 0)
        p->c_avg = (double)(kn_table_total(r->table) - r->suppressed) / (double)p->classes / (double)(k > 0 ? k : 1);
    p->linked = r->spec->entity || pseudonyms_repeat(r);
    if (p->linked) { /* classes of rows do not show how many persons look alike */
        p->k = -1;
        p->c_avg = NAN;
        return KN_OK;
    }
    return judge_models(r, err);
}

kn_status kn_public_of_table(kn_public **out, kn_context *ctx, const kn_spec *spec, const kn_public_reader *reader,
                             const char *missing, kn_error *err)
{
    reading r = {.ctx = ctx, .spec = spec, .reader = reader, .missing = missing};
    *out = NULL;
    KN_TRY(kn_public_create(&r.facts, ctx, KN_SHAPE_TABLE, spec, err));
    r.facts->missing = missing;
    kn_status st = measure(&r, err);
    kn_freq_free(r.freq);
    kn_table_free(r.table);
    if (st == KN_OK)
        *out = r.facts;
    else
        kn_public_free(r.facts);
    return st;
}
