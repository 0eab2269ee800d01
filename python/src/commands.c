/* commands.c: one function per command: arguments -> the library's options -> its answer as a document. See binding.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "binding.h"

#define TEXT(name) argument_text(&call->args, name)
#define INTEGER(name, otherwise) argument_integer(&call->args, name, otherwise)
#define NUMBER(name, otherwise) argument_number(&call->args, name, otherwise)
#define TRUE(name) argument_true(&call->args, name)
#define TEXTS(name, count) argument_texts(&call->args, name, count)

#define TRY(step)                                                                                                      \
    do {                                                                                                               \
        kn_status tried = (step);                                                                                      \
        if (tried != KN_OK) return tried;                                                                              \
    } while (0)

/* The end of a command: something is found, becomes the document, and is freed. */
#define ANSWER(type, find, document_of, end)                                                                           \
    type     *found = NULL;                                                                                            \
    kn_status st = (find);                                                                                             \
    if (st == KN_OK) st = (document_of);                                                                               \
    end(found);                                                                                                        \
    return st

static kn_status usage(kn_error *err, const char *message)
{
    *err = (kn_error)KN_ERROR_INIT;
    err->status = KN_USAGE;
    snprintf(err->message, sizeof err->message, "%s", message);
    return KN_USAGE;
}

/* ---- Requests ---- */

/* Promises replace those of the same model about the same column, as flags of the program do. */
static kn_status promise(kn_spec *spec, const command_call *call, const char *privacy, kn_error *err)
{
    kn_spec  *asked = NULL;
    kn_status st = kn_spec_create(&asked, call->ctx, err);
    if (st == KN_OK) st = kn_spec_set(asked, "privacy", privacy, "privacy", err);
    for (int i = 0; st == KN_OK && i < asked->model_count; i++) st = kn_spec_set_model(spec, &asked->models[i], err);
    if (st == KN_OK && asked->kmn.k > 0) st = kn_spec_set_kmn(spec, asked->kmn, err);
    kn_spec_free(asked);
    return st;
}

kn_status command_change(kn_spec *spec, const command_call *call, kn_error *err)
{
    int                count;
    const char *const *set = TEXTS("set", &count);
    const char        *privacy = TEXT("privacy");
    kn_status          st = KN_OK;
    for (int i = 0; st == KN_OK && i + 1 < count; i += 2) st = kn_spec_set(spec, set[i], set[i + 1], set[i], err);
    return st == KN_OK && privacy ? promise(spec, call, privacy, err) : st;
}

kn_status command_spec(kn_spec **out, const command_call *call, kn_error *err)
{
    const char *text = TEXT("spec"), *path = TEXT("spec_path");
    kn_status   st;
    if (text)
        st = kn_spec_read_text(out, call->ctx, text, strlen(text), "spec", err);
    else if (path)
        st = kn_spec_read(out, call->ctx, path, err);
    else
        st = kn_spec_create(out, call->ctx, err);
    return st == KN_OK ? command_change(*out, call, err) : st;
}

/* The request of the call, which keeps it. */
static kn_status take_spec(command_call *call, kn_error *err)
{
    return command_spec(&call->spec, call, err);
}

/* A request that promises something. */
static kn_status take_checked(command_call *call, kn_error *err)
{
    TRY(take_spec(call, err));
    return kn_spec_check(call->spec, err);
}

/* A request whose columns and files are used, whatever it promises. */
static kn_status take_usable(command_call *call, kn_error *err)
{
    TRY(take_spec(call, err));
    return kn_spec_check_use(call->spec, err);
}

/* The request and the table that it reads; `columns` NULL: all. */
static kn_status take_table(command_call *call, const char *const *columns, int count, kn_error *err)
{
    TRY(take_spec(call, err));
    return command_table(&call->table, call, call->spec, columns, count, err);
}

void command_end(command_call *call)
{
    kn_table_free(call->table);
    kn_spec_free(call->spec);
    kn_document_free(call->document);
    kn_row_list_free(call->rows);
    kn_text_free(call->text);
    free(call->names);
    arguments_free(&call->args);
}

kn_status command_table(kn_table **out, const command_call *call, const kn_spec *spec, const char *const *columns,
                        int count, kn_error *err)
{
    int                inputs;
    const char *const *input = TEXTS("input", &inputs);
    kn_csv_options     csv = *kn_spec_csv(spec);
    int                attributes = spec->attribute_count;
    kn_column_type    *types = calloc((size_t)attributes + 1, sizeof *types);
    if (!types) return usage(err, kn_status_name(KN_MEMORY));
    for (int i = 0; i < attributes; i++) {
        const kn_attribute *a = kn_spec_attribute_at(spec, i);
        types[i] = (kn_column_type){a->name, a->type, a->format};
    }
    csv.types = types;
    csv.type_count = attributes;
    csv.columns = columns;
    csv.column_count = count;
    csv.grouped = TRUE("grouped");
    kn_status st = kn_table_read_csv_files(out, call->ctx, input, inputs, &csv, err);
    free(types);
    return st;
}

/* A table as a CSV file. */
static kn_status write_table(command_call *call, kn_error *err)
{
    TRY(take_table(call, NULL, 0, err));
    return kn_table_write_csv(call->table, call->ctx, TEXT("output"), ',', err);
}

/* ---- Looking ---- */

static kn_status profile(command_call *call, kn_error *err)
{
    TRY(take_table(call, NULL, 0, err));
    ANSWER(kn_profile, kn_profile_table(&found, call->ctx, call->table, err),
           kn_document_profile(&call->document, call->ctx, found, call->table, TRUE("show_values"), err),
           kn_profile_free);
}

static kn_status profile_database(command_call *call, kn_error *err)
{
    kn_database        *database = NULL;
    kn_schema          *schema = NULL;
    kn_database_options options = KN_DATABASE_OPTIONS_INIT;
    TRY(take_spec(call, err));
    options.tables = kn_spec_table_at(call->spec, 0);
    options.table_count = call->spec->table_count;
    options.csv = kn_spec_csv(call->spec);
    kn_status st = kn_database_read(&database, call->ctx, TEXT("database"), &options, err);
    if (st == KN_OK) st = kn_schema_look(&schema, call->ctx, database, TEXT("entity"), err);
    if (st == KN_OK) st = kn_document_profile_database(&call->document, call->ctx, schema, err);
    kn_schema_free(schema);
    kn_database_free(database);
    return st;
}

static kn_status write_draft(command_call *call, kn_draft *draft, kn_error *err)
{
    TRY(kn_draft_write(draft, call->ctx, "memory:draft/release.yaml", true, err));
    return kn_document_init(&call->document, call->ctx, draft, NULL, err);
}

static kn_status init(command_call *call, kn_error *err)
{
    kn_init_options    options = KN_INIT_OPTIONS_INIT;
    int                count;
    const char *const *input = TEXTS("input", &count);
    TRY(take_spec(call, err));
    options.k = INTEGER("k", 0);
    options.entity = TEXT("entity");
    options.record = TEXT("record");
    options.files = TRUE("files");
    options.csv = kn_spec_csv(call->spec);
    ANSWER(kn_draft, kn_init(&found, call->ctx, input, count, &options, err), write_draft(call, found, err),
           kn_draft_free);
}

/* ---- Choosing ---- */

static kn_status advise(command_call *call, kn_error *err)
{
    TRY(take_checked(call, err));
    ANSWER(kn_advice, kn_advise(&found, call->ctx, call->spec, err),
           kn_document_advise(&call->document, call->ctx, found, NULL, err), kn_advice_free);
}

static kn_status frontier(command_call *call, kn_error *err)
{
    TRY(take_checked(call, err));
    ANSWER(kn_frontier, kn_frontier_find(&found, call->ctx, call->spec, err),
           kn_document_frontier(&call->document, call->ctx, found, err), kn_frontier_free);
}

static kn_status explain(command_call *call, kn_error *err)
{
    TRY(take_checked(call, err));
    ANSWER(kn_explanation, kn_explain(&found, call->ctx, call->spec, err),
           kn_document_explain(&call->document, call->ctx, found, err), kn_explanation_free);
}

/* ---- Releasing ---- */

/* A recipe stays with the release of a table, where the method and the request leave one. */
static kn_status keep_recipe(kn_spec *spec, kn_error *err)
{
    kn_error unsaid = KN_ERROR_INIT;
    if (kn_spec_shape(spec) != KN_SHAPE_TABLE || spec->keep_recipe) return KN_OK;
    if (!spec->method_auto && !kn_method_uses(spec->method, "keep-recipe")) return KN_OK;
    kn_status st = kn_spec_set(spec, "keep-recipe", "true", "recipe", err);
    if (st != KN_OK || kn_spec_check(spec, &unsaid) == KN_OK) return st;
    return kn_spec_set(spec, "keep-recipe", "false", "recipe", err);
}

static bool in_memory(const char *name)
{
    return name && strncmp(name, "memory:", sizeof "memory:" - 1) == 0;
}

/* Pages that a release file asks for stay with a release in memory. */
static kn_status keep_pages(kn_spec *spec, kn_error *err)
{
    if (!in_memory(spec->output)) return KN_OK;
    if (spec->report && !in_memory(spec->report))
        TRY(kn_spec_set(spec, "report", "\"memory:report.html\"", "report", err));
    if (spec->public_report && !in_memory(spec->public_report))
        TRY(kn_spec_set(spec, "public-report", "\"memory:public.html\"", "public-report", err));
    return KN_OK;
}

static kn_status anonymize(command_call *call, kn_error *err)
{
    kn_anonymize_options options = KN_ANONYMIZE_OPTIONS_INIT;
    options.all_solutions = TRUE("all_solutions");
    options.dry_run = TRUE("dry_run");
    options.version = kn_version();
    TRY(take_checked(call, err));
    TRY(keep_pages(call->spec, err));
    if (TRUE("recipe")) TRY(keep_recipe(call->spec, err));
    ANSWER(kn_release_head, kn_anonymize_any(&found, call->ctx, call->spec, &options, err),
           kn_document_anonymize_any(&call->document, call->ctx, call->spec, found, &options, err),
           kn_release_head_free);
}

static kn_status add_name(command_call *call, const char *name, kn_error *err)
{
    size_t size = strlen(name) + 1;
    char  *grown = realloc(call->names, call->names_size + size);
    if (!grown) return usage(err, kn_status_name(KN_MEMORY));
    call->names = grown;
    memcpy(call->names + call->names_size, name, size);
    call->names_size += size;
    return KN_OK;
}

/* The columns by which equal rows may come as one that is counted; none: the request asks about single rows. */
static kn_status countable(command_call *call, kn_error *err)
{
    kn_error unsaid = KN_ERROR_INIT;
    TRY(take_spec(call, err));
    if (kn_spec_shape(call->spec) != KN_SHAPE_TABLE || kn_spec_check(call->spec, &unsaid) != KN_OK) return KN_OK;
    for (int i = 0; i < call->spec->attribute_count; i++) {
        const kn_attribute *a = kn_spec_attribute_at(call->spec, i);
        if (a->role != KN_ROLE_COUNT && a->role != KN_ROLE_IDENTIFIER) TRY(add_name(call, a->name, err));
    }
    return KN_OK;
}

/* What the request reads. */
static kn_status inputs(command_call *call, kn_error *err)
{
    TRY(take_spec(call, err));
    for (int i = 0; i < call->spec->input_count; i++) TRY(add_name(call, call->spec->inputs[i], err));
    return KN_OK;
}

static kn_status apply(command_call *call, kn_error *err)
{
    kn_recipe           *recipe = NULL;
    kn_release_result   *result = NULL;
    kn_anonymize_options options = KN_ANONYMIZE_OPTIONS_INIT;
    kn_status            st = kn_recipe_read(&recipe, call->ctx, TEXT("recipe"), err);
    options.version = kn_version();
    options.earlier = TEXT("earlier");
    options.disjoint = TRUE("disjoint");
    if (st == KN_OK) st = command_change(kn_recipe_spec(recipe), call, err);
    if (st == KN_OK) st = kn_spec_check(kn_recipe_spec(recipe), err);
    if (st == KN_OK) st = kn_apply(&result, call->ctx, recipe, &options, err);
    if (st == KN_OK)
        st = kn_document_anonymize(&call->document, call->ctx, kn_recipe_spec(recipe), result, &options, err);
    kn_release_result_free(result);
    kn_recipe_free(recipe);
    return st;
}

/* ---- Judging ---- */

#define VERIFY_OPTIONS(type, initial)                                                                                  \
    type options = initial;                                                                                            \
    options.map_path = TEXT("map");                                                                                    \
    options.work_limit = INTEGER("work_limit", 0);                                                                     \
    options.time_limit = NUMBER("time_limit", 0)

static kn_status verify_table(command_call *call, kn_error *err)
{
    VERIFY_OPTIONS(kn_verify_options, KN_VERIFY_OPTIONS_INIT);
    ANSWER(kn_verify_report, kn_verify(&found, call->ctx, call->spec, &options, err),
           kn_document_verify(&call->document, call->ctx, found, err), kn_verify_report_free);
}

static kn_status verify_database(command_call *call, kn_error *err)
{
    VERIFY_OPTIONS(kn_database_verify_options, KN_DATABASE_VERIFY_OPTIONS_INIT);
    ANSWER(kn_database_verify_report, kn_verify_database(&found, call->ctx, call->spec, &options, err),
           kn_document_verify_database(&call->document, call->ctx, call->spec, found, err),
           kn_database_verify_report_free);
}

static kn_status verify_records(command_call *call, kn_error *err)
{
    VERIFY_OPTIONS(kn_records_verify_options, KN_RECORDS_VERIFY_OPTIONS_INIT);
    ANSWER(kn_records_verify_report, kn_verify_records(&found, call->ctx, call->spec, &options, err),
           kn_document_verify_records(&call->document, call->ctx, call->spec, found, err),
           kn_records_verify_report_free);
}

static kn_status verify(command_call *call, kn_error *err)
{
    TRY(take_checked(call, err));
    if (kn_spec_shape(call->spec) == KN_SHAPE_DATABASE) return verify_database(call, err);
    if (kn_spec_shape(call->spec) == KN_SHAPE_RECORDS) return verify_records(call, err);
    return verify_table(call, err);
}

static kn_status measure_database(command_call *call, kn_error *err)
{
    ANSWER(kn_database_measure_report, kn_measure_database(&found, call->ctx, call->spec, NULL, err),
           kn_document_measure_database(&call->document, call->ctx, found, err), kn_database_measure_report_free);
}

static kn_status measure_records(command_call *call, kn_error *err)
{
    ANSWER(kn_records_measure_report, kn_measure_records(&found, call->ctx, call->spec, NULL, err),
           kn_document_measure_records(&call->document, call->ctx, found, err), kn_records_measure_report_free);
}

static kn_status measure(command_call *call, kn_error *err)
{
    kn_measure_report  *report = NULL;
    kn_workload        *workload = NULL;
    kn_workload_report *answers = NULL;
    const char         *queries = TEXT("workload");
    TRY(take_usable(call, err));
    kn_shape  shape = kn_spec_shape(call->spec);
    kn_status st = KN_OK;
    if (queries && shape != KN_SHAPE_TABLE) return usage(err, "workload: its queries are about one table; leave it out");
    if (shape == KN_SHAPE_DATABASE) return measure_database(call, err);
    if (shape == KN_SHAPE_RECORDS) return measure_records(call, err);
    if (queries) st = kn_workload_parse(&workload, call->ctx, "workload", queries, strlen(queries), err);
    if (st == KN_OK) st = kn_measure(&report, call->ctx, call->spec, NULL, err);
    if (st == KN_OK && workload)
        st = kn_measure_workload(&answers, call->ctx, call->spec, NULL, workload, TEXT("summary"), err);
    if (st == KN_OK) st = kn_document_measure(&call->document, call->ctx, call->spec, report, workload, answers, err);
    kn_workload_report_free(answers);
    kn_workload_free(workload);
    kn_measure_report_free(report);
    return st;
}

static kn_status attack(command_call *call, kn_error *err)
{
    kn_attack_options options = KN_ATTACK_OPTIONS_INIT;
    TRY(take_usable(call, err));
    kn_csv_options csv = *kn_spec_csv(call->spec);
    options.release = TEXT("release");
    options.external = TEXT("external");
    options.original = TEXT("original");
    options.no_original = !options.original;
    options.k = INTEGER("k", 0);
    options.some_rows = TRUE("some_rows");
    if (kn_spec_shape(call->spec) == KN_SHAPE_TABLE) options.csv = &csv;
    ANSWER(kn_attack_report, kn_attack(&found, call->ctx, call->spec, &options, err),
           kn_document_attack(&call->document, call->ctx, found, err), kn_attack_report_free);
}

static kn_status attack_demo(command_call *call, kn_error *err)
{
    kn_attack_demo_options options = KN_ATTACK_DEMO_OPTIONS_INIT;
    options.k = INTEGER("k", 0);
    TRY(take_spec(call, err));
    ANSWER(kn_attack_demo_report, kn_attack_demo(&found, call->ctx, call->spec, &options, err),
           kn_document_attack_demo(&call->document, call->ctx, found, err), kn_attack_demo_report_free);
}

/* ---- Dependencies ---- */

typedef struct depending {
    kn_dependency       **given;
    int                   given_count;
    kn_dependency_check  *checks;
    kn_discovery         *discovery;
    kn_dependency_list   *found, *cover;
    kn_name_list         *closure;
    const kn_dependency **held;
    int                   held_count;
} depending;

static kn_status check_given(depending *d, const command_call *call, kn_error *err)
{
    int                count;
    const char *const *texts = TEXTS("check", &count);
    kn_status          st = KN_OK;
    d->given = calloc((size_t)count + 1, sizeof(kn_dependency *));
    d->checks = calloc((size_t)count + 1, sizeof *d->checks);
    if (!d->given || !d->checks) return KN_MEMORY;
    for (int i = 0; st == KN_OK && i < count; i++) {
        st = kn_dependency_parse(&d->given[i], call->ctx, texts[i], err);
        if (st == KN_OK) d->given_count++;
        if (st == KN_OK) st = kn_dependency_check_table(&d->checks[i], call->ctx, call->table, d->given[i], err);
    }
    return st;
}

static kn_status discover(depending *d, const command_call *call, kn_error *err)
{
    kn_discover_options o = KN_DISCOVER_OPTIONS_INIT;
    const char         *error = TEXT("error");
    if (!TRUE("discover")) return KN_OK;
    o.columns = TEXTS("columns", &o.column_count);
    if (error && !kn_fraction_parse(error, &o.error)) return usage(err, "error: not a share");
    o.max_left = (int)INTEGER("max_left", 0);
    o.time_limit = NUMBER("time_limit", 0);
    kn_status st = kn_discover_dependencies(&d->discovery, call->ctx, call->table, &o, err);
    int concluding = 0; /* else the answer lists them */
    (void)TEXTS("closure", &concluding);
    if (st != KN_OK || (concluding == 0 && !TRUE("cover"))) return st;
    return kn_discovery_list(&d->found, call->ctx, d->discovery, call->table, err);
}

/* What follows from those that hold. */
static kn_status conclude(depending *d, const command_call *call, int *closure_given, kn_error *err)
{
    const char *const *closure_of = TEXTS("closure", closure_given);
    int                found = d->found ? d->found->count : 0;
    kn_status          st = KN_OK;
    d->held = calloc((size_t)d->given_count + (size_t)found + 1, sizeof(const kn_dependency *));
    if (!d->held) return KN_MEMORY;
    for (int i = 0; i < d->given_count; i++)
        if (d->checks[i].holds) d->held[d->held_count++] = d->given[i];
    for (int i = 0; i < found; i++) d->held[d->held_count++] = d->found->items[i];
    if (TRUE("cover")) st = kn_dependency_cover(&d->cover, call->ctx, d->held, d->held_count, err);
    if (st == KN_OK && *closure_given > 0)
        st = kn_dependency_closure(&d->closure, call->ctx, d->held, d->held_count, closure_of, *closure_given, err);
    return st;
}

static kn_status dependencies(command_call *call, kn_error *err)
{
    depending             d = {0};
    kn_dependency_answers a = KN_DEPENDENCY_ANSWERS_INIT;
    TRY(take_table(call, NULL, 0, err));
    kn_status st = check_given(&d, call, err);
    if (st == KN_OK) st = discover(&d, call, err);
    if (st == KN_OK) st = conclude(&d, call, &a.closure_given, err);
    a.given_count = d.given_count;
    a.given = (const kn_dependency *const *)d.given;
    a.checks = d.checks;
    a.discovery = d.discovery;
    a.cover = d.cover;
    a.closure = d.closure;
    if (st == KN_OK) st = kn_document_dependencies(&call->document, call->ctx, call->table, &a, err);
    for (int i = 0; i < d.given_count; i++) kn_dependency_free(d.given[i]);
    free(d.given);
    free(d.checks);
    free(d.held);
    kn_discovery_free(d.discovery);
    kn_dependency_list_free(d.found);
    kn_dependency_list_free(d.cover);
    kn_name_list_free(d.closure);
    return st;
}

/* ---- Hierarchies ---- */

/* What the request says of the column, or groups of its values, which no release file can ask for. */
static kn_status hierarchy_rule(kn_hierarchy_spec *rule, const command_call *call, kn_error *err)
{
    const char *by = TEXT("groups");
    int         at = kn_spec_find(call->spec, TEXT("column")), group = 0;
    if (by) {
        while (group < KN_GROUP_BYS && strcmp(kn_group_by_name((kn_group_by)group), by) != 0) group++;
        if (group == KN_GROUP_BYS) return usage(err, "groups: by order, frequency or prefix");
        kn_hierarchy_spec_init(rule, sizeof *rule);
        rule->kind = KN_HIERARCHY_GROUPS;
        rule->group_by = (kn_group_by)group;
        rule->fan_out = (int)INTEGER("fan_out", 0);
        rule->group_rows = INTEGER("group_rows", 0);
        rule->order = TEXTS("order", &rule->order_count);
        return KN_OK;
    }
    if (at < 0 || !kn_spec_attribute_at(call->spec, at)->has_hierarchy) return usage(err, "no hierarchy is given");
    *rule = *kn_attribute_hierarchy(kn_spec_attribute_at(call->spec, at));
    return KN_OK;
}

/* Makes the hierarchy of a column and stores it as "memory:hierarchy.csv". */
static kn_status hierarchy_build(command_call *call, kn_error *err)
{
    static const char path[] = "memory:hierarchy.csv";
    const char *const column = TEXT("column");
    kn_hierarchy     *made = NULL;
    kn_hierarchy_spec rule;
    TRY(take_table(call, &column, 1, err));
    TRY(hierarchy_rule(&rule, call, err));
    kn_status st = kn_hierarchy_make(&made, call->ctx, call->table, 0, &rule, TRUE("show_values"), err);
    if (st == KN_OK) st = kn_hierarchy_write(made, call->ctx, path, 0, err);
    if (st == KN_OK) st = kn_document_hierarchy_build(&call->document, call->ctx, made, path, column, err);
    kn_hierarchy_free(made);
    return st;
}

static kn_status hierarchy_show(command_call *call, kn_error *err)
{
    kn_hierarchy_spec from = KN_HIERARCHY_SPEC_INIT;
    kn_hierarchy     *read = NULL;
    from.kind = TRUE("taxonomy") ? KN_HIERARCHY_TAXONOMY : KN_HIERARCHY_FILE;
    from.path = TEXT("path");
    int64_t   level = INTEGER("level", -1);
    kn_status st = kn_hierarchy_read(&read, call->ctx, &from, err);
    if (st == KN_OK && level >= kn_hierarchy_levels(read)) st = usage(err, "level: the hierarchy has no such level");
    if (st == KN_OK)
        st = kn_document_hierarchy_show(&call->document, call->ctx, read, from.path, (int)level, level < 0, err);
    kn_hierarchy_free(read);
    return st;
}

static kn_status hierarchy_suggest(command_call *call, kn_error *err)
{
    TRY(take_checked(call, err));
    ANSWER(kn_suggestions, kn_hierarchy_suggest(&found, call->ctx, call->spec, TEXT("column"), err),
           kn_document_hierarchy_suggest(&call->document, call->ctx, found, TEXT("column"), err), kn_suggestions_free);
}

/* ---- Synthetic data, lists ---- */

/* A table goes to "memory:out", a database or records to the target. */
static kn_status generate(command_call *call, kn_error *err)
{
    kn_generate_options o = KN_GENERATE_OPTIONS_INIT;
    const char         *kind = TEXT("kind"), *target = TEXT("target");
    int64_t             rows = INTEGER("rows", 0);
    uint64_t            seed = (uint64_t)INTEGER("seed", 0);
    if (strcmp(kind, "students") == 0) return kn_generate_students(call->ctx, target, rows, seed, err);
    if (strcmp(kind, "patient-records") == 0) return kn_generate_patient_records(call->ctx, target, rows, seed, err);
    if (!kn_generate_kind_parse(kind, &o.kind)) return usage(err, "kind: there is no such kind of table");
    o.rows = rows;
    o.seed = seed;
    o.id = TRUE("id");
    o.entities = INTEGER("entities", o.entities);
    o.missing = NUMBER("missing", o.missing);
    o.attributes = (int)INTEGER("attributes", o.attributes);
    o.cardinality = INTEGER("cardinality", o.cardinality);
    o.mean = NUMBER("mean", o.mean);
    o.deviation = NUMBER("deviation", o.deviation);
    TRY(kn_generate_table(&call->table, call->ctx, &o, err));
    return kn_memory_put_table(call->ctx, "memory:out", call->table, err);
}

static kn_status catalogue(command_call *call, kn_error *err)
{
    return kn_document_catalogue(&call->document, call->ctx, TRUE("methods"), TRUE("models"), TRUE("metrics"), err);
}

static kn_status schema(command_call *call, kn_error *err)
{
    return kn_answer_schema(&call->text, NULL, call->ctx, TEXT("answer"), err);
}

/* The cells of a table as the bytes of a CSV file. */
static kn_status csv(command_call *call, kn_error *err)
{
    TRY(take_table(call, NULL, 0, err));
    return kn_table_write_csv(call->table, call->ctx, TEXT("output"), ',', err);
}

/* Is the request understood, and with `whole` consistent? */
static kn_status check(command_call *call, kn_error *err)
{
    return TRUE("whole") ? take_checked(call, err) : take_spec(call, err);
}

/* ---- Evidence ---- */

static kn_status add_kinds(unsigned *kinds, const command_call *call, kn_error *err)
{
    int                count;
    const char *const *names = TEXTS("kinds", &count);
    for (int i = 0; i < count; i++) {
        unsigned found = 0;
        for (unsigned kind = KN_COMPLIANCE_EU; kind <= KN_COMPLIANCE_ETHICS; kind <<= 1)
            if (strcmp(names[i], kn_compliance_kind_name((kn_compliance_kind)kind)) == 0) found = kind;
        if (!found) return usage(err, "kind: it is eu, hipaa, nist or ethics, or several");
        *kinds |= found;
    }
    return KN_OK;
}

/* The documents are read from `documents`; the page knows them as `names`. */
static kn_status report(command_call *call, kn_error *err)
{
    int                   count, named;
    const char *const    *paths = TEXTS("documents", &count), *const *names = TEXTS("names", &named);
    kn_compliance_input   in = KN_COMPLIANCE_INPUT_INIT;
    kn_compliance_summary summary = {0};
    TRY(add_kinds(&in.kinds, call, err));
    kn_document **docs = calloc((size_t)count + 1, sizeof *docs);
    kn_status     st = docs ? KN_OK : KN_MEMORY;
    for (int i = 0; st == KN_OK && i < count; i++) st = kn_document_read(&docs[i], call->ctx, paths[i], err);
    in.documents = (const kn_document *const *)docs;
    in.names = names;
    in.document_count = count < named ? count : named;
    in.spec = TEXT("release_file");
    in.external = TEXT("external");
    in.version = kn_version();
    if (st == KN_OK) st = kn_compliance_write(call->ctx, TEXT("output"), &in, &summary, err);
    if (st == KN_OK) st = kn_document_report(&call->document, call->ctx, TEXT("output"), in.kinds, &summary, err);
    for (int i = 0; docs && i < count; i++) kn_document_free(docs[i]);
    free(docs);
    return st;
}

/* Of which shape are the data? */
static kn_status shape(command_call *call, kn_error *err)
{
    TRY(take_spec(call, err));
    call->word = kn_shape_name(kn_spec_shape(call->spec));
    return KN_OK;
}

command_fn command_find(const char *name)
{
    static const struct {
        const char *name;
        command_fn  command;
    } commands[] = {{"advise", advise},
                    {"anonymize", anonymize},
                    {"apply", apply},
                    {"attack", attack},
                    {"attack-demo", attack_demo},
                    {"catalogue", catalogue},
                    {"check", check},
                    {"countable", countable},
                    {"csv", csv},
                    {"dependencies", dependencies},
                    {"diagnose", command_diagnose},
                    {"diagnose-spec", command_diagnose_spec},
                    {"explain", explain},
                    {"frontier", frontier},
                    {"generate", generate},
                    {"hierarchy-build", hierarchy_build},
                    {"hierarchy-show", hierarchy_show},
                    {"hierarchy-suggest", hierarchy_suggest},
                    {"init", init},
                    {"write", write_table},
                    {"inputs", inputs},
                    {"measure", measure},
                    {"profile", profile},
                    {"profile-database", profile_database},
                    {"report", report},
                    {"rows", command_rows},
                    {"schema", schema},
                    {"shape", shape},
                    {"verify", verify}};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(commands[i].name, name) == 0) return commands[i].command;
    return NULL;
}
