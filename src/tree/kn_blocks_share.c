/* kn_blocks_share.c: rows side by side, by several workers.
 *
 * Interface: kn_blocks.h. Whose cut it is counts into its own arrays and tables; who helps into those of its own candidate,
 * which nobody else uses meanwhile, and adds what was counted to what the others did. Sums do not depend on the order.
 * Cost: where somebody helps, one step per array cell or entry and range of rows.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_blocks.h"
#include "kn_candidate.h"
#include "kn_error.h"
#include "kn_parallel.h"

#define WHAT "counting combinations"

enum { MOST_CELLS = 1 << 18 /* beyond that adding up would take too long */, TABLES = 3 };

typedef struct sharing {
    kn_candidate    *c;
    kn_candidate     view; /* as it was before: for those who help, to put their own arrays into */
    kn_blocks_put_fn put;
    bool             anew, cells;
    pthread_mutex_t  lock; /* guards what was counted by those who help */
    int32_t         *sums[TABLES];
    kn_counts        differences[TABLES];
    int64_t          counted;
} sharing;

static size_t cells_of(const kn_candidate *c)
{
    return (size_t)c->new_count * c->places * c->places * 2;
}

/* The tables that are counted: numbers of relations. */
static int first_table(const sharing *x)
{
    return x->cells ? 1 : x->view.delta_from;
}

static int last_table(const sharing *x)
{
    return x->cells ? x->view.problem->n : x->view.delta_to;
}

/* The arrays of a block, and what is counted into, from `mine`. */
static bool lend(const sharing *x, kn_candidate *view, kn_candidate *mine)
{
    kn_context     *ctx = view->ctx;
    kn_blocks      *b = &view->blocks, *from = &mine->blocks;
    const uint64_t *first = b->sets;
    size_t          sets = b->width - KN_BLOCK_SPARE, cells = cells_of(view);
    if (!KN_GROW(ctx, &from->sets, &from->sets_capacity, sets * b->words) ||
        !KN_GROW(ctx, &from->chunk, &from->chunk_capacity, b->width * KN_BLOCK_LANES) ||
        !KN_GROW(ctx, &from->differs, &from->differs_capacity, 2 * (size_t)b->relations + 1))
        return false;
    for (int j = first_table(x); j <= last_table(x); j++) {
        if (!x->cells) {
            kn_counts_clear(&mine->delta[j]);
            continue;
        }
        if (!KN_GROW(ctx, &mine->cells[j], &mine->cells_capacity[j], cells)) return false;
        memset(mine->cells[j], 0, cells * sizeof *mine->cells[j]);
        view->cells[j] = mine->cells[j];
    }
    memset(from->chunk, 0, b->width * KN_BLOCK_LANES * sizeof *from->chunk);
    b->values = from->sets;
    b->now = from->sets + (b->now - first);
    if (b->then) b->then = from->sets + (b->then - first);
    if (b->only_now) b->only_now = from->sets + (b->only_now - first);
    b->sets = from->sets;
    b->chunk = from->chunk;
    b->differs = from->differs;
    b->present = b->differs + b->relations;
    b->c = view;
    view->delta = mine->delta;
    view->counted = 0;
    return true;
}

static bool add_counts(kn_counts *to, const kn_counts *from)
{
    for (size_t i = 0; i < from->slots; i++)
        if (from->keys[i] && !kn_counts_add(to, from->keys[i], from->counts[i])) return false;
    return true;
}

/* Adds what `view` has counted to what others have. */
static bool gather(sharing *x, const kn_candidate *view)
{
    bool   ok = true;
    size_t cells = cells_of(view);
    pthread_mutex_lock(&x->lock);
    x->counted += view->counted;
    for (int j = first_table(x); ok && j <= last_table(x); j++) {
        if (!x->cells) {
            ok = add_counts(&x->differences[j], &view->delta[j]);
            continue;
        }
        if (!x->sums[j]) ok = KN_ALLOC_ZERO(view->ctx, x->sums[j], cells);
        for (size_t i = 0; ok && i < cells; i++) x->sums[j][i] += view->cells[j][i];
    }
    pthread_mutex_unlock(&x->lock);
    return ok;
}

static kn_status put_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    sharing      *x = arg;
    kn_candidate *c = x->c, *mine = c->team[worker], view;
    bool          helps = mine != c;
    if (helps) {
        view = x->view;
        if (!lend(x, &view, mine)) return kn_fail_memory(err, c->ctx, WHAT);
        c = &view;
    }
    x->put(&c->blocks, x->anew, (uint32_t)begin, (uint32_t)end);
    kn_blocks_end(&c->blocks);
    return c->no_memory || (helps && !gather(x, c)) ? kn_fail_memory(err, c->ctx, WHAT) : KN_OK;
}

/* Takes what those who helped have counted. */
static bool take(sharing *x)
{
    kn_candidate *c = x->c;
    bool          ok = true;
    size_t        cells = cells_of(c);
    c->counted += x->counted;
    for (int j = first_table(x); ok && j <= last_table(x); j++) {
        for (size_t i = 0; x->sums[j] && i < cells; i++) c->cells[j][i] += x->sums[j][i];
        if (!x->cells) ok = add_counts(&c->delta[j], &x->differences[j]);
    }
    return ok;
}

kn_status kn_blocks_share(kn_blocks *b, uint32_t rows, uint32_t meant, kn_blocks_put_fn put, bool anew, bool cells,
                          kn_error *err)
{
    kn_candidate *c = b->c;
    sharing       x = {.c = c, .view = *c, .put = put, .anew = anew, .cells = cells};
    /* Where all rows are meant, ranges end where blocks do; else the last block of each range is not full, so that there are fewer. */
    size_t least = meant < rows ? KN_ROWS_SHARED : KN_ROWS_SHARED / 2;
    size_t block = b->words * 64, grain = (least + block - 1) / block * block;
    grain = grain * rows / (meant + (size_t)1) + 1;
    if (cells && cells_of(c) > MOST_CELLS) grain = UINT32_MAX;
    for (int j = 0; j < TABLES; j++) x.differences[j].ctx = c->ctx;
    pthread_mutex_init(&x.lock, NULL);
    kn_status st = kn_parallel_share(c->ctx, c->worker, rows, (int64_t)grain, put_range, &x, err);
    pthread_mutex_destroy(&x.lock);
    if (st == KN_OK && !take(&x)) st = kn_fail_memory(err, c->ctx, WHAT);
    for (int j = 0; j < TABLES; j++) {
        kn_free(x.sums[j]);
        kn_counts_free(&x.differences[j]);
    }
    return st;
}
