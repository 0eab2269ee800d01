/* kn_error.c: statuses, their names and exit codes, and the one place where messages are formatted. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kn_error.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "kn_context.h"
#include "kn_names.h"

#undef kn_fail
#undef kn_fail_at
#undef kn_fail_memory

int kn_status_exit_code(kn_status status)
{
    switch (status) {
    case KN_OK: return 0;
    case KN_UNMET: return 1;
    case KN_USAGE:
    case KN_INPUT:
    case KN_BUSY: return 2;
    case KN_UNDECIDED: return 4;
    case KN_IO:
    case KN_MEMORY:
    case KN_CANCELLED:
    case KN_INTERNAL: break;
    }
    return 3;
}

const char *kn_status_name(kn_status status)
{
    switch (status) {
    case KN_OK: return "done";
    case KN_UNMET: return "does not hold";
    case KN_USAGE: return "bad usage";
    case KN_INPUT: return "bad input";
    case KN_IO: return "input or output failed";
    case KN_MEMORY: return "out of memory";
    case KN_CANCELLED: return "cancelled";
    case KN_INTERNAL: return "internal error";
    case KN_UNDECIDED: return "not decided";
    case KN_BUSY: return "busy";
    }
    return "unknown status";
}

KN_PRINTF(6, 0)
static void fill(kn_error *err, kn_status status, int64_t line, int64_t column, const char *prefix, const char *format,
                 va_list args)
{
    err->status = status;
    err->line = line;
    err->column = column;
    int used = snprintf(err->message, sizeof err->message, "%s", prefix);
    if (used < 0) used = 0;
    if ((size_t)used < sizeof err->message)
        (void)vsnprintf(err->message + used, sizeof err->message - (size_t)used, format, args);
    kn_hide_secrets(err->message, sizeof err->message);
}

kn_status kn_fail(kn_error *err, kn_status status, const char *format, ...)
{
    if (err) {
        va_list args;
        va_start(args, format);
        fill(err, status, 0, 0, "", format, args);
        va_end(args);
    }
    return status;
}

kn_status kn_fail_at(kn_error *err, kn_status status, const char *file, int64_t line, int64_t column,
                     const char *format, ...)
{
    if (err) {
        char prefix[600];
        if (line > 0 && column > 0)
            snprintf(prefix, sizeof prefix, "%s:%" PRId64 ":%" PRId64 ": ", file, line, column);
        else if (line > 0)
            snprintf(prefix, sizeof prefix, "%s:%" PRId64 ": ", file, line);
        else
            snprintf(prefix, sizeof prefix, "%s: ", file);
        kn_hide_secrets(prefix, sizeof prefix);
        va_list args;
        va_start(args, format);
        fill(err, status, line, column, prefix, format, args);
        va_end(args);
    }
    return status;
}

kn_status kn_fail_memory(kn_error *err, const kn_context *ctx, const char *what)
{
    uint64_t limit = ctx ? ctx->memory_limit : 0;
    if (limit == 0) return kn_fail(err, KN_MEMORY, "%s: out of memory", what);
    return kn_fail(
        err, KN_MEMORY,
        "%s: needs more than the memory limit of %.1f MB (%.1f MB were in use); give a larger --memory-limit", what,
        (double)limit / 1e6, (double)kn_context_memory_used(ctx) / 1e6);
}
