/* table/linked.c: rows that the release itself shows to belong to one person.
 *
 * Such rows are linked by a pseudonym whose identifier is on several rows, or, with an `entity`, by a column that is
 * copied and equal in all rows of a person for far more persons than by chance (docs/release.md has the rule). Then
 * whole persons must look alike: the *signature* of a person is the multiset of the classes of their rows. A
 * *position* is a class within a signature: of n persons with this signature each has c rows there, and the c rows
 * cannot be distinguished.
 *
 * Promises about sensitive values are checked for every position. With c > 1 rows are edges between persons and
 * values, and can be assigned to c nodes so that each node gets one row of each person and m_x / c rows of value x,
 * rounded up or down (de Werra 1971). The node that is checked is the worst possible: what must be rounded up is
 * rounded up where the count is already largest. If it keeps the promise, every node does.
 *
 * Cost: three groupings and a sort of the rows. Memory: some 40 bytes per row.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_sort.h"
#include "kn_verify_internal.h"

#define WHAT "verifying"

/* ---- Which column links ---- */

kn_status kn_verify_find_repeats(const kn_verifier *v, kn_vcopy *c, kn_error *err)
{
    bool *seen = kn_alloc_array_zero(v->ctx, (size_t)c->domain.count + 1, sizeof *seen);
    if (!seen) return kn_fail_memory(err, v->ctx, WHAT);
    for (int64_t row = 0; row < v->original->rows && !c->repeats; row++) {
        if (v->dropped && v->dropped[row]) continue;
        uint32_t value = c->domain.of_original[kn_vcode(c->original, row)];
        bool    *at = &seen[value == KN_V_MISSING ? c->domain.count : value];
        c->repeats = *at;
        *at = true;
    }
    kn_free(seen);
    return KN_OK;
}

/* Groups original rows by up to two columns, without rows that are left out. */
static kn_status group_originals(kn_verifier *v, kn_vgroups *g, const kn_vkey *keys, int count, kn_error *err)
{
    kn_vkey all[3] = {{.omit = v->dropped}};
    for (int i = 0; i < count; i++) all[i + 1] = keys[i];
    return kn_vgroup(g, v->ctx, v->original->rows, v->original->counts, all, count + 1, err);
}

/* Is the pseudonym's column one-to-one with the persons? */
static kn_status same_persons(kn_verifier *v, const kn_vcopy *c, bool *same, kn_error *err)
{
    kn_vkey    keys[2] = {{.column = v->entity, .translate = v->entities.of_original},
                          {.column = c->original, .translate = c->domain.of_original}};
    kn_vgroups person = {0}, other = {0}, both = {0};
    kn_status  st = group_originals(v, &person, keys, 1, err);
    if (st == KN_OK) st = group_originals(v, &other, keys + 1, 1, err);
    if (st == KN_OK) st = group_originals(v, &both, keys, 2, err);
    *same = person.count == both.count && other.count == both.count;
    kn_vgroups_free(&person);
    kn_vgroups_free(&other);
    kn_vgroups_free(&both);
    return st;
}

/* ---- Columns of the person ---- */

/* The number of persons with several rows that have one value in all of them. *several: the number of persons with
 * several rows. */
static int64_t count_alike(const kn_verifier *v, const kn_vgroups *persons, const kn_vcopy *c, bool *differs,
                           int64_t *several)
{
    int64_t alike = 0;
    memset(differs, 0, persons->count * sizeof *differs);
    for (int64_t row = 0; row < v->original->rows; row++) {
        uint32_t p = persons->of_row[row], value = c->domain.of_original[kn_vcode(c->original, row)];
        if (p == KN_V_NONE) continue;
        if (c->domain.of_original[kn_vcode(c->original, persons->first[p])] != value) differs[p] = true;
    }
    *several = 0;
    for (uint32_t p = 0; p < persons->count; p++) {
        if (persons->rows[p] < 2) continue;
        ++*several;
        alike += !differs[p];
    }
    return alike;
}

/* Is the column equal in all rows of a person for more persons than half-way between chance (the share of pairs of
 * rows that agree) and all, and not equal in all rows of the table? */
static kn_status is_of_person(kn_verifier *v, const kn_vgroups *persons, const kn_vcopy *c, bool *out, kn_error *err)
{
    kn_vkey    key = {.column = c->original, .translate = c->domain.of_original};
    kn_vgroups values = {0};
    bool      *differs = kn_alloc_array(v->ctx, (size_t)persons->count + 1, sizeof *differs);
    kn_status  st = differs ? group_originals(v, &values, &key, 1, err) : kn_fail_memory(err, v->ctx, WHAT);
    if (st == KN_OK) {
        /* Ordered pairs of different rows fit into 64 bits: there are fewer than 2^32 rows. */
        uint64_t rows = 0, agree = 0;
        for (uint32_t g = 0; g < values.count; g++) {
            uint64_t n = (uint64_t)values.rows[g];
            rows += n;
            agree += n * (n - 1);
        }
        uint64_t all = rows * (rows - 1);
        int64_t  several = 0, alike = count_alike(v, persons, c, differs, &several);
        *out = values.count > 1 &&
               (kn_u128)2 * (uint64_t)alike * all >= (kn_u128)(uint64_t)several * ((kn_u128)all + agree);
    }
    kn_free(differs);
    kn_vgroups_free(&values);
    return st;
}

/* Do copied columns show which rows belong together? */
static kn_status columns_link(kn_verifier *v, bool *out, kn_error *err)
{
    kn_vgroups persons = {0};
    kn_vkey    person = {.column = v->entity, .translate = v->entities.of_original};
    bool       several = false;
    KN_TRY(group_originals(v, &persons, &person, 1, err));
    *out = false;
    for (uint32_t p = 0; p < persons.count; p++) several = several || persons.rows[p] > 1;
    kn_status st = KN_OK;
    for (int i = 0; i < v->copy_count && several && !*out && st == KN_OK; i++)
        if (!v->copies[i].pseudonym) st = is_of_person(v, &persons, &v->copies[i], out, err);
    kn_vgroups_free(&persons);
    return st;
}

/* ---- Are rows linked? ---- */

static void refuse_models(kn_verifier *v)
{
    for (int i = 0; i < v->spec->model_count; i++) {
        kn_model_kind kind = v->spec->models[i].kind;
        if (kind == KN_MODEL_K || kind == KN_MODEL_MAX_RISK || kind == KN_MODEL_AVERAGE_RISK ||
            kind == KN_MODEL_ALPHA_K || kind == KN_MODEL_DISTINCT || kind == KN_MODEL_ENTROPY ||
            kind == KN_MODEL_RECURSIVE)
            continue;
        kn_vproblem(v->notes, "%s cannot be promised where a person's rows stay linked", kn_model_name(kind));
    }
    if (v->spec->suppressed == KN_SUPPRESSED_KEEP_SENSITIVE)
        kn_vproblem(v->notes, "suppressed: keep-sensitive cannot be promised where a person's rows stay linked");
}

const kn_attribute *kn_verify_link_column(const kn_verifier *v)
{
    for (int i = 0; i < v->copy_count; i++)
        if (v->copies[i].repeats) return v->copies[i].attribute;
    return NULL;
}

kn_status kn_verify_find_links(kn_verifier *v, kn_error *err)
{
    const kn_vcopy *link = NULL;
    if (!v->entity) return KN_OK;
    for (int i = 0; i < v->copy_count; i++) {
        const kn_vcopy *c = &v->copies[i];
        if (!c->repeats) continue;
        if (link)
            kn_vproblem(v->notes, "columns \"%s\" and \"%s\" both link rows; what a person shows cannot be judged",
                        link->attribute->name, c->attribute->name);
        link = c;
    }
    bool same = true;
    v->linked = link != NULL;
    if (link && v->entity_release != link->release) KN_TRY(same_persons(v, link, &same, err));
    if (!same)
        kn_vproblem(v->notes, "column \"%s\" links rows differently from the persons' column", link->attribute->name);
    if (link && !v->entity_release) v->entity_release = link->release;
    if (!v->linked) KN_TRY(columns_link(v, &v->linked, err));
    if (v->linked) refuse_models(v);
    return KN_OK;
}

/* ---- Signatures ---- */

typedef struct linking {
    kn_verifier    *v;
    kn_vlinked     *out;
    kn_arena        room;
    kn_vgroups      persons, pairs; /* of released rows; pairs: by person and class      */
    kn_sort_record *order;          /* pairs by person, then class                        */
    uint32_t       *place;          /* per pair: which of its person's classes it is      */
    uint32_t       *signature;      /* per person                                         */
    kn_texts        known;          /* signatures as bytes                                */
    uint64_t       *bytes;          /* of one: classes and row counts alternate           */
} linking;

static kn_status group_released(linking *l, const kn_vkey *person, kn_error *err)
{
    kn_verifier *v = l->v;
    kn_vkey      keys[3] = {{.omit = v->starred}, *person, {.direct = v->classes.of_row}};
    KN_TRY(kn_vgroup(&l->persons, v->ctx, v->release->rows, v->release->counts, keys, 2, err));
    return kn_vgroup(&l->pairs, v->ctx, v->release->rows, v->release->counts, keys, 3, err);
}

static kn_status sort_pairs(linking *l, kn_error *err)
{
    size_t pairs = (size_t)l->pairs.count;
    l->order = kn_arena_array(&l->room, pairs + 1, sizeof *l->order);
    l->place = kn_arena_array(&l->room, pairs + 1, sizeof *l->place);
    l->bytes = kn_arena_array(&l->room, 2 * (pairs + 1), sizeof *l->bytes);
    l->signature = kn_arena_array(&l->room, (size_t)l->persons.count + 1, sizeof *l->signature);
    if (l->room.failed) return kn_fail_memory(err, l->v->ctx, WHAT);
    for (uint32_t i = 0; i < l->pairs.count; i++) {
        int64_t row = l->pairs.first[i];
        l->order[i] = (kn_sort_record){(uint64_t)l->persons.of_row[row] << 32 | l->v->classes.of_row[row], i};
    }
    return kn_sort_records(l->v->ctx, l->order, pairs, NULL, NULL, err);
}

/* Numbers signatures in the order of their first persons; counts the positions of each. */
static kn_status number_signatures(linking *l, kn_error *err)
{
    kn_vlinked *out = l->out;
    size_t      persons = (size_t)l->persons.count;
    out->persons = kn_arena_array_zero(&out->room, persons + 1, sizeof *out->persons);
    out->starts = kn_arena_array_zero(&out->room, persons + 2, sizeof *out->starts);
    if (out->room.failed) return kn_fail_memory(err, l->v->ctx, WHAT);
    for (size_t at = 0, end; at < l->pairs.count; at = end) {
        uint64_t person = l->order[at].key >> 32;
        size_t   n = 0;
        for (end = at; end < l->pairs.count && l->order[end].key >> 32 == person; end++) {
            l->place[l->order[end].id] = (uint32_t)(end - at);
            l->bytes[n++] = (uint32_t)l->order[end].key;
            l->bytes[n++] = (uint64_t)l->pairs.rows[l->order[end].id];
        }
        uint32_t before = l->known.count;
        uint32_t number = kn_texts_add(&l->known, (kn_string){(const char *)l->bytes, n * sizeof *l->bytes}, true);
        if (number == KN_V_NONE) return kn_fail_memory(err, l->v->ctx, WHAT);
        l->signature[person] = number;
        out->persons[number]++;
        if (l->known.count > before) out->starts[number + 1] = out->starts[number] + (int64_t)(end - at);
    }
    out->signatures = l->known.count;
    return KN_OK;
}

static kn_status fill_positions(linking *l, kn_error *err)
{
    kn_vlinked *out = l->out;
    kn_vgroups *p = &out->positions;
    int64_t     rows = l->v->release->rows, count = out->starts[out->signatures];
    if (count >= (int64_t)KN_V_MISSING) return kn_fail(err, KN_USAGE, "verify: too many different persons");
    p->count = (uint32_t)count;
    p->of_row = kn_arena_array(&out->room, (size_t)rows + 1, sizeof *p->of_row);
    p->rows = kn_arena_array_zero(&out->room, (size_t)count + 1, sizeof *p->rows);
    p->first = kn_arena_array_zero(&out->room, (size_t)count + 1, sizeof *p->first);
    out->signature_of = kn_arena_array(&out->room, (size_t)count + 1, sizeof *out->signature_of);
    if (out->room.failed) return kn_fail_memory(err, l->v->ctx, WHAT);
    for (int64_t s = 0; s < out->signatures; s++)
        for (int64_t at = out->starts[s]; at < out->starts[s + 1]; at++) out->signature_of[at] = (uint32_t)s;
    for (int64_t row = 0; row < rows; row++) {
        uint32_t pair = l->pairs.of_row[row];
        p->of_row[row] = KN_V_NONE;
        if (pair == KN_V_NONE) continue;
        uint32_t at = (uint32_t)out->starts[l->signature[l->persons.of_row[row]]] + l->place[pair];
        p->of_row[row] = at;
        if (p->rows[at]++ == 0) p->first[at] = row;
    }
    return KN_OK;
}

kn_status kn_vlinked_make(kn_vlinked *out, kn_verifier *v, const kn_vkey *person, kn_error *err)
{
    linking l = {.v = v, .out = out, .room = {.ctx = v->ctx}};
    *out = (kn_vlinked){.room = {.ctx = v->ctx}};
    kn_texts_init(&l.known, v->ctx);
    kn_status st = group_released(&l, person, err);
    if (st == KN_OK) st = sort_pairs(&l, err);
    if (st == KN_OK) st = number_signatures(&l, err);
    if (st == KN_OK) st = fill_positions(&l, err);
    kn_texts_free(&l.known);
    kn_vgroups_free(&l.persons);
    kn_vgroups_free(&l.pairs);
    kn_arena_free(&l.room);
    return st;
}

/* ---- The worst node of a position ---- */

void kn_vlinked_deal(kn_vhistogram *h, uint32_t *values, int64_t *counts, int64_t persons)
{
    int64_t  each = h->total / persons, left = persons;
    uint32_t kept = 0;
    if (each < 2) return;
    for (uint32_t x = 0; x < h->count; x++) left -= h->counts[x] / each;
    for (uint32_t x = 0; x < h->count; x++) counts[x] = h->counts[x] / each;
    for (; left > 0; left--) {
        uint32_t best = h->count;
        for (uint32_t x = 0; x < h->count; x++) {
            bool open = h->counts[x] % each != 0 && counts[x] == h->counts[x] / each;
            if (open && (best == h->count || counts[x] > counts[best])) best = x;
        }
        if (best == h->count) break; /* impossible: the remainders add up to what is left */
        counts[best]++;
    }
    for (uint32_t x = 0; x < h->count; x++) {
        if (counts[x] == 0) continue;
        values[kept] = h->values[x];
        counts[kept++] = counts[x];
    }
    *h = (kn_vhistogram){values, counts, kept, persons};
}

/* ---- Whole persons ---- */

/* The person of each released row, as a value of the persons' column; KN_V_NONE: unknown. */
static uint32_t person_of(const kn_verifier *v, const kn_vcopy *link, int64_t row)
{
    if (v->map_ok) return v->entities.of_original[kn_vcode(v->entity, v->map[row])];
    return link ? link->of_release[kn_vcode(link->release, row)] : KN_V_NONE;
}

kn_status kn_vlinked_whole(kn_verifier *v, kn_error *err)
{
    const kn_vcopy *link = NULL;
    size_t          count = (size_t)v->entities.count + 2;
    for (int i = 0; i < v->copy_count; i++)
        if (v->copies[i].pseudonym && v->copies[i].original == v->entity) link = &v->copies[i];
    kn_arena room = {.ctx = v->ctx};
    int64_t *there = kn_arena_array_zero(&room, count, sizeof *there);
    int64_t *shown = kn_arena_array_zero(&room, count, sizeof *shown);
    int64_t *first = kn_arena_array_zero(&room, count, sizeof *first);
    bool     ok = !room.failed;
    for (int64_t row = 0; ok && row < v->original->rows; row++) {
        uint32_t p = v->entities.of_original[kn_vcode(v->entity, row)];
        if (!v->dropped || !v->dropped[row]) there[p == KN_V_MISSING ? v->entities.count : p]++;
    }
    for (int64_t row = 0; ok && row < v->release->rows; row++) {
        uint32_t p = v->starred[row] ? KN_V_NONE : person_of(v, link, row);
        if (p == KN_V_NONE) continue;
        p = p == KN_V_MISSING ? v->entities.count : p;
        if (shown[p]++ == 0) first[p] = row;
    }
    int64_t parted = 0, where = 0;
    for (size_t p = 0; ok && p < count; p++) {
        if (shown[p] == 0 || shown[p] == there[p]) continue;
        if (parted++ == 0 || first[p] < where) where = first[p];
    }
    if (parted > 0)
        kn_vproblem(v->notes,
                    "%" PRId64 " person%s shown with some of their rows only, such as that of row %" PRId64
                    "; where rows stay linked a person is suppressed whole",
                    parted, parted == 1 ? " is" : "s are", where + 1);
    kn_arena_free(&room);
    return ok ? KN_OK : kn_fail_memory(err, v->ctx, WHAT);
}
