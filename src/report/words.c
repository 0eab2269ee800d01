/* words.c: what all pages about a release say in the same words (kn_report_words.h): the terms, which come first, and what is not
 * promised, which comes last. Every sentence is constant or depends on the request alone, so that a page may be published.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kn_report_words.h"

#include "kn_html.h"
#include "kn_release_report.h"

static void of_table(kn_buffer *to, bool entity)
{
    kn_release_word(to, "Quasi-identifiers",
                    "Columns that somebody else may know about a person: age, sex, place. None of them is a name, but "
                    "together they "
                    "can point to one person.");
    kn_release_word(
        to, "Class, crowd",
        entity
            ? "All persons whose rows look exactly the same on the quasi-identifiers: all their rows, where a release "
              "shows which are one person's. Somebody who knows only those cannot tell them apart."
            : "All rows that look exactly the same on the quasi-identifiers. Somebody who knows only those cannot "
              "tell them apart.");
    kn_release_word(
        to, "k", entity ? "The number of persons in the smallest crowd." : "The number of rows in the smallest crowd.");
}

static void of_database(kn_buffer *to, bool anatomy)
{
    kn_release_word(to, "Quasi-identifiers",
                    "Columns that somebody else may know about a person, in any table: which courses, which dates. "
                    "None of them is a "
                    "name, but together they can point to one person.");
    if (anatomy) {
        kn_release_word(to, "Group", "Rows whose sensitive values are listed together, without saying whose is which.");
        return;
    }
    kn_release_word(to, "Class, crowd",
                    "All persons whose rows look exactly the same on the quasi-identifiers, in every table: the same "
                    "number of rows, "
                    "the same values, joined in the same way.");
    kn_release_word(to, "k", "The number of persons in the smallest crowd.");
}

static void of_records(kn_buffer *to)
{
    kn_release_word(to, "Record",
                    "Everything that is recorded of one person: values that stand below one another, like a tree.");
    kn_release_word(to, "Class", "What kind of thing a value is: a place, a disease, a drug.");
    kn_release_word(to, "Node", "One value at one place of a record. A value may stand at several places.");
    kn_release_word(to, "Relation", "That one value stands above another: this disease was treated at that place.");
    kn_release_word(to, "Group",
                    "A broader value that stands for several, in all records alike. * stands for any value.");
    kn_release_word(
        to, "m, n and k",
        "Somebody may know up to m values of a person and up to n relations between them. Every such knowledge fits "
        "nobody, or at least k records.");
}

void kn_words_begin(kn_buffer *to, kn_shape shape, bool entity, bool anatomy)
{
    kn_html_section(to, "What the words mean");
    kn_buffer_add(to, "<dl class=\"words\">\n");
    switch (shape) {
    case KN_SHAPE_TABLE: of_table(to, entity); break;
    case KN_SHAPE_DATABASE: of_database(to, anatomy); break;
    case KN_SHAPE_RECORDS: of_records(to); break;
    }
}

void kn_words_end(kn_buffer *to)
{
    kn_buffer_add(to, "</dl>\n");
    kn_html_section_end(to);
}

void kn_words_limits(kn_buffer *to, kn_shape shape, bool anatomy)
{
    kn_html_section(to, "What it does not promise");
    kn_buffer_add(to, "<dl class=\"words\">\n");
    if (anatomy) {
        kn_release_word(
            to, "That somebody is in the release",
            "Quasi-identifiers are shown as they are: whoever knows them may see that a person takes part.");
        kn_release_word(to, "What all groups teach together",
                        "Whoever learns from all groups which values go with which quasi-identifiers may guess a "
                        "person’s value better "
                        "than the list of one group suggests.");
    }
    if (shape == KN_SHAPE_RECORDS)
        kn_release_word(to, "What else somebody knows",
                        "The promise is about up to m values and n relations. Somebody who knows more of a person, or "
                        "a sensitive value, "
                        "may find that person.");
    else
        kn_release_word(to, "What else somebody knows",
                        "The promises are about what others know of the quasi-identifiers. Somebody who also knows a "
                        "kept or a sensitive "
                        "value of a person may find that person.");
    kn_release_word(
        to, "Sensitive values under k alone",
        anatomy
            ? "k says how many persons share a group. Where a group’s list has one value only, that value is known of "
              "everybody in it, unless another promise forbids it."
        : shape == KN_SHAPE_RECORDS
            ? "k hides which record is whose. Where all records that somebody finds have one value in common, that "
              "value is "
              "known of the person, unless another promise forbids it."
            : "k hides which row is whose. Where all rows of a class have one sensitive value, that value is known of "
              "everybody in it, unless another promise forbids it.");
    kn_release_word(to, shape == KN_SHAPE_RECORDS ? "Several sensitive classes" : "Several sensitive columns",
                    "Each is protected by itself, not together with the others.");
    kn_release_word(
        to, "Values that are nearly equal",
        "Three salaries within one per cent count as three different values, unless closeness by order is promised.");
    kn_release_word(
        to, "How the method decides",
        "Whoever knows the method knows that it looks for little blurring, and may conclude something from the "
        "fact that less was not chosen.");
    kn_release_word(to, "Other releases", "What somebody else publishes about the same persons was not looked at.");
    kn_release_word(to, "Singling out by a description",
                    "k-anonymity does not prevent that somebody guesses a description that fits exactly one person.");
    kn_words_end(to);
}

bool kn_words_references(kn_buffer *to, const kn_spec *spec, const char *words)
{
    bool any = false;
    for (int i = 0; i < spec->table_count; i++) {
        if (!spec->tables[i].reference) continue;
        kn_buffer_add(to, any ? ", " : words);
        kn_html_name(to, spec->tables[i].name);
        any = true;
    }
    if (any) kn_buffer_char(to, '.');
    return any;
}

const char *kn_words_role(kn_role role)
{
    static const char *const roles[] = {[KN_ROLE_QUASI] = "quasi-identifier",
                                        [KN_ROLE_IDENTIFIER] = "identifier",
                                        [KN_ROLE_SENSITIVE] = "sensitive",
                                        [KN_ROLE_WEIGHT] = "weight",
                                        [KN_ROLE_KEEP] = "kept",
                                        [KN_ROLE_COUNT] = "count",
                                        [KN_ROLE_SET] = "set of items"};
    return roles[role];
}
