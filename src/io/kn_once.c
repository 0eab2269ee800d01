/* kn_once.c: inputs that are one table are each another one. Interface: kn_once.h.
 *
 * A file is told by its device and number, so that links do not hide it; a table in a file by its name besides, and one of
 * a server by all words of its name. Cost: one system call per file.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_once.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "kn_alloc.h"
#include "kn_arena.h"
#include "kn_buffer.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_memory.h"
#include "kn_names.h"
#include "kn_parts.h"
#include "kn_table_name.h"

typedef struct input {
    dev_t       device; /* of the file; both 0: it is in none              */
    ino_t       number;
    const char *part;  /* the table or query in it; "": all that is there */
    const char *shown; /* what a message names                            */
    int         index;
} input;

typedef struct inputs {
    kn_context *ctx;
    kn_arena    arena;
    kn_buffer   list;    /* of struct input */
    const char *pattern; /* of the name whose parts are added; NULL: all of a folder */
    size_t      root;    /* of its first folder                                      */
    int         index;
} inputs;

static bool add(inputs *in, const struct stat *file, const char *part, const char *shown)
{
    input one = {.part = part, .index = in->index};
    one.shown = kn_arena_strndup(&in->arena, shown, strlen(shown));
    if (file) {
        one.device = file->st_dev;
        one.number = file->st_ino;
    }
    kn_buffer_append(&in->list, &one, sizeof one);
    return part && one.shown;
}

/* Is it below a folder that is a link? DuckDB passes these over where it looks into all folders. */
static bool is_linked(const char *path, size_t root)
{
    char        folder[PATH_MAX];
    struct stat info;
    for (const char *end = strchr(path + root, '/'); end; end = strchr(end + 1, '/')) {
        if (end == path + root) continue;
        snprintf(folder, sizeof folder, "%.*s", (int)(end - path), path);
        if (lstat(folder, &info) == 0 && S_ISLNK(info.st_mode)) return true;
    }
    return false;
}

static bool add_part(void *arg, const char *path)
{
    inputs     *in = arg;
    struct stat file;
    bool        all = !in->pattern || strstr(in->pattern, "**");
    if (stat(path, &file) != 0 || (in->pattern && !kn_parts_matches(in->pattern, path))) return true;
    return (all && is_linked(path, in->root)) || add(in, &file, "", path);
}

static void put_name(kn_buffer *to, kn_context *ctx, kn_string quoted, bool fold)
{
    char *name = kn_table_unquote(ctx, quoted);
    for (char *c = name; c && *c && fold; c++)
        if (*c >= 'A' && *c <= 'Z') *c = (char)(*c + ('a' - 'A'));
    kn_buffer_add(to, name ? name : "");
    if (!name) to->failed = true;
    kn_free(name);
}

/* Names of tables as they are meant: without quotes, and of SQLite, which knows no letter case, in small letters. */
static const char *part_of(inputs *in, const char *name, kn_table_kind kind)
{
    kn_name_parts parts = kn_table_name_split(name);
    kn_string     schema = {0}, table = parts.query.data ? parts.query : parts.table;
    kn_buffer     text;
    kn_buffer_init(&text, in->ctx);
    if (kind == KN_TABLE_SERVER) {
        const char *words = kn_name_server(name);
        kn_buffer_append(&text, words, parts.source.size - (size_t)(words - name));
        if (!parts.query.data && kn_table_parts(parts.table, &schema, &table)) {
            kn_buffer_char(&text, '#');
            put_name(&text, in->ctx, schema, false);
        }
    }
    if (parts.query.data) {
        kn_buffer_char(&text, '?');
        kn_buffer_append(&text, table.data, table.size);
    } else if (table.data) {
        if (kind == KN_TABLE_SERVER) kn_buffer_char(&text, '#');
        put_name(&text, in->ctx, table, kind == KN_TABLE_SQLITE);
    }
    const char *out = kn_buffer_text(&text) ? kn_arena_strndup(&in->arena, text.data, text.size) : NULL;
    kn_buffer_free(&text);
    return out;
}

static bool add_parts(inputs *in, const char *name)
{
    in->root = kn_parts_root(name);
    in->pattern = name[in->root] ? name : NULL;
    kn_parts_each(name, in->root, add_part, in);
    return !in->arena.failed;
}

static bool add_input(inputs *in, const char *name)
{
    kn_table_kind kind = kn_table_kind_of(name);
    kn_string     place = kn_table_file(name);
    const char   *shown = kn_path_name(in->ctx, name);
    char          path[PATH_MAX];
    struct stat   file;
    if (kind == KN_TABLE_SERVER) return add(in, NULL, part_of(in, name, kind), shown);
    if (kind == KN_TABLE_TEXT && !kn_memory_is(in->ctx, name) && (kn_parts_folder(name) || name[kn_parts_root(name)]))
        return add_parts(in, name);
    if (kind == KN_TABLE_TEXT || kind == KN_TABLE_STATISTICS) place = kn_string_of(kn_memory_path(in->ctx, name));
    snprintf(path, sizeof path, "%.*s", place.size < sizeof path ? (int)place.size : 0, place.data);
    if (stat(path, &file) != 0 || !S_ISREG(file.st_mode)) return true; /* for the reader to judge */
    bool within = kind == KN_TABLE_SQLITE || kind == KN_TABLE_WORKBOOK;
    return add(in, &file, within ? part_of(in, name, kind) : "", shown);
}

static int compare(const void *a, const void *b)
{
    const input *x = a, *y = b;
    if (x->device != y->device) return x->device < y->device ? -1 : 1;
    if (x->number != y->number) return x->number < y->number ? -1 : 1;
    int by = strcmp(x->part, y->part);
    if (by == 0) by = x->index - y->index;
    return by ? by : strcmp(x->shown, y->shown);
}

/* One without a part, of which there is one per file, comes first; a workbook with one sheet may or may not name it. */
static bool is_same(const input *x, const input *y)
{
    return x->device == y->device && x->number == y->number && (!*x->part || strcmp(x->part, y->part) == 0);
}

static kn_status check(inputs *in, kn_error *err)
{
    input *list = (input *)in->list.data;
    size_t count = in->list.size / sizeof *list;
    if (count > 1) qsort(list, count, sizeof *list, compare);
    for (size_t i = 1; i < count; i++)
        if (is_same(&list[i - 1], &list[i]))
            return kn_fail(err, KN_USAGE, "%s: is in the input twice; its rows would count as those of other people",
                           list[i].shown);
    return KN_OK;
}

kn_status kn_once_check(kn_context *ctx, const char *const *names, int count, kn_error *err)
{
    inputs in = {.ctx = ctx, .arena = {.ctx = ctx}};
    bool   added = true;
    kn_buffer_init(&in.list, ctx);
    for (; added && in.index < count; in.index++) added = add_input(&in, names[in.index]);
    kn_status st = added && !in.list.failed ? check(&in, err) : kn_fail_memory(err, ctx, "looking for the inputs");
    kn_arena_free(&in.arena);
    kn_buffer_free(&in.list);
    return st;
}
