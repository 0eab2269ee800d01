/* kn_patient_records.h: patients with their hospitals, diseases and drugs as tree records, with hierarchies and a release
 * file. Everything is invented.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_PATIENT_RECORDS_H
#define KN_PATIENT_RECORDS_H

#include <kanon/context.h>

#include "kn_buffer.h"

typedef enum kn_patient_form { KN_PATIENT_XML, KN_PATIENT_JSON_LINES } kn_patient_form;

/* Appends the text before the first record, record `number` (0, 1, ...; it depends on the seed and its number alone),
 * and the text after the last. */
void kn_patient_begin(kn_buffer *to, kn_patient_form form);
void kn_patient_record(kn_buffer *to, kn_patient_form form, int64_t number, uint64_t seed);
void kn_patient_end(kn_buffer *to, kn_patient_form form);

/* The files beside the records patients.xml in a folder: hierarchies, and a release file. NULL after the last name. */
const char *kn_patient_file_name(int file);
void        kn_patient_file(kn_buffer *to, int file);

#endif
