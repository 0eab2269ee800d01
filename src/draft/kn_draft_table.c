/* kn_draft_table.c: a first release file for one table.
 *
 * Roles are those of the profile. An identifier of persons that is on several rows becomes the entity. If a column
 * has numbers with decimal commas, the table is read again with that decimal mark.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <ctype.h>
#include <kanon/diagnose.h>
#include <stdio.h>
#include <string.h>

#include "kn_columnar.h"
#include "kn_context.h"
#include "kn_draft.h"
#include "kn_error.h"
#include "kn_names.h"

enum { FEW_ROWS = 20 };

/* ---- Reading ---- */

/* *read: the caller's to free; NULL: the table is the one that was given. */
static kn_status read_table(const kn_table **out, kn_table **read, kn_drafting *d, kn_csv_options *csv, kn_error *err)
{
    const kn_table *given = d->star_missing ? NULL : d->options->table;
    if (!given) KN_TRY(kn_table_read_csv_files(read, d->ctx, d->inputs, d->input_count, csv, err));
    *out = given ? given : *read;
    bool stream = d->input_count == 1 && strcmp(d->inputs[0], "-") == 0;
    if (csv->decimal == ',' || stream || !kn_table_decimal_commas(*out)) return KN_OK;
    kn_table_free(*read);
    *read = NULL;
    csv->decimal = ',';
    KN_TRY(kn_table_read_csv_files(read, d->ctx, d->inputs, d->input_count, csv, err));
    *out = *read;
    return KN_OK;
}

/* ---- Whose rows ---- */

/* Does a name say that an id is a person's? It is enough that it begins with one of these words (kundennummer). */
static bool names_person(const char *name)
{
    static const char *const words[] = {
        "person",  "patient",  "user",  "customer", "client",  "member", "student", "pupil",  "employee", "subject",
        "respond", "particip", "kunde", "schueler", "schüler", "mitarb", "versich", "nutzer", "person",   "usuario",
        "alumno",  "paciente", "eleve", "élève",    "utilis",  "salari", "matri",   "uid",    "pid",      "sid"};
    if (kn_name_says(name, "id") && strlen(name) == 2) return true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t size = strlen(words[i]);
        size_t same = 0;
        while (same < size && tolower((unsigned char)name[same]) == (unsigned char)words[i][same]) same++;
        if (same == size) return true;
    }
    return false;
}

/* The column that identifies the person of a row; -1: none found, every row is a separate person. */
static int find_entity(const kn_profile *profile, const kn_table *table)
{
    for (int c = 0; c < profile->columns; c++) {
        const kn_column_profile *p = kn_column_profile_at(profile, c);
        bool                     repeated = p->missing == 0 && p->distinct > 1 && (int64_t)p->distinct < table->rows;
        if (p->role == KN_ROLE_IDENTIFIER && repeated && names_person(p->name)) return c;
    }
    return -1;
}

/* ---- Columns ---- */

typedef struct sheet {
    kn_drafting    *d;
    const kn_table *table;
    kn_profile     *profile;
    int             entity, weights, quasi;
} sheet;

/* Writes `ID: {role: ...}`, and why. */
static void write_column(kn_drafting *d, const char *name, const char *role, const kn_draft_rule *rule,
                         const char *reason)
{
    kn_buffer *to = &d->text;
    kn_buffer_add(to, "  ");
    kn_draft_quote(to, name);
    kn_buffer_format(to, ": {role: %s", role);
    if (rule && rule->type) kn_buffer_format(to, ", type: %s", rule->type);
    if (rule && rule->hierarchy) kn_buffer_format(to, ", hierarchy: %s", rule->hierarchy);
    kn_buffer_format(to, "}  # %s", reason);
    if (rule && *rule->why) kn_buffer_format(to, " (%s)", rule->why);
    kn_buffer_char(to, '\n');
}

/* Says what keeps a column from being one of numbers or dates, for which there are better hierarchies. */
static kn_status note_nearly(sheet *s, int c, kn_error *err)
{
    kn_nearly n;
    if (!kn_column_nearly(&n, &s->table->columns[c])) return KN_OK;
    return kn_draft_note(
        s->d, err,
        "column \"%s\" is text because of %lu of its %lu different values (first: row %lld): the others "
        "are %s%s; with these cells %s 'kanon init' proposes %s",
        kn_table_name(s->table, c), (unsigned long)n.others, (unsigned long)s->table->columns[c].dict.count,
        (long long)kn_nearly_row(&n, s->table, c), n.format ? "dates of the form " : "numbers",
        n.format ? n.format : "", n.format ? "written alike, or empty, or named by --na," : "empty, or named by --na,",
        n.format ? "the calendar" : "ranges");
}

static kn_status draft_column(sheet *s, int c, kn_error *err)
{
    const kn_column_profile *p = kn_column_profile_at(s->profile, c);
    kn_draft_rule            rule = {NULL, NULL, ""};
    kn_role                  role = p->role;
    const char              *reason = p->reason;
    if (role == KN_ROLE_WEIGHT && s->weights++ > 0) { /* at most one column */
        role = KN_ROLE_QUASI;
        reason = "another column is the sampling weight already";
    }
    if (p->distinct == 0) { /* an empty column: neither known to anybody nor of use */
        role = KN_ROLE_IDENTIFIER;
        reason = "it has no value at all; left out";
    }
    if (role == KN_ROLE_QUASI) KN_TRY(kn_draft_rule_of(&rule, s->d, s->table, c, NULL, false, err));
    s->quasi += role == KN_ROLE_QUASI;
    KN_TRY(note_nearly(s, c, err));
    write_column(s->d, p->name, kn_role_name(role), role == KN_ROLE_QUASI ? &rule : NULL, reason);
    return kn_draft_add_column(s->d, NULL, p->name, kn_role_name(role), reason, rule.hierarchy, err);
}

/* ---- Promises ---- */

static void draft_promises(sheet *s)
{
    kn_drafting *d = s->d;
    int64_t      who = s->entity >= 0 ? s->table->columns[s->entity].dict.count : s->table->rows;
    int64_t      k = d->options->k > 0 ? d->options->k : who < FEW_ROWS ? 2 : 5;
    kn_buffer_format(
        &d->text, "\nprivacy:\n  - k: %lld  # whoever knows the quasi-identifiers of somebody finds at least so many\n",
        (long long)k);
    for (int c = 0; c < s->profile->columns; c++) {
        const kn_column_profile *p = kn_column_profile_at(s->profile, c);
        if (p->role != KN_ROLE_SENSITIVE || p->distinct < 2) continue;
        kn_buffer_add(&d->text, "  - l-diversity: {attribute: ");
        kn_draft_quote(&d->text, p->name);
        kn_buffer_add(&d->text, ", l: 2}  # and they do not all have the same value\n");
    }
    kn_buffer_add(&d->text,
                  "suppression: 5%  # so many rows may be given up where that keeps the others sharper\n"
                  "\nmethod: auto  # the methods that fit are tried, and the one that loses least is taken\n");
}

static kn_status draft(sheet *s, const kn_csv_options *csv, kn_error *err)
{
    kn_drafting *d = s->d;
    if (s->table->rows < 2)
        return kn_fail(err, KN_INPUT, "%s: it has %lld %s; nobody can be hidden among fewer than 2",
                       kn_path_name(d->ctx, d->inputs[0]), (long long)s->table->rows,
                       s->table->rows == 1 ? "row" : "rows");
    const char *output = kn_columnar_kind_of(d->ctx, d->inputs[0]) == KN_COLUMNAR_PARQUET ? "release.parquet"
                         : kn_table_delimiter(s->table) == '\t'                           ? "release.tsv"
                                                                                          : "release.csv";
    KN_TRY(kn_draft_opening(d, csv, output, err));
    kn_buffer_add(&d->text, "\nattributes:\n");
    for (int c = 0; c < s->profile->columns; c++) KN_TRY(draft_column(s, c, err));
    s->entity = find_entity(s->profile, s->table);
    if (s->entity >= 0) {
        kn_buffer_add(&d->text, "entity: {key: ");
        kn_draft_quote(&d->text, s->table->columns[s->entity].name);
        kn_buffer_add(&d->text, "}  # several rows are about one person: classes count persons\n"
                                "keep-rowmap: true  # 'kanon verify --map' counts persons by it; keep it private\n");
    }
    draft_promises(s);
    if (s->quasi == 0)
        return kn_fail(err, KN_INPUT,
                       "%s: no column looks like something that others may know, so there is nothing to "
                       "blur; write a release file that gives one the role quasi",
                       d->inputs[0]);
    return KN_OK;
}

kn_status kn_draft_table(kn_drafting *d, kn_error *err)
{
    kn_csv_options csv = KN_CSV_OPTIONS_INIT;
    sheet          s = {.d = d, .entity = -1};
    KN_TRY(kn_draft_reading(&csv, d, err));
    kn_table *read = NULL;
    kn_status st = read_table(&s.table, &read, d, &csv, err);
    if (st == KN_OK) st = kn_profile_table(&s.profile, d->ctx, s.table, err);
    if (st == KN_OK) st = draft(&s, &csv, err);
    kn_profile_free(s.profile);
    kn_table_free(read);
    return st;
}
