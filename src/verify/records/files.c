/* records/files.c: verification of tree records from their files: read, then kn_verify_records_pair.
 *
 * Interface: kn_verify_records (kanon/verify.h). The release is read as one: labels of any level, classes in any order.
 */
#include <sodium.h>
#include <stdio.h>

#include "kn_error.h"
#include "kn_verify_records.h"

static void digest_file(const char *path, char out[65])
{
    unsigned char            buffer[1 << 14], bytes[crypto_hash_sha256_BYTES];
    crypto_hash_sha256_state state;
    FILE                    *file = strcmp(path, "-") != 0 ? fopen(path, "rb") : NULL;
    if (!file) return;
    crypto_hash_sha256_init(&state);
    size_t got;
    while ((got = fread(buffer, 1, sizeof buffer, file)) > 0) crypto_hash_sha256_update(&state, buffer, got);
    crypto_hash_sha256_final(&state, bytes);
    if (!ferror(file)) sodium_bin2hex(out, 65, bytes, sizeof bytes);
    fclose(file);
}

kn_status kn_verify_records(kn_records_verify_report **out, kn_context *ctx, const kn_spec *spec,
                            const kn_records_verify_options *options, kn_error *err)
{
    *out = NULL;
    const kn_records_verify_options plain = KN_RECORDS_VERIFY_OPTIONS_INIT;
    KN_TRY(kn_vrecords_check_options(spec, options, err));
    const kn_records_verify_options *o = options ? options : &plain;
    const char *original = o->original ? o->original : spec->input_count == 1 ? spec->inputs[0] : NULL;
    const char *release = o->release ? o->release : spec->output;
    if (!original || !release)
        return kn_fail(err, KN_USAGE, "no %s was given", original ? "release" : "original (one file)");
    if (strcmp(release, "-") == 0)
        return kn_fail(err, KN_USAGE, "a release of tree records is read twice: give a file, not standard input");
    kn_records_options read = KN_RECORDS_OPTIONS_INIT;
    read.record = spec->record;
    read.classes = spec->classes;
    read.class_count = spec->class_count;
    read.delimiter = spec->csv.delimiter;
    kn_records *before = NULL, *after = NULL;
    kn_status   st = spec->table_count > 0 ? kn_records_read_database(&before, ctx, original, spec, err)
                                           : kn_records_read(&before, ctx, original, &read, err);
    read.released = true;
    if (st == KN_OK) st = kn_records_read(&after, ctx, release, &read, err);
    kn_records_verify_options named = *o;
    named.release = release;
    if (st == KN_OK) st = kn_verify_records_pair(out, ctx, spec, before, after, &named, err);
    if (st == KN_OK) digest_file(release, (*out)->sha256);
    kn_records_free(before);
    kn_records_free(after);
    return st;
}
