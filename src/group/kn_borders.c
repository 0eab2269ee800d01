/* kn_borders.c: the border between the sets of columns that keep k and those that break it (kn_borders.h).
 *
 * There are two methods; both give exact lists or say that they did not:
 *   - witness (kn_borders_witness.c): the minimal violating sets from the rows that can be at risk at all; their minimal
 *     hitting sets (kn_dualize.c) are the complements of the maximal sets that hold. Without a budget, and best where
 *     few rows are at risk over all columns: the minimal sets come out even where the maximal ones are too many to
 *     list.
 *   - advance (kn_borders_advance.c): both borders at once, each feeding the other. With a budget, which does not depend on single rows; where nearly every row is a witness; and where the witnesses have too many sets.
 *
 * Under limits: with a largest size all minimal sets up to it are listed, and maximal sets after an evaluation each.
 * After a deadline, or with too many sets, a violating set of the witness method is listed only if all its subsets
 * with one column less were found to hold.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_borders.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_bitset.h"
#include "kn_borders_search.h"
#include "kn_context.h"
#include "kn_error.h"

#define WHAT "searching sets of columns"

enum { MOST_COLUMNS = 256, DEFAULT_SETS = 1000000, MOST_PROVEN = 10000 };

/* By default the search tries witnesses first if there are enough columns, at most every eighth combination is a
 * witness, and their scans compare no more than this many words of keys. It gives up on them after this many hitting
 * sets. */
enum { FEW_COLUMNS = 12, WITNESS_SHARE = 8, MOST_LOOKS = 200000 };
static const double most_scanned = 2e10;

static const char *const partial_late = "the time limit was reached";
static const char *const partial_full = "there are more sets than may be listed";
static const char *const partial_size = "larger sets were not looked at";

static kn_status check(const kn_freq *freq, const kn_borders_options *o, kn_error *err)
{
    if (o->k < 1) return kn_fail(err, KN_USAGE, "k must be at least 1");
    if (o->budget < 0) return kn_fail(err, KN_USAGE, "the number of rows to suppress cannot be negative");
    if (o->max_size < 0) return kn_fail(err, KN_USAGE, "the largest size of a set cannot be negative");
    if (!(o->time_limit >= 0)) return kn_fail(err, KN_USAGE, "the time limit cannot be negative");
    if (o->max_sets < 0) return kn_fail(err, KN_USAGE, "the number of sets to list cannot be negative");
    if (o->method == KN_BORDERS_WITNESS && o->budget > 0)
        return kn_fail(err, KN_USAGE, "rows cannot be suppressed with the witness method");
    if (freq->layout.columns > MOST_COLUMNS)
        return kn_fail(err, KN_USAGE, "sets of columns are searched over at most %d columns, not %d", MOST_COLUMNS,
                       freq->layout.columns);
    return KN_OK;
}

static bool try_witnesses(const kn_freq *freq, const kn_borders_options *o)
{
    if (o->budget > 0 || freq->layout.columns <= FEW_COLUMNS) return false;
    int64_t witnesses = 0;
    for (int64_t i = 0; i < freq->classes; i++) witnesses += freq->counts[i] < o->k;
    return witnesses <= freq->classes / WITNESS_SHARE &&
           (double)witnesses * (double)freq->classes * freq->layout.words <= most_scanned;
}

/* ---- Proving what an unfinished search found ---- */

/* Does a set hold? The refiner is left empty. */
static kn_status holds(kn_refiner *r, const uint64_t *set, int columns, bool *out, kn_error *err)
{
    *out = r->risk[0] <= r->allowed;
    for (int c = 0; c < columns && *out; c++)
        if (kn_bitset_test(set, (size_t)c)) KN_TRY(kn_refiner_push(r, c, out, err));
    kn_refiner_pop(r, 0);
    return KN_OK;
}

static kn_status is_minimal(kn_refiner *r, uint64_t *set, int columns, bool *out, kn_error *err)
{
    *out = true;
    for (int c = 0; c < columns && *out; c++) {
        if (!kn_bitset_test(set, (size_t)c)) continue;
        kn_bitset_clear(set, (size_t)c);
        kn_status st = holds(r, set, columns, out, err);
        kn_bitset_set(set, (size_t)c);
        KN_TRY(st);
    }
    return KN_OK;
}

/* Keeps the minimal ones of the violating sets, in the remaining time. */
static kn_status prove_minimal(kn_border_search *s, kn_error *err)
{
    kn_refiner r;
    KN_TRY(kn_refiner_init(&r, s->ctx, s->freq, s->k, s->allowed, err));
    kn_status st = KN_OK;
    int64_t   kept = 0, most = s->minimal.count < MOST_PROVEN ? s->minimal.count : MOST_PROVEN;
    for (int64_t i = 0; i < most && st == KN_OK && !kn_deadline_passed(&s->deadline); i++) {
        uint64_t *set = s->minimal.sets + i * s->words;
        bool      minimal = false;
        st = kn_cancelled(s->ctx) ? kn_fail_cancelled(err) : is_minimal(&r, set, s->columns, &minimal, err);
        if (minimal) memmove(s->minimal.sets + kept++ * s->words, set, (size_t)s->words * sizeof *set);
    }
    atomic_fetch_add(&s->evaluations, r.evaluations);
    kn_refiner_free(&r);
    s->minimal.count = kept;
    return st;
}

typedef struct prover {
    kn_border_search *search;
    kn_refiner       *refiners; /* one per worker, made when first needed */
} prover;

/* Keeps a hitting set whose complement holds: it is then maximal, as each further column completes a violating set. */
static kn_status complement_holds(void *arg, const uint64_t *set, int worker, bool *keep, kn_error *err)
{
    prover           *p = arg;
    kn_border_search *s = p->search;
    kn_refiner       *r = &p->refiners[worker];
    uint64_t          rest[MOST_COLUMNS / 64];
    if (kn_cancelled(s->ctx)) return kn_fail_cancelled(err);
    if (!r->freq) KN_TRY(kn_refiner_init(r, s->ctx, s->freq, s->k, s->allowed, err));
    for (int w = 0; w < s->words; w++) rest[w] = ~set[w];
    return holds(r, rest, s->columns, keep, err);
}

/* ---- Witnesses first, then the other border ---- */

/* The maximal sets' complements are the minimal hitting sets of the minimal violating sets. */
static kn_status find_maximal(kn_border_search *s, bool proven, bool *all, kn_error *err)
{
    int                threads = kn_context_threads(s->ctx);
    prover             p = {s, NULL};
    kn_dualize_options o = {.max_size = -1, .max_sets = s->max_sets, .deadline = &s->deadline};
    if (!proven) {
        p.refiners = kn_alloc_array_zero(s->ctx, (size_t)threads, sizeof *p.refiners);
        if (!p.refiners) return kn_fail_memory(err, s->ctx, WHAT);
        o.keep = complement_holds;
        o.keep_arg = &p;
    }
    kn_status st = kn_dualize(&s->edges, all, s->ctx, &s->minimal, s->columns, &o, err);
    for (int i = 0; p.refiners && i < threads; i++) {
        atomic_fetch_add(&s->evaluations, p.refiners[i].evaluations);
        kn_refiner_free(&p.refiners[i]);
    }
    kn_free(p.refiners);
    return st;
}

/* Time is shared: `spend` of the limit for the witnesses, the rest for proofs and the other border. *done is false if
 * not all witnesses were examined and nothing is proven yet. */
static kn_status by_witnesses(kn_borders *out, kn_border_search *s, double time_limit, bool give_up, bool *done,
                              kn_error *err)
{
    kn_deadline whole;
    kn_deadline_start(&whole, time_limit);
    kn_deadline_start(&s->deadline, time_limit * (give_up ? 0.3 : 0.5));
    s->max_looks = give_up ? MOST_LOOKS : INT64_MAX;
    out->method = KN_BORDERS_WITNESS;
    KN_TRY(kn_borders_by_witnesses(s, err));
    bool all = true, listed = !s->late && !s->full;
    *done = listed || !give_up;
    if (!*done) return KN_OK;
    s->deadline.end_ns = whole.end_ns;
    atomic_store(&s->deadline.passed, false);
    if (!listed) KN_TRY(prove_minimal(s, err));
    out->minimal_complete = listed && !s->cut;
    out->minimal_up_to = !listed ? 0 : s->cut ? s->max_size : s->columns;
    KN_TRY(find_maximal(s, out->minimal_complete, &all, err));
    out->maximal_complete = out->minimal_complete && all;
    if (kn_deadline_passed(&s->deadline)) s->late = true;
    if (out->minimal_complete && !all && !s->late) s->full = true;
    return KN_OK;
}

static kn_status by_advancing(kn_borders *out, kn_border_search *s, double time_limit, kn_error *err)
{
    kn_deadline_start(&s->deadline, time_limit);
    out->method = KN_BORDERS_ADVANCE;
    KN_TRY(kn_borders_by_advance(s, err));
    bool listed = !s->late && !s->full;
    out->minimal_complete = out->maximal_complete = listed && !s->cut;
    out->minimal_up_to = !listed ? 0 : s->cut ? s->max_size : s->columns;
    if (s->minimal.count > s->max_sets) s->minimal.count = s->max_sets;
    if (s->edges.count > s->max_sets) s->edges.count = s->max_sets;
    return KN_OK;
}

/* ---- The answer ---- */

static void complement_all(kn_border_search *s)
{
    for (int64_t i = 0; i < s->edges.count; i++) {
        uint64_t *set = s->edges.sets + i * s->words;
        for (int w = 0; w < s->words; w++) {
            int columns = s->columns - w * 64;
            set[w] = ~set[w] & (columns >= 64 ? UINT64_MAX : columns > 0 ? ((uint64_t)1 << columns) - 1 : 0);
        }
    }
}

static void hand_over(kn_attribute_sets *to, kn_set_list *from)
{
    *to = (kn_attribute_sets){from->words, from->count, from->sets};
    *from = (kn_set_list){.ctx = from->ctx, .words = from->words};
}

static kn_status finish(kn_borders *out, kn_border_search *s, kn_error *err)
{
    complement_all(s);
    KN_TRY(kn_set_list_sort(&s->minimal, err));
    KN_TRY(kn_set_list_sort(&s->edges, err));
    out->complete = out->maximal_complete && out->minimal_complete;
    out->evaluations = atomic_load(&s->evaluations);
    out->why_partial = out->complete ? NULL : s->late ? partial_late : s->full ? partial_full : partial_size;
    hand_over(&out->minimal_violating, &s->minimal);
    hand_over(&out->maximal, &s->edges);
    return KN_OK;
}

/* Nothing holds, or everything does: one set is the answer. true: answered. */
static kn_status answer_at_once(kn_borders *out, kn_border_search *s, bool *answered, kn_error *err)
{
    uint64_t       none[MOST_COLUMNS / 64] = {0};
    const kn_freq *freq = s->freq;
    int64_t        light = 0; /* rows that can be at risk */
    for (int64_t i = 0; i < freq->classes; i++) light += freq->counts[i] < s->k ? freq->counts[i] : 0;
    bool nothing = freq->rows > 0 && freq->rows < s->k;
    bool everything = freq->rows == 0 || light <= s->allowed;
    *answered = nothing || everything;
    if (!*answered) return KN_OK;
    out->minimal_complete = out->maximal_complete = true;
    out->minimal_up_to = s->columns;
    return kn_set_list_add(nothing ? &s->minimal : &s->edges, none) ? KN_OK : kn_fail_memory(err, s->ctx, WHAT);
}

static kn_status search(kn_borders *out, kn_border_search *s, const kn_borders_options *o, kn_error *err)
{
    double left = o->time_limit;
    bool   given = o->method == KN_BORDERS_WITNESS, done = false;
    if (given || (o->method == KN_BORDERS_AUTO && try_witnesses(s->freq, o))) {
        KN_TRY(by_witnesses(out, s, o->time_limit, !given, &done, err));
        if (done) return KN_OK;
        /* Sets that single rows have in great numbers: from both sides, then. */
        s->minimal.count = 0;
        s->cut = s->late = s->full = false;
        left *= 0.7;
    }
    return by_advancing(out, s, left, err);
}

static kn_status find(kn_borders *out, kn_border_search *s, const kn_borders_options *o, kn_error *err)
{
    bool answered = false;
    KN_TRY(answer_at_once(out, s, &answered, err));
    if (!answered) KN_TRY(search(out, s, o, err));
    return finish(out, s, err);
}

kn_status kn_borders_find(kn_borders *out, kn_context *ctx, const kn_freq *freq, const kn_borders_options *options,
                          kn_error *err)
{
    *out = (kn_borders){0};
    KN_TRY(check(freq, options, err));
    int              columns = freq->layout.columns;
    int              words = columns > 0 ? (int)kn_bitset_words((size_t)columns) : 1;
    kn_border_search s = {.ctx = ctx, .freq = freq, .k = options->k, .columns = columns, .words = words};
    s.allowed = options->budget < freq->rows ? options->budget : freq->rows - 1;
    s.max_size = options->max_size > 0 ? options->max_size : -1;
    s.max_sets = options->max_sets > 0 ? options->max_sets : DEFAULT_SETS;
    kn_set_list_init(&s.minimal, ctx, words);
    kn_set_list_init(&s.edges, ctx, words);
    kn_status st = find(out, &s, options, err);
    kn_set_list_free(&s.minimal);
    kn_set_list_free(&s.edges);
    if (st != KN_OK) kn_borders_free(out);
    return st;
}

void kn_borders_free(kn_borders *borders)
{
    KN_FREE(borders->maximal.sets, borders->minimal_violating.sets);
    *borders = (kn_borders){0};
}
