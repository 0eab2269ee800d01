/* arguments.c: a Python dict as C values that may be read without the interpreter's lock. See binding.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "binding.h"

/* ---- Taking ---- */

/* A str as UTF-8; it is kept. NULL with an exception set. */
static const char *take_text(const arguments *to, PyObject *text)
{
    Py_ssize_t  size;
    const char *bytes;
    if (!PyUnicode_Check(text)) {
        PyErr_SetString(PyExc_TypeError, "a text was expected");
        return NULL;
    }
    if (PyList_Append(to->kept, text) < 0 || !(bytes = PyUnicode_AsUTF8AndSize(text, &size))) return NULL;
    if (strlen(bytes) != (size_t)size) {
        PyErr_SetString(PyExc_ValueError, "a name or text must not hold a NUL character");
        return NULL;
    }
    return bytes;
}

static bool take_texts(const arguments *to, value *v, PyObject *sequence)
{
    PyObject  *tuple = PySequence_Tuple(sequence);
    Py_ssize_t count = tuple ? PyTuple_Size(tuple) : -1;
    if (!tuple) return false;
    v->texts = PyMem_Calloc((size_t)count + 1, sizeof *v->texts);
    if (!v->texts) PyErr_NoMemory();
    bool fine = v->texts != NULL;
    for (Py_ssize_t i = 0; fine && i < count; i++)
        fine = (v->texts[i] = take_text(to, PyTuple_GetItem(tuple, i))) != NULL;
    v->count = (int)count;
    v->kind = VALUE_TEXTS;
    Py_DECREF(tuple);
    return fine;
}

static bool take_value(const arguments *to, value *v, PyObject *object)
{
    if (object == Py_None) return true;
    if (PyBool_Check(object)) {
        v->kind = VALUE_BOOLEAN;
        v->integer = object == Py_True;
    } else if (PyLong_Check(object)) {
        v->kind = VALUE_INTEGER;
        v->integer = PyLong_AsLongLong(object);
        v->number = (double)v->integer;
    } else if (PyFloat_Check(object)) {
        v->kind = VALUE_NUMBER;
        v->number = PyFloat_AsDouble(object);
    } else if (PyUnicode_Check(object)) {
        v->kind = VALUE_TEXT;
        v->text = take_text(to, object);
    } else {
        return take_texts(to, v, object);
    }
    return !PyErr_Occurred();
}

bool arguments_take(arguments *to, PyObject *dict)
{
    PyObject  *key, *object;
    Py_ssize_t at = 0, count = PyDict_Size(dict);
    memset(to, 0, sizeof *to);
    if (count < 0) return false;
    to->kept = PyList_New(0);
    to->values = PyMem_Calloc((size_t)count + 1, sizeof *to->values);
    if (!to->kept || !to->values) {
        PyErr_NoMemory();
        return false;
    }
    while (to->count < count && PyDict_Next(dict, &at, &key, &object)) {
        value *v = &to->values[to->count++];
        if (!(v->key = take_text(to, key)) || !take_value(to, v, object)) return false;
    }
    return true;
}

void arguments_free(arguments *args)
{
    for (int i = 0; i < args->count; i++) PyMem_Free(args->values[i].texts);
    PyMem_Free(args->values);
    Py_CLEAR(args->kept);
    memset(args, 0, sizeof *args);
}

/* ---- Reading ---- */

static const value *find(const arguments *args, const char *key)
{
    static const value none = {.kind = VALUE_NONE};
    for (int i = 0; i < args->count; i++)
        if (strcmp(args->values[i].key, key) == 0) return &args->values[i];
    return &none;
}

const char *argument_text(const arguments *args, const char *key)
{
    return find(args, key)->text;
}

int64_t argument_integer(const arguments *args, const char *key, int64_t otherwise)
{
    const value *v = find(args, key);
    return v->kind == VALUE_INTEGER ? v->integer : otherwise;
}

double argument_number(const arguments *args, const char *key, double otherwise)
{
    const value *v = find(args, key);
    return v->kind == VALUE_INTEGER || v->kind == VALUE_NUMBER ? v->number : otherwise;
}

bool argument_true(const arguments *args, const char *key)
{
    const value *v = find(args, key);
    return v->kind == VALUE_BOOLEAN && v->integer != 0;
}

const char *const *argument_texts(const arguments *args, const char *key, int *count)
{
    const value *v = find(args, key);
    *count = v->count;
    return v->count > 0 ? (const char *const *)v->texts : NULL;
}
