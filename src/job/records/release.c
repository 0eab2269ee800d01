/* records/release.c: tree records as a shape of the release driver (kn_shape.h), and its stages up to the released records.
 *
 * Memory: the records, the search; then records and release, twice while the verifier reads them.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_records_run.h"

#include <kanon/database.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_database_roles.h"
#include "kn_error.h"
#include "kn_forest.h"
#include "kn_hash.h"
#include "kn_job_texts.h"
#include "kn_records_files.h"
#include "kn_records_report.h"
#include "kn_targets.h"
#include "kn_written.h"

/* ---- Reading ---- */

static kn_status open_output(kn_release_run *run, kn_error *err)
{
    const char *output = run->spec->output;
    if (strcmp(output, "-") == 0)
        return kn_fail(err, KN_USAGE, "records are released to a file: --output FILE is needed");
    if (run->spec->table_count > 0 && kn_database_named(output)) {
        kn_status st = kn_written_open(&kn_records_run_of(run)->writer, run, err);
        kn_records_run_of(run)->result->beside = run->base;
        return st;
    }
    for (int i = 0; i < run->spec->input_count; i++)
        if (kn_targets_same(output, run->spec->inputs[i]))
            return kn_fail(err, KN_USAGE, "the output would overwrite the input");
    KN_TRY(kn_targets_check(run->ctx, run->spec, output, err));
    run->base = output;
    KN_TRY(kn_set_open(&run->set, run->ctx, output, err));
    return kn_set_create(run->set, &run->output, KN_SET_RELEASE, NULL, err);
}

static kn_status read_records(kn_records_run *run, kn_error *err)
{
    const kn_spec     *spec = run->all.spec;
    kn_records_options options = kn_records_reading(spec);
    bool               database = spec->table_count > 0;
    kn_records_files   files = {.paths = (const char **)(uintptr_t)spec->inputs, .count = 1};
    if (!database)
        KN_TRY(kn_records_files_list(&files, &run->all.scratch, spec->inputs[0], spec->inputs + 1,
                                     spec->input_count - 1, err));
    KN_TRY(kn_release_originals(&run->all, files.paths, files.paths, files.count, !database, err));
    const char *snapshot = kn_input_mark_snapshot(run->all.originals.marks[0]);
    options.more = files.paths + 1;
    options.more_count = files.count - 1;
    return database ? kn_records_read_persons(&run->records, run->writer ? &run->db : NULL, run->all.ctx,
                                              spec->inputs[0], spec, snapshot, err)
                    : kn_records_read(&run->records, run->all.ctx, files.paths[0], &options, err);
}

static kn_status read(kn_release_run *all, kn_error *err)
{
    kn_records_run    *run = kn_records_run_of(all);
    kn_records_result *r = run->result;
    for (int i = 0; i < all->spec->input_count; i++)
        if (strcmp(all->spec->inputs[i], "-") == 0)
            return kn_fail(err, KN_USAGE, "records are read twice: they cannot come from standard input");
    KN_TRY(read_records(run, err));
    if (run->records->count == 0) return kn_fail(err, KN_INPUT, "%s: there are no records", all->spec->inputs[0]);
    r->records = run->records->count;
    r->merged = kn_records_merged(run->records);
    for (int i = 0; i < kn_records_ignored(run->records); i++)
        KN_TRY(kn_release_drop(all, kn_records_ignored_name(run->records, i), err));
    if (r->head.dropped_count > 0 && all->spec->undeclared_refuse)
        return kn_fail(err, KN_INPUT, "\"%s\" belongs to no class (undeclared: refuse)", r->head.dropped[0]);
    for (int c = 0; c < all->spec->class_count; c++)
        if (all->spec->classes[c].negative_relations)
            KN_TRY(kn_release_note(
                all, err, "that values of class \"%s\" do not stand below others may be known: that is counted, too",
                all->spec->classes[c].name));
    if (run->records->orphans > 0)
        KN_TRY(kn_release_note(all, err, "%lld %s%s to nobody and %s not released", (long long)run->records->orphans,
                               all->spec->resource_count > 0 ? "resource" : "row",
                               run->records->orphans == 1 ? " belongs" : "s belong",
                               run->records->orphans == 1 ? "is" : "are"));
    if (run->records->layout.empty > 0)
        KN_TRY(kn_release_note(all, err, "%lld %s no value, and %s no node%s", (long long)run->records->layout.empty,
                               run->records->layout.empty == 1 ? "element or key has" : "elements or keys have",
                               run->records->layout.empty == 1 ? "is" : "are",
                               run->records->layout.empty == 1 ? "" : "s"));
    if (r->merged > 0)
        KN_TRY(kn_release_note(all, err, "%lld %s equal to a sibling: how often somebody has a value is not released",
                               (long long)r->merged, r->merged == 1 ? "node was" : "nodes were"));
    return KN_OK;
}

/* ---- Searching ---- */

static int64_t promised_l(const kn_spec *spec)
{
    int64_t l = 0;
    for (int i = 0; i < spec->model_count; i++) {
        const kn_model *m = &spec->models[i];
        if (m->kind == KN_MODEL_DISTINCT && (int64_t)(m->l.numerator / m->l.denominator) > l)
            l = (int64_t)(m->l.numerator / m->l.denominator);
    }
    return l;
}

/* Entropy and recursive l-diversity. Classes of the vocabulary are those of the spec, in its order. */
static kn_status take_promises(kn_records_run *run, kn_tree_problem *problem, kn_error *err)
{
    const kn_spec       *spec = run->all.spec;
    const kn_vocabulary *v = run->records->vocabulary;
    kn_tree_promise     *promises =
        kn_release_alloc(&run->all, &run->all.scratch, (size_t)spec->model_count + 1, sizeof *promises, err);
    if (!promises) return KN_MEMORY;
    problem->promises = promises;
    for (int i = 0; i < spec->model_count; i++) {
        const kn_model *m = &spec->models[i];
        if (m->kind != KN_MODEL_ENTROPY && m->kind != KN_MODEL_RECURSIVE) continue;
        for (int c = 0; c < v->class_count; c++)
            if (m->attribute && strcmp(v->class_names[c], m->attribute) == 0)
                promises[problem->promise_count++] = (kn_tree_promise){(uint16_t)c, *m};
    }
    return KN_OK;
}

static kn_status copy_counters(kn_records_run *run, kn_error *err)
{
    const kn_tree_counters  *c = &run->found->counters;
    const kn_release_counter counters[] = {
        {"cuts", (double)c->cuts},           {"value_checks", (double)c->value_checks},
        {"passed", (double)c->passed},       {"intersections", (double)c->intersections},
        {"relations", (double)c->relations}, {"disassociations_tried", (double)c->disassociations}};
    return kn_release_set_counters(&run->all, counters, sizeof counters / sizeof *counters, err);
}

static const char *showing(const kn_vocabulary *v)
{
    for (int c = 0; c < v->class_count; c++)
        if (v->sensitive[c]) return "sensitive values and * alone";
    return "* alone";
}

static kn_status no_release(kn_records_run *run, kn_error *err)
{
    char why[200];
    if (!run->found->complete)
        snprintf(why, sizeof why, "the time limit ended the search before it had found a release");
    else if (run->records->count < run->all.spec->kmn.k)
        snprintf(why, sizeof why, "k-mn: it needs at least %lld records, and there %s %lld",
                 (long long)run->all.spec->kmn.k, run->records->count == 1 ? "is" : "are",
                 (long long)run->records->count);
    else
        snprintf(why, sizeof why, "not even records that show %s keep what was asked",
                 showing(run->records->vocabulary));
    return kn_release_none(&run->all, why, err);
}

/* A class that a program made itself may have no weight: 0 / 0. */
static kn_ratio weight_of(const kn_spec_class *c)
{
    return c->weight.denominator == 0 ? (kn_ratio){1, 1} : c->weight;
}

/* Where all weigh the same, weights say nothing. */
static kn_status take_weights(kn_records_run *run, kn_error *err)
{
    const kn_spec *spec = run->all.spec;
    bool           differ = false;
    run->weights = NULL;
    for (int c = 1; c < spec->class_count; c++) {
        kn_ratio first = weight_of(&spec->classes[0]), own = weight_of(&spec->classes[c]);
        differ = differ || (kn_u128)first.numerator * own.denominator != (kn_u128)own.numerator * first.denominator;
    }
    if (!differ) return KN_OK;
    run->weights = kn_release_alloc(&run->all, &run->all.scratch, (size_t)spec->class_count, sizeof *run->weights, err);
    if (!run->weights) return KN_MEMORY;
    for (int c = 0; c < spec->class_count; c++) run->weights[c] = weight_of(&spec->classes[c]);
    return KN_OK;
}

static kn_status search(kn_release_run *all, kn_error *err)
{
    kn_records_run *run = kn_records_run_of(all);
    const kn_spec  *spec = run->all.spec;
    kn_tree_problem problem = KN_TREE_PROBLEM_INIT;
    KN_TRY(take_weights(run, err));
    KN_TRY(take_promises(run, &problem, err));
    problem.weights = run->weights;
    problem.records = run->records;
    problem.method = spec->method;
    problem.k = spec->kmn.k;
    problem.m = spec->kmn.m;
    problem.n = spec->kmn.n;
    problem.g = (int)spec->g;
    problem.semantics = spec->semantics;
    problem.how = (kn_disassociate)spec->disassociation;
    problem.strict = spec->strict_structure;
    problem.time_limit = spec->time_limit;
    problem.l = promised_l(spec);
    problem.reference = spec->reference;
    problem.as_is = true;
    problem.spare_nodes = kn_fraction_of(spec->suppression, (int64_t)run->records->nodes);
    problem.spare_records = kn_fraction_of(spec->suppression, run->records->count);
    KN_TRY(kn_tree_search(&run->found, run->all.ctx, &problem, err));
    run->result->head.found = run->found->found;
    run->result->head.complete = run->found->complete;
    KN_TRY(copy_counters(run, err));
    return run->found->found ? KN_OK : no_release(run, err);
}

/* ---- Measuring ---- */

static kn_status count_values(kn_records_run *run, const kn_records *records, int64_t *out, kn_error *err)
{
    bool *seen = kn_alloc_array_zero(run->all.ctx, (size_t)records->vocabulary->nodes + 1, sizeof *seen);
    if (!seen) return kn_fail_memory(err, run->all.ctx, "making a release");
    *out = 0;
    for (uint64_t i = 0; i < records->nodes; i++) {
        *out += !seen[records->value[i]];
        seen[records->value[i]] = true;
    }
    kn_free(seen);
    return KN_OK;
}

/* Single nodes were given up, of values that a record may show at several nodes: only the map tells how many of these it lacks. */
static kn_status note_map(kn_records_run *run, kn_error *err)
{
    const kn_records_plan *plan = run->found->plan;
    const kn_records      *from = run->records;
    if (!plan->in_some || run->all.spec->keep_rowmap) return KN_OK;
    bool    *some = kn_alloc_array_zero(run->all.ctx, (size_t)plan->values + 1, sizeof *some);
    int64_t *last = kn_alloc_array_zero(run->all.ctx, (size_t)plan->values + 1, sizeof *last);
    bool     single = false, several = run->found->left_out > 0, made = some && last;
    for (uint32_t v = 0; made && v < plan->values; v++)
        if (plan->in_some[v]) some[plan->image[v]] = single = true;
    for (int64_t r = 0; made && single && r < from->count; r++)
        for (uint64_t i = from->start[r]; i < from->start[r + 1]; i++) {
            uint32_t shown = plan->image[from->value[i]];
            several = several || (some[shown] && last[shown] == r + 1);
            last[shown] = r + 1;
        }
    KN_FREE(some, last);
    if (!made) return kn_fail_memory(err, run->all.ctx, "making a release");
    return single && several ? kn_release_note(&run->all, err, KN_JOB_MAP_NEEDED("of which single nodes were given up"))
                             : KN_OK;
}

static kn_status measure(kn_release_run *all, kn_error *err)
{
    kn_records_run         *run = kn_records_run_of(all);
    const kn_spec          *spec = run->all.spec;
    kn_records_result      *r = run->result;
    kn_tree_metrics         m;
    kn_tree_metrics_options options = KN_TREE_METRICS_OPTIONS_INIT;
    if (!r->head.found) return KN_OK;
    options.mine = spec->support.numerator > 0;
    if (options.mine) options.support = (double)spec->support.numerator / (double)spec->support.denominator;
    KN_TRY(kn_records_apply(&run->released, &run->original_of, run->all.ctx, run->records, run->found->plan, err));
    KN_TRY(kn_tree_measure(&m, run->all.ctx, run->records, run->released, run->original_of, &options, err));
    r->nodes = m.nodes;
    r->nodes_original = m.nodes_original;
    r->relations = m.relations;
    r->relations_original = m.relations_original;
    r->node_survival = m.node_survival;
    r->relation_survival = m.relation_survival;
    r->relation_unchanged = m.relation_unchanged;
    r->rpd = m.rpd;
    r->rpd_original = m.rpd_original;
    r->ml2 = m.ml2;
    r->dml2 = m.dml2;
    r->cost = run->weights ? NAN : run->found->cost;
    KN_TRY(kn_tree_breadth(&r->loss, run->all.ctx, run->records, run->released, run->original_of, run->found->plan,
                           run->weights, err));
    r->given_up = run->found->given_up;
    r->left_out = run->found->left_out;
    r->disassociations = run->found->plan->disassociation_count;
    KN_TRY(count_values(run, run->records, &r->values_original, err));
    KN_TRY(count_values(run, run->released, &r->values, err));
    KN_TRY(note_map(run, err));
    return kn_release_set_models(all, NULL, NULL, err); /* the verifier derives what they reach   */
}

/* ---- The shape ---- */

/* Cuts at or below each value: 1 for itself, plus the product over its children. Children come after their parent. */
static kn_status count_cuts(const kn_records_run *run, int64_t *out, kn_error *err)
{
    const kn_vocabulary *v = run->records->vocabulary;
    int64_t             *below = kn_alloc_array(run->all.ctx, (size_t)v->nodes + 1, sizeof *below);
    if (!below) return kn_fail_memory(err, run->all.ctx, "trying methods");
    for (uint32_t i = 0; i < v->nodes; i++) below[i] = 1;
    for (uint32_t i = v->nodes; i-- > 0;) {
        int64_t cuts = v->end[i] > i + 1 ? below[i] + 1 : 1;
        if (cuts > KN_CUTS_MANY) cuts = KN_CUTS_MANY;
        below[i] = cuts;
        if (i == 0) break;
        int64_t *above = &below[v->parent[i]];
        *above = *above * cuts > KN_CUTS_MANY ? KN_CUTS_MANY : *above * cuts;
    }
    *out = below[0];
    kn_free(below);
    return KN_OK;
}

static kn_status check(const kn_spec *spec, kn_error *err)
{
    if (kn_spec_shape(spec) != KN_SHAPE_RECORDS) return kn_fail(err, KN_USAGE, "the spec describes no tree records");
    if (kn_method_family(spec->method) != KN_FAMILY_TREE)
        return kn_fail(err, KN_USAGE, "method %s is not one for trees", kn_method_name(spec->method));
    return KN_OK;
}

static kn_status begin(kn_release_run *all, const kn_release_head *of, kn_error *err)
{
    kn_records_run *run = kn_records_run_of(all);
    (void)err;
    run->result = (kn_records_result *)(void *)all->head;
    run->result->kmn = all->spec->kmn;
    if (of) run->result->records = ((const kn_records_result *)(const void *)of)->records;
    return KN_OK;
}

static kn_status count(kn_release_run *all, kn_advisor *out, kn_error *err)
{
    out->count = kn_records_run_of(all)->records->count;
    return count_cuts(kn_records_run_of(all), &out->cuts, err);
}

static kn_status judge(kn_release_run *all, kn_advice_candidate *out, kn_error *err)
{
    const kn_records_result *r = kn_records_run_of(all)->result;
    (void)err;
    out->loss = all->spec->support.numerator > 0 ? r->dml2 : r->rpd;
    out->node_survival = r->node_survival;
    out->relation_survival = r->relation_survival;
    return KN_OK;
}

static void describe(kn_release_run *all, kn_private_input *out)
{
    const kn_records_run *run = kn_records_run_of(all);
    out->plan = run->found->plan;
    out->vocabulary = run->records->vocabulary;
}

static kn_status map(kn_release_run *all, kn_output *to, kn_error *err)
{
    const kn_records_run *run = kn_records_run_of(all);
    kn_written            w = {run->db, run->back_db};
    if (run->writer) return kn_written_rowmap(to, all, &w, run->map, err);
    return kn_rowmap_write(to, all->ctx, run->original_of, run->released->count, err);
}

static kn_status report(kn_buffer *to, kn_release_run *all, kn_error *err)
{
    return kn_records_report_render(to, all->spec, kn_records_run_of(all)->result, all->options->version, err);
}

static void end_search(kn_release_run *all)
{
    kn_records_run *run = kn_records_run_of(all);
    kn_records_free(run->released);
    kn_free(run->original_of);
    kn_tree_result_free(run->found);
    run->released = NULL;
    run->original_of = NULL;
    run->found = NULL;
}

static void end(kn_release_run *all)
{
    kn_records_run *run = kn_records_run_of(all);
    kn_records_free(run->back);
    kn_records_free(run->records);
    kn_database_free(run->back_db);
    kn_database_free(run->db);
    kn_free(run->map);
}

const kn_release_shape kn_records_shape = {.run_size = sizeof(kn_records_run),
                                           .result_size = sizeof(kn_records_result),
                                           .check = check,
                                           .begin = begin,
                                           .open = open_output,
                                           .read = read,
                                           .count = count,
                                           .search = search,
                                           .measure = measure,
                                           .judge = judge,
                                           .left = kn_records_run_left,
                                           .warn = kn_records_run_warn,
                                           .spread = kn_records_run_spread,
                                           .write = kn_records_run_write,
                                           .verify = kn_records_run_verify,
                                           .publish = kn_records_run_publish,
                                           .describe = describe,
                                           .map = map,
                                           .report = report,
                                           .end_search = end_search,
                                           .end = end};
