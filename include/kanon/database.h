/* kanon/database.h: several tables with keys: reading them, what their schema looks like around one table of
 * persons, and how alike the persons are.
 *
 * A database comes from a SQLite file ("sqlite:FILE"), a PostgreSQL server ("postgresql://..." or "postgresql:" for
 * libpq's environment) or a folder of CSV files ("FOLDER/"). Keys come from the catalog where there is one; what the
 * release file says of a table takes precedence. A database does not change once read and may be read by any thread.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KANON_DATABASE_H
#define KANON_DATABASE_H

#include <kanon/models.h>
#include <kanon/spec.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kn_database kn_database;

typedef struct kn_database_options {
    size_t               size;   /* sizeof(kn_database_options), set by the initializer                       */
    const kn_spec_table *tables; /* read these only, in this order; NULL: all, by their names                 */
    int                  table_count;
    const char          *schema; /* PostgreSQL; NULL: the first schema of the search path                     */
    const kn_csv_options *csv;   /* of a folder's files; `na` and `timezone` also of other sources. NULL: as a table's */
    const char          *snapshot; /* PostgreSQL: read this exported snapshot; NULL: the current state        */
} kn_database_options;

#define KN_DATABASE_OPTIONS_INIT {sizeof(kn_database_options), NULL, 0, NULL, NULL, NULL}
KN_API void kn_database_options_init(kn_database_options *options, size_t size);

/* Is this the name of a database ("sqlite:...", "postgresql:...", "postgres:...", or an existing folder)? */
KN_API bool kn_database_named(const char *input);

/* Reads a database, in one transaction if the source has transactions. `options` may be NULL. KN_INPUT: no such
 * table, column or file; cells that are not UTF-8. KN_IO: the server or file cannot be read. Messages never hold a
 * password. */
KN_API KN_CHECK kn_status kn_database_read(kn_database **out, kn_context *ctx, const char *input,
                                           const kn_database_options *options, kn_error *err);
KN_API void               kn_database_free(kn_database *database);

KN_API int             kn_database_tables(const kn_database *database);
KN_API const char     *kn_database_table_name(const kn_database *database, int table);
KN_API const kn_table *kn_database_content(const kn_database *database, int table);
KN_API int             kn_database_find(const kn_database *database, const char *table_name); /* -1: none */

/* ---- The schema as an answer ---- */

typedef struct kn_schema_column {
    const char *name;
    kn_type     type;
    const char *declared; /* the type's name in the catalog; NULL: none */
    uint32_t    distinct;
    int64_t     missing;
    bool        key;     /* part of the primary key   */
    bool        foreign; /* part of a foreign key     */
} kn_schema_column;

/* A foreign key: columns of this table that refer to a row of another. */
typedef struct kn_schema_link {
    int         column_count;
    const int  *columns;
    int         target;      /* index of a table of the schema; -1: one that was not read  */
    const char *target_name;
    const int  *target_columns; /* NULL where target is -1                                 */
    int64_t     missing;     /* rows in which a column of it is missing                    */
    int64_t     dangling;    /* rows that refer to a row that does not exist               */
} kn_schema_link;

typedef enum kn_schema_place {
    KN_SCHEMA_PERSON = 0, /* the table of persons                          */
    KN_SCHEMA_FAMILY,     /* its rows belong to persons by one path        */
    KN_SCHEMA_PROBLEM,    /* it breaks a rule: see problems                */
    KN_SCHEMA_OUTSIDE,    /* no path of keys leads to the table of persons */
    KN_SCHEMA_REFERENCE   /* declared as a reference, or proposed as one   */
} kn_schema_place;

typedef struct kn_schema_table {
    const char             *name;
    int64_t                 rows;
    int                     column_count;
    const kn_schema_column *KN_PRIVATE(columns); /* kn_schema_column_at */
    int                     link_count;
    const kn_schema_link   *KN_PRIVATE(links); /* kn_schema_link_at */
    kn_schema_place         place;
    int                     parent; /* the table its rows belong to; -1: none       */
    int64_t                 orphans; /* rows that belong to no person; FAMILY only  */
    const char             *reason;  /* why it has this place                       */
} kn_schema_table;

/* The rules of a snowflake (section 4.1), each broken one a problem. */
typedef enum kn_schema_rule {
    KN_SCHEMA_PERSON_KEY = 0, /* the table of persons has no primary key                             */
    KN_SCHEMA_PERSON_LINK,    /* the table of persons has a foreign key to a listed table            */
    KN_SCHEMA_TWO_LINKS,      /* a table has two foreign keys to listed tables                       */
    KN_SCHEMA_CYCLE,          /* tables that refer to each other in a cycle                          */
    KN_SCHEMA_UNREACHED,      /* no path of foreign keys leads to the table of persons               */
    KN_SCHEMA_PARENT_KEY,     /* another table refers to its rows, but its key is not unique         */
    KN_SCHEMA_QUASI_KEY       /* a quasi-identifier is part of a key                                 */
} kn_schema_rule;

/* "two-links", ... Static. */
KN_API const char *kn_schema_rule_name(kn_schema_rule rule);

typedef struct kn_schema_problem {
    kn_schema_rule rule;
    int            table;
    const char    *message; /* what is wrong              */
    const char    *advice;  /* what would have to be done */
} kn_schema_problem;

typedef struct kn_schema {
    int                      table_count;
    const kn_schema_table   *KN_PRIVATE(tables); /* kn_schema_table_at */
    int                      person;  /* index of the table of persons; -1: none could be chosen    */
    bool                     chosen;  /* it was not named: its names speak of people most, then it has the largest family */
    bool                     snowflake;
    int                      problem_count;
    const kn_schema_problem *KN_PRIVATE(problems); /* kn_schema_problem_at */
} kn_schema;

/* NULL: there is none. */
KN_API const kn_schema_table   *kn_schema_table_at(const kn_schema *schema, int index);
KN_API const kn_schema_problem *kn_schema_problem_at(const kn_schema *schema, int index);
KN_API const kn_schema_column  *kn_schema_column_at(const kn_schema_table *table, int index);
KN_API const kn_schema_link    *kn_schema_link_at(const kn_schema_table *table, int index);

/* Looks at the schema around a table of persons (NULL: the one whose names speak of people most, then with the largest family,
 * then the first). Does the schema satisfy section 4.1, and if not, why? Of a database of which no tables were listed, those that
 * do not lead to persons are proposed as references, or to be left out, with the reason. KN_INPUT: there is no such table. The answer "no" is not a failure.
 * The schema borrows nothing. */
KN_API KN_CHECK kn_status kn_schema_look(kn_schema **out, kn_context *ctx, const kn_database *database,
                                         const char *person, kn_error *err);
KN_API void               kn_schema_free(kn_schema *schema);

/* Draws it as an SVG picture; "-" is standard output. */
KN_API KN_CHECK kn_status kn_schema_write_svg(const kn_schema *schema, kn_context *ctx, const char *path,
                                              kn_error *err);

/* ---- The persons as an answer ---- */

typedef struct kn_diagnosed_table {
    const char *name;
    int64_t     rows;    /* that belong to persons             */
    int64_t     orphans; /* that belong to nobody              */
    int         quasi;   /* its quasi-identifiers              */
} kn_diagnosed_table;

/* What somebody may know of persons, and whom it finds: rows of some tables, with all their quasi-identifiers or one. */
typedef struct kn_known {
    int         table_count;
    const int  *tables; /* of the diagnosis                                              */
    const char *column; /* of the only table: this quasi-identifier alone; NULL: all     */
    int64_t     k;      /* persons of the smallest class: alike in what is known         */
    int64_t     classes;
    int64_t     unique_persons; /* who stand alone                                       */
    int64_t     below_persons;  /* in classes smaller than the k asked                   */
} kn_known;

typedef struct kn_database_diagnosis {
    int64_t                   persons;
    int64_t                   classes; /* of persons alike in all tables                                 */
    int64_t                   k;       /* persons of the smallest one                                    */
    int64_t                   unique_persons;               /* who stand alone                           */
    int64_t                   below_classes, below_persons; /* smaller than the k asked                  */
    bool                      holds; /* k is at least the one asked; true where none was asked           */
    int                       person; /* the table of persons                                            */
    int                       table_count;
    const kn_diagnosed_table *KN_PRIVATE(tables); /* kn_diagnosed_table_at */
    int64_t                   size_count; /* distinct class sizes, ascending                             */
    const kn_size_count      *KN_PRIVATE(sizes); /* kn_diagnosed_size_at; `rows` are persons */
    int                       known_count; /* single columns, single tables, sets of tables, all tables  */
    const kn_known           *KN_PRIVATE(known); /* kn_known_at; the end */
    int                        sensitive_count; /* sensitive columns, as "TABLE.COLUMN": what a class tells of its matched rows */
    const kn_sensitive_report *KN_PRIVATE(sensitive); /* kn_diagnosed_sensitive_at */
} kn_database_diagnosis;

/* NULL: there is none. */
KN_API const kn_diagnosed_table *kn_diagnosed_table_at(const kn_database_diagnosis *diagnosis, int index);
KN_API const kn_size_count      *kn_diagnosed_size_at(const kn_database_diagnosis *diagnosis, int64_t index);
KN_API const kn_known           *kn_known_at(const kn_database_diagnosis *diagnosis, int index);
KN_API const kn_sensitive_report *kn_diagnosed_sensitive_at(const kn_database_diagnosis *diagnosis, int index);

typedef struct kn_database_diagnose_options {
    size_t      size;     /* sizeof(kn_database_diagnose_options), set by the initializer           */
    const char *input;    /* the database; NULL: the spec's                                         */
    int64_t     k;        /* asked: does it hold? 0: not asked                                      */
    int         max_size; /* sets of at most so many tables are looked at, and all; 0: of two       */
} kn_database_diagnose_options;

#define KN_DATABASE_DIAGNOSE_OPTIONS_INIT {sizeof(kn_database_diagnose_options), NULL, 0, 0}
KN_API void kn_database_diagnose_options_init(kn_database_diagnose_options *options, size_t size);

/* How many persons are alike in the trees of their quasi-identifiers, over all tables (Definition 9 of the multi-relational
 * paper), and in what somebody knows who knows some of them: the known rows, each with the nearest known one above it. Of the
 * spec only tables, persons and reading options are used: it need not pass kn_spec_check. KN_USAGE: it describes no
 * database. KN_INPUT: more than 100,000 sets of tables; what kn_anonymize_database refuses to read. `options` may be NULL. */
KN_API KN_CHECK kn_status kn_diagnose_database(kn_database_diagnosis **out, kn_context *ctx, const kn_spec *spec,
                                               const kn_database_diagnose_options *options, kn_error *err);
KN_API void               kn_database_diagnosis_free(kn_database_diagnosis *diagnosis);

#ifdef __cplusplus
}
#endif

#endif
