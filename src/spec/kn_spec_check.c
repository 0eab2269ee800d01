/* kn_spec_check.c: is a spec consistent? Checks that need more than one field.
 *
 * Nothing is opened: whether the columns exist, the hierarchies fit them and the output is one of the inputs under
 * another name is checked when the job runs.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "kn_error.h"
#include "kn_names.h"
#include "kn_nearest.h"
#include "kn_spec.h"
#include "kn_table_name.h"

kn_status kn_spec_fail_place(const kn_spec_inner *inner, kn_place place, kn_error *err, const char *format, ...)
{
    char        message[700];
    const char *path = inner->state.spec.path;
    va_list     args;
    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (!path || place.line == 0) return kn_fail(err, KN_USAGE, "%s", message);
    if (strcmp(path, "-") == 0) path = "(standard input)";
    return kn_fail_at(err, KN_INPUT, path, place.line, place.column, "%s", message);
}

kn_status kn_spec_fail_lacking(const kn_spec_inner *inner, kn_error *err, const char *message)
{
    const char *path = inner->state.spec.path;
    if (!path) return kn_fail(err, KN_USAGE, "%s", message);
    return kn_fail_at(err, KN_INPUT, strcmp(path, "-") == 0 ? "(standard input)" : path, 0, 0, "%s", message);
}

static kn_place place_of(const kn_attribute *a)
{
    return (kn_place){a->line, a->column};
}

static bool is_standard(const char *path)
{
    return path && strcmp(path, "-") == 0;
}

/* ---- Files ---- */

/* Standard input can be read once. */
static kn_status check_standard_input(const kn_spec_inner *inner, kn_error *err)
{
    const kn_spec *spec = &inner->state.spec;
    int            uses = is_standard(spec->path) + is_standard(spec->population) + is_standard(spec->workload);
    for (int i = 0; i < spec->input_count; i++) uses += is_standard(spec->inputs[i]);
    for (int i = 0; i < spec->attribute_count; i++)
        uses += (spec->attributes[i].has_hierarchy && is_standard(spec->attributes[i].hierarchy.path)) +
                is_standard(spec->attributes[i].hierarchy.population) +
                is_standard(spec->attributes[i].pseudonym_key_file);
    return uses <= 1 ? KN_OK : kn_fail(err, KN_USAGE, "standard input ('-') can be read once only");
}

static bool is_path(const char *said, const char *path)
{
    return said && strcmp(said, path) == 0;
}

static bool is_hierarchy(const kn_attribute *attributes, int count, const char *path)
{
    for (int i = 0; i < count; i++)
        if (attributes[i].has_hierarchy &&
            (is_path(attributes[i].hierarchy.path, path) || is_path(attributes[i].hierarchy.population, path)))
            return true;
    return false;
}

/* Is it a file that is read? */
static bool is_read(const kn_spec *spec, const char *path)
{
    if (is_standard(path)) return false;
    if (kn_name_sqlite(path)) path = kn_name_sqlite(path);
    for (int t = 0; t < spec->table_count; t++)
        if (is_hierarchy(spec->tables[t].attributes, spec->tables[t].attribute_count, path)) return true;
    if (is_hierarchy(spec->attributes, spec->attribute_count, path)) return true;
    for (int i = 0; i < spec->class_count; i++) {
        const kn_spec_class *c = &spec->classes[i];
        if (c->has_hierarchy && c->hierarchy.path && strcmp(c->hierarchy.path, path) == 0) return true;
    }
    for (int i = 0; i < spec->input_count; i++) {
        if (kn_string_equal(kn_table_file(spec->inputs[i]), kn_string_of(path))) return true;
    }
    for (int i = 0; i < spec->attribute_count; i++)
        if (spec->attributes[i].pseudonym_key_file && strcmp(spec->attributes[i].pseudonym_key_file, path) == 0)
            return true;
    if (spec->workload && strcmp(spec->workload, path) == 0) return true;
    return (spec->population && strcmp(spec->population, path) == 0) || (spec->path && strcmp(spec->path, path) == 0);
}

static kn_status check_report(const kn_spec_inner *inner, const char *path, int field, const char *what, kn_error *err)
{
    const kn_spec_state *state = &inner->state;
    if (path && is_read(&state->spec, path))
        return kn_spec_fail_place(inner, state->places[field], err, "%s would overwrite a file that is read", what);
    if (path && strcmp(path, state->spec.output) == 0)
        return kn_spec_fail_place(inner, state->places[field], err, "%s and the output are the same file", what);
    return KN_OK;
}

static kn_status check_files(const kn_spec_inner *inner, kn_error *err)
{
    const kn_spec_state *state = &inner->state;
    const kn_spec       *spec = &state->spec;
    if (spec->input_count == 0)
        return kn_spec_fail_lacking(inner, err, "no input is given (input: FILE, or a file on the command line)");
    if (!spec->output)
        return kn_spec_fail_lacking(inner, err, "no output is given (output: FILE, as an option --output FILE)");
    KN_TRY(check_standard_input(inner, err));
    if (is_read(spec, spec->output))
        return kn_spec_fail_place(inner, state->places[KN_FIELD_OUTPUT], err,
                                  "the output would overwrite a file that is read");
    KN_TRY(check_report(inner, spec->report, KN_FIELD_REPORT, "the report", err));
    KN_TRY(check_report(inner, spec->public_report, KN_FIELD_PUBLIC_REPORT, "the public report", err));
    if (spec->report && spec->public_report && strcmp(spec->report, spec->public_report) == 0)
        return kn_spec_fail_place(inner, state->places[KN_FIELD_PUBLIC_REPORT], err,
                                  "the report and the public report are the same file");
    if (spec->method == KN_METHOD_MONDRIAN_WORKLOAD && !spec->workload)
        return kn_spec_fail_place(inner, state->places[KN_FIELD_METHOD], err,
                                  "method mondrian-workload needs a workload: a file of queries");
    if (spec->csv.decimal == ',' && spec->csv.delimiter == ',') /* a point may be the default, not a request */
        return kn_spec_fail_place(inner, state->places[KN_FIELD_DECIMAL], err,
                                  "the delimiter and the decimal mark are the same");
    return KN_OK;
}

/* ---- Roles ---- */

static kn_status check_attributes(const kn_spec_inner *inner, kn_error *err)
{
    const kn_spec *spec = &inner->state.spec;
    int            quasi = 0, weights = 0;
    bool           weighty = false;
    for (int i = 0; i < spec->attribute_count; i++) {
        const kn_attribute *a = &spec->attributes[i];
        if (!a->has_role) return kn_spec_fail_place(inner, place_of(a), err, "column \"%s\" has no role", a->name);
        quasi += a->role == KN_ROLE_QUASI;
        weighty = weighty || (a->role == KN_ROLE_QUASI && a->weight.numerator > 0);
        weights += a->role == KN_ROLE_WEIGHT;
        if (weights > 1)
            return kn_spec_fail_place(inner, place_of(a), err, "column \"%s\" is a second weight", a->name);
    }
    for (int t = 0; t < spec->table_count; t++)
        for (int i = 0; i < spec->tables[t].attribute_count; i++) {
            const kn_attribute *a = &spec->tables[t].attributes[i];
            if (!a->has_role)
                return kn_spec_fail_place(inner, place_of(a), err, "column \"%s\" of table \"%s\" has no role", a->name,
                                          spec->tables[t].name);
            quasi += a->role == KN_ROLE_QUASI;
            weighty = weighty || (a->role == KN_ROLE_QUASI && a->weight.numerator > 0);
        }
    if (quasi == 0)
        return kn_spec_fail_lacking(inner, err,
                                    spec->table_count > 0
                                        ? "no column is a quasi-identifier (role: quasi)"
                                        : "no column is a quasi-identifier (role: quasi, as an option --qi COLUMNS)");
    if (!weighty) return kn_spec_fail_lacking(inner, err, "every quasi-identifier has weight 0");
    return KN_OK;
}

/* The entity's columns are identifiers, declared or not: anything else would publish who a row belongs to. */
static kn_status check_entity(const kn_spec_inner *inner, kn_error *err)
{
    const kn_spec *spec = &inner->state.spec;
    for (int i = 0; i < spec->attribute_count; i++) {
        const kn_attribute *a = &spec->attributes[i];
        if (a->role != KN_ROLE_IDENTIFIER && kn_spec_is_entity(spec, a->name))
            return kn_spec_fail_place(inner, inner->state.places[KN_FIELD_ENTITY], err,
                                      "column \"%s\" says whose row it is: its role can only be identifier, not %s",
                                      a->name, kn_role_name(a->role));
    }
    return KN_OK;
}

/* ---- Promises ---- */

static bool of_a_column(kn_model_kind kind)
{
    return kind != KN_MODEL_K && kind < KN_MODEL_K_MAP;
}

/* The only sensitive column; NULL: there is none, or several. */
static const char *only_sensitive(const kn_spec *spec)
{
    const char *found = NULL;
    int         count = 0;
    for (int i = 0; i < spec->attribute_count; i++)
        if (spec->attributes[i].role == KN_ROLE_SENSITIVE && count++ == 0) found = spec->attributes[i].name;
    for (int t = 0; t < spec->table_count; t++)
        for (int i = 0; i < spec->tables[t].attribute_count; i++)
            if (spec->tables[t].attributes[i].role == KN_ROLE_SENSITIVE && count++ == 0)
                found = spec->tables[t].attributes[i].name;
    return count == 1 ? found : NULL;
}

/* Models that name no column are about the only sensitive one. */
static kn_status fill_in(kn_spec_inner *inner, kn_error *err)
{
    kn_spec_state *state = &inner->state;
    for (int i = 0; i < state->spec.model_count; i++) {
        kn_model *m = &state->models[i];
        kn_place  place = state->model_places[i];
        if (!of_a_column(m->kind)) continue;
        if (!m->attribute) m->attribute = only_sensitive(&state->spec);
        if (!m->attribute)
            return kn_spec_fail_place(
                inner, place, err,
                "%s does not say of which column (attribute: COLUMN): there is not exactly one sensitive one",
                kn_model_name(m->kind));
    }
    return KN_OK;
}

/* Of a database, the column alone, where the text begins with its table. */
static kn_nearest nearest_column(const kn_spec *spec, const char *text)
{
    kn_nearest near = {.text = text};
    int        from = 0, to = spec->table_count;
    for (int t = 0; t < spec->table_count; t++) {
        size_t size = strlen(spec->tables[t].name);
        if (strncmp(text, spec->tables[t].name, size) != 0 || text[size] != '.') continue;
        near.text = text + size + 1;
        from = t;
        to = t + 1;
    }
    for (int i = 0; i < spec->attribute_count; i++) kn_nearest_try(&near, spec->attributes[i].name);
    for (int t = from; t < to; t++)
        for (int i = 0; i < spec->tables[t].attribute_count; i++)
            kn_nearest_try(&near, spec->tables[t].attributes[i].name);
    return near;
}

static kn_status check_model_column(const kn_spec_inner *inner, const kn_model *m, kn_place place, kn_error *err)
{
    const kn_spec *spec = &inner->state.spec;
    const char    *name = kn_model_name(m->kind);
    int            table = -1, at = kn_spec_find(spec, m->attribute);
    bool           several = at < 0 && !kn_spec_find_column(spec, m->attribute, &table, &at) && at >= 0;
    if (several)
        return kn_spec_fail_place(inner, place, err, "%s: several tables have a column \"%s\": write TABLE.COLUMN",
                                  name, m->attribute);
    if (at < 0) {
        kn_nearest near = nearest_column(spec, m->attribute);
        return kn_spec_fail_place(inner, place, err, "%s: column \"%s\" is not declared%s%s%s", name, m->attribute,
                                  KN_MEANT(near));
    }
    const kn_attribute *a = table >= 0 ? &spec->tables[table].attributes[at] : &spec->attributes[at];
    if (a->role != KN_ROLE_SENSITIVE)
        return kn_spec_fail_place(inner, place, err, "%s: column \"%s\" is %s, not sensitive", name, m->attribute,
                                  kn_role_name(a->role));
    if (m->kind == KN_MODEL_T_HIERARCHICAL && !a->has_hierarchy)
        return kn_spec_fail_place(inner, place, err, "%s: column \"%s\" has no hierarchy, which the distance needs",
                                  name, m->attribute);
    return KN_OK;
}

static bool has_weights(const kn_spec *spec)
{
    for (int i = 0; i < spec->attribute_count; i++)
        if (spec->attributes[i].role == KN_ROLE_WEIGHT) return true;
    return false;
}

static bool several_quasi(const kn_spec *spec)
{
    int count = 0;
    for (int i = 0; i < spec->attribute_count; i++) count += spec->attributes[i].role == KN_ROLE_QUASI;
    return count > 1;
}

/* Is it known how many people look alike? */
static kn_status check_people(const kn_spec_inner *inner, const kn_model *m, kn_place place, kn_error *err)
{
    const kn_spec *spec = &inner->state.spec;
    bool           counted = kn_spec_counts_people(spec);
    if (m->kind == KN_MODEL_K_MAP && !spec->population && !counted && !has_weights(spec))
        return kn_spec_fail_place(inner, place, err,
                                  "k-map needs a population, hierarchies that carry one, or a column of weights (role: "
                                  "weight)");
    if (m->kind == KN_MODEL_PRESENCE && !spec->population && !counted)
        return kn_spec_fail_place(inner, place, err, "delta-presence needs a population");
    if (m->kind == KN_MODEL_PRESENCE && counted && several_quasi(spec))
        return kn_spec_fail_place(inner, place, err,
                                  "delta-presence needs a population table: hierarchies that carry one do not say who "
                                  "has which combination of several quasi-identifiers");
    return KN_OK;
}

static kn_status check_models(kn_spec_inner *inner, kn_error *err)
{
    const kn_spec *spec = &inner->state.spec;
    if (spec->model_count == 0) return kn_spec_fail_lacking(inner, err, "no privacy model is given");
    KN_TRY(fill_in(inner, err));
    kn_spec_join_models(inner);
    for (int i = 0; i < spec->model_count; i++) {
        const kn_model *m = &spec->models[i];
        kn_place        place = inner->state.model_places[i];
        kn_error        wrong = KN_ERROR_INIT;
        if (of_a_column(m->kind)) KN_TRY(check_model_column(inner, m, place, err));
        KN_TRY(check_people(inner, m, place, err));
        if (kn_model_check(m, &wrong) != KN_OK) return kn_spec_fail_place(inner, place, err, "%s", wrong.message);
    }
    return KN_OK;
}

kn_status kn_spec_check(kn_spec *spec, kn_error *err)
{
    kn_spec_inner *inner = kn_spec_inside(spec);
    KN_TRY(check_files(inner, err));
    KN_TRY(kn_spec_check_shape(inner, err));
    KN_TRY(kn_spec_check_applies(inner, err));
    if (kn_spec_shape(spec) == KN_SHAPE_RECORDS) {
        kn_spec_join_models(inner);
        return kn_spec_check_records(inner, err);
    }
    KN_TRY(check_attributes(inner, err));
    KN_TRY(check_entity(inner, err));
    KN_TRY(check_models(inner, err));
    return kn_spec_shape(spec) == KN_SHAPE_DATABASE ? kn_spec_check_database(inner, err) : KN_OK;
}
