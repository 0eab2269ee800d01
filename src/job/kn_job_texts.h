/* kn_job_texts.h: memory and lists of texts of a result, for every kind of release. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_JOB_TEXTS_H
#define KN_JOB_TEXTS_H

#include <stdarg.h>

#include "kn_arena.h"

/* Zeroed memory of an arena; NULL after KN_MEMORY was reported. */
void *kn_job_alloc(kn_context *ctx, kn_arena *arena, size_t count, size_t size, kn_error *err);

/* Adds a copy of a text, or a formatted sentence of at most 999 bytes, to a list in the arena. */
KN_CHECK kn_status kn_job_add_text(kn_context *ctx, kn_arena *arena, const char *text, const char *const **list, int *count,
                                   kn_error *err);
KN_CHECK kn_status kn_job_add_note(kn_context *ctx, kn_arena *arena, const char *const **list, int *count, kn_error *err,
                                   const char *format, va_list args) KN_PRINTF(6, 0);

/* The note for a release in which a verifier must search for originals one by one, and may give up. */
#define KN_JOB_MAP_NEEDED(which)                                                                                       \
    "without its row map a release " which                                                                             \
    " may stay undecided when it is verified later; --keep-rowmap keeps the map, for its owner alone"

/* The note for a column with cells that a spreadsheet would execute. */
typedef struct kn_formulas_note {
    char text[900];
} kn_formulas_note;

kn_formulas_note kn_job_formulas_note(const char *column, int64_t cells, bool guarded);

#endif
