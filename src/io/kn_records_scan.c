/* kn_records_scan.c: from files to their records, one after the other; collecting one of them.
 *
 * Interface: kn_records_scan.h, kn_records_collect.h. The forms are read by kn_xml_read.c, kn_json_read.c and
 * kn_records_baskets.c. Memory: one record and the unknown names.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_records_scan.h"

#include <inttypes.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_options.h"
#include "kn_records_collect.h"

#define WHAT "reading tree records"

/* ---- One record ---- */

int kn_collector_class(const kn_collector *c, kn_string name)
{
    for (int i = 0; i < c->options->class_count; i++) {
        const char *text = c->options->classes[i].name;
        if (strncmp(text, name.data, name.size) == 0 && text[name.size] == '\0') return i;
    }
    return -1;
}

kn_class_style *kn_collector_style(const kn_collector *c, int64_t node)
{
    return c->layout->style ? &c->layout->style->of[c->nodes[node].cls + 1] : NULL;
}

kn_place_style *kn_collector_place(const kn_collector *c, int64_t parent, int cls)
{
    kn_records_style *style = c->layout->style;
    if (!style) return NULL;
    return &style->below[parent < 0 ? 0 : c->nodes[parent].cls + 2][cls];
}

/* Names after "\1", which no file has, are only counted. */
static kn_status note_name(kn_collector *c, const char *prefix, kn_string name, bool tell, kn_error *err)
{
    char   whole[256];
    size_t before = strlen(prefix), size = name.size;
    if (before + size > sizeof whole) size = sizeof whole - before;
    memcpy(whole, prefix, before);
    if (size) memcpy(whole + before, name.data, size);
    kn_string text = {whole, before + size};
    size_t    known = c->names.count;
    if (kn_intern(&c->names, text) == KN_ID_FAILED) return kn_fail_memory(err, c->ctx, WHAT);
    if (c->names.count == known) return KN_OK;
    if (c->names.count > KN_RECORDS_MAX_NAMES)
        return kn_fail(err, KN_INPUT, "%s: more than %d different names that no class has", c->file,
                       KN_RECORDS_MAX_NAMES);
    return tell && c->sink->ignored ? c->sink->ignored(c->sink->state, text, err) : KN_OK;
}

kn_status kn_collector_ignore(kn_collector *c, const char *prefix, kn_string name, kn_error *err)
{
    return note_name(c, prefix, name, true, err);
}

kn_status kn_collector_count(kn_collector *c, kn_string name, kn_error *err)
{
    return note_name(c, "\1", name, false, err);
}

void kn_collector_begin(kn_collector *c, int64_t line, int64_t column)
{
    c->count = 0;
    c->has_id = false;
    c->line = line;
    c->column = column;
    kn_buffer_clear(&c->bytes);
}

kn_string kn_records_trimmed(kn_string text)
{
    static const char space[] = " \t\r\n";
    while (text.size > 0 && memchr(space, text.data[0], sizeof space - 1)) {
        text.data++;
        text.size--;
    }
    while (text.size > 0 && memchr(space, text.data[text.size - 1], sizeof space - 1)) text.size--;
    return text;
}

/* Appends a text to those of the record. */
static kn_status keep(kn_collector *c, kn_string text, int64_t line, int64_t column, uint64_t *at, kn_error *err)
{
    if (text.size > KN_RECORDS_MAX_TEXT)
        return kn_fail_at(err, KN_INPUT, c->file, line, column, "a value of more than %d bytes", KN_RECORDS_MAX_TEXT);
    if (c->bytes.size + text.size > KN_RECORDS_MAX_RECORD)
        return kn_fail_at(err, KN_INPUT, c->file, line, column, "a record of more than %d bytes",
                          KN_RECORDS_MAX_RECORD);
    *at = c->bytes.size;
    kn_buffer_append(&c->bytes, text.data, text.size);
    return c->bytes.failed ? kn_fail_memory(err, c->ctx, WHAT) : KN_OK;
}

kn_status kn_collector_id(kn_collector *c, kn_string id, int64_t line, int64_t column, kn_error *err)
{
    if (c->has_id) return kn_fail_at(err, KN_INPUT, c->file, line, column, "the record has an id already");
    id = kn_records_trimmed(id);
    KN_TRY(keep(c, id, line, column, &c->id, err));
    c->id_size = id.size;
    c->has_id = true;
    return KN_OK;
}

kn_status kn_collector_node(kn_collector *c, int64_t parent, int cls, int64_t line, int64_t column, int64_t *index,
                            kn_error *err)
{
    if (c->count >= KN_RECORDS_MAX_RECORD)
        return kn_fail_at(err, KN_INPUT, c->file, line, column, "a record of more than %d nodes",
                          KN_RECORDS_MAX_RECORD);
    if (!KN_GROW(c->ctx, &c->nodes, &c->capacity, c->count + 1)) return kn_fail_memory(err, c->ctx, WHAT);
    *index = (int64_t)c->count;
    c->nodes[c->count++] = (kn_collected){.line = line, .column = column, .cls = cls, .parent = parent};
    return KN_OK;
}

kn_status kn_collector_value(kn_collector *c, int64_t node, kn_string text, kn_error *err)
{
    kn_collected *n = &c->nodes[node];
    if (n->has_value) return kn_fail_at(err, KN_INPUT, c->file, n->line, n->column, "a node with two values");
    text = kn_records_trimmed(text);
    KN_TRY(keep(c, text, n->line, n->column, &n->text, err));
    n->size = (uint32_t)text.size;
    n->has_value = true;
    return KN_OK;
}

/* Which nodes hold something that has a value? */
static void mark_holders(kn_collector *c)
{
    for (size_t i = 0; i < c->count; i++) c->nodes[i].holds = false;
    for (size_t i = c->count; i-- > 0;) {
        const kn_collected *n = &c->nodes[i];
        if (n->parent >= 0 && (n->holds || n->size > 0)) c->nodes[n->parent].holds = true;
    }
}

/* An empty element, or text: as null it says that there is nothing. */
static bool is_nothing(const kn_collector *c, const kn_collected *n)
{
    return n->size == 0 && !n->holds && !c->options->released;
}

kn_status kn_collector_end(kn_collector *c, kn_error *err)
{
    const char      *bytes = c->bytes.data ? c->bytes.data : "";
    kn_string        id = {c->has_id ? bytes + c->id : NULL, c->has_id ? c->id_size : 0};
    kn_records_place place = {c->file, c->line, c->column};
    if (c->records % 1024 == 0 && kn_cancelled(c->ctx)) return kn_fail_cancelled(err);
    c->records++;
    KN_TRY(c->sink->record(c->sink->state, id, &place, err));
    mark_holders(c);
    int64_t told = 0;
    for (size_t i = 0; i < c->count; i++) {
        kn_collected *n = &c->nodes[i];
        place.line = n->line;
        place.column = n->column;
        c->layout->empty += is_nothing(c, n);
        if (is_nothing(c, n)) continue;
        if (!n->has_value || n->size == 0)
            return kn_fail_at(err, KN_INPUT, c->file, n->line, n->column, "record %" PRId64 ": a node without a value",
                              c->records);
        kn_string value = {bytes + n->text, n->size};
        n->number = told++;
        int64_t parent = n->parent < 0 ? -1 : c->nodes[n->parent].number;
        KN_TRY(c->sink->node(c->sink->state, parent, n->cls, value, &place, err));
    }
    return KN_OK;
}

/* ---- Files ---- */

static kn_status read_form(kn_collector *c, kn_error *err)
{
    if (c->resources) return kn_resources_read(c, c->layout->form == KN_RECORDS_JSON_LINES, err);
    switch (c->layout->form) {
    case KN_RECORDS_XML: return kn_xml_read(c, err);
    case KN_RECORDS_JSON: return kn_json_read(c, false, err);
    case KN_RECORDS_JSON_LINES: return kn_json_read(c, true, err);
    case KN_RECORDS_BASKETS: return kn_baskets_read(c, err);
    case KN_RECORDS_DATABASE:
    case KN_RECORDS_AUTO: break;
    }
    return kn_fail(err, KN_USAGE, "the persons of a database are read through its tables");
}

static kn_status read_file(kn_collector *c, const char *path, kn_error *err)
{
    KN_TRY(kn_source_open(&c->source, c->ctx, path, err));
    c->file = kn_source_name(c->source);
    c->earlier = c->records;
    kn_progress_begin(c->ctx, "reading", "B", kn_source_size(c->source));
    kn_status st = read_form(c, err);
    kn_progress_end(c->ctx);
    kn_source_free(c->source);
    return st;
}

/* XML files that are one record each have no element around it, which a file of all of them needs. */
static kn_status give_root(kn_collector *c, kn_error *err)
{
    static const char root[] = "records/";
    char             *path = c->layout->path;
    if (c->layout->form != KN_RECORDS_XML || !path || strchr(path, '/')) return KN_OK;
    size_t size = strlen(path);
    char  *longer = kn_alloc(c->ctx, sizeof root + size);
    if (!longer) return kn_fail_memory(err, c->ctx, WHAT);
    memcpy(longer, root, sizeof root - 1);
    memcpy(longer + sizeof root - 1, path, size + 1);
    kn_free(path);
    c->layout->path = longer;
    return KN_OK;
}

static kn_status read_files(kn_collector *c, const kn_records_files *files, kn_error *err)
{
    kn_status st = KN_OK;
    if (c->layout->form != KN_RECORDS_BASKETS && c->options->class_count <= KN_STYLE_CLASSES &&
        !(c->layout->style = kn_alloc_zero(c->ctx, sizeof *c->layout->style)))
        return kn_fail_memory(err, c->ctx, WHAT);
    for (int i = 0; i < files->count && st == KN_OK; i++) st = read_file(c, files->paths[i], err);
    return st == KN_OK && files->count > 1 ? give_root(c, err) : st;
}

/* Do the options fit the form? */
static kn_status check_options(const kn_records_options *options, kn_records_form form, const char *path, kn_error *err)
{
    if (form == KN_RECORDS_DATABASE)
        return kn_fail(err, KN_USAGE, "the persons of a database are read through its tables");
    if (options->resource_count > 0 && form != KN_RECORDS_JSON && form != KN_RECORDS_JSON_LINES)
        return kn_fail(err, KN_USAGE, "%s: resources are in JSON or JSON Lines; leave resources out", path);
    for (int i = 0; i < options->class_count; i++)
        if (options->classes[i].path && (options->class_count > KN_STYLE_CLASSES || form == KN_RECORDS_BASKETS))
            return kn_fail(err, KN_USAGE,
                           "%s: class \"%s\": a path is for XML and JSON, with up to %d classes; leave it out", path,
                           options->classes[i].name, KN_STYLE_CLASSES);
    if (options->delimiter && form != KN_RECORDS_BASKETS)
        return kn_fail(err, KN_USAGE, "%s: only baskets have a delimiter; leave it out", path);
    if (options->record && form == KN_RECORDS_BASKETS)
        return kn_fail(err, KN_USAGE, "%s: each line of baskets is a record; leave the name of a record out", path);
    return KN_OK;
}

/* Reads all files with a collector that has its context, options and a sink. */
static kn_status scan_files(kn_collector *c, const char *path, kn_records_layout *layout, kn_resources_join *join,
                            kn_error *err)
{
    const kn_records_options *options = c->options;
    kn_arena                  arena = {.ctx = c->ctx};
    kn_records_files          files = {0};
    *c->layout =
        (kn_records_layout){.form = options->form == KN_RECORDS_AUTO ? kn_records_form_of(path) : options->form};
    KN_TRY(check_options(options, c->layout->form, path, err));
    c->layout->resources = options->resources;
    c->layout->resource_count = options->resource_count;
    kn_interner_init(&c->names, c->ctx);
    kn_buffer_init(&c->bytes, c->ctx);
    kn_status st = kn_records_files_list(&files, &arena, path, options->more, options->more_count, err);
    if (st == KN_OK) st = read_files(c, &files, err);
    if (st == KN_OK && join) st = kn_resources_join_tell(join, err);
    kn_free(c->nodes);
    kn_buffer_free(&c->bytes);
    kn_interner_free(&c->names);
    kn_arena_free(&arena);
    if (st != KN_OK || !layout) {
        KN_FREE(c->layout->path, c->layout->namespaces, c->layout->style);
        c->layout->path = c->layout->namespaces = NULL;
        c->layout->style = NULL;
    }
    return st;
}

kn_status kn_records_scan(kn_context *ctx, const char *path, const kn_records_options *options,
                          const kn_records_sink *sink, kn_records_layout *layout, kn_error *err)
{
    kn_records_layout  own = {.form = KN_RECORDS_AUTO};
    kn_resources_join *join = NULL;
    KN_OPTIONS(kn_records_options, KN_RECORDS_OPTIONS_INIT, options, "options of tree records", err);
    kn_collector      c = {.ctx = ctx, .options = options, .sink = sink, .layout = layout ? layout : &own};
    kn_resources_sink resources = {.resource = kn_resources_join_add};
    kn_status         st = options->resource_count > 0 ? kn_resources_join_create(&join, &c, err) : KN_OK;
    resources.state = join;
    if (join) c.resources = &resources;
    if (st == KN_OK) st = scan_files(&c, path, layout, join, err);
    kn_resources_join_free(join);
    return st;
}

kn_status kn_resources_scan(kn_context *ctx, const char *path, const kn_records_options *options,
                            const kn_resources_sink *sink, kn_records_layout *layout, kn_error *err)
{
    KN_OPTIONS(kn_records_options, KN_RECORDS_OPTIONS_INIT, options, "options of tree records", err);
    kn_records_sink names = {.state = sink->state, .ignored = sink->ignored};
    kn_collector    c = {.ctx = ctx, .options = options, .sink = &names, .resources = sink, .layout = layout};
    return scan_files(&c, path, layout, NULL, err);
}
