/* kn_verify_database_keys.c: keys of a release say which rows belong together and nothing else (ERRATA M4).
 *
 * A key column that names no other row is drawn anew: it holds each number from 1 to the number of rows once, or UUIDs that
 * the original has not. So nothing of the old keys is left and no gap shows a deleted row. Columns that name a row of the
 * parent hold what stands there, or the row would belong to nobody (kn_verify_database_join.c).
 */
#include <inttypes.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_verify_database.h"

/* A number without sign or leading zeros, 1 .. most. */
static bool is_number(kn_string text, int64_t most)
{
    int64_t number = 0;
    if (text.size == 0 || text.size > 18 || text.data[0] == '0') return false;
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] < '0' || text.data[i] > '9') return false;
        number = number * 10 + (text.data[i] - '0');
    }
    return number <= most;
}

static bool is_uuid(kn_string text)
{
    if (text.size != 36) return false;
    for (size_t i = 0; i < 36; i++) {
        char c = text.data[i];
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        bool hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
        if (dash ? c != '-' : !hex) return false;
    }
    return true;
}

/* A UUID that is no more than such a number. */
static bool is_numbered(kn_string text, int64_t most)
{
    static const char front[] = "00000000-0000-4000-8000-";
    int64_t           number = 0;
    if (!is_uuid(text) || memcmp(text.data, front, sizeof front - 1) != 0) return false;
    for (size_t i = sizeof front - 1; i < 36; i++) {
        char c = text.data[i];
        if (c >= 'A' && c <= 'F') return false;
        number = number * 16 + (c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return number >= 1 && number <= most;
}

static int64_t first_row(const kn_vdb_rows *r, int column, uint32_t code)
{
    int64_t row = 0;
    while (row < r->rows && kn_table_code(r->table, column, row) != code) row++;
    return row;
}

/* Texts of the original's column that must not come back. */
static kn_status take_old(kn_vdb *v, kn_texts *old, const kn_vdb_table *t, int column, kn_error *err)
{
    for (uint32_t c = 0; c < kn_table_distinct(t->original.table, column); c++) {
        kn_string s;
        s.data = kn_table_text(t->original.table, column, c, &s.size);
        if (is_uuid(s) && kn_texts_add(old, s, false) == KN_V_NONE) return kn_vdb_no_memory(v, err);
    }
    return KN_OK;
}

static void check_texts(kn_vdb *v, const kn_vdb_table *t, int column, const kn_texts *old)
{
    const kn_vdb_rows *r = &t->release;
    const char        *name = kn_table_name(t->original.table, column);
    int                at = t->released[column], wrong = 0;
    for (uint32_t code = 0; code < kn_table_distinct(r->table, at) && wrong < KN_VDB_SHOWN; code++) {
        kn_string text;
        text.data = kn_table_text(r->table, at, code, &text.size);
        if (is_number(text, r->rows) || is_numbered(text, r->rows)) continue;
        bool uuid = is_uuid(text);
        if (uuid && kn_texts_find(old, text) == KN_V_NONE) continue;
        wrong++;
        kn_vdb_problem(v, "table \"%s\", row %" PRId64 ": key column \"%s\" holds %s", t->name,
                       first_row(r, at, code) + 1, name,
                       uuid ? "a key of the original" : "neither a number from 1 to the number of rows nor a UUID");
    }
}

static kn_status check_drawn(kn_vdb *v, const kn_vdb_table *t, int column, kn_error *err)
{
    const kn_vdb_rows *r = &t->release;
    const char        *name = kn_table_name(t->original.table, column);
    int                at = t->released[column];
    uint32_t           count = kn_table_distinct(r->table, at);
    kn_texts           old;
    kn_texts_init(&old, v->ctx);
    kn_status status = take_old(v, &old, t, column, err);
    if (status == KN_OK) check_texts(v, t, column, &old);
    kn_texts_free(&old);
    if (kn_table_missing(r->table, at) > 0)
        kn_vdb_problem(v, "table \"%s\", row %" PRId64 ": key column \"%s\" is empty", t->name,
                       first_row(r, at, count) + 1, name);
    if (kn_table_respelled(r->table, at) > 0)
        kn_vdb_problem(v, "table \"%s\": key column \"%s\" spells one number in two ways", t->name, name);
    else if ((int64_t)count + kn_table_missing(r->table, at) != r->rows)
        kn_vdb_problem(v, "table \"%s\": key column \"%s\" holds one value in two rows", t->name, name);
    return status;
}

/* A primary key that is made of the parent's alone. */
static kn_status check_inherited(kn_vdb *v, const kn_vdb_table *t, kn_error *err)
{
    int      *columns = kn_vdb_take(v, (size_t)kn_table_columns(t->original.table), sizeof *columns), count = 0;
    uint32_t *found = NULL;
    int64_t   twice = -1;
    if (!columns) return kn_vdb_no_memory(v, err);
    for (int c = 0; c < kn_table_columns(t->original.table); c++)
        if (t->primary[c]) columns[count++] = t->released[c];
    if (count == 0) return KN_OK;
    kn_vdb_lookup l = {t->release.table, t->release.table, columns, columns, count};
    KN_TRY(kn_vdb_look_up(&found, &twice, v, &l, err));
    kn_free(found);
    if (twice >= 0)
        kn_vdb_problem(v, "table \"%s\", row %" PRId64 ": its key is missing or that of an earlier row", t->name,
                       twice + 1);
    return KN_OK;
}

kn_status kn_vdb_keys(kn_vdb *v, kn_error *err)
{
    for (int i = 0; i < v->table_count; i++) {
        const kn_vdb_table *t = &v->tables[i];
        bool                drawn = false;
        for (int c = 0; c < kn_table_columns(t->original.table); c++) {
            bool names = false; /* the parent's row */
            for (int l = 0; l < t->link_count; l++) names = names || t->link[l] == c;
            if (!t->key[c] || names) continue;
            drawn = drawn || t->primary[c];
            KN_TRY(check_drawn(v, t, c, err));
        }
        if (!drawn) KN_TRY(check_inherited(v, t, err));
    }
    return KN_OK;
}
