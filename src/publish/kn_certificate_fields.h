/* kn_certificate_fields.h: the fields of a certificate, by shape (kn_public_certificate.c). */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_CERTIFICATE_FIELDS_H
#define KN_CERTIFICATE_FIELDS_H

#include "kn_fields.h"

extern const kn_fields kn_certificate_of_table, kn_certificate_of_database, kn_certificate_of_records;

#endif
