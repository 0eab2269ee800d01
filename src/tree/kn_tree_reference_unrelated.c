/* kn_tree_reference_unrelated.c: relations that are known not to be there (section III-G; kn_tree.h, "Unrelated"), plainly: every set of them with
 * every set of values and relations, counted record by record.
 *
 * Interface: kn_reference_name_unrelated. Cost: the sets times the records. Memory: a byte per record and value, and per record and
 * relation, of the cut; a bit per pair of values.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_bitset.h"
#include "kn_error.h"
#include "kn_tree_reference_internal.h"

typedef struct trying {
    kn_reference *r;
    uint64_t     *pairs;          /* bit x × values + y: x stands above y in the original                 */
    uint8_t      *has;            /* record × places of the cut                                           */
    uint8_t      *shows;          /* record × relations                                                   */
    uint8_t      *absent, *there; /* per relation: chosen                                        */
    uint8_t      *present;        /* per place: chosen                                           */
    uint8_t      *end;            /* per value: it is an end of a pair that is known             */
} trying;

static bool secret(const kn_reference *r, uint32_t value)
{
    return value != 0 && r->vocabulary->sensitive[r->vocabulary->cls[value]];
}

static void note_pairs(trying *y)
{
    const kn_records *x = y->r->records;
    for (int64_t t = 0; t < x->count; t++)
        for (uint64_t i = x->start[t]; i < x->start[t + 1]; i++)
            for (uint32_t p = x->parent[i]; p != KN_RECORDS_ROOT; p = x->parent[x->start[t] + p]) {
                uint32_t above = x->value[x->start[t] + p], below = x->value[i];
                if (!secret(y->r, above) && !secret(y->r, below))
                    kn_bitset_set(y->pairs, (size_t)above * y->r->vocabulary->nodes + below);
            }
}

/* The pairs that a relation stands for; -1: one of them cannot be known. With `mark` their ends are marked. */
static int facts_of(trying *y, uint32_t relation, bool mark)
{
    const kn_vocabulary *v = y->r->vocabulary;
    uint32_t             a = y->r->cut->values[y->r->relations[relation].ancestor],
             b = y->r->cut->values[y->r->relations[relation].descendant];
    int facts = 0;
    for (uint32_t above = a; above < v->end[a]; above++)
        for (uint32_t below = b; below < v->end[b]; below++) {
            if (!kn_bitset_test(y->pairs, (size_t)above * v->nodes + below)) continue;
            if (!v->unrelated[v->cls[below]]) return -1;
            facts++;
            if (mark) y->end[above] = y->end[below] = 1;
        }
    return facts;
}

/* Facts of all chosen relations that are not there; marks their ends. -1: they cannot be known. */
static int all_facts(trying *y)
{
    int facts = 0;
    memset(y->end, 0, y->r->vocabulary->nodes);
    for (uint32_t x = 0; x < y->r->relation_count; x++) {
        if (!y->absent[x]) continue;
        int own = facts_of(y, x, true);
        if (own <= 0) return -1;
        facts += own;
    }
    return facts;
}

/* The values that must be known: the ends, and one for each chosen place above none of them. */
static int values_known(const trying *y)
{
    const kn_vocabulary *v = y->r->vocabulary;
    int                  count = 0;
    for (uint32_t u = 0; u < v->nodes; u++) count += y->end[u];
    for (uint32_t p = 0; p < y->r->cut->size; p++) {
        bool     over = false;
        uint32_t value = y->r->cut->values[p];
        for (uint32_t u = value; u < v->end[value]; u++) over = over || y->end[u];
        count += y->present[p] && !over;
    }
    return count;
}

static void judge(trying *y)
{
    kn_reference *r = y->r;
    int64_t       support = 0;
    uint32_t      name = KN_REFERENCE_NONE;
    for (int64_t t = 0; t < r->records->count; t++) {
        bool fits = true;
        for (uint32_t p = 0; p < r->cut->size && fits; p++)
            fits = !y->present[p] || y->has[(size_t)t * r->cut->size + p];
        for (uint32_t x = 0; x < r->relation_count && fits; x++) {
            bool shows = y->shows[(size_t)t * r->relation_count + x];
            fits = !(y->there[x] && !shows) && !(y->absent[x] && shows);
        }
        support += fits;
    }
    if (support == 0 || support >= r->problem->k) return;
    for (uint32_t x = 0; x < r->relation_count; x++) /* by ancestor, then descendant: the first of equal ones */
        if ((y->there[x] || y->absent[x]) &&
            (name == KN_REFERENCE_NONE || r->relations[x].records.count < r->relations[name].records.count))
            name = x;
    r->named_count += !r->named[name];
    r->named[name] = true;
}

static void try_there(trying *y, uint32_t from, int left)
{
    kn_reference *r = y->r;
    judge(y);
    for (uint32_t x = from; x < r->relation_count && left > 0; x++) {
        if (!y->present[r->relations[x].ancestor] || !y->present[r->relations[x].descendant]) continue;
        y->there[x] = 1;
        try_there(y, x + 1, left - 1);
        y->there[x] = 0;
    }
}

static void try_present(trying *y, uint32_t from, int left)
{
    try_there(y, 0, left);
    for (uint32_t p = from; p < y->r->cut->size && !kn_reference_gives_up(y->r); p++) {
        if (!y->r->plain[p]) continue;
        y->present[p] = 1;
        if (values_known(y) <= y->r->problem->m) try_present(y, p + 1, left);
        y->present[p] = 0;
    }
}

static void try_absent(trying *y, uint32_t from, bool some)
{
    int facts = all_facts(y);
    if (some && (facts < 0 || facts > y->r->problem->n || values_known(y) > y->r->problem->m)) return;
    if (some) try_present(y, 0, y->r->problem->n - facts);
    for (uint32_t x = from; x < y->r->relation_count && !kn_reference_gives_up(y->r); x++) {
        if (secret(y->r, y->r->cut->values[y->r->relations[x].ancestor]) ||
            secret(y->r, y->r->cut->values[y->r->relations[x].descendant]))
            continue;
        y->absent[x] = 1;
        try_absent(y, x + 1, true);
        y->absent[x] = 0;
        (void)all_facts(y);
    }
}

static void fill(trying *y)
{
    const kn_reference *r = y->r;
    note_pairs(y);
    for (uint32_t p = 0; p < r->cut->size; p++)
        for (size_t i = 0; i < r->with_value[p].count; i++)
            y->has[(size_t)r->with_value[p].ids[i] * r->cut->size + p] = 1;
    for (uint32_t x = 0; x < r->relation_count; x++)
        for (size_t i = 0; i < r->relations[x].records.count; i++)
            y->shows[(size_t)r->relations[x].records.ids[i] * r->relation_count + x] = 1;
}

kn_status kn_reference_name_unrelated(kn_reference *r, kn_error *err)
{
    size_t values = r->vocabulary->nodes, records = (size_t)r->records->count, places = r->cut->size,
           relations = r->relation_count;
    bool   asked = false;
    trying y = {.r = r};
    for (int c = 0; c < r->vocabulary->class_count; c++) asked = asked || r->vocabulary->unrelated[c];
    if (!asked || relations == 0) return KN_OK;
    bool good = KN_ALLOC_ZERO(r->ctx, y.pairs, kn_bitset_words(values * values) + 1) &&
                KN_ALLOC_ZERO(r->ctx, y.has, records * places + 1) &&
                KN_ALLOC_ZERO(r->ctx, y.shows, records * relations + 1) &&
                KN_ALLOC_ZERO(r->ctx, y.absent, relations + 1) && KN_ALLOC_ZERO(r->ctx, y.there, relations + 1) &&
                KN_ALLOC_ZERO(r->ctx, y.present, places + 1) && KN_ALLOC_ZERO(r->ctx, y.end, values + 1);
    if (good) {
        fill(&y);
        try_absent(&y, 0, false);
    }
    KN_FREE(y.pairs, y.has, y.shows, y.absent, y.there, y.present, y.end);
    return good ? KN_OK : kn_reference_no_memory(r, err);
}
