/* kn_studio_http.h: libmicrohttpd, loaded when a studio starts; one table of all its functions that are called.
 *
 * The program is not linked with it: it brings GnuTLS and eight other libraries along, which no other command needs. Types
 * and signatures are those of its header.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_STUDIO_HTTP_H
#define KN_STUDIO_HTTP_H

#include <kanon/context.h>
#include <microhttpd.h>

/* The functions, without their MHD_; the table has a member for each. */
#define KN_STUDIO_HTTP_FUNCTIONS(each)                                                                                 \
    each(add_response_header) each(create_response_from_buffer) each(create_response_from_callback)                    \
    each(destroy_response) each(get_connection_values) each(queue_response) each(start_daemon) each(stop_daemon)

typedef struct kn_studio_http {
    void *handle; /* NULL: not loaded */
#define KN_STUDIO_HTTP_MEMBER(name) __typeof__(MHD_##name) *name;
    KN_STUDIO_HTTP_FUNCTIONS(KN_STUDIO_HTTP_MEMBER)
#undef KN_STUDIO_HTTP_MEMBER
} kn_studio_http;

/* Fills the table. KN_USAGE: libmicrohttpd is not installed, or lacks a function. */
KN_CHECK kn_status kn_studio_http_open(kn_studio_http *out, kn_error *err);
void               kn_studio_http_close(kn_studio_http *http); /* not loaded is fine */

#endif
