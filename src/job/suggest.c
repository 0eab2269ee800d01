/* suggest.c: kn_hierarchy_suggest: ways to build a hierarchy of a column, held against each other by what a release loses.
 *
 * Each way becomes a rule of the spec, or a file in memory that the spec names; then a release is searched for as kn_anonymize
 * would, and its lm is what counts. All have the same leaves, the values of the column, so their losses can be compared.
 * Interface: kanon/init.h. Cost: one search, and one reading, for each way.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <kanon/anonymize.h>
#include <kanon/init.h>
#include <kanon/memory.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_draft.h"
#include "kn_error.h"
#include "kn_hierarchy.h"
#include "kn_hierarchy_file.h"

#define NAME "memory:suggested hierarchy"

enum { MOST = 16 };

typedef struct trying {
    kn_context   *ctx;
    kn_spec      *spec;
    const char   *column;
    kn_table     *table; /* the column alone */
    kn_arena     *arena;
    kn_suggestion list[MOST];
    int           count;
} trying;

typedef struct owned_suggestions {
    kn_suggestions suggestions; /* first: what the caller holds */
    kn_suggestion  list[MOST];
    kn_arena       arena;
} owned_suggestions;

static kn_status no_memory(const trying *t, kn_error *err)
{
    return kn_fail_memory(err, t->ctx, "suggesting hierarchies");
}

/* What a release loses by it. */
static kn_status judge(trying *t, const char *rule, kn_suggestion *to, kn_error *err)
{
    kn_anonymize_options dry = KN_ANONYMIZE_OPTIONS_INIT;
    kn_release_result   *result = NULL;
    kn_buffer            text;
    dry.dry_run = true;
    kn_buffer_init(&text, t->ctx);
    kn_buffer_format(&text, "{role: quasi, hierarchy: %s}", rule);
    const char *said = kn_buffer_text(&text);
    kn_status   st = said ? kn_spec_set_attribute(t->spec, t->column, said, "hierarchy", err) : no_memory(t, err);
    kn_buffer_free(&text);
    if (st == KN_OK) st = kn_spec_check(t->spec, err);
    if (st == KN_OK) st = kn_anonymize(&result, t->ctx, t->spec, &dry, err);
    to->loss = st == KN_OK && result->head.found ? kn_release_metric(result, KN_METRIC_LM) : (double)NAN;
    kn_release_result_free(result);
    return st;
}

static kn_status try_groups(trying *t, kn_group_by by, int fan_out, kn_error *err)
{
    kn_suggestion    *to = &t->list[t->count];
    kn_hierarchy_spec spec = KN_HIERARCHY_SPEC_INIT;
    kn_hierarchy     *h = NULL;
    kn_buffer         text;
    char              build[80];
    spec.kind = KN_HIERARCHY_GROUPS;
    spec.group_by = by;
    spec.fan_out = fan_out;
    KN_TRY(kn_hierarchy_make(&h, t->ctx, t->table, 0, &spec, false, err));
    int n = snprintf(build, sizeof build, "--groups %s", kn_group_by_name(by));
    if (fan_out > 0) snprintf(build + n, sizeof build - (size_t)n, " --fan-out %d", fan_out);
    kn_buffer_init(&text, t->ctx);
    kn_hierarchy_format(h, ';', &text);
    const char *made = kn_buffer_text(&text);
    *to = (kn_suggestion){.levels = kn_hierarchy_levels(h), .counted = by == KN_GROUP_BY_FREQUENCY};
    to->build = kn_arena_strndup(t->arena, build, strlen(build));
    to->text = made ? kn_arena_strndup(t->arena, made, text.size) : NULL;
    kn_status st = to->build && to->text ? kn_memory_put(t->ctx, NAME, to->text, text.size, err) : no_memory(t, err);
    bool      flat = to->levels <= 2; /* the same as value or * */
    kn_buffer_free(&text);
    kn_hierarchy_free(h);
    if (st == KN_OK && !flat) st = judge(t, "{file: \"" NAME "\", delimiter: \";\"}", to, err);
    t->count += st == KN_OK && !flat;
    return st;
}

static kn_status try_rule(trying *t, const char *rule, kn_error *err)
{
    t->list[t->count] = (kn_suggestion){.rule = rule};
    KN_TRY(judge(t, rule, &t->list[t->count], err));
    t->count++;
    return KN_OK;
}

static kn_status try_all(trying *t, kn_error *err)
{
    static const int fan_outs[] = {2, 3, 4, 8};
    const char      *rule = NULL;
    KN_TRY(kn_draft_rule_alone(&rule, t->ctx, t->arena, t->table, 0, err));
    if (rule && strcmp(rule, "suppress") != 0) KN_TRY(try_rule(t, rule, err));
    for (size_t i = 0; i < sizeof fan_outs / sizeof *fan_outs; i++)
        KN_TRY(try_groups(t, KN_GROUP_BY_ORDER, fan_outs[i], err));
    KN_TRY(try_groups(t, KN_GROUP_BY_FREQUENCY, 4, err));
    if (t->table->columns[0].type == KN_TYPE_TEXT) KN_TRY(try_groups(t, KN_GROUP_BY_PREFIX, 0, err));
    return try_rule(t, "suppress", err);
}

/* The least loss first; what cannot be released last; else as they were tried. */
static bool is_before(const kn_suggestion *a, const kn_suggestion *b)
{
    if (isnan(a->loss) || isnan(b->loss)) return !isnan(a->loss) && isnan(b->loss);
    return a->loss < b->loss;
}

static void sort(trying *t)
{
    for (int i = 1; i < t->count; i++)
        for (int j = i; j > 0 && is_before(&t->list[j], &t->list[j - 1]); j--) {
            kn_suggestion swap = t->list[j];
            t->list[j] = t->list[j - 1];
            t->list[j - 1] = swap;
        }
}

static kn_status suggest(trying *t, kn_error *err)
{
    kn_csv_options csv = *kn_spec_csv(t->spec);
    csv.columns = &t->column;
    csv.column_count = 1;
    KN_TRY(kn_table_read_csv_files(&t->table, t->ctx, t->spec->inputs, t->spec->input_count, &csv, err));
    kn_status st = try_all(t, err);
    kn_memory_remove(t->ctx, NAME);
    sort(t);
    return st;
}

kn_status kn_hierarchy_suggest(kn_suggestions **out, kn_context *ctx, kn_spec *spec, const char *column, kn_error *err)
{
    *out = NULL;
    KN_SERVE(ctx, err);
    owned_suggestions *owned = kn_alloc_zero(ctx, sizeof *owned);
    if (!owned) return kn_fail_memory(err, ctx, "suggesting hierarchies");
    kn_arena_init(&owned->arena, ctx);
    trying    t = {.ctx = ctx, .spec = spec, .column = column, .arena = &owned->arena};
    kn_status st = suggest(&t, err);
    kn_table_free(t.table);
    memcpy(owned->list, t.list, sizeof t.list);
    owned->suggestions = (kn_suggestions){.count = t.count, .list = owned->list};
    if (st == KN_OK)
        *out = &owned->suggestions;
    else
        kn_suggestions_free(&owned->suggestions);
    return st;
}

void kn_suggestions_free(kn_suggestions *suggestions)
{
    if (!suggestions) return;
    owned_suggestions *owned = (owned_suggestions *)suggestions;
    kn_arena_free(&owned->arena);
    kn_free(owned);
}
