/* kn_studio_work.c: the kinds of questions and how the library answers them (kn_studio_jobs.h).
 *
 * An answer is the library's document (docs/json.md), as `kanon --json` prints it; some are of the studio alone, since no
 * other door shows cells: "open", "distributions", "standing", "telling" and "preview" (studio/protocol.json). Hierarchies that are not on disk
 * are put into the job's context under a name in memory.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <kanon/database.h>
#include <kanon/memory.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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
        char place[256];
        snprintf(place, sizeof place, "memory:%s", name);
        if (st == KN_OK) st = kn_memory_put(q->ctx, place, json_string_value(text), json_string_length(text), err);
    }
    return st;
}

/* Is a file named here, behind "hierarchy:" or "file:"? Returns its length with quotes around it; 0: none. */
static size_t named_here(const char *text, size_t at, const json_t *files, const char **name)
{
    const char *key;
    json_t     *ignored;
    size_t      before = at;
    while (before > 0 && text[before - 1] == ' ') before--;
    if (before == at || !((before >= 10 && strncmp(text + before - 10, "hierarchy:", 10) == 0) ||
                          (before >= 5 && strncmp(text + before - 5, "file:", 5) == 0)))
        return 0;
    size_t quote = text[at] == '"' || text[at] == '\'';
    json_object_foreach((json_t *)(uintptr_t)files, key, ignored)
    {
        size_t length = strlen(key), end = at + quote + length;
        if (strncmp(text + at + quote, key, length) != 0 || strpbrk(key, "\"\\'")) continue;
        if (quote ? text[end] != text[at] : !strchr(",}\r\n #", text[end])) continue; /* NUL is among them */
        *name = key;
        return length + 2 * quote;
    }
    return 0;
}

/* The release file with the files that are not on disk under their names in memory; from malloc. */
static char *with_memory(const kn_studio_step *step)
{
    const char *text = step->release, *name = NULL;
    size_t      size = strlen(text), count = 0, to = 0, longest = 0;
    json_t     *ignored;
    json_object_foreach(step->files, name, ignored) if (strlen(name) > longest) longest = strlen(name);
    for (const char *c = text; *c; c++) count += *c == ':';
    char *out = malloc(size + count * (longest + sizeof "\"memory:\"") + 1);
    for (size_t at = 0; out && at < size;) {
        size_t length = named_here(text, at, step->files, &name);
        if (length > 0)
            to += (size_t)sprintf(out + to, "\"memory:%s\"", name);
        else
            out[to++] = text[at];
        at += length > 0 ? length : 1;
    }
    if (out) out[to] = '\0';
    return out;
}

static kn_status read_spec(kn_studio_question *q, kn_error *err)
{
    if (!q->job->step.release) return kn_studio_error(err, KN_USAGE, "the data are not read yet");
    char *text = with_memory(&q->job->step);
    if (!text) return kn_studio_error(err, KN_MEMORY, "out of memory while asking");
    kn_status st = put_files(q, err);
    if (st == KN_OK) st = kn_spec_read_text(&q->spec, q->ctx, text, strlen(text), q->job->owner->session->path, err);
    free(text);
    return st;
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

/* Is it the name of a file of records, as kn_init takes it? */
static bool records_named(const char *input)
{
    static const char *const endings[] = {".xml", ".json", ".jsonl", ".ndjson"};
    size_t                   length = strlen(input);
    if (length > 3 && strcmp(input + length - 3, ".gz") == 0) length -= 3;
    if (length > 4 && strncmp(input + length - 4, ".zst", 4) == 0) length -= 4;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        size_t end = strlen(endings[i]);
        if (length >= end && strncasecmp(input + length - end, endings[i], end) == 0) return true;
    }
    return false;
}

static kn_status open_input(kn_studio_question *q, kn_studio_step *step, kn_shape *shape, json_t *notes, kn_error *err)
{
    const char     *input = q->job->owner->session->input;
    kn_init_options options = KN_INIT_OPTIONS_INIT;
    kn_draft       *draft = NULL;
    kn_status       st = KN_OK;
    options.files = true;
    if (!kn_database_named(input) && !records_named(input)) { /* one reading for the draft and all that follows */
        st = kn_spec_create(&q->spec, q->ctx, err);
        if (st == KN_OK) st = kn_spec_set_texts(q->spec, "input", &input, 1, "input", err);
        if (st == KN_OK) st = kn_studio_need_table(q, err);
        if (st != KN_OK) return st;
        options.table = q->table->table;
    }
    st = kn_init(&draft, q->ctx, &input, 1, &options, err);
    kn_spec_free(q->spec);
    q->spec = NULL;
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
    if (q->job->step.release)
        return kn_studio_error(err, KN_USAGE, "something is open already; start another studio for it");
    kn_status st = s->choosing ? kn_studio_choose(q, err) : KN_OK;
    if (st != KN_OK) return st; /* another may be chosen, or is being opened */
    json_t *notes = json_array();
    st = s->input ? open_input(q, &step, &shape, notes, err) : open_release(q, &step, &shape, err);
    kn_studio_table_give(s, q->table); /* the draft may ask for another reading */
    q->table = NULL;
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
    {"folder", kn_studio_answer_folder, false},
    {"profile", kn_studio_answer_profile, true},
    {"distributions", kn_studio_answer_distributions, true},
    {"diagnose", kn_studio_answer_diagnose, true},
    {"sets", kn_studio_answer_sets, true},
    {"standing", kn_studio_answer_standing, true},
    {"telling", kn_studio_answer_telling, true},
    {"hierarchy", kn_studio_answer_hierarchy, true},
    {"suggest", kn_studio_answer_suggest, true},
    {"frontier", kn_studio_answer_frontier, true},
    {"explain", kn_studio_answer_explain, true},
    {"lattice", kn_studio_answer_lattice, true},
    {"search", kn_studio_answer_search, true},
    {"preview", kn_studio_answer_preview, true},
    {"queries", kn_studio_answer_queries, true},
    {"trees", kn_studio_answer_trees, true},
    {"publish", kn_studio_answer_publish, false},
    {"released", kn_studio_answer_released, false},
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
