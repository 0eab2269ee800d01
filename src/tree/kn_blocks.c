/* kn_blocks.c: rows side by side.
 *
 * Interface: kn_blocks.h. A block with all its sets stays within BLOCK_BYTES, so that it stays in the cache. Cost: one
 * step per row and relation; one to clear a set.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_blocks.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_candidate.h"
#include "kn_error.h"

#define WHAT "counting combinations"

enum { BLOCK_BYTES = 1 << 19, FEWEST_WORDS = KN_BLOCK_LANES, MOST_WORDS = 128 };

void kn_blocks_free(kn_blocks *b)
{
    KN_FREE(b->relation_of, b->ends, b->neighbours, b->of_node, b->differs, b->sets);
}

/* ---- Relations ---- */

static bool number_pair(kn_blocks *b, uint32_t above, uint32_t below, uint32_t *number)
{
    uint32_t *known = &b->relation_of[(size_t)above * b->c->places + below];
    if (*known == 0) {
        if (!KN_GROW(b->c->ctx, &b->ends, &b->ends_capacity, 2 * ((size_t)b->relations + 1))) return false;
        b->ends[2 * b->relations] = above;
        b->ends[2 * b->relations + 1] = below;
        *known = ++b->relations;
    }
    *number = *known - 1;
    return true;
}

/* A node's relations by one of its paths. The set that a relation goes into depends on how many relations stand
 * before it in the list of all sets, which is not known yet, so its kind is kept with its number. */
enum { SAME, NOW, THEN, WAYS };

static bool relate_node(kn_blocks *b, const uint32_t *path, bool old_only, uint32_t way, uint32_t *out)
{
    const kn_candidate *c = b->c;
    uint32_t            last = path[0], value = path[last];
    if (old_only && (value == c->specialized || kn_is_new(c, value))) return true;
    for (uint32_t j = 1; j < last; j++) {
        uint32_t number;
        if (old_only && (path[j] == c->specialized || kn_is_new(c, path[j]))) continue;
        if (!number_pair(b, c->place_of[path[j]], c->place_of[value], &number)) return false;
        out[++out[0]] = number * WAYS + way;
    }
    return true;
}

static kn_status relate(kn_blocks *b, const kn_blocks_ways *w, kn_error *err)
{
    const kn_candidate *c = b->c;
    size_t              pairs = (size_t)c->places * c->places, stride = 2 * c->stride;
    b->relations = 0;
    if (!KN_GROW(c->ctx, &b->relation_of, &b->relation_of_capacity, pairs + 1) ||
        !KN_GROW(c->ctx, &b->of_node, &b->of_node_capacity, ((size_t)c->nodes + 1) * stride))
        return kn_fail_memory(err, c->ctx, WHAT);
    memset(b->relation_of, 0, pairs * sizeof *b->relation_of);
    for (uint32_t i = 0; i < c->nodes; i++) {
        uint32_t *out = b->of_node + i * stride, then = i;
        bool      two = w->then && w->differs[i];
        out[0] = 0;
        if (i < c->old_nodes && c->gone[i]) continue;
        if (w->old_only && i >= c->old_nodes) then = c->was[i - c->old_nodes];
        if (!relate_node(b, w->now + i * c->stride, w->old_only, two ? NOW : SAME, out) ||
            (two && !relate_node(b, w->then + then * c->stride, w->old_only, THEN, out)))
            return kn_fail_memory(err, c->ctx, WHAT);
    }
    return KN_OK;
}

/* For each place the relations it is an end of: (the other end, the relation). */
static bool link_neighbours(kn_blocks *b)
{
    size_t starts = (size_t)b->c->places + 2, need = starts + 4 * (size_t)b->relations;
    if (!KN_GROW(b->c->ctx, &b->neighbours, &b->neighbours_capacity, need)) return false;
    uint32_t *start = b->neighbours, *list = b->neighbours + starts;
    memset(start, 0, starts * sizeof *start);
    for (uint32_t i = 0; i < 2 * b->relations; i++) start[b->ends[i] + 2]++;
    for (uint32_t i = 1; i < b->c->places; i++) start[i + 1] += start[i];
    for (uint32_t i = 0; i < 2 * b->relations; i++) {
        uint32_t at = 2 * start[b->ends[i] + 1]++;
        list[at] = b->ends[i ^ 1];
        list[at + 1] = i / 2;
    }
    return true;
}

/* ---- Rows ---- */

static size_t sets_of(const kn_blocks *b)
{
    return b->c->places + (size_t)b->relations * (b->then ? WAYS : 1);
}

static void clear_block(kn_blocks *b)
{
    memset(b->sets, 0, sets_of(b) * b->words * sizeof *b->sets);
    b->used = 0;
}

/* Where the sets of each node begin, in place of their numbers; that of its value, too. */
static void place_sets(kn_blocks *b)
{
    const kn_candidate *c = b->c;
    uint64_t           *of[WAYS] = {[SAME] = b->now, [NOW] = b->only_now, [THEN] = b->then};
    for (uint32_t i = 0; i < c->nodes; i++) {
        uint32_t *sets = b->of_node + i * 2 * c->stride;
        if (i < c->old_nodes && c->gone[i]) continue;
        for (uint32_t j = 1; j <= sets[0]; j++)
            sets[j] = (uint32_t)(of[sets[j] % WAYS] - b->sets + (ptrdiff_t)(sets[j] / WAYS * b->words));
        sets[++sets[0]] = (uint32_t)(c->place_of[c->value[i]] * b->words);
    }
}

kn_status kn_blocks_begin(kn_blocks *b, kn_candidate *c, const kn_blocks_ways *ways, size_t rows,
                          void (*count)(kn_blocks *, size_t), kn_error *err)
{
    b->c = c;
    b->count = count;
    KN_TRY(relate(b, ways, err));
    size_t relations = b->relations, sets = c->places + relations * (ways->then ? WAYS : 1);
    size_t words = BLOCK_BYTES / sizeof *b->sets / (sets + 1);
    if (words > MOST_WORDS) words = MOST_WORDS;
    if (words > (rows + 63) / 64) words = (rows + 63) / 64; /* rows of larger weights take several blocks */
    b->words = words < FEWEST_WORDS ? FEWEST_WORDS : words / FEWEST_WORDS * FEWEST_WORDS;
    if (!link_neighbours(b) || !KN_GROW(c->ctx, &b->differs, &b->differs_capacity, 2 * relations + 1) ||
        !KN_GROW(c->ctx, &b->sets, &b->sets_capacity, sets * b->words))
        return kn_fail_memory(err, c->ctx, WHAT);
    b->present = b->differs + relations;
    b->values = b->sets;
    b->now = b->values + c->places * b->words;
    b->then = ways->then ? b->now + relations * b->words : NULL;
    b->only_now = ways->then ? b->then + relations * b->words : NULL;
    place_sets(b);
    clear_block(b);
    return KN_OK;
}

/* Which relations occur, and which have changed. What is the same in both versions was added only once. */
static void compare_ways(kn_blocks *b, size_t words)
{
    for (uint32_t r = 0; r < b->relations; r++) {
        uint64_t *now = b->now + r * b->words, some = 0, other = 0;
        for (size_t i = 0; !b->then && i < words; i++) some |= now[i];
        for (size_t i = 0; b->then && i < words; i++) {
            uint64_t *then = b->then + r * b->words, *only = b->only_now + r * b->words;
            then[i] |= now[i];
            now[i] |= only[i];
            some |= now[i] | then[i];
            other |= now[i] ^ then[i];
        }
        b->present[r] = some != 0;
        b->differs[r] = other != 0;
    }
}

void kn_blocks_end(kn_blocks *b)
{
    size_t words = kn_block_words(b->used);
    if (words == 0) return;
    compare_ways(b, words);
    b->count(b, words);
    clear_block(b);
}

/* The sets that a node is put into. */
static inline void put_node(const kn_blocks *b, uint64_t *word, uint64_t bit, size_t node)
{
    const uint32_t *sets = b->of_node + node * 2 * b->c->stride, *end = sets + *sets;
    while (sets < end) word[*++sets] |= bit;
}

void kn_blocks_put(kn_blocks *b, const uint32_t *nodes, uint32_t size, int32_t weight)
{
    for (; weight > 0; weight--) {
        uint64_t *word = b->sets + kn_block_word(b->used), bit = kn_block_bit(b->used);
        for (uint32_t i = 0; i < size; i++) put_node(b, word, bit, nodes[i]);
        if (++b->used == b->words * 64) kn_blocks_end(b);
    }
}

void kn_blocks_put_row(kn_blocks *b, uint32_t row)
{
    const kn_candidate *c = b->c;
    uint32_t            from = c->row_start[row], size = c->row_start[row + 1] - from;
    int32_t             weight = kn_row_weight(c, row);
    if (!c->narrow) {
        kn_blocks_put(b, c->wide_nodes + from, size, weight);
        return;
    }
    for (const uint16_t *nodes = c->narrow_nodes + from; weight > 0; weight--) {
        uint64_t *word = b->sets + kn_block_word(b->used), bit = kn_block_bit(b->used);
        for (uint32_t i = 0; i < size; i++) put_node(b, word, bit, nodes[i]);
        if (++b->used == b->words * 64) kn_blocks_end(b);
    }
}

int32_t kn_blocks_more(const kn_blocks *b, uint32_t one, uint32_t other, size_t words)
{
    int32_t now = (int32_t)kn_blocks_common(b, b->now, one, other, words);
    return b->then ? now - (int32_t)kn_blocks_common(b, b->then, one, other, words) : now;
}

int32_t kn_blocks_more_with(const kn_blocks *b, uint32_t relation, uint32_t place, size_t words)
{
    const uint64_t *value = kn_blocks_set(b, b->values, place);
    int32_t         now = (int32_t)b->common(kn_blocks_set(b, b->now, relation), value, words);
    return b->then ? now - (int32_t)b->common(kn_blocks_set(b, b->then, relation), value, words) : now;
}
