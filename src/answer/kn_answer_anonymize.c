/* kn_answer_anonymize.c: releases of a table, a database and tree records, as documents. The fields that every shape
 * has are put in one place (begin, finish); each shape adds its own.
 * SPDX-License-Identifier: Apache-2.0 */
#include <kanon/recipe.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kn_answer.h"
#include "kn_error.h"
#include "kn_names.h"
#include "kn_options.h"
#include "kn_request_document.h"

/* ---- Promises ---- */

static const kn_field_row model_rows[] = {
    KN_VALUE_WORDS("model", kn_model_name, KN_MODEL_KINDS - 1, KN_F_PUBLIC, "the promise, as a release file calls it"),
    KN_VALUE_WORDS("kind", kn_model_variant, KN_MODEL_KINDS - 1, KN_F_OPTIONAL | KN_F_PUBLIC, "its kind or distance"),
    KN_VALUE("attribute", KN_F_TEXT | KN_F_OPTIONAL | KN_F_PUBLIC, "the sensitive column"),
    KN_VALUE("k", KN_F_COUNT | KN_F_OPTIONAL | KN_F_PUBLIC, "asked: rows or persons of a class, at least"),
    KN_VALUE("l", KN_F_NUMBER | KN_F_OPTIONAL | KN_F_PUBLIC, "asked: l of l-diversity"),
    KN_VALUE("c", KN_F_NUMBER | KN_F_OPTIONAL | KN_F_PUBLIC, "asked: c of recursive l-diversity"),
    KN_VALUE("min", KN_F_SHARE | KN_F_OPTIONAL | KN_F_PUBLIC, "asked: the smallest presence"),
    KN_VALUE("t", KN_F_NUMBER | KN_F_OPTIONAL | KN_F_PUBLIC, "asked: t of t-closeness"),
    KN_VALUE("alpha", KN_F_SHARE | KN_F_OPTIONAL | KN_F_PUBLIC, "asked: the largest share of a value in a class"),
    KN_VALUE("beta", KN_F_NUMBER | KN_F_OPTIONAL | KN_F_PUBLIC, "asked: beta of beta-likeness"),
    KN_VALUE("delta", KN_F_NUMBER | KN_F_OPTIONAL | KN_F_PUBLIC, "asked: delta of delta-disclosure"),
    KN_VALUE("max", KN_F_SHARE | KN_F_OPTIONAL | KN_F_PUBLIC, "asked: the largest presence"),
    KN_VALUE("risk", KN_F_SHARE | KN_F_OPTIONAL | KN_F_PUBLIC, "asked: the largest risk"),
    KN_FIELD(kn_release_model, original, KN_F_NUMBER, "what the original reaches; null: not known, or without a bound"),
    KN_VALUE("original_unbounded", KN_F_BOOLEAN | KN_F_OPTIONAL, "true: it is null because it is without a bound"),
    KN_VALUE("reached", KN_F_NUMBER | KN_F_OPTIONAL,
             "what the release reaches; null: not known, without a bound, or nothing is left that it is about"),
    KN_VALUE("reached_unbounded", KN_F_BOOLEAN | KN_F_OPTIONAL, "true: it is null because it is without a bound"),
};
static const kn_fields model_part = KN_FIELDS(kn_release_model, "model", model_rows, NULL);

static void put_models(kn_to to, const kn_release_head *h)
{
    kn_to list = kn_put_list(to, "models");
    for (int i = 0; i < h->model_count; i++) {
        const kn_model *m = &h->models[i].model;
        kn_to           one = kn_append_object(list);
        kn_put_struct(one, &h->models[i]);
        kn_put_text(one, "model", kn_model_name(m->kind));
        if (kn_model_variant(m->kind)) kn_put_text(one, "kind", kn_model_variant(m->kind));
        if (m->attribute) kn_put_text(one, "attribute", m->attribute);
        if (m->kind == KN_MODEL_K || m->kind == KN_MODEL_K_MAP || (m->kind == KN_MODEL_ALPHA_K && m->k > 0))
            kn_put_integer(one, "k", m->k);
        if (m->kind == KN_MODEL_DISTINCT || m->kind == KN_MODEL_ENTROPY || m->kind == KN_MODEL_RECURSIVE)
            kn_put_number(one, "l", kn_ratio_number(m->l));
        if (m->kind == KN_MODEL_RECURSIVE) kn_put_number(one, "c", kn_ratio_number(m->c));
        if (m->kind == KN_MODEL_PRESENCE) kn_put_number(one, "min", kn_ratio_number(m->low));
        if (kn_request_bound(m->kind)) kn_put_number(one, kn_request_bound(m->kind), kn_ratio_number(m->bound));
        if (isinf(h->models[i].original)) kn_put_boolean(one, "original_unbounded", true);
        if (!h->found) continue;
        kn_put_number(one, "reached", h->models[i].reached);
        if (isinf(h->models[i].reached)) kn_put_boolean(one, "reached_unbounded", true);
    }
}

/* ---- What every shape has ---- */

static const kn_field_row seconds_rows[] = {
    KN_FIELD_AS(kn_release_head, seconds_read, "read", KN_F_SECONDS, "reading the original"),
    KN_FIELD_AS(kn_release_head, seconds_search, "search", KN_F_SECONDS, "looking for the release"),
    KN_FIELD_AS(kn_release_head, seconds_write, "write", KN_F_SECONDS, "writing it"),
    KN_FIELD_AS(kn_release_head, seconds_verify, "verify", KN_F_SECONDS, "verifying it"),
};
static const kn_fields seconds_part = KN_FIELDS(kn_release_head, "seconds", seconds_rows, NULL);

static const kn_field_row processor_rows[] = {
    KN_VALUE_OF("read", KN_F_OBJECT, &kn_effort_part, "reading the original"),
    KN_VALUE_OF("search", KN_F_OBJECT, &kn_effort_part, "looking for the release"),
    KN_VALUE_OF("write", KN_F_OBJECT, &kn_effort_part, "writing it"),
    KN_VALUE_OF("verify", KN_F_OBJECT, &kn_effort_part, "verifying it"),
};

static void fill_processor(kn_to to, const void *from)
{
    const kn_release_head *h = from;
    kn_put_effort(to, "read", h->work_read, h->span_read);
    kn_put_effort(to, "search", h->work_search, h->span_search);
    kn_put_effort(to, "write", h->work_write, h->span_write);
    kn_put_effort(to, "verify", h->work_verify, h->span_verify);
}

static const kn_fields processor_part = KN_FIELDS(kn_release_head, "processor", processor_rows, fill_processor);

#define HEAD_ROWS                                                                                                      \
    KN_ANSWER_ROW, KN_VALUE("found", KN_F_BOOLEAN, "whether there is such a release"),                                 \
        KN_VALUE("nothing_left", KN_F_TEXT | KN_F_NULLABLE, "in a sentence: it says nothing any more; null: it does"), \
        KN_VALUE("reason", KN_F_TEXT | KN_F_OPTIONAL, "if there is none: why"),                                        \
        KN_VALUE_WORDS("method", kn_method_name, KN_METHODS - 1, 0, "the method that was used"),                       \
        KN_VALUE_OF("auto", KN_F_OBJECT | KN_F_OPTIONAL, &kn_advice_part, "with method auto: what was tried")

#define WRITTEN_ROWS                                                                                                   \
    KN_VALUE("verified", KN_F_BOOLEAN | KN_F_OPTIONAL | KN_F_PUBLIC,                                                   \
             "true: the bytes were read again and verified before they got their name; absent: nothing was written"),  \
        KN_VALUE("sha256", KN_F_TEXT | KN_F_OPTIONAL | KN_F_PUBLIC, "SHA-256 of the release, where it is one file"),   \
        KN_VALUE("beside", KN_F_TEXT | KN_F_OPTIONAL, "what the names of the files beside it begin with"),             \
        KN_VALUE("output", KN_F_TEXT | KN_F_OPTIONAL,                                                                  \
                 "where it was written; not of a server, whose name may hold a "                                       \
                 "password"),                                                                                          \
        KN_VALUE("report", KN_F_TEXT | KN_F_OPTIONAL, "the owner's report"),                                           \
        KN_VALUE("public_report", KN_F_TEXT | KN_F_OPTIONAL, "the public report"),                                     \
        KN_VALUE("publish", KN_F_TEXTS | KN_F_OPTIONAL, "what may be published"),                                      \
        KN_VALUE("keep_private", KN_F_TEXTS | KN_F_OPTIONAL, "what stays with the owner")

#define TAIL_ROWS                                                                                                      \
    KN_VALUE("dropped", KN_F_TEXTS, "what was not declared and so left out"), KN_NOTES_ROW,                            \
        KN_VALUE("counters", KN_F_FIGURES, "what the search did"),                                                     \
        KN_VALUE_OF("seconds", KN_F_OBJECT, &seconds_part, "how long it took"),                                        \
        KN_VALUE_OF("processor", KN_F_OBJECT, &processor_part, "how many processors can be of use")

#define MODELS_ROW(optional)                                                                                           \
    KN_VALUE_OF("models", KN_F_LIST | (optional), &model_part, "the promises and what is reached")
#define SHARE_ROW                                                                                                      \
    KN_VALUE("largest_share", KN_F_SHARE | KN_F_OPTIONAL,                                                              \
             "of those who look alike with one sensitive value; null: nothing was promised about it")

static void put_share(kn_to to, const kn_release_head *h)
{
    kn_put_number(to, "largest_share", h->largest_share > 0 ? h->largest_share : NAN);
}

/* Puts a number as an integer, if it is one. */
static void put_whole(kn_to to, const char *key, double value)
{
    if (fabs(value) < 9e15 && value == floor(value))
        kn_put_integer(to, key, (int64_t)value);
    else
        kn_put_number(to, key, value);
}

static kn_status begin(kn_document **out, kn_context *ctx, const kn_fields *answer, const kn_release_head *h,
                       kn_error *err)
{
    KN_TRY(kn_document_begin(out, ctx, answer, err));
    kn_to to = kn_document_top(*out);
    kn_put_boolean(to, "found", h->found);
    kn_put_text(to, "nothing_left", h->nothing_left);
    if (!h->found) kn_put_text(to, "reason", h->reason);
    kn_put_text(to, "method", kn_method_name(h->method));
    if (h->advice) kn_put_part(to, "auto", h->advice);
    return KN_OK;
}

/* The release's name, and what the names of the files next to it begin with. */
typedef struct names {
    const char *release; /* NULL: a folder, which contains its certificate */
    const char *base;
} names;

static void append_path(kn_to list, const char *path, const char *ending)
{
    size_t size = strlen(path) + strlen(ending) + 1;
    char  *text = kn_document_take(list.doc, size);
    if (!text) return;
    snprintf(text, size, "%s%s", path, ending);
    kn_append_text(list, text);
}

static void put_written(kn_to to, const kn_release_head *h, const kn_spec *spec, names n)
{
    kn_put_boolean(to, "verified", true);
    if (h->sha256[0]) kn_put_text(to, "sha256", h->sha256);
    if (n.base != spec->output) kn_put_text(to, "beside", n.base);
    if (!kn_name_server(spec->output)) kn_put_text(to, "output", spec->output);
    if (spec->report) kn_put_text(to, "report", spec->report);
    if (spec->public_report) kn_put_text(to, "public_report", spec->public_report);
    kn_to shown = kn_put_list(to, "publish"), kept = kn_put_list(to, "keep_private");
    append_path(shown, n.release ? n.release : n.base, n.release ? "" : "/");
    append_path(shown, n.base, n.release ? ".certificate.json" : "/certificate.json");
    if (spec->summary) append_path(shown, n.base, ".summary.csv");
    if (spec->public_report) append_path(shown, spec->public_report, "");
    append_path(kept, n.base, ".private.json");
    if (spec->keep_rowmap) append_path(kept, n.base, ".rowmap");
    if (spec->keep_recipe) append_path(kept, n.base, ".recipe.json");
    if (kn_names_labelled(spec->inputs, spec->input_count)) append_path(kept, n.base, ".labels.csv");
    if (spec->report) append_path(kept, spec->report, "");
}

/* The names of a table's release: a server's says nothing of its connection, and the files beside a table of a SQLite
 * file are FILE.TABLE.certificate.json and so on (kn_set_base). */
static names table_names(kn_document *doc, const char *output)
{
    const char *file = output ? kn_name_sqlite(output) : NULL, *mark = output ? strrchr(output, '#') : NULL;
    bool        server = output && kn_name_server(output);
    size_t      length = output ? strlen(output) : 0, end = length;
    while (end > 1 && output[end - 1] == '/') end--;
    if (end < length) { /* a folder of parts */
        char *base = kn_document_take(doc, end + 1);
        if (base) snprintf(base, end + 1, "%s", output);
        return (names){output, base ? base : ""};
    }
    if (!mark || (!file && !server)) return (names){output, output};
    size_t size = strlen(output) + sizeof "table  of the server";
    char  *text = kn_document_take(doc, size);
    if (!text) return (names){"", ""};
    snprintf(text, size, server ? "table %s of the server" : "%s", server ? mark + 1 : file);
    if (!server) text[mark - file] = '.';
    return server ? (names){text, mark + 1} : (names){output, text};
}

/* The names of a database's release, whose other files' begin with `base`. */
static names database_names(kn_document *doc, const char *output, const char *base)
{
    if (output && kn_name_sqlite(output)) return (names){base, base};
    if (!output || !kn_name_server(output)) return (names){NULL, base};
    size_t size = (base ? strlen(base) : 0) + sizeof "schema  of the server";
    char  *name = kn_document_take(doc, size);
    if (name) snprintf(name, size, "schema %s of the server", base ? base : "");
    return (names){name ? name : "", base};
}

static void finish(kn_document *doc, const kn_release_head *h, const kn_spec *spec, bool dry_run, names n)
{
    kn_to to = kn_document_top(doc);
    if (h->found && !dry_run) put_written(to, h, spec, n);
    kn_put_texts(to, "dropped", h->dropped, h->dropped_count);
    kn_to counters = kn_put_object(to, "counters");
    for (int i = 0; i < h->counter_count; i++) kn_put_figure(counters, h->counters[i].name, h->counters[i].value, true);
    kn_put_part(to, "seconds", h);
    kn_put_part(to, "processor", h);
    kn_note_dropped(doc, h->dropped, h->dropped_count);
    if (spec->keep_rowmap && !dry_run && h->found)
        kn_put_note(doc, "the row map undoes the release: keep it to yourself");
    kn_put_notes(doc, h->notes, h->note_count);
}

/* ---- Tables ---- */

static void fill_attribute(kn_to to, const void *from)
{
    const kn_release_attribute *a = from;
    if (a->level < 0) {
        kn_put_null(to, "level");
        kn_put_null(to, "height");
    } else {
        kn_put_integer(to, "level", a->level);
        kn_put_integer(to, "height", a->height);
    }
}

#define S kn_release_attribute
static const kn_field_row attribute_rows[] = {
    KN_FIELD(S, name, KN_F_TEXT, "the column's name"),
    KN_VALUE("level", KN_F_LEVEL | KN_F_NULLABLE, "the level it was generalized to; null: the method has no levels"),
    KN_VALUE("height", KN_F_LEVEL | KN_F_NULLABLE, "the highest level of its hierarchy"),
    KN_FIELD(S, lm, KN_F_SHARE, "how many of its values a cell may stand for, on average"),
    KN_FIELD(S, ncp, KN_F_SHARE, "the same as a share of all values"),
    KN_FIELD(S, prec, KN_F_SHARE, "how many levels of its hierarchy a cell kept, on average"),
    KN_FIELD(S, entropy, KN_F_BITS, "by how much its cells say less than they did"),
};
#undef S
static const kn_fields attribute_part = KN_FIELDS(kn_release_attribute, "attribute", attribute_rows, fill_attribute);

#define S kn_release_items
static const kn_field_row items_rows[] = {
    KN_FIELD_AS(S, name, "column", KN_F_TEXT | KN_F_PUBLIC, "the column's name"),
    KN_FIELD(S, m, KN_F_COUNT | KN_F_PUBLIC, "how many items somebody may know beside the quasi-identifiers"),
    KN_FIELD(S, k, KN_F_ROWS | KN_F_PUBLIC,
             "the fewest rows of a class that show a combination of up to m items, or of one that shows none; 0: "
             "nothing was "
             "written"),
    KN_FIELD(S, items, KN_F_COUNT, "items of the original, each once per row"),
    KN_FIELD(S, kept, KN_F_COUNT, "those that are shown as they were"),
    KN_FIELD(S, hidden, KN_F_COUNT, "those in cells that show *"),
    KN_FIELD(S, classes, KN_F_CLASSES, "classes whose cells all show *"),
    KN_FIELD(S, loss, KN_F_SHARE,
             "how many items of the hierarchy an item may stand for, on average; 1 where it is hidden"),
};
#undef S
static const kn_fields items_part = KN_FIELDS(kn_release_items, "items", items_rows, NULL);

static const kn_field_row bounds_rows[] = {
    KN_FIELD_AS(kn_release_result, region_bound, "class_rows", KN_F_ROWS, "no class has more"),
    KN_FIELD_AS(kn_release_result, c_avg_bound, "c_avg", KN_F_NUMBER, "what c_avg is at most"),
    KN_FIELD_AS(kn_release_result, dm_bound, "dm", KN_F_NUMBER, "what dm is at most"),
};
static const kn_fields bounds_part = KN_FIELDS(kn_release_result, "bounds", bounds_rows, NULL);

static const kn_field_row solution_rows[] = {
    KN_VALUE("node", KN_F_COUNTS, "the levels, in the order of the quasi-identifiers"),
    KN_FIELD(kn_release_node, loss, KN_F_NUMBER, "by the metric that is minimized"),
    KN_FIELD(kn_release_node, suppressed, KN_F_ROWS, "rows that would be suppressed"),
    KN_FIELD(kn_release_node, classes, KN_F_CLASSES, "classes of the others"),
};
static const kn_fields solution_part = KN_FIELDS(kn_release_node, "solution", solution_rows, NULL);

static const kn_field_row together_rows[] = {
    KN_FIELD(kn_release_union, rows, KN_F_ROWS, "rows of both, suppressed ones as far as they are shown"),
    KN_FIELD(kn_release_union, suppressed, KN_F_ROWS, "rows of them that are suppressed"),
    KN_FIELD(kn_release_union, classes, KN_F_CLASSES, "classes of rows that look alike in either"),
    KN_FIELD(kn_release_union, k, KN_F_COUNT, "the smallest class"),
    KN_VALUE("reached", KN_F_NUMBERS, "what the worst class reaches, in the order of `models`"),
};
static void fill_together(kn_to to, const void *from)
{
    const kn_release_union *both = from;
    kn_to                   list = kn_put_list(to, "reached");
    for (int i = 0; i < both->model_count; i++) kn_append_number(list, both->reached[i]);
}
static const kn_fields together_part = KN_FIELDS(kn_release_union, "together", together_rows, fill_together);

#define S kn_release_result
static const kn_field_row table_rows[] = {
    HEAD_ROWS,
    KN_FIELD_WORDS(S, utility, kn_metric_name, KN_METRICS - 1, 0, "the metric that is minimized"),
    KN_FIELD_AS(S, head.complete, "complete", KN_F_BOOLEAN, "false: the time limit ended the search"),
    KN_FIELD(S, optimal, KN_F_BOOLEAN, "whether it was proved to be the best for the metric"),
    KN_FIELD(S, rows_in, KN_F_ROWS, "rows of the inputs"),
    KN_FIELD(S, missing_cells, KN_F_CELLS, "missing cells of the quasi-identifiers"),
    KN_FIELD(S, missing_dropped, KN_F_ROWS, "rows left out because a quasi-identifier is missing"),
    KN_FIELD_AS(S, head.k_before, "k_before", KN_F_COUNT, "the smallest class of the original"),
    KN_VALUE("lattice", KN_F_NUMBER | KN_F_OPTIONAL, "how many choices of levels there are"),
    MODELS_ROW(0),
    KN_VALUE("node", KN_F_COUNTS | KN_F_OPTIONAL, "the chosen levels, in the order of the quasi-identifiers"),
    KN_VALUE(
        "loss_bound", KN_F_NUMBER | KN_F_OPTIONAL,
        "of optimal and heuristic, where the node was not proved to be the best: no choice of levels loses less by "
        "the metric"),
    KN_VALUE("k", KN_F_COUNT | KN_F_OPTIONAL | KN_F_PUBLIC, "the smallest class of the release, in rows or persons"),
    KN_VALUE("rows", KN_F_ROWS | KN_F_OPTIONAL | KN_F_PUBLIC,
             "rows of the release, suppressed ones as far as they are shown"),
    KN_VALUE("suppressed", KN_F_ROWS | KN_F_OPTIONAL, "rows that are suppressed"),
    KN_VALUE_WORDS("suppressed_as", kn_suppressed_name, KN_SUPPRESSED_KEEP_SENSITIVE, KN_F_OPTIONAL | KN_F_PUBLIC,
                   "what became of them: 'star', 'drop' or 'keep-sensitive'"),
    KN_VALUE("average_suppressed", KN_F_ROWS | KN_F_OPTIONAL,
             "those of them that are so only for the sake of average risk"),
    KN_VALUE("classes", KN_F_CLASSES | KN_F_OPTIONAL | KN_F_PUBLIC, "classes of rows that look alike"),
    KN_VALUE_OF("metrics", KN_F_OBJECT | KN_F_OPTIONAL, &kn_metrics_part, "what the release lost"),
    KN_VALUE_OF("bounds", KN_F_OBJECT | KN_F_OPTIONAL, &bounds_part, "of strict partitioning: what the theory allows"),
    KN_VALUE_OF("attributes", KN_F_LIST | KN_F_OPTIONAL, &attribute_part, "what each quasi-identifier lost"),
    KN_VALUE_OF("sizes", KN_F_LIST | KN_F_OPTIONAL, &kn_sizes_part, "how many classes have how many rows"),
    KN_VALUE_OF("items", KN_F_OBJECT | KN_F_OPTIONAL, &items_part, "of a column of sets: what became of its items"),
    KN_VALUE_OF("together", KN_F_OBJECT | KN_F_OPTIONAL, &together_part,
                "by a recipe, with --earlier: this release and the earlier one as one"),
    KN_VALUE_OF("solutions", KN_F_LIST | KN_F_OPTIONAL, &solution_part, "with --all-solutions: every minimal node"),
    WRITTEN_ROWS,
    KN_FIELD_LIST_AS(S, head.sizes_before, head.size_count_before, "sizes_before", &kn_sizes_part, KN_F_LIST,
                     "how many classes of the original have how many rows"),
    TAIL_ROWS,
};
#undef S
const kn_fields kn_answer_anonymize =
    KN_ANSWER(kn_release_result, "anonymize", table_rows, NULL, "What became of the release of a table?");

static void put_levels(kn_to to, const char *key, const int *levels, int count)
{
    kn_to list = kn_put_list(to, key);
    for (int i = 0; i < count; i++) kn_append_integer(list, levels[i]);
}

static void put_table(kn_to to, const kn_release_result *r, const kn_spec *spec, bool all_solutions)
{
    if (r->level_count > 0) put_levels(to, "node", r->levels, r->level_count);
    if (!r->optimal && !isnan(r->loss_bound)) kn_put_number(to, "loss_bound", r->loss_bound);
    kn_put_integer(to, "k", r->head.k);
    kn_put_integer(to, "rows", r->rows);
    kn_put_integer(to, "suppressed", r->head.suppressed);
    kn_put_text(to, "suppressed_as", kn_suppressed_name(spec->suppressed));
    kn_put_integer(to, "average_suppressed", r->average_suppressed);
    kn_put_integer(to, "classes", r->head.classes);
    kn_put_part(to, "metrics", r->metrics);
    if (r->region_bound > 0) kn_put_part(to, "bounds", r);
    kn_put_parts(to, "attributes", r->attributes, r->attribute_count);
    kn_put_parts(to, "sizes", r->head.sizes, r->head.size_count);
    if (r->items) kn_put_part(to, "items", r->items);
    if (r->together) kn_put_part(to, "together", r->together);
    if (!all_solutions) return;
    kn_to list = kn_put_list(to, "solutions");
    for (int64_t i = 0; i < r->solution_count; i++) {
        kn_to one = kn_append_object(list);
        kn_put_struct(one, &r->solutions[i]);
        put_levels(one, "node", r->solutions[i].levels, r->level_count);
    }
}

kn_status kn_document_anonymize(kn_document **out, kn_context *ctx, const kn_spec *spec,
                                const kn_release_result *result, const kn_anonymize_options *options, kn_error *err)
{
    kn_document *doc;
    char         rows[KN_COUNT_TEXT];
    KN_OPTIONS(kn_anonymize_options, KN_ANONYMIZE_OPTIONS_INIT, options, "anonymize options", err);
    KN_TRY(begin(&doc, ctx, &kn_answer_anonymize, &result->head, err));
    kn_to to = kn_document_top(doc);
    kn_put_struct(to, result);
    if (result->lattice > 0) put_whole(to, "lattice", result->lattice);
    put_models(to, &result->head);
    if (result->head.found) put_table(to, result, spec, options->all_solutions);
    finish(doc, &result->head, spec, options->dry_run, table_names(doc, spec->output));
    if (result->missing_dropped > 0)
        kn_put_note(doc, "%s %s with a missing quasi-identifier %s left out",
                    kn_count_text(rows, result->missing_dropped), result->missing_dropped == 1 ? "row" : "rows",
                    result->missing_dropped == 1 ? "was" : "were");
    return kn_document_end(out, doc, err);
}

/* ---- Databases ---- */

#define S kn_release_table
static const kn_field_row one_table_rows[] = {
    KN_FIELD(S, name, KN_F_TEXT, "the table's name"),
    KN_FIELD(S, rows_in, KN_F_ROWS, "rows of the original"),
    KN_FIELD(S, orphans, KN_F_ROWS, "rows that belong to no person: never released"),
    KN_FIELD(S, rows, KN_F_ROWS, "rows of the release"),
    KN_FIELD(S, deleted, KN_F_ROWS, "rows that belong to a person and are not released"),
    KN_FIELD(S, cells, KN_F_CELLS,
             "cells of quasi-identifiers in the rows that belong to persons, and what these rows weigh"),
    KN_FIELD(S, lm, KN_F_SHARE, "what these lost; a deleted one counts 1"),
};
#undef S
static const kn_fields one_table_part = KN_FIELDS(kn_release_table, "table", one_table_rows, NULL);

static const kn_field_row database_metrics_rows[] = {
    KN_FIELD(kn_database_result, lm, KN_F_SHARE,
             "the mean loss of quasi-identifiers and rows that weigh; a deleted cell counts 1"),
    KN_FIELD(kn_database_result, lm_released, KN_F_SHARE, "the same over the cells that are released"),
    KN_FIELD(kn_database_result, dm, KN_F_NUMBER, "sum of squared class sizes"),
};
static const kn_fields database_metrics_part = KN_FIELDS(kn_database_result, "metrics", database_metrics_rows, NULL);

#define S kn_database_result
static const kn_field_row database_rows[] = {
    HEAD_ROWS,
    KN_VALUE("anatomy", KN_F_BOOLEAN | KN_F_PUBLIC, "whether values stand as they were and sensitive ones by groups"),
    KN_FIELD(S, persons_in, KN_F_PERSONS, "persons of the original"),
    KN_FIELD_AS(S, head.k_before, "k_before", KN_F_PERSONS, "the smallest class of the original"),
    KN_VALUE("k", KN_F_PERSONS | KN_F_OPTIONAL | KN_F_PUBLIC, "the smallest class of the release"),
    KN_VALUE("persons", KN_F_PERSONS | KN_F_OPTIONAL | KN_F_PUBLIC, "persons of the release"),
    KN_VALUE("suppressed", KN_F_PERSONS | KN_F_OPTIONAL, "persons left out"),
    KN_VALUE("classes", KN_F_CLASSES | KN_F_OPTIONAL | KN_F_PUBLIC, "classes of persons who look alike in all tables"),
    SHARE_ROW,
    KN_VALUE_OF("metrics", KN_F_OBJECT | KN_F_OPTIONAL, &database_metrics_part, "what the release lost"),
    MODELS_ROW(KN_F_OPTIONAL),
    WRITTEN_ROWS,
    KN_FIELD_LIST(S, tables, table_count, &one_table_part, KN_F_LIST, "the tables"),
    TAIL_ROWS,
};
#undef S
const kn_fields kn_answer_anonymize_database = KN_ANSWER(kn_database_result, "anonymize-database", database_rows, NULL,
                                                         "What became of the release of a database?");

kn_status kn_document_anonymize_database(kn_document **out, kn_context *ctx, const kn_spec *spec,
                                         const kn_database_result *result, const kn_anonymize_options *options,
                                         kn_error *err)
{
    kn_document           *doc;
    const kn_release_head *h = &result->head;
    KN_OPTIONS(kn_anonymize_options, KN_ANONYMIZE_OPTIONS_INIT, options, "anonymize options", err);
    KN_TRY(begin(&doc, ctx, &kn_answer_anonymize_database, h, err));
    kn_to to = kn_document_top(doc);
    kn_put_struct(to, result);
    kn_put_boolean(to, "anatomy", spec->anatomy);
    if (h->found) {
        kn_put_integer(to, "k", h->k);
        kn_put_integer(to, "persons", result->persons);
        kn_put_integer(to, "suppressed", h->suppressed);
        kn_put_integer(to, "classes", h->classes);
        put_share(to, h);
        kn_put_part(to, "metrics", result);
        put_models(to, h);
    }
    finish(doc, h, spec, options->dry_run, database_names(doc, spec->output, result->beside));
    return kn_document_end(out, doc, err);
}

/* ---- Tree records ---- */

#define S kn_records_result
static const kn_field_row records_metrics_rows[] = {
    KN_FIELD(S, rpd, KN_F_NUMBER, "reverse path domain: how little the paths of a record say, on average"),
    KN_FIELD(S, rpd_original, KN_F_NUMBER, "the same of the original"),
    KN_FIELD_AS(S, cost, "rpda", KN_F_NUMBER,
                "the same from the synopsis tree, weighted by support: what guided the search; null: classes weigh "
                "differently, and 'loss' did"),
    KN_FIELD(S, loss, KN_F_SHARE,
             "how broad values became on average, by the weights of their classes; 1: nothing is left"),
    KN_FIELD(S, ml2, KN_F_NUMBER, "frequent itemsets that were lost; null: none were mined"),
    KN_FIELD(S, dml2, KN_F_NUMBER, "how far the supports of frequent itemsets moved; null: none were mined"),
    KN_FIELD(S, node_survival, KN_F_SHARE, "nodes that show their own value"),
    KN_FIELD(S, relation_survival, KN_F_SHARE, "relations still there, be it between broader values"),
    KN_FIELD(S, relation_unchanged, KN_F_SHARE, "relations still there between the very values"),
};
static const kn_fields records_metrics_part = KN_FIELDS(S, "metrics", records_metrics_rows, NULL);

static const kn_field_row records_rows[] = {
    HEAD_ROWS,
    KN_FIELD_AS(S, head.complete, "complete", KN_F_BOOLEAN, "false: the time limit ended the search"),
    KN_FIELD(S, records, KN_F_RECORDS, "records of the original"),
    KN_FIELD(S, left_out, KN_F_RECORDS, "... that are not released (suppression)"),
    KN_FIELD(S, given_up, KN_F_COUNT,
             "nodes of the original that their record does not show, not even as a broader value (suppression)"),
    KN_FIELD(S, merged, KN_F_COUNT, "nodes of the original that were equal to a sibling"),
    KN_FIELD_AS(S, kmn.m, "m", KN_F_COUNT | KN_F_PUBLIC, "how many values of a record somebody may know"),
    KN_FIELD_AS(S, kmn.n, "n", KN_F_COUNT | KN_F_PUBLIC, "how many relations between them somebody may know"),
    KN_VALUE_WORDS("semantics", kn_semantics_name, KN_SEMANTICS - 1, KN_F_PUBLIC,
                   "what somebody may know of relations: 'pairs' or 'paths'"),
    KN_VALUE("sensitive", KN_F_BOOLEAN | KN_F_PUBLIC, "whether some classes of nodes are sensitive and so not known"),
    KN_VALUE("negative_classes", KN_F_TEXTS | KN_F_PUBLIC,
             "classes of which it may be known, too, that a record lacks a value"),
    KN_VALUE("k", KN_F_RECORDS | KN_F_OPTIONAL,
             "the fewest records that somebody within m and n finds, of those who find any"),
    KN_VALUE("values", KN_F_COUNT | KN_F_OPTIONAL | KN_F_PUBLIC, "different values that the release shows"),
    KN_VALUE("values_original", KN_F_COUNT | KN_F_OPTIONAL, "the same of the original"),
    KN_VALUE("nodes", KN_F_COUNT | KN_F_OPTIONAL | KN_F_PUBLIC, "nodes of the release, without the records' roots"),
    KN_VALUE("nodes_original", KN_F_COUNT | KN_F_OPTIONAL, "the same of the original"),
    KN_VALUE("relations", KN_F_COUNT | KN_F_OPTIONAL | KN_F_PUBLIC, "pairs of a node and one above it in the release"),
    KN_VALUE("relations_original", KN_F_COUNT | KN_F_OPTIONAL, "the same of the original"),
    KN_VALUE("disassociations", KN_F_COUNT | KN_F_OPTIONAL, "relations between values that vanished everywhere"),
    SHARE_ROW,
    KN_VALUE_OF("metrics", KN_F_OBJECT | KN_F_OPTIONAL, &records_metrics_part, "what the release lost"),
    MODELS_ROW(KN_F_OPTIONAL),
    WRITTEN_ROWS,
    TAIL_ROWS,
};
#undef S
const kn_fields kn_answer_anonymize_records = KN_ANSWER(kn_records_result, "anonymize-records", records_rows, NULL,
                                                        "What became of the release of tree records?");

kn_status kn_document_anonymize_records(kn_document **out, kn_context *ctx, const kn_spec *spec,
                                        const kn_records_result *result, const kn_anonymize_options *options,
                                        kn_error *err)
{
    kn_document           *doc;
    const kn_release_head *h = &result->head;
    KN_OPTIONS(kn_anonymize_options, KN_ANONYMIZE_OPTIONS_INIT, options, "anonymize options", err);
    KN_TRY(begin(&doc, ctx, &kn_answer_anonymize_records, h, err));
    kn_to to = kn_document_top(doc);
    kn_put_struct(to, result);
    kn_put_text(to, "semantics", kn_semantics_name(spec->semantics));
    kn_put_boolean(to, "sensitive", kn_spec_has_sensitive_class(spec));
    kn_to negative = kn_put_list(to, "negative_classes");
    for (int c = 0; c < spec->class_count; c++)
        if (spec->classes[c].negative) kn_append_text(negative, spec->classes[c].name);
    if (h->found) {
        if (!options->dry_run) kn_put_integer(to, "k", h->k);
        kn_put_integer(to, "values", result->values);
        kn_put_integer(to, "values_original", result->values_original);
        kn_put_integer(to, "nodes", result->nodes);
        kn_put_integer(to, "nodes_original", result->nodes_original);
        kn_put_integer(to, "relations", result->relations);
        kn_put_integer(to, "relations_original", result->relations_original);
        kn_put_integer(to, "disassociations", result->disassociations);
        put_share(to, h);
        kn_put_part(to, "metrics", result);
        put_models(to, h);
    }
    finish(doc, h, spec, options->dry_run,
           result->beside ? database_names(doc, spec->output, result->beside) : (names){spec->output, spec->output});
    return kn_document_end(out, doc, err);
}

/* ---- Any ---- */

kn_status kn_document_anonymize_any(kn_document **out, kn_context *ctx, const kn_spec *spec,
                                    const kn_release_head *head, const kn_anonymize_options *options, kn_error *err)
{
    const void *result = head; /* every result begins with its head */
    switch (kn_spec_shape(spec)) {
    case KN_SHAPE_DATABASE: return kn_document_anonymize_database(out, ctx, spec, result, options, err);
    case KN_SHAPE_RECORDS: return kn_document_anonymize_records(out, ctx, spec, result, options, err);
    case KN_SHAPE_TABLE: break;
    }
    return kn_document_anonymize(out, ctx, spec, result, options, err);
}
