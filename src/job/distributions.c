/* distributions.c: distributions as a result has them (kn_job_distributions.h): with names, and the texts of values.
 *
 * A text is cut after some characters: a cell may hold a whole page. Bytes that are 0 become a visible sign.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kn_job_distributions.h"

#include <string.h>

#include "kn_error.h"

enum { LONGEST = 160 }; /* bytes of a label */

static kn_string column_text(const void *of, uint32_t value)
{
    return kn_dictionary_text(&((const kn_column *)of)->dict, value);
}

kn_distributed kn_distributed_column(const char *table, const kn_column *column, kn_role role)
{
    return (kn_distributed){table, column->name, role, column_text, column};
}

/* How many bytes of a text are shown: not a part of a character. */
static size_t shown_size(kn_string text)
{
    size_t size = text.size;
    if (size <= LONGEST) return size;
    for (size = LONGEST; size > LONGEST - 4 && ((unsigned char)text.data[size] & 0xC0) == 0x80;) size--;
    return size;
}

static char *label_of(kn_release_run *run, kn_string text)
{
    static const char nothing[] = "␀", more[] = "…";
    size_t            size = shown_size(text), used = 0;
    char             *label = kn_arena_bytes(run->arena, size * (sizeof nothing - 1) + sizeof more);
    if (!label) return NULL;
    for (size_t i = 0; i < size; i++) {
        if (text.data[i]) {
            label[used++] = text.data[i];
            continue;
        }
        memcpy(label + used, nothing, sizeof nothing - 1);
        used += sizeof nothing - 1;
    }
    if (size < text.size) {
        memcpy(label + used, more, sizeof more - 1);
        used += sizeof more - 1;
    }
    label[used] = '\0';
    return label;
}

static kn_status put_bars(kn_release_run *run, kn_release_bar *bars, const kn_distributed *column,
                          const kn_distribution *from, kn_error *err)
{
    for (int i = 0; i < from->bar_count; i++) {
        const kn_distribution_bar *bar = &from->bars[i];
        bars[i] = (kn_release_bar){.kind = bar->kind, .before = bar->before, .after = bar->after};
        if (bar->kind == KN_BAR_VALUE) bars[i].label = label_of(run, column->text(column->of, bar->value));
        if (bar->kind == KN_BAR_RANGE) bars[i].label = kn_release_text(run, bar->label, err);
        if (bar->kind <= KN_BAR_RANGE && !bars[i].label) return kn_fail_memory(err, run->ctx, "making a release");
    }
    return KN_OK;
}

static kn_status put_one(kn_release_run *run, kn_release_distribution *to, const kn_distributed *column,
                         const kn_distribution *from, kn_error *err)
{
    kn_release_bar *bars = kn_release_alloc(run, run->arena, (size_t)from->bar_count + 1, sizeof *bars, err);
    if (!bars) return KN_MEMORY;
    *to = (kn_release_distribution){.role = column->role,
                                    .ordered = from->ordered,
                                    .values = from->values,
                                    .folded = from->folded,
                                    .before = from->before,
                                    .after = from->after,
                                    .distance = from->distance,
                                    .bar_count = from->bar_count,
                                    .bars = bars};
    to->name = kn_release_text(run, column->name, err);
    if (column->table) to->table = kn_release_text(run, column->table, err);
    if (!to->name || (column->table && !to->table)) return KN_MEMORY;
    return put_bars(run, bars, column, from, err);
}

kn_status kn_release_set_distributions(kn_release_run *run, const kn_distributed *columns, const kn_distribution *list,
                                       int count, int64_t stars, const char *left_out, kn_error *err)
{
    kn_release_distributions *all = kn_release_alloc(run, run->arena, 1, sizeof *all, err);
    kn_release_distribution  *to = kn_release_alloc(run, run->arena, (size_t)count + 1, sizeof *to, err);
    if (!all || !to) return KN_MEMORY;
    for (int i = 0; i < count; i++) KN_TRY(put_one(run, &to[i], &columns[i], &list[i], err));
    *all = (kn_release_distributions){.count = count, .list = to, .stars = stars};
    if (left_out) all->left_out = kn_release_text(run, left_out, err);
    if (left_out && !all->left_out) return KN_MEMORY;
    run->head->distributions = all;
    return KN_OK;
}
