/* kanon/answers.h: results as documents (kanon/document.h): one function per answer.
 *
 * Each copies what it needs; the result may be freed at once. KN_MEMORY is all that can go wrong, unless said otherwise.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KANON_ANSWERS_H
#define KANON_ANSWERS_H

#include <kanon/document.h>
#include <kanon/verify.h>

#ifdef __cplusplus
extern "C" {
#endif

/* "verify", "verify-database", "verify-records". `spec` is what was verified against. */
KN_API KN_CHECK kn_status kn_document_verify(kn_document **out, kn_context *ctx, const kn_verify_report *report,
                                             kn_error *err);
KN_API KN_CHECK kn_status kn_document_verify_database(kn_document **out, kn_context *ctx, const kn_spec *spec,
                                                      const kn_database_verify_report *report, kn_error *err);
KN_API KN_CHECK kn_status kn_document_verify_records(kn_document **out, kn_context *ctx, const kn_spec *spec,
                                                     const kn_records_verify_report *report, kn_error *err);

#ifdef __cplusplus
}
#endif

#endif
