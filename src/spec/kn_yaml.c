/* kn_yaml.c: libfyaml's events → a tree in an arena.
 *
 * JSON is read as YAML. libfyaml gives events, not a document: so limits, anchors, tags and repeated keys are checked
 * while reading, every node keeps its place, and nothing of the library outlives the call. Its messages are
 * collected, never printed. It skips bytes that are not UTF-8 and stops at a NUL byte, so both are refused before.
 * Its memory comes from malloc and is not counted; check_signs bounds it.
 *
 * Messages do not quote the text: somebody may have named a file of data by mistake.
 *
 * Cost: linear in the text, n log n in the keys of a mapping.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_yaml.h"

#include <libfyaml.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_error.h"
#include "kn_string.h"
#include "kn_utf8.h"
#include "kn_yaml_quoted.h"

typedef struct reader {
    kn_arena             *arena;
    const kn_yaml_origin *origin;
    const char           *text;
    size_t                size;
    kn_error             *err;
    struct fy_parser     *parser;
    struct fy_diag       *diag;
    /* The place of a byte, found by walking from the previous one. */
    size_t  at;
    int64_t line, column;
    /* The tree so far. */
    kn_yaml *root;
    kn_yaml *open[KN_YAML_DEEPEST]; /* lists and mappings around the next node */
    kn_yaml *key[KN_YAML_DEEPEST];  /* of such a mapping: waits for its value  */
    int      depth;
    size_t   nodes;
    int      documents;
} reader;

/* ---- Places and failures ---- */

KN_PRINTF(5, 0)
static kn_status fail_at(const kn_yaml_origin *origin, int64_t line, int64_t column, kn_error *err, const char *format,
                         va_list args)
{
    char message[700];
    (void)vsnprintf(message, sizeof message, format, args);
    if (origin->option && line == 1 && column == 1) line = column = 0;
    return kn_fail_at(err, origin->status, origin->name, line, column, "%s", message);
}

kn_status kn_yaml_fail(const kn_yaml_origin *origin, const kn_yaml *node, kn_error *err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    kn_status status = fail_at(origin, node->line, node->column, err, format, args);
    va_end(args);
    return status;
}

/* Moves the place to a byte. Lines end with LF, CRLF or CR. */
static void walk(reader *r, size_t to)
{
    if (to > r->size) to = r->size;
    if (to < r->at) {
        r->at = 0;
        r->line = r->column = 1;
    }
    for (; r->at < to; r->at++) {
        char c = r->text[r->at];
        bool cr_of_crlf = c == '\r' && r->at + 1 < r->size && r->text[r->at + 1] == '\n';
        if (c == '\n' || (c == '\r' && !cr_of_crlf)) {
            r->line++;
            r->column = 1;
        } else if (((unsigned char)c & 0xC0) != 0x80) {
            r->column++;
        }
    }
}

KN_PRINTF(3, 4)
static kn_status fail_byte(reader *r, size_t byte, const char *format, ...)
{
    va_list args;
    walk(r, byte);
    va_start(args, format);
    kn_status status = fail_at(r->origin, r->line, r->column, r->err, format, args);
    va_end(args);
    return status;
}

/* libfyaml's messages → ours. Others stay, unless they quote more than one character of the text. */
static const struct {
    const char *its, *ours;
    bool        quote; /* the place is that of the quote before */
} words[] = {
    {"flow sequence without a closing bracket", "a '[' is never closed", false},
    {"flow mapping without a closing brace", "a '{' is never closed", false},
    {"double-quoted scalar without closing quote", "this quote is never closed", true},
    {"single-quoted scalar without closing quote", "this quote is never closed", true},
    {"invalid nested block mapping on the same line", "a text with ': ' in it is written in quotes", false},
    {"invalid multiline plain key", "the line after this value is indented wrongly", false},
    {"invalid tab as indendation in a mapping", "lines are indented with blanks, not with tabs", false},
    {"did not find expected node content", "a value is expected here", false},
    {"stream with directives without content", "it is empty", false},
};

static kn_status fail_words(reader *r, size_t byte, const char *message)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (message && strcmp(message, words[i].its) == 0)
            return fail_byte(r, byte - (words[i].quote && byte > 0), "not YAML or JSON: %s", words[i].ours);
    const char *quote = message ? strchr(message, '\'') : NULL;
    if (!message || !*message || (quote && strlen(quote) > 2 && quote[2] != '\'')) message = "this cannot be read";
    return fail_byte(r, byte, "not YAML or JSON: %s", message);
}

/* The first error that libfyaml collected. */
static kn_status fail_parser(reader *r)
{
    void                 *iterator = NULL;
    struct fy_diag_error *error;
    while ((error = fy_diag_errors_iterate(r->diag, &iterator)) != NULL) {
        if (error->type < FYET_ERROR) continue;
        const struct fy_mark *mark = error->fyt ? fy_token_start_mark(error->fyt) : NULL;
        return fail_words(r, mark ? mark->input_pos : r->at, error->msg);
    }
    return fail_words(r, r->at, NULL);
}

/* ---- The tree ---- */

void kn_yaml_append(kn_yaml *parent, kn_yaml *child)
{
    if (parent->last)
        parent->last->next = child;
    else
        parent->first = child;
    parent->last = child;
    parent->count++;
}

kn_yaml *kn_yaml_text(kn_arena *arena, const char *text)
{
    kn_yaml *node = kn_arena_alloc(arena, sizeof *node);
    if (!node) return NULL;
    *node = (kn_yaml){.kind = KN_YAML_TEXT, .size = strlen(text), .line = 1, .column = 1};
    node->text = kn_arena_strndup(arena, text, node->size);
    return node->text ? node : NULL;
}

static int compare_keys(const void *a, const void *b)
{
    const kn_yaml *x = *(const kn_yaml *const *)a, *y = *(const kn_yaml *const *)b;
    int            c = kn_string_compare((kn_string){x->text, x->size}, (kn_string){y->text, y->size});
    if (c) return c;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    return x->column < y->column ? -1 : x->column > y->column;
}

/* Does a key occur twice? The first repetition in the text is reported. */
static kn_status check_keys(reader *r, const kn_yaml *map)
{
    if (map->count < 2) return KN_OK;
    const kn_yaml **keys = kn_arena_alloc(r->arena, map->count * sizeof *keys);
    if (!keys) return kn_fail_memory(r->err, r->arena->ctx, r->origin->name);
    size_t n = 0;
    for (const kn_yaml *k = map->first; k; k = k->next) keys[n++] = k;
    qsort(keys, n, sizeof *keys, compare_keys);
    const kn_yaml *second = NULL, *first = NULL;
    for (size_t i = 1; i < n; i++) {
        if (keys[i]->size != keys[i - 1]->size || strcmp(keys[i]->text, keys[i - 1]->text) != 0) continue;
        if (second &&
            (keys[i]->line > second->line || (keys[i]->line == second->line && keys[i]->column > second->column)))
            continue;
        first = keys[i - 1];
        second = keys[i];
    }
    if (!second) return KN_OK;
    return kn_yaml_fail(r->origin, second, r->err, "this key is used twice (first in line %lld, column %lld)",
                        (long long)first->line, (long long)first->column);
}

/* Adds a finished or opened node to the one around it. */
static kn_status hang(reader *r, kn_yaml *node)
{
    if (r->depth == 0) {
        r->root = node;
        return KN_OK;
    }
    kn_yaml *around = r->open[r->depth - 1], **key = &r->key[r->depth - 1];
    if (around->kind == KN_YAML_LIST) {
        kn_yaml_append(around, node);
    } else if (*key) {
        (*key)->value = node;
        *key = NULL;
    } else {
        if (node->kind != KN_YAML_TEXT) return fail_byte(r, r->at, "a key must be a text");
        kn_yaml_append(around, node);
        if (around->line == 0) { /* a mapping without braces begins with its first key */
            around->line = node->line;
            around->column = node->column;
        }
        *key = node;
    }
    return KN_OK;
}

static bool is_quoted(struct fy_event *event)
{
    enum fy_node_style style = fy_event_get_node_style(event);
    return style == FYNS_SINGLE_QUOTED || style == FYNS_DOUBLE_QUOTED;
}

/* A node at the place of the event. An absent value has no place: it gets the last one. For a mapping without braces
 * libfyaml may give the place of its first colon, so the place of its first key is used. */
static kn_yaml *new_node(reader *r, struct fy_event *event, kn_yaml_kind kind)
{
    const struct fy_mark *mark = fy_event_start_mark(event);
    enum fy_node_style    style = fy_event_get_node_style(event);
    size_t                byte = mark ? mark->input_pos : r->at;
    bool                  waits = kind == KN_YAML_MAP && (byte >= r->size || r->text[byte] != '{');
    if (is_quoted(event) && byte > 0) byte--; /* libfyaml means what is quoted */
    if (!waits) walk(r, byte);
    kn_yaml *node = kn_arena_alloc(r->arena, sizeof *node);
    if (!node) return NULL;
    *node = (kn_yaml){.kind = kind, .line = waits ? 0 : r->line, .column = waits ? 0 : r->column};
    node->plain = kind == KN_YAML_TEXT && (style == FYNS_PLAIN || style == FYNS_ANY);
    return node;
}

/* A text in quotes, decoded here: see kn_yaml_quoted.c. The node stands at its opening quote, and so does r->at. */
static kn_status unquote(reader *r, kn_yaml *node)
{
    bool   quote = r->at < r->size && (r->text[r->at] == '"' || r->text[r->at] == '\'');
    size_t end = quote ? kn_yaml_quoted_end(r->text, r->size, r->at) : 0;
    if (end == 0) return fail_words(r, r->at, NULL);
    char *out = kn_arena_bytes(r->arena, 2 * (end - r->at));
    if (!out) return kn_fail_memory(r->err, r->arena->ctx, r->origin->name);
    if (!kn_yaml_unquote(r->text + r->at, end - r->at, out, &node->size))
        return kn_yaml_fail(r->origin, node, r->err, "this text holds an escape that stands for no character");
    out[node->size] = '\0';
    node->text = out;
    return KN_OK;
}

static kn_status copy_text(reader *r, struct fy_event *event, kn_yaml *node)
{
    size_t      size = 0;
    const char *text = event->scalar.value ? fy_token_get_text(event->scalar.value, &size) : "";
    if (!text) return kn_fail_memory(r->err, r->arena->ctx, r->origin->name);
    if (kn_utf8_check(text, size) != size) return fail_words(r, r->at, NULL);
    node->text = kn_arena_strndup(r->arena, text, size);
    node->size = size;
    return node->text ? KN_OK : kn_fail_memory(r->err, r->arena->ctx, r->origin->name);
}

static kn_status add_text(reader *r, struct fy_event *event)
{
    kn_yaml *node = new_node(r, event, KN_YAML_TEXT);
    if (!node) return kn_fail_memory(r->err, r->arena->ctx, r->origin->name);
    if (fy_event_get_node_style(event) ==
        FYNS_FOLDED) /* libfyaml 0.7 gets some of them wrong, and they are not needed */
        return kn_yaml_fail(r->origin, node, r->err, "folded texts (>) are not supported; write the text in quotes");
    KN_TRY(is_quoted(event) ? unquote(r, node) : copy_text(r, event, node));
    return hang(r, node);
}

static kn_status open_node(reader *r, struct fy_event *event, kn_yaml_kind kind)
{
    kn_yaml *node = new_node(r, event, kind);
    if (!node) return kn_fail_memory(r->err, r->arena->ctx, r->origin->name);
    if (r->depth == KN_YAML_DEEPEST)
        return fail_byte(r, r->at, "more than %d lists and mappings inside each other", KN_YAML_DEEPEST);
    KN_TRY(hang(r, node));
    r->open[r->depth] = node;
    r->key[r->depth++] = NULL;
    return KN_OK;
}

/* ---- Events ---- */

static size_t mark_of(reader *r, struct fy_token *token)
{
    const struct fy_mark *mark = token ? fy_token_start_mark(token) : NULL;
    return mark ? mark->input_pos : r->at;
}

static kn_status refuse_anchors_and_tags(reader *r, struct fy_event *event)
{
    static const char *const anchors = "anchors (&) and aliases (*) are not supported; a text that begins with one of "
                                       "these signs is written in quotes";
    if (event->type == FYET_ALIAS) { /* its token begins after the sign  */
        size_t byte = mark_of(r, event->alias.anchor);
        return fail_byte(r, byte > 0 ? byte - 1 : 0, "%s", anchors);
    }
    struct fy_token *anchor = fy_event_get_anchor_token(event), *tag = fy_event_get_tag_token(event);
    if (anchor) {
        size_t byte = mark_of(r, anchor);
        return fail_byte(r, byte > 0 ? byte - 1 : 0, "%s", anchors);
    }
    if (tag)
        return fail_byte(r, mark_of(r, tag),
                         "tags (!) are not supported; a text that begins with this sign is written in quotes");
    return KN_OK;
}

static kn_status take(reader *r, struct fy_event *event)
{
    switch (event->type) {
    case FYET_DOCUMENT_START:
        if (r->documents++ == 0) return KN_OK;
        return fail_byte(r, mark_of(r, event->document_start.document_start), "a second document begins here");
    case FYET_ALIAS:
    case FYET_SCALAR:
    case FYET_SEQUENCE_START:
    case FYET_MAPPING_START: break;
    case FYET_MAPPING_END: r->depth--; return check_keys(r, r->open[r->depth]);
    case FYET_SEQUENCE_END: r->depth--; return KN_OK;
    default: return KN_OK;
    }
    KN_TRY(refuse_anchors_and_tags(r, event));
    if (++r->nodes > KN_YAML_NODES)
        return fail_byte(r, mark_of(r, fy_event_get_token(event)), "more than %d values", KN_YAML_NODES);
    if (event->type == FYET_SCALAR) return add_text(r, event);
    return open_node(r, event, event->type == FYET_MAPPING_START ? KN_YAML_MAP : KN_YAML_LIST);
}

static kn_status read_events(reader *r)
{
    struct fy_event *event;
    while ((event = fy_parser_parse(r->parser)) != NULL) {
        kn_status status = take(r, event);
        fy_parser_event_free(r->parser, event);
        KN_TRY(status);
    }
    return fy_parser_get_stream_error(r->parser) || fy_diag_got_error(r->diag) ? fail_parser(r) : KN_OK;
}

static kn_status parse(reader *r)
{
    struct fy_diag_cfg diag = {.level = FYET_ERROR};
    r->diag = fy_diag_create(&diag);
    if (!r->diag) return kn_fail_memory(r->err, r->arena->ctx, r->origin->name);
    fy_diag_set_collect_errors(r->diag, true);
    struct fy_parse_cfg cfg = {.search_path = "",
                               .flags = (enum fy_parse_cfg_flags)(FYPCF_QUIET | FYPCF_COLLECT_DIAG | FYPCF_JSON_NONE |
                                                                  FYPCF_DEFAULT_VERSION_1_2),
                               .diag = r->diag};
    kn_status           status = KN_OK;
    r->parser = fy_parser_create(&cfg);
    if (!r->parser || fy_parser_set_string(r->parser, r->text, r->size) != 0)
        status = kn_fail_memory(r->err, r->arena->ctx, r->origin->name);
    else
        status = read_events(r);
    fy_parser_destroy(r->parser);
    fy_diag_destroy(r->diag);
    return status;
}

/* libfyaml looks ahead to the end of a [...] or {...} and needs some 350 bytes for each part before the first event:
 * bounded here by counting the signs that separate parts. */
static kn_status check_signs(reader *r)
{
    size_t signs = 0;
    for (size_t i = 0; i < r->size; i++)
        if (memchr("[{,:!&*?", r->text[i], 8) && ++signs > KN_YAML_NODES)
            return fail_byte(r, i, "more than %d values", KN_YAML_NODES);
    return KN_OK;
}

kn_status kn_yaml_parse(kn_yaml **out, kn_arena *arena, const kn_yaml_origin *origin, const char *text, size_t size,
                        kn_error *err)
{
    *out = NULL;
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) { /* a byte order mark */
        text += 3;
        size -= 3;
    }
    reader r = {.arena = arena, .origin = origin, .text = text, .size = size, .err = err, .line = 1, .column = 1};
    if (size > KN_YAML_LARGEST)
        return kn_fail_at(err, origin->status, origin->name, 0, 0, "larger than %d MiB", KN_YAML_LARGEST >> 20);
    size_t wrong = kn_utf8_check(text, size);
    if (wrong != size) return fail_byte(&r, wrong, "not UTF-8 text");
    KN_TRY(check_signs(&r));
    if (size == 0) return KN_OK;
    KN_TRY(parse(&r));
    *out = r.root;
    return KN_OK;
}
