/* kn_link.c: joining people with the released classes whose cells cover theirs (kn_link.h).
 *
 * Both sets are sorted, so both are tries: a node of depth d stands for a combination of the first d cells. The two
 * are walked down together. All people who agree on their first d cells share one list of the class nodes of depth d
 * that cover these; for the next cell it is computed again from their children. A node's children are sorted by
 * label, and so is the list of labels that cover a value, so that the two are intersected by bisection of the longer
 * one. In a full-domain release one label covers a value and a person costs one bisection per attribute; where
 * intervals overlap the cost is that of the partial matches, shared by all who begin alike.
 *
 * Where the labels of an attribute cover so many values that listing them would take too much memory, the children
 * are checked one by one instead. Threads process ranges of people; each range walks down separately.
 *
 * Cost: O(people × attributes × log labels) for full-domain releases. Memory: 8 bytes per node of the class trie, 4
 * per listed pair of label and value, 8 per person class.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_link.h"

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_parallel.h"

enum { GRAIN = 2048 };
static const char what[] = "linking tables";

/* The nodes of one depth: their labels, and where the children of each begin among the nodes one deeper. */
typedef struct level {
    uint32_t *labels;
    uint32_t *children; /* count + 1 */
    uint32_t  count;
} level;

/* The labels that cover each value of an attribute, ascending. */
typedef struct cover {
    uint64_t *starts; /* values + 1; NULL: not listed */
    uint32_t *labels;
} cover;

/* The state of one worker: the list of nodes of each depth. */
typedef struct scratch {
    uint32_t **nodes;
    size_t    *capacities;
} scratch;

typedef struct join {
    kn_context          *ctx;
    const kn_link_input *in;
    level               *levels; /* attribute_count + 1; the first is the root alone */
    cover               *covers;
    scratch             *workers;
    int64_t             *matches;
    int64_t             *certain; /* per range × sensitive_count */
} join;

/* ---- The trie of classes ---- */

/* The first column in which a class differs from the one before it. */
static int first_difference(const kn_freq *f, int64_t class_index)
{
    int c = 0;
    while (kn_freq_code(f, class_index, c) == kn_freq_code(f, class_index - 1, c)) c++;
    return c;
}

static kn_status make_levels(join *j, kn_error *err)
{
    const kn_freq *f = j->in->classes;
    int            n = j->in->attribute_count;
    j->levels = kn_alloc_array_zero(j->ctx, (size_t)n + 1, sizeof *j->levels);
    if (!j->levels) return kn_fail_memory(err, j->ctx, what);
    for (int64_t i = 0; i < f->classes; i++)
        for (int d = i == 0 ? 0 : first_difference(f, i) + 1; d <= n; d++) j->levels[d].count++;
    for (int d = 0; d <= n; d++) {
        level *l = &j->levels[d];
        l->labels = kn_alloc_array(j->ctx, (size_t)l->count + 1, sizeof *l->labels);
        l->children = kn_alloc_array_zero(j->ctx, (size_t)l->count + 1, sizeof *l->children);
        if (!l->labels || !l->children) return kn_fail_memory(err, j->ctx, what);
        l->count = 0;
    }
    for (int64_t i = 0; i < f->classes; i++)
        for (int d = i == 0 ? 0 : first_difference(f, i) + 1; d <= n; d++) {
            level *l = &j->levels[d];
            l->labels[l->count] = d > 0 ? kn_freq_code(f, i, d - 1) : 0;
            l->children[l->count++] = d < n ? j->levels[d + 1].count : 0;
        }
    for (int d = 0; d < n; d++) j->levels[d].children[j->levels[d].count] = j->levels[d + 1].count;
    return KN_OK;
}

/* ---- Which labels cover a value ---- */

/* The positions in the hierarchy's order of codes whose leaves a node covers: [*begin, *end). */
static void codes_below(const kn_hierarchy *h, uint32_t node, uint32_t *begin, uint32_t *end)
{
    uint32_t limits[2] = {h->first[node], h->last[node]}, found[2];
    for (int i = 0; i < 2; i++) {
        uint32_t low = 0, high = h->codes;
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (h->leaf_of_code[h->code_order[middle]] < limits[i])
                low = middle + 1;
            else
                high = middle;
        }
        found[i] = low;
    }
    *begin = found[0];
    *end = found[1];
}

/* Does something with every value that a label covers; only counts where `to` is NULL. */
typedef struct listing {
    uint64_t *next; /* per value: where its next label goes, or (counting) how many there are */
    uint32_t *to;
    uint64_t  pairs;
} listing;

static void list_pair(listing *l, uint32_t value, uint32_t label)
{
    if (l->to) l->to[l->next[value]] = label;
    l->next[value]++;
    l->pairs++;
}

static void list_label(listing *l, const kn_link_attribute *a, uint32_t label)
{
    const kn_cell *cell = &a->cells[label];
    uint32_t       missing = a->values - 1, begin = 0, end = 0;
    switch ((kn_cell_kind)cell->kind) {
    case KN_CELL_VALUE: list_pair(l, cell->a, label); break;
    case KN_CELL_NODE:
        codes_below(a->hierarchy, cell->a, &begin, &end);
        for (uint32_t i = begin; i < end; i++) list_pair(l, a->hierarchy->code_order[i], label);
        if (kn_hierarchy_covers(a->hierarchy, cell->a, a->hierarchy->leaves)) list_pair(l, missing, label);
        break;
    case KN_CELL_RANGE:
        for (uint32_t c = cell->a; c <= cell->b; c++) list_pair(l, c, label);
        break;
    case KN_CELL_SET:
        for (uint32_t i = 0; i < cell->b; i++) list_pair(l, a->members[cell->a + i], label);
        break;
    case KN_CELL_STAR:
        for (uint32_t c = 0; c < a->values; c++) list_pair(l, c, label);
        break;
    }
}

/* How many values a label covers, or somewhat more. */
static uint64_t cover_size(const kn_link_attribute *a, uint32_t label)
{
    const kn_cell *cell = &a->cells[label];
    uint32_t       begin, end;
    switch ((kn_cell_kind)cell->kind) {
    case KN_CELL_NODE: codes_below(a->hierarchy, cell->a, &begin, &end); return (uint64_t)(end - begin) + 1;
    case KN_CELL_RANGE: return (uint64_t)(cell->b - cell->a) + 1;
    case KN_CELL_SET: return cell->b;
    case KN_CELL_STAR: return a->values;
    default: return 1;
    }
}

static kn_status make_cover(join *j, int which, kn_error *err)
{
    const kn_link_attribute *a = &j->in->attributes[which];
    cover                   *c = &j->covers[which];
    uint64_t                 pairs = 0, limit = j->in->pair_limit ? j->in->pair_limit : (uint64_t)1 << 25;
    for (uint32_t label = 0; label < a->labels && pairs <= limit; label++) pairs += cover_size(a, label);
    if (pairs > limit) return KN_OK;
    listing l = {kn_alloc_array_zero(j->ctx, a->values, sizeof *l.next), NULL, 0};
    c->starts = kn_alloc_array_zero(j->ctx, (size_t)a->values + 1, sizeof *c->starts);
    if (!c->starts || !l.next) {
        kn_free(l.next);
        return kn_fail_memory(err, j->ctx, what);
    }
    for (uint32_t label = 0; label < a->labels; label++) list_label(&l, a, label);
    for (uint32_t v = 0; v < a->values; v++) {
        c->starts[v + 1] = c->starts[v] + l.next[v];
        l.next[v] = c->starts[v];
    }
    c->labels = kn_alloc_array(j->ctx, (size_t)l.pairs + 1, sizeof *c->labels);
    l.to = c->labels;
    if (c->labels)
        for (uint32_t label = 0; label < a->labels; label++) list_label(&l, a, label);
    kn_free(l.next);
    return c->labels ? KN_OK : kn_fail_memory(err, j->ctx, what);
}

bool kn_link_covers(const kn_link_attribute *a, uint32_t label, uint32_t value)
{
    const kn_cell *cell = &a->cells[label];
    switch ((kn_cell_kind)cell->kind) {
    case KN_CELL_VALUE: return cell->a == value;
    case KN_CELL_NODE:
        return kn_hierarchy_covers(a->hierarchy, cell->a,
                                   value + 1 == a->values ? a->hierarchy->leaves : a->hierarchy->leaf_of_code[value]);
    case KN_CELL_RANGE: return cell->a <= value && value <= cell->b;
    case KN_CELL_SET: break;
    case KN_CELL_STAR: return true;
    }
    uint32_t low = 0, high = cell->b;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (a->members[cell->a + middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low < cell->b && a->members[cell->a + low] == value;
}

/* ---- Walking down ---- */

static bool put(join *j, scratch *s, int depth, size_t *count, uint32_t node)
{
    if (!KN_GROW(j->ctx, &s->nodes[depth], &s->capacities[depth], *count + 1)) return false;
    s->nodes[depth][(*count)++] = node;
    return true;
}

/* The first of sorted[begin, end) that is not below `wanted`. */
static uint64_t lower_bound(const uint32_t *sorted, uint64_t begin, uint64_t end, uint32_t wanted)
{
    while (begin < end) {
        uint64_t middle = begin + (end - begin) / 2;
        if (sorted[middle] < wanted)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

/* Appends the children [begin, end) of one node whose label covers the value. */
static bool add_children(join *j, scratch *s, int depth, size_t *count, uint32_t begin, uint32_t end, uint32_t value)
{
    const kn_link_attribute *a = &j->in->attributes[depth];
    const uint32_t          *labels = j->levels[depth + 1].labels;
    const cover             *c = &j->covers[depth];
    if (a->wildcard && value + 1 == a->values) {
        for (uint32_t child = begin; child < end; child++)
            if (!put(j, s, depth + 1, count, child)) return false;
        return true;
    }
    if (!c->starts) {
        for (uint32_t child = begin; child < end; child++)
            if (kn_link_covers(a, labels[child], value) && !put(j, s, depth + 1, count, child)) return false;
        return true;
    }
    uint64_t at = c->starts[value], last = c->starts[value + 1];
    if (last - at <= end - begin) {
        for (uint64_t child = begin; at < last && child < end; at++) {
            child = lower_bound(labels, child, end, c->labels[at]);
            if (child < end && labels[child] == c->labels[at] && !put(j, s, depth + 1, count, (uint32_t)child))
                return false;
        }
        return true;
    }
    for (uint32_t child = begin; at < last && child < end; child++) {
        at = lower_bound(c->labels, at, last, labels[child]);
        if (at < last && c->labels[at] == labels[child] && !put(j, s, depth + 1, count, child)) return false;
    }
    return true;
}

/* All cells are compared: adds up what these people match. */
static void finish(join *j, scratch *s, size_t count, int64_t person, int64_t *certain)
{
    const kn_link_input *in = j->in;
    const uint32_t      *classes = s->nodes[in->attribute_count];
    int64_t              matches = 0;
    for (size_t i = 0; i < count; i++) matches += in->rows[classes[i]];
    j->matches[person] = matches;
    for (int a = 0; a < in->sensitive_count && matches > 0; a++) {
        bool     same = true, first = true;
        uint32_t value = 0;
        for (size_t i = 0; i < count && same; i++) {
            if (in->rows[classes[i]] == 0) continue;
            uint32_t now = in->sensitive[a][classes[i]];
            same = now != KN_LINK_MIXED && (first || now == value);
            value = now;
            first = false;
        }
        if (same) certain[a] += in->people->counts[person];
    }
}

/* People [begin, end) agree on their first `depth` cells, which the `count` nodes in hand cover. */
static bool descend(join *j, scratch *s, int depth, size_t count, int64_t begin, int64_t end, int64_t *certain)
{
    const kn_freq *people = j->in->people;
    if (depth == j->in->attribute_count) {
        finish(j, s, count, begin, certain);
        return true;
    }
    for (int64_t at = begin; at < end;) {
        uint32_t value = kn_freq_code(people, at, depth);
        int64_t  next = at + 1;
        size_t   found = 0;
        while (next < end && kn_freq_code(people, next, depth) == value) next++;
        for (size_t i = 0; i < count; i++) {
            uint32_t node = s->nodes[depth][i];
            if (!add_children(j, s, depth, &found, j->levels[depth].children[node], j->levels[depth].children[node + 1],
                              value))
                return false;
        }
        /* Nobody of them matches anything: their matches are 0 already. */
        if (found > 0 && !descend(j, s, depth + 1, found, at, next, certain)) return false;
        at = next;
    }
    return true;
}

static kn_status walk(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    join    *j = arg;
    scratch *s = &j->workers[worker];
    size_t   count = 0;
    int64_t *certain = j->certain + begin / GRAIN * j->in->sensitive_count;
    if (j->levels[0].count > 0 && (!put(j, s, 0, &count, 0) || !descend(j, s, 0, 1, begin, end, certain)))
        return kn_fail_memory(err, j->ctx, what);
    kn_progress_add(j->ctx, (uint64_t)(end - begin));
    return KN_OK;
}

/* ---- All together ---- */

static kn_status make_scratch(join *j, kn_error *err)
{
    size_t depths = (size_t)j->in->attribute_count + 1;
    int    threads = kn_context_threads(j->ctx);
    j->workers = kn_alloc_array_zero(j->ctx, (size_t)threads, sizeof *j->workers);
    if (!j->workers) return kn_fail_memory(err, j->ctx, what);
    for (int i = 0; i < threads; i++) {
        j->workers[i].nodes = kn_alloc_array_zero(j->ctx, depths, sizeof *j->workers[i].nodes);
        j->workers[i].capacities = kn_alloc_array_zero(j->ctx, depths, sizeof *j->workers[i].capacities);
        if (!j->workers[i].nodes || !j->workers[i].capacities) return kn_fail_memory(err, j->ctx, what);
    }
    return KN_OK;
}

static void free_join(join *j)
{
    for (int d = 0; j->levels && d <= j->in->attribute_count; d++) {
        KN_FREE(j->levels[d].labels, j->levels[d].children);
    }
    for (int a = 0; j->covers && a < j->in->attribute_count; a++) {
        KN_FREE(j->covers[a].starts, j->covers[a].labels);
    }
    for (int i = 0; j->workers && i < kn_context_threads(j->ctx); i++) {
        for (int d = 0; j->workers[i].nodes && d <= j->in->attribute_count; d++) kn_free(j->workers[i].nodes[d]);
        KN_FREE(j->workers[i].nodes, j->workers[i].capacities);
    }
    KN_FREE(j->levels, j->covers, j->workers, j->certain);
}

static kn_status prepare(join *j, int64_t ranges, kn_error *err)
{
    const kn_link_input *in = j->in;
    KN_TRY(make_levels(j, err));
    j->covers = kn_alloc_array_zero(j->ctx, (size_t)in->attribute_count, sizeof *j->covers);
    j->matches = kn_alloc_array_zero(j->ctx, (size_t)in->people->classes + 1, sizeof *j->matches);
    j->certain = kn_alloc_array_zero(j->ctx, (size_t)ranges * (size_t)in->sensitive_count + 1, sizeof *j->certain);
    if (!j->covers || !j->matches || !j->certain) return kn_fail_memory(err, j->ctx, what);
    for (int a = 0; a < in->attribute_count; a++) KN_TRY(make_cover(j, a, err));
    return make_scratch(j, err);
}

kn_status kn_link_tables(kn_link_result *out, kn_context *ctx, const kn_link_input *in, kn_error *err)
{
    join      j = {.ctx = ctx, .in = in};
    int64_t   ranges = (in->people->classes + GRAIN - 1) / GRAIN;
    int64_t  *certain = kn_alloc_array_zero(ctx, (size_t)in->sensitive_count + 1, sizeof *certain);
    kn_status st = certain ? prepare(&j, ranges, err) : kn_fail_memory(err, ctx, what);
    if (st == KN_OK) {
        kn_progress_begin(ctx, "linking", "people", (uint64_t)in->people->classes);
        st = kn_parallel_for(ctx, in->people->classes, GRAIN, walk, &j, err);
        kn_progress_end(ctx);
    }
    for (int64_t r = 0; st == KN_OK && r < ranges; r++)
        for (int a = 0; a < in->sensitive_count; a++) certain[a] += j.certain[r * in->sensitive_count + a];
    if (st != KN_OK) {
        KN_FREE(certain, j.matches);
        certain = j.matches = NULL;
    }
    *out = (kn_link_result){j.matches, certain};
    free_join(&j);
    return st;
}
