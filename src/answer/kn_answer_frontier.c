/* kn_answer_frontier.c: the trade-off between k, suppressed rows and loss, as a document. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <kanon/frontier.h>

#include "kn_answer.h"
#include "kn_error.h"

#define S kn_frontier_point
static const kn_field_row point_rows[] = {
    KN_FIELD(S, k, KN_F_COUNT, "rows, or persons, of every class, at least"),
    KN_FIELD(S, suppressed, KN_F_ROWS, "rows that are suppressed"),
    KN_FIELD(S, loss, KN_F_NUMBER, "what is lost, by the metric"),
    KN_FIELD(S, classes, KN_F_CLASSES, "classes that are released"),
    KN_VALUE("node", KN_F_LEVELS, "the level of each quasi-identifier"),
};
#undef S
static const kn_fields point_part = KN_FIELDS(kn_frontier_point, "point", point_rows, NULL);

#define S kn_frontier
static const kn_field_row rows[] = {
    KN_ANSWER_ROW,
    KN_FIELD_NAMED(S, metric, kn_metric_name, 0, "the metric of the loss"),
    KN_FIELD_LIST(S, quasi, quasi_count, NULL, KN_F_TEXTS, "the quasi-identifiers, in the order they were declared"),
    KN_FIELD(S, rows, KN_F_ROWS, "rows of the table"),
    KN_FIELD(S, budget, KN_F_ROWS, "rows that may be suppressed at most"),
    KN_VALUE("ks", KN_F_COUNTS, "the values of k that were looked at"),
    KN_FIELD(S, lattice, KN_F_NUMBER, "choices of levels there are, between the bounds"),
    KN_FIELD(S, counted, KN_F_COUNT, "of these, whose classes were counted; the others cannot be on the frontier"),
    KN_VALUE_OF("points", KN_F_LIST, &point_part,
                "no other has a k as large, as few suppressed rows and as small a loss; by k, then by suppressed rows"),
    KN_NOTES_ROW,
};
#undef S

static void fill(kn_to to, const void *from)
{
    const kn_frontier *f = from;
    kn_to              ks = kn_put_list(to, "ks"), points = kn_put_list(to, "points");
    for (int i = 0; i < f->k_count; i++) kn_append_integer(ks, f->ks[i]);
    for (int64_t i = 0; i < f->point_count; i++) {
        kn_to one = kn_append_object(points);
        kn_put_struct(one, &f->points[i]);
        kn_to node = kn_put_list(one, "node");
        for (int q = 0; q < f->quasi_count; q++) kn_append_level(node, f->points[i].levels[q]);
    }
}

const kn_fields kn_answer_frontier = KN_ANSWER(
    kn_frontier, "frontier", rows, fill, "What do more privacy, fewer suppressed rows and less loss cost each other?");

kn_status kn_document_frontier(kn_document **out, kn_context *ctx, const kn_frontier *frontier, kn_error *err)
{
    kn_document *doc;
    KN_TRY(kn_answer_begin(&doc, ctx, &kn_answer_frontier, frontier, err));
    kn_note_dropped(doc, frontier->dropped, frontier->dropped_count);
    kn_put_notes(doc, frontier->notes, frontier->note_count);
    return kn_document_end(out, doc, err);
}
