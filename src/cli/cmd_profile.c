/* cmd_profile.c: `kanon profile`: what the columns of a table look like, and which role each probably has. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <kanon/database.h>

#include "document.h"
#include "profile_database.h"

static const char help[] = "Usage: kanon profile FILE... [--show-values]\n"
                           "       kanon profile DATABASE [--entity TABLE] [--svg FILE] [--spec FILE]\n"
                           "\n"
                           "A look at each column: its type, how many different values it has, how many cells\n"
                           "are missing, how telling it is (entropy, in bits; the share of rows with a value of\n"
                           "their own), and the role it probably has in a release, with the reason.\n"
                           "\n"
                           "Of a database (sqlite:FILE, postgresql://..., or a FOLDER of CSV files): its tables and\n"
                           "keys, and whether they are a snowflake around a table of persons: one path of foreign\n"
                           "keys from every table to it. If not: why, and which line of a release file helps. Tables\n"
                           "that lead to no person are proposed as references, or to be left out, with the reason.\n"
                           "\n"
                           "Options:\n"
                           "      --show-values        the output may hold values of the data: each column's most\n"
                           "                           common one and its share\n"
                           "      --entity TABLE       the table of persons of a database; exit code 1 if the rest is\n"
                           "                           no snowflake around it (default: the one whose names speak of\n"
                           "                           people, or with the most below it)\n"
                           "      --svg FILE           draw the schema; - is standard output\n"
                           "      --spec FILE          the release file: which tables, and the keys of a folder\n"
                           "\n" CLI_TABLE_HELP "\n" CLI_COMMON_HELP "\n" CLI_EXIT_HELP "\n"
                           "Examples:\n"
                           "  $ kanon generate patients --rows 500 --output patients.csv\n"
                           "  $ kanon profile patients.csv\n";

static void print_words(const cli_value *answer)
{
    const char      *titles[] = {"column", "type", "distinct", "missing",     "entropy",
                                 "unique", "role", "reason",   "most common", "share"};
    const cli_align  aligns[] = {CLI_LEFT,  CLI_LEFT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT,
                                 CLI_RIGHT, CLI_LEFT, CLI_LEFT,  CLI_LEFT,  CLI_RIGHT};
    int64_t          count;
    const cli_value *columns = cli_list_of(answer, "columns", &count);
    bool             values = kn_document_member(kn_document_at(columns, 0), "most_common") != NULL;
    cli_text_table  *t = cli_text_table_new(values ? 10 : 8, titles, aligns);
    printf("%s, %s\n\n", cli_rows_of(cli_integer(answer, "rows")).text, cli_count_of(count, "column", "columns").text);
    for (int64_t i = 0; i < count; i++) {
        const cli_value *c = kn_document_at(columns, i);
        const char      *common = cli_text(c, "most_common");
        cli_text_table_text(t, cli_text(c, "name"));
        cli_text_table_text(t, cli_text(c, "type"));
        cli_text_table_integer(t, cli_integer(c, "distinct"));
        cli_text_table_integer(t, cli_integer(c, "missing"));
        cli_text_table_format(t, "%.2f", cli_number(c, "entropy"));
        cli_text_table_format(t, "%.1f %%", 100 * cli_number(c, "uniqueness"));
        cli_text_table_text(t, cli_text(c, "role"));
        cli_text_table_text(t, cli_text(c, "reason"));
        if (!values) continue;
        cli_text_table_text(t, common ? common : "(missing)");
        cli_text_table_format(t, "%.1f %%", 100 * cli_number(c, "most_common_share"));
    }
    cli_text_table_print(t, stdout, 0);
    cli_text_table_free(t);
    printf("\nMissing cells are empty or spelled NA, N/A, NULL, NaN or ? unless --na says otherwise; they count as a "
           "value\n"
           "of their own in the entropy. Roles are suggestions: only you know what others may know.\n");
}

static int run(int argc, char **argv)
{
    cli_common                   common = {0};
    cli_table_options            input = {0};
    bool                         values = false;
    cli_profile_database_options database = {0};
    const cli_option             options[] = {{"--show-values", CLI_FLAG, &values},
                                              {"--entity", CLI_TEXT, &database.entity},
                                              {"--svg", CLI_TEXT, &database.svg},
                                              {"--spec", CLI_TEXT, &database.spec},
                                              CLI_TABLE_OPTIONS(input),
                                              {0}};
    if (!cli_parse(&cli_profile, &argc, argv, options, &common)) return 2;
    if (common.help) return 0;
    if (argc == 0) {
        cli_table_options_free(&input);
        return cli_usage(&cli_profile, "no file is named; name a table or a database to profile");
    }
    int code = 0;
    if (argc == 1 && kn_database_named(argv[0])) {
        code = cli_profile_database(&common, &input, &database, argv[0]);
        cli_table_options_free(&input);
        return code;
    }
    if (database.entity || database.svg || database.spec) {
        cli_table_options_free(&input);
        return cli_usage(&cli_profile, "--entity, --svg and --spec are of one database");
    }
    kn_context *ctx = cli_context(&common);
    kn_table   *table = NULL;
    kn_profile *profile = NULL;
    kn_error    err = KN_ERROR_INIT;
    if (!ctx) {
        code = 3;
    } else if (cli_table_read(&table, ctx, &input, argv, argc, NULL, 0, &code)) {
        kn_document *doc = NULL;
        kn_status    made = kn_profile_table(&profile, ctx, table, &err);
        if (made == KN_OK) made = kn_document_profile(&doc, ctx, profile, table, values, &err);
        code = cli_answer(&common, made, doc, &err, print_words);
    }
    kn_profile_free(profile);
    kn_table_free(table);
    cli_context_free(ctx);
    cli_table_options_free(&input);
    return code;
}

const cli_command cli_profile = {"profile", "what the columns look like, and their probable roles", help, run};
