/* kn_records_translate.c: records with other values in place of theirs (kn_records.h). Cost: each value is looked up once, each record
 * put in order.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_records.h"

#define NONE UINT32_MAX
#define ROOT KN_RECORDS_ROOT

static const char what[] = "tree records";

/* Per value of the one vocabulary that of the other with the same class and label; NONE: there is none. */
static uint32_t *find_values(kn_context *ctx, const kn_vocabulary *from, const kn_vocabulary *to)
{
    uint32_t *of = kn_alloc_array(ctx, (size_t)from->nodes + 1, sizeof *of);
    for (uint32_t u = 0; of && u < from->nodes; u++)
        of[u] = u == 0 ? 0 : kn_vocabulary_find(to, from->cls[u], kn_vocabulary_label(from, u));
    return of;
}

static uint32_t largest(const kn_records *records)
{
    uint32_t most = 0;
    for (int64_t r = 0; r < records->count; r++)
        if (records->start[r + 1] - records->start[r] > most)
            most = (uint32_t)(records->start[r + 1] - records->start[r]);
    return most;
}

/* The nodes of a record that stay, each below the next one up that does. `place` has space for all. */
static uint32_t take(kn_record_node *nodes, uint32_t *place, const kn_records *from, int64_t record, const uint32_t *of)
{
    uint64_t first = from->start[record];
    uint32_t size = (uint32_t)(from->start[record + 1] - first), count = 0;
    for (uint32_t i = 0; i < size; i++) {
        uint32_t up = from->parent[first + i], value = of[from->value[first + i]];
        uint32_t above = up == ROOT ? ROOT : place[up];
        place[i] = value == NONE ? above : count;
        if (value != NONE) nodes[count++] = (kn_record_node){above, value};
    }
    return count;
}

static kn_status find_strange(const kn_records *from, const uint32_t *of, kn_error *err)
{
    for (int64_t r = 0; r < from->count; r++)
        for (uint64_t i = from->start[r]; i < from->start[r + 1]; i++)
            if (of[from->value[i]] == NONE)
                return kn_fail(
                    err, KN_INPUT,
                    "record %lld of the release: a value of class \"%s\" that is none of the original, nor of "
                    "its hierarchy",
                    (long long)r + 1, from->vocabulary->class_names[from->vocabulary->cls[from->value[i]]]);
    return KN_OK;
}

static void fill(kn_records *out, const kn_records *from, const uint32_t *of, kn_record_node *nodes, void *scratch)
{
    out->nodes = 0;
    for (int64_t r = 0; r < from->count; r++) {
        uint32_t count = kn_record_canonical(nodes, take(nodes, scratch, from, r, of), scratch);
        for (uint32_t i = 0; i < count; i++) {
            out->parent[out->nodes] = nodes[i].parent;
            out->value[out->nodes++] = nodes[i].value;
        }
        out->start[r + 1] = out->nodes;
    }
}

kn_status kn_records_image(kn_records **out, kn_context *ctx, const kn_records *from, const uint32_t *of,
                           kn_vocabulary *to, kn_error *err)
{
    size_t          room = (size_t)largest(from) + 1;
    kn_record_node *nodes = kn_alloc_array(ctx, room, sizeof *nodes);
    void           *scratch = kn_alloc_array(ctx, room, KN_RECORD_SCRATCH);
    *out = NULL;
    kn_status st = nodes && scratch ? kn_records_create(out, ctx, to, false, from->count, from->nodes, err)
                                    : kn_fail_memory(err, ctx, what);
    if (st == KN_OK) fill(*out, from, of, nodes, scratch);
    KN_FREE(nodes, scratch);
    return st;
}

kn_status kn_records_translate(kn_records **out, kn_context *ctx, const kn_records *from, kn_vocabulary *to,
                               bool lenient, kn_error *err)
{
    uint32_t *of = find_values(ctx, from->vocabulary, to);
    *out = NULL;
    kn_status st = of ? KN_OK : kn_fail_memory(err, ctx, what);
    if (st == KN_OK && !lenient) st = find_strange(from, of, err);
    if (st == KN_OK) st = kn_records_image(out, ctx, from, of, to, err);
    kn_free(of);
    return st;
}
