/* database/drawn.c: were the new keys drawn at random, or are they the old ones again?
 *
 * Keys are numbers from 1 to the number of rows, and so are those of many originals: that both contain the number 7
 * means nothing, that it is on the same person's row in both for everybody means that nothing was drawn. New keys are
 * a random order of the rows, independent of the data. Of n rows let row r have its old key, or that of any of d(r)
 * rows that it may stand for, with probability d(r) / n; with m the mean of the d(r), j rows or more have one with a
 * probability of at most m^j / j! (the expected number of sets of j such rows; Maclaurin's inequality). Tables are
 * drawn independently, so probabilities multiply. Keys with a probability of 10^-12 or more are accepted: fifteen
 * persons with their old keys are refused, fewer if the rows below them have theirs too. The same is checked for
 * persons who are numbered in the order of the original's rows, forwards or backwards.
 *
 * With a row map a person has one original (d = 1), and a row below has the original person's rows of that table.
 * Without one only persons are checked, if there are few enough to count everybody that each may stand for (PAIRS).
 *
 * Cost: with a map one sort of each table, the rest on all threads; without one at most PAIRS questions of contain.c.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_parallel.h"
#include "kn_sort.h"
#include "kn_verify_database.h"

#define CHANCE (-27.6) /* the logarithm of 10^-12 */

enum { PAIRS = 4000000 };

static double log_chance(double mean, int64_t hits)
{
    if (hits == 0) return 0;
    return fmin(0, (double)hits * log(mean) - lgamma((double)hits + 1));
}

static int64_t number_at(const kn_vsheet *table, int column, int64_t row, int64_t most)
{
    kn_string text = kn_vsheet_text(table, column, kn_vsheet_code(table, column, row));
    return text.data ? kn_vdb_key_number(text, most) : 0;
}

/* A key column of the table that refers to no other row; -1: none. */
static int drawn_column(const kn_vdb_table *t)
{
    for (int c = 0; c < t->original.table->column_count; c++) {
        bool names = false;
        for (int l = 0; l < t->link_count; l++) names = names || t->link[l] == c;
        if (t->key[c] && t->primary[c] && !names) return c;
    }
    return -1;
}

/* ---- With a map ---- */

/* Of one table: its old keys that could be new ones, by whose they are, and how many released rows have one of their
 * person's. */
typedef struct comparison {
    const kn_vdb       *v;
    const kn_vdb_table *t;
    int                 column;
    kn_sort_record     *old;   /* (whose << 32 | number), sorted; UINT64_MAX: none               */
    size_t             *first; /* per person of the original, and for the one after the last: in `old` */
    _Atomic int64_t     chances, hits;
} comparison;

enum { GRAIN = 1 << 14 };

static kn_status fill_old(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const comparison  *c = arg;
    const kn_vdb_rows *o = &c->t->original;
    (void)worker, (void)err;
    for (int64_t row = begin; row < end; row++) {
        int64_t number = o->person[row] == KN_V_NONE ? 0 : number_at(o->table, c->column, row, c->t->release.rows);
        c->old[row].key = number > 0 ? (uint64_t)o->person[row] << 32 | (uint64_t)number : UINT64_MAX;
        c->old[row].id = 0;
    }
    return KN_OK;
}

static kn_status compare_rows(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    comparison         *c = arg;
    const kn_vdb_table *t = c->t;
    int64_t             chances = 0, hits = 0;
    (void)worker, (void)err;
    for (int64_t row = begin; row < end; row++) {
        size_t   person = (size_t)c->v->map[t->release.person[row]];
        size_t   from = c->first[person], count = c->first[person + 1] - from;
        int64_t  number = number_at(t->release.table, t->released[c->column], row, t->release.rows);
        uint64_t key = (uint64_t)person << 32 | (uint64_t)number;
        size_t   at = kn_vsorted_find(c->old + from, count, key);
        chances += (int64_t)count;
        hits += number > 0 && at < count && c->old[from + at].key == key;
    }
    atomic_fetch_add_explicit(&c->chances, chances, memory_order_relaxed);
    atomic_fetch_add_explicit(&c->hits, hits, memory_order_relaxed);
    return KN_OK;
}

static kn_status compare(comparison *c, kn_error *err)
{
    const kn_vdb *v = c->v;
    int64_t       rows = c->t->original.rows, persons = v->tables[v->person].original.rows;
    KN_TRY(kn_parallel_for(v->ctx, rows, GRAIN, fill_old, c, err));
    KN_TRY(kn_sort_records(v->ctx, c->old, (size_t)rows, NULL, NULL, err));
    size_t at = 0;
    for (int64_t p = 0; p <= persons; p++) {
        while (at < (size_t)rows && c->old[at].key >> 32 < (uint64_t)p) at++;
        c->first[p] = at;
    }
    return kn_parallel_for(v->ctx, c->t->release.rows, GRAIN, compare_rows, c, err);
}

/* How many rows of the table have an old key of their person, and the probability of that many. */
static kn_status count_hits(kn_vdb *v, const kn_vdb_table *t, int64_t *hits, double *chance, kn_error *err)
{
    comparison c = {.v = v, .t = t, .column = drawn_column(t)};
    size_t     persons = (size_t)v->tables[v->person].original.rows;
    *hits = 0;
    *chance = 0;
    if (c.column < 0 || t->release.rows == 0) return KN_OK;
    c.old = kn_alloc_array(v->ctx, (size_t)t->original.rows + 1, sizeof *c.old);
    c.first = kn_alloc_array(v->ctx, persons + 1, sizeof *c.first);
    kn_status status = c.old && c.first ? compare(&c, err) : kn_vdb_no_memory(v, err);
    KN_FREE(c.old, c.first);
    *hits = atomic_load(&c.hits);
    *chance = log_chance((double)atomic_load(&c.chances) / (double)t->release.rows, *hits);
    return status;
}

static kn_status check_old(kn_vdb *v, kn_error *err)
{
    double              all = 0, least = 0;
    int64_t             shown = 0;
    const kn_vdb_table *worst = NULL;
    for (int i = 0; i < v->table_count; i++) {
        int64_t hits;
        double  chance;
        KN_TRY(count_hits(v, &v->tables[i], &hits, &chance, err));
        all += chance;
        if (chance >= least) continue;
        least = chance;
        worst = &v->tables[i];
        shown = hits;
    }
    if (all < CHANCE)
        kn_vproblem(v->notes,
                    "table \"%s\": %" PRId64 " of %" PRId64
                    " rows have the original's keys again: this cannot be chance",
                    worst->name, shown, worst->release.rows);
    return KN_OK;
}

/* Persons in the order of the original: how many are followed by the next number, or by the one before? */
static kn_status check_order(kn_vdb *v, kn_error *err)
{
    const kn_vdb_table *t = &v->tables[v->person];
    int64_t             n = t->release.rows, up = 0, down = 0, last = 0;
    int                 column = drawn_column(t);
    if (column < 0) return KN_OK;
    kn_sort_record *order = kn_alloc_array(v->ctx, (size_t)n + 1, sizeof *order);
    if (!order) return kn_vdb_no_memory(v, err);
    for (int64_t p = 0; p < n; p++) order[p] = (kn_sort_record){(uint64_t)v->map[p], (uint64_t)p};
    kn_status status = kn_sort_records(v->ctx, order, (size_t)n, NULL, NULL, err);
    for (int64_t i = 0; status == KN_OK && i < n; i++) {
        int64_t number = number_at(t->release.table, t->released[column], (int64_t)order[i].id, n);
        up += last > 0 && number == last + 1;
        down += number > 0 && number == last - 1;
        last = number;
    }
    kn_free(order);
    if (status == KN_OK && (log_chance(1, up) < CHANCE || log_chance(1, down) < CHANCE))
        kn_vproblem(v->notes, "table \"%s\": the keys follow the order of the original's rows: this cannot be chance",
                    t->name);
    return status;
}

/* ---- Without ---- */

/* Per number the original's person who has it, or KN_V_NONE. */
static uint32_t *owners_of(kn_vdb *v, const kn_vdb_table *t, int column)
{
    int64_t   most = t->release.rows;
    uint32_t *owner = kn_alloc_array(v->ctx, (size_t)most + 1, sizeof *owner);
    if (!owner) return NULL;
    memset(owner, 0xff, ((size_t)most + 1) * sizeof *owner);
    for (int64_t row = 0; row < t->original.rows; row++) {
        int64_t number = number_at(t->original.table, column, row, most);
        if (number > 0) owner[number] = (uint32_t)row;
    }
    return owner;
}

/* May released persons be those who had their keys, and how many would be by chance? */
static void count_possible(kn_vdb *v, kn_vdb_matcher *m, const uint32_t *owner, int column, int64_t *hits,
                           double *chance)
{
    const kn_vdb_table *t = &v->tables[v->person];
    int64_t             n = t->release.rows, possible = 0;
    for (int64_t p = 0; p < n && !m->failed; p++) {
        int64_t number = number_at(t->release.table, t->released[column], p, n);
        *hits += number > 0 && owner[number] != KN_V_NONE && kn_vdb_contains(m, v->person, owner[number], (uint32_t)p);
    }
    if (log_chance(1, *hits) >= CHANCE) return; /* too few to say more about */
    for (int64_t p = 0; p < n && !m->failed && !m->cancelled; p++)
        for (int64_t number = 1; number <= n; number++)
            possible += owner[number] != KN_V_NONE && kn_vdb_contains(m, v->person, owner[number], (uint32_t)p);
    *chance = log_chance((double)possible / (double)n, *hits);
}

static kn_status check_possible(kn_vdb *v, kn_error *err)
{
    const kn_vdb_table *t = &v->tables[v->person];
    int64_t             n = t->release.rows, hits = 0;
    int                 column = drawn_column(t);
    double              chance = 0;
    kn_vdb_matcher      m = {.v = v};
    if (column < 0 || n == 0 || n > PAIRS / n) return KN_OK;
    uint32_t *owner = owners_of(v, t, column);
    if (!owner) return kn_vdb_no_memory(v, err);
    count_possible(v, &m, owner, column, &hits, &chance);
    kn_free(owner);
    kn_vdb_matcher_free(&m);
    if (m.failed) return kn_vdb_no_memory(v, err);
    if (m.cancelled) return kn_fail_cancelled(err);
    if (chance < CHANCE)
        kn_vproblem(v->notes,
                    "table \"%s\": %" PRId64 " of %" PRId64 " persons could be those of the original who have their "
                    "keys: this cannot be chance",
                    t->name, hits, n);
    return KN_OK;
}

kn_status kn_vdb_drawn(kn_vdb *v, kn_error *err)
{
    if (v->report->assignment != KN_ASSIGNMENT_PROVED || !v->map) return KN_OK;
    if (!v->options->map && !v->options->map_path) return check_possible(v, err);
    KN_TRY(check_old(v, err));
    return check_order(v, err);
}
