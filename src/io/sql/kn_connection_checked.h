/* kn_connection_checked.h: what an engine says, checked. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_CONNECTION_CHECKED_H
#define KN_CONNECTION_CHECKED_H

#include <kanon/arrow.h>

/* Puts a check between the stream and its readers; the caller releases it, also after a failure. `what` begins messages. */
KN_CHECK kn_status kn_connection_checked(struct ArrowArrayStream *stream, kn_context *ctx, const char *what, kn_error *err);

/* Ends a text within its room, and makes UTF-8 of it: other bytes become '?'. */
void kn_message_clean(char *text, size_t room);

#endif
