/* kn_studio_session.c: the release file that is being written, its earlier states, the files beside it, and the table
 * (kn_studio_session.h).
 *
 * A state is the text of the release file and of the hierarchies that it names and that are not on disk. The table is read
 * once for all questions that are about it as it is, and again when the release file reads it in another way.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_studio_session.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kn_studio_request.h"

kn_status kn_studio_error(kn_error *err, kn_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    *err = (kn_error)KN_ERROR_INIT;
    err->status = status;
    vsnprintf(err->message, sizeof err->message, format, arguments);
    va_end(arguments);
    return status;
}

bool kn_studio_session_init(kn_studio_session *s, const char *input, const char *release)
{
    pthread_mutex_init(&s->lock, NULL);
    s->saved = -1;
    s->input = input ? strdup(input) : NULL;
    s->path = strdup(release ? release : "release.yaml");
    s->written = json_object();
    s->choosing = !input && !release;
    return s->path && s->written && (s->input || !input);
}

bool kn_studio_session_choose(kn_studio_session *s, const char *input, const char *release)
{
    char *named = input ? strdup(input) : NULL, *path = strdup(release ? release : "release.yaml");
    pthread_mutex_lock(&s->lock);
    bool fits = s->choosing && !s->opening && s->count == 0 && path && (named || !input);
    if (fits) {
        s->opening = true;
        free(s->input);
        free(s->path);
        free(s->failure);
        s->input = named;
        s->path = path;
        s->failure = NULL;
    }
    pthread_mutex_unlock(&s->lock);
    if (fits) return true;
    free(named);
    free(path);
    return false;
}

void kn_studio_step_free(kn_studio_step *step)
{
    free(step->release);
    json_decref(step->files);
    *step = (kn_studio_step){0};
}

static void free_table(kn_studio_table *t)
{
    if (!t) return;
    kn_table_free(t->table);
    kn_context_free(t->ctx);
    free(t->key);
    json_decref(t->asked);
    free(t);
}

void kn_studio_session_free(kn_studio_session *s)
{
    for (int i = 0; i < s->count; i++) kn_studio_step_free(&s->steps[i]);
    free_table(s->table);
    json_decref(s->notes);
    json_decref(s->written);
    free(s->input);
    free(s->path);
    free(s->failure);
    pthread_mutex_destroy(&s->lock);
}

bool kn_studio_step_copy(kn_studio_step *out, kn_studio_session *s)
{
    *out = (kn_studio_step){0};
    pthread_mutex_lock(&s->lock);
    if (s->count > 0) {
        out->release = strdup(s->steps[s->at].release);
        out->files = json_deep_copy(s->steps[s->at].files);
    }
    pthread_mutex_unlock(&s->lock);
    if (out->release && out->files) return true;
    kn_studio_step_free(out);
    return false;
}

void kn_studio_session_open(kn_studio_session *s, kn_studio_step step, kn_shape shape, bool ours, json_t *notes)
{
    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < s->count; i++) kn_studio_step_free(&s->steps[i]);
    s->steps[0] = step;
    s->count = 1;
    s->at = 0;
    s->shape = shape;
    s->ours = ours;
    s->revision++;
    if (ours) s->saved = s->revision;
    json_decref(s->notes);
    s->notes = notes;
    pthread_mutex_unlock(&s->lock);
}

void kn_studio_session_fail(kn_studio_session *s, const char *message)
{
    pthread_mutex_lock(&s->lock);
    free(s->failure);
    s->failure = strdup(message);
    s->opening = false;
    s->revision++;
    pthread_mutex_unlock(&s->lock);
}

bool kn_studio_session_change(kn_studio_session *s, int64_t from, kn_studio_step step)
{
    pthread_mutex_lock(&s->lock);
    bool fits = s->count > 0 && s->revision == from;
    if (fits) {
        while (s->count > s->at + 1) kn_studio_step_free(&s->steps[--s->count]);
        if (s->count == KN_STUDIO_MOST_STEPS) {
            kn_studio_step_free(&s->steps[0]);
            memmove(s->steps, s->steps + 1, sizeof s->steps[0] * (size_t)--s->count);
        }
        s->at = s->count;
        s->steps[s->count++] = step;
        s->revision++;
    }
    pthread_mutex_unlock(&s->lock);
    if (!fits) kn_studio_step_free(&step);
    return fits;
}

bool kn_studio_session_move(kn_studio_session *s, int by)
{
    pthread_mutex_lock(&s->lock);
    bool fits = s->count > 0 && s->at + by >= 0 && s->at + by < s->count;
    if (fits) {
        s->at += by;
        s->revision++;
    }
    pthread_mutex_unlock(&s->lock);
    return fits;
}

bool kn_studio_session_saved(const kn_studio_session *s)
{
    return s->count > 0 && s->saved == s->revision;
}

json_t *kn_studio_session_json(kn_studio_session *s)
{
    static const char *const shapes[] = {"table", "database", "records"};
    pthread_mutex_lock(&s->lock);
    bool    open = s->count > 0;
    json_t *out =
        json_pack("{s:I, s:s, s:b, s:b, s:i, s:i}", "revision", (json_int_t)s->revision, "path", s->path, "open", open,
                  "saved", kn_studio_session_saved(s), "undo", s->at, "redo", open ? s->count - 1 - s->at : 0);
    char here[PATH_MAX];
    if (getcwd(here, sizeof here)) json_object_set_new(out, "folder", json_string(here));
    if (s->input) json_object_set_new(out, "input", json_string(s->input));
    if (s->choosing) json_object_set_new(out, "choosing", json_true());
    if (s->failure) json_object_set_new(out, "failure", json_string(s->failure));
    if (s->notes) json_object_set(out, "notes", s->notes);
    if (open) {
        json_object_set_new(out, "shape", json_string(shapes[s->shape]));
        json_object_set_new(out, "release", json_string(s->steps[s->at].release));
        json_object_set_new(out, "files", json_deep_copy(s->steps[s->at].files));
    }
    pthread_mutex_unlock(&s->lock);
    return out;
}

/* ---- Saving ---- */

static bool write_all(int fd, const char *text, size_t size)
{
    while (size > 0) {
        ssize_t done = write(fd, text, size);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return false;
        text += done;
        size -= (size_t)done;
    }
    return fsync(fd) == 0;
}

/* Whole or not at all: a temporary file beside it gets its name at the end. */
static kn_status write_file(const char *path, const char *text, kn_error *err)
{
    size_t size = strlen(path) + sizeof ".XXXXXX";
    char  *temporary = malloc(size);
    if (!temporary) return kn_studio_error(err, KN_MEMORY, "out of memory while saving");
    snprintf(temporary, size, "%s.XXXXXX", path);
    int  fd = mkstemp(temporary);
    bool good = fd >= 0 && write_all(fd, text, strlen(text)) && fchmod(fd, 0644) == 0;
    if (fd >= 0) good = close(fd) == 0 && good;
    good = good && rename(temporary, path) == 0;
    int reason = errno;
    if (!good && fd >= 0) (void)unlink(temporary);
    free(temporary);
    return good ? KN_OK : kn_studio_error(err, KN_IO, "%s: cannot be written: %s", path, strerror(reason));
}

/* Is there another content under that name? */
static bool in_the_way(const char *path, const char *text)
{
    FILE *file = fopen(path, "rbe");
    if (!file) return access(path, F_OK) == 0;
    size_t length = strlen(text), at = 0;
    int    c;
    while ((c = fgetc(file)) != EOF && at < length && (unsigned char)text[at] == c) at++;
    fclose(file);
    return c != EOF || at < length;
}

static kn_status refuse(const char *path, kn_error *err)
{
    return kn_studio_error(err, KN_USAGE, "%s: a file of that name is there already; replace it, or move it away",
                           path);
}

/* Would a file be replaced that is not this session's? With the lock; NULL: none. */
static const char *not_ours(const kn_studio_session *s, const kn_studio_step *step)
{
    const char *name;
    json_t     *text;
    if (!s->ours && in_the_way(s->path, step->release)) return s->path;
    json_object_foreach(step->files, name, text)
    {
        if (!json_object_get(s->written, name) && in_the_way(name, json_string_value(text))) return name;
    }
    return NULL;
}

/* With the lock. */
static kn_status save(kn_studio_session *s, bool replace, kn_error *err)
{
    const kn_studio_step *step = &s->steps[s->at];
    const char           *name = replace ? NULL : not_ours(s, step);
    json_t               *text;
    kn_status             st = KN_OK;
    if (name) return refuse(name, err);
    json_object_foreach(step->files, name, text)
    {
        if (st == KN_OK) st = write_file(name, json_string_value(text), err);
        if (st == KN_OK) json_object_set_new(s->written, name, json_true());
    }
    if (st == KN_OK) st = write_file(s->path, step->release, err);
    if (st != KN_OK) return st;
    s->ours = true;
    s->saved = s->revision;
    return KN_OK;
}

kn_status kn_studio_session_save(kn_studio_session *s, bool replace, kn_error *err)
{
    pthread_mutex_lock(&s->lock);
    kn_status st =
        s->count > 0 ? save(s, replace, err) : kn_studio_error(err, KN_USAGE, "there is nothing to save yet");
    pthread_mutex_unlock(&s->lock);
    return st;
}

/* ---- The table ---- */

/* How a spec reads its table, as a text that is the same for the same reading: types are not part of it (fits). */
static char *reading_key(const kn_spec *spec)
{
    const kn_csv_options *csv = kn_spec_csv(spec);
    json_t *key = json_pack("[i, b, i, i, s*]", csv->delimiter, csv->no_header, (int)csv->encoding, csv->decimal,
                            csv->timezone ? csv->timezone : "UTC");
    for (int i = 0; i < spec->input_count; i++) json_array_append_new(key, json_string(spec->inputs[i]));
    json_array_append_new(key, json_integer(csv->na ? csv->na_count : -1));
    for (int i = 0; csv->na && i < csv->na_count; i++) json_array_append_new(key, json_string(csv->na[i]));
    for (int i = 0; i < spec->attribute_count; i++) {
        const kn_attribute *a = kn_spec_attribute_at(spec, i);
        if (a->role == KN_ROLE_COUNT || (a->type != KN_TYPE_AUTO && a->format))
            json_array_append_new(
                key, json_pack("[s, s, b]", a->name, a->format ? a->format : "", a->role == KN_ROLE_COUNT));
    }
    char *text = json_dumps(key, JSON_COMPACT);
    json_decref(key);
    return text;
}

static kn_status read_table(kn_studio_table *t, const kn_spec *spec, kn_error *err)
{
    kn_csv_options  csv = *kn_spec_csv(spec);
    kn_column_type *types = calloc((size_t)spec->attribute_count + 1, sizeof *types);
    if (!types) return kn_studio_error(err, KN_MEMORY, "out of memory while reading");
    csv.types = types;
    csv.type_count = 0;
    csv.columns = NULL;
    csv.column_count = 0;
    for (int i = 0; i < spec->attribute_count; i++) {
        const kn_attribute *a = kn_spec_attribute_at(spec, i);
        if (a->role == KN_ROLE_COUNT && a->has_role) csv.count = a->name;
        if (a->type == KN_TYPE_AUTO || a->role == KN_ROLE_COUNT) continue;
        types[csv.type_count++] = (kn_column_type){a->name, a->type, a->format};
        json_object_set_new(t->asked, a->name, json_true());
    }
    kn_status st = kn_table_read_csv_files(&t->table, t->ctx, spec->inputs, spec->input_count, &csv, err);
    free(types);
    return st;
}

/* Do its columns have the types that the spec asks for? What is left open fits only where nothing else was asked before. */
static bool fits(const kn_studio_table *t, const kn_spec *spec)
{
    for (int i = 0; i < spec->attribute_count; i++) {
        const kn_attribute *a = kn_spec_attribute_at(spec, i);
        int                 column = kn_table_find(t->table, a->name);
        if (column < 0) continue;
        if (a->type != KN_TYPE_AUTO && a->role != KN_ROLE_COUNT && kn_table_type(t->table, column) != a->type)
            return false;
        if (a->type == KN_TYPE_AUTO && json_object_get(t->asked, a->name)) return false;
    }
    return true;
}

/* With the lock. */
static kn_studio_table *hold(kn_studio_session *s, const char *key, const kn_spec *spec)
{
    if (!s->table || (key && strcmp(s->table->key, key) != 0) || (spec && !fits(s->table, spec))) return NULL;
    s->table->users++;
    return s->table;
}

kn_studio_table *kn_studio_table_present(kn_studio_session *s)
{
    pthread_mutex_lock(&s->lock);
    kn_studio_table *t = hold(s, NULL, NULL);
    pthread_mutex_unlock(&s->lock);
    return t;
}

void kn_studio_table_give(kn_studio_session *s, kn_studio_table *t)
{
    if (!t) return;
    pthread_mutex_lock(&s->lock);
    bool last = --t->users == 0 && t != s->table;
    pthread_mutex_unlock(&s->lock);
    if (last) free_table(t);
}

/* Puts it in the place of the one before. */
static void keep(kn_studio_session *s, kn_studio_table *t)
{
    pthread_mutex_lock(&s->lock);
    kn_studio_table *before = s->table;
    bool             unused = before && before->users == 0;
    s->table = t;
    t->users = 1;
    pthread_mutex_unlock(&s->lock);
    if (unused) free_table(before);
}

kn_studio_table *kn_studio_table_take(kn_studio_session *s, const kn_spec *spec, const kn_context_options *options,
                                      void (*reading)(void *user, kn_context *ctx), void *user, kn_error *err)
{
    char *key = reading_key(spec);
    if (!key) {
        (void)kn_studio_error(err, KN_MEMORY, "out of memory while reading");
        return NULL;
    }
    pthread_mutex_lock(&s->lock);
    kn_studio_table *t = hold(s, key, spec);
    pthread_mutex_unlock(&s->lock);
    if (t) {
        free(key);
        return t;
    }
    t = calloc(1, sizeof *t);
    if (!t) {
        free(key);
        (void)kn_studio_error(err, KN_MEMORY, "out of memory while reading");
        return NULL;
    }
    t->key = key;
    t->asked = json_object();
    kn_status st = kn_context_create(&t->ctx, options, err);
    if (st == KN_OK) {
        reading(user, t->ctx);
        st = read_table(t, spec, err);
        reading(user, NULL);
    }
    if (st == KN_OK) {
        keep(s, t);
        return t;
    }
    free_table(t);
    return NULL;
}
