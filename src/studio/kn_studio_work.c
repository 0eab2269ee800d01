/* kn_studio_work.c: the kinds of questions and how the library answers them (kn_studio_jobs.h).
 *
 * An answer is the library's document (docs/json.md), as `kanon --json` prints it; four are of the studio alone, since no
 * other door shows cells: "open", "distributions", "standing" and "preview" (studio/protocol.json). Hierarchies that are not on disk
 * are put into the job's context under a name in memory.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <kanon/memory.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_studio_question.h"

enum { MOST_FILE = 1 << 20 };

/* ---- What is asked about ---- */

static void reading(void *user, kn_context *ctx)
{
    kn_studio_job *job = user;
    pthread_mutex_lock(&job->owner->lock);
    job->reading = ctx;
    if (ctx && job->stop) kn_context_cancel(ctx);
    pthread_mutex_unlock(&job->owner->lock);
}

kn_status kn_studio_need_table(kn_studio_question *q, kn_error *err)
{
    kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
    if (kn_spec_shape(q->spec) != KN_SHAPE_TABLE)
        return kn_studio_error(err, KN_USAGE, "this question is about one table");
    options.threads = q->job->owner->threads;
    options.memory_limit = q->job->owner->memory_limit;
    q->table = kn_studio_table_take(q->job->owner->session, q->spec, &options, reading, q->job, err);
    return q->table ? KN_OK : err->status;
}

/* The hierarchies that are not on disk, under names in memory. */
static kn_status put_files(kn_studio_question *q, kn_error *err)
{
    const char *name;
    json_t     *text;
    kn_status   st = KN_OK;
    json_object_foreach(q->job->step.files, name, text)
    {
        char place[256], said[300];
        snprintf(place, sizeof place, "memory:%s", name);
        st = kn_memory_put(q->ctx, place, json_string_value(text), json_string_length(text), err);
        json_t *quoted = json_pack("{s:{s:s}}", "hierarchy", "file", place);
        char   *yaml = json_dumps(quoted, JSON_COMPACT);
        snprintf(said, sizeof said, "%s", yaml ? yaml : "");
        json_decref(quoted);
        free(yaml);
        for (int i = 0; i < q->spec->attribute_count && st == KN_OK; i++) {
            const kn_attribute *a = kn_spec_attribute_at(q->spec, i);
            const char         *path = a->has_hierarchy ? kn_attribute_hierarchy(a)->path : NULL;
            if (path && strcmp(path, name) == 0) st = kn_spec_set_attribute(q->spec, a->name, said, name, err);
        }
        if (st != KN_OK) return st;
    }
    return KN_OK;
}

static kn_status read_spec(kn_studio_question *q, kn_error *err)
{
    if (!q->job->step.release) return kn_studio_error(err, KN_USAGE, "the data are not read yet");
    kn_status st = kn_spec_read_text(&q->spec, q->ctx, q->job->step.release, strlen(q->job->step.release),
                                     q->job->owner->session->path, err);
    return st == KN_OK ? put_files(q, err) : st;
}

/* The columns of params, or else the quasi-identifiers. */
kn_status kn_studio_need_names(kn_studio_question *q, kn_error *err)
{
    json_t *given = json_object_get(q->job->params, "columns");
    size_t  most = json_array_size(given) + (size_t)q->spec->attribute_count + 1;
    q->names = calloc(most, sizeof *q->names);
    if (!q->names) return kn_studio_error(err, KN_MEMORY, "out of memory while asking");
    for (size_t i = 0; i < json_array_size(given); i++) {
        const char *name = json_string_value(json_array_get(given, i));
        if (!name) return kn_studio_error(err, KN_USAGE, "columns are named by texts");
        q->names[q->name_count++] = name;
    }
    for (int i = 0; !given && i < q->spec->attribute_count; i++) {
        const kn_attribute *a = kn_spec_attribute_at(q->spec, i);
        if (a->has_role && a->role == KN_ROLE_QUASI) q->names[q->name_count++] = a->name;
    }
    if (q->name_count == 0)
        return kn_studio_error(err, KN_USAGE,
                               "no column is a quasi-identifier; give one the role that others may know it");
    return KN_OK;
}

int64_t kn_studio_number(const kn_studio_question *q, const char *name, int64_t otherwise)
{
    const json_t *value = json_object_get(q->job->params, name);
    return json_is_integer(value) ? json_integer_value(value) : otherwise;
}

bool kn_studio_flag(const kn_studio_question *q, const char *name)
{
    return json_is_true(json_object_get(q->job->params, name));
}

const char *kn_studio_text(const kn_studio_question *q, const char *name)
{
    return json_string_value(json_object_get(q->job->params, name));
}

/* What was promised of k; 0: nothing. */
int64_t kn_studio_promised_k(const kn_spec *spec)
{
    for (int i = 0; i < spec->model_count; i++)
        if (spec->models[i].kind == KN_MODEL_K) return spec->models[i].k;
    return 0;
}

/* ---- Opening ---- */

static kn_status read_file(char **out, const char *path, kn_error *err)
{
    FILE *file = fopen(path, "rbe");
    char *bytes = file ? malloc(MOST_FILE + 1) : NULL;
    if (!bytes) {
        if (file) fclose(file);
        return kn_studio_error(err, KN_IO, "%s: cannot be read", path);
    }
    size_t size = fread(bytes, 1, MOST_FILE + 1, file);
    bool   good = !ferror(file) && size <= MOST_FILE && !memchr(bytes, 0, size);
    fclose(file);
    if (!good) {
        free(bytes);
        return kn_studio_error(err, KN_INPUT, "%s: not a release file, or larger than a mebibyte", path);
    }
    bytes[size] = '\0';
    *out = bytes;
    return KN_OK;
}

static kn_status open_release(kn_studio_question *q, kn_studio_step *step, kn_shape *shape, kn_error *err)
{
    const char *path = q->job->owner->session->path;
    kn_status   st = read_file(&step->release, path, err);
    step->files = json_object();
    if (st == KN_OK) st = kn_spec_read_text(&q->spec, q->ctx, step->release, strlen(step->release), path, err);
    if (st == KN_OK) *shape = kn_spec_shape(q->spec);
    return st;
}

static kn_status open_input(kn_studio_question *q, kn_studio_step *step, kn_shape *shape, json_t *notes, kn_error *err)
{
    const char     *input = q->job->owner->session->input;
    kn_init_options options = KN_INIT_OPTIONS_INIT;
    kn_draft       *draft = NULL;
    options.files = true;
    kn_status st = kn_init(&draft, q->ctx, &input, 1, &options, err);
    if (st != KN_OK) return st;
    *shape = draft->shape;
    step->release = strdup(draft->text);
    step->files = json_object();
    for (int i = 0; i < draft->file_count; i++) {
        const kn_draft_file *file = kn_draft_file_at(draft, i);
        json_object_set_new(step->files, file->name, json_stringn(file->text, file->size));
    }
    for (int i = 0; i < draft->note_count; i++) json_array_append_new(notes, json_string(draft->notes[i]));
    kn_draft_free(draft);
    if (!step->release) return kn_studio_error(err, KN_MEMORY, "out of memory while opening");
    return kn_spec_read_text(&q->spec, q->ctx, step->release, strlen(step->release), NULL, err);
}

static kn_status open_it(kn_studio_question *q, kn_error *err)
{
    kn_studio_session *s = q->job->owner->session;
    kn_studio_step     step = {0};
    kn_shape           shape = KN_SHAPE_TABLE;
    json_t            *notes = json_array();
    kn_status          st = s->input ? open_input(q, &step, &shape, notes, err) : open_release(q, &step, &shape, err);
    if (st == KN_OK && shape == KN_SHAPE_TABLE) st = kn_studio_need_table(q, err);
    if (st != KN_OK) {
        kn_studio_session_fail(s, err->message);
        kn_studio_step_free(&step);
        json_decref(notes);
        return st;
    }
    kn_studio_session_open(s, step, shape, s->input == NULL, notes);
    q->own = json_object();
    return KN_OK;
}

/* ---- All of them ---- */

typedef struct kind_row {
    const char *name;
    kn_status (*answer)(kn_studio_question *q, kn_error *err);
    bool reads_session; /* it is about the session's release file as it was when it was asked */
} kind_row;

static const kind_row kinds[] = {
    {"open", open_it, false},
    {"profile", kn_studio_answer_profile, true},
    {"distributions", kn_studio_answer_distributions, true},
    {"diagnose", kn_studio_answer_diagnose, true},
    {"sets", kn_studio_answer_sets, true},
    {"standing", kn_studio_answer_standing, true},
    {"hierarchy", kn_studio_answer_hierarchy, true},
    {"suggest", kn_studio_answer_suggest, true},
    {"frontier", kn_studio_answer_frontier, true},
    {"explain", kn_studio_answer_explain, true},
    {"lattice", kn_studio_answer_lattice, true},
    {"search", kn_studio_answer_search, true},
    {"preview", kn_studio_answer_preview, true},
    {"queries", kn_studio_answer_queries, true},
    {"publish", kn_studio_answer_publish, false},
    {"verify", kn_studio_answer_verify, false},
    {"attack", kn_studio_answer_attack, false},
    {"catalogue", kn_studio_answer_catalogue, false},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

const char *kn_studio_kind(const char *name)
{
    for (int i = 0; i < KINDS; i++)
        if (strcmp(kinds[i].name, name) == 0) return kinds[i].name;
    return NULL;
}

/* The document, or the studio's own answer, as a text from malloc. */
static kn_status write_answer(char **answer, size_t *size, const kn_studio_question *q, kn_error *err)
{
    char     *json = NULL;
    kn_status st = q->doc ? kn_document_json(&json, NULL, q->doc, err) : KN_OK;
    if (st == KN_OK) *answer = q->doc ? strdup(json) : json_dumps(q->own, JSON_COMPACT | JSON_REAL_PRECISION(15));
    kn_text_free(json);
    if (st == KN_OK && !*answer) st = kn_studio_error(err, KN_MEMORY, "out of memory while answering");
    if (st == KN_OK) *size = strlen(*answer);
    return st;
}

kn_status kn_studio_work(char **answer, size_t *size, kn_studio_job *job, kn_error *err)
{
    kn_studio_question q = {.job = job, .ctx = job->ctx};
    int                kind = 0;
    kn_status          st = KN_OK;
    while (strcmp(kinds[kind].name, job->kind) != 0) kind++;
    if (kinds[kind].reads_session) st = read_spec(&q, err);
    if (st == KN_OK) st = kinds[kind].answer(&q, err);
    if (st == KN_OK) st = write_answer(answer, size, &q, err);
    kn_studio_table_give(job->owner->session, q.table);
    kn_document_free(q.doc);
    json_decref(q.own);
    kn_spec_free(q.spec);
    free(q.names);
    return st;
}
