/* kn_records_scan.h: the records of XML, JSON, JSON Lines or basket files, one node after the other, front to back.
 *
 * Reading (kn_records_read) and verification both begin here: this knows nothing of hierarchies and stores nothing. A
 * sink receives each record's start, then each of its nodes in the order of the file, parents before children. What
 * belongs to no class is skipped and named once.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_RECORDS_SCAN_H
#define KN_RECORDS_SCAN_H

#include "kn_records_files.h"
#include "kn_records_layout.h"
#include "kn_string.h"

enum {
    KN_RECORDS_MAX_DEPTH = 200,     /* of elements, or of objects and lists           */
    KN_RECORDS_MAX_TEXT = 1 << 20,  /* bytes of one value                             */
    KN_RECORDS_MAX_URI = 1000,      /* of a namespace                                 */
    KN_RECORDS_MAX_NAMES = 10000,   /* different unknown names                        */
    KN_RECORDS_MAX_TAG = 4 << 20,   /* of one element's start, a comment, a JSON text */
    KN_RECORDS_MAX_RECORD = 1 << 28 /* bytes of one record's values, of a line        */
};

/* A place in a file; columns are counted in characters. */
typedef struct kn_records_place {
    const char *file;
    int64_t     line, column;
} kn_records_place;

typedef struct kn_records_sink {
    void *state;
    /* A record begins. `id`: what its "id" says; data NULL: it has none. Its texts are valid until the call returns. */
    kn_status (*record)(void *state, kn_string id, const kn_records_place *place, kn_error *err);
    /* A node of the current record: `parent` is the number of an earlier one (0: the record's first; -1: its root),
     * `cls` an index of options.classes, -1: not given in the file (JSON without class names, <node>). Equal siblings
     * come as often as they occur. */
    kn_status (*node)(void *state, int64_t parent, int cls, kn_string value, const kn_records_place *place, kn_error *err);
    /* An attribute, element or key that belongs to no class, once each. */
    kn_status (*ignored)(void *state, kn_string name, kn_error *err);
} kn_records_sink;

/* Reads a file ("-": standard input) or folder of any form but a database, and options->more, to the end. `options` as for
 * kn_records_read.
 * `layout` (may be NULL) receives how the file writes its records; the caller frees its path and namespaces. KN_INPUT
 * with file, line and column; KN_IO; or what the sink returned. */
KN_CHECK kn_status kn_records_scan(kn_context *ctx, const char *path, const kn_records_options *options,
                                   const kn_records_sink *sink, kn_records_layout *layout, kn_error *err);

#endif
