/* input.c: the options for reading a table, the same in every command, and the reading itself.
 *
 * --na LIST replaces the usual spellings of a missing cell; --na '' leaves only the empty cell; --no-na leaves none.
 * --type COLUMN:TYPE[:FORMAT]: a column's name may contain colons, so it ends at the first colon that a type follows;
 * a backslash before a colon (or a backslash) makes it part of the name.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli.h"

#include <inttypes.h>
#include <kanon/anonymize.h>
#include <kanon/database.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool complain(const char *format, ...) KN_PRINTF(1, 2);

static bool complain(const char *format, ...)
{
    kn_error err = {KN_USAGE, 0, 0, {0}};
    va_list  args;
    va_start(args, format);
    (void)vsnprintf(err.message, sizeof err.message, format, args);
    va_end(args);
    kn_hide_secrets(err.message, sizeof err.message);
    cli_fail(&err);
    return false;
}

static bool read_delimiter(const char *text, char *out)
{
    if (!text) return true;
    if (strcmp(text, "tab") == 0 || strcmp(text, "\\t") == 0) text = "\t";
    if (text[0] == '\0' || text[1] != '\0' || strchr("\"\r\n", text[0]) || (unsigned char)text[0] > 0x7E)
        return complain("--delimiter: '%s' is not one ASCII character that may stand between cells (or 'tab')", text);
    *out = text[0];
    return true;
}

static bool read_encoding(const char *text, kn_encoding *out)
{
    if (!text || kn_encoding_parse(text, out)) return true;
    return complain("--encoding: '%s' is not utf-8, windows-1252 or latin-1", text);
}

static bool read_decimal(const char *text, char *out)
{
    if (!text) return true;
    if (strcmp(text, ".") != 0 && strcmp(text, ",") != 0) return complain("--decimal: '%s' is not '.' or ','", text);
    *out = text[0];
    return true;
}

static char *unescape_name(const char *text, size_t length)
{
    char  *name = cli_strndup(text, length);
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\\' && i + 1 < length && (text[i + 1] == ':' || text[i + 1] == '\\')) i++;
        name[used++] = text[i];
    }
    name[used] = '\0';
    return name;
}

/* Is `text` a type, followed by a colon and a format if the type takes one? */
static bool read_type(const char *text, kn_type *type, const char **format)
{
    char   name[16];
    size_t length = strcspn(text, ":");
    if (length >= sizeof name) return false;
    memcpy(name, text, length);
    name[length] = '\0';
    if (!kn_type_parse(name, type) || *type == KN_TYPE_AUTO) return false;
    *format = text[length] == ':' ? text + length + 1 : NULL;
    if (!*format) return true;
    return **format && (*type == KN_TYPE_DATE || *type == KN_TYPE_DATETIME);
}

static bool read_column_type(const char *text, kn_column_type *out)
{
    for (const char *p = text; *p; p++) {
        if (*p == '\\' && (p[1] == ':' || p[1] == '\\'))
            p++;
        else if (*p == ':' && p > text && read_type(p + 1, &out->type, &out->format)) {
            out->column = unescape_name(text, (size_t)(p - text));
            return true;
        }
    }
    return complain("--type: '%s' is not COLUMN:TYPE[:FORMAT] with TYPE text, integer, decimal, date or datetime "
                    "(a FORMAT goes with the last two)",
                    text);
}

void cli_column_types_free(cli_column_types *types)
{
    for (int i = 0; i < types->count; i++) free((char *)(uintptr_t)types->items[i].column);
    free(types->items);
    types->items = NULL;
    types->count = 0;
}

bool cli_table_csv_options(kn_csv_options *csv, const cli_table_options *options, cli_column_types *types)
{
    static const char *const none[] = {NULL};

    *csv = (kn_csv_options)KN_CSV_OPTIONS_INIT;
    *types = (cli_column_types){0};
    csv->no_header = options->no_header;
    csv->timezone = options->timezone;
    if (!read_delimiter(options->delimiter, &csv->delimiter) || !read_encoding(options->encoding, &csv->encoding) ||
        !read_decimal(options->decimal, &csv->decimal))
        return false;
    if (csv->delimiter && csv->delimiter == csv->decimal && options->decimal)
        return complain("--delimiter and --decimal are both '%s'", options->decimal);
    if (options->no_na && options->na.count > 0) return complain("--na and --no-na exclude each other");
    if (options->no_na) {
        csv->na = none;
    } else if (options->na.count > 0) {
        csv->na = (const char *const *)options->na.items;
        csv->na_count = options->na.count;
    }
    if (options->types.count == 0) return true;

    types->items = cli_alloc((size_t)options->types.count * sizeof *types->items);
    for (int i = 0; i < options->types.count; i++) {
        if (!read_column_type(options->types.items[i], &types->items[i])) {
            cli_column_types_free(types);
            return false;
        }
        types->count++;
        for (int j = 0; j < i; j++)
            if (strcmp(types->items[j].column, types->items[i].column) == 0) {
                complain("--type: column '%s' is given twice", types->items[i].column);
                cli_column_types_free(types);
                return false;
            }
    }
    csv->types = types->items;
    csv->type_count = types->count;
    return true;
}

void cli_table_options_free(cli_table_options *options)
{
    cli_list_free(&options->na);
    cli_list_free(&options->types);
}

bool cli_format_said(const cli_table_options *o)
{
    return o->delimiter || o->no_header || o->encoding || o->decimal || o->timezone || o->na.count > 0 || o->no_na;
}

int cli_settle(kn_context *ctx, const char *path, bool wait)
{
    char     note[KN_SETTLE_NOTE];
    kn_error err = KN_ERROR_INIT;
    if (kn_release_settle(ctx, path, wait, note, &err) != KN_OK) return cli_fail(&err);
    if (note[0]) cli_note("%s", note);
    return 0;
}

static bool read_files(kn_table **out, kn_context *ctx, char *const *paths, int path_count, const kn_csv_options *csv,
                       int *exit_code)
{
    kn_error err = KN_ERROR_INIT;
    for (int i = 0; i < path_count; i++) {
        *exit_code = cli_settle(ctx, paths[i], true);
        if (*exit_code) return false;
    }
    if (kn_table_read_csv_files(out, ctx, (const char *const *)paths, path_count, csv, &err) == KN_OK) return true;
    *exit_code = cli_fail(&err);
    return false;
}

/* Does a name begin with a scheme ("sqlite:", "postgres"), in any letter case? */
static bool has_scheme(const char *name, const char *scheme)
{
    for (; *scheme; scheme++, name++)
        if (*name != *scheme && !(*name >= 'A' && *name <= 'Z' && *name + ('a' - 'A') == *scheme)) return false;
    return true;
}

/* Where a table is read: does a name of a PostgreSQL server's table lack its schema? (Where a whole database is read or
 * written, #NAME is a schema.) Says so, without the name: it may contain a password. */
static bool schema_missing(char *const *paths, int count)
{
    for (int i = 0; i < count; i++) {
        const char *mark = strrchr(paths[i], '#');
        bool        server = has_scheme(paths[i], "postgresql://") || has_scheme(paths[i], "postgres://");
        if (!server || !mark || !mark[1] || strpbrk(mark, ".@/?=")) continue; /* behind these it is no table's name */
        return !complain("a table of a server is named with its schema: write #public.TABLE instead of #TABLE");
    }
    return false;
}

/* Only a scheme makes it a database here; a folder may be something else. */
static bool is_database(const char *path)
{
    bool scheme = has_scheme(path, "sqlite:") || has_scheme(path, "postgresql:") || has_scheme(path, "postgres:");
    return scheme && kn_database_named(path);
}

/* Judged by its name: read as CSV, such a file would be a table of one column. */
static bool is_tree_file(const char *path)
{
    static const char *const endings[] = {".xml", ".json"}; /* lines of JSON may be rows */
    size_t                   size = strlen(path);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t n = strlen(endings[i]);
        if (size > n && strcmp(path + size - n, endings[i]) == 0) return true;
    }
    return false;
}

bool cli_table_read(kn_table **out, kn_context *ctx, const cli_table_options *options, char *const *paths,
                    int path_count, const char *const *columns, int column_count, int *exit_code)
{
    *out = NULL;
    *exit_code = 2;
    if (path_count < 1) return complain("an input FILE is needed ('-' is standard input)");
    int inputs = 0;
    if (schema_missing(paths, path_count)) return false;
    for (int i = 0; i < path_count; i++) {
        inputs += strcmp(paths[i], "-") == 0;
        if (!is_tree_file(paths[i]) && !is_database(paths[i])) continue;
        char *path = cli_escape(paths[i], strlen(paths[i]));
        if (is_database(paths[i])) /* its name may contain a password */
            complain("a database is not a table: name one of its tables (sqlite:FILE#TABLE, "
                     "postgresql://...#SCHEMA.TABLE), or ask 'kanon profile', or, through a release file, 'kanon "
                     "diagnose', 'kanon anonymize' and 'kanon verify'");
        else
            complain("%s: XML and JSON records are trees, not a table: 'kanon diagnose', 'kanon anonymize' and 'kanon "
                     "verify' read them, through a release file",
                     path);
        free(path);
        return false;
    }
    if (inputs > 1) return complain("standard input ('-') can be read once only");

    kn_csv_options   csv;
    cli_column_types types;
    if (!cli_table_csv_options(&csv, options, &types)) return false;
    csv.count = options->count;
    csv.grouped = options->grouped;
    csv.columns = columns;
    csv.column_count = columns ? column_count : 0;
    bool ok = read_files(out, ctx, paths, path_count, &csv, exit_code);
    cli_column_types_free(&types);
    if (ok) *exit_code = 0;
    return ok;
}

bool cli_overwrites_input(const char *output, char *const *inputs, int input_count)
{
    struct stat out, in;
    if (!output || strcmp(output, "-") == 0 || stat(output, &out) != 0) return false;
    for (int i = 0; i < input_count; i++)
        if (stat(inputs[i], &in) == 0 && in.st_dev == out.st_dev && in.st_ino == out.st_ino) return true;
    return false;
}

void cli_meant_beside(kn_error *err, const char *path, const char *ending)
{
    char        beside[4096];
    struct stat there;
    size_t      used = strlen(err->message);
    int         n = snprintf(beside, sizeof beside, "%s%s", path, ending);
    if (n < 0 || (size_t)n >= sizeof beside || stat(beside, &there) != 0) return;
    snprintf(err->message + used, sizeof err->message - used, "; did you mean '%s'?", beside);
}
