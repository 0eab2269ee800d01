/* kn_structure.c: the relations that the projected records have, and StructureCheck (Algorithm 2) for all
 * combinations of them at once.
 *
 * Interface: kn_structure.h. A record's relations are those of its nodes: what is above each on its path. Cost of a
 * check: one step per row and combination of relations and further values that it has (kn_combinations.c).
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_structure.h"

#include <string.h>

#include "kn_absences.h"
#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"

#define WHAT "the relations of tree records"

kn_status kn_structure_make(kn_structure *s, const kn_tree_problem *problem, const kn_synopsis *synopsis,
                            const kn_projection *p, const bool *known, kn_error *err)
{
    *s = (kn_structure){.ctx = p->ctx, .problem = problem, .synopsis = synopsis, .projection = p, .known = known};
    size_t path = (size_t)p->path_start[p->nodes] + 1;
    if (!KN_ALLOC(s->ctx, s->path, path) || !KN_ALLOC(s->ctx, s->length, (size_t)p->nodes + 1) ||
        !KN_ALLOC(s->ctx, s->of_node_start, (size_t)p->nodes + 1) ||
        !KN_ALLOC(s->ctx, s->of_row_start, (size_t)p->rows.count + 1) ||
        !KN_ALLOC(s->ctx, s->chosen, (size_t)problem->n + 1) ||
        !KN_ALLOC(s->ctx, s->assigned, 2 * (size_t)problem->n + 1))
        return kn_fail_memory(err, s->ctx, WHAT);
    memcpy(s->path, p->path, (path - 1) * sizeof *s->path);
    for (uint32_t i = 0; i < p->nodes; i++) s->length[i] = (uint16_t)(p->path_start[i + 1] - p->path_start[i]);
    return kn_node_table_make(&s->relations, s->ctx, 0, err);
}

void kn_structure_free(kn_structure *s)
{
    kn_node_table_free(&s->relations);
    KN_FREE(s->path, s->length, s->of_node_start, s->of_node, s->of_row_start, s->of_row, s->stamp, s->support,
            s->rows_start, s->rows_of, s->named, s->chosen, s->assigned, s->disassociations);
    *s = (kn_structure){0};
}

/* ---- Counting ---- */

static kn_status number_relations(kn_structure *s, kn_error *err)
{
    const kn_projection *p = s->projection;
    uint64_t             at = 0;
    for (uint32_t i = 0; i < p->nodes; i++) {
        const uint32_t *path = s->path + p->path_start[i];
        uint32_t        last = s->length[i] - 1u;
        s->of_node_start[i] = at;
        if (!KN_GROW(s->ctx, &s->of_node, &s->of_node_capacity, (size_t)at + last + 1))
            return kn_fail_memory(err, s->ctx, WHAT);
        for (uint32_t j = 0; j < last; j++) {
            uint32_t relation = kn_node_table_child(&s->relations, path[j], path[last]);
            if (relation == KN_NODE_TABLE_FULL) return kn_fail_memory(err, s->ctx, WHAT);
            s->of_node[at++] = relation;
        }
    }
    s->of_node_start[p->nodes] = at;
    size_t n = s->relations.count;
    if (!KN_GROW(s->ctx, &s->stamp, &s->stamp_capacity, n + 1) ||
        !KN_GROW(s->ctx, &s->support, &s->support_capacity, n + 1) ||
        !KN_GROW(s->ctx, &s->rows_start, &s->rows_start_capacity, n + 2) ||
        !KN_GROW(s->ctx, &s->named, &s->named_capacity, n + 1))
        return kn_fail_memory(err, s->ctx, WHAT);
    memset(s->stamp, 0, n * sizeof *s->stamp);
    memset(s->support, 0, n * sizeof *s->support);
    memset(s->rows_start, 0, (n + 2) * sizeof *s->rows_start);
    memset(s->named, 0, n * sizeof *s->named);
    return KN_OK;
}

static bool is_known(const kn_structure *s, uint32_t relation)
{
    return !s->known || (s->known[s->relations.parent[relation]] && s->known[s->relations.value[relation]]);
}

/* The relations of each row: all count for supports, the known ones are listed. */
static kn_status list_relations(kn_structure *s, kn_error *err)
{
    const kn_projection *p = s->projection;
    uint64_t             at = 0;
    for (uint32_t row = 0; row < p->rows.count; row++) {
        s->of_row_start[row] = at;
        for (uint64_t i = p->rows.start[row]; i < p->rows.start[row + 1]; i++) {
            uint32_t node = p->rows.members[i];
            uint64_t from = s->of_node_start[node], to = s->of_node_start[node + 1];
            if (!KN_GROW(s->ctx, &s->of_row, &s->of_row_capacity, (size_t)(at + to - from) + 1))
                return kn_fail_memory(err, s->ctx, WHAT);
            for (; from < to; from++) {
                uint32_t relation = s->of_node[from];
                if (s->stamp[relation] == row + 1) continue;
                s->stamp[relation] = row + 1;
                s->support[relation] += p->rows.weight[row];
                if (!is_known(s, relation)) continue;
                s->of_row[at++] = relation;
                s->rows_start[relation + 2]++;
            }
        }
        if (at > s->of_row_start[row]) kn_rows_sort(s->of_row + s->of_row_start[row], at - s->of_row_start[row]);
    }
    s->of_row_start[p->rows.count] = at;
    return KN_OK;
}

kn_status kn_structure_count(kn_structure *s, kn_error *err)
{
    KN_TRY(number_relations(s, err));
    KN_TRY(list_relations(s, err));
    uint32_t rows = s->projection->rows.count, n = s->relations.count;
    for (uint32_t i = 1; i < n; i++) s->rows_start[i + 1] += s->rows_start[i];
    size_t total = (size_t)s->of_row_start[rows];
    if (!KN_GROW(s->ctx, &s->rows_of, &s->rows_of_capacity, total + 1)) return kn_fail_memory(err, s->ctx, WHAT);
    for (uint32_t row = 0; row < rows; row++) {
        uint64_t from = s->of_row_start[row], to = s->of_row_start[row + 1];
        for (uint64_t i = from; i < to; i++)
            s->rows_of[s->rows_start[s->of_row[i] + 1]++] = (kn_row_entry){row, (uint32_t)(i - from) + 1};
    }
    return KN_OK;
}

/* ---- Checking ---- */

/* The distinct places of the chosen relations. */
static int ends_of(const kn_structure *s, uint32_t *ends)
{
    int n = 0;
    for (int i = 0; i < 2 * s->chosen_count; i++) {
        uint32_t relation = s->chosen[i / 2];
        uint32_t end = i % 2 ? s->relations.value[relation] : s->relations.parent[relation];
        int      j = 0;
        while (j < n && ends[j] != end) j++;
        if (j == n) ends[n++] = end;
    }
    return n;
}

static bool before(const kn_structure *s, uint32_t a, uint32_t b)
{
    if (s->support[a] != s->support[b]) return s->support[a] < s->support[b];
    if (s->relations.parent[a] != s->relations.parent[b]) return s->relations.parent[a] < s->relations.parent[b];
    return s->relations.value[a] < s->relations.value[b];
}

static void name_one(kn_structure *s)
{
    uint32_t victim = s->chosen[0];
    for (int i = 1; i < s->chosen_count; i++)
        if (before(s, s->chosen[i], victim)) victim = s->chosen[i];
    s->named[victim] = true;
}

typedef struct check {
    kn_structure     *s;
    kn_combinations  *scratch;
    const kn_badness *bad;
    int               relations;
    bool              first;
    uint32_t         *ends; /* 2 n */
    kn_row_entry     *rows; /* of the chosen relations, from their first value on */
    size_t            row_capacity;
} check;

/* The rows with all chosen relations, on one path if required, from their first value on. */
static bool take_rows(check *c, const kn_row_entry *entries, size_t *count, int64_t *support)
{
    kn_structure *s = c->s;
    bool          paths = s->problem->semantics == KN_SEMANTICS_PATHS && s->chosen_count > 1;
    size_t        kept = 0;
    if (!KN_GROW(s->ctx, &c->rows, &c->row_capacity, *count + 1)) return false;
    for (size_t i = 0; i < *count; i++) {
        uint32_t row = entries[i].row;
        if (paths && !kn_structure_on_path(s, row)) continue;
        *support += c->scratch->weight[row];
        c->rows[kept++] = (kn_row_entry){row, 0};
    }
    *count = kept;
    return true;
}

/* The rows of the chosen relations, as many as are asked for: bad by themselves, or with further values? */
static kn_found look_at(check *c, size_t level, const kn_row_entry *entries, size_t count)
{
    kn_structure *s = c->s;
    int           ends = ends_of(s, c->ends);
    int64_t       support = 0;
    if (ends > s->problem->m) return KN_FOUND_NONE;
    if (!take_rows(c, entries, &count, &support)) return KN_FOUND_NO_MEMORY;
    if (count == 0) return KN_FOUND_NONE;
    if (kn_is_bad(c->scratch, c->bad, c->rows, count, support)) return KN_FOUND_BAD;
    kn_row_items known = {s->projection->known_start, s->projection->known};
    c->scratch->excluded = c->ends;
    c->scratch->excluded_count = ends;
    kn_found found = kn_combinations_extend(c->scratch, level, known, c->rows, count, s->problem->m - ends, c->bad);
    c->scratch->excluded_count = 0;
    c->scratch->chosen_count = 0;
    return found;
}

/* The rows of the chosen relations are `entries`. */
static kn_found choose(check *c, size_t level, const kn_row_entry *entries, size_t count)
{
    kn_structure *s = c->s;
    if (s->chosen_count == c->relations) {
        kn_found found = look_at(c, level, entries, count);
        if (found == KN_FOUND_BAD) name_one(s);
        return found;
    }
    kn_row_items items = {s->of_row_start, s->of_row};
    int64_t      n = kn_combinations_split(c->scratch, level, items, entries, count);
    if (n < 0) return KN_FOUND_NO_MEMORY;
    kn_found any = KN_FOUND_NONE;
    uint32_t from = 0;
    for (int64_t i = 0; i < n; i++) {
        kn_combination_level *l = &c->scratch->levels[level];
        uint32_t              to = l->touched[n + i];
        s->chosen[s->chosen_count++] = l->touched[i];
        kn_found found = choose(c, level + 1, l->entries + from, to - from);
        s->chosen_count--;
        from = to;
        if (found == KN_FOUND_NO_MEMORY) return found;
        if (found == KN_FOUND_BAD) any = found;
        if (any == KN_FOUND_BAD && c->first) return any;
    }
    return any;
}

kn_status kn_structure_check(kn_structure *s, kn_combinations *scratch, int relations, const kn_badness *bad,
                             bool first, bool *any, kn_error *err)
{
    *any = false;
    size_t levels = (size_t)s->problem->m + (size_t)s->problem->n + 2;
    size_t items = s->relations.count > s->projection->places ? s->relations.count : s->projection->places;
    check  c = {s, scratch, bad, relations, first, NULL, NULL, 0};
    c.ends = kn_alloc_array(s->ctx, 2 * (size_t)s->problem->n + 2, sizeof *c.ends);
    if (!c.ends || !kn_combinations_prepare(scratch, items, levels)) {
        kn_free(c.ends);
        return kn_fail_memory(err, s->ctx, WHAT);
    }
    const kn_projection *p = s->projection;
    kn_absences          absences = {{p->absent_start, p->absent}, p->absence};
    scratch->weight = p->rows.weight;
    scratch->absences = p->absence ? &absences : NULL;
    kn_found found = KN_FOUND_NONE;
    for (uint32_t i = 0; i < s->relations.count && found != KN_FOUND_NO_MEMORY && !(*any && first); i++) {
        uint64_t from = s->rows_start[i], to = s->rows_start[i + 1];
        if (from == to) continue;
        s->chosen[0] = i;
        s->chosen_count = 1;
        found = choose(&c, 0, s->rows_of + from, (size_t)(to - from));
        s->chosen_count = 0;
        if (found == KN_FOUND_BAD) *any = true;
    }
    scratch->absences = NULL;
    KN_FREE(c.ends, c.rows);
    if (found == KN_FOUND_NO_MEMORY) return kn_fail_memory(err, s->ctx, WHAT);
    return scratch->cancelled ? kn_fail_cancelled(err) : KN_OK;
}
