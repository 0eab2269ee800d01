/* kn_snowflake.c: is a schema a snowflake around a table of persons (section 4.1)?
 *
 * Rules: the table of persons has a key and no foreign key; every other table has one foreign key, or several along one
 * path, and following these leads to the table of persons. Of several along one path (payments refer to a rental, and to the
 * rental's customer) the one to the table farthest from persons counts; kn_database_links.c checks that the others agree. Only foreign keys to tables that were read count: a key to any other table is an
 * ordinary column. Quadratic in the number of tables; rows are read only for keys that are not unique.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_database.h"
#include "kn_error.h"

const char *kn_schema_rule_name(kn_schema_rule rule)
{
    static const char *const names[] = {"person-key", "person-link", "two-links", "cycle",
                                        "unreached",  "parent-key",  "quasi-key"};
    return (unsigned)rule < sizeof names / sizeof *names ? names[rule] : "unknown";
}

/* Can `from` reach `to` along at least one foreign key? `seen` and `stack` have one entry per table. */
static bool reaches(const kn_database *db, int from, int to, bool *seen, int *stack)
{
    int top = 0;
    memset(seen, 0, (size_t)db->table_count * sizeof *seen);
    stack[top++] = from;
    while (top > 0) {
        const kn_database_table *t = &db->tables[stack[--top]];
        for (int i = 0; i < t->foreign_count; i++) {
            int next = t->foreign[i].target;
            if (next < 0 || seen[next]) continue;
            if (next == to) return true;
            seen[next] = true;
            stack[top++] = next;
        }
    }
    return false;
}

/* The foreign keys of a table to listed ones: how many, the first that leads to the table of persons (else the first), and
 * the target of another. */
static int listed_links(const kn_database *db, int table, bool aside, const bool *leads, int *link, int *other)
{
    const kn_database_table *t = &db->tables[table];
    int                      count = 0;
    *link = *other = -1;
    for (int i = 0; i < t->foreign_count; i++) {
        int target = t->foreign[i].target;
        if (target < 0 || (aside && !leads[target])) continue;
        count++;
        if (*link < 0 || (leads[target] && !leads[t->foreign[*link].target])) {
            if (*link >= 0) *other = t->foreign[*link].target;
            *link = i;
        } else if (*other < 0) {
            *other = target;
        }
    }
    return count;
}

typedef struct walk {
    const kn_database *db;
    int                person;
    bool               aside; /* tables that lead to no person are left aside */
    int               *parent, *link, *stack;
    int               *depth; /* -1: not known to have one path to persons */
    kn_schema_place   *place;
    bool              *leads; /* to the table of persons, or is it */
    bool              *circle, *seen;
    kn_snowflake_fn    fn;
    void              *arg;
} walk;

static void tell(const walk *w, kn_schema_rule rule, int table, int other)
{
    if (w->place[table] != KN_SCHEMA_PERSON) w->place[table] = KN_SCHEMA_PROBLEM;
    w->fn(w->arg, rule, table, other);
}

/* Is it left aside? */
static bool is_aside(const walk *w, int table)
{
    return w->aside && !w->leads[table];
}

static void look_at_circles(walk *w)
{
    const kn_database *db = w->db;
    for (int t = 0; t < db->table_count; t++) w->circle[t] = !is_aside(w, t) && reaches(db, t, t, w->seen, w->stack);
    for (int t = 0; t < db->table_count; t++) {
        bool first = w->circle[t];
        int  other = -1;
        for (int u = 0; first && u < db->table_count; u++) {
            if (u == t || !w->circle[u] || !reaches(db, t, u, w->seen, w->stack)) continue;
            if (!reaches(db, u, t, w->seen, w->stack)) continue;
            if (u < t)
                first = false; /* reported when that one was examined */
            else if (other < 0)
                other = u;
        }
        if (first) tell(w, KN_SCHEMA_CYCLE, t, other);
        if (w->circle[t] && w->place[t] != KN_SCHEMA_PERSON) w->place[t] = KN_SCHEMA_PROBLEM;
    }
}

/* The foreign key to the table farthest from persons, where all others are on its path to them; -1: there is none. */
static int path_link(const walk *w, int table)
{
    const kn_database_table *t = &w->db->tables[table];
    int                      farthest = -1;
    for (int i = 0; i < t->foreign_count; i++) {
        int target = t->foreign[i].target;
        if (target < 0 || is_aside(w, target)) continue;
        if (w->depth[target] < 0) return -1;
        if (farthest < 0 || w->depth[target] > w->depth[t->foreign[farthest].target]) farthest = i;
    }
    for (int i = 0; farthest >= 0 && i < t->foreign_count; i++) {
        int target = t->foreign[i].target, up = t->foreign[farthest].target;
        if (target < 0 || i == farthest || is_aside(w, target)) continue;
        for (up = w->parent[up]; up >= 0 && up != target;) up = w->parent[up];
        if (up < 0) return -1;
    }
    return farthest;
}

/* Finds the path of every table that has one: from persons outwards, until no further table gets one. */
static void find_paths(walk *w)
{
    const kn_database *db = w->db;
    for (int t = 0; t < db->table_count; t++) w->depth[t] = t == w->person ? 0 : -1;
    for (bool found = true; found;) {
        found = false;
        for (int t = 0; t < db->table_count; t++) {
            if (w->depth[t] >= 0) continue;
            w->link[t] = path_link(w, t);
            if (w->link[t] < 0) continue;
            w->parent[t] = db->tables[t].foreign[w->link[t]].target;
            w->depth[t] = w->depth[w->parent[t]] + 1;
            found = true;
        }
    }
}

static void look_at_table(walk *w, int t)
{
    if (is_aside(w, t)) {
        w->place[t] = KN_SCHEMA_OUTSIDE;
        return;
    }
    if (t != w->person && w->depth[t] > 0 && !w->circle[t]) return; /* one path */
    int other = -1, count = listed_links(w->db, t, w->aside, w->leads, &w->link[t], &other);
    if (t == w->person) {
        int link = w->link[t];
        w->link[t] = -1;
        if (w->db->tables[t].key_count == 0) tell(w, KN_SCHEMA_PERSON_KEY, t, -1);
        if (count > 0 && !w->circle[t]) tell(w, KN_SCHEMA_PERSON_LINK, t, w->db->tables[t].foreign[link].target);
        return;
    }
    if (w->link[t] >= 0) w->parent[t] = w->db->tables[t].foreign[w->link[t]].target;
    if (!w->leads[t]) {
        if (w->place[t] != KN_SCHEMA_PROBLEM) w->place[t] = KN_SCHEMA_OUTSIDE;
        w->fn(w->arg, KN_SCHEMA_UNREACHED, t, -1);
    }
    if (count > 1 && !(w->circle[t] && other == t)) tell(w, KN_SCHEMA_TWO_LINKS, t, other);
}

kn_status kn_snowflake_look(const kn_database *db, int person, bool aside, int *parent, int *link,
                            kn_schema_place *place, kn_snowflake_fn fn, void *arg, kn_error *err)
{
    size_t n = (size_t)db->table_count + 1;
    walk   w = {.db = db,
                .person = person,
                .aside = aside,
                .parent = parent,
                .link = link,
                .place = place,
                .fn = fn,
                .arg = arg};
    w.stack = kn_alloc_array(db->ctx, 2 * n, sizeof *w.stack);
    w.leads = kn_alloc_array_zero(db->ctx, 3 * n, sizeof *w.leads);
    bool ok = w.stack && w.leads;
    if (ok) {
        w.depth = w.stack + n;
        w.circle = w.leads + n;
        w.seen = w.circle + n;
        for (int t = 0; t < db->table_count; t++) {
            w.parent[t] = w.link[t] = -1;
            w.place[t] = t == person ? KN_SCHEMA_PERSON : KN_SCHEMA_FAMILY;
            w.leads[t] = t == person || reaches(db, t, person, w.seen, w.stack);
        }
        find_paths(&w);
        look_at_circles(&w);
        for (int t = 0; t < db->table_count; t++) look_at_table(&w, t);
    }
    KN_FREE(w.stack, w.leads);
    return ok ? KN_OK : kn_fail_memory(err, db->ctx, "a schema");
}

/* The column by which a table refers to another. */
static const char *link_column(const kn_database *db, int table, int target)
{
    const kn_database_table *t = &db->tables[table];
    for (int i = 0; i < t->foreign_count; i++)
        if (t->foreign[i].target == target) return t->table->columns[t->foreign[i].columns[0]].name;
    return "...";
}

/* A table that refers to itself, or a circle of several: the link of the first to the next table of the circle. */
static void circle_words(kn_buffer *message, kn_buffer *advice, const kn_database *db, int table, int other)
{
    const char *name = db->tables[table].name;
    if (other < 0) {
        kn_buffer_format(message, "table \"%s\" refers to rows of itself", name);
        kn_buffer_format(advice, "leave that link out in the release file (%s: {ignore: [%s]})", name,
                         link_column(db, table, table));
        return;
    }
    const char *column = link_column(db, table, other);
    kn_buffer_format(message, "tables \"%s\" and \"%s\" refer to each other in a circle of foreign keys", name,
                     db->tables[other].name);
    kn_buffer_format(advice,
                     "leave one of these links out in the release file (%s: {ignore: [%s]}), or say whose rows these "
                     "are (parent: {table: ..., column: ...})",
                     name, column);
}

void kn_snowflake_words(kn_buffer *message, kn_buffer *advice, const kn_database *db, kn_schema_rule rule, int table,
                        int other)
{
    const char *name = db->tables[table].name, *second = other >= 0 ? db->tables[other].name : NULL;
    switch (rule) {
    case KN_SCHEMA_PERSON_KEY:
        kn_buffer_format(message, "table \"%s\" has no primary key: nothing says which row is which person", name);
        kn_buffer_format(advice, "name its key in the release file (key:)");
        return;
    case KN_SCHEMA_PERSON_LINK:
        kn_buffer_format(message, "the table of persons \"%s\" has a foreign key to \"%s\"", name, second);
        kn_buffer_format(
            advice,
            "if \"%s\" says nothing about persons, declare it (%s: {reference: true}); otherwise leave the link "
            "out (%s: {ignore: [%s]})",
            second, second, name, link_column(db, table, other));
        return;
    case KN_SCHEMA_TWO_LINKS:
        kn_buffer_format(
            message,
            "table \"%s\" has several foreign keys to listed tables that are not along one path, or do not "
            "agree, one of them to \"%s\"",
            name, second);
        kn_buffer_format(
            advice,
            "say whose rows these are (%s: {parent: {table: ..., column: ...}}); if \"%s\" says nothing about persons, "
            "declare it (%s: {reference: true}); otherwise leave the link out (%s: {ignore: [%s]})",
            name, second, second, name, link_column(db, table, other));
        return;
    case KN_SCHEMA_CYCLE: circle_words(message, advice, db, table, other); return;
    case KN_SCHEMA_UNREACHED:
        kn_buffer_format(message, "no foreign keys lead from table \"%s\" to the table of persons", name);
        kn_buffer_format(advice,
                         "if it says nothing about persons, declare it (%s: {reference: true}); otherwise leave it out",
                         name);
        return;
    case KN_SCHEMA_PARENT_KEY:
        kn_buffer_format(message, "the key of table \"%s\" is missing in some rows, or the same in several", name);
        kn_buffer_format(advice, "name other columns as its key, or remove those rows");
        return;
    case KN_SCHEMA_QUASI_KEY:
        kn_buffer_format(message, "a quasi-identifier of table \"%s\" is part of a key", name);
        kn_buffer_format(advice, "name a key without it (key: [] if there is no other)");
        return;
    }
}

/* ---- Choosing ---- */

typedef struct first_problem {
    bool           found;
    kn_schema_rule rule;
    int            table, other;
} first_problem;

static void remember(void *arg, kn_schema_rule rule, int table, int other)
{
    first_problem *p = arg;
    /* A table that leads to no person often has a more specific problem: keep looking. */
    if (p->found && !(p->rule == KN_SCHEMA_UNREACHED && rule != KN_SCHEMA_UNREACHED)) return;
    *p = (first_problem){true, rule, table, other};
}

static kn_status fail_problem(const kn_database *db, const first_problem *p, kn_error *err)
{
    kn_buffer message, advice;
    kn_buffer_init(&message, db->ctx);
    kn_buffer_init(&advice, db->ctx);
    kn_snowflake_words(&message, &advice, db, p->rule, p->table, p->other);
    const char *what = kn_buffer_text(&message), *todo = kn_buffer_text(&advice);
    kn_status   status = what && todo ? kn_fail(err, KN_INPUT, "%s: %s; %s", db->source, what, todo)
                                      : kn_fail_memory(err, db->ctx, "a schema");
    kn_buffer_free(&message);
    kn_buffer_free(&advice);
    return status;
}

static bool is_root(const kn_database *db, int table)
{
    for (int i = 0; i < db->tables[table].foreign_count; i++)
        if (db->tables[table].foreign[i].target >= 0) return false;
    return true;
}

static kn_status find_person(const kn_database *db, const char *person, int *out, kn_error *err)
{
    if (person) {
        *out = kn_database_find(db, person);
        return *out >= 0 ? KN_OK : kn_fail(err, KN_INPUT, "%s: there is no table \"%s\"", db->source, person);
    }
    *out = -1;
    for (int t = 0; t < db->table_count; t++) {
        if (!is_root(db, t)) continue;
        if (*out >= 0)
            return kn_fail(err, KN_INPUT,
                           "%s: say which table is that of persons (entity: {table: ...}): \"%s\", \"%s\"", db->source,
                           db->tables[*out].name, db->tables[t].name);
        *out = t;
    }
    return *out >= 0
               ? KN_OK
               : kn_fail(err, KN_INPUT, "%s: say which table is that of persons (entity: {table: ...})", db->source);
}

/* Children of every table, depths, and the order parents first. */
static kn_status arrange(kn_database *db, const int *parent, const int *link, kn_error *err)
{
    int count = 0;
    if (!db->order) db->order = kn_alloc_array(db->ctx, (size_t)db->table_count, sizeof *db->order);
    if (!db->order) return kn_fail_memory(err, db->ctx, "a schema");
    for (int t = 0; t < db->table_count; t++) {
        kn_database_table *table = &db->tables[t];
        kn_free(table->children);
        table->children = kn_alloc_array(db->ctx, (size_t)db->table_count, sizeof *table->children);
        if (!table->children) return kn_fail_memory(err, db->ctx, "a schema");
        table->child_count = 0;
        table->parent = parent[t];
        table->link = link[t];
    }
    for (int t = 0; t < db->table_count; t++)
        if (parent[t] >= 0) {
            kn_database_table *above = &db->tables[parent[t]];
            above->children[above->child_count++] = t;
        }
    db->order[count++] = db->entity;
    db->tables[db->entity].depth = 0;
    for (int i = 0; i < count; i++) {
        const kn_database_table *t = &db->tables[db->order[i]];
        for (int c = 0; c < t->child_count; c++) {
            db->tables[t->children[c]].depth = t->depth + 1;
            db->order[count++] = t->children[c];
        }
    }
    return KN_OK;
}

static kn_status check_keys(const kn_database *db, kn_error *err)
{
    for (int t = 0; t < db->table_count; t++) {
        int64_t faults = 0;
        KN_TRY(kn_database_key_faults(&faults, db, t, err));
        if (faults > 0) return fail_problem(db, &(first_problem){true, KN_SCHEMA_PARENT_KEY, t, -1}, err);
    }
    return KN_OK;
}

static kn_status check_links(const kn_database *db, const int *parent, const int *link, kn_error *err)
{
    for (int t = 0; t < db->table_count; t++) {
        int64_t wrong = 0;
        int     other = -1;
        KN_TRY(kn_database_links_differ(&wrong, &other, db, t, parent, link, err));
        if (wrong > 0)
            return kn_fail(
                err, KN_INPUT,
                "%s: table \"%s\": %lld %s to another row of \"%s\" than the row of \"%s\" that %s to does; say "
                "whose rows these are (parent: {table: ..., column: ...})",
                db->source, db->tables[t].name, (long long)wrong, wrong == 1 ? "row refers" : "rows refer",
                db->tables[other].name, db->tables[parent[t]].name, wrong == 1 ? "it refers" : "they refer");
    }
    return KN_OK;
}

kn_status kn_database_choose(kn_database *db, const char *person, kn_error *err)
{
    first_problem problem = {0};
    int           entity = -1;
    KN_TRY(find_person(db, person, &entity, err));
    size_t           n = (size_t)db->table_count;
    int             *numbers = kn_alloc_array(db->ctx, 2 * n, sizeof *numbers);
    kn_schema_place *place = kn_alloc_array(db->ctx, n, sizeof *place);
    kn_status        status = KN_OK;
    if (!numbers || !place) status = kn_fail_memory(err, db->ctx, "a schema");
    if (status == KN_OK)
        status = kn_snowflake_look(db, entity, false, numbers, numbers + n, place, remember, &problem, err);
    if (status == KN_OK && problem.found) status = fail_problem(db, &problem, err);
    if (status == KN_OK) status = check_keys(db, err);
    if (status == KN_OK) status = check_links(db, numbers, numbers + n, err);
    if (status == KN_OK) {
        db->entity = entity;
        status = arrange(db, numbers, numbers + n, err);
    }
    if (status == KN_OK) status = kn_database_use_one_link(db, err);
    KN_FREE(numbers, place);
    return status;
}
