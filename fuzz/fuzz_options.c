/* fuzz_options.c: bytes → the words of a command line → a request → invariants.
 *
 * Words are lines, without the command's name. Options that are read give a request that is checked as one of a release file would be,
 * or a message and exit code 2 or 3. A hierarchy given as an option is text of a release file: it is read as such, or refused with a
 * message of the library, never one about its notation. Sizes, numbers and promises are within their limits.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "anonymize.h"
#include "lists.h"
#include "requirement.h"

enum { MOST_WORDS = 60 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int said; /* messages */

static void demand(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "fuzz_options: %s\n", what);
    abort();
}

/* ---- In the place of the terminal ---- */

int cli_fail(const kn_error *err)
{
    demand(err->message[0] != '\0' && err->status != KN_INTERNAL, "a failure without a message, or an internal one");
    said++;
    return err->status == KN_USAGE || err->status == KN_INPUT ? 2 : 3;
}

int cli_usage(const cli_command *command, const char *format, ...)
{
    char    text[4000];
    va_list args;
    (void)command;
    va_start(args, format);
    demand(vsnprintf(text, sizeof text, format, args) > 0, "a message without words");
    va_end(args);
    said++;
    return 2;
}

void cli_note(const char *format, ...)
{
    (void)format;
}

kn_context *cli_context(const cli_common *common)
{
    (void)common;
    return NULL;
}

void cli_context_free(kn_context *ctx)
{
    (void)ctx;
}

const char *cli_style_on(FILE *file, cli_style style)
{
    (void)file, (void)style;
    return "";
}

bool cli_lists_print(const cli_common *common)
{
    return common->list_methods || common->list_models || common->list_metrics;
}

char *cli_model_names(bool release)
{
    return cli_strndup(release ? "all" : "some", 4);
}

/* ---- Parts ---- */

static void try_numbers(const char *text)
{
    int64_t  whole;
    double   number;
    uint64_t bytes;
    char     again[64];
    if (cli_parse_integer(text, &whole)) {
        int64_t same = 0;
        snprintf(again, sizeof again, "%lld", (long long)whole);
        demand(cli_parse_integer(again, &same) && same == whole, "another whole number the second time");
    }
    if (cli_parse_number(text, &number)) demand(isfinite(number), "a number that is not finite");
    if (cli_parse_size(text, &bytes)) {
        uint64_t same = 0;
        snprintf(again, sizeof again, "%llu", (unsigned long long)bytes);
        demand(cli_parse_size(again, &same) && same == bytes, "another size the second time");
    }
    demand(cli_rows_text(text) >= -1, "a number of rows that is none");
}

const cli_command cli_verify = {"verify", "", "", NULL}; /* what a request for verification is compared with */

static const cli_command command = {"anonymize", "", "", NULL};

static void try_requirement(const char *text)
{
    cli_requirement r;
    kn_error        err = KN_ERROR_INIT;
    said = 0;
    int code = cli_requirement_read(&r, &command, text, true);
    demand((code == 0) == (said == 0), "a promise and a message, or neither");
    if (code == 0 && !cli_requirement_of_column(r.model.kind))
        demand(kn_model_check(&r.model, &err) == KN_OK || err.message[0], "a promise that is none");
    cli_requirement_free(&r);
}

static void try_hierarchy(kn_context *ctx, const char *text)
{
    char    *column = NULL, *yaml = NULL;
    kn_spec *spec = NULL;
    kn_error err = KN_ERROR_INIT;
    said = 0;
    int code = cli_hierarchy_text(&column, &yaml, &command, text);
    demand((code == 0) == (said == 0), "a hierarchy and a message, or neither");
    if (code == 0) {
        demand(column && *column && yaml && *yaml, "a hierarchy without a column");
        char *whole = malloc(strlen(yaml) + 64);
        demand(whole && kn_spec_create(&spec, ctx, &err) == KN_OK, "no memory");
        sprintf(whole, "{role: quasi, hierarchy: %s}", yaml);
        kn_status st = kn_spec_set_attribute(spec, "x", whole, "-x", &err);
        demand(st == KN_OK || (st == KN_USAGE && err.message[0]), "a hierarchy that fails in another way");
        if (st == KN_OK) demand(kn_spec_find(spec, "x") == 0 && spec->attribute_count == 1, "more than a hierarchy");
        free(whole);
        kn_spec_free(spec);
    }
    free(column);
    free(yaml);
}

static void try_command(kn_context *ctx, char **words, int count)
{
    cli_anonymizing  a = {.command = &command, .k = INT64_MIN};
    const cli_option options[] = {
        CLI_REQUIREMENT_OPTIONS(a), {"--method", CLI_TEXT, &a.method}, CLI_TABLE_OPTIONS(a.input), {0}};
    kn_spec *spec = NULL;
    kn_error err = KN_ERROR_INIT;
    said = 0;
    if (!cli_parse(&command, &count, words, options, &a.common)) {
        demand(said > 0 && a.qi.count == 0 && a.require.count == 0, "a mistake that is not told, or is not cleaned up");
        return;
    }
    a.spec_path = NULL; /* files of this machine are no part of it */
    a.files = words;
    a.file_count = count;
    for (int i = 0; i < count; i++)
        if (cli_is_release_file(words[i])) a.file_count = 0;
    if (!a.common.help && cli_anonymize_spec(&spec, ctx, &a) == 0) {
        demand(spec != NULL && said == 0, "a request and a message");
        kn_status st = kn_spec_check(spec, &err);
        demand(st == KN_OK || ((st == KN_USAGE || st == KN_INPUT) && err.message[0]), "checked in another way");
        kn_spec_free(spec);
    } else if (!a.common.help) {
        demand(said > 0, "a mistake that is not told");
    }
    cli_anonymizing_free(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kn_context        *ctx = NULL;
    kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
    char              *words[MOST_WORDS + 1] = {NULL}, *text = malloc(size + 1);
    int                count = 0;
    options.threads = 1;
    options.memory_limit = 1 << 28;
    if (!text || kn_context_create(&ctx, &options, NULL) != KN_OK) abort();
    memcpy(text, data, size);
    text[size] = '\0';
    for (char *at = text; at && count < MOST_WORDS; count++) {
        words[count] = at;
        at = strchr(at, '\n');
        if (at) *at++ = '\0';
    }
    for (int i = 0; i < count; i++) {
        try_numbers(words[i]);
        try_requirement(words[i]);
        try_hierarchy(ctx, words[i]);
    }
    try_command(ctx, words, count);
    kn_context_free(ctx);
    free(text);
    return 0;
}
