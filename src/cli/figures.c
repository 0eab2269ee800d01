/* figures.c: see figures.h. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "figures.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static char *copy(const char *text)
{
    return text ? cli_strndup(text, strlen(text)) : NULL;
}

void cli_figures_section(cli_figures *figures, const char *title, const char *intro)
{
    figures->sections = cli_realloc(figures->sections, (size_t)(figures->count + 1) * sizeof *figures->sections);
    figures->sections[figures->count++] = (kn_report_section){copy(title), copy(intro), NULL, 0};
}

static void add(cli_figures *figures, const char *name, const char *meaning, char *value)
{
    kn_report_section *s = &figures->sections[figures->count - 1];
    kn_report_figure  *list = cli_realloc((void *)(uintptr_t)s->figures, (size_t)(s->figure_count + 1) * sizeof *list);
    list[s->figure_count++] = (kn_report_figure){copy(name), value, copy(meaning)};
    s->figures = list;
}

void cli_figures_add(cli_figures *figures, const char *name, const char *meaning, const char *format, ...)
{
    char    value[256];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(value, sizeof value, format, args);
    va_end(args);
    add(figures, name, meaning, copy(value));
}

void cli_figures_number(cli_figures *figures, const char *name, const char *meaning, double value,
                        const char *otherwise)
{
    if (isnan(value))
        add(figures, name, meaning, copy(otherwise));
    else
        cli_figures_add(figures, name, meaning, "%.6g", value);
}

void cli_figures_integer(cli_figures *figures, const char *name, const char *meaning, int64_t value)
{
    char number[CLI_NUMBER_SIZE];
    cli_figures_add(figures, name, meaning, "%s", cli_format_integer(number, value));
}

void cli_figures_print(const cli_figures *figures, FILE *file)
{
    static const cli_align aligns[] = {CLI_LEFT, CLI_RIGHT, CLI_LEFT};
    for (int i = 0; i < figures->count; i++) {
        const kn_report_section *s = &figures->sections[i];
        char                    *title = cli_escape(s->title, strlen(s->title));
        fprintf(file, "\n%s%s%s\n", cli_style_on(file, CLI_BOLD), title, cli_style_on(file, CLI_PLAIN));
        free(title);
        if (s->intro) fprintf(file, "%s\n", s->intro);
        fprintf(file, "\n");
        cli_text_table *t = cli_text_table_new(3, NULL, aligns);
        for (int f = 0; f < s->figure_count; f++) {
            cli_text_table_text(t, s->figures[f].name);
            cli_text_table_text(t, s->figures[f].value);
            cli_text_table_text(t, s->figures[f].meaning);
        }
        cli_text_table_print(t, file, 2);
        cli_text_table_free(t);
    }
}

void cli_figures_free(cli_figures *figures)
{
    for (int i = 0; i < figures->count; i++) {
        const kn_report_section *s = &figures->sections[i];
        for (int f = 0; f < s->figure_count; f++) {
            free((void *)(uintptr_t)s->figures[f].name);
            free((void *)(uintptr_t)s->figures[f].value);
            free((void *)(uintptr_t)s->figures[f].meaning);
        }
        free((void *)(uintptr_t)s->figures);
        free((void *)(uintptr_t)s->title);
        free((void *)(uintptr_t)s->intro);
    }
    free(figures->sections);
    *figures = (cli_figures){0};
}
