/* database/metrics.c: what was lost: LM and DM of a database (Definitions 7 and 8; docs/errata.md M10).
 *
 * LM over the quasi-identifiers' cells of all rows of the original that belong to persons, a deleted one 1, and what these
 * rows weigh: released cells are counted text by text, the rest is deleted. DM charges each person the size of its class, a dropped one all persons.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_verify_database.h"

enum { MOST_WEIGHT = 1000 }; /* of a row, where nobody said it */

/* What the released cells of a column lost together. */
static kn_status column_loss(kn_vdb *v, const kn_vdb_table *t, const kn_vdb_column *q, double *out, kn_error *err)
{
    uint32_t count = kn_vsheet_distinct(t->release.table, q->release);
    int64_t *cells = kn_alloc_array_zero(v->ctx, (size_t)count + 1, sizeof *cells);
    if (!cells) return kn_vdb_no_memory(v, err);
    for (int64_t row = 0; row < t->release.rows; row++) cells[kn_vsheet_code(t->release.table, q->release, row)]++;
    long double lost = 0;
    for (uint32_t c = 0; c <= count; c++)
        if (cells[c] > 0) lost += (long double)cells[c] * (long double)q->cells[c].loss;
    *out = (double)lost;
    kn_free(cells);
    return KN_OK;
}

/* What the spec says that a row of a table counts beyond its quasi-identifiers; -1: nothing. */
static double said_weight(const kn_vdb *v, int table)
{
    for (int i = 0; i < v->spec->table_count; i++)
        if (v->spec->tables[i].has_weight && strcmp(v->spec->tables[i].name, v->tables[table].name) == 0)
            return (double)v->spec->tables[i].weight;
    return -1;
}

/* Rows of a table that weigh although nobody said so: it has no quasi-identifiers, and is not that of persons. */
static int64_t weighing_rows(const kn_vdb *v, int table)
{
    const kn_vdb_table *t = &v->tables[table];
    return t->quasi_count + t->shown_quasi > 0 || table == v->person || said_weight(v, table) >= 0 ? 0
                                                                                                   : t->original.rows;
}

/* What the spec says; else the columns of rows that weigh, as often as the largest table of such rows has theirs. */
static double weight_of(const kn_vdb *v, int table)
{
    const kn_vdb_table *t = &v->tables[table];
    double              said = said_weight(v, table);
    int64_t             rows = weighing_rows(v, table), most = rows;
    if (said >= 0) return said;
    if (t->quasi_count + t->shown_quasi > 0 || table == v->person) return 0;
    for (int i = 0; i < v->table_count; i++)
        if (weighing_rows(v, i) > most) most = weighing_rows(v, i);
    return rows == 0 ? t->columns : fmin(MOST_WEIGHT, floor((double)most / (double)rows) * t->columns);
}

kn_status kn_vdb_metrics(kn_vdb *v, kn_error *err)
{
    kn_database_verify_report *r = v->report;
    double                     all_lost = 0, all_cells = 0;
    for (int i = 0; i < v->table_count; i++) {
        const kn_vdb_table *t = &v->tables[i];
        kn_verified_table  *to = &v->verified[i];
        double              weight = weight_of(v, i), lost = 0;
        double              cells = (double)t->original.owned * (t->quasi_count + t->shown_quasi + weight);
        int64_t             deleted = t->original.owned - t->release.rows; /* negative: rows were invented */
        to->deleted = deleted > 0 ? deleted : 0;
        for (int q = 0; q < t->quasi_count; q++) {
            double column = 0;
            KN_TRY(column_loss(v, t, &t->quasi[q], &column, err));
            lost += deleted < 0 ? NAN : column + (double)deleted;
        }
        if (t->shown_quasi + weight > 0) lost += deleted < 0 ? NAN : (double)deleted * (t->shown_quasi + weight);
        to->lm = cells > 0 ? lost / cells : 0;
        all_lost += lost;
        all_cells += cells;
    }
    int64_t persons = v->tables[v->person].original.rows;
    r->dropped = persons - r->persons;
    r->lm = all_cells > 0 ? all_lost / all_cells : 0;
    if (v->spec->anatomy) return KN_OK; /* nobody looks like others */
    r->dm = (double)r->dropped * (double)persons;
    for (uint32_t c = 0; c < v->classes; c++) r->dm += (double)v->sizes[c] * (double)v->sizes[c];
    return KN_OK;
}
