/* kn_yaml.h: YAML or JSON text → a small tree of texts, lists and mappings with the place of each.
 *
 * Only this file's source knows libfyaml. The tree lives in the caller's arena and borrows nothing.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_YAML_H
#define KN_YAML_H

#include "kn_arena.h"

enum {
    KN_YAML_LARGEST = 16 << 20, /* bytes of text          */
    KN_YAML_DEEPEST = 32,       /* lists inside lists ... */
    KN_YAML_NODES = 1000000
};

typedef enum kn_yaml_kind { KN_YAML_TEXT, KN_YAML_LIST, KN_YAML_MAP } kn_yaml_kind;

typedef struct kn_yaml {
    kn_yaml_kind    kind;
    bool            plain;        /* TEXT: without quotes; null, ~ and nothing at all are then "no value"        */
    const char     *text;         /* TEXT: NUL-terminated UTF-8 without NUL in it                                */
    size_t          size;         /* of text                                                                     */
    size_t          count;        /* LIST: items; MAP: keys                                                      */
    struct kn_yaml *first, *last; /* LIST: items; MAP: keys, which are TEXT, none of them twice                  */
    struct kn_yaml *next;         /* item or key                                                                 */
    struct kn_yaml *value;        /* of a key; NULL elsewhere                                                    */
    int64_t         line, column; /* from 1; columns count characters                                            */
} kn_yaml;

/* How a place is reported. */
typedef struct kn_yaml_origin {
    const char *name;   /* of the file, or of the option the text came from      */
    kn_status   status; /* of everything that is wrong with the text             */
    bool        option; /* a text at the very beginning needs no line and column */
} kn_yaml_origin;

/* Reads one document. Refuses, with its place: what is not UTF-8, YAML or JSON; anchors, aliases, tags and folded texts;
 * keys that are not texts, or occur twice; more than one document; more than the limits above. `*out` is NULL where there
 * is nothing but comments. `text` need not end with NUL. */
KN_CHECK kn_status kn_yaml_parse(kn_yaml **out, kn_arena *arena, const kn_yaml_origin *origin, const char *text,
                                 size_t size, kn_error *err);

/* A node for a plain text; NULL: out of memory. */
KN_CHECK kn_yaml *kn_yaml_text(kn_arena *arena, const char *text);

/* Appends an item to a list, or a key to a mapping. */
void kn_yaml_append(kn_yaml *parent, kn_yaml *child);

/* Fails with "NAME:LINE:COLUMN: message". */
kn_status kn_yaml_fail(const kn_yaml_origin *origin, const kn_yaml *node, kn_error *err, const char *format, ...)
    KN_PRINTF(4, 5);

#endif
