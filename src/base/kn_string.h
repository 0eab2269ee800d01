/* kn_string.h: a borrowed piece of text with its length (not NUL-terminated). */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_STRING_H
#define KN_STRING_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef struct kn_string {
    const char *data;
    size_t      size;
} kn_string;

static inline bool kn_string_equal(kn_string a, kn_string b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

/* Order by bytes, which for UTF-8 is the order of code points; a prefix comes first. */
static inline int kn_string_compare(kn_string a, kn_string b)
{
    size_t n = a.size < b.size ? a.size : b.size;
    int    c = n ? memcmp(a.data, b.data, n) : 0;
    if (c) return c;
    return a.size < b.size ? -1 : a.size > b.size;
}

static inline bool kn_is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static inline kn_string kn_string_of(const char *text)
{
    kn_string s = {text, strlen(text)};
    return s;
}

#endif
