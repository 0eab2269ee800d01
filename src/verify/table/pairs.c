/* table/pairs.c: which original texts does each released text stand for, and may it?
 *
 * Each original row knows the class that shows it, and all rows of a class show one text; so the rows are passed through in
 * the order of the original, and each pair of texts that occurs is noted, in a table of bytes where few are possible,
 * otherwise in a list per piece of the rows. Then each distinct pair is judged once.
 *
 * Cost: O(rows) for a column, in parallel, and one judgement per distinct pair. Memory: a byte per possible pair, up to
 * 4 MiB, or 8 to 24 per distinct pair of a piece; 4 per class.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_verify_pairs.h"

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_parallel.h"

#define WHAT "verifying"

enum { DENSE_PAIRS = 1 << 22, GRAIN = 1 << 16, TEXTS = 16 };

/* The pairs of a piece of the rows: original << 32 | released. */
typedef struct piece {
    uint64_t *words;
    uint32_t  count;
} piece;

typedef struct pairs {
    kn_verifier     *v;
    kn_vquasi       *q;
    const kn_vimage *image;
    uint32_t        *shown; /* per class: its text; with `seen`: where the pairs of that text begin */
    _Atomic uint8_t *seen;  /* [released text × original texts + original text]; NULL: too many      */
    piece           *pieces;
    atomic_bool      wrong;
} pairs;

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
    uint32_t class_index = kn_vimage_of(p->image, row);
    if (class_index >= KN_VIMAGE_STAR) return;
    _Atomic uint8_t *seen = &p->seen[p->shown[class_index] + original];
    if (!atomic_load_explicit(seen, memory_order_relaxed)) atomic_store_explicit(seen, 1, memory_order_relaxed);
}

static kn_status see_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker, (void)err;
    const pairs      *p = arg;
    const kn_vcolumn *column = p->q->original;
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
    for (int64_t row = begin; good && row < end; row++) {
        uint32_t class_index = kn_vimage_of(p->image, row);
        if (class_index >= KN_VIMAGE_STAR) continue;
        good = kn_vnumbers_add(&numbers, (uint64_t)kn_vcode(p->q->original, row) << 32 | p->shown[class_index]) !=
               KN_V_NONE;
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

/* Pairs of several pieces are judged once. */
static kn_status judge_pieces(pairs *p, size_t count, kn_error *err)
{
    kn_vnumbers all = {.ctx = p->v->ctx};
    kn_status   st = KN_OK;
    for (size_t i = 0; st == KN_OK && i < count; i++) {
        for (uint32_t k = 0; st == KN_OK && k < p->pieces[i].count; k++) {
            uint64_t word = p->pieces[i].words[k];
            uint32_t known = all.count, number = kn_vnumbers_add(&all, word);
            if (number == KN_V_NONE) st = kn_fail_memory(err, p->v->ctx, WHAT);
            if (number == known) judge(p, (uint32_t)(word >> 32), (uint32_t)word);
        }
        if (st == KN_OK && kn_cancelled(p->v->ctx)) st = kn_fail_cancelled(err);
    }
    kn_vnumbers_free(&all);
    return st;
}

/* ---- A column ---- */

static kn_status check_dense(pairs *p, kn_error *err)
{
    KN_TRY(kn_parallel_for(p->v->ctx, p->v->classes.count, GRAIN, show_range, p, err));
    KN_TRY(kn_parallel_for(p->v->ctx, p->v->original->rows, GRAIN, see_range, p, err));
    return kn_parallel_for(p->v->ctx, p->q->release->count, TEXTS, judge_range, p, err);
}

static kn_status check_sparse(pairs *p, kn_error *err)
{
    size_t count = (size_t)((p->v->original->rows + GRAIN - 1) / GRAIN);
    p->pieces = kn_alloc_array_zero(p->v->ctx, count + 1, sizeof *p->pieces);
    if (!p->pieces) return kn_fail_memory(err, p->v->ctx, WHAT);
    kn_status st = kn_parallel_for(p->v->ctx, p->v->classes.count, GRAIN, show_range, p, err);
    if (st == KN_OK) st = kn_parallel_for(p->v->ctx, p->v->original->rows, GRAIN, collect_range, p, err);
    if (st == KN_OK) st = judge_pieces(p, count, err);
    for (size_t i = 0; i < count; i++) kn_free(p->pieces[i].words);
    kn_free(p->pieces);
    return st;
}

kn_status kn_vpairs_check(kn_verifier *v, kn_vquasi *q, const kn_vimage *image, bool *good, kn_error *err)
{
    uint32_t releases = q->release->count;
    size_t   all = (size_t)q->original->count * releases;
    bool     dense = all <= DENSE_PAIRS;
    pairs    p = {.v = v, .q = q, .image = image};
    q->text_levels = kn_alloc_array(v->ctx, (size_t)releases + 1, 4 * sizeof *q->text_levels);
    p.shown = kn_alloc_array(v->ctx, (size_t)v->classes.count + 1, sizeof *p.shown);
    p.seen = dense ? kn_alloc_zero(v->ctx, all + 1) : NULL;
    kn_status st = q->text_levels && p.shown && (p.seen || !dense) ? KN_OK : kn_fail_memory(err, v->ctx, WHAT);
    if (st == KN_OK) {
        memset(q->text_levels, 0xff, ((size_t)releases + 1) * 4 * sizeof *q->text_levels);
        st = dense ? check_dense(&p, err) : check_sparse(&p, err);
    }
    kn_free(p.shown);
    kn_free(p.seen);
    KN_TRY(st);
    memset(q->levels, 0xff, sizeof q->levels);
    for (size_t i = 0; i < 4 * (size_t)releases; i++) q->levels[i % 4] &= q->text_levels[i];
    q->levels_known = true;
    *good = !p.wrong;
    return KN_OK;
}
