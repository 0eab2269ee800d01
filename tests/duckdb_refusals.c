/* duckdb_refusals.c: a release through DuckDB, run again and again with one more allocation of kanon's refused.
 *
 *     duckdb_refusals RELEASE.yaml STEP [FOLDER [LIMIT]]
 *
 * For N = 0, STEP, 2 STEP, ... the context's allocator refuses the N-th request, once alone and once with all that follow,
 * until the job asks for fewer. Every run must end with a release or with KN_MEMORY and a message, and hand back every
 * block. A release in parts is removed each time; LIMIT is that of the memory. tests/duckdb/run calls it, and looks for files that are left.
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <kanon/anonymize.h>
#include <kanon/spec.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct refusal {
    int64_t         at;
    bool            onward;
    _Atomic int64_t requests, live;
} refusal;

static bool refuses(refusal *r)
{
    int64_t request = atomic_fetch_add(&r->requests, 1);
    return request == r->at || (r->onward && request > r->at);
}

static void *refusing_alloc(void *user, size_t size)
{
    refusal *r = user;
    void    *block = refuses(r) ? NULL : malloc(size);
    if (block) atomic_fetch_add(&r->live, 1);
    return block;
}

static void *refusing_resize(void *user, void *block, size_t old_size, size_t new_size)
{
    refusal *r = user;
    (void)old_size;
    if (refuses(r)) return NULL;
    void *moved = realloc(block, new_size);
    if (moved && !block) atomic_fetch_add(&r->live, 1);
    return moved;
}

static void refusing_release(void *user, void *block, size_t size)
{
    refusal *r = user;
    (void)size;
    atomic_fetch_sub(&r->live, 1);
    free(block);
}

static kn_status release(refusal *r, const char *path, uint64_t limit, kn_error *err)
{
    kn_allocator       allocator = {refusing_alloc, refusing_resize, refusing_release, r};
    kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
    kn_context        *ctx = NULL;
    kn_spec           *spec = NULL;
    kn_release_result *result = NULL;
    options.threads = 1;
    options.allocator = &allocator;
    options.memory_limit = limit;
    kn_status st = kn_context_create(&ctx, &options, err);
    if (st == KN_OK) st = kn_spec_read(&spec, ctx, path, err);
    if (st == KN_OK) st = kn_anonymize(&result, ctx, spec, NULL, err);
    kn_release_result_free(result);
    kn_spec_free(spec);
    kn_context_free(ctx);
    return st;
}

static void remove_folder(const char *path)
{
    DIR *dir = opendir(path);
    for (struct dirent *e; dir && (e = readdir(dir)) != NULL;) (void)unlinkat(dirfd(dir), e->d_name, 0);
    if (dir) closedir(dir);
    (void)rmdir(path);
}

int main(int argc, char **argv)
{
    int64_t step = argc > 2 ? atoll(argv[2]) : 1, refused = 0, wrong = 0, requests = INT64_MAX;
    for (int64_t at = 0; at < requests; at += step)
        for (int onward = 0; onward < 2; onward++) {
            refusal  r = {.at = at, .onward = onward};
            kn_error err = KN_ERROR_INIT;
            if (argc > 3) remove_folder(argv[3]);
            kn_status st = release(&r, argv[1], argc > 4 ? (uint64_t)atoll(argv[4]) : 0, &err);
            bool      good = (st == KN_OK || (st == KN_MEMORY && err.message[0])) && r.live == 0;
            if (!good)
                printf("request %lld%s: status %d, %lld blocks: %s\n", (long long)at,
                       onward ? " and all behind it" : "", (int)st, (long long)r.live, err.message);
            wrong += !good;
            refused += st == KN_MEMORY;
            if (r.requests <= at) requests = at;
        }
    printf("%lld refused\n", (long long)refused);
    return wrong > 0 || refused == 0;
}
