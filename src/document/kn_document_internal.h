/* kn_document_internal.h: the internals of a document, for the files of src/document. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_DOCUMENT_INTERNAL_H
#define KN_DOCUMENT_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "kn_document.h"

typedef struct kn_document_value kn_node;

/* A value. An object has a slot for each row of its table (NULL: absent); figures have their own names. */
struct kn_document_value {
    kn_document_kind kind;
    const kn_field_row  *row;    /* its row; of an item: the list's row; NULL: the top                      */
    const kn_fields *fields; /* of an object with a table; NULL: figures                                */
    union {
        bool        boolean;
        int64_t     integer;
        double      number;
        const char *text;
        kn_node   **items; /* lists and figures: `count`; objects: one per row                          */
    };
    int64_t      count; /* text: bytes; object with a table: filled slots                               */
    int64_t      capacity;
    union {
        const char       *key;    /* of a member of figures                                             */
        struct kn_folded *folded; /* of a list: NULL, its items are there                               */
    };
};

/* A list whose items are made when they are looked at (kn_put_folded). */
typedef struct kn_folded {
    struct kn_folded *next;
    kn_document      *doc;
    kn_node          *list;
    kn_item_fn        item;
    const void       *from;
    atomic_bool       unfolded; /* the list has its items */
} kn_folded;

/* Memory that is freed all at once; it comes from the context's allocator but may outlive the context. */
typedef struct kn_store_block {
    struct kn_store_block *next;
    size_t                 size; /* with this header */
} kn_store_block;

struct kn_document {
    atomic_int       owners;
    kn_allocator     allocator;
    kn_store_block  *blocks;
    char            *free;
    size_t           left;
    const kn_fields *answer;
    kn_node         *top;
    kn_folded       *folded; /* all of them                                       */
    pthread_mutex_t  lock;   /* of what readers may change: lists being unfolded */
    /* While the document is being made: */
    kn_context *ctx;
    uint64_t    charged;
    kn_status   status;      /* the first failure       */
    char        wrong[64];   /* field, where status is KN_INTERNAL; its name may be the caller's */
    const char *why;
};

/* Records a mistake, unless something failed before. */
void kn_document_wrong(kn_document *doc, const char *field, const char *why);

/* Frees the document's memory, but not the document. */
void kn_document_drop(kn_document *doc);

/* Records what is missing in a value. */
void kn_document_look(kn_document *doc, const kn_node *node);

/* Reports what was recorded: its status, with the message. */
KN_CHECK kn_status kn_document_fail(const kn_document *doc, kn_error *err);

/* Makes the items of a folded list, unless that was done; false: out of memory. Any thread. */
bool kn_folded_open(kn_folded *folded);

/* ---- As text ---- */

/* A growing text that ends with a NUL; kn_text_free frees it without the context. */
typedef struct kn_text {
    kn_allocator allocator;
    char        *data; /* after its header */
    size_t       size, capacity;
    bool         failed;
} kn_text;

void               kn_text_add(kn_text *text, const char *data, size_t size);
void               kn_text_string(kn_text *text, const char *s);
void               kn_text_format(kn_text *text, const char *format, ...) KN_PRINTF(2, 3);
void               kn_text_quoted(kn_text *text, const char *s, size_t size); /* as JSON writes it */
void               kn_text_indent(kn_text *text, int depth);                  /* a new line        */
KN_CHECK kn_status kn_text_end(char **out, size_t *size, kn_text *text, kn_error *err);

enum { KN_NUMBER_SIZE = 40, KN_NUMBERS = 64 };

/* What writes a document: its text so far and, if it is handed on in pieces, to whom. */
typedef struct kn_writer {
    kn_text              text;
    kn_context          *ctx; /* whose threads write long lists; NULL: the caller's alone */
    kn_document_write_fn write;
    void                *user;
    kn_status            status; /* the first failure but want of memory, with its message */
    kn_error            *err;
    struct {
        uint64_t bits;
        char     digits[KN_NUMBER_SIZE];
    } number[KN_NUMBERS]; /* numbers written lately */
} kn_writer;

void kn_writer_value(kn_writer *w, const kn_node *value, int depth);
void kn_writer_folded(kn_writer *w, const kn_folded *folded, int depth); /* between the brackets of the list */

#endif
