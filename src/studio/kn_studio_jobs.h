/* kn_studio_jobs.h: questions that take time: they wait in a line, are answered by threads of their own, report how far they
 * are, and can be cancelled. Answers are kept until newer ones need the room.
 *
 * All functions may be called by any thread.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_STUDIO_JOBS_H
#define KN_STUDIO_JOBS_H

#include "kn_studio_session.h"

enum {
    KN_STUDIO_WORKERS = 2,
    KN_STUDIO_MOST_JOBS = 32, /* that are known, waiting and answered ones together */
    KN_STUDIO_MOST_WAITING = 12
};

typedef enum kn_studio_state {
    KN_STUDIO_WAITING = 0,
    KN_STUDIO_RUNNING,
    KN_STUDIO_DONE,
    KN_STUDIO_FAILED,
    KN_STUDIO_CANCELLED
} kn_studio_state;

struct kn_studio_jobs;

typedef struct kn_studio_job {
    int64_t                id; /* 0: the place is free */
    const char            *kind; /* static */
    kn_studio_state        state;
    int64_t                changed; /* when, as a number that grows */
    char                   stage[40], unit[16];
    uint64_t               done, total;
    double                 seconds;
    kn_error               error;
    json_t                *params;
    kn_studio_step         step; /* what it is asked about */
    char                  *answer;
    size_t                 answer_size;
    kn_context            *ctx; /* while it runs */
    kn_context            *reading; /* while it reads the table, for which there is another context */
    volatile bool          stop;
    struct kn_studio_jobs *owner;
} kn_studio_job;

typedef struct kn_studio_jobs {
    pthread_mutex_t    lock;
    pthread_cond_t     work, news;
    kn_studio_job     *jobs[KN_STUDIO_MOST_JOBS];
    int64_t            last_id, clock;
    int                streams; /* open event streams */
    bool               stopping;
    pthread_t          workers[KN_STUDIO_WORKERS];
    int                worker_count;
    kn_studio_session *session;
    int                threads;
    uint64_t           memory_limit;
    const char        *version;
} kn_studio_jobs;

bool kn_studio_jobs_start(kn_studio_jobs *jobs, kn_studio_session *session);
/* Cancels everything and waits for the workers; streams end. Afterwards, when nobody asks any more, frees the answers. */
void kn_studio_jobs_stop(kn_studio_jobs *jobs);
void kn_studio_jobs_free(kn_studio_jobs *jobs);

/* Puts a question into the line and returns its number; 0: the line is full; -1: there is no such kind. `params` is kept.
 * The question is about the session as it is now. */
int64_t kn_studio_ask(kn_studio_jobs *jobs, const char *kind, json_t *params);

/* The state of a job, of all of them, or of those that changed after `*since`, which becomes now ("job", "jobs"). NULL:
 * there is no such job. */
json_t *kn_studio_job_json(kn_studio_jobs *jobs, int64_t id);
json_t *kn_studio_jobs_json(kn_studio_jobs *jobs, int64_t *since);

/* A copy of its answer; NULL: none. */
char *kn_studio_job_answer(kn_studio_jobs *jobs, int64_t id, size_t *size);

bool kn_studio_job_cancel(kn_studio_jobs *jobs, int64_t id);

/* Tells the streams that something changed; waits until that happens after `since`, for some seconds. False: it is over. */
void kn_studio_news(kn_studio_jobs *jobs);
bool kn_studio_wait_news(kn_studio_jobs *jobs, int64_t since);

/* ---- kn_studio_work.c ---- */

/* The kind by its name, static; NULL: there is none. */
const char *kn_studio_kind(const char *name);

/* Answers the question of a job: a JSON text from malloc. Called without the lock. */
KN_CHECK kn_status kn_studio_work(char **answer, size_t *size, kn_studio_job *job, kn_error *err);

#endif
