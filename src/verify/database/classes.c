/* database/classes.c: persons whose trees of quasi-identifiers are equal (ERRATA M12), and rows of such persons
 * that cannot be told apart.
 *
 * From the leaves up each released row gets a number by (table, its quasi-identifiers, the numbers of the rows below it,
 * sorted): equal numbers are equal trees, for whole sequences are compared, not hashes. Equal trees of all quasi-identifiers
 * are what no query over any join can tell apart, so a class is the persons with one number.
 *
 * From the top down rows of one class get a position by (the parent's position, the row's number): a reader sees that a row
 * is one of those, and no more.
 *
 * Cost: linear in the rows, but for sorting siblings. Memory: the distinct sequences.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "kn_alloc.h"
#include "kn_compare.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_verify_database.h"

/* Sequences of words → dense numbers. */
typedef struct sequences {
    kn_context *ctx;
    uint32_t   *words;
    size_t      word_count, word_capacity;
    size_t     *ends; /* per number */
    size_t      end_capacity;
    uint32_t   *slots; /* number + 1; 0: free */
    size_t      mask;
    uint32_t    count;
} sequences;

static void sequences_free(sequences *s)
{
    kn_free(s->words);
    kn_free(s->ends);
    kn_free(s->slots);
}

static size_t begin_of(const sequences *s, uint32_t number)
{
    return number ? s->ends[number - 1] : 0;
}

static uint64_t hash_of(const uint32_t *words, size_t count)
{
    return kn_hash_bytes(words, count * sizeof *words);
}

static bool grow_slots(sequences *s)
{
    if (s->slots && (size_t)s->count * 2 < s->mask + 1) return true;
    size_t    size = s->slots ? (s->mask + 1) * 2 : 1024;
    uint32_t *slots = kn_alloc_array_zero(s->ctx, size, sizeof *slots);
    if (!slots) return false;
    for (uint32_t n = 0; n < s->count; n++) {
        size_t at = (size_t)hash_of(s->words + begin_of(s, n), s->ends[n] - begin_of(s, n)) & (size - 1);
        while (slots[at]) at = (at + 1) & (size - 1);
        slots[at] = n + 1;
    }
    kn_free(s->slots);
    s->slots = slots;
    s->mask = size - 1;
    return true;
}

/* The number of a sequence; KN_V_NONE: memory is out. */
static uint32_t sequence_number(sequences *s, const uint32_t *words, size_t count)
{
    if (!grow_slots(s)) return KN_V_NONE;
    size_t at = (size_t)hash_of(words, count) & s->mask;
    for (; s->slots[at]; at = (at + 1) & s->mask) {
        uint32_t n = s->slots[at] - 1;
        size_t   begin = begin_of(s, n);
        if (s->ends[n] - begin == count && memcmp(s->words + begin, words, count * sizeof *words) == 0) return n;
    }
    void *block = s->words, *ends = s->ends;
    if (!kn_grow(s->ctx, &block, &s->word_capacity, s->word_count + count, sizeof *s->words)) return KN_V_NONE;
    s->words = block;
    if (!kn_grow(s->ctx, &ends, &s->end_capacity, (size_t)s->count + 1, sizeof *s->ends)) return KN_V_NONE;
    s->ends = ends;
    memcpy(s->words + s->word_count, words, count * sizeof *words);
    s->word_count += count;
    s->ends[s->count] = s->word_count;
    s->slots[at] = s->count + 1;
    return s->count++;
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

/* What a row shows, as words; 0: memory is out. */
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
        s->words[1 + q] = kn_table_code(t->release.table, t->quasi[q].release, row);
    size_t at = count;
    for (int i = 0; i < t->child_count; i++) {
        const kn_vdb_table *child = &v->tables[t->children[i]];
        for (uint32_t c = child->release.start[row]; c < child->release.start[row + 1]; c++)
            s->words[at++] = child->subtree[child->release.list[c]];
    }
    qsort(s->words + count, children, sizeof *s->words, kn_compare_u32);
    return at;
}

static kn_status number_table(kn_vdb *v, int number, sequences *all, scratch *s, kn_error *err)
{
    kn_vdb_table *t = &v->tables[number];
    t->subtree = kn_alloc_array(v->ctx, (size_t)t->release.rows + 1, sizeof *t->subtree);
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
    uint32_t           *class_of_subtree = kn_alloc_array(v->ctx, (size_t)subtrees + 1, sizeof *class_of_subtree);
    v->class_of = kn_alloc_array(v->ctx, (size_t)persons + 1, sizeof *v->class_of);
    v->sizes = kn_alloc_array_zero(v->ctx, (size_t)persons + 1, sizeof *v->sizes);
    if (!class_of_subtree || !v->class_of || !v->sizes) {
        kn_free(class_of_subtree);
        return kn_vdb_no_memory(v, err);
    }
    memset(class_of_subtree, 0xff, ((size_t)subtrees + 1) * sizeof *class_of_subtree);
    for (int64_t p = 0; p < persons; p++) {
        uint32_t *c = &class_of_subtree[t->subtree[p]];
        if (*c == KN_V_NONE) *c = v->classes++;
        v->class_of[p] = *c;
        v->sizes[*c]++;
    }
    kn_free(class_of_subtree);
    kn_database_verify_report *r = &v->report->base;
    r->persons = persons;
    r->classes = v->classes;
    for (uint32_t c = 0; c < v->classes; c++)
        if (r->k == 0 || v->sizes[c] < r->k) r->k = v->sizes[c];
    return KN_OK;
}

kn_status kn_vdb_classes(kn_vdb *v, kn_error *err)
{
    sequences all = {.ctx = v->ctx};
    scratch   s = {0};
    kn_status status = KN_OK;
    for (int i = v->table_count; i-- > 0 && status == KN_OK;) status = number_table(v, v->order[i], &all, &s, err);
    if (status == KN_OK) status = number_classes(v, all.count, err);
    sequences_free(&all);
    kn_free(s.words);
    return status;
}

/* ---- Positions ---- */

kn_status kn_vdb_positions(kn_vdb *v, int table, kn_error *err)
{
    kn_vdb_table *t = &v->tables[table];
    sequences     all = {.ctx = v->ctx};
    kn_status     status = KN_OK;
    if (t->position) return KN_OK;
    if (table != v->person) KN_TRY(kn_vdb_positions(v, t->parent, err));
    t->position = kn_alloc_array(v->ctx, (size_t)t->release.rows + 1, sizeof *t->position);
    if (!t->position) return kn_vdb_no_memory(v, err);
    for (int64_t row = 0; row < t->release.rows && status == KN_OK; row++) {
        if ((row & 0xffff) == 0 && kn_cancelled(v->ctx)) status = kn_fail_cancelled(err);
        if (table == v->person) {
            t->position[row] = v->class_of[row];
            continue;
        }
        uint32_t key[2] = {v->tables[t->parent].position[t->release.parent[row]], t->subtree[row]};
        t->position[row] = sequence_number(&all, key, 2);
        if (status == KN_OK && t->position[row] == KN_V_NONE) status = kn_vdb_no_memory(v, err);
    }
    sequences_free(&all);
    return status;
}
