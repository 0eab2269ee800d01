/* table/where.c: a release that an engine holds, verified where it is. Interface: kn_verify_where.h.
 *
 * Of both tables the distinct combinations of quasi-identifiers, sensitive and weight columns are read, with their counts:
 * these are tables of counted rows, which everything else judges as it judges any (table/verify.c): the promises, the budget, the
 * levels, the metrics, and whether every released row has an original of its own. Kept columns, which would make every
 * combination different, are compared by the engine (table/where_kept.c). It can do that where each column has one level, or each
 * combination one class; where classes overlap, kept columns are read among the combinations, and if these do not fit, it stays
 * open whether they belong to their rows. What can mark a row although the cells do not show it is seen in the groups, or asked
 * for by one more statement, and a Parquet file or folder behind the release is looked at as ever.
 *
 * All statements are made here and in table/where_kept.c, in the SQL that DuckDB, PostgreSQL and Spark have in common; a name
 * and the word for texts are all that differs. Nothing is cast, so that a cell's text is that of kn_arrow.h; a column with a
 * dictionary is read as text.
 *
 * Cost: one GROUP BY of each table; of kept texts and numbers with fractions one more pass over the release. Memory: the
 * distinct combinations of both.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_verify_where.h"

#include <stdlib.h>

#include "kn_alloc.h"
#include "kn_arrow.h"
#include "kn_buffer.h"
#include "kn_columnar.h"
#include "kn_connection.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_memory.h"
#include "kn_options.h"
#include "kn_sha256.h"
#include "kn_source.h"
#include "kn_verify_internal.h"
#include "kn_verify_text.h"

#define COUNT_NAME "(rows)"
#define STARS_NAME "(stars)"

enum { ROW_BYTES = 1 << 16 }; /* that are digested at a time */

static kn_status no_memory(const kn_verifier *v, kn_error *err)
{
    return kn_fail_memory(err, v->ctx, "verifying");
}

/* ---- Columns ---- */

int kn_vside_find(const kn_vside *side, const char *name)
{
    for (int i = 0; i < side->count; i++)
        if (strcmp(side->names[i], name) == 0) return i;
    return -1;
}

const char *kn_vside_word(const kn_vside *side)
{
    switch (side->table->connection->dialect) {
    case KN_DIALECT_POSTGRESQL: return "TEXT";
    case KN_DIALECT_SPARK: return "STRING";
    default: return "VARCHAR";
    }
}

void kn_vside_put(kn_buffer *to, const kn_vside *side, int column)
{
    if (side->coded[column]) kn_buffer_add(to, "CAST(");
    kn_buffer_add(to, "t.");
    kn_connection_put_name(to, side->table->connection, side->names[column]);
    if (side->coded[column]) kn_buffer_format(to, " AS %s)", kn_vside_word(side));
}

static bool take_column(kn_verifier *v, kn_vside *side, int i, const struct ArrowSchema *s)
{
    const struct ArrowSchema *values = s && s->dictionary ? s->dictionary : s;
    kn_arrow_format           f;
    if (!s || !s->name || !values->format) return false;
    bool known = kn_arrow_format_parse(values->format, &f);
    side->names[i] = kn_arena_strndup(&v->arena, s->name, strlen(s->name));
    side->formats[i] = kn_arena_strndup(&v->arena, values->format, strlen(values->format));
    side->coded[i] = s->dictionary != NULL;
    side->text[i] = s->dictionary || (known && (f.kind == KN_ARROW_UTF8 || f.kind == KN_ARROW_VIEW));
    side->real[i] = !s->dictionary && known && f.kind == KN_ARROW_FLOAT;
    return true;
}

static kn_status take_schema(kn_verifier *v, kn_vside *side, const struct ArrowSchema *s, kn_error *err)
{
    bool   good = s->format && strcmp(s->format, "+s") == 0 && s->n_children > 0 && s->children;
    size_t count = good ? (size_t)s->n_children : 0;
    side->names = kn_arena_array(&v->arena, count + 1, sizeof *side->names);
    side->formats = kn_arena_array(&v->arena, count + 1, sizeof *side->formats);
    side->text = kn_arena_array_zero(&v->arena, count + 1, sizeof *side->text);
    side->real = kn_arena_array_zero(&v->arena, count + 1, sizeof *side->real);
    side->coded = kn_arena_array_zero(&v->arena, count + 1, sizeof *side->coded);
    for (int i = 0; good && !v->arena.failed && i < (int)count; i++, side->count++)
        good = take_column(v, side, i, s->children[i]);
    if (v->arena.failed) return no_memory(v, err);
    return good ? KN_OK
                : kn_fail(err, KN_INPUT, "%.300s: the engine does not say which columns it has", side->table->name);
}

/* Executes the statement and clears its text. */
static kn_status ask(struct ArrowArrayStream *out, kn_verifier *v, const kn_vside *side, kn_buffer *sql, kn_error *err)
{
    const char *text = kn_buffer_text(sql);
    kn_status   st = text ? kn_connection_query(out, side->table->connection, v->ctx, text, side->table->name, err)
                          : no_memory(v, err);
    kn_buffer_free(sql);
    return st;
}

static kn_status describe(kn_verifier *v, kn_vside *side, kn_error *err)
{
    struct ArrowArrayStream stream;
    struct ArrowSchema      schema = {.release = NULL};
    kn_buffer               sql;
    kn_buffer_init(&sql, v->ctx);
    kn_buffer_format(&sql, "SELECT * FROM %s AS t LIMIT 0", side->table->relation);
    KN_TRY(ask(&stream, v, side, &sql, err));
    kn_status st = stream.get_schema(&stream, &schema) == 0
                       ? take_schema(v, side, &schema, err)
                       : kn_fail(err, KN_INPUT, "%.300s: the engine gives no columns", side->table->name);
    if (schema.release) schema.release(&schema);
    stream.release(&stream);
    return st;
}

/* ---- Distinct rows ---- */

/* Every kept column is "*"? A text that says so; nothing where a column is not one of texts. */
static void put_stars(kn_buffer *to, const kn_verifier *v, const kn_vside *side)
{
    bool      possible = true;
    int       put = 0;
    kn_buffer all;
    kn_buffer_init(&all, v->ctx);
    for (int i = 0; i < v->spec->attribute_count; i++) {
        int column = kn_vside_find(side, v->spec->attributes[i].name);
        if (v->spec->attributes[i].role != KN_ROLE_KEEP || column < 0) continue;
        possible = possible && side->text[column];
        kn_buffer_add(&all, put++ > 0 ? " AND " : "");
        kn_vside_put(&all, side, column);
        kn_buffer_add(&all, " = '*'");
    }
    const char *condition = kn_buffer_text(&all);
    if (!condition) to->failed = true;
    if (possible && put > 0 && condition)
        kn_buffer_format(to, "CASE WHEN %s THEN '*' ELSE '' END", condition);
    else
        kn_buffer_add(to, "''");
    kn_buffer_free(&all);
}

/* The column of an attribute that is grouped; -1: it is not. */
static int grouped_column(const kn_verifier *v, const kn_vside *side, const kn_attribute *a)
{
    bool kept = a->role == KN_ROLE_KEEP && !v->where->whole;
    return kn_verify_is_released(v->spec, a) && !kept ? kn_vside_find(side, a->name) : -1;
}

/* `stars`: with a column of that. Returns how many columns are asked for. */
static int put_grouping(kn_buffer *to, const kn_verifier *v, const kn_vside *side, bool stars)
{
    int columns = 0;
    kn_buffer_add(to, "SELECT ");
    for (int i = 0; i < v->spec->attribute_count; i++) {
        const kn_attribute *a = &v->spec->attributes[i];
        int                 column = grouped_column(v, side, a);
        if (column < 0) continue;
        kn_vside_put(to, side, column);
        kn_buffer_add(to, " AS ");
        kn_connection_put_name(to, side->table->connection, a->name);
        kn_buffer_add(to, ", ");
        columns++;
    }
    if (stars) {
        put_stars(to, v, side);
        kn_buffer_add(to, " AS ");
        kn_connection_put_name(to, side->table->connection, STARS_NAME);
        kn_buffer_add(to, ", ");
        columns++;
    }
    kn_buffer_add(to, "count(*) AS ");
    kn_connection_put_name(to, side->table->connection, COUNT_NAME);
    kn_buffer_format(to, " FROM %s AS t", side->table->relation);
    for (int pass = 0; pass < 2 && columns > 0; pass++) /* in their order, so that row numbers mean something */
        for (int i = 1; i <= columns; i++)
            kn_buffer_format(to, i > 1 ? ", %d" : pass ? " ORDER BY %d" : " GROUP BY %d", i);
    return columns + 1;
}

static kn_status read_side(kn_vtable **out, kn_verifier *v, const kn_vside *side, bool stars,
                           const kn_vread_options *options, kn_error *err)
{
    struct ArrowArrayStream stream;
    kn_buffer               sql;
    kn_buffer_init(&sql, v->ctx);
    int asked = put_grouping(&sql, v, side, stars);
    KN_TRY(ask(&stream, v, side, &sql, err));
    KN_TRY(kn_vtable_read_stream(out, v->ctx, &stream, side->table->name, options, err));
    kn_vtable *t = *out;
    if (t->column_count != asked)
        return kn_fail(err, KN_INPUT, "%.300s: the engine answers with other columns than were asked for",
                       side->table->name);
    KN_TRY(kn_verify_take_counts(v, t, &t->columns[t->column_count - 1], side->table->name, err));
    if (stars) v->where->stars = &t->columns[t->column_count - 2];
    return kn_vtable_take_names(t, side->names, side->count, err);
}

static bool keeps_columns(const kn_spec *spec)
{
    for (int i = 0; i < spec->attribute_count; i++)
        if (spec->attributes[i].role == KN_ROLE_KEEP) return true;
    return false;
}

kn_status kn_vside_read(kn_vtable **out, kn_verifier *v, kn_vside *side, const kn_vread_options *options, kn_error *err)
{
    KN_TRY(describe(v, side, err));
    return read_side(out, v, side, keeps_columns(v->spec), options, err);
}

/* ---- Form ---- */

/* The place of a column among those that were grouped; -1: it is none of them. */
static int grouped_place(const kn_verifier *v, const kn_vside *side, int column)
{
    for (int i = 0, place = 0; i < v->spec->attribute_count; i++) {
        int found = grouped_column(v, side, &v->spec->attributes[i]);
        if (found < 0) continue;
        if (found == column) return place;
        place++;
    }
    return -1;
}

/* Must the rows be asked for its marks? Groups tell missing texts from empty ones. */
static bool is_asked(const kn_verifier *v, const kn_vside *side, int column)
{
    return side->real[column] || (side->text[column] && grouped_place(v, side, column) < 0);
}

/* Two numbers per column: of texts the missing and the empty ones, of numbers with fractions the negative zeros and those that are
 * none. */
static void put_marks(kn_buffer *to, const kn_verifier *v, const kn_vside *side)
{
    kn_buffer cell;
    kn_buffer_init(&cell, v->ctx);
    kn_buffer_add(to, "SELECT count(*) AS n");
    for (int i = 0; i < side->count; i++) {
        if (!is_asked(v, side, i)) continue;
        kn_buffer_clear(&cell);
        kn_vside_put(&cell, side, i);
        const char *c = kn_buffer_text(&cell), *word = kn_vside_word(side);
        if (!c) to->failed = true;
        if (c && side->text[i])
            kn_buffer_format(
                to, ", count(CASE WHEN %s IS NULL THEN 1 END) AS a%d, count(CASE WHEN %s = '' THEN 1 END) AS b%d", c, i,
                c, i);
        else if (c)
            kn_buffer_format(to,
                             ", count(CASE WHEN %s = 0 AND CAST(%s AS %s) LIKE '-%%' THEN 1 END) AS a%d, "
                             "count(CASE WHEN CAST(%s AS %s) IN ('NaN', 'nan') THEN 1 END) AS b%d",
                             c, c, word, i, c, word, i);
    }
    kn_buffer_format(to, " FROM %s AS t", side->table->relation);
    kn_buffer_free(&cell);
}

static bool counts_any(const kn_vtable *t, int column)
{
    return t->rows == 1 && !kn_string_equal(t->columns[column].texts[0], (kn_string){"0", 1});
}

static kn_status ask_for_marks(kn_verifier *v, const kn_vside *side, kn_error *err)
{
    struct ArrowArrayStream stream;
    kn_vtable              *t = NULL;
    kn_csv_options          csv = KN_CSV_OPTIONS_INIT;
    kn_vread_options        read = {.csv = &csv, .all = true};
    kn_buffer               sql;
    kn_buffer_init(&sql, v->ctx);
    put_marks(&sql, v, side);
    KN_TRY(ask(&stream, v, side, &sql, err));
    KN_TRY(kn_vtable_read_stream(&t, v->ctx, &stream, side->table->name, &read, err));
    for (int i = 0, at = 1; i < side->count && at + 1 < t->column_count; i++) {
        if (!is_asked(v, side, i)) continue;
        bool a = counts_any(t, at), b = counts_any(t, at + 1);
        int marks = side->text[i] ? (a && b ? KN_VMARK_EMPTY : 0) : (a ? KN_VMARK_ZERO : 0) | (b ? KN_VMARK_HIDDEN : 0);
        kn_vform_marks(side->names[i], marks, kn_vproblem_sentence, v->notes);
        at += 2;
    }
    kn_vtable_free(t);
    return KN_OK;
}

static kn_status look_for_marks(kn_verifier *v, const kn_vside *side, kn_error *err)
{
    bool asked = false;
    for (int i = 0; i < side->count; i++) {
        int place = side->text[i] ? grouped_place(v, side, i) : -1;
        if (place >= 0 && v->release->columns[place].mixed)
            kn_vform_marks(side->names[i], KN_VMARK_EMPTY, kn_vproblem_sentence, v->notes);
        asked = asked || is_asked(v, side, i);
    }
    return asked ? ask_for_marks(v, side, err) : KN_OK;
}

static bool in_server(const kn_verifier *v)
{
    return v->where->release.table->connection->dialect == KN_DIALECT_POSTGRESQL;
}

/* Of a server's table: of the CSV file with its rows, in their order. */
static kn_status digest_rows(kn_verifier *v, kn_error *err)
{
    kn_source *source = NULL;
    kn_sha256  state;
    size_t     got = 1;
    char      *buffer = kn_arena_bytes(&v->arena, ROW_BYTES);
    if (!buffer) return no_memory(v, err);
    kn_sha256_begin(&state);
    KN_TRY(kn_source_open(&source, v->ctx, v->options->release, err));
    kn_status st = KN_OK;
    while (st == KN_OK && got > 0) {
        if (kn_cancelled(v->ctx)) st = kn_fail_cancelled(err);
        if (st == KN_OK) st = kn_source_read(source, buffer, ROW_BYTES, &got, err);
        if (st == KN_OK) kn_sha256_add(&state, buffer, got);
    }
    kn_source_free(source);
    if (st == KN_OK) kn_sha256_text(&state, v->report->sha256);
    return st;
}

/* Of the file or folder behind the release, or of a server's table. */
static kn_status look_at_files(kn_verifier *v, kn_error *err)
{
    kn_vtable *t = v->release;
    t->form.marks = kn_arena_array_zero(&t->arena, (size_t)t->column_count + 1, sizeof *t->form.marks);
    if (!t->form.marks) return no_memory(v, err);
    if (v->where->text) {
        kn_vform_judge(v->where->text, kn_vproblem_sentence, v->notes);
        memcpy(v->report->sha256, v->where->text->sha256, sizeof v->report->sha256);
        return KN_OK;
    }
    if (!v->options->release) return KN_OK;
    if (kn_columnar_kind_of(v->ctx, v->options->release) == KN_COLUMNAR_NONE && in_server(v))
        return digest_rows(v, err);
    KN_TRY(kn_vtable_look_parquet(t, v->options->release, err));
    kn_vdigest_file(kn_memory_path(v->ctx, v->options->release), v->report->sha256);
    return KN_OK;
}

/* ---- All of it ---- */

/* Bytes that a distinct combination of the original takes at most, until all is judged. */
enum { COMBINATION_BYTES = 250 };

/* Can the original stay apart? Each column must show one level, and nothing is compared with a population. */
static bool can_stay_apart(const kn_verifier *v)
{
    for (int i = 0; i < v->spec->model_count; i++)
        if (v->spec->models[i].kind == KN_MODEL_K_MAP || v->spec->models[i].kind == KN_MODEL_PRESENCE) return false;
    return !v->where->whole && !v->spec->method_auto && kn_method_family(v->spec->method) == KN_FAMILY_FULL_DOMAIN &&
           !v->spec->population;
}

static kn_status read_original(kn_verifier *v, const kn_vread_options *options, kn_error *err)
{
    kn_status st = v->where->apart && can_stay_apart(v)
                       ? KN_MEMORY
                       : read_side(&v->original, v, &v->where->original, false, options, err);
    bool      fits = st == KN_OK && (!kn_memory_limited(v->ctx) ||
                                (double)v->original->rows * COMBINATION_BYTES <= (double)v->ctx->memory_limit);
    if (fits || (st != KN_OK && st != KN_MEMORY) || !can_stay_apart(v)) return st;
    kn_vtable_free(v->original);
    v->original = NULL;
    return kn_vcoded_read(v, options, err);
}

static kn_status read_both(kn_verifier *v, kn_error *err)
{
    kn_csv_options   csv = KN_CSV_OPTIONS_INIT;
    kn_vread_options original = {.csv = &v->spec->csv, .all = true, .text = v->where->from_text};
    kn_vread_options release = {.csv = &csv, .all = true, .guarded = v->spec->spreadsheet_safe};
    KN_TRY(describe(v, &v->where->original, err));
    KN_TRY(describe(v, &v->where->release, err));
    KN_TRY(read_original(v, &original, err));
    KN_TRY(read_side(&v->release, v, &v->where->release, !v->where->whole && keeps_columns(v->spec), &release, err));
    if (v->release->unguarded > 0)
        kn_vproblem(v->notes,
                    "a spreadsheet would execute a cell of the release, which spreadsheet-safe does not allow");
    KN_TRY(look_for_marks(v, &v->where->release, err));
    return look_at_files(v, err);
}

/* Says what the numbers of rows in the problems are. */
static void explain_rows(const kn_verifier *v)
{
    for (int i = 0; i < v->report->problem_count; i++) {
        const char *at = strstr(v->report->problems[i], "row ");
        if (!at || at[4] < '0' || at[4] > '9') continue;
        kn_vproblem(v->notes,
                    "(rows are counted here in the release's distinct combinations of %s columns, sorted by these)",
                    v->where->whole ? "all" : "quasi-identifiers and sensitive");
        return;
    }
}

static kn_status check(kn_verifier *v, kn_error *err)
{
    KN_TRY(kn_verify_begin(v, err));
    KN_TRY(read_both(v, err));
    KN_TRY(kn_verify_judge(v, err));
    explain_rows(v);
    return KN_OK;
}

const char *kn_verify_needs_rows(const kn_spec *spec, const kn_verify_options *o)
{
    if (o->map || o->map_path) return "a row map";
    if (o->summary) return "a summary";
    if (spec->entity_count > 0) return "an entity";
    if (spec->dependency_count > 0) return "a dependency";
    if (spec->csv.count) return "a column that counts rows";
    if (kn_spec_items_column(spec)) return "a column of sets";
    for (int i = 0; i < spec->attribute_count; i++)
        if (spec->attributes[i].pseudonym_key_file) return "a pseudonym";
    return NULL;
}

static kn_status check_request(const kn_spec *spec, const kn_verify_options *o, const kn_vwhere *w, kn_error *err)
{
    const char *what = kn_verify_needs_rows(spec, o);
    if (what)
        return kn_fail(err, KN_USAGE,
                       "%s: the table is not read whole, and %s needs every row; give more memory (--memory-limit)",
                       w->release.table->name, what);
    for (int i = 0; i < spec->attribute_count; i++)
        if (spec->attributes[i].role == KN_ROLE_KEEP && w->original.table->connection != w->release.table->connection)
            return kn_fail(err, KN_USAGE,
                           "column \"%s\" is kept: the original and the release must be in the same engine",
                           spec->attributes[i].name);
    return KN_OK;
}

/* Is it known that equal rows may be in different classes? */
static bool parts_rows(const kn_spec *spec)
{
    return spec->method_given && !spec->method_auto &&
           (spec->method == KN_METHOD_MONDRIAN_RELAXED || kn_method_family(spec->method) == KN_FAMILY_KMSD);
}

/* With kept columns among the combinations, or compared by the engine; *local: which cannot, as classes overlap. */
static kn_status verify_once(kn_verify_report **out, bool *local, const kn_verifier *request, bool whole, kn_error *err)
{
    kn_verifier v = *request;
    kn_vwhere   where = *request->where;
    v.where = &where;
    v.arena = (kn_arena){.ctx = v.ctx};
    where.whole = whole;
    *out = NULL;
    kn_progress_begin(v.ctx, "verifying", "rows", 0);
    kn_status st = kn_verify_in_time(v.ctx, v.options->time_limit, check(&v, err), err);
    kn_progress_end(v.ctx);
    kn_vcoded_free(&v);
    kn_verifier_free(&v);
    *local = where.local;
    if (st == KN_OK) v.report->read = "the engine";
    if (st == KN_OK)
        *out = v.report;
    else
        kn_verify_report_free(v.report);
    return st;
}

static kn_status verify_tables(kn_verify_report **out, kn_context *ctx, const kn_spec *spec, kn_vwhere *where,
                               const kn_verify_options *options, kn_error *err)
{
    kn_verify_report *other = NULL;
    bool              local = false, whole = keeps_columns(spec) && parts_rows(spec);
    kn_verifier       request = {.ctx = ctx, .spec = spec, .options = options, .where = where};
    kn_status         st = verify_once(out, &local, &request, whole, err);
    if (whole && st == KN_MEMORY) return verify_once(out, &local, &request, false, err);
    if (st != KN_OK || !local) return st;
    st = verify_once(&other, &local, &request, true, err);
    if (st == KN_MEMORY) return KN_OK; /* what the engine could not judge stays open */
    kn_verify_report_free(*out);
    *out = other;
    return st;
}

/* CSV becomes a table of the engine before. */
static kn_status verify(kn_verify_report **out, kn_context *ctx, const kn_spec *spec, const kn_vwhere *where,
                        const kn_verify_options *options, kn_error *err)
{
    kn_vwhere tables = *where;
    kn_vtexts texts;
    *out = NULL;
    KN_OPTIONS(kn_verify_options, KN_VERIFY_OPTIONS_INIT, options, "verification options", err);
    KN_TRY(kn_spec_check_one_table(spec, NULL, err));
    KN_TRY(check_request(spec, options, where, err));
    kn_status st = kn_vtexts_read(&texts, &tables, ctx, spec, options, err);
    if (st == KN_OK) st = verify_tables(out, ctx, spec, &tables, options, err);
    kn_vtexts_free(&texts);
    return st;
}

kn_status kn_verify_where(kn_verify_report **out, kn_context *ctx, const kn_spec *spec, const kn_engine_table *original,
                          const kn_engine_table *release, const kn_verify_options *options, kn_error *err)
{
    kn_vwhere where = {.original = {.table = original}, .release = {.table = release}};
    return verify(out, ctx, spec, &where, options, err);
}

kn_status kn_verify_apart(kn_verify_report **out, kn_context *ctx, const kn_spec *spec, const kn_engine_table *original,
                          const kn_engine_table *release, const kn_verify_options *options, kn_error *err)
{
    kn_vwhere where = {.original = {.table = original}, .release = {.table = release}, .apart = true};
    return verify(out, ctx, spec, &where, options, err);
}
