/* table/items.c: the column of sets (role: set): its items, their hierarchy, and what each row shows of them.
 *
 * The method decides the classes by the quasi-identifiers alone; then the items of each class are generalized along one cut
 * (kn_items_cut.h), or its cells all show "*". What the rows show becomes a column of its own, which is written in place of the original's.
 * Items stand between separators; blanks around them, empty ones and repetitions do not count. In a release they are in the order of their
 * bytes, so that their order says nothing.
 *
 * Cost: linear in the items; per class kn_items_cut_class. Memory: a few numbers per row and per item of a distinct cell.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_buffer.h"
#include "kn_builder.h"
#include "kn_compare.h"
#include "kn_error.h"
#include "kn_hierarchy_make.h"
#include "kn_items_cut.h"
#include "kn_sort.h"
#include "kn_table_run.h"

#define WHAT "generalizing sets"

enum { MOST_SETS = 50000000 }; /* combinations of items of one row, at most: they are counted twice */

typedef struct itemizing {
    kn_table_run       *run;
    const kn_attribute *attribute;
    const kn_column    *column; /* of the sets                                       */
    char                separator;
    kn_table           *tokens; /* one column: the items of the distinct cells, in a row */
    uint64_t
        *start; /* per distinct cell, and one for missing ones: its tokens; then, without repetitions, its leaves */
    uint32_t         *leaves;
    kn_hierarchy     *hierarchy;
    kn_items_cut     *cut;
    kn_sort_record   *rows; /* key: class and cell                                */
    size_t            row_count;
    kn_items_entry   *entries;
    kn_builder       *made;
    uint32_t         *ids;   /* per row: of its text there                         */
    kn_string        *texts; /* of one set                                        */
    kn_buffer         text;
    kn_release_items *figures;
    double            loss;
} itemizing;

/* ---- Items ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* The next item of a text, from *at on; false: there is none. */
static bool next_item(kn_string text, char separator, size_t *at, kn_string *out)
{
    while (*at < text.size) {
        size_t begin = *at, end = begin;
        while (end < text.size && text.data[end] != separator) end++;
        *at = end + 1;
        while (begin < end && is_blank(text.data[begin])) begin++;
        while (end > begin && is_blank(text.data[end - 1])) end--;
        *out = (kn_string){text.data + begin, end - begin};
        if (end > begin) return true;
    }
    return false;
}

/* Would a cell with nothing else be missing? */
static bool looks_missing(const kn_spec *spec, kn_string text)
{
    const char *const *na = spec->csv.na ? spec->csv.na : kn_default_na();
    for (int i = 0; spec->csv.na ? i < spec->csv.na_count : na[i] != NULL; i++)
        if (kn_string_equal(text, kn_value_trim(kn_string_of(na[i])))) return true;
    return false;
}

static kn_status check_item(const itemizing *z, kn_string item, kn_error *err)
{
    if (looks_missing(z->run->all.spec, item))
        return kn_fail(
            err, KN_INPUT,
            "column \"%s\" of the data holds an item that is a spelling of missing cells (na); write it otherwise, or "
            "say which spellings there are (na: [...])",
            z->attribute->name);
    if (!kn_string_equal(item, kn_string_of("*"))) return KN_OK;
    return kn_fail(
        err, KN_INPUT,
        "column \"%s\" of the data holds the item *, which stands for any items in a release; write it otherwise",
        z->attribute->name);
}

/* The items of the distinct cells as a table of one column. */
static kn_status read_tokens(itemizing *z, kn_error *err)
{
    kn_context     *ctx = z->run->all.ctx;
    kn_string       name = kn_string_of(z->attribute->name), item;
    kn_builder     *b = NULL;
    kn_builder_type type = {KN_TYPE_TEXT, NULL};
    kn_value_rules  rules = {.decimal = '.'};
    uint32_t       *ids = NULL;
    size_t          count = 0, capacity = 0;
    int64_t         first = 0;
    KN_TRY(kn_builder_create(&b, ctx, &name, 1, 1, err));
    kn_status st = KN_OK;
    for (uint32_t c = 0; c < z->column->dict.count && st == KN_OK; c++) {
        kn_string text = kn_dictionary_text(&z->column->dict, c);
        z->start[c] = count;
        for (size_t at = 0; st == KN_OK && next_item(text, z->separator, &at, &item);) {
            st = check_item(z, item, err);
            if (st == KN_OK && !KN_GROW(ctx, &ids, &capacity, count + 1)) st = kn_fail_memory(err, ctx, WHAT);
            if (st == KN_OK) ids[count] = kn_intern(kn_builder_interner(b, 0, 0), item);
            if (st == KN_OK && ids[count++] == KN_ID_FAILED) st = kn_fail_memory(err, ctx, WHAT);
        }
    }
    z->start[z->column->dict.count] = z->start[z->column->dict.count + 1] = count;
    if (st == KN_OK) st = kn_builder_extend(b, (int64_t)count, 0, &first, err);
    if (st == KN_OK) kn_builder_write(b, 0, first, ids, (int64_t)count);
    if (st == KN_OK)
        st = kn_builder_finish(&z->tokens, b, &type, &rules, err);
    else
        kn_builder_free(b);
    kn_free(ids);
    return st;
}

static kn_status make_hierarchy(itemizing *z, kn_error *err)
{
    kn_table_run     *run = z->run;
    kn_hierarchy_spec rule = z->attribute->hierarchy;
    if (!z->attribute->has_hierarchy) {
        KN_TRY(kn_hierarchy_by_type_over(&rule, &run->all.scratch, &z->tokens->columns[0], NULL,
                                         run->all.spec->csv.decimal, err));
        if (rule.kind == KN_HIERARCHY_SUPPRESS)
            KN_TRY(kn_release_note(
                &run->all, err, "column \"%s\": no hierarchy was given; a class shows its items as they are, or none",
                z->attribute->name));
        else
            KN_TRY(kn_release_say_by_type(&run->all, z->attribute->name, &rule, KN_TYPE_TEXT, err));
    }
    rule.decimal = run->all.spec->csv.decimal;
    rule.timezone = run->all.spec->csv.timezone;
    return kn_table_run_at(run, z->attribute,
                           kn_hierarchy_make(&z->hierarchy, run->all.ctx, z->tokens, 0, &rule, false, err), err);
}

/* A label that holds the separator would be read as several. */
static kn_status check_labels(const itemizing *z, kn_error *err)
{
    const kn_hierarchy *h = z->hierarchy;
    for (uint32_t n = 0; n < h->nodes; n++) {
        kn_string text = kn_hierarchy_text(h, n);
        if (n == h->leaves) continue;
        if (looks_missing(z->run->all.spec, text))
            return kn_fail(err, KN_INPUT, "column \"%s\": a label of its hierarchy is a spelling of missing cells (na)",
                           z->attribute->name);
        if (text.size == 0 || !memchr(text.data, z->separator, text.size)) continue;
        return kn_fail(err, KN_INPUT,
                       "column \"%s\": a label of its hierarchy holds the separator of its items (separator: another "
                       "character)",
                       z->attribute->name);
    }
    return KN_OK;
}

/* Combinations of up to m of n. */
static double combinations(uint64_t n, int m)
{
    double sets = 0, chosen = 1;
    for (int s = 1; s <= m && (uint64_t)s <= n && sets <= MOST_SETS; s++) {
        chosen = chosen * (double)(n - (uint64_t)s + 1) / s;
        sets += chosen;
    }
    return sets;
}

/* Tokens become leaves: of each cell ascending, each once. */
static kn_status take_leaves(itemizing *z, kn_error *err)
{
    const kn_column *tokens = &z->tokens->columns[0];
    int              m = z->run->all.spec->kmn.m;
    uint64_t         kept = 0, from = 0;
    z->leaves = kn_alloc_array(z->run->all.ctx, (size_t)z->tokens->rows + 1, sizeof *z->leaves);
    if (!z->leaves) return kn_fail_memory(err, z->run->all.ctx, WHAT);
    for (int64_t t = 0; t < z->tokens->rows; t++) z->leaves[t] = z->hierarchy->leaf_of_code[kn_column_code(tokens, t)];
    for (uint32_t c = 0; c <= z->column->dict.count; c++) {
        uint64_t to = z->start[c + 1], begin = kept;
        qsort(z->leaves + from, (size_t)(to - from), sizeof *z->leaves, kn_compare_u32);
        for (; from < to; from++)
            if (kept == begin || z->leaves[from] != z->leaves[kept - 1]) z->leaves[kept++] = z->leaves[from];
        z->start[c] = begin;
        if (combinations(kept - begin, m) > MOST_SETS)
            return kn_fail(err, KN_INPUT,
                           "column \"%s\": a set has %" PRIu64
                           " items, and with m = %d more than %d combinations of them would "
                           "have to be counted; ask for a smaller m",
                           z->attribute->name, kept - begin, m, MOST_SETS);
    }
    z->start[z->column->dict.count + 1] = kept;
    return KN_OK;
}

/* ---- Classes ---- */

/* The rows that are not suppressed, by class and cell. */
static kn_status sort_rows(itemizing *z, kn_error *err)
{
    const kn_plan *plan = z->run->plan;
    z->rows = kn_alloc_array(z->run->all.ctx, (size_t)plan->rows + 1, sizeof *z->rows);
    z->entries = kn_alloc_array(z->run->all.ctx, (size_t)plan->rows + 1, sizeof *z->entries);
    z->ids = kn_alloc_array_zero(z->run->all.ctx, (size_t)plan->rows + 1, sizeof *z->ids); /* KN_ID_MISSING */
    if (!z->rows || !z->entries || !z->ids) return kn_fail_memory(err, z->run->all.ctx, WHAT);
    for (int64_t row = 0; row < plan->rows; row++) {
        if (plan->class_of_row[row] == KN_CLASS_SUPPRESSED) continue;
        uint64_t key = (uint64_t)plan->class_of_row[row] << 32 | kn_column_code(z->column, row);
        z->rows[z->row_count++] = (kn_sort_record){key, (uint64_t)row};
    }
    return kn_sort_records(z->run->all.ctx, z->rows, z->row_count, NULL, NULL, err);
}

static int compare_texts(const void *a, const void *b)
{
    return kn_string_compare(*(const kn_string *)a, *(const kn_string *)b);
}

/* The text of a cell: labels in the order of their bytes, each once. */
static kn_status put_labels(itemizing *z, const kn_items_entry *e, bool shown, kn_string *out, kn_error *err)
{
    kn_buffer_clear(&z->text);
    if (!shown) kn_buffer_char(&z->text, '*');
    for (uint32_t i = 0; shown && i < e->count; i++) z->texts[i] = kn_hierarchy_text(z->hierarchy, e->labels[i]);
    if (shown) qsort(z->texts, e->count, sizeof *z->texts, compare_texts);
    for (uint32_t i = 0; shown && i < e->count; i++) {
        if (i > 0 && kn_string_equal(z->texts[i], z->texts[i - 1])) continue;
        if (i > 0) kn_buffer_char(&z->text, z->separator);
        kn_buffer_append(&z->text, z->texts[i].data, z->texts[i].size);
    }
    *out = (kn_string){z->text.data, z->text.size};
    return z->text.failed ? kn_fail_memory(err, z->run->all.ctx, WHAT) : KN_OK;
}

/* What the items of an entry lost. */
static void measure_entry(itemizing *z, const kn_items_entry *e, bool shown)
{
    const kn_hierarchy *h = z->hierarchy;
    uint64_t            from = z->start[e->set], to = z->start[e->set + 1];
    z->figures->items += e->rows * (int64_t)(to - from);
    if (!shown) {
        z->figures->hidden += e->rows * (int64_t)(to - from);
        z->loss += (double)e->rows * (double)(to - from);
        return;
    }
    for (uint32_t i = 0; i < e->count; i++)
        for (uint32_t node = e->labels[i]; from < to && kn_hierarchy_covers(h, node, z->leaves[from]); from++) {
            bool same =
                node < h->leaves || kn_string_equal(kn_hierarchy_text(h, node), kn_hierarchy_text(h, z->leaves[from]));
            z->figures->kept += same ? e->rows : 0;
            if (h->leaves > 1)
                z->loss += (double)e->rows * (double)(h->last[node] - h->first[node] - 1) / (double)(h->leaves - 1);
        }
}

/* The rows [begin, end) of `rows` are a class. */
static kn_status do_class(itemizing *z, size_t begin, size_t end, kn_error *err)
{
    size_t    count = 0, row = begin;
    bool      shown = false;
    kn_string text;
    for (size_t i = begin; i < end; i++) {
        if (i == begin || z->rows[i].key != z->rows[i - 1].key)
            z->entries[count++] = (kn_items_entry){.set = (uint32_t)z->rows[i].key};
        z->entries[count - 1].rows++;
    }
    KN_TRY(kn_items_cut_class(z->cut, z->entries, count, &shown, err));
    z->figures->classes += !shown;
    for (size_t e = 0; e < count; e++) {
        KN_TRY(put_labels(z, &z->entries[e], shown, &text, err));
        measure_entry(z, &z->entries[e], shown);
        uint32_t id = text.size == 0 ? KN_ID_MISSING : kn_intern(kn_builder_interner(z->made, 0, 0), text);
        if (id == KN_ID_FAILED) return kn_fail_memory(err, z->run->all.ctx, WHAT);
        for (int64_t r = 0; r < z->entries[e].rows; r++) z->ids[z->rows[row++].id] = id;
    }
    return KN_OK;
}

static kn_status do_classes(itemizing *z, kn_error *err)
{
    kn_context      *ctx = z->run->all.ctx;
    kn_string        name = kn_string_of(z->attribute->name);
    kn_builder_type  type = {KN_TYPE_TEXT, NULL};
    kn_value_rules   rules = {.decimal = '.'};
    int64_t          first = 0, rows = z->run->plan->rows;
    kn_items_problem problem = {z->hierarchy, z->start, z->leaves, z->run->all.spec->kmn.k, z->run->all.spec->kmn.m};
    z->texts = kn_alloc_array(ctx, (size_t)z->start[z->column->dict.count + 1] + 1, sizeof *z->texts);
    if (!z->texts) return kn_fail_memory(err, ctx, WHAT);
    KN_TRY(kn_items_cut_create(&z->cut, ctx, &problem, err));
    KN_TRY(kn_builder_create(&z->made, ctx, &name, 1, 1, err));
    for (size_t begin = 0, end; begin < z->row_count; begin = end) {
        end = begin + 1;
        while (end < z->row_count && z->rows[end].key >> 32 == z->rows[begin].key >> 32) end++;
        KN_TRY(do_class(z, begin, end, err));
    }
    KN_TRY(kn_builder_extend(z->made, rows, 0, &first, err));
    kn_builder_write(z->made, 0, first, z->ids, rows);
    kn_builder *made = z->made;
    z->made = NULL;
    return kn_builder_finish(&z->run->items, made, &type, &rules, err);
}

/* Suppressed rows show nothing. */
static void count_suppressed(itemizing *z)
{
    const kn_plan *plan = z->run->plan;
    for (int64_t row = 0; row < plan->rows; row++) {
        if (plan->class_of_row[row] != KN_CLASS_SUPPRESSED) continue;
        uint32_t cell = kn_column_code(z->column, row);
        int64_t  items = (int64_t)(z->start[cell + 1] - z->start[cell]);
        z->figures->items += items;
        z->figures->hidden += items;
        z->loss += (double)items;
    }
}

static kn_status itemize(itemizing *z, kn_error *err)
{
    kn_table_run *run = z->run;
    z->start = kn_alloc_array_zero(run->all.ctx, (size_t)z->column->dict.count + 3, sizeof *z->start);
    z->figures = kn_release_alloc(&run->all, run->all.arena, 1, sizeof *z->figures, err);
    if (!z->start || !z->figures) return kn_fail_memory(err, run->all.ctx, WHAT);
    KN_TRY(read_tokens(z, err));
    KN_TRY(make_hierarchy(z, err));
    KN_TRY(check_labels(z, err));
    KN_TRY(take_leaves(z, err));
    KN_TRY(sort_rows(z, err));
    *z->figures =
        (kn_release_items){.name = kn_release_text(&run->all, z->attribute->name, err), .m = run->all.spec->kmn.m};
    if (!z->figures->name) return KN_MEMORY;
    KN_TRY(do_classes(z, err));
    count_suppressed(z);
    z->figures->loss = z->figures->items > 0 ? z->loss / (double)z->figures->items : 0;
    run->result->items = z->figures;
    return KN_OK;
}

kn_status kn_table_run_items(kn_table_run *run, kn_error *err)
{
    const kn_attribute *a = kn_spec_items_column(run->all.spec);
    if (!a) return KN_OK;
    itemizing z = {.run = run, .attribute = a, .separator = a->separator ? a->separator[0] : ';'};
    z.column = &run->table->columns[kn_table_find(run->table, a->name)];
    kn_buffer_init(&z.text, run->all.ctx);
    kn_table_free(run->items);
    run->items = NULL;
    kn_status st = itemize(&z, err);
    kn_items_cut_free(z.cut);
    kn_builder_free(z.made);
    kn_hierarchy_free(z.hierarchy);
    kn_table_free(z.tokens);
    kn_buffer_free(&z.text);
    KN_FREE(z.start, z.leaves, z.rows, z.entries, z.ids, z.texts);
    return st;
}

kn_status kn_table_run_show_items(kn_table_run *run, kn_error *err)
{
    const kn_table *table = run->table;
    if (!run->items) return KN_OK;
    size_t     columns = (size_t)kn_table_all_columns(table);
    kn_table  *shown = kn_release_alloc(&run->all, &run->all.scratch, 1, sizeof *shown, err);
    kn_column *own = kn_release_alloc(&run->all, &run->all.scratch, columns + 1, sizeof *own, err);
    if (!shown || !own) return KN_MEMORY;
    memcpy(own, table->columns, columns * sizeof *own);
    own[kn_table_find(table, run->items->columns[0].name)] = run->items->columns[0];
    *shown = (kn_table){.ctx = table->ctx,
                        .rows = table->rows,
                        .column_count = table->column_count,
                        .columns = own,
                        .counts = table->counts,
                        .numbers = table->numbers,
                        .total = table->total,
                        .delimiter = table->delimiter};
    run->shown = shown;
    return KN_OK;
}
