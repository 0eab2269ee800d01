/* kn_error.h: filling in a kn_error. A message says where, never a cell's value. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_ERROR_H
#define KN_ERROR_H

#include <kanon/context.h>

/* Writes `status` and the formatted message into `err` (may be NULL) and returns `status`. */
kn_status kn_fail(kn_error *err, kn_status status, const char *format, ...) KN_PRINTF(3, 4);

/* The same, with "file:line:column: " in front; a line or column of 0 is left out. */
kn_status kn_fail_at(kn_error *err, kn_status status, const char *file, int64_t line, int64_t column,
                     const char *format, ...) KN_PRINTF(6, 7);

/* KN_MEMORY for work named by `what` ("reading FILE"): says whether the limit or the system refused. */
kn_status kn_fail_memory(kn_error *err, const kn_context *ctx, const char *what);

/* Returns a failed status: short for `if ((st = call()) != KN_OK) return st;`. */
#define KN_TRY(call)                                                                                                   \
    do {                                                                                                               \
        kn_status kn_try_status_ = (call);                                                                             \
        if (kn_try_status_ != KN_OK) return kn_try_status_;                                                            \
    } while (0)

#ifdef __clang_analyzer__
/* The analyzer sees one file at a time: this declares that these never return KN_OK. */
#define kn_fail(err, status, ...) ((void)kn_fail(err, status, __VA_ARGS__), (status))
#define kn_fail_at(err, status, ...) ((void)kn_fail_at(err, status, __VA_ARGS__), (status))
#define kn_fail_memory(err, ctx, what) ((void)kn_fail_memory(err, ctx, what), KN_MEMORY)
#endif

#endif
