/* kn_draft.h: a release file under construction: what tables, databases and records have in common. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_DRAFT_H
#define KN_DRAFT_H

#include <kanon/init.h>

#include "kn_arena.h"
#include "kn_buffer.h"
#include "kn_table.h"

typedef struct kn_drafting {
    kn_context            *ctx;
    const kn_init_options *options;
    const char *const     *inputs;
    int                    input_count;
    kn_arena              *arena; /* of the draft: texts that outlive the call */
    kn_buffer              text;  /* the release file so far       */
    kn_draft              *draft;
    kn_draft_file         *files;
    kn_draft_column       *columns;
    const char           **notes;
    size_t                 file_capacity, column_capacity, note_capacity;
    bool                   star;         /* a column to be generalized holds "*"          */
    bool                   star_missing; /* so "*" is read as a missing cell              */
    char                   delimiter;    /* of baskets; 0: it is not baskets              */
    bool                   resources;    /* its records are put together from resources   */
    bool                   listed;       /* its records are lists of values               */
} kn_drafting;

/* How the inputs are read: as asked for, or as usual; with "*" as a spelling of missing cells if need be. */
KN_CHECK kn_status kn_draft_reading(kn_csv_options *out, const kn_drafting *d, kn_error *err);

/* ---- Shapes: each writes its fields from `input` on ---- */

KN_CHECK kn_status kn_draft_table(kn_drafting *d, kn_error *err);
KN_CHECK kn_status kn_draft_database(kn_drafting *d, kn_error *err);
KN_CHECK kn_status kn_draft_records(kn_drafting *d, kn_error *err);
KN_CHECK kn_status kn_draft_baskets(kn_drafting *d, kn_error *err);
KN_CHECK kn_status kn_draft_resources(kn_drafting *d, kn_error *err);

/* Are the lines of a text file no rows of a table? Sets the delimiter. */
bool kn_draft_is_baskets(kn_drafting *d);

/* ---- Text ---- */

/* Appends a text as YAML, in quotes if it needs them. */
void kn_draft_quote(kn_buffer *to, const char *text);

/* Writes "input: ...", the given reading options and the output, under another name if `output` is an input. */
KN_CHECK kn_status kn_draft_opening(kn_drafting *d, const kn_csv_options *csv, const char *output, kn_error *err);

KN_CHECK kn_status kn_draft_note(kn_drafting *d, kn_error *err, const char *format, ...) KN_PRINTF(3, 4);

/* Adds the suggestion for a column; texts are copied. */
KN_CHECK kn_status kn_draft_add_column(kn_drafting *d, const char *table, const char *name, const char *role,
                                       const char *reason, const char *hierarchy, kn_error *err);

/* ---- Hierarchies ---- */

/* How the values of a column may be generalized. */
typedef struct kn_draft_rule {
    const char *type;      /* the type that the release file must declare; NULL: none */
    const char *hierarchy; /* "{ranges: [5, 10, 20]}", "country.dgh"; NULL: none; in the arena */
    const char *why;       /* in a few words; static */
} kn_draft_rule;

/* Chooses the rule by the column's type, name and values; makes a hierarchy file for categories if files are asked
 * for. `owner` (may be NULL): the table whose name begins the file's name. `category`: treat the column as
 * categories, whatever its values. KN_INPUT: it holds "*", which no release can have for a value (d->star). */
KN_CHECK kn_status kn_draft_rule_of(kn_draft_rule *out, kn_drafting *d, const kn_table *table, int column,
                                    const char *owner, bool category, kn_error *err);

/* The same for a single column: "{ranges: [5, 10]}" in the arena; NULL: a category. */
KN_CHECK kn_status kn_draft_rule_alone(const char **out, kn_context *ctx, kn_arena *arena, const kn_table *table, int column,
                                       kn_error *err);

KN_CHECK kn_status kn_draft_memory(const kn_drafting *d, kn_error *err);

#endif
