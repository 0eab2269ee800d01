/* kn_studio_hierarchy.c: questions about hierarchies (kn_studio_question.h).
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_studio_question.h"

enum { MOST_LEAVES = 400 };

kn_status kn_studio_answer_hierarchy(kn_studio_question *q, kn_error *err)
{
    const char   *column = kn_studio_text(q, "column");
    int           at = column ? kn_spec_find(q->spec, column) : -1;
    kn_hierarchy *made = NULL;
    kn_status     st = kn_studio_need_table(q, err);
    if (st != KN_OK) return st;
    int of = column ? kn_table_find(q->table->table, column) : -1;
    if (at < 0 || of < 0) return kn_studio_error(err, KN_USAGE, "there is no such column");
    const kn_attribute *a = kn_spec_attribute_at(q->spec, at);
    if (!a->has_hierarchy) return kn_studio_error(err, KN_USAGE, "this column has no hierarchy");
    st = kn_hierarchy_make(&made, q->ctx, q->table->table, of, kn_attribute_hierarchy(a), false, err);
    bool tree = st == KN_OK && kn_hierarchy_leaves(made) <= MOST_LEAVES;
    if (st == KN_OK)
        st = kn_document_hierarchy_show(&q->doc, q->ctx, made, column, tree ? -1 : (int)kn_studio_number(q, "level", 1),
                                        tree, err);
    kn_hierarchy_free(made);
    return st;
}

kn_status kn_studio_answer_suggest(kn_studio_question *q, kn_error *err)
{
    const char     *column = kn_studio_text(q, "column");
    kn_suggestions *found = NULL;
    if (!column) return kn_studio_error(err, KN_USAGE, "there is no such column");
    kn_status st = kn_hierarchy_suggest(&found, q->ctx, q->spec, column, err);
    if (st == KN_OK) st = kn_document_hierarchy_suggest(&q->doc, q->ctx, found, column, err);
    kn_suggestions_free(found);
    return st;
}
