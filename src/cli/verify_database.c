/* verify_database.c: `kanon verify` of a database: tells what the verifier found, in words or as JSON. */
#include <math.h>
#include <string.h>

#include "diagnose.h"
#include "verify.h"

static void print_tables(const kn_database_verify_report *r)
{
    static const char *const titles[] = {"table", "rows", "deleted", "lost"};
    static const cli_align   aligns[] = {CLI_LEFT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT};
    cli_text_table          *t = cli_text_table_new(4, titles, aligns);
    for (int i = 0; i < r->table_count; i++) {
        cli_text_table_text(t, r->tables[i].name);
        cli_text_table_integer(t, r->tables[i].rows);
        cli_text_table_integer(t, r->tables[i].deleted);
        if (isnan(r->tables[i].lm))
            cli_text_table_text(t, "-");
        else
            cli_text_table_format(t, "%.1f %%", 100 * r->tables[i].lm);
    }
    putchar('\n');
    cli_text_table_print(t, stdout, 2);
    cli_text_table_free(t);
}

static void print_words(const kn_database_verify_report *r, const kn_spec *spec)
{
    static const char *const assignments[] = {
        "Every released person is one of the original, each another one, with nothing changed but what may be.",
        "Not every released person can come from the original.",
        "It was not decided whether every released person comes from the original.",
    };
    cli_verdict_print(r->outcome);
    printf("%s, ", cli_count_of(r->persons, "person", "persons").text);
    if (spec->anatomy)
        printf("%s of rows", cli_count_of(r->classes, "group", "groups").text);
    else
        printf("%s who look alike in all tables", cli_count_of(r->classes, "class of those", "classes of those").text);
    if (r->k > 0) printf(", the smallest of %s", cli_count_of(r->k, "person", "persons").text);
    printf("; %s left out.\n", cli_count_of(r->dropped, "person", "persons").text);
    if (r->largest_share > 0)
        printf("A sensitive value belongs to at most %.1f %% of those who %s.\n", 100 * r->largest_share,
               spec->anatomy ? "share a group" : "look alike");
    printf("%s\n", assignments[r->assignment]);
    cli_problems_print(r->problems, r->problem_count, r->more_problems, "rows are counted from 1, without the header");
    cli_open_print(r->open, r->open_count);
    putchar('\n');
    cli_verified_print(r->models, r->model_count, "worst");
    print_tables(r);
    if (!isnan(r->lm)) printf("\n  loss  lm %.6g", r->lm);
    if (!isnan(r->lm) && !isnan(r->dm)) printf(" dm %.6g", r->dm);
    if (!isnan(r->lm)) putchar('\n');
}

static void print_json(const kn_database_verify_report *r)
{
    json_t *o = cli_json_object(), *tables = cli_json_array(), *metrics = cli_json_object();
    for (int i = 0; i < r->table_count; i++) {
        json_t *t = cli_json_object();
        cli_json_set(t, "name", cli_json_text(r->tables[i].name, strlen(r->tables[i].name)));
        cli_json_set(t, "rows", json_integer(r->tables[i].rows));
        cli_json_set(t, "deleted", json_integer(r->tables[i].deleted));
        cli_json_set(t, "lm", cli_json_number(r->tables[i].lm));
        cli_json_append(tables, t);
    }
    cli_json_set(metrics, "lm", cli_json_number(r->lm));
    cli_json_set(metrics, "dm", cli_json_number(r->dm));
    cli_json_set(o, "verified", json_boolean(r->ok));
    cli_json_set(o, "outcome", json_string(kn_outcome_name(r->outcome)));
    cli_json_set(o, "assignment", json_string(kn_assignment_name(r->assignment)));
    cli_json_set(o, "persons", json_integer(r->persons));
    cli_json_set(o, "dropped", json_integer(r->dropped));
    cli_json_set(o, "classes", json_integer(r->classes));
    cli_json_set(o, "k", json_integer(r->k));
    cli_json_set(o, "largest_share", r->largest_share > 0 ? cli_json_number(r->largest_share) : json_null());
    cli_json_set(o, "models", cli_verified_json(r->models, r->model_count));
    cli_json_set(o, "metrics", metrics);
    cli_json_set(o, "tables", tables);
    cli_json_set(o, "problems", cli_problems_json(r->problems, r->problem_count));
    cli_json_set(o, "more_problems", json_boolean(r->more_problems));
    cli_json_set(o, "undecided", cli_problems_json(r->open, r->open_count));
    cli_json_print(o);
}

int cli_verify_database(const cli_anonymizing *a, kn_context *ctx, const kn_spec *spec,
                        const kn_database_verify_options *options)
{
    kn_database_verify_report *report = NULL;
    kn_error                   err = KN_ERROR_INIT;
    if (kn_verify_database(&report, ctx, spec, options, &err) != KN_OK) return cli_fail(&err);
    if (a->common.json)
        print_json(report);
    else
        print_words(report, spec);
    int code = cli_outcome_code(report->outcome);
    kn_database_verify_report_free(report);
    return code;
}
