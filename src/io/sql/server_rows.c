/* sql/server_rows.c: the lines of a server's COPY as Arrow batches (kn_row_stream.h). Interface: kn_server.h. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_postgres_internal.h"
#include "kn_server.h"

typedef struct lines {
    kn_pg *pg;
    int    count;
    void (*ended)(kn_pg *pg);
    bool          open; /* rows may still come */
    kn_row_batch *to;
    int           at; /* the next cell's column */
    kn_error      said;
} lines;

static kn_status take_cell(void *state, kn_string text, kn_error *err)
{
    lines *l = state;
    return kn_row_batch_cell(l->to, l->at++, text, err);
}

static kn_status take_line(lines *l, char *line, int size, kn_error *err)
{
    kn_cell_sink sink = {.state = l, .cell = take_cell};
    l->at = 0;
    KN_TRY(kn_pg_take_line(l->pg, l->count, &sink, line, size, err));
    kn_row_batch_rows(l->to, 1);
    return KN_OK;
}

static kn_status fill(void *state, kn_row_batch *to, kn_error *err)
{
    lines *l = state;
    kn_pg *pg = l->pg;
    l->to = to;
    while (l->open && kn_row_batch_room(to) > 0) {
        char *line = NULL;
        int   size = pg->pq.getCopyData(pg->conn, &line, 0);
        if (size < 0) l->open = false;
        if (size < -1) return kn_pg_fail(pg, NULL, err);
        if (size == -1) {
            kn_status st = kn_pg_copy_end(pg, err);
            l->ended(pg);
            return st;
        }
        kn_status st = take_line(l, line, size, err);
        pg->pq.freemem(line);
        KN_TRY(st);
    }
    return KN_OK;
}

static void end(void *state)
{
    lines *l = state;
    while (l->open) {
        char *line = NULL;
        l->open = l->pg->pq.getCopyData(l->pg->conn, &line, 0) >= 0;
        l->pg->pq.freemem(line);
        if (l->open) continue;
        (void)!kn_pg_copy_end(l->pg, NULL);
        l->ended(l->pg);
    }
    kn_free(l);
}

kn_status kn_server_rows(struct ArrowArrayStream *out, kn_pg *pg, kn_row_column *columns, int count,
                         void (*ended)(kn_pg *pg), kn_error *err)
{
    lines *l = kn_alloc_zero(pg->ctx, sizeof *l);
    if (!l) {
        for (int c = 0; c < count; c++) kn_free(columns[c].name);
        kn_free(columns);
        return kn_fail_memory(err, pg->ctx, "reading a server's table");
    }
    *l = (lines){.pg = pg, .count = count, .ended = ended, .open = true, .said = KN_ERROR_INIT};
    kn_row_source source = {.state = l, .fill = fill, .end = end, .said = &l->said, .name = pg->name};
    return kn_row_stream(out, pg->ctx, columns, count, &source, err);
}
