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
 * Cost: with a map one pass over the rows of both sides, the keys read on all threads; memory: 4 bytes per different old key, and per
 * released row. Without a map at most PAIRS questions of contain.c.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <math.h>

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

/* Of one table: how many released rows have an old key of their person, and how many such keys each could have had. No two
 * released rows have the same number (keys.c), so that each leads to the person whose it would have to be. */
typedef struct comparison {
    kn_vdb             *v;
    const kn_vdb_table *t;
    int                 column;
    kn_arena            room;
    uint32_t           *old;    /* per text of the original's column: its number, or 0                  */
    uint32_t           *asked;  /* per number: the original of the person who has it now; KN_V_NONE: nobody */
    int64_t            *counts; /* per person of the original: released rows                            */
    int64_t             chances, hits;
} comparison;

enum { GRAIN = 1 << 14 };

typedef struct reading {
    const kn_vcolumn *column;
    uint32_t         *numbers;
    int64_t           most;
} reading;

static kn_status read_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const reading *r = arg;
    (void)worker;
    (void)err;
    for (int64_t i = begin; i < end; i++)
        r->numbers[i] = (uint32_t)kn_vdb_key_number(kn_vtext(r->column, (uint32_t)i), r->most);
    return KN_OK;
}

/* The numbers of the texts of the original's column; 0: none, or one above those of the release's rows. */
static kn_status read_old(comparison *c, kn_error *err)
{
    reading r = {&c->t->original.table->columns[c->column].cells, NULL, c->t->release.rows};
    c->old = r.numbers = kn_arena_array_zero(&c->room, (size_t)r.column->count + 1, sizeof *r.numbers);
    if (!r.numbers) return kn_vdb_no_memory(c->v, err);
    return kn_parallel_for(c->v->ctx, r.column->count, GRAIN, read_range, &r, err);
}

/* A new key is looked at once: its number is not kept, as nothing else needs as much memory in the end. */
static void ask(comparison *c)
{
    const kn_vdb_rows *r = &c->t->release;
    int                column = c->t->released[c->column];
    for (int64_t row = 0; row < r->rows; row++) {
        uint32_t person = (uint32_t)c->v->map[kn_vdb_person_of(r, (uint32_t)row)];
        c->asked[number_at(r->table, column, row, r->rows)] = person;
        c->counts[person]++;
    }
    c->asked[0] = KN_V_NONE; /* keys without a number */
}

static void answer(comparison *c)
{
    const kn_vdb_rows *r = &c->t->original;
    for (int64_t row = 0; row < r->rows; row++) {
        uint32_t number = c->old[kn_vsheet_code(r->table, c->column, row)], person = kn_vdb_person_of(r, (uint32_t)row);
        if (number == 0 || person == KN_V_NONE) continue;
        c->chances += c->counts[person];
        if (c->asked[number] != person) continue;
        c->asked[number] = KN_V_NONE; /* once, however many of the person's rows have it */
        c->hits++;
    }
}

static kn_status compare(comparison *c, kn_error *err)
{
    kn_vdb *v = c->v;
    c->asked = kn_varray_none(&c->room, (size_t)c->t->release.rows + 1);
    c->counts = kn_arena_array_zero(&c->room, (size_t)v->tables[v->person].original.rows + 1, sizeof *c->counts);
    if (c->room.failed) return kn_vdb_no_memory(v, err);
    KN_TRY(read_old(c, err));
    ask(c);
    answer(c);
    return KN_OK;
}

/* How many rows of the table have an old key of their person, and the probability of that many. */
static kn_status count_hits(kn_vdb *v, const kn_vdb_table *t, int64_t *hits, double *chance, kn_error *err)
{
    comparison c = {.v = v, .t = t, .column = drawn_column(t), .room = {.ctx = v->ctx}};
    *hits = 0;
    *chance = 0;
    if (c.column < 0 || t->release.rows == 0) return KN_OK;
    kn_status status = compare(&c, err);
    kn_arena_free(&c.room);
    *hits = c.hits;
    *chance = log_chance((double)c.chances / (double)t->release.rows, *hits);
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
