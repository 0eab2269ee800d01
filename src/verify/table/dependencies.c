/* table/dependencies.c: do the declared dependencies hold in the release? (kanon/dependencies.h says what each means)
 *
 * On the texts of the release alone, without suppressed rows. Cost: a few groupings per
 * dependency.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <kanon/dependencies.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_verify_internal.h"

#define WHAT "verifying"

/* Columns that a side names, as parts of a key. */
typedef struct side {
    kn_vkey *keys;
    int      count;
} side;

typedef struct checker {
    kn_verifier         *v;
    const kn_dependency *dependency;
    side                 left, right, rest;
} checker;

static bool named(const char *const *names, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0) return true;
    return false;
}

/* false: the release lacks a column. */
static bool add_names(const checker *c, side *s, const char *const *names, int count)
{
    for (int i = 0; i < count; i++) {
        const kn_vcolumn *column = kn_vtable_column(c->v->release, names[i]);
        if (!column) return false;
        s->keys[s->count++] = (kn_vkey){.column = column};
    }
    return true;
}

static void add_rest(checker *c)
{
    const kn_dependency *d = c->dependency;
    for (int i = 0; i < c->v->release->name_count; i++) {
        const char *name = c->v->release->names[i].data;
        const char *count = c->v->spec->csv.count;
        if (named(d->left, d->left_count, name) || named(d->right, d->right_count, name)) continue;
        if (count && strcmp(count, name) == 0) continue; /* it is no column */
        (void)add_names(c, &c->rest, &name, 1);
    }
}

/* Groups by the columns of up to three sides. */
static kn_status group(checker *c, kn_vgroups *out, const side *a, const side *b, const side *d, kn_error *err)
{
    const side *sides[] = {a, b, d};
    size_t      most = 1;
    for (int i = 0; i < 3; i++) most += sides[i] ? (size_t)sides[i]->count : 0;
    kn_vkey *keys = kn_alloc_array(c->v->ctx, most, sizeof *keys);
    if (!keys) return kn_fail_memory(err, c->v->ctx, WHAT);
    int n = 0;
    keys[n++] = (kn_vkey){.omit = c->v->starred};
    for (int i = 0; i < 3; i++)
        for (int j = 0; sides[i] && j < sides[i]->count; j++) keys[n++] = sides[i]->keys[j];
    kn_status status = kn_vgroup(out, c->v->ctx, c->v->release->rows, c->v->release->counts, keys, n, err);
    kn_free(keys);
    return status;
}

/* The number of finer groups in each coarser one. */
static int64_t *count_inside(checker *c, const kn_vgroups *coarse, const kn_vgroups *fine)
{
    int64_t *inside = kn_alloc_array_zero(c->v->ctx, (size_t)coarse->count + 1, sizeof *inside);
    for (uint32_t g = 0; inside && g < fine->count; g++) inside[coarse->of_row[fine->first[g]]]++;
    return inside;
}

/* A -> B: one right side for each left side. A -k-> B: every pair in at least k rows. */
static kn_status check_pairs(checker *c, int64_t *violating, kn_error *err)
{
    kn_vgroups left = {0}, both = {0};
    kn_status  status = group(c, &left, &c->left, NULL, NULL, err);
    if (status == KN_OK) status = group(c, &both, &c->left, &c->right, NULL, err);
    int64_t *inside = status == KN_OK ? count_inside(c, &left, &both) : NULL;
    if (status == KN_OK && !inside) status = kn_fail_memory(err, c->v->ctx, WHAT);
    if (status == KN_OK && c->dependency->kind == KN_DEPENDENCY_FUNCTIONAL)
        for (uint32_t g = 0; g < left.count; g++) *violating += inside[g] > 1;
    if (status == KN_OK && c->dependency->kind == KN_DEPENDENCY_MULTISET)
        for (uint32_t g = 0; g < both.count; g++) *violating += both.rows[g] < c->dependency->k;
    kn_free(inside);
    kn_vgroups_free(&left);
    kn_vgroups_free(&both);
    return status;
}

/* A ->> B: in each group of A every B occurs with every combination of the other columns. */
static kn_status check_product(checker *c, int64_t *violating, kn_error *err)
{
    kn_vgroups  left = {0}, parts[3] = {{0}, {0}, {0}};
    const side *of_parts[3][2] = {{&c->right, NULL}, {&c->rest, NULL}, {&c->right, &c->rest}};
    int64_t    *inside[3] = {NULL, NULL, NULL};
    kn_status   status = group(c, &left, &c->left, NULL, NULL, err);
    for (int i = 0; status == KN_OK && i < 3; i++) {
        status = group(c, &parts[i], &c->left, of_parts[i][0], of_parts[i][1], err);
        if (status == KN_OK && !(inside[i] = count_inside(c, &left, &parts[i])))
            status = kn_fail_memory(err, c->v->ctx, WHAT);
    }
    for (uint32_t g = 0; status == KN_OK && g < left.count; g++)
        *violating += inside[0][g] * inside[1][g] != inside[2][g];
    for (int i = 0; i < 3; i++) {
        kn_free(inside[i]);
        kn_vgroups_free(&parts[i]);
    }
    kn_vgroups_free(&left);
    return status;
}

static kn_status check_one(checker *c, kn_error *err)
{
    const kn_dependency *d = c->dependency;
    int64_t              violating = 0;
    c->left.count = c->right.count = c->rest.count = 0;
    if (!add_names(c, &c->left, d->left, d->left_count) || !add_names(c, &c->right, d->right, d->right_count)) {
        kn_vproblem(c->v->notes, "dependency %s: the release lacks one of its columns", d->text);
        return KN_OK;
    }
    if (d->kind == KN_DEPENDENCY_MULTIVALUED) {
        add_rest(c);
        KN_TRY(check_product(c, &violating, err));
    } else
        KN_TRY(check_pairs(c, &violating, err));
    if (violating > 0)
        kn_vproblem(c->v->notes, "dependency %s does not hold in the release: %lld group%s of rows violate%s it",
                    d->text, (long long)violating, violating == 1 ? "" : "s", violating == 1 ? "s" : "");
    return KN_OK;
}

kn_status kn_verify_dependencies(kn_verifier *v, kn_error *err)
{
    if (v->spec->dependency_count == 0 || v->spec->allow_broken) return KN_OK;
    checker  c = {.v = v};
    kn_arena room = {.ctx = v->ctx};
    size_t   columns = (size_t)v->release->name_count + 1;
    c.left.keys = kn_arena_array(&room, columns, sizeof *c.left.keys);
    c.right.keys = kn_arena_array(&room, columns, sizeof *c.right.keys);
    c.rest.keys = kn_arena_array(&room, columns, sizeof *c.rest.keys);
    kn_status status = room.failed ? kn_fail_memory(err, c.v->ctx, WHAT) : KN_OK;
    for (int i = 0; status == KN_OK && i < v->spec->dependency_count; i++) {
        kn_dependency *d = NULL;
        status = kn_dependency_parse(&d, v->ctx, v->spec->dependencies[i], err);
        c.dependency = d;
        if (status == KN_OK) status = check_one(&c, err);
        kn_dependency_free(d);
    }
    kn_arena_free(&room);
    return status;
}
