/* database/attack_demo.c: `kanon attack --demo`: shows why it is not enough to anonymize the join of a database, or
 * each of its tables separately. Prints numbers and one example, but no value of the data.
 * SPDX-License-Identifier: Apache-2.0 */
#include "attack_demo.h"

#include <string.h>

#include "document.h"

/* ---- Words ---- */

/* In the order in which they are shown: what kanon releases comes last. */
static const char *const ways[KN_DEMO_WAYS] = {"universal", "local", "universal-ndgh", "local-ndgh", "miracle-x"};

static void print_head(const cli_value *answer)
{
    char             number[CLI_NUMBER_SIZE];
    int64_t          persons = cli_integer(answer, "persons"), targets = cli_integer(answer, "targets"), count;
    const cli_value *joined = cli_list_of(answer, "joined", &count);
    printf("%s of table ", cli_count_of(persons, "person", "persons").text);
    cli_name_print(cli_text(answer, "person_table"));
    printf(", k = %s\n", cli_format_integer(number, cli_integer(answer, "k")));
    if (targets < persons)
        printf("A sample of %s of them is looked for among all.\n", cli_format_integer(number, targets));
    putchar('\n');
    for (int64_t i = 0; i < count; i++) {
        const cli_value *path = kn_document_at(joined, i);
        fputs("  joined: ", stdout);
        cli_names_print(kn_document_member(path, "tables"), ", ");
        printf(" (%s)\n", cli_rows_of(cli_integer(path, "rows")).text);
    }
    const cli_value *tables = cli_list_of(answer, "tables", &count);
    for (int64_t t = 0; t < count; t++) {
        if (!cli_true(kn_document_at(tables, t), "small")) continue;
        fputs("  fewer than k rows, so by itself all \"*\": ", stdout);
        cli_name_print(cli_text(kn_document_at(tables, t), "name"));
        putchar('\n');
    }
    putchar('\n');
}

static int64_t add_row(cli_text_table *t, const char *name, const cli_value *answer, const char *key)
{
    int64_t sum = 0;
    if (t) cli_text_table_text(t, name);
    for (int way = 0; way < KN_DEMO_WAYS; way++) {
        int64_t value = cli_integer(kn_document_member(answer, ways[way]), key);
        if (t) cli_text_table_integer(t, value);
        sum += value;
    }
    return sum;
}

static void add_certain(cli_text_table *t, const cli_value *answer, int64_t column)
{
    char name[700], number[CLI_NUMBER_SIZE];
    for (int way = 0; way < KN_DEMO_WAYS; way++) {
        const cli_value *list = kn_document_member(kn_document_member(answer, ways[way]), "sensitive");
        const cli_value *one = kn_document_at(list, column);
        snprintf(name, sizeof name, "  give away their \"%.300s.%.300s\" (of %s)", cli_text(one, "table"),
                 cli_text(one, "column"), cli_format_integer(number, cli_integer(one, "targets")));
        if (way == 0) cli_text_table_text(t, name);
        cli_text_table_integer(t, cli_integer(one, "certain"));
    }
}

static void print_table(const cli_value *answer)
{
    static const char *const titles[] = {"persons who",    "universal",  "local",
                                         "universal-ndgh", "local-ndgh", "miracle-x"};
    static const cli_align   aligns[] = {CLI_LEFT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT};
    cli_text_table          *t = cli_text_table_new(1 + KN_DEMO_WAYS, titles, aligns);
    const cli_value         *first = kn_document_member(answer, ways[0]);
    char                     name[64], number[CLI_NUMBER_SIZE];
    if (add_row(NULL, NULL, answer, "none") > 0) (void)add_row(t, "  are left out", answer, "none");
    (void)add_row(t, "  are found: 1 candidate", answer, "unique");
    snprintf(name, sizeof name, "  have fewer than %s candidates",
             cli_format_integer(number, cli_integer(answer, "k")));
    (void)add_row(t, name, answer, "below_k");
    for (int64_t s = 0; s < kn_document_count(kn_document_member(first, "sensitive")); s++) add_certain(t, answer, s);
    (void)add_row(t, "fewest candidates", answer, "least");
    cli_text_table_text(t, "candidates on average");
    for (int way = 0; way < KN_DEMO_WAYS; way++)
        cli_text_table_format(t, "%.1f", cli_number(kn_document_member(answer, ways[way]), "mean"));
    cli_text_table_print(t, stdout, 2);
    cli_text_table_free(t);
}

static void print_example(const cli_value *answer)
{
    static const char *const where[] = {"in the join", "in the tables by themselves", "in the join with ranges of keys",
                                        "in the tables with ranges of keys", "in a release by miracle-x"};
    static const cli_align   aligns[] = {CLI_RIGHT, CLI_LEFT, CLI_LEFT};
    const cli_value *example = kn_document_member(answer, "example"), *rows = kn_document_member(example, "rows");
    const char      *persons = cli_text(answer, "person_table");
    char             number[CLI_NUMBER_SIZE];
    bool             any = false;
    printf("\nAn example: person %s of table ", cli_format_integer(number, cli_integer(example, "person")));
    cli_name_print(persons);
    for (int64_t t = 0; t < kn_document_count(rows); t++) {
        int64_t count = kn_document_integer_of(kn_document_at(rows, t));
        if (strcmp(kn_document_key(rows, t), persons) == 0 || count == 0) continue;
        printf("%s%s of ", any ? ", " : ", with ", cli_rows_of(count).text);
        cli_name_print(kn_document_key(rows, t));
        any = true;
    }
    puts(".\nSomebody who knows all their quasi-identifiers finds");
    cli_text_table *t = cli_text_table_new(3, NULL, aligns);
    for (int way = 0; way < KN_DEMO_WAYS; way++) {
        int64_t candidates = cli_integer(kn_document_member(example, "candidates"), ways[way]);
        cli_text_table_integer(t, candidates);
        cli_text_table_text(t, candidates == 1 ? "candidate" : "candidates");
        cli_text_table_text(t, where[way]);
    }
    cli_text_table_print(t, stdout, 2);
    cli_text_table_free(t);
}

static void print_words(const cli_value *answer)
{
    print_head(answer);
    print_table(answer);
    print_example(answer);
    puts("\nuniversal       the joined tables are k-anonymous: any k rows will do, also those of one person\n"
         "local           each table is k-anonymous: people who look alike in one may differ in the next\n"
         "universal-ndgh  as universal, with ranges of persons as keys: nothing is promised, nor can rows be joined\n"
         "local-ndgh      as local, with ranges of persons as keys: likewise\n"
         "miracle-x       persons are alike with all their rows: what 'kanon anonymize' releases");
    int64_t below = 0;
    for (int way = 0; way < KN_DEMO_WAYS - 1; way++)
        below += cli_integer(kn_document_member(answer, ways[way]), "below_k");
    if (below == 0) puts("\nHere the first four do no harm. That is luck: they promise nothing.");
}

/* ---- The run ---- */

int cli_attack_demo(const cli_common *common, const char *spec_path, const char *database, int64_t k)
{
    kn_attack_demo_options options = KN_ATTACK_DEMO_OPTIONS_INIT;
    kn_attack_demo_report *report = NULL;
    kn_spec               *spec = NULL;
    kn_error               err = KN_ERROR_INIT;
    kn_document           *doc = NULL;
    int                    code;
    kn_context            *ctx = cli_context(common);
    if (!ctx) return 3;
    options.k = k;
    kn_status status = kn_spec_read(&spec, ctx, spec_path, &err);
    if (status == KN_OK && database) status = kn_spec_set_texts(spec, "input", &database, 1, "the database", &err);
    if (status == KN_OK) status = kn_attack_demo(&report, ctx, spec, &options, &err);
    if (status == KN_OK) status = kn_document_attack_demo(&doc, ctx, report, &err);
    code = cli_answer(common, status, doc, &err, print_words);
    /* The first two ways fail by design; the third must not. */
    if (code == 0 && kn_demo_attack_by(report, KN_DEMO_KANON)->below > 0) code = 1;
    kn_attack_demo_report_free(report);
    kn_spec_free(spec);
    cli_context_free(ctx);
    return code;
}
