/* kn_names.c: which names are those of databases, and messages without the passwords in them.
 *
 * A connection string in a message may be cut off or misspelt, so it cannot be parsed: of a URI, everything up to the
 * last @ and everything from a ? on is removed; of keywords, everything. In messages a name is followed by ": ". Behind
 * "?query=" everything is removed, to the end of the message.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_names.h"

#include <string.h>
#include <strings.h>

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

/* Not strncasecmp, which depends on the locale. */
static const char *behind(const char *name, const char *scheme)
{
    for (; *scheme; scheme++, name++)
        if (lower(*name) != *scheme) return NULL;
    return name;
}

const char *kn_name_sqlite(const char *name)
{
    return behind(name, "sqlite:");
}

const char *kn_name_duckdb(const char *name)
{
    return behind(name, "duckdb:");
}

const char *kn_name_file(const char *name)
{
    const char *file = kn_name_sqlite(name);
    return file ? file : kn_name_duckdb(name);
}

const char *kn_name_engine(const char *name)
{
    return behind(name, "engine:");
}

const char *kn_name_server(const char *name)
{
    const char *rest = behind(name, "postgresql:");
    return rest ? rest : behind(name, "postgres:");
}

/* The end of an address in a message: not within a password before '@'. */
static char *end_of_address(char *rest)
{
    char *from = rest + 2 + strcspn(rest + 2, "@/"), *end = strstr(*from == '@' ? from : rest, ": ");
    return end ? end : from + strlen(from);
}

/* ... of words, as libpq reads them: not within quotes, and what is behind a backslash is a letter like others. */
static char *end_of_words(char *rest)
{
    bool quoted = false;
    for (; *rest && (quoted || strncmp(rest, ": ", 2) != 0); rest++) {
        if (*rest == '\\' && rest[1])
            rest++;
        else if (*rest == '\'')
            quoted = !quoted;
    }
    return rest;
}

/* The end of a connection string in a message. */
static char *end_of(char *rest)
{
    return strncmp(rest, "//", 2) == 0 ? end_of_address(rest) : end_of_words(rest);
}

static void drop(char *from, const char *to)
{
    memmove(from, to, strlen(to) + 1);
}

/* Returns where to continue. */
static char *hide(char *rest, bool whole)
{
    char *end = end_of(rest), *at = NULL;
    if (rest == end || *rest == ' ') return rest; /* a word, not a connection string */
    bool cut = !whole && *end == '\0';
    if (strncmp(rest, "//", 2) != 0) {
        drop(rest, *end == ':' ? end + 1 : end);
        return rest;
    }
    rest += 2;
    for (char *c = rest; c < end; c++)
        if (*c == '@') at = c;
    if (!at && cut) at = end - 1;                                   /* the message ends within what may be a password */
    if (at && memchr(rest, '?', (size_t)(at - rest))) at = end - 1; /* either side may be the secret one */
    if (at) {
        drop(rest, at + 1);
        end -= at + 1 - rest;
    }
    char *query = memchr(rest, '?', (size_t)(end - rest));
    if (!query) return end;
    drop(query, end);
    return query;
}

/* Of a query nothing is shown: its words may be those of a person, and nobody knows where it ends. */
static void hide_query(char *text)
{
    static const char example[] = "SELECT";
    for (char *at = text; (at = strstr(at, "query=")); at++) {
        const char *says = at + sizeof "query=" - 1;
        bool        is_example = strncmp(says, example, sizeof example - 1) == 0 &&
                          (says[sizeof example - 1] == '\0' || strncmp(says + sizeof example - 1, " ...", 4) == 0);
        if (at == text || !strchr("?&", at[-1]) || is_example) continue;
        at[sizeof "query" - 1] = '\0';
        return;
    }
}

void kn_hide_secrets(char *text, size_t room)
{
    hide_query(text);
    bool whole = strlen(text) + 1 < room;
    for (char *c = text; *c; c++) {
        const char *rest = kn_name_server(c);
        if (rest) c = hide(c + (rest - c), whole) - 1;
    }
}

static bool has_schema(const char *name)
{
    return kn_name_file(name) || kn_name_server(name);
}

const char *kn_name_query(const char *name)
{
    static const char word[] = "query=";
    for (const char *at = has_schema(name) ? strchr(name, '?') : NULL; at; at = strpbrk(at + 1, "?&"))
        if (strncmp(at + 1, word, sizeof word - 1) == 0) return at;
    return NULL;
}

bool kn_name_statistics(const char *name)
{
    static const char *const endings[] = {".sav", ".zsav", ".por", ".dta", ".sas7bdat", ".xpt"};
    size_t                   size = strlen(name);
    if (has_schema(name)) return false;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t n = strlen(endings[i]);
        if (size > n && strcasecmp(name + size - n, endings[i]) == 0) return true;
    }
    return false;
}

bool kn_names_labelled(const char *const *names, int count)
{
    for (int i = 0; i < count; i++)
        if (kn_name_statistics(names[i])) return true;
    return false;
}
