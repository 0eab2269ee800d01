/* kn_document_internal.h: the internals of a document, for the files of src/document. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_DOCUMENT_INTERNAL_H
#define KN_DOCUMENT_INTERNAL_H

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
    const char  *key; /* of a member of figures                                                         */
};

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
    /* While the document is being made: */
    kn_context *ctx;
    uint64_t    charged;
    kn_status   status;      /* the first failure       */
    char        wrong[64];   /* field, where status is KN_INTERNAL; its name may be the caller's */
    const char *why;
};

/* Records a mistake, unless something failed before. */
void kn_document_wrong(kn_document *doc, const char *field, const char *why);

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

#endif
