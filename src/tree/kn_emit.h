/* kn_emit.h: the combinations of one row that have relations, as keys added to counts. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_EMIT_H
#define KN_EMIT_H

#include "kn_candidate.h"

/* Selects combinations of a row. Values are counted ascending from 0; sets of them are bits. */
typedef struct kn_emission {
    const kn_row_relations *has;      /* the relations of the row                                      */
    const kn_row_relations *one_of;   /* NULL, or: at least one of these relations                      */
    uint64_t                values;   /* that may occur                                                */
    uint64_t                must;     /* 0, or: at least one of these values                           */
    const uint32_t         *value_of; /* of the vocabulary                                             */
    int                     relations; /* how many                                                      */
    int32_t                 amount;
    kn_counts              *to;
} kn_emission;

/* false: out of memory. */
KN_CHECK bool kn_emit(const kn_emission *e, kn_key_layout layout, int64_t *counted);

/* The key of a relation alone. */
uint64_t kn_relation_key(kn_key_layout layout, uint32_t above, uint32_t below);

/* The relations of a key, as values; returns how many. Room for m values, and n relations. */
int kn_key_relations(kn_key_layout layout, uint64_t key, uint32_t *values, uint32_t (*relations)[2]);

static inline bool kn_key_has(kn_key_layout layout, uint64_t key, uint32_t value)
{
    uint64_t mask = ((uint64_t)1 << layout.width) - 1;
    for (int i = 0; i < layout.m; i++, key >>= layout.width)
        if ((key & mask) == (uint64_t)value + 1) return true;
    return false;
}

#endif
