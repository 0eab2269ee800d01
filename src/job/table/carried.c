/* table/carried.c: kept columns of a table that stays where it is (docs/big.md): they stay there too, and are carried to the rows of the
 * release when it is written.
 *
 * Nobody generalizes a kept column, and no promise covers it: search, figures and classes are those of the other columns. What is
 * said of kept columns is counted by the engine. This goes where every row of a combination is shown alike; methods that put equal rows into
 * different classes take kept columns into account when they choose, and these stay part of the combinations.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_alloc.h"
#include "kn_csv_write.h"
#include "kn_error.h"
#include "kn_job_texts.h"
#include "kn_kept.h"
#include "kn_recipe.h"
#include "kn_table_run.h"
#include "kn_targets.h"

enum {
    SAMPLE = 100000,
    WORTH = 60
}; /* so many rows are looked at; if more per cent of them differ, kept columns stay */

static kn_status no_memory(const kn_table_run *run, kn_error *err)
{
    return kn_fail_memory(err, run->all.ctx, "carrying kept columns");
}

/* ---- Is it done so? ---- */

/* Are its cells released as they are spelled? */
static bool is_spelled(const kn_attribute *a)
{
    return a->type == KN_TYPE_AUTO || a->type == KN_TYPE_TEXT;
}

bool kn_table_run_keeps(const kn_table_run *run)
{
    const kn_spec *spec = run->all.spec;
    for (int i = 0; i < spec->attribute_count; i++)
        if (spec->attributes[i].role == KN_ROLE_KEEP) return true;
    return false;
}

/* Does DuckDB have the rows, or can it? */
static bool is_possible(const kn_table_run *run)
{
    bool own = run->engine.connection == &run->engine.own && run->engine.own.dialect == KN_DIALECT_DUCKDB;
    return run->copied || (own && !run->target) || kn_table_run_can_copy(run);
}

bool kn_table_run_can_carry(const kn_table_run *run)
{
    const kn_spec *spec = run->all.spec;
    if (!kn_table_run_keeps(run) || !is_possible(run)) return false;
    if (!spec->method_auto && kn_recipe_parts_equal_rows(spec->method)) return false;
    for (int i = 0; i < spec->attribute_count; i++)
        if (spec->attributes[i].role == KN_ROLE_KEEP && !is_spelled(&spec->attributes[i])) return false;
    return true;
}

kn_status kn_table_run_worth_carrying(bool *out, kn_table_run *run, const kn_csv_options *csv, kn_error *err)
{
    int64_t rows = 0, different = 0;
    *out = false;
    if (!kn_table_run_can_carry(run) || run->all.spec->method_auto) return KN_OK;
    KN_TRY(kn_engine_rows(&rows, &run->engine, err));
    KN_TRY(kn_engine_combinations(&different, &run->engine, SAMPLE, csv->columns, csv->column_count, err));
    *out = 100 * different > WORTH * (rows < SAMPLE ? rows : SAMPLE);
    return KN_OK;
}

static kn_status open_carry(kn_table_run *run, const kn_csv_options *csv, kn_error *err)
{
    const kn_spec *spec = run->all.spec;
    bool          *kept = kn_alloc_array_zero(run->all.ctx, (size_t)csv->column_count + 1, sizeof *kept);
    if (!kept) return no_memory(run, err);
    for (int i = 0; i < csv->column_count; i++)
        kept[i] = spec->attributes[kn_spec_find(spec, csv->columns[i])].role == KN_ROLE_KEEP;
    kn_table_free(run->table);
    run->table = NULL;
    bool there = run->engine.connection->dialect == KN_DIALECT_DUCKDB;
    if (run->target) kn_table_writer_count(run->target, false);
    kn_status st = there ? KN_OK : kn_table_run_copy(run, csv, err);
    if (st == KN_OK)
        st = kn_carry_open(&run->carry, &run->engine, csv, kept, kn_table_run_missing_text(spec),
                           spec->spreadsheet_safe, err);
    run->carried = st == KN_OK;
    if (st != KN_OK) kn_carry_close(&run->carry);
    kn_free(kept);
    return st;
}

kn_status kn_table_run_carry(kn_table_run *run, const kn_csv_options *csv, kn_error *err)
{
    KN_TRY(open_carry(run, csv, err));
    return kn_carry_group(&run->table, &run->carry, err);
}

kn_status kn_table_run_carry_apart(kn_table_run *run, kn_error *err)
{
    return run->carried || !kn_table_run_can_carry(run) ? KN_OK : open_carry(run, &run->asked, err);
}

kn_status kn_table_run_place_again(kn_table_run *run, kn_error *err)
{
    if (!run->carried || !run->columns) return KN_OK;
    for (int q = 0; q < run->quasi_count; q++) run->quasi[q] = kn_table_find(run->table, run->quasi_names[q]);
    run->column_count = 0;
    return kn_table_run_columns(run, err);
}

/* ---- What is said of kept columns ---- */

/* So many different texts: what they look like is seen by all of them. */
static kn_status check_texts(kn_table_run *run, const char *name, kn_error *err)
{
    kn_table      *values = NULL;
    kn_csv_options csv = run->carry.csv;
    csv.columns = &name;
    csv.column_count = 1;
    kn_status st = kn_engine_group(&values, &run->engine, &csv, err);
    if (st == KN_OK) st = kn_kept_check(run->all.ctx, values, 0, name, run->all.spec->csv.decimal, err);
    kn_table_free(values);
    if (st != KN_MEMORY) return st;
    return kn_fail(
        err, KN_MEMORY,
        "column \"%s\" has too many different texts to find out within the memory limit whether it can be kept; "
        "give a larger --memory-limit (force publishes it all the same)",
        name);
}

kn_status kn_table_run_check_carried(kn_table_run *run, kn_error *err)
{
    for (int i = 0; i < run->carry.count; i++) {
        const char      *name = run->carry.columns[i].name;
        kn_carry_figures f;
        bool             texts = false;
        KN_TRY(kn_carry_figures_of(&f, &run->carry, i, err));
        KN_TRY(kn_kept_judge(f.present, f.distinct, f.unique, name, &texts, err));
        if (texts && kn_carry_is_text(&run->carry, i)) KN_TRY(check_texts(run, name, err));
    }
    return KN_OK;
}

/* Room for so many numbers of each combination. */
static kn_status make_numbers(kn_numbers *out, const kn_table_run *run, int count, kn_error *err)
{
    bool room = true;
    *out = (kn_numbers){.count = count};
    out->columns = kn_alloc_array_zero(run->all.ctx, (size_t)count + 1, sizeof *out->columns);
    for (int i = 0; out->columns && room && i < count; i++)
        room = (out->columns[i] = kn_alloc_array(run->all.ctx, (size_t)run->table->rows + 1, sizeof **out->columns)) !=
               NULL;
    return out->columns && room ? KN_OK : no_memory(run, err);
}

/* The engine's number of a row of the table. */
static int64_t number_of(const kn_table_run *run, int64_t row)
{
    return (run->original_rows ? run->original_rows[row] : row) + 1;
}

kn_status kn_table_run_carried_alone(int64_t *out, kn_table_run *run, kn_error *err)
{
    bool       suppressed = run->all.spec->suppressed == KN_SUPPRESSED_KEEP_SENSITIVE;
    kn_numbers n;
    kn_status  st = make_numbers(&n, run, 3, err);
    for (int64_t row = 0; st == KN_OK && row < run->table->rows; row++) {
        uint32_t c = run->plan->class_of_row[row];
        if (c == KN_CLASS_SUPPRESSED && !suppressed) continue;
        n.columns[0][n.rows] = number_of(run, row);
        n.columns[1][n.rows] = c == KN_CLASS_SUPPRESSED ? (int64_t)run->plan->classes : (int64_t)c;
        n.columns[2][n.rows++] = run->weight < 0 ? 0 : kn_column_code(&run->table->columns[run->weight], row);
    }
    if (st == KN_OK) st = kn_carry_give(&run->carry, &n, err);
    if (st == KN_OK) st = kn_carry_alone(out, &run->carry, 2, err);
    kn_numbers_free(&n);
    return st;
}

/* ---- Writing ---- */

/* What the writer needs to know of the entries. */
typedef struct entries {
    kn_numbers  keys; /* per entry: n2, n3, ...                             */
    int        *order;
    int         order_count;
    int         leading; /* other columns before the first that is kept      */
    int        *later;   /* the others behind it, among all others           */
    int         later_count;
    bool       *starred; /* per column but the kept ones                     */
    const char *starred_name;
} entries;

static void end_entries(entries *e)
{
    kn_numbers_free(&e->keys);
    KN_FREE(e->order, e->later, e->starred);
}

/* Columns in their order: which decide about the order of rows, and which are "*" in suppressed ones. */
static kn_status look_at_columns(entries *e, const kn_table_run *run, kn_error *err)
{
    const kn_carry *k = &run->carry;
    bool            shown = run->all.spec->suppressed == KN_SUPPRESSED_KEEP_SENSITIVE;
    e->order = kn_alloc_array_zero(run->all.ctx, (size_t)k->all + 1, sizeof *e->order);
    e->later = kn_alloc_array_zero(run->all.ctx, (size_t)k->all + 1, sizeof *e->later);
    e->starred = kn_alloc_array_zero(run->all.ctx, (size_t)k->all + 1, sizeof *e->starred);
    if (!e->order || !e->later || !e->starred) return no_memory(run, err);
    for (int place = 0, kept = 0, column = 0, other = 0; place < k->all; place++) {
        if (kept < k->count && k->columns[kept].place == place) {
            e->starred_name = k->columns[kept].name;
            e->order[e->order_count++] = kept++;
            continue;
        }
        const kn_released_column *c = &run->columns[column];
        e->starred[column] = c->kind == KN_RELEASED_QUASI || !(shown && c->sensitive);
        if (c->kind != KN_RELEASED_QUASI && e->starred[column]) e->starred_name = run->table->columns[c->column].name;
        column++;
        if (c->kind == KN_RELEASED_QUASI) continue;
        if (kept == 0) {
            e->leading++;
        } else {
            e->later[e->later_count++] = other;
            e->order[e->order_count++] = -(2 + e->later_count);
        }
        other++;
    }
    return KN_OK;
}

/* n2: the place of its class and of the cells before the first kept column; n3, ...: those of the cells behind. */
static kn_status make_keys(entries *e, const kn_table_run *run, const kn_recode_places *p, kn_error *err)
{
    size_t width = (size_t)p->others + 1, leading = (size_t)e->leading + 1;
    e->keys = (kn_numbers){.count = e->later_count + 1, .rows = p->count};
    e->keys.columns = kn_alloc_array_zero(run->all.ctx, (size_t)e->keys.count + 1, sizeof *e->keys.columns);
    for (int i = 0; e->keys.columns && i < e->keys.count; i++) {
        e->keys.columns[i] = kn_alloc_array_zero(run->all.ctx, (size_t)p->count + 1, sizeof **e->keys.columns);
        if (!e->keys.columns[i]) return no_memory(run, err);
    }
    if (!e->keys.columns) return no_memory(run, err);
    int64_t place = 0;
    for (int64_t i = 0; i < p->count; i++) {
        const uint32_t *ranks = &p->ranks[(size_t)i * width];
        for (size_t r = 0; i > 0 && r < leading; r++) {
            if (ranks[r] == (ranks - width)[r]) continue;
            place++;
            break;
        }
        e->keys.columns[0][i] = place;
        for (int l = 0; l < e->later_count; l++) e->keys.columns[l + 1][i] = ranks[e->later[l] + 1];
    }
    return KN_OK;
}

/* Tells the engine which combination is which entry. */
static kn_status give_entries(const entries *e, kn_table_run *run, const kn_recode_places *p, kn_error *err)
{
    kn_numbers n;
    kn_status  st = make_numbers(&n, run, e->keys.count + 2, err);
    for (int64_t row = 0; st == KN_OK && row < run->table->rows; row++) {
        int64_t entry = p->entries[row];
        if (entry < 0 || entry >= p->shown) continue;
        n.columns[0][n.rows] = number_of(run, row);
        n.columns[1][n.rows] = entry;
        for (int i = 0; i < e->keys.count; i++) n.columns[i + 2][n.rows] = e->keys.columns[i][entry];
        n.rows++;
    }
    if (st == KN_OK) st = kn_carry_give(&run->carry, &n, err);
    kn_numbers_free(&n);
    return st;
}

kn_status kn_table_run_put_carried(kn_table_run *run, kn_batches *batches, kn_error *err)
{
    const kn_recode_places *p = run->places;
    entries                 e = {0};
    kn_status               st = look_at_columns(&e, run, err);
    if (st == KN_OK) st = make_keys(&e, run, p, err);
    if (st == KN_OK) st = give_entries(&e, run, p, err);
    kn_carry_release release = {.batches = batches,
                                .shown = p->shown,
                                .keys = &e.keys,
                                .order = e.order,
                                .order_count = e.order_count,
                                .starred = e.starred,
                                .starred_name = e.starred_name,
                                .path = kn_output_temporary(run->all.output),
                                .name = run->all.spec->output,
                                .parts = kn_target_in_parts(run->all.spec),
                                .output = kn_table_run_to_text(run) || run->target ? run->all.output : NULL,
                                .delimiter = run->delimiter,
                                .formulas = run->kept_formulas};
    if (st == KN_OK) st = kn_carry_write(&run->carry, &release, err);
    end_entries(&e);
    return st;
}

kn_status kn_table_run_open_places(kn_table_run *run, kn_recode_places *places, kn_error *err)
{
    int64_t rows = run->table->rows;
    *places = (kn_recode_places){0};
    run->places = places;
    places->entries = kn_alloc_array(run->all.ctx, (size_t)rows + 1, sizeof *places->entries);
    run->kept_formulas =
        kn_release_alloc(&run->all, &run->all.scratch, (size_t)run->carry.count + 1, sizeof *run->kept_formulas, err);
    if (!places->entries) return no_memory(run, err);
    if (!run->kept_formulas) return KN_MEMORY;
    for (int64_t row = 0; row < rows; row++) places->entries[row] = -1;
    for (int i = 0; i < run->carry.count && run->all.spec->spreadsheet_safe; i++)
        if (kn_csv_formula(kn_string_of(run->carry.columns[i].name)))
            return kn_fail(err, KN_INPUT, "a spreadsheet would execute the name of the column \"%s\"; give it another",
                           run->carry.columns[i].name);
    return KN_OK;
}

/* ---- Reading it again ---- */

/* Of kept columns readers of the whole look at one thing alone: whether a cell is "*". */
kn_status kn_table_run_without_kept(kn_buffer *relation, const kn_table_run *run, const kn_csv_options *csv,
                                    kn_error *err)
{
    const kn_connection *c = run->writer.connection;
    const kn_spec       *spec = run->all.spec;
    kn_buffer            inner;
    kn_buffer_init(&inner, run->all.ctx);
    kn_buffer_append(&inner, relation->data, relation->size);
    kn_buffer_clear(relation);
    for (int i = 0; i < csv->column_count; i++) {
        int  a = kn_spec_find(spec, csv->columns[i]);
        bool kept = a >= 0 && spec->attributes[a].role == KN_ROLE_KEEP;
        kn_buffer_add(relation, i > 0 ? ", " : "(SELECT ");
        kn_buffer_add(relation, kept ? "CASE WHEN CAST(" : "");
        kn_connection_put_name(relation, c, csv->columns[i]);
        kn_buffer_add(relation, kept ? " AS VARCHAR) = '*' THEN '*' END AS " : "");
        if (kept) kn_connection_put_name(relation, c, csv->columns[i]);
    }
    const char *text = kn_buffer_text(&inner);
    kn_buffer_format(relation, " FROM %s AS r)", text ? text : "");
    kn_buffer_free(&inner);
    return text && kn_buffer_text(relation) ? KN_OK : no_memory(run, err);
}
