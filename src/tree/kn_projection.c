/* kn_projection.c: the synopsis under a cut (section III-A, Example 5): values are replaced by those of the cut, siblings
 * that become equal are merged; records that become equal are one row.
 *
 * Interface: kn_synopsis.h. Cost: O(nodes of the synopsis + nodes of its rows); the records themselves are not read.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_node_table.h"
#include "kn_synopsis.h"

#define WHAT "the synopsis under a cut"
#define NONE UINT32_MAX

void kn_projection_free(kn_projection *p)
{
    if (!p) return;
    KN_FREE(p->parent, p->place, p->path_start, p->path, p->image);
    kn_rows_free(&p->rows);
    KN_FREE(p->known_start, p->known, p->absence, p->absent_start, p->absent, p);
}

/* Nodes and where those of the synopsis go. */
static kn_status merge_nodes(kn_projection *p, const kn_synopsis *s, kn_node_table *table, kn_error *err)
{
    uint32_t *place_of = kn_alloc_array(p->ctx, s->vocabulary->nodes, sizeof *place_of);
    if (!place_of) return kn_fail_memory(err, p->ctx, WHAT);
    for (uint32_t i = 0; i < p->places; i++)
        for (uint32_t v = p->values[i]; v < s->vocabulary->end[p->values[i]]; v++) place_of[v] = i;
    bool full = false;
    for (uint32_t i = 0; i < s->nodes && !full; i++) {
        uint32_t above = s->parent[i] == KN_SYNOPSIS_ROOT ? NONE : p->image[s->parent[i]];
        p->image[i] = kn_node_table_child(table, above, place_of[s->value[i]]);
        full = p->image[i] == KN_NODE_TABLE_FULL;
    }
    kn_free(place_of);
    if (full) return kn_fail_memory(err, p->ctx, WHAT);
    p->nodes = table->count;
    p->parent = table->parent;
    p->place = table->value;
    table->parent = table->value = NULL;
    return KN_OK;
}

static kn_status write_paths(kn_projection *p, kn_error *err)
{
    if (!KN_ALLOC(p->ctx, p->path_start, (size_t)p->nodes + 1)) return kn_fail_memory(err, p->ctx, WHAT);
    p->path_start[0] = 0;
    for (uint32_t i = 0; i < p->nodes; i++) {
        uint32_t up = p->parent[i];
        p->path_start[i + 1] = p->path_start[i] + 1 + (up == NONE ? 0 : p->path_start[up + 1] - p->path_start[up]);
    }
    if (!KN_ALLOC(p->ctx, p->path, (size_t)p->path_start[p->nodes] + 1)) return kn_fail_memory(err, p->ctx, WHAT);
    for (uint32_t i = 0; i < p->nodes; i++) {
        uint32_t *to = p->path + p->path_start[i], up = p->parent[i];
        uint64_t  above = p->path_start[i + 1] - p->path_start[i] - 1;
        if (above) memcpy(to, p->path + p->path_start[up], above * sizeof *to);
        to[above] = p->place[i];
    }
    return KN_OK;
}

/* `stamp`: per node of the projection, all zero. */
static kn_status map_rows(kn_projection *p, const kn_synopsis *s, uint32_t *stamp, kn_error *err)
{
    KN_TRY(kn_rows_clear(&p->rows, p->ctx, true, err));
    for (uint32_t row = 0; row < s->rows.count; row++) {
        uint64_t  from = s->rows.start[row], to = s->rows.start[row + 1], size = 0;
        uint32_t *members = kn_rows_room(&p->rows, to - from);
        if (!members) return kn_fail_memory(err, p->ctx, WHAT);
        for (uint64_t i = from; i < to; i++) {
            uint32_t node = p->image[s->rows.members[i]];
            if (stamp[node] == row + 1) continue;
            stamp[node] = row + 1;
            members[size++] = node;
        }
        kn_rows_sort(members, size);
        if (kn_rows_close(&p->rows, size, s->rows.weight[row]) == KN_ROWS_FULL)
            return kn_fail_memory(err, p->ctx, WHAT);
    }
    kn_rows_finish(&p->rows);
    return KN_OK;
}

/* The known places of each row. `stamp`: per place, all zero. */
static kn_status list_known(kn_projection *p, const bool *known, uint32_t *stamp, kn_error *err)
{
    if (!KN_ALLOC(p->ctx, p->known_start, (size_t)p->rows.count + 1) ||
        !KN_ALLOC(p->ctx, p->known, (size_t)p->rows.start[p->rows.count] + 1))
        return kn_fail_memory(err, p->ctx, WHAT);
    uint64_t at = 0;
    for (uint32_t row = 0; row < p->rows.count; row++) {
        uint64_t from = p->known_start[row] = at;
        for (uint64_t i = p->rows.start[row]; i < p->rows.start[row + 1]; i++) {
            uint32_t place = p->place[p->rows.members[i]];
            if (stamp[place] == row + 1 || (known && !known[place])) continue;
            stamp[place] = row + 1;
            p->known[at++] = place;
        }
        kn_rows_sort(p->known + from, at - from);
    }
    p->known_start[p->rows.count] = at;
    return KN_OK;
}

/* ... and those of them that may be known to be absent. */
static kn_status list_absent(kn_projection *p, const kn_synopsis *s, const bool *known, kn_error *err)
{
    if (!s->absence) return KN_OK;
    if (!KN_ALLOC(p->ctx, p->absence, (size_t)p->places + 1) ||
        !KN_ALLOC(p->ctx, p->absent_start, (size_t)p->rows.count + 1) ||
        !KN_ALLOC(p->ctx, p->absent, (size_t)p->known_start[p->rows.count] + 1))
        return kn_fail_memory(err, p->ctx, WHAT);
    for (uint32_t i = 0; i < p->places; i++) p->absence[i] = known && !known[i] ? 0 : s->absence[p->values[i]];
    uint64_t at = 0;
    for (uint32_t row = 0; row < p->rows.count; row++) {
        p->absent_start[row] = at;
        for (uint64_t i = p->known_start[row]; i < p->known_start[row + 1]; i++)
            if (p->absence[p->known[i]] > 0) p->absent[at++] = p->known[i];
    }
    p->absent_start[p->rows.count] = at;
    return KN_OK;
}

static kn_status project(kn_projection *p, const kn_synopsis *s, const bool *known, kn_node_table *table, kn_error *err)
{
    if (!KN_ALLOC(p->ctx, p->image, (size_t)s->nodes + 1)) return kn_fail_memory(err, p->ctx, WHAT);
    KN_TRY(kn_node_table_make(table, p->ctx, 0, err));
    KN_TRY(merge_nodes(p, s, table, err));
    KN_TRY(write_paths(p, err));
    size_t    stamps = p->nodes > p->places ? p->nodes : p->places;
    uint32_t *stamp = kn_alloc_array_zero(p->ctx, stamps + 1, sizeof *stamp);
    if (!stamp) return kn_fail_memory(err, p->ctx, WHAT);
    kn_status st = map_rows(p, s, stamp, err);
    memset(stamp, 0, stamps * sizeof *stamp);
    if (st == KN_OK) st = list_known(p, known, stamp, err);
    kn_free(stamp);
    return st == KN_OK ? list_absent(p, s, known, err) : st;
}

kn_status kn_projection_split(kn_projection *p, kn_error *err)
{
    uint64_t  nodes = p->rows.start[p->rows.count], length = 0;
    uint32_t *place = NULL, *path = NULL;
    uint64_t *start = NULL;
    for (uint64_t i = 0; i < nodes; i++)
        length += p->path_start[p->rows.members[i] + 1] - p->path_start[p->rows.members[i]];
    if (nodes >= NONE || !KN_ALLOC(p->ctx, place, (size_t)nodes + 1) || !KN_ALLOC(p->ctx, path, (size_t)length + 1) ||
        !KN_ALLOC(p->ctx, start, (size_t)nodes + 1)) {
        KN_FREE(place, path, start);
        return kn_fail_memory(err, p->ctx, WHAT);
    }
    start[0] = 0;
    for (uint64_t i = 0; i < nodes; i++) {
        uint32_t from = p->rows.members[i];
        uint64_t size = p->path_start[from + 1] - p->path_start[from];
        place[i] = p->place[from];
        memcpy(path + start[i], p->path + p->path_start[from], size * sizeof *path);
        start[i + 1] = start[i] + size;
        p->rows.members[i] = (uint32_t)i;
    }
    KN_FREE(p->parent, p->image, p->place, p->path_start, p->path);
    p->parent = p->image = NULL;
    p->place = place;
    p->path_start = start;
    p->path = path;
    p->nodes = (uint32_t)nodes;
    return KN_OK;
}

kn_status kn_projection_make(kn_projection **out, const kn_synopsis *s, const uint32_t *values, uint32_t count,
                             const bool *known, kn_error *err)
{
    *out = NULL;
    kn_projection *p = kn_alloc_zero(s->ctx, sizeof *p);
    if (!p) return kn_fail_memory(err, s->ctx, WHAT);
    p->ctx = s->ctx;
    p->places = count;
    p->values = values;
    kn_node_table table = {0};
    kn_status     st = project(p, s, known, &table, err);
    kn_node_table_free(&table);
    if (st != KN_OK) {
        kn_projection_free(p);
        return st;
    }
    *out = p;
    return KN_OK;
}
