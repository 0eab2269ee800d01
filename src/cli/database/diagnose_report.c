/* database/diagnose_report.c: `kanon diagnose DATABASE --spec FILE --report FILE`: the page of a table's diagnosis, in which a row is
 * a person; whom what is known finds, and what classes tell about sensitive columns, are sections of it.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "diagnose.h"

/* Those of the release file, as TABLE.COLUMN. */
static void list_quasi(cli_list *to, const kn_spec *spec)
{
    int count = 0;
    for (int t = 0; t < spec->table_count; t++) count += kn_spec_table_at(spec, t)->attribute_count;
    to->items = cli_alloc(((size_t)count + 1) * sizeof *to->items);
    for (int t = 0; t < spec->table_count; t++) {
        const kn_spec_table *table = kn_spec_table_at(spec, t);
        for (int a = 0; a < table->attribute_count; a++) {
            const kn_attribute *one = kn_spec_table_attribute_at(table, a);
            if (one->role != KN_ROLE_QUASI || table->reference) continue;
            size_t size = strlen(table->name) + strlen(one->name) + 2;
            to->items[to->count] = cli_alloc(size);
            snprintf(to->items[to->count++], size, "%s.%s", table->name, one->name);
        }
    }
}

static void add_known(cli_figures *to, const cli_value *answer)
{
    int64_t          count;
    const cli_value *list = cli_list_of(answer, "known", &count);
    cli_figures_section(
        to, "Whom it finds",
        "Persons who stand alone for somebody who knows all their rows of these tables, or one column of these.");
    for (int64_t i = 0; i < count; i++) {
        const cli_value *known = kn_document_at(list, i);
        char            *names = cli_names_text(kn_document_member(known, "tables")), title[300];
        const char      *column = cli_text(known, "column");
        snprintf(title, sizeof title, "%s%s%s", names, column ? "." : "", column ? column : "");
        cli_figures_integer(to, title, NULL, cli_integer(known, "unique_persons"));
        free(names);
    }
}

static kn_diagnosis as_rows(const kn_database_diagnosis *d)
{
    return (kn_diagnosis){.rows = d->persons,
                          .persons = d->persons,
                          .classes = d->classes,
                          .k = d->k,
                          .k_after = d->k,
                          .unique_rows = d->unique_persons,
                          .below_classes = d->below_classes,
                          .below_rows = d->below_persons,
                          .holds = d->holds,
                          .size_count = d->size_count,
                          .sizes = (kn_size_count *)(uintptr_t)kn_diagnosed_size_at(d, 0)};
}

int cli_diagnose_database_report(const cli_common *common, kn_context *ctx, const kn_spec *spec,
                                 const kn_database_diagnosis *d, const kn_database_diagnose_options *options,
                                 const cli_value *answer, const char *path)
{
    const kn_diagnosis rows = as_rows(d);
    kn_report_input    in = KN_REPORT_INPUT_INIT;
    kn_error           err = KN_ERROR_INIT;
    cli_figures        figures = {0};
    cli_list           quasi = {0};
    int64_t            noted;
    const char        *input = options->input ? options->input : spec->inputs[0];
    const cli_value   *said = cli_list_of(answer, "notes", &noted);
    const char       **notes = cli_alloc(((size_t)noted + 1) * sizeof *notes);
    notes[0] = "A row of this page is a person, with all their rows of all tables.";
    for (int64_t i = 0; i < noted; i++) notes[i + 1] = cli_text_at(said, i);
    list_quasi(&quasi, spec);
    add_known(&figures, answer);
    cli_models_figures(&figures, answer);
    in.version = KANON_VERSION;
    in.inputs = &input;
    in.input_count = strncmp(input, "postgres", 8) != 0; /* a server's name may hold a password */
    in.quasi = (const char *const *)quasi.items;
    in.quasi_count = quasi.count;
    in.k = options->k;
    in.diagnosis = &rows;
    in.notes = notes;
    in.note_count = (int)noted + 1;
    in.sections = figures.sections;
    in.section_count = figures.count;
    kn_status st = kn_report_write(ctx, path, &in, &err);
    cli_figures_free(&figures);
    cli_list_free(&quasi);
    free(notes);
    if (st != KN_OK) return cli_fail(&err);
    cli_done(common, "report written to %s", path);
    return 0;
}
