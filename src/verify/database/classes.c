/* database/classes.c: persons whose trees of quasi-identifiers are equal (docs/errata.md M12), and rows of such
 * persons that cannot be distinguished.
 *
 * From the leaves up each released row gets a number by (table, its quasi-identifiers, the numbers of the rows below
 * it, sorted): equal numbers mean equal trees, since whole sequences are compared, not hashes. No query over any join
 * can distinguish equal trees of all quasi-identifiers, so a class is the persons with one number.
 *
 * From the top down rows of one class get a position by (the parent's position, the row's number): a reader sees only
 * that a row is one of those.
 *
 * Cost: linear in the rows, except for sorting siblings. Memory: the distinct sequences.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdlib.h>

#include "kn_alloc.h"
#include "kn_compare.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_verify_database.h"

/* The number of a sequence of words, compared as bytes; KN_V_NONE: out of memory. */
static uint32_t sequence_number(kn_texts *all, const uint32_t *words, size_t count)
{
    return kn_texts_add(all, (kn_string){(const char *)words, count * sizeof *words}, true);
}

/* ---- Subtrees ---- */

typedef struct scratch {
    uint32_t *words;
    size_t    capacity;
} scratch;

static bool reserve(kn_vdb *v, scratch *s, size_t count)
{
    void *block = s->words;
    bool  good = kn_grow(v->ctx, &block, &s->capacity, count, sizeof *s->words);
    s->words = block;
    return good;
}

/* What a row shows, as words; 0: out of memory. */
static size_t spell_row(kn_vdb *v, const kn_vdb_table *t, int number, int64_t row, scratch *s)
{
    size_t count = 1 + (size_t)t->quasi_count, children = 0;
    for (int i = 0; i < t->child_count; i++) {
        const kn_vdb_rows *child = &v->tables[t->children[i]].release;
        children += child->start[row + 1] - child->start[row];
    }
    if (!reserve(v, s, count + children)) return 0;
    s->words[0] = (uint32_t)number;
    for (int q = 0; q < t->quasi_count; q++)
        s->words[1 + q] = kn_vsheet_code(t->release.table, t->quasi[q].release, row);
    size_t at = count;
    for (int i = 0; i < t->child_count; i++) {
        const kn_vdb_table *child = &v->tables[t->children[i]];
        for (uint32_t c = child->release.start[row]; c < child->release.start[row + 1]; c++)
            s->words[at++] = child->subtree[child->release.list[c]];
    }
    qsort(s->words + count, children, sizeof *s->words, kn_compare_u32);
    return at;
}

static kn_status number_table(kn_vdb *v, int number, kn_texts *all, scratch *s, kn_error *err)
{
    kn_vdb_table *t = &v->tables[number];
    t->subtree = kn_arena_array(&v->arena, (size_t)t->release.rows + 1, sizeof *t->subtree);
    if (!t->subtree) return kn_vdb_no_memory(v, err);
    for (int64_t row = 0; row < t->release.rows; row++) {
        if ((row & 0xffff) == 0 && kn_cancelled(v->ctx)) return kn_fail_cancelled(err);
        size_t count = spell_row(v, t, number, row, s);
        t->subtree[row] = count ? sequence_number(all, s->words, count) : KN_V_NONE;
        if (t->subtree[row] == KN_V_NONE) return kn_vdb_no_memory(v, err);
    }
    return KN_OK;
}

/* ---- Classes ---- */

static kn_status number_classes(kn_vdb *v, uint32_t subtrees, kn_error *err)
{
    const kn_vdb_table *t = &v->tables[v->person];
    int64_t             persons = t->release.rows;
    uint32_t           *class_of_subtree = kn_varray_none(&v->arena, (size_t)subtrees + 1);
    v->class_of = kn_arena_array(&v->arena, (size_t)persons + 1, sizeof *v->class_of);
    v->sizes = kn_arena_array_zero(&v->arena, (size_t)persons + 1, sizeof *v->sizes);
    if (v->arena.failed) return kn_vdb_no_memory(v, err);
    for (int64_t p = 0; p < persons; p++) {
        uint32_t *c = &class_of_subtree[t->subtree[p]];
        if (*c == KN_V_NONE) *c = v->classes++;
        v->class_of[p] = *c;
        v->sizes[*c]++;
    }
    kn_database_verify_report *r = v->report;
    r->persons = persons;
    r->classes = v->classes;
    for (uint32_t c = 0; c < v->classes; c++)
        if (r->k == 0 || v->sizes[c] < r->k) r->k = v->sizes[c];
    return KN_OK;
}

kn_status kn_vdb_classes(kn_vdb *v, kn_error *err)
{
    kn_texts  all;
    scratch   s = {0};
    kn_status status = KN_OK;
    kn_texts_init(&all, v->ctx);
    for (int i = v->table_count; i-- > 0 && status == KN_OK;) status = number_table(v, v->order[i], &all, &s, err);
    if (status == KN_OK) status = number_classes(v, all.count, err);
    kn_texts_free(&all);
    kn_free(s.words);
    return status;
}

/* ---- Positions ---- */

kn_status kn_vdb_positions(kn_vdb *v, int table, kn_error *err)
{
    kn_vdb_table *t = &v->tables[table];
    kn_vnumbers   all = {.ctx = v->ctx};
    kn_status     status = KN_OK;
    if (t->position) return KN_OK;
    if (table == v->person) {
        t->position = v->class_of;
        return KN_OK;
    }
    KN_TRY(kn_vdb_positions(v, t->parent, err));
    t->position = kn_arena_array(&v->arena, (size_t)t->release.rows + 1, sizeof *t->position);
    if (!t->position) return kn_vdb_no_memory(v, err);
    for (int64_t row = 0; row < t->release.rows && status == KN_OK; row++) {
        if ((row & 0xffff) == 0 && kn_cancelled(v->ctx)) status = kn_fail_cancelled(err);
        uint64_t above = v->tables[t->parent].position[t->release.parent[row]];
        t->position[row] = kn_vnumbers_add(&all, above << 32 | t->subtree[row]);
        if (status == KN_OK && t->position[row] == KN_V_NONE) status = kn_vdb_no_memory(v, err);
    }
    kn_vnumbers_free(&all);
    return status;
}
