/* database_testing.h: random databases as plain texts, for tests: written as files, and their trees told naively. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DATABASE_TESTING_H
#define DATABASE_TESTING_H

#include "kn_forest.h"
#include "kn_rng.h"

enum { RDB_TABLES = 8, RDB_COLUMNS = 10 };

typedef struct rdb_table {
    char            name[16];
    int             parent;                /* -1: persons                                             */
    int             key_count;             /* the first columns; 0: no key                            */
    int             link_count, link_from; /* columns that name the parent's key                      */
    int             columns, rows;
    char            column[RDB_COLUMNS][16];
    kn_role         role[RDB_COLUMNS]; /* of columns that are no keys                                 */
    char         *(*cell)[RDB_COLUMNS]; /* NULL: missing                                              */
    kn_attribute    attributes[RDB_COLUMNS];
    const char     *key[RDB_COLUMNS], *link[RDB_COLUMNS];
} rdb_table;

typedef struct rdb {
    int           tables;
    rdb_table     table[RDB_TABLES];
    kn_spec_table spec[RDB_TABLES]; /* all that a folder needs */
} rdb;

/* A snowflake of depth <= 3: keys of one or two columns, some built on the parent's; rows without parents. */
rdb *rdb_random(kn_rng *rng, int persons);
void rdb_free(rdb *db);

/* The same rows in another order. */
void rdb_shuffle(rdb *db, kn_rng *rng);

/* FOLDER/NAME.csv of each table; a SQLite file with its keys; statements that make it in a schema of PostgreSQL. */
void  rdb_write_folder(const rdb *db, const char *folder);
void  rdb_write_sqlite(const rdb *db, const char *path);
char *rdb_sql(const rdb *db); /* freed with free() */

/* Reads it (folders need the keys), chooses persons and sets the roles. Fails the test on errors. */
kn_database *rdb_read(kn_context *ctx, const rdb *db, const char *input);

/* The tree that hangs from a row, found by comparing texts, as a text in which equal trees are equal: quasi-identifiers
 * alone, or with the sensitive and kept columns. Freed with free(). */
char *rdb_tree(const rdb *db, int table, int row, bool all);

/* The same of a node of a forest. */
char *forest_tree(const kn_forest *f, int64_t entity, uint64_t node, bool all);

/* The row that names no parent, a dangling one, and one that hangs from such: -1, -2, -3; else the parent's row. */
int rdb_parent(const rdb *db, int table, int row);

#endif
