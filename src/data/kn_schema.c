/* kn_schema.c: the schema of a database as a self-contained answer: tables, keys, how many rows refer to nothing, and
 * whether it is a snowflake around the table of persons.
 *
 * Everything is in one arena. Cost: one join per foreign key (kn_database.c), and per candidate for the table of
 * persons a walk over the tables.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_arena.h"
#include "kn_context.h"
#include "kn_database.h"
#include "kn_error.h"
#include "kn_interner.h"
#include "kn_schema_propose.h"
#include "kn_tuple.h"

#define WHAT "a schema"

/* What kn_schema_look makes: the public struct comes first. */
typedef struct inner {
    kn_schema schema;
    kn_arena  arena;
} inner;

typedef struct look {
    kn_context        *ctx;
    const kn_database *db;
    inner             *in;
    kn_schema_table   *tables;
    kn_schema_problem *problems;
    size_t             problem_capacity;
    bool               failed; /* out of memory */
    int               *parent, *link;
    kn_schema_place   *place;
    uint32_t         **joins; /* per table: the rows that its link refers to; NULL: none */
} look;

static const char *copy(look *l, const char *text)
{
    char *s = text ? kn_arena_strndup(&l->in->arena, text, strlen(text)) : NULL;
    if (text && !s) l->failed = true;
    return s;
}

static void *take(look *l, size_t count, size_t size)
{
    void *room = kn_arena_alloc(&l->in->arena, (count + 1) * size);
    if (!room) l->failed = true;
    if (room) memset(room, 0, (count + 1) * size);
    return room;
}

/* ---- Problems ---- */

static void add_problem(void *arg, kn_schema_rule rule, int table, int other)
{
    look     *l = arg;
    kn_buffer message, advice;
    size_t    count = (size_t)l->in->schema.problem_count;
    kn_buffer_init(&message, l->ctx);
    kn_buffer_init(&advice, l->ctx);
    kn_snowflake_words(&message, &advice, l->db, rule, table, other);
    const char *what = kn_buffer_text(&message), *todo = kn_buffer_text(&advice);
    if (!what || !todo || !KN_GROW(l->ctx, &l->problems, &l->problem_capacity, count + 1)) {
        l->failed = true;
    } else {
        l->problems[count] = (kn_schema_problem){rule, table, copy(l, what), copy(l, todo)};
        l->in->schema.problem_count++;
    }
    kn_buffer_free(&message);
    kn_buffer_free(&advice);
}

/* ---- Tables ---- */

static void copy_columns(look *l, const kn_database_table *t, kn_schema_table *to)
{
    kn_schema_column *columns = take(l, (size_t)t->table->column_count, sizeof *columns);
    if (!columns) return;
    for (int c = 0; c < t->table->column_count; c++) {
        const kn_column *column = &t->table->columns[c];
        columns[c] = (kn_schema_column){copy(l, column->name), column->type,    copy(l, t->columns[c].declared),
                                        column->dict.count,    column->missing, t->columns[c].key,
                                        t->columns[c].foreign};
    }
    to->column_count = t->table->column_count;
    to->columns = columns;
}

static const int *copy_numbers(look *l, const int *numbers, int count)
{
    int *to = numbers ? take(l, (size_t)count, sizeof *to) : NULL;
    if (to) memcpy(to, numbers, (size_t)count * sizeof *to);
    return to;
}

/* How many rows lack a key of a reference, and how many have one that is none. */
static kn_status count_lost(look *l, const kn_table *from, const kn_foreign_key *f, kn_schema_link *to, kn_error *err)
{
    const kn_database_table *t = &l->db->references->tables[f->reference];
    kn_interner              keys;
    kn_buffer                text;
    kn_interner_init(&keys, l->ctx);
    kn_buffer_init(&text, l->ctx);
    bool ok = true;
    for (int64_t r = 0; ok && r < t->table->rows; r++)
        if (kn_tuple_text(&text, t->table, t->key, t->key_count, r))
            ok = !text.failed && kn_intern(&keys, (kn_string){text.data, text.size}) != KN_ID_FAILED;
    for (int64_t r = 0; ok && r < from->rows; r++) {
        bool there = kn_tuple_text(&text, from, f->columns, f->column_count, r);
        ok = !text.failed;
        to->missing += !there;
        to->dangling += ok && there && kn_interner_find(&keys, (kn_string){text.data, text.size}) == 0;
    }
    kn_interner_free(&keys);
    kn_buffer_free(&text);
    return ok ? KN_OK : kn_fail_memory(err, l->ctx, WHAT);
}

static kn_status copy_link(look *l, int table, int i, kn_schema_link *to, bool *shared, kn_error *err)
{
    const kn_foreign_key *f = &l->db->tables[table].foreign[i];
    to->column_count = f->column_count;
    to->columns = copy_numbers(l, f->columns, f->column_count);
    to->target = f->target;
    to->target_name = copy(l, f->target_name);
    to->target_columns = copy_numbers(l, f->target_columns, f->column_count);
    if (f->reference >= 0) {
        to->target = l->db->table_count + f->reference; /* references are behind the others */
        to->target_columns = copy_numbers(l, l->db->references->tables[f->reference].key, f->column_count);
        return count_lost(l, l->db->tables[table].table, f, to, err);
    }
    if (f->target < 0) return KN_OK;
    uint32_t *rows = NULL;
    int64_t   twice = 0;
    KN_TRY(kn_database_join(&rows, l->db, table, i, &twice, err));
    for (int64_t r = 0; r < l->db->tables[table].table->rows; r++) {
        to->missing += rows[r] == KN_ROW_MISSING;
        to->dangling += rows[r] == KN_ROW_NONE;
    }
    if (twice > 0) shared[f->target] = true;
    if (i == l->link[table] && !l->joins[table])
        l->joins[table] = rows;
    else
        kn_free(rows);
    return KN_OK;
}

static kn_status copy_links(look *l, int table, bool *shared, kn_error *err)
{
    const kn_database_table *t = &l->db->tables[table];
    kn_schema_link          *links = take(l, (size_t)t->foreign_count, sizeof *links);
    if (!links) return kn_fail_memory(err, l->ctx, WHAT);
    l->tables[table].link_count = t->foreign_count;
    l->tables[table].links = links;
    for (int i = 0; i < t->foreign_count; i++) KN_TRY(copy_link(l, table, i, &links[i], shared, err));
    return KN_OK;
}

/* Rows of a table of the family that belong to no person, from `owned` of its parent. */
static kn_status count_orphans(look *l, int table, uint8_t **owned, kn_error *err)
{
    int64_t         rows = l->db->tables[table].table->rows;
    const uint32_t *named = l->joins[table];
    owned[table] = kn_alloc_array(l->ctx, (size_t)rows + 1, 1);
    if (!owned[table]) return kn_fail_memory(err, l->ctx, WHAT);
    for (int64_t r = 0; r < rows; r++) {
        bool mine = table == l->in->schema.person || (named[r] < KN_ROW_MISSING && owned[l->parent[table]][named[r]]);
        owned[table][r] = mine;
        l->tables[table].orphans += !mine;
    }
    return KN_OK;
}

/* Parents before children: one round per table is enough, since cycles are never entered. */
static kn_status count_all_orphans(look *l, kn_error *err)
{
    int       n = l->db->table_count;
    kn_status status = KN_OK;
    uint8_t **owned = kn_alloc_array_zero(l->ctx, (size_t)n, sizeof *owned);
    if (!owned) return kn_fail_memory(err, l->ctx, WHAT);
    for (bool again = true; again && status == KN_OK;) {
        again = false;
        for (int t = 0; t < n && status == KN_OK; t++) {
            bool ready = t == l->in->schema.person || (l->parent[t] >= 0 && owned[l->parent[t]] && l->joins[t]);
            if (owned[t] || !ready) continue;
            status = count_orphans(l, t, owned, err);
            again = true;
        }
    }
    for (int t = 0; t < n; t++) kn_free(owned[t]);
    kn_free(owned);
    return status;
}

/* Several foreign keys along one path must agree. */
static kn_status check_links(look *l, kn_error *err)
{
    for (int t = 0; t < l->db->table_count; t++) {
        int64_t wrong = 0;
        int     other = -1;
        if (l->place[t] != KN_SCHEMA_FAMILY) continue;
        KN_TRY(kn_database_links_differ(&wrong, &other, l->db, t, l->parent, l->link, err));
        if (wrong == 0) continue;
        l->place[t] = KN_SCHEMA_PROBLEM;
        add_problem(l, KN_SCHEMA_TWO_LINKS, t, other);
    }
    return KN_OK;
}

/* Tables that are declared references. */
static kn_status copy_references(look *l, kn_error *err)
{
    const kn_database *refs = l->db->references;
    for (int t = 0; refs && t < refs->table_count; t++) {
        const kn_database_table *from = &refs->tables[t];
        kn_schema_table         *to = &l->tables[l->db->table_count + t];
        kn_schema_link          *links = take(l, (size_t)from->foreign_count, sizeof *links);
        if (!links) return kn_fail_memory(err, l->ctx, WHAT);
        *to = (kn_schema_table){.name = copy(l, from->name), .rows = from->table->rows, .parent = -1};
        to->place = KN_SCHEMA_REFERENCE;
        to->reason = "declared in the release file";
        to->links = links;
        to->link_count = from->foreign_count;
        copy_columns(l, from, to);
        for (int i = 0; i < from->foreign_count; i++) {
            const kn_foreign_key *f = &from->foreign[i];
            uint32_t             *rows = NULL;
            int64_t               twice = 0;
            links[i] = (kn_schema_link){.column_count = f->column_count,
                                        .columns = copy_numbers(l, f->columns, f->column_count),
                                        .target = f->target < 0 ? -1 : l->db->table_count + f->target,
                                        .target_name = copy(l, f->target_name),
                                        .target_columns = copy_numbers(l, f->target_columns, f->column_count)};
            if (f->target < 0) continue;
            KN_TRY(kn_database_join(&rows, refs, t, i, &twice, err));
            for (int64_t r = 0; r < from->table->rows; r++) {
                links[i].missing += rows[r] == KN_ROW_MISSING;
                links[i].dangling += rows[r] == KN_ROW_NONE;
            }
            kn_free(rows);
        }
    }
    return KN_OK;
}

static kn_status copy_tables(look *l, kn_error *err)
{
    int       n = l->db->table_count, references = l->db->references ? l->db->references->table_count : 0;
    kn_status status = KN_OK;
    bool     *shared = kn_alloc_array_zero(l->ctx, (size_t)n, sizeof *shared);
    l->tables = take(l, (size_t)n + (size_t)references, sizeof *l->tables);
    l->in->schema.table_count = n + references;
    if (!shared || !l->tables) status = kn_fail_memory(err, l->ctx, WHAT);
    for (int t = 0; t < n && status == KN_OK; t++) {
        const kn_database_table *from = &l->db->tables[t];
        kn_schema_table         *to = &l->tables[t];
        *to = (kn_schema_table){.name = copy(l, from->name), .rows = from->table->rows, .parent = l->parent[t]};
        copy_columns(l, from, to);
        status = copy_links(l, t, shared, err);
    }
    for (int t = 0; t < n && status == KN_OK; t++) {
        int64_t faults = 0;
        status = kn_database_key_faults(&faults, l->db, t, err);
        if (status != KN_OK || (faults == 0 && !shared[t])) continue;
        if (l->place[t] != KN_SCHEMA_PERSON) l->place[t] = KN_SCHEMA_PROBLEM;
        add_problem(l, KN_SCHEMA_PARENT_KEY, t, -1);
    }
    if (status == KN_OK) status = check_links(l, err);
    for (int t = 0; t < n && status == KN_OK; t++) l->tables[t].place = l->place[t];
    if (status == KN_OK) status = count_all_orphans(l, err);
    if (status == KN_OK) status = copy_references(l, err);
    kn_free(shared);
    return status;
}

/* ---- The table of persons ---- */

static void ignore_problem(void *arg, kn_schema_rule rule, int table, int other)
{
    (void)rule;
    (void)table;
    (void)other;
    (*(int *)arg)++;
}

/* The one that is rather that of persons, then with the largest family, then the fewest problems, then the first. */
static kn_status choose(look *l, const char *name, kn_error *err)
{
    kn_schema *s = &l->in->schema;
    int64_t    best_rank = -1;
    int        best_family = -1, best_problems = 0;
    s->chosen = !name;
    s->person = name ? kn_database_find(l->db, name) : -1;
    if (name && s->person < 0) return kn_fail(err, KN_INPUT, "%s: there is no table \"%s\"", l->db->source, name);
    for (int p = 0; !name && p < l->db->table_count; p++) {
        int                      family = 0, problems = 0;
        const kn_database_table *table = &l->db->tables[p];
        int64_t rank = l->db->whole ? kn_table_person_rank(table->name, table->table, table->key_count) : 0;
        KN_TRY(kn_snowflake_look(l->db, p, l->db->whole, l->parent, l->link, l->place, ignore_problem, &problems, err));
        for (int t = 0; t < l->db->table_count; t++) family += l->place[t] == KN_SCHEMA_FAMILY;
        if (rank < best_rank || (rank == best_rank && family < best_family) ||
            (rank == best_rank && family == best_family && problems >= best_problems))
            continue;
        best_rank = rank;
        best_family = family;
        best_problems = problems;
        s->person = p;
    }
    return KN_OK;
}

static kn_status look_at_all(look *l, const char *person, kn_error *err)
{
    size_t     n = (size_t)l->db->table_count + 1;
    kn_schema *s = &l->in->schema;
    s->person = -1;
    l->parent = kn_alloc_array(l->ctx, 2 * n, sizeof *l->parent);
    l->place = kn_alloc_array_zero(l->ctx, n, sizeof *l->place);
    l->joins = kn_alloc_array_zero(l->ctx, n, sizeof *l->joins);
    if (!l->parent || !l->place || !l->joins) return kn_fail_memory(err, l->ctx, WHAT);
    l->link = l->parent + n;
    KN_TRY(choose(l, person, err));
    if (s->person >= 0)
        KN_TRY(kn_snowflake_look(l->db, s->person, l->db->whole, l->parent, l->link, l->place, add_problem, l, err));
    KN_TRY(copy_tables(l, err));
    kn_schema_problem *problems = take(l, (size_t)s->problem_count, sizeof *problems);
    if (!problems || l->failed) return kn_fail_memory(err, l->ctx, WHAT);
    if (s->problem_count > 0) memcpy(problems, l->problems, (size_t)s->problem_count * sizeof *problems);
    s->problems = problems;
    KN_TRY(kn_schema_propose(&l->in->arena, l->db, l->tables, s->person, err));
    s->tables = l->tables;
    s->snowflake = s->person >= 0 && s->problem_count == 0;
    return KN_OK;
}

kn_status kn_schema_look(kn_schema **out, kn_context *ctx, const kn_database *db, const char *person, kn_error *err)
{
    *out = NULL;
    KN_SERVE(ctx, err);
    look l = {.ctx = ctx, .db = db, .in = kn_alloc_zero(ctx, sizeof(inner))};
    if (!l.in) return kn_fail_memory(err, l.ctx, WHAT);
    kn_arena_init(&l.in->arena, ctx);
    kn_status status = look_at_all(&l, person, err);
    for (int t = 0; l.joins && t < db->table_count; t++) kn_free(l.joins[t]);
    KN_FREE(l.joins, l.parent, l.place, l.problems);
    if (status == KN_OK)
        *out = &l.in->schema;
    else
        kn_schema_free(&l.in->schema);
    return status;
}

void kn_schema_free(kn_schema *schema)
{
    if (!schema) return;
    inner *in = (inner *)schema;
    kn_arena_free(&in->arena);
    kn_free(in);
}
