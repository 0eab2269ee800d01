/* kn_database.h: the inside of a database: tables, keys, roles, and the path from every table to that of persons.
 *
 * A reader makes it (kn_database_create, _add for each table, _link for each foreign key); kn_database_choose then
 * fixes the table of persons and refuses what is not a snowflake around it; kn_database_roles gives columns their roles
 * and hierarchies. After that it does not change and may be read by any thread.
 *
 * Key columns (primary and foreign) are text: keys are compared by their spelling, never by value.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_DATABASE_H
#define KN_DATABASE_H

#include <kanon/database.h>

#include "kn_buffer.h"
#include "kn_hierarchy.h"
#include "kn_table.h"

#define KN_DATABASE_MOST_TABLES 4096

typedef struct kn_database_column {
    char         *declared;  /* the type's name in the catalog; NULL: none                                       */
    bool          key;       /* part of the primary key                                                          */
    bool          foreign;   /* part of a foreign key to a table of the database                                 */
    bool          joined;    /* part of what another table's foreign key refers to                               */
    bool          old_key;   /* part of a foreign key to a listed table that is not used: can only be left out    */
    bool          refers;    /* holds keys of a reference, or a part of them                                     */
    int           whole;     /* of keys of several columns that are one quasi-identifier: the column that holds them all
                                (kn_tuple.h), the first; -1: it holds its own values                              */
    int           part;      /* ... and which part of these is its own                                           */
    char         *label;     /* of a quasi-identifier whose groups are shown in a column of their own: its name; NULL */
    const char   *label_of;  /* of a release that was read back: the column whose groups it shows; NULL          */
    bool          not_null;
    bool          has_role;  /* false: not declared; dropped from a release (or part of a key, which is redrawn) */
    kn_role       role;
    kn_ratio      weight;    /* of a quasi-identifier in the metrics                                             */
    kn_hierarchy *hierarchy; /* of a quasi-identifier: bound to the column. Owned. NULL elsewhere                */
} kn_database_column;

typedef struct kn_foreign_key {
    int   target;         /* table; -1: one that was not read                     */
    int   reference;      /* table of the references, whose key it holds; -1: none */
    bool  climbs;         /* of a reference: to one whose broader rows are its own, too (kn_broader.h) */
    char *target_name;
    int   column_count;
    int  *columns;        /* of this table                                        */
    int  *target_columns; /* of the target, in the same order; NULL if it is -1   */
} kn_foreign_key;

typedef struct kn_database_table {
    char               *name;
    kn_table           *table; /* owned */
    kn_database_column *columns;
    int                 key_count; /* 0: no primary key */
    int                *key;
    int                 foreign_count;
    kn_foreign_key     *foreign;
    /* After kn_database_choose: */
    int  parent; /* table; -1: the person table                                */
    int  link;   /* the foreign key that refers to the parent's row; -1: none  */
    int  depth;  /* 0: the person table                                        */
    int  child_count;
    int *children; /* tables, ascending */
    /* After kn_database_roles: */
    int  quasi_count;
    int *quasi; /* columns, ascending: the order of a node's hierarchy nodes in a plan */
    int64_t weight; /* how many cells a row counts beyond its quasi-identifiers when it is lost */
    char *drawn_key;   /* its key refers to a reference: the name of the column of another, which a release has instead; NULL */
    /* Of a reference: */
    int  group_count; /* -1: not said */
    int *groups;      /* columns, narrowest first */
    bool labels;      /* no rows are added: what refers to it is generalized by labels */
    struct kn_broader *broader; /* the rows that a release adds; NULL: none (kn_broader.h) */
} kn_database_table;

struct kn_database {
    kn_context        *ctx;
    char              *source; /* for messages; holds no password          */
    char              *timezone; /* of times that carry none; NULL: UTC    */
    int                table_count;
    kn_database_table *tables; /* in the release file's order, else by name */
    int                entity; /* the person table; -1: not chosen          */
    int               *order;  /* after choosing: tables, parents first     */
    bool               whole;  /* nobody said which tables to read: all were */
    kn_database       *references; /* tables that are copied, all columns text; NULL: none. Owned */
};

/* ---- Making one ---- */

KN_CHECK kn_status kn_database_create(kn_database **out, kn_context *ctx, const char *source, kn_error *err);

/* Adds a table and takes ownership of `table`, even on failure. Its number is table_count - 1. */
KN_CHECK kn_status kn_database_add(kn_database *db, const char *name, kn_table *table, kn_error *err);

/* Sets the primary key (columns by name; 0: none). KN_INPUT for a column that does not exist. */
KN_CHECK kn_status kn_database_set_key(kn_database *db, int table, const char *const *columns, int count,
                                       kn_error *err);

/* Adds a foreign key, by names; `target_columns` NULL: the target's primary key. Called when all tables and their
 * keys have been added. A target that was not read gives a key with target -1. KN_INPUT for columns that do not
 * exist, or a different number of them. */
KN_CHECK kn_status kn_database_link(kn_database *db, int table, const char *const *columns, int count,
                                    const char *target, const char *const *target_columns, kn_error *err);

/* Frees the cells of every table but one (-1: of all), and of references: no other row may be asked for afterwards. */
void kn_database_forget(kn_database *db, int kept);

/* Checks every invariant: every number in range, key columns text. For tests and fuzzers. */
bool kn_database_validate(const kn_database *db, const char **reason);

/* ---- Choosing ---- */

/* Fixes the table of persons (NULL: the only one without a foreign key to a listed table) and the parent of every
 * other. KN_INPUT with the first problem if the schema is not a snowflake around it. */
KN_CHECK kn_status kn_database_choose(kn_database *db, const char *person, kn_error *err);

/* Removes the rows that belong to no person, once the table of persons is chosen, so that they affect neither built
 * hierarchies nor losses. Returns their number. */
KN_CHECK kn_status kn_database_drop_orphans(kn_database *db, int64_t *dropped, kn_error *err);

/* ---- Joining ---- */

#define KN_ROW_NONE UINT32_MAX     /* no row of the target has that key      */
#define KN_ROW_MISSING 0xfffffffeu /* a column of the foreign key is missing */

/* The row of the target for each row of `table` (`rows` entries, freed by the caller), or one of the two above. KN_INPUT
 * where two rows of the target have the same key; with `twice` given they are counted there instead. Linear. */
KN_CHECK kn_status kn_database_join(uint32_t **out, const kn_database *db, int table, int link, int64_t *twice,
                                    kn_error *err);

/* Rows of a table whose primary key is missing or that of an earlier row. Linear. */
KN_CHECK kn_status kn_database_key_faults(int64_t *out, const kn_database *db, int table, kn_error *err);

/* ---- Several foreign keys along one path (kn_database_links.c) ---- */

/* Rows whose other foreign keys to listed tables do not refer to the row that the chosen one leads to; `*other`: the table
 * that the first such key refers to. A key that is missing agrees. `parent` and `link` are those of kn_snowflake_look, which
 * found no problem of this table. */
KN_CHECK kn_status kn_database_links_differ(int64_t *out, int *other, const kn_database *db, int table,
                                            const int *parent, const int *link, kn_error *err);

/* After choosing: of several foreign keys to listed tables the chosen one stays. The columns of the others hold old keys:
 * they can only be left out. KN_INPUT: one is part of its table's key. */
KN_CHECK kn_status kn_database_use_one_link(kn_database *db, kn_error *err);

/* ---- The rules of a snowflake (kn_snowflake.c) ---- */

/* How much the names of a table and its columns speak of people; from KN_PEOPLE_TABLE on the table's own does (kn_people.c). */
enum { KN_PEOPLE_TABLE = 4 };
int kn_table_people(const char *name, const kn_table *table);

/* Which of two tables is rather that of persons? The larger: one whose name speaks of people and whose key is one column, the more
 * rows the better; else by what the columns' names say. Teachers, doctors and the like are there for others. */
int64_t kn_table_person_rank(const char *name, const kn_table *table, int key_count);

/* Called for each broken rule; `other` is a second table the rule is about, or -1. */
typedef void (*kn_snowflake_fn)(void *arg, kn_schema_rule rule, int table, int other);

/* Around `person`: the parent of each table, the foreign key that refers to it (-1: none) and its place. The arrays
 * have one entry per table. Uses keys only, not rows. `aside`: tables that do not lead to persons are left aside, with the
 * links to them: they are KN_SCHEMA_OUTSIDE, and no problem. Fails only with KN_MEMORY. */
KN_CHECK kn_status kn_snowflake_look(const kn_database *db, int person, bool aside, int *parent, int *link,
                                     kn_schema_place *place, kn_snowflake_fn fn, void *arg, kn_error *err);

/* What is wrong and what to do, as one or two sentences. */
void kn_snowflake_words(kn_buffer *message, kn_buffer *advice, const kn_database *db, kn_schema_rule rule, int table,
                        int other);

#endif
