/* table/cover.c: which classes of the release stand for a combination of values.
 *
 * Per quasi-identifier and value the covering texts are listed once. The classes are sorted by the numbers of their texts,
 * column by column, which makes them a trie: a search goes down column by column, into the range of classes whose text
 * there is one of those that cover the value. Nothing is assumed of how many there are: one in a full-domain release,
 * several where cells overlap.
 *
 * Cost: O(texts × values) once per column (for labels O(leaves × levels)); a search O(columns × log classes) per class found.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_sort.h"
#include "kn_verify_internal.h"

#define WHAT "verifying"

/* The value whose list is `i`. */
static uint32_t value_of(const kn_vquasi *q, uint32_t i)
{
    return i < q->domain.count ? i : KN_V_MISSING;
}

/* Texts by label, so that a value looks only at the labels of its own path. */
typedef struct by_label {
    uint32_t *first;  /* per label: text; KN_V_NONE    */
    uint32_t *next;   /* per text                      */
    uint32_t *others; /* texts that are no label      */
    uint32_t  other_count;
} by_label;

static bool index_labels(const kn_vquasi *q, kn_arena *room, by_label *b)
{
    uint32_t texts = q->release->count;
    b->first = kn_varray_none(room, (size_t)q->tree->labels.count + 1);
    b->next = kn_arena_array(room, (size_t)texts + 1, sizeof *b->next);
    b->others = kn_arena_array(room, (size_t)texts + 1, sizeof *b->others);
    if (room->failed) return false;
    for (uint32_t t = 0; t < texts; t++) {
        const kn_vcell *cell = &q->cells[t];
        if (cell->kind != KN_VCELL_NAMED || cell->value != KN_V_NONE) {
            b->others[b->other_count++] = t;
            continue;
        }
        b->next[t] = b->first[cell->label];
        b->first[cell->label] = t;
    }
    return true;
}

/* The same where the column was generalized to one level: a mask may end in "*" below the root. */
static bool stands_at_level(const kn_vquasi *q, const kn_vcell *cell, uint32_t value)
{
    uint64_t levels[4];
    if (cell->kind == KN_VCELL_STAR && cell->label == KN_V_NONE) return true;
    kn_vcell_levels(q, cell, value, levels);
    return levels[q->level / 64] >> q->level % 64 & 1;
}

/* Writes the texts that cover a value behind `to` (NULL: only counts them). */
static uint32_t list_texts(const kn_vquasi *q, const by_label *b, uint32_t value, bool by_level, uint32_t *to)
{
    const kn_vtree *t = q->tree;
    uint32_t        n = 0;
    by_level = by_level && q->level >= 0 && q->levels_known;
    for (uint32_t i = 0; i < b->other_count; i++)
        if (by_level ? stands_at_level(q, &q->cells[b->others[i]], value)
                     : kn_vcell_covers(q, &q->cells[b->others[i]], value)) {
            if (to) to[n] = b->others[i];
            n++;
        }
    if (t->leaves == 0) return n;
    bool            missing = value == KN_V_MISSING;
    const uint32_t *path = t->paths + (missing ? 0 : (size_t)t->leaf_of_value[value] * (t->height + 1));
    for (uint32_t level = missing ? t->height : 0; level <= t->height; level++) {
        bool again = level > 0 && !missing && t->label[path[level]] == t->label[path[level - 1]];
        if (by_level) again = level != (uint32_t)q->level;
        for (uint32_t text = again ? KN_V_NONE : b->first[t->label[path[level]]]; text != KN_V_NONE;
             text = b->next[text]) {
            if (to) to[n] = text;
            n++;
        }
    }
    return n;
}

static kn_status list_quasi(kn_vcover *c, int i, kn_error *err)
{
    const kn_vquasi *q = &c->v->quasi[i];
    uint32_t         values = q->domain.count + 1;
    kn_arena         room = {.ctx = c->v->ctx};
    by_label         b = {0};
    uint64_t         total = 0;
    c->starts[i] = kn_arena_array(&c->room, (size_t)values + 1, sizeof **c->starts);
    bool ok = c->starts[i] && index_labels(q, &room, &b);
    for (uint32_t v = 0; ok && v < values; v++) {
        c->starts[i][v] = (uint32_t)total;
        total += list_texts(q, &b, value_of(q, v), c->by_level, NULL);
        ok = total < KN_V_MISSING;
    }
    if (ok) {
        c->starts[i][values] = (uint32_t)total;
        c->lists[i] = kn_arena_array(&c->room, (size_t)total + 1, sizeof **c->lists);
        ok = c->lists[i] != NULL;
    }
    for (uint32_t v = 0; ok && v < values; v++)
        (void)list_texts(q, &b, value_of(q, v), c->by_level, c->lists[i] + c->starts[i][v]);
    kn_arena_free(&room);
    return ok ? KN_OK : kn_fail_memory(err, c->v->ctx, WHAT);
}

static int compare_classes(const void *arg, uint64_t a, uint64_t b)
{
    const kn_vcover *c = arg;
    const uint32_t  *x = c->codes + a * (size_t)c->depth, *y = c->codes + b * (size_t)c->depth;
    for (int i = 0; i < c->depth; i++)
        if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
    return a < b ? -1 : a > b;
}

static kn_status sort_classes(kn_vcover *c, kn_error *err)
{
    kn_verifier    *v = c->v;
    uint32_t        n = v->classes.count;
    kn_sort_record *records = kn_alloc_array(v->ctx, (size_t)n + 1, sizeof *records);
    if (!records) return kn_fail_memory(err, c->v->ctx, WHAT);
    for (uint32_t k = 0; k < n; k++) {
        for (int i = 0; i < c->depth; i++)
            c->codes[(size_t)k * (size_t)c->depth + (size_t)i] = kn_vcode(v->quasi[i].release, v->classes.first[k]);
        records[k] = (kn_sort_record){c->depth ? c->codes[(size_t)k * (size_t)c->depth] : 0, k};
    }
    kn_status st = kn_sort_records(v->ctx, records, n, compare_classes, c, err);
    for (uint32_t k = 0; st == KN_OK && k < n; k++) c->order[k] = (uint32_t)records[k].id;
    kn_free(records);
    return st;
}

kn_status kn_vcover_make(kn_vcover *c, kn_verifier *v, bool by_level, kn_error *err)
{
    size_t n = v->classes.count, depth = (size_t)v->quasi_count;
    *c = (kn_vcover){.v = v, .room = {.ctx = v->ctx}, .depth = v->quasi_count, .by_level = by_level};
    c->order = kn_arena_array(&c->room, n + 1, sizeof *c->order);
    c->codes = kn_arena_array(&c->room, n * depth + 1, sizeof *c->codes);
    c->lists = kn_arena_array(&c->room, depth + 1, sizeof *c->lists);
    c->starts = kn_arena_array(&c->room, depth + 1, sizeof *c->starts);
    if (c->room.failed) return kn_fail_memory(err, c->v->ctx, WHAT);
    for (int i = 0; i < c->depth; i++) KN_TRY(list_quasi(c, i, err));
    return sort_classes(c, err);
}

/* The first class in [low, high) whose text in this column is not smaller. */
static uint32_t bound(const kn_vcover *c, uint32_t low, uint32_t high, int column, uint64_t text)
{
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (c->codes[(size_t)c->order[middle] * (size_t)c->depth + (size_t)column] < text)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool descend(kn_vcover *c, const uint32_t *values, int column, uint32_t low, uint32_t high, kn_vcover_fn found,
                    void *arg)
{
    if (column == c->depth) {
        for (uint32_t i = low; i < high; i++)
            if (!found(arg, c->order[i])) return false;
        return true;
    }
    const kn_vquasi *q = &c->v->quasi[column];
    uint32_t         value = values[column] == KN_V_MISSING ? q->domain.count : values[column];
    for (uint32_t i = c->starts[column][value]; i < c->starts[column][value + 1]; i++) {
        uint32_t text = c->lists[column][i], from = bound(c, low, high, column, text);
        c->work++;
        uint32_t to = bound(c, from, high, column, (uint64_t)text + 1);
        if (from < to && !descend(c, values, column + 1, from, to, found, arg)) return false;
    }
    return true;
}

bool kn_vcover_each(kn_vcover *c, const uint32_t *values, kn_vcover_fn found, void *arg)
{
    for (int i = 0; i < c->depth; i++)
        if (values[i] == KN_V_NONE) return true;
    return descend(c, values, 0, 0, c->v->classes.count, found, arg);
}
