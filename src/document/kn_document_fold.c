/* kn_document_fold.c: lists that are folded: kept as what their items are made from.
 *
 * An answer may list millions of things, of which a tree of values would be gigabytes. Such a list (kn_put_folded) is a
 * function and the compact memory it reads. Written as JSON, each item is made in a scratch document, written and
 * forgotten; ranges of items are written by all threads of a context, a wave of them at a time, and handed on in order.
 * Whoever looks at an item (kn_document_at) gets the whole list as values, made once.
 *
 * Cost: an item costs what it would cost in the tree, twice if it is both written and looked at. Memory: of a list that is
 * written, some hundred kilobytes for each thread.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_document_internal.h"
#include "kn_error.h"
#include "kn_parallel.h"

enum {
    PIECE = 256, /* items that are written in one go */
    PIECES = 16  /* of a wave, for each thread */
};

/* ---- Items ---- */

void kn_put_folded(kn_to to, const char *key, int64_t count, kn_item_fn item, const void *from)
{
    kn_to      list = kn_put_list(to, key);
    kn_folded *folded = kn_document_take(to.doc, sizeof *folded);
    if (!list.node || !folded) return;
    *folded = (kn_folded){to.doc->folded, to.doc, list.node, item, from, false};
    to.doc->folded = folded;
    list.node->folded = folded;
    list.node->count = count;
}

static void put_item(const kn_folded *folded, kn_to list, int64_t index)
{
    const kn_field_row *row = folded->list->row;
    int64_t             before = list.node->count;
    if (!row) return; /* the failure is already recorded */
    folded->item(kn_field_kind(row) == KN_F_LIST ? kn_append_object(list) : list, folded->from, index);
    if (list.doc->status == KN_OK && list.node->count != before + 1)
        kn_document_wrong(list.doc, row->name, "has a folded item that is none");
}

bool kn_folded_open(kn_folded *folded)
{
    kn_document *doc = folded->doc;
    if (atomic_load_explicit(&folded->unfolded, memory_order_acquire)) return true;
    pthread_mutex_lock(&doc->lock);
    bool there = atomic_load_explicit(&folded->unfolded, memory_order_relaxed);
    if (!there) {
        kn_node list = {.kind = KN_DOCUMENT_LIST, .row = folded->list->row};
        for (int64_t i = 0; i < folded->list->count && doc->status == KN_OK; i++)
            put_item(folded, (kn_to){doc, &list}, i);
        there = doc->status == KN_OK;
        doc->status = KN_OK; /* the list stays folded */
        if (there) folded->list->items = list.items;
        atomic_store_explicit(&folded->unfolded, there, memory_order_release);
    }
    pthread_mutex_unlock(&doc->lock);
    return there;
}

kn_status kn_document_unfold(kn_document *doc, kn_error *err)
{
    for (kn_folded *f = doc->folded; f; f = f->next)
        if (!kn_folded_open(f)) return kn_fail(err, KN_MEMORY, "out of memory while making the items of an answer");
    return KN_OK;
}

/* ---- Writing ---- */

/* Forgets the last item, but keeps its memory where that is one block. */
static void scratch_clear(kn_document *scratch)
{
    kn_store_block *block = scratch->blocks;
    if (block && !block->next && scratch->free) {
        scratch->left += (size_t)(scratch->free - (char *)(block + 1));
        scratch->free = (char *)(block + 1);
    } else {
        kn_document_drop(scratch);
        scratch->free = NULL;
    }
}

static kn_status write_items(kn_writer *w, const kn_folded *folded, int64_t begin, int64_t end, int depth,
                             kn_error *err)
{
    kn_document scratch = {.allocator = folded->doc->allocator, .answer = folded->doc->answer};
    for (int64_t i = begin; i < end && scratch.status == KN_OK && !w->text.failed; i++) {
        kn_node list = {.kind = KN_DOCUMENT_LIST, .row = folded->list->row};
        put_item(folded, (kn_to){&scratch, &list}, i);
        if (scratch.status == KN_OK) kn_document_look(&scratch, &list);
        if (scratch.status != KN_OK) break;
        if (i > 0) kn_text_add(&w->text, ",", 1);
        kn_text_indent(&w->text, depth + 1);
        kn_writer_value(w, list.items[0], depth + 1);
        scratch_clear(&scratch);
    }
    kn_document_drop(&scratch);
    if (scratch.status == KN_OK && w->text.failed) scratch.status = KN_MEMORY;
    return scratch.status == KN_OK ? KN_OK : kn_document_fail(&scratch, err);
}

static kn_status flush(const kn_writer *w, kn_text *text, kn_error *err)
{
    size_t size = text->size;
    text->size = 0;
    return size > 0 && !text->failed ? w->write(w->user, text->data, size, err) : KN_OK;
}

/* The items [first, first + count) of a list, in pieces that are written at the same time. Meanwhile the pieces of the wave before
 * are handed on. */
typedef struct wave {
    const kn_writer *to;
    const kn_folded *folded;
    kn_writer       *pieces, *before;
    int64_t          first, count, before_count;
    int              depth;
} wave;

static int64_t pieces_of(int64_t count)
{
    return (count + PIECE - 1) / PIECE;
}

static kn_status hand_on(const wave *v, kn_error *err)
{
    for (int64_t p = 0; p < pieces_of(v->before_count); p++) KN_TRY(flush(v->to, &v->before[p].text, err));
    return KN_OK;
}

/* 0: what was written before; p + 1: piece p. */
static kn_status write_pieces(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const wave *v = arg;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        int64_t from = (i - 1) * PIECE, to = i * PIECE < v->count ? i * PIECE : v->count;
        if (i == 0)
            KN_TRY(hand_on(v, err));
        else
            KN_TRY(write_items(&v->pieces[i - 1], v->folded, v->first + from, v->first + to, v->depth, err));
    }
    return KN_OK;
}

static kn_status write_waves(kn_writer *w, const kn_folded *folded, int depth)
{
    int64_t count = folded->list->count, most = PIECES * (int64_t)kn_context_threads(w->ctx);
    if (most > pieces_of(count)) most = pieces_of(count);
    kn_writer *pieces = kn_alloc_zero(w->ctx, 2 * (size_t)most * sizeof *pieces);
    if (!pieces) return kn_fail_memory(w->err, w->ctx, "writing an answer as text");
    for (int64_t p = 0; p < 2 * most; p++) pieces[p].text.allocator = folded->doc->allocator;
    kn_status st = flush(w, &w->text, w->err);
    wave      v = {w, folded, pieces, pieces + most, 0, 0, 0, depth};
    while (st == KN_OK && (v.first < count || v.before_count > 0)) {
        v.count = count - v.first < most * PIECE ? count - v.first : most * PIECE;
        st = kn_parallel_for(w->ctx, pieces_of(v.count) + 1, 1, write_pieces, &v, w->err);
        kn_writer *written = v.pieces;
        v.pieces = v.before;
        v.before = written;
        v.first += v.count;
        v.before_count = v.count;
    }
    for (int64_t p = 0; p < 2 * most; p++) kn_text_free(pieces[p].text.data);
    kn_free(pieces);
    return st;
}

void kn_writer_folded(kn_writer *w, const kn_folded *folded, int depth)
{
    if (w->status != KN_OK) return;
    if (w->ctx && folded->list->count > PIECE)
        w->status = write_waves(w, folded, depth);
    else
        w->status = write_items(w, folded, 0, folded->list->count, depth, w->err);
}

static kn_status write_all(const kn_document *doc, kn_context *ctx, kn_document_write_fn write, void *user,
                           kn_error *err)
{
    kn_writer w = {.text = {.allocator = doc->allocator}, .ctx = ctx, .write = write, .user = user, .err = err};
    kn_writer_value(&w, doc->top, 0);
    kn_text_string(&w.text, "\n");
    if (w.status == KN_OK && w.text.failed)
        w.status = kn_fail(err, KN_MEMORY, "out of memory while writing an answer as text");
    if (w.status == KN_OK) w.status = flush(&w, &w.text, err);
    kn_text_free(w.text.data);
    return w.status;
}

kn_status kn_document_write(const kn_document *doc, kn_context *ctx, kn_document_write_fn write, void *user,
                            kn_error *err)
{
    if (!ctx) return write_all(doc, NULL, write, user, err);
    KN_SERVE(ctx, err);
    return write_all(doc, ctx, write, user, err);
}
