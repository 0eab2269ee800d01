/* json.c: the few things commands need on top of jansson.
 *
 * Numbers are written with 15 digits: enough for every figure kanon reports, and 0.05 stays 0.05.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"

static json_t *or_end(json_t *value)
{
    if (value) return value;
    fputs("kanon: out of memory\n", stderr);
    exit(3);
}

json_t *cli_json_text(const char *text, size_t length)
{
    json_t *value = json_stringn(text, length);
    if (value) return value;
    char *escaped = cli_escape(text, length);
    value = json_string(escaped);
    free(escaped);
    return or_end(value);
}

json_t *cli_json_number(double value)
{
    return or_end(isfinite(value) ? json_real(value) : json_null());
}

void cli_json_set(json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, or_end(value)) != 0) or_end(NULL);
}

void cli_json_append(json_t *array, json_t *value)
{
    if (json_array_append_new(array, or_end(value)) != 0) or_end(NULL);
}

json_t *cli_json_object(void)
{
    return or_end(json_object());
}

json_t *cli_json_array(void)
{
    return or_end(json_array());
}

void cli_json_print(json_t *value)
{
    /* A failed write is remembered by stdout and told by cli_finish; only memory can fail unseen. */
    if (json_dumpf(or_end(value), stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(15) | JSON_ENCODE_ANY) != 0 &&
        !ferror(stdout))
        or_end(NULL);
    json_decref(value);
    putchar('\n');
}
