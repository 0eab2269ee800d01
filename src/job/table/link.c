/* table/link.c: does the release show which rows belong to one person? And what do whole persons reach?
 *
 * Rows are linked by a pseudonym whose identifier is on several rows: that is its purpose. With an `entity` they are
 * also linked by a column that is published unchanged and equal in all rows of a person for far more persons than by
 * chance. It need not name anybody: an attacker who knows two rows of a person looks for the values that occur in
 * both classes. Then persons must look alike with all their rows (kn_linked.h, docs/release.md).
 *
 * Cost: one pass per copied column.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_linked.h"
#include "kn_table_run.h"

static const char measuring[] = "measuring persons";

/* ---- Pseudonyms ---- */

static bool is_pseudonym(const kn_attribute *a)
{
    return a->role == KN_ROLE_IDENTIFIER && a->pseudonym_key_file;
}

static bool repeats(const kn_table_run *run, int column)
{
    return (int64_t)kn_column_cardinality(&run->table->columns[column]) < run->table->rows;
}

/* The column of the identifier whose pseudonym links rows; -1: none. */
static kn_status find_pseudonym(const kn_table_run *run, int *out, kn_error *err)
{
    const kn_spec *spec = run->all.spec;
    *out = -1;
    for (int i = 0; i < spec->attribute_count; i++) {
        int column = is_pseudonym(&spec->attributes[i]) ? kn_table_find(run->table, spec->attributes[i].name) : -1;
        if (column < 0 || !repeats(run, column)) continue;
        if (*out >= 0)
            return kn_fail(err, KN_USAGE,
                           "the pseudonyms of \"%s\" and \"%s\" both link rows, each in its own way; publish one of "
                           "them, or the rows as a database (a table of persons and one of their rows) with the method "
                           "miracle",
                           run->table->columns[*out].name, run->table->columns[column].name);
        *out = column;
    }
    return KN_OK;
}

static kn_status count_groups(const kn_table_run *run, const int *columns, int count, int64_t *out, kn_error *err)
{
    kn_freq *freq = NULL;
    KN_TRY(kn_freq_of_table(&freq, run->all.ctx, run->table, columns, count, err));
    *out = freq->classes;
    kn_freq_free(freq);
    return KN_OK;
}

/* A pseudonym of a column other than the entity's must identify the same persons. */
static kn_status check_persons(const kn_table_run *run, int column, kn_error *err)
{
    int     both[2] = {run->entity, column};
    int64_t persons = 0, values = 0, pairs = 0;
    if (run->entity < 0 || run->entity == column) return KN_OK;
    KN_TRY(count_groups(run, both, 1, &persons, err));
    KN_TRY(count_groups(run, both + 1, 1, &values, err));
    KN_TRY(count_groups(run, both, 2, &pairs, err));
    if (persons == pairs && values == pairs) return KN_OK;
    return kn_fail(err, KN_USAGE,
                   "the pseudonym of \"%s\" links rows otherwise than the entity \"%s\" does; make \"%s\" the entity, "
                   "leave its pseudonym out, or publish the rows as a database (a table of persons and one of their "
                   "rows) with the method miracle",
                   run->table->columns[column].name, run->table->columns[run->entity].name,
                   run->table->columns[column].name);
}

/* ---- Columns of the person ---- */

/* Is a column of the person published unchanged, and does it distinguish persons? Only if a person has several
 * rows. */
static kn_status columns_link(kn_table_run *run, bool *out, kn_error *err)
{
    const kn_spec *spec = run->all.spec;
    if (!repeats(run, run->entity)) return KN_OK;
    for (int i = 0; i < spec->attribute_count && !*out; i++) {
        kn_role role = spec->attributes[i].role;
        if (role != KN_ROLE_KEEP && role != KN_ROLE_WEIGHT && role != KN_ROLE_SENSITIVE) continue;
        int column = kn_table_find(run->table, spec->attributes[i].name);
        KN_TRY(kn_linked_by_column(out, run->all.ctx, run->table, run->entity, column, err));
    }
    return KN_OK;
}

/* ---- Linked? ---- */

kn_status kn_table_run_link(kn_table_run *run, kn_error *err)
{
    int column = -1;
    KN_TRY(find_pseudonym(run, &column, err));
    if (column >= 0) KN_TRY(check_persons(run, column, err));
    run->linked = column >= 0;
    if (column >= 0 && run->entity < 0) run->entity = column;
    if (!run->linked && run->entity >= 0) KN_TRY(columns_link(run, &run->linked, err));
    if (!run->linked) return KN_OK;
    run->linked_by = kn_release_text(&run->all, run->table->columns[run->entity].name, err);
    if (!run->linked_by) return KN_MEMORY;
    if (run->all.spec->suppressed == KN_SUPPRESSED_KEEP_SENSITIVE)
        return kn_fail(err, KN_USAGE,
                       "suppressed: keep-sensitive has no sense where the released columns show which rows are one "
                       "person's; use star or drop");
    if (column >= 0)
        return kn_release_note(
            &run->all, err,
            "column \"%s\": its pseudonyms show which rows are one person's, so k counts persons who "
            "look alike with all their rows",
            run->table->columns[column].name);
    return kn_release_note(
        &run->all, err,
        "a column that is published as it is and the same in all rows of most persons shows which rows may "
        "be one person's, so k counts persons who look alike with all their rows");
}

kn_status kn_table_run_check_linked(const kn_table_run *run, kn_error *err)
{
    if (!run->linked || kn_table_run_full_domain(run)) return KN_OK;
    return kn_fail(err, KN_USAGE,
                   "method %s cannot keep persons alike with all their rows, and the released columns show which rows "
                   "are one person's; use a full-domain method such as optimal, leave out the column that links them, "
                   "or publish the rows as a database (a table of persons and one of their rows) with the method "
                   "miracle",
                   kn_method_name(run->all.spec->method));
}

static int64_t asked_k(const kn_spec *spec)
{
    int64_t k = 1;
    for (int i = 0; i < spec->model_count; i++) {
        const kn_model *m = &spec->models[i];
        int64_t         own = 1;
        if (m->kind == KN_MODEL_K || m->kind == KN_MODEL_ALPHA_K) own = m->k;
        if (m->kind == KN_MODEL_MAX_RISK) own = kn_size_for_risk(m->bound);
        if (own > k) k = own;
    }
    return k;
}

/* Even at the top of all hierarchies the number of a person's rows is visible. */
kn_status kn_table_run_lonely_rows(const kn_table_run *run, int64_t *out, kn_error *err)
{
    kn_freq  *freq = NULL;
    int64_t   k = asked_k(run->all.spec);
    kn_status st = kn_freq_of_table(&freq, run->all.ctx, run->table, &run->entity, 1, err);
    *out = 0;
    if (st != KN_OK) return st;
    kn_size_histogram h = {0};
    st = kn_size_histogram_make(&h, run->all.ctx, freq->counts, freq->counts, freq->classes, err);
    for (int64_t i = 0; st == KN_OK && i < h.count; i++)
        if (h.classes[i] < k) *out += h.rows[i];
    kn_size_histogram_free(&h);
    kn_freq_free(freq);
    return st;
}

/* ---- What whole persons reach ---- */

typedef struct persons {
    kn_table_run        *run;
    const kn_cut        *cut;
    int                 *columns; /* of the cut, and two more */
    int64_t              class_count;
    kn_linked            linked;
    kn_class_histograms *histograms;
} persons;

static kn_status group(persons *p, kn_error *err)
{
    const kn_cut *cut = p->cut;
    int           n = cut->column_count, sensitive = p->run->requirements->sensitive_count;
    kn_freq      *pairs = NULL, *classes = NULL;
    int64_t      *starts = NULL;
    p->columns = kn_alloc_array(p->run->all.ctx, (size_t)n + 2, sizeof *p->columns);
    p->histograms = kn_alloc_array_zero(p->run->all.ctx, (size_t)sensitive + 1, sizeof *p->histograms);
    if (!p->columns || !p->histograms) return kn_fail_memory(err, p->run->all.ctx, measuring);
    memcpy(p->columns, cut->columns, (size_t)n * sizeof *p->columns);
    p->columns[n] = cut->entity;
    KN_TRY(kn_freq_of_table(&pairs, p->run->all.ctx, cut->table, p->columns, n + 1, err));
    kn_status st = kn_freq_fold(&classes, &starts, pairs, n, err);
    if (st == KN_OK) {
        p->class_count = classes->classes;
        /* Rows outside every class have the highest code: they are the last. */
        if (p->class_count > 0 && (int64_t)kn_freq_code(classes, p->class_count - 1, 0) == cut->leave_out)
            p->class_count--;
        st = kn_linked_make(&p->linked, pairs, starts, p->class_count, cut->table->columns[cut->entity].dict.count + 1,
                            err);
    }
    kn_free(starts);
    kn_freq_free(classes);
    kn_freq_free(pairs);
    for (int s = 0; st == KN_OK && s < sensitive; s++) {
        kn_freq *fine = NULL;
        p->columns[n] = cut->sensitive[s];
        p->columns[n + 1] = cut->entity;
        st = kn_freq_of_table(&fine, p->run->all.ctx, cut->table, p->columns, n + 2, err);
        if (st == KN_OK) st = kn_linked_histograms(&p->histograms[s], &p->linked, fine, n, p->class_count, err);
        kn_freq_free(fine);
    }
    return st;
}

static void view_position(const persons *p, int64_t s, int64_t at, kn_class_view *view, kn_histogram *histograms)
{
    const kn_linked *l = &p->linked;
    *view = (kn_class_view){
        .rows = l->persons[s] * l->each[at], .persons = l->persons[s], .population_unit = 1, .histograms = histograms};
    for (int h = 0; h < p->run->requirements->sensitive_count; h++) {
        const kn_class_histograms *from = &p->histograms[h];
        int64_t                    begin = from->starts[at], end = from->starts[at + 1];
        histograms[h] = (kn_histogram){from->codes + begin, from->counts + begin, end - begin, l->persons[s]};
    }
}

static kn_status reach(const persons *p, kn_cut_figures *out, kn_error *err)
{
    const kn_requirements  *r = p->run->requirements;
    const kn_linked        *l = &p->linked;
    kn_requirements_scratch scratch = {0};
    kn_histogram *histograms = kn_alloc_array(p->run->all.ctx, (size_t)r->sensitive_count + 1, sizeof *histograms);
    if (!histograms) return kn_fail_memory(err, p->run->all.ctx, measuring);
    kn_status st = kn_requirements_scratch_make(&scratch, r, err);
    for (int64_t s = 0; st == KN_OK && s < l->signatures; s++) {
        bool good = true;
        for (int64_t at = l->starts[s]; at < l->starts[s + 1]; at++) {
            kn_class_view view;
            view_position(p, s, at, &view, histograms);
            for (int m = 0; m < r->model_count; m++)
                kn_cut_worse(&out->reached[r->asked[m]], &r->models[m], kn_requirements_reached(r, m, &view, &scratch),
                             at == 0);
            good = good && kn_requirements_hold(r, &view, &scratch);
        }
        if (s == 0 || l->persons[s] < out->k) out->k = l->persons[s];
        out->persons += l->persons[s];
        if (good) out->good_rows += l->rows[s];
        out->classes++;
    }
    kn_requirements_scratch_free(&scratch);
    kn_free(histograms);
    return st;
}

kn_status kn_cut_measure_linked(kn_table_run *run, const kn_cut *cut, kn_cut_figures *out, kn_error *err)
{
    persons   p = {.run = run, .cut = cut};
    kn_status st = group(&p, err);
    if (st == KN_OK) st = reach(&p, out, err);
    if (st == KN_OK)
        st = kn_release_sizes_of(&run->all, p.linked.persons, p.linked.rows, p.linked.signatures, &out->sizes,
                                 &out->size_count, err);
    for (int s = 0; p.histograms && s < run->requirements->sensitive_count; s++)
        kn_class_histograms_free(&p.histograms[s]);
    kn_free(p.histograms);
    kn_free(p.columns);
    kn_linked_free(&p.linked);
    return st;
}
