/* kn_records_plan.h: what a method on tree records decides: a cut through the vocabulary and an ordered list of
 * relations that are removed (Gkountouna, Terrovitis 2013, section II-D; docs/errata.md K7, K8).
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_RECORDS_PLAN_H
#define KN_RECORDS_PLAN_H

#include <kanon/spec.h>

#include "kn_records.h"

/* ancestor ⇝ descendant, both values of the cut. */
typedef struct kn_disassociation {
    uint32_t ancestor, descendant;
} kn_disassociation;

typedef struct kn_records_plan {
    kn_context        *ctx;
    uint32_t           values; /* of the vocabulary                                                        */
    uint32_t          *image;  /* per value: itself or the value above it that is in the cut; of a value above the cut:
                                  UINT32_MAX. At first the cut is "*" alone. Sensitive leaves are their own  */
    int64_t            disassociation_count;
    kn_disassociation *disassociations; /* replayed in this order, in every record ...                     */
    kn_disassociate    how;             /* ... in this way                                                 */
    bool              *given_up; /* per value: its nodes are left out in every record, before all else; what was below one is
                                    below the next one up. Only leaves; the image of none is shown. NULL: none     */
    bool              *dropped;  /* per node of the original: it is left out in its record, before all else; so is what is below
                                    it, which is marked, too. Never sensitive ones. NULL: none                    */
    bool              *in_some;  /* per value, where nodes are dropped: some of its own are. For those who keep the plan   */
    bool              *left_out; /* per record of the original: it is not released. NULL: all are                 */
    uint32_t          *parent;   /* per node of the original: where it stands in its record, before all else: at or above where it stood.
                                    NULL: where it stood                                                          */
    kn_disassociation *some;     /* relations that this takes away in some records. For those who keep the plan        */
    int64_t            some_count;
} kn_records_plan;

KN_CHECK kn_status kn_records_plan_create(kn_records_plan **out, kn_context *ctx, const kn_vocabulary *vocabulary,
                                          int64_t disassociation_count, kn_error *err);
void               kn_records_plan_free(kn_records_plan *plan); /* NULL is fine */

/* Sets the images to those of a cut: values none of which covers another, and which cover all leaves. Values of
 * sensitive classes in it are ignored: their leaves stay unchanged. */
void kn_records_plan_set_cut(kn_records_plan *plan, const kn_vocabulary *vocabulary, const uint32_t *cut, int64_t count);

/* Takes a relation a ⇝ b away from one record of values of the cut, in place; siblings that become equal are merged. In every
 * path with a above b
 * - node (Definition 2): b becomes a child of a's parent, and b's children become children of b's old parent;
 * - subtree: b becomes a child of a's parent, with all that is below it;
 * - ancestor: the child of a that is above b (or is b) becomes a child of a's parent, with all that is below it.
 * Returns the new number of nodes. `scratch` as for kn_record_canonical. */
uint32_t kn_record_disassociate(kn_record_node *nodes, uint32_t count, kn_disassociation relation, kn_disassociate how,
                                void *scratch);

/* What records lack: the nodes of some values, single nodes, whole records, and relations, as in a plan; each may be NULL: none. */
typedef struct kn_records_lack {
    const bool     *given_up, *dropped, *left_out;
    const uint32_t *parent;
} kn_records_lack;

/* The records without that: siblings that become equal are merged. `original_of` gets the numbers of the records that stay, in
 * their order, then of those left out (freed by the caller). The result borrows the vocabulary. (kn_records_without.c) */
KN_CHECK kn_status kn_records_without(kn_records **out, int64_t **original_of, kn_context *ctx, const kn_records *records,
                                      kn_records_lack lack, kn_error *err);

/* The released records, in the order of what they show (S3); `original_of` (may be NULL) gets, per released record, the
 * number of its original, and then the numbers of those left out (freed by the caller). The release borrows the
 * vocabulary. */
KN_CHECK kn_status kn_records_apply(kn_records **out, int64_t **original_of, kn_context *ctx, const kn_records *records,
                                    const kn_records_plan *plan, kn_error *err);

/* Is it a plan for this vocabulary: a cut, relations between its values? For tests and fuzzers. */
bool kn_records_plan_validate(const kn_records_plan *plan, const kn_vocabulary *vocabulary, const char **reason);

#endif
