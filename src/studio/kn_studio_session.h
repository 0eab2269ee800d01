/* kn_studio_session.h: what is being worked on: the release file with its hierarchies, what they were before, and the table.
 *
 * All functions take the session's lock and may be called by any thread.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_STUDIO_SESSION_H
#define KN_STUDIO_SESSION_H

#include <jansson.h>
#include <kanon/spec.h>
#include <pthread.h>

enum { KN_STUDIO_MOST_STEPS = 200 }; /* that can be undone */

/* A table that several jobs read. */
typedef struct kn_studio_table {
    kn_table   *table;
    kn_context *ctx;
    char       *key;   /* how it was read           */
    json_t     *asked; /* columns with a given type */
    int         users;
} kn_studio_table;

/* One state: the release file and the hierarchies that are files to be. */
typedef struct kn_studio_step {
    char   *release;
    json_t *files; /* name -> text */
} kn_studio_step;

typedef struct kn_studio_session {
    pthread_mutex_t  lock;
    kn_studio_step   steps[KN_STUDIO_MOST_STEPS];
    int              count, at;      /* steps[at] is the present one; count 0: nothing was read yet */
    int64_t          revision;       /* grows with every change                                     */
    int64_t          saved;          /* the revision that was saved; -1: none                       */
    kn_shape         shape;
    char            *input;          /* as it was named; NULL: the release file's                   */
    char            *path;           /* of the release file                                         */
    bool             choosing;       /* nothing was named: the page asks                            */
    bool             opening;        /* what was chosen is being opened: nothing else can be        */
    bool             ours;           /* the file of that name was read or written by this session   */
    json_t          *written;        /* names of hierarchies that this session wrote                */
    char            *failure;        /* why nothing could be read; NULL: it could, or it is not done */
    json_t          *notes;          /* of the first look                                           */
    kn_studio_table *table;          /* NULL: not read, or no table                                 */
} kn_studio_session;

bool kn_studio_session_init(kn_studio_session *session, const char *input, const char *release);
void kn_studio_session_free(kn_studio_session *session);

/* Names the input, or the release file, of a session that was started without. False: one is open or being opened, or memory
 * ran out. */
bool kn_studio_session_choose(kn_studio_session *session, const char *input, const char *release);

/* A copy of the present state; false: there is none yet, or memory ran out. */
bool kn_studio_step_copy(kn_studio_step *out, kn_studio_session *session);
void kn_studio_step_free(kn_studio_step *step);

/* The first state. Takes what it is given; `notes` may be NULL. */
void kn_studio_session_open(kn_studio_session *session, kn_studio_step step, kn_shape shape, bool ours, json_t *notes);
void kn_studio_session_fail(kn_studio_session *session, const char *message);

/* A new state on top of revision `from`. Takes the step. False: somebody else changed it since; nothing happens. */
bool kn_studio_session_change(kn_studio_session *session, int64_t from, kn_studio_step step);

/* Goes one state back (by -1) or forward (1). False: there is none. */
bool kn_studio_session_move(kn_studio_session *session, int by);

/* Everything but the table, as studio/protocol.json says ("session"). */
json_t *kn_studio_session_json(kn_studio_session *session);

/* Is the release file saved as it is? With the lock. */
bool kn_studio_session_saved(const kn_studio_session *session);

/* Writes the release file and its hierarchies to the working folder, each whole or not at all. KN_USAGE: one of them is
 * there already, is not ours, and `replace` is false; nothing is written then. */
KN_CHECK kn_status kn_studio_session_save(kn_studio_session *session, bool replace, kn_error *err);

/* The table as the release file says, read if need be; give it back. NULL with an error. `reading` is called with the
 * context that is about to read it, and with NULL afterwards: it may be cancelled between. */
kn_studio_table *kn_studio_table_take(kn_studio_session *session, const kn_spec *spec, const kn_context_options *options,
                                      void (*reading)(void *user, kn_context *ctx), void *user, kn_error *err);
/* The one that is there, or NULL. */
kn_studio_table *kn_studio_table_present(kn_studio_session *session);
void             kn_studio_table_give(kn_studio_session *session, kn_studio_table *table);

/* A page of rows, and the table's columns ("rows"); NULL: memory ran out. */
json_t *kn_studio_rows(const kn_table *table, int64_t offset, int64_t count);

/* How the values of each column are distributed ("distributions"). KN_CANCELLED: `*stop`. */
KN_CHECK kn_status kn_studio_distributions(json_t **out, const kn_table *table, char decimal, const volatile bool *stop,
                                           kn_error *err);

/* A cell as JSON: text, cut where it is long; null: missing. */
json_t *kn_studio_cell(const kn_table *table, int column, uint32_t code);

/* For all of the studio: an error with that message. */
kn_status kn_studio_error(kn_error *err, kn_status status, const char *format, ...) KN_PRINTF(3, 4);

#endif
