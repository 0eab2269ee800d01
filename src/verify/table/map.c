/* table/map.c: with a row map each released row is compared with its original.
 *
 * The map must name each original at most once and none that does not exist. Per quasi-identifier each distinct pair of
 * original text and released text is judged once; columns are checked in parallel. Sensitive, kept and weight
 * cells must be the same (form.c: in one of two spellings); a pseudonym must go with one identifier and the
 * identifier with one pseudonym.
 *
 * Cost: O(rows × columns) look-ups. Memory: a byte per pair where there are few, otherwise 16 per pair that occurs.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdlib.h>

#include "kn_alloc.h"
#include "kn_bitset.h"
#include "kn_error.h"
#include "kn_parallel.h"
#include "kn_verify_internal.h"
#include "kn_verify_rowmap.h"

#define WHAT "verifying"

enum { SHOWN = 5, DENSE_PAIRS = 1 << 22 };

/* Injective, and into the originals that may be released. */
static kn_status check_map(kn_verifier *v, int64_t count, kn_error *err)
{
    v->map_ok = count == v->release->rows;
    if (!v->map_ok)
        kn_vproblem(v->notes, "the row map has %" PRId64 " entries for %" PRId64 " released rows", count,
                    v->release->rows);
    uint64_t *used = kn_alloc_array_zero(v->ctx, kn_bitset_words((size_t)v->original->rows) + 1, sizeof *used);
    if (!used) return kn_fail_memory(err, v->ctx, WHAT);
    int64_t wrong = 0, twice = 0, left_out = 0;
    for (int64_t row = 0; row < count; row++) {
        int64_t  o = v->map[row];
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

/* ---- Pairs ---- */

/* What was found in one column. */
typedef struct finding {
    int64_t rows[SHOWN];
    int64_t count;
    int64_t undone[SHOWN]; /* pseudonyms: where one stands for two identifiers */
    int64_t undone_count;
} finding;

/* Pairs that were judged: 1 good, 2 bad, 0 not yet. */
typedef struct pairs {
    kn_vnumbers numbers; /* if there are too many for a byte each: those that occur    */
    uint8_t    *states;  /* per number, or per original text and released text         */
    size_t      capacity;
    bool        dense;
} pairs;

/* Where the state of a pair is; NULL: out of memory. */
static uint8_t *pairs_at(pairs *p, uint32_t original, uint32_t release, uint32_t releases)
{
    if (p->dense) return &p->states[(size_t)original * releases + release];
    uint32_t known = p->numbers.count, number = kn_vnumbers_add(&p->numbers, (uint64_t)original << 32 | release);
    void    *states = p->states;
    if (number == KN_V_NONE || !kn_grow(p->numbers.ctx, &states, &p->capacity, (size_t)known + 1, 1)) return NULL;
    p->states = states;
    if (number == known) p->states[number] = 0;
    return &p->states[number];
}

static void note(finding *f, int64_t row)
{
    if (f->count < SHOWN) f->rows[f->count] = row;
    f->count++;
}

static uint8_t judge(kn_vquasi *q, uint32_t o, uint32_t r)
{
    uint32_t value = q->domain.of_original[o];
    uint64_t levels[4];
    kn_vcell_levels(q, &q->cells[r], value, levels);
    for (size_t i = 0; i < 4; i++) {
        q->levels[i] &= levels[i];
        q->text_levels[4 * (size_t)r + i] &= levels[i];
    }
    return kn_vcell_covers(q, &q->cells[r], value) ? 1 : 2;
}

static kn_status check_quasi(kn_verifier *v, kn_vquasi *q, finding *f, kn_error *err)
{
    uint32_t releases = q->release->count;
    size_t   all = (size_t)q->original->count * releases;
    pairs    p = {.numbers = {.ctx = v->ctx}, .dense = all <= DENSE_PAIRS};
    q->text_levels = kn_alloc_array(v->ctx, (size_t)releases + 1, 4 * sizeof *q->text_levels);
    if (p.dense) p.states = kn_alloc_zero(v->ctx, all + 1);
    bool good = q->text_levels && (p.states || !p.dense);
    memset(q->levels, 0xff, sizeof q->levels);
    if (good) memset(q->text_levels, 0xff, ((size_t)releases + 1) * 4 * sizeof *q->text_levels);
    for (int64_t row = 0; good && row < v->release->rows; row++) {
        if (v->starred[row]) continue;
        uint32_t o = kn_vcode(q->original, v->map[row]), r = kn_vcode(q->release, row);
        uint8_t *state = pairs_at(&p, o, r, releases);
        good = state != NULL;
        if (state && *state == 0) *state = judge(q, o, r);
        if (state && *state == 2) note(f, row);
    }
    q->levels_known = good;
    kn_vnumbers_free(&p.numbers);
    kn_free(p.states);
    return good ? KN_OK : kn_fail_memory(err, v->ctx, WHAT);
}

/* Is this row's cell of a copied column hidden on purpose? */
static bool hidden(const kn_verifier *v, const kn_vcopy *c, int64_t row)
{
    if (!v->starred[row]) return false;
    return v->spec->suppressed != KN_SUPPRESSED_KEEP_SENSITIVE || c->attribute->role != KN_ROLE_SENSITIVE;
}

static void check_copy(kn_verifier *v, const kn_vcopy *c, finding *f)
{
    for (int64_t row = 0; row < v->release->rows; row++) {
        if (hidden(v, c, row)) continue;
        uint32_t o = kn_vcode(c->original, v->map[row]), r = kn_vcode(c->release, row);
        if (c->exact ? c->exact[r] == o : c->of_release[r] == c->domain.of_original[o]) continue;
        if (!kn_string_equal(c->release->texts[r], c->original->texts[o])) note(f, row);
    }
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
        uint32_t value = c->domain.of_original[kn_vcode(c->original, v->map[row])], r = kn_vcode(c->release, row);
        bool     missing = c->of_release[r] == KN_V_MISSING;
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
        if (!kn_verify_items_stand(v->items, kn_vcode(v->items->original, v->map[row]),
                                   kn_vcode(v->items->release, row)))
            note(f, row);
    }
}

typedef struct columns {
    kn_verifier *v;
    finding     *findings;
} columns;

static kn_status check_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    const columns *c = arg;
    kn_verifier   *v = c->v;
    for (int64_t i = begin; i < end; i++) {
        finding *f = &c->findings[i];
        if (i == v->quasi_count + v->copy_count) {
            check_items(v, f);
            continue;
        }
        if (i < v->quasi_count) {
            KN_TRY(check_quasi(v, &v->quasi[i], f, err));
            continue;
        }
        const kn_vcopy *copy = &v->copies[i - v->quasi_count];
        if (copy->pseudonym)
            KN_TRY(check_pseudonym(v, copy, f, err));
        else
            check_copy(v, copy, f);
    }
    return KN_OK;
}

static void report_all(kn_verifier *v, const char *column, const int64_t *rows, int64_t count, const char *what)
{
    for (int64_t i = 0; i < count && i < SHOWN; i++)
        kn_vproblem(v->notes, "row %" PRId64 ", column \"%s\": %s", rows[i] + 1, column, what);
    if (count > SHOWN) kn_vproblem(v->notes, "column \"%s\": the same in %" PRId64 " more rows", column, count - SHOWN);
}

kn_status kn_verify_map(kn_verifier *v, kn_error *err)
{
    int64_t count = 0;
    KN_TRY(kn_vrowmap_take(&v->map, &count, v->ctx, v->options->map, v->options->map_count, v->options->map_path, "row",
                           err));
    KN_TRY(check_map(v, count, err));
    v->report->assignment = KN_ASSIGNMENT_REFUTED;
    if (!v->map_ok) return KN_OK;
    int      plain = v->quasi_count + v->copy_count, all = plain + (v->items != NULL);
    finding *findings = kn_alloc_array_zero(v->ctx, (size_t)all + 1, sizeof *findings);
    if (!findings) return kn_fail_memory(err, v->ctx, WHAT);
    columns   c = {v, findings};
    kn_status st = kn_parallel_for(v->ctx, all, 1, check_range, &c, err);
    bool      good = v->release->rows <= v->originals;
    for (int i = 0; st == KN_OK && i < all; i++) {
        const kn_vcopy *copy = i < v->quasi_count || i == plain ? NULL : &v->copies[i - v->quasi_count];
        const char     *name = i == plain ? v->items->attribute->name
                               : copy     ? copy->attribute->name
                                          : v->quasi[i].attribute->name;
        const finding  *f = &findings[i];
        good = good && f->count == 0 && f->undone_count == 0;
        report_all(v, name, f->rows, f->count,
                   i == plain        ? "the items do not stand for the original's"
                   : !copy           ? "the cell does not stand for the original's value"
                   : copy->pseudonym ? "one identifier has two pseudonyms"
                                     : "the cell is not the original's");
        report_all(v, name, f->undone, f->undone_count, "one pseudonym stands for two identifiers");
    }
    if (st == KN_OK && good) v->report->assignment = KN_ASSIGNMENT_PROVED;
    kn_free(findings);
    return st;
}
