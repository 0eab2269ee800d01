/* problems.c: collects what is wrong with a release. Interface: kn_verify_problems.h. A text is cut off at 1000
 * bytes. That something is wrong is recorded first, in case memory runs out.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kn_verify_problems.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "kn_error.h"

kn_status kn_vnotes_init(kn_vnotes *n, kn_vhead head, kn_context *ctx, const kn_spec *spec, kn_error *err)
{
    n->head = head;
    kn_arena_init(&n->arena, ctx);
    n->models = kn_arena_array_zero(&n->arena, (size_t)spec->model_count + 1, sizeof *n->models);
    for (int i = 0; n->models && i < spec->model_count; i++) {
        const char *attribute = spec->models[i].attribute;
        n->models[i] = (kn_verified_model){.model = spec->models[i], .reached = NAN};
        if (attribute) n->models[i].model.attribute = kn_arena_strndup(&n->arena, attribute, strlen(attribute));
    }
    *head.models = n->models;
    *head.model_count = spec->model_count;
    *head.problems = n->problems;
    *head.open = n->open;
    *head.assignment = KN_ASSIGNMENT_UNDECIDED;
    return n->arena.failed ? kn_fail_memory(err, ctx, "verifying") : KN_OK;
}

/* Adds a text to a list of at most `most`; false: it is full, or out of memory. */
static bool add(kn_vnotes *n, const char **list, int *count, int most, const char *format, va_list args)
    KN_PRINTF(5, 0);

static bool add(kn_vnotes *n, const char **list, int *count, int most, const char *format, va_list args)
{
    char text[1000];
    if (*count >= most) return false;
    vsnprintf(text, sizeof text, format, args);
    list[*count] = kn_arena_strndup(&n->arena, text, strlen(text));
    *count += list[*count] != NULL;
    return !n->arena.failed;
}

void kn_vproblem(kn_vnotes *n, const char *format, ...)
{
    va_list args;
    *n->head.outcome = KN_OUTCOME_FAILS;
    n->failed = true;
    va_start(args, format);
    if (!add(n, n->problems, n->head.problem_count, KN_VERIFY_PROBLEMS, format, args)) *n->head.more_problems = true;
    va_end(args);
}

void kn_vopen(kn_vnotes *n, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)add(n, n->open, n->head.open_count, KN_VERIFY_OPEN, format, args);
    va_end(args);
}

void kn_vproblem_sentence(void *notes, const char *sentence)
{
    kn_vproblem(notes, "%s", sentence);
}
