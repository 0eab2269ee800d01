/* kn_workbook_internal.h: a workbook (.xlsx) that is open, shared by its files. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_WORKBOOK_INTERNAL_H
#define KN_WORKBOOK_INTERNAL_H

#include <expat.h>
#include <stdint.h>
#include <unzip.h>

#include "kn_arena.h"
#include "kn_table_stream.h"

enum { KN_WORKBOOK_COLUMNS = 16384 };

typedef enum kn_cell_style { KN_CELL_NUMBER = 0, KN_CELL_DATE, KN_CELL_TIME } kn_cell_style;

/* One part (member of the archive) that is parsed. */
typedef struct kn_part {
    kn_context *ctx;
    const char *name; /* of the workbook, for messages */
    unzFile     zip;
    XML_Parser  parser;
    uint64_t    fed;
    bool        open, ended;
    void       *user;
    kn_status   status; /* of a handler */
    kn_error   *err;
} kn_part;

/* Opens a part; handlers get the part as their user data. KN_INPUT: there is none, or it is not what it says. */
KN_CHECK kn_status kn_part_open(kn_part *part, kn_context *ctx, const char *name, unzFile zip, const char *path, void *user,
                                XML_StartElementHandler start, XML_EndElementHandler end, XML_CharacterDataHandler text,
                                kn_error *err);
KN_CHECK kn_status kn_part_step(kn_part *part, kn_error *err); /* parses some of it; sets `ended` */
void               kn_part_close(kn_part *part);
void               kn_part_fail(kn_part *part, kn_status status); /* ends the parsing */

/* The name of an element or attribute without its prefix; an attribute's value, NULL: none. */
const char *kn_part_local(const char *name);
const char *kn_part_attribute(const char *const *attributes, const char *name);

typedef struct kn_workbook {
    kn_context    *ctx;
    char          *path, *sheet, *name; /* sheet NULL: the only one */
    unzFile        zip;
    kn_arena       arena;
    char          *sheet_id, *sheet_path; /* in the arena */
    int            sheets;
    bool           from_1904;
    kn_string     *strings; /* shared */
    size_t         string_count, string_capacity;
    unsigned char *styles; /* kn_cell_style per style of cells */
    size_t         style_count, style_capacity;
} kn_workbook;

/* Opens the archive and reads everything but the sheet. */
KN_CHECK kn_status kn_workbook_open(kn_workbook **out, kn_context *ctx, const char *name, kn_error *err);
void               kn_workbook_close(kn_workbook *book);

#endif
