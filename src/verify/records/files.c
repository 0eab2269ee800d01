/* records/files.c: verification of tree records from their files, or of the persons of a database.
 *
 * Interface: kn_verify_records_files (kanon/verify.h). The release is read as one: labels of any level, classes in any order.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_context.h"
#include "kn_error.h"
#include "kn_options.h"
#include "kn_verify_records.h"
#include "kn_verify_rowmap.h"

static kn_status scan(void *state, const kn_records_sink *sink, kn_records_layout *layout, kn_error *err)
{
    const kn_vscanning *s = state;
    if (s->options.resource_count > 0) return kn_vrecords_tell_resources(s, sink, layout, err);
    return kn_records_scan(s->ctx, s->path, &s->options, sink, layout, err);
}

kn_status kn_verify_records_files(kn_records_verify_report **out, kn_context *ctx, const kn_spec *spec,
                                  const kn_records_verify_options *options, kn_error *err)
{
    *out = NULL;
    KN_SERVE(ctx, err);
    KN_OPTIONS(kn_records_verify_options, KN_RECORDS_VERIFY_OPTIONS_INIT, options, "verification options", err);
    KN_TRY(kn_vrecords_check_spec(spec, err));
    KN_TRY(kn_vrowmap_once(options->map, options->map_path, err));
    if (options->snapshot && spec->table_count == 0)
        return kn_fail(err, KN_USAGE, "only a database on a PostgreSQL server has snapshots; leave the snapshot out");
    const kn_records_verify_options *o = options;
    bool        as_said = !o->original && spec->input_count > 0; /* the original is the spec's input */
    const char *original = as_said ? spec->inputs[0] : o->original;
    const char *release = o->release ? o->release : spec->output;
    if (!original || !release) return kn_fail(err, KN_USAGE, "no %s was given", original ? "release" : "original");
    if (strcmp(release, "-") == 0)
        return kn_fail(err, KN_USAGE, "a release of tree records is read twice: give a file, not standard input");
    kn_records_options read = KN_RECORDS_OPTIONS_INIT;
    read.record = spec->record;
    read.classes = spec->classes;
    read.class_count = spec->class_count;
    read.delimiter = spec->csv.delimiter;
    read.resources = spec->resources;
    read.resource_count = spec->resource_count;
    kn_vscanning from = {ctx, original, read}, to = {ctx, release, read};
    kn_vpersons  persons = {ctx, spec, original, o->snapshot};
    kn_vreleased shown = {ctx, spec, original, o->snapshot, release, o->cells, NULL};
    kn_vteller   first = {&from, scan, NULL}, second = {&to, scan, NULL};
    from.options.more = as_said ? spec->inputs + 1 : NULL;
    from.options.more_count = as_said ? spec->input_count - 1 : 0;
    if (spec->table_count > 0) first = (kn_vteller){&persons, kn_vrecords_tell_persons, NULL};
    if (spec->table_count > 0 && (o->cells || kn_database_named(release)))
        second = (kn_vteller){&shown, kn_vrecords_tell_released, kn_vrecords_begin_released};
    to.options.form = o->form;
    to.options.released = true;
    return kn_vrecords_verify(out, ctx, spec, &first, &second, o, err);
}
