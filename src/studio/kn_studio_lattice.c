/* kn_studio_lattice.c: the lattice of levels around one choice, each node examined: does it keep every promise, and what
 * does it lose? (kn_studio_question.h)
 *
 * Nodes are taken in the order of their distance from that choice, at most MOST_NODES, and examined for some seconds: each
 * costs a grouping of the table, which is read from memory. What there was no time for is said to be so.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <kanon/memory.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kn_studio_question.h"

enum { MOST_NODES = 160, MOST_DIMENSIONS = 64, MOST_SECONDS = 60 };

typedef struct lattice {
    kn_studio_question *q;
    int                 dimensions;
    int                 low[MOST_DIMENSIONS], high[MOST_DIMENSIONS], heights[MOST_DIMENSIONS];
    int                 count;
    int                 levels[MOST_NODES][MOST_DIMENSIONS];
    json_t             *nodes, *names;
    const char         *metric;
    int64_t             budget;
    double              until; /* on the clock */
} lattice;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- Which nodes ---- */

static void add_node(lattice *l, const int *levels)
{
    size_t size = (size_t)l->dimensions * sizeof *levels;
    for (int i = 0; i < l->count; i++)
        if (memcmp(l->levels[i], levels, size) == 0) return;
    if (l->count < MOST_NODES) memcpy(l->levels[l->count++], levels, size);
}

/* From the first node on, the neighbours of each in turn: the nearest ones come first. */
static void gather(lattice *l)
{
    for (int i = 0; i < l->count && l->count < MOST_NODES; i++)
        for (int d = 0; d < l->dimensions; d++)
            for (int by = -1; by <= 1; by += 2) {
                int levels[MOST_DIMENSIONS];
                memcpy(levels, l->levels[i], sizeof levels);
                levels[d] += by;
                if (levels[d] >= l->low[d] && levels[d] <= l->high[d]) add_node(l, levels);
            }
}

/* ---- One node ---- */

static kn_status set_levels(kn_studio_question *q, const int *levels, int count, kn_error *err)
{
    char   text[MOST_DIMENSIONS * 12 + 3] = "[";
    size_t at = 1;
    for (int i = 0; i < count; i++) at += (size_t)snprintf(text + at, sizeof text - at, i ? ", %d" : "%d", levels[i]);
    snprintf(text + at, sizeof text - at, "]");
    return kn_spec_set(q->spec, "levels", text, "levels", err);
}

static json_t *node_json(const lattice *l, const int *levels, const kn_explanation *found)
{
    json_t *list = json_array();
    for (int i = 0; i < l->dimensions; i++) json_array_append_new(list, json_integer(levels[i]));
    if (!found) return json_pack("{s:o, s:b}", "levels", list, "examined", false);
    json_t *loss = isfinite(found->loss) ? json_real(found->loss) : json_null();
    return json_pack("{s:o, s:b, s:b, s:I, s:I, s:o}", "levels", list, "examined", true, "holds", found->holds,
                     "suppressed", (json_int_t)found->suppressed, "classes", (json_int_t)found->classes, "loss", loss);
}

/* The first one says how high the hierarchies are. */
static void take_heights(lattice *l, const kn_explanation *found)
{
    l->metric = kn_metric_name(found->metric);
    l->budget = found->budget;
    for (int i = 0; i < l->dimensions; i++) {
        const kn_attribute *a = kn_spec_attribute_at(l->q->spec, kn_spec_find(l->q->spec, found->quasi[i]));
        l->heights[i] = found->heights[i];
        l->low[i] = a->min_level > 0 ? (int)a->min_level : 0;
        l->high[i] = a->max_level >= 0 && a->max_level < found->heights[i] ? (int)a->max_level : found->heights[i];
        json_array_append_new(l->names, json_string(found->quasi[i]));
    }
}

static kn_status examine(lattice *l, int at, kn_error *err)
{
    kn_explanation *found = NULL;
    bool            enough = at > 0 && now() > l->until;
    kn_status       st = enough ? KN_OK : set_levels(l->q, l->levels[at], l->dimensions, err);
    if (!enough && st == KN_OK) st = kn_explain(&found, l->q->ctx, l->q->spec, err);
    if (st == KN_OK && at == 0) take_heights(l, found);
    if (st == KN_OK) json_array_append_new(l->nodes, node_json(l, l->levels[at], found));
    kn_explanation_free(found);
    return st;
}

/* ---- Where to begin ---- */

/* The highest levels that may be taken. */
static kn_status highest(lattice *l, int *levels, kn_error *err)
{
    kn_explanation *found = NULL;
    for (int i = 0; i < l->dimensions; i++) {
        const kn_attribute *a = kn_spec_attribute_at(l->q->spec, kn_spec_find(l->q->spec, l->q->names[i]));
        levels[i] = a->min_level > 0 ? (int)a->min_level : 0;
    }
    kn_status st = set_levels(l->q, levels, l->dimensions, err);
    if (st == KN_OK) st = kn_explain(&found, l->q->ctx, l->q->spec, err);
    for (int i = 0; st == KN_OK && i < l->dimensions; i++) {
        const kn_attribute *a = kn_spec_attribute_at(l->q->spec, kn_spec_find(l->q->spec, l->q->names[i]));
        levels[i] = a->max_level >= 0 && a->max_level < found->heights[i] ? (int)a->max_level : found->heights[i];
    }
    kn_explanation_free(found);
    return st;
}

/* The levels that are given, or else those of the optimum, or else (there is none) the highest. */
static kn_status begin(lattice *l, kn_error *err)
{
    kn_studio_question  *q = l->q;
    json_t              *given = json_object_get(q->job->params, "levels");
    kn_anonymize_options options = KN_ANONYMIZE_OPTIONS_INIT;
    kn_release_result   *best = NULL;
    int                  levels[MOST_DIMENSIONS] = {0};
    kn_status            st = KN_OK;
    if (json_is_array(given) && json_array_size(given) != (size_t)l->dimensions)
        return kn_studio_error(err, KN_USAGE, "one level for each quasi-identifier is needed");
    for (int i = 0; i < l->dimensions; i++) levels[i] = (int)json_integer_value(json_array_get(given, (size_t)i));
    if (!json_is_array(given)) {
        options.dry_run = true;
        st = kn_anonymize(&best, q->ctx, q->spec, &options, err);
        bool found = st == KN_OK && best->head.found;
        for (int i = 0; found && i < best->level_count && i < l->dimensions; i++) levels[i] = best->levels[i];
        if (st == KN_OK && !found) st = highest(l, levels, err);
        kn_release_result_free(best);
    }
    if (st == KN_OK) add_node(l, levels);
    return st;
}

/* The question as one about levels, its table in memory. */
static kn_status prepare(lattice *l, kn_error *err)
{
    kn_studio_question *q = l->q;
    kn_status           st = kn_studio_need_table(q, err);
    if (st == KN_OK) st = kn_studio_need_names(q, err);
    if (st == KN_OK && q->name_count > MOST_DIMENSIONS)
        st = kn_studio_error(err, KN_USAGE, "there are too many quasi-identifiers for a picture of their levels");
    if (st == KN_OK) st = kn_memory_put_table(q->ctx, "memory:studio-table", q->table->table, err);
    if (st == KN_OK) st = kn_spec_set(q->spec, "input", "\"memory:studio-table\"", "input", err);
    if (st == KN_OK) st = kn_spec_set(q->spec, "method", "optimal", "method", err);
    if (st == KN_OK) st = kn_spec_set(q->spec, "levels", "[]", "levels", err);
    if (st == KN_OK) st = kn_studio_check_unwritten(q, err);
    l->dimensions = q->name_count;
    return st;
}

kn_status kn_studio_answer_lattice(kn_studio_question *q, kn_error *err)
{
    lattice *l = calloc(1, sizeof *l);
    if (!l) return kn_studio_error(err, KN_MEMORY, "out of memory while looking at levels");
    l->q = q;
    l->nodes = json_array();
    l->names = json_array();
    kn_status st = prepare(l, err);
    if (st == KN_OK) st = begin(l, err);
    int64_t seconds = kn_studio_number(q, "seconds", 4);
    l->until = now() + (double)(seconds < 0 || seconds > MOST_SECONDS ? MOST_SECONDS : seconds);
    if (st == KN_OK) st = examine(l, 0, err);
    if (st == KN_OK) gather(l);
    for (int i = 1; i < l->count && st == KN_OK; i++) st = examine(l, i, err);
    if (st == KN_OK) {
        json_t *heights = json_array();
        double  total = 1;
        for (int i = 0; i < l->dimensions; i++) {
            json_array_append_new(heights, json_integer(l->heights[i]));
            total *= l->high[i] - l->low[i] + 1;
        }
        q->own = json_pack("{s:O, s:o, s:f, s:s, s:I, s:O}", "columns", l->names, "heights", heights, "total", total,
                           "metric", l->metric, "budget", (json_int_t)l->budget, "nodes", l->nodes);
    }
    json_decref(l->nodes);
    json_decref(l->names);
    free(l);
    return st;
}
