/* kn_demo_keys.c: candidates in joins whose keys are ranges of persons (kn_demo.h, kn_demo_release.h).
 *
 * A person may be the target if each row of the target, in every join, can be a different row of the release whose cells
 * cover it and whose range of persons holds that person. (An attacker who also weighed whose the other rows are would find
 * fewer.) Rows of a class are alike, so that rows are assigned to classes, each of which takes as many as it has.
 *
 * Persons between two ends of ranges are in the same ranges: one assignment is looked for per such interval.
 * What a candidate shows in a sensitive column is certain if each row can be in one class only, of which all rows show
 * the same value or all are the target's.
 *
 * Cost: per target, its rows × classes, then intervals × an assignment of its rows.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_compare.h"
#include "kn_context.h"
#include "kn_demo.h"
#include "kn_error.h"
#include "kn_parallel.h"

static const char what[] = "attacking a database";

/* A class that may hold rows of the target. */
typedef struct place {
    int join;
    uint32_t class;
    int64_t low, high;
    size_t  room, used;
} place;

/* A row of the target: places first .. first + count of `options`. */
typedef struct row {
    int    join;
    size_t row, first, count;
    size_t at; /* its place; SIZE_MAX: none */
    bool   tried;
} row;

/* One target. */
typedef struct target {
    const kn_demo_keys_input *in;
    kn_context               *ctx;
    place                    *places;
    size_t                    place_count, place_capacity;
    row                      *rows;
    size_t                    row_count, row_capacity;
    size_t                   *options;
    size_t                    option_count, option_capacity;
    int64_t                  *ends; /* where intervals begin */
    size_t                    end_count, end_capacity;
    uint32_t                 *codes; /* of a sensitive column: what a candidate shows */
    size_t                    code_count, code_capacity;
    uint32_t                 *told; /* per sensitive column: what the first one shows */
    size_t                   *told_count, told_capacity, told_count_capacity;
} target;

/* ---- What rows may be ---- */

static kn_status add_place(target *t, int join, uint32_t class, size_t *at, kn_error *err)
{
    place p = {.join = join, .class = class};
    for (*at = 0; *at < t->place_count; (*at)++)
        if (t->places[*at].join == join && t->places[*at].class == class) return KN_OK;
    if (!KN_GROW(t->ctx, &t->places, &t->place_capacity, t->place_count + 1) ||
        !KN_GROW(t->ctx, &t->ends, &t->end_capacity, t->end_count + 2))
        return kn_fail_memory(err, t->ctx, what);
    kn_demo_keyed_range(t->in->joins[join], class, &p.low, &p.high);
    (void)kn_demo_keyed_rows(t->in->joins[join], class, &p.room);
    t->ends[t->end_count++] = p.low;
    t->ends[t->end_count++] = p.high + 1;
    t->places[t->place_count++] = p;
    return KN_OK;
}

static kn_status add_row(target *t, int join, size_t at, kn_error *err)
{
    const kn_demo_keyed *keyed = t->in->joins[join];
    row                  r = {.join = join, .row = at, .first = t->option_count};
    for (uint32_t class = 0; class < kn_demo_keyed_classes(keyed); class ++) {
        size_t option;
        if (!kn_demo_keyed_covers(keyed, class, at)) continue;
        KN_TRY(add_place(t, join, class, &option, err));
        if (!KN_GROW(t->ctx, &t->options, &t->option_capacity, t->option_count + 1))
            return kn_fail_memory(err, t->ctx, what);
        t->options[t->option_count++] = option;
    }
    r.count = t->option_count - r.first;
    if (!KN_GROW(t->ctx, &t->rows, &t->row_capacity, t->row_count + 1)) return kn_fail_memory(err, t->ctx, what);
    t->rows[t->row_count++] = r;
    return KN_OK;
}

static kn_status look_up(target *t, int64_t entity, kn_error *err)
{
    t->place_count = t->row_count = t->option_count = t->end_count = 0;
    for (int join = 0; join < t->in->join_count; join++) {
        const size_t *first = kn_demo_keyed_first(t->in->joins[join]);
        for (size_t at = first[entity]; at < first[entity + 1]; at++) KN_TRY(add_row(t, join, at, err));
    }
    if (t->end_count > 0) qsort(t->ends, t->end_count, sizeof *t->ends, kn_compare_i64);
    return KN_OK;
}

/* ---- One interval ---- */

static bool holds(const place *p, int64_t person)
{
    return p->low <= person && person <= p->high;
}

/* A place for one more row; others may move. */
static bool assign(target *t, row *r, int64_t person)
{
    if (r->tried) return false;
    r->tried = true;
    for (size_t i = 0; i < r->count; i++) {
        size_t at = t->options[r->first + i];
        place *p = &t->places[at];
        if (!holds(p, person)) continue;
        bool room = p->used < p->room;
        for (size_t other = 0; !room && other < t->row_count; other++)
            if (t->rows[other].at == at && assign(t, &t->rows[other], person)) {
                p->used--; /* the other one has moved */
                room = true;
            }
        if (!room) continue;
        r->at = at;
        p->used++;
        return true;
    }
    return false;
}

static bool may_be(target *t, int64_t person)
{
    for (size_t p = 0; p < t->place_count; p++) t->places[p].used = 0;
    for (size_t i = 0; i < t->row_count; i++) t->rows[i].at = SIZE_MAX;
    for (size_t i = 0; i < t->row_count; i++) {
        for (size_t j = 0; j < t->row_count; j++) t->rows[j].tried = false;
        if (!assign(t, &t->rows[i], person)) return false;
    }
    return true;
}

/* ---- Sensitive values ---- */

static uint32_t code_of(const target *t, const kn_demo_keyed *keyed, size_t at, const kn_demo_sensitive *s)
{
    const kn_forest *f = t->in->forest;
    uint64_t         node = kn_demo_keyed_node(keyed, at, s->table);
    return node == UINT64_MAX ? UINT32_MAX
                              : kn_column_code(&f->db->tables[s->table].table->columns[s->column], f->row[node]);
}

/* The join in which the attacker reads a table: the first with it. */
static int join_of(const target *t, int table)
{
    int join = 0;
    while (!kn_demo_keyed_has(t->in->joins[join], table)) join++;
    return join;
}

/* Adds what a place shows, once for each of the target's rows in it. False: it is not certain. */
static bool add_codes(target *t, size_t at, const kn_demo_sensitive *s, size_t *count)
{
    const place         *p = &t->places[at];
    const kn_demo_keyed *keyed = t->in->joins[p->join];
    size_t               size;
    const size_t        *rows = kn_demo_keyed_rows(keyed, p->class, &size);
    bool                 alike = true;
    for (size_t i = 1; i < size; i++) alike = alike && code_of(t, keyed, rows[i], s) == code_of(t, keyed, rows[0], s);
    if (!alike && p->used < size) return false;
    for (size_t i = 0; i < p->used; i++) t->codes[(*count)++] = code_of(t, keyed, rows[i], s);
    return true;
}

/* The values of a person in the interval, sorted. False: not certain. */
static bool find_codes(target *t, int64_t person, const kn_demo_sensitive *s)
{
    int    join = join_of(t, s->table);
    size_t count = 0;
    for (size_t i = 0; i < t->row_count; i++) {
        size_t options = 0;
        if (t->rows[i].join != join) continue;
        for (size_t o = 0; o < t->rows[i].count; o++)
            options += holds(&t->places[t->options[t->rows[i].first + o]], person);
        if (options != 1) return false;
    }
    for (size_t p = 0; p < t->place_count; p++)
        if (t->places[p].join == join && t->places[p].used > 0 && !add_codes(t, p, s, &count)) return false;
    qsort(t->codes, count, sizeof *t->codes, kn_compare_u32);
    while (count > 0 && t->codes[count - 1] == UINT32_MAX) count--; /* no row of the table */
    t->code_count = count;
    return count > 0;
}

/* ---- One target ---- */

static kn_status room_for_codes(target *t, kn_error *err)
{
    size_t n = (size_t)t->in->sensitive_count + 1;
    if (KN_GROW(t->ctx, &t->codes, &t->code_capacity, t->row_count + 1) &&
        KN_GROW(t->ctx, &t->told, &t->told_capacity, n * (t->row_count + 1)) &&
        KN_GROW(t->ctx, &t->told_count, &t->told_count_capacity, n))
        return KN_OK;
    return kn_fail_memory(err, t->ctx, what);
}

/* What a candidate shows must be what the first one shows. */
static void compare_codes(target *t, int64_t person, bool first, bool *certain)
{
    for (int s = 0; s < t->in->sensitive_count; s++) {
        uint32_t *told = t->told + (size_t)s * (t->row_count + 1);
        if (!first && !certain[s]) continue;
        certain[s] = find_codes(t, person, &t->in->sensitive[s]);
        if (!certain[s]) continue;
        if (first) {
            memcpy(told, t->codes, t->code_count * sizeof *told);
            t->told_count[s] = t->code_count;
        }
        certain[s] = t->told_count[s] == t->code_count && memcmp(told, t->codes, t->code_count * sizeof *told) == 0;
    }
}

static kn_status attack(target *t, int64_t entity, int64_t *candidates, bool *certain, kn_error *err)
{
    bool first = true;
    KN_TRY(look_up(t, entity, err));
    KN_TRY(room_for_codes(t, err));
    *candidates = 0;
    for (size_t i = 0; i + 1 < t->end_count; i++) {
        if (t->ends[i] == t->ends[i + 1] || !may_be(t, t->ends[i])) continue;
        *candidates += t->ends[i + 1] - t->ends[i];
        compare_codes(t, t->ends[i], first, certain);
        first = false;
    }
    return KN_OK;
}

typedef struct job {
    kn_context               *ctx;
    const kn_demo_keys_input *in;
    kn_demo_found            *out;
} job;

static kn_status attack_some(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const job *j = arg;
    target     t = {.in = j->in, .ctx = j->ctx};
    kn_status  st = KN_OK;
    (void)worker;
    for (int64_t i = begin; st == KN_OK && i < end; i++)
        st = attack(&t, j->in->targets[i], &j->out->candidates[i],
                    j->out->certain + i * (int64_t)j->in->sensitive_count, err);
    KN_FREE(t.places, t.rows, t.options, t.ends, t.codes, t.told, t.told_count);
    return st;
}

kn_status kn_demo_count_keys(kn_demo_found *out, kn_context *ctx, const kn_demo_keys_input *in, kn_error *err)
{
    size_t n = (size_t)in->target_count;
    job    j = {ctx, in, out};
    *out = (kn_demo_found){0};
    out->candidates = kn_alloc_array_zero(ctx, n + 1, sizeof *out->candidates);
    out->certain = kn_alloc_array_zero(ctx, n * (size_t)in->sensitive_count + 1, sizeof *out->certain);
    if (!out->candidates || !out->certain) return kn_fail_memory(err, ctx, what);
    return kn_parallel_for(ctx, in->target_count, 8, attack_some, &j, err);
}
