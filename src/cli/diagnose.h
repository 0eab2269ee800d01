/* diagnose.h: what the files of `kanon diagnose` share: cmd_diagnose.c reads the options, diagnose_set.c answers for
 * a given set of columns, diagnose_over.c for all subsets of a list; diagnose_models.c and diagnose_risk.c add
 * privacy models and risk.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DIAGNOSE_H
#define CLI_DIAGNOSE_H

#include "document.h"
#include "figures.h"

/* Wall and processor time. */
typedef struct cli_moment {
    double wall, cpu;
} cli_moment;

cli_moment cli_now(void);

/* The state of one run of the command. */
typedef struct cli_diagnosing {
    cli_common        common;
    cli_table_options input;
    cli_list          qi, over;
    int64_t           k; /* 0: not given */
    bool              at_most;
    kn_suppress_mode  suppress_mode;
    kn_fraction       suppress;
    int64_t           suppress_rows; /* given as a number of rows; -1: as a share */
    cli_list          entities; /* the columns that identify the person               */
    char             *joined;   /* the text of `entity`, if it was made               */
    const char       *entity;   /* the column, or several joined as "a, b"; NULL: none */
    kn_missing        missing;
    kn_set_algorithm  algorithm;
    int64_t           max_size;
    double            time_limit;
    const char       *write_suppressed; /* a path, or NULL */
    cli_list          sensitive, require, hierarchies;
    bool              risk, suda;
    const char       *population, *sampling, *weight, *threshold;
    const char       *report; /* a path, or NULL */
    const char       *spec;   /* of a database: its release file; NULL: a table */
    char            **files;
    int               file_count;
    bool              timings;
    kn_document      *answer; /* what was printed, for the report */
    kn_model_report  *models; /* with --sensitive and --qi     */
    kn_model_sets    *model_sets; /* with --sensitive and --over */
    kn_risk          *risk_found;
    kn_suda          *suda_found;
    kn_context       *ctx;
    kn_table         *table;
    cli_moment        start, read, end;
} cli_diagnosing;

/* Answers and prints; returns the exit code. */
int cli_diagnose_set(cli_diagnosing *d);
int cli_diagnose_over(cli_diagnosing *d);

/* Measures, and keeps the results in `d`. Returns the exit code: 1 if a requirement does not hold. */
int cli_diagnose_models(cli_diagnosing *d);
int cli_diagnose_risk(cli_diagnosing *d);
int cli_diagnose_suda(cli_diagnosing *d);

/* Prints the answer and keeps it; `words` prints it as text. Returns 0 or the exit code. */
int cli_diagnose_answer(cli_diagnosing *d, kn_status made, kn_document *doc, const kn_error *err,
                        void (*words)(const cli_value *answer));

/* The exit code of the answer that was kept: 0 yes (or nothing was asked), 1 no, 4 undecided. `models`: those of
 * requirements, 0 or 1. */
int cli_diagnose_verdict(const cli_diagnosing *d, int models);

/* "UNDECIDED: ...": there is nobody to say it about. `what`: "the table is 5-anonymous". */
void cli_undecided_print(const char *nobody, const char *what);

/* Add the sections on models, risk and special uniques that the answer has. */
void cli_models_figures(cli_figures *to, const cli_value *models);
void cli_risk_figures(cli_figures *to, const cli_value *risk);
void cli_suda_figures(cli_figures *to, const cli_value *suda);

/* Figures on single rows: only for the terminal, never for the report. */
void cli_suda_rows(cli_figures *to, const cli_value *suda);

/* Prints the models of every set as text. */
void cli_model_sets_print(const cli_value *models);

/* Writes the HTML report; either answer may be NULL. Returns 0 or the exit code. */
int cli_diagnose_report(const cli_diagnosing *d, const kn_diagnosis *one, const kn_sets_diagnosis *all);

/* Class sizes as text: `of` is what is counted, `unit` what a class has. */
void cli_histogram_print(const cli_value *sizes, const char *of, const char *unit);

/* Diagnoses a database as a release file describes it; returns the exit code. */
int cli_diagnose_database(const cli_common *common, kn_context *ctx, const kn_spec *spec,
                          const kn_database_diagnose_options *options, const char *report);

/* Its HTML report (database/diagnose_report.c), of the answer as it was printed. Returns 0 or the exit code. */
int cli_diagnose_database_report(const cli_common *common, kn_context *ctx, const kn_spec *spec,
                                 const kn_database_diagnosis *diagnosis, const kn_database_diagnose_options *options,
                                 const cli_value *answer, const char *path);

/* The same of records. */
int cli_diagnose_records(const cli_common *common, kn_context *ctx, const kn_spec *spec,
                         const kn_records_diagnose_options *options);

/* The times for --timings. */
kn_diagnose_times cli_diagnose_times(const cli_diagnosing *d);
void              cli_timings_print(const cli_value *answer);

#endif
