/* test_hierarchy.c: hierarchies: files, taxonomies, builders, binding, and the arrays against walks over plain paths. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include <kanon/hierarchy.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_buffer.h"
#include "kn_builder.h"
#include "kn_hierarchy.h"
#include "kn_hierarchy_file.h"
#include "kn_rng.h"

/* ---- Helpers ---- */

static void assert_valid(const kn_hierarchy *h)
{
    const char *reason = NULL;
    if (!kn_hierarchy_validate(h, &reason)) fail_msg("not valid: %s", reason);
}

static kn_hierarchy *parse(kn_context *ctx, const char *text)
{
    kn_error      err = KN_ERROR_INIT;
    kn_hierarchy *h = NULL;
    assert_ok(kn_hierarchy_parse(&h, ctx, "h.csv", text, strlen(text), 0, &err), err);
    assert_valid(h);
    return h;
}

static void assert_label(const kn_hierarchy *h, uint32_t node, const char *expected)
{
    size_t      length;
    const char *label = kn_hierarchy_label(h, node, &length);
    char        text[200];
    assert_true(length < sizeof text);
    memcpy(text, label, length);
    text[length] = '\0';
    assert_string_equal(text, expected);
}

/* A one-column table. NULL cells are missing. */
static kn_status make_table(kn_table **out, kn_context *ctx, const char *const *cells, int64_t rows, kn_type type,
                            const char *format, kn_error *err)
{
    kn_string   name = kn_string_of("c");
    kn_builder *b = NULL;
    kn_status   status = kn_builder_create(&b, ctx, &name, 1, 1, err);
    if (status != KN_OK) return status;
    uint32_t *ids = malloc(sizeof *ids * (size_t)(rows + 1));
    assert_non_null(ids);
    for (int64_t i = 0; i < rows; i++) {
        ids[i] = KN_ID_MISSING;
        if (cells[i]) ids[i] = kn_intern(kn_builder_interner(b, 0, 0), kn_string_of(cells[i]));
        if (ids[i] == KN_ID_FAILED) status = KN_MEMORY;
    }
    int64_t first = 0;
    if (status == KN_OK) status = kn_builder_extend(b, rows, 0, &first, err);
    if (status != KN_OK) {
        kn_builder_free(b);
        free(ids);
        return status;
    }
    kn_builder_write(b, 0, first, ids, rows);
    free(ids);
    kn_value_rules  rules = {'.', NULL};
    kn_builder_type types = {type, format};
    return kn_builder_finish(out, b, &types, &rules, err);
}

static kn_table *table_of(kn_context *ctx, const char *const *cells, int64_t rows, kn_type type)
{
    kn_error  err = KN_ERROR_INIT;
    kn_table *t = NULL;
    assert_ok(make_table(&t, ctx, cells, rows, type, NULL, &err), err);
    if (type != KN_TYPE_AUTO) assert_int_equal(t->columns[0].type, type);
    return t;
}

/* ---- Random trees and their naive twin: the paths themselves ---- */

enum { MOST_LEAVES = 400, MOST_DEPTH = 8 };

/* names[d] is the label at depth d; ids[d] tells nodes apart: equal ids at equal depths are one node. */
typedef struct twin_leaf {
    char names[MOST_DEPTH + 1][48];
    int  ids[MOST_DEPTH + 1];
    int  depth;
} twin_leaf;

typedef struct twin {
    twin_leaf *leaves;
    int        count, height, next_id;
} twin;

static void grow_twin(twin *t, kn_rng *rng, const twin_leaf *above, int depth, int max_depth, bool balanced)
{
    bool leaf = depth == max_depth || (!balanced && depth > 0 && kn_rng_below(rng, 4) == 0);
    if (leaf) {
        if (t->count == MOST_LEAVES) return;
        t->leaves[t->count] = *above;
        t->leaves[t->count].depth = depth;
        t->count++;
        if (depth > t->height) t->height = depth;
        return;
    }
    int children = 1 + (int)kn_rng_below(rng, 3);
    for (int c = 0; c < children; c++) {
        static const char *const odd[] = {"a;b",    "q\"q",  "line\nbreak", "\xc3\xa9t\xc3\xa9",
                                          "t\tb|,", "plain", "cr\rx"};
        twin_leaf                next = *above;
        int                      id = t->next_id++;
        next.ids[depth + 1] = id;
        /* An only child may repeat its parent's label. */
        if (children == 1 && depth > 0 && kn_rng_below(rng, 2) == 0)
            memcpy(next.names[depth + 1], next.names[depth], sizeof next.names[0]);
        else
            snprintf(next.names[depth + 1], sizeof next.names[0], "%s%d", odd[kn_rng_below(rng, 7)], id);
        grow_twin(t, rng, &next, depth + 1, max_depth, balanced);
    }
}

static twin random_twin(kn_rng *rng, bool balanced)
{
    twin      t = {.leaves = calloc(MOST_LEAVES, sizeof(twin_leaf)), .next_id = 1};
    twin_leaf root = {.depth = 0};
    assert_non_null(t.leaves);
    strcpy(root.names[0], "*");
    grow_twin(&t, rng, &root, 0, 1 + (int)kn_rng_below(rng, balanced ? 5 : MOST_DEPTH), balanced);
    for (int i = t.count - 1; i > 0; i--) { /* the lines of a file come in any order */
        int       j = (int)kn_rng_below(rng, (uint64_t)i + 1);
        twin_leaf moved = t.leaves[i];
        t.leaves[i] = t.leaves[j];
        t.leaves[j] = moved;
    }
    return t;
}

static void add_field(kn_buffer *out, const char *label, char delimiter, bool quote)
{
    if (strpbrk(label, "\"\r\n;\t|,") || strchr(label, delimiter)) quote = true;
    if (quote) kn_buffer_char(out, '"');
    for (const char *p = label; *p; p++) {
        if (*p == '"') kn_buffer_char(out, '"');
        kn_buffer_char(out, *p);
    }
    if (quote) kn_buffer_char(out, '"');
}

static void write_twin(const twin *t, kn_rng *rng, kn_buffer *out, char delimiter)
{
    const char *end = kn_rng_below(rng, 2) ? "\n" : "\r\n";
    if (kn_rng_below(rng, 3) == 0) kn_buffer_add(out, "\xef\xbb\xbf");
    for (int i = 0; i < t->count; i++) {
        for (int d = t->leaves[i].depth; d >= 0; d--) {
            add_field(out, t->leaves[i].names[d], delimiter, kn_rng_below(rng, 4) == 0);
            if (d > 0) kn_buffer_char(out, delimiter);
        }
        if (i + 1 < t->count || kn_rng_below(rng, 2)) kn_buffer_add(out, end);
        if (kn_rng_below(rng, 10) == 0) kn_buffer_add(out, end);
    }
}

/* The twin's answer to "which depth does the leaf's ancestor at a level have". */
static int twin_depth(const twin *t, const twin_leaf *leaf, int level)
{
    int depth = t->height - level;
    return leaf->depth < depth ? leaf->depth : depth;
}

static int twin_cover(const twin *t, const twin_leaf *leaf, int depth)
{
    int cover = 0;
    for (int i = 0; i < t->count; i++)
        cover += t->leaves[i].depth >= depth && t->leaves[i].ids[depth] == leaf->ids[depth];
    return cover;
}

static uint32_t leaf_by_label(const kn_hierarchy *h, const char *label)
{
    for (uint32_t l = 0; l < h->leaves; l++)
        if (kn_string_equal(kn_hierarchy_text(h, l), kn_string_of(label))) return l;
    fail_msg("there is no such leaf");
    return 0;
}

static void compare_with_twin(const kn_hierarchy *h, const twin *t)
{
    assert_int_equal(h->leaves, t->count);
    assert_int_equal(kn_hierarchy_levels(h), t->height + 1);
    uint32_t *position = malloc(sizeof *position * (size_t)t->count);
    /* The node of each (leaf, depth), found by walking parents. */
    uint32_t(*nodes)[MOST_DEPTH + 1] = malloc(sizeof *nodes * (size_t)t->count);
    assert_true(position && nodes);
    bool balanced = true;
    for (int i = 0; i < t->count; i++) {
        const twin_leaf *leaf = &t->leaves[i];
        position[i] = leaf_by_label(h, leaf->names[leaf->depth]);
        balanced = balanced && leaf->depth == t->height;
        uint32_t node = position[i];
        for (int d = leaf->depth; d >= 0; d--, node = kn_hierarchy_parent(h, node)) {
            nodes[i][d] = node;
            assert_label(h, node, leaf->names[d]);
            assert_int_equal(kn_hierarchy_cover(h, node), twin_cover(t, leaf, d));
        }
        assert_int_equal(node, KN_NODE_NONE);
        for (int level = 0; level <= t->height; level++)
            assert_int_equal(kn_hierarchy_ancestor(h, position[i], (uint32_t)level),
                             nodes[i][twin_depth(t, leaf, level)]);
    }
    assert_int_equal(kn_hierarchy_balanced(h), balanced);
    for (int i = 0; i < t->count; i++) {
        for (int j = 0; j < t->count; j++) {
            const twin_leaf *a = &t->leaves[i], *b = &t->leaves[j];
            int              common = 0; /* depth of the last shared node */
            while (common < a->depth && common < b->depth && a->ids[common + 1] == b->ids[common + 1]) common++;
            /* Every pair of nodes on the two paths would be too many: a pair drawn from the indices. */
            int da = (i * 7 + j) % (a->depth + 1), db = (j * 5 + i) % (b->depth + 1);
            int meet = da < db ? da : db;
            if (common < meet) meet = common;
            assert_int_equal(kn_hierarchy_lca(h, nodes[i][da], nodes[j][db]), nodes[i][meet]);
            assert_int_equal(kn_hierarchy_lca(h, position[i], position[j]), nodes[i][common]);
            assert_int_equal(kn_hierarchy_covers(h, nodes[i][da], position[j]), common >= da);
        }
    }
    free(position);
    free(nodes);
}

static void assert_same(const kn_hierarchy *a, const kn_hierarchy *b)
{
    assert_int_equal(a->nodes, b->nodes);
    assert_int_equal(a->leaves, b->leaves);
    assert_int_equal(a->height, b->height);
    assert_int_equal(a->balanced, b->balanced);
    assert_int_equal(a->warning_count, b->warning_count);
    assert_memory_equal(a->parent, b->parent, a->nodes * sizeof *a->parent);
    assert_memory_equal(a->first, b->first, a->nodes * sizeof *a->first);
    assert_memory_equal(a->last, b->last, a->nodes * sizeof *a->last);
    assert_memory_equal(a->level, b->level, a->nodes * sizeof *a->level);
    assert_memory_equal(a->changes, b->changes, a->nodes * sizeof *a->changes);
    for (uint32_t n = 0; n < a->nodes; n++)
        assert_true(kn_string_equal(kn_hierarchy_text(a, n), kn_hierarchy_text(b, n)));
}

static void files_agree_with_their_paths_and_survive_writing(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_rng      rng;
    kn_error    err = KN_ERROR_INIT;
    kn_rng_init(&rng, testing_seed(), 0);
    for (int round = 0; round < testing_rounds(300); round++) {
        char      delimiter = ";,\t|:"[kn_rng_below(&rng, 5)];
        twin      t = random_twin(&rng, round % 2 == 0);
        kn_buffer text, again;
        kn_buffer_init(&text, ctx);
        kn_buffer_init(&again, ctx);
        write_twin(&t, &rng, &text, delimiter);
        kn_hierarchy *h = NULL, *copy = NULL;
        /* Sniffing is asked to find every delimiter it knows; the colon must be told. */
        assert_ok(kn_hierarchy_parse(&h, ctx, "h.csv", text.data, text.size, delimiter == ':' ? ':' : 0, &err), err);
        assert_valid(h);
        compare_with_twin(h, &t);
        kn_hierarchy_format(h, delimiter, &again);
        assert_false(again.failed);
        assert_ok(kn_hierarchy_parse(&copy, ctx, "copy", again.data, again.size, delimiter == ':' ? ':' : 0, &err),
                  err);
        assert_same(h, copy);
        kn_hierarchy_free(h);
        kn_hierarchy_free(copy);
        kn_buffer_free(&text);
        kn_buffer_free(&again);
        free(t.leaves);
    }
    testing_context_free(ctx);
}

/* Children, siblings and levels as the public functions give them, against the parents. */
static void the_public_walk_sees_every_node_once(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_rng      rng;
    kn_error    err = KN_ERROR_INIT;
    kn_rng_init(&rng, testing_seed(), 1);
    for (int round = 0; round < testing_rounds(100); round++) {
        twin      t = random_twin(&rng, round % 2 == 0);
        kn_buffer text;
        kn_buffer_init(&text, ctx);
        write_twin(&t, &rng, &text, ';');
        kn_hierarchy *h = NULL;
        assert_ok(kn_hierarchy_parse(&h, ctx, "h.csv", text.data, text.size, ';', &err), err);
        uint32_t seen = 0;
        for (uint32_t n = 0; n < h->nodes; n++) {
            if (n == h->leaves) continue;
            uint32_t leaves = 0;
            for (uint32_t c = kn_hierarchy_child(h, n); c != KN_NODE_NONE; c = kn_hierarchy_sibling(h, c)) {
                assert_int_equal(kn_hierarchy_parent(h, c), n);
                leaves += kn_hierarchy_cover(h, c);
                seen++;
            }
            if (n > h->leaves) assert_int_equal(leaves, kn_hierarchy_cover(h, n));
        }
        assert_int_equal(seen + 1, kn_hierarchy_nodes(h));
        for (int level = 0; level < kn_hierarchy_levels(h); level++) {
            uint32_t count = 0, leaves = 0;
            for (uint32_t n = kn_hierarchy_level_first(h, level); n != KN_NODE_NONE;
                 n = kn_hierarchy_level_next(h, level, n)) {
                count++;
                leaves += kn_hierarchy_cover(h, n);
            }
            assert_int_equal(count, kn_hierarchy_level_size(h, level));
            assert_int_equal(leaves, kn_hierarchy_leaves(h));
        }
        assert_int_equal(kn_hierarchy_level_first(h, -1), KN_NODE_NONE);
        assert_int_equal(kn_hierarchy_level_first(h, kn_hierarchy_levels(h)), KN_NODE_NONE);
        kn_hierarchy_free(h);
        kn_buffer_free(&text);
        free(t.leaves);
    }
    testing_context_free(ctx);
}

/* ---- Files ---- */

typedef struct bad_file {
    const char *text;
    int64_t     line, column;
    const char *message;
} bad_file;

static void mistakes_in_files_are_placed(void **state)
{
    (void)state;
    static const bad_file bad[] = {
        {"", 0, 0, "h.csv: the hierarchy is empty"},
        {"\n\r\n\n", 0, 0, "h.csv: the hierarchy is empty"},
        {"\xef\xbb\xbf", 0, 0, "h.csv: the hierarchy is empty"},
        {"a;g;*\nb;*\nc\n", 3, 1, "h.csv:3:1: one field only; a line holds a leaf and what it becomes, up to the root"},
        {"*", 1, 1, "h.csv:1:1: one field only; a line holds a leaf and what it becomes, up to the root"},
        {"a;g;*\nb;g;*\na;h;*", 3, 1, "h.csv:3:1: field 1: the same leaf again (see line 1)"},
        {"a;g;*\na;*", 2, 1, "h.csv:2:1: field 1: the same leaf again (see line 1)"},
        {"a;g;*\nb;h;all", 2, 5, "h.csv:2:5: field 3: the last label is not the root of the others (see line 1)"},
        {"a;x;g;*\n\nb;x;h;*", 3, 3,
         "h.csv:3:3: field 2: the same label on the same level has another parent (see line 1)"},
        {"\xc3\xa9\xc3\xa9;x;g;*\n\xc3\xa9;x;h;*", 2, 3,
         "h.csv:2:3: field 2: the same label on the same level has another parent (see line 1)"},
        {"\"a\nb\";x;g;*\r\nc;\"x\";h;*", 3, 3,
         "h.csv:3:3: field 2: the same label on the same level has another parent (see line 2)"},
        {"a;g;*\ng;*", 2, 1, "h.csv:2:1: field 1: the same label on the same level is a leaf and a group (see line 1)"},
        {"g;*\na;g;*", 2, 3, "h.csv:2:3: field 2: the same label on the same level is a leaf and a group (see line 1)"},
        {"a;;*", 1, 3, "h.csv:1:3: field 2: an empty label"},
        {"a;g;*\nb;g;", 2, 5, "h.csv:2:5: field 3: an empty label"},
        {"a;g;*\nb;\"g\"x;*", 2, 6, "h.csv:2:6: text after a closing quote"},
        {"a;g;*\nb;\"g;*\n", 2, 3, "h.csv:2:3: a quote is opened here and never closed"},
        {"a;g;*\nb;\xff;*", 2, 3, "h.csv:2:3: not UTF-8 text"},
        {"a;g;*\n\xc3\xa9;\xed\xa0\x80;*", 2, 3, "h.csv:2:3: not UTF-8 text"},
    };
    kn_context *ctx = testing_context(1);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        kn_error      err = KN_ERROR_INIT;
        kn_hierarchy *h = NULL;
        assert_int_equal(kn_hierarchy_parse(&h, ctx, "h.csv", bad[i].text, strlen(bad[i].text), 0, &err), KN_INPUT);
        assert_null(h);
        assert_string_equal(err.message, bad[i].message);
        assert_int_equal(err.line, bad[i].line);
        assert_int_equal(err.column, bad[i].column);
    }
    kn_error      err = KN_ERROR_INIT;
    kn_hierarchy *h = NULL;
    assert_int_equal(kn_hierarchy_parse(&h, ctx, "h.csv", "a;*\0b", 5, ';', &err), KN_INPUT);
    assert_string_equal(err.message, "h.csv:1:4: not UTF-8 text");
    assert_int_equal(kn_hierarchy_parse(&h, ctx, "h.csv", "a;*", 3, '"', &err), KN_USAGE);
    testing_context_free(ctx);
}

static void at_most_256_levels(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    char        text[2000] = "";
    for (int i = 0; i < KN_HIERARCHY_MAX_LEVELS; i++) sprintf(text + strlen(text), "%s%d", i ? ";" : "", i);
    kn_hierarchy *h = parse(ctx, text);
    assert_int_equal(kn_hierarchy_levels(h), KN_HIERARCHY_MAX_LEVELS);
    assert_int_equal(kn_hierarchy_ancestor(h, 0, 100), kn_hierarchy_level_first(h, 100));
    assert_label(h, kn_hierarchy_ancestor(h, 0, 100), "100");
    kn_hierarchy_free(h);
    strcat(text, ";x");
    kn_error err = KN_ERROR_INIT;
    assert_int_equal(kn_hierarchy_parse(&h, ctx, "h.csv", text, strlen(text), 0, &err), KN_INPUT);
    assert_string_equal(err.message, "h.csv:1: more than 256 fields");
    testing_context_free(ctx);
}

static void unbalanced_levels_keep_shallow_leaves(void **state)
{
    (void)state;
    kn_context   *ctx = testing_context(1);
    kn_hierarchy *h =
        parse(ctx, "Physics1;Physics;Teaching;*\nMaths;Teaching;*\nPhysics2;Physics;Teaching;*\nNone;*\n");
    assert_false(kn_hierarchy_balanced(h));
    assert_int_equal(kn_hierarchy_levels(h), 4);
    assert_int_equal(kn_hierarchy_level_size(h, 0), 4);
    assert_int_equal(kn_hierarchy_level_size(h, 1), 3);
    assert_int_equal(kn_hierarchy_level_size(h, 2), 2);
    assert_int_equal(kn_hierarchy_level_size(h, 3), 1);
    uint32_t maths = leaf_by_label(h, "Maths"), none = leaf_by_label(h, "None"), one = leaf_by_label(h, "Physics1");
    assert_int_equal(kn_hierarchy_ancestor(h, maths, 1), maths);
    assert_label(h, kn_hierarchy_ancestor(h, maths, 2), "Teaching");
    assert_int_equal(kn_hierarchy_ancestor(h, none, 2), none);
    assert_label(h, kn_hierarchy_ancestor(h, one, 1), "Physics");
    assert_label(h, kn_hierarchy_lca(h, maths, one), "Teaching");
    assert_int_equal(kn_hierarchy_warnings(h), 0);
    kn_hierarchy_free(h);
    testing_context_free(ctx);
}

static void repeated_labels_cost_no_change_and_two_meanings_are_flagged(void **state)
{
    (void)state;
    kn_context   *ctx = testing_context(1);
    kn_hierarchy *h = parse(ctx, "Maths;Maths;Teaching;*\nPhysics1;Physics;Teaching;*\nPhysics2;Physics;Teaching;*\n");
    uint32_t      maths = leaf_by_label(h, "Maths"), physics = leaf_by_label(h, "Physics1");
    uint32_t      teaching = kn_hierarchy_ancestor(h, maths, 2);
    assert_int_equal(kn_hierarchy_warnings(h), 0);
    assert_int_not_equal(kn_hierarchy_parent(h, maths), maths);
    assert_int_equal(kn_hierarchy_lca(h, maths, kn_hierarchy_parent(h, maths)), kn_hierarchy_parent(h, maths));
    assert_int_equal(h->changes[maths] - h->changes[teaching], 1);
    assert_int_equal(h->changes[physics] - h->changes[teaching], 2);
    kn_hierarchy_free(h);

    h = parse(ctx, "Maths;Teaching;Teaching;*\nPhysics1;Physics;Teaching;*\nPhysics2;Physics;Teaching;*\n");
    assert_int_equal(kn_hierarchy_warnings(h), 1);
    const kn_hierarchy_warning *w = kn_hierarchy_warning_at(h, 0);
    assert_int_equal(w->level, 1);
    assert_int_equal(w->other_level, 2);
    assert_int_equal(w->line, 1);
    assert_int_equal(w->column, 7);
    assert_int_equal(w->other_line, 1);
    assert_int_equal(w->other_column, 16);
    assert_label(h, w->node, "Teaching");
    assert_null(kn_hierarchy_warning_at(h, 1));
    kn_hierarchy_free(h);

    h = parse(ctx, "Other;Other;*\nMisc;Other;*\n"); /* a leaf and a group that holds more */
    assert_int_equal(kn_hierarchy_warnings(h), 1);
    assert_int_equal(kn_hierarchy_warning_at(h, 0)->level, 0);
    kn_hierarchy_free(h);
    testing_context_free(ctx);
}

static void the_delimiter_is_found(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    struct {
        const char *text;
        const char *leaf, *root;
    } cases[] = {
        {"Smith, J;people;*\nJones, K;people;*\n", "Smith, J", "*"},
        {"a;b,g,*\nc,g,*\n", "a;b", "*"},
        {"a,x\tg|h\t*\n\"b\tc\"\tg|h\t*", "b\tc", "*"},
        {"1|1-2|*\n2|1-2|*", "2", "*"},
        {"\"x;y\",\"all;\"\"\"\n", "x;y", "all;\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kn_hierarchy *h = parse(ctx, cases[i].text);
        (void)leaf_by_label(h, cases[i].leaf);
        assert_label(h, kn_hierarchy_root(h), cases[i].root);
        kn_hierarchy_free(h);
    }
    testing_context_free(ctx);
}

/* ---- Taxonomies ---- */

static void taxonomies_are_read_by_indent(void **state)
{
    (void)state;
    static const struct {
        const char *text, *lines;
    } good[] = {
        {"Any\n  Science\n    Math\n    CS\n\n  Social\n    History\n",
         "Math;Science;Any\nCS;Science;Any\nHistory;Social;Any\n"},
        {"\xef\xbb\xbf"
         "Any\r\n\tScience \t\r\n\t\tMath, pure\r\n\tSports",
         "Math, pure;Science;Any\nSports;Any\n"},
        {"A\nB\n   b\n", "A;*\nb;B;*\n"},
        {"A", "A;*\n"},
        {"A\n A\n  A\n", "A;A;A\n"},
    };
    kn_context *ctx = testing_context(1);
    kn_error    err = KN_ERROR_INIT;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        kn_hierarchy *h = NULL;
        assert_ok(kn_taxonomy_parse(&h, ctx, "t", good[i].text, strlen(good[i].text), &err), err);
        assert_valid(h);
        kn_buffer text;
        kn_buffer_init(&text, ctx);
        kn_hierarchy_format(h, ';', &text);
        assert_string_equal(kn_buffer_text(&text), good[i].lines);
        kn_buffer_free(&text);
        kn_hierarchy_free(h);
    }
    static const bad_file bad[] = {
        {" \n\n", 0, 0, "t: the taxonomy is empty"},
        {"  A\nB", 1, 3, "t:1:3: the first label is indented"},
        {"A\n  B\n   C", 3, 4, "t:3:4: the indent is not a whole number of steps"},
        {"A\n  B\n      C", 3, 7, "t:3:7: more than one step deeper than the line before"},
        {"A\n  B\n\tC", 3, 1, "t:3:1: tabs and blanks are mixed in the indent"},
        {"A\n\tB\n\t C", 3, 2, "t:3:2: tabs and blanks are mixed in the indent"},
        {"A\n B\n  x\n C\n  x\n", 5, 3, "t:5:3: the same leaf again (see line 3)"},
        {"A\n B\n  G\n   x\n C\n  G\n   y\n", 6, 3,
         "t:6:3: the same label on the same level has another parent (see line 3)"},
        {"A\n B\n  x\n C\n  y\n B\n  z", 6, 2, "t:6:2: the same group again (see line 2)"},
        {"A\n B\n  G\n C\n  G\n   y\n", 5, 3,
         "t:5:3: the same label on the same level is a leaf and a group (see line 3)"},
        {"A\n B\xff", 2, 3, "t:2:3: not UTF-8 text"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        kn_hierarchy *h = NULL;
        assert_int_equal(kn_taxonomy_parse(&h, ctx, "t", bad[i].text, strlen(bad[i].text), &err), KN_INPUT);
        assert_string_equal(err.message, bad[i].message);
        assert_int_equal(err.line, bad[i].line);
        assert_int_equal(err.column, bad[i].column);
    }
    testing_context_free(ctx);
}

/* ---- Binding ---- */

static void bind_or_fail(kn_hierarchy *h, const kn_table *t)
{
    kn_error err = KN_ERROR_INIT;
    assert_ok(kn_hierarchy_bind(h, t, 0, '.', false, &err), err);
    assert_valid(h);
}

static void values_find_their_leaves(void **state)
{
    (void)state;
    static const struct {
        kn_type     type;
        const char *file;
        const char *cells[4];
        const char *leaves[4];
    } cases[] = {
        {KN_TYPE_TEXT, "b;g;*\na;g;*\n1.50;*\n1.5;*\n", {"a", "1.5", "b", "1.50"}, {"a", "1.5", "b", "1.50"}},
        {KN_TYPE_INTEGER, "39;g;*\n7.0;g;*\n-3;*\n1e2;*\n", {"39", "7", "-3", "100"}, {"39", "7.0", "-3", "1e2"}},
        {KN_TYPE_DECIMAL,
         "1.5;g;*\n2.0;g;*\n-0.25;*\nx;*\n10;*",
         {"1.50", "2", "-.25", "10.0"},
         {"1.5", "2.0", "-0.25", "10"}},
        {KN_TYPE_DATE,
         "2020-03-05;g;*\n2019-12-31;*\n",
         {"2020-03-05", "2019-12-31", NULL, NULL},
         {"2020-03-05", "2019-12-31", "", ""}},
    };
    kn_context *ctx = testing_context(1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kn_table     *t = table_of(ctx, cases[i].cells, 4, cases[i].type);
        kn_hierarchy *h = parse(ctx, cases[i].file);
        bind_or_fail(h, t);
        for (int64_t row = 0; row < 4; row++)
            assert_label(h, kn_hierarchy_of_code(h, kn_table_code(t, 0, row), 0), cases[i].leaves[row]);
        kn_hierarchy_free(h);
        kn_table_free(t);
    }
    /* Dates in another spelling than the leaves'. */
    const char   *days[] = {"31/12/2019", "05/03/2020"};
    kn_error      err = KN_ERROR_INIT;
    kn_table     *t = NULL;
    kn_hierarchy *h = parse(ctx, "2020-03-05;g;*\n2019-12-31;*\n");
    assert_ok(make_table(&t, ctx, days, 2, KN_TYPE_DATE, "%d/%m/%Y", &err), err);
    bind_or_fail(h, t);
    assert_label(h, kn_hierarchy_of_code(h, kn_table_code(t, 0, 0), 0), "2019-12-31");
    kn_table_free(t);
    kn_hierarchy_free(h);
    const char *times[] = {"2020-03-05T10:00:00Z", "2020-03-05T12:00:00+01:00", NULL};
    t = table_of(ctx, times, 3, KN_TYPE_DATETIME);
    h = parse(ctx, "2020-03-05 10:00:00;d;*\n2020-03-05T11:00:00Z;d;*\n");
    bind_or_fail(h, t);
    assert_label(h, kn_hierarchy_of_code(h, kn_table_code(t, 0, 1), 0), "2020-03-05T11:00:00Z");
    assert_int_equal(kn_hierarchy_of_code(h, kn_table_code(t, 0, 2), 1), h->leaves);
    kn_table_free(t);
    kn_hierarchy_free(h);
    testing_context_free(ctx);
}

static void a_value_without_a_leaf_is_named_by_row_only(void **state)
{
    (void)state;
    kn_context   *ctx = testing_context(1);
    const char   *cells[] = {"a", NULL, "secret", "b", "other", "secret"};
    kn_table     *t = table_of(ctx, cells, 6, KN_TYPE_TEXT);
    kn_hierarchy *h = parse(ctx, "a;g;*\nb;g;*\n");
    kn_error      err = KN_ERROR_INIT;
    assert_int_equal(kn_hierarchy_bind(h, t, 0, '.', false, &err), KN_INPUT);
    assert_string_equal(err.message,
                        "h.csv: column \"c\" has 2 values without a leaf in the hierarchy, first in data row 3");
    assert_valid(h);
    assert_null(h->leaf_of_code);
    assert_int_equal(kn_hierarchy_bind(h, t, 0, '.', true, &err), KN_INPUT);
    assert_string_equal(
        err.message, "h.csv: column \"c\" has 2 values without a leaf in the hierarchy, first in data row 3: secret");
    assert_int_equal(kn_hierarchy_bind(h, t, 1, '.', true, &err), KN_USAGE);
    assert_int_equal(kn_hierarchy_bind(h, t, 0, ';', true, &err), KN_USAGE);
    kn_hierarchy_free(h);
    kn_table_free(t);
    /* A long value is cut between characters. */
    char long_value[301];
    for (int i = 0; i < 300; i += 2) memcpy(long_value + i, "\xc3\xa9", 2);
    memmove(long_value + 1, long_value, 299);
    long_value[0] = 'x';
    long_value[299] = '\0';
    const char *one[] = {long_value};
    t = table_of(ctx, one, 1, KN_TYPE_TEXT);
    h = parse(ctx, "a;*");
    assert_int_equal(kn_hierarchy_bind(h, t, 0, '.', true, &err), KN_INPUT);
    assert_string_equal(err.message + strlen(err.message) - 5, "\xc3\xa9...");
    kn_hierarchy_free(h);
    kn_table_free(t);
    testing_context_free(ctx);
}

/* The level map against its definition, on random trees and random subsets of their leaves. */
static void level_maps_are_dense_and_in_leaf_order(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_rng      rng;
    kn_error    err = KN_ERROR_INIT;
    kn_rng_init(&rng, testing_seed(), 2);
    for (int round = 0; round < testing_rounds(200); round++) {
        twin        tw = random_twin(&rng, round % 2 == 0);
        const char *cells[MOST_LEAVES + 1];
        int64_t     rows = 0;
        for (int i = 0; i < tw.count; i++)
            if (kn_rng_below(&rng, 3)) cells[rows++] = tw.leaves[i].names[tw.leaves[i].depth];
        bool missing = rows == 0 || kn_rng_below(&rng, 2);
        if (missing) cells[rows++] = NULL;
        kn_buffer text;
        kn_buffer_init(&text, ctx);
        write_twin(&tw, &rng, &text, ';');
        kn_hierarchy *h = NULL;
        assert_ok(kn_hierarchy_parse(&h, ctx, "h.csv", text.data, text.size, 0, &err), err);
        kn_table *t = table_of(ctx, cells, rows, KN_TYPE_TEXT);
        bind_or_fail(h, t);
        uint32_t codes = h->codes, map[MOST_LEAVES + 2], nodes[MOST_LEAVES + 2], distinct;
        assert_int_equal(codes, kn_table_distinct(t, 0));
        for (uint32_t level = 0; level <= h->height; level++) {
            kn_hierarchy_level_map(h, level, map, &distinct, nodes);
            bool used[MOST_LEAVES + 2] = {false};
            for (uint32_t c = 0; c < codes + missing; c++) {
                assert_true(map[c] < distinct);
                used[map[c]] = true;
                assert_int_equal(nodes[map[c]], kn_hierarchy_of_code(h, c, level));
            }
            for (uint32_t i = 0; i < distinct; i++) {
                assert_true(used[i]);
                if (i > 0) assert_true(h->first[nodes[i - 1]] < h->first[nodes[i]]);
            }
        }
        if (codes > 0) { /* the lowest common ancestor of a set, folded pair by pair */
            uint32_t picked[5], lca = KN_NODE_NONE;
            for (int i = 0; i < 5; i++) {
                picked[i] = (uint32_t)kn_rng_below(&rng, codes + missing);
                uint32_t leaf = kn_hierarchy_of_code(h, picked[i], 0);
                lca = i == 0 ? leaf : kn_hierarchy_lca(h, lca, leaf);
            }
            assert_int_equal(kn_hierarchy_lca_codes(h, picked, 5), lca);
        }
        kn_table_free(t);
        kn_hierarchy_free(h);
        kn_buffer_free(&text);
        free(tw.leaves);
    }
    testing_context_free(ctx);
}

static void missing_cells_stay_below_the_root(void **state)
{
    (void)state;
    kn_context   *ctx = testing_context(1);
    const char   *cells[] = {"a", NULL, "b"};
    kn_table     *t = table_of(ctx, cells, 3, KN_TYPE_TEXT);
    kn_hierarchy *h = parse(ctx, "a;g;*\nb;g;*\nc;k;*\n");
    bind_or_fail(h, t);
    uint32_t map[3], nodes[3], distinct;
    kn_hierarchy_level_map(h, 1, map, &distinct, nodes);
    assert_int_equal(distinct, 2);
    assert_int_equal(map[0], 0);
    assert_int_equal(map[1], 0);
    assert_int_equal(map[2], 1);
    assert_int_equal(nodes[1], h->leaves);
    kn_hierarchy_level_map(h, 2, map, &distinct, NULL);
    assert_int_equal(distinct, 1);
    assert_int_equal(map[2], 0);
    uint32_t both[] = {0, 2}, alone[] = {2, 2};
    assert_int_equal(kn_hierarchy_lca_codes(h, both, 2), kn_hierarchy_root(h));
    assert_int_equal(kn_hierarchy_lca_codes(h, alone, 2), h->leaves);
    assert_int_equal(kn_hierarchy_cover(h, h->leaves), 1);
    assert_int_equal(kn_hierarchy_cover(h, kn_hierarchy_root(h)), 3); /* the domain: "missing" is not counted */
    kn_hierarchy_free(h);
    kn_table_free(t);
    const char *none[] = {NULL, NULL}; /* a column without values */
    kn_error    err = KN_ERROR_INIT;
    t = table_of(ctx, none, 2, KN_TYPE_AUTO);
    kn_hierarchy_spec spec = KN_HIERARCHY_SPEC_INIT;
    spec.kind = KN_HIERARCHY_SUPPRESS;
    assert_ok(kn_hierarchy_make(&h, ctx, t, 0, &spec, false, &err), err);
    assert_valid(h);
    assert_int_equal(kn_hierarchy_leaves(h), 0);
    kn_hierarchy_level_map(h, 0, map, &distinct, nodes);
    assert_int_equal(distinct, 1);
    assert_int_equal(nodes[0], 0);
    kn_hierarchy_level_map(h, 1, map, &distinct, nodes);
    assert_int_equal(nodes[0], kn_hierarchy_root(h));
    kn_hierarchy_free(h);
    kn_table_free(t);
    testing_context_free(ctx);
}

/* ---- Builders ---- */

static kn_hierarchy *build(kn_context *ctx, const kn_table *t, const kn_hierarchy_spec *spec)
{
    kn_error      err = KN_ERROR_INIT;
    kn_hierarchy *h = NULL;
    assert_ok(kn_hierarchy_make(&h, ctx, t, 0, spec, false, &err), err);
    assert_valid(h);
    return h;
}

/* The path of a row's value as one string. */
static void assert_path(const kn_hierarchy *h, const kn_table *t, int64_t row, const char *expected)
{
    char     text[500] = "";
    uint32_t node = kn_hierarchy_of_code(h, kn_table_code(t, 0, row), 0);
    for (; node != KN_NODE_NONE; node = kn_hierarchy_parent(h, node)) {
        kn_string label = kn_hierarchy_text(h, node);
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%.*s", *text ? " " : "", (int)label.size,
                 label.data);
    }
    assert_string_equal(text, expected);
}

static void check_paths(kn_context *ctx, const char *const *cells, const char *const *paths, int64_t rows, kn_type type,
                        const kn_hierarchy_spec *spec)
{
    kn_table     *t = table_of(ctx, cells, rows, type);
    kn_hierarchy *h = build(ctx, t, spec);
    for (int64_t i = 0; i < rows; i++) assert_path(h, t, i, paths[i]);
    kn_hierarchy_free(h);
    kn_table_free(t);
}

static void builders_by_example(void **state)
{
    (void)state;
    kn_context       *ctx = testing_context(1);
    kn_hierarchy_spec spec = KN_HIERARCHY_SPEC_INIT;
#define CHECK(type, ...)                                                                                               \
    do {                                                                                                               \
        static const char *const both[][2] = __VA_ARGS__;                                                              \
        enum { ROWS = sizeof both / sizeof *both };                                                                    \
        const char *cells[ROWS], *paths[ROWS];                                                                         \
        for (int i_ = 0; i_ < ROWS; i_++) {                                                                            \
            cells[i_] = both[i_][0];                                                                                   \
            paths[i_] = both[i_][1];                                                                                   \
        }                                                                                                              \
        check_paths(ctx, cells, paths, ROWS, type, &spec);                                                             \
    } while (0)
    spec.kind = KN_HIERARCHY_MASK;
    CHECK(KN_TYPE_TEXT,
          {{"02138", "02138 0213* 021** 02*** 0**** *****"}, {"47906", "47906 4790* 479** 47*** 4**** *****"}});
    CHECK(KN_TYPE_TEXT,
          {{"\xc3\xa9t\xc3\xa9", "\xc3\xa9t\xc3\xa9 \xc3\xa9t* \xc3\xa9** *** *"}, {"ab", "ab a* ** ** *"}});
    spec.mask_step = 2;
    CHECK(KN_TYPE_TEXT, {{"02138", "02138 021** 0**** *****"}});
    spec.mask_step = 0;
    spec.mask_pad = true;
    CHECK(KN_TYPE_TEXT, {{"A001", "A001 A00* A0** A*** ****"}, {"A0", "A0 A0** A0** A*** ****"}});
    spec.mask_left = true;
    spec.mask = "\xc2\xb7";
    CHECK(KN_TYPE_TEXT, {{"123", "123 \xc2\xb7"
                                 "23 \xc2\xb7\xc2\xb7"
                                 "3 \xc2\xb7\xc2\xb7\xc2\xb7"},
                         {"x3", "x3 \xc2\xb7x3 \xc2\xb7\xc2\xb7"
                                "3 \xc2\xb7\xc2\xb7\xc2\xb7"}});
    const char *widths[] = {"5", "10", "20"};
    spec.kind = KN_HIERARCHY_RANGES;
    spec.widths = widths;
    spec.width_count = 3;
    CHECK(KN_TYPE_INTEGER, {{"23", "23 [20, 24] [20, 29] [20, 39] *"},
                            {"0", "0 [0, 4] [0, 9] [0, 19] *"},
                            {"-1", "-1 [-5, -1] [-10, -1] [-20, -1] *"}});
    spec.origin = "3";
    CHECK(KN_TYPE_INTEGER, {{"22", "22 [18, 22] [13, 22] [3, 22] *"}, {"23", "23 [23, 27] [23, 32] [23, 42] *"}});
    const char *small[] = {"0.05", "0.5"};
    spec.widths = small;
    spec.width_count = 2;
    spec.origin = NULL;
    CHECK(KN_TYPE_DECIMAL, {{"0.30", "0.30 [0.3, 0.35) [0, 0.5) *"},
                            {"-0.01", "-0.01 [-0.05, 0) [-0.5, 0) *"},
                            {"12.999", "12.999 [12.95, 13) [12.5, 13) *"},
                            {"1e-30", "1e-30 [0, 0.05) [0, 0.5) *"}});
    const char       *ages[] = {"18", "65"}, *adult[] = {"18"};
    kn_hierarchy_cuts cuts[] = {{ages, 2}, {adult, 1}};
    spec.kind = KN_HIERARCHY_BREAKS;
    spec.breaks = cuts;
    spec.break_count = 2;
    CHECK(KN_TYPE_INTEGER, {{"17", "17 (-inf, 17] (-inf, 17] *"},
                            {"18", "18 [18, 64] [18, inf) *"},
                            {"64", "64 [18, 64] [18, inf) *"},
                            {"65", "65 [65, inf) [18, inf) *"}});
    CHECK(KN_TYPE_DECIMAL, {{"17.99", "17.99 (-inf, 18) (-inf, 18) *"},
                            {"18.0", "18.0 [18, 65) [18, inf) *"},
                            {"65.5", "65.5 [65, inf) [18, inf) *"}});
    const char       *dates[] = {"2000-01-01", "2010-01-01"};
    kn_hierarchy_cuts date_cuts[] = {{dates, 2}};
    spec.breaks = date_cuts;
    spec.break_count = 1;
    CHECK(KN_TYPE_DATE, {{"1999-12-31", "1999-12-31 (-inf, 1999-12-31] *"},
                         {"2000-01-01", "2000-01-01 [2000-01-01, 2009-12-31] *"},
                         {"2010-01-01", "2010-01-01 [2010-01-01, inf) *"}});
    CHECK(KN_TYPE_DATETIME, {{"1999-12-31T23:59:59Z", "1999-12-31T23:59:59Z (-inf, 2000-01-01) *"},
                             {"2009-12-31T23:59:59Z", "2009-12-31T23:59:59Z [2000-01-01, 2010-01-01) *"},
                             {"2010-01-01T00:00:00Z", "2010-01-01T00:00:00Z [2010-01-01, inf) *"}});
    spec.kind = KN_HIERARCHY_CALENDAR;
    CHECK(KN_TYPE_DATE, {{"2019-12-31", "2019-12-31 2019-M12 2019-Q4 2019 [2010-01-01, 2019-12-31] *"},
                         {"1969-03-01", "1969-03-01 1969-M03 1969-Q1 1969 [1960-01-01, 1969-12-31] *"}});
    CHECK(KN_TYPE_DATETIME, {{"1969-12-31T23:59:59Z", "1969-12-31T23:59:59Z 1969-12-31 1969-M12 1969-Q4 1969 "
                                                      "[1960-01-01, 1970-01-01) *"}});
    spec.calendar = KN_CALENDAR_MONTH | KN_CALENDAR_YEAR;
    CHECK(KN_TYPE_DATE, {{"2019-12-31", "2019-12-31 2019-M12 2019 *"}});
    spec.kind = KN_HIERARCHY_PREFIX;
    spec.separator = ".";
    CHECK(KN_TYPE_TEXT,
          {{"a.b.c", "a.b.c a.b a *"}, {"a.b", "a.b a.b a *"}, {"a", "a a a *"}, {".x.y", ".x.y .x.y .x *"}});
    spec.separator = "::";
    CHECK(KN_TYPE_TEXT, {{"a::b:::c", "a::b:::c a::b a *"}, {"d", "d d d *"}});
    spec.kind = KN_HIERARCHY_SUPPRESS;
    CHECK(KN_TYPE_TEXT, {{"a", "a *"}, {"*", "* *"}});
#undef CHECK
    testing_context_free(ctx);
}

/* Ranges against counting up from far below, in hundredths. */
static void ranges_agree_with_counting(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_rng      rng;
    kn_rng_init(&rng, testing_seed(), 3);
    for (int round = 0; round < testing_rounds(100); round++) {
        enum { ROWS = 40 };
        bool        decimal = round % 2;
        long        unit = decimal ? 1 : 100, width[3], origin = ((long)kn_rng_below(&rng, 400) - 200) * unit;
        char        cells[ROWS][32], words[3][32], start[32];
        const char *cell_list[ROWS], *width_list[3];
        for (int i = 0; i < ROWS; i++) {
            long v = ((long)kn_rng_below(&rng, 2000) - 1000) * unit;
            snprintf(cells[i], sizeof cells[i], decimal ? "%s%ld.%02ld" : "%s%ld", v < 0 ? "-" : "", labs(v) / 100,
                     labs(v) % 100);
            cell_list[i] = cells[i];
        }
        for (int i = 0; i < 3; i++) {
            width[i] =
                i == 0 ? (1 + (long)kn_rng_below(&rng, 30)) * unit : width[i - 1] * (2 + (long)kn_rng_below(&rng, 3));
            snprintf(words[i], sizeof words[i], "%ld.%02ld", width[i] / 100, width[i] % 100);
            width_list[i] = words[i];
        }
        snprintf(start, sizeof start, "%s%ld.%02ld", origin < 0 ? "-" : "", labs(origin) / 100, labs(origin) % 100);
        kn_hierarchy_spec spec = KN_HIERARCHY_SPEC_INIT;
        spec.kind = KN_HIERARCHY_RANGES;
        spec.widths = width_list;
        spec.width_count = 3;
        spec.origin = start;
        kn_table     *t = table_of(ctx, cell_list, ROWS, decimal ? KN_TYPE_DECIMAL : KN_TYPE_INTEGER);
        kn_hierarchy *h = build(ctx, t, &spec);
        for (int i = 0; i < ROWS; i++) {
            long v = lround(strtod(cells[i], NULL) * 100);
            for (int level = 0; level < 3; level++) {
                long low = origin - width[level] * (1 + 200000 / width[level]);
                while (low + width[level] <= v) low += width[level];
                char expected[80];
                if (decimal)
                    snprintf(expected, sizeof expected, "[%.10g, %.10g)", (double)low / 100,
                             (double)(low + width[level]) / 100);
                else if (width[level] == 100)
                    snprintf(expected, sizeof expected, "%ld", low / 100);
                else
                    snprintf(expected, sizeof expected, "[%ld, %ld]", low / 100, (low + width[level]) / 100 - 1);
                assert_label(h, kn_hierarchy_of_code(h, kn_table_code(t, 0, i), (uint32_t)level + 1), expected);
            }
        }
        kn_hierarchy_free(h);
        kn_table_free(t);
    }
    testing_context_free(ctx);
}

/* Masks against masking arrays of characters one by one. */
static void masks_agree_with_masking_by_hand(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_rng      rng;
    kn_rng_init(&rng, testing_seed(), 4);
    for (int round = 0; round < testing_rounds(200); round++) {
        enum { ROWS = 20, LONGEST = 9 };
        static const char *const alphabet[] = {"a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "*", "7"};
        int                      letters[ROWS][LONGEST], length[ROWS], longest = 0, shortest = LONGEST;
        char                     cells[ROWS][64];
        const char              *list[ROWS];
        for (int i = 0; i < ROWS; i++) {
            length[i] = 1 + (int)kn_rng_below(&rng, LONGEST);
            if (round % 4 == 0) length[i] = 4;
            cells[i][0] = '\0';
            for (int k = 0; k < length[i]; k++) strcat(cells[i], alphabet[letters[i][k] = (int)kn_rng_below(&rng, 6)]);
            list[i] = cells[i];
            if (length[i] > longest) longest = length[i];
            if (length[i] < shortest) shortest = length[i];
        }
        kn_hierarchy_spec spec = KN_HIERARCHY_SPEC_INIT;
        spec.kind = KN_HIERARCHY_MASK;
        spec.mask_left = kn_rng_below(&rng, 2);
        spec.mask_pad = kn_rng_below(&rng, 2);
        spec.mask_step = 1 + (int)kn_rng_below(&rng, 3);
        spec.mask = kn_rng_below(&rng, 2) ? "#" : NULL;
        kn_table     *t = table_of(ctx, list, ROWS, KN_TYPE_TEXT);
        kn_hierarchy *h = build(ctx, t, &spec);
        int           masks = (longest + spec.mask_step - 1) / spec.mask_step;
        assert_int_equal(kn_hierarchy_levels(h), 1 + masks + (!spec.mask_pad && shortest != longest));
        for (int i = 0; i < ROWS; i++) {
            for (int level = 1; level <= masks; level++) {
                char expected[200] = "";
                int  width = spec.mask_pad ? longest : length[i];
                for (int p = 0; p < width; p++) { /* position in the padded value */
                    int  k = spec.mask_left ? p - (width - length[i]) : p;
                    bool hidden = spec.mask_left ? p < level * spec.mask_step : width - 1 - p < level * spec.mask_step;
                    bool padding = k < 0 || k >= length[i];
                    strcat(expected, hidden || padding ? (spec.mask ? spec.mask : "*") : alphabet[letters[i][k]]);
                }
                assert_label(h, kn_hierarchy_of_code(h, kn_table_code(t, 0, i), (uint32_t)level), expected);
            }
        }
        kn_hierarchy_free(h);
        kn_table_free(t);
    }
    testing_context_free(ctx);
}

static void specs_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    kn_context   *ctx = testing_context(1);
    const char   *number_cells[] = {"1", "9223372036854775807"}, *text_cells[] = {"a"}, *big_cells[] = {"1.5", "1e300"};
    kn_table     *numbers = table_of(ctx, number_cells, 2, KN_TYPE_INTEGER);
    kn_table     *texts = table_of(ctx, text_cells, 1, KN_TYPE_TEXT);
    kn_table     *decimals = table_of(ctx, big_cells, 2, KN_TYPE_DECIMAL);
    kn_error      err = KN_ERROR_INIT;
    kn_hierarchy *h = NULL;
    kn_hierarchy_spec spec = KN_HIERARCHY_SPEC_INIT;
#define REFUSED(table, status_, text_)                                                                                 \
    do {                                                                                                               \
        assert_int_equal(kn_hierarchy_make(&h, ctx, table, 0, &spec, false, &err), status_);                           \
        assert_string_equal(err.message, text_);                                                                       \
    } while (0)
    spec.kind = KN_HIERARCHY_RANGES;
    REFUSED(texts, KN_USAGE, "column \"c\" is of type text; ranges need integers or decimals");
    REFUSED(numbers, KN_USAGE, "ranges: at least one width is needed");
    const char *widths[] = {"10", "25"};
    spec.widths = widths;
    spec.width_count = 2;
    REFUSED(numbers, KN_USAGE, "ranges: width 25 is not a multiple of the one before, 10");
    widths[1] = "10";
    REFUSED(numbers, KN_USAGE, "ranges: width 10 is not a multiple of the one before, 10");
    widths[1] = "-20";
    REFUSED(numbers, KN_USAGE, "ranges: a width is greater than 0");
    widths[1] = "x";
    REFUSED(numbers, KN_USAGE, "ranges: \"x\" is not a number");
    widths[1] = "20.5";
    REFUSED(numbers, KN_USAGE, "column \"c\" is of type integer; ranges: \"20.5\" has too many decimals for it");
    widths[1] = "1e30";
    REFUSED(numbers, KN_USAGE, "ranges: \"1e30\" is too large");
    widths[1] = "20";
    REFUSED(numbers, KN_INPUT, "column \"c\" has numbers that are too large for ranges");
    REFUSED(decimals, KN_INPUT, "column \"c\" has numbers that are too large for ranges");
    spec.kind = KN_HIERARCHY_BREAKS;
    REFUSED(texts, KN_USAGE, "column \"c\" is of type text; breaks need numbers, dates or times");
    REFUSED(numbers, KN_USAGE, "breaks: at least one level is needed");
    const char       *low[] = {"18", "65"}, *high[] = {"20"}, *down[] = {"65", "18"};
    kn_hierarchy_cuts cuts[] = {{low, 2}, {high, 1}};
    spec.breaks = cuts;
    spec.break_count = 2;
    REFUSED(numbers, KN_USAGE, "breaks: a point of level 2 is not one of level 1");
    cuts[0].points = down;
    REFUSED(numbers, KN_USAGE, "breaks: the points of level 1 do not ascend");
    cuts[1].count = 0;
    REFUSED(numbers, KN_USAGE, "breaks: level 2 has no points");
    spec.kind = KN_HIERARCHY_CALENDAR;
    REFUSED(texts, KN_USAGE, "column \"c\" is of type text; a calendar needs dates or times");
    spec.kind = KN_HIERARCHY_PREFIX;
    REFUSED(texts, KN_USAGE, "prefix: a separator is needed");
    spec.kind = KN_HIERARCHY_MASK;
    spec.mask = "**";
    REFUSED(texts, KN_USAGE, "mask: the mask is one character");
    spec.mask = NULL;
    spec.mask_step = -1;
    REFUSED(texts, KN_USAGE, "mask: the step is a positive number of characters");
    spec.kind = KN_HIERARCHY_FILE;
    REFUSED(texts, KN_USAGE, "a hierarchy file needs a path");
    spec.decimal = 'x';
    REFUSED(texts, KN_USAGE, "the decimal mark is '.' or ','");
    spec.size = 3;
    REFUSED(texts, KN_USAGE, "hierarchy: the size field is not set (use the initializer)");
#undef REFUSED
    kn_table_free(numbers);
    kn_table_free(texts);
    kn_table_free(decimals);
    char long_text[301];
    memset(long_text, 'x', 300);
    long_text[300] = '\0';
    const char *one[] = {long_text};
    kn_table   *t = table_of(ctx, one, 1, KN_TYPE_TEXT);
    spec = (kn_hierarchy_spec)KN_HIERARCHY_SPEC_INIT;
    spec.kind = KN_HIERARCHY_MASK;
    assert_int_equal(kn_hierarchy_make(&h, ctx, t, 0, &spec, false, &err), KN_USAGE);
    assert_string_equal(err.message, "column \"c\": the hierarchy would have more than 256 levels");
    kn_table_free(t);
    testing_context_free(ctx);
}

/* ---- Files on disk, and memory that runs out ---- */

static void files_are_read_bound_and_written(void **state)
{
    (void)state;
    kn_context       *ctx = testing_context(1);
    static const char text[] = "b,g,*\na,g,*\n";
    kn_hierarchy_spec spec = KN_HIERARCHY_SPEC_INIT;
    spec.path = testing_file("h.csv", text, sizeof text - 1);
    kn_error      err = KN_ERROR_INIT;
    kn_hierarchy *h = NULL, *copy = NULL;
    const char   *cells[] = {"a", "b"};
    kn_table     *t = table_of(ctx, cells, 2, KN_TYPE_TEXT);
    assert_ok(kn_hierarchy_read(&h, ctx, &spec, &err), err);
    assert_null(h->leaf_of_code);
    kn_hierarchy_free(h);
    h = build(ctx, t, &spec);
    assert_int_equal(h->codes, 2);
    const char *out = testing_file("out.csv", "", 0);
    assert_ok(kn_hierarchy_write(h, ctx, out, 0, &err), err);
    spec.path = out;
    assert_ok(kn_hierarchy_read(&copy, ctx, &spec, &err), err);
    assert_same(h, copy);
    kn_hierarchy_free(h);
    kn_hierarchy_free(copy);
    assert_int_equal(kn_hierarchy_write(copy = NULL, ctx, out, '"', &err), KN_USAGE);
    spec.path = "/nonexistent/h.csv";
    assert_int_equal(kn_hierarchy_read(&h, ctx, &spec, &err), KN_INPUT);
    spec.kind = KN_HIERARCHY_MASK;
    assert_int_equal(kn_hierarchy_read(&h, ctx, &spec, &err), KN_USAGE);
    kn_table_free(t);
    testing_context_free(ctx);
}

static int64_t people_of(const kn_hierarchy *h, const char *label)
{
    for (uint32_t node = 0; node < h->nodes; node++) {
        size_t      length;
        const char *text = kn_hierarchy_label(h, node, &length);
        if (length == strlen(label) && memcmp(text, label, length) == 0) return kn_hierarchy_people(h, node);
    }
    return -2;
}

/* The people of a node are those of its leaves, in the file's order or not; the root's are everybody. */
static void a_population_is_counted_by_node(void **state)
{
    (void)state;
    kn_context       *ctx = testing_context(1);
    static const char text[] = "b,g,*\na,g,*\nc,h,*\nd,h,*\n", people[] = "c,0\na,5\n,2\nb,7\n";
    static const char ages[] = "23;4\n27;1\n31;9\n", twice[] = "23;4\n27;1\n31;9\n23.0;2\n";
    const char       *cells[] = {"a", "b", NULL}, *numbers[] = {"23", "31"}, *widths[] = {"10"};
    kn_hierarchy_spec spec = KN_HIERARCHY_SPEC_INIT;
    kn_hierarchy     *h = NULL;
    kn_error          err = KN_ERROR_INIT;
    kn_table         *t = table_of(ctx, cells, 3, KN_TYPE_TEXT), *n = table_of(ctx, numbers, 2, KN_TYPE_INTEGER);
    spec.path = testing_file("h.csv", text, sizeof text - 1);
    assert_ok(kn_hierarchy_read(&h, ctx, &spec, &err), err);
    assert_int_equal(people_of(h, "g"), -1);
    kn_hierarchy_free(h);
    spec.population = testing_file("people.csv", people, sizeof people - 1);
    for (int bound = 0; bound < 2; bound++) {
        if (bound)
            h = build(ctx, t, &spec);
        else
            assert_ok(kn_hierarchy_read(&h, ctx, &spec, &err), err);
        assert_int_equal(people_of(h, "a"), 5);
        assert_int_equal(people_of(h, "d"), 0);
        assert_int_equal(people_of(h, "g"), 12);
        assert_int_equal(people_of(h, "h"), 0);
        assert_int_equal(people_of(h, ""), 2);
        assert_int_equal(people_of(h, "*"), 14);
        assert_int_equal(kn_hierarchy_people(h, h->nodes), -1);
        kn_hierarchy_free(h);
    }
    spec = (kn_hierarchy_spec)KN_HIERARCHY_SPEC_INIT;
    spec.kind = KN_HIERARCHY_RANGES;
    spec.widths = widths;
    spec.width_count = 1;
    spec.population = testing_file("ages.csv", ages, sizeof ages - 1);
    h = build(ctx, n, &spec);
    assert_int_equal(kn_hierarchy_leaves(h), 3);
    assert_int_equal(people_of(h, "[20, 29]"), 5);
    assert_int_equal(people_of(h, "*"), 14);
    kn_hierarchy_free(h);
    spec.population = testing_file("twice.csv", twice, sizeof twice - 1);
    assert_int_equal(kn_hierarchy_make(&h, ctx, n, 0, &spec, false, &err), KN_INPUT);
    spec.kind = KN_HIERARCHY_GROUPS;
    assert_int_equal(kn_hierarchy_make(&h, ctx, n, 0, &spec, false, &err), KN_USAGE);
    kn_table_free(t);
    kn_table_free(n);
    testing_context_free(ctx);
}

/* Everything in one go, so that each allocation of the module is refused once. */
static kn_status all_of_it(kn_context *ctx, const kn_table *numbers, const kn_table *dates, const char *people,
                           kn_error *err)
{
    static const char text[] = "1;\"g\"\"\";g2;*\n2.0;\"g\"\"\";g2;*\n3;g2;g2;*\n1000;*\n";
    static const char taxonomy[] = "A\n B\n  1\n  2\n  3\n C\n  1000\n";
    const char       *widths[] = {"5", "10"}, *points[] = {"2", "3"};
    kn_hierarchy_cuts cuts[] = {{points, 2}};
    kn_status         status = KN_OK;
    for (int i = KN_HIERARCHY_FILE; status == KN_OK && i <= KN_HIERARCHY_SUPPRESS; i++) {
        kn_hierarchy_spec spec = KN_HIERARCHY_SPEC_INIT;
        kn_hierarchy     *h = NULL;
        spec.kind = (kn_hierarchy_kind)i;
        spec.widths = widths;
        spec.width_count = 2;
        spec.breaks = cuts;
        spec.break_count = 1;
        spec.separator = "0";
        if (i == KN_HIERARCHY_SUPPRESS) spec.population = people;
        if (i == KN_HIERARCHY_FILE)
            status = kn_hierarchy_parse(&h, ctx, "h", text, sizeof text - 1, 0, err);
        else if (i == KN_HIERARCHY_TAXONOMY)
            status = kn_taxonomy_parse(&h, ctx, "t", taxonomy, sizeof taxonomy - 1, err);
        else
            status = kn_hierarchy_make(&h, ctx, i == KN_HIERARCHY_CALENDAR ? dates : numbers, 0, &spec, false, err);
        if (status == KN_OK && i <= KN_HIERARCHY_TAXONOMY) status = kn_hierarchy_bind(h, numbers, 0, '.', false, err);
        if (status == KN_OK) {
            kn_buffer out;
            kn_buffer_init(&out, ctx);
            kn_hierarchy_format(h, ';', &out);
            if (out.failed) status = KN_MEMORY;
            kn_buffer_free(&out);
        }
        kn_hierarchy_free(h);
    }
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    kn_context *plain = testing_context(1);
    const char *number_cells[] = {"1", "2", "3", "1000", NULL}, *date_cells[] = {"2020-01-01", "2021-05-06"};
    kn_table   *numbers = table_of(plain, number_cells, 5, KN_TYPE_INTEGER);
    kn_table   *decimals = NULL;
    kn_error    err = KN_ERROR_INIT;
    assert_ok(make_table(&decimals, plain, number_cells, 5, KN_TYPE_DECIMAL, NULL, &err), err);
    kn_table   *dates = table_of(plain, date_cells, 2, KN_TYPE_DATE);
    const char *people = testing_file("some.csv", "1;4\n2;1\n3;2\n1000;5\n", 19);
    for (int which = 0; which < 2; which++) {
        for (int64_t refuse_at = 0;; refuse_at++) {
            testing_allocator memory = {.refuse_at = -1};
            kn_context       *ctx = NULL;
            assert_ok(testing_refusing_context(&ctx, &memory, 1, &err), err);
            int64_t before = memory.live;
            memory.refuse_at = memory.requests + refuse_at;
            kn_status status = all_of_it(ctx, which ? decimals : numbers, dates, people, &err);
            assert_int_equal(memory.live, before);
            kn_context_free(ctx);
            assert_int_equal(memory.live, 0);
            if (status == KN_OK) {
                assert_true(refuse_at > 100);
                break;
            }
            assert_int_equal(status, KN_MEMORY);
        }
    }
    kn_table_free(numbers);
    kn_table_free(decimals);
    kn_table_free(dates);
    testing_context_free(plain);
}

static void validation_sees_damage(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    const char *cells[] = {"a", "b", "c"};
    kn_table   *t = table_of(ctx, cells, 3, KN_TYPE_TEXT);
    for (int damage = 0; damage < 9; damage++) {
        kn_hierarchy *h = parse(ctx, "a;g;k;*\nb;g;k;*\nc;f;k;*\n");
        const char   *reason = NULL;
        bind_or_fail(h, t);
        switch (damage) {
        case 0: h->parent[0] = h->nodes - 1; break;
        case 1: h->last[h->leaves + 1]++; break;
        case 2: h->level[h->leaves + 1]++; break;
        case 3: h->ancestors[2]--; break;
        case 4: h->level_sizes[1]--; break;
        case 5: h->leaf_of_code[1] = h->leaves; break;
        case 6: h->code_order[0] = 1; break;
        case 7: h->changes[0]++; break;
        default: h->label[1] = h->label_count; break;
        }
        assert_false(kn_hierarchy_validate(h, &reason));
        assert_non_null(reason);
        kn_hierarchy_free(h);
    }
    kn_table_free(t);
    testing_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_agree_with_their_paths_and_survive_writing),
        cmocka_unit_test(the_public_walk_sees_every_node_once),
        cmocka_unit_test(mistakes_in_files_are_placed),
        cmocka_unit_test(at_most_256_levels),
        cmocka_unit_test(unbalanced_levels_keep_shallow_leaves),
        cmocka_unit_test(repeated_labels_cost_no_change_and_two_meanings_are_flagged),
        cmocka_unit_test(the_delimiter_is_found),
        cmocka_unit_test(taxonomies_are_read_by_indent),
        cmocka_unit_test(values_find_their_leaves),
        cmocka_unit_test(a_value_without_a_leaf_is_named_by_row_only),
        cmocka_unit_test(level_maps_are_dense_and_in_leaf_order),
        cmocka_unit_test(missing_cells_stay_below_the_root),
        cmocka_unit_test(builders_by_example),
        cmocka_unit_test(ranges_agree_with_counting),
        cmocka_unit_test(masks_agree_with_masking_by_hand),
        cmocka_unit_test(specs_that_make_no_sense_are_refused),
        cmocka_unit_test(files_are_read_bound_and_written),
        cmocka_unit_test(a_population_is_counted_by_node),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(validation_sees_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
