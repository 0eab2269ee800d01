/* database/keys.c: the keys of a release show which rows belong together and nothing else (docs/errata.md M4).
 *
 * A key column that refers to no other row is new: it holds each number from 1 to the number of rows once, or UUIDs
 * that the original does not have, in any letter case. So nothing of the old keys is left and no gap shows a deleted
 * row. Columns that refer to a row of the parent hold its key, or the row would belong to nobody (join.c).
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_verify_database.h"

int64_t kn_vdb_plain_number(kn_string text)
{
    int64_t number = 0;
    if (text.size == 0 || text.size > 18 || text.data[0] == '0') return 0;
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] < '0' || text.data[i] > '9') return 0;
        number = number * 10 + (text.data[i] - '0');
    }
    return number;
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

/* The number that a UUID merely encodes; 0: another UUID. */
static int64_t number_of_uuid(kn_string text)
{
    static const char front[] = "00000000-0000-4000-8000-";
    int64_t           number = 0;
    if (!is_uuid(text) || memcmp(text.data, front, sizeof front - 1) != 0) return 0;
    for (size_t i = sizeof front - 1; i < 36; i++) {
        char c = text.data[i];
        if (c >= 'A' && c <= 'F') return 0;
        number = number * 16 + (c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return number;
}

int64_t kn_vdb_key_number(kn_string text, int64_t most)
{
    int64_t number = kn_vdb_plain_number(text);
    if (number == 0) number = number_of_uuid(text);
    return number <= most ? number : 0;
}

/* Converts to lower case, which means the same. Records whether it had lower- or upper-case letters. */
static kn_string folded(kn_string text, char room[36], bool *small, bool *capital)
{
    for (size_t i = 0; i < 36; i++) {
        char c = text.data[i];
        *small = *small || (c >= 'a' && c <= 'f');
        *capital = *capital || (c >= 'A' && c <= 'F');
        room[i] = c >= 'A' && c <= 'F' ? (char)(c - 'A' + 'a') : c;
    }
    return (kn_string){room, 36};
}

static int64_t first_row(const kn_vdb_rows *r, int column, uint32_t code)
{
    int64_t row = 0;
    while (row < r->rows && kn_vsheet_code(r->table, column, row) != code) row++;
    return row;
}

/* UUIDs of the original, in any column and letter case: they must not reappear. */
static kn_status take_old(kn_vdb *v, kn_texts *old, kn_error *err)
{
    char room[36];
    bool small = false, capital = false;
    for (int i = 0; i < v->table_count; i++) {
        const kn_vsheet *t = v->tables[i].original.table;
        for (int column = 0; column < t->column_count; column++)
            for (uint32_t c = 0; c < kn_vsheet_distinct(t, column); c++) {
                kn_string s = kn_vsheet_text(t, column, c);
                if (is_uuid(s) && kn_texts_add(old, folded(s, room, &small, &capital), true) == KN_V_NONE)
                    return kn_vdb_no_memory(v, err);
            }
    }
    return KN_OK;
}

static void check_texts(kn_vdb *v, const kn_vdb_table *t, int column, const kn_texts *old)
{
    const kn_vdb_rows *r = &t->release;
    const char        *name = kn_vsheet_name(t->original.table, column);
    int                at = t->released[column], wrong = 0;
    bool               small = false, capital = false;
    bool               kinds[3] = {false}; /* a number, a UUID that counts, any other UUID */
    for (uint32_t code = 0; code < kn_vsheet_distinct(r->table, at) && wrong < KN_VDB_SHOWN; code++) {
        kn_string text = kn_vsheet_text(r->table, at, code);
        char      room[36];
        bool      uuid = is_uuid(text), counts = kn_vdb_key_number(text, r->rows) > 0;
        kn_string plain = uuid ? folded(text, room, &small, &capital) : text;
        kinds[!uuid ? 0 : counts ? 1 : 2] = true;
        if (counts || (uuid && kn_texts_find(old, plain) == KN_V_NONE)) continue;
        wrong++;
        kn_vproblem(v->notes, "table \"%s\", row %" PRId64 ": key column \"%s\" holds %s", t->name,
                    first_row(r, at, code) + 1, name,
                    uuid ? "a key of the original" : "neither a number from 1 to the number of rows nor a UUID");
    }
    if (wrong == 0 && kinds[0] + kinds[1] + kinds[2] > 1)
        kn_vproblem(v->notes, "table \"%s\": key column \"%s\" has keys of different kinds: that can mark a row",
                    t->name, name);
    if (small && capital)
        kn_vproblem(v->notes,
                    "table \"%s\": key column \"%s\" has UUIDs in lower and in upper case: that can mark a row",
                    t->name, name);
}

static void check_drawn(kn_vdb *v, const kn_vdb_table *t, int column, const kn_texts *old)
{
    const kn_vdb_rows *r = &t->release;
    const char        *name = kn_vsheet_name(t->original.table, column);
    int                at = t->released[column];
    uint32_t           count = kn_vsheet_distinct(r->table, at);
    check_texts(v, t, column, old);
    if (r->table->columns[at].missing > 0)
        kn_vproblem(v->notes, "table \"%s\", row %" PRId64 ": key column \"%s\" is empty", t->name,
                    first_row(r, at, count) + 1, name);
    if (r->table->columns[at].respelled > 0)
        kn_vproblem(v->notes, "table \"%s\": key column \"%s\" spells one number in two ways", t->name, name);
    else if ((int64_t)count + r->table->columns[at].missing != r->rows)
        kn_vproblem(v->notes, "table \"%s\": key column \"%s\" holds one value in two rows", t->name, name);
}

/* A primary key that is made of the parent's alone. */
static kn_status check_inherited(kn_vdb *v, const kn_vdb_table *t, kn_error *err)
{
    int    *columns = kn_vdb_take(v, (size_t)t->original.table->column_count, sizeof *columns), count = 0;
    int64_t twice = -1;
    if (!columns) return kn_vdb_no_memory(v, err);
    for (int c = 0; c < t->original.table->column_count; c++)
        if (t->primary[c]) columns[count++] = t->released[c];
    if (count == 0) return KN_OK;
    kn_vdb_lookup l = {t->release.table, t->release.table, columns, columns, count};
    KN_TRY(kn_vdb_look_up(NULL, &twice, v, &l, err));
    if (twice >= 0)
        kn_vproblem(v->notes, "table \"%s\", row %" PRId64 ": its key is missing or that of an earlier row", t->name,
                    twice + 1);
    return KN_OK;
}

/* A key that the original does not have: each number once. */
static void check_new(kn_vdb *v, const kn_vdb_table *t)
{
    const kn_vdb_rows *r = &t->release;
    uint32_t           count = kn_vsheet_distinct(r->table, t->drawn);
    bool               good = (int64_t)count == r->rows;
    for (uint32_t code = 0; good && code < count; code++) {
        int64_t number = kn_vdb_plain_number(kn_vsheet_text(r->table, t->drawn, code));
        good = number > 0 && number <= r->rows;
    }
    if (!good)
        kn_vproblem(v->notes,
                    "table \"%s\": key column \"%s\" does not hold each number from 1 to the number of rows once",
                    t->name, kn_vsheet_name(r->table, t->drawn));
}

static kn_status check_keys(kn_vdb *v, const kn_texts *old, kn_error *err)
{
    for (int i = 0; i < v->table_count; i++) {
        const kn_vdb_table *t = &v->tables[i];
        bool                drawn = false;
        if (t->key_drawn) check_new(v, t);
        for (int c = 0; c < t->original.table->column_count; c++) {
            bool names = false; /* the parent's row */
            for (int l = 0; l < t->link_count; l++) names = names || t->link[l] == c;
            if (!t->key[c] || names) continue;
            drawn = drawn || t->primary[c];
            check_drawn(v, t, c, old);
        }
        if (!drawn) KN_TRY(check_inherited(v, t, err));
    }
    return KN_OK;
}

kn_status kn_vdb_keys(kn_vdb *v, kn_error *err)
{
    kn_texts old;
    kn_texts_init(&old, v->ctx);
    kn_status status = take_old(v, &old, err);
    if (status == KN_OK) status = check_keys(v, &old, err);
    kn_texts_free(&old);
    return status;
}
