/* table/write.c: from a plan to bytes, and the verifier's answer (kn_shape.h).
 *
 * The release is written under its temporary name (mode 0600); the verifier reads that file.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_job_publish.h"
#include "kn_job_texts.h"
#include "kn_names.h"
#include "kn_parallel.h"
#include "kn_table_run.h"
#include "kn_table_stream.h"
#include "kn_targets.h"
#include "kn_verify_where.h"

/* ---- What is released ---- */

static kn_status add_pseudonym(kn_table_run *run, const kn_attribute *a, kn_released_column *column, kn_error *err)
{
    bool           open_to_others = false;
    unsigned char *key = run->keys + (size_t)run->column_count * KN_PSEUDONYM_KEY;
    KN_TRY(kn_pseudonym_key(key, &open_to_others, run->all.ctx, a->pseudonym_key_file, err));
    column->kind = KN_RELEASED_PSEUDONYM;
    column->key = key;
    KN_TRY(kn_release_note(
        &run->all, err, "column \"%s\": pseudonyms link this release to every other made with the same key", a->name));
    if (!open_to_others) return KN_OK;
    return kn_release_note(&run->all, err, "%s: others may read this key (chmod 600)", a->pseudonym_key_file);
}

kn_status kn_table_run_columns(kn_table_run *run, kn_error *err)
{
    size_t n = (size_t)run->table->column_count;
    run->columns = kn_release_alloc(&run->all, &run->all.scratch, n, sizeof *run->columns, err);
    run->keys = kn_release_alloc(&run->all, &run->all.scratch, n, KN_PSEUDONYM_KEY, err);
    if (!run->columns || !run->keys) return KN_MEMORY;
    for (int c = 0; c < run->table->column_count; c++) {
        int index = kn_spec_find(run->all.spec, run->table->columns[c].name);
        if (index < 0) continue; /* the entity */
        const kn_attribute *a = &run->all.spec->attributes[index];
        kn_released_column  column = {.kind = KN_RELEASED_COPY,
                                      .column = c,
                                      .sensitive = a->role == KN_ROLE_SENSITIVE,
                                      .items = a->role == KN_ROLE_SET};
        if (a->role == KN_ROLE_IDENTIFIER) {
            if (!a->pseudonym_key_file) continue;
            KN_TRY(add_pseudonym(run, a, &column, err));
        }
        if (a->role == KN_ROLE_QUASI) {
            column.kind = KN_RELEASED_QUASI;
            while (run->quasi[column.quasi] != c) column.quasi++;
        }
        run->columns[run->column_count++] = column;
    }
    return KN_OK;
}

/* The text of a missing cell: empty, unless an empty cell is a value; then the first other spelling. */
const char *kn_table_run_missing_text(const kn_spec *spec)
{
    for (int i = 0; spec->csv.na && i < spec->csv.na_count; i++)
        if (spec->csv.na[i][0] == '\0') return "";
    return spec->csv.na && spec->csv.na_count > 0 ? spec->csv.na[0] : "";
}

/* ---- Recoding ---- */

const char *kn_table_run_written(const kn_table_run *run)
{
    return run->all.base ? kn_output_temporary(run->all.output) : run->release_path;
}

kn_recode_input kn_table_run_recode_input(const kn_table_run *run)
{
    bool texts = run->carried && (kn_table_run_to_text(run) || run->target),
         counted = run->large && (texts || !kn_table_run_to_text(run));
    return (kn_recode_input){.table = run->shown ? run->shown : run->table,
                             .plan = run->plan,
                             .hierarchies = (const kn_hierarchy *const *)run->hierarchies,
                             .columns = run->columns,
                             .column_count = run->column_count,
                             .suppressed = run->all.spec->suppressed,
                             .keep_order = run->all.spec->keep_order,
                             .levels = run->result->level_count > 0,
                             .delimiter = run->delimiter,
                             .guarded = run->all.spec->spreadsheet_safe,
                             .counted = counted || (run->all.spec->csv.count && !run->all.spec->expand),
                             .take = counted && (!run->target || texts) ? kn_table_run_put : NULL,
                             .take_arg = (void *)(uintptr_t)run,
                             .missing = kn_table_run_missing_text(run->all.spec),
                             .parquet = kn_target_is_parquet(run->all.spec) || kn_target_in_engine(run->all.spec),
                             .parts = kn_target_in_parts(run->all.spec),
                             .texts = texts,
                             .columns_wanted = texts || kn_target_has_columns(run->all.ctx, run->all.spec) ||
                                               kn_target_is_parquet(run->all.spec) ||
                                               kn_target_in_engine(run->all.spec)};
}

static kn_status note_formula(kn_table_run *run, const char *name, int64_t formulas, kn_error *err)
{
    if (formulas == 0) return KN_OK;
    return kn_release_note(&run->all, err, "%s",
                           kn_job_formulas_note(name, formulas, run->all.spec->spreadsheet_safe).text);
}

/* In the order of the released columns. */
static kn_status note_formulas(kn_table_run *run, const int64_t *formulas, kn_error *err)
{
    const kn_carry *k = &run->carry;
    for (int place = 0, c = 0, kept = 0; c < run->column_count || kept < k->count; place++) {
        if (kept < k->count && k->columns[kept].place == place) {
            KN_TRY(note_formula(run, k->columns[kept].name, run->kept_formulas[kept], err));
            kept++;
        } else {
            KN_TRY(note_formula(run, run->table->columns[run->columns[c].column].name, formulas[c], err));
            c++;
        }
    }
    return KN_OK;
}

static kn_status recode(kn_table_run *run, kn_error *err)
{
    kn_recode_input  input = kn_table_run_recode_input(run);
    kn_recode_places places = {0};
    if (run->carried) KN_TRY(kn_table_run_open_places(run, &places, err));
    input.places = run->places;
    input.formulas = kn_alloc_array(run->all.ctx, (size_t)run->column_count + 1, sizeof *input.formulas);
    if (!input.formulas) return kn_fail_memory(err, run->all.ctx, "writing the release");
    kn_status st = kn_recode_write(run->all.output, run->all.ctx, &input, &run->map, &run->map_count, err);
    if (st == KN_OK) st = note_formulas(run, input.formulas, err);
    KN_FREE(input.formulas, places.entries, places.ranks);
    run->places = NULL;
    KN_TRY(st);
    KN_TRY(run->target ? kn_table_writer_finish(run->target, err) : kn_output_flush(run->all.output, err));
    for (int64_t i = 0; run->original_rows && i < run->map_count; i++) run->map[i] = run->original_rows[run->map[i]];
    return KN_OK;
}

enum { MAP_GRAIN = 1 << 16 };

typedef struct narrowing {
    int64_t        *map;
    int64_t         first; /* entries before it are narrow */
    _Atomic int64_t most;
} narrowing;

static kn_status most_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    narrowing *n = arg;
    int64_t    most = 0;
    (void)worker;
    (void)err;
    for (int64_t i = begin; i < end; i++) most = n->map[i] > most ? n->map[i] : most;
    for (int64_t seen = atomic_load(&n->most); most > seen;)
        if (atomic_compare_exchange_weak(&n->most, &seen, most)) break;
    return KN_OK;
}

/* Entries [first, 2 first) go where the entries [first / 2, first) were, which are narrow already: no thread writes what
 * another reads. */
static kn_status narrow_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const narrowing *n = arg;
    char            *to = (char *)n->map;
    (void)worker;
    (void)err;
    for (int64_t i = n->first + begin; i < n->first + end; i++) {
        uint32_t row = (uint32_t)n->map[i];
        memcpy(to + (size_t)i * sizeof row, &row, sizeof row);
    }
    return KN_OK;
}

/* The verifier needs memory: the map in 4 bytes a row, in its own place, unless a row has a larger number or the map is written. */
static kn_status narrow_map(kn_table_run *run, kn_error *err)
{
    narrowing n = {.map = run->map};
    void     *to = run->map;
    if (!run->map || run->all.spec->keep_rowmap) return KN_OK;
    KN_TRY(kn_parallel_for(run->all.ctx, run->map_count, MAP_GRAIN, most_range, &n, err));
    if (atomic_load(&n.most) > UINT32_MAX) return KN_OK;
    if (run->map_count > 0) narrow_range(&n, 0, 1, 0, NULL);
    for (n.first = 1; n.first < run->map_count; n.first *= 2) {
        int64_t left = run->map_count - n.first;
        KN_TRY(kn_parallel_for(run->all.ctx, left < n.first ? left : n.first, MAP_GRAIN, narrow_range, &n, err));
    }
    run->map = NULL;
    run->narrow_map = kn_realloc_array(run->all.ctx, to, (size_t)run->map_count + 1, sizeof *run->narrow_map);
    if (run->narrow_map) return KN_OK;
    kn_free(to);
    return kn_fail_memory(err, run->all.ctx, "writing the release");
}

/* The verifier needs memory for both files; only the map is still needed. */
static void forget_search(kn_table_run *run)
{
    kn_table_run_end_search(&run->all);
    kn_table_free(run->table);
    kn_table_run_end_judged(run);
    kn_carry_close(&run->carry);
    kn_free(run->original_rows);
    kn_pseudonym_forget(run->keys, (size_t)run->column_count * KN_PSEUDONYM_KEY);
    run->table = NULL;
    run->original_rows = NULL;
}

/* The labels of files of statistics stand for values in the release: what their codes were is the owner's. */
static kn_status keep_labels(kn_table_run *run, kn_error *err)
{
    static const char *const titles[] = {"file", "variable", "code", "label"};
    const kn_spec           *spec = run->all.spec;
    kn_buffer                text;
    kn_status                st = KN_OK;
    if (!run->all.base || !kn_names_labelled(spec->inputs, spec->input_count)) return KN_OK;
    kn_buffer_init(&text, run->all.ctx);
    kn_csv_rows rows = {.ctx = run->all.ctx, .source = "the labels", .to = &text, .columns = 4};
    for (int i = 0; st == KN_OK && i < 4; i++) st = kn_csv_rows_cell(&rows, kn_string_of(titles[i]), err);
    for (int i = 0; st == KN_OK && i < spec->input_count; i++)
        if (kn_name_statistics(spec->inputs[i])) st = kn_statistics_labels(&rows, spec->inputs[i], err);
    return kn_job_put(run->all.set, KN_SET_LABELS, NULL, &text, st, err);
}

kn_status kn_table_run_write(kn_release_run *all, kn_error *err)
{
    kn_table_run *run = kn_table_run_of(all);
    KN_TRY(kn_table_run_show_items(run, err));
    KN_TRY(recode(run, err));
    KN_TRY(kn_table_run_summary(run, err));
    KN_TRY(kn_table_run_keep_recipe(run, err));
    forget_search(run);
    KN_TRY(narrow_map(run, err));
    return keep_labels(run, err);
}

/* ---- Verifying ---- */

/* The column of sets; and the k that it reaches, which only the verifier counts. */
static kn_status compare_items(kn_table_run *run, const kn_verify_report *found, kn_error *err)
{
    kn_release_items *items = (kn_release_items *)(uintptr_t)run->result->items;
    bool              known = !isnan(found->items_loss);
    kn_claim          claims[] = {
                 {"the number of items", (double)items->items, known ? (double)found->items : (double)NAN},
                 {"the number of items as they were", (double)items->kept, known ? (double)found->items_kept : (double)NAN},
                 {"the number of classes without items", (double)items->classes, (double)found->items_hidden},
                 {"the loss of items", items->loss, found->items_loss}};
    items->k = found->items_k;
    return kn_release_compare(claims, sizeof claims / sizeof *claims, err);
}

static kn_status compare(kn_table_run *run, const kn_verify_report *found, kn_error *err)
{
    const kn_release_result *r = run->result;
    kn_claim                 claims[4 + KN_METRICS] = {
                        {"the number of rows", (double)r->rows, (double)found->rows},
                        {"the number of suppressed rows", (double)r->head.suppressed, (double)found->suppressed},
                        {"the number of classes", (double)r->head.classes, (double)found->classes},
                        {"k", (double)r->head.k, (double)found->k}};
    for (int m = 0; m < KN_METRICS; m++) /* NAN: undetermined, as a label is on several levels        */
        claims[4 + m] = (kn_claim){kn_metric_name((kn_metric)m), r->metrics[m], found->metrics[m]};
    KN_TRY(kn_release_compare_models(&run->all, found->models, found->model_count, false, err));
    KN_TRY(kn_release_compare(claims, 4 + KN_METRICS, err));
    return r->items ? compare_items(run, found, err) : KN_OK;
}

/* Counts every promise on this release and the earlier one; where one is not kept there is no release. */
static kn_status verify_together(kn_table_run *run, kn_error *err)
{
    const char       *files[] = {run->all.options->earlier, kn_table_run_written(run)};
    kn_verify_report *report = NULL;
    char              why[500];
    if (!files[0]) return KN_OK;
    kn_release_union *both = kn_release_alloc(&run->all, run->all.arena, 1, sizeof *both, err);
    if (!both) return KN_MEMORY;
    KN_TRY(kn_verify_together_by(&report, run->all.ctx, &run->effective, run->large ? run->writer.connection : NULL,
                                 files, 2, err));
    double *reached =
        kn_release_alloc(&run->all, run->all.arena, (size_t)report->model_count + 1, sizeof *reached, err);
    kn_status st = reached ? KN_OK : KN_MEMORY;
    for (int m = 0; reached && m < report->model_count; m++) reached[m] = report->models[m].reached;
    *both =
        (kn_release_union){report->rows, report->suppressed, report->classes, report->k, report->model_count, reached};
    if (st == KN_OK && report->ok) {
        run->result->together = both;
        st = kn_release_note(&run->all, err,
                             "every promise was counted on this release and the earlier one together, as nobody is in "
                             "both: %lld rows, %lld class%s, k = %lld",
                             (long long)both->rows, (long long)both->classes, both->classes == 1 ? "" : "es",
                             (long long)both->k);
    } else if (st == KN_OK) {
        snprintf(why, sizeof why, "this release keeps every promise, but not together with the earlier one: %s",
                 report->problem_count > 0 ? report->problems[0] : "it could not be decided");
        st = kn_release_none(&run->all, why, err);
    }
    kn_verify_report_free(report);
    return st;
}

kn_status kn_table_run_verify(kn_release_run *all, kn_error *err)
{
    kn_table_run            *run = kn_table_run_of(all);
    const kn_release_result *r = run->result;
    kn_verify_report        *report = NULL;
    kn_verify_options        options = KN_VERIFY_OPTIONS_INIT;
    options.originals = run->inputs;
    options.original_count = all->spec->input_count;
    options.release = kn_table_run_written(run);
    options.map = run->map;
    options.map_count = run->map ? run->map_count : 0;
    if (r->level_count > 0) options.levels = r->levels; /* a label may be on several: checked    */
    options.level_count = r->level_count;
    options.suppressed = r->head.suppressed;
    if (all->summary) options.summary = kn_output_temporary(all->summary);
    run->effective.method = all->spec->method;
    run->effective.method_given = true;
    run->effective.method_auto = false;
    kn_status st = run->large ? kn_table_run_verify_large(&report, run, &options, err)
                              : kn_verify_narrow(&report, all->ctx, &run->effective, &options, run->narrow_map,
                                                 run->map_count, err);
    st = report ? kn_release_verdict(report->outcome, report->problems, report->problem_count,
                                     report->open_count > 0 ? report->open[0] : NULL, err)
                : kn_release_unread(st, err);
    if (st == KN_OK) st = compare(run, report, err);
    if (report) memcpy(run->result->head.sha256, report->sha256, sizeof report->sha256);
    kn_verify_report_free(report);
    return st == KN_OK ? verify_together(run, err) : st;
}

static kn_status read_release(kn_table **out, void *state, const kn_csv_options *options, kn_error *err)
{
    kn_release_run     *all = state;
    const kn_table_run *run = kn_table_run_of(all);
    kn_csv_options      csv = *options;
    csv.delimiter = run->delimiter;
    if (run->large) return kn_table_run_read_large(out, kn_table_run_of(all), &csv, err);
    return kn_table_read_csv(out, all->ctx, kn_table_run_written(run), &csv, err);
}

kn_status kn_table_run_publish(kn_release_run *all, kn_error *err)
{
    kn_public_reader reader = {all, read_release, kn_release_read_hierarchy};
    if (!all->base && !all->spec->public_report) return KN_OK;
    return kn_public_of_table(&all->facts, all->ctx, all->asked, &reader, kn_table_run_missing_text(all->spec), err);
}
