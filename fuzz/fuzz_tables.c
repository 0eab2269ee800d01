/* fuzz_tables.c: bytes → a workbook or a file of a statistics program → the bytes of a CSV file, twice the same, or a
 * message. The first byte chooses the form. */
/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kn_context.h"
#include "kn_source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 1 << 16 };

static void demand(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "%s\n", what);
    abort();
}

static kn_status read_table(kn_context *ctx, const char *path, kn_buffer *to)
{
    kn_source *source = NULL;
    kn_error   err = KN_ERROR_INIT;
    kn_status  st = kn_source_open(&source, ctx, path, &err);
    if (st == KN_OK) st = kn_source_read_all(source, to, 1 << 26, &err);
    kn_source_free(source);
    demand(st == KN_OK || ((st == KN_INPUT || st == KN_USAGE || st == KN_MEMORY) && err.message[0]),
           "an unexpected status");
    return st;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const endings[] = {"xlsx", "sav", "dta", "por", "xpt", "sas7bdat"};
    if (size < 1 || size > MOST) return 0;
    char               path[64];
    kn_context        *ctx = NULL;
    kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
    kn_buffer          first, second;
    snprintf(path, sizeof path, "/tmp/kanon-fuzz-%ld.%s", (long)getpid(), endings[data[0] % 6]);
    FILE *file = fopen(path, "wb");
    demand(file && fwrite(data + 1, 1, size - 1, file) == size - 1 && fclose(file) == 0, "the file is not written");
    options.threads = 1;
    options.memory_limit = 1 << 28;
    demand(kn_context_create(&ctx, &options, NULL) == KN_OK, "no context");
    kn_buffer_init(&first, ctx);
    kn_buffer_init(&second, ctx);
    kn_status a = read_table(ctx, path, &first), b = read_table(ctx, path, &second);
    demand(a == b && (a != KN_OK || (first.size == second.size &&
                                     (first.size == 0 || memcmp(first.data, second.data, first.size) == 0))),
           "two readings differ");
    kn_buffer_free(&first);
    kn_buffer_free(&second);
    kn_context_free(ctx);
    unlink(path);
    return 0;
}
