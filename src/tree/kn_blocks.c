/* kn_blocks.c: rows side by side.
 *
 * Interface: kn_blocks.h. A block with all its sets stays within BLOCK_BYTES, so that it is read from near memory. Cost: one
 * step per row and relation; one to clear a set.
 */
#include "kn_blocks.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_candidate.h"
#include "kn_error.h"

#define WHAT "counting combinations"

enum { BLOCK_BYTES = 1 << 20, FEWEST_WORDS = 8, MOST_WORDS = 128 };

static kn_status no_memory(const kn_candidate *c, kn_error *err)
{
    return kn_fail_memory(err, c->ctx, WHAT);
}

void kn_blocks_free(kn_blocks *b)
{
    kn_free(b->relation_of);
    kn_free(b->ends);
    kn_free(b->neighbours);
    kn_free(b->of_node[0]);
    kn_free(b->of_node[1]);
    kn_free(b->differs);
    kn_free(b->sets);
}

/* ---- Relations ---- */

kn_status kn_blocks_clear(kn_blocks *b, kn_candidate *c, kn_error *err)
{
    size_t pairs = (size_t)c->places * c->places;
    b->c = c;
    b->relations = 0;
    if (!kn_grow(c->ctx, (void **)&b->relation_of, &b->relation_of_capacity, pairs + 1, sizeof *b->relation_of))
        return no_memory(c, err);
    memset(b->relation_of, 0, pairs * sizeof *b->relation_of);
    return KN_OK;
}

static bool number_pair(kn_blocks *b, uint32_t above, uint32_t below, uint32_t *number)
{
    uint32_t *known = &b->relation_of[(size_t)above * b->c->places + below];
    if (*known == 0) {
        if (!kn_grow(b->c->ctx, (void **)&b->ends, &b->ends_capacity, 2 * ((size_t)b->relations + 1), sizeof *b->ends))
            return false;
        b->ends[2 * b->relations] = above;
        b->ends[2 * b->relations + 1] = below;
        *known = ++b->relations;
    }
    *number = *known - 1;
    return true;
}

static bool relate_node(kn_blocks *b, const uint32_t *path, bool old_only, uint32_t *out)
{
    const kn_candidate *c = b->c;
    uint32_t            last = path[0], value = path[last];
    if (old_only && (value == c->specialized || kn_is_new(c, value))) return true;
    for (uint32_t j = 1; j < last; j++) {
        if (old_only && (path[j] == c->specialized || kn_is_new(c, path[j]))) continue;
        if (!number_pair(b, c->place_of[path[j]], c->place_of[value], &out[++out[0]])) return false;
    }
    return true;
}

kn_status kn_blocks_relate(kn_blocks *b, int way, const uint32_t *paths, bool old_only, kn_error *err)
{
    const kn_candidate *c = b->c;
    bool                theirs = old_only && way == 1;
    size_t              need = ((size_t)c->nodes + 1) * c->stride; /* a node and those above it are at most as many */
    if (!kn_grow(c->ctx, (void **)&b->of_node[way], &b->of_node_capacity[way], need, sizeof *b->of_node[way]))
        return no_memory(c, err);
    for (uint32_t i = 0; i < c->nodes; i++) {
        uint32_t *out = b->of_node[way] + i * c->stride, at = i;
        out[0] = 0;
        if (i < c->old_nodes && c->gone[i]) continue;
        if (theirs && i >= c->old_nodes) at = c->was[i - c->old_nodes];
        if (!relate_node(b, paths + at * c->stride, old_only, out)) return no_memory(c, err);
    }
    return KN_OK;
}

/* For each place the relations it is an end of: (the other end, the relation). */
static bool link_neighbours(kn_blocks *b)
{
    size_t starts = (size_t)b->c->places + 2, need = starts + 4 * (size_t)b->relations;
    if (!kn_grow(b->c->ctx, (void **)&b->neighbours, &b->neighbours_capacity, need, sizeof *b->neighbours))
        return false;
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

static void clear_block(kn_blocks *b)
{
    size_t sets = b->c->places + (size_t)b->relations * (b->then ? 2 : 1);
    memset(b->values, 0, sets * b->words * sizeof *b->values);
    b->used = 0;
}

/* Where the sets of each node begin, in place of their numbers. In way 0 that of its value, too. */
static void place_sets(kn_blocks *b, int way)
{
    const kn_candidate *c = b->c;
    size_t              first = c->places + (way ? b->relations : 0);
    for (uint32_t i = 0; i < c->nodes; i++) {
        uint32_t *sets = b->of_node[way] + i * c->stride;
        for (uint32_t j = 1; j <= sets[0]; j++) sets[j] = (uint32_t)((sets[j] + first) * b->words);
        if (way == 0 && !(i < c->old_nodes && c->gone[i]))
            sets[++sets[0]] = (uint32_t)(c->place_of[c->value[i]] * b->words);
    }
}

kn_status kn_blocks_begin(kn_blocks *b, size_t rows, bool two, void (*count)(kn_blocks *, size_t), kn_error *err)
{
    kn_candidate *c = b->c;
    size_t        relations = b->relations, sets = c->places + relations * (two ? 2 : 1) + 1;
    size_t        words = BLOCK_BYTES / sizeof *b->sets / sets;
    if (words > MOST_WORDS) words = MOST_WORDS;
    if (words > (rows + 63) / 64) words = (rows + 63) / 64; /* they may weigh more, and then take several blocks */
    b->words = words < FEWEST_WORDS ? FEWEST_WORDS : words / FEWEST_WORDS * FEWEST_WORDS;
    b->count = count;
    if (!link_neighbours(b) ||
        !kn_grow(c->ctx, (void **)&b->differs, &b->differs_capacity, 2 * relations + 1, sizeof *b->differs) ||
        !kn_grow(c->ctx, (void **)&b->sets, &b->sets_capacity, sets * b->words, sizeof *b->sets))
        return no_memory(c, err);
    b->present = b->differs + relations;
    b->values = b->sets;
    b->now = b->values + c->places * b->words;
    b->then = two ? b->now + relations * b->words : NULL;
    place_sets(b, 0);
    if (two) place_sets(b, 1);
    clear_block(b);
    return KN_OK;
}

/* Which relations are there at all, and which are not as they were. */
static void compare_ways(kn_blocks *b, size_t words)
{
    for (uint32_t r = 0; r < b->relations; r++) {
        const uint64_t *now = kn_blocks_set(b, b->now, r), *then = b->then ? kn_blocks_set(b, b->then, r) : now;
        uint64_t        some = 0, other = 0;
        for (size_t i = 0; i < words; i++) {
            some |= now[i] | then[i];
            other |= now[i] ^ then[i];
        }
        b->present[r] = some != 0;
        b->differs[r] = other != 0;
    }
}

void kn_blocks_end(kn_blocks *b)
{
    size_t words = (b->used + 63) / 64;
    if (words == 0) return;
    compare_ways(b, words);
    b->count(b, words);
    clear_block(b);
}

/* One row, in one place. */
static void put_once(kn_blocks *b, const uint32_t *nodes, uint32_t size)
{
    size_t          stride = b->c->stride;
    uint64_t       *word = b->sets + b->used / 64, bit = (uint64_t)1 << b->used % 64;
    const uint32_t *now = b->of_node[0], *then = b->of_node[1];
    for (uint32_t i = 0; i < size; i++) {
        const uint32_t *sets = now + nodes[i] * stride, *end = sets + *sets;
        while (sets < end) word[*++sets] |= bit;
    }
    for (uint32_t i = 0; b->then && i < size; i++) {
        const uint32_t *sets = then + nodes[i] * stride, *end = sets + *sets;
        while (sets < end) word[*++sets] |= bit;
    }
}

void kn_blocks_put(kn_blocks *b, const uint32_t *nodes, uint32_t size, int32_t weight)
{
    for (; weight > 0; weight--) {
        put_once(b, nodes, size);
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
