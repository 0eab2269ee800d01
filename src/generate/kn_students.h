/* kn_students.h: a database of students, their courses and books, as the files of a folder. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_STUDENTS_H
#define KN_STUDENTS_H

#include <kanon/context.h>

#include "kn_buffer.h"

/* The files: tables, hierarchies, and a release file that describes them. NULL after the last. */
const char *kn_students_file_name(int file);

/* Appends one of them. Equal arguments give equal bytes, and files of equal arguments fit together. */
void kn_students_file(kn_buffer *to, int file, int64_t students, uint64_t seed);

#endif
