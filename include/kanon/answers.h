/* kanon/answers.h: results as documents (kanon/document.h): one function per answer.
 *
 * Each copies what it needs; the result may be freed at once. KN_MEMORY is all that can go wrong. What the user should know
 * is among the document's notes: what was read in an unexpected way, what a release drops, what an answer does not say.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KANON_ANSWERS_H
#define KANON_ANSWERS_H

#include <kanon/anonymize.h>
#include <kanon/attack.h>
#include <kanon/catalogue.h>
#include <kanon/dependencies.h>
#include <kanon/document.h>
#include <kanon/questions.h>
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

/* "dependencies": what was asked of a table, and the answers; what was not asked is NULL or 0. */
typedef struct kn_dependency_answers {
    size_t                      size; /* sizeof(kn_dependency_answers), set by the initializer            */
    int                         given_count;
    const kn_dependency *const *given;  /* to be checked                                                  */
    const kn_dependency_check  *checks; /* one for each                                                   */
    const kn_discovery         *discovery;
    int                         held_count; /* given and found: what holds                                */
    const kn_dependency *const *held;
    const kn_dependency_list   *cover; /* instead of the functional dependencies among them               */
    const kn_name_list         *closure;
} kn_dependency_answers;

#define KN_DEPENDENCY_ANSWERS_INIT {sizeof(kn_dependency_answers), 0, NULL, NULL, NULL, 0, NULL, NULL, NULL}

KN_API KN_CHECK kn_status kn_document_dependencies(kn_document **out, kn_context *ctx, const kn_table *table,
                                                   const kn_dependency_answers *answers, kn_error *err);

/* "hierarchy-build": `path` is where it was written, `name` what notes call it. */
KN_API KN_CHECK kn_status kn_document_hierarchy_build(kn_document **out, kn_context *ctx, const kn_hierarchy *hierarchy,
                                                      const char *path, const char *name, kn_error *err);

/* "hierarchy-check": `table` (NULL: none) has the column that it was bound to; `failure` (NULL: it is valid) says why not. */
KN_API KN_CHECK kn_status kn_document_hierarchy_check(kn_document **out, kn_context *ctx, const kn_hierarchy *hierarchy,
                                                      const char *path, const kn_table *table, const kn_error *failure,
                                                      kn_error *err);

/* "hierarchy-show": the labels of a level, or (level -1) the tree, or neither. */
KN_API KN_CHECK kn_status kn_document_hierarchy_show(kn_document **out, kn_context *ctx, const kn_hierarchy *hierarchy,
                                                     const char *path, int level, bool tree, kn_error *err);

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

/* "attack", "attack-demo". */
KN_API KN_CHECK kn_status kn_document_attack(kn_document **out, kn_context *ctx, const kn_attack_report *report,
                                             kn_error *err);
KN_API KN_CHECK kn_status kn_document_attack_demo(kn_document **out, kn_context *ctx,
                                                  const kn_attack_demo_report *report, kn_error *err);

/* "generate": `kind` by its name; `output`: where it was written. */
KN_API KN_CHECK kn_status kn_document_generate(kn_document **out, kn_context *ctx, const char *kind, int64_t rows,
                                               uint64_t seed, const char *output, kn_error *err);

/* "catalogue": the lists that are asked for. */
KN_API KN_CHECK kn_status kn_document_catalogue(kn_document **out, kn_context *ctx, bool methods, bool models, bool metrics,
                                                kn_error *err);

#ifdef __cplusplus
}
#endif

#endif
