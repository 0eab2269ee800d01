/* test_tree_suppress.c: values and records that are given up (kn_tree_suppress.c): random forests against the definition, the
 * plain search, a naive release, and everything that could have been given up.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tree_testing.h"

#include "kn_single.h"
#include "kn_tree_work.h"

/* ---- The definition, naively ---- */

/* The records without what the plan gives up, node by node. */
static kn_records *naive_without(kn_context *ctx, const kn_records *r, const kn_records_plan *plan)
{
    kn_error    err = KN_ERROR_INIT;
    kn_records *out;
    uint64_t    at = 0;
    int64_t     count = 0;
    assert_ok(kn_records_create(&out, ctx, r->vocabulary, false, r->count, r->nodes, &err), err);
    for (int64_t t = 0; t < r->count; t++) {
        kn_record_node nodes[TREE_NODES];
        char           scratch[TREE_NODES * KN_RECORD_SCRATCH];
        uint32_t       size = 0, moved[TREE_NODES];
        if (plan->left_out && plan->left_out[t]) continue;
        for (uint32_t i = 0; i < r->start[t + 1] - r->start[t]; i++) {
            uint32_t value = r->value[r->start[t] + i];
            uint32_t up = plan->parent ? plan->parent[r->start[t] + i] : r->parent[r->start[t] + i];
            moved[i] = up == KN_RECORDS_ROOT ? up : moved[up];
            if (plan->given_up && plan->given_up[value]) continue;
            if (plan->dropped && plan->dropped[r->start[t] + i]) continue;
            nodes[size] = (kn_record_node){moved[i], value};
            moved[i] = size++;
        }
        size = kn_record_canonical(nodes, size, scratch);
        for (uint32_t i = 0; i < size; i++, at++) {
            out->parent[at] = nodes[i].parent;
            out->value[at] = nodes[i].value;
        }
        out->start[++count] = at;
    }
    out->count = count;
    out->nodes = at;
    return out;
}

static bool shows(const kn_records *released, uint32_t value)
{
    for (uint64_t i = 0; i < released->nodes; i++)
        if (released->value[i] == value) return true;
    return false;
}

static bool record_shows(const kn_records *released, int64_t x, uint32_t value)
{
    for (uint64_t i = released->start[x]; i < released->start[x + 1]; i++)
        if (released->value[i] == value) return true;
    return false;
}

/* Nodes of the original at or above whose value their record shows nothing; of a record that is left out: no record does. The released ones are in
 * the order of the original. */
static int64_t naive_given_up(const kn_records *r, const kn_records *released, const bool *left_out)
{
    const kn_vocabulary *v = r->vocabulary;
    int64_t              count = 0, x = 0;
    for (int64_t t = 0; t < r->count; t++) {
        bool out = left_out && left_out[t];
        for (uint64_t i = r->start[t]; i < r->start[t + 1]; i++) {
            bool shown = false;
            for (uint32_t u = 0; u <= r->value[i]; u++)
                shown = shown || (kn_vocabulary_covers(v, u, r->value[i]) &&
                                  (u == r->value[i] || !tree_sensitive(v, r->value[i])) &&
                                  (out ? shows(released, u) : record_shows(released, x, u)));
            count += !shown;
        }
        x += !out;
    }
    return count;
}

/* No node is given up without those below it, and no sensitive one. */
static void check_dropped(const kn_records *r, const kn_records_plan *plan)
{
    for (int64_t t = 0; plan->dropped && t < r->count; t++)
        for (uint64_t i = r->start[t]; i < r->start[t + 1]; i++) {
            uint32_t up = r->parent[i];
            bool     gone = plan->dropped[i] || (plan->given_up && plan->given_up[r->value[i]]);
            if (plan->dropped[i]) assert_false(tree_sensitive(r->vocabulary, r->value[i]));
            if (up != KN_RECORDS_ROOT && plan->dropped[r->start[t] + up]) assert_true(gone);
        }
}

/* The released records as kn_records_apply makes them are those of the definition, in the order of original_of. */
static void check_applied(kn_context *ctx, const kn_records *r, const kn_records_plan *plan, const kn_records *naive)
{
    kn_error    err = KN_ERROR_INIT;
    kn_records *applied = NULL;
    int64_t    *original_of = NULL;
    assert_ok(kn_records_apply(&applied, &original_of, ctx, r, plan, &err), err);
    assert_int_equal(applied->count, naive->count);
    for (int64_t t = 0, at = 0; t < r->count; t++) {
        if (plan->left_out && plan->left_out[t]) continue;
        int64_t x = 0;
        while (x < applied->count && original_of[x] != t) x++;
        assert_true(x < applied->count);
        uint64_t size = naive->start[at + 1] - naive->start[at];
        assert_int_equal(applied->start[x + 1] - applied->start[x], size);
        for (uint64_t i = 0; i < size; i++) {
            assert_int_equal(applied->value[applied->start[x] + i], naive->value[naive->start[at] + i]);
            assert_int_equal(applied->parent[applied->start[x] + i], naive->parent[naive->start[at] + i]);
        }
        at++;
    }
    for (int64_t x = applied->count; x < r->count; x++) assert_true(plan->left_out && plan->left_out[original_of[x]]);
    kn_records_free(applied);
    kn_free(original_of);
}

static void check_result(kn_context *ctx, const kn_tree_problem *p, const kn_tree_result *result)
{
    const kn_records *r = p->records;
    const char       *reason = NULL;
    assert_true(kn_records_plan_validate(result->plan, r->vocabulary, &reason));
    kn_records *stay = naive_without(ctx, r, result->plan), *released = tree_release(ctx, stay, result->plan);
    assert_true(tree_holds_against(r, released, p->k, p->m, p->n, p->semantics, p->l));
    assert_int_equal(naive_given_up(r, released, result->plan->left_out), result->given_up);
    assert_int_equal(r->count - released->count, result->left_out);
    assert_true(result->given_up <= p->spare_nodes && result->left_out <= p->spare_records);
    for (uint32_t u = 0; result->plan->given_up && u < r->vocabulary->nodes; u++)
        if (result->plan->given_up[u]) assert_false(shows(released, result->plan->image[u]));
    check_applied(ctx, r, result->plan, released);
    check_dropped(r, result->plan);
    kn_records_free(released);
    kn_records_free(stay);
}

static void assert_same(const kn_tree_result *a, const kn_tree_result *b, const kn_records *r)
{
    assert_int_equal(a->found, b->found);
    if (!a->found) return;
    assert_memory_equal(a->plan->image, b->plan->image, a->plan->values * sizeof *a->plan->image);
    assert_int_equal(a->plan->disassociation_count, b->plan->disassociation_count);
    assert_int_equal(a->given_up, b->given_up);
    assert_int_equal(a->left_out, b->left_out);
    assert_int_equal(a->plan->given_up != NULL, b->plan->given_up != NULL);
    assert_int_equal(a->plan->left_out != NULL, b->plan->left_out != NULL);
    if (a->plan->given_up) assert_memory_equal(a->plan->given_up, b->plan->given_up, a->plan->values);
    assert_int_equal(a->plan->dropped != NULL, b->plan->dropped != NULL);
    if (a->plan->dropped) assert_memory_equal(a->plan->dropped, b->plan->dropped, (size_t)r->nodes);
    assert_int_equal(a->plan->parent != NULL, b->plan->parent != NULL);
    if (a->plan->parent)
        assert_memory_equal(a->plan->parent, b->plan->parent, (size_t)r->nodes * sizeof *a->plan->parent);
    if (a->plan->left_out) assert_memory_equal(a->plan->left_out, b->plan->left_out, (size_t)r->count);
}

static double lost(kn_context *ctx, const kn_records *r, const kn_tree_result *result)
{
    kn_error     err = KN_ERROR_INIT;
    kn_tree_loss loss;
    assert_ok(kn_tree_lose(&loss, ctx, r, result->plan, NULL, &err), err);
    return loss.loss;
}

static void test_random_forests(void **state)
{
    (void)state;
    kn_context *contexts[2] = {testing_context(1), testing_context(2)};
    kn_rng      rng;
    int         found = 0, values = 0, nodes = 0, parted = 0, records = 0, only = 0;
    uint64_t    seed = testing_seed();
    for (int i = 0; i < testing_rounds(300); i++) {
        kn_rng_init(&rng, seed, (uint64_t)i);
        kn_error        err = KN_ERROR_INIT;
        kn_context     *ctx = contexts[i % 2];
        tree_shape      shapes[] = {TREE_SHAPE_DISASSOCIATED,
                                    {3, 2, 3, 24, 9, 8, true, true, false, i % 4 == 0},
                                    {1, 2, 5, 40, 6, 16, false, false, true, false}};
        kn_records     *r = tree_random(ctx, &rng, &shapes[i % 3]);
        kn_tree_problem p = tree_random_problem(&rng, r), plain;
        kn_tree_result *fast = NULL, *slow = NULL, *without = NULL;
        if (p.method == KN_METHOD_ACS && i % 3 != 0) p.method = KN_METHOD_GCS;
        p.strict = false;
        plain = p;
        assert_ok(kn_tree_search(&without, ctx, &plain, &err), err);
        p.spare_nodes = (int64_t)kn_rng_below(&rng, r->nodes / 3 + 2);
        p.spare_records = (int64_t)kn_rng_below(&rng, (uint64_t)r->count / 3 + 2);
        assert_ok(kn_tree_search(&fast, ctx, &p, &err), err);
        p.reference = true;
        assert_ok(kn_tree_search(&slow, ctx, &p, &err), err);
        assert_same(fast, slow, r);
        if (fast->found) {
            check_result(ctx, &p, fast);
            if (without->found) assert_true(lost(ctx, r, fast) <= lost(ctx, r, without));
        } else {
            assert_false(without->found);
        }
        found += fast->found;
        values += fast->found && fast->plan->given_up != NULL;
        nodes += fast->found && fast->plan->dropped != NULL;
        parted += fast->found && fast->plan->parent != NULL;
        records += fast->found && fast->left_out > 0;
        only += fast->found && !without->found;
        kn_tree_result_free(fast);
        kn_tree_result_free(slow);
        kn_tree_result_free(without);
        kn_records_free(r);
    }
    printf("found %d, with values given up %d, single nodes %d, relations %d, with records left out %d, only by "
           "suppression %d\n",
           found, values, nodes, parted, records, only);
    assert_true(found > testing_least(150) && values > testing_least(20) && nodes > testing_least(20) &&
                records >= testing_least(3));
    testing_context_free(contexts[0]);
    testing_context_free(contexts[1]);
}

/* Everything that could be given up: the least loss of all sets of values within the budget. */
static double best_of_all(kn_context *ctx, const kn_tree_problem *p, const uint32_t *leaves, int count)
{
    double   best = INFINITY;
    kn_error err = KN_ERROR_INIT;
    bool     given_up[TREE_VALUES];
    for (uint32_t set = 0; set < 1u << count; set++) {
        kn_tree_problem inner = *p;
        kn_tree_result *result = NULL;
        kn_records     *stay = NULL;
        int64_t        *original_of = NULL;
        kn_tree_loss    loss;
        memset(given_up, 0, sizeof given_up);
        for (int i = 0; i < count; i++) given_up[leaves[i]] = set >> i & 1;
        assert_ok(kn_records_without(&stay, &original_of, ctx, p->records,
                                     (kn_records_lack){given_up, NULL, NULL, NULL}, &err),
                  err);
        inner.records = stay;
        inner.spare_nodes = inner.spare_records = 0;
        assert_ok(kn_tree_search(&result, ctx, &inner, &err), err);
        if (result->found) {
            bool vain = false;
            for (int i = 0; i < count; i++)
                for (uint64_t n = 0; n < stay->nodes && given_up[leaves[i]]; n++)
                    vain = vain || result->plan->image[stay->value[n]] == result->plan->image[leaves[i]];
            result->plan->given_up = kn_alloc_array(ctx, sizeof given_up, sizeof *given_up);
            assert_non_null(result->plan->given_up);
            memcpy(result->plan->given_up, given_up, sizeof given_up);
            assert_ok(kn_tree_lose(&loss, ctx, p->records, result->plan, NULL, &err), err);
            if (!vain && loss.given_up <= p->spare_nodes && loss.loss < best) best = loss.loss;
        }
        kn_tree_result_free(result);
        kn_records_free(stay);
        kn_free(original_of);
    }
    return best;
}

static void test_against_all(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_rng      rng;
    int         best = 0, helped = 0, all = 0;
    double      gained = 0, possible = 0;
    uint64_t    seed = testing_seed();
    for (int i = 0; i < testing_rounds(120); i++) {
        kn_rng_init(&rng, seed, (uint64_t)i);
        kn_error        err = KN_ERROR_INIT;
        tree_shape      shape = {2, 1, 4, 20, 6, 8, false, false, true, false};
        kn_records     *r = tree_random(ctx, &rng, &shape);
        kn_tree_problem p = tree_random_problem(&rng, r), plain;
        kn_tree_result *result = NULL, *without = NULL;
        uint32_t        leaves[TREE_VALUES];
        int             count = 0;
        p.method = KN_METHOD_GCS;
        p.strict = false;
        p.l = 0;
        for (uint32_t u = 1; u < r->vocabulary->nodes; u++)
            if (shows(r, u)) leaves[count++] = u;
        plain = p;
        p.spare_nodes = (int64_t)r->nodes / 4;
        if (count <= 8) {
            assert_ok(kn_tree_search(&without, ctx, &plain, &err), err);
            assert_ok(kn_tree_search(&result, ctx, &p, &err), err);
            double least = best_of_all(ctx, &p, leaves, count);
            assert_int_equal(result->found, least < INFINITY);
            if (result->found && without->found) {
                double loss = lost(ctx, r, result), before = lost(ctx, r, without);
                assert_true(loss <= before);
                all++;
                best += loss <= least; /* single nodes may do better than whole values */
                helped += least < before;
                gained += before - loss;
                possible += before - least;
            }
            kn_tree_result_free(result);
            kn_tree_result_free(without);
        }
        kn_records_free(r);
    }
    printf("the best there is %d of %d; suppression helps in %d; %.0f %% of what it can gain\n", best, all, helped,
           possible > 0 ? 100 * gained / possible : 100);
    assert_true(all > testing_least(40) && gained >= 0.5 * possible);
    testing_context_free(ctx);
}

/* ---- Single nodes: the rounds, naively ---- */

typedef struct naive_single {
    int64_t  record, support;
    uint32_t value, set[8];
    int      size;
} naive_single;

typedef struct naive_repair {
    const kn_tree_problem *p;
    uint32_t               image[TREE_VALUES], value;
    bool                   lost[4096];  /* nodes: not shown */
    naive_single           goes[40000]; /* at the end of the round */
    size_t                 count;
    bool                   stuck;
} naive_repair;

static bool has_value(const naive_repair *n, int64_t t, uint32_t value)
{
    const kn_records *r = n->p->records;
    for (uint64_t i = r->start[t]; i < r->start[t + 1]; i++)
        if (!n->lost[i] && n->image[r->value[i]] == value) return true;
    return false;
}

static int64_t having(const naive_repair *n, const uint32_t *set, int size)
{
    int64_t count = 0;
    for (int64_t t = 0; t < n->p->records->count; t++) {
        bool all = true;
        for (int i = 0; i < size; i++) all = all && has_value(n, t, set[i]);
        count += all;
    }
    return count;
}

static bool is_below(const kn_records *r, int64_t t, uint64_t node, uint64_t top)
{
    uint32_t at = (uint32_t)(node - r->start[t]);
    while (at != KN_RECORDS_ROOT && r->start[t] + at != top) at = r->parent[r->start[t] + at];
    return at != KN_RECORDS_ROOT;
}

/* Records of the original with a node of a class (-1: the root) that has none of another class below it. */
static int64_t lacking(const kn_records *r, int above, int cls)
{
    int64_t count = 0;
    for (int64_t t = 0; t < r->count; t++) {
        bool here = false;
        for (int64_t x = -1; x < (int64_t)(r->start[t + 1] - r->start[t]); x++) {
            bool any = false;
            if ((x < 0) != (above < 0) || (x >= 0 && r->vocabulary->cls[r->value[r->start[t] + (uint64_t)x]] != above))
                continue;
            for (uint64_t i = r->start[t]; i < r->start[t + 1]; i++)
                any = any || (r->parent[i] == (x < 0 ? KN_RECORDS_ROOT : (uint32_t)x) &&
                              r->vocabulary->cls[r->value[i]] == cls);
            here = here || !any;
        }
        count += here;
    }
    return count;
}

/* Would its parent have none of its class any more, as few have? */
static bool is_odd(const naive_repair *n, int64_t t, uint64_t node)
{
    const kn_records    *r = n->p->records;
    const kn_vocabulary *v = r->vocabulary;
    uint32_t             up = r->parent[node];
    int cls = v->cls[r->value[node]], above = up == KN_RECORDS_ROOT ? -1 : v->cls[r->value[r->start[t] + up]];
    for (uint64_t i = r->start[t]; i < r->start[t + 1]; i++)
        if (!n->lost[i] && r->parent[i] == up && v->cls[r->value[i]] == cls &&
            n->image[r->value[i]] != n->image[r->value[node]])
            return false;
    return lacking(r, above, cls) < n->p->k;
}

/* May the value go from the record, for a set of this size? Then, if asked, it does. */
static bool may_go(naive_repair *n, int64_t t, uint32_t value, int size, bool *goes)
{
    const kn_records *r = n->p->records;
    bool              may = true;
    for (uint64_t i = r->start[t]; i < r->start[t + 1]; i++) {
        if (n->lost[i] || n->image[r->value[i]] != value) continue;
        may = may && (size == 1 || !is_odd(n, t, i));
        for (uint64_t j = i; j < r->start[t + 1]; j++)
            may = may && (n->lost[j] || !is_below(r, t, j, i) || !tree_sensitive(r->vocabulary, r->value[j]));
    }
    for (uint64_t i = r->start[t]; may && goes && i < r->start[t + 1]; i++)
        for (uint64_t j = i; j < r->start[t + 1] && n->image[r->value[i]] == value; j++)
            if (!n->lost[i] && !n->lost[j] && is_below(r, t, j, i)) goes[j] = true;
    return may;
}

static void give_up_one(naive_repair *n, int64_t t, const uint32_t *set, int size)
{
    const uint32_t *parent = n->p->records->vocabulary->parent;
    uint32_t        best = UINT32_MAX;
    for (int fresh = 1; fresh >= 0 && best == UINT32_MAX; fresh--) {
        int64_t least = INT64_MAX;
        for (int i = 0; i < size; i++) { /* ascending: of equally rare ones the first */
            bool child = set[i] > 0 && parent[set[i]] == n->value;
            if (child != (fresh == 1) || !may_go(n, t, set[i], size, NULL) || having(n, &set[i], 1) >= least) continue;
            best = set[i];
            least = having(n, &set[i], 1);
        }
    }
    n->stuck = n->stuck || best == UINT32_MAX;
    if (best == UINT32_MAX) return;
    naive_single *one = &n->goes[n->count++];
    assert_true(n->count < 40000);
    *one = (naive_single){.record = t, .support = having(n, &best, 1), .value = best, .size = size};
    memcpy(one->set, set, (size_t)size * sizeof *set);
}

/* At the end of a round: record by record, the rarest value first, where the set is still there. */
static void go(naive_repair *n)
{
    bool any = false;
    for (size_t left = n->count; left > 0; left--) {
        naive_single *first = &n->goes[0];
        for (size_t i = 1; i < left; i++) {
            naive_single *x = &n->goes[i];
            if (x->record < first->record || (x->record == first->record && x->support < first->support) ||
                (x->record == first->record && x->support == first->support && x->value < first->value))
                first = x;
        }
        naive_single one = *first;
        bool         goes[4096] = {false}, whole = true;
        *first = n->goes[left - 1];
        for (int i = 0; i < one.size; i++) whole = whole && has_value(n, one.record, one.set[i]);
        if (!whole || !may_go(n, one.record, one.value, one.size, goes)) continue;
        for (size_t i = 0; i < 4096; i++) n->lost[i] = n->lost[i] || goes[i];
        any = true;
    }
    n->stuck = n->stuck || !any;
}

/* All sets of exactly `size` known values, from the chosen ones on; whether one of them was rare. */
static bool look_at_sets(naive_repair *n, uint32_t *set, int chosen, int size)
{
    const kn_vocabulary *v = n->p->records->vocabulary;
    int64_t              with = chosen > 0 ? having(n, set, chosen) : 1;
    bool                 rare = false;
    if (with == 0) return false;
    if (chosen == size) {
        if (with >= n->p->k) return false;
        for (int64_t t = 0; t < n->p->records->count; t++) {
            bool all = true;
            for (int i = 0; i < size; i++) all = all && has_value(n, t, set[i]);
            if (all) give_up_one(n, t, set, size);
        }
        return true;
    }
    for (uint32_t u = chosen > 0 ? set[chosen - 1] + 1 : 0; u < v->nodes; u++) {
        if (tree_sensitive(v, u)) continue;
        set[chosen] = u;
        rare = look_at_sets(n, set, chosen + 1, size) || rare;
    }
    return rare;
}

static void repair_naively(naive_repair *n, const kn_records_plan *plan, uint32_t value)
{
    const kn_records    *r = n->p->records;
    const kn_vocabulary *v = r->vocabulary;
    uint32_t             set[8];
    n->value = value;
    n->stuck = false;
    memset(n->lost, 0, sizeof n->lost);
    for (uint32_t u = 0; u < v->nodes; u++) {
        n->image[u] = plan->image[u];
        for (uint32_t c = u; plan->image[u] == value && c > 0 && !tree_sensitive(v, u); c = v->parent[c])
            if (v->parent[c] == value) n->image[u] = c;
    }
    for (bool rare = true; rare && !n->stuck;) {
        n->count = 0;
        rare = false;
        for (int size = 1; size <= n->p->m && !rare; size++) {
            rare = look_at_sets(n, set, 0, size);
            if (rare && !n->stuck) go(n);
        }
    }
}

static int compare_repairs(kn_context *ctx, const kn_tree_problem *p, const kn_records_plan *plan, kn_rng *rng)
{
    static naive_repair n;
    kn_error            err = KN_ERROR_INIT;
    kn_repair           repair;
    int                 compared = 0;
    n.p = p;
    assert_ok(kn_repair_make(&repair, ctx, p, &err), err);
    assert_ok(kn_repair_begin(&repair, plan, &err), err);
    for (uint32_t u = 0; u < plan->values; u++) {
        bool    possible, enough;
        int64_t all = 0, spare = kn_rng_below(rng, 2) ? INT64_MAX : (int64_t)kn_rng_below(rng, 12);
        if (!kn_repair_asks(&repair, u)) continue;
        assert_ok(kn_repair_try(&repair, u, spare, &possible, &err), err);
        repair_naively(&n, plan, u);
        for (uint64_t i = 0; i < p->records->nodes; i++) all += n.lost[i];
        enough = !n.stuck && all <= spare;
        assert_int_equal(possible, enough);
        if (enough) {
            assert_int_equal(repair.dropped_count, all);
            for (size_t i = 0; i < repair.dropped_count; i++) assert_true(n.lost[repair.dropped[i]]);
        }
        compared += enough && all > 0;
        kn_repair_undo(&repair);
    }
    kn_repair_free(&repair);
    return compared;
}

static void test_repairs(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_rng      rng;
    int         compared = 0;
    uint64_t    seed = testing_seed();
    for (int i = 0; i < testing_rounds(150); i++) {
        kn_rng_init(&rng, seed, (uint64_t)i);
        kn_error        err = KN_ERROR_INIT;
        tree_shape      shapes[] = {TREE_SHAPE_DISASSOCIATED,
                                    {3, 2, 3, 24, 9, 8, true, false, false, i % 4 == 0},
                                    {1, 2, 4, 40, 6, 16, false, false, true, false}};
        kn_records     *r = tree_random(ctx, &rng, &shapes[i % 3]);
        kn_tree_problem p = tree_random_problem(&rng, r);
        kn_tree_result *result = NULL;
        p.strict = false;
        p.method = KN_METHOD_GCS;
        p.n = p.l = 0;
        assert_ok(kn_tree_search(&result, ctx, &p, &err), err);
        if (result->found) compared += compare_repairs(ctx, &p, result->plan, &rng);
        kn_tree_result_free(result);
        kn_records_free(r);
    }
    printf("%d repairs compared\n", compared);
    assert_true(compared > testing_least(60));
    testing_context_free(ctx);
}

/* ---- Single relations ---- */

/* Does a class stand below another (-1: the root) in a record of the original? */
static bool stands_there(const kn_records *r, int above, int cls)
{
    for (int64_t t = 0; t < r->count; t++)
        for (uint64_t i = r->start[t]; i < r->start[t + 1]; i++) {
            int up = r->parent[i] == KN_RECORDS_ROOT ? -1 : r->vocabulary->cls[r->value[r->start[t] + r->parent[i]]];
            if (up == above && r->vocabulary->cls[r->value[i]] == cls) return true;
        }
    return false;
}

/* Nobody sees which nodes were moved in some records: no rare position is one where only a moved node can be. */
static void check_unseen(kn_context *ctx, const kn_tree_problem *p, const kn_records_plan *plan)
{
    const kn_records *r = p->records;
    kn_error          err = KN_ERROR_INIT;
    kn_records       *x = NULL;
    assert_ok(kn_records_apply(&x, NULL, ctx, r, plan, &err), err);
    for (int64_t t = 0; t < x->count; t++)
        for (uint64_t i = x->start[t]; i < x->start[t + 1]; i++) {
            uint32_t up = x->parent[i], above = up == KN_RECORDS_ROOT ? up : x->value[x->start[t] + up],
                     value = x->value[i];
            int64_t records = 0;
            if (value == 0 || above == 0) continue;
            if (stands_there(r, above == KN_RECORDS_ROOT ? -1 : r->vocabulary->cls[above], r->vocabulary->cls[value]))
                continue;
            for (int64_t s = 0; s < x->count; s++) {
                bool here = false;
                for (uint64_t j = x->start[s]; j < x->start[s + 1]; j++)
                    here = here || (x->value[j] == value &&
                                    (x->parent[j] == KN_RECORDS_ROOT ? KN_RECORDS_ROOT
                                                                     : x->value[x->start[s] + x->parent[j]]) == above);
                records += here;
            }
            assert_true(records >= p->k);
        }
    kn_records_free(x);
}

/* Relations that are rare only together with another value, or another relation. */
static void test_partings(void **state)
{
    (void)state;
    kn_context *contexts[2] = {testing_context(1), testing_context(3)};
    kn_rng      rng;
    int         parted = 0, found = 0;
    uint64_t    seed = testing_seed();
    for (int i = 0; i < testing_rounds(300); i++) {
        kn_rng_init(&rng, seed, (uint64_t)i);
        kn_error        err = KN_ERROR_INIT;
        kn_context     *ctx = contexts[i % 2];
        tree_shape      shape = {3, 1, 2, 40, 6, 24, i % 3 == 0, false, true, i % 2 == 0};
        kn_records     *r = tree_random(ctx, &rng, &shape);
        kn_tree_problem p = KN_TREE_PROBLEM_INIT;
        kn_tree_result *fast = NULL, *slow = NULL, *without = NULL;
        p.records = r;
        p.k = 2 + (int64_t)kn_rng_below(&rng, 2);
        p.m = 3;
        p.n = 1 + (int)kn_rng_below(&rng, 2);
        p.how = (kn_disassociate)(i % 3);
        assert_ok(kn_tree_search(&without, ctx, &p, &err), err);
        p.spare_nodes = (int64_t)kn_rng_below(&rng, 3);
        p.spare_records = 1;
        assert_ok(kn_tree_search(&fast, ctx, &p, &err), err);
        p.reference = true;
        assert_ok(kn_tree_search(&slow, ctx, &p, &err), err);
        assert_same(fast, slow, r);
        if (fast->found) check_result(ctx, &p, fast);
        if (fast->found && fast->plan->parent) check_unseen(ctx, &p, fast->plan);
        if (fast->found && without->found) assert_true(lost(ctx, r, fast) <= lost(ctx, r, without));
        found += fast->found;
        parted += fast->found && fast->plan->parent != NULL;
        kn_tree_result_free(fast);
        kn_tree_result_free(slow);
        kn_tree_result_free(without);
        kn_records_free(r);
    }
    printf("found %d, with relations taken away in single records %d\n", found, parted);
    assert_true(found > testing_least(200) && parted > testing_least(15));
    testing_context_free(contexts[0]);
    testing_context_free(contexts[1]);
}

/* ---- One case ---- */

/* One rare value sends a class without groups to its name; given up, the others stay as they are. */
static void test_rare_value(void **state)
{
    (void)state;
    kn_context       *ctx = testing_context(1);
    kn_error          err = KN_ERROR_INIT;
    const int         depths[] = {1, 2, 2, 2};
    const char *const labels[] = {"Item", "bread", "milk", "caviar"};
    kn_records       *r =
        tree_records(ctx, tree_vocabulary(ctx, 4, depths, labels), "bread\nbread,milk\nbread,milk\nmilk,caviar");
    kn_tree_problem p = KN_TREE_PROBLEM_INIT;
    kn_tree_result *result = NULL;
    p.records = r;
    p.m = 2;
    p.n = 0;
    assert_ok(kn_tree_search(&result, ctx, &p, &err), err);
    assert_int_equal(result->plan->image[tree_value_of(r->vocabulary, "bread")], tree_value_of(r->vocabulary, "Item"));
    kn_tree_result_free(result);
    p.spare_nodes = 1;
    assert_ok(kn_tree_search(&result, ctx, &p, &err), err);
    assert_int_equal(result->plan->image[tree_value_of(r->vocabulary, "bread")], tree_value_of(r->vocabulary, "bread"));
    assert_int_equal(result->given_up, 1);
    assert_true(result->plan->given_up[tree_value_of(r->vocabulary, "caviar")]);
    kn_tree_result_free(result);
    p.spare_nodes = -1;
    assert_int_equal(kn_tree_search(&result, ctx, &p, &err), KN_USAGE);
    p.spare_nodes = 1;
    p.strict = true;
    assert_int_equal(kn_tree_search(&result, ctx, &p, &err), KN_USAGE);
    kn_records_free(r);
    testing_context_free(ctx);
}

static void test_memory(void **state)
{
    (void)state;
    kn_context *own = testing_context(1);
    kn_rng      rng;
    kn_rng_init(&rng, testing_seed(), 7);
    tree_shape      shape = {2, 1, 3, 12, 6, 10, false, false, true, false};
    kn_records     *r = tree_random(own, &rng, &shape);
    kn_tree_problem p = KN_TREE_PROBLEM_INIT;
    kn_status       st = KN_MEMORY;
    p.records = r;
    p.spare_nodes = (int64_t)r->nodes / 3;
    p.spare_records = 3;
    for (int64_t at = 0; st == KN_MEMORY; at += testing_step()) {
        testing_allocator memory = {.refuse_at = -1};
        kn_error          err = KN_ERROR_INIT;
        kn_tree_result   *result = NULL;
        kn_context       *ctx;
        assert_ok(testing_refusing_context(&ctx, &memory, 1, &err), err);
        memory.refuse_at = memory.requests + at;
        st = kn_tree_search(&result, ctx, &p, &err);
        if (st != KN_OK) assert_null(result);
        kn_tree_result_free(result);
        kn_context_free(ctx);
        assert_int_equal(memory.live, 0);
    }
    assert_int_equal(st, KN_OK);
    kn_records_free(r);
    testing_context_free(own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_forests), testing_alone(test_against_all),
                                       testing_alone(test_repairs),           cmocka_unit_test(test_partings),
                                       testing_alone(test_rare_value),        testing_alone(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
