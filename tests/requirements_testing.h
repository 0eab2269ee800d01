/* requirements_testing.h: random small tables with persons and sensitive columns, each model once more as a twin that
 * counts row by row, and classes as the library wants to see them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef REQUIREMENTS_TESTING_H
#define REQUIREMENTS_TESTING_H

#include "testing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_builder.h"
#include "kn_requirements.h"
#include "kn_rng.h"
#include "transport.h"

enum { MOST_ROWS = 22, MOST_VALUES = 5, COLUMNS = 5, PERSON = 2, S = 3, U = 4, HEIGHT = 2 };

/* ---- Random tables: a, b quasi-identifiers, p a person, s and u sensitive ---- */

typedef struct sheet {
    int       rows, values;
    int       cell[MOST_ROWS][COLUMNS]; /* -1: missing */
    kn_table *table;
} sheet;

static const char *const names[] = {"a", "b", "p", "s", "u"};

static kn_table *read_text(kn_context *ctx, const char *text)
{
    kn_table *table = NULL;
    kn_error  err = KN_ERROR_INIT;
    assert_ok(kn_table_read_csv(&table, ctx, testing_file("requirements.csv", text, strlen(text)), NULL, &err), err);
    return table;
}

/* Numbers would change nothing, so all cells are letters and digits. */
static void read_sheet(sheet *s, kn_context *ctx)
{
    kn_builder *b = NULL;
    kn_error    err = KN_ERROR_INIT;
    kn_string   titles[COLUMNS];
    int64_t     first = 0;
    uint32_t    ids[COLUMNS][MOST_ROWS];
    for (int c = 0; c < COLUMNS; c++) titles[c] = (kn_string){names[c], 1};
    assert_ok(kn_builder_create(&b, ctx, titles, COLUMNS, 1, &err), err);
    for (int c = 0; c < COLUMNS; c++)
        for (int r = 0; r < s->rows; r++) {
            char text[16];
            int  size = sprintf(text, "%s%d", names[c], s->cell[r][c]);
            ids[c][r] = KN_ID_MISSING;
            if (s->cell[r][c] >= 0)
                ids[c][r] = kn_intern(kn_builder_interner(b, c, 0), (kn_string){text, (size_t)size});
        }
    assert_ok(kn_builder_extend(b, s->rows, 0, &first, &err), err);
    for (int c = 0; c < COLUMNS; c++) kn_builder_write(b, c, 0, ids[c], s->rows);
    assert_ok(kn_builder_finish(&s->table, b, NULL, NULL, &err), err);
}

static sheet random_sheet(kn_context *ctx, kn_rng *rng, int most_rows)
{
    sheet s = {.rows = 1 + (int)kn_rng_below(rng, (uint64_t)most_rows)};
    s.values = 2 + (int)kn_rng_below(rng, MOST_VALUES - 1);
    bool missing = kn_rng_below(rng, 3) == 0;
    bool own = kn_rng_below(rng, 2); /* a person has the same values in all rows */
    int  persons = 1 + (int)kn_rng_below(rng, (uint64_t)s.rows);
    for (int r = 0; r < s.rows; r++) {
        s.cell[r][0] = (int)kn_rng_below(rng, 4);
        s.cell[r][1] = (int)kn_rng_below(rng, 3);
        s.cell[r][PERSON] = (int)kn_rng_below(rng, (uint64_t)persons);
        for (int c = S; c <= U; c++) {
            /* uneven, so that classes differ from the table */
            s.cell[r][c] = (int)kn_rng_below(rng, 1 + kn_rng_below(rng, (uint64_t)s.values));
            if (missing && kn_rng_below(rng, 6) == 0) s.cell[r][c] = -1;
            for (int before = 0; before < r && own; before++)
                if (s.cell[before][PERSON] == s.cell[r][PERSON]) s.cell[r][c] = s.cell[before][c];
        }
        if (missing && kn_rng_below(rng, 8) == 0) s.cell[r][PERSON] = -1;
    }
    read_sheet(&s, ctx);
    return s;
}

/* s0;A;*  s1;A;*  s2;B;* ... */
static kn_hierarchy *read_hierarchy(kn_context *ctx, const sheet *s)
{
    static const char  text[] = "s0;A;*\ns1;A;*\ns2;B;*\ns3;B;*\ns4;C;*\n";
    static const char *path;
    kn_hierarchy_spec  spec = KN_HIERARCHY_SPEC_INIT;
    kn_hierarchy      *h = NULL;
    kn_error           err = KN_ERROR_INIT;
    if (!path) path = testing_file("requirements_s.csv", text, strlen(text));
    spec.path = path;
    assert_ok(kn_hierarchy_make(&h, ctx, s->table, S, &spec, false, &err), err);
    return h;
}

/* ---- The twin: classes are sets of rows, shares are counted row by row ---- */

typedef struct twin_class {
    uint32_t rows; /* bit r: row r */
    int64_t  population, unit;
} twin_class;

static int twin_value(const sheet *s, int r, int column)
{
    return s->cell[r][column] < 0 ? MOST_VALUES : s->cell[r][column];
}

/* Rows, or different persons, with a value (-1: any). */
static int64_t twin_count(const sheet *s, uint32_t rows, int column, int value, bool entity)
{
    int64_t n = 0;
    for (int r = 0; r < s->rows; r++) {
        if (!(rows >> r & 1) || (value >= 0 && twin_value(s, r, column) != value)) continue;
        bool seen = false;
        for (int before = 0; before < r && entity; before++)
            seen = seen || ((rows >> before & 1) && s->cell[before][PERSON] == s->cell[r][PERSON] &&
                            (value < 0 || twin_value(s, before, column) == value));
        n += !seen;
    }
    return n;
}

static uint32_t all_rows(const sheet *s)
{
    return (uint32_t)((UINT64_C(1) << s->rows) - 1);
}

typedef struct twin_shares {
    int64_t here[MOST_VALUES + 1], there[MOST_VALUES + 1], n, total;
    int     occurring; /* in the table */
} twin_shares;

static twin_shares twin_shares_of(const sheet *s, uint32_t rows, int column, bool entity)
{
    twin_shares t = {.n = 0};
    for (int v = 0; v <= MOST_VALUES; v++) {
        t.here[v] = twin_count(s, rows, column, v, entity);
        t.there[v] = twin_count(s, all_rows(s), column, v, entity);
        t.n += t.here[v];
        t.total += t.there[v];
        t.occurring += t.there[v] > 0;
    }
    return t;
}

static int64_t twin_distance(const twin_shares *t, kn_model_kind kind, int i, int j, int64_t *whole)
{
    int place[MOST_VALUES], values = 0;
    for (int v = 0; v < MOST_VALUES; v++) place[v] = t->there[v] > 0 ? values++ : -1;
    *whole = kind == KN_MODEL_T_ORDERED ? (values > 1 ? values - 1 : 1) : kind == KN_MODEL_T_HIERARCHICAL ? HEIGHT : 1;
    if (i == j) return 0;
    if (kind == KN_MODEL_T_EQUAL || i == MOST_VALUES || j == MOST_VALUES) return *whole;
    if (kind == KN_MODEL_T_ORDERED) return llabs((long long)place[i] - place[j]);
    return i / 2 == j / 2 ? 1 : 2;
}

static bool twin_close(const twin_shares *t, const kn_model *m)
{
    int64_t supply[TRANSPORT_MOST], demand[TRANSPORT_MOST], cost[TRANSPORT_MOST][TRANSPORT_MOST], whole = 1;
    int     of[TRANSPORT_MOST], n = 0;
    for (int v = 0; v <= MOST_VALUES; v++)
        if (t->there[v] > 0) of[n++] = v;
    for (int i = 0; i < n; i++) {
        supply[i] = t->here[of[i]] * t->total;
        demand[i] = t->there[of[i]] * t->n;
        for (int j = 0; j < n; j++) cost[i][j] = twin_distance(t, m->kind, of[i], of[j], &whole);
    }
    int64_t moved = transport(n, supply, demand, cost);
    return (kn_u128)moved * m->bound.denominator <= (kn_u128)(t->n * t->total * whole) * m->bound.numerator;
}

static bool twin_diverse(const twin_shares *t, const kn_model *m)
{
    int64_t     sorted[MOST_VALUES + 1];
    int         values = 0;
    long double entropy = 0, l = (long double)m->l.numerator / (long double)m->l.denominator;
    for (int v = 0; v <= MOST_VALUES; v++) {
        if (t->here[v] == 0) continue;
        long double p = (long double)t->here[v] / (long double)t->n;
        entropy -= p * logl(p);
        int at = values++;
        for (; at > 0 && sorted[at - 1] < t->here[v]; at--) sorted[at] = sorted[at - 1];
        sorted[at] = t->here[v];
    }
    if (m->kind == KN_MODEL_DISTINCT) return values >= l;
    if (m->kind == KN_MODEL_ENTROPY) return expl(entropy) >= l - 1e-12L;
    if (l == 1) return true;
    int64_t tail = 0;
    for (int i = (int)l - 1; i < values; i++) tail += sorted[i];
    return values > 0 && (kn_u128)sorted[0] * m->c.denominator < (kn_u128)tail * m->c.numerator;
}

static bool twin_like(const twin_shares *t, const kn_model *m)
{
    double bound = (double)m->bound.numerator / (double)m->bound.denominator;
    for (int v = 0; v <= MOST_VALUES; v++) {
        if (t->there[v] == 0) continue;
        double p = (double)t->here[v] / (double)t->n, q = (double)t->there[v] / (double)t->total;
        if (m->kind == KN_MODEL_DELTA) {
            if (t->here[v] == 0 || !(fabs(log(p / q)) < bound)) return false;
            continue;
        }
        if (t->here[v] * t->total <= t->there[v] * t->n) continue;
        if ((p - q) / q > bound + 1e-12) return false;
        if (m->kind == KN_MODEL_BETA_ENHANCED && (p - q) / q > -log(q)) return false;
    }
    return true;
}

static bool twin_holds(const sheet *s, const twin_class *c, const kn_model *m, bool entity)
{
    int64_t     n = twin_count(s, c->rows, 0, -1, entity);
    double      bound = (double)m->bound.numerator / (double)m->bound.denominator;
    int         column = m->attribute && m->attribute[0] == 'u' ? U : S;
    twin_shares t = twin_shares_of(s, c->rows, column, entity);
    if (n == 0) return !(m->kind == KN_MODEL_PRESENCE && m->low.numerator > 0 && c->population > 0);
    switch (m->kind) {
    case KN_MODEL_K: return n >= m->k;
    case KN_MODEL_MAX_RISK: return 1 / (double)n <= bound + 1e-12;
    case KN_MODEL_K_MAP: return c->population >= m->k * c->unit;
    case KN_MODEL_PRESENCE:
        return (kn_u128)n * (kn_u128)c->unit * m->bound.denominator <= (kn_u128)c->population * m->bound.numerator &&
               (kn_u128)n * (kn_u128)c->unit * m->low.denominator >= (kn_u128)c->population * m->low.numerator;
    case KN_MODEL_DISTINCT:
    case KN_MODEL_ENTROPY:
    case KN_MODEL_RECURSIVE: return twin_diverse(&t, m);
    case KN_MODEL_T_EQUAL:
    case KN_MODEL_T_ORDERED:
    case KN_MODEL_T_HIERARCHICAL: return twin_close(&t, m);
    case KN_MODEL_ALPHA_K:
        for (int v = 0; v <= MOST_VALUES; v++)
            if ((double)t.here[v] > bound * (double)n + 1e-12) return false;
        return n >= m->k;
    case KN_MODEL_BETA_BASIC:
    case KN_MODEL_BETA_ENHANCED:
    case KN_MODEL_DELTA: return twin_like(&t, m);
    default: return true;
    }
}

/* ---- Random models ---- */

static kn_ratio pick(kn_rng *rng, const char *const *texts, uint64_t count)
{
    kn_ratio r = {0, 1};
    assert_true(kn_ratio_parse(texts[kn_rng_below(rng, count)], &r));
    return r;
}

#define PICK(rng, ...)                                                                                                 \
    pick(rng, (const char *const[]){__VA_ARGS__}, sizeof(const char *const[]){__VA_ARGS__} / sizeof(const char *))

static kn_model random_model(kn_rng *rng, kn_model_kind kind)
{
    kn_model m = {.kind = kind, .l = {1, 1}, .c = {1, 1}, .bound = {1, 1}, .low = {0, 1}};
    if (kn_model_needs_attribute(kind))
        m.attribute = kn_rng_below(rng, 3) && kind != KN_MODEL_T_HIERARCHICAL ? "u" : "s";
    switch (kind) {
    case KN_MODEL_K:
    case KN_MODEL_K_MAP: m.k = 1 + (int64_t)kn_rng_below(rng, 5); break;
    case KN_MODEL_DISTINCT: m.l = PICK(rng, "1", "2", "3"); break;
    case KN_MODEL_ENTROPY: m.l = PICK(rng, "1", "1.2", "1.5", "2", "2.5", "3"); break;
    case KN_MODEL_RECURSIVE:
        m.l = PICK(rng, "1", "2", "3");
        m.c = PICK(rng, "0.5", "1", "1.5", "2", "4");
        break;
    case KN_MODEL_ALPHA_K:
        m.k = (int64_t)kn_rng_below(rng, 4);
        m.bound = PICK(rng, "0.4", "0.5", "0.6", "0.75", "1");
        break;
    case KN_MODEL_BETA_BASIC:
    case KN_MODEL_BETA_ENHANCED: m.bound = PICK(rng, "0.3", "0.5", "1", "2", "4"); break;
    case KN_MODEL_DELTA: m.bound = PICK(rng, "0.4", "0.7", "1.2", "2"); break;
    case KN_MODEL_PRESENCE:
        m.bound = PICK(rng, "0.25", "0.5", "0.7", "1");
        if (kn_rng_below(rng, 2)) m.low = PICK(rng, "0.1", "0.2");
        break;
    case KN_MODEL_MAX_RISK:
    case KN_MODEL_AVERAGE_RISK: m.bound = PICK(rng, "0.2", "0.3", "0.34", "0.5", "1"); break;
    default: m.bound = PICK(rng, "0", "0.1", "0.2", "0.3", "0.5", "0.8", "1"); break;
    }
    return m;
}

/* ---- A class as the library sees it ---- */

typedef struct shown_class {
    uint32_t      codes[2][MOST_VALUES + 1];
    int64_t       counts[2][MOST_VALUES + 1];
    kn_histogram  histograms[2];
    kn_class_view view;
} shown_class;

static void show(shown_class *out, const sheet *s, const kn_requirements *r, const twin_class *c)
{
    bool entity = r->entity >= 0;
    out->view = (kn_class_view){__builtin_popcount(c->rows), twin_count(s, c->rows, 0, -1, entity), c->population,
                                c->unit, out->histograms};
    for (int i = 0; i < r->sensitive_count; i++) {
        int          column = r->sensitive[i];
        kn_histogram h = {out->codes[i], out->counts[i], 0, 0};
        for (uint32_t code = 0; code <= kn_table_distinct(s->table, column); code++) {
            for (int row = 0; row < s->rows; row++) {
                if (kn_table_code(s->table, column, row) != code) continue;
                int64_t n = twin_count(s, c->rows, column, twin_value(s, row, column), entity);
                if (n == 0) break;
                out->codes[i][h.values] = code;
                out->counts[i][h.values++] = n;
                h.rows += n;
                break;
            }
        }
        out->histograms[i] = h;
    }
}

/* The requirements for a sheet, or NULL if the twin agrees that they must be refused. */
static kn_requirements *make(kn_context *ctx, const sheet *s, const kn_model *models, int count, bool entity,
                             kn_hierarchy *hierarchy)
{
    const kn_hierarchy     *hierarchies[COLUMNS] = {[S] = hierarchy};
    kn_requirements_options o = {models, count, entity ? PERSON : -1, hierarchies, false};
    kn_requirements        *r = NULL;
    kn_error                err = KN_ERROR_INIT;
    kn_status               st = kn_requirements_make(&r, ctx, s->table, &o, &err);
    bool                    refused = false;
    for (int i = 0; i < count; i++) {
        if (!models[i].attribute) continue;
        twin_shares t = twin_shares_of(s, 0, models[i].attribute[0] == 'u' ? U : S, entity);
        bool        diversity = models[i].kind >= KN_MODEL_DISTINCT && models[i].kind <= KN_MODEL_RECURSIVE;
        refused = refused || t.occurring < 2 ||
                  (diversity && models[i].l.numerator > (uint64_t)t.occurring * models[i].l.denominator);
    }
    assert_int_equal(st, refused ? KN_INPUT : KN_OK);
    return r;
}

static void free_sheet(sheet *s, kn_hierarchy *h)
{
    kn_hierarchy_free(h);
    kn_table_free(s->table);
}

#endif
