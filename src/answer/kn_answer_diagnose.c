/* kn_answer_diagnose.c: diagnoses of one set of columns and of all subsets of a list, as documents. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "kn_answer.h"
#include "kn_error.h"
#include "kn_options.h"

/* ---- Models ---- */

#define S kn_model_figures
static const kn_field_row figures_rows[] = {
    KN_FIELD(S, distinct_l, KN_F_COUNT, "different values in every class, at least"),
    KN_FIELD(S, entropy_l, KN_F_NUMBER, "values in every class, counted by how evenly they occur"),
    KN_FIELD(S, recursive_c2, KN_F_NUMBER, "(c,2)-diverse for every larger c; null: for none"),
    KN_FIELD(S, recursive_c3, KN_F_NUMBER, "(c,3)-diverse for every larger c; null: for none"),
    KN_FIELD(S, t_equal, KN_F_NUMBER, "how far a class is from the whole table: 0 the same, 1 nothing in common"),
    KN_FIELD(S, t_ordered, KN_F_NUMBER, "the same, where near values count as near"),
    KN_FIELD(S, t_hierarchical, KN_F_NUMBER, "the same, where values of one group count as near; null: no hierarchy"),
    KN_FIELD(S, alpha, KN_F_SHARE, "share of the most frequent value in a class, at most"),
    KN_FIELD(S, beta, KN_F_NUMBER, "how much more likely a value becomes by knowing the class, at most"),
    KN_FIELD(S, beta_enhanced, KN_F_NUMBER, "the same, with a bound for rare values; null: no beta will do"),
    KN_FIELD(S, delta, KN_F_NUMBER, "how far any value's share moves (logarithm); null: some class lacks some value"),
    KN_FIELD(S, delta_present, KN_F_NUMBER, "the same over the values that a class has"),
    KN_VALUE("attribute", KN_F_TEXT, "the sensitive column"),
};
#undef S
const kn_fields kn_figures_part = KN_FIELDS(kn_model_figures, "sensitive", figures_rows, NULL);

static const kn_field_row verdict_rows[] = {
    KN_VALUE("requirement", KN_F_TEXT, "what was required, as it was written"),
    KN_FIELD(kn_model_verdict, reached, KN_F_NUMBER, "what the worst class reaches; null: without a bound"),
    KN_FIELD(kn_model_verdict, classes, KN_F_CLASSES, "classes that violate it"),
    KN_FIELD(kn_model_verdict, rows, KN_F_ROWS, "rows in them"),
    KN_VALUE("holds", KN_F_BOOLEAN | KN_F_NULLABLE,
             "whether it holds in every class; null: there is no class, so it is undecided"),
};
static const kn_fields verdict_part = KN_FIELDS(kn_model_verdict, "requirement", verdict_rows, NULL);

#define MODEL_ROWS                                                                                                     \
    KN_VALUE_OF("sensitive", KN_F_LIST, &kn_figures_part,                                                              \
                "the figures of the worst class, for each sensitive column"),                                          \
        KN_VALUE_OF("requirements", KN_F_LIST, &verdict_part, "what was required, and whether it holds"),              \
        KN_VALUE("holds", KN_F_BOOLEAN | KN_F_NULLABLE,                                                                \
                 "whether everything that was required holds; null: there is no class, so it is undecided")

static const kn_field_row models_rows[] = {MODEL_ROWS};
static const kn_fields    models_part = KN_FIELDS_PUT("models", models_rows);

/* Of no class at all everything would hold: that is no answer. */
static void put_holds(kn_to to, bool decided, bool holds)
{
    if (decided)
        kn_put_boolean(to, "holds", holds);
    else
        kn_put_null(to, "holds");
}

static void put_verdicts(kn_to to, const char *const *texts, const kn_model_verdict *verdicts, int count, bool classes)
{
    kn_to list = kn_put_list(to, "requirements");
    for (int i = 0; i < count; i++) {
        kn_to one = kn_append_object(list);
        kn_put_struct(one, &verdicts[i]);
        put_holds(one, classes, verdicts[i].holds);
        kn_put_text(one, "requirement", texts[i]);
    }
}

void kn_put_sensitive(kn_to to, const kn_sensitive_report *reports, int count)
{
    kn_to list = kn_put_list(to, "sensitive");
    for (int i = 0; i < count; i++) {
        kn_to one = kn_append_object(list);
        kn_put_struct(one, &reports[i].figures);
        kn_put_text(one, "attribute", reports[i].name);
    }
}

static void put_models(kn_to to, const kn_model_report *r, const char *const *requirements)
{
    kn_put_sensitive(to, r->sensitive, r->sensitive_count);
    put_verdicts(to, requirements, r->verdicts, r->requirement_count, r->classes > 0);
    put_holds(to, r->classes > 0 || r->requirement_count == 0, r->holds);
}

/* ---- Risk ---- */

#define S kn_risk_summary
static const kn_field_row summary_rows[] = {
    KN_FIELD(S, highest, KN_F_SHARE, "chance that the easiest person is found"),
    KN_FIELD(S, average, KN_F_SHARE, "the same for a person picked at random"),
    KN_FIELD(S, expected, KN_F_NUMBER, "records expected to be found"),
    KN_FIELD(S, at_risk, KN_F_RECORDS, "records whose chance is above the threshold"),
    KN_FIELD(S, at_risk_share, KN_F_SHARE, "the same, of all records"),
};
#undef S
static const kn_fields summary_part = KN_FIELDS(kn_risk_summary, "risk_summary", summary_rows, NULL);

static const kn_field_row estimate_rows[] = {
    KN_VALUE_WORDS("estimator", kn_uniques_model_name, KN_UNIQUES_PITMAN, 0, "'zayatz' or 'pitman'"),
    KN_FIELD(kn_uniques_estimate, uniques, KN_F_NUMBER,
             "records of the population that are unique in it; null: no estimate"),
    KN_FIELD(kn_uniques_estimate, share, KN_F_SHARE, "the same, of the population"),
    KN_FIELD_NAMED(kn_uniques_estimate, status, kn_estimate_status_text, 0, "how the estimate went, in a few words"),
};
static const kn_fields estimate_part = KN_FIELDS(kn_uniques_estimate, "estimate", estimate_rows, NULL);

#define S kn_risk
static const kn_field_row risk_rows[] = {
    KN_FIELD(S, records, KN_F_RECORDS, "what risk is measured for: rows, or persons"),
    KN_VALUE("threshold", KN_F_SHARE, "a record is at risk when its chance to be found is above it"),
    KN_FIELD(S, sample_uniques, KN_F_RECORDS, "records alone in their class"),
    KN_FIELD_PART(S, prosecutor, &summary_part, KN_F_OBJECT, "of somebody who knows that the person is in the table"),
    KN_FIELD(S, marketer, KN_F_SHARE, "share of all records expected to be found"),
    KN_VALUE_OF("journalist", KN_F_OBJECT | KN_F_OPTIONAL, &summary_part,
                "of somebody who does not; with --population"),
    KN_VALUE("population_rows", KN_F_ROWS | KN_F_OPTIONAL, "rows of the population"),
    KN_VALUE("population_uniques", KN_F_ROWS | KN_F_OPTIONAL, "those alone in their class"),
    KN_VALUE("shared_uniques", KN_F_RECORDS | KN_F_OPTIONAL, "sample uniques that are alone in the population too"),
    KN_VALUE("absent_rows", KN_F_ROWS | KN_F_OPTIONAL, "rows whose class does not occur in the population"),
    KN_VALUE("exceeding_rows", KN_F_ROWS | KN_F_OPTIONAL, "rows of classes that occur there, but with fewer rows"),
    KN_VALUE("population_size", KN_F_RECORDS | KN_F_OPTIONAL, "with --sampling: records of the population"),
    KN_VALUE_OF("population_uniques_estimated", KN_F_LIST | KN_F_OPTIONAL, &estimate_part,
                "with --sampling: how many of them are unique"),
    KN_VALUE_WORDS("recommended", kn_uniques_model_name, KN_UNIQUES_PITMAN, KN_F_OPTIONAL,
                   "the estimator to believe at this sampling fraction"),
    KN_VALUE("intrusion", KN_F_SHARE | KN_F_OPTIONAL, "the probability that a unique match is right; null: not known"),
    KN_VALUE("weight_sum", KN_F_NUMBER | KN_F_OPTIONAL, "with --weight: the estimated size of the population"),
    KN_VALUE_OF("individual", KN_F_OBJECT | KN_F_OPTIONAL, &summary_part, "with --weight: the individual risk"),
};
#undef S
static const kn_fields risk_part = KN_FIELDS(kn_risk, "risk", risk_rows, NULL);

static void put_risk(kn_to to, const kn_risk *r)
{
    kn_put_struct(to, r);
    kn_put_number(to, "threshold", (double)r->threshold.numerator / (double)r->threshold.denominator);
    if (r->has_population) {
        kn_put_part(to, "journalist", &r->journalist);
        kn_put_integer(to, "population_rows", r->population_rows);
        kn_put_integer(to, "population_uniques", r->population_uniques);
        kn_put_integer(to, "shared_uniques", r->shared_uniques);
        kn_put_integer(to, "absent_rows", r->absent_rows);
        kn_put_integer(to, "exceeding_rows", r->exceeding_rows);
    }
    if (r->sampled) {
        kn_to list = kn_put_list(to, "population_uniques_estimated");
        for (int i = 0; i < 2; i++) {
            kn_to one = kn_append_object(list);
            kn_put_struct(one, &r->estimates[i]);
            kn_put_text(one, "estimator", kn_uniques_model_name(r->estimates[i].model));
        }
        kn_put_integer(to, "population_size", r->population_size);
        kn_put_text(to, "recommended", kn_uniques_model_name(r->recommended));
        kn_put_number(to, "intrusion", r->intrusion);
    }
    if (r->weighted) {
        kn_put_number(to, "weight_sum", r->weight_sum);
        kn_put_part(to, "individual", &r->individual);
    }
}

/* ---- Special uniques ---- */

static const kn_field_row suda_column_rows[] = {
    KN_VALUE("attribute", KN_F_TEXT, "the column"),
    KN_VALUE("msus", KN_F_COUNT, "minimal sample uniques that it is part of"),
    KN_VALUE("share", KN_F_SHARE, "share of all scores that comes from them"),
};
static const kn_fields suda_column_part = KN_FIELDS_PUT("suda_column", suda_column_rows);

static const kn_field_row special_rows[] = {
    KN_VALUE("row", KN_F_COUNT, "the row's number, from 1"),
    KN_FIELD(kn_special_row, score, KN_F_NUMBER, "how special it is"),
    KN_FIELD(kn_special_row, msus, KN_F_COUNT, "its minimal sample uniques"),
    KN_FIELD(kn_special_row, smallest, KN_F_COLUMNS, "columns in the smallest of them"),
    KN_VALUE("columns", KN_F_NUMBERS, "what each column adds to its score, as a share"),
};
static const kn_fields special_part = KN_FIELDS(kn_special_row, "special_row", special_rows, NULL);

static const kn_field_row suda_rows[] = {
    KN_FIELD(kn_suda, max_size, KN_F_COLUMNS, "sets of at most so many columns were looked at"),
    KN_VALUE("complete", KN_F_BOOLEAN, "false: larger sets may matter too"),
    KN_VALUE("msus_by_size", KN_F_COUNTS, "minimal sample uniques of one column, of two, ..."),
    KN_VALUE_OF("columns", KN_F_LIST, &suda_column_part, "what each column has a part in"),
    KN_VALUE_OF("rows", KN_F_LIST, &special_part, "the special rows"),
};
static const kn_fields suda_part = KN_FIELDS(kn_suda, "suda", suda_rows, NULL);

static void put_suda(kn_to to, const kn_suda *r, const char *const *names)
{
    kn_put_struct(to, r);
    kn_put_boolean(to, "complete", !r->partial);
    kn_to sizes = kn_put_list(to, "msus_by_size"), columns = kn_put_list(to, "columns"), rows = kn_put_list(to, "rows");
    for (int i = 1; i <= r->max_size; i++) kn_append_integer(sizes, r->msus_by_size[i]);
    for (int c = 0; c < r->columns; c++) {
        kn_to one = kn_append_object(columns);
        kn_put_text(one, "attribute", names[c]);
        kn_put_integer(one, "msus", r->column_msus[c]);
        kn_put_number(one, "share", r->column_share[c]);
    }
    for (int64_t i = 0; i < r->special_count; i++) {
        kn_to one = kn_append_object(rows), shares;
        kn_put_struct(one, &r->special[i]);
        kn_put_integer(one, "row", r->special[i].row + 1);
        shares = kn_put_list(one, "columns");
        for (int c = 0; c < r->columns && r->row_columns; c++)
            kn_append_number(shares, r->row_columns[i * r->columns + c]);
    }
}

/* ---- Times ---- */

static const kn_field_row times_rows[] = {
    KN_VALUE("read", KN_F_SECONDS, "reading the table"),
    KN_VALUE("group", KN_F_SECONDS, "answering"),
    KN_VALUE("total", KN_F_SECONDS, "both together"),
};
static const kn_fields times_part = KN_FIELDS_PUT("times", times_rows);

static const kn_field_row memory_rows[] = {
    KN_VALUE("peak_bytes", KN_F_COUNT, "the most memory held at a time, in bytes"),
    KN_VALUE("table_bytes", KN_F_COUNT, "what the table takes, in bytes"),
};
static const kn_fields memory_part = KN_FIELDS_PUT("memory", memory_rows);

#define TIMES_ROWS                                                                                                     \
    KN_VALUE_OF("seconds", KN_F_OBJECT | KN_F_OPTIONAL, &times_part, "with --timings: by the clock"),                  \
        KN_VALUE_OF("cpu_seconds", KN_F_OBJECT | KN_F_OPTIONAL, &times_part, "with --timings: of all processors"),     \
        KN_VALUE_OF("memory", KN_F_OBJECT | KN_F_OPTIONAL, &memory_part, "with --timings: memory")

static void put_seconds(kn_to to, double read, double group)
{
    kn_put_number(to, "read", read);
    kn_put_number(to, "group", group);
    kn_put_number(to, "total", read + group);
}

static void put_times(kn_to to, kn_context *ctx, const kn_table *table, const kn_diagnose_times *times)
{
    if (!times) return;
    put_seconds(kn_put_object(to, "seconds"), times->read, times->group);
    put_seconds(kn_put_object(to, "cpu_seconds"), times->cpu_read, times->cpu_group);
    kn_to memory = kn_put_object(to, "memory");
    kn_put_integer(memory, "peak_bytes", (int64_t)kn_context_memory_peak(ctx));
    kn_put_integer(memory, "table_bytes", (int64_t)kn_table_bytes(table));
}

/* ---- Notes ---- */

/* The code of the value * in a column; -1: none. */
static int64_t star_of(const kn_table *table, int column)
{
    for (uint32_t code = 0; code < kn_table_distinct(table, column); code++) {
        size_t      length = 0;
        const char *text = kn_table_text(table, column, code, &length);
        if (length == 1 && text[0] == '*') return code;
    }
    return -1;
}

/* Rows in which all quasi-identifiers are *. */
static int64_t count_stars(kn_document *doc, const kn_table *table, const char *const *quasi, int n)
{
    struct {
        int     column;
        int64_t star;
    } *at = kn_document_take(doc, ((size_t)n + 1) * sizeof *at);
    int64_t count = 0;
    for (int q = 0; at && q < n; q++) {
        at[q].column = kn_table_find(table, quasi[q]);
        at[q].star = at[q].column >= 0 ? star_of(table, at[q].column) : -1;
        if (at[q].star < 0) return 0;
    }
    for (int64_t row = 0; at && row < kn_table_rows(table); row++) {
        int q = 0;
        while (q < n && kn_table_code(table, at[q].column, row) == at[q].star) q++;
        if (q == n) count += kn_table_count(table, row);
    }
    return count;
}

/* A pipeline whose export came out empty must not learn that all is well. */
static void note_nobody(kn_document *doc, int64_t rows)
{
    if (rows == 0)
        kn_put_note(doc, "the table has no rows: nothing is shown about anybody; look at how it was made");
    else
        kn_put_note(doc, "every row has a missing cell and was set aside: nothing is shown about anybody");
}

/* In a diagnosis of a release the suppressed rows are a class, often the smallest. */
static void note_suppressed(kn_document *doc, const kn_table *table, const char *const *quasi, int quasi_count)
{
    char    rows[KN_COUNT_TEXT];
    int64_t count = count_stars(doc, table, quasi, quasi_count);
    if (count == 0 || count == kn_table_total(table)) return;
    kn_put_note(
        doc,
        "one class is * in all of these columns (%s %s); in a release such rows are suppressed, and point at nobody",
        kn_count_text(rows, count), count == 1 ? "row" : "rows");
}

/* ---- A set of columns ---- */

static const kn_field_row step_rows[] = {
    KN_FIELD(kn_step, k, KN_F_COUNT, "the k that is reached"),
    KN_FIELD(kn_step, removed, KN_F_ROWS, "rows to be removed"),
};
static const kn_fields step_part = KN_FIELDS(kn_step, "step", step_rows, NULL);

static const char *reading_name(unsigned at_most)
{
    return at_most ? "at most" : "at least";
}

#define ASKED_ROWS                                                                                                     \
    KN_VALUE("requested", KN_F_COUNT | KN_F_OPTIONAL, "with -k: the k asked for"),                                     \
        KN_VALUE_WORDS("reading", reading_name, true, KN_F_OPTIONAL, "with -k: 'at least' or 'at most'")

#define S kn_diagnosis
static const kn_field_row diagnose_rows[] = {
    KN_ANSWER_ROW,
    KN_FIELD(S, rows, KN_F_ROWS, "rows of the table"),
    KN_VALUE("quasi", KN_F_TEXTS, "the quasi-identifiers"),
    KN_VALUE("entity", KN_F_TEXT | KN_F_OPTIONAL, "the column that says whose row it is"),
    KN_VALUE("persons", KN_F_PERSONS | KN_F_OPTIONAL, "with an entity: different persons"),
    KN_VALUE_WORDS("missing", kn_missing_name, KN_MISSING_DROP, 0,
                   "what a missing cell means: 'value', 'wildcard' or 'drop'"),
    KN_FIELD(S, missing_rows, KN_F_ROWS, "rows with a missing quasi-identifier"),
    KN_FIELD(S, dropped, KN_F_ROWS, "those of them that are set aside"),
    KN_FIELD(S, k, KN_F_COUNT, "rows, or persons, of the smallest class; 0: no row is left"),
    KN_FIELD(S, classes, KN_F_CLASSES, "classes of rows that look alike"),
    KN_FIELD(S, unique_rows, KN_F_ROWS, "rows that stand alone"),
    KN_FIELD_LIST_AS(S, sizes, size_count, "histogram", &kn_sizes_part, KN_F_LIST,
                     "how many classes have how many rows"),
    ASKED_ROWS,
    KN_VALUE("below_classes", KN_F_CLASSES | KN_F_OPTIONAL, "with -k: classes that are smaller"),
    KN_VALUE("below_rows", KN_F_ROWS | KN_F_OPTIONAL, "with -k: rows in them"),
    KN_FIELD(S, suppressed, KN_F_ROWS, "rows that would be removed"),
    KN_VALUE("budget", KN_F_ROWS | KN_F_OPTIONAL, "with --suppression: rows that may be removed"),
    KN_VALUE("suppressed_classes", KN_F_CLASSES | KN_F_OPTIONAL, "with --suppression: classes that would be removed"),
    KN_VALUE("k_after", KN_F_COUNT | KN_F_OPTIONAL, "with --suppression: the k of what remains"),
    KN_VALUE_OF("staircase", KN_F_LIST | KN_F_OPTIONAL, &step_part,
                "with --suppression any: which k removing rows reaches"),
    KN_VALUE("removed", KN_F_ROWS | KN_F_OPTIONAL | KN_F_NULLABLE,
             "with --suppression any and -k: rows to be removed; null: none would do"),
    KN_VALUE("holds", KN_F_BOOLEAN | KN_F_NULLABLE, "with -k: whether it holds; else, and if no row is left, null"),
    KN_VALUE_OF("models", KN_F_OBJECT | KN_F_OPTIONAL, &models_part,
                "with --sensitive: what a class says about sensitive columns"),
    KN_VALUE_OF("risk", KN_F_OBJECT | KN_F_OPTIONAL, &risk_part,
                "with --risk: how likely it is that somebody is found"),
    KN_VALUE_OF("suda", KN_F_OBJECT | KN_F_OPTIONAL, &suda_part, "with --suda: what makes a row special"),
    TIMES_ROWS,
    KN_NOTES_ROW,
};
#undef S
const kn_fields kn_answer_diagnose =
    KN_ANSWER(kn_diagnosis, "diagnose", diagnose_rows, NULL, "What is the k of a table on a set of columns?");

static void put_asked(kn_to to, int64_t k, bool at_most)
{
    if (k <= 0) return;
    kn_put_integer(to, "requested", k);
    kn_put_text(to, "reading", reading_name(at_most));
}

/* Does k hold: at least, or at most, as asked? */
static bool holds(const kn_diagnose_answers *a)
{
    const kn_diagnosis *d = a->diagnosis;
    int64_t             k = a->options->k;
    if (a->suppress_mode == KN_SUPPRESS_ASKED) return kn_diagnosis_removal(d, k, a->at_most) >= 0;
    return a->at_most ? d->k_after <= k : d->holds;
}

static void put_suppression(kn_to to, const kn_diagnose_answers *a)
{
    const kn_diagnosis *d = a->diagnosis;
    int64_t             k = a->options->k;
    if (a->suppress_mode == KN_SUPPRESS_GIVEN) {
        kn_put_integer(to, "budget", d->budget);
        kn_put_integer(to, "suppressed_classes", d->suppressed_classes);
        kn_put_integer(to, "k_after", d->k_after);
    }
    if (a->suppress_mode != KN_SUPPRESS_ASKED) return;
    kn_to steps = kn_put_list(to, "staircase");
    for (int64_t i = 0; i < kn_diagnosis_steps(d); i++) {
        kn_step step = kn_diagnosis_step(d, i);
        kn_append_struct(steps, &step);
    }
    if (k == 0) return;
    int64_t removed = kn_diagnosis_removal(d, k, a->at_most);
    if (removed < 0)
        kn_put_null(to, "removed");
    else
        kn_put_integer(to, "removed", removed);
}

kn_status kn_document_diagnose(kn_document **out, kn_context *ctx, const kn_table *table, const kn_diagnose_answers *a,
                               kn_error *err)
{
    *out = NULL;
    KN_OPTIONS(kn_diagnose_answers, KN_DIAGNOSE_ANSWERS_INIT, a, "answers", err);
    const kn_diagnosis        *d = a->diagnosis;
    const kn_diagnose_options *o = a->options;
    kn_document               *doc;
    KN_TRY(kn_answer_begin(&doc, ctx, &kn_answer_diagnose, d, err));
    kn_to to = kn_document_top(doc);
    kn_put_texts(to, "quasi", o->quasi, o->quasi_count);
    if (o->entity) {
        kn_put_text(to, "entity", o->entity);
        kn_put_integer(to, "persons", d->persons);
    }
    kn_put_text(to, "missing", kn_missing_name(o->missing));
    put_asked(to, o->k, a->at_most);
    if (o->k > 0) {
        kn_put_integer(to, "below_classes", d->below_classes);
        kn_put_integer(to, "below_rows", d->below_rows);
    }
    bool decided = o->k > 0 && d->classes > 0;
    put_holds(to, decided, decided && holds(a));
    put_suppression(to, a);
    if (a->models) put_models(kn_put_object(to, "models"), a->models, a->requirements);
    if (a->risk) put_risk(kn_put_object(to, "risk"), a->risk);
    if (a->suda) put_suda(kn_put_object(to, "suda"), a->suda, o->quasi);
    put_times(to, ctx, table, a->times);
    kn_note_table(doc, table);
    if (d->classes == 0) note_nobody(doc, d->rows);
    note_suppressed(doc, table, o->quasi, o->quasi_count);
    return kn_document_end(out, doc, err);
}

/* ---- All subsets of a list ---- */

static const kn_field_row set_rows[] = {
    KN_VALUE("attributes", KN_F_TEXTS, "the columns of the set"),
    KN_FIELD(kn_set_answer, k, KN_F_COUNT, "its k, after suppression where that is asked for"),
    KN_VALUE("removed", KN_F_ROWS | KN_F_OPTIONAL | KN_F_NULLABLE,
             "rows removed, or to be removed; null: none would do"),
    KN_VALUE_OF("staircase", KN_F_LIST | KN_F_OPTIONAL, &step_part, "which k removing rows reaches"),
};
static const kn_fields set_part = KN_FIELDS(kn_set_answer, "set", set_rows, NULL);

static const kn_field_row model_set_rows[] = {
    KN_VALUE("attributes", KN_F_TEXTS, "the columns of the set"),
    KN_FIELD(kn_model_set, k, KN_F_COUNT, "rows, or persons, of its smallest class"),
    MODEL_ROWS,
};
static const kn_fields model_set_part = KN_FIELDS(kn_model_set, "model_set", model_set_rows, NULL);

#define S kn_sets_diagnosis
static const kn_field_row over_rows[] = {
    KN_ANSWER_ROW,
    KN_FIELD(S, rows, KN_F_ROWS, "rows of the table"),
    KN_VALUE("over", KN_F_TEXTS, "the columns whose subsets are looked at"),
    KN_VALUE("entity", KN_F_TEXT | KN_F_OPTIONAL, "the column that says whose row it is"),
    KN_VALUE_WORDS("missing", kn_missing_name, KN_MISSING_VALUE, 0, "what a missing cell means: 'value'"),
    ASKED_ROWS,
    KN_VALUE("budget", KN_F_ROWS | KN_F_OPTIONAL, "with --suppression: rows that may be removed"),
    KN_VALUE("maximal", KN_F_TEXT_LISTS | KN_F_OPTIONAL, "with -k: the largest sets on which the table is k-anonymous"),
    KN_VALUE("maximal_violating", KN_F_TEXT_LISTS | KN_F_OPTIONAL,
             "with --at-most: the largest sets on which it is more"),
    KN_VALUE("minimal_violating", KN_F_TEXT_LISTS | KN_F_OPTIONAL, "with -k: the smallest sets on which it is not"),
    KN_VALUE("minimal", KN_F_TEXT_LISTS | KN_F_OPTIONAL, "with --at-most: the smallest sets on which it is at most so"),
    KN_VALUE("holds", KN_F_BOOLEAN | KN_F_OPTIONAL | KN_F_NULLABLE,
             "with -k: whether it holds on all columns together; null: the table has no rows"),
    KN_VALUE_OF("sets", KN_F_LIST | KN_F_OPTIONAL, &set_part, "every set, smaller ones first"),
    KN_FIELD(S, calls, KN_F_COUNT, "how often the k of a set was computed"),
    KN_FIELD(S, complete, KN_F_BOOLEAN, "false: it was cut short; what is listed is right"),
    KN_VALUE("minimal_violating_complete", KN_F_BOOLEAN | KN_F_OPTIONAL,
             "whether minimal_violating at least is complete"),
    KN_VALUE("minimal_complete", KN_F_BOOLEAN | KN_F_OPTIONAL, "whether minimal at least is complete"),
    KN_FIELD(S, why_partial, KN_F_TEXT | KN_F_OPTIONAL, "what cut it short"),
    KN_VALUE_OF("models", KN_F_LIST | KN_F_OPTIONAL, &model_set_part, "with --sensitive: the models on every set"),
    TIMES_ROWS,
    KN_NOTES_ROW,
};
#undef S
const kn_fields kn_answer_diagnose_over = KN_ANSWER(kn_sets_diagnosis, "diagnose-over", over_rows, NULL,
                                                    "On which subsets of a list of columns is a table k-anonymous?");

static void put_set(kn_to list, const kn_sets_options *o, kn_column_set set)
{
    for (int i = 0; i < set.count; i++) kn_append_text(list, o->over[set.columns[i]]);
}

static void put_border(kn_to to, const char *key, const kn_sets_options *o, const kn_column_set *sets, int64_t count)
{
    kn_to list = kn_put_list(to, key);
    for (int64_t i = 0; i < count; i++) put_set(kn_append_list(list), o, sets[i]);
}

static void put_sets(kn_to to, const kn_sets_options *o, const kn_sets_diagnosis *d)
{
    kn_to list = kn_put_list(to, "sets");
    bool  asked = o->suppress_mode == KN_SUPPRESS_ASKED;
    for (int64_t i = 0; i < d->set_count; i++) {
        const kn_set_answer *a = &d->sets[i];
        kn_to                one = kn_append_object(list);
        kn_put_struct(one, a);
        put_set(kn_put_list(one, "attributes"), o, a->set);
        if (o->suppress_mode == KN_SUPPRESS_GIVEN || (asked && o->k > 0)) {
            if (a->removed < 0)
                kn_put_null(one, "removed");
            else
                kn_put_integer(one, "removed", a->removed);
        }
        if (asked && o->k == 0) kn_put_parts(one, "staircase", a->steps, a->step_count);
    }
}

static void put_model_sets(kn_to to, const kn_sets_answers *a)
{
    const kn_model_sets *m = a->models;
    kn_to                list = kn_put_list(to, "models");
    for (int64_t i = 0; i < m->count; i++) {
        const kn_model_set *set = &m->sets[i];
        kn_to               one = kn_append_object(list);
        kn_put_struct(one, set);
        kn_to names = kn_put_list(one, "attributes"), columns = kn_put_list(one, "sensitive");
        for (int c = 0; c < a->options->over_count; c++)
            if (set->columns >> c & 1) kn_append_text(names, a->options->over[c]);
        for (int s = 0; s < m->sensitive_count; s++) {
            kn_to figures = kn_append_object(columns);
            kn_put_struct(figures, &set->figures[s]);
            kn_put_text(figures, "attribute", a->sensitive[s]);
        }
        put_verdicts(one, a->requirements, set->verdicts, m->requirement_count, set->classes > 0);
        put_holds(one, set->classes > 0 || m->requirement_count == 0, set->holds);
    }
}

/* With k, "holds" refers to all columns together, and thus to every set. */
static bool sets_hold(const kn_sets_options *o, const kn_sets_diagnosis *d)
{
    if (o->at_most) return d->maximal_count == 0 || d->maximal[d->maximal_count - 1].count < o->over_count;
    return d->minimal_count == 0 && d->complete;
}

kn_status kn_document_diagnose_sets(kn_document **out, kn_context *ctx, const kn_table *table, const kn_sets_answers *a,
                                    kn_error *err)
{
    *out = NULL;
    KN_OPTIONS(kn_sets_answers, KN_SETS_ANSWERS_INIT, a, "answers", err);
    const kn_sets_options   *o = a->options;
    const kn_sets_diagnosis *d = a->sets;
    kn_document             *doc;
    KN_TRY(kn_answer_begin(&doc, ctx, &kn_answer_diagnose_over, d, err));
    kn_to to = kn_document_top(doc);
    kn_put_texts(to, "over", o->over, o->over_count);
    if (o->entity) kn_put_text(to, "entity", o->entity);
    kn_put_text(to, "missing", kn_missing_name(KN_MISSING_VALUE));
    put_asked(to, o->k, o->at_most);
    if (o->suppress_mode == KN_SUPPRESS_GIVEN) kn_put_integer(to, "budget", d->budget);
    if (o->k > 0 && o->suppress_mode != KN_SUPPRESS_ASKED) {
        /* With "at most" the large sets are those that violate it. */
        put_border(to, o->at_most ? "maximal_violating" : "maximal", o, d->maximal, d->maximal_count);
        put_border(to, o->at_most ? "minimal" : "minimal_violating", o, d->minimal_violating, d->minimal_count);
        put_holds(to, d->rows > 0, sets_hold(o, d));
        kn_put_boolean(to, o->at_most ? "minimal_complete" : "minimal_violating_complete", d->minimal_complete);
    } else {
        put_sets(to, o, d);
    }
    if (a->models) put_model_sets(to, a);
    put_times(to, ctx, table, a->times);
    kn_note_table(doc, table);
    if (d->rows == 0) note_nobody(doc, 0);
    return kn_document_end(out, doc, err);
}
