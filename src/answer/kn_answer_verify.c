/* kn_answer_verify.c: the verifier's findings for a table, a database and tree records, as documents. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kn_answer.h"
#include "kn_error.h"

/* ---- Promises ---- */

/* How `reached` is compared with what was asked. */
static const char *bound_of(kn_model_kind kind)
{
    switch (kind) {
    case KN_MODEL_K:
    case KN_MODEL_K_MAP:
    case KN_MODEL_DISTINCT:
    case KN_MODEL_ENTROPY: return "at least";
    case KN_MODEL_RECURSIVE:
    case KN_MODEL_DELTA: return "below";
    default: return "at most";
    }
}

static void fill_model(kn_to to, const void *from)
{
    const kn_verified_model *m = from;
    kn_put_text(to, "model", kn_model_name(m->model.kind));
    kn_put_text(to, "variant", kn_model_variant(m->model.kind));
    kn_put_text(to, "attribute", m->model.attribute);
    kn_put_number(to, "asked", kn_model_asked(&m->model));
    kn_put_text(to, "bound", bound_of(m->model.kind));
}

static const kn_field_row model_rows[] = {
    KN_VALUE_WORDS("model", kn_model_name, KN_MODEL_KINDS - 1, KN_F_PUBLIC, "the promise, as a release file calls it"),
    KN_VALUE_WORDS("variant", kn_model_variant, KN_MODEL_KINDS - 1, KN_F_NULLABLE | KN_F_PUBLIC,
                   "its kind or distance; null where it has none"),
    KN_VALUE("attribute", KN_F_TEXT | KN_F_NULLABLE | KN_F_PUBLIC, "the sensitive column; null where it is of none"),
    KN_VALUE("asked", KN_F_NUMBER | KN_F_PUBLIC, "the threshold that what was reached is held against"),
    KN_VALUE_WORDS("bound", bound_of, KN_MODEL_KINDS - 1, KN_F_PUBLIC,
                   "what was reached must be 'at least', 'at most' or 'below' it"),
    KN_FIELD(kn_verified_model, reached, KN_F_NUMBER,
             "by the worst class; null: not judged, without a bound, or nothing is left that it is about"),
    KN_FIELD_AS(kn_verified_model, classes, "failing_classes", KN_F_CLASSES, "classes that do not keep the promise"),
    KN_FIELD(kn_verified_model, holds, KN_F_BOOLEAN | KN_F_PUBLIC, "whether every class keeps it"),
};
static const kn_fields model_part = KN_FIELDS(kn_verified_model, "model", model_rows, fill_model);

/* ---- Common to all shapes ---- */

#define VERDICT_ROWS(S, units)                                                                                         \
    KN_ANSWER_ROW, KN_FIELD_AS(S, ok, "verified", KN_F_BOOLEAN | KN_F_PUBLIC, "whether it may be published"),          \
        KN_FIELD_WORDS(S, outcome, kn_outcome_name, KN_OUTCOME_HOLDS, KN_F_PUBLIC,                                     \
                       "'holds', 'does not hold' or 'undecided'"),                                                     \
        KN_FIELD_WORDS(S, assignment, kn_assignment_name, KN_ASSIGNMENT_UNDECIDED, 0,                                  \
                       "whether each released " units " has an original of its own: 'proved', 'refuted' or "           \
                       "'undecided'")

#define FINDING_ROWS(S)                                                                                                \
    KN_FIELD_LIST(S, problems, problem_count, NULL, KN_F_TEXTS, "what is wrong, and where; at most 100"),              \
        KN_FIELD(S, more_problems, KN_F_BOOLEAN, "whether there are more than those"),                                 \
        KN_FIELD_LIST_AS(S, open, open_count, "undecided", NULL, KN_F_TEXTS, "what could not be decided, and why")

#define MODELS_ROW(S)                                                                                                  \
    KN_FIELD_LIST(S, models, model_count, &model_part, KN_F_LIST, "the promises and what the release reaches")

#define LARGEST_SHARE_ROW(whom)                                                                                        \
    KN_VALUE("largest_share", KN_F_SHARE, "of " whom " with one sensitive value; null: nothing was promised about it")

static void put_share(kn_to to, double share)
{
    if (share > 0)
        kn_put_number(to, "largest_share", share);
    else
        kn_put_null(to, "largest_share");
}

/* ---- A table ---- */

#define S kn_verify_report
static const kn_field_row items_rows[] = {
    KN_FIELD_AS(S, kmn.k, "asked", KN_F_ROWS | KN_F_PUBLIC,
                "whoever knows the quasi-identifiers and m items finds at least so many rows"),
    KN_FIELD_AS(S, kmn.m, "m", KN_F_COUNT | KN_F_PUBLIC, "how many items somebody may know"),
    KN_FIELD_AS(S, items_k, "k", KN_F_ROWS | KN_F_PUBLIC,
                "the fewest rows of a class that show a combination of up to m items, or of one that shows none"),
    KN_FIELD_AS(S, items_combinations, "combinations", KN_F_COUNT, "different ones, class by class"),
    KN_FIELD_AS(S, items_violations, "violations", KN_F_COUNT, "those that too few rows of their class show"),
    KN_FIELD_AS(S, items_hidden, "classes", KN_F_CLASSES | KN_F_PUBLIC, "classes whose cells all show *"),
    KN_FIELD_AS(S, items_loss, "loss", KN_F_SHARE,
                "what the items lost; null: there is no row map, or a label is on several levels"),
};
static const kn_fields items_part = KN_FIELDS(kn_verify_report, "items", items_rows, NULL);

static void fill_table(kn_to to, const void *from)
{
    if (((const kn_verify_report *)from)->kmn.k > 0) kn_put_part(to, "items", from);
}

static const kn_field_row table_rows[] = {
    VERDICT_ROWS(S, "row"),
    KN_FIELD(S, rows, KN_F_ROWS | KN_F_PUBLIC, "rows of the release"),
    KN_FIELD(S, suppressed, KN_F_ROWS, "rows of the original that are shown as suppressed or left out"),
    KN_FIELD(S, classes, KN_F_CLASSES | KN_F_PUBLIC, "classes of rows that look alike, without suppressed rows"),
    KN_FIELD(
        S, k, KN_F_COUNT | KN_F_PUBLIC,
        "rows, or persons, of the smallest class; where rows stay linked: persons who look alike with all their rows; "
        "0: there is none"),
    KN_FIELD(S, linked, KN_F_BOOLEAN | KN_F_PUBLIC, "whether the release shows which rows are one person's"),
    KN_FIELD(S, read, KN_F_TEXT,
             "how the tables were read: 'whole'; or, as they stayed where they are, by whom: 'DuckDB', 'the server', "
             "'DuckDB and the server' or 'the engine'"),
    MODELS_ROW(S),
    KN_FIELD_PART(S, metrics, &kn_metrics_part, KN_F_OBJECT,
                  "what the release lost, derived anew; null: cannot be said"),
    KN_VALUE_OF("items", KN_F_OBJECT | KN_F_OPTIONAL, &items_part,
                "of a column of sets: what is promised of its items"),
    FINDING_ROWS(S),
    KN_FIELD_CHARS(S, sha256, KN_F_TEXT | KN_F_PUBLIC, "SHA-256 of the release"),
    KN_NOTES_ROW,
};
#undef S
const kn_fields kn_answer_verify =
    KN_ANSWER(kn_verify_report, "verify", table_rows, fill_table, "Does the release of a table keep its promises?");

kn_status kn_document_verify(kn_document **out, kn_context *ctx, const kn_verify_report *report, kn_error *err)
{
    return kn_answer_of(out, ctx, &kn_answer_verify, report, err);
}

/* ---- A database ---- */

static const kn_field_row one_table_rows[] = {
    KN_FIELD(kn_verified_table, name, KN_F_TEXT | KN_F_PUBLIC, "the table's name"),
    KN_FIELD(kn_verified_table, rows, KN_F_ROWS | KN_F_PUBLIC, "rows of the release"),
    KN_FIELD(kn_verified_table, deleted, KN_F_ROWS,
             "rows of the original that belong to a person and are not released"),
    KN_FIELD(kn_verified_table, lm, KN_F_SHARE,
             "what its quasi-identifiers, and rows that weigh, lost; null: a cell cannot be read"),
};
static const kn_fields one_table_part = KN_FIELDS(kn_verified_table, "table", one_table_rows, NULL);

static const kn_field_row loss_rows[] = {
    KN_FIELD(kn_database_verify_report, lm, KN_F_SHARE,
             "the mean loss of quasi-identifiers and rows that weigh; a deleted cell counts 1"),
    KN_FIELD(kn_database_verify_report, dm, KN_F_NUMBER, "sum of squared class sizes"),
};
static const kn_fields loss_part = KN_FIELDS(kn_database_verify_report, "metrics", loss_rows, NULL);

static void fill_database(kn_to to, const void *from)
{
    put_share(to, ((const kn_database_verify_report *)from)->largest_share);
    kn_put_part(to, "metrics", from);
}

#define S kn_database_verify_report
static const kn_field_row database_rows[] = {
    VERDICT_ROWS(S, "person"),
    KN_FIELD(S, persons, KN_F_PERSONS | KN_F_PUBLIC, "persons of the release"),
    KN_FIELD(S, dropped, KN_F_PERSONS, "persons of the original that are not released"),
    KN_FIELD(S, classes, KN_F_CLASSES | KN_F_PUBLIC, "classes of persons who look alike in all tables"),
    KN_FIELD(S, k, KN_F_PERSONS | KN_F_PUBLIC, "persons of the smallest class; 0: there is none"),
    KN_VALUE("anatomy", KN_F_BOOLEAN | KN_F_PUBLIC, "whether values stand as they were and sensitive ones by groups"),
    LARGEST_SHARE_ROW("those who look alike"),
    MODELS_ROW(S),
    KN_VALUE_OF("metrics", KN_F_OBJECT, &loss_part, "what the release lost, derived anew"),
    KN_FIELD_LIST(S, tables, table_count, &one_table_part, KN_F_LIST, "the tables of the release"),
    FINDING_ROWS(S),
    KN_NOTES_ROW,
};
#undef S
const kn_fields kn_answer_verify_database =
    KN_ANSWER(kn_database_verify_report, "verify-database", database_rows, fill_database,
              "Does the release of a database keep its promises?");

kn_status kn_document_verify_database(kn_document **out, kn_context *ctx, const kn_spec *spec,
                                      const kn_database_verify_report *report, kn_error *err)
{
    kn_document *doc;
    KN_TRY(kn_answer_begin(&doc, ctx, &kn_answer_verify_database, report, err));
    kn_put_boolean(kn_document_top(doc), "anatomy", spec->anatomy);
    return kn_document_end(out, doc, err);
}

/* ---- Tree records ---- */

#define S kn_records_verify_report
static const kn_field_row asked_rows[] = {
    KN_FIELD_AS(S, kmn.k, "k", KN_F_RECORDS | KN_F_PUBLIC, "whoever knows so much finds no record or at least k"),
    KN_FIELD_AS(S, kmn.m, "m", KN_F_COUNT | KN_F_PUBLIC, "how many values of a record somebody may know"),
    KN_FIELD_AS(S, kmn.n, "n", KN_F_COUNT | KN_F_PUBLIC, "how many relations between them somebody may know"),
    KN_FIELD(S, absent, KN_F_BOOLEAN | KN_F_PUBLIC, "whether somebody may also know that values are absent"),
};
static const kn_fields asked_part = KN_FIELDS(S, "k_mn", asked_rows, NULL);

static const kn_field_row tree_loss_rows[] = {
    KN_FIELD(S, rpd, KN_F_NUMBER, "reverse path domain: how little the paths of a record say, on average"),
    KN_FIELD(S, rpd_original, KN_F_NUMBER, "the same of the original"),
    KN_FIELD(S, loss, KN_F_SHARE,
             "how broad values became on average, by the weights of their classes; 1: nothing is left; "
             "null: not known"),
    KN_FIELD(S, nodes, KN_F_COUNT | KN_F_PUBLIC, "nodes of the release, without the records' roots"),
    KN_FIELD(S, nodes_original, KN_F_COUNT, "the same of the original"),
    KN_FIELD(S, relations, KN_F_COUNT | KN_F_PUBLIC, "pairs of a node and one above it in the release"),
    KN_FIELD(S, relations_original, KN_F_COUNT, "the same of the original"),
};
static const kn_fields tree_loss_part = KN_FIELDS(S, "metrics", tree_loss_rows, NULL);

static void fill_records(kn_to to, const void *from)
{
    put_share(to, ((const kn_records_verify_report *)from)->largest_share);
    kn_put_part(to, "k_mn", from);
    kn_put_part(to, "metrics", from);
}

static const kn_field_row records_rows[] = {
    VERDICT_ROWS(S, "record"),
    KN_FIELD(S, records, KN_F_RECORDS | KN_F_PUBLIC, "records of the release"),
    KN_FIELD(S, left_out, KN_F_RECORDS, "records of the original that it lacks (suppression)"),
    KN_FIELD(S, given_up, KN_F_COUNT,
             "nodes of the original that their record does not show, not even as a broader value (suppression)"),
    KN_VALUE_OF("k_mn", KN_F_OBJECT | KN_F_PUBLIC, &asked_part, "the promise that was asked for"),
    KN_FIELD_WORDS(S, semantics, kn_semantics_name, KN_SEMANTICS - 1, KN_F_PUBLIC,
                   "what somebody may know of relations: 'pairs' or 'paths'"),
    KN_FIELD_AS(S, strict, "strict_structure", KN_F_BOOLEAN | KN_F_PUBLIC,
                "whether rare positions were looked for too"),
    KN_VALUE("sensitive", KN_F_BOOLEAN | KN_F_PUBLIC, "whether some classes of nodes are sensitive and so not known"),
    KN_FIELD(S, decided, KN_F_BOOLEAN, "false: there are too many combinations to count"),
    KN_FIELD(S, k, KN_F_RECORDS,
             "the fewest records that somebody finds, of those who find any; 0: nobody, or not decided"),
    KN_FIELD(S, combinations, KN_F_COUNT, "different combinations of values and relations that occur"),
    KN_FIELD(S, violations, KN_F_COUNT, "those that fewer than k records have"),
    LARGEST_SHARE_ROW("the records that somebody finds"),
    MODELS_ROW(S),
    KN_VALUE_OF("metrics", KN_F_OBJECT, &tree_loss_part, "what the release lost, derived anew"),
    FINDING_ROWS(S),
    KN_FIELD_CHARS(S, sha256, KN_F_TEXT | KN_F_NULLABLE | KN_F_PUBLIC,
                   "SHA-256 of the release; null: it is no single file"),
    KN_NOTES_ROW,
};
#undef S
const kn_fields kn_answer_verify_records =
    KN_ANSWER(kn_records_verify_report, "verify-records", records_rows, fill_records,
              "Does the release of tree records keep its promise?");

kn_status kn_document_verify_records(kn_document **out, kn_context *ctx, const kn_spec *spec,
                                     const kn_records_verify_report *report, kn_error *err)
{
    kn_document *doc;
    KN_TRY(kn_answer_begin(&doc, ctx, &kn_answer_verify_records, report, err));
    kn_put_boolean(kn_document_top(doc), "sensitive", kn_spec_has_sensitive_class(spec));
    return kn_document_end(out, doc, err);
}
