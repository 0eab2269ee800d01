/* records/diagnose.c: `kanon diagnose` of records that are trees: whom somebody finds who knows some values and relations. Prints
 * numbers and names of classes, but no value of the data.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "diagnose.h"

enum { MOST_SETS = 10 };

/* ---- Words ---- */

static void print_heading(const cli_value *answer)
{
    char    number[CLI_NUMBER_SIZE];
    int64_t below = cli_integer(answer, "below_records"), n = cli_integer(answer, "n");
    printf("%s, ", cli_count_of(cli_integer(answer, "records"), "record", "records").text);
    printf("%s of ", cli_count_of(cli_integer(answer, "nodes"), "node", "nodes").text);
    printf("%s\n", cli_count_of(kn_document_count(kn_document_member(answer, "classes")), "class", "classes").text);
    printf("%sm = %d, n = %d%s: whoever knows up to ", cli_style_on(stdout, CLI_BOLD), (int)cli_integer(answer, "m"),
           (int)cli_integer(answer, "n"), cli_style_on(stdout, CLI_PLAIN));
    printf("%s of somebody", cli_count_of(cli_integer(answer, "m"), "value", "values").text);
    if (n > 0) printf(" and %s between them", cli_count_of(n, "relation", "relations").text);
    cli_format_integer(number, cli_integer(answer, "k"));
    putchar('\n');
    if (below == 0) {
        printf("finds at least %s.\n\n", cli_count_of(cli_integer(answer, "k"), "record", "records").text);
        return;
    }
    printf("finds %s among fewer than %s, ", cli_count_of(below, "record", "records").text, number);
    printf("%s alone.\n\n", cli_count_of(cli_integer(answer, "unique_records"), "of them", "of them").text);
}

static void put_share(cli_text_table *t, int64_t part, int64_t all)
{
    cli_text_table_format(t, "%.1f %%", all > 0 ? 100 * (double)part / (double)all : 0.0);
}

/* "2 values, 1 relation" */
static void put_size(cli_text_table *t, const cli_value *reach)
{
    int64_t n = cli_integer(reach, "n");
    char    relations[100] = "";
    if (n > 0) snprintf(relations, sizeof relations, ", %s", cli_count_of(n, "relation", "relations").text);
    cli_text_table_format(t, "%s%s", cli_count_of(cli_integer(reach, "m"), "value", "values").text, relations);
}

/* How many are found with how little. */
static void print_reach(const cli_value *answer)
{
    static const cli_align aligns[] = {CLI_LEFT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT};
    char                   below[64], number[CLI_NUMBER_SIZE];
    const char            *titles[] = {"who knows up to", below, "share", "not with less", "alone", "not with less"};
    int64_t                count, records = cli_integer(answer, "records");
    const cli_value       *list = cli_list_of(answer, "reach", &count);
    snprintf(below, sizeof below, "among fewer than %s", cli_format_integer(number, cli_integer(answer, "k")));
    cli_text_table *t = cli_text_table_new(6, titles, aligns);
    for (int64_t i = 0; i < count; i++) {
        const cli_value *reach = kn_document_at(list, i);
        put_size(t, reach);
        cli_text_table_integer(t, cli_integer(reach, "below_records"));
        put_share(t, cli_integer(reach, "below_records"), records);
        cli_text_table_integer(t, cli_integer(reach, "first_below"));
        cli_text_table_integer(t, cli_integer(reach, "unique_records"));
        cli_text_table_integer(t, cli_integer(reach, "first_unique"));
    }
    cli_text_table_print(t, stdout, 2);
    cli_text_table_free(t);
}

static bool is_larger(const cli_value *known)
{
    return kn_document_count(kn_document_member(known, "classes")) > 1;
}

/* Finds one more than the other, or as many and alone? */
static bool finds_more(const cli_value *a, const cli_value *b)
{
    int64_t more = cli_integer(a, "below_records"), than = cli_integer(b, "below_records");
    return more != than ? more > than : cli_integer(a, "unique_records") > cli_integer(b, "unique_records");
}

/* The next of the larger sets, by how many they find; -1: there is none that finds anybody. */
static int64_t next_best(const cli_value *list, int64_t count, const bool *shown)
{
    int64_t best = -1;
    for (int64_t i = 0; i < count; i++) {
        const cli_value *known = kn_document_at(list, i);
        if (shown[i] || !is_larger(known) || cli_integer(known, "below_records") == 0) continue;
        if (best < 0 || finds_more(known, kn_document_at(list, best))) best = i;
    }
    return best;
}

static void print_line(cli_text_table *t, const cli_value *known, int64_t records)
{
    int64_t relations = cli_integer(known, "relations");
    char   *names = cli_names_text(kn_document_member(known, "classes"));
    if (relations > 0)
        cli_text_table_format(t, "%s, %s", names, cli_count_of(relations, "relation", "relations").text);
    else
        cli_text_table_text(t, names);
    free(names);
    cli_text_table_integer(t, cli_integer(known, "combinations"));
    cli_text_table_integer(t, cli_integer(known, "k"));
    cli_text_table_integer(t, cli_integer(known, "below_records"));
    put_share(t, cli_integer(known, "below_records"), records);
    cli_text_table_integer(t, cli_integer(known, "unique_records"));
}

/* Single classes in their order, then the sets that find most. */
static void print_known(const cli_value *answer)
{
    static const cli_align aligns[] = {CLI_LEFT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT};
    char                   below[64], number[CLI_NUMBER_SIZE];
    const char            *titles[] = {"who knows", "combinations", "rarest in", below, "share", "alone"};
    int64_t                count, best, larger = 0, left = 0, records = cli_integer(answer, "records");
    const cli_value       *list = cli_list_of(answer, "known", &count);
    bool                  *shown = cli_alloc((size_t)count * sizeof *shown + 1);
    snprintf(below, sizeof below, "among fewer than %s", cli_format_integer(number, cli_integer(answer, "k")));
    cli_text_table *t = cli_text_table_new(6, titles, aligns);
    for (int64_t i = 0; i < count; i++) {
        shown[i] = !is_larger(kn_document_at(list, i));
        if (shown[i]) print_line(t, kn_document_at(list, i), records);
    }
    for (; larger < MOST_SETS && (best = next_best(list, count, shown)) >= 0; larger++) {
        shown[best] = true;
        print_line(t, kn_document_at(list, best), records);
    }
    for (int64_t i = 0; i < count; i++) left += !shown[i] && cli_integer(kn_document_at(list, i), "below_records") > 0;
    putchar('\n');
    cli_text_table_print(t, stdout, 2);
    cli_text_table_free(t);
    if (left > 0)
        printf("  ... and %s of classes that find no more; --json lists all\n",
               cli_count_of(left, "more set", "more sets").text);
    free(shown);
}

static void print_words(const cli_value *answer)
{
    char number[CLI_NUMBER_SIZE];
    bool holds = cli_true(answer, "holds");
    print_heading(answer);
    print_reach(answer);
    print_known(answer);
    printf("\n%s%s%s: the records are %s%s^(%d,%d)-anonymous as they are.\n",
           cli_style_on(stdout, holds ? CLI_GREEN : CLI_RED), holds ? "YES" : "NO", cli_style_on(stdout, CLI_PLAIN),
           holds ? "" : "not ", cli_format_integer(number, cli_integer(answer, "k")), (int)cli_integer(answer, "m"),
           (int)cli_integer(answer, "n"));
}

/* ---- The run ---- */

int cli_diagnose_records(const cli_common *common, kn_context *ctx, const kn_spec *spec,
                         const kn_records_diagnose_options *options)
{
    kn_records_diagnosis *d = NULL;
    kn_document          *doc = NULL;
    kn_error              err = KN_ERROR_INIT;
    kn_status             st = kn_diagnose_records(&d, ctx, spec, options, &err);
    if (st == KN_OK) st = kn_document_diagnose_records(&doc, ctx, d, &err);
    int code = cli_answer(common, st, doc, &err, print_words);
    if (code == 0 && options->kmn.k > 0 && !d->holds) code = 1;
    kn_records_diagnosis_free(d);
    return code;
}
