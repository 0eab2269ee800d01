/* cmd_profile.c: `kanon profile`: what the columns of a table look like, and which role each probably has. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <kanon/database.h>
#include <kanon/diagnose.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli.h"
#include "diagnose.h"
#include "json.h"
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
                           "keys from every table to it. If not: why, and what would have to be left out or merged.\n"
                           "\n"
                           "Options:\n"
                           "      --show-values        the output may hold values of the data: each column's most\n"
                           "                           common one and its share\n"
                           "      --entity TABLE       the table of persons of a database; exit code 1 if the rest is\n"
                           "                           no snowflake around it (default: the one with the most below\n"
                           "                           it)\n"
                           "      --svg FILE           draw the schema; - is standard output\n"
                           "      --spec FILE          the release file: which tables, and the keys of a folder\n"
                           "\n" CLI_TABLE_HELP "\n" CLI_COMMON_HELP "\n" CLI_EXIT_HELP "\n"
                           "Examples:\n"
                           "  $ kanon generate patients --rows 500 --output patients.csv\n"
                           "  $ kanon profile patients.csv\n";

static double unique_share(const kn_profile *p, const kn_column_profile *c)
{
    return p->rows > 0 ? (double)c->unique_rows / (double)p->rows : 0;
}

static void print_json(const kn_profile *p, const kn_table *table, bool values)
{
    json_t *o = cli_json_object(), *columns = cli_json_array();
    for (int i = 0; i < p->columns; i++) {
        const kn_column_profile *c = &p->column[i];
        json_t                  *one = cli_json_object();
        cli_json_set(one, "name", cli_json_text(c->name, strlen(c->name)));
        cli_json_set(one, "type", json_string(kn_type_name(c->type)));
        cli_json_set(one, "distinct", json_integer(c->distinct));
        cli_json_set(one, "missing", json_integer(c->missing));
        cli_json_set(one, "respelled", json_integer(c->respelled));
        cli_json_set(one, "ambiguous_dates", json_boolean(c->ambiguous_dates));
        cli_json_set(one, "entropy", cli_json_number(c->entropy));
        cli_json_set(one, "unique_rows", json_integer(c->unique_rows));
        cli_json_set(one, "uniqueness", cli_json_number(unique_share(p, c)));
        cli_json_set(one, "role", json_string(kn_role_name(c->role)));
        cli_json_set(one, "reason", json_string(c->reason));
        if (values && p->rows > 0) {
            size_t      length = 0;
            const char *text = kn_table_text(table, i, c->most_common, &length);
            cli_json_set(one, "most_common", text ? cli_json_text(text, length) : json_null());
            cli_json_set(one, "most_common_share", cli_json_number((double)c->most_common_rows / (double)p->rows));
        }
        cli_json_append(columns, one);
    }
    cli_json_set(o, "rows", json_integer(p->rows));
    cli_json_set(o, "columns", columns);
    cli_json_print(o);
}

static void print_text(const kn_profile *p, const kn_table *table, bool values)
{
    const char     *titles[] = {"column", "type", "distinct", "missing",     "entropy",
                                "unique", "role", "reason",   "most common", "share"};
    const cli_align aligns[] = {CLI_LEFT,  CLI_LEFT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT,
                                CLI_RIGHT, CLI_LEFT, CLI_LEFT,  CLI_LEFT,  CLI_RIGHT};
    printf("%s, %s\n\n", cli_count_of(p->rows, "row", "rows").text, cli_count_of(p->columns, "column", "columns").text);
    cli_text_table *t = cli_text_table_new(values ? 10 : 8, titles, aligns);
    for (int i = 0; i < p->columns; i++) {
        const kn_column_profile *c = &p->column[i];
        cli_text_table_text(t, c->name);
        cli_text_table_text(t, kn_type_name(c->type));
        cli_text_table_integer(t, c->distinct);
        cli_text_table_integer(t, c->missing);
        cli_text_table_format(t, "%.2f", c->entropy);
        cli_text_table_format(t, "%.1f %%", 100 * unique_share(p, c));
        cli_text_table_text(t, kn_role_name(c->role));
        cli_text_table_text(t, c->reason);
        if (!values) continue;
        size_t      length = 0;
        const char *text = kn_table_text(table, i, c->most_common, &length);
        if (text && p->rows > 0)
            cli_text_table_bytes(t, text, length);
        else
            cli_text_table_text(t, "(missing)");
        cli_text_table_format(t, "%.1f %%", p->rows > 0 ? 100 * (double)c->most_common_rows / (double)p->rows : 0.0);
    }
    cli_text_table_print(t, stdout, 0);
    cli_text_table_free(t);
    printf("\nMissing cells are empty or spelled NA, N/A, NULL, NaN or ? unless --na says otherwise; they count as a "
           "value\n"
           "of their own in the entropy. Roles are suggestions: only you know what others may know.\n");
}

/* Does a column's name say that its values are numbers given to persons? Names, streets and telephones repeat, too. */
static bool says_who(const char *name)
{
    static const char *const words[] = {"id",      "ids",      "ssn",    "passport", "person",
                                        "patient", "customer", "client", "student",  "user",
                                        "member",  "subject",  "pid",    "uid",      NULL};
    for (const char *p = name; *p;) {
        size_t n = 0;
        while (isalpha((unsigned char)p[n])) n++;
        for (int i = 0; words[i]; i++)
            if (strlen(words[i]) == n && strncasecmp(words[i], p, n) == 0) return true;
        p += n > 0 ? n : 1;
    }
    return false;
}

/* Rows are counted unless the owner of the data says whose they are: an identifier that occurs again may be just that. */
static void note_persons(const cli_common *common, const kn_profile *p)
{
    enum { MOST_ROWS_EACH = 20 }; /* more look like surnames or the wards of a hospital, not like persons */
    for (int i = 0; i < p->columns; i++) {
        const kn_column_profile *c = &p->column[i];
        int64_t                  present = p->rows - c->missing;
        if (c->role != KN_ROLE_IDENTIFIER || !says_who(c->name) || c->distinct >= present ||
            present > MOST_ROWS_EACH * c->distinct)
            continue;
        char *name = cli_escape(c->name, strlen(c->name)), rows[CLI_NUMBER_SIZE], values[CLI_NUMBER_SIZE];
        cli_note(common,
                 "column \"%s\" has %s values in %s rows: if it says whose row it is, --entity '%s' counts persons "
                 "instead of rows, in 'diagnose' and in a release",
                 name, cli_format_integer(values, c->distinct), cli_format_integer(rows, present), name);
        free(name);
    }
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
        cli_table_notes(&common, table);
        if (kn_profile_table(&profile, ctx, table, &err) != KN_OK) {
            code = cli_fail(&err);
        } else {
            note_persons(&common, profile);
            (common.json ? print_json : print_text)(profile, table, values);
        }
    }
    kn_profile_free(profile);
    kn_table_free(table);
    cli_context_free(ctx);
    cli_table_options_free(&input);
    return code;
}

const cli_command cli_profile = {"profile", "what the columns look like, and their probable roles", help, run};
