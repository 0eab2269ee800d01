/* testing.c: shared helpers of the unit tests. */
/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "testing.h"

#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

uint64_t testing_seed(void)
{
    const char *given = getenv("KANON_SEED");
    char       *end = NULL;
    uint64_t    seed = given ? strtoull(given, &end, 10) : 1;
    if (given && (end == given || *end)) fail_msg("KANON_SEED is not a number");
    printf("seed: KANON_SEED=%" PRIu64 "\n", seed);
    return seed;
}

bool testing_full(void)
{
    const char *full = getenv("KANON_TEST_FULL");
    return full && *full && strcmp(full, "0") != 0;
}

int testing_rounds(int n)
{
    /* Under sanitizers nothing but what the code does to memory and threads is new, and that is alike in every round. */
    if (testing_full())
        n *= TESTING_SANITIZED ? 1 : 4;
    else if (TESTING_SANITIZED)
        n = n <= 800 ? n / 8 : n <= 1600 ? 100 : n / 16;
    return n > 0 ? n : 1;
}

int testing_least(int n)
{
    /* Less than the share of the rounds: chance sways small numbers more. Something was found where enough was asked for. */
    if (!TESTING_SANITIZED) return n;
    return testing_full() ? n / 8 : n < 16 ? 0 : n < 80 ? 1 : n / 40;
}

int testing_step(void)
{
    if (testing_full()) return 1;
    if (!TESTING_SANITIZED) return 5;          /* no divisor is shared: each build refuses other requests */
    return TESTING_THREAD_SANITIZER ? 61 : 23; /* a thread sanitizer has little to say of memory that is refused */
}

/* Every thread that is started, and every context that a test makes, comes here (tests/meson.build). */
static _Atomic int64_t threads_wanted; /* calls that start one, or may */
static int64_t         wanted_before;  /* the case that is under way */

int       __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *arg);
int       __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *arg);
kn_status __real_kn_context_create(kn_context **out, const kn_context_options *options, kn_error *err);
kn_status __wrap_kn_context_create(kn_context **out, const kn_context_options *options, kn_error *err);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *arg)
{
    atomic_fetch_add(&threads_wanted, 1);
    return __real_pthread_create(thread, attributes, run, arg);
}

kn_status __wrap_kn_context_create(kn_context **out, const kn_context_options *options, kn_error *err)
{
    if (!options || options->threads != 1) atomic_fetch_add(&threads_wanted, 1);
    return __real_kn_context_create(out, options, err);
}

int testing_alone_begins(void **state)
{
    (void)state;
    wanted_before = atomic_load(&threads_wanted);
    return 0;
}

int testing_alone_ends(void **state)
{
    (void)state;
    if (atomic_load(&threads_wanted) == wanted_before) return 0;
    print_error("a case that is listed by testing_alone may start threads: list it by cmocka_unit_test\n");
    return -1;
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
    bool    no = state->refuse_at >= 0 && (state->once ? request == state->refuse_at : request >= state->refuse_at);
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

kn_status testing_refusing_context(kn_context **out, testing_allocator *state, int threads, kn_error *err)
{
    kn_allocator       allocator = testing_failing_allocator(state);
    kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
    options.allocator = &allocator;
    options.threads = threads;
    return kn_context_create(out, &options, err);
}

char *testing_contents(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file) fail_msg("%s: %s", path, strerror(errno));
    char  *data = NULL;
    size_t used = 0, room = 0, n;
    do {
        if (used + 65536 > room) data = realloc(data, room = (room + 65536) * 2);
        assert_non_null(data);
        used += n = fread(data + used, 1, 65535, file);
    } while (n > 0);
    fclose(file);
    data[used] = '\0';
    if (size) *size = used;
    return data;
}

void assert_close(double a, double b)
{
    if (isnan(a) && isnan(b)) return;
    if (!(fabs(a - b) <= 1e-9 * (1 + fabs(a) + fabs(b)))) fail_msg("%.17g is not %.17g", a, b);
}

static char   folder[512];
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
        const char *where = getenv("TMPDIR");
        int         n = snprintf(folder, sizeof folder, "%s/kanon-test-XXXXXX", where && *where ? where : "/tmp");
        if (n < 0 || (size_t)n >= sizeof folder || !mkdtemp(folder)) abort();
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
