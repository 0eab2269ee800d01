/* kn_once.h: inputs that are one table are each another one. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_ONCE_H
#define KN_ONCE_H

#include <kanon/context.h>

/* Refuses files and tables of which two are one, by whatever names: whoever stands there would count as two people. Of a
 * folder or pattern its parts are looked at. Tables of a server, and queries, are known by their words alone. */
KN_CHECK kn_status kn_once_check(kn_context *ctx, const char *const *names, int count, kn_error *err);

#endif
