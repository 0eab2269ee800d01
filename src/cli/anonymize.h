/* anonymize.h: what the files of `kanon anonymize` share with each other and with `kanon attack`. cmd_anonymize.c
 * reads the options and runs the release, anonymize_spec.c turns them into a spec, anonymize_hierarchy.c reads
 * `--hierarchy`, anonymize_print.c prints the result; table/anonymize.c, database/anonymize.c and records/anonymize.c
 * print what only their shape has, anonymize_models.c the promises.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_ANONYMIZE_H
#define CLI_ANONYMIZE_H

#include <kanon/anonymize.h>

#include "document.h"

/* The options as written. */
typedef struct cli_anonymizing {
    const cli_command *command; /* named in messages */
    cli_common        common;
    cli_table_options input;
    const char       *spec_path;
    cli_list          qi, sensitive, identifier, keep, hierarchies, attributes, require, dependencies;
    cli_list          entity;
    const char       *weight, *population, *undeclared, *missing;
    int64_t           k; /* INT64_MIN: not given */
    const char       *suppression, *suppressed, *method, *utility, *choose, *row_order, *time_limit, *seed;
    cli_list          node; /* levels */
    const char       *output, *report, *public_report, *workload, *summary;
    const char       *threshold, *climit, *matching, *clustering, *leftovers, *diversity; /* databases */
    const char       *kmn, *g, *semantics, *disassociation, *support, *record; /* trees     */
    bool              complete, anatomy, reference, strict_structure;
    bool              spreadsheet_safe, expand, keep_order, keep_rowmap, keep_recipe, force, replace, allow_broken, all_solutions, dry_run;
    char            **files; /* the arguments */
    int               file_count;
} cli_anonymizing;

/* The options of every command that makes a spec: inputs, promises and search. The options for reading tables and for
 * writing are separate. */
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
    {"--row-order", CLI_TEXT, &(a).row_order},                                                                         \
    {"--workload", CLI_TEXT, &(a).workload},                                                                           \
    {"--time-limit", CLI_TEXT, &(a).time_limit},                                                                       \
    {"-s|--seed", CLI_TEXT, &(a).seed},                                                                                \
    {"--node", CLI_LIST, &(a).node},                                                                                   \
    {"-o|--output", CLI_TEXT, &(a).output},                                                                            \
    {"--force", CLI_FLAG, &(a).force}, {"--replace", CLI_FLAG, &(a).replace},                                                                                 \
    {"--allow-broken", CLI_FLAG, &(a).allow_broken},                                                                   \
    {"--threshold", CLI_TEXT, &(a).threshold},                                                                         \
    {"--climit", CLI_TEXT, &(a).climit},                                                                               \
    {"--matching", CLI_TEXT, &(a).matching},                                                                           \
    {"--clustering", CLI_TEXT, &(a).clustering},                                                                       \
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
    {"--disassociation", CLI_TEXT, &(a).disassociation},                                                               \
    {"--support", CLI_TEXT, &(a).support}
/* clang-format on */

/* Frees what parsing those options allocated. */
void cli_anonymizing_free(cli_anonymizing *a);

/* Makes the spec that the release file and the options describe; it is not checked yet. Returns 0, or the exit code
 * after reporting what is wrong. */
int cli_anonymize_spec(kn_spec **out, kn_context *ctx, const cli_anonymizing *a);

/* By its ending; anything else is a table. */
bool cli_is_release_file(const char *path);

/* Applies the options and the files to an existing spec (a recipe's). Returns the exit code. */
int cli_anonymize_change(kn_spec *spec, kn_context *ctx, const cli_anonymizing *w);

/* Like cli_anonymize_spec, for a command on one table that needs no promises; refuses what the method cannot use. */
int cli_usable_spec(kn_spec **out, kn_context *ctx, const cli_anonymizing *a);

/* Runs a command that looks at what a spec asks for and writes nothing: parses its options, makes the spec, calls
 * `look` with it (not checked yet; see cli_check_unwritten). Returns the exit code. */
typedef int cli_look(const cli_anonymizing *a, kn_context *ctx, kn_spec *spec, void *user);

int cli_run_look(const cli_command *command, int argc, char **argv, cli_look *look, void *user);

/* Checks a spec for such a command, which needs no output. Returns 0, or the exit code after reporting what is wrong. */
int cli_check_unwritten(kn_spec *spec);

/* "COLUMN:FILE" or "COLUMN:KIND=..." as the column and the text of its `hierarchy` in a release file; free both.
 * Returns 0, or the exit code after reporting what is wrong. */
int cli_hierarchy_text(char **column, char **text, const cli_command *command, const char *option);

/* A text as a quoted YAML scalar; free it. */
char *cli_yaml_text(const char *text);

/* The path with `ending` appended: the name of a file next to it. Free it. */
char *cli_beside(const char *path, const char *ending);

/* ---- Printing a release ---- */

/* What a shape adds to the text of every release, in this order. */
typedef struct cli_shape {
    void (*verdict)(const cli_value *answer, FILE *out); /* what it promises, who or what is left out */
    void (*lost)(const cli_value *answer, FILE *out);    /* by column, table or kind of value         */
    void (*choice)(const cli_value *answer, FILE *out);  /* after the name of the method              */
    void (*loss)(const cli_value *answer, FILE *out);    /* metrics and what follows                  */
} cli_shape;

extern const cli_shape cli_table_shape, cli_database_shape, cli_records_shape;

/* Prints the result of a release of that shape as text. */
void cli_release_print(const cli_value *answer, kn_shape shape, FILE *out);

/* Prints the notes and the answer, as text or as JSON on standard output, unless the release went there. Returns the
 * exit code. */
int cli_release_answer(const cli_anonymizing *a, const kn_spec *spec, kn_status made, kn_document *doc, const kn_error *err);

/* Parts of a verdict: how many look alike, before and after; the share of one sensitive value; "; verified". */
void        cli_print_crowds(const cli_value *answer, const char *units, FILE *out);
void        cli_print_share(const cli_value *answer, const char *whom, FILE *out);
const char *cli_release_state(const cli_value *answer);

/* A table of the promises with what the original and the release, if there is one, reach. */
void cli_models_print(const cli_value *answer, FILE *out);

/* ---- Parts ---- */

/* A number in its most readable form; "none" for NaN. */
void cli_text_table_figure(cli_text_table *t, double value);

#endif
