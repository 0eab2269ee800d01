/* kn_freq.h: frequency sets: the distinct combinations of some columns' codes, each with its number of rows.
 *
 * Combinations are packed into keys: each column takes as many bits as its codes need, the first column highest, so that
 * keys in ascending order are combinations in lexicographic order of codes. A key has one or more 64-bit words; a column
 * never straddles two. A frequency set is immutable and may be read by any thread.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_FREQ_H
#define KN_FREQ_H

#include "kn_table.h"

/* The place of one column's code in a key. */
typedef struct kn_field {
    uint8_t word, shift, bits; /* bits == 0: only one code is possible */
} kn_field;

typedef struct kn_layout {
    int       columns;
    int       words;  /* ≥ 1 */
    kn_field *fields; /* owned by whoever owns the layout */
} kn_layout;

typedef struct kn_freq {
    kn_context *ctx;
    kn_layout   layout;
    int64_t     rows;    /* sum of the counts */
    int64_t     classes;
    uint64_t   *keys;    /* classes × words, ascending, all different */
    int64_t    *counts;  /* > 0 */
} kn_freq;

/* Packs columns with the given numbers of codes. */
KN_CHECK kn_status kn_layout_make(kn_layout *out, kn_context *ctx, const uint32_t *cardinalities, int columns,
                                  kn_error *err);
int                kn_layout_bits(const kn_layout *layout); /* of all its fields */

static inline uint32_t kn_field_get(kn_field field, const uint64_t *key)
{
    return (uint32_t)(key[field.word] >> field.shift & (((uint64_t)1 << field.bits) - 1));
}

/* The code of a column in a class. */
static inline uint32_t kn_freq_code(const kn_freq *freq, int64_t class_index, int column)
{
    return kn_field_get(freq->layout.fields[column], freq->keys + class_index * freq->layout.words);
}

void kn_freq_free(kn_freq *freq); /* NULL is fine */

/* Counts the rows of a table by some of its columns. Missing cells are a separate value. */
KN_CHECK kn_status kn_freq_of_table(kn_freq **out, kn_context *ctx, const kn_table *table, const int *columns,
                                    int column_count, kn_error *err);

/* The class of each row [begin, begin + n) of the table the set was made from, by the same columns. -1: none (the class
 * was taken out of the set). Any worker. */
KN_CHECK kn_status kn_freq_classify(const kn_freq *freq, const kn_table *table, const int *columns, int64_t begin,
                                    int64_t n, int64_t *classes, kn_error *err);

/* The class with this key; -1: none. */
int64_t kn_freq_find(const kn_freq *freq, const uint64_t *key);

/* What happens to one column when a finer set is summed into a coarser one. */
typedef struct kn_rollup {
    bool            drop;     /* projection: the column is dropped                    */
    const uint32_t *map;      /* code → coarser code; NULL: unchanged                 */
    uint32_t        distinct; /* of coarser codes, with a map                         */
} kn_rollup;

/* Sums a set up; `by` has one entry per column of `from`. */
KN_CHECK kn_status kn_freq_rollup(kn_freq **out, const kn_freq *from, const kn_rollup *by, kn_error *err);

/* The same without sorting: good for class sizes and for further sums, where the order of the classes does not matter;
 * neither valid (kn_freq_validate) nor to be folded or searched. */
KN_CHECK kn_status kn_freq_rollup_unsorted(kn_freq **out, const kn_freq *from, const kn_rollup *by, kn_error *err);

/* A set of the first `columns` columns of `fine`, and where each of its classes begins among the fine ones: class i
 * is fine classes starts[i] to starts[i + 1] - 1. One linear pass, since equal prefixes are adjacent. This is how one
 * kernel gives histograms of sensitive columns, distinct persons and weights: group by (QI, X), then fold. */
KN_CHECK kn_status kn_freq_fold(kn_freq **out, int64_t **starts, const kn_freq *fine, int columns, kn_error *err);

/* How many classes have each size, and how many rows lie in them: sizes ascending. Freed by the caller. */
typedef struct kn_size_histogram {
    int64_t  count;
    int64_t *sizes;
    int64_t *classes;
    int64_t *rows;
} kn_size_histogram;

/* `sizes` and `rows` per class: the same array where a class's size is its number of rows. */
KN_CHECK kn_status kn_size_histogram_make(kn_size_histogram *out, kn_context *ctx, const int64_t *sizes,
                                          const int64_t *rows, int64_t count, kn_error *err);
void               kn_size_histogram_free(kn_size_histogram *histogram);

/* Per class of (columns): the number of distinct values of one more column among its rows (all missing cells of it
 * together count as one person), and the class's rows. `sizes` is freed by the caller. */
KN_CHECK kn_status kn_freq_distinct(kn_freq **out, int64_t **sizes, kn_context *ctx, const kn_table *table,
                                    const int *columns, int column_count, int entity, kn_error *err);

/* Per class of (columns): the sum of a numeric column, missing cells counting as 0. Added up in order of value, so the
 * sum does not depend on the number of threads. `sums` is freed by the caller. */
KN_CHECK kn_status kn_freq_weights(kn_freq **out, double **sums, kn_context *ctx, const kn_table *table,
                                   const int *columns, int column_count, int weight, kn_error *err);

/* Per class of (columns): the histogram of one more column. Class i has the values code[j] with count[j] rows for
 * starts[i] ≤ j < starts[i + 1], codes ascending. */
typedef struct kn_class_histograms {
    int64_t  *starts; /* classes + 1 */
    uint32_t *codes;
    int64_t  *counts;
} kn_class_histograms;

KN_CHECK kn_status kn_freq_histograms(kn_freq **out, kn_class_histograms *histograms, kn_context *ctx,
                                      const kn_table *table, const int *columns, int column_count, int sensitive,
                                      kn_error *err);
/* The same, counting the persons who have a value instead of its rows. */
KN_CHECK kn_status kn_freq_person_histograms(kn_freq **out, kn_class_histograms *histograms, kn_context *ctx,
                                             const kn_table *table, const int *columns, int column_count,
                                             int sensitive, int person, kn_error *err);
void               kn_class_histograms_free(kn_class_histograms *histograms);

/* Checks every invariant; for tests and fuzzers. */
bool kn_freq_validate(const kn_freq *freq, const char **reason);

/* ---- The kernel underneath, for tests ---- */

/* Hashes a key; NULL in the options: the built-in one. Exactness never depends on it. */
typedef uint64_t (*kn_key_hash)(const uint64_t *key, int words);

typedef enum kn_group_path {
    KN_GROUP_AUTO,
    KN_GROUP_DENSE,   /* one counter per possible key: few bits             */
    KN_GROUP_SINGLE,  /* one hash table, one thread: few entries            */
    KN_GROUP_BUCKETS, /* 256 hash tables behind small per-worker ones       */
    KN_GROUP_SPREAD   /* 256 hash tables behind lists of keys: many classes */
} kn_group_path;

typedef struct kn_group_options {
    kn_key_hash   hash;
    kn_group_path path;
    bool          unsorted; /* see kn_freq_rollup_unsorted */
    bool          quiet;    /* part of a larger stage: does not report progress */
    bool          plain;    /* without the processor's wider instructions: the twin of the code with them */
} kn_group_options;

KN_CHECK kn_status kn_freq_of_table_with(kn_freq **out, kn_context *ctx, const kn_table *table, const int *columns,
                                         int column_count, const kn_group_options *options, kn_error *err);

#endif
