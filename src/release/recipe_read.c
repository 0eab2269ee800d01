/* recipe_read.c: a file → a recipe (kn_recipe.h).
 *
 * The JSON is read into a document by the table of fields that it was written by: an unknown field, or one of another
 * type, is refused. The version is checked first, the SHA-256 after everything is read. A recipe may come from
 * anybody: every number in it is checked before it is used.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_document.h"
#include "kn_error.h"
#include "kn_json_parse.h"
#include "kn_recipe.h"
#include "kn_recipe_fields.h"
#include "kn_spec.h"
#include "kn_value.h"

static const char what[] = "reading a recipe";

/* ---- JSON → document ---- */

typedef struct reading {
    kn_context *ctx;
    kn_json     json;
    char        digest[65]; /* as in the file */
    kn_error   *err;
} reading;

static kn_status read_object(reading *r, kn_to to, bool top);

static kn_status refuse(reading *r, const char *message)
{
    return kn_json_fail(&r->json, r->err, message);
}

/* The current number as an integer; -1 if it is not one: no field is negative. */
static int64_t whole_number(const reading *r)
{
    char text[24], *end;
    if (r->json.text.size == 0 || r->json.text.size >= 19) return -1;
    memcpy(text, r->json.text.data, r->json.text.size);
    text[r->json.text.size] = '\0';
    int64_t value = strtoll(text, &end, 10);
    return *end ? -1 : value;
}

static kn_status read_list(reading *r, kn_to list)
{
    for (;;) {
        KN_TRY(kn_json_next(&r->json, r->err));
        switch (r->json.kind) {
        case KN_JSON_LIST_END: return KN_OK;
        case KN_JSON_TEXT: kn_append_bytes(list, r->json.text.data, r->json.text.size); break;
        case KN_JSON_NUMBER: kn_append_integer(list, whole_number(r)); break;
        case KN_JSON_OBJECT: KN_TRY(read_object(r, kn_append_object(list), false)); break;
        case KN_JSON_LIST: KN_TRY(read_list(r, kn_append_list(list))); break;
        default: return refuse(r, "not a recipe: something else stands in this list");
        }
    }
}

static kn_status check_version(reading *r)
{
    if (r->json.kind != KN_JSON_NUMBER || whole_number(r) < 0) return refuse(r, "not a recipe");
    if (whole_number(r) == KN_RECIPE_VERSION) return KN_OK;
    return kn_fail(r->err, KN_INPUT, "%s: a recipe of version %" PRId64 "; this program reads version %d", r->json.file,
                   whole_number(r), KN_RECIPE_VERSION);
}

/* Checks the values that decide whether to read on. */
static kn_status look_at(reading *r, kn_to to, const char *key, bool *taken)
{
    *taken = strcmp(key, "sha256") == 0;
    if (strcmp(key, "kanon-recipe") == 0) return check_version(r);
    if (!*taken) return KN_OK;
    if (r->json.kind != KN_JSON_TEXT || r->json.text.size != 64) return refuse(r, "not a SHA-256");
    memcpy(r->digest, r->json.text.data, 64);
    kn_put_text(to, key, KN_RECIPE_ZEROS);
    return KN_OK;
}

static kn_status read_value(reading *r, kn_to to, const char *key, bool top)
{
    bool taken = false;
    KN_TRY(kn_json_next(&r->json, r->err));
    if (top) KN_TRY(look_at(r, to, key, &taken));
    if (taken) return KN_OK;
    switch (r->json.kind) {
    case KN_JSON_TEXT: kn_put_bytes(to, key, r->json.text.data, r->json.text.size); break;
    case KN_JSON_NUMBER: kn_put_integer(to, key, whole_number(r)); break;
    case KN_JSON_TRUE:
    case KN_JSON_FALSE: kn_put_boolean(to, key, r->json.kind == KN_JSON_TRUE); break;
    case KN_JSON_NULL: kn_put_null(to, key); break;
    case KN_JSON_OBJECT: return read_object(r, kn_put_object(to, key), false);
    case KN_JSON_LIST: return read_list(r, kn_put_list(to, key));
    default: return refuse(r, "not a recipe");
    }
    return KN_OK;
}

static kn_status read_object(reading *r, kn_to to, bool top)
{
    char key[64];
    for (bool first = true;; first = false) {
        KN_TRY(kn_json_next(&r->json, r->err));
        if (r->json.kind == KN_JSON_OBJECT_END) return KN_OK;
        if (r->json.text.size >= sizeof key) return refuse(r, "not a recipe: there is no such field");
        memcpy(key, r->json.text.data, r->json.text.size);
        key[r->json.text.size] = '\0';
        if (top && first && strcmp(key, "kanon-recipe") != 0)
            return refuse(r, "not a recipe: one begins with \"kanon-recipe\"");
        KN_TRY(read_value(r, to, key, top));
    }
}

static kn_status read_document(reading *r, kn_document *doc)
{
    KN_TRY(kn_json_next(&r->json, r->err));
    if (r->json.kind != KN_JSON_OBJECT) return refuse(r, "not a recipe: one begins with \"kanon-recipe\"");
    KN_TRY(read_object(r, kn_document_top(doc), true));
    return kn_json_next(&r->json, r->err); /* refuses anything after it */
}

static kn_status check_digest(const reading *r, const kn_document *doc)
{
    char      digest[65], *text = NULL;
    size_t    size = 0;
    kn_status st = kn_recipe_digest(digest, &text, &size, doc, r->err);
    kn_text_free(text);
    if (st != KN_OK || strcmp(digest, r->digest) == 0) return st;
    return kn_fail(r->err, KN_INPUT, "%s: the recipe was changed since it was written: its SHA-256 is another",
                   r->json.file);
}

static kn_status read_source(kn_document **out, reading *r, kn_source *source)
{
    kn_document *doc = NULL;
    kn_error     wrong = KN_ERROR_INIT;
    KN_TRY(kn_json_open(&r->json, r->ctx, source, false, r->err));
    KN_TRY(kn_document_begin(&doc, r->ctx, &kn_recipe_document, r->err));
    kn_status st = read_document(r, doc);
    if (st != KN_OK) {
        kn_document_free(doc);
        return st;
    }
    st = kn_document_end(&doc, doc, &wrong);
    if (st == KN_MEMORY) return kn_fail_memory(r->err, r->ctx, what);
    if (st != KN_OK) return kn_fail(r->err, KN_INPUT, "%s: not a recipe: %s", r->json.file, wrong.message);
    st = check_digest(r, doc);
    if (st == KN_OK)
        *out = doc;
    else
        kn_document_free(doc);
    return st;
}

/* ---- Document → recipe ---- */

typedef struct making {
    const char        *file;
    const kn_document *doc;
    kn_recipe         *recipe;
    kn_error          *err;
} making;

static kn_status not_one(const making *m, const char *why)
{
    return kn_fail(m->err, KN_INPUT, "%s: not a recipe: %s", m->file, why);
}

static kn_status join_lines(kn_buffer *to, const kn_document_value *lines, const making *m)
{
    for (int64_t i = 0; i < kn_document_count(lines); i++) {
        kn_buffer_add(to, kn_document_text_of(kn_document_at(lines, i)));
        kn_buffer_char(to, '\n');
    }
    return to->failed ? kn_fail_memory(m->err, m->recipe->ctx, what) : KN_OK;
}

/* Pages to be written, and hierarchies or their populations to be read: a recipe may come from anybody, and holds its own. */
static bool names_files(const kn_spec *spec)
{
    bool named = spec->report || spec->public_report;
    for (int i = 0; i < spec->attribute_count; i++)
        named = named || spec->attributes[i].hierarchy.path || spec->attributes[i].hierarchy.population;
    return named;
}

static kn_status make_request(const making *m)
{
    kn_buffer text;
    kn_buffer_init(&text, m->recipe->ctx);
    kn_status st = join_lines(&text, kn_document_find(m->doc, "request"), m);
    if (st == KN_OK)
        st =
            kn_spec_read_text(&m->recipe->spec, m->recipe->ctx, text.data ? text.data : "", text.size, m->file, m->err);
    kn_buffer_free(&text);
    if (st != KN_OK) return st;
    if (!kn_method_parse(kn_document_text(m->doc, "method"), &m->recipe->method))
        return not_one(m, "there is no such method");
    const kn_spec *spec = m->recipe->spec;
    for (int i = 0; i < spec->attribute_count; i++) /* line numbers of the request are not those of the file */
        kn_spec_inside(m->recipe->spec)->state.attributes[i].line = 0;
    if (kn_spec_shape(spec) != KN_SHAPE_TABLE || spec->input_count > 0 || spec->output || spec->population ||
        names_files(spec))
        return not_one(m, "the request is not one that a recipe holds");
    kn_family family = kn_method_family(m->recipe->method);
    if (family == KN_FAMILY_RELATIONAL || family == KN_FAMILY_TREE) return not_one(m, "its method leaves none");
    return spec->method_auto || spec->method == m->recipe->method ? KN_OK : not_one(m, "two methods are named in it");
}

static kn_status make_hierarchy(const making *m, kn_recipe_hierarchy *h, const kn_document_value *from)
{
    kn_recipe  *r = m->recipe;
    const char *name = kn_document_text_of(kn_document_member(from, "column"));
    const char *delimiter = kn_document_text_of(kn_document_member(from, "delimiter"));
    char        text[100];
    h->column = kn_arena_strndup(&r->arena, name, strlen(name));
    if (!h->column) return kn_fail_memory(m->err, r->ctx, what);
    if (kn_spec_find(r->spec, name) < 0) return not_one(m, "a hierarchy of a column that is not declared");
    KN_TRY(join_lines(&h->text, kn_document_member(from, "lines"), m));
    KN_TRY(kn_recipe_file_put(&h->file, r->ctx, r->spec->path, &h->text, m->err));
    snprintf(text, sizeof text, "{hierarchy: {file: \"%s\"}}", h->file.path);
    if (delimiter) {
        if (strlen(delimiter) != 1 || strchr("\"\\\r\n", *delimiter)) return not_one(m, "there is no such delimiter");
        snprintf(text, sizeof text, "{hierarchy: {file: \"%s\", delimiter: \"%s\"}}", h->file.path, delimiter);
    }
    return kn_spec_set_attribute(r->spec, name, text, m->file, m->err);
}

static bool find_type(const char *name, kn_type *out)
{
    static const kn_type types[] = {KN_TYPE_TEXT, KN_TYPE_INTEGER, KN_TYPE_DECIMAL, KN_TYPE_DATE, KN_TYPE_DATETIME};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        *out = types[i];
        if (strcmp(kn_type_name(types[i]), name) == 0) return true;
    }
    return false;
}

/* How two values of a column, as a recipe holds them, are ordered; false: one is not of the column's type. */
static bool order_of(const making *m, kn_type type, const char *a, const char *b, int *order)
{
    kn_string  first = kn_string_of(a), second = kn_string_of(b);
    char       mark = m->recipe->spec->csv.decimal;
    int64_t    i, j;
    kn_decimal x, y;
    if (type == KN_TYPE_TEXT) {
        *order = strcmp(a, b);
        return true;
    }
    if (type == KN_TYPE_DECIMAL) {
        if (!kn_parse_declared_decimal(first, mark, &x) || !kn_parse_declared_decimal(second, mark, &y)) return false;
        *order = kn_decimal_compare(&x, &y);
        return true;
    }
    if (!kn_parse_integer(first, &i) || !kn_parse_integer(second, &j)) return false; /* dates too are numbers here */
    *order = (i > j) - (i < j);
    return true;
}

static kn_status check_value(const making *m, const kn_recipe_column *c, const char *before, const char *value)
{
    int order;
    if (!order_of(m, c->type, before ? before : value, value, &order))
        return not_one(m, "a value is not of the type of its column");
    return before && order >= 0 ? not_one(m, "the values of a column are not in ascending order") : KN_OK;
}

/* The values that a column of a join table had. */
static kn_status make_values(const making *m, kn_recipe_column *c, const kn_document_value *list)
{
    int64_t count = kn_document_count(list);
    if ((list != NULL) != (kn_recipe_kind_of(m->recipe->method) == KN_RECIPE_JOIN))
        return not_one(m, "values belong to methods with a join table");
    if (!list) return KN_OK;
    if (count >= UINT32_MAX) return not_one(m, "it has too many values");
    c->value_count = (uint32_t)count;
    c->values = kn_arena_array_zero(&m->recipe->arena, (size_t)count + 1, sizeof *c->values);
    for (int64_t i = 0; c->values && i < count; i++) {
        const char *text = kn_document_text_of(kn_document_at(list, i));
        KN_TRY(check_value(m, c, i > 0 ? c->values[i - 1] : NULL, text));
        c->values[i] = kn_arena_strndup(&m->recipe->arena, text, strlen(text));
        if (!c->values[i]) break;
    }
    return m->recipe->arena.failed ? kn_fail_memory(m->err, m->recipe->ctx, what) : KN_OK;
}

/* The quasi-identifiers of the request, in their order; all of them have a level, or none has. */
static kn_status make_columns(const making *m, const kn_document_value *list)
{
    kn_recipe *r = m->recipe;
    int        q = 0;
    for (int i = 0; i < r->spec->attribute_count; i++) {
        const kn_attribute *a = &r->spec->attributes[i];
        if (a->role != KN_ROLE_QUASI) continue;
        const kn_document_value *one = q < r->column_count ? kn_document_at(list, q) : NULL, *level;
        if (!one || strcmp(kn_document_text_of(kn_document_member(one, "name")), a->name) != 0)
            return not_one(m, "its columns are not those of the request");
        kn_recipe_column *c = &r->columns[q++];
        *c = (kn_recipe_column){.name = a->name, .level = -1, .height = -1};
        if (!find_type(kn_document_text_of(kn_document_member(one, "type")), &c->type))
            return not_one(m, "there is no such type");
        level = kn_document_member(one, "level");
        if ((level != NULL) != (kn_recipe_kind_of(r->method) == KN_RECIPE_LEVELS))
            return not_one(m, "levels belong to methods with one level for a whole column");
        KN_TRY(make_values(m, c, kn_document_member(one, "values")));
        if (!level) continue;
        int64_t at = kn_document_integer_of(level), height = kn_document_integer_of(kn_document_member(one, "height"));
        if (height < 1 || height >= KN_HIERARCHY_MAX_LEVELS || at < 0 || at > height)
            return not_one(m, "there is no such level");
        c->level = (int)at;
        c->height = (int)height;
    }
    return q == r->column_count ? KN_OK : not_one(m, "its columns are not those of the request");
}

/* The cut of a side; -1: none, -2: there is no such cut, or it comes before the cut itself. */
static int64_t side_of(const making *m, const kn_document_value *from, const char *key, int64_t own)
{
    const kn_document_value *value = kn_document_member(from, key);
    int64_t                  cut = kn_document_integer_of(value);
    if (!value) return -1;
    return cut > own && cut < m->recipe->cut_count ? cut : -2;
}

static kn_status make_cut(const making *m, int64_t own, const kn_document_value *from)
{
    kn_recipe     *r = m->recipe;
    kn_recipe_cut *c = &r->cuts[own];
    const char    *up_to = kn_document_text_of(kn_document_member(from, "up_to")),
               *label = kn_document_text_of(kn_document_member(from, "label"));
    int64_t column = kn_document_integer_of(kn_document_member(from, "column")),
            level = kn_document_integer_of(kn_document_member(from, "level"));
    c->first = side_of(m, from, "first", own);
    c->second = side_of(m, from, "second", own);
    if (column < 0 || column >= r->column_count || level < 0 || level >= KN_HIERARCHY_MAX_LEVELS || c->first < -1 ||
        c->second < -1)
        return not_one(m, "there is no such cut");
    c->column = (int)column;
    c->level = (int)level;
    if (up_to) KN_TRY(check_value(m, &r->columns[column], NULL, up_to));
    if (up_to) c->up_to = kn_arena_strndup(&r->arena, up_to, strlen(up_to));
    if (label) c->label = kn_arena_strndup(&r->arena, label, strlen(label));
    return r->arena.failed ? kn_fail_memory(m->err, r->ctx, what) : KN_OK;
}

static kn_status make_cuts(const making *m)
{
    kn_recipe               *r = m->recipe;
    const kn_document_value *list = kn_document_find(m->doc, "cuts");
    if ((list != NULL) != (kn_recipe_kind_of(r->method) == KN_RECIPE_CUTS))
        return not_one(m, "cuts belong to mondrian and mondrian-workload");
    if (!list) return KN_OK;
    r->cut_count = kn_document_count(list);
    r->cuts = kn_arena_array_zero(&r->arena, (size_t)r->cut_count + 1, sizeof *r->cuts);
    if (!r->cuts) return kn_fail_memory(m->err, r->ctx, what);
    for (int64_t i = 0; i < r->cut_count; i++) KN_TRY(make_cut(m, i, kn_document_at(list, i)));
    return KN_OK;
}

/* ---- Join tables ---- */

/* The places of a set: ascending, at least two. */
static bool make_set(const making *m, kn_recipe_cell *c, const kn_document_value *list, uint32_t values)
{
    uint32_t *members = kn_arena_array(&m->recipe->arena, (size_t)kn_document_count(list), sizeof *members);
    c->cell = (kn_cell){KN_CELL_SET, 0, (uint32_t)kn_document_count(list)};
    c->members = members;
    for (uint32_t i = 0; members && i < c->cell.b; i++) {
        int64_t at = kn_document_integer_of(kn_document_at(list, i));
        if (at < 0 || at >= values || (i > 0 && at <= members[i - 1])) return false;
        members[i] = (uint32_t)at;
    }
    return true;
}

/* false: there is no such cell. */
static bool make_cell(const making *m, kn_recipe_cell *c, const kn_document_value *from, const kn_recipe_column *column)
{
    const kn_document_value *list = kn_document_member(from, "values"), *low = kn_document_member(from, "from"),
                            *high = kn_document_member(from, "to"), *level = kn_document_member(from, "level");
    const char *label = kn_document_text_of(kn_document_member(from, "label"));
    int64_t     a = kn_document_integer_of(list ? kn_document_at(list, 0) : low), b = kn_document_integer_of(high),
            height = kn_document_integer_of(level);
    if ((list != NULL) + (low != NULL) + (level != NULL) > 1 || (low != NULL) != (high != NULL) ||
        (level != NULL) != (label != NULL))
        return false;
    c->cell = (kn_cell){KN_CELL_STAR, 0, 0};
    if (list && kn_document_count(list) > 1) return make_set(m, c, list, column->value_count);
    if (list) {
        c->cell = (kn_cell){KN_CELL_VALUE, (uint32_t)a, 0};
        return kn_document_count(list) == 1 && a >= 0 && a <= column->value_count;
    }
    if (low) {
        c->cell = (kn_cell){KN_CELL_RANGE, (uint32_t)a, (uint32_t)b};
        return a >= 0 && a < b && b < column->value_count;
    }
    if (!level) return true;
    c->cell.kind = KN_CELL_NODE;
    c->level = (int)height;
    c->label = kn_arena_strndup(&m->recipe->arena, label, strlen(label));
    return height >= 0 && height < KN_HIERARCHY_MAX_LEVELS;
}

static kn_status make_classes(const making *m, const kn_document_value *list)
{
    kn_recipe      *r = m->recipe;
    kn_recipe_join *join = &r->join;
    join->class_count = kn_document_count(list);
    if (join->class_count >= KN_CLASS_SUPPRESSED) return not_one(m, "it has too many classes");
    join->cells =
        kn_arena_array_zero(&r->arena, (size_t)join->class_count * (size_t)r->column_count + 1, sizeof *join->cells);
    for (int64_t i = 0; join->cells && i < join->class_count; i++) {
        const kn_document_value *cells = kn_document_member(kn_document_at(list, i), "cells");
        if (kn_document_count(cells) != r->column_count) return not_one(m, "there is no such class");
        for (int q = 0; q < r->column_count; q++)
            if (!make_cell(m, &join->cells[i * r->column_count + q], kn_document_at(cells, q), &r->columns[q]))
                return not_one(m, "there is no such cell");
    }
    return r->arena.failed ? kn_fail_memory(m->err, r->ctx, what) : KN_OK;
}

/* Is the combination greater than the one before it? */
static bool ascends(const uint32_t *codes, int columns)
{
    for (int q = 0; q < columns; q++)
        if (codes[q] != codes[q - columns]) return codes[q] > codes[q - columns];
    return false;
}

static kn_status make_combination(const making *m, int64_t own, const kn_document_value *from, int64_t *shares)
{
    kn_recipe               *r = m->recipe;
    kn_recipe_join          *join = &r->join;
    const kn_document_value *values = kn_document_member(from, "values"), *list = kn_document_member(from, "shares");
    uint32_t                *codes = join->codes + own * r->column_count;
    int64_t                  count = kn_document_count(list);
    if (kn_document_count(values) != r->column_count || count < 1) return not_one(m, "there is no such combination");
    for (int q = 0; q < r->column_count; q++) {
        int64_t at = kn_document_integer_of(kn_document_at(values, q));
        if (at < 0 || at > r->columns[q].value_count) return not_one(m, "there is no such value");
        codes[q] = (uint32_t)at;
    }
    if (own > 0 && !ascends(codes, r->column_count)) return not_one(m, "its combinations are not in order");
    if (count > 1 && !kn_recipe_parts_equal_rows(r->method)) return not_one(m, "its method does not part equal rows");
    for (int64_t i = 0; i < count; i++) {
        const kn_document_value *one = kn_document_at(list, i), *class = kn_document_member(one, "class");
        kn_recipe_share         *to = &join->shares[(*shares)++];
        *to = (kn_recipe_share){class ? kn_document_integer_of(class) : -1,
                                kn_document_integer_of(kn_document_member(one, "rows"))};
        if ((class && to->class < 0) || to->class >= join->class_count || to->rows < 1 || to->rows > UINT32_MAX)
            return not_one(m, "there is no such share");
    }
    join->share_start[own + 1] = *shares;
    return KN_OK;
}

static kn_status make_join(const making *m)
{
    kn_recipe               *r = m->recipe;
    kn_recipe_join          *join = &r->join;
    const kn_document_value *classes = kn_document_find(m->doc, "classes"),
                            *list = kn_document_find(m->doc, "combinations");
    bool    wanted = kn_recipe_kind_of(r->method) == KN_RECIPE_JOIN;
    int64_t count = kn_document_count(list), shares = 0;
    if ((classes != NULL) != wanted || (list != NULL) != wanted)
        return not_one(m, "classes and combinations belong to methods with a join table");
    if (!wanted) return KN_OK;
    KN_TRY(make_classes(m, classes));
    for (int64_t i = 0; i < count; i++)
        shares += kn_document_count(kn_document_member(kn_document_at(list, i), "shares"));
    join->codes = kn_arena_array(&r->arena, (size_t)count * (size_t)r->column_count + 1, sizeof *join->codes);
    join->share_start = kn_arena_array_zero(&r->arena, (size_t)count + 1, sizeof *join->share_start);
    join->shares = kn_arena_array(&r->arena, (size_t)shares + 1, sizeof *join->shares);
    if (r->arena.failed) return kn_fail_memory(m->err, r->ctx, what);
    join->combination_count = count;
    shares = 0;
    for (int64_t i = 0; i < count; i++) KN_TRY(make_combination(m, i, kn_document_at(list, i), &shares));
    return KN_OK;
}

static kn_status make_recipe(const making *m)
{
    const kn_document_value *hierarchies = kn_document_find(m->doc, "hierarchies");
    KN_TRY(make_request(m));
    for (int i = 0; i < m->recipe->hierarchy_count; i++)
        KN_TRY(make_hierarchy(m, &m->recipe->hierarchies[i], kn_document_at(hierarchies, i)));
    KN_TRY(make_columns(m, kn_document_find(m->doc, "columns")));
    KN_TRY(make_cuts(m));
    return make_join(m);
}

static kn_status from_document(kn_recipe **out, reading *r, const kn_document *doc)
{
    enum { MOST = 65535 };
    int64_t columns = kn_document_count(kn_document_find(doc, "columns")),
            hierarchies = kn_document_count(kn_document_find(doc, "hierarchies"));
    making m = {r->json.file, doc, NULL, r->err};
    if (columns > MOST || hierarchies > MOST) return not_one(&m, "it has too many columns");
    KN_TRY(kn_recipe_create(&m.recipe, r->ctx, (int)columns, (int)hierarchies, r->err));
    kn_status st = make_recipe(&m);
    if (st == KN_OK)
        *out = m.recipe;
    else
        kn_recipe_free(m.recipe);
    return st;
}

kn_status kn_recipe_read(kn_recipe **out, kn_context *ctx, const char *path, kn_error *err)
{
    reading      r = {.ctx = ctx, .err = err};
    kn_source   *source = NULL;
    kn_document *doc = NULL;
    *out = NULL;
    KN_SERVE(ctx, err);
    KN_TRY(kn_source_open(&source, ctx, path, err));
    kn_status st = read_source(&doc, &r, source);
    if (st == KN_OK) st = from_document(out, &r, doc);
    kn_document_free(doc);
    kn_json_close(&r.json);
    kn_source_free(source);
    return st;
}
