/* table/rules.c: what a release may contain: its columns, its suppressed rows and their number.
 *
 * A row is shown as suppressed if every column of it is "*" (suppressed: star), or every column but the sensitive
 * ones (keep-sensitive). If no other column shows the difference, such a row may also have been generalized to the
 * top: if there are more of them than may be suppressed, or if the release claims that none is suppressed, they count
 * as an ordinary class.
 *
 * Cost: one pass over the rows per column.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdatomic.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_parallel.h"
#include "kn_verify_internal.h"

#define WHAT "verifying"

enum { GRAIN = 1 << 16, FEW_ROWS = 256 };

kn_status kn_verify_dropped(kn_verifier *v, kn_error *err)
{
    v->originals = kn_vtotal(v->original);
    if (v->spec->missing != KN_MISSING_DROP || (v->where && v->where->coded))
        return KN_OK; /* the engine left them out */
    v->dropped = kn_arena_array_zero(&v->arena, (size_t)v->original->rows + 1, sizeof *v->dropped);
    if (!v->dropped) return kn_fail_memory(err, v->ctx, WHAT);
    for (int i = 0; i < v->quasi_count; i++) {
        const kn_vcolumn *column = v->quasi[i].original;
        bool             *missing = kn_alloc_array(v->ctx, (size_t)column->count + 1, sizeof *missing);
        if (!missing) return kn_fail_memory(err, v->ctx, WHAT);
        for (uint32_t t = 0; t < column->count; t++) missing[t] = kn_v_is_missing(v->spec, column->texts[t]);
        for (int64_t row = 0; row < v->original->rows; row++)
            if (missing[kn_vcode(column, row)]) v->dropped[row] = true;
        kn_free(missing);
    }
    for (int64_t row = 0; row < v->original->rows; row++)
        if (v->dropped[row]) v->originals -= kn_vcount(v->original, row);
    return KN_OK;
}

static uint32_t star_of(const kn_vcolumn *column)
{
    for (uint32_t i = 0; i < column->count; i++)
        if (kn_string_equal(column->texts[i], (kn_string){"*", 1})) return i;
    return KN_V_NONE;
}

/* The columns that say whether a row is suppressed, and how "*" is numbered there. */
typedef struct starring {
    kn_verifier       *v;
    const kn_vcolumn **columns;
    uint32_t          *stars;
    int                count;
    _Atomic int64_t    rows; /* that are */
} starring;

static void add_starring(starring *s, const kn_vcolumn *column)
{
    s->columns[s->count] = column;
    s->stars[s->count++] = star_of(column);
}

/* Most rows are not, and adjacent rows are alike: a few rows are asked at a time, column by column, until none is left. */
static kn_status star_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker, (void)err;
    starring          *s = arg;
    const kn_verifier *v = s->v;
    int64_t            rows = 0;
    for (int64_t from = begin; from < end; from += FEW_ROWS) {
        int64_t until = end - from < FEW_ROWS ? end : from + FEW_ROWS;
        bool    some = true;
        for (int64_t row = from; row < until; row++) v->starred[row] = true;
        for (int i = 0; some && i < s->count; i++) {
            some = false;
            for (int64_t row = from; row < until; row++) {
                v->starred[row] = v->starred[row] && kn_vcode(s->columns[i], row) == s->stars[i];
                some = some || v->starred[row];
            }
        }
        for (int64_t row = from; some && row < until; row++)
            if (v->starred[row]) rows += kn_vcount(v->release, row);
    }
    s->rows += rows;
    return KN_OK;
}

/* Is it promised that nobody is known to be absent? Then no row can have been suppressed. */
static bool forbids_absence(const kn_spec *spec)
{
    for (int i = 0; i < spec->model_count; i++)
        if (spec->models[i].kind == KN_MODEL_PRESENCE && spec->models[i].low.numerator > 0) return true;
    return false;
}

/* Are rows that are "*" throughout generalized to the top, rather than suppressed? No other column shows it. */
static bool is_top(const kn_verifier *v)
{
    const kn_verify_options *o = v->options;
    if (forbids_absence(v->spec)) return true;
    if (v->star_rows > v->budget) return true;
    return o->suppressed == 0;
}

static kn_status find_starred(kn_verifier *v, kn_error *err)
{
    int64_t rows = v->release->rows;
    v->starred = kn_arena_array_zero(&v->arena, (size_t)rows + 1, sizeof *v->starred);
    if (!v->starred) return kn_fail_memory(err, v->ctx, WHAT);
    if (v->spec->suppressed == KN_SUPPRESSED_DROP) return KN_OK;
    bool     telling = false; /* some column distinguishes a suppressed row from one that was generalized to the top */
    size_t   most = (size_t)v->quasi_count + (size_t)v->copy_count + 3;
    starring s = {.v = v};
    s.columns = kn_arena_array(&v->arena, most, sizeof *s.columns);
    s.stars = kn_arena_array(&v->arena, most, sizeof *s.stars);
    if (v->arena.failed) return kn_fail_memory(err, v->ctx, WHAT);
    for (int i = 0; i < v->quasi_count; i++) add_starring(&s, v->quasi[i].release);
    for (int i = 0; i < v->copy_count; i++) {
        const kn_vcopy *c = &v->copies[i];
        if (v->spec->suppressed == KN_SUPPRESSED_KEEP_SENSITIVE && c->attribute->role == KN_ROLE_SENSITIVE) continue;
        add_starring(&s, c->release);
        telling = true;
    }
    if (v->items) add_starring(&s, v->items->release); /* "*" there says nothing of the row */
    if (v->where && v->where->stars) {
        add_starring(&s, v->where->stars);
        telling = true;
    }
    KN_TRY(kn_parallel_for(v->ctx, rows, GRAIN, star_range, &s, err));
    v->star_rows = s.rows;
    if (!telling && is_top(v)) {
        memset(v->starred, 0, (size_t)rows);
        v->star_rows = 0;
    }
    return KN_OK;
}

static int64_t budget_of(const kn_verifier *v)
{
    const kn_spec *s = v->spec;
    if (s->suppression_is_count) return s->suppression_rows;
    if (s->suppression.denominator == 0) return 0;
    return (int64_t)((kn_u128)s->suppression.numerator * (kn_u128)v->originals / s->suppression.denominator);
}

static void check_counts(kn_verifier *v)
{
    int64_t rows = kn_vtotal(v->release);
    bool    drop = v->spec->suppressed == KN_SUPPRESSED_DROP;
    if (rows > v->originals)
        kn_vproblem(v->notes, "the release has %" PRId64 " row%s, the original %" PRId64 "", rows, rows == 1 ? "" : "s",
                    v->originals);
    else if (!drop && rows < v->originals)
        kn_vproblem(v->notes, "%" PRId64 " %s of the original %s neither shown nor shown as suppressed",
                    v->originals - rows, v->originals - rows == 1 ? "row" : "rows",
                    v->originals - rows == 1 ? "is" : "are");
    v->suppressed = drop ? v->originals - rows : v->star_rows;
    if (v->suppressed < 0) v->suppressed = 0;
    if (v->suppressed > v->budget)
        kn_vproblem(v->notes, "%" PRId64 " %s suppressed, at most %" PRId64 " may be", v->suppressed,
                    v->suppressed == 1 ? "row is" : "rows are", v->budget);
}

static bool is_pseudonym(kn_string text)
{
    if (text.size != 32) return false;
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) return false;
    }
    return true;
}

static void check_pseudonyms(kn_verifier *v)
{
    for (int i = 0; i < v->copy_count; i++) {
        const kn_vcopy *c = &v->copies[i];
        for (uint32_t t = 0; c->pseudonym && t < c->release->count && !v->report->more_problems; t++) {
            kn_string text = c->release->texts[t];
            bool      star = text.size == 1 && text.data[0] == '*';
            if (is_pseudonym(text) || star || text.size == 0) continue;
            kn_vproblem(
                v->notes, "row %" PRId64 ", column \"%s\": %s", kn_vcolumn_first(c->release, t) + 1, c->attribute->name,
                kn_v_is_missing(v->spec, text) ? "a missing identifier must be an empty cell" : "not a pseudonym");
        }
    }
}

static void check_cells(kn_verifier *v)
{
    for (int i = 0; i < v->quasi_count; i++) {
        const kn_vquasi *q = &v->quasi[i];
        for (uint32_t t = 0; t < q->release->count && !v->report->more_problems; t++)
            if (q->cells[t].kind == KN_VCELL_UNKNOWN)
                kn_vproblem(v->notes,
                            "row %" PRId64 ", column \"%s\": neither a value of the original, nor a label of the "
                            "hierarchy, an interval, a set or *",
                            kn_vcolumn_first(q->release, t) + 1, q->attribute->name);
    }
}

static kn_status count_shown(kn_verifier *v, kn_error *err)
{
    v->shown = kn_arena_array_zero(&v->arena, (size_t)v->classes.count + 1, sizeof *v->shown);
    if (!v->shown) return kn_fail_memory(err, v->ctx, WHAT);
    bool all =
        v->star_rows == 0 || v->spec->suppressed != KN_SUPPRESSED_KEEP_SENSITIVE; /* are shown that are in a class */
    for (uint32_t c = 0; all && c < v->classes.count; c++) v->shown[c] = v->classes.rows[c];
    for (int64_t row = 0; !all && row < v->release->rows; row++)
        if (!v->starred[row]) v->shown[v->classes.of_row[row]] += kn_vcount(v->release, row);
    for (uint32_t c = 0; c < v->classes.count; c++) v->class_count += v->shown[c] > 0;
    return KN_OK;
}

kn_status kn_verify_group(kn_verifier *v, kn_error *err)
{
    kn_vkey *keys = kn_alloc_array_zero(v->ctx, (size_t)v->quasi_count + 1, sizeof *keys);
    if (!keys) return kn_fail_memory(err, v->ctx, WHAT);
    if (v->star_rows > 0 && v->spec->suppressed == KN_SUPPRESSED_STAR) keys[0].omit = v->starred;
    for (int i = 0; i < v->quasi_count; i++) keys[i + 1].column = v->quasi[i].release;
    kn_status st = kn_vgroup(&v->classes, v->ctx, v->release->rows, v->release->counts, keys, v->quasi_count + 1, err);
    kn_free(keys);
    return st == KN_OK ? count_shown(v, err) : st;
}

kn_status kn_verify_starred(kn_verifier *v, kn_error *err)
{
    v->budget = budget_of(v);
    KN_TRY(find_starred(v, err));
    v->suppressed = v->star_rows;
    return KN_OK;
}

kn_status kn_verify_rows(kn_verifier *v, kn_error *err)
{
    KN_TRY(kn_verify_starred(v, err));
    check_counts(v);
    check_cells(v);
    check_pseudonyms(v);
    return kn_verify_group(v, err);
}
