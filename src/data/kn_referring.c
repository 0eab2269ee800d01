/* kn_referring.c: columns of a reference that persons cause. Interface: kn_referring.h.
 *
 * Keys are compared by their spelling, as everywhere. Cost: one pass over both tables, with a hash of the keys that occur.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_referring.h"

#include <stdio.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_interner.h"
#include "kn_tuple.h"

enum { FEW_ROWS = 5, FEW_COUNTS = 3 };

kn_status kn_count_referring(int64_t *counts, kn_context *ctx, kn_key_cells from, const int64_t *each, kn_key_cells to,
                             kn_error *err)
{
    int64_t    *of_id = kn_alloc_array_zero(ctx, (size_t)from.table->rows + 1, sizeof *of_id);
    kn_interner keys;
    kn_buffer   text;
    kn_interner_init(&keys, ctx);
    kn_buffer_init(&text, ctx);
    bool ok = of_id != NULL;
    for (int64_t r = 0; ok && r < from.table->rows; r++) {
        if (!kn_tuple_text(&text, from.table, from.columns, from.count, r)) continue;
        uint32_t id = text.failed ? KN_ID_FAILED : kn_intern(&keys, (kn_string){text.data, text.size});
        ok = id != KN_ID_FAILED;
        if (ok) of_id[id - 1] += each ? each[r] : 1;
    }
    for (int64_t r = 0; ok && r < to.table->rows; r++) {
        if (!kn_tuple_text(&text, to.table, to.columns, to.count, r)) continue;
        ok = !text.failed;
        uint32_t id = ok ? kn_interner_find(&keys, (kn_string){text.data, text.size}) : 0;
        if (id > 0) counts[r] += of_id[id - 1];
    }
    kn_interner_free(&keys);
    kn_buffer_free(&text);
    kn_free(of_id);
    return ok ? KN_OK : kn_fail_memory(err, ctx, "reading a reference");
}

bool kn_holds_counts(const kn_table *t, int column, const int64_t *counts)
{
    const kn_column *c = &t->columns[column];
    if (t->rows < FEW_ROWS || c->dict.count < FEW_COUNTS) return false;
    for (int64_t r = 0; r < t->rows; r++) {
        char     room[24];
        uint32_t code = kn_column_code(c, r);
        int      size = snprintf(room, sizeof room, "%lld", (long long)counts[r]);
        if (code == c->dict.count ||
            !kn_string_equal(kn_dictionary_text(&c->dict, code), (kn_string){room, (size_t)size}))
            return false;
    }
    return true;
}

bool kn_made_for_one(const int64_t *counts, int64_t rows)
{
    int64_t once = 0;
    for (int64_t r = 0; r < rows; r++) {
        if (counts[r] > 1) return false;
        once += counts[r];
    }
    return once >= FEW_ROWS && once > rows / 2;
}

/* Does a name contain a word, in any letter case? */
static bool contains(const char *name, const char *word)
{
    for (; *name; name++) {
        size_t i = 0;
        while (word[i] && (name[i] | 0x20) == word[i]) i++;
        if (!word[i]) return true;
    }
    return false;
}

bool kn_speaks_of_use(const char *name)
{
    static const char *const words[] = {"last",   "count", "sold",    "views",       "update",
                                        "latest", "stock", "onorder", "utilization", "usage"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (contains(name, words[i]) && !contains(name, "country") && !contains(name, "discount")) return true;
    return false;
}
