/* anonymize_print.c: what `kanon anonymize` tells of a release of any shape: a page of words for people, everything as
 * JSON. What is of one shape only comes from its cli_shape (anonymize.h).
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

/* ---- Notes ---- */

void cli_note_dropped(const char *const *dropped, int count)
{
    if (count == 0) return;
    size_t size = 1;
    for (int i = 0; i < count; i++) size += strlen(dropped[i]) + 4;
    char  *names = cli_alloc(size);
    size_t used = 0;
    names[0] = '\0';
    for (int i = 0; i < count; i++)
        used += (size_t)snprintf(names + used, size - used, "%s\"%s\"", i ? ", " : "", dropped[i]);
    cli_note("not declared, so dropped: %s", names);
    free(names);
}

static void print_notes(const cli_release *r)
{
    const kn_release_head *h = r->head;
    cli_note_dropped(h->dropped, h->dropped_count);
    if (r->spec->keep_rowmap && !r->a->dry_run && h->found)
        cli_note("the row map undoes the release: keep it to yourself");
    for (int i = 0; i < h->note_count; i++) cli_note("%s", h->notes[i]);
    if (r->shape->notes) r->shape->notes(r);
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

static void print_words(const cli_release *r, FILE *out)
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
    cli_advice_print(h->advice, out);
    r->shape->loss(r, out);
    if (r->a->dry_run || to_stdout(r)) return;
    cli_release_names names = r->shape->names(r);
    cli_print_files(r->spec, names.release, names.base, out);
    free(names.release);
}

/* ---- JSON ---- */

static json_t *seconds_json(const kn_release_head *h)
{
    json_t *o = cli_json_object();
    cli_json_set(o, "read", cli_json_number(h->seconds_read));
    cli_json_set(o, "search", cli_json_number(h->seconds_search));
    cli_json_set(o, "write", cli_json_number(h->seconds_write));
    cli_json_set(o, "verify", cli_json_number(h->seconds_verify));
    return o;
}

static void set_written(json_t *o, const cli_release *r)
{
    const kn_spec    *spec = r->spec;
    cli_release_names names = r->shape->names(r);
    cli_json_set(o, "verified", json_true());
    if (r->head->sha256[0]) cli_json_set(o, "sha256", cli_json_text_or_null(r->head->sha256));
    if (names.base != spec->output) cli_json_set(o, "beside", cli_json_text_or_null(names.base));
    /* A server's name may hold a password. */
    if (!cli_has_scheme(spec->output, "postgres")) cli_json_set(o, "output", cli_json_text_or_null(spec->output));
    if (spec->report) cli_json_set(o, "report", cli_json_text_or_null(spec->report));
    if (spec->public_report) cli_json_set(o, "public_report", cli_json_text_or_null(spec->public_report));
    cli_set_files(o, spec, names.release, names.base);
    free(names.release);
}

static void print_json(const cli_release *r)
{
    const kn_release_head *h = r->head;
    json_t                *o = cli_json_object();
    cli_json_set(o, "found", json_boolean(h->found));
    cli_json_set(o, "nothing_left", cli_json_text_or_null(h->nothing_left));
    if (!h->found) cli_json_set(o, "reason", cli_json_text_or_null(h->reason));
    cli_json_set(o, "method", cli_json_text_or_null(kn_method_name(h->method)));
    if (h->advice) cli_json_set(o, "auto", cli_advice_json(h->advice));
    r->shape->about(r, o);
    if (h->found) r->shape->figures(r, o);
    if (h->found && !r->a->dry_run) set_written(o, r);
    if (r->shape->rest) r->shape->rest(r, o);
    cli_json_set(o, "dropped", cli_texts_json(h->dropped, h->dropped_count));
    cli_json_set(o, "notes", cli_notes_json());
    cli_json_set(o, "counters", cli_counters_json(h->counters, h->counter_count));
    cli_json_set(o, "seconds", seconds_json(h));
    cli_json_print(o);
}

int cli_print_release(const cli_release *r)
{
    FILE *out = to_stdout(r) ? stderr : stdout;
    print_notes(r);
    if (r->a->common.json)
        print_json(r);
    else if (!r->head->found || out == stdout || !r->a->common.quiet)
        print_words(r, out);
    return r->head->found ? 0 : 1;
}
