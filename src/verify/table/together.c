/* table/together.c: several releases as one table: each is read by itself, whole or as distinct rows by an engine, and added to the first.
 *
 * So they may be of different formats, and a column may have another type in each: only texts are compared. An engine groups every
 * release by statements of table/where.c; kept columns then only say whether they are "*".
 *
 * Cost: one pass over the rows that are held, per release. Memory: those rows, or the distinct ones, once more while they are added.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_columnar.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_verify_internal.h"
#include "kn_verify_text.h"

static kn_status no_memory(const kn_verifier *v, kn_error *err)
{
    return kn_fail_memory(err, v->ctx, "verifying");
}

/* ---- One release ---- */

static kn_status check_names(const kn_vtable *t, const kn_vread_options *read, const char *release, kn_error *err)
{
    bool same = t->name_count == read->column_count;
    for (int i = 0; same && i < read->column_count; i++) same = kn_vtable_name(t, read->columns[i]) >= 0;
    return same ? KN_OK : kn_fail(err, KN_INPUT, "%s: it does not have the columns of this release", release);
}

static kn_status put_relation(kn_buffer *to, kn_verifier *v, const char *release, int number,
                              const kn_vread_options *read, kn_error *err)
{
    const kn_connection *c = v->where->release.table->connection;
    char                 name[40];
    if (kn_columnar_kind_of(v->ctx, release) != KN_COLUMNAR_NONE)
        return kn_columnar_relation(to, c, v->ctx, &release, 1, NULL, 0, err);
    kn_vread_options blocks = *read;
    snprintf(name, sizeof name, "verified-together-%d", number);
    blocks.all = true;
    blocks.guarded = false; /* once its texts are read back */
    return kn_vtext_keep(to, v->ctx, c, name, release, &blocks, err);
}

static kn_status read_grouped(kn_vtable **out, kn_verifier *v, const char *release, int number,
                              const kn_vread_options *read, kn_error *err)
{
    kn_engine_table  table = *v->where->release.table;
    kn_vside         side = {.table = &table};
    kn_vread_options all = {.csv = read->csv, .all = true, .guarded = read->guarded};
    kn_buffer        relation;
    kn_buffer_init(&relation, v->ctx);
    kn_status st = put_relation(&relation, v, release, number, read, err);
    table.relation = relation.data;
    table.name = release;
    if (st == KN_OK) st = kn_vside_read(out, v, &side, &all, err);
    kn_buffer_free(&relation);
    return st;
}

static kn_status read_one(kn_vtable **out, kn_verifier *v, const char *release, int number,
                          const kn_vread_options *read, kn_error *err)
{
    *out = NULL;
    if (v->where)
        KN_TRY(read_grouped(out, v, release, number, read, err));
    else
        KN_TRY(kn_vtable_read(out, v->ctx, &release, 1, read, err));
    return check_names(*out, read, release, err);
}

/* ---- Several ---- */

/* The number that each text of a column has among all. */
static uint32_t *number_texts(kn_texts *all, const kn_vcolumn *column)
{
    uint32_t *numbers = kn_alloc_array(all->ctx, (size_t)column->count + 1, sizeof *numbers);
    for (uint32_t t = 0; numbers && t < column->count; t++) {
        numbers[t] = kn_texts_add(all, column->texts[t], true);
        if (numbers[t] != KN_V_NONE) continue;
        kn_free(numbers);
        return NULL;
    }
    return numbers;
}

/* The column with the rows of another behind its own. */
static bool add_column(kn_vtable *to, const kn_vtable *from, int c)
{
    kn_vcolumn *column = &to->columns[c], joined = *column;
    kn_texts    all;
    kn_texts_init(&all, to->ctx);
    uint32_t *first = number_texts(&all, column), *second = first ? number_texts(&all, &from->columns[c]) : NULL;
    joined.width = all.count <= 1u << 8 ? 1 : all.count <= 1u << 16 ? 2 : 4;
    joined.codes = kn_alloc_array(to->ctx, (size_t)(to->rows + from->rows) + 1, (size_t)joined.width);
    bool room = second && joined.codes;
    for (int64_t row = 0; room && row < to->rows; row++) kn_vcode_set(&joined, row, first[kn_vcode(column, row)]);
    for (int64_t row = 0; room && row < from->rows; row++)
        kn_vcode_set(&joined, to->rows + row, second[kn_vcode(&from->columns[c], row)]);
    KN_FREE(first, second);
    if (!room) {
        kn_free(joined.codes);
        kn_texts_free(&all);
        return false;
    }
    kn_free(column->codes);
    kn_texts_free(&to->texts[c]);
    to->texts[c] = all;
    joined.texts = all.texts;
    joined.count = all.count;
    *column = joined;
    return true;
}

/* Both have the columns that were asked for, in the same order. */
static kn_status add_rows(kn_verifier *v, kn_vtable *to, const kn_vtable *from, kn_error *err)
{
    int64_t rows = to->rows + from->rows;
    for (int c = 0; c < to->column_count; c++)
        if (!add_column(to, from, c)) return no_memory(v, err);
    if (to->counts) {
        int64_t *counts = kn_arena_array(&to->arena, (size_t)rows + 1, sizeof *counts);
        if (!counts) return no_memory(v, err);
        memcpy(counts, to->counts, (size_t)to->rows * sizeof *counts);
        memcpy(counts + to->rows, from->counts, (size_t)from->rows * sizeof *counts);
        to->counts = counts;
        to->total += from->total;
    }
    to->rows = rows;
    return KN_OK;
}

kn_status kn_vtogether_read(kn_verifier *v, const char *const *releases, int count, const kn_vread_options *read,
                            kn_error *err)
{
    KN_TRY(read_one(&v->release, v, releases[0], 0, read, err));
    for (int i = 1; i < count; i++) {
        kn_vtable *next = NULL;
        kn_status  st = read_one(&next, v, releases[i], i, read, err);
        if (st == KN_OK && next->column_count != v->release->column_count)
            st = kn_fail(err, KN_INTERNAL, "columns of several releases");
        if (st == KN_OK) st = add_rows(v, v->release, next, err);
        kn_vtable_free(next);
        KN_TRY(st);
    }
    if (v->where && v->where->stars) v->where->stars = &v->release->columns[v->release->column_count - 2];
    return KN_OK;
}
