/* private.c: the private file beside a release of any shape (kn_private.h; docs/certificate.md explains every key): a document
 * for each shape. Equal runs give equal bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kn_private.h"

#include <inttypes.h>
#include <kanon/catalogue.h>
#include <stdio.h>

#include "kn_error.h"
#include "kn_names.h"
#include "kn_private_fields.h"
#include "kn_release_distributions.h"
#include "kn_request_document.h"

/* ---- Parts ---- */

static const kn_field_row input_rows[] = {
    KN_VALUE("path", KN_F_TEXT | KN_F_NULLABLE, "what was read, without a password; null: a server"),
    KN_VALUE("sha256", KN_F_TEXT | KN_F_NULLABLE, "its SHA-256; null: it is no single file"),
};
static const kn_fields input_part = KN_FIELDS_PUT("input", input_rows);

static const kn_field_row among_rows[] = {
    KN_FIELD_WORDS(kn_advice_candidate, method, kn_method_name, KN_METHODS - 1, 0, "a method that had a release"),
    KN_FIELD(kn_advice_candidate, loss, KN_F_NUMBER, "its loss, by the metric"),
    KN_FIELD(kn_advice_candidate, suppressed, KN_F_COUNT, "rows or persons that it leaves out"),
};
static const kn_fields among_part = KN_FIELDS(kn_advice_candidate, "candidate", among_rows, NULL);

static const kn_field_row chosen_rows[] = {
    KN_VALUE("by", KN_F_TEXT, "who chose: 'auto'"),
    KN_FIELD(kn_advice, metric, KN_F_TEXT, "the metric that methods were compared by"),
    KN_VALUE_OF("among", KN_F_LIST, &among_part, "the methods that had a release"),
};
static const kn_fields chosen_part = KN_FIELDS(kn_advice, "chosen", chosen_rows, NULL);

static const kn_field_row model_rows[] = {
    KN_REQUEST_MODEL_ROWS,
    KN_FIELD(kn_release_model, reached, KN_F_NUMBER,
             "what the release reaches; null: without a bound, or nothing is left that it is about"),
    KN_FIELD(kn_release_model, original, KN_F_NUMBER, "what the original reaches; null: not known, or without a bound"),
};
static const kn_fields model_part = KN_FIELDS(kn_release_model, "model", model_rows, NULL);

static const char *bar_kind_name(kn_bar_kind kind)
{
    static const char *const names[KN_BAR_KINDS] = {"value", "range", "others", "absent", "missing", "star"};
    return kind < KN_BAR_KINDS ? names[kind] : NULL;
}

static const kn_field_row bar_rows[] = {
    KN_FIELD_WORDS(
        kn_release_bar, kind, bar_kind_name, KN_BAR_KINDS - 1, 0,
        "what the bar stands for: a 'value' of the original, a 'range' of numbers or dates, all 'others', values "
        "of a hierarchy that the original does not have ('absent'), 'missing' cells, or cells that show * "
        "('star')"),
    KN_FIELD(kn_release_bar, label, KN_F_TEXT | KN_F_OPTIONAL,
             "the value, cut where it is long, or the ends of the range"),
    KN_FIELD(kn_release_bar, before, KN_F_CELLS, "cells of the original; of records: nodes"),
    KN_FIELD(kn_release_bar, after, KN_F_NUMBER,
             "the same of the release; what stands for several values is shared by them evenly"),
};
static const kn_fields bar_part = KN_FIELDS(kn_release_bar, "bar", bar_rows, NULL);

#define S kn_release_distribution
static const kn_field_row distribution_rows[] = {
    KN_FIELD(S, table, KN_F_TEXT | KN_F_OPTIONAL, "of a database: the table's name"),
    KN_FIELD(S, name, KN_F_TEXT, "the column's name; of records: the class's"),
    KN_FIELD_WORDS(S, role, kn_role_name, KN_ROLE_SET, 0, "its role"),
    KN_FIELD(S, ordered, KN_F_BOOLEAN,
             "whether the bars are in the order of numbers or dates, not the most frequent first"),
    KN_FIELD(S, values, KN_F_COUNT, "different values of the original"),
    KN_FIELD(S, folded, KN_F_COUNT, "... that are together the bar 'others'"),
    KN_FIELD(S, before, KN_F_CELLS, "cells of the original; of records: nodes"),
    KN_FIELD(S, after, KN_F_CELLS, "the same of the release"),
    KN_FIELD(
        S, distance, KN_F_SHARE,
        "of the cells that would have to change to make the release look like the original (total variation), by range "
        "or value; null: no cell is left"),
    KN_FIELD_LIST(S, bars, bar_count, &bar_part, KN_F_LIST, "how its values are spread, before and after"),
};
#undef S
static const kn_fields distribution_part = KN_FIELDS(kn_release_distribution, "distribution", distribution_rows, NULL);

#define LIMIT_ROW KN_VALUE("time-limit", KN_F_SECONDS, "of the search; null: none")
#define HEAD_ROWS(options)                                                                                             \
    KN_VALUE("kanon-private", KN_F_COUNT, "the version of this format: 3"),                                            \
        KN_VALUE_WORDS("shape", kn_shape_name, KN_SHAPES - 1, 0, "'table', 'database' or 'records'"),                  \
        KN_VALUE_OF("files", KN_F_LIST | KN_F_OPTIONAL, &kn_file_part, "of a folder: the files of the release"),       \
        KN_VALUE("release_sha256", KN_F_TEXT | KN_F_OPTIONAL, "SHA-256 of the release, where it is one file"),         \
        KN_VALUE("seed", KN_F_TEXT, "the seed that was used, as a text: a number might lose digits"),                  \
        KN_VALUE_OF("inputs", KN_F_LIST, &input_part, "what was read"),                                                \
        KN_VALUE("method", KN_F_TEXT, "the method that was used"),                                                     \
        KN_VALUE_OF("chosen", KN_F_OBJECT | KN_F_OPTIONAL, &chosen_part, "with method auto: how it was chosen"),       \
        KN_VALUE_OF("options", KN_F_OBJECT, options, "what was asked of the method"),                                  \
        KN_VALUE_OF("requested", KN_F_OBJECT, &kn_requested_part, "what was promised"),                                \
        KN_VALUE("complete", KN_F_BOOLEAN, "false: the time limit ended the search"),                                  \
        KN_VALUE("counters", KN_F_FIGURES, "what the search did")

#define CLASSES_ROWS                                                                                                   \
    KN_VALUE("suppressed", KN_F_COUNT, "rows, or persons, that are left out"),                                         \
        KN_VALUE("classes", KN_F_CLASSES, "classes of those who look alike"),                                          \
        KN_VALUE("k_before", KN_F_COUNT, "the smallest class of the original")

#define REACHED_ROWS                                                                                                   \
    KN_VALUE("k", KN_F_COUNT, "the smallest class of the release; of records: the fewest that somebody finds"),        \
        KN_VALUE_OF("models", KN_F_LIST, &model_part, "the promises, and what is reached"),                            \
        KN_VALUE("largest_share", KN_F_SHARE | KN_F_OPTIONAL,                                                          \
                 "of those who look alike with one sensitive value, where something was promised about it")

#define TAIL_ROWS                                                                                                      \
    KN_VALUE_OF("distributions", KN_F_LIST | KN_F_OPTIONAL, &distribution_part,                                        \
                "where a report was asked for: the released columns, or classes, before and after"),                   \
        KN_VALUE("dropped", KN_F_TEXTS, "what was not declared and so left out"),                                      \
        KN_VALUE("rowmap", KN_F_BOOLEAN, "whether the row map was kept"),                                              \
        KN_VALUE("version", KN_F_TEXT | KN_F_NULLABLE, "the version of kanon")

/* ---- What was asked and tried ---- */

static void put_limit(kn_to o, const kn_spec *spec)
{
    if (spec->time_limit > 0)
        kn_put_number(o, "time-limit", spec->time_limit);
    else
        kn_put_null(o, "time-limit");
}

static void put_inputs(kn_to to, const kn_private_input *in)
{
    kn_to list = kn_put_list(to, "inputs");
    for (int i = 0; i < in->input_count; i++) {
        kn_to o = kn_append_object(list);
        bool  server = in->inputs[i] && kn_name_server(in->inputs[i]); /* it may hold a password */
        kn_put_text(o, "path", server ? NULL : in->inputs[i]);
        kn_put_text(o, "sha256", in->input_digests ? in->input_digests[i] : NULL);
    }
}

/* How method: auto chose: the metric, and the methods that found a release, each with its loss. */
static void put_chosen(kn_to o, const kn_advice *advice)
{
    kn_put_text(o, "by", "auto");
    kn_put_struct(o, advice);
    kn_to among = kn_put_list(o, "among");
    for (int i = 0; i < advice->candidate_count; i++) {
        const kn_advice_candidate *c = &advice->candidates[i];
        if (c->state == KN_ADVICE_KEPT || c->state == KN_ADVICE_STOPPED) kn_append_struct(among, c);
    }
}

/* For every shape, except the parameters of its methods. Returns where those go. */
static kn_to put_search(kn_to o, const kn_private_input *in)
{
    const kn_release_head *h = in->head;
    kn_put_text(o, "method", kn_method_name(h->method));
    if (h->advice) put_chosen(kn_put_object(o, "chosen"), h->advice);
    kn_put_requested(o, "requested", in->spec);
    kn_put_boolean(o, "complete", h->complete);
    kn_to counters = kn_put_object(o, "counters");
    for (int i = 0; i < h->counter_count; i++) kn_put_figure(counters, h->counters[i].name, h->counters[i].value, true);
    return kn_put_object(o, "options");
}

/* ---- What came of it ---- */

/* For every shape; records have no classes. */
static void put_reached(kn_to o, const kn_release_head *h, kn_shape shape)
{
    if (shape != KN_SHAPE_RECORDS) {
        kn_put_integer(o, "suppressed", h->suppressed);
        kn_put_integer(o, "classes", h->classes);
        kn_put_integer(o, "k_before", h->k_before);
    }
    kn_put_integer(o, "k", h->k);
    kn_to models = kn_put_list(o, "models");
    for (int i = 0; i < h->model_count; i++) {
        kn_to one = kn_append_object(models);
        kn_put_request_model(one, &h->models[i].model);
        kn_put_struct(one, &h->models[i]);
    }
    if (h->largest_share > 0) kn_put_number(o, "largest_share", h->largest_share);
}

/* ---- Tables ---- */

static const kn_field_row reading_rows[] = {
    KN_VALUE("delimiter", KN_F_TEXT | KN_F_OPTIONAL, "what stands between cells, where it was given"),
    KN_VALUE("header", KN_F_BOOLEAN | KN_F_OPTIONAL, "false: the first line is data"),
    KN_VALUE("encoding", KN_F_TEXT | KN_F_OPTIONAL, "the encoding, where it is not UTF-8"),
    KN_VALUE("decimal", KN_F_TEXT | KN_F_OPTIONAL, "the decimal mark, where it is a comma"),
    KN_VALUE("timezone", KN_F_TEXT | KN_F_OPTIONAL, "the zone of times that carry none, where it was given"),
    KN_VALUE("na", KN_F_TEXTS | KN_F_OPTIONAL, "how a missing cell is spelled, where it was given"),
};
static const kn_fields reading_part = KN_FIELDS_PUT("reading", reading_rows);

static const kn_field_row table_option_rows[] = {
    KN_VALUE_WORDS("utility", kn_metric_name, KN_METRICS - 1, 0, "the metric that is minimized"),
    KN_VALUE_WORDS("suppressed", kn_suppressed_name, KN_SUPPRESSED_KEEP_SENSITIVE, 0,
                   "how suppressed rows are shown: 'star', 'drop' or 'keep-sensitive'"),
    KN_VALUE("missing", KN_F_TEXT, "what a missing cell means: 'value' or 'drop'"),
    KN_VALUE("undeclared", KN_F_TEXT, "what is done with undeclared columns: 'drop' or 'refuse'"),
    KN_VALUE("keep-order", KN_F_BOOLEAN, "whether rows stay in their order"),
    KN_VALUE("force", KN_F_BOOLEAN, "whether what would be refused was asked for all the same"),
    LIMIT_ROW,
    KN_VALUE("entity", KN_F_TEXT | KN_F_OPTIONAL, "the column that says whose row it is"),
    KN_VALUE_OF("reading", KN_F_OBJECT | KN_F_OPTIONAL, &reading_part,
                "how the inputs were read, where that was not as usual"),
};
static const kn_fields table_options_part = KN_FIELDS_PUT("options", table_option_rows);

static const kn_field_row column_rows[] = {
    KN_VALUE("name", KN_F_TEXT, "the column's name"),
    KN_VALUE_WORDS("role", kn_role_name, KN_ROLE_SET, 0, "its role, as declared"),
    KN_VALUE("released", KN_F_TEXT | KN_F_OPTIONAL, "of an identifier: 'no' or 'pseudonym'"),
    KN_VALUE("level", KN_F_LEVEL | KN_F_OPTIONAL, "the level it was generalized to"),
    KN_VALUE("height", KN_F_LEVEL | KN_F_OPTIONAL, "the highest level of its hierarchy"),
    KN_VALUE("lm", KN_F_SHARE | KN_F_OPTIONAL, "how many of its values a cell may stand for, on average"),
    KN_VALUE("ncp", KN_F_SHARE | KN_F_OPTIONAL, "the same as a share of all values"),
    KN_VALUE("prec", KN_F_SHARE | KN_F_OPTIONAL, "how many levels of its hierarchy a cell kept, on average"),
    KN_VALUE("entropy", KN_F_BITS | KN_F_OPTIONAL, "by how much its cells say less than they did"),
};
static const kn_fields column_part = KN_FIELDS_PUT("column", column_rows);

static const kn_field_row bounds_rows[] = {
    KN_FIELD_AS(kn_release_result, region_bound, "class_rows", KN_F_ROWS, "no class has more"),
    KN_FIELD_AS(kn_release_result, c_avg_bound, "c_avg", KN_F_NUMBER, "what c_avg is at most"),
    KN_FIELD_AS(kn_release_result, dm_bound, "dm", KN_F_NUMBER, "what dm is at most"),
};
static const kn_fields bounds_part = KN_FIELDS(kn_release_result, "bounds", bounds_rows, NULL);

#define S kn_release_result
static const kn_field_row table_rows[] = {
    HEAD_ROWS(&table_options_part),
    CLASSES_ROWS,
    REACHED_ROWS,
    KN_VALUE("node", KN_F_COUNTS | KN_F_NULLABLE,
             "the levels, in the order of the quasi-identifiers; null: there are none"),
    KN_FIELD(S, optimal, KN_F_BOOLEAN, "whether they were proved to be the best for the metric"),
    KN_FIELD(S, loss_bound, KN_F_NUMBER | KN_F_NULLABLE,
             "no choice of levels loses less by the metric; null: nothing is known"),
    KN_FIELD(S, lattice, KN_F_NUMBER, "how many choices of levels there were"),
    KN_FIELD(S, rows_in, KN_F_ROWS, "rows of the inputs"),
    KN_FIELD(S, rows, KN_F_ROWS, "rows of the release"),
    KN_FIELD(S, missing_cells, KN_F_CELLS, "missing cells of the quasi-identifiers"),
    KN_FIELD(S, missing_dropped, KN_F_ROWS, "rows left out for them"),
    KN_VALUE("budget", KN_F_ROWS, "rows that might have been suppressed"),
    KN_FIELD(S, average_suppressed, KN_F_ROWS, "rows suppressed only for the sake of average risk"),
    KN_VALUE("metrics", KN_F_FIGURES, "what the release lost, by every metric"),
    KN_VALUE_OF("bounds", KN_F_OBJECT | KN_F_OPTIONAL, &bounds_part, "of strict partitioning: what the theory allows"),
    KN_VALUE_OF("columns", KN_F_LIST, &column_part, "every declared column, with what it lost"),
    TAIL_ROWS,
};
#undef S
const kn_fields kn_private_of_table =
    KN_ANSWER(kn_release_result, "private", table_rows, NULL,
              "What the owner of a released table keeps: exact figures, seed, digests.");

static void put_columns(kn_to to, const kn_spec *spec, const kn_release_result *r)
{
    kn_to list = kn_put_list(to, "columns");
    for (int i = 0, quasi = 0; i < spec->attribute_count; i++) {
        const kn_attribute *attribute = &spec->attributes[i];
        kn_to               o = kn_append_object(list);
        kn_put_text(o, "name", attribute->name);
        kn_put_text(o, "role", kn_role_name(attribute->role));
        if (attribute->role == KN_ROLE_IDENTIFIER)
            kn_put_text(o, "released", attribute->pseudonym_key_file ? "pseudonym" : "no");
        if (attribute->role != KN_ROLE_QUASI || quasi >= r->attribute_count) continue;
        const kn_release_attribute *loss = &r->attributes[quasi++];
        if (loss->height >= 0) kn_put_integer(o, "level", loss->level);
        if (loss->height >= 0) kn_put_integer(o, "height", loss->height);
        kn_put_number(o, "lm", loss->lm);
        kn_put_number(o, "ncp", loss->ncp);
        kn_put_number(o, "prec", loss->prec);
        kn_put_number(o, "entropy", loss->entropy);
    }
}

static void put_reading(kn_to to, const kn_csv_options *csv)
{
    const char delimiter[2] = {csv->delimiter, '\0'};
    if (!csv->delimiter && !csv->no_header && csv->encoding == KN_ENCODING_UTF8 && csv->decimal != ',' &&
        !csv->timezone && !csv->na)
        return;
    kn_to o = kn_put_object(to, "reading");
    if (csv->delimiter) kn_put_text(o, "delimiter", csv->delimiter == '\t' ? "tab" : delimiter);
    if (csv->no_header) kn_put_boolean(o, "header", false);
    if (csv->encoding != KN_ENCODING_UTF8)
        kn_put_text(o, "encoding", csv->encoding == KN_ENCODING_LATIN_1 ? "latin-1" : "windows-1252");
    if (csv->decimal == ',') kn_put_text(o, "decimal", ",");
    if (csv->timezone) kn_put_text(o, "timezone", csv->timezone);
    if (csv->na) kn_put_texts(o, "na", csv->na, csv->na_count);
}

static void put_table(kn_to o, kn_to options, const kn_private_input *in)
{
    const kn_release_result *r = (const kn_release_result *)(const void *)in->head;
    const kn_spec           *spec = in->spec;
    kn_put_text(options, "utility", kn_metric_name(spec->utility));
    kn_put_text(options, "suppressed", kn_suppressed_name(spec->suppressed));
    kn_put_text(options, "missing", kn_missing_name(spec->missing));
    kn_put_text(options, "undeclared", spec->undeclared_refuse ? "refuse" : "drop");
    kn_put_boolean(options, "keep-order", spec->keep_order);
    kn_put_boolean(options, "force", spec->force);
    put_limit(options, spec);
    if (spec->entity) kn_put_text(options, "entity", spec->entity);
    put_reading(options, &spec->csv);
    kn_put_struct(o, r);
    if (r->level_count == 0) {
        kn_put_null(o, "node");
    } else {
        kn_to node = kn_put_list(o, "node");
        for (int i = 0; i < r->level_count; i++) kn_append_integer(node, r->levels[i]);
    }
    kn_put_integer(o, "budget", in->budget);
    kn_to metrics = kn_put_object(o, "metrics");
    for (int m = 0; m < KN_METRICS; m++) kn_put_figure(metrics, kn_metric_name((kn_metric)m), r->metrics[m], false);
    if (r->region_bound > 0) kn_put_part(o, "bounds", r);
    put_columns(o, spec, r);
}

/* ---- Databases ---- */

static const kn_field_row database_option_rows[] = {
    KN_VALUE("threshold", KN_F_NUMBER, "the largest distance at which persons join a cluster"),
    KN_VALUE("climit", KN_F_COUNT, "how many clusters are looked at"),
    KN_VALUE("matching", KN_F_TEXT, "how rows are paired"),
    KN_VALUE("clustering", KN_F_TEXT | KN_F_OPTIONAL, "how persons are put together; none of bitmap"),
    KN_VALUE("leftovers", KN_F_TEXT, "what is done with persons who are left"),
    KN_VALUE("diversity", KN_F_TEXT | KN_F_OPTIONAL, "of dmiracle: how sensitive values are kept apart"),
    KN_VALUE("anatomy", KN_F_BOOLEAN | KN_F_OPTIONAL, "of dmiracle: whether values stand as they were"),
    KN_VALUE("complete", KN_F_BOOLEAN | KN_F_OPTIONAL, "of bitmap: whether all rows of a person must match"),
};
static const kn_fields database_options_part = KN_FIELDS_PUT("options", database_option_rows);

#define S kn_release_table
static const kn_field_row one_table_rows[] = {
    KN_FIELD(S, name, KN_F_TEXT, "the table's name"),
    KN_FIELD(S, rows_in, KN_F_ROWS, "rows of the original"),
    KN_FIELD(S, orphans, KN_F_ROWS, "rows that belong to no person: never released"),
    KN_FIELD(S, deleted, KN_F_ROWS, "rows that belong to a person and are not released"),
    KN_FIELD(S, rows, KN_F_ROWS, "rows of the release"),
    KN_FIELD(S, lm, KN_F_SHARE, "what its quasi-identifiers lost; a deleted cell counts 1"),
};
#undef S
static const kn_fields one_table_part = KN_FIELDS(kn_release_table, "table", one_table_rows, NULL);

#define S kn_database_result
static const kn_field_row database_metrics_rows[] = {
    KN_FIELD(S, lm, KN_F_SHARE, "the mean loss of quasi-identifiers and rows that weigh; a deleted cell counts 1"),
    KN_FIELD(S, dm, KN_F_NUMBER, "sum of squared class sizes"),
};
static const kn_fields database_metrics_part = KN_FIELDS(S, "metrics", database_metrics_rows, NULL);

static const kn_field_row database_rows[] = {
    HEAD_ROWS(&database_options_part),
    CLASSES_ROWS,
    REACHED_ROWS,
    KN_FIELD(S, persons_in, KN_F_PERSONS, "persons of the original"),
    KN_FIELD(S, persons, KN_F_PERSONS, "persons of the release"),
    KN_VALUE_OF("metrics", KN_F_OBJECT, &database_metrics_part, "what the release lost"),
    KN_FIELD_LIST(S, tables, table_count, &one_table_part, KN_F_LIST, "the tables"),
    TAIL_ROWS,
};
#undef S
const kn_fields kn_private_of_database =
    KN_ANSWER(kn_database_result, "private-database", database_rows, NULL,
              "What the owner of a released database keeps: exact figures, seed, digests.");

static void put_database(kn_to o, kn_to options, const kn_private_input *in)
{
    const kn_spec *spec = in->spec;
    kn_put_ratio(options, "threshold", spec->threshold);
    kn_put_integer(options, "climit", spec->climit);
    kn_put_text(options, "matching", kn_matching_name(spec->matching));
    if (spec->method != KN_METHOD_BITMAP)
        kn_put_text(options, "clustering", kn_clustering_name((kn_clustering)spec->clustering));
    kn_put_text(options, "leftovers", kn_leftovers_name(spec->leftovers));
    if (spec->method == KN_METHOD_DMIRACLE) {
        kn_put_text(options, "diversity", kn_diversity_name(spec->diversity));
        kn_put_boolean(options, "anatomy", spec->anatomy);
    }
    if (spec->method == KN_METHOD_BITMAP) kn_put_boolean(options, "complete", spec->complete);
    kn_put_struct(o, in->head);
    kn_put_part(o, "metrics", in->head);
}

/* ---- Records ---- */

static const kn_field_row records_option_rows[] = {
    KN_VALUE("g", KN_F_COUNT | KN_F_OPTIONAL, "of gcs: how far it looks ahead"),
    KN_VALUE_WORDS("semantics", kn_semantics_name, KN_SEMANTICS - 1, 0,
                   "what somebody may know of relations: 'pairs' or 'paths'"),
    KN_VALUE("strict-structure", KN_F_BOOLEAN, "whether rare positions count too"),
    KN_VALUE_WORDS("disassociation", kn_disassociate_name, KN_DISASSOCIATES - 1, KN_F_OPTIONAL,
                   "what moved where a relation vanished: 'node', 'subtree' or 'ancestor'; ocs has none"),
    LIMIT_ROW,
};
static const kn_fields records_options_part = KN_FIELDS_PUT("options", records_option_rows);

#define S kn_records_result
static const kn_field_row records_metrics_rows[] = {
    KN_FIELD(S, rpd, KN_F_NUMBER, "reverse path domain: how little the paths of a record say, on average"),
    KN_FIELD(S, ml2, KN_F_NUMBER, "frequent itemsets that were lost; null: none were mined"),
    KN_FIELD(S, dml2, KN_F_NUMBER, "how far the supports of frequent itemsets moved; null: none were mined"),
    KN_FIELD(S, node_survival, KN_F_SHARE, "nodes that show their own value"),
    KN_FIELD(S, relation_survival, KN_F_SHARE, "relations still there, be it between broader values"),
};
static const kn_fields records_metrics_part = KN_FIELDS(S, "metrics", records_metrics_rows, NULL);

static const kn_field_row records_rows[] = {
    HEAD_ROWS(&records_options_part),
    REACHED_ROWS,
    KN_FIELD(S, records, KN_F_RECORDS, "records of the original"),
    KN_FIELD(S, left_out, KN_F_RECORDS, "... that are not released (suppression)"),
    KN_FIELD(S, given_up, KN_F_COUNT,
             "nodes of the original that their record does not show, not even as a broader value (suppression)"),
    KN_FIELD(S, values, KN_F_COUNT, "different values that the release shows"),
    KN_FIELD(S, values_original, KN_F_COUNT, "the same of the original"),
    KN_FIELD(S, nodes, KN_F_COUNT, "nodes of the release, without the records' roots"),
    KN_FIELD(S, nodes_original, KN_F_COUNT, "the same of the original"),
    KN_FIELD(S, relations, KN_F_COUNT, "pairs of a node and one above it in the release"),
    KN_FIELD(S, relations_original, KN_F_COUNT, "the same of the original"),
    KN_VALUE_OF("metrics", KN_F_OBJECT, &records_metrics_part, "what the release lost"),
    KN_VALUE("disassociations", KN_F_TEXT_LISTS,
             "the relations that vanished, as pairs of values: each is one that some few had"),
    KN_VALUE("disassociations_in_some", KN_F_TEXT_LISTS,
             "the relations that were taken away in single records, likewise (suppression)"),
    KN_VALUE("values_given_up", KN_F_TEXTS, "the values that were given up: each is one that few had"),
    KN_VALUE("given_up_in_some", KN_F_TEXTS,
             "the values that the release shows, and of which single nodes were given up"),
    TAIL_ROWS,
};
#undef S
const kn_fields kn_private_of_records =
    KN_ANSWER(kn_records_result, "private-records", records_rows, NULL,
              "What the owner of released tree records keeps: exact figures, seed, digests.");

static void put_label(kn_to pair, const kn_vocabulary *v, uint32_t value)
{
    kn_string text = kn_vocabulary_label(v, value);
    kn_append_bytes(pair, text.data, text.size);
}

static void put_records(kn_to o, kn_to options, const kn_private_input *in)
{
    const kn_spec *spec = in->spec;
    if (spec->method == KN_METHOD_GCS) kn_put_integer(options, "g", spec->g);
    kn_put_text(options, "semantics", kn_semantics_name(spec->semantics));
    kn_put_boolean(options, "strict-structure", spec->strict_structure);
    if (spec->method != KN_METHOD_OCS)
        kn_put_text(options, "disassociation", kn_disassociate_name((kn_disassociate)spec->disassociation));
    put_limit(options, spec);
    kn_put_struct(o, in->head);
    kn_put_part(o, "metrics", in->head);
    kn_to list = kn_put_list(o, "disassociations");
    for (int64_t i = 0; i < in->plan->disassociation_count; i++) {
        kn_to pair = kn_append_list(list);
        put_label(pair, in->vocabulary, in->plan->disassociations[i].ancestor);
        put_label(pair, in->vocabulary, in->plan->disassociations[i].descendant);
    }
    list = kn_put_list(o, "disassociations_in_some");
    for (int64_t i = 0; i < in->plan->some_count; i++) {
        kn_to pair = kn_append_list(list);
        put_label(pair, in->vocabulary, in->plan->some[i].ancestor);
        put_label(pair, in->vocabulary, in->plan->some[i].descendant);
    }
    list = kn_put_list(o, "values_given_up");
    for (uint32_t u = 0; in->plan->given_up && u < in->plan->values; u++)
        if (in->plan->given_up[u]) put_label(list, in->vocabulary, u);
    list = kn_put_list(o, "given_up_in_some");
    for (uint32_t u = 0; in->plan->in_some && u < in->plan->values; u++)
        if (in->plan->in_some[u]) put_label(list, in->vocabulary, u);
}

/* ---- All of it ---- */

kn_status kn_private_render(kn_buffer *to, const kn_private_input *in, kn_error *err)
{
    static const struct {
        const kn_fields *fields;
        void (*put)(kn_to to, kn_to options, const kn_private_input *in);
    } shapes[] = {{&kn_private_of_table, put_table},
                  {&kn_private_of_database, put_database},
                  {&kn_private_of_records, put_records}};
    const kn_release_head *h = in->head;
    kn_shape               shape = kn_spec_shape(in->spec);
    kn_document           *doc;
    char                   seed[24];
    KN_TRY(kn_document_begin(&doc, to->ctx, shapes[shape].fields, err));
    kn_to o = kn_document_top(doc);
    snprintf(seed, sizeof seed, "%" PRIu64, in->seed);
    kn_put_integer(o, "kanon-private", 3);
    kn_put_text(o, "shape", kn_shape_name(shape));
    if (in->folder)
        kn_put_files(o, "files", in->files, in->digests, in->file_count);
    else if (in->file_count == 1)
        kn_put_text(o, "release_sha256", in->digests[0]);
    kn_put_text(o, "seed", seed);
    put_inputs(o, in);
    shapes[shape].put(o, put_search(o, in), in);
    put_reached(o, h, shape);
    if (h->distributions) kn_put_parts(o, "distributions", h->distributions->list, h->distributions->count);
    kn_put_texts(o, "dropped", h->dropped, h->dropped_count);
    kn_put_boolean(o, "rowmap", in->spec->keep_rowmap);
    kn_put_text(o, "version", in->version);
    return kn_document_render(to, doc, err);
}
