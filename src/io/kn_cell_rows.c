/* kn_cell_rows.c: rows of a source that are collected before their columns are taken. Interface: kn_cells.h.
 *
 * The cells of a row are beside each other, as a source gives them. Numbers are kept as they are: they are spelled by the thread that
 * takes their column, while another one asks the source for the next rows.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_cells.h"
#include "kn_error.h"

static kn_status add_place(kn_cell_rows *r, uint64_t at, uint32_t size)
{
    r->places[(size_t)r->count * (size_t)r->columns + (size_t)r->column] = (kn_cell_place){at, size};
    if (++r->column < r->columns) return KN_OK;
    r->column = 0;
    r->count++;
    return KN_OK;
}

static kn_status add_text(void *state, kn_string text, kn_error *err)
{
    kn_cell_rows *r = state;
    size_t        at = r->bytes.size;
    if (!text.data) return add_place(r, 0, KN_CELL_MISSING);
    if (text.size <= KN_CELL_MOST) kn_buffer_append(&r->bytes, text.data, text.size);
    if (r->bytes.failed || text.size > KN_CELL_MOST) return kn_fail_memory(err, r->ctx, r->what);
    return add_place(r, at, (uint32_t)text.size);
}

static kn_status add_integer(void *state, int64_t value, kn_error *err)
{
    (void)err;
    return add_place(state, (uint64_t)value, KN_CELL_INTEGER);
}

static kn_status add_real(void *state, double value, kn_error *err)
{
    uint64_t bits;
    (void)err;
    memcpy(&bits, &value, sizeof bits);
    return add_place(state, bits, KN_CELL_REAL);
}

bool kn_cell_rows_begin(kn_cell_rows *r, int columns, int64_t first)
{
    r->first = first;
    r->count = 0;
    r->columns = columns;
    r->column = 0;
    if (!r->bytes.ctx) kn_buffer_init(&r->bytes, r->ctx);
    kn_buffer_clear(&r->bytes);
    return KN_GROW(r->ctx, &r->places, &r->capacity, (size_t)columns * KN_CELL_ROWS);
}

kn_cell_sink kn_cell_rows_sink(kn_cell_rows *r)
{
    return (kn_cell_sink){r, add_text, add_integer, add_real};
}

void kn_cell_rows_free(kn_cell_rows *r)
{
    kn_buffer_free(&r->bytes);
    kn_free(r->places);
    r->places = NULL;
}

kn_string kn_cell_rows_text(const kn_cell_rows *r, int column, int64_t i, char room[KN_NUMBER_TEXT])
{
    const kn_cell_place *place = &r->places[(size_t)i * (size_t)r->columns + (size_t)column];
    double               real;
    switch (place->size) {
    case KN_CELL_MISSING: return (kn_string){NULL, 0};
    case KN_CELL_INTEGER: return kn_integer_text((int64_t)place->at, room);
    case KN_CELL_REAL: memcpy(&real, &place->at, sizeof real); return kn_real_text(real, room);
    case 0: return (kn_string){"", 0};
    default: return (kn_string){r->bytes.data + place->at, place->size};
    }
}
