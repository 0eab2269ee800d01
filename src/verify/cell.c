/* cell.c: what the texts of a released quasi-identifier stand for.
 *
 * "*" is anything. A label of the hierarchy or a value of the column comes next; only what is neither is read as an
 * interval ([20, 30] closed, [20, 30) half open, (-inf, 30] and [20, inf) without an end; others write 20-30, [20-30] or
 * [20,30[) or a set {a;b;c}. Each distinct text is read once. Cost: O(texts), sets O(members).
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdlib.h>

#include "kn_alloc.h"
#include "kn_compare.h"
#include "kn_error.h"
#include "kn_verify_internal.h"

enum { LONGEST_JOIN = 8 };

/* ---- Intervals ---- */

static bool says(kn_string text, const char *word)
{
    return kn_string_equal(kn_value_trim(text), kn_string_of(word));
}

static bool try_interval(const kn_vquasi *q, kn_string low, kn_string high, bool open_low, bool open_high,
                         kn_vcell *cell)
{
    const kn_string *from = open_low ? NULL : &low, *to = open_high && says(high, "inf") ? NULL : &high;
    if (kn_value_trim(low).size == 0 || kn_value_trim(high).size == 0) return false;
    if (open_low && !says(low, "-inf")) return false;
    if (!kn_vdomain_between(&q->domain, from, to, open_high, &cell->first, &cell->last)) return false;
    cell->kind = KN_VCELL_RANGE;
    cell->width = kn_vdomain_width(&q->domain, from, to);
    return cell->width >= 0;
}

/* Any place where both sides can be read as ends. */
static bool split_interval(const kn_vquasi *q, kn_string inner, const char *separator, bool open_low, bool open_high,
                           kn_vcell *cell)
{
    size_t skip = strlen(separator);
    for (size_t at = 1; at + skip < inner.size; at++) {
        kn_string low = {inner.data, at}, high = {inner.data + at + skip, inner.size - at - skip};
        if (memcmp(inner.data + at, separator, skip) == 0 && try_interval(q, low, high, open_low, open_high, cell))
            return true;
    }
    return false;
}

static bool read_interval(const kn_vquasi *q, kn_string text, kn_vcell *cell)
{
    static const char *const separators[] = {", ", ";", ",", "-"};
    if (!q->domain.integers && !q->domain.decimals) return false;
    if (text.size < 3) return false;
    char first = text.data[0], last = text.data[text.size - 1];
    if (first != '[' && first != '(') return split_interval(q, text, "-", false, false, cell);
    if (last != ']' && last != ')' && last != '[') return false;
    kn_string inner = {text.data + 1, text.size - 2};
    for (size_t i = 0; i < sizeof separators / sizeof *separators; i++)
        if (split_interval(q, inner, separators[i], first == '(', last != ']', cell)) return true;
    return false;
}

/* ---- Sets ---- */

static kn_status add_member(kn_vquasi *q, kn_context *ctx, uint32_t value, kn_error *err)
{
    void *members = q->members;
    if (!kn_grow(ctx, &members, &q->member_capacity, q->member_count + 1, sizeof *q->members))
        return kn_fail_memory(err, ctx, "verifying");
    q->members = members;
    q->members[q->member_count++] = value;
    return KN_OK;
}

static size_t part_end(kn_string inner, size_t from)
{
    while (from < inner.size && inner.data[from] != ';') from++;
    return from;
}

/* A member that the original does not have, but might: a leaf of the hierarchy, or a number or date. */
static bool is_other(const kn_vquasi *q, kn_string part)
{
    uint32_t label = kn_texts_find(&q->tree->labels, part);
    for (uint32_t leaf = 0; label != KN_V_NONE && leaf < q->tree->leaves; leaf++)
        if (q->tree->label[leaf] == label) return true;
    return kn_vdomain_readable(&q->domain, part);
}

/* The member at `from` and where it ends: in quotes (a quote inside is doubled; put together in `scratch`), or up to the next
 * semicolon. */
static kn_string member_at(kn_string inner, size_t from, char *scratch, size_t *end)
{
    size_t at = from + 1, n = 0;
    bool   quoted = from < inner.size && inner.data[from] == '"';
    for (; quoted && at < inner.size; at++) {
        bool twice = at + 1 < inner.size && inner.data[at] == '"' && inner.data[at + 1] == '"';
        if (inner.data[at] == '"' && !twice) break;
        scratch[n++] = inner.data[at];
        at += twice;
    }
    *end = at + 1;
    if (quoted && at < inner.size && (at + 1 == inner.size || inner.data[at + 1] == ';'))
        return (kn_string){scratch, n};
    *end = part_end(inner, from);
    return (kn_string){inner.data + from, *end - from};
}

static kn_status take_member(kn_vquasi *q, kn_context *ctx, uint32_t value, kn_vcell *cell, kn_error *err)
{
    if (value != KN_V_MISSING) return add_member(q, ctx, value, err);
    cell->missing = true;
    return KN_OK;
}

/* As kanon writes it: a member that holds a semicolon is in quotes. */
static kn_status read_members(kn_vquasi *q, kn_context *ctx, kn_string inner, kn_vcell *cell, bool *known,
                              kn_error *err)
{
    char *scratch = kn_alloc_array(ctx, inner.size + 1, 1);
    if (!scratch) return kn_fail_memory(err, ctx, "verifying");
    kn_status st = KN_OK;
    size_t    end = 0;
    *known = true;
    for (size_t from = 0; st == KN_OK && *known && from <= inner.size; from = end + 1) {
        kn_string part = member_at(inner, from, scratch, &end);
        bool      nothing = part.size == 0 && part.data != scratch; /* an empty text stands in quotes */
        uint32_t  value = nothing ? KN_V_MISSING : kn_vdomain_find(&q->domain, part);
        if (value != KN_V_NONE)
            st = take_member(q, ctx, value, cell, err);
        else if (is_other(q, part))
            cell->others++;
        else
            *known = false;
    }
    kn_free(scratch);
    return st;
}

/* As others may write it: a value may itself hold a semicolon, so neighbouring parts are also tried together. Every part
 * must be explained. */
static kn_status read_joined(kn_vquasi *q, kn_context *ctx, kn_string inner, kn_vcell *cell, bool *known, kn_error *err)
{
    size_t explained = 0;
    *known = true;
    for (size_t from = 0; *known && from <= inner.size; from = part_end(inner, from) + 1) {
        size_t end = from;
        for (int joined = 0; joined < LONGEST_JOIN && end <= inner.size; joined++, end++) {
            end = part_end(inner, end);
            kn_string part = {inner.data + from, end - from};
            uint32_t  value = kn_vdomain_find(&q->domain, part);
            if (value == KN_V_NONE) continue;
            if (end + 1 > explained) explained = end + 1;
            KN_TRY(take_member(q, ctx, value, cell, err));
        }
        kn_string alone = {inner.data + from, part_end(inner, from) - from};
        if (explained <= from && is_other(q, alone)) {
            explained = from + alone.size + 1;
            cell->others++;
        }
        *known = explained > from;
    }
    return KN_OK;
}

static kn_status read_set(kn_vquasi *q, kn_context *ctx, kn_string text, kn_vcell *cell, kn_error *err)
{
    kn_string inner = {text.data + 1, text.size - 2};
    size_t    begin = q->member_count;
    bool      known = false;
    KN_TRY(read_members(q, ctx, inner, cell, &known, err));
    if (!known) {
        q->member_count = begin;
        cell->missing = false;
        cell->others = 0;
        KN_TRY(read_joined(q, ctx, inner, cell, &known, err));
    }
    cell->first = (uint32_t)begin;
    if (!known) {
        q->member_count = begin;
        return KN_OK;
    }
    if (q->member_count > begin) qsort(q->members + begin, q->member_count - begin, sizeof *q->members, kn_compare_u32);
    size_t unique = begin;
    for (size_t i = begin; i < q->member_count; i++)
        if (i == begin || q->members[i] != q->members[i - 1]) q->members[unique++] = q->members[i];
    q->member_count = unique;
    cell->last = (uint32_t)unique;
    cell->kind = KN_VCELL_SET;
    return KN_OK;
}

/* ---- Any text ---- */

static kn_status read_cell(kn_vquasi *q, kn_context *ctx, kn_string text, kn_vcell *cell, kn_error *err)
{
    *cell = (kn_vcell){.value = KN_V_NONE, .label = KN_V_NONE, .width = NAN};
    if (text.size == 1 && text.data[0] == '*') {
        cell->kind = KN_VCELL_STAR;
        cell->label = q->tree ? kn_texts_find(&q->tree->labels, text) : KN_V_NONE;
        return KN_OK;
    }
    cell->value = kn_vdomain_find(&q->domain, text);
    if (q->tree) cell->label = kn_texts_find(&q->tree->labels, text);
    if (cell->value == KN_V_MISSING && (text.size == 0 || cell->label == KN_V_NONE)) {
        cell->kind = KN_VCELL_MISSING;
        return KN_OK;
    }
    if (cell->value == KN_V_MISSING) cell->value = KN_V_NONE;
    if (cell->value != KN_V_NONE || cell->label != KN_V_NONE) {
        cell->kind = KN_VCELL_NAMED;
        return KN_OK;
    }
    if (read_interval(q, text, cell)) return KN_OK;
    cell->kind = KN_VCELL_UNKNOWN;
    if (text.size >= 2 && text.data[0] == '{' && text.data[text.size - 1] == '}')
        return read_set(q, ctx, text, cell, err);
    return KN_OK;
}

kn_status kn_vcells_make(kn_vquasi *q, kn_context *ctx, kn_error *err)
{
    q->cells = kn_alloc_array(ctx, (size_t)q->release->count + 1, sizeof *q->cells);
    if (!q->cells) return kn_fail_memory(err, ctx, "verifying");
    for (uint32_t i = 0; i < q->release->count; i++) KN_TRY(read_cell(q, ctx, q->release->texts[i], &q->cells[i], err));
    return KN_OK;
}

/* ---- Questions ---- */

static uint32_t root_label(const kn_vtree *t)
{
    return t->leaves ? t->label[t->paths[t->height]] : KN_V_NONE;
}

bool kn_vcell_covers(const kn_vquasi *q, const kn_vcell *cell, uint32_t value)
{
    const kn_vtree *t = q->tree;
    bool            missing = value == KN_V_MISSING;
    switch (cell->kind) {
    case KN_VCELL_STAR: return true;
    case KN_VCELL_MISSING: return missing;
    case KN_VCELL_RANGE: return !missing && value >= cell->first && value < cell->last;
    case KN_VCELL_SET:
        if (missing || cell->first == cell->last) return missing && cell->missing;
        return bsearch(&value, q->members + cell->first, cell->last - cell->first, sizeof value, kn_compare_u32) !=
               NULL;
    case KN_VCELL_NAMED: break;
    case KN_VCELL_UNKNOWN: return false;
    }
    if (!missing && value == cell->value) return true;
    if (!t || cell->label == KN_V_NONE) return false;
    if (missing) return cell->label == root_label(t);
    const uint32_t *path = t->paths + (size_t)t->leaf_of_value[value] * (t->height + 1);
    for (uint32_t level = 0; level <= t->height; level++)
        if (t->label[path[level]] == cell->label) return true;
    return false;
}

void kn_vcell_levels(const kn_vquasi *q, const kn_vcell *cell, uint32_t value, uint64_t levels[4])
{
    const kn_vtree *t = q->tree;
    memset(levels, 0, 4 * sizeof *levels);
    if (!t || (cell->kind != KN_VCELL_NAMED && cell->kind != KN_VCELL_STAR && cell->kind != KN_VCELL_MISSING)) return;
    if (value == KN_V_MISSING) {
        if (cell->kind != KN_VCELL_MISSING) {
            levels[t->height / 64] |= (uint64_t)1 << t->height % 64;
            return;
        }
        for (uint32_t level = 0; level < t->height; level++) levels[level / 64] |= (uint64_t)1 << level % 64;
        return;
    }
    if (cell->kind == KN_VCELL_STAR) levels[t->height / 64] |= (uint64_t)1 << t->height % 64;
    if (cell->kind == KN_VCELL_NAMED && value == cell->value) levels[0] |= 1;
    const uint32_t *path = t->paths + (size_t)t->leaf_of_value[value] * (t->height + 1);
    for (uint32_t level = 0; cell->label != KN_V_NONE && level <= t->height; level++)
        if (t->label[path[level]] == cell->label) levels[level / 64] |= (uint64_t)1 << level % 64;
}
