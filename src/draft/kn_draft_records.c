/* kn_draft_records.c: a first release file for XML or JSON records: what a record is, its classes, how they nest.
 *
 * The file is read once for its names (kn_outline.h), then for the values of each class. A record is what repeats
 * nearest to the top. A class is an element or member that has a value (a text, an attribute, a member) wherever it
 * occurs. What has none and only holds others is part of their paths. What else has none, names people or is nested in itself
 * is left out with everything below it, and that is reported. Nodes of "children" name their class; they cannot be left out, so they are kept or the file is refused.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <kanon/diagnose.h>
#include <stdio.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_draft.h"
#include "kn_error.h"
#include "kn_feed.h"
#include "kn_names.h"
#include "kn_outline.h"
#include "kn_records_scan.h"

enum { MOST_CLASSES = 200, FEW_RECORDS = 20 };

typedef struct class {
    const char *name;
    const char *value;   /* "@v", "text", a key; NULL: the default */
    const char *path;    /* the keys or elements to it; NULL: its name alone     */
    const char *out;     /* why it is left out; NULL: it is kept                 */
    const char *named;   /* why it names people, although it cannot be left out  */
    bool        classed; /* nodes of "children" have it as their "class"       */
    bool        found;   /* reachable from records by classes                    */
    int         rank;    /* larger than that of classes above                    */
    kn_feed     feed;
    kn_table   *values;
    kn_profile *profile;
} class;

typedef struct records {
    kn_drafting *d;
    kn_outline   outline;
    bool         xml;
    int          record; /* a node; -1: the documents themselves */
    const char  *path;   /* of the record; NULL: none is needed  */
    int          count;
    class classes[MOST_CLASSES];
    int64_t people;
    bool    changed;
    bool    classed;  /* some nodes of "children" have a "class" */
    bool    pathless; /* there are too many classes for paths   */
} records;

static const kn_outline_node *node_at(const records *r, int node)
{
    return &r->outline.nodes[node];
}

/* ---- What a record is ---- */

/* The child that occurs most often; -1: there is none. */
static int commonest(const records *r, int parent)
{
    int best = -1;
    for (int i = 0; i < r->outline.count; i++) {
        const kn_outline_node *n = node_at(r, i);
        if (n->parent == parent && !n->attribute && (best < 0 || n->count > node_at(r, best)->count)) best = i;
    }
    return best;
}

/* The last part of a path ("people/person"). */
static bool is_called(const records *r, int node, const char *path)
{
    const char *slash = strrchr(path, '/'), *last = slash ? slash + 1 : path;
    return !node_at(r, node)->attribute && strcmp(node_at(r, node)->name, last) == 0;
}

static kn_status find_record(records *r, kn_error *err)
{
    const char *asked = r->d->options->record;
    r->record = -1;
    if (!asked && (r->outline.form == KN_RECORDS_JSON_LINES || r->outline.list)) return KN_OK;
    for (int i = 0; asked && i < r->outline.count && r->record < 0; i++)
        if (is_called(r, i, asked)) r->record = i;
    if (!asked)
        for (int at = commonest(r, -1); at >= 0; at = commonest(r, at)) {
            r->record = at;
            if (node_at(r, at)->count > 1) break;
        }
    if (r->record < 0 || (!asked && node_at(r, r->record)->count < 2))
        return kn_fail(err, KN_INPUT, "%s: nothing in it looks like many records; --record says what one is",
                       r->outline.file);
    r->path = asked ? asked : node_at(r, r->record)->name;
    for (int up = node_at(r, r->record)->parent; !asked && !r->xml && up >= 0; up = node_at(r, up)->parent) {
        char *longer = kn_strformat(r->d->ctx, "%s/%s", node_at(r, up)->name, r->path);
        r->path = longer ? kn_arena_strndup(r->d->arena, longer, strlen(longer)) : NULL;
        kn_free(longer);
        if (!r->path) return kn_draft_memory(r->d, err);
    }
    return KN_OK;
}

static bool inside(const records *r, int node)
{
    for (int up = node_at(r, node)->parent; up >= 0; up = node_at(r, up)->parent)
        if (up == r->record) return true;
    return r->record < 0;
}

/* ---- Values ---- */

/* The number of elements or objects of that name in records. */
static int64_t occurrences(const records *r, const char *name)
{
    int64_t count = 0;
    for (int i = 0; i < r->outline.count; i++)
        if (inside(r, i) && !node_at(r, i)->attribute && strcmp(node_at(r, i)->name, name) == 0)
            count += node_at(r, i)->count;
    return count;
}

static int64_t texts(const records *r, const char *name)
{
    int64_t count = 0;
    for (int i = 0; i < r->outline.count; i++)
        if (inside(r, i) && !node_at(r, i)->attribute && strcmp(node_at(r, i)->name, name) == 0)
            count += node_at(r, i)->valued;
    return count;
}

/* Do all objects of a class have this member, with a plain value? */
static bool all_have(const records *r, const char *name, const char *member, int64_t objects)
{
    int64_t count = 0, valued = 0;
    for (int i = 0; i < r->outline.count; i++) {
        const kn_outline_node *n = node_at(r, i);
        if (n->parent < 0 || !inside(r, n->parent) || n->attribute != r->xml) continue;
        if (strcmp(n->name, member) != 0 || strcmp(node_at(r, n->parent)->name, name) != 0) continue;
        count += n->count;
        valued += n->valued;
    }
    return count == objects && valued == objects && objects > 0;
}

/* The attribute or member that holds the value of a class; NULL: none. */
static const char *value_member(const records *r, const char *name, int64_t objects)
{
    static const char *const usual[] = {"v", "value", "name", "label", "title", "code", "type"};
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (all_have(r, name, usual[i], objects)) return usual[i];
    for (int i = 0; i < r->outline.count; i++) {
        const kn_outline_node *n = node_at(r, i);
        if (n->parent < 0 || strcmp(node_at(r, n->parent)->name, name) != 0 || strcmp(n->name, "id") == 0) continue;
        if (all_have(r, name, n->name, objects)) return n->name;
    }
    return NULL;
}

/* xsi:nil and its like say how an element is written. */
static bool is_of_schema(const kn_outline_node *n)
{
    return n->attribute && strncmp(n->name, "xsi:", 4) == 0;
}

/* Elements with nothing in them but a text: one without a text is no node. */
static bool is_leaf(const records *r, const char *name)
{
    for (int i = 0; i < r->outline.count; i++) {
        const kn_outline_node *n = node_at(r, i);
        if (n->parent >= 0 && !is_of_schema(n) && strcmp(node_at(r, n->parent)->name, name) == 0) return false;
    }
    return true;
}

/* Finds where the value of a class is; false: it has none. */
static bool find_value(records *r, class *c)
{
    int64_t     count = occurrences(r, c->name), plain = texts(r, c->name);
    const char *member = value_member(r, c->name, r->xml ? count : count - plain);
    if (r->xml && member) {
        char *at = kn_arena_bytes(r->d->arena, strlen(member) + 2);
        if (at) snprintf(at, strlen(member) + 2, "@%s", member);
        c->value = at;
        return true;
    }
    if (r->xml) c->value = "text";
    if (!r->xml && count > plain) c->value = member;
    return plain == count || (!r->xml && member) || (r->xml && plain > 0 && is_leaf(r, c->name));
}

/* ---- Classes ---- */

static class *class_called(records *r, const char *name)
{
    for (int i = 0; i < r->count; i++)
        if (strcmp(r->classes[i].name, name) == 0) return &r->classes[i];
    if (r->count == MOST_CLASSES) return NULL;
    r->classes[r->count] = (class){.name = name, .rank = -1};
    return &r->classes[r->count++];
}

static bool is_value_of(const class *c, const kn_outline_node *n)
{
    if (!c || !c->value) return false;
    return strcmp(c->value[0] == '@' ? c->value + 1 : c->value, n->name) == 0;
}

static bool above(const records *r, int node, const char *name)
{
    for (int up = node_at(r, node)->parent; up >= 0 && up != r->record; up = node_at(r, up)->parent)
        if (strcmp(node_at(r, up)->name, name) == 0) return true;
    return false;
}

static bool is_children(const records *r, const char *name)
{
    return !r->xml && strcmp(name, "children") == 0;
}

/* Nodes in "children" cannot be left out: a release would be refused. */
static kn_status cannot_read(const records *r, const class *c, kn_error *err)
{
    if (!c->classed)
        return kn_fail(err, KN_INPUT,
                       "%s: nodes in \"children\" name no \"class\"; write the classes and their hierarchies into a "
                       "release file, or give each node its class",
                       r->outline.file);
    return kn_fail(err, KN_INPUT, "%s: class \"%s\" cannot be read: %s", r->outline.file, c->name, c->out);
}

/* An element or object without a value of its own that only holds others: it becomes part of their paths. One whose name says
 * that it identifies people does not. */
static bool is_wrapper(const records *r, int node)
{
    static const char *const people[] = {"name",    "names", "address", "contact",
                                         "telecom", "phone", "email",   "identifier"};
    const char              *name = node_at(r, node)->name;
    bool                     holds = false;
    for (size_t i = 0; i < sizeof people / sizeof *people; i++)
        if (kn_name_says(name, people[i])) return false;
    for (int i = node + 1; i < r->outline.count && !holds; i++) holds = node_at(r, i)->parent == node;
    return holds && !r->pathless && texts(r, name) == 0 && !is_children(r, name) && !above(r, node, name);
}

/* The path from the node or record of a class to one below wrappers, "a/b/c"; NULL: out of memory. */
static const char *path_to(const records *r, int node, int base)
{
    const char *path = node_at(r, node)->name;
    for (int up = node_at(r, node)->parent; up != base && path; up = node_at(r, up)->parent) {
        char *longer = kn_strformat(r->d->ctx, "%s/%s", node_at(r, up)->name, path);
        path = longer ? kn_arena_strndup(r->d->arena, longer, strlen(longer)) : NULL;
        kn_free(longer);
    }
    return path;
}

/* A class has one path, from whatever is around it. */
static kn_status find_path(records *r, class *c, int node, int base, kn_error *err)
{
    const char *path = node_at(r, node)->parent == base ? NULL : path_to(r, node, base);
    if (!path && node_at(r, node)->parent != base) return kn_draft_memory(r->d, err);
    if (c->found && (!path != !c->path || (path && strcmp(path, c->path) != 0))) c->out = "several paths lead to it";
    c->path = path;
    return KN_OK;
}

/* Finds the classes below a node (-1: the documents) of some class (NULL: the record itself), or below one that is part of a
 * path from `base`. */
static kn_status find_classes(records *r, int parent, int base, const class *of, int rank, kn_error *err)
{
    for (int i = parent + 1; i < r->outline.count; i++) {
        const kn_outline_node *n = node_at(r, i);
        if (n->parent != parent || n->count == 0 || is_value_of(of, n) || (!of && strcmp(n->name, "id") == 0)) continue;
        if (is_of_schema(n) || (n->attribute && parent != base)) continue; /* attributes on a path are not read */
        class *c = class_called(r, n->name);
        if (!c || rank > MOST_CLASSES)
            return kn_fail(err, KN_INPUT,
                           "%s: too many classes, or they nest in each other; write them into a release file",
                           r->outline.file);
        if (c->out) continue;
        bool valued = n->attribute ? n->valued > 0 : find_value(r, c);
        if (!valued && !n->attribute && is_wrapper(r, i)) {
            KN_TRY(find_classes(r, i, base, of, rank, err));
            continue;
        }
        if (!valued) c->out = "it has no value of its own";
        KN_TRY(find_path(r, c, i, base, err));
        if (above(r, i, n->name)) c->out = "it stands inside itself";
        c->classed |= n->classed;
        if (c->out ? c->classed || is_children(r, c->name) : is_children(r, c->name) && r->classed)
            return cannot_read(r, c, err);
        if (c->out) {
            r->changed = true;
            continue;
        }
        c->found = true;
        if (rank > c->rank) c->rank = rank;
        KN_TRY(find_classes(r, i, i, c, c->rank + 1, err));
    }
    return KN_OK;
}

/* Paths are for so many classes and no more. */
static bool too_many(const records *r)
{
    int  found = 0;
    bool paths = false;
    for (int i = 0; i < r->count; i++) {
        found += r->classes[i].found;
        paths = paths || (r->classes[i].found && r->classes[i].path);
    }
    return paths && found > KN_STYLE_CLASSES;
}

static kn_status arrange(records *r, kn_error *err)
{
    do { /* repeat without those that turned out not to be classes */
        r->changed = false;
        for (int i = 0; i < r->count; i++) {
            r->classes[i].found = false;
            r->classes[i].rank = -1;
            r->classes[i].path = NULL;
        }
        KN_TRY(find_classes(r, r->record, r->record, NULL, 0, err));
        if (too_many(r)) r->pathless = r->changed = true;
    } while (r->changed);
    for (int i = 1; i < r->count; i++) /* by nesting, then in the order of the file */
        for (int j = i; j > 0 && r->classes[j].rank < r->classes[j - 1].rank; j--) {
            class swap = r->classes[j];
            r->classes[j] = r->classes[j - 1];
            r->classes[j - 1] = swap;
        }
    return KN_OK;
}

/* ---- Their values ---- */

static kn_status on_record(void *state, kn_string id, const kn_records_place *place, kn_error *err)
{
    (void)id, (void)place, (void)err;
    ((records *)state)->people++;
    return KN_OK;
}

static kn_status on_node(void *state, int64_t parent, int cls, kn_string value, const kn_records_place *place,
                         kn_error *err)
{
    records *r = state;
    (void)parent, (void)place;
    int number = -1;
    for (int i = 0; i < r->count && cls >= 0; i++)
        if (r->classes[i].found && cls-- == 0) number = i;
    return number < 0 ? KN_OK : kn_feed_cell(&r->classes[number].feed, value, err);
}

static kn_status on_ignored(void *state, kn_string name, kn_error *err)
{
    (void)state, (void)name, (void)err;
    return KN_OK;
}

static kn_status read_values(records *r, kn_error *err)
{
    kn_spec_class       list[MOST_CLASSES];
    kn_records_options  options = KN_RECORDS_OPTIONS_INIT;
    kn_records_sink     sink = {r, on_record, on_node, on_ignored};
    kn_catalog_column   column = {0};
    kn_catalog_table    table = {.name = "records", .column_count = 1, .columns = &column};
    kn_csv_options      csv = KN_CSV_OPTIONS_INIT;
    kn_database_options reading = KN_DATABASE_OPTIONS_INIT;
    reading.csv = &csv;
    options.record = r->path;
    options.classes = list;
    r->people = 0;
    for (int i = 0; i < r->count; i++) {
        if (!r->classes[i].found) continue;
        list[options.class_count++] =
            (kn_spec_class){.name = r->classes[i].name, .value = r->classes[i].value, .path = r->classes[i].path};
        column.name = r->classes[i].name;
        KN_TRY(kn_feed_open(&r->classes[i].feed, r->d->ctx, r->outline.file, &table, err));
    }
    KN_TRY(kn_records_scan(r->d->ctx, r->d->inputs[0], &options, &sink, NULL, err));
    for (int i = 0; i < r->count; i++) {
        class *c = &r->classes[i];
        if (!c->found) continue;
        KN_TRY(kn_feed_finish(&c->values, &c->feed, NULL, &reading, err));
        KN_TRY(kn_profile_table(&c->profile, r->d->ctx, c->values, err));
    }
    return KN_OK;
}

static void forget_values(records *r)
{
    for (int i = 0; i < r->count; i++) {
        class *c = &r->classes[i];
        kn_feed_abort(&c->feed);
        kn_profile_free(c->profile);
        kn_table_free(c->values);
        c->profile = NULL;
        c->values = NULL;
    }
}

/* Reads the values, and again without classes that name people. */
static kn_status look_at_values(records *r, kn_error *err)
{
    for (;;) {
        bool again = false;
        KN_TRY(arrange(r, err));
        KN_TRY(read_values(r, err));
        for (int i = 0; i < r->count; i++) {
            class *c = &r->classes[i];
            if (!c->found || kn_column_profile_at(c->profile, 0)->role != KN_ROLE_IDENTIFIER) continue;
            if (c->classed) {
                c->named = kn_column_profile_at(c->profile, 0)->reason;
                continue;
            }
            c->out = kn_column_profile_at(c->profile, 0)->reason;
            again = true;
        }
        if (!again) return KN_OK;
        forget_values(r);
    }
}

/* ---- Text ---- */

/* A class that names people and cannot be left out: without a hierarchy, what few have becomes the class's name. */
static kn_status write_named(records *r, const class *c, kn_error *err)
{
    static const char reason[] = "nodes of \"children\" cannot be left out: what few have shows its class alone";
    kn_buffer_add(&r->d->text, "  ");
    kn_draft_quote(&r->d->text, c->name);
    kn_buffer_add(&r->d->text, ": {value: ");
    kn_draft_quote(&r->d->text, c->value ? c->value : "v");
    kn_buffer_format(&r->d->text, "}  # %s; %s\n", c->named, reason);
    KN_TRY(kn_draft_note(r->d, err, "\"%s\" stays: %s; %s", c->name, c->named, reason));
    return kn_draft_add_column(r->d, NULL, c->name, "quasi", c->named, NULL, err);
}

static kn_status write_class(records *r, const class *c, kn_error *err)
{
    kn_draft_rule rule;
    kn_buffer    *to = &r->d->text;
    if (c->named) return write_named(r, c, err);
    KN_TRY(kn_draft_rule_of(&rule, r->d, c->values, 0, NULL, false, err));
    kn_buffer_add(to, "  ");
    kn_draft_quote(to, c->name);
    kn_buffer_add(to, ": {");
    if (c->path) {
        kn_buffer_add(to, "path: ");
        kn_draft_quote(to, c->path);
    }
    if (c->value) {
        kn_buffer_add(to, c->path ? ", value: " : "value: ");
        kn_draft_quote(to, c->value);
    }
    if (rule.hierarchy) kn_buffer_format(to, "%shierarchy: %s", c->value || c->path ? ", " : "", rule.hierarchy);
    kn_buffer_format(to, "}  # others may know it; to be safe (%s)\n", rule.why);
    return kn_draft_add_column(r->d, NULL, c->name, "quasi", "others may know it; to be safe", rule.hierarchy, err);
}

static kn_status write_left_out(records *r, const class *c, kn_error *err)
{
    kn_buffer_add(&r->d->text, "  # left out, with all that it holds: ");
    kn_draft_quote(&r->d->text, c->name);
    kn_buffer_format(&r->d->text, "  (%s)\n", c->out);
    KN_TRY(kn_draft_note(r->d, err, "\"%s\" is left out, with all that it holds: %s", c->name, c->out));
    return kn_draft_add_column(r->d, NULL, c->name, "identifier", c->out, NULL, err);
}

static kn_status write_all(records *r, kn_error *err)
{
    kn_drafting   *d = r->d;
    int            many = 0;
    const char    *output = r->xml                                     ? "release.xml"
                            : r->outline.form == KN_RECORDS_JSON_LINES ? "release.jsonl"
                                                                       : "release.json";
    kn_csv_options csv = KN_CSV_OPTIONS_INIT;
    if (r->people < 2) return kn_fail(err, KN_INPUT, "%s: it has fewer than 2 records", r->outline.file);
    KN_TRY(kn_draft_opening(d, &csv, output, err));
    kn_buffer_char(&d->text, '\n');
    if (r->path) {
        kn_buffer_add(&d->text, "record: ");
        kn_draft_quote(&d->text, r->path);
        kn_buffer_add(&d->text, "  # one person; a record's id is never written\n");
    }
    kn_buffer_add(&d->text, "classes:  # from general to specific, as they nest\n");
    for (int i = 0; i < r->count; i++) {
        if (r->classes[i].found) KN_TRY(write_class(r, &r->classes[i], err));
        many += r->classes[i].found;
    }
    for (int i = 0; i < r->count; i++)
        if (r->classes[i].out) KN_TRY(write_left_out(r, &r->classes[i], err));
    if (many == 0) return kn_fail(err, KN_INPUT, "%s: nothing in its records has a value", r->outline.file);
    int64_t k = d->options->k > 0 ? d->options->k : r->people < FEW_RECORDS ? 2 : 5;
    kn_buffer_format(
        &d->text,
        "\nprivacy:\n  - k-mn: {k: %lld, m: 2, n: 1}  # whoever knows 2 values of somebody, and which stands "
        "above which, finds nobody or at least so many\n"
        "# suppression: 5%%  # so many values and records may be given up where a rare one would blur everybody's\n"
        "\nmethod: auto  # the methods that fit are tried, and the one that loses least is taken\n",
        (long long)k);
    return KN_OK;
}

kn_status kn_draft_records(kn_drafting *d, kn_error *err)
{
    records *r = kn_alloc_zero(d->ctx, sizeof *r);
    if (!r) return kn_draft_memory(d, err);
    r->d = d;
    kn_status st = kn_outline_read(&r->outline, d->ctx, d->inputs[0], err);
    r->xml = r->outline.form == KN_RECORDS_XML;
    for (int i = 0; i < r->outline.count; i++) r->classed |= r->outline.nodes[i].classed;
    if (st == KN_OK) st = find_record(r, err);
    if (st == KN_OK) st = look_at_values(r, err);
    if (st == KN_OK) st = write_all(r, err);
    forget_values(r);
    kn_outline_free(&r->outline);
    kn_free(r);
    return st;
}
