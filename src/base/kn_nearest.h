/* kn_nearest.h: the name that a mistyped one was probably meant to be. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_NEAREST_H
#define KN_NEAREST_H

#include <stdbool.h>

/* Start with {.text = what was typed}, try every known name, then read `best`. */
typedef struct kn_nearest {
    const char *text;
    const char *best; /* NULL: none is near. As long as the name that was tried */
    int         fewest;
} kn_nearest;

/* Is this name nearer than those tried so far? At most a third of its characters may be wrong; case is ignored. Of
 * several equally near names the first stays. */
void kn_nearest_try(kn_nearest *n, const char *name);

/* For a format that ends in "%s%s%s": '; did you mean "NAME"?', or nothing. */
#define KN_MEANT(n) (n).best ? "; did you mean \"" : "", (n).best ? (n).best : "", (n).best ? "\"?" : ""

#endif
