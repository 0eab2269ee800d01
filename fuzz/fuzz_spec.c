/* fuzz_spec.c: bytes → release file, or a change of one field → invariants.
 *
 * The first byte chooses: A to M changes one field of a small spec by the rest, in the file's notation; with anything else
 * all bytes are a release file. What was read must hold together and must be read the same a second time; a change that
 * failed must have changed nothing. A message names a place inside the text.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_spec.h"
#include "kn_utf8.h"
#include "kn_yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "fuzz_spec: %s\n", what);
    abort();
}

/* ---- Trees ---- */

static void check_node(const kn_yaml *node, int depth)
{
    demand(depth <= KN_YAML_DEEPEST, "too deep a tree");
    demand(node->line > 0 && node->column > 0, "a node without a place");
    size_t count = 0;
    if (node->kind == KN_YAML_TEXT) {
        demand(node->text[node->size] == '\0' && kn_utf8_check(node->text, node->size) == node->size, "a bad text");
        return;
    }
    for (const kn_yaml *item = node->first; item; item = item->next, count++) {
        demand(node->kind == KN_YAML_LIST || (item->kind == KN_YAML_TEXT && item->value), "a key without a value");
        check_node(item, depth + 1);
        if (node->kind == KN_YAML_MAP) check_node(item->value, depth + 1);
        for (const kn_yaml *other = item->next; node->kind == KN_YAML_MAP && other; other = other->next)
            demand(strcmp(item->text, other->text) != 0, "a key is there twice");
    }
    demand(count == node->count, "miscounted items");
}

static void check_tree(kn_context *ctx, const char *text, size_t size)
{
    kn_arena       arena;
    kn_yaml       *root = NULL;
    kn_yaml_origin origin = {"fuzz", KN_INPUT, false};
    kn_arena_init(&arena, ctx);
    if (kn_yaml_parse(&root, &arena, &origin, text, size, NULL) == KN_OK && root) check_node(root, 0);
    kn_arena_free(&arena);
}

/* ---- Specs ---- */

static void check_attribute(const kn_attribute *a, char decimal)
{
    const kn_hierarchy_spec *h = &a->hierarchy;
    demand(a->name && a->name[0], "an attribute without a name");
    demand(h->size == sizeof *h && h->decimal == decimal, "a hierarchy with another decimal mark");
    demand(a->weight.denominator > 0, "a weight that is no number");
    demand(!a->format || a->type == KN_TYPE_DATE || a->type == KN_TYPE_DATETIME, "a format without its type");
    if (!a->has_hierarchy) return;
    bool from_file = h->kind == KN_HIERARCHY_FILE || h->kind == KN_HIERARCHY_TAXONOMY;
    demand(from_file == (h->path != NULL), "a path where none belongs, or none");
    demand((h->kind == KN_HIERARCHY_RANGES) == (h->width_count > 0), "widths where none belong, or none");
    demand((h->kind == KN_HIERARCHY_BREAKS) == (h->break_count > 0), "breaks where none belong, or none");
    demand((h->kind == KN_HIERARCHY_PREFIX) == (h->separator != NULL), "a separator where none belongs, or none");
    for (int i = 0; i < h->width_count; i++) demand(h->widths[i][0] != '\0', "an empty width");
    for (int i = 0; i < h->break_count; i++) demand(h->breaks[i].count > 0, "a level without cut points");
}

static void check_spec(kn_spec *spec)
{
    int types = 0;
    for (int i = 0; i < spec->input_count; i++) demand(spec->inputs[i][0] != '\0', "an empty path");
    for (int i = 0; i < spec->csv.na_count; i++) demand(spec->csv.na[i] != NULL, "a spelling that is not there");
    for (int i = 0; i < spec->attribute_count; i++) {
        check_attribute(&spec->attributes[i], spec->csv.decimal);
        demand(kn_spec_find(spec, spec->attributes[i].name) == i, "an attribute is there twice");
        if (spec->attributes[i].type == KN_TYPE_AUTO) continue;
        demand(types < spec->csv.type_count, "a type is lacking");
        demand(spec->csv.types[types++].column == spec->attributes[i].name, "a type is of another column");
    }
    demand(types == spec->csv.type_count, "a type too many");
    for (int i = 0; i < spec->model_count; i++) {
        kn_model m = spec->models[i];
        if (!m.attribute && m.kind >= KN_MODEL_DISTINCT && m.kind <= KN_MODEL_DELTA) m.attribute = "?";
        demand(kn_model_check(&m, NULL) == KN_OK, "a model that makes no sense");
        for (int j = 0; j < i; j++)
            demand(m.kind != KN_MODEL_K || spec->models[j].kind != KN_MODEL_K, "k is promised twice");
    }
    demand(spec->suppression.denominator > 0 && spec->suppression.numerator <= spec->suppression.denominator,
           "a suppression that is no share");
    demand(spec->method < KN_METHODS && spec->utility < KN_METRICS && spec->time_limit >= 0, "a choice that is none");
    if (kn_spec_check(spec, NULL) != KN_OK) return;
    demand(spec->input_count > 0 && spec->output && spec->model_count > 0, "what is needed is not there");
    for (int i = 0; i < spec->attribute_count; i++) demand(spec->attributes[i].has_role, "an attribute without a role");
}

static void check_error(const kn_error *err, const char *text, size_t size)
{
    int64_t lines = 1;
    for (size_t i = 0; i < size; i++) lines += text[i] == '\n' || text[i] == '\r';
    demand(err->status != KN_OK && err->message[0], "a failure without a message");
    demand(err->status != KN_INTERNAL, "an internal error");
    demand(err->line >= 0 && err->line <= lines && err->column >= 0 && err->column <= (int64_t)size + 1,
           "a place outside the text");
}

static void read_whole(kn_context *ctx, const char *text, size_t size)
{
    kn_spec  *spec = NULL, *again = NULL;
    kn_error  err = KN_ERROR_INIT, second = KN_ERROR_INIT;
    kn_status status = kn_spec_parse(&spec, ctx, "folder/fuzz", "fuzz", text, size, &err);
    demand(kn_spec_parse(&again, ctx, "folder/fuzz", "fuzz", text, size, &second) == status, "read in two ways");
    demand((status == KN_OK) == (spec != NULL), "a spec in spite of a failure, or none");
    if (status == KN_OK) {
        demand(spec->attribute_count == again->attribute_count && spec->model_count == again->model_count,
               "read in two ways");
        check_spec(spec);
    } else {
        demand(strcmp(err.message, second.message) == 0, "said in two ways");
        check_error(&err, text, size);
    }
    kn_spec_free(spec);
    kn_spec_free(again);
    check_tree(ctx, text, size);
}

static void change(kn_context *ctx, size_t which, const char *text, size_t size)
{
    static const char *const fields[] = {"attributes", "privacy",      "input",  "na",   "suppression",
                                         "options",    "entity",       "method", "seed", "force",
                                         "decimal",    "dependencies", "a"};
    static const char        start[] = "{input: a, output: b, attributes: {a: {role: quasi, type: date, format: "
                                       "'%Y-%m-%d', hierarchy: {mask: right}}, s: sensitive, b: {role: quasi}}, "
                                       "privacy: [k: 2, l-diversity: {l: 2}]}";
    kn_spec                 *spec = NULL;
    kn_error                 err = KN_ERROR_INIT;
    char                    *copy = malloc(size + 1);
    which %= sizeof fields / sizeof *fields;
    if (!copy) return;
    memcpy(copy, text, size);
    copy[size] = '\0';
    demand(kn_spec_parse(&spec, ctx, "start", "start", start, strlen(start), &err) == KN_OK, "the start is not read");
    kn_spec before = *spec;
    bool    one = strcmp(fields[which], "a") == 0;
    if ((one ? kn_spec_set_attribute(spec, "a", copy, "-x", &err)
             : kn_spec_set(spec, fields[which], copy, "-x", &err)) != KN_OK) {
        check_error(&err, copy, strlen(copy));
        demand(err.status == KN_USAGE, "a change fails in another way");
        demand(memcmp(&before, spec, sizeof before) == 0, "a change that failed changed something");
    }
    check_spec(spec);
    kn_spec_free(spec);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > 1 << 16) return 0;
    kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
    options.threads = 1;
    options.memory_limit = 256 << 20;
    kn_context *ctx = NULL;
    if (kn_context_create(&ctx, &options, NULL) != KN_OK) return 0;
    if (data[0] >= 'A' && data[0] <= 'M')
        change(ctx, (size_t)(data[0] - 'A'), (const char *)data + 1, size - 1);
    else
        read_whole(ctx, (const char *)data, size);
    kn_context_free(ctx);
    return 0;
}
