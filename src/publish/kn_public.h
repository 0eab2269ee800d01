/* kn_public.h: what may be published beside a release: facts that anybody who has the release can find in it.
 *
 * Everything here is a function of the released bytes and of the public request (docs/certificate.md): this module is
 * given the release, or a function that reads it (kn_public_reader), and nothing that was derived from the original. It
 * cannot open a path. Of the spec it reads the method as asked, promises, budget, how suppressed rows and missing cells
 * are shown, and names, roles, weights and hierarchies of released columns; never inputs, seed, paths or columns that are
 * left out.
 *
 * One kn_public is made per release by the function of its shape and rendered twice: as a certificate here, as a page by
 * src/report. Both come out byte for byte equal for equal releases and requests.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_PUBLIC_H
#define KN_PUBLIC_H

#include <kanon/database.h>
#include <kanon/records.h>
#include <kanon/spec.h>

#include "kn_arena.h"
#include "kn_buffer.h"

/* A released column. */
typedef struct kn_public_column {
    const char         *name;
    const kn_attribute *attribute; /* NULL: not declared (a new key, a column that an anatomy adds)                   */
    bool                pseudonym;
    int64_t             cells;  /* of a quasi-identifier: shown and suppressed                                        */
    int64_t             labels; /* different texts, without missing cells and suppressed rows                         */
    int64_t             stars;  /* rows that show "*", without suppressed rows                                        */
    int                 level;  /* the lowest that its labels admit; -1: none                                         */
    double              lm;     /* NAN: the release does not say                                                      */
} kn_public_column;

typedef struct kn_public_part {
    const char       *name; /* of the table */
    bool              list; /* of an anatomy: groups, a sensitive column's values, and how often each occurs   */
    int64_t           rows;
    int               column_count;
    kn_public_column *columns;
} kn_public_part;

typedef struct kn_public_size {
    int64_t size, classes;
} kn_public_size;

typedef struct kn_public {
    kn_shape              shape;
    const kn_spec        *spec; /* borrowed: the user's, method as asked */
    const char           *missing; /* of a table: the text of a missing cell; borrowed */
    int                   part_count;
    kn_public_part       *parts;      /* one for a table, one per table of a database, none for records       */
    bool                  linked;     /* of a table: several rows may be one person's                         */
    int64_t               units;      /* rows, persons or records of the release                              */
    int64_t               suppressed; /* -1: the release does not say                                         */
    int64_t               classes, k; /* -1: the release does not say; k 0: there is no class                 */
    int64_t               size_count;
    const kn_public_size *sizes;      /* ascending                                                            */
    const double         *in_release; /* per model of the spec: what the worst class reaches; NAN: not said   */
    double                lm, dm, c_avg;             /* NAN: not said          */
    int64_t               nodes, relations, values;  /* records                */
    kn_context           *ctx;
    kn_arena              arena;
} kn_public;

/* Reads what may be read: the caller opens the files. */
typedef struct kn_public_reader {
    void *state;
    /* The released table; NULL for other shapes. The options say which columns, their types and what is missing. */
    kn_status (*table)(kn_table **out, void *state, const kn_csv_options *options, kn_error *err);
    /* The hierarchy file that the request names for a column. */
    kn_status (*hierarchy)(kn_hierarchy **out, void *state, const kn_attribute *attribute, kn_error *err);
} kn_public_reader;

/* Each makes the facts of a release. `spec` is borrowed for the life of the answer. */
KN_CHECK kn_status kn_public_of_table(kn_public **out, kn_context *ctx, const kn_spec *spec,
                                      const kn_public_reader *reader, const char *missing, kn_error *err);
/* `release` was read back from what was written; `persons` is the name of its table of persons, which is then chosen. */
KN_CHECK kn_status kn_public_of_database(kn_public **out, kn_context *ctx, const kn_spec *spec,
                                         const kn_public_reader *reader, kn_database *release, const char *persons,
                                         kn_error *err);
KN_CHECK kn_status kn_public_of_records(kn_public **out, kn_context *ctx, const kn_spec *spec, const kn_records *release,
                                        kn_error *err);
void               kn_public_free(kn_public *facts); /* NULL is fine */

/* What the certificate holds besides the facts. */
typedef struct kn_public_seal {
    const char        *version; /* of the program; NULL: left out                                     */
    int                file_count; /* 0: a schema on a server; 1: one file; more: a folder's files        */
    bool               folder;
    const char *const *names;   /* of a folder's files                                                */
    const char *const *digests; /* SHA-256 of each file                                               */
} kn_public_seal;

KN_CHECK kn_status kn_public_certificate(kn_buffer *to, const kn_public *facts, const kn_public_seal *seal, kn_error *err);

/* ---- Shared by the shapes ---- */

KN_CHECK kn_status kn_public_create(kn_public **out, kn_context *ctx, kn_shape shape, const kn_spec *spec,
                                    kn_error *err);
void *kn_public_alloc(kn_public *facts, size_t count, size_t size, kn_error *err); /* zeroed; NULL: KN_MEMORY was reported */

/* Sizes of classes in any order → k, classes, sizes, dm (without suppressed rows). */
KN_CHECK kn_status kn_public_sizes(kn_public *facts, int64_t *sizes, int64_t count, kn_error *err);

/* The mean of the columns' lm by their weights, over all parts. */
void kn_public_mean_loss(kn_public *facts);

struct kn_column;
/* What the texts of a quasi-identifier show. `counts`: rows per code, missing (the last) too, without suppressed
 * rows. `by_type`: if no hierarchy was given, its values may still have become ranges, periods or codes that are partly
 * hidden; which, only the texts show. */
KN_CHECK kn_status kn_public_labels(kn_public_column *column, kn_context *ctx, const kn_public_reader *reader,
                                    const struct kn_column *texts, const int64_t *counts, int64_t suppressed,
                                    char decimal, bool by_type, kn_error *err);

#endif
