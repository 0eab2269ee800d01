/* options.c: the arguments of a command, and the strict readers of numbers and sizes.
 *
 * One pass over argv: options are matched against the command's own and then the common ones, everything else is
 * moved to the front. A mistyped name is answered with the most similar one. Lookup is linear: a command has some
 * twenty options.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lists.h"

enum { MAX_THREADS = 1024, MAX_WORD = 64 };

/* ---- Readers ---- */

bool cli_parse_integer(const char *text, int64_t *out)
{
    const char *p = text;
    if (*p == '-' || *p == '+') p++;
    if (!*p || p[strspn(p, "0123456789")] != '\0') return false;
    errno = 0;
    long long value = strtoll(text, NULL, 10);
    if (errno == ERANGE) return false;
    *out = value;
    return true;
}

bool cli_parse_number(const char *text, double *out)
{
    /* strtod alone would accept blanks, hexadecimal, "inf" and "nan". */
    if (!*text || text[strspn(text, "0123456789+-.eE")] != '\0') return false;
    char  *end;
    double value = strtod(text, &end);
    if (*end != '\0' || !isfinite(value)) return false;
    *out = value;
    return true;
}

/* The factor of a unit such as "", "B", "k", "MB", "Gi", "GiB"; 0 if it is not one. */
static uint64_t unit_factor(const char *unit)
{
    static const char prefixes[] = "kmgt";
    const char       *p = unit;
    uint64_t          factor = 1;
    const char       *prefix = *p ? strchr(prefixes, tolower((unsigned char)*p)) : NULL;
    if (prefix) {
        p++;
        bool     binary = *p == 'i' || *p == 'I';
        uint64_t step = binary ? 1024 : 1000;
        if (binary) p++;
        for (ptrdiff_t i = 0; i <= prefix - prefixes; i++) factor *= step;
    }
    if (*p == 'b' || *p == 'B') p++;
    return *p == '\0' ? factor : 0;
}

bool cli_parse_size(const char *text, uint64_t *out)
{
    const char *p = text;
    uint64_t    whole = 0;
    if (!isdigit((unsigned char)*p)) return false;
    for (; isdigit((unsigned char)*p); p++) {
        unsigned digit = (unsigned)(*p - '0');
        if (whole > (UINT64_MAX - digit) / 10) return false;
        whole = whole * 10 + digit;
    }
    double fraction = 0;
    if (*p == '.') {
        p++;
        if (!isdigit((unsigned char)*p)) return false;
        double place = 1;
        for (; isdigit((unsigned char)*p); p++) {
            place /= 10;
            fraction += (*p - '0') * place;
        }
    }
    uint64_t factor = unit_factor(p);
    if (factor == 0 || whole > UINT64_MAX / factor) return false;
    /* Rounded, so that 1.1k is 1100 although 0.1 has no exact double. */
    uint64_t part = (uint64_t)(fraction * (double)factor + 0.5);
    if (whole * factor > UINT64_MAX - part) return false;
    *out = whole * factor + part;
    return true;
}

int64_t cli_rows_text(const char *text)
{
    char        number[32];
    int64_t     rows = -1;
    size_t      digits = strspn(text, "0123456789");
    const char *rest = text + digits;
    if (digits == 0 || digits >= sizeof number) return -1;
    if (strcmp(rest, " rows") != 0 && strcmp(rest, "rows") != 0 && strcmp(rest, " row") != 0) return -1;
    snprintf(number, sizeof number, "%.*s", (int)digits, text);
    return cli_parse_integer(number, &rows) ? rows : -1;
}

/* ---- Near names ---- */

/* Letters to insert, delete, replace or swap with their neighbour to get from a to b. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    if (n >= MAX_WORD || m >= MAX_WORD) return MAX_WORD;
    size_t d[MAX_WORD][MAX_WORD];
    for (size_t i = 0; i <= n; i++) d[i][0] = i;
    for (size_t j = 0; j <= m; j++) d[0][j] = j;
    for (size_t i = 1; i <= n; i++)
        for (size_t j = 1; j <= m; j++) {
            size_t best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            if (d[i - 1][j] + 1 < best) best = d[i - 1][j] + 1;
            if (d[i][j - 1] + 1 < best) best = d[i][j - 1] + 1;
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && d[i - 2][j - 2] + 1 < best) best = d[i - 2][j - 2] + 1;
            d[i][j] = best;
        }
    return d[n][m];
}

static void consider(const char *word, const char *name, const char **best, size_t *best_distance)
{
    size_t length = strlen(word);
    size_t distance = edit_distance(word, name);
    /* An abbreviation counts as similar, however much is missing. */
    if (length >= 3 && strncmp(word, name, length) == 0) distance = 1;
    if (distance < *best_distance && distance <= (length < 4 ? 1 : length / 3)) {
        *best = name;
        *best_distance = distance;
    }
}

const char *cli_nearest(const char *word, const char *const *names)
{
    const char *best = NULL;
    size_t      best_distance = MAX_WORD;
    for (; *names; names++) consider(word, *names, &best, &best_distance);
    return best;
}

/* ---- Lists ---- */

static void list_add(cli_list *list, char *item)
{
    list->items = cli_realloc(list->items, ((size_t)list->count + 1) * sizeof *list->items);
    list->items[list->count++] = item;
}

static void list_split(cli_list *list, const char *value)
{
    for (;;) {
        char  *item = cli_alloc(strlen(value) + 1);
        size_t length = 0;
        for (; *value && *value != ','; value++) {
            if (*value == '\\' && (value[1] == ',' || value[1] == '\\')) value++;
            item[length++] = *value;
        }
        item[length] = '\0';
        list_add(list, item);
        if (!*value) return;
        value++;
    }
}

void cli_list_free(cli_list *list)
{
    for (int i = 0; i < list->count; i++) free(list->items[i]);
    free(list->items);
    list->items = NULL;
    list->count = 0;
}

/* ---- Parsing ---- */

/* What is being parsed: the command's options, then the common ones, as if they were one array. */
typedef struct parser {
    const cli_command *command;
    const cli_option  *own;
    const cli_option  *common;
    int                own_count;
    int                common_count;
    bool              *seen;
} parser;

static const cli_option *option_at(const parser *p, int index)
{
    return index < p->own_count ? &p->own[index] : &p->common[index - p->own_count];
}

static int count_options(const cli_option *options)
{
    int n = 0;
    while (options[n].name) n++;
    return n;
}

/* Is `arg` (of that length) one of the names "-k|--k"? */
static bool has_name(const cli_option *option, const char *arg, size_t length)
{
    for (const char *name = option->name; name;) {
        const char *bar = strchr(name, '|');
        size_t      n = bar ? (size_t)(bar - name) : strlen(name);
        if (n == length && strncmp(name, arg, length) == 0) return true;
        name = bar ? bar + 1 : NULL;
    }
    return false;
}

static int find_option(const parser *p, const char *arg, size_t length)
{
    for (int i = 0; i < p->own_count + p->common_count; i++)
        if (has_name(option_at(p, i), arg, length)) return i;
    return -1;
}

/* An option that is the name of a promise (-l, --l-diversity, --t): how it is asked for; NULL: it is none. */
static const char *model_meant(const char *word)
{
    static const char *const models[][2] = {{"l", "l-diversity:kind=distinct,l=3"},
                                            {"t", "t-closeness:distance=equal,t=0.2"},
                                            {"l-diversity", "l-diversity:kind=distinct,l=3"},
                                            {"t-closeness", "t-closeness:distance=equal,t=0.2"}};
    word += strspn(word, "-");
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        if (strcmp(word, models[i][0]) == 0) return models[i][1];
    return NULL;
}

static void unknown_option(const parser *p, const char *arg, size_t length)
{
    char        word[MAX_WORD], names[MAX_WORD], near[MAX_WORD] = "";
    const char *best = NULL;
    size_t      best_distance = MAX_WORD;
    snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), arg);
    for (int i = 0; length > 2 && i < p->own_count + p->common_count; i++) {
        snprintf(names, sizeof names, "%s", option_at(p, i)->name);
        for (char *name = names, *bar; name; name = bar ? bar + 1 : NULL) {
            bar = strchr(name, '|');
            if (bar) *bar = '\0';
            best = NULL;
            /* The dashes are skipped: they would make any two short options similar. */
            if (strncmp(name, "--", 2) == 0)
                consider(word + (strncmp(word, "--", 2) == 0 ? 2 : 1), name + 2, &best, &best_distance);
            if (best) snprintf(near, sizeof near, "%s", name);
        }
    }
    char       *shown = cli_escape(arg, length);
    const char *model = find_option(p, "--require", strlen("--require")) >= 0 ? model_meant(word) : NULL;
    if (model)
        cli_usage(p->command, "unknown option %s; a promise beyond k is --require, as in --require %s", shown, model);
    else if (near[0])
        cli_usage(p->command, "unknown option %s; did you mean %s?", shown, near);
    else
        cli_usage(p->command, "unknown option %s", shown);
    free(shown);
}

static bool bad_value(const parser *p, const char *name, size_t length, const char *value, const char *expected)
{
    char *shown = cli_escape(value, strlen(value));
    cli_usage(p->command, "%.*s: '%s' is not %s", (int)length, name, shown, expected);
    free(shown);
    return false;
}

static bool store(const parser *p, const cli_option *option, const char *name, size_t length, char *value)
{
    switch (option->kind) {
    case CLI_FLAG: *(bool *)option->target = true; return true;
    case CLI_TEXT: *(const char **)option->target = value; return true;
    case CLI_LIST: list_split(option->target, value); return true;
    case CLI_REPEAT: list_add(option->target, cli_strndup(value, strlen(value))); return true;
    case CLI_INTEGER:
        return cli_parse_integer(value, option->target) || bad_value(p, name, length, value, "a whole number in range");
    case CLI_NUMBER:
        return cli_parse_number(value, option->target) || bad_value(p, name, length, value, "a number (such as 0.05)");
    case CLI_SIZE:
        return cli_parse_size(value, option->target) ||
               bad_value(p, name, length, value, "a size (such as 500M, 2G or 1.5GiB)");
    }
    return false;
}

/* The length of the option's name in `arg`, and its value if the argument contains one (`--a=b`, `-ab`, `-a=b`). */
static size_t split_argument(char *arg, char **value)
{
    *value = NULL;
    if (arg[1] != '-') {
        if (arg[2] != '\0') *value = arg[2] == '=' ? arg + 3 : arg + 2;
        return 2;
    }
    size_t length = strcspn(arg, "=");
    if (arg[length] == '=') *value = arg + length + 1;
    return length;
}

/* Reads the option at argv[*i] and moves *i past it. */
static bool parse_option(const parser *p, int argc, char **argv, int *i)
{
    char  *arg = argv[*i], *value;
    size_t length = split_argument(arg, &value);
    int    index = find_option(p, arg, length);
    if (index < 0) {
        unknown_option(p, arg, arg[1] == '-' ? length : strlen(arg));
        return false;
    }
    const cli_option *option = option_at(p, index);
    bool              repeatable = option->kind == CLI_LIST || option->kind == CLI_REPEAT || option->kind == CLI_FLAG;
    if (p->seen[index] && !repeatable) {
        cli_usage(p->command, "%.*s is given twice", (int)length, arg);
        return false;
    }
    p->seen[index] = true;
    ++*i;
    if (option->kind == CLI_FLAG && value) {
        cli_usage(p->command, "%.*s takes no value", (int)length, arg);
        return false;
    }
    if (option->kind != CLI_FLAG && !value) {
        /* `--output --json` is a forgotten value far more often than a file of that name. */
        bool  none = *i == argc;
        char *unused;
        if (!none && argv[*i][0] == '-' && argv[*i][1] != '\0')
            none = find_option(p, argv[*i], split_argument(argv[*i], &unused)) >= 0;
        if (none) {
            cli_usage(p->command, "%.*s needs a value", (int)length, arg);
            return false;
        }
        value = argv[(*i)++];
    }
    return store(p, option, arg, length, value);
}

static void free_lists(const parser *p)
{
    for (int i = 0; i < p->own_count; i++)
        if (p->own[i].kind == CLI_LIST || p->own[i].kind == CLI_REPEAT) cli_list_free(p->own[i].target);
}

static bool parse_all(const parser *p, int *argc, char **argv, cli_common *common)
{
    int  kept = 0;
    bool options_ended = false;
    for (int i = 0; i < *argc;) {
        if (options_ended || argv[i][0] != '-' || argv[i][1] == '\0') {
            argv[kept++] = argv[i++];
        } else if (strcmp(argv[i], "--") == 0) {
            options_ended = true;
            i++;
        } else if (!parse_option(p, *argc, argv, &i)) {
            return false;
        }
        if (common->help) return true;
    }
    *argc = kept;
    return true;
}

static bool common_in_range(const parser *p, const cli_common *common, bool threads_given, bool limit_given)
{
    if (threads_given && (common->threads < 1 || common->threads > MAX_THREADS)) {
        cli_usage(p->command, "--threads: a number from 1 to %d is needed", MAX_THREADS);
        return false;
    }
    if (limit_given && common->memory_limit == 0) {
        cli_usage(p->command, "--memory-limit: a size above 0 is needed");
        return false;
    }
    return true;
}

bool cli_parse(const cli_command *command, int *argc, char **argv, const cli_option *options, cli_common *common)
{
    enum { JSON, QUIET, THREADS, MEMORY_LIMIT, HELP, COMMON_COUNT };
    const cli_option common_options[COMMON_COUNT + 1] = {
        [JSON] = {"--json", CLI_FLAG, &common->json},
        [QUIET] = {"-q|--quiet", CLI_FLAG, &common->quiet},
        [THREADS] = {"--threads", CLI_INTEGER, &common->threads},
        [MEMORY_LIMIT] = {"--memory-limit", CLI_SIZE, &common->memory_limit},
        [HELP] = {"-h|--help", CLI_FLAG, &common->help},
    };
    parser p = {command, options, common_options, count_options(options), COMMON_COUNT, NULL};
    size_t total = (size_t)p.own_count + COMMON_COUNT;
    p.seen = cli_alloc(total * sizeof *p.seen);
    memset(p.seen, 0, total * sizeof *p.seen);

    bool        ok = parse_all(&p, argc, argv, common);
    const bool *common_seen = p.seen + p.own_count;
    if (ok && common->help)
        fputs(command->help, stdout);
    else if (ok)
        ok = common_in_range(&p, common, common_seen[THREADS], common_seen[MEMORY_LIMIT]);
    if (ok && !common->help && cli_lists_print(common)) common->help = true;
    if (!ok || common->help) free_lists(&p);
    free(p.seen);
    return ok;
}
