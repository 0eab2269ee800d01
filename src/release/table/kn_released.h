/* kn_released.h: the columns of a release as texts with an order: what recode.c sorts and writes.
 *
 * Every column has cells with ids: in a copied or pseudonymous column the codes of the table (the number of values: a
 * missing cell), in a quasi-identifier the distinct cells of the plan's classes. An id has a text and a rank, the
 * position of its text among the column's in the order of bytes; equal texts have equal ranks. Ranks are made from
 * what is released alone: not from the order of numbers, which would reveal that some hidden value is not a number.
 *
 * Made once, then read by any thread.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_RELEASED_H
#define KN_RELEASED_H

#include "kn_pseudonym.h"
#include "kn_recode.h"

typedef struct kn_released_texts {
    kn_released_kind kind;
    const kn_column *column;
    bool             sensitive, items;
    bool             quotes;   /* some text needs them, or an apostrophe                              */
    bool             formulas; /* some text is one that a spreadsheet would execute                   */
    bool             guarded;
    bool             bare;     /* no CSV: nothing stands in quotes                                    */
    kn_string        missing;
    uint32_t         count;    /* ids                                                                 */
    uint32_t         distinct; /* ranks                                                               */
    uint32_t        *ranks;    /* per id; NULL: the id                                                */
    uint32_t         star;     /* the id whose text is "*"; count: none                               */
    /* Quasi-identifiers. */
    uint32_t *ids_of_classes; /* per class of the plan                                                */
    uint64_t *offsets;        /* count + 1: where an id's text begins in `bytes`, quoted where needed */
    char     *bytes;
    /* Pseudonyms. */
    unsigned char *pseudonyms; /* KN_PSEUDONYM_BYTES per value                                        */
} kn_released_texts;

typedef struct kn_released {
    kn_context        *ctx;
    int                column_count;
    kn_released_texts *columns;
} kn_released;

/* KN_INPUT: two cells of a quasi-identifier that cover different values have the same text. */
KN_CHECK kn_status kn_released_make(kn_released **out, kn_context *ctx, const kn_recode_input *input, kn_error *err);
void               kn_released_free(kn_released *released);

static inline uint32_t kn_released_rank(const kn_released_texts *t, uint32_t id)
{
    return t->ranks ? t->ranks[id] : id;
}

/* Appends the text of an id as a CSV cell; of bare texts as it is, with the apostrophe of a guarded one. */
void kn_released_cell(kn_buffer *to, const kn_released_texts *t, uint32_t id, char delimiter);

/* Would a spreadsheet execute it? `t->formulas` says whether any. */
bool kn_released_formula(const kn_released_texts *t, uint32_t id);

#endif
