/* kn_resource_path.h: the path of a class in resources, step by step: Condition/code/coding[system=http://...]/code.
 *
 * The first step is the type. A condition in brackets chooses the objects of a list whose member has that text; slashes
 * inside belong to it.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_RESOURCE_PATH_H
#define KN_RESOURCE_PATH_H

#include <string.h>

#include "kn_string.h"

enum { KN_RESOURCE_STEPS = 32 };

typedef struct kn_resource_step {
    kn_string   name;
    kn_string   key, value; /* the condition; key.data NULL: none */
    const char *rest;       /* after it; NULL: it is the last     */
} kn_resource_step;

/* The first step of a path; false: it is not well-formed. */
static inline bool kn_resource_step_of(const char *path, kn_resource_step *out)
{
    size_t size = strcspn(path, "/[]=");
    *out = (kn_resource_step){.name = {path, size}};
    const char *at = path + size;
    if (size == 0) return false;
    if (*at == '[') {
        size_t key = strcspn(at + 1, "/[]=");
        if (key == 0 || at[1 + key] != '=') return false;
        const char *value = at + key + 2, *end = strchr(value, ']');
        if (!end || end == value) return false;
        out->key = (kn_string){at + 1, key};
        out->value = (kn_string){value, (size_t)(end - value)};
        at = end + 1;
    }
    if (*at != '\0' && *at != '/') return false;
    out->rest = *at == '/' ? at + 1 : NULL;
    return true;
}

#endif
