/* kn_spec_models.c: several promises of one model about one column: all of them hold.
 *
 * A flag's promise replaces the release file's promise of the same model about the same column: that is how a field
 * of the file is overridden. Promises from one source all hold, and become the one promise that implies them all: the
 * greatest k, the smallest t. Of two recursive (c, l)-diversities neither may imply the other, and two
 * delta-presences may exclude each other; then both stay.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_exact.h"
#include "kn_spec.h"

static int compare(kn_ratio a, kn_ratio b)
{
    return kn_quotient_compare(kn_quotient_of(a), kn_quotient_of(b));
}

static void take_smaller(kn_ratio *a, kn_ratio b)
{
    if (compare(b, *a) < 0) *a = b;
}

static void take_greater(kn_ratio *a, kn_ratio b)
{
    if (compare(b, *a) > 0) *a = b;
}

/* Does a (c, l)-diverse class keep the other promise, too? */
static bool implies(const kn_model *a, const kn_model *b)
{
    return compare(a->c, b->c) <= 0 && compare(a->l, b->l) >= 0;
}

/* Makes `a` a promise that implies both, which are of the same kind. false: there is none. */
static bool join(kn_model *a, const kn_model *b)
{
    if (a->kind == KN_MODEL_RECURSIVE) {
        if (implies(b, a)) *a = *b;
        return implies(a, b);
    }
    kn_model both = *a;
    if (b->k > both.k) both.k = b->k;
    take_greater(&both.l, b->l);
    take_greater(&both.low, b->low);
    take_smaller(&both.bound, b->bound);
    if (a->kind == KN_MODEL_PRESENCE && compare(both.low, both.bound) > 0) return false; /* nothing can keep both */
    *a = both;
    return true;
}

/* The same column may be named with its table and without. */
static bool same_column(const kn_spec *spec, const char *a, const char *b)
{
    int table[2], attribute[2];
    if (!a || !b) return a == b;
    if (strcmp(a, b) == 0) return true;
    return spec->table_count > 0 && kn_spec_find_column(spec, a, &table[0], &attribute[0]) &&
           kn_spec_find_column(spec, b, &table[1], &attribute[1]) && table[0] == table[1] &&
           attribute[0] == attribute[1];
}

static void remove_model(kn_spec_state *state, int at)
{
    size_t behind = (size_t)(--state->spec.model_count - at);
    memmove(&state->models[at], &state->models[at + 1], behind * sizeof *state->models);
    memmove(&state->model_places[at], &state->model_places[at + 1], behind * sizeof *state->model_places);
}

static bool same_model(const kn_spec_state *state, int a, int b)
{
    return state->models[a].kind == state->models[b].kind &&
           same_column(&state->spec, state->models[a].attribute, state->models[b].attribute);
}

/* A flag's promise of the same model and column as this one of the file; -1: there is none. */
static int find_flag(const kn_spec_state *state, int at)
{
    for (int i = 0; i < state->spec.model_count; i++)
        if (state->model_places[i].line == 0 && same_model(state, i, at)) return i;
    return -1;
}

/* A flag's promise takes the place of the file's. */
static void override_file(kn_spec_state *state)
{
    for (int i = 0; i < state->spec.model_count; i++) {
        int flag = state->model_places[i].line == 0 ? -1 : find_flag(state, i);
        if (flag > i) {
            state->models[i] = state->models[flag];
            state->model_places[i] = state->model_places[flag];
            remove_model(state, flag);
        } else if (flag >= 0) {
            remove_model(state, i--);
        }
    }
}

void kn_spec_join_models(kn_spec_inner *inner)
{
    kn_spec_state *state = &inner->state;
    override_file(state);
    for (int i = 0; i < state->spec.model_count; i++)
        for (int j = state->spec.model_count - 1; j > i; j--)
            if (same_model(state, i, j) && join(&state->models[i], &state->models[j])) remove_model(state, j);
}
