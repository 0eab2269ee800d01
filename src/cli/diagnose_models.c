/* diagnose_models.c: `kanon diagnose --sensitive`: what does knowing a person's class reveal about the sensitive
 * columns? For a given set of columns, and over all subsets of a list.
 * SPDX-License-Identifier: Apache-2.0 */
#include <kanon/models.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "anonymize.h"
#include "diagnose.h"
#include "requirement.h"

/* ---- Requirements ---- */

/* The attribute may be left out if there is only one sensitive column. */
static int read_requirement(cli_requirement *r, const char *text, const cli_list *sensitive)
{
    int code = cli_requirement_read(r, &cli_diagnose, text, false);
    if (code || !cli_requirement_of_column(r->model.kind) || r->model.attribute) return code;
    if (sensitive->count != 1)
        return cli_usage(&cli_diagnose, "--require '%s': say which sensitive column: attribute=NAME", text);
    r->model.attribute = sensitive->items[0];
    return 0;
}

/* ---- Hierarchies of sensitive columns: COLUMN:FILE or COLUMN:KIND, as in a release file ---- */

static int read_hierarchy(kn_hierarchy **out, const cli_diagnosing *s, const char *text, int *which)
{
    kn_spec *spec = NULL;
    kn_error err = KN_ERROR_INIT;
    char    *name, *hierarchy, *more = NULL;
    int      code = cli_hierarchy_text(&name, &hierarchy, &cli_diagnose, text);
    for (*which = 0; code == 0 && *which < s->sensitive.count; ++*which)
        if (strcmp(s->sensitive.items[*which], name) == 0) break;
    if (code == 0 && *which == s->sensitive.count)
        code = cli_usage(&cli_diagnose, "--hierarchy: \"%s\" is not named by --sensitive", name);
    if (code == 0) {
        size_t size = strlen(hierarchy) + sizeof "{hierarchy: }";
        more = cli_alloc(size);
        snprintf(more, size, "{hierarchy: %s}", hierarchy);
        kn_status st = kn_spec_create(&spec, s->ctx, &err);
        if (st == KN_OK) st = kn_spec_set_attribute(spec, name, more, "--hierarchy", &err);
        if (st == KN_OK) {
            kn_hierarchy_spec made = *kn_attribute_hierarchy(kn_spec_attribute_at(spec, 0));
            made.decimal = s->input.decimal ? s->input.decimal[0] : '.';
            made.timezone = s->input.timezone;
            if (made.population)
                code = cli_usage(&cli_diagnose,
                                 "--hierarchy: no question is about the population of a hierarchy; leave it out");
            else
                st = kn_hierarchy_make(out, s->ctx, s->table, kn_table_find(s->table, name), &made, false, &err);
        }
        if (st != KN_OK) code = cli_fail(&err);
    }
    kn_spec_free(spec);
    free(more);
    free(name);
    free(hierarchy);
    return code;
}

/* ---- What was measured ---- */

/* The text for a figure, and the text if it is missing; `absent`: it is then left out. */
typedef struct figure_words {
    const char *key, *name, *meaning, *otherwise, *otherwise_meaning;
} figure_words;

static void add_figures(cli_figures *to, const cli_value *f)
{
    static const char         none[] = "(c,l)-diverse for no c at all: a class has fewer than l values";
    static const figure_words words[] = {
        {"distinct_l", "distinct l", "different values in every class, at least", NULL, NULL},
        {"entropy_l", "entropy l", "values in every class, counted by how evenly they occur", NULL, NULL},
        {"recursive_c2", "recursive c, l = 2", "(c,l)-diverse for every larger c", "none", none},
        {"recursive_c3", "recursive c, l = 3", "(c,l)-diverse for every larger c", "none", none},
        {"t_equal", "t, equal distance", "how far a class is from the whole table: 0 the same, 1 nothing in common",
         NULL, NULL},
        {"t_ordered", "t, ordered distance", "the same, where near values count as near", NULL, NULL},
        {"t_hierarchical", "t, hierarchical distance", "the same, where values of one group count as near", NULL, NULL},
        {"alpha", "alpha", "share of the most frequent value in a class, at most", NULL, NULL},
        {"beta", "beta, basic", "how much more likely a value becomes by knowing the class, at most", NULL, NULL},
        {"beta_enhanced", "beta, enhanced", "the same, with a bound for rare values", "no bound", NULL},
        {"delta", "delta", "how far any value's share moves (logarithm); no bound where a class lacks a value",
         "no bound", NULL},
    };
    char title[300];
    snprintf(title, sizeof title, "What a class reveals about \"%s\"", cli_text(f, "attribute"));
    cli_figures_section(to, title,
                        "Figures of the worst class: a small l, or a large t, alpha, beta or delta, reveals much.");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const figure_words *w = &words[i];
        double              value = cli_number(f, w->key);
        if (i == 0)
            cli_figures_integer(to, w->name, w->meaning, cli_integer(f, w->key));
        else if (!isnan(value) || w->otherwise)
            cli_figures_number(to, w->name, isnan(value) && w->otherwise_meaning ? w->otherwise_meaning : w->meaning,
                               value, w->otherwise);
    }
}

void cli_models_figures(cli_figures *to, const cli_value *models)
{
    int64_t          count, required;
    const cli_value *sensitive = cli_list_of(models, "sensitive", &count),
                    *verdicts = cli_list_of(models, "requirements", &required);
    for (int64_t i = 0; i < count; i++) add_figures(to, kn_document_at(sensitive, i));
    if (required > 0) cli_figures_section(to, "What was required", NULL);
    for (int64_t i = 0; i < required; i++) {
        const cli_value *v = kn_document_at(verdicts, i);
        bool             holds = cli_true(v, "holds");
        double           worst = cli_number(v, "reached");
        char             meaning[256], reached[CLI_NUMBER_SIZE] = "no bound";
        if (!isnan(worst)) snprintf(reached, sizeof reached, "%.6g", worst);
        snprintf(meaning, sizeof meaning, "%s in %s violate it; reached: %s", cli_rows_of(cli_integer(v, "rows")).text,
                 cli_count_of(cli_integer(v, "classes"), "class", "classes").text, reached);
        bool nobody = kn_document_kind_of(kn_document_member(v, "holds")) == KN_DOCUMENT_NULL;
        cli_figures_add(to, cli_text(v, "requirement"),
                        nobody  ? "there is no class that could show it"
                        : holds ? "holds in every class"
                                : meaning,
                        "%s",
                        nobody  ? "UNDECIDED"
                        : holds ? "YES"
                                : "NO");
    }
}

void cli_model_sets_print(const cli_value *models)
{
    static const char *const        titles[] = {"columns", "k", "distinct l", "entropy l", "t equal", "alpha", "beta"},
                             *const keys[] = {"entropy_l", "t_equal", "alpha", "beta"};
    static const cli_align aligns[] = {CLI_LEFT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT};
    enum { MOST_SETS = 320 };
    int64_t          count = kn_document_count(models), columns;
    const cli_value *sensitive = cli_list_of(kn_document_at(models, 0), "sensitive", &columns);
    for (int64_t a = 0; a < columns; a++) {
        printf("\n%sWhat a class reveals about \"", cli_style_on(stdout, CLI_BOLD));
        cli_name_print(cli_text(kn_document_at(sensitive, a), "attribute"));
        printf("\"%s\n\n", cli_style_on(stdout, CLI_PLAIN));
        cli_text_table *t = cli_text_table_new(7, titles, aligns);
        for (int64_t i = 0; i < count && i < MOST_SETS; i++) {
            const cli_value *m = kn_document_at(models, i), *f = kn_document_at(kn_document_member(m, "sensitive"), a);
            char            *set = cli_names_text(kn_document_member(m, "attributes"));
            cli_text_table_text(t, set);
            free(set);
            cli_text_table_integer(t, cli_integer(m, "k"));
            cli_text_table_integer(t, cli_integer(f, "distinct_l"));
            for (int key = 0; key < 4; key++) cli_text_table_format(t, "%.4g", cli_number(f, keys[key]));
        }
        cli_text_table_print(t, stdout, 2);
        cli_text_table_free(t);
        if (count > MOST_SETS)
            printf("  ... and %s; --json lists all\n", cli_count_of(count - MOST_SETS, "more set", "more sets").text);
    }
}

/* Measures one set, or all subsets of --over. */
static int measure(cli_diagnosing *s, const kn_model_options *o)
{
    kn_error err = KN_ERROR_INIT;
    bool     holds = true;
    if (s->over.count > 0) {
        if (kn_model_over_sets(&s->model_sets, s->ctx, s->table, o, NULL, 0, &err) != KN_OK) return cli_fail(&err);
        for (int64_t i = 0; i < s->model_sets->count; i++) holds = holds && kn_model_set_at(s->model_sets, i)->holds;
    } else {
        if (kn_diagnose_models(&s->models, s->ctx, s->table, o, &err) != KN_OK) return cli_fail(&err);
        holds = s->models->holds;
    }
    return holds ? 0 : 1;
}

int cli_diagnose_models(cli_diagnosing *s)
{
    const cli_list  *quasi = s->over.count > 0 ? &s->over : &s->qi;
    kn_model_options o = KN_MODEL_OPTIONS_INIT;
    size_t           sensitive = (size_t)s->sensitive.count, required = (size_t)s->require.count;
    kn_hierarchy   **hierarchies = cli_alloc((sensitive + 1) * sizeof *hierarchies);
    cli_requirement *requirements = cli_alloc((required + 1) * sizeof *requirements);
    kn_model        *models = cli_alloc((required + 1) * sizeof *models);
    int              code = 0, read = 0;
    memset(hierarchies, 0, (sensitive + 1) * sizeof *hierarchies);
    for (; read < s->require.count && code == 0; read++) {
        code = read_requirement(&requirements[read], s->require.items[read], &s->sensitive);
        models[read] = requirements[read].model;
    }
    for (int i = 0; i < s->hierarchies.count && code == 0; i++) {
        int           which = 0;
        kn_hierarchy *h = NULL;
        code = read_hierarchy(&h, s, s->hierarchies.items[i], &which);
        if (code == 0 && !hierarchies[which])
            hierarchies[which] = h;
        else
            kn_hierarchy_free(h);
    }
    o.quasi = (const char *const *)quasi->items;
    o.quasi_count = quasi->count;
    o.sensitive = (const char *const *)s->sensitive.items;
    o.sensitive_count = s->sensitive.count;
    o.hierarchies = (const kn_hierarchy *const *)hierarchies;
    o.requirements = models;
    o.requirement_count = s->require.count;
    o.missing = s->missing;
    if (code == 0) code = measure(s, &o);
    for (size_t i = 0; i < sensitive; i++) kn_hierarchy_free(hierarchies[i]);
    for (int i = 0; i < read; i++) cli_requirement_free(&requirements[i]);
    free(hierarchies);
    free(requirements);
    free(models);
    return code;
}
