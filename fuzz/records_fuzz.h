/* records_fuzz.h: what the fuzz targets of tree records share: bytes → records → bytes → the same records.
 *
 * The file and the hierarchy stand in memory under /proc. What was read must be valid; released as it is and written in its
 * own form, or in another, it must be read back the same.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RECORDS_FUZZ_H
#define RECORDS_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kn_records.h"
#include "kn_records_write.h"
#include "kn_utf8.h"

enum { FUZZ_MAX_FILE = 1 << 14 };

static struct {
    int           file, hierarchy;
    char          path[64], hierarchy_path[64];
    kn_context   *ctx;
    kn_spec_class classes[4];
} fuzz;

static inline void demand(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "fuzz: %s\n", what);
    abort();
}

static inline void put_file(int fd, const void *data, size_t size)
{
    demand(ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size, "the file is not written");
}

static inline void prepare(void)
{
    static const char text[] = "a;x;A;*\nb;x;A;*\nc;B;*\nd;B;*\ne;y;C;*\n1;y;C;*\n";
    static const char *const names[] = {"A", "B", "C", "D"};
    if (fuzz.ctx) return;
    kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
    options.threads = 1;
    options.memory_limit = (uint64_t)1 << 30;
    demand(kn_context_create(&fuzz.ctx, &options, NULL) == KN_OK, "no context");
    fuzz.file = memfd_create("file", 0);
    fuzz.hierarchy = memfd_create("hierarchy", 0);
    demand(fuzz.file >= 0 && fuzz.hierarchy >= 0, "no file in memory");
    snprintf(fuzz.path, sizeof fuzz.path, "/proc/self/fd/%d", fuzz.file);
    snprintf(fuzz.hierarchy_path, sizeof fuzz.hierarchy_path, "/proc/self/fd/%d", fuzz.hierarchy);
    put_file(fuzz.hierarchy, text, sizeof text - 1);
    for (int i = 0; i < 4; i++) {
        fuzz.classes[i] = (kn_spec_class){.name = names[i], .has_hierarchy = i < 3, .hierarchy = KN_HIERARCHY_SPEC_INIT};
        fuzz.classes[i].hierarchy.path = fuzz.hierarchy_path;
    }
}

static inline kn_records *read_records(const kn_records_options *options)
{
    kn_records *r = NULL;
    kn_error    err = KN_ERROR_INIT;
    const char *reason = "";
    kn_status   st = kn_records_read(&r, fuzz.ctx, fuzz.path, options, &err);
    demand((st == KN_OK) == (r != NULL), "records and an error, or neither");
    demand(st == KN_OK || st == KN_INPUT || st == KN_MEMORY, "an unexpected status");
    demand(st == KN_OK || err.message[0] != '\0', "a failure without a message");
    demand(kn_utf8_check(err.message, strlen(err.message)) == strlen(err.message), "a message that is not UTF-8");
    if (!r) return NULL;
    demand(kn_vocabulary_validate(r->vocabulary, &reason), reason);
    demand(kn_records_validate(r, &reason), reason);
    return r;
}

/* Text with control characters cannot be told in every form. */
static inline bool is_plain(const kn_records *r)
{
    const kn_vocabulary *v = r->vocabulary;
    for (uint64_t i = 0; i < v->label_start[v->nodes]; i++)
        if ((unsigned char)v->label_bytes[i] < 0x20) return false;
    return true;
}

/* Values side by side have no order of their own: that of numbers before a release is that of texts behind it. */
static inline void same_baskets(const kn_records *a, const kn_records *b)
{
    for (int64_t r = 0; r < (int64_t)a->count; r++)
        for (uint64_t i = a->start[r]; i < a->start[r + 1]; i++) {
            kn_string text = kn_vocabulary_label(a->vocabulary, a->value[i]);
            uint64_t  j = a->start[r];
            while (j < a->start[r + 1] && !kn_string_equal(text, kn_vocabulary_label(b->vocabulary, b->value[j]))) j++;
            demand(j < a->start[r + 1], "read again with another value");
        }
}

static inline void read_again(const kn_records *r, kn_records_options options, kn_records_layout layout)
{
    kn_buffer text;
    kn_error  err = KN_ERROR_INIT;
    kn_buffer_init(&text, fuzz.ctx);
    kn_status st = kn_records_format(&text, r, &layout, options.classes, options.class_count, &err);
    if (st == KN_USAGE) { /* a form that cannot hold it */
        kn_buffer_free(&text);
        return;
    }
    demand(st == KN_OK, "not written");
    put_file(fuzz.file, text.data, text.size);
    kn_buffer_free(&text);
    options.form = layout.form;
    options.released = true;
    if (!layout.path) options.record = NULL;
    kn_records *again = read_records(&options);
    demand(again != NULL, "what was written is not read");
    demand(again->count == r->count && again->nodes == r->nodes, "read again with another size");
    demand(memcmp(again->start, r->start, ((size_t)r->count + 1) * sizeof *r->start) == 0, "read again with other records");
    if (layout.form == KN_RECORDS_BASKETS) same_baskets(r, again);
    for (uint64_t i = 0; layout.form != KN_RECORDS_BASKETS && i < r->nodes; i++) {
        kn_string a = kn_vocabulary_label(r->vocabulary, r->value[i]);
        kn_string b = kn_vocabulary_label(again->vocabulary, again->value[i]);
        demand(again->parent[i] == r->parent[i] && kn_string_equal(a, b), "read again with another node");
        demand(again->vocabulary->cls[again->value[i]] == r->vocabulary->cls[r->value[i]], "read again with another class");
    }
    demand(again->merged == 0 && again->ignored_count == 0, "read again with something to pass over");
    kn_records_free(again);
}

/* The first byte chooses: how many classes, where their values stand, released or not. */
static inline void try_records(kn_records_form form, uint8_t choice, const void *data, size_t size, const char *record)
{
    static const char *const places[] = {NULL, "@v", "text", "k"};
    kn_records_options options = KN_RECORDS_OPTIONS_INIT;
    prepare();
    options.form = form;
    options.classes = fuzz.classes;
    options.class_count = choice & 1 ? 4 : 3;
    options.released = choice & 2;
    options.record = record;
    for (int i = 0; i < 4; i++) fuzz.classes[i].value = i == 1 ? places[choice >> 2 & 3] : NULL;
    put_file(fuzz.file, data, size);
    uint64_t    before = kn_context_memory_used(fuzz.ctx);
    kn_records *r = read_records(&options);
    if (r && is_plain(r)) {
        kn_records_layout other = {.form = form == KN_RECORDS_XML ? KN_RECORDS_JSON_LINES : KN_RECORDS_XML,
                                   .nested = choice & 16,
                                   .classes = choice & 32};
        read_again(r, options, r->layout);
        if (!(choice & 1)) read_again(r, options, other);
    }
    kn_records_free(r);
    demand(kn_context_memory_used(fuzz.ctx) == before, "memory was left");
}

#endif
