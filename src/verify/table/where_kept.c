/* table/where_kept.c: do the kept cells of released rows belong to them? Answered by the engine that holds both tables.
 *
 * Rows are compared as a whole: quasi-identifiers at the level that the release shows, or by the class that shows them where columns have
 * no level (table/where_classes.c), sensitive, weight and kept cells. A cell is
 * compared by a number: the distinct values of each column are read from both sides, the verifier's own reading of the
 * hierarchies and of values says which are equal, and the numbers go back as small tables (value, code) that the statement joins.
 * Kept columns, of which every row may have its own value, are compared by the engine itself where it can: of one type as they are, else as
 * numbers, or as the texts that it makes of them. If that fails they are compared by such numbers too, so that another spelling of a
 * value is no difference, just as in a release that is read whole.
 *
 * Rows of the original count + 1, released ones - 1, and equal ones are added up: what is below 0 has no original left. This
 * is EXCEPT in both directions, in one pass, and exact. Suppressed rows take no part.
 *
 * Cost: the engine's: one GROUP BY over all rows and columns of both. Memory: the distinct values of a column.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "kn_alloc.h"
#include "kn_arrow.h"
#include "kn_buffer.h"
#include "kn_connection.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_memory_arrow.h"
#include "kn_verify_internal.h"

/* Codes that are no value: of a text that the original does not have, one that the release must not have, a row that is left
 * out, a missing cell. */
enum {
    NO_ORIGINAL = KN_VCODE_NO_ORIGINAL,
    NO_RELEASE = KN_VCODE_NO_RELEASE,
    LEFT_OUT = KN_VCODE_LEFT_OUT,
    MISSING = KN_VCODE_MISSING
};
enum { ORIGINAL, RELEASE, SIDES };

/* By what: codes of values; or by the engine alone, as it is, as a number, as a text. */
typedef enum way { BY_CODE, AS_IS, AS_NUMBER, AS_TEXT } way;

/* A column that is compared. */
typedef struct compared {
    int        column[SIDES]; /* of the sides        */
    way        native;        /* not by codes        */
    kn_vquasi *quasi;         /* NULL: it is copied  */
    kn_vcopy  *copy;
    kn_vcopy   own;            /* of a kept column    */
    kn_vtable *values[SIDES];  /* of a kept column    */
    int64_t    missing[SIDES]; /* the code of a null  */
} compared;

typedef struct comparing {
    kn_verifier    *v;
    const kn_vside *sides[SIDES];
    compared       *columns;
    int             count;
    int            *levels;   /* per quasi-identifier */
    bool            by_class; /* quasi-identifiers are compared together, by the class that shows them */
    bool            ambiguous;
} comparing;

static kn_status no_memory(const comparing *k, kn_error *err)
{
    return kn_fail_memory(err, k->v->ctx, "verifying");
}

/* ---- Codes ---- */

static int64_t root_code(const kn_vtree *t)
{
    return t->leaves > 0 ? (int64_t)t->label[t->paths[t->height]] : MISSING;
}

int64_t kn_vquasi_code(const kn_verifier *v, const kn_vquasi *q, int level, uint32_t value)
{
    const kn_vtree *t = q->tree;
    bool            top = t->height > 0 && (uint32_t)level == t->height;
    if (value == KN_V_NONE) return NO_ORIGINAL;
    if (value == KN_V_MISSING) return v->spec->missing == KN_MISSING_DROP ? LEFT_OUT : top ? root_code(t) : MISSING;
    if (level == 0) return value;
    return t->label[t->paths[(size_t)t->leaf_of_value[value] * (t->height + 1) + (size_t)level]];
}

int64_t kn_vcell_code(const kn_vquasi *q, int level, const kn_vcell *cell)
{
    bool top = q->tree->height > 0 && (uint32_t)level == q->tree->height;
    if (cell->kind == KN_VCELL_MISSING) return MISSING;
    if (cell->kind == KN_VCELL_STAR) return top ? root_code(q->tree) : NO_RELEASE;
    if (cell->kind != KN_VCELL_NAMED) return NO_RELEASE;
    uint32_t code = level == 0 ? cell->value : cell->label;
    return code == KN_V_NONE ? NO_RELEASE : (int64_t)code;
}

static int64_t copy_code(const kn_vcopy *c, int side, kn_string text)
{
    if (c->exact && text.size == 0) return MISSING; /* nulls are not among the texts */
    uint32_t value = c->exact ? kn_texts_find(&c->domain.texts, text) : kn_vdomain_find(&c->domain, text);
    if (c->exact && value != KN_V_NONE && value >= c->original->count) value = KN_V_NONE;
    if (value == KN_V_NONE) return side == ORIGINAL ? NO_ORIGINAL : NO_RELEASE;
    return value == KN_V_MISSING ? MISSING : (int64_t)value;
}

/* The number of a text among the values of the original, or the texts of the release. */
static int64_t class_code(const kn_vquasi *q, int side, kn_string text, uint32_t number)
{
    uint32_t code = side == ORIGINAL ? kn_vdomain_find(&q->domain, text) : number;
    if (code == KN_V_NONE) return side == ORIGINAL ? NO_ORIGINAL : NO_RELEASE;
    return code == KN_V_MISSING ? MISSING : (int64_t)code;
}

/* Of a text; `number`: that it has among the release's texts of a quasi-identifier, or KN_V_NONE. */
static int64_t code_of(const comparing *k, const compared *c, int side, kn_string text, uint32_t number)
{
    if (!c->quasi) return copy_code(c->copy, side, text);
    if (k->by_class) return class_code(c->quasi, side, text, number);
    int level = k->levels[c->quasi - k->v->quasi];
    if (side == ORIGINAL) return kn_vquasi_code(k->v, c->quasi, level, kn_vdomain_find(&c->quasi->domain, text));
    return number == KN_V_NONE ? NO_RELEASE : kn_vcell_code(c->quasi, level, &c->quasi->cells[number]);
}

static uint32_t number_of(const kn_vcolumn *column, kn_string text)
{
    for (uint32_t i = 0; i < column->count; i++)
        if (kn_string_equal(column->texts[i], text)) return i;
    return KN_V_NONE;
}

/* ---- Values and codes as batches ---- */

typedef struct giving {
    kn_context        *ctx;
    kn_batches         held;
    const int64_t     *codes; /* per value */
    size_t             next;
    int64_t            row;
    struct ArrowSchema children[2], *list[2]; /* ends with it: not every reader releases what it is told */
} giving;

typedef struct given_batch {
    struct ArrowArray source, children[2], *list[2];
    const void       *own[1], *codes[2];
    int64_t          *numbers;
} given_batch;

static void keep_schema(struct ArrowSchema *s)
{
    s->release = NULL;
}

static int give_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    giving     *g = stream->private_data;
    const char *format = g->held.schema.children[0]->format;
    g->children[0] =
        (struct ArrowSchema){.format = format, .name = "value", .flags = ARROW_FLAG_NULLABLE, .release = keep_schema};
    g->children[1] = (struct ArrowSchema){.format = "l", .name = "code", .release = keep_schema};
    g->list[0] = &g->children[0];
    g->list[1] = &g->children[1];
    *out =
        (struct ArrowSchema){.format = "+s", .name = "", .n_children = 2, .children = g->list, .release = keep_schema};
    return 0;
}

static void keep_array(struct ArrowArray *a)
{
    a->release = NULL;
}

static void end_array(struct ArrowArray *a)
{
    given_batch *b = a->private_data;
    a->release = NULL;
    if (b->source.release) b->source.release(&b->source);
    KN_FREE(b->numbers, b);
}

/* The batch that was read, whole and with its owner, and the codes of its rows. */
static int give_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    giving *g = stream->private_data;
    *out = (struct ArrowArray){.release = NULL};
    if (g->next == g->held.count) return 0;
    given_batch *b = kn_alloc_zero(g->ctx, sizeof *b);
    size_t       rows = (size_t)g->held.arrays[g->next].length;
    int64_t     *numbers = b ? kn_alloc_array(g->ctx, rows + 1, sizeof *numbers) : NULL;
    if (!numbers) {
        kn_free(b);
        return ENOMEM;
    }
    memcpy(numbers, g->codes + g->row, rows * sizeof *numbers);
    b->source = g->held.arrays[g->next];
    g->held.arrays[g->next++].release = NULL;
    g->row += (int64_t)rows;
    b->numbers = numbers;
    b->codes[1] = numbers;
    b->children[0] = *b->source.children[0];
    b->children[0].offset += b->source.offset;
    b->children[0].length = (int64_t)rows;
    b->children[0].release = keep_array;
    b->children[1] =
        (struct ArrowArray){.length = (int64_t)rows, .n_buffers = 2, .buffers = b->codes, .release = keep_array};
    b->list[0] = &b->children[0];
    b->list[1] = &b->children[1];
    *out = (struct ArrowArray){.length = (int64_t)rows, .n_buffers = 1, .buffers = b->own, .n_children = 2};
    out->children = b->list;
    out->private_data = b;
    out->release = end_array;
    return 0;
}

static const char *no_error(struct ArrowArrayStream *stream)
{
    (void)stream;
    return NULL;
}

static void end_giving(struct ArrowArrayStream *stream)
{
    stream->release = NULL;
}

static void end_held(kn_batches *held)
{
    for (size_t i = 0; i < held->count; i++)
        if (held->arrays[i].release) held->arrays[i].release(&held->arrays[i]);
    if (held->schema.release) held->schema.release(&held->schema);
    kn_free(held->arrays);
}

/* ---- Values of a column ---- */

static kn_status hold(kn_batches *held, struct ArrowArrayStream *stream, const char *name, kn_error *err)
{
    int code = stream->get_schema(stream, &held->schema);
    for (bool more = code == 0; more && code == 0;) {
        if (!KN_GROW(held->ctx, &held->arrays, &held->capacity, held->count + 1))
            return kn_fail_memory(err, held->ctx, "verifying");
        struct ArrowArray *a = &held->arrays[held->count];
        *a = (struct ArrowArray){.release = NULL};
        code = stream->get_next(stream, a);
        more = code == 0 && a->release;
        held->count += more;
    }
    if (code == 0) return KN_OK;
    if (code == ENOMEM) return kn_fail_memory(err, held->ctx, "verifying");
    const char *said = stream->get_last_error ? stream->get_last_error(stream) : NULL;
    return kn_fail(err, code == EIO ? KN_IO : KN_INPUT, "%.300s: %.400s", name,
                   said ? said : "its rows cannot be read");
}

/* The distinct values that are not missing, as they came and as texts. */
static kn_status read_values(const comparing *k, const compared *c, int side, kn_batches *held, kn_vtable **texts,
                             kn_error *err)
{
    const kn_vside         *s = k->sides[side];
    kn_csv_options          csv = KN_CSV_OPTIONS_INIT;
    bool                    guarded = side == RELEASE && k->v->spec->spreadsheet_safe;
    kn_vread_options        read = {.csv = side == ORIGINAL ? &k->v->spec->csv : &csv, .all = true, .guarded = guarded};
    struct ArrowArrayStream stream;
    kn_buffer               sql;
    read.text = side == ORIGINAL && k->v->where->from_text;
    kn_buffer_init(&sql, k->v->ctx);
    kn_buffer_add(&sql, "SELECT DISTINCT ");
    kn_vside_put(&sql, s, c->column[side]);
    kn_buffer_format(&sql, " AS value FROM %s AS t WHERE ", s->table->relation);
    kn_vside_put(&sql, s, c->column[side]);
    kn_buffer_add(&sql, " IS NOT NULL");
    const char *text = kn_buffer_text(&sql);
    kn_status   st = text ? kn_connection_query(&stream, s->table->connection, k->v->ctx, text, s->table->name, err)
                          : no_memory(k, err);
    kn_buffer_free(&sql);
    if (st != KN_OK) return st;
    st = hold(held, &stream, s->table->name, err);
    stream.release(&stream);
    if (st != KN_OK) return st;
    kn_batches_lent         lent = {.batches = held};
    struct ArrowArrayStream again = kn_batches_lend(&lent);
    return kn_vtable_read_stream(texts, k->v->ctx, &again, s->table->name, &read, err);
}

static void put_map(kn_buffer *to, const comparing *k, const compared *c, int side)
{
    kn_buffer_format(to, "kanon_verify_%d_%d", side, (int)(c - k->columns));
}

/* A code per value. */
static kn_status find_codes(const comparing *k, compared *c, int side, const kn_vtable *t, int64_t **out, kn_error *err)
{
    const kn_vcolumn *column = &t->columns[0];
    uint32_t         *numbers = kn_alloc_array(k->v->ctx, (size_t)column->count + 1, sizeof *numbers);
    int64_t          *of_text = kn_alloc_array(k->v->ctx, (size_t)column->count + 1, sizeof *of_text);
    int64_t          *codes = kn_alloc_array(k->v->ctx, (size_t)t->rows + 1, sizeof *codes);
    bool              room = numbers && of_text && codes;
    for (uint32_t i = 0; room && i < column->count; i++) numbers[i] = KN_V_NONE;
    if (room && c->quasi && side == RELEASE) room = kn_vcolumn_translate(numbers, k->v->ctx, column, c->quasi->release);
    for (uint32_t i = 0; room && i < column->count; i++) of_text[i] = code_of(k, c, side, column->texts[i], numbers[i]);
    for (int64_t row = 0; room && row < t->rows; row++) codes[row] = of_text[kn_vcode(column, row)];
    KN_FREE(numbers, of_text);
    if (room) {
        kn_string nothing = {"", 0};
        c->missing[side] = code_of(k, c, side, nothing, c->quasi ? number_of(c->quasi->release, nothing) : KN_V_NONE);
        *out = codes;
        return KN_OK;
    }
    kn_free(codes);
    return no_memory(k, err);
}

/* Hands the table of values and codes to the engine. */
static kn_status give_map(const comparing *k, compared *c, int side, kn_batches *held, const kn_vtable *t,
                          kn_error *err)
{
    const kn_vside         *s = k->sides[side];
    int64_t                *codes = NULL;
    kn_buffer               name;
    giving                  g = {.ctx = k->v->ctx, .held = *held};
    struct ArrowArrayStream rows = {give_schema, give_next, no_error, end_giving, &g};
    KN_TRY(find_codes(k, c, side, t, &codes, err));
    g.codes = codes;
    kn_buffer_init(&name, k->v->ctx);
    put_map(&name, k, c, side);
    const char *text = kn_buffer_text(&name);
    kn_status   st =
        text ? kn_connection_put(s->table->connection, k->v->ctx, text, &rows, s->table->name, err) : no_memory(k, err);
    kn_buffer_free(&name);
    kn_free(codes);
    return st;
}

/* ---- Kept columns by their values ---- */

static kn_status open_kept(const comparing *k, compared *c, kn_error *err)
{
    kn_vcopy *own = &c->own;
    kn_vrows  rows = {c->values[ORIGINAL]->rows, NULL};
    own->original = &c->values[ORIGINAL]->columns[0];
    own->release = &c->values[RELEASE]->columns[0];
    KN_TRY(kn_vdomain_make(&own->domain, k->v->ctx, k->v->spec, own->attribute, &rows, own->original, NULL, k->v->zone,
                           err));
    own->of_release = kn_alloc_array(k->v->ctx, (size_t)own->release->count + 1, sizeof *own->of_release);
    if (!own->of_release) return no_memory(k, err);
    for (uint32_t i = 0; i < own->release->count; i++)
        own->of_release[i] = kn_vdomain_find(&own->domain, own->release->texts[i]);
    return kn_verify_spelling(k->v, own, err);
}

static void close_kept(compared *c)
{
    kn_vdomain_free(&c->own.domain);
    KN_FREE(c->own.of_release, c->own.exact);
    c->own.of_release = c->own.exact = NULL;
    for (int side = 0; side < SIDES; side++) {
        kn_vtable_free(c->values[side]);
        c->values[side] = NULL;
    }
}

/* The tables of values and codes of both sides. */
static kn_status map_column(const comparing *k, compared *c, kn_error *err)
{
    kn_batches held[SIDES] = {{.ctx = k->v->ctx}, {.ctx = k->v->ctx}};
    kn_status  st = KN_OK;
    for (int side = 0; side < SIDES && st == KN_OK; side++)
        st = read_values(k, c, side, &held[side], &c->values[side], err);
    if (st == KN_OK && c->copy == &c->own) st = open_kept(k, c, err);
    for (int side = 0; side < SIDES && st == KN_OK; side++)
        st = give_map(k, c, side, &held[side], c->values[side], err);
    for (int side = 0; side < SIDES; side++) end_held(&held[side]);
    close_kept(c);
    return st;
}

/* ---- Cells that the engine compares ---- */

static kn_arrow_format format_of(const kn_vside *side, int column)
{
    kn_arrow_format f = {.kind = KN_ARROW_NULL};
    (void)kn_arrow_format_parse(side->formats[column], &f);
    return f;
}

/* Is a number with a fraction whole, and so small that all of its digits are written? */
static void put_whole(kn_buffer *to, const kn_vside *side, int column)
{
    kn_vside_put(to, side, column);
    kn_buffer_add(to, " = floor(");
    kn_vside_put(to, side, column);
    kn_buffer_add(to, ") AND abs(");
    kn_vside_put(to, side, column);
    kn_buffer_add(to, ") < 1e15");
}

/* A float by its digits. */
static void put_float(kn_buffer *to, const kn_vside *side, int column)
{
    kn_buffer_add(to, "CASE WHEN ");
    put_whole(to, side, column);
    kn_buffer_add(to, " THEN CAST(");
    kn_vside_put(to, side, column);
    kn_buffer_add(to, " AS DOUBLE) ELSE CAST(CAST(");
    kn_vside_put(to, side, column);
    kn_buffer_format(to, " AS %s) AS DOUBLE) END", kn_vside_word(side));
}

/* A number with a fraction, or a whole one as such; what is none is missing. */
static void put_number(kn_buffer *to, const kn_vside *side, int column)
{
    kn_arrow_format f = format_of(side, column);
    bool            fraction = f.kind == KN_ARROW_FLOAT;
    if (fraction) kn_buffer_add(to, "CASE WHEN NOT isnan(");
    if (fraction) kn_vside_put(to, side, column);
    if (fraction) kn_buffer_add(to, ") THEN ");
    if (fraction && f.width < 8) {
        put_float(to, side, column);
    } else {
        kn_buffer_add(to, "CAST(");
        kn_vside_put(to, side, column);
        kn_buffer_add(to, " AS DOUBLE)");
    }
    if (fraction) kn_buffer_add(to, " END");
}

/* The engine's text of a cell; where kanon writes another one, the comparison fails. */
static void put_text(kn_buffer *to, const kn_vside *side, int column)
{
    kn_arrow_kind kind = side->text[column] ? KN_ARROW_UTF8 : format_of(side, column).kind;
    if (kind == KN_ARROW_FLOAT) kn_buffer_add(to, "regexp_replace(");
    if (kind == KN_ARROW_TIMESTAMP) kn_buffer_add(to, "replace(");
    if (kind != KN_ARROW_UTF8) kn_buffer_add(to, "CAST(");
    kn_vside_put(to, side, column);
    if (kind != KN_ARROW_UTF8) kn_buffer_format(to, " AS %s)", kn_vside_word(side));
    if (kind == KN_ARROW_FLOAT) kn_buffer_add(to, ", '[.]0$', '')");
    if (kind == KN_ARROW_TIMESTAMP) kn_buffer_add(to, ", ' ', 'T')");
}

/* The same for DuckDB's numbers with a fraction, of which few have to be looked at by their text. */
static void put_fraction(kn_buffer *to, const kn_vside *side, int column)
{
    kn_buffer_add(to, "CASE WHEN isnan(");
    kn_vside_put(to, side, column);
    kn_buffer_add(to, ") THEN NULL WHEN ");
    put_whole(to, side, column);
    kn_buffer_add(to, " THEN CAST(CAST(");
    kn_vside_put(to, side, column);
    kn_buffer_add(to, " AS BIGINT) AS VARCHAR) WHEN ");
    kn_vside_put(to, side, column);
    kn_buffer_add(to, " <> floor(");
    kn_vside_put(to, side, column);
    kn_buffer_add(to, ") THEN CAST(");
    kn_vside_put(to, side, column);
    kn_buffer_add(to, " AS VARCHAR) ELSE ");
    put_text(to, side, column);
    kn_buffer_add(to, " END");
}

/* Without the apostrophe that keeps a spreadsheet from executing what begins by = or @; others are left to a comparison by codes. */
static void put_unguarded(kn_buffer *to, const comparing *k, const kn_vside *side, int column)
{
    bool guarded = k->v->spec->spreadsheet_safe && side == k->sides[RELEASE] &&
                   side->table->connection->dialect == KN_DIALECT_DUCKDB;
    kn_buffer_add(to, guarded ? "regexp_replace(" : "");
    put_text(to, side, column);
    kn_buffer_add(to, guarded ? ", '^''(''*[=@].)', '\\1')" : "");
}

/* Is it one of DuckDB's numbers with a fraction, and is no spelling of missing cells a number? `count` -1: they end with NULL. */
static bool is_plain_fraction(const kn_vside *side, int column, const char *const *na, int count)
{
    if (!side->real[column] || side->table->connection->dialect != KN_DIALECT_DUCKDB) return false;
    for (int i = 0; count < 0 ? na[i] != NULL : i < count; i++)
        if (strpbrk(na[i], "0123456789")) return false;
    return true;
}

/* A text without those that are spellings of missing cells. */
static void put_present(kn_buffer *to, const comparing *k, const kn_vside *side, int column)
{
    const kn_csv_options *csv = &k->v->spec->csv;
    const char *const    *na = csv->na ? csv->na : kn_default_na();
    int                   put = 0;
    if (is_plain_fraction(side, column, na, csv->na ? csv->na_count : -1)) {
        put_fraction(to, side, column);
        return;
    }
    kn_buffer_add(to, "CASE WHEN trim(BOTH ' \t' FROM ");
    put_text(to, side, column);
    for (int i = 0; csv->na ? i < csv->na_count : na[i] != NULL; i++) {
        kn_buffer_add(to, put++ > 0 ? ", " : ") NOT IN (");
        kn_connection_put_text(to, side->table->connection, na[i]);
    }
    kn_buffer_add(to, put > 0 ? ") THEN " : ") IS NOT NULL THEN ");
    put_unguarded(to, k, side, column);
    kn_buffer_add(to, " END");
}

static void put_native(kn_buffer *to, const comparing *k, const compared *c, int side)
{
    const kn_vside *s = k->sides[side];
    if (c->native == AS_TEXT)
        put_present(to, k, s, c->column[side]);
    else if (c->native == AS_NUMBER)
        put_number(to, s, c->column[side]);
    else
        kn_vside_put(to, s, c->column[side]);
}

/* ---- Nulls ---- */

/* A null of a kept column is refused as one that is read. */
static kn_status check_nulls(const comparing *k, kn_error *err)
{
    const kn_vside *s = k->sides[ORIGINAL];
    for (int i = 0; i < k->count && !kn_v_is_missing(k->v->spec, (kn_string){"", 0}); i++) {
        const compared *c = &k->columns[i];
        int64_t         nulls = 0;
        kn_buffer       sql;
        if (c->copy != &c->own) continue;
        kn_buffer_init(&sql, k->v->ctx);
        kn_buffer_format(&sql, "SELECT count(*) FROM %s AS t WHERE ", s->table->relation);
        if (s->real[c->column[ORIGINAL]])
            put_number(&sql, s, c->column[ORIGINAL]); /* NaN is none */
        else
            kn_vside_put(&sql, s, c->column[ORIGINAL]);
        kn_buffer_add(&sql, " IS NULL");
        const char *text = kn_buffer_text(&sql);
        kn_status   st = text ? kn_connection_number(&nulls, s->table->connection, k->v->ctx, text, s->table->name, err)
                              : no_memory(k, err);
        kn_buffer_free(&sql);
        if (st != KN_OK) return st;
        if (nulls > 0)
            return kn_fail(err, KN_INPUT, "%.300s: column \"%.200s\": " KN_ARROW_NO_NULLS, s->table->name,
                           s->names[c->column[ORIGINAL]]);
    }
    return KN_OK;
}

/* ---- The statement ---- */

/* Is the column a part of the class, by which rows are compared then? */
static bool in_class(const comparing *k, int i)
{
    return k->by_class && k->columns[i].quasi;
}

static int no_code(int side)
{
    return side == ORIGINAL ? NO_ORIGINAL : NO_RELEASE;
}

static void put_code(kn_buffer *to, const comparing *k, int i, int side)
{
    const compared *c = &k->columns[i];
    kn_buffer_add(to, "CASE WHEN ");
    kn_vside_put(to, k->sides[side], c->column[side]);
    kn_buffer_format(to, " IS NULL THEN %" PRId64 " ELSE coalesce(m%d.code, %d) END", c->missing[side], i,
                     no_code(side));
}

static void put_cells(kn_buffer *to, const comparing *k, int side)
{
    if (k->by_class) kn_buffer_format(to, "coalesce(k.n%d, %d) AS x, ", k->v->quasi_count, no_code(side));
    for (int i = 0; i < k->count; i++) {
        if (in_class(k, i)) continue;
        if (k->columns[i].native)
            put_native(to, k, &k->columns[i], side);
        else
            put_code(to, k, i, side);
        kn_buffer_format(to, " AS x%d, ", i);
    }
}

static void put_joins(kn_buffer *to, const comparing *k, int side)
{
    int parts = 0;
    for (int i = 0; i < k->count; i++) {
        if (k->columns[i].native) continue;
        kn_buffer_add(to, " LEFT JOIN ");
        put_map(to, k, &k->columns[i], side);
        kn_buffer_format(to, " AS m%d ON ", i);
        kn_vside_put(to, k->sides[side], k->columns[i].column[side]);
        kn_buffer_format(to, " = m%d.value", i);
    }
    if (k->by_class) kn_buffer_format(to, " LEFT JOIN kanon_classes_%d AS k ON ", side);
    for (int i = 0; i < k->count; i++) {
        if (!in_class(k, i)) continue;
        kn_buffer_format(to, "%sk.n%d = ", parts > 0 ? " AND " : "", parts);
        put_code(to, k, i, side);
        parts++;
    }
}

/* Rows that are shown as suppressed are left out. */
static void put_shown(kn_buffer *to, const comparing *k)
{
    bool sensitive = k->v->spec->suppressed != KN_SUPPRESSED_KEEP_SENSITIVE;
    int  put = 0;
    if (k->v->star_rows == 0) return;
    kn_buffer_add(to, " WHERE NOT coalesce(");
    for (int i = 0; i < k->count; i++) {
        const compared *c = &k->columns[i];
        if (c->copy && c->copy->attribute->role == KN_ROLE_SENSITIVE && !sensitive) continue;
        kn_buffer_add(to, put++ > 0 ? " AND " : "");
        kn_vside_put(to, k->sides[RELEASE], c->column[RELEASE]);
        kn_buffer_add(to, " = '*'");
    }
    kn_buffer_add(to, ", false)");
}

/* Rows with a missing quasi-identifier take no part if these are dropped. */
static void put_taking_part(kn_buffer *to, const comparing *k)
{
    int put = 0;
    if (k->v->spec->missing != KN_MISSING_DROP) return;
    if (k->by_class) kn_buffer_format(to, " WHERE x <> %d", LEFT_OUT);
    for (int i = 0; i < k->count && !k->by_class; i++)
        if (k->columns[i].quasi) kn_buffer_format(to, "%s x%d <> %d", put++ > 0 ? " AND" : " WHERE", i, LEFT_OUT);
}

static void put_statement(kn_buffer *to, const comparing *k)
{
    int columns = k->by_class;
    kn_buffer_add(to, "SELECT CAST(coalesce(sum(CASE WHEN n < 0 THEN -n ELSE 0 END), 0) AS BIGINT) AS a, "
                      "CAST(coalesce(sum(CASE WHEN n > 0 THEN n ELSE 0 END), 0) AS BIGINT) AS b FROM (SELECT ");
    if (k->by_class) kn_buffer_add(to, "x, ");
    for (int i = 0; i < k->count; i++) {
        if (in_class(k, i)) continue;
        kn_buffer_format(to, "x%d, ", i);
        columns++;
    }
    kn_buffer_add(to, "sum(n) AS n FROM (SELECT ");
    put_cells(to, k, ORIGINAL);
    kn_buffer_format(to, "1 AS n FROM %s AS t", k->sides[ORIGINAL]->table->relation);
    put_joins(to, k, ORIGINAL);
    kn_buffer_add(to, " UNION ALL SELECT ");
    put_cells(to, k, RELEASE);
    kn_buffer_format(to, "-1 AS n FROM %s AS t", k->sides[RELEASE]->table->relation);
    put_joins(to, k, RELEASE);
    put_shown(to, k);
    kn_buffer_add(to, ") AS u");
    put_taking_part(to, k);
    for (int i = 1; i <= columns; i++) kn_buffer_format(to, i > 1 ? ", %d" : " GROUP BY %d", i);
    kn_buffer_add(to, ") AS g");
}

/* How many released rows have no original left, and how many originals no row. */
static kn_status compare(const comparing *k, int64_t *invented, int64_t *left, kn_error *err)
{
    const kn_engine_table  *table = k->sides[RELEASE]->table;
    struct ArrowArrayStream stream;
    kn_vtable              *t = NULL;
    kn_csv_options          csv = KN_CSV_OPTIONS_INIT;
    kn_vread_options        read = {.csv = &csv, .all = true};
    kn_buffer               sql;
    for (int i = 0; i < k->count; i++)
        if (!k->columns[i].native) KN_TRY(map_column(k, &k->columns[i], err));
    kn_buffer_init(&sql, k->v->ctx);
    put_statement(&sql, k);
    const char *text = kn_buffer_text(&sql);
    kn_status   st =
        text ? kn_connection_query(&stream, table->connection, k->v->ctx, text, table->name, err) : no_memory(k, err);
    kn_buffer_free(&sql);
    if (st != KN_OK) return st;
    KN_TRY(kn_vtable_read_stream(&t, k->v->ctx, &stream, table->name, &read, err));
    bool good = t->rows == 1 && t->column_count == 2 && kn_parse_declared_integer(t->columns[0].texts[0], invented) &&
                kn_parse_declared_integer(t->columns[1].texts[0], left);
    kn_vtable_free(t);
    return good ? KN_OK : kn_fail(err, KN_INPUT, "%.300s: the engine gives no numbers", table->name);
}

/* ---- Columns and levels ---- */

/* The one level of a column: the one that is known, else the lowest that fits; -1: none does. */
static int level_of(comparing *k, const kn_vquasi *q)
{
    int found = -1, fitting = 0;
    for (uint32_t level = 0; level <= q->tree->height; level++) {
        if (!(q->levels[level / 64] >> level % 64 & 1)) continue;
        if (fitting++ == 0) found = (int)level;
    }
    if (q->unclaimed) return -1;
    bool claimed = k->v->options->levels != NULL;
    if (fitting > 1 && !claimed) k->ambiguous = true;
    return claimed ? q->level : found;
}

static way way_of(const comparing *k, const compared *c)
{
    const kn_vside *a = k->sides[ORIGINAL], *b = k->sides[RELEASE];
    int             i = c->column[ORIGINAL], j = c->column[RELEASE];
    kn_arrow_format f = format_of(a, i), g = format_of(b, j);
    bool            zone = f.kind == KN_ARROW_TIMESTAMP && !f.naive;
    if (b->text[j]) return zone && !a->text[i] ? BY_CODE : AS_TEXT;
    if (a->text[i]) return BY_CODE;
    if (f.kind == KN_ARROW_FLOAT && (g.kind == KN_ARROW_FLOAT || kn_arrow_is_integer(&g))) return AS_NUMBER;
    if (kn_arrow_is_integer(&f) && kn_arrow_is_integer(&g)) return AS_IS;
    return strcmp(a->formats[i], b->formats[j]) == 0 ? AS_IS : BY_CODE;
}

static compared *add_column(comparing *k, const char *name)
{
    compared *c = &k->columns[k->count++];
    for (int side = 0; side < SIDES; side++) c->column[side] = kn_vside_find(k->sides[side], name);
    return c;
}

/* *possible: every quasi-identifier shows one level. */
static kn_status open_columns(comparing *k, bool *possible, kn_error *err)
{
    kn_verifier *v = k->v;
    int          most = v->spec->attribute_count;
    k->columns = kn_arena_array_zero(&v->arena, (size_t)most + 1, sizeof *k->columns);
    k->levels = kn_arena_array(&v->arena, (size_t)v->quasi_count + 1, sizeof *k->levels);
    if (v->arena.failed) return no_memory(k, err);
    *possible = true;
    for (int i = 0; i < v->quasi_count; i++) {
        add_column(k, v->quasi[i].attribute->name)->quasi = &v->quasi[i];
        k->levels[i] = level_of(k, &v->quasi[i]);
        if (k->levels[i] < 0) *possible = false;
    }
    for (int i = 0; i < v->copy_count; i++) add_column(k, v->copies[i].attribute->name)->copy = &v->copies[i];
    for (int i = 0; i < most; i++) {
        if (v->spec->attributes[i].role != KN_ROLE_KEEP) continue;
        compared *c = add_column(k, v->spec->attributes[i].name);
        c->own.attribute = &v->spec->attributes[i];
        c->copy = &c->own;
        c->native = way_of(k, c);
    }
    return KN_OK;
}

static void leave_open(kn_verifier *v, const char *why)
{
    kn_vopen(v->notes, "whether the kept cells of every released row are those of an original of its own: %s", why);
    if (v->report->assignment == KN_ASSIGNMENT_PROVED) v->report->assignment = KN_ASSIGNMENT_UNDECIDED;
}

static kn_status judge(comparing *k, int64_t invented, int64_t left, kn_error *err)
{
    kn_verifier *v = k->v;
    int64_t      shown = kn_vtotal(v->release) - v->star_rows;
    if (left - invented != v->originals - shown)
        return kn_fail(err, KN_INPUT, "%.300s or %.300s changed while it was verified", k->sides[ORIGINAL]->table->name,
                       k->sides[RELEASE]->table->name);
    if (invented == 0) return KN_OK;
    if (k->ambiguous && !k->by_class) {
        leave_open(v, "a label of the hierarchies is on several levels; give more memory (--memory-limit)");
        return KN_OK;
    }
    v->report->assignment = KN_ASSIGNMENT_REFUTED;
    kn_vproblem(v->notes,
                "%" PRId64 " released row%s cannot come from the original: no original that looks like %s and has the "
                "same sensitive and kept cells is left",
                invented, invented == 1 ? "" : "s", invented == 1 ? "it" : "them");
    return KN_OK;
}

kn_status kn_verify_kept(kn_verifier *v, kn_error *err)
{
    comparing k = {.v = v, .sides = {&v->where->original, &v->where->release}};
    bool      possible = true, native = false;
    int64_t   invented = 0, left = 0;
    if (!v->where->stars || v->report->assignment == KN_ASSIGNMENT_REFUTED) return KN_OK;
    KN_TRY(open_columns(&k, &possible, err));
    KN_TRY(check_nulls(&k, err));
    if (!possible) {
        KN_TRY(kn_vclasses_give(v, &k.by_class, err));
        v->where->local = !k.by_class;
    }
    if (v->where->local) {
        leave_open(v,
                   "a combination of the original may belong to several classes, and their combinations with the kept "
                   "columns do not fit the memory; allow more (--memory-limit)");
        return KN_OK;
    }
    KN_TRY(compare(&k, &invented, &left, err));
    for (int i = 0; i < k.count; i++) native = native || k.columns[i].native != BY_CODE;
    if (invented > 0 && native) { /* another spelling of a value is none */
        for (int i = 0; i < k.count; i++) k.columns[i].native = BY_CODE;
        KN_TRY(compare(&k, &invented, &left, err));
    }
    return judge(&k, invented, left, err);
}
