/* studio.c: the studio as a Python object: a page that is served until it is stopped. See binding.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include <unistd.h>

#include "binding.h"
#include "kn_studio.h"

typedef struct studio_object {
    PyObject_HEAD kn_studio *studio;  /* NULL: stopped                                          */
    pid_t                    process; /* that serves it: a fork of it has none of the threads   */
} studio_object;

static PyObject *studio_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char       *names[] = {"input", "release", "threads", "memory_limit", NULL};
    unsigned long long limit = 0;
    kn_studio_options  options = KN_STUDIO_OPTIONS_INIT;
    kn_error           err = KN_ERROR_INIT;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|zziK", names, &options.input, &options.release, &options.threads,
                                     &limit))
        return NULL;
    allocfunc      allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    studio_object *self = (studio_object *)allocate(type, 0);
    if (!self) return NULL;
    options.memory_limit = limit;
    options.version = kn_version();
    self->process = getpid();
    kn_status st = kn_studio_start(&self->studio, &options, &err);
    if (st == KN_OK) return (PyObject *)self;
    raise_error(st, &err);
    Py_DECREF(self);
    return NULL;
}

/* Jobs are cancelled, and end when they notice: meanwhile others may run. */
static PyObject *studio_stop(studio_object *self, PyObject *unused)
{
    kn_studio *studio = self->studio;
    (void)unused;
    self->studio = NULL;
    if (self->process != getpid()) Py_RETURN_NONE;
    Py_BEGIN_ALLOW_THREADS;
    kn_studio_stop(studio);
    Py_END_ALLOW_THREADS;
    Py_RETURN_NONE;
}

static void studio_dealloc(studio_object *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    freefunc      release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    Py_XDECREF(studio_stop(self, NULL));
    release(self);
    Py_DECREF(type);
}

static PyObject *studio_address(studio_object *self, PyObject *unused)
{
    (void)unused;
    return PyUnicode_FromString(self->studio ? kn_studio_address(self->studio) : "");
}

static PyObject *studio_open(studio_object *self, PyObject *unused)
{
    (void)unused;
    return PyBool_FromLong(self->studio && kn_studio_open(self->studio));
}

#define METHOD(function) (PyCFunction)(void (*)(void))(function)

static PyMethodDef studio_methods[] = {
    {"address", METHOD(studio_address), METH_NOARGS, "address(): of the page, with its token; empty: it was stopped"},
    {"open", METHOD(studio_open), METH_NOARGS, "open(): in the user's browser; False: there is none"},
    {"stop", METHOD(studio_stop), METH_NOARGS, "stop(): cancels all jobs and closes all connections"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot studio_slots[] = {
    {Py_tp_new, studio_new},
    {Py_tp_dealloc, studio_dealloc},
    {Py_tp_methods, studio_methods},
    {Py_tp_doc, "Studio(input=None, release=None, threads=0, memory_limit=0): serves a page until it is stopped."},
    {0, NULL},
};

PyType_Spec studio_type = {
    .name = "pykanon._kanon.Studio",
    .basicsize = sizeof(studio_object),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = studio_slots,
};
