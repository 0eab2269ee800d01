/* kn_attack_records.c: the linking attack on records that are trees: whom somebody finds who knows some nodes of theirs.
 *
 * Interface: kn_attack_records (kn_attack.h). A record matches a known one if it shows each known value or a broader one, and each known
 * relation between such, one by one. A relation that no released record shows was removed, so it rules out nobody; nor does a value that
 * none shows where the request allows values to be given up. The original has values and relations as they are.
 *
 * Equal records are looked at once. Of each known person the rarest value says which records may match, so the cost is that of the
 * records that have it. Persons are divided among the threads. Memory: 8 bytes per node, twice.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_attack.h"
#include "kn_compare.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_hash.h"
#include "kn_parallel.h"
#include "kn_records.h"
#include "kn_records_read.h"
#include "kn_sort.h"
#include "kn_spec_records.h"

#define ROOT KN_RECORDS_ROOT
enum { GRAIN = 64 };

static const char what[] = "attacking records";

/* Records that are attacked: the first ones, equal ones once. */
typedef struct target {
    const kn_records *records;
    const kn_records *own; /* the same over their own vocabulary, which has what nobody else knows, too */
    int64_t           count;
    uint32_t         *row;    /* per different record: one that is like it        */
    int64_t          *weight; /* ... and how many are                             */
    int64_t           rows;
    uint64_t         *start, *own_start; /* rows + 1: their values, ascending, each once */
    uint32_t         *values, *own_values;
    uint64_t         *list_start; /* per value, and one more: the rows that have it */
    uint32_t         *lists;
    uint64_t         *relations; /* a hash table of those shown: ancestor << 32 | descendant, plus 1; 0: free */
    size_t            slots;
} target;

typedef struct job {
    kn_context              *ctx;
    kn_arena                *arena;
    const kn_spec           *spec;
    const kn_attack_options *options;
    kn_attack_report        *to;
    kn_records              *all; /* the original, then what is known */
    int64_t                  first;
    kn_records              *release, *released; /* as it is; over the vocabulary of the others */
    int                     *sensitive;          /* classes */
    /* Of one attack. */
    target    *target;
    bool       lenient; /* values that are nowhere shown may have been given up */
    bool       shown;   /* relations that are nowhere shown were removed         */
    int64_t   *matches; /* per person                                    */
    bool      *certain; /* per person and sensitive class                */
    int64_t   *people;
    uint32_t **scratch; /* per thread: values, then pairs, of one person */
} job;

/* ---- The target ---- */

static int compare_records(const kn_records *x, int64_t a, int64_t b)
{
    uint64_t n = x->start[a + 1] - x->start[a], m = x->start[b + 1] - x->start[b];
    if (n != m) return n < m ? -1 : 1;
    int order = n ? memcmp(x->value + x->start[a], x->value + x->start[b], n * sizeof *x->value) : 0;
    return order != 0 || n == 0 ? order
                                : memcmp(x->parent + x->start[a], x->parent + x->start[b], n * sizeof *x->parent);
}

static int by_record(const void *arg, const void *a, const void *b)
{
    return compare_records(arg, *(const uint32_t *)a, *(const uint32_t *)b);
}

static kn_status find_rows(target *t, kn_context *ctx, kn_error *err)
{
    const kn_records *x = t->own;
    size_t            count = (size_t)t->count;
    t->row = kn_alloc_array(ctx, count + 1, sizeof *t->row);
    t->weight = kn_alloc_array_zero(ctx, count + 1, sizeof *t->weight);
    if (!t->row || !t->weight) return kn_fail_memory(err, ctx, what);
    for (size_t i = 0; i < count; i++) t->row[i] = (uint32_t)i;
    kn_sort_in_place(t->row, count, sizeof *t->row, by_record, x);
    for (size_t i = 0; i < count; i++) {
        if (t->rows == 0 || compare_records(x, t->row[t->rows - 1], t->row[i]) != 0) t->row[t->rows++] = t->row[i];
        t->weight[t->rows - 1]++;
    }
    return KN_OK;
}

/* Sorts numbers and drops repetitions; how many are left. */
static size_t sort_values(uint32_t *values, size_t count)
{
    size_t kept = 0;
    qsort(values, count, sizeof *values, kn_compare_u32);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || values[i] != values[i - 1]) values[kept++] = values[i];
    return kept;
}

/* The values of each row, ascending, each once; false: out of memory. */
static bool fill_values(uint64_t **start, uint32_t **values, const target *t, const kn_records *x, kn_context *ctx)
{
    uint64_t nodes = x->start[t->count], at = 0;
    *start = kn_alloc_array_zero(ctx, (size_t)t->rows + 1, sizeof **start);
    *values = kn_alloc_array(ctx, (size_t)nodes + 1, sizeof **values);
    if (!*start || !*values) return false;
    for (int64_t r = 0; r < t->rows; r++) {
        uint64_t first = x->start[t->row[r]], size = x->start[t->row[r] + 1] - first;
        if (size > 0) memcpy(*values + at, x->value + first, (size_t)size * sizeof **values);
        at += sort_values(*values + at, (size_t)size);
        (*start)[r + 1] = at;
    }
    return true;
}

static kn_status list_values(target *t, kn_context *ctx, kn_error *err)
{
    uint32_t values = t->records->vocabulary->nodes;
    if (!fill_values(&t->start, &t->values, t, t->records, ctx) ||
        !fill_values(&t->own_start, &t->own_values, t, t->own, ctx) ||
        !KN_ALLOC_ZERO(ctx, t->list_start, (size_t)values + 2) ||
        !KN_ALLOC(ctx, t->lists, (size_t)t->start[t->rows] + 1))
        return kn_fail_memory(err, ctx, what);
    for (uint64_t i = 0; i < t->start[t->rows]; i++) t->list_start[t->values[i] + 2]++;
    for (uint32_t u = 2; u <= values + 1; u++) t->list_start[u] += t->list_start[u - 1];
    for (int64_t r = 0; r < t->rows; r++)
        for (uint64_t i = t->start[r]; i < t->start[r + 1]; i++)
            t->lists[t->list_start[t->values[i] + 1]++] = (uint32_t)r;
    return KN_OK;
}

static uint64_t *relation_slot(const target *t, uint32_t above, uint32_t below)
{
    uint64_t key = ((uint64_t)above << 32 | below) + 1;
    size_t   at = (size_t)kn_hash_word(key) & (t->slots - 1);
    while (t->relations[at] != 0 && t->relations[at] != key) at = (at + 1) & (t->slots - 1);
    return &t->relations[at];
}

static void add_relations(target *t, int64_t record)
{
    const kn_records *x = t->records;
    uint64_t          first = x->start[record];
    for (uint64_t i = first; i < x->start[record + 1]; i++)
        for (uint32_t p = x->parent[i]; p != ROOT; p = x->parent[first + p])
            *relation_slot(t, x->value[first + p], x->value[i]) =
                ((uint64_t)x->value[first + p] << 32 | x->value[i]) + 1;
}

static kn_status list_relations(target *t, kn_context *ctx, kn_error *err)
{
    const kn_records *x = t->records;
    uint64_t          pairs = 0;
    for (int64_t r = 0; r < t->rows; r++)
        for (uint64_t i = x->start[t->row[r]]; i < x->start[t->row[r] + 1]; i++)
            for (uint32_t p = x->parent[i]; p != ROOT; p = x->parent[x->start[t->row[r]] + p]) pairs++;
    for (t->slots = 16; t->slots < 2 * pairs + 2;) t->slots *= 2;
    t->relations = kn_alloc_array_zero(ctx, t->slots, sizeof *t->relations);
    if (!t->relations) return kn_fail_memory(err, ctx, what);
    for (int64_t r = 0; r < t->rows; r++) add_relations(t, t->row[r]);
    return KN_OK;
}

static void target_free(target *t)
{
    KN_FREE(t->row, t->weight, t->start, t->values, t->own_start, t->own_values, t->list_start, t->lists, t->relations);
}

/* ---- One person ---- */

/* What is known of somebody: values, each once, and which is above which. */
typedef struct known {
    uint32_t *values, *above, *below;
    size_t    value_count, pair_count;
    bool      strange; /* a value that its hierarchy lacks */
} known;

static bool is_known(const kn_vocabulary *v, uint32_t value)
{
    return v->cls[value] != KN_VOCABULARY_NO_CLASS && !v->sensitive[v->cls[value]];
}

static known know(const job *j, int64_t person, uint32_t *scratch)
{
    const kn_records    *x = j->all;
    const kn_vocabulary *v = x->vocabulary;
    uint64_t             first = x->start[person], end = x->start[person + 1];
    known                k = {.values = scratch};
    for (uint64_t i = first; i < end; i++) {
        if (!is_known(v, x->value[i])) continue;
        k.values[k.value_count++] = x->value[i];
        k.strange = k.strange || v->height[x->value[i]] > 0;
    }
    k.value_count = sort_values(k.values, k.value_count);
    k.above = scratch + (end - first);
    for (uint64_t i = first; i < end; i++)
        for (uint32_t p = x->parent[i]; p != ROOT; p = x->parent[first + p])
            if (is_known(v, x->value[i]) && is_known(v, x->value[first + p])) {
                k.above[2 * k.pair_count] = x->value[first + p];
                k.above[2 * k.pair_count++ + 1] = x->value[i];
            }
    k.below = k.above + 1;
    return k;
}

/* How many rows show a value or one above it, at most. */
static uint64_t rows_with(const target *t, uint32_t value)
{
    uint64_t count = 0;
    for (uint32_t u = value; u != UINT32_MAX; u = t->records->vocabulary->parent[u])
        count += t->list_start[u + 1] - t->list_start[u];
    return count;
}

static bool row_has(const target *t, int64_t row, uint32_t value)
{
    uint64_t low = t->start[row], high = t->start[row + 1];
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (t->values[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low < t->start[row + 1] && t->values[low] == value;
}

static bool row_covers(const target *t, int64_t row, uint32_t value)
{
    for (uint32_t u = value; u != UINT32_MAX; u = t->records->vocabulary->parent[u])
        if (row_has(t, row, u)) return true;
    return false;
}

static bool row_relates(const target *t, int64_t row, uint32_t above, uint32_t below)
{
    const kn_records *x = t->records;
    uint64_t          first = x->start[t->row[row]];
    for (uint64_t i = first; i < x->start[t->row[row] + 1]; i++) {
        if (!kn_vocabulary_covers(x->vocabulary, x->value[i], below)) continue;
        for (uint32_t p = x->parent[i]; p != ROOT; p = x->parent[first + p])
            if (kn_vocabulary_covers(x->vocabulary, x->value[first + p], above)) return true;
    }
    return false;
}

static bool is_shown(const target *t, uint32_t above, uint32_t below)
{
    const uint32_t *up = t->records->vocabulary->parent;
    for (uint32_t u = above; u != UINT32_MAX; u = up[u])
        for (uint32_t v = below; v != UINT32_MAX; v = up[v])
            if (*relation_slot(t, u, v) != 0) return true;
    return false;
}

/* Drops what the release cannot rule anybody out by; the rarest value first. */
static void keep_usable(const job *j, known *k)
{
    size_t values = 0, pairs = 0;
    for (size_t i = 0; i < k->value_count; i++) {
        if (j->lenient && rows_with(j->target, k->values[i]) == 0) continue;
        uint32_t own = k->values[i];
        k->values[values++] = own;
        if (rows_with(j->target, own) >= rows_with(j->target, k->values[0])) continue;
        k->values[values - 1] = k->values[0];
        k->values[0] = own;
    }
    for (size_t i = 0; i < k->pair_count; i++) {
        if (j->shown && !is_shown(j->target, k->above[2 * i], k->below[2 * i])) continue;
        k->above[2 * pairs] = k->above[2 * i];
        k->below[2 * pairs++] = k->below[2 * i];
    }
    k->value_count = values;
    k->pair_count = pairs;
}

static bool row_matches(const target *t, int64_t row, const known *k)
{
    for (size_t i = 1; i < k->value_count; i++)
        if (!row_covers(t, row, k->values[i])) return false;
    for (size_t i = 0; i < k->pair_count; i++)
        if (!row_relates(t, row, k->above[2 * i], k->below[2 * i])) return false;
    return true;
}

/* The first of a row's own values that is not below this one. */
static uint64_t own_from(const target *t, int64_t row, uint32_t value)
{
    uint64_t at = t->own_start[row];
    while (at < t->own_start[row + 1] && t->own_values[at] < value) at++;
    return at;
}

/* Have both rows values of the class, and the same ones? */
static bool same_class(const target *t, int64_t a, int64_t b, int cls)
{
    const kn_vocabulary *v = t->own->vocabulary;
    uint32_t             top = v->top[cls], end = v->end[top];
    uint64_t             i = own_from(t, a, top), n = own_from(t, a, end) - i;
    uint64_t             k = own_from(t, b, top), m = own_from(t, b, end) - k;
    return n == m && n > 0 && memcmp(t->own_values + i, t->own_values + k, (size_t)n * sizeof *t->own_values) == 0;
}

typedef struct matching {
    int64_t matches, example; /* example: the first row that matched */
    bool   *certain;
} matching;

static void take_row(const job *j, matching *m, int64_t row)
{
    if (m->matches == 0) m->example = row;
    for (int s = 0; s < j->to->sensitive_count; s++) {
        if (m->matches == 0) m->certain[s] = true;
        if (m->certain[s]) m->certain[s] = same_class(j->target, m->example, row, j->sensitive[s]);
    }
    m->matches += j->target->weight[row];
}

/* Rows are in the list of one value above the rarest known one at most, unless the release is of several cuts: of those in several the
 * first counts. */
static void match_person(job *j, int64_t person, uint32_t *scratch)
{
    const target   *t = j->target;
    const uint32_t *up = t->records->vocabulary->parent;
    int64_t         number = person - j->first;
    known           k = know(j, person, scratch);
    matching        m = {.certain = j->certain + number * j->to->sensitive_count};
    keep_usable(j, &k);
    for (int64_t row = 0; k.value_count == 0 && row < t->rows; row++) take_row(j, &m, row);
    for (uint32_t u = k.value_count > 0 ? k.values[0] : UINT32_MAX; u != UINT32_MAX; u = up[u])
        for (uint64_t i = t->list_start[u]; i < t->list_start[u + 1]; i++) {
            bool seen = false;
            for (uint32_t w = k.values[0]; w != u && !seen; w = up[w]) seen = row_has(t, t->lists[i], w);
            if (!seen && row_matches(t, t->lists[i], &k)) take_row(j, &m, t->lists[i]);
        }
    j->matches[number] = m.matches;
}

static kn_status match_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    job *j = arg;
    (void)err;
    for (int64_t i = begin; i < end && !kn_cancelled(j->ctx); i++) match_person(j, j->first + i, j->scratch[worker]);
    kn_progress_add(j->ctx, (uint64_t)(end - begin));
    return KN_OK;
}

/* ---- One attack ---- */

static kn_status tell(kn_attack_table *out, job *j, kn_error *err)
{
    int64_t  people = j->all->count - j->first, unplaced = 0;
    int64_t *certain = kn_arena_array_zero(j->arena, (size_t)j->to->sensitive_count + 1, sizeof *certain);
    if (!certain) return kn_fail_memory(err, j->ctx, what);
    for (int64_t i = 0; i < people; i++) {
        known k = know(j, j->first + i, j->scratch[0]);
        unplaced += j->shown && j->matches[i] == 0 && k.strange;
        for (int s = 0; s < j->to->sensitive_count; s++) certain[s] += j->certain[i * j->to->sensitive_count + s];
    }
    KN_TRY(kn_attack_tell(out, j->arena, j->matches, j->people, people, unplaced, j->to->k, certain,
                          j->to->sensitive_count, err));
    out->rows = j->target->count;
    return KN_OK;
}

static kn_status attack(kn_attack_table *out, job *j, bool released, kn_error *err)
{
    target  t = {.records = j->all, .own = j->all, .count = j->first};
    int64_t people = j->all->count - j->first;
    if (released) t = (target){.records = j->released, .own = j->release, .count = j->release->count};
    j->target = &t;
    j->shown = released;
    j->lenient = released && j->spec->suppression.numerator > 0;
    memset(j->certain, 0, (size_t)(people * j->to->sensitive_count) * sizeof *j->certain);
    kn_status st = find_rows(&t, j->ctx, err);
    if (st == KN_OK) st = list_values(&t, j->ctx, err);
    if (st == KN_OK) st = list_relations(&t, j->ctx, err);
    if (st == KN_OK) {
        kn_progress_begin(j->ctx, "attacking", "persons", (uint64_t)people);
        st = kn_parallel_for(j->ctx, people, GRAIN, match_range, j, err);
        kn_progress_end(j->ctx);
    }
    if (st == KN_OK) st = tell(out, j, err);
    target_free(&t);
    return st;
}

/* ---- All together ---- */

static kn_status read_all(job *j, kn_error *err)
{
    const kn_attack_options *o = j->options;
    const kn_spec           *spec = j->spec;
    kn_records_options       reading = kn_records_reading(spec);
    const char              *original = o->original ? o->original : spec->input_count > 0 ? spec->inputs[0] : NULL;
    reading.more = o->original || spec->input_count < 2 ? NULL : spec->inputs + 1;
    reading.more_count = reading.more ? spec->input_count - 1 : 0;
    if (o->no_original) original = NULL;
    KN_TRY(kn_records_read_beside(&j->all, &j->first, j->ctx, original, &reading, o->external, err));
    j->to->has_before = original != NULL;
    reading = kn_records_reading(spec);
    reading.released = true;
    KN_TRY(kn_records_read(&j->release, j->ctx, o->release, &reading, err));
    return kn_records_translate(&j->released, j->ctx, j->release, j->all->vocabulary, true, err);
}

/* The classes that are known of somebody, and those that are sensitive. */
static kn_status find_classes(job *j, kn_error *err)
{
    const kn_vocabulary *v = j->all->vocabulary;
    size_t               count = (size_t)v->class_count + 1;
    const char         **links = kn_arena_array(j->arena, count, sizeof *links);
    const char         **sensitive = kn_arena_array(j->arena, count, sizeof *sensitive);
    bool                *there = kn_arena_array_zero(j->arena, count, sizeof *there);
    j->sensitive = kn_arena_array(j->arena, count, sizeof *j->sensitive);
    if (!links || !sensitive || !there || !j->sensitive) return kn_fail_memory(err, j->ctx, what);
    for (uint64_t i = j->all->start[j->first]; i < j->all->nodes; i++) there[v->cls[j->all->value[i]]] = true;
    for (int c = 0; c < v->class_count; c++) {
        const char *name = kn_arena_strndup(j->arena, v->class_names[c], strlen(v->class_names[c]));
        if (v->sensitive[c]) j->sensitive[j->to->sensitive_count] = c;
        if (v->sensitive[c])
            sensitive[j->to->sensitive_count++] = name;
        else if (there[c])
            links[j->to->link_count++] = name;
    }
    j->to->links = links;
    j->to->sensitive = sensitive;
    if (j->arena->failed) return kn_fail_memory(err, j->ctx, what);
    return j->to->link_count > 0
               ? KN_OK
               : kn_fail(err, KN_INPUT, "%s: no record in it has a class that may be known", j->options->external);
}

static kn_status make_room(job *j, kn_error *err)
{
    const kn_records *x = j->all;
    size_t            people = (size_t)(x->count - j->first), threads = (size_t)kn_context_threads(j->ctx), most = 0;
    for (int64_t r = j->first; r < x->count; r++) {
        size_t pairs = 0;
        for (uint64_t i = x->start[r]; i < x->start[r + 1]; i++)
            for (uint32_t p = x->parent[i]; p != ROOT; p = x->parent[x->start[r] + p]) pairs++;
        size_t need = (size_t)(x->start[r + 1] - x->start[r]) + 2 * pairs;
        if (need > most) most = need;
    }
    j->matches = kn_alloc_array_zero(j->ctx, people + 1, sizeof *j->matches);
    j->people = kn_alloc_array(j->ctx, people + 1, sizeof *j->people);
    j->certain = kn_alloc_array_zero(j->ctx, people * (size_t)j->to->sensitive_count + 1, sizeof *j->certain);
    j->scratch = kn_arena_array_zero(j->arena, threads, sizeof *j->scratch);
    if (!j->matches || !j->people || !j->certain || !j->scratch) return kn_fail_memory(err, j->ctx, what);
    for (size_t i = 0; i < people; i++) j->people[i] = 1;
    for (size_t i = 0; i < threads; i++) {
        j->scratch[i] = kn_arena_array(j->arena, most + 2, sizeof **j->scratch);
        if (!j->scratch[i]) return kn_fail_memory(err, j->ctx, what);
    }
    return KN_OK;
}

static kn_status run(job *j, kn_error *err)
{
    KN_TRY(read_all(j, err));
    j->to->people = j->all->count - j->first;
    KN_TRY(find_classes(j, err));
    KN_TRY(make_room(j, err));
    KN_TRY(attack(&j->to->after, j, true, err));
    return j->to->has_before ? attack(&j->to->before, j, false, err) : KN_OK;
}

kn_status kn_attack_records(kn_attack_report *to, kn_arena *arena, const kn_spec *spec,
                            const kn_attack_options *options, kn_error *err)
{
    job j = {.ctx = arena->ctx, .arena = arena, .spec = spec, .options = options, .to = to};
    if (spec->table_count > 0 || spec->class_count == 0)
        return kn_fail(err, KN_USAGE,
                       "attack: records that are trees are attacked if they come from files and have classes; "
                       "trees of a database are not");
    to->records = true;
    if (options->k == 0 && spec->kmn.k > 0) to->k = spec->kmn.k;
    kn_status st = run(&j, err);
    kn_records_free(j.released); /* it borrows the vocabulary */
    kn_records_free(j.release);
    kn_records_free(j.all);
    KN_FREE(j.matches, j.people, j.certain);
    return st;
}
