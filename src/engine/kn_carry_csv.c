/* kn_carry_csv.c: rows of a release with kept cells as CSV, by the bytes of one in memory. Interface: kn_carry_csv.h.
 *
 * What stands between the kept cells is made once for all rows of an entry, which follow one another.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_carry_csv.h"

#include "kn_alloc.h"
#include "kn_csv_write.h"
#include "kn_error.h"

enum { ENOUGH = 1 << 16 }; /* bytes that are written at a time */

static bool is_kept(const kn_carry *k, int place, int kept)
{
    return kept < k->count && k->columns[kept].place == place;
}

static void put_header(kn_carry_csv *c)
{
    const kn_carry   *k = c->carry;
    const kn_batches *b = c->release->batches;
    for (int place = 0, kept = 0; place < k->all; place++) {
        if (place > 0) kn_buffer_char(&c->rows, c->release->delimiter);
        bool        own = is_kept(k, place, kept);
        const char *name = own ? k->columns[kept].name : b->columns[place - kept].name;
        kept += own;
        kn_csv_cell(&c->rows, kn_string_of(name), c->release->delimiter);
    }
    kn_buffer_char(&c->rows, '\n');
}

kn_status kn_carry_csv_open(kn_carry_csv *c, const kn_carry *k, const kn_carry_release *release, kn_error *err)
{
    kn_context *ctx = k->engine->ctx;
    *c = (kn_carry_csv){.carry = k, .release = release, .entry = -1};
    kn_buffer_init(&c->rows, ctx);
    c->between = kn_alloc_array(ctx, (size_t)k->count + 1, sizeof *c->between);
    if (!c->between) return kn_fail_memory(err, ctx, "writing the release");
    for (int i = 0; i <= k->count; i++) kn_buffer_init(&c->between[i], ctx);
    put_header(c);
    return KN_OK;
}

/* What rows of an entry show before the first kept cell, between two, and behind the last. */
static void put_between(kn_carry_csv *c, int64_t entry)
{
    const kn_carry *k = c->carry;
    c->entry = entry;
    for (int i = 0; i <= k->count; i++) kn_buffer_clear(&c->between[i]);
    for (int place = 0, kept = 0; place < k->all; place++) {
        if (place > 0) kn_buffer_char(&c->between[kept], c->release->delimiter);
        if (is_kept(k, place, kept))
            kept++;
        else
            kn_csv_cell(&c->between[kept], kn_carry_entry_text(&c->release->batches->columns[place - kept], entry),
                        c->release->delimiter);
    }
}

static kn_status write_rows(kn_carry_csv *c, kn_error *err)
{
    if (c->rows.failed) return kn_fail_memory(err, c->carry->engine->ctx, "writing the release");
    kn_output_write(c->release->output, c->rows.data, c->rows.size);
    kn_buffer_clear(&c->rows);
    return KN_OK;
}

kn_status kn_carry_csv_row(kn_carry_csv *c, int64_t entry, const kn_string *texts, kn_error *err)
{
    const kn_carry *k = c->carry;
    if (entry != c->entry) put_between(c, entry);
    for (int i = 0; i <= k->count; i++) {
        if (c->between[i].failed) c->rows.failed = true;
        kn_buffer_append(&c->rows, c->between[i].data, c->between[i].size);
        if (i == k->count) break;
        if (k->guarded)
            kn_csv_guarded_cell(&c->rows, texts[i], c->release->delimiter);
        else
            kn_csv_cell(&c->rows, texts[i], c->release->delimiter);
    }
    kn_buffer_char(&c->rows, '\n');
    return c->rows.size < ENOUGH ? KN_OK : write_rows(c, err);
}

kn_status kn_carry_csv_finish(kn_carry_csv *c, kn_error *err)
{
    return write_rows(c, err);
}

void kn_carry_csv_end(kn_carry_csv *c)
{
    for (int i = 0; c->between && i <= c->carry->count; i++) kn_buffer_free(&c->between[i]);
    kn_buffer_free(&c->rows);
    kn_free(c->between);
}
