/* table/levels.c: was the whole column generalized to one level, and to which?
 *
 * A label may be on several levels for different values. The level of a column is known if all its cells fit one: the
 * level that the release claims, if it fits, else the lowest that fits. With a row map the pairs of original and
 * released texts decide, otherwise the released texts alone.
 *
 * Cost: O(leaves × levels + rows) per column, columns in parallel.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_parallel.h"
#include "kn_verify_internal.h"

#define WHAT "verifying"

/* The levels that all texts of the column fit, without a map. */
static kn_status levels_of_texts(const kn_verifier *v, const kn_vquasi *q, const int64_t *text_rows, uint64_t levels[4],
                                 kn_error *err)
{
    const kn_vtree *t = q->tree;
    size_t          width = (size_t)t->height + 1;
    uint64_t       *of_label = kn_alloc_array_zero(v->ctx, (size_t)t->labels.count + 1, 4 * sizeof *of_label);
    if (!of_label) return kn_fail_memory(err, v->ctx, WHAT);
    for (size_t i = 0; i < (size_t)t->leaves * width; i++)
        of_label[4 * (size_t)t->label[t->paths[i]] + i % width / 64] |= (uint64_t)1 << i % width % 64;
    memset(levels, 0xff, 4 * sizeof *levels);
    for (uint32_t i = 0; i < q->release->count; i++) {
        const kn_vcell *cell = &q->cells[i];
        uint64_t        here[4] = {0};
        if (text_rows[i] == 0) continue;
        if (cell->kind == KN_VCELL_MISSING || cell->kind == KN_VCELL_STAR) kn_vcell_levels(q, cell, KN_V_MISSING, here);
        if (cell->kind == KN_VCELL_NAMED && cell->value != KN_V_NONE) here[0] = 1;
        for (int w = 0; w < 4 && cell->label != KN_V_NONE; w++)
            here[w] |= of_label[4 * (size_t)cell->label + (size_t)w];
        for (int w = 0; w < 4; w++) levels[w] &= here[w];
    }
    kn_free(of_label);
    return KN_OK;
}

static int lowest_level(const kn_vquasi *q, const uint64_t levels[4])
{
    for (uint32_t level = 0; level <= q->tree->height; level++)
        if (levels[level / 64] >> level % 64 & 1) return (int)level;
    return -1;
}

static bool is_full_domain(const kn_verifier *v)
{
    return !v->spec->method_auto && kn_method_family(v->spec->method) == KN_FAMILY_FULL_DOMAIN;
}

static kn_status find_level(const kn_verifier *v, kn_vquasi *q, int claimed, kn_error *err)
{
    if (!q->levels_known) {
        int64_t *text_rows = kn_alloc_array_zero(v->ctx, (size_t)q->release->count + 1, sizeof *text_rows);
        if (!text_rows) return kn_fail_memory(err, v->ctx, WHAT);
        for (int64_t row = 0; row < v->release->rows; row++)
            if (!v->starred[row]) text_rows[kn_vcode(q->release, row)]++;
        kn_status st = levels_of_texts(v, q, text_rows, q->levels, err);
        kn_free(text_rows);
        if (st != KN_OK) return st;
    }
    /* Methods that do not work level by level may show labels of one level by chance. */
    q->level = is_full_domain(v) ? lowest_level(q, q->levels) : -1;
    if (claimed < 0) return KN_OK;
    bool fits = (uint32_t)claimed <= q->tree->height && (q->levels[claimed / 64] >> claimed % 64 & 1);
    q->unclaimed = !fits;
    if (fits) q->level = claimed;
    return KN_OK;
}

static kn_status level_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    kn_verifier             *v = arg;
    const kn_verify_options *o = v->options;
    for (int64_t i = begin; i < end; i++) KN_TRY(find_level(v, &v->quasi[i], o->levels ? o->levels[i] : -1, err));
    return KN_OK;
}

/* Is there a requested level that all cells of the column fit? */
static void check_asked(const kn_verifier *v, const kn_vquasi *q)
{
    int low, high;
    if (!kn_spec_level_bounds(v->spec, kn_spec_find(v->spec, q->attribute->name), &low, &high)) return;
    if (low < 0) low = 0;
    if (high < 0 || high > (int)q->tree->height) high = (int)q->tree->height;
    for (int level = low; level <= high; level++)
        if (q->levels[level / 64] >> level % 64 & 1) return;
    if (low == high)
        kn_vproblem(v->notes, "column \"%s\": its cells are not those of level %d, which was asked for",
                    q->attribute->name, low);
    else
        kn_vproblem(v->notes,
                    "column \"%s\": its cells are not those of one of the levels %d to %d, which were asked for",
                    q->attribute->name, low, high);
}

kn_status kn_verify_levels(kn_verifier *v, kn_error *err)
{
    if (v->options->levels && v->options->level_count != v->quasi_count)
        return kn_fail(err, KN_USAGE, "%d levels were given for %d quasi-identifiers", v->options->level_count,
                       v->quasi_count);
    KN_TRY(kn_parallel_for(v->ctx, v->quasi_count, 1, level_range, v, err));
    for (int i = 0; i < v->quasi_count; i++)
        if (v->quasi[i].unclaimed)
            kn_vproblem(v->notes, "column \"%s\": its cells are not those of level %d", v->quasi[i].attribute->name,
                        v->options->levels[i]);
        else if (v->quasi[i].level < 0 && v->spec->method_given && is_full_domain(v))
            kn_vproblem(v->notes, "column \"%s\": its cells are not those of one level, which method %s shows",
                        v->quasi[i].attribute->name, kn_method_name(v->spec->method));
    for (int i = 0; i < v->quasi_count; i++) check_asked(v, &v->quasi[i]);
    return KN_OK;
}
