/* json.h: the few things commands need on top of jansson. Objects keep the order their keys were added in. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <jansson.h>
#include <stddef.h>

/* A JSON string; bytes that are not UTF-8 are written as \xNN. */
json_t *cli_json_text(const char *text, size_t length);

/* A JSON number; null for what JSON cannot write (infinities, not a number). */
json_t *cli_json_number(double value);

/* Adds a member and takes `value` over; ends the program with exit code 3 where there is no memory (value NULL). */
void cli_json_set(json_t *object, const char *key, json_t *value);
void cli_json_append(json_t *array, json_t *value);

/* New containers; never NULL. */
json_t *cli_json_object(void);
json_t *cli_json_array(void);

/* Prints the value to standard output, indented by two blanks, with a newline at the end, and frees it. */
void cli_json_print(json_t *value);

#endif
