/* table/summary.c: are the published statistics those of the classes? (OUTPUT.summary.csv; docs/workload.md)
 *
 * Needs a row map: which originals a class has. Every class must occur once, with its number of rows; the smallest
 * and the largest value and the mean of each quasi-identifier with numbers or dates are derived anew from the
 * original. If fewer than k cells of a class are known, nothing may be published about them. What a column is, numbers,
 * dates or texts, is said by the original alone, whatever a population has in it.
 *
 * Cost: one pass over the rows per quasi-identifier. Memory: 48 bytes per class.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdlib.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_verify_internal.h"

#define WHAT "verifying the summary"

enum { MINIMUM, MAXIMUM, MEAN, STATISTICS };

static const char *const endings[STATISTICS] = {"_min", "_max", "_mean"};

typedef struct figures {
    int64_t     known;
    uint32_t    low, high; /* values of the domain */
    long double sum;
} figures;

typedef struct checker {
    kn_verifier *v;
    kn_vtable   *file;
    kn_vdomain  *domains;  /* per quasi-identifier: of the original's values */
    kn_texts     keys;     /* per class: the numbers of its texts            */
    uint32_t    *class_of; /* per row of the file; KN_V_NONE: the release has no such class */
    figures     *figures;  /* per class, of one quasi-identifier             */
    kn_arena     arena;
    const char  *rows; /* the column that says how many rows a class has  */
} checker;

/* ---- Names ---- */

static const char *name_of(checker *c, const char *base, const char *ending)
{
    size_t size = strlen(base) + strlen(ending);
    char  *name = kn_arena_bytes(&c->arena, size + (size_t)c->v->quasi_count + 1);
    if (!name) return NULL;
    memcpy(name, base, strlen(base));
    memcpy(name + strlen(base), ending, strlen(ending) + 1);
    for (bool taken = true; taken;) {
        taken = false;
        for (int q = 0; q < c->v->quasi_count; q++) taken = taken || strcmp(c->v->quasi[q].attribute->name, name) == 0;
        if (taken) {
            name[size++] = '_';
            name[size] = '\0';
        }
    }
    return name;
}

/* ---- Values ---- */

static kn_status make_domains(checker *c, kn_error *err)
{
    kn_verifier *v = c->v;
    kn_vrows     rows = {v->original->rows, v->dropped};
    c->domains = kn_arena_array_zero(&c->arena, (size_t)v->quasi_count + 1, sizeof *c->domains);
    if (!c->domains) return kn_fail_memory(err, v->ctx, WHAT);
    for (int q = 0; q < v->quasi_count; q++)
        if (v->quasi[q].population)
            KN_TRY(kn_vdomain_make(&c->domains[q], v->ctx, v->spec, v->quasi[q].attribute, &rows, v->quasi[q].original,
                                   NULL, v->zone, err));
    return KN_OK;
}

static void free_domains(checker *c)
{
    for (int q = 0; c->domains && q < c->v->quasi_count; q++)
        if (c->v->quasi[q].population) kn_vdomain_free(&c->domains[q]);
}

/* Without a population it is the verifier's own. */
static const kn_vdomain *domain_of(const checker *c, int q)
{
    return c->v->quasi[q].population ? &c->domains[q] : &c->v->quasi[q].domain;
}

static bool is_number(const kn_vdomain *d)
{
    return d->type == KN_TYPE_INTEGER || d->type == KN_TYPE_DECIMAL;
}

/* ---- The file ---- */

static kn_status read_file(checker *c, kn_error *err)
{
    kn_verifier      *v = c->v;
    kn_csv_options    csv = KN_CSV_OPTIONS_INIT;
    size_t            most = (size_t)v->quasi_count * (1 + STATISTICS) + 1;
    const char      **names = kn_arena_alloc(&c->arena, most * sizeof *names);
    kn_vread_options  options = {.csv = &csv, .columns = names, .guarded = v->spec->spreadsheet_safe};
    const char *const path = v->options->summary;
    if (!names) return kn_fail_memory(err, c->v->ctx, WHAT);
    csv.delimiter = v->release->delimiter;
    for (int q = 0; q < v->quasi_count; q++) {
        names[options.column_count++] = v->quasi[q].attribute->name;
        for (int s = 0; s < STATISTICS && domain_of(c, q)->type != KN_TYPE_TEXT; s++) {
            if (s == MEAN && !is_number(domain_of(c, q))) continue;
            const char *name = name_of(c, v->quasi[q].attribute->name, endings[s]);
            if (!name) return kn_fail_memory(err, c->v->ctx, WHAT);
            names[options.column_count++] = name;
        }
    }
    c->rows = name_of(c, "rows", "");
    if (!c->rows) return kn_fail_memory(err, c->v->ctx, WHAT);
    names[options.column_count++] = c->rows;
    KN_TRY(kn_vtable_read(&c->file, v->ctx, &path, 1, &options, err));
    for (int i = 0; i < options.column_count; i++)
        if (!kn_vtable_column(c->file, names[i])) kn_vproblem(v->notes, "the summary has no column \"%s\"", names[i]);
    if (c->file->name_count != options.column_count)
        kn_vproblem(v->notes, "the summary has a column that is not a statistic");
    return KN_OK;
}

/* ---- Classes ---- */

/* The numbers of one row's texts as bytes: a key. */
static kn_string key_of(uint32_t *codes, int count)
{
    return (kn_string){(const char *)codes, (size_t)count * sizeof *codes};
}

static kn_status number_classes(checker *c, uint32_t *codes, kn_error *err)
{
    kn_verifier *v = c->v;
    for (uint32_t g = 0; g < v->classes.count; g++) {
        for (int q = 0; q < v->quasi_count; q++) codes[q] = kn_vcode(v->quasi[q].release, v->classes.first[g]);
        /* Different classes have different texts: the number is the class's. */
        if (kn_texts_add(&c->keys, key_of(codes, v->quasi_count), true) != g)
            return kn_fail_memory(err, c->v->ctx, WHAT);
    }
    return KN_OK;
}

/* The release's number of each text of a column of the summary. */
static kn_status translate(checker *c, const kn_vcolumn *from, const kn_vcolumn *release, uint32_t **out, kn_error *err)
{
    *out = kn_arena_array(&c->arena, (size_t)from->count + 1, sizeof **out);
    return kn_vcolumn_translate(*out, c->v->ctx, from, release) ? KN_OK : kn_fail_memory(err, c->v->ctx, WHAT);
}

static kn_status match_rows(checker *c, kn_error *err)
{
    kn_verifier *v = c->v;
    size_t       quasi = (size_t)v->quasi_count, rows = (size_t)c->file->rows;
    uint32_t   **maps = kn_arena_alloc(&c->arena, quasi * sizeof *maps);
    uint32_t    *codes = kn_arena_alloc(&c->arena, quasi * sizeof *codes);
    bool        *seen = kn_arena_alloc(&c->arena, (size_t)v->classes.count + 1);
    c->class_of = kn_arena_alloc(&c->arena, (rows + 1) * sizeof *c->class_of);
    if (!maps || !codes || !seen || !c->class_of) return kn_fail_memory(err, c->v->ctx, WHAT);
    memset(seen, 0, (size_t)v->classes.count + 1);
    KN_TRY(number_classes(c, codes, err));
    for (int q = 0; q < v->quasi_count; q++)
        KN_TRY(
            translate(c, kn_vtable_column(c->file, v->quasi[q].attribute->name), v->quasi[q].release, &maps[q], err));
    for (int64_t row = 0; row < c->file->rows; row++) {
        for (int q = 0; q < v->quasi_count; q++)
            codes[q] = maps[q][kn_vcode(kn_vtable_column(c->file, v->quasi[q].attribute->name), row)];
        uint32_t g = kn_texts_find(&c->keys, key_of(codes, v->quasi_count));
        c->class_of[row] = g != KN_V_NONE && v->shown[g] > 0 ? g : KN_V_NONE;
        if (c->class_of[row] == KN_V_NONE || seen[g])
            kn_vproblem(v->notes, "row %lld of the summary is about %s", (long long)row + 1,
                        c->class_of[row] == KN_V_NONE ? "no class of the release" : "a class that was there before");
        else
            seen[g] = true;
    }
    for (uint32_t g = 0; g < v->classes.count; g++)
        if (v->shown[g] > 0 && !seen[g]) kn_vproblem(v->notes, "a class is missing from the summary");
    return KN_OK;
}

/* ---- Figures ---- */

static long double number_of(const kn_vdomain *d, uint32_t value)
{
    return d->type == KN_TYPE_DECIMAL ? (long double)d->decimals[value].nearest : (long double)d->integers[value];
}

static void count_values(checker *c, const kn_vcolumn *original, const kn_vdomain *d)
{
    kn_verifier *v = c->v;
    memset(c->figures, 0, ((size_t)v->classes.count + 1) * sizeof *c->figures);
    for (int64_t row = 0; row < v->release->rows; row++) {
        uint32_t g = v->classes.of_row[row];
        if (g == KN_V_NONE || v->starred[row]) continue;
        uint32_t value = d->of_original[kn_vcode(original, v->map[row])];
        if (value >= d->count) continue; /* missing */
        figures *f = &c->figures[g];
        if (f->known == 0 || value < f->low) f->low = value;
        if (f->known == 0 || value > f->high) f->high = value;
        f->known++;
        if (is_number(d)) f->sum += number_of(d, value);
    }
}

static bool statistic_right(const kn_vdomain *d, const figures *f, int s, bool silent, kn_string text)
{
    if (silent || text.size == 0) return silent && text.size == 0;
    if (s != MEAN) return kn_vdomain_find(d, text) == (s == MINIMUM ? f->low : f->high);
    kn_decimal  said;
    long double mean = f->sum / (long double)f->known;
    if (!kn_parse_declared_decimal(text, '.', &said)) return false;
    /* Relative to the values: a mean near 0 of large values is no more precise. */
    long double scale = fabsl(number_of(d, f->low)) + fabsl(number_of(d, f->high));
    return fabsl((long double)said.nearest - mean) <= 1e-13L * scale;
}

static kn_status check_quasi(checker *c, int q, kn_error *err)
{
    kn_verifier      *v = c->v;
    const kn_vdomain *d = domain_of(c, q);
    if (d->type == KN_TYPE_TEXT) return KN_OK;
    count_values(c, v->quasi[q].original, d);
    for (int s = 0; s < STATISTICS; s++) {
        if (s == MEAN && !is_number(d)) continue;
        const char *name = name_of(c, v->quasi[q].attribute->name, endings[s]);
        if (!name) return kn_fail_memory(err, c->v->ctx, WHAT);
        const kn_vcolumn *column = kn_vtable_column(c->file, name);
        for (int64_t row = 0; row < c->file->rows; row++) {
            uint32_t g = c->class_of[row];
            if (g == KN_V_NONE) continue;
            const figures *f = &c->figures[g];
            bool           silent = f->known == 0 || f->known < kn_v_requested_k(v->spec);
            if (!statistic_right(d, f, s, silent, column->texts[kn_vcode(column, row)]))
                kn_vproblem(v->notes, "row %lld of the summary, column \"%s\": not what the class's rows give",
                            (long long)row + 1, name);
        }
    }
    return KN_OK;
}

static void check_rows(const checker *c)
{
    const kn_vcolumn *column = kn_vtable_column(c->file, c->rows);
    for (int64_t row = 0; row < c->file->rows; row++) {
        int64_t said = -1;
        if (c->class_of[row] == KN_V_NONE) continue;
        if (!kn_parse_integer(column->texts[kn_vcode(column, row)], &said) || said != c->v->shown[c->class_of[row]])
            kn_vproblem(c->v->notes, "row %lld of the summary: the class does not have that many rows",
                        (long long)row + 1);
    }
}

static kn_status check(checker *c, kn_error *err)
{
    KN_TRY(make_domains(c, err));
    KN_TRY(read_file(c, err));
    if (c->v->notes->failed) return KN_OK; /* columns are missing, or the map is wrong: the rest cannot be checked */
    KN_TRY(match_rows(c, err));
    check_rows(c);
    c->figures = kn_arena_alloc(&c->arena, ((size_t)c->v->classes.count + 1) * sizeof *c->figures);
    if (!c->figures) return kn_fail_memory(err, c->v->ctx, WHAT);
    for (int q = 0; q < c->v->quasi_count; q++) KN_TRY(check_quasi(c, q, err));
    return KN_OK;
}

kn_status kn_verify_summary(kn_verifier *v, kn_error *err)
{
    if (!v->options->summary) return KN_OK;
    if (!v->map_ok) {
        kn_vproblem(v->notes, "a summary can be checked with a row map only");
        return KN_OK;
    }
    checker c = {.v = v};
    kn_arena_init(&c.arena, v->ctx);
    kn_texts_init(&c.keys, v->ctx);
    kn_status st = check(&c, err);
    kn_texts_free(&c.keys);
    kn_vtable_free(c.file);
    free_domains(&c);
    kn_arena_free(&c.arena);
    return st;
}
