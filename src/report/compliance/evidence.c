/* compliance/evidence.c: all figures of a page of evidence, numbered, each below the command that reproduces it.
 *
 * Interface: kn_compliance_evidence (kn_compliance.h). Figures of the certificate come first: anybody who has the release can
 * repeat them for a table. The others are the owner's. Cost: linear in the documents.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "kn_compliance.h"
#include "kn_error.h"
#include "kn_html.h"
#include "kn_release_report.h"

typedef const kn_document_value value;

/* What is being written: a table of figures of one command. */
typedef struct list {
    kn_compliance *c;
    kn_html_table  t;
} list;

/* The number and the name of a figure; what it means follows, then value_of. `which`: the figure, where sentences cite it, else
 * KN_EVIDENCES. */
static kn_buffer *begin(list *l, kn_evidence which, const char *name)
{
    kn_buffer *to = l->t.to;
    int        number = (int)++l->c->summary->figures;
    if (which != KN_EVIDENCES && l->c->number[which] == 0) l->c->number[which] = number;
    kn_html_table_row(&l->t);
    kn_html_table_cell(&l->t);
    kn_buffer_format(to, "<b id=\"e%d\">E%d</b>", number, number);
    kn_html_table_cell(&l->t);
    kn_html_text(to, name);
    kn_buffer_add(to, "<small>");
    return to;
}

/* Ends what a figure means; its value is to be appended. */
static kn_buffer *value_of(list *l)
{
    kn_buffer_add(l->t.to, "</small>");
    kn_html_table_cell(&l->t);
    return l->t.to;
}

/* All but the value, with a meaning that is constant. */
static kn_buffer *figure(list *l, kn_evidence which, const char *name, const char *meaning)
{
    kn_html_text(begin(l, which, name), meaning);
    return value_of(l);
}

static void count(list *l, kn_evidence which, const char *name, int64_t number, const char *meaning)
{
    kn_html_integer(figure(l, which, name, meaning), number);
}

static void share(list *l, kn_evidence which, const char *name, double part, const char *meaning)
{
    kn_html_percent(figure(l, which, name, meaning), part);
}

static void crowd(list *l, kn_evidence which, const char *name, int64_t size, const char *meaning)
{
    kn_html_count(figure(l, which, name, meaning), size, kn_compliance_unit(l->c, 1), kn_compliance_unit(l->c, 2));
}

static kn_status open_list(list *l, kn_buffer *to, kn_compliance *c, kn_command command, const char *title,
                           const char *words, kn_error *err)
{
    static const char *const titles[] = {"No.", "Figure", "Value"};
    l->c = c;
    kn_buffer_add(to, "<h3>");
    kn_html_text(to, title);
    kn_buffer_add(to, "</h3>\n<p>");
    kn_html_text(to, words);
    kn_buffer_add(to, "</p>\n");
    KN_TRY(kn_compliance_command(to, c, command, err));
    kn_html_table_begin(&l->t, to, "llr", titles);
    return KN_OK;
}

/* ---- The certificate ---- */

static kn_status file(kn_buffer *to, kn_compliance *c, kn_error *err)
{
    value      *files = kn_document_find(c->certificate, "files");
    const char *digest = kn_document_text(c->certificate, "sha256");
    list        l;
    if (!digest && !files) return KN_OK;
    if (kn_compliance_in_sqlite(c)) /* no command prints it */
        KN_TRY(open_list(&l, to, c, KN_RUN_NOTHING, "Which release this is about",
                         "Of the CSV file that the rows of the table make, with commas, LF and no needless quotes. "
                         "Another digest: the page is about other rows.",
                         err));
    else
        KN_TRY(open_list(&l, to, c, KN_RUN_DIGEST, "Which release this is about",
                         "Anybody who has the release can run this. Another result: the page is about other bytes.",
                         err));
    if (digest) {
        kn_html_name(begin(&l, KN_E_FILE, "SHA-256 of the released file"), digest);
        (void)value_of(&l);
    }
    for (int64_t i = 0; i < kn_document_count(files); i++) {
        value *one = kn_document_at(files, i);
        kn_html_name(begin(&l, KN_E_FILE, kn_document_text_of(kn_document_member(one, "name"))),
                     kn_document_text_of(kn_document_member(one, "sha256")));
        (void)value_of(&l);
    }
    kn_html_table_end(&l.t);
    return KN_OK;
}

/* "l-diversity (distinct) of diagnosis, l = 3" */
static void promise_name(kn_buffer *to, value *model)
{
    static const char *const skipped[] = {"model",   "kind",     "distance", "variant", "attribute",       "in_release",
                                          "reached", "original", "asked",    "bound",   "failing_classes", "holds"};
    const char              *variant = kn_document_text_of(kn_document_member(model, "kind")),
               *attribute = kn_document_text_of(kn_document_member(model, "attribute"));
    value *asked = kn_document_member(model, "asked");
    if (!variant) variant = kn_document_text_of(kn_document_member(model, "distance"));
    if (!variant) variant = kn_document_text_of(kn_document_member(model, "variant"));
    kn_html_text(to, kn_document_text_of(kn_document_member(model, "model")));
    if (variant) {
        kn_buffer_add(to, " (");
        kn_html_text(to, variant);
        kn_buffer_char(to, ')');
    }
    if (attribute) {
        kn_buffer_add(to, " of ");
        kn_html_name(to, attribute);
    }
    if (kn_document_kind_of(asked) != KN_DOCUMENT_NULL) { /* as the verifier's answer has it */
        kn_buffer_format(to, ", %s ", kn_document_text_of(kn_document_member(model, "bound")));
        kn_release_asked(to, kn_document_number_of(asked));
    }
    for (int64_t i = 0; i < kn_document_count(model); i++) {
        const char *key = kn_document_key(model, i);
        bool        skip = kn_document_kind_of(kn_document_at(model, i)) == KN_DOCUMENT_NULL;
        for (size_t s = 0; s < sizeof skipped / sizeof *skipped; s++) skip |= strcmp(key, skipped[s]) == 0;
        if (skip) continue;
        kn_buffer_format(to, ", %s = ", key);
        kn_release_asked(to, kn_document_number_of(kn_document_at(model, i)));
    }
}

/* A row for each promise, with `key` of it as the value. */
static void promises(list *l, kn_evidence which, value *models, const char *title, const char *key, const char *words)
{
    for (int64_t i = 0; i < kn_document_count(models); i++) {
        value     *model = kn_document_at(models, i), *found = kn_document_member(model, key);
        kn_buffer *to = begin(l, which, title);
        bool       average = strcmp(kn_document_text_of(kn_document_member(model, "model")), "average-risk") == 0;
        promise_name(to, model);
        kn_buffer_add(to, ". ");
        kn_html_text(to, average && which == KN_E_REACHED ? "What all classes reach together." : words);
        (void)value_of(l);
        if (kn_document_kind_of(found) == KN_DOCUMENT_NULL)
            kn_buffer_add(to, "–");
        else
            kn_release_figure(to, kn_document_number_of(found));
    }
}

static void units(list *l)
{
    static const char *const names[] = {"Rows of the release", "Persons of the release", "Records of the release"};
    static const char *const words[] = {"Suppressed rows that are shown are among them.",
                                        "Each with all rows in all tables.",
                                        "Each is a tree: all that is shown of one person."};
    count(l, KN_E_UNITS, names[l->c->shape], l->c->units, words[l->c->shape]);
}

static void classes(list *l)
{
    kn_compliance *c = l->c;
    if (c->classes < 0) return;
    if (c->k > 0)
        crowd(l, KN_E_SMALLEST, "Smallest class", c->k, "So many look alike in every quasi-identifier, at least.");
    count(l, KN_E_CLASSES, "Classes", c->classes, "Different looks on the quasi-identifiers.");
}

static void loss(list *l)
{
    double lm = NAN;
    if (!kn_document_number(l->c->certificate, "metrics.lm", &lm) || isnan(lm)) return;
    share(l, KN_E_LOSS, "Blurred (lm)", lm,
          "0 % are the values themselves, 100 % is nothing at all; as the release itself shows it.");
}

/* A table that the checker of certificates reads: CSV. */
static bool is_text(const kn_compliance *c)
{
    return c->shape == KN_SHAPE_TABLE && !kn_compliance_in_sqlite(c) &&
           !(c->certificate_name && strstr(c->certificate_name, ".parquet"));
}

static kn_status seen(kn_buffer *to, kn_compliance *c, kn_error *err)
{
    static const char *const who[] = {
        "Anybody can run this: it reads the release and its certificate and needs neither kanon nor the original. It "
        "comes with kanon’s sources.",
        "The owner can run this: it needs the original. The figures stand in the certificate, too."};
    bool table = is_text(c);
    list l;
    KN_TRY(
        open_list(&l, to, c, table ? KN_RUN_CHECK : KN_RUN_VERIFY, "What the release shows", who[table ? 0 : 1], err));
    units(&l);
    if (c->suppressed >= 0)
        count(&l, KN_E_SUPPRESSED, "Suppressed rows that are shown", c->suppressed,
              strcmp(kn_document_text(c->certificate, "options.suppressed"), "keep-sensitive") == 0
                  ? "They show * in every quasi-identifier, and their other columns."
                  : "They show * in every column.");
    classes(&l);
    if (c->shape == KN_SHAPE_RECORDS) {
        int64_t nodes = 0;
        (void)kn_document_integer(c->certificate, "nodes", &nodes);
        count(&l, KN_EVIDENCES, "Nodes of the release", nodes, "Values at a place of a record.");
    }
    if (table) loss(&l); /* of another shape no command shows it without the original */
    promises(&l, KN_E_PROMISES, kn_document_find(c->certificate, "models"), "Promise, as the release shows it",
             "in_release", "A dash: the release alone does not say.");
    kn_html_table_end(&l.t);
    return KN_OK;
}

/* Prosecutor and marketer risk follow from the class sizes. */
static kn_status risk_of_release(kn_buffer *to, kn_compliance *c, kn_error *err)
{
    list    l;
    int64_t shown = c->units - (c->suppressed > 0 ? c->suppressed : 0);
    bool    table = is_text(c), plain = table && c->suppressed <= 0;
    if (c->k <= 0 || c->classes <= 0 || shown <= 0 || c->anatomy) return KN_OK;
    KN_TRY(
        open_list(&l, to, c,
                  plain   ? KN_RUN_RISK
                  : table ? KN_RUN_CHECK
                          : KN_RUN_VERIFY,
                  "Risk by the size of classes",
                  plain ? "Anybody who has the release can run this (prosecutor risk, highest and average)."
                        : "The command gives the smallest class and how many classes there are: the highest risk is 1 "
                          "divided by the first, the average the number of classes divided by those who stand in them.",
                  err));
    share(
        &l, KN_E_HIGHEST, "Highest risk", 1.0 / (double)c->k,
        "The chance to pick the right one of the smallest class, for somebody who knows the quasi-identifiers and that "
        "the person is in the release.");
    share(&l, KN_E_AVERAGE, "Average risk", (double)c->classes / (double)shown,
          "Of a hundred people looked for in this way, so many would be guessed right.");
    kn_html_table_end(&l.t);
    return KN_OK;
}

/* ---- The owner's ---- */

/* Of k^(m,n): the fewest that somebody finds. */
static void found_records(list *l, const kn_document *from)
{
    int64_t k = 0;
    if (!kn_document_integer(from, "k", &k)) return;
    kn_buffer *to = begin(l, KN_E_SMALLEST, "Fewest that somebody finds");
    kn_buffer_add(to, "Who knows up to ");
    kn_html_count(to, l->c->m, "value", "values");
    kn_buffer_add(to, " and ");
    kn_html_count(to, l->c->n, "relation", "relations");
    kn_buffer_add(to, "; asked: ");
    kn_html_integer(to, l->c->asked);
    kn_buffer_char(to, '.');
    kn_html_count(value_of(l), k, "record", "records");
}

static kn_status verified(kn_buffer *to, kn_compliance *c, kn_error *err)
{
    list               l;
    bool               map = false;
    int64_t            left = 0;
    double             largest = NAN, lm = NAN;
    const kn_document *from = c->verify ? c->verify : c->secret;
    if (!from) return KN_OK;
    if (c->secret) (void)kn_document_boolean(c->secret, "rowmap", &map);
    KN_TRY(
        open_list(&l, to, c, KN_RUN_VERIFY, "Checked against the original",
                  !c->entity || map
                      ? "The owner can run this. Everything is derived again from the two files, by code that shares "
                        "nothing with what made the release."
                      : "The owner can run this. Everything is derived again from the two files, by code that shares "
                        "nothing with what made the release. Persons can be counted again only with a row map "
                        "(--keep-rowmap), unless the release itself shows which rows are one person’s: without "
                        "either, the command leaves open what was promised of them.",
                  err));
    if (c->verify)
        kn_html_text(figure(&l, KN_E_VERIFIED, "Outcome", "Whether every promise holds and nothing was invented."),
                     kn_document_text(c->verify, "outcome"));
    if (c->shape == KN_SHAPE_RECORDS) found_records(&l, from);
    promises(&l, KN_E_REACHED, kn_document_find(from, "models"), "Promise, as it was derived", "reached",
             "What the worst class reaches.");
    if (kn_document_integer(from, c->shape == KN_SHAPE_RECORDS ? "left_out" : "suppressed", &left) ||
        kn_document_integer(from, "dropped", &left))
        count(&l, KN_E_LEFT_OUT, "Suppressed or left out", left,
              c->shape == KN_SHAPE_RECORDS ? "Of the original; they are not in the release."
                                           : "Of the original; they are not in the classes.");
    if (c->shape == KN_SHAPE_DATABASE && kn_document_number(from, "metrics.lm", &lm) && !isnan(lm))
        share(&l, KN_E_LOSS, "Lost (lm)", lm, "Of the quasi-identifiers; a deleted cell counts in full.");
    if (kn_document_number(from, "largest_share", &largest) && !isnan(largest))
        share(&l, KN_EVIDENCES, "Largest share of one sensitive value", largest,
              "Among those who look alike, of the values that something was promised about.");
    kn_html_table_end(&l.t);
    return KN_OK;
}

static kn_status before(kn_buffer *to, kn_compliance *c, kn_error *err)
{
    list    l;
    int64_t k = 0;
    if (!c->secret || !kn_document_integer(c->secret, "k_before", &k) || k <= 0) return KN_OK;
    if (c->entity && c->pseudonym) return KN_OK; /* of persons with all their rows: no diagnosis shows it */
    KN_TRY(open_list(&l, to, c, KN_RUN_BEFORE, "The original", "The owner can run this.", err));
    crowd(&l, KN_E_BEFORE, "Smallest class before", k, "On the same quasi-identifiers, as they were.");
    share(&l, KN_EVIDENCES, "Highest risk before", 1.0 / (double)k, "1 divided by the smallest class.");
    kn_html_table_end(&l.t);
    return KN_OK;
}

static void side(list *l, const char *at, bool after)
{
    static const char *const names[][3] = {
        {"Found in the original", "Match fewer than k of the original", "Value certain in the original"},
        {"Found in the release", "Match fewer than k of the release", "Value certain in the release"}};
    value  *one = kn_document_find(l->c->attack, at), *certain = kn_document_member(one, "certain");
    int64_t k = 0;
    (void)kn_document_integer(l->c->attack, "k", &k);
    if (!one) return;
    count(l, after ? KN_E_FOUND : KN_EVIDENCES, names[after][0],
          kn_document_integer_of(kn_document_member(one, "unique")),
          "People of the other table who match exactly one.");
    kn_buffer_format(begin(l, after ? KN_E_BELOW : KN_EVIDENCES, names[after][1]),
                     "With k = %lld; those who match none are not among them.", (long long)k);
    kn_html_integer(value_of(l), kn_document_integer_of(kn_document_member(one, "below_k")));
    for (int64_t i = 0; i < kn_document_count(certain); i++) {
        kn_buffer *to = begin(l, after ? KN_E_CERTAIN : KN_EVIDENCES, names[after][2]);
        kn_buffer_add(to, "All who match the person have the same value of ");
        kn_html_name(to, kn_document_key(certain, i));
        kn_buffer_add(to, ": it is known without knowing which of them it is.");
        kn_html_integer(value_of(l), kn_document_integer_of(kn_document_at(certain, i)));
    }
}

static kn_status attacked(kn_buffer *to, kn_compliance *c, kn_error *err)
{
    list    l;
    int64_t people = 0, unplaced = 0;
    if (!c->attack) return KN_OK;
    KN_TRY(
        open_list(&l, to, c, KN_RUN_ATTACK, "The linking attack",
                  kn_document_text(c->attack, "sha256")
                      ? "Whoever has the other table can run this. It was linked over everything that both have."
                      : "Whoever has the other table can run this. It was linked over everything that both have; its "
                        "answer names no release, so that only its size was compared with this one.",
                  err));
    (void)kn_document_integer(c->attack, "people", &people);
    count(&l, KN_EVIDENCES, "People looked for", people, "Of the table that an attacker was taken to have.");
    side(&l, "before", false);
    side(&l, "after", true);
    if (kn_document_integer(c->attack, "after.unplaced", &unplaced) && unplaced > 0)
        count(&l, KN_EVIDENCES, "Cannot be placed", unplaced,
              "A hierarchy lacks a value of theirs: nothing is said of them.");
    kn_html_table_end(&l.t);
    return KN_OK;
}

static void risk_row(list *l, const char *name, const char *path, const char *words)
{
    double v = NAN;
    if (kn_document_number(l->c->risk, path, &v) && !isnan(v)) share(l, KN_E_RISK, name, v, words);
}

static kn_status given_risk(kn_buffer *to, kn_compliance *c, kn_error *err)
{
    list l;
    if (!c->risk) return KN_OK;
    KN_TRY(open_list(&l, to, c, KN_RUN_GIVEN_RISK,
                     c->risk_original ? "Risk in the original, measured" : "Risk in the release, measured",
                     "The answer of a diagnosis, as it was given.", err));
    risk_row(&l, "Prosecutor, highest", "risk.prosecutor.highest",
             "For somebody who knows that the person is in the table.");
    risk_row(&l, "Prosecutor, average", "risk.prosecutor.average", "The same for a person picked at random.");
    risk_row(&l, "Journalist, highest", "risk.journalist.highest",
             "For somebody who knows that the person is in the population only.");
    risk_row(&l, "Journalist, average", "risk.journalist.average", "The same for a person picked at random.");
    risk_row(&l, "Marketer", "risk.marketer", "The share of all that somebody finds who looks for many.");
    risk_row(&l, "A unique match is right", "risk.intrusion", "With a known sampling fraction: the probability (DIS).");
    kn_html_table_end(&l.t);
    return KN_OK;
}

kn_status kn_compliance_evidence(kn_buffer *to, kn_compliance *c, kn_error *err)
{
    kn_html_section(to, "The evidence");
    kn_buffer_add(to, "<p>Each figure stands below the command that reproduces it. ");
    kn_buffer_add(
        to,
        c->owner
            ? "Run the commands where the files are named from; words in capitals stand for files that were not "
              "named.</p>\n"
            : "Run the commands where the release is. Words in capitals stand for files that this page does not name: "
              "ORIGINAL and RELEASE.yaml are the owner’s.</p>\n");
    if (kn_compliance_inputs(c) > KN_INPUTS_NAMED) {
        kn_buffer_add(to, "<p>ORIGINAL stands for the ");
        kn_html_count(to, kn_compliance_inputs(c), "file", "files");
        kn_buffer_add(to, " that the private file names (inputs).</p>\n");
    }
    KN_TRY(file(to, c, err));
    KN_TRY(seen(to, c, err));
    KN_TRY(risk_of_release(to, c, err));
    KN_TRY(verified(to, c, err));
    KN_TRY(before(to, c, err));
    KN_TRY(attacked(to, c, err));
    KN_TRY(given_risk(to, c, err));
    kn_html_section_end(to);
    return KN_OK;
}
