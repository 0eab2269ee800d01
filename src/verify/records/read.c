/* records/read.c: records, received node by node → the verifier's own arrays: labels by number, parents before
 * children, siblings in the order of the file.
 *
 * The verifier receives what the scanner of a form (kn_records_scan.h) or its own reader of databases (database.c)
 * reads. This file decides what a text is: a node without a class in the file belongs to the only class whose
 * hierarchy has its text; numbers and dates below a built hierarchy are one value in any spelling; a released "*" has
 * no class; equal siblings of the original are one node (section II-A).
 *
 * Cost: linear, except for sorting siblings. Memory: 10 bytes per node and file while they are read, 8 afterwards; each
 * class's different texts; the original's ids until it is read.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_sort.h"
#include "kn_verify_records.h"

enum { FEW = 32 };

/* One file while it is read. A node's class is `class_count` if it has none, one more if it is not known yet. */
typedef struct told {
    kn_records_verifier *v;
    kn_vforest          *f;
    bool                 release;
    uint16_t            *classes;
    size_t               class_capacity, start_capacity, parent_capacity, label_capacity;
    uint64_t             nodes;
    kn_texts             unsaid, ids;
    kn_records_layout    layout;
    int64_t              merged;
} told;

static bool is_star(kn_string s)
{
    return s.size == 1 && s.data[0] == '*';
}

/* ---- Receiving ---- */

static kn_status hear_ignored(void *state, kn_string name, kn_error *err)
{
    told *t = state;
    (void)err;
    if (t->release)
        kn_vproblem(t->v->notes, "the release holds \"%.*s\", which belongs to no class", (int)name.size, name.data);
    return KN_OK;
}

static kn_status hear_record(void *state, kn_string id, const kn_records_place *place, kn_error *err)
{
    told    *t = state;
    uint32_t known = t->ids.count;
    if (!kn_grow(t->v->ctx, (void **)&t->f->start, &t->start_capacity, (size_t)t->f->count + 2, sizeof *t->f->start))
        return kn_vrecords_no_memory(t->v, err);
    t->f->start[t->f->count++] = t->nodes;
    if (!id.data) return KN_OK;
    if (t->release && known == 0) KN_TRY(hear_ignored(t, kn_string_of("id"), err));
    if (kn_texts_add(&t->ids, id, true) == KN_V_NONE) return kn_vrecords_no_memory(t->v, err);
    if (t->ids.count > known) return KN_OK;
    return kn_fail_at(err, KN_INPUT, place->file, place->line, place->column,
                      "record %" PRId64 " has the id of an earlier one: a person has one record", t->f->count);
}

static kn_status hear_node(void *state, int64_t parent, int cls, kn_string value, const kn_records_place *place,
                           kn_error *err)
{
    told                *t = state;
    kn_records_verifier *v = t->v;
    uint64_t             at = t->nodes, first = t->f->start[t->f->count - 1];
    if (parent >= (int64_t)(at - first))
        return kn_fail_at(err, KN_INPUT, place->file, place->line, place->column, "a node stands before its parent");
    if (!kn_grow(v->ctx, (void **)&t->f->parent, &t->parent_capacity, at + 1, sizeof *t->f->parent) ||
        !kn_grow(v->ctx, (void **)&t->f->label, &t->label_capacity, at + 1, sizeof *t->f->label) ||
        !kn_grow(v->ctx, (void **)&t->classes, &t->class_capacity, at + 1, sizeof *t->classes))
        return kn_vrecords_no_memory(v, err);
    if (t->release && is_star(value))
        cls = v->class_count;
    else if (cls < 0 || cls >= v->class_count)
        cls = v->class_count + 1;
    t->f->parent[at] = parent < 0 ? KN_V_NONE : (uint32_t)parent;
    t->f->label[at] = kn_texts_add(cls > v->class_count ? &t->unsaid : &v->classes[cls].texts, value, true);
    t->classes[at] = (uint16_t)cls;
    t->nodes++;
    return t->f->label[at] == KN_V_NONE ? kn_vrecords_no_memory(v, err) : KN_OK;
}

static kn_status hear(told *t, const kn_vteller *teller, kn_error *err)
{
    kn_records_sink sink = {.state = t, .record = hear_record, .node = hear_node, .ignored = hear_ignored};
    KN_TRY(teller->tell(teller->state, &sink, &t->layout, err));
    kn_texts_free(&t->ids);
    if (!kn_grow(t->v->ctx, (void **)&t->f->start, &t->start_capacity, (size_t)t->f->count + 1, sizeof *t->f->start) ||
        !kn_grow(t->v->ctx, (void **)&t->f->parent, &t->parent_capacity, 1, sizeof *t->f->parent) ||
        !kn_grow(t->v->ctx, (void **)&t->f->label, &t->label_capacity, 1, sizeof *t->f->label))
        return kn_vrecords_no_memory(t->v, err);
    t->f->start[t->f->count] = t->nodes;
    return KN_OK;
}

/* ---- Spellings ---- */

/* Numbers and dates are compared by value: each spelling becomes the shortest one. */
static kn_status take_spellings(told *t, int c, kn_error *err)
{
    kn_records_verifier *v = t->v;
    kn_vclass *class = &v->classes[c];
    const kn_spec_class *said = class->spec;
    kn_attribute         a = {.name = said->name, .type = KN_TYPE_AUTO, .role = KN_ROLE_QUASI};
    kn_spec              plain = {.csv = KN_CSV_OPTIONS_INIT};
    kn_vcolumn           column = {.texts = class->texts.texts, .count = class->texts.count};
    kn_vrows             rows = {0, NULL};
    kn_vdomain           d = {0};
    if (said->hierarchy.decimal) plain.csv.decimal = said->hierarchy.decimal;
    kn_status st = kn_vdomain_make(&d, v->ctx, &plain, &a, &rows, &column, NULL, NULL, err);
    for (uint64_t i = 0; st == KN_OK && i < t->nodes; i++) {
        if (t->classes[i] != c) continue;
        uint32_t value = d.of_original[t->f->label[i]];
        if (value >= KN_V_MISSING)
            st = kn_fail(err, KN_INPUT, "a value of class \"%s\" means that it is missing", said->name);
        else
            t->f->label[i] = kn_texts_find(&class->texts, d.spelling[value]);
    }
    kn_vdomain_free(&d);
    return st;
}

/* For the original alone, before the release is read. */
static kn_status settle_spellings(told *t, kn_error *err)
{
    for (int c = 0; c < t->v->class_count && t->v->spec->table_count == 0; c++) {
        const kn_spec_class *said = t->v->classes[c].spec;
        bool file = said->hierarchy.kind == KN_HIERARCHY_FILE || said->hierarchy.kind == KN_HIERARCHY_TAXONOMY;
        if (said->has_hierarchy && !file && t->v->classes[c].texts.count > 0) KN_TRY(take_spellings(t, c, err));
    }
    return KN_OK;
}

/* ---- Classes that the file does not say ---- */

/* The only class that has the text. */
static kn_status find_class(const told *t, const kn_vknown *known, uint32_t text, int *out, kn_error *err)
{
    *out = -1;
    for (int c = 0; c < t->v->class_count; c++) {
        if (!kn_vrecords_knows(t->v, known, c, t->unsaid.texts[text], !t->release)) continue;
        if (*out >= 0)
            return kn_fail(err, KN_INPUT, "the %s: a value of a node without a class, which several classes have",
                           t->release ? "release" : "original");
        *out = c;
    }
    if (*out >= 0) return KN_OK;
    return kn_fail(err, KN_INPUT, "the %s: a value of a node without a class, which no class has",
                   t->release ? "release" : "original");
}

static kn_status classify(told *t, const kn_vknown *known, kn_error *err)
{
    kn_records_verifier *v = t->v;
    size_t               count = t->unsaid.count;
    int                 *cls = kn_alloc_array(v->ctx, count + 1, sizeof *cls);
    uint32_t            *text = kn_alloc_array(v->ctx, count + 1, sizeof *text);
    kn_status            st = cls && text ? KN_OK : kn_vrecords_no_memory(v, err);
    for (uint32_t i = 0; st == KN_OK && i < count; i++) {
        st = find_class(t, known, i, &cls[i], err);
        if (st == KN_OK) text[i] = kn_texts_add(&v->classes[cls[i]].texts, t->unsaid.texts[i], true);
        if (st == KN_OK && text[i] == KN_V_NONE) st = kn_vrecords_no_memory(v, err);
    }
    for (uint64_t i = 0; st == KN_OK && i < t->nodes; i++) {
        if (t->classes[i] <= v->class_count) continue;
        t->classes[i] = (uint16_t)cls[t->f->label[i]];
        t->f->label[i] = text[t->f->label[i]];
    }
    kn_free(cls);
    kn_free(text);
    return st;
}

/* Classes ascend along every path of the original, so none occurs on it twice. */
static kn_status check_nesting(const told *t, kn_error *err)
{
    const kn_vforest *f = t->f;
    for (int64_t r = 0; r < f->count; r++)
        for (uint64_t i = f->start[r]; i < f->start[r + 1]; i++)
            if (f->parent[i] != KN_V_NONE && t->classes[f->start[r] + f->parent[i]] >= t->classes[i])
                return kn_fail(err, KN_INPUT,
                               "record %" PRId64 " of the original: a node of class \"%s\" below one of class \"%s\"",
                               r + 1, t->v->spec->classes[t->classes[i]].name,
                               t->v->spec->classes[t->classes[f->start[r] + f->parent[i]]].name);
    return KN_OK;
}

/* ---- Labels ---- */

/* Numbers inside classes become numbers over all classes. */
static kn_status number_labels(kn_records_verifier *v, const told *original, const told *release, kn_error *err)
{
    uint64_t total = 0;
    for (int c = 0; c <= v->class_count; c++) {
        v->classes[c].first = (uint32_t)total;
        total += v->classes[c].texts.count;
    }
    if (total >= KN_V_MISSING) return kn_fail(err, KN_INPUT, "there are too many different values to verify");
    v->labels = (uint32_t)total;
    const kn_vclass *none = &v->classes[v->class_count];
    uint32_t         star = kn_texts_find(&none->texts, kn_string_of("*"));
    v->star = star == KN_V_NONE ? KN_V_NONE : none->first + star;
    v->class_of = kn_arena_array(&v->arena, total + 1, sizeof *v->class_of);
    if (!v->class_of) return kn_vrecords_no_memory(v, err);
    for (int c = 0; c <= v->class_count; c++)
        for (uint32_t i = 0; i < v->classes[c].texts.count; i++) v->class_of[v->classes[c].first + i] = (uint16_t)c;
    for (uint64_t i = 0; i < original->nodes; i++) v->original.label[i] += v->classes[original->classes[i]].first;
    for (uint64_t i = 0; i < release->nodes; i++) v->release.label[i] += v->classes[release->classes[i]].first;
    return KN_OK;
}

/* ---- Records in order ---- */

typedef struct ordering {
    kn_sort_record *list, *kept;                    /* of one depth */
    uint32_t       *depth;                          /* per node                                               */
    uint32_t       *now;                            /* per node: its number, depth by depth                   */
    uint32_t       *parent, *label, *first, *count; /* per such number               */
    uint32_t       *place;                          /* per such number: in preorder                           */
    size_t          room;
} ordering;

static kn_status sort_list(kn_context *ctx, kn_sort_record *list, size_t count, kn_error *err)
{
    if (count > FEW) return kn_sort_records(ctx, list, count, NULL, NULL, err);
    for (size_t i = 1; i < count; i++) {
        kn_sort_record one = list[i];
        size_t         at = i;
        for (; at > 0 && list[at - 1].key > one.key; at--) list[at] = list[at - 1];
        list[at] = one;
    }
    return KN_OK;
}

/* Nodes of one depth: those of equal parent and label are one, the first of them; then by (parent, place in the file). */
static kn_status merge_depth(const told *t, ordering *o, uint64_t begin, uint32_t size, uint32_t depth, uint32_t *made,
                             kn_error *err)
{
    const kn_vforest *f = t->f;
    size_t            count = 0, kept = 0;
    for (uint32_t i = 0; i < size; i++) {
        if (o->depth[i] != depth) continue;
        uint64_t above = depth ? (uint64_t)o->now[f->parent[begin + i]] + 1 : 0;
        o->list[count++] = (kn_sort_record){above << 32 | f->label[begin + i], i};
    }
    KN_TRY(sort_list(t->v->ctx, o->list, count, err));
    for (size_t i = 0; i < count; i++)
        if (i == 0 || o->list[i].key != o->list[i - 1].key)
            o->kept[kept++] = (kn_sort_record){o->list[i].key >> 32 << 32 | o->list[i].id, (uint32_t)o->list[i].key};
    KN_TRY(sort_list(t->v->ctx, o->kept, kept, err));
    for (size_t i = 0; i < kept; i++, ++*made) {
        uint32_t above = (uint32_t)(o->kept[i].key >> 32);
        o->parent[*made] = above ? above - 1 : KN_V_NONE;
        o->label[*made] = (uint32_t)o->kept[i].id;
        o->count[*made] = 0;
        if (above && o->count[above - 1]++ == 0) o->first[above - 1] = *made;
        o->now[(uint32_t)o->kept[i].key] = *made;
    }
    for (size_t i = 1; i < count; i++)
        if (o->list[i].key == o->list[i - 1].key) o->now[o->list[i].id] = o->now[o->list[i - 1].id];
    return KN_OK;
}

static kn_status order_record(told *t, ordering *o, uint64_t begin, uint32_t size, uint64_t *to, kn_error *err)
{
    kn_vforest *f = t->f;
    uint32_t    deepest = 0, made = 0, roots = 0;
    for (uint32_t i = 0; i < size; i++) {
        o->depth[i] = f->parent[begin + i] == KN_V_NONE ? 0 : o->depth[f->parent[begin + i]] + 1;
        if (o->depth[i] > deepest) deepest = o->depth[i];
    }
    for (uint32_t d = 0; size > 0 && d <= deepest; d++) KN_TRY(merge_depth(t, o, begin, size, d, &made, err));
    t->merged += size - made;
    while (roots < made && o->parent[roots] == KN_V_NONE) roots++;
    /* Depth by depth → preorder. `now` is the stack of nodes to come, the next on top. */
    uint32_t top = 0, done = 0;
    for (uint32_t i = roots; i-- > 0;) o->now[top++] = i;
    while (top > 0) {
        uint32_t node = o->now[--top];
        o->place[node] = done;
        f->label[*to + done] = o->label[node];
        f->parent[*to + done] = o->parent[node] == KN_V_NONE ? KN_V_NONE : o->place[o->parent[node]];
        done++;
        for (uint32_t c = o->count[node]; c-- > 0;) o->now[top++] = o->first[node] + c;
    }
    *to += made;
    return KN_OK;
}

/* In place: writing never overtakes reading. */
static kn_status order_records(told *t, kn_error *err)
{
    kn_vforest *f = t->f;
    ordering    o = {0};
    uint64_t    to = 0;
    for (int64_t r = 0; r < f->count; r++)
        if (f->start[r + 1] - f->start[r] > o.room) o.room = f->start[r + 1] - f->start[r];
    uint32_t **arrays[] = {&o.depth, &o.now, &o.parent, &o.label, &o.first, &o.count, &o.place};
    o.list = kn_alloc_array(t->v->ctx, o.room + 1, sizeof *o.list);
    o.kept = kn_alloc_array(t->v->ctx, o.room + 1, sizeof *o.kept);
    bool good = o.list && o.kept;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i] = kn_alloc_array(t->v->ctx, o.room + 1, sizeof **arrays[i]);
        good = good && *arrays[i];
    }
    kn_status st = good ? KN_OK : kn_vrecords_no_memory(t->v, err);
    for (int64_t r = 0; st == KN_OK && r < f->count; r++) {
        uint64_t begin = f->start[r], size = f->start[r + 1] - begin;
        f->start[r] = to;
        st = order_record(t, &o, begin, (uint32_t)size, &to, err);
    }
    if (st == KN_OK) f->start[f->count] = to;
    kn_free(o.list);
    kn_free(o.kept);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) kn_free(*arrays[i]);
    return st;
}

/* ---- Both files ---- */

/* What this reader skips, others may read. */
static void check_nothing_else(kn_records_verifier *v, const told *original, const told *release)
{
    const char *namespaces = release->layout.namespaces ? release->layout.namespaces : "";
    const char *known = original->layout.namespaces ? original->layout.namespaces : "";
    if (namespaces[0] && strcmp(namespaces, known) != 0)
        kn_vproblem(v->notes, "the release declares XML namespaces other than those around the original's records");
    if (release->merged > 0 && release->layout.form != KN_RECORDS_DATABASE) /* there rows do (released.c) */
        kn_vproblem(v->notes, "the release repeats values: %" PRId64 " %s the value of a sibling", release->merged,
                    release->merged == 1 ? "node has" : "nodes have");
}

static kn_status read_both(kn_records_verifier *v, told *original, told *release, const kn_vteller *from,
                           const kn_vteller *to, kn_error *err)
{
    kn_vknown known = {0};
    KN_TRY(hear(original, from, err));
    KN_TRY(settle_spellings(original, err));
    KN_TRY(hear(release, to, err));
    if (original->unsaid.count > 0 || release->unsaid.count > 0) {
        kn_status st = kn_vrecords_known(&known, v, err);
        if (st == KN_OK) st = classify(original, &known, err);
        if (st == KN_OK) st = classify(release, &known, err);
        kn_vrecords_known_free(&known, v);
        KN_TRY(st);
    }
    KN_TRY(check_nesting(original, err));
    KN_TRY(number_labels(v, original, release, err));
    KN_TRY(order_records(original, err));
    KN_TRY(order_records(release, err));
    check_nothing_else(v, original, release);
    return KN_OK;
}

kn_status kn_vrecords_read(kn_records_verifier *v, const kn_vteller *original, const kn_vteller *release, kn_error *err)
{
    told      sides[] = {{.v = v, .f = &v->original}, {.v = v, .f = &v->release, .release = true}};
    kn_status st = KN_OK;
    for (int i = 0; i < 2; i++) {
        kn_texts_init(&sides[i].unsaid, v->ctx);
        kn_texts_init(&sides[i].ids, v->ctx);
    }
    st = read_both(v, &sides[0], &sides[1], original, release, err);
    for (int i = 0; i < 2; i++) {
        kn_texts_free(&sides[i].unsaid);
        kn_texts_free(&sides[i].ids);
        kn_free(sides[i].classes);
        kn_free(sides[i].layout.path);
        kn_free(sides[i].layout.namespaces);
        kn_free(sides[i].layout.style);
    }
    return st;
}
