/* cmd_anonymize.c: `kanon anonymize`: from a release file, or options alone, to a verified release. The spec is made by
 * anonymize_spec.c, the answer told by anonymize_summary.c. */
#include <kanon/anonymize.h>
#include <stdlib.h>
#include <string.h>

#include "anonymize.h"

static const char help[] =
    "Usage: kanon anonymize RELEASE.yaml [OPTION]...\n"
    "       kanon anonymize FILE... --qi A,B --sensitive C -k K --output FILE [OPTION]...\n"
    "\n"
    "Finds the least blurring that keeps every promise, writes the release, reads it again\n"
    "and checks it, and only then gives it its name. A first argument that ends in .yaml,\n"
    ".yml or .json is a release file; options override its fields. The certificate stands\n"
    "beside the release (FILE.certificate.json) and may be published with it;\n"
    "FILE.private.json may not.\n"
    "\n"
    "Columns (any other is dropped, and named):\n"
    "      --qi COLUMNS         quasi-identifiers: what somebody else may know; in this order\n"
    "                           stand the levels of a node\n"
    "      --sensitive COLUMNS  what nobody should learn about a person; published as it is\n"
    "      --identifier COLUMNS dropped without a word\n"
    "      --keep COLUMNS       published as they are\n"
    "      --weight COLUMN      sampling weights\n"
    "      --entity COLUMN      whose row it is: classes then count persons, not rows\n"
    "      --hierarchy COLUMN:FILE, COLUMN:KIND\n"
    "                           what a quasi-identifier's values become: a file, mask=right,\n"
    "                           ranges=5,10,20, breaks=18,65/18, calendar=month,year,\n"
    "                           prefix=., taxonomy=FILE or suppress; repeatable\n"
    "      --attribute 'COLUMN:{...}'\n"
    "                           anything else of a column, as in a release file; repeatable\n"
    "      --undeclared HOW     other columns: 'drop' (default) or 'refuse'\n"
    "      --missing HOW        missing quasi-identifiers are a value of their own ('value',\n"
    "                           default), or drop the row ('drop')\n"
    "\n"
    "Promises:\n"
    "  -k, --k K                every class has at least K rows\n"
    "      --require MODEL      as in diagnose (l-diversity:kind=distinct,l=3, ...), and also\n"
    "                           k-map:k=5, delta-presence:min=0,max=0.5, max-risk:risk=0.1,\n"
    "                           average-risk:risk=0.05; repeatable\n"
    "      --population FILE    everybody the table may be about, for k-map and delta-presence\n"
    "      --suppression SHARE  rows that may be suppressed: 0.05, 5% or '100 rows' (default: 0)\n"
    "      --suppressed HOW     they show '*' in every column ('star', default), are left out\n"
    "                           ('drop'), or show '*' in the quasi-identifiers ('keep-sensitive')\n"
    "      --dependency 'A -> B'\n"
    "                           a dependency of the data that the release must keep (A ->> B, A -2-> B\n"
    "                           too); repeatable\n"
    "      --allow-broken       go on where a dependency does not hold\n"
    "\n"
    "How:\n"
    "      --method NAME        optimal (default), heuristic, samarati, bottom-up,\n"
    "                           bottom-up-rollup, incognito, incognito-superroots,\n"
    "                           incognito-cube or datafly: one level for a whole column;\n"
    "                           mondrian, mondrian-relaxed, mondrian-1d, mondrian-best or\n"
    "                           mondrian-workload: ranges and groups as narrow as each crowd\n"
    "                           allows; kmsd or kmsd-ag: rows raised one by one, dependencies\n"
    "                           kept; of a database: miracle, miracle-x (default),\n"
    "                           miracle-x-level, dmiracle (where l-diversity is asked), or\n"
    "                           bitmap, to compare; of trees: gcs (default), acs or ocs\n"
    "      --utility METRIC     what to lose least of: lm (default), ncp, prec, entropy, dm,\n"
    "                           dm_star or c_avg\n"
    "      --choose HOW         mondrian cuts the column with the widest 'range' (default), the\n"
    "                           most 'entropy', or where a cut saves most 'loss'\n"
    "      --workload FILE      the queries that mondrian-workload's cuts follow\n"
    "      --time-limit SECONDS the best found so far, then\n"
    "      --seed N             of methods that draw lots\n"
    "      --all-solutions      list every minimal node with its loss\n"
    "      --dry-run            search and measure, write nothing\n"
    "\n"
    "Databases (a release file with tables; sqlite:FILE, postgresql://... or FOLDER/):\n"
    "      --threshold T        a person farther than T from every cluster begins a new one\n"
    "                           (default: 0.1)\n"
    "      --climit N           while there are fewer than N clusters (default: 150)\n"
    "      --matching HOW       rows of two persons are paired one by one, the cheapest first\n"
    "                           ('greedy', default), or at the least cost ('exact')\n"
    "      --leftovers HOW      fewer than k who are left join the nearest class ('absorb',\n"
    "                           default) or are left out ('drop')\n"
    "      --diversity HOW      dmiracle: classes that are not diverse are merged ('merge',\n"
    "                           default), avoided from the start ('distance') or left out\n"
    "                           ('suppress')\n"
    "      --anatomy            dmiracle: values as they are, sensitive ones by groups\n"
    "      --complete           bitmap: what a person has not is known not to be\n"
    "      --reference          the plain algorithm: the same release, slowly (trees too)\n"
    "\n"
    "Trees (a release file with classes; .xml, .json, .jsonl, or one basket per line):\n"
    "      --kmn K,M,N          whoever knows M values and N relations between them finds none or\n"
    "                           at least K records\n"
    "      --record NAME        the element or key that is one person (default: record)\n"
    "      --g N                gcs follows the N best cuts of each step (default: 2)\n"
    "      --semantics HOW      relations are known pair by pair ('pairs', default), or with the\n"
    "                           path they lie on ('paths')\n"
    "      --strict-structure   moved nodes do not show\n"
    "      --support SHARE      also mine frequent subtrees, for ml2 and dml2: in at least this\n"
    "                           share of the records\n"
    "\n"
    "Writing:\n"
    "      --spec FILE          the release file, whatever it is called\n"
    "  -o, --output FILE        the release; '-' is standard output\n"
    "      --report FILE        also an HTML page with pictures\n"
    "      --summary side       also FILE.summary.csv: range and mean of each class and\n"
    "                           quasi-identifier ('none': the default)\n"
    "      --keep-order         rows stay in their order, which may tell who is who\n"
    "      --keep-rowmap        keep FILE.rowmap: which released row is which original one\n"
    "      --force              publish a kept column although it is nearly unique\n"
    "\n" CLI_TABLE_HELP "\n" CLI_COMMON_HELP "\n" CLI_EXIT_HELP "\n"
    "Examples:\n"
    "  $ kanon generate adult-like --rows 2000 --output people.csv\n"
    "  $ kanon anonymize people.csv --qi sex,age --hierarchy age:ranges=5,10,20 \\\n"
    "    --sensitive salary-class -k 5 --suppression 2% --output release.csv\n"
    "  $ kanon anonymize people.csv --qi sex,race -k 3 --all-solutions --dry-run\n";

/* ---- Before the run ---- */

/* Everything that is read. */
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

/* Would anything that is written take the place of something that is read? */
static int check_paths(const kn_spec *spec)
{
    static const char *const endings[] = {"", ".certificate.json", ".private.json", ".rowmap"};
    read_files               f = {0};
    int                      code = 0;
    for (int i = 0; i < spec->input_count; i++) add_read(&f, spec->inputs[i]);
    add_read(&f, spec->path);
    add_read(&f, spec->population);
    for (int i = 0; i < spec->attribute_count; i++) {
        if (spec->attributes[i].has_hierarchy) add_read(&f, spec->attributes[i].hierarchy.path);
        add_read(&f, spec->attributes[i].pseudonym_key_file);
    }
    for (int i = 0; i < 4 && spec->output && code == 0; i++) {
        char *path = cli_beside(spec->output, endings[i]);
        if (cli_overwrites_input(path, f.paths, f.count))
            code = cli_usage(&cli_anonymize, "the output would overwrite an input");
        free(path);
    }
    if (code == 0 && cli_overwrites_input(spec->report, f.paths, f.count))
        code = cli_usage(&cli_anonymize, "the report would overwrite an input");
    if (code == 0 && spec->report && spec->output && strcmp(spec->report, spec->output) == 0)
        code = cli_usage(&cli_anonymize, "the output and the report are the same file");
    free(f.paths);
    return code;
}

static int check_words(const cli_anonymizing *a)
{
    if (a->k != INT64_MIN && a->k < 1) return cli_usage(&cli_anonymize, "-k: k must be at least 1");
    if (!a->spec_path && a->file_count == 0)
        return cli_usage(&cli_anonymize, "name a release file (.yaml) or a table to anonymize");
    return 0;
}

/* ---- Notes ---- */

void cli_note_dropped(const cli_common *common, const char *const *dropped, int count)
{
    if (count == 0) return;
    size_t size = 1;
    for (int i = 0; i < count; i++) size += strlen(dropped[i]) + 4;
    char  *names = cli_alloc(size);
    size_t used = 0;
    names[0] = '\0';
    for (int i = 0; i < count; i++)
        used += (size_t)snprintf(names + used, size - used, "%s\"%s\"", i ? ", " : "", dropped[i]);
    cli_note(common, "not declared, so dropped: %s", names);
    free(names);
}

static void note_promises(const cli_anonymizing *a, const kn_spec *spec, const kn_release_result *r)
{
    if (spec->keep_rowmap && !a->dry_run && r->found)
        cli_note(&a->common, "the row map undoes the release: keep it to yourself");
    if (r->missing_dropped > 0)
        cli_note(&a->common, "%lld rows with a missing quasi-identifier were left out", (long long)r->missing_dropped);
    for (int i = 0; i < r->note_count; i++) cli_note(&a->common, "%s", r->notes[i]);
}

/* ---- The run ---- */

static int tell(const cli_anonymizing *a, const kn_spec *spec, const kn_release_result *r)
{
    bool to_stdout = !a->dry_run && strcmp(spec->output, "-") == 0;
    cli_note_dropped(&a->common, r->dropped, r->dropped_count);
    note_promises(a, spec, r);
    if (a->common.json)
        cli_anonymize_json(a, spec, r);
    else if (!r->found || !to_stdout || !a->common.quiet)
        cli_anonymize_words(a, spec, r, to_stdout ? stderr : stdout);
    return r->found ? 0 : 1;
}

static int anonymize(cli_anonymizing *a, kn_context *ctx, kn_spec *spec)
{
    kn_error             err = KN_ERROR_INIT;
    kn_anonymize_options options = KN_ANONYMIZE_OPTIONS_INIT;
    kn_release_result   *result = NULL;
    options.all_solutions = a->all_solutions;
    options.dry_run = a->dry_run;
    options.version = KANON_VERSION;
    /* A spec needs an output, a dry run does not. */
    if (a->dry_run && !spec->output && kn_spec_set(spec, "output", "\"-\"", "--dry-run", &err) != KN_OK)
        return cli_fail(&err);
    if (kn_spec_check(spec, &err) != KN_OK) return cli_fail(&err);
    if (kn_spec_shape(spec) == KN_SHAPE_DATABASE) return cli_anonymize_database(a, ctx, spec);
    if (kn_spec_shape(spec) == KN_SHAPE_RECORDS) return cli_anonymize_records(a, ctx, spec);
    if (a->common.json && !a->dry_run && strcmp(spec->output, "-") == 0)
        return cli_usage(&cli_anonymize, "--json describes a release in a file: --output FILE is needed");
    int code = check_paths(spec);
    if (code) return code;
    if (kn_anonymize(&result, ctx, spec, &options, &err) != KN_OK) return cli_fail(&err);
    code = tell(a, spec, result);
    kn_release_result_free(result);
    return code;
}

static void free_words(cli_anonymizing *a)
{
    cli_list *lists[] = {&a->qi,         &a->sensitive, &a->identifier,   &a->keep, &a->hierarchies,
                         &a->attributes, &a->require,   &a->dependencies, NULL};
    for (int i = 0; lists[i]; i++) cli_list_free(lists[i]);
    cli_table_options_free(&a->input);
}

static int run(int argc, char **argv)
{
    cli_anonymizing  a = {.command = &cli_anonymize, .k = INT64_MIN};
    const cli_option options[] = {{"--spec", CLI_TEXT, &a.spec_path},
                                  {"--qi", CLI_LIST, &a.qi},
                                  {"--sensitive", CLI_LIST, &a.sensitive},
                                  {"--identifier", CLI_LIST, &a.identifier},
                                  {"--keep", CLI_LIST, &a.keep},
                                  {"--weight", CLI_TEXT, &a.weight},
                                  {"--entity", CLI_TEXT, &a.entity},
                                  {"--hierarchy", CLI_REPEAT, &a.hierarchies},
                                  {"--attribute", CLI_REPEAT, &a.attributes},
                                  {"--undeclared", CLI_TEXT, &a.undeclared},
                                  {"--missing", CLI_TEXT, &a.missing},
                                  {"-k|--k", CLI_INTEGER, &a.k},
                                  {"--require", CLI_REPEAT, &a.require},
                                  {"--population", CLI_TEXT, &a.population},
                                  {"--suppression", CLI_TEXT, &a.suppression},
                                  {"--suppressed", CLI_TEXT, &a.suppressed},
                                  {"--dependency", CLI_REPEAT, &a.dependencies},
                                  {"--method", CLI_TEXT, &a.method},
                                  {"--utility", CLI_TEXT, &a.utility},
                                  {"--choose", CLI_TEXT, &a.choose},
                                  {"--workload", CLI_TEXT, &a.workload},
                                  {"--summary", CLI_TEXT, &a.summary},
                                  {"--time-limit", CLI_TEXT, &a.time_limit},
                                  {"--seed", CLI_TEXT, &a.seed},
                                  {"--all-solutions", CLI_FLAG, &a.all_solutions},
                                  {"--dry-run", CLI_FLAG, &a.dry_run},
                                  {"-o|--output", CLI_TEXT, &a.output},
                                  {"--report", CLI_TEXT, &a.report},
                                  {"--keep-order", CLI_FLAG, &a.keep_order},
                                  {"--keep-rowmap", CLI_FLAG, &a.keep_rowmap},
                                  {"--force", CLI_FLAG, &a.force},
                                  {"--allow-broken", CLI_FLAG, &a.allow_broken},
                                  {"--threshold", CLI_TEXT, &a.threshold},
                                  {"--climit", CLI_TEXT, &a.climit},
                                  {"--matching", CLI_TEXT, &a.matching},
                                  {"--leftovers", CLI_TEXT, &a.leftovers},
                                  {"--diversity", CLI_TEXT, &a.diversity},
                                  {"--complete", CLI_FLAG, &a.complete},
                                  {"--anatomy", CLI_FLAG, &a.anatomy},
                                  {"--reference", CLI_FLAG, &a.reference},
                                  {"--kmn", CLI_TEXT, &a.kmn},
                                  {"--record", CLI_TEXT, &a.record},
                                  {"--g", CLI_TEXT, &a.g},
                                  {"--semantics", CLI_TEXT, &a.semantics},
                                  {"--strict-structure", CLI_FLAG, &a.strict_structure},
                                  {"--support", CLI_TEXT, &a.support},
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
    free_words(&a);
    return code;
}

const cli_command cli_anonymize = {
    .name = "anonymize",
    .summary = "write a release that keeps what is asked, and verify it",
    .help = help,
    .run = run,
};
