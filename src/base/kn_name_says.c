/* kn_name_says.c: does a name contain a word? Interface: kn_names.h.  * SPDX-License-Identifier: Apache-2.0
 */
#include <ctype.h>
#include <string.h>

#include "kn_names.h"

static bool is_letter(char c)
{
    return isalpha((unsigned char)c) || (unsigned char)c >= 0x80;
}

static bool same_word(const char *word, const char *text, size_t size)
{
    if (strlen(word) != size) return false;
    for (size_t i = 0; i < size; i++)
        if (tolower((unsigned char)text[i]) != (unsigned char)word[i]) return false;
    return true;
}

/* Letters up to what is none, or up to a capital behind a small one. */
static size_t word_size(const char *text)
{
    size_t n = 0;
    while (is_letter(text[n]) && !(n > 0 && islower((unsigned char)text[n - 1]) && isupper((unsigned char)text[n])))
        n++;
    return n;
}

static size_t letters(const char *text)
{
    size_t n = 0;
    while (is_letter(text[n])) n++;
    return n;
}

bool kn_name_says(const char *name, const char *word)
{
    for (const char *p = name; *p;) {
        size_t n = word_size(p);
        bool   begins = p == name || !is_letter(p[-1]);
        if (n > 0 && (same_word(word, p, n) || (begins && same_word(word, p, letters(p))))) return true;
        p += n > 0 ? n : 1;
    }
    return false;
}
