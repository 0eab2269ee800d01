/* kn_draft_database.c: a first release file for a database: finds the persons and the tables that belong to them.
 *
 * Keys come from the catalog. Files have none; there a column of unique values with a name like an id is taken as a
 * table's key, and a column of another table with a similar name and the same values as a foreign key to it. The
 * table of persons is the one whose name and columns suggest people. Tables that lead to it by keys belong to the
 * persons; a table that is only referred to is proposed as a reference (kn_schema_propose.c), or left out: foreign keys to it then
 * become ordinary columns.
 *
 * Cost: reading, and for files one pass for each pair of columns that may be a key and a foreign key.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <kanon/database.h>
#include <kanon/diagnose.h>
#include <stdio.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_database.h"
#include "kn_draft.h"
#include "kn_error.h"
#include "kn_interner.h"
#include "kn_names.h"
#include "kn_referring.h"

enum { FEW_PERSONS = 20, MANY_STEPS = 4 };

/* A foreign key: columns of a table that identify a row of another. */
typedef struct link {
    int        target, count;
    const int *columns;
} link;

typedef struct sheet {
    const char     *name;
    const kn_table *table;
    kn_profile     *profile;
    int             key_count;
    const int      *key;
    int             link_count;
    link           *links;
    int             people;    /* how much suggests people              */
    int             depth;     /* 0: persons; -1: not related           */
    int             parent;    /* the link towards the persons          */
    bool            keyless;   /* part of its key names a row elsewhere: no rows can belong to its rows */
    const char     *reference; /* why it is proposed as a reference; NULL: it is none */
    bool           *counts;    /* of a reference, per column: it counts rows of persons */
} sheet;

typedef struct base {
    kn_drafting *d;
    kn_database *db;
    int          count;
    sheet       *sheets;
    bool         guessed; /* keys are guesses */
    int          person, quasi;
} base;

static void *room(base *b, size_t count, size_t size)
{
    return kn_arena_array_zero(b->d->arena, count + 1, size);
}

/* ---- Keys of the catalog ---- */

static kn_status take_keys(base *b, kn_error *err)
{
    for (int t = 0; t < b->count; t++) {
        const kn_database_table *from = &b->db->tables[t];
        sheet                   *s = &b->sheets[t];
        *s = (sheet){from->name, from->table, NULL, from->key_count, from->key, 0, NULL, 0, -1, -1, false, NULL, NULL};
        s->links = room(b, (size_t)from->foreign_count, sizeof *s->links);
        if (!s->links) return kn_draft_memory(b->d, err);
        for (int i = 0; i < from->foreign_count; i++)
            if (from->foreign[i].target >= 0 && from->foreign[i].target != t)
                s->links[s->link_count++] =
                    (link){from->foreign[i].target, from->foreign[i].column_count, from->foreign[i].columns};
        KN_TRY(kn_profile_table(&s->profile, b->d->ctx, s->table, err));
    }
    return KN_OK;
}

static bool any_keys(const base *b)
{
    for (int t = 0; t < b->count; t++)
        if (b->sheets[t].key_count > 0 || b->sheets[t].link_count > 0) return true;
    return false;
}

/* ---- Keys of files, guessed ---- */

static char small(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Does the name end like a key's (customerId, cid, kunden_nr, key)? */
static bool called_key(const char *name)
{
    static const char *const ends[] = {"id", "nr", "no", "key", "num", "number", "nummer"};
    size_t                   size = strlen(name);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t n = strlen(ends[i]), same = 0;
        while (same < n && n <= size && small(name[size - n + same]) == ends[i][same]) same++;
        if (same == n) return true;
    }
    return false;
}

static bool is_unique(const kn_table *table, int column)
{
    const kn_column *c = &table->columns[column];
    return table->rows > 0 && c->missing == 0 && (int64_t)c->dict.count == table->rows && c->type != KN_TYPE_DECIMAL;
}

static kn_status guess_key(base *b, sheet *s, kn_error *err)
{
    for (int c = 0; c < s->table->column_count; c++) {
        if (!is_unique(s->table, c) || !called_key(s->table->columns[c].name)) continue;
        int *key = room(b, 1, sizeof *key);
        if (!key) return kn_draft_memory(b->d, err);
        key[0] = c;
        s->key = key;
        s->key_count = 1;
        return KN_OK;
    }
    return KN_OK;
}

/* "students", "student": equal except for a plural ending. */
static bool same_stem(const char *name, size_t size, const char *table)
{
    size_t other = strlen(table), same = 0;
    while (same < size && same < other && small(name[same]) == small(table[same])) same++;
    return same > 2 && same == size && other - same <= 3;
}

/* Is it named like the key of that table, or like the table followed by "id"? */
static bool called_after(const char *column, const sheet *target)
{
    const char *key = target->table->columns[target->key[0]].name;
    bool        plain = strlen(key) <= 2; /* any table may have an "id" */
    if (!plain && strlen(column) == strlen(key) && strcmp(column, key) == 0) return true;
    size_t size = strlen(column);
    if (!called_key(column)) return same_stem(column, size, target->name);
    size -= size > 2 ? 2 : 0;
    while (size > 0 && (column[size - 1] == '_' || column[size - 1] == '-')) size--;
    return same_stem(column, size, target->name);
}

/* Are nearly all values of a column those of the key? */
static kn_status holds(bool *out, base *b, const kn_column *column, const kn_column *key, kn_error *err)
{
    kn_interner texts;
    uint32_t    found = 0;
    bool        failed = false;
    kn_interner_init(&texts, b->d->ctx);
    for (uint32_t v = 0; v < key->dict.count && !failed; v++)
        failed = kn_intern(&texts, kn_dictionary_text(&key->dict, v)) == KN_ID_FAILED;
    for (uint32_t v = 0; v < column->dict.count; v++)
        found += kn_interner_find(&texts, kn_dictionary_text(&column->dict, v)) != 0;
    kn_interner_free(&texts);
    *out = column->dict.count > 0 && found >= column->dict.count - column->dict.count / 10;
    return failed ? kn_draft_memory(b->d, err) : KN_OK;
}

static kn_status guess_link(base *b, sheet *s, int column, kn_error *err)
{
    bool own = s->key_count > 0 && s->key[0] == column;
    for (int t = 0; t < b->count; t++) {
        sheet *target = &b->sheets[t];
        bool   fits = false;
        if (target == s || target->key_count == 0) continue;
        if (!called_after(s->table->columns[column].name, target)) continue;
        if (own && target->table->rows < s->table->rows) continue;
        KN_TRY(holds(&fits, b, &s->table->columns[column], &target->table->columns[target->key[0]], err));
        if (!fits || (own && strcmp(s->name, target->name) > 0 && target->table->rows == s->table->rows)) continue;
        int *columns = room(b, 1, sizeof *columns);
        if (!columns) return kn_draft_memory(b->d, err);
        columns[0] = column;
        s->links[s->link_count++] = (link){t, 1, columns};
        return KN_OK;
    }
    return KN_OK;
}

static kn_status guess_keys(base *b, kn_error *err)
{
    b->guessed = true;
    for (int t = 0; t < b->count; t++) KN_TRY(guess_key(b, &b->sheets[t], err));
    for (int t = 0; t < b->count; t++) {
        sheet *s = &b->sheets[t];
        s->links = room(b, (size_t)s->table->column_count, sizeof *s->links);
        if (!s->links) return kn_draft_memory(b->d, err);
        for (int c = 0; c < s->table->column_count; c++) KN_TRY(guess_link(b, s, c, err));
    }
    return KN_OK;
}

/* ---- The persons and their tables ---- */

static bool part_of(const int *columns, int count, int column)
{
    for (int i = 0; i < count; i++)
        if (columns[i] == column) return true;
    return false;
}

/* The number of tables that lead to it by keys. */
static int family_of(base *b, int person)
{
    int  size = 0;
    bool more = true;
    for (int t = 0; t < b->count; t++) b->sheets[t].depth = t == person ? 0 : -1;
    while (more) {
        more = false;
        for (int t = 0; t < b->count; t++) {
            sheet *s = &b->sheets[t];
            if (t == person) continue;
            for (int i = 0; i < s->link_count; i++) {
                int depth = b->sheets[s->links[i].target].depth;
                if (depth < 0 || depth + 1 <= s->depth || depth > b->count) continue; /* the longest path counts */
                if (b->sheets[s->links[i].target].key_count == 0 || b->sheets[s->links[i].target].keyless) continue;
                size += s->depth < 0;
                s->depth = depth + 1;
                s->parent = i;
                more = s->depth < b->count;
            }
        }
    }
    return size;
}

/* Is part of its key left out, since it names a row elsewhere? */
static bool loses_key(const base *b, const sheet *s)
{
    bool elsewhere = false;
    for (int i = 0; s->depth > 0 && i < s->link_count; i++)
        for (int c = 0; b->sheets[s->links[i].target].depth >= 0 && c < s->links[i].count; c++) {
            const link *own = &s->links[s->parent];
            int         column = s->links[i].columns[c];
            elsewhere =
                elsewhere || (part_of(s->key, s->key_count, column) && !part_of(own->columns, own->count, column));
        }
    return elsewhere;
}

/* Junctions lose their keys, and with them the tables whose rows belong to theirs, unless these lead to persons otherwise. */
static void find_family(base *b)
{
    bool more = true;
    while (more) {
        more = false;
        (void)family_of(b, b->person);
        for (int t = 0; t < b->count; t++) {
            sheet *s = &b->sheets[t];
            if (s->keyless || s->depth >= b->count || !loses_key(b, s)) continue;
            s->keyless = more = true;
        }
    }
}

static kn_status choose_person(base *b, kn_error *err)
{
    int     best = -1, best_family = -1;
    int64_t best_rank = -1;
    for (int t = 0; t < b->count; t++) {
        sheet  *s = &b->sheets[t];
        int     family = family_of(b, t);
        int64_t rank = kn_table_person_rank(s->name, s->table, s->key_count);
        if (b->d->options->entity && strcmp(b->d->options->entity, s->name) != 0) continue;
        if (s->key_count == 0 && !b->d->options->entity) continue;
        if (rank < best_rank || (rank == best_rank && family <= best_family)) continue;
        best = t;
        best_rank = rank;
        best_family = family;
    }
    if (best < 0 && b->d->options->entity)
        return kn_fail(err, KN_INPUT, "%s: there is no table \"%s\"", b->db->source, b->d->options->entity);
    if (best < 0 || b->sheets[best].key_count == 0)
        return kn_fail(err, KN_INPUT,
                       "%s: no table has a key that could be that of persons; give them a first column of "
                       "ids, or write a release file that names the keys",
                       b->db->source);
    b->person = best;
    find_family(b);
    for (int t = 0; t < b->count; t++)
        if (b->sheets[t].depth >= b->count)
            return kn_fail(err, KN_INPUT,
                           "%s: the keys of table \"%s\" go in a circle; write a release file that names "
                           "the tables to be read",
                           b->db->source, b->sheets[t].name);
    return KN_OK;
}

/* ---- References ---- */

/* Does a column of a link belong to another one, too? */
static bool overlaps(const sheet *s, int number)
{
    const link *one = &s->links[number];
    for (int i = 0; i < s->link_count; i++)
        for (int c = 0; i != number && c < s->links[i].count; c++)
            if (part_of(one->columns, one->count, s->links[i].columns[c])) return true;
    return false;
}

/* Can rows refer to it as a reference: by its key, with columns of their own? */
static bool fits_reference(const base *b, int table)
{
    for (int t = 0; t < b->count; t++)
        for (int i = 0; b->sheets[t].depth >= 0 && i < b->sheets[t].link_count; i++)
            if (b->sheets[t].links[i].target == table &&
                (b->sheets[t].links[i].count != b->sheets[table].key_count || overlaps(&b->sheets[t], i)))
                return false;
    return true;
}

/* The database once more, with the keys that were guessed. */
static kn_status read_guesses(base *b, const kn_csv_options *csv, kn_database **out, kn_error *err)
{
    kn_database_options options = KN_DATABASE_OPTIONS_INIT;
    kn_spec_table      *tables = room(b, (size_t)b->count, sizeof *tables);
    if (!tables) return kn_draft_memory(b->d, err);
    for (int t = 0; t < b->count; t++) {
        const sheet        *s = &b->sheets[t];
        const char        **names = room(b, 2 * (size_t)s->link_count + 1, sizeof *names);
        const char *const **lists = room(b, (size_t)s->link_count, sizeof *lists);
        int                *counts = room(b, (size_t)s->link_count, sizeof *counts);
        if (!names || !lists || !counts) return kn_draft_memory(b->d, err);
        tables[t] = (kn_spec_table){.name = s->name, .has_key = true, .key_count = s->key_count, .key = names};
        if (s->key_count > 0) names[0] = s->table->columns[s->key[0]].name;
        tables[t].link_count = s->link_count;
        tables[t].link_columns = names + 1;
        tables[t].link_targets = names + 1 + s->link_count;
        tables[t].link_lists = lists;
        tables[t].link_counts = counts;
        for (int i = 0; i < s->link_count; i++) {
            names[1 + i] = s->table->columns[s->links[i].columns[0]].name;
            names[1 + s->link_count + i] = b->sheets[s->links[i].target].name;
            lists[i] = &names[1 + i];
            counts[i] = 1;
        }
    }
    options.tables = tables;
    options.table_count = b->count;
    options.csv = csv;
    KN_TRY(kn_database_read(out, b->d->ctx, b->d->inputs[0], &options, err));
    (*out)->whole = true; /* as if nobody had said anything */
    return KN_OK;
}

/* How many rows of one table refer to rows of another that are not there? */
static kn_status count_dangling(int64_t *out, base *b, const sheet *from, const link *l, kn_error *err)
{
    const sheet *to = &b->sheets[l->target];
    int64_t     *found = kn_alloc_array_zero(b->d->ctx, (size_t)to->table->rows + 1, sizeof *found);
    if (!found) return kn_draft_memory(b->d, err);
    kn_status st = kn_count_referring(found, b->d->ctx, (kn_key_cells){from->table, l->columns, l->count}, NULL,
                                      (kn_key_cells){to->table, to->key, to->key_count}, err);
    *out = 0;
    for (int64_t row = 0; row < from->table->rows; row++) {
        bool missing = false;
        for (int c = 0; c < l->count; c++) {
            const kn_column *column = &from->table->columns[l->columns[c]];
            missing = missing || kn_column_code(column, row) == column->dict.count;
        }
        *out += !missing;
    }
    for (int64_t row = 0; row < to->table->rows; row++) *out -= found[row];
    kn_free(found);
    return st;
}

/* A reference has every row that persons refer to, which SQLite does not see to, and guesses do not ask. */
static kn_status check_whole(bool *out, base *b, int table, kn_error *err)
{
    *out = true;
    for (int t = 0; t < b->count; t++) {
        const sheet *from = &b->sheets[t];
        for (int i = 0; *out && from->depth >= 0 && i < from->link_count; i++) {
            int64_t dangling = 0;
            if (from->links[i].target != table) continue;
            KN_TRY(count_dangling(&dangling, b, from, &from->links[i], err));
            if (dangling == 0) continue;
            *out = false;
            KN_TRY(kn_draft_note(b->d, err,
                                 "table \"%s\" is not proposed as a reference: it lacks rows that %lld row%s of \"%s\" "
                                 "refer%s to",
                                 b->sheets[table].name, (long long)dangling, dangling == 1 ? "" : "s", from->name,
                                 dangling == 1 ? "s" : ""));
        }
    }
    return KN_OK;
}

/* What kn_schema_look proposes. */
static kn_status take_references(base *b, const kn_schema *schema, kn_error *err)
{
    for (int t = 0; t < b->count; t++) {
        const kn_schema_table *from = kn_schema_table_at(schema, t);
        bool                   whole = false;
        if (b->sheets[t].depth >= 0 || from->place != KN_SCHEMA_REFERENCE || !fits_reference(b, t)) continue;
        KN_TRY(check_whole(&whole, b, t, err));
        if (!whole) continue;
        b->sheets[t].reference = kn_arena_strndup(b->d->arena, from->reason, strlen(from->reason));
        if (!b->sheets[t].reference) return kn_draft_memory(b->d, err);
    }
    return KN_OK;
}

static kn_status find_references(base *b, const kn_database *db, kn_error *err)
{
    kn_schema *schema = NULL;
    KN_TRY(kn_schema_look(&schema, b->d->ctx, db, b->sheets[b->person].name, err));
    kn_status st = take_references(b, schema, err);
    kn_schema_free(schema);
    return st;
}

/* Marks the columns of a reference that hold these counts of rows that refer to its rows, and goes on to those that it refers to. */
static kn_status mark_counts(base *b, const sheet *s, const int64_t *counts, int steps, kn_error *err)
{
    for (int c = 0; counts && c < s->table->column_count; c++)
        s->counts[c] = s->counts[c] || kn_holds_counts(s->table, c, counts);
    for (int i = 0; steps > 0 && i < s->link_count; i++) {
        const sheet *to = &b->sheets[s->links[i].target];
        if (!to->reference || s->links[i].count != to->key_count) continue;
        int64_t *above = kn_alloc_array_zero(b->d->ctx, (size_t)to->table->rows + 1, sizeof *above);
        if (!above) return kn_draft_memory(b->d, err);
        kn_status st =
            kn_count_referring(above, b->d->ctx, (kn_key_cells){s->table, s->links[i].columns, s->links[i].count},
                               counts, (kn_key_cells){to->table, to->key, to->key_count}, err);
        if (st == KN_OK) st = mark_counts(b, to, above, steps - 1, err);
        kn_free(above);
        KN_TRY(st);
    }
    return KN_OK;
}

/* Which columns of references count what persons do: a release would be refused. */
static kn_status find_counters(base *b, kn_error *err)
{
    for (int t = 0; t < b->count; t++) {
        b->sheets[t].counts = room(b, (size_t)b->sheets[t].table->column_count, sizeof(bool));
        if (!b->sheets[t].counts) return kn_draft_memory(b->d, err);
    }
    for (int t = 0; t < b->count; t++)
        if (b->sheets[t].depth >= 0) KN_TRY(mark_counts(b, &b->sheets[t], NULL, MANY_STEPS, err));
    return KN_OK;
}

/* The reference that a column refers to; NULL: none. */
static const sheet *reference_of(const base *b, const sheet *s, int column)
{
    for (int i = 0; i < s->link_count; i++)
        if (part_of(s->links[i].columns, s->links[i].count, column) && b->sheets[s->links[i].target].reference)
            return &b->sheets[s->links[i].target];
    return NULL;
}

/* ---- Text ---- */

static void write_names(base *b, const sheet *s, const char *key, const char *keys, const int *columns, int count)
{
    kn_buffer *to = &b->d->text;
    kn_buffer_format(to, "%s: %s", count > 1 ? keys : key, count > 1 ? "[" : "");
    for (int i = 0; i < count; i++) {
        if (i > 0) kn_buffer_add(to, ", ");
        kn_draft_quote(to, s->table->columns[columns[i]].name);
    }
    if (count > 1) kn_buffer_char(to, ']');
}

/* The part of a column in the keys of the tables that are read; NULL: none. */
static const char *key_part(const base *b, const sheet *s, int column)
{
    if (part_of(s->key, s->key_count, column)) return "part of the key, which is drawn anew";
    for (int i = 0; i < s->link_count; i++) {
        const link *l = &s->links[i];
        if (!part_of(l->columns, l->count, column) || b->sheets[l->target].depth < 0) continue;
        return s->depth > 0 && i == s->parent ? "names whose row it is" : "names a row elsewhere; left out";
    }
    return NULL;
}

static bool names_lookup(const base *b, const sheet *s, int column)
{
    for (int i = 0; i < s->link_count; i++)
        if (b->sheets[s->links[i].target].depth < 0 && part_of(s->links[i].columns, s->links[i].count, column))
            return true;
    return false;
}

static kn_status write_column(base *b, const sheet *s, int c, bool *first, kn_error *err)
{
    const kn_column_profile *p = kn_column_profile_at(s->profile, c);
    kn_buffer               *to = &b->d->text;
    const char              *key = key_part(b, s, c), *reason = p->reason;
    kn_draft_rule            rule = {NULL, NULL, ""};
    kn_role                  role = p->role == KN_ROLE_WEIGHT ? KN_ROLE_QUASI : p->role;
    bool                     lookup = names_lookup(b, s, c);
    const sheet             *reference = reference_of(b, s, c);
    if (reference) {
        key = NULL;
        role = KN_ROLE_QUASI;
        reason = reference->key_count > 1 ? "refers to a reference, whose groups are its hierarchy"
                                          : "refers to a reference, whose broader rows are its hierarchy";
    } else if (lookup) {
        role = KN_ROLE_QUASI;
        reason = "names a row of a look-up table, which is left out";
    }
    if (key) return kn_draft_add_column(b->d, s->name, p->name, NULL, key, NULL, err);
    if (p->distinct == 0) {
        role = KN_ROLE_IDENTIFIER;
        reason = "it has no value at all; left out";
    }
    if (role == KN_ROLE_QUASI && !reference) KN_TRY(kn_draft_rule_of(&rule, b->d, s->table, c, s->name, lookup, err));
    if (lookup) rule.type = NULL;
    b->quasi += role == KN_ROLE_QUASI;
    kn_buffer_add(to, *first ? "    attributes:\n      " : "      ");
    *first = false;
    kn_draft_quote(to, p->name);
    kn_buffer_format(to, ": {role: %s", kn_role_name(role));
    if (role == KN_ROLE_QUASI && rule.type) kn_buffer_format(to, ", type: %s", rule.type);
    if (rule.hierarchy) kn_buffer_format(to, ", hierarchy: %s", rule.hierarchy);
    kn_buffer_format(to, "}  # %s%s%s%s\n", reason, *rule.why ? " (" : "", rule.why, *rule.why ? ")" : "");
    return kn_draft_add_column(b->d, s->name, p->name, kn_role_name(role), reason, rule.hierarchy, err);
}

/* Persons who refer to persons: a boss. */
static void ignore_own(base *b, const sheet *s)
{
    const kn_database_table *t = &b->db->tables[s - b->sheets];
    bool                     first = true;
    for (int i = 0; i < t->foreign_count; i++) {
        if (t->foreign[i].target != s - b->sheets) continue;
        kn_buffer_add(&b->d->text, first ? "    ignore: [" : ", ");
        first = false;
        kn_draft_quote(&b->d->text, s->table->columns[t->foreign[i].columns[0]].name);
    }
    if (!first) kn_buffer_add(&b->d->text, "]  # persons who refer to persons\n");
}

/* Guessed links to references: no catalog has them. */
static void write_links(base *b, const sheet *s)
{
    bool first = true;
    for (int i = 0; b->guessed && i < s->link_count; i++) {
        const sheet *target = &b->sheets[s->links[i].target];
        if (!target->reference) continue;
        kn_buffer_add(&b->d->text, first ? "    links: {" : ", ");
        first = false;
        kn_draft_quote(&b->d->text, s->table->columns[s->links[i].columns[0]].name);
        kn_buffer_add(&b->d->text, ": ");
        kn_draft_quote(&b->d->text, target->name);
    }
    if (!first) kn_buffer_add(&b->d->text, "}\n");
}

/* Has a key of several columns one that names no other row? */
static bool says_something(const sheet *s)
{
    int own = 0;
    for (int i = 0; i < s->key_count; i++) {
        bool names = false;
        for (int l = 0; l < s->link_count; l++) names |= part_of(s->links[l].columns, s->links[l].count, s->key[i]);
        own += !names;
    }
    return s->key_count > 1 && own > 0;
}

static kn_status write_table(base *b, const sheet *s, kn_error *err)
{
    kn_buffer *to = &b->d->text;
    bool       first = true;
    kn_buffer_add(to, "  ");
    kn_draft_quote(to, s->name);
    int owners = 0;
    for (int i = 0; i < s->link_count; i++) owners += b->sheets[s->links[i].target].depth >= 0;
    kn_buffer_add(to, s->depth == 0 ? ":  # the persons\n"
                      : owners > 1  ? ":  # a link: its rows are their parent's\n"
                                    : ":  # rows of persons\n");
    if (s->keyless)
        kn_buffer_add(to, "    key: []  # part of it names a row elsewhere\n");
    else if (s->key_count > 0) {
        kn_buffer_add(to, "    ");
        write_names(b, s, "key", "key", s->key, s->key_count);
        kn_buffer_add(to, says_something(s)
                              ? "  # drawn anew: a column of it that says something (a date) needs a role, "
                                "and a key without it (key: [] if there is no other)\n"
                              : "\n");
    }
    if (s->depth > 0) {
        const link *l = &s->links[s->parent];
        kn_buffer_add(to, "    parent: {table: ");
        kn_draft_quote(to, b->sheets[l->target].name);
        kn_buffer_add(to, ", ");
        write_names(b, s, "column", "columns", l->columns, l->count);
        kn_buffer_add(to, "}\n");
    }
    if (s->depth == 0) ignore_own(b, s);
    write_links(b, s);
    for (int c = 0; c < s->table->column_count; c++) KN_TRY(write_column(b, s, c, &first, err));
    return KN_OK;
}

/* Why a column of a reference is left out; NULL: it is copied. */
static const char *left_out(const base *b, const sheet *s, int column)
{
    if (part_of(s->key, s->key_count, column)) return NULL;
    for (int i = 0; i < s->link_count; i++) {
        const sheet *target = &b->sheets[s->links[i].target];
        if (target->depth < 0 && !target->reference && part_of(s->links[i].columns, s->links[i].count, column))
            return "names a row of a table that is left out";
        if (part_of(s->links[i].columns, s->links[i].count, column)) return NULL;
    }
    if (s->counts[column]) return "counts rows of persons";
    return kn_speaks_of_use(s->table->columns[column].name) ? "its name says that what persons do may change it" : NULL;
}

/* A reference is copied, without columns that refer to tables that are left out, which may hold persons, and those that persons
 * cause. */
static void write_reference(base *b, const sheet *s)
{
    kn_buffer *to = &b->d->text;
    bool       first = true;
    kn_buffer_add(to, "  ");
    kn_draft_quote(to, s->name);
    kn_buffer_format(to,
                     ":  # %s\n    reference: true  # all its rows are copied: leave it out if they are about people\n",
                     s->reference);
    if (b->guessed && s->key_count > 0) {
        kn_buffer_add(to, "    ");
        write_names(b, s, "key", "key", s->key, s->key_count);
        kn_buffer_char(to, '\n');
    }
    write_links(b, s);
    for (int c = 0; c < s->table->column_count; c++) {
        const char *why = left_out(b, s, c);
        if (!why) continue;
        kn_buffer_add(to, first ? "    attributes:\n      " : "      ");
        first = false;
        kn_draft_quote(to, s->table->columns[c].name);
        kn_buffer_format(to, ": {role: identifier}  # %s\n", why);
    }
}

static kn_status write_left_out(base *b, const sheet *s, kn_error *err)
{
    const char *junction = NULL;
    for (int i = 0; i < s->link_count; i++)
        if (b->sheets[s->links[i].target].keyless) junction = b->sheets[s->links[i].target].name;
    kn_buffer_format(&b->d->text, "  # not read: %s: ",
                     junction ? "its rows belong to rows without a key"
                              : "no key leads from it to persons (a look-up table?)");
    kn_draft_quote(&b->d->text, s->name);
    kn_buffer_char(&b->d->text, '\n');
    if (junction)
        return kn_draft_note(
            b->d, err, "table \"%s\" is left out: its rows belong to those of \"%s\", whose key names rows elsewhere",
            s->name, junction);
    return kn_draft_note(b->d, err, "table \"%s\" is left out: no key leads from it to those of \"%s\"", s->name,
                         b->sheets[b->person].name);
}

static kn_status write_tables(base *b, kn_error *err)
{
    const sheet *person = &b->sheets[b->person];
    kn_buffer   *to = &b->d->text;
    kn_buffer_add(to, "\nentity: {table: ");
    kn_draft_quote(to, person->name);
    kn_buffer_add(to, ", ");
    write_names(b, person, "key", "key", person->key, person->key_count);
    kn_buffer_add(to, "}  # whose trees these are\ntables:");
    if (b->guessed) kn_buffer_add(to, "  # files have no keys of their own: these are guesses from names and values");
    kn_buffer_char(to, '\n');
    for (int depth = 0; depth < b->count; depth++)
        for (int t = 0; t < b->count; t++)
            if (b->sheets[t].depth == depth) KN_TRY(write_table(b, &b->sheets[t], err));
    for (int t = 0; t < b->count; t++)
        if (b->sheets[t].reference) write_reference(b, &b->sheets[t]);
    for (int t = 0; t < b->count; t++)
        if (b->sheets[t].depth < 0 && !b->sheets[t].reference) KN_TRY(write_left_out(b, &b->sheets[t], err));
    return KN_OK;
}

static kn_status write_all(base *b, const kn_csv_options *csv, kn_error *err)
{
    kn_drafting *d = b->d;
    const char  *input = d->inputs[0], *output = kn_name_sqlite(input) ? "sqlite:release.db" : "release/";
    int64_t      persons = b->sheets[b->person].table->rows;
    int64_t      k = d->options->k > 0 ? d->options->k : persons < FEW_PERSONS ? 2 : 5;
    if (persons < 2)
        return kn_fail(err, KN_INPUT, "%s: table \"%s\" has fewer than 2 persons", b->db->source,
                       b->sheets[b->person].name);
    KN_TRY(kn_draft_opening(d, csv, output, err));
    KN_TRY(write_tables(b, err));
    if (b->quasi == 0)
        return kn_fail(
            err, KN_INPUT,
            "%s: of the persons in \"%s\", no column looks like something that others may know, so there is nothing to "
            "blur; --entity names another table of persons, or write a release file that gives a column the role quasi",
            b->db->source, b->sheets[b->person].name);
    kn_buffer_format(&d->text,
                     "\nprivacy:\n  - k: %lld  # whoever knows all rows of somebody finds at least so many persons\n"
                     "  # - l-diversity: {attribute: TABLE.COLUMN, l: 2}  # of a sensitive column; by method dmiracle\n"
                     "\nmethod: auto  # the methods that fit are tried, and the one that loses least is taken\n",
                     (long long)k);
    return KN_OK;
}

static kn_status draft(base *b, const kn_csv_options *csv, kn_error *err)
{
    b->count = b->db->table_count;
    b->sheets = room(b, (size_t)b->count, sizeof *b->sheets);
    if (!b->sheets) return kn_draft_memory(b->d, err);
    KN_TRY(take_keys(b, err));
    if (!any_keys(b)) KN_TRY(guess_keys(b, err));
    KN_TRY(choose_person(b, err));
    kn_database *guessed = NULL;
    if (b->guessed) KN_TRY(read_guesses(b, csv, &guessed, err));
    kn_status st = find_references(b, guessed ? guessed : b->db, err);
    kn_database_free(guessed);
    if (st == KN_OK) st = find_counters(b, err);
    return st == KN_OK ? write_all(b, csv, err) : st;
}

kn_status kn_draft_database(kn_drafting *d, kn_error *err)
{
    kn_csv_options      csv = KN_CSV_OPTIONS_INIT;
    kn_database_options reading = KN_DATABASE_OPTIONS_INIT;
    base                b = {.d = d};
    KN_TRY(kn_draft_reading(&csv, d, err));
    reading.csv = &csv;
    KN_TRY(kn_database_read(&b.db, d->ctx, d->inputs[0], &reading, err));
    kn_status st = draft(&b, &csv, err);
    for (int t = 0; b.sheets && t < b.count; t++) kn_profile_free(b.sheets[t].profile);
    kn_database_free(b.db);
    return st;
}
