/* public.c: the public page of a release (kn_public_report.h): what it promises, what each column shows and how to
 * read it, how large its classes are, and what it does not promise.
 *
 * Every figure comes from kn_public, which knows the release and the request alone; every other sentence is constant or
 * depends on the request. Equal releases and requests give equal bytes. Cost: linear in the columns and distinct class
 * sizes.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_public_report.h"

#include <math.h>
#include <string.h>

#include "kn_error.h"
#include "kn_example.h"
#include "kn_html.h"
#include "kn_release_report.h"
#include "kn_report_words.h"

static bool is_anatomy(const kn_public *p)
{
    return p->shape == KN_SHAPE_DATABASE && p->spec->anatomy;
}

static int64_t asked_k(const kn_spec *spec)
{
    int64_t k = 0;
    for (int i = 0; i < spec->model_count; i++)
        if (spec->models[i].kind == KN_MODEL_K && spec->models[i].k > k) k = spec->models[i].k;
    return k;
}

/* ---- The top ---- */

static void heading(kn_buffer *to, const kn_public *p)
{
    kn_buffer_add(to, "<header>\n<h1>About this release</h1>\n<p class=\"about\">");
    switch (p->shape) {
    case KN_SHAPE_TABLE: kn_html_count(to, p->units, "row", "rows"); break;
    case KN_SHAPE_DATABASE:
        kn_html_count(to, p->units, "person", "persons");
        kn_buffer_add(to, " · ");
        kn_html_count(to, p->part_count, "table", "tables");
        break;
    case KN_SHAPE_RECORDS:
        kn_html_count(to, p->units, "record", "records");
        kn_buffer_add(to, " · ");
        kn_html_count(to, p->nodes, "node", "nodes");
        break;
    }
    kn_buffer_format(to, " · method %s</p>\n</header>\n",
                     p->spec->method_auto ? "auto" : kn_method_name(p->spec->method));
}

static void promise_of_table(kn_buffer *to, const kn_public *p)
{
    bool    persons = p->linked;
    int64_t k = persons ? asked_k(p->spec) : p->k;
    if (p->classes == 0) {
        kn_buffer_add(to, "Nobody can be found: every row is suppressed.</p>\n<p>");
        return;
    }
    if (k < 2) {
        kn_buffer_add(to, "This release keeps the promises listed below.</p>\n<p>");
        return;
    }
    kn_buffer_add(to, "Whoever looks for a person by the quasi-identifiers finds nobody, or at least ");
    kn_html_count(to, k, persons ? "person" : "row", persons ? "persons" : "rows");
    if (kn_spec_items_column(p->spec)) {
        kn_buffer_add(to, " that look alike. Whoever also knows up to ");
        kn_html_count(to, p->spec->kmn.m, "item", "items");
        kn_buffer_add(to, " of the person’s set still finds at least ");
        kn_html_count(to, p->spec->kmn.k, "row", "rows");
        kn_buffer_add(
            to,
            ".</p>\n<p>An item that is not there says nothing where a set is *. Quasi-identifiers are the columns that "
            "others may know of a person; they are marked below. ");
        return;
    }
    kn_buffer_add(to, persons ? " who look alike.</p>\n<p>" : " that look alike.</p>\n<p>");
    kn_buffer_add(to, "Quasi-identifiers are the columns that others may know of a person; they are marked below. ");
}

static void promise_of_database(kn_buffer *to, const kn_public *p)
{
    if (is_anatomy(p)) {
        kn_buffer_add(
            to, "Which sensitive value belongs to whom is hidden; who is in the release is not.</p>\n<p>This is an "
                "anatomy: quasi-identifiers are shown as they are, so that whoever knows them may find a person’s "
                "rows. Each row names a group, and the sensitive values of a group are listed together, without "
                "saying which row has which. The list keeps the promises below. ");
        return;
    }
    if (p->k < 2)
        kn_buffer_add(to, "This release keeps the promises listed below");
    else {
        kn_buffer_add(
            to, "Whoever knows the quasi-identifiers of a person, in whichever table, finds nobody, or at least ");
        kn_html_count(to, p->k, "person", "persons");
        kn_buffer_add(to, " whose rows all look alike");
    }
    kn_buffer_add(to, ".</p>\n<p>Rows of a person that the others of a class have no counterpart for are "
                      "not in the release, and keys were drawn anew. ");
}

static void promise_of_records(kn_buffer *to, const kn_public *p)
{
    kn_kmn kmn = p->spec->kmn;
    kn_buffer_add(to, "Whoever knows up to ");
    kn_html_count(to, kmn.m, "value", "values");
    kn_buffer_add(to, " of a person’s record");
    if (kn_spec_has_sensitive_class(p->spec)) kn_buffer_add(to, " (sensitive ones aside)");
    if (kmn.n > 0) {
        kn_buffer_add(to, ", and up to ");
        kn_html_count(to, kmn.n, "relation", "relations");
        kn_buffer_add(to, " between them (which stands above which),");
    }
    kn_buffer_add(to, kmn.k < 2 ? " may find a single record" : " finds nobody, or at least ");
    if (kmn.k >= 2) kn_html_count(to, kmn.k, "record", "records");
    if (p->nodes == 0) kn_buffer_add(to, "; but the records show no value that somebody could know");
    kn_buffer_add(to, ".</p>\n<p>A relation that is not there says nothing: it may have been taken away. ");
}

static void verdict(kn_buffer *to, const kn_public *p)
{
    kn_buffer_add(to, "<div class=\"verdict safe\">\n<p class=\"answer\">");
    switch (p->shape) {
    case KN_SHAPE_TABLE: promise_of_table(to, p); break;
    case KN_SHAPE_DATABASE: promise_of_database(to, p); break;
    case KN_SHAPE_RECORDS: promise_of_records(to, p); break;
    }
    kn_buffer_add(to,
                  "The written release was read again and every promise checked before it got its name.</p>\n</div>\n");
}

/* ---- Promises ---- */

static void parameter(kn_buffer *to, bool *first, const char *name, double value)
{
    kn_buffer_add(to, *first ? "" : ", ");
    *first = false;
    kn_html_text(to, name);
    kn_buffer_add(to, " = ");
    kn_release_asked(to, value);
}

static double ratio(kn_ratio r)
{
    return (double)r.numerator / (double)r.denominator;
}

static void thresholds(kn_buffer *to, const kn_model *m)
{
    bool first = true;
    switch (m->kind) {
    case KN_MODEL_K:
    case KN_MODEL_K_MAP: parameter(to, &first, "k", (double)m->k); break;
    case KN_MODEL_DISTINCT:
    case KN_MODEL_ENTROPY: parameter(to, &first, "l", ratio(m->l)); break;
    case KN_MODEL_RECURSIVE:
        parameter(to, &first, "l", ratio(m->l));
        parameter(to, &first, "c", ratio(m->c));
        break;
    case KN_MODEL_T_EQUAL:
    case KN_MODEL_T_ORDERED:
    case KN_MODEL_T_HIERARCHICAL: parameter(to, &first, "t", ratio(m->bound)); break;
    case KN_MODEL_ALPHA_K:
        parameter(to, &first, "alpha", ratio(m->bound));
        if (m->k > 0) parameter(to, &first, "k", (double)m->k);
        break;
    case KN_MODEL_BETA_BASIC:
    case KN_MODEL_BETA_ENHANCED: parameter(to, &first, "beta", ratio(m->bound)); break;
    case KN_MODEL_DELTA: parameter(to, &first, "delta", ratio(m->bound)); break;
    case KN_MODEL_PRESENCE:
        parameter(to, &first, "min", ratio(m->low));
        parameter(to, &first, "max", ratio(m->bound));
        break;
    case KN_MODEL_MAX_RISK:
    case KN_MODEL_AVERAGE_RISK: parameter(to, &first, "risk", ratio(m->bound)); break;
    case KN_MODEL_KINDS: break;
    }
}

static void promises(kn_buffer *to, const kn_public *p)
{
    static const char *const titles[] = {"Promise", "About", "Asked", "Seen in the release"};
    kn_html_table            t;
    if (p->spec->model_count == 0) return;
    kn_html_section(to, "What was promised");
    kn_buffer_add(
        to, "<p>Each promise was checked against the original. What is seen in the release takes its shown rows for "
            "everybody there is, so that it may differ a little from what was checked; where a dash stands, the "
            "release alone does not say.</p>\n");
    kn_html_table_begin(&t, to, "lllr", titles);
    for (int i = 0; i < p->spec->model_count; i++) {
        const kn_model *m = &p->spec->models[i];
        const char     *variant = kn_model_variant(m->kind);
        kn_html_table_row(&t);
        kn_html_table_cell(&t);
        kn_html_text(to, kn_model_name(m->kind));
        if (variant) kn_buffer_format(to, " (%s)", variant);
        kn_html_table_cell(&t);
        if (m->attribute) kn_html_name(to, m->attribute);
        kn_html_table_cell(&t);
        thresholds(to, m);
        kn_html_table_cell(&t);
        if (isnan(p->in_release[i]))
            kn_buffer_add(to, "–");
        else
            kn_release_figure(to, p->in_release[i]);
    }
    kn_html_table_end(&t);
    kn_html_section_end(to);
}

/* ---- Columns ---- */

static const char *rule_words(const kn_hierarchy_spec *h)
{
    switch (h->kind) {
    case KN_HIERARCHY_FILE:
    case KN_HIERARCHY_TAXONOMY:
        return "A value, or a label of its hierarchy file, which stands for every value below it.";
    case KN_HIERARCHY_MASK: return "A value whose hidden characters are replaced by a mask.";
    case KN_HIERARCHY_RANGES:
    case KN_HIERARCHY_BREAKS: return "A value, or an interval: the value lies between its ends.";
    case KN_HIERARCHY_CALENDAR: return "A day, or a month, quarter, year or decade in which it lies.";
    case KN_HIERARCHY_PREFIX: return "A code, or the beginning that several codes share.";
    case KN_HIERARCHY_GROUPS:
    case KN_HIERARCHY_SUPPRESS: break;
    }
    return "A value, or * where it is not shown.";
}

/* What the rule does, on a value that is made up. */
static void example(kn_buffer *to, const kn_hierarchy_spec *h)
{
    size_t before = to->size;
    kn_buffer_add(to, " For example: ");
    if (kn_example(to, h, -1))
        kn_buffer_char(to, '.');
    else
        to->size = before;
}

/* Without a hierarchy, where the method took one by the type of the values. */
static const char by_type[] =
    "A value; an interval, a set, or a month, quarter or year that the value lies in; a code whose last characters are "
    "hidden by *; or * where it is not shown.";

static bool is_partitioned(const kn_public *p)
{
    return p->shape == KN_SHAPE_TABLE && !p->spec->method_auto &&
           kn_method_family(p->spec->method) == KN_FAMILY_PARTITION;
}

static const char *column_words(const kn_public *p, const kn_public_part *part, const kn_public_column *c)
{
    const kn_attribute *a = c->attribute;
    if (!a && part->list)
        return c == part->columns ? "The number of a group." : "How many rows of the group have the value.";
    if (!a)
        return is_anatomy(p) ? "A key that was drawn anew, or the number of the row’s group."
                             : "A key that was drawn anew.";
    if (c->pseudonym) return "A keyed code. It is the same in every release that was made with the same key.";
    switch (a->role) {
    case KN_ROLE_SENSITIVE:
        return is_anatomy(p) ? "As it is in the original, listed by groups." : "As it is in the original.";
    case KN_ROLE_WEIGHT: return "A sampling weight, as it is in the original.";
    case KN_ROLE_COUNT: return "How many equal rows the row stands for.";
    case KN_ROLE_KEEP: return "As it is in the original; no promise is about it.";
    case KN_ROLE_SET: return "A set of items, made broader within each class, or * where nothing is said of them.";
    case KN_ROLE_QUASI: break;
    case KN_ROLE_IDENTIFIER: return "";
    }
    if (is_anatomy(p)) return "As it is in the original.";
    if (a->has_hierarchy && !a->cut_by_order) return rule_words(&a->hierarchy);
    if (a->has_hierarchy || is_partitioned(p))
        return "A value; an interval or a set that the value lies in; or * where it is not shown.";
    return by_type;
}

/* The levels that were asked for, as asked. */
static void asked_levels(kn_buffer *to, const kn_spec *spec, const kn_attribute *a)
{
    int low, high;
    if (!kn_spec_level_bounds(spec, kn_spec_find(spec, a->name), &low, &high)) return;
    if (low >= 0 && high > low)
        kn_buffer_format(to, " Asked for: levels %d to %d of its hierarchy.", low, high);
    else
        kn_buffer_format(to, " Asked for: level %d of its hierarchy%s.", low >= 0 ? low : high,
                         high < 0  ? ", or a higher one"
                         : low < 0 ? ", or a lower one"
                                   : "");
}

static void column_row(kn_html_table *t, const kn_public *p, const kn_public_part *part, const kn_public_column *c)
{
    kn_html_table_row(t);
    kn_html_table_cell(t);
    if (part->name) {
        kn_html_name(t->to, part->name);
        kn_buffer_char(t->to, '.');
    }
    kn_html_name(t->to, c->name);
    kn_html_table_cell(t);
    kn_html_text(t->to, c->attribute ? kn_words_role(c->attribute->role) : part->list ? "" : "key");
    kn_html_table_cell(t);
    bool quasi = c->attribute && c->attribute->role == KN_ROLE_QUASI;
    if (quasi) kn_html_integer(t->to, c->labels);
    kn_html_table_cell(t);
    if (quasi && !is_anatomy(p) && !isnan(c->lm)) kn_html_percent(t->to, c->lm);
    kn_html_table_cell(t);
    kn_html_text(t->to, column_words(p, part, c));
    if (quasi && !is_anatomy(p) && c->attribute->has_hierarchy && !c->attribute->cut_by_order)
        example(t->to, &c->attribute->hierarchy);
    if (quasi && p->shape == KN_SHAPE_TABLE) asked_levels(t->to, p->spec, c->attribute);
}

static void columns(kn_buffer *to, const kn_public *p)
{
    static const char *const titles[] = {"Column", "Role", "Different texts", "Blurred", "How to read it"};
    kn_html_table            t;
    if (p->part_count == 0) return;
    kn_html_section(to, "What each column shows");
    kn_buffer_add(
        to,
        "<p>Blurred: 0 % are the values themselves, 100 % is nothing at all; measured over the hierarchy’s file, or "
        "over what the column itself shows.</p>\n");
    kn_html_table_begin(&t, to, "llrrw", titles);
    for (int i = 0; i < p->part_count; i++)
        for (int c = 0; c < p->parts[i].column_count; c++) column_row(&t, p, &p->parts[i], &p->parts[i].columns[c]);
    kn_html_table_end(&t);
    if (kn_words_references(to, p->spec, "<p>References, copied, some with broader rows added: "))
        kn_buffer_add(to, "</p>\n");
    if (p->suppressed > 0) {
        kn_buffer_add(to, "<p>");
        kn_html_count(to, p->suppressed, "row is suppressed: it shows", "rows are suppressed: they show");
        kn_buffer_add(to, p->spec->suppressed == KN_SUPPRESSED_STAR ? " * in every column.</p>\n"
                                                                    : " * in every quasi-identifier.</p>\n");
    }
    kn_html_section_end(to);
}

static void classes_of_nodes(kn_buffer *to, const kn_public *p)
{
    static const char *const titles[] = {"Class", "Role", "How to read it"};
    kn_html_table            t;
    if (p->shape != KN_SHAPE_RECORDS || p->spec->class_count == 0) return;
    kn_html_section(to, "What the records show");
    kn_buffer_add(to, "<p>");
    kn_html_count(to, p->values, "different value", "different values");
    kn_buffer_add(to, " in ");
    kn_html_count(to, p->nodes, "node", "nodes");
    kn_buffer_add(to, ", with ");
    kn_html_count(to, p->relations, "relation", "relations");
    kn_buffer_add(to, " between a node and one above it.</p>\n");
    kn_html_table_begin(&t, to, "llw", titles);
    for (int i = 0; i < p->spec->class_count; i++) {
        const kn_spec_class *c = &p->spec->classes[i];
        kn_html_table_row(&t);
        kn_html_table_cell(&t);
        kn_html_name(to, c->name);
        kn_html_table_cell(&t);
        kn_html_text(to, c->sensitive ? "sensitive" : "quasi-identifier");
        kn_html_table_cell(&t);
        kn_html_text(to, c->sensitive       ? "As it is in the original."
                         : c->has_hierarchy ? rule_words(&c->hierarchy)
                                            : by_type);
        if (c->has_hierarchy && !c->sensitive) example(to, &c->hierarchy);
    }
    kn_html_table_end(&t);
    kn_html_section_end(to);
}

/* ---- Classes ---- */

static void sizes(kn_buffer *to, const kn_public *p)
{
    static const char *const titles[] = {"Size of a class", "Classes", "In them"};
    kn_html_table            t;
    if (p->size_count == 0) return;
    kn_html_section(to, "How many look alike");
    kn_buffer_add(to, p->shape == KN_SHAPE_DATABASE
                          ? "<p>A class is all persons whose quasi-identifiers are equal in every table.</p>\n"
                          : "<p>A class is all rows whose quasi-identifiers are equal.</p>\n");
    kn_html_table_begin(&t, to, "rrr", titles);
    int64_t i = 0;
    for (int64_t from = 1; i < p->size_count; from *= 2) {
        int64_t classes = 0, inside = 0, least = 0, most = 0;
        for (; i < p->size_count && (from > INT64_MAX / 2 || p->sizes[i].size < 2 * from); i++) {
            if (classes == 0) least = p->sizes[i].size;
            most = p->sizes[i].size;
            classes += p->sizes[i].classes;
            inside += p->sizes[i].classes * p->sizes[i].size;
        }
        if (classes == 0) continue;
        kn_html_table_row(&t);
        kn_html_table_cell(&t);
        kn_html_integer(to, least);
        if (most > least) {
            kn_buffer_add(to, " to ");
            kn_html_integer(to, most);
        }
        kn_html_table_cell(&t);
        kn_html_integer(to, classes);
        kn_html_table_cell(&t);
        kn_html_integer(to, inside);
    }
    kn_html_table_end(&t);
    kn_html_section_end(to);
}

/* ---- The file ---- */

static void seals(kn_buffer *to, const kn_public_seal *seal)
{
    if (seal->file_count == 0) return;
    kn_html_section(to, "Which file this page is about");
    for (int i = 0; i < seal->file_count; i++) {
        kn_buffer_add(to, "<p class=\"about\">");
        if (seal->folder) {
            kn_html_name(to, seal->names[i]);
            kn_buffer_add(to, ": ");
        }
        kn_buffer_add(to, "SHA-256 ");
        kn_html_name(to, seal->digests[i]);
        kn_buffer_add(to, "</p>\n");
    }
    kn_buffer_add(to, "<p>This page is not signed: whoever can replace the release can replace the page.</p>\n");
    kn_html_section_end(to);
}

kn_status kn_public_report_render(kn_buffer *to, const kn_public *p, const kn_public_seal *seal, kn_error *err)
{
    kn_html_begin(to, "About this release");
    heading(to, p);
    verdict(to, p);
    kn_words_begin(to, p->shape, p->linked, is_anatomy(p));
    kn_words_end(to);
    promises(to, p);
    columns(to, p);
    classes_of_nodes(to, p);
    sizes(to, p);
    kn_words_limits(to, p->shape, is_anatomy(p));
    seals(to, seal);
    kn_release_footer(to, NULL, seal->version);
    kn_html_end(to);
    return to->failed ? kn_fail_memory(err, to->ctx, "writing a report") : KN_OK;
}
