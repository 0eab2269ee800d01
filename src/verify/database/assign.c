/* database/assign.c: every released person is a different person of the original.
 *
 * With a row map each released person is compared with its original, in parallel. Without one, a bipartite matching
 * by shortest alternating paths assigns persons, up to a limit of work; its edges are "is inside" (contain.c). The
 * candidates of a released person come from the rarest of its rows: an original person must have a row of that table
 * with the same copied cells, below rows with the same copied cells all the way up to the person.
 *
 * Cost: with a map one comparison per person; without one at most persons² comparisons, each result cached in 2 bits
 * if there are at most 2^31. A union-find skips candidates that are taken: they never become free again.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>

#include "kn_alloc.h"
#include "kn_bitset.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_parallel.h"
#include "kn_sort.h"
#include "kn_verify_database.h"

#define MOST_REMEMBERED (UINT64_C(1) << 31)
#define MOST_WORK UINT64_C(10000000000) /* pairs of rows for one person, or for the whole search: about a minute */

enum { GRAIN = 64 };

static uint64_t most_work(const kn_vdb *v)
{
    return v->options->work_limit > 0 ? (uint64_t)v->options->work_limit : MOST_WORK;
}

/* ---- The map ---- */

/* Rows of the map's file → rows of a table, by the columns "PREFIX C" for each column C of the key of persons. */
static kn_status rows_of_map(uint32_t *out, kn_vdb *v, const kn_vsheet *file, const char *prefix, bool release,
                             kn_error *err)
{
    const kn_vdb_table *t = &v->tables[v->person];
    int                 columns = t->original.table->column_count, count = 0;
    int    *in = kn_vdb_take(v, (size_t)columns, sizeof *in), *from = kn_vdb_take(v, (size_t)columns, sizeof *from);
    int64_t twice = -1;
    if (!in || !from) return kn_vdb_no_memory(v, err);
    for (int c = 0; c < columns; c++) {
        if (!t->primary[c]) continue;
        const char *name = kn_vsheet_name(t->original.table, c);
        for (int f = 0; f < file->column_count; f++) {
            const char *title = kn_vsheet_name(file, f);
            size_t      size = strlen(prefix);
            if (strncmp(title, prefix, size) != 0 || strcmp(title + size, name) != 0) continue;
            in[count] = release ? t->released[c] : c;
            from[count++] = f;
            break;
        }
    }
    int keys = 0;
    for (int c = 0; c < columns; c++) keys += t->primary[c];
    if (count < keys)
        return kn_fail(err, KN_INPUT, "%s: this is not a row map: it lacks a column \"%s...\" for the key of persons",
                       v->options->map_path, prefix);
    kn_vdb_lookup l = {release ? t->release.table : t->original.table, file, in, from, count};
    return out ? kn_vdb_look_up(out, &twice, v, &l, err) : kn_vdb_no_memory(v, err);
}

static kn_status fill_map(kn_vdb *v, const kn_vsheet *file, kn_error *err)
{
    const kn_vdb_table *t = &v->tables[v->person];
    kn_arena            room = {.ctx = v->ctx};
    uint32_t           *released = kn_arena_array(&room, (size_t)file->rows + 1, sizeof *released);
    uint32_t           *original = kn_arena_array(&room, (size_t)file->rows + 1, sizeof *original);
    int                 shown = 0;
    kn_status           status = rows_of_map(released, v, file, "released ", true, err);
    if (status == KN_OK) status = rows_of_map(original, v, file, "original ", false, err);
    if (status == KN_OK) v->map = kn_arena_array(&v->arena, (size_t)t->release.rows + 1, sizeof *v->map);
    if (status == KN_OK && !v->map) status = kn_vdb_no_memory(v, err);
    for (int64_t p = 0; status == KN_OK && p < t->release.rows; p++) v->map[p] = -1;
    for (int64_t i = 0; status == KN_OK && i < file->rows; i++) {
        const char *wrong = released[i] == KN_V_NONE    ? "names nobody of the release"
                            : original[i] == KN_V_NONE  ? "names nobody of the original"
                            : v->map[released[i]] != -1 ? "names a released person that an earlier one has already"
                                                        : NULL;
        if (!wrong)
            v->map[released[i]] = original[i];
        else if (shown++ < KN_VDB_SHOWN)
            kn_vproblem(v->notes, "the row map's row %" PRId64 " %s", i + 1, wrong);
    }
    kn_arena_free(&room);
    return status;
}

/* Reads the map: every cell is a text, and none is missing. */
static kn_status read_map(kn_vdb *v, kn_error *err)
{
    static const char *const nothing[1] = {NULL};
    kn_csv_options           csv = KN_CSV_OPTIONS_INIT;
    kn_vsheets_options       read = {.csv = &csv};
    kn_vsheets               sheets = {.ctx = v->ctx};
    kn_vsheet               *file = kn_alloc_zero(v->ctx, sizeof *file);
    if (!file) return kn_vdb_no_memory(v, err);
    csv.delimiter = ',';
    csv.na = nothing;
    sheets.list = file;
    sheets.count = 1;
    kn_status status = kn_vsheet_read_file(&sheets, file, v->options->map_path, &read, err);
    if (status == KN_OK) status = fill_map(v, file, err);
    kn_vsheets_free(&sheets);
    return status;
}

kn_status kn_vdb_take_map(kn_vdb *v, kn_error *err)
{
    int64_t persons = v->tables[v->person].release.rows;
    if (!v->options->map) return read_map(v, err);
    v->map = kn_arena_array(&v->arena, (size_t)persons + 1, sizeof *v->map);
    if (!v->map) return kn_vdb_no_memory(v, err);
    for (int64_t p = 0; p < persons; p++) v->map[p] = p < v->options->map_count ? v->options->map[p] : -1;
    if (v->options->map_count != persons)
        kn_vproblem(v->notes, "the row map has %" PRId64 " entries for %" PRId64 " released persons",
                    v->options->map_count, persons);
    return KN_OK;
}

/* Every released person has an original, and no two have the same. */
static kn_status check_map(kn_vdb *v, bool *good, kn_error *err)
{
    const kn_vdb_table *t = &v->tables[v->person];
    uint64_t           *used = kn_alloc_array_zero(v->ctx, kn_bitset_words((size_t)t->original.rows) + 1, sizeof *used);
    int                 shown = 0;
    if (!used) return kn_vdb_no_memory(v, err);
    *good = !v->options->map || v->options->map_count == t->release.rows;
    for (int64_t p = 0; p < t->release.rows; p++) {
        int64_t     o = v->map[p];
        bool        there = o >= 0 && o < t->original.rows;
        const char *wrong = o == -1                           ? "the row map does not say who this is"
                            : !there                          ? "the row map names nobody of the original"
                            : kn_bitset_test(used, (size_t)o) ? "the row map gives somebody else the same original"
                                                              : NULL;
        if (there) kn_bitset_set(used, (size_t)o);
        if (!wrong) continue;
        *good = false;
        if (shown++ < KN_VDB_SHOWN) kn_vproblem(v->notes, "table \"%s\", row %" PRId64 ": %s", t->name, p + 1, wrong);
    }
    kn_free(used);
    return KN_OK;
}

/* ---- With a map ---- */

typedef struct checking {
    kn_vdb         *v;
    kn_vdb_matcher *matchers; /* per worker */
    uint8_t        *answers;  /* per released person: 1 yes, 2 no, 3 took too long */
} checking;

static kn_status check_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    checking       *c = arg;
    kn_vdb_matcher *m = &c->matchers[worker];
    m->v = c->v;
    for (int64_t p = begin; p < end; p++) {
        m->limit = most_work(c->v);
        m->work = 0;
        m->tired = false;
        bool yes = kn_vdb_contains(m, c->v->person, (uint32_t)c->v->map[p], (uint32_t)p);
        if (m->failed) return kn_vdb_no_memory(c->v, err);
        if (m->cancelled) return kn_fail_cancelled(err);
        c->answers[p] = yes ? 1 : m->tired ? 3 : 2;
    }
    kn_progress_add(c->v->ctx, (uint64_t)(end - begin));
    return KN_OK;
}

static kn_status report_wrong(kn_vdb *v, const uint8_t *answers, kn_error *err)
{
    const kn_vdb_table        *t = &v->tables[v->person];
    kn_database_verify_report *r = v->report;
    kn_vdb_matcher             m = {.v = v, .limit = MOST_WORK};
    int64_t                    wrong = 0, tired = 0;
    for (int64_t p = 0; p < t->release.rows; p++) {
        tired += answers[p] == 3;
        if (answers[p] != 2 || wrong++ >= KN_VDB_SHOWN) continue;
        kn_vdb_explain(&m, v->person, (uint32_t)v->map[p], (uint32_t)p);
    }
    kn_vdb_matcher_free(&m);
    if (m.failed) return kn_vdb_no_memory(v, err);
    if (m.cancelled) return kn_fail_cancelled(err);
    if (wrong > 0)
        kn_vproblem(v->notes,
                    "table \"%s\": %" PRId64 " of %" PRId64 " persons are not their originals with rows taken away "
                    "and quasi-identifiers raised",
                    t->name, wrong, t->release.rows);
    r->assignment = wrong > 0 ? KN_ASSIGNMENT_REFUTED : tired > 0 ? KN_ASSIGNMENT_UNDECIDED : KN_ASSIGNMENT_PROVED;
    return KN_OK;
}

static kn_status with_map(kn_vdb *v, kn_error *err)
{
    int64_t  persons = v->tables[v->person].release.rows;
    int      threads = kn_context_threads(v->ctx);
    bool     good = false;
    checking c = {.v = v};
    KN_TRY(kn_vdb_take_map(v, err));
    KN_TRY(check_map(v, &good, err));
    v->report->assignment = KN_ASSIGNMENT_REFUTED;
    if (!good) return KN_OK;
    c.matchers = kn_alloc_array_zero(v->ctx, (size_t)threads + 1, sizeof *c.matchers);
    c.answers = kn_alloc_array_zero(v->ctx, (size_t)persons + 1, 1);
    kn_status status = c.matchers && c.answers ? KN_OK : kn_vdb_no_memory(v, err);
    if (status == KN_OK) status = kn_parallel_for(v->ctx, persons, GRAIN, check_range, &c, err);
    if (status == KN_OK) status = report_wrong(v, c.answers, err);
    for (int i = 0; c.matchers && i < threads; i++) kn_vdb_matcher_free(&c.matchers[i]);
    kn_free(c.matchers);
    kn_free(c.answers);
    return status;
}

/* ---- Without ---- */

typedef struct search {
    kn_vdb         *v;
    kn_arena        room;
    kn_vdb_matcher  m;
    uint32_t        n, o;  /* persons of the release and of the original                */
    kn_sort_record *index; /* (table and copied cells up to the person, original person), sorted */
    size_t          count;
    uint64_t       *next;   /* per taken entry: all entries up to this one are taken            */
    uint64_t       *rarest; /* per released person: begin and end of its candidates      */
    uint64_t       *known;  /* 2 bits per pair; NULL: too many pairs                     */
    uint32_t       *mate, *owner, *from, *queue, *touched;
} search;

/* The copied cells of a row and of all rows above it. */
static uint64_t index_key(const kn_vdb *v, int table, bool release, uint32_t row)
{
    uint64_t key = (uint64_t)table;
    for (int t = table; t >= 0; t = v->tables[t].parent) {
        const kn_vdb_rows *r = release ? &v->tables[t].release : &v->tables[t].original;
        key = kn_hash_mix(r->mark[row] ^ (key + 1) * 0x9e3779b97f4a7c15u, 0xd1342543de82ef95u);
        row = r->parent ? r->parent[row] : row;
    }
    return key;
}

static kn_status make_index(search *s, kn_error *err)
{
    kn_vdb *v = s->v;
    size_t  most = 0;
    for (int t = 0; t < v->table_count; t++) most += (size_t)v->tables[t].original.owned;
    s->index = kn_arena_array(&s->room, most + 1, sizeof *s->index);
    if (!s->index) return kn_vdb_no_memory(v, err);
    for (int t = 0; t < v->table_count; t++) {
        const kn_vdb_rows *r = &v->tables[t].original;
        for (int64_t row = 0; row < r->rows; row++) {
            uint32_t person = kn_vdb_person_of(r, (uint32_t)row);
            if (person != KN_V_NONE)
                s->index[s->count++] = (kn_sort_record){index_key(v, t, false, (uint32_t)row), person};
        }
    }
    KN_TRY(kn_sort_records(v->ctx, s->index, s->count, NULL, NULL, err));
    size_t kept = 0;
    for (size_t i = 0; i < s->count; i++)
        if (kept == 0 || s->index[kept - 1].key != s->index[i].key || s->index[kept - 1].id != s->index[i].id)
            s->index[kept++] = s->index[i];
    s->count = kept;
    s->next = kn_arena_array(&s->room, kept + 1, sizeof *s->next);
    if (!s->next) return kn_vdb_no_memory(v, err);
    for (size_t i = 0; i < kept; i++) s->next[i] = i + 1;
    return KN_OK;
}

static kn_status find_rarest(search *s, kn_error *err)
{
    kn_vdb *v = s->v;
    s->rarest = kn_arena_array_zero(&s->room, (size_t)s->n * 2 + 1, sizeof *s->rarest);
    if (!s->rarest) return kn_vdb_no_memory(v, err);
    for (uint32_t p = 0; p < s->n; p++) s->rarest[2 * (size_t)p + 1] = UINT64_MAX;
    for (int t = 0; t < v->table_count; t++) {
        const kn_vdb_rows *r = &v->tables[t].release;
        for (int64_t row = 0; row < r->rows; row++) {
            uint64_t  key = index_key(v, t, true, (uint32_t)row);
            size_t    begin = kn_vsorted_find(s->index, s->count, key);
            size_t    end = key == UINT64_MAX ? s->count : kn_vsorted_find(s->index, s->count, key + 1);
            uint64_t *best = s->rarest + 2 * (size_t)kn_vdb_person_of(r, (uint32_t)row);
            if (best[1] != UINT64_MAX && end - begin >= best[1] - best[0]) continue;
            best[0] = begin;
            best[1] = end;
        }
    }
    return KN_OK;
}

static bool inside(search *s, uint32_t p, uint32_t o)
{
    uint64_t pair = (uint64_t)p * s->o + o, bit = pair % 32 * 2;
    if (s->known) {
        uint64_t known = s->known[pair / 32] >> bit & 3;
        if (known) return known == 2;
    }
    bool yes = kn_vdb_contains(&s->m, s->v->person, o, p);
    if (s->known) s->known[pair / 32] |= (uint64_t)(yes ? 2 : 1) << bit;
    return yes;
}

/* Counts one more step; false: the search must end. */
static bool more_work(search *s)
{
    if (++s->m.work > s->m.limit) s->m.tired = true;
    if ((s->m.work & 0xffff) == 0 && kn_cancelled(s->v->ctx)) s->m.cancelled = true;
    return !s->m.failed && !s->m.cancelled && !s->m.tired;
}

static void give(search *s, uint32_t o)
{
    while (o != KN_V_NONE) {
        uint32_t p = s->from[o], next = s->mate[p];
        s->mate[p] = o;
        s->owner[o] = p;
        o = next;
    }
}

static bool taken(const search *s, uint64_t i)
{
    return s->owner[s->index[i].id] != KN_V_NONE;
}

/* The first free candidate from i on; `end`: none. */
static uint64_t first_free(search *s, uint64_t i, uint64_t end)
{
    uint64_t found = i;
    while (found < end && taken(s, found)) found = s->next[found];
    while (i < found) {
        uint64_t after = s->next[i];
        s->next[i] = found;
        i = after;
    }
    return found;
}

static bool place_free(search *s, uint32_t p)
{
    uint64_t end = s->rarest[2 * (size_t)p + 1];
    for (uint64_t i = s->rarest[2 * (size_t)p]; (i = first_free(s, i, end)) < end && more_work(s); i++) {
        uint32_t o = (uint32_t)s->index[i].id;
        if (!inside(s, p, o)) continue;
        s->mate[p] = o;
        s->owner[o] = p;
        return true;
    }
    return false;
}

/* Assigns an original to a person. *any: the person is inside at least one original. */
static bool place(search *s, uint32_t p, bool *any)
{
    uint32_t head = 0, tail = 0, touched = 0;
    bool     found = place_free(s, p);
    *any = found;
    if (found) return true;
    s->queue[tail++] = p;
    while (head < tail && !found) {
        uint32_t x = s->queue[head++];
        for (uint64_t i = s->rarest[2 * (size_t)x]; i < s->rarest[2 * (size_t)x + 1] && !found && more_work(s); i++) {
            uint32_t o = (uint32_t)s->index[i].id;
            if (s->from[o] != KN_V_NONE || !inside(s, x, o)) continue;
            s->from[o] = x;
            s->touched[touched++] = o;
            found = s->owner[o] == KN_V_NONE;
            if (found)
                give(s, o);
            else
                s->queue[tail++] = s->owner[o];
        }
    }
    *any = touched > 0;
    for (uint32_t i = 0; i < touched; i++) s->from[s->touched[i]] = KN_V_NONE;
    return found;
}

static kn_status make_room(search *s, kn_error *err)
{
    uint64_t pairs = (uint64_t)s->n * s->o;
    s->mate = kn_varray_none(&s->room, (size_t)s->n + 1);
    s->queue = kn_arena_array(&s->room, (size_t)s->n + 1, sizeof *s->queue);
    s->owner = kn_varray_none(&s->room, (size_t)s->o + 1);
    s->from = kn_varray_none(&s->room, (size_t)s->o + 1);
    s->touched = kn_arena_array(&s->room, (size_t)s->o + 1, sizeof *s->touched);
    if (pairs <= MOST_REMEMBERED) s->known = kn_arena_array_zero(&s->room, (size_t)(pairs / 32) + 1, sizeof *s->known);
    return s->room.failed ? kn_vdb_no_memory(s->v, err) : KN_OK;
}

static kn_status place_all(search *s, kn_error *err)
{
    kn_vdb                    *v = s->v;
    const char                *name = v->tables[v->person].name;
    kn_database_verify_report *r = v->report;
    int                        wrong = 0;
    KN_TRY(make_room(s, err));
    KN_TRY(make_index(s, err));
    KN_TRY(find_rarest(s, err));
    s->m = (kn_vdb_matcher){.v = v, .limit = most_work(v)};
    for (uint32_t p = 0; p < s->n && wrong < KN_VDB_SHOWN; p++) {
        bool any = false, placed = place(s, p, &any);
        if (s->m.failed) return kn_vdb_no_memory(v, err);
        if (s->m.cancelled || kn_cancelled(v->ctx)) return kn_fail_cancelled(err);
        if (s->m.tired) return KN_OK; /* undecided */
        kn_progress_add(v->ctx, 1);
        if (placed) continue;
        wrong++;
        kn_vproblem(v->notes, "table \"%s\", row %" PRIu32 ": %s", name, p + 1,
                    any ? "there are fewer persons of the original than released ones they could be"
                        : "no person of the original has all these rows");
    }
    r->assignment = wrong ? KN_ASSIGNMENT_REFUTED : KN_ASSIGNMENT_PROVED;
    v->map = kn_arena_array(&v->arena, (size_t)s->n + 1, sizeof *v->map);
    if (!v->map) return kn_vdb_no_memory(v, err);
    for (uint32_t p = 0; p < s->n; p++) v->map[p] = s->mate[p];
    return KN_OK;
}

static kn_status without_map(kn_vdb *v, kn_error *err)
{
    const kn_vdb_table *t = &v->tables[v->person];
    search s = {.v = v, .room = {.ctx = v->ctx}, .n = (uint32_t)t->release.rows, .o = (uint32_t)t->original.rows};
    if (t->release.rows > t->original.rows) {
        kn_vproblem(v->notes, "table \"%s\": the release has more persons than the original", t->name);
        v->report->assignment = KN_ASSIGNMENT_REFUTED;
        return KN_OK;
    }
    kn_status status = place_all(&s, err);
    kn_vdb_matcher_free(&s.m);
    kn_arena_free(&s.room);
    return status;
}

kn_status kn_vdb_assign(kn_vdb *v, kn_error *err)
{
    kn_progress_begin(v->ctx, "verifying", "persons", (uint64_t)v->tables[v->person].release.rows);
    kn_status status = v->options->map || v->options->map_path ? with_map(v, err) : without_map(v, err);
    kn_progress_end(v->ctx);
    return status;
}
