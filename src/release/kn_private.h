/* kn_private.h: the files beside a release for the owner of the data. What may be published is made by src/publish.
 *
 * OUTPUT.private.json (mode 0600): seed, digests of the inputs, what the search did, what the release reached and
 * what the original did, every figure of loss; of records also the relations that vanished, each of which only a few
 * records had. Equal runs give equal bytes: no times. docs/certificate.md lists the keys, which are the same for the
 * same things in every shape.
 *
 * OUTPUT.rowmap: the line "kanon-rowmap 1", then for each released row (record) the number (1-based, without the
 * header) of its original among those of all inputs together. Rows that were left out do not appear. Of a database it
 * is a table of keys (kn_verify_database), which src/job writes.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_PRIVATE_H
#define KN_PRIVATE_H

#include <kanon/anonymize.h>

#include "kn_output.h"
#include "kn_records_plan.h"

/* All borrowed. */
typedef struct kn_private_input {
    const kn_spec         *spec;    /* with the method that was used                                   */
    const kn_release_head *head;    /* of the result of the spec's shape                               */
    const char            *version; /* of the program; NULL: left out                                  */
    uint64_t               seed;    /* the one that was used                                           */
    int                    input_count;
    const char *const     *inputs;  /* what was read, without a password                               */
    const char *const     *input_digests; /* SHA-256 of each; NULL: none of them is a file              */
    int                    file_count; /* of the release; 0: a schema on a server                      */
    bool                   folder;
    const char *const     *files;   /* their names, of a folder                                        */
    const char *const     *digests; /* SHA-256 of each                                                 */
    int64_t                budget;  /* of a table: rows that might have been suppressed                */
    const kn_records_plan *plan;    /* of records, and the names of its values                         */
    const kn_vocabulary   *vocabulary;
} kn_private_input;

/* Appends the JSON text. */
KN_CHECK kn_status kn_private_render(kn_buffer *to, const kn_private_input *input, kn_error *err);

/* Writes a row map from 0-based row numbers. */
KN_CHECK kn_status kn_rowmap_write(kn_output *output, kn_context *ctx, const int64_t *map, int64_t count, kn_error *err);

#endif
