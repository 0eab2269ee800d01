/* anonymize_hierarchy.c: turns `--hierarchy COLUMN:...` into the text of a release file.
 *
 *     age:ages.csv                        a file                  (./mask=right where a file is called like a kind)
 *     zip:mask=right                      also mask=left; more: :step=2 :character=x :pad
 *     age:ranges=5,10,20                  more: :origin=3
 *     age:breaks=18,65/18                 cut points, a slash between levels
 *     born:calendar                       or some steps: calendar=month,year
 *     code:prefix=.                       what follows is the separator
 *     job:taxonomy=jobs.txt               what follows is the file
 *     sex:suppress
 *     age:ages.csv:population=people.csv  after any of them: the file of its population; sex:population=FILE is suppress with one
 *
 * A colon or a backslash in a column's name is escaped with a backslash.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "anonymize.h"

/* A growing text. */
typedef struct text {
    char  *data;
    size_t size;
} text;

static void add_bytes(text *t, const char *bytes, size_t size)
{
    t->data = cli_realloc(t->data, t->size + size + 1);
    memcpy(t->data + t->size, bytes, size);
    t->size += size;
    t->data[t->size] = '\0';
}

static void add(text *t, const char *bytes)
{
    add_bytes(t, bytes, strlen(bytes));
}

static void add_quoted(text *t, const char *bytes, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    add(t, "\"");
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)bytes[i];
        char          hex[] = {'\\', 'x', digits[c >> 4], digits[c & 15], '\0'};
        if (c < 0x20 || c == 0x7F)
            add(t, hex);
        else if (c == '"' || c == '\\') {
            add(t, "\\");
            add_bytes(t, bytes + i, 1);
        } else
            add_bytes(t, bytes + i, 1);
    }
    add(t, "\"");
}

char *cli_yaml_text(const char *plain)
{
    text t = {0};
    add_quoted(&t, plain, strlen(plain));
    return t.data;
}

/* "a,b" as "["a", "b"]", up to `end`. */
static void add_list(text *t, const char *from, const char *end)
{
    add(t, "[");
    while (from <= end) {
        size_t size = 0;
        while (from + size < end && from[size] != ',') size++;
        add_quoted(t, from, size);
        from += size + 1;
        if (from <= end) add(t, ", ");
    }
    add(t, "]");
}

static void add_breaks(text *t, const char *from, const char *end)
{
    add(t, "[");
    while (from <= end) {
        const char *slash = from;
        while (slash < end && *slash != '/') slash++;
        add_list(t, from, slash);
        from = slash + 1;
        if (from <= end) add(t, ", ");
    }
    add(t, "]");
}

/* The options after a kind: ":step=2:pad". False if one is unknown. */
static bool add_options(text *t, const char *from, const char *const *names)
{
    while (*from == ':') {
        const char *name = ++from;
        size_t      size = strcspn(name, ":"), key = strcspn(name, ":=");
        int         i = 0;
        while (names[i] && (strlen(names[i]) != key || strncmp(names[i], name, key) != 0)) i++;
        if (!names[i]) return false;
        add(t, ", ");
        add_bytes(t, name, key);
        add(t, ": ");
        if (key == size)
            add(t, "true");
        else
            add_quoted(t, name + key + 1, size - key - 1);
        from += size;
    }
    return true;
}

typedef struct kind {
    const char *name;
    enum { WORD, LIST, BREAKS, REST, NOTHING } value;
    const char *options[4];
} kind;

static const kind kinds[] = {
    {"mask", WORD, {"step", "character", "pad", NULL}},
    {"ranges", LIST, {"origin", NULL}},
    {"breaks", BREAKS, {NULL}},
    {"calendar", LIST, {NULL}},
    {"prefix", REST, {NULL}},
    {"taxonomy", REST, {NULL}},
    {"calendar", NOTHING, {NULL}},
    {"suppress", NOTHING, {NULL}},
};

/* "{kind: value, option: value}"; false if the text is of this kind but malformed. */
static bool add_kind(text *t, const kind *k, const char *value)
{
    const char *end = k->value == REST ? value + strlen(value) : value + strcspn(value, ":");
    if (strcmp(k->name, "suppress") == 0) {
        add(t, "suppress");
        return *end == '\0';
    }
    add(t, "{");
    add(t, k->name);
    add(t, ": ");
    switch (k->value) {
    case LIST: add_list(t, value, end); break;
    case BREAKS: add_breaks(t, value, end); break;
    case NOTHING: add(t, "all"); break;
    default: add_quoted(t, value, (size_t)(end - value)); break;
    }
    bool fine = add_options(t, end, k->options);
    add(t, "}");
    return fine && (k->value == NOTHING || end > value);
}

/* The kind that the text after the column begins with; NULL: it is a file. *value: what follows the equals sign. */
static const kind *find_kind(const char *what, const char **value)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t size = strlen(kinds[i].name);
        if (strncmp(what, kinds[i].name, size) != 0) continue;
        *value = what + size + (kinds[i].value != NOTHING);
        if (kinds[i].value == NOTHING ? what[size] == '\0' || what[size] == ':' : what[size] == '=') return &kinds[i];
    }
    return NULL;
}

/* For a misspelt kind, as in rang=5: the kind that was probably meant, "" if none is similar or only its value is missing;
 * NULL: it is a file. */
static const char *misspelt(const char *what)
{
    const char *names[sizeof kinds / sizeof *kinds + 1] = {NULL};
    size_t      size = strspn(what, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_");
    FILE       *file = size > 0 && (what[size] == '=' || what[size] == ':' || !what[size]) ? fopen(what, "r") : NULL;
    if (size == 0 || (what[size] && what[size] != '=' && what[size] != ':')) return NULL;
    if (file) {
        fclose(file);
        return NULL;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) names[i] = kinds[i].name;
    char       *word = cli_strndup(what, size);
    const char *near = cli_nearest(word, names);
    bool        bare = near && strcmp(near, word) == 0; /* the kind itself, without its value */
    free(word);
    if (bare) return "";
    return near ? near : what[size] == '=' ? "" : NULL;
}

/* Where ":population=FILE" begins, which ends an option; NULL: it has none. */
static const char *find_population(const char *from)
{
    static const char mark[] = ":population=";
    const char       *found = NULL;
    for (const char *at = strstr(from, mark); at; at = strstr(at + 1, mark)) found = at;
    return found;
}

/* Adds a population to the text of a hierarchy: a path or a word becomes a mapping. */
static void add_population(text *t, const char *path)
{
    text whole = {0};
    add(&whole, "{");
    if (t->data && t->data[0] == '{')
        add_bytes(&whole, t->data + 1, t->size - 2);
    else if (t->data && t->data[0] == '"') {
        add(&whole, "file: ");
        add(&whole, t->data);
    }
    add(&whole, whole.size > 1 ? ", population: " : "population: ");
    add_quoted(&whole, path, strlen(path));
    add(&whole, "}");
    free(t->data);
    *t = whole;
}

int cli_hierarchy_text(char **column, char **out, const cli_command *command, const char *option)
{
    text        name = {0}, t = {0};
    const char *p = option, *value = NULL;
    *column = *out = NULL;
    for (; *p && *p != ':'; p++) {
        if (*p == '\\' && (p[1] == ':' || p[1] == '\\')) p++;
        add_bytes(&name, p, 1);
    }
    if (*p != ':' || !name.data || !p[1]) {
        free(name.data);
        return cli_usage(command, "--hierarchy '%s': write COLUMN:FILE or COLUMN:KIND=..., like age:ranges=5,10,20",
                         option);
    }
    const char *population = find_population(p);
    size_t      size = population ? (size_t)(population - p) : strlen(p);
    char       *what = cli_strndup(p + 1, size > 0 ? size - 1 : 0);
    const kind *k = find_kind(what, &value);
    const char *meant = k ? NULL : misspelt(what);
    bool        fine = !meant;
    *column = name.data;
    if (k)
        fine = add_kind(&t, k, value);
    else if (fine && *what)
        add_quoted(&t, what, strlen(what));
    free(what);
    if (meant && *meant)
        return cli_usage(command, "--hierarchy '%s': not a kind of hierarchy, and no such file; did you mean %s?",
                         option, meant);
    if (population && fine) add_population(&t, population + strlen(":population="));
    *out = t.data;
    if (fine) return 0;
    return cli_usage(command,
                     "--hierarchy '%s': kinds are mask=right|left (:step=N :character=C :pad), ranges=W,... "
                     "(:origin=X), breaks=P,.../P,..., calendar[=STEP,...], prefix=SEPARATOR, taxonomy=FILE and "
                     "suppress; :population=FILE may follow",
                     option);
}
