/* fuzz_verify.c: the verifier's own readers, which share nothing with those of the methods, against these.
 *
 * The first byte chooses: t a table, h a hierarchy, x a taxonomy, m a row map, j a journal beside a release; the rest is the file. Of a table
 * both readers have the same cells, or neither takes it; a tree that the methods take is the same to the verifier, which takes some more. A row map and a journal that were read are written and read as the
 * same. SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include <kanon/memory.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kn_alloc.h"
#include "kn_csv_read.h"
#include "kn_hierarchy.h"
#include "kn_hierarchy_file.h"
#include "kn_output.h"
#include "kn_private.h"
#include "kn_set_steps.h"
#include "kn_table.h"
#include "kn_verify_internal.h"
#include "kn_verify_rowmap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char file[] = "memory:fuzz.csv";

static void demand(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "fuzz_verify: %s\n", what);
    abort();
}

static void check_failure(kn_status st, const kn_error *err)
{
    demand(st == KN_INPUT || st == KN_USAGE || st == KN_MEMORY, "a failure that is none of the input");
    demand(err->message[0] != '\0', "a failure without a message");
}

/* ---- Tables ---- */

static kn_string cell_of(const kn_table *t, int column, int64_t row)
{
    kn_string text = {NULL, 0};
    text.data = kn_table_text(t, column, kn_table_code(t, column, row), &text.size);
    return text;
}

static void same_cells(const kn_table *a, const kn_vtable *b)
{
    demand(a->rows == b->rows && a->column_count == b->name_count && b->column_count == b->name_count,
           "tables of different sizes");
    for (int c = 0; c < a->column_count; c++) {
        const kn_vcolumn *column = &b->columns[b->kept[c]];
        demand(kn_string_equal(kn_string_of(a->columns[c].name), b->names[c]), "different names");
        for (int64_t r = 0; column->texts && r < a->rows; r++)
            demand(kn_string_equal(cell_of(a, c, r), column->texts[kn_vcode(column, r)]), "different cells");
    }
}

static void try_table(kn_context *ctx, size_t piece)
{
    static const char *const none[] = {NULL};
    const char              *path = file;
    kn_csv_options           csv = KN_CSV_OPTIONS_INIT;
    kn_table                *table = NULL;
    kn_vtable               *other = NULL;
    kn_error                 err = KN_ERROR_INIT, second = KN_ERROR_INIT;
    csv.na = none;
    csv.delimiter = ',';
    const kn_vread_options read = {.csv = &csv, .all = true, .piece = piece};
    /* Everything is text: values are another question (fuzz_value). */
    kn_csv_names    names = {0};
    kn_status       st = kn_csv_read_names(&names, ctx, file, &csv, &err);
    int             count = st == KN_OK ? names.count : 0;
    kn_column_type *types = calloc((size_t)count + 1, sizeof *types);
    demand(types != NULL, "no memory");
    for (int i = 0; i < count; i++) types[i] = (kn_column_type){names.names[i], KN_TYPE_TEXT, NULL};
    csv.types = types;
    csv.type_count = count;
    st = kn_csv_read_pieces(&table, ctx, &path, 1, &csv, piece, &err);
    kn_status vst = kn_vtable_read(&other, ctx, &path, 1, &read, &second);
    if (st != KN_OK) check_failure(st, &err);
    if (vst != KN_OK) check_failure(vst, &second);
    if ((st == KN_OK) != (vst == KN_OK)) fprintf(stderr, "%s | %s\n", err.message, second.message);
    demand((st == KN_OK) == (vst == KN_OK), "a table for one of them only");
    if (st == KN_OK) same_cells(table, other);
    kn_table_free(table);
    kn_vtable_free(other);
    kn_csv_names_free(&names);
    free(types);
}

/* ---- Hierarchies ---- */

static void try_tree(kn_context *ctx, kn_hierarchy_kind kind)
{
    kn_hierarchy_spec spec = KN_HIERARCHY_SPEC_INIT;
    kn_hierarchy     *h = NULL;
    kn_vtree         *tree = NULL;
    kn_error          err = KN_ERROR_INIT, second = KN_ERROR_INIT;
    kn_vdomain        domain = {0};
    spec.kind = kind;
    spec.path = file;
    kn_attribute attribute = {.name = "x", .has_hierarchy = true, .hierarchy = spec};
    kn_status    st = kn_hierarchy_read_file(&h, ctx, &spec, &err);
    kn_status    vst = kn_vtree_make(&tree, ctx, &attribute, &domain, &second);
    if (st != KN_OK) check_failure(st, &err);
    if (vst != KN_OK) check_failure(vst, &second);
    if (st == KN_OK && vst != KN_OK) fprintf(stderr, "%s\n", second.message);
    demand(st != KN_OK || vst == KN_OK, "the verifier cannot read a tree that the methods use");
    if (h) demand(h->leaves == tree->leaves && h->height == tree->height, "trees of different sizes");
    kn_hierarchy_free(h);
    kn_vtree_free(tree);
}

/* ---- Row maps and journals ---- */

static void try_rowmap(kn_context *ctx)
{
    int64_t  *map = NULL, *again = NULL, count = 0, same = 0;
    kn_error  err = KN_ERROR_INIT;
    kn_status st = kn_vrowmap_take(&map, &count, ctx, NULL, 0, file, "row", &err);
    if (st != KN_OK) {
        check_failure(st, &err);
    } else {
        kn_buffer text;
        kn_buffer_init(&text, ctx);
        kn_buffer_add(&text, "kanon-rowmap 1\n");
        for (int64_t i = 0; i < count; i++) {
            demand(map[i] >= 0, "a row that is none");
            kn_buffer_format(&text, "%lld\n", (long long)map[i] + 1);
        }
        demand(kn_memory_put(ctx, "memory:again", text.data, text.size, NULL) == KN_OK, "no memory");
        demand(kn_vrowmap_take(&again, &same, ctx, NULL, 0, "memory:again", "row", &err) == KN_OK && same == count &&
                   (count == 0 || memcmp(map, again, (size_t)count * sizeof *map) == 0),
               "another map the second time");
        kn_buffer_free(&text);
    }
    kn_free(map);
    kn_free(again);
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static void try_journal(kn_context *ctx, const void *data, size_t size)
{
    static char  place[64];
    kn_set_steps steps = {.ctx = ctx, .name = "fuzz", .journal = place},
                 again = {.ctx = ctx, .name = "fuzz", .journal = place};
    kn_error err = KN_ERROR_INIT;
    snprintf(place, sizeof place, "/dev/shm/kanon-fuzz-%ld.journal", (long)getpid());
    FILE *to = fopen(place, "wb");
    demand(to && fchmod(fileno(to), 0600) == 0 && fwrite(data, 1, size, to) == size && fclose(to) == 0, "not written");
    demand(kn_set_journal_read(&steps, &err) == KN_OK, "a journal that is not read");
    unlink(place);
    demand(steps.count >= 0 && steps.count <= KN_SET_STEPS, "too many steps");
    for (int i = 0; i < steps.count; i++) {
        demand((steps.list[i].target == NULL) == (steps.list[i].backup == NULL),
               "a target without the old file's name");
        demand(!steps.list[i].target || steps.list[i].target[0] == '/', "a path that is not absolute");
    }
    if (steps.count > 0) {
        demand(kn_set_journal_write(&steps, &err) == KN_OK && kn_set_journal_read(&again, &err) == KN_OK,
               "not written again");
        demand(steps.count == again.count, "another number of steps the second time");
        for (int i = 0; i < steps.count; i++) {
            const kn_set_step *a = &steps.list[i], *b = &again.list[i];
            demand(same_text(a->temporary, b->temporary) && same_text(a->target, b->target) &&
                       same_text(a->backup, b->backup) && a->mode == b->mode && a->file == b->file &&
                       a->size == b->size,
                   "another step the second time");
        }
        unlink(place);
    }
    kn_set_steps_free(&steps);
    kn_set_steps_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > 1 << 14) return 0;
    kn_context        *ctx = NULL;
    kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
    options.threads = 1;
    options.memory_limit = 1 << 28;
    if (kn_context_create(&ctx, &options, NULL) != KN_OK) return 0;
    demand(kn_memory_put(ctx, file, data + 2, size - 2, NULL) == KN_OK, "no memory");
    switch (data[0]) {
    case 't': try_table(ctx, 1 + data[1] % 67); break;
    case 'h': try_tree(ctx, KN_HIERARCHY_FILE); break;
    case 'x': try_tree(ctx, KN_HIERARCHY_TAXONOMY); break;
    case 'm': try_rowmap(ctx); break;
    case 'j': try_journal(ctx, data + 2, size - 2); break;
    default: break;
    }
    kn_context_free(ctx);
    return 0;
}
