/* rowmap.c: the row map beside a release of a table or of records (kn_private.h): made in parallel, some 8 bytes per row. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "kn_error.h"
#include "kn_private.h"

enum { PIECE_ROWS = 1 << 13, LONGEST = 20 };

typedef struct map_pieces {
    kn_context    *ctx;
    const int64_t *map;
    int64_t        count;
} map_pieces;

/* Decimal digits and a line end; printf would take longer than the rest of the run. */
static size_t put_row(char *to, uint64_t row)
{
    char   digits[LONGEST];
    size_t n = 0;
    do {
        digits[n++] = (char)('0' + row % 10);
        row /= 10;
    } while (row > 0);
    for (size_t i = 0; i < n; i++) to[i] = digits[n - 1 - i];
    to[n] = '\n';
    return n + 1;
}

static kn_status map_piece(void *arg, int64_t piece, kn_buffer *to, kn_error *err)
{
    const map_pieces *p = arg;
    int64_t           first = piece * PIECE_ROWS, end = first + PIECE_ROWS;
    if (end > p->count) end = p->count;
    char *room = kn_buffer_reserve(to, (size_t)(end - first) * (LONGEST + 1));
    if (!room) return kn_fail_memory(err, p->ctx, "writing the row map");
    for (int64_t i = first; i < end; i++) {
        size_t n = put_row(room, (uint64_t)p->map[i] + 1);
        room += n;
        to->size += n;
    }
    return KN_OK;
}

kn_status kn_rowmap_write(kn_output *output, kn_context *ctx, const int64_t *map, int64_t count, kn_error *err)
{
    static const char first[] = "kanon-rowmap 1\n";
    map_pieces        p = {ctx, map, count};
    kn_output_write(output, first, sizeof first - 1);
    return kn_output_pieces(output, (count + PIECE_ROWS - 1) / PIECE_ROWS, map_piece, &p, err);
}
