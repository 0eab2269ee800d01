/* fuzz_report.c: bytes → documents → a page of evidence; the first is tried as a recipe, too.
 *
 * Documents are separated by NUL bytes. One that was read is written as JSON that is read and written as the same bytes. A page is
 * whole, runs no script, and only a certificate alone makes a public one. A failure is one of the input or of the request.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <kanon/memory.h>
#include <kanon/recipe.h>
#include <kanon/report.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 6 };

static void demand(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "fuzz_report: %s\n", what);
    abort();
}

static void check_failure(kn_status st, const kn_error *err)
{
    demand(st == KN_INPUT || st == KN_USAGE || st == KN_MEMORY, "a failure that is none of the input");
    demand(err->message[0] != '\0', "a failure without a message");
}

static void read_again(kn_context *ctx, const kn_document *doc)
{
    kn_document *again = NULL;
    kn_error     err = KN_ERROR_INIT;
    char        *text = NULL, *second = NULL;
    size_t       size = 0, other = 0;
    demand(kn_document_json(&text, &size, doc, &err) == KN_OK, "a document that cannot be written");
    demand(kn_memory_put(ctx, "memory:again.json", text, size, &err) == KN_OK, "no memory");
    demand(kn_document_read(&again, ctx, "memory:again.json", &err) == KN_OK, "what was written is not read again");
    demand(kn_document_json(&second, &other, again, &err) == KN_OK, "the second document cannot be written");
    demand(size == other && memcmp(text, second, size) == 0, "another document the second time");
    kn_text_free(text);
    kn_text_free(second);
    kn_document_free(again);
}

static void write_page(kn_context *ctx, kn_document *const *docs, const char *const *names, int count, unsigned kinds)
{
    kn_compliance_input   in = KN_COMPLIANCE_INPUT_INIT;
    kn_compliance_summary summary = {0};
    kn_error              err = KN_ERROR_INIT;
    const void           *page = NULL;
    size_t                size = 0;
    in.documents = (const kn_document *const *)docs;
    in.names = names;
    in.document_count = count;
    in.kinds = kinds;
    kn_status st = kn_compliance_write(ctx, "memory:page.html", &in, &summary, &err);
    if (st != KN_OK) {
        check_failure(st, &err);
        return;
    }
    demand(!summary.is_public || count == 1, "a public page of private documents");
    demand(kn_memory_get(&page, &size, ctx, "memory:page.html", &err) == KN_OK, "no page");
    demand(size > 20 && memcmp((const char *)page + size - 8, "</html>\n", 8) == 0, "half a page");
    char *text = malloc(size + 1);
    if (!text) return;
    memcpy(text, page, size);
    text[size] = '\0';
    demand(strlen(text) == size && !strstr(text, "<script"), "a page that is no text, or runs something");
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kn_context        *ctx = NULL;
    kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
    kn_document       *docs[MOST] = {NULL};
    const char        *names[MOST];
    int                count = 0;
    options.threads = 1;
    options.memory_limit = 1 << 28;
    if (kn_context_create(&ctx, &options, NULL) != KN_OK) return 0;
    for (size_t at = 0; at <= size && count < MOST;) {
        const uint8_t *end = at < size ? memchr(data + at, 0, size - at) : NULL;
        size_t         length = end ? (size_t)(end - data) - at : size - at;
        kn_error       err = KN_ERROR_INIT;
        kn_recipe     *recipe = NULL;
        if (kn_memory_put(ctx, "memory:one.json", data + at, length, NULL) != KN_OK) break;
        kn_status st = at == 0 ? kn_recipe_read(&recipe, ctx, "memory:one.json", &err) : KN_OK;
        if (st != KN_OK) check_failure(st, &err);
        kn_recipe_free(recipe);
        st = kn_document_read(&docs[count], ctx, "memory:one.json", &err);
        if (st == KN_OK) {
            read_again(ctx, docs[count]);
            names[count++] = "one.json";
        } else {
            check_failure(st, &err);
        }
        at += length + 1;
    }
    if (count > 0) write_page(ctx, docs, names, count, size % 16);
    for (int i = 0; i < count; i++) kn_document_free(docs[i]);
    kn_context_free(ctx);
    return 0;
}
