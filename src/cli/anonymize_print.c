/* anonymize_print.c: what `kanon anonymize` prints of a release of any shape: a page of words, or its document as JSON. What is
 * of one shape only comes from its cli_shape (anonymize.h).
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "advise.h"
#include "anonymize.h"
#include "diagnose.h"

char *cli_beside(const char *path, const char *ending)
{
    size_t size = strlen(path) + strlen(ending) + 1;
    char  *name = cli_alloc(size);
    snprintf(name, size, "%s%s", path, ending);
    return name;
}

static bool to_stdout(const cli_release *r)
{
    return !r->a->dry_run && strcmp(r->spec->output, "-") == 0;
}

/* ---- Words ---- */

const char *cli_release_state(const cli_release *r)
{
    return r->a->dry_run ? "; nothing was written (--dry-run)" : "; verified";
}

void cli_print_crowds(const cli_release *r, const char *units, FILE *out)
{
    char k[CLI_NUMBER_SIZE], before[CLI_NUMBER_SIZE];
    fprintf(out, "%s, %s; %sk = %s%s (was %s)%s\n", units, cli_count_of(r->head->classes, "class", "classes").text,
            cli_style_on(out, CLI_BOLD), cli_format_integer(k, r->head->k), cli_style_on(out, CLI_PLAIN),
            cli_format_integer(before, r->head->k_before), cli_release_state(r));
}

void cli_print_share(const cli_release *r, const char *whom, FILE *out)
{
    if (r->head->largest_share > 0)
        fprintf(out, "A sensitive value belongs to at most %.1f %% of %s.\n", 100 * r->head->largest_share, whom);
}

static void print_files(const cli_value *list, const char *title, FILE *out)
{
    for (int64_t i = 0; i < kn_document_count(list); i++) {
        const char *name = kn_document_text_of(kn_document_at(list, i));
        char       *path = cli_escape(name, strlen(name));
        fprintf(out, "  %-12s  %s\n", i == 0 ? title : "", path);
        free(path);
    }
}

static void print_words(const cli_release *r, const kn_document *doc, FILE *out)
{
    const kn_release_head *h = r->head;
    if (!h->found) {
        fprintf(out, "%sNO RELEASE%s: %s\n", cli_style_on(out, CLI_RED), cli_style_on(out, CLI_PLAIN), h->reason);
        if (r->shape == &cli_table_shape && h->model_count > 0) /* of others the original's figures are not known */
            cli_models_print(h->models, h->model_count, false, out);
        return;
    }
    if (h->nothing_left)
        fprintf(out, "%sNOTHING IS LEFT%s: %s\n", cli_style_on(out, CLI_RED), cli_style_on(out, CLI_PLAIN),
                h->nothing_left);
    r->shape->verdict(r, out);
    if (h->model_count > 0) cli_models_print(h->models, h->model_count, true, out);
    r->shape->lost(r, out);
    fprintf(out, "\n  by    %s", kn_method_name(h->method));
    r->shape->choice(r, out);
    fputc('\n', out);
    cli_advice_print(kn_document_find(doc, "auto"), kn_document_text(doc, "method"), out);
    r->shape->loss(r, out);
    if (r->a->dry_run || to_stdout(r)) return;
    fputc('\n', out);
    print_files(kn_document_find(doc, "publish"), "publish", out);
    print_files(kn_document_find(doc, "keep_private"), "keep private", out);
}

int cli_print_release(const cli_release *r)
{
    FILE        *out = to_stdout(r) ? stderr : stdout;
    kn_error     err = KN_ERROR_INIT;
    kn_document *doc = NULL;
    kn_status    made = r->shape->document(&doc, r, &err);
    bool         words = !r->a->common.json && (!r->head->found || out == stdout || !r->a->common.quiet);
    kn_document *kept = words && made == KN_OK ? kn_document_retain(doc) : NULL;
    int          code = cli_answer(&r->a->common, made, doc, &err, NULL);
    if (kept) print_words(r, kept, out);
    kn_document_free(kept);
    return code ? code : r->head->found ? 0 : 1;
}
