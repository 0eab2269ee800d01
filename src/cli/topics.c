/* topics.c: finds a topic of `kanon help TOPIC` by its name or an alias (topics.h). */
/* SPDX-License-Identifier: Apache-2.0 */
#include "topics.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

bool cli_topic_word(char *out, char *const *words, int count)
{
    size_t used = 0;
    for (int i = 0; i < count; i++) {
        if (used + strlen(words[i]) + 2 > CLI_TOPIC_WORD) return false;
        if (i) out[used++] = '-';
        for (const char *c = words[i]; *c; c++)
            out[used++] = (char)(*c == ' ' || *c == '_' ? '-' : tolower((unsigned char)*c));
    }
    out[used] = '\0';
    return used > 0;
}

static bool is_alias(const char *aliases, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = strstr(aliases, word); at; at = strstr(at + 1, word))
        if (at > aliases && at[-1] == ' ' && at[length] == ' ') return true;
    return false;
}

const cli_topic *cli_topic_find(char *const *words, int count)
{
    char word[CLI_TOPIC_WORD];
    if (!cli_topic_word(word, words, count)) return NULL;
    for (const cli_topic *t = cli_topics; t->name; t++)
        if (strcmp(t->name, word) == 0 || is_alias(t->aliases, word)) return t;
    return NULL;
}
