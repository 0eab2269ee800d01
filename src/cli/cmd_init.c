/* cmd_init.c: `kanon init`: writes a first release file for a table, a database or records. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <kanon/init.h>
#include <stdlib.h>
#include <string.h>

#include "anonymize.h"
#include "diagnose.h"
#include "document.h"

static const char help[] =
    "Usage: kanon init FILE... [-o RELEASE.yaml]\n"
    "       kanon init DATABASE [--entity TABLE] [-o RELEASE.yaml]\n"
    "       kanon init RECORDS [--record NAME] [-o RELEASE.yaml]\n"
    "\n"
    "Writes a first release file that runs as it is: a role for each column with the reason,\n"
    "what its values become (integers: ranges with round bounds; dates: the calendar; codes:\n"
    "masked or cut; categories: groups in a file beside it, to be edited), promises, method\n"
    "auto. Of a database (sqlite:FILE, postgresql://..., a FOLDER of CSV files): who the\n"
    "persons are, and whose rows the other tables hold. Of records (.xml, .json, .jsonl):\n"
    "their classes. Roles are guesses: read the file before you publish anything.\n"
    "\n"
    "Options:\n"
    "  -o, --output FILE        where the result goes (default: standard output); hierarchies\n"
    "                           of categories are written beside it, and only then\n"
    "      --force              replace existing files\n"
    "  -k, --k K                every class has at least K rows (default: 5; 2 of very few rows)\n"
    "      --entity TABLE       the table of persons of a database (default: the one whose names\n"
    "                           suggest people)\n"
    "      --record NAME        the element or key that is one person (default: detected)\n"
    "\n" CLI_TABLE_HELP "\n" CLI_COMMON_HELP "\n" CLI_EXIT_HELP "\n"
    "Examples:\n"
    "  $ kanon generate patients --rows 500 --output patients.csv\n"
    "  $ kanon init patients.csv --output release.yaml --force\n"
    "  $ kanon anonymize release.yaml\n";

typedef struct arguments {
    cli_common        common;
    cli_table_options table;
    const char       *output, *entity, *record;
    int64_t           k;
    bool              force;
} arguments;

/* The folder of a file; NULL: the working folder. Free it. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? cli_strndup(path, (size_t)(slash + 1 - path)) : NULL;
}

static int finish(const arguments *a, kn_context *ctx, const kn_draft *draft)
{
    bool         printed = strcmp(a->output, "-") == 0;
    kn_error     err = KN_ERROR_INIT;
    kn_document *doc = NULL;
    if (!printed && kn_draft_write(draft, ctx, a->output, a->force, &err) != KN_OK) return cli_fail(&err);
    kn_status made = kn_document_init(&doc, ctx, draft, printed ? NULL : a->output, &err);
    int       code = cli_answer(&a->common, made, doc, &err, NULL);
    if (code != 0 || a->common.json) return code;
    if (printed) {
        fputs(draft->text, stdout);
        return 0;
    }
    if (draft->file_count == 0)
        cli_done(&a->common, "%s written; 'kanon anonymize %s' runs it", a->output, a->output);
    else
        cli_done(&a->common, "%s written, and %s; 'kanon anonymize %s' runs it", a->output,
                 cli_count_of(draft->file_count, "hierarchy to edit", "hierarchies to edit").text, a->output);
    return 0;
}

static int init(const arguments *a, char *const *inputs, int count)
{
    kn_init_options  options = KN_INIT_OPTIONS_INIT;
    kn_csv_options   csv;
    cli_column_types types = {0};
    kn_error         err = KN_ERROR_INIT;
    kn_draft        *draft = NULL;
    if (!cli_table_csv_options(&csv, &a->table, &types)) return 2;
    char       *folder = folder_of(a->output);
    kn_context *ctx = cli_context(&a->common);
    int         code = ctx ? 0 : 3;
    options.csv = &csv;
    options.folder = folder;
    options.files = strcmp(a->output, "-") != 0;
    options.k = a->k;
    options.entity = a->entity;
    options.record = a->record;
    for (int i = 0; i < count && code == 0; i++)
        if (strcmp(inputs[i], "-") != 0) code = cli_settle(ctx, inputs[i], true);
    if (code == 0 && kn_init(&draft, ctx, (const char *const *)inputs, count, &options, &err) != KN_OK)
        code = cli_fail(&err);
    if (code == 0) code = finish(a, ctx, draft);
    kn_draft_free(draft);
    cli_context_free(ctx);
    free(folder);
    cli_column_types_free(&types);
    return code;
}

static int run(int argc, char **argv)
{
    arguments        a = {.output = "-"};
    const cli_option options[] = {{"-o|--output", CLI_TEXT, &a.output},
                                  {"--force", CLI_FLAG, &a.force},
                                  {"-k|--k", CLI_INTEGER, &a.k},
                                  {"--entity", CLI_TEXT, &a.entity},
                                  {"--record", CLI_TEXT, &a.record},
                                  CLI_TABLE_OPTIONS(a.table),
                                  {0}};
    if (!cli_parse(&cli_init, &argc, argv, options, &a.common)) return 2;
    if (a.common.help) return 0;
    int code;
    if (argc == 0)
        code = cli_usage(&cli_init, "no input is named; name a table, a database or records");
    else if (a.k != 0 && a.k < 2)
        code = cli_usage(&cli_init, "--k must be at least 2");
    else if (cli_overwrites_input(a.output, argv, argc))
        code = cli_usage(&cli_init, "the output would overwrite the input");
    else if (strcmp(a.output, "-") != 0 && !cli_is_release_file(a.output))
        code = cli_usage(&cli_init, "--output: name it FILE.yaml; by that ending other commands know a release file");
    else
        code = init(&a, argv, argc);
    cli_table_options_free(&a.table);
    return code;
}

const cli_command cli_init = {"init", "a first release file, which runs as it is", help, run};
