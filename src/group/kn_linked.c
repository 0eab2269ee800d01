/* kn_linked.c: signatures of persons (kn_linked.h).
 *
 * Entries are distributed to persons by counting; within a person they come in the order of the classes, so that a
 * signature is a list of (class, rows). Equal lists are found through a hash table and compared. Histograms: one sort
 * of (position, value).
 *
 * Memory: some 24 bytes per entry.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_linked.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_hash.h"
#include "kn_sort.h"

#define WHAT "comparing persons"

/* ---- A column of the person ---- */

/* What is known of a person so far. */
typedef struct seen {
    uint32_t value; /* of the first row            */
    uint8_t  rows;  /* 0, 1, or 2: two or more     */
    bool     other; /* another row has other values */
} seen;

static uint64_t pairs_of(uint64_t n)
{
    return n < 2 ? 0 : n % 2 ? (n - 1) / 2 * n : n / 2 * (n - 1);
}

kn_status kn_linked_by_column(bool *out, kn_context *ctx, const kn_table *table, int person, int column, kn_error *err)
{
    const kn_column *entity = &table->columns[person], *values = &table->columns[column];
    uint64_t         agree = 0, all = pairs_of((uint64_t)table->rows);
    int64_t          several = 0, alike = 0;
    seen            *persons = kn_alloc_array_zero(ctx, (size_t)entity->dict.count + 1, sizeof *persons);
    uint64_t        *counts = kn_alloc_array_zero(ctx, (size_t)values->dict.count + 1, sizeof *counts);
    bool             ok = persons && counts;
    for (int64_t row = 0; ok && row < table->rows; row++) {
        seen    *p = &persons[kn_column_code(entity, row)];
        uint32_t code = kn_column_code(values, row);
        counts[code]++;
        if (p->rows == 0) p->value = code;
        p->other = p->other || p->value != code;
        p->rows += p->rows < 2;
    }
    for (size_t i = 0; ok && i <= entity->dict.count; i++) {
        several += persons[i].rows > 1;
        alike += persons[i].rows > 1 && !persons[i].other;
    }
    for (size_t c = 0; ok && c <= values->dict.count; c++) agree += pairs_of(counts[c]);
    KN_FREE(persons, counts);
    if (!ok) return kn_fail_memory(err, ctx, WHAT);
    *out = agree < all && (kn_u128)alike * 2 * all >= (kn_u128)several * ((kn_u128)all + agree);
    return KN_OK;
}

/* ---- Signatures ---- */

typedef struct item {
    uint64_t class_index;
    int64_t  rows;
} item;

typedef struct making {
    kn_linked *out;
    int64_t   *begin; /* per code: its items */
    item      *items;
    int64_t   *model; /* per signature: a code that has it */
    uint32_t  *slots; /* signature + 1; 0: free */
    size_t     mask;
} making;

/* ---- Lists of persons ---- */

static kn_status fill_items(making *m, const kn_freq *pairs, const int64_t *starts, int64_t class_count, kn_error *err)
{
    kn_linked *l = m->out;
    int        person = pairs->layout.columns - 1;
    int64_t    entries = class_count > 0 ? starts[class_count] : 0;
    m->begin = kn_alloc_array_zero(l->ctx, (size_t)l->codes + 2, sizeof *m->begin);
    m->items = kn_alloc_array(l->ctx, (size_t)entries + 1, sizeof *m->items);
    if (!m->begin || !m->items) return kn_fail_memory(err, l->ctx, WHAT);
    for (int64_t i = 0; i < entries; i++) m->begin[kn_freq_code(pairs, i, person) + 2]++;
    for (uint32_t p = 2; p <= l->codes; p++) m->begin[p] += m->begin[p - 1];
    for (int64_t c = 0; c < class_count; c++)
        for (int64_t i = starts[c]; i < starts[c + 1]; i++)
            m->items[m->begin[kn_freq_code(pairs, i, person) + 1]++] = (item){(uint64_t)c, pairs->counts[i]};
    return KN_OK;
}

static size_t length_of(const making *m, int64_t code)
{
    return (size_t)(m->begin[code + 1] - m->begin[code]);
}

/* The signature of a list, new or known. */
static uint32_t intern(making *m, uint32_t code)
{
    kn_linked  *l = m->out;
    size_t      n = length_of(m, code);
    const item *list = m->items + m->begin[code];
    size_t      at = (size_t)kn_hash_bytes(list, n * sizeof *list) & m->mask;
    for (; m->slots[at]; at = (at + 1) & m->mask) {
        int64_t other = m->model[m->slots[at] - 1];
        if (length_of(m, other) == n && memcmp(m->items + m->begin[other], list, n * sizeof *list) == 0)
            return m->slots[at] - 1;
    }
    m->model[l->signatures] = code;
    m->slots[at] = (uint32_t)++l->signatures;
    return m->slots[at] - 1;
}

static kn_status find_signatures(making *m, kn_error *err)
{
    kn_linked *l = m->out;
    size_t     slots = 16;
    while (slots < 2 * (size_t)l->codes) slots *= 2;
    m->mask = slots - 1;
    m->slots = kn_alloc_array_zero(l->ctx, slots, sizeof *m->slots);
    m->model = kn_alloc_array_zero(l->ctx, (size_t)l->codes + 1, sizeof *m->model);
    l->of_person = kn_alloc_array(l->ctx, (size_t)l->codes + 1, sizeof *l->of_person);
    l->persons = kn_alloc_array_zero(l->ctx, (size_t)l->codes + 1, sizeof *l->persons);
    l->rows = kn_alloc_array_zero(l->ctx, (size_t)l->codes + 1, sizeof *l->rows);
    if (!m->slots || !m->model || !l->of_person || !l->persons || !l->rows) return kn_fail_memory(err, l->ctx, WHAT);
    for (uint32_t p = 0; p < l->codes; p++) {
        l->of_person[p] = KN_LINKED_NOBODY;
        if (length_of(m, p) == 0) continue;
        uint32_t s = l->of_person[p] = intern(m, p);
        l->persons[s]++;
        for (int64_t i = m->begin[p]; i < m->begin[p + 1]; i++) l->rows[s] += m->items[i].rows;
    }
    return KN_OK;
}

static kn_status fill_positions(making *m, kn_error *err)
{
    kn_linked *l = m->out;
    l->starts = kn_alloc_array_zero(l->ctx, (size_t)l->signatures + 1, sizeof *l->starts);
    if (!l->starts) return kn_fail_memory(err, l->ctx, WHAT);
    for (int64_t s = 0; s < l->signatures; s++) l->starts[s + 1] = l->starts[s] + (int64_t)length_of(m, m->model[s]);
    size_t positions = (size_t)l->starts[l->signatures];
    l->classes = kn_alloc_array(l->ctx, positions + 1, sizeof *l->classes);
    l->each = kn_alloc_array(l->ctx, positions + 1, sizeof *l->each);
    if (!l->classes || !l->each) return kn_fail_memory(err, l->ctx, WHAT);
    for (int64_t s = 0, at = 0; s < l->signatures; s++)
        for (int64_t i = m->begin[m->model[s]]; i < m->begin[m->model[s] + 1]; i++, at++) {
            l->classes[at] = (uint32_t)m->items[i].class_index;
            l->each[at] = m->items[i].rows;
        }
    return KN_OK;
}

kn_status kn_linked_make(kn_linked *out, const kn_freq *pairs, const int64_t *starts, int64_t class_count,
                         uint32_t codes, kn_error *err)
{
    making m = {.out = out};
    *out = (kn_linked){.ctx = pairs->ctx, .codes = codes};
    if (class_count >= UINT32_MAX) return kn_fail(err, KN_USAGE, "too many classes to compare persons by");
    kn_status st = fill_items(&m, pairs, starts, class_count, err);
    if (st == KN_OK) st = find_signatures(&m, err);
    if (st == KN_OK) st = fill_positions(&m, err);
    KN_FREE(m.begin, m.items, m.model, m.slots);
    return st;
}

void kn_linked_free(kn_linked *l)
{
    KN_FREE(l->persons, l->rows, l->starts, l->classes, l->each, l->of_person);
    *l = (kn_linked){0};
}

/* ---- Histograms ---- */

static int64_t position_of(const kn_linked *l, uint32_t signature, uint32_t class_index)
{
    int64_t low = l->starts[signature], high = l->starts[signature + 1] - 1;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (l->classes[middle] < class_index)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* By value within a position, with the rows of each value. */
static kn_status sort_entries(kn_sort_record **out, size_t *count, const kn_linked *l, const kn_freq *fine,
                              const int64_t *starts, int64_t class_count, int class_columns, kn_error *err)
{
    size_t          entries = class_count > 0 ? (size_t)starts[class_count] : 0;
    kn_sort_record *list = kn_alloc_array(l->ctx, entries + 1, sizeof *list);
    if (!list) return kn_fail_memory(err, l->ctx, WHAT);
    for (int64_t c = 0; c < class_count; c++)
        for (int64_t i = starts[c]; i < starts[c + 1]; i++) {
            uint32_t signature = l->of_person[kn_freq_code(fine, i, class_columns + 1)];
            uint64_t position = (uint64_t)position_of(l, signature, (uint32_t)c);
            list[i] = (kn_sort_record){position << 32 | kn_freq_code(fine, i, class_columns), (uint64_t)i};
        }
    *out = list;
    *count = entries;
    return kn_sort_records(l->ctx, list, entries, NULL, NULL, err);
}

/* Values with most rows first. */
static int most_first(const void *arg, uint64_t a, uint64_t b)
{
    const int64_t *counts = arg;
    if (counts[a] != counts[b]) return counts[a] > counts[b] ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* The rows of one position, codes and counts [begin, *end), become those of its worst node. */
static kn_status deal(kn_class_histograms *h, int64_t begin, int64_t *end, int64_t each, int64_t persons,
                      kn_context *ctx, kn_error *err)
{
    size_t          open = 0, values = (size_t)(*end - begin);
    kn_sort_record *order = kn_alloc_array(ctx, values + 1, sizeof *order);
    int64_t        *counts = h->counts + begin, left = persons;
    if (!order) return kn_fail_memory(err, ctx, WHAT);
    for (size_t i = 0; i < values; i++) {
        if (counts[i] % each != 0) order[open++] = (kn_sort_record){0, i};
        counts[i] /= each;
        left -= counts[i];
    }
    kn_status st = kn_sort_records(ctx, order, open, most_first, counts, err);
    for (size_t i = 0; st == KN_OK && i < open && (int64_t)i < left; i++) order[i].key = 1;
    for (size_t i = 0; st == KN_OK && i < open; i++) counts[order[i].id] += (int64_t)order[i].key;
    kn_free(order);
    int64_t kept = begin;
    for (int64_t i = begin; i < *end; i++) {
        if (h->counts[i] == 0) continue;
        h->codes[kept] = h->codes[i];
        h->counts[kept++] = h->counts[i];
    }
    *end = kept;
    return st;
}

static kn_status fill_histograms(kn_class_histograms *h, const kn_linked *l, const kn_freq *fine,
                                 const kn_sort_record *list, size_t count, kn_error *err)
{
    int64_t positions = l->starts[l->signatures], at = 0;
    size_t  i = 0;
    h->starts = kn_alloc_array_zero(l->ctx, (size_t)positions + 1, sizeof *h->starts);
    h->codes = kn_alloc_array(l->ctx, count + 1, sizeof *h->codes);
    h->counts = kn_alloc_array(l->ctx, count + 1, sizeof *h->counts);
    if (!h->starts || !h->codes || !h->counts) return kn_fail_memory(err, l->ctx, WHAT);
    for (int64_t s = 0, p = 0; s < l->signatures; s++)
        for (; p < l->starts[s + 1]; p++) {
            int64_t begin = at;
            for (; i < count && (int64_t)(list[i].key >> 32) == p; i++) {
                bool same = at > begin && h->codes[at - 1] == (uint32_t)list[i].key;
                if (!same) h->counts[at] = 0;
                if (!same) h->codes[at++] = (uint32_t)list[i].key;
                h->counts[at - 1] += fine->counts[list[i].id];
            }
            if (l->each[p] > 1) KN_TRY(deal(h, begin, &at, l->each[p], l->persons[s], l->ctx, err));
            h->starts[p + 1] = at;
        }
    return KN_OK;
}

kn_status kn_linked_histograms(kn_class_histograms *out, const kn_linked *l, const kn_freq *fine, int class_columns,
                               int64_t class_count, kn_error *err)
{
    kn_freq        *classes = NULL;
    int64_t        *starts = NULL;
    kn_sort_record *list = NULL;
    size_t          count = 0;
    *out = (kn_class_histograms){0};
    if (l->starts[l->signatures] >= UINT32_MAX) return kn_fail(err, KN_USAGE, "too many classes to compare persons by");
    KN_TRY(kn_freq_fold(&classes, &starts, fine, class_columns, err));
    kn_status st = sort_entries(&list, &count, l, fine, starts, class_count, class_columns, err);
    if (st == KN_OK) st = fill_histograms(out, l, fine, list, count, err);
    KN_FREE(list, starts);
    kn_freq_free(classes);
    return st;
}
