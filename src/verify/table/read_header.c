/* table/read_header.c: the header of a CSV file, its delimiter and its columns. Interface: kn_verify_reader.h. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "kn_context.h"
#include "kn_error.h"
#include "kn_verify_reader.h"

enum { SNIFF = 1 << 20 };

static kn_status no_memory(const kn_vreader *r, kn_error *err)
{
    return kn_fail_memory(err, r->ctx, "verifying");
}

/* Scans the first record, whatever its number of cells; fills the window until it is whole. */
static kn_status first_record(kn_vreader *r, char delimiter, kn_csv_field *fields, size_t *count, size_t *end,
                              kn_error *err)
{
    kn_csv_scanner *s = &r->workers[0].scanner;
    for (;;) {
        kn_csv_scanner_init(s, r->window, r->filled, r->ended, delimiter, r->at);
        kn_csv_result result = kn_csv_scan_any(s, fields, KN_VREADER_COLUMNS, count);
        *end = s->at;
        if (result == KN_CSV_OK && (*count > 0 || r->ended)) return KN_OK;
        if (result != KN_CSV_OK && result != KN_CSV_MORE)
            return kn_fail_at(err, KN_INPUT, kn_source_name(r->source), 1, 0, "the header cannot be read");
        KN_TRY(kn_vreader_fill(r, err));
    }
}

static kn_status header_name(kn_vreader *r, kn_csv_field field, kn_string *out, kn_error *err)
{
    if (kn_vreader_wrong_byte(r, r->window + field.begin, field.size) < field.size)
        return kn_fail_at(err, KN_INPUT, kn_source_name(r->source), 1, 0, "the header is not text of its encoding");
    kn_string text = kn_vreader_cell(r, &r->workers[0], field);
    out->data = text.data ? kn_arena_strndup(&r->t->arena, text.data, text.size) : NULL;
    out->size = text.size;
    return out->data ? KN_OK : no_memory(r, err);
}

/* Are the cells exactly the expected names? */
static bool is_expected(kn_vreader *r, const kn_csv_field *fields, size_t count)
{
    if (count != (size_t)r->opt->header_count) return false;
    for (size_t i = 0; i < count; i++) {
        kn_string text = kn_vreader_cell(r, &r->workers[0], fields[i]);
        bool      found = false;
        for (int j = 0; text.data && j < r->opt->header_count && !found; j++)
            found = kn_string_equal(text, kn_string_of(r->opt->header[j]));
        if (!found) return false;
    }
    return true;
}

/* With one column the delimiter does not matter, except for which quotes are needed: releases are written with
 * commas. */
static kn_status prefer_comma(kn_vreader *r, kn_csv_field *fields, kn_error *err)
{
    size_t count, end;
    KN_TRY(first_record(r, r->t->delimiter, fields, &count, &end, err));
    kn_error ignored = KN_ERROR_INIT;
    if (count == 1 && first_record(r, ',', fields, &count, &end, &ignored) == KN_OK && count == 1)
        r->t->delimiter = ',';
    return KN_OK;
}

static kn_status choose_delimiter(kn_vreader *r, kn_csv_field *fields, kn_error *err)
{
    char   candidates[] = {r->opt->hint, ',', ';', '\t', '|'};
    size_t count, end;
    char   known = kn_source_delimiter(r->source);
    r->t->delimiter = known ? known : r->opt->csv->delimiter;
    if (r->t->delimiter) return KN_OK;
    for (size_t i = 0; r->opt->header && i < sizeof candidates; i++) {
        kn_error ignored = KN_ERROR_INIT;
        if (!candidates[i]) continue;
        kn_status st = first_record(r, candidates[i], fields, &count, &end, &ignored);
        if (st != KN_OK && st != KN_INPUT) {
            if (err) *err = ignored;
            return st;
        }
        if (st != KN_OK || !is_expected(r, fields, count)) continue;
        r->t->delimiter = candidates[i];
        return KN_OK;
    }
    size_t size = r->filled - r->at;
    r->t->delimiter = kn_csv_sniff(r->window + r->at, size > SNIFF ? SNIFF : size, r->ended && size <= SNIFF);
    return r->opt->form ? prefer_comma(r, fields, err) : KN_OK;
}

/* A column without a name is called "cN" by its position N, with underscores appended until the name is unique. */
static kn_status name_by_place(kn_vreader *r, kn_error *err)
{
    kn_vtable *t = r->t;
    t->unnamed = kn_arena_alloc(&t->arena, (size_t)t->name_count * sizeof *t->unnamed);
    if (!t->unnamed) return no_memory(r, err);
    for (int c = 0; c < t->name_count; c++) {
        t->unnamed[c] = t->names[c].size == 0;
        char  *name = t->unnamed[c] ? kn_arena_bytes(&t->arena, 16 + (size_t)t->name_count) : NULL;
        size_t size = name ? (size_t)snprintf(name, 16, "c%d", c + 1) : 0;
        if (!t->unnamed[c]) continue;
        if (!name) return no_memory(r, err);
        while (kn_vtable_name(t, name) >= 0) {
            name[size++] = '_';
            name[size] = '\0';
        }
        t->names[c] = (kn_string){name, size};
    }
    return KN_OK;
}

static kn_status name_columns(kn_vreader *r, const kn_csv_field *fields, size_t count, kn_error *err)
{
    kn_vtable *t = r->t;
    t->name_count = (int)count;
    t->names = kn_arena_alloc(&t->arena, count * sizeof *t->names);
    t->kept = kn_arena_alloc(&t->arena, count * sizeof *t->kept);
    size_t most = r->opt->all ? count : (size_t)r->opt->column_count;
    r->place = kn_arena_alloc(&t->arena, (most + 1) * sizeof *r->place);
    if (!t->names || !t->kept || !r->place) return no_memory(r, err);
    for (int c = 0; c < t->name_count; c++) {
        t->names[c] = (kn_string){NULL, 0};
        if (!r->opt->csv->no_header) KN_TRY(header_name(r, fields[c], &t->names[c], err));
    }
    KN_TRY(name_by_place(r, err));
    for (int c = 0; c < t->name_count; c++) {
        t->kept[c] = -1;
        for (int d = 0; d < c; d++)
            if (kn_string_equal(t->names[c], t->names[d]))
                return kn_fail_at(err, KN_INPUT, kn_source_name(r->source), 1, 0,
                                  "columns %d and %d have the same name", d + 1, c + 1);
    }
    for (int i = 0; i < (int)most; i++) {
        int c = r->opt->all ? i : kn_vtable_name(t, r->opt->columns[i]);
        if (c < 0 || t->kept[c] >= 0) continue;
        r->place[t->column_count] = c;
        t->kept[c] = t->column_count++;
    }
    return KN_OK;
}

/* What depends on the number of columns. */
static kn_status prepare(kn_vreader *r, kn_error *err)
{
    kn_vtable *t = r->t;
    size_t     columns = (size_t)t->column_count, all = columns * (size_t)r->worker_count;
    t->columns = kn_arena_array_zero(&t->arena, columns + 1, sizeof *t->columns);
    t->texts = kn_arena_array_zero(&t->arena, columns + 1, sizeof *t->texts);
    t->locals = kn_arena_array_zero(&t->arena, all + 1, sizeof *t->locals);
    t->form.quoted = kn_arena_array_zero(&t->arena, columns * KN_VFORM_KINDS + 1, sizeof *t->form.quoted);
    r->common = kn_arena_array_zero(&r->arena, all + 1, sizeof *r->common);
    r->merged = kn_arena_array_zero(&r->arena, all + 1, sizeof *r->merged);
    r->common_capacity = kn_arena_array_zero(&r->arena, all + 1, sizeof *r->common_capacity);
    if (t->arena.failed || r->arena.failed) return no_memory(r, err);
    t->local_count = (int)all;
    for (size_t i = 0; i < columns; i++) {
        kn_texts_init(&t->texts[i], r->ctx);
        t->columns[i].width = 1;
    }
    for (size_t i = 0; i < all; i++) kn_texts_init(&t->locals[i], r->ctx);
    for (int i = 0; i < r->worker_count; i++) {
        kn_vworker *w = &r->workers[i];
        w->fields = kn_arena_array(&r->arena, (size_t)KN_VREADER_BATCH * (size_t)t->name_count, sizeof *w->fields);
        w->above = kn_arena_array_zero(&r->arena, columns + 1, sizeof *w->above);
        w->above_id = kn_varray_none(&r->arena, columns + 1);
    }
    return r->arena.failed ? no_memory(r, err) : KN_OK;
}

static kn_status same_names(kn_vreader *r, const kn_csv_field *fields, size_t count, kn_error *err)
{
    bool same = count == (size_t)r->t->name_count;
    for (size_t c = 0; same && c < count && !r->opt->csv->no_header; c++) {
        kn_string name;
        KN_TRY(header_name(r, fields[c], &name, err));
        same = r->t->unnamed[c] ? name.size == 0 : kn_string_equal(name, r->t->names[c]);
    }
    if (same) return KN_OK;
    return kn_fail_at(err, KN_INPUT, kn_source_name(r->source), 1, 0, "its columns are not those of the first file");
}

kn_status kn_vreader_header(kn_vreader *r, bool first, kn_csv_field *fields, kn_error *err)
{
    size_t count = 0, end = 0;
    KN_TRY(choose_delimiter(r, fields, err));
    KN_TRY(first_record(r, r->t->delimiter, fields, &count, &end, err));
    if (count == 0)
        return kn_fail(err, KN_INPUT, "%s: the file has nothing but blank lines", kn_source_name(r->source));
    if (first) {
        KN_TRY(name_columns(r, fields, count, err));
        KN_TRY(prepare(r, err));
    } else {
        KN_TRY(same_names(r, fields, count, err));
    }
    size_t begin = fields[0].begin;
    if (begin > r->at && r->window[begin - 1] == '"') begin--;
    size_t to = r->opt->csv->no_header ? begin : end;
    if (r->opt->form) {
        const kn_csv_field *f = &fields[count - 1];
        r->t->form.blank += begin > r->at;
        (void)kn_vform_end(&r->t->form, r->window, r->filled,
                           f->begin + f->size + (f->begin > 0 && r->window[f->begin - 1] == '"'));
    }
    r->line = kn_csv_count_lines(r->window + r->at, to - r->at);
    r->at = to;
    return KN_OK;
}
