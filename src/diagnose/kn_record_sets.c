/* kn_record_sets.c: depth first through the combinations that occur, one set of classes after the other: the records that have a
 * combination are sorted by their values of the next class.
 *
 * Interface: kn_record_sets.h. The sets of classes are divided among the threads; each thread has marks of its own for the
 * records that were found, whose minimum does not depend on the order.
 *
 * Cost: one step per record and set of up to m of its values, with its sets of relations. Memory: 8 bytes per node; per thread the
 * records of one combination's extensions, and (n + 1) × 8 + 2 m bytes per record. Paper: section II-C.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_record_sets.h"

#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_compare.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_parallel.h"

enum { MOST_M = KN_RECORD_SETS_MOST_M, NEVER = UINT8_MAX };

static const char what[] = "diagnosing tree records";

/* A record with the value that it was sorted by. */
typedef struct entry {
    uint32_t record, item; /* item: counted from the record's first */
    size_t   up;           /* the entry before, with the value before */
} entry;

typedef struct level {
    entry    *entries;
    uint32_t *touched; /* values, and behind them where their entries end */
    size_t    entry_capacity, touched_capacity;
} level;

typedef struct relation {
    int above, below; /* places in the set */
} relation;

/* The scratch of one thread. */
typedef struct worker {
    level     levels[MOST_M];
    size_t   *lists[MOST_M * MOST_M]; /* per relation taken: the entries that have all so far */
    size_t    list_capacity[MOST_M * MOST_M];
    uint32_t *count;          /* per value, all zero between calls */
    uint32_t *below, *unique; /* per number of relations and record: the last set that found it, counted from 1 */
    uint8_t  *least_below, *least_unique; /* per record and size: the fewest relations with which it is found */
    relation  open[MOST_M * MOST_M], taken[MOST_M * MOST_M];
    int       open_count, taken_count;
    uint32_t  item[MOST_M]; /* of the record looked at */
    uint32_t  node[MOST_M];
} worker;

typedef struct counter {
    kn_context                 *ctx;
    const kn_records           *records;
    const kn_record_sets_asked *asked;
    /* Per record the known values, ascending, each once; and per value the nodes that have it. */
    uint64_t      *item_start; /* records + 1 */
    uint32_t      *items;
    uint64_t      *node_start; /* items + 1 */
    uint32_t      *nodes;
    uint32_t      *item_of; /* per node; UINT32_MAX: it is not known */
    worker        *workers;
    int            worker_count;
    kn_record_set *sets; /* per set of classes and number of relations */
    int64_t        set_count;
} counter;

/* ---- The known values of a record ---- */

static bool is_known(const kn_vocabulary *v, uint32_t value)
{
    return v->cls[value] != KN_VOCABULARY_NO_CLASS && !v->sensitive[v->cls[value]];
}

typedef struct valued {
    uint32_t value, node;
} valued;

static int by_value(const void *a, const void *b)
{
    const valued *x = a, *y = b;
    return x->value != y->value ? kn_compare_u32(&x->value, &y->value) : kn_compare_u32(&x->node, &y->node);
}

static void list_record(counter *c, int64_t record, valued *scratch)
{
    const kn_records *x = c->records;
    uint64_t          from = x->start[record], item = c->item_start[record];
    uint32_t          known = 0;
    for (uint64_t i = from; i < x->start[record + 1]; i++) {
        c->item_of[i] = UINT32_MAX;
        if (is_known(x->vocabulary, x->value[i])) scratch[known++] = (valued){x->value[i], (uint32_t)(i - from)};
    }
    qsort(scratch, known, sizeof *scratch, by_value);
    uint64_t at = c->node_start[item];
    for (uint32_t i = 0; i < known; i++) {
        if (i == 0 || scratch[i].value != scratch[i - 1].value) {
            c->node_start[item] = at;
            c->items[item++] = scratch[i].value;
        }
        c->nodes[at++] = scratch[i].node;
        c->item_of[from + scratch[i].node] = (uint32_t)(item - 1 - c->item_start[record]);
    }
    c->node_start[item] = at;
    c->item_start[record + 1] = item;
}

static kn_status list_values(counter *c, kn_error *err)
{
    const kn_records *x = c->records;
    uint64_t          widest = 0;
    for (int64_t r = 0; r < x->count; r++)
        if (x->start[r + 1] - x->start[r] > widest) widest = x->start[r + 1] - x->start[r];
    valued *scratch = kn_alloc_array(c->ctx, (size_t)widest + 1, sizeof *scratch);
    if (!scratch || !KN_ALLOC_ZERO(c->ctx, c->item_start, (size_t)x->count + 1) ||
        !KN_ALLOC(c->ctx, c->items, (size_t)x->nodes + 1) ||
        !KN_ALLOC_ZERO(c->ctx, c->node_start, (size_t)x->nodes + 1) ||
        !KN_ALLOC(c->ctx, c->nodes, (size_t)x->nodes + 1) || !KN_ALLOC(c->ctx, c->item_of, (size_t)x->nodes + 1)) {
        kn_free(scratch);
        return kn_fail_memory(err, c->ctx, what);
    }
    for (int64_t r = 0; r < x->count; r++) list_record(c, r, scratch);
    kn_free(scratch);
    return KN_OK;
}

static kn_status check_sizes(const counter *c, kn_error *err)
{
    for (int64_t r = 0; r < c->records->count; r++) {
        double   sets = 0, chosen = 1;
        uint64_t n = c->item_start[r + 1] - c->item_start[r];
        for (int s = 1; s <= c->asked->m && (uint64_t)s <= n; s++) {
            chosen = chosen * (double)(n - (uint64_t)s + 1) / s;
            sets += chosen;
        }
        if (sets > KN_RECORD_SETS_OF_RECORD)
            return kn_fail(
                err, KN_INPUT,
                "record %lld: it has %llu values, and sets of up to %d of them are more than %d: too many to "
                "be counted; lower m, or leave a class out",
                (long long)r + 1, (unsigned long long)n, c->asked->m, KN_RECORD_SETS_OF_RECORD);
    }
    return KN_OK;
}

/* ---- One combination ---- */

/* The entries of one combination: places in a level's, of all or of those listed. */
typedef struct found {
    const level  *level;
    size_t        from, count;
    const size_t *list; /* NULL: all */
} found;

static size_t entry_at(const found *f, size_t i)
{
    return f->list ? f->list[i] : f->from + i;
}

static void mark(counter *c, worker *w, kn_record_set *set, int64_t number, const found *f)
{
    size_t   records = (size_t)c->records->count, row = (size_t)set->relations * records;
    uint8_t *below = w->least_below + (size_t)(set->class_count - 1) * records;
    uint8_t *unique = w->least_unique + (size_t)(set->class_count - 1) * records;
    set->combinations++;
    if (set->least == 0 || (int64_t)f->count < set->least) set->least = (int64_t)f->count;
    for (size_t i = 0; i < f->count && (int64_t)f->count < c->asked->k; i++) {
        uint32_t r = f->level->entries[entry_at(f, i)].record;
        set->below += w->below[row + r] != number + 1;
        w->below[row + r] = (uint32_t)(number + 1);
        if (below[r] > set->relations) below[r] = (uint8_t)set->relations;
    }
    if (f->count != 1) return;
    uint32_t r = f->level->entries[entry_at(f, 0)].record;
    set->unique += w->unique[row + r] != number + 1;
    w->unique[row + r] = (uint32_t)(number + 1);
    if (unique[r] > set->relations) unique[r] = (uint8_t)set->relations;
}

static void take_items(worker *w, int size, size_t at)
{
    for (int i = size - 1; i >= 0; i--) {
        w->item[i] = w->levels[i].entries[at].item;
        at = w->levels[i].entries[at].up;
    }
}

static bool is_above(const counter *c, uint32_t record, uint32_t item, uint32_t node)
{
    uint64_t from = c->records->start[record];
    for (uint32_t p = c->records->parent[from + node]; p != KN_RECORDS_ROOT; p = c->records->parent[from + p])
        if (c->item_of[from + p] == item) return true;
    return false;
}

static bool has_relation(const counter *c, const worker *w, uint32_t record, relation r)
{
    uint64_t item = c->item_start[record] + w->item[r.below];
    for (uint64_t i = c->node_start[item]; i < c->node_start[item + 1]; i++)
        if (is_above(c, record, w->item[r.above], c->nodes[i])) return true;
    return false;
}

static bool stands_above(const counter *c, uint32_t record, uint32_t above, uint32_t below)
{
    uint64_t from = c->records->start[record];
    for (uint32_t p = c->records->parent[from + below]; p != KN_RECORDS_ROOT; p = c->records->parent[from + p])
        if (p == above) return true;
    return false;
}

/* One node for each value, under which all relations that were taken hold. */
static bool on_nodes(const counter *c, worker *w, uint32_t record, int size, int place)
{
    if (place == size) return true;
    uint64_t item = c->item_start[record] + w->item[place];
    for (uint64_t i = c->node_start[item]; i < c->node_start[item + 1]; i++) {
        bool fits = true;
        w->node[place] = c->nodes[i];
        for (int t = 0; t < w->taken_count && fits; t++) {
            relation r = w->taken[t]; /* classes ascend: what is above comes first */
            if (r.below == place) fits = stands_above(c, record, w->node[r.above], w->node[place]);
        }
        if (fits && on_nodes(c, w, record, size, place + 1)) return true;
    }
    return false;
}

/* The combination with every set of one to n relations from `first` on. */
static bool relate(counter *c, worker *w, kn_record_set *sets, int64_t number, const found *f, int first)
{
    int size = sets->class_count, taken = w->taken_count;
    if (taken == c->asked->n || first == w->open_count) return true;
    if (!KN_GROW(c->ctx, &w->lists[taken], &w->list_capacity[taken], f->count)) return false;
    for (int o = first; o < w->open_count; o++) {
        found more = {f->level, 0, 0, w->lists[taken]};
        w->taken[w->taken_count++] = w->open[o];
        for (size_t i = 0; i < f->count; i++) {
            size_t   at = entry_at(f, i);
            uint32_t record = f->level->entries[at].record;
            take_items(w, size, at);
            if (!has_relation(c, w, record, w->open[o])) continue;
            if (!c->asked->paths || w->taken_count < 2 || on_nodes(c, w, record, size, 0))
                w->lists[taken][more.count++] = at;
        }
        if (more.count > 0) mark(c, w, &sets[w->taken_count], number, &more);
        bool fine = more.count == 0 || relate(c, w, sets, number, &more, o + 1);
        w->taken_count--;
        if (!fine) return false;
    }
    return true;
}

/* ---- One set of classes ---- */

/* A record's values of a class, from `item` on. */
static uint64_t first_of_class(const counter *c, uint32_t record, int cls)
{
    uint32_t top = c->records->vocabulary->top[cls];
    uint64_t low = c->item_start[record], high = c->item_start[record + 1];
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (c->items[middle] < top)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Where the values go on that may be added to an entry of the level before. */
static uint64_t next_item(const counter *c, const kn_record_set *set, int depth, uint32_t record, const entry *before)
{
    if (depth > 0 && set->classes[depth] == set->classes[depth - 1]) return c->item_start[record] + before->item + 1;
    return first_of_class(c, record, set->classes[depth]);
}

/* The values that may be added to one entry of the level before (of level 0: to a record). */
typedef struct choice {
    uint32_t record;
    uint64_t from, to; /* items */
} choice;

static choice choices(const counter *c, const worker *w, const kn_record_set *set, int depth, size_t at)
{
    const kn_vocabulary *v = c->records->vocabulary;
    const entry         *before = depth > 0 ? &w->levels[depth - 1].entries[at] : NULL;
    choice               out = {.record = before ? before->record : (uint32_t)at};
    out.from = next_item(c, set, depth, out.record, before);
    out.to = out.from;
    while (out.to < c->item_start[out.record + 1] && c->items[out.to] < v->end[v->top[set->classes[depth]]]) out.to++;
    return out;
}

/* Sorts the entries [from, to) of the level before by their values of the next class, each as often as it has some; how many
 * values there are; -1: out of memory. */
static int64_t split(counter *c, worker *w, const kn_record_set *set, int depth, size_t from, size_t to)
{
    level   *l = &w->levels[depth];
    size_t   total = 0, values = 0;
    uint32_t end = 0;
    for (size_t e = from; e < to; e++) {
        choice some = choices(c, w, set, depth, e);
        if (!KN_GROW(c->ctx, &l->touched, &l->touched_capacity, 2 * (values + (some.to - some.from)) + 1)) return -1;
        for (uint64_t i = some.from; i < some.to; i++, total++)
            if (w->count[c->items[i]]++ == 0) l->touched[values++] = c->items[i];
    }
    if (!KN_GROW(c->ctx, &l->entries, &l->entry_capacity, total + 1)) return -1;
    for (size_t i = 0; i < values; i++) {
        uint32_t here = w->count[l->touched[i]];
        w->count[l->touched[i]] = end;
        end += here;
    }
    for (size_t e = from; e < to; e++) {
        choice some = choices(c, w, set, depth, e);
        for (uint64_t i = some.from; i < some.to; i++)
            l->entries[w->count[c->items[i]]++] = (entry){some.record, (uint32_t)(i - c->item_start[some.record]), e};
    }
    for (size_t i = 0; i < values; i++) {
        l->touched[values + i] = w->count[l->touched[i]];
        w->count[l->touched[i]] = 0;
    }
    return (int64_t)values;
}

static bool look(counter *c, worker *w, kn_record_set *sets, int64_t number, int depth, size_t from, size_t to)
{
    if (kn_cancelled(c->ctx)) return true;
    int64_t values = split(c, w, sets, depth, from, to);
    size_t  begin = 0;
    for (int64_t i = 0; i < values; i++) {
        size_t end = w->levels[depth].touched[values + i];
        if (depth + 1 < sets->class_count) {
            if (!look(c, w, sets, number, depth + 1, begin, end)) return false;
        } else {
            found f = {&w->levels[depth], begin, end - begin, NULL};
            mark(c, w, sets, number, &f);
            if (!relate(c, w, sets, number, &f, 0)) return false;
        }
        begin = end;
    }
    return values >= 0;
}

/* Classes nest in their order, and none occurs twice on a path. */
static void open_relations(worker *w, const kn_record_set *set)
{
    w->open_count = w->taken_count = 0;
    for (int below = 1; below < set->class_count; below++)
        for (int above = 0; above < below; above++)
            if (set->classes[above] < set->classes[below]) w->open[w->open_count++] = (relation){above, below};
}

static kn_status look_range(void *arg, int64_t begin, int64_t end, int which, kn_error *err)
{
    counter *c = arg;
    worker  *w = &c->workers[which];
    for (int64_t i = begin; i < end; i++) {
        kn_record_set *sets = c->sets + i * (c->asked->n + 1);
        open_relations(w, sets);
        if (!look(c, w, sets, i, 0, 0, (size_t)c->records->count)) return kn_fail_memory(err, c->ctx, what);
    }
    kn_progress_add(c->ctx, (uint64_t)(end - begin));
    return KN_OK;
}

/* ---- All sets of classes ---- */

static int64_t count_sets(int64_t classes, int m)
{
    int64_t all = 0, of_size = 1;
    for (int size = 1; size <= m && all <= KN_RECORD_SETS_MOST; size++) {
        of_size = of_size * (classes + size - 1) / size;
        all += of_size;
    }
    return all;
}

/* Sets of so many of the known classes, in their order; one may occur several times. */
static kn_status add_sets(counter *c, kn_arena *arena, const int *known, int count, int size, kn_error *err)
{
    int at[MOST_M] = {0};
    for (;;) {
        int *classes = kn_arena_array(arena, (size_t)size, sizeof *classes), last = size - 1;
        if (!classes) return kn_fail_memory(err, c->ctx, what);
        for (int i = 0; i < size; i++) classes[i] = known[at[i]];
        for (int n = 0; n <= c->asked->n; n++)
            c->sets[c->set_count * (c->asked->n + 1) + n] =
                (kn_record_set){.classes = classes, .class_count = size, .relations = n};
        c->set_count++;
        while (last >= 0 && at[last] == count - 1) last--;
        if (last < 0) return KN_OK;
        at[last]++;
        for (int i = last + 1; i < size; i++) at[i] = at[last];
    }
}

static kn_status list_sets(counter *c, kn_arena *arena, kn_error *err)
{
    const kn_vocabulary *v = c->records->vocabulary;
    int                  count = 0, *known = kn_arena_array(arena, (size_t)v->class_count + 1, sizeof *known);
    if (!known) return kn_fail_memory(err, c->ctx, what);
    for (int i = 0; i < v->class_count; i++)
        if (!v->sensitive[i]) known[count++] = i;
    int64_t all = count_sets(count, c->asked->m);
    if (all > KN_RECORD_SETS_MOST)
        return kn_fail(err, KN_USAGE, "there are more than 100,000 sets of up to %d of %d classes; lower m",
                       c->asked->m, count);
    c->sets = kn_arena_array(arena, (size_t)(all * (c->asked->n + 1)) + 1, sizeof *c->sets);
    if (!c->sets) return kn_fail_memory(err, c->ctx, what);
    for (int size = 1; size <= c->asked->m && count > 0; size++) KN_TRY(add_sets(c, arena, known, count, size, err));
    return KN_OK;
}

static kn_status make_workers(counter *c, kn_error *err)
{
    size_t threads = (size_t)kn_context_threads(c->ctx), records = (size_t)c->records->count + 1;
    size_t marks = (size_t)(c->asked->n + 1) * records, sizes = (size_t)c->asked->m * records;
    if (!KN_ALLOC_ZERO(c->ctx, c->workers, threads)) return kn_fail_memory(err, c->ctx, what);
    c->worker_count = (int)threads;
    for (size_t i = 0; i < threads; i++) {
        worker *w = &c->workers[i];
        if (!KN_ALLOC_ZERO(c->ctx, w->count, c->records->vocabulary->nodes) ||
            !KN_ALLOC_ZERO(c->ctx, w->below, marks) || !KN_ALLOC_ZERO(c->ctx, w->unique, marks) ||
            !KN_ALLOC(c->ctx, w->least_below, sizes) || !KN_ALLOC(c->ctx, w->least_unique, sizes))
            return kn_fail_memory(err, c->ctx, what);
        memset(w->least_below, NEVER, sizes);
        memset(w->least_unique, NEVER, sizes);
    }
    return KN_OK;
}

static void counter_free(counter *c)
{
    for (int i = 0; i < c->worker_count; i++) {
        worker *w = &c->workers[i];
        for (int d = 0; d < MOST_M; d++) KN_FREE(w->levels[d].entries, w->levels[d].touched);
        for (int d = 0; d < MOST_M * MOST_M; d++) kn_free(w->lists[d]);
        KN_FREE(w->count, w->below, w->unique, w->least_below, w->least_unique);
    }
    KN_FREE(c->workers, c->item_start, c->items, c->node_start, c->nodes, c->item_of);
}

/* ---- Answers ---- */

/* The fewest relations with which sets of this size find a record, on any thread. */
static int least_of(const counter *c, int64_t record, int size, bool unique)
{
    int    least = NEVER;
    size_t at = (size_t)(size - 1) * (size_t)c->records->count + (size_t)record;
    for (int i = 0; i < c->worker_count; i++) {
        int own = unique ? c->workers[i].least_unique[at] : c->workers[i].least_below[at];
        if (own < least) least = own;
    }
    return least;
}

static void reach_record(kn_record_sets *out, const counter *c, int64_t record, bool unique)
{
    int  least = NEVER, size = 0;
    bool first = true;
    for (int i = 0; i < out->reach_count; i++) {
        kn_record_reach *r = &out->reach[i];
        for (; size < r->m; size++) {
            int own = least_of(c, record, size + 1, unique);
            if (own < least) least = own;
        }
        if (least > r->n) continue;
        *(unique ? &r->unique : &r->below) += 1;
        *(unique ? &r->first_unique : &r->first_below) += first;
        first = false;
    }
}

static kn_status tell(kn_record_sets *out, counter *c, kn_arena *arena, kn_error *err)
{
    int m = c->asked->m, n = c->asked->n;
    out->reach = kn_arena_array_zero(arena, (size_t)m * (size_t)(n + 1), sizeof *out->reach);
    if (!out->reach) return kn_fail_memory(err, c->ctx, what);
    for (int values = 1; values <= m; values++)
        for (int relations = 0; relations <= n && relations <= values * (values - 1) / 2; relations++)
            out->reach[out->reach_count++] = (kn_record_reach){.m = values, .n = relations};
    for (int64_t r = 0; r < c->records->count; r++) {
        reach_record(out, c, r, false);
        reach_record(out, c, r, true);
    }
    out->sets = c->sets;
    for (int64_t i = 0; i < c->set_count * (n + 1); i++)
        if (c->sets[i].combinations > 0) out->sets[out->set_count++] = c->sets[i];
    return KN_OK;
}

kn_status kn_record_sets_count(kn_record_sets *out, kn_arena *arena, const kn_records *records,
                               const kn_record_sets_asked *asked, kn_error *err)
{
    counter c = {.ctx = arena->ctx, .records = records, .asked = asked};
    *out = (kn_record_sets){0};
    kn_status st = list_values(&c, err);
    if (st == KN_OK) st = check_sizes(&c, err);
    if (st == KN_OK) st = list_sets(&c, arena, err);
    if (st == KN_OK) st = make_workers(&c, err);
    if (st == KN_OK) {
        kn_progress_begin(c.ctx, "comparing records", "sets", (uint64_t)c.set_count);
        st = kn_parallel_for(c.ctx, c.set_count, 1, look_range, &c, err);
        kn_progress_end(c.ctx);
    }
    if (st == KN_OK) st = tell(out, &c, arena, err);
    counter_free(&c);
    return st;
}
