/* lists.c: --list-methods, --list-models and --list-metrics: the library's catalogue as text and as JSON.
 *
 * As text: a heading for what neighbouring entries have in common, then a paragraph for each, wrapped to the
 * terminal. As JSON: one object holds all lists that were asked for.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "lists.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "document.h"

enum { LABEL_WIDTH = 7, INDENT = 6, MOST_WIDTH = 100, TEXT_SIZE = 600 };

/* ---- Words ---- */

/* "      label  text", the text wrapped. */
static void print_field(const char *label, const char *text)
{
    int width = cli_terminal_width(stdout), used = INDENT + LABEL_WIDTH;
    if (width > MOST_WIDTH) width = MOST_WIDTH;
    printf("%*s%-*s", INDENT, "", LABEL_WIDTH, label);
    for (bool first = true; *text; first = false) {
        int length = (int)strcspn(text, " ");
        if (!first && used + 1 + length >= width) {
            printf("\n%*s", INDENT + LABEL_WIDTH, "");
            used = INDENT + LABEL_WIDTH;
        } else if (!first) {
            putchar(' ');
            used++;
        }
        printf("%.*s", length, text);
        used += length;
        text += length;
        text += strspn(text, " ");
    }
    putchar('\n');
}

/* Truncates what does not fit. */
static void append(char *text, const char *first, const char *second)
{
    size_t used = strlen(text);
    snprintf(text + used, TEXT_SIZE - used, "%s%s", first, second);
}

/* Appends to a list in a sentence: "a, b, c". */
static void join(char *text, const char *item)
{
    append(text, text[0] ? ", " : "", item);
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Is it the first model of its name that the method supports? */
static bool first_of_name(kn_method method, int model)
{
    for (int i = 0; i < model; i++)
        if (kn_method_keeps(method, i) && same_text(kn_catalogue_model(i)->name, kn_catalogue_model(model)->name))
            return false;
    return true;
}

static void kept_models(char *text, kn_method method)
{
    text[0] = '\0';
    for (int i = 0; i < KN_CATALOGUE_MODELS; i++) {
        const kn_model_entry *m = kn_catalogue_model(i);
        bool                  one_variant = m->variant && !kn_method_keeps(method, KN_MODEL_ENTROPY);
        char                  name[64];
        if (!kn_method_keeps(method, i) || !first_of_name(method, i)) continue;
        snprintf(name, sizeof name, "%s%s%s%s", m->name, one_variant ? " (" : "", one_variant ? m->variant : "",
                 one_variant ? ")" : "");
        join(text, name);
    }
}

static const char *shape_words(kn_shape shape)
{
    static const char *const words[KN_SHAPES] = {"one table", "a database", "records that are trees"};
    return words[shape];
}

static void print_method(int m)
{
    char                   keeps[TEXT_SIZE];
    const kn_method_entry *e = kn_catalogue_method(m);
    bool                   known = m != KN_CATALOGUE_AUTO; /* the others are what it chooses from */
    printf("    %s%s\n", e->name, known && kn_method_is_default((kn_method)m) ? " (default)" : "");
    print_field("when", e->use);
    if (known) {
        kept_models(keeps, (kn_method)m);
        print_field("keeps", keeps);
        print_field("paper", e->paper);
    }
    print_field("cost", e->cost);
}

/* Ordered by shape, then by how methods decide: the order of the enumeration means nothing to a reader. */
static void print_methods(void)
{
    const char *kind = NULL;
    printf("Methods for any data (shape: any)\n\n");
    print_method(KN_CATALOGUE_AUTO);
    for (int shape = 0; shape < KN_SHAPES; shape++) {
        printf("\nMethods for %s (shape: %s)\n", shape_words((kn_shape)shape), kn_shape_name((kn_shape)shape));
        for (int m = 0; m < KN_METHODS; m++) {
            const kn_method_entry *e = kn_catalogue_method(m);
            if ((int)kn_method_shape((kn_method)m) != shape) continue;
            if (!kind || strcmp(kind, e->kind) != 0) printf("\n  %s:\n", e->kind);
            kind = e->kind;
            putchar('\n');
            print_method(m);
        }
    }
}

/* The methods that support a model; a family is named as a whole if all its methods do. */
static void keeping_methods(char *text, int model)
{
    text[0] = '\0';
    for (int shape = 0; shape < KN_SHAPES; shape++) {
        int all = 0, kept = 0;
        for (int m = 0; m < KN_METHODS; m++) {
            if ((int)kn_method_shape((kn_method)m) != shape) continue;
            all++;
            kept += kn_method_keeps((kn_method)m, model);
        }
        char words[64];
        snprintf(words, sizeof words, "all for %s", shape_words((kn_shape)shape));
        if (kept == all) join(text, words);
        for (int m = 0; m < KN_METHODS && kept < all; m++)
            if ((int)kn_method_shape((kn_method)m) == shape && kn_method_keeps((kn_method)m, model))
                join(text, kn_catalogue_method(m)->name);
    }
}

static void print_model(int i)
{
    char                  methods[TEXT_SIZE], written[TEXT_SIZE];
    const kn_model_entry *e = kn_catalogue_model(i);
    printf("    %s%s%s\n", e->name, e->variant ? " " : "", e->variant ? e->variant : "");
    snprintf(written, sizeof written, "%s %s%s", i == KN_CATALOGUE_KMN ? "--kmn" : "--require", e->example,
             kn_model_diagnosed(i) ? " (also in diagnose)" : "");
    keeping_methods(methods, i);
    print_field("says", e->says);
    print_field("when", e->use);
    print_field("write", written);
    if (e->needs) print_field("needs", e->needs);
    print_field("kept", methods);
    print_field("paper", e->paper);
}

static void print_models(void)
{
    printf("Privacy models: what a release can promise of every class of rows that look alike\n");
    for (int i = 0; i < KN_CATALOGUE_MODELS; i++) {
        putchar('\n');
        print_model(i);
    }
}

static void print_metric(int i)
{
    char                   shapes[TEXT_SIZE] = "";
    const kn_metric_entry *e = kn_catalogue_metric(i);
    for (int s = 0; s < KN_SHAPES; s++)
        if (e->shapes >> s & 1) join(shapes, shape_words((kn_shape)s));
    printf("    %s%s\n", e->name, i == KN_METRIC_LM ? " (default of --utility)" : "");
    print_field("says", e->says);
    print_field("range", e->range);
    print_field("when", e->use);
    print_field("of", shapes);
    print_field("paper", e->paper);
}

static void print_metrics(void)
{
    printf("Metrics: how much a release lost\n");
    for (int i = 0; i < KN_CATALOGUE_METRICS; i++) {
        putchar('\n');
        print_metric(i);
    }
}

/* ---- One of them ---- */

/* Methods, then models (a name may have variants), then metrics. NULL: there are no more. */
static const char *entry_name(int i)
{
    if (i < KN_CATALOGUE_METHODS) return kn_catalogue_method(i)->name;
    i -= KN_CATALOGUE_METHODS;
    if (i < KN_CATALOGUE_MODELS) return kn_catalogue_model(i)->name;
    i -= KN_CATALOGUE_MODELS;
    return i < KN_CATALOGUE_METRICS ? kn_catalogue_metric(i)->name : NULL;
}

const char *cli_entry_name(int index)
{
    return index < CLI_ENTRIES ? entry_name(index) : NULL;
}

static void print_entry(int i)
{
    static const char *const more[] = {"methods", "models", "metrics"};
    int                      list = 0;
    if (i < KN_CATALOGUE_METHODS) {
        bool known = i != KN_CATALOGUE_AUTO;
        printf("A method for %s: %s\n\n", known ? shape_words(kn_method_shape((kn_method)i)) : "any data",
               known ? kn_catalogue_method(i)->kind : "tries those that fit");
        print_method(i);
    } else if (i - KN_CATALOGUE_METHODS < KN_CATALOGUE_MODELS) {
        list = 1;
        printf("A privacy model: what a release can promise of every class of rows that look alike\n\n");
        print_model(i - KN_CATALOGUE_METHODS);
    } else {
        list = 2;
        printf("A metric: how much a release lost\n\n");
        print_metric(i - KN_CATALOGUE_METHODS - KN_CATALOGUE_MODELS);
    }
    printf("\n'kanon help %s' says which to take, 'kanon anonymize --list-%s' lists all.\n", more[list], more[list]);
}

bool cli_entry_print(const char *word)
{
    bool found = false;
    for (int i = 0; i < CLI_ENTRIES; i++) {
        if (strcasecmp(entry_name(i), word) != 0) continue;
        if (found) putchar('\n');
        print_entry(i);
        found = true;
    }
    return found;
}

/* ---- JSON ---- */

static void print_json(const cli_common *common)
{
    kn_error     err = KN_ERROR_INIT;
    kn_context  *ctx = NULL;
    kn_document *doc = NULL;
    kn_status    made = kn_context_create(&ctx, NULL, &err);
    if (made == KN_OK)
        made = kn_document_catalogue(&doc, ctx, common->list_methods, common->list_models, common->list_metrics, &err);
    int code = cli_answer(common, made, doc, &err, NULL);
    kn_context_free(ctx);
    if (code) exit(code); /* out of memory: ends the program, as everywhere here */
}

/* ---- Interface ---- */

bool cli_lists_print(const cli_common *common)
{
    bool methods = common->list_methods, models = common->list_models, metrics = common->list_metrics;
    if (common->json && (methods || models || metrics)) {
        print_json(common);
        return true;
    }
    if (methods) print_methods();
    if (methods && (models || metrics)) putchar('\n');
    if (models) print_models();
    if (models && metrics) putchar('\n');
    if (metrics) print_metrics();
    return methods || models || metrics;
}

char *cli_model_names(bool release)
{
    char *names = cli_alloc(TEXT_SIZE);
    names[0] = '\0';
    for (int i = 0; i < KN_CATALOGUE_KMN && (release || kn_model_diagnosed(i)); i++) {
        const kn_model_entry *e = kn_catalogue_model(i);
        if (i > 0 && same_text(e->name, kn_catalogue_model(i - 1)->name)) continue;
        join(names, e->name);
        if (!e->variant) continue;
        append(names, strstr(e->example, "distance=") ? " (distance=" : " (kind=", "");
        for (int v = i; v < KN_CATALOGUE_KMN && same_text(kn_catalogue_model(v)->name, e->name); v++)
            append(names, v > i ? "|" : "", kn_catalogue_model(v)->variant);
        append(names, ")", "");
    }
    return names;
}
