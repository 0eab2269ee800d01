/* kn_spec_applies.c: which method, and so which shape of data, uses which field: what is asked is done or refused.
 *
 * One table has for each field of a release file, and for each of its options, the methods that use it and a sentence
 * for all others that names what to do instead. A field that is not in it is used by all. Flags are fields by another
 * name, so that they need no table of their own. What depends on more than the method (where the data come from, what
 * is promised) comes below the table, with its sentences.
 *
 * A field is refused even if its value is the default, unless that value changes nothing: `summary: none`,
 * `suppression: 0`.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <kanon/catalogue.h>
#include <kanon/database.h>
#include <string.h>

#include "kn_error.h"
#include "kn_model_terms.h"
#include "kn_names.h"
#include "kn_records_scan.h"
#include "kn_spec.h"
#include "kn_table_name.h"

/* ---- Methods ---- */

#define M(name) (1u << KN_METHOD_##name)
#define FULL_DOMAIN                                                                                                    \
    (M(OPTIMAL) | M(SAMARATI) | M(BOTTOM_UP) | M(BOTTOM_UP_ROLLUP) | M(INCOGNITO) | M(INCOGNITO_SUPERROOTS) |          \
     M(INCOGNITO_CUBE) | M(HEURISTIC) | M(DATAFLY))
#define CHOOSING (M(MONDRIAN) | M(MONDRIAN_RELAXED) | M(MONDRIAN_BEST))
#define PARTITION (CHOOSING | M(MONDRIAN_1D) | M(MONDRIAN_WORKLOAD))
#define TABLES (FULL_DOMAIN | PARTITION | M(KMSD) | M(KMSD_AG))
#define PAIRING (M(MIRACLE) | M(MIRACLE_X) | M(DMIRACLE))
#define DATABASES (PAIRING | M(MIRACLE_X_LEVEL) | M(BITMAP))
#define TREES (M(ACS) | M(GCS) | M(OCS))
_Static_assert(KN_METHODS <= 32, "a method is a bit");

/* ---- The table ---- */

typedef struct entry {
    unsigned    methods; /* that use it; 0: all */
    const char *refusal; /* what else there is, or what to do */
} entry;

#define SEEDLESS                                                                                                       \
    "only heuristic, the methods of a database and records that are written as one use random numbers; any other "     \
    "gives the same release every time; leave it out"
#define ONLY_DATABASES "it is for the methods of a database, such as miracle-x; leave it out"
#define ONLY_TREES "it is for records that are trees (a release file with classes); leave it out"
#define SUPPRESSING                                                                                                    \
    "only rows of one table, and values and records that are trees, are suppressed; of a database leftovers and "      \
    "diversity say who is left out; leave it out"
#define SEARCHING                                                                                                      \
    "methods with one level for a whole column, such as optimal, search by it; mondrian's cuts follow choose, a "      \
    "database's methods lose least lm, those of trees rpda; leave it out"
#define LEVELS                                                                                                         \
    "only methods with one level for a whole column, such as optimal, choose levels; take one of them, or leave it "   \
    "out"

static const entry table[KN_FIELDS_AND_OPTIONS] = {
    [KN_FIELD_POPULATION] = {FULL_DOMAIN | DATABASES,
                             "a population is for methods of a table with one level for a whole column, such as "
                             "optimal, and for those of a database; take one of them"},
    [KN_FIELD_ATTRIBUTES] = {TABLES, "columns of a database are declared below its tables, values of trees as classes, "
                                     "both in the release file; roles, types and hierarchies of columns (--qi, "
                                     "--sensitive, --identifier, --keep, --weight, --count, --hierarchy, --attribute, "
                                     "--type) "
                                     "are of one table"},
    [KN_FIELD_ENTITY] = {TABLES | DATABASES | TREES, NULL},
    [KN_FIELD_RECORD] = {TREES,
                         "it names what is one record of XML or JSON (a release file with classes); entity says whose "
                         "row it is in a table or a database"},
    [KN_FIELD_RESOURCES] = {TREES, ONLY_TREES},
    [KN_FIELD_MISSING] = {TABLES, "missing cells of a database are a value, and trees have none; leave it out"},
    [KN_FIELD_SUPPRESSION] = {TABLES | TREES, SUPPRESSING},
    [KN_FIELD_SUPPRESSED] = {TABLES, "it says how suppressed rows of one table are shown; leave it out"},
    [KN_FIELD_DEPENDENCIES] = {TABLES | DATABASES,
                               "dependencies are those of a table, and trees have none; leave it out"},
    [KN_FIELD_UTILITY] = {FULL_DOMAIN, SEARCHING},
    [KN_FIELD_LEVELS] = {FULL_DOMAIN, LEVELS},
    [KN_FIELD_WORKLOAD] = {M(MONDRIAN_WORKLOAD), "the queries guide method mondrian-workload; kanon measure --workload "
                                                 "answers them on a release by any method"},
    [KN_FIELD_SUMMARY] = {TABLES, "only the release of a table has one; leave it out"},
    [KN_FIELD_SPREADSHEET_SAFE] = {TABLES | DATABASES | TREES, NULL},
    [KN_FIELD_EXPAND] = {TABLES, "only rows of one table are counted (role: count); leave it out"},
    [KN_FIELD_KEEP_ORDER] = {TABLES, "only the rows of one table can keep their order; persons and records are put in "
                                     "the order of what they show; leave it out"},
    [KN_FIELD_KEEP_RECIPE] = {TABLES, "only the release of a table leaves a recipe; leave it out"},
    [KN_OPTION_TIME_LIMIT] = {FULL_DOMAIN | TREES,
                              "the search of this method cannot be cut short; leave it out, or take "
                              "method auto, which stops trying then"},
    [KN_OPTION_SEED] = {M(HEURISTIC) | DATABASES | TREES, SEEDLESS},
    [KN_OPTION_CHOOSE] = {CHOOSING, "it is for mondrian, mondrian-relaxed and mondrian-best; take one of them, or "
                                    "leave it out"},
    [KN_OPTION_ROW_ORDER] = {M(KMSD) | M(KMSD_AG),
                             "it is for kmsd and kmsd-ag, as their paper has it; no other method goes "
                             "by the order of the input; leave it out"},
    [KN_OPTION_ALLOW_BROKEN] = {TABLES | DATABASES, "dependencies are those of a table; leave it out"},
    [KN_OPTION_THRESHOLD] = {DATABASES, ONLY_DATABASES},
    [KN_OPTION_CLIMIT] = {DATABASES, ONLY_DATABASES},
    [KN_OPTION_MATCHING] = {PAIRING, "it is for miracle, miracle-x and dmiracle, which pair the rows of two persons; "
                                     "take one of them, or leave it out"},
    [KN_OPTION_CLUSTERING] = {PAIRING | M(MIRACLE_X_LEVEL),
                              "it is for the methods of a database that pair the rows of two persons, such as "
                              "miracle-x; leave it out"},
    [KN_OPTION_LEFTOVERS] = {DATABASES, ONLY_DATABASES},
    [KN_OPTION_DIVERSITY] = {M(DMIRACLE),
                             "it is for method dmiracle; promise something about sensitive values of a database"},
    [KN_OPTION_COMPLETE] = {M(BITMAP), "it is for method bitmap of a database; take that, or leave it out"},
    [KN_OPTION_ANATOMY] = {M(DMIRACLE),
                           "an anatomy is made of diverse groups: it needs method dmiracle and a database"},
    [KN_OPTION_REFERENCE] = {PAIRING | M(MIRACLE_X_LEVEL) | TREES,
                             "bitmap and the methods of a table have no plain algorithm beside them; leave it out"},
    [KN_OPTION_G] = {M(GCS), "it is for method gcs of records that are trees; take that, or leave it out"},
    [KN_OPTION_SEMANTICS] = {TREES, ONLY_TREES},
    [KN_OPTION_STRICT_STRUCTURE] = {TREES, ONLY_TREES},
    [KN_OPTION_SUPPORT] = {TREES, ONLY_TREES},
    [KN_OPTION_DISASSOCIATION] = {M(GCS) | M(ACS),
                                  "it is for methods gcs and acs of records that are trees, which take relations away; "
                                  "leave it out"},
};

bool kn_method_uses(kn_method method, const char *field)
{
    for (int i = 0; i < KN_FIELDS_AND_OPTIONS; i++)
        if (strcmp(kn_field_name(i), field) == 0) return table[i].methods == 0 || (table[i].methods & 1u << method);
    return true;
}

/* ---- What was asked ---- */

/* Does the value change nothing? */
static bool is_idle(const kn_spec *s, int field)
{
    switch (field) {
    case KN_FIELD_MISSING: return s->missing == KN_MISSING_VALUE;
    case KN_FIELD_SUPPRESSION:
        return s->suppression_is_count ? s->suppression_rows == 0 : s->suppression.numerator == 0;
    case KN_FIELD_DEPENDENCIES: return s->dependency_count == 0;
    case KN_FIELD_UTILITY: return s->utility == KN_METRIC_LM && kn_spec_shape(s) != KN_SHAPE_RECORDS;
    case KN_FIELD_LEVELS: return s->level_count == 0;
    case KN_FIELD_SUMMARY: return !s->summary;
    case KN_FIELD_SPREADSHEET_SAFE: return !s->spreadsheet_safe;
    case KN_FIELD_EXPAND: return !s->expand;
    case KN_FIELD_REPLACE: return !s->replace;
    case KN_FIELD_KEEP_ORDER: return !s->keep_order;
    case KN_FIELD_KEEP_RECIPE: return !s->keep_recipe;
    case KN_FIELD_KEEP_ROWMAP: return !s->keep_rowmap;
    case KN_OPTION_TIME_LIMIT: return !(s->time_limit > 0);
    case KN_OPTION_ROW_ORDER: return !s->input_order;
    case KN_OPTION_ALLOW_BROKEN: return !s->allow_broken;
    case KN_OPTION_CLUSTERING: return s->clustering == KN_CLUSTERING_CDGH;
    case KN_OPTION_COMPLETE: return !s->complete;
    case KN_OPTION_ANATOMY: return !s->anatomy;
    case KN_OPTION_REFERENCE: return !s->reference;
    case KN_OPTION_STRICT_STRUCTURE: return !s->strict_structure;
    case KN_OPTION_DISASSOCIATION: return s->disassociation == KN_DISASSOCIATE_NODE;
    case KN_OPTION_SUPPORT: return s->support.numerator == 0;
    default: return false;
    }
}

static bool is_asked(const kn_spec_inner *inner, int field)
{
    const kn_spec *spec = &inner->state.spec;
    if (field == KN_FIELD_ATTRIBUTES) return spec->attribute_count > 0;
    return inner->state.said[field] && !is_idle(spec, field);
}

/* The methods that can be used. */
static unsigned methods_of(const kn_spec *spec)
{
    static const unsigned all[KN_SHAPES] = {TABLES, DATABASES, TREES};
    return spec->method_auto ? all[kn_spec_shape(spec)] : 1u << spec->method;
}

static bool is_cells(const kn_spec *spec)
{
    return spec->input_count == 1 && (kn_name_sqlite(spec->inputs[0]) || kn_name_server(spec->inputs[0]));
}

static kn_status refuse(const kn_spec_inner *inner, int field, const char *why, kn_error *err)
{
    static const char *const shapes[KN_SHAPES] = {"one table", "a database", "records that are trees"};
    const kn_spec           *spec = &inner->state.spec;
    const char              *said = inner->state.said[field];
    if (field == KN_FIELD_ATTRIBUTES && spec->table_count == 0 && is_cells(spec)) /* most likely one table is meant */
        return kn_spec_fail_place(inner, inner->state.places[field], err,
                                  "%s: the input is a whole database; one table of it is named sqlite:FILE#TABLE, or "
                                  "postgresql://...#SCHEMA.TABLE: #public.TABLE, since #TABLE alone is taken for a "
                                  "schema; columns of a database are declared below its tables, in the release file",
                                  said ? said : "attributes");
    return kn_spec_fail_place(inner, inner->state.places[field], err, "%s: %s (this is %s, by method %s)",
                              said ? said : "attributes", why, shapes[kn_spec_shape(spec)],
                              spec->method_auto ? "auto" : kn_method_name(spec->method));
}

/* ---- Where the data come from ---- */

/* Why a field of reading has no effect; NULL: it has. */
static const char *unread(const kn_spec *spec, int field)
{
    kn_shape shape = kn_spec_shape(spec);
    bool     typed = field == KN_FIELD_NA || field == KN_FIELD_TIMEZONE;
    if (spec->input_count == 1 && shape == KN_SHAPE_TABLE && !typed && field != KN_FIELD_RECORD &&
        kn_table_kind_of(spec->inputs[0]) != KN_TABLE_TEXT)
        return "it is for files of text, which this table is not; leave it out";
    bool files = shape == KN_SHAPE_RECORDS && spec->table_count == 0 && spec->input_count > 0;
    if (shape == KN_SHAPE_TABLE || (spec->input_count != 1 && !files)) return NULL;
    if (shape == KN_SHAPE_DATABASE || spec->table_count > 0) {
        if (field == KN_FIELD_RECORD)
            return "the records of a database are its persons, which entity names; leave it out";
        return is_cells(spec) && !typed ? "it is for files of text, which SQLite and a server are not; leave it out"
                                        : NULL;
    }
    kn_records_form form = kn_records_form_of(spec->inputs[0]);
    if (field == KN_FIELD_RECORD)
        return form == KN_RECORDS_XML || form == KN_RECORDS_JSON ||
                       strcmp(spec->record, "record") == 0 /* the usual one */
                   ? NULL
                   : "it is for XML and JSON; here each line is a record; leave it out";
    if (field == KN_FIELD_DELIMITER && form == KN_RECORDS_BASKETS) return NULL;
    return "it is for tables, and files of records do not have it; leave it out";
}

static kn_status check_reading(const kn_spec_inner *inner, kn_error *err)
{
    static const int fields[] = {KN_FIELD_DELIMITER, KN_FIELD_HEADER, KN_FIELD_ENCODING, KN_FIELD_DECIMAL,
                                 KN_FIELD_TIMEZONE,  KN_FIELD_NA,     KN_FIELD_RECORD};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const char *why = is_asked(inner, fields[i]) ? unread(&inner->state.spec, fields[i]) : NULL;
        if (why) return refuse(inner, fields[i], why, err);
    }
    return KN_OK;
}

/* ---- Where the release goes ---- */

static kn_status check_written(const kn_spec_inner *inner, kn_error *err)
{
    const kn_spec *spec = &inner->state.spec;
    kn_table_kind  kind = spec->output ? kn_table_kind_of(spec->output) : KN_TABLE_TEXT;
    bool           in_database = kind == KN_TABLE_SQLITE || kind == KN_TABLE_SERVER;
    bool           as_file = kn_spec_shape(spec) == KN_SHAPE_RECORDS && spec->output &&
                   !(spec->table_count > 0 && kn_database_named(spec->output));
    if (as_file && is_asked(inner, KN_OPTION_SEED)) return refuse(inner, KN_OPTION_SEED, SEEDLESS, err);
    if (as_file && is_asked(inner, KN_FIELD_SPREADSHEET_SAFE))
        return refuse(inner, KN_FIELD_SPREADSHEET_SAFE,
                      "it is for CSV, which is not how trees are written; leave it out", err);
    if (!is_asked(inner, KN_FIELD_REPLACE) || (in_database && kn_spec_shape(spec) == KN_SHAPE_TABLE)) return KN_OK;
    return refuse(inner, KN_FIELD_REPLACE, "it is for one table of a server or a SQLite file; leave it out", err);
}

/* ---- What is promised ---- */

static bool promises_about_values(const kn_spec *spec)
{
    for (int i = 0; i < spec->model_count; i++)
        if (kn_model_needs_attribute(spec->models[i].kind)) return true;
    return false;
}

static bool promises_about_population(const kn_spec *spec)
{
    for (int i = 0; i < spec->model_count; i++)
        if (spec->models[i].kind == KN_MODEL_K_MAP || spec->models[i].kind == KN_MODEL_PRESENCE) return true;
    return false;
}

/* Relations that are known not to be there: what they do not go with. */
static kn_status check_negative(const kn_spec_inner *inner, kn_error *err)
{
    const kn_spec *spec = &inner->state.spec;
    for (int i = 0; i < spec->class_count; i++) {
        const kn_spec_class *c = &spec->classes[i];
        const char          *why = NULL;
        if (!c->negative_relations) continue;
        for (int o = 0; o < spec->class_count; o++)
            if (spec->classes[o].negative) why = "values that may be known to be absent (negative: true)";
        if (spec->semantics == KN_SEMANTICS_PATHS) why = "semantics: paths";
        if (spec->strict_structure) why = "strict-structure";
        if (spec->model_count > 0) why = "a promise about sensitive values";
        if (spec->method == KN_METHOD_OCS && !spec->method_auto) why = "method ocs, which takes no relation away";
        if (why)
            return kn_spec_fail_place(inner, (kn_place){c->line, c->column}, err,
                                      "class \"%s\": negative: relations does not go with %s; leave one of them out",
                                      c->name, why);
        if (spec->kmn.k > 0 && spec->kmn.n == 0)
            return kn_spec_fail_place(inner, (kn_place){c->line, c->column}, err,
                                      "class \"%s\": negative: relations needs a k-mn with n of at least 1", c->name);
    }
    return KN_OK;
}

static kn_status check_promises(const kn_spec_inner *inner, kn_error *err)
{
    const kn_spec *spec = &inner->state.spec;
    kn_shape       shape = kn_spec_shape(spec);
    KN_TRY(kn_spec_check_items(inner, err));
    KN_TRY(check_negative(inner, err));
    if (is_asked(inner, KN_FIELD_POPULATION) && !promises_about_population(spec))
        return refuse(inner, KN_FIELD_POPULATION, "it is for k-map and delta-presence; promise one of them", err);
    if (is_asked(inner, KN_FIELD_KEEP_RECIPE) && (spec->population || kn_spec_counts_people(spec)))
        return refuse(inner, KN_FIELD_KEEP_RECIPE, "a recipe holds no population; leave one of them out", err);
    for (int i = 0; i < spec->attribute_count && is_asked(inner, KN_FIELD_KEEP_RECIPE); i++)
        if (spec->attributes[i].cut_by_order && spec->attributes[i].has_hierarchy)
            return refuse(inner, KN_FIELD_KEEP_RECIPE,
                          "a recipe holds no cuts in the order of a hierarchy (cuts: order); leave it out", err);
    if (shape == KN_SHAPE_RECORDS && spec->suppression_is_count)
        return refuse(inner, KN_FIELD_SUPPRESSION,
                      "trees have values and records instead of rows: give a share, such as 2%, of both", err);
    if (shape == KN_SHAPE_RECORDS && spec->strict_structure && spec->suppression.numerator > 0)
        return refuse(
            inner, KN_FIELD_SUPPRESSION,
            "what was below a value that is given up is where only a moved node can be, which strict-structure "
            "hides; leave one of them out",
            err);
    if (is_asked(inner, KN_OPTION_ALLOW_BROKEN) && spec->dependency_count == 0)
        return refuse(inner, KN_OPTION_ALLOW_BROKEN, "no dependency is declared that could be broken; leave it out",
                      err);
    if (is_asked(inner, KN_OPTION_DIVERSITY) && !promises_about_values(spec))
        return refuse(inner, KN_OPTION_DIVERSITY,
                      "it says how promises about sensitive values are kept; promise one, such as l-diversity", err);
    if (is_asked(inner, KN_FIELD_ENTITY) && shape == KN_SHAPE_RECORDS && spec->table_count == 0)
        return refuse(inner, KN_FIELD_ENTITY, "each record is a person of its own; record says what is one", err);
    if (is_asked(inner, KN_FIELD_ENTITY) && shape != KN_SHAPE_TABLE && !spec->entity_table)
        return refuse(inner, KN_FIELD_ENTITY,
                      "of a database name the table of persons, entity: {table: TABLE, key: COLUMN}", err);
    return KN_OK;
}

/* ---- How persons are put together ---- */

static kn_status check_clustering(const kn_spec_inner *inner, kn_error *err)
{
    const kn_spec *spec = &inner->state.spec;
    if (spec->clustering == KN_CLUSTERING_CDGH) return KN_OK;
    for (int field = KN_OPTION_THRESHOLD; field <= KN_OPTION_CLIMIT; field++)
        if (is_asked(inner, field))
            return refuse(inner, field, "it says when clustering cdgh begins a cluster; leave one of them out", err);
    if (is_asked(inner, KN_OPTION_DIVERSITY) && spec->diversity == KN_DIVERSITY_DISTANCE)
        return refuse(inner, KN_OPTION_DIVERSITY,
                      "only clustering cdgh keeps persons apart by distance; leave one of them out", err);
    return KN_OK;
}

/* ---- Columns ---- */

static bool carries_population(const kn_attribute *a)
{
    return a->has_hierarchy && a->hierarchy.population;
}

bool kn_spec_counts_people(const kn_spec *spec)
{
    for (int i = 0; i < spec->attribute_count; i++)
        if (spec->attributes[i].role == KN_ROLE_QUASI && carries_population(&spec->attributes[i])) return true;
    return false;
}

/* Why a hierarchy cannot carry a population, or must; NULL: it is as it should be. */
static const char *wrong_population(const kn_spec *spec, const char *table_name, const kn_attribute *a)
{
    if (!carries_population(a))
        return !table_name && a->role == KN_ROLE_QUASI && kn_spec_counts_people(spec)
                   ? "its hierarchy carries no population and another one does: those who share their values are "
                     "counted over all quasi-identifiers; give each hierarchy one, or give a population table"
                   : NULL;
    if (table_name || kn_spec_shape(spec) != KN_SHAPE_TABLE)
        return "the population of a hierarchy is for one table; leave it out";
    if (a->role != KN_ROLE_QUASI) return "only the hierarchy of a quasi-identifier carries a population; leave it out";
    if (!(methods_of(spec) & FULL_DOMAIN))
        return "only methods with one level for a whole column, such as optimal, use a population; take one of them";
    if (!promises_about_population(spec))
        return "the population of a hierarchy is for k-map and delta-presence; promise one of them";
    return spec->population ? "there is a population table too, which says more; leave one of them out" : NULL;
}

/* Is a hierarchical distance promised of it? */
static bool has_distance(const kn_spec *spec, const char *table_name, const char *name)
{
    for (int i = 0; i < spec->model_count; i++) {
        const char *of = spec->models[i].attribute;
        size_t      size = table_name ? strlen(table_name) : 0;
        if (spec->models[i].kind != KN_MODEL_T_HIERARCHICAL) continue;
        if (!of || strcmp(of, name) == 0) return true;
        if (size > 0 && strncmp(of, table_name, size) == 0 && of[size] == '.' && strcmp(of + size + 1, name) == 0)
            return true;
    }
    return table_name && kn_spec_shape(spec) == KN_SHAPE_RECORDS; /* it is the class's */
}

static kn_status check_columns(const kn_spec_inner *inner, const char *table_name, const kn_attribute *list, int count,
                               kn_error *err)
{
    const kn_spec *spec = &inner->state.spec;
    kn_shape       shape = kn_spec_shape(spec);
    for (int i = 0; i < count; i++) {
        const kn_attribute *a = &list[i];
        bool                weighted = a->weight.numerator != a->weight.denominator;
        const char         *why = NULL;
        if (a->role == KN_ROLE_SET && table_name)
            why =
                "role set: only one table has a column of sets; of a database, items are rows of a table of their own";
        else if (a->role == KN_ROLE_COUNT && table_name)
            why = "role count: only rows of one table can stand for several; a row of a database is one; leave it out";
        else if (a->cut_by_order && !(methods_of(spec) & PARTITION))
            why = "cuts are made by partitioning alone; take method mondrian, or leave them out";
        else if ((a->min_level >= 0 || a->max_level >= 0) && !(methods_of(spec) & FULL_DOMAIN))
            why = "min-level and max-level: " LEVELS;
        else if (a->pseudonym_key_file && shape != KN_SHAPE_TABLE)
            why = "a pseudonym is made in one table only; keys of a database are drawn anew anyway; leave it out";
        else if (weighted && shape == KN_SHAPE_RECORDS)
            why = "a value of trees weighs what its class does (classes: ...); leave the weight of the column out";
        else if (a->has_hierarchy && a->role == KN_ROLE_SENSITIVE && !has_distance(spec, table_name, a->name))
            why = "the hierarchy of a sensitive column is used only by t-closeness with distance: hierarchical; "
                  "promise that, or leave it out";
        else
            why = wrong_population(spec, table_name, a);
        if (why)
            return kn_spec_fail_place(inner, (kn_place){a->line, a->column}, err, "column \"%s\": %s", a->name, why);
    }
    return KN_OK;
}

/* ---- Counted rows ---- */

/* Why rows that stand for several cannot have it; NULL: they can. */
static const char *uncounted(const kn_attribute *a)
{
    if (a->role == KN_ROLE_KEEP)
        return "a kept column tells rows apart that are counted as equal; make it sensitive, or leave it out";
    if (a->role == KN_ROLE_IDENTIFIER && a->pseudonym_key_file)
        return "a pseudonym is one person's, and a counted row stands for several; leave it out";
    if (a->role == KN_ROLE_COUNT && a->type != KN_TYPE_AUTO && a->type != KN_TYPE_INTEGER)
        return "counts are integers; leave the type out";
    return NULL;
}

static kn_status check_counted(const kn_spec_inner *inner, kn_error *err)
{
    static const struct {
        int         field;
        const char *why;
    } fields[] = {
        {KN_FIELD_ENTITY, "a counted row stands for several and does not say whose they are; leave it out"},
        {KN_FIELD_SUMMARY, "its check needs to know which row became which, and counted rows have no number of their "
                           "own; leave it out"},
        {KN_FIELD_KEEP_ORDER, "rows that are counted stand in no order; leave it out"},
        {KN_FIELD_KEEP_ROWMAP, "rows that are counted have no number of their own; leave it out"},
        {KN_OPTION_ROW_ORDER, "rows that are counted stand in no order; leave it out"},
    };
    const kn_spec *spec = &inner->state.spec;
    int            counts = 0;
    for (int i = 0; i < spec->attribute_count; i++) {
        const kn_attribute *a = &spec->attributes[i];
        const char         *why = spec->csv.count ? uncounted(a) : NULL;
        if (a->role == KN_ROLE_COUNT && ++counts > 1) why = "it is a second count; a row has one";
        if (why)
            return kn_spec_fail_place(
                inner, (kn_place){a->line, a->column}, err, "column \"%s\": %s%s", a->name,
                spec->csv.count && a->role != KN_ROLE_COUNT ? "rows are counted (role: count): " : "", why);
    }
    if (!spec->csv.count && is_asked(inner, KN_FIELD_EXPAND))
        return refuse(inner, KN_FIELD_EXPAND, "no column counts rows (role: count, --count); leave it out", err);
    for (size_t i = 0; spec->csv.count && i < sizeof fields / sizeof *fields; i++)
        if (is_asked(inner, fields[i].field)) return refuse(inner, fields[i].field, fields[i].why, err);
    return KN_OK;
}

/* ---- All of it ---- */

kn_status kn_spec_check_use(kn_spec *spec, kn_error *err)
{
    kn_spec_inner *inner = kn_spec_inside(spec);
    KN_TRY(kn_spec_check_shape(inner, err));
    return kn_spec_check_applies(inner, err);
}

kn_status kn_spec_check_applies(const kn_spec_inner *inner, kn_error *err)
{
    const kn_spec *spec = &inner->state.spec;
    for (int field = 0; field < KN_FIELDS_AND_OPTIONS; field++) {
        const entry *e = &table[field];
        if (e->methods == 0 || !is_asked(inner, field) || (e->methods & methods_of(spec))) continue;
        if (field == KN_OPTION_TIME_LIMIT && spec->method_auto) continue; /* of trying: whatever is tried */
        return refuse(inner, field, e->refusal, err);
    }
    KN_TRY(check_reading(inner, err));
    KN_TRY(check_written(inner, err));
    KN_TRY(check_promises(inner, err));
    KN_TRY(check_clustering(inner, err));
    KN_TRY(kn_spec_check_levels(inner, err));
    KN_TRY(check_counted(inner, err));
    KN_TRY(check_columns(inner, NULL, spec->attributes, spec->attribute_count, err));
    for (int t = 0; t < spec->table_count; t++) {
        const kn_spec_table *s = &spec->tables[t];
        KN_TRY(check_columns(inner, s->name, s->attributes, s->attribute_count, err));
        if (s->has_weight && kn_spec_shape(spec) == KN_SHAPE_RECORDS)
            return kn_spec_fail_place(
                inner, (kn_place){s->line, s->column}, err,
                "table \"%s\": a value of trees weighs what its class does (classes: ...); leave the weight out",
                s->name);
    }
    return KN_OK;
}
