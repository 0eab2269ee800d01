/* test_optimal.c: the optimal search and its counting engine against plain enumeration. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kn_alloc.h"
#include "kn_boxes.h"
#include "kn_context.h"
#include "kn_counter.h"
#include "kn_counter_internal.h"
#include "kn_fulldomain_methods.h"
#include "kn_heuristic.h"
#include "random_problem.h"

/* ---- The counting engine ---- */

/* Class sizes of a node by comparing rows with each other; `sizes[r]`: of the class whose first row is r, else 0. */
static void naive_sizes(const random_problem *p, const int *levels, int64_t *sizes)
{
    int64_t rows = p->table->rows;
    int     quasi = p->problem.quasi_count;
    for (int64_t r = 0; r < rows; r++) {
        int64_t first = r;
        for (int64_t s = 0; s < r && first == r; s++) {
            bool same = sizes[s] > 0;
            for (int q = 0; q < quasi && same; q++) {
                const kn_column *c = &p->table->columns[q];
                uint32_t         level = (uint32_t)levels[q];
                same = kn_hierarchy_of_code(p->hierarchies[q], kn_column_code(c, r), level) ==
                       kn_hierarchy_of_code(p->hierarchies[q], kn_column_code(c, s), level);
            }
            if (same) first = s;
        }
        sizes[r] = 0;
        sizes[first]++;
    }
}

static kn_node_sums naive_sums(const random_problem *p, const int *levels)
{
    int64_t     *sizes = calloc((size_t)p->table->rows + 1, sizeof *sizes);
    kn_node_sums sums = {0};
    assert_non_null(sizes);
    naive_sizes(p, levels, sizes);
    for (int64_t r = 0; r < p->table->rows; r++) {
        if (sizes[r] == 0) continue;
        kn_u128 square = (kn_u128)sizes[r] * (kn_u128)sizes[r];
        if (sizes[r] >= p->requirements->k) {
            sums.classes++;
            sums.rows += sizes[r];
            sums.squares += square;
        } else {
            sums.suppressed += sizes[r];
            sums.suppressed_squares += square;
        }
    }
    free(sizes);
    return sums;
}

enum { LOST_VALUES = 64 };

static void assert_same_sizes(const kn_node_sums *a, const kn_node_sums *b)
{
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(a->suppressed, b->suppressed);
    assert_int_equal(a->classes, b->classes);
    assert_true(a->squares == b->squares);
    assert_true(a->suppressed_squares == b->suppressed_squares);
}

static const kn_counter_options engines[] = {
    {0},
    {.path = KN_COUNTER_DENSE},
    {.path = KN_COUNTER_HASH},
    {.generic = true},
    {.group_codes = 1},
    {.group_codes = 1, .key_space = 4},
    {.path = KN_COUNTER_HASH, .group_codes = 20, .key_space = 30},
    {.chunk = 7},
    {.chunk = 40, .path = KN_COUNTER_DENSE, .group_codes = 1},
    {.chunk = 1, .path = KN_COUNTER_HASH},
    {.chunk = 13, .path = KN_COUNTER_HASH, .group_codes = 20, .key_space = 30},
};

/* Every way of counting says the same as comparing rows, from the base and from sets on the way. */
static void check_engine(const random_problem *p, const kn_counter_options *options, kn_rng *rng)
{
    kn_error    err = KN_ERROR_INIT;
    kn_counter *counter = NULL;
    int         quasi = p->problem.quasi_count, levels[2][RANDOM_QUASI];
    assert_ok(kn_counter_make(&counter, p->ctx, &p->problem, options, &err), err);
    for (int turn = 0; turn < 4; turn++) {
        for (int q = 0; q < quasi; q++) {
            int height = (int)p->hierarchies[q]->height;
            levels[0][q] = random_below(rng, height + 1);
            levels[1][q] = levels[0][q] + random_below(rng, height - levels[0][q] + 1);
        }
        kn_counter_job jobs[3] = {{.levels = levels[0], .from = kn_counter_base(counter), .keep = true},
                                  {.levels = levels[1], .from = kn_counter_base(counter)},
                                  {.levels = levels[1]}};
        assert_ok(kn_counter_run(counter, jobs, 2, &err), err);
        jobs[2].from = jobs[0].set;
        assert_ok(kn_counter_run(counter, jobs + 2, 1, &err), err);
        for (int i = 0; i < 3; i++) {
            kn_node_sums sums = naive_sums(p, levels[i > 0]);
            assert_same_sizes(&jobs[i].sums, &sums);
        }
        assert_int_equal(jobs[0].classes, kn_counter_set_classes(jobs[0].set));
        assert_true(jobs[1].sums.cells == jobs[2].sums.cells);
        assert_true(jobs[1].excess == jobs[2].excess);
        kn_counter_set_free(jobs[0].set);
    }
    kn_counter_free(counter);
}

static void test_engines_agree(void **state)
{
    kn_context *ctx = testing_context(2);
    kn_rng      rng;
    (void)state;
    kn_rng_init(&rng, testing_seed(), 1);
    for (int i = 0; i < testing_rounds(60); i++) {
        random_problem p;
        if (!random_problem_make(&p, ctx, &rng, (random_shape){150, 5, 12, 4, false, true})) continue;
        p.problem.budget = p.table->rows; /* costs are summed up only within the budget */
        for (size_t e = 0; e < sizeof engines / sizeof *engines; e++) check_engine(&p, &engines[e], &rng);
        random_problem_free(&p);
    }
    testing_context_free(ctx);
}

/* The suppressed rows by value, where values of a class's rows that become the same one are the same. */
static void lost_at(const random_problem *p, const kn_counter_options *options, const int *levels, uint32_t *lost)
{
    kn_error    err = KN_ERROR_INIT;
    kn_counter *counter = NULL;
    uint32_t    own[RANDOM_QUASI * LOST_VALUES] = {0}, map[LOST_VALUES], distinct;
    assert_ok(kn_counter_make(&counter, p->ctx, &p->problem, options, &err), err);
    kn_counter_job job = {.levels = levels, .from = kn_counter_base(counter), .lost = own};
    assert_ok(kn_counter_run(counter, &job, 1, &err), err);
    for (int q = 0; q < p->problem.quasi_count; q++) {
        kn_hierarchy_level_map(p->hierarchies[q], (uint32_t)levels[q], map, &distinct, NULL);
        for (uint32_t v = 0; v < p->hierarchies[q]->codes + p->hierarchies[q]->missing; v++)
            lost[q * LOST_VALUES + (int)map[v]] += own[q * LOST_VALUES + (int)v];
    }
    kn_counter_free(counter);
}

/* What is counted in pieces says the same of the suppressed rows' values as what is counted whole. */
static void test_pieces_lose_the_same(void **state)
{
    kn_context *ctx = testing_context(3);
    kn_rng      rng;
    int         offsets[RANDOM_QUASI], levels[RANDOM_QUASI];
    (void)state;
    kn_rng_init(&rng, testing_seed(), 9);
    for (int q = 0; q < RANDOM_QUASI; q++) offsets[q] = q * LOST_VALUES;
    for (int i = 0; i < testing_rounds(60); i++) {
        random_problem p;
        uint32_t       lost[2][RANDOM_QUASI * LOST_VALUES] = {{0}};
        if (!random_problem_make(&p, ctx, &rng, (random_shape){300, 5, 12, 4, false, true})) continue;
        p.problem.budget = p.table->rows;
        for (int q = 0; q < p.problem.quasi_count; q++)
            levels[q] = random_below(&rng, (int)p.hierarchies[q]->height + 1);
        kn_counter_options whole = {.chunk = -1, .value_offsets = offsets}, pieces = whole;
        pieces.chunk = 1 + random_below(&rng, 60);
        lost_at(&p, &whole, levels, lost[0]);
        lost_at(&p, &pieces, levels, lost[1]);
        assert_memory_equal(lost[0], lost[1], sizeof lost[0]);
        random_problem_free(&p);
    }
    testing_context_free(ctx);
}

/* A node, with no more memory than `room` besides what is used already. */
static kn_status count_within(const random_problem *p, const kn_counter_options *options, const int *levels,
                              uint64_t room, kn_node_sums *sums)
{
    kn_error    err = KN_ERROR_INIT;
    kn_counter *counter = NULL;
    assert_ok(kn_counter_make(&counter, p->ctx, &p->problem, options, &err), err);
    kn_counter_job job = {.levels = levels, .from = kn_counter_base(counter), .keep = true};
    p->ctx->memory_limit = kn_context_memory_used(p->ctx) + room;
    kn_status st = kn_counter_run(counter, &job, 1, &err);
    p->ctx->memory_limit = 0;
    *sums = job.sums;
    kn_counter_set_free(job.set);
    kn_counter_free(counter);
    return st;
}

/* Where there is memory to count a node whole, but not in pieces, it is counted whole. */
static void test_pieces_without_memory(void **state)
{
    kn_context *ctx = testing_context(1);
    kn_rng      rng;
    int         levels[RANDOM_QUASI] = {0};
    (void)state;
    kn_rng_init(&rng, testing_seed(), 10);
    for (int i = 0; i < testing_rounds(6); i++) {
        random_problem     p;
        kn_node_sums       sums[2];
        kn_counter_options whole = {.chunk = -1}, pieces = {.chunk = 7};
        if (!random_problem_make(&p, ctx, &rng, (random_shape){300, 5, 12, 4, false, true})) continue;
        uint64_t room = 0;
        while (count_within(&p, &whole, levels, room, &sums[0]) != KN_OK) room += 512;
        assert_int_equal(count_within(&p, &pieces, levels, room, &sums[1]), KN_OK);
        assert_same_sizes(&sums[0], &sums[1]);
        random_problem_free(&p);
    }
    testing_context_free(ctx);
}

/* 28 columns of up to 60 values: keys of more than 128 bits. */
static void test_wide_keys(void **state)
{
    kn_context *ctx = testing_context(2);
    kn_rng      rng;
    (void)state;
    kn_rng_init(&rng, testing_seed(), 2);
    for (int i = 0; i < 4; i++) {
        random_problem p;
        if (!random_problem_make(&p, ctx, &rng, (random_shape){200, 28, 60, 4, true, true})) continue;
        p.problem.budget = p.table->rows;
        check_engine(&p, &engines[0], &rng);
        check_engine(&p, &engines[4], &rng);
        random_problem_free(&p);
    }
    testing_context_free(ctx);
}

/* A column with more than 65,536 values beside a small one: codes of four bytes. */
static void test_many_values(void **state)
{
    enum { ROWS = 70000 };
    kn_context     *ctx = testing_context(2);
    kn_error        err = KN_ERROR_INIT;
    kn_builder     *b = NULL;
    random_problem  p = {.ctx = ctx};
    const kn_string names[] = {kn_string_of("id"), kn_string_of("bit")};
    uint32_t       *ids = calloc((size_t)ROWS * 2, sizeof *ids);
    int64_t         first = 0;
    (void)state;
    assert_non_null(ids);
    assert_ok(kn_builder_create(&b, ctx, names, 2, 1, &err), err);
    for (int r = 0; r < ROWS; r++) {
        char text[16];
        snprintf(text, sizeof text, "%d", r);
        ids[r] = kn_intern(kn_builder_interner(b, 0, 0), kn_string_of(text));
        ids[ROWS + r] = kn_intern(kn_builder_interner(b, 1, 0), kn_string_of(r % 3 == 0 ? "x" : "y"));
    }
    assert_ok(kn_builder_extend(b, ROWS, 0, &first, &err), err);
    for (int c = 0; c < 2; c++) kn_builder_write(b, c, first, ids + (size_t)c * ROWS, ROWS);
    assert_ok(kn_builder_finish(&p.table, b, NULL, NULL, &err), err);
    free(ids);
    const char             *widths[] = {"7", "700"};
    kn_hierarchy_spec       ranges = KN_HIERARCHY_SPEC_INIT, star = KN_HIERARCHY_SPEC_INIT;
    kn_model                k = KN_MODEL_INIT;
    kn_requirements_options options = {&k, 1, -1, NULL, false};
    ranges.kind = KN_HIERARCHY_RANGES;
    ranges.widths = widths;
    ranges.width_count = 2;
    star.kind = KN_HIERARCHY_SUPPRESS;
    k.k = 3;
    assert_ok(kn_hierarchy_build(&p.hierarchies[0], ctx, &p.table->columns[0], &ranges, &err), err);
    assert_ok(kn_hierarchy_build(&p.hierarchies[1], ctx, &p.table->columns[1], &star, &err), err);
    assert_ok(kn_requirements_make(&p.requirements, ctx, p.table, &options, &err), err);
    p.quasi[1] = 1;
    p.problem = (kn_fulldomain_problem){.table = p.table, .quasi_count = 2, .quasi = p.quasi, .budget = ROWS};
    p.problem.hierarchies = (const kn_hierarchy *const *)p.hierarchies;
    p.problem.requirements = p.requirements;
    assert_ok(
        kn_objective_make(&p.objective, ctx, p.table, p.quasi, p.problem.hierarchies, 2, NULL, KN_METRIC_LM, 3, &err),
        err);
    p.problem.objective = p.objective;
    for (size_t e = 0; e < sizeof engines / sizeof *engines; e++) {
        kn_counter    *counter = NULL;
        const int      at_7[] = {1, 0};
        kn_counter_job job = {.levels = at_7};
        assert_ok(kn_counter_make(&counter, ctx, &p.problem, &engines[e], &err), err);
        job.from = kn_counter_base(counter);
        assert_ok(kn_counter_run(counter, &job, 1, &err), err);
        /* Of 7 numbers in a row 2 or 3 are divisible by 3: the "x" of the ranges with 2 are suppressed. */
        int64_t two = 0;
        for (int range = 0; range < ROWS / 7; range++) two += range % 3 == 0 ? 0 : 1;
        assert_int_equal(job.sums.suppressed, 2 * two);
        assert_int_equal(job.classes, ROWS / 7 * 2);
        kn_counter_free(counter);
    }
    random_problem_free(&p);
    testing_context_free(ctx);
}

/* ---- The search ---- */

static void assert_optimum(const random_problem *p, const kn_lattice *lattice, const random_node *nodes,
                           const kn_fulldomain_result *r)
{
    int64_t best = random_best(lattice, nodes);
    assert_true(r->complete);
    assert_int_equal(r->found, best >= 0);
    assert_int_equal(r->optimal, best >= 0);
    if (best < 0) {
        assert_int_equal(r->good, 0);
        return;
    }
    assert_true(kn_quotient_compare(r->best.loss, nodes[best].loss) == 0);
    assert_int_equal(kn_lattice_node(lattice, r->best.levels), best);
    assert_int_equal(r->best.suppressed, nodes[best].sums.suppressed);
    assert_int_equal(r->best.classes, nodes[best].sums.classes);
    (void)p;
}

/* Is there a good node strictly below? */
static bool good_below(const kn_lattice *lattice, const random_node *nodes, int64_t node)
{
    int here[RANDOM_QUASI], there[RANDOM_QUASI];
    kn_lattice_levels(lattice, node, here);
    for (int64_t v = 0; v < lattice->count; v++) {
        kn_lattice_levels(lattice, v, there);
        if (v != node && nodes[v].good && kn_levels_below(there, here, lattice->quasi_count)) return true;
    }
    return false;
}

static void assert_solutions(const kn_lattice *lattice, const random_node *nodes, const kn_fulldomain_result *r)
{
    int64_t at = 0, good = 0;
    for (int64_t v = 0; v < lattice->count; v++) {
        good += nodes[v].good;
        if (!nodes[v].good || good_below(lattice, nodes, v)) continue;
        assert_true(at < r->solution_count);
        const kn_solution *s = &r->solutions[at++];
        assert_int_equal(kn_lattice_node(lattice, s->levels), v);
        assert_true(kn_quotient_compare(s->loss, nodes[v].loss) == 0);
        assert_int_equal(s->suppressed, nodes[v].sums.suppressed);
        assert_int_equal(s->classes, nodes[v].sums.classes);
    }
    assert_int_equal(at, r->solution_count);
    assert_int_equal(good, r->good);
}

static void assert_same_counters(const kn_fulldomain_counters *a, const kn_fulldomain_counters *b)
{
    assert_int_equal(a->candidates, b->candidates);
    assert_int_equal(a->nodes_checked, b->nodes_checked);
    assert_int_equal(a->nodes_marked, b->nodes_marked);
    assert_int_equal(a->table_scans, b->table_scans);
    assert_int_equal(a->rollups, b->rollups);
    assert_int_equal(a->projections, b->projections);
    assert_int_equal(a->keys, b->keys);
}

/* Against enumeration, with one, two, three and eight threads: the same answers and the same work. */
static void search_like_enumeration(random_shape shape, int cases, uint64_t stream)
{
    enum { CONTEXTS = 4 };
    static const int counts[CONTEXTS] = {1, 2, 3, 8};
    kn_context      *contexts[CONTEXTS];
    kn_rng           rng;
    kn_error         err = KN_ERROR_INIT;
    for (int t = 0; t < CONTEXTS; t++) contexts[t] = testing_context(counts[t]);
    kn_rng_init(&rng, testing_seed(), stream);
    for (int i = 0; i < cases; i++) {
        random_problem        p;
        kn_lattice            lattice;
        kn_fulldomain_result *results[CONTEXTS];
        if (!random_problem_make(&p, contexts[0], &rng, shape)) continue;
        p.problem.all_solutions = random_below(&rng, 2) == 0;
        random_lattice(&lattice, &p);
        random_node *nodes = random_enumerate(&p, &lattice);
        for (int t = 0; t < CONTEXTS; t++) {
            assert_ok(kn_fulldomain_search(&results[t], contexts[t], &p.problem, &err), err);
            assert_optimum(&p, &lattice, nodes, results[t]);
            if (p.problem.all_solutions) assert_solutions(&lattice, nodes, results[t]);
            assert_same_counters(&results[0]->counters, &results[t]->counters);
        }
        for (int t = 0; t < CONTEXTS; t++) kn_fulldomain_result_free(results[t]);
        free(nodes);
        kn_lattice_free(&lattice);
        random_problem_free(&p);
    }
    for (int t = 0; t < CONTEXTS; t++) testing_context_free(contexts[t]);
}

static void test_sizes_like_enumeration(void **state)
{
    (void)state;
    search_like_enumeration((random_shape){250, 4, 10, 4, false, true}, 400, 3);
}

static void test_models_like_enumeration(void **state)
{
    (void)state;
    search_like_enumeration((random_shape){120, 3, 6, 4, false, false}, 400, 4);
}

/* Larger lattices, where guesses and sets on the way matter. */
static void test_larger_lattices(void **state)
{
    (void)state;
    search_like_enumeration((random_shape){600, 6, 20, 5, true, true}, 12, 5);
}

/* ---- What may go wrong ---- */

static void make_fixed(random_problem *p, kn_context *ctx, bool sizes_only)
{
    kn_rng rng;
    for (uint64_t stream = 0;; stream++) {
        kn_rng_init(&rng, 7, stream);
        if (random_problem_make(p, ctx, &rng, (random_shape){200, 3, 10, 4, true, sizes_only})) return;
    }
}

static void test_allocation_failures(void **state)
{
    (void)state;
    for (int variant = 0; variant < 3; variant++) {
        kn_context    *ctx = testing_context(1);
        random_problem p;
        make_fixed(&p, ctx, variant < 2);
        p.problem.all_solutions = variant > 0;
        p.problem.budget = p.table->rows / 10;
        kn_status st = KN_MEMORY;
        for (int64_t at = 0; st != KN_OK; at += testing_step()) {
            testing_allocator     counted = {.refuse_at = at};
            kn_context           *failing = NULL;
            kn_fulldomain_result *r = NULL;
            st = testing_refusing_context(&failing, &counted, 1, NULL);
            if (st == KN_OK) st = kn_fulldomain_search(&r, failing, &p.problem, NULL);
            assert_true(st == KN_OK || st == KN_MEMORY);
            assert_int_equal(st == KN_OK, r != NULL);
            kn_fulldomain_result_free(r);
            kn_context_free(failing);
            assert_int_equal(counted.live, 0);
        }
        random_problem_free(&p);
        testing_context_free(ctx);
    }
}

static void test_cancelled(void **state)
{
    kn_context           *ctx = testing_context(2);
    random_problem        p;
    kn_fulldomain_result *r = NULL;
    kn_error              err = KN_ERROR_INIT;
    (void)state;
    make_fixed(&p, ctx, true);
    kn_context_cancel(ctx);
    assert_int_equal(kn_fulldomain_search(&r, ctx, &p.problem, &err), KN_CANCELLED);
    assert_null(r);
    kn_context_reset_cancel(ctx);
    random_problem_free(&p);
    testing_context_free(ctx);
}

static void keep_progress(void *user, const kn_progress *progress)
{
    kn_progress *last = user;
    if (strcmp(progress->stage, "searching") == 0) *last = *progress;
}

/* Every node that is counted is told. */
static void test_progress(void **state)
{
    kn_context_options    options = KN_CONTEXT_OPTIONS_INIT;
    kn_progress           last = {0};
    kn_context           *ctx = NULL;
    random_problem        p;
    kn_fulldomain_result *r = NULL;
    kn_error              err = KN_ERROR_INIT;
    (void)state;
    options.threads = 2;
    options.progress = keep_progress;
    options.progress_user = &last;
    assert_ok(kn_context_create(&ctx, &options, &err), err);
    make_fixed(&p, ctx, true);
    assert_ok(kn_fulldomain_search(&r, ctx, &p.problem, &err), err);
    assert_true(last.finished && r->counters.nodes_checked > 0);
    assert_int_equal(last.done, r->counters.nodes_checked);
    kn_fulldomain_result_free(r);
    random_problem_free(&p);
    testing_context_free(ctx);
}

/* The time is over at once: what was counted by then may be the answer, but is not proved. */
static void test_time_limit(void **state)
{
    kn_context           *ctx = testing_context(2);
    kn_fulldomain_result *r = NULL;
    kn_error              err = KN_ERROR_INIT;
    kn_rng                rng;
    random_problem        p;
    (void)state;
    kn_rng_init(&rng, 11, 0);
    assert_true(random_problem_make(&p, ctx, &rng, (random_shape){600, 6, 20, 5, true, true}));
    p.problem.budget = p.table->rows / 20;
    p.problem.time_limit = 1e-9;
    assert_ok(kn_fulldomain_search(&r, ctx, &p.problem, &err), err);
    assert_false(r->complete);
    assert_false(r->optimal);
    if (r->found) {
        kn_lattice lattice;
        random_lattice(&lattice, &p);
        random_node *nodes = random_enumerate(&p, &lattice);
        assert_true(nodes[kn_lattice_node(&lattice, r->best.levels)].good);
        free(nodes);
        kn_lattice_free(&lattice);
    }
    kn_fulldomain_result_free(r);
    random_problem_free(&p);
    testing_context_free(ctx);
}

/* All solutions of a lattice too large to enumerate are refused; its best node is not. */
static void test_lattice_too_large(void **state)
{
    kn_context           *ctx = testing_context(2);
    kn_fulldomain_result *r = NULL;
    kn_error              err = KN_ERROR_INIT;
    kn_rng                rng;
    random_problem        p;
    (void)state;
    kn_rng_init(&rng, 12, 0);
    assert_true(random_problem_make(&p, ctx, &rng, (random_shape){50, 28, 10, 5, true, true}));
    p.problem.all_solutions = true;
    assert_int_equal(kn_fulldomain_search(&r, ctx, &p.problem, &err), KN_USAGE);
    assert_non_null(strstr(err.message, "all solutions"));
    p.problem.all_solutions = false;
    assert_ok(kn_fulldomain_search(&r, ctx, &p.problem, &err), err);
    assert_true(r->complete);
    assert_true(r->counters.lattice > KN_LATTICE_MAX);
    kn_fulldomain_result_free(r);
    random_problem_free(&p);
    testing_context_free(ctx);
}

/* ---- Lattices that are not enumerated ---- */

static kn_fulldomain_result *new_result(kn_context *ctx, const random_problem *p)
{
    kn_fulldomain_result *r = kn_alloc_zero(ctx, sizeof *r);
    if (!r) return NULL;
    r->ctx = ctx;
    r->quasi_count = p->problem.quasi_count;
    r->good = -1;
    return r;
}

/* What boxes say, held against all nodes: the search is stopped again and again, and until it ends no good node may be
 * outside of what is open and better than the bound. */
static void check_bounds(const random_problem *p, kn_context *ctx, const kn_lattice *lattice, const random_node *nodes,
                         bool prove)
{
    kn_error err = KN_ERROR_INIT;
    int64_t  best = random_best(lattice, nodes);
    for (int64_t limit = 1; limit < 400; limit *= 3) {
        kn_heuristic_options  options = {.prove = prove, .node_limit = limit};
        kn_fulldomain_result *r = new_result(ctx, p);
        assert_non_null(r);
        assert_ok(kn_heuristic_search_within(r, ctx, &p->problem, &options, &err), err);
        if (r->optimal) assert_int_equal(kn_lattice_node(lattice, r->best.levels), best);
        if (r->found) {
            assert_true(best >= 0 && r->bounded);
            assert_true(kn_quotient_compare(r->bound, nodes[best].loss) <= 0);
            assert_true(kn_quotient_compare(nodes[best].loss, r->best.loss) <= 0);
        }
        kn_fulldomain_result_free(r);
    }
}

static void test_bounds_hold(void **state)
{
    kn_context *ctx = testing_context(2);
    kn_rng      rng;
    (void)state;
    kn_rng_init(&rng, testing_seed(), 6);
    for (int i = 0; i < testing_rounds(120); i++) {
        random_problem p;
        kn_lattice     lattice;
        if (!random_problem_make(&p, ctx, &rng, (random_shape){200, 5, 10, 4, false, i % 3 > 0})) continue;
        random_lattice(&lattice, &p);
        random_node *nodes = random_enumerate(&p, &lattice);
        check_bounds(&p, ctx, &lattice, nodes, i % 2 == 0);
        free(nodes);
        kn_lattice_free(&lattice);
        random_problem_free(&p);
    }
    testing_context_free(ctx);
}

/* The good node of least height, the lexicographically first; -1: none. */
static int64_t lowest_good(const kn_lattice *lattice, const random_node *nodes)
{
    int     here[RANDOM_QUASI], lowest[RANDOM_QUASI];
    int64_t found = -1;
    for (int64_t v = 0; v < lattice->count; v++) {
        if (!nodes[v].good) continue;
        kn_lattice_levels(lattice, v, here);
        if (found >= 0 && kn_levels_compare_by_height(here, lowest, lattice->quasi_count) > 0) continue;
        memcpy(lowest, here, sizeof lowest);
        found = v;
    }
    return found;
}

/* Samarati's node by boxes is that of all nodes, with the same work on any number of threads. */
static void test_lowest_by_boxes(void **state)
{
    enum { CONTEXTS = 4 };
    static const int counts[CONTEXTS] = {1, 2, 3, 8};
    kn_context      *contexts[CONTEXTS];
    kn_error         err = KN_ERROR_INIT;
    kn_rng           rng;
    (void)state;
    for (int t = 0; t < CONTEXTS; t++) contexts[t] = testing_context(counts[t]);
    kn_rng_init(&rng, testing_seed(), 8);
    for (int i = 0; i < testing_rounds(150); i++) {
        random_problem p;
        kn_lattice     lattice;
        int64_t        checked = 0;
        if (!random_problem_make(&p, contexts[0], &rng, (random_shape){150, 5, 10, 4, false, i % 2 == 0})) continue;
        p.problem.all_solutions = true;
        random_lattice(&lattice, &p);
        random_node *nodes = random_enumerate(&p, &lattice);
        int64_t      lowest = lowest_good(&lattice, nodes);
        for (int t = 0; t < CONTEXTS; t++) {
            kn_fulldomain_result *r = new_result(contexts[t], &p);
            assert_non_null(r);
            assert_ok(kn_samarati_by_boxes(r, &p.problem, &err), err);
            assert_true(r->complete);
            assert_int_equal(r->found, lowest >= 0);
            assert_int_equal(r->solution_count, lowest >= 0);
            if (lowest >= 0) {
                assert_int_equal(kn_lattice_node(&lattice, r->best.levels), lowest);
                assert_int_equal(kn_lattice_node(&lattice, r->solutions[0].levels), lowest);
                assert_int_equal(r->best.classes, nodes[lowest].sums.classes);
                assert_true(kn_quotient_compare(r->best.loss, nodes[lowest].loss) == 0);
            }
            if (t == 0) checked = r->counters.nodes_checked;
            assert_int_equal(r->counters.nodes_checked, checked);
            kn_fulldomain_result_free(r);
        }
        free(nodes);
        kn_lattice_free(&lattice);
        random_problem_free(&p);
    }
    for (int t = 0; t < CONTEXTS; t++) testing_context_free(contexts[t]);
}

static void test_lowest_refused(void **state)
{
    kn_context    *ctx = testing_context(1);
    random_problem p;
    kn_status      st = KN_MEMORY;
    (void)state;
    make_fixed(&p, ctx, true);
    p.problem.all_solutions = true;
    for (int64_t at = 0; st != KN_OK; at += testing_step()) {
        testing_allocator     counted = {.refuse_at = at};
        kn_context           *failing = NULL;
        kn_fulldomain_result *r = NULL;
        st = testing_refusing_context(&failing, &counted, 1, NULL);
        if (st == KN_OK) {
            r = new_result(failing, &p);
            st = r ? kn_samarati_by_boxes(r, &p.problem, NULL) : KN_MEMORY;
        }
        assert_true(st == KN_OK || st == KN_MEMORY);
        kn_fulldomain_result_free(r);
        kn_context_free(failing);
        assert_int_equal(counted.live, 0);
    }
    kn_fulldomain_result *r = new_result(ctx, &p);
    assert_non_null(r);
    kn_context_cancel(ctx);
    assert_int_equal(kn_samarati_by_boxes(r, &p.problem, NULL), KN_CANCELLED);
    kn_context_reset_cancel(ctx);
    kn_fulldomain_result_free(r);
    random_problem_free(&p);
    testing_context_free(ctx);
}

/* A box held against the records one by one: it is decided only if none of its nodes may be the best, and what it loses
 * at its edges was decided. The records come in the order of a search, as random nodes. */
static bool may_be_best(const kn_boxes *b, const random_problem *p, const random_node *nodes, const kn_lattice *lattice,
                        int64_t node)
{
    int levels[RANDOM_QUASI];
    kn_lattice_levels(lattice, node, levels);
    if (!nodes[node].good) return false;
    if (!b->found) return true;
    kn_standing mine = {nodes[node].loss, nodes[node].sums.suppressed, levels},
                best = {b->loss, b->suppressed, b->best};
    return kn_standing_compare(mine, best, p->problem.quasi_count) < 0;
}

static void check_box(kn_boxes *b, const random_problem *p, const random_node *nodes, const kn_lattice *lattice,
                      kn_rng *rng)
{
    kn_box_level low[RANDOM_QUASI], high[RANDOM_QUASI], was_low[RANDOM_QUASI], was_high[RANDOM_QUASI];
    kn_box       box = {.low = low, .high = high};
    int          quasi = p->problem.quasi_count, levels[RANDOM_QUASI];
    for (int q = 0; q < quasi; q++) {
        low[q] = was_low[q] = (kn_box_level)random_below(rng, lattice->heights[q] + 1);
        high[q] = was_high[q] = (kn_box_level)(low[q] + random_below(rng, lattice->heights[q] - low[q] + 1));
    }
    bool open = kn_box_tighten(b, &box);
    for (int64_t v = 0; v < lattice->count; v++) {
        bool in_it = true, still = open;
        kn_lattice_levels(lattice, v, levels);
        for (int q = 0; q < quasi; q++) {
            in_it = in_it && levels[q] >= was_low[q] && levels[q] <= was_high[q];
            still = still && levels[q] >= low[q] && levels[q] <= high[q];
        }
        if (!in_it || !may_be_best(b, p, nodes, lattice, v)) continue;
        assert_true(still);
        assert_true(box.bound <= kn_bounds_score(&b->oracle->bounds, nodes[v].loss));
        for (int q = 0; q < quasi; q++)
            assert_true(kn_box_bound_at(b, &box, q, levels[q]) <= kn_bounds_score(&b->oracle->bounds, nodes[v].loss));
    }
}

/* What the rows suppressed at a node cost below it: no node loses less than that. */
static void check_falls(const kn_oracle *o, const int *top, const kn_outcome *outcome, const random_node *nodes,
                        const kn_lattice *lattice)
{
    int quasi = o->quasi_count, levels[RANDOM_QUASI];
    for (int64_t v = 0; outcome->falls && v < lattice->count; v++) {
        kn_lattice_levels(lattice, v, levels);
        if (!nodes[v].good || !kn_levels_below(levels, top, quasi)) continue;
        assert_true(kn_oracle_sum(o, o->lows, levels) + kn_oracle_sum(o, outcome->falls, levels) <=
                    kn_bounds_score(&o->bounds, nodes[v].loss));
    }
}

static void test_boxes_lose_nothing(void **state)
{
    kn_context *ctx = testing_context(1);
    kn_error    err = KN_ERROR_INIT;
    kn_rng      rng;
    int         falls = 0;
    (void)state;
    kn_rng_init(&rng, testing_seed(), 7);
    for (int i = 0; i < testing_rounds(150); i++) {
        random_problem         p;
        kn_lattice             lattice;
        kn_fulldomain_counters counters = {0};
        kn_oracle              oracle = {0};
        kn_guess               guess = {0};
        kn_boxes               boxes = {0};
        if (!random_problem_make(&p, ctx, &rng, (random_shape){120, 4, 8, 4, false, i % 2 == 0})) continue;
        random_lattice(&lattice, &p);
        random_node *nodes = random_enumerate(&p, &lattice);
        assert_ok(kn_oracle_make(&oracle, ctx, &p.problem, &counters, &err), err);
        if (oracle.falls.gains && i % 3 == 0) oracle.falls.value_offsets[0] = -1; /* as if it had too many values */
        assert_ok(kn_boxes_make(&boxes, ctx, &oracle, &guess, lattice.heights, false, &err), err);
        for (int turn = 0; turn < 90; turn++) { /* more than a word of records */
            int        levels[RANDOM_QUASI];
            kn_outcome outcome = {0};
            kn_lattice_levels(&lattice, random_below(&rng, (int)lattice.count), levels);
            assert_ok(kn_oracle_count(&oracle, levels, &outcome, 1, NULL, NULL, &err), err);
            check_falls(&oracle, levels, &outcome, nodes, &lattice);
            falls += outcome.falls != NULL;
            assert_ok(kn_boxes_learn(&boxes, levels, &outcome, &err), err);
            assert_true(kn_box_counted(&boxes, levels));
            check_box(&boxes, &p, nodes, &lattice, &rng);
        }
        kn_boxes_free(&boxes);
        kn_oracle_free(&oracle);
        free(nodes);
        kn_lattice_free(&lattice);
        random_problem_free(&p);
    }
    assert_true(falls > 100);
    testing_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_engines_agree),
        cmocka_unit_test(test_pieces_lose_the_same),
        cmocka_unit_test(test_pieces_without_memory),
        cmocka_unit_test(test_wide_keys),
        cmocka_unit_test(test_many_values),
        cmocka_unit_test(test_sizes_like_enumeration),
        cmocka_unit_test(test_models_like_enumeration),
        cmocka_unit_test(test_larger_lattices),
        cmocka_unit_test(test_allocation_failures),
        cmocka_unit_test(test_cancelled),
        cmocka_unit_test(test_progress),
        cmocka_unit_test(test_time_limit),
        cmocka_unit_test(test_lattice_too_large),
        cmocka_unit_test(test_bounds_hold),
        cmocka_unit_test(test_boxes_lose_nothing),
        cmocka_unit_test(test_lowest_by_boxes),
        cmocka_unit_test(test_lowest_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
