/* kanon/attack.h: the linking attack: how many people of another table are found in a release? And, for databases,
 * why it is not enough to anonymize their join, or each table by itself.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KANON_ATTACK_H
#define KANON_ATTACK_H

#include <kanon/spec.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How many people of the external table match this many released rows. */
typedef struct kn_match_count {
    int64_t matches;
    int64_t people;
} kn_match_count;

typedef struct kn_attack_table {
    int64_t               rows;   /* of the table attacked                                         */
    int64_t               none;   /* people who match no row, and could be placed                  */
    int64_t               unique; /* exactly one                                                   */
    int64_t               below;  /* at least one, fewer than k                                    */
    int64_t               least;  /* the fewest rows that a person with any match has; 0: nobody   */
    int                   count;  /* 1, 2, ... ascending                                           */
    const kn_match_count *counts;
    int                   sensitive_count; /* per sensitive column: people whose value is certain: all their matches agree */
    const int64_t        *certain;
    int64_t               unplaced; /* people who match no row and have a value that is not in the hierarchy of its
                                       column: nothing can be said of them */
    uint64_t              KN_PRIVATE(room)[8]; /* for later versions: more of a report follows     */
} kn_attack_table;

typedef struct kn_attack_report {
    int64_t            people; /* rows of the external table                      */
    int64_t            k;
    int                link_count; /* columns both tables have, quasi-identifiers  */
    const char *const *links;
    int                sensitive_count;
    const char *const *sensitive;
    kn_attack_table    after;  /* the release                                      */
    bool               has_before;
    kn_attack_table    before; /* the original, where it was given                 */
    const char        *linked; /* a column of pseudonyms that shows which released rows are one person's; NULL: none. Rows
                                  are still matched one by one               */
    bool               database; /* a database: what is matched are its persons with their rows, not rows; links and sensitive
                                    columns are named TABLE.COLUMN           */
    bool               records; /* records that are trees: links and sensitive columns are classes */
    char               sha256[65]; /* of the release that was attacked; empty where it is no single file */
} kn_attack_report;

typedef struct kn_attack_options {
    size_t      size;     /* sizeof(kn_attack_options), set by the initializer                     */
    const char *release;  /* file                                                                  */
    const char *external; /* file                                                                  */
    const char *original; /* file; NULL: the spec's inputs if there are any, else no "before"      */
    bool        no_original; /* no "before", whatever the spec says                                */
    int64_t     k;        /* 0: the spec's, and 2 where it has none                                */
    const kn_csv_options *csv; /* how the external table is written; NULL: detected. Its types and columns are
                                  ignored: types are the spec's */
    bool        some_rows; /* of a database: the external one may lack rows of a person                */
} kn_attack_options;

#define KN_ATTACK_OPTIONS_INIT {sizeof(kn_attack_options), NULL, NULL, NULL, false, 0, NULL, false}
KN_API void kn_attack_options_init(kn_attack_options *options, size_t size);

/* Links the external table with the release over the quasi-identifiers of the spec that both have (at least one). A
 * released cell matches a value that it covers: the value itself, an ancestor in the hierarchy, an interval, a set
 * (whether or not the external table has its other members) or "*". Suppressed rows ("*" in every column) match
 * nobody. A missing cell matches a missing one, and with the spec's `missing: wildcard` anything. Only the spec's
 * columns, hierarchies, models and reading options are used: it need not pass kn_spec_check. KN_INPUT: a file cannot
 * be read as a table, or lacks the columns.
 *
 * Where the spec describes a database, all three are databases (the external one may be a single table: that of persons), linked
 * over the tables and quasi-identifiers that the external one has. A released person matches one of the external database if
 * the cells of their rows cover: each released row that of another known one, since all rows of the known tables are known; rows
 * may have been deleted. With `some_rows` each known row is covered by another released one.
 *
 * Where it describes records that are trees, the external file has such records, with what is known of people: some of their nodes. A
 * released record matches if it shows each known value or a broader one, and each known relation between such; a relation that no
 * released record shows was removed and does not count, nor does, where the spec allows suppression, a value that none shows.
 * In the original the values and relations must be there as they are. */
KN_API KN_CHECK kn_status kn_attack(kn_attack_report **out, kn_context *ctx, const kn_spec *spec,
                                    const kn_attack_options *options, kn_error *err);
KN_API void               kn_attack_report_free(kn_attack_report *report);

/* ---- Databases: why not the join, why not each table ---- */

/* Ways to make a database k-anonymous, of which only miracle-x does (section 3 of Nergiz, Clifton, Nergiz 2009). */
typedef enum kn_demo_way {
    KN_DEMO_UNIVERSAL = 0, /* the tables are joined, the join is made k-anonymous (section 3.1)     */
    KN_DEMO_LOCAL,         /* each table is made k-anonymous by itself (section 3.2)                */
    KN_DEMO_KANON,         /* persons with all their rows: the method miracle-x                     */
    KN_DEMO_UNIVERSAL_NDGH, /* as universal, with the persons' keys generalized to ranges           */
    KN_DEMO_LOCAL_NDGH,    /* as local, likewise                                                    */
    KN_DEMO_WAYS
} kn_demo_way;

/* "universal", "local", "miracle-x", "universal-ndgh", "local-ndgh". Static. */
KN_API const char *kn_demo_way_name(kn_demo_way way);

/* What the attacker finds in one of them. A candidate is a person of the release whom the target may be. */
typedef struct kn_demo_attack {
    int64_t        none;   /* targets without a candidate: those that the release leaves out              */
    int64_t        unique; /* with exactly one                                                            */
    int64_t        below;  /* with at least one, but fewer than k                                         */
    int64_t        least;  /* the fewest candidates of any target that has one; 0: nobody has             */
    double         mean;   /* candidates per target                                                       */
    const int64_t *certain; /* per sensitive column: targets whose values follow: all candidates show the same ones */
} kn_demo_attack;

typedef struct kn_demo_table {
    const char *name;
    int64_t     rows;  /* that belong to persons                                                          */
    int         quasi; /* its quasi-identifiers                                                           */
    bool        small; /* fewer than k rows: by itself it shows "*" in every quasi-identifier             */
} kn_demo_table;

typedef struct kn_demo_column {
    const char *table, *column;
    int64_t     targets; /* that have a row in the table                                                  */
} kn_demo_column;

/* Tables that are joined, persons first. Where rows have children in several tables, each path of tables is a join of
 * its own: rows of two children of one parent are unrelated. */
typedef struct kn_demo_path {
    int        table_count;
    const int *tables; /* of the report */
    int64_t    rows;   /* of the join; nobody vanishes from it */
} kn_demo_path;

typedef struct kn_attack_demo_report {
    int64_t               k;
    int64_t               persons;
    int64_t               targets; /* persons who are looked for: all, or a sample                        */
    int                   table_count;
    const kn_demo_table  *KN_PRIVATE(tables); /* kn_demo_table_at */
    int                   person; /* the table of persons                                                 */
    int                   path_count;
    const kn_demo_path   *KN_PRIVATE(paths); /* kn_demo_path_at */
    int                   sensitive_count;
    const kn_demo_column *KN_PRIVATE(sensitive); /* kn_demo_column_at */
    /* The target who is found most easily: with the fewest candidates in the join, then in the single tables, then
     * the first in the table of persons. */
    int64_t        example;      /* its row in the table of persons, from 1                               */
    const int64_t *example_rows; /* per table: how many rows of it the attacker knows                     */
    int64_t        KN_PRIVATE(example_candidates)[KN_DEMO_WAYS]; /* kn_demo_example_candidates */
    kn_demo_attack KN_PRIVATE(ways)[KN_DEMO_WAYS];               /* kn_demo_attack_by; the end */
} kn_attack_demo_report;

/* NULL, 0: there is none. */
KN_API const kn_demo_table  *kn_demo_table_at(const kn_attack_demo_report *report, int index);
KN_API const kn_demo_path   *kn_demo_path_at(const kn_attack_demo_report *report, int index);
KN_API const kn_demo_column *kn_demo_column_at(const kn_attack_demo_report *report, int index);
KN_API const kn_demo_attack *kn_demo_attack_by(const kn_attack_demo_report *report, kn_demo_way way);
KN_API int64_t               kn_demo_example_candidates(const kn_attack_demo_report *report, kn_demo_way way);

typedef struct kn_attack_demo_options {
    size_t   size;    /* sizeof(kn_attack_demo_options), set by the initializer                           */
    int64_t  k;       /* 0: the spec's, and 2 where it has none                                           */
    int64_t  targets; /* at most this many persons are looked for; 0: 2,000                               */
    uint64_t seed;    /* of the sample                                                                    */
} kn_attack_demo_options;

#define KN_ATTACK_DEMO_OPTIONS_INIT {sizeof(kn_attack_demo_options), 0, 0, 1}
KN_API void kn_attack_demo_options_init(kn_attack_demo_options *options, size_t size);

/* Shows what an attacker finds after each of the ways. Nothing is written: the releases exist in memory only.
 * The attacker knows all quasi-identifiers of a target, in all tables, and which rows belong together. A person of
 * the release is a candidate if the target's rows can be theirs: each row of the target corresponds to a different
 * row of the candidate whose cells cover it, below corresponding rows, and no row is left over. miracle-x deletes
 * rows, so in its release rows of the target may be left over. Where keys are ranges, rows of the release are left over: those
 * of others in the same range.
 *
 * Of the spec the input, reading options, tables, roles, hierarchies, k, and options of the method are used: it need
 * not pass kn_spec_check. KN_USAGE: it does not describe a database, or k is below 2. KN_INPUT: the schema is not a
 * snowflake around the table of persons, no column is a quasi-identifier, or there are fewer persons than k. KN_IO:
 * it cannot be read. The result does not depend on the number of threads. */
KN_API KN_CHECK kn_status kn_attack_demo(kn_attack_demo_report **out, kn_context *ctx, const kn_spec *spec,
                                         const kn_attack_demo_options *options, kn_error *err);
KN_API void               kn_attack_demo_report_free(kn_attack_demo_report *report);

#ifdef __cplusplus
}
#endif

#endif
