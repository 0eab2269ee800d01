/* kn_row_judge.c: rows as one class against the requirements (kn_row_judge.h).
 *
 * Cost: the rows, times the sensitive columns; with an entity a sort of them. Sizes are checked first.
 *
 * Average risk is a promise about the whole release. Here it becomes one about every class: if each class has at
 * least 1 / risk rows, so does the average.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_row_judge.h"

#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_compare.h"
#include "kn_error.h"

static bool allocate(kn_row_judge *j)
{
    const kn_requirements *r = j->requirements;
    kn_arena              *arena = &j->arena;
    size_t                 n = (size_t)r->sensitive_count + 1;
    j->histograms = kn_arena_array_zero(arena, n, sizeof *j->histograms);
    j->codes = kn_arena_array(arena, n, sizeof *j->codes);
    j->counts = kn_arena_array(arena, n, sizeof *j->counts);
    j->rows_of = kn_arena_array(arena, n, sizeof *j->rows_of);
    for (int s = 0; s < r->sensitive_count && !arena->failed; s++) {
        size_t values = (size_t)j->table->columns[r->sensitive[s]].dict.count + 1;
        j->codes[s] = kn_arena_array(arena, values, sizeof **j->codes);
        j->counts[s] = kn_arena_array(arena, values, sizeof **j->counts);
        j->rows_of[s] = kn_arena_array_zero(arena, values, sizeof **j->rows_of);
    }
    if (r->entity >= 0)
        j->stamps = kn_arena_array_zero(arena, (size_t)j->table->columns[r->entity].dict.count + 1, sizeof *j->stamps);
    return !arena->failed;
}

kn_status kn_row_judge_make(kn_row_judge *out, kn_context *ctx, const kn_table *table,
                            const kn_requirements *requirements, kn_error *err)
{
    *out = (kn_row_judge){
        .ctx = ctx, .table = table, .requirements = requirements, .arena = {.ctx = ctx}, .smallest = requirements->k};
    if (requirements->population) {
        *out = (kn_row_judge){0};
        return kn_fail(err, KN_USAGE, "k-map and delta-presence need a full-domain method, such as optimal");
    }
    if (requirements->has_average) {
        uint64_t least = (requirements->average.denominator + requirements->average.numerator - 1) /
                         (requirements->average.numerator ? requirements->average.numerator : 1);
        if ((int64_t)least > out->smallest) out->smallest = (int64_t)least;
    }
    if (!allocate(out)) {
        kn_row_judge_free(out);
        return kn_fail_memory(err, ctx, "judging classes");
    }
    kn_status status = kn_requirements_scratch_make(&out->scratch, requirements, err);
    if (status != KN_OK) kn_row_judge_free(out);
    return status;
}

void kn_row_judge_free(kn_row_judge *j)
{
    kn_arena_free(&j->arena);
    kn_free(j->pairs);
    kn_requirements_scratch_free(&j->scratch);
    *j = (kn_row_judge){0};
}

typedef struct row_list {
    const unsigned char *at;
    size_t               stride;
    uint32_t             count;
} row_list;

static uint32_t row_at(row_list rows, uint32_t i)
{
    return *(const uint32_t *)(const void *)(rows.at + i * rows.stride);
}

static int64_t count_persons(kn_row_judge *j, row_list rows)
{
    const kn_column *entity = &j->table->columns[j->requirements->entity];
    int64_t          persons = 0;
    j->stamp++;
    if (j->stamp == 0) { /* after 2^32 sides the stamps begin anew */
        memset(j->stamps, 0, ((size_t)entity->dict.count + 1) * sizeof *j->stamps);
        j->stamp = 1;
    }
    for (uint32_t i = 0; i < rows.count; i++) {
        uint32_t person = kn_column_code(entity, row_at(rows, i));
        persons += j->stamps[person] != j->stamp;
        j->stamps[person] = j->stamp;
    }
    return persons;
}

static int64_t weight_at(const kn_row_judge *j, uint32_t row)
{
    return j->weights ? j->weights[row] : 1;
}

static int64_t count_rows(const kn_row_judge *j, row_list rows)
{
    int64_t sum = 0;
    if (!j->weights) return rows.count;
    for (uint32_t i = 0; i < rows.count; i++) sum += j->weights[row_at(rows, i)];
    return sum;
}

static void add_value(kn_row_judge *j, int s, uint32_t code, int64_t rows, int64_t *values)
{
    if (j->rows_of[s][code] == 0) j->codes[s][(*values)++] = code;
    j->rows_of[s][code] += rows;
}

/* Each person counts once for each of their values. */
static kn_status add_persons(kn_row_judge *j, row_list rows, int s, int64_t *values, kn_error *err)
{
    const kn_column *column = &j->table->columns[j->requirements->sensitive[s]];
    const kn_column *entity = &j->table->columns[j->requirements->entity];
    size_t           n = rows.count;
    void            *pairs = j->pairs;
    if (!kn_grow(j->ctx, &pairs, &j->pair_capacity, n, sizeof *j->pairs))
        return kn_fail_memory(err, j->ctx, "judging classes");
    j->pairs = pairs;
    for (size_t i = 0; i < n; i++) {
        uint32_t row = row_at(rows, (uint32_t)i);
        j->pairs[i] = (uint64_t)kn_column_code(column, row) << 32 | kn_column_code(entity, row);
    }
    qsort(j->pairs, n, sizeof *j->pairs, kn_compare_u64);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || j->pairs[i] != j->pairs[i - 1]) add_value(j, s, (uint32_t)(j->pairs[i] >> 32), 1, values);
    return KN_OK;
}

static kn_status make_histogram(kn_row_judge *j, row_list list, int s, kn_error *err)
{
    const kn_column *column = &j->table->columns[j->requirements->sensitive[s]];
    int64_t          values = 0, rows = 0;
    kn_status        status = KN_OK;
    if (j->requirements->entity >= 0)
        status = add_persons(j, list, s, &values, err);
    else
        for (uint32_t i = 0; i < list.count; i++) {
            uint32_t row = row_at(list, i);
            add_value(j, s, kn_column_code(column, row), weight_at(j, row), &values);
        }
    qsort(j->codes[s], (size_t)values, sizeof **j->codes, kn_compare_u32);
    for (int64_t i = 0; i < values; i++) {
        int64_t *count = &j->rows_of[s][j->codes[s][i]];
        j->counts[s][i] = *count;
        rows += *count;
        *count = 0;
    }
    j->histograms[s] = (kn_histogram){j->codes[s], j->counts[s], values, rows};
    return status;
}

kn_status kn_row_judge_holds(bool *out, kn_row_judge *j, const void *rows, size_t stride, uint32_t count, kn_error *err)
{
    row_list      list = {rows, stride, count};
    kn_class_view view = {.rows = count_rows(j, list), .histograms = j->histograms, .population_unit = 1};
    *out = false;
    if (view.rows < j->smallest) return KN_OK;
    view.persons = j->requirements->entity >= 0 ? count_persons(j, list) : view.rows;
    if (view.persons < j->smallest) return KN_OK;
    if (j->requirements->k_only) {
        *out = true;
        return KN_OK;
    }
    for (int s = 0; s < j->requirements->sensitive_count; s++) KN_TRY(make_histogram(j, list, s, err));
    *out = kn_requirements_hold(j->requirements, &view, &j->scratch);
    return KN_OK;
}
