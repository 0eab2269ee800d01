/* kn_blocks.c: rows side by side.
 *
 * Interface: kn_blocks.h. A block with all its sets stays within BLOCK_BYTES, so that it stays in the cache. 64 rows after
 * 64 are put into one word of each set, and these words stand side by side: they fit into the first cache, which the sets do
 * not. When KN_BLOCK_CHUNK rows are there, a line of each set is written. A set is an odd number of such lines long, for with a power of
 * two between the sets all would compete for a few places of the cache. Cost: one step per row and relation, for a row that
 * occurs often too, as long as it stays in one word; one per set and 64 rows.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_blocks.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_candidate.h"
#include "kn_error.h"

#define WHAT "counting combinations"

enum { BLOCK_BYTES = 1 << 19, MOST_WORDS = 15 * KN_BLOCK_LANES };

void kn_blocks_free(kn_blocks *b)
{
    KN_FREE(b->relation_of, b->ends, b->neighbours, b->of_node, b->steps, b->step_start, b->differs, b->sets, b->chunk);
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

static bool relate_node(kn_blocks *b, const kn_blocks_ways *w, const uint32_t *path, uint32_t way, uint32_t *out)
{
    const kn_candidate *c = b->c;
    uint32_t            last = path[0], value = path[last];
    if (w->old_only && (value == c->specialized || kn_is_new(c, value))) return true;
    for (uint32_t j = 1; j < last; j++) {
        uint32_t number, above = c->place_of[path[j]], below = c->place_of[value];
        if (w->old_only && (path[j] == c->specialized || kn_is_new(c, path[j]))) continue;
        if (w->fates && w->fates[(size_t)above * c->places + below] == KN_FATE_LOST) continue;
        if (!number_pair(b, above, below, &number)) return false;
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
        if (!relate_node(b, w, w->now + i * c->stride, two ? NOW : SAME, out) ||
            (two && !relate_node(b, w, w->then + then * c->stride, THEN, out)))
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

/* The numbers of the sets of each node, in place of relations; that of its value, too. */
static void place_sets(kn_blocks *b)
{
    const kn_candidate *c = b->c;
    uint32_t            of[WAYS] = {[SAME] = 0, [THEN] = b->relations, [NOW] = 2 * b->relations};
    for (uint32_t i = 0; i < c->nodes; i++) {
        uint32_t *sets = b->of_node + i * 2 * c->stride;
        if (i < c->old_nodes && c->gone[i]) continue;
        for (uint32_t j = 1; j <= sets[0]; j++) sets[j] = c->places + of[sets[j] % WAYS] + sets[j] / WAYS;
        sets[++sets[0]] = c->place_of[c->value[i]];
    }
}

/* The sets of each node in steps. The spare sets come after all others. */
static bool write_steps(kn_blocks *b)
{
    const kn_candidate *c = b->c;
    uint32_t            count = 0, spare = (uint32_t)sets_of(b);
    if (!KN_GROW(c->ctx, &b->step_start, &b->step_start_capacity, (size_t)c->nodes + 1)) return false;
    b->one_step = true;
    for (uint32_t i = 0; i < c->nodes; i++) {
        uint32_t sets = b->of_node[i * 2 * c->stride];
        b->step_start[i] = count;
        b->one_step &= sets <= KN_BLOCK_STEP;
        count += sets <= KN_BLOCK_STEP ? 1 : (sets + KN_BLOCK_STEP - 1) / KN_BLOCK_STEP;
    }
    b->step_start[c->nodes] = count;
    if (!KN_GROW(c->ctx, &b->steps, &b->steps_capacity, ((size_t)count + 1) * KN_BLOCK_STEP)) return false;
    for (uint32_t i = 0; i < c->nodes; i++) {
        const uint32_t *sets = b->of_node + i * 2 * c->stride;
        uint32_t       *to = b->steps + (size_t)b->step_start[i] * KN_BLOCK_STEP;
        uint32_t       *end = b->steps + (size_t)b->step_start[i + 1] * KN_BLOCK_STEP;
        for (uint32_t j = 1; to < end; j++) *to++ = j <= sets[0] ? sets[j] : spare + (i + j * 5) % KN_BLOCK_SPARE;
    }
    return true;
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
    words /= KN_BLOCK_LANES;
    b->words = (words < 1 ? 1 : words % 2 ? words : words - 1) * KN_BLOCK_LANES;
    if (!link_neighbours(b) || !KN_GROW(c->ctx, &b->differs, &b->differs_capacity, 2 * relations + 1) ||
        !KN_GROW(c->ctx, &b->sets, &b->sets_capacity, sets * b->words) ||
        !KN_GROW(c->ctx, &b->chunk, &b->chunk_capacity, (sets + KN_BLOCK_SPARE) * KN_BLOCK_LANES))
        return kn_fail_memory(err, c->ctx, WHAT);
    b->width = sets + KN_BLOCK_SPARE;
    b->used = 0;
    memset(b->chunk, 0, b->width * KN_BLOCK_LANES * sizeof *b->chunk);
    b->present = b->differs + relations;
    b->values = b->sets;
    b->now = b->values + c->places * b->words;
    b->then = ways->then ? b->now + relations * b->words : NULL;
    b->only_now = ways->then ? b->then + relations * b->words : NULL;
    place_sets(b);
    return write_steps(b) ? KN_OK : kn_fail_memory(err, c->ctx, WHAT);
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

/* Writes the rows of the chunk into the sets, as the line that ends with the last of them, and clears it. */
static void write_chunk(kn_blocks *b)
{
    size_t    sets = b->width - KN_BLOCK_SPARE;
    uint64_t *line = b->sets + kn_block_words(b->used) - KN_BLOCK_LANES;
    for (size_t i = 0; i < sets; i++, line += b->words)
        for (size_t j = 0; j < KN_BLOCK_LANES; j++) line[j] = b->chunk[j * b->width + i];
    memset(b->chunk, 0, b->width * KN_BLOCK_LANES * sizeof *b->chunk);
}

void kn_blocks_end(kn_blocks *b)
{
    size_t words = kn_block_words(b->used);
    if (words == 0) return;
    if (b->used % KN_BLOCK_CHUNK) write_chunk(b);
    compare_ways(b, words);
    b->count(b, words);
    b->used = 0;
}

/* Puts a node into its sets; with `one`, it takes one step. */
static inline __attribute__((always_inline)) void put_node(const kn_blocks *b, uint64_t *word, uint64_t bits,
                                                           size_t node, bool one)
{
    const uint32_t *sets = b->steps + (one ? node : b->step_start[node]) * KN_BLOCK_STEP;
    const uint32_t *end = one ? sets + KN_BLOCK_STEP : b->steps + (size_t)b->step_start[node + 1] * KN_BLOCK_STEP;
    do
        for (int i = 0; i < KN_BLOCK_STEP; i++) word[*sets++] |= bits;
    while (sets < end);
}

/* Where the nodes of a row stand. */
typedef struct row_nodes {
    const uint16_t *narrow; /* NULL: wide */
    const uint32_t *wide;
    uint32_t        size;
} row_nodes;

static void put_bits(const kn_blocks *b, const row_nodes *row, uint64_t bits)
{
    uint64_t *word = b->chunk + b->used / 64 % KN_BLOCK_LANES * b->width;
    for (uint32_t i = 0; !row->narrow && i < row->size; i++) put_node(b, word, bits, row->wide[i], false);
    for (uint32_t i = 0; row->narrow && !b->one_step && i < row->size; i++)
        put_node(b, word, bits, row->narrow[i], false);
    for (uint32_t i = 0; row->narrow && b->one_step && i < row->size; i++) {
        __builtin_prefetch(b->steps + (size_t)row->narrow[i + KN_NODES_AHEAD] * KN_BLOCK_STEP);
        put_node(b, word, bits, row->narrow[i], true);
    }
}

static void put(kn_blocks *b, row_nodes row, int64_t weight)
{
    while (weight > 0) {
        int64_t  count;
        uint64_t bits = kn_block_run(b->used, weight, &count);
        put_bits(b, &row, bits);
        weight -= count;
        b->used += (size_t)count;
        if (b->used % KN_BLOCK_CHUNK == 0) write_chunk(b);
        if (b->used == b->words * 64) kn_blocks_end(b);
    }
}

void kn_blocks_put(kn_blocks *b, const uint32_t *nodes, uint32_t size, int32_t weight)
{
    put(b, (row_nodes){NULL, nodes, size}, weight);
}

void kn_blocks_put_row(kn_blocks *b, uint32_t row)
{
    const kn_candidate *c = b->c;
    uint32_t            from = c->row_start[row], size = c->row_start[row + 1] - from;
    if (c->narrow)
        put(b, (row_nodes){c->narrow_nodes + from, NULL, size}, kn_row_weight(c, row));
    else
        put(b, (row_nodes){NULL, c->wide_nodes + from, size}, kn_row_weight(c, row));
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
