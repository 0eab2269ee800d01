/* profile_database.c: `kanon profile DATABASE`: its tables and keys, and whether it is a snowflake around persons. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "profile_database.h"

#include <kanon/anonymize.h>
#include <kanon/database.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"

static const char *const places[] = {"person", "family", "problem", "outside"}; /* in the order of kn_schema_place */

static json_t *text(const char *s)
{
    return s ? cli_json_text(s, strlen(s)) : json_null();
}

/* ---- JSON ---- */

static json_t *names_json(const kn_schema_table *t, const int *columns, int count)
{
    json_t *list = cli_json_array();
    for (int i = 0; i < count; i++) cli_json_append(list, text(t->columns[columns[i]].name));
    return list;
}

static json_t *link_json(const kn_schema *s, const kn_schema_table *t, const kn_schema_link *link)
{
    json_t *o = cli_json_object();
    cli_json_set(o, "columns", names_json(t, link->columns, link->column_count));
    cli_json_set(o, "table", text(link->target_name));
    cli_json_set(o, "read", json_boolean(link->target >= 0));
    if (link->target < 0) return o;
    cli_json_set(o, "names", names_json(&s->tables[link->target], link->target_columns, link->column_count));
    cli_json_set(o, "missing", json_integer(link->missing));
    cli_json_set(o, "dangling", json_integer(link->dangling));
    return o;
}

static json_t *table_json(const kn_schema *s, const kn_schema_table *t)
{
    json_t *o = cli_json_object(), *columns = cli_json_array(), *key = cli_json_array(), *links = cli_json_array();
    for (int c = 0; c < t->column_count; c++) {
        const kn_schema_column *column = &t->columns[c];
        json_t                 *one = cli_json_object();
        cli_json_set(one, "name", text(column->name));
        cli_json_set(one, "type", json_string(kn_type_name(column->type)));
        cli_json_set(one, "declared", text(column->declared));
        cli_json_set(one, "distinct", json_integer(column->distinct));
        cli_json_set(one, "missing", json_integer(column->missing));
        cli_json_append(columns, one);
        if (column->key) cli_json_append(key, text(column->name));
    }
    for (int i = 0; i < t->link_count; i++) cli_json_append(links, link_json(s, t, &t->links[i]));
    cli_json_set(o, "name", text(t->name));
    cli_json_set(o, "rows", json_integer(t->rows));
    cli_json_set(o, "place", json_string(places[t->place]));
    cli_json_set(o, "parent", t->parent >= 0 ? text(s->tables[t->parent].name) : json_null());
    cli_json_set(o, "orphans", json_integer(t->orphans));
    cli_json_set(o, "key", key);
    cli_json_set(o, "foreign_keys", links);
    cli_json_set(o, "columns", columns);
    return o;
}

static void print_json(const kn_schema *s)
{
    json_t *o = cli_json_object(), *tables = cli_json_array(), *problems = cli_json_array();
    for (int t = 0; t < s->table_count; t++) cli_json_append(tables, table_json(s, &s->tables[t]));
    for (int i = 0; i < s->problem_count; i++) {
        const kn_schema_problem *p = &s->problems[i];
        json_t                  *one = cli_json_object();
        cli_json_set(one, "rule", json_string(kn_schema_rule_name(p->rule)));
        cli_json_set(one, "table", text(s->tables[p->table].name));
        cli_json_set(one, "message", text(p->message));
        cli_json_set(one, "advice", text(p->advice));
        cli_json_append(problems, one);
    }
    cli_json_set(o, "person", s->person >= 0 ? text(s->tables[s->person].name) : json_null());
    cli_json_set(o, "chosen", json_boolean(s->chosen));
    cli_json_set(o, "snowflake", json_boolean(s->snowflake));
    cli_json_set(o, "problems", problems);
    cli_json_set(o, "tables", tables);
    cli_json_print(o);
}

/* ---- Text ---- */

static void print_name(const char *name)
{
    char *safe = cli_escape(name, strlen(name));
    fputs(safe, stdout);
    free(safe);
}

static void print_columns(const kn_schema_table *t, const int *columns, int count)
{
    for (int i = 0; i < count; i++) {
        if (i > 0) fputs(", ", stdout);
        print_name(t->columns[columns[i]].name);
    }
}

/* "  courses   11 rows   key SCid   Sid -> students" */
static void print_table_line(const kn_schema *s, int number, int depth)
{
    const kn_schema_table *t = &s->tables[number];
    char                   rows[CLI_NUMBER_SIZE];
    bool                   any = false;
    printf("%*s", 2 * depth + 2, "");
    print_name(t->name);
    printf(": %s row%s", cli_format_integer(rows, t->rows), t->rows == 1 ? "" : "s");
    for (int c = 0; c < t->column_count; c++) {
        if (!t->columns[c].key) continue;
        fputs(any ? ", " : "; key ", stdout);
        print_name(t->columns[c].name);
        any = true;
    }
    for (int i = 0; i < t->link_count; i++) {
        fputs("; ", stdout);
        print_columns(t, t->links[i].columns, t->links[i].column_count);
        fputs(" -> ", stdout);
        print_name(t->links[i].target_name);
        if (t->links[i].target < 0) fputs(" (not read)", stdout);
    }
    if (t->orphans > 0) printf("; %s belong to nobody", cli_format_integer(rows, t->orphans));
    putchar('\n');
}

/* The table and those that hang from it. Depth ends circles. */
static void print_tree(const kn_schema *s, int number, int depth, bool *done)
{
    if (done[number]) return;
    done[number] = true;
    print_table_line(s, number, depth);
    for (int t = 0; t < s->table_count; t++)
        if (s->tables[t].parent == number) print_tree(s, t, depth + 1, done);
}

static bool any_keys(const kn_schema *s)
{
    for (int t = 0; t < s->table_count; t++)
        for (int c = 0; c < s->tables[t].column_count; c++)
            if (s->tables[t].columns[c].key || s->tables[t].columns[c].foreign) return true;
    return false;
}

static void print_verdict(const kn_schema *s)
{
    if (s->person < 0) return;
    fputs(s->snowflake ? "\nA snowflake around the table of persons "
                       : "\nNot a snowflake around the table of persons ",
          stdout);
    print_name(s->tables[s->person].name);
    puts(s->snowflake ? ": every row belongs to persons by one path of keys." : ":");
    for (int i = 0; i < s->problem_count; i++) {
        fputs("  - ", stdout);
        print_name(s->problems[i].message);
        fputs(": ", stdout);
        print_name(s->problems[i].advice);
        fputs(".\n", stdout);
    }
    if (!any_keys(s))
        puts("No table has a key. Files have none of their own: name them in a release file (--spec FILE).");
    if (s->chosen)
        puts("Nobody said which table holds the persons (--entity TABLE): it is the one with the most below it.");
}

static void print_text(const kn_schema *s)
{
    const char     *titles[] = {"table", "column", "type", "declared", "distinct", "missing", "key"};
    const cli_align aligns[] = {CLI_LEFT, CLI_LEFT, CLI_LEFT, CLI_LEFT, CLI_RIGHT, CLI_RIGHT, CLI_LEFT};
    bool           *done = cli_alloc((size_t)s->table_count + 1);
    memset(done, 0, (size_t)s->table_count + 1);
    printf("%d table%s\n\n", s->table_count, s->table_count == 1 ? "" : "s");
    if (s->person >= 0) print_tree(s, s->person, 0, done);
    for (int t = 0; t < s->table_count; t++)
        if (!done[t] && s->tables[t].parent < 0) print_tree(s, t, 0, done);
    for (int t = 0; t < s->table_count; t++) print_tree(s, t, 0, done);
    free(done);
    print_verdict(s);
    putchar('\n');
    cli_text_table *table = cli_text_table_new(7, titles, aligns);
    for (int t = 0; t < s->table_count; t++)
        for (int c = 0; c < s->tables[t].column_count; c++) {
            const kn_schema_column *column = &s->tables[t].columns[c];
            cli_text_table_text(table, c == 0 ? s->tables[t].name : NULL);
            cli_text_table_text(table, column->name);
            cli_text_table_text(table, kn_type_name(column->type));
            cli_text_table_text(table, column->declared);
            cli_text_table_integer(table, column->distinct);
            cli_text_table_integer(table, column->missing);
            cli_text_table_text(table, column->key       ? column->foreign ? "primary, foreign" : "primary"
                                       : column->foreign ? "foreign"
                                                         : NULL);
        }
    cli_text_table_print(table, stdout, 0);
    cli_text_table_free(table);
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
        reading.tables = spec->tables;
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
    if (!cli_table_csv_options(&csv, input, &types)) return 2;
    kn_context *ctx = cli_context(common);
    if (!ctx) {
        code = 3;
    } else if (look(ctx, &csv, options, name, &schema, &err) != KN_OK ||
               (options->svg && kn_schema_write_svg(schema, ctx, options->svg, &err) != KN_OK)) {
        code = cli_fail(&err);
    } else if (!options->svg || strcmp(options->svg, "-") != 0) {
        if (common->json)
            print_json(schema);
        else
            print_text(schema);
    }
    if (code == 0 && options->entity && !schema->snowflake) code = 1;
    kn_schema_free(schema);
    cli_context_free(ctx);
    cli_column_types_free(&types);
    return code;
}
