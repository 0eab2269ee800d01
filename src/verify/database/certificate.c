/* database/certificate.c: the certificate inside a released folder. It is published with the tables, so it must
 * belong to them: it has the keys of a certificate of a database, and names each file with its SHA-256. Any other
 * file with its name is forbidden. Its promises and figures are not judged here. Cost: one reading of the files'
 * bytes.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_extras.h"
#include "kn_memory.h"
#include "kn_verify_database.h"

static bool is_key_of_records(const char *key)
{
    static const char *const keys[] = {"classes_of_nodes", "records", "nodes", "relations", "values"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(keys[i], key) == 0) return true;
    return false;
}

static bool is_key(const char *key)
{
    static const char *const keys[] = {"kanon-certificate", "shape", "method",  "options", "requested", "tables",
                                       "persons",           "k",     "classes", "sizes",   "metrics",   "models",
                                       "verified",          "files", "version"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(keys[i], key) == 0) return true;
    return false;
}

static bool is_certificate(json_t *c, bool records)
{
    const char *key, *shape = json_string_value(json_object_get(c, "shape"));
    json_t     *value;
    json_object_foreach(c, key, value) if (!is_key(key) && !(records && is_key_of_records(key))) return false;
    return shape && strcmp(shape, records ? "records" : "database") == 0 &&
           json_integer_value(json_object_get(c, "kanon-certificate")) == 2;
}

/* Is the file listed, by its name and bytes? */
static bool lists(const kn_vdb *v, const json_t *files, const char *path)
{
    const char *slash = strrchr(path, '/');
    char        digest[65] = "";
    kn_vdigest_file(kn_memory_path(v->ctx, path), digest);
    for (size_t i = 0; i < json_array_size(files); i++) {
        const json_t *file = json_array_get(files, i);
        const char   *name = json_string_value(json_object_get(file, "name"));
        const char   *sha256 = json_string_value(json_object_get(file, "sha256"));
        if (name && sha256 && strcmp(name, slash ? slash + 1 : path) == 0)
            return json_object_size(file) == 2 && strcmp(sha256, digest) == 0;
    }
    return false;
}

static kn_status is_theirs(kn_vdb *v, json_t *c, bool *theirs, kn_error *err)
{
    const json_t   *files = json_object_get(c, "files");
    const kn_cells *cells = v->release.cells;
    int             count = v->release.count;
    *theirs = is_certificate(c, kn_spec_shape(v->spec) == KN_SHAPE_RECORDS) && json_array_size(files) == (size_t)count;
    for (int t = 0; t < count && *theirs; t++) {
        char *path = NULL;
        KN_TRY(cells->file(cells->state, &path, v->release.list[t].name, err));
        *theirs = path && lists(v, files, path);
        kn_free(path);
    }
    return KN_OK;
}

kn_status kn_vdb_certificate(kn_vdb *v, const char *folder, kn_error *err)
{
    size_t    size = strlen(folder) + sizeof "/certificate.json";
    char     *path = kn_vdb_take(v, size, 1);
    bool      theirs = false;
    kn_status st = KN_OK;
    if (!path) return kn_vdb_no_memory(v, err);
    snprintf(path, size, "%s/certificate.json", folder);
    const char *place = kn_memory_path(v->ctx, path);
    if (access(place, F_OK) != 0) return KN_OK;
    json_t *c = json_load_file(place, JSON_REJECT_DUPLICATES, NULL);
    if (c) st = is_theirs(v, c, &theirs, err);
    json_decref(c);
    if (st == KN_OK && !theirs) kn_vproblem(v->notes, "certificate.json is not the certificate of these files");
    return st;
}
