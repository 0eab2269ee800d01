/* kn_unrelated.h: relations that somebody knows not to be there (section III-G; kn_tree.h, "Unrelated"). */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_UNRELATED_H
#define KN_UNRELATED_H

#include "kn_structure.h"

/* Names a relation of each combination with relations known not to be there that fewer than k records have: *any, there is one. The
 * structure is counted. Nothing is done where no class says so. */
KN_CHECK kn_status kn_unrelated_name(kn_structure *structure, bool *any, kn_error *err);

#endif
