/* kn_counter.c: groups of quasi-identifiers, the base set and the tables of the fast counting engine.
 *
 * Interface: kn_counter.h; the counting itself: kn_counter_pass.c. Attributes are put into groups by first fit, the
 * largest first, so that a group has at most GROUP_CODES possible combinations and GROUP_TABLES choices of levels (an
 * attribute that alone has more is a group by itself). Only combinations that occur get codes and numbers, so key
 * spaces are small.
 *
 * Cost: one grouping of the table, then O(distinct combinations × quasi-identifiers); a table costs O(codes of its
 * group) when first needed. Memory: 2 bytes per group (4 where a column has more than 65,536 values) and 4 for the
 * count per distinct combination, and the tables.
 *
 * Limits: fewer than 2^32 - 1 rows, at most 64 quasi-identifiers.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_counter.h"

#include <stdatomic.h>

#include "kn_alloc.h"
#include "kn_counter_internal.h"
#include "kn_error.h"
#include "kn_freq.h"
#include "kn_parallel.h"

#define WHAT "searching the lattice"

enum {
    GROUP_CODES = 8192,
    GROUP_TABLES = 256,
    NARROW_CODES = 65536,
    LANES = 8,
    TABLES_GRAIN = 12,
    ENCODE_GRAIN = 1 << 14
};

bool kn_counter_possible(const kn_fulldomain_problem *problem)
{
    return kn_table_total(problem->table) < UINT32_MAX && problem->quasi_count <= 64;
}

int kn_counter_groups(const kn_counter *counter)
{
    return counter->group_count;
}

int kn_counter_group_of(const kn_counter *counter, int quasi)
{
    return counter->group_of[quasi];
}

const kn_counter_set *kn_counter_base(const kn_counter *counter)
{
    return counter->base;
}

int64_t kn_counter_set_classes(const kn_counter_set *set)
{
    return set->classes;
}

/* ---- Sets ---- */

void kn_counter_set_free(kn_counter_set *set)
{
    kn_free(set); /* one block */
}

kn_counter_set *kn_counter_set_new(const kn_counter *counter, const kn_counter_set *like, int64_t classes)
{
    size_t n = (size_t)classes, pointers = sizeof(void *) * (size_t)counter->group_count;
    size_t narrow = 0, wide = 0;
    for (int g = 0; g < counter->group_count; g++) {
        if (like && !like->codes[g]) continue;
        if (counter->groups[g].wide)
            wide++;
        else
            narrow++;
    }
    char *block = kn_alloc(counter->ctx, sizeof(kn_counter_set) + pointers + n * (4 + 4 * wide + 2 * narrow) + 1);
    if (!block) return NULL;
    kn_counter_set *set = (kn_counter_set *)(void *)block;
    *set = (kn_counter_set){.ctx = counter->ctx, .classes = classes, .narrow = (int)narrow, .wide = (int)wide};
    set->codes = (void **)(void *)(block + sizeof *set);
    set->counts = (uint32_t *)(void *)(block + sizeof *set + pointers);
    uint32_t *wide_at = set->counts + n;
    uint16_t *narrow_at = (uint16_t *)(void *)(wide_at + n * wide);
    for (int g = 0; g < counter->group_count; g++) {
        if (like && !like->codes[g])
            set->codes[g] = NULL;
        else
            set->codes[g] = counter->groups[g].wide ? (void *)wide_at++ : (void *)narrow_at++;
    }
    return set;
}

/* ---- Groups ---- */

static void group_free(kn_counter_group *group)
{
    for (int64_t t = 0; group->tables && t < group->table_count; t++) {
        if (!group->tables[t]) continue;
        KN_FREE(group->tables[t]->ids, group->tables[t]->costs, group->tables[t]);
    }
    KN_FREE(group->tables, group->attributes, group->strides, group->parts);
}

static kn_status scratch_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    kn_counter *counter = arg;
    (void)worker;
    (void)err;
    for (int64_t w = begin; w < end; w++) kn_counter_scratch_free(&counter->scratch[w]);
    return KN_OK;
}

void kn_counter_free(kn_counter *counter)
{
    if (!counter) return;
    /* Giving many pages back takes the system a while; what a cancelled context leaves is freed below. */
    if (counter->scratch) (void)!kn_parallel_for(counter->ctx, counter->workers, 1, scratch_range, counter, NULL);
    for (int g = 0; counter->groups && g < counter->group_count; g++) group_free(&counter->groups[g]);
    for (int w = 0; counter->scratch && w < counter->workers; w++) kn_counter_scratch_free(&counter->scratch[w]);
    kn_counter_hubs_free(counter->hubs);
    kn_counter_split_free(counter->ctx, counter->room);
    kn_counter_set_free(counter->base);
    KN_FREE(counter->groups, counter->group_of, counter->scratch, counter->missing, counter);
}

static uint32_t cardinality_of(const kn_counter *counter, int quasi)
{
    uint32_t codes = kn_column_cardinality(&counter->problem->table->columns[counter->problem->quasi[quasi]]);
    return codes > 0 ? codes : 1; /* a table without rows */
}

static int levels_of(const kn_counter *counter, int quasi)
{
    return (int)counter->problem->hierarchies[quasi]->height + 1;
}

/* Puts each attribute into the first group where it fits, those with the most values first. Returns the number
 * of groups, or -1: out of memory. */
static int choose_groups(kn_counter *counter)
{
    int       count = counter->problem->quasi_count, groups = 0;
    uint64_t  most = counter->options.group_codes > 0 ? counter->options.group_codes : GROUP_CODES;
    uint64_t *codes = kn_alloc_array_zero(counter->ctx, (size_t)count + 1, sizeof *codes);
    uint64_t *tables = kn_alloc_array_zero(counter->ctx, (size_t)count + 1, sizeof *tables);
    if (codes && tables) {
        for (int q = 0; q < count; q++) counter->group_of[q] = -1;
        for (int done = 0; done < count; done++) {
            int largest = -1;
            for (int q = 0; q < count; q++)
                if (counter->group_of[q] < 0 &&
                    (largest < 0 || cardinality_of(counter, q) > cardinality_of(counter, largest)))
                    largest = q;
            uint64_t own = cardinality_of(counter, largest), levels = (uint64_t)levels_of(counter, largest);
            int      g = 0;
            while (g < groups && (codes[g] * own > most || tables[g] * levels > GROUP_TABLES)) g++;
            if (g == groups) codes[groups] = tables[groups] = 1, groups++;
            codes[g] *= own;
            tables[g] *= levels;
            counter->group_of[largest] = g;
        }
    }
    bool ok = codes && tables;
    KN_FREE(codes, tables);
    return ok ? groups : -1;
}

static kn_status fill_group(kn_counter *counter, int g, kn_error *err)
{
    kn_counter_group *group = &counter->groups[g];
    int               count = counter->problem->quasi_count;
    if (!KN_ALLOC(counter->ctx, group->attributes, (size_t)count) ||
        !KN_ALLOC(counter->ctx, group->strides, (size_t)count))
        return kn_fail_memory(err, counter->ctx, WHAT);
    group->table_count = 1;
    for (int q = 0; q < count; q++) {
        if (counter->group_of[q] != g) continue;
        group->attributes[group->count] = q;
        group->strides[group->count++] = group->table_count;
        group->table_count *= levels_of(counter, q);
        if (counter->problem->objective->cells) group->star += counter->problem->objective->star[q];
    }
    group->tables = kn_alloc_array_zero(counter->ctx, (size_t)group->table_count, sizeof(kn_counter_table *));
    return group->tables ? KN_OK : kn_fail_memory(err, counter->ctx, WHAT);
}

static kn_status make_groups(kn_counter *counter, kn_error *err)
{
    size_t count = (size_t)counter->problem->quasi_count + 1;
    if (!KN_ALLOC_ZERO(counter->ctx, counter->group_of, count) || !KN_ALLOC_ZERO(counter->ctx, counter->groups, count))
        return kn_fail_memory(err, counter->ctx, WHAT);
    int groups = choose_groups(counter);
    if (groups < 0) return kn_fail_memory(err, counter->ctx, WHAT);
    counter->group_count = groups;
    for (int g = 0; g < groups; g++) KN_TRY(fill_group(counter, g, err));
    return KN_OK;
}

/* ---- The base ---- */

typedef struct encode_job {
    kn_counter       *counter;
    const kn_freq    *freq;
    uint32_t        **numbers; /* per group and possible combination: which one of those that occur, + 1 */
    _Atomic uint8_t **seen;    /* the same: does it occur? One attribute: NULL                            */
} encode_job;

/* The digit of one attribute in the number of a class's combination in its group, the first attribute the highest. */
typedef struct digit {
    const uint64_t *keys;
    uint64_t        mask;
    uint32_t        stride;
    int             shift;
} digit;

static void digits_of(const kn_counter *counter, const kn_counter_group *group, const kn_freq *freq, digit *digits)
{
    uint32_t stride = 1; /* a group of several attributes has few combinations */
    for (int a = group->count - 1; a >= 0; a--) {
        kn_field field = freq->layout.fields[group->attributes[a]];
        digits[a] = (digit){freq->keys + field.word, ((uint64_t)1 << field.bits) - 1, stride, field.shift};
        stride *= cardinality_of(counter, group->attributes[a]);
    }
}

static inline uint32_t possible_code(const digit *digits, int count, int64_t at)
{
    uint32_t code = 0;
    for (int a = 0; a < count; a++)
        code += (uint32_t)(digits[a].keys[at] >> digits[a].shift & digits[a].mask) * digits[a].stride;
    return code;
}

static kn_status note_parts(kn_counter *counter, kn_counter_group *group, const uint32_t *numbers, uint64_t possible,
                            kn_error *err)
{
    size_t size = (size_t)group->codes * (size_t)group->count;
    if (!KN_ALLOC(counter->ctx, group->parts, size + 1)) return kn_fail_memory(err, counter->ctx, WHAT);
    for (uint64_t p = 0; p < possible; p++) {
        if (numbers[p] == 0) continue;
        uint64_t  rest = p;
        uint32_t *parts = group->parts + (size_t)(numbers[p] - 1) * (size_t)group->count;
        for (int a = group->count - 1; a >= 0; a--) {
            uint32_t own = cardinality_of(counter, group->attributes[a]);
            parts[a] = (uint32_t)(rest % own);
            rest /= own;
        }
    }
    return KN_OK;
}

static inline __attribute__((always_inline)) void mark(const encode_job *job, int g, int count, int64_t begin,
                                                       int64_t end)
{
    _Atomic uint8_t *seen = job->seen[g];
    digit            digits[64];
    int              words = job->freq->layout.words;
    digits_of(job->counter, &job->counter->groups[g], job->freq, digits);
    for (int64_t at = begin * words; at < end * words; at += words)
        atomic_store_explicit(&seen[possible_code(digits, count, at)], 1, memory_order_relaxed);
}

/* Which combinations occur among the classes [begin, end). */
static kn_status mark_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const encode_job *job = arg;
    (void)worker;
    (void)err;
    for (int g = 0; g < job->counter->group_count; g++) switch (job->counter->groups[g].count) {
        case 1: break; /* not asked for */
        case 2: mark(job, g, 2, begin, end); break;
        case 3: mark(job, g, 3, begin, end); break;
        case 4: mark(job, g, 4, begin, end); break;
        default: mark(job, g, job->counter->groups[g].count, begin, end); break;
        }
    return KN_OK;
}

static uint64_t possible_of(const kn_counter *counter, const kn_counter_group *group)
{
    uint64_t possible = 1;
    for (int a = 0; a < group->count; a++) possible *= cardinality_of(counter, group->attributes[a]);
    return possible;
}

/* Numbers the combinations of one group that occur, in their order. Of one attribute every value counts. */
static kn_status number_group(encode_job *job, int g, kn_error *err)
{
    kn_counter       *counter = job->counter;
    kn_counter_group *group = &counter->groups[g];
    uint64_t          possible = possible_of(counter, group);
    uint32_t *numbers = job->numbers[g] = kn_alloc_array(counter->ctx, (size_t)possible, sizeof *numbers), known = 0;
    if (!numbers) return kn_fail_memory(err, counter->ctx, WHAT);
    for (uint64_t p = 0; p < possible; p++)
        numbers[p] = !job->seen[g] || atomic_load_explicit(&job->seen[g][p], memory_order_relaxed) ? ++known : 0;
    group->codes = known;
    group->wide = group->codes > NARROW_CODES;
    return note_parts(counter, group, numbers, possible, err);
}

/* Neighbours in key order fall into the same class at most nodes, and adding twice to one counter in a row is slow:
 * entries are taken from LANES parts of the order in turn, those behind the parts as they come. A run is entries `step` apart
 * of neighbouring classes. */
typedef struct lane {
    int64_t entry, class_at, count;
    int     step;
} lane;

/* The lane of the entries [begin, end), of which `begin` is a multiple of LANES; lane LANES: those behind the parts. */
static lane lane_of(int64_t classes, int64_t begin, int64_t end, int which)
{
    int64_t part = classes / LANES, turn = begin / LANES, last = end / LANES < part ? end / LANES : part;
    if (which < LANES) return (lane){begin + which, which * part + turn, last - turn, LANES};
    return (lane){last * LANES, last * LANES, end - last * LANES, 1};
}

static inline __attribute__((always_inline)) void encode(const encode_job *job, int g, int count, lane l)
{
    const kn_counter_set *base = job->counter->base;
    const uint32_t       *numbers = job->numbers[g];
    uint32_t             *wide = base->codes[g];
    uint16_t             *narrow = base->codes[g];
    digit                 digits[64];
    int64_t               words = job->freq->layout.words, at = l.class_at * words, end = at + l.count * words;
    digits_of(job->counter, &job->counter->groups[g], job->freq, digits);
    if (job->counter->groups[g].wide)
        for (wide += l.entry * base->wide; at < end; at += words, wide += l.step * base->wide)
            *wide = numbers[possible_code(digits, count, at)] - 1;
    else
        for (narrow += l.entry * base->narrow; at < end; at += words, narrow += l.step * base->narrow)
            *narrow = (uint16_t)(numbers[possible_code(digits, count, at)] - 1);
}

/* Entries [begin, end) of the base. */
static kn_status encode_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const encode_job     *job = arg;
    const kn_counter_set *base = job->counter->base;
    (void)worker;
    (void)err;
    for (int which = 0; which <= LANES; which++) {
        lane l = lane_of(base->classes, begin, end, which);
        for (int64_t i = 0; i < l.count; i++)
            base->counts[l.entry + i * l.step] = (uint32_t)job->freq->counts[l.class_at + i];
        for (int g = 0; g < job->counter->group_count; g++) switch (job->counter->groups[g].count) {
            case 1: encode(job, g, 1, l); break;
            case 2: encode(job, g, 2, l); break;
            case 3: encode(job, g, 3, l); break;
            case 4: encode(job, g, 4, l); break;
            default: encode(job, g, job->counter->groups[g].count, l); break;
            }
    }
    return KN_OK;
}

static kn_status encode_classes(encode_job *job, kn_error *err)
{
    kn_counter *counter = job->counter;
    if (!job->numbers || !job->seen) return kn_fail_memory(err, counter->ctx, WHAT);
    for (int g = 0; g < counter->group_count; g++) {
        if (counter->groups[g].count == 1) continue;
        job->seen[g] = kn_alloc_zero(counter->ctx, (size_t)possible_of(counter, &counter->groups[g]));
        if (!job->seen[g]) return kn_fail_memory(err, counter->ctx, WHAT);
    }
    KN_TRY(kn_parallel_for(counter->ctx, job->freq->classes, ENCODE_GRAIN, mark_range, job, err));
    for (int g = 0; g < counter->group_count; g++) KN_TRY(number_group(job, g, err));
    counter->base = kn_counter_set_new(counter, NULL, job->freq->classes);
    if (!counter->base) return kn_fail_memory(err, counter->ctx, WHAT);
    return kn_parallel_for(counter->ctx, job->freq->classes, ENCODE_GRAIN, encode_range, job, err);
}

static kn_status encode_base(kn_counter *counter, const kn_freq *freq, kn_error *err)
{
    size_t     groups = (size_t)counter->group_count + 1;
    encode_job job = {counter, freq, NULL, NULL};
    job.numbers = kn_alloc_array_zero(counter->ctx, groups, sizeof *job.numbers);
    job.seen = kn_alloc_array_zero(counter->ctx, groups, sizeof *job.seen);
    kn_status st = encode_classes(&job, err);
    for (int g = 0; job.numbers && job.seen && g < counter->group_count; g++) KN_FREE(job.numbers[g], job.seen[g]);
    KN_FREE(job.numbers, job.seen);
    return st;
}

static kn_status make(kn_counter *counter, kn_error *err)
{
    const kn_fulldomain_problem *p = counter->problem;
    counter->workers = kn_context_threads(counter->ctx);
    if (!KN_ALLOC_ZERO(counter->ctx, counter->scratch, (size_t)counter->workers))
        return kn_fail_memory(err, counter->ctx, WHAT);
    KN_TRY(make_groups(counter, err));
    kn_freq *freq = NULL;
    KN_TRY(kn_freq_of_table(&freq, counter->ctx, p->table, p->quasi, p->quasi_count, err));
    kn_status st = encode_base(counter, freq, err);
    kn_freq_free(freq);
    if (st == KN_OK && counter->options.features) st = kn_counter_hubs_make(&counter->hubs, counter, err);
    return st;
}

kn_status kn_counter_make(kn_counter **out, kn_context *ctx, const kn_fulldomain_problem *problem,
                          const kn_counter_options *options, kn_error *err)
{
    *out = NULL;
    kn_counter *counter = kn_alloc_zero(ctx, sizeof *counter);
    if (!counter) return kn_fail_memory(err, ctx, WHAT);
    counter->ctx = ctx;
    counter->problem = problem;
    if (options) counter->options = *options;
    counter->k = problem->requirements->k;
    counter->cells = problem->objective->cells && problem->budget > 0;
    kn_status st = make(counter, err);
    if (st != KN_OK) {
        kn_counter_free(counter);
        return st;
    }
    *out = counter;
    return KN_OK;
}

/* ---- Tables ---- */

/* The number of each code's combination at the levels. `maps`: per attribute, of its values. */
static inline __attribute__((always_inline)) void add_up(const kn_counter_group *group, uint32_t *const *maps,
                                                         int count, uint32_t *numbers)
{
    const uint32_t *parts = group->parts;
    for (uint32_t c = 0; c < group->codes; c++, parts += count) {
        uint32_t number = maps[0][parts[0]];
        for (int a = 1; a < count; a++) number += maps[a][parts[a]];
        numbers[c] = number;
    }
}

static void number_codes(const kn_counter_group *group, uint32_t *const *maps, uint32_t *numbers)
{
    switch (group->count) {
    case 1: add_up(group, maps, 1, numbers); break;
    case 2: add_up(group, maps, 2, numbers); break;
    case 3: add_up(group, maps, 3, numbers); break;
    case 4: add_up(group, maps, 4, numbers); break;
    default: add_up(group, maps, group->count, numbers); break;
    }
}

/* The maps of a group's attributes, multiplied so that sums of them are numbers of combinations; *possible of these. */
static kn_status make_maps(const kn_counter *counter, const kn_counter_group *group, const int *levels, uint32_t **maps,
                           uint32_t **block, uint64_t *possible, kn_error *err)
{
    size_t size = 0;
    for (int a = 0; a < group->count; a++)
        size += (size_t)counter->problem->hierarchies[group->attributes[a]]->codes + 1;
    uint32_t *next = *block = kn_alloc_array(counter->ctx, size, sizeof *next);
    if (!next) return kn_fail_memory(err, counter->ctx, WHAT);
    *possible = 1;
    for (int a = group->count - 1; a >= 0; a--) {
        const kn_hierarchy *h = counter->problem->hierarchies[group->attributes[a]];
        uint32_t            own = 0;
        maps[a] = next;
        next += (size_t)h->codes + 1;
        kn_hierarchy_level_map(h, (uint32_t)levels[group->attributes[a]], maps[a], &own, NULL);
        for (uint32_t i = 0; i < h->codes + h->missing; i++) maps[a][i] *= (uint32_t)*possible;
        *possible *= own > 0 ? own : 1;
    }
    return KN_OK;
}

/* Gives the combinations that occur numbers of their own, in order of appearance. */
static kn_status renumber(const kn_counter *counter, const kn_counter_group *group, uint64_t possible,
                          uint32_t *numbers, uint32_t *distinct, kn_error *err)
{
    *distinct = (uint32_t)possible;
    if (group->count == 1) return KN_OK; /* every number occurs already */
    uint32_t *seen = kn_alloc_array_zero(counter->ctx, (size_t)possible, sizeof *seen), known = 0;
    if (!seen) return kn_fail_memory(err, counter->ctx, WHAT);
    for (uint32_t c = 0; c < group->codes; c++) {
        uint32_t number = seen[numbers[c]];
        if (number == 0) number = seen[numbers[c]] = ++known;
        numbers[c] = number - 1;
    }
    kn_free(seen);
    *distinct = known > 0 ? known : 1;
    return KN_OK;
}

static void fill_costs(const kn_counter *counter, const kn_counter_group *group, const int *levels, uint64_t *costs)
{
    const kn_objective *o = counter->problem->objective;
    for (int a = 0; a < group->count; a++) {
        int             q = group->attributes[a];
        const uint64_t *own = o->costs[q] + (size_t)levels[q] * ((size_t)o->codes[q] + 1);
        const uint32_t *parts = group->parts + a;
        for (uint32_t c = 0; c < group->codes; c++, parts += group->count)
            costs[c] = a == 0 ? own[*parts] : costs[c] + own[*parts];
    }
}

static kn_status fill_table(kn_counter *counter, const kn_counter_group *group, const int *levels,
                            kn_counter_table *table, kn_error *err)
{
    size_t    codes = (size_t)group->codes + 1;
    uint32_t *numbers = kn_alloc_array(counter->ctx, codes, sizeof *numbers);
    if (!numbers) return kn_fail_memory(err, counter->ctx, WHAT);
    uint32_t *maps[64], *block = NULL;
    uint64_t  possible = 1;
    kn_status st = make_maps(counter, group, levels, maps, &block, &possible, err);
    if (st == KN_OK) {
        number_codes(group, maps, numbers);
        st = renumber(counter, group, possible, numbers, &table->distinct, err);
    }
    kn_free(block);
    if (st == KN_OK && group->wide) {
        table->ids = numbers;
        numbers = NULL;
    } else if (st == KN_OK) {
        uint16_t *narrow = table->ids = kn_alloc_array(counter->ctx, codes, sizeof *narrow);
        for (uint32_t c = 0; narrow && c < group->codes; c++) narrow[c] = (uint16_t)numbers[c];
    }
    kn_free(numbers);
    bool cells = counter->cells;
    if (st == KN_OK && cells) table->costs = kn_alloc_array(counter->ctx, codes, sizeof *table->costs);
    if (st == KN_OK && (!table->ids || (cells && !table->costs))) st = kn_fail_memory(err, counter->ctx, WHAT);
    if (st == KN_OK && cells) fill_costs(counter, group, levels, table->costs);
    return st;
}

static kn_status make_table(kn_counter *counter, int g, const int *levels, kn_error *err)
{
    kn_counter_group *group = &counter->groups[g];
    int64_t           number = kn_counter_table_number(group, levels);
    kn_counter_table *table = kn_alloc_zero(counter->ctx, sizeof *table);
    if (!table) return kn_fail_memory(err, counter->ctx, WHAT);
    kn_status st = fill_table(counter, group, levels, table, err);
    if (st != KN_OK) {
        KN_FREE(table->ids, table->costs, table);
        return st;
    }
    group->tables[number] = table;
    return KN_OK;
}

typedef struct table_job {
    kn_counter     *counter;
    kn_counter_job *jobs;
} table_job;

/* One group at all levels that the jobs need: no two workers make the same table. */
static kn_status table_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const table_job *t = arg;
    (void)worker;
    for (int64_t at = begin; at < end; at++) {
        const kn_counter_missing *m = &t->counter->missing[at];
        KN_TRY(make_table(t->counter, m->group, t->jobs[m->job].levels, err));
    }
    return KN_OK;
}

kn_status kn_counter_tables_need(kn_counter *counter, kn_counter_job *jobs, int64_t count, kn_error *err)
{
    int64_t missing = 0;
    for (int64_t i = 0; i < count; i++) {
        for (int g = 0; g < counter->group_count; g++) {
            kn_counter_group *group = &counter->groups[g];
            int64_t           number = kn_counter_table_number(group, jobs[i].levels);
            if (!jobs[i].from->codes[g] || group->tables[number]) continue;
            bool listed = false;
            for (int64_t m = missing - 1; !listed && m >= 0; m--)
                listed = counter->missing[m].group == g && counter->missing[m].number == number;
            if (listed) continue;
            if (!KN_GROW(counter->ctx, &counter->missing, &counter->missing_room, (size_t)missing + 1))
                return kn_fail_memory(err, counter->ctx, WHAT);
            counter->missing[missing++] = (kn_counter_missing){g, number, i};
        }
    }
    table_job job = {counter, jobs};
    return missing > 0 ? kn_parallel_for(counter->ctx, missing, TABLES_GRAIN, table_range, &job, err) : KN_OK;
}
