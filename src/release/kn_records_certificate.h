/* kn_records_certificate.h: what stands beside a release of tree records. As for tables (kn_certificate.h) the certificate
 * may be published and the private file may not: it holds the relations that vanished, each of which some few had. */
#ifndef KN_RECORDS_CERTIFICATE_H
#define KN_RECORDS_CERTIFICATE_H

#include <kanon/anonymize.h>

#include "kn_buffer.h"
#include "kn_records_plan.h"

/* All borrowed. */
typedef struct kn_records_certificate_input {
    const kn_spec           *spec;
    const kn_records_result *result;
    const char              *version;    /* of the program; NULL: left out     */
    const char              *assignment; /* what the verifier said: "proved"   */
    /* For the private file only. */
    const char            *digest; /* SHA-256 of the input; NULL: it was none  */
    const kn_records_plan *plan;
    const kn_vocabulary   *vocabulary;
    bool                   rowmap; /* is kept                                  */
} kn_records_certificate_input;

/* Appends the JSON text. */
KN_CHECK kn_status kn_records_certificate_render(kn_buffer *to, const kn_records_certificate_input *input,
                                                 kn_error *err);
KN_CHECK kn_status kn_records_private_render(kn_buffer *to, const kn_records_certificate_input *input, kn_error *err);

#endif
