/* kn_sort.c: radix sort by key, quicksort for small inputs and for equal keys.
 *
 * Large inputs are scattered by the highest 8 bits in use into 256 parts, in parallel; each part is then sorted by its
 * lower digits while it is in the cache. Records with equal keys are put in order by the tie function. Quicksort takes
 * the median of three (of nine when large) and turns to heapsort when it goes too deep, so hostile input costs n log n.
 *
 * Cost: O(n × bytes of the key in use) + the ties; memory for a second copy of the records (without it: quicksort).
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_sort.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_parallel.h"

typedef struct order {
    kn_sort_tie_fn tie;
    const void    *arg;
} order;

enum { INSERTION = 16, RADIX_FROM = 512, DIGITS = 256, CHUNK = 1 << 16 };

static inline bool less(const order *o, const kn_sort_record *a, const kn_sort_record *b)
{
    if (a->key != b->key) return a->key < b->key;
    return o->tie ? o->tie(o->arg, a->id, b->id) < 0 : a->id < b->id;
}

static inline void swap(kn_sort_record *a, kn_sort_record *b)
{
    kn_sort_record t = *a;
    *a = *b;
    *b = t;
}

static void insertion_sort(const order *o, kn_sort_record *r, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        kn_sort_record x = r[i];
        size_t         j = i;
        for (; j > 0 && less(o, &x, &r[j - 1]); j--) r[j] = r[j - 1];
        r[j] = x;
    }
}

static void sift_down(const order *o, kn_sort_record *r, size_t root, size_t n)
{
    for (;;) {
        size_t child = 2 * root + 1;
        if (child >= n) return;
        if (child + 1 < n && less(o, &r[child], &r[child + 1])) child++;
        if (!less(o, &r[root], &r[child])) return;
        swap(&r[root], &r[child]);
        root = child;
    }
}

static void heap_sort(const order *o, kn_sort_record *r, size_t n)
{
    for (size_t i = n / 2; i-- > 0;) sift_down(o, r, i, n);
    for (size_t i = n; i-- > 1;) {
        swap(&r[0], &r[i]);
        sift_down(o, r, 0, i);
    }
}

static size_t median_of_three(const order *o, const kn_sort_record *r, size_t a, size_t b, size_t c)
{
    if (less(o, &r[a], &r[b])) {
        if (less(o, &r[b], &r[c])) return b;
        return less(o, &r[a], &r[c]) ? c : a;
    }
    if (less(o, &r[a], &r[c])) return a;
    return less(o, &r[b], &r[c]) ? c : b;
}

/* Hoare's partition: [0, result) ≤ pivot ≤ [result, n), both sides non-empty. */
static size_t partition(const order *o, kn_sort_record *r, size_t n)
{
    size_t middle = n / 2;
    if (n > 1000) {
        size_t s = n / 8;
        middle = median_of_three(o, r, median_of_three(o, r, 0, s, 2 * s),
                                 median_of_three(o, r, middle - s, middle, middle + s),
                                 median_of_three(o, r, n - 1 - 2 * s, n - 1 - s, n - 1));
    } else {
        middle = median_of_three(o, r, 0, middle, n - 1);
    }
    /* The pivot goes first: then the left side never takes the whole array. */
    swap(&r[0], &r[middle]);
    kn_sort_record pivot = r[0];
    size_t         i = 0, j = n;
    for (;;) {
        do {
            j--;
        } while (less(o, &pivot, &r[j]));
        while (less(o, &r[i], &pivot)) i++;
        if (i >= j) return j + 1;
        swap(&r[i], &r[j]);
        i++;
    }
}

static void quick_sort(const order *o, kn_sort_record *r, size_t n, int depth)
{
    while (n > INSERTION) {
        if (depth-- == 0) {
            heap_sort(o, r, n);
            return;
        }
        size_t left = partition(o, r, n);
        if (left < n - left) { /* recurse into the smaller side */
            quick_sort(o, r, left, depth);
            r += left;
            n -= left;
        } else {
            quick_sort(o, r + left, n - left, depth);
            n = left;
        }
    }
    insertion_sort(o, r, n);
}

static int depth_limit(size_t n)
{
    int d = 0;
    for (; n > 1; n >>= 1) d += 2;
    return d + 4;
}

/* ---- Radix sort by key ---- */

typedef struct radix_job {
    const order    *order;
    kn_sort_record *from, *to; /* the records, and space for as many */
    size_t          count;
    int             shift; /* of the first digit: the highest 8 bits in use */
    size_t (*chunk_counts)[DIGITS];
    size_t starts[DIGITS + 1];
} radix_job;

static inline size_t digit(uint64_t key, int shift)
{
    return (size_t)(key >> shift & (DIGITS - 1));
}

static kn_status count_chunks(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    (void)err;
    radix_job *job = arg;
    size_t    *counts = job->chunk_counts[begin / CHUNK];
    for (size_t i = (size_t)begin; i < (size_t)end; i++) counts[digit(job->from[i].key, job->shift)]++;
    return KN_OK;
}

/* Each chunk knows where its records of each digit go: the scatter is stable and needs no lock. */
static kn_status scatter_chunks(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    (void)err;
    radix_job *job = arg;
    size_t    *next = job->chunk_counts[begin / CHUNK];
    for (size_t i = (size_t)begin; i < (size_t)end; i++)
        job->to[next[digit(job->from[i].key, job->shift)]++] = job->from[i];
    return KN_OK;
}

static void place_chunks(radix_job *job, size_t chunks)
{
    size_t at = 0;
    for (int d = 0; d < DIGITS; d++) {
        job->starts[d] = at;
        for (size_t c = 0; c < chunks; c++) {
            size_t n = job->chunk_counts[c][d];
            job->chunk_counts[c][d] = at;
            at += n;
        }
    }
    job->starts[DIGITS] = at;
}

/* Sorts `n` records in `a` by the bits below `bits`, lowest digit first, using `b` as scratch; the result ends in `b` if
 * `into_b`, else in `a`. */
static void sort_low_digits(kn_sort_record *a, kn_sort_record *b, size_t n, int bits, bool into_b)
{
    kn_sort_record *from = a, *to = b;
    for (int shift = 0; shift < bits; shift += 8) {
        size_t counts[DIGITS] = {0}, at = 0;
        for (size_t i = 0; i < n; i++) counts[digit(from[i].key, shift)]++;
        if (counts[digit(from[0].key, shift)] == n) continue; /* all equal: nothing to do */
        for (int d = 0; d < DIGITS; d++) {
            size_t c = counts[d];
            counts[d] = at;
            at += c;
        }
        for (size_t i = 0; i < n; i++) to[counts[digit(from[i].key, shift)]++] = from[i];
        kn_sort_record *swapped = from;
        from = to;
        to = swapped;
    }
    if ((from == b) != into_b) memcpy(into_b ? b : a, from, n * sizeof *from);
}

/* Sorts one digit's records, which are in `to`, back into `from`. */
static kn_status sort_parts(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    (void)err;
    radix_job *job = arg;
    for (int64_t d = begin; d < end; d++) {
        size_t          first = job->starts[d], n = job->starts[d + 1] - first;
        kn_sort_record *home = job->from + first;
        if (n == 0) continue;
        if (n < RADIX_FROM) {
            memcpy(home, job->to + first, n * sizeof *home);
            quick_sort(job->order, home, n, depth_limit(n));
            continue;
        }
        sort_low_digits(job->to + first, home, n, job->shift, true);
        for (size_t i = 0; i < n;) { /* equal keys: the tie decides */
            size_t j = i + 1;
            while (j < n && home[j].key == home[i].key) j++;
            if (j - i > 1) quick_sort(job->order, home + i, j - i, depth_limit(j - i));
            i = j;
        }
    }
    return KN_OK;
}

static kn_status radix_sort(kn_context *ctx, radix_job *job, kn_error *err)
{
    uint64_t highest = 0;
    for (size_t i = 0; i < job->count; i++) highest |= job->from[i].key;
    int bits = highest ? 64 - __builtin_clzll(highest) : 0;
    job->shift = bits > 8 ? bits - 8 : 0;
    size_t chunks = (job->count + CHUNK - 1) / CHUNK;
    job->chunk_counts = kn_alloc_array_zero(ctx, chunks, sizeof *job->chunk_counts);
    if (!job->chunk_counts) return kn_fail_memory(err, ctx, "sorting");
    int64_t   n = (int64_t)job->count;
    kn_status st = kn_parallel_for(ctx, n, CHUNK, count_chunks, job, err);
    if (st == KN_OK) {
        place_chunks(job, chunks);
        st = kn_parallel_for(ctx, n, CHUNK, scatter_chunks, job, err);
    }
    kn_free(job->chunk_counts);
    if (st == KN_OK) st = kn_parallel_for(ctx, DIGITS, 1, sort_parts, job, err);
    return st;
}

kn_status kn_sort_records(kn_context *ctx, kn_sort_record *records, size_t count, kn_sort_tie_fn tie, const void *arg,
                          kn_error *err)
{
    order o = {tie, arg};
    if (count < RADIX_FROM) {
        quick_sort(&o, records, count, depth_limit(count));
        return KN_OK;
    }
    radix_job job = {.order = &o, .from = records, .count = count};
    job.to = kn_alloc_array(ctx, count, sizeof *job.to);
    if (!job.to) { /* slower, but needs no memory */
        quick_sort(&o, records, count, depth_limit(count));
        return KN_OK;
    }
    kn_status st = radix_sort(ctx, &job, err);
    kn_free(job.to);
    return st;
}

/* ---- In place ---- */

typedef struct heap {
    char         *elements;
    size_t        size;
    kn_compare_fn compare;
    const void   *arg;
} heap;

/* Moves `element` down from `at` to where nothing below it is greater. */
static void sift(const heap *h, const void *element, size_t at, size_t count)
{
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        char *c = h->elements + child * h->size;
        if (child + 1 < count && h->compare(h->arg, c, c + h->size) < 0) {
            child++;
            c += h->size;
        }
        if (h->compare(h->arg, element, c) >= 0) break;
        memcpy(h->elements + at * h->size, c, h->size);
    }
    memcpy(h->elements + at * h->size, element, h->size);
}

void kn_sort_in_place(void *elements, size_t count, size_t size, kn_compare_fn compare, const void *arg)
{
    heap h = {elements, size, compare, arg};
    char moved[128];
    for (size_t i = count / 2; i-- > 0;) {
        memcpy(moved, h.elements + i * size, size);
        sift(&h, moved, i, count);
    }
    for (size_t i = count; i-- > 1;) {
        memcpy(moved, h.elements + i * size, size);
        memcpy(h.elements + i * size, h.elements, size);
        sift(&h, moved, 0, i);
    }
}
