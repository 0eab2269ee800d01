/* kn_resource_outline.h: the types of resources in a collection (FHIR), their elements, and what these refer to, for callers that
 * know none of them yet.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_RESOURCE_OUTLINE_H
#define KN_RESOURCE_OUTLINE_H

#include <kanon/records.h>

#include "kn_arena.h"

/* A type, or all members of one name in the same place of a type. Items of a list count for its member. */
typedef struct kn_element {
    const char *name;
    int         parent;      /* -1: a type                                                */
    int         first, next; /* inside it, beside it, as they were met; -1: none          */
    int64_t     count;       /* values that are not null                                  */
    int64_t     resources;   /* that have one                                             */
    int64_t     scalars;     /* of the values: neither objects nor lists                  */
    int64_t     last;        /* the resource that had it last, from 1                     */
    bool        nested;      /* a list of it holds a list: it cannot be read              */
} kn_element;

/* Objects of an element that say a system and a code. */
typedef struct kn_coding {
    int         element;
    const char *system;
    int64_t     resources, last;
} kn_coding;

/* References from a member of a type to resources of a type, as far as these are there. */
typedef struct kn_link {
    int     element; /* directly inside a type */
    int     target;  /* a type                 */
    int64_t count;
} kn_link;

typedef struct kn_resource_outline {
    kn_context     *ctx;
    kn_arena        arena;
    kn_records_form form;
    int             count;
    kn_element     *elements; /* parents before what is inside; the first is a type, if there is one */
    int             coding_count;
    kn_coding      *codings;
    int             link_count;
    kn_link        *links;
    size_t          capacity, coding_capacity, link_capacity;
} kn_resource_outline;

/* Does the first document of a file, or of a folder's first file, say that it is a resource? False also where it cannot be read. */
bool kn_resources_are(kn_context *ctx, const char *path);

/* Reads all files. Free it also on failure. KN_INPUT: not resources, or too many different names. */
KN_CHECK kn_status kn_resource_outline_read(kn_resource_outline *out, kn_context *ctx, const char *path, kn_error *err);
void               kn_resource_outline_free(kn_resource_outline *outline);

#endif
