/* limits.c: how fast this machine is at what no reader, grouper or writer can do without; run by bench/scoreboard.
 *
 *     bench_limits FILE [--threads N]
 *
 * Prints one line of JSON, in bytes per second: `scan`, reading memory once with N threads; `parse`, comparing every byte of
 * the file, which is in memory, with three separators, with N threads; `hash`, the library's SHA-256 on one thread, since a
 * digest is one chain, by processor time; `store`, writing the bytes to a file (FILE.store, removed again) on one thread, as far as the page
 * cache. Each is the best of five turns: a limit is what would be reached if nothing else was done.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kn_sha256.h"

enum { TURNS = 5, MOST_THREADS = 64, BLOCK = 4096, LANES = 64 };

typedef struct part {
    const unsigned char *bytes;
    size_t               size;
    uint64_t             sum; /* so that nothing is left out as useless */
} part;

static _Noreturn void die(const char *message)
{
    fprintf(stderr, "bench_limits: %s\n", message);
    exit(3);
}

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define BEST_INSTRUCTIONS __attribute__((target_clones("arch=skylake-avx512", "avx2", "default")))
#else
#define BEST_INSTRUCTIONS
#endif

BEST_INSTRUCTIONS static uint64_t scan_words(const unsigned char *bytes, size_t size)
{
    const uint64_t *words = (const uint64_t *)(const void *)bytes;
    uint64_t        sum = 0;
    for (size_t i = 0; i < size / sizeof *words; i++) sum += words[i];
    return sum;
}

BEST_INSTRUCTIONS static uint64_t count_separators(const unsigned char *bytes, size_t size)
{
    uint64_t sum = 0;
    for (size_t at = 0; at + BLOCK <= size; at += BLOCK) {
        unsigned char found[LANES] = {0}; /* one instruction's; none overflows in a block */
        for (size_t i = 0; i < BLOCK; i += sizeof found)
            for (size_t j = 0; j < sizeof found; j++) {
                unsigned char c = bytes[at + i + j];
                found[j] = (unsigned char)(found[j] + (c == ',' ? 1 : 0) + (c == '\n' ? 1 : 0) + (c == '"' ? 1 : 0));
            }
        for (size_t j = 0; j < sizeof found; j++) sum += found[j];
    }
    return sum;
}

static void *scan(void *arg)
{
    part *p = arg;
    p->sum = scan_words(p->bytes, p->size);
    return NULL;
}

static void *parse(void *arg)
{
    part *p = arg;
    p->sum = count_separators(p->bytes, p->size);
    return NULL;
}

static const char *store_path;

static void *store(void *arg)
{
    enum { STEP = 1 << 20 };
    part *p = arg;
    FILE *file = fopen(store_path, "wb");
    if (!file || setvbuf(file, NULL, _IONBF, 0) != 0) die("the file beside it cannot be written");
    for (size_t at = 0; at < p->size; at += STEP) {
        size_t step = p->size - at < STEP ? p->size - at : STEP;
        if (fwrite(p->bytes + at, 1, step, file) != step) die("the file beside it cannot be written");
    }
    if (fclose(file) != 0) die("the file beside it cannot be written");
    return NULL;
}

static void *hash(void *arg)
{
    part     *p = arg;
    kn_sha256 state;
    char      text[KN_SHA256_TEXT];
    kn_sha256_begin(&state);
    kn_sha256_add(&state, p->bytes, p->size);
    kn_sha256_text(&state, text);
    p->sum = (uint64_t)text[0];
    return NULL;
}

/* Bytes per second of a clock, the best of all turns. */
static double measure(void *(*work)(void *), const unsigned char *bytes, size_t size, int threads, clockid_t clock)
{
    double best = 0;
    for (int turn = 0; turn < TURNS; turn++) {
        pthread_t running[MOST_THREADS];
        part      parts[MOST_THREADS];
        size_t    each = size / (size_t)threads / BLOCK * BLOCK;
        double    begin = now(clock);
        for (int t = 0; t < threads; t++) {
            parts[t] = (part){bytes + (size_t)t * each, each, 0};
            if (pthread_create(&running[t], NULL, work, &parts[t]) != 0) die("no thread");
        }
        for (int t = 0; t < threads; t++) pthread_join(running[t], NULL);
        double rate = (double)each * threads / (now(clock) - begin);
        if (rate > best) best = rate;
    }
    return best;
}

int main(int argc, char **argv)
{
    if (argc != 2 && !(argc == 4 && strcmp(argv[2], "--threads") == 0)) die("usage: bench_limits FILE [--threads N]");
    int threads = argc == 4 ? atoi(argv[3]) : 2;
    if (threads < 1 || threads > MOST_THREADS) die("1 to 64 threads");
    FILE *file = fopen(argv[1], "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) die("the file cannot be read");
    long           size = ftell(file);
    unsigned char *bytes = size > BLOCK * MOST_THREADS ? aligned_alloc(64, ((size_t)size + 63) / 64 * 64) : NULL;
    if (!bytes) die("the file is too small, or too large for the memory");
    rewind(file);
    if (fread(bytes, 1, (size_t)size, file) != (size_t)size) die("the file cannot be read");
    fclose(file);
    double scanned = measure(scan, bytes, (size_t)size, threads, CLOCK_MONOTONIC);
    double parsed = measure(parse, bytes, (size_t)size, threads, CLOCK_MONOTONIC);
    double hashed = measure(hash, bytes, (size_t)size, 1, CLOCK_PROCESS_CPUTIME_ID);
    size_t named = strlen(argv[1]) + sizeof ".store";
    char  *path = malloc(named);
    if (!path) die("out of memory");
    snprintf(path, named, "%s.store", argv[1]);
    store_path = path;
    double stored = measure(store, bytes, (size_t)size, 1, CLOCK_MONOTONIC);
    remove(path);
    printf("{\"scan\": %.0f, \"parse\": %.0f, \"hash\": %.0f, \"store\": %.0f, \"bytes\": %ld, \"threads\": %d}\n",
           scanned, parsed, hashed, stored, size, threads);
    free(path);
    free(bytes);
    return 0;
}
