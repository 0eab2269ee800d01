/* database/form.c: does a released database contain only the cells of its tables?
 *
 * What an engine or a folder holds besides its tables is reported by io (kn_extras.h), which knows the engines. The
 * form of a folder's files was checked when they were read (table/form.c). All this is told last: it does not affect
 * the assignment. Where an engine lets one look at it apart (a SQLite file, of which a copy is written), that is done beside
 * everything else.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "kn_error.h"
#include "kn_verify_database.h"

typedef struct telling {
    kn_vdb     *v;
    const char *table; /* NULL: the whole database */
} telling;

static void tell(void *arg, const char *sentence)
{
    const telling *t = arg;
    if (t->table)
        kn_vproblem(t->v->notes, "table \"%s\": %s", t->table, sentence);
    else
        kn_vproblem(t->v->notes, "%s", sentence);
}

/* A cell of blanks counts as missing. */
static void check_blanks(telling *t, const kn_vsheet *sheet)
{
    for (int c = 0; c < sheet->column_count; c++) {
        if (!sheet->columns[c].blanks) continue;
        tell(t, "a cell holds nothing but blanks: a missing one must be empty");
        return;
    }
}

static void check_file(kn_vdb *v, const kn_vsheet *sheet)
{
    telling t = {v, sheet->name};
    for (int i = 0; i < sheet->form_count; i++) tell(&t, sheet->form[i]);
    check_blanks(&t, sheet);
}

/* A copied cell has the original's spelling, or the one that an engine gives every number. */
static void check_spelling(kn_vdb *v, const kn_vdb_table *t, const kn_vdb_column *c)
{
    int64_t row = 0;
    if (t->release.table->columns[c->release].respelled > 0)
        kn_vproblem(v->notes, "table \"%s\", column \"%s\": the release shows one number in two spellings", t->name,
                    c->attribute->name);
    if (!c->of_release || c->odd == KN_V_NONE) return;
    while (kn_vsheet_code(t->release.table, c->release, row) != c->odd) row++;
    kn_vproblem(v->notes,
                "table \"%s\", row %" PRId64 ", column \"%s\": the value is spelled differently from the original",
                t->name, row + 1, c->attribute->name);
}

/* ---- What the release holds besides ---- */

static void collect(void *arg, const char *sentence)
{
    kn_vdb *v = arg;
    kn_buffer_append(&v->extras.sentences, sentence, strlen(sentence) + 1);
}

static void look(void *arg)
{
    kn_vdb         *v = arg;
    const kn_cells *release = v->extras.cells;
    v->extras.status = release->extras(release->state, &v->original.catalog, collect, v, &v->extras.error);
}

void kn_vdb_extras_start(kn_vdb *v)
{
    const kn_cells *release = v->source[1];
    if (!release->extras_apart || kn_context_threads(v->ctx) == 1) return;
    kn_buffer_init(&v->extras.sentences, v->ctx);
    v->extras.cells = release;
    kn_beside_start(&v->extras.beside, v->ctx, look, v);
}

void kn_vdb_extras_free(kn_vdb *v)
{
    kn_beside_end(&v->extras.beside);
    kn_buffer_free(&v->extras.sentences);
}

static kn_status tell_extras(kn_vdb *v, kn_error *err)
{
    telling whole = {v, NULL};
    if (v->extras.cells) {
        kn_beside_end(&v->extras.beside);
    } else {
        kn_buffer_init(&v->extras.sentences, v->ctx);
        v->extras.cells = v->release.cells;
        look(v);
    }
    kn_buffer *told = &v->extras.sentences;
    if (v->extras.status != KN_OK && err) *err = v->extras.error;
    if (v->extras.status != KN_OK) return v->extras.status;
    if (told->failed) return kn_vdb_no_memory(v, err);
    for (size_t at = 0; at < told->size; at += strlen(told->data + at) + 1) tell(&whole, told->data + at);
    return KN_OK;
}

kn_status kn_vdb_form(kn_vdb *v, kn_error *err)
{
    for (int t = 0; t < v->table_count; t++)
        for (int c = 0; c < v->tables[t].copy_count; c++) check_spelling(v, &v->tables[t], &v->tables[t].copies[c]);
    const kn_cells *release = v->release.cells;
    KN_TRY(tell_extras(v, err));
    for (int t = 0; t < v->release.count; t++)
        if (v->release.list[t].file) check_file(v, &v->release.list[t]);
    return release->file ? kn_vdb_certificate(v, release->name, err) : KN_OK;
}
