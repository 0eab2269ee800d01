/* binding.h: what the files of the extension module share: Python's arguments as C values, and a call of the library
 * on a thread of its own.
 *
 * The module knows commands, texts, bytes and Arrow capsules; everything else is Python (pykanon/). A command runs
 * without the interpreter's lock on a thread of its own, while the calling thread looks at signals: Ctrl-C is answered
 * however long the library computes.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PYKANON_BINDING_H
#define PYKANON_BINDING_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <kanon/kanon.h>
#include <pthread.h>

/* ---- Arguments ---- */

typedef enum value_kind { VALUE_NONE = 0, VALUE_BOOLEAN, VALUE_INTEGER, VALUE_NUMBER, VALUE_TEXT, VALUE_TEXTS } value_kind;

/* An argument of a command; texts belong to Python objects that `arguments` keeps. */
typedef struct value {
    const char  *key;
    value_kind   kind;
    int64_t      integer; /* also a boolean */
    double       number;
    const char  *text;
    const char **texts;
    int          count;
} value;

typedef struct arguments {
    PyObject *kept; /* a list of what the texts belong to */
    value    *values;
    int       count;
} arguments;

/* From a dict of str to None, bool, int, float, str or a sequence of str. False with an exception set. */
bool arguments_take(arguments *to, PyObject *dict);
void arguments_free(arguments *args);

/* What was given, or the default. Safe without the interpreter's lock. */
const char        *argument_text(const arguments *args, const char *key);
int64_t            argument_integer(const arguments *args, const char *key, int64_t otherwise);
double             argument_number(const arguments *args, const char *key, double otherwise);
bool               argument_true(const arguments *args, const char *key);
const char *const *argument_texts(const arguments *args, const char *key, int *count); /* NULL, 0: none */

/* ---- Commands ---- */

/* A command that is running: what it was given and what it makes. */
typedef struct command_call {
    kn_context  *ctx;
    arguments    args;
    kn_spec     *spec;     /* the request, and the table that it reads: for a command that keeps them here */
    kn_table    *table;
    kn_document *document; /* the answer                                */
    kn_row_list *rows;     /* of "rows": 0-based                        */
    char        *text;     /* of "schema": JSON; freed by kn_text_free  */
    const char  *word;     /* of "shape"; static                        */
    char        *names;    /* of "countable" and "inputs": texts, each with its NUL */
    size_t       names_size;
} command_call;

typedef kn_status (*command_fn)(command_call *call, kn_error *err);

/* NULL: there is no such command. */
command_fn command_find(const char *name);

/* Frees all that a call was given and made. */
void command_end(command_call *call);

/* The request: `spec` (a text) or `spec_path`, else an empty one; then `set` (field, value, field, value, ...), then
 * the promises of `privacy`. */
KN_CHECK kn_status command_spec(kn_spec **out, const command_call *call, kn_error *err);

/* Changes a request as command_spec does. */
KN_CHECK kn_status command_change(kn_spec *spec, const command_call *call, kn_error *err);

/* The tables named `input` as one, read as the spec says; `columns` NULL: all. */
KN_CHECK kn_status command_table(kn_table **out, const command_call *call, const kn_spec *spec,
                                 const char *const *columns, int count, kn_error *err);

kn_status command_diagnose(command_call *call, kn_error *err); /* diagnose.c */
kn_status command_rows(command_call *call, kn_error *err);
kn_status command_diagnose_spec(command_call *call, kn_error *err); /* of a database or of records, by a request */

/* ---- Running ---- */

typedef struct question question;

/* What a context reports to the thread that waits, and asks of it. */
typedef struct watch {
    pthread_mutex_t lock;
    pthread_cond_t  changed;
    bool            done, fresh;
    bool            apart; /* the work has a thread of its own           */
    question       *asked; /* waits for its answer; NULL: nothing does   */
    kn_progress     latest;
} watch;

typedef kn_status (*work_fn)(void *arg, kn_error *err);

/* Runs `work` on a thread of its own; meanwhile signals are handled and `progress` (or None) is called with (stage,
 * unit, done, total, seconds, finished). False with an exception set: it failed, or a signal or the callback raised
 * one. */
bool run_work(kn_context *ctx, watch *w, PyObject *progress, work_fn work, void *arg);

/* Raises the module's error for what the library returned. */
void raise_error(kn_status status, const kn_error *err);

/* ---- Engines ---- */

/* Python functions that run statements: run(sql), query(sql) -> capsule, put(name, capsule). */
typedef struct engine {
    watch    *w;
    PyObject *run, *query, *put;
} engine;

/* What the library asks of an engine. */
struct question {
    PyObject                *function;
    const char              *text; /* a statement, or the name of a table */
    struct ArrowArrayStream *out;  /* of a query                          */
    struct ArrowArrayStream *rows; /* of a table to be put                */
    int                      failed;
    char                    *message;
    size_t                   room;
};

/* Calls the function; with the interpreter's lock. False with an exception set: it raised one. */
bool question_answer(question *q);

/* Makes the functions the engine NAME of a context; the result keeps them alive, and must outlive the context. */
PyObject *engine_add(kn_context *ctx, watch *w, const char *name, int dialect, PyObject *run, PyObject *query,
                     PyObject *put);

/* A capsule with an empty stream, which it frees. NULL with an exception set. */
PyObject         *stream_capsule(struct ArrowArrayStream **stream);
void              stream_free(PyObject *capsule);
extern const char stream_name[];

/* ---- The studio ---- */

extern PyType_Spec studio_type;

extern PyObject *library_error; /* _kanon.LibraryError(status, message, line, column) */

#endif
