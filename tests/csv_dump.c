/* csv_dump.c: the C side of csv_python.py: reads CSV files and prints what it found.
 *
 * One job per line of standard input, fields separated by tabs: path, delimiter (its character code; 0: sniffed), header
 * (0 or 1), size of the pieces, threads. One line of answer per job:
 *
 *     E <status> <line> <column>                             the file is refused
 *     T <rows> <columns> <delimiter> <cell>,<cell>,...       names (with a header) and cells, row by row, in hexadecimal
 *     X <what>                                               something that must never be
 *
 * Every cell is read as text and none is missing. The columns' names come from a first reading with inferred types, which
 * must be refused exactly where the second one is.
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_csv_read.h"

enum { MAX_THREADS = 16 };

typedef struct job {
    char   path[4096];
    int    delimiter, header, threads;
    size_t piece;
} job;

static void print_hex(const char *text, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < size; i++) {
        putchar(digits[(unsigned char)text[i] >> 4]);
        putchar(digits[text[i] & 15]);
    }
    putchar(',');
}

static void print_table(const kn_table *table, bool header)
{
    int columns = kn_table_columns(table);
    printf("T %" PRId64 " %d %d ", kn_table_rows(table), columns, kn_table_delimiter(table));
    for (int c = 0; header && c < columns; c++) print_hex(kn_table_name(table, c), strlen(kn_table_name(table, c)));
    for (int64_t r = 0; r < kn_table_rows(table); r++) {
        for (int c = 0; c < columns; c++) {
            size_t      size = 0;
            const char *text = kn_table_text(table, c, kn_table_code(table, c, r), &size);
            print_hex(text, size);
        }
    }
    putchar('\n');
}

/* The same file again with every column declared text. */
static kn_status read_texts(kn_table **out, kn_context *ctx, const job *j, kn_csv_options *options,
                            const kn_table *inferred, kn_error *err)
{
    int             columns = kn_table_columns(inferred);
    kn_column_type *types = calloc((size_t)columns, sizeof *types);
    if (!types) exit(3);
    for (int c = 0; c < columns; c++) types[c] = (kn_column_type){kn_table_name(inferred, c), KN_TYPE_TEXT, NULL};
    options->types = types;
    options->type_count = columns;
    const char *path = j->path;
    kn_status   st = kn_csv_read_pieces(out, ctx, &path, 1, options, j->piece, err);
    free(types);
    return st;
}

static void run(kn_context *ctx, const job *j)
{
    static const char *const none[] = {NULL};
    kn_csv_options           options = KN_CSV_OPTIONS_INIT;
    options.delimiter = (char)j->delimiter;
    options.no_header = !j->header;
    options.na = none;
    kn_table   *inferred = NULL, *texts = NULL;
    kn_error    err = KN_ERROR_INIT;
    const char *path = j->path, *reason = NULL;
    if (kn_csv_read_pieces(&inferred, ctx, &path, 1, &options, j->piece, &err) != KN_OK) {
        printf("E %d %" PRId64 " %" PRId64 "\n", (int)err.status, err.line, err.column);
    } else if (!kn_table_validate(inferred, &reason)) {
        printf("X %s\n", reason);
    } else if (read_texts(&texts, ctx, j, &options, inferred, &err) != KN_OK) {
        printf("X read once but not twice: %s\n", err.message);
    } else if (!kn_table_validate(texts, &reason)) {
        printf("X %s\n", reason);
    } else if (kn_table_rows(texts) != kn_table_rows(inferred)) {
        printf("X inferred types change the number of rows\n");
    } else {
        print_table(texts, j->header);
    }
    kn_table_free(inferred);
    kn_table_free(texts);
}

int main(void)
{
    kn_context *contexts[MAX_THREADS + 1] = {NULL};
    char        line[8192];
    while (fgets(line, sizeof line, stdin)) {
        job j;
        if (sscanf(line, "%4095[^\t]\t%d\t%d\t%zu\t%d", j.path, &j.delimiter, &j.header, &j.piece, &j.threads) != 5 ||
            j.threads < 1 || j.threads > MAX_THREADS || j.piece < 1) {
            fprintf(stderr, "csv_dump: not a job: %s", line);
            return 2;
        }
        if (!contexts[j.threads]) {
            kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
            options.threads = j.threads;
            if (kn_context_create(&contexts[j.threads], &options, NULL) != KN_OK) return 3;
        }
        run(contexts[j.threads], &j);
        fflush(stdout);
    }
    for (int i = 0; i <= MAX_THREADS; i++) kn_context_free(contexts[i]);
    return 0;
}
