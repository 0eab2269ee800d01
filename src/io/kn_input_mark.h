/* kn_input_mark.h: an input that is read twice: has it changed, and how is a server asked for its earlier state?
 *
 * A release is made from one reading of the original and verified by another. Files are marked by their metadata; a
 * SQLite file's journal and log count too. A server keeps its current state: an idle transaction is held open, and
 * readers use its snapshot.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_INPUT_MARK_H
#define KN_INPUT_MARK_H

#include <kanon/context.h>

typedef struct kn_input_mark kn_input_mark;

/* Of a file, a folder, "sqlite:FILE" or "postgresql://...", before it is read. A nonexistent input has a mark too:
 * reading it gives a better message. KN_IO: the server cannot be reached. */
KN_CHECK kn_status kn_input_mark_take(kn_input_mark **out, kn_context *ctx, const char *name, kn_error *err);
void               kn_input_mark_free(kn_input_mark *mark); /* NULL is fine */

/* For kn_database_options.snapshot; NULL: the input has none. Lives as long as the mark. */
const char *kn_input_mark_snapshot(const kn_input_mark *mark);

/* Has it changed since? Never for a server, whose snapshot stays. NULL: no. */
bool kn_input_mark_changed(const kn_input_mark *mark);

#endif
