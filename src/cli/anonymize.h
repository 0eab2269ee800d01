/* anonymize.h: what the files of `kanon anonymize` share, and `kanon attack` uses: cmd_anonymize.c reads the options and
 * runs, anonymize_spec.c turns them into a spec, anonymize_hierarchy.c reads `--hierarchy`, anonymize_print.c prints what
 * came of it, table/anonymize.c, database/anonymize.c and records/anonymize.c what is of one shape only,
 * anonymize_models.c what was promised.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_ANONYMIZE_H
#define CLI_ANONYMIZE_H

#include <kanon/anonymize.h>

#include "document.h"

/* What the options say, as they were written. */
typedef struct cli_anonymizing {
    const cli_command *command; /* whom messages name */
    cli_common        common;
    cli_table_options input;
    const char       *spec_path;
    cli_list          qi, sensitive, identifier, keep, hierarchies, attributes, require, dependencies;
    cli_list          entity;
    const char       *weight, *population, *undeclared, *missing;
    int64_t           k; /* INT64_MIN: not given */
    const char       *suppression, *suppressed, *method, *utility, *choose, *time_limit, *seed;
    cli_list          node; /* levels */
    const char       *output, *report, *public_report, *workload, *summary;
    const char       *threshold, *climit, *matching, *leftovers, *diversity; /* databases */
    const char       *kmn, *g, *semantics, *support, *record;                /* trees     */
    bool              complete, anatomy, reference, strict_structure;
    bool              spreadsheet_safe, expand, keep_order, keep_rowmap, keep_recipe, force, allow_broken, all_solutions, dry_run;
    char            **files; /* the arguments */
    int               file_count;
} cli_anonymizing;

/* The options that say what is read, asked and searched for: of every command that makes such a spec. Those of reading tables
 * and of writing are apart. */
/* clang-format off */
#define CLI_REQUIREMENT_OPTIONS(a)                                                                                     \
    {"--spec", CLI_TEXT, &(a).spec_path},                                                                              \
    {"--qi", CLI_LIST, &(a).qi},                                                                                       \
    {"--sensitive", CLI_LIST, &(a).sensitive},                                                                         \
    {"--identifier", CLI_LIST, &(a).identifier},                                                                       \
    {"--keep", CLI_LIST, &(a).keep},                                                                                   \
    {"--weight", CLI_TEXT, &(a).weight},                                                                               \
    {"--entity", CLI_LIST, &(a).entity},                                                                               \
    {"--hierarchy", CLI_REPEAT, &(a).hierarchies},                                                                     \
    {"--attribute", CLI_REPEAT, &(a).attributes},                                                                      \
    {"--undeclared", CLI_TEXT, &(a).undeclared},                                                                       \
    {"--missing", CLI_TEXT, &(a).missing},                                                                             \
    {"-k|--k", CLI_INTEGER, &(a).k},                                                                                   \
    {"--require", CLI_REPEAT, &(a).require},                                                                           \
    {"--population", CLI_TEXT, &(a).population},                                                                       \
    {"--suppression", CLI_TEXT, &(a).suppression},                                                                     \
    {"--suppressed", CLI_TEXT, &(a).suppressed},                                                                       \
    {"--dependency", CLI_REPEAT, &(a).dependencies},                                                                   \
    {"--utility", CLI_TEXT, &(a).utility},                                                                             \
    {"--choose", CLI_TEXT, &(a).choose},                                                                               \
    {"--workload", CLI_TEXT, &(a).workload},                                                                           \
    {"--time-limit", CLI_TEXT, &(a).time_limit},                                                                       \
    {"-s|--seed", CLI_TEXT, &(a).seed},                                                                                \
    {"--node", CLI_LIST, &(a).node},                                                                                   \
    {"-o|--output", CLI_TEXT, &(a).output},                                                                            \
    {"--force", CLI_FLAG, &(a).force},                                                                                 \
    {"--allow-broken", CLI_FLAG, &(a).allow_broken},                                                                   \
    {"--threshold", CLI_TEXT, &(a).threshold},                                                                         \
    {"--climit", CLI_TEXT, &(a).climit},                                                                               \
    {"--matching", CLI_TEXT, &(a).matching},                                                                           \
    {"--leftovers", CLI_TEXT, &(a).leftovers},                                                                         \
    {"--diversity", CLI_TEXT, &(a).diversity},                                                                         \
    {"--complete", CLI_FLAG, &(a).complete},                                                                           \
    {"--anatomy", CLI_FLAG, &(a).anatomy},                                                                             \
    {"--reference", CLI_FLAG, &(a).reference},                                                                         \
    {"--kmn", CLI_TEXT, &(a).kmn},                                                                                     \
    {"--record", CLI_TEXT, &(a).record},                                                                               \
    {"--g", CLI_TEXT, &(a).g},                                                                                         \
    {"--semantics", CLI_TEXT, &(a).semantics},                                                                         \
    {"--strict-structure", CLI_FLAG, &(a).strict_structure},                                                           \
    {"--support", CLI_TEXT, &(a).support}
/* clang-format on */

/* Frees what parsing those options took. */
void cli_anonymizing_free(cli_anonymizing *a);

/* Makes the spec that the release file and the options describe, not yet checked. 0, or the exit code after saying what
 * is wrong. */
int cli_anonymize_spec(kn_spec **out, kn_context *ctx, const cli_anonymizing *a);

/* Changes a spec that there is (a recipe's) by the options and the files. The exit code. */
int cli_anonymize_change(kn_spec *spec, kn_context *ctx, const cli_anonymizing *w);

/* The same for a command about one table that asks for no promises: everything in it is of use to the method, or it is
 * refused. */
int cli_usable_spec(kn_spec **out, kn_context *ctx, const cli_anonymizing *a);

/* "COLUMN:FILE" or "COLUMN:KIND=..." as the column and the text of its `hierarchy` in a release file; free both. 0, or
 * the exit code after saying what is wrong. */
int cli_hierarchy_text(char **column, char **text, const cli_command *command, const char *option);

/* A text as a quoted scalar of YAML; free it. */
char *cli_yaml_text(const char *text);

/* The file without its folder and the ending that a file beside it gets; free it. */
char *cli_beside(const char *path, const char *ending);

/* ---- What is printed of a release ---- */

/* What a shape adds to what is printed of every release, in this order. */
typedef struct cli_shape {
    void (*verdict)(const cli_value *answer, FILE *out); /* what it promises, who or what is left out */
    void (*lost)(const cli_value *answer, FILE *out);    /* by column, table or kind of value         */
    void (*choice)(const cli_value *answer, FILE *out);  /* behind the name of the method             */
    void (*loss)(const cli_value *answer, FILE *out);    /* metrics and what follows from them        */
} cli_shape;

extern const cli_shape cli_table_shape, cli_database_shape, cli_records_shape;

/* Prints what became of a release of that shape, in words. */
void cli_release_print(const cli_value *answer, kn_shape shape, FILE *out);

/* Prints notes and the answer: words, or JSON to standard output, unless that is where the release went. The exit code. */
int cli_release_answer(const cli_anonymizing *a, const kn_spec *spec, kn_status made, kn_document *doc, const kn_error *err);

/* Parts of a verdict: how many look alike, before and after; how much of them one sensitive value has; "; verified". */
void        cli_print_crowds(const cli_value *answer, const char *units, FILE *out);
void        cli_print_share(const cli_value *answer, const char *whom, FILE *out);
const char *cli_release_state(const cli_value *answer);

/* A table of promises, what the original and, where there is one, the release reach. */
void cli_models_print(const cli_value *answer, FILE *out);

/* ---- Parts ---- */

/* A number as it is best read; "none" where there is none. */
void cli_text_table_figure(cli_text_table *t, double value);

#endif
