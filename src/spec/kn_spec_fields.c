/* kn_spec_fields.c: the top-level fields of a release file, one function each, and the ways in: a file, a text, texts.
 *
 * A new field is a name in kn_field, a line in `fields` and a function. All ways in use the same functions.
 *
 * Limits: those of kn_yaml.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_buffer.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_field.h"
#include "kn_source.h"
#include "kn_value.h"

/* ---- Reading ---- */

static kn_status read_version(kn_reader *r, const kn_yaml *value, void *target)
{
    (void)target;
    KN_TRY(kn_want_text(r, value, "a version"));
    if (strcmp(value->text, "1") == 0) return KN_OK;
    return kn_field_fail(r, value, "this program reads release files of version 1");
}

static kn_status read_input(kn_reader *r, const kn_yaml *value, void *target)
{
    kn_spec *spec = target;
    KN_TRY(kn_read_list(r, value, "a path or a list of paths", kn_read_place, &spec->inputs, &spec->input_count));
    return spec->input_count > 0 ? KN_OK : kn_field_fail(r, value, "a path or a list of paths is expected here");
}

static kn_status read_delimiter(kn_reader *r, const kn_yaml *value, void *target)
{
    return kn_read_delimiter(r, value, &((kn_spec *)target)->csv.delimiter);
}

static kn_status read_header(kn_reader *r, const kn_yaml *value, void *target)
{
    bool header = true;
    KN_TRY(kn_read_bool(r, value, &header));
    ((kn_spec *)target)->csv.no_header = !header;
    return KN_OK;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static kn_status read_encoding(kn_reader *r, const kn_yaml *value, void *target)
{
    static const struct {
        const char *name;
        kn_encoding encoding;
    } known[] = {
        {"utf-8", KN_ENCODING_UTF8},
        {"utf8", KN_ENCODING_UTF8},
        {"windows-1252", KN_ENCODING_WINDOWS_1252},
        {"cp1252", KN_ENCODING_WINDOWS_1252},
        {"latin-1", KN_ENCODING_LATIN_1},
        {"latin1", KN_ENCODING_LATIN_1},
        {"iso-8859-1", KN_ENCODING_LATIN_1},
    };
    KN_TRY(kn_want_text(r, value, "an encoding"));
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const char *a = value->text, *b = known[i].name;
        while (*a && lower(*a) == *b) a++, b++;
        if (*a == '\0' && *b == '\0') {
            ((kn_spec *)target)->csv.encoding = known[i].encoding;
            return KN_OK;
        }
    }
    return kn_field_fail(r, value, "not an encoding; there are utf-8, windows-1252 and latin-1");
}

static kn_status read_decimal(kn_reader *r, const kn_yaml *value, void *target)
{
    kn_spec       *spec = target;
    kn_spec_state *state = &r->inner->state;
    KN_TRY(kn_want_text(r, value, "a decimal mark"));
    if (strcmp(value->text, ".") != 0 && strcmp(value->text, ",") != 0)
        return kn_field_fail(r, value, "a decimal mark is \".\" or \",\"");
    spec->csv.decimal = value->text[0];
    for (int i = 0; i < spec->attribute_count; i++) state->attributes[i].hierarchy.decimal = spec->csv.decimal;
    return KN_OK;
}

static kn_status read_timezone(kn_reader *r, const kn_yaml *value, void *target)
{
    const char  *name;
    kn_timezone *zone = NULL;
    kn_error     wrong = KN_ERROR_INIT;
    KN_TRY(kn_read_text(r, value, "a time zone", &name));
    kn_status status = kn_timezone_open(&zone, r->inner->ctx, name, &wrong);
    kn_timezone_free(zone);
    if (status == KN_MEMORY) return kn_field_memory(r);
    if (status != KN_OK) return kn_field_fail(r, value, "%s", wrong.message);
    ((kn_spec *)target)->csv.timezone = name;
    return KN_OK;
}

/* Any text, also the empty one and null: it is a spelling. */
static kn_status read_spelling(kn_reader *r, const kn_yaml *value, const char **out)
{
    if (value->kind != KN_YAML_TEXT || (value->plain && value->size == 0))
        return kn_field_fail(r, value, "a text is expected here (the empty one is \"\")");
    *out = kn_arena_strndup(&r->inner->arena, value->text, value->size);
    return *out ? KN_OK : kn_field_memory(r);
}

static kn_status read_na(kn_reader *r, const kn_yaml *value, void *target)
{
    kn_csv_options *csv = &((kn_spec *)target)->csv;
    return kn_read_list(r, value, "a list of texts", read_spelling, &csv->na, &csv->na_count);
}

static kn_status read_population(kn_reader *r, const kn_yaml *value, void *target)
{
    return kn_read_path(r, value, &((kn_spec *)target)->population);
}

static kn_status read_attributes(kn_reader *r, const kn_yaml *value, void *target)
{
    (void)target;
    return kn_read_attributes(r, value);
}

static kn_status read_undeclared(kn_reader *r, const kn_yaml *value, void *target)
{
    static const char *const words[] = {"drop", "refuse"};
    size_t                   found = 0;
    KN_TRY(kn_read_word(r, value, words, 2, "a way with undeclared columns", &found));
    ((kn_spec *)target)->undeclared_refuse = found == 1;
    return KN_OK;
}

static kn_status read_missing(kn_reader *r, const kn_yaml *value, void *target)
{
    static const kn_missing ways[] = {KN_MISSING_VALUE, KN_MISSING_WILDCARD, KN_MISSING_DROP};
    const char             *names[3];
    size_t                  found = 0;
    for (int i = 0; i < 3; i++) names[i] = kn_missing_name(ways[i]);
    KN_TRY(kn_read_word(r, value, names, 3, "a way with missing cells", &found));
    ((kn_spec *)target)->missing = ways[found];
    return KN_OK;
}

static kn_status read_privacy(kn_reader *r, const kn_yaml *value, void *target)
{
    (void)target;
    return kn_read_privacy(r, value);
}

static kn_status read_rows(kn_reader *r, const kn_yaml *value, void *target)
{
    return kn_read_whole(r, value, 0, INT64_MAX, &((kn_spec *)target)->suppression_rows);
}

static kn_status read_suppression(kn_reader *r, const kn_yaml *value, void *target)
{
    static const kn_key keys[] = {{"rows", read_rows}, {NULL, NULL}};
    kn_spec            *spec = target;
    if (value->kind == KN_YAML_MAP) {
        KN_TRY(kn_read_map(r, value, keys, target));
        if (value->count == 0) return kn_field_fail(r, value, "suppression needs a number of rows");
        spec->suppression_is_count = true;
        return KN_OK;
    }
    KN_TRY(kn_want_text(r, value, "a fraction"));
    if (!kn_fraction_parse(value->text, &spec->suppression))
        return kn_field_fail(
            r, value,
            "not a fraction from 0 to 1 or a percentage; a number of rows is {rows: N}, as an option 'N rows'");
    spec->suppression_is_count = false;
    return KN_OK;
}

static kn_status read_suppressed(kn_reader *r, const kn_yaml *value, void *target)
{
    static const char *const words[] = {"star", "drop", "keep-sensitive"}; /* in the order of kn_suppressed */
    size_t                   found = 0;
    KN_TRY(kn_read_word(r, value, words, 3, "a way with suppressed rows", &found));
    ((kn_spec *)target)->suppressed = (kn_suppressed)found;
    return KN_OK;
}

static kn_status read_dependency(kn_reader *r, const kn_yaml *value, const char **out)
{
    return kn_read_text(r, value, "a dependency", out);
}

static kn_status read_dependencies(kn_reader *r, const kn_yaml *value, void *target)
{
    kn_spec *spec = target;
    return kn_read_list(r, value, "a list of dependencies", read_dependency, &spec->dependencies,
                        &spec->dependency_count);
}

static kn_status read_method(kn_reader *r, const kn_yaml *value, void *target)
{
    const char *names[KN_METHODS + 1];
    kn_spec    *spec = target;
    size_t      found = 0;
    for (int i = 0; i < KN_METHODS; i++) names[i] = kn_method_name((kn_method)i);
    names[KN_METHODS] = "auto";
    KN_TRY(kn_read_word(r, value, names, KN_METHODS + 1, "a method", &found));
    spec->method_auto = found == KN_METHODS;
    spec->method_given = !spec->method_auto;
    spec->method = spec->method_auto ? KN_METHOD_OPTIMAL : (kn_method)found;
    return KN_OK;
}

static kn_status read_utility(kn_reader *r, const kn_yaml *value, void *target)
{
    const char *names[KN_METRICS];
    size_t      found = 0;
    for (int i = 0; i < KN_METRICS; i++) names[i] = kn_metric_name((kn_metric)i);
    KN_TRY(kn_read_word(r, value, names, KN_METRICS, "a metric", &found));
    ((kn_spec *)target)->utility = (kn_metric)found;
    return KN_OK;
}

static kn_status read_time_limit(kn_reader *r, const kn_yaml *value, void *target)
{
    kn_ratio seconds;
    KN_TRY(kn_read_ratio(r, value, &seconds));
    ((kn_spec *)target)->time_limit = (double)seconds.numerator / (double)seconds.denominator;
    return KN_OK;
}

static kn_status read_seed(kn_reader *r, const kn_yaml *value, void *target)
{
    kn_spec *spec = target;
    KN_TRY(kn_read_seed(r, value, &spec->seed));
    spec->seeded = true;
    return KN_OK;
}

static kn_status read_choose(kn_reader *r, const kn_yaml *value, void *target)
{
    const char *names[KN_CHOICES];
    size_t      found = 0;
    for (int i = 0; i < KN_CHOICES; i++) names[i] = kn_choose_name((kn_choose)i);
    KN_TRY(kn_read_word(r, value, names, KN_CHOICES, "a way to choose", &found));
    ((kn_spec *)target)->choose = (kn_choose)found;
    return KN_OK;
}

static kn_status read_allow_broken(kn_reader *r, const kn_yaml *value, void *target)
{
    return kn_read_bool(r, value, &((kn_spec *)target)->allow_broken);
}

/* ---- Options of databases ---- */

static kn_status read_threshold(kn_reader *r, const kn_yaml *value, void *target)
{
    return kn_read_ratio(r, value, &((kn_spec *)target)->threshold);
}

static kn_status read_climit(kn_reader *r, const kn_yaml *value, void *target)
{
    return kn_read_whole(r, value, 1, INT64_MAX, &((kn_spec *)target)->climit);
}

static kn_status read_matching(kn_reader *r, const kn_yaml *value, void *target)
{
    const char *names[KN_MATCHINGS];
    size_t      found = 0;
    for (int i = 0; i < KN_MATCHINGS; i++) names[i] = kn_matching_name((kn_matching)i);
    KN_TRY(kn_read_word(r, value, names, KN_MATCHINGS, "a way to pair rows", &found));
    ((kn_spec *)target)->matching = (kn_matching)found;
    return KN_OK;
}

static kn_status read_leftovers(kn_reader *r, const kn_yaml *value, void *target)
{
    const char *names[KN_LEFTOVER_CHOICES];
    size_t      found = 0;
    for (int i = 0; i < KN_LEFTOVER_CHOICES; i++) names[i] = kn_leftovers_name((kn_leftovers)i);
    KN_TRY(kn_read_word(r, value, names, KN_LEFTOVER_CHOICES, "what becomes of persons that are left", &found));
    ((kn_spec *)target)->leftovers = (kn_leftovers)found;
    return KN_OK;
}

static kn_status read_diversity(kn_reader *r, const kn_yaml *value, void *target)
{
    const char *names[KN_DIVERSITIES];
    size_t      found = 0;
    for (int i = 0; i < KN_DIVERSITIES; i++) names[i] = kn_diversity_name((kn_diversity)i);
    KN_TRY(kn_read_word(r, value, names, KN_DIVERSITIES, "a way to diversity", &found));
    ((kn_spec *)target)->diversity = (kn_diversity)found;
    return KN_OK;
}

static kn_status read_complete(kn_reader *r, const kn_yaml *value, void *target)
{
    return kn_read_bool(r, value, &((kn_spec *)target)->complete);
}

static kn_status read_anatomy(kn_reader *r, const kn_yaml *value, void *target)
{
    return kn_read_bool(r, value, &((kn_spec *)target)->anatomy);
}

static kn_status read_reference(kn_reader *r, const kn_yaml *value, void *target)
{
    return kn_read_bool(r, value, &((kn_spec *)target)->reference);
}

/* ---- As whom a field was given ---- */

static void note_given(kn_reader *r, size_t field, const char *said, kn_place place)
{
    r->inner->state.said[field] = said;
    r->inner->state.places[field] = place;
}

static const kn_key options[] = {
    [KN_OPTION_TIME_LIMIT - KN_FIELDS] = {"time-limit", read_time_limit},
    [KN_OPTION_SEED - KN_FIELDS] = {"seed", read_seed},
    [KN_OPTION_CHOOSE - KN_FIELDS] = {"choose", read_choose},
    [KN_OPTION_ALLOW_BROKEN - KN_FIELDS] = {"allow-broken", read_allow_broken},
    [KN_OPTION_THRESHOLD - KN_FIELDS] = {"threshold", read_threshold},
    [KN_OPTION_CLIMIT - KN_FIELDS] = {"climit", read_climit},
    [KN_OPTION_MATCHING - KN_FIELDS] = {"matching", read_matching},
    [KN_OPTION_LEFTOVERS - KN_FIELDS] = {"leftovers", read_leftovers},
    [KN_OPTION_DIVERSITY - KN_FIELDS] = {"diversity", read_diversity},
    [KN_OPTION_COMPLETE - KN_FIELDS] = {"complete", read_complete},
    [KN_OPTION_ANATOMY - KN_FIELDS] = {"anatomy", read_anatomy},
    [KN_OPTION_REFERENCE - KN_FIELDS] = {"reference", read_reference},
    [KN_OPTION_G - KN_FIELDS] = {"g", kn_read_g},
    [KN_OPTION_SEMANTICS - KN_FIELDS] = {"semantics", kn_read_semantics},
    [KN_OPTION_STRICT_STRUCTURE - KN_FIELDS] = {"strict-structure", kn_read_strict_structure},
    [KN_OPTION_SUPPORT - KN_FIELDS] = {"support", kn_read_support}};

enum { OPTIONS = sizeof options / sizeof *options };
_Static_assert(OPTIONS == KN_FIELDS_AND_OPTIONS - KN_FIELDS, "every option is read");

static kn_status read_options(kn_reader *r, const kn_yaml *value, void *target)
{
    const char *names[OPTIONS];
    for (int i = 0; i < OPTIONS; i++) names[i] = options[i].name;
    KN_TRY(kn_want_map(r, value, "a mapping like {time-limit: ...}"));
    for (const kn_yaml *key = value->first; key; key = key->next) {
        size_t found = 0;
        KN_TRY(kn_read_key(r, key, names, OPTIONS, &found));
        KN_TRY(options[found].read(r, key->value, target));
        note_given(r, KN_FIELDS + found, options[found].name, kn_field_place(r, key->value));
    }
    return KN_OK;
}

static kn_status read_workload(kn_reader *r, const kn_yaml *value, void *target)
{
    return kn_read_path(r, value, &((kn_spec *)target)->workload);
}

static kn_status read_summary(kn_reader *r, const kn_yaml *value, void *target)
{
    static const char *const names[] = {"none", "side"};
    size_t                   found = 0;
    KN_TRY(kn_read_word(r, value, names, 2, "where a summary goes", &found));
    ((kn_spec *)target)->summary = found == 1;
    return KN_OK;
}

static kn_status read_output(kn_reader *r, const kn_yaml *value, void *target)
{
    return kn_read_place(r, value, &((kn_spec *)target)->output);
}

static kn_status read_report(kn_reader *r, const kn_yaml *value, void *target)
{
    return kn_read_path(r, value, &((kn_spec *)target)->report);
}

static kn_status read_public_report(kn_reader *r, const kn_yaml *value, void *target)
{
    return kn_read_path(r, value, &((kn_spec *)target)->public_report);
}

static kn_status read_spreadsheet_safe(kn_reader *r, const kn_yaml *value, void *target)
{
    return kn_read_bool(r, value, &((kn_spec *)target)->spreadsheet_safe);
}

static kn_status read_keep_order(kn_reader *r, const kn_yaml *value, void *target)
{
    return kn_read_bool(r, value, &((kn_spec *)target)->keep_order);
}

static kn_status read_keep_rowmap(kn_reader *r, const kn_yaml *value, void *target)
{
    return kn_read_bool(r, value, &((kn_spec *)target)->keep_rowmap);
}

static kn_status read_force(kn_reader *r, const kn_yaml *value, void *target)
{
    return kn_read_bool(r, value, &((kn_spec *)target)->force);
}

/* ---- The fields ---- */

static const struct {
    const char *name;
    kn_read_fn  read;
    bool        list; /* of texts */
} fields[KN_FIELDS] = {
    [KN_FIELD_VERSION] = {"kanon", read_version, false},
    [KN_FIELD_INPUT] = {"input", read_input, true},
    [KN_FIELD_DELIMITER] = {"delimiter", read_delimiter, false},
    [KN_FIELD_HEADER] = {"header", read_header, false},
    [KN_FIELD_ENCODING] = {"encoding", read_encoding, false},
    [KN_FIELD_DECIMAL] = {"decimal", read_decimal, false},
    [KN_FIELD_TIMEZONE] = {"timezone", read_timezone, false},
    [KN_FIELD_NA] = {"na", read_na, true},
    [KN_FIELD_POPULATION] = {"population", read_population, false},
    [KN_FIELD_ATTRIBUTES] = {"attributes", read_attributes, false},
    [KN_FIELD_ENTITY] = {"entity", kn_read_entity, true},
    [KN_FIELD_TABLES] = {"tables", kn_read_tables, false},
    [KN_FIELD_RECORD] = {"record", kn_read_record, false},
    [KN_FIELD_CLASSES] = {"classes", kn_read_classes, false},
    [KN_FIELD_UNDECLARED] = {"undeclared", read_undeclared, false},
    [KN_FIELD_MISSING] = {"missing", read_missing, false},
    [KN_FIELD_PRIVACY] = {"privacy", read_privacy, false},
    [KN_FIELD_SUPPRESSION] = {"suppression", read_suppression, false},
    [KN_FIELD_SUPPRESSED] = {"suppressed", read_suppressed, false},
    [KN_FIELD_DEPENDENCIES] = {"dependencies", read_dependencies, true},
    [KN_FIELD_METHOD] = {"method", read_method, false},
    [KN_FIELD_UTILITY] = {"utility", read_utility, false},
    [KN_FIELD_WORKLOAD] = {"workload", read_workload, false},
    [KN_FIELD_OPTIONS] = {"options", read_options, false},
    [KN_FIELD_OUTPUT] = {"output", read_output, false},
    [KN_FIELD_REPORT] = {"report", read_report, false},
    [KN_FIELD_PUBLIC_REPORT] = {"public-report", read_public_report, false},
    [KN_FIELD_SUMMARY] = {"summary", read_summary, false},
    [KN_FIELD_SPREADSHEET_SAFE] = {"spreadsheet-safe", read_spreadsheet_safe, false},
    [KN_FIELD_KEEP_ORDER] = {"keep-order", read_keep_order, false},
    [KN_FIELD_KEEP_ROWMAP] = {"keep-rowmap", read_keep_rowmap, false},
    [KN_FIELD_FORCE] = {"force", read_force, false},
};

const char *kn_field_name(int field)
{
    return field < KN_FIELDS ? fields[field].name : options[field - KN_FIELDS].name;
}

static kn_status read_fields(kn_reader *r, const kn_yaml *map)
{
    const char *names[KN_FIELDS];
    for (int i = 0; i < KN_FIELDS; i++) names[i] = fields[i].name;
    KN_TRY(kn_want_map(r, map, "a mapping of fields"));
    for (const kn_yaml *key = map->first; key; key = key->next) {
        size_t field = 0;
        KN_TRY(kn_read_key(r, key, names, KN_FIELDS, &field));
        KN_TRY(fields[field].read(r, key->value, &r->inner->state.spec));
        note_given(r, field, fields[field].name, kn_field_place(r, key->value));
    }
    return KN_OK;
}

/* ---- From a file ---- */

static kn_status read_all(kn_source *source, kn_buffer *text, kn_error *err)
{
    for (size_t chunk = 1 << 16, got = 1; got > 0 && text->size <= KN_YAML_LARGEST + 3;) { /* the parser says so */
        char *room = kn_buffer_reserve(text, chunk);
        if (!room) return kn_fail_memory(err, text->ctx, kn_source_name(source));
        KN_TRY(kn_source_read(source, room, chunk, &got, err));
        text->size += got;
    }
    return KN_OK;
}

/* The part of a path up to its last slash. */
static kn_status find_folder(kn_reader *r, const char *path)
{
    const char *slash = strrchr(path, '/');
    r->folder = "";
    if (!slash) return KN_OK;
    r->folder = kn_arena_strndup(&r->inner->arena, path, (size_t)(slash - path) + 1);
    return r->folder ? KN_OK : kn_field_memory(r);
}

static kn_status read_file(kn_reader *r, const char *path, const char *text, size_t size)
{
    kn_spec *spec = &r->inner->state.spec;
    kn_arena scratch;
    kn_yaml *root = NULL;
    spec->path = kn_arena_strndup(&r->inner->arena, path, strlen(path));
    if (!spec->path) return kn_field_memory(r);
    KN_TRY(find_folder(r, path));
    kn_arena_init(&scratch, r->inner->ctx);
    kn_status status = kn_yaml_parse(&root, &scratch, &r->origin, text, size, r->err);
    if (status == KN_OK && !root) status = kn_fail_at(r->err, KN_INPUT, r->origin.name, 0, 0, "there is nothing in it");
    if (status == KN_OK) status = read_fields(r, root);
    kn_arena_free(&scratch);
    return status;
}

kn_status kn_spec_parse(kn_spec **out, kn_context *ctx, const char *path, const char *name, const char *text,
                        size_t size, kn_error *err)
{
    kn_spec *spec = NULL;
    *out = NULL;
    KN_TRY(kn_spec_create(&spec, ctx, err));
    kn_reader r = {.inner = kn_spec_inside(spec), .from_file = true, .folder = "", .err = err};
    r.origin = (kn_yaml_origin){name, KN_INPUT, false};
    kn_status status = read_file(&r, path, text, size);
    if (status == KN_OK)
        *out = spec;
    else
        kn_spec_free(spec);
    return status;
}

kn_status kn_spec_read(kn_spec **out, kn_context *ctx, const char *path, kn_error *err)
{
    kn_source *source = NULL;
    kn_buffer  text;
    *out = NULL;
    KN_SERVE(ctx, err);
    kn_buffer_init(&text, ctx);
    KN_TRY(kn_source_open(&source, ctx, path, err));
    kn_status status = read_all(source, &text, err);
    if (status == KN_OK)
        status = kn_spec_parse(out, ctx, path, kn_source_name(source), text.data ? text.data : "", text.size, err);
    kn_buffer_free(&text);
    kn_source_free(source);
    return status;
}

/* ---- From texts ---- */

static kn_reader option_reader(kn_spec *spec, const char *what, kn_error *err)
{
    return (kn_reader){
        .inner = kn_spec_inside(spec), .origin = {what, KN_USAGE, true}, .from_file = false, .folder = "", .err = err};
}

/* What a field's value is read with: `read` is of the field, or of one of the options. */
typedef struct target_field {
    size_t     index;
    kn_read_fn read;
} target_field;

static kn_status find_field(const char *field, const char *what, target_field *out, kn_error *err)
{
    for (size_t i = 0; i < KN_FIELDS; i++)
        if (strcmp(fields[i].name, field) == 0) {
            *out = (target_field){i, fields[i].read};
            return KN_OK;
        }
    for (size_t i = 0; i < OPTIONS; i++)
        if (strcmp(options[i].name, field) == 0) {
            *out = (target_field){KN_FIELDS + i, options[i].read};
            return KN_OK;
        }
    return kn_fail(err, KN_USAGE, "%s: there is no field '%s'", what, field);
}

/* Reads a field from a node; after a failure the spec is as before. */
static kn_status change_field(kn_reader *r, const target_field *field, const kn_yaml *value)
{
    kn_spec_state saved;
    const char   *said = kn_arena_strndup(&r->inner->arena, r->origin.name, strlen(r->origin.name));
    if (!said || !kn_spec_begin(r->inner, &saved)) return kn_field_memory(r);
    kn_status status = field->read(r, value, &r->inner->state.spec);
    if (status == KN_OK) {
        note_given(r, field->index, said, (kn_place){0, 0});
        kn_spec_keep(&saved);
    } else {
        kn_spec_undo(r->inner, &saved);
    }
    return status;
}

static kn_status parse_option(kn_reader *r, kn_arena *scratch, const char *text, kn_yaml **out)
{
    KN_TRY(kn_yaml_parse(out, scratch, &r->origin, text, strlen(text), r->err));
    return *out ? KN_OK : kn_fail(r->err, KN_USAGE, "%s: a value is missing", r->origin.name);
}

kn_status kn_spec_set(kn_spec *spec, const char *field, const char *text, const char *what, kn_error *err)
{
    target_field found = {0, NULL};
    kn_reader    r = option_reader(spec, what ? what : field, err);
    KN_TRY(find_field(field, r.origin.name, &found, err));
    kn_arena scratch;
    kn_yaml *value = NULL;
    kn_arena_init(&scratch, r.inner->ctx);
    kn_status status = parse_option(&r, &scratch, text, &value);
    if (status == KN_OK) status = change_field(&r, &found, value);
    kn_arena_free(&scratch);
    return status;
}

kn_status kn_spec_set_texts(kn_spec *spec, const char *field, const char *const *texts, int count, const char *what,
                            kn_error *err)
{
    target_field found = {0, NULL};
    kn_reader    r = option_reader(spec, what ? what : field, err);
    KN_TRY(find_field(field, r.origin.name, &found, err));
    bool listed = found.index < KN_FIELDS && fields[found.index].list;
    if (!listed && count != 1) return kn_fail(err, KN_USAGE, "%s: takes one value", r.origin.name);
    kn_arena scratch;
    kn_yaml  list = {.kind = KN_YAML_LIST, .line = 1, .column = 1}, *value = &list;
    kn_arena_init(&scratch, r.inner->ctx);
    kn_status status = KN_OK;
    for (int i = 0; i < count && status == KN_OK; i++) {
        value = kn_yaml_text(&scratch, texts[i]);
        if (value)
            kn_yaml_append(&list, value);
        else
            status = kn_field_memory(&r);
    }
    if (status == KN_OK) status = change_field(&r, &found, listed ? &list : value);
    kn_arena_free(&scratch);
    return status;
}

kn_status kn_spec_set_attribute(kn_spec *spec, const char *attribute, const char *text, const char *what, kn_error *err)
{
    kn_reader r = option_reader(spec, what ? what : attribute, err);
    kn_yaml   key = {.kind = KN_YAML_TEXT, .line = 1, .column = 1}, *value = NULL;
    kn_arena  scratch;
    kn_arena_init(&scratch, r.inner->ctx);
    kn_status status = parse_option(&r, &scratch, text, &value);
    if (status == KN_OK) status = kn_read_attribute(&r, &key, attribute, value);
    kn_arena_free(&scratch);
    return status;
}
