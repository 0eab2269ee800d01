/* records/distributions.c: how the values of each class of tree records are spread, before and after, for the owner's page.
 *
 * Nodes are counted by the leaves of the vocabulary that they show; a broader value is shared by the leaves below it. A node that
 * shows "*" is of no class any more. Where all values of a class are numbers or dates they are drawn as such. Cost: a pass over
 * the nodes of the original and of the release, O(values). Memory: 12 bytes per value of the vocabulary, 48 per leaf of a class.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_job_distributions.h"
#include "kn_records_run.h"
#include "kn_value.h"

/* A class while it is counted. Leaves are numbered in their order; the arrays have room for those of any class. */
typedef struct class_leaves {
    const kn_vocabulary *vocabulary;
    uint32_t             count;
    uint32_t            *leaves;  /* values of the vocabulary */
    kn_string           *texts;   /* of those that occur      */
    double              *numbers; /* per leaf                 */
} class_leaves;

static kn_string leaf_text(const void *of, uint32_t leaf)
{
    const class_leaves *c = of;
    return kn_vocabulary_label(c->vocabulary, c->leaves[leaf]);
}

static double leaf_number(const void *of, uint32_t leaf)
{
    return ((const class_leaves *)of)->numbers[leaf];
}

/* ---- Numbers and dates ---- */

static kn_status parse(class_leaves *c, kn_context *ctx, kn_type type, const char *format, size_t count, double *to,
                       kn_error *err)
{
    int64_t    *integers;
    kn_decimal *decimals;
    size_t      bad;
    KN_ALLOC(ctx, integers, count + 1);
    KN_ALLOC(ctx, decimals, count + 1);
    kn_status st = integers && decimals ? KN_OK : kn_fail_memory(err, ctx, "counting values");
    if (st == KN_OK) st = kn_parse_values(ctx, c->texts, count, type, format, NULL, integers, decimals, &bad, err);
    for (size_t i = 0; st == KN_OK && i < count; i++)
        to[i] = type == KN_TYPE_DECIMAL ? decimals[i].nearest : (double)integers[i];
    KN_FREE(integers, decimals);
    return st;
}

/* The order of the values that occur: that of numbers or dates where all of them are such. */
static kn_status find_order(kn_distribution_order *out, class_leaves *c, const kn_spread *s, kn_error *err)
{
    kn_type     type;
    const char *format;
    bool        ambiguous;
    size_t      count = 0;
    *out = (kn_distribution_order){KN_TYPE_TEXT, NULL, c};
    for (uint32_t i = 0; i < c->count; i++)
        if (s->before[i] > 0) c->texts[count++] = leaf_text(c, i);
    KN_TRY(kn_infer_type(&type, &format, &ambiguous, s->ctx, c->texts, count, NULL, err));
    if (type == KN_TYPE_TEXT || count == 0) return KN_OK;
    KN_TRY(parse(c, s->ctx, type, format, count, c->numbers, err));
    /* From the values that occur to their leaves: from behind, in place. */
    for (uint32_t i = c->count; i-- > 0;)
        if (s->before[i] > 0) c->numbers[i] = c->numbers[--count];
    *out = (kn_distribution_order){type, leaf_number, c};
    return KN_OK;
}

/* ---- Counting ---- */

/* `before`, `after`: nodes per value of the vocabulary. */
static kn_status count_class(kn_distribution *out, class_leaves *c, kn_context *ctx, int cls, const int64_t *before,
                             const int64_t *after, kn_error *err)
{
    const kn_vocabulary *v = c->vocabulary;
    uint32_t             top = v->top[cls], next = 0;
    kn_spread            s;
    c->count = v->leaves[top];
    KN_TRY(kn_spread_open(&s, ctx, c->count, NULL, err));
    for (uint32_t i = top; i < v->end[top]; i++) { /* in preorder the leaves below a value come next */
        if (after[i] > 0) kn_spread_range(&s, next, next + v->leaves[i] - 1, after[i]);
        if (v->end[i] > i + 1) continue;
        c->leaves[next] = i;
        s.before[next++] = before[i];
    }
    kn_distribution_order order;
    kn_status             st = kn_spread_finish(&s, err);
    if (st == KN_OK) st = find_order(&order, c, &s, err);
    if (st == KN_OK) kn_distribution_make(out, &s, order);
    kn_spread_close(&s);
    return st;
}

static void count_values(int64_t *counts, const kn_records *records)
{
    for (uint64_t i = 0; i < records->nodes; i++) counts[records->value[i]]++;
}

/* Each class's own leaves stay, for the texts of its bars. */
static kn_status count_classes(kn_release_run *run, const int64_t *before, const int64_t *after, kn_error *err)
{
    const kn_records_run *own = kn_records_run_of(run);
    const kn_vocabulary  *v = own->records->vocabulary;
    size_t                n = (size_t)v->class_count + 1;
    kn_distributed       *names = kn_release_alloc(run, &run->scratch, n, sizeof *names, err);
    kn_distribution      *found = kn_release_alloc(run, &run->scratch, n, sizeof *found, err);
    class_leaves         *classes = kn_release_alloc(run, &run->scratch, n, sizeof *classes, err);
    if (!names || !found || !classes) return KN_MEMORY;
    for (int c = 0; c < v->class_count; c++) {
        size_t leaves = (size_t)v->leaves[v->top[c]] + 1;
        classes[c].vocabulary = v;
        classes[c].leaves = kn_release_alloc(run, &run->scratch, leaves, sizeof *classes[c].leaves, err);
        classes[c].texts = kn_release_alloc(run, &run->scratch, leaves, sizeof *classes[c].texts, err);
        classes[c].numbers = kn_release_alloc(run, &run->scratch, leaves, sizeof *classes[c].numbers, err);
        if (!classes[c].leaves || !classes[c].texts || !classes[c].numbers) return KN_MEMORY;
        KN_TRY(count_class(&found[c], &classes[c], run->ctx, c, before, after, err));
        names[c] = (kn_distributed){NULL, v->class_names[c], v->sensitive[c] ? KN_ROLE_SENSITIVE : KN_ROLE_QUASI,
                                    leaf_text, &classes[c]};
    }
    return kn_release_set_distributions(run, names, found, v->class_count, after[0], NULL, err);
}

kn_status kn_records_run_spread(kn_release_run *run, kn_error *err)
{
    const kn_records_run *own = kn_records_run_of(run);
    int64_t              *before, *after;
    size_t                n = (size_t)own->records->vocabulary->nodes + 1;
    KN_ALLOC_ZERO(run->ctx, before, n);
    KN_ALLOC_ZERO(run->ctx, after, n);
    kn_status st = before && after ? KN_OK : kn_fail_memory(err, run->ctx, "counting values");
    if (st == KN_OK) {
        count_values(before, own->records);
        count_values(after, own->released);
        st = count_classes(run, before, after, err);
    }
    KN_FREE(before, after);
    return st;
}
