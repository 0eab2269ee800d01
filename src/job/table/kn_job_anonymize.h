/* kn_job_anonymize.h: one run of kn_anonymize and its stages. Only the files kn_job_anonymize*.c include it.
 *
 *     kn_run_paths      what is written must not be what is read; streams are copied to files that can be read twice
 *     kn_run_open       the output, under its temporary name
 *     kn_run_read       header, roles, table; columns that must not be kept; rows with missing cells set aside
 *     kn_run_link       whether rows stay linked to their person; the entity is then the column that links
 *     kn_run_columns    what is released, in which order
 *     kn_run_dependencies  declared ones, held against the original
 *     kn_run_warn       what the owner should know of the table
 *     kn_run_choose     method: auto only: the candidates, each as far as kn_run_measure; one is chosen
 *     kn_run_prepare    hierarchies, population, requirements, objective
 *     kn_run_search     the node and its plan
 *     kn_run_measure    what the plan reaches: every claim that the verifier will be asked about
 *     kn_run_warn_of_classes  and of the plan
 *     kn_run_write      recode, verify, compare, commit
 *
 * All fields belong to the run and are freed by kn_anonymize at its end, but for what is called borrowed.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_JOB_ANONYMIZE_H
#define KN_JOB_ANONYMIZE_H

#include <kanon/anonymize.h>
#include <kanon/dependencies.h>
#include <sys/stat.h>

#include "kn_arena.h"
#include "kn_csv_read.h"
#include "kn_digest.h"
#include "kn_fulldomain.h"
#include "kn_kmsd.h"
#include "kn_metrics.h"
#include "kn_output.h"
#include "kn_pseudonym.h"
#include "kn_recode.h"

/* A file without a name that holds what came from a stream. */
typedef struct kn_spool {
    int         fd;
    char        path[32]; /* under which this process can open it again and again */
    const char *name;     /* what the user calls it; borrowed                     */
} kn_spool;

typedef struct kn_run {
    kn_context                 *ctx;
    const kn_spec              *asked;   /* the user's                                               */
    const kn_spec              *spec;    /* the user's; after kn_run_choose `chosen`                 */
    kn_spec                     chosen;  /* the user's with the method that auto chose               */
    const kn_anonymize_options *options;
    kn_release_result          *result;
    kn_arena                   *arena; /* of the result                                             */
    kn_arena                    scratch;
    /* Paths. */
    kn_spec      effective; /* the spec with spooled inputs and the delimiter that was found        */
    const char **inputs;    /* in scratch                                                           */
    struct stat *input_files; /* what they were before they were read; in scratch                   */
    kn_spool    *spools;    /* in scratch                                                           */
    int          spool_count;
    bool         to_stream; /* the output is standard output, a pipe, a device                      */
    /* The table. */
    char     delimiter;
    kn_table *table;         /* the rows that take part                                              */
    kn_table *population_table;
    int64_t  *original_rows; /* of each row of the table; NULL: the same                             */
    int       entity;        /* column of the table; -1: none                                        */
    bool      linked;        /* the release shows which rows are one person's (kn_run_link)          */
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
    kn_hierarchy        **column_hierarchies; /* per column of the table: of sensitive ones          */
    kn_population_set    *population;
    kn_requirements      *requirements;
    kn_objective         *objective;
    kn_fulldomain_problem problem;
    kn_fulldomain_result *found;
    kn_plan              *plan;
    int64_t               good_rows; /* of the plan, by kn_run_measure: in classes that keep every promise of a class */
    /* What is written. */
    kn_released_column *columns; /* in scratch */
    int                 column_count;
    unsigned char      *keys; /* KN_PSEUDONYM_KEY bytes per released column; in scratch */
    int64_t            *map;  /* row of the table per released row, then of the inputs  */
    int64_t             map_count;
    kn_digest_job      *digests;
    kn_output          *release;
    kn_output          *summary; /* NULL: none                                         */
    char                release_path[32]; /* to_stream: under which it can be read */
    struct kn_public   *facts;  /* what the release tells by itself */
    const char         *digest; /* of the release, for its seal     */
} kn_run;

KN_CHECK kn_status kn_run_paths(kn_run *run, kn_error *err);
KN_CHECK kn_status kn_run_open(kn_run *run, kn_error *err);
KN_CHECK kn_status kn_run_read(kn_run *run, kn_error *err);
KN_CHECK kn_status kn_run_link(kn_run *run, kn_error *err);
KN_CHECK kn_status kn_run_columns(kn_run *run, kn_error *err);
KN_CHECK kn_status kn_run_warn(kn_run *run, kn_error *err);
KN_CHECK kn_status kn_run_choose(kn_run *run, kn_error *err);
KN_CHECK kn_status kn_run_prepare(kn_run *run, kn_error *err);
KN_CHECK kn_status kn_run_search(kn_run *run, kn_error *err);
KN_CHECK kn_status kn_run_measure(kn_run *run, kn_error *err);
KN_CHECK kn_status kn_run_warn_of_classes(kn_run *run, kn_error *err); /* there is a plan */
KN_CHECK kn_status kn_run_warn_of_force(kn_run *run, kn_error *err);   /* there is a plan */
KN_CHECK kn_status kn_run_write(kn_run *run, kn_error *err);

/* Tries the methods on the table that was read; the run itself stays as it is. */
KN_CHECK kn_status kn_run_try_methods(kn_run *run, kn_advice *out, kn_arena *arena, kn_error *err);

/* Frees what kn_run_prepare and kn_run_search made, the plan too. */
void kn_run_end_search(kn_run *run);

/* Methods without a lattice: result and plan, or why there is none (kn_run_search calls them). */
KN_CHECK kn_status kn_run_partition(kn_run *run, kn_error *err);
KN_CHECK kn_status kn_run_summary(kn_run *run, kn_error *err); /* the file of statistics, under its temporary name */
KN_CHECK kn_status kn_run_kmsd(kn_run *run, kn_error *err);
/* Dependencies: read and held against the original; those that kmsd-ag keeps; those that the plan must keep. */
KN_CHECK kn_status kn_run_dependencies(kn_run *run, kn_error *err);
KN_CHECK kn_status kn_run_associations(kn_run *run, kn_association *out, int *count, kn_error *err);
KN_CHECK kn_status kn_run_keep_dependencies(kn_run *run, kn_error *err);

kn_recode_input kn_run_recode_input(const kn_run *run);

KN_CHECK kn_status kn_run_no_release(kn_run *run, const char *why, kn_error *err);

static inline bool kn_run_full_domain(const kn_run *run)
{
    return kn_method_family(run->spec->method) == KN_FAMILY_FULL_DOMAIN;
}

/* An input that is no longer the file that was read; NULL: none. */
const char *kn_run_changed_input(const kn_run *run);

/* Adds a sentence for the user to the result. */
KN_CHECK kn_status kn_run_note(kn_run *run, kn_error *err, const char *format, ...) KN_PRINTF(3, 4);

/* Memory of the run or the result; NULL after KN_MEMORY was told. */
void *kn_run_room(kn_run *run, kn_arena *arena, size_t count, size_t size, kn_error *err);
char *kn_run_text(kn_run *run, const char *text, kn_error *err); /* a copy in the result */

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

KN_CHECK kn_status kn_cut_measure(kn_run *run, const kn_cut *cut, kn_cut_figures *out, kn_error *err);

/* The same where rows stay linked: classes are those of persons with all their rows. */
KN_CHECK kn_status kn_cut_measure_linked(kn_run *run, const kn_cut *cut, kn_cut_figures *out, kn_error *err);

/* What both share: the worst value so far; how many classes have each size. */
void               kn_cut_worse(double *reached, const kn_model *model, double value, bool first);
KN_CHECK kn_status kn_cut_sizes(kn_run *run, const int64_t *sizes, const int64_t *rows, int64_t count,
                                kn_cut_figures *out, kn_error *err);

/* Where rows stay linked: the rows of persons whose number of rows fewer than k persons have. */
KN_CHECK kn_status kn_run_lonely_rows(const kn_run *run, int64_t *out, kn_error *err);

/* KN_USAGE: rows stay linked and the method cannot look at whole persons. */
KN_CHECK kn_status kn_run_check_linked(const kn_run *run, kn_error *err);

/* Monotonic seconds. */
double kn_run_clock(void);

#endif
