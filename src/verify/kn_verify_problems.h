/* kn_verify_problems.h: what reports of tables, databases and tree records share: the list of what is wrong with a release,
 * what could not be decided, and the answer. */
#ifndef KN_VERIFY_PROBLEMS_H
#define KN_VERIFY_PROBLEMS_H

#include <kanon/verify.h>
#include <stdarg.h>
#include <stdbool.h>

#include "kn_arena.h"

enum { KN_VERIFY_PROBLEMS = 100 }; /* so many are kept */

/* Adds one to a list of so many, its text in the arena; `more` is set where there is no room or memory for it. */
void kn_verify_problem_add(const char **list, int *count, bool *more, kn_arena *arena, const char *format, va_list args)
    KN_PRINTF(5, 0);

/* The same for what could not be decided, of which KN_VERIFY_OPEN are kept. */
void kn_verify_open_add(const char **list, int *count, kn_arena *arena, const char *sentence);

/* `counted`: every promise was looked at; otherwise those that have no figure are open. */
kn_outcome kn_verify_outcome(bool failed, kn_assignment assignment, bool counted, const kn_verified_model *models,
                             int count);

/* Ends a call that kn_deadline_set gave so many seconds, 0: none. What the deadline stopped was not decided. */
KN_CHECK kn_status kn_verify_in_time(kn_context *ctx, double seconds, kn_status status, kn_error *err);

#endif
