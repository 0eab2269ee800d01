/* attack_demo.c: `kanon attack --demo`: why neither the join of a database nor each of its tables may be anonymized alone.
 * Numbers and one example; no value of the data is shown.
 * SPDX-License-Identifier: Apache-2.0 */
#include "attack_demo.h"

#include <kanon/attack.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose.h"
#include "json.h"

/* ---- Words ---- */

static void print_name(const char *name)
{
    char *safe = cli_escape(name, strlen(name));
    fputs(safe, stdout);
    free(safe);
}

static void print_head(const kn_attack_demo_report *r)
{
    char number[CLI_NUMBER_SIZE], rows[CLI_NUMBER_SIZE];
    printf("%s of table ", cli_count_of(r->persons, "person", "persons").text);
    print_name(r->tables[r->person].name);
    printf(", k = %s\n", cli_format_integer(number, r->k));
    if (r->targets < r->persons)
        printf("A sample of %s of them is looked for among all.\n", cli_format_integer(number, r->targets));
    putchar('\n');
    for (int i = 0; i < r->path_count; i++) {
        fputs("  joined: ", stdout);
        for (int t = 0; t < r->paths[i].table_count; t++) {
            if (t > 0) fputs(", ", stdout);
            print_name(r->tables[r->paths[i].tables[t]].name);
        }
        printf(" (%s row%s)\n", cli_format_integer(rows, r->paths[i].rows), r->paths[i].rows == 1 ? "" : "s");
    }
    for (int t = 0; t < r->table_count; t++) {
        if (!r->tables[t].small) continue;
        fputs("  fewer than k rows, so by itself all \"*\": ", stdout);
        print_name(r->tables[t].name);
        putchar('\n');
    }
    putchar('\n');
}

static void print_row(cli_text_table *t, const char *name, const int64_t *values)
{
    cli_text_table_text(t, name);
    for (int way = 0; way < KN_DEMO_WAYS; way++) cli_text_table_integer(t, values[way]);
}

static void print_table(const kn_attack_demo_report *r)
{
    static const char *const titles[] = {"persons who", "universal", "local", "miracle-x"};
    static const cli_align   aligns[] = {CLI_LEFT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT};
    cli_text_table          *t = cli_text_table_new(1 + KN_DEMO_WAYS, titles, aligns);
    char                     name[700], number[CLI_NUMBER_SIZE];
    const kn_demo_attack    *a = r->ways;
    if (a[0].none + a[1].none + a[2].none > 0)
        print_row(t, "  are left out", (const int64_t[]){a[0].none, a[1].none, a[2].none});
    print_row(t, "  are found: 1 candidate", (const int64_t[]){a[0].unique, a[1].unique, a[2].unique});
    snprintf(name, sizeof name, "  have fewer than %s candidates", cli_format_integer(number, r->k));
    print_row(t, name, (const int64_t[]){a[0].below, a[1].below, a[2].below});
    for (int s = 0; s < r->sensitive_count; s++) {
        snprintf(name, sizeof name, "  give away their \"%.300s.%.300s\" (of %s)", r->sensitive[s].table,
                 r->sensitive[s].column, cli_format_integer(number, r->sensitive[s].targets));
        print_row(t, name, (const int64_t[]){a[0].certain[s], a[1].certain[s], a[2].certain[s]});
    }
    print_row(t, "fewest candidates", (const int64_t[]){a[0].least, a[1].least, a[2].least});
    cli_text_table_text(t, "candidates on average");
    for (int way = 0; way < KN_DEMO_WAYS; way++) cli_text_table_format(t, "%.1f", a[way].mean);
    cli_text_table_print(t, stdout, 2);
    cli_text_table_free(t);
}

static void print_example(const kn_attack_demo_report *r)
{
    static const char *const where[] = {"in the join", "in the tables by themselves", "in a release by miracle-x"};
    static const cli_align   aligns[] = {CLI_RIGHT, CLI_LEFT, CLI_LEFT};
    char                     number[CLI_NUMBER_SIZE];
    bool                     any = false;
    printf("\nAn example: person %s of table ", cli_format_integer(number, r->example));
    print_name(r->tables[r->person].name);
    for (int t = 0; t < r->table_count; t++) {
        if (t == r->person || r->example_rows[t] == 0) continue;
        printf("%s%s of ", any ? ", " : ", with ", cli_rows_of(r->example_rows[t]).text);
        print_name(r->tables[t].name);
        any = true;
    }
    puts(".\nWho knows all their quasi-identifiers has");
    cli_text_table *t = cli_text_table_new(3, NULL, aligns);
    for (int way = 0; way < KN_DEMO_WAYS; way++) {
        cli_text_table_integer(t, r->example_candidates[way]);
        cli_text_table_text(t, r->example_candidates[way] == 1 ? "candidate" : "candidates");
        cli_text_table_text(t, where[way]);
    }
    cli_text_table_print(t, stdout, 2);
    cli_text_table_free(t);
}

static void print_words(const kn_attack_demo_report *r)
{
    print_head(r);
    print_table(r);
    print_example(r);
    puts("\nuniversal  the joined tables are k-anonymous: any k rows will do, also those of one person\n"
         "local      each table is k-anonymous: who looks alike in one need not in the next\n"
         "miracle-x  persons are alike with all their rows: what 'kanon anonymize' releases");
    int64_t found = r->ways[KN_DEMO_UNIVERSAL].below + r->ways[KN_DEMO_LOCAL].below;
    if (found == 0) puts("\nHere the first two do no harm. That is luck: they promise nothing.");
}

/* ---- JSON ---- */

static json_t *text(const char *s)
{
    return cli_json_text(s, strlen(s));
}

static json_t *way_json(const kn_attack_demo_report *r, const kn_demo_attack *a)
{
    json_t *o = cli_json_object(), *certain = cli_json_array();
    cli_json_set(o, "none", json_integer(a->none));
    cli_json_set(o, "unique", json_integer(a->unique));
    cli_json_set(o, "below_k", json_integer(a->below));
    cli_json_set(o, "least", json_integer(a->least));
    cli_json_set(o, "mean", cli_json_number(a->mean));
    for (int s = 0; s < r->sensitive_count; s++) {
        json_t *one = cli_json_object();
        cli_json_set(one, "table", text(r->sensitive[s].table));
        cli_json_set(one, "column", text(r->sensitive[s].column));
        cli_json_set(one, "targets", json_integer(r->sensitive[s].targets));
        cli_json_set(one, "certain", json_integer(a->certain[s]));
        cli_json_append(certain, one);
    }
    cli_json_set(o, "sensitive", certain);
    return o;
}

static json_t *tables_json(const kn_attack_demo_report *r)
{
    json_t *list = cli_json_array();
    for (int t = 0; t < r->table_count; t++) {
        json_t *o = cli_json_object();
        cli_json_set(o, "name", text(r->tables[t].name));
        cli_json_set(o, "rows", json_integer(r->tables[t].rows));
        cli_json_set(o, "quasi", json_integer(r->tables[t].quasi));
        cli_json_set(o, "small", json_boolean(r->tables[t].small));
        cli_json_append(list, o);
    }
    return list;
}

static json_t *paths_json(const kn_attack_demo_report *r)
{
    json_t *list = cli_json_array();
    for (int i = 0; i < r->path_count; i++) {
        json_t *o = cli_json_object(), *tables = cli_json_array();
        for (int t = 0; t < r->paths[i].table_count; t++)
            cli_json_append(tables, text(r->tables[r->paths[i].tables[t]].name));
        cli_json_set(o, "tables", tables);
        cli_json_set(o, "rows", json_integer(r->paths[i].rows));
        cli_json_append(list, o);
    }
    return list;
}

static json_t *example_json(const kn_attack_demo_report *r)
{
    json_t *o = cli_json_object(), *rows = cli_json_object(), *candidates = cli_json_object();
    cli_json_set(o, "person", json_integer(r->example));
    for (int t = 0; t < r->table_count; t++) cli_json_set(rows, r->tables[t].name, json_integer(r->example_rows[t]));
    cli_json_set(o, "rows", rows);
    for (int way = 0; way < KN_DEMO_WAYS; way++)
        cli_json_set(candidates, kn_demo_way_name((kn_demo_way)way), json_integer(r->example_candidates[way]));
    cli_json_set(o, "candidates", candidates);
    return o;
}

static void print_json(const kn_attack_demo_report *r)
{
    json_t *o = cli_json_object();
    cli_json_set(o, "k", json_integer(r->k));
    cli_json_set(o, "person_table", text(r->tables[r->person].name));
    cli_json_set(o, "persons", json_integer(r->persons));
    cli_json_set(o, "targets", json_integer(r->targets));
    cli_json_set(o, "tables", tables_json(r));
    cli_json_set(o, "joined", paths_json(r));
    for (int way = 0; way < KN_DEMO_WAYS; way++)
        cli_json_set(o, kn_demo_way_name((kn_demo_way)way), way_json(r, &r->ways[way]));
    cli_json_set(o, "example", example_json(r));
    cli_json_print(o);
}

/* ---- The run ---- */

int cli_attack_demo(const cli_common *common, const char *spec_path, const char *database, int64_t k)
{
    kn_attack_demo_options options = KN_ATTACK_DEMO_OPTIONS_INIT;
    kn_attack_demo_report *report = NULL;
    kn_spec               *spec = NULL;
    kn_error               err = KN_ERROR_INIT;
    int                    code = 0;
    kn_context            *ctx = cli_context(common);
    if (!ctx) return 3;
    options.k = k;
    kn_status status = kn_spec_read(&spec, ctx, spec_path, &err);
    if (status == KN_OK && database) status = kn_spec_set_texts(spec, "input", &database, 1, "the database", &err);
    if (status == KN_OK) status = kn_attack_demo(&report, ctx, spec, &options, &err);
    if (status != KN_OK)
        code = cli_fail(&err);
    else if (common->json)
        print_json(report);
    else
        print_words(report);
    /* The first two ways fail by design; the third must not. */
    if (report && report->ways[KN_DEMO_KANON].below > 0) code = 1;
    kn_attack_demo_report_free(report);
    kn_spec_free(spec);
    cli_context_free(ctx);
    return code;
}
