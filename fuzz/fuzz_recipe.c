/* fuzz_recipe.c: bytes → recipe → the same recipe; and a table released by it.
 *
 * A recipe holds its own SHA-256, which no mutation would hit: what has the fields of a recipe gets the right one here, and is then
 * read by the library's door. What was read is written, read and written as the same bytes. It names no file of this machine to
 * write, and no hierarchy or population of it to read. Applied to a table it gives a release, twice the same, a reason why there is none, or a message: never one
 * that the verifier rejects.
 * SPDX-License-Identifier: Apache-2.0
 */
#define kn_recipe_read recipe_read_here /* the static functions of the reader; the door is that of the library */
#include "../src/release/recipe_read.c"
#undef kn_recipe_read
#include <kanon/memory.h>

KN_CHECK kn_status kn_recipe_read(kn_recipe **out, kn_context *ctx, const char *path, kn_error *err);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char rows[] = "age,zip,sex,disease\n23,10115,m,flu\n24,10115,m,cold\n25,10117,f,flu\n31,10117,f,asthma\n"
                           "33,10119,m,cold\n37,10119,m,flu\n41,20095,f,cold\n43,20095,f,asthma\n45,20097,m,flu\n"
                           "52,20097,m,cold\n55,20099,f,asthma\n,20099,f,flu\n";

static void demand(bool holds, const char *why)
{
    if (holds) return;
    fprintf(stderr, "fuzz_recipe: %s\n", why);
    abort();
}

static void check_failure(kn_status st, const kn_error *err)
{
    if (st != KN_INPUT && st != KN_USAGE && st != KN_MEMORY) fprintf(stderr, "%s\n", err->message);
    demand(st == KN_INPUT || st == KN_USAGE || st == KN_MEMORY, "a failure that is none of the input");
    demand(err->message[0] != '\0', "a failure without a message");
}

/* The recipe's text with the right SHA-256, if it has the fields of one. */
static bool put_right(kn_context *ctx, const char *from, const char *to)
{
    reading      r = {.ctx = ctx};
    kn_error     err = KN_ERROR_INIT;
    kn_source   *source = NULL;
    kn_document *doc = NULL;
    char         digest[65], *text = NULL, *place;
    size_t       size = 0;
    r.err = &err;
    kn_status st = kn_source_open(&source, ctx, from, &err); /* it may be a compressed file that is none */
    if (st == KN_OK) st = kn_json_open(&r.json, ctx, source, false, &err);
    if (st == KN_OK) st = kn_document_begin(&doc, ctx, &kn_recipe_document, &err);
    if (st == KN_OK) st = read_document(&r, doc);
    if (st == KN_OK)
        st = kn_document_end(&doc, doc, &err);
    else
        kn_document_free(doc);
    if (st == KN_OK) {
        demand(kn_recipe_digest(digest, &text, &size, doc, &err) == KN_OK, "no SHA-256");
        place = strstr(text, KN_RECIPE_ZEROS);
        demand(place != NULL, "there is no place for the SHA-256");
        memcpy(place, digest, 64);
        demand(kn_memory_put(ctx, to, text, size, &err) == KN_OK, "no memory");
        kn_document_free(doc);
    }
    kn_text_free(text);
    kn_json_close(&r.json);
    kn_source_free(source);
    return st == KN_OK;
}

static kn_recipe *read_recipe(kn_context *ctx, const char *path)
{
    kn_recipe *recipe = NULL;
    kn_error   err = KN_ERROR_INIT;
    kn_status  st = kn_recipe_read(&recipe, ctx, path, &err);
    demand((st == KN_OK) == (recipe != NULL), "a recipe in spite of a failure, or none");
    if (st == KN_OK) return recipe;
    check_failure(st, &err);
    demand(!strstr(err.message, "was changed"), "the same document has another SHA-256 at the door");
    return NULL;
}

/* Of files only its own hierarchies, which are in memory. */
static void check_places(const kn_recipe *recipe)
{
    const kn_spec *spec = recipe->spec;
    demand(spec->input_count == 0 && !spec->output && !spec->population, "a recipe says what is read or written");
    demand(!spec->report && !spec->public_report, "a recipe names a file");
    for (int i = 0; i < spec->attribute_count; i++) {
        const kn_hierarchy_spec *h = &spec->attributes[i].hierarchy;
        bool                     own = !h->path;
        for (int j = 0; h->path && j < recipe->hierarchy_count; j++)
            own = own || strcmp(h->path, recipe->hierarchies[j].file.path) == 0;
        demand(own && !h->population, "a recipe names a hierarchy of the machine");
    }
}

static void write_recipe(kn_buffer *to, const kn_recipe *recipe)
{
    kn_error err = KN_ERROR_INIT;
    demand(kn_recipe_render(to, recipe, recipe->spec, "0", &err) == KN_OK, "what was read is not written");
}

static void write_again(kn_context *ctx, const kn_recipe *recipe)
{
    kn_buffer first, second;
    kn_buffer_init(&first, ctx);
    kn_buffer_init(&second, ctx);
    write_recipe(&first, recipe);
    demand(kn_memory_put(ctx, "memory:again.json", first.data, first.size, NULL) == KN_OK, "no memory");
    kn_recipe *again = read_recipe(ctx, "memory:again.json");
    demand(again != NULL, "what was written is not read again");
    write_recipe(&second, again);
    demand(first.size == second.size && memcmp(first.data, second.data, first.size) == 0,
           "another recipe the second time");
    kn_recipe_free(again);
    kn_buffer_free(&first);
    kn_buffer_free(&second);
}

/* The bytes of the release; size 0: there is none. */
static void apply(kn_buffer *to, kn_context *ctx, kn_recipe *recipe, const char *output)
{
    static const char *const inputs[] = {"memory:rows.csv"};
    kn_release_result       *result = NULL;
    kn_error                 err = KN_ERROR_INIT;
    const void              *bytes = NULL;
    size_t                   size = 0;
    kn_status                st = kn_spec_set_texts(recipe->spec, "input", inputs, 1, "input", &err);
    if (st == KN_OK) st = kn_spec_set_texts(recipe->spec, "output", &output, 1, "output", &err);
    if (st == KN_OK) st = kn_apply(&result, ctx, recipe, NULL, &err);
    if (st != KN_OK) check_failure(st, &err);
    if (st == KN_OK && result->head.found) {
        demand(kn_memory_get(&bytes, &size, ctx, output, &err) == KN_OK, "a release that is not there");
        kn_buffer_append(to, bytes, size);
    }
    kn_release_result_free(result);
}

static void apply_twice(kn_context *ctx, kn_recipe *recipe)
{
    kn_buffer first, second;
    kn_buffer_init(&first, ctx);
    kn_buffer_init(&second, ctx);
    apply(&first, ctx, recipe, "memory:one.csv");
    apply(&second, ctx, recipe, "memory:two.csv");
    demand(first.size == second.size && (first.size == 0 || memcmp(first.data, second.data, first.size) == 0),
           "another release the second time");
    kn_buffer_free(&first);
    kn_buffer_free(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kn_context        *ctx = NULL;
    kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
    kn_recipe         *recipe = NULL;
    kn_error           err = KN_ERROR_INIT;
    options.threads = 1;
    options.memory_limit = 1 << 28;
    if (kn_context_create(&ctx, &options, NULL) != KN_OK) return 0;
    demand(kn_memory_put(ctx, "memory:rows.csv", rows, sizeof rows - 1, NULL) == KN_OK &&
               kn_memory_put(ctx, "memory:raw.json", data, size, NULL) == KN_OK,
           "no memory");
    kn_status st = kn_recipe_read(&recipe, ctx, "memory:raw.json", &err);
    if (st != KN_OK) check_failure(st, &err);
    kn_recipe_free(recipe);
    if (put_right(ctx, "memory:raw.json", "memory:right.json")) {
        recipe = read_recipe(ctx, "memory:right.json");
        if (recipe) {
            check_places(recipe);
            write_again(ctx, recipe);
            apply_twice(ctx, recipe);
            kn_recipe_free(recipe);
        }
    } else {
        demand(st != KN_OK, "a recipe whose fields are not those of one");
    }
    kn_context_free(ctx);
    return 0;
}
