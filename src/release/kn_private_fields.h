/* kn_private_fields.h: the fields of the private file, by shape (private.c). */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_PRIVATE_FIELDS_H
#define KN_PRIVATE_FIELDS_H

#include "kn_fields.h"

extern const kn_fields kn_private_of_table, kn_private_of_database, kn_private_of_records;

#endif
