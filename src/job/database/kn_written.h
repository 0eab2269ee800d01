/* kn_written.h: a release that is written as a database: its target, its files, and whose row each person's is. For databases, and
 * for the persons of one that are released as trees. Only src/job includes it.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_WRITTEN_H
#define KN_WRITTEN_H

#include "kn_database_write.h"
#include "kn_shape.h"

/* The spec's output as the run's set and base, and a writer, which is the set's. KN_USAGE: it would overwrite the input. */
KN_CHECK kn_status kn_written_open(kn_database_writer **out, kn_release_run *run, kn_error *err);

/* The run's seed, which new keys are drawn by: the spec's, or a random one. */
KN_CHECK kn_status kn_written_seed(kn_release_run *run, kn_error *err);

/* The files that were written, for their digests; `references` may be NULL. */
KN_CHECK kn_status kn_written_files(kn_release_run *run, const kn_database_writer *writer, const kn_database *db,
                                    const kn_database *references, kn_error *err);

/* Notes on cells of a folder's files that a spreadsheet would execute. */
KN_CHECK kn_status kn_written_formulas(kn_release_run *run, const kn_database_writer *writer, const kn_database *back,
                                       kn_error *err);

typedef struct kn_written {
    const kn_database *db, *back; /* the original; what was written, read back */
} kn_written;

/* Per number of a new key of persons, from 1 to `rows`: the original's row, which `original` says of each released one. To be freed. */
KN_CHECK kn_status kn_written_persons(uint32_t **out, kn_release_run *run, const uint32_t *new_key, int64_t rows,
                                      uint32_t (*original)(const void *arg, int64_t row), const void *arg, kn_error *err);

/* Per person of `back`: the original's row, by these keys. -1: an invalid key, which the verifier reports. To be freed. */
KN_CHECK kn_status kn_written_map(int64_t **out, kn_release_run *run, const kn_written *w, const uint32_t *by_key,
                                  int64_t rows, kn_error *err);

/* "released C" and "original C" for each column C of the key of persons. */
KN_CHECK kn_status kn_written_rowmap(kn_output *to, kn_release_run *run, const kn_written *w, const int64_t *map,
                                     kn_error *err);

#endif
