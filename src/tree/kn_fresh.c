/* kn_fresh.c: supports of the combinations with a new value, in arrays where that is possible.
 *
 * Interface: kn_fresh.h. Cost of a row: one addition per combination.
 */
#include "kn_fresh.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_emit.h"
#include "kn_error.h"

enum { MOST_CELLS = 1 << 22 };

kn_status kn_fresh_prepare(kn_candidate *c, kn_error *err)
{
    const kn_vocabulary *v = c->synopsis->vocabulary;
    uint32_t             u = c->specialized;
    c->places = c->new_count = 0;
    c->dense = false;
    if (kn_is_whole(c) || c->problem->m > 3 || c->problem->n > 2 || c->problem->n == 0) return KN_OK;
    /* New values first. */
    if (!kn_grow(c->ctx, (void **)&c->value_of, &c->value_of_capacity, v->nodes, sizeof *c->value_of))
        return kn_fail_memory(err, c->ctx, "counting combinations");
    for (uint32_t child = u + 1; child < v->end[u]; child = v->end[child]) c->value_of[c->new_count++] = child;
    c->places = c->new_count;
    for (uint32_t i = 0; i < c->nodes; i++) c->place_of[c->value[i]] = KN_NONE;
    for (uint32_t i = 0; i < c->new_count; i++) c->place_of[c->value_of[i]] = i;
    for (uint32_t i = 0; i < c->old_nodes; i++) {
        uint32_t value = c->value[i];
        if (value == u || c->place_of[value] != KN_NONE) continue;
        c->place_of[value] = c->places;
        c->value_of[c->places++] = value;
    }
    size_t cells = (size_t)c->new_count * c->places * c->places * 2;
    c->dense = cells <= MOST_CELLS;
    for (int j = 1; c->dense && j <= c->problem->n; j++)
        if (!kn_grow(c->ctx, (void **)&c->cells[j], &c->cells_capacity[j], cells, sizeof *c->cells[j]))
            return kn_fail_memory(err, c->ctx, "counting combinations");
    return KN_OK;
}

void kn_fresh_clear(kn_candidate *c, int relations)
{
    if (c->dense)
        memset(c->cells[relations], 0, (size_t)c->new_count * c->places * c->places * 2 * sizeof *c->cells[relations]);
    else
        kn_counts_clear(&c->fresh[relations]);
}

/* ---- Counting ---- */

static int32_t *table_of(const kn_candidate *c, int relations, uint32_t new_place, bool second)
{
    size_t square = (size_t)c->places * c->places;
    return c->cells[relations] + (2 * (size_t)new_place + second) * square;
}

/* One relation, of which `wanted` are meant. */
static void count_single(kn_candidate *c, const kn_row_view *row, const kn_row_relations *wanted, int32_t amount)
{
    size_t n = c->places;
    for (int a = 0; a < row->count; a++)
        for (uint64_t left = wanted->below[a]; left; left &= left - 1) {
            int      b = __builtin_ctzll(left);
            uint32_t x = row->places[a], y = row->places[b];
            if (x < c->new_count || y < c->new_count) {
                bool     upper = x < c->new_count;
                int32_t *cell = table_of(c, 1, upper ? x : y, false) + (upper ? y : x) * n;
                int      other = upper ? b : a, mine = upper ? a : b;
                if (c->problem->m > 2) {
                    for (int i = 0; i < row->count; i++) cell[row->places[i]] += amount;
                    cell[row->places[mine]] -= amount;
                } else {
                    cell[row->places[other]] += amount;
                }
            } else if (c->problem->m > 2) {
                for (uint64_t news = row->new_values; news; news &= news - 1)
                    table_of(c, 1, row->places[__builtin_ctzll(news)], true)[x * n + y] += amount;
            }
        }
}

/* Who is above or below whom. */
static void relate(kn_row_relations *out, const kn_row_relations *r, int count)
{
    memset(out->below, 0, (size_t)count * sizeof *out->below);
    for (int a = 0; a < count; a++) {
        out->below[a] |= r->below[a];
        for (uint64_t left = r->below[a]; left; left &= left - 1) out->below[__builtin_ctzll(left)] |= (uint64_t)1 << a;
    }
}

/* Two relations that share a value; a new value is one of the three. */
static void count_double(kn_candidate *c, const kn_row_view *row, const kn_row_relations *has,
                         const kn_row_relations *one_of, int32_t amount)
{
    size_t           n = c->places;
    kn_row_relations all, meant;
    relate(&all, has, row->count);
    if (one_of) relate(&meant, one_of, row->count);
    for (uint64_t news = row->new_values; news; news &= news - 1) {
        int      i = __builtin_ctzll(news);
        uint64_t self = (uint64_t)1 << i, later = row->old_values | (row->new_values & ~(self | (self - 1)));
        int32_t *both = table_of(c, 2, row->places[i], false), *chain = table_of(c, 2, row->places[i], true);
        for (uint64_t xs = all.below[i]; xs; xs &= xs - 1) {
            int      x = __builtin_ctzll(xs);
            bool     any = !one_of || (meant.below[i] >> x & 1);
            uint32_t at = row->places[x] * (uint32_t)n;
            /* Of two new values at the ends of a chain the first counts it. */
            for (uint64_t ys = (any ? all.below[x] : meant.below[x]) & later; ys; ys &= ys - 1)
                chain[at + row->places[__builtin_ctzll(ys)]] += amount;
            for (uint64_t ys = (any ? all.below[i] : meant.below[i]) & ~(((uint64_t)2 << x) - 1); ys; ys &= ys - 1)
                both[at + row->places[__builtin_ctzll(ys)]] += amount;
        }
    }
}

void kn_fresh_count(kn_candidate *c, const kn_row_view *row, const kn_row_relations *has,
                    const kn_row_relations *one_of, int relations, int32_t amount)
{
    if (!c->dense) {
        uint64_t    all = row->old_values | row->new_values;
        kn_emission e = {has, one_of, all, row->new_values, row->values, relations, amount, &c->fresh[relations]};
        if (!kn_emit(&e, c->layout, &c->counted)) c->no_memory = true;
        return;
    }
    c->counted++;
    if (relations == 1)
        count_single(c, row, one_of ? one_of : has, amount);
    else if (c->problem->m > 2)
        count_double(c, row, has, one_of, amount);
}

/* ---- Telling ---- */

int32_t kn_fresh_relation(const kn_candidate *c, uint32_t above, uint32_t below)
{
    if (!c->dense) return kn_counts_get(&c->fresh[1], kn_relation_key(c->layout, above, below));
    bool     upper = kn_is_new(c, above);
    uint32_t i = c->place_of[upper ? above : below], other = c->place_of[upper ? below : above];
    return table_of(c, 1, i, false)[other * c->places + other];
}

/* The key of values with relations between those that `pairs` says, bit 0: x and y, 1: x and z, 2: y and z. */
static uint64_t key_of(const kn_candidate *c, uint32_t x, uint32_t y, uint32_t z, unsigned pairs)
{
    uint32_t v[3] = {x, y, z};
    int      at[3] = {0, 1, 2}; /* the place of each among the sorted */
    int      count = z == KN_NONE ? 2 : 3;
    for (int i = 0; i < count; i++) {
        at[i] = 0;
        for (int j = 0; j < count; j++) at[i] += v[j] < v[i];
    }
    uint64_t key = 0, flags = 0;
    for (int i = 0; i < count; i++) key |= ((uint64_t)v[i] + 1) << (at[i] * c->layout.width);
    static const int ends[3][2] = {{0, 1}, {0, 2}, {1, 2}};
    for (int p = 0; p < 3; p++)
        if (pairs >> p & 1) {
            int a = at[ends[p][0]], b = at[ends[p][1]];
            if (a > b) {
                int t = a;
                a = b;
                b = t;
            }
            flags |= (uint64_t)1 << (b * (b - 1) / 2 + a);
        }
    return key | flags << (c->layout.m * c->layout.width);
}

bool kn_fresh_each(const kn_candidate *c, int relations, kn_fresh_fn tell, void *arg)
{
    if (!c->dense) {
        const kn_counts *t = &c->fresh[relations];
        for (size_t i = 0; i < t->slots; i++)
            if (t->keys[i] && t->counts[i] && !tell(arg, t->keys[i], t->counts[i])) return false;
        return true;
    }
    uint32_t n = c->places;
    for (uint32_t i = 0; i < 2 * c->new_count; i++) {
        const int32_t *cells = table_of(c, relations, i / 2, i % 2);
        uint32_t       value = c->value_of[i / 2];
        unsigned       pairs = relations == 1 ? (i % 2 ? 4 : 1) : i % 2 ? 5 : 3;
        for (uint32_t x = 0; x < n; x++)
            for (uint32_t y = 0; y < n; y++) {
                int32_t support = cells[(size_t)x * n + y];
                if (support == 0) continue;
                uint32_t third = x == y ? KN_NONE : c->value_of[y];
                if (!tell(arg, key_of(c, value, c->value_of[x], third, pairs), support)) return false;
            }
    }
    return true;
}
