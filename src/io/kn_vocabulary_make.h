/* kn_vocabulary_make.h: the vocabulary of the classes that a request declares. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_VOCABULARY_MAKE_H
#define KN_VOCABULARY_MAKE_H

#include "kn_arena.h"
#include "kn_vocabulary.h"

/* Reads or builds the hierarchies of the classes. A class without one: its leaves, given by `leaves` (may be NULL
 * where every class has a hierarchy in a file), are directly below its top. Several classes may share one hierarchy
 * file: the domain of each is then the child-of-root subtree with its name or, if there is none, that of its values
 * (`leaves`, of any level) or, without values, the only one that is left, or just a top with its name. KN_INPUT: a
 * hierarchy that cannot be read, in which the class has no subtree, or in which a label of a class means different
 * things. */
typedef struct kn_vocabulary_leaves {
    int64_t          count;
    const kn_string *texts; /* distinct; NULL: it is not known which of the records' values are the class's */
} kn_vocabulary_leaves;

/* Gives each class that has no hierarchy, is not sensitive and whose values are known (`leaves`) that of its values' type, as for a
 * column (kn_hierarchy_by_type.h), unless there is none or two texts are the same value. The arena holds its texts. */
KN_CHECK kn_status kn_vocabulary_by_type(kn_spec_class *classes, int class_count, const kn_vocabulary_leaves *leaves,
                                         kn_arena *arena, kn_error *err);

KN_CHECK kn_status kn_vocabulary_make(kn_vocabulary **out, kn_context *ctx, const kn_spec_class *classes, int class_count,
                                      const kn_vocabulary_leaves *leaves, kn_error *err);

#endif
