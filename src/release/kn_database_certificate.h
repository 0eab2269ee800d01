/* kn_database_certificate.h: what stands beside the release of a database. As for tables (kn_certificate.h) the certificate
 * may be published and the private file may not. */
#ifndef KN_DATABASE_CERTIFICATE_H
#define KN_DATABASE_CERTIFICATE_H

#include <kanon/anonymize.h>

#include "kn_buffer.h"

/* All borrowed. */
typedef struct kn_database_certificate_input {
    const kn_spec            *spec;
    const kn_database_result *result;
    const char               *version;    /* of the program; NULL: left out                     */
    const char               *assignment; /* what the verifier said: "proved"                   */
    int                       file_count; /* files of the release; 0: it went to a server       */
    const char *const        *files;      /* their names, without a folder                      */
    const char *const        *digests;    /* SHA-256 of each                                    */
    /* For the private file only. */
    uint64_t    seed;   /* of the new keys                                                      */
    const char *source; /* the database that was read, without a password                       */
    bool        rowmap; /* is kept                                                              */
} kn_database_certificate_input;

/* Appends the JSON text. */
KN_CHECK kn_status kn_database_certificate_render(kn_buffer *to, const kn_database_certificate_input *input,
                                                  kn_error *err);
KN_CHECK kn_status kn_database_private_render(kn_buffer *to, const kn_database_certificate_input *input, kn_error *err);

#endif
