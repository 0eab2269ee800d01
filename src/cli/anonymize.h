/* anonymize.h: what the files of `kanon anonymize` share, and `kanon attack` uses: cmd_anonymize.c reads the options and runs, anonymize_spec.c
 * turns them into a spec, anonymize_hierarchy.c reads `--hierarchy`, anonymize_summary.c tells what became of it. */
#ifndef CLI_ANONYMIZE_H
#define CLI_ANONYMIZE_H

#include <kanon/anonymize.h>

#include "cli.h"

/* What the options say, as they were written. */
typedef struct cli_anonymizing {
    const cli_command *command; /* whom messages name */
    cli_common        common;
    cli_table_options input;
    const char       *spec_path;
    cli_list          qi, sensitive, identifier, keep, hierarchies, attributes, require, dependencies;
    const char       *weight, *entity, *population, *undeclared, *missing;
    int64_t           k; /* INT64_MIN: not given */
    const char       *suppression, *suppressed, *method, *utility, *choose, *time_limit, *seed;
    const char       *output, *report, *workload, *summary;
    bool              keep_order, keep_rowmap, force, allow_broken, all_solutions, dry_run;
    char            **files; /* the arguments */
    int               file_count;
} cli_anonymizing;

/* Makes the spec that the release file and the options describe, not yet checked. 0, or the exit code after saying what
 * is wrong. */
int cli_anonymize_spec(kn_spec **out, kn_context *ctx, const cli_anonymizing *a);

/* "COLUMN:FILE" or "COLUMN:KIND=..." as the column and the text of its `hierarchy` in a release file; free both. 0, or
 * the exit code after saying what is wrong. */
int cli_hierarchy_text(char **column, char **text, const cli_command *command, const char *option);

/* A text as a quoted scalar of YAML; free it. */
char *cli_yaml_text(const char *text);

/* The file without its folder and the ending that a file beside it gets; free it. */
char *cli_beside(const char *path, const char *ending);

/* Prints the result: words to `out`, or JSON to standard output. */
void cli_anonymize_words(const cli_anonymizing *a, const kn_spec *spec, const kn_release_result *r, FILE *out);
void cli_anonymize_json(const cli_anonymizing *a, const kn_spec *spec, const kn_release_result *r);

#endif
