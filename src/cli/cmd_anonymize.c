/* cmd_anonymize.c: `kanon anonymize`: makes a verified release from a release file or from options alone.
 * anonymize_spec.c makes the spec, anonymize_print.c prints the answer.
 * SPDX-License-Identifier: Apache-2.0 */
#include <kanon/anonymize.h>
#include <kanon/catalogue.h>
#include <stdlib.h>
#include <string.h>

#include "anonymize.h"
#include "lists.h"
#include "spec_help.h"

static const char help[] =
    "Usage: kanon anonymize RELEASE.yaml [OPTION]...\n"
    "       kanon anonymize FILE... --qi A,B --sensitive C -k K --output FILE [OPTION]...\n"
    "\n"
    "Finds the least blurring that keeps every promise, writes the release, reads it again\n"
    "and checks it, and only then gives it its name. A first argument that ends in .yaml,\n"
    ".yml or .json is a release file; options override its fields. The certificate stands\n"
    "beside the release (FILE.certificate.json) and may be published with it;\n"
    "FILE.private.json may not.\n"
    "\n" CLI_COLUMNS_HELP "      --undeclared HOW     other columns: 'drop' (default) or 'refuse'\n"
    "\n" CLI_PROMISES_HELP "\n"
    "How:\n"
    "      --method NAME        optimal (default), heuristic, samarati, bottom-up,\n"
    "                           bottom-up-rollup, incognito, incognito-superroots,\n"
    "                           incognito-cube or datafly: one level for a whole column;\n"
    "                           mondrian, mondrian-relaxed, mondrian-1d, mondrian-best or\n"
    "                           mondrian-workload: ranges and groups as narrow as each crowd\n"
    "                           allows; kmsd or kmsd-ag: rows raised one by one, dependencies\n"
    "                           kept; of a database: miracle, miracle-x (default),\n"
    "                           miracle-x-level, dmiracle (for promises of values), or\n"
    "                           bitmap, to compare; of trees: gcs (default), acs or ocs;\n"
    "                           auto: those that fit are tried and the best is taken (kanon advise),\n"
    "                           the default where a column of a table has no hierarchy\n"
    "      --utility METRIC     what to lose least of: lm (default), ncp, prec, entropy, dm,\n"
    "                           dm_star or c_avg\n"
    "      --choose HOW         mondrian cuts the column with the widest 'range' (default), the\n"
    "                           most 'entropy', or where a cut saves most 'loss'\n"
    "      --row-order HOW      which of equal rows kmsd and kmsd-ag raise: by their 'values'\n"
    "                           (default), or as they stand in the 'input'\n"
    "      --workload FILE      a file of queries, which mondrian-workload's cuts follow\n"
    "      --time-limit SECONDS stop then, with the best found so far\n"
    "  -s, --seed N             another seed, another result, of methods that draw lots\n"
    "      --all-solutions      list every minimal node with its loss\n" CLI_NODE_HELP
    "      --dry-run            search and measure, write nothing\n" CLI_LIST_METHODS_HELP CLI_LIST_MODELS_HELP
        CLI_LIST_METRICS_HELP "\n" CLI_DATABASE_HELP "\n" CLI_TREES_HELP "\n"
    "Writing:\n"
    "      --spec FILE          the release file, whatever it is called\n"
    "  -o, --output FILE        where the result goes: the release; '-' is standard output\n"
    "      --report FILE        also an HTML page with pictures, for yourself (mode 0600)\n"
    "      --public-report FILE an HTML page about the release that may be published\n"
    "      --summary side       also FILE.summary.csv: range and mean of each class and\n"
    "                           quasi-identifier ('none': the default)\n"
    "      --expand             of counted rows (--count): every row as often as it is counted\n"
    "      --spreadsheet-safe   cells that a spreadsheet would execute have an apostrophe\n"
    "      --keep-order         rows stay in their order, which may tell who is who\n"
    "      --keep-rowmap        keep FILE.rowmap: which released row is which original one\n"
    "      --keep-recipe        keep FILE.recipe.json: what was decided, for 'kanon apply'\n"
    "      --force              publish although a kept column is nearly unique, or nothing is\n"
    "                           left of what others may know\n"
    "      --replace            replace an existing table of a server or a SQLite file\n"
    "\n" CLI_TABLE_HELP "\n" CLI_COMMON_HELP "\n" CLI_EXIT_HELP "\n"
    "Examples:\n"
    "  $ kanon generate adult-like --rows 2000 --output people.csv\n"
    "  $ kanon anonymize people.csv --qi sex,age --hierarchy age:ranges=5,10,20 \\\n"
    "    --sensitive salary-class -k 5 --suppression 2% --output release.csv\n"
    "  $ kanon anonymize people.csv --qi sex,race -k 3 --all-solutions --dry-run\n";

/* ---- Before the run ---- */

/* All files that are read. */
typedef struct read_files {
    char **paths;
    int    count;
} read_files;

static void add_read(read_files *f, const char *path)
{
    if (!path || strcmp(path, "-") == 0) return;
    f->paths = cli_realloc(f->paths, (size_t)(f->count + 1) * sizeof *f->paths);
    f->paths[f->count++] = (char *)(uintptr_t)path;
}

/* Would an output overwrite an input? */
static int check_paths(const kn_spec *spec)
{
    static const char *const endings[] = {"",        ".certificate.json", ".private.json",
                                          ".rowmap", ".recipe.json",      ".labels.csv"};
    read_files               f = {0};
    int                      code = 0;
    for (int i = 0; i < spec->input_count; i++) add_read(&f, spec->inputs[i]);
    add_read(&f, spec->path);
    add_read(&f, spec->population);
    for (int i = 0; i < spec->attribute_count; i++) {
        const kn_attribute *attribute = kn_spec_attribute_at(spec, i);
        if (attribute->has_hierarchy) {
            add_read(&f, kn_attribute_hierarchy(attribute)->path);
            add_read(&f, kn_attribute_hierarchy(attribute)->population);
        }
        add_read(&f, attribute->pseudonym_key_file);
    }
    for (int i = 0; i < (int)(sizeof endings / sizeof *endings) && spec->output && code == 0; i++) {
        char *path = cli_beside(spec->output, endings[i]);
        if (cli_overwrites_input(path, f.paths, f.count))
            code = cli_usage(&cli_anonymize, "the output would overwrite an input");
        free(path);
    }
    if (code == 0 && cli_overwrites_input(spec->report, f.paths, f.count))
        code = cli_usage(&cli_anonymize, "the report would overwrite an input");
    if (code == 0 && cli_overwrites_input(spec->public_report, f.paths, f.count))
        code = cli_usage(&cli_anonymize, "the public report would overwrite an input");
    if (code == 0 && spec->report && spec->output && strcmp(spec->report, spec->output) == 0)
        code = cli_usage(&cli_anonymize, "the output and the report are the same file");
    free(f.paths);
    return code;
}

static int check_words(const cli_anonymizing *a)
{
    if (a->k != INT64_MIN && a->k < 1) return cli_usage(&cli_anonymize, "-k: k must be at least 1");
    if (!a->spec_path && a->file_count == 0)
        return cli_usage(&cli_anonymize, "no file is named; name a release file (.yaml) or a table to anonymize");
    return 0;
}

/* ---- The run ---- */

static int check_table(const cli_anonymizing *a, const kn_spec *spec)
{
    if (a->common.json && !a->dry_run && strcmp(spec->output, "-") == 0)
        return cli_usage(&cli_anonymize, "--json describes a release in a file; --output FILE is needed");
    return check_paths(spec);
}

int cli_release_answer(const cli_anonymizing *a, const kn_spec *spec, kn_status made, kn_document *doc,
                       const kn_error *err)
{
    FILE        *out = !a->dry_run && strcmp(spec->output, "-") == 0 ? stderr : stdout;
    kn_document *kept = made == KN_OK ? kn_document_retain(doc) : NULL;
    bool         found = false;
    int          code = cli_answer(&a->common, made, doc, err, NULL);
    if (kept) (void)kn_document_boolean(kept, "found", &found);
    if (kept && !a->common.json && (!found || out == stdout || !a->common.quiet))
        cli_release_print(kn_document_find(kept, ""), kn_spec_shape(spec), out);
    kn_document_free(kept);
    return code ? code : !found;
}

static int anonymize(cli_anonymizing *a, kn_context *ctx, kn_spec *spec)
{
    kn_error             err = KN_ERROR_INIT;
    kn_anonymize_options options = KN_ANONYMIZE_OPTIONS_INIT;
    kn_release_head     *head = NULL;
    kn_document         *doc = NULL;
    options.all_solutions = a->all_solutions;
    options.dry_run = a->dry_run;
    options.version = KANON_VERSION;
    /* A spec needs an output, a dry run does not. */
    if (a->dry_run && !spec->output && kn_spec_set(spec, "output", "\"-\"", "--dry-run", &err) != KN_OK)
        return cli_fail(&err);
    /* --all-solutions implies a method that has nodes. */
    if (a->all_solutions && !spec->method_given && !spec->method_auto && kn_spec_shape(spec) == KN_SHAPE_TABLE &&
        kn_spec_set(spec, "method", "optimal", "--all-solutions", &err) != KN_OK)
        return cli_fail(&err);
    if (kn_spec_check(spec, &err) != KN_OK) return cli_fail(&err);
    if (a->all_solutions && (spec->method_auto || !kn_method_has_nodes(spec->method)))
        return cli_usage(&cli_anonymize,
                         "--all-solutions: only methods with one level for a whole column have nodes to list; take "
                         "--method optimal, or leave it out");
    int code = kn_spec_shape(spec) == KN_SHAPE_TABLE ? check_table(a, spec) : 0;
    if (code) return code;
    if (kn_anonymize_any(&head, ctx, spec, &options, &err) != KN_OK) return cli_fail(&err);
    kn_status made = kn_document_anonymize_any(&doc, ctx, spec, head, &options, &err);
    code = cli_release_answer(a, spec, made, doc, &err);
    kn_release_head_free(head);
    return code;
}

static int run(int argc, char **argv)
{
    cli_anonymizing  a = {.command = &cli_anonymize, .k = INT64_MIN};
    const cli_option options[] = {CLI_REQUIREMENT_OPTIONS(a),
                                  {"--method", CLI_TEXT, &a.method},
                                  {"--summary", CLI_TEXT, &a.summary},
                                  {"--all-solutions", CLI_FLAG, &a.all_solutions},
                                  {"--dry-run", CLI_FLAG, &a.dry_run},
                                  {"--report", CLI_TEXT, &a.report},
                                  {"--public-report", CLI_TEXT, &a.public_report},
                                  {"--spreadsheet-safe", CLI_FLAG, &a.spreadsheet_safe},
                                  {"--expand", CLI_FLAG, &a.expand},
                                  {"--keep-order", CLI_FLAG, &a.keep_order},
                                  {"--keep-rowmap", CLI_FLAG, &a.keep_rowmap},
                                  {"--keep-recipe", CLI_FLAG, &a.keep_recipe},
                                  CLI_LIST_METHODS(a.common),
                                  CLI_LIST_MODELS(a.common),
                                  CLI_LIST_METRICS(a.common),
                                  CLI_TABLE_OPTIONS(a.input),
                                  {0}};
    kn_context      *ctx = NULL;
    kn_spec         *spec = NULL;
    if (!cli_parse(&cli_anonymize, &argc, argv, options, &a.common)) return 2;
    if (a.common.help) return 0;
    a.files = argv;
    a.file_count = argc;
    int code = check_words(&a);
    if (code == 0 && !(ctx = cli_context(&a.common))) code = 3;
    if (code == 0) code = cli_anonymize_spec(&spec, ctx, &a);
    if (code == 0) code = anonymize(&a, ctx, spec);
    kn_spec_free(spec);
    cli_context_free(ctx);
    cli_anonymizing_free(&a);
    return code;
}

const cli_command cli_anonymize = {
    .name = "anonymize",
    .summary = "write a release that keeps what is asked, and verify it",
    .help = help,
    .run = run,
};
