/* kn_tree_metrics.c: what a release of tree records lost: RPD, ML² and dML², nodes and relations that remain.
 *
 * Interface: kn_tree_measure (kn_tree.h). It uses original and release alone, so that any method's release can be
 * measured.
 *
 * RPD is the mean over the records of the mean over their paths of 1 / product of d(u) · |C(u)| (equations 1 to 3). A
 * node survives if the released record has its value; a relation u ⇝ v if the released record has a node at or above
 * u over one at or above v in the hierarchies. ML² and dML² look at every level below "*" (K13, K15): level i is the
 * full-domain cut at depth H - i, at which a value that the release has generalized further is unchanged. dlevel is
 * the number of steps from the value of the level up to what the record shows, the mean over all nodes of that value:
 * with one cut for all records they are all equal. A node that is gone counts as "*".
 *
 * Cost: the records once, for each of its nodes the released record's, and mining (kn_subtree_miner.c) once per level.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_parallel.h"
#include "kn_subtree_miner.h"
#include "kn_tree.h"
#include "kn_tree_cost.h"

#define WHAT "measuring tree records"
#define GRAIN 4096 /* records; sums are added in this order on any number of threads */

typedef struct sums {
    double  rpd, rpd_original;
    int64_t nodes, nodes_original, nodes_kept;
    int64_t relations, relations_original, relations_kept, relations_unchanged;
} sums;

typedef struct measuring {
    kn_context          *ctx;
    const kn_records    *original, *released;
    const int64_t       *original_of;
    const kn_vocabulary *vocabulary;
    kn_cost_domain      *domain; /* per value */
    sums                *pieces;
    int64_t              piece_count;
    /* Per worker: nodes of one original record, and which nodes have children. */
    kn_record_node **nodes;
    bool           **inner;
    int              worker_count;
    uint32_t         widest;
    uint32_t         depths; /* of the hierarchies, with "*" */
    int64_t        **shown;  /* per worker, value × depth: nodes of that value that show a value of that depth */
} measuring;

/* ---- One record ---- */

/* Equation 2; a record without nodes has none to lose. */
static double record_rpd(const measuring *m, const kn_record_node *nodes, uint32_t count, bool *inner)
{
    double   sum = 0;
    uint32_t leaves = 0;
    for (uint32_t i = 0; i < count; i++) inner[i] = false;
    for (uint32_t i = 0; i < count; i++)
        if (nodes[i].parent != KN_RECORDS_ROOT) inner[nodes[i].parent] = true;
    for (uint32_t i = 0; i < count; i++) {
        if (inner[i]) continue;
        double   product = 1;
        uint32_t depth = 0;
        for (uint32_t u = i; u != KN_RECORDS_ROOT; u = nodes[u].parent) depth++;
        for (uint32_t u = i; u != KN_RECORDS_ROOT; u = nodes[u].parent)
            product *= depth-- * (double)m->domain[nodes[u].value].size;
        sum += 1 / product;
        leaves++;
    }
    return leaves == 0 ? 0 : sum / leaves;
}

static int64_t count_relations(const kn_record_node *nodes, uint32_t count)
{
    int64_t relations = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t p = nodes[i].parent; p != KN_RECORDS_ROOT; p = nodes[p].parent) relations++;
    return relations;
}

static uint32_t copy_record(const kn_records *records, int64_t t, kn_record_node *nodes)
{
    uint64_t from = records->start[t];
    uint32_t size = (uint32_t)(records->start[t + 1] - from);
    for (uint32_t i = 0; i < size; i++)
        nodes[i] = (kn_record_node){records->parent[from + i], records->value[from + i]};
    return size;
}

static bool relation_survives(const kn_vocabulary *v, const kn_record_node *released, uint32_t count, uint32_t above,
                              uint32_t below)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!kn_vocabulary_covers(v, released[i].value, below)) continue;
        for (uint32_t p = released[i].parent; p != KN_RECORDS_ROOT; p = released[p].parent)
            if (kn_vocabulary_covers(v, released[p].value, above)) return true;
    }
    return false;
}

static bool relation_unchanged(const kn_record_node *released, uint32_t count, uint32_t above, uint32_t below)
{
    for (uint32_t i = 0; i < count; i++) {
        if (released[i].value != below) continue;
        for (uint32_t p = released[i].parent; p != KN_RECORDS_ROOT; p = released[p].parent)
            if (released[p].value == above) return true;
    }
    return false;
}

static void compare_record(measuring *m, sums *s, int worker, const kn_record_node *nodes, uint32_t count,
                           const kn_record_node *released, uint32_t released_count)
{
    const kn_vocabulary *v = m->vocabulary;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t depth = 0; /* of the lowest value above this one that is shown; "*" if none is */
        for (uint32_t j = 0; j < released_count; j++)
            if (kn_vocabulary_covers(v, released[j].value, nodes[i].value) && v->depth[released[j].value] > depth)
                depth = v->depth[released[j].value];
        s->nodes_kept += depth == v->depth[nodes[i].value];
        m->shown[worker][(size_t)nodes[i].value * m->depths + depth]++;
        for (uint32_t p = nodes[i].parent; p != KN_RECORDS_ROOT; p = nodes[p].parent) {
            s->relations_kept += relation_survives(v, released, released_count, nodes[p].value, nodes[i].value);
            s->relations_unchanged += relation_unchanged(released, released_count, nodes[p].value, nodes[i].value);
        }
    }
}

static kn_status measure_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    measuring *m = arg;
    sums      *s = &m->pieces[begin / GRAIN];
    (void)err;
    for (int64_t t = begin; t < end; t++) {
        kn_record_node *nodes = m->nodes[worker], *released = nodes + m->widest;
        uint32_t        count = copy_record(m->original, m->original_of[t], nodes);
        uint32_t        released_count = t < m->released->count ? copy_record(m->released, t, released) : 0;
        s->rpd_original += record_rpd(m, nodes, count, m->inner[worker]);
        s->rpd += record_rpd(m, released, released_count, m->inner[worker]);
        s->nodes_original += count;
        s->nodes += released_count;
        s->relations_original += count_relations(nodes, count);
        s->relations += count_relations(released, released_count);
        compare_record(m, s, worker, nodes, count, released, released_count);
    }
    return KN_OK;
}

/* ---- Mining ---- */

/* What each value shows at a depth, and how many steps the release took beyond it, on average. */
static void prepare_level(const measuring *m, uint32_t depth, uint32_t *image, double *steps, int64_t *nodes)
{
    const kn_vocabulary *v = m->vocabulary;
    for (uint32_t u = 0; u < v->nodes; u++) {
        image[u] = u == 0 || v->depth[u] <= depth ? u : image[v->parent[u]];
        steps[u] = 0;
        nodes[u] = 0;
    }
    for (uint32_t u = 0; u < v->nodes; u++)
        for (uint32_t d = 0; d < m->depths; d++) {
            int64_t count = m->shown[0][(size_t)u * m->depths + d];
            nodes[image[u]] += count;
            if (d < v->depth[image[u]]) steps[image[u]] += (double)count * (v->depth[image[u]] - d);
        }
    for (uint32_t u = 0; u < v->nodes; u++)
        if (nodes[u] > 0) steps[u] /= (double)nodes[u];
}

static kn_status mine_levels(kn_tree_metrics *out, measuring *m, const kn_tree_metrics_options *options, kn_error *err)
{
    size_t            values = m->vocabulary->nodes;
    uint32_t         *image = kn_alloc_array(m->ctx, values, sizeof *image);
    double           *steps = kn_alloc_array(m->ctx, values, sizeof *steps);
    int64_t          *nodes = kn_alloc_array(m->ctx, values, sizeof *nodes);
    double            least = ceil(options->support * (double)m->original->count);
    kn_mining_problem problem = {m->original,      m->released,      image, steps, least < 1 ? 1 : (int64_t)least,
                                 options->largest, options->embedded};
    kn_mining         all = {0, 0, 0};
    kn_status status = image == NULL || steps == NULL || nodes == NULL ? kn_fail_memory(err, m->ctx, WHAT) : KN_OK;
    for (uint32_t depth = m->depths - 1; status == KN_OK && depth > 0; depth--) {
        kn_mining level;
        prepare_level(m, depth, image, steps, nodes);
        status = kn_subtree_mine(&level, m->ctx, &problem, err);
        all.frequent += level.frequent;
        all.kept += level.kept;
        all.distance += level.distance;
    }
    KN_FREE(image, steps, nodes);
    /* Nothing frequent: nothing lost. */
    out->ml2 = all.frequent == 0 ? 0 : 1 - (double)all.kept / (double)all.frequent;
    out->dml2 = all.frequent == 0 ? 0 : all.distance / (double)all.frequent;
    return status;
}

/* ---- Interface ---- */

static uint32_t widest_record(const kn_records *records, uint32_t widest)
{
    for (int64_t t = 0; t < records->count; t++)
        if (records->start[t + 1] - records->start[t] > widest)
            widest = (uint32_t)(records->start[t + 1] - records->start[t]);
    return widest;
}

static kn_status prepare(measuring *m, kn_error *err)
{
    kn_context *ctx = m->ctx;
    size_t      workers = (size_t)kn_context_threads(ctx), values = m->vocabulary->nodes;
    m->depths = (uint32_t)m->vocabulary->height[0] + 1;
    m->widest = widest_record(m->original, widest_record(m->released, 1));
    m->piece_count = (m->original->count + GRAIN - 1) / GRAIN;
    if (!KN_ALLOC_ZERO(ctx, m->domain, values) || !KN_ALLOC_ZERO(ctx, m->pieces, (size_t)m->piece_count + 1) ||
        !KN_ALLOC_ZERO(ctx, m->nodes, workers) || !KN_ALLOC_ZERO(ctx, m->inner, workers) ||
        !KN_ALLOC_ZERO(ctx, m->shown, workers))
        return kn_fail_memory(err, ctx, WHAT);
    m->worker_count = (int)workers;
    for (size_t w = 0; w < workers; w++) {
        if (!KN_ALLOC(ctx, m->nodes[w], 2 * (size_t)m->widest) || !KN_ALLOC(ctx, m->inner[w], m->widest) ||
            !KN_ALLOC_ZERO(ctx, m->shown[w], values * m->depths))
            return kn_fail_memory(err, ctx, WHAT);
    }
    return KN_OK;
}

static void release(measuring *m)
{
    for (int w = 0; w < m->worker_count; w++) KN_FREE(m->nodes[w], m->inner[w], m->shown[w]);
    KN_FREE(m->domain, m->pieces, m->nodes, m->inner, m->shown);
}

static void add_up(kn_tree_metrics *out, measuring *m)
{
    sums all = {0};
    for (int64_t i = 0; i < m->piece_count; i++) {
        const sums *s = &m->pieces[i];
        all.rpd += s->rpd;
        all.rpd_original += s->rpd_original;
        all.nodes += s->nodes;
        all.nodes_original += s->nodes_original;
        all.nodes_kept += s->nodes_kept;
        all.relations += s->relations;
        all.relations_original += s->relations_original;
        all.relations_kept += s->relations_kept;
        all.relations_unchanged += s->relations_unchanged;
    }
    for (int w = 1; w < m->worker_count; w++)
        for (size_t i = 0; i < (size_t)m->vocabulary->nodes * m->depths; i++) m->shown[0][i] += m->shown[w][i];
    double records = (double)m->original->count, released = (double)m->released->count;
    out->rpd = released > 0 ? all.rpd / released : 0;
    out->rpd_original = records > 0 ? all.rpd_original / records : 0;
    out->nodes = all.nodes;
    out->nodes_original = all.nodes_original;
    out->relations = all.relations;
    out->relations_original = all.relations_original;
    out->node_survival = all.nodes_original > 0 ? (double)all.nodes_kept / (double)all.nodes_original : 1;
    out->relation_survival =
        all.relations_original > 0 ? (double)all.relations_kept / (double)all.relations_original : 1;
    out->relation_unchanged =
        all.relations_original > 0 ? (double)all.relations_unchanged / (double)all.relations_original : 1;
}

kn_status kn_tree_measure(kn_tree_metrics *out, kn_context *ctx, const kn_records *original, const kn_records *released,
                          const int64_t *original_of, const kn_tree_metrics_options *options, kn_error *err)
{
    *out = (kn_tree_metrics){.ml2 = NAN, .dml2 = NAN};
    if (original->count < released->count)
        return kn_fail(err, KN_USAGE, "a release has no more tree records than its original");
    if (options->mine && (!(options->support >= 0 && options->support <= 1) || options->largest < 1))
        return kn_fail(err, KN_USAGE, "mining needs a support between 0 and 1 and subtrees of at least 1 node");
    measuring m = {.ctx = ctx,
                   .original = original,
                   .released = released,
                   .original_of = original_of,
                   .vocabulary = original->vocabulary};
    kn_status status = prepare(&m, err);
    if (status == KN_OK) {
        kn_cost_domains(m.domain, m.vocabulary, options->level_domains);
        status = kn_parallel_for(ctx, original->count, GRAIN, measure_range, &m, err);
    }
    if (status == KN_OK) {
        add_up(out, &m);
        if (options->mine) status = mine_levels(out, &m, options, err);
    }
    release(&m);
    return status;
}
