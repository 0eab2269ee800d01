/* records/absent.c: k^(m,n)-anonymity and l-diversity of released tree records against attackers who also know that a
 * record lacks values of negative classes (Gkountouna, Terrovitis 2013, section III-G).
 *
 * A label that the release shows stands for the labels of the original whose image it is: a record without it lacks
 * all of them, and only an attacker who knows that all of them are absent can exclude the records that show it. So a
 * label costs as many known facts as it has originals, and at most m facts are known, present and absent together.
 *
 * For every set of fewer than m labels that occurs (the empty one, too), with every set of relations, the records
 * that have it are listed; then the records without the labels that can be afforded are counted, set by set. If even
 * the most frequent labels together leave more records than the fewest found so far (and k), the search stops there:
 * the fewest is still exact. With l-diversity all sets are searched. Sets are cut into tasks by their first label.
 *
 * Cost: for each different record the sum over s < m of C(labels, s) sets times its labels; more if few records lack
 * common labels. Limits: as for count.c; more than the work limit is undecided.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "kn_alloc.h"
#include "kn_compare.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_parallel.h"
#include "kn_verify_view.h"

enum { MOST_M = 16, SHOWN = 20 };

/* A list that grows: numbers of different records, or ranks. */
typedef struct numbers {
    uint32_t *list;
    size_t    count, capacity;
} numbers;

/* What one task found. */
typedef struct task {
    uint64_t    least; /* fewest records of a combination */
    int64_t     violations;
    int64_t     record, support; /* the first rare one: a record that it finds, -1: none; how many it finds */
    int         labels, relations, lacking;
    kn_vshare  *shares;  /* per class             */
    kn_vspread *spreads; /* per model of the spec */
} task;

typedef struct relation {
    int above, below; /* of the chosen labels */
} relation;

/* The scratch of one worker. */
typedef struct seeker {
    struct absence *a;
    task           *task;
    uint64_t       *count;   /* per rank, all zero */
    uint64_t       *spread;  /* the counts of one class */
    uint32_t       *touched; /* ranks                   */
    numbers         having[MOST_M + 1], related[MOST_M * MOST_M + 1], lacking[MOST_M + 1], seen[MOST_M + 1];
    uint32_t        chosen[MOST_M]; /* ranks, ascending */
    int             size;
    relation        known[MOST_M * MOST_M];
    int             known_count;
    uint32_t        node_of[MOST_M];
} seeker;

typedef struct absence {
    kn_records_verifier *v;
    kn_vview             view;
    int                  m, n;
    uint64_t             k;
    uint32_t            *price;   /* per rank: its originals; 0: nobody knows that it is absent   */
    uint64_t            *start;   /* ranks + 1: the different records with each label ...          */
    uint32_t            *records; /* ... and after them all records                               */
    seeker              *seekers; /* per worker                                                   */
    task                *tasks;   /* the empty set, then one per known rank                       */
    atomic_llong         work;
    atomic_bool          too_much;
} absence;

static bool make_room(const seeker *s, numbers *n, size_t count)
{
    return kn_grow(s->a->v->ctx, (void **)&n->list, &n->capacity, count + 1, sizeof *n->list);
}

/* Counts work. The sum does not depend on the order, so the limit is exceeded on any number of threads or on none. */
static void count_work(seeker *s, uint64_t steps)
{
    long long done = atomic_fetch_add(&s->a->work, (long long)steps) + (long long)steps;
    if (done > s->a->v->work_limit) atomic_store(&s->a->too_much, true);
}

/* ---- One record ---- */

static bool has_label(const kn_vview *w, uint32_t record, uint32_t rank)
{
    for (uint64_t i = w->start[record]; i < w->start[record + 1] && w->ranks[i] <= rank; i++)
        if (w->ranks[i] == rank) return true;
    return false;
}

static uint32_t rank_of_node(const kn_vview *w, uint32_t record, uint32_t node)
{
    return w->ranks[w->start[record] + w->position[w->node_start[record] + node]];
}

static bool is_above(const absence *a, uint32_t record, uint32_t above, uint32_t below)
{
    const kn_vforest *f = &a->v->release;
    const uint32_t   *parent = f->parent + f->start[a->view.record[record]];
    for (uint32_t p = parent[below]; p != KN_V_NONE; p = parent[p])
        if (p == above) return true;
    return false;
}

static bool has_relation(const seeker *s, uint32_t record, relation r)
{
    const kn_vview   *w = &s->a->view;
    const kn_vforest *f = &s->a->v->release;
    const uint32_t   *parent = f->parent + f->start[w->record[record]];
    uint32_t          nodes = (uint32_t)(w->node_start[record + 1] - w->node_start[record]);
    for (uint32_t i = 0; i < nodes; i++) {
        if (rank_of_node(w, record, i) != s->chosen[r.below]) continue;
        for (uint32_t p = parent[i]; p != KN_V_NONE; p = parent[p])
            if (rank_of_node(w, record, p) == s->chosen[r.above]) return true;
    }
    return false;
}

/* Paths: nodes for the chosen labels from `label` on, so that all known relations hold? "*" above "*" was seen already. */
static bool has_nodes(seeker *s, uint32_t record, int label)
{
    const kn_vview *w = &s->a->view;
    uint32_t        nodes = (uint32_t)(w->node_start[record + 1] - w->node_start[record]);
    if (label == s->size) return true;
    for (uint32_t i = 0; i < nodes; i++) {
        if (rank_of_node(w, record, i) != s->chosen[label]) continue;
        bool fits = true;
        s->node_of[label] = i;
        for (int r = 0; r < s->known_count && fits; r++) {
            relation x = s->known[r];
            if (x.above == x.below || x.above > label || x.below > label) continue;
            fits = is_above(s->a, record, s->node_of[x.above], s->node_of[x.below]);
        }
        if (fits && has_nodes(s, record, label + 1)) return true;
    }
    return false;
}

/* ---- Records that lack labels ---- */

static uint64_t weigh(const seeker *s, const uint32_t *records, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) sum += (uint64_t)s->a->view.weight[records[i]];
    return sum;
}

/* The sensitive labels of these records, counted: how many there are, in s->touched. */
static size_t count_sensitive(seeker *s, const uint32_t *records, size_t count)
{
    const kn_vview *w = &s->a->view;
    size_t          n = 0;
    for (size_t x = 0; x < count; x++)
        for (uint64_t i = w->start[records[x]]; i < w->start[records[x] + 1]; i++) {
            uint32_t rank = w->ranks[i];
            if (rank < w->known) continue;
            if (s->count[rank] == 0) s->touched[n++] = rank;
            s->count[rank] += (uint64_t)w->weight[records[x]];
        }
    return n;
}

static int class_of_rank(const absence *a, uint32_t rank)
{
    return a->v->class_of[a->view.label_of[rank]];
}

/* Entropy and recursive l-diversity, of the sensitive labels that were counted. */
static void judge_spreads(seeker *s, size_t touched, uint64_t support)
{
    const kn_spec *spec = s->a->v->spec;
    for (int i = 0; i < spec->model_count; i++) {
        const kn_model *m = &spec->models[i];
        int             cls = kn_vspread_asked(m) ? kn_vrecords_class_of_model(s->a->v, m) : -1;
        size_t          count = 0;
        double          reached;
        if (cls < 0) continue;
        for (size_t j = 0; j < touched; j++)
            if (class_of_rank(s->a, s->touched[j]) == cls) s->spread[count++] = s->count[s->touched[j]];
        bool holds = kn_vspread_holds(m, s->spread, count, support, &reached);
        kn_vspread_add(&s->task->spreads[i], m, reached, !holds);
    }
}

/* What these records have in common of sensitive values. */
static void judge_shares(seeker *s, const uint32_t *records, size_t count, uint64_t support)
{
    const kn_records_verifier *v = s->a->v;
    size_t                     touched = count_sensitive(s, records, count);
    if (v->spread) judge_spreads(s, touched, support);
    for (size_t i = 0; i < touched; i++) {
        uint32_t   rank = s->touched[i];
        int        cls = class_of_rank(s->a, rank);
        kn_vshare *share = &s->task->shares[cls];
        if (v->classes[cls].model >= 0) {
            kn_vshare_add(share, s->count[rank], support);
            share->violations += !kn_vshare_holds(v->classes[cls].l, s->count[rank], support);
        }
        s->count[rank] = 0;
    }
}

static void note(seeker *s, const uint32_t *records, size_t count, uint64_t support, int lacking)
{
    task *t = s->task;
    if (support < t->least) t->least = support;
    if (s->a->v->diverse) judge_shares(s, records, count, support);
    if (support >= s->a->k) return;
    t->violations++;
    if (t->record >= 0) return;
    t->record = s->a->view.record[records[0]];
    t->support = (int64_t)support;
    t->labels = s->size;
    t->relations = s->known_count;
    t->lacking = lacking;
}

/* The labels after `after` that the records have and that can be afforded: counted, in seen[depth]. */
static bool count_labels(seeker *s, int depth, const uint32_t *records, size_t count, int64_t after, int budget)
{
    const kn_vview *w = &s->a->view;
    numbers        *seen = &s->seen[depth];
    uint64_t        steps = 0;
    seen->count = 0;
    for (size_t x = 0; x < count; x++) {
        uint64_t from = w->start[records[x]], to = w->start[records[x] + 1];
        if (!make_room(s, seen, seen->count + (size_t)(to - from))) return false;
        steps += to - from + 1;
        for (; from < to; from++) {
            uint32_t rank = w->ranks[from];
            if ((int64_t)rank <= after || s->a->price[rank] == 0 || s->a->price[rank] > (uint32_t)budget) continue;
            if (s->count[rank] == 0) seen->list[seen->count++] = rank;
            s->count[rank] += (uint64_t)w->weight[records[x]];
        }
    }
    count_work(s, steps);
    return true;
}

/* gone[j], all zero: how many records can j labels exclude at most? */
static void most_gone(const seeker *s, const numbers *seen, uint64_t *gone)
{
    for (size_t i = 0; i < seen->count; i++) {
        uint64_t x = s->count[seen->list[i]];
        for (int j = 1; j <= MOST_M; j++)
            if (x > gone[j]) {
                uint64_t y = gone[j];
                gone[j] = x;
                x = y;
            }
    }
    for (int j = 1; j <= MOST_M; j++) gone[j] += gone[j - 1];
}

/* Can nothing new be found below: fewer records than found so far, fewer than k, or another share? */
static bool is_enough(const seeker *s, uint64_t support, uint64_t gone)
{
    uint64_t least = s->task->least > s->a->k ? s->task->least : s->a->k;
    return !s->a->v->diverse && gone <= support && support - gone >= least;
}

static bool lack(seeker *s, int depth, const uint32_t *records, size_t count, uint64_t support, int64_t after,
                 int budget);

/* ... without one label more. */
static bool lack_one(seeker *s, int depth, const uint32_t *records, size_t count, uint64_t left, uint32_t rank,
                     int budget)
{
    numbers *rest = &s->lacking[depth];
    if (!make_room(s, rest, count)) return false;
    rest->count = 0;
    for (size_t x = 0; x < count; x++)
        if (!has_label(&s->a->view, records[x], rank)) rest->list[rest->count++] = records[x];
    note(s, rest->list, rest->count, left, depth + 1);
    return budget == 0 || lack(s, depth + 1, rest->list, rest->count, left, rank, budget);
}

/* All sets of labels after `after` that these records lack. false: out of memory. */
static bool lack(seeker *s, int depth, const uint32_t *records, size_t count, uint64_t support, int64_t after,
                 int budget)
{
    if (kn_cancelled(s->a->v->ctx) || atomic_load(&s->a->too_much)) return true;
    if (!count_labels(s, depth, records, count, after, budget)) return false;
    numbers *seen = &s->seen[depth];
    uint64_t gone[MOST_M + 1] = {0};
    most_gone(s, seen, gone);
    bool      fine = is_enough(s, support, gone[budget]);
    uint64_t *counts = kn_alloc_array(s->a->v->ctx, seen->count + 1, sizeof *counts);
    for (size_t i = 0; i < seen->count; i++) {
        if (counts) counts[i] = s->count[seen->list[i]];
        s->count[seen->list[i]] = 0;
    }
    bool ok = counts != NULL;
    for (size_t i = 0; i < seen->count && ok && !fine; i++) {
        uint32_t rank = seen->list[i];
        uint64_t left = support - counts[i];
        int      rest = budget - (int)s->a->price[rank];
        if (left > 0 && !is_enough(s, left, gone[rest])) ok = lack_one(s, depth, records, count, left, rank, rest);
    }
    kn_free(counts);
    return ok;
}

/* ---- Sets of labels and relations ---- */

/* The records with the chosen labels, with every set of relations between these from `first` on. */
static bool relate(seeker *s, const uint32_t *records, size_t count, int first)
{
    if (count == 0) return true;
    int pairs = s->size * s->size;
    if (!lack(s, 0, records, count, weigh(s, records, count), -1, s->a->m - s->size)) return false;
    for (int pair = first; pair < pairs && s->known_count < s->a->n; pair++) {
        relation r = {pair / s->size, pair % s->size};
        numbers *with = &s->related[s->known_count];
        if (!make_room(s, with, count)) return false;
        s->known[s->known_count++] = r;
        bool paths = s->a->v->spec->semantics == KN_SEMANTICS_PATHS && s->known_count > 1;
        with->count = 0;
        for (size_t x = 0; x < count; x++)
            if (has_relation(s, records[x], r) && (!paths || has_nodes(s, records[x], 0)))
                with->list[with->count++] = records[x];
        bool ok = relate(s, with->list, with->count, pair + 1);
        s->known_count--;
        if (!ok) return false;
    }
    return true;
}

/* The sets that begin with the chosen ones, as long as another label can be afforded. */
static bool choose(seeker *s, const uint32_t *records, size_t count)
{
    const kn_vview *w = &s->a->view;
    if (!relate(s, records, count, 0)) return false;
    if (s->size == 0 || s->size + 1 >= s->a->m) return true;
    uint32_t last = s->chosen[s->size - 1];
    numbers  next = {0};
    for (size_t x = 0; x < count; x++)
        for (uint64_t i = w->start[records[x]]; i < w->start[records[x] + 1]; i++) {
            uint32_t rank = w->ranks[i];
            if (rank <= last || rank >= w->known || s->count[rank]) continue;
            if (!make_room(s, &next, next.count)) {
                kn_free(next.list);
                return false;
            }
            s->count[rank] = 1;
            next.list[next.count++] = rank;
        }
    for (size_t i = 0; i < next.count; i++) s->count[next.list[i]] = 0;
    if (next.count) qsort(next.list, next.count, sizeof *next.list, kn_compare_u32);
    bool ok = true;
    count_work(s, count * (next.count + 1));
    numbers *with = &s->having[s->size];
    for (size_t i = 0; i < next.count && ok && !atomic_load(&s->a->too_much); i++) {
        ok = make_room(s, with, count);
        with->count = 0;
        for (size_t x = 0; x < count && ok; x++)
            if (has_label(w, records[x], next.list[i])) with->list[with->count++] = records[x];
        s->chosen[s->size++] = next.list[i];
        ok = ok && choose(s, with->list, with->count);
        s->size--;
    }
    kn_free(next.list);
    return ok;
}

/* ---- Tasks ---- */

static kn_status run_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    absence *a = arg;
    seeker  *s = &a->seekers[worker];
    for (int64_t i = begin; i < end; i++) {
        if (kn_cancelled(a->v->ctx)) return kn_fail_cancelled(err);
        uint32_t        list = i == 0 ? a->view.known : (uint32_t)i - 1;
        const uint32_t *records = a->records + a->start[list];
        size_t          count = (size_t)(a->start[list + 1] - a->start[list]);
        s->task = &a->tasks[i];
        s->size = i > 0;
        s->known_count = 0;
        s->chosen[0] = list;
        if (i == 0 && count > 0) note(s, records, count, weigh(s, records, count), 0);
        if (s->size < a->m && !choose(s, records, count)) return kn_vrecords_no_memory(a->v, err);
    }
    return KN_OK;
}

/* The number of original labels of each shown one whose absence may be known. *any: there are some. */
static kn_status find_prices(absence *a, bool *any, kn_error *err)
{
    const kn_records_verifier *v = a->v;
    bool                      *other = kn_alloc_array_zero(v->ctx, (size_t)v->labels + 1, sizeof *other);
    bool                      *seen = kn_alloc_array_zero(v->ctx, (size_t)v->labels + 1, sizeof *seen);
    a->price = kn_arena_array_zero(&a->view.room, (size_t)a->view.labels + 1, sizeof *a->price);
    kn_status st = other && seen && a->price ? KN_OK : kn_vrecords_no_memory(v, err);
    for (uint64_t i = 0; st == KN_OK && i < v->original.start[v->original.count]; i++) {
        uint32_t label = v->original.label[i];
        if (seen[label]) continue;
        seen[label] = true;
        const kn_spec_class *cls = v->classes[v->class_of[label]].spec;
        bool                 negative = cls && cls->negative && !kn_vlabel_sensitive(v, label);
        *any = *any || negative;
        if (v->image[label] == KN_V_NONE) continue; /* given up: nobody is ruled out by lacking it */
        uint32_t rank = a->view.rank_of[v->image[label]];
        other[rank] = other[rank] || !negative;
        a->price[rank]++;
    }
    for (uint32_t r = 0; st == KN_OK && r < a->view.labels; r++)
        if (other[r]) a->price[r] = 0;
    kn_free(other);
    kn_free(seen);
    return st;
}

/* The different records with each known label, and after them all records. */
static kn_status list_records(absence *a, kn_error *err)
{
    const kn_vview *w = &a->view;
    size_t          total = (size_t)(w->start[w->count] + (uint64_t)w->count);
    a->start = kn_arena_array_zero(&a->view.room, (size_t)w->known + 3, sizeof *a->start);
    a->records = kn_arena_array(&a->view.room, total + 1, sizeof *a->records);
    if (a->view.room.failed) return kn_vrecords_no_memory(a->v, err);
    for (uint64_t i = 0; i < w->start[w->count]; i++)
        if (w->ranks[i] < w->known) a->start[w->ranks[i] + 2]++;
    for (uint32_t r = 1; r <= w->known; r++) a->start[r + 1] += a->start[r];
    for (int64_t x = 0; x < w->count; x++)
        for (uint64_t i = w->start[x]; i < w->start[x + 1]; i++)
            if (w->ranks[i] < w->known) a->records[a->start[w->ranks[i] + 1]++] = (uint32_t)x;
    for (int64_t x = 0; x < w->count; x++) a->records[a->start[w->known] + (uint64_t)x] = (uint32_t)x;
    a->start[w->known + 1] = a->start[w->known] + (uint64_t)w->count;
    return KN_OK;
}

static kn_status make_tasks(absence *a, kn_error *err)
{
    kn_arena  *room = &a->view.room;
    int        threads = kn_context_threads(a->v->ctx);
    size_t     tasks = (size_t)a->view.known + 1, classes = (size_t)a->v->class_count;
    kn_vshare *shares = kn_arena_array_zero(room, tasks * classes + 1, sizeof *shares);
    a->seekers = kn_arena_array_zero(room, (size_t)threads, sizeof *a->seekers);
    a->tasks = kn_arena_array_zero(room, tasks, sizeof *a->tasks);
    size_t      models = (size_t)a->v->spec->model_count, labels = (size_t)a->view.labels + 1;
    kn_vspread *spreads = kn_arena_array_zero(room, tasks * models + 1, sizeof *spreads);
    if (room->failed) return kn_vrecords_no_memory(a->v, err);
    int64_t found = a->v->report->k;
    for (size_t i = 0; i < tasks; i++)
        a->tasks[i] = (task){.least = found > 0 ? (uint64_t)found : UINT64_MAX,
                             .record = -1,
                             .shares = shares + i * classes,
                             .spreads = spreads + i * models};
    for (int i = 0; i < threads; i++) {
        a->seekers[i].a = a;
        a->seekers[i].count = kn_arena_array_zero(room, labels, sizeof *a->seekers[i].count);
        a->seekers[i].spread = kn_arena_array(room, labels, sizeof *a->seekers[i].spread);
        a->seekers[i].touched = kn_arena_array(room, labels, sizeof *a->seekers[i].touched);
    }
    return room->failed ? kn_vrecords_no_memory(a->v, err) : KN_OK;
}

static void absence_free(absence *a)
{
    for (int i = 0; a->seekers && i < kn_context_threads(a->v->ctx); i++) {
        seeker *s = &a->seekers[i];
        for (size_t j = 0; j < sizeof s->related / sizeof *s->related; j++) kn_free(s->related[j].list);
        for (int j = 0; j <= MOST_M; j++) {
            kn_free(s->having[j].list);
            kn_free(s->lacking[j].list);
            kn_free(s->seen[j].list);
        }
    }
    kn_arena_free(&a->view.room);
}

/* ---- What came out ---- */

static void report_all(const absence *a)
{
    kn_records_verifier      *v = a->v;
    kn_records_verify_report *r = v->report;
    uint64_t                  least = UINT64_MAX;
    int64_t                   violations = 0;
    int                       shown = 0;
    for (uint32_t i = 0; i <= a->view.known; i++) {
        if (a->tasks[i].least < least) least = a->tasks[i].least;
        violations += a->tasks[i].violations;
    }
    if (least != UINT64_MAX) r->k = (int64_t)least;
    r->violations += violations;
    if (violations > 0)
        kn_vproblem(v->notes,
                    "%" PRId64 " combination%s with absent values %s found in fewer than %" PRId64
                    " records; the rarest in %" PRId64,
                    violations, violations == 1 ? "" : "s", violations == 1 ? "is" : "are", v->spec->kmn.k, r->k);
    for (uint32_t i = 0; i <= a->view.known && shown < SHOWN; i++) {
        const task *t = &a->tasks[i];
        if (t->record < 0) continue;
        char known[100] = "";
        int  used = 0;
        if (t->labels > 0)
            used = snprintf(known, sizeof known, "%d value%s and ", t->labels, t->labels == 1 ? "" : "s");
        if (t->relations > 0)
            snprintf(known + used, sizeof known - (size_t)used, "%d relation%s and ", t->relations,
                     t->relations == 1 ? "" : "s");
        shown++;
        kn_vproblem(v->notes,
                    "record %" PRId64 ": whoever knows %sthat %d of the values shown %s absent finds %" PRId64
                    " record%s, fewer than %" PRId64,
                    t->record + 1, known, t->lacking, t->lacking == 1 ? "is" : "are", t->support,
                    t->support == 1 ? "" : "s", v->spec->kmn.k);
    }
}

static void report_spread(const absence *a, int model, kn_verified_model *m)
{
    kn_vspread worst = {.reached = m->reached, .any = true, .violations = 0};
    for (uint32_t t = 0; t <= a->view.known; t++) {
        const kn_vspread *x = &a->tasks[t].spreads[model];
        if (x->any) kn_vspread_add(&worst, &m->model, x->reached, x->violations);
    }
    m->reached = worst.reached;
    if (worst.violations == 0) return;
    m->classes += worst.violations;
    m->holds = false;
    kn_vproblem(
        a->v->notes,
        "whoever knows what is absent finds records whose values of class \"%s\" are less diverse than promised",
        m->model.attribute);
}

/* The shares for attackers who know absences, in addition to those of count.c. */
static void report_shares(const absence *a)
{
    kn_records_verifier *v = a->v;
    for (int i = 0; i < v->spec->model_count; i++) {
        kn_verified_model *m = &v->notes->models[i];
        int                c = kn_vrecords_class_of_model(v, &m->model);
        kn_vshare          worst = {0, 0, 0};
        for (uint32_t t = 0; c >= 0 && t <= a->view.known; t++) {
            worst.violations += a->tasks[t].shares[c].violations;
            kn_vshare_add(&worst, a->tasks[t].shares[c].with, a->tasks[t].shares[c].of);
        }
        if (c >= 0 && kn_vspread_asked(&m->model)) report_spread(a, i, m);
        if (worst.of == 0) continue;
        double largest = (double)worst.with / (double)worst.of;
        if (largest > v->report->largest_share) v->report->largest_share = largest;
        if (kn_vspread_asked(&m->model)) continue;
        if (!kn_vshare_holds(m->model.l, worst.with, worst.of)) {
            m->classes += worst.violations;
            m->holds = false;
            kn_vproblem(v->notes,
                        "whoever knows what is absent finds %" PRIu64 " records, of which %" PRIu64
                        " have the same value of class \"%s\"",
                        worst.of, worst.with, v->classes[c].spec->name);
        }
        if ((double)worst.of / (double)worst.with < m->reached) m->reached = (double)worst.of / (double)worst.with;
    }
}

static kn_status seek(absence *a, kn_error *err)
{
    kn_records_verifier *v = a->v;
    bool                 any = false;
    KN_TRY(kn_vview_make(&a->view, v, err));
    KN_TRY(find_prices(a, &any, err));
    if (!any) return KN_OK;
    uint64_t most = a->view.most_labels; /* attackers know no more: of a record, and of what the others have */
    for (uint32_t r = 0; r < a->view.known; r++) most += a->price[r];
    a->m = (uint64_t)v->spec->kmn.m < most ? v->spec->kmn.m : (int)most;
    a->k = (uint64_t)v->spec->kmn.k;
    a->n = v->spec->kmn.n < MOST_M * MOST_M ? v->spec->kmn.n : MOST_M * MOST_M;
    if (a->m > MOST_M || a->view.count >= UINT32_MAX) atomic_store(&a->too_much, true);
    if (!atomic_load(&a->too_much)) {
        KN_TRY(list_records(a, err));
        KN_TRY(make_tasks(a, err));
        KN_TRY(kn_parallel_for(v->ctx, (int64_t)a->view.known + 1, 1, run_range, a, err));
    }
    if (kn_cancelled(v->ctx)) return kn_fail_cancelled(err);
    if (atomic_load(&a->too_much)) {
        kn_vopen(v->notes, "whether the promise holds: there are too many combinations with absent values to count");
        v->report->decided = false;
        v->report->k = 0;
        return KN_OK;
    }
    report_all(a);
    if (v->diverse) report_shares(a);
    return KN_OK;
}

kn_status kn_vrecords_absent(kn_records_verifier *v, kn_error *err)
{
    absence a = {.v = v};
    atomic_init(&a.work, 0);
    atomic_init(&a.too_much, false);
    kn_status st = seek(&a, err);
    absence_free(&a);
    return st;
}
