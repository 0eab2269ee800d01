/* kn_relational_plan.c: finished classes → the plan. Classes that show the same tree are one class to a reader of the
 * release, and so in the plan; of diverse classes their union is diverse.
 *
 * Cost: linear in the classes' nodes and rows, and sorting members.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_hash.h"
#include "kn_relational_internal.h"

static bool same_tree(const kn_cluster *a, const kn_cluster *b, int width)
{
    return a->nodes == b->nodes && memcmp(a->table, b->table, a->nodes * sizeof *a->table) == 0 &&
           memcmp(a->child_count, b->child_count, a->nodes * sizeof *a->child_count) == 0 &&
           memcmp(a->values, b->values, (size_t)a->nodes * (size_t)width * sizeof *a->values) == 0;
}

static uint64_t hash_tree(const kn_cluster *c, int width)
{
    uint64_t words[3] = {kn_hash_bytes(c->table, c->nodes * sizeof *c->table),
                         kn_hash_bytes(c->child_count, c->nodes * sizeof *c->child_count),
                         kn_hash_bytes(c->values, (size_t)c->nodes * (size_t)width * sizeof *c->values)};
    return kn_hash_words(words, 3);
}

/* Which class of the plan each finished one is in; returns how many there are. `slots` has a power of two of places,
 * each KN_CLASS_SUPPRESSED; `first` receives the first finished class of each class. */
static uint32_t number_trees(const kn_cluster_list *list, int width, uint32_t *slots, size_t mask, uint32_t *number,
                             uint32_t *first)
{
    uint32_t classes = 0;
    for (size_t i = 0; i < list->count; i++) {
        size_t at = (size_t)hash_tree(list->items[i], width) & mask;
        while (slots[at] != KN_CLASS_SUPPRESSED && !same_tree(list->items[first[slots[at]]], list->items[i], width))
            at = (at + 1) & mask;
        if (slots[at] == KN_CLASS_SUPPRESSED) {
            slots[at] = classes;
            first[classes++] = (uint32_t)i;
        }
        number[i] = slots[at];
    }
    return classes;
}

/* One member of a finished class. */
typedef struct member {
    uint32_t entity;
    uint32_t class_number;
    uint32_t cluster, index;
} member;

static int compare_members(const void *a, const void *b)
{
    const member *x = a, *y = b;
    if (x->class_number != y->class_number) return x->class_number < y->class_number ? -1 : 1;
    return x->entity < y->entity ? -1 : x->entity > y->entity;
}

static void fill_tree(kn_database_plan *plan, uint32_t c, const kn_cluster *tree)
{
    size_t at = (size_t)plan->node_start[c], width = (size_t)plan->width, n = tree->nodes;
    memcpy(plan->table + at, tree->table, n * sizeof *plan->table);
    memcpy(plan->parent + at, tree->parent, n * sizeof *plan->parent);
    memcpy(plan->first_child + at, tree->first_child, n * sizeof *plan->first_child);
    memcpy(plan->child_count + at, tree->child_count, n * sizeof *plan->child_count);
    memcpy(plan->values + at * width, tree->values, n * width * sizeof *plan->values);
    plan->node_start[c + 1] = at + n;
}

static void fill_members(kn_database_plan *plan, const kn_cluster_list *list, const member *members, size_t count)
{
    size_t at = 0, row = 0;
    for (uint32_t c = 0; c < plan->classes; c++) {
        size_t n = kn_database_plan_nodes(plan, c);
        for (; at < count && members[at].class_number == c; at++) {
            const kn_cluster *from = list->items[members[at].cluster];
            plan->members[at] = members[at].entity;
            plan->class_of_entity[members[at].entity] = c;
            memcpy(plan->rows + row, from->rows + members[at].index * n, n * sizeof *plan->rows);
            row += n;
        }
        plan->member_start[c + 1] = at;
        plan->row_start[c + 1] = row;
    }
}

kn_status kn_relational_make_plan(kn_database_plan **out, kn_context *ctx, const kn_forest *forest, int width,
                                  const kn_cluster_list *list, kn_error *err)
{
    *out = NULL;
    size_t   places = 16, n = list->count, count = 0, at = 0;
    uint64_t nodes = 0, rows = 0;
    while (places < n * 2) places *= 2;
    for (size_t i = 0; i < n; i++) count += list->items[i]->size;
    uint32_t *words = kn_alloc_array(ctx, places + 2 * n, sizeof *words);
    member   *members = kn_alloc_array(ctx, count + 1, sizeof *members);
    kn_status st = KN_OK;
    if (!words || !members) {
        st = kn_fail_memory(err, ctx, "making a plan");
        goto out;
    }
    uint32_t *number = words + places, *first = number + n;
    memset(words, 0xff, places * sizeof *words);
    uint32_t classes = number_trees(list, width, words, places - 1, number, first);
    for (size_t i = 0; i < n; i++) {
        rows += (uint64_t)list->items[i]->size * list->items[i]->nodes;
        for (uint32_t m = 0; m < list->items[i]->size; m++)
            members[at++] = (member){list->items[i]->members[m], number[i], (uint32_t)i, m};
    }
    for (uint32_t c = 0; c < classes; c++) nodes += list->items[first[c]]->nodes;
    qsort(members, count, sizeof *members, compare_members);
    st = kn_database_plan_create(out, ctx, forest->entities, classes, nodes, rows, width, err);
    if (st != KN_OK) goto out;
    (*out)->suppressed = forest->entities - (int64_t)count;
    memset((*out)->class_of_entity, 0xff, (size_t)forest->entities * sizeof *(*out)->class_of_entity);
    for (uint32_t c = 0; c < classes; c++) fill_tree(*out, c, list->items[first[c]]);
    fill_members(*out, list, members, count);
out:
    KN_FREE(words, members);
    return st;
}
