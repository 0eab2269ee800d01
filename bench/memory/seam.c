/* seam.c: what it costs to go through memory: an Arrow stream in, a verified release, an Arrow stream out. The table is made here:
 * bench_seam ROWS [OUTPUT], where OUTPUT is "memory:out" unless it is given. Prints a line per stage: seconds, seconds of processor,
 * the most memory that the context has held so far, and the most that the process has had in memory (the producer's batches are
 * part of the latter alone).
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <kanon/anonymize.h>
#include <kanon/memory.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { BATCH = 1 << 16, COLUMNS = 6 };

static const char request[] = "kanon: 1\n"
                              "input: memory:in\n"
                              "output: %s\n"
                              "attributes:\n"
                              "  age: {role: quasi, hierarchy: {ranges: [5, 10, 20]}}\n"
                              "  sex: {role: quasi}\n"
                              "  zip: {role: quasi, hierarchy: {ranges: [10, 100, 1000]}}\n"
                              "  town: {role: quasi}\n"
                              "  diagnosis: {role: sensitive}\n"
                              "  pay: {role: sensitive}\n"
                              "privacy: [{k: 5}]\n"
                              "suppression: 0.01\n"
                              "method: optimal\n"
                              "force: true\n";

/* ---- The table ---- */

static const char *const names[COLUMNS] = {"age", "sex", "zip", "town", "diagnosis", "pay"};
static const char *const formats[COLUMNS] = {"l", "i", "l", "i", "i", "l"};
static const uint32_t    ranges[COLUMNS] = {60, 2, 2000, 20, 40, 5000};

typedef struct producer {
    int64_t  left;
    uint64_t state;
} producer;

/* The first column of texts has a letter, the second ... : "b7". */
typedef struct texts {
    int32_t offsets[65];
    char    bytes[256];
} texts;

static texts dictionaries[COLUMNS];

static void make_texts(int column)
{
    texts *t = &dictionaries[column];
    for (uint32_t i = 0; i < ranges[column]; i++)
        t->offsets[i + 1] =
            t->offsets[i] + sprintf(t->bytes + t->offsets[i], "%c%" PRIu32, 'a' + column, i);
}

static void free_schema(struct ArrowSchema *s)
{
    for (int64_t i = 0; i < s->n_children; i++) {
        if (s->children[i]->release) s->children[i]->release(s->children[i]);
        free(s->children[i]);
    }
    if (s->dictionary) s->dictionary->release(s->dictionary);
    free(s->dictionary);
    free(s->children);
    s->release = NULL;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    (void)stream;
    *out = (struct ArrowSchema){.format = "+s", .name = "", .n_children = COLUMNS, .release = free_schema};
    out->children = calloc(COLUMNS, sizeof *out->children);
    for (int c = 0; c < COLUMNS; c++) {
        out->children[c] = calloc(1, sizeof **out->children);
        *out->children[c] = (struct ArrowSchema){.format = formats[c], .name = names[c], .release = free_schema};
        if (formats[c][0] != 'i') continue;
        out->children[c]->dictionary = calloc(1, sizeof **out->children);
        *out->children[c]->dictionary = (struct ArrowSchema){.format = "u", .name = "", .release = free_schema};
    }
    return 0;
}

static void free_array(struct ArrowArray *a)
{
    for (int64_t i = 0; i < a->n_children; i++) {
        if (a->children[i]->release) a->children[i]->release(a->children[i]);
        free(a->children[i]);
    }
    if (a->dictionary) a->dictionary->release(a->dictionary);
    free(a->dictionary);
    free(a->children);
    free(a->private_data); /* the values */
    free(a->buffers);
    a->release = NULL;
}

static void begin_array(struct ArrowArray *a, int64_t length, int64_t buffers)
{
    *a = (struct ArrowArray){.length = length, .n_buffers = buffers, .release = free_array};
    a->buffers = calloc((size_t)buffers, sizeof *a->buffers);
}

static uint32_t draw(producer *p, uint32_t below)
{
    p->state = p->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((p->state >> 33) * below >> 31);
}

static void make_column(producer *p, struct ArrowArray *a, int c, int64_t rows)
{
    begin_array(a, rows, 2);
    bool  encoded = formats[c][0] == 'i';
    void *values = malloc((size_t)rows * (encoded ? 4 : 8));
    for (int64_t i = 0; i < rows; i++) {
        uint32_t x = draw(p, ranges[c]), y = draw(p, ranges[c]), value = x < y ? x : y;
        if (encoded)
            ((int32_t *)values)[i] = (int32_t)value;
        else
            ((int64_t *)values)[i] = value + (c == 2 ? 10000 : 20);
    }
    a->buffers[1] = a->private_data = values;
    if (!encoded) return;
    a->dictionary = calloc(1, sizeof *a->dictionary);
    begin_array(a->dictionary, ranges[c], 3);
    a->dictionary->buffers[1] = dictionaries[c].offsets;
    a->dictionary->buffers[2] = dictionaries[c].bytes;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    producer *p = stream->private_data;
    int64_t   rows = p->left < BATCH ? p->left : BATCH;
    *out = (struct ArrowArray){.length = 0};
    if (rows == 0) return 0;
    p->left -= rows;
    begin_array(out, rows, 1);
    out->n_children = COLUMNS;
    out->children = calloc(COLUMNS, sizeof *out->children);
    for (int c = 0; c < COLUMNS; c++) {
        out->children[c] = calloc(1, sizeof **out->children);
        make_column(p, out->children[c], c, rows);
    }
    return 0;
}

static void end_stream(struct ArrowArrayStream *stream)
{
    stream->release = NULL;
}

/* ---- Stages ---- */

static double begun, processor;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void stage(const char *name, kn_context *ctx)
{
    struct rusage usage;
    double        cpu = (double)clock() / CLOCKS_PER_SEC;
    getrusage(RUSAGE_SELF, &usage);
    printf("%-12s %7.2f s, %7.2f s of processor, context at most %5" PRIu64 " MB, process at most %5ld MB\n", name,
           now() - begun, cpu - processor, kn_context_memory_peak(ctx) >> 20, usage.ru_maxrss >> 10);
    begun = now();
    processor = (double)clock() / CLOCKS_PER_SEC;
}

static void must(kn_status st, const kn_error *err)
{
    if (st == KN_OK) return;
    fprintf(stderr, "%s\n", err->message);
    exit(kn_status_exit_code(st));
}

static void release(kn_context *ctx, const char *output)
{
    kn_error         err = KN_ERROR_INIT;
    kn_spec         *spec = NULL;
    kn_release_head *head = NULL;
    char             text[sizeof request + 200];
    int              n = snprintf(text, sizeof text, request, output);
    must(kn_spec_read_text(&spec, ctx, text, (size_t)n, NULL, &err), &err);
    must(kn_spec_check(spec, &err), &err);
    must(kn_anonymize_any(&head, ctx, spec, NULL, &err), &err);
    if (!head->found) fprintf(stderr, "no release: %s\n", head->reason);
    printf("             read %.2f s, search %.2f s, verify %.2f s, write %.2f s; digest %.16s\n", head->seconds_read,
           head->seconds_search, head->seconds_verify, head->seconds_write, head->sha256);
    kn_release_head_free(head);
    kn_spec_free(spec);
}

int main(int argc, char **argv)
{
    kn_error                err = KN_ERROR_INIT;
    kn_context             *ctx = NULL;
    producer                p = {argc > 1 ? strtoll(argv[1], NULL, 10) : 1000000, 1};
    const char             *output = argc > 2 ? argv[2] : "memory:out";
    struct ArrowArrayStream stream = {get_schema, get_next, NULL, end_stream, &p};
    for (int c = 0; c < COLUMNS; c++)
        if (formats[c][0] == 'i') make_texts(c);
    must(kn_context_create(&ctx, NULL, &err), &err);
    begun = now();
    must(kn_memory_put_arrow(ctx, "memory:in", &stream, &err), &err);
    stage("made", ctx);
    release(ctx, output);
    stage("release", ctx);
    must(kn_memory_get_arrow(&stream, ctx, output, NULL, &err), &err);
    int64_t rows = 0;
    for (struct ArrowArray array;;) {
        if (stream.get_next(&stream, &array) != 0) return 3;
        if (!array.release) break;
        rows += array.length;
        array.release(&array);
    }
    stream.release(&stream);
    stage("stream out", ctx);
    printf("             %" PRId64 " rows\n", rows);
    kn_context_free(ctx);
    return 0;
}
