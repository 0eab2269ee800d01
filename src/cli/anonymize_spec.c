/* anonymize_spec.c: makes one spec from a release file and the options of `kanon anonymize`; options take precedence.
 *
 * Every option is passed to the spec in the release file's own notation, so that an option and a line of the file
 * cannot mean different things. Order matters twice: --qi gives the order of the quasi-identifiers, and roles are set
 * before any other property of a column, so that a mistyped name is noticed.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "anonymize.h"
#include "requirement.h"

void cli_anonymizing_free(cli_anonymizing *a)
{
    cli_list *lists[] = {
        &a->qi,           &a->sensitive, &a->identifier, &a->keep, &a->hierarchies, &a->attributes, &a->require,
        &a->dependencies, &a->entity,    &a->node,       NULL};
    for (int i = 0; lists[i]; i++) cli_list_free(lists[i]);
    cli_table_options_free(&a->input);
}

/* State while options are applied; the first failure ends it. */
typedef struct applying {
    const cli_command *command;
    kn_spec           *spec;
    int                code;
} applying;

static void take(applying *a, kn_status status, const kn_error *err)
{
    if (status != KN_OK) a->code = cli_fail(err);
}

/* Sets a field to `text` verbatim. */
static void set(applying *a, const char *field, const char *text, const char *what)
{
    kn_error err = KN_ERROR_INIT;
    if (a->code || !text) return;
    take(a, kn_spec_set(a->spec, field, text, what, &err), &err);
}

/* Sets a field to a plain text, whatever characters it contains. */
static void set_plain(applying *a, const char *field, const char *text, const char *what)
{
    kn_error err = KN_ERROR_INIT;
    if (a->code || !text) return;
    take(a, kn_spec_set_texts(a->spec, field, &text, 1, what, &err), &err);
}

static void set_flag(applying *a, const char *field, bool given, const char *what)
{
    if (given) set(a, field, "true", what);
}

static void set_list(applying *a, const char *field, char *const *items, int count, const char *what)
{
    kn_error err = KN_ERROR_INIT;
    if (a->code) return;
    take(a, kn_spec_set_texts(a->spec, field, (const char *const *)items, count, what, &err), &err);
}

/* ---- Columns ---- */

/* What gives columns a role. */
typedef struct naming {
    const char *option;
    kn_role     role;
    cli_list    names;
} naming;

enum { NAMINGS = 6 };

static void find_namings(naming out[NAMINGS], const cli_anonymizing *w)
{
    const cli_list weight = {(char **)(uintptr_t)&w->weight, w->weight != NULL};
    const cli_list count = {(char **)(uintptr_t)&w->input.count, w->input.count != NULL};
    const naming   all[NAMINGS] = {{"--qi", KN_ROLE_QUASI, w->qi},
                                   {"--sensitive", KN_ROLE_SENSITIVE, w->sensitive},
                                   {"--identifier", KN_ROLE_IDENTIFIER, w->identifier},
                                   {"--keep", KN_ROLE_KEEP, w->keep},
                                   {"--weight", KN_ROLE_WEIGHT, weight},
                                   {"--count", KN_ROLE_COUNT, count}};
    memcpy(out, all, sizeof all);
}

static void set_roles(applying *a, const naming *n)
{
    kn_error err = KN_ERROR_INIT;
    for (int i = 0; i < n->names.count && !a->code; i++) {
        if (!n->names.items[i][0]) continue;
        take(a, kn_spec_set_role(a->spec, n->names.items[i], n->role, &err), &err);
    }
}

/* Refuses a column with two roles: the later one would silently win. */
static int check_roles(const cli_anonymizing *a)
{
    naming all[NAMINGS];
    find_namings(all, a);
    for (int i = 0; i < NAMINGS; i++)
        for (int x = 0; x < all[i].names.count; x++)
            for (int j = i; j < NAMINGS; j++)
                for (int y = j == i ? x + 1 : 0; y < all[j].names.count; y++) {
                    const char *name = all[i].names.items[x];
                    if (!name[0] || strcmp(name, all[j].names.items[y]) != 0) continue;
                    return i == j ? cli_usage(a->command, "%s: \"%s\" is named twice", all[i].option, name)
                                  : cli_usage(a->command, "\"%s\" is named by %s and by %s", name, all[i].option,
                                              all[j].option);
                }
    return 0;
}

/* The same of one that --attribute gave another. */
static void check_described(applying *a, const naming *n)
{
    for (int i = 0; i < n->names.count && !a->code; i++) {
        int index = kn_spec_find(a->spec, n->names.items[i]);
        if (index >= 0 && kn_spec_attribute_at(a->spec, index)->role != n->role)
            a->code = cli_usage(a->command, "\"%s\" is named by %s and given another role by --attribute",
                                n->names.items[i], n->option);
    }
}

static bool declared(applying *a, const char *column, const char *what)
{
    if (kn_spec_find(a->spec, column) >= 0) return true;
    if (kn_spec_shape(a->spec) != KN_SHAPE_TABLE) {
        a->code = cli_usage(a->command,
                            "%s: it is for one table; columns of a database are declared below its tables, values of "
                            "trees as classes, both in the release file",
                            what);
        return false;
    }
    int          count = a->spec->attribute_count;
    const char **names = cli_alloc(((size_t)count + 1) * sizeof *names);
    for (int i = 0; i < count; i++) names[i] = kn_spec_attribute_at(a->spec, i)->name;
    names[count] = NULL;
    const char *near = cli_nearest(column, names);
    if (near)
        a->code = cli_usage(a->command, "%s: \"%s\" has no role; did you mean \"%s\"?", what, column, near);
    else
        a->code = cli_usage(a->command, "%s: \"%s\" has no role: name it by --qi, --sensitive or --keep", what, column);
    free(names);
    return false;
}

/* Sets another property of a column that has a role. */
static void set_more(applying *a, const char *column, const char *key, const char *text, const char *what)
{
    kn_error err = KN_ERROR_INIT;
    if (a->code || !declared(a, column, what)) return;
    size_t size = strlen(key) + strlen(text) + 8;
    char  *more = cli_alloc(size);
    snprintf(more, size, "{%s: %s}", key, text);
    take(a, kn_spec_set_attribute(a->spec, column, more, what, &err), &err);
    free(more);
}

static void set_hierarchies(applying *a, const cli_list *options)
{
    for (int i = 0; i < options->count && !a->code; i++) {
        char *column, *text;
        a->code = cli_hierarchy_text(&column, &text, a->command, options->items[i]);
        if (!a->code) set_more(a, column, "hierarchy", text, "--hierarchy");
        free(column);
        free(text);
    }
}

/* "COLUMN:{...}" in the release file's notation. */
static void set_attributes(applying *a, const cli_list *options)
{
    kn_error err = KN_ERROR_INIT;
    for (int i = 0; i < options->count && !a->code; i++) {
        const char *text = strstr(options->items[i], ":{");
        if (!text || text == options->items[i]) {
            a->code = cli_usage(a->command, "--attribute: write COLUMN:{key: value, ...} as in a release file");
            return;
        }
        char *column = cli_strndup(options->items[i], (size_t)(text - options->items[i]));
        take(a, kn_spec_set_attribute(a->spec, column, text + 1, "--attribute", &err), &err);
        free(column);
    }
}

static void set_types(applying *a, const cli_table_options *input)
{
    kn_csv_options   csv;
    cli_column_types types;
    if (a->code) return;
    if (!cli_table_csv_options(&csv, input, &types)) {
        a->code = 2;
        return;
    }
    for (int i = 0; i < types.count && !a->code; i++) {
        const kn_column_type *t = &types.items[i];
        char                 *format = cli_yaml_text(t->format ? t->format : "");
        size_t                size = strlen(format) + 40;
        char                 *text = cli_alloc(size);
        snprintf(text, size, "%s%s%s", kn_type_name(t->type), t->format ? ", format: " : "", t->format ? format : "");
        set_more(a, t->column, "type", text, "--type");
        free(format);
        free(text);
    }
    cli_column_types_free(&types);
}

/* ---- Everything else ---- */

static void set_reading(applying *a, const cli_table_options *input)
{
    set_plain(a, "delimiter", input->delimiter, "--delimiter");
    if (input->no_header) set(a, "header", "false", "--no-header");
    set_plain(a, "encoding", input->encoding, "--encoding");
    set_plain(a, "decimal", input->decimal, "--decimal");
    set_plain(a, "timezone", input->timezone, "--timezone");
    if (input->na.count > 0 || input->no_na) set_list(a, "na", input->na.items, input->na.count, "--na");
}

static void set_models(applying *a, const cli_anonymizing *w)
{
    kn_error err = KN_ERROR_INIT;
    if (!a->code && w->k != INT64_MIN) {
        kn_model k = KN_MODEL_INIT;
        k.k = w->k;
        take(a, kn_spec_set_model(a->spec, &k, &err), &err);
    }
    for (int i = 0; i < w->require.count && !a->code; i++) {
        cli_requirement r;
        a->code = cli_requirement_read(&r, a->command, w->require.items[i], true);
        if (!a->code) take(a, kn_spec_set_model(a->spec, &r.model, &err), &err);
        cli_requirement_free(&r);
    }
}

/* A share (0.05, 5%) or a number of rows (100 rows). */
static void set_suppression(applying *a, const char *text)
{
    if (!text || a->code) return;
    int64_t rows = cli_rows_text(text);
    if (rows >= 0) {
        char count[64];
        snprintf(count, sizeof count, "{rows: %" PRId64 "}", rows);
        set(a, "suppression", count, "--suppression");
        return;
    }
    set_plain(a, "suppression", text, "--suppression");
}

/* "K,M,N" */
static void set_kmn(applying *a, const char *text)
{
    kn_error err = KN_ERROR_INIT;
    kn_kmn   kmn;
    int      end = 0;
    if (!text || a->code) return;
    if (sscanf(text, "%" SCNd64 ",%d,%d%n", &kmn.k, &kmn.m, &kmn.n, &end) != 3 || text[end] != '\0')
        a->code = cli_usage(a->command, "--kmn: write K,M,N: three whole numbers");
    else
        take(a, kn_spec_set_kmn(a->spec, kmn, &err), &err);
}

static void apply(applying *a, const cli_anonymizing *w, char *const *data, int data_count)
{
    naming all[NAMINGS];
    find_namings(all, w);
    if (data_count > 0) set_list(a, "input", data, data_count, "FILE");
    set_reading(a, &w->input);
    set_plain(a, "population", w->population, "--population");
    for (int i = 0; i < NAMINGS; i++) set_roles(a, &all[i]);
    if (w->entity.count > 0) set_list(a, "entity", w->entity.items, w->entity.count, "--entity");
    set_attributes(a, &w->attributes);
    for (int i = 0; i < NAMINGS; i++) check_described(a, &all[i]);
    set_types(a, &w->input);
    set_hierarchies(a, &w->hierarchies);
    set_models(a, w);
    if (w->dependencies.count > 0)
        set_list(a, "dependencies", w->dependencies.items, w->dependencies.count, "--dependency");
    set_plain(a, "undeclared", w->undeclared, "--undeclared");
    set_plain(a, "missing", w->missing, "--missing");
    set_suppression(a, w->suppression);
    set_plain(a, "suppressed", w->suppressed, "--suppressed");
    set_plain(a, "method", w->method, "--method");
    set_plain(a, "utility", w->utility, "--utility");
    set_plain(a, "choose", w->choose, "--choose");
    set_plain(a, "row-order", w->row_order, "--row-order");
    set_plain(a, "workload", w->workload, "--workload");
    set_plain(a, "time-limit", w->time_limit, "--time-limit");
    set_plain(a, "seed", w->seed, "--seed");
    if (w->node.count > 0) set_list(a, "levels", w->node.items, w->node.count, "--node");
    set_plain(a, "threshold", w->threshold, "--threshold");
    set_plain(a, "climit", w->climit, "--climit");
    set_plain(a, "matching", w->matching, "--matching");
    set_plain(a, "clustering", w->clustering, "--clustering");
    set_plain(a, "leftovers", w->leftovers, "--leftovers");
    set_plain(a, "diversity", w->diversity, "--diversity");
    set_flag(a, "complete", w->complete, "--complete");
    set_flag(a, "anatomy", w->anatomy, "--anatomy");
    set_flag(a, "reference", w->reference, "--reference");
    set_kmn(a, w->kmn);
    set_plain(a, "record", w->record, "--record");
    set_plain(a, "g", w->g, "--g");
    set_plain(a, "semantics", w->semantics, "--semantics");
    set_flag(a, "strict-structure", w->strict_structure, "--strict-structure");
    set_plain(a, "disassociation", w->disassociation, "--disassociation");
    set_plain(a, "support", w->support, "--support");
    set_plain(a, "output", w->output, "--output");
    set_plain(a, "report", w->report, "--report");
    set_plain(a, "public-report", w->public_report, "--public-report");
    set_plain(a, "summary", w->summary, "--summary");
    set_flag(a, "spreadsheet-safe", w->spreadsheet_safe, "--spreadsheet-safe");
    set_flag(a, "expand", w->expand, "--expand");
    set_flag(a, "keep-order", w->keep_order, "--keep-order");
    set_flag(a, "keep-rowmap", w->keep_rowmap, "--keep-rowmap");
    set_flag(a, "keep-recipe", w->keep_recipe, "--keep-recipe");
    set_flag(a, "force", w->force, "--force");
    set_flag(a, "replace", w->replace, "--replace");
    set_flag(a, "allow-broken", w->allow_broken, "--allow-broken");
}

static bool ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text), tail = strlen(ending);
    return length > tail && strcmp(text + length - tail, ending) == 0;
}

bool cli_is_release_file(const char *path)
{
    return ends_with(path, ".yaml") || ends_with(path, ".yml") || ends_with(path, ".json");
}

/* Applies the options, and the arguments from `first` on, to a spec. */
static int change(kn_spec *spec, kn_context *ctx, const cli_anonymizing *w, int first)
{
    applying a = {.command = w->command, .spec = spec};
    apply(&a, w, w->file_count > first ? w->files + first : NULL, w->file_count - first);
    for (int i = 0; !a.code && i < spec->input_count; i++) a.code = cli_settle(ctx, spec->inputs[i], true);
    /* While another run is writing this release, only `kanon verify` waits; others fail at once. */
    return a.code ? a.code : cli_settle(ctx, spec->output, w->command == &cli_verify);
}

int cli_anonymize_change(kn_spec *spec, kn_context *ctx, const cli_anonymizing *w)
{
    return change(spec, ctx, w, 0);
}

int cli_anonymize_spec(kn_spec **out, kn_context *ctx, const cli_anonymizing *w)
{
    kn_error    err = KN_ERROR_INIT;
    applying    a = {.command = w->command};
    const char *path = w->spec_path;
    int         first = 0;
    *out = NULL;
    if (!path && w->file_count > 0 && cli_is_release_file(w->files[0])) path = w->files[first++];
    a.code = check_roles(w);
    if (a.code) return a.code;
    take(&a, path ? kn_spec_read(&a.spec, ctx, path, &err) : kn_spec_create(&a.spec, ctx, &err), &err);
    if (!a.code) a.code = change(a.spec, ctx, w, first);
    if (a.code) {
        kn_spec_free(a.spec);
        return a.code;
    }
    *out = a.spec;
    return 0;
}

int cli_usable_spec(kn_spec **out, kn_context *ctx, const cli_anonymizing *w)
{
    kn_error err = KN_ERROR_INIT;
    int      code = cli_anonymize_spec(out, ctx, w);
    if (code != 0 || kn_spec_shape(*out) != KN_SHAPE_TABLE || kn_spec_check_use(*out, &err) == KN_OK) return code;
    kn_spec_free(*out);
    *out = NULL;
    return cli_fail(&err);
}

/* ---- Commands that write nothing ---- */

int cli_check_unwritten(kn_spec *spec)
{
    kn_error err = KN_ERROR_INIT;
    if (!spec->output && kn_spec_set(spec, "output", "\"-\"", "--output", &err) != KN_OK) return cli_fail(&err);
    return kn_spec_check(spec, &err) == KN_OK ? 0 : cli_fail(&err);
}

int cli_run_look(const cli_command *command, int argc, char **argv, cli_look *look, void *user)
{
    cli_anonymizing  a = {.command = command, .k = INT64_MIN};
    const cli_option options[] = {CLI_REQUIREMENT_OPTIONS(a), CLI_TABLE_OPTIONS(a.input), {0}};
    kn_context      *ctx = NULL;
    kn_spec         *spec = NULL;
    int              code = 0;
    bool             parsed = cli_parse(command, &argc, argv, options, &a.common);
    if (!parsed || a.common.help) return parsed ? 0 : 2;
    a.files = argv;
    a.file_count = argc;
    if (a.k != INT64_MIN && a.k < 1)
        code = cli_usage(command, "-k: k must be at least 1");
    else if (!a.spec_path && a.file_count == 0)
        code = cli_usage(command, "no file is named; name a release file (.yaml) or a table to look at");
    if (code == 0 && !(ctx = cli_context(&a.common))) code = 3;
    if (code == 0) code = cli_anonymize_spec(&spec, ctx, &a);
    if (code == 0) code = look(&a, ctx, spec, user);
    kn_spec_free(spec);
    cli_context_free(ctx);
    cli_anonymizing_free(&a);
    return code;
}
