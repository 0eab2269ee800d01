/* kn_presence.h: delta-presence of a release of a database (Nergiz, Atzori, Clifton 2007): how sure may somebody be that a person
 * of a population is among the released ones?
 *
 * A person of the population *may be* of a class if their rows can be generalized to its tree, with rows deleted
 * (kn_tree_match.h). Classes of persons are no partition of the population, as those of a table by levels are: somebody may be
 * of several. Whoever knows the population and the release takes every way to assign the released persons to different people
 * for equally likely. Let n be the persons of a class, P the people who may be one of them, N all persons released, and m those
 * of P who may be of another class too. At most o = min(m, N - n) of P are taken by other classes, and whoever is left of P is
 * as likely as the others. So the chance of a person to be released is
 *
 *     at most    the sum, over the classes that they may be of, of n / max(P - o, n), and 1
 *     at least   the largest n / P of these classes; 0 if there is none.
 *
 * If nobody may be of two classes both are n / P, the definition for a table. The chance itself would need the number of all
 * assignments, which nobody can count.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_PRESENCE_H
#define KN_PRESENCE_H

#include <kanon/models.h>

#include "kn_tree_match.h"

typedef struct kn_presence_input {
    const kn_forest        *people;
    const int              *tables; /* per table of the people: its number in the database that is released            */
    int                     width;
    uint32_t *const        *leaves; /* table × width + quasi-identifier: per code the leaf in the database's hierarchy */
    const kn_database      *db;     /* that is released                                                                */
    const kn_database_plan *plan;
} kn_presence_input;

typedef struct kn_presence {
    double least, most; /* of the chances of all people                                        */
    bool   lacking;     /* of some class there are fewer people than persons: they are not of the population */
} kn_presence;

/* The same on any number of threads. Cost: each class against the trees of the population that have a value of its narrowest cell.
 * Memory: 4 bytes per cell of the population's different trees, and 8 for each class that a tree may be of. */
KN_CHECK kn_status kn_presence_measure(kn_presence *out, kn_context *ctx, const kn_presence_input *in, kn_error *err);

/* Does it keep a promise of delta-presence? */
bool kn_presence_holds(const kn_presence *presence, const kn_model *model);

#endif
