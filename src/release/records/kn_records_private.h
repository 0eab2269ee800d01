/* kn_records_private.h: the private file beside a release of tree records (kn_private.h). It holds the relations that
 * vanished, each of which some few had.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_RECORDS_PRIVATE_H
#define KN_RECORDS_PRIVATE_H

#include <kanon/anonymize.h>

#include "kn_buffer.h"
#include "kn_records_plan.h"

/* All borrowed. */
typedef struct kn_records_private_input {
    const kn_spec           *spec;
    const kn_records_result *result;
    const char              *version;    /* of the program; NULL: left out     */
    const char            *digest; /* SHA-256 of the input; NULL: it was none  */
    const kn_records_plan *plan;
    const kn_vocabulary   *vocabulary;
    bool                   rowmap; /* is kept                                  */
} kn_records_private_input;

/* Appends the JSON text. */
KN_CHECK kn_status kn_records_private_render(kn_buffer *to, const kn_records_private_input *input, kn_error *err);

#endif
