/* database/labels.c: columns that a release has and the original has not: labels of groups of a reference's rows, and keys that are
 * drawn because the original's refer to a reference.
 *
 * Where a reference gets no broader rows, a quasi-identifier that refers to it is released as its key, or as a label with the key
 * missing. Here both become one text, in the first column of the key, so that it is compared like any other quasi-identifier: what
 * is not missing must be a key of the reference, and a label one of its groups.
 *
 * Cost: one pass over the rows of such tables, and a look-up of their keys. Memory: 4 bytes per row, and the different texts.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdio.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_verify_references.h"

const kn_vdb_refer *kn_vdb_whole(const kn_vdb_table *t, int column)
{
    for (int i = 0; i < t->refer_count; i++)
        for (int c = 0; t->refer[i].whole && c < t->refer[i].count; c++)
            if (t->refer[i].columns[c] == column) return &t->refer[i];
    return NULL;
}

bool kn_vdb_is_added(const kn_vdb_table *t, int column)
{
    for (int i = 0; i < t->refer_count; i++)
        if (t->refer[i].label == column) return true;
    return t->drawn == column;
}

kn_status kn_vdb_key_text(kn_vdb *v, const kn_vsheet *sheet, const int *columns, int count, int64_t row, kn_string *out,
                          kn_error *err)
{
    enum { DIGITS = 24 };
    size_t room = 1, size = 0;
    *out = (kn_string){NULL, 0};
    for (int i = 0; i < count; i++) {
        kn_string text = kn_vsheet_text(sheet, columns[i], kn_vsheet_code(sheet, columns[i], row));
        if (!text.data) return KN_OK;
        room += text.size + DIGITS;
        if (count == 1) *out = text;
    }
    if (count == 1) return KN_OK;
    char *to = kn_vdb_take(v, room, 1);
    if (!to) return kn_vdb_no_memory(v, err);
    for (int i = 0; i < count; i++) {
        kn_string text = kn_vsheet_text(sheet, columns[i], kn_vsheet_code(sheet, columns[i], row));
        size += (size_t)snprintf(to + size, DIGITS, "%zu:", text.size);
        memcpy(to + size, text.data, text.size);
        size += text.size;
    }
    *out = (kn_string){to, size};
    return KN_OK;
}

/* ---- Which columns ---- */

/* The column of the release that is called `name` and the ending, with as many underscores as the original lacks; -1: none. */
static kn_status find_added(kn_vdb *v, kn_vdb_table *t, const char *name, const char *ending, int *out, bool *whole,
                            kn_error *err)
{
    size_t size = strlen(name) + strlen(ending), most = size + (size_t)t->original.table->column_count + 1;
    char  *added = kn_vdb_take(v, most, 1);
    if (!added) return kn_vdb_no_memory(v, err);
    snprintf(added, most, "%s%s", name, ending);
    while (kn_vsheet_find(t->original.table, added) >= 0) added[size++] = '_';
    *out = kn_vsheet_find(t->release.table, added);
    if (*out >= 0) return KN_OK;
    kn_vproblem(v->notes, "table \"%s\": column \"%s\" is missing from the release", t->name, added);
    *whole = false;
    return KN_OK;
}

/* How many of a key's columns are quasi-identifiers? */
static int count_quasi(const kn_vdb *v, const kn_vdb_table *t, const kn_vdb_refer *r)
{
    const kn_spec_table *said = kn_vdb_said(v, t->name);
    int                  quasi = 0;
    for (int c = 0; c < r->count; c++)
        for (int a = 0; said && a < said->attribute_count; a++)
            quasi += said->attributes[a].role == KN_ROLE_QUASI &&
                     strcmp(said->attributes[a].name, kn_vsheet_name(t->original.table, r->columns[c])) == 0;
    return quasi;
}

kn_status kn_vdb_find_labels(kn_vdb *v, kn_vdb_table *t, bool *whole, kn_error *err)
{
    for (int i = 0; i < t->refer_count; i++) {
        kn_vdb_refer *r = &t->refer[i];
        int           quasi = count_quasi(v, t, r);
        if (quasi > 0 && quasi < r->count)
            return kn_fail(err, KN_INPUT, "table \"%s\": some columns of a key of a reference are quasi-identifiers",
                           t->name);
        if (quasi == 0 || !v->references[r->reference].labels) continue;
        r->whole = true;
        const char *name = kn_vsheet_name(t->original.table, r->columns[0]);
        KN_TRY(find_added(v, t, name, "_label", &r->label, whole, err));
    }
    return t->key_drawn ? find_added(v, t, t->name, "_id", &t->drawn, whole, err) : KN_OK;
}

/* ---- One text ---- */

typedef struct joining {
    kn_vdb       *v;
    kn_vdb_table *t;
    kn_vref      *reference;
    kn_vsheet    *sheet;
    const int    *columns;      /* of the sheet */
    int           count, label; /* -1: the original has none */
    uint32_t     *codes;
    kn_texts      texts;
    uint32_t     *found; /* the reference's row that a released one refers to */
    int           shown;
} joining;

static void complain(joining *j, int64_t row, const char *what)
{
    if (j->shown++ < KN_VDB_SHOWN)
        kn_vproblem(j->v->notes, "table \"%s\", row %" PRId64 ", column \"%s\": %s", j->t->name, row + 1,
                    kn_vsheet_name(j->sheet, j->columns[0]), what);
}

static bool is_group(const kn_vref *r, kn_string label)
{
    for (uint32_t g = 0; g < r->count; g++)
        if (kn_string_equal(r->names[g], label)) return true;
    return false;
}

/* A released key and its label: one of them, or none. */
static kn_string one_of(joining *j, int64_t row, kn_string key)
{
    kn_string label = kn_vsheet_text(j->sheet, j->label, kn_vsheet_code(j->sheet, j->label, row));
    int       parts = 0;
    for (int i = 0; i < j->count; i++)
        parts += kn_vsheet_code(j->sheet, j->columns[i], row) < kn_vsheet_distinct(j->sheet, j->columns[i]);
    if (parts > 0 && parts < j->count) complain(j, row, "a part of the key is missing");
    if (parts > 0 && label.data) complain(j, row, "both the key and a label are there");
    if (key.data && j->found[row] == KN_V_NONE) complain(j, row, "it refers to no row of the reference");
    return label.data ? label : key;
}

static kn_status join_rows(joining *j, kn_error *err)
{
    for (int64_t row = 0; row < j->sheet->rows; row++) {
        kn_string text;
        KN_TRY(kn_vdb_key_text(j->v, j->sheet, j->columns, j->count, row, &text, err));
        if (j->label >= 0) text = one_of(j, row, text);
        j->codes[row] = text.data ? kn_texts_add(&j->texts, text, true) : KN_V_NONE;
        if (text.data && j->codes[row] == KN_V_NONE) return kn_vdb_no_memory(j->v, err);
    }
    for (uint32_t i = 0; j->label >= 0 && i < kn_vsheet_distinct(j->sheet, j->label); i++)
        if (!is_group(j->reference, kn_vsheet_text(j->sheet, j->label, i)))
            kn_vproblem(j->v->notes, "table \"%s\": column \"%s\" has a label that is none of the groups of \"%s\"",
                        j->t->name, kn_vsheet_name(j->sheet, j->label), j->reference->name);
    return KN_OK;
}

/* The texts become those of the first column. */
static kn_status replace(joining *j, kn_error *err)
{
    kn_vsheet_column *c = &j->sheet->columns[j->columns[0]];
    kn_string        *texts = kn_vdb_take(j->v, j->texts.count, sizeof *texts);
    if (!texts) return kn_vdb_no_memory(j->v, err);
    for (uint32_t i = 0; i < j->texts.count; i++) {
        char *copy = kn_vdb_take(j->v, j->texts.texts[i].size, 1);
        if (!copy) return kn_vdb_no_memory(j->v, err);
        memcpy(copy, j->texts.texts[i].data, j->texts.texts[i].size);
        texts[i] = (kn_string){copy, j->texts.texts[i].size};
    }
    c->missing = 0;
    for (int64_t row = 0; row < j->sheet->rows; row++) {
        if (j->codes[row] == KN_V_NONE) j->codes[row] = j->texts.count;
        c->missing += j->codes[row] == j->texts.count;
    }
    if (!j->sheet->file) kn_free(c->cells.codes); /* a file's are its own */
    c->cells =
        (kn_vcolumn){.texts = texts, .words = c->cells.words, .count = j->texts.count, .width = 4, .codes = j->codes};
    j->codes = NULL;
    return KN_OK;
}

static kn_status join_side(joining *j, kn_error *err)
{
    size_t rows = (size_t)j->sheet->rows + 1;
    j->codes =
        j->sheet->file ? kn_vdb_take(j->v, rows, sizeof *j->codes) : kn_alloc_array(j->v->ctx, rows, sizeof *j->codes);
    if (!j->codes) return kn_vdb_no_memory(j->v, err);
    kn_texts_init(&j->texts, j->v->ctx);
    kn_status st = join_rows(j, err);
    if (st == KN_OK) st = replace(j, err);
    kn_texts_free(&j->texts);
    if (!j->sheet->file) kn_free(j->codes);
    return st;
}

static kn_status take_one(kn_vdb *v, kn_vdb_table *t, const kn_vdb_refer *r, kn_error *err)
{
    kn_vref *reference = &v->references[r->reference];
    int     *columns = kn_vdb_take(v, (size_t)r->count, sizeof *columns);
    int64_t  twice = -1;
    int      o = (int)(t - v->tables), n = kn_vsheets_find(&v->release, t->name);
    joining  j = {.v = v, .t = t, .reference = reference, .columns = r->columns, .count = r->count, .label = -1};
    j.sheet = &v->original.list[o];
    j.found = kn_vdb_take(v, (size_t)v->release.list[n].rows, sizeof *j.found);
    if (!columns || !j.found) return kn_vdb_no_memory(v, err);
    for (int i = 0; i < r->count; i++) columns[i] = t->released[r->columns[i]];
    kn_vdb_lookup l = {reference->original, &v->release.list[n], reference->key, columns, r->count};
    KN_TRY(kn_vdb_look_up(j.found, &twice, v, &l, err));
    KN_TRY(join_side(&j, err));
    j.sheet = &v->release.list[n];
    j.columns = columns;
    j.label = r->label;
    return join_side(&j, err);
}

kn_status kn_vdb_take_labels(kn_vdb *v, kn_vdb_table *t, kn_error *err)
{
    for (int i = 0; i < t->refer_count; i++)
        if (t->refer[i].whole) KN_TRY(take_one(v, t, &t->refer[i], err));
    return KN_OK;
}
