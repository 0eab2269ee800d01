/* records/anonymize.c: what `kanon anonymize` prints of tree records only (anonymize.h). */
/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "anonymize.h"
#include "diagnose.h"

static const kn_records_result *result_of(const cli_release *r)
{
    return (const kn_records_result *)(const void *)r->head;
}

static kn_status make(kn_release_head **out, kn_context *ctx, const kn_spec *spec, const kn_anonymize_options *options,
                      kn_error *err)
{
    kn_records_result *result = NULL;
    kn_status          st = kn_anonymize_records(&result, ctx, spec, options, err);
    *out = result ? &result->head : NULL;
    return st;
}

static void free_result(kn_release_head *head)
{
    kn_records_result_free((kn_records_result *)(void *)head);
}

static kn_status document(kn_document **out, const cli_release *r, kn_error *err)
{
    return kn_document_anonymize_records(out, r->ctx, r->spec, result_of(r), r->options, err);
}

/* ---- Words ---- */

static void print_promise(const kn_spec *spec, const kn_records_result *r, FILE *out)
{
    if (r->head.k == 0) {
        fputs("The records show no value that somebody is taken to know, so k promises nothing.\n", out);
        return;
    }
    fprintf(out, "Whoever knows up to %d %s of a record%s", r->kmn.m, r->kmn.m == 1 ? "value" : "values",
            kn_spec_has_sensitive_class(spec) ? " (sensitive ones aside)" : "");
    if (r->kmn.n > 0)
        fprintf(out, ", and up to %d %s between them,", r->kmn.n,
                r->kmn.n == 1 ? "relation (what stands above what)" : "relations (what stands above what)");
    fprintf(out, " finds no record or at least %lld.\n", (long long)r->head.k);
    const char *between = "Some of these values may be known to be absent: those of ";
    for (int c = 0; c < spec->class_count; c++) {
        if (!spec->classes[c].negative) continue;
        char *name = cli_escape(spec->classes[c].name, strlen(spec->classes[c].name));
        fprintf(out, "%s%s", between, name);
        between = ", ";
        free(name);
    }
    if (between[0] == ',') fputs(".\n", out);
    if (r->kmn.n > 1)
        fprintf(out, "Relations are %s.\n",
                spec->semantics == KN_SEMANTICS_PATHS ? "known together with the path they lie on (semantics: paths)"
                                                      : "known pair by pair (semantics: pairs)");
}

static void lost(const cli_release *release, FILE *out)
{
    const kn_records_result *r = result_of(release);
    static const char *const titles[] = {"", "original", "release", "survive"};
    static const cli_align   aligns[] = {CLI_LEFT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT};
    cli_text_table          *t = cli_text_table_new(4, titles, aligns);
    cli_text_table_text(t, "different values");
    cli_text_table_integer(t, r->values_original);
    cli_text_table_integer(t, r->values);
    cli_text_table_text(t, "");
    cli_text_table_text(t, "nodes");
    cli_text_table_integer(t, r->nodes_original);
    cli_text_table_integer(t, r->nodes);
    if (r->nodes_original == 0)
        cli_text_table_text(t, "");
    else
        cli_text_table_format(t, "%.1f %% as they were", 100 * r->node_survival);
    cli_text_table_text(t, "relations");
    cli_text_table_integer(t, r->relations_original);
    cli_text_table_integer(t, r->relations);
    if (r->relations_original == 0)
        cli_text_table_text(t, "");
    else
        cli_text_table_format(t, "%.1f %% as they were, %.1f %% between the same or broader values",
                              100 * r->relation_unchanged, 100 * r->relation_survival);
    fputc('\n', out);
    cli_text_table_print(t, out, 2);
    cli_text_table_free(t);
}

static void verdict(const cli_release *release, FILE *out)
{
    const kn_records_result *r = result_of(release);
    fprintf(out, "%s; %s vanished everywhere%s\n", cli_count_of(r->records, "record", "records").text,
            cli_count_of(r->disassociations, "relation", "relations").text, cli_release_state(release));
    if (!release->a->dry_run) print_promise(release->spec, r, out);
    cli_print_share(release, "the records that somebody finds", out);
}

static void choice(const cli_release *release, FILE *out)
{
    if (!release->head->complete) fputs("; the time limit ended the search: a better one may exist", out);
}

static void loss(const cli_release *release, FILE *out)
{
    const kn_records_result *r = result_of(release);
    fprintf(out, "  loss  rpd %.6g (was %.6g)", r->rpd, r->rpd_original);
    if (!isnan(r->ml2)) fprintf(out, " ml2 %.6g dml2 %.6g", r->ml2, r->dml2);
    fputc('\n', out);
}

const cli_shape cli_records_shape = {make, free_result, document, verdict, lost, choice, loss};
