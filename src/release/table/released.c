/* table/released.c: the texts of a release's columns, and their order. See kn_released.h.
 *
 * A quasi-identifier's cells are taken from the plan class by class; equal cells are found by sorting, rendered once and
 * kept as CSV. A copied column's texts stay in the table's dictionary. A pseudonym is computed once per distinct value.
 *
 * Cost: per quasi-identifier a sort of the classes; per other column a sort of its distinct texts (none where they are
 * text already and nothing is missing). Memory: 16 bytes per item while sorting, 4 per id and class after it.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_released.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_csv_write.h"
#include "kn_error.h"
#include "kn_fault.h"
#include "kn_parallel.h"
#include "kn_sort.h"
#include "kn_value.h"

static const char making[] = "recoding the release";

/* ---- Cells as text ---- */

static kn_string code_text(const kn_column *column, uint32_t code)
{
    if (code < column->dict.count) return kn_dictionary_text(&column->dict, code);
    return (kn_string){"", 0};
}

/* An end of an interval: spelled as the column spells it, unless that could be read as two ends. */
static void end_text(kn_buffer *to, const kn_column *column, uint32_t code)
{
    kn_string text = code_text(column, code);
    bool      split = false;
    for (size_t i = 0; i + 1 < text.size; i++) split = split || (text.data[i] == ',' && text.data[i + 1] == ' ');
    if (!split) {
        kn_buffer_append(to, text.data, text.size);
        return;
    }
    const int64_t second = 1000000, day = 86400 * second;
    bool          date = column->type == KN_TYPE_DATE; /* only a date's own format can hold a comma and a blank */
    int64_t       time = date ? 0 : (column->dict.integers[code] % day + day) % day;
    int64_t       days = date ? column->dict.integers[code] : (column->dict.integers[code] - time) / day;
    int           year, month, day_of_month;
    kn_civil_from_days(days, &year, &month, &day_of_month);
    kn_buffer_format(to, "%04d-%02d-%02d", year, month, day_of_month);
    if (date) return;
    int seconds = (int)(time / second), micros = (int)(time % second);
    kn_buffer_format(to, "T%02d:%02d:%02d", seconds / 3600, seconds / 60 % 60, seconds % 60);
    if (micros) kn_buffer_format(to, ".%06d", micros);
    kn_buffer_char(to, 'Z');
}

static void range_text(kn_buffer *to, const kn_cell *cell, const kn_column *column)
{
    kn_buffer_char(to, '[');
    end_text(to, column, cell->a);
    kn_buffer_add(to, ", ");
    end_text(to, column, cell->b);
    kn_buffer_char(to, ']');
}

/* Does a value of the column look like a set? Texts are in the order of their bytes. */
static bool has_braces(const kn_column *column)
{
    uint32_t low = 0, high = column->type == KN_TYPE_TEXT ? column->dict.count : 0;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (kn_string_compare(kn_dictionary_text(&column->dict, middle), (kn_string){"{", 1}) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    kn_string text = code_text(column, low);
    return text.size > 0 && text.data[0] == '{';
}

/* Could a reader take it for several members, or for another text? */
static bool needs_quotes(kn_string text)
{
    return kn_value_trim(text).size < text.size || text.size == 0 || memchr(text.data, ';', text.size) ||
           memchr(text.data, '"', text.size);
}

static void quoted_text(kn_buffer *to, kn_string text)
{
    kn_buffer_char(to, '"');
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] == '"') kn_buffer_char(to, '"');
        kn_buffer_char(to, text.data[i]);
    }
    kn_buffer_char(to, '"');
}

static void set_text(kn_buffer *to, const kn_plan *plan, const kn_cell *cell, const kn_column *column)
{
    bool all = has_braces(column);
    for (uint32_t i = 0; i < cell->b; i++) {
        uint32_t  code = plan->members[cell->a + i];
        kn_string text = code_text(column, code);
        kn_buffer_char(to, i == 0 ? '{' : ';');
        if (code < column->dict.count && (all || needs_quotes(text)))
            quoted_text(to, text);
        else
            kn_buffer_append(to, text.data, text.size);
    }
    kn_buffer_char(to, '}');
}

void kn_cell_text(kn_buffer *to, const kn_plan *plan, const kn_cell *cell, const kn_column *column,
                  const kn_hierarchy *hierarchy)
{
    kn_string text = {"", 0};
    switch ((kn_cell_kind)cell->kind) {
    case KN_CELL_VALUE: text = code_text(column, cell->a); break;
    case KN_CELL_NODE:
        if (cell->a != hierarchy->leaves) text = kn_hierarchy_text(hierarchy, cell->a);
        break;
    case KN_CELL_RANGE: range_text(to, cell, column); return;
    case KN_CELL_SET: set_text(to, plan, cell, column); return;
    case KN_CELL_STAR: text = (kn_string){"*", 1}; break;
    }
    kn_buffer_append(to, text.data, text.size);
}

/* ---- Ranks ---- */

/* The text of an id as it is released, without quotes; a pseudonym's is put together in `scratch`. */
static kn_string raw_text(const kn_released_texts *t, uint32_t id, char scratch[KN_PSEUDONYM_TEXT])
{
    if (t->kind == KN_RELEASED_QUASI)
        return (kn_string){t->bytes + t->offsets[id], (size_t)(t->offsets[id + 1] - t->offsets[id])};
    if (id >= t->column->dict.count) return t->missing;
    if (t->kind == KN_RELEASED_COPY) return kn_dictionary_text(&t->column->dict, id);
    kn_pseudonym_text(scratch, t->pseudonyms + (size_t)id * KN_PSEUDONYM_BYTES);
    return (kn_string){scratch, KN_PSEUDONYM_TEXT};
}

/* The first eight bytes, so that the order of numbers is the order of bytes. */
static uint64_t text_key(kn_string text)
{
    uint64_t key = 0;
    for (size_t i = 0; i < 8; i++) key = key << 8 | (i < text.size ? (unsigned char)text.data[i] : 0);
    return key;
}

static int compare_texts(const void *arg, uint64_t a, uint64_t b)
{
    char room_a[KN_PSEUDONYM_TEXT], room_b[KN_PSEUDONYM_TEXT];
    return kn_string_compare(raw_text(arg, (uint32_t)a, room_a), raw_text(arg, (uint32_t)b, room_b));
}

static int text_tie(const void *arg, uint64_t a, uint64_t b)
{
    int c = compare_texts(arg, a, b);
    return c ? c : a < b ? -1 : a > b;
}

typedef struct ranking {
    const kn_released_texts *texts;
    kn_sort_record          *records;
} ranking;

static kn_status fill_text_keys(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    (void)err;
    ranking *r = arg;
    char     scratch[KN_PSEUDONYM_TEXT];
    for (int64_t i = begin; i < end; i++)
        r->records[i] = (kn_sort_record){text_key(raw_text(r->texts, (uint32_t)i, scratch)), (uint64_t)i};
    return KN_OK;
}

/* The ids in the order of their texts. `records` holds t->count. */
static kn_status sort_texts(kn_context *ctx, kn_released_texts *t, kn_sort_record *records, kn_error *err)
{
    ranking r = {t, records};
    KN_TRY(kn_parallel_for(ctx, t->count, 1 << 14, fill_text_keys, &r, err));
    return kn_sort_records(ctx, records, t->count, text_tie, t, err);
}

static kn_status rank_texts(kn_context *ctx, kn_released_texts *t, kn_error *err)
{
    kn_sort_record *records = kn_alloc_array(ctx, (size_t)t->count + 1, sizeof *records);
    t->ranks = kn_alloc_array(ctx, (size_t)t->count + 1, sizeof *t->ranks);
    kn_status st = records && t->ranks ? sort_texts(ctx, t, records, err) : kn_fail_memory(err, ctx, making);
    for (uint32_t i = 0; st == KN_OK && i < t->count; i++) {
        bool same =
            i > 0 && records[i - 1].key == records[i].key && compare_texts(t, records[i - 1].id, records[i].id) == 0;
        if (!same) t->distinct++;
        t->ranks[records[i].id] = t->distinct - 1;
    }
    kn_free(records);
    return st;
}

/* ---- Quasi-identifiers ---- */

typedef struct quasi_cells {
    const kn_recode_input *input;
    int                    quasi;
    const kn_hierarchy    *hierarchy;
    uint32_t              *classes; /* per id: a class that shows it */
} quasi_cells;

static const kn_cell *cell_of(const quasi_cells *q, uint64_t class_index)
{
    const kn_plan *plan = q->input->plan;
    return &plan->cells[class_index * (size_t)plan->quasi_count + (size_t)q->quasi];
}

static uint64_t cell_key(const kn_plan *plan, const kn_cell *cell)
{
    switch ((kn_cell_kind)cell->kind) {
    case KN_CELL_RANGE: return (uint64_t)cell->a << 32 | cell->b;
    case KN_CELL_SET: return (uint64_t)plan->members[cell->a] << 32 | cell->b;
    case KN_CELL_STAR: return 0;
    case KN_CELL_VALUE:
    case KN_CELL_NODE: break;
    }
    return (uint64_t)cell->a << 32;
}

/* Order among cells with equal keys: 0 where they are the same. */
static int compare_cells(const quasi_cells *q, uint64_t a, uint64_t b)
{
    const kn_cell *x = cell_of(q, a), *y = cell_of(q, b);
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    for (uint32_t i = 0; x->kind == KN_CELL_SET && i < x->b; i++) {
        uint32_t m = q->input->plan->members[x->a + i], n = q->input->plan->members[y->a + i];
        if (m != n) return m < n ? -1 : 1;
    }
    return 0;
}

static int cell_tie(const void *arg, uint64_t a, uint64_t b)
{
    int c = compare_cells(arg, a, b);
    return c ? c : a < b ? -1 : a > b;
}

/* Numbers the distinct cells of the classes. */
static kn_status number_cells(kn_context *ctx, quasi_cells *q, kn_released_texts *t, kn_error *err)
{
    uint32_t        classes = q->input->plan->classes;
    kn_sort_record *records = kn_alloc_array(ctx, (size_t)classes + 1, sizeof *records);
    t->ids_of_classes = kn_alloc_array(ctx, (size_t)classes + 1, sizeof *t->ids_of_classes);
    q->classes = kn_alloc_array(ctx, (size_t)classes + 1, sizeof *q->classes);
    if (!records || !t->ids_of_classes || !q->classes) {
        kn_free(records);
        return kn_fail_memory(err, ctx, making);
    }
    for (uint32_t c = 0; c < classes; c++) records[c] = (kn_sort_record){cell_key(q->input->plan, cell_of(q, c)), c};
    kn_status st = kn_sort_records(ctx, records, classes, cell_tie, q, err);
    for (uint32_t i = 0; st == KN_OK && i < classes; i++) {
        bool same =
            i > 0 && records[i].key == records[i - 1].key && compare_cells(q, records[i].id, records[i - 1].id) == 0;
        if (!same) q->classes[t->count++] = (uint32_t)records[i].id;
        t->ids_of_classes[records[i].id] = t->count - 1;
    }
    kn_free(records);
    return st;
}

static bool is_missing(const quasi_cells *q, const kn_cell *cell, const kn_column *column)
{
    return (cell->kind == KN_CELL_VALUE && cell->a == column->dict.count) ||
           (cell->kind == KN_CELL_NODE && cell->a == q->hierarchy->leaves);
}

/* Takes ownership of a buffer's bytes. */
static kn_status keep_bytes(kn_context *ctx, kn_released_texts *t, kn_buffer *made, kn_error *err)
{
    if (!kn_buffer_text(made)) return kn_fail_memory(err, ctx, making);
    kn_free(t->bytes);
    t->bytes = made->data;
    kn_buffer_init(made, ctx);
    return KN_OK;
}

/* What a text needs when it is written. */
static void note_text(kn_released_texts *t, kn_string text, char delimiter)
{
    t->formulas = t->formulas || kn_csv_formula(text);
    t->quotes = t->quotes || (!t->bare && kn_csv_needs_quotes(text, delimiter)) || (t->guarded && kn_csv_guards(text));
}

static void put_text(kn_buffer *to, const kn_released_texts *t, kn_string text, char delimiter)
{
    if (t->bare) {
        if (t->guarded && kn_csv_guards(text)) kn_buffer_char(to, '\'');
        kn_buffer_append(to, text.data, text.size);
    } else if (t->guarded) {
        kn_csv_guarded_cell(to, text, delimiter);
    } else {
        kn_csv_cell(to, text, delimiter);
    }
}

static kn_status render_cells(kn_context *ctx, const quasi_cells *q, kn_released_texts *t, kn_error *err)
{
    kn_buffer made;
    kn_buffer_init(&made, ctx);
    t->offsets = kn_alloc_array(ctx, (size_t)t->count + 1, sizeof *t->offsets);
    if (!t->offsets) return kn_fail_memory(err, ctx, making);
    for (uint32_t id = 0; id < t->count; id++) {
        kn_cell cell = *cell_of(q, q->classes[id]);
        if (kn_fault("recode-level-below") && cell.kind == KN_CELL_NODE && cell.a > q->hierarchy->leaves)
            cell.a = kn_hierarchy_child(q->hierarchy, cell.a);
        t->offsets[id] = made.size;
        if (is_missing(q, &cell, t->column))
            kn_buffer_append(&made, t->missing.data, t->missing.size);
        else
            kn_cell_text(&made, q->input->plan, &cell, t->column, q->hierarchy);
        if (made.failed) break;
        if (made.size == t->offsets[id]) continue; /* an empty text needs no quotes and is no star */
        kn_string text = {made.data + t->offsets[id], made.size - (size_t)t->offsets[id]};
        note_text(t, text, q->input->delimiter);
        if (text.size == 1 && text.data[0] == '*') t->star = id;
    }
    t->offsets[t->count] = made.size;
    kn_status st = keep_bytes(ctx, t, &made, err);
    kn_buffer_free(&made);
    return st;
}

/* Rewrites the texts as CSV cells, once their order is known. */
static kn_status quote_cells(kn_context *ctx, kn_released_texts *t, char delimiter, kn_error *err)
{
    kn_buffer made;
    kn_buffer_init(&made, ctx);
    uint64_t begin = 0;
    for (uint32_t id = 0; id < t->count; id++) {
        kn_string text = {t->bytes + begin, (size_t)(t->offsets[id + 1] - begin)};
        begin = t->offsets[id + 1];
        t->offsets[id] = made.size;
        put_text(&made, t, text, delimiter);
    }
    t->offsets[t->count] = made.size;
    kn_status st = keep_bytes(ctx, t, &made, err);
    kn_buffer_free(&made);
    return st;
}

/* What a cell covers, as far as cells with the same text can differ in it. */
typedef struct meaning {
    int      space; /* 0 leaves, 1 codes, 2 the cell's own */
    uint64_t first, last;
} meaning;

static meaning meaning_of(const quasi_cells *q, const kn_released_texts *t, uint32_t id)
{
    const kn_cell      *cell = cell_of(q, q->classes[id]);
    const kn_hierarchy *h = q->hierarchy;
    switch ((kn_cell_kind)cell->kind) {
    case KN_CELL_NODE: return (meaning){0, h->first[cell->a], h->last[cell->a]};
    case KN_CELL_VALUE:
        if (h) return (meaning){0, h->leaf_of_code[cell->a], (uint64_t)h->leaf_of_code[cell->a] + 1};
        return (meaning){1, cell->a, (uint64_t)cell->a + 1};
    case KN_CELL_RANGE: return (meaning){1, cell->a, (uint64_t)cell->b + 1};
    case KN_CELL_STAR:
        if (h) return (meaning){0, 0, (uint64_t)h->leaves + 1};
        return (meaning){1, 0, (uint64_t)t->column->dict.count + 1};
    case KN_CELL_SET: break;
    }
    return (meaning){2, id, 0};
}

/* Neither a reader of the release nor the verifier could distinguish two groups with the same text. */
static kn_status check_meanings(kn_context *ctx, const quasi_cells *q, const kn_released_texts *t, kn_error *err)
{
    if (t->distinct == t->count) return KN_OK;
    uint32_t *first = kn_alloc_array(ctx, t->distinct, sizeof *first); /* per rank: an id */
    if (!first) return kn_fail_memory(err, ctx, making);
    memset(first, 0xff, t->distinct * sizeof *first);
    kn_status st = KN_OK;
    for (uint32_t id = 0; id < t->count && st == KN_OK; id++) {
        uint32_t *other = &first[t->ranks[id]];
        if (*other == UINT32_MAX) *other = id;
        meaning a = meaning_of(q, t, *other), b = meaning_of(q, t, id);
        if (a.space != b.space || a.first != b.first || a.last != b.last)
            st = kn_fail(err, KN_INPUT,
                         "column \"%s\": two different groups of values would be written the same; "
                         "give one of them another label in the hierarchy",
                         t->column->name);
    }
    kn_free(first);
    return st;
}

/* Is it a value of the column? Texts are in the order of their bytes. */
static bool is_value(const kn_column *column, kn_string text)
{
    uint32_t low = 0, high = column->type == KN_TYPE_TEXT ? column->dict.count : 0;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int      c = kn_string_compare(kn_dictionary_text(&column->dict, middle), text);
        if (c == 0) return true;
        if (c < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

/* Refuses a set that is written like a value, and a label "*" that does not cover all values: readers would
 * misunderstand them. If a whole column has one level, the level says what its "*" means. */
static kn_status check_texts(const quasi_cells *q, const kn_released_texts *t, kn_error *err)
{
    const kn_hierarchy *h = q->hierarchy;
    for (uint32_t id = 0; id < t->count; id++) {
        const kn_cell *cell = cell_of(q, q->classes[id]);
        kn_string      text = {t->bytes + t->offsets[id], (size_t)(t->offsets[id + 1] - t->offsets[id])};
        if (cell->kind == KN_CELL_SET && is_value(t->column, text))
            return kn_fail(err, KN_INPUT,
                           "column \"%s\": a set of values would be written like another value of the data; write that "
                           "value otherwise, or give the column a hierarchy",
                           t->column->name);
        if (!q->input->levels && cell->kind == KN_CELL_NODE && text.size == 1 && text.data[0] == '*' &&
            kn_hierarchy_cover(h, cell->a) < kn_hierarchy_cover(h, kn_hierarchy_root(h)))
            return kn_fail(err, KN_INPUT,
                           "column \"%s\": its hierarchy calls some of the values *, which stands for any value in a "
                           "release; let masks fill up short values (pad), or mask with another character",
                           t->column->name);
    }
    return KN_OK;
}

static kn_status make_quasi(kn_context *ctx, const kn_recode_input *input, const kn_released_column *column,
                            kn_released_texts *t, kn_error *err)
{
    quasi_cells q = {.input = input, .quasi = column->quasi};
    q.hierarchy = input->hierarchies ? input->hierarchies[column->quasi] : NULL;
    t->star = UINT32_MAX;
    kn_status st = number_cells(ctx, &q, t, err);
    if (st == KN_OK) st = render_cells(ctx, &q, t, err);
    if (t->star == UINT32_MAX) t->star = t->count;
    if (st == KN_OK) st = rank_texts(ctx, t, err);
    if (st == KN_OK) st = check_meanings(ctx, &q, t, err);
    if (st == KN_OK) st = check_texts(&q, t, err);
    if (st == KN_OK && t->quotes) st = quote_cells(ctx, t, input->delimiter, err);
    kn_free(q.classes);
    return st;
}

/* ---- Other columns ---- */

typedef struct pseudonym_job {
    kn_released_texts   *texts;
    const unsigned char *key;
} pseudonym_job;

static kn_status make_pseudonyms(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    (void)err;
    pseudonym_job *job = arg;
    for (int64_t i = begin; i < end; i++)
        kn_pseudonym_make(job->texts->pseudonyms + i * KN_PSEUDONYM_BYTES, job->key,
                          kn_dictionary_text(&job->texts->column->dict, (uint32_t)i));
    return KN_OK;
}

static kn_status make_other(kn_context *ctx, const kn_recode_input *input, const kn_released_column *column,
                            kn_released_texts *t, kn_error *err)
{
    const kn_dictionary *dict = &t->column->dict;
    t->count = dict->count + 1;
    t->star = t->count;
    if (t->kind == KN_RELEASED_PSEUDONYM) {
        pseudonym_job job = {t, column->key};
        t->pseudonyms = kn_alloc_array(ctx, (size_t)dict->count + 1, KN_PSEUDONYM_BYTES);
        if (!t->pseudonyms) return kn_fail_memory(err, ctx, making);
        KN_TRY(kn_parallel_for(ctx, dict->count, 1 << 12, make_pseudonyms, &job, err));
    }
    for (uint32_t v = 0; v < dict->count && t->kind == KN_RELEASED_COPY; v++) {
        kn_string text = kn_dictionary_text(dict, v);
        note_text(t, text, input->delimiter);
        if (text.size == 1 && text.data[0] == '*') t->star = v;
    }
    note_text(t, t->missing, input->delimiter);
    if (t->kind == KN_RELEASED_PSEUDONYM || t->column->type != KN_TYPE_TEXT || t->column->missing > 0)
        return rank_texts(ctx, t, err);
    t->distinct = t->count; /* text without missing cells: its codes are in the order of bytes */
    return KN_OK;
}

/* ---- All of them ---- */

kn_status kn_released_make(kn_released **out, kn_context *ctx, const kn_recode_input *input, kn_error *err)
{
    *out = NULL;
    size_t       count = (size_t)input->column_count;
    kn_released *r = kn_alloc_zero(ctx, sizeof *r);
    if (r) r->columns = kn_alloc_array_zero(ctx, count + 1, sizeof *r->columns);
    if (!r || !r->columns) {
        kn_free(r);
        return kn_fail_memory(err, ctx, making);
    }
    r->ctx = ctx;
    r->column_count = input->column_count;
    kn_status st = KN_OK;
    for (size_t i = 0; i < count && st == KN_OK; i++) {
        const kn_released_column *column = &input->columns[i];
        kn_released_texts        *t = &r->columns[i];
        t->kind = column->kind;
        t->sensitive = column->sensitive;
        t->items = column->items;
        t->guarded = input->guarded;
        t->bare = input->columns_wanted;
        t->column = &input->table->columns[column->column];
        t->missing = kn_string_of(input->missing ? input->missing : "");
        st = t->kind == KN_RELEASED_QUASI ? make_quasi(ctx, input, column, t, err)
                                          : make_other(ctx, input, column, t, err);
    }
    if (st != KN_OK)
        kn_released_free(r);
    else
        *out = r;
    return st;
}

void kn_released_free(kn_released *r)
{
    if (!r) return;
    for (int i = 0; i < r->column_count; i++) {
        kn_released_texts *t = &r->columns[i];
        kn_free(t->ranks);
        kn_free(t->ids_of_classes);
        kn_free(t->offsets);
        kn_free(t->bytes);
        kn_free(t->pseudonyms);
    }
    kn_free(r->columns);
    kn_free(r);
}

void kn_released_cell(kn_buffer *to, const kn_released_texts *t, uint32_t id, char delimiter)
{
    char      scratch[KN_PSEUDONYM_TEXT];
    kn_string text = raw_text(t, id, scratch);
    if (t->quotes && t->kind != KN_RELEASED_QUASI)
        put_text(to, t, text, delimiter);
    else
        kn_buffer_append(to, text.data, text.size);
}

bool kn_released_formula(const kn_released_texts *t, uint32_t id)
{
    char      scratch[KN_PSEUDONYM_TEXT];
    kn_string text = raw_text(t, id, scratch);
    if (t->kind == KN_RELEASED_QUASI && t->quotes) { /* is kept as a CSV cell */
        if (!t->bare && text.size > 1 && text.data[0] == '"') text = (kn_string){text.data + 1, text.size - 2};
        if (t->guarded) text = kn_csv_unguarded(text);
    }
    return kn_csv_formula(text);
}
