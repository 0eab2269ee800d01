/* compliance/rules.c: the evidence arranged by what HIPAA's expert determination, NIST SP 800-188 and an ethics board ask.
 *
 * Interface: kn_compliance_hipaa, kn_compliance_nist, kn_compliance_ethics (kn_compliance.h). What a program can say is said
 * with the number of its figure; the rest is an empty box.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_compliance.h"
#include "kn_html.h"
#include "kn_release_report.h"

static void method(kn_buffer *to, const kn_compliance *c)
{
    kn_buffer_add(to, "<p>Method: ");
    kn_html_text(to, kn_document_text(c->certificate, "method"));
    if (c->secret && kn_document_find(c->secret, "chosen")) {
        kn_buffer_add(to, ", which chose ");
        kn_html_text(to, kn_document_text(c->secret, "method"));
    }
    kn_buffer_add(
        to, ". Before the release got its name it was read again, and every promise was derived from its bytes and the "
            "original by code that shares nothing with the method");
    kn_compliance_cite(to, c, KN_E_VERIFIED);
    kn_buffer_add(to, ".</p>\n");
}

/* "Quasi-identifiers, made coarser: age, sex." and so on. */
static void columns(kn_buffer *to, const kn_compliance *c)
{
    const struct {
        const char *role, *title;
    } all[] = {
        {"quasi", c->anatomy ? "Quasi-identifiers, as they were" : "Quasi-identifiers, made coarser where needed"},
        {"set", "Sets of items, made broader where needed"},
        {"sensitive", c->anatomy ? "Sensitive, listed by groups" : "Sensitive, as they were"},
        {"keep", "Kept, as they were"},
        {"pseudonym", "Identifiers, as keyed codes"},
        {"weight", "Sampling weights, as they were"},
        {"count", "How many rows a row stands for"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (kn_compliance_columns(NULL, c, all[i].role) == 0) continue;
        kn_buffer_format(to, "<p>%s: ", all[i].title);
        (void)kn_compliance_columns(to, c, all[i].role);
        kn_buffer_add(to, ".</p>\n");
    }
    if (kn_compliance_references(NULL, c) > 0) {
        kn_buffer_add(to, "<p>References, copied: ");
        (void)kn_compliance_references(to, c);
        kn_buffer_add(to, ".</p>\n");
    }
    kn_buffer_add(to, c->shape == KN_SHAPE_RECORDS    ? "<p>Nothing else of the original is in the release.</p>\n"
                      : c->shape == KN_SHAPE_DATABASE ? "<p>Of the tables of persons and what belongs to them no other "
                                                        "column of the original is in the release.</p>\n"
                                                      : "<p>No other column of the original is in the release.</p>\n");
}

static void risk(kn_buffer *to, const kn_compliance *c)
{
    if (c->number[KN_E_HIGHEST]) {
        kn_buffer_add(to, "<p>By the size of classes: the highest risk is ");
        kn_html_percent(to, 1.0 / (double)c->k);
        kn_compliance_cite(to, c, KN_E_HIGHEST);
        kn_buffer_add(to, ", the average ");
        kn_html_percent(to, (double)c->classes / (double)(c->units - (c->suppressed > 0 ? c->suppressed : 0)));
        kn_compliance_cite(to, c, KN_E_AVERAGE);
        kn_buffer_add(to, ", of somebody who knows the quasi-identifiers and nothing else.</p>\n");
    } else
        kn_buffer_add(to, "<p>The certificate has no risk by the size of classes for this release.</p>\n");
    if (c->number[KN_E_FOUND]) {
        kn_buffer_add(to, "<p>A linking attack was measured");
        kn_compliance_cite(to, c, KN_E_FOUND);
        kn_buffer_add(to, ".</p>\n");
    } else
        kn_buffer_add(to, "<p>No linking attack is part of this evidence.</p>\n");
    if (c->number[KN_E_RISK]) {
        kn_buffer_add(to, "<p>Risk was measured by itself, too");
        kn_compliance_cite(to, c, KN_E_RISK);
        kn_buffer_add(to, ".</p>\n");
    }
}

void kn_compliance_hipaa(kn_buffer *to, kn_compliance *c)
{
    kn_html_section(to, "United States: HIPAA, expert determination");
    kn_buffer_add(
        to,
        "<p>After 45 CFR 164.514(b)(1). A determination is made by a person; this page is material for one, and makes "
        "none. Neither the rule nor its guidance names a number for a risk that is very small.</p>\n<h3>The "
        "expert</h3>\n");
    kn_compliance_open(
        to, c, "Who determines, and what knowledge and experience of statistical and scientific methods do they have?");
    kn_buffer_add(to, "<h3>Methods: what was applied</h3>\n");
    method(to, c);
    columns(to, c);
    kn_buffer_add(to, "<h3>Results: what is left of the risk</h3>\n");
    risk(to, c);
    kn_compliance_open(to, c, "Who is expected to receive the release, and what do they hold already?");
    kn_compliance_open(to, c,
                       "What else is reasonably available about the same persons: registers, news, data for sale?");
    kn_compliance_open(
        to, c, "Which columns are stable over time and known to others, but were not declared quasi-identifiers?");
    kn_compliance_open(to, c, "Which risk counts as very small here, and why is this release below it?");
    kn_buffer_add(to, "<h3>The determination</h3>\n");
    kn_compliance_open(to, c, "Conclusion, until when it holds, where it is kept; name, date, signature.");
    kn_html_section_end(to);
}

void kn_compliance_nist(kn_buffer *to, kn_compliance *c)
{
    kn_html_section(to, "United States: NIST SP 800-188, method and evidence");
    kn_buffer_add(
        to,
        "<p>After NIST Special Publication 800-188, De-Identifying Government Datasets: Techniques and Governance "
        "(2023), which this page arranges as governance, technical steps and validation.</p>\n<h3>Governance</h3>\n");
    kn_compliance_open(to, c, "What is the release for, and which uses must it serve?");
    kn_compliance_open(
        to, c,
        "Which way of sharing was chosen (open publication, an agreement, an enclave, queries), and why not a "
        "more restrictive one?");
    kn_compliance_open(to, c, "Which board reviewed it, and what did it decide?");
    kn_buffer_add(to, "<h3>Identifiers and quasi-identifiers</h3>\n");
    columns(to, c);
    kn_compliance_open(to, c, "Who surveyed the data, and why are these the quasi-identifiers?");
    kn_buffer_add(to, "<h3>Transformation</h3>\n");
    method(to, c);
    kn_buffer_add(to, "<p>k-anonymity and what builds on it are about the declared quasi-identifiers; unlike "
                      "differential privacy they "
                      "give no bound where several releases come together.</p>\n"
                      "<h3>Validation: privacy</h3>\n");
    risk(to, c);
    kn_compliance_open(to, c, "Was a re-identification study made by somebody else than the owner? With what result?");
    kn_buffer_add(to, "<h3>Validation: usefulness</h3>\n");
    if (c->number[KN_E_LOSS]) {
        kn_buffer_add(to, "<p>What a reader sees to be lost was measured");
        kn_compliance_cite(to, c, KN_E_LOSS);
        kn_buffer_add(to, ".</p>\n");
    } else
        kn_buffer_add(to, "<p>The certificate has no figure of what was lost.</p>\n");
    kn_compliance_open(to, c, "Is it accurate enough for the uses above, and are recipients told what was changed?");
    kn_buffer_add(to, "<h3>After the release</h3>\n");
    kn_compliance_open(to, c, "Who watches for new data and new attacks, and what happens if somebody is found?");
    kn_html_section_end(to);
}

void kn_compliance_ethics(kn_buffer *to, kn_compliance *c)
{
    kn_html_section(to, "For an ethics board");
    kn_buffer_add(to, "<h3>What is to be released</h3>\n<p>");
    kn_html_count(to, c->units, c->shape == KN_SHAPE_TABLE ? "row" : kn_compliance_unit(c, 1),
                  c->shape == KN_SHAPE_TABLE ? "rows" : kn_compliance_unit(c, 2));
    kn_compliance_cite(to, c, KN_E_UNITS);
    kn_buffer_add(to, ".</p>\n");
    columns(to, c);
    kn_buffer_add(to, "<h3>What protects the persons</h3>\n");
    if (c->anatomy)
        kn_buffer_add(to, "<p>Sensitive values are listed by groups; who takes part is not hidden.</p>\n");
    else if (c->asked >= 2 && c->shape == KN_SHAPE_RECORDS) {
        kn_buffer_add(to, "<p>Whoever knows little enough of a person (");
        kn_html_count(to, c->m, "value", "values");
        if (c->n > 0) {
            kn_buffer_add(to, ", ");
            kn_html_count(to, c->n, "relation", "relations");
        }
        kn_buffer_add(to, ") finds nobody, or at least ");
        kn_html_count(to, c->asked, "record", "records");
        kn_buffer_add(to, ".</p>\n");
    } else if (c->asked >= 2) {
        kn_buffer_add(to, "<p>By the quasi-identifiers alone everybody looks like at least ");
        kn_html_count(to, c->asked - 1, "other", "others");
        kn_compliance_cite(to, c, KN_E_SMALLEST);
        kn_buffer_add(to, ".</p>\n");
    } else
        kn_buffer_add(to, "<p>No size of a crowd was promised; see the promises among the evidence.</p>\n");
    risk(to, c);
    kn_buffer_add(to, "<h3>What the board decides</h3>\n");
    kn_compliance_open(to, c, "Who are the persons, and is anybody among them especially vulnerable?");
    kn_compliance_open(to, c,
                       "Did they agree, or on what other ground may the data be used? Can somebody still withdraw?");
    kn_compliance_open(to, c, "What good does the release do, and could less data do it?");
    kn_compliance_open(
        to, c,
        "Who receives it, and what does a contract forbid: looking for persons, joining it with other data, passing "
        "it on?");
    kn_compliance_open(to, c, "What could be concluded of groups (a place, an illness), and whom might that harm?");
    kn_compliance_open(
        to, c, "How long are the original, the private file and a row map kept, by whom, and who may read them?");
    kn_compliance_open(to, c, "What is done, and who is told, if somebody is recognized after all?");
    kn_compliance_open(to, c, "Decision, conditions, date of the next review; names and signatures.");
    kn_html_section_end(to);
}
