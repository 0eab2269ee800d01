/* recipe.c: recipes: their memory, their fields, how they are written (kn_recipe.h; recipe_read.c reads them).
 *
 * A recipe is a document that contains its own SHA-256, computed with 64 zeros in its place, so that changes by hand
 * are detected. That is not a signature. Equal decisions give equal bytes: there is no time and no path of an input
 * in it.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kn_alloc.h"
#include "kn_document.h"
#include "kn_error.h"
#include "kn_memory.h"
#include "kn_recipe.h"
#include "kn_recipe_fields.h"
#include "kn_sha256.h"
#include "kn_spec.h"
#include "kn_spec_write.h"

static const char writing[] = "writing a recipe";

/* ---- Memory ---- */

kn_status kn_recipe_create(kn_recipe **out, kn_context *ctx, int columns, int hierarchies, kn_error *err)
{
    kn_recipe *r = kn_alloc_zero(ctx, sizeof *r);
    *out = NULL;
    if (!r) return kn_fail_memory(err, ctx, writing);
    r->ctx = ctx;
    kn_arena_init(&r->arena, ctx);
    r->columns = kn_arena_array_zero(&r->arena, (size_t)columns + 1, sizeof *r->columns);
    r->hierarchies = kn_arena_array_zero(&r->arena, (size_t)hierarchies + 1, sizeof *r->hierarchies);
    if (r->arena.failed) {
        kn_recipe_free(r);
        return kn_fail_memory(err, ctx, writing);
    }
    for (int i = 0; i < hierarchies; i++) {
        kn_buffer_init(&r->hierarchies[i].text, ctx);
        r->hierarchies[i].file.fd = r->hierarchies[i].extended.fd = -1;
    }
    r->column_count = columns;
    r->hierarchy_count = hierarchies;
    *out = r;
    return KN_OK;
}

static void close_file(kn_recipe_file *file, kn_context *ctx)
{
    if (file->fd < 0) return;
    kn_alias_remove(ctx, &file->alias);
    close(file->fd);
    file->fd = -1;
}

void kn_recipe_free(kn_recipe *r)
{
    if (!r) return;
    for (int i = 0; i < r->hierarchy_count; i++) {
        close_file(&r->hierarchies[i].file, r->ctx);
        close_file(&r->hierarchies[i].extended, r->ctx);
        kn_buffer_free(&r->hierarchies[i].text);
    }
    kn_spec_free(r->spec);
    kn_arena_free(&r->arena);
    kn_free(r);
}

kn_spec *kn_recipe_spec(kn_recipe *recipe)
{
    return recipe->spec;
}

static kn_status write_all(int fd, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno != EINTR) return KN_IO;
        if (n > 0) data += n, size -= (size_t)n;
    }
    return KN_OK;
}

kn_status kn_recipe_file_put(kn_recipe_file *file, kn_context *ctx, const char *name, const kn_buffer *text,
                             kn_error *err)
{
    close_file(file, ctx);
    file->fd = kn_memory_file();
    if (file->fd < 0)
        return kn_fail(err, KN_IO, "%s: a hierarchy of the recipe cannot be held: %s", name, strerror(errno));
    snprintf(file->path, sizeof file->path, "/proc/self/fd/%d", file->fd);
    file->alias = (kn_alias){.path = file->path, .name = name};
    kn_alias_add(ctx, &file->alias);
    if (write_all(file->fd, text->data, text->size) == KN_OK) return KN_OK;
    return kn_fail(err, KN_IO, "%s: a hierarchy of the recipe cannot be held: %s", name, strerror(errno));
}

/* ---- Its fields ---- */

static const kn_field_row hierarchy_rows[] = {
    KN_VALUE("column", KN_F_TEXT, "whose it is"),
    KN_VALUE("delimiter", KN_F_TEXT | KN_F_OPTIONAL, "what stands between its labels, where it was declared"),
    KN_VALUE("lines", KN_F_TEXTS, "its lines: leaf;parent;...;root"),
};
static const kn_fields hierarchy_part = KN_FIELDS_PUT("recipe_hierarchy", hierarchy_rows);

static const kn_field_row column_rows[] = {
    KN_VALUE("name", KN_F_TEXT, "the column's name"),
    KN_VALUE("type", KN_F_TEXT, "the type that its values had"),
    KN_VALUE("level", KN_F_LEVEL | KN_F_OPTIONAL, "the level that all of it goes to"),
    KN_VALUE("height", KN_F_LEVEL | KN_F_OPTIONAL, "the highest level that its hierarchy had"),
    KN_VALUE("values", KN_F_TEXTS | KN_F_OPTIONAL,
             "where there are `combinations`: the values it had, in their order: texts, numbers, days or microseconds "
             "since 1970"),
};
static const kn_fields column_part = KN_FIELDS_PUT("recipe_column", column_rows);

static const kn_field_row cut_rows[] = {
    KN_VALUE("column", KN_F_COUNT, "the column, by its place in `columns`, from 0"),
    KN_VALUE("up_to", KN_F_TEXT | KN_F_OPTIONAL,
             "values up to this one go to the first side: a text, a number, days or microseconds since 1970"),
    KN_VALUE("label", KN_F_TEXT | KN_F_OPTIONAL,
             "values below this node of the hierarchy go to the first side; neither: all but missing ones do"),
    KN_VALUE("level", KN_F_LEVEL | KN_F_OPTIONAL, "the level of the node"),
    KN_VALUE("first", KN_F_COUNT | KN_F_OPTIONAL,
             "the cut of the first side, by its place in `cuts`; absent: a region"),
    KN_VALUE("second", KN_F_COUNT | KN_F_OPTIONAL, "the cut of the second side"),
};
static const kn_fields cut_part = KN_FIELDS_PUT("cut", cut_rows);

static const kn_field_row cell_rows[] = {
    KN_VALUE("values", KN_F_COUNTS | KN_F_OPTIONAL,
             "a value or a set of them, by their places in `values` of the column; the place behind the last: missing"),
    KN_VALUE("from", KN_F_COUNT | KN_F_OPTIONAL, "an interval: the place of its lowest value"),
    KN_VALUE("to", KN_F_COUNT | KN_F_OPTIONAL, "and of its highest"),
    KN_VALUE("level", KN_F_LEVEL | KN_F_OPTIONAL, "a node of the hierarchy: its level"),
    KN_VALUE("label", KN_F_TEXT | KN_F_OPTIONAL, "and its label; none of these: anything"),
};
static const kn_fields cell_part = KN_FIELDS_PUT("recipe_cell", cell_rows);

static const kn_field_row class_rows[] = {
    KN_VALUE_OF("cells", KN_F_LIST, &cell_part, "what its rows show, in the order of `columns`"),
};
static const kn_fields class_part = KN_FIELDS_PUT("recipe_class", class_rows);

static const kn_field_row share_rows[] = {
    KN_VALUE("class", KN_F_COUNT | KN_F_OPTIONAL, "the class, by its place in `classes`; absent: suppressed"),
    KN_VALUE("rows", KN_F_ROWS, "the next so many of its rows went there"),
};
static const kn_fields share_part = KN_FIELDS_PUT("recipe_share", share_rows);

static const kn_field_row combination_rows[] = {
    KN_VALUE("values", KN_F_COUNTS, "a value of each column, by its place in `values` of the column"),
    KN_VALUE_OF("shares", KN_F_LIST, &share_part, "where its rows went, in the order of all their values"),
};
static const kn_fields combination_part = KN_FIELDS_PUT("recipe_combination", combination_rows);

static const kn_field_row recipe_rows[] = {
    KN_VALUE("kanon-recipe", KN_F_COUNT, "the version of this format: 1"),
    KN_VALUE("sha256", KN_F_TEXT, "SHA-256 of this document with 64 zeros in this place"),
    KN_VALUE("request", KN_F_TEXTS,
             "what was asked, as the lines of a release file; hierarchies that are files stand below"),
    KN_VALUE("method", KN_F_TEXT, "the method that decided"),
    KN_VALUE_OF("hierarchies", KN_F_LIST, &hierarchy_part, "the hierarchies that came from files"),
    KN_VALUE_OF("columns", KN_F_LIST, &column_part, "the quasi-identifiers, in the order they were declared"),
    KN_VALUE_OF("cuts", KN_F_LIST | KN_F_OPTIONAL, &cut_part,
                "of mondrian and mondrian-workload: the cuts, the first of all rows"),
    KN_VALUE_OF("classes", KN_F_LIST | KN_F_OPTIONAL, &class_part,
                "of the methods without levels and cuts: what each class shows"),
    KN_VALUE_OF("combinations", KN_F_LIST | KN_F_OPTIONAL, &combination_part,
                "of the same: which values became which class"),
    KN_VALUE("version", KN_F_TEXT | KN_F_NULLABLE, "the version of kanon"),
};
const kn_fields kn_recipe_document =
    KN_ANSWER(struct kn_recipe, "recipe", recipe_rows, NULL,
              "What a method decided, for other rows: beside the release of a table, with --keep-recipe.");

/* ---- Writing ---- */

/* Puts a text as a list of lines, without their ends. */
static void put_lines(kn_to list, const char *text, size_t size)
{
    while (size > 0) {
        const char *end = memchr(text, '\n', size);
        size_t      line = end ? (size_t)(end - text) : size;
        kn_append_bytes(list, text, line);
        text += line + (end != NULL);
        size -= line + (end != NULL);
    }
}

static void put_columns(kn_to list, const kn_recipe *r)
{
    for (int q = 0; q < r->column_count; q++) {
        const kn_recipe_column *c = &r->columns[q];
        kn_to                   o = kn_append_object(list);
        kn_put_text(o, "name", c->name);
        kn_put_text(o, "type", kn_type_name(c->type));
        if (c->level >= 0) kn_put_integer(o, "level", c->level);
        if (c->level >= 0) kn_put_integer(o, "height", c->height);
        if (c->values) kn_put_texts(o, "values", c->values, c->value_count);
    }
}

static void put_cuts(kn_to list, const kn_recipe *r)
{
    for (int64_t i = 0; i < r->cut_count; i++) {
        const kn_recipe_cut *c = &r->cuts[i];
        kn_to                o = kn_append_object(list);
        kn_put_integer(o, "column", c->column);
        if (c->up_to) kn_put_text(o, "up_to", c->up_to);
        if (c->label) kn_put_text(o, "label", c->label);
        if (c->label) kn_put_integer(o, "level", c->level);
        if (c->first >= 0) kn_put_integer(o, "first", c->first);
        if (c->second >= 0) kn_put_integer(o, "second", c->second);
    }
}

static void put_cell(kn_to o, const kn_recipe_cell *c)
{
    if (c->cell.kind == KN_CELL_RANGE) {
        kn_put_integer(o, "from", c->cell.a);
        kn_put_integer(o, "to", c->cell.b);
    } else if (c->cell.kind == KN_CELL_NODE) {
        kn_put_integer(o, "level", c->level);
        kn_put_text(o, "label", c->label);
    } else if (c->cell.kind != KN_CELL_STAR) {
        kn_to    list = kn_put_list(o, "values");
        uint32_t count = c->cell.kind == KN_CELL_SET ? c->cell.b : 0;
        if (count == 0) kn_append_integer(list, c->cell.a);
        for (uint32_t i = 0; i < count; i++) kn_append_integer(list, c->members[i]);
    }
}

static void put_join(kn_to o, const kn_recipe *r)
{
    const kn_recipe_join *join = &r->join;
    kn_to                 classes = kn_put_list(o, "classes"), combinations = kn_put_list(o, "combinations");
    for (int64_t c = 0; c < join->class_count; c++) {
        kn_to cells = kn_put_list(kn_append_object(classes), "cells");
        for (int q = 0; q < r->column_count; q++)
            put_cell(kn_append_object(cells), &join->cells[c * r->column_count + q]);
    }
    for (int64_t i = 0; i < join->combination_count; i++) {
        kn_to one = kn_append_object(combinations), values = kn_put_list(one, "values"),
              shares = kn_put_list(one, "shares");
        for (int q = 0; q < r->column_count; q++) kn_append_integer(values, join->codes[i * r->column_count + q]);
        for (int64_t s = join->share_start[i]; s < join->share_start[i + 1]; s++) {
            kn_to share = kn_append_object(shares);
            if (join->shares[s].class >= 0) kn_put_integer(share, "class", join->shares[s].class);
            kn_put_integer(share, "rows", join->shares[s].rows);
        }
    }
}

kn_recipe_kind kn_recipe_kind_of(kn_method method)
{
    if (kn_method_family(method) == KN_FAMILY_FULL_DOMAIN) return KN_RECIPE_LEVELS;
    return method == KN_METHOD_MONDRIAN || method == KN_METHOD_MONDRIAN_WORKLOAD ? KN_RECIPE_CUTS : KN_RECIPE_JOIN;
}

bool kn_recipe_parts_equal_rows(kn_method method)
{
    return method == KN_METHOD_MONDRIAN_RELAXED || kn_method_family(method) == KN_FAMILY_KMSD;
}

kn_status kn_recipe_digest(char *out, char **text, size_t *size, const kn_document *doc, kn_error *err)
{
    kn_sha256 state;
    KN_TRY(kn_document_json(text, size, doc, err));
    kn_sha256_begin(&state);
    kn_sha256_add(&state, *text, *size);
    kn_sha256_text(&state, out);
    return KN_OK;
}

/* Appends the document with its SHA-256, and frees it. */
static kn_status render(kn_buffer *to, kn_document *doc, kn_error *err)
{
    char   digest[65], *text = NULL, *place = NULL;
    size_t size = 0;
    KN_TRY(kn_document_end(&doc, doc, err));
    kn_status st = kn_recipe_digest(digest, &text, &size, doc, err);
    if (st == KN_OK && (place = strstr(text, KN_RECIPE_ZEROS)) != NULL) memcpy(place, digest, 64);
    if (st == KN_OK) kn_buffer_append(to, text, size);
    if (st == KN_OK && to->failed) st = kn_fail_memory(err, to->ctx, writing);
    kn_text_free(text);
    kn_document_free(doc);
    return st;
}

kn_status kn_recipe_render(kn_buffer *to, const kn_recipe *r, const kn_spec *request, const char *version,
                           kn_error *err)
{
    kn_document *doc;
    kn_buffer    lines;
    KN_TRY(kn_document_begin(&doc, r->ctx, &kn_recipe_document, err));
    kn_buffer_init(&lines, r->ctx);
    kn_status st = kn_spec_write(&lines, request, err);
    if (st != KN_OK) {
        kn_buffer_free(&lines);
        kn_document_free(doc);
        return st;
    }
    kn_to o = kn_document_top(doc);
    kn_put_integer(o, "kanon-recipe", KN_RECIPE_VERSION);
    kn_put_text(o, "sha256", KN_RECIPE_ZEROS);
    put_lines(kn_put_list(o, "request"), lines.data, lines.size);
    kn_buffer_free(&lines);
    kn_put_text(o, "method", kn_method_name(r->method));
    kn_to list = kn_put_list(o, "hierarchies");
    for (int i = 0; i < r->hierarchy_count; i++) {
        kn_to one = kn_append_object(list);
        char  delimiter[2] = {r->hierarchies[i].delimiter, '\0'};
        kn_put_text(one, "column", r->hierarchies[i].column);
        if (*delimiter) kn_put_text(one, "delimiter", delimiter);
        put_lines(kn_put_list(one, "lines"), r->hierarchies[i].text.data, r->hierarchies[i].text.size);
    }
    put_columns(kn_put_list(o, "columns"), r);
    if (r->cuts) put_cuts(kn_put_list(o, "cuts"), r);
    if (kn_recipe_kind_of(r->method) == KN_RECIPE_JOIN) put_join(o, r);
    kn_put_text(o, "version", version);
    return render(to, doc, err);
}
