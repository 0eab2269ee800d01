/* kn_vocabulary.h: the values of all classes of tree records in one tree: below "*" one subtree for each class.
 *
 * Nodes are numbered in preorder, children in the order of their leaves in the hierarchy (without one: by their
 * bytes), classes in their own order, so that the values at or below v are v .. end[v] - 1. Node 0 is "*". A class
 * whose hierarchy has its own root below "*" (Disease;*) has that as its top; any other gets a top with the class's
 * name. A group that contains only one group or value of the same label is not repeated. Labels of one class differ
 * and none is "*".
 *
 * It never changes once built and may be read by any thread.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_VOCABULARY_H
#define KN_VOCABULARY_H

#include <kanon/spec.h>

#include "kn_string.h"

#define KN_VOCABULARY_NO_CLASS UINT16_MAX /* of "*" */

typedef struct kn_vocabulary {
    kn_context *ctx;
    int         class_count;
    char      **class_names;
    bool       *sensitive; /* per class */
    bool       *negative;  /* per class: that a record lacks a value of it may be known (section III-G) */
    bool       *unrelated; /* per class: that a value of it does not stand below another may be known (III-G) */
    uint32_t   *top;       /* per class: the node below "*" */
    uint32_t    nodes;
    uint32_t   *parent; /* of "*": UINT32_MAX                                        */
    uint32_t   *end;    /* the first node after the subtree; v is a leaf: v + 1      */
    uint32_t   *leaves; /* at or below                                               */
    uint16_t   *cls;    /* KN_VOCABULARY_NO_CLASS for "*"                            */
    uint16_t   *depth;  /* "*": 0; a class's top: 1                                  */
    uint16_t   *height; /* of the longest path down to a leaf; a leaf: 0             */
    uint64_t   *label_start; /* nodes + 1 */
    char       *label_bytes;
    /* Looking texts up: the labels, then other spellings of leaves (01 for 1). */
    uint32_t  entries;
    uint32_t *entry_node;  /* of those after the labels: entries - nodes  */
    uint64_t *entry_start; /* entries - nodes + 1                         */
    char     *entry_bytes;
    uint32_t *slots; /* a power of two of them; UINT32_MAX: free */
    uint32_t  slot_mask;
} kn_vocabulary;

void kn_vocabulary_free(kn_vocabulary *vocabulary); /* NULL is fine */

/* A class's values while a vocabulary is made: a subtree of a hierarchy, or texts. */
typedef struct kn_vocabulary_domain {
    const char                *name;
    bool                       sensitive, negative, unrelated;
    const struct kn_hierarchy *hierarchy; /* NULL: texts                                                       */
    uint32_t                   node;      /* the top; KN_NODE_NONE: all of it below a top with the class's name */
    int64_t                    text_count;
    const kn_string           *texts; /* distinct                                                             */
} kn_vocabulary_domain;

/* The vocabulary of known domains: the last step of kn_vocabulary_make (io). */
KN_CHECK kn_status kn_vocabulary_assemble(kn_vocabulary **out, kn_context *ctx, const kn_vocabulary_domain *domains,
                                          int count, kn_error *err);

/* Adds another spelling by which a leaf is found. Once, right after assembling. */
typedef struct kn_vocabulary_spelling {
    kn_string text;
    uint32_t  node;
} kn_vocabulary_spelling;

KN_CHECK kn_status kn_vocabulary_add_spellings(kn_vocabulary *vocabulary, const kn_vocabulary_spelling *list,
                                               int64_t count, kn_error *err);

/* Is the root "*"? */
bool kn_vocabulary_below_star(const struct kn_hierarchy *hierarchy);

/* The group below the root with the class's name; KN_NODE_NONE: there is none. */
uint32_t kn_vocabulary_group(const struct kn_hierarchy *hierarchy, const char *name);

/* The domain of a hierarchy that belongs to one class: the subtree of that name, a root other than "*", the only group
 * below "*", or KN_NODE_NONE. */
uint32_t kn_vocabulary_top(const struct kn_hierarchy *hierarchy, const char *name);

static inline kn_string kn_vocabulary_label(const kn_vocabulary *v, uint32_t node)
{
    return (kn_string){v->label_bytes + v->label_start[node], (size_t)(v->label_start[node + 1] - v->label_start[node])};
}

static inline bool kn_vocabulary_covers(const kn_vocabulary *v, uint32_t above, uint32_t below)
{
    return above <= below && below < v->end[above];
}

/* The value of a class (any level of it), or "*" for class -1; UINT32_MAX: none. */
uint32_t kn_vocabulary_find(const kn_vocabulary *vocabulary, int cls, kn_string label);

/* Checks every invariant; for tests and fuzzers. */
bool kn_vocabulary_validate(const kn_vocabulary *vocabulary, const char **reason);

#endif
