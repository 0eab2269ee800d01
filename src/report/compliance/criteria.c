/* compliance/criteria.c: what the evidence says of the three criteria of WP29 Opinion 05/2014: singling out, linkability,
 * inference.
 *
 * Interface: kn_compliance_eu (kn_compliance.h). Every sentence follows from the certificate: what was promised, which columns
 * stand there as they were, which shape it is. No criterion is answered by yes or no: a promise bounds something, and the rest
 * is left open (Cohen and Nissim 2020 on k-anonymity).
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "kn_compliance.h"
#include "kn_html.h"
#include "kn_release_report.h"

typedef const kn_document_value value;

static void state(kn_buffer *to, bool bounded, const char *yes, const char *no)
{
    kn_buffer_format(to, "<p class=\"state\"><b class=\"open\">Open</b> %s</p>\n", bounded ? yes : no);
}

/* A paragraph that names the columns of a role; nothing where there are none. */
static void of_role(kn_buffer *to, const kn_compliance *c, const char *role, const char *title, const char *words)
{
    if (kn_compliance_columns(NULL, c, role) == 0) return;
    kn_buffer_format(to, "<p>%s: ", title);
    (void)kn_compliance_columns(to, c, role);
    kn_buffer_format(to, ". %s</p>\n", words);
}

/* ---- Singling out ---- */

static double threshold(const kn_compliance *c, const char *model, const char *key)
{
    value *m = kn_compliance_promised(c, model);
    return m ? kn_document_number_of(kn_document_member(m, key)) : NAN;
}

/* Does a promise ask for company in the release? */
static bool bounds_crowds(const kn_compliance *c)
{
    return !c->anatomy && (c->asked >= 2 || threshold(c, "max-risk", "risk") < 1);
}

static void crowd(kn_buffer *to, const kn_compliance *c)
{
    if (c->anatomy) {
        kn_buffer_add(
            to, "<p>Quasi-identifiers are published as they are: whoever knows them may find a person’s rows and see "
                "that the person takes part. What was promised is about which sensitive value is whose, not about "
                "who can be found.</p>\n");
        return;
    }
    if (c->asked < 2) {
        if (!(threshold(c, "max-risk", "risk") < 1))
            kn_buffer_add(to, "<p>No size of a crowd in the release was promised.</p>\n");
        return;
    }
    if (c->shape == KN_SHAPE_RECORDS) {
        kn_buffer_add(to, "<p>Whoever knows up to ");
        kn_html_count(to, c->m, "value", "values");
        kn_buffer_add(to, " of a person’s record");
        if (c->n > 0) {
            kn_buffer_add(to, " and up to ");
            kn_html_count(to, c->n, "relation", "relations");
            kn_buffer_add(to, " between them");
        }
        kn_buffer_add(to, " finds no record, or at least ");
        kn_html_integer(to, c->asked);
        kn_compliance_cite(to, c, KN_E_SMALLEST);
        kn_buffer_add(to, ". Whoever knows more may find fewer, down to a single one.</p>\n");
        return;
    }
    kn_buffer_add(to, "<p>Whoever looks for a person by the quasi-identifiers alone finds nobody, or at least ");
    kn_html_count(to, c->asked, kn_compliance_unit(c, 1), kn_compliance_unit(c, 2));
    kn_buffer_add(to, c->shape == KN_SHAPE_DATABASE ? " who look alike in all tables"
                      : c->entity                   ? " who look alike"
                                                    : " that look alike");
    kn_compliance_cite(to, c, KN_E_SMALLEST);
    kn_buffer_add(to, ".");
    if (c->number[KN_E_BEFORE]) {
        int64_t k = 0;
        (void)kn_document_integer(c->secret, "k_before", &k);
        kn_buffer_add(to, " In the original the smallest class had ");
        kn_html_count(to, k, kn_compliance_unit(c, 1), kn_compliance_unit(c, 2));
        kn_compliance_cite(to, c, KN_E_BEFORE);
        kn_buffer_add(to, ".");
    }
    kn_buffer_add(to, "</p>\n");
    if (kn_document_find(c->certificate, "requested.k-mn")) {
        int64_t m = 0, k = 0;
        (void)kn_document_integer(c->certificate, "requested.k-mn.m", &m);
        (void)kn_document_integer(c->certificate, "requested.k-mn.k", &k);
        kn_buffer_add(to, "<p>Whoever also knows up to ");
        kn_html_count(to, m, "item", "items");
        kn_buffer_add(to, " of the person’s set finds at least ");
        kn_html_count(to, k, "row", "rows");
        kn_buffer_add(to, "; whoever knows more may find fewer.</p>\n");
    }
}

static void singling_out(kn_buffer *to, kn_compliance *c)
{
    double people = threshold(c, "k-map", "k"), highest = threshold(c, "max-risk", "risk");
    kn_buffer_add(to, "<h3>Singling out: can one person be isolated?</h3>\n");
    state(to, bounds_crowds(c) || people >= 2, "Bounded by a promise, not excluded.", "No promise bounds it.");
    crowd(to, c);
    if (people >= 2) {
        kn_buffer_add(to, "<p>Of the population, as it was given or is estimated by weights, at least ");
        kn_html_count(to, (int64_t)people, "person", "persons");
        kn_buffer_add(to, " look like each class of the release (k-map).</p>\n");
    }
    if (highest < 1) {
        kn_buffer_add(to, "<p>By the quasi-identifiers alone nobody is found with a chance above ");
        kn_html_percent(to, highest);
        kn_buffer_add(to, " (max-risk).</p>\n");
    }
    if (threshold(c, "average-risk", "risk") < 1)
        kn_buffer_add(
            to, "<p>A bound on the average risk was promised (average-risk): single persons may be above it.</p>\n");
    of_role(to, c, "keep", "Shown as they were, and covered by no promise",
            "Whoever knows one of these of a person may isolate that person.");
    of_role(to, c, "sensitive", c->anatomy ? "Listed by groups" : "Sensitive, shown as they were",
            "Whoever already knows such a value may isolate a person by it.");
    if (kn_compliance_references(NULL, c) > 0) {
        kn_buffer_add(to, "<p>References, copied and covered by no promise: ");
        (void)kn_compliance_references(to, c);
        kn_buffer_add(to, ".</p>\n");
    }
    of_role(to, c, "weight", "Sampling weights, shown as they were", "A rare weight may isolate a person.");
    kn_buffer_add(
        to, "<p>k-anonymity does not prevent predicate singling out: whoever sees the release may be able to write "
            "down a description that fits exactly one person of the original, without linking anything (Cohen and "
            "Nissim 2020). The opinion takes k-anonymity to prevent singling out; this page does not.</p>\n");
    kn_compliance_open(
        to, c,
        "Which of what is shown as it was might somebody know of a person in the data, and how likely is "
        "it that they use it?");
    kn_compliance_open(
        to, c,
        "Is anybody so well known, or so unusual, that being among those who look alike already says who it is?");
}

/* ---- Linkability ---- */

static void attack_words(kn_buffer *to, const kn_compliance *c)
{
    int64_t people = 0, found = 0, below = 0, k = 0;
    if (!c->attack) {
        kn_buffer_add(to, "<p>No linking attack is part of this evidence.");
        if (c->owner)
            kn_buffer_add(to, " <code>kanon attack</code> measures one; its answer can be added to this page.");
        kn_buffer_add(to, "</p>\n");
        return;
    }
    (void)kn_document_integer(c->attack, "people", &people);
    (void)kn_document_integer(c->attack, "after.unique", &found);
    (void)kn_document_integer(c->attack, "after.below_k", &below);
    (void)kn_document_integer(c->attack, "k", &k);
    kn_buffer_add(to, "<p>In the attack, of ");
    kn_html_count(to, people, "person", "people");
    kn_buffer_add(to, " of another table, ");
    kn_html_integer(to, found);
    kn_buffer_add(to, found == 1 ? " matches" : " match");
    kn_buffer_add(to, " exactly one in the release");
    kn_compliance_cite(to, c, KN_E_FOUND);
    kn_buffer_add(to, " and ");
    kn_html_integer(to, below);
    kn_buffer_add(to, below == 1 ? " matches fewer than " : " match fewer than ");
    kn_html_integer(to, k);
    kn_compliance_cite(to, c, KN_E_BELOW);
    kn_buffer_add(
        to,
        c->shape == KN_SHAPE_RECORDS
            ? ". The attacker used all that the other records hold, which may be more than m values and n relations: "
              "of such knowledge nothing was promised.</p>\n"
            : ". It says nothing of tables that nobody tried.</p>\n");
}

static void linkability(kn_buffer *to, kn_compliance *c)
{
    kn_buffer_add(to, "<h3>Linkability: can records about one person be joined?</h3>\n");
    state(to, !c->pseudonym && bounds_crowds(c),
          c->shape == KN_SHAPE_RECORDS
              ? "Bounded for somebody who joins by what the promise allows to be known; not excluded."
              : "Bounded for somebody who joins by the quasi-identifiers; not excluded.",
          c->pseudonym ? "Some records are linked on purpose." : "No promise bounds it.");
    if (c->shape == KN_SHAPE_DATABASE)
        kn_buffer_add(
            to,
            "<p>Inside the release all rows of a person stay joined, by keys that were drawn anew. That is what the "
            "release is for.</p>\n");
    if (c->shape == KN_SHAPE_RECORDS)
        kn_buffer_add(to, "<p>Inside the release a record holds all that is shown of one person.</p>\n");
    if (c->entity) kn_buffer_add(to, "<p>Several rows may belong to one person, and may be recognized as such.</p>\n");
    if (c->pseudonym) {
        kn_buffer_add(to, "<p>Keyed codes: ");
        (void)kn_compliance_columns(to, c, "pseudonym");
        kn_buffer_add(
            to,
            ". They are the same in every release that was made with the same key: such releases can be joined, row "
            "by row.</p>\n");
    }
    if (!c->anatomy && c->asked >= 2 && c->shape != KN_SHAPE_RECORDS) {
        kn_buffer_add(
            to,
            "<p>Another table that has the quasi-identifiers joins each of its people with nobody, or with at least ");
        kn_html_integer(to, c->asked);
        kn_buffer_add(to, " candidates.</p>\n");
    }
    attack_words(to, c);
    kn_buffer_add(
        to,
        "<p>Two releases about the same persons may be joined, and those who look alike in both be fewer than in each. "
        "Nothing was promised about that.</p>\n");
    kn_compliance_open(
        to, c, "Which other data about the same persons are public, or in the hands of those who receive this?");
    kn_compliance_open(to, c, "Which other releases about the same persons were made, or are planned?");
}

/* ---- Inference ---- */

/* What a model bounds, and what it leaves. */
static const char *bounds(const char *model, const char *variant)
{
    static const struct {
        const char *model, *variant, *words;
    } all[] = {
        {"l-diversity", "distinct",
         "Bounds how few different values a class has. It does not bound how often one of them occurs."},
        {"l-diversity", "entropy",
         "Bounds how unevenly the values of a class are spread. A value may still be likelier than in the table."},
        {"l-diversity", "recursive",
         "Bounds how much the most frequent value outweighs the rare ones. A value may still be likelier than in the "
         "table."},
        {"t-closeness", NULL,
         "Bounds how far the shares of a class differ from the table’s. What the whole table teaches of everybody "
         "stays."},
        {"alpha-k", NULL, "Bounds the share of each value in a class."},
        {"beta-likeness", NULL, "Bounds how much likelier a value is in a class than in the table."},
        {"delta-disclosure", NULL, "Bounds how much likelier or less likely a value is in a class than in the table."},
        {"delta-presence", NULL, "Bounds what is learned about who is in the table at all, given the population."},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].model, model) == 0 && (!all[i].variant || (variant && strcmp(all[i].variant, variant) == 0)))
            return all[i].words;
    return NULL;
}

/* A threshold that every class keeps: one different value, a share or distance of 1. */
static bool says_nothing(value *model)
{
    return kn_document_number_of(kn_document_member(model, "l")) <= 1 ||
           kn_document_number_of(kn_document_member(model, "t")) >= 1 ||
           kn_document_number_of(kn_document_member(model, "alpha")) >= 1 ||
           kn_document_number_of(kn_document_member(model, "max")) >= 1;
}

/* The promises that bear on inference, as a list; how many there are. */
static int inference_promises(kn_buffer *to, const kn_compliance *c)
{
    value *models = kn_document_find(c->certificate, "requested.models");
    int    count = 0;
    for (int64_t i = 0; i < kn_document_count(models); i++) {
        value      *m = kn_document_at(models, i);
        const char *name = kn_document_text_of(kn_document_member(m, "model")),
                   *variant = kn_document_text_of(kn_document_member(m, "kind")),
                   *attribute = kn_document_text_of(kn_document_member(m, "attribute"));
        const char *words = bounds(name, variant);
        if (!words || says_nothing(m)) continue;
        count++;
        if (!to) continue;
        if (count == 1) kn_buffer_add(to, "<ul>\n");
        kn_buffer_add(to, "<li>");
        kn_html_text(to, name);
        if (attribute) {
            kn_buffer_add(to, " of ");
            kn_html_name(to, attribute);
        }
        if (c->number[KN_E_PROMISES]) {
            int number = c->number[KN_E_PROMISES] + (int)i;
            kn_buffer_format(to, " (<a href=\"#e%d\">E%d</a>)", number, number);
        }
        kn_buffer_add(to, ": ");
        kn_html_text(to, words);
        kn_buffer_add(to, "</li>\n");
    }
    if (to && count > 0) kn_buffer_add(to, "</ul>\n");
    return count;
}

static void certain(kn_buffer *to, const kn_compliance *c)
{
    value *list = c->attack ? kn_document_find(c->attack, "after.certain") : NULL;
    if (kn_document_count(list) == 0) return;
    kn_buffer_add(
        to,
        "<p>In the attack, people whose value is certain although nobody knows which of those who match they are: ");
    for (int64_t i = 0; i < kn_document_count(list); i++) {
        if (i > 0) kn_buffer_add(to, ", ");
        kn_html_name(to, kn_document_key(list, i));
        kn_buffer_char(to, ' ');
        kn_html_integer(to, kn_document_integer_of(kn_document_at(list, i)));
    }
    kn_compliance_cite(to, c, KN_E_CERTAIN);
    kn_buffer_add(to, ".</p>\n");
}

bool kn_compliance_covered(const kn_compliance *c, const char *table, const char *name)
{
    value *models = kn_document_find(c->certificate, "requested.models");
    for (int64_t i = 0; i < kn_document_count(models); i++) {
        value      *m = kn_document_at(models, i);
        const char *of = kn_document_text_of(kn_document_member(m, "attribute")), *dot = of ? strrchr(of, '.') : NULL;
        if (!of || says_nothing(m)) continue;
        if (strcmp(of, name) == 0) return true;
        if (!table || !dot || strcmp(dot + 1, name) != 0) continue;
        if (c->anatomy || ((size_t)(dot - of) == strlen(table) && strncmp(of, table, strlen(table)) == 0)) return true;
    }
    return false;
}

static void inference(kn_buffer *to, kn_compliance *c)
{
    bool some = kn_compliance_columns(NULL, c, "covered") > 0, all = kn_compliance_columns(NULL, c, "uncovered") == 0;
    kn_buffer_add(to, "<h3>Inference: can a value of a person be concluded?</h3>\n");
    state(to, some,
          all ? "Bounded by the promises listed here, not excluded."
              : "Bounded for some columns, by the promises listed here; not excluded.",
          "No promise bounds it.");
    (void)inference_promises(to, c);
    if (!some)
        kn_buffer_add(
            to, "<p>k says how many look alike, and nothing of what they have in common: where all of them have the "
                "same value, it is known of each.</p>\n");
    of_role(to, c, "covered", "Sensitive columns", "A promise is about the column it names, by itself.");
    of_role(to, c, "uncovered", "Sensitive columns", "No promise bounds what is learned of them.");
    certain(to, c);
    kn_buffer_add(to, "<p>What those who look alike have in common may be concluded of each of them; what the whole "
                      "release teaches may be "
                      "concluded of people who are not in it. No promise here is about that.</p>\n");
    kn_compliance_open(to, c,
                       "What could be concluded of a person from those who look alike, or of a group from the release, "
                       "and whom would that harm?");
}

void kn_compliance_eu(kn_buffer *to, kn_compliance *c)
{
    kn_html_section(to, "European Union: the three criteria");
    kn_buffer_add(
        to,
        "<p>After Article 29 Working Party, Opinion 05/2014 on Anonymisation Techniques (WP 216). The "
        "criteria are asked of all means that are reasonably likely to be used by anybody (recital 26 of Regulation "
        "(EU) 2016/679), which no program knows.</p>\n");
    singling_out(to, c);
    linkability(to, c);
    inference(to, c);
    kn_buffer_add(to, "<h3>All together</h3>\n");
    kn_compliance_open(
        to, c,
        "Considering cost, time and technology: which means to identify somebody are reasonably likely to "
        "be used, and by whom? What remains?");
    kn_html_section_end(to);
}
