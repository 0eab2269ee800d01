/* dependencies_print.c: the answers of `kanon dependencies` as words. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dependencies.h"
#include "diagnose.h"

static double share_of(int64_t part, int64_t rows)
{
    return rows > 0 ? (double)part / (double)rows : 0;
}

static void print_checks(const cli_dependency_answers *d)
{
    static const char *const titles[] = {"dependency",   "holds",      "groups",  "broken",
                                         "rows in them", "exceptions", "spurious"};
    static const cli_align   aligns[] = {CLI_LEFT, CLI_LEFT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT};
    bool                     multivalued = false;
    for (int i = 0; i < d->given_count; i++) multivalued |= d->given[i]->kind == KN_DEPENDENCY_MULTIVALUED;
    cli_text_table *t = cli_text_table_new(multivalued ? 7 : 6, titles, aligns);
    for (int i = 0; i < d->given_count; i++) {
        const kn_dependency_check *c = &d->checks[i];
        char                       number[CLI_NUMBER_SIZE];
        cli_text_table_text(t, d->given[i]->text);
        cli_text_table_text(t, c->holds ? "yes" : "no");
        cli_text_table_style(t, c->holds ? CLI_GREEN : CLI_RED);
        cli_text_table_integer(t, c->groups);
        cli_text_table_integer(t, c->violating_groups);
        cli_text_table_integer(t, c->violating_rows);
        if (c->removed < 0)
            cli_text_table_text(t, NULL);
        else if (c->removed == 0)
            cli_text_table_text(t, "0");
        else
            cli_text_table_format(t, "%s (%.3g %%)", cli_format_integer(number, c->removed), 100 * c->error);
        if (!multivalued) continue;
        if (d->given[i]->kind == KN_DEPENDENCY_MULTIVALUED)
            cli_text_table_integer(t, c->spurious);
        else
            cli_text_table_text(t, NULL);
    }
    cli_text_table_print(t, stdout, 0);
    cli_text_table_free(t);
}

static void print_escaped(const char *text)
{
    char *shown = cli_escape(text, strlen(text));
    fputs(shown, stdout);
    free(shown);
}

static void print_list(const kn_dependency_list *list)
{
    for (int i = 0; i < list->count; i++) {
        fputs("  ", stdout);
        print_escaped(list->items[i]->text);
        putchar('\n');
    }
}

static int64_t constants_of(const kn_discovery *r)
{
    int64_t n = 0;
    while (n < r->count && r->found[n].left_count == 0) n++;
    return n;
}

/* Each right side with its own exceptions. */
static void print_approximate(const cli_dependency_answers *d)
{
    static const char *const titles[] = {"dependency", "exceptions", ""};
    static const cli_align   aligns[] = {CLI_LEFT, CLI_RIGHT, CLI_RIGHT};
    const kn_discovery      *r = d->discovery;
    cli_text_table          *t = cli_text_table_new(3, titles, aligns);
    int64_t                  constants = constants_of(r);
    for (int64_t i = 0; i < d->each_count; i++) {
        int64_t removed = r->found[constants + i].removed;
        cli_text_table_text(t, d->each[i]->text);
        cli_text_table_integer(t, removed);
        cli_text_table_format(t, "%.3g %%", 100 * share_of(removed, r->rows));
    }
    cli_text_table_print(t, stdout, 2);
    cli_text_table_free(t);
}

static void print_constants(const cli_dependency_answers *d)
{
    const kn_discovery *r = d->discovery;
    int64_t             constants = constants_of(r);
    for (int64_t i = 0; i < constants; i++) {
        fputs(i ? ", " : r->budget > 0 ? "Constant, but for exceptions: " : "Constant: ", stdout);
        print_escaped(kn_table_name(d->table, r->found[i].right));
    }
    if (constants > 0) fputs("\n\n", stdout);
}

static void print_discovery(const cli_dependency_answers *d)
{
    const kn_discovery *r = d->discovery;
    int64_t             found = r->count - constants_of(r);
    print_constants(d);
    if (found == 0)
        fputs("No dependency found", stdout);
    else
        printf("%s found", cli_count_of(found, "minimal dependency", "minimal dependencies").text);
    if (r->budget > 0)
        printf(" with at most %s%s", cli_count_of(r->budget, "exception", "exceptions").text, found > 1 ? " each" : "");
    if (!r->complete)
        printf(", %s: %s", found == 0 ? "but there may be some" : "not all there are", r->why_partial);
    else
        fputs(found == 0 ? ": there is none" : ", all there are", stdout);
    puts(found > 0 && !d->covered ? ":" : "");
    if (d->covered || found == 0) return;
    putchar('\n');
    if (r->budget > 0)
        print_approximate(d);
    else
        print_list(d->found);
}

void cli_dependencies_print_text(const cli_dependency_answers *d)
{
    printf("%s, %s\n\n", cli_rows_of(kn_table_rows(d->table)).text,
           cli_count_of(kn_table_columns(d->table), "column", "columns").text);
    if (d->given_count > 0) print_checks(d);
    if (d->given_count > 0 && d->discovery) putchar('\n');
    if (d->discovery) print_discovery(d);
    if (d->cover) {
        printf("\nMinimal cover: %s%s\n", cli_count_of(d->cover->count, "left side", "left sides").text,
               d->cover->count > 0 ? "\n" : "");
        print_list(d->cover);
    }
    if (d->closure) {
        fputs("\nDetermined by ", stdout);
        for (int i = 0; i < d->closure->count; i++) {
            fputs(i == 0 ? "" : i == d->closure_of.count ? ": " : ", ", stdout);
            print_escaped(d->closure->names[i]);
        }
        puts(d->closure->count == d->closure_of.count ? ": nothing else" : "");
    }
}
