/* kn_spec_write.h: a spec of a table as the release file that asks for the same. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_SPEC_WRITE_H
#define KN_SPEC_WRITE_H

#include <kanon/spec.h>

#include "kn_buffer.h"

/* Appends the fields that say what is asked of a table and how it is read, one line each. Left out: inputs, output and what
 * stands beside it, which column counts rows (a table and its frequency set ask for the same), the population, seed and time limit,
 * and hierarchies that are files. KN_USAGE: a number that no decimal
 * is. */
KN_CHECK kn_status kn_spec_write(kn_buffer *to, const kn_spec *spec, kn_error *err);

#endif
