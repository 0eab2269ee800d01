/* kn_options.h: options of programs that were compiled against an older or a newer library.
 *
 * A struct of options begins with its size and grows at its end only (docs/library.md, "Stability"). What an older program
 * does not know keeps its default; what a newer program sets and this library does not know is refused, never ignored.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_OPTIONS_H
#define KN_OPTIONS_H

#include "kn_error.h"

/* Copies the options `from` a program (NULL: none) over the defaults `to`, a struct of `known` bytes. `what` names
 * them in the message: "CSV options". KN_USAGE: the size was not set, or a member that is unknown here is. */
KN_CHECK kn_status kn_options_take(void *to, size_t known, const void *from, const char *what, kn_error *err);

/* The same for a parameter, which then points at the copy: KN_OPTIONS(kn_csv_options, KN_CSV_OPTIONS_INIT, options,
 * "CSV options", err). */
#define KN_OPTIONS(type, init, parameter, what, err)                                                                   \
    type kn_own_##parameter = init;                                                                                    \
    KN_TRY(kn_options_take(&kn_own_##parameter, sizeof(type), (parameter), (what), (err)));                            \
    (parameter) = &kn_own_##parameter

#endif
