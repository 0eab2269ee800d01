/* kn_memory_arrow.h: tables in memory (kanon/memory.h): the batches of an Arrow stream, stored unchanged, and batches
 * made here from columns.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_MEMORY_ARROW_H
#define KN_MEMORY_ARROW_H

#include <kanon/memory.h>
#include <stdatomic.h>

#include "kn_arena.h"
#include "kn_csv_read.h"
#include "kn_output.h"

/* A column to make batches from: whole buffers, one value per row. */
typedef struct kn_batch_column {
    const char *name;
    const char *format;   /* of the values, or of the indices; static             */
    int         width;    /* bytes of one                                         */
    void       *data;     /* rows of them; a missing cell's is 0                  */
    uint8_t    *validity; /* a bit per row, in whole bytes; NULL: nothing missing */
    const char *text_format; /* of the dictionary's texts, "u" or "U"; NULL: no dictionary */
    int64_t     entries;
    void       *offsets; /* entries + 1 */
    char       *bytes;
} kn_batch_column;

/* The batches under a name. Each of its holders keeps them alive: the name itself, and each stream, schema and array
 * that was handed out. Their contents are not checked yet. */
typedef struct kn_batches {
    kn_context        *ctx;
    atomic_size_t      holders;
    struct ArrowSchema schema;
    struct ArrowArray *arrays;
    size_t             count, capacity;
    kn_batch_column   *columns; /* of batches made here: their buffers */
    int                column_count;
    kn_arena           room; /* ... and the structs around them */
} kn_batches;

/* NULL: the name is that of bytes or of a file, or does not exist. */
const kn_batches *kn_memory_batches(const kn_context *ctx, const char *name);

/* Makes batches of 65,536 rows over the columns' buffers (kn_alloc), and takes ownership of these, also on failure;
 * names are copied. */
KN_CHECK kn_status kn_batches_make(kn_batches **out, kn_context *ctx, const kn_batch_column *columns, int count, int64_t rows,
                                   kn_error *err);
void               kn_batch_columns_free(const kn_batch_column *columns, int count); /* their buffers */
void               kn_batches_let_go(kn_batches *batches); /* drops a holder; the last one frees them; NULL is fine */

/* A stream over the batches, which holds them; nothing is copied. */
KN_CHECK kn_status kn_batches_share(struct ArrowArrayStream *out, kn_context *ctx, kn_batches *batches, kn_error *err);

/* A stream over batches that outlive it: nothing in it needs to be released. */
typedef struct kn_batches_lent {
    const kn_batches *batches;
    size_t            next, end; /* the first batch, and the one behind the last; end 0: all of them */
} kn_batches_lent;
struct ArrowArrayStream kn_batches_lend(kn_batches_lent *lent);

/* Gives the batches to an output in memory instead of bytes (kn_output_hold). */
KN_CHECK kn_status kn_batches_put(kn_output *output, kn_batches *batches, kn_error *err);

/* A hash of everything in the batches, to detect whether their producer changed them. */
uint64_t kn_batches_hash(const kn_batches *batches);

/* Reads the table as if it were a CSV file. KN_USAGE: options that only make sense for bytes; several inputs. */
KN_CHECK kn_status kn_memory_read_table(kn_table **out, kn_context *ctx, const char *const *names, int count,
                                        const kn_csv_options *options, kn_error *err);

/* The names of its columns, as kn_csv_read_names gives them. */
KN_CHECK kn_status kn_memory_read_names(kn_csv_names *out, kn_context *ctx, const char *name, const kn_csv_options *options,
                                        kn_error *err);

#endif
