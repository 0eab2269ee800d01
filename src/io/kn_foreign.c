/* kn_foreign.c: workbooks, columnar files, databases and archives are recognized by how they begin (kn_foreign.h).
 *
 * Some of these could be the first letters of a text: they count only if bytes follow that no text has.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_foreign.h"

#include <stdbool.h>
#include <string.h>

enum { LOOK = 4096 };

#define WORKBOOK "; save the sheet as CSV (UTF-8) first"
#define COLUMNAR "; write it as CSV first, for example with DuckDB or pandas"
#define ARCHIVE "; unpack it first (gzip and zstd are read as they are)"

static const struct {
    const char *magic;
    size_t      size;
    bool        letters; /* a text could begin so */
    const char *form;
} forms[] = {
    {"PAR1", 4, true, "it begins as a Parquet file does, but is cut off or something else"},
    {"ARROW1", 6, true, "it is an Arrow (Feather) file, not text" COLUMNAR},
    {"FEA1", 4, true, "it is a Feather file, not text" COLUMNAR},
    {"ORC", 3, true, "it is an ORC file, not text" COLUMNAR},
    {"Obj\x01", 4, false, "it is an Avro file, not text" COLUMNAR},
    {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 8, false, "it is an Excel workbook (.xls), not text" WORKBOOK},
    {"SQLite format 3", 16, false, "it is a SQLite database, not text; as a database its name is sqlite:FILE"},
    {"$FL2", 4, true, "it is an SPSS file, not text; name it FILE.sav, or save it as CSV"},
    {"BZh", 3, true, "it is compressed by bzip2" ARCHIVE},
    {"\xfd"
     "7zXZ",
     6, false, "it is compressed by xz" ARCHIVE},
    {"7z\xbc\xaf\x27\x1c", 6, false, "it is a 7z archive" ARCHIVE},
};

static bool holds(const char *bytes, size_t size, const char *text)
{
    size_t n = strlen(text);
    for (size_t i = 0; i + n <= size; i++)
        if (memcmp(bytes + i, text, n) == 0) return true;
    return false;
}

/* Control bytes that no text has. */
static bool is_binary(const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)bytes[i] < 0x09) return true;
    return false;
}

/* Workbooks are archives, recognized by their first members. */
static const char *zip_form(const char *bytes, size_t size)
{
    if (holds(bytes, size, "opendocument.spreadsheet"))
        return "it is an OpenDocument spreadsheet (.ods), not text" WORKBOOK;
    if (holds(bytes, size, "xl/") || holds(bytes, size, "[Content_Types].xml"))
        return "it is an Excel workbook, not text; name it FILE.xlsx, or save the sheet as CSV (UTF-8)";
    return "it is a zip archive" ARCHIVE;
}

/* "%PDF-1.7" alone in its line: a column or a value may begin with these letters. */
static bool is_pdf(const char *bytes, size_t size)
{
    return size >= 9 && memcmp(bytes, "%PDF-", 5) == 0 && bytes[5] >= '1' && bytes[5] <= '9' && bytes[6] == '.' &&
           (bytes[8] == '\n' || bytes[8] == '\r');
}

const char *kn_foreign_form(const void *bytes, size_t size)
{
    if (size > LOOK) size = LOOK;
    if (is_pdf(bytes, size))
        return "it is a PDF document, not text; the table must come from where the document was made";
    if (size >= 4 && memcmp(bytes, "PK\x03\x04", 4) == 0) return zip_form(bytes, size);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (size >= forms[i].size && memcmp(bytes, forms[i].magic, forms[i].size) == 0 &&
            (!forms[i].letters || is_binary(bytes, size)))
            return forms[i].form;
    return NULL;
}
