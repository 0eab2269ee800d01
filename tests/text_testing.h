/* text_testing.h: texts that a test puts together, and problems that a report tells. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEXT_TESTING_H
#define TEXT_TESTING_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "testing.h"

typedef struct text {
    char   data[8000];
    size_t size;
} text;

KN_PRINTF(2, 3)
static inline void add(text *t, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    t->size += (size_t)vsnprintf(t->data + t->size, sizeof t->data - t->size, format, list);
    va_end(list);
    assert_true(t->size < sizeof t->data);
}

/* How many of them hold the text. */
static inline int count_problems(const char *const *problems, int count, const char *problem)
{
    int found = 0;
    for (int i = 0; i < count; i++) {
        found += strstr(problems[i], problem) != NULL;
        print_message("  %s\n", problems[i]);
    }
    return found;
}

#endif
