/* kn_answer.h: what the answers share: the list of their tables, and common parts. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_ANSWER_H
#define KN_ANSWER_H

#include <kanon/answers.h>

#include "kn_document.h"

/* The answers, each in its own file. */
extern const kn_fields kn_answer_profile, kn_answer_profile_database, kn_answer_diagnose_database, kn_answer_diagnose_records, kn_answer_dependencies, kn_answer_hierarchy_build,
    kn_answer_hierarchy_check, kn_answer_hierarchy_show, kn_answer_verify, kn_answer_verify_database,
    kn_answer_verify_records, kn_answer_measure, kn_answer_measure_database, kn_answer_measure_records, kn_answer_attack, kn_answer_attack_demo, kn_answer_generate, kn_answer_init, kn_answer_hierarchy_suggest,
    kn_answer_catalogue, kn_answer_advise, kn_answer_anonymize, kn_answer_anonymize_database,
    kn_answer_anonymize_records, kn_answer_diagnose, kn_answer_diagnose_over, kn_answer_explain,
    kn_answer_frontier, kn_answer_report;

const kn_fields *kn_answer_at(int index); /* NULL after the last; for the tests */

/* Begins a document and fills it from a struct; the caller completes and ends it. */
KN_CHECK kn_status kn_answer_begin(kn_document **out, kn_context *ctx, const kn_fields *answer, const void *from,
                                   kn_error *err);

/* A complete document from one struct. */
KN_CHECK kn_status kn_answer_of(kn_document **out, kn_context *ctx, const kn_fields *answer, const void *from,
                                kn_error *err);

/* ---- Notes ---- */

/* Notes what the reader decided: spellings that became one value, ambiguous dates. */
void kn_note_table(kn_document *doc, const kn_table *table);

/* Notes the undeclared columns, which a release drops. */
void kn_note_dropped(kn_document *doc, const char *const *dropped, int count);

/* Writes 1,234,567 into `out` and returns it. */
enum { KN_COUNT_TEXT = 32 };
const char *kn_count_text(char *out, int64_t count);

/* ---- Parts ---- */

/* double[KN_METRICS] */
extern const kn_fields kn_metrics_part;

extern const kn_fields kn_sizes_part;   /* kn_size_count */
extern const kn_fields kn_figures_part; /* kn_model_figures, with the column they are of */

/* What a class tells about each sensitive column, as the list "sensitive". */
void kn_put_effort(kn_to to, const char *name, double work, double span); /* a kn_effort_part */
void kn_put_sensitive(kn_to to, const kn_sensitive_report *reports, int count);

extern const kn_fields kn_advice_part; /* kn_advice     */
extern const kn_fields kn_effort_part; /* put by name   */

/* The parameter of a model that `reached` is compared with. */
double kn_model_asked(const kn_model *model);
double kn_ratio_number(kn_ratio ratio); /* NAN: none */

#endif
