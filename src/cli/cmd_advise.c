/* cmd_advise.c: `kanon advise`: which method should I use? Tries the applicable ones, shows them side by side,
 * explains the choice and prints the command that makes the release. The spec is that of `kanon anonymize`
 * (anonymize_spec.c).
 * SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <kanon/catalogue.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "advise.h"
#include "anonymize.h"
#include "spec_help.h"

static const char help[] =
    "Usage: kanon advise RELEASE.yaml [OPTION]...\n"
    "       kanon advise FILE... --qi A,B --sensitive C -k K [OPTION]...\n"
    "\n"
    "Which method should I use? Tries the methods that fit the data and the promises, each\n"
    "as far as its loss, shows them side by side, explains which is best and prints the\n"
    "command that makes the release. Nothing is written. 'kanon anonymize --method auto'\n"
    "chooses in the same way and goes on.\n"
    "\n"
    "What is asked is said as in 'kanon anonymize'; a method that a release file names\n"
    "counts for nothing.\n"
    "\n" CLI_COLUMNS_HELP "      --undeclared HOW     other columns: 'drop' (default) or 'refuse'\n"
    "\n" CLI_PROMISES_HELP "\n"
    "How:\n"
    "      --spec FILE          the release file, whatever it is called\n"
    "      --utility METRIC     what to lose least of: lm (default), ncp, prec, entropy, dm,\n"
    "                           dm_star or c_avg; of databases it is lm, of trees rpd, or dml2\n"
    "                           with --support\n"
    "      --choose HOW         mondrian cuts the column with the widest 'range' (default), the\n"
    "                           most 'entropy', or where a cut saves most 'loss'\n"
    "      --row-order HOW      which of equal rows kmsd and kmsd-ag raise: by their 'values'\n"
    "                           (default), or as they stand in the 'input'\n"
    "      --workload FILE      a file of queries: mondrian-workload is tried too\n"
    "      --time-limit SECONDS stop then (default: 60): each method gets an equal part of what\n"
    "                           is left\n"
    "  -s, --seed N             another seed, another result, of methods that draw lots\n" CLI_NODE_HELP
    "      --force              publish although a kept column is nearly unique, or nothing is\n"
    "                           left of what others may know\n"
    "  -o, --output FILE        where the result goes: the release that the printed command makes\n"
    "\n" CLI_DATABASE_HELP "\n" CLI_TREES_HELP "\n" CLI_TABLE_HELP "\n" CLI_COMMON_HELP "\n" CLI_EXIT_HELP "\n"
    "Examples:\n"
    "  $ kanon generate adult-like --rows 2000 --output people.csv\n"
    "  $ kanon advise people.csv --qi sex,age --hierarchy age:ranges=5,10,20 \\\n"
    "    --sensitive salary-class -k 5 --suppression 2%\n"
    "  $ kanon advise people.csv --qi sex,race -k 3 --json\n";

/* ---- The command that makes the release ---- */

typedef struct words {
    char  *text;
    size_t used;
} words;

static void add_text(words *w, const char *text, size_t size)
{
    w->text = cli_realloc(w->text, w->used + size + 1);
    memcpy(w->text + w->used, text, size);
    w->used += size;
    w->text[w->used] = '\0';
}

/* Appends a word, quoted for a shell. */
static void add_word(words *w, const char *word)
{
    size_t plain = 0;
    if (w->used > 0) add_text(w, " ", 1);
    while (word[plain] && (isalnum((unsigned char)word[plain]) || strchr("_./:=,%+@-", word[plain]))) plain++;
    if (word[0] && !word[plain]) {
        add_text(w, word, strlen(word));
        return;
    }
    add_text(w, "'", 1);
    for (const char *p = word; *p; p++)
        if (*p == '\'')
            add_text(w, "'\\''", 4);
        else
            add_text(w, p, 1);
    add_text(w, "'", 1);
}

/* Appends a word of the command line without the query or the password in it: answers are passed on. Returns whether
 * something was left out. */
static bool add_given(words *w, const char *word)
{
    static const char mark[] = "query", example[] = "?query=SELECT ...";
    size_t            size = strlen(word);
    char             *shown = cli_alloc(size + sizeof example + 1);
    memcpy(shown, word, size + 1);
    kn_hide_secrets(shown, size + 2);
    bool less = strcmp(shown, word) != 0;
    if (less && (strstr(word, "?query=") || strstr(word, "&query="))) {
        size_t left = strlen(shown);
        if (left > sizeof mark && strcmp(shown + left - sizeof mark + 1, mark) == 0) left -= sizeof mark;
        memcpy(shown + left, example, sizeof example);
    }
    add_word(w, shown);
    free(shown);
    return less;
}

/* Is this an option that the method would refuse? */
static bool is_useless(const char *word, kn_method method, int *values)
{
    static const char *const switches[] = {"--anatomy", "--complete", "--reference", "--strict-structure",
                                           "--allow-broken"};
    char                     name[40];
    if (strncmp(word, "--", 2) != 0) return false;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    *values = strchr(word, '=') == NULL;
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++)
        if (strcmp(word, switches[i]) == 0) *values = 0;
    return !kn_method_uses(method, name);
}

/* Is this an argument of the search for a method, not of the release? `values`: how many values follow it. */
static bool only_of_advise(const char *word, kn_method method, int *values)
{
    if (is_useless(word, method, values)) return true;
    static const char *const flags[] = {"--json", "-q", "--quiet"};
    *values = 0;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (strcmp(word, flags[i]) == 0) return true;
    if (strncmp(word, "--time-limit=", 13) == 0) return true;
    *values = 1;
    return strcmp(word, "--time-limit") == 0;
}

static const char *usual_output(kn_shape shape)
{
    static const char *const names[] = {"release.csv", "release/", "release.out"};
    return names[shape];
}

/* The command line that makes the release; free it. */
static char *command_text(const cli_advising *a, kn_method method, kn_shape shape)
{
    words w = {0};
    bool  options = true, less = false;
    add_word(&w, "kanon");
    add_word(&w, "anonymize");
    for (int i = 0; i < a->argc; i++) {
        int values;
        if (strcmp(a->argv[i], "--") == 0) options = false;
        if (options && only_of_advise(a->argv[i], method, &values))
            i += values;
        else if (options)
            less |= add_given(&w, a->argv[i]);
    }
    add_word(&w, "--method");
    add_word(&w, kn_method_name(method));
    if (!a->has_output) {
        add_word(&w, "--output");
        add_word(&w, usual_output(shape));
    }
    for (int i = 0; i < a->argc && !options; i++) /* what follows "--" stays there */
        if (strcmp(a->argv[i], "--") == 0)
            for (options = true; i < a->argc; i++) less |= add_given(&w, a->argv[i]);
    if (less) cli_note("the command is shown without the query or password of a name: put it back to run it");
    return w.text;
}

/* ---- Words ---- */

static const char *const kept = "kept"; /* kn_advice_state_name(KN_ADVICE_KEPT) */

static bool has_release(const cli_value *candidate)
{
    return kn_document_member(candidate, "loss") != NULL;
}

static bool loses_less(const cli_value *c, const cli_value *than)
{
    bool one = cli_is(c, "state", kept), other = cli_is(than, "state", kept);
    return one != other ? one : cli_number(c, "loss") < cli_number(than, "loss");
}

/* The candidate with the next larger loss; NULL: none. Equal ones in their order, the chosen one first. */
static const cli_value *next_best(const cli_value *candidates, const char *chosen, bool *shown)
{
    int64_t best = -1;
    for (int64_t i = 0; i < kn_document_count(candidates); i++) {
        const cli_value *c = kn_document_at(candidates, i);
        if (shown[i] || !has_release(c)) continue;
        if (cli_is(c, "method", chosen)) {
            best = i;
            break;
        }
        if (best < 0 || loses_less(c, kn_document_at(candidates, best))) best = i;
    }
    if (best >= 0) shown[best] = true;
    return kn_document_at(candidates, best);
}

static void print_releases(const cli_value *answer)
{
    static const cli_align aligns[] = {CLI_LEFT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT, CLI_LEFT, CLI_RIGHT};
    bool                   trees = kn_document_member(answer, "records"), shown[KN_METHODS] = {false};
    const char            *left_out = kn_document_member(answer, "persons") ? "left out" : "suppressed";
    const char            *titles[] = {"method",
                                       cli_text(answer, "metric"),
                            trees ? "nodes as they were" : left_out,
                            trees ? "relations, broader or not" : "k",
                            trees ? "" : "classes",
                                       "",
                                       "seconds"};
    const char            *chosen = cli_text(answer, "method");
    const cli_value       *list = kn_document_member(answer, "candidates"), *c;
    cli_text_table        *t = cli_text_table_new(7, titles, aligns);
    while ((c = next_best(list, chosen, shown)) != NULL) {
        bool best = cli_is(c, "method", chosen);
        cli_text_table_text(t, cli_text(c, "method"));
        if (best) cli_text_table_style(t, CLI_BOLD);
        cli_text_table_figure(t, cli_number(c, "loss"));
        if (trees) {
            cli_text_table_format(t, "%.1f %%", 100 * cli_number(c, "node_survival"));
            cli_text_table_format(t, "%.1f %%", 100 * cli_number(c, "relation_survival"));
            cli_text_table_text(t, "");
        } else {
            cli_text_table_integer(t, cli_integer(c, "suppressed"));
            cli_text_table_integer(t, cli_integer(c, "k"));
            cli_text_table_integer(t, cli_integer(c, "classes"));
        }
        cli_text_table_text(t, best ? "chosen" : cli_is(c, "state", kept) ? "" : "best so far");
        cli_text_table_format(t, "%.2f", cli_number(c, "seconds"));
    }
    cli_text_table_print(t, stdout, 2);
    cli_text_table_free(t);
}

void cli_advice_print(const cli_value *advice, const char *chosen, FILE *out)
{
    bool             shown[KN_METHODS] = {false};
    const cli_value *list = kn_document_member(advice, "candidates"), *c;
    const char      *between = "";
    if (!advice) return;
    fprintf(out, "  auto  the least %s of", cli_text(advice, "metric"));
    for (; (c = next_best(list, chosen, shown)) != NULL; between = ",")
        fprintf(out, "%s %s %.4g", between, cli_text(c, "method"), cli_number(c, "loss"));
    fputc('\n', out);
}

static void print_others(const cli_value *answer)
{
    static const cli_align   aligns[] = {CLI_LEFT, CLI_LEFT};
    static const char *const titles[] = {"not compared", "because"};
    cli_text_table          *t = cli_text_table_new(2, titles, aligns);
    int64_t                  count, others = 0;
    const cli_value         *list = cli_list_of(answer, "candidates", &count);
    for (int64_t i = 0; i < count; i++) {
        const cli_value *c = kn_document_at(list, i);
        if (has_release(c)) continue;
        others++;
        cli_text_table_text(t, cli_text(c, "method"));
        cli_text_table_text(t, cli_text(c, "reason"));
    }
    if (cli_true(answer, "found") && others > 0) fputc('\n', stdout);
    if (others > 0) cli_text_table_print(t, stdout, 2);
    cli_text_table_free(t);
}

/* What other promises would cost: one changed at a time. */
static void print_settings(const cli_value *answer)
{
    static const cli_align   aligns[] = {CLI_RIGHT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT,
                                         CLI_RIGHT, CLI_RIGHT, CLI_LEFT,  CLI_RIGHT};
    static const char *const titles[] = {
        "k", "m", "n", "suppression", "nodes as they were", "relations, broader or not", "", "seconds"};
    cli_text_table  *t = cli_text_table_new(8, titles, aligns);
    int64_t          count;
    const cli_value *list = cli_list_of(answer, "settings", &count);
    for (int64_t i = 0; i < count; i++) {
        const cli_value *s = kn_document_at(list, i);
        cli_text_table_integer(t, cli_integer(s, "k"));
        cli_text_table_integer(t, cli_integer(s, "m"));
        cli_text_table_integer(t, cli_integer(s, "n"));
        cli_text_table_format(t, "%g %%", 100 * cli_number(s, "suppression"));
        if (has_release(s)) {
            cli_text_table_format(t, "%.1f %%", 100 * cli_number(s, "node_survival"));
            cli_text_table_format(t, "%.1f %%", 100 * cli_number(s, "relation_survival"));
        } else {
            cli_text_table_text(t, "");
            cli_text_table_text(t, "");
        }
        cli_text_table_text(t, cli_is(s, "state", kept) ? "" : has_release(s) ? "best so far" : "no release");
        cli_text_table_format(t, "%.2f", cli_number(s, "seconds"));
    }
    if (count > 0) printf("\nOther promises, by %s:\n\n", cli_text(answer, "method"));
    if (count > 0) cli_text_table_print(t, stdout, 2);
    cli_text_table_free(t);
}

/* Prints one sentence, wrapped. */
static void print_sentence(const char *sentence)
{
    enum { WIDTH = 78 };
    int column = 0;
    while (*sentence) {
        int size = (int)strcspn(sentence, " ");
        if (column > 0 && column + 1 + size > WIDTH) {
            fputc('\n', stdout);
            column = 0;
        }
        column += printf("%s%.*s", column > 0 ? " " : "", size, sentence);
        sentence += size;
        sentence += strspn(sentence, " ");
    }
    fputc('\n', stdout);
}

static void print_words(const cli_value *answer)
{
    static const struct {
        const char *key, *one;
    } units[] = {{"rows", "row"}, {"persons", "person"}, {"records", "record"}};
    int64_t          count, tried = 0;
    const cli_value *list = cli_list_of(answer, "candidates", &count),
                    *sentences = kn_document_member(answer, "sentences");
    bool found = cli_true(answer, "found");
    for (int i = 0; i < 3; i++)
        if (kn_document_member(answer, units[i].key))
            printf("%s; ", cli_count_of(cli_integer(answer, units[i].key), units[i].one, units[i].key).text);
    for (int64_t i = 0; i < count; i++) tried += kn_document_member(kn_document_at(list, i), "seconds") != NULL;
    printf("%d of %s tried, by %s\n\n", (int)tried, cli_count_of(count, "method", "methods").text,
           cli_text(answer, "metric"));
    if (found) print_releases(answer);
    print_others(answer);
    if (found) print_settings(answer);
    fputc('\n', stdout);
    if (!found) {
        printf("%sNO METHOD%s: %s\n", cli_style_on(stdout, CLI_RED), cli_style_on(stdout, CLI_PLAIN),
               cli_text(answer, "reason"));
        return;
    }
    for (int64_t i = 0; i < kn_document_count(sentences); i++)
        print_sentence(kn_document_text_of(kn_document_at(sentences, i)));
    fputs("\n  $ ", stdout);
    cli_name_print(cli_text(answer, "command"));
    putchar('\n');
}

/* ---- The run ---- */

static int advise(const cli_anonymizing *a, kn_context *ctx, kn_spec *spec, void *user)
{
    cli_advising *asked = user;
    kn_error      err = KN_ERROR_INIT;
    kn_advice    *advice = NULL;
    asked->has_output = spec->output != NULL;
    /* All methods are tried, even if the release file names one. */
    if (kn_spec_set(spec, "method", "auto", "advise", &err) != KN_OK) return cli_fail(&err);
    int code = cli_check_unwritten(spec);
    if (code != 0) return code;
    if (kn_advise(&advice, ctx, spec, &err) != KN_OK) return cli_fail(&err);
    /* The chosen method may not use everything in the spec. For options, the printed command shows what is left. */
    kn_method   method = advice->found ? kn_advice_candidate_at(advice, advice->chosen)->method : spec->method;
    const char *chosen = advice->found ? kn_method_name(method) : NULL;
    if (chosen &&
        ((a->time_limit && kn_spec_set(spec, "time-limit", "0", "advise", &err) != KN_OK) ||
         kn_spec_set(spec, "method", chosen, "advise", &err) != KN_OK || kn_spec_check_use(spec, &err) != KN_OK) &&
        err.line > 0)
        cli_note("to run it, take out what method %s has no use for: %s", chosen, err.message);
    char        *command = chosen ? command_text(asked, method, advice->shape) : NULL;
    kn_document *doc = NULL;
    kn_status    made = kn_document_advise(&doc, ctx, advice, command, &err);
    code = cli_answer(&a->common, made, doc, &err, print_words);
    if (code == 0) code = advice->found ? 0 : 1;
    free(command);
    kn_advice_free(advice);
    return code;
}

static int run(int argc, char **argv)
{
    cli_advising asked = {.argc = argc, .argv = cli_alloc(((size_t)argc + 1) * sizeof *argv)};
    memcpy(asked.argv, argv, (size_t)argc * sizeof *argv); /* parsing reorders the arguments */
    int code = cli_run_look(&cli_advise, argc, argv, advise, &asked);
    free(asked.argv);
    return code;
}

const cli_command cli_advise = {
    .name = "advise",
    .summary = "try the methods that fit, and say which to use",
    .help = help,
    .run = run,
};
