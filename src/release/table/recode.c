/* table/recode.c: sorts the rows of a release and writes them. See kn_recode.h; released.c makes the texts.
 *
 * Order: by the quasi-identifiers, then by the other columns, each by the bytes of what is released, columns in their
 * order; so the rows of a class stand together. Classes are ranked first; a row's key is the rank of its class and as
 * many ranks of its other cells as fit into 64 bits, compared by radix sort; what does not fit decides among equal
 * keys, and finally the row's number, which changes no byte. A suppressed row has the rank after the last class; if
 * left out, it is cut off at the end. Where only quasi-identifiers are released, rows are counted class by class instead,
 * and a class's text is copied as often as it has rows.
 *
 * Cost: O(rows) for sorting and O(cells) for writing, in parallel. Memory: 32 bytes per row while sorting, 8 after it; 8 to 10
 * where they are counted.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_recode.h"

#include <inttypes.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_columns.h"
#include "kn_context.h"
#include "kn_csv_write.h"
#include "kn_error.h"
#include "kn_pages.h"
#include "kn_parallel.h"
#include "kn_recode_row.h"
#include "kn_released.h"
#include "kn_sort.h"

enum { PIECE_ROWS = 2048, GRAIN = 1 << 15, KEY_BITS = 64 };

static const char recoding[] = "recoding the release";

typedef struct recoder {
    kn_context            *ctx;
    const kn_recode_input *input;
    const kn_released     *released;
    uint32_t              *class_ranks; /* per class                                               */
    uint32_t               classes;     /* ranks in use; that number is the rank of suppressed rows */
    int                   *order;       /* the other columns in the order in which rows are compared */
    int                    others;
    int                    packed;  /* how many of these are in the key            */
    int                    leading; /* columns before the first that is no quasi-identifier */
    kn_sort_record        *records;
    int64_t               *map;
    int64_t                count; /* of its entries, before equal ones are joined */
    int64_t               *times; /* of a counted table, per entry of the map: rows that it stands for */
    int64_t               *ends;  /* ... expanded: that it and all before it stand for                 */
    int64_t  *starts;  /* per rank of a class, the suppressed rows' too, and one more: its first entry of the map;
                                      NULL: rows were sorted otherwise, or not at all                  */
    uint32_t *of_rank; /* then: a class that has it                                       */
} recoder;

static int bits_for(uint64_t values)
{
    return values <= 1 ? 0 : 64 - __builtin_clzll(values - 1);
}

/* ---- The classes' order ---- */

typedef struct class_order {
    const kn_released *released;
    int               *columns; /* the quasi-identifiers */
    int                count;
    int                packed;
} class_order;

static uint32_t class_rank(const class_order *o, int i, uint64_t class_index)
{
    const kn_released_texts *t = &o->released->columns[o->columns[i]];
    return t->ranks[t->ids_of_classes[class_index]];
}

static int compare_classes(const class_order *o, uint64_t a, uint64_t b)
{
    for (int i = o->packed; i < o->count; i++) {
        uint32_t x = class_rank(o, i, a), y = class_rank(o, i, b);
        if (x != y) return x < y ? -1 : 1;
    }
    return 0;
}

static int class_tie(const void *arg, uint64_t a, uint64_t b)
{
    int c = compare_classes(arg, a, b);
    return c ? c : a < b ? -1 : a > b;
}

static kn_status sort_classes(recoder *r, class_order *o, kn_sort_record *records, kn_error *err)
{
    uint32_t classes = r->input->plan->classes;
    int      bits = 0;
    for (; o->packed < o->count; o->packed++) {
        int more = bits_for(r->released->columns[o->columns[o->packed]].distinct);
        if (bits + more > KEY_BITS) break;
        bits += more;
    }
    for (uint32_t c = 0; c < classes; c++) {
        uint64_t key = 0;
        for (int i = 0; i < o->packed; i++)
            key = key << bits_for(r->released->columns[o->columns[i]].distinct) | class_rank(o, i, c);
        records[c] = (kn_sort_record){key, c};
    }
    KN_TRY(kn_sort_records(r->ctx, records, classes, class_tie, o, err));
    for (uint32_t i = 0; i < classes; i++) {
        bool same =
            i > 0 && records[i].key == records[i - 1].key && compare_classes(o, records[i].id, records[i - 1].id) == 0;
        if (!same) r->classes++;
        r->class_ranks[records[i].id] = r->classes - 1;
    }
    return KN_OK;
}

static kn_status rank_classes(recoder *r, kn_error *err)
{
    uint32_t        classes = r->input->plan->classes;
    class_order     o = {.released = r->released};
    kn_sort_record *records = kn_alloc_array(r->ctx, (size_t)classes + 1, sizeof *records);
    o.columns = kn_alloc_array(r->ctx, (size_t)r->released->column_count + 1, sizeof *o.columns);
    r->class_ranks = kn_alloc_array(r->ctx, (size_t)classes + 1, sizeof *r->class_ranks);
    kn_status st = KN_OK;
    if (records && o.columns && r->class_ranks) {
        for (int i = 0; i < r->released->column_count; i++)
            if (r->released->columns[i].kind == KN_RELEASED_QUASI) o.columns[o.count++] = i;
        st = sort_classes(r, &o, records, err);
    } else {
        st = kn_fail_memory(err, r->ctx, recoding);
    }
    kn_free(records);
    kn_free(o.columns);
    return st;
}

/* ---- The rows' order ---- */

/* The rank of a row's cell in one of the other columns. */
static inline uint32_t row_rank(const recoder *r, int i, int64_t row, bool suppressed)
{
    const kn_released_texts *t = &r->released->columns[r->order[i]];
    if (suppressed && !kn_recode_shown(r->input, t)) return 0;
    return kn_released_rank(t, kn_column_code(t->column, row));
}

static int row_tie(const void *arg, uint64_t a, uint64_t b)
{
    const recoder *r = arg;
    bool suppressed = r->input->plan->class_of_row[a] == KN_CLASS_SUPPRESSED; /* b too: their keys are equal */
    for (int i = r->packed; i < r->others; i++) {
        uint32_t x = row_rank(r, i, (int64_t)a, suppressed), y = row_rank(r, i, (int64_t)b, suppressed);
        if (x != y) return x < y ? -1 : 1;
    }
    return a < b ? -1 : a > b;
}

static kn_status fill_row_keys(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    (void)err;
    recoder *r = arg;
    for (int64_t row = begin; row < end; row++) {
        uint32_t class_index = r->input->plan->class_of_row[row];
        bool     suppressed = class_index == KN_CLASS_SUPPRESSED;
        uint64_t key = suppressed ? r->classes : r->class_ranks[class_index];
        for (int i = 0; i < r->packed; i++)
            key = key << bits_for(r->released->columns[r->order[i]].distinct) | row_rank(r, i, row, suppressed);
        r->records[row] = (kn_sort_record){key, (uint64_t)row};
    }
    return KN_OK;
}

static kn_status sort_rows(recoder *r, kn_error *err)
{
    int64_t rows = r->input->plan->rows;
    r->order = kn_alloc_array(r->ctx, (size_t)r->released->column_count + 1, sizeof *r->order);
    r->records = kn_alloc_array(r->ctx, (size_t)rows + 1, sizeof *r->records);
    if (!r->order || !r->records) return kn_fail_memory(err, r->ctx, recoding);
    int bits = bits_for((uint64_t)r->classes + 1);
    for (int i = 0; i < r->released->column_count; i++)
        if (r->released->columns[i].kind != KN_RELEASED_QUASI) r->order[r->others++] = i;
    for (; r->packed < r->others; r->packed++) {
        int more = bits_for(r->released->columns[r->order[r->packed]].distinct);
        if (bits + more > KEY_BITS) break;
        bits += more;
    }
    KN_TRY(kn_parallel_for(r->ctx, rows, GRAIN, fill_row_keys, r, err));
    return kn_sort_records(r->ctx, r->records, (size_t)rows, r->packed < r->others ? row_tie : NULL, r, err);
}

/* ---- Rows that show their class alone ---- */

enum { MOST_PARTS = 64, FEW_CLASSES = 32 };

/* Rows counted by the rank of their class, in parts of the table: then each part knows where its rows go. */
typedef struct counting {
    recoder *r;
    int64_t  part_rows;
    int64_t  parts;
    size_t   ranks;
    int64_t *places; /* [part][rank]: how many, then where the next one goes */
} counting;

static inline uint32_t rank_of_row(const recoder *r, int64_t row)
{
    uint32_t class_index = r->input->plan->class_of_row[row];
    return class_index == KN_CLASS_SUPPRESSED ? r->classes : r->class_ranks[class_index];
}

static kn_status count_part(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker, (void)err;
    const counting *c = arg;
    int64_t        *places = c->places + (size_t)(begin / c->part_rows) * c->ranks;
    for (int64_t row = begin; row < end; row++) places[rank_of_row(c->r, row)]++;
    return KN_OK;
}

static kn_status place_part(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker, (void)err;
    const counting *c = arg;
    int64_t        *places = c->places + (size_t)(begin / c->part_rows) * c->ranks;
    for (int64_t row = begin; row < end; row++) {
        int64_t at = places[rank_of_row(c->r, row)]++;
        if (at < c->r->count) c->r->map[at] = row; /* what is left out is behind it */
    }
    return KN_OK;
}

/* The sum of all before it, rank by rank, part by part. */
static void find_starts(const counting *c)
{
    int64_t sum = 0;
    for (size_t rank = 0; rank < c->ranks; rank++) {
        c->r->starts[rank] = sum;
        for (int64_t part = 0; part < c->parts; part++) {
            int64_t *place = &c->places[(size_t)part * c->ranks + rank], rows = *place;
            *place = sum;
            sum += rows;
        }
    }
    c->r->starts[c->ranks] = sum;
}

/* The map, where no column but the quasi-identifiers is released: rows by class, then by their number. */
static kn_status place_rows(recoder *r, kn_error *err)
{
    int64_t  rows = r->input->plan->rows;
    counting c = {.r = r, .ranks = (size_t)r->classes + 1};
    c.parts = rows / (int64_t)(4 * c.ranks); /* a quarter of the rows at most is counters */
    c.parts = c.parts < 1 ? 1 : c.parts > MOST_PARTS ? MOST_PARTS : c.parts;
    c.part_rows = (rows + c.parts - 1) / c.parts;
    if (c.part_rows < 1) c.part_rows = 1;
    r->starts = kn_alloc_array(r->ctx, c.ranks + 1, sizeof *r->starts);
    r->of_rank = kn_alloc_array(r->ctx, c.ranks + 1, sizeof *r->of_rank);
    c.places = kn_alloc_array_zero(r->ctx, (size_t)c.parts * c.ranks + 1, sizeof *c.places);
    kn_status st = r->starts && r->of_rank && c.places ? KN_OK : kn_fail_memory(err, r->ctx, recoding);
    if (st == KN_OK) st = kn_parallel_for(r->ctx, rows, c.part_rows, count_part, &c, err);
    if (st == KN_OK) {
        find_starts(&c);
        for (uint32_t k = 0; k < r->input->plan->classes; k++) r->of_rank[r->class_ranks[k]] = k;
        r->of_rank[r->classes] = KN_CLASS_SUPPRESSED;
        st = kn_parallel_for(r->ctx, rows, c.part_rows, place_part, &c, err);
    }
    kn_free(c.places);
    return st;
}

static int64_t suppressed_rows(const kn_plan *plan)
{
    int64_t n = 0;
    for (int64_t row = 0; row < plan->rows; row++) n += plan->class_of_row[row] == KN_CLASS_SUPPRESSED;
    return n;
}

static kn_status take_ids(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker, (void)err;
    const recoder *r = arg;
    for (int64_t i = begin; i < end; i++) r->map[i] = (int64_t)r->records[i].id;
    return KN_OK;
}

/* Which row of the table comes where. */
static kn_status make_map(recoder *r, int64_t *count, kn_error *err)
{
    const kn_plan *plan = r->input->plan;
    bool           drop = r->input->suppressed == KN_SUPPRESSED_DROP;
    *count = plan->rows - (drop ? suppressed_rows(plan) : 0);
    bool few =
        (int64_t)r->classes + 1 <= plan->rows / FEW_CLASSES + FEW_CLASSES; /* otherwise sorting is better shared */
    bool alone = !r->input->keep_order && r->leading == r->released->column_count && few;
    if (!r->input->keep_order && !alone) KN_TRY(sort_rows(r, err));
    r->map = kn_alloc_array(r->ctx, (size_t)*count + 1, sizeof *r->map);
    if (!r->map) return kn_fail_memory(err, r->ctx, recoding);
    r->count = *count;
    if (alone) return place_rows(r, err);
    int64_t n = 0;
    if (!r->input->keep_order) KN_TRY(kn_parallel_for(r->ctx, *count, GRAIN, take_ids, r, err));
    for (int64_t row = 0; r->input->keep_order && row < plan->rows; row++)
        if (!drop || plan->class_of_row[row] != KN_CLASS_SUPPRESSED) r->map[n++] = row;
    KN_PAGES_FREE(r->ctx, r->records);
    r->records = NULL;
    return KN_OK;
}

/* ---- Counted rows ---- */

/* Do two rows of the table show the same? */
static bool same_row(const recoder *r, int64_t a, int64_t b)
{
    uint32_t x = r->input->plan->class_of_row[a], y = r->input->plan->class_of_row[b];
    bool     suppressed = x == KN_CLASS_SUPPRESSED;
    if (suppressed != (y == KN_CLASS_SUPPRESSED) || (!suppressed && r->class_ranks[x] != r->class_ranks[y]))
        return false;
    for (int i = 0; i < r->others; i++)
        if (row_rank(r, i, a, suppressed) != row_rank(r, i, b, suppressed)) return false;
    return true;
}

/* Rows that show the same become one entry of the map; expanded, all of them stay. */
static kn_status count_rows(recoder *r, int64_t *count, kn_error *err)
{
    const kn_table *table = r->input->table;
    int64_t         n = 0, sum = 0;
    r->times = kn_alloc_array(r->ctx, (size_t)*count + 1, sizeof *r->times);
    if (!r->input->counted) r->ends = kn_alloc_array(r->ctx, (size_t)*count + 1, sizeof *r->ends);
    if (!r->times || (!r->input->counted && !r->ends)) return kn_fail_memory(err, r->ctx, recoding);
    for (int64_t i = 0; i < *count; i++) {
        int64_t rows = table->counts[r->map[i]];
        sum += rows;
        bool same = r->input->counted && n > 0 && same_row(r, r->map[n - 1], r->map[i]);
        if (r->input->places) r->input->places->entries[r->map[i]] = same ? n - 1 : n;
        if (same) {
            r->times[n - 1] += rows;
            continue;
        }
        if (r->ends) r->ends[n] = sum;
        r->map[n] = r->map[i];
        r->times[n++] = rows;
    }
    *count = n;
    return KN_OK;
}

/* The ranks of the entries. */
static kn_status tell_places(const recoder *r, int64_t count, kn_error *err)
{
    kn_recode_places *p = r->input->places;
    p->count = count;
    p->others = r->others;
    p->ranks = kn_alloc_array(r->ctx, (size_t)count * ((size_t)r->others + 1) + 1, sizeof *p->ranks);
    if (!p->ranks) return kn_fail_memory(err, r->ctx, recoding);
    for (int64_t e = 0; e < count; e++) {
        uint32_t  class_index = r->input->plan->class_of_row[r->map[e]];
        bool      suppressed = class_index == KN_CLASS_SUPPRESSED;
        uint32_t *ranks = &p->ranks[e * (r->others + 1)];
        p->shown += !suppressed;
        ranks[0] = suppressed ? r->classes : r->class_ranks[class_index];
        for (int i = 0; i < r->others; i++) ranks[i + 1] = row_rank(r, i, r->map[e], suppressed);
    }
    return KN_OK;
}

/* ---- Rows that would look suppressed ---- */

static bool is_star(const kn_released_texts *t, uint32_t id)
{
    return t->star < t->count && kn_released_rank(t, id) == kn_released_rank(t, t->star);
}

/* Is the class "*" in every quasi-identifier? */
static bool starred_class(const recoder *r, uint32_t class_index)
{
    for (int i = 0; i < r->released->column_count; i++) {
        const kn_released_texts *t = &r->released->columns[i];
        if (t->kind == KN_RELEASED_QUASI && !is_star(t, t->ids_of_classes[class_index])) return false;
    }
    return true;
}

/* Is the row "*" in every column in which a suppressed row is? Its class is. */
static bool starred_row(const recoder *r, int64_t row)
{
    for (int i = 0; i < r->released->column_count; i++) {
        const kn_released_texts *t = &r->released->columns[i];
        if (t->kind == KN_RELEASED_QUASI || kn_recode_shown(r->input, t)) continue;
        if (t->kind == KN_RELEASED_PSEUDONYM || !is_star(t, kn_column_code(t->column, row))) return false;
    }
    return true;
}

/* A visible row must not look like a suppressed one: a reader would take a value of the data for a star. If only
 * quasi-identifiers are published there is nothing to confuse: such a class of stars shows as little as suppressed
 * rows do, and contains no value of the data. */
static kn_status check_stars(const recoder *r, kn_error *err)
{
    const kn_plan *plan = r->input->plan;
    int            column = -1;
    for (int i = 0; i < r->released->column_count; i++) {
        const kn_released_texts *t = &r->released->columns[i];
        if (t->kind == KN_RELEASED_COPY && !t->items && !kn_recode_shown(r->input, t) && t->star < t->count) column = i;
    }
    if (column < 0) return KN_OK;
    for (uint32_t c = 0; c < plan->classes; c++) {
        if (!starred_class(r, c)) continue;
        for (int64_t row = 0; row < plan->rows; row++)
            if (plan->class_of_row[row] == c && starred_row(r, row))
                return kn_fail(err, KN_INPUT,
                               "column \"%s\" of the data holds the value *, and a row would look as if it were "
                               "suppressed; write that value otherwise",
                               r->released->columns[column].column->name);
    }
    return KN_OK;
}

/* ---- Writing ---- */

static void write_cell(const recoder *r, const kn_released_texts *t, uint32_t class_index, int64_t row, kn_buffer *to)
{
    if (class_index == KN_CLASS_SUPPRESSED && !kn_recode_shown(r->input, t))
        kn_buffer_char(to, '*');
    else
        kn_released_cell(to, t,
                         t->kind == KN_RELEASED_QUASI ? t->ids_of_classes[class_index] : kn_column_code(t->column, row),
                         r->input->delimiter);
}

/* What the row before shows in the leading quasi-identifiers: rows of a class are adjacent and show the same. */
typedef struct last_row {
    uint32_t class_index;
    size_t   begin, size; /* in the buffer; size 0: nothing to repeat */
} last_row;

static void repeat(kn_buffer *to, const last_row *last)
{
    char *room = kn_buffer_reserve(to, last->size);
    if (!room) return;
    memcpy(room, to->data + last->begin, last->size);
    to->size += last->size;
}

static void write_row(const recoder *r, int64_t i, last_row *last, kn_buffer *to)
{
    int64_t  row = r->map[i];
    uint32_t class_index = r->input->plan->class_of_row[row];
    if (i < kn_recode_lost(r->input)) return;
    kn_recode_mistake(r->input, r->map, i, &row, &class_index);
    size_t begin = to->size;
    int    c = 0;
    if (last->size > 0 && last->class_index == class_index) {
        repeat(to, last);
        c = r->leading;
    }
    for (; c < r->released->column_count; c++) {
        if (c > 0) kn_buffer_char(to, r->input->delimiter);
        write_cell(r, &r->released->columns[c], class_index, row, to);
        if (c + 1 == r->leading) *last = (last_row){class_index, begin, to->size - begin};
    }
    if (r->input->counted) kn_buffer_format(to, "%c%" PRId64, r->input->delimiter, r->times[i]);
    if (to->size == begin) kn_buffer_add(to, "\"\""); /* an empty line would be no row */
    kn_buffer_char(to, '\n');
}

/* Rows [first, end) where each shows its class alone: a class is written once and then copied. */
static void write_classes(const recoder *r, int64_t first, int64_t end, kn_buffer *to)
{
    size_t rank = 0, high = (size_t)r->classes + 1; /* the last whose rows begin at `first` or before */
    while (high - rank > 1) {
        size_t middle = rank + (high - rank) / 2;
        if (r->starts[middle] <= first)
            rank = middle;
        else
            high = middle;
    }
    for (int64_t i = first; i < end && !to->failed; rank++) {
        int64_t until = r->starts[rank + 1] < end ? r->starts[rank + 1] : end;
        size_t  begin = to->size;
        if (until <= i) continue;
        for (int c = 0; c < r->released->column_count; c++) {
            if (c > 0) kn_buffer_char(to, r->input->delimiter);
            write_cell(r, &r->released->columns[c], r->of_rank[rank], 0, to);
        }
        if (to->size == begin) kn_buffer_add(to, "\"\""); /* an empty line would be no row */
        kn_buffer_char(to, '\n');
        size_t size = to->size - begin, more = size * (size_t)(until - i - 1);
        char  *room = kn_buffer_reserve(to, more);
        for (size_t done = 0; room && done < more; done += size) memcpy(room + done, to->data + begin, size);
        if (room) to->size += more;
        i = until;
    }
}

typedef struct row_pieces {
    const recoder *recoder;
    int64_t        entries; /* of the map           */
    int64_t        count;   /* rows that are written */
} row_pieces;

static kn_status write_piece(void *arg, int64_t piece, kn_buffer *to, kn_error *err)
{
    const row_pieces *p = arg;
    int64_t           first = piece * PIECE_ROWS, end = first + PIECE_ROWS;
    if (end > p->count) end = p->count;
    bool     classes = p->recoder->starts && !p->recoder->times && !kn_recode_mistaken();
    last_row last = {0};
    if (classes) write_classes(p->recoder, first, end, to);
    int64_t at = p->recoder->ends ? kn_recode_entry(p->recoder->ends, p->entries, first) : first;
    for (int64_t i = first; !classes && i < end; i++) {
        if (p->recoder->ends && p->recoder->ends[at] == i) at++;
        write_row(p->recoder, p->recoder->ends ? at : i, &last, to);
    }
    if (to->failed) return kn_fail_memory(err, p->recoder->ctx, recoding);
    kn_progress_add(p->recoder->ctx, (uint64_t)(end - first));
    return KN_OK;
}

static void count_formulas(const recoder *r, int64_t count)
{
    for (int c = 0; c < r->released->column_count; c++) {
        const kn_released_texts *t = &r->released->columns[c];
        r->input->formulas[c] = 0;
        for (int64_t i = 0; t->formulas && i < count; i++) {
            uint32_t class_index = r->input->plan->class_of_row[r->map[i]];
            if (class_index == KN_CLASS_SUPPRESSED && !kn_recode_shown(r->input, t)) continue;
            if (kn_released_formula(t, t->kind == KN_RELEASED_QUASI ? t->ids_of_classes[class_index]
                                                                    : kn_column_code(t->column, r->map[i])))
                r->input->formulas[c] += r->times ? r->times[i] : 1;
        }
    }
}

static kn_status write_header(const recoder *r, kn_output *output, kn_error *err)
{
    kn_buffer line;
    kn_buffer_init(&line, r->ctx);
    for (int c = 0; c < r->released->column_count; c++) {
        if (c > 0) kn_buffer_char(&line, r->input->delimiter);
        kn_csv_cell(&line, kn_string_of(r->released->columns[c].column->name), r->input->delimiter);
    }
    const kn_table *table = r->input->table;
    if (r->input->counted) {
        kn_buffer_char(&line, r->input->delimiter);
        kn_csv_cell(&line, kn_string_of(table->columns[table->column_count].name), r->input->delimiter);
    }
    kn_buffer_char(&line, '\n');
    kn_status st = line.failed ? kn_fail_memory(err, r->ctx, recoding) : KN_OK;
    if (st == KN_OK) kn_output_write(output, line.data, line.size);
    kn_buffer_free(&line);
    return st;
}

static kn_status write_all(const recoder *r, kn_output *output, int64_t count, kn_error *err)
{
    row_pieces p = {r, count, kn_released_row_count(&(kn_released_rows){r->map, r->times, r->ends, count})};
    count = p.count;
    KN_TRY(write_header(r, output, err));
    kn_progress_begin(r->ctx, "writing", "rows", (uint64_t)count);
    kn_status st = kn_output_pieces(output, (count + PIECE_ROWS - 1) / PIECE_ROWS, write_piece, &p, err);
    kn_progress_end(r->ctx);
    return st;
}

kn_status kn_recode_write(kn_output *output, kn_context *ctx, const kn_recode_input *input, int64_t **map,
                          int64_t *map_count, kn_error *err)
{
    *map = NULL;
    *map_count = 0;
    if (input->column_count < 1) return kn_fail(err, KN_USAGE, "a release needs at least one column");
    if (!kn_csv_delimiter_ok(input->delimiter))
        return kn_fail(err, KN_USAGE, "this character cannot be a CSV delimiter");
    kn_released *released = NULL;
    for (int c = 0; c < input->column_count + input->counted && input->guarded; c++) {
        bool        counts = c == input->column_count;
        const char *name = input->table->columns[counts ? input->table->column_count : input->columns[c].column].name;
        if (kn_csv_formula(kn_string_of(name)))
            return kn_fail(err, KN_INPUT, "a spreadsheet would execute the name of the column \"%s\"; give it another",
                           name);
    }
    KN_TRY(kn_released_make(&released, ctx, input, err));
    recoder r = {.ctx = ctx, .input = input, .released = released};
    while (r.leading < input->column_count && input->columns[r.leading].kind == KN_RELEASED_QUASI) r.leading++;
    kn_status st = input->places ? KN_OK : check_stars(&r, err);
    if (st == KN_OK) st = rank_classes(&r, err);
    if (st == KN_OK) st = make_map(&r, map_count, err);
    if (st == KN_OK && input->table->counts) st = count_rows(&r, map_count, err);
    if (st == KN_OK && input->places) st = tell_places(&r, *map_count, err);
    if (st == KN_OK)
        st = input->columns_wanted ? kn_columns_put(output, ctx, input, released,
                                                    &(kn_released_rows){r.map, r.times, r.ends, *map_count}, err)
                                   : write_all(&r, output, *map_count, err);
    if (st == KN_OK && input->formulas) count_formulas(&r, *map_count);
    kn_free(r.records);
    kn_free(r.class_ranks);
    kn_free(r.order);
    KN_FREE(r.times, r.ends, r.starts, r.of_rank);
    if (st == KN_OK && !input->table->counts)
        *map = r.map;
    else
        kn_free(r.map);
    if (!*map) *map_count = 0;
    kn_released_free(released);
    return st;
}
