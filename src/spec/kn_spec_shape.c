/* kn_spec_shape.c: a table, a database or trees? And does what is asked fit it? */
/* SPDX-License-Identifier: Apache-2.0 */
#include <kanon/catalogue.h>
#include <stdio.h>
#include <string.h>

#include "kn_error.h"
#include "kn_names.h"
#include "kn_spec.h"

kn_shape kn_spec_shape(const kn_spec *spec)
{
    if (spec->class_count > 0 || kn_method_family(spec->method) == KN_FAMILY_TREE) return KN_SHAPE_RECORDS;
    if ((spec->method_auto || !spec->method_given) && spec->kmn.k > 0) return KN_SHAPE_RECORDS;
    if (spec->table_count > 0 || spec->entity_table) return KN_SHAPE_DATABASE;
    bool named = spec->input_count == 1 && (kn_name_sqlite(spec->inputs[0]) || kn_name_server(spec->inputs[0]));
    return named ? KN_SHAPE_DATABASE : KN_SHAPE_TABLE;
}

static const char *shape_name(kn_shape shape)
{
    static const char *const names[] = {"one table", "a database", "records that are trees"};
    return names[shape];
}

kn_status kn_spec_check_one_table(const kn_spec *spec, const char *instead, kn_error *err)
{
    kn_shape shape = kn_spec_shape(spec);
    if (shape == KN_SHAPE_TABLE) return KN_OK;
    return kn_fail(err, KN_USAGE, "%s: it describes %s, not one table%s%s", spec->path ? spec->path : "the spec",
                   shape_name(shape), instead ? "; " : "", instead ? instead : "");
}

bool kn_spec_find_column(const kn_spec *spec, const char *text, int *table, int *attribute)
{
    int count = 0;
    *table = *attribute = -1;
    for (int t = 0; t < spec->table_count; t++) {
        const kn_spec_table *s = &spec->tables[t];
        size_t               size = strlen(s->name);
        bool                 named = strncmp(text, s->name, size) == 0 && text[size] == '.';
        for (int a = 0; a < s->attribute_count; a++) {
            bool whole = named && strcmp(text + size + 1, s->attributes[a].name) == 0;
            if (!whole && strcmp(text, s->attributes[a].name) != 0) continue;
            *table = t;
            *attribute = a;
            if (whole) return true;
            count++;
        }
    }
    return count == 1;
}

/* ---- Data and method ---- */

static bool promises_diversity(const kn_spec *spec)
{
    for (int i = 0; i < spec->model_count; i++)
        if (spec->models[i].kind != KN_MODEL_K) return true;
    return false;
}

/* The columns of a database as classes: those listed, or all that a release may show. */
static kn_status fill_classes(kn_spec_inner *inner, kn_error *err)
{
    kn_spec *spec = &inner->state.spec;
    int      count = 0, room = spec->class_count;
    for (int t = 0; t < spec->table_count; t++) room += spec->tables[t].attribute_count;
    kn_spec_class *list = kn_arena_alloc(&inner->arena, ((size_t)room + 1) * sizeof *list);
    if (!list) return kn_fail_memory(err, inner->ctx, "a spec");
    for (int c = 0; c < spec->class_count; c++) {
        int table, attribute;
        list[count] = spec->classes[c];
        if (!kn_spec_find_column(spec, list[count].name, &table, &attribute))
            return kn_spec_fail_place(inner, (kn_place){list[count].line, list[count].column}, err,
                                      "class \"%s\" is no column of the tables (TABLE.COLUMN)", list[count].name);
        const kn_attribute *a = &spec->tables[table].attributes[attribute];
        list[count].has_hierarchy = a->has_hierarchy;
        list[count].hierarchy = a->hierarchy;
        list[count].of_table = true;
        list[count++].sensitive = a->role == KN_ROLE_SENSITIVE;
    }
    for (int t = 0; spec->class_count == 0 && t < spec->table_count; t++)
        for (int i = 0; i < spec->tables[t].attribute_count; i++) {
            const kn_attribute *a = &spec->tables[t].attributes[i];
            if (a->role != KN_ROLE_QUASI && a->role != KN_ROLE_SENSITIVE) continue;
            size_t size = strlen(spec->tables[t].name) + strlen(a->name) + 2;
            char  *name = kn_arena_alloc(&inner->arena, size);
            if (!name) return kn_fail_memory(err, inner->ctx, "a spec");
            snprintf(name, size, "%s.%s", spec->tables[t].name, a->name);
            list[count++] = (kn_spec_class){.name = name,
                                            .has_hierarchy = a->has_hierarchy,
                                            .hierarchy = a->hierarchy,
                                            .sensitive = a->role == KN_ROLE_SENSITIVE,
                                            .of_table = true};
        }
    spec->classes = list;
    spec->class_count = count;
    return KN_OK;
}

kn_status kn_spec_check_shape(kn_spec_inner *inner, kn_error *err)
{
    kn_spec *spec = &inner->state.spec;
    kn_shape shape = kn_spec_shape(spec);
    if (!spec->method_given && shape == KN_SHAPE_DATABASE)
        spec->method = promises_diversity(spec) || spec->anatomy ? KN_METHOD_DMIRACLE : KN_METHOD_MIRACLE_X;
    if (!spec->method_given && shape == KN_SHAPE_RECORDS) spec->method = KN_METHOD_GCS;
    if (shape == KN_SHAPE_RECORDS && spec->table_count > 0) KN_TRY(fill_classes(inner, err));
    kn_shape wanted = kn_method_shape(spec->method);
    if (wanted == shape) return KN_OK;
    return kn_spec_fail_place(inner, inner->state.places[KN_FIELD_METHOD], err, "method %s is for %s, and this is %s%s",
                              kn_method_name(spec->method), shape_name(wanted), shape_name(shape),
                              wanted == KN_SHAPE_DATABASE ? " (tables: says which)" : "");
}

/* ---- Databases ---- */

static kn_status check_promises(const kn_spec_inner *inner, kn_error *err)
{
    const kn_spec *spec = &inner->state.spec;
    int64_t        k = 0;
    bool           diverse = false;
    for (int i = 0; i < spec->model_count; i++) {
        kn_model_kind kind = spec->models[i].kind;
        kn_place      place = inner->state.model_places[i];
        bool          diversity = kind != KN_MODEL_K && kn_method_keeps(KN_METHOD_DMIRACLE, kind);
        if (kind == KN_MODEL_K) k = spec->models[i].k;
        if (kind != KN_MODEL_K && !diversity)
            return kn_spec_fail_place(inner, place, err, "%s: of a database only k and l-diversity can be promised",
                                      kn_model_name(kind));
        if (!kn_method_keeps(spec->method, kind))
            return kn_spec_fail_place(inner, place, err,
                                      "method %s promises nothing of sensitive values: l-diversity needs dmiracle",
                                      kn_method_name(spec->method));
        diverse = diverse || diversity;
    }
    if (k == 0) return kn_spec_fail_lacking(inner, err, "of a database a k must be promised (privacy: [{k: 2}])");
    if (spec->method == KN_METHOD_DMIRACLE && !diverse)
        return kn_spec_fail_lacking(inner, err, "method dmiracle needs an l-diversity of a sensitive column");
    if (spec->method == KN_METHOD_DMIRACLE && k < 2)
        return kn_spec_fail_lacking(inner, err, "method dmiracle needs a k of at least 2");
    if (spec->anatomy && spec->method != KN_METHOD_DMIRACLE)
        return kn_spec_fail_place(inner, inner->state.places[KN_FIELD_OPTIONS], err,
                                  "an anatomy is made of diverse groups: it needs method dmiracle");
    return KN_OK;
}

/* Something that must not be, and where. */
typedef struct rule {
    bool        wrong;
    int         field;
    const char *message;
} rule;

static kn_status check_rules(const kn_spec_inner *inner, const rule *rules, size_t count, kn_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (rules[i].wrong)
            return kn_spec_fail_place(inner, inner->state.places[rules[i].field], err, "%s", rules[i].message);
    return KN_OK;
}

/* The key of persons is said twice: by `entity:` and with its table. */
static kn_status check_person_key(const kn_spec_inner *inner, kn_error *err)
{
    const kn_spec *spec = &inner->state.spec;
    for (int t = 0; t < spec->table_count && spec->entity_table && spec->entity_count > 0; t++) {
        const kn_spec_table *table = &spec->tables[t];
        if (strcmp(table->name, spec->entity_table) != 0) continue;
        bool same = table->key_count == spec->entity_count;
        for (int i = 0; same && i < table->key_count; i++) same = kn_spec_is_entity(spec, table->key[i]);
        if (!same)
            return kn_spec_fail_place(inner, inner->state.places[KN_FIELD_ENTITY], err,
                                      "table \"%s\" has another key than the entity says", table->name);
    }
    return KN_OK;
}

kn_status kn_spec_check_database(const kn_spec_inner *inner, kn_error *err)
{
    const kn_spec *spec = &inner->state.spec;
    const rule     rules[] = {
            {spec->input_count != 1, KN_FIELD_INPUT, "a database is one input"},
            {spec->attribute_count > 0, KN_FIELD_ATTRIBUTES, "the columns of a database are declared below its tables"},
            {spec->population != NULL, KN_FIELD_POPULATION, "a database has no population"},
            {spec->missing != KN_MISSING_VALUE, KN_FIELD_MISSING, "missing cells of a database are a value"},
            {spec->suppression.numerator > 0 || spec->suppression_rows > 0, KN_FIELD_SUPPRESSION,
             "persons of a database are not suppressed by share: options leftovers and diversity say who is dropped"},
            {spec->dependency_count > 0, KN_FIELD_DEPENDENCIES, "dependencies of a database are its keys, which are kept"},
            {spec->keep_order, KN_FIELD_KEEP_ORDER, "rows of a database have no order that could be kept"},
            {spec->summary, KN_FIELD_SUMMARY, "there is no summary of a database"},
    };
    KN_TRY(check_rules(inner, rules, sizeof rules / sizeof *rules, err));
    KN_TRY(check_person_key(inner, err));
    return check_promises(inner, err);
}

/* ---- Trees ---- */

kn_status kn_spec_check_records(const kn_spec_inner *inner, kn_error *err)
{
    const kn_spec *spec = &inner->state.spec;
    const rule     rules[] = {
            {spec->input_count != 1, KN_FIELD_INPUT, "records that are trees are one input"},
            {spec->attribute_count > 0, KN_FIELD_ATTRIBUTES, "records that are trees have classes instead of attributes"},
            {spec->population != NULL, KN_FIELD_POPULATION, "records that are trees have no population"},
            {spec->suppression.numerator > 0 || spec->suppression_rows > 0, KN_FIELD_SUPPRESSION,
             "no record is suppressed: values are generalized and relations vanish"},
            {spec->dependency_count > 0, KN_FIELD_DEPENDENCIES, "records that are trees have no dependencies"},
            {spec->keep_order, KN_FIELD_KEEP_ORDER, "records are put in the order of what they show"},
            {spec->summary, KN_FIELD_SUMMARY, "there is no summary of records that are trees"},
            {spec->spreadsheet_safe, KN_FIELD_SPREADSHEET_SAFE,
             "spreadsheet-safe is for CSV, which is not how records that are trees are written"},
    };
    KN_TRY(check_rules(inner, rules, sizeof rules / sizeof *rules, err));
    if (spec->class_count == 0 && spec->table_count == 0)
        return kn_spec_fail_lacking(inner, err, "records that are trees need classes, as they nest (classes: ...)");
    if (spec->kmn.k == 0)
        return kn_spec_fail_lacking(inner, err,
                                    "of trees a k-mn must be promised (privacy: [{k-mn: {k: 3, m: 2, n: 1}}])");
    for (int i = 0; i < spec->model_count; i++)
        if (!kn_method_keeps(spec->method, spec->models[i].kind))
            return kn_spec_fail_place(inner, inner->state.model_places[i], err,
                                      "%s: of trees only k-mn and l-diversity (kind: distinct) can be promised",
                                      kn_model_name(spec->models[i].kind));
    return KN_OK;
}
