/* kn_relational_gather.c: r-gather clustering (Aggarwal, Feder, Kenthapadi, Khuller, Panigrahy, Thomas, Zhu, "Achieving
 * anonymity via clustering", PODS 2006, section 2.1), one of the skeletons that may take the place of CDGH.
 *
 * The smallest distance D among those of any two persons is taken with which
 *   1. everybody has k - 1 others within D, and
 *   2. centres can have k persons each: the first person who is no centre's becomes one, with everybody within D who is
 *      no other's; then a flow from centres to persons within D gives each its k, if that can be.
 * Whoever the flow leaves out joins the nearest centre. The paper proves that D is at most twice the smallest possible
 * if distances are a metric. LM is none: here D is merely the smallest that holds. With the largest distance it always
 * does, by a single centre.
 *
 * Cost: persons^2 distances, then O(persons^2) and a flow for each D that is tried. Memory: 8 bytes · persons^2.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_relational_skeleton.h"

typedef struct gathering {
    kn_skeleton *s;
    size_t       n;
    double      *far;     /* n × n: LM, rounded; equal fractions are equal numbers */
    double      *row;     /* scratch                                               */
    double       limit;   /* D                                                     */
    size_t      *centres; /* persons                                               */
    size_t       centre_count;
    bool        *marked; /* per person: scratch                                   */
    size_t      *of;     /* per person: the place of their centre; SIZE_MAX: none */
    size_t      *has;    /* per centre: persons                                   */
    /* Scratch: centres to look at; per person the centre that reached them, per centre the person. */
    size_t *queue, *via, *through;
} gathering;

static double *far_from(const gathering *g, size_t person)
{
    return g->far + person * g->n;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Condition 1: the smallest D for it. */
static void measure(gathering *g)
{
    g->limit = 0;
    for (size_t p = 0; p < g->n; p++) {
        memcpy(g->row, far_from(g, p), g->n * sizeof *g->row);
        qsort(g->row, g->n, sizeof *g->row, compare);
        if (g->row[g->s->k - 1] > g->limit) g->limit = g->row[g->s->k - 1];
    }
}

/* Centres, with up to k persons each. */
static void choose_centres(gathering *g)
{
    g->centre_count = 0;
    memset(g->marked, 0, g->n * sizeof *g->marked);
    for (size_t p = 0; p < g->n; p++) g->of[p] = SIZE_MAX;
    for (size_t p = 0; p < g->n; p++) {
        if (g->marked[p]) continue;
        size_t centre = g->centre_count++;
        g->centres[centre] = p;
        g->of[p] = centre;
        g->has[centre] = 1;
        g->marked[p] = true;
        for (size_t q = 0; q < g->n; q++) {
            if (g->marked[q] || far_from(g, p)[q] > g->limit) continue;
            g->marked[q] = true;
            if (g->has[centre] == g->s->k) continue;
            g->of[q] = centre;
            g->has[centre]++;
        }
    }
}

/* The centre takes a person who has none; the person through whom it was reached goes to the centre before it, and so on
 * to the first. */
static void shift(gathering *g, size_t first, size_t person)
{
    for (;;) {
        size_t to = g->via[person];
        g->of[person] = to;
        if (to == first) break;
        person = g->through[to];
    }
    g->has[first]++;
}

/* One more person for a centre: one without a centre, or one of another centre that finds a substitute, and so on. */
static bool augment(gathering *g, size_t centre)
{
    size_t count = 0;
    for (size_t p = 0; p < g->n; p++) g->via[p] = g->through[p] = SIZE_MAX;
    g->queue[count++] = centre;
    for (size_t i = 0; i < count; i++)
        for (size_t p = 0; p < g->n; p++) {
            size_t of = g->of[p], at = g->queue[i];
            bool   own = of != SIZE_MAX && (of == at || g->centres[of] == p);
            if (own || g->via[p] != SIZE_MAX || far_from(g, g->centres[at])[p] > g->limit) continue;
            g->via[p] = at;
            if (of == SIZE_MAX) {
                shift(g, centre, p);
                return true;
            }
            if (of == centre || g->through[of] != SIZE_MAX) continue;
            g->through[of] = p;
            g->queue[count++] = of;
        }
    return false;
}

/* Condition 2. */
static bool serves(gathering *g)
{
    choose_centres(g);
    if (g->centre_count > g->n / g->s->k) return false;
    for (size_t c = 0; c < g->centre_count; c++)
        while (g->has[c] < g->s->k)
            if (!augment(g, c)) return false;
    return true;
}

/* The next larger distance. */
static void widen(gathering *g)
{
    double next = -1;
    for (size_t i = 0; i < g->n * g->n; i++)
        if (g->far[i] > g->limit && (next < 0 || g->far[i] < next)) next = g->far[i];
    g->limit = next;
}

static size_t nearest_centre(const gathering *g, size_t person)
{
    size_t at = 0;
    for (size_t c = 1; c < g->centre_count; c++)
        if (far_from(g, g->centres[c])[person] < far_from(g, g->centres[at])[person]) at = c;
    return at;
}

static kn_status make_classes(gathering *g, kn_error *err)
{
    kn_skeleton *s = g->s;
    for (size_t p = 0; p < g->n; p++)
        if (g->of[p] == SIZE_MAX) g->of[p] = nearest_centre(g, p);
    for (size_t c = 0; c < g->centre_count; c++) {
        kn_cluster *class = s->persons[g->centres[c]];
        kn_status st = KN_OK;
        s->persons[g->centres[c]] = NULL;
        for (size_t p = 0; st == KN_OK && p < g->n; p++) {
            if (g->of[p] != c || !s->persons[p]) continue;
            st = kn_skeleton_join(s, &class, s->persons[p], err);
            s->persons[p] = NULL;
        }
        if (st == KN_OK)
            st = kn_skeleton_finish(s, class, err);
        else
            kn_cluster_free(class);
        KN_TRY(st);
    }
    return KN_OK;
}

static kn_status gather(gathering *g, kn_error *err)
{
    kn_skeleton *s = g->s;
    for (size_t p = 0; p < g->n; p++) {
        KN_TRY(s->by->distances(s->by->self, s->losses, s->persons[p], s->persons, g->n, err));
        for (size_t q = 0; q < g->n; q++)
            far_from(g, p)[q] = s->losses[q].cells ? (double)s->losses[q].sum / (double)s->losses[q].cells : 0;
        far_from(g, p)[p] = 0; /* whatever a greedy matching makes of it */
    }
    for (measure(g); !serves(g); widen(g))
        if (kn_cancelled(s->work->ctx)) return kn_fail_cancelled(err);
    return make_classes(g, err);
}

kn_status kn_skeleton_r_gather(kn_skeleton *s, kn_error *err)
{
    kn_context *ctx = s->work->ctx;
    gathering   g = {.s = s, .n = s->count};
    kn_status   st;
    bool        room = g.n <= SIZE_MAX / sizeof(double) / g.n && KN_ALLOC(ctx, g.far, g.n * g.n) &&
                KN_ALLOC(ctx, g.row, g.n) && KN_ALLOC(ctx, g.centres, g.n) && KN_ALLOC(ctx, g.of, g.n) &&
                KN_ALLOC(ctx, g.has, g.n) && KN_ALLOC(ctx, g.queue, g.n) && KN_ALLOC(ctx, g.via, g.n) &&
                KN_ALLOC(ctx, g.through, g.n) && KN_ALLOC(ctx, g.marked, g.n);
    st = room ? gather(&g, err) : kn_fail_memory(err, ctx, "comparing all persons with each other");
    KN_FREE(g.far, g.row, g.centres, g.of, g.has, g.queue, g.via, g.through, g.marked);
    return st;
}
