/* kn_answer.h: what the answers share: the list of their tables, parts that several have. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_ANSWER_H
#define KN_ANSWER_H

#include <kanon/answers.h>

#include "kn_document.h"

/* The answers, each in a file of its own. */
extern const kn_fields kn_answer_verify, kn_answer_verify_database, kn_answer_verify_records;

const kn_fields *kn_answer_at(int index); /* NULL behind the last; for the tests */

/* A document filled from a struct, to be completed and ended. */
KN_CHECK kn_status kn_answer_begin(kn_document **out, kn_context *ctx, const kn_fields *answer, const void *from,
                                   kn_error *err);

/* A document made of one struct. */
KN_CHECK kn_status kn_answer_of(kn_document **out, kn_context *ctx, const kn_fields *answer, const void *from,
                                kn_error *err);

/* ---- Parts ---- */

/* double[KN_METRICS] */
extern const kn_fields kn_metrics_part;

/* The parameter of a model that `reached` is held against. */
double kn_model_asked(const kn_model *model);
double kn_ratio_number(kn_ratio ratio); /* NAN: none */

#endif
