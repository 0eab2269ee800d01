/* module.c: the module pykanon._kanon: a context as a Python object, with names in memory, Arrow capsules and commands.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "binding.h"

PyObject *library_error;

typedef struct context_object {
    PyObject_HEAD kn_context *ctx;
    watch                     w;
    bool                      busy;    /* guarded by the interpreter's lock */
    PyObject                 *engines; /* a list: what the context calls    */
} context_object;

/* ---- Contexts ---- */

/* On the thread of the call. Stages and units are static texts. */
static void keep_progress(void *user, const kn_progress *progress)
{
    watch *w = user;
    pthread_mutex_lock(&w->lock);
    w->latest = *progress;
    w->fresh = true;
    pthread_mutex_unlock(&w->lock);
}

static PyObject *context_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char       *names[] = {"threads", "memory_limit", NULL};
    int                threads = 0;
    unsigned long long limit = 0;
    kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
    kn_error           err = KN_ERROR_INIT;
    pthread_condattr_t clock;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|iK", names, &threads, &limit)) return NULL;
    allocfunc       allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    context_object *self = (context_object *)allocate(type, 0);
    if (!self) return NULL;
    pthread_mutex_init(&self->w.lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&self->w.changed, &clock);
    pthread_condattr_destroy(&clock);
    options.threads = threads;
    options.memory_limit = limit;
    options.progress = keep_progress;
    options.progress_user = &self->w;
    kn_status st = kn_context_create(&self->ctx, &options, &err);
    if (st == KN_OK) st = kn_memory_enable(self->ctx, &err);
    if (st == KN_OK) return (PyObject *)self;
    raise_error(st, &err);
    Py_DECREF(self);
    return NULL;
}

static void context_dealloc(context_object *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    freefunc      release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    kn_context_free(self->ctx);
    Py_CLEAR(self->engines);
    pthread_cond_destroy(&self->w.changed);
    pthread_mutex_destroy(&self->w.lock);
    release(self);
    Py_DECREF(type);
}

/* Runs something in the context, which serves one call at a time. */
static bool context_run(context_object *self, PyObject *progress, work_fn work, void *arg)
{
    if (self->busy) {
        kn_error busy = KN_ERROR_INIT;
        raise_error(KN_BUSY, &busy);
        return false;
    }
    self->busy = true;
    bool fine = run_work(self->ctx, &self->w, progress, work, arg);
    self->busy = false;
    return fine;
}

/* ---- Names in memory ---- */

typedef struct putting {
    kn_context             *ctx;
    const char             *name;
    struct ArrowArrayStream stream;
} putting;

static kn_status put_stream(void *arg, kn_error *err)
{
    putting *p = arg;
    return kn_memory_put_arrow(p->ctx, p->name, &p->stream, err);
}

static PyObject *context_put_stream(context_object *self, PyObject *args)
{
    putting   p = {.ctx = self->ctx};
    PyObject *capsule;
    if (!PyArg_ParseTuple(args, "sO", &p.name, &capsule)) return NULL;
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, stream_name);
    if (!stream) return NULL;
    if (!stream->release) {
        PyErr_SetString(PyExc_ValueError, "the Arrow stream was already consumed");
        return NULL;
    }
    p.stream = *stream;
    stream->release = NULL; /* moved */
    if (!context_run(self, Py_None, put_stream, &p)) return NULL;
    Py_RETURN_NONE;
}

static PyObject *context_put_bytes(context_object *self, PyObject *args)
{
    const char *name, *bytes;
    Py_ssize_t  size;
    kn_error    err = KN_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "sy#", &name, &bytes, &size)) return NULL;
    kn_status st = kn_memory_put(self->ctx, name, bytes, (size_t)size, &err);
    if (st == KN_OK) Py_RETURN_NONE;
    raise_error(st, &err);
    return NULL;
}

static PyObject *context_get_bytes(context_object *self, PyObject *args)
{
    const char *name;
    const void *bytes;
    size_t      size;
    kn_error    err = KN_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "s", &name)) return NULL;
    kn_status st = kn_memory_get(&bytes, &size, self->ctx, name, &err);
    if (st == KN_OK) return PyBytes_FromStringAndSize(bytes, (Py_ssize_t)size);
    raise_error(st, &err);
    return NULL;
}

typedef struct getting {
    kn_context              *ctx;
    const char              *name;
    struct ArrowArrayStream *stream;
} getting;

static kn_status get_stream(void *arg, kn_error *err)
{
    getting *g = arg;
    return kn_memory_get_arrow(g->stream, g->ctx, g->name, NULL, err);
}

static PyObject *context_get_stream(context_object *self, PyObject *args)
{
    getting g = {.ctx = self->ctx};
    if (!PyArg_ParseTuple(args, "s", &g.name)) return NULL;
    PyObject *capsule = stream_capsule(&g.stream);
    if (!capsule) return NULL;
    if (context_run(self, Py_None, get_stream, &g)) return capsule;
    Py_DECREF(capsule);
    return NULL;
}

static PyObject *context_names(context_object *self, PyObject *args)
{
    const char *prefix, *name = NULL;
    if (!PyArg_ParseTuple(args, "s", &prefix)) return NULL;
    PyObject *list = PyList_New(0);
    while (list && (name = kn_memory_next(self->ctx, prefix, name))) {
        PyObject *text = PyUnicode_FromString(name);
        if (!text || PyList_Append(list, text) < 0) Py_CLEAR(list);
        Py_XDECREF(text);
    }
    return list;
}

static PyObject *context_add_engine(context_object *self, PyObject *args)
{
    const char *name;
    int         dialect;
    PyObject   *run, *query, *put;
    if (!PyArg_ParseTuple(args, "siOOO", &name, &dialect, &run, &query, &put)) return NULL;
    if (!self->engines && !(self->engines = PyList_New(0))) return NULL;
    PyObject *made = engine_add(self->ctx, &self->w, name, dialect, run, query, put);
    bool      kept = made && PyList_Append(self->engines, made) == 0;
    if (made && !kept) kn_engine_remove(self->ctx, name);
    Py_XDECREF(made);
    if (!kept) return NULL;
    Py_RETURN_NONE;
}

/* ---- Commands ---- */

typedef struct calling {
    command_call call;
    command_fn   command;
} calling;

static kn_status call_command(void *arg, kn_error *err)
{
    calling  *c = arg;
    kn_status st = c->command(&c->call, err);
    if (st == KN_OK && c->call.document && !c->call.text)
        st = kn_document_json(&c->call.text, NULL, c->call.document, err);
    return st;
}

/* What the command made: rows (int64) or names as bytes, or the text of its document. */
static PyObject *made(const command_call *call)
{
    if (call->rows)
        return PyBytes_FromStringAndSize((const char *)call->rows->rows,
                                         (Py_ssize_t)((size_t)call->rows->count * sizeof(int64_t)));
    if (call->names) return PyBytes_FromStringAndSize(call->names, (Py_ssize_t)call->names_size);
    return PyUnicode_FromString(call->text ? call->text : call->word ? call->word : "");
}

static PyObject *context_call(context_object *self, PyObject *args)
{
    const char *name;
    PyObject   *options, *progress = Py_None, *result = NULL;
    if (!PyArg_ParseTuple(args, "sO!|O", &name, &PyDict_Type, &options, &progress)) return NULL;
    calling c = {.call.ctx = self->ctx, .command = command_find(name)};
    if (!c.command) return PyErr_Format(PyExc_ValueError, "there is no command %s", name);
    if (arguments_take(&c.call.args, options) && context_run(self, progress, call_command, &c)) result = made(&c.call);
    command_end(&c.call);
    return result;
}

/* ---- Streams of others ---- */

/* The columns of a stream, without consuming it: (name, format, format of its dictionary's values or None). */
static PyObject *list_columns(const struct ArrowSchema *schema)
{
    PyObject *list = PyList_New(0);
    for (int64_t i = 0; list && i < schema->n_children; i++) {
        const struct ArrowSchema *c = schema->children[i];
        PyObject                 *one =
            Py_BuildValue("(szz)", c->name ? c->name : "", c->format, c->dictionary ? c->dictionary->format : NULL);
        if (!one || PyList_Append(list, one) < 0) Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

static PyObject *stream_columns(PyObject *module, PyObject *capsule)
{
    (void)module;
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, stream_name);
    struct ArrowSchema       schema = {.release = NULL};
    if (!stream) return NULL;
    if (!stream->release) {
        PyErr_SetString(PyExc_ValueError, "the Arrow stream was already consumed");
        return NULL;
    }
    if (stream->get_schema(stream, &schema) != 0 || !schema.release) {
        PyErr_SetString(PyExc_ValueError, "the Arrow stream has no schema");
        return NULL;
    }
    PyObject *list = list_columns(&schema);
    schema.release(&schema);
    return list;
}

static PyObject *version(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyUnicode_FromString(kn_version());
}

static PyObject *hide_secrets(PyObject *module, PyObject *args)
{
    const char *text;
    char        hidden[2000];
    (void)module;
    if (!PyArg_ParseTuple(args, "s", &text)) return NULL;
    size_t size = strlen(text) < sizeof hidden ? strlen(text) : sizeof hidden - 1;
    memcpy(hidden, text, size);
    hidden[size] = '\0';
    kn_hide_secrets(hidden, sizeof hidden);
    return PyUnicode_DecodeUTF8(hidden, (Py_ssize_t)strlen(hidden), "replace");
}

static PyObject *is_database(PyObject *module, PyObject *args)
{
    const char *name;
    (void)module;
    if (!PyArg_ParseTuple(args, "s", &name)) return NULL;
    return PyBool_FromLong(kn_database_named(name));
}

/* ---- The module ---- */

#define METHOD(function) (PyCFunction)(void (*)(void))(function)

static PyMethodDef context_methods[] = {
    {"put_stream", METHOD(context_put_stream), METH_VARARGS,
     "put_stream(name, capsule): keeps the batches of a stream"},
    {"put_bytes", METHOD(context_put_bytes), METH_VARARGS, "put_bytes(name, bytes): copies bytes to a name"},
    {"get_bytes", METHOD(context_get_bytes), METH_VARARGS, "get_bytes(name): the bytes of a name"},
    {"get_stream", METHOD(context_get_stream), METH_VARARGS, "get_stream(name): a table as a capsule"},
    {"names", METHOD(context_names), METH_VARARGS, "names(prefix): the names that begin with it"},
    {"add_engine", METHOD(context_add_engine), METH_VARARGS,
     "add_engine(name, dialect, run, query, put): tables \"engine:NAME#...\" are asked for by these functions"},
    {"call", METHOD(context_call), METH_VARARGS, "call(command, options, progress=None): the answer as JSON"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot context_slots[] = {
    {Py_tp_new, context_new},
    {Py_tp_dealloc, context_dealloc},
    {Py_tp_methods, context_methods},
    {Py_tp_doc, "Context(threads=0, memory_limit=0): memory, threads and names of one job."},
    {0, NULL},
};

static PyType_Spec context_type = {
    .name = "pykanon._kanon.Context",
    .basicsize = sizeof(context_object),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = context_slots,
};

static PyMethodDef module_methods[] = {
    {"stream_columns", stream_columns, METH_O, "stream_columns(capsule): names and formats of its columns"},
    {"version", version, METH_NOARGS, "version(): of the library"},
    {"hide_secrets", hide_secrets, METH_VARARGS, "hide_secrets(text): without passwords of connection strings"},
    {"is_database", is_database, METH_VARARGS, "is_database(name): is it the name of a database, not of a table?"},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "pykanon._kanon", "The library behind pykanon.", -1, module_methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__kanon(void);

PyMODINIT_FUNC PyInit__kanon(void)
{
    PyObject *module = PyModule_Create(&definition), *type = PyType_FromSpec(&context_type);
    PyObject *studio = PyType_FromSpec(&studio_type);
    library_error = PyErr_NewException("pykanon._kanon.LibraryError", NULL, NULL);
    if (!module || !type || !studio || !library_error || PyModule_AddObjectRef(module, "Context", type) < 0 ||
        PyModule_AddObjectRef(module, "Studio", studio) < 0 ||
        PyModule_AddObjectRef(module, "LibraryError", library_error) < 0)
        Py_CLEAR(module);
    Py_XDECREF(type);
    Py_XDECREF(studio);
    return module;
}
