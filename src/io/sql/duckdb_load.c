/* sql/duckdb_load.c: finding libduckdb, and the functions in it. Interface: kn_duckdb_api.h.
 *
 * Looked for, in this order: the file that KANON_DUCKDB names; a DuckDB that the process has already loaded, as a program
 * in Python with the module duckdb has; the loader's own path; the folder that `scripts/setup big` fills. Neither the
 * program nor the library is linked with it: without it everything works that does not need it.
 *
 * Cost: some 20 ms the first time, for 70 MB that are mapped; then microseconds.
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_duckdb_api.h"
#include "kn_error.h"

#define INSTALL "install it with 'scripts/setup big', or name the file in KANON_DUCKDB"

/* The versions whose C API is known: from the first with Arrow's batches up to the next break. */
enum { LEAST_MAJOR = 1, LEAST_MINOR = 4, MOST_MAJOR = 2 };

static const struct {
    const char *name;
    size_t      offset; /* of its member */
} functions[] = {
#define ENTRY(result, function, arguments) {"duckdb_" #function, offsetof(kn_duckdb_api, function)},
    KN_DUCKDB_FUNCTIONS(ENTRY)
#undef ENTRY
};

static void *load(const char *path, int more)
{
    return dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE | more); /* its threads outlive every use */
}

/* A library of the process whose name says DuckDB and that has its functions. */
static int look(struct dl_phdr_info *info, size_t size, void *found)
{
    const char *slash = strrchr(info->dlpi_name, '/');
    (void)size;
    if (!strstr(slash ? slash : info->dlpi_name, "duckdb")) return 0;
    void *handle = load(info->dlpi_name, RTLD_NOLOAD);
    if (handle && dlsym(handle, functions[0].name)) {
        *(void **)found = handle;
        return 1;
    }
    if (handle) (void)dlclose(handle);
    return 0;
}

static void *find(const char **named, char why[static 512])
{
    void       *handle = NULL;
    char        path[PATH_MAX];
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    *named = getenv("KANON_DUCKDB");
    if (*named && **named) {
        handle = load(*named, 0);
        const char *reason = handle ? NULL : dlerror();
        snprintf(why, 512, "%s", reason ? reason : "");
        return handle;
    }
    *named = NULL;
    (void)dl_iterate_phdr(look, &handle);
    if (!handle) handle = load("libduckdb.so", 0);
    if (handle) return handle;
    if (data && *data)
        snprintf(path, sizeof path, "%s/kanon/libduckdb.so", data);
    else
        snprintf(path, sizeof path, "%s/.local/share/kanon/libduckdb.so", home ? home : "");
    handle = load(path, 0);
    const char *reason = handle ? NULL : dlerror();
    snprintf(why, 512, "%s", reason ? reason : "");
    return handle;
}

static kn_status check_version(const kn_duckdb_api *api, const char *what, kn_error *err)
{
    const char *version = api->library_version();
    int         major = 0, minor = 0;
    if (!version || sscanf(version, "v%d.%d", &major, &minor) != 2)
        return kn_fail(err, KN_IO, "%.300s: libduckdb does not say which version it is; " INSTALL, what);
    if (major < LEAST_MAJOR || (major == LEAST_MAJOR && minor < LEAST_MINOR) || major > MOST_MAJOR)
        return kn_fail(err, KN_IO, "%.300s: libduckdb is of version %.40s, and kanon knows %d.%d to %d.x; " INSTALL,
                       what, version, LEAST_MAJOR, LEAST_MINOR, MOST_MAJOR);
    return KN_OK;
}

kn_status kn_duckdb_load(kn_duckdb_api *out, const char *what, kn_error *err)
{
    char        why[512] = "";
    const char *named = NULL;
    void       *handle = find(&named, why);
    if (!handle) {
        return kn_fail(err, KN_IO, "%.300s: needs libduckdb, which cannot be loaded (%s); %s", what, why,
                       named ? "mend KANON_DUCKDB" : INSTALL);
    }
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *found = dlsym(handle, functions[i].name);
        if (!found)
            return kn_fail(err, KN_IO, "%.300s: needs libduckdb, and %.300s has no function %s; " INSTALL, what,
                           named ? named : "the one that was found", functions[i].name);
        memcpy((char *)out + functions[i].offset, &found, sizeof found); /* ISO C has no cast from one to the other */
    }
    return check_version(out, what, err);
}
