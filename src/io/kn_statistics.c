/* kn_statistics.c: files of SPSS (.sav .zsav .por), Stata (.dta) and SAS (.sas7bdat .xpt) as the bytes of a CSV file, by
 * ReadStat. Interface: kn_table_stream.h.
 *
 * A value that has a label is that label; missing values, declared ones too, are empty cells; dates and times are ISO
 * texts. The file is read twice: first variables and labels, which some forms keep at their end, then the rows. Memory:
 * the labels and the whole text (ReadStat calls back and cannot wait); ReadStat's own memory is not counted.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <readstat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "kn_alloc.h"
#include "kn_arena.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_memory.h"
#include "kn_number_text.h"
#include "kn_table_stream.h"

enum { ROOM = 40 };

typedef enum unit { PLAIN, DAYS, SECONDS, MILLISECONDS, DATES } unit; /* dates: seconds, without a time of day */

typedef struct label {
    const char *set, *text;
    const char *string; /* the value, or: */
    double      number;
    char        tag; /* of a missing value; '\0': none */
} label;

typedef struct variable {
    const char *name, *label, *set; /* set: of labels; NULL: none */
    unit        unit;
    int64_t     epoch; /* days from 1970 to its day 0 */
} variable;

typedef struct statistics {
    kn_context *ctx;
    char       *name;
    kn_arena    arena;
    label      *labels;
    size_t      label_count, label_capacity;
    variable   *variables;
    size_t      variable_count, variable_capacity;
    kn_csv_rows csv;
    kn_buffer   text; /* all rows */
    kn_status   status;
    kn_error   *err;
} statistics;

typedef readstat_error_t (*parse_fn)(readstat_parser_t *, const char *, void *);

static const struct {
    const char *ending;
    parse_fn    parse;
} forms[] = {{".sav", readstat_parse_sav}, {".zsav", readstat_parse_sav},  {".por", readstat_parse_por},
             {".dta", readstat_parse_dta}, {".xpt", readstat_parse_xport}, {".sas7bdat", readstat_parse_sas7bdat}};

static int stop(statistics *s, kn_status status)
{
    if (s->status == KN_OK) s->status = status;
    return READSTAT_HANDLER_ABORT;
}

static int no_memory(statistics *s)
{
    return stop(s, kn_fail_memory(s->err, s->ctx, s->name));
}

/* ---- What it declares ---- */

/* Days from 1970: SPSS counts seconds from 14 October 1582, Stata and SAS days, seconds or milliseconds from 1960. */
static void find_unit(variable *v, const char *format)
{
    static const struct {
        const char *begins;
        unit        unit;
    } known[] = {{"%td", DAYS},         {"%d", DAYS},         {"%tc", MILLISECONDS}, {"%tC", MILLISECONDS},
                 {"DATETIME", SECONDS}, {"E8601DT", SECONDS}, {"YMDHMS", SECONDS},   {"DATE", DAYS},
                 {"ADATE", DAYS},       {"EDATE", DAYS},      {"SDATE", DAYS},       {"JDATE", DAYS},
                 {"MMDDYY", DAYS},      {"DDMMYY", DAYS},     {"YYMMDD", DAYS},      {"E8601DA", DAYS}};
    v->epoch = -3653;
    for (size_t i = 0; format && i < sizeof known / sizeof *known; i++)
        if (strncmp(format, known[i].begins, strlen(known[i].begins)) == 0) {
            v->unit = known[i].unit;
            return;
        }
}

static int on_variable(int index, readstat_variable_t *from, const char *labels, void *state)
{
    statistics *s = state;
    void       *list = s->variables;
    const char *name = readstat_variable_get_name(from), *says = readstat_variable_get_label(from);
    bool        text = readstat_variable_get_type_class(from) == READSTAT_TYPE_CLASS_STRING;
    (void)index;
    if (!kn_grow(s->ctx, &list, &s->variable_capacity, s->variable_count + 1, sizeof *s->variables))
        return no_memory(s);
    s->variables = list;
    variable *v = &s->variables[s->variable_count++];
    *v = (variable){.name = kn_arena_strndup(&s->arena, name ? name : "", name ? strlen(name) : 0)};
    if (says) v->label = kn_arena_strndup(&s->arena, says, strlen(says));
    if (labels) v->set = kn_arena_strndup(&s->arena, labels, strlen(labels));
    if (!text) find_unit(v, readstat_variable_get_format(from));
    return v->name && (!says || v->label) && (!labels || v->set) ? READSTAT_HANDLER_OK : no_memory(s);
}

static int on_label(const char *set, readstat_value_t value, const char *text, void *state)
{
    statistics *s = state;
    void       *list = s->labels;
    if (!kn_grow(s->ctx, &list, &s->label_capacity, s->label_count + 1, sizeof *s->labels)) return no_memory(s);
    s->labels = list;
    label *l = &s->labels[s->label_count++];
    *l = (label){.set = kn_arena_strndup(&s->arena, set, strlen(set)),
                 .text = kn_arena_strndup(&s->arena, text, strlen(text))};
    bool string = readstat_value_type(value) == READSTAT_TYPE_STRING;
    if (string) {
        const char *is = readstat_string_value(value);
        l->string = kn_arena_strndup(&s->arena, is ? is : "", is ? strlen(is) : 0);
    } else {
        l->number = readstat_double_value(value);
        if (readstat_value_is_tagged_missing(value)) l->tag = readstat_value_tag(value);
    }
    return l->set && l->text && (!string || l->string) ? READSTAT_HANDLER_OK : no_memory(s);
}

/* ---- Rows ---- */

static const char *label_of(const statistics *s, const variable *v, readstat_value_t value)
{
    bool        string = readstat_value_type(value) == READSTAT_TYPE_STRING;
    const char *is = string ? readstat_string_value(value) : NULL;
    for (size_t i = 0; v->set && i < s->label_count; i++) {
        const label *l = &s->labels[i];
        if (strcmp(l->set, v->set) != 0 || string != (l->string != NULL)) continue;
        if (string ? is && strcmp(is, l->string) == 0 : readstat_double_value(value) == l->number) return l->text;
    }
    return NULL;
}

/* A date's number in seconds, whatever it counts. */
static double seconds_of(const variable *v, double value)
{
    return v->unit == DAYS ? value * 86400 : v->unit == MILLISECONDS ? value / 1000 : value;
}

static size_t date_text(const variable *v, double seconds, char room[ROOM])
{
    long long all = llround(floor(seconds)) + v->epoch * 86400, day = all / 86400 - (all % 86400 < 0);
    int       rest = (int)(all - day * 86400);
    long long z = day + 719468, era = (z >= 0 ? z : z - 146096) / 146097;
    unsigned  doe = (unsigned)(z - era * 146097), yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    unsigned  doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
    unsigned  d = doy - (153 * mp + 2) / 5 + 1, m = mp < 10 ? mp + 3 : mp - 9;
    int       size = snprintf(room, ROOM, "%04lld-%02u-%02u", (long long)yoe + era * 400 + (m <= 2), m, d);
    if (v->unit != DAYS && v->unit != DATES)
        size += snprintf(room + size, (size_t)(ROOM - size), " %02d:%02d:%02d", rest / 3600, rest / 60 % 60, rest % 60);
    return (size_t)size;
}

static int on_value(int row, readstat_variable_t *from, readstat_value_t value, void *state)
{
    statistics *s = state;
    size_t      index = (size_t)readstat_variable_get_index(from);
    char        room[ROOM];
    kn_string   text = {"", 0};
    if (index >= s->variable_count || (int)index != s->csv.column)
        return stop(s, kn_fail(s->err, KN_INPUT, "%s: row %d lacks a cell", s->name, row + 1));
    if (index == 0 && row % 4096 == 0 && kn_cancelled(s->ctx)) return stop(s, kn_fail_cancelled(s->err));
    const variable *v = &s->variables[index];
    bool            missing = readstat_value_is_missing(value, from);
    const char     *named = missing ? NULL : label_of(s, v, value);
    if (named) {
        text = kn_string_of(named);
    } else if (!missing && readstat_value_type(value) == READSTAT_TYPE_STRING) {
        const char *is = readstat_string_value(value);
        text = kn_string_of(is ? is : "");
    } else if (!missing) {
        double number = readstat_double_value(value), seconds = seconds_of(v, number);
        bool   dated = v->unit != PLAIN && fabs(seconds) < 4e14; /* millions of years */
        text = (kn_string){room, dated ? date_text(v, seconds, room) : kn_real_text(number, room).size};
    }
    kn_status status = kn_csv_rows_cell(&s->csv, text, s->err);
    return status == KN_OK ? READSTAT_HANDLER_OK : stop(s, status);
}

/* ---- The file ---- */

/* SPSS counts its dates in seconds from its own day, whatever their format. */
static void settle_units(statistics *s, bool spss)
{
    for (size_t i = 0; spss && i < s->variable_count; i++) {
        s->variables[i].epoch = -141428;
        if (s->variables[i].unit == DAYS) s->variables[i].unit = DATES;
    }
}

/* Without a handler ReadStat makes no variables, which values refer to. */
static int pass_over(int index, readstat_variable_t *from, const char *labels, void *state)
{
    (void)index;
    (void)from;
    (void)labels;
    (void)state;
    return READSTAT_HANDLER_OK;
}

static kn_status parse(statistics *s, parse_fn fn, const char *path, bool rows, kn_error *err)
{
    readstat_parser_t *parser = readstat_parser_init();
    s->err = err;
    if (!parser) return kn_fail_memory(err, s->ctx, s->name);
    if (rows) (void)readstat_set_value_handler(parser, on_value);
    (void)readstat_set_variable_handler(parser, rows ? pass_over : on_variable);
    if (!rows) (void)readstat_set_value_label_handler(parser, on_label);
    readstat_error_t error = fn(parser, path, s);
    readstat_parser_free(parser);
    if (s->status != KN_OK) return s->status;
    if (error == READSTAT_OK) return KN_OK;
    if (error == READSTAT_ERROR_MALLOC) return kn_fail_memory(err, s->ctx, s->name);
    return kn_fail(err, KN_INPUT, "%s: %s", s->name,
                   error == READSTAT_ERROR_OPEN ? "cannot be opened" : readstat_error_message(error));
}

static parse_fn form_of(const char *name)
{
    parse_fn fn = NULL;
    size_t   size = strlen(name);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        size_t n = strlen(forms[i].ending);
        if (size > n && strcasecmp(name + size - n, forms[i].ending) == 0) fn = forms[i].parse;
    }
    return fn;
}

static kn_status read_file(statistics *s, kn_error *err)
{
    parse_fn    fn = form_of(s->name);
    const char *path = kn_memory_path(s->ctx, s->name);
    KN_TRY(parse(s, fn, path, false, err));
    settle_units(s, fn == readstat_parse_sav || fn == readstat_parse_por);
    if (s->variable_count == 0) return kn_fail(err, KN_INPUT, "%s: it has no variables", s->name);
    s->csv = (kn_csv_rows){.ctx = s->ctx, .source = s->name, .to = &s->text, .columns = (int)s->variable_count};
    for (size_t i = 0; i < s->variable_count; i++)
        KN_TRY(kn_csv_rows_cell(&s->csv, kn_string_of(s->variables[i].name), err));
    return parse(s, fn, path, true, err);
}

static void close_file(void *state)
{
    statistics *s = state;
    kn_arena_free(&s->arena);
    kn_buffer_free(&s->text);
    KN_FREE(s->labels, s->variables, s->name, s);
}

static kn_status more(void *state, kn_buffer *to, bool *ended, kn_error *err)
{
    statistics *s = state;
    kn_buffer   made = *to;
    (void)err;
    *to = s->text; /* all of it, moved */
    s->text = made;
    *ended = true;
    return KN_OK;
}

static kn_status begin(statistics **out, kn_context *ctx, const char *name, kn_error *err)
{
    statistics *s = kn_alloc_zero(ctx, sizeof *s);
    if (!s) return kn_fail_memory(err, ctx, name);
    s->ctx = ctx;
    kn_arena_init(&s->arena, ctx);
    kn_buffer_init(&s->text, ctx);
    s->name = kn_strndup(ctx, name, strlen(name));
    *out = s;
    if (s->name) return KN_OK;
    close_file(s);
    return kn_fail_memory(err, ctx, name);
}

kn_status kn_statistics_stream(kn_table_stream *out, kn_context *ctx, const char *name, kn_error *err)
{
    statistics *s = NULL;
    KN_TRY(begin(&s, ctx, name, err));
    kn_status status = read_file(s, err);
    if (status == KN_OK)
        *out = (kn_table_stream){s, s->name, more, close_file};
    else
        close_file(s);
    return status;
}

/* ---- Its labels ---- */

static kn_status put_label(kn_csv_rows *to, const statistics *s, const variable *v, kn_string code, const char *text,
                           kn_error *err)
{
    KN_TRY(kn_csv_rows_cell(to, kn_string_of(s->name), err));
    KN_TRY(kn_csv_rows_cell(to, kn_string_of(v->name), err));
    KN_TRY(kn_csv_rows_cell(to, code, err));
    return kn_csv_rows_cell(to, kn_string_of(text), err);
}

static kn_status put_labels(kn_csv_rows *to, const statistics *s, const variable *v, kn_error *err)
{
    char room[ROOM];
    if (v->label && *v->label) KN_TRY(put_label(to, s, v, (kn_string){NULL, 0}, v->label, err));
    for (size_t i = 0; v->set && i < s->label_count; i++) {
        const label *l = &s->labels[i];
        if (strcmp(l->set, v->set) != 0) continue;
        kn_string code = {room, 0};
        if (l->string)
            code = kn_string_of(l->string);
        else if (l->tag)
            code.size = (size_t)snprintf(room, ROOM, ".%c", l->tag);
        else
            code.size = v->unit != PLAIN && isfinite(l->number) && fabs(l->number) < 4e14
                            ? date_text(v, l->number, room)
                            : kn_real_text(l->number, room).size;
        KN_TRY(put_label(to, s, v, code, l->text, err));
    }
    return KN_OK;
}

kn_status kn_statistics_labels(kn_csv_rows *to, const char *name, kn_error *err)
{
    statistics *s = NULL;
    parse_fn    fn = form_of(name);
    KN_TRY(begin(&s, to->ctx, name, err));
    kn_status status = parse(s, fn, kn_memory_path(s->ctx, name), false, err);
    settle_units(s, fn == readstat_parse_sav || fn == readstat_parse_por);
    for (size_t i = 0; status == KN_OK && i < s->variable_count; i++) status = put_labels(to, s, &s->variables[i], err);
    close_file(s);
    return status;
}
