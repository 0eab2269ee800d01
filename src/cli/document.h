/* document.h: access to the library's answers (kanon/document.h), and printing them as JSON or as text. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DOCUMENT_H
#define CLI_DOCUMENT_H

#include <kanon/answers.h>

#include "cli.h"

typedef kn_document_value cli_value;

/* Prints the notes of an answer and the answer itself, as JSON with --json, else by `words` (NULL: the caller prints
 * it); then frees it. `made` is the status of the call that made it. Returns 0, or the exit code after reporting what
 * failed. */
int cli_answer(const cli_common *common, kn_status made, kn_document *doc, const kn_error *err,
               void (*words)(const cli_value *answer));

/* `kanon help answers`: the names of the answers; the schema of one, which returns the exit code. */
void cli_answers_print(void);
int  cli_schema_print(const char *answer);

/* Members by name; 0, NAN, false or NULL if absent. */
int64_t          cli_integer(const cli_value *object, const char *key);
double           cli_number(const cli_value *object, const char *key);
bool             cli_true(const cli_value *object, const char *key);
const char      *cli_text(const cli_value *object, const char *key);
const cli_value *cli_list_of(const cli_value *object, const char *key, int64_t *count);

/* The text of an item. */
const char *cli_text_at(const cli_value *list, int64_t index);

/* Is it that text? */
bool cli_is(const cli_value *object, const char *key, const char *text);

/* A cell with a number as "%.6g", or "-" for NaN. */
void cli_text_table_number(cli_text_table *t, double value);

/* The same, but whole numbers as 1,234. */
void cli_text_table_plain(cli_text_table *t, double value);

/* Print a name, made safe for a terminal; print names with a separator. */
void cli_name_print(const char *name);
void cli_names_print(const cli_value *list, const char *between);

/* Names separated by commas; free it. */
char *cli_names_text(const cli_value *list);

/* Prints sentences, one per line, each after a dash. */
void cli_sentences_print(const cli_value *list);

#endif
