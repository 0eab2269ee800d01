/* kn_studio.c: starting and stopping the studio (kn_studio.h). */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kn_studio.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kn_studio_server.h"

/* A file that is not there needs no page that says so. Standard input, and what has a scheme or is part of a file, is opened by
 * its reader. */
static kn_status check_there(const kn_studio_options *o, kn_error *err)
{
    const char *name = o->input ? o->input : o->release;
    if (!name || (o->input && (strpbrk(name, ":#?") || strcmp(name, "-") == 0)) || access(name, F_OK) == 0 ||
        errno != ENOENT)
        return KN_OK;
    return kn_studio_error(err, KN_INPUT, "%s: cannot open: %s", name, strerror(errno));
}

kn_status kn_studio_start(kn_studio **out, const kn_studio_options *options, kn_error *err)
{
    kn_status  st = check_there(options, err);
    kn_studio *s = st == KN_OK ? calloc(1, sizeof *s) : NULL;
    if (st != KN_OK) return st;
    if (!s) return kn_studio_error(err, KN_MEMORY, "out of memory while starting the studio");
    s->jobs.threads = options->threads;
    s->jobs.memory_limit = options->memory_limit;
    s->jobs.version = options->version;
    if (!kn_studio_session_init(&s->session, options->input, options->release))
        st = kn_studio_error(err, KN_MEMORY, "out of memory while starting the studio");
    if (!kn_studio_jobs_start(&s->jobs, &s->session) && st == KN_OK)
        st = kn_studio_error(err, KN_IO, "no thread can be started");
    if (st == KN_OK) st = kn_studio_listen(s, err);
    if (st == KN_OK && !s->session.choosing && kn_studio_ask(&s->jobs, "open", NULL) <= 0)
        st = kn_studio_error(err, KN_MEMORY, "out of memory while starting the studio");
    if (st == KN_OK)
        *out = s;
    else
        kn_studio_stop(s);
    return st;
}

const char *kn_studio_address(const kn_studio *s)
{
    return s->address;
}

bool kn_studio_open(kn_studio *s)
{
    return kn_studio_browser_start(&s->browser, s->address);
}

void kn_studio_stop(kn_studio *s)
{
    if (!s) return;
    kn_studio_jobs_stop(&s->jobs);
    kn_studio_close(s);
    kn_studio_browser_end(&s->browser);
    kn_studio_jobs_free(&s->jobs);
    kn_studio_session_free(&s->session);
    free(s);
}
