/* kn_database_read.c: a source of tables → a database: which tables, with which types, joined by which keys.
 *
 * The user's declarations override the catalog: a key replaces the catalog's, a parent its foreign keys to listed
 * tables. Columns of keys are read as text: a key is compared by its spelling.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_broader.h"
#include "kn_context.h"
#include "kn_csv_read.h"
#include "kn_database_write.h"
#include "kn_error.h"
#include "kn_feed.h"
#include "kn_nearest.h"
#include "kn_options.h"

typedef struct reading {
    kn_context                *ctx;
    const kn_cells            *source;
    const kn_database_options *options;
    const kn_database_unread  *unread; /* NULL: everything is read */
    kn_catalog                 catalog;
    kn_database               *db;
    int                       *order; /* the numbers in the catalog of the tables to read */
    int                        count;
} reading;

/* ---- Over the catalog ---- */

/* What the user says of a table; NULL: nothing. */
static const kn_spec_table *said_of(const reading *r, const char *name)
{
    for (int i = 0; i < r->options->table_count; i++)
        if (strcmp(r->options->tables[i].name, name) == 0) return &r->options->tables[i];
    return NULL;
}

static bool is_reference(const reading *r, const char *name)
{
    const kn_spec_table *said = said_of(r, name);
    return said && said->reference;
}

/* Is it read as a table of persons, or of what belongs to them? */
static bool of_persons(const reading *r, const char *name)
{
    return kn_catalog_wanted(r->options, name) && !is_reference(r, name);
}

static bool named(const char *const *names, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0) return true;
    return false;
}

static bool is_parent_link(const kn_catalog_link *link, const kn_spec_table *said)
{
    bool same = strcmp(link->target, said->parent) == 0 && link->count == said->parent_column_count;
    for (int i = 0; same && i < link->count; i++) same = strcmp(link->columns[i], said->parent_columns[i]) == 0;
    return same;
}

/* A foreign key that the user's parent replaces holds old keys of a listed table. Its columns are dropped if they
 * have no role; one that would be released, or is needed, is refused. */
static kn_status check_left_out(const reading *r, const kn_catalog_table *t, const kn_catalog_link *link,
                                const kn_spec_table *said, kn_error *err)
{
    for (int i = 0; i < link->count; i++) {
        const char *column = link->columns[i];
        if (named(said->parent_columns, said->parent_column_count, column))
            continue; /* replaced together with the parent's */
        if (named(t->key, t->key_count, column))
            return kn_fail(
                err, KN_INPUT,
                "%s: the key of table \"%s\" has column \"%s\", which refers to rows of \"%s\" and not of its parent; "
                "name a key without it (key: [] if there is no other)",
                r->source->name, t->name, column, link->target);
        for (int a = 0; a < said->attribute_count; a++)
            if (strcmp(said->attributes[a].name, column) == 0 && said->attributes[a].role != KN_ROLE_IDENTIFIER)
                return kn_fail(
                    err, KN_INPUT,
                    "%s: table \"%s\", column \"%s\" refers to rows of \"%s\" by their old keys, which are not "
                    "released; leave it without a role",
                    r->source->name, t->name, column, link->target);
    }
    return KN_OK;
}

/* The user's parent is the table's only one: the catalog's other foreign keys to listed tables are ignored. */
static kn_status lay_parent(reading *r, int table, const kn_spec_table *said, kn_error *err)
{
    kn_catalog_table *t = &r->catalog.tables[table];
    bool              known = false;
    int               kept = 0;
    for (int l = 0; l < t->link_count; l++) {
        kn_catalog_link link = t->links[l];
        bool            parent = is_parent_link(&link, said); /* the catalog has it, perhaps with more details */
        if (!parent && of_persons(r, link.target))
            KN_TRY(check_left_out(r, t, &link, said, err));
        else if (!parent || !known)
            t->links[kept++] = link;
        known = known || parent;
    }
    t->link_count = kept;
    if (known) return KN_OK;
    int link = kn_catalog_add_link(&r->catalog, table, said->parent);
    if (link < 0) return kn_fail_memory(err, r->ctx, r->source->name);
    for (int i = 0; i < said->parent_column_count; i++)
        if (kn_catalog_add_link_column(&r->catalog, table, link, said->parent_columns[i], NULL) < 0)
            return kn_fail_memory(err, r->ctx, r->source->name);
    return KN_OK;
}

/* Leaves out the foreign keys of the columns that the user names. Those to persons hold old keys. */
static kn_status lay_ignored(const reading *r, kn_catalog_table *t, const kn_spec_table *said, kn_error *err)
{
    for (int i = 0; i < said->ignored_count; i++) {
        int kept = 0, before = t->link_count, column = kn_catalog_find_column(t, said->ignored[i]);
        for (int l = 0; l < before; l++) {
            kn_catalog_link link = t->links[l];
            if (!named(link.columns, link.count, said->ignored[i]))
                t->links[kept++] = link;
            else if (column >= 0 && of_persons(r, link.target))
                t->columns[column].old_key = true;
        }
        t->link_count = kept;
        if (kept == before)
            return kn_fail(err, KN_INPUT, "%s: table \"%s\": no foreign key has column \"%s\" (ignore)",
                           r->source->name, t->name, said->ignored[i]);
        if (column >= 0 && t->columns[column].old_key && named(t->key, t->key_count, said->ignored[i]))
            return kn_fail(
                err, KN_INPUT,
                "%s: the key of table \"%s\" has column \"%s\", whose link is left out; name a key without it "
                "(key:)",
                r->source->name, t->name, said->ignored[i]);
    }
    return KN_OK;
}

static kn_status lay_links(reading *r, int table, const kn_spec_table *said, kn_error *err)
{
    for (int i = 0; i < said->link_count; i++) {
        if (!said_of(r, said->link_targets[i]))
            return kn_fail(err, KN_INPUT, "%s: table \"%s\" refers to \"%s\", which is not listed (links)",
                           r->source->name, said->name, said->link_targets[i]);
        int  link = kn_catalog_add_link(&r->catalog, table, said->link_targets[i]);
        bool ok = link >= 0;
        for (int c = 0; ok && c < said->link_counts[i]; c++)
            ok = kn_catalog_add_link_column(&r->catalog, table, link, said->link_lists[i][c], NULL) >= 0;
        if (!ok) return kn_fail_memory(err, r->ctx, r->source->name);
    }
    return KN_OK;
}

/* A reference leads to no persons. */
static kn_status check_reference(const reading *r, const kn_catalog_table *t, kn_error *err)
{
    for (int l = 0; l < t->link_count; l++)
        if (of_persons(r, t->links[l].target))
            return kn_fail(
                err, KN_INPUT,
                "%s: table \"%s\" is declared a reference, but its column \"%s\" refers to \"%s\", whose rows "
                "belong to persons; leave that link out (ignore: [\"%s\"]), or it is no reference",
                r->source->name, t->name, t->links[l].columns[0], t->links[l].target, t->links[l].columns[0]);
    return KN_OK;
}

/* The line with which a table that refers to `t` refers to what `t` belongs to instead, by columns that it has; empty: there is
 * none. */
static void find_way_out(const reading *r, const kn_catalog_table *t, const kn_catalog_link *link, char *out,
                         size_t size)
{
    *out = '\0';
    for (int p = 0; p < t->link_count; p++) {
        const kn_catalog_link *parent = &t->links[p];
        if (!of_persons(r, parent->target) || parent->count != 1) continue;
        for (int c = 0; c < link->count; c++) {
            const char *target = link->target_columns[c] ? link->target_columns[c] : c < t->key_count ? t->key[c] : "";
            if (strcmp(target, parent->columns[0]) == 0)
                snprintf(out, size, "let it refer to \"%.80s\" (parent: {table: %.80s, column: %.80s}), ",
                         parent->target, parent->target, link->columns[c]);
        }
    }
}

/* A primary key that refers to a reference (order, product) would not be one any more once rows refer to broader rows: a release
 * has another, unless other tables refer to it. */
static kn_status leave_key_out(reading *r, kn_catalog_table *t, kn_error *err)
{
    const char *column = NULL;
    for (int l = 0; l < t->link_count; l++)
        for (int k = 0; is_reference(r, t->links[l].target) && k < t->key_count; k++)
            if (named(t->links[l].columns, t->links[l].count, t->key[k])) column = t->key[k];
    if (!column) return KN_OK;
    for (int i = 0; i < r->count; i++) {
        const kn_catalog_table *from = &r->catalog.tables[r->order[i]];
        for (int l = 0; l < from->link_count; l++) {
            char way[300];
            if (strcmp(from->links[l].target, t->name) != 0) continue;
            find_way_out(r, t, &from->links[l], way, sizeof way);
            return kn_fail(err, KN_INPUT,
                           "%s: table \"%s\" refers to \"%s\", whose key has column \"%s\", which refers to a "
                           "reference; %sname a key without it (key:), or leave that link out (ignore: [\"%s\"])",
                           r->source->name, from->name, t->name, column, way, column);
        }
    }
    t->key_count = 0;
    t->key_left_out = true;
    return KN_OK;
}

static kn_status lay_over(reading *r, const kn_spec_table *said, kn_error *err)
{
    int table = kn_catalog_find(&r->catalog, said->name);
    if (table < 0) {
        kn_nearest near = {.text = said->name};
        for (int i = 0; i < r->catalog.table_count; i++) kn_nearest_try(&near, r->catalog.tables[i].name);
        return kn_fail(err, KN_INPUT, "%s: there is no table \"%s\"%s%s%s", r->source->name, said->name,
                       KN_MEANT(near));
    }
    kn_catalog_table *t = &r->catalog.tables[table];
    if (said->has_key) {
        t->key = NULL;
        t->key_count = 0;
        for (int i = 0; i < said->key_count; i++)
            if (kn_catalog_add_key(&r->catalog, table, said->key[i]) < 0)
                return kn_fail_memory(err, r->ctx, r->source->name);
    }
    KN_TRY(lay_ignored(r, t, said, err));
    KN_TRY(lay_links(r, table, said, err));
    if (said->reference) return check_reference(r, &r->catalog.tables[table], err);
    return said->parent ? lay_parent(r, table, said, err) : KN_OK;
}

static bool to_be_read(const reading *r, const char *name)
{
    return kn_catalog_wanted(r->options, name) && kn_catalog_find(&r->catalog, name) >= 0;
}

static void mark(kn_catalog_table *t, const char *column)
{
    int c = kn_catalog_find_column(t, column);
    if (c >= 0) t->columns[c].joined = true;
}

/* Columns of primary keys, of foreign keys to tables that are read, and the columns they refer to. */
static void mark_keys(reading *r)
{
    for (int i = 0; i < r->count; i++) {
        kn_catalog_table *t = &r->catalog.tables[r->order[i]];
        for (int k = 0; k < t->key_count; k++) mark(t, t->key[k]);
        for (int l = 0; l < t->link_count; l++) {
            kn_catalog_link *link = &t->links[l];
            if (!to_be_read(r, link->target)) continue;
            for (int c = 0; c < link->count; c++) {
                mark(t, link->columns[c]);
                if (link->target_columns[c])
                    mark(&r->catalog.tables[kn_catalog_find(&r->catalog, link->target)], link->target_columns[c]);
            }
        }
    }
}

/* Columns of which nobody needs the cells; keys are needed. */
static void mark_unread(reading *r)
{
    for (int i = 0; r->unread && i < r->count; i++) {
        kn_catalog_table *t = &r->catalog.tables[r->order[i]];
        for (int c = 0; c < t->column_count; c++)
            t->columns[c].unread =
                !t->columns[c].joined && r->unread->column(r->unread->arg, t->name, t->columns[c].name);
    }
}

/* The tables to read: in the user's order, else by name. */
static kn_status choose_tables(reading *r, kn_error *err)
{
    const kn_database_options *o = r->options;
    int                        most = o->table_count > 0 ? o->table_count : r->catalog.table_count;
    r->order = kn_alloc_array(r->ctx, (size_t)most + 1, sizeof *r->order);
    if (!r->order) return kn_fail_memory(err, r->ctx, r->source->name);
    for (int i = 0; i < o->table_count; i++) {
        KN_TRY(lay_over(r, &o->tables[i], err));
        r->order[r->count++] = kn_catalog_find(&r->catalog, o->tables[i].name);
    }
    for (int i = 0; i < r->count; i++)
        if (!o->tables[i].reference) KN_TRY(leave_key_out(r, &r->catalog.tables[r->order[i]], err));
    if (r->count > 0) return KN_OK;
    for (int i = 0; i < r->catalog.table_count; i++) {
        int at = r->count++;
        for (; at > 0 && strcmp(r->catalog.tables[r->order[at - 1]].name, r->catalog.tables[i].name) > 0; at--)
            r->order[at] = r->order[at - 1];
        r->order[at] = i;
    }
    return r->count > 0 ? KN_OK : kn_fail(err, KN_INPUT, "%s: there are no tables in it", r->source->name);
}

/* ---- Tables ---- */

static const kn_attribute *attribute_of(const reading *r, const char *table, const char *column)
{
    const kn_spec_table *t = said_of(r, table);
    for (int a = 0; t && a < t->attribute_count; a++)
        if (strcmp(t->attributes[a].name, column) == 0) return &t->attributes[a];
    return NULL;
}

static void find_types(const reading *r, const kn_catalog_table *t, kn_builder_type *types)
{
    for (int c = 0; c < t->column_count; c++) {
        const kn_catalog_column *column = &t->columns[c];
        const kn_attribute      *said = attribute_of(r, t->name, column->name);
        types[c] = (kn_builder_type){column->text ? KN_TYPE_TEXT : KN_TYPE_AUTO, NULL};
        if (said && said->type != KN_TYPE_AUTO) types[c] = (kn_builder_type){said->type, said->format};
        if (column->joined || is_reference(r, t->name)) types[c] = (kn_builder_type){KN_TYPE_TEXT, NULL};
    }
}

/* Tables that are files have their columns there. */
static kn_status name_columns(reading *r, int table, kn_error *err)
{
    char        *path = NULL;
    kn_csv_names names = {0};
    if (!r->source->file) return KN_OK;
    KN_TRY(r->source->file(r->source->state, &path, r->catalog.tables[table].name, err));
    kn_status status = kn_csv_read_names(&names, r->ctx, path, r->options->csv, err);
    for (int i = 0; status == KN_OK && i < names.count; i++)
        if (kn_catalog_add_column(&r->catalog, table, names.names[i], NULL, false, false) < 0)
            status = kn_fail_memory(err, r->ctx, r->source->name);
    kn_csv_names_free(&names);
    kn_free(path);
    return status;
}

static kn_status read_file(const reading *r, kn_table **out, const kn_catalog_table *t, const kn_builder_type *types,
                           kn_error *err)
{
    kn_csv_options  csv = *r->options->csv;
    char           *path = NULL;
    kn_column_type *columns = kn_alloc_array(r->ctx, (size_t)t->column_count, sizeof *columns);
    kn_status       status = columns ? KN_OK : kn_fail_memory(err, r->ctx, r->source->name);
    if (status == KN_OK) status = r->source->file(r->source->state, &path, t->name, err);
    csv.types = columns;
    csv.type_count = 0;
    for (int c = 0; status == KN_OK && c < t->column_count; c++)
        if (types[c].type != KN_TYPE_AUTO)
            columns[csv.type_count++] = (kn_column_type){t->columns[c].name, types[c].type, types[c].format};
    if (status == KN_OK) status = kn_table_read_csv(out, r->ctx, path, &csv, err);
    KN_FREE(path, columns);
    return status;
}

static kn_status read_cells(const reading *r, kn_table **out, const kn_catalog_table *t, const kn_builder_type *types,
                            kn_error *err)
{
    kn_feed feed;
    KN_TRY(kn_feed_open(&feed, r->ctx, r->source->name, t, err));
    kn_status status = kn_feed_all(&feed, r->source, err);
    if (status == KN_OK) return kn_feed_finish(out, &feed, types, r->options, err);
    kn_feed_abort(&feed);
    return status;
}

static kn_status read_table(reading *r, kn_database *db, const kn_catalog_table *t, kn_error *err)
{
    if (t->column_count == 0)
        return kn_fail(err, KN_INPUT, "%s: table \"%s\" has no columns", r->source->name, t->name);
    kn_builder_type *types = kn_alloc_array(r->ctx, (size_t)t->column_count, sizeof *types);
    kn_table        *table = NULL;
    if (!types) return kn_fail_memory(err, r->ctx, r->source->name);
    find_types(r, t, types);
    kn_status status = r->source->file ? read_file(r, &table, t, types, err) : read_cells(r, &table, t, types, err);
    kn_free(types);
    if (status != KN_OK) return status;
    KN_TRY(kn_database_add(db, t->name, table, err)); /* takes the table */
    kn_database_table *to = &db->tables[db->table_count - 1];
    if (t->key_left_out) KN_TRY(kn_table_new_name(&to->drawn_key, r->ctx, to->table, t->name, "_id", err));
    for (int c = 0; c < t->column_count; c++) {
        const char *declared = t->columns[c].declared;
        int         at = kn_table_find(to->table, t->columns[c].name);
        if (at < 0) return kn_fail(err, KN_INTERNAL, "a column of the catalog was not read");
        to->columns[at].not_null = t->columns[c].not_null;
        to->columns[at].old_key = t->columns[c].old_key;
        if (!declared) continue;
        to->columns[at].declared = kn_strndup(r->ctx, declared, strlen(declared));
        if (!to->columns[at].declared) return kn_fail_memory(err, r->ctx, r->source->name);
    }
    return kn_database_set_key(db, db->table_count - 1, t->key, t->key_count, err);
}

/* The columns by which a reference's rows become broader. */
static kn_status set_groups(reading *r, kn_database_table *t, kn_error *err)
{
    const kn_spec_table *said = said_of(r, t->name);
    t->labels = said->labels;
    if (!said->groups) return KN_OK;
    t->groups = kn_alloc_array(r->ctx, (size_t)said->group_count + 1, sizeof *t->groups);
    if (!t->groups) return kn_fail_memory(err, r->ctx, r->source->name);
    t->group_count = said->group_count;
    for (int i = 0; i < said->group_count; i++) {
        t->groups[i] = kn_table_find(t->table, said->groups[i]);
        if (t->groups[i] < 0 || (t->columns[t->groups[i]].key && t->key_count == 1))
            return kn_fail(err, KN_INPUT, "%s: table \"%s\": %s column \"%s\" (groups)", r->source->name, t->name,
                           t->groups[i] < 0 ? "there is no" : "a group must be broader than a row: leave out the key's",
                           said->groups[i]);
    }
    return KN_OK;
}

static kn_status link_table(reading *r, kn_database *db, const kn_catalog_table *t, kn_error *err)
{
    int number = kn_database_find(db, t->name);
    if (is_reference(r, t->name)) KN_TRY(set_groups(r, &db->tables[number], err));
    for (int l = 0; l < t->link_count; l++) {
        const kn_catalog_link *link = &t->links[l];
        KN_TRY(kn_database_link(db, number, link->columns, link->count, link->target,
                                link->target_columns[0] ? link->target_columns : NULL, err));
    }
    return KN_OK;
}

static kn_status read_all(reading *r, kn_error *err)
{
    const char *zone = r->options->csv->timezone;
    KN_TRY(kn_database_create(&r->db, r->ctx, r->source->name, err));
    r->db->whole = r->options->table_count == 0;
    if (zone && !(r->db->timezone = kn_strndup(r->ctx, zone, strlen(zone))))
        return kn_fail_memory(err, r->ctx, r->source->name);
    KN_TRY(r->source->list(r->source->state, &r->catalog, r->options, err));
    for (int t = 0; t < r->catalog.table_count; t++) KN_TRY(name_columns(r, t, err));
    KN_TRY(choose_tables(r, err));
    mark_keys(r);
    mark_unread(r);
    for (int i = 0; i < r->count && !r->db->references; i++)
        if (is_reference(r, r->catalog.tables[r->order[i]].name))
            KN_TRY(kn_database_create(&r->db->references, r->ctx, r->source->name, err));
    for (int i = 0; i < r->count; i++) {
        const kn_catalog_table *t = &r->catalog.tables[r->order[i]];
        KN_TRY(read_table(r, is_reference(r, t->name) ? r->db->references : r->db, t, err));
    }
    for (int i = 0; i < r->count; i++) {
        const kn_catalog_table *t = &r->catalog.tables[r->order[i]];
        KN_TRY(link_table(r, is_reference(r, t->name) ? r->db->references : r->db, t, err));
    }
    return KN_OK;
}

kn_status kn_database_read_cells(kn_database **out, const kn_cells *cells, const kn_database_options *options,
                                 const kn_database_unread *unread, kn_error *err)
{
    *out = NULL;
    kn_database_options own = *options;
    kn_csv_options      csv = KN_CSV_OPTIONS_INIT;
    KN_TRY(kn_options_take(&csv, sizeof csv, options->csv, "CSV options", err));
    own.csv = &csv;
    reading r = {.ctx = cells->ctx, .source = cells, .options = &own, .unread = unread};
    kn_catalog_init(&r.catalog, r.ctx);
    kn_progress_begin(r.ctx, "reading", "rows", 0);
    kn_status status = read_all(&r, err);
    kn_progress_end(r.ctx);
    kn_free(r.order);
    kn_catalog_free(&r.catalog);
    if (status == KN_OK)
        *out = r.db;
    else
        kn_database_free(r.db);
    return status;
}

/* ---- By name ---- */

bool kn_database_named(const char *input)
{
    return kn_database_kind_of(input) != KN_DATABASE_NONE;
}

kn_status kn_database_read(kn_database **out, kn_context *ctx, const char *input, const kn_database_options *options,
                           kn_error *err)
{
    *out = NULL;
    KN_SERVE(ctx, err);
    KN_OPTIONS(kn_database_options, KN_DATABASE_OPTIONS_INIT, options, "database options", err);
    for (int i = 0; i < options->table_count; i++)
        for (int j = 0; j < i; j++)
            if (strcmp(options->tables[i].name, options->tables[j].name) == 0)
                return kn_fail(err, KN_USAGE, "table \"%s\" is listed twice", options->tables[i].name);
    kn_database_kind kind = kn_database_kind_of(input);
    if (options->schema && (kind == KN_DATABASE_SQLITE || kind == KN_DATABASE_FOLDER))
        return kn_fail(err, KN_USAGE, "%s: only a PostgreSQL server has schemas; leave the schema out", input);
    kn_cells *cells = NULL;
    KN_TRY(kn_cells_open(&cells, ctx, input, options->snapshot, err));
    kn_status status = kn_database_read_cells(out, cells, options, NULL, err);
    kn_cells_close(cells);
    return status;
}
