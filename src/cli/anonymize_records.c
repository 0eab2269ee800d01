/* anonymize_records.c: `kanon anonymize` of tree records: runs it and tells what became of values and relations. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "advise.h"
#include "anonymize.h"
#include "diagnose.h"

/* ---- Words ---- */

static void print_promise(const kn_spec *spec, const kn_records_result *r, FILE *out)
{
    if (r->k == 0) {
        fputs("The records show no value that somebody is taken to know, so k promises nothing.\n", out);
        return;
    }
    fprintf(out, "Whoever knows up to %d %s of a record%s", r->kmn.m, r->kmn.m == 1 ? "value" : "values",
            kn_spec_has_sensitive_class(spec) ? " (sensitive ones aside)" : "");
    if (r->kmn.n > 0)
        fprintf(out, ", and up to %d %s between them,", r->kmn.n,
                r->kmn.n == 1 ? "relation (what stands above what)" : "relations (what stands above what)");
    fprintf(out, " finds no record or at least %lld.\n", (long long)r->k);
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

static void print_loss(const kn_records_result *r, FILE *out)
{
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
    fprintf(out, "\n  by    %s%s\n", kn_method_name(r->method),
            r->complete ? "" : "; the time limit ended the search: a better one may exist");
    cli_advice_print(r->advice, out);
    fprintf(out, "  loss  rpd %.6g (was %.6g)", r->rpd, r->rpd_original);
    if (!isnan(r->ml2)) fprintf(out, " ml2 %.6g dml2 %.6g", r->ml2, r->dml2);
    fputc('\n', out);
}

static void print_words(const cli_anonymizing *a, const kn_spec *spec, const kn_records_result *r, FILE *out)
{
    if (!r->found) {
        fprintf(out, "%sNO RELEASE%s: %s\n", cli_style_on(out, CLI_RED), cli_style_on(out, CLI_PLAIN), r->reason);
        return;
    }
    fprintf(out, "%s; %s vanished everywhere%s\n", cli_count_of(r->records, "record", "records").text,
            cli_count_of(r->disassociations, "relation", "relations").text,
            a->dry_run ? "; nothing was written (--dry-run)" : "; verified");
    if (!a->dry_run) print_promise(spec, r, out);
    if (r->largest_share > 0)
        fprintf(out, "A sensitive value belongs to at most %.1f %% of the records that somebody finds.\n",
                100 * r->largest_share);
    if (r->model_count > 0) cli_models_print(r->models, r->model_count, true, out);
    print_loss(r, out);
    if (a->dry_run) return;
    cli_print_files(spec, spec->output, spec->output, out);
}

/* ---- JSON ---- */

static json_t *metrics_json(const kn_records_result *r)
{
    json_t *o = cli_json_object();
    cli_json_set(o, "rpd", cli_json_number(r->rpd));
    cli_json_set(o, "rpd_original", cli_json_number(r->rpd_original));
    cli_json_set(o, "rpda", cli_json_number(r->cost));
    cli_json_set(o, "ml2", cli_json_number(r->ml2));
    cli_json_set(o, "dml2", cli_json_number(r->dml2));
    cli_json_set(o, "node_survival", cli_json_number(r->node_survival));
    cli_json_set(o, "relation_survival", cli_json_number(r->relation_survival));
    cli_json_set(o, "relation_unchanged", cli_json_number(r->relation_unchanged));
    return o;
}

static void set_release(json_t *o, const cli_anonymizing *a, const kn_spec *spec, const kn_records_result *r)
{
    if (!a->dry_run) cli_json_set(o, "k", json_integer(r->k));
    cli_json_set(o, "values", json_integer(r->values));
    cli_json_set(o, "values_original", json_integer(r->values_original));
    cli_json_set(o, "nodes", json_integer(r->nodes));
    cli_json_set(o, "nodes_original", json_integer(r->nodes_original));
    cli_json_set(o, "relations", json_integer(r->relations));
    cli_json_set(o, "relations_original", json_integer(r->relations_original));
    cli_json_set(o, "disassociations", json_integer(r->disassociations));
    cli_json_set(o, "largest_share", r->largest_share > 0 ? cli_json_number(r->largest_share) : json_null());
    cli_json_set(o, "metrics", metrics_json(r));
    cli_json_set(o, "models", cli_models_json(r->models, r->model_count, true));
    if (a->dry_run) return;
    cli_json_set(o, "verified", json_true());
    cli_json_set(o, "sha256", cli_json_text_or_null(r->sha256));
    cli_json_set(o, "output", cli_json_text_or_null(spec->output));
    cli_set_files(o, spec, spec->output, spec->output);
}

static void print_json(const cli_anonymizing *a, const kn_spec *spec, const kn_records_result *r)
{
    json_t *o = cli_json_object();
    cli_json_set(o, "found", json_boolean(r->found));
    if (!r->found) cli_json_set(o, "reason", cli_json_text_or_null(r->reason));
    cli_json_set(o, "method", cli_json_text_or_null(kn_method_name(r->method)));
    if (r->advice) cli_json_set(o, "auto", cli_advice_json(r->advice));
    cli_json_set(o, "complete", json_boolean(r->complete));
    cli_json_set(o, "records", json_integer(r->records));
    cli_json_set(o, "merged", json_integer(r->merged));
    if (r->found) set_release(o, a, spec, r);
    cli_json_set(o, "dropped", cli_texts_json(r->dropped, r->dropped_count));
    cli_json_set(o, "notes", cli_texts_json(r->notes, r->note_count));
    cli_json_set(o, "counters", cli_counters_json(r->counters, r->counter_count));
    cli_json_set(o, "seconds",
                 cli_seconds_json(r->seconds_read, r->seconds_search, r->seconds_write, r->seconds_verify));
    cli_json_print(o);
}

/* ---- The run ---- */

int cli_anonymize_records(const cli_anonymizing *a, kn_context *ctx, const kn_spec *spec)
{
    kn_error             err = KN_ERROR_INIT;
    kn_anonymize_options options = KN_ANONYMIZE_OPTIONS_INIT;
    kn_records_result   *r = NULL;
    options.dry_run = a->dry_run;
    options.version = KANON_VERSION;
    if (kn_anonymize_records(&r, ctx, spec, &options, &err) != KN_OK) return cli_fail(&err);
    cli_release_notes notes = {r->found, r->dropped, r->dropped_count, r->notes, r->note_count};
    cli_note_release(a, spec, &notes);
    if (a->common.json)
        print_json(a, spec, r);
    else
        print_words(a, spec, r, stdout);
    int code = r->found ? 0 : 1;
    kn_records_result_free(r);
    return code;
}
