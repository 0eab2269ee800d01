/* kn_draft.c: kn_init: the entry point, the text of a release file and its hierarchy files.
 *
 * Interface: kanon/init.h, kn_draft.h. Cost: reading the data, and one pass over each column.
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include "kn_draft.h"

#include <kanon/database.h>
#include <kanon/records.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_names.h"
#include "kn_options.h"
#include "kn_outline.h"
#include "kn_output.h"
#include "kn_records_files.h"
#include "kn_resource_outline.h"
#include "kn_table_name.h"

typedef struct owned_draft {
    kn_draft draft; /* first: this is what the caller gets */
    kn_arena arena;
} owned_draft;

kn_status kn_draft_memory(const kn_drafting *d, kn_error *err)
{
    return kn_fail_memory(err, d->ctx, "writing a release file");
}

/* ---- Text ---- */

/* May it be written without quotes? A letter first, then only characters without meaning in a one-line YAML
 * mapping. */
static bool is_plain(const char *text)
{
    static const char *const words[] = {"null", "Null", "NULL", "true", "false", "yes", "no", "on", "off"};
    size_t                   size = strlen(text);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(text, words[i]) == 0) return false;
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        bool          letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        bool          other = (c >= '0' && c <= '9') || strchr("-./+", c) || (c == ' ' && i + 1 < size);
        if (!letter && (i == 0 || !other)) return false;
    }
    return size > 0;
}

void kn_draft_quote(kn_buffer *to, const char *text)
{
    if (is_plain(text)) {
        kn_buffer_add(to, text);
        return;
    }
    kn_buffer_char(to, '"');
    for (const char *p = text; *p; p++) {
        if (*p == '"' || *p == '\\')
            kn_buffer_format(to, "\\%c", *p);
        else if ((unsigned char)*p < 0x20 || *p == 0x7f)
            kn_buffer_format(to, "\\x%02x", (unsigned)(unsigned char)*p);
        else
            kn_buffer_char(to, *p);
    }
    kn_buffer_char(to, '"');
}

kn_status kn_draft_note(kn_drafting *d, kn_error *err, const char *format, ...)
{
    char    text[600];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    size_t count = (size_t)d->draft->note_count;
    char  *copy = kn_arena_strndup(d->arena, text, strlen(text));
    if (!copy || !KN_GROW(d->ctx, &d->notes, &d->note_capacity, count + 1)) return kn_draft_memory(d, err);
    d->notes[count] = copy;
    d->draft->note_count++;
    return KN_OK;
}

static const char *copy(kn_drafting *d, const char *text)
{
    return text ? kn_arena_strndup(d->arena, text, strlen(text)) : NULL;
}

kn_status kn_draft_add_column(kn_drafting *d, const char *table, const char *name, const char *role, const char *reason,
                              const char *hierarchy, kn_error *err)
{
    size_t count = (size_t)d->draft->column_count;
    if (!KN_GROW(d->ctx, &d->columns, &d->column_capacity, count + 1)) return kn_draft_memory(d, err);
    d->columns[count] =
        (kn_draft_column){copy(d, table), copy(d, name), copy(d, role), copy(d, reason), copy(d, hierarchy)};
    d->draft->column_count++;
    return d->arena->failed ? kn_draft_memory(d, err) : KN_OK;
}

/* ---- Paths ---- */

/* Appends the relative path from the release file's folder to an existing file, both without symbolic links. */
static void add_way(kn_buffer *to, const char *folder, const char *file)
{
    size_t same = 0, up = 0;
    for (size_t i = 0; folder[i] == file[i]; i++) {
        if (folder[i] == '/' || !folder[i]) same = i;
        if (!folder[i]) break;
        if (!folder[i + 1] && file[i + 1] == '/') same = i + 1;
    }
    for (const char *p = folder + same; *p; p++) up += *p == '/' && p[1];
    for (size_t i = 0; i < up; i++) kn_buffer_add(to, "../");
    const char *rest = file + same;
    kn_buffer_add(to, *rest == '/' ? rest + 1 : rest);
}

/* Appends the name of an input as seen from the release file: what names a table in a file stays as it is. */
static void add_input(kn_drafting *d, const char *input)
{
    kn_string file = kn_table_file(input);
    char      path[PATH_MAX], from[PATH_MAX], to[PATH_MAX];
    kn_buffer way;
    kn_buffer_init(&way, d->ctx);
    snprintf(path, sizeof path, "%.*s", (int)(file.size < PATH_MAX ? file.size : PATH_MAX - 1), file.data);
    bool known = d->options->folder && *d->options->folder && realpath(d->options->folder, from) && realpath(path, to);
    if (path[0] == '/' || !known || strcmp(path, "-") == 0) {
        kn_buffer_add(&way, input);
    } else {
        kn_buffer_append(&way, input, (size_t)(file.data - input));
        add_way(&way, from, to);
        if (path[strlen(path) - 1] == '/') kn_buffer_char(&way, '/');
        kn_buffer_add(&way, file.data + file.size);
    }
    const char *text = kn_buffer_text(&way);
    if (text) kn_draft_quote(&d->text, text);
    d->text.failed |= !text;
    kn_buffer_free(&way);
}

static bool is_input(const kn_drafting *d, const char *name)
{
    for (int i = 0; i < d->input_count; i++) {
        const char *slash = strrchr(d->inputs[i], '/'), *base = slash && slash[1] ? slash + 1 : d->inputs[i];
        if (kn_name_sqlite(base)) base = strchr(base, ':') + 1;
        size_t size = strlen(base) - (strlen(base) > 0 && base[strlen(base) - 1] == '/');
        if (strncmp(base, name, size) == 0 && (name[size] == '\0' || strcmp(name + size, "/") == 0)) return true;
    }
    return false;
}

static void add_reading(kn_drafting *d, const kn_csv_options *csv)
{
    static const char *const encodings[] = {"utf-8", "windows-1252", "latin-1"};
    kn_buffer               *to = &d->text;
    if (csv->delimiter == '\t') kn_buffer_add(to, "delimiter: tab\n");
    if (csv->delimiter && csv->delimiter != '\t')
        kn_buffer_format(to, csv->delimiter == '"' ? "delimiter: '%c'\n" : "delimiter: \"%c\"\n", csv->delimiter);
    if (csv->no_header) kn_buffer_add(to, "header: false\n");
    if (csv->encoding != KN_ENCODING_UTF8) kn_buffer_format(to, "encoding: %s\n", encodings[csv->encoding]);
    if (csv->decimal == ',') kn_buffer_add(to, "decimal: \",\"\n");
    if (csv->timezone) {
        kn_buffer_add(to, "timezone: ");
        kn_draft_quote(to, csv->timezone);
        kn_buffer_char(to, '\n');
    }
    if (!csv->na) return;
    kn_buffer_add(to, "na: [");
    for (int i = 0; i < csv->na_count; i++) {
        if (i > 0) kn_buffer_add(to, ", ");
        kn_draft_quote(to, csv->na[i]);
    }
    kn_buffer_add(to, "]\n");
}

kn_status kn_draft_opening(kn_drafting *d, const kn_csv_options *csv, const char *output, kn_error *err)
{
    kn_buffer  *to = &d->text;
    const char *colon = strchr(output, ':');
    kn_buffer_add(to, "kanon: 1\ninput: ");
    if (d->input_count > 1) kn_buffer_char(to, '[');
    for (int i = 0; i < d->input_count; i++) {
        if (i > 0) kn_buffer_add(to, ", ");
        add_input(d, d->inputs[i]);
    }
    kn_buffer_add(to, d->input_count > 1 ? "]\n" : "\n");
    add_reading(d, csv);
    bool taken = is_input(d, colon ? colon + 1 : output);
    kn_buffer_add(to, "output: ");
    if (colon) kn_buffer_append(to, output, (size_t)(colon + 1 - output));
    kn_buffer_format(to, "%s%s\n", taken ? "new-" : "", colon ? colon + 1 : output);
    return to->failed ? kn_draft_memory(d, err) : KN_OK;
}

/* ---- Entry point ---- */

/* Does a folder hold nothing but files of records? */
static bool holds_records(const kn_drafting *d)
{
    kn_arena         arena = {.ctx = d->ctx};
    kn_records_files files = {0};
    kn_error         why = KN_ERROR_INIT;
    kn_status        st = kn_records_files_list(&files, &arena, d->inputs[0], NULL, 0, &why);
    kn_arena_free(&arena);
    return st == KN_OK;
}

static kn_shape shape_of(kn_drafting *d)
{
    if (d->input_count != 1) return KN_SHAPE_TABLE;
    kn_records_form form = kn_records_form_of(d->inputs[0]);
    bool            tree = form == KN_RECORDS_XML || form == KN_RECORDS_JSON || form == KN_RECORDS_JSON_LINES;
    if (kn_database_named(d->inputs[0]) && !(tree && holds_records(d))) return KN_SHAPE_DATABASE;
    d->resources = tree && kn_resources_are(d->ctx, d->inputs[0]);
    d->listed = tree && kn_records_are_lists(d->ctx, d->inputs[0]);
    if (tree) return KN_SHAPE_RECORDS;
    bool text = strcmp(d->inputs[0], "-") != 0 && kn_table_kind_of(d->inputs[0]) == KN_TABLE_TEXT;
    return text && kn_draft_is_baskets(d) ? KN_SHAPE_RECORDS : KN_SHAPE_TABLE;
}

static const char heading[] =
    "# A first release file, written by 'kanon init'. It runs as it is ('kanon anonymize' with its name), and shows\n"
    "# what can be said: change whatever is not true. Roles are guesses from names and values; only you know what\n"
    "# others may know. 'kanon advise' compares methods, 'kanon help files' says what may stand here.\n";

/* The usual spellings of a missing cell are those of files: in a database a text is a value. */
kn_status kn_draft_reading(kn_csv_options *out, const kn_drafting *d, kn_error *err)
{
    *out = d->options->csv ? *d->options->csv : (kn_csv_options)KN_CSV_OPTIONS_INIT;
    if (!d->star_missing) return KN_OK;
    const char        *input = d->inputs[0];
    bool               files = d->draft->shape == KN_SHAPE_TABLE || !(kn_name_sqlite(input) || kn_name_server(input));
    const char *const *usual = kn_default_na();
    int                count = out->na ? out->na_count : 0;
    if (!out->na && files) {
        out->na = usual;
        while (usual[count]) count++;
    }
    const char **na = kn_arena_array(d->arena, (size_t)count + 1, sizeof *na);
    if (!na) return kn_draft_memory(d, err);
    for (int i = 0; i < count; i++) na[i] = out->na[i];
    na[count] = "*";
    out->na = na;
    out->na_count = count + 1;
    return KN_OK;
}

/* With "*" as a missing cell: what was drafted so far is forgotten. */
static kn_status begin_again(kn_drafting *d, kn_error *err)
{
    kn_buffer_clear(&d->text);
    kn_buffer_add(&d->text, heading);
    d->draft->file_count = d->draft->column_count = d->draft->note_count = 0;
    d->star_missing = true;
    return kn_draft_note(d, err,
                         "* is read as a missing cell (na), since it stands for any value in a release; write it "
                         "otherwise in the data if it means something else");
}

static kn_status make(kn_drafting *d, kn_error *err)
{
    static kn_status (*const shapes[])(kn_drafting *, kn_error *) = {[KN_SHAPE_TABLE] = kn_draft_table,
                                                                     [KN_SHAPE_DATABASE] = kn_draft_database,
                                                                     [KN_SHAPE_RECORDS] = kn_draft_records};
    d->draft->shape = shape_of(d);
    if (d->options->entity && d->draft->shape != KN_SHAPE_DATABASE)
        return kn_fail(err, KN_USAGE, "a table of persons (--entity) is of a database");
    if (d->options->record && (d->draft->shape != KN_SHAPE_RECORDS || d->delimiter || d->listed))
        return kn_fail(err, KN_USAGE, "the name of a record (--record) is of XML and JSON");
    kn_buffer_add(&d->text, heading);
    kn_status (*draft)(kn_drafting *, kn_error *) = d->delimiter || d->listed ? kn_draft_baskets
                                                    : d->resources            ? kn_draft_resources
                                                                              : shapes[d->draft->shape];
    kn_status st = draft(d, err);
    bool      again = d->star && d->draft->shape != KN_SHAPE_RECORDS && strcmp(d->inputs[0], "-") != 0;
    if (st == KN_INPUT && again) {
        KN_TRY(begin_again(d, err));
        st = draft(d, err);
    }
    if (st != KN_OK) return st;
    const char *text = kn_buffer_text(&d->text);
    d->draft->text = text ? kn_arena_strndup(d->arena, text, d->text.size) : NULL;
    if (!d->draft->text) return kn_draft_memory(d, err);
    d->draft->files = d->files;
    d->draft->columns = d->columns;
    d->draft->notes = d->notes;
    return KN_OK;
}

/* A release file is shared: a name that contains a password does not belong there. */
static bool holds_password(const char *name)
{
    const char *server = kn_name_server(name);
    if (!server) return false;
    if (strstr(server, "password")) return true;
    const char *user = strncmp(server, "//", 2) == 0 ? server + 2 : "";
    size_t      end = strcspn(user, "/?#"), colon = strcspn(user, ":");
    return colon < end && memchr(user + colon, '@', end - colon) != NULL;
}

kn_status kn_init(kn_draft **out, kn_context *ctx, const char *const *inputs, int input_count,
                  const kn_init_options *options, kn_error *err)
{
    *out = NULL;
    KN_SERVE(ctx, err);
    KN_OPTIONS(kn_init_options, KN_INIT_OPTIONS_INIT, options, "init options", err);
    if (input_count < 1) return kn_fail(err, KN_USAGE, "no input was given");
    if (options->k < 0 || options->k == 1) return kn_fail(err, KN_USAGE, "k must be at least 2");
    for (int i = 0; i < input_count; i++)
        if (holds_password(inputs[i]))
            return kn_fail(err, KN_USAGE,
                           "the release file would hold the password; leave it out, and give it in libpq's "
                           "password file or environment");
    owned_draft *owned = kn_alloc_zero(ctx, sizeof *owned);
    if (!owned) return kn_fail_memory(err, ctx, "writing a release file");
    kn_arena_init(&owned->arena, ctx);
    kn_drafting d = {.ctx = ctx,
                     .options = options,
                     .inputs = inputs,
                     .input_count = input_count,
                     .arena = &owned->arena,
                     .draft = &owned->draft};
    kn_buffer_init(&d.text, ctx);
    kn_status st = make(&d, err);
    kn_buffer_free(&d.text);
    if (st == KN_OK) {
        *out = &owned->draft;
        return KN_OK;
    }
    KN_FREE(d.files, d.columns, d.notes);
    kn_arena_free(&owned->arena);
    kn_free(owned);
    return st;
}

void kn_draft_free(kn_draft *draft)
{
    if (!draft) return;
    owned_draft *owned = (owned_draft *)draft;
    KN_FREE((void *)(uintptr_t)draft->files, (void *)(uintptr_t)draft->columns, (void *)(uintptr_t)draft->notes);
    kn_arena_free(&owned->arena);
    kn_free(owned);
}

/* ---- Files ---- */

static char *beside(kn_context *ctx, const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    return kn_strformat(ctx, "%.*s%s", slash ? (int)(slash + 1 - path) : 0, path, name);
}

static kn_status check_free(const char *path, kn_error *err)
{
    if (strcmp(path, "-") == 0 || access(path, F_OK) != 0) return KN_OK;
    return kn_fail(err, KN_USAGE, "%s: it already exists; --force replaces it", path);
}

/* Opens the i-th file, hierarchies first and the release file last, so that the files it names exist by then. Fails
 * if a file exists and must not be replaced. */
static kn_status open_file(kn_output **out, const kn_draft *draft, kn_context *ctx, const char *path, int i,
                           bool replace, kn_error *err)
{
    bool                 last = i == draft->file_count;
    const kn_draft_file *f = last ? NULL : &draft->files[i];
    char                *name = last ? kn_strformat(ctx, "%s", path) : beside(ctx, path, f->name);
    if (!name) return kn_fail_memory(err, ctx, "writing a release file");
    kn_status st = replace ? KN_OK : check_free(name, err);
    if (st == KN_OK) st = kn_output_open(out, ctx, name, NULL, err);
    kn_free(name);
    if (st != KN_OK) return st;
    kn_output_write(*out, last ? draft->text : f->text, last ? strlen(draft->text) : f->size);
    return kn_output_in_memory(*out) ? kn_output_prepare(*out, err) : kn_output_sync(*out, err);
}

kn_status kn_draft_write(const kn_draft *draft, kn_context *ctx, const char *path, bool replace, kn_error *err)
{
    KN_SERVE(ctx, err);
    if (!replace) KN_TRY(check_free(path, err)); /* reported before its hierarchies */
    int         count = draft->file_count + 1;
    kn_output **outputs = kn_alloc_array_zero(ctx, (size_t)count, sizeof *outputs);
    if (!outputs) return kn_fail_memory(err, ctx, "writing a release file");
    kn_status st = KN_OK;
    for (int i = 0; i < count && st == KN_OK; i++) st = open_file(&outputs[i], draft, ctx, path, i, replace, err);
    for (int i = 0; i < count; i++) /* no file gets its name before all are written */
        if (outputs[i]) st = kn_output_finish(outputs[i], st, err);
    kn_free(outputs);
    return st;
}
