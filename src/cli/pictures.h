/* pictures.h: pictures of a diagnosis as text, for the terminal: box-drawing characters where the locale is UTF-8, ASCII
 * otherwise. Lines fit the terminal behind `out` and begin with two blanks.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_PICTURES_H
#define CLI_PICTURES_H

#include "document.h"

/* The k that is reached by removing rows, the smallest classes first: share removed to the right, k (logarithmic)
 * upwards. `sizes` is the histogram of a diagnosis. Prints nothing where there are fewer than two class sizes. Not for
 * KN_MISSING_WILDCARD, whose crowds overlap. */
void cli_picture_staircase(const cli_value *sizes, FILE *out);

/* The subsets of a list, of an answer that has them ("diagnose-over", without staircases): each set with its mark up to six
 * columns, counts per number of columns above. */
void cli_picture_lattice(const cli_value *answer, FILE *out);

/* The borders of such an answer, whatever its reading calls them: the largest sets of at least k, the smallest of fewer; NULL:
 * there is none. */
const cli_value *cli_largest_sets(const cli_value *answer);
const cli_value *cli_smallest_sets(const cli_value *answer);

#endif
