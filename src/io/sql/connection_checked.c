/* sql/connection_checked.c: the rows that an engine gives (kanon/engine.h), checked on their way: kn_connection_query hands out no others.
 *
 * Whoever reads rows may take for granted that there are columns with names and formats, and that every batch has them all, in the
 * length that it says; buffers are checked where they are opened (kn_arrow_open). What is wrong ends the rows with a message.
 * Cost: a few comparisons per column and batch. SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_connection_checked.h"
#include "kn_error.h"
#include "kn_utf8.h"

enum { ROOM = 600 };

typedef struct checked {
    struct ArrowArrayStream inner;
    int64_t                 columns; /* -1: nobody has asked for them yet */
    char                    message[ROOM];
} checked;

void kn_message_clean(char *text, size_t room)
{
    text[room - 1] = '\0';
    for (size_t size = strlen(text), at = 0; (at += kn_utf8_check(text + at, size - at)) < size;) text[at++] = '?';
}

static const char *wrong_column(const struct ArrowSchema *s)
{
    if (!s || !s->release || !s->format) return "a column of the engine's rows has no schema";
    if (s->name && kn_utf8_check(s->name, strlen(s->name)) != strlen(s->name))
        return "the name of a column of the engine's rows is not UTF-8";
    if (s->dictionary && (!s->dictionary->release || !s->dictionary->format))
        return "a dictionary of the engine's rows has no schema";
    return NULL;
}

static const char *wrong_schema(const struct ArrowSchema *s)
{
    if (!s->release || !s->format || strcmp(s->format, "+s") != 0) return "the engine's rows are not rows of columns";
    if (s->n_children < 0 || s->n_children >= INT32_MAX || (s->n_children > 0 && !s->children))
        return "the engine's rows have a wrong number of columns";
    for (int64_t i = 0; i < s->n_children; i++) {
        const char *wrong = wrong_column(s->children[i]);
        if (wrong) return wrong;
    }
    return NULL;
}

static const char *wrong_batch(const struct ArrowArray *a, int64_t columns)
{
    if (a->length < 0 || a->offset < 0 || a->offset > INT64_MAX - a->length)
        return "the engine gives rows of a wrong length";
    if (a->n_children < 0 || (columns >= 0 && a->n_children != columns) || (a->n_children > 0 && !a->children))
        return "the engine gives rows with another number of columns";
    for (int64_t i = 0; i < a->n_children; i++) {
        const struct ArrowArray *c = a->children[i];
        if (!c || !c->release) return "a column of the engine's rows is missing";
        if (c->length < a->offset + a->length || c->offset < 0 || c->offset > INT64_MAX - c->length)
            return "a column of the engine's rows has a wrong length";
    }
    return NULL;
}

static int take_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    checked *c = stream->private_data;
    *out = (struct ArrowSchema){.release = NULL};
    int code = c->inner.get_schema(&c->inner, out);
    if (code != 0) {
        out->release = NULL; /* what a failed call left behind is not ours */
        return code;
    }
    const char *wrong = wrong_schema(out);
    c->columns = out->n_children;
    if (!wrong) return 0;
    if (out->release) out->release(out);
    *out = (struct ArrowSchema){.release = NULL};
    snprintf(c->message, sizeof c->message, "%s", wrong);
    return EINVAL;
}

static int take_batch(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    checked *c = stream->private_data;
    *out = (struct ArrowArray){.release = NULL};
    int code = c->inner.get_next(&c->inner, out);
    if (code != 0) out->release = NULL;
    if (code != 0 || !out->release) return code;
    const char *wrong = wrong_batch(out, c->columns);
    if (!wrong) return 0;
    out->release(out);
    *out = (struct ArrowArray){.release = NULL};
    snprintf(c->message, sizeof c->message, "%s", wrong);
    return EINVAL;
}

static const char *last_message(struct ArrowArrayStream *stream)
{
    checked *c = stream->private_data;
    if (c->message[0]) return c->message;
    const char *said = c->inner.get_last_error ? c->inner.get_last_error(&c->inner) : NULL;
    if (!said) return NULL;
    snprintf(c->message, sizeof c->message, "%s", said);
    kn_message_clean(c->message, sizeof c->message);
    return c->message;
}

static void release(struct ArrowArrayStream *stream)
{
    checked *c = stream->private_data;
    if (c->inner.release) c->inner.release(&c->inner);
    kn_free(c);
    stream->release = NULL;
}

kn_status kn_connection_checked(struct ArrowArrayStream *stream, kn_context *ctx, const char *what, kn_error *err)
{
    checked *c = kn_alloc_zero(ctx, sizeof *c);
    if (!c) return kn_fail_memory(err, ctx, what);
    c->inner = *stream;
    c->columns = -1;
    *stream = (struct ArrowArrayStream){take_schema, take_batch, last_message, release, c};
    if (c->inner.get_schema && c->inner.get_next) return KN_OK;
    return kn_fail(err, KN_INPUT, "%.300s: the engine gives rows that nobody can read", what);
}
