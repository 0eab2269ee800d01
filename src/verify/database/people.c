/* database/people.c: delta-presence: how sure may somebody be that a person of the population is released?
 *
 * A person of the population may be of a class if the tree that it shows is theirs with rows removed and quasi-identifiers
 * generalized: what contain.c asks of originals, with the population in their place and without copied cells, which nobody
 * knows of it. People may be of several classes. If every way to give the released persons different people is equally
 * likely, the n persons of a class are taken, all of them with the same chance, from those of its P people whom no other class has
 * taken. These are at least n, and at least P less those who may be of another class, and at least P less all other persons that
 * are released. So a person of the population is released with a chance of
 *
 *   at least   n / P, for each class that they may be of,
 *   at most    the sum of n / (the fewest people left) over these classes.
 *
 * People are listed by each value of the persons' own table. The values that a class's cell there stands for are looked up, and the
 * class is held against the people of that column which has fewest.
 *
 * Cost: every class with these people, and different released cells with different values of the population. Memory: 4 bytes for each
 * pair of a class and somebody who may be of it, and 4 per person and quasi-identifier of their table.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_parallel.h"
#include "kn_verify_database.h"

#define TOLERANCE 1e-12

/* ---- The population in the place of the original ---- */

static int find_sheet(const kn_vdb *v, int table)
{
    return kn_vsheets_find(&v->people, v->tables[table].name);
}

static kn_status find_columns(const kn_vdb *v, kn_vdb *w, int table, const int *columns, int count, const int **out,
                              kn_error *err)
{
    const kn_vsheet *sheet = &v->people.list[find_sheet(v, table)];
    int             *found = kn_vdb_take(w, (size_t)count, sizeof *found);
    if (!found) return kn_vdb_no_memory(w, err);
    for (int i = 0; i < count; i++) {
        const char *name = kn_vsheet_name(v->tables[table].original.table, columns[i]);
        found[i] = kn_vsheet_find(sheet, name);
        if (found[i] < 0)
            return kn_fail(err, KN_INPUT, "table \"%s\" of the population has no column \"%s\"", sheet->name, name);
    }
    *out = found;
    return KN_OK;
}

/* Released rows are compared by their quasi-identifiers alone, so that all have the same mark. */
static kn_status take_release(kn_vdb *w, kn_vdb_table *t, kn_error *err)
{
    t->release.mark = kn_vdb_take(w, (size_t)t->release.rows, sizeof *t->release.mark);
    if (!t->release.mark) return kn_vdb_no_memory(w, err);
    for (int64_t row = 0; row < t->release.rows; row++) t->release.mark[row] = kn_vdb_no_mark();
    return KN_OK;
}

static kn_status take_table(const kn_vdb *v, kn_vdb *w, int table, kn_error *err)
{
    const kn_vdb_table *from = &v->tables[table];
    const kn_vsheet    *sheet = &v->people.list[find_sheet(v, table)];
    kn_vdb_table       *t = &w->tables[table];
    int                *children = kn_vdb_take(w, (size_t)from->child_count, sizeof *children);
    t->quasi = kn_vdb_take(w, (size_t)from->quasi_count, sizeof *t->quasi);
    if (!children || !t->quasi) return kn_vdb_no_memory(w, err);
    t->original = (kn_vdb_rows){.table = sheet, .rows = sheet->rows};
    t->copy_count = t->child_count = 0;
    t->children = children;
    for (int i = 0; i < from->child_count; i++)
        if (find_sheet(v, from->children[i]) >= 0) children[t->child_count++] = from->children[i];
    for (int q = 0; q < from->quasi_count; q++) {
        t->quasi[q] = from->quasi[q];
        t->quasi[q].original = kn_vsheet_find(sheet, from->quasi[q].attribute->name);
        t->quasi[q].of_original = from->quasi[q].domain.of_population;
    }
    if (table != v->person) {
        KN_TRY(find_columns(v, w, table, from->link, from->link_count, &t->link, err));
        KN_TRY(find_columns(v, w, from->parent, from->target, from->link_count, &t->target, err));
    }
    return take_release(w, t, err);
}

/* A verification of the same release against the population. Its own is what the arena holds. */
static kn_status take_place(kn_vdb *w, const kn_vdb *v, kn_error *err)
{
    *w = *v;
    kn_arena_init(&w->arena, v->ctx);
    w->of_people = true;
    w->table_count = 0;
    w->tables = kn_vdb_take(w, (size_t)v->table_count, sizeof *w->tables);
    w->order = kn_vdb_take(w, (size_t)v->table_count, sizeof *w->order);
    if (!w->tables || !w->order) return kn_vdb_no_memory(w, err);
    for (int i = 0; i < v->table_count; i++) w->tables[i] = v->tables[i];
    for (int i = 0; i < v->table_count; i++)
        if (find_sheet(v, v->order[i]) >= 0) w->order[w->table_count++] = v->order[i];
    for (int i = 0; i < w->table_count; i++) {
        int t = w->order[i];
        if (t != v->person && find_sheet(v, v->tables[t].parent) < 0)
            return kn_fail(err, KN_INPUT, "the population has table \"%s\", but not \"%s\", to which its rows belong",
                           v->tables[t].name, v->tables[v->tables[t].parent].name);
        KN_TRY(take_table(v, w, t, err));
    }
    return kn_vdb_join_original(w, err);
}

/* ---- Who may be whom ---- */

/* People by their value of a quasi-identifier: list[start[code] .. start[code + 1] - 1]. */
typedef struct shelf {
    uint32_t  codes; /* different texts, and one for missing cells                      */
    int64_t  *start;
    uint32_t *list;
    int64_t  *standing; /* per code of the release: people whose values it stands for     */
} shelf;

typedef struct crowd {
    kn_vdb         *w;
    int64_t         people;
    shelf          *shelves;      /* per quasi-identifier of persons                    */
    uint32_t      **may;          /* per class: people                                  */
    uint32_t       *first;        /* per class: a released person                       */
    int64_t        *count;        /* per class: P                                       */
    int64_t        *fewest;       /* per class: people left when the others have theirs */
    uint32_t       *several;      /* per person of the population: classes              */
    double         *least, *most; /* per person of the population                  */
    kn_vdb_matcher *matchers;
    uint32_t      **found; /* per worker: people */
} crowd;

static bool stands_for(const kn_vdb_table *t, int q, uint32_t released, uint32_t code)
{
    return kn_vdb_covers(&t->quasi[q], &t->quasi[q].cells[released], t->quasi[q].of_original[code]);
}

static kn_status fill_shelf(crowd *c, int q, kn_error *err)
{
    kn_vdb             *w = c->w;
    const kn_vdb_table *t = &w->tables[w->person];
    int                 column = t->quasi[q].original;
    shelf              *s = &c->shelves[q];
    uint32_t            released = kn_vsheet_distinct(t->release.table, t->quasi[q].release) + 1;
    s->codes = kn_vsheet_distinct(t->original.table, column) + 1;
    s->start = kn_vdb_take(w, (size_t)s->codes + 1, sizeof *s->start);
    s->list = kn_vdb_take(w, (size_t)c->people + 1, sizeof *s->list);
    s->standing = kn_vdb_take(w, released, sizeof *s->standing);
    int64_t *next = kn_vdb_take(w, s->codes, sizeof *next);
    if (w->arena.failed) return kn_vdb_no_memory(w, err);
    for (int64_t p = 0; p < c->people; p++) s->start[kn_vsheet_code(t->original.table, column, p) + 1]++;
    for (uint32_t code = 0; code < s->codes; code++) s->start[code + 1] += s->start[code];
    for (int64_t p = 0; p < c->people; p++) {
        uint32_t code = kn_vsheet_code(t->original.table, column, p);
        s->list[s->start[code] + next[code]++] = (uint32_t)p;
    }
    for (uint32_t r = 0; r < released; r++)
        for (uint32_t code = 0; code < s->codes; code++)
            if (next[code] > 0 && stands_for(t, q, r, code)) s->standing[r] += next[code];
    return KN_OK;
}

/* One person against a class. */
static kn_status match_one(crowd *c, kn_vdb_matcher *m, int64_t k, uint32_t person, uint32_t *found, kn_error *err)
{
    bool is = kn_vdb_contains(m, c->w->person, person, c->first[k]);
    if (m->failed) return kn_vdb_no_memory(c->w, err);
    if (m->cancelled) return kn_fail_cancelled(err);
    if (is) found[c->count[k]++] = person;
    return KN_OK;
}

static kn_status match_class(crowd *c, kn_vdb_matcher *m, int64_t k, uint32_t *found, kn_error *err)
{
    const kn_vdb_table *t = &c->w->tables[c->w->person];
    int                 best = -1;
    uint32_t            cell = 0;
    for (int q = 0; q < t->quasi_count; q++) {
        uint32_t released = kn_vsheet_code(t->release.table, t->quasi[q].release, c->first[k]);
        if (best >= 0 && c->shelves[q].standing[released] >= c->shelves[best].standing[cell]) continue;
        best = q;
        cell = released;
    }
    for (int64_t p = 0; best < 0 && p < c->people; p++) KN_TRY(match_one(c, m, k, (uint32_t)p, found, err));
    for (uint32_t code = 0; best >= 0 && code < c->shelves[best].codes; code++) {
        const shelf *s = &c->shelves[best];
        if (s->start[code] == s->start[code + 1] || !stands_for(t, best, cell, code)) continue;
        for (int64_t i = s->start[code]; i < s->start[code + 1]; i++)
            KN_TRY(match_one(c, m, k, s->list[i], found, err));
    }
    return KN_OK;
}

static kn_status match_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    crowd *c = arg;
    for (int64_t k = begin; k < end; k++) {
        KN_TRY(match_class(c, &c->matchers[worker], k, c->found[worker], err));
        c->may[k] = kn_alloc_array(c->w->ctx, (size_t)c->count[k] + 1, sizeof **c->may);
        if (!c->may[k]) return kn_vdb_no_memory(c->w, err);
        memcpy(c->may[k], c->found[worker], (size_t)c->count[k] * sizeof **c->may);
    }
    return KN_OK;
}

static kn_status match_all(crowd *c, kn_error *err)
{
    kn_vdb *w = c->w;
    int     workers = kn_context_threads(w->ctx), quasi = w->tables[w->person].quasi_count;
    c->people = w->tables[w->person].original.rows;
    c->shelves = kn_vdb_take(w, (size_t)quasi, sizeof *c->shelves);
    c->may = kn_vdb_take(w, w->classes, sizeof *c->may);
    c->first = kn_vdb_take(w, w->classes, sizeof *c->first);
    c->count = kn_vdb_take(w, w->classes, sizeof *c->count);
    c->fewest = kn_vdb_take(w, w->classes, sizeof *c->fewest);
    c->several = kn_vdb_take(w, (size_t)c->people, sizeof *c->several);
    c->least = kn_vdb_take(w, (size_t)c->people, sizeof *c->least);
    c->most = kn_vdb_take(w, (size_t)c->people, sizeof *c->most);
    c->matchers = kn_vdb_take(w, (size_t)workers, sizeof *c->matchers);
    c->found = kn_vdb_take(w, (size_t)workers, sizeof *c->found);
    for (int i = 0; i < workers && !w->arena.failed; i++)
        c->found[i] = kn_vdb_take(w, (size_t)c->people, sizeof **c->found);
    if (w->arena.failed) return kn_vdb_no_memory(w, err);
    for (int q = 0; q < quasi; q++) KN_TRY(fill_shelf(c, q, err));
    for (int i = 0; i < workers; i++) c->matchers[i].v = w;
    for (int64_t p = w->tables[w->person].release.rows; p-- > 0;) c->first[w->class_of[p]] = (uint32_t)p;
    kn_status st = kn_parallel_for(w->ctx, w->classes, 1, match_range, c, err);
    for (int i = 0; i < workers; i++) kn_vdb_matcher_free(&c->matchers[i]);
    return st;
}

static void find_fewest(crowd *c)
{
    int64_t all = c->w->tables[c->w->person].release.rows;
    for (uint32_t k = 0; k < c->w->classes; k++)
        for (int64_t i = 0; i < c->count[k]; i++) c->several[c->may[k][i]]++;
    for (uint32_t k = 0; k < c->w->classes; k++) {
        int64_t n = c->w->sizes[k], alone = 0;
        for (int64_t i = 0; i < c->count[k]; i++) alone += c->several[c->may[k][i]] == 1;
        c->fewest[k] = n;
        if (alone > c->fewest[k]) c->fewest[k] = alone;
        if (c->count[k] - (all - n) > c->fewest[k]) c->fewest[k] = c->count[k] - (all - n);
    }
    for (uint32_t k = 0; k < c->w->classes; k++)
        for (int64_t i = 0; i < c->count[k]; i++) {
            uint32_t p = c->may[k][i];
            double   own = (double)c->w->sizes[k] / (double)c->count[k];
            if (own > c->least[p]) c->least[p] = own;
            c->most[p] += (double)c->w->sizes[k] / (double)c->fewest[k];
        }
}

/* ---- The promise ---- */

static double ratio(kn_ratio r)
{
    return (double)r.numerator / (double)r.denominator;
}

static void judge_person(kn_vdb *v, const crowd *c, kn_verified_model *m, int64_t person)
{
    double least = c->least[person], most = c->most[person] < 1 ? c->most[person] : 1;
    if (most > m->reached) m->reached = most;
    bool above = most > ratio(m->model.bound) * (1 + TOLERANCE), below = least < ratio(m->model.low) * (1 - TOLERANCE);
    if (!above && !below) return;
    m->holds = false;
    if (m->classes++ >= KN_VDB_SHOWN) return;
    kn_vproblem(v->notes,
                "delta-presence does not hold: the chance that the person in row %" PRId64
                " of the population's table \"%s\" is released is %s %.4g",
                person + 1, v->tables[v->person].name, above ? "up to" : "as low as", above ? most : least);
}

static void judge(kn_vdb *v, const crowd *c, kn_verified_model *m)
{
    for (uint32_t k = 0; k < v->classes; k++) {
        if (c->count[k] >= v->sizes[k]) continue;
        m->holds = false;
        if (m->classes++ < KN_VDB_SHOWN)
            kn_vproblem(v->notes,
                        "table \"%s\", row %" PRIu32 ": %" PRId64 " released persons show this tree, and %" PRId64
                        " people of the population may be one of them",
                        v->tables[v->person].name, c->first[k] + 1, v->sizes[k], c->count[k]);
    }
    bool enough = m->holds;
    for (int64_t p = 0; enough && p < c->people; p++) judge_person(v, c, m, p);
}

kn_status kn_vdb_presence(kn_vdb *v, kn_verified_model *m, kn_error *err)
{
    kn_vdb w;
    crowd  c = {.w = &w};
    if (!v->spec->population) return kn_fail(err, KN_USAGE, "delta-presence needs a population");
    if (v->spec->anatomy) return kn_fail(err, KN_USAGE, "delta-presence cannot be promised of an anatomy");
    if (find_sheet(v, v->person) < 0)
        return kn_fail(err, KN_INPUT, "the population has no table \"%s\"", v->tables[v->person].name);
    kn_status st = take_place(&w, v, err);
    if (st == KN_OK) st = match_all(&c, err);
    if (st == KN_OK) {
        find_fewest(&c);
        judge(v, &c, m);
    }
    for (uint32_t k = 0; c.may && k < w.classes; k++) kn_free(c.may[k]);
    kn_arena_free(&w.arena);
    return st;
}

/* ---- Reading ---- */

/* A file is the table of persons. */
static kn_status read_file(kn_vdb *v, const kn_vsheets_options *read, kn_error *err)
{
    if (!v->spec->entity_table)
        return kn_fail(err, KN_USAGE,
                       "say which table is that of persons (entity: {table: ...}): the population is one file");
    v->people = (kn_vsheets){.ctx = v->ctx, .count = 1};
    v->people.list = kn_alloc_zero(v->ctx, sizeof *v->people.list);
    if (!v->people.list) return kn_vdb_no_memory(v, err);
    v->people.list->name = v->spec->entity_table;
    return kn_vsheet_read_file(&v->people, v->people.list, v->spec->population, read, err);
}

kn_status kn_vdb_read_people(kn_vdb *v, const kn_cells *cells, kn_error *err)
{
    kn_csv_options     csv = v->spec->csv;
    kn_vsheets_options read = {.csv = &csv, .empty = v->source[1]->file != NULL};
    csv.delimiter = 0;
    csv.types = NULL;
    csv.type_count = csv.column_count = 0;
    csv.columns = NULL;
    csv.count = NULL;
    return cells ? kn_vsheets_read(&v->people, cells, &read, err) : read_file(v, &read, err);
}

kn_status kn_vdb_people_column(const kn_vcolumn **out, const kn_vdb *v, const kn_vdb_table *t, const kn_vdb_column *c,
                               kn_error *err)
{
    int sheet = v->people.ctx ? kn_vsheets_find(&v->people, t->name) : -1;
    *out = NULL;
    if (sheet < 0 || c->attribute->role != KN_ROLE_QUASI) return KN_OK;
    int column = kn_vsheet_find(&v->people.list[sheet], c->attribute->name);
    if (t->refers[c->original] >= 0)
        return kn_fail(err, KN_USAGE, "table \"%s\", column \"%s\": it refers to a reference, which no population has",
                       t->name, c->attribute->name);
    if (column < 0)
        return kn_fail(err, KN_INPUT, "table \"%s\" of the population has no column \"%s\"", t->name,
                       c->attribute->name);
    *out = &v->people.list[sheet].columns[column].cells;
    return KN_OK;
}
