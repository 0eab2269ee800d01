/* anonymize_models.c: prints promises and figures, for releases of every shape. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "anonymize.h"

enum { MODEL_SIZE = 400 };

/* "l-diversity of diagnosis: distinct, l = 3" */
static void model_words(char *out, const cli_value *m)
{
    static const char *const asked[] = {"k", "l", "c", "min", "t", "alpha", "beta", "delta", "max", "risk"};
    const char              *attribute = cli_text(m, "attribute"), *kind = cli_text(m, "kind");
    size_t used = (size_t)snprintf(out, MODEL_SIZE, "%s%s%.200s%s%s", cli_text(m, "model"), attribute ? " of " : "",
                                   attribute ? attribute : "", kind ? ": " : "", kind ? kind : "");
    bool   plain = cli_is(m, "model", kn_model_name(KN_MODEL_K)), first = !kind;
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        const cli_value *value = kn_document_member(m, asked[i]);
        if (!value || used >= MODEL_SIZE) continue;
        if (!plain) used += (size_t)snprintf(out + used, MODEL_SIZE - used, "%s%s", first ? ": " : ", ", asked[i]);
        first = false;
        int digits = kn_document_kind_of(value) == KN_DOCUMENT_INTEGER ? 15 : 6;
        if (used < MODEL_SIZE)
            used += (size_t)snprintf(out + used, MODEL_SIZE - used, " = %.*g", digits, kn_document_number_of(value));
    }
}

void cli_text_table_figure(cli_text_table *t, double value)
{
    char number[CLI_NUMBER_SIZE];
    if (isnan(value))
        cli_text_table_text(t, "none");
    else if (fabs(value) < 9e15 && value == floor(value))
        cli_text_table_text(t, cli_format_integer(number, (int64_t)value));
    else
        cli_text_table_format(t, "%.6g", value);
}

/* Null is not known, or about nothing: "none" would be an answer. */
static void add_reached(cli_text_table *t, const cli_value *m, const char *key, const char *unbounded)
{
    double value = cli_number(m, key);
    if (cli_true(m, unbounded) || isnan(value))
        cli_text_table_text(t, cli_true(m, unbounded) ? "no bound" : "-");
    else
        cli_text_table_figure(t, value);
}

void cli_models_print(const cli_value *answer, FILE *out)
{
    static const char *const titles[] = {"asked", "original", "release"};
    static const cli_align   aligns[] = {CLI_LEFT, CLI_RIGHT, CLI_RIGHT};
    bool                     found = cli_true(answer, "found");
    int64_t                  count;
    const cli_value         *models = cli_list_of(answer, "models", &count);
    if (count == 0) return;
    cli_text_table *t = cli_text_table_new(found ? 3 : 2, titles, aligns);
    for (int64_t i = 0; i < count; i++) {
        const cli_value *m = kn_document_at(models, i);
        char             words[MODEL_SIZE];
        model_words(words, m);
        cli_text_table_text(t, words);
        add_reached(t, m, "original", "original_unbounded");
        if (found) add_reached(t, m, "reached", "reached_unbounded");
    }
    fputc('\n', out);
    cli_text_table_print(t, out, 2);
    cli_text_table_free(t);
}
