/* records/count.c: k^(m,n)-anonymity and l-diversity of released tree records, by counting every combination that
 * occurs (Gkountouna, Terrovitis 2013, Definition 1; docs/errata.md K4, K5, K8, K18, S2).
 *
 * A combination is a set of 1 to m labels and a set of at most n relations between them; a record has it if it has
 * the labels and the relations: each separately (pairs), or all of them with one node for each label (paths). "*"
 * above "*" is a relation too, always separate. Combinations that no record has do not matter, so each record is
 * counted for every combination it has. Combinations are divided into shards by their first label (the rarest one),
 * large ones by their second label too; one worker counts a shard in its own table, so that nothing is merged and
 * memory is bounded by the shard. Keys are packed exactly: ranks, a matrix of relations and, for l-diversity, one
 * sensitive label. For entropy and recursive l-diversity the counts of a combination's sensitive labels are then chained
 * to its own.
 *
 * Cost: for each different record the sum over s <= m of C(labels, s) sets, each with its sets of relations; 16 bytes
 * (m = 3) for each different combination of a shard. Limits: m (or the most labels of a record) up to 16.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_parallel.h"
#include "kn_verify_view.h"

enum { MOST_M = 16, KEY_WORDS = 13, SHARD = 1 << 20, SMALL = 1 << 10, SHOWN = 20 };

/* ---- The table ---- */

/* Slots of a count and a key; count 0: free. */
typedef struct table {
    kn_context *ctx;
    int         words; /* of a key */
    uint64_t   *slots;
    size_t      size, count;
    bool        failed;
} table;

static inline uint64_t hash_key(const table *t, const uint64_t *key)
{
    return t->words == 1 ? kn_hash_word(key[0]) : kn_hash_words(key, t->words);
}

static inline uint64_t *find_slot(const table *t, const uint64_t *key)
{
    size_t stride = (size_t)t->words + 1;
    for (size_t at = hash_key(t, key) & (t->size - 1);; at = (at + 1) & (t->size - 1)) {
        uint64_t *slot = t->slots + at * stride;
        if (slot[0] == 0) return slot;
        int w = 0;
        while (w < t->words && slot[w + 1] == key[w]) w++;
        if (w == t->words) return slot;
    }
}

static bool table_resize(table *t, size_t size)
{
    size_t stride = (size_t)t->words + 1;
    table  more = *t;
    more.size = size;
    more.slots = kn_alloc_array_zero(t->ctx, size * stride, sizeof *more.slots);
    if (!more.slots) return false;
    for (size_t i = 0; i < t->size; i++) {
        const uint64_t *from = t->slots + i * stride;
        if (from[0]) memcpy(find_slot(&more, from + 1), from, stride * sizeof *from);
    }
    kn_free(t->slots);
    *t = more;
    return true;
}

/* Empties it; a table that was much too large shrinks. */
static bool table_clear(table *t)
{
    if (t->size > SMALL && t->count * 8 < t->size) {
        kn_free(t->slots);
        t->slots = NULL;
        t->size = 0;
    }
    t->count = 0;
    if (!t->slots) {
        t->size = 0;
        return table_resize(t, SMALL);
    }
    memset(t->slots, 0, t->size * ((size_t)t->words + 1) * sizeof *t->slots);
    return true;
}

static inline void table_add(table *t, const uint64_t *key, int64_t weight)
{
    uint64_t *slot = find_slot(t, key);
    if (slot[0] == 0) {
        if (t->count * 2 >= t->size) {
            if (!table_resize(t, t->size * 2)) {
                t->failed = true;
                return;
            }
            slot = find_slot(t, key);
        }
        memcpy(slot + 1, key, (size_t)t->words * sizeof *key);
        t->count++;
    }
    slot[0] += (uint64_t)weight;
}

/* ---- Shards ---- */

/* An attacker who finds too few records, or too many with one sensitive value. */
typedef struct finding {
    int64_t  record; /* -1: none */
    int      labels, relations;
    uint64_t support, with;
    uint32_t nodes[MOST_M];
    int      cls; /* of the sensitive value; -1: none */
} finding;

/* First labels of ranks [low, high); second ones whose rank leaves `part` when divided by `parts`. */
typedef struct shard {
    uint32_t    low, high, part, parts;
    uint64_t    least;
    int64_t     combinations, violations;
    kn_vshare  *shares;  /* per class            */
    kn_vspread *spreads; /* per model of the spec */
    finding     rare, uniform;
} shard;

typedef enum mode { COUNT, FIND_RARE, FIND_UNIFORM } mode;

typedef struct counter {
    kn_records_verifier *v;
    const kn_vview      *view;
    int                  m, n;
    bool                 paths;
    int                  label_bits;
    table                table;
    shard               *shard;
    mode                 mode;
    finding             *found;
    /* Per slot of the table, for entropy and recursive l-diversity: the slot (+ 1) of a sensitive label of its combination, of a
     * label's slot: of the next one. */
    uint64_t *chain;
    size_t    chain_capacity;
    uint64_t *spread; /* the counts of one class */
    /* The current record. */
    int64_t         number, weight;
    const uint32_t *ranks, *positions, *parents;
    uint32_t        labels, known, nodes;
    uint64_t       *below; /* per label: a row of row_words words: the labels below it            */
    size_t          row_words;
    uint32_t       *head, *next; /* paths: the nodes with each label */
    /* The current combination. */
    uint64_t key[KEY_WORDS];
    uint32_t chosen[MOST_M];
    int      size;
    uint16_t open[MOST_M * MOST_M]; /* relations between them, as bits of the key's matrix */
    int      open_count;
    uint16_t taken[MOST_M * MOST_M];
    int      taken_count;
    uint32_t node_of[MOST_M];
} counter;

/* ---- Keys ---- */

static inline void key_xor(uint64_t *key, int at, uint64_t value, int bits)
{
    int word = at / 64, shift = at % 64;
    key[word] ^= value << shift;
    if (shift + bits > 64) key[word + 1] ^= value >> (64 - shift);
}

static inline uint64_t key_get(const uint64_t *key, int at, int bits)
{
    int      word = at / 64, shift = at % 64;
    uint64_t value = key[word] >> shift;
    if (shift + bits > 64) value |= key[word + 1] << (64 - shift);
    return value & (((uint64_t)1 << bits) - 1);
}

static int matrix_at(const counter *c)
{
    return c->m * c->label_bits;
}

static int extra_at(const counter *c)
{
    return matrix_at(c) + (c->n > 0 ? c->m * c->m : 0);
}

/* ---- Paths: one node for each label under which all relations hold ---- */

static bool stands_above(const counter *c, uint32_t above, uint32_t below)
{
    for (uint32_t p = c->parents[below]; p != KN_V_NONE; p = c->parents[p])
        if (p == above) return true;
    return false;
}

static bool fits(const counter *c, int label)
{
    for (int i = 0; i < c->taken_count; i++) {
        int above = c->taken[i] / c->m, below = c->taken[i] % c->m;
        if (above == below || above > label || below > label || (above != label && below != label)) continue;
        if (!stands_above(c, c->node_of[above], c->node_of[below])) return false;
    }
    return true;
}

static bool satisfiable(counter *c, int label)
{
    if (label == c->size) return true;
    for (uint32_t node = c->head[c->chosen[label]]; node != KN_V_NONE; node = c->next[node]) {
        c->node_of[label] = node;
        if (fits(c, label) && satisfiable(c, label + 1)) return true;
    }
    return false;
}

/* ---- One combination ---- */

static int class_of_rank(const counter *c, uint32_t rank)
{
    return c->v->class_of[c->view->label_of[rank]];
}

static bool is_uniform(const counter *c, uint32_t rank, uint64_t with, uint64_t of)
{
    return !kn_vshare_holds(c->v->classes[class_of_rank(c, rank)].l, with, of);
}

static void keep_finding(counter *c, uint64_t support, uint64_t with, int cls)
{
    finding *f = c->found;
    *f = (finding){.record = c->view->record[c->number], .labels = c->size, .relations = c->taken_count};
    f->support = support;
    f->with = with;
    f->cls = cls;
    for (int i = 0; i < c->size; i++) { /* the first node of each label, in the order of the record */
        uint32_t node = 0;
        int      at = i;
        while (c->positions[node] != c->chosen[i]) node++;
        for (; at > 0 && f->nodes[at - 1] > node; at--) f->nodes[at] = f->nodes[at - 1];
        f->nodes[at] = node;
    }
}

/* ---- Entropy and recursive l-diversity ---- */

static size_t slot_number(const table *t, const uint64_t *slot)
{
    return (size_t)(slot - t->slots) / ((size_t)t->words + 1);
}

/* Chains the sensitive labels of each combination to it. */
static bool chain_labels(counter *c)
{
    const table *t = &c->table;
    size_t       stride = (size_t)t->words + 1;
    if (!KN_GROW(t->ctx, &c->chain, &c->chain_capacity, t->size)) return false;
    memset(c->chain, 0, t->size * sizeof *c->chain);
    for (size_t i = 0; i < t->size; i++) {
        const uint64_t *slot = t->slots + i * stride;
        uint64_t        key[KEY_WORDS], extra = slot[0] == 0 ? 0 : key_get(slot + 1, extra_at(c), c->label_bits);
        if (extra == 0) continue;
        memcpy(key, slot + 1, (size_t)t->words * sizeof *key);
        key_xor(key, extra_at(c), extra, c->label_bits);
        uint64_t *head = &c->chain[slot_number(t, find_slot(t, key))];
        c->chain[i] = *head;
        *head = i + 1;
    }
    return true;
}

/* The class of the first promise that a combination breaks; -1: none. With `note` all are judged and added up. */
static int judge_spreads(counter *c, const uint64_t *slot, bool note)
{
    const kn_spec *spec = c->v->spec;
    size_t         stride = (size_t)c->table.words + 1;
    for (int i = 0; i < spec->model_count; i++) {
        const kn_model *m = &spec->models[i];
        int             cls = kn_vspread_asked(m) ? kn_vrecords_class_of_model(c->v, m) : -1;
        size_t          count = 0;
        double          reached;
        if (cls < 0) continue;
        for (uint64_t at = c->chain[slot_number(&c->table, slot)]; at > 0; at = c->chain[at - 1]) {
            const uint64_t *label = c->table.slots + (at - 1) * stride;
            uint64_t        extra = key_get(label + 1, extra_at(c), c->label_bits);
            if (class_of_rank(c, (uint32_t)extra - 1 + c->view->known) == cls) c->spread[count++] = label[0];
        }
        bool holds = kn_vspread_holds(m, c->spread, count, slot[0], &reached);
        if (note) kn_vspread_add(&c->shard->spreads[i], m, reached, !holds);
        if (!note && !holds) return cls;
    }
    return -1;
}

/* true: what was looked for is found. */
static bool look(counter *c)
{
    uint64_t support = find_slot(&c->table, c->key)[0];
    if (c->mode == FIND_RARE) {
        if (support >= (uint64_t)c->v->spec->kmn.k) return false;
        keep_finding(c, support, 0, -1);
        return true;
    }
    int uneven = c->v->spread ? judge_spreads(c, find_slot(&c->table, c->key), false) : -1;
    if (uneven >= 0) {
        keep_finding(c, support, 0, uneven);
        return true;
    }
    for (uint32_t s = c->known; s < c->labels; s++) {
        uint64_t rank = c->ranks[s];
        key_xor(c->key, extra_at(c), rank - c->view->known + 1, c->label_bits);
        uint64_t with = find_slot(&c->table, c->key)[0];
        key_xor(c->key, extra_at(c), rank - c->view->known + 1, c->label_bits);
        if (with == 0 || !is_uniform(c, (uint32_t)rank, with, support)) continue;
        keep_finding(c, support, with, class_of_rank(c, (uint32_t)rank));
        return true;
    }
    return false;
}

static inline bool emit(counter *c)
{
    if (c->mode != COUNT) return look(c);
    table_add(&c->table, c->key, c->weight);
    for (uint32_t s = c->known; s < c->labels; s++) {
        uint64_t rank = c->ranks[s];
        if (c->v->classes[class_of_rank(c, (uint32_t)rank)].model < 0) continue;
        key_xor(c->key, extra_at(c), rank - c->view->known + 1, c->label_bits);
        table_add(&c->table, c->key, c->weight);
        key_xor(c->key, extra_at(c), rank - c->view->known + 1, c->label_bits);
    }
    return c->table.failed;
}

/* The labels with every set of relations between them that the record has. */
static bool emit_relations(counter *c, int first)
{
    if (emit(c)) return true;
    if (c->taken_count == c->n) return false;
    for (int i = first; i < c->open_count; i++) {
        c->taken[c->taken_count++] = c->open[i];
        if (!c->paths || c->taken_count < 2 || satisfiable(c, 0)) {
            key_xor(c->key, matrix_at(c) + c->open[i], 1, 1);
            if (emit_relations(c, i + 1)) return true;
            key_xor(c->key, matrix_at(c) + c->open[i], 1, 1);
        }
        c->taken_count--;
    }
    return false;
}

static inline bool is_below(const counter *c, uint32_t above, uint32_t below)
{
    return (c->below[above * c->row_words + below / 64] >> (below % 64)) & 1;
}

static void push(counter *c, uint32_t label)
{
    int at = c->size++;
    key_xor(c->key, at * c->label_bits, (uint64_t)c->ranks[label] + 1, c->label_bits);
    c->chosen[at] = label;
    if (c->n == 0) return;
    for (int i = 0; i < at; i++) {
        if (is_below(c, c->chosen[i], label)) c->open[c->open_count++] = (uint16_t)(i * c->m + at);
        if (is_below(c, label, c->chosen[i])) c->open[c->open_count++] = (uint16_t)(at * c->m + i);
    }
    if (is_below(c, label, label)) c->open[c->open_count++] = (uint16_t)(at * c->m + at);
}

static void pop(counter *c, int open_count)
{
    int at = --c->size;
    key_xor(c->key, at * c->label_bits, (uint64_t)c->ranks[c->chosen[at]] + 1, c->label_bits);
    c->open_count = open_count;
}

/* All sets that begin with those chosen and go on with labels from `from`. */
static bool extend(counter *c, uint32_t from)
{
    const shard *s = c->shard;
    if ((c->size > 1 || s->part == 0) && emit_relations(c, 0)) return true;
    if (c->size == c->m) return false;
    for (uint32_t i = from; i < c->known; i++) {
        if (c->size == 1 && s->parts > 1 && c->ranks[i] % s->parts != s->part) continue;
        int open = c->open_count;
        push(c, i);
        if (extend(c, i + 1)) return true;
        pop(c, open);
    }
    return false;
}

/* ---- One record ---- */

static void relate(counter *c)
{
    memset(c->below, 0, c->labels * c->row_words * sizeof *c->below);
    for (uint32_t i = 0; i < c->nodes; i++)
        for (uint32_t p = c->parents[i]; p != KN_V_NONE; p = c->parents[p])
            c->below[c->positions[p] * c->row_words + c->positions[i] / 64] |= (uint64_t)1 << (c->positions[i] % 64);
    if (!c->paths) return;
    for (uint32_t l = 0; l < c->labels; l++) c->head[l] = KN_V_NONE;
    for (uint32_t i = c->nodes; i-- > 0;) {
        c->next[i] = c->head[c->positions[i]];
        c->head[c->positions[i]] = i;
    }
}

/* true: found, or out of memory. */
static bool visit_record(counter *c, int64_t number)
{
    const kn_vview   *w = c->view;
    const kn_vforest *f = &c->v->release;
    c->number = number;
    c->weight = w->weight[number];
    c->ranks = w->ranks + w->start[number];
    c->labels = (uint32_t)(w->start[number + 1] - w->start[number]);
    c->known = c->labels;
    while (c->known > 0 && c->ranks[c->known - 1] >= w->known) c->known--;
    uint32_t first = 0;
    while (first < c->known && c->ranks[first] < c->shard->low) first++;
    if (first == c->known || c->ranks[first] >= c->shard->high) return false;
    c->positions = w->position + w->node_start[number];
    c->nodes = (uint32_t)(w->node_start[number + 1] - w->node_start[number]);
    c->parents = f->parent + f->start[w->record[number]];
    c->row_words = (c->labels + 63) / 64;
    if (c->n > 0) relate(c);
    for (; first < c->known && c->ranks[first] < c->shard->high; first++) {
        push(c, first);
        if (extend(c, first + 1)) return true;
        pop(c, 0);
    }
    return false;
}

static kn_status visit_all(counter *c, kn_error *err)
{
    memset(c->key, 0, sizeof c->key);
    c->size = c->open_count = c->taken_count = 0;
    for (int64_t x = 0; x < c->view->count; x++) {
        if (x % 4096 == 0 && kn_cancelled(c->v->ctx)) return kn_fail_cancelled(err);
        if (visit_record(c, x)) break;
    }
    return c->table.failed ? kn_vrecords_no_memory(c->v, err) : KN_OK;
}

/* ---- One shard ---- */

static void judge_share(counter *c, uint64_t *key, uint64_t with)
{
    uint64_t extra = key_get(key, extra_at(c), c->label_bits);
    uint32_t rank = (uint32_t)extra - 1 + c->view->known;
    key_xor(key, extra_at(c), extra, c->label_bits);
    uint64_t   of = find_slot(&c->table, key)[0];
    kn_vshare *s = &c->shard->shares[class_of_rank(c, rank)];
    kn_vshare_add(s, with, of);
    s->violations += is_uniform(c, rank, with, of);
}

static void judge(counter *c)
{
    shard *s = c->shard;
    size_t stride = (size_t)c->table.words + 1;
    s->least = UINT64_MAX;
    for (size_t i = 0; i < c->table.size; i++) {
        const uint64_t *slot = c->table.slots + i * stride;
        uint64_t        key[KEY_WORDS];
        if (slot[0] == 0) continue;
        if (c->v->diverse && key_get(slot + 1, extra_at(c), c->label_bits) != 0) {
            memcpy(key, slot + 1, (size_t)c->table.words * sizeof *key);
            judge_share(c, key, slot[0]);
            continue;
        }
        s->combinations++;
        s->violations += slot[0] < (uint64_t)c->v->spec->kmn.k;
        if (c->v->spread) judge_spreads(c, slot, true);
        if (slot[0] < s->least) s->least = slot[0];
    }
}

static kn_status count_shard(counter *c, shard *s, kn_error *err)
{
    bool uniform = false;
    c->shard = s;
    c->mode = COUNT;
    if (!table_clear(&c->table)) return kn_vrecords_no_memory(c->v, err);
    KN_TRY(visit_all(c, err));
    if (c->v->spread && !chain_labels(c)) return kn_vrecords_no_memory(c->v, err);
    judge(c);
    s->rare.record = s->uniform.record = -1;
    for (int i = 0; i < c->v->class_count; i++) uniform = uniform || s->shares[i].violations > 0;
    for (int i = 0; i < c->v->spec->model_count; i++) uniform = uniform || s->spreads[i].violations > 0;
    if (s->violations > 0) { /* look for the first one */
        c->mode = FIND_RARE;
        c->found = &s->rare;
        KN_TRY(visit_all(c, err));
    }
    if (uniform) {
        c->mode = FIND_UNIFORM;
        c->found = &s->uniform;
        KN_TRY(visit_all(c, err));
    }
    return KN_OK;
}

/* ---- All shards ---- */

typedef struct counting {
    kn_records_verifier *v;
    kn_vview             view;
    int                  m, n;
    counter             *counters; /* per worker */
    shard               *shards;
    size_t               shard_count, shard_capacity;
} counting;

static void counting_free(counting *a)
{
    for (int i = 0; a->counters && i < kn_context_threads(a->v->ctx); i++) {
        KN_FREE(a->counters[i].table.slots, a->counters[i].chain);
    }
    kn_free(a->shards);
    kn_arena_free(&a->view.room);
}

static kn_status count_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    counting *a = arg;
    for (int64_t i = begin; i < end; i++) KN_TRY(count_shard(&a->counters[worker], &a->shards[i], err));
    return KN_OK;
}

/* How many sets of labels begin with each label: its share of the work. `*most`: of one record. */
static double estimate(const counting *a, double *work, double *most)
{
    const kn_vview *w = &a->view;
    double          total = 0;
    *most = 0;
    for (int64_t x = 0; x < w->count; x++) {
        double   before = total;
        uint32_t known = (uint32_t)(w->start[x + 1] - w->start[x]);
        while (known > 0 && w->ranks[w->start[x] + known - 1] >= w->known) known--;
        for (uint32_t i = 0; i < known; i++) {
            double sets = 1, chosen = 1, left = known - 1 - i;
            for (int s = 1; s < a->m && left > 0; s++, left--) {
                chosen = chosen * left / s;
                sets += chosen;
            }
            work[w->ranks[w->start[x] + i]] += sets;
            total += sets;
        }
        if (total - before > *most) *most = total - before;
    }
    return total;
}

static kn_status add_shard(counting *a, shard s, kn_error *err)
{
    void *list = a->shards;
    if (!kn_grow(a->v->ctx, &list, &a->shard_capacity, a->shard_count + 1, sizeof *a->shards))
        return kn_vrecords_no_memory(a->v, err);
    a->shards = list;
    a->shards[a->shard_count++] = s;
    return KN_OK;
}

/* Labels are combined until there is enough work; one that is too much alone is divided by second labels. */
static kn_status cut_shards(counting *a, const double *work, double total, kn_error *err)
{
    double limit = total / 64 < SHARD ? total / 64 + 1 : SHARD, sum = 0;
    for (uint32_t low = 0, i = 0; i < a->view.known; i++) {
        sum += work[i];
        bool last = i + 1 == a->view.known || sum + work[i + 1] > limit;
        if (!last) continue;
        double   parts = ceil(sum / limit);
        uint32_t count = parts < 2 || a->m == 1 ? 1 : parts > a->view.known ? a->view.known : (uint32_t)parts;
        for (uint32_t part = 0; part < count; part++)
            KN_TRY(add_shard(a, (shard){.low = low, .high = i + 1, .part = part, .parts = count}, err));
        low = i + 1;
        sum = 0;
    }
    size_t      classes = (size_t)a->v->class_count;
    kn_vshare  *shares = kn_arena_array_zero(&a->view.room, a->shard_count * classes + 1, sizeof *shares);
    size_t      models = (size_t)a->v->spec->model_count;
    kn_vspread *spreads = kn_arena_array_zero(&a->view.room, a->shard_count * models + 1, sizeof *spreads);
    if (!shares || !spreads) return kn_vrecords_no_memory(a->v, err);
    for (size_t s = 0; s < a->shard_count; s++) {
        a->shards[s].shares = shares + s * classes;
        a->shards[s].spreads = spreads + s * models;
    }
    return KN_OK;
}

static kn_status make_counters(counting *a, kn_error *err)
{
    kn_records_verifier *v = a->v;
    int                  threads = kn_context_threads(v->ctx), bits = 1;
    size_t               labels = (size_t)a->view.most_labels + 1, row = (labels + 63) / 64;
    while (((uint64_t)1 << bits) < (uint64_t)a->view.labels + 1) bits++;
    a->counters = kn_arena_array_zero(&a->view.room, (size_t)threads, sizeof *a->counters);
    for (int i = 0; a->counters && i < threads; i++) {
        counter *c = &a->counters[i];
        *c = (counter){.v = v, .view = &a->view, .m = a->m, .n = a->n, .label_bits = bits};
        c->paths = v->spec->semantics == KN_SEMANTICS_PATHS;
        int total = extra_at(c) + (v->diverse ? bits : 0);
        c->table = (table){.ctx = v->ctx, .words = (total + 63) / 64};
        c->below = kn_arena_array(&a->view.room, labels * row, sizeof *c->below);
        c->head = kn_arena_array(&a->view.room, labels, sizeof *c->head);
        c->next = kn_arena_array(&a->view.room, (size_t)a->view.most_nodes + 1, sizeof *c->next);
        c->spread = kn_arena_array(&a->view.room, (size_t)a->view.labels + 1, sizeof *c->spread);
    }
    return a->view.room.failed ? kn_vrecords_no_memory(v, err) : KN_OK;
}

/* ---- What came out ---- */

static void describe(const finding *f, char *out, size_t size)
{
    int used =
        snprintf(out, size, "record %" PRId64 ": whoever knows node%s", f->record + 1, f->labels == 1 ? "" : "s");
    for (int i = 0; i < f->labels && used > 0 && (size_t)used < size; i++)
        used += snprintf(out + used, size - (size_t)used, "%s%" PRIu32,
                         i == 0              ? " "
                         : i + 1 < f->labels ? ", "
                                             : " and ",
                         f->nodes[i] + 1);
    if (f->relations > 0 && used > 0 && (size_t)used < size)
        snprintf(out + used, size - (size_t)used, " and %d relation%s between them", f->relations,
                 f->relations == 1 ? "" : "s");
}

/* The shard's finding with the smallest record above `after`; NULL: none. */
static const finding *next_finding(const counting *a, bool uniform, int64_t after, size_t *at)
{
    const finding *best = NULL;
    for (size_t s = 0; s < a->shard_count; s++) {
        const finding *f = uniform ? &a->shards[s].uniform : &a->shards[s].rare;
        bool           behind = f->record > after || (f->record == after && s > *at);
        if (f->record < 0 || !behind || (best && best->record <= f->record)) continue;
        best = f;
    }
    for (size_t s = 0; best && s < a->shard_count; s++)
        if (best == (uniform ? &a->shards[s].uniform : &a->shards[s].rare)) *at = s;
    return best;
}

static void report_findings(const counting *a, bool uniform)
{
    kn_records_verifier *v = a->v;
    int64_t              after = -1;
    size_t               at = 0;
    for (int shown = 0; shown < SHOWN; shown++) {
        const finding *f = next_finding(a, uniform, after, &at);
        char           who[400];
        if (!f) return;
        after = f->record;
        describe(f, who, sizeof who);
        if (uniform && f->with == 0)
            kn_vproblem(v->notes,
                        "%s finds %" PRIu64 " record%s, whose values of class \"%s\" are less diverse than promised",
                        who, f->support, f->support == 1 ? "" : "s", v->classes[f->cls].spec->name);
        else if (uniform)
            kn_vproblem(v->notes,
                        "%s finds %" PRIu64 " records, of which %" PRIu64 " have the same value of class \"%s\"", who,
                        f->support, f->with, v->classes[f->cls].spec->name);
        else
            kn_vproblem(v->notes, "%s finds %" PRIu64 " record%s, fewer than %" PRId64, who, f->support,
                        f->support == 1 ? "" : "s", v->spec->kmn.k);
    }
}

static void sum_up(const counting *a)
{
    kn_records_verifier      *v = a->v;
    kn_records_verify_report *r = v->report;
    uint64_t                  least = UINT64_MAX;
    for (size_t s = 0; s < a->shard_count; s++) {
        if (a->shards[s].least < least) least = a->shards[s].least;
        r->combinations += a->shards[s].combinations;
        r->violations += a->shards[s].violations;
    }
    r->k = least == UINT64_MAX ? 0 : (int64_t)least;
    r->decided = true;
    if (r->violations > 0)
        kn_vproblem(v->notes,
                    "%" PRId64 " combination%s found in fewer than %" PRId64 " records; the rarest in %" PRId64,
                    r->violations, r->violations == 1 ? " is" : "s are", v->spec->kmn.k, r->k);
    report_findings(a, false);
}

static void sum_up_spread(const counting *a, int model, kn_verified_model *m)
{
    kn_vspread worst = {.reached = m->model.kind == KN_MODEL_RECURSIVE ? 0 : INFINITY};
    for (size_t s = 0; s < a->shard_count; s++) {
        const kn_vspread *x = &a->shards[s].spreads[model];
        if (x->any) kn_vspread_add(&worst, &m->model, x->reached, x->violations);
    }
    m->holds = worst.violations == 0;
    m->classes = worst.violations;
    m->reached = worst.reached;
}

/* The promises about sensitive classes, possibly several about one. */
static void sum_up_shares(const counting *a)
{
    kn_records_verifier *v = a->v;
    for (int i = 0; i < v->spec->model_count; i++) {
        kn_verified_model *m = &v->notes->models[i];
        int                c = kn_vrecords_class_of_model(v, &m->model);
        kn_vshare          worst = {0, 0, 0};
        if (c < 0) continue;
        for (size_t s = 0; s < a->shard_count; s++) {
            worst.violations += a->shards[s].shares[c].violations;
            kn_vshare_add(&worst, a->shards[s].shares[c].with, a->shards[s].shares[c].of);
        }
        if (kn_vspread_asked(&m->model)) {
            sum_up_spread(a, i, m);
        } else {
            m->holds = worst.of == 0 || kn_vshare_holds(m->model.l, worst.with, worst.of);
            m->classes = m->holds ? 0 : worst.violations;
            m->reached = worst.of == 0 ? INFINITY : (double)worst.of / (double)worst.with;
        }
        double largest = worst.of == 0 ? 0 : (double)worst.with / (double)worst.of;
        if (largest > v->report->largest_share) v->report->largest_share = largest;
    }
    report_findings(a, true);
}

static kn_status count(counting *a, double *work, kn_error *err)
{
    kn_records_verifier *v = a->v;
    double               most = 0, total = estimate(a, work, &most);
    if (a->m > MOST_M || total > (double)v->work_limit || most > (double)v->record_limit) {
        kn_vopen(v->notes, "whether the promise holds: there are too many combinations to count");
        return KN_OK;
    }
    KN_TRY(cut_shards(a, work, total, err));
    KN_TRY(make_counters(a, err));
    KN_TRY(kn_parallel_for(v->ctx, (int64_t)a->shard_count, 1, count_range, a, err));
    sum_up(a);
    if (v->diverse) sum_up_shares(a);
    return KN_OK;
}

kn_status kn_vrecords_count(kn_records_verifier *v, kn_error *err)
{
    counting  a = {.v = v};
    double   *work = NULL;
    kn_status st = kn_vview_make(&a.view, v, err);
    if (st == KN_OK) {
        /* An attacker knows at most as many labels of a record as it has. */
        a.m = v->spec->kmn.m < (int)a.view.most_labels ? v->spec->kmn.m : (int)a.view.most_labels;
        if (a.m < 1) a.m = 1;
        a.n = v->spec->kmn.n < a.m * a.m ? v->spec->kmn.n : a.m * a.m;
        work = kn_alloc_array_zero(v->ctx, (size_t)a.view.labels + 1, sizeof *work);
        st = work ? count(&a, work, err) : kn_vrecords_no_memory(v, err);
    }
    kn_free(work);
    counting_free(&a);
    return st;
}
