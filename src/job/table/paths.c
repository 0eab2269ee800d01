/* table/paths.c: the files of a run: everything can be read twice, and the output exists before anything is read.
 *
 * The verifier reads the inputs again from their bytes. Standard input, a pipe or a device is therefore first copied,
 * unchanged, into an unnamed file (created with mode 0600 in TMPDIR or /tmp and unlinked at once), which is opened
 * again through /proc/self/fd. So are the rows of a query, which may come in another order the next time.
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kn_alloc.h"
#include "kn_columnar.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_memory.h"
#include "kn_once.h"
#include "kn_parts.h"
#include "kn_table_run.h"
#include "kn_targets.h"

enum { COPY = 1 << 18 };

/* ---- Streams ---- */

static bool is_stream(const kn_context *ctx, const char *path)
{
    struct stat info;
    if (ctx && kn_memory_is(ctx, path)) return false;
    return strcmp(path, "-") == 0 || (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode));
}

static int private_file(void)
{
    const char *folder = getenv("TMPDIR");
    char        path[PATH_MAX];
    if (!folder || !*folder) folder = "/tmp";
    if (snprintf(path, sizeof path, "%s/kanon-XXXXXX", folder) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0) unlink(path);
    return fd;
}

static kn_status copy_stream(kn_table_run *run, int from, const kn_spool *spool, char *buffer, kn_error *err)
{
    for (;;) {
        if (kn_cancelled(run->all.ctx)) return kn_fail_cancelled(err);
        ssize_t n = read(from, buffer, COPY);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return kn_fail(err, KN_IO, "%s: cannot read: %s", spool->alias.name, strerror(errno));
        if (n == 0) return KN_OK;
        for (ssize_t done = 0; done < n;) {
            ssize_t w = write(spool->fd, buffer + done, (size_t)(n - done));
            if (w < 0 && errno != EINTR)
                return kn_fail(err, KN_IO, "%s: the copy that the verifier reads cannot be written: %s",
                               spool->alias.name, strerror(errno));
            if (w > 0) done += w;
        }
    }
}

/* Copies a stream and sets *path to the copy's path. */
static kn_status spool_stream(kn_table_run *run, const char **path, kn_error *err)
{
    kn_spool   *spool = &run->spools[run->spool_count];
    bool        standard = strcmp(*path, "-") == 0;
    const char *name = *path;
    *spool =
        (kn_spool){.fd = private_file(), .alias = {.path = spool->path, .name = kn_path_name(run->all.ctx, *path)}};
    if (spool->fd < 0)
        return kn_fail(err, KN_IO, "%s: the copy that the verifier reads cannot be created: %s", spool->alias.name,
                       strerror(errno));
    run->spool_count++;
    kn_alias_add(run->all.ctx, &spool->alias);
    snprintf(spool->path, sizeof spool->path, "/proc/self/fd/%d", spool->fd);
    *path = spool->path;
    if (kn_columnar_volatile(name)) return kn_columnar_copy(run->all.ctx, name, spool->path, err);
    int from = standard ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC);
    if (from < 0) return kn_fail(err, KN_IO, "%s: cannot open: %s", spool->alias.name, strerror(errno));
    char     *buffer = kn_alloc(run->all.ctx, COPY);
    kn_status st =
        buffer ? copy_stream(run, from, spool, buffer, err) : kn_fail_memory(err, run->all.ctx, spool->alias.name);
    kn_free(buffer);
    if (!standard) close(from);
    if (st == KN_OK && access(spool->path, R_OK) != 0)
        st = kn_fail(err, KN_IO, "%s: must be read twice, which needs /proc; give a file", spool->alias.name);
    return st;
}

kn_status kn_table_run_check_streams(const kn_spec *spec, kn_error *err)
{
    int standard = spec->population && strcmp(spec->population, "-") == 0;
    for (int i = 0; i < spec->input_count; i++) standard += strcmp(spec->inputs[i], "-") == 0;
    if (standard > 1) return kn_fail(err, KN_USAGE, "standard input can be read once only");
    for (int i = 0; i < spec->attribute_count; i++) {
        const kn_attribute *a = &spec->attributes[i];
        if (a->has_hierarchy && a->hierarchy.path && is_stream(NULL, a->hierarchy.path))
            return kn_fail(err, KN_USAGE, "column \"%s\": its hierarchy is read twice and must be a file", a->name);
        if (a->hierarchy.population && is_stream(NULL, a->hierarchy.population))
            return kn_fail(err, KN_USAGE, "column \"%s\": its population is read twice and must be a file", a->name);
    }
    return KN_OK;
}

kn_status kn_table_run_spool(kn_table_run *run, kn_error *err)
{
    const kn_spec *spec = run->all.spec;
    size_t         count = (size_t)spec->input_count;
    run->effective = *spec;
    run->inputs = kn_release_alloc(&run->all, &run->all.scratch, count, sizeof *run->inputs, err);
    run->spools = kn_release_alloc(&run->all, &run->all.scratch, count + 1, sizeof *run->spools, err);
    if (!run->inputs || !run->spools) return KN_MEMORY;
    KN_TRY(kn_once_check(run->all.ctx, spec->inputs, spec->input_count, err));
    for (int i = 0; i < spec->input_count; i++) {
        run->inputs[i] = spec->inputs[i];
        if (is_stream(run->all.ctx, run->inputs[i]) || kn_columnar_volatile(run->inputs[i]))
            KN_TRY(spool_stream(run, &run->inputs[i], err));
    }
    run->effective.inputs = run->inputs;
    if (spec->population && (is_stream(run->all.ctx, spec->population) || kn_columnar_volatile(spec->population)))
        KN_TRY(spool_stream(run, &run->effective.population, err));
    return kn_release_originals(&run->all, spec->inputs, run->inputs, spec->input_count, true, err);
}

/* ---- The output ---- */

/* For a stream: a name that nobody can predict, since a link planted there would be followed. */
static kn_status open_nameless(kn_table_run *run, kn_error *err)
{
    const char *said = getenv("TMPDIR"), *folder = said && *said ? said : "/tmp";
    char        path[1000];
    if (sodium_init() < 0) return kn_fail(err, KN_INTERNAL, "libsodium could not be initialized");
    snprintf(path, sizeof path, "%.900s/kanon-%08x%08x", folder, (unsigned)randombytes_random(),
             (unsigned)randombytes_random());
    kn_status st = kn_output_open(&run->all.output, run->all.ctx, path, &(kn_output_options){.mode = 0600}, err);
    if (st == KN_IO) /* the user does not know that file              */
        return kn_fail(err, KN_IO, "%s: the copy that the verifier reads cannot be created in %.900s",
                       strcmp(run->all.spec->output, "-") == 0 ? "(standard output)" : run->all.spec->output, folder);
    if (st != KN_OK) return st;
    unlink(kn_output_temporary(run->all.output));
    snprintf(run->release_path, sizeof run->release_path, "/proc/self/fd/%d", kn_output_fd(run->all.output));
    return KN_OK;
}

/* The set of an output whose name is not what the names of the files beside it begin with. */
static kn_status open_set(kn_release_run *all, kn_error *err)
{
    char *base = NULL;
    KN_TRY(kn_set_base(&base, all->ctx, all->spec->output, err));
    all->base = kn_release_text(all, base, err);
    kn_free(base);
    if (!all->base) return KN_MEMORY;
    KN_TRY(kn_targets_check(all->ctx, all->spec, all->base, err));
    return kn_set_open(&all->set, all->ctx, all->spec->output, err);
}

/* A folder of parts. */
static kn_status open_parts(kn_release_run *all, kn_error *err)
{
    kn_database_writer *writer = NULL;
    KN_TRY(kn_columnar_ready(all->ctx, all->spec->output, err));
    KN_TRY(open_set(all, err));
    KN_TRY(kn_parts_writer_open(&all->output, &writer, all->ctx, all->spec->output, err));
    kn_set_database(all->set, writer);
    return KN_OK;
}

/* A table of a server or a SQLite file. */
static kn_status open_table(kn_table_run *run, kn_error *err)
{
    kn_release_run     *all = &run->all;
    kn_database_writer *writer = NULL;
    bool                shared = false;
    kn_table_target     target = {all->spec->replace, all->spec->inputs, all->spec->input_count, &shared};
    if (all->spec->spreadsheet_safe)
        return kn_fail(err, KN_USAGE, "spreadsheet-safe is for CSV, and the output is no such file; leave it out");
    KN_TRY(open_set(all, err));
    KN_TRY(kn_table_writer_open(&run->target, &writer, all->ctx, all->spec->output, &target, err));
    kn_set_database(all->set, writer);
    all->output = kn_table_writer_output(run->target);
    if (!shared) return KN_OK;
    return kn_release_note(
        all, err,
        "the file that the release is a table of has other tables: publish a copy of the table, not the file");
}

/* An engine writes the release itself; what stands beside it is in memory, and so is a file without content that stands for it. */
static kn_status open_engine(kn_release_run *all, kn_error *err)
{
    if (all->spec->spreadsheet_safe)
        return kn_fail(err, KN_USAGE, "spreadsheet-safe is for CSV, and the output is no such file; leave it out");
    KN_TRY(open_set(all, err));
    return kn_set_create(all->set, &all->output, KN_SET_RELEASE, all->base, err);
}

kn_status kn_table_run_open(kn_release_run *all, kn_error *err)
{
    kn_table_run *run = kn_table_run_of(all);
    bool          stream = is_stream(all->ctx, all->spec->output);
    if (kn_target_in_engine(all->spec)) return open_engine(all, err);
    if (kn_target_is_table(all->spec)) return open_table(run, err);
    if (kn_target_in_parts(all->spec)) return open_parts(all, err);
    if (stream && all->spec->keep_recipe)
        return kn_fail(err, KN_USAGE, "a recipe stands beside a release that is a file; name one as the output");
    KN_TRY(kn_targets_check(all->ctx, all->spec, stream ? NULL : all->spec->output, err));
    if (kn_target_is_parquet(all->spec)) KN_TRY(kn_columnar_ready(all->ctx, all->spec->output, err));
    KN_TRY(kn_set_open(&all->set, all->ctx, stream ? NULL : all->spec->output, err));
    if (stream) return open_nameless(run, err);
    all->base = all->spec->output;
    return kn_set_create(all->set, &all->output, KN_SET_RELEASE, NULL, err);
}
