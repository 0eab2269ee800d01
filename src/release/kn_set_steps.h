/* kn_set_steps.h: the steps of putting a set of files in place, and the journal that lists them. Only the files set*.c include
 * it. Paths are absolute; a step is known again by the inode and size of its new file.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_SET_STEPS_H
#define KN_SET_STEPS_H

#include <kanon/context.h>

enum { KN_SET_STEPS = 16 };

typedef struct kn_set_step {
    char    *temporary;  /* the new file; NULL: none takes the old one's place                             */
    char    *target;     /* NULL: a server's transaction, committed at this place                         */
    char    *backup;     /* what the old file is called until the set is complete                         */
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

/* Has every new file its temporary name or its own? Has the last its own: is the set complete? */
bool kn_set_steps_ready(const kn_set_steps *steps);
bool kn_set_steps_done(const kn_set_steps *steps);

/* The number of the schema that a server commits; 0: there is no server. */
uint64_t kn_set_steps_schema(const kn_set_steps *steps);

/* Takes what steps are left. `commit` is called at the server's; NULL: it has committed. */
typedef kn_status (*kn_set_commit_fn)(void *arg, kn_error *err);
KN_CHECK kn_status kn_set_steps_forward(const kn_set_steps *steps, kn_set_commit_fn commit, void *arg, kn_error *err);

/* Puts the old files back and removes the new ones. Not of a set that is complete. */
KN_CHECK kn_status kn_set_steps_back(const kn_set_steps *steps, kn_error *err);

/* Removes the old files; the journal last. */
KN_CHECK kn_status kn_set_steps_finish(const kn_set_steps *steps, kn_error *err);

/* The journal. Reading gives no step where a run was killed while it wrote it: nothing was changed then. KN_IO for one that the
 * user has not written: it would be obeyed. */
KN_CHECK kn_status kn_set_journal_write(const kn_set_steps *steps, kn_error *err);
KN_CHECK kn_status kn_set_journal_read(kn_set_steps *steps, kn_error *err);
KN_CHECK kn_status kn_set_journal_remove(const kn_set_steps *steps, kn_error *err);

#endif
