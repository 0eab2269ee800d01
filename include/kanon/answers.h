/* kanon/answers.h: results as documents (kanon/document.h): one function per answer.
 *
 * Each copies what it needs; the result may be freed at once. The only failure is KN_MEMORY. The document's notes are
 * for the user: what was read in an unexpected way, what a release drops, what an answer does not cover.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KANON_ANSWERS_H
#define KANON_ANSWERS_H

#include <kanon/anonymize.h>
#include <kanon/attack.h>
#include <kanon/catalogue.h>
#include <kanon/database.h>
#include <kanon/dependencies.h>
#include <kanon/document.h>
#include <kanon/explain.h>
#include <kanon/frontier.h>
#include <kanon/init.h>
#include <kanon/questions.h>
#include <kanon/report.h>
#include <kanon/risk.h>
#include <kanon/verify.h>
#include <kanon/workload.h>

#ifdef __cplusplus
extern "C" {
#endif

/* "profile", "profile-database". `show_values`: the document may hold values of the data. */
KN_API KN_CHECK kn_status kn_document_profile(kn_document **out, kn_context *ctx, const kn_profile *profile,
                                              const kn_table *table, bool show_values, kn_error *err);
KN_API KN_CHECK kn_status kn_document_profile_database(kn_document **out, kn_context *ctx, const kn_schema *schema,
                                                       kn_error *err);

/* Seconds for reading and for answering: wall-clock time and processor time. */
typedef struct kn_diagnose_times {
    double read, group, cpu_read, cpu_group;
} kn_diagnose_times;

/* "diagnose": one set of columns. The questions and the answers; what was not asked is NULL. */
typedef struct kn_diagnose_answers {
    size_t                     size; /* sizeof(kn_diagnose_answers), set by the initializer                        */
    const kn_diagnose_options *options;
    const kn_diagnosis        *diagnosis;
    bool                       at_most; /* the question is whether k is at most this                              */
    kn_suppress_mode           suppress_mode;
    const kn_model_report     *models;
    const char *const         *requirements; /* of the models, as written, in their order                         */
    const kn_risk             *risk;
    const kn_suda             *suda;
    const kn_diagnose_times   *times;
} kn_diagnose_answers;

#define KN_DIAGNOSE_ANSWERS_INIT                                                                                       \
    {sizeof(kn_diagnose_answers), NULL, NULL, false, KN_SUPPRESS_NONE, NULL, NULL, NULL, NULL, NULL}
KN_API void kn_diagnose_answers_init(kn_diagnose_answers *answers, size_t size);

KN_API KN_CHECK kn_status kn_document_diagnose(kn_document **out, kn_context *ctx, const kn_table *table,
                                               const kn_diagnose_answers *answers, kn_error *err);

/* "diagnose-over": all subsets of a list of columns. */
typedef struct kn_sets_answers {
    size_t                   size; /* sizeof(kn_sets_answers), set by the initializer */
    const kn_sets_options   *options;
    const kn_sets_diagnosis *sets;
    const kn_model_sets     *models;
    const char *const       *sensitive;    /* of the models: the columns, in their order              */
    const char *const       *requirements; /* of the models, as written, in their order               */
    const kn_diagnose_times *times;
} kn_sets_answers;

#define KN_SETS_ANSWERS_INIT {sizeof(kn_sets_answers), NULL, NULL, NULL, NULL, NULL, NULL}
KN_API void kn_sets_answers_init(kn_sets_answers *answers, size_t size);

KN_API KN_CHECK kn_status kn_document_diagnose_sets(kn_document **out, kn_context *ctx, const kn_table *table,
                                                    const kn_sets_answers *answers, kn_error *err);

/* "dependencies": the questions about a table and the answers; what was not asked is NULL or 0. */
typedef struct kn_dependency_answers {
    size_t                      size; /* sizeof(kn_dependency_answers), set by the initializer            */
    int                         given_count;
    const kn_dependency *const *given;  /* to be checked                                                  */
    const kn_dependency_check  *checks; /* one for each                                                   */
    const kn_discovery         *discovery;
    const kn_dependency_list   *cover; /* replaces the functional ones of what holds                        */
    const kn_name_list         *closure;
    int                         closure_given; /* the first so many of its columns were asked about       */
} kn_dependency_answers;

#define KN_DEPENDENCY_ANSWERS_INIT {sizeof(kn_dependency_answers), 0, NULL, NULL, NULL, NULL, NULL, 0}
KN_API void kn_dependency_answers_init(kn_dependency_answers *answers, size_t size);

KN_API KN_CHECK kn_status kn_document_dependencies(kn_document **out, kn_context *ctx, const kn_table *table,
                                                   const kn_dependency_answers *answers, kn_error *err);

/* "hierarchy-build": `path` is where it was written, `name` is used in notes. */
KN_API KN_CHECK kn_status kn_document_hierarchy_build(kn_document **out, kn_context *ctx, const kn_hierarchy *hierarchy,
                                                      const char *path, const char *name, kn_error *err);

/* "hierarchy-check": `table` (NULL: none) has the column it was bound to; `failure` (NULL: valid) is what is
 * wrong. */
KN_API KN_CHECK kn_status kn_document_hierarchy_check(kn_document **out, kn_context *ctx, const kn_hierarchy *hierarchy,
                                                      const char *path, const kn_table *table, const kn_error *failure,
                                                      kn_error *err);

/* "hierarchy-show": the labels of a level, or (level -1) the tree, or neither. */
KN_API KN_CHECK kn_status kn_document_hierarchy_show(kn_document **out, kn_context *ctx, const kn_hierarchy *hierarchy,
                                                     const char *path, int level, bool tree, kn_error *err);

/* "diagnose-database"; `options` are those of the call (NULL: the usual ones, as there). */
KN_API KN_CHECK kn_status kn_document_diagnose_database(kn_document **out, kn_context *ctx,
                                                        const kn_database_diagnosis        *diagnosis,
                                                        const kn_database_diagnose_options *options, kn_error *err);

/* "diagnose-records". */
KN_API KN_CHECK kn_status kn_document_diagnose_records(kn_document **out, kn_context *ctx,
                                                       const kn_records_diagnosis *diagnosis, kn_error *err);

/* "frontier". */
KN_API KN_CHECK kn_status kn_document_frontier(kn_document **out, kn_context *ctx, const kn_frontier *frontier,
                                               kn_error *err);

/* "explain". */
KN_API KN_CHECK kn_status kn_document_explain(kn_document **out, kn_context *ctx, const kn_explanation *explanation,
                                              kn_error *err);

/* "advise"; `command` (NULL: none) makes the release. */
KN_API KN_CHECK kn_status kn_document_advise(kn_document **out, kn_context *ctx, const kn_advice *advice,
                                             const char *command, kn_error *err);

/* "anonymize", "anonymize-database", "anonymize-records": the arguments and the result of the call (options NULL: the usual
 * ones, as there). */
KN_API KN_CHECK kn_status kn_document_anonymize(kn_document **out, kn_context *ctx, const kn_spec *spec,
                                                const kn_release_result *result, const kn_anonymize_options *options,
                                                kn_error *err);
KN_API KN_CHECK kn_status kn_document_anonymize_database(kn_document **out, kn_context *ctx, const kn_spec *spec,
                                                         const kn_database_result *result,
                                                         const kn_anonymize_options *options, kn_error *err);
KN_API KN_CHECK kn_status kn_document_anonymize_records(kn_document **out, kn_context *ctx, const kn_spec *spec,
                                                        const kn_records_result *result,
                                                        const kn_anonymize_options *options, kn_error *err);

/* One of these, by kn_spec_shape, for the result of kn_anonymize_any. */
KN_API KN_CHECK kn_status kn_document_anonymize_any(kn_document **out, kn_context *ctx, const kn_spec *spec,
                                                    const kn_release_head *head, const kn_anonymize_options *options,
                                                    kn_error *err);

/* "verify", "verify-database", "verify-records". `spec` is what was verified against. */
KN_API KN_CHECK kn_status kn_document_verify(kn_document **out, kn_context *ctx, const kn_verify_report *report,
                                             kn_error *err);
KN_API KN_CHECK kn_status kn_document_verify_database(kn_document **out, kn_context *ctx, const kn_spec *spec,
                                                      const kn_database_verify_report *report, kn_error *err);
KN_API KN_CHECK kn_status kn_document_verify_records(kn_document **out, kn_context *ctx, const kn_spec *spec,
                                                     const kn_records_verify_report *report, kn_error *err);

/* "measure". `workload` and its answers: both or neither (NULL). */
KN_API KN_CHECK kn_status kn_document_measure(kn_document **out, kn_context *ctx, const kn_spec *spec,
                                              const kn_measure_report *report, const kn_workload *workload,
                                              const kn_workload_report *answers, kn_error *err);

/* "measure-database". */
KN_API KN_CHECK kn_status kn_document_measure_database(kn_document **out, kn_context *ctx,
                                                       const kn_database_measure_report *report, kn_error *err);

/* "measure-records". */
KN_API KN_CHECK kn_status kn_document_measure_records(kn_document **out, kn_context *ctx,
                                                      const kn_records_measure_report *report, kn_error *err);

/* "attack", "attack-demo". */
KN_API KN_CHECK kn_status kn_document_attack(kn_document **out, kn_context *ctx, const kn_attack_report *report,
                                             kn_error *err);
KN_API KN_CHECK kn_status kn_document_attack_demo(kn_document **out, kn_context *ctx,
                                                  const kn_attack_demo_report *report, kn_error *err);

/* "report": the arguments and the result of kn_compliance_write. */
KN_API KN_CHECK kn_status kn_document_report(kn_document **out, kn_context *ctx, const char *output, unsigned kinds,
                                             const kn_compliance_summary *summary, kn_error *err);

/* "hierarchy-suggest". */
KN_API KN_CHECK kn_status kn_document_hierarchy_suggest(kn_document **out, kn_context *ctx,
                                                        const kn_suggestions *suggestions, const char *column,
                                                        kn_error *err);

/* "init". `output`: where the release file was written; NULL: nowhere. */
KN_API KN_CHECK kn_status kn_document_init(kn_document **out, kn_context *ctx, const kn_draft *draft, const char *output,
                                           kn_error *err);

/* "generate". `kind`: its name; `output`: where it was written. */
KN_API KN_CHECK kn_status kn_document_generate(kn_document **out, kn_context *ctx, const char *kind, int64_t rows,
                                               uint64_t seed, const char *output, kn_error *err);

/* "catalogue": the lists that were asked for. */
KN_API KN_CHECK kn_status kn_document_catalogue(kn_document **out, kn_context *ctx, bool methods, bool models, bool metrics,
                                                kn_error *err);

#ifdef __cplusplus
}
#endif

#endif
