/* database/diagnose.c: `kanon diagnose DATABASE --spec FILE`: how many persons are alike in all tables, and what finds those
 * who are not. Prints numbers and names, but no value of the data.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "diagnose.h"

enum { MOST_SETS = 10 };

/* ---- Words ---- */

static void print_heading(const cli_value *answer)
{
    char    number[CLI_NUMBER_SIZE];
    int64_t k = cli_integer(answer, "k");
    printf("%s of table ", cli_count_of(cli_integer(answer, "persons"), "person", "persons").text);
    cli_name_print(cli_text(answer, "person_table"));
    printf(", %s of persons alike in all tables\n",
           cli_count_of(cli_integer(answer, "classes"), "class", "classes").text);
    printf("%sk = %s%s: ", cli_style_on(stdout, CLI_BOLD), cli_format_integer(number, k),
           cli_style_on(stdout, CLI_PLAIN));
    if (k == 1)
        printf("%s alone; whoever knows all their rows finds them.\n\n",
               cli_count_of(cli_integer(answer, "unique_persons"), "person stands", "persons stand").text);
    else
        printf("everybody is hidden among at least %s persons.\n\n", number);
}

static bool is_large(const cli_value *known, int64_t all)
{
    int64_t tables = kn_document_count(kn_document_member(known, "tables"));
    return tables > 1 && tables < all;
}

static void print_line(cli_text_table *t, const cli_value *known, int64_t persons, bool asked)
{
    const cli_value *tables = kn_document_member(known, "tables");
    const char      *column = cli_text(known, "column");
    int64_t          alone = cli_integer(known, "unique_persons");
    if (column) {
        cli_text_table_format(t, "%s.%s", cli_text_at(tables, 0), column);
    } else {
        char *names = cli_names_text(tables);
        cli_text_table_text(t, names);
        free(names);
    }
    cli_text_table_integer(t, cli_integer(known, "k"));
    cli_text_table_integer(t, cli_integer(known, "classes"));
    cli_text_table_integer(t, alone);
    cli_text_table_format(t, "%.1f %%", 100 * (double)alone / (double)persons);
    if (asked) cli_text_table_integer(t, cli_integer(known, "below_persons"));
}

/* How many persons the n-th best of the larger sets finds; 0: all are shown. */
static int64_t least_shown(const cli_value *list, int64_t all)
{
    int64_t best[MOST_SETS] = {0}, count = kn_document_count(list), large = 0;
    for (int64_t i = 0; i < count; i++) {
        const cli_value *known = kn_document_at(list, i);
        int64_t          alone = cli_integer(known, "unique_persons");
        if (!is_large(known, all)) continue;
        large++;
        for (int at = 0; at < MOST_SETS; at++) {
            if (alone <= best[at]) continue;
            int64_t next = best[at];
            best[at] = alone;
            alone = next;
        }
    }
    return large > MOST_SETS ? best[MOST_SETS - 1] : 0;
}

static int64_t most_tables(const cli_value *list)
{
    int64_t most = 0;
    for (int64_t i = 0; i < kn_document_count(list); i++) {
        int64_t tables = kn_document_count(kn_document_member(kn_document_at(list, i), "tables"));
        if (tables > most) most = tables;
    }
    return most;
}

static void print_known(const cli_value *answer)
{
    static const cli_align aligns[] = {CLI_LEFT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT};
    char                   below[64], number[CLI_NUMBER_SIZE];
    bool                   asked = kn_document_member(answer, "requested") != NULL;
    int64_t                count, shown = 0, left = 0;
    const cli_value       *list = cli_list_of(answer, "known", &count);
    int64_t                all = most_tables(list), least = least_shown(list, all);
    const char            *titles[] = {"somebody who knows", "k", "classes", "stand alone", "share", below};
    if (asked)
        snprintf(below, sizeof below, "fewer than %s", cli_format_integer(number, cli_integer(answer, "requested")));
    cli_text_table *t = cli_text_table_new(asked ? 6 : 5, titles, aligns);
    for (int64_t i = 0; i < count; i++) {
        const cli_value *known = kn_document_at(list, i);
        bool             large = is_large(known, all);
        if (large && (cli_integer(known, "unique_persons") < least || shown == MOST_SETS)) {
            left++;
            continue;
        }
        shown += large;
        print_line(t, known, cli_integer(answer, "persons"), asked);
    }
    putchar('\n');
    cli_text_table_print(t, stdout, 2);
    cli_text_table_free(t);
    if (left > 0)
        printf("  ... and %s of tables that find fewer; --json lists all\n",
               cli_count_of(left, "more set", "more sets").text);
}

/* One line per sensitive column; the report and --json have every figure. */
static void print_sensitive(const cli_value *answer)
{
    static const char *const titles[] =
        {"what a class tells of", "distinct l", "entropy l", "t equal", "alpha", "beta"},
                             *const keys[] = {"entropy_l", "t_equal", "alpha", "beta"};
    static const cli_align          aligns[] = {CLI_LEFT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT};
    int64_t                         count;
    const cli_value                *list = cli_list_of(answer, "sensitive", &count);
    if (count == 0) return;
    cli_text_table *t = cli_text_table_new(6, titles, aligns);
    for (int64_t i = 0; i < count; i++) {
        const cli_value *f = kn_document_at(list, i);
        cli_text_table_text(t, cli_text(f, "attribute"));
        cli_text_table_integer(t, cli_integer(f, "distinct_l"));
        for (int key = 0; key < 4; key++) cli_text_table_format(t, "%.4g", cli_number(f, keys[key]));
    }
    putchar('\n');
    cli_text_table_print(t, stdout, 2);
    cli_text_table_free(t);
}

static void print_verdict(const cli_value *answer)
{
    char    k[CLI_NUMBER_SIZE];
    bool    holds = cli_true(answer, "holds");
    int64_t below = cli_integer(answer, "below_persons");
    printf("\n%s%s%s: the database is %s%s-anonymous.\n", cli_style_on(stdout, holds ? CLI_GREEN : CLI_RED),
           holds ? "YES" : "NO", cli_style_on(stdout, CLI_PLAIN), holds ? "" : "not ",
           cli_format_integer(k, cli_integer(answer, "requested")));
    if (below > 0)
        printf("%s in %s smaller than %s.\n", cli_count_of(below, "person", "persons").text,
               cli_count_of(cli_integer(answer, "below_classes"), "class", "classes").text, k);
}

static void print_words(const cli_value *answer)
{
    print_heading(answer);
    cli_histogram_print(kn_document_member(answer, "histogram"), "class size", "persons");
    print_known(answer);
    print_sensitive(answer);
    if (kn_document_member(answer, "requested")) print_verdict(answer);
}

/* ---- The run ---- */

int cli_diagnose_database(const cli_common *common, kn_context *ctx, const kn_spec *spec,
                          const kn_database_diagnose_options *options, const char *report)
{
    kn_database_diagnosis *d = NULL;
    kn_document           *doc = NULL;
    kn_error               err = KN_ERROR_INIT;
    kn_status              st = kn_diagnose_database(&d, ctx, spec, options, &err);
    if (st == KN_OK) st = kn_document_diagnose_database(&doc, ctx, d, options, &err);
    kn_document *kept = st == KN_OK ? kn_document_retain(doc) : NULL;
    int          code = cli_answer(common, st, doc, &err, print_words);
    if (code == 0 && report)
        code = cli_diagnose_database_report(common, ctx, spec, d, options, kn_document_find(kept, ""), report);
    kn_document_free(kept);
    if (code == 0 && !d->holds) code = 1;
    kn_database_diagnosis_free(d);
    return code;
}
