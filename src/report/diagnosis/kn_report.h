/* kn_report.h: a diagnosis rendered as one page of HTML (kanon/report.h), in a buffer. The inside of src/report. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_REPORT_H
#define KN_REPORT_H

#include <kanon/report.h>

#include "kn_buffer.h"

/* Appends the page. KN_USAGE as kn_report_write; KN_MEMORY. */
KN_CHECK kn_status kn_report_render(kn_buffer *to, const kn_report_input *input, kn_error *err);

/* ---- The parts of the page ---- */

/* verdict.c: the answer in plain words, the main figures, what the words mean. */
void kn_report_verdict(kn_buffer *to, const kn_report_input *in);
void kn_report_tiles(kn_buffer *to, const kn_report_input *in);
void kn_report_words(kn_buffer *to, const kn_report_input *in);
void kn_report_missing(kn_buffer *to, const kn_report_input *in);

/* sizes.c: class sizes and what removing rows reaches. */
void kn_report_histogram(kn_buffer *to, const kn_report_input *in);
void kn_report_staircase(kn_buffer *to, const kn_report_input *in);

/* The rows the diagnosis looked at: those of its classes. */
int64_t kn_report_rows(const kn_diagnosis *d);

/* The fewest rows whose removal leaves only classes of at least k; -1: all. */
int64_t kn_report_removal(const kn_diagnosis *d, int64_t k);

/* "rows", or "persons" where an entity is given: what a class is counted in. */
const char *kn_report_unit(const kn_report_input *in, int64_t count);

/* ---- Attribute sets ---- */

enum { KN_REPORT_PICTURE = 6, KN_REPORT_LEVELS = 20 }; /* columns: drawn set by set; summed up by level */

typedef enum kn_set_state { KN_SET_UNKNOWN = 0, KN_SET_HOLDS, KN_SET_BREAKS } kn_set_state;

/* What is known of every set of at most KN_REPORT_LEVELS columns; sets are bit masks over the list `over`. */
typedef struct kn_set_map {
    const kn_report_input *in;
    int                    columns;
    bool                   by_k;       /* `value` is the k of a set                 */
    bool                   by_removal; /* `value` is the rows to remove; -1: never  */
    int64_t                asked;      /* a set holds from this k on                */
    unsigned char         *state;      /* 2^columns; NULL: too many columns         */
    int64_t               *value;      /* 2^columns; NULL: only the borders are known */
} kn_set_map;

/* sets.c */
KN_CHECK kn_status kn_set_map_make(kn_set_map *out, kn_context *ctx, const kn_report_input *in, kn_error *err);
void               kn_set_map_free(kn_set_map *map);

/* A step of colour from 0 (danger) to 4 (safe) for a known set. */
int kn_set_map_step(const kn_set_map *map, uint32_t set);

/* A set that breaks while all its subsets hold, or holds while all its supersets break. The set of no column is none. */
bool kn_set_map_border(const kn_set_map *map, uint32_t set);

void kn_report_sets(kn_buffer *to, const kn_set_map *map); /* the whole section */

/* lattice.c: the picture, and the one that sums up each level. */
void kn_report_lattice(kn_buffer *to, const kn_set_map *map);
void kn_report_levels(kn_buffer *to, const kn_set_map *map);

#endif
