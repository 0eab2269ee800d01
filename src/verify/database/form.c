/* database/form.c: is there nothing in a released database but the cells of its tables?
 *
 * What an engine or a folder holds beside its tables is told by io (kn_extras.h), which knows the engines. The files of a folder
 * are read once more as text for their form (table/form.c), since the reader of tables takes cells for equal that are
 * not written alike. All of it is looked at last: none of it changes who is who. Cost: one more pass over the files.
 */
#include <inttypes.h>
#include <stdio.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_extras.h"
#include "kn_verify_database.h"

typedef struct telling {
    kn_vdb     *v;
    const char *table; /* NULL: the whole database */
} telling;

static void tell(void *arg, const char *sentence)
{
    const telling *t = arg;
    if (t->table)
        kn_vdb_problem(t->v, "table \"%s\": %s", t->table, sentence);
    else
        kn_vdb_problem(t->v, "%s", sentence);
}

/* The reader of tables takes a cell of blanks for a missing one. */
static void check_blanks(telling *t, const kn_vtable *text)
{
    for (int c = 0; c < text->column_count; c++)
        for (uint32_t i = 0; i < text->columns[c].count; i++) {
            kn_string cell = text->columns[c].texts[i];
            if (cell.size == 0 || kn_value_trim(cell).size > 0) continue;
            tell(t, "a cell holds nothing but blanks: a missing one must be empty");
            return;
        }
}

static kn_status check_file(kn_vdb *v, const char *path, const char *name, const kn_table *table, kn_error *err)
{
    kn_csv_options   csv = KN_CSV_OPTIONS_INIT;
    int              count = kn_table_columns(table);
    const char     **names = kn_vdb_take(v, (size_t)count, sizeof *names);
    kn_vread_options read = {
        .csv = &csv, .columns = names, .column_count = count, .header = names, .header_count = count, .form = true};
    kn_vtable *text = NULL;
    telling    t = {v, name};
    if (!names) return kn_vdb_no_memory(v, err);
    for (int c = 0; c < count; c++) names[c] = kn_table_name(table, c);
    KN_TRY(kn_vtable_read(&text, v->ctx, &path, 1, &read, err));
    kn_vform_judge(text, tell, &t);
    check_blanks(&t, text);
    kn_vtable_free(text);
    return KN_OK;
}

/* A copied cell has the original's spelling, or the one that an engine gives every number. */
static void check_spelling(kn_vdb *v, const kn_vdb_table *t, const kn_vdb_column *c)
{
    int64_t row = 0;
    if (kn_table_respelled(t->release.table, c->release) > 0)
        kn_vdb_problem(v, "table \"%s\", column \"%s\": the release shows one number in two spellings", t->name,
                       c->attribute->name);
    if (!c->of_release || c->odd == KN_V_NONE) return;
    while (kn_table_code(t->release.table, c->release, row) != c->odd) row++;
    kn_vdb_problem(v,
                   "table \"%s\", row %" PRId64 ", column \"%s\": the value is spelled otherwise than in the original",
                   t->name, row + 1, c->attribute->name);
}

kn_status kn_vdb_form(kn_vdb *v, kn_error *err)
{
    const char *name = v->options->release;
    telling     whole = {v, NULL};
    for (int t = 0; t < v->table_count; t++)
        for (int c = 0; c < v->tables[t].copy_count; c++) check_spelling(v, &v->tables[t], &v->tables[t].copies[c]);
    if (!name) return KN_OK;
    KN_TRY(kn_database_extras(v->ctx, name, v->original, tell, &whole, err));
    for (int t = 0; t < kn_database_tables(v->release); t++) {
        const char *table = kn_database_table_name(v->release, t);
        char       *path = NULL;
        KN_TRY(kn_database_table_file(&path, v->ctx, name, table, err));
        kn_status status = path ? check_file(v, path, table, kn_database_content(v->release, t), err) : KN_OK;
        kn_free(path);
        if (status != KN_OK) return status;
    }
    return kn_vdb_certificate(v, name, err);
}
