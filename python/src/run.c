/* run.c: a call of the library on a thread of its own, watched by the thread that asked for it. See binding.h.
 *
 * The library reports progress on the thread that called it, and only where it has something to report; Python handles
 * signals on its main thread alone. So the caller waits here, looks at signals twenty times a second, and cancels the
 * work when one of them raises: the library then returns at its next step.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <signal.h>
#include <time.h>

#include "binding.h"

enum { NAP_MILLISECONDS = 50 };

typedef struct running {
    watch    *w;
    work_fn   work;
    void     *arg;
    kn_status status;
    kn_error  err;
} running;

static void *run_thread(void *arg)
{
    running *r = arg;
    r->status = r->work(r->arg, &r->err);
    pthread_mutex_lock(&r->w->lock);
    r->w->done = true;
    pthread_cond_broadcast(&r->w->changed);
    pthread_mutex_unlock(&r->w->lock);
    return NULL;
}

/* Signals are for the thread that waits. */
static bool start(pthread_t *thread, running *r)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(thread, NULL, run_thread, r);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed == 0;
}

/* Waits until the work is done, asks something, or a moment has passed; returns whether it is done. Without the interpreter's lock. */
static bool nap(watch *w)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += NAP_MILLISECONDS * 1000000L;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_nsec -= 1000000000L;
        until.tv_sec++;
    }
    pthread_mutex_lock(&w->lock);
    while (!w->done && !w->asked && pthread_cond_timedwait(&w->changed, &w->lock, &until) == 0) {
    }
    bool done = w->done;
    pthread_mutex_unlock(&w->lock);
    return done;
}

/* Calls the callback with what is new; false with an exception set. */
static bool show(watch *w, PyObject *progress)
{
    pthread_mutex_lock(&w->lock);
    bool        fresh = w->fresh;
    kn_progress p = w->latest;
    w->fresh = false;
    pthread_mutex_unlock(&w->lock);
    if (!fresh || progress == Py_None) return true;
    PyObject *result = PyObject_CallFunction(progress, "ssKKdO", p.stage, p.unit, (unsigned long long)p.done,
                                             (unsigned long long)p.total, p.seconds, p.finished ? Py_True : Py_False);
    Py_XDECREF(result);
    return result != NULL;
}

/* Answers what the work asks for; false with an exception set. After an exception everything is refused. */
static bool answer(watch *w, bool fine)
{
    pthread_mutex_lock(&w->lock);
    question *q = w->asked; /* it stays: the work waits for the answer */
    pthread_mutex_unlock(&w->lock);
    if (!q) return true;
    if (fine)
        fine = question_answer(q);
    else
        q->failed = ECANCELED;
    pthread_mutex_lock(&w->lock);
    w->asked = NULL;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
    return fine;
}

bool run_work(kn_context *ctx, watch *w, PyObject *progress, work_fn work, void *arg)
{
    running   r = {.w = w, .work = work, .arg = arg, .status = KN_OK, .err = KN_ERROR_INIT};
    pthread_t thread;
    bool      fine = true;
    w->done = w->fresh = false;
    w->apart = true;
    w->asked = NULL;
    kn_context_reset_cancel(ctx);
    PyThreadState *state = PyEval_SaveThread();
    bool           apart = start(&thread, &r);
    if (!apart) {
        w->apart = false;
        (void)run_thread(&r);
    }
    while (!nap(w)) {
        PyEval_RestoreThread(state);
        bool still = fine && PyErr_CheckSignals() == 0 && show(w, progress);
        still = answer(w, still) && still;
        if (fine && !still) kn_context_cancel(ctx);
        fine = still;
        state = PyEval_SaveThread();
    }
    if (apart) pthread_join(thread, NULL);
    PyEval_RestoreThread(state);
    if (fine && r.status != KN_OK) {
        raise_error(r.status, &r.err);
        return false;
    }
    return fine && show(w, progress);
}

void raise_error(kn_status status, const kn_error *err)
{
    PyObject *arguments = Py_BuildValue("(isLL)", (int)status, err->message[0] ? err->message : kn_status_name(status),
                                        (long long)err->line, (long long)err->column);
    if (!arguments) return;
    PyErr_SetObject(library_error, arguments);
    Py_DECREF(arguments);
}
