/* compliance/page.c: evidence on a release as one page of HTML: which documents it is made from, whether they belong together, and
 * the parts in order.
 *
 * Interface: kn_compliance_render (kn_compliance.h). From a certificate alone the page may be published: it holds what the
 * certificate holds. Every other document makes it the owner's. Equal documents give equal bytes. Cost: linear in the documents.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "kn_compliance.h"
#include "kn_error.h"
#include "kn_html.h"
#include "kn_release_report.h"
#include "kn_report_words.h"

typedef const kn_document_value value;

const char *kn_compliance_kind_name(kn_compliance_kind kind)
{
    switch (kind) {
    case KN_COMPLIANCE_EU: return "eu";
    case KN_COMPLIANCE_HIPAA: return "hipaa";
    case KN_COMPLIANCE_NIST: return "nist";
    case KN_COMPLIANCE_ETHICS: return "ethics";
    }
    return NULL;
}

/* ---- Shared by the parts ---- */

const char *kn_compliance_unit(const kn_compliance *c, int64_t count)
{
    if (c->shape == KN_SHAPE_DATABASE || c->entity) return count == 1 ? "person" : "persons";
    if (c->shape == KN_SHAPE_RECORDS) return count == 1 ? "record" : "records";
    return count == 1 ? "row" : "rows";
}

static bool is(value *object, const char *key, const char *text)
{
    const char *found = kn_document_text_of(kn_document_member(object, key));
    return found && strcmp(found, text) == 0;
}

static bool has_role(const kn_compliance *c, value *column, const char *table, const char *role)
{
    bool covered = strcmp(role, "covered") == 0;
    if (strcmp(role, "pseudonym") == 0) return is(column, "released", role);
    if (!covered && strcmp(role, "uncovered") != 0) return is(column, "role", role);
    return is(column, "role", "sensitive") &&
           kn_compliance_covered(c, table, kn_document_text_of(kn_document_member(column, "name"))) == covered;
}

static void columns_of(kn_buffer *to, const kn_compliance *c, value *columns, const char *table, const char *role,
                       int *count)
{
    for (int64_t i = 0; i < kn_document_count(columns); i++) {
        value *column = kn_document_at(columns, i);
        if (!has_role(c, column, table, role)) continue;
        if (to && *count > 0) kn_buffer_add(to, ", ");
        ++*count;
        if (!to) continue;
        if (table) {
            kn_html_name(to, table);
            kn_buffer_char(to, '.');
        }
        kn_html_name(to, kn_document_text_of(kn_document_member(column, "name")));
    }
}

int kn_compliance_columns(kn_buffer *to, const kn_compliance *c, const char *role)
{
    value *tables = kn_document_find(c->certificate, "tables");
    int    count = 0;
    columns_of(to, c, kn_document_find(c->certificate, "columns"), NULL, role, &count);
    columns_of(to, c, kn_document_find(c->certificate, "classes_of_nodes"), NULL, role, &count);
    for (int64_t i = 0; i < kn_document_count(tables); i++) {
        value *table = kn_document_at(tables, i);
        columns_of(to, c, kn_document_member(table, "columns"), kn_document_text_of(kn_document_member(table, "name")),
                   role, &count);
    }
    return count;
}

value *kn_compliance_promised(const kn_compliance *c, const char *model)
{
    value *models = kn_document_find(c->certificate, "requested.models");
    for (int64_t i = 0; i < kn_document_count(models); i++)
        if (is(kn_document_at(models, i), "model", model)) return kn_document_at(models, i);
    return NULL;
}

int kn_compliance_references(kn_buffer *to, const kn_compliance *c)
{
    value *names = kn_document_find(c->certificate, "options.references");
    for (int64_t i = 0; to && i < kn_document_count(names); i++) {
        if (i > 0) kn_buffer_add(to, ", ");
        kn_html_name(to, kn_document_text_of(kn_document_at(names, i)));
    }
    return (int)kn_document_count(names);
}

void kn_compliance_cite(kn_buffer *to, const kn_compliance *c, kn_evidence figure)
{
    int number = c->number[figure];
    if (number > 0) kn_buffer_format(to, " (<a href=\"#e%d\">E%d</a>)", number, number);
}

void kn_compliance_open(kn_buffer *to, kn_compliance *c, const char *question)
{
    c->summary->open++;
    kn_buffer_add(to, "<div class=\"judge\">\n<p><b class=\"open\">Open</b> ");
    kn_html_text(to, question);
    kn_buffer_add(to, "</p>\n<p class=\"blank\">For a person to judge.</p>\n</div>\n");
}

/* ---- The documents ---- */

/* Where a document of that kind is kept; NULL: the page has no use for it. `shape` becomes that of its name. */
static const kn_document **place(kn_compliance *c, const char *answer, kn_shape *shape)
{
    static const char *const shapes[] = {"", "-database", "-records"};
    const struct {
        const char         *name;
        const kn_document **at;
    } kinds[] = {{"certificate", &c->certificate}, {"private", &c->secret}, {"verify", &c->verify}};
    if (strcmp(answer, "attack") == 0) return &c->attack;
    if (strcmp(answer, "diagnose") == 0) return &c->risk;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t size = strlen(kinds[i].name);
        if (strncmp(answer, kinds[i].name, size) != 0) continue;
        for (int s = 0; s < KN_SHAPES; s++)
            if (strcmp(answer + size, shapes[s]) == 0) {
                *shape = (kn_shape)s;
                return kinds[i].at;
            }
    }
    return NULL;
}

static const char *name_of(const kn_compliance_input *in, int i)
{
    return in->names && in->names[i] ? in->names[i] : "a document";
}

static kn_status take(kn_compliance *c, kn_shape shapes[], kn_error *err)
{
    for (int i = 0; i < c->in->document_count; i++) {
        const char         *answer = kn_document_answer(c->in->documents[i]);
        const kn_document **at = place(c, answer, &shapes[i]);
        if (!at)
            return kn_fail(err, KN_USAGE,
                           "%s: the page has no use for an answer '%s'; it takes a certificate, a private file, and "
                           "the answers of "
                           "verify, attack and diagnose --risk",
                           name_of(c->in, i), answer);
        if (*at)
            return kn_fail(err, KN_USAGE, "%s: there are two documents of this kind; name one release",
                           name_of(c->in, i));
        *at = c->in->documents[i];
        if (at == &c->certificate) {
            c->shape = shapes[i];
            c->certificate_name = c->in->names ? c->in->names[i] : NULL;
        }
    }
    if (!c->certificate)
        return kn_fail(err, KN_USAGE,
                       "a certificate is needed: it stands beside each release, as RELEASE.certificate.json");
    return KN_OK;
}

static int64_t count_at(const kn_document *doc, const char *path, int64_t otherwise)
{
    int64_t found = otherwise;
    (void)kn_document_integer(doc, path, &found);
    return found;
}

static bool true_at(const kn_document *doc, const char *path)
{
    bool found = false;
    return kn_document_boolean(doc, path, &found) && found;
}

static void look(kn_compliance *c)
{
    static const char *const units[] = {"rows", "persons", "records"};
    c->asked = count_at(c->certificate, "requested.k", 0);
    c->m = count_at(c->certificate, "requested.m", 0);
    c->n = count_at(c->certificate, "requested.n", 0);
    c->units = count_at(c->certificate, units[c->shape], 0);
    c->k = count_at(c->certificate, "k", -1);
    c->classes = count_at(c->certificate, "classes", -1);
    c->suppressed = count_at(c->certificate, "suppressed", -1);
    c->entity = true_at(c->certificate, "options.entity");
    c->anatomy = true_at(c->certificate, "options.anatomy");
    c->pseudonym = kn_compliance_columns(NULL, c, "pseudonym") > 0;
    c->owner = c->secret || c->verify || c->attack || c->risk;
}

static bool same_text(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

/* Is a document about the bytes of the certificate? What has no digest is not refuted. */
static bool same_files(const kn_compliance *c, const kn_document *doc, const char *digest)
{
    const char *mine = kn_document_text(c->certificate, "sha256"), *its = kn_document_text(doc, digest);
    value      *files = kn_document_find(c->certificate, "files"), *others = kn_document_find(doc, "files");
    if (mine && its) return strcmp(mine, its) == 0;
    if (!files || !others) return !others || !mine;
    if (kn_document_count(files) != kn_document_count(others)) return false;
    for (int64_t i = 0; i < kn_document_count(files); i++) {
        value *a = kn_document_at(files, i), *b = kn_document_at(others, i);
        if (!same_text(kn_document_text_of(kn_document_member(a, "sha256")),
                       kn_document_text_of(kn_document_member(b, "sha256"))) ||
            !same_text(kn_document_text_of(kn_document_member(a, "name")),
                       kn_document_text_of(kn_document_member(b, "name"))))
            return false;
    }
    return true;
}

static bool fits_attack(const kn_compliance *c)
{
    int64_t rows = count_at(c->attack, "after.rows", -1), hidden = c->suppressed > 0 ? c->suppressed : 0;
    return same_files(c, c->attack, "sha256") && true_at(c->attack, "database") == (c->shape == KN_SHAPE_DATABASE) &&
           true_at(c->attack, "records") == (c->shape == KN_SHAPE_RECORDS) && rows <= c->units &&
           rows >= c->units - hidden;
}

/* A diagnosis does not say which table it is of: the classes tell. */
static bool fits_risk(kn_compliance *c)
{
    int64_t rows = count_at(c->risk, "rows", -1), classes = count_at(c->risk, "classes", -1),
            k = count_at(c->risk, "k", -1);
    if (c->shape != KN_SHAPE_TABLE || !kn_document_find(c->risk, "risk")) return false;
    if (rows == c->units && (classes == c->classes || (c->suppressed > 0 && classes == c->classes + 1))) return true;
    c->risk_original =
        c->secret && rows == count_at(c->secret, "rows_in", -2) && k == count_at(c->secret, "k_before", -2);
    return c->risk_original;
}

/* Of a promise the threshold that the verifier holds against what it finds. */
static double asked_of(value *model)
{
    static const char *const keys[] = {"c", "l", "t", "alpha", "beta", "delta", "max", "risk", "k"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (kn_document_member(model, keys[i])) return kn_document_number_of(kn_document_member(model, keys[i]));
    return NAN;
}

static bool same_promise(value *promised, value *found)
{
    const char *variant = kn_document_text_of(kn_document_member(promised, "kind")),
               *of = kn_document_text_of(kn_document_member(promised, "attribute"));
    double asked = asked_of(promised);
    if (!variant) variant = kn_document_text_of(kn_document_member(promised, "distance"));
    return is(found, "model", kn_document_text_of(kn_document_member(promised, "model"))) &&
           (!variant || is(found, "variant", variant)) && (!of || is(found, "attribute", of)) &&
           fabs(asked - kn_document_number_of(kn_document_member(found, "asked"))) <= 1e-9 * fmax(1, asked);
}

/* Did the verifier check what the certificate promises, and nothing else? */
static bool same_promises(const kn_compliance *c)
{
    value *promised = kn_document_find(c->certificate, "requested.models"),
          *found = kn_document_find(c->verify, "models");
    int64_t count = kn_document_count(promised);
    if (c->shape == KN_SHAPE_RECORDS &&
        (count_at(c->verify, "k_mn.k", 0) != c->asked || count_at(c->verify, "k_mn.m", 0) != c->m ||
         count_at(c->verify, "k_mn.n", 0) != c->n))
        return false;
    if (kn_document_count(found) != count) return false;
    for (int64_t i = 0; i < count; i++) {
        bool met = false;
        for (int64_t k = 0; k < count; k++) met |= same_promise(kn_document_at(promised, i), kn_document_at(found, k));
        if (!met) return false;
    }
    return true;
}

static kn_status check(kn_compliance *c, const kn_shape shapes[], kn_error *err)
{
    for (int i = 0; i < c->in->document_count; i++) {
        const kn_document *doc = c->in->documents[i];
        bool fits = doc == c->attack ? fits_attack(c) : doc == c->risk ? fits_risk(c) : shapes[i] == c->shape;
        if (fits && doc == c->secret) fits = same_files(c, doc, "release_sha256");
        if (fits && doc == c->verify)
            fits = same_files(c, doc, "sha256") &&
                   (c->shape != KN_SHAPE_DATABASE || count_at(doc, "persons", -1) == c->units);
        if (!fits)
            return kn_fail(err, KN_INPUT, "%s: it is about another release than %s", name_of(c->in, i),
                           c->certificate_name ? c->certificate_name : "the certificate");
        if (doc == c->verify && !same_promises(c))
            return kn_fail(err, KN_INPUT, "%s: it checked other promises than %s makes; verify the release with these",
                           name_of(c->in, i), c->certificate_name ? c->certificate_name : "the certificate");
    }
    return KN_OK;
}

/* ---- The page ---- */

static void heading(kn_buffer *to, const kn_compliance *c)
{
    const char *name = kn_release_file_name(c->certificate_name);
    kn_release_heading(to, "Evidence on a release", name);
    kn_html_count(to, c->units, c->shape == KN_SHAPE_TABLE ? "row" : kn_compliance_unit(c, 1),
                  c->shape == KN_SHAPE_TABLE ? "rows" : kn_compliance_unit(c, 2));
    kn_buffer_add(to, " · method ");
    kn_html_text(to, kn_document_text(c->certificate, "method"));
    kn_buffer_add(to, "</p>\n</header>\n");
    if (c->verify && !same_text(kn_document_text(c->verify, "outcome"), "holds"))
        kn_buffer_format(
            to,
            "<div class=\"verdict risk\">\n<p class=\"answer\">The verifier did not confirm this release: %s.</p>\n"
            "<p>It must not be given away as it is.</p>\n</div>\n",
            kn_document_text(c->verify, "outcome"));
    kn_buffer_add(to, c->owner ? "<div class=\"verdict risk\">\n<p class=\"answer\">For the owner and those who decide "
                                 "with them: not to be "
                                 "published.</p>\n<p>This page holds figures of the original or of an attack on it. "
                               : "<div class=\"verdict\">\n<p class=\"answer\">This page may be published with the "
                                 "release.</p>\n<p>It holds "
                                 "what the certificate holds, and nothing of the original. ");
    kn_buffer_add(to, "It says what was promised, what was measured, and how to repeat each figure. It does not say "
                      "that the release is "
                      "anonymous: that is a judgement, and what it needs from a person is left open below, marked ");
    kn_buffer_add(to, "<b class=\"open\">Open</b>.</p>\n</div>\n");
}

static void words(kn_buffer *to, const kn_compliance *c)
{
    kn_words_begin(to, c->shape, c->entity, c->anatomy);
    kn_release_word(to, "Singling out", "Isolating what belongs to one person, whether or not their name is known.");
    kn_release_word(to, "Linkability", "Joining two pieces of data that are about the same person or the same group.");
    kn_release_word(to, "Inference", "Concluding a value of a person, with good probability, from what else is known.");
    kn_words_end(to);
}

static void sources(kn_buffer *to, unsigned kinds)
{
    kn_html_section(to, "Sources");
    kn_buffer_add(to, "<ul>\n");
    if (kinds & KN_COMPLIANCE_EU)
        kn_buffer_add(
            to, "<li>Article 29 Data Protection Working Party: Opinion 05/2014 on Anonymisation Techniques (WP 216), "
                "adopted on 10 April 2014.</li>\n<li>A. Cohen, K. Nissim: Towards Formalizing the GDPR’s Notion of "
                "Singling "
                "Out. PNAS 117(15), 2020, pages 8344 to 8352.</li>\n");
    if (kinds & KN_COMPLIANCE_HIPAA)
        kn_buffer_add(
            to,
            "<li>45 CFR 164.514(b)(1); US Department of Health and Human Services, Office for Civil "
            "Rights: Guidance Regarding "
            "Methods for De-identification of Protected Health Information in Accordance with the HIPAA Privacy Rule, "
            "26 November 2012.</li>\n");
    if (kinds & KN_COMPLIANCE_NIST)
        kn_buffer_add(to, "<li>S. Garfinkel, J. Near, A. Dajani, P. Singer, B. Guttman: De-Identifying Government "
                          "Datasets: Techniques and "
                          "Governance. NIST SP 800-188, 2023.</li>\n");
    kn_buffer_add(
        to,
        "<li>K. El Emam: Guide to the De-Identification of Personal Health Information, 2013 (prosecutor and marketer "
        "risk).</li>\n</ul>\n<p>The certificate is not signed: whoever can replace the release can replace it, and "
        "this "
        "page.</p>\n");
    kn_html_section_end(to);
}

kn_status kn_compliance_render(kn_buffer *to, const kn_compliance_input *in, kn_compliance_summary *out, kn_error *err)
{
    enum { MOST = 5 };
    kn_shape      shapes[MOST] = {KN_SHAPE_TABLE};
    kn_compliance c = {.in = in, .summary = out};
    unsigned      kinds =
        in->kinds ? in->kinds : KN_COMPLIANCE_EU | KN_COMPLIANCE_HIPAA | KN_COMPLIANCE_NIST | KN_COMPLIANCE_ETHICS;
    *out = (kn_compliance_summary){0};
    if (in->document_count < 0 || in->document_count > MOST)
        return kn_fail(err, KN_USAGE, "at most %d documents go together: one of a kind", MOST);
    KN_TRY(take(&c, shapes, err));
    look(&c);
    KN_TRY(check(&c, shapes, err));
    out->is_public = !c.owner;
    kn_html_begin(to, "Evidence on a release");
    heading(to, &c);
    words(to, &c);
    KN_TRY(kn_compliance_evidence(to, &c, err));
    if (kinds & KN_COMPLIANCE_EU) kn_compliance_eu(to, &c);
    if (kinds & KN_COMPLIANCE_HIPAA) kn_compliance_hipaa(to, &c);
    if (kinds & KN_COMPLIANCE_NIST) kn_compliance_nist(to, &c);
    if (kinds & KN_COMPLIANCE_ETHICS) kn_compliance_ethics(to, &c);
    kn_words_limits(to, c.shape, c.anatomy);
    sources(to, kinds);
    kn_release_footer(to, NULL, in->version);
    kn_html_end(to);
    return to->failed ? kn_fail_memory(err, to->ctx, "writing a report") : KN_OK;
}
