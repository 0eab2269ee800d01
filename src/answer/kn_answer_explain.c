/* kn_answer_explain.c: what fails at one choice of levels, as a document. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <kanon/explain.h>

#include "kn_answer.h"
#include "kn_error.h"
#include "kn_request_document.h"

static const kn_field_row promise_rows[] = {
    KN_REQUEST_MODEL_ROWS,
    KN_FIELD(kn_explained_promise, holds, KN_F_BOOLEAN, "whether every class keeps it, before anything is suppressed"),
    KN_VALUE("classes", KN_F_CLASSES | KN_F_NULLABLE, "classes that fail it; null: not known"),
    KN_FIELD(kn_explained_promise, rows, KN_F_ROWS,
             "rows of these; of average-risk: of the smallest classes, which have to go beside those that fail"),
    KN_FIELD(
        kn_explained_promise, worst, KN_F_NUMBER,
        "what the worst class reaches; of average-risk: the risk of the classes that keep all others; null: without a "
        "bound, or there is none"),
};
static const kn_fields promise_part = KN_FIELDS(kn_explained_promise, "promise", promise_rows, NULL);

static const kn_field_row column_rows[] = {
    KN_VALUE("name", KN_F_TEXT, "the quasi-identifier"),
    KN_VALUE("level", KN_F_LEVEL, "the level that is looked at"),
    KN_VALUE("height", KN_F_LEVEL, "the highest level of its hierarchy"),
};
static const kn_fields column_part = KN_FIELDS_PUT("explained_column", column_rows);

#define S kn_explanation
static const kn_field_row rows[] = {
    KN_ANSWER_ROW,
    KN_FIELD(S, holds, KN_F_BOOLEAN, "whether every promise is kept, with what may be suppressed"),
    KN_VALUE("reason", KN_F_TEXT | KN_F_OPTIONAL, "if not: why"),
    KN_VALUE_OF("columns", KN_F_LIST, &column_part, "the quasi-identifiers, in the order they were declared"),
    KN_FIELD(S, rows, KN_F_ROWS, "rows of the table"),
    KN_FIELD(S, classes, KN_F_CLASSES, "classes of those who look alike"),
    KN_FIELD(S, failing_classes, KN_F_CLASSES, "classes that fail a promise about one class"),
    KN_FIELD(S, failing_rows, KN_F_ROWS, "rows of these"),
    KN_FIELD(S, suppressed, KN_F_ROWS, "rows that have to be suppressed"),
    KN_FIELD(S, budget, KN_F_ROWS, "rows that may be suppressed"),
    KN_FIELD_NAMED(S, metric, kn_metric_name, 0, "the metric of the loss"),
    KN_FIELD(S, loss, KN_F_NUMBER, "the loss if so many are suppressed; null: nothing is left"),
    KN_VALUE_OF("promises", KN_F_LIST, &promise_part, "every promise, alone"),
    KN_NOTES_ROW,
};
#undef S

static void fill(kn_to to, const void *from)
{
    const kn_explanation *e = from;
    kn_to                 columns = kn_put_list(to, "columns"), promises = kn_put_list(to, "promises");
    if (e->reason) kn_put_text(to, "reason", e->reason);
    for (int q = 0; q < e->quasi_count; q++) {
        kn_to one = kn_append_object(columns);
        kn_put_text(one, "name", e->quasi[q]);
        kn_put_integer(one, "level", e->levels[q]);
        kn_put_integer(one, "height", e->heights[q]);
    }
    for (int i = 0; i < e->promise_count; i++) {
        const kn_explained_promise *p = &e->promises[i];
        kn_to                       one = kn_append_object(promises);
        kn_put_request_model(one, &p->model);
        kn_put_struct(one, p);
        if (p->classes >= 0)
            kn_put_integer(one, "classes", p->classes);
        else
            kn_put_null(one, "classes");
    }
}

const kn_fields kn_answer_explain =
    KN_ANSWER(kn_explanation, "explain", rows, fill, "Which promise fails at these levels, and by how much?");

kn_status kn_document_explain(kn_document **out, kn_context *ctx, const kn_explanation *explanation, kn_error *err)
{
    kn_document *doc;
    KN_TRY(kn_answer_begin(&doc, ctx, &kn_answer_explain, explanation, err));
    kn_note_dropped(doc, explanation->dropped, explanation->dropped_count);
    kn_put_notes(doc, explanation->notes, explanation->note_count);
    return kn_document_end(out, doc, err);
}
