/* kn_spec_records.c: the records that a spec describes, from files or from a database. Interface: kn_spec_records.h. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kn_spec_records.h"

#include <string.h>

#include "kn_error.h"

kn_records_options kn_records_reading(const kn_spec *spec)
{
    kn_records_options options = KN_RECORDS_OPTIONS_INIT;
    options.record = spec->record;
    options.classes = spec->classes;
    options.class_count = spec->class_count;
    options.delimiter = spec->csv.delimiter;
    options.resources = spec->resources;
    options.resource_count = spec->resource_count;
    return options;
}

kn_status kn_records_read_original(kn_records **out, kn_context *ctx, const kn_spec *spec, const char *const *paths,
                                   int count, kn_error *err)
{
    kn_records_options options = kn_records_reading(spec);
    *out = NULL;
    if (count == 0) {
        paths = spec->inputs;
        count = spec->input_count;
    }
    if (kn_spec_shape(spec) != KN_SHAPE_RECORDS || spec->class_count == 0)
        return kn_fail(err, KN_USAGE, "%s: it does not describe records that are trees, since it lists no classes",
                       spec->path ? spec->path : "the spec");
    if (count == 0) return kn_fail(err, KN_USAGE, "no records are named");
    for (int i = 0; i < count; i++)
        if (strcmp(paths[i], "-") == 0)
            return kn_fail(err, KN_USAGE, "records are read from files, not from standard input");
    options.more = paths + 1;
    options.more_count = count - 1;
    KN_TRY(spec->table_count > 0 ? kn_records_read_database(out, ctx, paths[0], spec, err)
                                 : kn_records_read(out, ctx, paths[0], &options, err));
    if (kn_records_count(*out) > 0) return KN_OK;
    kn_records_free(*out);
    *out = NULL;
    return kn_fail(err, KN_INPUT, "%s: there are no records", paths[0]);
}
