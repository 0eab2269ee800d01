/* kn_verify_problems.h: the list of what is wrong with a release, as reports of tables, databases and tree records keep it. */
#ifndef KN_VERIFY_PROBLEMS_H
#define KN_VERIFY_PROBLEMS_H

#include <kanon/status.h>
#include <stdarg.h>
#include <stdbool.h>

#include "kn_arena.h"

enum { KN_VERIFY_PROBLEMS = 100 }; /* so many are kept */

/* Adds one to a list of so many, its text in the arena; `more` is set where there is no room or memory for it. */
void kn_verify_problem_add(const char **list, int *count, bool *more, kn_arena *arena, const char *format, va_list args)
    KN_PRINTF(5, 0);

#endif
