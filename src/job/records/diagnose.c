/* records/diagnose.c: kn_diagnose_records of kanon/records.h: whom somebody finds who knows some values and relations of a record.
 *
 * Cost: reading, and every combination that occurs (kn_record_sets.h).
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_arena.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_options.h"
#include "kn_record_sets.h"
#include "kn_spec_records.h"

static const char what[] = "diagnosing tree records";

/* The diagnosis with what it points to. */
typedef struct report {
    kn_records_diagnosis diagnosis;
    kn_arena             arena;
} report;

void kn_records_diagnosis_free(kn_records_diagnosis *diagnosis)
{
    if (!diagnosis) return;
    report *r = (report *)diagnosis;
    kn_arena_free(&r->arena);
    kn_free(r);
}

/* ---- Classes ---- */

/* How many records, nodes and values each class has; `seen` is per value, `last` per class. */
static void count_nodes(kn_diagnosed_class *classes, const kn_records *x, bool *seen, int64_t *last)
{
    const kn_vocabulary *v = x->vocabulary;
    for (int64_t r = 0; r < x->count; r++)
        for (uint64_t i = x->start[r]; i < x->start[r + 1]; i++) {
            uint32_t            value = x->value[i];
            kn_diagnosed_class *c = &classes[v->cls[value]];
            c->nodes++;
            c->values += !seen[value];
            seen[value] = true;
            c->records += last[v->cls[value]] != r + 1;
            last[v->cls[value]] = r + 1;
        }
}

static kn_status tell_classes(report *to, const kn_records *x, kn_error *err)
{
    const kn_vocabulary *v = x->vocabulary;
    kn_context          *ctx = to->arena.ctx;
    kn_diagnosed_class  *classes = kn_arena_array_zero(&to->arena, (size_t)v->class_count, sizeof *classes);
    bool                *seen = kn_alloc_array_zero(ctx, (size_t)v->nodes, sizeof *seen);
    int64_t             *last = kn_alloc_array_zero(ctx, (size_t)v->class_count, sizeof *last);
    bool                 fine = classes && seen && last;
    for (int c = 0; c < v->class_count && fine; c++) {
        classes[c].name = kn_arena_strndup(&to->arena, v->class_names[c], strlen(v->class_names[c]));
        classes[c].sensitive = v->sensitive[c];
        classes[c].negative = v->negative[c];
    }
    if (fine) count_nodes(classes, x, seen, last);
    KN_FREE(seen, last);
    to->diagnosis.classes = classes;
    to->diagnosis.class_count = v->class_count;
    to->diagnosis.records = x->count;
    to->diagnosis.nodes = (int64_t)x->nodes;
    to->diagnosis.merged = x->merged;
    return fine && !to->arena.failed ? KN_OK : kn_fail_memory(err, ctx, what);
}

static kn_status tell_dropped(report *to, const kn_records *x, kn_error *err)
{
    const char **names = kn_arena_array(&to->arena, (size_t)x->ignored_count + 1, sizeof *names);
    for (int i = 0; names && i < x->ignored_count; i++)
        names[i] = kn_arena_strndup(&to->arena, x->ignored[i], strlen(x->ignored[i]));
    to->diagnosis.dropped = names;
    to->diagnosis.dropped_count = x->ignored_count;
    return to->arena.failed ? kn_fail_memory(err, to->arena.ctx, what) : KN_OK;
}

/* ---- Combinations ---- */

static kn_status tell_sets(report *to, const kn_record_sets *found, kn_error *err)
{
    kn_records_diagnosis *d = &to->diagnosis;
    kn_known_classes     *known = kn_arena_array(&to->arena, (size_t)found->set_count + 1, sizeof *known);
    kn_records_reach     *reach = kn_arena_array(&to->arena, (size_t)found->reach_count, sizeof *reach);
    if (!known || !reach) return kn_fail_memory(err, to->arena.ctx, what);
    for (int64_t i = 0; i < found->set_count; i++) {
        const kn_record_set *s = &found->sets[i];
        known[i] = (kn_known_classes){s->class_count, s->classes, s->relations, s->combinations,
                                      s->least,       s->unique,  s->below};
    }
    for (int i = 0; i < found->reach_count; i++) {
        const kn_record_reach *r = &found->reach[i];
        reach[i] = (kn_records_reach){r->m, r->n, r->unique, r->below, r->first_unique, r->first_below};
    }
    d->known = known;
    d->known_count = found->set_count;
    d->reach = reach;
    d->reach_count = found->reach_count;
    d->unique_records = reach[d->reach_count - 1].unique_records;
    d->below_records = reach[d->reach_count - 1].below_records;
    d->holds = d->below_records == 0;
    return KN_OK;
}

static kn_status run(report *to, const kn_spec *spec, const kn_records_diagnose_options *options, kn_error *err)
{
    kn_records          *records = NULL;
    kn_record_sets       found;
    kn_kmn               asked = to->diagnosis.asked;
    kn_record_sets_asked sets = {asked.k, asked.m, asked.n, spec->semantics == KN_SEMANTICS_PATHS};
    KN_TRY(kn_records_read_original(&records, to->arena.ctx, spec, options->inputs, options->input_count, err));
    kn_status st = tell_classes(to, records, err);
    if (st == KN_OK) st = tell_dropped(to, records, err);
    if (st == KN_OK) st = kn_record_sets_count(&found, &to->arena, records, &sets, err);
    if (st == KN_OK) st = tell_sets(to, &found, err);
    kn_records_free(records);
    return st;
}

/* What was asked, else what the spec promises, else the usual. */
static kn_kmn asked_kmn(const kn_spec *spec, kn_kmn asked)
{
    kn_kmn usual = spec->kmn.k > 0 ? spec->kmn : (kn_kmn){2, 2, 1};
    if (asked.k == 0) asked.k = usual.k;
    return asked.m == 0 ? (kn_kmn){asked.k, usual.m, usual.n} : asked;
}

kn_status kn_diagnose_records(kn_records_diagnosis **out, kn_context *ctx, const kn_spec *spec,
                              const kn_records_diagnose_options *options, kn_error *err)
{
    *out = NULL;
    KN_SERVE(ctx, err);
    if (!spec) return kn_fail(err, KN_USAGE, "diagnose: the spec is missing");
    KN_OPTIONS(kn_records_diagnose_options, KN_RECORDS_DIAGNOSE_OPTIONS_INIT, options, "diagnose options", err);
    kn_kmn asked = asked_kmn(spec, options->kmn);
    if (asked.k < 1 || asked.m < 1 || asked.m > KN_RECORD_SETS_MOST_M)
        return kn_fail(err, KN_USAGE, "k is at least 1, and m from 1 to %d", KN_RECORD_SETS_MOST_M);
    if (asked.n < 0 || asked.n > asked.m * (asked.m - 1) / 2)
        return kn_fail(err, KN_USAGE,
                       "n is from 0 to %d where m is %d: there are no more relations between so few values",
                       asked.m * (asked.m - 1) / 2, asked.m);
    report *to = kn_alloc_zero(ctx, sizeof *to);
    if (!to) return kn_fail_memory(err, ctx, what);
    kn_arena_init(&to->arena, ctx);
    to->diagnosis.asked = asked;
    kn_status st = run(to, spec, options, err);
    if (st == KN_OK)
        *out = &to->diagnosis;
    else
        kn_records_diagnosis_free(&to->diagnosis);
    return st;
}
