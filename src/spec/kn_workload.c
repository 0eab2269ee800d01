/* kn_workload.c: workload files → queries (kanon/workload.h; the grammar is in kn_workload.h).
 *
 * A hand-written scanner and one function per rule. Messages say where and what was expected, but never quote the
 * text: somebody may have named a file of data by mistake.
 *
 * Cost: linear in the text. Memory: the text and the queries.
 * Limits: 16 MiB of text, 100,000 queries, 256 predicates per query.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_workload.h"

#include <math.h>
#include <stdlib.h>

#include "kn_alloc.h"
#include "kn_arena.h"
#include "kn_buffer.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_source.h"
#include "kn_utf8.h"
#include "kn_value.h"

#define WHAT "reading a workload"

enum { MOST_BYTES = 1 << 24, MOST_QUERIES = 100000, MOST_PREDICATES = 256 };

/* The workload with what it points to. */
typedef struct whole {
    kn_workload workload;
    kn_arena    arena;
} whole;

typedef struct parser {
    kn_context  *ctx;
    whole       *w;
    const char  *name;
    kn_words     words;
    kn_word      word; /* the current word */
    kn_query    *queries;
    size_t       query_count, query_capacity;
    kn_predicate predicates[MOST_PREDICATES];
    kn_literal  *literals;
    size_t       literal_count, literal_capacity;
    kn_buffer    line; /* the current query in one line */
    kn_error    *err;
} parser;

void kn_workload_free(kn_workload *workload)
{
    if (!workload) return;
    whole *w = (whole *)workload;
    kn_arena_free(&w->arena);
    kn_free(w);
}

/* ---- Words ---- */

static int peek(const kn_words *w, size_t ahead)
{
    return ahead < w->text.size - w->at ? (unsigned char)w->text.data[w->at + ahead] : -1;
}

static void step(kn_words *w)
{
    unsigned char c = (unsigned char)w->text.data[w->at++];
    if (c == '\n') {
        w->line++;
        w->column = 1;
    } else if ((c & 0xC0) != 0x80)
        w->column++;
}

static bool begins_name(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80;
}

static void skip_blanks(kn_words *w)
{
    for (;;) {
        int c = peek(w, 0);
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
            step(w);
        else if (c == '-' && peek(w, 1) == '-')
            while (peek(w, 0) >= 0 && peek(w, 0) != '\n') step(w);
        else
            return;
    }
}

static kn_word_kind scan_quoted(kn_words *w, int quote)
{
    for (step(w);; step(w)) {
        int c = peek(w, 0);
        if (c < 0) return KN_WORD_BAD;
        if (c != quote) continue;
        step(w);
        if (peek(w, 0) != quote) return quote == '"' ? KN_WORD_QUOTED : KN_WORD_TEXT;
    }
}

static kn_word_kind scan_number(kn_words *w)
{
    size_t digits = 0;
    if (peek(w, 0) == '-' || peek(w, 0) == '+') step(w);
    for (; kn_is_digit(peek(w, 0)); digits++) step(w);
    if (peek(w, 0) == '.')
        for (step(w); kn_is_digit(peek(w, 0)); digits++) step(w);
    if (digits == 0) return KN_WORD_BAD;
    if (peek(w, 0) == 'e' || peek(w, 0) == 'E') {
        size_t sign = peek(w, 1) == '-' || peek(w, 1) == '+';
        if (!kn_is_digit(peek(w, 1 + sign))) return KN_WORD_BAD;
        for (size_t i = 0; i <= sign; i++) step(w);
        while (kn_is_digit(peek(w, 0))) step(w);
    }
    return begins_name(peek(w, 0)) ? KN_WORD_BAD : KN_WORD_NUMBER;
}

static kn_word_kind scan_name(kn_words *w)
{
    for (;;) {
        int c = peek(w, 0);
        if (!begins_name(c) && !kn_is_digit(c) && c != '.' && !(c == '-' && peek(w, 1) != '-')) return KN_WORD_NAME;
        step(w);
    }
}

static kn_word_kind scan_sign(kn_words *w)
{
    int c = peek(w, 0), next = peek(w, 1);
    if (c < 0x20 || !strchr("(),;*=<>!", c)) return KN_WORD_BAD;
    if (c == '!' && next != '=') return KN_WORD_BAD;
    step(w);
    if ((c == '<' && (next == '=' || next == '>')) || ((c == '>' || c == '!') && next == '=')) step(w);
    return KN_WORD_SIGN;
}

/* KN_WORD_END at the end, again and again. */
static kn_word next_word(kn_words *w)
{
    skip_blanks(w);
    kn_word word = {.begin = w->at, .line = w->line, .column = w->column};
    int     c = peek(w, 0);
    if (c < 0)
        word.kind = KN_WORD_END;
    else if (c == '"' || c == '\'')
        word.kind = scan_quoted(w, c);
    else if (kn_is_digit(c) || c == '-' || c == '+' || c == '.')
        word.kind = scan_number(w);
    else
        word.kind = begins_name(c) ? scan_name(w) : scan_sign(w);
    word.end = w->at;
    size_t quote = word.kind == KN_WORD_QUOTED || word.kind == KN_WORD_TEXT;
    word.text = (kn_string){w->text.data + word.begin + quote, word.end - word.begin - 2 * quote};
    return word;
}

static bool is_keyword(const kn_word *word, const char *keyword)
{
    if (word->kind != KN_WORD_NAME || word->text.size != strlen(keyword)) return false;
    for (size_t i = 0; i < word->text.size; i++) {
        char c = word->text.data[i];
        if ((c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c) != keyword[i]) return false;
    }
    return true;
}

static bool is_reserved(const kn_word *word)
{
    static const char *const reserved[] = {"SELECT", "FROM",    "WHERE", "AND", "OR",
                                           "NOT",    "BETWEEN", "IN",    "IS",  "NULL"};
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        if (is_keyword(word, reserved[i])) return true;
    return false;
}

static bool is_sign(const kn_word *word, const char *sign)
{
    return word->kind == KN_WORD_SIGN && kn_string_equal(word->text, kn_string_of(sign));
}

/* ---- Rules ---- */

static kn_status expected(parser *p, const char *what)
{
    const char *found = p->word.kind == KN_WORD_END ? ", the file ends here" : "";
    return kn_fail_at(p->err, KN_INPUT, p->name, p->word.line, p->word.column, "expected %s%s", what, found);
}

/* Adds the current word to the query's line and moves on. */
static void advance(parser *p)
{
    static const char *const close[] = {")", ",", ";"};
    bool tight = p->line.size == 0 || p->line.data[p->line.size - 1] == '(' || is_sign(&p->word, "(");
    for (size_t i = 0; i < 3; i++) tight |= is_sign(&p->word, close[i]);
    /* A blank before the parenthesis of IN (, none in COUNT(. */
    if (is_sign(&p->word, "(") && p->line.size >= 3 && (p->line.data[p->line.size - 1] | 0x20) == 'n' &&
        (p->line.data[p->line.size - 2] | 0x20) == 'i' && p->line.data[p->line.size - 3] == ' ')
        tight = false;
    if (!tight) kn_buffer_char(&p->line, ' ');
    kn_buffer_append(&p->line, p->words.text.data + p->word.begin, p->word.end - p->word.begin);
    p->word = next_word(&p->words);
}

static kn_status take_keyword(parser *p, const char *keyword)
{
    if (!is_keyword(&p->word, keyword)) return expected(p, keyword);
    advance(p);
    return KN_OK;
}

static kn_status take_sign(parser *p, const char *sign, const char *what)
{
    if (!is_sign(&p->word, sign)) return expected(p, what);
    advance(p);
    return KN_OK;
}

/* A copy with doubled quotes undone. */
static const char *unquote(parser *p, const kn_word *word)
{
    char   quote = word->kind == KN_WORD_QUOTED ? '"' : '\'';
    bool   quoted = word->kind == KN_WORD_QUOTED || word->kind == KN_WORD_TEXT;
    char  *copy = kn_arena_bytes(&p->w->arena, word->text.size + 1);
    size_t size = 0;
    if (!copy) return NULL;
    for (size_t i = 0; i < word->text.size; i++) {
        copy[size++] = word->text.data[i];
        if (quoted && word->text.data[i] == quote) i++;
    }
    copy[size] = '\0';
    return copy;
}

static kn_status take_name(parser *p, const char **out, const char *what)
{
    bool bare = p->word.kind == KN_WORD_NAME && !is_reserved(&p->word);
    if (!bare && p->word.kind != KN_WORD_QUOTED) return expected(p, what);
    *out = unquote(p, &p->word);
    if (!*out) return kn_fail_memory(p->err, p->ctx, WHAT);
    advance(p);
    return KN_OK;
}

static kn_status take_value(parser *p)
{
    kn_literal literal = {NULL, p->word.line, p->word.column};
    if (p->word.kind != KN_WORD_TEXT && p->word.kind != KN_WORD_NUMBER)
        return expected(p, "a value: a number or 'text'");
    literal.text = unquote(p, &p->word);
    if (!literal.text || !KN_GROW(p->ctx, &p->literals, &p->literal_capacity, p->literal_count + 1))
        return kn_fail_memory(p->err, p->ctx, WHAT);
    p->literals[p->literal_count++] = literal;
    advance(p);
    return KN_OK;
}

static kn_status take_comparison(parser *p, kn_predicate *predicate)
{
    static const struct {
        const char   *sign;
        kn_comparison comparison;
    } signs[] = {{"=", KN_COMPARE_EQUAL},    {"<>", KN_COMPARE_UNEQUAL}, {"!=", KN_COMPARE_UNEQUAL},
                 {"<", KN_COMPARE_LESS},     {"<=", KN_COMPARE_AT_MOST}, {">", KN_COMPARE_GREATER},
                 {">=", KN_COMPARE_AT_LEAST}};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        if (!is_sign(&p->word, signs[i].sign)) continue;
        predicate->comparison = signs[i].comparison;
        advance(p);
        return take_value(p);
    }
    return expected(p, "a comparison: = <> < <= > >=, [NOT] BETWEEN, [NOT] IN or IS [NOT] NULL");
}

static kn_status take_list(parser *p)
{
    KN_TRY(take_sign(p, "(", "( after IN"));
    KN_TRY(take_value(p));
    while (is_sign(&p->word, ",")) {
        advance(p);
        KN_TRY(take_value(p));
    }
    return take_sign(p, ")", ", or )");
}

static kn_status take_condition(parser *p, kn_predicate *predicate)
{
    if (is_keyword(&p->word, "IS")) {
        advance(p);
        predicate->comparison = KN_COMPARE_NULL;
        predicate->negated = is_keyword(&p->word, "NOT");
        if (predicate->negated) advance(p);
        return take_keyword(p, "NULL");
    }
    predicate->negated = is_keyword(&p->word, "NOT");
    if (predicate->negated) advance(p);
    if (is_keyword(&p->word, "BETWEEN")) {
        advance(p);
        predicate->comparison = KN_COMPARE_BETWEEN;
        KN_TRY(take_value(p));
        KN_TRY(take_keyword(p, "AND"));
        return take_value(p);
    }
    if (is_keyword(&p->word, "IN")) {
        advance(p);
        predicate->comparison = KN_COMPARE_IN;
        return take_list(p);
    }
    if (predicate->negated) return expected(p, "BETWEEN or IN after NOT");
    return take_comparison(p, predicate);
}

static kn_status take_predicate(parser *p, kn_predicate *predicate)
{
    *predicate = (kn_predicate){.line = p->word.line, .column = p->word.column};
    p->literal_count = 0;
    KN_TRY(take_name(p, &predicate->attribute, "the name of a column (in double quotes if it is a keyword)"));
    KN_TRY(take_condition(p, predicate));
    if (p->literal_count == 0) return KN_OK;
    kn_literal *values = kn_arena_alloc(&p->w->arena, p->literal_count * sizeof *values);
    if (!values) return kn_fail_memory(p->err, p->ctx, WHAT);
    memcpy(values, p->literals, p->literal_count * sizeof *values);
    predicate->values = values;
    predicate->value_count = (int)p->literal_count;
    return KN_OK;
}

static kn_status take_predicates(parser *p, kn_query *query)
{
    size_t count = 0;
    do {
        if (count == MOST_PREDICATES) return expected(p, "no more than 256 predicates");
        advance(p); /* WHERE or AND */
        KN_TRY(take_predicate(p, &p->predicates[count++]));
    } while (is_keyword(&p->word, "AND"));
    if (is_keyword(&p->word, "OR"))
        return kn_fail_at(p->err, KN_INPUT, p->name, p->word.line, p->word.column,
                          "OR is not supported: predicates are joined by AND; for one column use IN");
    kn_predicate *predicates = kn_arena_alloc(&p->w->arena, count * sizeof *predicates);
    if (!predicates) return kn_fail_memory(p->err, p->ctx, WHAT);
    memcpy(predicates, p->predicates, count * sizeof *predicates);
    query->predicates = predicates;
    query->predicate_count = (int)count;
    return KN_OK;
}

static kn_status take_aggregate(parser *p, kn_query *query)
{
    int a = 0;
    while (a < KN_AGGREGATES && !is_keyword(&p->word, kn_aggregate_name((kn_aggregate)a))) a++;
    if (a == KN_AGGREGATES) return expected(p, "COUNT(*), SUM, AVG, MIN or MAX");
    query->aggregate = (kn_aggregate)a;
    advance(p);
    KN_TRY(take_sign(p, "(", "("));
    query->attribute_line = p->word.line;
    query->attribute_column = p->word.column;
    if (query->aggregate == KN_AGGREGATE_COUNT)
        KN_TRY(take_sign(p, "*", "* in COUNT(*)"));
    else
        KN_TRY(take_name(p, &query->attribute, "the name of a column"));
    return take_sign(p, ")", ")");
}

static kn_status take_weight(parser *p, kn_query *query)
{
    kn_decimal number;
    query->weight = 1;
    if (p->word.kind != KN_WORD_NUMBER) return KN_OK;
    bool fine = kn_parse_declared_decimal(p->word.text, '.', &number);
    if (!fine || number.nearest <= 0) return expected(p, "a weight above 0");
    query->weight = number.nearest;
    p->word = next_word(&p->words);
    return KN_OK;
}

static kn_status take_query(parser *p)
{
    kn_query query = {0};
    if (p->query_count == MOST_QUERIES) return expected(p, "no more than 100,000 queries");
    KN_TRY(take_weight(p, &query));
    kn_buffer_clear(&p->line);
    query.line = p->word.line;
    query.column = p->word.column;
    KN_TRY(take_keyword(p, "SELECT"));
    KN_TRY(take_aggregate(p, &query));
    if (is_keyword(&p->word, "FROM")) {
        const char *table;
        advance(p);
        KN_TRY(take_name(p, &table, "a name of the table: any will do"));
    }
    if (is_keyword(&p->word, "WHERE")) KN_TRY(take_predicates(p, &query));
    if (p->word.kind != KN_WORD_END && !is_sign(&p->word, ";"))
        return expected(p, query.predicate_count ? "AND or ;" : "WHERE or ;");
    const char *line = kn_buffer_text(&p->line);
    query.text = line ? kn_arena_strndup(&p->w->arena, line, p->line.size) : NULL;
    if (!query.text || !KN_GROW(p->ctx, &p->queries, &p->query_capacity, p->query_count + 1))
        return kn_fail_memory(p->err, p->ctx, WHAT);
    p->queries[p->query_count++] = query;
    while (is_sign(&p->word, ";")) p->word = next_word(&p->words);
    return KN_OK;
}

static kn_status parse_all(parser *p)
{
    size_t bad = kn_utf8_check(p->words.text.data, p->words.text.size);
    if (bad < p->words.text.size) {
        while (p->words.at < bad) step(&p->words);
        return kn_fail_at(p->err, KN_INPUT, p->name, p->words.line, p->words.column, "not UTF-8 text");
    }
    p->word = next_word(&p->words);
    while (is_sign(&p->word, ";")) p->word = next_word(&p->words);
    while (p->word.kind != KN_WORD_END) KN_TRY(take_query(p));
    if (p->query_count == 0) return kn_fail(p->err, KN_INPUT, "%s: it holds no query", p->name);
    kn_query *queries = kn_arena_alloc(&p->w->arena, p->query_count * sizeof *queries);
    if (!queries) return kn_fail_memory(p->err, p->ctx, WHAT);
    memcpy(queries, p->queries, p->query_count * sizeof *queries);
    p->w->workload.queries = queries;
    p->w->workload.query_count = (int)p->query_count;
    p->w->workload.path = kn_arena_strndup(&p->w->arena, p->name, strlen(p->name));
    return p->w->workload.path ? KN_OK : kn_fail_memory(p->err, p->ctx, WHAT);
}

kn_status kn_workload_parse(kn_workload **out, kn_context *ctx, const char *name, const char *text, size_t size,
                            kn_error *err)
{
    *out = NULL;
    KN_SERVE(ctx, err);
    if (size > MOST_BYTES) return kn_fail(err, KN_INPUT, "%s: a workload has at most 16 MiB", name);
    if (size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
        text += 3;
        size -= 3;
    }
    if (size == 0) text = "";
    whole  *w = kn_alloc_zero(ctx, sizeof *w);
    parser *p = kn_alloc_zero(ctx, sizeof *p);
    if (!w || !p) {
        KN_FREE(w, p);
        return kn_fail_memory(err, ctx, WHAT);
    }
    kn_arena_init(&w->arena, ctx);
    *p = (parser){.ctx = ctx, .w = w, .name = name, .words = {{text, size}, 0, 1, 1}, .err = err};
    kn_buffer_init(&p->line, ctx);
    kn_status st = parse_all(p);
    kn_buffer_free(&p->line);
    KN_FREE(p->queries, p->literals, p);
    if (st == KN_OK)
        *out = &w->workload;
    else
        kn_workload_free(&w->workload);
    return st;
}

kn_status kn_workload_read(kn_workload **out, kn_context *ctx, const char *path, kn_error *err)
{
    *out = NULL;
    KN_SERVE(ctx, err);
    kn_source *source = NULL;
    kn_buffer  text;
    KN_TRY(kn_source_open(&source, ctx, path, err));
    kn_buffer_init(&text, ctx);
    kn_status st = kn_source_read_all(source, &text, MOST_BYTES, err);
    if (st == KN_OK) st = kn_workload_parse(out, ctx, kn_source_name(source), text.data, text.size, err);
    kn_buffer_free(&text);
    kn_source_free(source);
    return st;
}
