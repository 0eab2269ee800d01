/* kanon/status.h: what a call can return, and the error it fills in.
 *
 * Every function that can fail returns a kn_status and takes a caller-owned kn_error as its last argument, which may
 * be NULL. The error is written only on failure. Messages say where something is wrong (file, line, column name), but
 * never quote the data: a person's value does not belong in a log.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KANON_STATUS_H
#define KANON_STATUS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define KN_CHECK __attribute__((warn_unused_result))
#define KN_PRINTF(format_index, first) __attribute__((format(printf, format_index, first)))
#define KN_API __attribute__((visibility("default")))
#else
#define KN_CHECK
#define KN_PRINTF(format_index, first)
#define KN_API
#endif

/* A member that programs read through functions of the library, since it may move or grow from one version to the
 * next. Inside the library it has its plain name. */
#ifdef KN_INSIDE
#define KN_PRIVATE(name) name
#else
#define KN_PRIVATE(name) kn_private_##name
#endif

typedef enum kn_status {
    KN_OK = 0,        /* done                                                                   */
    KN_UNMET = 1,     /* the question was answered, and the answer is "it does not hold"        */
    KN_USAGE = 2,     /* an argument or option makes no sense                                   */
    KN_INPUT = 3,     /* the data or a file the user wrote is wrong                             */
    KN_IO = 4,        /* reading, writing or a server failed                                    */
    KN_MEMORY = 5,    /* out of memory, or the context's memory limit would be exceeded         */
    KN_CANCELLED = 6, /* kn_context_cancel was called                                           */
    KN_INTERNAL = 7,  /* a bug in kanon: an invariant did not hold                              */
    KN_UNDECIDED = 8, /* the question was not answered: deciding it takes more work than allowed */
    KN_BUSY = 9       /* the context is serving another call                                    */
} kn_status;

/* Caller-owned. `line` and `column` are 1-based and 0 where unknown; `message` already names them. */
typedef struct kn_error {
    kn_status status;
    int64_t   line;
    int64_t   column;
    char      message[1000];
} kn_error;

#define KN_ERROR_INIT {KN_OK, 0, 0, {0}}

/* The exit code of the command line for a status: 0 holds, 1 does not hold, 2 usage or input, 3 the system failed, 4 it could
 * not be decided. */
KN_API int kn_status_exit_code(kn_status status);

/* Removes the passwords from connection strings ("postgresql://user:password@host/db", in any letter case) in a text,
 * which becomes shorter. `capacity`: bytes of the array; a text that fills it may have been cut off. Messages of the
 * library hold no passwords. */
KN_API void kn_hide_secrets(char *text, size_t capacity);

/* A short English name of a status ("out of memory"). Never NULL; static. */
KN_API const char *kn_status_name(kn_status status);

#ifdef __cplusplus
}
#endif

#endif
