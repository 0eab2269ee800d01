/* kn_rows.h: many small sets of numbers, each once, with how many records are equal to it. */
#ifndef KN_ROWS_H
#define KN_ROWS_H

#include <kanon/context.h>

/* Row i is members[start[i]] .. members[start[i + 1] - 1]. */
typedef struct kn_rows {
    uint32_t  count;
    uint64_t *start; /* count + 1 */
    uint32_t *members;
    int64_t  *weight; /* records that are equal to it */
} kn_rows;

/* Finds the row that is equal to a new one. */
typedef struct kn_row_table {
    uint32_t *slots; /* row + 1; 0: free */
    size_t    mask;
} kn_row_table;

/* Room for so many; without `merge` equal rows stay apart. The caller frees the table's slots. After a failure kn_rows_free. */
KN_CHECK kn_status kn_rows_make(kn_rows *out, kn_row_table *table, kn_context *ctx, uint64_t most_rows,
                                uint64_t most_members, bool merge, kn_error *err);
void               kn_rows_free(kn_rows *rows);

/* The `size` members that were written behind the last row become a row, or add to the weight of the equal one: which? */
uint32_t kn_rows_close(kn_rows *rows, kn_row_table *table, uint64_t size, int64_t weight);

/* Gives back room that is not used. */
void kn_rows_shrink(kn_context *ctx, kn_rows *rows);

void kn_rows_sort(uint32_t *numbers, uint64_t count); /* ascending; meant for a few */

#endif
