/* database/columns.c: what the texts of released columns mean: values of the original, labels of hierarchies.
 *
 * A released quasi-identifier shows a value of the original or a label of the spec's hierarchy above it, nothing
 * else: no interval, no set. A missing cell stays missing or shows the root. If the release is in files, an empty
 * text of the original looks like a missing cell. Each distinct text is read once, copies that are plain numbers only as texts;
 * columns in parallel.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_parallel.h"
#include "kn_verify_database.h"

/* ---- The original ---- */

static kn_status read_original(kn_vdb *v, const kn_vdb_table *t, kn_vdb_column *c, kn_error *err)
{
    const kn_vsheet_column *column = &t->original.table->columns[c->original];
    uint32_t                count = column->cells.count;
    kn_attribute            a = *c->attribute;
    kn_vrows                rows = {0, NULL};
    const kn_vcolumn       *people;
    c->of_original = kn_alloc_array(v->ctx, (size_t)count + 1, sizeof *c->of_original);
    if (!c->of_original) return kn_vdb_no_memory(v, err);
    if (a.type == KN_TYPE_AUTO && column->text) a.type = KN_TYPE_TEXT;
    if (t->refers[c->original] >= 0) a.type = KN_TYPE_TEXT;  /* keys are compared by their spelling */
    if (a.role != KN_ROLE_QUASI) a.role = KN_ROLE_SENSITIVE; /* what a table holds is compared by value */
    KN_TRY(kn_vdb_people_column(&people, v, t, c, err));
    KN_TRY(kn_vdomain_make(&c->domain, v->ctx, &v->plain, &a, &rows, &column->cells, people, v->zone, err));
    if (people) c->domain.of_population[people->count] = KN_V_MISSING;
    for (uint32_t i = 0; i < count; i++) c->of_original[i] = c->domain.of_original[i];
    c->of_original[count] = KN_V_MISSING;
    return KN_OK;
}

/* ---- The release ---- */

uint32_t kn_vdb_find_value(const kn_vdb_column *c, kn_string text)
{
    if (text.size > 0) return kn_vdomain_find(&c->domain, text);
    uint32_t known = kn_texts_find(&c->domain.texts, text);
    return known == KN_V_NONE ? KN_V_NONE : c->domain.value_of_text[known];
}

/* In files an empty text and a missing cell are the same. */
static void find_empty(const kn_vdb_table *t, kn_vdb_column *c)
{
    c->empty = kn_vdb_find_value(c, (kn_string){"", 0});
    for (uint32_t i = 0; i < kn_vsheet_distinct(t->release.table, c->release); i++)
        if (kn_vsheet_text(t->release.table, c->release, i).size == 0) c->empty = KN_V_NONE;
}

uint32_t kn_vdb_odd_spelling(const kn_vdb_column *c, const kn_vsheet *table, int column)
{
    uint32_t odd = KN_V_NONE;
    bool     plain = true;
    for (uint32_t i = 0; i < kn_vsheet_distinct(table, column); i++) {
        kn_string text = kn_vsheet_text(table, column, i);
        uint32_t  value = kn_vdb_find_value(c, text);
        if (value == KN_V_NONE || value == KN_V_MISSING) continue;
        plain = plain && kn_v_plain_number(text, true);
        if (odd == KN_V_NONE && !kn_string_equal(text, c->domain.spelling[value])) odd = i;
    }
    return plain ? KN_V_NONE : odd;
}

static kn_status read_copies(kn_vdb *v, const kn_vdb_table *t, kn_vdb_column *c, kn_error *err)
{
    uint32_t count = kn_vsheet_distinct(t->release.table, c->release);
    c->of_release = kn_alloc_array(v->ctx, (size_t)count + 1, sizeof *c->of_release);
    if (!c->of_release) return kn_vdb_no_memory(v, err);
    for (uint32_t i = 0; i < count; i++)
        c->of_release[i] = kn_vdb_find_value(c, kn_vsheet_text(t->release.table, c->release, i));
    c->of_release[count] = KN_V_MISSING;
    c->odd = kn_vdb_odd_spelling(c, t->release.table, c->release);
    for (uint32_t i = 0; c->empty != KN_V_NONE && i < kn_vsheet_distinct(t->original.table, c->original); i++)
        if (c->of_original[i] == c->empty) c->of_original[i] = KN_V_MISSING;
    return KN_OK;
}

/* Per label the leaves below its nodes; 0: none, KN_V_NONE: nodes differ. */
static uint32_t *covers_of_labels(kn_context *ctx, const kn_vtree *t)
{
    uint32_t *cover = kn_alloc_array_zero(ctx, (size_t)t->labels.count + 1, sizeof *cover);
    for (uint32_t node = 0; cover && node < t->nodes; node++) {
        uint32_t *to = &cover[t->label[node]];
        *to = *to == 0 || *to == t->cover[node] ? t->cover[node] : KN_V_NONE;
    }
    return cover;
}

static double loss_of(const kn_vdb_column *c, const kn_vdb_cell *cell, const uint32_t *covers)
{
    uint32_t leaves = c->tree->leaves, cover = cell->label == KN_V_NONE ? 0 : covers[cell->label];
    if (cell->value == KN_V_MISSING) return 0;
    if (cell->value != KN_V_NONE) cover = cover == 0 || cover == 1 ? 1 : KN_V_NONE; /* the value's own leaf */
    if (cover == 0 || cover == KN_V_NONE) return NAN;
    return leaves > 1 ? (double)(cover - 1) / (double)(leaves - 1) : 0;
}

static kn_status read_cells(kn_vdb *v, const kn_vdb_table *t, kn_vdb_column *c, kn_error *err)
{
    const kn_vtree *tree = c->tree;
    uint32_t        count = kn_vsheet_distinct(t->release.table, c->release);
    uint32_t       *covers = covers_of_labels(v->ctx, tree);
    c->cells = kn_alloc_array(v->ctx, (size_t)count + 1, sizeof *c->cells);
    if (!covers || !c->cells) {
        kn_free(covers);
        return kn_vdb_no_memory(v, err);
    }
    c->root = tree->leaves ? tree->label[tree->paths[tree->height]] : KN_V_NONE;
    for (uint32_t i = 0; i < count; i++) {
        kn_string text = kn_vsheet_text(t->release.table, c->release, i);
        c->cells[i] = (kn_vdb_cell){.value = kn_vdb_find_value(c, text), .label = kn_texts_find(&tree->labels, text)};
        c->cells[i].loss = loss_of(c, &c->cells[i], covers);
    }
    c->cells[count] = (kn_vdb_cell){.value = KN_V_MISSING, .label = KN_V_NONE, .loss = 0};
    kn_free(covers);
    return KN_OK;
}

/* Without a hierarchy numbers and dates have the one that their values suggest; a text is shown as it is, or as *. */
static kn_status make_tree(kn_vdb *v, kn_vdb_column *c, kn_error *err)
{
    kn_attribute a = *c->attribute;
    kn_arena     room = {.ctx = v->ctx};
    if (a.has_hierarchy) return kn_vtree_make(&c->tree, v->ctx, &a, &c->domain, err);
    kn_status st = kn_vtree_by_type(&a.hierarchy, &room, &c->domain, err);
    if (a.hierarchy.kind == KN_HIERARCHY_MASK) a.hierarchy.kind = KN_HIERARCHY_SUPPRESS;
    if (st == KN_OK) st = kn_vtree_make(&c->tree, v->ctx, &a, &c->domain, err);
    kn_arena_free(&room);
    return st;
}

/* Does anything look at the values of this column beyond whether two of them are the same? */
static bool is_compared(const kn_vdb *v, const kn_vdb_table *t, const kn_vdb_column *c)
{
    const kn_attribute *a = c->attribute;
    if (c->release < 0 || v->spec->anatomy || a->role == KN_ROLE_QUASI || t->refers[c->original] >= 0) return true;
    if (a->type != KN_TYPE_AUTO && a->type != KN_TYPE_TEXT) return true;
    for (int i = 0; a->role == KN_ROLE_SENSITIVE && i < v->spec->model_count; i++) switch (v->spec->models[i].kind) {
        case KN_MODEL_K:
        case KN_MODEL_DISTINCT:
        case KN_MODEL_ENTROPY:
        case KN_MODEL_RECURSIVE: break;
        default: return true;
        }
    return false;
}

/* Copies of plain numbers: values are the same where texts are, and need not be read. *taken false: that is not so, or the
 * release has a text that the original does not have. */
static kn_status take_plain(kn_vdb *v, const kn_vdb_table *t, kn_vdb_column *c, bool *taken, kn_error *err)
{
    const kn_vsheet_column *original = &t->original.table->columns[c->original];
    const kn_vsheet_column *release = &t->release.table->columns[c->release];
    uint32_t                count = original->cells.count, shown = release->cells.count;
    *taken = false;
    if (!kn_vsheet_plain(original)) return KN_OK;
    c->of_release = kn_alloc_array(v->ctx, (size_t)shown + 1, sizeof *c->of_release);
    if (!kn_vcolumn_translate(c->of_release, v->ctx, &release->cells, &original->cells))
        return kn_vdb_no_memory(v, err);
    for (uint32_t i = 0; i < shown; i++)
        if (c->of_release[i] == KN_V_NONE) {
            kn_free(c->of_release);
            c->of_release = NULL;
            return KN_OK;
        }
    c->of_original = kn_alloc_array(v->ctx, (size_t)count + 1, sizeof *c->of_original);
    if (!c->of_original) return kn_vdb_no_memory(v, err);
    for (uint32_t i = 0; i < count; i++) c->of_original[i] = i;
    c->of_original[count] = c->of_release[shown] = KN_V_MISSING;
    c->empty = KN_V_NONE;
    *taken = true;
    return KN_OK;
}

static kn_status prepare(kn_vdb *v, const kn_vdb_table *t, kn_vdb_column *c, kn_error *err)
{
    kn_attribute a = *c->attribute;
    bool         taken = false;
    if (!is_compared(v, t, c)) KN_TRY(take_plain(v, t, c, &taken, err));
    if (taken) return KN_OK;
    KN_TRY(read_original(v, t, c, err));
    if (c->release < 0) { /* shown by groups: its texts are in a list   */
        c->empty = kn_vdb_find_value(c, (kn_string){"", 0});
        return KN_OK;
    }
    find_empty(t, c);
    if (a.role != KN_ROLE_QUASI || v->spec->anatomy) return read_copies(v, t, c, err);
    if (t->refers[c->original] >= 0)
        KN_TRY(kn_vdb_reference_tree(&c->tree, v, t->refers[c->original], &c->domain, err));
    else
        KN_TRY(make_tree(v, c, err));
    return read_cells(v, t, c, err);
}

/* ---- All columns ---- */

typedef struct item {
    const kn_vdb_table *table;
    kn_vdb_column      *column;
} item;

typedef struct items {
    kn_vdb *v;
    item   *list;
    int     count;
} items;

static kn_status prepare_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    items *all = arg;
    (void)worker;
    for (int64_t i = begin; i < end; i++) KN_TRY(prepare(all->v, all->list[i].table, all->list[i].column, err));
    return KN_OK;
}

kn_status kn_vdb_columns(kn_vdb *v, kn_error *err)
{
    items  all = {.v = v};
    size_t most = 0;
    for (int t = 0; t < v->table_count; t++)
        most += (size_t)(v->tables[t].quasi_count + v->tables[t].copy_count + v->tables[t].hidden_count);
    all.list = kn_vdb_take(v, most, sizeof *all.list);
    if (!all.list) return kn_vdb_no_memory(v, err);
    for (int t = 0; t < v->table_count; t++) {
        kn_vdb_table *table = &v->tables[t];
        for (int q = 0; q < table->quasi_count; q++) {
            all.list[all.count++] = (item){table, &table->quasi[q]};
            if (table->release.table->columns[table->quasi[q].release].respelled > 0)
                kn_vproblem(v->notes, "table \"%s\", column \"%s\": the release shows one number in two spellings",
                            table->name, table->quasi[q].attribute->name);
        }
        for (int c = 0; c < table->copy_count; c++) all.list[all.count++] = (item){table, &table->copies[c]};
        for (int c = 0; c < table->hidden_count; c++) all.list[all.count++] = (item){table, &table->hidden[c]};
    }
    for (int i = 0; i < all.count; i++) all.list[i].column->odd = KN_V_NONE;
    return kn_parallel_for(v->ctx, all.count, 1, prepare_range, &all, err);
}

static void free_column(kn_vdb_column *c)
{
    kn_vdomain_free(&c->domain);
    kn_vtree_free(c->tree);
    kn_free(c->of_original);
    kn_free(c->of_release);
    kn_free(c->cells);
}

void kn_vdb_columns_free(kn_vdb *v)
{
    for (int t = 0; t < v->table_count; t++) {
        for (int q = 0; q < v->tables[t].quasi_count; q++) free_column(&v->tables[t].quasi[q]);
        for (int c = 0; c < v->tables[t].copy_count; c++) free_column(&v->tables[t].copies[c]);
        for (int c = 0; c < v->tables[t].hidden_count; c++) free_column(&v->tables[t].hidden[c]);
    }
}

bool kn_vdb_covers(const kn_vdb_column *q, const kn_vdb_cell *cell, uint32_t value)
{
    const kn_vtree *t = q->tree;
    if (cell->value == value && value != KN_V_NONE) return true;
    if (cell->value == KN_V_MISSING) return value == q->empty;
    if (cell->label == KN_V_NONE) return false;
    if (value == KN_V_MISSING) return cell->label == q->root;
    const uint32_t *path = t->paths + (size_t)t->leaf_of_value[value] * (t->height + 1);
    for (uint32_t level = 0; level <= t->height; level++)
        if (t->label[path[level]] == cell->label) return true;
    return false;
}
