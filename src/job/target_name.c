/* target_name.c: does the name of a release fit its content? Interface: kn_targets.h.
 *
 * Readers of a release, kanon included, go by its name. A table is written as CSV and records in the form of the
 * input, whatever the name: so a name that means something else is refused, and a better one suggested.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>
#include <strings.h>

#include "kn_database_write.h"
#include "kn_error.h"
#include "kn_memory.h"
#include "kn_names.h"
#include "kn_parts.h"
#include "kn_records_scan.h"
#include "kn_table_name.h"
#include "kn_targets.h"

static bool ends_with(const char *path, const char *ending)
{
    size_t size = strlen(path), tail = strlen(ending);
    return size > tail && strcasecmp(path + size - tail, ending) == 0;
}

static bool ends_with_any(const char *path, const char *const *endings)
{
    for (int i = 0; endings[i]; i++)
        if (ends_with(path, endings[i])) return true;
    return false;
}

static bool is_compressed(const char *path)
{
    static const char *const endings[] = {".gz", ".zst", ".bz2", ".xz", ".lz4", ".zip", ".7z", ".tar", ".tgz", NULL};
    return ends_with_any(path, endings);
}

/* Endings of files that are not lines of text. */
static bool is_foreign(const char *path)
{
    static const char *const endings[] = {
        ".json",    ".jsonl", ".ndjson",  ".xml",   ".html",    ".htm", ".yaml", ".yml", ".db",  ".sqlite",
        ".sqlite3", ".db3",   ".parquet", ".arrow", ".feather", ".orc", ".avro", ".xls", ".ods", ".pdf",
        ".xlsx",    ".xlsm",  ".sav",     ".dta",   ".duckdb",  ".mdb", ".dbf",  ".rds", ".pkl", NULL};
    return ends_with_any(path, endings);
}

static kn_status check_one_file(const char *output, const char *what, const char *form, const char *name, kn_error *err)
{
    kn_database_kind kind = kn_database_kind_of(output);
    bool scheme = kind == KN_DATABASE_SQLITE || kind == KN_DATABASE_POSTGRES; /* it may contain a password  */
    if (kind != KN_DATABASE_NONE)
        return kn_fail(err, KN_USAGE, "%s: %s released to one file, as %s; name it %s", scheme ? "the output" : output,
                       what, form, name);
    if (is_compressed(output))
        return kn_fail(err, KN_USAGE,
                       "%s: a release is written as it is, not compressed; name it %s, compress it afterwards", output,
                       name);
    return KN_OK;
}

static kn_status check_records(const char *output, kn_records_form form, kn_error *err)
{
    static const struct {
        const char *what, *form, *name;
    } forms[] = {[KN_RECORDS_XML] = {"records in XML are", "XML", "FILE.xml"},
                 [KN_RECORDS_JSON] = {"records in JSON are", "JSON", "FILE.json"},
                 [KN_RECORDS_JSON_LINES] = {"records in JSON Lines are", "JSON Lines", "FILE.jsonl"},
                 [KN_RECORDS_BASKETS] = {"baskets are", "lines of text", "FILE.csv or FILE.txt"},
                 [KN_RECORDS_DATABASE] = {"the trees of a database are", "JSON or a database",
                                          "FILE.json, sqlite:FILE or FOLDER/"}};
    kn_records_form written = form == KN_RECORDS_DATABASE ? KN_RECORDS_JSON : form;
    KN_TRY(check_one_file(output, forms[form].what, forms[form].form, forms[form].name, err));
    if (kn_records_form_of(output) == written && (written != KN_RECORDS_BASKETS || !is_foreign(output))) return KN_OK;
    return kn_fail(err, KN_USAGE, "%s: %s released as %s; name it %s", output, forms[form].what, forms[form].form,
                   forms[form].name);
}

static kn_status check_table(const char *output, kn_error *err)
{
    kn_database_kind kind = kn_database_kind_of(output);
    if (kind == KN_DATABASE_SQLITE || kind == KN_DATABASE_POSTGRES)
        return kn_fail(err, KN_USAGE,
                       "the output: it is a whole database, and a table is released; name it sqlite:FILE#TABLE, "
                       "postgresql://...#SCHEMA.TABLE, FILE.csv or FILE.parquet");
    if (kind != KN_DATABASE_NONE)
        return kn_fail(err, KN_USAGE,
                       "%s: a table is released as CSV or Parquet; name it FILE.csv, FILE.parquet or FOLDER.parquet/",
                       output);
    return check_one_file(output, "a table is", "CSV", "FILE.csv", err);
}

kn_status kn_target_name_check(const kn_spec *spec, kn_error *err)
{
    const char *output = spec->output;
    if (!output || strcmp(output, "-") == 0 || kn_spec_shape(spec) == KN_SHAPE_DATABASE) return KN_OK;
    if (kn_spec_shape(spec) == KN_SHAPE_RECORDS && strcmp(spec->inputs[0], "-") == 0)
        return KN_OK; /* refused as input */
    if (kn_spec_shape(spec) == KN_SHAPE_RECORDS && spec->table_count > 0 &&
        kn_database_kind_of(output) != KN_DATABASE_NONE)
        return KN_OK; /* as any other database */
    if (kn_spec_shape(spec) == KN_SHAPE_RECORDS)
        return check_records(output, spec->table_count > 0 ? KN_RECORDS_DATABASE : kn_records_form_of(spec->inputs[0]),
                             err);
    if (kn_target_is_table(spec)) return KN_OK;
    if (kn_target_in_parts(spec) || kn_target_in_engine(spec)) return KN_OK;
    KN_TRY(check_table(output, err));
    if (kn_target_is_parquet(spec)) return KN_OK;
    return is_foreign(output) || kn_table_kind_of(output) != KN_TABLE_TEXT
               ? kn_fail(err, KN_USAGE, "%s: a table is released as CSV or Parquet; name it FILE.csv or FILE.parquet",
                         output)
               : KN_OK;
}

bool kn_target_has_columns(const kn_context *ctx, const kn_spec *spec)
{
    const char *slash = spec->output ? strrchr(spec->output, '/') : NULL;
    return spec->output && kn_memory_is(ctx, spec->output) && !strchr(slash ? slash : spec->output, '.');
}

bool kn_target_in_engine(const kn_spec *spec)
{
    return spec->output && kn_name_engine(spec->output);
}

bool kn_target_is_parquet(const kn_spec *spec)
{
    return spec->output && !kn_target_in_engine(spec) &&
           (kn_parts_is_parquet(spec->output) || kn_parts_is_output(spec->output));
}

bool kn_target_in_parts(const kn_spec *spec)
{
    return spec->output && !kn_target_in_engine(spec) && kn_parts_is_output(spec->output);
}

bool kn_target_has_tabs(const kn_spec *spec)
{
    return spec->output && ends_with(spec->output, ".tsv");
}

bool kn_target_is_table(const kn_spec *spec)
{
    kn_table_kind kind = spec->output ? kn_table_kind_of(spec->output) : KN_TABLE_TEXT;
    return kind == KN_TABLE_SQLITE || kind == KN_TABLE_SERVER;
}
