/* database/diagnose.c: kn_diagnose_database of kanon/database.h: how many persons are alike in all tables, and in what somebody
 * knows of them: one column, one table, a few tables; and what such persons tell about sensitive columns.
 *
 * Cost: reading, the trees of persons, and one pass over these for each set (kn_persons.h).
 * SPDX-License-Identifier: Apache-2.0
 */
#include <kanon/database.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_arena.h"
#include "kn_context.h"
#include "kn_database_roles.h"
#include "kn_diagnose_sensitive.h"
#include "kn_error.h"
#include "kn_options.h"
#include "kn_persons.h"
#include "kn_spec_of_database.h"

enum { MOST_SETS = 100000, USUAL_SIZE = 2 };

static const char what[] = "diagnosing a database";

/* The diagnosis with what it points to. */
typedef struct report {
    kn_database_diagnosis diagnosis;
    kn_arena              arena;
} report;

typedef struct job {
    kn_context                         *ctx;
    const kn_spec                      *spec;
    const kn_database_diagnose_options *options;
    report                             *to;
    kn_database                        *db;
    kn_forest                          *forest;
    int                                *tables; /* that say something of persons */
    int                                 table_count;
    kn_known                           *known; /* the diagnosis's; `quasi` is beside it */
    int                                *quasi; /* per set: the only column's place among the table's; -1 */
} job;

void kn_database_diagnosis_free(kn_database_diagnosis *diagnosis)
{
    if (!diagnosis) return;
    report *r = (report *)diagnosis;
    kn_arena_free(&r->arena);
    kn_free(r);
}

/* ---- All tables ---- */

static kn_status tell_tables(job *j, kn_error *err)
{
    kn_database_diagnosis *d = &j->to->diagnosis;
    kn_diagnosed_table    *tables = kn_arena_array_zero(&j->to->arena, (size_t)j->db->table_count, sizeof *tables);
    if (!tables) return kn_fail_memory(err, j->ctx, what);
    d->tables = tables;
    d->table_count = j->db->table_count;
    d->person = j->db->entity;
    d->persons = j->forest->entities;
    for (int t = 0; t < d->table_count; t++) {
        const char *name = j->db->tables[t].name;
        tables[t].name = kn_arena_strndup(&j->to->arena, name, strlen(name));
        tables[t].orphans = j->forest->missing[t] + j->forest->dangling[t] + j->forest->lost[t];
        tables[t].rows = j->db->tables[t].table->rows - tables[t].orphans;
        tables[t].quasi = j->db->tables[t].quasi_count;
    }
    return j->to->arena.failed ? kn_fail_memory(err, j->ctx, what) : KN_OK;
}

/* Equal trees are neighbours in a forest. */
static kn_status tell_classes(job *j, kn_error *err)
{
    const kn_forest       *f = j->forest;
    kn_database_diagnosis *d = &j->to->diagnosis;
    int64_t               *of_size = kn_alloc_array_zero(j->ctx, (size_t)f->entities + 1, sizeof *of_size);
    if (!of_size) return kn_fail_memory(err, j->ctx, what);
    for (int64_t e = 0, first = 0; e < f->entities; e++) {
        if (e + 1 < f->entities && f->subtree[f->start[e + 1]] == f->subtree[f->start[e]]) continue;
        d->size_count += of_size[e + 1 - first]++ == 0;
        first = e + 1;
    }
    kn_size_count *sizes = kn_arena_array(&j->to->arena, (size_t)d->size_count, sizeof *sizes);
    d->sizes = sizes;
    d->size_count = 0;
    for (int64_t size = 1; sizes && size <= f->entities; size++) {
        if (of_size[size] == 0) continue;
        sizes[d->size_count++] = (kn_size_count){size, of_size[size], size * of_size[size]};
        d->classes += of_size[size];
        if (size >= j->options->k) continue;
        d->below_classes += of_size[size];
        d->below_persons += size * of_size[size];
    }
    d->unique_persons = of_size[1];
    kn_free(of_size);
    if (!sizes) return kn_fail_memory(err, j->ctx, what);
    d->k = sizes[0].size;
    d->holds = d->k >= j->options->k;
    return KN_OK;
}

/* ---- What somebody may know ---- */

/* The table of persons says nothing without quasi-identifiers; of others it is known how many rows somebody has. */
static kn_status find_tables(job *j, kn_error *err)
{
    j->tables = kn_arena_array(&j->to->arena, (size_t)j->db->table_count + 1, sizeof *j->tables);
    if (!j->tables) return kn_fail_memory(err, j->ctx, what);
    for (int t = 0; t < j->db->table_count; t++)
        if (t != j->db->entity || j->db->tables[t].quasi_count > 0) j->tables[j->table_count++] = t;
    return KN_OK;
}

/* How many sets there are; MOST_SETS + 1: too many. */
static int64_t count_sets(const job *j, int most)
{
    int64_t count = 0, of_size = 1;
    for (int t = 0; t < j->db->table_count; t++)
        if (j->db->tables[t].quasi_count > 1) count += j->db->tables[t].quasi_count;
    for (int size = 1; size <= most && count <= MOST_SETS; size++) {
        of_size = of_size * (j->table_count - size + 1) / size;
        count += of_size;
    }
    return count + (most < j->table_count);
}

static kn_status add_set(job *j, const int *members, int count, int quasi, kn_error *err)
{
    kn_database_diagnosis *d = &j->to->diagnosis;
    kn_known              *to = &j->known[d->known_count];
    int                   *tables = kn_arena_array(&j->to->arena, (size_t)count + 1, sizeof *tables);
    if (!tables) return kn_fail_memory(err, j->ctx, what);
    for (int i = 0; i < count; i++) tables[i] = members[i];
    *to = (kn_known){.table_count = count, .tables = tables};
    if (quasi >= 0) {
        const kn_database_table *t = &j->db->tables[tables[0]];
        const char              *name = t->table->columns[t->quasi[quasi]].name;
        to->column = kn_arena_strndup(&j->to->arena, name, strlen(name));
        if (!to->column) return kn_fail_memory(err, j->ctx, what);
    }
    j->quasi[d->known_count++] = quasi;
    return KN_OK;
}

/* All sets of so many tables, in their order. */
static kn_status add_sets(job *j, int size, kn_error *err)
{
    int *at = kn_arena_array(&j->to->arena, (size_t)size, sizeof *at);
    int *members = kn_arena_array(&j->to->arena, (size_t)size, sizeof *members);
    if (!at || !members) return kn_fail_memory(err, j->ctx, what);
    for (int i = 0; i < size; i++) at[i] = i;
    for (;;) {
        int last = size - 1;
        for (int i = 0; i < size; i++) members[i] = j->tables[at[i]];
        KN_TRY(add_set(j, members, size, -1, err));
        while (last >= 0 && at[last] == j->table_count - size + last) last--;
        if (last < 0) return KN_OK;
        at[last]++;
        for (int i = last + 1; i < size; i++) at[i] = at[i - 1] + 1;
    }
}

static kn_status list_sets(job *j, kn_error *err)
{
    int most = j->options->max_size > 0 ? j->options->max_size : USUAL_SIZE;
    KN_TRY(find_tables(j, err));
    if (most > j->table_count) most = j->table_count;
    int64_t count = count_sets(j, most);
    if (count > MOST_SETS)
        return kn_fail(err, KN_USAGE, "there are more than 100,000 sets of at most %d tables; ask for smaller ones",
                       most);
    j->known = kn_arena_array_zero(&j->to->arena, (size_t)count + 1, sizeof *j->known);
    j->quasi = kn_arena_array(&j->to->arena, (size_t)count + 1, sizeof *j->quasi);
    if (!j->known || !j->quasi) return kn_fail_memory(err, j->ctx, what);
    j->to->diagnosis.known = j->known;
    for (int t = 0; t < j->db->table_count; t++)
        for (int q = 0; j->db->tables[t].quasi_count > 1 && q < j->db->tables[t].quasi_count; q++)
            KN_TRY(add_set(j, &t, 1, q, err));
    for (int size = 1; size <= most; size++) KN_TRY(add_sets(j, size, err));
    return most < j->table_count ? add_sets(j, j->table_count, err) : KN_OK;
}

static kn_status tell_known(job *j, kn_error *err)
{
    KN_TRY(list_sets(j, err));
    int               count = j->to->diagnosis.known_count;
    kn_persons_known *known = kn_arena_array(&j->to->arena, (size_t)count + 1, sizeof *known);
    kn_persons_found *found = kn_arena_array_zero(&j->to->arena, (size_t)count + 1, sizeof *found);
    if (!known || !found) return kn_fail_memory(err, j->ctx, what);
    for (int i = 0; i < count; i++)
        known[i] = (kn_persons_known){j->known[i].table_count, j->known[i].tables, j->quasi[i]};
    KN_TRY(kn_persons_count(found, j->ctx, j->forest, known, count, j->options->k, err));
    for (int i = 0; i < count; i++) {
        j->known[i].k = found[i].k;
        j->known[i].classes = found[i].classes;
        j->known[i].unique_persons = found[i].unique;
        j->known[i].below_persons = found[i].below;
    }
    return KN_OK;
}

/* ---- The door ---- */

static kn_status run(job *j, const char *input, kn_error *err)
{
    KN_TRY(kn_database_read_persons(&j->db, &j->forest, j->ctx, input, j->spec, false, err));
    KN_TRY(tell_tables(j, err));
    KN_TRY(tell_classes(j, err));
    KN_TRY(tell_known(j, err));
    kn_database_diagnosis *d = &j->to->diagnosis;
    return kn_diagnose_sensitive(&d->sensitive, &d->sensitive_count, &j->to->arena, j->forest, err);
}

kn_status kn_diagnose_database(kn_database_diagnosis **out, kn_context *ctx, const kn_spec *spec,
                               const kn_database_diagnose_options *options, kn_error *err)
{
    *out = NULL;
    KN_SERVE(ctx, err);
    if (!spec) return kn_fail(err, KN_USAGE, "diagnose: the spec is missing");
    KN_OPTIONS(kn_database_diagnose_options, KN_DATABASE_DIAGNOSE_OPTIONS_INIT, options, "diagnose options", err);
    KN_TRY(kn_spec_check_is_database(spec, err));
    if (!options->input && spec->input_count != 1) return kn_fail(err, KN_USAGE, "one database is needed as input");
    if (options->k < 0) return kn_fail(err, KN_USAGE, "k must be at least 1");
    if (options->max_size < 0) return kn_fail(err, KN_USAGE, "sets have at least 1 table");
    job j = {.ctx = ctx, .spec = spec, .options = options, .to = kn_alloc_zero(ctx, sizeof(report))};
    if (!j.to) return kn_fail_memory(err, ctx, what);
    kn_arena_init(&j.to->arena, ctx);
    kn_status st = run(&j, options->input ? options->input : spec->inputs[0], err);
    kn_forest_free(j.forest);
    kn_database_free(j.db);
    if (st == KN_OK)
        *out = &j.to->diagnosis;
    else
        kn_database_diagnosis_free(&j.to->diagnosis);
    return st;
}
