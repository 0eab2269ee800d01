/* kn_csv_sniff.c: which delimiter a CSV text uses.
 *
 * Each candidate splits the first records of the sample; the one whose records all have the same number (> 1) of
 * cells wins, more cells before fewer, candidates in the order , ; tab | at a tie. If none is even throughout, the
 * one whose records agree longest from the start wins: then the reader's error about the first uneven record is
 * useful.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_csv_scan.h"

enum { SNIFF_RECORDS = 200, SNIFF_FIELDS = 1024 };

typedef struct evidence {
    size_t cells;   /* in the first record                     */
    size_t records; /* at the start that have as many cells    */
    bool   even;    /* all of them                             */
} evidence;

static evidence try_delimiter(const char *sample, size_t size, bool whole, char delimiter)
{
    kn_csv_scanner scanner;
    kn_csv_field   fields[SNIFF_FIELDS];
    evidence       e = {0, 0, true};
    kn_csv_scanner_init(&scanner, sample, size, whole, delimiter, 0);
    for (int r = 0; r < SNIFF_RECORDS; r++) {
        size_t        count = 0;
        kn_csv_result result = kn_csv_scan_any(&scanner, fields, SNIFF_FIELDS, &count);
        if (result == KN_CSV_MORE) break; /* the sample ends here */
        if (result == KN_CSV_TOO_MANY && r == 0) {
            e.cells = SNIFF_FIELDS;
            e.records = 1;
            break;
        }
        if (result != KN_CSV_OK) e.even = false;
        if (result != KN_CSV_OK || count == 0) break;
        if (r == 0) e.cells = count;
        if (count != e.cells) {
            e.even = false;
            break;
        }
        e.records++;
    }
    return e;
}

static bool better(evidence a, evidence b)
{
    if ((a.cells > 1) != (b.cells > 1)) return a.cells > 1;
    if (a.even != b.even) return a.even;
    if (!a.even && a.records != b.records) return a.records > b.records;
    return a.cells > b.cells;
}

char kn_csv_sniff(const char *sample, size_t size, bool whole)
{
    static const char candidates[] = {',', ';', '\t', '|'};
    char              best = ',';
    evidence          most = {0, 0, false};
    for (size_t i = 0; i < sizeof candidates; i++) {
        evidence e = try_delimiter(sample, size, whole, candidates[i]);
        if (i > 0 && !better(e, most)) continue;
        most = e;
        best = candidates[i];
    }
    return best;
}
