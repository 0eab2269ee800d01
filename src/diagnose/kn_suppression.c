/* kn_suppression.c: Algorithm 3 of the privacy diagnosis centre (section 4.4) with the corrections of docs/errata.md 1.1 and
 * 1.2, on class sizes instead of tuples. Cost: linear in the number of different sizes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kn_suppression.h"

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_freq.h"

kn_status kn_size_counts_make(kn_size_count **out, int64_t *count, kn_context *ctx, const int64_t *sizes,
                              const int64_t *rows, int64_t classes, kn_error *err)
{
    *out = NULL;
    *count = 0;
    kn_size_histogram h;
    KN_TRY(kn_size_histogram_make(&h, ctx, sizes, rows, classes, err));
    kn_size_count *counts = kn_alloc_array(ctx, (size_t)h.count, sizeof *counts);
    for (int64_t i = 0; i < h.count && counts; i++) counts[i] = (kn_size_count){h.sizes[i], h.classes[i], h.rows[i]};
    *count = h.count;
    kn_size_histogram_free(&h);
    *out = counts;
    return counts ? KN_OK : kn_fail_memory(err, ctx, "counting class sizes");
}

int64_t kn_suppression_sizes(const kn_size_count *sizes, int64_t count, int64_t budget)
{
    int64_t gone = 0;
    while (gone + 1 < count && sizes[gone].rows <= budget) budget -= sizes[gone++].rows;
    return gone;
}

kn_step kn_suppression_step(const kn_size_count *sizes, int64_t count, int64_t i)
{
    kn_step step = {count > 0 ? sizes[i].size : 0, 0};
    for (int64_t j = 0; j < i; j++) step.removed += sizes[j].rows;
    return step;
}

int64_t kn_suppression_removal(const kn_size_count *sizes, int64_t count, int64_t k, bool at_most)
{
    int64_t removed = 0, i = 0;
    if (!at_most) {
        for (; i < count && sizes[i].size < k; i++) removed += sizes[i].rows;
        return i < count ? removed : -1;
    }
    if (count == 0 || sizes[0].size > k) return -1;
    for (; i < count && sizes[i].size <= k; i++) removed += sizes[i].rows;
    /* With one row less than that, a size up to k remains; the last size always does. */
    if (i < count) return removed - 1;
    return removed;
}

int64_t kn_diagnosis_steps(const kn_diagnosis *d)
{
    return d->size_count;
}

kn_step kn_diagnosis_step(const kn_diagnosis *d, int64_t i)
{
    return kn_suppression_step(d->sizes, d->size_count, i);
}

int64_t kn_diagnosis_removal(const kn_diagnosis *d, int64_t k, bool at_most)
{
    return kn_suppression_removal(d->sizes, d->size_count, k, at_most);
}
