/* kn_kind.h: what the generator asks of a kind of table.
 *
 * A row is an array of small numbers whose meaning is the kind's own; `put` writes the text of one of its columns. All
 * functions but `create` are called by several workers at once on the same model.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_KIND_H
#define KN_KIND_H

#include <kanon/generate.h>

#include "kn_rng.h"

/* The most bytes that `put` writes, whatever the length of the text: fixed-size copies are faster than exact ones. */
enum { KN_CELL_ROOM = 32 };

typedef struct kn_kind {
    const char        *name;
    const char *const *columns; /* NULL: a1, a2, ... as many as options.attributes                                   */
    int                column_count;
    int                cell_count; /* numbers per row; 0: one per column                                             */
    uint32_t           may_miss;   /* bit c: column c may have missing cells                                         */

    /* Builds the model; NULL: out of memory. Freed with kn_free. */
    void *(*create)(kn_context *ctx, const kn_generate_options *options);

    /* Draws a whole row. */
    void (*draw)(const void *model, kn_rng *rng, uint32_t *cells);

    /* Turns a person's row into another record of the same person: draws again what may change over time. */
    void (*again)(const void *model, kn_rng *rng, uint32_t *cells);

    /* Writes a column's text at `to` (KN_CELL_ROOM bytes) and returns its end. No text needs quotes in CSV. */
    char *(*put)(const void *model, int column, const uint32_t *cells, char *to);
} kn_kind;

extern const kn_kind kn_kind_adult_like;
extern const kn_kind kn_kind_uniform;
extern const kn_kind kn_kind_normal;
extern const kn_kind kn_kind_patients;
extern const kn_kind kn_kind_adult_dependent;
extern const kn_kind kn_kind_hospital;

/* Writes a number in decimal and returns its end: at most 20 bytes. */
char *kn_synthetic_number(char *to, uint64_t number);

/* The same for a text, for a number of exactly `digits` digits, and for a day (since 1970-01-01) as YYYY-MM-DD. */
char *kn_synthetic_text(char *to, const char *text);
char *kn_synthetic_digits(char *to, uint32_t number, int digits);
char *kn_synthetic_date(char *to, int64_t days);

#endif
