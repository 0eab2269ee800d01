/* database/profile.c: `kanon profile DATABASE`: its tables and keys, and whether it is a snowflake around persons. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "profile_database.h"

#include <stdlib.h>
#include <string.h>

#include "document.h"

/* ---- Words ---- */

/* "  courses: 11 rows; key SCid; Sid -> students" */
static void print_table_line(const cli_value *t, int depth)
{
    int64_t          count, orphans = cli_integer(t, "orphans");
    const cli_value *key = kn_document_member(t, "key"), *links = cli_list_of(t, "foreign_keys", &count);
    char             number[CLI_NUMBER_SIZE];
    printf("%*s", 2 * depth + 2, "");
    cli_name_print(cli_text(t, "name"));
    printf(": %s", cli_rows_of(cli_integer(t, "rows")).text);
    if (kn_document_count(key) > 0) fputs("; key ", stdout);
    cli_names_print(key, ", ");
    for (int64_t i = 0; i < count; i++) {
        const cli_value *link = kn_document_at(links, i);
        fputs("; ", stdout);
        cli_names_print(kn_document_member(link, "columns"), ", ");
        fputs(" -> ", stdout);
        cli_name_print(cli_text(link, "table"));
        if (!cli_true(link, "read")) fputs(" (not read)", stdout);
    }
    if (orphans > 0) printf("; %s belong to nobody", cli_format_integer(number, orphans));
    if (cli_is(t, "place", "reference") || cli_is(t, "place", "outside")) {
        fputs(cli_is(t, "place", "reference") ? "; a reference: " : "; ", stdout);
        cli_name_print(cli_text(t, "reason"));
    }
    putchar('\n');
}

/* Prints the table and those that refer to it. Tables already printed are skipped, which also ends cycles. */
static void print_tree(const cli_value *tables, int64_t number, int depth, bool *done)
{
    const cli_value *t = kn_document_at(tables, number);
    if (done[number]) return;
    done[number] = true;
    print_table_line(t, depth);
    for (int64_t i = 0; i < kn_document_count(tables); i++)
        if (cli_is(kn_document_at(tables, i), "parent", cli_text(t, "name"))) print_tree(tables, i, depth + 1, done);
}

static bool any_keys(const cli_value *tables)
{
    for (int64_t t = 0; t < kn_document_count(tables); t++) {
        const cli_value *one = kn_document_at(tables, t);
        if (kn_document_count(kn_document_member(one, "key")) +
            kn_document_count(kn_document_member(one, "foreign_keys")))
            return true;
    }
    return false;
}

static bool any_aside(const cli_value *tables)
{
    for (int64_t t = 0; t < kn_document_count(tables); t++)
        if (cli_is(kn_document_at(tables, t), "place", "reference") ||
            cli_is(kn_document_at(tables, t), "place", "outside"))
            return true;
    return false;
}

static void print_verdict(const cli_value *answer, const cli_value *tables)
{
    const char      *person = cli_text(answer, "person");
    bool             snowflake = cli_true(answer, "snowflake");
    int64_t          count;
    const cli_value *problems = cli_list_of(answer, "problems", &count);
    if (!person) return;
    printf("\n%s around the table of persons ", snowflake ? "A snowflake" : "Not a snowflake");
    cli_name_print(person);
    fputs(snowflake ? ": every row belongs to persons by one path of keys" : ":\n", stdout);
    if (snowflake) puts(any_aside(tables) ? ", but for references and tables to be left out." : ".");
    for (int64_t i = 0; i < count; i++) {
        fputs("  - ", stdout);
        cli_name_print(cli_text(kn_document_at(problems, i), "message"));
        fputs(": ", stdout);
        cli_name_print(cli_text(kn_document_at(problems, i), "advice"));
        fputs(".\n", stdout);
    }
    if (!any_keys(tables))
        puts("No table has a key. Files have none of their own: name them in a release file (--spec FILE).");
    if (cli_true(answer, "chosen"))
        puts("Nobody said which table holds the persons (--entity TABLE): it is the one whose names speak of people, "
             "or with the most below it.");
}

static bool has_name(const cli_value *names, const char *name)
{
    for (int64_t i = 0; i < kn_document_count(names); i++)
        if (strcmp(kn_document_text_of(kn_document_at(names, i)), name) == 0) return true;
    return false;
}

/* "primary, foreign"; NULL: it is part of no key. */
static const char *key_words(const cli_value *table, const char *column)
{
    int64_t          count;
    const cli_value *links = cli_list_of(table, "foreign_keys", &count);
    bool             primary = has_name(kn_document_member(table, "key"), column), foreign = false;
    for (int64_t i = 0; i < count; i++)
        foreign = foreign || has_name(kn_document_member(kn_document_at(links, i), "columns"), column);
    return primary ? foreign ? "primary, foreign" : "primary" : foreign ? "foreign" : NULL;
}

static void print_columns(const cli_value *tables)
{
    const char     *titles[] = {"table", "column", "type", "declared", "distinct", "missing", "key"};
    const cli_align aligns[] = {CLI_LEFT, CLI_LEFT, CLI_LEFT, CLI_LEFT, CLI_RIGHT, CLI_RIGHT, CLI_LEFT};
    cli_text_table *t = cli_text_table_new(7, titles, aligns);
    for (int64_t i = 0; i < kn_document_count(tables); i++) {
        const cli_value *table = kn_document_at(tables, i), *columns = kn_document_member(table, "columns");
        for (int64_t c = 0; c < kn_document_count(columns); c++) {
            const cli_value *column = kn_document_at(columns, c);
            cli_text_table_text(t, c == 0 ? cli_text(table, "name") : NULL);
            cli_text_table_text(t, cli_text(column, "name"));
            cli_text_table_text(t, cli_text(column, "type"));
            cli_text_table_text(t, cli_text(column, "declared"));
            cli_text_table_integer(t, cli_integer(column, "distinct"));
            cli_text_table_integer(t, cli_integer(column, "missing"));
            cli_text_table_text(t, key_words(table, cli_text(column, "name")));
        }
    }
    cli_text_table_print(t, stdout, 0);
    cli_text_table_free(t);
}

static void print_words(const cli_value *answer)
{
    int64_t          count;
    const cli_value *tables = cli_list_of(answer, "tables", &count);
    const char      *person = cli_text(answer, "person");
    bool            *done = cli_alloc((size_t)count + 1);
    memset(done, 0, (size_t)count + 1);
    printf("%s\n\n", cli_count_of(count, "table", "tables").text);
    for (int64_t t = 0; person && t < count; t++)
        if (cli_is(kn_document_at(tables, t), "name", person)) print_tree(tables, t, 0, done);
    for (int64_t t = 0; t < count; t++)
        if (!cli_text(kn_document_at(tables, t), "parent")) print_tree(tables, t, 0, done);
    for (int64_t t = 0; t < count; t++) print_tree(tables, t, 0, done);
    free(done);
    print_verdict(answer, tables);
    putchar('\n');
    print_columns(tables);
}

/* ---- Running ---- */

static kn_status look(kn_context *ctx, const kn_csv_options *csv, const cli_profile_database_options *options,
                      const char *name, kn_schema **out, kn_error *err)
{
    kn_database_options reading = KN_DATABASE_OPTIONS_INIT;
    kn_spec            *spec = NULL;
    kn_database        *db = NULL;
    const char         *entity = options->entity;
    char                note[KN_SETTLE_NOTE];
    kn_status           status = options->spec ? kn_spec_read(&spec, ctx, options->spec, err) : KN_OK;
    reading.csv = csv;
    if (status == KN_OK && spec) {
        reading.tables = kn_spec_table_at(spec, 0);
        reading.table_count = spec->table_count;
        if (!entity) entity = spec->entity_table;
    }
    if (status == KN_OK) status = kn_release_settle(ctx, name, true, note, err);
    if (status == KN_OK && note[0]) cli_note("%s", note);
    if (status == KN_OK) status = kn_database_read(&db, ctx, name, &reading, err);
    if (status == KN_OK) status = kn_schema_look(out, ctx, db, entity, err);
    kn_database_free(db);
    kn_spec_free(spec);
    return status;
}

int cli_profile_database(const cli_common *common, const cli_table_options *input,
                         const cli_profile_database_options *options, const char *name)
{
    kn_csv_options   csv;
    cli_column_types types = {0};
    kn_error         err = KN_ERROR_INIT;
    kn_schema       *schema = NULL;
    int              code = 0;
    if (input->count) return cli_usage(&cli_profile, "--count: a row of a database stands for itself; leave it out");
    if (!cli_table_csv_options(&csv, input, &types)) return 2;
    kn_context *ctx = cli_context(common);
    if (!ctx) {
        code = 3;
    } else if (look(ctx, &csv, options, name, &schema, &err) != KN_OK ||
               (options->svg && kn_schema_write_svg(schema, ctx, options->svg, &err) != KN_OK)) {
        code = cli_fail(&err);
    } else if (!options->svg || strcmp(options->svg, "-") != 0) {
        kn_document *doc = NULL;
        kn_status    made = kn_document_profile_database(&doc, ctx, schema, &err);
        code = cli_answer(common, made, doc, &err, print_words);
    }
    if (code == 0 && options->entity && !schema->snowflake) code = 1;
    kn_schema_free(schema);
    cli_context_free(ctx);
    cli_column_types_free(&types);
    return code;
}
