/* table/where_classes.c: which class shows a combination of quasi-identifiers, told to the engine that holds the rows (table/where_kept.c).
 *
 * For releases without a level per column, whose classes have cells of their own. A combination of the original that exactly one
 * class stands for can have become that class alone; if this is so of all, originals are counted by class just as released rows are,
 * and the engine can compare them. Where a combination may belong to several classes only a search for an assignment decides
 * (table/match.c).
 *
 * Tables in the engine: kanon_classes_0 of the original, kanon_classes_1 of the release: n0, n1, ...: the numbers of a
 * combination's values, or of a class's texts; then the class.
 *
 * Cost: one search (table/cover.c) per combination. Memory: 8 bytes for each of its numbers.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_alloc.h"
#include "kn_connection.h"
#include "kn_error.h"
#include "kn_verify_internal.h"

static kn_status no_memory(const kn_verifier *v, kn_error *err)
{
    return kn_fail_memory(err, v->ctx, "verifying");
}

/* Room for so many combinations and their classes. */
static kn_status make_numbers(kn_numbers *out, const kn_verifier *v, int64_t rows, kn_error *err)
{
    *out = (kn_numbers){.count = v->quasi_count + 1, .rows = rows};
    out->columns = kn_alloc_array_zero(v->ctx, (size_t)out->count, sizeof *out->columns);
    bool room = out->columns != NULL;
    for (int i = 0; room && i < out->count; i++)
        room = (out->columns[i] = kn_alloc_array(v->ctx, (size_t)rows + 1, sizeof **out->columns)) != NULL;
    return room ? KN_OK : no_memory(v, err);
}

/* ---- The original ---- */

typedef struct covering {
    int      count;
    uint32_t found;
} covering;

static bool note_class(void *arg, uint32_t class_number)
{
    covering *c = arg;
    c->found = class_number;
    return ++c->count < 2;
}

static kn_status group_original(kn_vgroups *out, const kn_verifier *v, kn_error *err)
{
    kn_vkey *keys = kn_alloc_array_zero(v->ctx, (size_t)v->quasi_count + 1, sizeof *keys);
    if (!keys) return no_memory(v, err);
    for (int i = 0; i < v->quasi_count; i++)
        keys[i] = (kn_vkey){.column = v->quasi[i].original, .translate = v->quasi[i].domain.of_original};
    kn_status st = kn_vgroup(out, v->ctx, v->original->rows, v->original->counts, keys, v->quasi_count, err);
    kn_free(keys);
    return st;
}

/* The class of each combination; *single: none has several. */
static kn_status find_classes(kn_numbers *out, bool *single, kn_verifier *v, kn_vcover *cover, const kn_vgroups *groups,
                              kn_error *err)
{
    uint32_t *values = kn_alloc_array(v->ctx, (size_t)v->quasi_count + 1, sizeof *values);
    if (!values) return no_memory(v, err);
    for (uint32_t g = 0; *single && g < groups->count; g++) {
        int64_t  row = groups->first[g], *to = out->columns[v->quasi_count];
        covering c = {0};
        for (int i = 0; i < v->quasi_count; i++) {
            values[i] = v->quasi[i].domain.of_original[kn_vcode(v->quasi[i].original, row)];
            out->columns[i][g] = values[i] == KN_V_MISSING ? KN_VCODE_MISSING : (int64_t)values[i];
        }
        to[g] = KN_VCODE_LEFT_OUT;
        if (v->dropped && v->dropped[row]) continue;
        (void)!kn_vcover_each(cover, values, note_class, &c);
        to[g] = c.count == 0 ? KN_VCODE_NO_ORIGINAL : (int64_t)c.found;
        *single = c.count < 2;
    }
    kn_free(values);
    return KN_OK;
}

static kn_status give(kn_verifier *v, const kn_vside *side, const char *name, const kn_numbers *numbers, kn_error *err)
{
    return kn_connection_put_numbers(side->table->connection, v->ctx, name, numbers, side->table->name, err);
}

static kn_status give_original(kn_verifier *v, bool *single, kn_error *err)
{
    kn_numbers numbers = {0};
    kn_vgroups groups = {0};
    kn_vcover  cover = {.room = {.ctx = v->ctx}};
    kn_status  st = group_original(&groups, v, err);
    if (st == KN_OK) st = make_numbers(&numbers, v, groups.count, err);
    if (st == KN_OK) st = kn_vcover_make(&cover, v, false, err);
    if (st == KN_OK) st = find_classes(&numbers, single, v, &cover, &groups, err);
    kn_arena_free(&cover.room);
    kn_vgroups_free(&groups);
    if (st == KN_OK && *single) st = give(v, &v->where->original, "kanon_classes_0", &numbers, err);
    kn_numbers_free(&numbers);
    return st;
}

/* ---- The release ---- */

static kn_status give_release(kn_verifier *v, kn_error *err)
{
    kn_numbers numbers = {0};
    kn_status  st = make_numbers(&numbers, v, v->classes.count, err);
    for (uint32_t c = 0; st == KN_OK && c < v->classes.count; c++) {
        for (int i = 0; i < v->quasi_count; i++)
            numbers.columns[i][c] = (int64_t)kn_vcode(v->quasi[i].release, v->classes.first[c]);
        numbers.columns[v->quasi_count][c] = c;
    }
    if (st == KN_OK) st = give(v, &v->where->release, "kanon_classes_1", &numbers, err);
    kn_numbers_free(&numbers);
    return st;
}

kn_status kn_vclasses_give(kn_verifier *v, bool *single, kn_error *err)
{
    *single = v->original != NULL && v->original->rows > 0;
    if (*single) KN_TRY(give_original(v, single, err));
    return *single ? give_release(v, err) : KN_OK;
}
