/* kn_taxonomy_file.c: taxonomies as indented text: the most general label first, what it holds indented below it.
 *
 *     Any
 *         Science
 *             Math
 *             Physics
 *         Social
 *             History
 *
 * Lines without deeper lines below them are the leaves. The indent is tabs (one per step) or blanks (as many per step
 * as the first indented line has), never both in one file; each line goes at most one step deeper than the line
 * before. Blank lines are skipped, blanks at the end of a line are dropped. Several labels without indent, or a
 * single line, get a root "*" above them.
 *
 * Cost: one pass, plus the depth of each leaf. Limits: as for hierarchy files.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_hierarchy_file.h"

typedef struct reader {
    const char         *name, *text;
    size_t              size, at;
    int64_t             line;   /* of the line that was read last */
    char                indent; /* ' ' or '\t'; 0: none seen yet  */
    size_t              unit;
    bool                star;
    kn_hierarchy_maker *maker;
    kn_path_field       stack[KN_HIERARCHY_MAX_LEVELS]; /* the open labels, the root first */
    kn_path_field       path[KN_HIERARCHY_MAX_LEVELS];
} reader;

/* The next line that is not blank: its indent and its label. false at the end. */
static bool next_line(reader *r, kn_string *indent, kn_string *label)
{
    while (r->at < r->size) {
        const char *begin = r->text + r->at;
        size_t      length = 0, left = r->size - r->at, space = 0;
        while (length < left && begin[length] != '\n' && begin[length] != '\r') length++;
        r->at += length;
        if (length < left) r->at += begin[length] == '\r' && length + 1 < left && begin[length + 1] == '\n' ? 2 : 1;
        r->line++;
        while (length > 0 && (begin[length - 1] == ' ' || begin[length - 1] == '\t')) length--;
        if (length == 0) continue;
        while (begin[space] == ' ' || begin[space] == '\t') space++;
        *indent = (kn_string){begin, space};
        *label = (kn_string){begin + space, length - space};
        return true;
    }
    return false;
}

/* How many labels have no indent, and whether that is all there is. */
static bool needs_star(reader *r)
{
    kn_string indent, label;
    size_t    lines = 0, roots = 0;
    for (; next_line(r, &indent, &label); lines++) roots += indent.size == 0;
    r->at = 0;
    r->line = 0;
    return roots > 1 || lines == 1;
}

static kn_status fail_here(const reader *r, size_t column, const char *what, kn_error *err)
{
    return kn_fail_at(err, KN_INPUT, r->name, r->line, (int64_t)column + 1, "%s", what);
}

static kn_status read_depth(reader *r, kn_string indent, size_t before, size_t *depth, kn_error *err)
{
    for (size_t i = 0; i < indent.size; i++) {
        if (!r->indent) r->indent = indent.data[i];
        if (indent.data[i] != r->indent) return fail_here(r, i, "tabs and blanks are mixed in the indent", err);
    }
    if (indent.size > 0 && r->unit == 0) r->unit = r->indent == '\t' ? 1 : indent.size;
    if (indent.size > 0 && indent.size % r->unit != 0)
        return fail_here(r, indent.size, "the indent is not a whole number of steps", err);
    *depth = indent.size ? indent.size / r->unit : 0;
    if (before == SIZE_MAX && *depth > 0) return fail_here(r, indent.size, "the first label is indented", err);
    if (before != SIZE_MAX && *depth > before + 1)
        return fail_here(r, indent.size, "more than one step deeper than the line before", err);
    if (*depth + 1 + r->star > KN_HIERARCHY_MAX_LEVELS)
        return kn_fail_at(err, KN_INPUT, r->name, r->line, 0, "more than %d levels", KN_HIERARCHY_MAX_LEVELS);
    return KN_OK;
}

static kn_status add_leaf(reader *r, size_t depth, kn_error *err)
{
    uint32_t count = 0;
    for (size_t d = depth + 1; d-- > 0;) r->path[count++] = r->stack[d];
    if (r->star) r->path[count++] = (kn_path_field){{"*", 1}, 0, 0};
    return kn_hierarchy_maker_add(r->maker, r->path, count, err);
}

static kn_status read_lines(reader *r, kn_error *err)
{
    kn_string indent, label;
    size_t    before = SIZE_MAX; /* depth of the line before; SIZE_MAX: there is none */
    while (next_line(r, &indent, &label)) {
        size_t depth = 0;
        KN_TRY(read_depth(r, indent, before, &depth, err));
        if (before != SIZE_MAX && depth <= before) KN_TRY(add_leaf(r, before, err));
        r->stack[depth] = (kn_path_field){label, r->line, (int64_t)indent.size + 1};
        before = depth;
    }
    if (before == SIZE_MAX) return kn_fail_at(err, KN_INPUT, r->name, 0, 0, "the taxonomy is empty");
    return add_leaf(r, before, err);
}

kn_status kn_taxonomy_parse(kn_hierarchy **out, kn_context *ctx, const char *name, const char *text, size_t size,
                            kn_error *err)
{
    KN_TRY(kn_hierarchy_check_text(name, &text, &size, err));
    reader *r = kn_alloc_zero(ctx, sizeof *r);
    if (!r) return kn_fail_memory(err, ctx, "reading a taxonomy");
    r->name = name;
    r->text = text;
    r->size = size;
    r->star = needs_star(r);
    kn_status status = kn_hierarchy_maker_create(&r->maker, ctx, name, true, err);
    if (status == KN_OK) status = kn_hierarchy_maker_finish(out, r->maker, NULL, read_lines(r, err), err);
    kn_free(r);
    return status;
}
