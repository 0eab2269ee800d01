/* kn_public_records.c: the facts of released tree records (kn_public.h): their number and content. How many records
 * an attacker finds depends on what the promise counts as knowledge; that was verified.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_public.h"
#include "kn_records.h"

static kn_status measure(kn_public *p, const kn_records *release, kn_error *err)
{
    uint32_t top = 0;
    for (uint64_t i = 0; i < release->nodes; i++)
        if (release->value[i] > top) top = release->value[i];
    bool *seen = kn_alloc_array_zero(p->ctx, (size_t)top + 1, sizeof *seen);
    if (!seen) return kn_fail_memory(err, p->ctx, "reading the release");
    p->units = release->count;
    p->nodes = (int64_t)release->nodes;
    for (int64_t r = 0; r < release->count; r++)
        for (uint64_t i = release->start[r]; i < release->start[r + 1]; i++) {
            p->values += !seen[release->value[i]];
            seen[release->value[i]] = true;
            for (uint32_t up = release->parent[i]; up != KN_RECORDS_ROOT; up = release->parent[release->start[r] + up])
                p->relations++;
        }
    kn_free(seen);
    return KN_OK;
}

kn_status kn_public_of_records(kn_public **out, kn_context *ctx, const kn_spec *spec, const kn_records *release,
                               kn_error *err)
{
    kn_public *p = NULL;
    *out = NULL;
    KN_TRY(kn_public_create(&p, ctx, KN_SHAPE_RECORDS, spec, err));
    kn_status st = measure(p, release, err);
    if (st == KN_OK)
        *out = p;
    else
        kn_public_free(p);
    return st;
}
