/* kn_studio_jobs.c: the line of questions, the threads that answer them, and who is told (kn_studio_jobs.h).
 *
 * A job has a context of its own, so that two never wait for each other and cancelling one leaves the others alone. The
 * oldest answers go first when there is no room; what they took is freed with them.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_studio_jobs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum {
    PATIENCE = 5, /* seconds between two signs of life of a stream */
    NICER = 5     /* how much a question gives way to the browser, which has to draw the answer to the next click */
};

static const char *const state_names[] = {"waiting", "running", "done", "failed", "cancelled"};

static void free_job(kn_studio_job *job)
{
    if (!job) return;
    json_decref(job->params);
    kn_studio_step_free(&job->step);
    free(job->answer);
    free(job);
}

/* With the lock. */
static void changed(kn_studio_job *job)
{
    job->changed = ++job->owner->clock;
    pthread_cond_broadcast(&job->owner->news);
}

void kn_studio_news(kn_studio_jobs *jobs)
{
    pthread_mutex_lock(&jobs->lock);
    jobs->clock++;
    pthread_cond_broadcast(&jobs->news);
    pthread_mutex_unlock(&jobs->lock);
}

bool kn_studio_wait_news(kn_studio_jobs *jobs, int64_t since)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE;
    pthread_mutex_lock(&jobs->lock);
    while (!jobs->stopping && jobs->clock <= since)
        if (pthread_cond_timedwait(&jobs->news, &jobs->lock, &until) != 0) break;
    bool goes_on = !jobs->stopping;
    pthread_mutex_unlock(&jobs->lock);
    return goes_on;
}

/* ---- Workers ---- */

/* With the lock: the oldest waiting one. */
static kn_studio_job *next_job(kn_studio_jobs *jobs)
{
    kn_studio_job *first = NULL;
    for (int i = 0; i < KN_STUDIO_MOST_JOBS; i++) {
        kn_studio_job *job = jobs->jobs[i];
        if (job && job->state == KN_STUDIO_WAITING && (!first || job->id < first->id)) first = job;
    }
    return first;
}

static void progress(void *user, const kn_progress *p)
{
    kn_studio_job *job = user;
    pthread_mutex_lock(&job->owner->lock);
    strncpy(job->stage, p->stage ? p->stage : "", sizeof job->stage - 1);
    strncpy(job->unit, p->unit ? p->unit : "", sizeof job->unit - 1);
    job->done = p->done;
    job->total = p->total;
    job->seconds = p->seconds;
    changed(job);
    pthread_mutex_unlock(&job->owner->lock);
}

static void finish(kn_studio_job *job, kn_status st, const kn_error *err, char *answer, size_t size)
{
    kn_studio_jobs *jobs = job->owner;
    pthread_mutex_lock(&jobs->lock);
    kn_context *ctx = job->ctx;
    job->ctx = NULL;
    job->answer = answer;
    job->answer_size = size;
    job->state = st == KN_OK ? KN_STUDIO_DONE : st == KN_CANCELLED ? KN_STUDIO_CANCELLED : KN_STUDIO_FAILED;
    if (st != KN_OK) job->error = *err;
    job->error.status = st;
    changed(job);
    pthread_mutex_unlock(&jobs->lock);
    kn_context_free(ctx);
}

static void run_job(kn_studio_job *job)
{
    kn_studio_jobs    *jobs = job->owner;
    kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
    kn_error           err = KN_ERROR_INIT;
    kn_context        *ctx = NULL;
    char              *answer = NULL;
    size_t             size = 0;
    options.threads = jobs->threads;
    options.memory_limit = jobs->memory_limit;
    options.progress = progress;
    options.progress_user = job;
    kn_status st = kn_context_create(&ctx, &options, &err);
    if (st == KN_OK) {
        pthread_mutex_lock(&jobs->lock);
        job->ctx = ctx;
        if (job->stop) kn_context_cancel(ctx);
        pthread_mutex_unlock(&jobs->lock);
        st = kn_studio_work(&answer, &size, job, &err);
    }
    finish(job, st, &err, answer, size);
}

/* On Linux the priority is the thread's own, and that of the threads which it starts. */
static void give_way(void)
{
    (void)setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + NICER);
}

static void *work(void *user)
{
    kn_studio_jobs *jobs = user;
    give_way();
    pthread_mutex_lock(&jobs->lock);
    while (!jobs->stopping) {
        kn_studio_job *job = next_job(jobs);
        if (!job) {
            pthread_cond_wait(&jobs->work, &jobs->lock);
            continue;
        }
        job->state = KN_STUDIO_RUNNING;
        changed(job);
        pthread_mutex_unlock(&jobs->lock);
        run_job(job);
        pthread_mutex_lock(&jobs->lock);
    }
    pthread_mutex_unlock(&jobs->lock);
    return NULL;
}

bool kn_studio_jobs_start(kn_studio_jobs *jobs, kn_studio_session *session)
{
    pthread_mutex_init(&jobs->lock, NULL);
    pthread_cond_init(&jobs->work, NULL);
    pthread_cond_init(&jobs->news, NULL);
    jobs->session = session;
    while (jobs->worker_count < KN_STUDIO_WORKERS &&
           pthread_create(&jobs->workers[jobs->worker_count], NULL, work, jobs) == 0)
        jobs->worker_count++;
    return jobs->worker_count == KN_STUDIO_WORKERS;
}

/* With the lock. */
static void cancel(kn_studio_job *job)
{
    job->stop = true;
    if (job->ctx) kn_context_cancel(job->ctx);
    if (job->reading) kn_context_cancel(job->reading);
    if (job->state != KN_STUDIO_WAITING) return;
    job->state = KN_STUDIO_CANCELLED;
    changed(job);
}

void kn_studio_jobs_stop(kn_studio_jobs *jobs)
{
    pthread_mutex_lock(&jobs->lock);
    jobs->stopping = true;
    for (int i = 0; i < KN_STUDIO_MOST_JOBS; i++)
        if (jobs->jobs[i]) cancel(jobs->jobs[i]);
    pthread_cond_broadcast(&jobs->work);
    pthread_cond_broadcast(&jobs->news);
    pthread_mutex_unlock(&jobs->lock);
    for (int i = 0; i < jobs->worker_count; i++) pthread_join(jobs->workers[i], NULL);
    jobs->worker_count = 0;
}

void kn_studio_jobs_free(kn_studio_jobs *jobs)
{
    for (int i = 0; i < KN_STUDIO_MOST_JOBS; i++) free_job(jobs->jobs[i]);
    pthread_cond_destroy(&jobs->work);
    pthread_cond_destroy(&jobs->news);
    pthread_mutex_destroy(&jobs->lock);
}

/* ---- Asking ---- */

/* With the lock: a free place, for which the oldest answer may have to go; -1: all are waiting or running. */
static int place(kn_studio_jobs *jobs)
{
    int oldest = -1;
    for (int i = 0; i < KN_STUDIO_MOST_JOBS; i++) {
        kn_studio_job *job = jobs->jobs[i];
        if (!job) return i;
        if (job->state >= KN_STUDIO_DONE && (oldest < 0 || job->id < jobs->jobs[oldest]->id)) oldest = i;
    }
    if (oldest >= 0) {
        free_job(jobs->jobs[oldest]);
        jobs->jobs[oldest] = NULL;
    }
    return oldest;
}

/* With the lock. */
static int waiting(const kn_studio_jobs *jobs)
{
    int count = 0;
    for (int i = 0; i < KN_STUDIO_MOST_JOBS; i++) count += jobs->jobs[i] && jobs->jobs[i]->state == KN_STUDIO_WAITING;
    return count;
}

int64_t kn_studio_ask(kn_studio_jobs *jobs, const char *kind, json_t *params)
{
    const char    *known = kn_studio_kind(kind);
    kn_studio_job *job = known ? calloc(1, sizeof *job) : NULL;
    if (!known) return -1;
    if (!job) return 0;
    (void)kn_studio_step_copy(&job->step, jobs->session);
    job->kind = known;
    job->owner = jobs;
    job->params = json_incref(params);
    pthread_mutex_lock(&jobs->lock);
    int     at = jobs->stopping || waiting(jobs) >= KN_STUDIO_MOST_WAITING ? -1 : place(jobs);
    int64_t id = 0;
    if (at >= 0) {
        id = job->id = ++jobs->last_id;
        jobs->jobs[at] = job;
        changed(job);
        pthread_cond_signal(&jobs->work);
    }
    pthread_mutex_unlock(&jobs->lock);
    if (at < 0) free_job(job);
    return id;
}

/* With the lock. */
static kn_studio_job *find(kn_studio_jobs *jobs, int64_t id)
{
    for (int i = 0; i < KN_STUDIO_MOST_JOBS; i++)
        if (jobs->jobs[i] && jobs->jobs[i]->id == id) return jobs->jobs[i];
    return NULL;
}

bool kn_studio_job_cancel(kn_studio_jobs *jobs, int64_t id)
{
    pthread_mutex_lock(&jobs->lock);
    kn_studio_job *job = find(jobs, id);
    if (job) cancel(job);
    pthread_mutex_unlock(&jobs->lock);
    return job != NULL;
}

char *kn_studio_job_answer(kn_studio_jobs *jobs, int64_t id, size_t *size)
{
    pthread_mutex_lock(&jobs->lock);
    kn_studio_job *job = find(jobs, id);
    char          *copy = job && job->answer ? malloc(job->answer_size + 1) : NULL;
    if (copy) {
        memcpy(copy, job->answer, job->answer_size);
        *size = job->answer_size;
    }
    pthread_mutex_unlock(&jobs->lock);
    return copy;
}

/* With the lock. */
static json_t *describe(const kn_studio_job *job)
{
    json_t *out = json_pack("{s:I, s:s, s:s, s:s, s:s, s:I, s:I, s:f}", "id", (json_int_t)job->id, "kind", job->kind,
                            "state", state_names[job->state], "stage", job->stage, "unit", job->unit, "done",
                            (json_int_t)job->done, "total", (json_int_t)job->total, "seconds", job->seconds);
    if (out && job->state == KN_STUDIO_FAILED)
        json_object_set_new(out, "error",
                            json_pack("{s:s, s:s, s:I, s:I}", "status", kn_status_name(job->error.status), "message",
                                      job->error.message, "line", (json_int_t)job->error.line, "column",
                                      (json_int_t)job->error.column));
    return out;
}

json_t *kn_studio_job_json(kn_studio_jobs *jobs, int64_t id)
{
    pthread_mutex_lock(&jobs->lock);
    const kn_studio_job *job = find(jobs, id);
    json_t              *out = job ? describe(job) : NULL;
    pthread_mutex_unlock(&jobs->lock);
    return out;
}

json_t *kn_studio_jobs_json(kn_studio_jobs *jobs, int64_t *since)
{
    json_t *list = json_array(), *out = json_object();
    pthread_mutex_lock(&jobs->session->lock);
    json_object_set_new(out, "revision", json_integer(jobs->session->revision));
    json_object_set_new(out, "saved", json_boolean(kn_studio_session_saved(jobs->session)));
    pthread_mutex_unlock(&jobs->session->lock);
    pthread_mutex_lock(&jobs->lock);
    for (int i = 0; i < KN_STUDIO_MOST_JOBS; i++) {
        const kn_studio_job *job = jobs->jobs[i];
        if (job && job->changed > *since) json_array_append_new(list, describe(job));
    }
    *since = jobs->clock;
    pthread_mutex_unlock(&jobs->lock);
    json_object_set_new(out, "jobs", list);
    return out;
}
