/* database/anatomy.c: releases by Anatomy (section 5.1): quasi-identifiers unchanged, sensitive values by groups.
 *
 * The form (docs/databases.md): the original's tables without their sensitive columns; a table that had some has a
 * column GROUP; for each sensitive column a table with GROUP, the column and COUNT, one row per group and value. The
 * names are derived again: GROUP is the first of group, group_2, ... that no column of the original has, COUNT
 * likewise; the list is TABLE_sensitive, or TABLE_COLUMN where the table has several, with _2, ... appended if that
 * name is taken; the case of ASCII letters is ignored.
 *
 * From the release alone: groups are numbered 1 .. their number; each person of a group has equally many of its rows;
 * a list has as many values for each group as the group has rows. Promises are those of models.c, about groups: k is
 * the number of persons in one; diversity is that of its list. A value may belong to as many persons as there are
 * rows with it.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_sort.h"
#include "kn_verify_database.h"

/* ---- Names ---- */

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool same_name(const char *a, const char *b)
{
    for (; *a && lower(*a) == lower(*b); a++, b++) {
    }
    return lower(*a) == lower(*b);
}

static bool column_taken(const kn_vdb *v, const char *name)
{
    for (int t = 0; t < v->table_count; t++)
        for (int c = 0; c < v->tables[t].original.table->column_count; c++)
            if (same_name(kn_vsheet_name(v->tables[t].original.table, c), name)) return true;
    return false;
}

static void name_column(const kn_vdb *v, const char *word, char *out, size_t size)
{
    snprintf(out, size, "%s", word);
    for (int i = 2; column_taken(v, out); i++) snprintf(out, size, "%s_%d", word, i);
}

void kn_vdb_anatomy_names(kn_vdb *v)
{
    name_column(v, "group", v->group_name, sizeof v->group_name);
    name_column(v, "count", v->count_name, sizeof v->count_name);
}

/* Is there a table of the original with that name, or an earlier list? */
static bool table_taken(const kn_vdb *v, const kn_vlist *list)
{
    for (int t = 0; t < v->table_count; t++)
        if (same_name(v->tables[t].name, list->name)) return true;
    for (int t = 0; t < v->table_count; t++)
        for (int c = 0; c < v->tables[t].hidden_count; c++) {
            if (&v->tables[t].lists[c] == list) return false;
            if (same_name(v->tables[t].lists[c].name, list->name)) return true;
        }
    return false;
}

static void name_list(const kn_vdb *v, const kn_vdb_table *t, int c)
{
    kn_vlist   *list = &t->lists[c];
    const char *tail = t->hidden_count > 1 ? t->hidden[c].attribute->name : "sensitive";
    snprintf(list->name, sizeof list->name, "%.100s_%.100s", t->name, tail);
    for (int i = 2; table_taken(v, list); i++)
        snprintf(list->name, sizeof list->name, "%.100s_%.100s_%d", t->name, tail, i);
}

int kn_vdb_anatomy_tables(kn_vdb *v, bool *whole)
{
    int lists = 0;
    for (int t = 0; t < v->table_count; t++)
        for (int c = 0; c < v->tables[t].hidden_count; c++) {
            kn_vlist   *list = &v->tables[t].lists[c];
            const char *name = v->tables[t].hidden[c].attribute->name;
            name_list(v, &v->tables[t], c);
            int at = kn_vsheets_find(&v->release, list->name);
            if (at < 0) {
                kn_vproblem(v->notes, "table \"%s\" is missing from the release", list->name);
                *whole = false;
                continue;
            }
            lists++;
            list->table = &v->release.list[at];
            if (list->table->column_count == 3 && kn_vsheet_find(list->table, v->group_name) >= 0 &&
                kn_vsheet_find(list->table, name) >= 0 && kn_vsheet_find(list->table, v->count_name) >= 0)
                continue;
            kn_vproblem(v->notes, "table \"%s\": its columns are not \"%s\", \"%s\" and \"%s\"", list->name,
                        v->group_name, name, v->count_name);
            *whole = false;
        }
    return lists;
}

/* ---- Groups ---- */

/* Per code of a column of numbers: the number, or 0 if it is not 1 or more. */
static int64_t *read_numbers(kn_arena *room, const kn_vsheet *table, int column)
{
    uint32_t count = kn_vsheet_distinct(table, column);
    int64_t *numbers = kn_arena_array_zero(room, (size_t)count + 1, sizeof *numbers);
    for (uint32_t c = 0; numbers && c < count; c++) numbers[c] = kn_vdb_plain_number(kn_vsheet_text(table, column, c));
    return numbers;
}

static kn_status read_groups(kn_vdb *v, kn_vdb_table *t, kn_error *err)
{
    const kn_vsheet *table = t->release.table;
    kn_arena         room = {.ctx = v->ctx};
    const int64_t   *numbers = read_numbers(&room, table, t->group_column);
    int              wrong = 0;
    t->group = kn_arena_array(&v->arena, (size_t)t->release.rows + 1, sizeof *t->group);
    bool good = numbers && t->group;
    t->groups = kn_vsheet_distinct(table, t->group_column);
    if (table->columns[t->group_column].respelled > 0)
        kn_vproblem(v->notes, "table \"%s\", column \"%s\": the release shows one number in two spellings", t->name,
                    v->group_name);
    for (int64_t row = 0; good && row < t->release.rows; row++) {
        int64_t number = numbers[kn_vsheet_code(table, t->group_column, row)];
        t->group[row] = number >= 1 && number <= t->groups ? (uint32_t)(number - 1) : KN_V_NONE;
        if (t->group[row] == KN_V_NONE && wrong++ < KN_VDB_SHOWN)
            kn_vproblem(v->notes,
                        "table \"%s\", row %" PRId64 ": column \"%s\" holds no number from 1 to the number of groups",
                        t->name, row + 1, v->group_name);
    }
    kn_arena_free(&room);
    return good ? KN_OK : kn_vdb_no_memory(v, err);
}

/* ---- Lists ---- */

/* A value with an unusual spelling marks its group. */
static void check_spelling(kn_vdb *v, const kn_vlist *list, const kn_vdb_column *column, int value_at)
{
    for (int c = 0; c < list->table->column_count; c++)
        if (list->table->columns[c].respelled > 0)
            kn_vproblem(v->notes, "table \"%s\", column %d: the release shows one number in two spellings", list->name,
                        c + 1);
    if (kn_vdb_odd_spelling(column, list->table, value_at) != KN_V_NONE)
        kn_vproblem(v->notes, "table \"%s\", column \"%s\": a value is spelled differently from the original",
                    list->name, column->attribute->name);
}

static kn_status read_entries(kn_vdb *v, const kn_vdb_table *t, int c, const int64_t *groups, const int64_t *counts,
                              kn_sort_record *order, kn_error *err)
{
    kn_vlist            *list = &t->lists[c];
    const kn_vdb_column *column = &t->hidden[c];
    int group_at = kn_vsheet_find(list->table, v->group_name), count_at = kn_vsheet_find(list->table, v->count_name);
    int value_at = kn_vsheet_find(list->table, column->attribute->name), wrong = 0;
    int64_t rows = list->table->rows;
    check_spelling(v, list, column, value_at);
    for (int64_t row = 0; row < rows; row++) {
        int64_t   group = groups[kn_vsheet_code(list->table, group_at, row)];
        kn_string text = kn_vsheet_text(list->table, value_at, kn_vsheet_code(list->table, value_at, row));
        uint32_t  value = text.data ? kn_vdb_find_value(column, text) : KN_V_MISSING;
        bool      good = group >= 1 && group <= t->groups && counts[kn_vsheet_code(list->table, count_at, row)] >= 1;
        if (value == KN_V_NONE || !good) {
            if (wrong++ < KN_VDB_SHOWN)
                kn_vproblem(v->notes, "table \"%s\", row %" PRId64 ": %s", list->name, row + 1,
                            good ? "a value that the original does not have" : "no group, or no count");
            continue;
        }
        order[list->count++] = (kn_sort_record){(uint64_t)(group - 1) << 32 | value, (uint64_t)row};
    }
    KN_TRY(kn_sort_records(v->ctx, order, list->count, NULL, NULL, err));
    for (size_t i = 0; i < list->count; i++) {
        list->keys[i] = order[i].key;
        list->counts[i] = counts[kn_vsheet_code(list->table, count_at, (int64_t)order[i].id)];
        if (i > 0 && order[i].key == order[i - 1].key && wrong++ < KN_VDB_SHOWN)
            kn_vproblem(v->notes, "table \"%s\", row %" PRIu64 ": the group has this value already", list->name,
                        order[i].id + 1);
    }
    return KN_OK;
}

static kn_status read_list(kn_vdb *v, const kn_vdb_table *t, int c, kn_error *err)
{
    kn_vlist       *list = &t->lists[c];
    size_t          rows = (size_t)list->table->rows;
    kn_arena        room = {.ctx = v->ctx};
    int64_t        *groups = read_numbers(&room, list->table, kn_vsheet_find(list->table, v->group_name));
    int64_t        *counts = read_numbers(&room, list->table, kn_vsheet_find(list->table, v->count_name));
    kn_sort_record *order = kn_arena_array(&room, rows + 1, sizeof *order);
    list->keys = kn_arena_array(&v->arena, rows + 1, sizeof *list->keys);
    list->counts = kn_arena_array(&v->arena, rows + 1, sizeof *list->counts);
    list->left = kn_arena_array(&v->arena, rows + 1, sizeof *list->left);
    bool      good = !room.failed && !v->arena.failed;
    kn_status status = good ? read_entries(v, t, c, groups, counts, order, err) : kn_vdb_no_memory(v, err);
    kn_arena_free(&room);
    return status;
}

/* ---- Persons of groups ---- */

/* What was found in the groups of one table. */
typedef struct group_sizes {
    int64_t *persons, *rows; /* per group */
} group_sizes;

/* The arrays of `g` are freed with `room`. */
static kn_status measure_groups(kn_arena *room, kn_vdb *v, const kn_vdb_table *t, group_sizes *g, kn_error *err)
{
    int64_t         n = t->release.rows;
    kn_sort_record *order = kn_alloc_array(v->ctx, (size_t)n + 1, sizeof *order);
    int             wrong = 0;
    g->persons = kn_arena_array_zero(room, (size_t)t->groups + 1, sizeof *g->persons);
    g->rows = kn_arena_array_zero(room, (size_t)t->groups + 1, sizeof *g->rows);
    kn_status status = order && !room->failed ? KN_OK : kn_vdb_no_memory(v, err);
    for (int64_t row = 0; status == KN_OK && row < n; row++)
        order[row] = (kn_sort_record){(uint64_t)t->group[row] << 32 | kn_vdb_person_of(&t->release, (uint32_t)row),
                                      (uint64_t)row};
    if (status == KN_OK) status = kn_sort_records(v->ctx, order, (size_t)n, NULL, NULL, err);
    for (int64_t i = 0; status == KN_OK && i < n; i++) {
        g->persons[order[i].key >> 32] += i == 0 || order[i].key != order[i - 1].key;
        g->rows[order[i].key >> 32]++;
    }
    for (int64_t i = 0, begin = 0; status == KN_OK && i < n; i++) {
        if (i + 1 < n && order[i + 1].key == order[i].key) continue;
        uint64_t group = order[i].key >> 32;
        if ((i + 1 - begin) * g->persons[group] != g->rows[group] && wrong++ < KN_VDB_SHOWN)
            kn_vproblem(v->notes,
                        "table \"%s\", row %" PRIu64 ": its person has more or fewer rows in the group than others",
                        t->name, order[begin].id + 1);
        begin = i + 1;
    }
    kn_free(order);
    return status;
}

/* Each list has as many values for a group as it has rows. */
static void check_totals(kn_vdb *v, const kn_vdb_table *t, const group_sizes *g)
{
    for (int c = 0; c < t->hidden_count; c++) {
        const kn_vlist *list = &t->lists[c];
        int             wrong = 0;
        size_t          at = 0;
        for (uint32_t group = 0; group < t->groups; group++) {
            int64_t total = 0;
            for (; at < list->count && list->keys[at] >> 32 == group; at++) {
                if (list->counts[at] > g->rows[group] - total) total = g->rows[group] + 1; /* and no overflow */
                if (total <= g->rows[group]) total += list->counts[at];
            }
            if (total != g->rows[group] && wrong++ < KN_VDB_SHOWN)
                kn_vproblem(v->notes,
                            "table \"%s\": group %" PRIu32
                            " does not have as many values as table \"%s\" has rows in it",
                            list->name, group + 1, t->name);
        }
    }
}

static kn_status check_table(kn_vdb *v, kn_vdb_table *t, kn_error *err)
{
    kn_database_verify_report *r = v->report;
    kn_arena                   room = {.ctx = v->ctx};
    group_sizes                g;
    KN_TRY(read_groups(v, t, err));
    for (int c = 0; c < t->hidden_count; c++) KN_TRY(read_list(v, t, c, err));
    if (v->notes->failed) return KN_OK;
    kn_status status = measure_groups(&room, v, t, &g, err);
    if (status == KN_OK) check_totals(v, t, &g);
    r->classes += t->groups;
    for (uint32_t i = 0; status == KN_OK && i < t->groups; i++)
        if (r->k == 0 || g.persons[i] < r->k) r->k = g.persons[i];
    kn_arena_free(&room);
    return status;
}

kn_status kn_vdb_anatomy_groups(kn_vdb *v, kn_error *err)
{
    v->report->persons = v->tables[v->person].release.rows;
    for (int t = 0; t < v->table_count; t++)
        if (v->tables[t].hidden_count > 0) KN_TRY(check_table(v, &v->tables[t], err));
    return KN_OK;
}

/* ---- Promises ---- */

kn_status kn_vdb_anatomy_sizes(kn_vdb *v, kn_verified_model *m, kn_error *err)
{
    for (int i = 0; i < v->table_count; i++) {
        const kn_vdb_table *t = &v->tables[i];
        kn_arena            room = {.ctx = v->ctx};
        group_sizes         g;
        bool                shown;
        kn_status           status = t->group ? measure_groups(&room, v, t, &g, err) : KN_OK;
        for (uint32_t k = 0; status == KN_OK && t->group && k < t->groups; k++)
            if (!kn_vdb_size_holds(m, g.persons[k], &shown) && shown)
                kn_vproblem(v->notes,
                            "table \"%s\": group %" PRIu32 " has the rows of %" PRId64 " person%s: %s does not hold",
                            t->name, k + 1, g.persons[k], g.persons[k] == 1 ? "" : "s", kn_model_name(m->model.kind));
        kn_arena_free(&room);
        KN_TRY(status);
    }
    return KN_OK;
}

static void judge(kn_vdb *v, const kn_vdb_table *t, const kn_vlist *list, const group_sizes *g,
                  const kn_vdb_reference *reference, kn_vdb_position *p, kn_verified_model *m)
{
    bool shown;
    for (size_t at = 0, begin = 0; at < list->count; begin = at) {
        uint64_t group = list->keys[at] >> 32;
        p->persons = g->persons[group];
        p->rows = g->rows[group];
        p->values = 0;
        p->counts = list->counts + begin;
        p->most = 0;
        for (; at < list->count && list->keys[at] >> 32 == group; at++) {
            p->codes[p->values++] = kn_vdb_reference_value(reference, (uint32_t)list->keys[at]);
            if (list->counts[at] > p->most) p->most = list->counts[at];
        }
        if (p->most > p->persons) p->most = p->persons;
        if (!kn_vdb_position_holds(v, m, p, begin == 0, &shown) && shown)
            kn_vproblem(v->notes, "table \"%s\": %s%s%s does not hold for group %" PRIu64 " of table \"%s\"",
                        list->name, KN_VDB_MODEL(m->model.kind), group + 1, t->name);
    }
}

kn_status kn_vdb_anatomy_values(kn_vdb *v, kn_verified_model *m, kn_error *err)
{
    int                  number = 0;
    const kn_vdb_column *column;
    kn_arena             room = {.ctx = v->ctx};
    kn_vdb_reference     reference;
    group_sizes          g;
    KN_TRY(kn_vdb_find_sensitive(v, &m->model, &number, &column, err));
    const kn_vdb_table *t = &v->tables[number];
    const kn_vlist     *list = &t->lists[column - t->hidden];
    kn_vdb_position     p = {.codes = kn_arena_array(&room, list->count + 1, sizeof *p.codes),
                             .reference = &reference.r,
                             .some = kn_arena_array(&room, list->count + 1, sizeof *p.some),
                             .dealt = kn_arena_array(&room, list->count + 1, sizeof *p.dealt)};
    kn_status           status = kn_vdb_reference_make(&reference, v, t, column, &m->model, err);
    if (status == KN_OK && room.failed) status = kn_vdb_no_memory(v, err);
    if (status == KN_OK) status = measure_groups(&room, v, t, &g, err);
    if (status == KN_OK) judge(v, t, list, &g, &reference, &p, m);
    if (list->count == 0) m->reached = NAN; /* nothing is left that it is about */
    kn_vdb_reference_free(&reference);
    kn_arena_free(&room);
    return status;
}
