/* records/classes.c: the hierarchy of each class of tree records, and the nodes of the labels of both files.
 *
 * docs and kanon/records.h say how classes share one tree below "*": a root other than "*" is the class's top; below
 * "*" it is the group with the class's name, else (one file for several classes) the group that contains the class's
 * values, else the only group; otherwise everything is below a top with the class's name. A group that contains only
 * one node, with its own label, is the same node. |C(u)| is the number of values of the class's full-domain cut at
 * the depth of u, where leaves that are less deep stay; of a leaf at any depth, the number of leaves
 * (docs/errata.md K2, K13).
 *
 * Cost: O(nodes of the hierarchies × height).
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_verify_records.h"

static kn_string label_text(const kn_vtree *t, uint32_t node)
{
    return t->labels.texts[t->label[node]];
}

static bool is_star(kn_string s)
{
    return s.size == 1 && s.data[0] == '*';
}

static bool from_file(const kn_spec_class *c)
{
    return c->has_hierarchy && (c->hierarchy.kind == KN_HIERARCHY_FILE || c->hierarchy.kind == KN_HIERARCHY_TAXONOMY);
}

/* ---- The tree of a class ---- */

/* The class's labels that occur in the original: its leaves, in the order of their numbers. */
static kn_status list_values(const kn_records_verifier *v, const kn_vclass *c, const bool *in_original, kn_string **out,
                             uint32_t *count, kn_error *err)
{
    *count = 0;
    *out = kn_alloc_array(v->ctx, (size_t)c->texts.count + 1, sizeof **out);
    if (!*out) return kn_vrecords_no_memory(v, err);
    for (uint32_t i = 0; i < c->texts.count; i++)
        if (in_original[c->first + i]) (*out)[(*count)++] = c->texts.texts[i];
    return KN_OK;
}

/* Texts that are compared byte by byte. */
static kn_status text_domain(kn_vdomain *d, kn_records_verifier *v, const kn_string *values, uint32_t count,
                             kn_error *err)
{
    *d = (kn_vdomain){.ctx = v->ctx, .type = KN_TYPE_TEXT, .spec = v->spec, .count = count};
    kn_texts_init(&d->texts, v->ctx);
    kn_arena_init(&d->arena, v->ctx);
    d->spelling = kn_arena_array(&d->arena, (size_t)count + 1, sizeof *d->spelling);
    d->value_of_text = kn_arena_array(&d->arena, (size_t)count + 1, sizeof *d->value_of_text);
    if (d->arena.failed) return kn_vrecords_no_memory(v, err);
    for (uint32_t i = 0; i < count; i++) {
        d->spelling[i] = values[i];
        d->value_of_text[i] = i;
        if (kn_texts_add(&d->texts, values[i], false) != i) return kn_vrecords_no_memory(v, err);
    }
    return KN_OK;
}

/* Ranges, breaks and calendars need to know what the texts mean. */
static kn_status typed_domain(kn_vdomain *d, kn_records_verifier *v, const kn_attribute *a, const kn_string *values,
                              uint32_t count, kn_error *err)
{
    uint32_t *codes = kn_alloc_array(v->ctx, (size_t)count + 1, sizeof *codes);
    if (!codes) return kn_vrecords_no_memory(v, err);
    for (uint32_t i = 0; i < count; i++) codes[i] = i;
    kn_vcolumn column = {.texts = values, .count = count, .width = 4, .codes = codes};
    kn_vrows   rows = {count, NULL};
    kn_status  st = kn_vdomain_make(d, v->ctx, v->spec, a, &rows, &column, NULL, NULL, err);
    kn_free(codes);
    return st;
}

/* The hierarchy of a class for which none was given: by the type of its values, unless two texts are the same value; of sensitive
 * classes, and of columns of a database, none. */
static kn_status kind_of_class(kn_records_verifier *v, kn_vclass *c, const bool *in_original, kn_attribute *a,
                               kn_arena *room, kn_error *err)
{
    const kn_hierarchy_spec none = {.size = sizeof none, .kind = KN_HIERARCHY_SUPPRESS};
    kn_vdomain              domain = {0};
    kn_string              *values = NULL;
    uint32_t                count = 0;
    if (c->spec->has_hierarchy) return KN_OK;
    a->hierarchy = none;
    if (c->spec->sensitive || c->spec->of_table) return KN_OK;
    kn_status st = list_values(v, c, in_original, &values, &count, err);
    if (st == KN_OK && count > 0) st = typed_domain(&domain, v, a, values, count, err);
    if (st == KN_OK && count > 0 && domain.count == count) st = kn_vtree_by_type(&a->hierarchy, room, &domain, err);
    kn_vdomain_free(&domain);
    kn_free(values);
    return st;
}

static kn_status make_tree(kn_records_verifier *v, kn_vclass *c, const bool *in_original, kn_error *err)
{
    kn_attribute a = {
        .name = c->spec->name, .type = KN_TYPE_AUTO, .role = KN_ROLE_QUASI, .hierarchy = c->spec->hierarchy};
    kn_arena room = {.ctx = v->ctx};
    KN_TRY(kind_of_class(v, c, in_original, &a, &room, err));
    kn_hierarchy_kind kind = a.hierarchy.kind;
    bool       typed = kind == KN_HIERARCHY_RANGES || kind == KN_HIERARCHY_BREAKS || kind == KN_HIERARCHY_CALENDAR;
    kn_vdomain domain = {0};
    kn_string *values = NULL;
    uint32_t   count = 0;
    kn_status  st = list_values(v, c, in_original, &values, &count, err);
    if (st == KN_OK)
        st = typed ? typed_domain(&domain, v, &a, values, count, err) : text_domain(&domain, v, values, count, err);
    if (st == KN_OK) st = kn_vtree_make(&c->tree, v->ctx, &a, &domain, err);
    kn_vdomain_free(&domain);
    kn_free(values);
    kn_arena_free(&room);
    return st;
}

/* ---- The part of it that is the class's ---- */

/* Per node: how many children it has. */
static kn_status count_children(const kn_records_verifier *v, const kn_vtree *t, uint32_t **out, kn_error *err)
{
    *out = kn_alloc_array_zero(v->ctx, (size_t)t->nodes + 1, sizeof **out);
    if (!*out) return kn_vrecords_no_memory(v, err);
    for (uint32_t n = 0; n < t->nodes; n++)
        if (t->parent[n] != KN_V_NONE) (*out)[t->parent[n]]++;
    return KN_OK;
}

static bool shares_file(const kn_records_verifier *v, const kn_vclass *c)
{
    for (int i = 0; i < v->class_count && !c->spec->of_table; i++) {
        const kn_spec_class *other = v->classes[i].spec;
        if (other == c->spec || !from_file(other) || !from_file(c->spec)) continue;
        if (other->hierarchy.kind == c->spec->hierarchy.kind &&
            strcmp(other->hierarchy.path, c->spec->hierarchy.path) == 0)
            return true;
    }
    return false;
}

/* The child of the root above the first of the class's values that has a node. */
static uint32_t child_of_values(const kn_vclass *c, uint32_t root)
{
    const kn_vtree *t = c->tree;
    for (uint32_t i = 0; i < c->texts.count; i++)
        for (uint32_t n = 0; n < t->nodes; n++) {
            if (n == root || !kn_string_equal(label_text(t, n), c->texts.texts[i])) continue;
            while (t->parent[n] != root) n = t->parent[n];
            return n;
        }
    return KN_V_NONE;
}

static uint32_t find_top(const kn_records_verifier *v, const kn_vclass *c, const uint32_t *children)
{
    const kn_vtree *t = c->tree;
    uint32_t        root = KN_V_NONE, only = KN_V_NONE;
    for (uint32_t n = 0; n < t->nodes && root == KN_V_NONE; n++)
        if (t->parent[n] == KN_V_NONE) root = n;
    if (root == KN_V_NONE) return KN_V_NONE; /* no value at all */
    if (!is_star(label_text(t, root))) return root;
    for (uint32_t n = 0; n < t->nodes; n++)
        if (t->parent[n] == root) {
            if (children[n] > 0 && kn_string_equal(label_text(t, n), kn_string_of(c->spec->name))) return n;
            only = n;
        }
    if (shares_file(v, c)) return child_of_values(c, root);
    bool single = children[root] == 1 && children[only] > 0 && !is_star(label_text(t, only));
    return single ? only : KN_V_NONE;
}

/* ---- Depths and domains ---- */

/* A group with only one node, of its own label: the same node. */
static bool is_repeated(const kn_vtree *t, const uint32_t *children, uint32_t node)
{
    uint32_t p = t->parent[node];
    return p != KN_V_NONE && children[p] == 1 && t->label[p] == t->label[node];
}

/* Steps to the class's top; KN_V_NONE: not in its part. */
static uint32_t depth_of(const kn_vclass *c, const uint32_t *children, uint32_t node)
{
    const kn_vtree *t = c->tree;
    uint32_t        depth = 0;
    for (; node != KN_V_NONE && node != c->top; node = t->parent[node]) {
        if (t->parent[node] == KN_V_NONE) return c->top == KN_V_NONE ? depth : KN_V_NONE; /* "*", where the top is */
        depth += !is_repeated(t, children, node);
    }
    return node == KN_V_NONE ? KN_V_NONE : depth;
}

static kn_status count_domains(const kn_records_verifier *v, kn_vclass *c, const uint32_t *children, kn_error *err)
{
    const kn_vtree *t = c->tree;
    uint32_t       *depth = kn_alloc_array(v->ctx, (size_t)t->nodes + 1, sizeof *depth), deepest = 0;
    uint32_t       *sizes = NULL;
    c->domain = kn_alloc_array_zero(v->ctx, (size_t)t->nodes + 1, sizeof *c->domain);
    if (depth && c->domain) {
        for (uint32_t n = 0; n < t->nodes; n++) {
            depth[n] = depth_of(c, children, n);
            if (depth[n] != KN_V_NONE && depth[n] > deepest) deepest = depth[n];
        }
        sizes = kn_alloc_array_zero(v->ctx, 2 * ((size_t)deepest + 2), sizeof *sizes);
    }
    if (!sizes) {
        kn_free(depth);
        return kn_vrecords_no_memory(v, err);
    }
    uint32_t *here = sizes, *leaves = sizes + deepest + 2; /* per depth: nodes that are one, and leaves of them */
    for (uint32_t n = 0; n < t->nodes; n++) {
        if (depth[n] == KN_V_NONE) continue;
        if (!is_repeated(t, children, n)) here[depth[n]]++;
        if (children[n] == 0) leaves[depth[n]]++;
    }
    uint32_t above = 0;
    for (uint32_t d = 0; d <= deepest; d++) {
        here[d] += above;
        above += leaves[d];
    }
    for (uint32_t n = 0; n < t->nodes; n++) {
        if (depth[n] == KN_V_NONE) continue;
        c->domain[n] = children[n] == 0 ? above : here[depth[n]]; /* by now all leaves are above */
    }
    kn_free(sizes);
    kn_free(depth);
    return KN_OK;
}

/* ---- Labels ---- */

/* The node of each label: the lowest of that text in the class's part. */
static kn_status place_labels(kn_records_verifier *v, kn_vclass *c, kn_error *err)
{
    const kn_vtree *t = c->tree;
    c->node = kn_varray_none(&v->arena, (size_t)c->texts.count + 1);
    c->label_of_node = kn_arena_array(&v->arena, (size_t)t->nodes + 1, sizeof *c->label_of_node);
    if (v->arena.failed) return kn_vrecords_no_memory(v, err);
    for (uint32_t n = 0; n < t->nodes; n++) {
        uint32_t text = kn_texts_find(&c->texts, label_text(t, n));
        bool     star = t->parent[n] == KN_V_NONE && c->top != n; /* above the class: "*" is of no class */
        c->label_of_node[n] = KN_V_NONE;
        if (text == KN_V_NONE || c->domain[n] == 0 || star) continue;
        c->label_of_node[n] = c->first + text;
        if (c->node[text] == KN_V_NONE || t->level[n] < t->level[c->node[text]]) c->node[text] = n;
    }
    uint32_t name = kn_texts_find(&c->texts, kn_string_of(c->spec->name));
    c->top_label = c->top == KN_V_NONE && name != KN_V_NONE && c->node[name] == KN_V_NONE ? c->first + name : KN_V_NONE;
    return KN_OK;
}

static kn_status make_class(kn_records_verifier *v, kn_vclass *c, const bool *in_original, kn_error *err)
{
    KN_TRY(make_tree(v, c, in_original, err));
    uint32_t *children = NULL;
    kn_status st = count_children(v, c->tree, &children, err);
    if (st == KN_OK) {
        c->top = find_top(v, c, children);
        st = count_domains(v, c, children, err);
    }
    kn_free(children);
    return st == KN_OK ? place_labels(v, c, err) : st;
}

/* ---- Texts without a class ---- */

static uint32_t root_of(const kn_vtree *t)
{
    for (uint32_t n = 0; n < t->nodes; n++)
        if (t->parent[n] == KN_V_NONE) return n;
    return KN_V_NONE;
}

/* The only group below the root of a shared file that is no other class's; KN_V_NONE: none, or several. */
static uint32_t left_over(const kn_records_verifier *v, const kn_vclass *c, const uint32_t *children)
{
    uint32_t root = root_of(c->tree), found = KN_V_NONE;
    for (uint32_t n = 0; n < c->tree->nodes; n++) {
        bool free = c->tree->parent[n] == root && children[n] > 0;
        for (int i = 0; free && i < v->class_count; i++) {
            const kn_vclass *other = &v->classes[i];
            free = !(other != c && other->tree && other->top == n && shares_file(v, other) &&
                     strcmp(other->spec->hierarchy.path, c->spec->hierarchy.path) == 0);
        }
        if (!free) continue;
        if (found != KN_V_NONE) return KN_V_NONE;
        found = n;
    }
    return found;
}

static kn_status flag_labels(const kn_records_verifier *v, kn_vclass *c, uint8_t **out, kn_error *err)
{
    const kn_vtree *t = c->tree;
    uint32_t       *children = NULL;
    KN_TRY(count_children(v, t, &children, err));
    bool shared = shares_file(v, c);
    if (shared && c->top == KN_V_NONE) c->top = left_over(v, c, children);
    kn_status st = count_domains(v, c, children, err);
    *out = st == KN_OK ? kn_alloc_array_zero(v->ctx, (size_t)t->labels.count + 1, sizeof **out) : NULL;
    if (st == KN_OK && !*out) st = kn_vrecords_no_memory(v, err);
    for (uint32_t n = 0; st == KN_OK && n < t->nodes && !(shared && c->top == KN_V_NONE); n++) {
        bool star = t->parent[n] == KN_V_NONE && c->top != n;
        if (c->domain[n] > 0 && !star) (*out)[t->label[n]] |= children[n] == 0 ? 3 : 1;
    }
    kn_free(children);
    return st;
}

kn_status kn_vrecords_known(kn_vknown *out, kn_records_verifier *v, kn_error *err)
{
    uint32_t most = 0, *children = NULL;
    for (int c = 0; c < v->class_count; c++) {
        v->classes[c].first = 0;
        if (v->classes[c].texts.count > most) most = v->classes[c].texts.count;
    }
    bool *nothing = kn_alloc_array_zero(v->ctx, (size_t)most + 1, sizeof *nothing); /* no value need have a leaf */
    out->trees = kn_alloc_array_zero(v->ctx, (size_t)v->class_count + 1, sizeof *out->trees);
    out->flags = kn_alloc_array_zero(v->ctx, (size_t)v->class_count + 1, sizeof *out->flags);
    kn_status st = nothing && out->trees && out->flags ? KN_OK : kn_vrecords_no_memory(v, err);
    for (int c = 0; st == KN_OK && c < v->class_count; c++) {
        kn_vclass *class = &v->classes[c];
        if (!from_file(class->spec)) continue;
        st = make_tree(v, class, nothing, err);
        if (st == KN_OK) st = count_children(v, class->tree, &children, err);
        if (st == KN_OK) class->top = find_top(v, class, children);
        kn_free(children);
        children = NULL;
    }
    for (int c = 0; st == KN_OK && c < v->class_count; c++)
        if (v->classes[c].tree) st = flag_labels(v, &v->classes[c], &out->flags[c], err);
    for (int c = 0; c < v->class_count; c++) { /* found again later with all values                 */
        if (out->trees) out->trees[c] = v->classes[c].tree;
        if (!out->trees) kn_vtree_free(v->classes[c].tree);
        kn_free(v->classes[c].domain);
        v->classes[c].tree = NULL;
        v->classes[c].domain = NULL;
        v->classes[c].top = KN_V_NONE;
    }
    kn_free(nothing);
    return st;
}

void kn_vrecords_known_free(kn_vknown *known, const kn_records_verifier *v)
{
    for (int c = 0; c < v->class_count; c++) {
        if (known->trees) kn_vtree_free(known->trees[c]);
        if (known->flags) kn_free(known->flags[c]);
    }
    kn_free(known->trees);
    kn_free(known->flags);
}

bool kn_vrecords_knows(const kn_records_verifier *v, const kn_vknown *known, int cls, kn_string text, bool leaf)
{
    const kn_vclass *c = &v->classes[cls];
    bool             name = !leaf && kn_string_equal(text, kn_string_of(c->spec->name));
    if (!known->trees[cls]) return name || kn_texts_find(&c->texts, text) != KN_V_NONE;
    uint32_t label = kn_texts_find(&known->trees[cls]->labels, text);
    uint8_t  flags = label == KN_V_NONE ? 0 : known->flags[cls][label];
    return leaf ? (flags & 2) != 0 : flags != 0 || name;
}

kn_status kn_vrecords_classes(kn_records_verifier *v, kn_error *err)
{
    bool *in_original = kn_alloc_array_zero(v->ctx, (size_t)v->labels + 1, sizeof *in_original);
    if (!in_original) return kn_vrecords_no_memory(v, err);
    for (uint64_t i = 0; i < v->original.start[v->original.count]; i++) in_original[v->original.label[i]] = true;
    kn_status st = KN_OK;
    for (int c = 0; st == KN_OK && c < v->class_count; c++) st = make_class(v, &v->classes[c], in_original, err);
    kn_free(in_original);
    return st;
}

void kn_vrecords_classes_free(kn_records_verifier *v)
{
    for (int c = 0; v->classes && c <= v->class_count; c++) {
        kn_vclass *class = &v->classes[c];
        kn_texts_free(&class->texts);
        kn_vtree_free(class->tree);
        kn_free(class->domain);
    }
    kn_free(v->classes);
}

uint32_t kn_vlabel_path(const kn_records_verifier *v, uint32_t label, uint32_t *out)
{
    const kn_vclass *c = &v->classes[v->class_of[label]];
    uint32_t         count = 0, node = c->node ? c->node[label - c->first] : KN_V_NONE;
    out[count++] = label;
    if (label == v->star) return count;
    while (node != KN_V_NONE && node != c->top) {
        node = c->tree->parent[node];
        if (node == KN_V_NONE) break;
        uint32_t above = c->label_of_node[node];
        if (above != KN_V_NONE && above != out[count - 1]) out[count++] = above;
    }
    if (c->top_label != KN_V_NONE && c->top_label != out[count - 1]) out[count++] = c->top_label;
    if (v->star != KN_V_NONE) out[count++] = v->star;
    return count;
}

uint32_t kn_vlabel_domain(const kn_records_verifier *v, uint32_t label)
{
    const kn_vclass *c = &v->classes[v->class_of[label]];
    if (label == v->star || label == c->top_label) return 1;
    return c->node && c->node[label - c->first] != KN_V_NONE ? c->domain[c->node[label - c->first]] : 0;
}
