/* texts.c: kn_job_texts.h. Lists are short: each text copies the list before it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kn_job_texts.h"

#include <stdio.h>
#include <string.h>

#include "kn_error.h"

void *kn_job_alloc(kn_context *ctx, kn_arena *arena, size_t count, size_t size, kn_error *err)
{
    void *room = kn_arena_array_zero(arena, count ? count : 1, size);
    if (!room) (void)kn_fail_memory(err, ctx, "making a release");
    return room;
}

kn_status kn_job_add_text(kn_context *ctx, kn_arena *arena, const char *text, const char *const **list, int *count,
                          kn_error *err)
{
    const char **longer = kn_job_alloc(ctx, arena, (size_t)*count + 1, sizeof *longer, err);
    char        *copy = kn_arena_strndup(arena, text, strlen(text));
    if (!longer || !copy) return kn_fail_memory(err, ctx, "making a release");
    if (*count > 0) memcpy(longer, *list, (size_t)*count * sizeof *longer);
    longer[(*count)++] = copy;
    *list = longer;
    return KN_OK;
}

kn_status kn_job_add_note(kn_context *ctx, kn_arena *arena, const char *const **list, int *count, kn_error *err,
                          const char *format, va_list args)
{
    char text[1000];
    (void)vsnprintf(text, sizeof text, format, args);
    return kn_job_add_text(ctx, arena, text, list, count, err);
}

kn_formulas_note kn_job_formulas_note(const char *column, int64_t cells, bool guarded)
{
    kn_formulas_note note;
    snprintf(note.text, sizeof note.text,
             "column \"%.600s\": a spreadsheet would execute %lld %s (=, +, -, @ or a tab first); %s", column,
             (long long)cells, cells == 1 ? "cell" : "cells",
             guarded ? "an apostrophe is written in front" : "spreadsheet-safe writes an apostrophe in front");
    return note;
}
