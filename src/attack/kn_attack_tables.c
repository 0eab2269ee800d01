/* kn_attack_tables.c: the public functions of kanon/attack.h: reads the tables, makes the hierarchies over the
 * external table's values and attacks the release and, if given, the original.
 *
 * The external table is read with the spec's types, so that values compare as they should; the table attacked is read
 * as text, since its cells may be labels, intervals or sets. Memory: both tables, and one of those attacked at a
 * time.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <kanon/attack.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "kn_alloc.h"
#include "kn_attack.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_hierarchy.h"
#include "kn_memory.h"
#include "kn_nearest.h"
#include "kn_options.h"
#include "kn_sha256.h"
#include "kn_spec_of_database.h"

/* The report with what it points to. */
typedef struct report {
    kn_attack_report report;
    kn_arena         arena;
} report;

typedef struct job {
    kn_context              *ctx;
    const kn_spec           *spec;
    const kn_attack_options *options;
    report                  *to;
    kn_table                *external;
    kn_timezone             *zone;
    const char             **names; /* of the links */
    const kn_attribute     **attributes;
    kn_hierarchy           **hierarchies;
    kn_attack_link          *links;
    int                     *sensitive;
} job;

void kn_attack_report_free(kn_attack_report *public_part)
{
    if (!public_part) return;
    report *r = (report *)public_part;
    kn_arena_free(&r->arena);
    kn_free(r);
}

static const char what[] = "attacking a release";

static const char *keep_text(job *j, const char *text)
{
    return kn_arena_strndup(&j->to->arena, text, strlen(text));
}

/* ---- Reading ---- */

/* The reading options of a file of which only the spec's are known. */
static kn_csv_options plain_reading(const job *j)
{
    kn_csv_options csv = KN_CSV_OPTIONS_INIT;
    csv.decimal = j->spec->csv.decimal;
    csv.timezone = j->spec->csv.timezone;
    csv.na = j->spec->csv.na;
    csv.na_count = j->spec->csv.na_count;
    return csv;
}

static bool is_link(const kn_attribute *a, const kn_table *external, const kn_table *release)
{
    return a->role == KN_ROLE_QUASI && kn_table_find(external, a->name) >= 0 && kn_table_find(release, a->name) >= 0;
}

static kn_status find_links(job *j, const kn_table *release, kn_error *err)
{
    kn_attack_report *r = &j->to->report;
    size_t            n = (size_t)j->spec->attribute_count + 1;
    const char      **sensitive = kn_arena_alloc(&j->to->arena, n * sizeof *sensitive);
    j->names = kn_arena_alloc(&j->to->arena, n * sizeof *j->names);
    j->attributes = kn_alloc_array(j->ctx, n, sizeof *j->attributes);
    j->hierarchies = kn_alloc_array_zero(j->ctx, n, sizeof *j->hierarchies);
    j->links = kn_alloc_array_zero(j->ctx, n, sizeof *j->links);
    j->sensitive = kn_alloc_array(j->ctx, n, sizeof *j->sensitive);
    if (!sensitive || !j->names || !j->attributes || !j->hierarchies || !j->links || !j->sensitive)
        return kn_fail_memory(err, j->ctx, what);
    for (int i = 0; i < j->spec->attribute_count; i++) {
        const kn_attribute *a = &j->spec->attributes[i];
        const char        **name = NULL;
        if (a->role == KN_ROLE_SET && kn_table_find(j->external, a->name) >= 0)
            return kn_fail(
                err, KN_INPUT,
                "%s: column \"%s\" is a set, by which rows are not compared here: verify counts who is found by items; "
                "leave the column out",
                j->options->external, a->name);
        if (is_link(a, j->external, release)) {
            j->attributes[r->link_count] = a;
            name = &j->names[r->link_count++];
        } else if (a->role == KN_ROLE_SENSITIVE && kn_table_find(release, a->name) >= 0) {
            name = &sensitive[r->sensitive_count++];
        }
        if (name && !(*name = keep_text(j, a->name))) return kn_fail_memory(err, j->ctx, what);
    }
    r->links = j->names;
    r->sensitive = sensitive;
    if (r->link_count > 0) return KN_OK;
    kn_nearest near = {0};
    for (int i = 0; i < j->spec->attribute_count && !near.best; i++) {
        near.text = j->spec->attributes[i].name;
        if (j->spec->attributes[i].role != KN_ROLE_QUASI || kn_table_find(release, near.text) >= 0) continue;
        for (int c = 0; c < release->column_count; c++) kn_nearest_try(&near, release->columns[c].name);
    }
    return kn_fail(err, KN_INPUT,
                   "%s and %s have no quasi-identifier in common: there is nothing to link them by%s%s%s",
                   j->options->external, j->options->release, KN_MEANT(near));
}

/* Reads the external table again where the spec declares types: only now it is known which of its columns there are. */
static kn_status read_types(job *j, const kn_csv_options *csv, kn_error *err)
{
    int             links = j->to->report.link_count, count = 0;
    kn_csv_options  again = *csv;
    kn_column_type *types = kn_alloc_array(j->ctx, (size_t)links + 1, sizeof *types);
    if (!types) return kn_fail_memory(err, j->ctx, what);
    for (int i = 0; i < links; i++) {
        const kn_attribute *a = j->attributes[i];
        if (a->type != KN_TYPE_AUTO) types[count++] = (kn_column_type){a->name, a->type, a->format};
    }
    again.types = types;
    again.type_count = count;
    again.columns = j->names;
    again.column_count = links;
    kn_status st = KN_OK;
    if (count > 0) {
        kn_table_free(j->external);
        j->external = NULL;
        st = kn_table_read_csv(&j->external, j->ctx, j->options->external, &again, err);
    }
    kn_free(types);
    return st;
}

/* ---- Rows of one person ---- */

/* Pseudonyms that stand on several rows which are not suppressed. */
static bool links_rows(const kn_table *release, const kn_attribute *a)
{
    int column = a->pseudonym_key_file ? kn_table_find(release, a->name) : -1;
    if (column < 0) return false;
    const kn_column *c = &release->columns[column];
    int64_t          stars = 0;
    for (int64_t row = 0; row < release->rows; row++) {
        uint32_t code = kn_column_code(c, row);
        stars += code < c->dict.count && kn_string_equal(kn_dictionary_text(&c->dict, code), (kn_string){"*", 1});
    }
    return (int64_t)kn_column_cardinality(c) - (stars > 0) < release->rows - stars;
}

static kn_status find_linked(job *j, const kn_table *release, kn_error *err)
{
    for (int i = 0; i < j->spec->attribute_count; i++) {
        const kn_attribute *a = &j->spec->attributes[i];
        if (j->to->report.linked || !links_rows(release, a)) continue;
        j->to->report.linked = keep_text(j, a->name);
        if (!j->to->report.linked) return kn_fail_memory(err, j->ctx, what);
    }
    return KN_OK;
}

/* ---- Hierarchies over the external table's values ---- */

/* The width that masks had when the release was made, as far as its cells show. A mask that fills values up fills them all
 * up to one width, that of the labels. Any other ends in one label where all values were equally long; INT_MAX: they were
 * not. */
static int mask_width(const kn_table *release, int column, bool pad)
{
    const kn_dictionary *dict = &release->columns[column].dict;
    int                  widest = 0;
    for (uint32_t c = 0; c < dict->count; c++) {
        kn_string text = kn_dictionary_text(dict, c);
        int       length = 0;
        for (size_t i = 0; i < text.size; i++) length += ((unsigned char)text.data[i] & 0xc0) != 0x80;
        if (text.size == 1 && text.data[0] == '*') continue;
        if (!pad && widest > 0 && length != widest) return INT_MAX;
        if (length > widest) widest = length;
    }
    return widest;
}

/* The label in which all values end: the mask and nothing else. */
static kn_status find_root(kn_arena *arena, const kn_hierarchy_spec *spec, kn_attack_link *link, kn_error *err)
{
    const char *mask = spec->mask ? spec->mask : "*";
    size_t      size = strlen(mask), width = (size_t)spec->mask_width;
    if (spec->kind != KN_HIERARCHY_MASK || spec->mask_width == INT_MAX) return KN_OK;
    char *root = kn_arena_bytes(arena, size * width + 1);
    if (!root) return kn_fail_memory(err, arena->ctx, what);
    for (size_t i = 0; i < width; i++) memcpy(root + i * size, mask, size);
    link->root = (kn_string){root, size * width};
    return KN_OK;
}

/* Where no hierarchy was given, the method may have chosen one by type: periods of dates have names, and hidden characters of
 * a code are *; intervals need no hierarchy to be read. False: none is needed. */
static bool rule_by_type(kn_hierarchy_spec *out, const kn_column *external, const kn_dictionary *shown)
{
    kn_hierarchy_spec rule = KN_HIERARCHY_SPEC_INIT;
    bool              masked = false;
    for (uint32_t c = 0; c < shown->count; c++) {
        kn_string text = kn_dictionary_text(shown, c);
        masked = masked || (text.size > 1 && text.data[text.size - 1] == '*');
    }
    bool dates = external->type == KN_TYPE_DATE || external->type == KN_TYPE_DATETIME;
    rule.kind = dates ? KN_HIERARCHY_CALENDAR : KN_HIERARCHY_MASK;
    *out = rule;
    return dates || masked;
}

kn_status kn_attack_make_link(kn_attack_link *link, kn_hierarchy **hierarchy, kn_arena *arena, const kn_spec *asked,
                              const kn_attribute *a, kn_timezone *zone, const kn_table *external,
                              const kn_table *release, kn_error *err)
{
    kn_hierarchy_spec spec = a->hierarchy;
    link->external = kn_table_find(external, a->name);
    link->rules = (kn_cell_rules){asked->csv.decimal, a->format, zone};
    const kn_column *column = &external->columns[link->external];
    int              at = kn_table_find(release, a->name);
    if (!a->has_hierarchy && (at < 0 || !rule_by_type(&spec, column, &release->columns[at].dict))) return KN_OK;
    spec.decimal = asked->csv.decimal;
    spec.timezone = asked->csv.timezone;
    spec.population = NULL; /* nobody is counted here */
    if (spec.kind == KN_HIERARCHY_FILE || spec.kind == KN_HIERARCHY_TAXONOMY) {
        KN_TRY(kn_hierarchy_read(hierarchy, arena->ctx, &spec, err));
        KN_TRY(kn_attack_bind(*hierarchy, column, &link->rules, err));
        link->partial = true;
    } else {
        spec.mask_width = mask_width(release, at, spec.mask_pad);
        KN_TRY(find_root(arena, &spec, link, err));
        KN_TRY(kn_hierarchy_build(hierarchy, arena->ctx, column, &spec, err));
    }
    link->hierarchy = *hierarchy;
    return KN_OK;
}

/* ---- Attacking ---- */

static kn_status find_column(int *out, const kn_table *table, const char *name, const char *path, kn_error *err)
{
    *out = kn_table_find(table, name);
    return *out >= 0 ? KN_OK : kn_fail_column(table, path, name, err);
}

static kn_status attack_one(kn_attack_table *out, job *j, const kn_table *target, bool released, const char *path,
                            kn_error *err)
{
    const kn_attack_report *r = &j->to->report;
    for (int i = 0; i < r->link_count; i++) KN_TRY(find_column(&j->links[i].target, target, r->links[i], path, err));
    for (int i = 0; i < r->sensitive_count; i++)
        KN_TRY(find_column(&j->sensitive[i], target, r->sensitive[i], path, err));
    const kn_attack_input in = {
        j->external,   target,       released,           j->links,
        r->link_count, j->sensitive, r->sensitive_count, j->spec->missing == KN_MISSING_WILDCARD,
        r->k};
    return kn_attack_run(out, &j->to->arena, &in, err);
}

static kn_status attack_original(job *j, kn_error *err)
{
    const char *const *paths = j->options->original ? &j->options->original : j->spec->inputs;
    int                count = j->options->original ? 1 : j->spec->input_count;
    kn_table          *original = NULL;
    if (j->options->no_original || count == 0) return KN_OK;
    kn_csv_options csv = j->spec->csv;
    csv.types = NULL;
    csv.type_count = 0;
    csv.columns = NULL;
    csv.column_count = 0;
    KN_TRY(kn_table_read_csv_files(&original, j->ctx, paths, count, &csv, err));
    kn_status st = attack_one(&j->to->report.before, j, original, false, paths[0], err);
    j->to->report.has_before = st == KN_OK;
    kn_table_free(original);
    return st;
}

static kn_status run(job *j, kn_error *err)
{
    kn_csv_options csv = plain_reading(j), external = csv;
    kn_table      *release = NULL;
    if (j->options->csv) {
        external = (kn_csv_options)KN_CSV_OPTIONS_INIT;
        KN_TRY(kn_options_take(&external, sizeof external, j->options->csv, "CSV options", err));
        external.types = NULL;
        external.type_count = 0;
        external.columns = NULL;
        external.column_count = 0;
    }
    if (j->spec->csv.timezone) KN_TRY(kn_timezone_open(&j->zone, j->ctx, j->spec->csv.timezone, err));
    KN_TRY(kn_table_read_csv(&j->external, j->ctx, j->options->external, &external, err));
    j->to->report.people = kn_table_total(j->external);
    csv.guarded = j->spec->spreadsheet_safe;
    csv.count = j->spec->expand ? NULL : j->spec->csv.count;
    KN_TRY(kn_table_read_csv(&release, j->ctx, j->options->release, &csv, err));
    kn_status st = find_links(j, release, err);
    if (st == KN_OK) st = find_linked(j, release, err);
    if (st == KN_OK) st = read_types(j, &external, err);
    for (int i = 0; i < j->to->report.link_count && st == KN_OK; i++)
        st = kn_attack_make_link(&j->links[i], &j->hierarchies[i], &j->to->arena, j->spec, j->attributes[i], j->zone,
                                 j->external, release, err);
    if (st == KN_OK) st = attack_one(&j->to->report.after, j, release, true, j->options->release, err);
    kn_table_free(release);
    return st == KN_OK ? attack_original(j, err) : st;
}

static void free_job(job *j)
{
    for (int i = 0; j->hierarchies && i < j->to->report.link_count; i++) kn_hierarchy_free(j->hierarchies[i]);
    KN_FREE(j->attributes, j->hierarchies, j->links, j->sensitive);
    kn_table_free(j->external);
    kn_timezone_free(j->zone);
}

/* Which bytes were attacked, so that nobody takes the answer for one about another release. What is no single file, on disk or in
 * memory (a folder, a stream, columns, a table of an engine), has no digest. */
static kn_status digest(char out[KN_SHA256_TEXT], const kn_context *ctx, const char *name, kn_error *err)
{
    const char   *path = kn_memory_path(ctx, name);
    unsigned char buffer[1 << 14];
    struct stat   about;
    kn_sha256     state;
    size_t        n;
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode)) return KN_OK;
    FILE *file = fopen(path, "rb");
    if (!file) return kn_fail(err, KN_IO, "%s: cannot be read again", name);
    kn_sha256_begin(&state);
    while ((n = fread(buffer, 1, sizeof buffer, file)) > 0) kn_sha256_add(&state, buffer, n);
    bool good = !ferror(file);
    (void)fclose(file);
    if (!good) return kn_fail(err, KN_IO, "%s: cannot be read again", name);
    kn_sha256_text(&state, out);
    return KN_OK;
}

kn_status kn_attack(kn_attack_report **out, kn_context *ctx, const kn_spec *spec, const kn_attack_options *options,
                    kn_error *err)
{
    *out = NULL;
    KN_SERVE(ctx, err);
    if (!spec || !options) return kn_fail(err, KN_USAGE, "attack: the spec or the options are missing");
    KN_OPTIONS(kn_attack_options, KN_ATTACK_OPTIONS_INIT, options, "attack options", err);
    if (!options->release || !options->external)
        return kn_fail(err, KN_USAGE, "attack: a release and an external table are needed");
    if (strcmp(options->external, "-") == 0)
        return kn_fail(err, KN_USAGE, "the external table is read twice: it cannot come from standard input");
    if (options->original && options->no_original)
        return kn_fail(err, KN_USAGE, "attack: an original was given, and that there is none; choose one");
    if (options->k < 0) return kn_fail(err, KN_USAGE, "k must be at least 1");
    kn_shape shape = kn_spec_shape(spec);
    if (shape != KN_SHAPE_DATABASE && options->some_rows)
        return kn_fail(err, KN_USAGE, "attack: a person has several rows in a database only (some rows)");
    job j = {.ctx = ctx, .spec = spec, .options = options, .to = kn_alloc_zero(ctx, sizeof(report))};
    if (!j.to) return kn_fail_memory(err, ctx, what);
    kn_arena_init(&j.to->arena, ctx);
    j.to->report.k = kn_spec_asked_k(spec, options->k);
    kn_status st = KN_OK;
    if (shape == KN_SHAPE_TABLE) st = run(&j, err);
    if (shape == KN_SHAPE_DATABASE) st = kn_attack_database(&j.to->report, &j.to->arena, spec, options, err);
    if (shape == KN_SHAPE_RECORDS) st = kn_attack_records(&j.to->report, &j.to->arena, spec, options, err);
    if (st == KN_OK && shape != KN_SHAPE_DATABASE) st = digest(j.to->report.sha256, ctx, options->release, err);
    free_job(&j);
    if (st == KN_OK)
        *out = &j.to->report;
    else
        kn_attack_report_free(&j.to->report);
    return st;
}
