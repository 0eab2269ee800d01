/* kn_sets.h: lists of sets of columns, and a trie that answers "is one of them inside this set?".
 *
 * A set is a bitset of `words` 64-bit words (kn_bitset.h). Lists and tries belong to one thread while they change and
 * may be read by any number of threads afterwards.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_SETS_H
#define KN_SETS_H

#include <kanon/context.h>

typedef struct kn_set_list {
    kn_context *ctx;
    int         words;
    int64_t     count;
    size_t      capacity; /* in words */
    uint64_t   *sets;     /* count × words */
} kn_set_list;

void kn_set_list_init(kn_set_list *list, kn_context *ctx, int words);
void kn_set_list_free(kn_set_list *list); /* the list may be used again */

/* Appends; false: out of memory, nothing changed. */
KN_CHECK bool kn_set_list_add(kn_set_list *list, const uint64_t *set);
KN_CHECK bool kn_set_list_add_all(kn_set_list *list, const kn_set_list *more, int64_t most);

static inline const uint64_t *kn_set_list_get(const kn_set_list *list, int64_t i)
{
    return list->sets + i * list->words;
}

/* Sorts, smaller sets first, those of one size as sequences of ascending columns: {7}, {0,1}, {0,2}, {1,2}; drops repetitions. */
KN_CHECK kn_status kn_set_list_sort(kn_set_list *list, kn_error *err);

/* Keeps only the sets that contain no other one of the list; leaves it sorted. */
KN_CHECK kn_status kn_set_list_minimize(kn_set_list *list, kn_error *err);

/* One node per distinct prefix of the sets written in ascending order; siblings are linked. */
typedef struct kn_set_trie {
    kn_context              *ctx;
    int                      words;
    int64_t                  count;
    size_t                   capacity;
    struct kn_set_trie_node *nodes; /* the first is the root, made by the first insertion */
} kn_set_trie;

void kn_set_trie_init(kn_set_trie *trie, kn_context *ctx, int words);
void kn_set_trie_free(kn_set_trie *trie);

KN_CHECK bool kn_set_trie_add(kn_set_trie *trie, const uint64_t *set); /* false: out of memory */

/* Is some set of the trie a subset of `set` (or equal to it)? At most min(2^|set|, nodes) steps. */
bool kn_set_trie_has_subset(const kn_set_trie *trie, const uint64_t *set);

#endif
