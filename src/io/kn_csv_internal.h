/* kn_csv_internal.h: shared by kn_csv_read.c (files, headers, messages), kn_csv_wave.c (the parallel work) and kn_csv_stream.c. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_CSV_INTERNAL_H
#define KN_CSV_INTERNAL_H

#include <kanon/table.h>

#include <stdatomic.h>

#include "kn_arena.h"
#include "kn_buffer.h"
#include "kn_builder.h"
#include "kn_csv_scan.h"
#include "kn_sha256.h"
#include "kn_source.h"

enum { KN_CSV_MAX_COLUMNS = 65535, KN_CSV_PADDING = 16 /* bytes behind the buffer that can be read (kn_interner.h) */ };

typedef enum kn_csv_fault {
    KN_CSV_FINE,
    KN_CSV_GRAMMAR, /* see `result`                          */
    KN_CSV_BYTES,   /* not in the given encoding, or NUL     */
    KN_CSV_MEMORY
} kn_csv_fault;

/* One piece of the wave and what a worker found in it. */
typedef struct kn_csv_piece {
    size_t        begin, stop; /* the records that begin in [begin, stop) of the buffer         */
    size_t        end;         /* where the next record begins                                  */
    size_t        quotes;      /* in it                                                         */
    uint64_t      lines;       /* line ends passed                                              */
    int64_t       records;
    int64_t       first_row;
    int           slot; /* the worker whose ids these are                                */
    bool          more; /* the record at `end` continues after the buffer                */
    kn_csv_fault  fault;
    kn_csv_result result;
    size_t        fault_at; /* in the buffer                                                 */
    uint32_t     *ids;      /* [batch][selected column][record of the batch]                 */
    size_t        ids_capacity;
} kn_csv_piece;

/* The scratch memory of one worker. */
typedef struct kn_csv_worker {
    kn_csv_scanner scanner;
    kn_csv_field  *fields; /* a batch of records × columns              */
    kn_buffer      single; /* a cell with its doubled quotes made single */
    kn_buffer      utf8;   /* a cell in UTF-8                            */
} kn_csv_worker;

typedef struct kn_csv_reader {
    kn_context           *ctx;
    const kn_csv_options *opt;
    size_t                piece_size;
    bool                  quiet; /* no progress: another thread may read */
    kn_arena              arena;
    /* the table */
    int         columns;  /* in the file                          */
    int         selected; /* in the table                         */
    int        *select;   /* selected column → column of the file */
    kn_string  *names;    /* of the file's columns                */
    bool       *unnamed;  /* the file has no name for it          */
    size_t      batch;    /* records that are interned at a time  */
    kn_builder *builder;
    /* the file being read */
    kn_source *source;
    char       delimiter;
    char      *buffer;
    size_t     capacity, filled;
    bool       ended; /* the end of the file is in the buffer */
    size_t     at;    /* the next record                  */
    uint64_t   line;  /* line ends before `at`            */
    uint64_t   told;  /* bytes reported as progress       */
    kn_sha256 *digest; /* of the file's bytes up to `hashed`; NULL: not asked for */
    size_t     hashed; /* in the buffer                                           */
    /* the workers */
    kn_csv_worker *workers;
    int            worker_count;
    kn_csv_piece  *pieces;
    int            piece_count, piece_capacity;
    atomic_int     unscanned; /* pieces of the wave */
} kn_csv_reader;

/* A reader with its context, options and piece size set, and perhaps a number of workers; close it in any case. A file is opened and its
 * header read, or compared with the first one's; the first one's says which columns are selected. */
KN_CHECK kn_status kn_csv_reader_open(kn_csv_reader *r, kn_error *err);
KN_CHECK kn_status kn_csv_reader_file(kn_csv_reader *r, const char *path, bool first, kn_error *err);
void               kn_csv_reader_close(kn_csv_reader *r);

/* The text of a cell, in UTF-8 and without doubled quotes; NULL data: out of memory. */
kn_string kn_csv_cell_text(const kn_csv_reader *r, kn_csv_worker *w, kn_csv_field field);

/* Fills the buffer after what is still in it; doubles it if a record does not fit. */
KN_CHECK kn_status kn_csv_fill(kn_csv_reader *r, kn_error *err);

/* Adds what is new in the buffer to the digest. */
void kn_csv_digest(kn_csv_reader *r);

/* Reads all records from r->at to the end of the file into the builder. */
KN_CHECK kn_status kn_csv_read_records(kn_csv_reader *r, kn_error *err);

/* The message for a fault at a place of the buffer; `from` ≤ at is a place whose line number (0-based) is known. */
kn_status kn_csv_fail(kn_csv_reader *r, kn_csv_fault fault, kn_csv_result result, size_t at, size_t from,
                      uint64_t from_line, kn_error *err);

/* The offset of the first byte of a text that is not of the input's encoding; `size` if there is none. */
size_t kn_csv_wrong_byte(const kn_csv_reader *r, const char *text, size_t size);

/* KN_MEMORY with an estimate of what the whole input would need. */
kn_status kn_csv_fail_memory(kn_csv_reader *r, kn_error *err);

#endif
