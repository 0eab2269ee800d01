/* fuzz_workload.c: bytes → workload → invariants.
 *
 * What was read holds together, and its queries, written down one after the other with their weights, are read as the same
 * queries. A message names a place inside the text and shows nothing of it.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_buffer.h"
#include "kn_workload.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "fuzz_workload: %s\n", what);
    abort();
}

static void check_query(const kn_query *q)
{
    demand(q->weight > 0, "a weight that is none");
    demand((unsigned)q->aggregate < KN_AGGREGATES, "an aggregate that is none");
    demand((q->aggregate == KN_AGGREGATE_COUNT) == (q->attribute == NULL), "a column where none belongs, or none");
    demand(q->line > 0 && q->column > 0 && q->text[0], "a query without a place or a text");
    for (int i = 0; i < q->predicate_count; i++) {
        const kn_predicate *p = &q->predicates[i];
        int                 wanted = p->comparison == KN_COMPARE_NULL ? 0 : p->comparison == KN_COMPARE_BETWEEN ? 2 : 1;
        demand(p->attribute != NULL && p->line >= q->line, "a predicate without a column");
        demand(p->comparison == KN_COMPARE_IN ? p->value_count >= 1 : p->value_count == wanted, "miscounted values");
    }
}

static bool same_query(const kn_query *a, const kn_query *b)
{
    if (a->weight != b->weight || a->aggregate != b->aggregate || a->predicate_count != b->predicate_count)
        return false;
    if (a->attribute && strcmp(a->attribute, b->attribute) != 0) return false;
    for (int i = 0; i < a->predicate_count; i++) {
        const kn_predicate *x = &a->predicates[i], *y = &b->predicates[i];
        if (strcmp(x->attribute, y->attribute) != 0 || x->comparison != y->comparison || x->negated != y->negated ||
            x->value_count != y->value_count)
            return false;
        for (int v = 0; v < x->value_count; v++)
            if (strcmp(x->values[v].text, y->values[v].text) != 0) return false;
    }
    return strcmp(a->text, b->text) == 0;
}

static void read_again(kn_context *ctx, const kn_workload *w)
{
    kn_buffer    text;
    kn_workload *again = NULL;
    kn_error     err = KN_ERROR_INIT;
    kn_buffer_init(&text, ctx);
    for (int q = 0; q < w->query_count; q++)
        kn_buffer_format(&text, "%.17g %s;\n", w->queries[q].weight, w->queries[q].text);
    demand(kn_workload_parse(&again, ctx, "again", text.data, text.size, &err) == KN_OK,
           "what was read is not read again");
    demand(again->query_count == w->query_count, "other queries the second time");
    for (int q = 0; q < w->query_count; q++)
        demand(same_query(&w->queries[q], &again->queries[q]), "another query the second time");
    kn_workload_free(again);
    kn_buffer_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kn_context        *ctx = NULL;
    kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
    kn_workload       *w = NULL;
    kn_error           err = KN_ERROR_INIT;
    options.threads = 1;
    if (kn_context_create(&ctx, &options, NULL) != KN_OK) return 0;
    kn_status st = kn_workload_parse(&w, ctx, "fuzz", (const char *)data, size, &err);
    demand((st == KN_OK) == (w != NULL), "a workload in spite of a failure, or none");
    if (w) {
        demand(w->query_count > 0, "no query");
        for (int q = 0; q < w->query_count; q++) check_query(&w->queries[q]);
        read_again(ctx, w);
    } else {
        int64_t lines = 1;
        for (size_t i = 0; i < size; i++) lines += data[i] == '\n';
        demand(st == KN_INPUT && err.message[0], "a failure that is none of the input");
        demand(err.line >= 0 && err.line <= lines && err.column >= 0 && err.column <= (int64_t)size + 1,
               "a place outside the text");
    }
    kn_workload_free(w);
    kn_context_free(ctx);
    return 0;
}
