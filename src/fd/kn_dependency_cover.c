/* kn_dependency_cover.c: what follows from functional dependencies: closure, implication, minimal cover.
 *
 * Interface: kanon/dependencies.h. Names become numbers in the order of their first appearance; each dependency is
 * cut into rules with one column on the right. The closure of a set is computed as Beeri and Bernstein do
 * ("Computational problems related to the design of normal form relational schemas", 1979): every rule counts the
 * columns of its left side that are not included yet, so a closure costs the size of all rules, in any order.
 *
 * The cover: (1) from each left side, column by column, whatever the rest implies without; (2) each rule that the
 * others imply goes, those with long left sides first. Both steps need one closure per column or rule: quadratic in
 * the rules. Step 1 takes its closures under the rules as given, which imply what the shortened ones do.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <kanon/dependencies.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_bitset.h"
#include "kn_context.h"
#include "kn_error.h"

typedef struct rule {
    int *left; /* numbers of columns */
    int  left_count;
    int  indexed; /* how long the left side was when its uses were listed */
    int  right;
    bool gone;
} rule;

typedef struct rules {
    kn_context  *ctx;
    int          columns, rule_count;
    const char **names;   /* borrowed, per column                              */
    int         *numbers; /* storage of all left sides                         */
    rule        *rule;
    int         *starts;  /* per column: where its uses begin; columns + 1     */
    int         *uses;    /* the rules with the column on the left             */
    int         *missing; /* scratch of a closure: per rule                    */
    int         *queue;   /* and per column, in the order they came in         */
    uint64_t    *set;     /* and the columns that are in                       */
} rules;

/* ---- Names to numbers ---- */

static int number_of(rules *r, const char *name)
{
    for (int i = 0; i < r->columns; i++)
        if (strcmp(r->names[i], name) == 0) return i;
    r->names[r->columns] = name;
    return r->columns++;
}

static bool allocate(rules *r, size_t names, size_t left, size_t rule_count)
{
    kn_context *ctx = r->ctx;
    return KN_ALLOC(ctx, r->names, names + 1) && KN_ALLOC(ctx, r->numbers, left + 1) &&
           KN_ALLOC_ZERO(ctx, r->rule, rule_count + 1) && KN_ALLOC(ctx, r->starts, names + 2) &&
           KN_ALLOC(ctx, r->uses, left + 1) && KN_ALLOC(ctx, r->missing, rule_count + 1) &&
           KN_ALLOC(ctx, r->queue, names + 1) && KN_ALLOC(ctx, r->set, kn_bitset_words(names) + 1);
}

static void rules_free(rules *r)
{
    KN_FREE(r->names, r->numbers, r->rule, r->starts, r->uses, r->missing, r->queue, r->set);
}

/* The rules that use each column, from the rules that are left. */
static void index_uses(rules *r)
{
    memset(r->starts, 0, ((size_t)r->columns + 1) * sizeof *r->starts);
    for (int i = 0; i < r->rule_count; i++) {
        r->rule[i].indexed = r->rule[i].left_count;
        for (int j = 0; j < r->rule[i].left_count; j++) r->starts[r->rule[i].left[j]]++;
    }
    for (int c = 1; c <= r->columns; c++) r->starts[c] += r->starts[c - 1];
    for (int i = r->rule_count - 1; i >= 0; i--)
        for (int j = 0; j < r->rule[i].left_count; j++) r->uses[--r->starts[r->rule[i].left[j]]] = i;
}

/* Makes the rules of the functional dependencies; `extra` names are numbered too, `first` ones before all others. */
static kn_status rules_make(rules *r, kn_context *ctx, const kn_dependency *const *given, int given_count,
                            const char *const *first, int first_count, int extra, kn_error *err)
{
    size_t names = (size_t)first_count + (size_t)extra, left = 0, rule_count = 0;
    for (int i = 0; i < given_count; i++) {
        if (given[i]->kind != KN_DEPENDENCY_FUNCTIONAL) continue;
        names += (size_t)given[i]->left_count + (size_t)given[i]->right_count;
        left += (size_t)given[i]->left_count * (size_t)given[i]->right_count;
        rule_count += (size_t)given[i]->right_count;
    }
    *r = (rules){.ctx = ctx};
    if (left > INT32_MAX) return kn_fail(err, KN_USAGE, "too many dependencies");
    if (!allocate(r, names, left, rule_count)) return kn_fail_memory(err, ctx, "dependencies");
    for (int i = 0; i < first_count; i++) number_of(r, first[i]);
    int *at = r->numbers;
    for (int i = 0; i < given_count; i++) {
        const kn_dependency *d = given[i];
        if (d->kind != KN_DEPENDENCY_FUNCTIONAL) continue;
        const int *side = at;
        for (int j = 0; j < d->left_count; j++) *at++ = number_of(r, d->left[j]);
        for (int j = 0; j < d->right_count; j++) {
            rule *one = &r->rule[r->rule_count++];
            *one = (rule){.left = at - d->left_count, .left_count = d->left_count, .right = number_of(r, d->right[j])};
            if (j + 1 == d->right_count) break;
            memcpy(at, side, (size_t)d->left_count * sizeof *at);
            at += d->left_count;
        }
    }
    index_uses(r);
    return KN_OK;
}

/* ---- Closure ---- */

static void close_begin(rules *r)
{
    memset(r->set, 0, kn_bitset_words((size_t)r->columns) * sizeof *r->set);
    for (int i = 0; i < r->rule_count; i++) r->missing[i] = r->rule[i].gone ? INT32_MAX : r->rule[i].indexed;
}

static void close_add(rules *r, int *count, int column)
{
    if (kn_bitset_test(r->set, (size_t)column)) return;
    kn_bitset_set(r->set, (size_t)column);
    r->queue[(*count)++] = column;
}

/* Adds to the `count` columns in the queue what they imply; stops once `target` (-1: none) is in. Returns how many
 * are in. */
static int close_run(rules *r, int count, int target)
{
    for (int q = 0; q < count && !(target >= 0 && kn_bitset_test(r->set, (size_t)target)); q++)
        for (int u = r->starts[r->queue[q]]; u < r->starts[r->queue[q] + 1]; u++) {
            int i = r->uses[u];
            if (r->rule[i].gone || --r->missing[i] > 0) continue;
            close_add(r, &count, r->rule[i].right);
        }
    return count;
}

static bool implied(rules *r, const int *left, int left_count, int without, int right)
{
    int count = 0;
    close_begin(r);
    for (int j = 0; j < left_count; j++)
        if (j != without) close_add(r, &count, left[j]);
    close_run(r, count, right);
    return kn_bitset_test(r->set, (size_t)right);
}

static int sort_numbers(int *numbers, int count)
{
    for (int i = 1; i < count; i++)
        for (int j = i; j > 0 && numbers[j - 1] > numbers[j]; j--) {
            int n = numbers[j];
            numbers[j] = numbers[j - 1];
            numbers[j - 1] = n;
        }
    return count;
}

static kn_name_list *copy_names(rules *r, int count)
{
    size_t bytes = 0;
    for (int i = 0; i < count; i++) bytes += strlen(r->names[r->queue[i]]) + 1;
    kn_name_list *list = kn_alloc(r->ctx, sizeof *list + (size_t)count * sizeof(char *) + bytes);
    if (!list) return NULL;
    list->count = count;
    list->names = (const char **)(list + 1);
    char *at = (char *)(list->names + count);
    for (int i = 0; i < count; i++) {
        size_t n = strlen(r->names[r->queue[i]]) + 1;
        list->names[i] = memcpy(at, r->names[r->queue[i]], n);
        at += n;
    }
    return list;
}

kn_status kn_dependency_closure(kn_name_list **out, kn_context *ctx, const kn_dependency *const *given, int given_count,
                                const char *const *columns, int column_count, kn_error *err)
{
    rules r;
    *out = NULL;
    KN_SERVE(ctx, err);
    kn_status st = rules_make(&r, ctx, given, given_count, columns, column_count, 0, err);
    if (st == KN_OK) {
        int count = 0;
        close_begin(&r);
        for (int i = 0; i < column_count; i++) close_add(&r, &count, number_of(&r, columns[i]));
        count = close_run(&r, count, -1);
        *out = copy_names(&r, sort_numbers(r.queue, count));
        if (!*out) st = kn_fail_memory(err, ctx, "dependencies");
    }
    rules_free(&r);
    return st;
}

void kn_name_list_free(kn_name_list *list)
{
    kn_free(list);
}

kn_status kn_dependency_implied(bool *out, kn_context *ctx, const kn_dependency *const *given, int given_count,
                                const kn_dependency *dependency, kn_error *err)
{
    KN_SERVE(ctx, err);
    rules                r;
    const kn_dependency *d = dependency;
    *out = false;
    if (d->kind != KN_DEPENDENCY_FUNCTIONAL)
        return kn_fail(err, KN_USAGE, "implication is about functional dependencies: \"%.300s\" is not one", d->text);
    kn_status st = rules_make(&r, ctx, given, given_count, d->left, d->left_count, d->right_count, err);
    if (st == KN_OK) {
        int count = 0;
        *out = true;
        for (int i = 0; i < d->right_count; i++) number_of(&r, d->right[i]);
        index_uses(&r); /* now for all the columns */
        close_begin(&r);
        for (int i = 0; i < d->left_count; i++) close_add(&r, &count, number_of(&r, d->left[i]));
        close_run(&r, count, -1);
        for (int i = 0; i < d->right_count; i++)
            *out = *out && kn_bitset_test(r.set, (size_t)number_of(&r, d->right[i]));
    }
    rules_free(&r);
    return st;
}

/* ---- Minimal cover ---- */

/* Step 1. */
static kn_status shorten(rules *r, kn_error *err)
{
    for (int i = 0; i < r->rule_count; i++) {
        rule *one = &r->rule[i];
        if (kn_cancelled(r->ctx)) return kn_fail_cancelled(err);
        for (int j = 0; j < one->left_count && one->left_count > 1;) {
            if (!implied(r, one->left, one->left_count, j, one->right)) {
                j++;
                continue;
            }
            one->left_count--;
            memmove(one->left + j, one->left + j + 1, (size_t)(one->left_count - j) * sizeof *one->left);
        }
    }
    return KN_OK;
}

/* Step 2. */
static kn_status drop_implied(rules *r, kn_error *err)
{
    int longest = 0;
    for (int i = 0; i < r->rule_count; i++)
        if (r->rule[i].left_count > longest) longest = r->rule[i].left_count;
    for (int size = longest; size > 0; size--)
        for (int i = r->rule_count - 1; i >= 0; i--) {
            rule *one = &r->rule[i];
            if (one->left_count != size) continue;
            if (kn_cancelled(r->ctx)) return kn_fail_cancelled(err);
            one->gone = true;
            one->gone = implied(r, one->left, one->left_count, -1, one->right);
        }
    return KN_OK;
}

static bool same_left(const rule *a, const rule *b)
{
    return a->left_count == b->left_count && memcmp(a->left, b->left, (size_t)a->left_count * sizeof *a->left) == 0;
}

/* Joins rule i with those of the same left side behind it, which are then gone. */
static kn_status join(kn_dependency **out, rules *r, int i, const char **left, const char **right, kn_error *err)
{
    const rule *first = &r->rule[i];
    int         count = 0;
    for (int j = 0; j < first->left_count; j++) left[j] = r->names[first->left[j]];
    for (int n = i; n < r->rule_count; n++) {
        if (r->rule[n].gone || !same_left(first, &r->rule[n])) continue;
        right[count++] = r->names[r->rule[n].right];
        if (n > i) r->rule[n].gone = true;
    }
    return kn_dependency_make(out, r->ctx, KN_DEPENDENCY_FUNCTIONAL, 0, left, first->left_count, right, count, err);
}

static kn_status list_rules(kn_dependency_list **out, rules *r, kn_error *err)
{
    kn_dependency_list *list = kn_alloc_zero(r->ctx, sizeof *list);
    const char        **left = kn_alloc_array(r->ctx, (size_t)r->columns + 1, sizeof *left);
    const char        **right = kn_alloc_array(r->ctx, (size_t)r->columns + 1, sizeof *right);
    if (list) list->items = kn_alloc_array(r->ctx, (size_t)r->rule_count + 1, sizeof *list->items);
    kn_status st = list && left && right && list->items ? KN_OK : kn_fail_memory(err, r->ctx, "dependencies");
    for (int i = 0; i < r->rule_count && st == KN_OK; i++) {
        if (r->rule[i].gone) continue;
        st = join(&list->items[list->count], r, i, left, right, err);
        if (st == KN_OK) list->count++;
    }
    KN_FREE(left, right);
    if (st != KN_OK)
        kn_dependency_list_free(list);
    else
        *out = list;
    return st;
}

kn_status kn_dependency_cover(kn_dependency_list **out, kn_context *ctx, const kn_dependency *const *given,
                              int given_count, kn_error *err)
{
    rules r;
    *out = NULL;
    KN_SERVE(ctx, err);
    kn_status st = rules_make(&r, ctx, given, given_count, NULL, 0, 0, err);
    for (int i = 0; i < r.rule_count && st == KN_OK; i++) sort_numbers(r.rule[i].left, r.rule[i].left_count);
    if (st == KN_OK) st = shorten(&r, err);
    if (st == KN_OK) {
        index_uses(&r);
        st = drop_implied(&r, err);
    }
    if (st == KN_OK) st = list_rules(out, &r, err);
    rules_free(&r);
    return st;
}
