/* kn_generate.c: chunks of synthetic rows.
 *
 * A table is cut into chunks of CHUNK_ROWS rows. Chunk c draws its rows from random stream c of the seed, so any worker
 * can make any chunk and the bytes do not depend on the number of threads or of rows. Missing cells come from a stream of
 * their own: with and without them the other cells are the same. With persons, a row starts as its person's row, drawn
 * from the person's stream, and is then changed a little from the chunk's stream, as records of one person differ.
 *
 * Which person: the first M rows go through all M persons in an order given by the seed (a keyed permutation of
 * 0 .. M-1: nothing is stored, so M may be large), later rows draw one at random. So a table with at least M rows has
 * exactly M persons, and a longer table starts with a shorter one.
 *
 * Cost: an adult-like row takes about a tenth of a microsecond on one thread. Memory: one chunk's text per caller.
 * Limits: normal values go through the C library's log(), whose last bit may differ between libraries; after rounding
 * to whole numbers this changes about one value in 10^14.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_generate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_hash.h"
#include "kn_kind.h"
#include "kn_options.h"

enum { CHUNK_ROWS = 4096, MAX_ATTRIBUTES = 1024 };

static const int64_t MAX_ROWS = (int64_t)1 << 48;
static const int64_t MAX_CARDINALITY = (int64_t)1 << 31;

/* Streams besides the chunks' own, which are below 2^36. */
#define STREAM_MISSING ((uint64_t)1 << 62)
#define STREAM_PERSON ((uint64_t)1 << 63)

struct kn_generator {
    kn_context         *ctx;
    const kn_kind      *kind;
    void               *model;
    kn_generate_options options;
    int                 extra;   /* columns before the kind's: id, person */
    int                 columns; /* of the kind                           */
    int                 cells;   /* numbers per row                       */
    int                 person_bits;
    uint64_t            person_keys[4];
};

static const kn_kind *const kinds[] = {&kn_kind_adult_like, &kn_kind_uniform,         &kn_kind_normal,
                                       &kn_kind_patients,   &kn_kind_adult_dependent, &kn_kind_hospital};
enum { KIND_COUNT = sizeof kinds / sizeof *kinds };

const char *kn_generate_kind_name(kn_generate_kind kind)
{
    return (unsigned)kind < KIND_COUNT ? kinds[kind]->name : NULL;
}

bool kn_generate_kind_parse(const char *name, kn_generate_kind *out)
{
    for (int i = 0; i < KIND_COUNT; i++) {
        if (strcmp(kinds[i]->name, name) != 0) continue;
        *out = (kn_generate_kind)i;
        return true;
    }
    return false;
}

/* ---- Options ---- */

static kn_status check_numbers(const kn_generate_options *o, kn_error *err)
{
    const kn_generate_options usual = KN_GENERATE_OPTIONS_INIT;
    bool normal = o->kind == KN_GENERATE_NORMAL, numbers = normal || o->kind == KN_GENERATE_UNIFORM;
    if (!numbers && (o->attributes != usual.attributes || o->cardinality != usual.cardinality))
        return kn_fail(err, KN_USAGE, "attributes and cardinality are for kinds uniform and normal");
    if (!normal && (o->mean != usual.mean || o->deviation != usual.deviation))
        return kn_fail(err, KN_USAGE, "mean and deviation are for kind normal");
    if (o->attributes < 1 || o->attributes > MAX_ATTRIBUTES)
        return kn_fail(err, KN_USAGE, "the number of attributes must be between 1 and %d", MAX_ATTRIBUTES);
    if (o->cardinality < 1 || o->cardinality > MAX_CARDINALITY)
        return kn_fail(err, KN_USAGE, "the cardinality must be between 1 and %lld", (long long)MAX_CARDINALITY);
    if (!isfinite(o->mean)) return kn_fail(err, KN_USAGE, "the mean must be a finite number");
    if (!isfinite(o->deviation)) return kn_fail(err, KN_USAGE, "the deviation must be a finite number");
    return KN_OK;
}

static kn_status check(const kn_generate_options *o, kn_error *err)
{
    if ((unsigned)o->kind >= KIND_COUNT) return kn_fail(err, KN_USAGE, "there is no such kind of synthetic table");
    if (o->rows < 0 || o->rows > MAX_ROWS)
        return kn_fail(err, KN_USAGE, "the number of rows must be between 0 and %lld", (long long)MAX_ROWS);
    if (o->entities < 0 || o->entities > o->rows)
        return kn_fail(err, KN_USAGE, "the number of entities must be between 1 and the number of rows");
    if (!(o->missing >= 0 && o->missing <= 1))
        return kn_fail(err, KN_USAGE, "the share of missing cells must be between 0 and 1");
    if (o->missing > 0 && kinds[o->kind]->may_miss == 0)
        return kn_fail(err, KN_USAGE, "a table of kind %s has no missing cells", kinds[o->kind]->name);
    if (o->delimiter == '\0' || !strchr(",;|\t", o->delimiter))
        return kn_fail(err, KN_USAGE, "the delimiter must be a comma, a semicolon, a bar or a tab");
    return check_numbers(o, err);
}

kn_status kn_generator_create(kn_generator **out, kn_context *ctx, const kn_generate_options *options, kn_error *err)
{
    *out = NULL;
    if (!options) return kn_fail(err, KN_USAGE, "generating a table needs options");
    KN_OPTIONS(kn_generate_options, KN_GENERATE_OPTIONS_INIT, options, "generate options", err);
    KN_TRY(check(options, err));
    kn_generator *g = kn_alloc_zero(ctx, sizeof *g);
    if (!g) return kn_fail_memory(err, ctx, "generating a table");
    g->ctx = ctx;
    g->options = *options;
    g->kind = kinds[options->kind];
    g->columns = g->kind->columns ? g->kind->column_count : options->attributes;
    g->cells = g->kind->cell_count ? g->kind->cell_count : g->columns;
    g->extra = (options->id ? 1 : 0) + (options->entities > 0 ? 1 : 0);
    g->model = g->kind->create(ctx, options);
    if (!g->model) {
        kn_generator_free(g);
        return kn_fail_memory(err, ctx, "generating a table");
    }
    kn_rng rng;
    kn_rng_init(&rng, options->seed, STREAM_PERSON | STREAM_MISSING);
    for (int i = 0; i < 4; i++) g->person_keys[i] = kn_rng_next(&rng);
    g->person_bits = 2; /* an even number of bits that can hold every person */
    while (((int64_t)1 << g->person_bits) < options->entities) g->person_bits += 2;
    *out = g;
    return KN_OK;
}

void kn_generator_free(kn_generator *g)
{
    if (!g) return;
    KN_FREE(g->model, g);
}

/* ---- Shape ---- */

int64_t kn_generator_chunks(const kn_generator *g)
{
    return (g->options.rows + CHUNK_ROWS - 1) / CHUNK_ROWS;
}

int64_t kn_generator_chunk_rows(const kn_generator *g, int64_t chunk)
{
    int64_t left = g->options.rows - chunk * CHUNK_ROWS;
    return left < CHUNK_ROWS ? left : CHUNK_ROWS;
}

int kn_generator_columns(const kn_generator *g)
{
    return g->extra + g->columns;
}

size_t kn_generator_column_name(const kn_generator *g, int column, char name[32])
{
    int n;
    if (column >= g->extra && !g->kind->columns)
        n = snprintf(name, 32, "a%d", column - g->extra + 1);
    else if (column >= g->extra)
        n = snprintf(name, 32, "%s", g->kind->columns[column - g->extra]);
    else
        n = snprintf(name, 32, "%s", column == 0 && g->options.id ? "id" : "person");
    return (size_t)n;
}

/* ---- Rows ---- */

/* The i-th person, 0 <= i < entities: four Feistel rounds over person_bits bits, repeated until the result is a person
 * (fewer than 4 times on average, as 2^person_bits < 4 × entities). */
static int64_t nth_person(const kn_generator *g, int64_t i)
{
    int      half = g->person_bits / 2;
    uint64_t mask = ((uint64_t)1 << half) - 1;
    uint64_t x = (uint64_t)i;
    do {
        uint64_t left = x >> half, right = x & mask;
        for (int round = 0; round < 4; round++) {
            uint64_t next = left ^ (kn_hash_word(right ^ g->person_keys[round]) & mask);
            left = right;
            right = next;
        }
        x = (left << half) | right;
    } while (x >= (uint64_t)g->options.entities);
    return (int64_t)x;
}

/* Draws the next row of a chunk. `person` is set where there are persons. */
static void draw_row(const kn_generator *g, int64_t row, kn_rng *rng, uint32_t *cells, int64_t *person)
{
    if (g->options.entities == 0) {
        g->kind->draw(g->model, rng, cells);
        return;
    }
    *person =
        row < g->options.entities ? nth_person(g, row) : (int64_t)kn_rng_below(rng, (uint64_t)g->options.entities);
    kn_rng own;
    kn_rng_init(&own, g->options.seed, STREAM_PERSON | (uint64_t)*person);
    g->kind->draw(g->model, &own, cells);
    g->kind->again(g->model, rng, cells);
}

/* Bit c: column c of this row is missing. */
static uint32_t draw_missing(const kn_generator *g, kn_rng *rng)
{
    uint32_t missing = 0;
    if (g->options.missing <= 0) return 0;
    for (uint32_t left = g->kind->may_miss; left; left &= left - 1)
        if (kn_rng_double(rng) < g->options.missing) missing |= left & -left;
    return missing;
}

char *kn_synthetic_number(char *to, uint64_t number)
{
    char  digits[20];
    char *at = digits + sizeof digits;
    do *--at = (char)('0' + number % 10);
    while (number /= 10);
    size_t size = (size_t)(digits + sizeof digits - at);
    memcpy(to, at, size);
    return to + size;
}

/* Writes the text of column c >= extra, or nothing where it is missing. */
static char *put_cell(const kn_generator *g, int column, const uint32_t *cells, uint32_t missing, char *to)
{
    int own = column - g->extra;
    if (missing && own < 32 && (missing >> own & 1)) return to;
    return g->kind->put(g->model, own, cells, to);
}

static char *put_row(const kn_generator *g, int64_t row, int64_t person, const uint32_t *cells, uint32_t missing,
                     char *to)
{
    if (g->options.id) {
        to = kn_synthetic_number(to, (uint64_t)row + 1);
        *to++ = g->options.delimiter;
    }
    if (g->options.entities > 0) {
        to = kn_synthetic_number(to, (uint64_t)person + 1);
        *to++ = g->options.delimiter;
    }
    for (int c = g->extra; c < g->extra + g->columns; c++) {
        to = put_cell(g, c, cells, missing, to);
        *to++ = g->options.delimiter;
    }
    to[-1] = '\n';
    return to;
}

kn_status kn_generator_header(const kn_generator *g, kn_buffer *to, kn_error *err)
{
    char name[32];
    for (int c = 0; c < kn_generator_columns(g); c++) {
        if (c > 0) kn_buffer_char(to, g->options.delimiter);
        kn_buffer_append(to, name, kn_generator_column_name(g, c, name));
    }
    kn_buffer_char(to, '\n');
    return to->failed ? kn_fail_memory(err, g->ctx, "generating a table") : KN_OK;
}

kn_status kn_generator_chunk(const kn_generator *g, int64_t chunk, kn_buffer *to, kn_error *err)
{
    int64_t   first = chunk * CHUNK_ROWS, rows = kn_generator_chunk_rows(g, chunk), person = 0;
    size_t    row_room = (size_t)kn_generator_columns(g) * (KN_CELL_ROOM + 1);
    uint32_t *cells = kn_alloc_array(g->ctx, (size_t)g->cells, sizeof *cells);
    if (!cells) return kn_fail_memory(err, g->ctx, "generating a table");
    kn_rng rng, hide;
    kn_rng_init(&rng, g->options.seed, (uint64_t)chunk);
    kn_rng_init(&hide, g->options.seed, STREAM_MISSING | (uint64_t)chunk);
    for (int64_t i = 0; i < rows; i++) {
        char *room = kn_buffer_reserve(to, row_room);
        if (!room) break;
        draw_row(g, first + i, &rng, cells, &person);
        to->size += (size_t)(put_row(g, first + i, person, cells, draw_missing(g, &hide), room) - room);
    }
    kn_free(cells);
    return to->failed ? kn_fail_memory(err, g->ctx, "generating a table") : KN_OK;
}

/* ---- Tables in memory ---- */

static uint32_t intern_cell(const kn_generator *g, int column, int64_t row, int64_t person, const uint32_t *cells,
                            uint32_t missing, kn_interner *interner)
{
    char  text[KN_CELL_ROOM];
    char *end;
    if (column >= g->extra)
        end = put_cell(g, column, cells, missing, text);
    else
        end = kn_synthetic_number(text, 1 + (uint64_t)(column == 0 && g->options.id ? row : person));
    if (end == text) return KN_ID_MISSING;
    kn_string s = {text, (size_t)(end - text)};
    return kn_intern(interner, s);
}

kn_status kn_generator_intern(const kn_generator *g, int64_t chunk, kn_builder *builder, int slot, uint32_t *ids,
                              kn_error *err)
{
    int64_t   first = chunk * CHUNK_ROWS, rows = kn_generator_chunk_rows(g, chunk), person = 0;
    int       columns = kn_generator_columns(g);
    bool      failed = false;
    uint32_t *cells = kn_alloc_array(g->ctx, (size_t)g->cells, sizeof *cells);
    if (!cells) return kn_fail_memory(err, g->ctx, "generating a table");
    kn_rng rng, hide;
    kn_rng_init(&rng, g->options.seed, (uint64_t)chunk);
    kn_rng_init(&hide, g->options.seed, STREAM_MISSING | (uint64_t)chunk);
    for (int64_t i = 0; i < rows && !failed; i++) {
        draw_row(g, first + i, &rng, cells, &person);
        uint32_t missing = draw_missing(g, &hide);
        for (int c = 0; c < columns; c++) {
            uint32_t id = intern_cell(g, c, first + i, person, cells, missing, kn_builder_interner(builder, c, slot));
            failed |= id == KN_ID_FAILED;
            ids[c * rows + i] = id;
        }
    }
    kn_free(cells);
    return failed ? kn_fail_memory(err, g->ctx, "generating a table") : KN_OK;
}
