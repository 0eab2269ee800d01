/* kn_demo_release.c: a database made k-anonymous the wrong way, in memory: as joins of its tables (kn_demo_release.h).
 *
 * A join is an outer one, so that nobody is lost: a row without children in the next table is one row of it, with
 * everything after it missing. It is made k-anonymous by strict Mondrian cuts through the hierarchies, keys are kept
 * (AT1 of section 3.1, Tp1 and T11 of section 3.2). So the reader sees which rows of the join are about the same row
 * of a table, and uses the narrowest of the cells that these show; they all cover the same value, hence are
 * nested.
 *
 * With generalized keys (kn_demo_keyed) one more column is cut: the number of the person. Nothing but its range says whose
 * a row is.
 *
 * Cost: one partitioning per join. Memory: 8 bytes per row and table of a join, 4 per cell, and the plan.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_demo_release.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_partition.h"

static const char what[] = "anonymizing a join";

#define NOBODY UINT64_MAX

typedef struct joining {
    kn_context      *ctx;
    const kn_forest *forest;
    int64_t          k;
    int              width; /* of a node's cells */
    uint32_t        *cells; /* forest nodes × width: the narrowest cell that is shown */
    /* One join. */
    const kn_demo_join  *join;
    uint64_t            *nodes; /* rows × tables; NOBODY */
    size_t               row_count, capacity;
    uint64_t            *row; /* under way */
    int                  quasi_count;
    int                 *place; /* per quasi-identifier: which of the join's tables, ... */
    int                 *quasi; /* ... and which of its quasi-identifiers                */
    int                 *columns;
    kn_table             table;
    kn_hierarchy        *hierarchies;
    const kn_hierarchy **bound;
    kn_ratio            *weights; /* of the columns; NULL: all the same */
    int64_t             *numbers; /* per entity: the person's number; NULL: keys stay */
    kn_plan             *plan;
} joining;

static const kn_database_table *table_of(const joining *j, int place)
{
    return &j->forest->db->tables[j->join->tables[place]];
}

/* ---- Rows ---- */

static kn_status add_row(joining *j, kn_error *err)
{
    size_t width = (size_t)j->join->table_count;
    if (!KN_GROW(j->ctx, &j->nodes, &j->capacity, (j->row_count + 1) * width)) return kn_fail_memory(err, j->ctx, what);
    memcpy(j->nodes + j->row_count++ * width, j->row, width * sizeof *j->row);
    return KN_OK;
}

/* All rows of the join through a node; what comes after its table is NOBODY before and after. */
static kn_status add_rows(joining *j, uint64_t first, uint64_t node, int place, kn_error *err)
{
    const kn_forest *f = j->forest;
    bool             any = false;
    j->row[place] = node;
    for (uint32_t i = 0; i < f->child_count[node] && place + 1 < j->join->table_count; i++) {
        uint64_t child = first + f->first_child[node] + i;
        if (f->table[child] != j->join->tables[place + 1]) continue;
        any = true;
        KN_TRY(add_rows(j, first, child, place + 1, err));
    }
    if (!any) KN_TRY(add_row(j, err));
    j->row[place] = NOBODY;
    return KN_OK;
}

static kn_status find_rows(joining *j, kn_error *err)
{
    const kn_forest *f = j->forest;
    int              head = j->join->tables[0];
    j->row_count = 0;
    for (int64_t e = 0; e < f->entities; e++)
        for (uint64_t v = f->start[e]; v < f->start[e + 1]; v++)
            if (f->table[v] == head) KN_TRY(add_rows(j, f->start[e], v, 0, err));
    return KN_OK;
}

/* ---- The table ---- */

/* A column of the join: values and their dictionary are those of the table it comes from. */
static kn_status make_column(joining *j, int c, kn_error *err)
{
    const kn_database_table *t = table_of(j, j->place[c]);
    const kn_column         *from = &t->table->columns[t->quasi[j->quasi[c]]];
    kn_column               *to = &j->table.columns[c];
    uint32_t                *codes = kn_alloc_array(j->ctx, j->row_count + 1, sizeof *codes);
    *to = *from;
    to->codes = codes;
    to->width = sizeof *codes;
    to->missing = 0;
    if (!codes) return kn_fail_memory(err, j->ctx, what);
    for (size_t r = 0; r < j->row_count; r++) {
        uint64_t node = j->nodes[r * (size_t)j->join->table_count + (size_t)j->place[c]];
        codes[r] = node == NOBODY ? from->dict.count : kn_column_code(from, j->forest->row[node]);
        to->missing += codes[r] == from->dict.count;
    }
    j->hierarchies[c] = *t->columns[t->quasi[j->quasi[c]]].hierarchy;
    j->hierarchies[c].missing = to->missing > 0;
    j->bound[c] = &j->hierarchies[c];
    j->columns[c] = c;
    return KN_OK;
}

/* The column of persons' numbers, behind the others. It is cut where no quasi-identifier can be: ranges of persons are
 * wide rather than all else. */
static kn_status make_key(joining *j, kn_error *err)
{
    kn_column *to = &j->table.columns[j->quasi_count];
    size_t     persons = (size_t)j->forest->entities, row = 0, width = (size_t)j->join->table_count;
    uint32_t  *codes = kn_alloc_array(j->ctx, j->row_count + 1, sizeof *codes);
    *to = (kn_column){.type = KN_TYPE_INTEGER, .width = sizeof *codes, .codes = codes};
    to->dict.count = (uint32_t)persons;
    to->dict.offsets = kn_alloc_array_zero(j->ctx, persons + 1, sizeof *to->dict.offsets);
    to->dict.integers = kn_alloc_array(j->ctx, persons + 1, sizeof *to->dict.integers);
    j->weights = kn_alloc_array(j->ctx, (size_t)j->quasi_count + 1, sizeof *j->weights);
    if (!codes || !to->dict.offsets || !to->dict.integers || !j->weights) return kn_fail_memory(err, j->ctx, what);
    for (size_t i = 0; i < persons; i++) to->dict.integers[i] = (int64_t)i;
    for (int64_t e = 0; e < j->forest->entities; e++)
        for (; row < j->row_count && j->nodes[row * width] < j->forest->start[e + 1]; row++)
            codes[row] = (uint32_t)j->numbers[e];
    for (int c = 0; c < j->quasi_count; c++) j->weights[c] = (kn_ratio){1, 1};
    j->weights[j->quasi_count] = (kn_ratio){1, (uint64_t)1 << 32};
    j->bound[j->quasi_count] = NULL;
    j->columns[j->quasi_count] = j->quasi_count;
    j->table.column_count++;
    return KN_OK;
}

static kn_status make_table(joining *j, kn_error *err)
{
    size_t n = (size_t)j->quasi_count + 1;
    j->columns = kn_alloc_array(j->ctx, n, sizeof *j->columns);
    j->hierarchies = kn_alloc_array(j->ctx, n, sizeof *j->hierarchies);
    j->bound = kn_alloc_array(j->ctx, n, sizeof *j->bound);
    j->table = (kn_table){.ctx = j->ctx, .rows = (int64_t)j->row_count, .column_count = j->quasi_count};
    j->table.columns = kn_alloc_array_zero(j->ctx, n, sizeof *j->table.columns);
    if (!j->columns || !j->hierarchies || !j->bound || !j->table.columns) return kn_fail_memory(err, j->ctx, what);
    for (int c = 0; c < j->quasi_count; c++) KN_TRY(make_column(j, c, err));
    return j->numbers ? make_key(j, err) : KN_OK;
}

static kn_status find_quasi(joining *j, kn_error *err)
{
    int most = 0;
    for (int i = 0; i < j->join->table_count; i++) most += table_of(j, i)->quasi_count;
    j->place = kn_alloc_array(j->ctx, (size_t)most + 1, sizeof *j->place);
    j->quasi = kn_alloc_array(j->ctx, (size_t)most + 1, sizeof *j->quasi);
    j->row = kn_alloc_array(j->ctx, (size_t)j->join->table_count, sizeof *j->row);
    if (!j->place || !j->quasi || !j->row) return kn_fail_memory(err, j->ctx, what);
    for (int i = 0; i < j->join->table_count; i++) {
        j->row[i] = NOBODY;
        for (int q = 0; q < table_of(j, i)->quasi_count; q++) {
            j->place[j->quasi_count] = i;
            j->quasi[j->quasi_count++] = q;
        }
    }
    return KN_OK;
}

/* ---- What it shows ---- */

/* The cell as a node of its hierarchy; cells of these cuts are never ranges or sets. */
static uint32_t node_of(const kn_cell *cell, const kn_hierarchy *h)
{
    if (cell->kind == KN_CELL_VALUE) return h->leaf_of_code[cell->a];
    return cell->kind == KN_CELL_NODE ? cell->a : h->nodes - 1;
}

static void show(joining *j, const kn_plan *plan)
{
    for (size_t r = 0; r < j->row_count; r++)
        for (int c = 0; c < j->quasi_count; c++) {
            const kn_hierarchy *h = &j->hierarchies[c];
            uint64_t            node = j->nodes[r * (size_t)j->join->table_count + (size_t)j->place[c]];
            if (node == NOBODY) continue;
            const kn_cell *cell = &plan->cells[plan->class_of_row[r] * (size_t)j->quasi_count + (size_t)c];
            uint32_t       now = node_of(cell, h);
            uint32_t      *so_far = &j->cells[node * (uint64_t)j->width + (uint64_t)j->quasi[c]];
            if (h->last[now] - h->first[now] < h->last[*so_far] - h->first[*so_far]) *so_far = now;
        }
}

static kn_status partition(joining *j, kn_error *err)
{
    const kn_model                model = {.kind = KN_MODEL_K, .k = j->k};
    const kn_requirements_options asked = {.models = &model, .model_count = 1, .entity = -1};
    kn_requirements              *requirements = NULL;
    kn_partition_counters         counters;
    bool                          found = false;
    KN_TRY(kn_requirements_make(&requirements, j->ctx, &j->table, &asked, err));
    const kn_partition_problem problem = {.table = &j->table,
                                          .quasi_count = j->table.column_count,
                                          .quasi = j->columns,
                                          .hierarchies = j->bound,
                                          .weights = j->weights,
                                          .requirements = requirements,
                                          .method = KN_METHOD_MONDRIAN,
                                          .choose = KN_CHOOSE_RANGE};
    kn_status                  st = kn_partition_search(&j->plan, &found, &counters, j->ctx, &problem, err);
    if (st == KN_OK && found && !j->numbers) show(j, j->plan);
    kn_requirements_free(requirements);
    return st;
}

static void end_join(joining *j)
{
    for (int c = 0; j->table.columns && c < j->quasi_count; c++) kn_free(j->table.columns[c].codes);
    if (j->table.columns && j->numbers) {
        const kn_column *key = &j->table.columns[j->quasi_count];
        KN_FREE(key->codes, key->dict.offsets, key->dict.integers);
    }
    kn_plan_free(j->plan);
    KN_FREE(j->table.columns, j->nodes, j->row, j->place, j->quasi, j->columns, j->hierarchies, j->bound, j->weights);
}

static kn_status anonymize(const joining *all, kn_demo_join *join, kn_error *err)
{
    joining   j = *all;
    kn_status st;
    j.join = join;
    st = find_quasi(&j, err);
    if (st == KN_OK) st = find_rows(&j, err);
    join->rows = (int64_t)j.row_count;
    if (st == KN_OK && j.quasi_count > 0 && join->rows >= j.k) {
        st = make_table(&j, err);
        if (st == KN_OK) st = partition(&j, err);
    }
    end_join(&j);
    return st;
}

/* ---- As a plan ---- */

/* Does an entity show the tree of the one before it? Equal trees have equal arrays. */
static bool as_before(const joining *j, int64_t e)
{
    const kn_forest *f = j->forest;
    if (e == 0 || f->subtree[f->start[e]] != f->subtree[f->start[e - 1]]) return false;
    size_t cells = (size_t)(f->start[e + 1] - f->start[e]) * (size_t)j->width;
    return memcmp(j->cells + f->start[e] * (uint64_t)j->width, j->cells + f->start[e - 1] * (uint64_t)j->width,
                  cells * sizeof *j->cells) == 0;
}

static void begin_class(kn_database_plan *p, const joining *j, uint32_t c, int64_t e)
{
    const kn_forest *f = j->forest;
    uint64_t         from = f->start[e], to = p->node_start[c];
    size_t           nodes = (size_t)(f->start[e + 1] - from);
    memcpy(p->table + to, f->table + from, nodes * sizeof *p->table);
    memcpy(p->parent + to, f->parent + from, nodes * sizeof *p->parent);
    memcpy(p->first_child + to, f->first_child + from, nodes * sizeof *p->first_child);
    memcpy(p->child_count + to, f->child_count + from, nodes * sizeof *p->child_count);
    memcpy(p->values + to * (uint64_t)j->width, j->cells + from * (uint64_t)j->width,
           nodes * (size_t)j->width * sizeof *p->values);
    p->node_start[c + 1] = to + nodes;
    p->member_start[c] = (uint64_t)e;
    p->row_start[c] = from; /* every node of the forest is somebody's: rows follow the forest's order */
}

static kn_status make_plan(kn_database_plan **out, const joining *j, kn_error *err)
{
    const kn_forest  *f = j->forest;
    kn_database_plan *p;
    uint32_t          classes = 0, c = 0;
    uint64_t          nodes = 0;
    for (int64_t e = 0; e < f->entities; e++) {
        if (as_before(j, e)) continue;
        classes++;
        nodes += f->start[e + 1] - f->start[e];
    }
    KN_TRY(kn_database_plan_create(&p, j->ctx, f->entities, classes, nodes, f->nodes, j->width, err));
    for (int64_t e = 0; e < f->entities; e++) {
        if (!as_before(j, e)) begin_class(p, j, c++, e);
        p->class_of_entity[e] = c - 1;
        p->members[e] = (uint32_t)e;
    }
    memcpy(p->rows, f->row, (size_t)f->nodes * sizeof *p->rows);
    p->member_start[classes] = (uint64_t)f->entities;
    p->row_start[classes] = f->nodes;
    *out = p;
    return KN_OK;
}

/* Nothing is shown so far: roots. */
static kn_status make_cells(joining *j, kn_error *err)
{
    const kn_forest *f = j->forest;
    j->width = 1;
    for (int t = 0; t < f->db->table_count; t++)
        if (f->db->tables[t].quasi_count > j->width) j->width = f->db->tables[t].quasi_count;
    j->cells = kn_alloc_array_zero(j->ctx, (size_t)f->nodes + 1, (size_t)j->width * sizeof *j->cells);
    if (!j->cells) return kn_fail_memory(err, j->ctx, what);
    for (uint64_t v = 0; v < f->nodes; v++) {
        const kn_database_table *t = &f->db->tables[f->table[v]];
        for (int q = 0; q < t->quasi_count; q++)
            j->cells[v * (uint64_t)j->width + (uint64_t)q] = t->columns[t->quasi[q]].hierarchy->nodes - 1;
    }
    return KN_OK;
}

kn_status kn_demo_release(kn_database_plan **out, kn_context *ctx, const kn_forest *forest, kn_demo_join *joins,
                          int join_count, int64_t k, kn_error *err)
{
    joining j = {.ctx = ctx, .forest = forest, .k = k};
    *out = NULL;
    kn_status st = make_cells(&j, err);
    for (int i = 0; i < join_count && st == KN_OK; i++) st = anonymize(&j, &joins[i], err);
    if (st == KN_OK) st = make_plan(out, &j, err);
    kn_free(j.cells);
    return st;
}

/* ---- Generalized keys ---- */

struct kn_demo_keyed {
    joining      j;
    kn_demo_join join;
    size_t      *first; /* per entity; one more */
    uint32_t     classes;
    size_t      *class_first; /* per class; one more  */
    size_t      *class_rows;
};

/* Persons in the order of their table. */
static kn_status number_persons(joining *j, kn_error *err)
{
    const kn_forest *f = j->forest;
    size_t           rows = (size_t)f->db->tables[f->db->entity].table->rows;
    int64_t         *at = kn_alloc_array_zero(j->ctx, rows + 1, sizeof *at), count = 0;
    j->numbers = kn_alloc_array_zero(j->ctx, (size_t)f->entities + 1, sizeof *j->numbers);
    if (at && j->numbers) {
        for (int64_t e = 0; e < f->entities; e++) at[f->row[f->start[e]]] = 1;
        for (size_t r = 0; r < rows; r++) {
            int64_t here = at[r];
            at[r] = count;
            count += here;
        }
        for (int64_t e = 0; e < f->entities; e++) j->numbers[e] = at[f->row[f->start[e]]];
    }
    kn_free(at);
    return at && j->numbers ? KN_OK : kn_fail_memory(err, j->ctx, what);
}

static uint32_t class_of(const kn_demo_keyed *keyed, size_t row)
{
    return keyed->j.plan ? keyed->j.plan->class_of_row[row] : 0;
}

static kn_status list_rows(kn_demo_keyed *keyed, kn_error *err)
{
    joining *j = &keyed->j;
    size_t   width = (size_t)j->join->table_count, row = 0, n = (size_t)j->forest->entities;
    keyed->classes = j->plan ? j->plan->classes : 1;
    keyed->first = kn_alloc_array_zero(j->ctx, n + 1, sizeof *keyed->first);
    keyed->class_first = kn_alloc_array_zero(j->ctx, (size_t)keyed->classes + 2, sizeof *keyed->class_first);
    keyed->class_rows = kn_alloc_array(j->ctx, j->row_count + 1, sizeof *keyed->class_rows);
    if (!keyed->first || !keyed->class_first || !keyed->class_rows) return kn_fail_memory(err, j->ctx, what);
    for (size_t e = 0; e < n; e++) {
        while (row < j->row_count && j->nodes[row * width] < j->forest->start[e + 1]) row++;
        keyed->first[e + 1] = row;
    }
    for (row = 0; row < j->row_count; row++) keyed->class_first[class_of(keyed, row) + 2]++;
    for (uint32_t c = 0; c < keyed->classes; c++) keyed->class_first[c + 2] += keyed->class_first[c + 1];
    for (row = 0; row < j->row_count; row++) keyed->class_rows[keyed->class_first[class_of(keyed, row) + 1]++] = row;
    return KN_OK;
}

kn_status kn_demo_keyed_make(kn_demo_keyed **out, kn_context *ctx, const kn_forest *forest, const kn_demo_join *join,
                             int64_t k, kn_error *err)
{
    kn_demo_keyed *keyed = *out = kn_alloc_zero(ctx, sizeof *keyed);
    if (!keyed) return kn_fail_memory(err, ctx, what);
    keyed->join = *join;
    keyed->j = (joining){.ctx = ctx, .forest = forest, .k = k, .join = &keyed->join};
    KN_TRY(number_persons(&keyed->j, err));
    KN_TRY(find_quasi(&keyed->j, err));
    KN_TRY(find_rows(&keyed->j, err));
    if ((int64_t)keyed->j.row_count >= k) {
        KN_TRY(make_table(&keyed->j, err));
        KN_TRY(partition(&keyed->j, err));
    }
    return list_rows(keyed, err);
}

void kn_demo_keyed_free(kn_demo_keyed *keyed)
{
    if (!keyed) return;
    end_join(&keyed->j);
    KN_FREE(keyed->j.numbers, keyed->first, keyed->class_first, keyed->class_rows, keyed);
}

const size_t *kn_demo_keyed_first(const kn_demo_keyed *keyed)
{
    return keyed->first;
}

uint64_t kn_demo_keyed_node(const kn_demo_keyed *keyed, size_t row, int table)
{
    for (int i = 0; i < keyed->join.table_count; i++)
        if (keyed->join.tables[i] == table) return keyed->j.nodes[row * (size_t)keyed->join.table_count + (size_t)i];
    return NOBODY;
}

bool kn_demo_keyed_has(const kn_demo_keyed *keyed, int table)
{
    for (int i = 0; i < keyed->join.table_count; i++)
        if (keyed->join.tables[i] == table) return true;
    return false;
}

uint32_t kn_demo_keyed_classes(const kn_demo_keyed *keyed)
{
    return keyed->classes;
}

const size_t *kn_demo_keyed_rows(const kn_demo_keyed *keyed, uint32_t class, size_t *count)
{
    *count = keyed->class_first[class + 1] - keyed->class_first[class];
    return keyed->class_rows + keyed->class_first[class];
}

bool kn_demo_keyed_covers(const kn_demo_keyed *keyed, uint32_t class, size_t row)
{
    const joining *j = &keyed->j;
    if (!j->plan) return true;
    const kn_cell *cells = j->plan->cells + (size_t) class * (size_t)j->plan->quasi_count;
    for (int c = 0; c < j->quasi_count; c++)
        if (!kn_cell_covers(j->plan, &cells[c], kn_column_code(&j->table.columns[c], row), &j->hierarchies[c]))
            return false;
    return true;
}

void kn_demo_keyed_range(const kn_demo_keyed *keyed, uint32_t class, int64_t *low, int64_t *high)
{
    const joining *j = &keyed->j;
    *low = 0;
    *high = j->forest->entities - 1;
    if (!j->plan) return;
    const kn_cell *cell = &j->plan->cells[(size_t) class * (size_t)j->plan->quasi_count + (size_t)j->quasi_count];
    if (cell->kind == KN_CELL_STAR) return;
    *low = cell->a;
    *high = cell->kind == KN_CELL_RANGE ? cell->b : cell->a;
}
