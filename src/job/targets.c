/* targets.c: nothing that is read is overwritten. Interface: kn_targets.h.
 *
 * In a database in a folder every table's file counts as read, whether the release file lists it or not.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_targets.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "kn_arena.h"
#include "kn_error.h"
#include "kn_folder.h"
#include "kn_parts.h"
#include "kn_set.h"
#include "kn_table_name.h"

typedef struct checking {
    kn_context    *ctx;
    kn_arena       scratch;
    const kn_spec *spec;
    const char    *target, *what; /* current: a file that is written, and its role     */
} checking;

bool kn_targets_same(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The folder of a path; NULL: out of memory. */
static const char *folder_of(checking *c, const char *path)
{
    size_t size = (size_t)(name_of(path) - path);
    return size > 0 ? kn_arena_strndup(&c->scratch, path, size) : ".";
}

/* Do two paths name the same file, existing or not? */
static bool same_name(checking *c, const char *a, const char *b)
{
    if (strcmp(a, b) == 0 || kn_targets_same(a, b)) return true;
    if (strcmp(name_of(a), name_of(b)) != 0) return false;
    const char *folder_a = folder_of(c, a), *folder_b = folder_of(c, b);
    return folder_a && folder_b && kn_targets_same(folder_a, folder_b);
}

/* A Parquet file below the root of a folder or pattern of such files would be part of the table. */
static kn_status check_parts(checking *c, const char *path, const char *what, kn_error *err)
{
    size_t size = kn_parts_root(path);
    if (!kn_parts_is_parquet(c->target) || (path[size] == '\0' && !kn_parts_folder(path))) return KN_OK;
    char *root = kn_arena_strndup(&c->scratch, size > 0 ? path : ".", size > 0 ? size : 1);
    char *at = kn_arena_strndup(&c->scratch, c->target, strlen(c->target));
    if (!root || !at) return kn_fail_memory(err, c->ctx, "looking at the files of a release");
    for (char *slash = strrchr(at, '/'); slash && slash > at; slash = strrchr(at, '/')) {
        *slash = '\0';
        if (kn_targets_same(at, root))
            return kn_fail(err, KN_USAGE, "%s: %s would be a part of %s", c->target, c->what, what);
    }
    if (kn_targets_same(root, ".") && c->target[0] != '/')
        return kn_fail(err, KN_USAGE, "%s: %s would be a part of %s", c->target, c->what, what);
    return KN_OK;
}

static kn_status check_read(checking *c, const char *path, const char *what, kn_error *err)
{
    if (!path || strcmp(path, "-") == 0) return KN_OK;
    kn_string file = kn_table_file(path);
    path = kn_arena_strndup(&c->scratch, file.data, file.size);
    if (!path) return kn_fail_memory(err, c->ctx, "looking at the files of a release");
    if (!*path) return KN_OK; /* a server's */
    KN_TRY(check_parts(c, path, what, err));
    const char *around = folder_of(c, c->target);
    if (around && kn_spec_shape(c->spec) == KN_SHAPE_RECORDS && c->spec->table_count == 0 &&
        kn_targets_same(around, path)) /* of a folder all files are read */
        return kn_fail(err, KN_USAGE, "%s: %s would be a part of %s", c->target, c->what, what);
    const char *folder = kn_folder_is_table(name_of(c->target)) ? around : NULL;
    if (same_name(c, c->target, path) || (folder && kn_targets_same(folder, path)))
        return kn_fail(err, KN_USAGE, "%s: %s would overwrite %s", c->target, c->what, what);
    return KN_OK;
}

static kn_status check_hierarchy(checking *c, bool there, const kn_hierarchy_spec *h, kn_error *err)
{
    bool file = there && (h->kind == KN_HIERARCHY_FILE || h->kind == KN_HIERARCHY_TAXONOMY);
    return file ? check_read(c, h->path, "a hierarchy", err) : KN_OK;
}

static kn_status check_attributes(checking *c, const kn_attribute *attributes, int count, kn_error *err)
{
    for (int i = 0; i < count; i++) {
        KN_TRY(check_hierarchy(c, attributes[i].has_hierarchy, &attributes[i].hierarchy, err));
        KN_TRY(check_read(c, attributes[i].hierarchy.population, "a population", err));
        KN_TRY(check_read(c, attributes[i].pseudonym_key_file, "a key", err));
    }
    return KN_OK;
}

static kn_status check_target(checking *c, const char *target, const char *what, kn_error *err)
{
    const kn_spec *spec = c->spec;
    c->target = target;
    c->what = what;
    for (int i = 0; i < spec->input_count; i++) KN_TRY(check_read(c, spec->inputs[i], "an input", err));
    KN_TRY(check_read(c, spec->population, "the population", err));
    KN_TRY(check_read(c, spec->path, "the release file", err));
    KN_TRY(check_read(c, spec->workload, "the queries", err));
    KN_TRY(check_attributes(c, spec->attributes, spec->attribute_count, err));
    for (int t = 0; t < spec->table_count; t++)
        KN_TRY(check_attributes(c, spec->tables[t].attributes, spec->tables[t].attribute_count, err));
    for (int i = 0; i < spec->class_count; i++)
        KN_TRY(check_hierarchy(c, spec->classes[i].has_hierarchy, &spec->classes[i].hierarchy, err));
    return KN_OK;
}

static kn_status check_all(checking *c, const char *base, kn_error *err)
{
    static const char *const suffixes[] = {"",
                                           KN_CERTIFICATE_SUFFIX,
                                           KN_PRIVATE_SUFFIX,
                                           KN_ROWMAP_SUFFIX,
                                           KN_SUMMARY_SUFFIX,
                                           KN_RECIPE_SUFFIX,
                                           KN_LABELS_SUFFIX};
    static const char *const names[] = {"the output",  "the certificate", "the private file", "the row map",
                                        "the summary", "the recipe",      "the labels"};
    static const char *const pages[] = {"the report", "the public report"};
    const char              *reports[] = {c->spec->report, c->spec->public_report};
    for (int p = 0; p < 2; p++)
        if (reports[p] && strcmp(reports[p], "-") == 0) reports[p] = NULL;
    for (int i = 0; i < (int)(sizeof names / sizeof *names) && base; i++) {
        size_t room = strlen(base) + strlen(suffixes[i]) + 1;
        char  *target = kn_arena_alloc(&c->scratch, room);
        if (!target) return kn_fail_memory(err, c->ctx, "looking at the files of a release");
        snprintf(target, room, "%s%s", base, suffixes[i]);
        KN_TRY(check_target(c, target, names[i], err));
        for (int p = 0; p < 2; p++)
            if (reports[p] && same_name(c, target, reports[p]))
                return kn_fail(err, KN_USAGE, "%s: %s would overwrite %s", reports[p], pages[p], names[i]);
    }
    if (reports[0] && reports[1] && same_name(c, reports[0], reports[1]))
        return kn_fail(err, KN_USAGE, "%s: the report and the public report are the same file", reports[1]);
    for (int p = 0; p < 2; p++)
        if (reports[p]) KN_TRY(check_target(c, reports[p], pages[p], err));
    return KN_OK;
}

kn_status kn_targets_check(kn_context *ctx, const kn_spec *spec, const char *base, kn_error *err)
{
    checking c = {.ctx = ctx, .spec = spec};
    kn_arena_init(&c.scratch, ctx);
    kn_status status = check_all(&c, base, err);
    kn_arena_free(&c.scratch);
    return status == KN_OK ? kn_target_name_check(spec, err) : status;
}
