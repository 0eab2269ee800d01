/* seam.c: what it costs to go through memory: an Arrow stream in, a verified release, an Arrow stream out, beside the same from
 * file to file. bench_seam TABLE.csv RELEASE.yaml: the release file says input: IN, output: OUT, which are put in its place.
 * Prints a line per stage: processor seconds, and the most memory held in bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <kanon/anonymize.h>
#include <kanon/memory.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double begun;

static void stage(const char *name, kn_context *ctx)
{
    double now = (double)clock() / CLOCKS_PER_SEC;
    printf("%-16s %8.3f s of processor, peak %" PRIu64 " MB\n", name, now - begun, kn_context_memory_peak(ctx) >> 20);
    begun = (double)clock() / CLOCKS_PER_SEC;
}

static void must(kn_status st, const kn_error *err)
{
    if (st == KN_OK) return;
    fprintf(stderr, "%s\n", err->message);
    exit(kn_status_exit_code(st));
}

static void release(kn_context *ctx, const char *file, const char *in, const char *out)
{
    kn_error         err = KN_ERROR_INIT;
    kn_spec         *spec = NULL;
    kn_release_head *head = NULL;
    must(kn_spec_read(&spec, ctx, file, &err), &err);
    must(kn_spec_set_texts(spec, "input", &in, 1, "input", &err), &err);
    must(kn_spec_set_texts(spec, "output", &out, 1, "output", &err), &err);
    must(kn_spec_check(spec, &err), &err);
    must(kn_anonymize_any(&head, ctx, spec, NULL, &err), &err);
    if (!head->found) fprintf(stderr, "no release: %s\n", head->reason);
    kn_release_head_free(head);
    kn_spec_free(spec);
}

static kn_context *context(void)
{
    kn_context *ctx = NULL;
    kn_error    err = KN_ERROR_INIT;
    must(kn_context_create(&ctx, NULL, &err), &err);
    return ctx;
}

int main(int argc, char **argv)
{
    if (argc != 4) return 2;
    kn_error                err = KN_ERROR_INIT;
    kn_table               *table = NULL;
    struct ArrowArrayStream stream;
    kn_context             *ctx = context(), *owner = context();
    begun = (double)clock() / CLOCKS_PER_SEC;
    release(ctx, argv[2], argv[1], argv[3]);
    stage("file to file", ctx);
    kn_context_free(ctx);
    ctx = context();
    must(kn_table_read_csv(&table, owner, argv[1], NULL, &err), &err);
    printf("%-16s %" PRIu64 " MB\n", "the table", kn_table_bytes(table) >> 20);
    must(kn_table_export_arrow(&stream, table, owner, NULL, &err), &err);
    begun = (double)clock() / CLOCKS_PER_SEC;
    must(kn_memory_put_arrow(ctx, "memory:in", &stream, &err), &err);
    kn_table_free(table);
    stage("stream in", ctx);
    release(ctx, argv[2], "memory:in", "memory:out");
    stage("release", ctx);
    must(kn_memory_get_arrow(&stream, ctx, "memory:out", NULL, &err), &err);
    for (struct ArrowArray array;;) {
        if (stream.get_next(&stream, &array) != 0) return 3;
        if (!array.release) break;
        array.release(&array);
    }
    stream.release(&stream);
    stage("stream out", ctx);
    kn_context_free(ctx);
    kn_context_free(owner);
    return 0;
}
