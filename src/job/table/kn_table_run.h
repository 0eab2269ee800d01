/* kn_table_run.h: a release of a table in progress (kn_shape.h has the stages), and the parts of its stages. Only
 * src/job/table includes it. All fields belong to the run, except those marked as borrowed.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_TABLE_RUN_H
#define KN_TABLE_RUN_H

#include <kanon/dependencies.h>

#include "kn_carry.h"
#include "kn_context.h"
#include "kn_csv_read.h"
#include "kn_engine.h"
#include "kn_fulldomain.h"
#include "kn_kmsd.h"
#include "kn_metrics.h"
#include "kn_partition.h"
#include "kn_pseudonym.h"
#include "kn_recode.h"
#include "kn_shape.h"
#include "kn_table_write.h"

/* An unnamed file that holds the copy of a stream. */
typedef struct kn_spool {
    int      fd;
    char     path[32]; /* by which this process can open it again              */
    kn_alias alias;    /* its name for the user                                */
} kn_spool;

typedef struct kn_table_run {
    kn_release_run     all;    /* first */
    kn_release_result *result; /* all.head */
    /* Paths. */
    kn_spec      effective; /* the spec with spooled inputs and the delimiter that was found        */
    const char **inputs;    /* in scratch                                                           */
    kn_spool    *spools;    /* in scratch                                                           */
    int          spool_count;
    /* The table. */
    char      delimiter;
    bool      large;         /* it stays where it is; `table` has one counted row for all that are equal */
    bool      copied;        /* ... as a server's table that was copied to disk: DuckDB has it        */
    kn_engine engine;        /* where it is, then                                                    */
    kn_engine writer;        /* where the release is written, then: mostly the same connection       */
    kn_csv_options asked;    /* which columns of it, and how they are read; their names in scratch    */
    bool      carried;       /* kept columns stay there too: they are no columns of `table`          */
    kn_carry  carry;         /* ... until the release is written                                     */
    kn_recode_places *places; /* ... while it is written; borrowed                                   */
    int64_t  *kept_formulas; /* per carried column; in scratch                                       */
    struct kn_judged *judged; /* its combinations do not fit: nodes are judged there, and `table` has the rows of one node; NULL: they do */
    kn_table *table;         /* the rows that take part                                              */
    kn_table *whole;         /* where a method decides row by row: the counted table, of which `table` has each row as often
                                as it stands for; NULL: it is that                                   */
    kn_table *population_table;
    int64_t  *original_rows; /* of each row of the table; NULL: the same                             */
    int       entity;        /* column of the table; -1: none                                        */
    bool      linked;        /* the release shows which rows are one person's (table/link.c)          */
    const char *linked_by;   /* the name of the persons' column then; in the result                  */
    int       weight;        /* -1: none                                                             */
    int       quasi_count;
    int      *quasi;         /* columns, in the spec's order; in scratch                             */
    const char **quasi_names;
    kn_ratio *weights;       /* in scratch                                                           */
    int64_t   missing_cells;
    int64_t   budget;
    kn_dependency **dependencies; /* one per dependency of the spec; the array in scratch            */
    /* What is searched for. */
    kn_hierarchy        **hierarchies;        /* per quasi-identifier, NULL: none; in scratch        */
    kn_hierarchy_spec    *rules;              /* per quasi-identifier: what it is made from; in scratch */
    kn_hierarchy        **column_hierarchies; /* per column of the table: of sensitive ones          */
    kn_population_set    *population;
    kn_requirements      *requirements;
    kn_objective         *objective;
    const int            *low, *high; /* levels that may be taken, NULL: all; in scratch             */
    kn_fulldomain_problem problem;
    kn_fulldomain_result *found;
    kn_plan              *plan;
    kn_partition_tree     tree;       /* the cuts of mondrian, where a recipe is kept */
    struct kn_recipe     *kept;       /* with the join table of the plan, where one is kept; NULL: none */
    bool                **new_values; /* by a recipe: per quasi-identifier and code, those that its hierarchy lacks; NULL: none. In scratch */
    int64_t               unplaced;   /* rows that are suppressed since the recipe has no place for them */
    kn_table             *items; /* one column: the sets that the rows show; NULL: there is no column of sets, or not yet */
    const kn_table       *shown; /* the columns of `table`, with those sets: borrowed; NULL: `table` itself               */
    int64_t               good_rows; /* of the plan, once measured: in classes that keep every promise of a class */
    /* What is written. */
    kn_released_column *columns; /* in scratch */
    int                 column_count;
    unsigned char      *keys; /* KN_PSEUDONYM_KEY bytes per released column; in scratch */
    int64_t            *map;  /* row of the table per released row, then of the inputs  */
    int64_t             map_count;
    uint32_t           *narrow_map; /* instead of `map`, where nobody but the verifier needs it    */
    kn_table_writer    *target; /* the set's, where the release is a table of a server or a file; NULL: it is not */
    char                release_path[32]; /* of a stream: under which its file can be read */
} kn_table_run;

/* The stages, each in its file. open: the output under its temporary name. read: streams copied to files that can be
 * read twice; header, roles, table, released columns in their order, declared dependencies, notes on the table. */
KN_CHECK kn_status kn_table_run_open(kn_release_run *run, kn_error *err);
KN_CHECK kn_status kn_table_run_read(kn_release_run *run, kn_error *err);
KN_CHECK kn_status kn_table_run_search(kn_release_run *run, kn_error *err);
KN_CHECK kn_status kn_table_run_measure(kn_release_run *run, kn_error *err);
KN_CHECK kn_status kn_table_run_left(kn_release_run *run, const char **nothing, const char **why, kn_error *err);
KN_CHECK kn_status kn_table_run_warn(kn_release_run *run, kn_error *err);
KN_CHECK kn_status kn_table_run_spread(kn_release_run *run, kn_error *err); /* distributions.c */
KN_CHECK kn_status kn_table_run_write(kn_release_run *run, kn_error *err);
KN_CHECK kn_status kn_table_run_verify(kn_release_run *run, kn_error *err);
KN_CHECK kn_status kn_table_run_publish(kn_release_run *run, kn_error *err);

/* Frees what preparing, searching and measuring made, the plan too. */
void kn_table_run_end_search(kn_release_run *run);

static inline kn_table_run *kn_table_run_of(kn_release_run *run)
{
    return (kn_table_run *)(void *)run;
}

/* ---- Parts of them ---- */

KN_CHECK kn_status kn_table_run_check_streams(const kn_spec *spec, kn_error *err);
KN_CHECK kn_status kn_table_run_spool(kn_table_run *run, kn_error *err);
struct kn_cut_figures;
/* A table that does not fit the memory (table/large.c): decides that, before it is read; reads it as counted rows; writes batches of
 * counted rows (kn_recode_input.take) as the release; reads this back; verifies it. */
KN_CHECK kn_status kn_table_run_stay(kn_table_run *run, const kn_csv_options *csv, kn_error *err);
KN_CHECK kn_status kn_table_run_group(kn_table_run *run, const kn_csv_options *csv, kn_error *err);
KN_CHECK kn_status kn_table_run_stay_apart(kn_table_run *run, kn_error *err); /* its combinations do not fit, or are too many to search */
KN_CHECK kn_status kn_table_run_put(void *run, kn_batches *batches, kn_error *err);
KN_CHECK kn_status kn_table_run_read_large(kn_table **out, kn_table_run *run, const kn_csv_options *csv, kn_error *err);
KN_CHECK kn_status kn_table_run_verify_large(kn_verify_report **out, kn_table_run *run, kn_verify_options *options, kn_error *err);

/* Its kept columns (table/carried.c): can they stay there; do they make most rows different; groups the others; are they refused; rows that they identify
 * within classes; room for what recoding tells, before; writes batches of counted rows together with them; a relation in which they only say whether they are "*". */
bool               kn_table_run_keeps(const kn_table_run *run); /* is there one? */
bool               kn_table_run_can_carry(const kn_table_run *run);
KN_CHECK kn_status kn_table_run_worth_carrying(bool *out, kn_table_run *run, const kn_csv_options *csv, kn_error *err);
KN_CHECK kn_status kn_table_run_carry(kn_table_run *run, const kn_csv_options *csv, kn_error *err);
KN_CHECK kn_status kn_table_run_carry_apart(kn_table_run *run, kn_error *err); /* before levels are judged there, where they can stay */
KN_CHECK kn_status kn_table_run_place_again(kn_table_run *run, kn_error *err); /* then, if columns had places in the table that had them */
KN_CHECK kn_status kn_table_run_check_carried(kn_table_run *run, kn_error *err);
KN_CHECK kn_status kn_table_run_carried_alone(int64_t *out, kn_table_run *run, kn_error *err);
KN_CHECK kn_status kn_table_run_open_places(kn_table_run *run, kn_recode_places *places, kn_error *err);
KN_CHECK kn_status kn_table_run_put_carried(kn_table_run *run, kn_batches *batches, kn_error *err);
KN_CHECK kn_status kn_table_run_without_kept(kn_buffer *relation, const kn_table_run *run, const kn_csv_options *csv, kn_error *err);

/* Its engines (table/large_server.c): may the input stay where it is; what about the output cannot be written so (NULL: it can); the
 * engine of the input, and that of the output; what stands behind FROM for the original; the engine's name in messages. */
bool               kn_table_run_can_stay(const kn_table_run *run);
double             kn_table_run_window(const kn_table_run *run);  /* bytes that its inputs and outputs take whatever their size */
int                kn_table_run_besides(const kn_table_run *run); /* cells that a row takes beside its own                      */
const char        *kn_table_run_cannot_write(const kn_table_run *run);
KN_CHECK kn_status kn_table_run_open_engine(kn_table_run *run, const kn_csv_options *csv, kn_error *err);
KN_CHECK kn_status kn_table_run_open_writer(kn_table_run *run, kn_error *err);
KN_CHECK kn_status kn_table_run_put_original(kn_buffer *to, kn_table_run *run, kn_error *err);
bool               kn_table_run_must_copy(const kn_table_run *run); /* a server's table whose release only DuckDB can compare        */
bool               kn_table_run_can_copy(const kn_table_run *run);  /* a server's table, to a place where its release can be compared */
const kn_connection *kn_table_run_original(const kn_table_run *run); /* by which the verifier reads the original                      */
const char        *kn_table_run_engine_name(const kn_table_run *run);

/* CSV (table/large_text.c): is the input of it, or the output; decides about such an input, and copies it to disk if it does not fit;
 * where its rows were grouped, in words; what stands behind FROM for a release in CSV. */
bool               kn_table_run_from_text(const kn_table_run *run);
bool               kn_table_run_to_text(const kn_table_run *run);
const char        *kn_table_run_grouped_where(const kn_table_run *run);
KN_CHECK kn_status kn_table_run_stay_text(kn_table_run *run, const kn_csv_options *csv, kn_error *err);
KN_CHECK kn_status kn_table_run_copy(kn_table_run *run, const kn_csv_options *csv, kn_error *err); /* from now on DuckDB has a server's rows */
KN_CHECK kn_status kn_table_run_put_text(kn_buffer *to, kn_table_run *run, const kn_csv_options *csv, const char *path, kn_error *err);

/* One whose combinations do not fit either (table/judged.c): why the request needs them all, NULL: it does not; a table that has the
 * values, and rows of the sensitive columns alone. The search, in place of kn_fulldomain_search, after which the table has the rows of
 * the node that was found. What the original's classes are. */
const char        *kn_table_run_needs_combinations(const kn_table_run *run);
KN_CHECK kn_status kn_table_run_code(kn_table_run *run, kn_error *err);
KN_CHECK kn_status kn_table_run_ask(kn_table_run *run, kn_error *err);
KN_CHECK kn_status kn_table_run_measure_there(kn_table_run *run, struct kn_cut_figures *out, kn_error *err);
void               kn_table_run_dropped(kn_table_run *run); /* rows with a missing cell, there */
void               kn_table_run_end_judged(kn_table_run *run);
KN_CHECK kn_status kn_table_run_link(kn_table_run *run, kn_error *err);
KN_CHECK kn_status kn_table_run_columns(kn_table_run *run, kn_error *err);
KN_CHECK kn_status kn_table_run_warn_of_table(kn_table_run *run, kn_error *err);
KN_CHECK kn_status kn_table_run_prepare(kn_table_run *run, kn_error *err); /* hierarchies, population, requirements, objective */
KN_CHECK kn_status kn_table_run_warn_of_hierarchies(kn_table_run *run, kn_error *err); /* once prepared */
KN_CHECK kn_status kn_table_run_warn_of_force(kn_table_run *run, kn_error *err);   /* there is a plan */

/* By a recipe: hierarchies that lack values of these rows are continued, before they are made; then plan and result, or why there
 * is none. And the recipe of a search. */
struct kn_verdict;
KN_CHECK kn_status kn_table_run_admit(kn_table_run *run, kn_error *err);
KN_CHECK kn_status kn_table_run_apply(kn_table_run *run, kn_error *err);
KN_CHECK kn_status kn_table_run_judge(kn_table_run *run, const int *levels, struct kn_verdict *verdict, kn_error *err);
KN_CHECK kn_status kn_table_run_take_recipe(kn_table_run *run, kn_error *err); /* there is a plan */
KN_CHECK kn_status kn_table_run_keep_recipe(kn_table_run *run, kn_error *err);

/* Cuts as a recipe has them, and as partitioning needs them for the rows at hand (table/cuts.c). `tree` is all zero before. */
KN_CHECK kn_status kn_table_run_take_cuts(const kn_table_run *run, struct kn_recipe *recipe, kn_error *err);
KN_CHECK kn_status kn_table_run_find_cuts(const kn_table_run *run, kn_partition_tree *tree, kn_error *err);

/* KN_INPUT: a column (`all`: or one with a hierarchy) has another type than when the recipe was made. */
KN_CHECK kn_status kn_table_run_check_types(const kn_table_run *run, bool all, kn_error *err);

/* A value as a recipe has it, how a value of a column compares with one, and how many values of a column, which are in order, are
 * up to one. `mark`: of decimals. */
const char *kn_recipe_value(const kn_column *column, uint32_t code, kn_arena *arena);
int         kn_recipe_compare(const kn_column *column, uint32_t code, const char *value, char mark);
uint32_t    kn_recipe_count_up_to(const kn_column *column, const char *up_to, char mark);

/* A join table of the plan, and a plan by a join table (table/join.c). `unknown`: rows, all of them suppressed, whose combination of
 * values falls into no class of it, or into several. */
KN_CHECK kn_status kn_table_run_take_join(const kn_table_run *run, struct kn_recipe *recipe, kn_error *err);
KN_CHECK kn_status kn_table_run_apply_join(kn_table_run *run, int64_t *unknown, kn_error *err);

/* KN_INPUT: the earlier release does not have the columns or, where there are levels, the labels of this recipe (table/earlier.c). */
KN_CHECK kn_status kn_table_run_check_earlier(kn_table_run *run, kn_error *err);

/* Does the row have a value that the recipe's hierarchies lack? */
bool kn_table_run_has_new_value(const kn_table_run *run, int64_t row);

/* Is the label one of a mask that hides every character? */
bool kn_table_run_all_hidden(const kn_table_run *run, int q, kn_string label);

/* Adds the column to a message about its hierarchy, after the place. */
kn_status kn_table_run_at(const kn_table_run *run, const kn_attribute *attribute, kn_status st, kn_error *err);

/* The column of sets, if there is one (table/items.c): what each row shows of it, decided class by class; and the table with that in its
 * place, which is written. */
KN_CHECK kn_status kn_table_run_items(kn_table_run *run, kn_error *err); /* there is a plan */
KN_CHECK kn_status kn_table_run_show_items(kn_table_run *run, kn_error *err);

/* The problem of partitioning. */
KN_CHECK kn_status kn_table_run_partition_problem(kn_table_run *run, kn_partition_problem *out, kn_error *err);

/* Methods without a lattice: result and plan, or why there is none (kn_table_run_search calls them). */
KN_CHECK kn_status kn_table_run_expand(kn_table_run *run, kn_error *err); /* before all else: rows one by one */
KN_CHECK kn_status kn_table_run_partition(kn_table_run *run, kn_error *err);
KN_CHECK kn_status kn_table_run_summary(kn_table_run *run, kn_error *err); /* the file of statistics, under its temporary name */
KN_CHECK kn_status kn_table_run_kmsd(kn_table_run *run, kn_error *err);
/* Dependencies: read and checked on the original; those that kmsd-ag keeps; those that the plan must keep. */
KN_CHECK kn_status kn_table_run_dependencies(kn_table_run *run, kn_error *err);
KN_CHECK kn_status kn_table_run_associations(kn_table_run *run, kn_association *out, int *count, kn_error *err);
KN_CHECK kn_status kn_table_run_keep_dependencies(kn_table_run *run, kn_error *err);

/* Full-domain methods, prepared: what is searched for; the levels that were asked for, KN_USAGE where a hierarchy has none such; and why a search between them
 * that came to its end found nothing. */
kn_fulldomain_problem kn_table_run_problem(const kn_table_run *run);
KN_CHECK kn_status kn_table_run_bounds(kn_table_run *run, kn_error *err);
KN_CHECK kn_status kn_table_run_explain_bounds(kn_table_run *run, char *out, size_t size, kn_error *err);
/* KN_USAGE if the method has no levels, so no `what`. Without a named method, and under auto, it is optimal. */
KN_CHECK kn_status kn_table_run_check_levels(const kn_table_run *run, const char *what, kn_error *err);
/* Why a node is not good. */
void kn_table_run_node_reason(const kn_table_run *run, const kn_node_failures *failures, char *out, size_t size);

/* Has the quasi-identifier a hierarchy that nobody gave, but that its type suggests (kn_hierarchy_by_type)? It may be a value
 * or *. There are hierarchies. */
bool kn_table_run_by_type(const kn_table_run *run, int q);

/* The text of a missing cell in a release. */
const char *kn_table_run_missing_text(const kn_spec *spec);

kn_recode_input kn_table_run_recode_input(const kn_table_run *run);

/* The path of the release, under its temporary name. */
const char *kn_table_run_written(const kn_table_run *run);

static inline bool kn_table_run_full_domain(const kn_table_run *run)
{
    return kn_method_family(run->all.spec->method) == KN_FAMILY_FULL_DOMAIN;
}

/* The classes of rows by some columns, and what they reach. For the original: the table and its quasi-identifiers. For a
 * plan: a table whose first column is the class. */
typedef struct kn_cut {
    const kn_table *table;
    const int      *columns;
    int             column_count;
    int             entity;      /* column of the table; -1: none                                               */
    const int      *sensitive;   /* per sensitive column of the requirements: column of the table               */
    const int64_t  *first_rows;  /* of a plan's classes: a row of each; NULL: the columns are quasi-identifiers */
    const int      *levels;      /* of the node; NULL: all 0                                                    */
    int64_t         leave_out;   /* the code of the first column whose rows are in no class; -1: none           */
    int64_t         starred;     /* the code of the first column whose rows are "*" throughout; -1: none        */
} kn_cut;

typedef struct kn_cut_figures {
    double  *reached;   /* per model of the spec, by the worst class; in the result's arena    */
    int64_t  classes;
    int64_t  k;         /* the smallest class, in persons; 0: there is none                    */
    int64_t  persons;   /* summed over the classes                                             */
    int64_t  good_rows; /* in classes that satisfy every model of one class                    */
    int      size_count;
    const kn_size_count *sizes; /* in the result's arena                                       */
} kn_cut_figures;

KN_CHECK kn_status kn_cut_measure(kn_table_run *run, const kn_cut *cut, kn_cut_figures *out, kn_error *err);

/* The same if rows stay linked: classes are those of persons with all their rows. */
KN_CHECK kn_status kn_cut_measure_linked(kn_table_run *run, const kn_cut *cut, kn_cut_figures *out, kn_error *err);

/* What both share: the worst value so far. */
void kn_cut_worse(double *reached, const kn_model *model, double value, bool first);

/* If rows stay linked: the rows of persons whose number of rows is shared by fewer than k persons. */
KN_CHECK kn_status kn_table_run_lonely_rows(const kn_table_run *run, int64_t *out, kn_error *err);

/* KN_USAGE: rows stay linked and the method cannot handle whole persons. */
KN_CHECK kn_status kn_table_run_check_linked(const kn_table_run *run, kn_error *err);

#endif
