/* kn_request_document.h: a request as part of a document: promises, hierarchies, budget, for the files beside a
 * release. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_REQUEST_DOCUMENT_H
#define KN_REQUEST_DOCUMENT_H

#include <kanon/spec.h>

#include "kn_buffer.h"
#include "kn_document.h"

#define KN_REQUEST_(type) ((type) | KN_F_OPTIONAL | KN_F_PUBLIC)

/* The rows of a promise, to which a table may add what is reached; kn_put_request_model fills them. */
#define KN_REQUEST_MODEL_ROWS                                                                                          \
    KN_VALUE("model", KN_F_TEXT | KN_F_PUBLIC, "the promise, as a release file calls it"),                             \
        KN_VALUE("kind", KN_REQUEST_(KN_F_TEXT), "its kind, where it has several"),                                    \
        KN_VALUE("distance", KN_REQUEST_(KN_F_TEXT), "of t-closeness: its distance"),                                  \
        KN_VALUE("attribute", KN_REQUEST_(KN_F_TEXT), "the sensitive column"),                                         \
        KN_VALUE("k", KN_REQUEST_(KN_F_COUNT), "rows or persons of a class, at least"),                                \
        KN_VALUE("l", KN_REQUEST_(KN_F_NUMBER), "l of l-diversity"),                                                   \
        KN_VALUE("c", KN_REQUEST_(KN_F_NUMBER), "c of recursive l-diversity"),                                         \
        KN_VALUE("min", KN_REQUEST_(KN_F_NUMBER), "the smallest presence"),                                            \
        KN_VALUE("t", KN_REQUEST_(KN_F_NUMBER), "t of t-closeness"),                                                   \
        KN_VALUE("alpha", KN_REQUEST_(KN_F_NUMBER), "the largest share of a value in a class"),                        \
        KN_VALUE("beta", KN_REQUEST_(KN_F_NUMBER), "beta of beta-likeness"),                                           \
        KN_VALUE("delta", KN_REQUEST_(KN_F_NUMBER), "delta of delta-disclosure"),                                      \
        KN_VALUE("max", KN_REQUEST_(KN_F_NUMBER), "the largest presence"),                                             \
        KN_VALUE("risk", KN_REQUEST_(KN_F_NUMBER), "the largest risk")

void kn_put_request_model(kn_to to, const kn_model *model);

/* The key of a model's bound: "t", "alpha", ...; NULL: it has none. */
const char *kn_request_bound(kn_model_kind kind);

/* The promises with their thresholds, the largest k among them, and of a table its quasi-identifiers and budget. */
extern const kn_fields kn_requested_part;
void                   kn_put_requested(kn_to to, const char *key, const kn_spec *spec);

/* The largest k that is asked for; 0: none is. */
int64_t kn_request_k(const kn_spec *spec);

const char *kn_suppressed_name(kn_suppressed mode); /* "star", "drop", "keep-sensitive" */

/* Files, each with its name and its SHA-256. */
extern const kn_fields kn_file_part;
void kn_put_files(kn_to to, const char *key, const char *const *names, const char *const *digests, int count);

/* A hierarchy as it was asked for (NULL: none, null): that it is a file, or the rule by which it is built; never the
 * values it was built from. */
extern const kn_fields kn_hierarchy_part;
void                   kn_put_hierarchy(kn_to to, const char *key, const kn_hierarchy_spec *hierarchy);

/* An exact number: as an integer if it is one. */
void kn_put_ratio(kn_to to, const char *key, kn_ratio ratio);

/* Ends the document, appends its text and frees it. */
KN_CHECK kn_status kn_document_render(kn_buffer *to, kn_document *doc, kn_error *err);

#endif
