/* kn_spec_of_database.h: what functions about one database ask of a spec first. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_SPEC_OF_DATABASE_H
#define KN_SPEC_OF_DATABASE_H

#include <kanon/spec.h>

/* Does it describe a database? KN_USAGE if not. */
KN_CHECK kn_status kn_spec_check_is_database(const kn_spec *spec, kn_error *err);

/* The k that is asked for: `k`, else the spec's, else 2. */
int64_t kn_spec_asked_k(const kn_spec *spec, int64_t k);

#endif
