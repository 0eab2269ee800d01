/* table/pairs.c: which original texts does each released text stand for, and may it?
 *
 * Each original row knows the class that shows it, and all rows of a class show one text; so the rows are passed through in
 * the order of the original, and each pair of texts that occurs is noted, in a table of bytes where few are possible,
 * otherwise in a list per piece of the rows, which are then joined. At the end each distinct pair is judged once.
 *
 * Cost: O(rows) for a column, in parallel, and one judgement per distinct pair. Memory of a column: a byte per possible
 * pair, up to 4 MiB, or 24 per distinct pair and 8 to 24 per distinct pair of a piece; 4 per class.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_verify_pairs.h"

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_parallel.h"

#define WHAT "verifying"

enum {
    DENSE_PAIRS = 1 << 22,
    FEW_PAIRS = 1 << 24 /* of all columns */,
    GRAIN = 1 << 16,
    CLASSES = 1 << 12,
    TEXTS = 16
};

/* The pairs of a piece of the rows: original << 32 | released. */
typedef struct piece {
    uint64_t *words;
    uint32_t  count;
} piece;

struct kn_vpairs {
    kn_verifier     *v;
    kn_vquasi       *q;
    const kn_vimage *image; /* of the rows from `begin` on */
    int64_t          begin;
    uint32_t        *shown; /* per class: its text; with `seen`: where the pairs of that text begin */
    _Atomic uint8_t *seen;  /* [released text × original texts + original text]; NULL: too many      */
    piece           *pieces;
    kn_vnumbers      all; /* without `seen`: the pairs */
    atomic_bool      wrong;
};

typedef kn_vpairs pairs;

/* ---- Which occur ---- */

static kn_status show_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker, (void)err;
    const pairs     *p = arg;
    const kn_vquasi *q = p->q;
    for (int64_t c = begin; c < end; c++)
        p->shown[c] = kn_vcode(q->release, p->v->classes.first[c]) * (p->seen ? q->original->count : 1);
    return KN_OK;
}

static inline void see(const pairs *p, int64_t row, uint32_t original)
{
    uint32_t class_index = kn_vimage_of(p->image, row - p->begin);
    if (class_index >= KN_VIMAGE_STAR) return;
    _Atomic uint8_t *seen = &p->seen[p->shown[class_index] + original];
    if (!atomic_load_explicit(seen, memory_order_relaxed)) atomic_store_explicit(seen, 1, memory_order_relaxed);
}

static kn_status see_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker, (void)err;
    const pairs      *p = arg;
    const kn_vcolumn *column = p->q->original;
    begin += p->begin;
    end += p->begin;
    if (column->width == 1)
        for (int64_t row = begin; row < end; row++) see(p, row, ((const uint8_t *)column->codes)[row]);
    else if (column->width == 2)
        for (int64_t row = begin; row < end; row++) see(p, row, ((const uint16_t *)column->codes)[row]);
    else
        for (int64_t row = begin; row < end; row++) see(p, row, ((const uint32_t *)column->codes)[row]);
    return KN_OK;
}

static kn_status collect_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    const pairs *p = arg;
    piece       *one = &p->pieces[begin / GRAIN];
    kn_vnumbers  numbers = {.ctx = p->v->ctx};
    bool         good = true;
    for (int64_t i = begin; good && i < end; i++) {
        uint32_t class_index = kn_vimage_of(p->image, i), original = kn_vcode(p->q->original, p->begin + i);
        if (class_index >= KN_VIMAGE_STAR) continue;
        good = kn_vnumbers_add(&numbers, (uint64_t)original << 32 | p->shown[class_index]) != KN_V_NONE;
    }
    one->words = good ? kn_alloc_array(p->v->ctx, (size_t)numbers.count + 1, sizeof *one->words) : NULL;
    for (size_t i = 0; one->words && i < numbers.size; i++)
        if (numbers.words[i]) one->words[one->count++] = numbers.words[i] - 1;
    kn_vnumbers_free(&numbers);
    return one->words ? KN_OK : kn_fail_memory(err, p->v->ctx, WHAT);
}

/* ---- May they? ---- */

static void judge(pairs *p, uint32_t original, uint32_t released)
{
    kn_vquasi      *q = p->q;
    const kn_vcell *cell = &q->cells[released];
    uint32_t        value = q->domain.of_original[original];
    uint64_t        levels[4];
    kn_vcell_levels(q, cell, value, levels);
    for (size_t i = 0; i < 4; i++) q->text_levels[4 * (size_t)released + i] &= levels[i];
    if (!kn_vcell_covers(q, cell, value)) p->wrong = true;
}

static kn_status judge_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker, (void)err;
    pairs   *p = arg;
    uint32_t originals = p->q->original->count;
    for (int64_t r = begin; r < end; r++)
        for (uint32_t o = 0; o < originals; o++)
            if (atomic_load_explicit(&p->seen[(size_t)r * originals + o], memory_order_relaxed))
                judge(p, o, (uint32_t)r);
    return KN_OK;
}

/* ---- A column ---- */

/* Pairs of several pieces are one. */
static kn_status join_pieces(pairs *p, size_t count, kn_error *err)
{
    kn_status st = KN_OK;
    for (size_t i = 0; st == KN_OK && i < count; i++) {
        for (uint32_t k = 0; st == KN_OK && k < p->pieces[i].count; k++)
            if (kn_vnumbers_add(&p->all, p->pieces[i].words[k]) == KN_V_NONE) st = kn_fail_memory(err, p->v->ctx, WHAT);
        if (st == KN_OK && kn_cancelled(p->v->ctx)) st = kn_fail_cancelled(err);
    }
    return st;
}

static kn_status see_sparse(pairs *p, int64_t rows, kn_error *err)
{
    size_t count = (size_t)((rows + GRAIN - 1) / GRAIN);
    p->pieces = kn_alloc_array_zero(p->v->ctx, count + 1, sizeof *p->pieces);
    if (!p->pieces) return kn_fail_memory(err, p->v->ctx, WHAT);
    kn_status st = kn_parallel_for(p->v->ctx, rows, GRAIN, collect_range, p, err);
    if (st == KN_OK) st = join_pieces(p, count, err);
    for (size_t i = 0; i < count; i++) kn_free(p->pieces[i].words);
    kn_free(p->pieces);
    p->pieces = NULL;
    return st;
}

bool kn_vpairs_few(const kn_verifier *v)
{
    size_t sum = 0;
    for (int i = 0; i < v->quasi_count && sum <= FEW_PAIRS; i++) {
        size_t all = (size_t)v->quasi[i].original->count * v->quasi[i].release->count;
        sum += all <= DENSE_PAIRS ? all : FEW_PAIRS + 1;
    }
    return sum <= FEW_PAIRS;
}

kn_status kn_vpairs_open(kn_vpairs **out, kn_verifier *v, kn_vquasi *q, kn_error *err)
{
    size_t all = (size_t)q->original->count * q->release->count;
    bool   dense = all <= DENSE_PAIRS;
    pairs *p = *out = kn_alloc_zero(v->ctx, sizeof *p);
    if (!p) return kn_fail_memory(err, v->ctx, WHAT);
    p->v = v;
    p->q = q;
    p->all.ctx = v->ctx;
    p->seen = dense ? kn_alloc_zero(v->ctx, all + 1) : NULL;
    return dense && !p->seen ? kn_fail_memory(err, v->ctx, WHAT) : KN_OK;
}

void kn_vpairs_free(kn_vpairs *p)
{
    if (!p) return;
    kn_vnumbers_free(&p->all);
    KN_FREE(p->seen, p);
}

kn_status kn_vpairs_see(kn_vpairs *p, const kn_vimage *image, int64_t begin, int64_t end, kn_error *err)
{
    p->image = image;
    p->begin = begin;
    p->shown = kn_alloc_array(p->v->ctx, (size_t)p->v->classes.count + 1, sizeof *p->shown);
    if (!p->shown) return kn_fail_memory(err, p->v->ctx, WHAT);
    kn_status st = kn_parallel_for(p->v->ctx, p->v->classes.count, CLASSES, show_range, p, err);
    if (st == KN_OK && p->seen) st = kn_parallel_for(p->v->ctx, end - begin, GRAIN, see_range, p, err);
    if (st == KN_OK && !p->seen) st = see_sparse(p, end - begin, err);
    kn_free(p->shown);
    p->shown = NULL;
    return st;
}

kn_status kn_vpairs_judge(kn_vpairs *p, bool *good, kn_error *err)
{
    kn_vquasi *q = p->q;
    uint32_t   releases = q->release->count;
    q->text_levels = kn_alloc_array(p->v->ctx, (size_t)releases + 1, 4 * sizeof *q->text_levels);
    if (!q->text_levels) return kn_fail_memory(err, p->v->ctx, WHAT);
    memset(q->text_levels, 0xff, ((size_t)releases + 1) * 4 * sizeof *q->text_levels);
    if (p->seen) KN_TRY(kn_parallel_for(p->v->ctx, releases, TEXTS, judge_range, p, err));
    for (size_t i = 0; i < p->all.size; i++)
        if (p->all.words[i]) judge(p, (uint32_t)((p->all.words[i] - 1) >> 32), (uint32_t)(p->all.words[i] - 1));
    memset(q->levels, 0xff, sizeof q->levels);
    for (size_t i = 0; i < 4 * (size_t)releases; i++) q->levels[i % 4] &= q->text_levels[i];
    q->levels_known = true;
    *good = !p->wrong;
    return KN_OK;
}
