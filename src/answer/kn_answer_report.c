/* kn_answer_report.c: the answer of `kanon report`: what a page of evidence holds. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kn_answer.h"
#include "kn_error.h"

#define S kn_compliance_summary
static const kn_field_row report_rows[] = {
    KN_ANSWER_ROW,
    KN_VALUE("output", KN_F_TEXT, "where the page was written"),
    KN_VALUE("kinds", KN_F_TEXTS, "whose questions it is arranged by: 'eu', 'hipaa', 'nist', 'ethics'"),
    KN_FIELD_AS(S, is_public, "public", KN_F_BOOLEAN,
                "whether it may be published: it holds what the certificate holds"),
    KN_FIELD(S, figures, KN_F_COUNT, "figures, each below the command that reproduces it"),
    KN_FIELD(S, open, KN_F_COUNT, "questions that are left to a person"),
    KN_NOTES_ROW,
};
#undef S
const kn_fields kn_answer_report =
    KN_ANSWER(kn_compliance_summary, "report", report_rows, NULL, "What does the page of evidence hold?");

kn_status kn_document_report(kn_document **out, kn_context *ctx, const char *output, unsigned kinds,
                             const kn_compliance_summary *summary, kn_error *err)
{
    kn_document *doc;
    KN_TRY(kn_answer_begin(&doc, ctx, &kn_answer_report, summary, err));
    kn_put_text(kn_document_top(doc), "output", output);
    kn_to list = kn_put_list(kn_document_top(doc), "kinds");
    for (unsigned kind = KN_COMPLIANCE_EU; kind <= KN_COMPLIANCE_ETHICS; kind <<= 1)
        if (kinds == 0 || kinds & kind) kn_append_text(list, kn_compliance_kind_name((kn_compliance_kind)kind));
    return kn_document_end(out, doc, err);
}
