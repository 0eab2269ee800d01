/* fuzz_questions.c: bytes → a question to the studio, behind a good request → an answer.
 *
 * The first line is the kind of question, the rest its parameters as JSON. The session has a small table and a release file. Questions
 * that write, or look for other files, are left out. An answer is JSON, and there is one the second time too; a failure is one of the
 * question and says what is wrong.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kn_studio_jobs.h"
#include "kn_studio_request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char rows[] = "age,zip,sex,disease\n23,10115,m,flu\n24,10115,m,cold\n25,10117,f,flu\n31,10117,f,asthma\n"
                           "33,10119,m,cold\n37,10119,m,flu\n41,20095,f,cold\n43,20095,f,asthma\n45,20097,m,flu\n"
                           "52,20097,m,cold\n55,20099,f,asthma\n,20099,f,flu\n";

static struct {
    kn_studio_session session;
    kn_studio_jobs    jobs;
    kn_studio_step    step;
} studio;

static void demand(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "fuzz_questions: %s\n", what);
    abort();
}

static char path[64];

static void remove_table(void)
{
    unlink(path);
}

static void prepare(void)
{
    char release[1000];
    if (studio.jobs.session) return;
    snprintf(path, sizeof path, "/dev/shm/kanon-fuzz-%ld.csv", (long)getpid());
    FILE *file = fopen(path, "wb");
    demand(file && fwrite(rows, 1, sizeof rows - 1, file) == sizeof rows - 1 && fclose(file) == 0, "no table");
    atexit(remove_table);
    snprintf(release, sizeof release,
             "kanon: 1\ninput: %s\noutput: /dev/shm/kanon-fuzz-none.csv\nattributes:\n"
             "  age: {role: quasi, hierarchy: {ranges: [10, 20]}}\n  zip: {role: quasi, hierarchy: zip.csv}\n"
             "  sex: {role: quasi, hierarchy: suppress}\n  disease: sensitive\nprivacy: [k: 2]\nsuppression: 0.2\n",
             path);
    demand(kn_studio_session_init(&studio.session, path, "/dev/shm/kanon-fuzz-none.yaml"), "no session");
    studio.step.release = strdup(release);
    studio.step.files =
        json_pack("{s:s}", "zip.csv",
                  "10115;101**;*\n10117;101**;*\n10119;101**;*\n20095;200**;*\n20097;200**;*\n20099;200**;*\n");
    demand(studio.step.release && studio.step.files, "no memory");
    studio.jobs.session = &studio.session;
    studio.jobs.threads = 1;
    studio.jobs.memory_limit = (uint64_t)1 << 28;
    studio.jobs.version = "0";
    pthread_mutex_init(&studio.jobs.lock, NULL);
}

/* The answer; NULL: there is none. */
static char *ask(const char *kind, json_t *params)
{
    kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
    kn_studio_job      job = {.id = 1, .kind = kind, .params = params, .step = studio.step, .owner = &studio.jobs};
    kn_error           err = KN_ERROR_INIT;
    char              *answer = NULL;
    size_t             size = 0;
    options.threads = 1;
    options.memory_limit = (uint64_t)1 << 28;
    demand(kn_context_create(&job.ctx, &options, NULL) == KN_OK, "no context");
    kn_status st = kn_studio_work(&answer, &size, &job, &err);
    demand((st == KN_OK) == (answer != NULL), "an answer and a failure, or neither");
    if (st != KN_OK && (st == KN_INTERNAL || !err.message[0])) fprintf(stderr, "%s: %s\n", kind, err.message);
    demand(st == KN_OK || (st != KN_INTERNAL && err.message[0]), "a failure that is none of the question");
    if (answer) {
        json_t *read = json_loadb(answer, size, JSON_REJECT_DUPLICATES, NULL);
        demand(json_is_object(read), "an answer that is no JSON");
        json_decref(read);
    }
    kn_context_free(job.ctx);
    return answer;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const left_out[] = {"open", "folder", "publish", "released", "verify", "attack"};
    const uint8_t           *end = size > 0 ? memchr(data, '\n', size) : NULL;
    char                     name[32] = "";
    if (!end || end - data >= (ptrdiff_t)sizeof name) return 0;
    memcpy(name, data, (size_t)(end - data));
    const char *kind = kn_studio_kind(name);
    for (size_t i = 0; kind && i < sizeof left_out / sizeof *left_out; i++)
        if (strcmp(kind, left_out[i]) == 0) kind = NULL;
    json_t *params = kind ? kn_studio_body((const char *)end + 1, (size_t)(data + size - end) - 1) : NULL;
    if (!params) return 0;
    prepare();
    char *first = ask(kind, params), *second = ask(kind, params);
    demand((first == NULL) == (second == NULL), "an answer one time only");
    free(first);
    free(second);
    json_decref(params);
    return 0;
}
