/* kn_spec_shape.c: a table, a database or trees? And does what is asked fit it? */
/* SPDX-License-Identifier: Apache-2.0 */
#include <kanon/catalogue.h>
#include <stdio.h>
#include <string.h>

#include "kn_error.h"
#include "kn_model_terms.h"
#include "kn_names.h"
#include "kn_spec.h"
#include "kn_spec_of_database.h"
#include "kn_table_name.h"

kn_shape kn_spec_shape(const kn_spec *spec)
{
    if (spec->class_count > 0 || kn_method_family(spec->method) == KN_FAMILY_TREE) return KN_SHAPE_RECORDS;
    if ((spec->method_auto || !spec->method_given) && spec->kmn.k > 0 && !kn_spec_items_column(spec))
        return KN_SHAPE_RECORDS;
    if (spec->table_count > 0 || spec->entity_table) return KN_SHAPE_DATABASE;
    bool named = spec->input_count == 1 && (kn_name_sqlite(spec->inputs[0]) || kn_name_server(spec->inputs[0]));
    if (named && kn_table_kind_of(spec->inputs[0]) != KN_TABLE_TEXT) return KN_SHAPE_TABLE;
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

kn_status kn_spec_check_is_database(const kn_spec *spec, kn_error *err)
{
    if (kn_spec_shape(spec) == KN_SHAPE_DATABASE && spec->table_count > 0) return KN_OK;
    return kn_fail(err, KN_USAGE, "%s: it does not describe a database, since it lists no tables",
                   spec->path ? spec->path : "the spec");
}

int64_t kn_spec_asked_k(const kn_spec *spec, int64_t k)
{
    for (int i = 0; i < spec->model_count && k == 0; i++)
        if (spec->models[i].kind == KN_MODEL_K) k = spec->models[i].k;
    return k > 0 ? k : 2;
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
        if (kn_model_needs_attribute(spec->models[i].kind)) return true;
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
                                            .weight = {1, 1},
                                            .has_hierarchy = a->has_hierarchy,
                                            .hierarchy = a->hierarchy,
                                            .sensitive = a->role == KN_ROLE_SENSITIVE,
                                            .of_table = true};
        }
    spec->classes = list;
    spec->class_count = count;
    return KN_OK;
}

/* Is there a quasi-identifier without a hierarchy? Its type suggests one, but methods that need none may lose less. */
static bool lacks_hierarchy(const kn_spec *spec)
{
    for (int i = 0; i < spec->attribute_count; i++)
        if (spec->attributes[i].role == KN_ROLE_QUASI && !spec->attributes[i].has_hierarchy) return true;
    return false;
}

kn_status kn_spec_check_shape(kn_spec_inner *inner, kn_error *err)
{
    kn_spec *spec = &inner->state.spec;
    kn_shape shape = kn_spec_shape(spec);
    if (!spec->method_given && !spec->method_auto && shape == KN_SHAPE_TABLE && lacks_hierarchy(spec) &&
        !kn_spec_has_level_bounds(spec)) {
        spec->method_auto = true;
        spec->method_unasked = 1;
    }
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
        if (kind == KN_MODEL_K) k = spec->models[i].k;
        if (!kn_method_keeps(KN_METHOD_DMIRACLE, kind))
            return kn_spec_fail_place(
                inner, place, err,
                "%s: for a database only k, delta-presence and promises about sensitive values can be made",
                kn_model_name(kind));
        if (!kn_method_keeps(spec->method, kind))
            return kn_spec_fail_place(inner, place, err,
                                      "method %s promises nothing about sensitive values: %s needs dmiracle",
                                      kn_method_name(spec->method), kn_model_name(kind));
        if (spec->diversity == KN_DIVERSITY_DISTANCE && kind > KN_MODEL_RECURSIVE && kind != KN_MODEL_ALPHA_K)
            return kn_spec_fail_place(
                inner, place, err,
                "%s compares classes with the whole table: diversity: distance, which keeps equal "
                "values apart, is for l-diversity and alpha-k; merge or suppress",
                kn_model_name(kind));
        if (spec->anatomy && kind == KN_MODEL_PRESENCE)
            return kn_spec_fail_place(
                inner, place, err,
                "delta-presence: an anatomy shows quasi-identifiers as they are, and with them who "
                "is in the database; leave one of them out");
        diverse = diverse || kn_model_needs_attribute(kind);
    }
    if (spec->anatomy && spec->dependency_count > 0)
        return kn_spec_fail_place(
            inner, inner->state.places[KN_FIELD_DEPENDENCIES], err,
            "dependencies: an anatomy moves columns to tables of their own, where none hold; leave "
            "one of them out");
    if (k == 0) return kn_spec_fail_lacking(inner, err, "a database needs a promise of k (privacy: [{k: 2}])");
    if (spec->method == KN_METHOD_DMIRACLE && !diverse)
        return kn_spec_fail_lacking(inner, err,
                                    "method dmiracle needs a promise about sensitive values, such as l-diversity");
    if (spec->method == KN_METHOD_DMIRACLE && k < 2)
        return kn_spec_fail_lacking(inner, err, "method dmiracle needs a k of at least 2");
    return KN_OK;
}

/* The key of persons is given twice: by `entity:` and with its table. */
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
                                      "%s: table \"%s\" has another key; name that, or leave it out",
                                      inner->state.said[KN_FIELD_ENTITY], table->name);
    }
    return KN_OK;
}

kn_status kn_spec_check_database(const kn_spec_inner *inner, kn_error *err)
{
    const kn_spec *spec = &inner->state.spec;
    if (spec->input_count != 1)
        return kn_spec_fail_place(inner, inner->state.places[KN_FIELD_INPUT], err,
                                  "input: a database is one input; name one");
    KN_TRY(check_person_key(inner, err));
    return check_promises(inner, err);
}

/* ---- Trees ---- */

kn_status kn_spec_check_records(const kn_spec_inner *inner, kn_error *err)
{
    const kn_spec *spec = &inner->state.spec;
    if (spec->input_count != 1 && spec->table_count > 0)
        return kn_spec_fail_place(inner, inner->state.places[KN_FIELD_INPUT], err,
                                  "input: a database is one input; name one");
    if (spec->class_count == 0 && spec->table_count == 0)
        return kn_spec_fail_lacking(inner, err, "records that are trees need classes, as they nest (classes: ...)");
    if (spec->kmn.k == 0)
        return kn_spec_fail_lacking(inner, err, "trees need a promise of k-mn (privacy: [{k-mn: {k: 3, m: 2, n: 1}}])");
    KN_TRY(kn_spec_check_resources(inner, err));
    for (int i = 0; i < spec->model_count; i++)
        if (!kn_method_keeps(spec->method, spec->models[i].kind))
            return kn_spec_fail_place(inner, inner->state.model_places[i], err,
                                      "%s: for trees only k-mn and l-diversity can be promised",
                                      kn_model_name(spec->models[i].kind));
    return KN_OK;
}
