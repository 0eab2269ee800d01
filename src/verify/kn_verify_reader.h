/* kn_verify_reader.h: the verifier's own reader of CSV files: files, headers, messages (table/read_header.c, table/read.c), shared by a
 * reading of the whole (table/read.c) and one in blocks (table/text.c).
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_VERIFY_READER_H
#define KN_VERIFY_READER_H

#include "kn_buffer.h"
#include "kn_csv_scan.h"
#include "kn_sha256.h"
#include "kn_source.h"
#include "kn_verify_internal.h"

enum { KN_VREADER_BATCH = 512, KN_VREADER_COLUMNS = 65535 }; /* records that are scanned at a time; most columns */

typedef struct kn_vpiece {
    size_t        begin, stop, end;
    size_t        quotes;
    int           worker;
    bool          more;     /* the record at `end` is incomplete    */
    bool          memory;   /* ran out of it                        */
    bool          bytes;    /* `fault_at` is not text               */
    kn_csv_result result;   /* OK, MORE or what is wrong            */
    size_t        fault_at; /* in the window                        */
    int64_t       records, first_row;
    uint64_t      lines; /* line ends passed */
    uint32_t     *ids;   /* [batch of KN_VREADER_BATCH records][kept column][record of the batch] */
    size_t        capacity;
    uint32_t     *known; /* per kept column: texts that its worker had when it was done */
    bool          done;  /* they are there */
    kn_vform      form;
} kn_vpiece;

typedef struct kn_vworker {
    kn_csv_scanner scanner;
    kn_csv_field  *fields;
    kn_string     *above; /* per kept column: the text of the cell above, in this worker's own bytes */
    uint32_t      *above_id;
    kn_buffer      single, utf8;
} kn_vworker;

typedef struct kn_vreader {
    kn_context             *ctx;
    kn_arena                arena; /* freed with the reader     */
    const kn_vread_options *opt;
    bool                    quiet; /* no progress: another thread may read */
    kn_vtable              *t;
    kn_source              *source;
    char                   *window;
    size_t                  capacity, filled, at, hashed;
    bool                    ended;
    bool                    bare; /* the window before this one has no quotes */
    uint64_t                line, told;
    size_t                  piece_size;
    kn_vworker             *workers;
    int                     worker_count;
    kn_vpiece              *pieces;
    int                     piece_count, piece_capacity;
    uint32_t              **common; /* per worker and kept column: local number → common number */
    uint32_t               *merged; /* per worker and kept column: how many have one            */
    size_t                 *common_capacity;
    int                    *place; /* per kept column: its position in a record                  */
    size_t                  row_capacity;
    bool                    disordered; /* a piece was scanned again, or in vain: numbers are not in the order of rows */
    kn_sha256               digest;
} kn_vreader;

/* A reader with its context and options set, and perhaps a number of workers; close it in any case. The table it makes is the
 * caller's. */
KN_CHECK kn_status kn_vreader_open(kn_vreader *r, kn_error *err);
void               kn_vreader_close(kn_vreader *r);

/* Opens a file and reads its header, or compares it with the first one's. `fields`: room for KN_VREADER_COLUMNS. */
KN_CHECK kn_status kn_vreader_file(kn_vreader *r, const char *path, bool first, kn_csv_field *fields, kn_error *err);
KN_CHECK kn_status kn_vreader_header(kn_vreader *r, bool first, kn_csv_field *fields, kn_error *err);

/* Fills the window behind what is still in it; adds what is new to the digest, if one is wanted. */
KN_CHECK kn_status kn_vreader_fill(kn_vreader *r, kn_error *err);
void               kn_vreader_digest(kn_vreader *r);

/* Texts → numbers (table/number.c): of records that were scanned, for the worker of their piece; at the end of a piece; of all rows behind
 * `done`, once the pieces are chained; in the order of the rows, at the end. false: out of memory. */
bool               kn_vnumber_cells(kn_vreader *r, kn_vpiece *p, size_t records);
bool               kn_vnumber_piece(const kn_vreader *r, kn_vpiece *p);
KN_CHECK kn_status kn_vnumber_rows(kn_vreader *r, int64_t done, kn_error *err);
KN_CHECK kn_status kn_vnumber_end(kn_vreader *r, kn_error *err);

/* A cell's text without doubled quotes and in UTF-8; data NULL: out of memory. */
kn_string kn_vreader_cell(const kn_vreader *r, kn_vworker *w, kn_csv_field field);

/* Takes over what a scan of a piece found; the message for its fault. `from`: a place whose line is known. */
void      kn_vreader_judge(const kn_vreader *r, kn_vpiece *p, const kn_csv_scanner *s);
size_t    kn_vreader_wrong_byte(const kn_vreader *r, const char *text, size_t size);
kn_status kn_vreader_fail(kn_vreader *r, const kn_vpiece *p, size_t from, uint64_t line, kn_error *err);

#endif
