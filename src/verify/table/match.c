/* table/match.c: without a row map: can every released row be assigned its own original?
 *
 * A released row can only come from an original with equal sensitive, kept and weight cells, so the question splits
 * into parts by these. In each part originals with equal values are one node with a multiplicity, and so are equal
 * released rows. If every original has at most one possible image (full-domain releases) counting decides; otherwise
 * a maximum flow does (flow.c). Nothing is assumed about the release: cells may overlap, and a value may have many
 * images.
 *
 * A pseudonym is one more cell to compare if its key can be read, and does not matter if identifiers and pseudonyms
 * are all different; otherwise the answer is "undecided", as it is if the work limit ends the search.
 *
 * Cost: groupings of both files, one search per distinct original (cover.c), the flow.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_memory.h"
#include "kn_sort.h"
#include "kn_verify_flow.h"

#define WHAT "verifying"

enum { KEY_BYTES = 32, PSEUDONYM_BYTES = 16 };
#define WORK_LIMIT INT64_C(10000000000) /* about a minute, or a few */

typedef struct matching {
    kn_verifier    *v;
    int64_t         rows;      /* originals, then released ones                                             */
    uint32_t       *part;      /* per row: equal where the copied cells are; KN_V_NONE: takes no part        */
    kn_vgroups      originals; /* by part and values of the quasi-identifiers                               */
    kn_vgroups      released;  /* by part and class                                                         */
    kn_sort_record *by_part;   /* originals: key part, id group                                             */
    kn_sort_record *wanted;    /* released: key part and class, id group                                    */
    kn_vcover       cover;
    /* the current part */
    size_t    first, last; /* of `wanted` */
    uint32_t *edge_released, *edge_original;
    size_t    edges, edge_capacity, other_capacity;
    uint32_t  original;
    uint32_t  set; /* its text in the column of sets */
    bool      memory;
    int64_t   work, work_limit;
    /* what was found */
    int64_t missing, missing_row;
    bool    undecided;
} matching;

/* ---- Pseudonyms ---- */

/* The key is the SHA-256 of its file. false: it cannot be read. */
static bool read_key(const char *path, unsigned char key[KEY_BYTES])
{
    unsigned char            buffer[4096];
    crypto_hash_sha256_state state;
    FILE                    *file = fopen(path, "rb");
    size_t                   got, all = 0;
    if (!file) return false;
    crypto_hash_sha256_init(&state);
    for (; (got = fread(buffer, 1, sizeof buffer, file)) > 0; all += got)
        crypto_hash_sha256_update(&state, buffer, got);
    bool ok = !ferror(file) && all >= KEY_BYTES;
    fclose(file);
    crypto_hash_sha256_final(&state, key);
    sodium_memzero(buffer, sizeof buffer);
    return ok;
}

/* The value of each released pseudonym, by the key. */
static kn_status undo_pseudonyms(matching *m, kn_vcopy *c, const unsigned char key[KEY_BYTES], kn_error *err)
{
    kn_texts texts;
    bool     ok = true;
    kn_texts_init(&texts, m->v->ctx);
    for (uint32_t t = 0; ok && t < c->release->count; t++) {
        ok = kn_texts_add(&texts, c->release->texts[t], false) == t;
        if (c->of_release[t] != KN_V_MISSING) c->of_release[t] = KN_V_NONE;
    }
    for (uint32_t value = 0; ok && value < c->domain.count; value++) {
        unsigned char                mac[crypto_auth_hmacsha256_BYTES];
        char                         hex[2 * PSEUDONYM_BYTES + 1];
        crypto_auth_hmacsha256_state state;
        crypto_auth_hmacsha256_init(&state, key, KEY_BYTES);
        crypto_auth_hmacsha256_update(&state, (const unsigned char *)c->domain.spelling[value].data,
                                      c->domain.spelling[value].size);
        crypto_auth_hmacsha256_final(&state, mac);
        sodium_bin2hex(hex, sizeof hex, mac, PSEUDONYM_BYTES);
        uint32_t text = kn_texts_find(&texts, (kn_string){hex, 2 * PSEUDONYM_BYTES});
        if (text != KN_V_NONE) c->of_release[text] = value;
    }
    kn_texts_free(&texts);
    return ok ? KN_OK : kn_fail_memory(err, m->v->ctx, WHAT);
}

/* Can this pseudonym be compared? Otherwise it either does not matter or leaves the answer open. */
static kn_status use_pseudonym(matching *m, kn_vcopy *c, bool *compare, kn_error *err)
{
    unsigned char key[KEY_BYTES];
    *compare = read_key(kn_memory_path(m->v->ctx, c->attribute->pseudonym_key_file), key);
    kn_status st = *compare ? undo_pseudonyms(m, c, key, err) : KN_OK;
    sodium_memzero(key, sizeof key);
    if (*compare || st != KN_OK) return st;
    bool different = c->original->count == m->v->original->rows && c->release->count == m->v->release->rows;
    if (different) return KN_OK; /* different in every row, in both files    */
    m->undecided = true;
    kn_vopen(m->v->notes, "column \"%s\": whether the pseudonyms fit cannot be decided without the row map or the key",
             c->attribute->name);
    return KN_OK;
}

/* ---- Parts ---- */

/* Refines the parts by one copied column. */
static kn_status refine_parts(matching *m, const kn_vcopy *c, uint32_t *column, kn_error *err)
{
    kn_verifier    *v = m->v;
    int64_t         n = v->original->rows;
    const uint32_t *of_release = c->exact ? c->exact : c->of_release;
    for (int64_t row = 0; row < n; row++) {
        uint32_t text = kn_vcode(c->original, row);
        column[row] = c->exact ? text : c->domain.of_original[text];
    }
    for (int64_t row = 0; row < v->release->rows; row++) column[n + row] = of_release[kn_vcode(c->release, row)];
    kn_vkey    keys[2] = {{.direct = m->part}, {.direct = column}};
    kn_vgroups g = {0};
    kn_status  st = kn_vgroup(&g, v->ctx, m->rows, NULL, keys, 2, err);
    if (st == KN_OK) {
        kn_free(m->part);
        m->part = g.of_row;
        g.of_row = NULL;
    }
    kn_vgroups_free(&g);
    return st;
}

static kn_status make_parts(matching *m, kn_error *err)
{
    kn_verifier *v = m->v;
    m->rows = v->original->rows + v->release->rows;
    m->part = kn_alloc_array_zero(v->ctx, (size_t)m->rows + 1, sizeof *m->part);
    uint32_t *column = kn_alloc_array(v->ctx, (size_t)m->rows + 1, sizeof *column);
    kn_status st = m->part && column ? KN_OK : kn_fail_memory(err, m->v->ctx, WHAT);
    for (int64_t row = 0; st == KN_OK && v->dropped && row < v->original->rows; row++)
        if (v->dropped[row]) m->part[row] = KN_V_NONE;
    for (int64_t row = 0; st == KN_OK && row < v->release->rows; row++)
        if (v->starred[row]) m->part[v->original->rows + row] = KN_V_NONE;
    for (int i = 0; st == KN_OK && i < v->copy_count; i++) {
        bool compare = true;
        if (v->copies[i].pseudonym) st = use_pseudonym(m, &v->copies[i], &compare, err);
        if (st == KN_OK && compare) st = refine_parts(m, &v->copies[i], column, err);
    }
    kn_free(column);
    return st;
}

/* A released row that takes no part has cells that no original has. */
static void miss_rows(matching *m)
{
    kn_verifier *v = m->v;
    for (int64_t row = 0; row < v->release->rows; row++) {
        if (v->starred[row] || m->part[v->original->rows + row] != KN_V_NONE) continue;
        if (m->missing == 0) m->missing_row = row;
        m->missing += kn_vcount(v->release, row);
    }
}

static kn_status group_both(matching *m, kn_error *err)
{
    kn_verifier *v = m->v;
    kn_vkey     *keys = kn_alloc_array_zero(v->ctx, (size_t)v->quasi_count + 3, sizeof *keys);
    int          sets = v->items != NULL;
    if (!keys) return kn_fail_memory(err, m->v->ctx, WHAT);
    keys[0].direct = m->part;
    for (int i = 0; i < v->quasi_count; i++)
        keys[i + 1] = (kn_vkey){.column = v->quasi[i].original, .translate = v->quasi[i].domain.of_original};
    if (sets) keys[v->quasi_count + 1].column = v->items->original;
    kn_status st =
        kn_vgroup(&m->originals, v->ctx, v->original->rows, v->original->counts, keys, v->quasi_count + 1 + sets, err);
    keys[0].direct = m->part + v->original->rows;
    keys[1] = (kn_vkey){.direct = v->classes.of_row};
    keys[2] = (kn_vkey){.column = sets ? v->items->release : NULL};
    if (st == KN_OK) st = kn_vgroup(&m->released, v->ctx, v->release->rows, v->release->counts, keys, 2 + sets, err);
    kn_free(keys);
    return st;
}

static kn_status sort_both(matching *m, kn_error *err)
{
    kn_verifier *v = m->v;
    m->by_part = kn_arena_array(&m->cover.room, (size_t)m->originals.count + 1, sizeof *m->by_part);
    m->wanted = kn_arena_array(&m->cover.room, (size_t)m->released.count + 1, sizeof *m->wanted);
    if (m->cover.room.failed) return kn_fail_memory(err, m->v->ctx, WHAT);
    for (uint32_t g = 0; g < m->originals.count; g++)
        m->by_part[g] = (kn_sort_record){m->part[m->originals.first[g]], g};
    for (uint32_t g = 0; g < m->released.count; g++) {
        int64_t row = m->released.first[g];
        m->wanted[g] = (kn_sort_record){(uint64_t)m->part[v->original->rows + row] << 32 | v->classes.of_row[row], g};
    }
    KN_TRY(kn_sort_records(v->ctx, m->by_part, m->originals.count, NULL, NULL, err));
    return kn_sort_records(v->ctx, m->wanted, m->released.count, NULL, NULL, err);
}

/* ---- One part ---- */

/* An edge from the current original to the released group at `low`. */
static bool put_edge(matching *m, size_t low)
{
    m->memory = !KN_GROW(m->v->ctx, &m->edge_released, &m->edge_capacity, m->edges + 1) ||
                !KN_GROW(m->v->ctx, &m->edge_original, &m->other_capacity, m->edges + 1);
    if (m->memory) return false;
    m->edge_released[m->edges] = (uint32_t)(low - m->first);
    m->edge_original[m->edges++] = m->original;
    return true;
}

/* A class that covers the current original: an edge, if the part has rows of it; of rows with sets one for each that stands for the
 * original's. */
static bool add_edge(void *arg, uint32_t class_number)
{
    matching        *m = arg;
    const kn_vitems *items = m->v->items;
    uint64_t         key = m->wanted[m->first].key >> 32 << 32 | class_number;
    size_t           low = m->first + kn_vsorted_find(m->wanted + m->first, m->last - m->first, key);
    if (++m->work > m->work_limit) return false;
    if (!items) return low == m->last || (uint32_t)m->wanted[low].key != class_number || put_edge(m, low);
    for (; low < m->last && (uint32_t)m->wanted[low].key == class_number; low++) {
        uint32_t text = kn_vcode(items->release, m->released.first[m->wanted[low].id]);
        if (++m->work > m->work_limit) return false;
        if (kn_verify_items_stand(items, m->set, text) && !put_edge(m, low)) return false;
    }
    return true;
}

/* The edges of a part's originals; *single: none has more than one. */
static kn_status find_edges(matching *m, size_t begin, size_t end, uint32_t *values, bool *single, kn_error *err)
{
    kn_verifier *v = m->v;
    *single = true;
    m->edges = 0;
    for (size_t i = begin; i < end; i++) {
        int64_t row = m->originals.first[m->by_part[i].id];
        size_t  before = m->edges;
        for (int q = 0; q < v->quasi_count; q++)
            values[q] = v->quasi[q].domain.of_original[kn_vcode(v->quasi[q].original, row)];
        m->original = (uint32_t)(i - begin);
        if (v->items) m->set = kn_vcode(v->items->original, row);
        m->cover.work = 0;
        bool all = kn_vcover_each(&m->cover, values, add_edge, m);
        m->work += m->cover.work;
        if (m->memory) return kn_fail_memory(err, m->v->ctx, WHAT);
        if (!all || m->work > m->work_limit) {
            m->undecided = true;
            return KN_OK;
        }
        if (m->edges > before + 1) *single = false;
    }
    return KN_OK;
}

static void miss_tuples(matching *m, const int64_t *wanted)
{
    for (size_t i = m->first; i < m->last; i++) {
        int64_t here = wanted[i - m->first], row = m->released.first[m->wanted[i].id];
        if (here <= 0) continue;
        if (m->missing == 0 || row < m->missing_row) m->missing_row = row;
        m->missing += here;
    }
}

/* Every original has at most one image: each tuple gets all that map to it. */
static void count_edges(matching *m, int64_t *wanted, const int64_t *left)
{
    for (size_t e = 0; e < m->edges; e++) wanted[m->edge_released[e]] -= left[m->edge_original[e]];
    miss_tuples(m, wanted);
}

static kn_status flow_edges(matching *m, int64_t *wanted, int64_t *left, size_t originals, kn_error *err)
{
    kn_vflow f = {.ctx = m->v->ctx,
                  .released = (uint32_t)(m->last - m->first),
                  .originals = (uint32_t)originals,
                  .wanted = wanted,
                  .left = left,
                  .edges = m->edges,
                  .edge_released = m->edge_released,
                  .edge_original = m->edge_original,
                  .work = m->work,
                  .work_limit = m->work_limit};
    int64_t  missing = 0;
    bool     decided = true;
    KN_TRY(kn_vflow_solve(&f, &missing, &decided, err));
    m->work = f.work;
    if (decided)
        miss_tuples(m, wanted);
    else
        m->undecided = true;
    return KN_OK;
}

static kn_status match_part(matching *m, size_t begin, size_t end, uint32_t *values, kn_error *err)
{
    bool     single = true;
    size_t   originals = end - begin;
    int64_t *wanted = kn_alloc_array(m->v->ctx, m->last - m->first + 1, sizeof *wanted);
    int64_t *left = kn_alloc_array(m->v->ctx, originals + 1, sizeof *left);
    bool     before = m->undecided;
    m->undecided = false;
    kn_status st =
        wanted && left ? find_edges(m, begin, end, values, &single, err) : kn_fail_memory(err, m->v->ctx, WHAT);
    for (size_t i = m->first; st == KN_OK && i < m->last; i++) wanted[i - m->first] = m->released.rows[m->wanted[i].id];
    for (size_t i = begin; st == KN_OK && i < end; i++) left[i - begin] = m->originals.rows[m->by_part[i].id];
    if (st == KN_OK && !m->undecided) {
        if (single)
            count_edges(m, wanted, left);
        else
            st = flow_edges(m, wanted, left, originals, err);
    }
    m->undecided = m->undecided || before;
    kn_free(wanted);
    kn_free(left);
    return st;
}

static kn_status match_all(matching *m, kn_error *err)
{
    uint32_t *values = kn_alloc_array(m->v->ctx, (size_t)m->v->quasi_count + 1, sizeof *values);
    if (!values) return kn_fail_memory(err, m->v->ctx, WHAT);
    kn_status st = KN_OK;
    size_t    at = 0, end = m->released.count, originals = m->originals.count;
    for (size_t begin = 0; st == KN_OK && begin < end && m->work <= m->work_limit; begin = m->last) {
        uint64_t part = m->wanted[begin].key >> 32;
        m->first = m->last = begin;
        while (m->last < end && m->wanted[m->last].key >> 32 == part) m->last++;
        while (at < originals && m->by_part[at].key < part) at++;
        size_t until = at;
        while (until < originals && m->by_part[until].key == part) until++;
        st = match_part(m, at, until, values, err);
        at = until;
    }
    if (m->work > m->work_limit) m->undecided = true;
    kn_free(values);
    return st;
}

/* ---- Suppressed rows that show their sensitive cells ---- */

/* For every combination of sensitive values: as many originals as rows, shown and suppressed together. */
static kn_status match_sensitive(matching *m, kn_error *err)
{
    kn_verifier *v = m->v;
    int64_t      n = v->original->rows;
    uint32_t    *column = kn_alloc_array(v->ctx, (size_t)m->rows + 1, sizeof *column);
    kn_free(m->part);
    m->part = kn_alloc_array_zero(v->ctx, (size_t)m->rows + 1, sizeof *m->part);
    kn_status st = column && m->part ? KN_OK : kn_fail_memory(err, m->v->ctx, WHAT);
    for (int64_t row = 0; st == KN_OK && v->dropped && row < n; row++)
        if (v->dropped[row]) m->part[row] = KN_V_NONE;
    for (int i = 0; st == KN_OK && i < v->copy_count; i++)
        if (v->copies[i].attribute->role == KN_ROLE_SENSITIVE) st = refine_parts(m, &v->copies[i], column, err);
    kn_free(column);
    uint32_t parts = 0;
    for (int64_t row = 0; st == KN_OK && row < m->rows; row++)
        if (m->part[row] != KN_V_NONE && m->part[row] >= parts) parts = m->part[row] + 1;
    int64_t *balance = kn_alloc_array_zero(v->ctx, (size_t)parts + 1, sizeof *balance);
    if (st == KN_OK && !balance) st = kn_fail_memory(err, m->v->ctx, WHAT);
    for (int64_t row = 0; st == KN_OK && row < n; row++)
        if (m->part[row] != KN_V_NONE) balance[m->part[row]] += kn_vcount(v->original, row);
    for (int64_t row = 0; st == KN_OK && row < v->release->rows; row++) {
        uint32_t part = m->part[n + row];
        int64_t  rows = kn_vcount(v->release, row), left = part == KN_V_NONE ? 0 : balance[part];
        if (part != KN_V_NONE) balance[part] -= left < rows ? left : rows;
        if (left >= rows) continue;
        if (m->missing == 0 || row < m->missing_row) m->missing_row = row;
        m->missing += rows - left;
    }
    kn_free(balance);
    return st;
}

/* ---- All of it ---- */

static void report_all(matching *m)
{
    kn_verifier *v = m->v;
    if (m->missing > 0) {
        v->report->assignment = KN_ASSIGNMENT_REFUTED;
        kn_vproblem(v->notes,
                    "%" PRId64 " released row%s cannot come from the original: no original with the same sensitive and "
                    "kept cells is left for %s; such as row %" PRId64,
                    m->missing, m->missing == 1 ? "" : "s", m->missing == 1 ? "it" : "them", m->missing_row + 1);
    } else if (m->undecided) {
        v->report->assignment = KN_ASSIGNMENT_UNDECIDED;
        if (m->work > m->work_limit)
            kn_vopen(v->notes,
                     "whether every released row has an original of its own: %" PRId64
                     " steps were not enough; give the row map (--map)",
                     m->work_limit);
    } else {
        v->report->assignment = KN_ASSIGNMENT_PROVED;
    }
}

kn_status kn_verify_match(kn_verifier *v, kn_error *err)
{
    matching m = {.v = v, .work_limit = v->options->work_limit > 0 ? v->options->work_limit : WORK_LIMIT};
    v->report->assignment = KN_ASSIGNMENT_UNDECIDED;
    kn_status st = kn_vcover_make(&m.cover, v, false, err);
    if (st == KN_OK) st = make_parts(&m, err);
    if (st == KN_OK) miss_rows(&m);
    if (st == KN_OK) st = group_both(&m, err);
    if (st == KN_OK) st = sort_both(&m, err);
    if (st == KN_OK) st = match_all(&m, err);
    bool keep = v->spec->suppressed == KN_SUPPRESSED_KEEP_SENSITIVE;
    if (st == KN_OK && keep && v->star_rows > 0 && m.missing == 0) st = match_sensitive(&m, err);
    if (st == KN_OK) report_all(&m);
    kn_free(m.part);
    kn_free(m.edge_released);
    kn_free(m.edge_original);
    kn_vgroups_free(&m.originals);
    kn_vgroups_free(&m.released);
    kn_arena_free(&m.cover.room);
    return st;
}
