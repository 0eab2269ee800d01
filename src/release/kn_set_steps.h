/* kn_set_steps.h: the steps of putting a set of files in place, and the journal that lists them. Only the files
 * set*.c include it. Paths are absolute; a step is recognized by the inode and size of its new file.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_SET_STEPS_H
#define KN_SET_STEPS_H

#include <kanon/context.h>

enum { KN_SET_STEPS = 24 };

typedef struct kn_set_step {
    char    *temporary;  /* the new file; NULL: none replaces the old one                                  */
    char    *target;     /* NULL: a server's transaction, committed at this step                          */
    char    *backup;     /* the name of the old file until the set is complete                            */
    unsigned mode;       /* of the new file                                                               */
    uint64_t file, size; /* inode and size of the new file; of a server, the number of the schema         */
} kn_set_step;

/* In the order in which they are taken; the last is the certificate, or the folder that holds it. */
typedef struct kn_set_steps {
    kn_context *ctx;
    const char *name;    /* of the release, for messages                 */
    const char *journal; /* borrowed                                     */
    kn_set_step list[KN_SET_STEPS];
    int         count;
} kn_set_steps;

/* Adds a step; the texts are copied. `temporary` may be NULL, and `target` for a server, whose schema is `schema`. The backup's
 * name is made of the target's and `mark`, of six letters or digits. */
KN_CHECK kn_status kn_set_steps_add(kn_set_steps *steps, const char *temporary, const char *target, unsigned mode,
                                    uint64_t schema, const char *mark, kn_error *err);
void               kn_set_steps_free(kn_set_steps *steps);

/* Does every new file have its temporary or its final name? Does the last have its final name: is the set complete? */
bool kn_set_steps_ready(const kn_set_steps *steps);
bool kn_set_steps_done(const kn_set_steps *steps);

/* The number of the schema that a server commits; 0: there is no server. */
uint64_t kn_set_steps_schema(const kn_set_steps *steps);

/* Takes the remaining steps. `commit` is called at the server's; NULL: it has committed. */
typedef kn_status (*kn_set_commit_fn)(void *arg, kn_error *err);
KN_CHECK kn_status kn_set_steps_forward(const kn_set_steps *steps, kn_set_commit_fn commit, void *arg, kn_error *err);

/* Restores the old files and removes the new ones. Not for a complete set. */
KN_CHECK kn_status kn_set_steps_back(const kn_set_steps *steps, kn_error *err);

/* Removes the old files; the journal last. */
KN_CHECK kn_status kn_set_steps_finish(const kn_set_steps *steps, kn_error *err);

/* The journal. Reading gives no steps if a run was killed while writing it: nothing was changed then. KN_IO for one
 * that the user has not written, since it would be followed. */
KN_CHECK kn_status kn_set_journal_write(const kn_set_steps *steps, kn_error *err);
KN_CHECK kn_status kn_set_journal_read(kn_set_steps *steps, kn_error *err);
KN_CHECK kn_status kn_set_journal_remove(const kn_set_steps *steps, kn_error *err);

#endif
