/* kn_record_sets.h: which of the combinations of values and relations that tree records have are rare, and whom they find.
 *
 * A combination is a set of values of a record, none of a sensitive class, and a set of relations (which is above which)
 * between them; its support is the number of records that have all of them (Gkountouna, Terrovitis 2013, Definition 1). It finds a
 * record that has it if its support is below k. Combinations are told by the classes of their values, not by the values.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_RECORD_SETS_H
#define KN_RECORD_SETS_H

#include "kn_arena.h"
#include "kn_records.h"

enum {
    KN_RECORD_SETS_MOST_M = 16,
    KN_RECORD_SETS_MOST = 100000,         /* sets of classes                               */
    KN_RECORD_SETS_OF_RECORD = 50000000 /* sets of values of one record */
};

typedef struct kn_record_sets_asked {
    int64_t k;
    int     m, n;  /* values and relations at most; 1 <= m <= KN_RECORD_SETS_MOST_M, 0 <= n <= m (m - 1) / 2 */
    bool    paths; /* relations that are known together are on the same nodes */
} kn_record_sets_asked;

/* The combinations of one value of each of these classes with so many relations between them. */
typedef struct kn_record_set {
    const int *classes; /* of the vocabulary, ascending; one may occur several times */
    int        class_count, relations;
    int64_t    combinations;  /* at least 1                    */
    int64_t    least;         /* the smallest support          */
    int64_t    below, unique; /* records that one of them finds, with its support below k; 1 */
} kn_record_set;

/* Records that some combination of at most m values and n relations finds, and those that none with fewer values, or as many
 * values and fewer relations, finds. */
typedef struct kn_record_reach {
    int     m, n;
    int64_t below, unique;
    int64_t first_below, first_unique;
} kn_record_reach;

typedef struct kn_record_sets {
    int64_t          set_count; /* by size, then classes, then relations */
    kn_record_set   *sets;
    int              reach_count; /* by m, then n */
    kn_record_reach *reach;
} kn_record_sets;

/* What *out points to is in the arena. The same on any number of threads. KN_USAGE: too many sets of classes. KN_INPUT: too many
 * sets of values of a record. */
KN_CHECK kn_status kn_record_sets_count(kn_record_sets *out, kn_arena *arena, const kn_records *records,
                                        const kn_record_sets_asked *asked, kn_error *err);

#endif
