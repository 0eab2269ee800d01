/* kn_spec_fields.c: the top-level fields of a release file and the ways in: a file, a text, texts.
 *
 * A new field is a name in kn_field and a line in `fields`, with a function if no reader of kn_field.h fits. All ways
 * in use the same functions.
 *
 * Limits: those of kn_yaml.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stddef.h>
#include <string.h>

#include "kn_buffer.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_field.h"
#include "kn_request_document.h"
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

static kn_status read_header(kn_reader *r, const kn_yaml *value, void *target)
{
    bool header = true;
    KN_TRY(kn_read_bool(r, value, &header));
    *(bool *)target = !header;
    return KN_OK;
}

static kn_status read_encoding(kn_reader *r, const kn_yaml *value, void *target)
{
    KN_TRY(kn_want_text(r, value, "an encoding"));
    if (kn_encoding_parse(value->text, target)) return KN_OK;
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
    kn_spec       *spec = target;
    kn_spec_state *state = &r->inner->state;
    const char    *name;
    kn_timezone   *zone = NULL;
    kn_error       wrong = KN_ERROR_INIT;
    KN_TRY(kn_read_text(r, value, "a time zone", &name));
    kn_status status = kn_timezone_open(&zone, r->inner->ctx, name, &wrong);
    kn_timezone_free(zone);
    if (status == KN_MEMORY) return kn_field_memory(r);
    if (status != KN_OK) return kn_field_fail(r, value, "%s", wrong.message);
    spec->csv.timezone = name;
    for (int i = 0; i < spec->attribute_count; i++) state->attributes[i].hierarchy.timezone = name;
    return KN_OK;
}

/* Any text, also the empty one and null: it is a spelling. */
static kn_status read_spelling(kn_reader *r, const kn_yaml *value, void *target)
{
    const char **out = target;
    if (value->kind != KN_YAML_TEXT || (value->plain && value->size == 0))
        return kn_field_fail(r, value, "a text is expected here (the empty one is \"\")");
    *out = kn_arena_strndup(&r->inner->arena, value->text, value->size);
    return *out ? KN_OK : kn_field_memory(r);
}

static kn_status read_na(kn_reader *r, const kn_yaml *value, void *target)
{
    kn_csv_options *csv = target;
    return kn_read_list(r, value, "a list of texts", read_spelling, &csv->na, &csv->na_count);
}

static kn_status read_undeclared(kn_reader *r, const kn_yaml *value, void *target)
{
    return kn_read_either(r, value, "drop", "refuse", "a treatment of undeclared columns", target);
}

static kn_status read_rows(kn_reader *r, const kn_yaml *value, void *target)
{
    return kn_read_whole(r, value, 0, INT64_MAX, target);
}

static kn_status read_suppression(kn_reader *r, const kn_yaml *value, void *target)
{
    static const kn_key keys[] = {{"rows", read_rows, offsetof(kn_spec, suppression_rows)}, KN_KEYS_END};
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

static kn_status read_dependency(kn_reader *r, const kn_yaml *value, void *target)
{
    return kn_read_text(r, value, "a dependency", target);
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
    spec->method_unasked = 0;
    spec->method = spec->method_auto ? KN_METHOD_OPTIMAL : (kn_method)found;
    return KN_OK;
}

/* A field whose words are the names of an enumeration, in its order. */
#define READ_NAME(function, type, count, name_of, what)                                                                \
    static kn_status function(kn_reader *r, const kn_yaml *value, void *target)                                        \
    {                                                                                                                  \
        const char *names[count];                                                                                      \
        size_t      found = 0;                                                                                         \
        for (int i = 0; i < (count); i++) names[i] = name_of((type)i);                                                 \
        KN_TRY(kn_read_word(r, value, names, count, what, &found));                                                    \
        *(type *)target = (type)found;                                                                                 \
        return KN_OK;                                                                                                  \
    }

READ_NAME(read_missing, kn_missing, KN_MISSING_DROP + 1, kn_missing_name, "a treatment of missing cells")
READ_NAME(read_suppressed, kn_suppressed, KN_SUPPRESSED_KEEP_SENSITIVE + 1, kn_suppressed_name,
          "a treatment of suppressed rows")
READ_NAME(read_utility, kn_metric, KN_METRICS, kn_metric_name, "a metric")
static kn_status read_row_order(kn_reader *r, const kn_yaml *value, void *target)
{
    return kn_read_either(r, value, "values", "input", "an order of rows", target);
}

READ_NAME(read_choose, kn_choose, KN_CHOICES, kn_choose_name, "a way to choose")
READ_NAME(read_matching, kn_matching, KN_MATCHINGS, kn_matching_name, "a way to pair rows")
READ_NAME(read_leftovers, kn_leftovers, KN_LEFTOVER_CHOICES, kn_leftovers_name, "a treatment of persons that are left")
READ_NAME(read_diversity, kn_diversity, KN_DIVERSITIES, kn_diversity_name, "a way to reach diversity")
static const char *clustering_name(int64_t clustering)
{
    return kn_clustering_name((kn_clustering)clustering);
}
READ_NAME(read_clustering, int64_t, KN_CLUSTERINGS, clustering_name, "a clustering of persons")
READ_NAME(read_semantics, kn_semantics, KN_SEMANTICS, kn_semantics_name, "a kind of knowledge of relations")

static kn_status read_time_limit(kn_reader *r, const kn_yaml *value, void *target)
{
    kn_ratio seconds;
    KN_TRY(kn_read_ratio(r, value, &seconds));
    *(double *)target = (double)seconds.numerator / (double)seconds.denominator;
    return KN_OK;
}

static kn_status read_seed(kn_reader *r, const kn_yaml *value, void *target)
{
    kn_spec *spec = target;
    KN_TRY(kn_read_seed(r, value, &spec->seed));
    spec->seeded = true;
    return KN_OK;
}

static kn_status read_g(kn_reader *r, const kn_yaml *value, void *target)
{
    return kn_read_whole(r, value, 1, INT32_MAX, target);
}

static kn_status read_support(kn_reader *r, const kn_yaml *value, void *target)
{
    kn_ratio support;
    KN_TRY(kn_read_ratio(r, value, &support));
    if (support.numerator > support.denominator) return kn_field_fail(r, value, "a share from 0 to 1 is expected here");
    *(kn_ratio *)target = support;
    return KN_OK;
}

static kn_status read_summary(kn_reader *r, const kn_yaml *value, void *target)
{
    return kn_read_either(r, value, "none", "side", "a place for the summary", target);
}

static kn_status read_keep_recipe(kn_reader *r, const kn_yaml *value, void *target)
{
    bool keep = false;
    KN_TRY(kn_read_bool(r, value, &keep));
    *(int *)target = keep;
    return KN_OK;
}

/* ---- The fields ---- */

static kn_status read_options(kn_reader *r, const kn_yaml *value, void *target);

#define AT(member) offsetof(kn_spec, member)

/* A function that fills in several members takes the whole spec, at 0. */
static const kn_key fields[KN_FIELDS_AND_OPTIONS] = {
    [KN_FIELD_VERSION] = {"kanon", read_version, 0},
    [KN_FIELD_INPUT] = {"input", read_input, 0},
    [KN_FIELD_DELIMITER] = {"delimiter", kn_read_delimiter, AT(csv.delimiter)},
    [KN_FIELD_HEADER] = {"header", read_header, AT(csv.no_header)},
    [KN_FIELD_ENCODING] = {"encoding", read_encoding, AT(csv.encoding)},
    [KN_FIELD_DECIMAL] = {"decimal", read_decimal, 0},
    [KN_FIELD_TIMEZONE] = {"timezone", read_timezone, 0},
    [KN_FIELD_NA] = {"na", read_na, AT(csv)},
    [KN_FIELD_POPULATION] = {"population", kn_read_place, AT(population)},
    [KN_FIELD_ATTRIBUTES] = {"attributes", kn_read_attributes, 0},
    [KN_FIELD_ENTITY] = {"entity", kn_read_entity, 0},
    [KN_FIELD_TABLES] = {"tables", kn_read_tables, 0},
    [KN_FIELD_RECORD] = {"record", kn_read_record, 0},
    [KN_FIELD_RESOURCES] = {"resources", kn_read_resources, 0},
    [KN_FIELD_CLASSES] = {"classes", kn_read_classes, 0},
    [KN_FIELD_UNDECLARED] = {"undeclared", read_undeclared, AT(undeclared_refuse)},
    [KN_FIELD_MISSING] = {"missing", read_missing, AT(missing)},
    [KN_FIELD_PRIVACY] = {"privacy", kn_read_privacy, 0},
    [KN_FIELD_SUPPRESSION] = {"suppression", read_suppression, 0},
    [KN_FIELD_SUPPRESSED] = {"suppressed", read_suppressed, AT(suppressed)},
    [KN_FIELD_DEPENDENCIES] = {"dependencies", read_dependencies, 0},
    [KN_FIELD_METHOD] = {"method", read_method, 0},
    [KN_FIELD_UTILITY] = {"utility", read_utility, AT(utility)},
    [KN_FIELD_LEVELS] = {"levels", kn_read_levels, 0},
    [KN_FIELD_WORKLOAD] = {"workload", kn_read_path, AT(workload)},
    [KN_FIELD_OPTIONS] = {"options", read_options, 0},
    [KN_FIELD_OUTPUT] = {"output", kn_read_place, AT(output)},
    [KN_FIELD_REPORT] = {"report", kn_read_path, AT(report)},
    [KN_FIELD_PUBLIC_REPORT] = {"public-report", kn_read_path, AT(public_report)},
    [KN_FIELD_SUMMARY] = {"summary", read_summary, AT(summary)},
    [KN_FIELD_SPREADSHEET_SAFE] = {"spreadsheet-safe", kn_read_bool, AT(spreadsheet_safe)},
    [KN_FIELD_EXPAND] = {"expand", kn_read_bool, AT(expand)},
    [KN_FIELD_KEEP_ORDER] = {"keep-order", kn_read_bool, AT(keep_order)},
    [KN_FIELD_KEEP_ROWMAP] = {"keep-rowmap", kn_read_bool, AT(keep_rowmap)},
    [KN_FIELD_KEEP_RECIPE] = {"keep-recipe", read_keep_recipe, AT(keep_recipe)},
    [KN_FIELD_FORCE] = {"force", kn_read_bool, AT(force)},
    [KN_FIELD_REPLACE] = {"replace", kn_read_bool, AT(replace)},
    [KN_OPTION_TIME_LIMIT] = {"time-limit", read_time_limit, AT(time_limit)},
    [KN_OPTION_SEED] = {"seed", read_seed, 0},
    [KN_OPTION_CHOOSE] = {"choose", read_choose, AT(choose)},
    [KN_OPTION_ROW_ORDER] = {"row-order", read_row_order, AT(input_order)},
    [KN_OPTION_ALLOW_BROKEN] = {"allow-broken", kn_read_bool, AT(allow_broken)},
    [KN_OPTION_THRESHOLD] = {"threshold", kn_read_ratio, AT(threshold)},
    [KN_OPTION_CLIMIT] = {"climit", kn_read_positive, AT(climit)},
    [KN_OPTION_MATCHING] = {"matching", read_matching, AT(matching)},
    [KN_OPTION_CLUSTERING] = {"clustering", read_clustering, AT(clustering)},
    [KN_OPTION_LEFTOVERS] = {"leftovers", read_leftovers, AT(leftovers)},
    [KN_OPTION_DIVERSITY] = {"diversity", read_diversity, AT(diversity)},
    [KN_OPTION_COMPLETE] = {"complete", kn_read_bool, AT(complete)},
    [KN_OPTION_ANATOMY] = {"anatomy", kn_read_bool, AT(anatomy)},
    [KN_OPTION_REFERENCE] = {"reference", kn_read_bool, AT(reference)},
    [KN_OPTION_G] = {"g", read_g, AT(g)},
    [KN_OPTION_SEMANTICS] = {"semantics", read_semantics, AT(semantics)},
    [KN_OPTION_STRICT_STRUCTURE] = {"strict-structure", kn_read_bool, AT(strict_structure)},
    [KN_OPTION_SUPPORT] = {"support", read_support, AT(support)},
};

static bool is_list_of_texts(size_t field)
{
    return field == KN_FIELD_INPUT || field == KN_FIELD_NA || field == KN_FIELD_ENTITY ||
           field == KN_FIELD_DEPENDENCIES || field == KN_FIELD_LEVELS;
}

const char *kn_field_name(int field)
{
    return fields[field].name;
}

static kn_status read_field(kn_reader *r, size_t field, const kn_yaml *value, const char *said, kn_place place)
{
    kn_spec_state *state = &r->inner->state;
    KN_TRY(fields[field].read(r, value, (char *)&state->spec + fields[field].offset));
    state->said[field] = said;
    state->places[field] = place;
    return KN_OK;
}

/* A mapping of the fields in [first, end). */
static kn_status read_fields(kn_reader *r, const kn_yaml *map, size_t first, size_t end, const char *what)
{
    const char *names[KN_FIELDS_AND_OPTIONS];
    for (size_t i = first; i < end; i++) names[i] = fields[i].name;
    KN_TRY(kn_want_map(r, map, what));
    for (const kn_yaml *key = map->first; key; key = key->next) {
        size_t found = 0;
        KN_TRY(kn_read_key(r, key, names + first, end - first, &found));
        const char *name = fields[first + found].name;
        KN_TRY(read_field(r, first + found, key->value, name, kn_field_place(r, key->value)));
    }
    return KN_OK;
}

static kn_status read_options(kn_reader *r, const kn_yaml *value, void *target)
{
    (void)target;
    return read_fields(r, value, KN_FIELDS, KN_FIELDS_AND_OPTIONS, "a mapping like {time-limit: ...}");
}

/* ---- From a file ---- */

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
    kn_spec    *spec = &r->inner->state.spec;
    kn_arena    scratch;
    kn_yaml    *root = NULL;
    const char *called = path ? path : r->origin.name; /* a text has no path, but a place in messages */
    spec->path = kn_arena_strndup(&r->inner->arena, called, strlen(called));
    if (!spec->path) return kn_field_memory(r);
    if (path) KN_TRY(find_folder(r, path));
    kn_arena_init(&scratch, r->inner->ctx);
    kn_status status = kn_yaml_parse(&root, &scratch, &r->origin, text, size, r->err);
    if (status == KN_OK && !root) status = kn_fail_at(r->err, KN_INPUT, r->origin.name, 0, 0, "it is empty");
    if (status == KN_OK) status = read_fields(r, root, 0, KN_FIELDS, "a mapping of fields");
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
    kn_status status = kn_source_read_all(source, &text, KN_YAML_LARGEST + 3, err); /* the parser refuses more */
    if (status == KN_OK)
        status = kn_spec_parse(out, ctx, path, kn_source_name(source), text.data ? text.data : "", text.size, err);
    kn_buffer_free(&text);
    kn_source_free(source);
    return status;
}

kn_status kn_spec_read_text(kn_spec **out, kn_context *ctx, const char *text, size_t size, const char *name,
                            kn_error *err)
{
    if (!name) name = "the release file";
    return kn_spec_parse(out, ctx, NULL, name, size > 0 ? text : "", size, err);
}

/* ---- From texts ---- */

static kn_reader option_reader(kn_spec *spec, const char *what, kn_error *err)
{
    return (kn_reader){
        .inner = kn_spec_inside(spec), .origin = {what, KN_USAGE, true}, .from_file = false, .folder = "", .err = err};
}

static kn_status find_field(const char *field, const char *what, size_t *out, kn_error *err)
{
    for (*out = 0; *out < KN_FIELDS_AND_OPTIONS; ++*out)
        if (strcmp(fields[*out].name, field) == 0) return KN_OK;
    return kn_fail(err, KN_USAGE, "%s: there is no field '%s'", what, field);
}

/* Reads a field from a node; after a failure the spec is as before. */
static kn_status change_field(kn_reader *r, size_t field, const kn_yaml *value)
{
    kn_spec_state saved;
    const char   *said = kn_arena_strndup(&r->inner->arena, r->origin.name, strlen(r->origin.name));
    if (!said || !kn_spec_begin(r->inner, &saved)) return kn_field_memory(r);
    kn_status status = read_field(r, field, value, said, (kn_place){0, 0});
    if (status == KN_OK)
        kn_spec_keep(&saved);
    else
        kn_spec_undo(r->inner, &saved);
    return status;
}

static kn_status parse_option(kn_reader *r, kn_arena *scratch, const char *text, kn_yaml **out)
{
    KN_TRY(kn_yaml_parse(out, scratch, &r->origin, text, strlen(text), r->err));
    return *out ? KN_OK : kn_fail(r->err, KN_USAGE, "%s: a value is missing", r->origin.name);
}

kn_status kn_spec_set(kn_spec *spec, const char *field, const char *text, const char *what, kn_error *err)
{
    size_t    found = 0;
    kn_reader r = option_reader(spec, what ? what : field, err);
    KN_TRY(find_field(field, r.origin.name, &found, err));
    kn_arena scratch;
    kn_yaml *value = NULL;
    kn_arena_init(&scratch, r.inner->ctx);
    kn_status status = parse_option(&r, &scratch, text, &value);
    if (status == KN_OK) status = change_field(&r, found, value);
    kn_arena_free(&scratch);
    return status;
}

kn_status kn_spec_set_texts(kn_spec *spec, const char *field, const char *const *texts, int count, const char *what,
                            kn_error *err)
{
    size_t    found = 0;
    kn_reader r = option_reader(spec, what ? what : field, err);
    KN_TRY(find_field(field, r.origin.name, &found, err));
    bool listed = is_list_of_texts(found);
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
    if (status == KN_OK) status = change_field(&r, found, listed ? &list : value);
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
