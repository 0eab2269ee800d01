/* mutant.c: which mutant this process is. Compiled into a build with mutants only (scripts/mutants).
 *
 * KANON_MUTANT is its number; none: the program as it is written. KANON_MUTANT_SEEN is a file of zeros, one byte for each mutant:
 * a shared mapping, so that children, threads and processes that are killed leave what they passed too.
 * KANON_MUTANT_CASE is the one cmocka test to run.
 * SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "mutant.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int            kanon_mutant = -1;
unsigned char *kanon_mutants_seen;

extern void cmocka_set_test_filter(const char *pattern) __attribute__((weak)); /* where the program is a unit test */

__attribute__((constructor)) static void choose_mutant(void)
{
    const char *number = getenv("KANON_MUTANT"), *seen = getenv("KANON_MUTANT_SEEN"),
               *test = getenv("KANON_MUTANT_CASE");
    if (number) kanon_mutant = atoi(number);
    if (test && cmocka_set_test_filter) cmocka_set_test_filter(test);
    if (!seen) return;
    struct stat info;
    int         file = open(seen, O_RDWR | O_CLOEXEC);
    if (file < 0 || fstat(file, &info) != 0) abort();
    void *bytes = mmap(NULL, (size_t)info.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (bytes == MAP_FAILED) abort();
    kanon_mutants_seen = bytes;
}
