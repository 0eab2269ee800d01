/* kn_set.h: the files of a release as one set, which changes as a whole or not at all.
 *
 *     kn_set_open(&set, ctx, spec->output, err);                     // locks the output, settles what a killed run left
 *     kn_set_create(set, &out, KN_SET_RELEASE, NULL, err);           // or kn_set_database(set, writer)
 *     kn_set_create(set, &out, KN_SET_PRIVATE, NULL, err);           // any of the roles; written like any output
 *     kn_set_commit(set, err);
 *     kn_set_end(set);                                               // in every case
 *
 * Until the commit everything has a temporary name, or is in an open transaction. The commit syncs all files, writes
 * a journal (".NAME.kanon-journal" beside the release), removes the old certificate and whatever only the old set
 * had, gives the other files their names, commits a server's transaction, gives the certificate its name last and
 * removes the journal. A commit that fails restores the old set. A kill leaves the old set, the new set, or a release
 * without a certificate and a journal, which kn_set_open or kn_set_settle completes or undoes; only the latter
 * reports it, since equal runs must give equal results.
 *
 * Only one run at a time can have the set of an output open (".NAME.kanon-lock", locked with flock, so that the
 * system unlocks it however the run ends): for others kn_set_open fails at once, with KN_IO. A set is used by one
 * thread at a time.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_SET_H
#define KN_SET_H

#include "kn_database_write.h"
#include "kn_output.h"

#define KN_CERTIFICATE_SUFFIX ".certificate.json"
#define KN_PRIVATE_SUFFIX ".private.json"
#define KN_ROWMAP_SUFFIX ".rowmap"
#define KN_RECIPE_SUFFIX ".recipe.json"
#define KN_LABELS_SUFFIX ".labels.csv"
#define KN_SUMMARY_SUFFIX ".summary.csv"

/* What a file is, in the order in which they get their names. */
typedef enum kn_set_role {
    KN_SET_ROWMAP,      /* these six are  the owner's alone: mode 0600, but the summary        */
    KN_SET_RECIPE,
    KN_SET_LABELS,      /* of a file of statistics                                             */
    KN_SET_PRIVATE,
    KN_SET_REPORT,
    KN_SET_SUMMARY,
    KN_SET_PAGE,        /* the public report                                                   */
    KN_SET_RELEASE,
    KN_SET_CERTIFICATE, /* not for a folder, which contains it: there the release is the last  */
    KN_SET_ROLES
} kn_set_role;

typedef struct kn_set kn_set;

/* Opens the set of an output: a file, "sqlite:FILE", "FOLDER/" or "postgresql://...#SCHEMA"; NULL or "-": a stream,
 * which has no set: the commit closes each file separately. KN_IO: another run is writing it, or what a killed run
 * left cannot be settled. */
KN_CHECK kn_status kn_set_open(kn_set **out, kn_context *ctx, const char *output, kn_error *err);

/* Opens a file of the set. `path` NULL: the usual name beside the release. The output belongs to the set. KN_USAGE if
 * something other than a file has that name; a report may be a stream. */
KN_CHECK kn_status kn_set_create(kn_set *set, kn_output **out, kn_set_role role, const char *path, kn_error *err);

/* The release is a database: the writer belongs to the set from now on, even on failure. */
void kn_set_database(kn_set *set, kn_database_writer *writer);

/* Gives all of it its names. Once; afterwards no output of the set may be used. */
KN_CHECK kn_status kn_set_commit(kn_set *set, kn_error *err);

/* Ends the set; what was not committed is removed. NULL is fine. */
void kn_set_end(kn_set *set);

/* For callers that read or replace a release without making one: settles what a killed run left; `wait`: waits some
 * seconds for a run that is just committing. `note` receives a sentence, or is empty if there was nothing to settle. */
KN_CHECK kn_status kn_set_settle(kn_context *ctx, const char *output, bool wait, char *note, size_t note_size,
                                 kn_error *err);

/* The prefix of the files beside a release: a file's path, a folder's without its slashes, for a server the name of
 * the new schema, for an engine "memory:out". Freed with kn_free. */
KN_CHECK kn_status kn_set_base(char **out, kn_context *ctx, const char *output, kn_error *err);

#endif
