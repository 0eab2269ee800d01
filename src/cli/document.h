/* document.h: answers of the library (kanon/document.h), printed as JSON or read by the printers of words. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DOCUMENT_H
#define CLI_DOCUMENT_H

#include <kanon/answers.h>

#include "cli.h"

typedef kn_document_value cli_value;

/* Says the notes of an answer and prints it, with --json as JSON, else by `words` (NULL: the caller prints them); then frees
 * it. `made` is what the call that made it returned. 0, or the exit code after saying what failed. */
int cli_answer(const cli_common *common, kn_status made, kn_document *doc, const kn_error *err,
               void (*words)(const cli_value *answer));

/* `kanon help answers`: their names; the schema of one: the exit code. */
void cli_answers_print(void);
int  cli_schema_print(const char *answer);

/* Members by name, which may be absent: 0, NAN, false, NULL. */
int64_t          cli_integer(const cli_value *object, const char *key);
double           cli_number(const cli_value *object, const char *key);
bool             cli_true(const cli_value *object, const char *key);
const char      *cli_text(const cli_value *object, const char *key);
const cli_value *cli_list_of(const cli_value *object, const char *key, int64_t *count);

/* The text of an item. */
const char *cli_text_at(const cli_value *list, int64_t index);

/* Is it that text? */
bool cli_is(const cli_value *object, const char *key, const char *text);

/* A cell with a number as "%.6g", or "-" where there is none. */
void cli_text_table_number(cli_text_table *t, double value);

/* The same, and whole numbers as 1,234. */
void cli_text_table_plain(cli_text_table *t, double value);

/* A name, made safe for a terminal; names with a text between each two. */
void cli_name_print(const char *name);
void cli_names_print(const cli_value *list, const char *between);

/* Names with commas between; free it. */
char *cli_names_text(const cli_value *list);

/* A list of sentences, one per line behind a dash. */
void cli_sentences_print(const cli_value *list);

#endif
