/* kn_figures.h: what the classes of a table reach in every privacy model: shared by the report on one set of columns
 * and the one over many.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_FIGURES_H
#define KN_FIGURES_H

#include "kn_freq.h"
#include "kn_model.h"

/* A question, checked and with its columns found. */
typedef struct kn_inquiry {
    kn_context             *ctx;
    const kn_table         *table;
    const kn_model_options *options;
    int                    *quasi;      /* columns                                                      */
    int                    *sensitive;  /* columns                                                      */
    kn_reference           *references; /* per sensitive column                                         */
    int                    *subject;    /* per requirement: which sensitive column; k and max-risk belong to the first */
    kn_scratch             *scratch;    /* per worker and sensitive column                              */
} kn_inquiry;

/* Must be ended even on failure. */
KN_CHECK kn_status kn_inquiry_begin(kn_inquiry *q, kn_context *ctx, const kn_table *table,
                                    const kn_model_options *options, kn_error *err);
void               kn_inquiry_end(kn_inquiry *q);

/* The classes by some columns with their histograms of one sensitive column. */
typedef struct kn_class_list {
    const kn_freq       *classes;
    kn_class_histograms  histograms;
    const uint32_t      *missing; /* per column of `classes`: the code that leads to dropping, or UINT32_MAX */
    uint8_t             *violates; /* per class: set to 1 where it violates a requirement                   */
} kn_class_list;

/* What was found in some classes. Adding up tallies in any order gives the same. */
typedef struct kn_tally {
    kn_model_figures  figures;
    int64_t           classes, dropped, smallest;
    kn_model_verdict *verdicts; /* per requirement; those of other sensitive columns stay empty */
} kn_tally;

void kn_tally_begin(kn_tally *t, kn_model_verdict *verdicts, int count);

/* Adds classes [begin, end) of the list. */
void kn_tally_add(kn_tally *t, const kn_inquiry *q, int sensitive, const kn_class_list *list, int64_t begin,
                  int64_t end, int worker);
void kn_tally_merge(kn_tally *t, const kn_tally *other, const kn_inquiry *q, int sensitive);

/* Figures of no classes at all become 0; verdicts on this sensitive column get their answer. */
void kn_tally_end(kn_tally *t, const kn_inquiry *q, int sensitive);

/* How many classes, and rows in them, violate a model: violates[i] is 1 or 0. */
void kn_count_violations(const kn_freq *classes, const uint8_t *violates, int64_t *class_count, int64_t *rows);

#endif
