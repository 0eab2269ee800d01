/* kn_miracle_assign.c: the assignment problem: the Hungarian method with potentials, then the lexicographically first
 * of all optimal assignments.
 *
 * Rows are filled up with free ones to a square. With optimal potentials an assignment is optimal exactly if all its
 * cells have reduced cost 0; so the first one is found by moving each row in turn to the first such column that leaves
 * the rest an alternating path.
 *
 * Cost: O(columns^3), and in the worst case O(rows · columns^3) with many equal optima.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_miracle.h"

typedef struct problem {
    const int64_t *cost;
    uint32_t       rows, n;       /* columns */
    int64_t       *u, *v, *slack; /* n + 1 */
    uint32_t      *row_of;        /* n + 1: of a column; both from 1, 0: none */
    uint32_t      *way;           /* n + 1 */
    uint32_t      *column_of;     /* n + 1 */
    uint32_t      *queue;         /* n + 1 */
    bool          *used;          /* n + 1 */
    bool          *fixed;         /* n + 1: columns */
} problem;

size_t kn_assign_room(size_t columns)
{
    return (columns + 1) * (3 * sizeof(int64_t) + 4 * sizeof(uint32_t) + 2 * sizeof(bool)) + 64;
}

static int64_t cost_of(const problem *p, uint32_t row, uint32_t column)
{
    return row <= p->rows ? p->cost[(size_t)(row - 1) * p->n + column - 1] : 0;
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
        uint32_t i = p->row_of[at], next = 0;
        int64_t  delta = INT64_MAX;
        p->used[at] = true;
        for (uint32_t j = 1; j <= p->n; j++) {
            if (p->used[j]) continue;
            int64_t reduced = cost_of(p, i, j) - p->u[i] - p->v[j];
            if (reduced < p->slack[j]) {
                p->slack[j] = reduced;
                p->way[j] = at;
            }
            if (p->slack[j] < delta) {
                delta = p->slack[j];
                next = j;
            }
        }
        for (uint32_t j = 0; j <= p->n; j++) {
            if (p->used[j]) {
                p->u[p->row_of[j]] += delta;
                p->v[j] -= delta;
            } else if (j > 0) {
                p->slack[j] -= delta;
            }
        }
        at = next;
    } while (p->row_of[at] != 0);
    for (; at != 0; at = p->way[at]) p->row_of[at] = p->row_of[p->way[at]];
}

static bool tight(const problem *p, uint32_t row, uint32_t column)
{
    return cost_of(p, row, column) == p->u[row] + p->v[column];
}

/* Can `row` take `column` while its owner and others move along tight cells into the column that `row` leaves? Does
 * it. */
static bool move_row(problem *p, uint32_t row, uint32_t column)
{
    uint32_t target = p->column_of[row], count = 0;
    memset(p->used, 0, (p->n + 1) * sizeof *p->used);
    p->used[column] = true;
    p->queue[count++] = column;
    for (uint32_t at = 0; at < count; at++) {
        uint32_t owner = p->row_of[p->queue[at]];
        for (uint32_t j = 1; j <= p->n; j++) {
            if (p->used[j] || p->fixed[j] || !tight(p, owner, j)) continue;
            p->used[j] = true;
            p->way[j] = p->queue[at];
            p->queue[count++] = j;
            if (j != target) continue;
            /* The owner of each column on the way takes the next one. */
            for (uint32_t to = target; to != column; to = p->way[to]) {
                p->row_of[to] = p->row_of[p->way[to]];
                p->column_of[p->row_of[to]] = to;
            }
            p->row_of[column] = row;
            p->column_of[row] = column;
            return true;
        }
    }
    return false;
}

void kn_assign(const int64_t *cost, uint32_t rows, uint32_t columns, uint32_t *column_of_row, void *room)
{
    size_t  n = (size_t)columns + 1;
    problem p = {.cost = cost, .rows = rows, .n = columns, .u = room};
    memset(room, 0, kn_assign_room(columns));
    p.v = p.u + n;
    p.slack = p.v + n;
    p.row_of = (uint32_t *)(void *)(p.slack + n);
    p.way = p.row_of + n;
    p.column_of = p.way + n;
    p.queue = p.column_of + n;
    p.used = (bool *)(void *)(p.queue + n);
    p.fixed = p.used + n;
    for (uint32_t i = 1; i <= columns; i++) augment(&p, i);
    for (uint32_t j = 1; j <= columns; j++) p.column_of[p.row_of[j]] = j;
    for (uint32_t i = 1; i <= rows; i++) {
        for (uint32_t j = 1; j < p.column_of[i]; j++)
            if (!p.fixed[j] && tight(&p, i, j) && move_row(&p, i, j)) break;
        p.fixed[p.column_of[i]] = true;
        column_of_row[i - 1] = p.column_of[i] - 1;
    }
}
