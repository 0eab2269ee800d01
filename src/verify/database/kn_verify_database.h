/* kn_verify_database.h: what the parts of the verifier of databases share.
 *
 * Both databases are read cell by cell (kn_verify_sheets.h); the verifier's own code joins rows, compares trees and
 * counts. Keys and references come from the original's catalog, overridden by the spec (look.c); the release must
 * have the same.
 *
 * Words: a *side* is one of the two databases, joined. Rows are numbered as they were read; 32 bits are enough for
 * them. A *copy* is a column that is released unchanged (sensitive or kept).
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_VERIFY_DATABASE_H
#define KN_VERIFY_DATABASE_H

#include "kn_beside.h"
#include "kn_buffer.h"
#include "kn_verify_sheets.h"

/* ---- Columns ---- */

/* What a text of a released quasi-identifier stands for. */
typedef struct kn_vdb_cell {
    uint32_t value; /* KN_V_NONE: not a value; KN_V_MISSING         */
    uint32_t label; /* of the hierarchy; KN_V_NONE: not a label     */
    double   loss;  /* (leaves covered - 1) / (leaves - 1); NAN: the label has several nodes, or none          */
} kn_vdb_cell;

/* A released column that is not a key. */
typedef struct kn_vdb_column {
    const kn_attribute *attribute;
    int                 original, release; /* columns */
    kn_vdomain          domain;
    uint32_t           *of_original; /* per text, "missing" too: value                     */
    uint32_t            empty;       /* the value that a file shows like a missing cell: the empty text; KN_V_NONE: none */
    uint32_t           *of_release;  /* copies, per code: value, KN_V_MISSING or KN_V_NONE */
    uint32_t            odd;         /* copies: a code with an unusual spelling; KN_V_NONE: none            */
    kn_vtree           *tree;        /* quasi-identifiers */
    kn_vdb_cell        *cells;       /* quasi-identifiers, per code of the release         */
    uint32_t            root;        /* label of the hierarchy's root; KN_V_NONE: no leaf  */
} kn_vdb_column;

/* ---- Tables ---- */

/* A table of one of the two databases. */
typedef struct kn_vdb_rows {
    const kn_vsheet          *table;
    int64_t                   rows;
    const struct kn_vdb_rows *above;  /* of the parent table; NULL: persons                                            */
    uint32_t                 *parent; /* the parent table's row that each belongs to; KN_V_NONE: none. NULL: persons */
    int64_t                   owned;  /* rows that belong to a person                                                */
    uint32_t                 *mark;   /* hash of the copied cells: where they differ the cells do                    */
    /* Rows that belong to row p of the parent table: list[start[p] .. start[p + 1] - 1], by (mark, row). Persons: one list. */
    uint32_t *start;
    uint32_t *list;
} kn_vdb_rows;

/* The person that a row belongs to; KN_V_NONE: nobody. Of a table of persons: the row itself. */
static inline uint32_t kn_vdb_person_of(const kn_vdb_rows *r, uint32_t row)
{
    for (; r->above && row != KN_V_NONE; r = r->above) row = r->parent[row];
    return row;
}

/* Columns of a table of persons that hold keys of a reference. */
typedef struct kn_vdb_refer {
    int  reference, count;
    int *columns; /* of the original, in the order of the reference's key                       */
    bool whole;   /* one quasi-identifier, whose groups are shown in a column of labels         */
    int  label;   /* ... of the release; -1: it is missing                                      */
} kn_vdb_refer;

typedef struct kn_vdb_table {
    const char    *name;
    int            parent; /* table; -1: persons                                     */
    int            depth;
    int            child_count;
    const int     *children;
    int            key_count;
    const int     *key_columns;  /* of the primary key, in the original               */
    int            link_count;   /* columns that refer to the parent's row ...        */
    const int     *link;         /* ... of this table in the original                 */
    const int     *target;       /* ... and the parent's that they refer to           */
    const bool    *key;          /* per column of the original: part of any key       */
    const bool    *primary;      /* per column of the original                        */
    const int     *released;     /* per column of the original: of the release; -1: it has none */
    int           *refers;       /* per column of the original: the reference whose keys it holds; -1: none */
    int            refer_count;
    kn_vdb_refer  *refer;
    bool           key_drawn;    /* the original's key refers to a reference: the release has another         */
    int            drawn;        /* ... its column in the release; -1: it is missing                         */
    int            quasi_count;
    kn_vdb_column *quasi;
    int            copy_count;
    kn_vdb_column *copies;
    int            columns; /* of the original that are released in some form: what a row without quasi-identifiers weighs */
    kn_vdb_rows    original, release;
    /* Anatomy: quasi-identifiers are copies, sensitive columns are shown by groups. */
    int              shown_quasi; /* of the copies                                          */
    int              hidden_count;
    kn_vdb_column   *hidden;
    struct kn_vlist *lists;       /* per hidden column                                      */
    int              group_column; /* of the release; -1: none                              */
    uint32_t        *group;       /* per released row; NULL: it has no sensitive column     */
    uint32_t         groups;
    uint32_t      *subtree;  /* per released row: equal numbers, equal trees of quasi-identifiers      */
    uint32_t      *position; /* per released row: rows that cannot be distinguished inside a class; NULL: not needed */
} kn_vdb_table;

/* ---- The whole verification ---- */

/* What the release holds besides its cells (form.c). */
typedef struct kn_vdb_extras {
    const kn_cells *cells; /* the release's; NULL: nobody has begun to look */
    kn_beside       beside;
    kn_status       status;
    kn_error        error;
    kn_buffer       sentences; /* each with its NUL */
} kn_vdb_extras;

typedef struct kn_vdb {
    kn_context                       *ctx;
    const kn_spec                    *spec;
    kn_spec                           plain; /* the spec without texts for missing cells: here cells are already marked */
    const kn_database_verify_options *options;
    const kn_cells                   *source[3]; /* of the original, of the release, of the population (NULL: none, or a file) */
    kn_vsheets                        original, release;
    kn_vsheets                        people; /* the population; ctx NULL: there is none */
    bool                              of_people; /* the population is in the place of the original */
    kn_database_verify_report        *report;
    kn_vnotes                        *notes;
    kn_verified_table                *verified; /* the report's tables */
    kn_timezone                      *zone;
    kn_arena                          arena; /* freed at the end of the verification   */
    int                               table_count; /* without references          */
    kn_vdb_table                     *tables; /* as in the original               */
    int                               reference_count; /* the original's tables after those of persons */
    struct kn_vref                   *references;
    int                               person; /* table                            */
    int                              *order;  /* tables, parents first            */
    uint32_t                          classes;
    uint32_t                         *class_of; /* per released person            */
    int64_t                          *sizes;    /* per class                      */
    int64_t                          *map;      /* per released person: the original one; NULL: none */
    kn_vdb_extras                     extras;
    char                              group_name[32], count_name[32]; /* anatomy                     */
} kn_vdb;

kn_status kn_vdb_no_memory(const kn_vdb *v, kn_error *err);

/* A zeroed array with one extra element, freed at the end of the verification. NULL: out of memory. */
KN_CHECK void *kn_vdb_take(kn_vdb *v, size_t count, size_t size);
void           kn_vdb_free(kn_vdb *v); /* all but its report */

/* How many problems of one kind are reported individually. */
enum { KN_VDB_SHOWN = 5 };

/* The original's tables, keys and references: fills in tables, person and order (look.c). KN_INPUT: it is not a
 * snowflake around persons. */
KN_CHECK kn_status kn_vdb_look(kn_vdb *v, kn_error *err);

/* ---- References (references.c) ---- */

/* What the spec says of a table; NULL: nothing. Does it leave out the foreign keys that have a column? */
const kn_spec_table *kn_vdb_said(const kn_vdb *v, const char *table);
bool                 kn_vdb_ignored(const kn_spec_table *said, const char *const *columns, int count);

/* The tables of the spec, references last. */
KN_CHECK kn_status kn_vdb_sort_tables(kn_vdb *v, const kn_spec_table **out, kn_error *err);

/* Which columns of a table of persons hold keys of references; its key is none if one of these is part of it. */
KN_CHECK kn_status kn_vdb_refers(kn_vdb *v, int table, kn_error *err);

/* The quasi-identifier that a column is a part of, with labels; NULL: none. */
const kn_vdb_refer *kn_vdb_whole(const kn_vdb_table *table, int column);

/* What a release has that the original has not: columns of labels, and of keys that are drawn instead (labels.c). *whole false: one
 * is missing. Then: each key of a reference, or label, as one text, in the first of its columns, on both sides. */
KN_CHECK kn_status kn_vdb_find_labels(kn_vdb *v, kn_vdb_table *table, bool *whole, kn_error *err);
bool               kn_vdb_is_added(const kn_vdb_table *table, int column); /* of the release */
KN_CHECK kn_status kn_vdb_take_labels(kn_vdb *v, kn_vdb_table *table, kn_error *err);

/* The text of a key: that of its column, or of each of several its size and text. data NULL: one is missing. */
KN_CHECK kn_status kn_vdb_key_text(kn_vdb *v, const kn_vsheet *sheet, const int *columns, int count, int64_t row,
                                   kn_string *out, kn_error *err);

/* The broader rows of every reference, derived from the original; KN_INPUT: a reference leads to persons. Then: has the release
 * each reference, with these rows and no others? */
KN_CHECK kn_status kn_vdb_references(kn_vdb *v, kn_error *err);
KN_CHECK kn_status kn_vdb_check_references(kn_vdb *v, bool *whole, kn_error *err);

/* The hierarchy of a column that holds keys of a reference. */
KN_CHECK kn_status kn_vdb_reference_tree(kn_vtree **out, kn_vdb *v, int reference, const kn_vdomain *domain, kn_error *err);

/* Does the release have the right tables and columns and no others (schema.c)? *whole false: the rest cannot be
 * checked. KN_INPUT: the original is not a snowflake around persons. */
KN_CHECK kn_status kn_vdb_schema(kn_vdb *v, bool *whole, kn_error *err);

/* What the texts of each released column mean (columns.c). */
KN_CHECK kn_status kn_vdb_columns(kn_vdb *v, kn_error *err);
void               kn_vdb_columns_free(kn_vdb *v);

/* The value of the original that a text is; KN_V_NONE: none. */
uint32_t kn_vdb_find_value(const kn_vdb_column *c, kn_string text);

/* Is a column's every text spelled as the original spells its value, or every one a plain number (what an engine makes of
 * numbers: no sign but a minus, no needless zero)? Otherwise the code of one that is not; KN_V_NONE: there is none. */
uint32_t kn_vdb_odd_spelling(const kn_vdb_column *c, const kn_vsheet *table, int column);

/* Does this cell stand for a value of the original (or KN_V_MISSING)? */
bool kn_vdb_covers(const kn_vdb_column *q, const kn_vdb_cell *cell, uint32_t value);

/* Rows by the texts of some columns (join.c): looks up the rows of one table in another. found[row]: the other's row,
 * or KN_V_NONE; a missing cell is never found. NULL: none is looked up. *twice: the first row of `in` whose key
 * repeats an earlier one or is missing; -1: there is none. */
typedef struct kn_vdb_lookup {
    const kn_vsheet *in, *from;
    const int      *in_columns, *from_columns;
    int             count;
} kn_vdb_lookup;

KN_CHECK kn_status kn_vdb_look_up(uint32_t *found, int64_t *twice, kn_vdb *v, const kn_vdb_lookup *l, kn_error *err);

/* Joins both sides; checks the keys of the release (join.c, keys.c). */
KN_CHECK kn_status kn_vdb_join(kn_vdb *v, kn_error *err);
KN_CHECK kn_status kn_vdb_join_original(kn_vdb *v, kn_error *err);
KN_CHECK kn_status kn_vdb_keys(kn_vdb *v, kn_error *err);
uint32_t           kn_vdb_no_mark(void); /* of a row without copied cells */

/* Classes of persons, k (classes.c), and rows that cannot be distinguished inside a class, for the tables with
 * promises. */
KN_CHECK kn_status kn_vdb_classes(kn_vdb *v, kn_error *err);
KN_CHECK kn_status kn_vdb_positions(kn_vdb *v, int table, kn_error *err);

/* Every promise (models.c). KN_USAGE: one that cannot be made about a database. */
KN_CHECK kn_status kn_vdb_models(kn_vdb *v, kn_error *err);

/* Declared dependencies within tables (dependencies.c). KN_USAGE: one that is not functional. */
KN_CHECK kn_status kn_vdb_dependencies(kn_vdb *v, kn_error *err);

/* ---- The population (people.c) ---- */

/* Reads it; `cells` NULL: it is a file, the table of persons. */
KN_CHECK kn_status kn_vdb_read_people(kn_vdb *v, const kn_cells *cells, kn_error *err);

/* The population's column of a quasi-identifier; NULL: there is no population, or it lacks the table. */
KN_CHECK kn_status kn_vdb_people_column(const kn_vcolumn **out, const kn_vdb *v, const kn_vdb_table *t,
                                        const kn_vdb_column *c, kn_error *err);
KN_CHECK kn_status kn_vdb_presence(kn_vdb *v, kn_verified_model *m, kn_error *err);

/* The sensitive column that a model is about. KN_USAGE: none, or more than one. */
KN_CHECK kn_status kn_vdb_find_sensitive(const kn_vdb *v, const kn_model *m, int *table, const kn_vdb_column **column,
                                         kn_error *err);

/* The values of rows that cannot be distinguished: `rows` of them, equally many of each of `persons`. */
typedef struct kn_vdb_position {
    int64_t              persons, rows;
    uint32_t             values;
    uint32_t            *codes;     /* of the values, ascending                          */
    int64_t             *counts;    /* of rows that have them                            */
    int64_t              most;      /* persons who have one value                        */
    const kn_vreference *reference; /* what it is compared with; NULL: nothing           */
    uint32_t            *some;      /* scratch for as many values, where it is compared  */
    int64_t             *dealt;
} kn_vdb_position;

/* A model in a message, for "%s%s%s". */
#define KN_VDB_MODEL(kind)                                                                                             \
    kn_model_variant(kind) ? kn_model_variant(kind) : "", kn_model_variant(kind) ? " " : "", kn_model_name(kind)

/* What a promise compares positions with: the original's rows that belong to persons (compare.c). */
typedef struct kn_vdb_reference {
    kn_arena      room;
    kn_vreference r;
    kn_vtree     *tree;
    uint32_t      gone; /* a value that the release cannot show; larger ones are counted from one less. KN_V_NONE: none */
} kn_vdb_reference;

/* Empty for models that do not compare. KN_USAGE: a hierarchical distance without a hierarchy. */
KN_CHECK kn_status kn_vdb_reference_make(kn_vdb_reference *out, kn_vdb *v, const kn_vdb_table *t,
                                         const kn_vdb_column *column, const kn_model *m, kn_error *err);
void               kn_vdb_reference_free(kn_vdb_reference *reference);

/* The number of a value of the column's domain there. */
uint32_t kn_vdb_reference_value(const kn_vdb_reference *reference, uint32_t value);

/* Models other than l-diversity (compare.c). */
bool kn_vdb_compare(const kn_model *m, const kn_vdb_position *p, double *reached);

/* Does a group of `persons` keep the promise of a size? If not, *shown: it is one of the first that do not. */
bool kn_vdb_size_holds(kn_verified_model *m, int64_t persons, bool *shown);

/* The same for a position and the promise of diversity. */
bool kn_vdb_position_holds(kn_vdb *v, kn_verified_model *m, const kn_vdb_position *p, bool first, bool *shown);

/* The assignment of persons: by a map, or searched (assign.c). Sets `map` if the assignment is proved. */
KN_CHECK kn_status kn_vdb_assign(kn_vdb *v, kn_error *err);

/* The map of the options, as `map`: -1 for a released person of whom it says nobody. Not judged. */
KN_CHECK kn_status kn_vdb_take_map(kn_vdb *v, kn_error *err);

/* A number without sign or leading zeros; 0: not a number. */
int64_t kn_vdb_plain_number(kn_string text);

/* The number in the text of a key, decimal or encoded in a UUID; 0: it has none, or one above `most`. */
int64_t kn_vdb_key_number(kn_string text, int64_t most);

/* Were the keys drawn at random, given the assignment or the possible ones (drawn.c)? */
KN_CHECK kn_status kn_vdb_drawn(kn_vdb *v, kn_error *err);

/* How copied cells are spelled, and what the release holds besides the cells of its tables, if it has a name
 * (form.c). */
KN_CHECK kn_status kn_vdb_form(kn_vdb *v, kn_error *err);
void               kn_vdb_extras_start(kn_vdb *v); /* beside the rest, once the original is read */
void               kn_vdb_extras_free(kn_vdb *v);
/* If the release is a folder with a certificate: does it belong to the tables (certificate.c)? */
KN_CHECK kn_status kn_vdb_certificate(kn_vdb *v, const char *folder, kn_error *err);

/* What was lost (metrics.c). */
KN_CHECK kn_status kn_vdb_metrics(kn_vdb *v, kn_error *err);

/* ---- Is one tree inside another? (contain.c) ---- */

/* The scratch memory of one worker. */
typedef struct kn_vdb_matcher {
    kn_vdb   *v;
    uint32_t *words; /* a stack */
    size_t    used, capacity;
    uint64_t  work;   /* pairs of rows that were compared                */
    uint64_t  limit;  /* of it; then `tired`; 0: none                    */
    bool      failed; /* out of memory                                   */
    bool      cancelled, tired;
    /* A further condition for pairing this original row with this released one. NULL: none. */
    bool (*allow)(void *arg, int table, uint32_t original, uint32_t released);
    void *arg;
} kn_vdb_matcher;

void kn_vdb_matcher_free(kn_vdb_matcher *m);

/* May the released row of a table, with everything below it, be the original row with rows removed and
 * quasi-identifiers generalized? If not, `failed`, `cancelled` or `tired` may be the reason. */
bool kn_vdb_contains(kn_vdb_matcher *m, int table, uint32_t original, uint32_t released);

/* The same, and which original row each row below it is: rows[table][released row]. */
bool kn_vdb_pair_rows(kn_vdb_matcher *m, int table, uint32_t original, uint32_t released, uint32_t *const *rows);

/* Notes why a released row is not inside the original one. */
void kn_vdb_explain(kn_vdb_matcher *m, int table, uint32_t original, uint32_t released);

/* ---- Anatomy (anatomy.c) ---- */

/* A list of the values of one sensitive column, group by group. */
typedef struct kn_vlist {
    const kn_vsheet *table; /* of the release */
    char            name[256];
    size_t          count;
    uint64_t       *keys;   /* group << 32 | value (KN_V_MISSING too), ascending */
    int64_t        *counts; /* rows of the group that have the value             */
    int64_t        *left;   /* while rows are given their originals              */
} kn_vlist;

/* The names of the columns and tables of an anatomy, and whether the release has them; returns how many of its lists
 * it has. Called by kn_vdb_schema. */
void kn_vdb_anatomy_names(kn_vdb *v);
int  kn_vdb_anatomy_tables(kn_vdb *v, bool *whole);

/* Groups and their lists, and k; one promise of group sizes, or of the lists' diversity (called by kn_vdb_models). */
KN_CHECK kn_status kn_vdb_anatomy_groups(kn_vdb *v, kn_error *err);
KN_CHECK kn_status kn_vdb_anatomy_sizes(kn_vdb *v, kn_verified_model *m, kn_error *err);
KN_CHECK kn_status kn_vdb_anatomy_values(kn_vdb *v, kn_verified_model *m, kn_error *err);

/* Does each list hold the values that the original's rows of its groups have (anatomy_rows.c)? */
KN_CHECK kn_status kn_vdb_anatomy_rows(kn_vdb *v, kn_error *err);

#endif
