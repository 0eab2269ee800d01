/* kn_verify_view.h: the released tree records as they are counted. See view.c. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_VERIFY_VIEW_H
#define KN_VERIFY_VIEW_H

#include "kn_verify_records.h"

/* Freed with its arena. */
typedef struct kn_vview {
    kn_arena  room;
    int64_t   count;  /* different records                                                           */
    int64_t  *record; /* the first that looks like this                                              */
    int64_t  *weight; /* how many do                                                                 */
    uint32_t  labels; /* that occur: ranks                                                           */
    uint32_t  known;  /* ranks below this may be known; the others are hidden                        */
    uint32_t *rank_of, *label_of;
    uint64_t *start; /* count + 1                                                                    */
    uint32_t *ranks; /* the different labels of each record, ascending                               */
    uint64_t *node_start; /* count + 1 */
    uint32_t *position;   /* per node: which of its record's labels it has                           */
    uint32_t  most_labels, most_nodes; /* of a record */
} kn_vview;

/* To be freed even on failure. */
KN_CHECK kn_status kn_vview_make(kn_vview *out, kn_records_verifier *v, kn_error *err);

/* Of the sensitive values of one class: the largest share, `with` of `of` records that a combination finds, and how many
 * combinations have too large a one. */
typedef struct kn_vshare {
    uint64_t with, of;
    int64_t  violations;
} kn_vshare;

/* Adds a share: the larger one stays. */
static inline void kn_vshare_add(kn_vshare *share, uint64_t with, uint64_t of)
{
    if (of == 0 || (share->of > 0 && (kn_u128)with * share->of <= (kn_u128)share->with * of)) return;
    share->with = with;
    share->of = of;
}

/* Does it keep a promise of l? */
static inline bool kn_vshare_holds(kn_ratio l, uint64_t with, uint64_t of)
{
    return (kn_u128)with * l.numerator <= (kn_u128)of * l.denominator;
}

/* Entropy and recursive l-diversity (spread.c): what the worst combination reaches, and how many break the promise. */
typedef struct kn_vspread {
    double  reached;
    bool    any; /* a combination was judged */
    int64_t violations;
} kn_vspread;

/* Is it a promise of that kind? */
static inline bool kn_vspread_asked(const kn_model *m)
{
    return m->kind == KN_MODEL_ENTROPY || m->kind == KN_MODEL_RECURSIVE;
}

/* Does it hold of `of` records, of which `counts` have each value? The counts are sorted. */
bool kn_vspread_holds(const kn_model *m, uint64_t *counts, size_t count, uint64_t of, double *reached);
void kn_vspread_add(kn_vspread *to, const kn_model *m, double reached, int64_t violations);

/* The class that a promise of l-diversity is about; -1: the promise is of another kind. */
int kn_vrecords_class_of_model(const kn_records_verifier *v, const kn_model *m);

#endif
