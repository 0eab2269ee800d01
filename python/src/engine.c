/* engine.c: a connection of the library (kanon/engine.h) whose statements Python functions run. See binding.h.
 *
 * The library asks on the thread of its work; the functions are called on the thread that waits for the work, with the
 * interpreter's lock: whatever a session keeps per thread (Spark's job groups, properties, Ctrl-C) is the caller's own. A
 * function returns None, or a text: what failed and where, without a value. An exception that it raises ends the work
 * and is the caller's.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "binding.h"

const char stream_name[] = "arrow_array_stream";

void stream_free(PyObject *capsule)
{
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, stream_name);
    if (!stream) return;
    if (stream->release) stream->release(stream);
    free(stream);
}

PyObject *stream_capsule(struct ArrowArrayStream **stream)
{
    *stream = calloc(1, sizeof **stream);
    PyObject *capsule = *stream ? PyCapsule_New(*stream, stream_name, stream_free) : PyErr_NoMemory();
    if (!capsule) free(*stream);
    return capsule;
}

/* ---- Asking, on the thread of the work ---- */

static int ask(engine *e, question *q, char *message, size_t room)
{
    watch *w = e->w;
    q->message = message;
    q->room = room;
    if (room > 0) message[0] = '\0';
    pthread_mutex_lock(&w->lock);
    if (w->apart) {
        w->asked = q;
        pthread_cond_broadcast(&w->changed);
        while (w->asked == q) pthread_cond_wait(&w->changed, &w->lock);
    } else {
        q->failed = EAGAIN; /* nobody waits who could answer: there was no thread for the work */
    }
    pthread_mutex_unlock(&w->lock);
    return q->failed;
}

static int engine_run(void *state, const char *sql, char *message, size_t room)
{
    engine  *e = state;
    question q = {.function = e->run, .text = sql};
    return ask(e, &q, message, room);
}

static int engine_query(void *state, const char *sql, struct ArrowArrayStream *out, char *message, size_t room)
{
    engine  *e = state;
    question q = {.function = e->query, .text = sql, .out = out};
    return ask(e, &q, message, room);
}

static int engine_put(void *state, const char *name, struct ArrowArrayStream *rows, char *message, size_t room)
{
    engine  *e = state;
    question q = {.function = e->put, .text = name, .rows = rows};
    int      failed = ask(e, &q, message, room);
    if (rows->release) rows->release(rows); /* nobody took them */
    return failed;
}

/* ---- Answering, on the thread that waits ---- */

/* What a function said of its failure. */
static void refuse(question *q, PyObject *text)
{
    Py_ssize_t  size;
    const char *words = PyUnicode_AsUTF8AndSize(text, &size);
    q->failed = EIO;
    if (!words) PyErr_Clear();
    if (q->room > 0) snprintf(q->message, q->room, "%s", words ? words : "");
}

static PyObject *call_function(question *q)
{
    struct ArrowArrayStream *rows;
    if (!q->rows) return PyObject_CallFunction(q->function, "s", q->text);
    PyObject *capsule = stream_capsule(&rows);
    if (!capsule) return NULL;
    *rows = *q->rows;
    q->rows->release = NULL; /* moved */
    PyObject *result = PyObject_CallFunction(q->function, "sO", q->text, capsule);
    Py_DECREF(capsule);
    return result;
}

bool question_answer(question *q)
{
    PyObject *result = call_function(q);
    bool      fine = result != NULL;
    if (!result) {
        q->failed = ECANCELED;
    } else if (PyUnicode_Check(result)) {
        refuse(q, result);
    } else if (q->out) {
        struct ArrowArrayStream *stream = PyCapsule_GetPointer(result, stream_name);
        if (stream && stream->release) {
            *q->out = *stream;
            stream->release = NULL; /* moved */
        } else {
            q->failed = ECANCELED;
            fine = false;
            if (stream) PyErr_SetString(PyExc_ValueError, "the Arrow stream was already consumed");
        }
    }
    Py_XDECREF(result);
    return fine;
}

/* ---- Engines of a context ---- */

static void engine_free(PyObject *capsule)
{
    engine *e = PyCapsule_GetPointer(capsule, NULL);
    if (!e) return;
    Py_XDECREF(e->run);
    Py_XDECREF(e->query);
    Py_XDECREF(e->put);
    free(e);
}

PyObject *engine_add(kn_context *ctx, watch *w, const char *name, int dialect, PyObject *run, PyObject *query,
                     PyObject *put)
{
    kn_connection connection = KN_CONNECTION_INIT;
    kn_error      err = KN_ERROR_INIT;
    engine       *e = calloc(1, sizeof *e);
    PyObject     *capsule = e ? PyCapsule_New(e, NULL, engine_free) : PyErr_NoMemory();
    if (!capsule) {
        free(e);
        return NULL;
    }
    *e = (engine){w, Py_NewRef(run), Py_NewRef(query), Py_NewRef(put)};
    connection.dialect = (kn_dialect)dialect;
    connection.state = e;
    connection.run = engine_run;
    connection.query = engine_query;
    connection.put = engine_put;
    kn_status st = kn_engine_add(ctx, name, &connection, &err);
    if (st == KN_OK) return capsule;
    raise_error(st, &err);
    Py_DECREF(capsule);
    return NULL;
}
