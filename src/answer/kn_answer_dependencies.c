/* kn_answer_dependencies.c: dependencies between columns, checked, discovered and reduced, as a document. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "kn_alloc.h"
#include "kn_answer.h"
#include "kn_dependency_text.h"
#include "kn_error.h"
#include "kn_options.h"

#define S kn_dependency_check
static const kn_field_row check_rows[] = {
    KN_VALUE("dependency", KN_F_TEXT, "the dependency, as it is written"),
    KN_VALUE_WORDS("kind", kn_dependency_kind_name, KN_DEPENDENCY_MULTISET, 0,
                   "'functional', 'multivalued' or 'multiset'"),
    KN_VALUE("k", KN_F_COUNT | KN_F_OPTIONAL, "of a multiset dependency: how often each right side must occur"),
    KN_VALUE("left", KN_F_TEXTS, "the columns on its left side"),
    KN_VALUE("right", KN_F_TEXTS, "the columns on its right side"),
    KN_FIELD(S, holds, KN_F_BOOLEAN, "whether it holds in the table"),
    KN_FIELD(S, groups, KN_F_COUNT, "groups of rows with equal left sides"),
    KN_FIELD(S, violating_groups, KN_F_COUNT, "groups in which it does not hold"),
    KN_FIELD(S, violating_rows, KN_F_ROWS, "rows in them"),
    KN_VALUE("spurious", KN_F_ROWS | KN_F_OPTIONAL,
             "of a multivalued dependency: rows that joining the two parts would add"),
    KN_VALUE("exceptions", KN_F_ROWS | KN_F_OPTIONAL, "the fewest rows without which it would hold"),
    KN_VALUE("error", KN_F_SHARE | KN_F_OPTIONAL, "the same, of all rows"),
};
#undef S
static const kn_fields check_part = KN_FIELDS(kn_dependency_check, "check", check_rows, NULL);

static const kn_field_row found_rows[] = {
    KN_VALUE("left", KN_F_TEXTS, "the columns on its left side; none: the right side is constant"),
    KN_VALUE("right", KN_F_TEXT, "the column on its right side"),
    KN_VALUE("dependency", KN_F_TEXT | KN_F_OPTIONAL, "the dependency, as it is written; absent of a constant"),
    KN_VALUE("exceptions", KN_F_ROWS, "the fewest rows without which it would hold"),
    KN_VALUE("error", KN_F_SHARE, "the same, of all rows"),
};
static const kn_fields found_part = KN_FIELDS(char, "found", found_rows, NULL);

#define S kn_discovery
static const kn_field_row counter_rows[] = {
    KN_FIELD(S, checked, KN_F_COUNT, "candidates that were held against the table"),
    KN_FIELD(S, refuted, KN_F_COUNT, "those of them that do not hold"),
    KN_FIELD(S, agree_sets, KN_F_COUNT, "different sets of columns in which two rows were seen to agree"),
    KN_FIELD(S, rounds, KN_F_COUNT, "times that candidates were made and checked"),
};
static const kn_fields counter_part = KN_FIELDS(S, "counters", counter_rows, NULL);

static const kn_field_row discovery_rows[] = {
    KN_FIELD_AS(S, combinations, "different_rows", KN_F_ROWS, "different rows of the table"),
    KN_FIELD_AS(S, budget, "exceptions_allowed", KN_F_ROWS, "how many rows may be exceptions"),
    KN_FIELD(S, complete, KN_F_BOOLEAN, "whether these are all there are"),
    KN_FIELD(S, why_partial, KN_F_TEXT | KN_F_NULLABLE, "if not: what cut the search short"),
    KN_FIELD(S, complete_left, KN_F_COLUMNS, "all that have at most so many columns on the left are listed"),
    KN_FIELD(S, seconds, KN_F_SECONDS, "how long it took, without reading the table"),
    KN_VALUE_OF("processor", KN_F_OBJECT, &kn_effort_part, "how many processors can be of use to it"),
    KN_VALUE_OF("found", KN_F_LIST, &found_part, "minimal dependencies, one per right side"),
    KN_VALUE("dependencies", KN_F_TEXTS, "the same without constants, as they are written, one per left side"),
    KN_VALUE_OF("counters", KN_F_OBJECT, &counter_part, "what the search did"),
};
#undef S
static const kn_fields discovery_part = KN_FIELDS(kn_discovery, "discovery", discovery_rows, NULL);

static const kn_field_row rows[] = {
    KN_ANSWER_ROW,
    KN_VALUE("rows", KN_F_ROWS, "rows of the table"),
    KN_VALUE("columns", KN_F_COLUMNS, "columns of the table"),
    KN_VALUE_OF("checks", KN_F_LIST | KN_F_OPTIONAL, &check_part, "the dependencies that were asked about"),
    KN_VALUE_OF("discovery", KN_F_OBJECT | KN_F_OPTIONAL, &discovery_part, "with --discover: what was found"),
    KN_VALUE("closure", KN_F_TEXTS | KN_F_OPTIONAL,
             "with --closure: the columns that are determined, the given ones first"),
    KN_VALUE("closure_given", KN_F_COLUMNS | KN_F_OPTIONAL, "with --closure: how many of them were given"),
    KN_VALUE("cover", KN_F_TEXTS | KN_F_OPTIONAL, "with --cover: a minimal cover of the functional ones that hold"),
    KN_VALUE("dependencies", KN_F_TEXTS, "what holds, as a release file takes it; with --cover a minimal cover"),
    KN_VALUE("holds", KN_F_BOOLEAN, "whether everything that was asked about holds"),
    KN_NOTES_ROW,
};
const kn_fields kn_answer_dependencies =
    KN_ANSWER(char, "dependencies", rows, NULL, "Which columns of a table determine others?");

static void put_check(kn_to to, const kn_dependency *d, const kn_dependency_check *c)
{
    kn_put_struct(to, c);
    kn_put_text(to, "dependency", d->text);
    kn_put_text(to, "kind", kn_dependency_kind_name(d->kind));
    if (d->kind == KN_DEPENDENCY_MULTISET) kn_put_integer(to, "k", d->k);
    kn_put_texts(to, "left", d->left, d->left_count);
    kn_put_texts(to, "right", d->right, d->right_count);
    if (d->kind == KN_DEPENDENCY_MULTIVALUED) {
        kn_put_integer(to, "spurious", c->spurious);
    } else {
        kn_put_integer(to, "exceptions", c->removed);
        kn_put_number(to, "error", c->error);
    }
}

/* ---- What was found ---- */

enum { MOST_COLUMNS = 64 }; /* of a search */

typedef struct found {
    uint64_t left; /* bit i: the i-th of the columns in question */
    int64_t  removed;
    int      right;
} found;

/* The text of a column's name, and of how dependencies name it. */
typedef struct column {
    const char *name, *written;
    size_t      written_size;
} column;

/* What was found, as the document keeps it: dependencies are written down when they are looked at. */
typedef struct findings {
    double   rows;
    int      columns;
    column   column[MOST_COLUMNS];
    found   *items;
    int64_t *starts; /* of the `sides` left sides that are not empty, and the end */
    int64_t  count, sides;
} findings;

/* The columns in question, ascending, into `numbers`; -1: out of memory. */
static int find_columns(int *numbers, kn_context *ctx, const kn_discovery *r, const kn_table *table)
{
    int   count = 0, columns = kn_table_columns(table);
    bool *used = kn_alloc_zero(ctx, (size_t)columns * sizeof *used + 1);
    if (!used) return -1;
    for (int64_t i = 0; i < r->count; i++) {
        used[r->found[i].right] = true;
        for (int j = 0; j < r->found[i].left_count; j++) used[r->found[i].left[j]] = true;
    }
    for (int c = 0; c < columns; c++)
        if (used[c] && count < MOST_COLUMNS) numbers[count++] = c;
    kn_free(used);
    return count;
}

static const char *keep_text(kn_document *doc, const char *text, size_t size)
{
    char *copy = kn_document_take(doc, size + 1);
    if (copy) memcpy(copy, text, size + 1);
    return copy;
}

static kn_status keep_columns(findings *f, kn_document *doc, kn_context *ctx, const int *numbers, const kn_table *table,
                              kn_error *err)
{
    kn_buffer b;
    kn_buffer_init(&b, ctx);
    bool failed = false;
    for (int i = 0; i < f->columns && !failed; i++) {
        const char *name = kn_table_name(table, numbers[i]);
        kn_buffer_clear(&b);
        kn_dependency_name(&b, name);
        const char *written = kn_buffer_text(&b);
        failed = !written;
        if (failed) break;
        f->column[i] = (column){keep_text(doc, name, strlen(name)), keep_text(doc, written, b.size), b.size};
    }
    kn_buffer_free(&b);
    return failed ? kn_fail_memory(err, ctx, "writing down the answer") : KN_OK;
}

static void keep_found(findings *f, const kn_discovery *r, const int *numbers)
{
    for (int64_t i = 0; i < r->count; i++) {
        const kn_found_dependency *from = &r->found[i];
        found                      one = {.removed = from->removed};
        int                        at = 0;
        for (int j = 0; j < from->left_count; j++) {
            while (numbers[at] != from->left[j]) at++; /* both ascend */
            one.left |= (uint64_t)1 << at;
        }
        for (at = 0; numbers[at] != from->right;) at++;
        one.right = at;
        f->items[i] = one;
        if (one.left && (i == 0 || f->items[i - 1].left != one.left)) f->starts[f->sides++] = i;
    }
    f->starts[f->sides] = r->count;
}

/* The findings in the document's memory; NULL with KN_OK: the document has recorded that there is none. */
static kn_status keep_findings(findings **out, kn_document *doc, kn_context *ctx, const kn_discovery *r,
                               const kn_table *table, kn_error *err)
{
    int       numbers[MOST_COLUMNS];
    size_t    count = (size_t)r->count;
    findings *f = *out = kn_document_take(doc, sizeof *f);
    if (!f) return KN_OK;
    *f = (findings){.rows = (double)r->rows, .count = r->count, .columns = find_columns(numbers, ctx, r, table)};
    if (f->columns < 0) return kn_fail_memory(err, ctx, "writing down the answer");
    f->items = kn_document_take(doc, count * sizeof *f->items);
    f->starts = kn_document_take(doc, (count + 1) * sizeof *f->starts);
    KN_TRY(keep_columns(f, doc, ctx, numbers, table, err));
    if (f->items && f->starts)
        keep_found(f, r, numbers);
    else
        *out = NULL;
    return KN_OK;
}

static char *copy_name(char *at, const column *c)
{
    memcpy(at, c->written, c->written_size);
    return at + c->written_size;
}

/* The dependency of the items [first, last), which have one left side, as it is written; NULL: out of memory. */
static const char *written(kn_document *doc, const findings *f, int64_t first, int64_t last, size_t *size)
{
    uint64_t left = f->items[first].left;
    size_t   most = 4;
    for (uint64_t rest = left; rest; rest &= rest - 1) most += f->column[__builtin_ctzll(rest)].written_size + 2;
    for (int64_t i = first; i < last; i++) most += f->column[f->items[i].right].written_size + 2;
    char *text = kn_document_take(doc, most), *at = text;
    if (!text) return NULL;
    for (uint64_t rest = left; rest; rest &= rest - 1) {
        if (rest != left) at = (char *)memcpy(at, ", ", 2) + 2;
        at = copy_name(at, &f->column[__builtin_ctzll(rest)]);
    }
    at = (char *)memcpy(at, " -> ", 4) + 4;
    for (int64_t i = first; i < last; i++) {
        if (i > first) at = (char *)memcpy(at, ", ", 2) + 2;
        at = copy_name(at, &f->column[f->items[i].right]);
    }
    *size = (size_t)(at - text);
    return text;
}

static void put_found(kn_to to, const void *from, int64_t index)
{
    const findings *f = from;
    const found    *one = &f->items[index];
    const char     *left[MOST_COLUMNS];
    int             count = 0;
    size_t          size;
    for (uint64_t rest = one->left; rest; rest &= rest - 1) left[count++] = f->column[__builtin_ctzll(rest)].name;
    kn_put_texts(to, "left", left, count);
    kn_put_text(to, "right", f->column[one->right].name);
    const char *text = one->left ? written(to.doc, f, index, index + 1, &size) : NULL;
    if (text) kn_put_bytes(to, "dependency", text, size);
    kn_put_integer(to, "exceptions", one->removed);
    kn_put_number(to, "error", f->rows > 0 ? (double)one->removed / f->rows : 0);
}

static void append_side(kn_to to, const void *from, int64_t index)
{
    const findings *f = from;
    size_t          size;
    const char     *text = written(to.doc, f, f->starts[index], f->starts[index + 1], &size);
    if (text) kn_append_bytes(to, text, size);
}

static void put_discovery(kn_to to, const kn_discovery *r, const findings *f)
{
    kn_put_struct(to, r);
    kn_put_part(to, "counters", r);
    kn_put_effort(to, "processor", r->work, r->span);
    kn_put_folded(to, "found", f->count, put_found, f);
    kn_put_folded(to, "dependencies", f->sides, append_side, f);
}

/* ---- What holds ---- */

/* The dependencies that hold: given ones, then found ones. */
typedef struct holding {
    int64_t         given;
    const char    **texts; /* of the given ones */
    const findings *found;
} holding;

static void append_held(kn_to to, const void *from, int64_t index)
{
    const holding *h = from;
    if (index < h->given)
        kn_append_text(to, h->texts[index]);
    else
        append_side(to, h->found, index - h->given);
}

static bool replaced(const kn_dependency_answers *a, const kn_dependency *d)
{
    return a->cover && d->kind == KN_DEPENDENCY_FUNCTIONAL;
}

/* Puts the dependencies that hold, as text. */
static void put_held(kn_to to, kn_document *doc, const kn_dependency_answers *a, const findings *f)
{
    int          covered = a->cover ? a->cover->count : 0;
    holding     *h = kn_document_take(doc, sizeof *h);
    const char **texts = kn_document_take(doc, ((size_t)a->given_count + (size_t)covered + 1) * sizeof *texts);
    if (!h || !texts) return;
    *h = (holding){0, texts, a->cover ? NULL : f};
    for (int i = 0; i < a->given_count; i++)
        if (a->checks[i].holds && !replaced(a, a->given[i]))
            texts[h->given++] = keep_text(doc, a->given[i]->text, strlen(a->given[i]->text));
    for (int i = 0; i < covered; i++)
        texts[h->given++] = keep_text(doc, a->cover->items[i]->text, strlen(a->cover->items[i]->text));
    kn_put_folded(to, "dependencies", h->given + (h->found ? h->found->sides : 0), append_held, h);
    if (!a->cover) return;
    kn_to cover = kn_put_list(to, "cover");
    for (int i = 0; i < covered; i++) kn_append_text(cover, a->cover->items[i]->text);
}

kn_status kn_document_dependencies(kn_document **out, kn_context *ctx, const kn_table *table,
                                   const kn_dependency_answers *a, kn_error *err)
{
    kn_document *doc;
    findings    *f = NULL;
    bool         holds = true;
    *out = NULL;
    KN_OPTIONS(kn_dependency_answers, KN_DEPENDENCY_ANSWERS_INIT, a, "answers", err);
    KN_TRY(kn_document_begin(&doc, ctx, &kn_answer_dependencies, err));
    kn_to to = kn_document_top(doc);
    kn_put_integer(to, "rows", kn_table_total(table));
    kn_put_integer(to, "columns", kn_table_columns(table));
    if (a->given_count > 0) {
        kn_to checks = kn_put_list(to, "checks");
        for (int i = 0; i < a->given_count; i++) {
            put_check(kn_append_object(checks), a->given[i], &a->checks[i]);
            holds = holds && a->checks[i].holds;
        }
    }
    if (a->closure) {
        kn_put_texts(to, "closure", a->closure->names, a->closure->count);
        kn_put_integer(to, "closure_given", a->closure_given);
    }
    kn_put_boolean(to, "holds", holds);
    kn_note_table(doc, table);
    if (a->cover && a->discovery && a->discovery->budget > 0)
        kn_put_note(doc, "what follows from dependencies with exceptions may have more of them");
    kn_status st = a->discovery ? keep_findings(&f, doc, ctx, a->discovery, table, err) : KN_OK;
    if (st != KN_OK) {
        kn_document_free(doc);
        return st;
    }
    put_held(to, doc, a, f);
    if (f) put_discovery(kn_put_object(to, "discovery"), a->discovery, f);
    return kn_document_end(out, doc, err);
}
