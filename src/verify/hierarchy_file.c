/* hierarchy_file.c: hierarchy files, read by the verifier: "leaf;parent;...;root" lines and indented taxonomies.
 *
 * docs/hierarchies.md describes them. Cost: a few passes over the text.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_alloc.h"
#include "kn_buffer.h"
#include "kn_csv_scan.h"
#include "kn_error.h"
#include "kn_source.h"
#include "kn_utf8.h"
#include "kn_verify_internal.h"

enum { LARGEST = 1 << 30, LEVELS = KN_HIERARCHY_MAX_LEVELS };

/* ---- Lines of labels ---- */

/* How well a delimiter fits: 0 not at all, 1 it splits every line, 2 it also leaves one root. */
static int fit(const char *text, size_t size, char delimiter)
{
    kn_csv_scanner s;
    kn_csv_field   f[LEVELS];
    kn_string      root = {NULL, 0};
    int            best = 2;
    kn_csv_scanner_init(&s, text, size, true, delimiter, 0);
    for (;;) {
        size_t n = 0;
        if (kn_csv_scan_any(&s, f, LEVELS, &n) != KN_CSV_OK || n == 1) return 0;
        if (n == 0) return root.data ? best : 0;
        kn_string last = {text + f[n - 1].begin, f[n - 1].size};
        if (root.data && !kn_string_equal(root, last)) best = 1;
        root = last;
        for (size_t i = 0; i < n; i++) { /* a quote inside an unquoted cell suggests another delimiter   */
            bool quoted = f[i].begin > 0 && text[f[i].begin - 1] == '"';
            if (!quoted && f[i].size && memchr(text + f[i].begin, '"', f[i].size)) best = 1;
        }
    }
}

static char find_delimiter(const char *text, size_t size)
{
    static const char candidates[] = ";\t|,";
    for (int wanted = 2; wanted > 0; wanted--)
        for (const char *c = candidates; *c; c++)
            if (fit(text, size, *c) >= wanted) return *c;
    return ';';
}

static kn_status add_line(kn_vtree_maker *maker, const char *name, const char *text, const kn_csv_field *f, size_t n,
                          int64_t line, kn_buffer *single, kn_error *err)
{
    kn_string path[LEVELS];
    size_t    room = 0;
    for (size_t i = 0; i < n; i++) room += f[i].size;
    kn_buffer_clear(single);
    char *to = kn_buffer_reserve(single, room + 1);
    if (!to) return kn_fail_memory(err, single->ctx, "verifying");
    if (n == 1) return kn_fail_at(err, KN_INPUT, name, line, 0, "a leaf without a root");
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && f[i].size == 0) return kn_fail_at(err, KN_INPUT, name, line, 0, "a label without a text");
        path[i] = (kn_string){text + f[i].begin, f[i].size};
        if (!f[i].doubled) continue;
        path[i] = (kn_string){to, kn_csv_undouble(to, path[i].data, path[i].size)};
        to += path[i].size;
    }
    return kn_vtree_add(maker, path, (uint32_t)n, line, err);
}

static kn_status read_lines(kn_vtree_maker *maker, kn_context *ctx, const char *name, const char *text, size_t size,
                            char delimiter, kn_error *err)
{
    kn_csv_scanner s;
    kn_csv_field   f[LEVELS];
    kn_buffer      single;
    kn_status      st = KN_OK;
    kn_buffer_init(&single, ctx);
    kn_csv_scanner_init(&s, text, size, true, delimiter ? delimiter : find_delimiter(text, size), 0);
    for (bool first = true; st == KN_OK; first = false) {
        size_t        n = 0;
        int64_t       line = (int64_t)s.lines + 1;
        kn_csv_result result = kn_csv_scan_any(&s, f, LEVELS, &n);
        if (result == KN_CSV_OK && n == 0 && first) st = kn_fail(err, KN_INPUT, "%s: there is no leaf", name);
        if (result == KN_CSV_OK && n == 0) break;
        st = result == KN_CSV_OK ? add_line(maker, name, text, f, n, line, &single, err)
                                 : kn_fail_at(err, KN_INPUT, name, line, 0, "this line cannot be read");
    }
    kn_buffer_free(&single);
    return st;
}

/* ---- Taxonomies ---- */

typedef struct outline {
    const char *text;
    size_t      size, at;
    int64_t     line;
} outline;

/* The next line that is not blank: how far it is indented, and its label. */
static bool next_line(outline *o, size_t *indent, kn_string *label)
{
    while (o->at < o->size) {
        size_t begin = o->at, end = begin;
        while (end < o->size && o->text[end] != '\n' && o->text[end] != '\r') end++;
        o->at = end < o->size ? end + 1 : end;
        if (end + 1 < o->size && o->text[end] == '\r' && o->text[end + 1] == '\n') o->at++;
        o->line++;
        kn_string whole = {o->text + begin, end - begin}, trimmed = kn_value_trim(whole);
        if (trimmed.size == 0) continue;
        *indent = (size_t)(trimmed.data - whole.data);
        *label = trimmed;
        return true;
    }
    return false;
}

/* A "*" is added on top if there are several labels without indent, or a single line. */
static bool wants_root(const char *text, size_t size, size_t *unit)
{
    outline   o = {text, size, 0, 0};
    size_t    indent, lines = 0, tops = 0;
    kn_string label;
    *unit = 0;
    for (; next_line(&o, &indent, &label); lines++) {
        tops += indent == 0;
        if (indent > 0 && *unit == 0) *unit = label.data[-1] == '\t' ? 1 : indent;
    }
    if (*unit == 0) *unit = 1;
    return tops > 1 || lines == 1;
}

static kn_status add_branch(kn_vtree_maker *maker, const kn_string *open, size_t depth, bool star, int64_t line,
                            kn_error *err)
{
    kn_string path[LEVELS + 1];
    uint32_t  n = 0;
    for (size_t d = depth + 1; d-- > 0;) path[n++] = open[d];
    if (star) path[n++] = (kn_string){"*", 1};
    return kn_vtree_add(maker, path, n, line, err);
}

static kn_status read_outline(kn_vtree_maker *maker, const char *name, const char *text, size_t size, kn_error *err)
{
    size_t    unit, indent, before = SIZE_MAX;
    bool      star = wants_root(text, size, &unit);
    outline   o = {text, size, 0, 0};
    kn_string open[LEVELS], label;
    while (next_line(&o, &indent, &label)) {
        size_t depth = indent / unit;
        bool   jump = before == SIZE_MAX ? depth > 0 : depth > before + 1;
        if (indent % unit != 0 || jump || depth >= LEVELS)
            return kn_fail_at(err, KN_INPUT, name, o.line, 0, "this indentation fits no level");
        if (before != SIZE_MAX && depth <= before) KN_TRY(add_branch(maker, open, before, star, o.line, err));
        open[depth] = label;
        before = depth;
    }
    if (before == SIZE_MAX) return kn_fail_at(err, KN_INPUT, name, 0, 0, "the taxonomy is empty");
    return add_branch(maker, open, before, star, o.line, err);
}

/* ---- Either ---- */

kn_status kn_vread_all(kn_source *source, kn_buffer *text, size_t most, kn_error *err)
{
    for (size_t chunk = 1 << 16, got = 1; got > 0;) {
        char *room = kn_buffer_reserve(text, chunk);
        if (!room) return kn_fail_memory(err, text->ctx, "verifying");
        KN_TRY(kn_source_read(source, room, chunk, &got, err));
        text->size += got;
        if (text->size > most) return kn_fail(err, KN_INPUT, "%s: larger than 1 GiB", kn_source_name(source));
    }
    return KN_OK;
}

kn_status kn_vtree_read_file(kn_vtree_maker *maker, kn_context *ctx, const kn_hierarchy_spec *spec, kn_error *err)
{
    kn_source *source = NULL;
    kn_buffer  all;
    kn_buffer_init(&all, ctx);
    KN_TRY(kn_source_open(&source, ctx, spec->path, err));
    kn_status   st = kn_vread_all(source, &all, LARGEST, err);
    const char *text = all.data, *name = kn_source_name(source);
    size_t      size = all.size;
    if (st == KN_OK && size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        text += 3;
        size -= 3;
    }
    if (st == KN_OK && kn_utf8_check(text, size) != size) st = kn_fail(err, KN_INPUT, "%s: not UTF-8 text", name);
    if (st == KN_OK && spec->kind == KN_HIERARCHY_TAXONOMY)
        st = read_outline(maker, name, text, size, err);
    else if (st == KN_OK)
        st = read_lines(maker, ctx, name, text, size, spec->delimiter, err);
    kn_buffer_free(&all);
    kn_source_free(source);
    return st;
}
