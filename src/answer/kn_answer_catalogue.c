/* kn_answer_catalogue.c: the methods, models and metrics, and generated data, as documents. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "kn_answer.h"
#include "kn_error.h"

static const char *shape_or_any(unsigned shape)
{
    return shape < KN_SHAPES ? kn_shape_name((kn_shape)shape) : "any";
}

static const kn_field_row method_rows[] = {
    KN_FIELD(kn_method_entry, name, KN_F_TEXT | KN_F_PUBLIC, "its name in a release file"),
    KN_VALUE_WORDS("shape", shape_or_any, KN_SHAPES, KN_F_PUBLIC,
                   "for which data: 'table', 'database', 'records' or 'any'"),
    KN_VALUE("default", KN_F_BOOLEAN | KN_F_PUBLIC, "whether it is taken where none is named"),
    KN_FIELD_AS(kn_method_entry, kind, "decides", KN_F_TEXT | KN_F_PUBLIC, "what it decides"),
    KN_VALUE("models", KN_F_TEXTS | KN_F_PUBLIC, "the privacy models that it can keep"),
    KN_FIELD(kn_method_entry, paper, KN_F_TEXT | KN_F_PUBLIC, "whose it is"),
    KN_FIELD(kn_method_entry, cost, KN_F_TEXT | KN_F_PUBLIC, "its cost in time and memory"),
    KN_FIELD(kn_method_entry, use, KN_F_TEXT | KN_F_PUBLIC, "when to take it"),
};
static const kn_fields method_part = KN_FIELDS(kn_method_entry, "method", method_rows, NULL);

static const kn_field_row model_rows[] = {
    KN_FIELD(kn_model_entry, name, KN_F_TEXT | KN_F_PUBLIC, "its name in a release file"),
    KN_FIELD(kn_model_entry, variant, KN_F_TEXT | KN_F_NULLABLE | KN_F_PUBLIC,
             "its kind or distance; null: it has none"),
    KN_VALUE("option", KN_F_TEXT | KN_F_PUBLIC, "the option that asks for it"),
    KN_FIELD(kn_model_entry, example, KN_F_TEXT | KN_F_PUBLIC, "as that option takes it"),
    KN_VALUE("diagnose", KN_F_BOOLEAN | KN_F_PUBLIC, "whether it can be asked of a table as it is"),
    KN_FIELD(kn_model_entry, says, KN_F_TEXT | KN_F_PUBLIC, "what it says of every class"),
    KN_FIELD(kn_model_entry, needs, KN_F_TEXT | KN_F_NULLABLE | KN_F_PUBLIC, "what it needs beside quasi-identifiers"),
    KN_VALUE("methods", KN_F_TEXTS | KN_F_PUBLIC, "the methods that can keep it"),
    KN_FIELD(kn_model_entry, paper, KN_F_TEXT | KN_F_PUBLIC, "whose it is"),
    KN_FIELD(kn_model_entry, use, KN_F_TEXT | KN_F_PUBLIC, "when to take it"),
};
static const kn_fields model_part = KN_FIELDS(kn_model_entry, "model", model_rows, NULL);

static const kn_field_row metric_rows[] = {
    KN_FIELD(kn_metric_entry, name, KN_F_TEXT | KN_F_PUBLIC, "its name"),
    KN_VALUE("shapes", KN_F_TEXTS | KN_F_PUBLIC, "of which data: 'table', 'database', 'records'"),
    KN_VALUE("utility", KN_F_BOOLEAN | KN_F_PUBLIC, "whether a search can minimize it (--utility)"),
    KN_FIELD(kn_metric_entry, larger_is_better, KN_F_BOOLEAN | KN_F_PUBLIC, "whether more of it means less lost"),
    KN_FIELD(kn_metric_entry, says, KN_F_TEXT | KN_F_PUBLIC, "what it measures"),
    KN_FIELD(kn_metric_entry, range, KN_F_TEXT | KN_F_PUBLIC, "what is best and what is worst"),
    KN_FIELD(kn_metric_entry, paper, KN_F_TEXT | KN_F_PUBLIC, "whose it is"),
    KN_FIELD(kn_metric_entry, use, KN_F_TEXT | KN_F_PUBLIC, "when to take it"),
};
static const kn_fields metric_part = KN_FIELDS(kn_metric_entry, "metric", metric_rows, NULL);

static const kn_field_row catalogue_rows[] = {
    KN_ANSWER_ROW,
    KN_VALUE_OF("methods", KN_F_LIST | KN_F_OPTIONAL | KN_F_PUBLIC, &method_part, "with --list-methods: every method"),
    KN_VALUE_OF("models", KN_F_LIST | KN_F_OPTIONAL | KN_F_PUBLIC, &model_part,
                "with --list-models: every privacy model"),
    KN_VALUE_OF("metrics", KN_F_LIST | KN_F_OPTIONAL | KN_F_PUBLIC, &metric_part, "with --list-metrics: every metric"),
    KN_NOTES_ROW,
};
const kn_fields kn_answer_catalogue =
    KN_ANSWER(char, "catalogue", catalogue_rows, NULL, "Which methods, privacy models and metrics are there?");

/* "auto" supports a model if any method does. */
static bool keeps(int method, int model)
{
    if (method != KN_CATALOGUE_AUTO) return kn_method_keeps((kn_method)method, model);
    for (int m = 0; m < KN_METHODS; m++)
        if (kn_method_keeps((kn_method)m, model)) return true;
    return false;
}

static void put_methods(kn_to to)
{
    kn_to list = kn_put_list(to, "methods");
    for (int m = 0; m < KN_CATALOGUE_METHODS; m++) {
        bool  any = m == KN_CATALOGUE_AUTO;
        kn_to one = kn_append_object(list);
        kn_put_struct(one, kn_catalogue_method(m));
        kn_put_text(one, "shape", any ? "any" : kn_shape_name(kn_method_shape((kn_method)m)));
        kn_put_boolean(one, "default", !any && kn_method_is_default((kn_method)m));
        kn_to models = kn_put_list(one, "models");
        for (int i = 0; i < KN_CATALOGUE_MODELS; i++) {
            const kn_model_entry *e = kn_catalogue_model(i);
            char                  name[64];
            snprintf(name, sizeof name, "%s%s%s", e->name, e->variant ? " " : "", e->variant ? e->variant : "");
            if (keeps(m, i)) kn_append_text(models, name);
        }
    }
}

static void put_models(kn_to to)
{
    kn_to list = kn_put_list(to, "models");
    for (int i = 0; i < KN_CATALOGUE_MODELS; i++) {
        kn_to one = kn_append_object(list);
        kn_put_struct(one, kn_catalogue_model(i));
        kn_put_text(one, "option", i == KN_CATALOGUE_KMN ? "--kmn" : "--require");
        kn_put_boolean(one, "diagnose", kn_model_diagnosed(i));
        kn_to methods = kn_put_list(one, "methods");
        for (int m = 0; m < KN_METHODS; m++)
            if (kn_method_keeps((kn_method)m, i)) kn_append_text(methods, kn_catalogue_method(m)->name);
    }
}

static void put_metrics(kn_to to)
{
    kn_to list = kn_put_list(to, "metrics");
    for (int i = 0; i < KN_CATALOGUE_METRICS; i++) {
        const kn_metric_entry *e = kn_catalogue_metric(i);
        kn_to                  one = kn_append_object(list);
        kn_put_struct(one, e);
        kn_put_boolean(one, "utility", i < KN_METRICS);
        kn_to shapes = kn_put_list(one, "shapes");
        for (int s = 0; s < KN_SHAPES; s++)
            if (e->shapes >> s & 1) kn_append_text(shapes, kn_shape_name((kn_shape)s));
    }
}

kn_status kn_document_catalogue(kn_document **out, kn_context *ctx, bool methods, bool models, bool metrics,
                                kn_error *err)
{
    kn_document *doc;
    KN_TRY(kn_document_begin(&doc, ctx, &kn_answer_catalogue, err));
    if (methods) put_methods(kn_document_top(doc));
    if (models) put_models(kn_document_top(doc));
    if (metrics) put_metrics(kn_document_top(doc));
    return kn_document_end(out, doc, err);
}

/* ---- Generated data ---- */

static const kn_field_row generate_rows[] = {
    KN_ANSWER_ROW,
    KN_VALUE("kind", KN_F_TEXT | KN_F_PUBLIC, "what was made"),
    KN_VALUE("rows", KN_F_ROWS | KN_F_PUBLIC, "how many rows, persons or records"),
    KN_VALUE("seed", KN_F_COUNT | KN_F_PUBLIC, "the seed it was drawn with"),
    KN_VALUE("output", KN_F_TEXT, "where it was written"),
    KN_NOTES_ROW,
};
const kn_fields kn_answer_generate =
    KN_ANSWER(char, "generate", generate_rows, NULL, "Which synthetic data were made?");

kn_status kn_document_generate(kn_document **out, kn_context *ctx, const char *kind, int64_t rows, uint64_t seed,
                               const char *output, kn_error *err)
{
    kn_document *doc;
    KN_TRY(kn_document_begin(&doc, ctx, &kn_answer_generate, err));
    kn_to to = kn_document_top(doc);
    kn_put_text(to, "kind", kind);
    kn_put_integer(to, "rows", rows);
    kn_put_integer(to, "seed", (int64_t)seed);
    kn_put_text(to, "output", output);
    return kn_document_end(out, doc, err);
}
