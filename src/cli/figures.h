/* figures.h: named figures and their meanings, for the terminal and for the report. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_FIGURES_H
#define CLI_FIGURES_H

#include <kanon/report.h>

#include "cli.h"

/* A list of sections; all text is copied. Start from {0}, end with cli_figures_free. */
typedef struct cli_figures {
    kn_report_section *sections;
    int                count;
} cli_figures;

void cli_figures_section(cli_figures *figures, const char *title, const char *intro); /* intro may be NULL */

/* Adds a figure to the last section; `meaning` may be NULL. */
void cli_figures_add(cli_figures *figures, const char *name, const char *meaning, const char *format, ...)
    KN_PRINTF(4, 5);

/* The same for a number; `otherwise` where it is NaN. */
void cli_figures_number(cli_figures *figures, const char *name, const char *meaning, double value,
                        const char *otherwise);

/* The same for a count: 1,234,567. */
void cli_figures_integer(cli_figures *figures, const char *name, const char *meaning, int64_t value);

/* Prints the sections one after another. */
void cli_figures_print(const cli_figures *figures, FILE *file);
void cli_figures_free(cli_figures *figures);

#endif
