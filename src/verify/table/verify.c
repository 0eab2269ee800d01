/* table/verify.c: the independent verifier: what is read, the order of the checks, and the report.
 *
 * Both files are read anew; then columns and suppressed rows (rules.c), the assignment of released rows to originals
 * (map.c with a row map, match.c without), every promise (models.c; of whole persons where their rows stay linked,
 * linked.c), every declared dependency (dependencies.c) and every metric (metrics.c). A release that lacks a column
 * is not checked further. Nothing here is shared with the methods, the recoding or the models: docs/verification.md
 * says what is shared and why.
 *
 * Cost: one pass over each file; then look-ups per row and column. Memory: 1 to 4 bytes per cell of both files.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <kanon/verify.h>

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "kn_alloc.h"
#include "kn_buffer.h"
#include "kn_connection.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_memory.h"
#include "kn_nearest.h"
#include "kn_once.h"
#include "kn_options.h"
#include "kn_parallel.h"
#include "kn_verify_internal.h"
#include "kn_verify_rowmap.h"
#include "kn_verify_where.h"

/* ---- The report ---- */

typedef struct report {
    kn_verify_report base;
    kn_vnotes        notes;
} report;

void kn_verify_report_free(kn_verify_report *public)
{
    if (!public) return;
    kn_arena_free(&((report *)public)->notes.arena);
    kn_free(public);
}

static kn_status no_memory(const kn_verifier *v, kn_error *err)
{
    return kn_fail_memory(err, v->ctx, "verifying");
}

kn_status kn_verify_begin(kn_verifier *v, kn_error *err)
{
    report *r = kn_alloc_zero(v->ctx, sizeof *r);
    if (!r) return no_memory(v, err);
    v->report = &r->base;
    v->report->read = "whole";
    v->notes = &r->notes;
    KN_TRY(kn_vnotes_init(v->notes, KN_VHEAD(v->report), v->ctx, v->spec, err));
    for (int i = 0; i < KN_METRICS; i++) v->report->metrics[i] = NAN;
    if (v->options->time_limit > 0) kn_deadline_set(v->ctx, v->options->time_limit);
    return v->spec->csv.timezone ? kn_timezone_open(&v->zone, v->ctx, v->spec->csv.timezone, err) : KN_OK;
}

/* ---- Reading ---- */

bool kn_verify_is_released(const kn_spec *spec, const kn_attribute *a)
{
    if (a->role == KN_ROLE_COUNT) return !spec->expand;
    return a->role != KN_ROLE_IDENTIFIER || a->pseudonym_key_file;
}

/* The names of the columns that are read of the original: what is released, and the entity. */
static int wanted_names(const kn_spec *spec, const char **names)
{
    int n = 0;
    for (int i = 0; i < spec->attribute_count; i++)
        if (kn_verify_is_released(spec, &spec->attributes[i])) names[n++] = spec->attributes[i].name;
    return n;
}

static kn_status read_originals(kn_verifier *v, const char **names, int count, kn_error *err)
{
    const kn_verify_options *o = v->options;
    const char *const       *paths = o->originals ? o->originals : v->spec->inputs;
    int                      path_count = o->originals ? o->original_count : v->spec->input_count;
    kn_vread_options         read = {.csv = &v->spec->csv, .columns = names, .column_count = count};
    if (path_count < 1) return kn_fail(err, KN_USAGE, "no original was given");
    for (int i = 0; i < v->spec->entity_count; i++) names[read.column_count++] = v->spec->entity_columns[i];
    if (v->spec->csv.count && v->spec->expand) names[read.column_count++] = v->spec->csv.count;
    return kn_vtable_read(&v->original, v->ctx, paths, path_count, &read, err);
}

/* A plain file's digest is that of the bytes read; a compressed one's is that of the file. */
static void digest_compressed(const char *path, char out[65])
{
    unsigned char begin[4] = {0};
    FILE         *file = strcmp(path, "-") != 0 ? fopen(path, "rb") : NULL;
    size_t        got = file ? fread(begin, 1, sizeof begin, file) : 0;
    bool          gzip = got >= 2 && memcmp(begin, "\x1f\x8b", 2) == 0,
         zstd = got >= 4 && memcmp(begin, "\x28\xb5\x2f\xfd", 4) == 0;
    if (file) fclose(file);
    if (gzip || zstd) kn_vdigest_file(path, out);
}

static kn_status read_release(kn_verifier *v, const char **names, int count, kn_error *err)
{
    const char    *path = v->options->release ? v->options->release : v->spec->output;
    kn_csv_options csv = KN_CSV_OPTIONS_INIT;
    if (!path) return kn_fail(err, KN_USAGE, "no release was given");
    kn_vread_options read = {.csv = &csv,
                             .columns = names,
                             .column_count = count,
                             .header = names,
                             .header_count = count,
                             .hint = v->original->delimiter,
                             .digest = true,
                             .guarded = v->spec->spreadsheet_safe,
                             .form = true};
    KN_TRY(kn_vtable_read(&v->release, v->ctx, &path, 1, &read, err));
    if (v->release->unguarded > 0)
        kn_vproblem(v->notes,
                    "a spreadsheet would execute a cell of the release, which spreadsheet-safe does not allow");
    if (!v->release->form.marks) digest_compressed(kn_memory_path(v->ctx, path), v->release->sha256);
    memcpy(v->report->sha256, v->release->sha256, sizeof v->report->sha256);
    return KN_OK;
}

static kn_status read_population(kn_verifier *v, kn_error *err)
{
    KN_TRY(kn_verify_read_people(v, err));
    if (!v->spec->population) return KN_OK;
    const char **names = kn_arena_array(&v->arena, (size_t)v->quasi_count + 1, sizeof *names);
    if (!names) return no_memory(v, err);
    kn_csv_options csv = v->spec->csv;
    csv.delimiter = 0; /* it may come from elsewhere */
    for (int i = 0; i < v->quasi_count; i++) names[i] = v->quasi[i].attribute->name;
    kn_vread_options read = {.csv = &csv, .columns = names, .column_count = v->quasi_count};
    KN_TRY(kn_vtable_read(&v->population, v->ctx, &v->spec->population, 1, &read, err));
    for (int i = 0; i < v->quasi_count; i++) {
        v->quasi[i].population = kn_vtable_column(v->population, names[i]);
        if (!v->quasi[i].population)
            return kn_fail(err, KN_INPUT, "%s: there is no column \"%s\"", v->spec->population, names[i]);
    }
    return KN_OK;
}

static kn_status read_files(kn_verifier *v, kn_error *err)
{
    size_t       most = (size_t)v->spec->attribute_count + (size_t)v->spec->entity_count + 1;
    const char **names = kn_arena_array(&v->arena, most + 1, sizeof *names);
    if (!names) return no_memory(v, err);
    int count = wanted_names(v->spec, names);
    KN_TRY(read_originals(v, names, count, err));
    return read_release(v, names, count, err);
}

/* ---- Columns ---- */

/* Every released column, and nothing else. A name that the original does not have is not quoted: it may be data. */
static bool check_header(kn_verifier *v)
{
    bool whole = true;
    for (int c = 0; c < v->release->name_count; c++) {
        const char *name = v->release->names[c].data;
        int         a = kn_spec_find(v->spec, name);
        if (a >= 0 && kn_verify_is_released(v->spec, &v->spec->attributes[a])) continue;
        if (a >= 0 && v->spec->attributes[a].role == KN_ROLE_COUNT)
            kn_vproblem(v->notes, "column \"%s\" counts rows and must not be in an expanded release", name);
        else if (a >= 0)
            kn_vproblem(v->notes, "column \"%s\" is an identifier and must not be in the release", name);
        else if (kn_vtable_name(v->original, name) >= 0)
            kn_vproblem(v->notes, "column \"%s\" is not declared and must not be in the release", name);
        else
            kn_vproblem(v->notes, "column %d of the release is not one %s", c + 1,
                        v->where ? "that was asked for" : "of the original");
    }
    for (int i = 0; i < v->spec->attribute_count; i++) {
        const kn_attribute *a = &v->spec->attributes[i];
        if (!kn_verify_is_released(v->spec, a) || kn_vtable_name(v->release, a->name) >= 0) continue;
        kn_vproblem(v->notes, "column \"%s\" is missing from the release%s", a->name,
                    a->role == KN_ROLE_COUNT ? " (of an expanded one say so: expand)" : "");
        whole = false;
    }
    return whole;
}

/* A name that the original does not have is a mistake in the request, not in the release. */
static kn_status check_declared(const kn_verifier *v, kn_error *err)
{
    for (int i = 0; i < v->spec->attribute_count; i++) {
        kn_nearest near = {.text = v->spec->attributes[i].name};
        if (v->where && !kn_verify_is_released(v->spec, &v->spec->attributes[i]))
            continue; /* an engine may leave it out */
        if (kn_vtable_name(v->original, near.text) >= 0) continue;
        for (int c = 0; c < v->original->name_count; c++) kn_nearest_try(&near, v->original->names[c].data);
        return kn_fail(err, KN_INPUT, "the original has no column \"%s\"%s%s%s", near.text, KN_MEANT(near));
    }
    return KN_OK;
}

/* How many rows each row stands for, in both files. */
static kn_status take_counts(kn_verifier *v, bool *readable, kn_error *err)
{
    const char *count = v->spec->csv.count;
    if (!count) return KN_OK;
    const kn_attribute *a = &v->spec->attributes[kn_spec_find(v->spec, count)];
    if (v->options->map || v->narrow_map || v->options->map_path || v->options->summary)
        return kn_fail(err, KN_USAGE,
                       "rows that are counted (role: count) have no number of their own: there is no row map, and "
                       "no summary that one would check");
    KN_TRY(kn_verify_count_original(v, a, err));
    return v->spec->expand ? KN_OK : kn_verify_count_release(v, a, readable, err);
}

/* The entity: one column, or several that are joined when their texts are known. */
static kn_status find_entity(kn_verifier *v, kn_error *err)
{
    const kn_spec *spec = v->spec;
    for (int e = 0; e < spec->entity_count; e++) {
        const char *name = spec->entity_columns[e];
        v->entity = kn_vtable_column(v->original, name);
        if (!v->entity) return kn_fail(err, KN_INPUT, "the original has no column \"%s\"", name);
        for (int i = 0; spec->entity_count == 1 && i < v->copy_count; i++)
            if (strcmp(v->copies[i].attribute->name, name) == 0) v->entity_release = v->copies[i].release;
    }
    if (spec->entity_count > 1) v->entity = &v->joined;
    return KN_OK;
}

static kn_status find_columns(kn_verifier *v, kn_error *err)
{
    const kn_spec *spec = v->spec;
    v->quasi = kn_arena_array_zero(&v->arena, (size_t)spec->attribute_count + 1, sizeof *v->quasi);
    v->copies = kn_arena_array_zero(&v->arena, (size_t)spec->attribute_count + 1, sizeof *v->copies);
    if (v->arena.failed) return no_memory(v, err);
    for (int i = 0; i < spec->attribute_count; i++) {
        const kn_attribute *a = &spec->attributes[i];
        if (!kn_verify_is_released(spec, a) || a->role == KN_ROLE_COUNT) continue;
        if (v->where && !v->where->whole && a->role == KN_ROLE_KEEP) continue; /* compared by the engine */
        const kn_vcolumn *original = kn_vtable_column(v->original, a->name);
        const kn_vcolumn *release = kn_vtable_column(v->release, a->name);
        if (a->role == KN_ROLE_WEIGHT) v->weight = original;
        if (a->role == KN_ROLE_SET) {
            v->items = kn_arena_array_zero(&v->arena, 1, sizeof *v->items);
            if (!v->items) return no_memory(v, err);
            *v->items = (kn_vitems){.attribute = a, .original = original, .release = release};
        } else if (a->role == KN_ROLE_QUASI)
            v->quasi[v->quasi_count++] = (kn_vquasi){.attribute = a, .original = original, .release = release};
        else
            v->copies[v->copy_count++] = (kn_vcopy){
                .attribute = a, .original = original, .release = release, .pseudonym = a->role == KN_ROLE_IDENTIFIER};
    }
    if (v->quasi_count == 0) return kn_fail(err, KN_USAGE, "there is no quasi-identifier");
    return find_entity(v, err);
}

/* ---- Meanings ---- */

static kn_status read_by(kn_verifier *v, kn_vquasi *q, const kn_hierarchy_spec *rule, kn_error *err)
{
    kn_attribute a = *q->attribute;
    a.hierarchy = *rule;
    KN_TRY(kn_vtree_make(&q->tree, v->ctx, &a, &q->domain, err));
    return kn_vcells_make(q, v->ctx, err);
}

/* Is every text a value, a label of the tree, missing or "*"? */
static bool all_named(const kn_vquasi *q)
{
    for (uint32_t i = 0; i < q->release->count; i++)
        if (q->cells[i].kind == KN_VCELL_RANGE || q->cells[i].kind == KN_VCELL_SET ||
            q->cells[i].kind == KN_VCELL_UNKNOWN)
            return false;
    return true;
}

/* No hierarchy was given: partitioning then has none; other methods have the one that the values suggest. Where the method is
 * not known, the release shows which. */
static kn_status prepare_without(kn_verifier *v, kn_vquasi *q, kn_error *err)
{
    kn_hierarchy_spec rule = KN_HIERARCHY_SPEC_INIT, none = KN_HIERARCHY_SPEC_INIT;
    kn_arena          room = {.ctx = v->ctx};
    bool              known = v->spec->method_given && !v->spec->method_auto;
    none.kind = KN_HIERARCHY_SUPPRESS;
    if (known && kn_method_family(v->spec->method) == KN_FAMILY_PARTITION) return read_by(v, q, &none, err);
    kn_status st = kn_vtree_by_type(&rule, &room, &q->domain, err);
    if (st == KN_OK) st = read_by(v, q, &rule, err);
    kn_arena_free(&room);
    if (st != KN_OK || known || all_named(q)) return st;
    kn_vtree_free(q->tree);
    kn_free(q->cells);
    q->tree = NULL;
    q->cells = NULL;
    q->member_count = 0;
    return read_by(v, q, &none, err);
}

static kn_status prepare_quasi(kn_verifier *v, kn_vquasi *q, kn_error *err)
{
    kn_vrows rows = {v->original->rows, v->dropped};
    KN_TRY(kn_vdomain_make(&q->domain, v->ctx, v->spec, q->attribute, &rows, q->original, q->population, v->zone, err));
    if (!q->attribute->has_hierarchy) return prepare_without(v, q, err);
    return read_by(v, q, &q->attribute->hierarchy, err);
}

static bool needs_tree(const kn_verifier *v, const kn_attribute *a)
{
    for (int i = 0; i < v->spec->model_count; i++) {
        const kn_model *m = &v->spec->models[i];
        if (m->kind == KN_MODEL_T_HIERARCHICAL && m->attribute && strcmp(m->attribute, a->name) == 0) return true;
    }
    return false;
}

static kn_status prepare_copy(kn_verifier *v, kn_vcopy *c, kn_error *err)
{
    kn_vrows rows = {v->original->rows,
                     c->pseudonym ? NULL : v->dropped}; /* persons are numbered as entity_domain does */
    KN_TRY(kn_vdomain_make(&c->domain, v->ctx, v->spec, c->attribute, &rows, c->original, NULL, v->zone, err));
    c->of_release = kn_alloc_array(v->ctx, (size_t)c->release->count + 1, sizeof *c->of_release);
    if (!c->of_release) return no_memory(v, err);
    for (uint32_t t = 0; t < c->release->count; t++)
        c->of_release[t] = kn_vdomain_find(&c->domain, c->release->texts[t]);
    KN_TRY(c->pseudonym ? kn_verify_find_repeats(v, c, err) : kn_verify_spelling(v, c, err));
    if (!needs_tree(v, c->attribute)) return KN_OK;
    if (!c->attribute->has_hierarchy)
        return kn_fail(err, KN_USAGE, "t-closeness: hierarchical distance on column \"%s\" needs a hierarchy",
                       c->attribute->name);
    return kn_vtree_make(&c->tree, v->ctx, c->attribute, &c->domain, err);
}

/* Columns in parallel. */
static kn_status prepare_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    kn_verifier *v = arg;
    for (int64_t i = begin; i < end; i++) {
        if (i < v->quasi_count)
            KN_TRY(prepare_quasi(v, &v->quasi[i], err));
        else
            KN_TRY(prepare_copy(v, &v->copies[i - v->quasi_count], err));
    }
    return KN_OK;
}

/* What the texts of an entity column mean. */
static kn_status entity_domain(kn_verifier *v, const char *name, kn_vdomain *out, kn_error *err)
{
    int          index = kn_spec_find(v->spec, name);
    kn_attribute none = {.name = name, .role = KN_ROLE_SENSITIVE, .type = KN_TYPE_AUTO};
    kn_vrows     rows = {v->original->rows, NULL};
    return kn_vdomain_make(out, v->ctx, v->spec, index < 0 ? &none : &v->spec->attributes[index], &rows,
                           kn_vtable_column(v->original, name), NULL, v->zone, err);
}

/* Several entity columns become one. Rows that lack a part belong to one person, like rows that lack the key of one
 * column. */
static kn_status join_entity(kn_verifier *v, kn_error *err)
{
    size_t      n = (size_t)v->spec->entity_count;
    kn_vdomain *domains = kn_alloc_array_zero(v->ctx, n, sizeof *domains);
    kn_vkey    *keys = kn_alloc_array_zero(v->ctx, n, sizeof *keys);
    kn_vgroups  groups = {0};
    kn_status   st = domains && keys ? KN_OK : no_memory(v, err);
    for (size_t i = 0; i < n && st == KN_OK; i++) {
        st = entity_domain(v, v->spec->entity_columns[i], &domains[i], err);
        keys[i] = (kn_vkey){.column = kn_vtable_column(v->original, v->spec->entity_columns[i]),
                            .translate = domains[i].of_original};
    }
    if (st == KN_OK) st = kn_vgroup(&groups, v->ctx, v->original->rows, v->original->counts, keys, (int)n, err);
    for (int64_t row = 0; st == KN_OK && row < v->original->rows; row++)
        for (size_t i = 0; i < n; i++)
            if (keys[i].translate[kn_vcode(keys[i].column, row)] == KN_V_MISSING) groups.of_row[row] = groups.count;
    if (st == KN_OK) {
        v->joined = (kn_vcolumn){.count = groups.count + 1, .width = 4, .codes = groups.of_row};
        groups.of_row = NULL;
        v->entities = (kn_vdomain){.ctx = v->ctx, .arena = {.ctx = v->ctx}, .count = groups.count};
        v->entities.of_original = kn_varray_none(&v->entities.arena, (size_t)groups.count + 1);
        if (!v->entities.of_original) st = no_memory(v, err);
    }
    for (uint32_t i = 0; st == KN_OK && i <= groups.count; i++)
        v->entities.of_original[i] = i < groups.count ? i : KN_V_MISSING;
    kn_vgroups_free(&groups);
    for (size_t i = 0; domains && i < n; i++) kn_vdomain_free(&domains[i]);
    kn_free(domains);
    kn_free(keys);
    return st;
}

/* The persons: the entity's, or those of the identifier whose pseudonym links rows. */
static kn_status prepare_persons(kn_verifier *v, kn_error *err)
{
    const kn_attribute *link = v->entity ? NULL : kn_verify_link_column(v);
    for (int i = 0; link && i < v->copy_count; i++) {
        if (v->copies[i].attribute != link) continue;
        v->entity = v->copies[i].original;
        v->entity_release = v->copies[i].release;
    }
    if (!v->entity) return KN_OK;
    if (!link && v->spec->entity_count > 1)
        KN_TRY(join_entity(v, err));
    else
        KN_TRY(entity_domain(v, link ? link->name : v->spec->entity_columns[0], &v->entities, err));
    return kn_verify_find_links(v, err);
}

static kn_status prepare(kn_verifier *v, kn_error *err)
{
    KN_TRY(read_population(v, err));
    KN_TRY(kn_verify_dropped(v, err));
    KN_TRY(kn_parallel_for(v->ctx, v->quasi_count + v->copy_count, 1, prepare_range, v, err));
    KN_TRY(kn_verify_open_items(v, err));
    return prepare_persons(v, err);
}

/* ---- All of it ---- */

kn_status kn_verify_judge(kn_verifier *v, kn_error *err)
{
    kn_verify_report *r = v->report;
    KN_TRY(check_declared(v, err));
    bool whole = check_header(v);
    v->report->rows = kn_vtotal(v->release);
    if (whole) KN_TRY(take_counts(v, &whole, err));
    if (!whole) return KN_OK; /* the rest cannot be checked      */
    v->report->rows = kn_vtotal(v->release);
    KN_TRY(find_columns(v, err));
    KN_TRY(prepare(v, err));
    kn_verify_form(v);
    KN_TRY(kn_verify_rows(v, err));
    r->suppressed = v->suppressed;
    r->classes = v->class_count;
    r->linked = v->linked;
    if (v->options->map || v->narrow_map || v->options->map_path)
        KN_TRY(kn_verify_map(v, err));
    else if (!v->where || !v->where->coded)
        KN_TRY(kn_verify_match(v, err));
    KN_TRY(kn_verify_levels(v, err));
    if (v->where && v->where->coded) KN_TRY(kn_verify_coded(v, err));
    if (v->where) KN_TRY(kn_verify_kept(v, err));
    bool counted = false;
    KN_TRY(kn_verify_models(v, &counted, err));
    KN_TRY(kn_verify_items(v, &counted, err));
    KN_TRY(kn_verify_dependencies(v, err));
    KN_TRY(kn_verify_metrics(v, err));
    KN_TRY(kn_verify_summary(v, err));
    if (v->originals == 0)
        kn_vnotes_nobody(v->notes, "rows");
    else
        kn_vnotes_judge(v->notes, counted);
    return KN_OK;
}

static kn_status check(kn_verifier *v, kn_error *err)
{
    KN_TRY(kn_verify_begin(v, err));
    KN_TRY(read_files(v, err));
    return kn_verify_judge(v, err);
}

/* ---- Releases of different persons, taken together ---- */

/* The releases as one table, which is its own original: without suppressed rows, of which nothing is known. */
static kn_status read_together(kn_verifier *v, const char *const *releases, int count, kn_error *err)
{
    const char   **names = kn_arena_array(&v->arena, (size_t)v->spec->attribute_count + 1, sizeof *names);
    kn_csv_options csv = KN_CSV_OPTIONS_INIT;
    if (!names) return no_memory(v, err);
    int              named = wanted_names(v->spec, names);
    kn_vread_options read = {.csv = &csv,
                             .columns = names,
                             .column_count = named,
                             .header = names,
                             .header_count = named,
                             .guarded = v->spec->spreadsheet_safe};
    KN_TRY(kn_vtogether_read(v, releases, count, &read, err));
    v->original = v->release;
    return KN_OK;
}

static kn_status check_together(kn_verifier *v, const char *const *releases, int count, kn_error *err)
{
    bool        counted = false;
    const char *counts = v->spec->expand ? NULL : v->spec->csv.count;
    KN_TRY(kn_verify_begin(v, err));
    KN_TRY(read_together(v, releases, count, err));
    if (counts) KN_TRY(kn_verify_count_original(v, &v->spec->attributes[kn_spec_find(v->spec, counts)], err));
    KN_TRY(find_columns(v, err));
    v->originals = kn_vtotal(v->release);
    KN_TRY(kn_verify_starred(v, err));
    if (v->spec->suppressed == KN_SUPPRESSED_STAR) v->dropped = v->starred;
    for (int i = 0; i < v->copy_count; i++)
        if (!v->copies[i].pseudonym) KN_TRY(prepare_copy(v, &v->copies[i], err));
    KN_TRY(kn_verify_group(v, err));
    v->report->rows = v->originals;
    v->report->suppressed = v->suppressed;
    v->report->classes = v->class_count;
    v->report->assignment = KN_ASSIGNMENT_PROVED; /* of each release, when it was made */
    KN_TRY(kn_verify_models(v, &counted, err));
    kn_vnotes_judge(v->notes, counted);
    return KN_OK;
}

void kn_verifier_free(kn_verifier *v)
{
    for (int i = 0; i < v->quasi_count; i++) {
        kn_vtable_free(v->quasi[i].people);
        kn_vdomain_free(&v->quasi[i].domain);
        kn_vtree_free(v->quasi[i].tree);
        kn_free(v->quasi[i].cells);
        kn_free(v->quasi[i].members);
        kn_free(v->quasi[i].text_levels);
    }
    for (int i = 0; i < v->copy_count; i++) {
        kn_vdomain_free(&v->copies[i].domain);
        kn_vtree_free(v->copies[i].tree);
        kn_free(v->copies[i].of_release);
        kn_free(v->copies[i].exact);
    }
    kn_vdomain_free(&v->entities);
    kn_free(v->joined.codes);
    kn_free(v->own_map);
    kn_verify_close_items(v);
    kn_arena_free(&v->arena);
    kn_vgroups_free(&v->classes);
    if (v->original != v->release) kn_vtable_free(v->original);
    kn_vtable_free(v->release);
    kn_vtable_free(v->population);
    kn_timezone_free(v->zone);
}

static kn_status check_originals(kn_context *ctx, const kn_spec *spec, const kn_verify_options *o, kn_error *err)
{
    return kn_once_check(ctx, o->originals ? o->originals : spec->inputs,
                         o->originals ? o->original_count : spec->input_count, err);
}

kn_status kn_verify_narrow(kn_verify_report **out, kn_context *ctx, const kn_spec *spec,
                           const kn_verify_options *options, const uint32_t *map, int64_t count, kn_error *err)
{
    *out = NULL;
    KN_SERVE(ctx, err);
    KN_OPTIONS(kn_verify_options, KN_VERIFY_OPTIONS_INIT, options, "verification options", err);
    KN_TRY(kn_spec_check_one_table(spec, NULL, err));
    KN_TRY(kn_vrowmap_once(options->map, options->map_path, err));
    KN_TRY(check_originals(ctx, spec, options, err));
    bool taken = false;
    KN_TRY(kn_verify_large(out, &taken, ctx, spec, options, err));
    if (taken) return KN_OK;
    kn_verifier v = {
        .ctx = ctx, .spec = spec, .options = options, .arena = {.ctx = ctx}, .narrow_map = map, .narrow_count = count};
    kn_status st = kn_verify_in_time(ctx, v.options->time_limit, check(&v, err), err);
    kn_verifier_free(&v);
    if (st == KN_OK)
        *out = v.report;
    else
        kn_verify_report_free(v.report);
    return st;
}

kn_status kn_verify(kn_verify_report **out, kn_context *ctx, const kn_spec *spec, const kn_verify_options *options,
                    kn_error *err)
{
    return kn_verify_narrow(out, ctx, spec, options, NULL, 0, err);
}

kn_status kn_verify_together_by(kn_verify_report **out, kn_context *ctx, const kn_spec *spec,
                                const kn_connection *engine, const char *const *releases, int count, kn_error *err)
{
    *out = NULL;
    KN_TRY(kn_spec_check_one_table(spec, NULL, err));
    if (count < 1) return kn_fail(err, KN_USAGE, "no release was given");
    KN_TRY(kn_once_check(ctx, releases, count, err));
    if (spec->entity_count > 0)
        return kn_fail(err, KN_USAGE,
                       "releases do not say whose row is whose, and persons are promised to be counted "
                       "(entity): what several releases tell together is not known");
    if (kn_spec_items_column(spec))
        return kn_fail(err, KN_USAGE,
                       "column \"%s\" is a set: what several releases tell together of sets is not known",
                       kn_spec_items_column(spec)->name);
    kn_verify_options options = KN_VERIFY_OPTIONS_INIT;
    kn_spec           all = *spec;
    kn_engine_table   table = {.connection = engine};
    kn_vwhere         where = {.release = {.table = &table}};
    all.suppression_is_count = false; /* each release has kept its budget */
    all.suppression = (kn_fraction){1, 1};
    all.population = NULL;
    kn_verifier v = {
        .ctx = ctx, .spec = &all, .options = &options, .arena = {.ctx = ctx}, .where = engine ? &where : NULL};
    kn_status st = check_together(&v, releases, count, err);
    kn_verifier_free(&v);
    if (st == KN_OK)
        *out = v.report;
    else
        kn_verify_report_free(v.report);
    return st;
}

kn_status kn_verify_together(kn_verify_report **out, kn_context *ctx, const kn_spec *spec, const char *const *releases,
                             int count, kn_error *err)
{
    *out = NULL;
    KN_SERVE(ctx, err);
    return kn_verify_together_by(out, ctx, spec, NULL, releases, count, err);
}
