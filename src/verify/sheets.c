/* sheets.c: the tables of a database → texts by number. Interface: kn_verify_sheets.h. Cells of engines are taken in take.c.
 *
 * Cost: one pass over each table; files in parallel, of an engine's cells several columns at a time. Memory: 4 bytes
 * per cell of the current table, then 1, 2 or 4; the different texts of each column, with 4 bytes each where an engine gives them.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_verify_sheets.h"

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_parallel.h"

static kn_status no_memory(const kn_vsheets *s, kn_error *err)
{
    return kn_fail_memory(err, s->ctx, "verifying a database");
}

int kn_vsheet_find(const kn_vsheet *s, const char *column)
{
    for (int c = 0; c < s->column_count; c++)
        if (strcmp(s->columns[c].name, column) == 0) return c;
    return -1;
}

int kn_vsheets_find(const kn_vsheets *s, const char *name)
{
    for (int t = 0; t < s->count; t++)
        if (strcmp(s->list[t].name, name) == 0) return t;
    return -1;
}

/* ---- Codes ---- */

typedef struct settling {
    kn_vsheets               *sheets;
    kn_vsheet                *sheet;
    const kn_vsheets_options *options;
    kn_spec                   missing; /* only its `na` is used       */
    bool                      na;      /* texts may be missing        */
} settling;

/* Texts that mean "missing" lose their number. A code beyond the texts is a cell that is already missing. */
static kn_status drop_missing(const settling *s, kn_vsheet_column *column, kn_string *texts, kn_error *err)
{
    kn_vcolumn *c = &column->cells;
    uint32_t    count = c->count, kept = 0, *to = kn_alloc_array(s->sheets->ctx, (size_t)count + 1, sizeof *to);
    bool        good = to != NULL;
    kn_texts    known; /* without their apostrophes texts may be equal */
    kn_texts_init(&known, s->sheets->ctx);
    for (uint32_t i = 0; good && i < count; i++) {
        bool missing = (s->na && kn_v_is_missing(&s->missing, texts[i])) ||
                       (s->options->empty && kn_value_trim(texts[i]).size == 0);
        column->blanks = column->blanks || (missing && texts[i].size > 0 && kn_value_trim(texts[i]).size == 0);
        to[i] = missing ? KN_V_NONE : s->options->guarded ? kn_texts_add(&known, texts[i], false) : kept;
        good = missing || to[i] != KN_V_NONE;
        if (!missing && to[i] == kept) texts[kept++] = texts[i];
    }
    kn_texts_free(&known);
    if (!good) {
        kn_free(to);
        return no_memory(s->sheets, err);
    }
    for (int64_t row = 0; row < s->sheet->rows; row++) {
        uint32_t code = kn_vcode(c, row), now = code < count && to[code] != KN_V_NONE ? to[code] : kept;
        column->missing += now == kept;
        if (now != code) kn_vcode_set(c, row, now);
    }
    kn_free(to);
    c->texts = texts;
    c->count = kept;
    return KN_OK;
}

/* The same for words: they are collected again where one is missing. */
static kn_status drop_words(const settling *s, kn_vsheet_column *column, kn_error *err)
{
    kn_vcolumn *c = &column->cells;
    kn_vwords   kept = {0};
    uint32_t    count = c->count, *to = kn_alloc_array(s->sheets->ctx, (size_t)count + 1, sizeof *to);
    bool        good = to != NULL, any = false;
    for (uint32_t i = 0; good && i < count; i++) {
        kn_string text = kn_vtext(c, i);
        bool      missing =
            (s->na && kn_v_is_missing(&s->missing, text)) || (s->options->empty && kn_value_trim(text).size == 0);
        column->blanks = column->blanks || (missing && text.size > 0 && kn_value_trim(text).size == 0);
        to[i] = missing ? KN_V_NONE : i;
        any = any || missing;
    }
    for (uint32_t i = 0; good && any && i < count; i++) {
        if (to[i] == KN_V_NONE) continue;
        to[i] = kn_vwords_add(&kept, s->sheets->ctx, kn_vtext(c, i));
        good = to[i] != KN_V_NONE;
    }
    if (any) {
        kn_vwords_free(&c->words);
        c->words = kept;
        c->count = kept.count;
    }
    for (int64_t row = 0; good && row < s->sheet->rows; row++) {
        uint32_t code = kn_vcode(c, row), now = code < count && to[code] != KN_V_NONE ? to[code] : c->count;
        column->missing += now == c->count;
        if (now != code) kn_vcode_set(c, row, now);
    }
    kn_free(to);
    return good && kn_vwords_settle(&c->words, s->sheets->ctx) ? KN_OK : no_memory(s->sheets, err);
}

/* One, two or four bytes per row, depending on the number of texts. */
static kn_status narrow(const settling *s, kn_vsheet_column *column, kn_error *err)
{
    kn_vcolumn narrower = column->cells;
    narrower.width = narrower.count < 256 ? 1 : narrower.count < 65536 ? 2 : 4;
    if (narrower.width == 4) { /* what they were read into may be half as large again */
        void *codes = kn_realloc_array(s->sheets->ctx, narrower.codes, (size_t)s->sheet->rows + 1, sizeof(uint32_t));
        if (!codes) return no_memory(s->sheets, err);
        column->cells.codes = codes;
        return KN_OK;
    }
    narrower.codes = kn_alloc_array(s->sheets->ctx, (size_t)s->sheet->rows + 1, (size_t)narrower.width);
    if (!narrower.codes) return no_memory(s->sheets, err);
    for (int64_t row = 0; row < s->sheet->rows; row++) kn_vcode_set(&narrower, row, kn_vcode(&column->cells, row));
    kn_free(column->cells.codes);
    column->cells = narrower;
    return KN_OK;
}

bool kn_v_plain_number(kn_string t, bool exponent)
{
    size_t i = t.size > 0 && t.data[0] == '-', begin = i;
    while (i < t.size && t.data[i] >= '0' && t.data[i] <= '9') i++;
    if (i == begin || (t.data[begin] == '0' && i > begin + 1)) return false;
    size_t whole = i;
    if (i < t.size && t.data[i] == '.') {
        for (i++; i < t.size && t.data[i] >= '0' && t.data[i] <= '9';) i++;
        if (i == whole + 1 || t.data[i - 1] == '0') return false;
    }
    if (exponent && i < t.size && t.data[i] == 'e' && whole == begin + 1 && i + 3 < t.size) {
        if (t.data[i + 1] != '+' && t.data[i + 1] != '-') return false;
        for (i += 2; i < t.size && t.data[i] >= '0' && t.data[i] <= '9';) i++;
    }
    return i == t.size && !(t.size == 2 && t.data[0] == '-' && t.data[1] == '0');
}

bool kn_vsheet_plain(const kn_vsheet_column *column)
{
    bool plain = true;
    for (uint32_t i = 0; plain && i < column->cells.count; i++)
        plain = kn_v_plain_number(kn_vtext(&column->cells, i), false);
    return plain;
}

/* How many texts have the same value as another? */
static kn_status count_spellings(const settling *s, kn_vsheet_column *column, kn_error *err)
{
    static const char *const nothing[1] = {NULL};
    kn_spec                  plain = {.csv = KN_CSV_OPTIONS_INIT};
    kn_attribute             a = {.name = column->name, .role = KN_ROLE_SENSITIVE, .type = KN_TYPE_AUTO};
    kn_value_rules           rules = {.decimal = '.'};
    kn_vrows                 rows = {0, NULL};
    kn_vdomain               domain = {0};
    kn_type                  type = KN_TYPE_TEXT;
    const char              *format = NULL;
    bool                     ambiguous = false;
    plain.csv.na = nothing;
    if (column->text || kn_vsheet_plain(column)) return KN_OK;
    kn_string *texts = kn_alloc_array(s->sheets->ctx, (size_t)column->cells.count + 1, sizeof *texts);
    if (!texts) return no_memory(s->sheets, err);
    for (uint32_t i = 0; i < column->cells.count; i++) texts[i] = kn_vtext(&column->cells, i);
    kn_status status =
        kn_infer_type(&type, &format, &ambiguous, s->sheets->ctx, texts, column->cells.count, &rules, err);
    kn_free(texts);
    if (status != KN_OK) return status;
    if (type == KN_TYPE_TEXT) return KN_OK;
    status = kn_vdomain_make(&domain, s->sheets->ctx, &plain, &a, &rows, &column->cells, NULL, NULL, err);
    if (status == KN_OK) column->respelled = (int64_t)column->cells.count - (int64_t)domain.count;
    kn_vdomain_free(&domain);
    return status;
}

static kn_status settle_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    const settling *s = arg;
    (void)worker;
    for (int64_t c = begin; c < end; c++) {
        kn_vsheet_column *column = &s->sheet->columns[c];
        kn_vtable        *file = s->sheet->file;
        KN_TRY(file ? drop_missing(s, column, file->texts[c].texts, err) : drop_words(s, column, err));
        if (!file) KN_TRY(narrow(s, column, err));
        if (s->options->release) KN_TRY(count_spellings(s, column, err));
    }
    return KN_OK;
}

kn_status kn_vsheet_settle(kn_vsheets *sheets, kn_vsheet *sheet, const kn_vsheets_options *options, kn_error *err)
{
    settling s = {.sheets = sheets, .sheet = sheet, .options = options, .missing = {.csv = *options->csv}};
    s.na = sheet->file || options->csv->na;
    return kn_parallel_for(sheets->ctx, sheet->column_count, 1, settle_range, &s, err);
}

/* ---- Files ---- */

typedef struct noting {
    kn_vsheets *sheets;
    kn_vsheet  *sheet;
    bool        failed;
} noting;

static void note(void *arg, const char *sentence)
{
    noting *n = arg;
    if (n->sheet->form_count == KN_VERIFY_PROBLEMS) return;
    const char *copy = kn_arena_strndup(&n->sheets->arena, sentence, strlen(sentence));
    n->failed = n->failed || !copy;
    if (copy) n->sheet->form[n->sheet->form_count++] = copy;
}

/* Checks how a release's file is written, before its texts are normalized. */
static kn_status judge_form(kn_vsheets *sheets, kn_vsheet *sheet, const kn_vsheets_options *options, kn_error *err)
{
    noting n = {sheets, sheet, false};
    if (options->release) kn_vform_judge(sheet->file, note, &n);
    if (options->guarded) kn_vtable_unguard(sheet->file);
    return n.failed ? no_memory(sheets, err) : KN_OK;
}

kn_status kn_vsheet_read_file(kn_vsheets *sheets, kn_vsheet *out, const char *path, const kn_vsheets_options *options,
                              kn_error *err)
{
    kn_vread_options read = {.csv = options->csv, .all = true, .form = options->release};
    KN_TRY(kn_vtable_read(&out->file, sheets->ctx, &path, 1, &read, err));
    kn_vtable *file = out->file;
    KN_TRY(judge_form(sheets, out, options, err));
    out->rows = file->rows;
    out->columns = kn_alloc_array_zero(sheets->ctx, (size_t)file->column_count + 1, sizeof *out->columns);
    if (!out->columns) return no_memory(sheets, err);
    out->column_count = file->column_count;
    for (int c = 0; c < out->column_count; c++) {
        out->columns[c].name = file->names[c].data;
        out->columns[c].cells = file->columns[c];
    }
    return kn_vsheet_settle(sheets, out, options, err);
}

/* ---- All tables ---- */

static kn_status read_sheet(kn_vsheets *s, kn_vsheet *sheet, const kn_vsheets_options *options, kn_error *err)
{
    char *path = NULL;
    KN_TRY(s->cells->file(s->cells->state, &path, sheet->name, err));
    kn_status status = kn_vsheet_read_file(s, sheet, path, options, err);
    kn_free(path);
    return status;
}

/* The tables to read: in the user's order, else by name. */
static kn_status choose(kn_vsheets *s, const kn_vsheets_options *o, kn_error *err)
{
    for (int i = 0; i < o->table_count; i++) {
        int at = kn_catalog_find(&s->catalog, o->tables[i].name);
        if (at < 0) return kn_fail(err, KN_INPUT, "%s: there is no table \"%s\"", s->cells->name, o->tables[i].name);
        s->list[s->count++].declared = &s->catalog.tables[at];
    }
    if (o->table_count > 0) return KN_OK;
    for (int i = 0; i < s->catalog.table_count; i++) {
        int at = s->count++;
        for (; at > 0 && strcmp(s->list[at - 1].declared->name, s->catalog.tables[i].name) > 0; at--)
            s->list[at].declared = s->list[at - 1].declared;
        s->list[at].declared = &s->catalog.tables[i];
    }
    return s->count > 0 ? KN_OK : kn_fail(err, KN_INPUT, "%s: there are no tables in it", s->cells->name);
}

kn_status kn_vsheets_open(kn_vsheets *s, const kn_cells *cells, const kn_vsheets_options *o, kn_error *err)
{
    kn_database_options named = KN_DATABASE_OPTIONS_INIT;
    *s = (kn_vsheets){.ctx = cells->ctx, .cells = cells};
    kn_arena_init(&s->arena, s->ctx);
    kn_catalog_init(&s->catalog, s->ctx);
    named.tables = o->tables;
    named.table_count = o->table_count;
    KN_TRY(cells->list(cells->state, &s->catalog, &named, err));
    size_t most = (size_t)(o->table_count > 0 ? o->table_count : s->catalog.table_count);
    s->list = kn_alloc_array_zero(s->ctx, most + 1, sizeof *s->list);
    if (!s->list) return no_memory(s, err);
    KN_TRY(choose(s, o, err));
    for (int t = 0; t < s->count; t++) s->list[t].name = s->list[t].declared->name;
    return KN_OK;
}

kn_status kn_vsheets_fill(kn_vsheets *const *sheets, const kn_vsheets_options *const *options, int count, kn_error *err)
{
    bool files = false;
    for (int i = 0; i < count; i++) files = files || sheets[i]->cells->file;
    if (!files) return kn_vsheets_take(sheets, options, count, err);
    for (int i = 0; i < count; i++) {
        if (!sheets[i]->cells->file) KN_TRY(kn_vsheets_take(sheets + i, options + i, 1, err));
        for (int t = 0; sheets[i]->cells->file && t < sheets[i]->count; t++)
            KN_TRY(read_sheet(sheets[i], &sheets[i]->list[t], options[i], err));
    }
    return KN_OK;
}

kn_status kn_vsheets_read(kn_vsheets *s, const kn_cells *cells, const kn_vsheets_options *o, kn_error *err)
{
    KN_TRY(kn_vsheets_open(s, cells, o, err));
    return kn_vsheets_fill(&s, &o, 1, err);
}

static void free_sheet(kn_vsheet *s)
{
    for (int c = 0; s->columns && c < s->column_count && !s->file; c++) {
        kn_free(s->columns[c].cells.codes);
        kn_vwords_free(&s->columns[c].cells.words);
    }
    kn_free(s->columns);
    kn_vtable_free(s->file);
}

void kn_vsheets_free(kn_vsheets *s)
{
    if (!s->ctx) return;
    for (int t = 0; s->list && t < s->count; t++) free_sheet(&s->list[t]);
    kn_free(s->list);
    kn_catalog_free(&s->catalog);
    kn_arena_free(&s->arena);
}
