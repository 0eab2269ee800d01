/* records/released.c: persons that were released as trees and written as a database: read as records, and whether the database holds
 * these records and nothing else.
 *
 * Its tables, columns and keys are checked as those of any released database (database/schema.c, join.c, keys.c, drawn.c, form.c),
 * with the columns of the classes alone. Its rows become nodes by the rule of database.c, labels of any level; a cell * is the class's
 * name. Many databases show the same records, and which of them it is must tell nothing: so a row that shows nothing has rows
 * below it; rows of one parent differ; and of those that begin with the same node none goes on where another ends, and none has
 * rows below it, except one that shows that node alone while two or more others go on. This leaves one way to write a record:
 * by induction from the person down, the row that stands for a node, where others belong to it, is the only one that may.
 *
 * Cost: both databases are read; siblings are sorted. Memory: both as texts, 16 bytes per row of a table.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_sort.h"
#include "kn_verify_database.h"
#include "kn_verify_records.h"

typedef struct reading {
    kn_vdb                     v;
    kn_records_verifier       *of;
    kn_spec                    spec; /* with the attributes of classes alone */
    kn_database_verify_options options;
    kn_database_verify_report  report;
    kn_vclass_column          *classes; /* per class, of the original */
    const kn_records_sink     *sink;
    int64_t                    nodes; /* of the current record */
} reading;

/* ---- The request ---- */

static bool has_class(const reading *r, int table, const char *column)
{
    for (int c = 0; c < r->spec.class_count; c++)
        if (r->classes[c].table == table &&
            strcmp(kn_vsheet_name(&r->v.original.list[table], r->classes[c].column), column) == 0)
            return true;
    return false;
}

/* A column that is no class's is not released. */
static kn_status keep_classes(reading *r, kn_error *err)
{
    kn_spec_table *tables = kn_vdb_take(&r->v, (size_t)r->spec.table_count, sizeof *tables);
    r->classes = kn_vdb_take(&r->v, (size_t)r->spec.class_count, sizeof *r->classes);
    if (!tables || !r->classes) return kn_vdb_no_memory(&r->v, err);
    for (int c = 0; c < r->spec.class_count; c++)
        KN_TRY(kn_vrecords_find_column(&r->v, r->spec.classes[c].name, &r->classes[c], err));
    for (int t = 0; t < r->spec.table_count; t++) {
        const kn_spec_table *from = &r->spec.tables[t];
        kn_attribute        *kept = kn_vdb_take(&r->v, (size_t)from->attribute_count, sizeof *kept);
        int                  at = kn_vsheets_find(&r->v.original, from->name);
        if (!kept) return kn_vdb_no_memory(&r->v, err);
        tables[t] = *from;
        tables[t].attributes = kept;
        tables[t].attribute_count = 0;
        for (int a = 0; at >= 0 && a < from->attribute_count; a++)
            if (has_class(r, at, from->attributes[a].name)) kept[tables[t].attribute_count++] = from->attributes[a];
    }
    r->spec.tables = tables;
    return KN_OK;
}

/* ---- One way to write them ---- */

typedef struct cells {
    const reading *r;
    int            table;
} cells;

/* The next cell of a row that is not missing, from a class on: its class, or the number of classes. */
static int next_cell(const cells *s, uint32_t row, int from, uint32_t *code)
{
    const kn_vdb_table *t = &s->r->v.tables[s->table];
    for (; from < s->r->spec.class_count; from++) {
        if (s->r->classes[from].table != s->table) continue;
        int column = t->released[s->r->classes[from].column];
        *code = kn_vsheet_code(t->release.table, column, row);
        if (*code < kn_vsheet_distinct(t->release.table, column)) break;
    }
    return from;
}

/* How many cells both begin with; *length: how many the first has. */
static int in_common(const cells *s, uint32_t a, uint32_t b, int *length)
{
    int      x = -1, y = -1, last = s->r->spec.class_count, common = 0;
    uint32_t first = 0, second = 0;
    bool     same = true;
    *length = 0;
    for (;;) {
        x = next_cell(s, a, x + 1, &first);
        if (x >= last) return common;
        ++*length;
        if (same) y = next_cell(s, b, y + 1, &second);
        same = same && x == y && first == second;
        common += same;
    }
}

static int by_cells(const void *arg, uint64_t a, uint64_t b)
{
    const cells *s = arg;
    int          last = s->r->spec.class_count;
    uint32_t     first = 0, second = 0;
    for (int x = -1, y = -1;;) {
        x = next_cell(s, (uint32_t)a, x + 1, &first);
        y = next_cell(s, (uint32_t)b, y + 1, &second);
        if (x >= last || y >= last) return x >= last && y >= last ? (a < b ? -1 : a > b) : x >= last ? -1 : 1;
        if (x != y) return x < y ? -1 : 1;
        if (first != second) return first < second ? -1 : 1;
    }
}

static bool has_rows_below(const kn_vdb *v, int table, uint32_t row)
{
    for (int i = 0; i < v->tables[table].child_count; i++) {
        const kn_vdb_rows *below = &v->tables[v->tables[table].children[i]].release;
        if (below->start[row + 1] > below->start[row]) return true;
    }
    return false;
}

/* What is wrong with a row among the `count` rows of its parent that begin with the same node, itself the `at`-th; NULL: nothing. */
static const char *wrong_with(const cells *s, const kn_sort_record *rows, size_t at, size_t count)
{
    uint32_t row = (uint32_t)rows[at].id;
    bool     bears = has_rows_below(&s->r->v, s->table, row), goes_on = false;
    int      length, other;
    (void)in_common(s, row, row, &length);
    if (length == 0 && !bears) return "it shows nothing, and nothing belongs to it";
    if (at + 1 < count) {
        goes_on = in_common(s, row, (uint32_t)rows[at + 1].id, &length) == length;
        (void)in_common(s, (uint32_t)rows[at + 1].id, row, &other);
        if (goes_on && other == length) return "another row of the same parent shows the same";
    }
    if (count == 1) return NULL;
    bool alone = length == 1 && goes_on && count > 2;
    if (goes_on && !(alone && bears)) return "another row of the same parent shows the same and more";
    if (bears && !alone) return "what belongs to it must belong to a row that shows its first value alone";
    return NULL;
}

static kn_status check_table(reading *r, int table, kn_error *err)
{
    kn_vdb            *v = &r->v;
    const kn_vdb_rows *rows = &v->tables[table].release;
    kn_sort_record    *order = kn_alloc_array(v->ctx, (size_t)rows->rows + 1, sizeof *order);
    cells              s = {r, table};
    size_t             n = 0;
    int                shown = 0;
    if (!order) return kn_vdb_no_memory(v, err);
    for (int64_t row = 0; row < rows->rows; row++)
        if (rows->parent[row] != KN_V_NONE) order[n++] = (kn_sort_record){rows->parent[row], (uint64_t)row};
    kn_status st = kn_sort_records(v->ctx, order, n, by_cells, &s, err);
    for (size_t first = 0, end; st == KN_OK && first < n; first = end) {
        int length;
        for (end = first + 1; end < n && order[end].key == order[first].key; end++) {
            int common = in_common(&s, (uint32_t)order[first].id, (uint32_t)order[end].id, &length), other;
            (void)in_common(&s, (uint32_t)order[end].id, (uint32_t)order[first].id, &other);
            if (length == 0 ? other > 0 : common == 0) break;
        }
        for (size_t i = first; i < end; i++) {
            const char *wrong = wrong_with(&s, order + first, i - first, end - first);
            if (wrong && shown++ < KN_VDB_SHOWN)
                kn_vproblem(v->notes, "table \"%s\", row %" PRId64 ": %s", v->tables[table].name,
                            (int64_t)order[i].id + 1, wrong);
        }
    }
    kn_free(order);
    return st;
}

/* ---- Records ---- */

static kn_status tell_row(reading *r, int table, uint32_t row, int64_t from, kn_error *err)
{
    static const kn_records_place nowhere = {"the release", 0, 0};
    const kn_vdb                 *v = &r->v;
    const kn_vdb_table           *t = &v->tables[table];
    cells                         s = {r, table};
    int64_t                       above = from, head = from;
    uint32_t                      code = 0;
    for (int c = next_cell(&s, row, 0, &code); c < r->spec.class_count; c = next_cell(&s, row, c + 1, &code)) {
        kn_string text = kn_vsheet_text(t->release.table, t->released[r->classes[c].column], code);
        if (kn_string_equal(text, kn_string_of("*"))) text = kn_string_of(r->spec.classes[c].name);
        KN_TRY(r->sink->node(r->sink->state, above, c, text, &nowhere, err));
        if (table != v->person && head == from) head = r->nodes;
        if (table != v->person) above = r->nodes;
        r->nodes++;
    }
    for (int i = 0; i < t->child_count; i++) {
        const kn_vdb_rows *below = &v->tables[t->children[i]].release;
        for (uint32_t b = below->start[row]; b < below->start[row + 1]; b++)
            KN_TRY(tell_row(r, t->children[i], below->list[b], head, err));
    }
    return KN_OK;
}

static kn_status tell_records(reading *r, kn_error *err)
{
    kn_records_place nowhere = {"the release", 0, 0};
    for (int64_t p = 0; p < r->v.tables[r->v.person].release.rows; p++) {
        r->nodes = 0;
        KN_TRY(r->sink->record(r->sink->state, (kn_string){NULL, 0}, &nowhere, err));
        KN_TRY(tell_row(r, r->v.person, (uint32_t)p, -1, err));
    }
    return KN_OK;
}

/* The map of persons, which match.c checks, and whether keys were drawn, by it. */
static kn_status take_map(reading *r, kn_error *err)
{
    kn_vdb *v = &r->v;
    int64_t persons = v->tables[v->person].release.rows;
    if (!r->options.map && !r->options.map_path) return KN_OK;
    KN_TRY(kn_vdb_take_map(v, err));
    r->of->map = kn_alloc_array(v->ctx, (size_t)persons + 1, sizeof *r->of->map);
    if (!r->of->map) return kn_vdb_no_memory(v, err);
    memcpy(r->of->map, v->map, (size_t)persons * sizeof *v->map);
    bool good = !v->notes->failed;
    for (int64_t p = 0; p < persons; p++)
        good = good && v->map[p] >= 0 && v->map[p] < v->tables[v->person].original.rows;
    r->report.assignment = good ? KN_ASSIGNMENT_PROVED : KN_ASSIGNMENT_REFUTED;
    return kn_vdb_drawn(v, err);
}

/* ---- All of it ---- */

static kn_status read_sides(reading *r, const kn_cells *original, const kn_cells *release, kn_error *err)
{
    static const char *const nothing[1] = {NULL}, *const empty[] = {""};
    const kn_spec     *spec = &r->spec;
    kn_csv_options     csv = KN_CSV_OPTIONS_INIT;
    kn_vsheets_options before = {
        .tables = spec->tables, .table_count = spec->table_count, .csv = &spec->csv, .empty = true};
    kn_vsheets_options after = {.csv = &csv, .release = true};
    if (release->file) {
        csv.na = empty;
        csv.na_count = 1;
        after.guarded = spec->spreadsheet_safe;
    }
    r->v.plain = *spec;
    r->v.plain.csv.na = nothing;
    r->v.plain.csv.na_count = 0;
    KN_TRY(kn_vsheets_read(&r->v.original, original, &before, err));
    return kn_vsheets_read(&r->v.release, release, &after, err);
}

static kn_status check_rows(reading *r, kn_error *err)
{
    kn_vdb *v = &r->v;
    v->verified = kn_vdb_take(v, (size_t)v->table_count, sizeof *v->verified);
    if (!v->verified) return kn_vdb_no_memory(v, err);
    for (int t = 0; t < v->table_count; t++) v->tables[t].copy_count = 0; /* their values are judged as nodes */
    KN_TRY(kn_vdb_join(v, err));
    KN_TRY(kn_vdb_keys(v, err));
    for (int t = 0; t < v->table_count; t++)
        if (t != v->person) KN_TRY(check_table(r, t, err));
    KN_TRY(take_map(r, err));
    KN_TRY(kn_vdb_form(v, err));
    return tell_records(r, err);
}

static kn_status tell(reading *r, const kn_cells *original, const kn_cells *release, kn_error *err)
{
    bool whole = false;
    KN_TRY(read_sides(r, original, release, err));
    KN_TRY(kn_vdb_look(&r->v, err));
    KN_TRY(keep_classes(r, err));
    KN_TRY(kn_vdb_schema(&r->v, &whole, err));
    if (whole) return check_rows(r, err);
    r->of->map = kn_alloc_array_zero(r->v.ctx, 1, sizeof *r->of->map); /* of nobody */
    return r->of->map ? KN_OK : kn_vdb_no_memory(&r->v, err);
}

void kn_vrecords_begin_released(void *state, kn_records_verifier *v)
{
    ((kn_vreleased *)state)->of = v;
}

kn_status kn_vrecords_tell_released(void *state, const kn_records_sink *sink, kn_records_layout *layout, kn_error *err)
{
    const kn_vreleased              *from = state;
    const kn_records_verify_options *asked = from->of->options;
    kn_database_verify_options       options = KN_DATABASE_VERIFY_OPTIONS_INIT;
    kn_cells                        *original = NULL, *release = NULL;
    reading                          r = {.of = from->of, .spec = *from->spec, .options = options, .sink = sink};
    r.options.map = asked->map;
    r.options.map_count = asked->map_count;
    r.options.map_path = asked->map_path;
    r.v = (kn_vdb){
        .ctx = from->ctx, .spec = &r.spec, .options = &r.options, .report = &r.report, .notes = from->of->notes};
    *layout = (kn_records_layout){.form = KN_RECORDS_DATABASE};
    kn_arena_init(&r.v.arena, from->ctx);
    kn_status st = kn_cells_open(&original, from->ctx, from->original, from->snapshot, err);
    if (st == KN_OK && !from->cells) st = kn_cells_open(&release, from->ctx, from->release, NULL, err);
    if (st == KN_OK) st = tell(&r, original, from->cells ? from->cells : release, err);
    kn_vdb_free(&r.v);
    kn_cells_close(original);
    kn_cells_close(release);
    return st;
}
