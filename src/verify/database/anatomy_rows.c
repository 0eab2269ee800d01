/* database/anatomy_rows.c: does each list of an Anatomy release hold the values that the rows of its groups have in the
 * original?
 *
 * Rows are paired inside persons, by what they show. Rows of one person that show the same cannot be distinguished,
 * and which of them is in which group matters here: finding a choice that fits the lists is hard in general (a
 * three-dimensional transport problem). Persons without such rows are counted first; the others are paired so that
 * values are used that their groups still lack; what then does not fit is repaired by exchanging the originals of
 * such rows at random. An exchange that makes things worse by one is sometimes kept, ever more rarely, because a row
 * hides several values and two exchanges may be needed together (simulated annealing). If no choice is found the
 * answer is "undecided", and if there was no choice "refuted".
 *
 * Cost: one pairing per person, and at most a fixed number of exchanges per row that can be exchanged.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdlib.h>

#include "kn_alloc.h"
#include "kn_compare.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_rng.h"
#include "kn_verify_database.h"

enum { TRIES_PER_ROW = 2000, LEAST_TRIES = 20000, MOST_TRIES = 20000000, SELDOM = 32 };

/* A released row whose original may be another. */
typedef struct doubtful {
    int      table;
    uint32_t row;
} doubtful;

typedef struct pairing {
    kn_vdb        *v;
    kn_arena       room;
    kn_vdb_matcher m;
    uint32_t     **rows;      /* per table and released row: its original                    */
    uint32_t     **owner;     /* per table and original row: its released row; KN_V_NONE: none */
    bool          *ambiguous; /* per original person                                         */
    int64_t        cost;      /* values that are used and not in the lists                   */
    doubtful      *doubts;
    size_t         doubt_count, doubt_capacity;
    uint32_t      *saved; /* originals of two subtrees, in the order of the walk; large enough for all rows */
    size_t         saved_count;
} pairing;

/* ---- Lists ---- */

static int64_t *entry_of(const kn_vlist *list, uint32_t group, uint32_t value)
{
    uint64_t        key = (uint64_t)group << 32 | value;
    const uint64_t *found = bsearch(&key, list->keys, list->count, sizeof key, kn_compare_u64);
    return found ? &list->left[found - list->keys] : NULL;
}

/* The list's entry for what a released row would hide if this were its original; NULL: there is none. */
static int64_t *hidden_entry(const kn_vdb_table *t, int c, uint32_t original, uint32_t released)
{
    const kn_vdb_column *column = &t->hidden[c];
    uint32_t             value = column->of_original[kn_vsheet_code(t->original.table, column->original, original)];
    int64_t             *entry = entry_of(&t->lists[c], t->group[released], value);
    if (!entry && value == column->empty) entry = entry_of(&t->lists[c], t->group[released], KN_V_MISSING);
    return entry;
}

/* As many as rows, so that all are used if none is lacking. */
static void refill(kn_vdb *v)
{
    for (int t = 0; t < v->table_count; t++)
        for (int c = 0; c < v->tables[t].hidden_count; c++) {
            kn_vlist *list = &v->tables[t].lists[c];
            for (size_t i = 0; i < list->count; i++) list->left[i] = list->counts[i];
        }
}

static bool still_there(void *arg, int table, uint32_t original, uint32_t released)
{
    const kn_vdb       *v = arg;
    const kn_vdb_table *t = &v->tables[table];
    for (int c = 0; c < t->hidden_count; c++) {
        const int64_t *entry = hidden_entry(t, c, original, released);
        if (!entry || *entry <= 0) return false;
    }
    return true;
}

/* ---- Giving rows their originals ---- */

/* Removes what a row hides from its group's lists, or puts it back. */
static void take(pairing *p, int table, uint32_t released, bool back)
{
    const kn_vdb_table *t = &p->v->tables[table];
    uint32_t            original = p->rows[table][released];
    p->owner[table][original] = back ? KN_V_NONE : released;
    for (int c = 0; c < t->hidden_count; c++) {
        int64_t *entry = hidden_entry(t, c, original, released);
        if (!entry) {
            p->cost += back ? -1 : 1;
        } else if (back) {
            if ((*entry)++ < 0) p->cost--;
        } else if (--*entry < 0) {
            p->cost++;
        }
    }
}

/* The same for everything below a row, too. */
static void take_all(pairing *p, int table, uint32_t released, bool back)
{
    const kn_vdb_table *t = &p->v->tables[table];
    take(p, table, released, back);
    for (int i = 0; i < t->child_count; i++) {
        const kn_vdb_rows *child = &p->v->tables[t->children[i]].release;
        for (uint32_t c = child->start[released]; c < child->start[released + 1]; c++)
            take_all(p, t->children[i], child->list[c], back);
    }
}

static kn_status check_stopped(const pairing *p, kn_error *err)
{
    if (p->m.failed) return kn_vdb_no_memory(p->v, err);
    if (p->m.cancelled || kn_cancelled(p->v->ctx)) return kn_fail_cancelled(err);
    return KN_OK;
}

/* Persons who have two rows below one row that show the same. */
static void find_ambiguous(pairing *p)
{
    kn_vdb *v = p->v;
    for (int i = 0; i < v->table_count; i++) {
        const kn_vdb_table *t = &v->tables[i];
        const kn_vdb_rows  *r = &t->original;
        for (int64_t up = 0; i != v->person && up < v->tables[t->parent].original.rows; up++)
            for (uint32_t c = r->start[up]; c + 1 < r->start[up + 1]; c++)
                if (r->mark[r->list[c]] == r->mark[r->list[c + 1]] && kn_vdb_person_of(r, r->list[c]) != KN_V_NONE)
                    p->ambiguous[kn_vdb_person_of(r, r->list[c])] = true;
    }
}

static bool pair_person(pairing *p, uint32_t original, uint32_t released, bool fitting)
{
    p->m.allow = fitting ? still_there : NULL;
    p->m.arg = p->v;
    p->m.work = 0;
    return kn_vdb_contains(&p->m, p->v->person, original, released) &&
           kn_vdb_pair_rows(&p->m, p->v->person, original, released, p->rows);
}

static kn_status pair_all(pairing *p, kn_error *err)
{
    kn_vdb *v = p->v;
    for (int round = 0; round < 2; round++) /* first those without a choice             */
        for (int64_t person = 0; person < v->tables[v->person].release.rows; person++) {
            uint32_t original = (uint32_t)v->map[person], released = (uint32_t)person;
            if (p->ambiguous[original] != (round == 1)) continue;
            bool good =
                (round == 1 && pair_person(p, original, released, true)) || pair_person(p, original, released, false);
            KN_TRY(check_stopped(p, err));
            if (!good) return kn_fail(err, KN_INTERNAL, "a person that was paired cannot be paired again");
            take_all(p, v->person, released, false);
        }
    p->m.allow = NULL;
    return KN_OK;
}

/* ---- Exchanging ---- */

/* Other originals that show the same: list[*begin .. *end - 1] of the table's. */
static void run_of(const pairing *p, int table, uint32_t original, uint32_t *begin, uint32_t *end)
{
    const kn_vdb_rows *r = &p->v->tables[table].original;
    uint32_t           up = r->parent[original];
    *begin = r->start[up];
    while (r->mark[r->list[*begin]] != r->mark[original]) ++*begin;
    for (*end = *begin; *end < r->start[up + 1] && r->mark[r->list[*end]] == r->mark[original];) ++*end;
}

static kn_status find_doubts(pairing *p, kn_error *err)
{
    kn_vdb *v = p->v;
    for (int t = 0; t < v->table_count; t++)
        for (int64_t row = 0; t != v->person && row < v->tables[t].release.rows; row++) {
            uint32_t begin, end;
            run_of(p, t, p->rows[t][row], &begin, &end);
            if (end - begin < 2) continue;
            void *doubts = p->doubts;
            if (!kn_grow(v->ctx, &doubts, &p->doubt_capacity, p->doubt_count + 1, sizeof *p->doubts))
                return kn_vdb_no_memory(v, err);
            p->doubts = doubts;
            p->doubts[p->doubt_count++] = (doubtful){t, (uint32_t)row};
        }
    return KN_OK;
}

/* Saves or restores the originals of a subtree. */
static void save(pairing *p, int table, uint32_t released)
{
    const kn_vdb_table *t = &p->v->tables[table];
    p->saved[p->saved_count++] = p->rows[table][released];
    for (int i = 0; i < t->child_count; i++) {
        const kn_vdb_rows *child = &p->v->tables[t->children[i]].release;
        for (uint32_t c = child->start[released]; c < child->start[released + 1]; c++)
            save(p, t->children[i], child->list[c]);
    }
}

static void restore(pairing *p, int table, uint32_t released, size_t *at)
{
    const kn_vdb_table *t = &p->v->tables[table];
    p->rows[table][released] = p->saved[(*at)++];
    for (int i = 0; i < t->child_count; i++) {
        const kn_vdb_rows *child = &p->v->tables[t->children[i]].release;
        for (uint32_t c = child->start[released]; c < child->start[released + 1]; c++)
            restore(p, t->children[i], child->list[c], at);
    }
}

/* Exchanges the originals of two rows. Undone if that costs more than `most`. */
static void exchange(pairing *p, const doubtful *d, uint32_t wanted, int64_t most)
{
    uint32_t mine = p->rows[d->table][d->row], other = p->owner[d->table][wanted];
    if (wanted == mine || !kn_vdb_contains(&p->m, d->table, wanted, d->row)) return;
    if (other != KN_V_NONE && !kn_vdb_contains(&p->m, d->table, mine, other)) return;
    p->saved_count = 0;
    save(p, d->table, d->row);
    if (other != KN_V_NONE) save(p, d->table, other);
    take_all(p, d->table, d->row, true);
    if (other != KN_V_NONE) take_all(p, d->table, other, true);
    bool good = kn_vdb_pair_rows(&p->m, d->table, wanted, d->row, p->rows) &&
                (other == KN_V_NONE || kn_vdb_pair_rows(&p->m, d->table, mine, other, p->rows));
    if (good) {
        take_all(p, d->table, d->row, false);
        if (other != KN_V_NONE) take_all(p, d->table, other, false);
        if (p->cost <= most) return;
        take_all(p, d->table, d->row, true);
        if (other != KN_V_NONE) take_all(p, d->table, other, true);
    }
    size_t at = 0;
    restore(p, d->table, d->row, &at);
    if (other != KN_V_NONE) restore(p, d->table, other, &at);
    take_all(p, d->table, d->row, false);
    if (other != KN_V_NONE) take_all(p, d->table, other, false);
}

static kn_status repair(pairing *p, kn_error *err)
{
    kn_rng rng;
    KN_TRY(find_doubts(p, err));
    uint64_t tries = (uint64_t)p->doubt_count * TRIES_PER_ROW + LEAST_TRIES;
    if (tries > MOST_TRIES) tries = MOST_TRIES;
    kn_rng_init(&rng, 1, 0);
    for (uint64_t i = 0; p->doubt_count > 0 && p->cost > 0 && i < tries; i++) {
        const doubtful *d = &p->doubts[kn_rng_below(&rng, p->doubt_count)];
        uint32_t        begin, end;
        run_of(p, d->table, p->rows[d->table][d->row], &begin, &end);
        p->m.work = 0;
        bool uphill = kn_rng_below(&rng, SELDOM * tries) < tries - i;
        exchange(p, d, p->v->tables[d->table].original.list[begin + kn_rng_below(&rng, end - begin)], p->cost + uphill);
        if ((i & 0xff) == 0 || p->m.failed) KN_TRY(check_stopped(p, err));
    }
    return KN_OK;
}

/* ---- All of it ---- */

static void report_all(pairing *p)
{
    kn_vdb *v = p->v;
    int     shown = 0;
    for (int t = 0; t < v->table_count; t++)
        for (int64_t row = 0; v->tables[t].hidden_count > 0 && row < v->tables[t].release.rows; row++)
            for (int c = 0; c < v->tables[t].hidden_count; c++) {
                const int64_t *entry = hidden_entry(&v->tables[t], c, p->rows[t][row], (uint32_t)row);
                if ((entry && *entry >= 0) || shown++ >= KN_VDB_SHOWN) continue;
                kn_vproblem(v->notes, "table \"%s\", row %" PRId64 ": table \"%s\" lacks what the original hides here",
                            v->tables[t].name, row + 1, v->tables[t].lists[c].name);
            }
}

static kn_status make_room(pairing *p, kn_error *err)
{
    kn_vdb *v = p->v;
    size_t  tables = (size_t)v->table_count, all = 0;
    p->rows = kn_arena_array(&p->room, tables + 1, sizeof *p->rows);
    p->owner = kn_arena_array(&p->room, tables + 1, sizeof *p->owner);
    p->ambiguous = kn_arena_array_zero(&p->room, (size_t)v->tables[v->person].original.rows + 1, sizeof *p->ambiguous);
    for (size_t t = 0; t < tables && !p->room.failed; t++) {
        size_t released = (size_t)v->tables[t].release.rows + 1;
        p->rows[t] = kn_arena_array_zero(&p->room, released, sizeof *p->rows[t]);
        p->owner[t] = kn_varray_none(&p->room, (size_t)v->tables[t].original.rows + 1);
        all += released;
    }
    p->saved = kn_arena_array(&p->room, all + 1, sizeof *p->saved);
    return p->room.failed ? kn_vdb_no_memory(v, err) : KN_OK;
}

static kn_status find_choice(pairing *p, kn_error *err)
{
    kn_vdb *v = p->v;
    bool    given = v->options->map || v->options->map_path;
    KN_TRY(make_room(p, err));
    refill(v);
    find_ambiguous(p);
    KN_TRY(pair_all(p, err));
    if (p->cost == 0) return KN_OK;
    KN_TRY(repair(p, err));
    if (p->cost == 0) return KN_OK;
    bool choice = p->doubt_count > 0 || !given;
    v->report->assignment = choice ? KN_ASSIGNMENT_UNDECIDED : KN_ASSIGNMENT_REFUTED;
    if (!choice) report_all(p);
    return KN_OK;
}

kn_status kn_vdb_anatomy_rows(kn_vdb *v, kn_error *err)
{
    pairing   p = {.v = v, .room = {.ctx = v->ctx}, .m = {.v = v}};
    kn_status status = find_choice(&p, err);
    kn_arena_free(&p.room);
    kn_free(p.doubts);
    kn_vdb_matcher_free(&p.m);
    return status;
}
