/* anonymize_print.c: prints a release of any shape: a page of text, or its document as JSON. What only one shape has
 * comes from its cli_shape (anonymize.h).
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "advise.h"
#include "anonymize.h"

char *cli_beside(const char *path, const char *ending)
{
    size_t size = strlen(path) + strlen(ending) + 1;
    char  *name = cli_alloc(size);
    snprintf(name, size, "%s%s", path, ending);
    return name;
}

const char *cli_release_state(const cli_value *answer)
{
    return cli_true(answer, "verified") ? "; verified" : "; nothing was written (--dry-run)";
}

void cli_print_crowds(const cli_value *answer, const char *units, FILE *out)
{
    char    number[CLI_NUMBER_SIZE];
    int64_t classes = cli_integer(answer, "classes");
    fprintf(out, "%s, %s; %s%s%s%s", units, cli_count_of(classes, "class", "classes").text, cli_style_on(out, CLI_BOLD),
            classes > 0 ? "k = " : "no k", classes > 0 ? cli_format_integer(number, cli_integer(answer, "k")) : "",
            cli_style_on(out, CLI_PLAIN));
    fprintf(out, " (was %s)%s\n", cli_format_integer(number, cli_integer(answer, "k_before")),
            cli_release_state(answer));
}

void cli_print_share(const cli_value *answer, const char *whom, FILE *out)
{
    double share = cli_number(answer, "largest_share");
    if (share > 0) fprintf(out, "A sensitive value belongs to at most %.1f %% of %s.\n", 100 * share, whom);
}

static void print_files(const cli_value *list, const char *title, FILE *out)
{
    for (int64_t i = 0; i < kn_document_count(list); i++) {
        const char *name = cli_text_at(list, i);
        char       *path = cli_escape(name, strlen(name));
        fprintf(out, "  %-12s  %s\n", i == 0 ? title : "", path);
        free(path);
    }
}

void cli_release_print(const cli_value *answer, kn_shape shape, FILE *out)
{
    static const cli_shape *const shapes[] = {[KN_SHAPE_TABLE] = &cli_table_shape,
                                              [KN_SHAPE_DATABASE] = &cli_database_shape,
                                              [KN_SHAPE_RECORDS] = &cli_records_shape};
    const cli_shape              *by = shapes[shape];
    const char                   *nothing_left = cli_text(answer, "nothing_left"), *method = cli_text(answer, "method");
    bool                          found = cli_true(answer, "found");
    if (!found || nothing_left)
        fprintf(out, "%s%s%s: %s\n", cli_style_on(out, CLI_RED), found ? "NOTHING IS LEFT" : "NO RELEASE",
                cli_style_on(out, CLI_PLAIN), found ? nothing_left : cli_text(answer, "reason"));
    if (found) by->verdict(answer, out);
    cli_models_print(answer, out);
    if (!found) return;
    by->lost(answer, out);
    fprintf(out, "\n  by    %s", method);
    by->choice(answer, out);
    fputc('\n', out);
    cli_advice_print(kn_document_member(answer, "auto"), method, out);
    by->loss(answer, out);
    if (!cli_true(answer, "verified") || cli_is(answer, "output", "-")) return;
    fputc('\n', out);
    print_files(kn_document_member(answer, "publish"), "publish", out);
    print_files(kn_document_member(answer, "keep_private"), "keep private", out);
}
