/* table/judged.c: a table whose distinct combinations do not fit the memory: nodes are judged where it is (docs/big.md).
 *
 * Of each column the values come here, with how many rows have them: hierarchies, metrics and bounds need no more. A node is judged by
 * the engine's answer to one question, the sizes of its classes; where a promise needs more than sizes, by its own frequency set, if
 * the small classes are within the budget. The search (kn_asked.h) ends with a node; its frequency set, in which a value stands for all that are
 * shown like it, becomes the table of the run. All later stages work on that: they look at nothing below the node's levels but
 * the rows of single values (kn_column.marginal).
 *
 * Memory: the values of the columns, and the frequency sets of nodes whose small classes are within the budget.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_asked.h"
#include "kn_coded.h"
#include "kn_error.h"
#include "kn_names.h"
#include "kn_recipe.h"
#include "kn_table_run.h"

#define WHAT "grouping a table where it is"

typedef struct kn_judged {
    kn_coded   coded;
    uint32_t **codes;    /* per column and number: the code of the value */
    uint32_t **distinct; /* per quasi-identifier and level               */
    int       *levels;   /* per column: room for a node                  */
    int64_t    least;    /* a class with fewer rows keeps no promise     */
    bool       by_size;  /* sizes decide about a class                   */
} kn_judged;

static kn_status no_memory(const kn_table_run *run, kn_error *err)
{
    return kn_fail_memory(err, run->all.ctx, WHAT);
}

/* ---- Can it be done so? ---- */

const char *kn_table_run_needs_combinations(const kn_table_run *run)
{
    const kn_spec *spec = run->all.spec;
    if (!spec->method_auto && kn_recipe_parts_equal_rows(spec->method) && kn_table_run_keeps(run))
        return "this method may put equal rows into different classes, and decides by their kept cells then";
    if (!spec->method_auto && !kn_table_run_full_domain(run))
        return "a method without levels for whole columns needs them";
    if (!spec->method_auto && !kn_method_asks(spec->method)) return "method heuristic compares all of them";
    if (run->all.recipe) return "a recipe is applied to all of them";
    if (run->all.options->all_solutions) return "a list of all solutions needs them";
    if (spec->population) return "a population is compared with them";
    for (int i = 0; i < spec->model_count; i++)
        if (spec->models[i].kind == KN_MODEL_K_MAP || spec->models[i].kind == KN_MODEL_PRESENCE)
            return "a population is compared with them";
    for (int i = 0; i < spec->attribute_count; i++) {
        const kn_attribute *a = &spec->attributes[i];
        if (a->role == KN_ROLE_WEIGHT) return "a column of weights is part of them";
        if (a->role == KN_ROLE_KEEP && !kn_table_run_can_carry(run)) return "a kept column is part of them";
        if (a->has_hierarchy && a->hierarchy.kind == KN_HIERARCHY_GROUPS) return "groups are made from all rows";
    }
    return NULL;
}

/* ---- Values ---- */

void kn_table_run_end_judged(kn_table_run *run)
{
    kn_judged *j = run->judged;
    if (!j) return;
    for (int i = 0; j->codes && i < j->coded.count; i++) kn_free(j->codes[i]);
    for (int q = 0; j->distinct && q < run->quasi_count; q++) kn_free(j->distinct[q]);
    kn_coded_close(&j->coded);
    KN_FREE(j->codes, j->distinct, j->levels, j);
    run->judged = NULL;
}

static int width_of(const kn_column *c)
{
    uint64_t codes = (uint64_t)c->dict.count + (c->missing > 0);
    return codes <= 256 ? 1 : codes <= 65536 ? 2 : 4;
}

/* The table's column takes the values; what numbers mean is kept. */
static kn_status take_column(kn_table_run *run, int i, kn_error *err)
{
    kn_judged       *j = run->judged;
    kn_coded_column *c = &j->coded.columns[i];
    kn_column       *from = &c->values->columns[0], *to = &run->table->columns[i];
    size_t           most = c->count > 0 ? (size_t)c->numbers[c->count - 1] + 1 : 0;
    j->codes[i] = kn_alloc_array_zero(run->all.ctx, most + 1, sizeof *j->codes[i]);
    *to = *from;
    *from = (kn_column){.width = 1};
    to->marginal = kn_alloc_array_zero(run->all.ctx, (size_t)to->dict.count + 1, sizeof *to->marginal);
    if (!j->codes[i] || !to->marginal) return no_memory(run, err);
    for (int64_t v = 0; v < c->count; v++) {
        uint32_t code = kn_column_code(to, v);
        j->codes[i][c->numbers[v]] = code;
        to->marginal[code] += c->rows[v];
    }
    kn_free(to->codes);
    to->codes = NULL;
    to->missing = to->marginal[to->dict.count];
    to->width = width_of(to);
    return KN_OK;
}

static void put_code(kn_column *c, void *codes, int64_t row, uint32_t code)
{
    switch (c->width) {
    case 1: ((uint8_t *)codes)[row] = (uint8_t)code; break;
    case 2: ((uint16_t *)codes)[row] = (uint16_t)code; break;
    default: ((uint32_t *)codes)[row] = code; break;
    }
}

/* A frequency set as rows of a table with these columns, whose codes are replaced. Takes the counts. */
static kn_status put_rows(kn_table_run *run, kn_table *to, kn_numbers *set, kn_error *err)
{
    kn_judged *j = run->judged;
    int        count = j->coded.count;
    for (int i = 0; i < count; i++) {
        kn_column *c = &to->columns[i];
        void      *codes = kn_alloc_array(run->all.ctx, (size_t)set->rows + 1, (size_t)c->width);
        if (!codes) return no_memory(run, err);
        for (int64_t row = 0; row < set->rows; row++) put_code(c, codes, row, j->codes[i][set->columns[i][row]]);
        kn_free(c->codes);
        kn_free(set->columns[i]);
        c->codes = codes;
        set->columns[i] = NULL;
    }
    kn_free(to->counts);
    to->counts = set->columns[count];
    set->columns[count] = NULL;
    to->rows = set->rows;
    return KN_OK;
}

static kn_status read_node(kn_table_run *run, kn_table *to, const int *levels, kn_error *err)
{
    kn_numbers set;
    KN_TRY(kn_coded_read(&set, &run->judged->coded, levels, err));
    kn_status st = put_rows(run, to, &set, err);
    kn_numbers_free(&set);
    return st;
}

/* The columns that are coded: without kept ones, which are carried. */
static const kn_csv_options *coded_columns(const kn_table_run *run)
{
    return run->carried ? &run->carry.csv : &run->asked;
}

/* The node that was found: of rows with kept columns the engine remembers which of its combinations each has. */
static kn_status take_node(kn_table_run *run, const int *levels, kn_error *err)
{
    const kn_carry *k = &run->carry;
    kn_numbers      set = {0};
    kn_buffer       relation;
    if (!run->carried) return read_node(run, run->table, levels, err);
    const char **kept = kn_alloc_array(run->all.ctx, (size_t)k->count + 1, sizeof *kept);
    if (!kept) return no_memory(run, err);
    for (int i = 0; i < k->count; i++) kept[i] = k->columns[i].name;
    kn_buffer_init(&relation, run->all.ctx);
    kn_coded_put_table(&relation, &run->judged->coded, levels, kept, k->count);
    const char *text = kn_buffer_text(&relation);
    kn_status   st = text ? kn_carry_numbers(&set, &run->carry, text, err) : no_memory(run, err);
    if (st == KN_OK) st = put_rows(run, run->table, &set, err);
    kn_numbers_free(&set);
    kn_buffer_free(&relation);
    kn_free(kept);
    return st;
}

static kn_status make_table(kn_table_run *run, kn_error *err)
{
    kn_judged *j = run->judged;
    int        count = j->coded.count;
    kn_table  *t = run->table = kn_alloc_zero(run->all.ctx, sizeof *t);
    if (!t) return no_memory(run, err);
    t->ctx = run->all.ctx;
    t->column_count = count;
    t->total = j->coded.rows;
    t->columns = kn_alloc_array_zero(run->all.ctx, (size_t)count + 1, sizeof *t->columns);
    t->counts = kn_alloc_zero(run->all.ctx, sizeof *t->counts);
    j->codes = kn_alloc_array_zero(run->all.ctx, (size_t)count + 1, sizeof *j->codes);
    j->levels = kn_alloc_array_zero(run->all.ctx, (size_t)count + 1, sizeof *j->levels);
    if (!t->columns || !t->counts || !j->codes || !j->levels) return no_memory(run, err);
    KN_TRY(kn_engine_name_counts(&t->columns[count].name, &run->engine, coded_columns(run), err));
    t->columns[count].width = 1;
    for (int i = 0; i < count; i++) KN_TRY(take_column(run, i, err));
    return read_node(run, t, NULL, err);
}

static kn_status code(kn_table_run *run, kn_error *err)
{
    kn_judged            *j = run->judged;
    const kn_spec        *spec = run->all.spec;
    const kn_csv_options *csv = coded_columns(run);
    bool                 *quasi = kn_alloc_array_zero(run->all.ctx, (size_t)csv->column_count + 1, sizeof *quasi);
    if (!quasi) return no_memory(run, err);
    for (int i = 0; i < csv->column_count; i++)
        quasi[i] = spec->attributes[kn_spec_find(spec, csv->columns[i])].role == KN_ROLE_QUASI;
    kn_status st = kn_coded_open(&j->coded, &run->engine, csv, quasi, spec->missing == KN_MISSING_DROP, err);
    kn_free(quasi);
    if (st == KN_OK && j->coded.rows == 0)
        return kn_fail(err, KN_INPUT, "every row has a missing quasi-identifier (missing: drop)");
    return st == KN_OK ? make_table(run, err) : st;
}

kn_status kn_table_run_code(kn_table_run *run, kn_error *err)
{
    run->judged = kn_alloc_zero(run->all.ctx, sizeof *run->judged);
    if (!run->judged) return no_memory(run, err);
    return code(run, err);
}

void kn_table_run_dropped(kn_table_run *run)
{
    const kn_coded *t = &run->judged->coded;
    run->missing_cells = t->missing_cells;
    run->result->rows_in = t->rows_in;
    run->result->missing_dropped = t->rows_in - t->rows;
}

/* ---- Levels ---- */

/* Per level: of the values that are shown as the same the first stands for all. */
static kn_status map_column(kn_table_run *run, int q, kn_error *err)
{
    kn_judged          *j = run->judged;
    int                 column = run->quasi[q];
    kn_coded_column    *c = &j->coded.columns[column];
    const kn_hierarchy *h = run->hierarchies[q];
    size_t              levels = (size_t)h->height + 1, values = (size_t)c->count;
    int64_t            *map = kn_alloc_array(run->all.ctx, levels * values + 1, sizeof *map);
    int64_t            *first = kn_alloc_array(run->all.ctx, (size_t)h->nodes + 1, sizeof *first);
    j->distinct[q] = kn_alloc_array_zero(run->all.ctx, levels, sizeof *j->distinct[q]);
    bool room = map && first && j->distinct[q];
    for (size_t level = 0; room && level < levels; level++) {
        for (uint32_t n = 0; n < h->nodes; n++) first[n] = -1;
        for (size_t v = 0; v < values; v++) {
            uint32_t node = kn_hierarchy_of_code(h, j->codes[column][c->numbers[v]], (uint32_t)level);
            j->distinct[q][level] += first[node] < 0;
            if (first[node] < 0) first[node] = c->numbers[v];
            map[level * values + v] = first[node];
        }
    }
    kn_status st = room ? kn_coded_map(&j->coded, column, map, (int)levels, err) : no_memory(run, err);
    KN_FREE(map, first);
    return st;
}

static const int *column_levels(kn_table_run *run, const int *levels)
{
    for (int q = 0; q < run->quasi_count; q++) run->judged->levels[run->quasi[q]] = levels ? levels[q] : 0;
    return run->judged->levels;
}

/* ---- Questions ---- */

/* Rows in small classes, where at most one column shows several things: by the rows of its values. */
static bool small_of_one(const kn_table_run *run, const int *levels, int64_t *out)
{
    const kn_judged *j = run->judged;
    int              column = -1;
    for (int q = 0; q < run->quasi_count; q++) {
        if (j->distinct[q][levels[q]] < 2) continue;
        if (column >= 0) return false;
        column = q;
    }
    *out = 0;
    if (column < 0) {
        *out = j->coded.rows < j->least ? j->coded.rows : 0;
        return true;
    }
    const kn_hierarchy *h = run->hierarchies[column];
    const kn_column    *c = &run->table->columns[run->quasi[column]];
    int64_t            *rows = kn_alloc_array_zero(run->all.ctx, (size_t)h->nodes + 1, sizeof *rows);
    if (!rows) return false; /* then it is asked */
    for (uint32_t code = 0; code <= c->dict.count; code++)
        if (c->marginal[code] > 0) rows[kn_hierarchy_of_code(h, code, (uint32_t)levels[column])] += c->marginal[code];
    for (uint32_t n = 0; n < h->nodes; n++)
        if (rows[n] < j->least) *out += rows[n];
    kn_free(rows);
    return true;
}

/* Can there be about as many classes as rows? */
static bool is_detailed(const kn_table_run *run, const int *levels)
{
    const kn_judged *j = run->judged;
    double           most = 1;
    for (int q = 0; q < run->quasi_count; q++) most *= (double)j->distinct[q][levels[q]];
    return most > (double)j->coded.rows / 8;
}

/* Of many small classes a part already has more rows than the budget: proved at a part of what it costs to count all. */
static kn_status lacks_clearly(kn_table_run *run, const int *levels, bool *out, kn_error *err)
{
    kn_judged *j = run->judged;
    int64_t    small = 0, parts = run->budget > 0 ? j->coded.rows / run->budget / 4 : 16;
    *out = false;
    if (parts < 2 || !is_detailed(run, levels)) return KN_OK;
    if (parts > 16) parts = 16;
    KN_TRY(kn_coded_part(&small, &j->coded, column_levels(run, levels), j->least, (int)parts, err));
    *out = small > run->budget;
    return KN_OK;
}

static kn_status enough(void *state, const int *levels, bool *out, kn_error *err)
{
    kn_table_run *run = state;
    kn_judged    *j = run->judged;
    kn_numbers    sizes;
    int64_t       small = 0;
    bool          lacks = false;
    if (!small_of_one(run, levels, &small)) {
        *out = false;
        KN_TRY(lacks_clearly(run, levels, &lacks, err));
        if (lacks) return KN_OK;
        KN_TRY(kn_coded_sizes(&sizes, &j->coded, column_levels(run, levels), err));
        for (int64_t i = 0; i < sizes.rows; i++)
            if (sizes.columns[0][i] < j->least) small += sizes.columns[0][i] * sizes.columns[1][i];
        kn_numbers_free(&sizes);
    }
    *out = small <= run->budget;
    return KN_OK;
}

static void add_sizes(const kn_judged *j, const kn_numbers *sizes, kn_node_answer *out)
{
    kn_node_sums *s = &out->verdict.sums;
    for (int64_t i = 0; i < sizes->rows; i++) {
        int64_t size = sizes->columns[0][i], many = sizes->columns[1][i];
        kn_u128 squares = (kn_u128)(uint64_t)size * (uint64_t)size * (uint64_t)many;
        out->squares += squares;
        out->classes += many;
        if (size < j->least) {
            s->suppressed += size * many;
            s->suppressed_squares += squares;
        } else {
            s->rows += size * many;
            s->classes += many;
            s->squares += squares;
        }
    }
}

/* What the released rows cost: all that the node costs, less the rows of small classes. */
static kn_status add_cells(kn_table_run *run, const int *levels, kn_node_sums *sums, kn_error *err)
{
    kn_judged          *j = run->judged;
    const kn_objective *o = run->objective;
    kn_numbers          small;
    if (!o->cells) return KN_OK;
    sums->cells = kn_objective_cells_of_node(o, levels);
    if (sums->suppressed == 0) return KN_OK;
    KN_TRY(kn_coded_small(&small, &j->coded, column_levels(run, levels), j->least, err));
    for (int64_t i = 0; i < small.rows; i++) {
        for (int c = 0, at = 0; c < j->coded.count; c++) {
            if (!j->coded.columns[c].quasi) continue;
            int64_t number = small.columns[at++][i];
            int     q = 0;
            if (number < 0) continue;
            while (run->quasi[q] != c) q++;
            uint64_t cost = o->costs[q][(size_t)levels[q] * ((size_t)o->codes[q] + 1) + j->codes[c][number]];
            sums->cells -= (kn_u128)cost * (uint64_t)small.columns[small.count - 1][i];
        }
    }
    kn_numbers_free(&small);
    return KN_OK;
}

/* By the node's own frequency set: a table that borrows all but the codes. */
static kn_status judge_set(kn_table_run *run, const int *levels, kn_verdict *out, kn_error *err)
{
    int           count = run->judged->coded.count;
    kn_table      node = {.ctx = run->all.ctx, .column_count = count, .total = run->table->total};
    kn_evaluator *evaluator = NULL;
    kn_classes   *set = NULL;
    node.columns = kn_alloc_array(run->all.ctx, (size_t)count + 1, sizeof *node.columns);
    if (!node.columns) return no_memory(run, err);
    memcpy(node.columns, run->table->columns, ((size_t)count + 1) * sizeof *node.columns);
    for (int i = 0; i < count; i++) node.columns[i].codes = NULL;
    kn_fulldomain_problem problem = kn_table_run_problem(run);
    problem.table = &node;
    kn_status st = read_node(run, &node, column_levels(run, levels), err);
    if (st == KN_OK) st = kn_evaluator_make(&evaluator, run->all.ctx, &problem, err);
    if (st == KN_OK) st = kn_classes_scan(&set, evaluator, KN_ALL_ATTRIBUTES, levels, err);
    if (st == KN_OK) st = kn_classes_judge(out, evaluator, set, err);
    kn_classes_free(set);
    kn_evaluator_free(evaluator);
    for (int i = 0; i < count; i++) kn_free(node.columns[i].codes);
    KN_FREE(node.columns, node.counts);
    return st;
}

static kn_status judge(void *state, const int *levels, kn_node_answer *out, kn_error *err)
{
    kn_table_run *run = state;
    kn_judged    *j = run->judged;
    kn_numbers    sizes;
    bool          lacks = false;
    if (run->objective->cells) KN_TRY(lacks_clearly(run, levels, &lacks, err)); /* others are bounded by all sizes */
    if (lacks) return KN_OK;
    KN_TRY(kn_coded_sizes(&sizes, &j->coded, column_levels(run, levels), err));
    add_sizes(j, &sizes, out);
    kn_numbers_free(&sizes);
    out->enough = out->verdict.sums.suppressed <= run->budget;
    if (!out->enough) return KN_OK;
    if (!j->by_size) return judge_set(run, levels, &out->verdict, err);
    out->verdict.good = out->verdict.possible = true;
    return add_cells(run, levels, &out->verdict.sums, err);
}

/* ---- The search ---- */

/* What every class needs at least, as each promise says by itself. */
static int64_t least_size(const kn_table_run *run)
{
    const kn_spec *spec = run->all.spec;
    int64_t        least = run->requirements->k;
    for (int i = 0; i < spec->model_count; i++) {
        kn_ratio l = spec->models[i].l;
        if (spec->models[i].kind != KN_MODEL_DISTINCT || l.denominator == 0) continue;
        int64_t whole = (int64_t)(l.numerator / l.denominator);
        if (whole > least) least = whole;
    }
    return least;
}

static kn_status too_large(kn_table_run *run, kn_error *err)
{
    return kn_fail(
        err, KN_MEMORY,
        "%s: its rows are too different: what a choice of levels shows together with the sensitive columns does "
        "not fit the memory limit either; give a larger --memory-limit",
        kn_path_name(run->all.ctx, run->inputs[0]));
}

static kn_status open_questions(kn_table_run *run, kn_error *err)
{
    kn_judged *j = run->judged;
    bool       kept = run->budget > 0 && run->all.spec->suppressed == KN_SUPPRESSED_KEEP_SENSITIVE;
    j->distinct = kn_alloc_array_zero(run->all.ctx, (size_t)run->quasi_count + 1, sizeof *j->distinct);
    if (!j->distinct) return no_memory(run, err);
    for (int q = 0; q < run->quasi_count; q++) KN_TRY(map_column(run, q, err));
    j->least = least_size(run);
    j->by_size = run->requirements->k_only && !kept;
    return KN_OK;
}

static const char *questioned(const kn_table_run *run)
{
    if (run->engine.connection->dialect == KN_DIALECT_POSTGRESQL) return "the server";
    return run->engine.connection == &run->engine.own ? "the engine, DuckDB" : "the engine";
}

kn_status kn_table_run_ask(kn_table_run *run, kn_error *err)
{
    kn_judged     *j = run->judged;
    kn_node_oracle oracle = {.state = run, .enough = enough, .judge = judge};
    KN_TRY(open_questions(run, err));
    oracle.distinct = (const uint32_t *const *)j->distinct;
    kn_status st = kn_fulldomain_ask(&run->found, run->all.ctx, &run->problem, &oracle, err);
    if (st == KN_OK && run->found->found) st = take_node(run, column_levels(run, run->found->best.levels), err);
    if (st == KN_MEMORY) return too_large(run, err);
    if (st != KN_OK) return st;
    return kn_release_note(&run->all, err,
                           "the levels were found by %" PRId64
                           " questions to %s; the other choices were excluded by proof",
                           j->coded.questions, questioned(run));
}

/* ---- Before ---- */

kn_status kn_table_run_measure_there(kn_table_run *run, kn_cut_figures *out, kn_error *err)
{
    kn_judged             *j = run->judged;
    const kn_requirements *r = run->requirements;
    const kn_spec         *spec = run->all.spec;
    kn_numbers             sizes;
    int64_t                classes = 0;
    *out = (kn_cut_figures){0};
    out->reached = kn_release_alloc(&run->all, run->all.arena, (size_t)spec->model_count, sizeof *out->reached, err);
    if (!out->reached) return KN_MEMORY;
    for (int m = 0; m < spec->model_count; m++) out->reached[m] = NAN;
    if (j->distinct == NULL) KN_TRY(open_questions(run, err));
    KN_TRY(kn_coded_sizes(&sizes, &j->coded, column_levels(run, NULL), err));
    kn_size_count *counts = kn_release_alloc(&run->all, run->all.arena, (size_t)sizes.rows, sizeof *counts, err);
    for (int64_t i = 0; counts && i < sizes.rows; i++) {
        int64_t       size = sizes.columns[0][i], many = sizes.columns[1][i];
        kn_class_view view = {.rows = size, .persons = size};
        counts[i] = (kn_size_count){size, many, size * many};
        classes += many;
        for (int m = 0; m < r->model_count; m++)
            if (r->sensitive_of[m] < 0)
                kn_cut_worse(&out->reached[r->asked[m]], &r->models[m], kn_requirements_reached(r, m, &view, NULL),
                             i == 0);
    }
    out->classes = classes;
    out->k = sizes.rows > 0 ? sizes.columns[0][0] : 0;
    out->persons = j->coded.rows;
    out->sizes = counts;
    out->size_count = (int)sizes.rows;
    kn_numbers_free(&sizes);
    for (int m = 0; m < spec->model_count; m++)
        if (spec->models[m].kind == KN_MODEL_AVERAGE_RISK) out->reached[m] = (double)classes / (double)out->persons;
    return counts ? KN_OK : KN_MEMORY;
}
