/* kn_resources_scan.h: resources (FHIR), which say their type and refer to one another, one after the other, front to back.
 *
 * They are passed on as they stand in their files; whoever receives them resolves their references:
 * kn_resources_join.c for releases, the verifier for itself.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_RESOURCES_SCAN_H
#define KN_RESOURCES_SCAN_H

#include "kn_json_parse.h"
#include "kn_records_scan.h"

#define KN_RESOURCE_NONE UINT32_MAX

/* A value of a resource, with its key if it is a member of an object. */
typedef struct kn_resource_item {
    uint64_t     key, text; /* in the bytes          */
    uint32_t     key_size, text_size;
    uint32_t     first, next; /* inside, beside; KN_RESOURCE_NONE */
    int64_t      line, column;
    kn_json_kind kind;
    int          used; /* for the reader */
} kn_resource_item;

/* A resource as it stands, of any type. */
typedef struct kn_resource_whole {
    const kn_resource_item *items;
    const char             *bytes;
    uint32_t                own; /* its object                             */
    kn_string               url; /* as below                               */
} kn_resource_whole;

typedef struct kn_resource_value {
    int       cls;
    kn_string text;
} kn_resource_value;

/* Its texts are valid until the call that passes it returns. */
typedef struct kn_resource {
    int                      type;    /* index of options.resources                                             */
    kn_string                url, id; /* a bundle's full URL of it, its own id; data NULL: none                 */
    const kn_string         *parents; /* per parent element of its type: what it refers to; data NULL: nothing  */
    const kn_resource_value *values;  /* by class, then as they stand in it                                     */
    size_t                   value_count;
    kn_records_place         place;
} kn_resource;

typedef struct kn_resources_sink {
    void *state;
    kn_status (*resource)(void *state, const kn_resource *resource, kn_error *err);
    /* A type, element or member that belongs to no class, once each. */
    kn_status (*ignored)(void *state, kn_string name, kn_error *err);
    /* Receives resources of all types instead, as they stand; NULL: it does not. */
    kn_status (*whole)(void *state, const kn_resource_whole *whole, kn_error *err);
} kn_resources_sink;

/* All resources of the types of options->resources in files of JSON (bundles, or one resource) or JSON Lines. As
 * kn_records_scan. */
KN_CHECK kn_status kn_resources_scan(kn_context *ctx, const char *path, const kn_records_options *options,
                                     const kn_resources_sink *sink, kn_records_layout *layout, kn_error *err);

#endif
