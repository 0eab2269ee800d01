/* problems.c: keeping what is wrong with a release. Interface: kn_verify_problems.h. A text is cut off at 1000
 * bytes. That something is wrong the caller has noted before: it stays so when memory is out.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kn_verify_problems.h"

#include <stdio.h>
#include <string.h>

void kn_verify_problem_add(const char **list, int *count, bool *more, kn_arena *arena, const char *format, va_list args)
{
    char        text[1000];
    const char *copy = NULL;
    if (*count < KN_VERIFY_PROBLEMS) {
        vsnprintf(text, sizeof text, format, args);
        copy = kn_arena_strndup(arena, text, strlen(text));
    }
    if (copy)
        list[(*count)++] = copy;
    else
        *more = true;
}
