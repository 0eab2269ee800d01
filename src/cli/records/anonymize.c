/* records/anonymize.c: what `kanon anonymize` prints for tree records only (anonymize.h). */
/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "anonymize.h"

static void print_promise(const cli_value *answer, FILE *out)
{
    int              m = (int)cli_integer(answer, "m"), n = (int)cli_integer(answer, "n");
    int64_t          k = cli_integer(answer, "k"), negative;
    const cli_value *classes = cli_list_of(answer, "negative_classes", &negative);
    if (k == 0) {
        fputs("The records show no value that somebody is taken to know, so k promises nothing.\n", out);
        return;
    }
    fprintf(out, "Whoever knows up to %d %s of a record%s", m, m == 1 ? "value" : "values",
            cli_true(answer, "sensitive") ? " (sensitive ones aside)" : "");
    if (n > 0)
        fprintf(out, ", and up to %d %s between them,", n,
                n == 1 ? "relation (what stands above what)" : "relations (what stands above what)");
    fprintf(out, " finds no record or at least %lld.\n", (long long)k);
    for (int64_t c = 0; c < negative; c++) {
        const char *given = cli_text_at(classes, c);
        char       *name = cli_escape(given, strlen(given));
        fprintf(out, "%s%s%s", c ? ", " : "Some of these values may be known to be absent: those of ", name,
                c + 1 < negative ? "" : ".\n");
        free(name);
    }
    if (n > 1)
        fprintf(out, "Relations are %s.\n",
                cli_is(answer, "semantics", kn_semantics_name(KN_SEMANTICS_PATHS))
                    ? "known together with the path they lie on (semantics: paths)"
                    : "known pair by pair (semantics: pairs)");
}

/* Adds the first cells of a row; the caller adds the share that survives. False: there is nothing to show. */
static bool add_counts(cli_text_table *t, const cli_value *answer, const char *title, const char *before,
                       const char *after)
{
    int64_t original = cli_integer(answer, before);
    cli_text_table_text(t, title);
    cli_text_table_integer(t, original);
    cli_text_table_integer(t, cli_integer(answer, after));
    return original > 0;
}

static void lost(const cli_value *answer, FILE *out)
{
    static const char *const titles[] = {"", "original", "release", "survive"};
    static const cli_align   aligns[] = {CLI_LEFT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT};
    const cli_value         *metrics = kn_document_member(answer, "metrics");
    cli_text_table          *t = cli_text_table_new(4, titles, aligns);
    (void)add_counts(t, answer, "different values", "values_original", "values");
    cli_text_table_text(t, "");
    if (add_counts(t, answer, "nodes", "nodes_original", "nodes"))
        cli_text_table_format(t, "%.1f %% as they were", 100 * cli_number(metrics, "node_survival"));
    else
        cli_text_table_text(t, "");
    if (add_counts(t, answer, "relations", "relations_original", "relations"))
        cli_text_table_format(t, "%.1f %% as they were, %.1f %% between the same or broader values",
                              100 * cli_number(metrics, "relation_unchanged"),
                              100 * cli_number(metrics, "relation_survival"));
    else
        cli_text_table_text(t, "");
    fputc('\n', out);
    cli_text_table_print(t, out, 2);
    cli_text_table_free(t);
}

static void verdict(const cli_value *answer, FILE *out)
{
    int64_t left_out = cli_integer(answer, "left_out"), given_up = cli_integer(answer, "given_up");
    fprintf(out, "%s; %s vanished everywhere",
            cli_count_of(cli_integer(answer, "records") - left_out, "record", "records").text,
            cli_count_of(cli_integer(answer, "disassociations"), "relation", "relations").text);
    if (given_up > 0) fprintf(out, "; %s given up", cli_count_of(given_up, "node", "nodes").text);
    if (left_out > 0) fprintf(out, "; %s left out", cli_count_of(left_out, "record", "records").text);
    fprintf(out, "%s\n", cli_release_state(answer));
    if (kn_document_member(answer, "k")) print_promise(answer, out); /* a dry run does not know */
    cli_print_share(answer, "the records that somebody finds", out);
}

static void choice(const cli_value *answer, FILE *out)
{
    if (!cli_true(answer, "complete")) fputs("; the time limit ended the search: a better one may exist", out);
}

static void loss(const cli_value *answer, FILE *out)
{
    const cli_value *metrics = kn_document_member(answer, "metrics");
    double           ml2 = cli_number(metrics, "ml2");
    fprintf(out, "  loss  rpd %.6g (was %.6g)", cli_number(metrics, "rpd"), cli_number(metrics, "rpd_original"));
    if (isnan(cli_number(metrics, "rpda"))) fprintf(out, ", by weight %.6g", cli_number(metrics, "loss"));
    if (!isnan(ml2)) fprintf(out, " ml2 %.6g dml2 %.6g", ml2, cli_number(metrics, "dml2"));
    fputc('\n', out);
}

const cli_shape cli_records_shape = {verdict, lost, choice, loss};
