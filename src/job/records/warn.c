/* records/warn.c: notes on what a release of tree records does not promise although its owner may think so.
 *
 * k^(m,n) says how many records somebody finds, not what these have in common. For each value that somebody may know:
 * do all released records with it have one and the same value of a sensitive class? Combinations of several known
 * values are not checked. A class with a promise of l-diversity (l >= 2) needs no note. Another note is on sensitive
 * free text.
 *
 * Cost: per node of a released record one pass over the sensitive values that the earlier records have in common: at
 * most those of one record. Memory: a list of these per value.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_kept.h"
#include "kn_records_run.h"

enum { FEW_VALUES = 10 }; /* with fewer nodes nothing looks like free text  */

static const char warning[] = "looking for what a release gives away";

/* The sensitive values of one class that all records with a value had so far. */
typedef struct common {
    uint32_t *values;
    uint32_t  count;
    int64_t   records;
    int64_t   last; /* record + 1 */
} common;

typedef struct watching {
    kn_records_run *run;
    kn_arena        room;
    int             cls;
    common         *of;  /* per value */
    uint32_t       *own; /* of the current record */
    uint32_t        own_count;
} watching;

static bool promised(const kn_spec *spec, const char *name)
{
    for (int i = 0; i < spec->model_count; i++)
        if (spec->models[i].attribute && strcmp(spec->models[i].attribute, name) == 0 &&
            spec->models[i].l.numerator >= 2 * spec->models[i].l.denominator)
            return true;
    return false;
}

static bool is_known(const kn_vocabulary *v, uint32_t value)
{
    return v->cls[value] == KN_VOCABULARY_NO_CLASS || !v->sensitive[v->cls[value]];
}

/* What remains in common after one more record with the value. */
static bool meet(watching *w, common *c, int64_t record)
{
    if (c->last == record + 1) return true;
    c->last = record + 1;
    if (c->records++ == 0) {
        c->values = kn_arena_array(&w->room, (size_t)w->own_count + 1, sizeof *c->values);
        if (!c->values) return false;
        if (w->own_count) memcpy(c->values, w->own, w->own_count * sizeof *w->own);
        c->count = w->own_count;
        return true;
    }
    uint32_t left = 0;
    for (uint32_t i = 0; i < c->count; i++)
        for (uint32_t j = 0; j < w->own_count; j++)
            if (c->values[i] == w->own[j]) {
                c->values[left++] = c->values[i];
                break;
            }
    c->count = left;
    return true;
}

static bool look_at(watching *w, int64_t record)
{
    const kn_records    *r = w->run->released;
    const kn_vocabulary *v = r->vocabulary;
    w->own_count = 0;
    for (uint64_t i = r->start[record]; i < r->start[record + 1]; i++)
        if (v->cls[r->value[i]] == w->cls) w->own[w->own_count++] = r->value[i];
    for (uint64_t i = r->start[record]; i < r->start[record + 1]; i++)
        if (is_known(v, r->value[i]) && !meet(w, &w->of[r->value[i]], record)) return false;
    return true;
}

static kn_status look_at_class(watching *w, kn_error *err)
{
    const kn_records    *r = w->run->released;
    const kn_vocabulary *v = r->vocabulary;
    int64_t              telling = 0;
    uint64_t             widest = 0;
    for (int64_t i = 0; i < r->count; i++)
        if (r->start[i + 1] - r->start[i] > widest) widest = r->start[i + 1] - r->start[i];
    w->of = kn_arena_array_zero(&w->room, v->nodes, sizeof *w->of);
    w->own = kn_arena_array(&w->room, (size_t)widest + 1, sizeof *w->own);
    bool ok = !w->room.failed;
    for (int64_t i = 0; i < r->count && ok; i++) ok = look_at(w, i);
    for (uint32_t u = 0; u < v->nodes && ok; u++) telling += w->of[u].records > 0 && w->of[u].count > 0;
    kn_arena_free(&w->room);
    if (!ok) return kn_fail_memory(err, w->run->all.ctx, warning);
    if (telling == 0) return KN_OK;
    return kn_release_note(
        &w->run->all, err,
        "class \"%s\": %lld of the values that may be known give a sensitive value away, since all who "
        "have one of them have the same; l-diversity would not allow it",
        v->class_names[w->cls], (long long)telling);
}

/* As for a table: of at least 10 nodes more than half show different texts. `seen`: one entry per value, all zero. */
static kn_status look_for_texts(kn_records_run *run, int cls, bool *seen, kn_string *values, kn_error *err)
{
    const kn_records    *r = run->released;
    const kn_vocabulary *v = r->vocabulary;
    int64_t              nodes = 0;
    uint32_t             count = 0;
    bool                 texts = false;
    for (uint64_t i = 0; i < r->start[r->count]; i++) {
        if (v->cls[r->value[i]] != cls) continue;
        nodes++;
        if (!seen[r->value[i]]) values[count++] = kn_vocabulary_label(v, r->value[i]);
        seen[r->value[i]] = true;
    }
    if (nodes < FEW_VALUES || 2 * (int64_t)count <= nodes) return KN_OK;
    KN_TRY(kn_kept_are_texts(run->all.ctx, values, count, run->all.spec->csv.decimal, &texts, err));
    if (!texts) return KN_OK;
    return kn_release_note(
        &run->all, err,
        "class \"%s\" is published as it is, and so many different texts look like free text, which may name people",
        v->class_names[cls]);
}

static kn_status warn_of_texts(kn_records_run *run, kn_error *err)
{
    const kn_vocabulary *v = run->released->vocabulary;
    bool                *seen = kn_alloc_array_zero(run->all.ctx, (size_t)v->nodes + 1, sizeof *seen);
    kn_string           *values = kn_alloc_array(run->all.ctx, (size_t)v->nodes + 1, sizeof *values);
    kn_status            st = seen && values ? KN_OK : kn_fail_memory(err, run->all.ctx, warning);
    for (int c = 0; c < v->class_count && st == KN_OK; c++)
        if (v->sensitive[c]) st = look_for_texts(run, c, seen, values, err);
    kn_free(seen);
    kn_free(values);
    return st;
}

kn_status kn_records_run_warn(kn_release_run *all, kn_error *err)
{
    kn_records_run      *run = kn_records_run_of(all);
    const kn_vocabulary *v = run->released->vocabulary;
    KN_TRY(warn_of_texts(run, err));
    for (int c = 0; c < v->class_count; c++) {
        watching w = {.run = run, .room = {.ctx = all->ctx}, .cls = c};
        if (v->sensitive[c] && !promised(run->all.spec, v->class_names[c])) KN_TRY(look_at_class(&w, err));
    }
    return KN_OK;
}
