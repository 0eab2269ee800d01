/* kn_studio.h: the studio: the engine with a page, served from the program itself to a browser on the same machine.
 *
 * It uses the public headers alone (include/kanon), as src/cli does. One session: a table, a database or records, and
 * the release file that is being written for them. Nothing is written until the page asks for it; what is written is the
 * release file, hierarchies that were made here, and the release.
 *
 * Its own memory comes from malloc; what jobs and tables take is counted against the memory limit.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_STUDIO_H
#define KN_STUDIO_H

#include <kanon/context.h>

typedef struct kn_studio kn_studio;

typedef struct kn_studio_options {
    size_t      size;         /* sizeof(kn_studio_options), set by the initializer                          */
    const char *input;        /* a table, a database or records; NULL: what the release file names, or, without
                                 one, what is chosen on the page                                            */
    const char *release;      /* the release file: read if there is no input, else where it is saved;
                                 NULL: release.yaml. Paths in it are relative to the working folder         */
    int         threads;      /* of each job; 0: as many as processors are available                        */
    uint64_t    memory_limit; /* bytes for the data, and for each job; 0: none                              */
    const char *version;      /* of the program, for certificates; NULL: none                               */
} kn_studio_options;

#define KN_STUDIO_OPTIONS_INIT {sizeof(kn_studio_options), NULL, NULL, 0, 0, NULL}

/* Listens on a free port of the loopback address and begins to read the input; returns at once. KN_INPUT: there is no such
 * file; KN_USAGE: no libmicrohttpd; KN_IO: no port. */
KN_CHECK kn_status kn_studio_start(kn_studio **out, const kn_studio_options *options, kn_error *err);

/* "http://127.0.0.1:PORT/#TOKEN": whoever knows it may use the session. Valid until kn_studio_stop. */
const char *kn_studio_address(const kn_studio *studio);

/* Opens the address in the user's browser (xdg-open), once; false: there is none. */
bool kn_studio_open(kn_studio *studio);

/* Cancels all jobs, closes all connections and frees everything. NULL is fine. */
void kn_studio_stop(kn_studio *studio);

#endif
