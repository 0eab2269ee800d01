/* pictures.h: pictures of a diagnosis as text, for the terminal: box-drawing characters where the locale is UTF-8, ASCII
 * otherwise. Lines fit the terminal behind `out` and begin with two blanks.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_PICTURES_H
#define CLI_PICTURES_H

#include <kanon/questions.h>

#include "cli.h"

/* The k that is reached by removing rows, the smallest classes first: share removed to the right, k (logarithmic)
 * upwards. Prints nothing where there are fewer than two class sizes. Not for KN_MISSING_WILDCARD, whose crowds
 * overlap. */
void cli_picture_staircase(const kn_diagnosis *d, FILE *out);

/* The subsets of `names`: each set with its mark up to six columns, counts per number of columns above. `k` is the one
 * the question was asked with, 0 where none was (then each set has its own k); for "at most k" pass k + 1. */
void cli_picture_lattice(const kn_sets_diagnosis *d, const char *const *names, int n, int64_t k, FILE *out);

#endif
