/* table/map.c: with a row map each released row is compared with its original.
 *
 * The map must name each original at most once and none that does not exist. It is turned round: each original gets the
 * class that shows it, a share of the originals at a time, and the quasi-identifiers are compared in the order of the
 * originals (pairs.c). Sensitive, kept and weight cells must be the same (form.c: in one of two spellings); a pseudonym
 * must go with one identifier and the identifier with one pseudonym. All in parallel; only where something is wrong the
 * rows are looked at again, one by one,
 * for what is said about them.
 *
 * Cost: one jump through memory per row and one per row and copied column. Memory: 1 byte per original, 4 in
 * small tables.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdatomic.h>

#include "kn_alloc.h"
#include "kn_bitset.h"
#include "kn_error.h"
#include "kn_parallel.h"
#include "kn_verify_pairs.h"
#include "kn_verify_rowmap.h"

#define WHAT "verifying"

enum { SHOWN = 5, GRAIN = 1 << 15, SHARES = 4, WHOLE = 1 << 16 /* rows of which there are no shares */ };

/* ---- The map ---- */

typedef struct placing {
    kn_verifier    *v;
    kn_vpairs     **pairs;      /* per column; NULL: there are no shares */
    kn_vimage      *image;      /* per original of a share */
    int64_t         begin, end; /* that share              */
    _Atomic int64_t placed;
    atomic_bool     wrong; /* a row that is not there, or must be left out */
} placing;

static kn_status clear_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker, (void)err;
    const placing *p = arg;
    for (int64_t i = begin; i < end; i++) atomic_init(&p->image[i], KN_V_NONE);
    return KN_OK;
}

static kn_status place_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker, (void)err;
    placing           *p = arg;
    const kn_verifier *v = p->v;
    for (int64_t row = begin; row < end; row++) {
        int64_t o = kn_vmapped(v, row);
        if (o >= p->begin && o < p->end)
            atomic_store_explicit(&p->image[o - p->begin], v->starred[row] ? KN_VIMAGE_STAR : v->classes.of_row[row],
                                  memory_order_relaxed);
        else if (o < 0 || o >= v->original->rows)
            p->wrong = true;
    }
    return KN_OK;
}

static kn_status count_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker, (void)err;
    placing           *p = arg;
    const kn_verifier *v = p->v;
    int64_t            placed = 0;
    for (int64_t i = begin; i < end; i++) {
        if (kn_vimage_of(p->image, i) == KN_V_NONE) continue;
        placed++;
        if (v->dropped && v->dropped[p->begin + i]) p->wrong = true;
    }
    p->placed += placed;
    return KN_OK;
}

/* The images of the originals of a share; with several, what each column's cells are beside them. */
static kn_status place_share(placing *p, kn_error *err)
{
    const kn_verifier *v = p->v;
    int64_t            rows = p->end - p->begin;
    KN_TRY(kn_parallel_for(v->ctx, rows, GRAIN, clear_range, p, err));
    KN_TRY(kn_parallel_for(v->ctx, v->release->rows, GRAIN, place_range, p, err));
    KN_TRY(kn_parallel_for(v->ctx, rows, GRAIN, count_range, p, err));
    for (int i = 0; p->pairs && !p->wrong && i < v->quasi_count; i++)
        KN_TRY(kn_vpairs_see(p->pairs[i], p->image, p->begin, p->end, err));
    return KN_OK;
}

/* All originals. *good: as many of them have an image as there are rows, so that no two rows are of one original; and nothing else is wrong
 * with the map. */
static kn_status place_rows(placing *p, int64_t count, bool *good, kn_error *err)
{
    int64_t rows = p->v->original->rows, share = p->pairs ? (rows + SHARES - 1) / SHARES : rows;
    *good = false;
    if (count != p->v->release->rows) return KN_OK;
    p->image = kn_alloc_array(p->v->ctx, (size_t)share + 1, sizeof *p->image);
    if (!p->image) return kn_fail_memory(err, p->v->ctx, WHAT);
    do { /* once, if there are no originals at all */
        p->begin = p->end;
        p->end = rows - p->begin < share ? rows : p->begin + share;
        KN_TRY(place_share(p, err));
    } while (!p->wrong && p->end < rows);
    *good = !p->wrong && p->placed == count;
    return KN_OK;
}

/* What is wrong with a map that is not injective, or not into the originals that may be released. */
static kn_status blame_map(kn_verifier *v, int64_t count, kn_error *err)
{
    v->map_ok = count == v->release->rows;
    if (!v->map_ok)
        kn_vproblem(v->notes, "the row map has %" PRId64 " entries for %" PRId64 " released rows", count,
                    v->release->rows);
    uint64_t *used = kn_alloc_array_zero(v->ctx, kn_bitset_words((size_t)v->original->rows) + 1, sizeof *used);
    if (!used) return kn_fail_memory(err, v->ctx, WHAT);
    int64_t wrong = 0, twice = 0, left_out = 0;
    for (int64_t row = 0; row < count; row++) {
        int64_t  o = kn_vmapped(v, row);
        int64_t *counter = NULL;
        if (o < 0 || o >= v->original->rows)
            counter = &wrong;
        else if (kn_bitset_test(used, (size_t)o))
            counter = &twice;
        else if (v->dropped && v->dropped[o])
            counter = &left_out;
        if (o >= 0 && o < v->original->rows) kn_bitset_set(used, (size_t)o);
        if (!counter) continue;
        v->map_ok = false;
        if (++*counter > SHOWN) continue;
        kn_vproblem(v->notes, "row %" PRId64 ": the row map %s", row + 1,
                    counter == &wrong   ? "names a row that the original does not have"
                    : counter == &twice ? "names a row of the original that an earlier row has already"
                                        : "names a row that must be left out, since a quasi-identifier is missing");
    }
    kn_free(used);
    return KN_OK;
}

/* ---- Columns ---- */

/* What was found in one column. */
typedef struct finding {
    atomic_bool wrong; /* a cell does not stand for its original: then the rows are listed */
    int64_t     rows[SHOWN];
    int64_t     count;
    int64_t     undone[SHOWN]; /* pseudonyms: where one stands for two identifiers */
    int64_t     undone_count;
} finding;

static void note(finding *f, int64_t row)
{
    if (f->count < SHOWN) f->rows[f->count] = row;
    f->count++;
}

static void list_quasi(const kn_verifier *v, const kn_vquasi *q, finding *f)
{
    for (int64_t row = 0; row < v->release->rows; row++) {
        if (v->starred[row]) continue;
        uint32_t o = kn_vcode(q->original, kn_vmapped(v, row)), r = kn_vcode(q->release, row);
        if (!kn_vcell_covers(q, &q->cells[r], q->domain.of_original[o])) note(f, row);
    }
}

/* Is this row's cell of a copied column hidden on purpose? */
static bool hidden(const kn_verifier *v, const kn_vcopy *c, int64_t row)
{
    if (!v->starred[row]) return false;
    return v->spec->suppressed != KN_SUPPRESSED_KEEP_SENSITIVE || c->attribute->role != KN_ROLE_SENSITIVE;
}

static bool same_cell(const kn_verifier *v, const kn_vcopy *c, int64_t row)
{
    uint32_t o = kn_vcode(c->original, kn_vmapped(v, row)), r = kn_vcode(c->release, row);
    if (c->exact ? c->exact[r] == o : c->of_release[r] == c->domain.of_original[o]) return true;
    return kn_string_equal(c->release->texts[r], c->original->texts[o]);
}

static void list_copy(const kn_verifier *v, const kn_vcopy *c, finding *f)
{
    for (int64_t row = 0; row < v->release->rows; row++)
        if (!hidden(v, c, row) && !same_cell(v, c, row)) note(f, row);
}

/* One pseudonym per identifier and the other way round; a missing identifier stays missing. */
static kn_status check_pseudonym(kn_verifier *v, const kn_vcopy *c, finding *f, kn_error *err)
{
    kn_arena  room = {.ctx = v->ctx};
    uint32_t *of_value = kn_varray_none(&room, (size_t)c->domain.count + 1);
    uint32_t *of_text = kn_varray_none(&room, (size_t)c->release->count + 1);
    bool      good = !room.failed;
    for (int64_t row = 0; good && row < v->release->rows; row++) {
        if (v->starred[row]) continue;
        uint32_t value = c->domain.of_original[kn_vcode(c->original, kn_vmapped(v, row))],
                 r = kn_vcode(c->release, row);
        bool missing = c->of_release[r] == KN_V_MISSING;
        if (value == KN_V_MISSING || missing) {
            if (value != KN_V_MISSING || !missing) note(f, row);
            continue;
        }
        if (of_value[value] == KN_V_NONE) of_value[value] = r;
        if (of_text[r] == KN_V_NONE) of_text[r] = value;
        if (of_value[value] != r) note(f, row);
        if (of_text[r] == value) continue;
        if (f->undone_count < SHOWN) f->undone[f->undone_count] = row;
        f->undone_count++;
    }
    kn_arena_free(&room);
    return good ? KN_OK : kn_fail_memory(err, v->ctx, WHAT);
}

static void check_items(const kn_verifier *v, finding *f)
{
    for (int64_t row = 0; row < v->release->rows; row++) {
        if (v->starred[row]) continue;
        if (!kn_verify_items_stand(v->items, kn_vcode(v->items->original, kn_vmapped(v, row)),
                                   kn_vcode(v->items->release, row)))
            note(f, row);
    }
}

typedef struct columns {
    kn_verifier *v;
    finding     *findings;
} columns;

static kn_status check_copies(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker, (void)err;
    const columns     *c = arg;
    const kn_verifier *v = c->v;
    for (int i = 0; i < v->copy_count; i++) {
        const kn_vcopy *copy = &v->copies[i];
        bool            good = true;
        for (int64_t row = begin; good && !copy->pseudonym && row < end; row++)
            good = hidden(v, copy, row) || same_cell(v, copy, row);
        if (!good) c->findings[v->quasi_count + i].wrong = true;
    }
    return KN_OK;
}

/* Columns whose rows must be seen in their order: pseudonyms, sets, and where something is wrong. */
static kn_status list_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    const columns *c = arg;
    kn_verifier   *v = c->v;
    for (int64_t i = begin; i < end; i++) {
        finding        *f = &c->findings[i];
        const kn_vcopy *copy = i < v->quasi_count ? NULL : &v->copies[i - v->quasi_count];
        if (i == v->quasi_count + v->copy_count)
            check_items(v, f);
        else if (!copy && f->wrong)
            list_quasi(v, &v->quasi[i], f);
        else if (copy && copy->pseudonym)
            KN_TRY(check_pseudonym(v, copy, f, err));
        else if (copy && f->wrong)
            list_copy(v, copy, f);
    }
    return KN_OK;
}

/* One column, where all originals have their images. */
static kn_status check_quasi(const placing *p, kn_vquasi *q, bool *good, kn_error *err)
{
    kn_vpairs *pairs = NULL;
    kn_status  st = kn_vpairs_open(&pairs, p->v, q, err);
    if (st == KN_OK) st = kn_vpairs_see(pairs, p->image, p->begin, p->end, err);
    if (st == KN_OK) st = kn_vpairs_judge(pairs, good, err);
    kn_vpairs_free(pairs);
    return st;
}

static kn_status check_columns(columns *c, const placing *p, int all, kn_error *err)
{
    kn_verifier *v = c->v;
    for (int i = 0; i < v->quasi_count; i++) {
        bool good = true;
        KN_TRY(p->pairs ? kn_vpairs_judge(p->pairs[i], &good, err) : check_quasi(p, &v->quasi[i], &good, err));
        c->findings[i].wrong = !good;
    }
    if (v->copy_count > 0) KN_TRY(kn_parallel_for(v->ctx, v->release->rows, GRAIN, check_copies, c, err));
    return kn_parallel_for(v->ctx, all, 1, list_range, c, err);
}

static void report_all(kn_verifier *v, const char *column, const int64_t *rows, int64_t count, const char *what)
{
    for (int64_t i = 0; i < count && i < SHOWN; i++)
        kn_vproblem(v->notes, "row %" PRId64 ", column \"%s\": %s", rows[i] + 1, column, what);
    if (count > SHOWN) kn_vproblem(v->notes, "column \"%s\": the same in %" PRId64 " more rows", column, count - SHOWN);
}

static void report_columns(kn_verifier *v, const finding *findings, int all)
{
    int  plain = v->quasi_count + v->copy_count;
    bool good = v->release->rows <= v->originals;
    for (int i = 0; i < all; i++) {
        const kn_vcopy *copy = i < v->quasi_count || i == plain ? NULL : &v->copies[i - v->quasi_count];
        const char     *name = i == plain ? v->items->attribute->name
                               : copy     ? copy->attribute->name
                                          : v->quasi[i].attribute->name;
        const finding  *f = &findings[i];
        good = good && !f->wrong && f->count == 0 && f->undone_count == 0;
        report_all(v, name, f->rows, f->count,
                   i == plain        ? "the items do not stand for the original's"
                   : !copy           ? "the cell does not stand for the original's value"
                   : copy->pseudonym ? "one identifier has two pseudonyms"
                                     : "the cell is not the original's");
        report_all(v, name, f->undone, f->undone_count, "one pseudonym stands for two identifiers");
    }
    if (good) v->report->assignment = KN_ASSIGNMENT_PROVED;
}

static kn_status check_rows(kn_verifier *v, int64_t count, placing *p, kn_error *err)
{
    int all = v->quasi_count + v->copy_count + (v->items != NULL);
    KN_TRY(place_rows(p, count, &v->map_ok, err));
    if (!v->map_ok) return blame_map(v, count, err);
    finding *findings = kn_alloc_array_zero(v->ctx, (size_t)all + 1, sizeof *findings);
    if (!findings) return kn_fail_memory(err, v->ctx, WHAT);
    kn_status st = check_columns(&(columns){v, findings}, p, all, err);
    if (st == KN_OK) report_columns(v, findings, all);
    kn_free(findings);
    return st;
}

/* Large tables by shares, so that images take a byte per original instead of four; but not where the pairs of all columns, which are then
 * held at the same time, would take more. */
static kn_status open_shares(placing *p, kn_error *err)
{
    kn_verifier *v = p->v;
    if (v->original->rows <= WHOLE || !kn_vpairs_few(v)) return KN_OK;
    p->pairs = kn_alloc_array_zero(v->ctx, (size_t)v->quasi_count + 1, sizeof *p->pairs);
    if (!p->pairs) return kn_fail_memory(err, v->ctx, WHAT);
    for (int i = 0; i < v->quasi_count; i++) KN_TRY(kn_vpairs_open(&p->pairs[i], v, &v->quasi[i], err));
    return KN_OK;
}

/* Whatever looks at persons, sets or statistics expects 8 bytes a row. */
static kn_status widen_map(kn_verifier *v, kn_error *err)
{
    if (!v->entity && !v->items && !v->linked && !v->options->summary) return KN_OK;
    v->own_map = kn_alloc_array(v->ctx, (size_t)v->narrow_count + 1, sizeof *v->own_map);
    if (!v->own_map) return kn_fail_memory(err, v->ctx, WHAT);
    for (int64_t row = 0; row < v->narrow_count; row++) v->own_map[row] = v->narrow_map[row];
    v->map = v->own_map;
    v->narrow_map = NULL;
    return KN_OK;
}

kn_status kn_verify_map(kn_verifier *v, kn_error *err)
{
    int64_t count = v->narrow_map ? v->narrow_count : v->options->map_count;
    v->map = v->options->map;
    if (v->narrow_map) KN_TRY(widen_map(v, err));
    if (!v->map && !v->narrow_map) {
        KN_TRY(kn_vrowmap_take(&v->own_map, &count, v->ctx, NULL, 0, v->options->map_path, "row", err));
        v->map = v->own_map;
    }
    v->report->assignment = KN_ASSIGNMENT_REFUTED;
    placing   p = {.v = v};
    kn_status st = open_shares(&p, err);
    if (st == KN_OK) st = check_rows(v, count, &p, err);
    for (int i = 0; p.pairs && i < v->quasi_count; i++) kn_vpairs_free(p.pairs[i]);
    KN_FREE(p.pairs, p.image);
    return st;
}
