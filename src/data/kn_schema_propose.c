/* kn_schema_propose.c: proposals of references. Interface: kn_schema_propose.h.
 *
 * A table that leads to no person may say nothing about them: it is proposed as a reference if tables of persons refer to it, or
 * references do, or it refers to references (a junction of two). It is not proposed if its name speaks of people, who are then
 * others than the persons; if nearly every row that refers to it has a row of its own there (addresses), which may have been made
 * for it. All this is a guess that the user confirms.
 *
 * Cost: a few passes over the foreign keys.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_schema_propose.h"

#include <string.h>

#include "kn_buffer.h"
#include "kn_error.h"

enum { FEW_ROWS = 10 };

typedef struct proposing {
    kn_arena          *arena;
    const kn_database *db;
    kn_schema_table   *tables;
    int                person;
} proposing;

static bool of_persons(const kn_schema_table *t)
{
    return t->place == KN_SCHEMA_PERSON || t->place == KN_SCHEMA_FAMILY || t->place == KN_SCHEMA_PROBLEM;
}

/* Has every row of a table of persons that refers to this one a row of its own there? */
static bool is_made_for_rows(const proposing *p, int table)
{
    for (int t = 0; t < p->db->table_count; t++)
        for (int i = 0; of_persons(&p->tables[t]) && i < p->db->tables[t].foreign_count; i++) {
            const kn_foreign_key *f = &p->db->tables[t].foreign[i];
            if (f->target != table || f->column_count != 1) continue;
            const kn_column *c = &p->db->tables[t].table->columns[f->columns[0]];
            int64_t          present = p->db->tables[t].table->rows - c->missing;
            if (present >= FEW_ROWS && (int64_t)c->dict.count == present) return true;
        }
    return false;
}

/* A table that refers to this one and is of persons or, as `references` says, a reference; -1: none. */
static int referrer(const proposing *p, int table, bool references)
{
    for (int t = 0; t < p->db->table_count; t++)
        for (int i = 0; t != table && i < p->db->tables[t].foreign_count; i++)
            if (p->db->tables[t].foreign[i].target == table &&
                (references ? p->tables[t].place == KN_SCHEMA_REFERENCE : of_persons(&p->tables[t])))
                return t;
    return -1;
}

/* Does it refer to references, and to no table that is to be left out? */
static bool joins_references(const proposing *p, int table)
{
    const kn_database_table *t = &p->db->tables[table];
    int                      found = 0;
    for (int i = 0; i < t->foreign_count; i++) {
        if (t->foreign[i].target < 0) continue;
        const kn_schema_table *to = &p->tables[t->foreign[i].target];
        if (to->place != KN_SCHEMA_REFERENCE && to->reason) return false;
        found += to->place == KN_SCHEMA_REFERENCE;
    }
    return found > 0;
}

static const char *sentence(const proposing *p, const char *before, const char *name, const char *after)
{
    kn_buffer text;
    kn_buffer_init(&text, p->arena->ctx);
    kn_buffer_format(&text, "%s\"%s\"%s", before, name, after);
    const char *made = kn_buffer_text(&text);
    const char *copy = made ? kn_arena_strndup(p->arena, made, text.size) : NULL;
    if (!copy) p->arena->failed = true;
    kn_buffer_free(&text);
    return copy;
}

/* Proposes what it can; true: something new. */
static bool propose(const proposing *p)
{
    bool more = false;
    for (int t = 0; t < p->db->table_count; t++) {
        kn_schema_table *table = &p->tables[t];
        int              from = referrer(p, t, false), over = referrer(p, t, true);
        if (table->place != KN_SCHEMA_OUTSIDE || table->reason) continue;
        if (kn_table_people(table->name, p->db->tables[t].table) >= KN_PEOPLE_TABLE)
            table->reason = "its name speaks of people, others than the persons: to be left out";
        else if (is_made_for_rows(p, t))
            table->reason = "every row that refers to it has a row of its own there: to be left out";
        else if (from >= 0 || over >= 0)
            table->reason = sentence(p, "", p->tables[from >= 0 ? from : over].name,
                                     " refers to it, and no key leads from it to persons");
        else if (joins_references(p, t))
            table->reason = "it joins references, and no key leads from it to persons";
        else
            continue;
        if (!table->reason || strstr(table->reason, "left out")) continue;
        table->place = KN_SCHEMA_REFERENCE;
        more = true;
    }
    return more;
}

static const char *reason_of(const proposing *p, int t)
{
    const kn_schema_table *table = &p->tables[t];
    switch (table->place) {
    case KN_SCHEMA_PERSON:
        return kn_table_people(table->name, p->db->tables[t].table) > 0 ? "the persons: its names speak of people"
                                                                        : "the persons: most tables lead to it";
    case KN_SCHEMA_FAMILY: return sentence(p, "its rows belong to rows of ", p->tables[table->parent].name, "");
    case KN_SCHEMA_PROBLEM: return "it breaks a rule";
    case KN_SCHEMA_OUTSIDE: return "no key leads from it to persons, and nothing refers to it: to be left out";
    case KN_SCHEMA_REFERENCE: break;
    }
    return table->reason;
}

kn_status kn_schema_propose(kn_arena *arena, const kn_database *db, kn_schema_table *tables, int person, kn_error *err)
{
    proposing p = {arena, db, tables, person};
    while (db->whole && propose(&p)) continue;
    for (int t = 0; t < db->table_count; t++)
        if (!tables[t].reason) tables[t].reason = reason_of(&p, t);
    return arena->failed ? kn_fail_memory(err, arena->ctx, "a schema") : KN_OK;
}
