/* database/written.c: kn_written.h. Cost: one pass over the persons. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kn_written.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_csv_write.h"
#include "kn_error.h"
#include "kn_job_texts.h"
#include "kn_names.h"
#include "kn_targets.h"

#define WHAT "writing a database"

/* ---- The target ---- */

static const char *without_scheme(const char *name)
{
    const char *file = kn_name_sqlite(name);
    return file ? file : name;
}

static kn_status find_base(kn_release_run *run, kn_error *err)
{
    char *base = NULL;
    KN_TRY(kn_set_base(&base, run->ctx, run->spec->output, err));
    run->base = kn_release_text(run, base, err);
    kn_free(base);
    return run->base ? KN_OK : KN_MEMORY;
}

/* Is a path directly in a folder? */
static bool lies_in(kn_release_run *run, const char *path, const char *folder)
{
    const char *slash = strrchr(path, '/');
    char       *parent = slash ? kn_arena_strndup(&run->scratch, path, (size_t)(slash - path) + 1) : NULL;
    return kn_targets_same(parent ? parent : ".", folder);
}

static kn_status check_target(kn_release_run *run, kn_error *err)
{
    const char      *output = run->spec->output, *input = run->spec->inputs[0];
    kn_database_kind kind = kn_database_kind_of(output);
    if (kind == KN_DATABASE_POSTGRES) return KN_OK;
    if (kn_targets_same(without_scheme(output), without_scheme(input)))
        return kn_fail(err, KN_USAGE, "the output would overwrite the input");
    if (kn_database_kind_of(input) == KN_DATABASE_FOLDER && lies_in(run, run->base, input))
        return kn_fail(err, KN_USAGE, "the output would lie in the folder that is read");
    return KN_OK;
}

kn_status kn_written_open(kn_database_writer **out, kn_release_run *run, kn_error *err)
{
    const char *output = run->spec->output;
    *out = NULL;
    KN_TRY(find_base(run, err));
    KN_TRY(check_target(run, err));
    KN_TRY(kn_targets_check(run->ctx, run->spec, run->base, err));
    KN_TRY(kn_set_open(&run->set, run->ctx, output, err));
    KN_TRY(kn_database_writer_open(out, run->ctx, output, NULL, err));
    kn_set_database(run->set, *out);
    if (run->spec->spreadsheet_safe && !kn_database_writer_guard(*out))
        return kn_fail(err, KN_USAGE,
                       "spreadsheet-safe is for CSV, and the output is no folder of such files; leave it out");
    return KN_OK;
}

kn_status kn_written_seed(kn_release_run *run, kn_error *err)
{
    if (run->spec->seeded) return KN_OK;
    if (sodium_init() < 0) return kn_fail(err, KN_INTERNAL, "libsodium could not be initialized");
    randombytes_buf(&run->seed, sizeof run->seed);
    return KN_OK;
}

/* ---- Files ---- */

kn_status kn_written_files(kn_release_run *run, const kn_database_writer *writer, const kn_database *db,
                           const kn_database *references, kn_error *err)
{
    const char *folder = kn_database_writer_folder(writer), *file = kn_database_writer_file(writer);
    int         own = db->table_count, copied = references ? references->table_count : 0;
    int         count = folder ? own + copied : file != NULL;
    run->files = kn_release_alloc(run, &run->scratch, (size_t)count, sizeof *run->files, err);
    run->file_names = kn_release_alloc(run, &run->scratch, (size_t)count, sizeof *run->file_names, err);
    if (!run->files || !run->file_names) return KN_MEMORY;
    for (int i = 0; i < count; i++) {
        const char *name = i < own ? db->tables[i].name : references->tables[i - own].name;
        size_t      room = folder ? strlen(folder) + strlen(name) + 6 : strlen(file) + 1;
        char       *path = kn_release_alloc(run, &run->scratch, room, 1, err);
        if (!path) return KN_MEMORY;
        if (folder)
            snprintf(path, room, "%s/%s.csv", folder, name);
        else
            snprintf(path, room, "%s", file);
        run->files[i] = path;
        run->file_names[i] = folder ? strrchr(path, '/') + 1 : run->base;
    }
    run->file_count = count;
    run->seal.folder = folder != NULL;
    return KN_OK;
}

kn_status kn_written_formulas(kn_release_run *run, const kn_database_writer *writer, const kn_database *back,
                              kn_error *err)
{
    if (!kn_database_writer_folder(writer)) return KN_OK;
    for (int t = 0; t < back->table_count; t++) {
        const kn_table *table = back->tables[t].table;
        for (int c = 0; c < table->column_count; c++) {
            const kn_column *column = &table->columns[c];
            int64_t          cells = 0;
            bool             any = false;
            char             name[300];
            for (uint32_t v = 0; v < column->dict.count && !any; v++)
                any = kn_csv_formula(kn_dictionary_text(&column->dict, v));
            for (int64_t row = 0; any && row < table->rows; row++) {
                uint32_t code = kn_column_code(column, row);
                cells += code < column->dict.count && kn_csv_formula(kn_dictionary_text(&column->dict, code));
            }
            if (cells == 0) continue;
            snprintf(name, sizeof name, "%.140s.%.140s", back->tables[t].name, column->name);
            KN_TRY(
                kn_release_note(run, err, "%s", kn_job_formulas_note(name, cells, run->spec->spreadsheet_safe).text));
        }
    }
    return KN_OK;
}

/* ---- Persons ---- */

/* The number in the text of a key: a decimal, or the last part of a UUID. */
static uint32_t key_number(kn_string text)
{
    uint64_t number = 0;
    bool     uuid = text.size == 36;
    for (size_t i = uuid ? 24 : 0; i < text.size; i++) {
        char c = text.data[i];
        int  digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
        if (digit >= (uuid ? 16 : 10) || number > UINT32_MAX) return 0;
        number = number * (uuid ? 16 : 10) + (uint64_t)digit;
    }
    return number <= UINT32_MAX ? (uint32_t)number : 0;
}

/* The table of persons, read back. */
static const kn_table *persons_of(const kn_written *w)
{
    return w->back->tables[kn_database_find(w->back, w->db->tables[w->db->entity].name)].table;
}

kn_status kn_written_persons(uint32_t **out, kn_release_run *run, const uint32_t *new_key, int64_t rows,
                             uint32_t (*original)(const void *arg, int64_t row), const void *arg, kn_error *err)
{
    *out = kn_alloc_array_zero(run->ctx, (size_t)rows + 1, sizeof **out);
    if (!*out) return kn_fail_memory(err, run->ctx, WHAT);
    for (int64_t r = 0; r < rows; r++) (*out)[new_key[r]] = original(arg, r);
    return KN_OK;
}

kn_status kn_written_map(int64_t **out, kn_release_run *run, const kn_written *w, const uint32_t *by_key, int64_t rows,
                         kn_error *err)
{
    const kn_database_table *before = &w->db->tables[w->db->entity];
    const kn_table          *table = persons_of(w);
    const kn_column         *key = &table->columns[kn_table_find(table, kn_table_name(before->table, before->key[0]))];
    *out = kn_alloc_array(run->ctx, (size_t)table->rows + 1, sizeof **out);
    if (!*out) return kn_fail_memory(err, run->ctx, WHAT);
    for (int64_t r = 0; r < table->rows; r++) {
        uint32_t code = kn_column_code(key, r);
        uint32_t number = code < key->dict.count ? key_number(kn_dictionary_text(&key->dict, code)) : 0;
        /* An invalid key is left to the verifier: the map has no person for it. */
        (*out)[r] = number > 0 && number <= rows ? (int64_t)by_key[number] : -1;
    }
    return KN_OK;
}

static void add_cell(kn_buffer *line, const kn_table *table, int column, int64_t row, bool first)
{
    const kn_column *c = &table->columns[column];
    uint32_t         code = kn_column_code(c, row);
    if (!first) kn_buffer_char(line, ',');
    if (code < c->dict.count) kn_csv_cell(line, kn_dictionary_text(&c->dict, code), ',');
}

kn_status kn_written_rowmap(kn_output *to, kn_release_run *run, const kn_written *w, const int64_t *map, kn_error *err)
{
    const kn_database_table *original = &w->db->tables[w->db->entity];
    const kn_table          *table = persons_of(w);
    kn_buffer                line;
    bool                     failed = false;
    kn_buffer_init(&line, run->ctx);
    for (int64_t r = -1; r < table->rows && !failed; r++) {
        line.size = 0;
        for (int i = 0; i < 2 * original->key_count; i++) {
            bool released = i < original->key_count;
            int  column = original->key[i % original->key_count];
            if (r >= 0) {
                if (released)
                    add_cell(&line, table, kn_table_find(table, kn_table_name(original->table, column)), r, i == 0);
                else
                    add_cell(&line, original->table, column, map[r], false);
                continue;
            }
            char name[300];
            snprintf(name, sizeof name, "%s %.250s", released ? "released" : "original",
                     kn_table_name(original->table, column));
            if (i > 0) kn_buffer_char(&line, ',');
            kn_csv_cell(&line, (kn_string){name, strlen(name)}, ',');
        }
        kn_buffer_char(&line, '\n');
        failed = line.failed;
        if (!failed) kn_output_write(to, line.data, line.size);
    }
    kn_buffer_free(&line);
    return failed ? kn_fail_memory(err, run->ctx, WHAT) : KN_OK;
}
