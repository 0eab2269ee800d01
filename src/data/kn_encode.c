/* kn_encode.c: one column's interned ids → sorted dictionary and final codes.
 *
 * The steps, in order: merge the slots' texts into one list; leave out spellings of "missing" (and texts no row
 * uses); infer the type from the distinct texts; sort them by value; merge equal values (1.0 and 1.00), represented
 * by their shortest spelling; write the dictionary; map every id to its code.
 *
 * Cost: O(rows) for the last step, in parallel, and O(d log d) for d distinct texts. In place where ids and codes have
 * the same width; otherwise the column is held twice for a moment, never the whole table.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "kn_alloc.h"
#include "kn_builder_internal.h"
#include "kn_error.h"
#include "kn_parallel.h"
#include "kn_sort.h"

typedef struct encoding {
    kn_context        *ctx;
    kn_builder        *builder;
    kn_builder_column *source;
    kn_column         *out;
    kn_string         *texts; /* the distinct texts of all slots; owned by interner 0      */
    size_t             count;
    uint32_t         **merged; /* per slot ≥ 1: its id → index in texts + 1                 */
    uint32_t          *code;   /* index in texts → code; KN_NO_CODE: missing or unused      */
    int64_t           *integers;
    kn_decimal        *decimals;
    kn_sort_record    *order; /* the used texts in order of value */
    size_t             order_count;
    uint32_t         **remap; /* per slot: id → code */
    bool               has_missing;
} encoding;

#define KN_NO_CODE UINT32_MAX

static kn_status no_memory(encoding *e, kn_error *err)
{
    char what[300];
    snprintf(what, sizeof what, "encoding column \"%s\"", e->source->name);
    return kn_fail_memory(err, e->ctx, what);
}

/* Interns the texts of all other slots into slot 0's list and records where each one went. */
static kn_status merge_slots(encoding *e, kn_error *err)
{
    kn_interner *all = &e->source->interners[0];
    e->merged = kn_alloc_array_zero(e->ctx, (size_t)e->builder->slots, sizeof *e->merged);
    if (!e->merged) return no_memory(e, err);
    for (int s = 1; s < e->builder->slots; s++) {
        kn_interner *one = &e->source->interners[s];
        kn_interner_seal(one);
        e->merged[s] = kn_alloc_array(e->ctx, one->count + 1, sizeof **e->merged);
        if (!e->merged[s]) return no_memory(e, err);
        e->merged[s][KN_ID_MISSING] = 0;
        for (size_t i = 0; i < one->count; i++) {
            uint32_t id = kn_intern_borrowed(all, one->texts[i]);
            if (id == KN_ID_FAILED) return no_memory(e, err);
            e->merged[s][i + 1] = id;
        }
    }
    kn_interner_seal(all);
    e->texts = all->texts;
    e->count = all->count;
    return KN_OK;
}

static bool is_na(const encoding *e, kn_string text)
{
    text = kn_value_trim(text);
    for (int i = 0; i < e->builder->na_count; i++)
        if (kn_string_equal(text, e->builder->na[i])) return true;
    return false;
}

static inline uint32_t id_at(const kn_builder_column *column, int64_t row)
{
    switch (column->width) {
    case 1: return ((const uint8_t *)column->ids)[row];
    case 2: return ((const uint16_t *)column->ids)[row];
    default: return ((const uint32_t *)column->ids)[row];
    }
}

static inline uint32_t merged_id(const encoding *e, int slot, uint32_t id)
{
    return slot == 0 ? id : e->merged[slot][id];
}

/* Marks in `code` which texts are values of the column: 0 for those, KN_NO_CODE for spellings of "missing" and, if
 * the reader revised wrong guesses, for texts that no row has. */
static kn_status choose_values(encoding *e, kn_error *err)
{
    e->code = kn_alloc_array_zero(e->ctx, e->count, sizeof *e->code);
    if (!e->code) return no_memory(e, err);
    if (e->builder->unused) {
        for (size_t i = 0; i < e->count; i++) e->code[i] = KN_NO_CODE;
        for (size_t s = 0; s < e->builder->segment_count; s++) {
            const kn_segment *segment = &e->builder->segments[s];
            for (int64_t r = segment->first; r < segment->first + segment->rows; r++) {
                uint32_t id = merged_id(e, segment->slot, id_at(e->source, r));
                if (id != KN_ID_MISSING) e->code[id - 1] = 0;
            }
        }
    }
    e->has_missing = atomic_load(&e->source->missing) > 0;
    for (size_t i = 0; i < e->count; i++) {
        if (e->code[i] == KN_NO_CODE || !is_na(e, e->texts[i])) continue;
        e->code[i] = KN_NO_CODE;
        e->has_missing = true;
    }
    return KN_OK;
}

/* The values alone, in one array, for inference and parsing; `index` is the position of each in texts. */
static kn_status gather_values(encoding *e, kn_string **values, uint32_t **index, size_t *count, kn_error *err)
{
    size_t n = 0;
    for (size_t i = 0; i < e->count; i++) n += e->code[i] != KN_NO_CODE;
    *count = n;
    *values = NULL;
    *index = NULL;
    if (n == e->count) { /* the usual case: nothing left out, no copy */
        *values = e->texts;
        return KN_OK;
    }
    *values = kn_alloc_array(e->ctx, n, sizeof **values);
    *index = kn_alloc_array(e->ctx, n, sizeof **index);
    if (!*values || !*index) {
        KN_FREE(*values, *index);
        return no_memory(e, err);
    }
    n = 0;
    for (size_t i = 0; i < e->count; i++) {
        if (e->code[i] == KN_NO_CODE) continue;
        (*values)[n] = e->texts[i];
        (*index)[n++] = (uint32_t)i;
    }
    return KN_OK;
}

/* The values in the order in which rows first have them, and those rows (1-based). */
static size_t order_by_row(const encoding *e, bool *seen, kn_string *values, int64_t *rows)
{
    size_t n = 0;
    for (size_t s = 0; s < e->builder->segment_count; s++) {
        const kn_segment *segment = &e->builder->segments[s];
        for (int64_t r = segment->first; r < segment->first + segment->rows; r++) {
            uint32_t id = merged_id(e, segment->slot, id_at(e->source, r));
            if (id == KN_ID_MISSING || e->code[id - 1] == KN_NO_CODE || seen[id - 1]) continue;
            seen[id - 1] = true;
            values[n] = e->texts[id - 1];
            rows[n++] = e->builder->numbers ? e->builder->numbers[r] : r + 1;
        }
    }
    return n;
}

/* The message for a value that is not of the declared type. Which slot saw which value first depends on the threads, so
 * the values are parsed once more in the order of the rows: the row named is always the same. */
static kn_status fail_type(encoding *e, size_t count, kn_type type, const char *format, const kn_value_rules *rules,
                           kn_error *err)
{
    bool      *seen = kn_alloc_array_zero(e->ctx, e->count, sizeof *seen);
    kn_string *values = kn_alloc_array(e->ctx, count, sizeof *values);
    int64_t   *rows = kn_alloc_array(e->ctx, count, sizeof *rows);
    kn_error   inner = KN_ERROR_INIT;
    kn_status  st = KN_MEMORY;
    bool       counts = e->builder->count >= 0 && e->source == &e->builder->columns[e->builder->count];
    if (seen && values && rows) {
        size_t bad = SIZE_MAX, n = order_by_row(e, seen, values, rows);
        st = kn_parse_values(e->ctx, values, n, type, format, rules, e->integers, e->decimals, &bad, &inner);
        if (st == KN_INPUT && bad < n)
            st = kn_fail(err, KN_INPUT, "column \"%s\" %s%s; row %lld: %s", e->source->name,
                         counts ? "counts rows" : "is declared ", counts ? "" : kn_type_name(type),
                         (long long)rows[bad], inner.message);
        else if (err)
            *err = inner;
    } else {
        st = no_memory(e, err);
    }
    KN_FREE(seen, values, rows);
    return st;
}

/* Decides the type and reads the values by it into integers or decimals. */
static kn_status type_values(encoding *e, const kn_string *values, size_t count, const kn_builder_type *asked,
                             const kn_value_rules *rules, kn_error *err)
{
    kn_type     type = asked->type;
    const char *format = asked->format;
    e->out->asked = type != KN_TYPE_AUTO;
    e->out->mark = rules->decimal;
    if (type == KN_TYPE_AUTO)
        KN_TRY(kn_infer_type(&type, &format, &e->out->ambiguous_date, e->ctx, values, count, rules, err));
    e->out->type = type;
    if (type == KN_TYPE_TEXT) return KN_OK;
    if (type == KN_TYPE_DECIMAL)
        e->decimals = kn_alloc_array(e->ctx, count, sizeof *e->decimals);
    else
        e->integers = kn_alloc_array(e->ctx, count, sizeof *e->integers);
    if (!e->integers && !e->decimals) return no_memory(e, err);
    size_t    bad = SIZE_MAX;
    kn_status st = kn_parse_values(e->ctx, values, count, type, format, rules, e->integers, e->decimals, &bad, err);
    return st == KN_INPUT ? fail_type(e, count, type, format, rules, err) : st;
}

static int by_text(const void *arg, uint64_t a, uint64_t b)
{
    const kn_string *values = arg;
    return kn_string_compare(values[a], values[b]);
}

/* Equal values: the shortest spelling first. */
static int by_spelling(const kn_string *values, uint64_t a, uint64_t b)
{
    if (values[a].size != values[b].size) return values[a].size < values[b].size ? -1 : 1;
    return kn_string_compare(values[a], values[b]);
}

static int by_integer_spelling(const void *arg, uint64_t a, uint64_t b)
{
    return by_spelling(arg, a, b);
}

typedef struct decimal_order {
    const kn_string  *values;
    const kn_decimal *decimals;
} decimal_order;

static int by_decimal(const void *arg, uint64_t a, uint64_t b)
{
    const decimal_order *o = arg;
    int                  c = kn_decimal_compare(&o->decimals[a], &o->decimals[b]);
    return c ? c : by_spelling(o->values, a, b);
}

static uint64_t text_key(kn_string text)
{
    uint64_t key = 0;
    for (size_t i = 0; i < 8; i++) key = key << 8 | (i < text.size ? (uint8_t)text.data[i] : 0);
    return key;
}

/* An unsigned key in the order of doubles; both zeroes get the same. */
static uint64_t double_key(double x)
{
    if (x == 0) x = 0;
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

static kn_status sort_values(encoding *e, const kn_string *values, size_t count, kn_error *err)
{
    e->order = kn_alloc_array(e->ctx, count, sizeof *e->order);
    if (!e->order) return no_memory(e, err);
    e->order_count = count;
    for (size_t i = 0; i < count; i++) {
        uint64_t key = e->integers   ? (uint64_t)e->integers[i] ^ (uint64_t)1 << 63
                       : e->decimals ? double_key(e->decimals[i].nearest)
                                     : text_key(values[i]);
        e->order[i] = (kn_sort_record){key, i};
    }
    decimal_order decimals = {values, e->decimals};
    if (e->decimals) return kn_sort_records(e->ctx, e->order, count, by_decimal, &decimals, err);
    return kn_sort_records(e->ctx, e->order, count, e->integers ? by_integer_spelling : by_text, values, err);
}

static bool same_value(const encoding *e, uint64_t a, uint64_t b)
{
    if (e->integers) return e->integers[a] == e->integers[b];
    if (e->decimals) return kn_decimal_compare(&e->decimals[a], &e->decimals[b]) == 0;
    return false;
}

/* The values are all over the memory: those that come soon are fetched. */
static inline void fetch_ahead(const encoding *e, const kn_string *values, size_t i)
{
    enum { TEXT = 8, ENTRY = 16 };
    if (i + ENTRY >= e->order_count) return;
    __builtin_prefetch(&values[e->order[i + ENTRY].id]);
    __builtin_prefetch(values[e->order[i + TEXT].id].data);
}

/* Gives `code` its numbers, in the order of values, and marks in the order's keys, which are no longer needed, what is another
 * spelling of the value before. Returns how many values there are; *bytes: of their texts. */
static uint32_t number_values(encoding *e, const kn_string *values, const uint32_t *index, uint64_t *bytes)
{
    uint32_t count = 0;
    uint64_t above = 0;
    *bytes = 0;
    for (size_t i = 0; i < e->order_count; i++) *bytes += values[i].size;
    for (size_t i = 0; i < e->order_count; i++) {
        uint64_t v = e->order[i].id, key = e->order[i].key;
        bool     again = i > 0 && key == above && same_value(e, e->order[i - 1].id, v); /* equal values, equal keys */
        if (again) {
            e->out->respelled++;
            *bytes -= values[v].size;
        } else {
            count++;
        }
        e->code[index ? index[v] : v] = count - 1;
        above = key;
        e->order[i].key = again;
    }
    return count;
}

static kn_status write_dictionary(encoding *e, const kn_string *values, const uint32_t *index, kn_error *err)
{
    kn_dictionary *dict = &e->out->dict;
    uint64_t       bytes = 0;
    uint32_t       count = number_values(e, values, index, &bytes);
    dict->offsets = kn_alloc_array(e->ctx, (size_t)count + 1, sizeof *dict->offsets);
    dict->bytes = kn_alloc(e->ctx, bytes + 1);
    if (e->integers) dict->integers = kn_alloc_array(e->ctx, count, sizeof *dict->integers);
    if (e->decimals) dict->decimals = kn_alloc_array(e->ctx, count, sizeof *dict->decimals);
    if (!dict->offsets || !dict->bytes || (e->integers && !dict->integers) || (e->decimals && !dict->decimals))
        return no_memory(e, err);
    uint64_t at = 0;
    uint32_t code = 0;
    for (size_t i = 0; i < e->order_count; i++) {
        fetch_ahead(e, values, i);
        if (e->order[i].key) continue;
        uint64_t v = e->order[i].id;
        if (e->integers) dict->integers[code] = e->integers[v];
        if (e->decimals) dict->decimals[code] = e->decimals[v].nearest;
        dict->offsets[code++] = at;
        if (values[v].size) memcpy(dict->bytes + at, values[v].data, values[v].size);
        at += values[v].size;
    }
    dict->offsets[code] = at;
    dict->bytes[at] = '\0';
    dict->count = count;
    return KN_OK;
}

static size_t slot_ids(const encoding *e, int slot)
{
    return slot == 0 ? e->count : e->source->interners[slot].count;
}

static kn_status make_remaps(encoding *e, kn_error *err)
{
    e->remap = kn_alloc_array_zero(e->ctx, (size_t)e->builder->slots, sizeof *e->remap);
    if (!e->remap) return no_memory(e, err);
    uint32_t missing = e->out->dict.count;
    for (int s = 0; s < e->builder->slots; s++) {
        size_t ids = slot_ids(e, s);
        e->remap[s] = kn_alloc_array(e->ctx, ids + 1, sizeof **e->remap);
        if (!e->remap[s]) return no_memory(e, err);
        e->remap[s][KN_ID_MISSING] = missing;
        for (size_t i = 1; i <= ids; i++) {
            uint32_t code = e->code[merged_id(e, s, (uint32_t)i) - 1];
            e->remap[s][i] = code == KN_NO_CODE ? missing : code;
        }
    }
    return KN_OK;
}

typedef struct recode_job {
    encoding       *e;
    int             from_width, to_width;
    const void     *from;
    void           *to;
    _Atomic int64_t missing;
} recode_job;

#define RECODE(FROM, TO)                                                                                               \
    do {                                                                                                               \
        const FROM *from = (const FROM *)job->from;                                                                    \
        TO         *to = (TO *)job->to;                                                                                \
        for (int64_t r = begin; r < end; r++) {                                                                        \
            uint32_t code = remap[from[r]];                                                                            \
            missing += code == none;                                                                                   \
            to[r] = (TO)code;                                                                                          \
        }                                                                                                              \
    } while (0)

/* Bytes to bytes, the usual case. The codes are looked up in bytes too, and counted only if a missing value is among them. */
static int64_t recode_bytes(recode_job *job, const uint32_t *remap, size_t ids, int64_t begin, int64_t end)
{
    uint8_t        table[UINT8_MAX + 1] = {0}, none = (uint8_t)job->e->out->dict.count, *to = job->to;
    const uint8_t *from = job->from;
    int64_t        missing = 0, r = begin;
    for (size_t i = 0; i <= ids && i <= UINT8_MAX; i++) table[i] = (uint8_t)remap[i];
    for (; r + 8 <= end; r += 8) {
        uint8_t part[8];
        memcpy(part, from + r, sizeof part);
        for (int j = 0; j < 8; j++) to[r + j] = table[part[j]];
    }
    for (; r < end; r++) to[r] = table[from[r]];
    for (r = begin; r < end && job->e->has_missing;) {
        int64_t  stop = end - r < 1 << 20 ? end : r + (1 << 20);
        uint32_t some = 0; /* not wider than need be: this becomes vectors */
        for (; r < stop; r++) some += to[r] == none;
        missing += some;
    }
    return missing;
}

/* Rows [begin, end) of one segment. */
static int64_t recode_rows(recode_job *job, int slot, int64_t begin, int64_t end)
{
    const uint32_t *remap = job->e->remap[slot];
    uint32_t        none = job->e->out->dict.count;
    int64_t         missing = 0;
    switch (job->from_width * 10 + job->to_width) {
    case 11: missing = recode_bytes(job, remap, slot_ids(job->e, slot), begin, end); break;
    case 12: RECODE(uint8_t, uint16_t); break;
    case 14: RECODE(uint8_t, uint32_t); break;
    case 21: RECODE(uint16_t, uint8_t); break;
    case 22: RECODE(uint16_t, uint16_t); break;
    case 24: RECODE(uint16_t, uint32_t); break;
    case 41: RECODE(uint32_t, uint8_t); break;
    case 42: RECODE(uint32_t, uint16_t); break;
    default: RECODE(uint32_t, uint32_t); break;
    }
    return missing;
}

static kn_status recode_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    (void)err;
    recode_job       *job = arg;
    const kn_builder *b = job->e->builder;
    size_t            low = 0, high = b->segment_count; /* the segment that holds row `begin` */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (b->segments[middle].first <= begin)
            low = middle;
        else
            high = middle;
    }
    int64_t missing = 0;
    for (size_t s = low; begin < end; s++) {
        int64_t stop = b->segments[s].first + b->segments[s].rows;
        if (stop > end) stop = end;
        missing += recode_rows(job, b->segments[s].slot, begin, stop);
        begin = stop;
    }
    atomic_fetch_add_explicit(&job->missing, missing, memory_order_relaxed);
    return KN_OK;
}

/* Ids → codes, in place where the widths agree. */
static kn_status recode(encoding *e, kn_error *err)
{
    uint64_t   largest = (uint64_t)e->out->dict.count + e->has_missing;
    recode_job job = {.e = e, .from_width = e->source->width, .from = e->source->ids};
    job.to_width = largest <= 256 ? 1 : largest <= 65536 ? 2 : 4;
    size_t rows = (size_t)e->builder->rows;
    if (job.to_width == job.from_width) {
        void *fitted = rows ? kn_realloc_array(e->ctx, e->source->ids, rows, (size_t)job.to_width) : e->source->ids;
        if (rows && !fitted) return no_memory(e, err);
        e->source->ids = fitted;
        job.from = job.to = fitted;
    } else {
        job.to = kn_alloc_array(e->ctx, rows, (size_t)job.to_width);
        if (!job.to) return no_memory(e, err);
    }
    kn_status st = kn_parallel_for(e->ctx, e->builder->rows, 1 << 16, recode_range, &job, err);
    if (job.to != job.from) kn_free(e->source->ids);
    e->source->ids = NULL;
    e->out->codes = job.to;
    e->out->width = job.to_width;
    e->out->missing = atomic_load(&job.missing);
    return st;
}

static void forget(encoding *e)
{
    int slots = e->builder->slots;
    for (int s = 0; s < slots; s++) {
        if (e->merged) kn_free(e->merged[s]);
        if (e->remap) kn_free(e->remap[s]);
        kn_interner_free(&e->source->interners[s]);
    }
    KN_FREE(e->merged, e->remap, e->code, e->integers, e->decimals, e->order);
}

static kn_status encode_values(encoding *e, const kn_builder_type *type, const kn_value_rules *rules, kn_error *err)
{
    kn_string *values = NULL;
    uint32_t  *index = NULL;
    size_t     count = 0;
    KN_TRY(gather_values(e, &values, &index, &count, err));
    kn_status st = type_values(e, values, count, type, rules, err);
    if (st == KN_OK) st = sort_values(e, values, count, err);
    if (st == KN_OK) st = write_dictionary(e, values, index, err);
    if (values != e->texts) kn_free(values);
    kn_free(index);
    return st;
}

kn_status kn_encode_column(kn_column *out, kn_builder *builder, kn_builder_column *column, const kn_builder_type *type,
                           const kn_value_rules *rules, kn_error *err)
{
    encoding e = {.ctx = builder->ctx, .builder = builder, .source = column, .out = out};
    out->name = kn_strndup(builder->ctx, column->name, strlen(column->name));
    kn_status st = out->name ? merge_slots(&e, err) : no_memory(&e, err);
    if (st == KN_OK) st = choose_values(&e, err);
    if (st == KN_OK) st = encode_values(&e, type, rules, err);
    if (st == KN_OK) st = make_remaps(&e, err);
    if (st == KN_OK) st = recode(&e, err);
    forget(&e);
    return st;
}
