/* table/form.c: do the bytes of a released table contain only its cells?
 *
 * A cell can be written in many ways: in quotes or not, 8 or +8, a missing one as nothing or as NA. Choosing
 * differently row by row would put a mark into the release that no promise covers. So the form must be the same
 * throughout: records end in one way, no line is blank, a column's cells are all in quotes or only those that need
 * them (empty ones may differ from the others), and a copied cell has the one spelling that a release gives its value
 * (the shortest of the original's, the first by its bytes; nothing for a missing one), or each cell of the column is
 * byte for byte its original's. Quasi-identifiers need no rule: a class consists of the rows with the same texts.
 *
 * Cost: a look at the end of each record and at cells in quotes; one pass over a column's rows where quotes were found.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdio.h>

#include "kn_alloc.h"
#include "kn_csv_scan.h"
#include "kn_error.h"
#include "kn_verify_internal.h"

enum { SHOWN = 5 };

/* ---- Gathering ---- */

size_t kn_vform_end(kn_vform *form, const char *text, size_t size, size_t at)
{
    if (at >= size) return size; /* the last record of a file may end without a line end */
    if (text[at] == '\n') {
        form->lf++;
        return at + 1;
    }
    bool both = at + 1 < size && text[at + 1] == '\n';
    *(both ? &form->crlf : &form->cr) += 1;
    return at + 1 + both;
}

bool kn_vneeds_quotes(kn_string text, char delimiter)
{
    for (size_t i = 0; i < text.size; i++)
        if (text.data[i] == delimiter || text.data[i] == '"' || text.data[i] == '\n' || text.data[i] == '\r')
            return true;
    return text.size >= 3 && memcmp(text.data, "\xef\xbb\xbf", 3) == 0;
}

static bool is_quoted(const char *text, const kn_csv_field *f)
{
    return f->begin > 0 && text[f->begin - 1] == '"';
}

/* The same of records without quotes. */
static void take_bare(kn_vform *form, const char *text, size_t size, const kn_csv_field *fields, size_t records,
                      int names, size_t *at)
{
    for (size_t r = 0; r < records; r++, fields += names) {
        const kn_csv_field *last = &fields[names - 1];
        form->blank += fields[0].begin > *at;
        *at = kn_vform_end(form, text, size, last->begin + last->size);
    }
}

void kn_vform_take(kn_vform *form, const char *text, size_t size, char delimiter, const kn_csv_field *fields,
                   size_t records, int names, const int *place, int columns, size_t *at)
{
    if (records == 0) return;
    const kn_csv_field *end = &fields[records * (size_t)names - 1]; /* behind it there may be a quote */
    if (!form->cells && !memchr(text + *at, '"', end->begin + end->size + (end->begin + end->size < size) - *at)) {
        take_bare(form, text, size, fields, records, names, at);
        return;
    }
    for (size_t r = 0; r < records; r++, fields += names) {
        const kn_csv_field *last = &fields[names - 1];
        form->blank += fields[0].begin - is_quoted(text, &fields[0]) > *at;
        *at = kn_vform_end(form, text, size, last->begin + last->size + is_quoted(text, last));
        for (int c = 0; c < columns; c++) {
            const kn_csv_field *f = &fields[place[c]];
            bool                quoted = is_quoted(text, f);
            if (!quoted && !form->cells) continue;
            int kind = f->size == 0                                                         ? KN_VFORM_EMPTY
                       : kn_vneeds_quotes((kn_string){text + f->begin, f->size}, delimiter) ? KN_VFORM_NEEDED
                                                                                            : KN_VFORM_BARE;
            form->quoted[c * KN_VFORM_KINDS + kind] += quoted;
            if (form->cells) form->cells[c * KN_VFORM_KINDS + kind]++;
        }
    }
}

void kn_vform_add(kn_vform *to, const kn_vform *from, int columns)
{
    to->lf += from->lf;
    to->crlf += from->crlf;
    to->cr += from->cr;
    to->blank += from->blank;
    for (int i = 0; from->quoted && i < columns * KN_VFORM_KINDS; i++) to->quoted[i] += from->quoted[i];
}

/* ---- Judging ---- */

static bool has_quote(const kn_vcolumn *c, char delimiter)
{
    for (uint32_t t = 0; t < c->count; t++)
        if (kn_vneeds_quotes(c->texts[t], delimiter)) return true;
    return false;
}

/* Are quotes where they must be, and elsewhere everywhere or nowhere? */
static bool quotes_fit(const kn_vtable *t, int column)
{
    const kn_vcolumn *c = &t->columns[column];
    const int64_t    *quoted = t->form.quoted + (size_t)column * KN_VFORM_KINDS;
    int64_t           all[KN_VFORM_KINDS] = {0};
    bool              any = false;
    for (int k = 0; k < KN_VFORM_KINDS; k++) any = any || quoted[k] > 0;
    if (!any && !t->form.cells && !has_quote(c, t->delimiter)) return true;
    for (int k = 0; t->form.cells && k < KN_VFORM_KINDS; k++) all[k] = t->form.cells[column * KN_VFORM_KINDS + k];
    for (int64_t row = 0; row < t->rows; row++) {
        kn_string text = c->texts[kn_vcode(c, row)];
        all[text.size == 0 ? KN_VFORM_EMPTY : kn_vneeds_quotes(text, t->delimiter) ? KN_VFORM_NEEDED : KN_VFORM_BARE]++;
    }
    for (int k = 0; k < KN_VFORM_KINDS; k++)
        if (quoted[k] != all[k] && (quoted[k] != 0 || k == KN_VFORM_NEEDED)) return false;
    return true;
}

void kn_vform_marks(const char *name, int found, kn_vform_fn report, void *arg)
{
    static const struct {
        int         mark;
        const char *what;
    } marks[] = {{KN_VMARK_UNUSED, "its dictionary holds texts that no row shows"},
                 {KN_VMARK_TWICE, "its dictionary holds a text twice: that can mark a row"},
                 {KN_VMARK_HIDDEN, "there is something in the place of a missing cell"},
                 {KN_VMARK_EMPTY, "some cells are missing and others an empty text: that can mark a row"},
                 {KN_VMARK_MORE, "its buffers hold something before the first row or around a text"},
                 {KN_VMARK_ZERO, "it holds a negative zero: that can mark a row"}};
    char sentence[400];
    for (size_t m = 0; m < sizeof marks / sizeof *marks; m++) {
        if (!(found & marks[m].mark)) continue;
        snprintf(sentence, sizeof sentence, "column \"%.200s\": %s", name, marks[m].what);
        report(arg, sentence);
    }
}

/* Columns in memory: the same of what their buffers hold. */
static void judge_batches(const kn_vtable *t, kn_vform_fn report, void *arg)
{
    for (int n = 0; n < t->name_count; n++)
        if (t->kept[n] >= 0) kn_vform_marks(t->names[n].data, t->form.marks[t->kept[n]], report, arg);
    if (t->form.uneven) report(arg, "batches differ in their number of rows: that can mark a row");
    if (t->form.wrapped) report(arg, "the schema holds metadata beside the data");
    if (t->form.others)
        report(
            arg,
            "the folder holds something besides its parts, which are named part-00000.parquet and so on: that can mark "
            "a row");
}

void kn_vform_judge(const kn_vtable *t, kn_vform_fn report, void *arg)
{
    char            sentence[400];
    const kn_vform *f = &t->form;
    if (f->marks) {
        judge_batches(t, report, arg);
        return;
    }
    if ((f->lf > 0) + (f->crlf > 0) + (f->cr > 0) > 1)
        report(arg, "rows end in different ways (LF, CRLF or CR): that can mark a row");
    if (f->blank > 0) report(arg, "there are blank lines: they can mark a row");
    for (int n = 0; n < t->name_count; n++) {
        if (t->kept[n] < 0 || quotes_fit(t, t->kept[n])) continue;
        snprintf(sentence, sizeof sentence,
                 "column \"%.200s\": some cells stand in quotes and others do not: that can mark a row",
                 t->names[n].data);
        report(arg, sentence);
    }
    if (!f->wrapped) return;
    snprintf(sentence, sizeof sentence, "the compressed file holds %.300s beside the data", f->wrapped);
    report(arg, sentence);
}

/* ---- Formulas ---- */

/* What a spreadsheet would execute, as docs/release.md defines it. */
static bool is_formula(kn_string s)
{
    if (s.size < 2 || !strchr("=+-@\t\r", s.data[0]) || s.data[0] == '\0') return false;
    if (s.data[0] != '+' && s.data[0] != '-') return true;
    size_t at = 1, digits = 0;
    while (at < s.size && strchr("0123456789.,", s.data[at]) && s.data[at] != '\0') digits += s.data[at++] >= '0';
    bool exponent = digits > 0 && at + 1 < s.size && (s.data[at] == 'e' || s.data[at] == 'E');
    if (exponent) at += 1 + (at + 2 < s.size && (s.data[at + 1] == '-' || s.data[at + 1] == '+'));
    while (exponent && at < s.size && s.data[at] >= '0' && s.data[at] <= '9') at++;
    return digits == 0 || at < s.size;
}

/* Removes the apostrophes of a guarded file; counts what should have had one. */
void kn_vtable_unguard(kn_vtable *t)
{
    for (int c = 0; c < t->column_count; c++)
        for (uint32_t i = 0; i < t->columns[c].count; i++) {
            kn_string *text = &t->texts[c].texts[i], bare = *text;
            while (bare.size > 0 && bare.data[0] == '\'') bare = (kn_string){bare.data + 1, bare.size - 1};
            if (!is_formula(bare)) continue;
            t->unguarded += bare.size == text->size;
            if (bare.size < text->size) *text = (kn_string){text->data + 1, text->size - 1};
        }
}

/* ---- Spelling ---- */

static bool shorter(kn_string a, kn_string b)
{
    return a.size != b.size ? a.size < b.size : kn_string_compare(a, b) < 0;
}

/* Per value the spelling that a release gives it: rows that are left out count, as they do in the release. */
static kn_string *spellings_of(const kn_verifier *v, const kn_vcopy *c)
{
    kn_string *best = kn_alloc_array_zero(v->ctx, (size_t)c->domain.count + 1, sizeof *best);
    for (uint32_t t = 0; best && t < c->original->count; t++) {
        uint32_t value = kn_vdomain_find(&c->domain, c->original->texts[t]);
        if (value == KN_V_NONE || value == KN_V_MISSING) continue;
        if (!best[value].data || shorter(c->original->texts[t], best[value])) best[value] = c->original->texts[t];
    }
    return best;
}

kn_status kn_verify_spelling(kn_verifier *v, kn_vcopy *c, kn_error *err)
{
    kn_string *best = spellings_of(v, c);
    bool       usual = true;
    if (!best) return kn_fail_memory(err, v->ctx, "verifying");
    for (uint32_t t = 0; usual && t < c->release->count; t++) {
        uint32_t value = c->of_release[t];
        if (value == KN_V_MISSING)
            usual = c->release->texts[t].size == 0;
        else if (value != KN_V_NONE)
            usual = kn_string_equal(c->release->texts[t], best[value]);
    }
    kn_free(best);
    if (usual) return KN_OK;
    c->exact = kn_alloc_array(v->ctx, (size_t)c->release->count + 1, sizeof *c->exact);
    if (!c->exact) return kn_fail_memory(err, v->ctx, "verifying");
    for (uint32_t t = 0; t < c->release->count; t++) { /* the domain numbers the original's texts as its column does */
        uint32_t text = kn_texts_find(&c->domain.texts, c->release->texts[t]);
        c->exact[t] = text < c->original->count ? text : KN_V_NONE;
    }
    return KN_OK;
}

static void report_spelling(kn_verifier *v, const kn_vcopy *c)
{
    int shown = 0;
    for (uint32_t t = 0; c->exact && t < c->release->count; t++) {
        if (c->exact[t] != KN_V_NONE || c->of_release[t] == KN_V_NONE || shown++ >= SHOWN) continue;
        kn_vproblem(v->notes, "row %" PRId64 ", column \"%s\": the value is spelled differently from the original",
                    kn_vcolumn_first(c->release, t) + 1, c->attribute->name);
    }
}

void kn_verify_form(kn_verifier *v)
{
    for (int i = 0; i < v->copy_count; i++) report_spelling(v, &v->copies[i]);
    kn_vform_judge(v->release, kn_vproblem_sentence, v->notes);
}
