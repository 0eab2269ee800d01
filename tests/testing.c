/* testing.c: shared helpers of the unit tests. */
#define _GNU_SOURCE
#include "testing.h"

#include <ftw.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

uint64_t testing_seed(void)
{
    const char *given = getenv("KANON_SEED");
    uint64_t    seed = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL) * 1000003u + (uint64_t)getpid();
    printf("seed: KANON_SEED=%" PRIu64 "\n", seed);
    return seed;
}

kn_context *testing_context(int threads)
{
    kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
    options.threads = threads;
    kn_error    err = KN_ERROR_INIT;
    kn_context *ctx = NULL;
    assert_ok(kn_context_create(&ctx, &options, &err), err);
    return ctx;
}

void testing_context_free(kn_context *ctx)
{
    /* The pool's own blocks are freed with the context: measure what is left without them. */
    extern void kn_pool_stop(kn_context *);
    kn_pool_stop(ctx);
    assert_int_equal(kn_context_memory_used(ctx), 0);
    kn_context_free(ctx);
}

static pthread_mutex_t allocator_lock = PTHREAD_MUTEX_INITIALIZER;

static bool refused(testing_allocator *state)
{
    pthread_mutex_lock(&allocator_lock);
    int64_t request = state->requests++;
    bool    no = state->refuse_at >= 0 && request >= state->refuse_at;
    if (!no) state->live++;
    pthread_mutex_unlock(&allocator_lock);
    return no;
}

static void *failing_alloc(void *user, size_t size)
{
    return refused(user) ? NULL : malloc(size);
}

static void released(testing_allocator *state)
{
    pthread_mutex_lock(&allocator_lock);
    state->live--;
    pthread_mutex_unlock(&allocator_lock);
}

static void *failing_resize(void *user, void *block, size_t old_size, size_t new_size)
{
    (void)old_size;
    if (refused(user)) return NULL;
    released(user); /* the old block goes, the new one was counted */
    return realloc(block, new_size);
}

static void failing_release(void *user, void *block, size_t size)
{
    (void)size;
    released(user);
    free(block);
}

kn_allocator testing_failing_allocator(testing_allocator *state)
{
    kn_allocator allocator = {failing_alloc, failing_resize, failing_release, state};
    return allocator;
}

static char   folder[64];
static char  *paths[4096]; /* what testing_file returned */
static size_t path_count;

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    (void)info;
    (void)kind;
    (void)where;
    return remove(path);
}

static void remove_folder(void)
{
    nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    while (path_count > 0) free(paths[--path_count]);
}

const char *testing_file(const char *name, const void *data, size_t size)
{
    if (!folder[0]) {
        strcpy(folder, "/tmp/kanon-test-XXXXXX");
        if (!mkdtemp(folder)) abort();
        atexit(remove_folder);
    }
    size_t length = strlen(folder) + strlen(name) + 2;
    char  *path = malloc(length);
    if (!path) abort();
    snprintf(path, length, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    if (!f || (size && fwrite(data, 1, size, f) != size) || fclose(f) != 0) abort();
    for (size_t i = 0; i < path_count; i++)
        if (strcmp(paths[i], path) == 0) { /* written anew: the same path */
            free(path);
            return paths[i];
        }
    if (path_count == sizeof paths / sizeof *paths) abort();
    paths[path_count++] = path;
    return path;
}
