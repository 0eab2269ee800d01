/* database/models.c: the promises: k of every class of persons; diversity of what their rows hide (Definition 10,
 * docs/errata.md M13). Other models of what they hide are in compare.c.
 *
 * Diversity is promised of the values that one node of a class's tree has over the members. Where a member has c rows
 * that show the same (equal quasi-identifiers in everything below and above them), neither an attacker nor the
 * verifier can tell which of them is which node: it sees c x n values of n members, m_x of them x. Some way to assign
 * each member's rows to c nodes must keep the promise in every node. Rows are edges between persons and values, and
 * the edges of a bipartite graph can be coloured with c colours so that each colour gets m_x / c of value x, rounded
 * up or down (de Werra 1971), one row of each person. So:
 *
 *   distinct   the nodes together show the sum of min(m_x, c) pairs of node and value: at least c l. Exact: the rare values can be assigned evenly, too.
 *   entropy    the mean entropy of the nodes is largest if each value is assigned evenly: that must reach log l.
 *   recursive  holds for the c x n values (it survives unions).
 *
 * For entropy and recursive two more conditions are checked, since a mean says little about the worst node. Both only
 * improve if rows move from a common value to a rarer one.
 *
 *   few        some node has no more values than the mean number of them, rounded down: n rows spread evenly over that many must keep the promise;
 *   common     some node has at least m_x / c rows, rounded up, of the most common value x: these, and the others spread evenly over the other values, must keep it.
 *
 * With c = 1 these are the models themselves. No release that keeps the promise node by node is refused; up to 4
 * persons with 3 such rows each and 4 values no other passes (checked exhaustively). An attacker may ask whether a
 * person has a value in any of the c rows: the share of such persons is reported as largest_share.
 *
 * Cost: sorting the rows of each table with a promise.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <math.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_sort.h"
#include "kn_verify_database.h"

#define TOLERANCE 1e-12

/* ---- Sizes ---- */

static int64_t first_of_class(const kn_vdb *v, uint32_t class_number)
{
    int64_t p = 0;
    while (v->class_of[p] != class_number) p++;
    return p;
}

bool kn_vdb_size_holds(kn_verified_model *m, int64_t persons, bool *shown)
{
    double reached = 0;
    bool   holds = kn_vmodel_holds(&m->model, persons, NULL, NULL, &reached);
    if (m->model.kind != KN_MODEL_K && reached > m->reached) m->reached = reached;
    if (holds) return true;
    m->holds = false;
    *shown = m->classes++ < KN_VDB_SHOWN;
    return false;
}

static void check_sizes(kn_vdb *v, kn_verified_model *m)
{
    bool shown;
    for (uint32_t c = 0; c < v->classes; c++) {
        if (kn_vdb_size_holds(m, v->sizes[c], &shown) || !shown) continue;
        kn_vproblem(v->notes,
                    "table \"%s\", row %" PRId64 ": %" PRId64 " person%s the tree of this one; %s does not hold",
                    v->tables[v->person].name, first_of_class(v, c) + 1, v->sizes[c],
                    v->sizes[c] == 1 ? " shows" : "s show", kn_model_name(m->model.kind));
    }
}

/* ---- Which column ---- */

/* "table.column", a column that only one table has, or none: the only sensitive one. */
static bool is_asked(const kn_vdb_table *t, const kn_vdb_column *c, const char *asked)
{
    size_t size = strlen(t->name);
    if (c->attribute->role != KN_ROLE_SENSITIVE) return false;
    if (!asked || strcmp(asked, c->attribute->name) == 0) return true;
    return strncmp(asked, t->name, size) == 0 && asked[size] == '.' &&
           strcmp(asked + size + 1, c->attribute->name) == 0;
}

kn_status kn_vdb_find_sensitive(const kn_vdb *v, const kn_model *m, int *table, const kn_vdb_column **column,
                                kn_error *err)
{
    const char *asked = m->attribute;
    *column = NULL;
    for (int t = 0; t < v->table_count; t++) {
        const kn_vdb_table  *from = &v->tables[t];
        const kn_vdb_column *columns = v->spec->anatomy ? from->hidden : from->copies;
        int                  count = v->spec->anatomy ? from->hidden_count : from->copy_count;
        for (int c = 0; c < count; c++) {
            if (!is_asked(from, &columns[c], asked)) continue;
            if (*column)
                return kn_fail(err, KN_USAGE,
                               "%s: there are several sensitive columns%s%s%s: say which as table.column",
                               kn_model_name(m->kind), asked ? " \"" : "", asked ? asked : "", asked ? "\"" : "");
            *table = t;
            *column = &columns[c];
        }
    }
    if (!*column)
        return kn_fail(err, KN_USAGE, "%s: there is no sensitive column%s%s%s", kn_model_name(m->kind),
                       asked ? " \"" : "", asked ? asked : "", asked ? "\"" : "");
    return KN_OK;
}

/* ---- One position ---- */

/* Pairs of a node and one of its values, if each value is assigned to as many nodes as possible. */
static int64_t dealt_pairs(const kn_vdb_position *p, int64_t each)
{
    int64_t pairs = 0;
    for (uint32_t x = 0; x < p->values; x++) pairs += p->counts[x] < each ? p->counts[x] : each;
    return pairs;
}

static long double plogp(int64_t count)
{
    return count > 1 ? (long double)count * log2l((long double)count) : 0;
}

static double dealt_entropy(const kn_vdb_position *p, int64_t each)
{
    long double sum = 0;
    for (uint32_t x = 0; x < p->values; x++) {
        int64_t low = p->counts[x] / each, higher = p->counts[x] % each;
        sum += (long double)higher * plogp(low + 1) + (long double)(each - higher) * plogp(low);
    }
    return (double)exp2l(log2l((long double)p->persons) - sum / (long double)p->rows);
}

static double ratio(kn_ratio r)
{
    return (double)((long double)r.numerator / (long double)r.denominator);
}

/* A node's rows: `first` of the most frequent value (0: none is set apart), and the others spread evenly over further
 * values: `low` of each, one more of `higher` of them. */
typedef struct node_rows {
    int64_t rows, first, values, low, higher;
} node_rows;

static node_rows even_rows(int64_t rows, int64_t first, int64_t values)
{
    node_rows n = {rows, first, values < rows - first ? values : rows - first, 0, 0};
    if (n.values == 0) return n;
    n.low = (rows - first) / n.values;
    n.higher = (rows - first) % n.values;
    return n;
}

static double entropy_of(const node_rows *n)
{
    long double sum = plogp(n->first) + (long double)n->higher * plogp(n->low + 1) +
                      (long double)(n->values - n->higher) * plogp(n->low);
    return (double)exp2l(log2l((long double)n->rows) - sum / (long double)n->rows);
}

/* The largest count and the sum of all from the l-th on, which is 0 if there are fewer. */
static void recursive_of(const node_rows *n, uint64_t l, int64_t *largest, int64_t *rest)
{
    uint64_t set_apart = n->first > 0, taken = l - 1 - (l > 1 && set_apart);
    *largest = set_apart ? n->first : n->low + (n->higher > 0);
    *rest = 0;
    if (l > (uint64_t)n->values + set_apart) return;
    int64_t high = taken < (uint64_t)n->higher ? (int64_t)taken : n->higher;
    *rest = n->rows - (l > 1 ? n->first : 0) - high * (n->low + 1) - ((int64_t)taken - high) * n->low;
}

/* May a node be like this? *reached becomes what it reaches, if that is worse. */
static bool node_holds(const kn_model *m, const node_rows *n, double *reached)
{
    if (m->kind == KN_MODEL_ENTROPY) {
        double own = entropy_of(n);
        if (own < *reached) *reached = own;
        return own >= ratio(m->l) * (1 - TOLERANCE);
    }
    uint64_t l = m->l.numerator / m->l.denominator;
    int64_t  largest, rest;
    if (l <= 1) return true;
    recursive_of(n, l, &largest, &rest);
    double own = rest > 0 ? (double)largest / (double)rest : INFINITY;
    if (own > *reached) *reached = own;
    return rest > 0 && kn_v_compare((kn_u128)largest, (kn_u128)rest, m->c.numerator, m->c.denominator) < 0;
}

/* The worst nodes: one with few values, and one with many rows of the most common one. */
static bool worst_nodes_hold(const kn_model *m, const kn_vdb_position *p, int64_t each, double *reached)
{
    int64_t most = 0;
    for (uint32_t x = 0; x < p->values; x++)
        if (p->counts[x] > most) most = p->counts[x];
    node_rows few = even_rows(p->persons, 0, dealt_pairs(p, each) / each);
    node_rows common = even_rows(p->persons, (most + each - 1) / each, (int64_t)p->values - 1);
    bool      holds = node_holds(m, &few, reached);
    if (common.low + (common.higher > 0) > common.first) return holds; /* it need not be the most common one there */
    return node_holds(m, &common, reached) && holds;
}

static bool diverse(const kn_model *m, const kn_vdb_position *p, double *reached)
{
    int64_t       each = p->rows / p->persons;
    kn_vhistogram h = {p->codes, p->counts, p->values, p->rows};
    if (each * p->persons != p->rows) return false; /* cannot be: members have equal trees */
    if (m->kind > KN_MODEL_RECURSIVE) return kn_vdb_compare(m, p, reached);
    if (each == 1) return kn_vmodel_holds(m, p->persons, &h, NULL, reached);
    if (m->kind == KN_MODEL_DISTINCT) {
        *reached = (double)dealt_pairs(p, each) / (double)each;
        return *reached >= ratio(m->l) * (1 - TOLERANCE);
    }
    bool holds;
    if (m->kind == KN_MODEL_RECURSIVE) {
        holds = kn_vmodel_holds(m, p->persons, &h, NULL, reached);
    } else {
        *reached = dealt_entropy(p, each);
        holds = *reached >= ratio(m->l) * (1 - TOLERANCE);
    }
    return worst_nodes_hold(m, p, each, reached) && holds;
}

bool kn_vdb_position_holds(kn_vdb *v, kn_verified_model *m, const kn_vdb_position *p, bool first, bool *shown)
{
    bool least =
        m->model.kind == KN_MODEL_DISTINCT || m->model.kind == KN_MODEL_ENTROPY; /* the smallest is the worst */
    double reached = 0, share = (double)p->most / (double)p->persons;
    bool   holds = diverse(&m->model, p, &reached);
    if (first || (least ? reached < m->reached : reached > m->reached)) m->reached = reached;
    if (share > v->report->largest_share) v->report->largest_share = share;
    if (holds) return true;
    m->holds = false;
    *shown = m->classes++ < KN_VDB_SHOWN;
    return false;
}

/* ---- One promise ---- */

static int by_person(const void *arg, uint64_t a, uint64_t b)
{
    const kn_vdb_table *t = arg;
    uint32_t            x = kn_vdb_person_of(&t->release, (uint32_t)a), y = kn_vdb_person_of(&t->release, (uint32_t)b);
    if (x != y) return x < y ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* Reads the records of one position, from `at` on; returns where it ends. */
static int64_t take_position(const kn_vdb *v, const kn_vdb_table *t, const kn_sort_record *list, int64_t at,
                             kn_vdb_position *p)
{
    uint64_t where = list[at].key >> 32;
    p->persons = v->sizes[v->class_of[kn_vdb_person_of(&t->release, (uint32_t)list[at].id)]];
    p->rows = p->most = 0;
    p->values = 0;
    while (at < t->release.rows && list[at].key >> 32 == where) {
        uint64_t key = list[at].key;
        int64_t  people = 0, begin = at;
        for (; at < t->release.rows && list[at].key == key; at++)
            people += at == begin || kn_vdb_person_of(&t->release, (uint32_t)list[at].id) !=
                                         kn_vdb_person_of(&t->release, (uint32_t)list[at - 1].id);
        p->codes[p->values] = (uint32_t)key;
        p->counts[p->values++] = at - begin;
        p->rows += at - begin;
        if (people > p->most) p->most = people;
    }
    return at;
}

static void judge(kn_vdb *v, const kn_vdb_table *t, const kn_vdb_column *column, const kn_sort_record *list,
                  kn_vdb_position *p, kn_verified_model *m)
{
    bool shown;
    for (int64_t at = 0, begin = 0; at < t->release.rows; begin = at) {
        at = take_position(v, t, list, at, p);
        if (kn_vdb_position_holds(v, m, p, begin == 0, &shown) || !shown) continue;
        int64_t row = (int64_t)list[begin].id;
        for (int64_t i = begin; i < at; i++)
            if ((int64_t)list[i].id < row) row = (int64_t)list[i].id;
        kn_vproblem(v->notes,
                    "table \"%s\", row %" PRId64 ", column \"%s\": %s%s%s does not hold for the rows like this one",
                    t->name, row + 1, column->attribute->name, KN_VDB_MODEL(m->model.kind));
    }
}

/* A value that the original does not have is still a separate one. */
static uint32_t value_of(const kn_vdb_column *column, const kn_vdb_reference *reference, uint32_t code)
{
    uint32_t value = column->of_release[code];
    return value == KN_V_NONE ? column->domain.count + code : kn_vdb_reference_value(reference, value);
}

static kn_status check_positions(kn_vdb *v, kn_vdb_table *t, const kn_vdb_column *column,
                                 const kn_vdb_reference *reference, kn_verified_model *m, kn_error *err)
{
    size_t   rows = (size_t)t->release.rows, values = (size_t)kn_vsheet_distinct(t->release.table, column->release);
    kn_arena room = {.ctx = v->ctx};
    kn_vdb_position p = {.codes = kn_arena_array(&room, values + 2, sizeof *p.codes),
                         .counts = kn_arena_array(&room, values + 2, sizeof *p.counts),
                         .reference = &reference->r,
                         .some = kn_arena_array(&room, values + 2, sizeof *p.some),
                         .dealt = kn_arena_array(&room, values + 2, sizeof *p.dealt)};
    kn_sort_record *list = kn_arena_array(&room, rows + 1, sizeof *list);
    kn_status       status = room.failed ? kn_vdb_no_memory(v, err) : KN_OK;
    for (size_t i = 0; status == KN_OK && i < rows; i++) {
        uint32_t code = kn_vsheet_code(t->release.table, column->release, (int64_t)i);
        list[i] = (kn_sort_record){(uint64_t)t->position[i] << 32 | value_of(column, reference, code), i};
    }
    if (status == KN_OK) status = kn_sort_records(v->ctx, list, rows, by_person, t, err);
    if (status == KN_OK) judge(v, t, column, list, &p, m);
    kn_arena_free(&room);
    return status;
}

static kn_status check_values(kn_vdb *v, kn_verified_model *m, kn_error *err)
{
    int                  number = 0;
    const kn_vdb_column *column;
    kn_vdb_reference     reference;
    KN_TRY(kn_vdb_find_sensitive(v, &m->model, &number, &column, err));
    KN_TRY(kn_vdb_positions(v, number, err));
    kn_vdb_table *t = &v->tables[number];
    kn_status     status = kn_vdb_reference_make(&reference, v, t, column, &m->model, err);
    if (status == KN_OK) status = check_positions(v, t, column, &reference, m, err);
    if (t->release.rows == 0) m->reached = NAN; /* nothing is left that it is about */
    kn_vdb_reference_free(&reference);
    return status;
}

kn_status kn_vdb_models(kn_vdb *v, kn_error *err)
{
    for (int i = 0; i < v->spec->model_count; i++) {
        kn_verified_model *m = &v->notes->models[i];
        m->holds = true;
        m->reached = m->model.kind == KN_MODEL_K ? (double)v->report->k : 0;
        switch (m->model.kind) {
        case KN_MODEL_K:
        case KN_MODEL_MAX_RISK:
            if (v->spec->anatomy) KN_TRY(kn_vdb_anatomy_sizes(v, m, err));
            if (!v->spec->anatomy) check_sizes(v, m);
            break;
        case KN_MODEL_PRESENCE: KN_TRY(kn_vdb_presence(v, m, err)); break;
        case KN_MODEL_K_MAP:
        case KN_MODEL_AVERAGE_RISK:
        case KN_MODEL_KINDS:
            return kn_fail(err, KN_USAGE, "%s cannot be promised of a database", kn_model_name(m->model.kind));
        default: KN_TRY(v->spec->anatomy ? kn_vdb_anatomy_values(v, m, err) : check_values(v, m, err));
        }
    }
    return KN_OK;
}
