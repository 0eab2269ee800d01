/* kn_studio_neighbour.c: the linking attack on the release that was published: how many of the people that somebody knows are
 * found in it? (kn_studio_question.h)
 *
 * What is known is a file of this machine ("external"), a text that was typed or read by the page ("text", with a "name" whose
 * ending says what it is), or columns of some rows of the table itself ("columns", "people"): what a neighbour of theirs knows.
 * The latter two are in memory alone.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <kanon/memory.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_studio_question.h"

enum { MOST_PEOPLE = 10000 };

/* A cell of a CSV file, in quotes. */
static void put_cell(FILE *to, const char *text, size_t length)
{
    if (!text) return; /* missing */
    fputc('"', to);
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '"') fputc('"', to);
        fputc(text[i], to);
    }
    fputc('"', to);
}

/* Rows from the whole table, at equal steps. */
static void put_people(FILE *to, const kn_studio_question *q, int64_t people)
{
    const kn_table *table = q->table->table;
    int64_t         rows = kn_table_rows(table);
    for (int c = 0; c < q->name_count; c++) {
        if (c > 0) fputc(',', to);
        put_cell(to, q->names[c], strlen(q->names[c]));
    }
    for (int64_t i = 0; i < people; i++) {
        fputc('\n', to);
        for (int c = 0; c < q->name_count; c++) {
            int         column = kn_table_find(table, q->names[c]);
            size_t      length = 0;
            const char *text = kn_table_text(table, column, kn_table_code(table, column, i * rows / people), &length);
            if (c > 0) fputc(',', to);
            put_cell(to, text, length);
        }
    }
    fputc('\n', to);
}

/* What a neighbour of some people of the table knows, as a CSV file in memory. */
static kn_status some_people(kn_studio_question *q, kn_error *err)
{
    char     *text = NULL;
    size_t    size = 0;
    kn_status st = kn_studio_need_table(q, err);
    if (st == KN_OK) st = kn_studio_need_names(q, err);
    for (int c = 0; c < q->name_count && st == KN_OK; c++)
        if (kn_table_find(q->table->table, q->names[c]) < 0)
            st = kn_studio_error(err, KN_USAGE, "the table has no such column");
    if (st != KN_OK) return st;
    int64_t rows = kn_table_rows(q->table->table), people = kn_studio_number(q, "people", 100);
    if (people < 1 || people > MOST_PEOPLE)
        return kn_studio_error(err, KN_USAGE, "a neighbour knows 1 to 10,000 people");
    FILE *to = open_memstream(&text, &size);
    if (to) put_people(to, q, people < rows ? people : rows);
    if (!to || fclose(to) != 0) st = kn_studio_error(err, KN_MEMORY, "out of memory while attacking");
    if (st == KN_OK) st = kn_memory_put(q->ctx, "memory:neighbour.csv", text, size, err);
    free(text);
    return st;
}

/* Where what is known can be read; from malloc. */
static kn_status known(kn_studio_question *q, char **place, kn_error *err)
{
    const char *external = kn_studio_text(q, "external"), *text = kn_studio_text(q, "text");
    const char *name = kn_studio_text(q, "name");
    const char *ending = name ? strrchr(name, '.') : NULL;
    kn_status   st = KN_OK;
    char        memory[64] = "memory:neighbour.csv";
    if (text && ending && strlen(ending) < 12) snprintf(memory, sizeof memory, "memory:neighbour%s", ending);
    if (text)
        st = kn_memory_put(q->ctx, memory, text, strlen(text), err);
    else if (!external)
        st = json_object_get(q->job->params, "columns")
                 ? some_people(q, err)
                 : kn_studio_error(err, KN_USAGE, "no table of what an attacker knows is named");
    if (st != KN_OK) return st;
    *place = strdup(text || !external ? memory : external);
    return *place ? KN_OK : kn_studio_error(err, KN_MEMORY, "out of memory while attacking");
}

kn_status kn_studio_answer_attack(kn_studio_question *q, kn_error *err)
{
    kn_attack_options options = KN_ATTACK_OPTIONS_INIT;
    kn_attack_report *found = NULL;
    char             *place = NULL;
    kn_status         st = kn_studio_read_saved(q, err);
    if (st == KN_OK && !kn_studio_is_released(q->spec))
        st = kn_studio_error(err, KN_USAGE, "no release is there to attack: make one on Publish");
    if (st == KN_OK) st = known(q, &place, err);
    if (st == KN_OK) {
        options.external = place;
        options.release = q->spec->output;
        options.some_rows = kn_studio_flag(q, "some_rows");
        st = kn_attack(&found, q->ctx, q->spec, &options, err);
    }
    if (st == KN_OK) st = kn_document_attack(&q->doc, q->ctx, found, err);
    kn_attack_report_free(found);
    free(place);
    return st;
}
