/* kept.c: kn_kept.h. Cost: one pass over a column with many values, and the inference of its type. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kn_kept.h"

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_value.h"

enum { FEW_VALUES = 10 };
#define UNIQUE_SHARE 0.9
#define TEXT_SHARE 0.5

/* Rows whose value is unique. */
static kn_status unique_rows(kn_context *ctx, const kn_table *table, int column, int64_t *out, kn_error *err)
{
    const kn_column *c = &table->columns[column];
    uint8_t         *seen = kn_alloc_array_zero(ctx, (size_t)c->dict.count + 1, 1);
    if (!seen) return kn_fail_memory(err, ctx, "looking at kept columns");
    for (int64_t row = 0; row < table->rows; row++) {
        uint8_t *s = &seen[kn_column_code(c, row)];
        *s = *s || kn_table_weight(table, row) > 1 ? 2 : 1;
    }
    *out = 0;
    for (uint32_t v = 0; v < c->dict.count; v++) *out += seen[v] == 1;
    kn_free(seen);
    return KN_OK;
}

kn_status kn_kept_are_texts(kn_context *ctx, const kn_string *values, uint32_t count, char decimal, bool *out,
                            kn_error *err)
{
    kn_type        type = KN_TYPE_TEXT;
    const char    *format = NULL;
    bool           ambiguous = false;
    kn_value_rules rules = {.decimal = decimal};
    kn_status      st = kn_infer_type(&type, &format, &ambiguous, ctx, values, count, &rules, err);
    *out = type == KN_TYPE_TEXT && !ambiguous;
    return st;
}

static kn_status is_text(kn_context *ctx, const kn_column *c, char decimal, bool *out, kn_error *err)
{
    *out = c->type == KN_TYPE_TEXT;
    if (!*out) return KN_OK;
    kn_string *values = kn_alloc_array(ctx, (size_t)c->dict.count + 1, sizeof *values);
    if (!values) return kn_fail_memory(err, ctx, "looking at kept columns");
    for (uint32_t v = 0; v < c->dict.count; v++) values[v] = kn_dictionary_text(&c->dict, v);
    kn_status st = kn_kept_are_texts(ctx, values, c->dict.count, decimal, out, err);
    kn_free(values);
    return st;
}

kn_status kn_kept_judge(int64_t present, int64_t distinct, int64_t unique, const char *name, bool *texts, kn_error *err)
{
    *texts = present >= FEW_VALUES && (double)distinct > TEXT_SHARE * (double)present;
    if (*texts && (double)unique > UNIQUE_SHARE * (double)present)
        return kn_fail(
            err, KN_INPUT,
            "column \"%s\" cannot be kept: more than 9 of 10 rows have a value of their own, which points at "
            "them (force publishes it all the same)",
            name);
    return KN_OK;
}

kn_status kn_kept_check(kn_context *ctx, const kn_table *table, int column, const char *name, char decimal,
                        kn_error *err)
{
    const kn_column *c = &table->columns[column];
    int64_t          present = kn_table_total(table) - c->missing, unique = 0;
    bool             text = false;
    KN_TRY(kn_kept_judge(present, c->dict.count, -1, name, &text, err));
    if (!text) return KN_OK;
    KN_TRY(unique_rows(ctx, table, column, &unique, err));
    KN_TRY(kn_kept_judge(present, c->dict.count, unique, name, &text, err));
    KN_TRY(is_text(ctx, c, decimal, &text, err));
    if (!text) return KN_OK;
    return kn_fail(err, KN_INPUT,
                   "column \"%s\" cannot be kept: so many different texts look like free text, which may hold anything "
                   "(force publishes it all the same)",
                   name);
}
