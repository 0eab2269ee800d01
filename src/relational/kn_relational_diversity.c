/* kn_relational_diversity.c: promises about the sensitive values of a class (Definition 10, and section 5 for models other
 * than l-diversity): those of each node over the members must keep them (section 5.2; docs/errata.md M13). One row per member and node, so counts are persons.
 *
 * Cost: nodes × members, and sorting them.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "kn_alloc.h"
#include "kn_compare.h"
#include "kn_error.h"
#include "kn_model.h"
#include "kn_relational_internal.h"

void kn_codes_free(kn_codes *codes)
{
    KN_FREE(codes->codes, codes->counts);
    *codes = (kn_codes){0};
}

bool kn_codes_room(kn_codes *codes, kn_context *ctx, size_t need)
{
    return KN_GROW(ctx, &codes->codes, &codes->code_capacity, need) &&
           KN_GROW(ctx, &codes->counts, &codes->count_capacity, need);
}

kn_histogram kn_codes_histogram(kn_codes *room, uint32_t count)
{
    uint32_t values = 0;
    qsort(room->codes, count, sizeof *room->codes, kn_compare_u32);
    for (uint32_t m = 0; m < count; m++) {
        if (values > 0 && room->codes[m] == room->codes[values - 1]) {
            room->counts[values - 1]++;
            continue;
        }
        room->codes[values] = room->codes[m];
        room->counts[values++] = 1;
    }
    return (kn_histogram){room->codes, room->counts, values, count};
}

kn_status kn_cluster_diverse(bool *out, double *share, kn_context *ctx, const kn_relational_problem *problem,
                             const kn_cluster *c, kn_codes *codes, kn_error *err)
{
    *out = true;
    if (!kn_codes_room(codes, ctx, c->size)) return kn_fail_memory(err, ctx, "counting sensitive values");
    for (int i = 0; i < problem->promise_count; i++) {
        const kn_relational_promise *promise = &problem->promises[i];
        const kn_column *column = &problem->forest->db->tables[promise->table].table->columns[promise->column];
        for (uint32_t node = 0; node < c->nodes; node++) {
            if (c->table[node] != promise->table) continue;
            for (uint32_t m = 0; m < c->size; m++)
                codes->codes[m] = kn_column_code(column, c->rows[(size_t)m * c->nodes + node]);
            kn_histogram h = kn_codes_histogram(codes, c->size);
            if (!kn_promise_holds(problem, i, &h)) *out = false;
            for (int64_t v = 0; share && v < h.values; v++)
                if ((double)h.counts[v] / (double)h.rows > *share) *share = (double)h.counts[v] / (double)h.rows;
            if (!*out && !share) return KN_OK;
        }
    }
    return KN_OK;
}
