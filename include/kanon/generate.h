/* kanon/generate.h: synthetic tables for tests, benchmarks and demonstrations.
 *
 * No real data: rows are drawn from distributions that are part of the program. Equal options give equal bytes on any
 * number of threads, and of two tables that differ only in `rows` the longer one starts with the shorter one.
 * docs/generate.md describes the columns and distributions.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KANON_GENERATE_H
#define KANON_GENERATE_H

#include <kanon/table.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum kn_generate_kind {
    KN_GENERATE_ADULT_LIKE = 0, /* columns and distributions close to the UCI Adult census extract             */
    KN_GENERATE_UNIFORM,        /* integers, all equally likely                                                 */
    KN_GENERATE_NORMAL,         /* integers, normally distributed, rounded and clipped                          */
    KN_GENERATE_PATIENTS,       /* a hospital's list: name, zip, birth date, sex, country, diagnosis            */
    KN_GENERATE_ADULT_DEPENDENT, /* adult-like with education-num, which education determines and is determined by */
    KN_GENERATE_HOSPITAL /* a year's admissions: age, sex, zip, city, date, ward, diagnosis                      */
} kn_generate_kind;

/* "adult-like", "uniform", "normal", "patients", "adult-dependent", "hospital". Static; NULL for a number that is no kind. */
KN_API const char *kn_generate_kind_name(kn_generate_kind kind);

/* Reads a kind's name; false where there is none of that name. */
KN_API bool kn_generate_kind_parse(const char *name, kn_generate_kind *out);

typedef struct kn_generate_options {
    size_t           size; /* sizeof(kn_generate_options), set by the initializer                             */
    kn_generate_kind kind;
    int64_t          rows;
    uint64_t         seed;
    bool             id;          /* a first column `id`: 1, 2, ..., rows                                     */
    int64_t          entities;    /* > 0: a column `person` with that many persons, several rows each         */
    double           missing;     /* share of missing cells, in the columns that may have them                */
    int              attributes;  /* uniform, normal: columns a1, a2, ...                                     */
    int64_t          cardinality; /* uniform, normal: values are 0 .. cardinality - 1                         */
    double           mean;        /* normal; negative: (cardinality - 1) / 2                                  */
    double           deviation;   /* normal; negative: cardinality / 5                                        */
    char             delimiter;   /* of CSV: one of , ; | and tab                                             */
} kn_generate_options;

#define KN_GENERATE_OPTIONS_INIT                                                                                       \
    {                                                                                                                  \
        sizeof(kn_generate_options), KN_GENERATE_ADULT_LIKE, 0, 0, false, 0, 0.0, 5, 8, -1.0, -1.0, ','                \
    }
KN_API void kn_generate_options_init(kn_generate_options *options, size_t size);

/* Writes the table as CSV with a header; "-" is standard output. A file is atomic: a temporary file is renamed at the
 * end. Rows are streamed: memory does not grow with their number. KN_USAGE for options that make no sense. */
KN_API KN_CHECK kn_status kn_generate_csv(kn_context *ctx, const char *path, const kn_generate_options *options,
                                          kn_error *err);

/* Writes a database of students, their courses and books. The target is "sqlite:FILE", which is replaced; or a folder
 * (which must not exist, or be empty): tables, hierarchies, and a release file that describes them. Either appears
 * whole or not at all. KN_USAGE for a name like FILE.db, which is neither; a name that ends in / is always a folder. */
KN_API KN_CHECK kn_status kn_generate_students(kn_context *ctx, const char *target, int64_t students, uint64_t seed,
                                               kn_error *err);

/* Writes patients with their hospitals, diseases and drugs as tree records. The target is a file FILE.xml, FILE.jsonl or
 * FILE.ndjson; "-", XML on standard output; or a folder as above: XML records, hierarchies, and a release file. */
KN_API KN_CHECK kn_status kn_generate_patient_records(kn_context *ctx, const char *target, int64_t records,
                                                      uint64_t seed, kn_error *err);

/* Builds the same table in memory: what kn_table_read_csv would read from the file above. */
KN_API KN_CHECK kn_status kn_generate_table(kn_table **out, kn_context *ctx, const kn_generate_options *options,
                                            kn_error *err);

#ifdef __cplusplus
}
#endif

#endif
