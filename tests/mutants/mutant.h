/* mutant.h: the first line of every file with mutants (scripts/mutants). KANON_MUTANT(n) is true where the program runs
 * as mutant n; where it records, the byte of every n that it passes is set.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KANON_MUTANT_H
#define KANON_MUTANT_H

extern int            kanon_mutant;
extern unsigned char *kanon_mutants_seen;

#define KANON_MUTANT(n) (kanon_mutant == (n) || (kanon_mutants_seen && ((kanon_mutants_seen[n] = 1), 0)))

#endif
