/* cmd_apply.c: `kanon apply`: releases other rows by the recipe of an earlier release. The answer is that of `kanon
 * anonymize`.
 * SPDX-License-Identifier: Apache-2.0 */
#include <kanon/answers.h>
#include <kanon/recipe.h>
#include <string.h>

#include "anonymize.h"

static const char help[] =
    "Usage: kanon apply RECIPE FILE... --output FILE [OPTION]...\n"
    "\n"
    "Releases other rows by what an earlier release decided: RECIPE is the FILE.recipe.json\n"
    "that 'kanon anonymize --keep-recipe' left. Nothing is searched for, but every promise of\n"
    "the recipe is counted again on these rows, and the release is read again and checked\n"
    "before it gets its name. On the same rows it is the same release, byte for byte.\n"
    "Classes that no longer keep a promise, and rows with values that a hierarchy file does\n"
    "not have, are suppressed as far as the budget allows; otherwise there is no release.\n"
    "\n"
    "What this release and an earlier one tell together is not known: whoever may be in both\n"
    "should not be in two releases. If nobody is, --earlier counts the promises on both.\n"
    "\n"
    "Reading:\n"
    "      --count COLUMN       how many equal rows each row stands for\n"
    "\n"
    "Promises:\n"
    "      --suppression SHARE  rows that may be suppressed: 0.05, 5% or '100 rows' (default: the\n"
    "                           recipe's)\n"
    "      --earlier FILE       an earlier release by this recipe: every promise is counted on both\n"
    "                           together too, and there is no release if one is not kept\n"
    "      --disjoint           nobody is in both (needed with --earlier)\n"
    "      --allow-broken       go on where a dependency does not hold\n"
    "\n"
    "Writing:\n"
    "  -o, --output FILE        where the result goes: the release; '-' is standard output\n"
    "      --expand             of counted rows (--count): every row as often as it is counted\n"
    "      --report FILE        also an HTML page with pictures, for yourself (mode 0600)\n"
    "      --public-report FILE an HTML page about the release that may be published\n"
    "      --keep-rowmap        keep FILE.rowmap: which released row is which original one\n"
    "      --dry-run            search and measure, write nothing\n"
    "      --force              publish although a kept column is nearly unique, or nothing is\n"
    "                           left of what others may know\n"
    "\n" CLI_COMMON_HELP "\n" CLI_EXIT_HELP "\n"
    "Examples:\n"
    "  $ kanon generate adult-like --rows 2000 --output april.csv\n"
    "  $ kanon generate adult-like --rows 2000 --seed 2 --output may.csv\n"
    "  $ kanon anonymize april.csv --qi sex,age --hierarchy age:ranges=5,10,20 -k 5 \\\n"
    "    --suppression 2% --keep-recipe --output release.csv\n"
    "  $ kanon apply release.csv.recipe.json may.csv --output release-may.csv\n"
    "  $ kanon apply release.csv.recipe.json may.csv --earlier release.csv --disjoint \\\n"
    "    --output release-may.csv\n";

/* Options of this command alone. */
typedef struct applied {
    const char *earlier;
    bool        disjoint;
} applied;

static int check(const cli_anonymizing *a, const applied *with)
{
    if (a->file_count < 1) return cli_usage(&cli_apply, "no recipe is named; kanon anonymize --keep-recipe leaves one");
    if (with->earlier && !with->disjoint)
        return cli_usage(&cli_apply, "--earlier: only if nobody is in both releases can they be counted together; say "
                                     "--disjoint, or leave it out");
    if (with->disjoint && !with->earlier)
        return cli_usage(&cli_apply, "--disjoint is about an earlier release; name it: --earlier FILE");
    if (with->earlier && a->dry_run)
        return cli_usage(&cli_apply, "--earlier: promises are counted on written releases, and --dry-run writes none");
    if (a->file_count < 2) return cli_usage(&cli_apply, "no file is named; name a table to be released by the recipe");
    return 0;
}

static int apply(cli_anonymizing *a, const applied *with, kn_context *ctx, kn_recipe *recipe)
{
    kn_error             err = KN_ERROR_INIT;
    kn_anonymize_options options = KN_ANONYMIZE_OPTIONS_INIT;
    kn_release_result   *result = NULL;
    kn_document         *doc = NULL;
    kn_spec             *spec = kn_recipe_spec(recipe);
    int                  code = cli_anonymize_change(spec, ctx, a);
    options.dry_run = a->dry_run;
    options.version = KANON_VERSION;
    options.earlier = with->earlier;
    options.disjoint = with->disjoint;
    if (code) return code;
    /* A spec needs an output, a dry run does not. */
    if (a->dry_run && !spec->output && kn_spec_set(spec, "output", "\"-\"", "--dry-run", &err) != KN_OK)
        return cli_fail(&err);
    if (kn_spec_check(spec, &err) != KN_OK) return cli_fail(&err);
    if (a->common.json && !a->dry_run && strcmp(spec->output, "-") == 0)
        return cli_usage(&cli_apply, "--json describes a release in a file; --output FILE is needed");
    if (kn_apply(&result, ctx, recipe, &options, &err) != KN_OK) return cli_fail(&err);
    kn_status made = kn_document_anonymize(&doc, ctx, spec, result, &options, &err);
    code = cli_release_answer(a, spec, made, doc, &err);
    kn_release_result_free(result);
    return code;
}

static int run(int argc, char **argv)
{
    cli_anonymizing  a = {.command = &cli_apply, .k = INT64_MIN};
    applied          with = {0};
    const cli_option options[] = {{"--suppression", CLI_TEXT, &a.suppression},
                                  {"--allow-broken", CLI_FLAG, &a.allow_broken},
                                  {"--earlier", CLI_TEXT, &with.earlier},
                                  {"--disjoint", CLI_FLAG, &with.disjoint},
                                  {"--count", CLI_TEXT, &a.input.count},
                                  {"--expand", CLI_FLAG, &a.expand},
                                  {"-o|--output", CLI_TEXT, &a.output},
                                  {"--report", CLI_TEXT, &a.report},
                                  {"--public-report", CLI_TEXT, &a.public_report},
                                  {"--keep-rowmap", CLI_FLAG, &a.keep_rowmap},
                                  {"--dry-run", CLI_FLAG, &a.dry_run},
                                  {"--force", CLI_FLAG, &a.force},
                                  {0}};
    kn_context      *ctx = NULL;
    kn_recipe       *recipe = NULL;
    kn_error         err = KN_ERROR_INIT;
    if (!cli_parse(&cli_apply, &argc, argv, options, &a.common)) return 2;
    if (a.common.help) return 0;
    a.files = argv;
    a.file_count = argc;
    int code = check(&a, &with);
    if (code == 0 && !(ctx = cli_context(&a.common))) code = 3;
    kn_status read = code == 0 ? kn_recipe_read(&recipe, ctx, a.files[0], &err) : KN_OK;
    if (read == KN_INPUT) cli_meant_beside(&err, a.files[0], ".recipe.json");
    if (read != KN_OK) code = cli_fail(&err);
    if (code == 0) {
        a.files++;
        a.file_count--;
        code = apply(&a, &with, ctx, recipe);
    }
    kn_recipe_free(recipe);
    cli_context_free(ctx);
    cli_anonymizing_free(&a);
    return code;
}

const cli_command cli_apply = {
    .name = "apply",
    .summary = "release other rows by what an earlier release decided",
    .help = help,
    .run = run,
};
