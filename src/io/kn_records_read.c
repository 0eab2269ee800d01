/* kn_records_read.c: files of tree records → kn_records.
 *
 * While the file is read, every (class, text) gets a number and a record is numbers and parents. When all texts are
 * known the hierarchies are read and the numbers become values of the vocabulary; records are then put in order, in
 * place.
 *
 * Cost: linear, except for sorting siblings. Memory: 8 bytes per node, 16 per record, the different texts, and the
 * ids of records until all are read (two records of one person are refused). Paper: section II-A (the rules), III-G
 * (what a record lacks).
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <kanon/records.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_fault.h"
#include "kn_interner.h"
#include "kn_options.h"
#include "kn_records.h"
#include "kn_records_read.h"
#include "kn_records_scan.h"
#include "kn_vocabulary_make.h"

#define NONE UINT32_MAX
#define ROOT KN_RECORDS_ROOT
#define WHAT "reading tree records"

/* The first place of a text. */
typedef struct first_place {
    int64_t record, line, column;
} first_place;

/* A file that is read. */
typedef struct part {
    const char *name;  /* in `names` */
    int64_t     first; /* record     */
} part;

typedef struct reader {
    kn_context               *ctx;
    const kn_records_options *options;
    kn_arena                  names;
    part                     *parts;
    size_t                    part_count, part_capacity;
    kn_interner               texts; /* two bytes of class + 1, then the text */
    kn_interner               ids;
    char                     *key; /* space for the longest text and its class */
    size_t                    key_capacity;
    first_place              *places; /* per text */
    size_t                    place_capacity;
    uint64_t                 *start; /* per record, and one more */
    int64_t                  *lines; /* per record               */
    size_t                    start_capacity, line_capacity;
    int64_t                   count;
    uint32_t                 *parent, *value; /* per node: value is a text's number, then of the vocabulary */
    size_t                    parent_capacity, value_capacity;
    uint64_t                  nodes;
    uint32_t                  largest;      /* nodes of a record */
    bool                      by_hierarchy; /* some node has no class in the file */
    int64_t                   others;       /* records from here on are of another file (kn_records_read_beside) */
    uint32_t                  own_texts;    /* ... and texts                                                      */
    char                    **ignored;
    size_t                    ignored_capacity;
    int                       ignored_count;
    kn_records_layout         layout;
    kn_vocabulary            *vocabulary;
    uint32_t                 *value_of; /* per text */
} reader;

static kn_string text_of(const reader *r, uint32_t text, int *cls)
{
    kn_string            s = r->texts.texts[text];
    const unsigned char *bytes = (const unsigned char *)s.data;
    *cls = (bytes[0] | bytes[1] << 8) - 1;
    return (kn_string){s.data + 2, s.size - 2};
}

/* ---- The sink ---- */

static kn_status end_record(reader *r, kn_error *err)
{
    size_t n = (size_t)r->count;
    if (!KN_GROW(r->ctx, &r->start, &r->start_capacity, n + 2)) return kn_fail_memory(err, r->ctx, WHAT);
    if (n > 0 && r->nodes - r->start[n - 1] > r->largest) r->largest = (uint32_t)(r->nodes - r->start[n - 1]);
    r->start[n] = r->nodes;
    return KN_OK;
}

static kn_status on_ignored(void *state, kn_string name, kn_error *err)
{
    reader *r = state;
    if (!KN_GROW(r->ctx, &r->ignored, &r->ignored_capacity, (size_t)r->ignored_count + 1))
        return kn_fail_memory(err, r->ctx, WHAT);
    r->ignored[r->ignored_count] = kn_strndup(r->ctx, name.data, name.size);
    if (!r->ignored[r->ignored_count]) return kn_fail_memory(err, r->ctx, WHAT);
    r->ignored_count++;
    return KN_OK;
}

/* Records come file by file. */
static kn_status note_file(reader *r, const char *name, kn_error *err)
{
    if (r->part_count > 0 && strcmp(r->parts[r->part_count - 1].name, name) == 0) return KN_OK;
    if (!KN_GROW(r->ctx, &r->parts, &r->part_capacity, r->part_count + 1)) return kn_fail_memory(err, r->ctx, WHAT);
    const char *own = kn_arena_strndup(&r->names, name, strlen(name));
    if (!own) return kn_fail_memory(err, r->ctx, WHAT);
    r->parts[r->part_count++] = (part){own, r->count};
    return KN_OK;
}

/* The file of a record, counted from 0. */
static const char *file_of(const reader *r, int64_t record)
{
    size_t i = r->part_count;
    while (i > 1 && r->parts[i - 1].first > record) i--;
    return i > 0 ? r->parts[i - 1].name : "";
}

static kn_status on_record(void *state, kn_string id, const kn_records_place *place, kn_error *err)
{
    reader *r = state;
    KN_TRY(end_record(r, err));
    KN_TRY(note_file(r, place->file, err));
    if (!KN_GROW(r->ctx, &r->lines, &r->line_capacity, (size_t)r->count + 1)) return kn_fail_memory(err, r->ctx, WHAT);
    r->lines[r->count++] = place->line;
    if (!id.data) return KN_OK;
    size_t known = r->ids.count;
    if (r->options->released && known == 0) KN_TRY(on_ignored(r, kn_string_of("id"), err));
    if (kn_intern(&r->ids, id) == KN_ID_FAILED) return kn_fail_memory(err, r->ctx, WHAT);
    if (r->ids.count > known) return KN_OK;
    return kn_fail_at(err, KN_INPUT, place->file, place->line, place->column,
                      "record %" PRId64 " has the id of an earlier one: a person has one record", r->count);
}

/* The number of a text of a class. */
static kn_status number_of(reader *r, int cls, kn_string value, uint32_t *out, kn_error *err)
{
    if (!KN_GROW(r->ctx, &r->key, &r->key_capacity, value.size + 2)) return kn_fail_memory(err, r->ctx, WHAT);
    r->key[0] = (char)((cls + 1) & 0xff);
    r->key[1] = (char)((cls + 1) >> 8);
    memcpy(r->key + 2, value.data, value.size);
    uint32_t id = kn_intern(&r->texts, (kn_string){r->key, value.size + 2});
    if (id == KN_ID_FAILED) return kn_fail_memory(err, r->ctx, WHAT);
    *out = id - 1;
    return KN_OK;
}

static const char *nesting_words(int above, int own)
{
    return above == own ? "a class occurs at most once on a path" : "classes nest the other way round";
}

/* Classes ascend along every path, so none occurs on it twice. */
static kn_status check_nesting(const reader *r, uint32_t above_text, int cls, const kn_records_place *place,
                               kn_error *err)
{
    int above;
    (void)text_of(r, above_text, &above);
    if (above < cls) return KN_OK;
    return kn_fail_at(err, KN_INPUT, place->file, place->line, place->column,
                      "record %" PRId64 ": a node of class \"%s\" below one of class \"%s\": %s", r->count,
                      r->options->classes[cls].name, r->options->classes[above].name, nesting_words(above, cls));
}

static kn_status on_node(void *state, int64_t parent, int cls, kn_string value, const kn_records_place *place,
                         kn_error *err)
{
    reader  *r = state;
    uint64_t first = r->start[r->count - 1];
    uint32_t text = 0;
    size_t   known = r->texts.count;
    KN_TRY(number_of(r, cls, value, &text, err));
    if (r->texts.count > known) {
        if (!KN_GROW(r->ctx, &r->places, &r->place_capacity, known + 1)) return kn_fail_memory(err, r->ctx, WHAT);
        r->places[text] = (first_place){r->count, place->line, place->column};
    }
    if (!KN_GROW(r->ctx, &r->parent, &r->parent_capacity, (size_t)r->nodes + 1) ||
        !KN_GROW(r->ctx, &r->value, &r->value_capacity, (size_t)r->nodes + 1))
        return kn_fail_memory(err, r->ctx, WHAT);
    r->by_hierarchy = r->by_hierarchy || cls < 0;
    if (!r->options->released && cls >= 0 && parent >= 0)
        KN_TRY(check_nesting(r, r->value[first + (uint64_t)parent], cls, place, err));
    if (kn_fault("read-other-value") && !r->options->released && r->count == 2 && r->nodes == first &&
        r->texts.texts[0].data[0] == r->key[0])
        text = 0; /* a deliberate fault: the first value of the file */
    r->parent[r->nodes] = parent < 0 ? ROOT : (uint32_t)parent;
    r->value[r->nodes++] = text;
    return KN_OK;
}

/* ---- Texts → values ---- */

static bool is_star(kn_string s)
{
    return s.size == 1 && s.data[0] == '*';
}

/* Are the class's values listed in a file? A built hierarchy cannot be built over a release's labels: these are then
 * plain values. */
static bool in_file(const kn_spec_class *c)
{
    return c->has_hierarchy && (c->hierarchy.kind == KN_HIERARCHY_FILE || c->hierarchy.kind == KN_HIERARCHY_TAXONOMY);
}

/* Is it one of the class's values? A release may show the class's own name instead of all its values. */
static bool is_value(const reader *r, uint32_t t, int *cls, kn_string *text)
{
    *text = text_of(r, t, cls);
    if (*cls < 0) return false;
    const kn_spec_class *c = &r->options->classes[*cls];
    return !r->options->released || (!is_star(*text) && (in_file(c) || !kn_string_equal(*text, kn_string_of(c->name))));
}

/* The first `count` texts, class by class: what the vocabulary is made from. */
static void list_values(const reader *r, uint32_t count, kn_vocabulary_leaves *leaves, kn_string *texts)
{
    kn_string text;
    int       cls;
    int64_t   before = 0;
    bool      unsaid = false; /* some values have no class in the file */
    for (int c = 0; c < r->options->class_count; c++) leaves[c].count = 0;
    for (uint32_t t = 0; t < count; t++) {
        if (is_value(r, t, &cls, &text)) leaves[cls].count++;
        unsaid = unsaid || (cls < 0 && !(r->options->released && is_star(text)));
    }
    for (int c = 0; c < r->options->class_count; c++) {
        leaves[c].texts = texts + before;
        before += leaves[c].count;
        leaves[c].count = 0;
    }
    for (uint32_t t = 0; t < count; t++)
        if (is_value(r, t, &cls, &text)) texts[(leaves[cls].texts - texts) + leaves[cls].count++] = text;
    for (int c = 0; c < r->options->class_count && unsaid; c++)
        if (leaves[c].count == 0) leaves[c].texts = NULL;
}

static kn_status make_vocabulary(reader *r, kn_error *err)
{
    size_t                count = (size_t)r->options->class_count;
    kn_vocabulary_leaves *leaves = kn_alloc_array_zero(r->ctx, count, sizeof *leaves);
    kn_spec_class        *classes = kn_alloc_array(r->ctx, count, sizeof *classes);
    kn_string            *texts = kn_alloc_array(r->ctx, r->texts.count + 1, sizeof *texts);
    kn_status             st = leaves && classes && texts ? KN_OK : kn_fail_memory(err, r->ctx, WHAT);
    kn_arena              rules = {.ctx = r->ctx};
    if (st == KN_OK) {
        list_values(r, r->own_texts, leaves, texts);
        memcpy(classes, r->options->classes, count * sizeof *classes);
        for (size_t c = 0; c < count && r->options->released; c++) classes[c].has_hierarchy = in_file(&classes[c]);
        if (!r->options->released) st = kn_vocabulary_by_type(classes, r->options->class_count, leaves, &rules, err);
        list_values(r, (uint32_t)r->texts.count, leaves, texts);
    }
    if (st == KN_OK) st = kn_vocabulary_make(&r->vocabulary, r->ctx, classes, r->options->class_count, leaves, err);
    kn_arena_free(&rules);
    KN_FREE(leaves, classes, texts);
    return st;
}

static kn_status fail_text(const reader *r, uint32_t text, int cls, const char *what, kn_error *err)
{
    const first_place *p = &r->places[text];
    if (cls < 0)
        return kn_fail_at(err, KN_INPUT, file_of(r, p->record - 1), p->line, p->column,
                          "record %" PRId64 ": a value of a node without a class, which %s", p->record, what);
    return kn_fail_at(err, KN_INPUT, file_of(r, p->record - 1), p->line, p->column,
                      "record %" PRId64 ": a value of class \"%s\", which %s", p->record, r->options->classes[cls].name,
                      what);
}

/* The value of a text without a class in the file: that of the only class that has it. */
static kn_status find_class(const reader *r, uint32_t text, kn_string label, uint32_t *out, kn_error *err)
{
    const kn_vocabulary *v = r->vocabulary;
    *out = r->options->released && is_star(label) ? 0 : NONE;
    for (int c = 0; c < v->class_count && *out != 0; c++) {
        uint32_t value = kn_vocabulary_find(v, c, label);
        if (value == NONE || (!r->options->released && v->height[value] > 0)) continue;
        if (*out != NONE) return fail_text(r, text, -1, "several classes have", err);
        *out = value;
    }
    return *out == NONE ? fail_text(r, text, -1, "no class has", err) : KN_OK;
}

static kn_status find_value(const reader *r, uint32_t text, uint32_t *out, kn_error *err)
{
    const kn_vocabulary *v = r->vocabulary;
    int                  cls;
    kn_string            label = text_of(r, text, &cls);
    if (cls < 0) return find_class(r, text, label, out, err);
    *out = r->options->released && is_star(label) ? 0 : kn_vocabulary_find(v, cls, label);
    if (*out == NONE && r->places[text].record > r->others) {
        *out = v->top[cls];
        return KN_OK;
    }
    if (*out == NONE) return fail_text(r, text, cls, "its hierarchy lacks", err);
    if (!r->options->released && v->height[*out] > 0)
        return fail_text(r, text, cls, "stands for a group in its hierarchy", err);
    return KN_OK;
}

static kn_status find_values(reader *r, kn_error *err)
{
    r->value_of = kn_alloc_array(r->ctx, r->texts.count + 1, sizeof *r->value_of);
    if (!r->value_of) return kn_fail_memory(err, r->ctx, WHAT);
    for (uint32_t t = 0; t < r->texts.count; t++) KN_TRY(find_value(r, t, &r->value_of[t], err));
    return KN_OK;
}

/* ---- Records in order ---- */

/* If classes come from the hierarchies, their order is checked only now: the message gives the node's number as its
 * place. */
static kn_status check_order(const reader *r, int64_t record, const kn_record_node *nodes, uint32_t count,
                             kn_error *err)
{
    const uint16_t *cls = r->vocabulary->cls;
    for (uint32_t i = 0; i < count; i++) {
        if (nodes[i].parent == ROOT) continue;
        uint16_t above = cls[nodes[nodes[i].parent].value], own = cls[nodes[i].value];
        if (above < own) continue;
        return kn_fail_at(err, KN_INPUT, file_of(r, record), r->lines[record], 0,
                          "record %" PRId64 ", node %" PRIu32 ": a node of class \"%s\" below one of class \"%s\": %s",
                          record + 1, i + 1, r->options->classes[own].name, r->options->classes[above].name,
                          nesting_words(above, own));
    }
    return KN_OK;
}

typedef struct ordering {
    kn_record_node *nodes;
    void           *scratch;
    kn_records     *out;
} ordering;

/* Puts one record in order, after the earlier ones. */
static kn_status order_record(reader *r, ordering *o, int64_t record, kn_error *err)
{
    uint64_t first = r->start[record];
    uint32_t size = (uint32_t)(r->start[record + 1] - first);
    for (uint32_t i = 0; i < size; i++)
        o->nodes[i] = (kn_record_node){r->parent[first + i], r->value_of[r->value[first + i]]};
    if (r->by_hierarchy && !r->options->released) KN_TRY(check_order(r, record, o->nodes, size, err));
    uint32_t    count = kn_record_canonical(o->nodes, size, o->scratch);
    kn_records *out = o->out;
    out->merged += size - count;
    for (uint32_t i = 0; i < count; i++) {
        out->parent[out->nodes] = o->nodes[i].parent;
        out->value[out->nodes++] = o->nodes[i].value;
    }
    out->start[record + 1] = out->nodes;
    return KN_OK;
}

/* Shrinks out's arrays to the size they need. */
static void shrink(kn_records *out, uint64_t capacity)
{
    if (out->nodes == capacity) return;
    size_t    room = out->nodes ? (size_t)out->nodes : 1;
    uint32_t *parent = kn_realloc_array(out->ctx, out->parent, room, sizeof *parent);
    if (parent) out->parent = parent;
    uint32_t *value = kn_realloc_array(out->ctx, out->value, room, sizeof *value);
    if (value) out->value = value;
}

static kn_status order_records(reader *r, kn_records *out, kn_error *err)
{
    ordering o = {.out = out};
    size_t   room = (size_t)r->largest + 1;
    o.nodes = kn_alloc_array(r->ctx, room, sizeof *o.nodes);
    o.scratch = kn_alloc_array(r->ctx, room, KN_RECORD_SCRATCH);
    kn_status st = o.nodes && o.scratch ? KN_OK : kn_fail_memory(err, r->ctx, WHAT);
    /* The arrays of the reader become those of the records: writing never overtakes reading. */
    if (st == KN_OK && r->nodes) {
        KN_FREE(out->parent, out->value);
        out->parent = r->parent;
        out->value = r->value;
    }
    bool shared = out->parent == r->parent;
    for (int64_t i = 0; i < r->count && st == KN_OK; i++) st = order_record(r, &o, i, err);
    if (shared) r->parent = r->value = NULL;
    if (st == KN_OK) shrink(out, r->nodes);
    KN_FREE(o.nodes, o.scratch);
    return st;
}

static kn_status finish(reader *r, kn_records **out, kn_error *err)
{
    KN_TRY(end_record(r, err));
    kn_interner_free(&r->ids);
    kn_interner_init(&r->ids, r->ctx);
    KN_TRY(make_vocabulary(r, err));
    KN_TRY(find_values(r, err));
    KN_TRY(kn_records_create(out, r->ctx, r->vocabulary, true, r->count, 0, err));
    r->vocabulary = (*out)->vocabulary;
    kn_status st = order_records(r, *out, err);
    r->vocabulary = NULL;
    if (st != KN_OK) {
        kn_records_free(*out);
        *out = NULL;
        return st;
    }
    (*out)->layout = r->layout;
    (*out)->orphans = r->layout.orphans;
    (*out)->ignored = r->ignored;
    (*out)->ignored_count = r->ignored_count;
    r->layout.path = r->layout.namespaces = NULL;
    r->layout.style = NULL;
    r->ignored = NULL;
    r->ignored_count = 0;
    return KN_OK;
}

static void reader_free(reader *r)
{
    kn_interner_free(&r->texts);
    kn_interner_free(&r->ids);
    for (int i = 0; i < r->ignored_count; i++) kn_free(r->ignored[i]);
    kn_arena_free(&r->names);
    KN_FREE(r->parts, r->ignored, r->key, r->places, r->start, r->lines, r->parent, r->value, r->value_of,
            r->layout.path, r->layout.namespaces, r->layout.style);
    kn_vocabulary_free(r->vocabulary);
}

static kn_status check_options(const kn_records_options *options, kn_error *err)
{
    if (options->class_count < 1) return kn_fail(err, KN_USAGE, "tree records need classes");
    if (options->class_count >= KN_VOCABULARY_NO_CLASS) return kn_fail(err, KN_USAGE, "too many classes");
    return KN_OK;
}

/* Records of the other file follow; their layout is nobody's. */
static kn_status scan_other(reader *r, const kn_records_sink *sink, const char *other, kn_error *err)
{
    kn_records_options options = *r->options;
    kn_records_layout  layout = {0};
    options.more = NULL;
    options.more_count = 0;
    kn_interner_free(&r->ids);
    kn_interner_init(&r->ids, r->ctx);
    kn_status st = kn_records_scan(r->ctx, other, &options, sink, &layout, err);
    KN_FREE(layout.path, layout.namespaces, layout.style);
    return st;
}

kn_status kn_records_read_beside(kn_records **out, int64_t *first, kn_context *ctx, const char *path,
                                 const kn_records_options *options, const char *other, kn_error *err)
{
    *out = NULL;
    KN_TRY(check_options(options, err));
    reader          r = {.ctx = ctx, .options = options, .names = {.ctx = ctx}};
    kn_records_sink sink = {.state = &r, .record = on_record, .node = on_node, .ignored = on_ignored};
    kn_interner_init(&r.texts, ctx);
    kn_interner_init(&r.ids, ctx);
    kn_status st = path ? kn_records_scan(ctx, path, options, &sink, &r.layout, err) : KN_OK;
    r.others = r.count;
    r.own_texts = (uint32_t)r.texts.count;
    if (st == KN_OK && other) st = scan_other(&r, &sink, other, err);
    if (!path) r.own_texts = (uint32_t)r.texts.count;
    if (!other) r.others = INT64_MAX;
    if (st == KN_OK) st = finish(&r, out, err);
    if (first) *first = r.others;
    reader_free(&r);
    return st;
}

kn_status kn_records_read_told(kn_records **out, kn_context *ctx, const kn_records_teller *from,
                               const kn_records_options *options, kn_error *err)
{
    *out = NULL;
    KN_TRY(check_options(options, err));
    reader          r = {.ctx = ctx, .options = options, .names = {.ctx = ctx}, .others = INT64_MAX};
    kn_records_sink sink = {.state = &r, .record = on_record, .node = on_node, .ignored = on_ignored};
    kn_interner_init(&r.texts, ctx);
    kn_interner_init(&r.ids, ctx);
    kn_status st = from->tell(from->state, &sink, &r.layout, err);
    r.own_texts = (uint32_t)r.texts.count;
    if (st == KN_OK) st = finish(&r, out, err);
    reader_free(&r);
    return st;
}

kn_status kn_records_read(kn_records **out, kn_context *ctx, const char *path, const kn_records_options *options,
                          kn_error *err)
{
    *out = NULL;
    KN_SERVE(ctx, err);
    KN_OPTIONS(kn_records_options, KN_RECORDS_OPTIONS_INIT, options, "options of tree records", err);
    return kn_records_read_beside(out, NULL, ctx, path, options, NULL, err);
}
