/* kn_emit.c: enumerates sets of relations of a row, and further values, and adds their keys to counts.
 *
 * Interface: kn_emit.h. Relations that meet the condition come first in the list, so that a set meets it if its first
 * one does, and whole branches are skipped. Cost: one step per selected combination.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_emit.h"

typedef struct emitter {
    const kn_emission *e;
    kn_key_layout      layout;
    uint8_t            above[KN_ROW_VALUES * KN_ROW_VALUES / 2], below[KN_ROW_VALUES * KN_ROW_VALUES / 2];
    int                count, wanted_count; /* relations; the first ones meet the condition */
    int                chosen[64];
    int64_t            emitted;
    bool               full;
} emitter;

static uint64_t bit(int i)
{
    return (uint64_t)1 << i;
}

static uint64_t make_key(const emitter *x, uint64_t set, int relations)
{
    uint64_t key = 0, flags = 0;
    int      shift = 0;
    for (uint64_t left = set; left; left &= left - 1, shift += x->layout.width)
        key |= ((uint64_t)x->e->value_of[__builtin_ctzll(left)] + 1) << shift;
    for (int i = 0; i < relations; i++) {
        int a = __builtin_popcountll(set & (bit(x->above[x->chosen[i]]) - 1));
        int b = __builtin_popcountll(set & (bit(x->below[x->chosen[i]]) - 1));
        flags |= bit(b * (b - 1) / 2 + a);
    }
    return key | flags << (x->layout.m * x->layout.width);
}

static void add(emitter *x, uint64_t set)
{
    if (x->e->must && !(set & x->e->must)) return;
    x->emitted++;
    if (!kn_counts_add(x->e->to, make_key(x, set, x->e->relations), x->e->amount)) x->full = true;
}

/* Adds up to `more` further values from place `from` on. */
static void add_values(emitter *x, uint64_t set, int from, int more)
{
    add(x, set);
    if (more == 0) return;
    uint64_t left = x->e->values & ~set & ~(bit(from) - 1);
    if (more == 1 && x->e->must && !(set & x->e->must)) left &= x->e->must;
    for (; left; left &= left - 1) {
        int value = __builtin_ctzll(left);
        if (value == KN_ROW_VALUES - 1)
            add(x, set | bit(value));
        else
            add_values(x, set | bit(value), value + 1, more - 1);
    }
}

/* Has chosen `chosen` relations, whose values are `set`. */
static void choose(emitter *x, int from, int chosen, uint64_t set)
{
    int values = __builtin_popcountll(set);
    if (values > x->layout.m) return;
    if (chosen == x->e->relations) {
        add_values(x, set, 0, x->layout.m - values);
        return;
    }
    int end = chosen == 0 && x->e->one_of ? x->wanted_count : x->count;
    for (int i = from; i < end; i++) {
        /* Where no relation has a value that must be there, there must be space for it. */
        if (chosen == 0 && !x->e->one_of && x->e->must && i >= x->wanted_count) {
            int least = 1;
            while (least * (least - 1) / 2 < x->e->relations) least++;
            if (least >= x->layout.m) break;
        }
        x->chosen[chosen] = i;
        choose(x, i + 1, chosen + 1, set | bit(x->above[i]) | bit(x->below[i]));
    }
}

static void list_relations(emitter *x)
{
    const kn_emission *e = x->e;
    for (int pass = 0; pass < 2; pass++) {
        for (uint64_t rows = e->values; rows; rows &= rows - 1) {
            int a = __builtin_ctzll(rows);
            for (uint64_t left = e->has->below[a] & e->values; left; left &= left - 1) {
                int  b = __builtin_ctzll(left);
                bool wanted = e->one_of ? (e->one_of->below[a] & bit(b)) != 0 : ((bit(a) | bit(b)) & e->must) != 0;
                if (wanted != (pass == 0)) continue;
                x->above[x->count] = (uint8_t)a;
                x->below[x->count++] = (uint8_t)b;
            }
        }
        if (pass == 0) x->wanted_count = x->count;
    }
}

bool kn_emit(const kn_emission *e, kn_key_layout layout, int64_t *counted)
{
    emitter x;
    x.e = e;
    x.layout = layout;
    x.count = 0;
    x.emitted = 0;
    x.full = false;
    list_relations(&x);
    choose(&x, 0, 0, 0);
    *counted += x.emitted;
    return !x.full;
}

uint64_t kn_relation_key(kn_key_layout layout, uint32_t above, uint32_t below)
{
    uint64_t first = above + (uint64_t)1, second = below + (uint64_t)1;
    return (above == below ? first : first | second << layout.width) | (uint64_t)1 << (layout.m * layout.width);
}

static int values_of(kn_key_layout layout, uint64_t key, uint32_t *values)
{
    uint64_t mask = bit(layout.width) - 1;
    int      n = 0;
    for (; n < layout.m && (key & mask); n++, key >>= layout.width) values[n] = (uint32_t)(key & mask) - 1;
    return n;
}

int kn_key_relations(kn_key_layout layout, uint64_t key, uint32_t *values, uint32_t (*relations)[2])
{
    uint64_t flags = key >> (layout.m * layout.width);
    int      n = values_of(layout, key, values), count = 0;
    if (n == 1 && flags) {
        relations[0][0] = relations[0][1] = values[0];
        return 1;
    }
    for (int b = 1; b < n; b++)
        for (int a = 0; a < b; a++)
            if (flags & bit(b * (b - 1) / 2 + a)) {
                relations[count][0] = values[a];
                relations[count++][1] = values[b];
            }
    return count;
}
