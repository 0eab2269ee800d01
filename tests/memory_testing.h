/* memory_testing.h: the same request in files and in memory (kanon/memory.h), for the tests of names in memory. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MEMORY_TESTING_H
#define MEMORY_TESTING_H

#include <dirent.h>
#include <kanon/anonymize.h>
#include <kanon/memory.h>
#include <kanon/verify.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "testing.h"

static char files[200]; /* what is read and written as files */
static char empty[250]; /* the working folder: nothing may appear there */

static inline int set_up(void **state)
{
    (void)state;
    snprintf(files, sizeof files, "%s/kanon-memory-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    if (!mkdtemp(files)) return -1;
    snprintf(empty, sizeof empty, "%s/empty", files);
    return mkdir(empty, 0700) == 0 && chdir(empty) == 0 ? 0 : -1;
}

static inline int tear_down(void **state)
{
    char command[300];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", files);
    return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

static inline void assert_nothing_written(void)
{
    DIR *d = opendir(empty);
    assert_non_null(d);
    for (struct dirent *e = readdir(d); e; e = readdir(d)) assert_int_equal(e->d_name[0], '.');
    closedir(d);
}

static inline const char *path_of(const char *name)
{
    static char paths[4][400];
    static int  next;
    char       *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", files, name);
    return path;
}

/* Writes the same bytes to a file and into memory. */
static inline void put_both(kn_context *ctx, const char *name, const char *text)
{
    char     memory[300];
    kn_error err = KN_ERROR_INIT;
    FILE    *f = fopen(path_of(name), "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    snprintf(memory, sizeof memory, "memory:%s", name);
    assert_ok(kn_memory_put(ctx, memory, text, strlen(text), &err), err);
}

/* Puts a file that was generated, or that an example has, into memory too. */
static inline void put_file(kn_context *ctx, const char *name)
{
    size_t   size = 0;
    char     memory[300];
    kn_error err = KN_ERROR_INIT;
    char    *text = testing_contents(path_of(name), &size);
    snprintf(memory, sizeof memory, "memory:%s", name);
    assert_ok(kn_memory_put(ctx, memory, text, size, &err), err);
    free(text);
}

/* The release file with "@" for where things are, and "^" for "@". */
static inline size_t put_in_place(char *to, size_t room, const char *form, const char *place)
{
    size_t n = 0;
    for (const char *c = form; *c; c++)
        n += (size_t)snprintf(to + n, room - n, "%.*s", *c == '@' ? (int)strlen(place) : 1,
                              *c == '@'   ? place
                              : *c == '^' ? "@"
                                          : c);
    return n;
}

static inline kn_spec *spec_of(kn_context *ctx, const char *form, const char *place)
{
    char     text[4000];
    size_t   n = put_in_place(text, sizeof text, form, place);
    kn_error err = KN_ERROR_INIT;
    kn_spec *spec = NULL;
    assert_ok(kn_spec_read_text(&spec, ctx, text, n, NULL, &err), err);
    assert_ok(kn_spec_check(spec, &err), err);
    return spec;
}

static inline bool release(kn_context *ctx, const char *form, const char *place)
{
    kn_error             err = KN_ERROR_INIT;
    kn_spec             *spec = spec_of(ctx, form, place);
    kn_release_head     *head = NULL;
    kn_anonymize_options options = KN_ANONYMIZE_OPTIONS_INIT;
    options.version = "test";
    if (kn_anonymize_any(&head, ctx, spec, &options, &err) != KN_OK) fail_msg("%s: %s\n%s", place, err.message, form);
    bool found = head->found;
    kn_release_head_free(head);
    kn_spec_free(spec);
    return found;
}

static inline void assert_same_bytes(kn_context *ctx, const char *name)
{
    kn_error    err = KN_ERROR_INIT;
    char        memory[300];
    const void *bytes = NULL;
    size_t      size = 0, there = 0;
    snprintf(memory, sizeof memory, "memory:%s", name);
    assert_ok(kn_memory_get(&bytes, &size, ctx, memory, &err), err);
    char *file = testing_contents(path_of(name), &there);
    if (size != there || memcmp(bytes, file, size) != 0)
        fail_msg("%s differs: in memory\n%.*s\nin the file\n%.*s", name, (int)size, (const char *)bytes, (int)there,
                 file);
    free(file);
}

/* The table of a CSV file in its place, as Arrow batches of a few rows. */
static inline void put_as_arrow(kn_context *ctx, const char *name)
{
    kn_error                err = KN_ERROR_INIT;
    char                    memory[300];
    kn_table               *table = NULL;
    struct ArrowArrayStream stream;
    kn_csv_options          csv = KN_CSV_OPTIONS_INIT;
    kn_arrow_export_options options = KN_ARROW_EXPORT_OPTIONS_INIT;
    kn_column_type          text = {"zip", KN_TYPE_TEXT, NULL};
    csv.types = &text;
    csv.type_count = strcmp(name, "in.csv") == 0;
    options.batch_rows = 7;
    options.decimal_text = false;
    snprintf(memory, sizeof memory, "memory:%s", name);
    assert_ok(kn_table_read_csv(&table, ctx, path_of(name), &csv, &err), err);
    assert_ok(kn_table_export_arrow(&stream, table, ctx, &options, &err), err);
    assert_ok(kn_memory_put_arrow(ctx, memory, &stream, &err), err);
    kn_table_free(table);
}

/* Does the verifier say yes to what is in memory under these names? */
static inline bool holds(kn_context *ctx, const char *form)
{
    kn_error                   err = KN_ERROR_INIT;
    kn_spec                   *spec = spec_of(ctx, form, "memory:");
    kn_verify_report          *table = NULL;
    kn_database_verify_report *database = NULL;
    kn_records_verify_report  *records = NULL;
    switch (kn_spec_shape(spec)) {
    case KN_SHAPE_TABLE: assert_ok(kn_verify(&table, ctx, spec, NULL, &err), err); break;
    case KN_SHAPE_DATABASE: assert_ok(kn_verify_database(&database, ctx, spec, NULL, &err), err); break;
    case KN_SHAPE_RECORDS: assert_ok(kn_verify_records(&records, ctx, spec, NULL, &err), err); break;
    }
    bool yes = table ? table->ok : database ? database->ok : records->ok;
    kn_verify_report_free(table);
    kn_database_verify_report_free(database);
    kn_records_verify_report_free(records);
    kn_spec_free(spec);
    return yes;
}

/* The same with one byte of a released file changed. */
static inline void assert_spoiled(kn_context *ctx, const char *form, const char *name)
{
    kn_error    err = KN_ERROR_INIT;
    char        memory[300];
    const void *bytes = NULL;
    size_t      size = 0;
    snprintf(memory, sizeof memory, "memory:%s", name);
    assert_ok(kn_memory_get(&bytes, &size, ctx, memory, &err), err);
    char *copy = malloc(size);
    memcpy(copy, bytes, size);
    copy[size - 2] ^= 1;
    assert_ok(kn_memory_put(ctx, memory, copy, size, &err), err);
    free(copy);
    assert_false(holds(ctx, form));
}

/* From files and from memory: the same bytes of everything that may be published. */
static inline bool compare(kn_context *ctx, const char *form, const char *const *outputs)
{
    char place[300];
    snprintf(place, sizeof place, "%s/", files);
    bool found = release(ctx, form, place);
    assert_int_equal(release(ctx, form, "memory:"), found);
    for (int i = 0; found && outputs[i]; i++) assert_same_bytes(ctx, outputs[i]);
    if (found && !holds(ctx, form)) fail_msg("the verifier says no: %s", form);
    if (found && strstr(outputs[0], ".csv")) assert_spoiled(ctx, form, outputs[0]);
    assert_nothing_written();
    return found;
}

#endif
