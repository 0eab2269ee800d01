/* kn_sets.c: lists of sets of columns (kn_sets.h).
 *
 * Cost: adding is amortized constant, sorting n log n comparisons of a few words, minimizing one trie query per set
 * (smaller sets go in first, so a set that finds none of its subsets is minimal).
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_sets.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_bitset.h"
#include "kn_error.h"
#include "kn_sort.h"

void kn_set_list_init(kn_set_list *list, kn_context *ctx, int words)
{
    *list = (kn_set_list){.ctx = ctx, .words = words};
}

void kn_set_list_free(kn_set_list *list)
{
    kn_free(list->sets);
    kn_set_list_init(list, list->ctx, list->words);
}

static bool reserve(kn_set_list *list, int64_t more)
{
    return KN_GROW(list->ctx, &list->sets, &list->capacity, (size_t)(list->count + more) * (size_t)list->words);
}

bool kn_set_list_add(kn_set_list *list, const uint64_t *set)
{
    if (!reserve(list, 1)) return false;
    memcpy(list->sets + list->count * list->words, set, (size_t)list->words * sizeof *set);
    list->count++;
    return true;
}

bool kn_set_list_add_all(kn_set_list *list, const kn_set_list *more, int64_t most)
{
    int64_t count = more->count < most ? more->count : most;
    if (count <= 0) return true;
    if (!reserve(list, count)) return false;
    memcpy(list->sets + list->count * list->words, more->sets,
           (size_t)count * (size_t)list->words * sizeof *list->sets);
    list->count += count;
    return true;
}

static int compare_members(const uint64_t *a, const uint64_t *b, int words)
{
    for (int i = 0; i < words; i++) {
        uint64_t x = a[i] ^ b[i];
        if (x) return a[i] & x & (~x + 1) ? -1 : 1; /* the lowest column that only one of them has */
    }
    return 0;
}

static int tie(const void *arg, uint64_t a, uint64_t b)
{
    const kn_set_list *list = arg;
    int c = compare_members(kn_set_list_get(list, (int64_t)a), kn_set_list_get(list, (int64_t)b), list->words);
    return c ? c : (a > b) - (a < b);
}

kn_status kn_set_list_sort(kn_set_list *list, kn_error *err)
{
    if (list->count < 2) return KN_OK;
    size_t          n = (size_t)list->count, words = (size_t)list->words;
    kn_sort_record *order = kn_alloc_array(list->ctx, n, sizeof *order);
    uint64_t       *sorted = kn_alloc_array(list->ctx, n * words, sizeof *sorted);
    kn_status       st = order && sorted ? KN_OK : kn_fail_memory(err, list->ctx, "sorting sets of columns");
    if (st == KN_OK) {
        for (size_t i = 0; i < n; i++) order[i] = (kn_sort_record){kn_bitset_count(list->sets + i * words, words), i};
        st = kn_sort_records(list->ctx, order, n, tie, list, err);
    }
    if (st != KN_OK) {
        KN_FREE(order, sorted);
        return st;
    }
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t *set = list->sets + order[i].id * words;
        if (kept && memcmp(sorted + (kept - 1) * words, set, words * sizeof *set) == 0) continue;
        memcpy(sorted + kept++ * words, set, words * sizeof *set);
    }
    KN_FREE(order, list->sets);
    list->sets = sorted;
    list->capacity = n * words;
    list->count = (int64_t)kept;
    return KN_OK;
}

kn_status kn_set_list_minimize(kn_set_list *list, kn_error *err)
{
    KN_TRY(kn_set_list_sort(list, err));
    kn_set_trie trie;
    kn_set_trie_init(&trie, list->ctx, list->words);
    size_t  words = (size_t)list->words;
    int64_t kept = 0;
    for (int64_t i = 0; i < list->count; i++) {
        const uint64_t *set = kn_set_list_get(list, i);
        if (kn_set_trie_has_subset(&trie, set)) continue;
        if (!kn_set_trie_add(&trie, set)) {
            kn_set_trie_free(&trie);
            return kn_fail_memory(err, list->ctx, "comparing sets of columns");
        }
        memmove(list->sets + (size_t)kept++ * words, set, words * sizeof *set);
    }
    list->count = kept;
    kn_set_trie_free(&trie);
    return KN_OK;
}

/* ---- The trie ---- */

typedef struct kn_set_trie_node {
    int32_t  child, sibling; /* 0: none (the root is nobody's child) */
    uint16_t column;
    bool     end; /* a set ends here; nothing below it is ever needed */
} node;

void kn_set_trie_init(kn_set_trie *trie, kn_context *ctx, int words)
{
    *trie = (kn_set_trie){.ctx = ctx, .words = words};
}

void kn_set_trie_free(kn_set_trie *trie)
{
    kn_free(trie->nodes);
    kn_set_trie_init(trie, trie->ctx, trie->words);
}

static int32_t new_node(kn_set_trie *trie, int column)
{
    if (trie->count >= INT32_MAX) return -1;
    if (!KN_GROW(trie->ctx, &trie->nodes, &trie->capacity, (size_t)trie->count + 1)) return -1;
    trie->nodes[trie->count] = (node){0, 0, (uint16_t)column, false};
    return (int32_t)trie->count++;
}

static int32_t child_of(kn_set_trie *trie, int32_t parent, int column)
{
    int32_t child = trie->nodes[parent].child;
    while (child && trie->nodes[child].column != column) child = trie->nodes[child].sibling;
    if (child) return child;
    child = new_node(trie, column);
    if (child < 0) return child;
    trie->nodes[child].sibling = trie->nodes[parent].child;
    trie->nodes[parent].child = child;
    return child;
}

bool kn_set_trie_add(kn_set_trie *trie, const uint64_t *set)
{
    if (trie->count == 0 && new_node(trie, 0) < 0) return false;
    int32_t at = 0;
    for (int w = 0; w < trie->words; w++)
        for (uint64_t rest = set[w]; rest; rest &= rest - 1) {
            at = child_of(trie, at, w * 64 + __builtin_ctzll(rest));
            if (at < 0) return false;
        }
    trie->nodes[at].end = true;
    return true;
}

static bool subset_below(const node *nodes, int32_t at, const uint64_t *set)
{
    if (nodes[at].end) return true;
    for (int32_t child = nodes[at].child; child; child = nodes[child].sibling)
        if (kn_bitset_test(set, nodes[child].column) && subset_below(nodes, child, set)) return true;
    return false;
}

bool kn_set_trie_has_subset(const kn_set_trie *trie, const uint64_t *set)
{
    return trie->count > 0 && subset_below(trie->nodes, 0, set);
}
