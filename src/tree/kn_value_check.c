/* kn_value_check.c: ValueCheck (Algorithm 1, docs/errata.md K4), and diversity of sensitive values (III-F, K18); both with
 * what may be known to be absent (III-G).
 *
 * Interface: kn_tree_work.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_absences.h"
#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_tree_work.h"

#define WHAT "checking combinations of values"

/* All rows from their first value on. */
static kn_row_entry *all_rows(kn_context *ctx, const kn_rows *rows)
{
    kn_row_entry *entries = kn_alloc_array(ctx, (size_t)rows->count + 1, sizeof *entries);
    for (uint32_t i = 0; entries && i < rows->count; i++) entries[i] = (kn_row_entry){i, 0};
    return entries;
}

static kn_status check_values(const kn_projection *p, kn_combinations *c, int m, const kn_badness *bad, bool *ok,
                              kn_error *err)
{
    kn_row_entry *entries = all_rows(p->ctx, &p->rows);
    if (!entries || !kn_combinations_prepare(c, p->places, (size_t)m + 1)) {
        kn_free(entries);
        return kn_fail_memory(err, p->ctx, WHAT);
    }
    kn_absences absences = {{p->absent_start, p->absent}, p->absence};
    c->weight = p->rows.weight;
    c->absences = p->absence ? &absences : NULL;
    c->chosen_count = 0;
    kn_row_items known = {p->known_start, p->known};
    int64_t      all = 0;
    for (uint32_t i = 0; i < p->rows.count; i++) all += p->rows.weight[i];
    /* Knowing an absence may rule out no record: then all records count. */
    kn_found found = p->absence && kn_is_bad(c, bad, entries, p->rows.count, all) ? KN_FOUND_BAD : KN_FOUND_NONE;
    if (found == KN_FOUND_NONE) found = kn_combinations_extend(c, 0, known, entries, p->rows.count, m, bad);
    kn_free(entries);
    c->absences = NULL;
    *ok = found == KN_FOUND_NONE;
    if (found == KN_FOUND_NO_MEMORY) return kn_fail_memory(err, p->ctx, WHAT);
    return c->cancelled ? kn_fail_cancelled(err) : KN_OK;
}

kn_status kn_value_check(const kn_projection *p, kn_combinations *c, const kn_tree_problem *problem, bool *ok,
                         kn_error *err)
{
    kn_badness rare = {.k = problem->k};
    return check_values(p, c, problem->m, &rare, ok, err);
}

/* The sensitive places of each row. */
static kn_status list_sensitive(const kn_structure *s, uint64_t *start, uint32_t *items, kn_error *err)
{
    const kn_projection *p = s->projection;
    uint32_t            *stamp = kn_alloc_array_zero(s->ctx, (size_t)p->places + 1, sizeof *stamp);
    if (!stamp) return kn_fail_memory(err, s->ctx, WHAT);
    uint64_t at = 0;
    for (uint32_t row = 0; row < p->rows.count; row++) {
        start[row] = at;
        for (uint64_t i = p->rows.start[row]; i < p->rows.start[row + 1]; i++) {
            uint32_t place = p->place[p->rows.members[i]];
            if (s->known[place] || stamp[place] == row + 1) continue;
            stamp[place] = row + 1;
            items[at++] = place;
        }
    }
    start[p->rows.count] = at;
    kn_free(stamp);
    return KN_OK;
}

kn_status kn_diversity_check(kn_structure *s, kn_combinations *c, bool *ok, kn_error *err)
{
    const kn_projection *p = s->projection;
    uint64_t            *start = kn_alloc_array(s->ctx, (size_t)p->rows.count + 1, sizeof *start);
    uint32_t            *items = kn_alloc_array(s->ctx, (size_t)p->rows.start[p->rows.count] + 1, sizeof *items);
    int64_t             *count = kn_alloc_array_zero(s->ctx, (size_t)p->places + 1, sizeof *count);
    int64_t             *counts = kn_alloc_array(s->ctx, (size_t)p->places + 1, sizeof *counts);
    uint32_t            *touched = kn_alloc_array(s->ctx, (size_t)p->places + 1, sizeof *touched);
    uint16_t            *cls = kn_alloc_array(s->ctx, (size_t)p->places + 1, sizeof *cls);
    kn_badness           uneven = {.l = s->problem->l,
                                   .promises = s->problem->promises,
                                   .promise_count = s->problem->promise_count,
                                   .diverse = true,
                                   .sensitive = {start, items},
                                   .sensitive_count = count,
                                   .cls = cls,
                                   .touched = touched,
                                   .counts = counts};
    bool                 there = start && items && count && counts && touched && cls;
    kn_status            st = there ? KN_OK : kn_fail_memory(err, s->ctx, WHAT);
    for (uint32_t i = 0; there && i < p->places; i++) cls[i] = s->synopsis->vocabulary->cls[p->values[i]];
    if (st == KN_OK) st = list_sensitive(s, start, items, err);
    if (st == KN_OK) st = check_values(p, c, s->problem->m, &uneven, ok, err);
    for (int j = 1; j <= s->problem->n && st == KN_OK && *ok; j++) {
        bool any = false;
        st = kn_structure_check(s, c, j, &uneven, true, &any, err);
        *ok = !any;
    }
    KN_FREE(start, items, count, counts, touched, cls);
    return st;
}
