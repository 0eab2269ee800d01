/* kn_miracle_assign.c: the assignment problem: shortest augmenting paths with potentials, then, where it matters, the
 * lexicographically first of all optimal assignments.
 *
 * Each row starts at its cheapest columns; only rows for which none of these is left need a path, and most paths are short.
 * The columns that stay free belong to rows that cost nothing. With optimal potentials an assignment is optimal exactly if
 * all its cells have reduced cost 0; so the first one is found by moving each row in turn to the first such column from
 * which an alternating path leads to the one it leaves. All columns with such a path are found at once, backwards, by words
 * of 64 rows.
 *
 * Cost: O(rows · columns^2) at worst; for the first one O(rows · columns^2 / 64) more.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_miracle.h"

/* Rows and columns are counted from 1; 0: none. */
typedef struct problem {
    const int64_t *cost;
    uint32_t       rows, n;       /* columns */
    int64_t       *u, *v, *slack; /* n + 1 */
    uint32_t      *row_of;        /* n + 1: of a column */
    uint32_t      *way;           /* n + 1 */
    uint32_t      *column_of;     /* n + 1 */
    uint32_t      *queue;         /* n + 1 */
    bool          *used;          /* n + 1 */
    /* Rows as bits: those that may be moved, and per column those whose reduced cost there is 0. */
    size_t    words;
    uint64_t *movable;
    uint64_t *tight;
} problem;

static size_t words_of(size_t columns)
{
    return columns / 64 + 1;
}

size_t kn_assign_room(size_t columns)
{
    size_t n = columns + 1;
    return n * (3 * sizeof(int64_t) + 4 * sizeof(uint32_t) + sizeof(bool)) +
           (n + 1) * words_of(columns) * sizeof(uint64_t) + 64;
}

/* ---- The least cost ---- */

/* Rows at their cheapest columns, as long as one is left. */
static void start(problem *p)
{
    for (uint32_t i = 1; i <= p->rows; i++) {
        const int64_t *cost = p->cost + (size_t)(i - 1) * p->n - 1;
        int64_t        least = cost[1];
        for (uint32_t j = 2; j <= p->n; j++)
            if (cost[j] < least) least = cost[j];
        p->u[i] = least;
        for (uint32_t j = 1; j <= p->n && p->column_of[i] == 0; j++) {
            if (cost[j] != least || p->row_of[j] != 0) continue;
            p->row_of[j] = i;
            p->column_of[i] = j;
        }
    }
}

/* The column that is nearest, of equally near ones one that is free; lowers the slacks of all by what row `i`, reached
 * through column `at`, allows. */
static uint32_t nearest_column(problem *p, uint32_t i, uint32_t at, int64_t *delta)
{
    const int64_t *cost = p->cost + (size_t)(i - 1) * p->n - 1;
    uint32_t       next = 0;
    *delta = INT64_MAX;
    for (uint32_t j = 1; j <= p->n; j++) {
        if (p->used[j]) continue;
        int64_t reduced = cost[j] - p->u[i] - p->v[j];
        if (reduced < p->slack[j]) {
            p->slack[j] = reduced;
            p->way[j] = at;
        }
        if (p->slack[j] > *delta || (p->slack[j] == *delta && (p->row_of[next] == 0 || p->row_of[j] != 0))) continue;
        *delta = p->slack[j];
        next = j;
    }
    return next;
}

/* Gives `row` a column along the cheapest alternating path. */
static void augment(problem *p, uint32_t row)
{
    uint32_t at = 0;
    p->row_of[0] = row;
    for (uint32_t j = 0; j <= p->n; j++) {
        p->slack[j] = INT64_MAX;
        p->used[j] = false;
    }
    do {
        int64_t delta;
        p->used[at] = true;
        uint32_t next = nearest_column(p, p->row_of[at], at, &delta);
        for (uint32_t j = 0; delta > 0 && j <= p->n; j++) {
            if (p->used[j]) {
                p->u[p->row_of[j]] += delta;
                p->v[j] -= delta;
            } else {
                p->slack[j] -= delta;
            }
        }
        at = next;
    } while (p->row_of[at] != 0);
    for (; at != 0; at = p->way[at]) {
        p->row_of[at] = p->row_of[p->way[at]];
        p->column_of[p->row_of[at]] = at;
    }
}

/* ---- The first of equal ones ---- */

static bool has_bit(const uint64_t *bits, uint32_t at)
{
    return bits[at / 64] >> (at % 64) & 1;
}

/* Rows that cost nothing take the columns that are left; then the bits. */
static void fill(problem *p)
{
    uint32_t extra = p->rows;
    for (uint32_t j = 1; j <= p->n; j++) {
        if (p->row_of[j] != 0) continue;
        p->row_of[j] = ++extra;
        p->column_of[extra] = j;
    }
    for (uint32_t i = 1; i <= p->n; i++) p->movable[i / 64] |= (uint64_t)1 << (i % 64);
    for (uint32_t i = 1; i <= p->n; i++)
        for (uint32_t j = 1; j <= p->n; j++) {
            int64_t cost = i <= p->rows ? p->cost[(size_t)(i - 1) * p->n + j - 1] : 0;
            if (cost == p->u[i] + p->v[j]) p->tight[j * p->words + i / 64] |= (uint64_t)1 << (i % 64);
        }
}

/* Marks as used the columns whose rows can move, along tight cells, so that in the end the column of `row` is taken: way[j] is
 * where the row of j goes. */
static void find_ways(problem *p, uint32_t row)
{
    uint32_t  count = 0;
    uint64_t *open = (uint64_t *)(void *)p->slack; /* rows that were not reached yet */
    memcpy(open, p->movable, p->words * sizeof *open);
    open[row / 64] &= ~((uint64_t)1 << (row % 64));
    memset(p->used, 0, (p->n + 1) * sizeof *p->used);
    p->queue[count++] = p->column_of[row];
    for (uint32_t at = 0; at < count; at++) {
        const uint64_t *tight = p->tight + p->queue[at] * p->words;
        for (size_t w = 0; w < p->words; w++) {
            uint64_t found = tight[w] & open[w];
            open[w] &= ~found;
            for (; found != 0; found &= found - 1) {
                uint32_t column = p->column_of[w * 64 + (size_t)__builtin_ctzll(found)];
                p->used[column] = true;
                p->way[column] = p->queue[at];
                p->queue[count++] = column;
            }
        }
    }
}

/* The first column that `row` can take. */
static void move_first(problem *p, uint32_t row)
{
    uint32_t old = p->column_of[row], first = 1;
    while (first < old && !(has_bit(p->tight + first * p->words, row) && has_bit(p->movable, p->row_of[first])))
        first++;
    if (first < old) {
        find_ways(p, row);
        while (first < old && !(p->used[first] && has_bit(p->tight + first * p->words, row))) first++;
    }
    for (uint32_t at = first, mover = row; first < old;) { /* each row of the way takes the next column */
        uint32_t next = p->row_of[at];
        p->row_of[at] = mover;
        p->column_of[mover] = at;
        if (at == old) break;
        mover = next;
        at = p->way[at];
    }
    p->movable[row / 64] &= ~((uint64_t)1 << (row % 64));
}

void kn_assign(const int64_t *cost, uint32_t rows, uint32_t columns, bool first, uint32_t *column_of_row, void *room)
{
    size_t  n = (size_t)columns + 1;
    problem p = {.cost = cost, .rows = rows, .n = columns, .u = room, .words = words_of(columns)};
    p.v = p.u + n;
    p.slack = p.v + n;
    p.row_of = (uint32_t *)(void *)(p.slack + n);
    p.way = p.row_of + n;
    p.column_of = p.way + n;
    p.queue = p.column_of + n;
    p.movable = (uint64_t *)(void *)(p.queue + n); /* 4 n words of 4 bytes: still aligned */
    p.tight = p.movable + p.words;
    p.used = (bool *)(void *)(p.tight + n * p.words);
    memset(p.u, 0, n * (3 * sizeof(int64_t) + 4 * sizeof(uint32_t)));
    if (first) memset(p.movable, 0, (n + 1) * p.words * sizeof *p.movable);
    start(&p);
    for (uint32_t i = 1; i <= rows; i++)
        if (p.column_of[i] == 0) augment(&p, i);
    if (first) fill(&p);
    for (uint32_t i = 1; i <= rows; i++) {
        if (first) move_first(&p, i);
        column_of_row[i - 1] = p.column_of[i] - 1;
    }
}
