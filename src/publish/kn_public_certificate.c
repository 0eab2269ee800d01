/* kn_public_certificate.c: the facts of a release as its certificate (kn_public.h; docs/certificate.md explains every key): a
 * document for each shape, every field of which may be published. Equal facts and requests give equal bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#include <kanon/catalogue.h>
#include <math.h>

#include "kn_certificate_fields.h"
#include "kn_error.h"
#include "kn_public.h"
#include "kn_request_document.h"

#define P(type) ((type) | KN_F_PUBLIC)
#define OPTION(type) ((type) | KN_F_PUBLIC | KN_F_OPTIONAL)

/* ---- Parts ---- */

static const kn_field_row option_rows[] = {
    KN_VALUE_WORDS("suppressed", kn_suppressed_name, KN_SUPPRESSED_KEEP_SENSITIVE, OPTION(0),
                   "of a table: how suppressed rows are shown: 'star', 'drop' or 'keep-sensitive'"),
    KN_VALUE("missing", OPTION(KN_F_TEXT), "of a table: what a missing cell means: 'value' or 'drop'"),
    KN_VALUE("keep-order", OPTION(KN_F_BOOLEAN), "of a table: whether rows stayed in their order"),
    KN_VALUE("missing-text", OPTION(KN_F_TEXT), "how a missing cell is written, where it is not empty"),
    KN_VALUE("spreadsheet-safe", OPTION(KN_F_BOOLEAN),
             "true: cells that a spreadsheet would execute have an apostrophe in front"),
    KN_VALUE("entity", OPTION(KN_F_BOOLEAN), "true: several rows may belong to one person"),
    KN_VALUE("anatomy", OPTION(KN_F_BOOLEAN),
             "of a database: true: values stand as they were, sensitive ones by groups"),
    KN_VALUE("references", OPTION(KN_F_TEXTS), "of a database: tables that were copied, some with broader rows added"),
    KN_VALUE_WORDS("semantics", kn_semantics_name, KN_SEMANTICS - 1, OPTION(0),
                   "of records: what somebody may know of relations: 'pairs' or 'paths'"),
    KN_VALUE("strict-structure", OPTION(KN_F_BOOLEAN), "of records: whether rare positions count too"),
    KN_VALUE_WORDS(
        "disassociation", kn_disassociate_name, KN_DISASSOCIATES - 1, OPTION(0),
        "of records: what moved where a relation vanished, where it is not the lower node alone: 'subtree' or "
        "'ancestor'"),
    KN_VALUE("decimal", OPTION(KN_F_TEXT), "the decimal mark, where it is a comma"),
};
static const kn_fields options_part = KN_FIELDS_PUT("options", option_rows);

#define HIERARCHY_ROW(optional)                                                                                        \
    KN_VALUE_OF("hierarchy", P(KN_F_OBJECT) | KN_F_NULLABLE | (optional), &kn_hierarchy_part,                          \
                "how its hierarchy was given; null: there is none")

static const kn_field_row column_rows[] = {
    KN_VALUE("name", P(KN_F_TEXT), "the column's name"),
    KN_VALUE_WORDS("role", kn_role_name, KN_ROLE_SET, OPTION(0),
                   "its role, as declared; absent of a column that was not"),
    KN_VALUE("released", OPTION(KN_F_TEXT), "'pseudonym': an identifier that is shown as a keyed code"),
    KN_VALUE("type", OPTION(KN_F_TEXT), "its type, where it was declared"),
    KN_VALUE("format", OPTION(KN_F_TEXT), "the format of its dates, where it was declared"),
    HIERARCHY_ROW(KN_F_OPTIONAL),
    KN_VALUE("separator", OPTION(KN_F_TEXT), "of a set: what stands between its items"),
    KN_VALUE("weight", OPTION(KN_F_NUMBER), "how much it counts in the metrics, where that is not 1"),
    KN_VALUE("min-level", OPTION(KN_F_LEVEL), "the lowest level that was allowed, where that was asked for"),
    KN_VALUE("max-level", OPTION(KN_F_LEVEL), "the highest level that was allowed, where that was asked for"),
    KN_VALUE("labels", OPTION(KN_F_COUNT), "different texts that it shows, missing cells and suppressed rows aside"),
    KN_VALUE("stars", OPTION(KN_F_ROWS), "rows that show *, suppressed rows aside"),
    KN_VALUE(
        "level", OPTION(KN_F_LEVEL) | KN_F_NULLABLE,
        "the lowest level at which all these texts may stand; null: none, or without a hierarchy it cannot be said"),
    KN_VALUE("lm", OPTION(KN_F_SHARE), "the mean loss of its cells; null: the release cannot say"),
};
static const kn_fields column_part = KN_FIELDS_PUT("column", column_rows);

static const kn_field_row table_part_rows[] = {
    KN_VALUE("name", P(KN_F_TEXT), "the table's name"),
    KN_VALUE("rows", P(KN_F_ROWS), "rows of the release"),
    KN_VALUE_OF("columns", P(KN_F_LIST), &column_part, "its columns"),
};
static const kn_fields table_part = KN_FIELDS_PUT("table", table_part_rows);

static const kn_field_row class_rows[] = {
    KN_VALUE("name", P(KN_F_TEXT), "the name of a class of nodes"),
    KN_VALUE("role", P(KN_F_TEXT), "'quasi' or 'sensitive'"),
    KN_VALUE("negative", OPTION(KN_F_BOOLEAN), "true: somebody may know that a value is absent"),
    KN_VALUE("negative_relations", OPTION(KN_F_BOOLEAN),
             "true: somebody may know that a value does not stand below another"),
    HIERARCHY_ROW(0),
};
static const kn_fields class_part = KN_FIELDS_PUT("class", class_rows);

static const kn_field_row size_rows[] = {
    KN_FIELD(kn_public_size, size, P(KN_F_COUNT), "rows, or persons, of a class"),
    KN_FIELD(kn_public_size, classes, P(KN_F_CLASSES), "classes of that size"),
};
static const kn_fields size_part = KN_FIELDS(kn_public_size, "size", size_rows, NULL);

static const kn_field_row model_rows[] = {
    KN_REQUEST_MODEL_ROWS,
    KN_VALUE("in_release", P(KN_F_NUMBER),
             "what its worst class reaches; null: the release cannot say, or without a bound"),
};
static const kn_fields model_part = KN_FIELDS_PUT("model", model_rows);

static const kn_field_row metrics_rows[] = {
    KN_FIELD(kn_public, lm, P(KN_F_SHARE), "the mean loss of quasi-identifiers"),
    KN_FIELD(kn_public, dm, P(KN_F_NUMBER),
             "sum of squared class sizes, and all rows for each suppressed row that is shown"),
    KN_VALUE("c_avg", OPTION(KN_F_NUMBER), "of a table: rows of the average class, in units of k"),
};
static const kn_fields metrics_part = KN_FIELDS(kn_public, "metrics", metrics_rows, NULL);

/* ---- The three shapes ---- */

#define HEAD_ROWS                                                                                                      \
    KN_VALUE("kanon-certificate", P(KN_F_COUNT), "the version of this format: 2"),                                     \
        KN_VALUE_WORDS("shape", kn_shape_name, KN_SHAPES - 1, P(0), "'table', 'database' or 'records'"),               \
        KN_VALUE("method", P(KN_F_TEXT), "the method, as it was asked for"),                                           \
        KN_VALUE_OF("options", P(KN_F_OBJECT), &options_part, "how things are shown, as asked"),                       \
        KN_VALUE_OF("requested", P(KN_F_OBJECT), &kn_requested_part, "what was promised")

#define CLASSES_ROWS                                                                                                   \
    KN_VALUE("k", P(KN_F_COUNT) | KN_F_NULLABLE,                                                                       \
             "rows, or persons, of the smallest class; null: there is none, or "                                       \
             "the release cannot say"),                                                                                \
        KN_VALUE("classes", P(KN_F_CLASSES) | KN_F_NULLABLE, "classes of those who look alike; null: it cannot say"),  \
        KN_VALUE_OF("sizes", OPTION(KN_F_LIST), &size_part, "how many classes have which size, ascending"),            \
        KN_VALUE_OF("metrics", OPTION(KN_F_OBJECT), &metrics_part, "what a reader sees to be lost")

#define TAIL_ROWS                                                                                                      \
    KN_VALUE_OF("models", P(KN_F_LIST), &model_part, "the promises, and what the release shows of them"),              \
        KN_VALUE("verified", P(KN_F_BOOLEAN),                                                                          \
                 "true: every promise was derived anew from these bytes and the original before the file got its "     \
                 "name"),                                                                                              \
        KN_VALUE_OF("files", OPTION(KN_F_LIST), &kn_file_part, "of a folder: its files"),                              \
        KN_VALUE("sha256", OPTION(KN_F_TEXT), "SHA-256 of the release, where it is one file"),                         \
        KN_VALUE("version", P(KN_F_TEXT) | KN_F_NULLABLE, "the version of kanon")

static const kn_field_row table_rows[] = {
    HEAD_ROWS,
    KN_VALUE_OF("columns", P(KN_F_LIST), &column_part, "the released columns, in the order they were declared"),
    KN_VALUE("dependencies", OPTION(KN_F_TEXTS), "those that were declared; they hold in the release"),
    KN_VALUE("node", P(KN_F_LEVELS) | KN_F_NULLABLE,
             "of full-domain methods: the lowest level of each quasi-identifier that its labels admit; else null"),
    KN_VALUE("rows", P(KN_F_ROWS), "rows of the release"),
    KN_VALUE("suppressed", OPTION(KN_F_ROWS),
             "rows that are shown as suppressed; absent where such rows leave no trace"),
    CLASSES_ROWS,
    TAIL_ROWS,
};
const kn_fields kn_certificate_of_table = KN_ANSWER(char, "certificate", table_rows, NULL,
                                                    "What does the release of a table promise, and what does it show?");

static const kn_field_row database_rows[] = {
    HEAD_ROWS,
    KN_VALUE_OF("tables", P(KN_F_LIST), &table_part, "the released tables"),
    KN_VALUE("persons", P(KN_F_PERSONS), "persons of the release"),
    CLASSES_ROWS,
    TAIL_ROWS,
};
const kn_fields kn_certificate_of_database =
    KN_ANSWER(char, "certificate-database", database_rows, NULL,
              "What does the release of a database promise, and what does it show?");

static const kn_field_row records_rows[] = {
    HEAD_ROWS,
    KN_VALUE_OF("classes_of_nodes", P(KN_F_LIST), &class_part, "the classes of nodes, as they nest"),
    KN_VALUE("records", P(KN_F_RECORDS), "records of the release"),
    KN_VALUE("nodes", P(KN_F_COUNT), "nodes below the records' roots"),
    KN_VALUE("relations", P(KN_F_COUNT), "pairs of a node and one above it"),
    KN_VALUE("values", P(KN_F_COUNT), "different values that are shown"),
    TAIL_ROWS,
};
const kn_fields kn_certificate_of_records =
    KN_ANSWER(char, "certificate-records", records_rows, NULL,
              "What does the release of tree records promise, and what does it show?");

/* ---- The request ---- */

static void put_references(kn_to o, const kn_spec *spec)
{
    kn_to list;
    bool  any = false;
    for (int i = 0; i < spec->table_count; i++) {
        if (!spec->tables[i].reference) continue;
        if (!any) list = kn_put_list(o, "references");
        kn_append_text(list, spec->tables[i].name);
        any = true;
    }
}

static void put_options(kn_to o, const kn_public *p)
{
    const kn_spec *spec = p->spec;
    if (p->shape == KN_SHAPE_TABLE) {
        kn_put_text(o, "suppressed", kn_suppressed_name(spec->suppressed));
        kn_put_text(o, "missing", kn_missing_name(spec->missing));
        kn_put_boolean(o, "keep-order", spec->keep_order);
        if (p->missing && *p->missing) kn_put_text(o, "missing-text", p->missing);
        if (spec->spreadsheet_safe) kn_put_boolean(o, "spreadsheet-safe", true);
        if (p->linked) kn_put_boolean(o, "entity", true);
    }
    if (p->shape == KN_SHAPE_DATABASE && spec->anatomy) kn_put_boolean(o, "anatomy", true);
    if (p->shape == KN_SHAPE_DATABASE) put_references(o, spec);
    if (p->shape == KN_SHAPE_RECORDS) {
        kn_put_text(o, "semantics", kn_semantics_name(spec->semantics));
        kn_put_boolean(o, "strict-structure", spec->strict_structure);
        if (spec->disassociation != KN_DISASSOCIATE_NODE)
            kn_put_text(o, "disassociation", kn_disassociate_name((kn_disassociate)spec->disassociation));
    }
    if (spec->csv.decimal == ',') kn_put_text(o, "decimal", ",");
}

/* ---- Columns ---- */

static bool has_levels(const kn_public *p)
{
    return p->shape == KN_SHAPE_TABLE && !p->spec->method_auto &&
           kn_method_family(p->spec->method) == KN_FAMILY_FULL_DOMAIN;
}

static void put_count(kn_to o, const char *key, int64_t count, bool known)
{
    if (known)
        kn_put_integer(o, key, count);
    else
        kn_put_null(o, key);
}

static void put_bounds(kn_to o, const kn_spec *spec, const kn_attribute *a)
{
    int low, high;
    if (!kn_spec_level_bounds(spec, kn_spec_find(spec, a->name), &low, &high)) return;
    if (low >= 0) kn_put_integer(o, "min-level", low);
    if (high >= 0) kn_put_integer(o, "max-level", high);
}

static void put_column(kn_to o, const kn_public *p, const kn_public_column *c)
{
    kn_put_text(o, "name", c->name);
    if (!c->attribute) return;
    const kn_attribute *a = c->attribute;
    kn_put_text(o, "role", kn_role_name(a->role));
    if (c->pseudonym) kn_put_text(o, "released", "pseudonym");
    if (a->type != KN_TYPE_AUTO) kn_put_text(o, "type", kn_type_name(a->type));
    if (a->format) kn_put_text(o, "format", a->format);
    if (a->role == KN_ROLE_SET) kn_put_text(o, "separator", a->separator ? a->separator : ";");
    if (a->role == KN_ROLE_QUASI || a->has_hierarchy)
        kn_put_hierarchy(o, "hierarchy", a->has_hierarchy ? &a->hierarchy : NULL);
    if (a->role != KN_ROLE_QUASI) return;
    if (a->weight.numerator != a->weight.denominator) kn_put_ratio(o, "weight", a->weight);
    put_bounds(o, p->spec, a);
    kn_put_integer(o, "labels", c->labels);
    kn_put_integer(o, "stars", c->stars);
    if (has_levels(p)) put_count(o, "level", c->level, c->level >= 0);
    if (!p->spec->anatomy || p->shape != KN_SHAPE_DATABASE) kn_put_number(o, "lm", c->lm);
}

static void put_columns(kn_to o, const kn_public *p, const kn_public_part *part)
{
    kn_to list = kn_put_list(o, "columns");
    for (int c = 0; c < part->column_count; c++) put_column(kn_append_object(list), p, &part->columns[c]);
}

static void put_tables(kn_to to, const kn_public *p)
{
    kn_to list = kn_put_list(to, "tables");
    for (int t = 0; t < p->part_count; t++) {
        kn_to o = kn_append_object(list);
        kn_put_text(o, "name", p->parts[t].name);
        kn_put_integer(o, "rows", p->parts[t].rows);
        put_columns(o, p, &p->parts[t]);
    }
}

static void put_classes_of_nodes(kn_to to, const kn_spec *spec)
{
    kn_to list = kn_put_list(to, "classes_of_nodes");
    for (int i = 0; i < spec->class_count; i++) {
        const kn_spec_class *c = &spec->classes[i];
        kn_to                o = kn_append_object(list);
        kn_put_text(o, "name", c->name);
        kn_put_text(o, "role", c->sensitive ? "sensitive" : "quasi");
        if (c->negative) kn_put_boolean(o, "negative", true);
        if (c->negative_relations) kn_put_boolean(o, "negative_relations", true);
        kn_put_hierarchy(o, "hierarchy", c->has_hierarchy ? &c->hierarchy : NULL);
    }
}

/* In the order in which the quasi-identifiers were declared. */
static void put_node(kn_to to, const kn_public *p)
{
    if (!has_levels(p)) {
        kn_put_null(to, "node");
        return;
    }
    kn_to list = kn_put_list(to, "node");
    for (int i = 0; i < p->spec->attribute_count; i++) {
        if (p->spec->attributes[i].role != KN_ROLE_QUASI) continue;
        for (int c = 0; c < p->parts[0].column_count; c++)
            if (p->parts[0].columns[c].attribute == &p->spec->attributes[i])
                kn_append_level(list, p->parts[0].columns[c].level);
    }
}

/* ---- Figures ---- */

static void put_models(kn_to to, const kn_public *p)
{
    kn_to list = kn_put_list(to, "models");
    for (int i = 0; i < p->spec->model_count; i++) {
        kn_to o = kn_append_object(list);
        kn_put_request_model(o, &p->spec->models[i]);
        kn_put_number(o, "in_release", p->in_release[i]);
    }
}

static void put_classes(kn_to o, const kn_public *p)
{
    put_count(o, "k", p->k, p->k > 0);
    put_count(o, "classes", p->classes, p->classes >= 0);
    if (p->classes < 0) return;
    kn_put_parts(o, "sizes", p->sizes, p->size_count);
    kn_to metrics = kn_put_object(o, "metrics");
    kn_put_struct(metrics, p);
    if (p->shape == KN_SHAPE_TABLE) kn_put_number(metrics, "c_avg", p->c_avg);
}

static void put_table(kn_to o, const kn_public *p)
{
    put_columns(o, p, &p->parts[0]);
    if (p->spec->dependency_count > 0 && !p->spec->allow_broken) /* all of them hold: the verifier said so */
        kn_put_texts(o, "dependencies", p->spec->dependencies, p->spec->dependency_count);
    put_node(o, p);
    kn_put_integer(o, "rows", p->units);
    if (p->suppressed >= 0) kn_put_integer(o, "suppressed", p->suppressed);
    put_classes(o, p);
}

static void put_shape(kn_to o, const kn_public *p)
{
    switch (p->shape) {
    case KN_SHAPE_TABLE: put_table(o, p); break;
    case KN_SHAPE_DATABASE:
        put_tables(o, p);
        kn_put_integer(o, "persons", p->units);
        put_classes(o, p);
        break;
    case KN_SHAPE_RECORDS:
        put_classes_of_nodes(o, p->spec);
        kn_put_integer(o, "records", p->units);
        kn_put_integer(o, "nodes", p->nodes);
        kn_put_integer(o, "relations", p->relations);
        kn_put_integer(o, "values", p->values);
        break;
    }
    put_models(o, p);
}

kn_status kn_public_certificate(kn_buffer *to, const kn_public *p, const kn_public_seal *seal, kn_error *err)
{
    static const kn_fields *const shapes[] = {&kn_certificate_of_table, &kn_certificate_of_database,
                                              &kn_certificate_of_records};
    kn_document                  *doc;
    KN_TRY(kn_document_begin(&doc, p->ctx, shapes[p->shape], err));
    kn_to o = kn_document_top(doc);
    kn_put_integer(o, "kanon-certificate", 2);
    kn_put_text(o, "shape", kn_shape_name(p->shape));
    kn_put_text(o, "method", p->spec->method_auto ? "auto" : kn_method_name(p->spec->method));
    put_options(kn_put_object(o, "options"), p);
    kn_put_requested(o, "requested", p->spec);
    put_shape(o, p);
    kn_put_boolean(o, "verified", true);
    if (seal->folder)
        kn_put_files(o, "files", seal->names, seal->digests, seal->file_count);
    else if (seal->file_count == 1)
        kn_put_text(o, "sha256", seal->digests[0]);
    kn_put_text(o, "version", seal->version);
    return kn_document_render(to, doc, err);
}
