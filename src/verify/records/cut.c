/* records/cut.c: which cut through the hierarchies made the release?
 *
 * No value of a cut is above another, and every value of the original has exactly one of them at or above it. So the
 * labels of the release determine the cut: the image of an original value is the one of them on its path to "*". If
 * there are two on that path, or none, there is no cut. Values of sensitive classes are published unchanged: the
 * image of such a value is itself, and "*" does not stand for it.
 *
 * With a suppression budget values may have no image: their nodes are given up in every record, and what was below one is
 * below the next one up. A sensitive value without one can only be that of records left out: it stays, and fits nothing.
 *
 * Cost: O(labels × height).
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_verify_records.h"

enum { SHOWN = 5 };

/* The first occurrence of a label in a file. */
typedef struct place {
    int64_t  record; /* -1: nowhere */
    uint64_t node;
} place;

static place *first_places(kn_arena *room, const kn_records_verifier *v, const kn_vforest *f)
{
    place *places = kn_arena_array(room, (size_t)v->labels + 1, sizeof *places);
    for (uint32_t l = 0; places && l <= v->labels; l++) places[l] = (place){-1, 0};
    for (int64_t r = 0; places && r < f->count; r++)
        for (uint64_t i = f->start[r]; i < f->start[r + 1]; i++)
            if (places[f->label[i]].record < 0) places[f->label[i]] = (place){r, i - f->start[r]};
    return places;
}

/* The image of one label; what is wrong becomes a problem. */
static bool find_image(kn_records_verifier *v, uint32_t label, const place *original, const place *release,
                       bool *is_image, int64_t *shown)
{
    uint32_t path[KN_HIERARCHY_MAX_LEVELS + 3], count = kn_vlabel_path(v, label, path), image = KN_V_NONE;
    bool     kept = kn_vlabel_sensitive(v, label);
    if (kept) count = 1;
    for (uint32_t i = 0; i < count; i++) {
        if (release[path[i]].record < 0) continue;
        if (image == KN_V_NONE) {
            image = path[i];
            continue;
        }
        const place *p = &release[path[i]], *q = &release[image];
        if (++*shown <= SHOWN)
            kn_vproblem(v->notes,
                        "record %" PRId64 ", node %" PRIu64 ": it shows a value above that of record %" PRId64
                        ", node %" PRIu64 ": this is no cut through the hierarchy",
                        p->record + 1, p->node + 1, q->record + 1, q->node + 1);
        return false;
    }
    v->image[label] = image;
    if (image == KN_V_NONE && (kept ? v->spare_records : v->spare_nodes) > 0) return true;
    if (image == KN_V_NONE && ++*shown <= SHOWN)
        kn_vproblem(v->notes,
                    "record %" PRId64 " of the original, node %" PRIu64 ": the release shows neither its value nor %s",
                    original[label].record + 1, original[label].node + 1,
                    kept ? "may it show another: its class is sensitive" : "one above it");
    if (image != KN_V_NONE) is_image[image] = true;
    return image != KN_V_NONE;
}

static bool find_images(kn_records_verifier *v, const place *original, const place *release, bool *is_image)
{
    bool    whole = true;
    int64_t shown = 0, foreign = 0;
    for (uint32_t l = 0; l < v->labels; l++)
        if (original[l].record >= 0) whole = find_image(v, l, original, release, is_image, &shown) && whole;
    for (uint32_t l = 0; whole && l < v->labels; l++) {
        if (release[l].record < 0 || is_image[l]) continue;
        whole = false;
        if (++foreign <= SHOWN)
            kn_vproblem(v->notes,
                        "record %" PRId64 ", node %" PRIu64 ": no value of the original lies at or below its value",
                        release[l].record + 1, release[l].node + 1);
    }
    return whole;
}

/* ---- The original under the cut ---- */

/* One record: each node joins the sibling that shows the same, or is a new one. `merged`: per node, the node it
 * became. */
static uint32_t raise_record(kn_records_verifier *v, int64_t record, uint32_t *head, uint32_t *next, uint32_t *merged)
{
    const kn_vforest *o = &v->original;
    uint64_t          from = o->start[record], size = o->start[record + 1] - from;
    uint32_t *parent = v->raised.parent + v->raised.start[record], *label = v->raised.label + v->raised.start[record],
             count = 0;
    for (uint64_t i = 0; i < size; i++) {
        uint32_t above = o->parent[from + i] == KN_V_NONE ? KN_V_NONE : merged[o->parent[from + i]];
        uint32_t shown = v->image[o->label[from + i]];
        if (shown == KN_V_NONE && kn_vlabel_sensitive(v, o->label[from + i])) shown = o->label[from + i];
        merged[i] = above;
        if (shown == KN_V_NONE) continue;
        uint32_t same = head[shown];
        while (same != KN_V_NONE && parent[same] != above) same = next[same];
        merged[i] = same;
        if (same != KN_V_NONE) continue;
        parent[count] = above;
        label[count] = shown;
        next[count] = head[shown];
        merged[i] = head[shown] = count++;
    }
    for (uint32_t i = 0; i < count; i++) head[label[i]] = KN_V_NONE;
    return count;
}

static kn_status raise_records(kn_records_verifier *v, kn_error *err)
{
    kn_vforest *f = &v->raised;
    uint64_t    nodes = v->original.start[v->original.count], largest = kn_vforest_largest(&v->original);
    kn_arena    room = {.ctx = v->ctx};
    uint32_t   *head = kn_varray_none(&room, (size_t)v->labels + 1);
    uint32_t   *next = kn_arena_array(&room, largest + 1, sizeof *next);
    uint32_t   *merged = kn_arena_array(&room, largest + 1, sizeof *merged);
    f->start = kn_arena_array(&v->arena, (size_t)v->original.count + 1, sizeof *f->start);
    f->parent = kn_arena_array(&v->arena, nodes + 1, sizeof *f->parent);
    f->label = kn_arena_array(&v->arena, nodes + 1, sizeof *f->label);
    bool good = !room.failed && !v->arena.failed;
    if (good) f->start[0] = 0;
    for (int64_t r = 0; good && r < v->original.count; r++)
        f->start[r + 1] = f->start[r] + raise_record(v, r, head, next, merged);
    if (good) f->count = v->original.count;
    kn_arena_free(&room);
    return good ? KN_OK : kn_vrecords_no_memory(v, err);
}

/* Nodes without an image, and whether they are too many. */
static bool count_given_up(kn_records_verifier *v)
{
    int64_t *count = &v->report->given_up;
    for (uint64_t i = 0; i < v->original.start[v->original.count]; i++)
        *count += v->image[v->original.label[i]] == KN_V_NONE;
    if (*count <= v->spare_nodes) return true;
    kn_vproblem(v->notes,
                "the release shows neither the value of %" PRId64 " of the original's nodes nor one above it; the "
                "suppression budget allows %" PRId64,
                *count, v->spare_nodes);
    return false;
}

kn_status kn_vrecords_cut(kn_records_verifier *v, kn_error *err)
{
    kn_arena     room = {.ctx = v->ctx};
    bool        *is_image = kn_arena_array_zero(&room, (size_t)v->labels + 1, sizeof *is_image);
    const place *original = first_places(&room, v, &v->original), *release = first_places(&room, v, &v->release);
    v->image = kn_varray_none(&v->arena, (size_t)v->labels + 1);
    bool good = v->image && !room.failed;
    v->whole = good && find_images(v, original, release, is_image);
    if (v->whole) v->whole = count_given_up(v);
    kn_arena_free(&room);
    if (!good) return kn_vrecords_no_memory(v, err);
    return v->whole ? raise_records(v, err) : KN_OK;
}
