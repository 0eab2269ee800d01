/* stream.c: an Arrow stream in, a verified release out as another; nothing is written to a disk.
 * SPDX-License-Identifier: Apache-2.0 */
#include <kanon/anonymize.h>
#include <kanon/memory.h>
#include <stdio.h>
#include <string.h>

static const char request[] = "kanon: 1\n"
                              "input: memory:in\n"
                              "output: memory:out\n"
                              "attributes:\n"
                              "  age: {role: quasi, hierarchy: {ranges: [5, 10, 20]}}\n"
                              "  zip: {role: quasi, type: text, hierarchy: {mask: right}}\n"
                              "  diagnosis: {role: sensitive}\n"
                              "privacy: [{k: 3}]\n";

/* `in` is consumed; `out` is the caller's to release. Without a release out->release is NULL. */
static kn_status release(struct ArrowArrayStream *out, kn_context *ctx, struct ArrowArrayStream *in, kn_error *err)
{
    kn_spec         *spec = NULL;
    kn_release_head *head = NULL;
    out->release = NULL;
    kn_status st = kn_memory_put_arrow(ctx, "memory:in", in, err);
    if (st == KN_OK) st = kn_spec_read_text(&spec, ctx, request, strlen(request), NULL, err);
    if (st == KN_OK) st = kn_spec_check(spec, err);
    if (st == KN_OK) st = kn_anonymize_any(&head, ctx, spec, NULL, err);
    if (st == KN_OK && head->found) st = kn_memory_get_arrow(out, ctx, "memory:out", NULL, err);
    if (st == KN_OK && !head->found) fprintf(stderr, "no release: %s\n", head->reason);
    kn_release_head_free(head);
    kn_spec_free(spec);
    kn_memory_clear(ctx);
    return st;
}

/* Any program that speaks Arrow could stand here; this one makes a stream of a CSV file, and prints what comes back as one. */
int main(int argc, char **argv)
{
    kn_context             *ctx = NULL;
    kn_error                err = KN_ERROR_INIT;
    kn_table               *table = NULL, *released = NULL;
    struct ArrowArrayStream in = {.release = NULL}, out = {.release = NULL};
    kn_status               st = kn_context_create(&ctx, NULL, &err);
    if (st == KN_OK) st = kn_table_read_csv(&table, ctx, argc > 1 ? argv[1] : "-", NULL, &err);
    if (st == KN_OK) st = kn_table_export_arrow(&in, table, ctx, NULL, &err);
    kn_table_free(table);
    if (st == KN_OK) st = release(&out, ctx, &in, &err);
    if (st == KN_OK && out.release) st = kn_table_import_arrow(&released, ctx, &out, NULL, &err);
    if (released) st = kn_table_write_csv(released, ctx, "-", ',', &err);
    kn_table_free(released);
    kn_context_free(ctx);
    if (st != KN_OK) fprintf(stderr, "%s\n", err.message);
    return kn_status_exit_code(st);
}
