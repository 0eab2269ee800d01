/* kn_outline.h: the names in XML or JSON records and how they nest, for callers that do not know the classes yet. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_OUTLINE_H
#define KN_OUTLINE_H

#include <kanon/records.h>

#include "kn_arena.h"
#include "kn_source.h"
#include "kn_string.h"

/* All elements, attributes or members with the same name and parent. */
typedef struct kn_outline_node {
    const char *name;
    int         parent;    /* -1: the document                                          */
    bool        attribute; /* of XML                                                    */
    int64_t     count;     /* occurrences                                               */
    int64_t     valued;    /* of these: with a non-empty text                           */
    bool        classed;   /* JSON: items of "children" that name this as their "class" */
} kn_outline_node;

typedef struct kn_outline {
    kn_context      *ctx;
    kn_arena         arena;
    const char      *file; /* the last one, for messages */
    kn_records_form  form;
    bool             list; /* JSON: the document is a list */
    int              count;
    kn_outline_node *nodes; /* the document is none of them; parents before children */
    size_t           capacity;
} kn_outline;

/* Reads a whole file of XML, JSON or JSON Lines, or all files of a folder. Free it also on failure. */
KN_CHECK kn_status kn_outline_read(kn_outline *out, kn_context *ctx, const char *path, kn_error *err);
void               kn_outline_free(kn_outline *outline);

/* Is the first record of a file, or of a folder's first file, a list (JSON)? False also where it cannot be read. */
bool kn_records_are_lists(kn_context *ctx, const char *path);

/* ---- For the forms ---- */

/* Does `look` find something in the first document of a file, or of a folder's first file? False also where it is no JSON or cannot
 * be read. `look` begins before the first token. */
struct kn_json;
typedef kn_status (*kn_outline_look)(struct kn_json *json, bool *found, kn_error *err);
bool kn_outline_first(kn_context *ctx, const char *path, kn_outline_look look);

/* Finds or adds the node of that name below another (-1: the document) and counts it; KN_INPUT: too many nodes. */
KN_CHECK kn_status kn_outline_enter(int *node, kn_outline *o, int parent, kn_string name, bool attribute, kn_error *err);

KN_CHECK kn_status kn_outline_xml(kn_outline *o, kn_source *source, kn_error *err);

#endif
