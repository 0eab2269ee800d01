/* kn_attack.c: the linking attack on one table (kn_attack.h): what each label means, both tables as classes, the
 * join, and the figures.
 *
 * Attributes are taken in ascending order of the external table's values, so that people share the beginning of their
 * path through the join. Rows that are "*" in every column of a release are suppressed: they reveal nothing and match
 * nobody.
 *
 * Cost: grouping both tables, one parse per distinct label, and the join (kn_link.c). Memory: the classes of both.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_attack.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"

static const char what[] = "attacking a table";

typedef struct attack {
    kn_context            *ctx;
    const kn_attack_input *in;
    int                   *order;             /* links in the order they are joined                      */
    int                   *external, *target; /* columns, in that order                      */
    kn_link_attribute     *attributes;
    kn_cell              **cells;
    kn_cell_members       *members;
    kn_freq               *people, *classes;
    int64_t               *rows; /* per class, without the suppressed ones                   */
    uint32_t             **sensitive;
    int64_t                suppressed;
    kn_link_result         found;
} attack;

/* ---- Labels ---- */

static const kn_cell nobody = {KN_CELL_SET, 0, 0};

/* Written like an interval of numbers or dates, in brackets? */
static bool looks_like_interval(kn_string text)
{
    if (text.size < 5 || !strchr("[](", text.data[0]) || !strchr("])[", text.data[text.size - 1])) return false;
    return strchr("+-.0123456789", text.data[1]) != NULL;
}

/* A cell that covers nothing of the external column is a value that nobody there has; an interval over texts is
 * refused, since it would match nobody. */
static kn_status check_unread(const kn_column *external, kn_string text, kn_error *err)
{
    if (external->type != KN_TYPE_TEXT || external->dict.count == 0 || !looks_like_interval(text)) return KN_OK;
    return kn_fail(err, KN_INPUT,
                   "column \"%s\": the release has intervals, but the external table holds texts there; its numbers or "
                   "dates must be read as such (--type, --decimal), and what is none as missing (--na)",
                   external->name);
}

static const kn_string any_value = {"*", 1};

static bool stands_for_all(const kn_attack_link *link, kn_string text)
{
    return kn_string_equal(text, any_value) || (link->root.size > 0 && kn_string_equal(text, link->root));
}

/* The texts that are cells of some kind, parsed together, so that a label of several nodes is that of the column's level. */
static kn_status parse_released(kn_cell *cells, const kn_cell_parser *parser, const kn_attack_link *link,
                                const kn_column *external, const kn_dictionary *dict, kn_context *ctx,
                                kn_cell_members *members, kn_error *err)
{
    kn_string *texts = kn_alloc_array(ctx, (size_t)dict->count + 1, sizeof *texts);
    uint32_t  *codes = kn_alloc_array(ctx, (size_t)dict->count + 1, sizeof *codes);
    kn_cell   *good = kn_alloc_array(ctx, (size_t)dict->count + 1, sizeof *good);
    size_t     count = 0, bad = 0;
    kn_status  st = texts && codes && good ? KN_OK : kn_fail_memory(err, ctx, what);
    for (uint32_t c = 0; c < dict->count && st == KN_OK; c++) {
        texts[count] = kn_dictionary_text(dict, c);
        cells[c] = stands_for_all(link, texts[count]) ? (kn_cell){KN_CELL_STAR, 0, 0} : nobody;
        if (kn_string_equal(texts[count], any_value)) continue; /* of no level: it may be suppressed */
        codes[count] = c;
        kn_cell_members_free(members);
        st = kn_cell_parse(&good[count], parser, texts[count], members, err);
        count += st == KN_OK;
        if (st == KN_INPUT) st = check_unread(external, texts[count], err);
    }
    kn_cell_members_free(members);
    if (st == KN_OK) st = kn_cell_parse_column(good, NULL, parser, texts, count, members, &bad, err);
    for (size_t i = 0; i < count && st == KN_OK; i++)
        if (cells[codes[i]].kind != KN_CELL_STAR) cells[codes[i]] = good[i];
    KN_FREE(texts, codes, good);
    return st;
}

/* A cell of the original is a value and nothing else, whatever it looks like. */
static kn_status parse_original(kn_cell *cells, const kn_cell_parser *parser, const kn_dictionary *dict,
                                kn_cell_members *members, kn_error *err)
{
    for (uint32_t c = 0; c < dict->count; c++) {
        kn_status st = kn_cell_parse(&cells[c], parser, kn_dictionary_text(dict, c), members, err);
        if (st != KN_OK && st != KN_INPUT) return st;
        if (st != KN_OK || cells[c].kind != KN_CELL_VALUE) cells[c] = nobody;
    }
    return KN_OK;
}

kn_status kn_attack_read_cells(kn_link_attribute *out, kn_cell **cells, kn_cell_members *members, kn_context *ctx,
                               const kn_attack_link *link, const kn_column *external, const kn_column *target,
                               bool released, bool wildcard, kn_error *err)
{
    const kn_hierarchy *hierarchy = released ? link->hierarchy : NULL;
    kn_cell_parser     *parser = NULL;
    uint32_t            labels = target->dict.count + 1;
    *cells = kn_alloc_array(ctx, labels, sizeof **cells);
    if (!*cells) return kn_fail_memory(err, ctx, what);
    KN_TRY(kn_cell_parser_make(&parser, ctx, external, hierarchy, &link->rules, err));
    if (released) kn_cell_parser_foreign(parser);
    kn_status st = released ? parse_released(*cells, parser, link, external, &target->dict, ctx, members, err)
                            : parse_original(*cells, parser, &target->dict, members, err);
    kn_cell_parser_free(parser);
    (*cells)[labels - 1] = wildcard ? (kn_cell){KN_CELL_STAR, 0, 0} : (kn_cell){KN_CELL_VALUE, external->dict.count, 0};
    *out = (kn_link_attribute){external->dict.count + 1, labels, *cells, members->codes, hierarchy, wildcard};
    return st;
}

static kn_status make_attribute(attack *a, int i, kn_error *err)
{
    const kn_attack_link *link = &a->in->links[a->order[i]];
    return kn_attack_read_cells(&a->attributes[i], &a->cells[i], &a->members[i], a->ctx, link,
                                &a->in->external->columns[link->external], &a->in->target->columns[link->target],
                                a->in->released, a->in->wildcard, err);
}

/* ---- Suppressed rows ---- */

static uint32_t star_code(const kn_column *column)
{
    uint32_t low = 0, high = column->dict.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (kn_string_compare(kn_dictionary_text(&column->dict, middle), any_value) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    bool there = low < column->dict.count && kn_string_equal(kn_dictionary_text(&column->dict, low), any_value);
    return there ? low : UINT32_MAX;
}

/* Rows that are "*" in every column. */
static kn_status count_suppressed(int64_t *out, kn_context *ctx, const kn_table *t, kn_error *err)
{
    uint32_t *stars = kn_alloc_array(ctx, (size_t)t->column_count + 1, sizeof *stars);
    bool      possible = t->column_count > 0;
    *out = 0;
    if (!stars) return kn_fail_memory(err, ctx, what);
    for (int c = 0; c < t->column_count; c++) {
        stars[c] = star_code(&t->columns[c]);
        possible = possible && stars[c] != UINT32_MAX;
    }
    for (int64_t row = 0; row < t->rows && possible; row++) {
        int c = 0;
        while (c < t->column_count && kn_column_code(&t->columns[c], row) == stars[c]) c++;
        if (c == t->column_count) *out += kn_table_weight(t, row);
    }
    kn_free(stars);
    return KN_OK;
}

/* The class of which the suppressed rows are part; -1: none. */
static int64_t star_class(const attack *a)
{
    for (int64_t i = 0; i < a->classes->classes && a->suppressed > 0; i++) {
        int c = 0;
        while (c < a->in->link_count &&
               kn_freq_code(a->classes, i, c) == star_code(&a->in->target->columns[a->target[c]]))
            c++;
        if (c == a->in->link_count) return i;
    }
    return -1;
}

/* ---- Classes ---- */

/* The only value of class `i` without this many rows of the value `star`; or KN_LINK_MIXED. */
static uint32_t only_value(const kn_class_histograms *h, int64_t i, uint32_t star, int64_t suppressed)
{
    uint32_t value = KN_LINK_MIXED;
    for (int64_t v = h->starts[i]; v < h->starts[i + 1]; v++) {
        if (h->codes[v] == star && h->counts[v] == suppressed) continue;
        if (value != KN_LINK_MIXED) return KN_LINK_MIXED;
        value = h->codes[v];
    }
    return value;
}

static kn_status find_values(attack *a, int which, int64_t stars, kn_error *err)
{
    int                 column = a->in->sensitive[which];
    uint32_t            star = star_code(&a->in->target->columns[column]);
    kn_freq            *freq = NULL;
    kn_class_histograms h;
    KN_TRY(kn_freq_histograms(&freq, &h, a->ctx, a->in->target, a->target, a->in->link_count, column, err));
    uint32_t *values = kn_alloc_array(a->ctx, (size_t)freq->classes + 1, sizeof *values);
    for (int64_t i = 0; values && i < freq->classes; i++)
        values[i] = only_value(&h, i, star, i == stars ? a->suppressed : 0);
    a->sensitive[which] = values;
    kn_class_histograms_free(&h);
    kn_freq_free(freq);
    return values ? KN_OK : kn_fail_memory(err, a->ctx, what);
}

static kn_status make_classes(attack *a, kn_error *err)
{
    const kn_attack_input *in = a->in;
    KN_TRY(kn_freq_of_table(&a->people, a->ctx, in->external, a->external, in->link_count, err));
    KN_TRY(kn_freq_of_table(&a->classes, a->ctx, in->target, a->target, in->link_count, err));
    if (in->released) KN_TRY(count_suppressed(&a->suppressed, a->ctx, in->target, err));
    int64_t stars = star_class(a);
    a->rows = kn_alloc_array(a->ctx, (size_t)a->classes->classes + 1, sizeof *a->rows);
    if (!a->rows) return kn_fail_memory(err, a->ctx, what);
    for (int64_t i = 0; i < a->classes->classes; i++)
        a->rows[i] = a->classes->counts[i] - (i == stars ? a->suppressed : 0);
    for (int s = 0; s < in->sensitive_count; s++) KN_TRY(find_values(a, s, stars, err));
    return KN_OK;
}

/* ---- Figures ---- */

/* Is a value of these people not in the hierarchy of its column? */
static bool is_strange(const attack *a, int64_t people)
{
    for (int i = 0; i < a->in->link_count && a->in->released; i++) {
        const kn_attack_link *link = &a->in->links[a->order[i]];
        uint32_t              code = kn_freq_code(a->people, people, i);
        if (kn_attack_strange(link, &a->in->external->columns[link->external], code)) return true;
    }
    return false;
}

kn_status kn_attack_tell(kn_attack_table *out, kn_arena *arena, const int64_t *matches, const int64_t *people,
                         int64_t count, int64_t unplaced, int64_t k, const int64_t *certain, int sensitive_count,
                         kn_error *err)
{
    kn_size_histogram h;
    KN_TRY(kn_size_histogram_make(&h, arena->ctx, matches, people, count, err));
    kn_match_count *counts = kn_arena_alloc(arena, ((size_t)h.count + 1) * sizeof *counts);
    int64_t        *sure = kn_arena_alloc(arena, ((size_t)sensitive_count + 1) * sizeof *sure);
    *out = (kn_attack_table){.counts = counts, .sensitive_count = sensitive_count, .certain = sure};
    for (int64_t i = 0; counts && i < h.count; i++) {
        if (h.sizes[i] == 0) {
            out->none = h.rows[i];
            continue;
        }
        if (h.sizes[i] == 1) out->unique = h.rows[i];
        if (h.sizes[i] < k) out->below += h.rows[i];
        if (out->count == 0) out->least = h.sizes[i];
        counts[out->count++] = (kn_match_count){h.sizes[i], h.rows[i]};
    }
    out->unplaced = unplaced;
    out->none -= unplaced;
    for (int s = 0; sure && s < sensitive_count; s++) sure[s] = certain[s];
    kn_size_histogram_free(&h);
    return counts && sure ? KN_OK : kn_fail_memory(err, arena->ctx, what);
}

static kn_status tell(kn_attack_table *out, kn_arena *arena, const attack *a, kn_error *err)
{
    int64_t unplaced = 0;
    for (int64_t i = 0; i < a->people->classes; i++)
        if (a->found.matches[i] == 0 && is_strange(a, i)) unplaced += a->people->counts[i];
    KN_TRY(kn_attack_tell(out, arena, a->found.matches, a->people->counts, a->people->classes, unplaced, a->in->k,
                          a->found.certain, a->in->sensitive_count, err));
    out->rows = kn_table_total(a->in->target);
    return KN_OK;
}

/* ---- All together ---- */

static void free_attack(attack *a)
{
    for (int i = 0; a->cells && i < a->in->link_count; i++) kn_free(a->cells[i]);
    for (int i = 0; a->members && i < a->in->link_count; i++) kn_cell_members_free(&a->members[i]);
    for (int i = 0; a->sensitive && i < a->in->sensitive_count; i++) kn_free(a->sensitive[i]);
    KN_FREE(a->order, a->external, a->target, a->attributes, a->cells, a->members, a->sensitive, a->rows);
    kn_freq_free(a->people);
    kn_freq_free(a->classes);
    KN_FREE(a->found.matches, a->found.certain);
}

static kn_status prepare(attack *a, kn_error *err)
{
    size_t n = (size_t)a->in->link_count;
    a->order = kn_alloc_array(a->ctx, n, sizeof *a->order);
    a->external = kn_alloc_array(a->ctx, n, sizeof *a->external);
    a->target = kn_alloc_array(a->ctx, n, sizeof *a->target);
    a->attributes = kn_alloc_array_zero(a->ctx, n, sizeof *a->attributes);
    a->cells = kn_alloc_array_zero(a->ctx, n, sizeof *a->cells);
    a->members = kn_alloc_array_zero(a->ctx, n, sizeof *a->members);
    a->sensitive = kn_alloc_array_zero(a->ctx, (size_t)a->in->sensitive_count + 1, sizeof *a->sensitive);
    if (!a->order || !a->external || !a->target || !a->attributes || !a->cells || !a->members || !a->sensitive)
        return kn_fail_memory(err, a->ctx, what);
    for (int i = 0; i < a->in->link_count; i++) {
        uint32_t values = a->in->external->columns[a->in->links[i].external].dict.count;
        int      at = i;
        for (; at > 0; at--) {
            if (a->in->external->columns[a->in->links[a->order[at - 1]].external].dict.count <= values) break;
            a->order[at] = a->order[at - 1];
        }
        a->order[at] = i;
        a->members[i].ctx = a->ctx;
    }
    for (int i = 0; i < a->in->link_count; i++) {
        a->external[i] = a->in->links[a->order[i]].external;
        a->target[i] = a->in->links[a->order[i]].target;
        KN_TRY(make_attribute(a, i, err));
    }
    return make_classes(a, err);
}

kn_status kn_attack_run(kn_attack_table *out, kn_arena *arena, const kn_attack_input *in, kn_error *err)
{
    attack    a = {.ctx = arena->ctx, .in = in};
    kn_status st = prepare(&a, err);
    if (st == KN_OK) {
        const kn_link_input join = {in->link_count,
                                    a.attributes,
                                    a.people,
                                    a.classes,
                                    a.rows,
                                    in->sensitive_count,
                                    (const uint32_t *const *)a.sensitive,
                                    0};
        st = kn_link_tables(&a.found, a.ctx, &join, err);
    }
    if (st == KN_OK) st = tell(out, arena, &a, err);
    free_attack(&a);
    return st;
}

/* ---- Hierarchies that do not know every value ---- */

kn_status kn_attack_bind(kn_hierarchy *h, const kn_column *column, const kn_cell_rules *rules, kn_error *err)
{
    uint32_t        codes = column->dict.count, sorted = 0;
    uint32_t       *leaf_of_code = kn_alloc_array(h->ctx, (size_t)codes + 1, sizeof *leaf_of_code);
    uint32_t       *order = kn_alloc_array(h->ctx, (size_t)codes + 1, sizeof *order);
    uint32_t       *begin = kn_alloc_array_zero(h->ctx, (size_t)h->leaves + 2, sizeof *begin);
    kn_cell_members members = {.ctx = h->ctx};
    kn_cell_parser *parser = NULL;
    kn_status       st = leaf_of_code && order && begin ? kn_cell_parser_make(&parser, h->ctx, column, NULL, rules, err)
                                                        : kn_fail_memory(err, h->ctx, what);
    for (uint32_t c = 0; c <= codes && st == KN_OK; c++) leaf_of_code[c] = h->leaves;
    for (uint32_t leaf = 0; leaf < h->leaves && st == KN_OK; leaf++) {
        kn_cell cell;
        st = kn_cell_parse(&cell, parser, kn_hierarchy_text(h, leaf), &members, err);
        if (st == KN_OK && cell.kind == KN_CELL_VALUE && cell.a < codes && leaf_of_code[cell.a] == h->leaves)
            leaf_of_code[cell.a] = leaf;
        if (st == KN_INPUT) st = KN_OK; /* a leaf whose value the column does not have */
    }
    kn_cell_parser_free(parser);
    kn_cell_members_free(&members);
    if (st != KN_OK) {
        KN_FREE(leaf_of_code, order, begin);
        return st;
    }
    for (uint32_t c = 0; c < codes; c++) begin[leaf_of_code[c] + 1]++;
    for (uint32_t l = 0; l <= h->leaves; l++) begin[l + 1] += begin[l];
    for (uint32_t c = 0; c < codes; c++, sorted++) order[begin[leaf_of_code[c]]++] = c;
    KN_FREE(begin, h->leaf_of_code, h->code_order);
    h->codes = sorted;
    h->leaf_of_code = leaf_of_code;
    h->code_order = order;
    h->missing = column->missing > 0;
    return KN_OK;
}
