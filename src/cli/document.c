/* document.c: see document.h. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "document.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static kn_status print_piece(void *user, const char *data, size_t size, kn_error *err)
{
    (void)user;
    (void)err;
    fwrite(data, 1, size, stdout); /* main looks for failures */
    return KN_OK;
}

static int print_json(kn_document *doc)
{
    kn_error        err = KN_ERROR_INIT;
    const cli_list *notes = cli_notes();
    for (int i = 0; i < notes->count; i++)
        if (kn_document_add_note(doc, notes->items[i], &err) != KN_OK) return cli_fail(&err);
    return kn_document_write(doc, cli_context_now(), print_piece, NULL, &err) == KN_OK ? 0 : cli_fail(&err);
}

static void say_notes(const kn_document *doc)
{
    const cli_value *notes = kn_document_find(doc, "notes");
    for (int64_t i = 0; i < kn_document_count(notes); i++) cli_say(cli_text_at(notes, i));
}

int cli_answer(const cli_common *common, kn_status made, kn_document *doc, const kn_error *err,
               void (*words)(const cli_value *answer))
{
    if (made != KN_OK) return cli_fail(err);
    int      code = 0;
    kn_error late = KN_ERROR_INIT;
    say_notes(doc);
    if (common->json)
        code = print_json(doc);
    else if (words && kn_document_unfold(doc, &late) != KN_OK)
        code = cli_fail(&late);
    else if (words)
        words(kn_document_find(doc, ""));
    kn_document_free(doc);
    return code;
}

int64_t cli_integer(const cli_value *object, const char *key)
{
    return kn_document_integer_of(kn_document_member(object, key));
}

double cli_number(const cli_value *object, const char *key)
{
    return kn_document_number_of(kn_document_member(object, key));
}

bool cli_true(const cli_value *object, const char *key)
{
    return kn_document_boolean_of(kn_document_member(object, key));
}

const char *cli_text(const cli_value *object, const char *key)
{
    return kn_document_text_of(kn_document_member(object, key));
}

const cli_value *cli_list_of(const cli_value *object, const char *key, int64_t *count)
{
    const cli_value *list = kn_document_member(object, key);
    *count = kn_document_count(list);
    return list;
}

const char *cli_text_at(const cli_value *list, int64_t index)
{
    return kn_document_text_of(kn_document_at(list, index));
}

bool cli_is(const cli_value *object, const char *key, const char *text)
{
    const char *found = cli_text(object, key);
    return found && strcmp(found, text) == 0;
}

void cli_text_table_number(cli_text_table *t, double value)
{
    if (isnan(value))
        cli_text_table_text(t, "-");
    else
        cli_text_table_format(t, "%.6g", value);
}

void cli_text_table_plain(cli_text_table *t, double value)
{
    if (!isnan(value) && fabs(value) < 1e15 && value == floor(value))
        cli_text_table_integer(t, (int64_t)value);
    else
        cli_text_table_number(t, value);
}

void cli_name_print(const char *name)
{
    char *safe = cli_escape(name, strlen(name));
    fputs(safe, stdout);
    free(safe);
}

void cli_names_print(const cli_value *list, const char *between)
{
    for (int64_t i = 0; i < kn_document_count(list); i++) {
        if (i > 0) fputs(between, stdout);
        cli_name_print(cli_text_at(list, i));
    }
}

char *cli_names_text(const cli_value *list)
{
    int64_t count = kn_document_count(list);
    size_t  size = 1, used = 0;
    for (int64_t i = 0; i < count; i++) size += strlen(cli_text_at(list, i)) + 2;
    char *text = cli_alloc(size);
    text[0] = '\0';
    for (int64_t i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i > 0 ? ", " : "", cli_text_at(list, i));
    return text;
}

void cli_sentences_print(const cli_value *list)
{
    for (int64_t i = 0; i < kn_document_count(list); i++) {
        const char *sentence = cli_text_at(list, i);
        char       *text = cli_escape(sentence, strlen(sentence));
        printf("  - %s\n", text);
        free(text);
    }
}

void cli_answers_print(void)
{
    enum { WIDTH = 78 };
    size_t used = 0;
    fputs("\nAnswers:", stdout);
    for (int i = 0; kn_answer_name(i); i++) {
        size_t length = strlen(kn_answer_name(i));
        bool   wrap = i == 0 || used + length + 2 > WIDTH;
        used = (wrap ? 1 : used) + length + 2;
        printf("%s%s%s", wrap ? "\n  " : " ", kn_answer_name(i), kn_answer_name(i + 1) ? "," : "\n");
    }
}

int cli_schema_print(const char *answer)
{
    kn_error    err = KN_ERROR_INIT;
    kn_context *ctx = NULL;
    char       *text = NULL;
    int         code = 0;
    if (kn_context_create(&ctx, NULL, &err) != KN_OK) return cli_fail(&err);
    if (kn_answer_schema(&text, NULL, ctx, answer, &err) == KN_OK)
        fputs(text, stdout);
    else
        code = cli_fail(&err);
    kn_text_free(text);
    kn_context_free(ctx);
    return code;
}
