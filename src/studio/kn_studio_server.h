/* kn_studio_server.h: what kn_studio.c and the server share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_STUDIO_SERVER_H
#define KN_STUDIO_SERVER_H

#include "kn_studio.h"
#include "kn_studio_browser.h"
#include "kn_studio_http.h"
#include "kn_studio_jobs.h"
#include "kn_studio_request.h"

struct kn_studio {
    kn_studio_http     http;
    struct MHD_Daemon *daemon;
    kn_studio_door     door;
    kn_studio_session  session;
    kn_studio_jobs     jobs;
    kn_studio_browser  browser;
    char               address[128];
};

/* Listens; fills in the door and the address. */
KN_CHECK kn_status kn_studio_listen(kn_studio *studio, kn_error *err);

/* Closes all connections. Streams end when the jobs are stopped: do that first. */
void kn_studio_close(kn_studio *studio);

#endif
