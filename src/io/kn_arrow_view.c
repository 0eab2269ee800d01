/* kn_arrow_view.c: the checked buffers of Arrow arrays, and the texts in them. Interface: kn_arrow.h.
 *
 * Everything in an array that can be checked is checked. The interface does not give the size of a buffer: that
 * lengths are true is the one thing a producer must be trusted with.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_arrow.h"

/* Lengths and offsets beyond this cannot be those of real buffers, and their sums and sizes in bytes must not overflow. */
#define MAX_LENGTH (INT64_MAX / 64)

const char *kn_arrow_check(const struct ArrowArray *a, int64_t least_length)
{
    if (!a) return "the array is missing";
    if (!a->release) return "the array was released";
    if (a->length < 0 || a->length > MAX_LENGTH) return "a length that cannot be";
    if (a->offset < 0 || a->offset > MAX_LENGTH) return "an offset that cannot be";
    if (a->null_count < -1 || a->null_count > a->length) return "a count of nulls that cannot be";
    if (a->length < least_length) return "the array is shorter than its batch";
    if (a->n_buffers < 0 || (a->n_buffers > 0 && !a->buffers)) return "the buffers are missing";
    return NULL;
}

static const char *open_buffers(kn_arrow_view *v, const struct ArrowArray *a, const kn_arrow_format *format)
{
    int64_t buffers = format->kind == KN_ARROW_NULL ? 0 : format->kind == KN_ARROW_UTF8 ? 3 : 2;
    if (format->kind == KN_ARROW_NULL && a->n_buffers == 1) buffers = 1; /* as before Arrow 1.0: Polars still does so */
    if (format->kind == KN_ARROW_VIEW ? a->n_buffers < 3 : a->n_buffers != buffers) return "a wrong number of buffers";
    if (format->kind == KN_ARROW_NULL) return NULL;
    v->validity = a->buffers[0];
    v->data = a->buffers[1];
    if (!v->validity && a->null_count > 0) return "nulls without a bitmap";
    if (!v->data && a->length > 0) return "a buffer is missing";
    if (format->kind == KN_ARROW_UTF8) v->bytes = a->buffers[2];
    if (format->kind == KN_ARROW_VIEW) {
        v->piece_count = a->n_buffers - 3;
        v->pieces = a->buffers + 2;
        v->sizes = a->buffers[a->n_buffers - 1];
        if (v->piece_count > 0 && !v->sizes) return "a buffer is missing";
    }
    return NULL;
}

const char *kn_arrow_open(kn_arrow_view *v, const struct ArrowArray *a, const kn_arrow_format *format, int64_t skip,
                          int64_t rows)
{
    *v = (kn_arrow_view){.length = rows};
    const char *reason = kn_arrow_check(a, skip + rows);
    if (reason) return reason;
    if (a->n_children != 0) return "children where there can be none";
    v->start = a->offset + skip;
    return open_buffers(v, a, format);
}

/* The bytes at an absolute index of a UTF8 array, or why there are none. */
static const char *utf8_at(const kn_arrow_view *v, int width, int64_t at, kn_string *out)
{
    int64_t begin = kn_arrow_load_signed(v->data + at * width, width);
    int64_t end = kn_arrow_load_signed(v->data + (at + 1) * width, width);
    if (begin < 0 || end < begin) return "text offsets that run backwards";
    out->size = (size_t)(end - begin);
    out->data = out->size ? (const char *)v->bytes : "";
    if (out->size == 0) return NULL;
    if (!v->bytes) return "a buffer is missing";
    out->data += begin;
    return NULL;
}

/* The same for a view: 4 bytes of length, then up to 12 of text, or 4 of text, a buffer number and an offset into it. */
static const char *view_at(const kn_arrow_view *v, int64_t at, kn_string *out)
{
    const uint8_t *record = v->data + at * 16;
    int64_t        length = kn_arrow_load_signed(record, 4);
    if (length < 0) return "a text of negative length";
    *out = (kn_string){(const char *)record + 4, (size_t)length};
    if (length > 12) {
        int64_t piece = kn_arrow_load_signed(record + 8, 4);
        int64_t offset = kn_arrow_load_signed(record + 12, 4);
        if (piece < 0 || piece >= v->piece_count) return "a text in a buffer that is not there";
        int64_t size = kn_arrow_load_signed(v->sizes + 8 * piece, 8);
        if (offset < 0 || offset > size || length > size - offset || !v->pieces[piece])
            return "a text outside its buffer";
        out->data = (const char *)v->pieces[piece] + offset;
    }
    return NULL;
}

const char *kn_arrow_bytes_at(const kn_arrow_view *v, const kn_arrow_format *format, int64_t at, kn_string *out)
{
    return format->kind == KN_ARROW_VIEW ? view_at(v, at, out) : utf8_at(v, format->width, at, out);
}

const char *kn_arrow_text_at(const kn_arrow_view *v, const kn_arrow_format *format, int64_t at, kn_string *out)
{
    const char *reason = kn_arrow_bytes_at(v, format, at, out);
    return reason ? reason : kn_arrow_text_reason(*out);
}
