/* kn_database_private.h: the private file beside the release of a database (kn_private.h). */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_DATABASE_PRIVATE_H
#define KN_DATABASE_PRIVATE_H

#include <kanon/anonymize.h>

#include "kn_buffer.h"

/* All borrowed. */
typedef struct kn_database_private_input {
    const kn_spec            *spec;
    const kn_database_result *result;
    const char               *version;    /* of the program; NULL: left out                     */
    int                       file_count; /* files of the release; 0: it went to a server       */
    const char *const        *files;      /* their names, without a folder                      */
    const char *const        *digests;    /* SHA-256 of each                                    */
    uint64_t    seed;   /* of the new keys                                                      */
    const char *source; /* the database that was read, without a password                       */
    bool        rowmap; /* is kept                                                              */
} kn_database_private_input;

/* Appends the JSON text. */
KN_CHECK kn_status kn_database_private_render(kn_buffer *to, const kn_database_private_input *input, kn_error *err);

#endif
