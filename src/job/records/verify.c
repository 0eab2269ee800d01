/* records/verify.c: verification of tree records by file name: the verifier's answer, and how the release's file is
 * written.
 *
 * Interface: kn_verify_records (kanon/verify.h). The verifier reads both sides itself. The file is compared with what
 * the writer of releases makes of the same records (kn_extras.h), for which they are read once more.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <kanon/verify.h>
#include <string.h>

#include "kn_context.h"
#include "kn_digest.h"
#include "kn_error.h"
#include "kn_extras.h"
#include "kn_options.h"
#include "kn_records_run.h"

typedef struct form {
    kn_context    *ctx;
    const kn_spec *spec;
    const char    *original, *release;
    bool           as_said; /* the original is the spec's input */
} form;

static kn_status look(void *state, void (*tell)(void *arg, const char *sentence), void *arg, kn_error *err)
{
    const form        *f = state;
    const kn_spec     *spec = f->spec;
    kn_records_options read = kn_records_reading(spec), original = read;
    kn_records        *before = NULL, *after = NULL;
    original.more = f->as_said && spec->input_count > 1 ? spec->inputs + 1 : NULL;
    original.more_count = original.more ? spec->input_count - 1 : 0;
    kn_status st = spec->table_count > 0 ? kn_records_read_database(&before, f->ctx, f->original, spec, err)
                                         : kn_records_read(&before, f->ctx, f->original, &original, err);
    read.released = true;
    if (st == KN_OK) st = kn_records_read(&after, f->ctx, f->release, &read, err);
    if (st == KN_OK)
        st = kn_records_extras(f->ctx, f->release, after, before, spec->classes, spec->class_count, tell, arg, err);
    kn_records_free(before);
    kn_records_free(after);
    return st;
}

/* The release's digest is computed on another thread meanwhile. */
static kn_status verify_and_digest(kn_records_verify_report **out, kn_context *ctx, const kn_spec *spec,
                                   const kn_records_verify_options *options, const char *release, kn_error *err)
{
    kn_digest_job     *digest = NULL;
    const char *const *texts = NULL;
    kn_status          st = release ? kn_digest_start(&digest, ctx, &release, 1, err) : KN_OK;
    if (st == KN_OK) st = kn_verify_records_files(out, ctx, spec, options, err);
    if (st == KN_OK && digest) st = kn_digest_wait(digest, &texts, err);
    if (st == KN_OK && digest) memcpy((*out)->sha256, texts[0], sizeof(*out)->sha256);
    kn_digest_free(digest);
    if (st != KN_OK) {
        kn_records_verify_report_free(*out);
        *out = NULL;
    }
    return st;
}

kn_status kn_verify_records(kn_records_verify_report **out, kn_context *ctx, const kn_spec *spec,
                            const kn_records_verify_options *options, kn_error *err)
{
    kn_records_verify_options own = KN_RECORDS_VERIFY_OPTIONS_INIT;
    *out = NULL;
    KN_SERVE(ctx, err);
    KN_TRY(kn_options_take(&own, sizeof own, options, "verification options", err));
    form f = {ctx, spec,
              own.original            ? own.original
              : spec->input_count > 0 ? spec->inputs[0]
                                      : NULL,
              own.release ? own.release : spec->output, !own.original};
    if (f.original && strcmp(f.original, "-") == 0)
        return kn_fail(err, KN_USAGE, "the original of tree records is read twice: give a file, not standard input");
    bool database =
        spec->table_count > 0 && f.release && kn_database_named(f.release); /* whose form the verifier knows */
    if (!own.look_at_form && !database) own.look_at_form = look;
    if (own.look_at_form == look) own.form_state = &f;
    return verify_and_digest(out, ctx, spec, &own, database ? NULL : f.release, err);
}
