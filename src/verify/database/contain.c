/* database/contain.c: is a released row, with everything below it, an original row with rows removed and
 * quasi-identifiers generalized (Definition 9(3), docs/errata.md M2)?
 *
 * The row's own cells come first. Then, table by table, each row below must be assigned its own row of the original
 * that contains it: a bipartite matching by shortest alternating paths whose edges are the same question one level
 * down, evaluated on demand and remembered. Only rows with equal copied cells can be paired, and these are adjacent
 * (kn_vdb_rows.mark), so paths never leave a run of them.
 *
 * Cost: for runs of length n at most n² questions and n³ steps, usually n. Limits: recursion as deep as the schema.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_verify_database.h"

enum { MOST_REMEMBERED = 1 << 24 };

void kn_vdb_matcher_free(kn_vdb_matcher *m)
{
    kn_free(m->words);
    m->words = NULL;
    m->capacity = 0;
}

/* ---- A stack that grows and moves: arrays on it are known by where they begin ---- */

static bool push(kn_vdb_matcher *m, size_t count, size_t *at)
{
    void *block = m->words;
    if (!kn_grow(m->v->ctx, &block, &m->capacity, m->used + count, sizeof *m->words)) m->failed = true;
    m->words = block;
    *at = m->used;
    if (!m->failed) m->used += count;
    return !m->failed;
}

static bool stopped(const kn_vdb_matcher *m)
{
    return m->failed || m->cancelled || m->tired;
}

/* ---- Cells ---- */

static bool quasi_fits(const kn_vdb_table *t, const kn_vdb_column *q, uint32_t original, uint32_t released)
{
    const kn_vdb_cell *cell = &q->cells[kn_vsheet_code(t->release.table, q->release, released)];
    return kn_vdb_covers(q, cell, q->of_original[kn_vsheet_code(t->original.table, q->original, original)]);
}

static bool copy_fits(const kn_vdb_table *t, const kn_vdb_column *c, uint32_t original, uint32_t released)
{
    return c->of_release[kn_vsheet_code(t->release.table, c->release, released)] ==
           c->of_original[kn_vsheet_code(t->original.table, c->original, original)];
}

static bool cells_fit(const kn_vdb_table *t, uint32_t original, uint32_t released)
{
    if (t->original.mark[original] != t->release.mark[released]) return false;
    for (int c = 0; c < t->copy_count; c++)
        if (!copy_fits(t, &t->copies[c], original, released)) return false;
    for (int q = 0; q < t->quasi_count; q++)
        if (!quasi_fits(t, &t->quasi[q], original, released)) return false;
    return true;
}

/* ---- Siblings ---- */

/* The rows of one table that belong to one row of each side, while they are being paired. */
typedef struct pairing {
    kn_vdb_matcher *m;
    int             table;
    const uint32_t *released, *originals; /* rows                                                    */
    uint32_t        n, o;                 /* how many                                                */
    size_t          mate;                 /* n: the original of each released one, or KN_V_NONE      */
    size_t          queue;                /* n                                                       */
    size_t          owner;                /* o: the released one it is assigned to, or KN_V_NONE     */
    size_t          from;                 /* o: the released one that asked for it, or KN_V_NONE     */
    size_t          known;                /* 2 bits per pair: 0 not asked, 1 no, 2 yes               */
    bool            remember;
} pairing;

static uint32_t *words(const pairing *p, size_t at)
{
    return p->m->words + at;
}

/* The children of a row of one side. */
static uint32_t children_of(const kn_vdb_rows *r, uint32_t row, const uint32_t **list)
{
    *list = r->list + r->start[row];
    return r->start[row + 1] - r->start[row];
}

static bool begin_pairing(pairing *p)
{
    size_t pairs = (size_t)p->n * p->o;
    p->remember = pairs <= MOST_REMEMBERED;
    size_t memory = p->remember ? pairs / 16 + 1 : 0;
    if (!push(p->m, p->n, &p->mate) || !push(p->m, p->n, &p->queue) || !push(p->m, p->o, &p->owner) ||
        !push(p->m, p->o, &p->from) || !push(p->m, memory, &p->known))
        return false;
    memset(words(p, p->mate), 0xff, p->n * sizeof(uint32_t));
    memset(words(p, p->owner), 0xff, p->o * sizeof(uint32_t));
    memset(words(p, p->known), 0, memory * sizeof(uint32_t));
    return true;
}

static bool fits(pairing *p, uint32_t r, uint32_t o)
{
    size_t pair = (size_t)r * p->o + o, bit = pair % 16 * 2;
    if (p->remember) {
        uint32_t known = words(p, p->known)[pair / 16] >> bit & 3;
        if (known) return known == 2;
    }
    bool yes = kn_vdb_contains(p->m, p->table, p->originals[o], p->released[r]);
    if (p->remember) words(p, p->known)[pair / 16] |= (yes ? 2u : 1u) << bit;
    return yes;
}

/* Where the originals with the same copied cells begin and end. */
static void run_of(const pairing *p, uint32_t r, uint32_t *begin, uint32_t *end)
{
    const kn_vdb_table *t = &p->m->v->tables[p->table];
    uint32_t            mark = t->release.mark[p->released[r]];
    uint32_t            low = 0, high = p->o;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (t->original.mark[p->originals[middle]] < mark)
            low = middle + 1;
        else
            high = middle;
    }
    *begin = low;
    while (low < p->o && t->original.mark[p->originals[low]] == mark) low++;
    *end = low;
}

static void give(pairing *p, uint32_t o)
{
    uint32_t *mate = words(p, p->mate), *owner = words(p, p->owner), *from = words(p, p->from);
    while (o != KN_V_NONE) {
        uint32_t r = from[o], next = mate[r];
        mate[r] = o;
        owner[o] = r;
        o = next;
    }
}

/* Assigns r its own original, moving others if necessary. */
static bool place(pairing *p, uint32_t r)
{
    uint32_t begin, end, head = 0, tail = 0;
    run_of(p, r, &begin, &end);
    for (uint32_t o = begin; o < end; o++) {
        if (words(p, p->owner)[o] != KN_V_NONE || !fits(p, r, o)) continue;
        words(p, p->from)[o] = r;
        give(p, o);
        return true;
    }
    for (uint32_t o = begin; o < end; o++) words(p, p->from)[o] = KN_V_NONE;
    words(p, p->queue)[tail++] = r;
    while (head < tail && !stopped(p->m)) {
        uint32_t x = words(p, p->queue)[head++];
        for (uint32_t o = begin; o < end; o++) {
            if (words(p, p->from)[o] != KN_V_NONE || !fits(p, x, o)) continue;
            words(p, p->from)[o] = x;
            uint32_t owner = words(p, p->owner)[o];
            if (owner == KN_V_NONE) {
                give(p, o);
                return true;
            }
            words(p, p->queue)[tail++] = owner;
        }
    }
    return false;
}

/* ---- Memory, before it is needed ---- */

enum { AHEAD = 64 };

/* A call that does nothing but this is left out by compilers unless it is inlined. */
#define INLINED static inline __attribute__((always_inline)) void

INLINED ask_for_code(const kn_vsheet *sheet, int column, uint32_t row)
{
    const kn_vcolumn *c = &sheet->columns[column].cells;
    __builtin_prefetch((const char *)c->codes + (size_t)row * (size_t)c->width);
}

/* Rows that belong together are scattered: what will be looked at of all of them is asked for at once. */
INLINED ask_for_rows(const kn_vdb *v, const kn_vdb_table *t, bool release, const uint32_t *rows, uint32_t count)
{
    const kn_vdb_rows *r = release ? &t->release : &t->original;
    uint32_t           n = count < AHEAD ? count : AHEAD;
    for (uint32_t i = 0; i < n; i++) {
        __builtin_prefetch(&r->mark[rows[i]]);
        for (int c = 0; c < t->copy_count; c++)
            ask_for_code(r->table, release ? t->copies[c].release : t->copies[c].original, rows[i]);
        for (int q = 0; q < t->quasi_count; q++)
            ask_for_code(r->table, release ? t->quasi[q].release : t->quasi[q].original, rows[i]);
        for (int c = 0; c < t->child_count; c++) {
            const kn_vdb_table *child = &v->tables[t->children[c]];
            __builtin_prefetch(&(release ? &child->release : &child->original)->start[rows[i]]);
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        for (int c = 0; c < t->copy_count; c++) {
            const kn_vdb_column *x = &t->copies[c];
            uint32_t             code = kn_vsheet_code(r->table, release ? x->release : x->original, rows[i]);
            __builtin_prefetch(&(release ? x->of_release : x->of_original)[code]);
        }
        for (int c = 0; c < t->child_count; c++) {
            const kn_vdb_table *child = &v->tables[t->children[c]];
            const kn_vdb_rows  *below = release ? &child->release : &child->original;
            __builtin_prefetch(&below->list[below->start[rows[i]]]);
        }
    }
}

/* With `rows` also the assignment of all rows below. */
static bool pair_children(kn_vdb_matcher *m, int table, uint32_t original, uint32_t released, uint32_t *const *rows)
{
    const kn_vdb_table *t = &m->v->tables[table];
    size_t              used = m->used;
    pairing             p = {.m = m, .table = table};
    p.n = children_of(&t->release, released, &p.released);
    p.o = children_of(&t->original, original, &p.originals);
    if (p.n == 0) return true;
    bool good = p.n <= p.o && begin_pairing(&p);
    ask_for_rows(m->v, t, true, p.released, p.n);
    ask_for_rows(m->v, t, false, p.originals, p.o);
    for (uint32_t r = 0; good && r < p.n; r++) good = place(&p, r);
    for (uint32_t r = 0; rows && good && r < p.n; r++)
        good = kn_vdb_pair_rows(m, table, p.originals[words(&p, p.mate)[r]], p.released[r], rows);
    m->used = used;
    return good && !stopped(m);
}

bool kn_vdb_contains(kn_vdb_matcher *m, int table, uint32_t original, uint32_t released)
{
    const kn_vdb_table *t = &m->v->tables[table];
    if ((++m->work & 0xffff) == 0 && kn_cancelled(m->v->ctx)) m->cancelled = true;
    if (m->limit > 0 && m->work > m->limit) m->tired = true;
    if (stopped(m) || !cells_fit(t, original, released)) return false;
    if (m->allow && !m->allow(m->arg, table, original, released)) return false;
    for (int i = 0; i < t->child_count; i++) {
        const kn_vdb_table *child = &m->v->tables[t->children[i]];
        const uint32_t     *list;
        if (children_of(&child->release, released, &list) > children_of(&child->original, original, &list))
            return false;
    }
    for (int i = 0; i < t->child_count; i++)
        if (!pair_children(m, t->children[i], original, released, NULL)) return false;
    return true;
}

bool kn_vdb_pair_rows(kn_vdb_matcher *m, int table, uint32_t original, uint32_t released, uint32_t *const *rows)
{
    const kn_vdb_table *t = &m->v->tables[table];
    rows[table][released] = original;
    for (int i = 0; i < t->child_count; i++)
        if (!pair_children(m, t->children[i], original, released, rows)) return false;
    return true;
}

/* ---- Why not ---- */

static bool explain_cells(kn_vdb_matcher *m, const kn_vdb_table *t, uint32_t original, uint32_t released)
{
    bool told = false;
    for (int q = 0; q < t->quasi_count; q++) {
        if (quasi_fits(t, &t->quasi[q], original, released)) continue;
        kn_vproblem(m->v->notes,
                    "table \"%s\", row %" PRIu32 ", column \"%s\": neither the original's value nor one above it",
                    t->name, released + 1, t->quasi[q].attribute->name);
        told = true;
    }
    for (int c = 0; c < t->copy_count; c++) {
        if (copy_fits(t, &t->copies[c], original, released)) continue;
        kn_vproblem(m->v->notes, "table \"%s\", row %" PRIu32 ", column \"%s\": the cell is not the original's",
                    t->name, released + 1, t->copies[c].attribute->name);
        told = true;
    }
    return told;
}

/* Rows below that no original row contains. */
static bool explain_children(kn_vdb_matcher *m, int table, uint32_t original, uint32_t released)
{
    const kn_vdb_table *t = &m->v->tables[table];
    const uint32_t     *mine, *theirs;
    uint32_t            n = children_of(&t->release, released, &mine), o = children_of(&t->original, original, &theirs);
    bool                told = false;
    for (uint32_t r = 0; r < n && !stopped(m); r++) {
        bool any = false;
        for (uint32_t i = 0; i < o && !any; i++) any = kn_vdb_contains(m, table, theirs[i], mine[r]);
        if (any) continue;
        if (o == 1)
            kn_vdb_explain(m, table, theirs[0], mine[r]);
        else
            kn_vproblem(m->v->notes, "table \"%s\", row %" PRIu32 ": it is in none of the original person's rows",
                        t->name, mine[r] + 1);
        told = true;
    }
    return told;
}

void kn_vdb_explain(kn_vdb_matcher *m, int table, uint32_t original, uint32_t released)
{
    const kn_vdb_table *t = &m->v->tables[table];
    bool                told = explain_cells(m, t, original, released);
    for (int i = 0; i < t->child_count && !told; i++) told = explain_children(m, t->children[i], original, released);
    for (int i = 0; i < t->child_count && !told && !stopped(m); i++) {
        if (pair_children(m, t->children[i], original, released, NULL)) continue;
        kn_vproblem(m->v->notes,
                    "table \"%s\": the rows that refer to row %" PRIu32 " of table \"%s\" cannot each be given "
                    "a row of the original person",
                    m->v->tables[t->children[i]].name, released + 1, t->name);
        told = true;
    }
}
