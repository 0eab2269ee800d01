/* kn_relational_distance.c: the first way of section 5.2 to classes that are diverse: persons whose sensitive values agree
 * are infinitely far apart. kn_relational.h says what that means; the caller tries the next nearest cluster.
 *
 * Cost: promised nodes × members, and sorting where a value is there already.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_error.h"
#include "kn_model.h"
#include "kn_relational_internal.h"

kn_status kn_cluster_apart(bool *out, kn_context *ctx, const kn_relational_problem *problem, const kn_cluster *c,
                           const kn_cluster *person, const kn_pair *pairs, uint32_t count, kn_codes *codes,
                           kn_error *err)
{
    *out = false;
    if (!kn_codes_room(codes, ctx, (size_t)c->size + 1)) return kn_fail_memory(err, ctx, "counting sensitive values");
    for (int i = 0; i < problem->promise_count; i++) {
        const kn_relational_promise *promise = &problem->promises[i];
        const kn_column *column = &problem->forest->db->tables[promise->table].table->columns[promise->column];
        for (uint32_t p = 0; p < count; p++) {
            if (c->table[pairs[p].a] != promise->table) continue;
            uint32_t mine = kn_column_code(column, person->rows[pairs[p].b]);
            bool     shared = false;
            for (uint32_t m = 0; m < c->size; m++) {
                codes->codes[m] = kn_column_code(column, c->rows[(size_t)m * c->nodes + pairs[p].a]);
                shared |= codes->codes[m] == mine;
            }
            if (!shared) continue;
            codes->codes[c->size] = mine;
            kn_histogram h = kn_codes_histogram(codes, c->size + 1);
            if (!kn_promise_holds(problem, i, &h)) {
                *out = true;
                return KN_OK;
            }
        }
    }
    return KN_OK;
}
