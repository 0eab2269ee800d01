/* records/unrelated.c: k^(m,n)-anonymity of released tree records against attackers who also know that values do not stand below others (Gkountouna,
 * Terrovitis 2013, section III-G).
 *
 * A relation that the release shows stands for the pairs of the original's labels whose images are its ends. Only an attacker who knows that all
 * of them are unrelated can exclude the records that show it: that takes as many of the n relations, and their ends are among the m values. For every set of
 * relations that can be excluded so the records that show none of them are listed; then every set of further labels, and of relations between
 * them, that can still be known is counted in these. A label that stands for one of the ends is known with it.
 *
 * Cost: the sets times the different records. Limits: more than the work limit is undecided.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdlib.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_verify_view.h"

/* Two labels of the original, one above the other; and their images. */
typedef struct link {
    uint32_t above, below; /* images, as ranks */
    uint32_t x, y;
} link;

typedef struct bond {
    uint32_t above, below; /* ranks: a relation of the release */
    size_t   first, count; /* its links                        */
    bool     open;         /* one of them cannot be known      */
} bond;

typedef struct unrelated {
    kn_records_verifier *v;
    kn_vview             view;
    link                *links;
    size_t               link_count, link_capacity;
    bond                *bonds;
    uint32_t             bond_count;
    bool                *shows;    /* different record × bonds   */
    bool                *has;      /* different record × ranks   */
    uint32_t            *out, *in; /* chosen bonds: not there, there */
    int                  out_count, in_count, facts;
    uint32_t            *ends, *chosen;
    int                  end_count, chosen_count, paid;
    int64_t              work, fewest, violations, first;
} unrelated;

static int compare_links(const void *a, const void *b)
{
    const link    *l = a, *r = b;
    const uint32_t keys[4][2] = {{l->above, r->above}, {l->below, r->below}, {l->x, r->x}, {l->y, r->y}};
    for (int i = 0; i < 4; i++)
        if (keys[i][0] != keys[i][1]) return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

static bool may_be_unrelated(const kn_records_verifier *v, uint32_t label)
{
    const kn_spec_class *c = v->classes[v->class_of[label]].spec;
    return c && c->negative_relations;
}

/* ---- What stands for what ---- */

/* Every pair of the original's labels, one above the other, whose images the release shows; each once. */
static bool list_links(unrelated *u)
{
    const kn_records_verifier *v = u->v;
    const kn_vforest          *f = &v->original;
    size_t                     kept = 0;
    for (int64_t t = 0; t < f->count; t++)
        for (uint64_t i = f->start[t]; i < f->start[t + 1]; i++)
            for (uint32_t p = f->parent[i]; p != KN_V_NONE; p = f->parent[f->start[t] + p]) {
                uint32_t x = f->label[f->start[t] + p], y = f->label[i];
                if (kn_vlabel_sensitive(v, x) || kn_vlabel_sensitive(v, y)) continue;
                if (v->image[x] == KN_V_NONE || v->image[y] == KN_V_NONE) continue;
                uint32_t above = u->view.rank_of[v->image[x]], below = u->view.rank_of[v->image[y]];
                if (above >= u->view.labels || below >= u->view.labels) continue;
                if (!KN_GROW(v->ctx, &u->links, &u->link_capacity, u->link_count + 1)) return false;
                u->links[u->link_count++] = (link){above, below, x, y};
            }
    if (u->link_count > 0) qsort(u->links, u->link_count, sizeof *u->links, compare_links);
    for (size_t i = 0; i < u->link_count; i++)
        if (i == 0 || compare_links(&u->links[i], &u->links[kept - 1]) != 0) u->links[kept++] = u->links[i];
    u->link_count = kept;
    return true;
}

static uint32_t find_bond(const unrelated *u, uint32_t above, uint32_t below)
{
    uint64_t key = (uint64_t)above << 32 | below;
    uint32_t low = 0, high = u->bond_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (((uint64_t)u->bonds[middle].above << 32 | u->bonds[middle].below) < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < u->bond_count && u->bonds[low].above == above && u->bonds[low].below == below ? low : KN_V_NONE;
}

/* The links by the relation that stands for them. */
static bool list_bonds(unrelated *u)
{
    u->bonds = kn_arena_array(&u->view.room, u->link_count + 1, sizeof *u->bonds);
    if (!u->bonds) return false;
    for (size_t i = 0; i < u->link_count; i++) {
        const link *l = &u->links[i];
        bool        same = i > 0 && l->above == l[-1].above && l->below == l[-1].below;
        if (!same) u->bonds[u->bond_count++] = (bond){l->above, l->below, i, 0, false};
        u->bonds[u->bond_count - 1].count++;
        u->bonds[u->bond_count - 1].open |= !may_be_unrelated(u->v, l->y);
    }
    return true;
}

static bool look_at_records(unrelated *u)
{
    const kn_vview   *w = &u->view;
    const kn_vforest *f = &u->v->release;
    u->shows = kn_arena_array_zero(&u->view.room, (size_t)w->count * u->bond_count + 1, sizeof *u->shows);
    u->has = kn_arena_array_zero(&u->view.room, (size_t)w->count * w->labels + 1, sizeof *u->has);
    if (!u->shows || !u->has) return false;
    for (int64_t r = 0; r < w->count; r++) {
        const uint32_t *parent = f->parent + f->start[w->record[r]];
        for (uint64_t i = w->start[r]; i < w->start[r + 1]; i++) u->has[(size_t)r * w->labels + w->ranks[i]] = true;
        for (uint64_t n = 0; n < w->node_start[r + 1] - w->node_start[r]; n++) {
            uint32_t below = w->ranks[w->start[r] + w->position[w->node_start[r] + n]];
            for (uint32_t p = parent[n]; p != KN_V_NONE; p = parent[p]) {
                uint32_t at = find_bond(u, w->ranks[w->start[r] + w->position[w->node_start[r] + p]], below);
                if (at != KN_V_NONE) u->shows[(size_t)r * u->bond_count + at] = true;
            }
        }
    }
    return true;
}

/* ---- Combinations ---- */

static bool fits(const unrelated *u, int64_t r)
{
    for (int i = 0; i < u->out_count; i++)
        if (u->shows[(size_t)r * u->bond_count + u->out[i]]) return false;
    for (int i = 0; i < u->in_count; i++)
        if (!u->shows[(size_t)r * u->bond_count + u->in[i]]) return false;
    for (int i = 0; i < u->chosen_count; i++)
        if (!u->has[(size_t)r * u->view.labels + u->chosen[i]]) return false;
    return true;
}

/* How many records have what is chosen; a rare combination is noted. */
static int64_t count_records(unrelated *u)
{
    int64_t found = 0, first = -1;
    for (int64_t r = 0; r < u->view.count; r++) {
        if (!fits(u, r)) continue;
        found += u->view.weight[r];
        if (first < 0) first = u->view.record[r];
    }
    u->work += u->view.count;
    if (found > 0 && (u->fewest == 0 || found < u->fewest)) u->fewest = found;
    if (found > 0 && found < u->v->spec->kmn.k && u->violations++ == 0) u->first = first;
    return found;
}

static bool is_chosen(const unrelated *u, uint32_t rank)
{
    for (int i = 0; i < u->chosen_count; i++)
        if (u->chosen[i] == rank) return true;
    return false;
}

/* Whether any record has what is chosen. */
static bool with_relations(unrelated *u, uint32_t from)
{
    if (u->work > u->v->work_limit || count_records(u) == 0) return false;
    if (u->facts + u->in_count >= u->v->spec->kmn.n) return true;
    for (uint32_t b = from; b < u->bond_count; b++) {
        if (!is_chosen(u, u->bonds[b].above) || !is_chosen(u, u->bonds[b].below)) continue;
        u->in[u->in_count++] = b;
        (void)with_relations(u, b + 1);
        u->in_count--;
    }
    return true;
}

static bool is_end(const unrelated *u, uint32_t rank)
{
    for (int i = 0; i < u->end_count; i++)
        if (u->view.rank_of[u->v->image[u->ends[i]]] == rank) return true;
    return false;
}

static void with_labels(unrelated *u, uint32_t from)
{
    if (!with_relations(u, 0)) return;
    for (uint32_t rank = from; rank < u->view.known; rank++) {
        int price = !is_end(u, rank);
        if (u->end_count + u->paid + price > u->v->spec->kmn.m) continue;
        u->chosen[u->chosen_count++] = rank;
        u->paid += price;
        with_labels(u, rank + 1);
        u->paid -= price;
        u->chosen_count--;
    }
}

static void without_relations(unrelated *u, uint32_t from)
{
    kn_kmn asked = u->v->spec->kmn;
    if (u->out_count > 0) with_labels(u, 0);
    for (uint32_t b = from; b < u->bond_count && u->work <= u->v->work_limit; b++) {
        const bond *own = &u->bonds[b];
        int         ends = u->end_count;
        if (own->open || own->count > (size_t)(asked.n - u->facts)) continue;
        for (size_t i = own->first; i < own->first + own->count && u->end_count <= asked.m; i++)
            for (int e = 0; e < 2; e++) {
                uint32_t label = e ? u->links[i].y : u->links[i].x;
                int      j = 0;
                while (j < u->end_count && u->ends[j] != label) j++;
                if (j == u->end_count) u->ends[u->end_count++] = label;
            }
        u->out[u->out_count++] = b;
        u->facts += (int)own->count;
        if (u->end_count <= asked.m) without_relations(u, b + 1);
        u->facts -= (int)own->count;
        u->out_count--;
        u->end_count = ends;
    }
}

static void report(unrelated *u)
{
    kn_records_verify_report *r = u->v->report;
    if (u->work > u->v->work_limit) {
        r->decided = false;
        kn_vopen(u->v->notes, "whether enough records are left to somebody who knows what is not related: there are "
                              "too many combinations to count "
                              "(--work-limit)");
        return;
    }
    if (u->fewest > 0 && (r->k == 0 || u->fewest < r->k)) r->k = u->fewest;
    r->violations += u->violations;
    if (u->violations == 0) return;
    kn_vproblem(u->v->notes,
                "record %" PRId64 ": somebody who knows that values of it are not related finds fewer than %" PRId64
                " records (%" PRId64 " such combinations in all)",
                u->first + 1, u->v->spec->kmn.k, u->violations);
}

kn_status kn_vrecords_unrelated(kn_records_verifier *v, kn_error *err)
{
    unrelated u = {.v = v};
    size_t    m = (size_t)v->spec->kmn.m, n = (size_t)v->spec->kmn.n;
    bool      asked = false;
    for (int c = 0; c < v->class_count; c++) asked = asked || v->spec->classes[c].negative_relations;
    if (!asked || n == 0) return KN_OK;
    kn_status st = kn_vview_make(&u.view, v, err);
    if (st == KN_OK) {
        u.out = kn_arena_array(&u.view.room, n + 1, sizeof *u.out);
        u.in = kn_arena_array(&u.view.room, n + 1, sizeof *u.in);
        u.ends = kn_arena_array(&u.view.room, m + 3, sizeof *u.ends);
        u.chosen = kn_arena_array(&u.view.room, 2 * m + 2, sizeof *u.chosen);
        if (u.view.room.failed || !list_links(&u) || !list_bonds(&u) || !look_at_records(&u))
            st = kn_vrecords_no_memory(v, err);
    }
    if (st == KN_OK) {
        without_relations(&u, 0);
        report(&u);
    }
    kn_arena_free(&u.view.room);
    kn_free(u.links);
    return st;
}
