/* pictures.h: pictures of a diagnosis as text, for the terminal: box-drawing characters if the locale is UTF-8, else
 * ASCII. Lines fit the terminal that `out` writes to and begin with two blanks.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_PICTURES_H
#define CLI_PICTURES_H

#include "document.h"

/* The k that is reached by removing rows, the smallest classes first: share removed to the right, k (logarithmic)
 * upwards. `sizes` is the histogram of a diagnosis. Prints nothing if there are fewer than two class sizes. Not for
 * KN_MISSING_WILDCARD, whose crowds overlap. */
void cli_picture_staircase(const cli_value *sizes, FILE *out);

/* The subsets of a list, from an answer "diagnose-over" without staircases: up to six columns, each set with its
 * mark; beyond that, counts per number of columns. */
void cli_picture_lattice(const cli_value *answer, FILE *out);

/* The borders of such an answer, under either of their names: the largest sets with at least k, the smallest with
 * fewer; NULL: none. */
const cli_value *cli_largest_sets(const cli_value *answer);
const cli_value *cli_smallest_sets(const cli_value *answer);

#endif
