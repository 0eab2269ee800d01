/* wide.c: the borders of wide tables (kn_borders.c) beside a level-wise search; run by bench/wide.
 *
 *     bench_wide [--threads N] [--limit SECONDS] [--seed N] [--csv NAME FILE]
 *
 * Tables come from tests/wide_table.c, which knows the minimal violating sets by construction. Prints one line of JSON
 * per table. --csv writes one table as a file instead. Exit code 1: a set was missed, or a false one found.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kn_bitset.h"
#include "kn_borders.h"
#include "kn_sets.h"
#include "wide_table.h"

typedef struct shape {
    const char  *name;
    wide_options options;
} shape;

static const shape shapes[] = {
    {"60x100k", {.rows = 100000, .columns = 60, .k = 5, .planted = 60, .values = 12, .copies = 9}},
    {"100x20k", {.rows = 20000, .columns = 100, .k = 3, .planted = 80, .values = 12, .copies = 5}},
    {"60x100k-few", {.rows = 100000, .columns = 60, .k = 5, .planted = 14, .values = 12, .copies = 9}},
    {"100x20k-few", {.rows = 20000, .columns = 100, .k = 3, .planted = 14, .values = 12, .copies = 5}},
};

typedef struct settings {
    int         threads;
    double      limit; /* seconds for the level-wise search */
    uint64_t    seed;
    const char *name, *file;
} settings;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static _Noreturn void die(const char *message)
{
    fprintf(stderr, "bench_wide: %s\n", message);
    exit(3);
}

/* ---- The planted sets ---- */

static void planted_sets(kn_set_list *list, const wide_table *t)
{
    kn_error err = KN_ERROR_INIT;
    for (int i = 0; i < t->planted_count; i++) {
        uint64_t set[4] = {0};
        for (int j = 0; j < t->planted_size[i]; j++) kn_bitset_set(set, (size_t)t->planted[i][j]);
        if (!kn_set_list_add(list, set)) die("out of memory");
    }
    if (kn_set_list_minimize(list, &err) != KN_OK) die(err.message);
}

/* How many of a are not in b. */
static int64_t missing(const uint64_t *a, int64_t na, const uint64_t *b, int64_t nb, int words)
{
    int64_t out = 0;
    for (int64_t i = 0, j = 0; i < na; i++) {
        for (j = 0; j < nb && memcmp(a + i * words, b + j * words, (size_t)words * sizeof *a) != 0;) j++;
        out += j == nb;
    }
    return out;
}

/* ---- Level by level, as in Algorithm 2 ---- */

typedef struct levels {
    int     level; /* the last one completed */
    int64_t evaluated;
    int64_t minimal;
    double  seconds;
    bool    done;
} levels;

static bool holds(const kn_freq *freq, const uint64_t *set, int64_t k)
{
    kn_error  err = KN_ERROR_INIT;
    kn_rollup by[256];
    kn_freq  *sum = NULL;
    bool      all = true;
    for (int c = 0; c < freq->layout.columns; c++) by[c] = (kn_rollup){.drop = !kn_bitset_test(set, (size_t)c)};
    if (kn_freq_rollup(&sum, freq, by, &err) != KN_OK) die(err.message);
    for (int64_t i = 0; i < sum->classes; i++) all = all && sum->counts[i] >= k;
    kn_freq_free(sum);
    return all;
}

/* Evaluates the sets that extend those of one level by a later column; false: the time is over. A set that contains a
 * known violating one is not evaluated: the same as joining two sets of the level and checking the others. */
static bool next_level(kn_set_list *next, const kn_set_list *level, kn_set_trie *violating, const kn_freq *freq,
                       int64_t k, levels *out, double end)
{
    for (int64_t i = 0; i < level->count; i++) {
        uint64_t set[4] = {0};
        memcpy(set, kn_set_list_get(level, i), (size_t)level->words * sizeof *set);
        int last = -1;
        for (int c = 0; c < freq->layout.columns; c++)
            if (kn_bitset_test(set, (size_t)c)) last = c;
        for (int c = last + 1; c < freq->layout.columns; c++) {
            if (now() > end) return false;
            kn_bitset_set(set, (size_t)c);
            if (!kn_set_trie_has_subset(violating, set)) {
                bool good = holds(freq, set, k);
                out->evaluated++;
                out->minimal += !good;
                if (!(good ? kn_set_list_add(next, set) : kn_set_trie_add(violating, set))) die("out of memory");
            }
            kn_bitset_clear(set, (size_t)c);
        }
    }
    return true;
}

static levels level_wise(kn_context *ctx, const kn_freq *freq, int64_t k, double limit)
{
    levels      out = {0};
    double      start = now();
    int         words = (int)kn_bitset_words((size_t)freq->layout.columns);
    kn_set_list level, next;
    kn_set_trie violating;
    uint64_t    none[4] = {0};
    kn_set_list_init(&level, ctx, words);
    kn_set_list_init(&next, ctx, words);
    kn_set_trie_init(&violating, ctx, words);
    if (!kn_set_list_add(&level, none)) die("out of memory");
    while (level.count > 0 && next_level(&next, &level, &violating, freq, k, &out, start + limit)) {
        kn_set_list_free(&level);
        level = next;
        kn_set_list_init(&next, ctx, words);
        out.level++;
    }
    out.done = level.count == 0;
    out.seconds = now() - start;
    kn_set_list_free(&level);
    kn_set_list_free(&next);
    kn_set_trie_free(&violating);
    return out;
}

/* ---- One table ---- */

static int64_t witnesses(const kn_freq *freq, int64_t k)
{
    int64_t n = 0;
    for (int64_t i = 0; i < freq->classes; i++) n += freq->counts[i] < k;
    return n;
}

static bool run(const shape *s, const settings *set)
{
    kn_error           err = KN_ERROR_INIT;
    kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
    kn_context        *ctx = NULL;
    kn_table          *table = NULL;
    kn_freq           *freq = NULL;
    kn_borders         b;
    wide_table         t;
    wide_options       shape_options = s->options;
    kn_borders_options o = {.k = s->options.k};
    kn_set_list        planted;
    int                columns[256];
    shape_options.seed = set->seed;
    options.threads = set->threads;
    if (kn_context_create(&ctx, &options, &err) != KN_OK) die(err.message);
    if (!wide_table_make(&t, &shape_options)) die("the table cannot be made");
    if (wide_table_build(&table, ctx, t.values, t.rows, t.columns, &err) != KN_OK) die(err.message);
    for (int c = 0; c < t.columns; c++) columns[c] = c;
    double start = now();
    if (kn_freq_of_table(&freq, ctx, table, columns, t.columns, &err) != KN_OK) die(err.message);
    double grouped = now();
    if (kn_borders_find(&b, ctx, freq, &o, &err) != KN_OK) die(err.message);
    double  end = now();
    int     words = b.minimal_violating.words;
    int64_t found = b.minimal_violating.count;
    kn_set_list_init(&planted, ctx, words);
    planted_sets(&planted, &t);
    int64_t missed = missing(planted.sets, planted.count, b.minimal_violating.sets, found, words);
    int64_t wrong = missing(b.minimal_violating.sets, found, planted.sets, planted.count, words);
    levels  l = level_wise(ctx, freq, o.k, set->limit);
    printf(
        "{\"table\": \"%s\", \"rows\": %d, \"columns\": %d, \"k\": %lld, \"combinations\": %lld, \"witnesses\": %lld, "
        "\"planted\": %lld, \"found\": %lld, \"missed\": %lld, \"false\": %lld, \"minimal_complete\": %s, "
        "\"maximal\": %lld, \"maximal_complete\": %s, \"threads\": %d, \"grouping_seconds\": %.3f, \"seconds\": %.3f, "
        "\"level_wise\": {\"seconds\": %.1f, \"done\": %s, \"levels\": %d, \"evaluated\": %lld, \"found\": %lld}}\n",
        s->name, t.rows, t.columns, (long long)o.k, (long long)freq->classes, (long long)witnesses(freq, o.k),
        (long long)planted.count, (long long)found, (long long)missed, (long long)wrong,
        b.minimal_complete ? "true" : "false", (long long)b.maximal.count, b.maximal_complete ? "true" : "false",
        kn_context_threads(ctx), grouped - start, end - grouped, l.seconds, l.done ? "true" : "false", l.level,
        (long long)l.evaluated, (long long)l.minimal);
    fflush(stdout);
    kn_set_list_free(&planted);
    kn_borders_free(&b);
    kn_freq_free(freq);
    kn_table_free(table);
    wide_table_free(&t);
    kn_context_free(ctx);
    return missed == 0 && wrong == 0;
}

static void write_csv(const shape *s, const settings *set)
{
    wide_table   t;
    wide_options options = s->options;
    options.seed = set->seed;
    FILE *file = fopen(set->file, "w");
    if (!file || !wide_table_make(&t, &options)) die("the file cannot be written");
    for (int c = 0; c < t.columns; c++) fprintf(file, "%sc%d", c ? "," : "", c);
    for (size_t r = 0; r < (size_t)t.rows; r++)
        for (size_t c = 0; c < (size_t)t.columns; c++)
            fprintf(file, "%s%d", c ? "," : "\n", t.values[r * (size_t)t.columns + c]);
    fputc('\n', file);
    if (ferror(file) | fclose(file)) die("the file cannot be written");
    for (int i = 0; i < t.planted_count; i++)
        for (int j = 0; j < t.planted_size[i]; j++)
            printf("%sc%d%s", j ? "," : "", t.planted[i][j], j + 1 == t.planted_size[i] ? "\n" : "");
    wide_table_free(&t);
}

int main(int argc, char **argv)
{
    settings set = {.limit = 60, .seed = 1};
    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (value && strcmp(argv[i], "--threads") == 0)
            set.threads = atoi(value);
        else if (value && strcmp(argv[i], "--limit") == 0)
            set.limit = atof(value);
        else if (value && strcmp(argv[i], "--seed") == 0)
            set.seed = strtoull(value, NULL, 10);
        else if (i + 2 < argc && strcmp(argv[i], "--csv") == 0) {
            set.name = value;
            set.file = argv[++i + 1];
        } else {
            fprintf(stderr, "usage: bench_wide [--threads N] [--limit SECONDS] [--seed N] [--csv NAME FILE]\n");
            return 2;
        }
    }
    bool good = true;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        if (set.name && strcmp(set.name, shapes[i].name) == 0) write_csv(&shapes[i], &set);
        if (!set.name) good = run(&shapes[i], &set) && good;
    }
    return good ? 0 : 1;
}
