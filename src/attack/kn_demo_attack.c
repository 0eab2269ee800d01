/* kn_demo_attack.c: kn_attack_demo of kanon/attack.h: a database anonymized in several ways, in memory, and attacked in each.
 *
 * Universal (section 3.1) is one join for each path from the table of persons to a table without children; local (section
 * 3.2) one join for each table; with "-ndgh" keys are generalized too (kn_demo_keys.c). They are made and attacked one after
 * the other, then what miracle-x would release.
 *
 * Cost: reading, four partitionings, one clustering, and the attacks (kn_demo_count.c). Memory: the database and its trees,
 * and one of the releases at a time.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <kanon/attack.h>
#include <kanon/database.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_arena.h"
#include "kn_context.h"
#include "kn_database_roles.h"
#include "kn_demo.h"
#include "kn_demo_release.h"
#include "kn_error.h"
#include "kn_options.h"
#include "kn_relational.h"
#include "kn_rng.h"
#include "kn_spec_of_database.h"

enum { TARGETS = 2000 };

static const char what[] = "attacking a database";

/* The report with what it points to. */
typedef struct report {
    kn_attack_demo_report report;
    kn_arena              arena;
} report;

typedef struct job {
    kn_context                   *ctx;
    const kn_spec                *spec;
    const kn_attack_demo_options *options;
    report                       *to;
    kn_database                  *db;
    kn_forest                    *forest;
    int64_t                      *targets;
    kn_demo_sensitive            *sensitive;
    kn_demo_join                 *paths, *alone;
    int                           path_count;
    kn_demo_found                 found[KN_DEMO_WAYS];
} job;

const char *kn_demo_way_name(kn_demo_way way)
{
    static const char *const names[] = {"universal", "local", "miracle-x", "universal-ndgh", "local-ndgh"};
    return way < KN_DEMO_WAYS ? names[way] : "?";
}

void kn_attack_demo_report_free(kn_attack_demo_report *public_part)
{
    if (!public_part) return;
    report *r = (report *)public_part;
    kn_arena_free(&r->arena);
    kn_free(r);
}

/* ---- Reading ---- */

static kn_status check_database(const job *j, kn_error *err)
{
    int quasi = 0;
    for (int t = 0; t < j->db->table_count; t++) quasi += j->db->tables[t].quasi_count;
    if (quasi == 0)
        return kn_fail(err, KN_INPUT, "%s: no column is a quasi-identifier (role: quasi): nobody could be recognized",
                       j->db->source);
    if (j->forest->entities < j->to->report.k)
        return kn_fail(err, KN_INPUT, "%s: there are %lld persons, fewer than k = %lld", j->db->source,
                       (long long)j->forest->entities, (long long)j->to->report.k);
    return KN_OK;
}

/* ---- Who is looked for ---- */

/* All, or so many of them that each set of this size is as likely (selection sampling); ascending. */
static kn_status choose_targets(job *j, kn_error *err)
{
    int64_t all = j->forest->entities, most = j->options->targets > 0 ? j->options->targets : TARGETS, count = 0;
    kn_rng  rng;
    if (most > all) most = all;
    j->targets = kn_alloc_array(j->ctx, (size_t)most + 1, sizeof *j->targets);
    if (!j->targets) return kn_fail_memory(err, j->ctx, what);
    kn_rng_init(&rng, j->options->seed, 0);
    for (int64_t e = 0; e < all && count < most; e++)
        if (most == all || (int64_t)kn_rng_below(&rng, (uint64_t)(all - e)) < most - count) j->targets[count++] = e;
    j->to->report.persons = all;
    j->to->report.targets = count;
    return KN_OK;
}

static bool has_row(const kn_forest *f, int64_t entity, int table)
{
    for (uint64_t v = f->start[entity]; v < f->start[entity + 1]; v++)
        if (f->table[v] == table) return true;
    return false;
}

static const char *keep(job *j, const char *text)
{
    return kn_arena_strndup(&j->to->arena, text, strlen(text));
}

static bool is_sensitive(const kn_database_column *column)
{
    return column->has_role && column->role == KN_ROLE_SENSITIVE;
}

static kn_status find_sensitive(job *j, kn_error *err)
{
    kn_attack_demo_report *r = &j->to->report;
    size_t                 n = 1;
    int                    count = 0;
    for (int t = 0; t < j->db->table_count; t++)
        for (int c = 0; c < j->db->tables[t].table->column_count; c++) n += is_sensitive(&j->db->tables[t].columns[c]);
    kn_demo_column *columns = kn_arena_alloc(&j->to->arena, n * sizeof *columns);
    j->sensitive = kn_alloc_array(j->ctx, n, sizeof *j->sensitive);
    if (!columns || !j->sensitive) return kn_fail_memory(err, j->ctx, what);
    for (int t = 0; t < j->db->table_count; t++)
        for (int c = 0; c < j->db->tables[t].table->column_count; c++) {
            if (!is_sensitive(&j->db->tables[t].columns[c])) continue;
            j->sensitive[count] = (kn_demo_sensitive){t, c};
            columns[count] = (kn_demo_column){r->tables[t].name, keep(j, j->db->tables[t].table->columns[c].name), 0};
            for (int64_t i = 0; i < r->targets; i++) columns[count].targets += has_row(j->forest, j->targets[i], t);
            if (!columns[count++].column) return kn_fail_memory(err, j->ctx, what);
        }
    r->sensitive = columns;
    r->sensitive_count = count;
    return KN_OK;
}

/* ---- Joins ---- */

static kn_status make_join(job *j, kn_demo_join *to, int table, bool alone, kn_error *err)
{
    const kn_database *db = j->db;
    int                depth = alone ? 0 : db->tables[table].depth;
    to->tables = kn_arena_alloc(&j->to->arena, ((size_t)depth + 1) * sizeof *to->tables);
    if (!to->tables) return kn_fail_memory(err, j->ctx, what);
    to->table_count = depth + 1;
    for (int at = depth; at >= 0; at--) {
        to->tables[at] = table;
        table = db->tables[table].parent;
    }
    return KN_OK;
}

static kn_status find_joins(job *j, kn_error *err)
{
    size_t n = (size_t)j->db->table_count + 1;
    j->paths = kn_arena_alloc(&j->to->arena, n * sizeof *j->paths);
    j->alone = kn_arena_alloc(&j->to->arena, n * sizeof *j->alone);
    if (!j->paths || !j->alone) return kn_fail_memory(err, j->ctx, what);
    for (int t = 0; t < j->db->table_count; t++) {
        KN_TRY(make_join(j, &j->alone[t], t, true, err));
        if (j->db->tables[t].child_count == 0) KN_TRY(make_join(j, &j->paths[j->path_count++], t, false, err));
    }
    return KN_OK;
}

static kn_status tell_tables(job *j, kn_error *err)
{
    kn_attack_demo_report *r = &j->to->report;
    kn_demo_table         *tables = kn_arena_alloc(&j->to->arena, (size_t)j->db->table_count * sizeof *tables);
    if (!tables) return kn_fail_memory(err, j->ctx, what);
    r->tables = tables;
    r->table_count = j->db->table_count;
    r->person = j->db->entity;
    for (int t = 0; t < r->table_count; t++) {
        tables[t] = (kn_demo_table){keep(j, j->db->tables[t].name), 0, j->db->tables[t].quasi_count, false};
        if (!tables[t].name) return kn_fail_memory(err, j->ctx, what);
    }
    for (uint64_t v = 0; v < j->forest->nodes; v++) tables[j->forest->table[v]].rows++;
    for (int t = 0; t < r->table_count; t++) tables[t].small = tables[t].quasi > 0 && tables[t].rows < r->k;
    return KN_OK;
}

static kn_status tell_paths(job *j, kn_error *err)
{
    kn_demo_path *paths = kn_arena_alloc(&j->to->arena, ((size_t)j->path_count + 1) * sizeof *paths);
    if (!paths) return kn_fail_memory(err, j->ctx, what);
    for (int i = 0; i < j->path_count; i++)
        paths[i] = (kn_demo_path){j->paths[i].table_count, j->paths[i].tables, j->paths[i].rows};
    j->to->report.paths = paths;
    j->to->report.path_count = j->path_count;
    return KN_OK;
}

/* ---- The ways ---- */

static kn_status cluster(kn_database_plan **out, job *j, kn_error *err)
{
    kn_relational_problem  problem = KN_RELATIONAL_PROBLEM_INIT;
    kn_relational_counters counters;
    bool                   found = false;
    problem.forest = j->forest;
    problem.method = KN_METHOD_MIRACLE_X;
    problem.k = j->to->report.k;
    problem.threshold = j->spec->threshold;
    problem.climit = j->spec->climit;
    problem.seed = j->spec->seed;
    problem.matching = j->spec->matching;
    problem.leftovers = j->spec->leftovers;
    problem.clustering = (kn_clustering)j->spec->clustering;
    KN_TRY(kn_relational_search(out, &found, &counters, j->ctx, &problem, err));
    return found ? KN_OK : kn_fail(err, KN_INTERNAL, "%s: no class of persons could be made", j->db->source);
}

static kn_status make_release(kn_database_plan **out, job *j, kn_demo_way way, kn_error *err)
{
    const kn_attack_demo_report *r = &j->to->report;
    if (way == KN_DEMO_KANON) return cluster(out, j, err);
    if (way == KN_DEMO_LOCAL) return kn_demo_release(out, j->ctx, j->forest, j->alone, j->db->table_count, r->k, err);
    return kn_demo_release(out, j->ctx, j->forest, j->paths, j->path_count, r->k, err);
}

static kn_status tell_way(job *j, kn_demo_way way, kn_error *err)
{
    kn_attack_demo_report *r = &j->to->report;
    kn_demo_attack        *a = &r->ways[way];
    const kn_demo_found   *found = &j->found[way];
    int64_t               *certain = kn_arena_alloc(&j->to->arena, ((size_t)r->sensitive_count + 1) * sizeof *certain);
    double                 sum = 0;
    if (!certain) return kn_fail_memory(err, j->ctx, what);
    memset(certain, 0, (size_t)r->sensitive_count * sizeof *certain);
    a->certain = certain;
    for (int64_t i = 0; i < r->targets; i++) {
        int64_t n = found->candidates[i];
        sum += (double)n;
        a->none += n == 0;
        a->unique += n == 1;
        a->below += n > 0 && n < r->k;
        if (n > 0 && (a->least == 0 || n < a->least)) a->least = n;
        for (int s = 0; s < r->sensitive_count; s++) certain[s] += found->certain[i * r->sensitive_count + s];
    }
    a->mean = sum / (double)r->targets;
    return KN_OK;
}

static kn_status attack_keys(job *j, kn_demo_way way, kn_error *err)
{
    bool                local = way == KN_DEMO_LOCAL_NDGH;
    const kn_demo_join *joins = local ? j->alone : j->paths;
    int                 count = local ? j->db->table_count : j->path_count;
    kn_demo_keyed     **keyed = kn_alloc_array_zero(j->ctx, (size_t)count + 1, sizeof *keyed);
    kn_status           st = keyed ? KN_OK : kn_fail_memory(err, j->ctx, what);
    for (int i = 0; st == KN_OK && i < count; i++)
        st = kn_demo_keyed_make(&keyed[i], j->ctx, j->forest, &joins[i], j->to->report.k, err);
    const kn_demo_keys_input in = {.forest = j->forest,
                                   .join_count = count,
                                   .joins = keyed,
                                   .target_count = j->to->report.targets,
                                   .targets = j->targets,
                                   .sensitive_count = j->to->report.sensitive_count,
                                   .sensitive = j->sensitive};
    if (st == KN_OK) st = kn_demo_count_keys(&j->found[way], j->ctx, &in, err);
    for (int i = 0; keyed && i < count; i++) kn_demo_keyed_free(keyed[i]);
    kn_free(keyed);
    return st == KN_OK ? tell_way(j, way, err) : st;
}

static kn_status attack(job *j, kn_demo_way way, kn_error *err)
{
    kn_database_plan *plan = NULL;
    if (way == KN_DEMO_UNIVERSAL_NDGH || way == KN_DEMO_LOCAL_NDGH) return attack_keys(j, way, err);
    KN_TRY(make_release(&plan, j, way, err));
    const kn_demo_input in = {.forest = j->forest,
                              .plan = plan,
                              .deleted = way == KN_DEMO_KANON,
                              .target_count = j->to->report.targets,
                              .targets = j->targets,
                              .sensitive_count = j->to->report.sensitive_count,
                              .sensitive = j->sensitive};
    kn_status           st = kn_demo_count(&j->found[way], j->ctx, &in, err);
    kn_database_plan_free(plan);
    return st == KN_OK ? tell_way(j, way, err) : st;
}

/* ---- The example ---- */

static int64_t person_row(const job *j, int64_t target)
{
    return (int64_t)j->forest->row[j->forest->start[j->targets[target]]];
}

static bool better_example(const job *j, int64_t a, int64_t b)
{
    const int64_t *universal = j->found[KN_DEMO_UNIVERSAL].candidates, *local = j->found[KN_DEMO_LOCAL].candidates;
    if (universal[a] != universal[b]) return universal[a] < universal[b];
    if (local[a] != local[b]) return local[a] < local[b];
    return person_row(j, a) < person_row(j, b);
}

static kn_status tell_example(job *j, kn_error *err)
{
    kn_attack_demo_report *r = &j->to->report;
    const kn_forest       *f = j->forest;
    int64_t               *rows = kn_arena_alloc(&j->to->arena, (size_t)r->table_count * sizeof *rows), best = 0;
    if (!rows) return kn_fail_memory(err, j->ctx, what);
    memset(rows, 0, (size_t)r->table_count * sizeof *rows);
    for (int64_t i = 1; i < r->targets; i++)
        if (better_example(j, i, best)) best = i;
    int64_t e = j->targets[best];
    for (uint64_t v = f->start[e]; v < f->start[e + 1]; v++) rows[f->table[v]]++;
    r->example = person_row(j, best) + 1;
    r->example_rows = rows;
    for (int way = 0; way < KN_DEMO_WAYS; way++) r->example_candidates[way] = j->found[way].candidates[best];
    return KN_OK;
}

/* ---- All together ---- */

static kn_status run(job *j, kn_error *err)
{
    KN_TRY(kn_database_read_persons(&j->db, &j->forest, j->ctx, j->spec->inputs[0], j->spec, false, err));
    KN_TRY(check_database(j, err));
    KN_TRY(choose_targets(j, err));
    KN_TRY(tell_tables(j, err));
    KN_TRY(find_sensitive(j, err));
    KN_TRY(find_joins(j, err));
    for (int way = 0; way < KN_DEMO_WAYS; way++) KN_TRY(attack(j, (kn_demo_way)way, err));
    KN_TRY(tell_paths(j, err));
    return tell_example(j, err);
}

static void free_job(job *j)
{
    for (int way = 0; way < KN_DEMO_WAYS; way++) kn_demo_found_free(&j->found[way]);
    KN_FREE(j->targets, j->sensitive);
    kn_forest_free(j->forest);
    kn_database_free(j->db);
}

kn_status kn_attack_demo(kn_attack_demo_report **out, kn_context *ctx, const kn_spec *spec,
                         const kn_attack_demo_options *options, kn_error *err)
{
    *out = NULL;
    KN_SERVE(ctx, err);
    if (!spec || !options) return kn_fail(err, KN_USAGE, "attack: the spec or the options are missing");
    KN_OPTIONS(kn_attack_demo_options, KN_ATTACK_DEMO_OPTIONS_INIT, options, "attack options", err);
    KN_TRY(kn_spec_check_is_database(spec, err));
    if (spec->input_count != 1) return kn_fail(err, KN_USAGE, "one database is needed as input");
    int64_t k = kn_spec_asked_k(spec, options->k);
    if (k < 2) return kn_fail(err, KN_USAGE, "k must be at least 2: a crowd of 1 hides nobody");
    if (options->targets < 0) return kn_fail(err, KN_USAGE, "the number of targets must be at least 0");
    job j = {.ctx = ctx, .spec = spec, .options = options, .to = kn_alloc_zero(ctx, sizeof(report))};
    if (!j.to) return kn_fail_memory(err, j.ctx, what);
    kn_arena_init(&j.to->arena, ctx);
    j.to->report.k = k;
    kn_status st = run(&j, err);
    free_job(&j);
    if (st == KN_OK)
        *out = &j.to->report;
    else
        kn_attack_demo_report_free(&j.to->report);
    return st;
}
