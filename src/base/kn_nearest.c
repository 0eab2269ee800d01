/* kn_nearest.c: the distance of two names: added, dropped, changed and swapped characters (Damerau, Levenshtein).
 *
 * Cost: the product of the lengths; names longer than LONGEST characters match nothing. Interface: kn_nearest.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_nearest.h"

#include <ctype.h>
#include <string.h>

enum { LONGEST = 64 };

static int least(int a, int b)
{
    return a < b ? a : b;
}

static bool same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static int edits(const char *a, size_t m, const char *b, size_t n)
{
    int rows[3][LONGEST + 1];
    for (size_t j = 0; j <= n; j++) rows[0][j] = (int)j;
    for (size_t i = 1; i <= m; i++) {
        int *now = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
        now[0] = (int)i;
        for (size_t j = 1; j <= n; j++) {
            now[j] = least(least(last[j], now[j - 1]) + 1, last[j - 1] + !same(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
                now[j] = least(now[j], before[j - 2] + 1);
        }
    }
    return rows[m % 3][n];
}

void kn_nearest_try(kn_nearest *n, const char *name)
{
    size_t m = strlen(n->text), length = strlen(name);
    if (m > LONGEST || length > LONGEST) return;
    int wrong = edits(n->text, m, name, length);
    if (wrong > (int)(length + 1) / 3 || (n->best && wrong >= n->fewest)) return;
    n->best = name;
    n->fewest = wrong;
}
