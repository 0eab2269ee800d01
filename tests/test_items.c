/* test_items.c: the cuts of a column of sets (kn_items_cut.h), held against the definition: random hierarchies and classes, all cuts of
 * which are tried one by one.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kn_items_cut.h"

#include <stdio.h>

#include "kn_alloc.h"
#include "kn_rng.h"
#include "testing.h"

enum { LEAVES = 7, ENTRIES = 9, DEPTH = 3, MOST = LEAVES };

typedef struct fixture {
    kn_hierarchy    *h;
    kn_items_problem problem;
    uint64_t         start[ENTRIES + 1];
    uint32_t         leaves[ENTRIES * LEAVES];
    kn_items_entry   entries[ENTRIES];
    size_t           count;
} fixture;

/* ---- Random data ---- */

/* Paths of equal length, so that labels differ by level; groups are runs of leaves. */
static kn_hierarchy *random_hierarchy(kn_context *ctx, kn_rng *rng)
{
    kn_error            err = KN_ERROR_INIT;
    kn_hierarchy_maker *maker;
    kn_hierarchy       *h;
    uint32_t leaves = 2 + (uint32_t)kn_rng_below(rng, LEAVES - 1), depth = 1 + (uint32_t)kn_rng_below(rng, DEPTH),
             group[DEPTH] = {0};
    assert_ok(kn_hierarchy_maker_create(&maker, ctx, "random", false, &err), err);
    for (uint32_t l = 0; l < leaves; l++) {
        kn_path_field path[DEPTH + 1];
        char          text[DEPTH + 1][16];
        bool          fresh = false;
        for (uint32_t d = depth; d-- > 1;) { /* from the top: a new group above begins new ones below */
            fresh = fresh || (l > 0 && kn_rng_below(rng, 3) == 0);
            group[d] += fresh;
            snprintf(text[d], sizeof text[d], "g%u.%u", d, group[d]);
        }
        snprintf(text[0], sizeof text[0], "i%u", l);
        snprintf(text[depth], sizeof text[depth], "*");
        for (uint32_t d = 0; d <= depth; d++) path[d] = (kn_path_field){kn_string_of(text[d]), 0, 0};
        assert_ok(kn_hierarchy_maker_add(maker, path, depth + 1, &err), err);
    }
    assert_ok(kn_hierarchy_maker_finish(&h, maker, NULL, KN_OK, &err), err);
    return h;
}

static void random_class(fixture *f, kn_context *ctx, kn_rng *rng)
{
    uint64_t size = 0, dense = 1 + kn_rng_below(rng, 6);
    f->h = random_hierarchy(ctx, rng);
    f->count = 1 + (size_t)kn_rng_below(rng, ENTRIES);
    for (size_t e = 0; e < f->count; e++) {
        f->start[e] = size;
        for (uint32_t l = 0; l < f->h->leaves; l++)
            if (kn_rng_below(rng, 8) < dense) f->leaves[size++] = l;
        f->entries[e] = (kn_items_entry){.set = (uint32_t)e, .rows = 1 + (int64_t)kn_rng_below(rng, 3)};
    }
    f->start[f->count] = size;
    f->problem =
        (kn_items_problem){f->h, f->start, f->leaves, 1 + (int64_t)kn_rng_below(rng, 5), 1 + (int)kn_rng_below(rng, 3)};
}

/* ---- The definition ---- */

/* The sets of nodes as bits over the hierarchy's nodes. */
static void images(const fixture *f, const uint32_t *cut, uint64_t *out)
{
    for (size_t e = 0; e < f->count; e++) {
        out[e] = 0;
        for (uint64_t i = f->start[e]; i < f->start[e + 1]; i++) out[e] |= UINT64_C(1) << cut[f->leaves[i]];
    }
}

/* Every subset of up to m nodes that an entry shows is shown by at least k rows. */
static bool keeps(const fixture *f, const uint64_t *shown)
{
    for (size_t e = 0; e < f->count; e++)
        for (uint64_t part = shown[e]; part; part = (part - 1) & shown[e]) {
            int64_t rows = 0;
            if (__builtin_popcountll(part) > f->problem.m) continue;
            for (size_t o = 0; o < f->count; o++) rows += (shown[o] & part) == part ? f->entries[o].rows : 0;
            if (rows < f->problem.k) return false;
        }
    return true;
}

static bool is_at_or_above(const kn_hierarchy *h, uint32_t node, uint32_t below)
{
    while (below != node && below != h->nodes - 1) below = h->parent[below];
    return below == node;
}

typedef struct looking {
    const fixture  *f;
    const uint64_t *found; /* what the search shows */
    const uint32_t *above; /* per leaf: the node that the search shows for it; only cuts at or below it count */
    uint32_t        cut[LEAVES];
    int64_t         cuts, finer;
} looking;

/* Goes through all cuts from leaf `at` on. */
static void all_cuts(looking *w, uint32_t at)
{
    const kn_hierarchy *h = w->f->h;
    uint64_t            shown[ENTRIES];
    if (at == h->leaves) {
        bool finer = true, same = true;
        w->cuts++;
        images(w->f, w->cut, shown);
        for (size_t e = 0; e < w->f->count; e++) {
            same = same && shown[e] == w->found[e];
            for (uint64_t i = w->f->start[e]; i < w->f->start[e + 1]; i++) {
                uint32_t leaf = w->f->leaves[i];
                finer = finer && is_at_or_above(h, w->above[leaf], w->cut[leaf]);
            }
        }
        w->finer += finer && !same;
        if (finer && !same) assert_false(keeps(w->f, shown));
        return;
    }
    for (uint32_t node = at; node != KN_NODE_NONE; node = h->parent[node]) {
        if (h->first[node] != at) continue; /* it would have begun before */
        for (uint32_t l = at; l < h->last[node] && l < h->leaves; l++) w->cut[l] = node;
        all_cuts(w, h->last[node] < h->leaves ? h->last[node] : h->leaves);
    }
}

static void check_class(fixture *f, bool shown, int64_t *finer)
{
    uint64_t found[ENTRIES] = {0};
    uint32_t above[LEAVES];
    looking  w = {f, found, above, {0}, 0, 0};
    for (uint32_t l = 0; l < f->h->leaves; l++) above[l] = f->h->nodes - 1;
    for (size_t e = 0; e < f->count; e++) {
        for (uint32_t i = 0; i < f->entries[e].count; i++) found[e] |= UINT64_C(1) << f->entries[e].labels[i];
        assert_int_equal(__builtin_popcountll(found[e]), f->entries[e].count);
        for (uint64_t i = f->start[e]; shown && i < f->start[e + 1]; i++) {
            int      covers = 0;
            uint32_t leaf = f->leaves[i];
            for (uint32_t l = 0; l < f->entries[e].count; l++) {
                if (!kn_hierarchy_covers(f->h, f->entries[e].labels[l], leaf)) continue;
                covers++;
                if (above[leaf] != f->h->nodes - 1)
                    assert_int_equal(above[leaf], f->entries[e].labels[l]); /* one cut */
                above[leaf] = f->entries[e].labels[l];
            }
            assert_int_equal(covers, 1);
        }
    }
    uint64_t image[ENTRIES];
    images(f, above, image);
    for (size_t e = 0; shown && e < f->count; e++) assert_true(image[e] == found[e]); /* nothing else */
    if (shown) assert_true(keeps(f, found));
    for (size_t e = 0; !shown && e < f->count; e++)
        found[e] = f->start[e] < f->start[e + 1] ? UINT64_C(1) << (f->h->nodes - 1) : 0;
    all_cuts(&w, 0);
    assert_true(w.cuts > 0);
    *finer += w.finer;
}

/* ---- Tests ---- */

static void test_random_classes(void **state)
{
    (void)state;
    kn_rng      rng;
    kn_context *ctx = testing_context(1);
    int         rounds = testing_rounds(4000);
    int64_t     finer = 0, hidden = 0, cut_shown = 0;
    kn_rng_init(&rng, testing_seed(), 0);
    for (int r = 0; r < rounds; r++) {
        fixture       f;
        kn_items_cut *cut;
        kn_error      err = KN_ERROR_INIT;
        bool          shown;
        random_class(&f, ctx, &rng);
        assert_true(f.h->nodes < 64);
        assert_ok(kn_items_cut_create(&cut, ctx, &f.problem, &err), err);
        for (int again = 0; again < 2; again++) { /* nothing is left of the class before */
            assert_ok(kn_items_cut_class(cut, f.entries, f.count, &shown, &err), err);
            check_class(&f, shown, &finer);
        }
        hidden += !shown;
        cut_shown += shown;
        kn_items_cut_free(cut);
        kn_hierarchy_free(f.h);
    }
    print_message("%d classes: %lld shown, %lld hidden, %lld finer cuts refuted\n", rounds, (long long)cut_shown,
                  (long long)hidden, (long long)finer);
    assert_true(hidden >= testing_least(200) && cut_shown >= testing_least(800) && finer >= testing_least(4000));
    testing_context_free(ctx);
}

static void test_memory(void **state)
{
    (void)state;
    for (int64_t n = 0;; n += testing_step()) {
        testing_allocator allocator = {.refuse_at = n};
        kn_context       *ctx;
        kn_error          err = KN_ERROR_INIT;
        if (testing_refusing_context(&ctx, &allocator, 1, &err) != KN_OK) continue;
        kn_rng        rng;
        fixture       f;
        kn_items_cut *cut = NULL;
        bool          shown, done = false;
        allocator.refuse_at = -1;
        kn_rng_init(&rng, 5, 0);
        random_class(&f, ctx, &rng);
        allocator.refuse_at = allocator.requests + n;
        kn_status st = kn_items_cut_create(&cut, ctx, &f.problem, &err);
        if (st == KN_OK) st = kn_items_cut_class(cut, f.entries, f.count, &shown, &err);
        done = st == KN_OK;
        assert_true(done || st == KN_MEMORY);
        kn_items_cut_free(cut);
        kn_hierarchy_free(f.h);
        testing_context_free(ctx);
        if (done) break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_classes), cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
