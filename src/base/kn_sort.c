/* kn_sort.c: quicksort with a heapsort guard; large inputs are first cut into parts that are sorted side by side.
 *
 * Cost: O(n log n) comparisons, no memory beyond the list of parts. Partitioning by the median of three (of nine for
 * large parts); a part whose recursion goes too deep is heap-sorted, so hostile input costs n log n too.
 */
#include "kn_sort.h"

#include "kn_error.h"
#include "kn_parallel.h"

typedef struct order {
    kn_sort_tie_fn tie;
    const void    *arg;
} order;

enum { INSERTION = 16, PARTS = 64, PARALLEL_FROM = 1 << 15 };

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

typedef struct part {
    kn_sort_record *records;
    size_t          count;
} part;

typedef struct parts {
    const order *order;
    part         list[PARTS];
    int          count;
} parts;

static kn_status sort_parts(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    (void)err;
    parts *p = arg;
    for (int64_t i = begin; i < end; i++)
        quick_sort(p->order, p->list[i].records, p->list[i].count, depth_limit(p->list[i].count));
    return KN_OK;
}

kn_status kn_sort_records(kn_context *ctx, kn_sort_record *records, size_t count, kn_sort_tie_fn tie, const void *arg,
                          kn_error *err)
{
    order o = {tie, arg};
    if (kn_context_threads(ctx) == 1 || count < PARALLEL_FROM) {
        quick_sort(&o, records, count, depth_limit(count));
        return KN_OK;
    }
    parts p = {.order = &o, .list = {{records, count}}, .count = 1};
    while (p.count < PARTS) {
        int largest = 0;
        for (int i = 1; i < p.count; i++)
            if (p.list[i].count > p.list[largest].count) largest = i;
        part *from = &p.list[largest];
        if (from->count < PARALLEL_FROM / 4) break;
        size_t left = partition(&o, from->records, from->count);
        p.list[p.count++] = (part){from->records + left, from->count - left};
        from->count = left;
    }
    return kn_parallel_for(ctx, p.count, 1, sort_parts, &p, err);
}
