/* table/join.c: join tables (kn_recipe.h): which combination of values became which class of a plan, and a plan of
 * other rows by that.
 *
 * Rows are taken in the order of their values (kn_table_order), so that rows with one combination are adjacent and
 * always in the same order. Where a method parted them, the j-th of n' rows goes where the row at (2j + 1) / 2n' of the
 * n earlier ones went: for as many rows as there were, to the class that the same row was in.
 *
 * A combination that the table does not have goes to the class whose cells cover it, if there is exactly one. A
 * class shows what it showed; of an interval or a set, the part that these rows have. Classes that show the same then
 * become one.
 *
 * Cost: a sort of the rows; classes × columns for each new combination.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_exact.h"
#include "kn_hash.h"
#include "kn_recipe.h"
#include "kn_row_judge.h"
#include "kn_table_run.h"
#include "kn_table_select.h"

static const char what[] = "the join table of a recipe";

static kn_status no_memory(const kn_table_run *run, kn_error *err)
{
    return kn_fail_memory(err, run->all.ctx, what);
}

static const kn_column *column_of(const kn_table_run *run, int q)
{
    return &run->table->columns[run->quasi[q]];
}

static bool same_values(const kn_table_run *run, int64_t a, int64_t b)
{
    for (int q = 0; q < run->quasi_count; q++)
        if (kn_column_code(column_of(run, q), a) != kn_column_code(column_of(run, q), b)) return false;
    return true;
}

/* Where the rows behind `begin` with the same combination end. */
static int64_t end_of_combination(const kn_table_run *run, const int64_t *order, int64_t begin)
{
    int64_t end = begin + 1, total = kn_table_total(run->table);
    while (end < total && same_values(run, order[begin], order[end])) end++;
    return end;
}

/* ---- From a plan ---- */

typedef struct taking {
    const kn_table_run *run;
    kn_recipe          *recipe;
    int64_t            *order;
    int64_t            *number; /* per class of the plan: its number in the recipe; -1: none yet */
} taking;

static void take_values(const taking *t)
{
    for (int q = 0; q < t->run->quasi_count; q++) {
        const kn_column  *column = column_of(t->run, q);
        kn_recipe_column *to = &t->recipe->columns[q];
        to->value_count = column->dict.count;
        to->values = kn_arena_array_zero(&t->recipe->arena, (size_t)column->dict.count + 1, sizeof *to->values);
        for (uint32_t c = 0; to->values && c < column->dict.count; c++)
            to->values[c] = kn_recipe_value(column, c, &t->recipe->arena);
    }
}

static void take_cell(const taking *t, kn_recipe_cell *to, const kn_cell *cell, int q)
{
    const kn_hierarchy *h = t->run->hierarchies[q];
    *to = (kn_recipe_cell){.cell = *cell};
    if (cell->kind == KN_CELL_NODE) {
        kn_string label = kn_hierarchy_text(h, cell->a);
        to->level = h->level[cell->a];
        to->label = kn_arena_strndup(&t->recipe->arena, label.data, label.size);
    }
    if (cell->kind != KN_CELL_SET) return;
    uint32_t *members = kn_arena_array(&t->recipe->arena, (size_t)cell->b + 1, sizeof *members);
    if (members) memcpy(members, t->run->plan->members + cell->a, cell->b * sizeof *members);
    to->members = members;
}

/* The number of a class in the recipe, which a class gets when it is met first. */
static int64_t number_of(const taking *t, uint32_t class_index)
{
    kn_recipe_join *join = &t->recipe->join;
    int             quasi = t->run->quasi_count;
    if (class_index == KN_CLASS_SUPPRESSED) return -1;
    if (t->number[class_index] >= 0) return t->number[class_index];
    for (int q = 0; q < quasi; q++)
        take_cell(t, &join->cells[join->class_count * quasi + q],
                  &t->run->plan->cells[(size_t)class_index * (size_t)quasi + (size_t)q], q);
    return t->number[class_index] = join->class_count++;
}

/* Counts combinations and shares, or takes them. */
static void take_combinations(const taking *t, bool take, int64_t *combinations, int64_t *shares)
{
    const kn_table_run *run = t->run;
    const kn_plan      *plan = run->plan;
    kn_recipe_join     *join = &t->recipe->join;
    *combinations = *shares = 0;
    for (int64_t begin = 0, end = 0, total = kn_table_total(run->table); begin < total; begin = end) {
        end = end_of_combination(run, t->order, begin);
        for (int q = 0; take && q < run->quasi_count; q++)
            join->codes[*combinations * run->quasi_count + q] = kn_column_code(column_of(run, q), t->order[begin]);
        for (int64_t i = begin; i < end; i++) {
            uint32_t c = plan->class_of_row[t->order[i]];
            bool     next = i == begin || c != plan->class_of_row[t->order[i - 1]];
            if (next && take) join->shares[*shares] = (kn_recipe_share){number_of(t, c), 0};
            *shares += next;
            if (take) join->shares[*shares - 1].rows++;
        }
        ++*combinations;
        if (take) join->share_start[*combinations] = *shares;
    }
}

kn_status kn_table_run_take_join(const kn_table_run *run, kn_recipe *recipe, kn_error *err)
{
    taking          t = {.run = run, .recipe = recipe};
    kn_recipe_join *join = &recipe->join;
    kn_arena       *arena = &recipe->arena;
    size_t          quasi = (size_t)run->quasi_count, classes = run->plan->classes;
    int64_t         combinations = 0, shares = 0;
    KN_TRY(kn_table_order(&t.order, run->all.ctx, run->table, run->quasi, run->quasi_count, err));
    t.number = kn_alloc_array(run->all.ctx, classes + 1, sizeof *t.number);
    for (size_t c = 0; t.number && c < classes; c++) t.number[c] = -1;
    take_values(&t);
    take_combinations(&t, false, &combinations, &shares);
    join->cells = kn_arena_array_zero(arena, classes * quasi + 1, sizeof *join->cells);
    join->codes = kn_arena_array_zero(arena, (size_t)combinations * quasi + 1, sizeof *join->codes);
    join->share_start = kn_arena_array_zero(arena, (size_t)combinations + 1, sizeof *join->share_start);
    join->shares = kn_arena_array_zero(arena, (size_t)shares + 1, sizeof *join->shares);
    bool ok = t.number && !arena->failed;
    if (ok) take_combinations(&t, true, &join->combination_count, &shares);
    KN_FREE(t.order, t.number);
    return ok && !arena->failed ? KN_OK : no_memory(run, err);
}

/* ---- To a plan ---- */

/* A column of the recipe and the values that these rows have in it. */
typedef struct place {
    uint32_t *below;   /* per code: the values of the recipe that are smaller */
    bool     *known;   /* per code: is it a value of the recipe, which then has that place? */
    uint32_t *code_of; /* per value of the recipe: its code; that of missing cells: none */
} place;

typedef struct joining {
    kn_table_run         *run;
    const kn_recipe      *recipe;
    const kn_recipe_join *join;
    int                   quasi;
    kn_arena              arena; /* all that follows */
    int64_t              *order;
    place                *places;
    uint32_t             *codes;        /* the combination at hand */
    uint32_t             *class_of;     /* per row of the order: the class of the recipe */
    uint32_t             *number;       /* per class of the recipe: the class of the plan, or KN_CLASS_SUPPRESSED */
    uint32_t             *rows, *start; /* of each class of the plan that is judged: rows, where they begin */
    uint32_t              classes;      /* of the plan, so far */
    kn_cell              *cells;
    uint32_t             *members;
    size_t                member_count, member_capacity;
} joining;

static bool find_places(joining *j)
{
    char mark = j->run->all.spec->csv.decimal;
    j->places = kn_arena_array_zero(&j->arena, (size_t)j->quasi + 1, sizeof *j->places);
    for (int q = 0; j->places && q < j->quasi; q++) {
        const kn_column        *column = column_of(j->run, q);
        const kn_recipe_column *had = &j->recipe->columns[q];
        place                  *p = &j->places[q];
        uint32_t                codes = column->dict.count;
        p->below = kn_arena_array_zero(&j->arena, (size_t)codes + 1, sizeof *p->below);
        p->known = kn_arena_array_zero(&j->arena, (size_t)codes + 1, sizeof *p->known);
        p->code_of = kn_arena_array(&j->arena, (size_t)had->value_count + 1, sizeof *p->code_of);
        if (j->arena.failed) return false;
        for (uint32_t i = 0; i < had->value_count; i++) {
            uint32_t up_to = kn_recipe_count_up_to(column, had->values[i], mark);
            bool     known = up_to > 0 && kn_recipe_compare(column, up_to - 1, had->values[i], mark) == 0;
            p->code_of[i] = known ? up_to - 1 : codes;
            if (known) p->known[up_to - 1] = true;
            if (up_to < codes) p->below[up_to]++;
        }
        for (uint32_t c = 1; c < codes; c++) p->below[c] += p->below[c - 1];
        p->below[codes] = had->value_count;
        p->known[codes] = true;
    }
    return j->places != NULL;
}

/* The label of a cell in the hierarchy of these rows: where values are filled up to the longest one, what stands for all of them
 * is as long as that. */
static kn_string label_of(const joining *j, const kn_recipe_cell *c, int q)
{
    const kn_spec      *spec = j->run->all.spec;
    const kn_hierarchy *h = j->run->hierarchies[q];
    bool                padded = spec->attributes[kn_spec_find(spec, j->run->quasi_names[q])].hierarchy.mask_pad;
    kn_string           label = kn_string_of(c->label);
    return padded && kn_table_run_all_hidden(j->run, q, label) ? kn_hierarchy_text(h, kn_hierarchy_root(h)) : label;
}

/* Does the leaf, or a node above it, have the label? */
static bool below_label(const kn_hierarchy *h, uint32_t leaf, kn_string label)
{
    for (uint32_t node = leaf; node != KN_NODE_NONE; node = h->parent[node])
        if (node != h->leaves && kn_string_equal(kn_hierarchy_text(h, node), label)) return true;
    return false;
}

/* Does a cell of the recipe cover a value of these rows? */
static bool covers(const joining *j, const kn_recipe_cell *c, int q, uint32_t code)
{
    const place        *p = &j->places[q];
    const kn_hierarchy *h = j->run->hierarchies[q];
    uint32_t            at = p->below[code];
    switch (c->cell.kind) {
    case KN_CELL_VALUE: return p->known[code] && at == c->cell.a;
    case KN_CELL_RANGE: return at <= c->cell.b && (p->known[code] ? at >= c->cell.a : at > c->cell.a);
    case KN_CELL_NODE: return h && below_label(h, h->leaf_of_code[code], label_of(j, c, q));
    case KN_CELL_SET: break;
    default: return true;
    }
    for (uint32_t i = 0; p->known[code] && i < c->cell.b; i++)
        if (c->members[i] == at) return true;
    return false;
}

static bool class_covers(const joining *j, int64_t class_index)
{
    for (int q = 0; q < j->quasi; q++)
        if (!covers(j, &j->join->cells[class_index * j->quasi + q], q, j->codes[q])) return false;
    return true;
}

/* The combination at hand in the table; -1: it is not there. */
static int64_t find_combination(const joining *j)
{
    int64_t low = 0, high = j->join->combination_count;
    for (int q = 0; q < j->quasi; q++)
        if (!j->places[q].known[j->codes[q]]) return -1;
    while (low < high) {
        int64_t         middle = low + (high - low) / 2;
        const uint32_t *codes = j->join->codes + middle * j->quasi;
        int             q = 0;
        while (q < j->quasi && codes[q] == j->places[q].below[j->codes[q]]) q++;
        if (q == j->quasi) return middle;
        if (codes[q] < j->places[q].below[j->codes[q]])
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

/* The only class that covers the combination at hand. */
static uint32_t find_box(const joining *j)
{
    uint32_t found = KN_CLASS_SUPPRESSED;
    for (int64_t c = 0; c < j->join->class_count; c++) {
        if (!class_covers(j, c)) continue;
        if (found != KN_CLASS_SUPPRESSED) return KN_CLASS_SUPPRESSED;
        found = (uint32_t)c;
    }
    return found;
}

/* Can the rows of a combination show what the earlier ones did? Labels change where longer values fill up the others. */
static bool can_follow(const joining *j, int64_t at)
{
    for (int64_t s = j->join->share_start[at]; s < j->join->share_start[at + 1]; s++)
        if (j->join->shares[s].class >= 0 && !class_covers(j, j->join->shares[s].class)) return false;
    return true;
}

/* Sends the rows of a combination to where the earlier ones went. */
static void send(joining *j, int64_t at, int64_t begin, int64_t end)
{
    const kn_recipe_join *join = j->join;
    int64_t               share = join->share_start[at], rows = 0, passed = 0;
    for (int64_t s = share; s < join->share_start[at + 1]; s++) rows += join->shares[s].rows;
    for (int64_t i = begin; i < end; i++) {
        kn_u128 from = (kn_u128)(2 * (i - begin) + 1) * (kn_u128)rows / (kn_u128)(2 * (end - begin));
        while (from >= (kn_u128)(passed + join->shares[share].rows)) passed += join->shares[share++].rows;
        j->class_of[i] = join->shares[share].class < 0 ? KN_CLASS_SUPPRESSED : (uint32_t)join->shares[share].class;
    }
}

static void send_rows(joining *j, int64_t *unknown)
{
    for (int64_t begin = 0, end = 0, total = kn_table_total(j->run->table); begin < total; begin = end) {
        end = end_of_combination(j->run, j->order, begin);
        for (int q = 0; q < j->quasi; q++) j->codes[q] = kn_column_code(column_of(j->run, q), j->order[begin]);
        bool    lacking = kn_table_run_has_new_value(j->run, j->order[begin]);
        int64_t at = lacking ? -1 : find_combination(j);
        if (at >= 0 && can_follow(j, at)) {
            send(j, at, begin, end);
            continue;
        }
        uint32_t box = lacking || at >= 0 ? KN_CLASS_SUPPRESSED : find_box(j);
        for (int64_t i = begin; i < end; i++) j->class_of[i] = box;
        if (!lacking && box == KN_CLASS_SUPPRESSED) *unknown += end - begin;
    }
}

/* ---- Cells ---- */

/* The widest node with the label on this level; -1: on any. */
static uint32_t find_node(const kn_hierarchy *h, int level, kn_string label)
{
    uint32_t found = KN_NODE_NONE;
    for (uint32_t node = 0; node < h->nodes; node++) {
        if (node == h->leaves || (level >= 0 && h->level[node] != level)) continue;
        if (!kn_string_equal(kn_hierarchy_text(h, node), label)) continue;
        if (found == KN_NODE_NONE || kn_hierarchy_cover(h, node) > kn_hierarchy_cover(h, found)) found = node;
    }
    return found;
}

/* The values of these rows that an interval or a set of the recipe covers, as a cell. */
static kn_status narrow(joining *j, kn_cell *out, const kn_recipe_cell *c, int q, kn_error *err)
{
    const place *p = &j->places[q];
    uint32_t     codes = column_of(j->run, q)->dict.count, first = codes, last = 0, count = 0;
    size_t       begin = j->member_count;
    uint32_t     members = c->cell.kind == KN_CELL_SET ? c->cell.b : 0;
    for (uint32_t i = 0; i < members; i++) {
        uint32_t code = p->code_of[c->members[i]];
        if (code == codes) continue;
        if (!KN_GROW(j->run->all.ctx, &j->members, &j->member_capacity, j->member_count + 1))
            return no_memory(j->run, err);
        j->members[j->member_count++] = first = code;
        count++;
    }
    for (uint32_t code = 0; members == 0 && code < codes; code++) {
        if (!covers(j, c, q, code)) continue;
        if (count++ == 0) first = code;
        last = code;
    }
    if (count < 2) j->member_count = begin;
    *out = count < 2      ? (kn_cell){KN_CELL_VALUE, first, 0}
           : members == 0 ? (kn_cell){KN_CELL_RANGE, first, last}
                          : (kn_cell){KN_CELL_SET, (uint32_t)begin, count};
    return KN_OK;
}

static kn_status find_cell(joining *j, kn_cell *out, const kn_recipe_cell *c, int q, kn_error *err)
{
    *out = c->cell;
    if (c->cell.kind == KN_CELL_RANGE || c->cell.kind == KN_CELL_SET) return narrow(j, out, c, q, err);
    if (c->cell.kind == KN_CELL_VALUE) out->a = j->places[q].code_of[c->cell.a];
    if (c->cell.kind == KN_CELL_VALUE && c->cell.a == j->recipe->columns[q].value_count)
        out->a = column_of(j->run, q)->dict.count;
    if (c->cell.kind != KN_CELL_NODE) return KN_OK;
    kn_string label = label_of(j, c, q);
    out->a = find_node(j->run->hierarchies[q], c->level, label);
    if (out->a == KN_NODE_NONE) out->a = find_node(j->run->hierarchies[q], -1, label); /* longer values, more levels */
    if (out->a != KN_NODE_NONE) return KN_OK;
    return kn_fail(err, KN_INPUT, "column \"%s\": its hierarchy lacks a label that the recipe has",
                   j->run->quasi_names[q]);
}

static uint64_t hash_class(const joining *j, uint32_t class_index)
{
    uint64_t hash = 0;
    for (int q = 0; q < j->quasi; q++) {
        uint64_t words[2] = {hash,
                             kn_cell_hash(j->members, &j->cells[(size_t)class_index * (size_t)j->quasi + (size_t)q])};
        hash = kn_hash_words(words, 2);
    }
    return hash;
}

static bool same_class(const joining *j, uint32_t a, uint32_t b)
{
    size_t quasi = (size_t)j->quasi;
    for (size_t q = 0; q < quasi; q++)
        if (!kn_cell_equal(j->members, &j->cells[a * quasi + q], &j->cells[b * quasi + q])) return false;
    return true;
}

/* Numbers the classes that have rows; those that show the same get one number. */
static kn_status find_classes(joining *j, kn_error *err)
{
    int64_t total = kn_table_total(j->run->table), count = j->join->class_count;
    size_t  slots = 4;
    while (slots < 2 * (size_t)count) slots *= 2;
    uint32_t *slot = kn_arena_array_zero(&j->arena, slots, sizeof *slot);
    j->number = kn_arena_array(&j->arena, (size_t)count + 1, sizeof *j->number);
    j->cells = kn_arena_array_zero(&j->arena, ((size_t)count + 1) * (size_t)j->quasi, sizeof *j->cells);
    if (j->arena.failed) return no_memory(j->run, err);
    for (int64_t c = 0; c < count; c++) j->number[c] = KN_CLASS_SUPPRESSED;
    for (int64_t i = 0; i < total; i++) {
        uint32_t c = j->class_of[i];
        if (c == KN_CLASS_SUPPRESSED || j->number[c] != KN_CLASS_SUPPRESSED) continue;
        for (int q = 0; q < j->quasi; q++)
            KN_TRY(find_cell(j, &j->cells[(size_t)j->classes * (size_t)j->quasi + (size_t)q],
                             &j->join->cells[(int64_t)c * j->quasi + q], q, err));
        size_t at = (size_t)hash_class(j, j->classes) & (slots - 1);
        while (slot[at] != 0 && !same_class(j, slot[at] - 1, j->classes)) at = (at + 1) & (slots - 1);
        if (slot[at] == 0) slot[at] = ++j->classes;
        j->number[c] = slot[at] - 1;
    }
    return KN_OK;
}

/* ---- The plan ---- */

/* The rows of each class, one after the other. */
static kn_status sort_rows(joining *j, kn_error *err)
{
    int64_t total = kn_table_total(j->run->table);
    j->rows = kn_arena_array(&j->arena, (size_t)total + 1, sizeof *j->rows);
    j->start = kn_arena_array_zero(&j->arena, (size_t)j->classes + 2, sizeof *j->start);
    if (j->arena.failed) return no_memory(j->run, err);
    for (int64_t i = 0; i < total; i++)
        if (j->class_of[i] != KN_CLASS_SUPPRESSED) j->start[j->number[j->class_of[i]] + 2]++;
    for (uint32_t c = 0; c < j->classes; c++) j->start[c + 1] += j->start[c];
    for (int64_t i = 0; i < total; i++)
        if (j->class_of[i] != KN_CLASS_SUPPRESSED)
            j->rows[j->start[j->number[j->class_of[i]] + 1]++] = (uint32_t)j->order[i];
    return KN_OK;
}

/* Gives the classes that keep every promise to the plan; all other rows are suppressed. */
static kn_status judge(joining *j, kn_plan *plan, kn_error *err)
{
    kn_row_judge judge;
    size_t       quasi = (size_t)j->quasi;
    kn_status    st = kn_row_judge_make(&judge, j->run->all.ctx, j->run->table, j->run->requirements, err);
    KN_TRY(st);
    plan->classes = 0;
    plan->suppressed = kn_table_total(j->run->table);
    for (int64_t row = 0; row < plan->rows; row++) plan->class_of_row[row] = KN_CLASS_SUPPRESSED;
    for (uint32_t c = 0; c < j->classes && st == KN_OK; c++) {
        bool     holds = false;
        uint32_t begin = j->start[c], end = j->start[c + 1];
        st = kn_row_judge_holds(&holds, &judge, j->rows + begin, sizeof *j->rows, end - begin, err);
        if (st != KN_OK || !holds) continue;
        for (uint32_t i = begin; i < end; i++) plan->class_of_row[j->rows[i]] = plan->classes;
        memcpy(plan->cells + plan->classes * quasi, j->cells + c * quasi, quasi * sizeof *plan->cells);
        plan->class_rows[plan->classes++] = end - begin;
        plan->suppressed -= end - begin;
    }
    kn_row_judge_free(&judge);
    return st;
}

static kn_status make_plan(joining *j, int64_t *unknown, kn_error *err)
{
    kn_table_run *run = j->run;
    int64_t       total = kn_table_total(run->table);
    j->codes = kn_arena_array(&j->arena, (size_t)j->quasi + 1, sizeof *j->codes);
    j->class_of = kn_arena_array(&j->arena, (size_t)total + 1, sizeof *j->class_of);
    if (!find_places(j) || j->arena.failed) return no_memory(run, err);
    send_rows(j, unknown);
    KN_TRY(find_classes(j, err));
    KN_TRY(sort_rows(j, err));
    KN_TRY(kn_plan_create(&run->plan, run->all.ctx, run->table->rows, j->quasi, j->classes, err));
    KN_TRY(judge(j, run->plan, err));
    run->plan->members = j->members;
    run->plan->member_count = j->member_count;
    j->members = NULL;
    return KN_OK;
}

kn_status kn_table_run_apply_join(kn_table_run *run, int64_t *unknown, kn_error *err)
{
    joining j = {.run = run, .recipe = run->all.recipe, .join = &run->all.recipe->join, .quasi = run->quasi_count};
    *unknown = 0;
    KN_TRY(kn_table_run_check_types(run, true, err));
    if (kn_table_total(run->table) >= UINT32_MAX - 1)
        return kn_fail(err, KN_USAGE, "a join table takes at most 4,294,967,294 rows; this table stands for more");
    KN_TRY(kn_table_order(&j.order, run->all.ctx, run->table, run->quasi, run->quasi_count, err));
    kn_arena_init(&j.arena, run->all.ctx);
    kn_status st = make_plan(&j, unknown, err);
    kn_arena_free(&j.arena);
    KN_FREE(j.order, j.members);
    return st;
}
