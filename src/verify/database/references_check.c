/* database/references_check.c: has a release each reference as it is, with its broader rows and nothing else? And the hierarchy of
 * a column that holds its keys.
 *
 * Rows are compared as a whole, in any order, each as often as it must occur. Cells that are not declared as text are compared
 * without the zeros that engines drop at the end of a fraction.
 *
 * Cost: one pass over both tables. Memory: the texts of one reference's rows.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>

#include "kn_alloc.h"
#include "kn_buffer.h"
#include "kn_error.h"
#include "kn_verify_references.h"

/* ---- The hierarchy ---- */

static kn_status give_paths(kn_vtree_maker *m, void *arg, kn_error *err)
{
    const kn_vref *r = arg;
    kn_string      path[KN_HIERARCHY_MAX_LEVELS];
    for (int64_t row = 0; row < r->original->rows; row++) {
        uint32_t count = 1;
        path[0] = r->row_keys[row];
        for (uint32_t at = r->above[row]; at != KN_V_NONE && count < KN_HIERARCHY_MAX_LEVELS;
             at = r->above[r->original->rows + at])
            path[count++] = r->labels ? r->names[at] : r->keys[at];
        KN_TRY(kn_vtree_add(m, path, count, 0, err));
    }
    return KN_OK;
}

kn_status kn_vdb_reference_tree(kn_vtree **out, kn_vdb *v, int reference, const kn_vdomain *domain, kn_error *err)
{
    kn_vref *r = &v->references[reference];
    return kn_vtree_make_from(out, v->ctx, r->name, give_paths, r, domain, err);
}

/* ---- The tables ---- */

typedef struct comparing {
    kn_vdb          *v;
    const kn_vref   *r;
    const kn_vsheet *release;
    int             *columns; /* per column of the original: of the release; -1: left out */
    kn_texts         rows;
    int64_t         *left; /* per row's text: how often it must still occur */
    size_t           capacity;
    kn_buffer        line;
} comparing;

/* A number without the zeros at the end of its fraction. */
static kn_string plain(kn_string text)
{
    size_t i = text.size > 0 && text.data[0] == '-', digits = i, size = text.size;
    while (i < size && text.data[i] >= '0' && text.data[i] <= '9') i++;
    if (i == digits || i == size || text.data[i] != '.') return text;
    for (size_t f = i + 1; f < size; f++)
        if (text.data[f] < '0' || text.data[f] > '9') return text;
    while (size > i + 1 && text.data[size - 1] == '0') size--;
    if (size == i + 1) size = i;
    return (kn_string){text.data, size};
}

static void add_cell(comparing *c, kn_string cell, bool text)
{
    if (cell.data && !text) cell = plain(cell);
    if (!cell.data) {
        kn_buffer_char(&c->line, '-');
        return;
    }
    kn_buffer_format(&c->line, "%zu:", cell.size);
    kn_buffer_append(&c->line, cell.data, cell.size);
}

static kn_status expect(comparing *c, kn_error *err)
{
    void    *left = c->left;
    uint32_t before = c->rows.count;
    if (c->line.failed) return kn_vdb_no_memory(c->v, err);
    uint32_t at = kn_texts_add(&c->rows, (kn_string){c->line.data ? c->line.data : "", c->line.size}, true);
    if (at == KN_V_NONE || !kn_grow(c->v->ctx, &left, &c->capacity, (size_t)at + 1, sizeof *c->left))
        return kn_vdb_no_memory(c->v, err);
    c->left = left;
    if (at == before) c->left[at] = 0;
    c->left[at]++;
    return KN_OK;
}

static bool is_text(const comparing *c, int column)
{
    return c->r->original->columns[column].text || c->release->columns[c->columns[column]].text;
}

/* What the release must have: the original's rows and the broader ones. */
static kn_status expect_all(comparing *c, kn_error *err)
{
    const kn_vsheet *o = c->r->original;
    int64_t          rows = o->rows + (c->r->needed ? c->r->count - !c->r->direct : 0);
    for (int64_t row = 0; row < rows; row++) {
        kn_buffer_clear(&c->line);
        for (int i = 0; i < o->column_count; i++) {
            if (c->columns[i] < 0) continue;
            kn_string cell = row < o->rows ? kn_vsheet_text(o, i, kn_vsheet_code(o, i, row))
                                           : c->r->cells[(size_t)(row - o->rows) * (size_t)o->column_count + (size_t)i];
            add_cell(c, cell, is_text(c, i));
        }
        KN_TRY(expect(c, err));
    }
    return KN_OK;
}

static kn_status compare_rows(comparing *c, kn_error *err)
{
    int     shown = 0;
    int64_t missing = 0;
    KN_TRY(expect_all(c, err));
    for (int64_t row = 0; row < c->release->rows; row++) {
        kn_buffer_clear(&c->line);
        for (int i = 0; i < c->r->original->column_count; i++)
            if (c->columns[i] >= 0)
                add_cell(c, kn_vsheet_text(c->release, c->columns[i], kn_vsheet_code(c->release, c->columns[i], row)),
                         is_text(c, i));
        if (c->line.failed) return kn_vdb_no_memory(c->v, err);
        uint32_t at = kn_texts_find(&c->rows, (kn_string){c->line.data ? c->line.data : "", c->line.size});
        if (at != KN_V_NONE && c->left[at]-- > 0) continue;
        if (shown++ < KN_VDB_SHOWN)
            kn_vproblem(c->v->notes,
                        "table \"%s\", row %" PRId64
                        ": it is no row of the reference, and no broader row of its groups",
                        c->r->name, row + 1);
    }
    for (uint32_t i = 0; i < c->rows.count; i++) missing += c->left[i] > 0 ? c->left[i] : 0;
    if (missing > 0)
        kn_vproblem(c->v->notes, "table \"%s\": %" PRId64 " %s of the reference or of its groups %s missing",
                    c->r->name, missing, missing == 1 ? "row" : "rows", missing == 1 ? "is" : "are");
    return KN_OK;
}

static kn_status compare(comparing *c, bool *whole, kn_error *err)
{
    const kn_vsheet *o = c->r->original;
    int              expected = 0;
    c->columns = kn_vdb_take(c->v, (size_t)o->column_count, sizeof *c->columns);
    if (!c->columns) return kn_vdb_no_memory(c->v, err);
    for (int i = 0; i < o->column_count; i++) {
        c->columns[i] = -1;
        if (c->r->left_out[i]) continue;
        expected++;
        c->columns[i] = kn_vsheet_find(c->release, kn_vsheet_name(o, i));
        if (c->columns[i] >= 0) continue;
        kn_vproblem(c->v->notes, "table \"%s\": column \"%s\" is missing from the release", c->r->name,
                    kn_vsheet_name(o, i));
        *whole = false;
    }
    if (*whole && c->release->column_count != expected)
        kn_vproblem(c->v->notes, "table \"%s\": the release has columns of the reference that must not be there",
                    c->r->name);
    return *whole ? compare_rows(c, err) : KN_OK;
}

kn_status kn_vdb_check_references(kn_vdb *v, bool *whole, kn_error *err)
{
    for (int i = 0; i < v->reference_count; i++) {
        comparing c = {.v = v, .r = &v->references[i]};
        int       at = kn_vsheets_find(&v->release, c.r->name);
        if (at < 0) {
            kn_vproblem(v->notes, "table \"%s\" is missing from the release", c.r->name);
            *whole = false;
            continue;
        }
        c.release = &v->release.list[at];
        kn_texts_init(&c.rows, v->ctx);
        kn_buffer_init(&c.line, v->ctx);
        kn_status st = compare(&c, whole, err);
        kn_free(c.left);
        kn_texts_free(&c.rows);
        kn_buffer_free(&c.line);
        if (st != KN_OK) return st;
    }
    return KN_OK;
}
