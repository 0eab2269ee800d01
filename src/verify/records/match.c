/* records/match.c: does every released record have its own original, and every original its release (but for those that
 * suppression may leave out)?
 *
 * With a map each pair is compared (embed.c), in parallel. Without one an assignment is searched: equal records are
 * one form with a multiplicity; a released form that equals an original's takes it (any other form that could take
 * that original could also take what this one would have taken, since the relation is transitive); the rest are pairs
 * of forms with the same labels (of all that have these and more, where single nodes may be given up), and maximum flow between
 * them (flow.c).
 *
 * Cost: O(nodes × depth) with a map. Without: sorting all records, and a test for each pair of forms with the same
 * labels that are not equal; after WORK steps the answer is "undecided".
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdlib.h>

#include "kn_alloc.h"
#include "kn_bitset.h"
#include "kn_compare.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_parallel.h"
#include "kn_verify_flow.h"
#include "kn_verify_records.h"
#include "kn_verify_rowmap.h"

enum { SHOWN = 5, GRAIN = 4096, WORK = 1000000000 };

/* ---- The map ---- */

/* A different original for each released record. */
static kn_status check_map(kn_records_verifier *v, int64_t count, bool *good, kn_error *err)
{
    *good = count == v->release.count;
    if (!*good)
        kn_vproblem(v->notes, "the map has %" PRId64 " entries for %" PRId64 " released records", count,
                    v->release.count);
    uint64_t *used = kn_alloc_array_zero(v->ctx, kn_bitset_words((size_t)v->original.count) + 1, sizeof *used);
    if (!used) return kn_vrecords_no_memory(v, err);
    int64_t shown = 0;
    for (int64_t r = 0; r < count; r++) {
        int64_t o = v->map[r];
        bool    there = o >= 0 && o < v->original.count, twice = there && kn_bitset_test(used, (size_t)o);
        if (there) kn_bitset_set(used, (size_t)o);
        if (there && !twice) continue;
        *good = false;
        if (++shown <= SHOWN)
            kn_vproblem(v->notes, "record %" PRId64 ": the map names a record that %s", r + 1,
                        twice ? "an earlier one has already" : "the original does not have");
    }
    kn_free(used);
    return KN_OK;
}

/* ---- Scratch per worker ---- */

static kn_status make_embeds(kn_arena *room, kn_records_verifier *v, int count, kn_vembed ***out, kn_error *err)
{
    uint64_t raised = kn_vforest_largest(&v->raised), released = kn_vforest_largest(&v->release);
    uint64_t largest = raised > released ? raised : released;
    *out = kn_arena_array(room, (size_t)count, sizeof **out);
    for (int i = 0; *out && i < count; i++) (*out)[i] = kn_vembed_create(room, v, (uint32_t)largest);
    return room->failed ? kn_vrecords_no_memory(v, err) : KN_OK;
}

/* ---- With a map ---- */

typedef enum verdict { GOOD = 0, BAD, UNKNOWN } verdict;

typedef struct by_map {
    kn_records_verifier *v;
    kn_vembed          **embeds;
    uint8_t             *verdicts; /* per released record */
    uint32_t            *single;   /* ... and how many nodes it lacks */
    uint64_t           **own;      /* per worker and label: the last record that shows it, counted from 1 */
} by_map;

/* Nodes of the original whose record shows neither their value nor one above it, though others do. */
static uint32_t count_single(by_map *m, int64_t r, uint64_t *own)
{
    const kn_records_verifier *v = m->v;
    const kn_vforest          *o = &v->original, *f = &v->release;
    uint32_t                   count = 0;
    for (uint64_t i = f->start[r]; i < f->start[r + 1]; i++) own[f->label[i]] = (uint64_t)r + 1;
    for (uint64_t i = o->start[v->map[r]]; i < o->start[v->map[r] + 1]; i++) {
        uint32_t image = v->image[o->label[i]];
        count += image != KN_V_NONE && own[image] != (uint64_t)r + 1;
    }
    return count;
}

static kn_status hold_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)err;
    by_map *m = arg;
    for (int64_t r = begin; r < end; r++) {
        int64_t work = 0;
        bool    decided = true, holds = kn_vembed_holds(m->embeds[worker], m->v->map[r], r, &work, &decided);
        m->verdicts[r] = (uint8_t)(holds ? GOOD : decided ? BAD : UNKNOWN);
        m->single[r] = count_single(m, r, m->own[worker]);
    }
    return KN_OK;
}

/* More nodes are missing than may be? */
static bool beyond_budget(kn_records_verifier *v, int64_t given_up)
{
    if (given_up <= v->spare_nodes) return false;
    kn_vproblem(v->notes,
                "%" PRId64
                " of the original's nodes are in records that show neither their value nor one above it; the "
                "suppression budget allows %" PRId64,
                given_up, v->spare_nodes);
    return true;
}

static void report_all(kn_records_verifier *v, const uint8_t *verdicts, const uint32_t *single)
{
    int64_t wrong = 0, unknown = 0, singles = 0;
    bool    bad = false;
    for (int64_t r = 0; r < v->release.count; r++) singles += single[r];
    v->single = singles > 0;
    v->report->given_up += singles;
    if (singles > 0 && v->spare_nodes > 0) bad = beyond_budget(v, v->report->given_up);
    for (int64_t r = 0; r < v->release.count; r++) {
        if (verdicts[r] == UNKNOWN) unknown++;
        if (verdicts[r] == BAD && ++wrong <= SHOWN)
            kn_vproblem(v->notes,
                        "record %" PRId64 " is not its original (record %" PRId64
                        ") with values raised and relations taken away",
                        r + 1, v->map[r] + 1);
    }
    if (wrong > SHOWN)
        kn_vproblem(v->notes, "%" PRId64 " records in all are not what became of their originals", wrong);
    v->report->assignment = bad || wrong ? KN_ASSIGNMENT_REFUTED
                            : unknown    ? KN_ASSIGNMENT_UNDECIDED
                                         : KN_ASSIGNMENT_PROVED;
}

static kn_status match_by_map(kn_records_verifier *v, kn_error *err)
{
    kn_arena  room = {.ctx = v->ctx};
    by_map    m = {.v = v};
    kn_status st = make_embeds(&room, v, kn_context_threads(v->ctx), &m.embeds, err);
    int       workers = kn_context_threads(v->ctx);
    m.verdicts = kn_arena_array(&room, (size_t)v->release.count + 1, 1);
    m.single = kn_arena_array_zero(&room, (size_t)v->release.count + 1, sizeof *m.single);
    m.own = kn_arena_array(&room, (size_t)workers, sizeof *m.own);
    for (int i = 0; m.own && i < workers; i++)
        m.own[i] = kn_arena_array_zero(&room, (size_t)v->labels + 1, sizeof **m.own);
    if (st == KN_OK && room.failed) st = kn_vrecords_no_memory(v, err);
    if (st == KN_OK) st = kn_parallel_for(v->ctx, v->release.count, GRAIN, hold_range, &m, err);
    if (st == KN_OK) report_all(v, m.verdicts, m.single);
    kn_arena_free(&room);
    return st;
}

/* ---- Without one: forms ---- */

/* A record, its labels for the comparison of sets, and its form: the paths from its root, both in order. */
typedef struct item {
    const uint32_t *labels, *paths;
    uint32_t        label_count, path_count;
    int64_t         record;
} item;

static int compare_lists(const uint32_t *a, uint32_t a_count, const uint32_t *b, uint32_t b_count)
{
    if (a_count != b_count) return a_count < b_count ? -1 : 1;
    for (uint32_t i = 0; i < a_count; i++)
        if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
    return 0;
}

static int compare_labels(const item *a, const item *b)
{
    return compare_lists(a->labels, a->label_count, b->labels, b->label_count);
}

static int compare_forms(const item *a, const item *b)
{
    int c = compare_labels(a, b);
    return c ? c : compare_lists(a->paths, a->path_count, b->paths, b->path_count);
}

static int compare_items(const void *a, const void *b)
{
    const item *x = a, *y = b;
    int         c = compare_forms(x, y);
    return c ? c : x->record < y->record ? -1 : x->record > y->record;
}

/* A side of the assignment: its forms, sorted by labels. */
typedef struct side {
    const kn_vforest *forest;
    uint32_t         *numbers; /* labels, then paths, of all records */
    item             *items;
    uint32_t          form_count;
    uint32_t         *forms; /* the first item of each; form_count + 1 */
    int64_t          *left;  /* records of each form that have no partner */
} side;

static uint32_t unique(uint32_t *list, uint32_t count)
{
    uint32_t kept = 0;
    qsort(list, count, sizeof *list, kn_compare_u32);
    for (uint32_t i = 0; i < count; i++)
        if (i == 0 || list[i] != list[kept - 1]) list[kept++] = list[i];
    return kept;
}

/* Paths are numbered by the path above and the label. */
static bool take_item(side *s, kn_vnumbers *known, int64_t r, uint32_t *scratch)
{
    const kn_vforest *f = s->forest;
    uint64_t          from = f->start[r];
    uint32_t          size = (uint32_t)(f->start[r + 1] - from);
    uint32_t         *labels = s->numbers + 2 * from, *paths = labels + size;
    for (uint32_t i = 0; i < size; i++) {
        uint32_t p = f->parent[from + i];
        labels[i] = f->label[from + i];
        uint64_t above = p == KN_V_NONE ? KN_V_NONE : scratch[p];
        scratch[i] = paths[i] = kn_vnumbers_add(known, above << 32 | labels[i]);
        if (paths[i] == KN_V_NONE) return false;
    }
    s->items[r] = (item){.labels = labels, .paths = paths, .record = r};
    s->items[r].label_count = unique(labels, size);
    s->items[r].path_count = unique(paths, size);
    return true;
}

static kn_status make_side(kn_arena *room, kn_records_verifier *v, side *s, kn_vnumbers *known, kn_error *err)
{
    const kn_vforest *f = s->forest;
    size_t            nodes = f->start[f->count], records = (size_t)f->count;
    uint32_t         *scratch = kn_alloc_array(v->ctx, nodes + 1, sizeof *scratch);
    s->numbers = kn_arena_array(room, 2 * nodes + 1, sizeof *s->numbers);
    s->items = kn_arena_array(room, records + 1, sizeof *s->items);
    s->forms = kn_arena_array(room, records + 1, sizeof *s->forms);
    s->left = kn_arena_array_zero(room, records + 1, sizeof *s->left);
    bool good = scratch && !room->failed;
    for (int64_t r = 0; good && r < f->count; r++) good = take_item(s, known, r, scratch);
    kn_free(scratch);
    if (!good) return kn_vrecords_no_memory(v, err);
    qsort(s->items, records, sizeof *s->items, compare_items);
    for (uint32_t i = 0; i < records; i++) {
        if (i == 0 || compare_forms(&s->items[i - 1], &s->items[i]) != 0) s->forms[s->form_count++] = i;
        s->left[s->form_count - 1]++;
    }
    s->forms[s->form_count] = (uint32_t)records;
    return KN_OK;
}

/* ---- Without one: the assignment ---- */

typedef struct by_search {
    kn_records_verifier *v;
    side                 released, originals;
    kn_vembed          **embed;
    kn_vflow             flow;
    size_t               edge_capacity;
    int64_t              work;
    bool                 decided;
} by_search;

static const item *form(const side *s, uint32_t number)
{
    return &s->items[s->forms[number]];
}

/* A released form that equals an original's takes as many of these as it can. */
static void take_equal(by_search *b)
{
    side *r = &b->released, *o = &b->originals;
    for (uint32_t i = 0, j = 0; i < r->form_count && j < o->form_count;) {
        int c = compare_forms(form(r, i), form(o, j));
        if (c == 0) {
            int64_t common = r->left[i] < o->left[j] ? r->left[i] : o->left[j];
            r->left[i] -= common;
            o->left[j] -= common;
        }
        i += c <= 0;
        j += c >= 0;
    }
}

static kn_status add_edge(by_search *b, uint32_t released, uint32_t original, kn_error *err)
{
    kn_vflow *f = &b->flow;
    size_t    capacity = b->edge_capacity;
    void     *list = f->edge_released;
    if (!kn_grow(b->v->ctx, &list, &capacity, f->edges + 1, sizeof *f->edge_released))
        return kn_vrecords_no_memory(b->v, err);
    f->edge_released = list;
    list = f->edge_original;
    if (!kn_grow(b->v->ctx, &list, &b->edge_capacity, f->edges + 1, sizeof *f->edge_original))
        return kn_vrecords_no_memory(b->v, err);
    f->edge_original = list;
    f->edge_released[f->edges] = released;
    f->edge_original[f->edges++] = original;
    return KN_OK;
}

/* Pairs each original with the released forms of the same labels; both sides are sorted by these. */
static kn_status find_edges(by_search *b, int64_t work_limit, kn_error *err)
{
    side    *r = &b->released, *o = &b->originals;
    uint32_t first = 0;
    for (uint32_t j = 0; j < o->form_count; j++) {
        if (kn_cancelled(b->v->ctx)) return kn_fail_cancelled(err);
        if (o->left[j] == 0) continue;
        while (first < r->form_count && compare_labels(form(r, first), form(o, j)) < 0) first++;
        for (uint32_t i = first; i < r->form_count && compare_labels(form(r, i), form(o, j)) == 0; i++) {
            if (r->left[i] == 0) continue;
            if (b->work > work_limit) {
                b->decided = false;
                return KN_OK;
            }
            if (kn_vembed_holds(b->embed[0], form(o, j)->record, form(r, i)->record, &b->work, &b->decided))
                KN_TRY(add_edge(b, i, j, err));
        }
    }
    return KN_OK;
}

/* Released forms that lack an original, each with the label of its own that the fewest originals have; those without labels come with the last. */
typedef struct postings {
    uint64_t *start; /* labels + 2 */
    uint32_t *forms;
} postings;

static uint32_t rarest_label(const by_search *b, uint32_t i, const uint64_t *often)
{
    const item *r = form(&b->released, i);
    uint32_t    best = b->v->labels;
    for (uint32_t l = 0; l < r->label_count; l++)
        if (l == 0 || often[r->labels[l]] < often[best]) best = r->labels[l];
    return best;
}

static kn_status make_postings(kn_arena *room, by_search *b, postings *p, kn_error *err)
{
    const side *o = &b->originals, *r = &b->released;
    size_t      labels = (size_t)b->v->labels + 1;
    uint64_t   *often = kn_arena_array_zero(room, labels, sizeof *often);
    p->start = kn_arena_array_zero(room, labels + 1, sizeof *p->start);
    p->forms = kn_arena_array(room, (size_t)r->form_count + 1, sizeof *p->forms);
    if (room->failed) return kn_vrecords_no_memory(b->v, err);
    for (uint32_t j = 0; j < o->form_count; j++)
        for (uint32_t i = 0; o->left[j] && i < form(o, j)->label_count; i++) often[form(o, j)->labels[i]]++;
    for (uint32_t i = 0; i < r->form_count; i++)
        if (r->left[i]) p->start[rarest_label(b, i, often) + 1]++;
    for (size_t l = 0; l < labels; l++) p->start[l + 1] += p->start[l];
    for (uint32_t i = 0; i < r->form_count; i++)
        if (r->left[i]) p->forms[p->start[rarest_label(b, i, often)]++] = i;
    for (size_t l = labels; l > 0; l--) p->start[l] = p->start[l - 1];
    p->start[0] = 0;
    return KN_OK;
}

static bool has_labels_of(const item *original, const item *released)
{
    uint32_t j = 0;
    for (uint32_t i = 0; i < released->label_count; i++) {
        while (j < original->label_count && original->labels[j] < released->labels[i]) j++;
        if (j == original->label_count || original->labels[j] != released->labels[i]) return false;
    }
    return true;
}

/* Pairs an original with those of the released forms of a label that it may have become. */
static kn_status try_forms(by_search *b, const postings *p, uint32_t label, uint32_t j, int64_t work_limit,
                           kn_error *err)
{
    const item *o = form(&b->originals, j);
    for (uint64_t at = p->start[label]; at < p->start[label + 1]; at++) {
        const item *r = form(&b->released, p->forms[at]);
        if ((b->work += 1 + r->label_count) > work_limit) {
            b->decided = false;
            return KN_OK;
        }
        if (has_labels_of(o, r) && kn_vembed_holds(b->embed[0], o->record, r->record, &b->work, &b->decided))
            KN_TRY(add_edge(b, p->forms[at], j, err));
    }
    return KN_OK;
}

/* Where single nodes may be missing: pairs each original with the released forms that have no other labels. */
static kn_status find_wider_edges(by_search *b, int64_t work_limit, kn_error *err)
{
    kn_arena  room = {.ctx = b->v->ctx};
    postings  p = {0};
    kn_status st = make_postings(&room, b, &p, err);
    for (uint32_t j = 0; st == KN_OK && j < b->originals.form_count && b->work <= work_limit; j++) {
        const item *o = form(&b->originals, j);
        if (b->originals.left[j] == 0) continue;
        if (kn_cancelled(b->v->ctx)) st = kn_fail_cancelled(err);
        for (uint32_t l = 0; st == KN_OK && l < o->label_count; l++)
            st = try_forms(b, &p, o->labels[l], j, work_limit, err);
        if (st == KN_OK) st = try_forms(b, &p, b->v->labels, j, work_limit, err);
    }
    kn_arena_free(&room);
    return st;
}

/* Which records have no original? The flow says how many; a record without any edge is named. */
static void report_missing(by_search *b, int64_t missing)
{
    kn_records_verifier *v = b->v;
    int64_t              shown = 0;
    for (uint32_t i = 0; i < b->released.form_count; i++) {
        if (b->flow.wanted[i] == 0 || ++shown > SHOWN) continue;
        kn_vproblem(v->notes, "record %" PRId64 ": no original is left that it could have been",
                    form(&b->released, i)->record + 1);
    }
    kn_vproblem(v->notes, "%" PRId64 " released record%s no original of %s own", missing,
                missing == 1 ? " has" : "s have", missing == 1 ? "its" : "their");
    v->report->assignment = KN_ASSIGNMENT_REFUTED;
}

static kn_status assign(by_search *b, kn_error *err)
{
    kn_records_verifier *v = b->v;
    int64_t              limit = v->work_limit < WORK ? v->work_limit : WORK, missing = 0;
    bool                 flowed = true;
    b->decided = true;
    take_equal(b);
    KN_TRY(v->spare_nodes > 0 ? find_wider_edges(b, limit, err) : find_edges(b, limit, err));
    b->flow.ctx = v->ctx;
    b->flow.released = b->released.form_count;
    b->flow.originals = b->originals.form_count;
    b->flow.wanted = b->released.left;
    b->flow.left = b->originals.left;
    b->flow.work_limit = limit;
    KN_TRY(kn_vflow_solve(&b->flow, &missing, &flowed, err));
    v->report->assignment = KN_ASSIGNMENT_PROVED;
    if (missing == 0) return KN_OK;
    if (!b->decided || !flowed)
        v->report->assignment = KN_ASSIGNMENT_UNDECIDED;
    else
        report_missing(b, missing);
    return KN_OK;
}

/* Between what single nodes take at least and at most it is not known whether the budget allows it. */
static kn_status judge_single(by_search *b, kn_error *err)
{
    kn_records_verifier *v = b->v;
    kn_assignment       *a = &v->report->assignment;
    int64_t              before = v->report->given_up, least = 0, most = 0;
    int64_t             *unpaired = kn_alloc_array_zero(v->ctx, (size_t)v->labels + 1, sizeof *unpaired);
    if (!unpaired) return kn_vrecords_no_memory(v, err);
    for (uint32_t j = 0; j < b->originals.form_count; j++) {
        const item *o = form(&b->originals, j);
        for (uint32_t l = 0; l < o->label_count; l++) unpaired[o->labels[l]] += b->originals.left[j];
    }
    kn_status st = kn_vrecords_count_single(v, unpaired, &least, &most, err);
    kn_free(unpaired);
    if (st != KN_OK) return st;
    v->single = most > 0;
    v->report->given_up += least;
    if (least > 0 && beyond_budget(v, before + least)) *a = KN_ASSIGNMENT_REFUTED;
    v->budget_open = most > 0 && before + most > v->spare_nodes && *a == KN_ASSIGNMENT_PROVED;
    if (v->budget_open) *a = KN_ASSIGNMENT_UNDECIDED;
    return KN_OK;
}

static kn_status match_by_search(kn_records_verifier *v, kn_error *err)
{
    if (v->release.count > UINT32_MAX - 2) return KN_OK; /* undecided */
    kn_arena    room = {.ctx = v->ctx};
    kn_vnumbers paths = {.ctx = v->ctx};
    by_search   b = {.v = v, .released = {.forest = &v->release}, .originals = {.forest = &v->raised}};
    kn_status   st = make_side(&room, v, &b.released, &paths, err);
    if (st == KN_OK) st = make_side(&room, v, &b.originals, &paths, err);
    if (st == KN_OK) st = make_embeds(&room, v, 1, &b.embed, err);
    if (st == KN_OK) st = assign(&b, err);
    if (st == KN_OK && v->spare_nodes > 0) st = judge_single(&b, err);
    kn_vnumbers_free(&paths);
    kn_arena_free(&room);
    kn_free(b.flow.edge_released);
    kn_free(b.flow.edge_original);
    return st;
}

kn_status kn_vrecords_match(kn_records_verifier *v, kn_error *err)
{
    bool good = true, mapped = v->options->map || v->options->map_path;
    v->report->assignment = KN_ASSIGNMENT_UNDECIDED;
    if (mapped) {
        int64_t count = v->release.count; /* of a released database whoever read it has the map */
        if (!v->map)
            KN_TRY(kn_vrowmap_take(&v->map, &count, v->ctx, v->options->map, v->options->map_count,
                                   v->options->map_path, "record", err));
        KN_TRY(check_map(v, count, &good, err));
    }
    KN_TRY(kn_vrecords_cut(v, err));
    int64_t missing = v->report->left_out = v->original.count - v->release.count;
    bool    fits = missing >= 0 && missing <= v->spare_records;
    if (!fits)
        kn_vproblem(v->notes, "the release has %" PRId64 " record%s, the original %" PRId64 "%s", v->release.count,
                    v->release.count == 1 ? "" : "s", v->original.count,
                    missing > 0 && v->spare_records > 0 ? ": more are left out than the suppression budget allows"
                                                        : "");
    if (!v->whole || !good || !fits) {
        v->report->assignment = KN_ASSIGNMENT_REFUTED;
        return KN_OK;
    }
    return mapped ? match_by_map(v, err) : match_by_search(v, err);
}
