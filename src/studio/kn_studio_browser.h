/* kn_studio_browser.h: the browser that a studio started. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_STUDIO_BROWSER_H
#define KN_STUDIO_BROWSER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

typedef struct kn_studio_browser {
    char        path[300]; /* the file that leads to the address */
    atomic_bool written;   /* ... is there                       */
    pid_t       child;     /* 0: none was started                */
} kn_studio_browser;

/* Starts the user's browser; false: there is none, and nothing is left. */
bool kn_studio_browser_start(kn_studio_browser *browser, const char *address);

/* The page was loaded: the file has done its work. From any thread, as often as one likes. */
void kn_studio_browser_loaded(kn_studio_browser *browser);

/* Removes what is left. The browser stays. */
void kn_studio_browser_end(kn_studio_browser *browser);

#endif
