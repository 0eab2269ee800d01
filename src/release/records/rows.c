/* records/rows.c: kn_records_rows.h.
 *
 * A record is taken node by node. A *head* is a node whose parent is of another table; its *ends* are the nodes of its table below
 * it with no node of that table below them (often itself): each is a row. Only heads have nodes of other tables below them, since
 * rows of a database are below the first node of the row they belong to, and a release adds no relation.
 *
 * Cost: linear in the nodes. Memory: 12 bytes per row, and 20 per node of the largest record.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_records_rows.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"

#define ROOT KN_RECORDS_ROOT
#define NONE UINT32_MAX
#define WHAT "making rows of records"

/* The rows of a table. */
typedef struct list {
    size_t    count;
    uint32_t *parent, *record,
        *end; /* the parent table's row; whose; the last node of the row, NONE: it shows nothing */
    size_t parent_room, record_room, end_room;
} list;

struct kn_records_rows {
    kn_context            *ctx;
    const kn_database     *db;
    const kn_records      *records;
    const kn_class_column *columns;
    int                  **class_of; /* per table and column: its class; -1: none */
    list                  *lists;
    kn_release_rows       *tables;
    int                    width;  /* classes of the table of persons */
    int                   *place;  /* per class: among these          */
    uint32_t              *person; /* per record and such a class: a value; NONE */
    kn_database_rows       out;
};

/* While a record is taken: per node, `head`, `ends`, `bearer` and the nodes below it; per table the empty row. */
typedef struct taking {
    kn_records_rows *rows;
    uint32_t         record, size;
    uint64_t         first;
    uint32_t        *head, *ends;  /* of heads: how many                                        */
    uint32_t        *bearer;       /* of heads: the row that others belong to; NONE              */
    uint32_t        *base;         /* of heads: the row that its rows belong to                  */
    uint32_t        *below, *next; /* its first child, and the next of its parent; below[size]: of the record */
    uint32_t        *empty;        /* per table: the empty row for the node at hand; NONE        */
} taking;

static kn_status no_memory(const kn_records_rows *r, kn_error *err)
{
    return kn_fail_memory(err, r->ctx, WHAT);
}

static kn_status mistake(kn_error *err)
{
    return kn_fail(err, KN_INTERNAL, "a released record is no tree of the database's tables");
}

/* ---- Cells ---- */

static int class_of_node(const kn_records_rows *r, uint64_t node)
{
    return r->records->vocabulary->cls[r->records->value[node]];
}

static int table_of_node(const kn_records_rows *r, uint64_t node)
{
    return r->columns[class_of_node(r, node)].table;
}

/* The value in a row's cell; NONE: it is missing. */
static uint32_t value_at(const kn_records_rows *r, int table, int cls, int64_t row)
{
    const kn_records *records = r->records;
    if (table == r->db->entity) return r->person[row * r->width + r->place[cls]];
    const list *l = &r->lists[table];
    uint64_t    first = records->start[l->record[row]];
    for (uint32_t i = l->end[row]; i != NONE && i != ROOT; i = records->parent[first + i]) {
        if (table_of_node(r, first + i) != table) return NONE;
        if (class_of_node(r, first + i) == cls) return records->value[first + i];
    }
    return NONE;
}

static bool cell(const void *arg, int table, int column, int64_t row, kn_string *out)
{
    const kn_records_rows *r = arg;
    const kn_vocabulary   *v = r->records->vocabulary;
    int                    cls = r->class_of[table][column];
    uint32_t               value = cls < 0 ? NONE : value_at(r, table, cls, row);
    if (value == NONE) return false;
    *out = kn_vocabulary_label(v, value);
    if (value == v->top[cls] && kn_string_equal(*out, kn_string_of(v->class_names[cls]))) *out = kn_string_of("*");
    return true;
}

/* ---- Rows ---- */

static kn_status add_row(taking *t, int table, uint32_t parent, uint32_t end, uint32_t *out, kn_error *err)
{
    list  *l = &t->rows->lists[table];
    size_t need = l->count + 1;
    if (need > UINT32_MAX - 3) return kn_fail(err, KN_INPUT, "too many rows");
    if (!KN_GROW(t->rows->ctx, &l->parent, &l->parent_room, need) ||
        !KN_GROW(t->rows->ctx, &l->record, &l->record_room, need) ||
        !KN_GROW(t->rows->ctx, &l->end, &l->end_room, need))
        return no_memory(t->rows, err);
    l->parent[l->count] = parent;
    l->record[l->count] = t->record;
    l->end[l->count] = end;
    *out = (uint32_t)l->count++;
    return KN_OK;
}

/* The row of `up` that what is below the node `from` of the table `at` belongs to: its own, `row`, or an empty one. */
static kn_status row_of(taking *t, int at, uint32_t row, int up, uint32_t *out, kn_error *err)
{
    uint32_t above = NONE;
    if (up < 0 || row == NONE) return mistake(err);
    if (up == at) {
        *out = row;
        return KN_OK;
    }
    if (t->empty[up] == NONE) {
        KN_TRY(row_of(t, at, row, t->rows->db->tables[up].parent, &above, err));
        KN_TRY(add_row(t, up, above, NONE, &t->empty[up], err));
    }
    *out = t->empty[up];
    return KN_OK;
}

/* A head below `from` (ROOT: the record). */
static kn_status take_head(taking *t, uint32_t from, uint32_t node, kn_error *err)
{
    const kn_records_rows *r = t->rows;
    int                    table = table_of_node(r, t->first + node);
    int                    at = from == ROOT ? r->db->entity : table_of_node(r, t->first + from);
    bool                   bears = false;
    KN_TRY(row_of(t, at, from == ROOT ? t->record : t->bearer[from], r->db->tables[table].parent, &t->base[node], err));
    for (uint32_t c = t->below[node]; c != NONE; c = t->next[c]) bears = bears || t->head[c] == c;
    t->bearer[node] = NONE;
    return bears ? add_row(t, table, t->base[node], node, &t->bearer[node], err) : KN_OK;
}

static kn_status take_heads(taking *t, uint32_t from, kn_error *err)
{
    uint32_t first = t->below[from == ROOT ? t->size : from];
    for (int i = 0; first != NONE && i < t->rows->db->table_count; i++) t->empty[i] = NONE;
    for (uint32_t c = first; c != NONE; c = t->next[c]) {
        if (t->head[c] != c || table_of_node(t->rows, t->first + c) == t->rows->db->entity) continue;
        if (from != ROOT && t->head[from] != from) return mistake(err);
        KN_TRY(take_head(t, from, c, err));
    }
    return KN_OK;
}

static kn_status take_ends(taking *t, kn_error *err)
{
    const kn_records_rows *r = t->rows;
    for (uint32_t i = 0; i < t->size; i++) {
        int      table = table_of_node(r, t->first + i);
        uint32_t head = t->head[i], row;
        bool     inner = false;
        if (table == r->db->entity) {
            r->person[(size_t)t->record * (size_t)r->width + (size_t)r->place[class_of_node(r, t->first + i)]] =
                r->records->value[t->first + i];
            if (t->below[i] != NONE || r->records->parent[t->first + i] != ROOT) return mistake(err);
            continue;
        }
        for (uint32_t c = t->below[i]; c != NONE; c = t->next[c]) inner = inner || t->head[c] != c;
        if (inner) continue;
        if (t->ends[head] == 1 && t->bearer[head] != NONE)
            r->lists[table].end[t->bearer[head]] = i;
        else
            KN_TRY(add_row(t, table, t->base[head], i, &row, err));
    }
    return KN_OK;
}

/* Heads, ends and children of all nodes. */
static void look(taking *t)
{
    const kn_records_rows *r = t->rows;
    const uint32_t        *parent = r->records->parent + t->first;
    t->below[t->size] = NONE;
    for (uint32_t i = 0; i < t->size; i++) {
        uint32_t p = parent[i];
        bool     own = p != ROOT && table_of_node(r, t->first + p) == table_of_node(r, t->first + i);
        t->head[i] = own ? t->head[p] : i;
        t->below[i] = NONE;
        t->ends[i] = 0;
    }
    for (uint32_t i = t->size; i-- > 0;) {
        uint32_t p = parent[i] == ROOT ? t->size : parent[i];
        bool     inner = false;
        for (uint32_t c = t->below[i]; c != NONE; c = t->next[c]) inner = inner || t->head[c] != c;
        t->ends[t->head[i]] += !inner;
        t->next[i] = t->below[p];
        t->below[p] = i;
    }
}

static kn_status take_record(taking *t, int64_t record, kn_error *err)
{
    const kn_records *records = t->rows->records;
    t->record = (uint32_t)record;
    t->first = records->start[record];
    t->size = (uint32_t)(records->start[record + 1] - t->first);
    look(t);
    KN_TRY(take_heads(t, ROOT, err));
    for (uint32_t i = 0; i < t->size; i++) KN_TRY(take_heads(t, i, err));
    return take_ends(t, err);
}

static kn_status take_records(kn_records_rows *r, kn_error *err)
{
    taking     t = {.rows = r};
    size_t     largest = 0;
    uint32_t **arrays[] = {&t.head, &t.ends, &t.bearer, &t.base, &t.below, &t.next};
    kn_status  st = KN_OK;
    for (int64_t i = 0; i < r->records->count; i++)
        if (r->records->start[i + 1] - r->records->start[i] > largest)
            largest = (size_t)(r->records->start[i + 1] - r->records->start[i]);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        if (!(*arrays[i] = kn_alloc_array(r->ctx, largest + 1, sizeof **arrays[i]))) st = no_memory(r, err);
    t.empty = kn_alloc_array(r->ctx, (size_t)r->db->table_count + 1, sizeof *t.empty);
    if (!t.empty) st = no_memory(r, err);
    for (int64_t i = 0; i < r->records->count && st == KN_OK; i++) st = take_record(&t, i, err);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) kn_free(*arrays[i]);
    kn_free(t.empty);
    return st;
}

/* ---- The schema ---- */

/* Which column is which class; the others are not written, unless they are keys. */
static kn_status set_columns(kn_records_rows *r, kn_database *db, bool texts, kn_error *err)
{
    const kn_vocabulary *v = r->records->vocabulary;
    r->class_of = kn_alloc_array_zero(r->ctx, (size_t)db->table_count + 1, sizeof *r->class_of);
    r->place = kn_alloc_array_zero(r->ctx, (size_t)v->class_count + 1, sizeof *r->place);
    if (!r->class_of || !r->place) return no_memory(r, err);
    for (int t = 0; t < db->table_count; t++) {
        int count = db->tables[t].table->column_count;
        r->class_of[t] = kn_alloc_array(r->ctx, (size_t)count + 1, sizeof **r->class_of);
        if (!r->class_of[t]) return no_memory(r, err);
        for (int c = 0; c < count; c++) {
            r->class_of[t][c] = -1;
            db->tables[t].columns[c].has_role = false;
        }
    }
    for (int c = 0; c < v->class_count; c++) {
        kn_database_column *column = &db->tables[r->columns[c].table].columns[r->columns[c].column];
        r->class_of[r->columns[c].table][r->columns[c].column] = c;
        column->has_role = true;
        if (texts) column->role = KN_ROLE_QUASI;
        if (r->columns[c].table == db->entity) r->place[c] = r->width++;
    }
    return KN_OK;
}

static kn_status make(kn_records_rows *r, kn_database *db, bool texts, uint64_t seed, kn_error *err)
{
    const kn_records *records = r->records;
    for (uint64_t i = 0; i < records->nodes; i++)
        if (records->vocabulary->cls[records->value[i]] == KN_VOCABULARY_NO_CLASS)
            return kn_fail(err, KN_USAGE,
                           "the records would show * alone, which has no column: ask for less, or release them as JSON "
                           "(--output FILE.json)");
    KN_TRY(set_columns(r, db, texts, err));
    size_t cells = (size_t)records->count * (size_t)r->width + 1;
    r->lists = kn_alloc_array_zero(r->ctx, (size_t)db->table_count + 1, sizeof *r->lists);
    r->tables = kn_alloc_array_zero(r->ctx, (size_t)db->table_count + 1, sizeof *r->tables);
    r->person = kn_alloc_array(r->ctx, cells, sizeof *r->person);
    if (!r->lists || !r->tables || !r->person) return no_memory(r, err);
    memset(r->person, 0xff, cells * sizeof *r->person);
    KN_TRY(take_records(r, err));
    for (int t = 0; t < db->table_count; t++) {
        bool persons = t == db->entity;
        r->tables[t] = (kn_release_rows){persons ? records->count : (int64_t)r->lists[t].count, r->lists[t].parent};
    }
    r->out = (kn_database_rows){.db = db, .tables = r->tables, .cell = cell, .arg = r, .seed = seed};
    return KN_OK;
}

/* ---- Interface ---- */

kn_status kn_records_rows_make(kn_records_rows **out, kn_context *ctx, kn_database *db, const kn_records *released,
                               const kn_class_column *columns, bool texts, uint64_t seed, kn_error *err)
{
    kn_records_rows *r = kn_alloc_zero(ctx, sizeof *r);
    *out = NULL;
    if (!r) return kn_fail_memory(err, ctx, WHAT);
    r->ctx = ctx;
    r->db = db;
    r->records = released;
    r->columns = columns;
    kn_status st = make(r, db, texts, seed, err);
    if (st == KN_OK)
        *out = r;
    else
        kn_records_rows_free(r);
    return st;
}

void kn_records_rows_free(kn_records_rows *r)
{
    if (!r) return;
    for (int t = 0; t < r->db->table_count; t++) {
        if (r->class_of) kn_free(r->class_of[t]);
        if (r->lists) KN_FREE(r->lists[t].parent, r->lists[t].record, r->lists[t].end);
    }
    KN_FREE(r->class_of, r->lists, r->tables, r->place, r->person, r);
}

const kn_database_rows *kn_records_rows_of(const kn_records_rows *r)
{
    return &r->out;
}
