/* database/write.c: from a plan to a database (kn_job_database.h): rows, new keys, read back, verified, compared,
 * committed.
 *
 * The target is written whole but not yet visible: a SQLite file or a folder under a temporary name, a schema inside one
 * transaction. It is read back from there, and what was read is verified against the original. Files beside the release are
 * written and handed to the disk; then they get their names, and the release last. In a folder the certificate is one of
 * its files.
 */
#include <kanon/report.h>
#include <kanon/verify.h>
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_anatomy.h"
#include "kn_beside.h"
#include "kn_context.h"
#include "kn_csv_write.h"
#include "kn_database_private.h"
#include "kn_database_release.h"
#include "kn_digest.h"
#include "kn_error.h"
#include "kn_job_anonymize.h"
#include "kn_job_database.h"
#include "kn_job_publish.h"
#include "kn_job_texts.h"
#include "kn_private.h"

#define WHAT "writing a database"

typedef struct writing {
    kn_dbrun            *run;
    kn_database_release *release; /* one of these two */
    kn_anatomy          *anatomy;
    kn_key_map           keys;
    kn_database         *back; /* what was written                                   */
    kn_digest_job       *digests;
    int64_t             *map; /* per person of `back`: the original's row           */
    int                  file_count;
    const char         **paths; /* of the release's files, under their temporary names */
    const char         **names;
    kn_public           *facts;
    kn_public_seal       seal;
} writing;

/* ---- Released rows ---- */

static kn_status make_rows(writing *w, kn_error *err)
{
    kn_dbrun *run = w->run;
    if (run->spec->anatomy) return kn_anatomy_make(&w->anatomy, run->ctx, run->forest, run->plan, run->key_seed, err);
    kn_forest_free(run->forest); /* the plan knows the rest */
    run->forest = NULL;
    return kn_database_release_make(&w->release, run->ctx, run->db, run->plan, run->key_seed, err);
}

static const kn_database_rows *rows_of(const writing *w)
{
    return w->anatomy ? kn_anatomy_rows(w->anatomy) : kn_database_release_rows(w->release);
}

static uint32_t original_of(const writing *w, int table, int64_t row)
{
    return w->anatomy ? kn_anatomy_original(w->anatomy, table, row)
                      : kn_database_release_original(w->release, table, row);
}

/* ---- Reading back ---- */

static const char **names_of(writing *w, const kn_table *table, const int *columns, int count, kn_error *err)
{
    const char **names = kn_dbrun_room(w->run, &w->run->scratch, (size_t)count, sizeof *names, err);
    for (int i = 0; names && i < count; i++) names[i] = kn_table_name(table, columns[i]);
    return names;
}

/* The schema as a release file would describe it: a folder has no catalog. */
static kn_spec_table *describe(writing *w, kn_error *err)
{
    const kn_database *db = rows_of(w)->db;
    kn_spec_table     *tables = kn_dbrun_room(w->run, &w->run->scratch, (size_t)db->table_count, sizeof *tables, err);
    for (int t = 0; tables && t < db->table_count; t++) {
        const kn_database_table *from = &db->tables[t];
        tables[t] = (kn_spec_table){.name = from->name, .has_key = true, .key_count = from->key_count};
        tables[t].key = names_of(w, from->table, from->key, from->key_count, err);
        if (!tables[t].key) return NULL;
        if (from->link < 0) continue;
        const kn_foreign_key *f = &from->foreign[from->link];
        tables[t].parent = db->tables[from->parent].name;
        tables[t].parent_column_count = f->column_count;
        tables[t].parent_columns = names_of(w, from->table, f->columns, f->column_count, err);
        if (!tables[t].parent_columns) return NULL;
    }
    return tables;
}

static kn_status read_back(writing *w, kn_error *err)
{
    static const char *const empty = "";
    kn_database_options      options = KN_DATABASE_OPTIONS_INIT;
    options.tables = describe(w, err);
    if (!options.tables) return KN_MEMORY;
    options.table_count = rows_of(w)->db->table_count;
    if (kn_database_writer_folder(w->run->writer)) { /* elsewhere an empty text is a value */
        options.csv.na = &empty;
        options.csv.na_count = 1;
        options.csv.guarded = w->run->spec->spreadsheet_safe;
    }
    options.csv.decimal = w->run->spec->csv.decimal;
    options.csv.timezone = w->run->spec->csv.timezone;
    return kn_database_writer_read(&w->back, w->run->writer, &options, err);
}

/* Of a folder's files: what was written, column by column. */
static kn_status note_formulas(writing *w, kn_error *err)
{
    if (!kn_database_writer_folder(w->run->writer)) return KN_OK;
    for (int t = 0; t < w->back->table_count; t++) {
        const kn_table *table = w->back->tables[t].table;
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
            snprintf(name, sizeof name, "%.140s.%.140s", w->back->tables[t].name, column->name);
            KN_TRY(kn_dbrun_note(w->run, err, "%s",
                                 kn_job_formulas_note(name, cells, w->run->spec->spreadsheet_safe).text));
        }
    }
    return KN_OK;
}

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

/* Which original person is each person that was read back? */
static kn_status make_map(writing *w, kn_error *err)
{
    const kn_dbrun          *run = w->run;
    int                      entity = run->db->entity;
    const kn_database_table *original = &run->db->tables[entity];
    const kn_table          *table = w->back->tables[kn_database_find(w->back, original->name)].table;
    const kn_column *key = &table->columns[kn_table_find(table, kn_table_name(original->table, original->key[0]))];
    int64_t          rows = rows_of(w)->tables[entity].rows;
    uint32_t        *row_of_key = kn_alloc_array_zero(run->ctx, (size_t)rows + 1, sizeof *row_of_key);
    w->map = kn_alloc_array(run->ctx, (size_t)table->rows + 1, sizeof *w->map);
    bool ok = row_of_key && w->map;
    for (int64_t r = 0; ok && r < rows; r++) row_of_key[w->keys.new_key[entity][r]] = (uint32_t)r;
    for (int64_t r = 0; ok && r < table->rows; r++) {
        uint32_t code = kn_column_code(key, r);
        uint32_t number = code < key->dict.count ? key_number(kn_dictionary_text(&key->dict, code)) : 0;
        /* A key that is none is the verifier's to find: it is told that nobody is behind it. */
        w->map[r] = number > 0 && number <= rows ? (int64_t)original_of(w, entity, row_of_key[number]) : -1;
    }
    kn_free(row_of_key);
    return ok ? KN_OK : kn_fail_memory(err, w->run->ctx, WHAT);
}

/* ---- Verifying ---- */

static kn_status mistake(kn_error *err, const char *what)
{
    return kn_fail(err, KN_INTERNAL, "a mistake in kanon, and nothing was written: %s", what);
}

/* The verifier says NAN where a label stands on several nodes, so that a reader cannot tell how much it hides. */
static bool differ(double a, double b)
{
    if (isnan(b)) return false;
    return !(fabs(a - b) <= 1e-9 * fmax(1, fmax(fabs(a), fabs(b))));
}

static kn_status compare(kn_dbrun *run, const kn_database_verify_report *v, kn_error *err)
{
    kn_database_result *r = run->result;
    kn_release_model   *models = (kn_release_model *)(uintptr_t)r->models;
    if (r->persons != v->persons || r->suppressed != v->dropped) return mistake(err, "the number of persons differs");
    if (run->spec->anatomy) { /* its classes are groups of rows, which only the verifier counts */
        r->classes = v->classes;
        r->k = v->k;
    }
    if (r->classes != v->classes || r->k != v->k) return mistake(err, "the classes of persons differ");
    if (differ(r->lm, v->lm) || (!run->spec->anatomy && differ(r->dm, v->dm))) return mistake(err, "the loss differs");
    for (int t = 0; t < r->table_count; t++) {
        int same = 0;
        while (same < v->table_count && strcmp(v->tables[same].name, r->tables[t].name) != 0) same++;
        if (same == v->table_count || r->tables[t].rows != v->tables[same].rows ||
            differ(r->tables[t].lm, v->tables[same].lm))
            return mistake(err, "the rows of a table, or their loss, differ");
    }
    for (int i = 0; i < r->model_count && i < v->model_count; i++) models[i].reached = v->models[i].reached;
    r->largest_share = v->largest_share;
    return KN_OK;
}

static void take_sentence(void *arg, const char *sentence)
{
    char *first = arg;
    if (!*first) snprintf(first, 500, "%s", sentence);
}

/* Is there nothing but the cells? The files of a folder are looked at by the verifier. */
static kn_status check_extras(writing *w, kn_error *err)
{
    char why[600], first[500] = "";
    KN_TRY(kn_database_writer_extras(w->run->writer, w->run->db, take_sentence, first, err));
    if (!*first) return KN_OK;
    snprintf(why, sizeof why, "the verifier says: %s", first);
    return mistake(err, why);
}

static kn_status verify(writing *w, kn_error *err)
{
    kn_dbrun                  *run = w->run;
    kn_database_verify_report *report = NULL;
    kn_database_verify_options options = KN_DATABASE_VERIFY_OPTIONS_INIT;
    KN_TRY(check_extras(w, err));
    options.release = kn_database_writer_folder(run->writer);
    options.map = w->map;
    options.map_count = w->back->tables[kn_database_find(w->back, run->db->tables[run->db->entity].name)].table->rows;
    kn_status st = kn_verify_databases(&report, run->ctx, run->spec, run->db, w->back, &options, err);
    if (st == KN_INPUT || st == KN_USAGE) {
        char why[600];
        snprintf(why, sizeof why, "the verifier says: %.500s", err ? err->message : "");
        st = mistake(err, why);
    }
    if (st == KN_OK && report->outcome == KN_OUTCOME_UNDECIDED)
        st = kn_fail(
            err, KN_UNDECIDED,
            "nothing was written: the verifier could not decide which of many rows that look alike are released");
    if (st == KN_OK && !report->ok) {
        char why[600];
        snprintf(why, sizeof why, "the verifier says: %.500s",
                 report->problem_count > 0 ? report->problems[0] : "the release does not hold");
        st = mistake(err, why);
    }
    if (st == KN_OK) st = compare(run, report, err);
    kn_database_verify_report_free(report);
    return st;
}

/* ---- Files ---- */

static kn_status list_files(writing *w, kn_error *err)
{
    kn_dbrun          *run = w->run;
    const char        *folder = kn_database_writer_folder(run->writer), *file = kn_database_writer_file(run->writer);
    const kn_database *db = rows_of(w)->db;
    int                count = folder ? db->table_count : file != NULL;
    w->paths = kn_dbrun_room(run, &run->scratch, (size_t)count, sizeof *w->paths, err);
    w->names = kn_dbrun_room(run, &run->scratch, (size_t)count, sizeof *w->names, err);
    if (!w->paths || !w->names) return KN_MEMORY;
    for (int i = 0; i < count; i++) {
        size_t room = folder ? strlen(folder) + strlen(db->tables[i].name) + 6 : strlen(file) + 1;
        char  *path = kn_dbrun_room(run, &run->scratch, room, 1, err);
        if (!path) return KN_MEMORY;
        if (folder)
            snprintf(path, room, "%s/%s.csv", folder, db->tables[i].name);
        else
            snprintf(path, room, "%s", file);
        w->paths[i] = path;
        w->names[i] = folder ? strrchr(path, '/') + 1 : run->base;
    }
    w->file_count = count;
    return count > 0 ? kn_digest_start(&w->digests, run->ctx, w->paths, count, err) : KN_OK;
}

static void add_cell(kn_buffer *line, const kn_table *table, int column, int64_t row, bool first)
{
    const kn_column *c = &table->columns[column];
    uint32_t         code = kn_column_code(c, row);
    if (!first) kn_buffer_char(line, ',');
    if (code < c->dict.count) kn_csv_cell(line, kn_dictionary_text(&c->dict, code), ',');
}

/* "released C" and "original C" for each column C of the key of persons. */
static kn_status write_rowmap(writing *w, kn_output *to, kn_error *err)
{
    const kn_database_table *original = &w->run->db->tables[w->run->db->entity];
    const kn_table          *table = w->back->tables[kn_database_find(w->back, original->name)].table;
    kn_buffer                line;
    bool                     failed = false;
    kn_buffer_init(&line, w->run->ctx);
    for (int64_t r = -1; r < table->rows && !failed; r++) {
        line.size = 0;
        for (int i = 0; i < 2 * original->key_count; i++) {
            bool released = i < original->key_count;
            int  column = original->key[i % original->key_count];
            if (r >= 0) {
                if (released)
                    add_cell(&line, table, kn_table_find(table, kn_table_name(original->table, column)), r, i == 0);
                else
                    add_cell(&line, original->table, column, w->map[r], false);
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
    return failed ? kn_fail_memory(err, w->run->ctx, WHAT) : KN_OK;
}

enum { ROWMAP, PRIVATE, CERTIFICATE, REPORT, PAGE, BESIDE };

static kn_status write_texts(writing *w, kn_beside *all, kn_error *err)
{
    kn_dbrun                 *run = w->run;
    kn_database_private_input input = {.spec = run->spec,
                                       .result = run->result,
                                       .version = run->options->version,
                                       .file_count = w->file_count,
                                       .files = w->names,
                                       .seed = run->key_seed,
                                       .source = run->db->source,
                                       .rowmap = run->spec->keep_rowmap};
    if (w->digests) KN_TRY(kn_digest_wait(w->digests, &input.digests, err));
    kn_buffer private;
    kn_buffer_init(&private, run->ctx);
    kn_status st = kn_database_private_render(&private, &input, err);
    if (st == KN_OK) kn_output_write(all[PRIVATE].output, private.data, private.size);
    kn_buffer_free(&private);
    w->seal = (kn_public_seal){.version = run->options->version,
                               .file_count = w->file_count,
                               .folder = kn_database_writer_folder(run->writer) != NULL,
                               .names = w->names,
                               .digests = input.digests};
    if (st == KN_OK) st = kn_job_certificate(all[CERTIFICATE].output, w->facts, &w->seal, err);
    return st;
}

static kn_status write_beside(writing *w, kn_beside *all, kn_error *err)
{
    kn_dbrun   *run = w->run;
    const char *folder = kn_database_writer_folder(run->writer);
    if (run->spec->keep_rowmap) {
        KN_TRY(kn_beside_open(&all[ROWMAP], run->ctx, run->base, KN_ROWMAP_SUFFIX, 0600, err));
        KN_TRY(write_rowmap(w, all[ROWMAP].output, err));
    }
    KN_TRY(kn_beside_open(&all[PRIVATE], run->ctx, run->base, KN_PRIVATE_SUFFIX, 0600, err));
    if (folder)
        KN_TRY(kn_beside_open(&all[CERTIFICATE], run->ctx, folder, "/certificate.json", 0, err));
    else
        KN_TRY(kn_beside_open(&all[CERTIFICATE], run->ctx, run->base, KN_CERTIFICATE_SUFFIX, 0, err));
    KN_TRY(write_texts(w, all, err));
    for (int i = 0; i < BESIDE; i++) KN_TRY(kn_beside_settle(&all[i], err));
    return KN_OK;
}

static kn_status write_report(kn_dbrun *run, kn_beside *b, kn_error *err)
{
    const char *path = run->spec->report;
    if (!path) return KN_OK;
    KN_TRY(kn_beside_before(b, run->ctx, path, err));
    kn_status st = kn_database_report_write(run->ctx, path, run->spec, run->result, run->options->version, err);
    kn_beside_after(b);
    return st;
}

static kn_status write_page(writing *w, kn_beside *b, kn_error *err)
{
    const char *path = w->run->spec->public_report;
    if (!path) return KN_OK;
    KN_TRY(kn_beside_before(b, w->run->ctx, path, err));
    kn_status st = kn_job_public_page(path, w->facts, &w->seal, err);
    kn_beside_after(b);
    return st;
}

static kn_status commit(writing *w, kn_error *err)
{
    kn_dbrun   *run = w->run;
    kn_beside   all[BESIDE] = {{0}};
    const char *folder = kn_database_writer_folder(run->writer), *file = kn_database_writer_file(run->writer);
    struct stat release;
    bool        files = (folder || file) && stat(folder ? folder : file, &release) == 0;
    kn_status   st = write_beside(w, all, err);
    if (st == KN_OK && kn_cancelled(run->ctx)) st = kn_fail_cancelled(err);
    for (int i = 0; i <= CERTIFICATE && st == KN_OK; i++) st = kn_beside_commit(&all[i], err);
    if (st == KN_OK) st = write_report(run, &all[REPORT], err);
    if (st == KN_OK) st = write_page(w, &all[PAGE], err);
    if (st == KN_OK) {
        kn_database_writer *writer = run->writer;
        run->writer = NULL;
        st = kn_database_writer_commit(writer, err);
    }
    /* What failed may be the last sync of the folder: a release that has its name keeps what stands beside it. */
    bool back = st != KN_OK && !(files && kn_has_name(run->base, &release));
    for (int i = 0; i < BESIDE; i++) kn_beside_end(&all[i], back);
    if (st == KN_OK && !run->spec->keep_rowmap) kn_beside_remove(run->ctx, run->base, KN_ROWMAP_SUFFIX);
    return st;
}

/* ---- All of it ---- */

static kn_status draw_seed(kn_dbrun *run, kn_error *err)
{
    run->key_seed = run->spec->seed;
    if (run->spec->seeded) return KN_OK;
    if (sodium_init() < 0) return kn_fail(err, KN_INTERNAL, "the library of ciphers does not start");
    randombytes_buf(&run->key_seed, sizeof run->key_seed);
    return KN_OK;
}

static kn_status put(writing *w, kn_error *err)
{
    kn_dbrun *run = w->run;
    KN_TRY(draw_seed(run, err));
    KN_TRY(make_rows(w, err));
    const kn_database_rows *rows = rows_of(w);
    KN_TRY(kn_key_map_draw(&w->keys, run->ctx, rows, err));
    KN_TRY(kn_database_writer_write_keys(run->writer, rows, &w->keys, err));
    KN_TRY(list_files(w, err));
    KN_TRY(read_back(w, err));
    KN_TRY(note_formulas(w, err));
    return make_map(w, err);
}

kn_status kn_dbrun_write(kn_dbrun *run, kn_error *err)
{
    double    begin = kn_run_clock();
    writing   w = {.run = run};
    kn_status st = put(&w, err);
    kn_key_map_free(&w.keys);
    kn_database_release_free(w.release);
    kn_anatomy_free(w.anatomy);
    kn_database_plan_free(run->plan);
    run->plan = NULL;
    kn_forest_free(run->forest);
    run->forest = NULL;
    double written = kn_run_clock();
    run->result->seconds_write = written - begin;
    if (st == KN_OK) st = verify(&w, err);
    double verified = kn_run_clock();
    run->result->seconds_verify = verified - written;
    if (st == KN_OK)
        st = kn_public_of_database(&w.facts, run->ctx, run->asked, w.back, run->db->tables[run->db->entity].name, err);
    if (st == KN_OK) st = commit(&w, err);
    run->result->seconds_write += kn_run_clock() - verified;
    kn_digest_free(w.digests);
    kn_public_free(w.facts);
    kn_database_free(w.back);
    kn_free(w.map);
    return st;
}
