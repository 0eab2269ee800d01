/* table/summary.c: summary statistics of a release (kn_summary.h).
 *
 * One pass over the rows per quasi-identifier. Sums of integers are exact (128 bits); sums of decimals are compensated
 * (Neumaier), in the order of the rows, and printed with 15 digits, of which the order can affect only the last.
 *
 * Cost: O(rows × quasi-identifiers), and a sort of the classes to write them. Memory: 16 bytes per class and
 * quasi-identifier, 40 more per class while one is counted.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_summary.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "kn_alloc.h"
#include "kn_csv_write.h"
#include "kn_error.h"
#include "kn_hash.h"
#include "kn_parallel.h"
#include "kn_recode.h"

static const char what[] = "summary statistics";

__extension__ typedef __int128 wide;

/* What is counted of a class. */
typedef struct tally {
    int64_t  cells;
    uint32_t low, high;
    wide     whole;      /* sum of integers */
    double   sum, carry; /* of decimals     */
} tally;

typedef struct job {
    kn_summary     *summary;
    const kn_table *table;
    const int      *quasi;
    const kn_plan  *plan;
    int64_t         least;
} job;

void kn_summary_free(kn_summary *summary)
{
    if (!summary) return;
    kn_free(summary->ordered);
    kn_free(summary->numbers);
    kn_free(summary->cells);
    kn_free(summary);
}

static void add(tally *t, const kn_column *column, uint32_t code)
{
    if (t->cells == 0 || code < t->low) t->low = code;
    if (t->cells == 0 || code > t->high) t->high = code;
    t->cells++;
    if (column->type == KN_TYPE_INTEGER) t->whole += column->dict.integers[code];
    if (column->type != KN_TYPE_DECIMAL) return;
    double value = column->dict.decimals[code], sum = t->sum + value;
    t->carry += fabs(t->sum) >= fabs(value) ? t->sum - sum + value : value - sum + t->sum;
    t->sum = sum;
}

static double mean_of(const tally *t, const kn_column *column)
{
    if (column->type == KN_TYPE_DECIMAL) return (t->sum + t->carry) / (double)t->cells;
    wide whole = t->whole / t->cells, rest = t->whole % t->cells;
    return (double)whole + (double)rest / (double)t->cells;
}

static kn_status summarize(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const job     *j = arg;
    kn_summary    *s = j->summary;
    const kn_plan *plan = j->plan;
    (void)worker;
    for (int64_t q = begin; q < end; q++) {
        const kn_column *column = &j->table->columns[j->quasi[q]];
        tally           *tallies = kn_alloc_array_zero(s->ctx, (size_t)plan->classes + 1, sizeof *tallies);
        if (!tallies) return kn_fail_memory(err, s->ctx, what);
        for (int64_t row = 0; s->ordered[q] && row < plan->rows; row++) {
            uint32_t class_index = plan->class_of_row[row], code = kn_column_code(column, row);
            if (class_index != KN_CLASS_SUPPRESSED && code < column->dict.count)
                add(&tallies[class_index], column, code);
        }
        for (uint32_t c = 0; c < plan->classes; c++) {
            const tally *t = &tallies[c];
            bool         published = t->cells > 0 && t->cells >= j->least;
            s->cells[(size_t)c * (size_t)s->quasi_count + (size_t)q] =
                (kn_summary_cell){published ? t->low : UINT32_MAX, published ? t->high : UINT32_MAX,
                                  published && s->numbers[q] ? mean_of(t, column) : NAN};
        }
        kn_free(tallies);
    }
    return KN_OK;
}

kn_status kn_summary_make(kn_summary **out, kn_context *ctx, const kn_table *table, const int *quasi,
                          const kn_plan *plan, int64_t least, kn_error *err)
{
    size_t      count = (size_t)plan->quasi_count;
    kn_summary *s = kn_alloc_zero(ctx, sizeof *s);
    if (!s) return kn_fail_memory(err, ctx, what);
    *s = (kn_summary){.ctx = ctx, .quasi_count = plan->quasi_count, .classes = plan->classes};
    s->ordered = kn_alloc_array_zero(ctx, count + 1, sizeof *s->ordered);
    s->numbers = kn_alloc_array_zero(ctx, count + 1, sizeof *s->numbers);
    s->cells = kn_alloc_array(ctx, (size_t)plan->classes + 1, (count ? count : 1) * sizeof *s->cells);
    kn_status st = s->ordered && s->numbers && s->cells ? KN_OK : kn_fail_memory(err, ctx, what);
    for (size_t q = 0; st == KN_OK && q < count; q++) {
        kn_type type = table->columns[quasi[q]].type;
        s->ordered[q] = type != KN_TYPE_TEXT;
        s->numbers[q] = type == KN_TYPE_INTEGER || type == KN_TYPE_DECIMAL;
    }
    job j = {s, table, quasi, plan, least};
    if (st == KN_OK) st = kn_parallel_for(ctx, plan->quasi_count, 1, summarize, &j, err);
    if (st == KN_OK)
        *out = s;
    else
        kn_summary_free(s);
    return st;
}

/* ---- Names and texts ---- */

static char *unlike(kn_context *ctx, const char *const *names, int count, const char *base, const char *ending)
{
    size_t size = strlen(base) + strlen(ending);
    char  *name = kn_alloc(ctx, size + (size_t)count + 1);
    if (!name) return NULL;
    (void)snprintf(name, size + 1, "%s%s", base, ending);
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0) {
            name[size++] = '_';
            name[size] = '\0';
            i = -1; /* check all of them again: each matches at most once, so this ends */
        }
    return name;
}

char *kn_summary_name(kn_context *ctx, const char *const *names, int count, const char *quasi, kn_statistic statistic)
{
    static const char *const endings[] = {"_min", "_max", "_mean"};
    return unlike(ctx, names, count, quasi, endings[statistic]);
}

/* The name of the column with a class's number of rows: "rows", as kn_summary_name. */
static char *rows_name(kn_context *ctx, const char *const *names, int count)
{
    return unlike(ctx, names, count, "rows", "");
}

/* A value as it is spelled in the table, a mean with up to 15 digits; empty: not published. */
static void statistic_text(kn_buffer *to, const kn_summary *s, uint32_t class_index, int q, kn_statistic statistic,
                           const kn_column *column)
{
    const kn_summary_cell *cell = &s->cells[(size_t)class_index * (size_t)s->quasi_count + (size_t)q];
    if (statistic == KN_STATISTIC_MEAN) {
        char text[40];
        if (isnan(cell->mean)) return;
        (void)snprintf(text, sizeof text, "%.*g", DBL_DIG, cell->mean + 0.0);
        for (char *c = text; *c; c++) /* whatever the locale */
            if (!strchr("0123456789+-e", *c)) *c = '.';
        kn_buffer_add(to, text);
        return;
    }
    uint32_t code = statistic == KN_STATISTIC_MIN ? cell->low : cell->high;
    if (code == UINT32_MAX) return;
    kn_string text = kn_dictionary_text(&column->dict, code);
    kn_buffer_append(to, text.data, text.size);
}

/* ---- The side file ---- */

typedef struct writer {
    const kn_summary          *summary;
    const kn_table            *table;
    const int                 *quasi;
    const kn_hierarchy *const *hierarchies;
    const kn_plan             *plan;
    char                       delimiter;
    bool                       guarded;
    const char                *missing;
    kn_buffer                  cell, lines;
    size_t                    *starts; /* of each class's line */
    bool                       failed; /* memory               */
} writer;

/* Appends the text in w->cell as a CSV cell. */
static void put_cell(writer *w, bool first)
{
    const char *data = w->cell.data;
    size_t      size = w->cell.size;
    bool        quote = false;
    if (!first) kn_buffer_char(&w->lines, w->delimiter);
    for (size_t i = 0; i < size && !quote; i++)
        quote = data[i] == w->delimiter || data[i] == '"' || data[i] == '\n' || data[i] == '\r';
    if (size > 0) quote = quote || data[0] == ' ' || data[size - 1] == ' ';
    if (quote) kn_buffer_char(&w->lines, '"');
    if (w->guarded && kn_csv_guards((kn_string){data, size})) kn_buffer_char(&w->lines, '\'');
    for (size_t i = 0; i < size; i++) {
        if (data[i] == '"') kn_buffer_char(&w->lines, '"');
        kn_buffer_char(&w->lines, data[i]);
    }
    if (quote) kn_buffer_char(&w->lines, '"');
    w->failed = w->failed || w->cell.failed || w->lines.failed;
    kn_buffer_clear(&w->cell); /* forgets a failure */
}

static bool has(const kn_summary *s, int q, kn_statistic statistic)
{
    return statistic == KN_STATISTIC_MEAN ? s->numbers[q] : s->ordered[q];
}

static bool put_header(writer *w)
{
    const kn_summary *s = w->summary;
    const char      **names = kn_alloc_array(s->ctx, (size_t)s->quasi_count + 1, sizeof *names);
    if (!names) return false;
    for (int q = 0; q < s->quasi_count; q++) {
        names[q] = w->table->columns[w->quasi[q]].name;
        kn_buffer_add(&w->cell, names[q]);
        put_cell(w, q == 0);
    }
    char *name = rows_name(s->ctx, names, s->quasi_count);
    bool  made = name;
    if (made) kn_buffer_add(&w->cell, name);
    put_cell(w, s->quasi_count == 0);
    kn_free(name);
    for (int q = 0; q < s->quasi_count; q++)
        for (int t = 0; made && t < KN_STATISTICS; t++) {
            if (!has(s, q, (kn_statistic)t)) continue;
            name = kn_summary_name(s->ctx, names, s->quasi_count, names[q], (kn_statistic)t);
            made = name;
            if (made) kn_buffer_add(&w->cell, name);
            put_cell(w, false);
            kn_free(name);
        }
    kn_buffer_char(&w->lines, '\n');
    kn_free(names);
    return made;
}

/* A value that is missing, or the leaf that stands for it. */
static bool is_missing(const kn_cell *cell, const kn_column *column, const kn_hierarchy *h)
{
    if (cell->kind == KN_CELL_NODE) return cell->a == h->leaves;
    return cell->kind == KN_CELL_VALUE && cell->a == column->dict.count;
}

static void put_class(writer *w, uint32_t c)
{
    const kn_summary *s = w->summary;
    const kn_cell    *cells = w->plan->cells + (size_t)c * (size_t)s->quasi_count;
    for (int q = 0; q < s->quasi_count; q++) {
        const kn_column *column = &w->table->columns[w->quasi[q]];
        if (is_missing(&cells[q], column, w->hierarchies[q]))
            kn_buffer_add(&w->cell, w->missing);
        else
            kn_cell_text(&w->cell, w->plan, &cells[q], column, w->hierarchies[q]);
        put_cell(w, q == 0);
    }
    kn_buffer_format(&w->cell, "%lld", (long long)w->plan->class_rows[c]);
    put_cell(w, s->quasi_count == 0);
    for (int q = 0; q < s->quasi_count; q++)
        for (int t = 0; t < KN_STATISTICS; t++) {
            if (!has(s, q, (kn_statistic)t)) continue;
            statistic_text(&w->cell, s, c, q, (kn_statistic)t, &w->table->columns[w->quasi[q]]);
            put_cell(w, false);
        }
    kn_buffer_char(&w->lines, '\n');
}

static int by_text(const void *a, const void *b)
{
    return kn_string_compare(*(const kn_string *)a, *(const kn_string *)b);
}

/* In the order of their bytes: the order of classes in the plan may come from the data. */
static kn_status put_sorted(kn_output *output, writer *w, kn_error *err)
{
    uint32_t   classes = w->summary->classes;
    kn_string *lines = kn_alloc_array(w->summary->ctx, (size_t)classes + 1, sizeof *lines);
    if (!lines) return kn_fail_memory(err, w->summary->ctx, what);
    for (uint32_t c = 0; c < classes; c++)
        lines[c] = (kn_string){w->lines.data + w->starts[c], w->starts[c + 1] - w->starts[c]};
    qsort(lines, classes, sizeof *lines, by_text);
    for (uint32_t c = 0; c < classes; c++) kn_output_write(output, lines[c].data, lines[c].size);
    kn_free(lines);
    return KN_OK;
}

kn_status kn_summary_write(kn_output *output, const kn_summary *summary, const kn_table *table, const int *quasi,
                           const kn_hierarchy *const *hierarchies, const kn_plan *plan, char delimiter, bool guarded,
                           const char *missing, kn_error *err)
{
    writer w = {.summary = summary,
                .table = table,
                .quasi = quasi,
                .hierarchies = hierarchies,
                .plan = plan,
                .delimiter = delimiter,
                .guarded = guarded,
                .missing = missing};
    kn_buffer_init(&w.cell, summary->ctx);
    kn_buffer_init(&w.lines, summary->ctx);
    w.starts = kn_alloc_array(summary->ctx, (size_t)plan->classes + 1, sizeof *w.starts);
    bool made = w.starts && put_header(&w) && !w.failed && !w.lines.failed;
    for (uint32_t c = 0; made && c < plan->classes; c++) {
        w.starts[c] = w.lines.size;
        put_class(&w, c);
        made = !w.failed;
    }
    kn_status st = KN_OK;
    if (made && !w.lines.failed) {
        w.starts[plan->classes] = w.lines.size;
        kn_output_write(output, w.lines.data, plan->classes ? w.starts[0] : w.lines.size);
        st = put_sorted(output, &w, err);
    } else
        st = kn_fail_memory(err, summary->ctx, what);
    kn_free(w.starts);
    kn_buffer_free(&w.cell);
    kn_buffer_free(&w.lines);
    return st;
}
