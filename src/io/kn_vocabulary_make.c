/* kn_vocabulary_make.c: which hierarchy, and which part of it, contains the values of each class of tree records.
 *
 * Interface: kn_vocabulary_make.h. A hierarchy file is read once, however many classes share it. Cost: linear in the
 * hierarchies and the values. Paper: section II-D.1, figure 4 (one hierarchy of several classes).
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_builder.h"
#include "kn_error.h"
#include "kn_hierarchy.h"
#include "kn_hierarchy_by_type.h"
#include "kn_sort.h"
#include "kn_vocabulary_make.h"

#define NONE UINT32_MAX
#define WHAT "the values of tree records"

typedef struct maker {
    kn_context                 *ctx;
    const kn_spec_class        *classes;
    int                         count;
    const kn_vocabulary_leaves *leaves;
    kn_hierarchy              **hierarchies; /* owned; NULL: none, or that of `same`         */
    kn_table                  **tables;      /* the values as a column, of built hierarchies */
    int                        *same;        /* the first class with the same file           */
    int                        *sharers;     /* per first class: how many have it            */
    kn_vocabulary_domain       *domains;
    kn_string                 **texts; /* sorted, of classes without a hierarchy             */
} maker;

static void maker_free(maker *m)
{
    for (int c = 0; c < m->count; c++) {
        if (m->hierarchies) kn_hierarchy_free(m->hierarchies[c]);
        if (m->tables) kn_table_free(m->tables[c]);
        if (m->texts) kn_free(m->texts[c]);
    }
    KN_FREE(m->hierarchies, m->tables, m->same, m->sharers, m->domains, m->texts);
}

/* ---- Reading and building ---- */

static bool from_file(const kn_spec_class *c)
{
    return c->has_hierarchy && (c->hierarchy.kind == KN_HIERARCHY_FILE || c->hierarchy.kind == KN_HIERARCHY_TAXONOMY);
}

static int first_with_file(const maker *m, int c)
{
    const kn_hierarchy_spec *mine = &m->classes[c].hierarchy;
    for (int i = 0; i < c && !m->classes[c].of_table; i++) {
        const kn_hierarchy_spec *other = &m->classes[i].hierarchy;
        if (from_file(&m->classes[i]) && other->kind == mine->kind && other->delimiter == mine->delimiter &&
            strcmp(other->path, mine->path) == 0)
            return i;
    }
    return c;
}

/* The values of a class as a table of one column, for the builders of hierarchies. */
static kn_status make_table(maker *m, int c, kn_error *err)
{
    kn_string      name = kn_string_of(m->classes[c].name);
    kn_builder    *b = NULL;
    int64_t        rows = m->leaves ? m->leaves[c].count : 0, first = 0;
    kn_value_rules rules = {.decimal = m->classes[c].hierarchy.decimal};
    uint32_t      *ids = kn_alloc_array(m->ctx, (size_t)rows + 1, sizeof *ids);
    kn_status      st = ids ? kn_builder_create(&b, m->ctx, &name, 1, 1, err) : kn_fail_memory(err, m->ctx, WHAT);
    for (int64_t i = 0; i < rows && st == KN_OK; i++) {
        ids[i] = kn_intern(kn_builder_interner(b, 0, 0), m->leaves[c].texts[i]);
        if (ids[i] == KN_ID_FAILED) st = kn_fail_memory(err, m->ctx, WHAT);
    }
    if (st == KN_OK) st = kn_builder_extend(b, rows, 0, &first, err);
    if (st == KN_OK) {
        kn_builder_write(b, 0, first, ids, rows);
        st = kn_builder_finish(&m->tables[c], b, NULL, &rules, err);
    } else {
        kn_builder_free(b);
    }
    kn_free(ids);
    return st;
}

static kn_status load(maker *m, int c, kn_error *err)
{
    const kn_spec_class *cls = &m->classes[c];
    m->same[c] = c;
    if (!cls->has_hierarchy) return KN_OK;
    if (from_file(cls)) {
        m->same[c] = first_with_file(m, c);
        m->sharers[m->same[c]]++;
        return m->same[c] == c ? kn_hierarchy_read(&m->hierarchies[c], m->ctx, &cls->hierarchy, err) : KN_OK;
    }
    KN_TRY(make_table(m, c, err));
    kn_error  inner = KN_ERROR_INIT;
    kn_status st = kn_hierarchy_make(&m->hierarchies[c], m->ctx, m->tables[c], 0, &cls->hierarchy, false, &inner);
    return st == KN_OK ? KN_OK : kn_fail(err, st, "class \"%s\": %s", cls->name, inner.message);
}

/* ---- One file, several classes ---- */

static kn_status fail_domain(const maker *m, int c, const char *what, kn_error *err)
{
    return kn_fail(err, KN_INPUT, "class \"%s\": %s of %s, which it shares with other classes", m->classes[c].name,
                   what, m->classes[c].hierarchy.path);
}

/* The root child above a label of any level; KN_NODE_NONE: there is none, or there are several. */
static uint32_t child_with(const kn_hierarchy *h, kn_string text)
{
    uint32_t root = kn_hierarchy_root(h), found = KN_NODE_NONE;
    for (uint32_t n = 0; n < h->nodes; n++) {
        if (n == root || n == h->leaves || !kn_string_equal(kn_hierarchy_text(h, n), text)) continue;
        uint32_t child = n;
        while (h->parent[child] != root) child = h->parent[child];
        if (found != KN_NODE_NONE && found != child) return KN_NODE_NONE;
        found = child;
    }
    return found;
}

/* The subtree of the class's values: that of the first one in the file. A value elsewhere is refused where it occurs
 * in the records. A file that lacks this many values belongs to other classes. */
static uint32_t child_of_values(const maker *m, const kn_hierarchy *h, int c)
{
    enum { LOOK_AT = 1000 };
    uint32_t found = KN_NODE_NONE;
    int64_t  count = m->leaves ? m->leaves[c].count : 0;
    for (int64_t i = 0; i < count && i < LOOK_AT && found == KN_NODE_NONE; i++)
        found = child_with(h, m->leaves[c].texts[i]);
    return found;
}

static bool is_claimed(const maker *m, int first, uint32_t node)
{
    for (int c = 0; c < m->count; c++)
        if (m->same[c] == first && m->domains[c].hierarchy && m->domains[c].node == node) return true;
    return false;
}

static kn_status claim(maker *m, int first, int c, uint32_t node, kn_error *err)
{
    if (node != KN_NODE_NONE && is_claimed(m, first, node))
        return fail_domain(m, c, "its values are in another class's part", err);
    if (node == KN_NODE_NONE) return KN_OK;
    m->domains[c].hierarchy = m->hierarchies[first];
    m->domains[c].node = node;
    return KN_OK;
}

/* The only unused group below the root; KN_NODE_NONE: none or several. */
static uint32_t last_child(const maker *m, int first)
{
    const kn_hierarchy *h = m->hierarchies[first];
    uint32_t            found = KN_NODE_NONE, root = kn_hierarchy_root(h);
    for (uint32_t c = kn_hierarchy_child(h, root); c != KN_NODE_NONE; c = kn_hierarchy_sibling(h, c)) {
        if (kn_hierarchy_child(h, c) == KN_NODE_NONE || is_claimed(m, first, c)) continue;
        if (found != KN_NODE_NONE) return KN_NODE_NONE;
        found = c;
    }
    return found;
}

/* No record has a value of the class: it needs no part of the file. This happens in a release that shows "*" for all
 * of them. */
static bool says_nothing(const maker *m, int c)
{
    return m->leaves && m->leaves[c].count == 0 && m->leaves[c].texts;
}

static kn_status share(maker *m, int first, kn_error *err)
{
    const kn_hierarchy *h = m->hierarchies[first];
    int                 left = 0;
    for (int c = first; c < m->count; c++)
        if (m->same[c] == first && m->classes[c].has_hierarchy)
            KN_TRY(claim(m, first, c, kn_vocabulary_group(h, m->classes[c].name), err));
    for (int c = first; c < m->count; c++) {
        if (m->same[c] != first || m->domains[c].hierarchy) continue;
        uint32_t node = child_of_values(m, h, c);
        KN_TRY(claim(m, first, c, node, err));
        left += node == KN_NODE_NONE;
    }
    for (int c = first; c < m->count; c++) {
        if (m->same[c] != first || m->domains[c].hierarchy) continue;
        uint32_t node = left == 1 ? last_child(m, first) : KN_NODE_NONE;
        if (node == KN_NODE_NONE && !says_nothing(m, c))
            return fail_domain(m, c, "no group below the root has its name or holds its values", err);
        KN_TRY(claim(m, first, c, node, err));
    }
    return KN_OK;
}

/* ---- All classes ---- */

static int compare_texts(const void *arg, const void *a, const void *b)
{
    (void)arg;
    return kn_string_compare(*(const kn_string *)a, *(const kn_string *)b);
}

/* The values, sorted by bytes: never in the order of the file. */
static kn_status take_texts(maker *m, int c, kn_error *err)
{
    int64_t count = m->leaves ? m->leaves[c].count : 0;
    m->texts[c] = kn_alloc_array(m->ctx, (size_t)count + 1, sizeof **m->texts);
    if (!m->texts[c]) return kn_fail_memory(err, m->ctx, WHAT);
    if (count) memcpy(m->texts[c], m->leaves[c].texts, (size_t)count * sizeof **m->texts);
    kn_sort_in_place(m->texts[c], (size_t)count, sizeof **m->texts, compare_texts, NULL);
    m->domains[c].texts = m->texts[c];
    m->domains[c].text_count = count;
    return KN_OK;
}

static kn_status choose_domains(maker *m, kn_error *err)
{
    for (int c = 0; c < m->count; c++) {
        const kn_spec_class *cls = &m->classes[c];
        m->domains[c] = (kn_vocabulary_domain){.name = cls->name,
                                               .sensitive = cls->sensitive,
                                               .negative = cls->negative,
                                               .unrelated = cls->negative_relations,
                                               .node = KN_NODE_NONE};
    }
    for (int c = 0; c < m->count; c++) {
        kn_vocabulary_domain *d = &m->domains[c];
        if (!m->classes[c].has_hierarchy) {
            KN_TRY(take_texts(m, c, err));
        } else if (m->same[c] != c) {
            continue;
        } else if (m->sharers[c] > 1 && kn_vocabulary_below_star(m->hierarchies[c])) {
            KN_TRY(share(m, c, err));
        } else if (m->sharers[c] > 1) {
            return kn_fail(err, KN_INPUT,
                           "class \"%s\": %s has a root other than \"*\", so one class alone can have it", d->name,
                           m->classes[c].hierarchy.path);
        } else {
            d->hierarchy = m->hierarchies[c];
            d->node = kn_vocabulary_top(d->hierarchy, d->name);
        }
    }
    return KN_OK;
}

/* Values whose spelling is not the leaf's: several spellings of one number are one value. */
static kn_status add_spellings(const maker *m, kn_vocabulary *v, kn_error *err)
{
    size_t capacity = 0, count = 0;
    for (int c = 0; c < m->count; c++) capacity += m->tables[c] ? (size_t)m->leaves[c].count : 0;
    if (capacity == 0) return KN_OK;
    kn_vocabulary_spelling *list = kn_alloc_array(m->ctx, capacity, sizeof *list);
    if (!list) return kn_fail_memory(err, m->ctx, WHAT);
    for (int c = 0; c < m->count; c++) {
        for (int64_t i = 0; m->tables[c] && i < m->tables[c]->rows; i++) {
            const kn_hierarchy *h = m->hierarchies[c];
            uint32_t            leaf = h->leaf_of_code[kn_column_code(&m->tables[c]->columns[0], i)];
            if (leaf == h->leaves) continue; /* it means "missing" */
            uint32_t node = kn_vocabulary_find(v, c, kn_hierarchy_text(h, leaf));
            if (kn_vocabulary_find(v, c, m->leaves[c].texts[i]) == NONE)
                list[count++] = (kn_vocabulary_spelling){m->leaves[c].texts[i], node};
        }
    }
    kn_status st = count ? kn_vocabulary_add_spellings(v, list, (int64_t)count, err) : KN_OK;
    kn_free(list);
    return st;
}

static kn_status make(maker *m, kn_vocabulary **out, kn_error *err)
{
    size_t count = (size_t)m->count + 1;
    m->hierarchies = kn_alloc_array_zero(m->ctx, count, sizeof *m->hierarchies);
    m->tables = kn_alloc_array_zero(m->ctx, count, sizeof *m->tables);
    m->same = kn_alloc_array_zero(m->ctx, count, sizeof *m->same);
    m->sharers = kn_alloc_array_zero(m->ctx, count, sizeof *m->sharers);
    m->domains = kn_alloc_array_zero(m->ctx, count, sizeof *m->domains);
    m->texts = kn_alloc_array_zero(m->ctx, count, sizeof *m->texts);
    if (!m->hierarchies || !m->tables || !m->same || !m->sharers || !m->domains || !m->texts)
        return kn_fail_memory(err, m->ctx, WHAT);
    for (int c = 0; c < m->count; c++) KN_TRY(load(m, c, err));
    KN_TRY(choose_domains(m, err));
    KN_TRY(kn_vocabulary_assemble(out, m->ctx, m->domains, m->count, err));
    kn_status st = add_spellings(m, *out, err);
    if (st != KN_OK) {
        kn_vocabulary_free(*out);
        *out = NULL;
    }
    return st;
}

kn_status kn_vocabulary_make(kn_vocabulary **out, kn_context *ctx, const kn_spec_class *classes, int class_count,
                             const kn_vocabulary_leaves *leaves, kn_error *err)
{
    *out = NULL;
    maker     m = {.ctx = ctx, .classes = classes, .count = class_count, .leaves = leaves};
    kn_status st = make(&m, out, err);
    maker_free(&m);
    return st;
}

/* ---- Without a hierarchy ---- */

static kn_status choose_by_type(maker *m, int c, kn_spec_class *class, kn_arena *arena, kn_error *err)
{
    kn_hierarchy_spec rule = KN_HIERARCHY_SPEC_INIT;
    if (class->has_hierarchy || class->sensitive || !m->leaves[c].texts) return KN_OK;
    KN_TRY(make_table(m, c, err));
    const kn_column *column = &m->tables[c]->columns[0];
    if ((int64_t)column->dict.count != m->leaves[c].count) return KN_OK;
    KN_TRY(kn_hierarchy_by_type(&rule, arena, column, err));
    class->has_hierarchy = rule.kind != KN_HIERARCHY_SUPPRESS;
    if (class->has_hierarchy) class->hierarchy = rule;
    return KN_OK;
}

kn_status kn_vocabulary_by_type(kn_spec_class *classes, int class_count, const kn_vocabulary_leaves *leaves,
                                kn_arena *arena, kn_error *err)
{
    kn_status st = KN_OK;
    maker     m = {.ctx = arena->ctx, .classes = classes, .count = class_count, .leaves = leaves};
    m.tables = kn_alloc_array_zero(m.ctx, (size_t)class_count + 1, sizeof *m.tables);
    if (!m.tables) st = kn_fail_memory(err, m.ctx, WHAT);
    for (int c = 0; c < class_count && st == KN_OK; c++) st = choose_by_type(&m, c, &classes[c], arena, err);
    maker_free(&m);
    return st;
}
