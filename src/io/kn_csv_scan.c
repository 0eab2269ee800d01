/* kn_csv_scan.c: finds the cells of CSV text in two steps.
 *
 * First, the positions of the four characters that matter (delimiter, quote, CR, LF) are listed, 8 KiB at a time
 * (kn_csv_index.c). A list that is nothing but whole records of plain cells is taken at once. Any other record without
 * quotes is that many delimiters and a line end, which a short loop checks and takes; the rest goes through a small
 * automaton. Plain cells cost one list entry each, whatever their length. Interface and grammar: kn_csv_scan.h. Limits: a
 * text is shorter than 2 GiB.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_csv_scan.h"

#include <string.h>

#if defined __x86_64__
#include <emmintrin.h>
#endif

static void restart(kn_csv_scanner *s, size_t at)
{
    s->index_from = s->indexed = at;
    s->index_count = s->index_next = 0;
    s->judged = false;
}

void kn_csv_scanner_init(kn_csv_scanner *s, const char *base, size_t size, bool last, char delimiter, size_t at)
{
    s->base = base;
    s->size = size;
    s->last = last;
    s->delimiter = delimiter;
    s->at = at;
    s->error_at = 0;
    s->lines = 0;
    s->seen.odd = s->seen.other = false;
    s->seen.lines = 0;
    s->find = kn_csv_index_variant(0);
    restart(s, at);
}

static bool next_block(kn_csv_scanner *s)
{
    do {
        if (s->indexed == s->size) return false;
        size_t n = s->size - s->indexed;
        if (n > KN_CSV_INDEX) n = KN_CSV_INDEX;
        s->index_from = s->indexed;
        s->seen.other = false;
        s->seen.lines = 0;
        s->index_count = (uint32_t)s->find(s->base + s->indexed, n, s->delimiter, s->index, &s->seen);
        s->index_next = 0;
        s->judged = false;
        s->indexed += n;
    } while (s->index_count == 0);
    return true;
}

static inline bool next_mark(kn_csv_scanner *s, size_t *at)
{
    if (s->index_next == s->index_count && !next_block(s)) return false;
    *at = s->index_from + s->index[s->index_next++];
    return true;
}

/* Goes from an opening quote to its closing one; *close is its position. */
static kn_csv_result scan_quoted(kn_csv_scanner *s, size_t open, size_t *close, bool *doubled)
{
    size_t q;
    while (next_mark(s, &q)) {
        char c = s->base[q];
        if (c == '"') {
            if (q + 1 == s->size && !s->last) return KN_CSV_MORE; /* perhaps the first of two */
            if (q + 1 == s->size || s->base[q + 1] != '"') {
                *close = q;
                return KN_CSV_OK;
            }
            *doubled = true;
            (void)next_mark(s, &q);
        } else if (c == '\n' || (c == '\r' && !(q + 1 < s->size && s->base[q + 1] == '\n'))) {
            s->lines++;
        }
    }
    if (!s->last) return KN_CSV_MORE;
    s->error_at = open;
    return KN_CSV_UNTERMINATED;
}

static inline bool ends_record(char c)
{
    return c == '\n' || c == '\r';
}

/* Passes the end of a record at `at`; false: a CR is the last byte so far and an LF may follow. */
static inline bool pass_line_end(kn_csv_scanner *s, size_t at)
{
    size_t next = at + 1;
    if (s->base[at] == '\r') {
        if (next == s->size && !s->last) return false;
        if (next < s->size && s->base[next] == '\n') {
            next++;
            (void)next_mark(s, &at);
        }
    }
    s->at = next;
    s->lines++;
    return true;
}

/* Scans the record at s->at, which is not empty text, into fields[0 .. *count). */
static inline kn_csv_result scan_record(kn_csv_scanner *s, kn_csv_field *fields, size_t capacity, size_t *count)
{
    size_t begin = s->at, n = 0, mark = 0;
    size_t open = 0, close = 0; /* of a quoted cell waiting for its delimiter */
    bool   quoted = false, doubled = false;
    for (;;) {
        bool end_of_text = !next_mark(s, &mark);
        if (end_of_text) {
            if (!s->last) return KN_CSV_MORE;
            mark = s->size;
        } else if (s->base[mark] == '"') {
            if (mark != begin || quoted) continue; /* an ordinary character */
            kn_csv_result r = scan_quoted(s, mark, &close, &doubled);
            if (r != KN_CSV_OK) return r;
            open = mark;
            quoted = true;
            char after = close + 1 < s->size ? s->base[close + 1] : '\n';
            if (after == s->delimiter || ends_record(after)) continue;
            s->error_at = close + 1;
            return KN_CSV_AFTER_QUOTE;
        }
        if (n == capacity) {
            s->error_at = begin;
            return KN_CSV_TOO_MANY;
        }
        size_t from = quoted ? open + 1 : begin, size = quoted ? close - from : mark - from;
        if (mark - s->at > KN_CSV_MAX_RECORD) {
            s->error_at = s->at;
            return KN_CSV_TOO_LONG;
        }
        fields[n++] = (kn_csv_field){(uint32_t)from, (uint32_t)size & INT32_MAX, doubled};
        if (end_of_text) {
            s->at = s->size;
            break;
        }
        if (s->base[mark] == s->delimiter) {
            begin = mark + 1;
            quoted = doubled = false;
            continue;
        }
        if (!pass_line_end(s, mark)) return KN_CSV_MORE;
        break;
    }
    *count = n;
    return KN_CSV_OK;
}

/* Passes blank lines at s->at. KN_CSV_MORE as for records. */
static kn_csv_result skip_blank_lines(kn_csv_scanner *s)
{
    while (s->at < s->size && ends_record(s->base[s->at])) {
        size_t mark = s->at;
        (void)next_mark(s, &mark);
        if (!pass_line_end(s, mark)) return KN_CSV_MORE;
    }
    return KN_CSV_OK;
}

/* Is the rest of the list nothing but whole records of `columns` plain cells that end with LF, and the beginning of one more? Without quotes
 * and CRs it is, if every record's last mark is an LF and there are as many LFs as records. */
static void judge(kn_csv_scanner *s, size_t columns)
{
    const char *text = s->base + s->index_from;
    size_t next = s->index_next, count = s->index_count, end = next + (count - next) / columns * columns, lines = 0;
    s->judged = true;
    s->even = 0;
    s->even_columns = columns;
    if (s->seen.other) return;
    for (size_t i = 0; i < next; i++) lines += text[s->index[i]] == '\n';
    for (size_t i = next + columns - 1; i < end; i += columns, lines++)
        if (text[s->index[i]] != '\n') return;
    for (size_t i = end; i < count; i++) lines += text[s->index[i]] == '\n';
    if (lines == s->seen.lines) s->even = (uint32_t)end;
}

/* Plain cells that end at the marks [from, to), each of which begins behind the mark before it; `shift` is where the marks count from. */
static void fill_cells(kn_csv_field *fields, const uint32_t *mark, size_t from, size_t to, uint32_t shift)
{
    size_t i = from;
#if defined __x86_64__
    const __m128i behind = _mm_set1_epi32((int)(shift + 1)), one = _mm_set1_epi32(1);
    for (; i + 4 <= to; i += 4) {
        __m128i last = _mm_loadu_si128((const __m128i *)(const void *)(mark + i - 1));
        __m128i end = _mm_loadu_si128((const __m128i *)(const void *)(mark + i));
        __m128i begin = _mm_add_epi32(last, behind), size = _mm_sub_epi32(_mm_sub_epi32(end, last), one);
        _mm_storeu_si128((__m128i *)(void *)(fields + i), _mm_unpacklo_epi32(begin, size));
        _mm_storeu_si128((__m128i *)(void *)(fields + i + 2), _mm_unpackhi_epi32(begin, size));
    }
#endif
    for (; i < to; i++) fields[i] = (kn_csv_field){shift + mark[i - 1] + 1, (mark[i] - mark[i - 1] - 1) & INT32_MAX, 0};
}

/* Takes records of a list that is even, all at once; returns how many. */
static size_t scan_even(kn_csv_scanner *s, size_t stop, size_t columns, kn_csv_field *fields, size_t most)
{
    if (!s->judged || s->even_columns != columns) judge(s, columns);
    if (s->even <= s->index_next || s->at >= stop) return 0;
    const uint32_t *mark = s->index + s->index_next;
    size_t          records = (s->even - s->index_next) / columns;
    uint32_t        shift = (uint32_t)s->index_from, from = (uint32_t)s->at;
    if (records > most) records = most;
    while (records > 1 && s->index_from + mark[(records - 1) * columns - 1] + 1 >= stop) records--;
    size_t cells = records * columns;
    fields[0] = (kn_csv_field){from, (shift + mark[0] - from) & INT32_MAX, 0};
    fill_cells(fields, mark, 1, cells, shift);
    s->index_next += (uint32_t)cells;
    s->at = s->index_from + mark[cells - 1] + 1;
    s->lines += records;
    return records;
}

/* Takes records that are nothing but cells, delimiters and a line end, as long as the list holds them whole; returns how many. What
 * is left, if anything, is for scan_record. */
static size_t scan_plain(kn_csv_scanner *s, size_t stop, size_t columns, kn_csv_field *fields, size_t most)
{
    const char *text = s->base + s->index_from;
    size_t      records = 0;
    while (records < most && s->at < stop && s->index_next + columns <= s->index_count) {
        const uint32_t *mark = s->index + s->index_next;
        uint32_t        shift = (uint32_t)s->index_from, from = (uint32_t)s->at;
        for (size_t c = 0; c + 1 < columns; c++) {
            if (text[mark[c]] != s->delimiter) return records;
            uint32_t end = shift + mark[c];
            fields[c] = (kn_csv_field){from, (end - from) & INT32_MAX, 0};
            from = end + 1;
        }
        const uint32_t *last = mark + columns - 1, *end = s->index + s->index_count;
        bool            both = text[*last] == '\r' && last + 1 < end && last[1] == *last + 1 && text[last[1]] == '\n';
        if (text[*last] != '\n' && !both) return records;
        fields[columns - 1] = (kn_csv_field){from, (shift + *last - from) & INT32_MAX, 0};
        s->index_next += (uint32_t)columns + both;
        s->at = s->index_from + *last + 1 + both;
        s->lines++;
        fields += columns;
        records++;
    }
    return records;
}

kn_csv_result kn_csv_scan(kn_csv_scanner *s, size_t stop, int columns, kn_csv_field *fields, size_t max_records,
                          size_t *records)
{
    kn_csv_result r = KN_CSV_OK;
    *records = 0;
    while (*records < max_records) {
        *records += scan_even(s, stop, (size_t)columns, fields + *records * (size_t)columns, max_records - *records);
        *records += scan_plain(s, stop, (size_t)columns, fields + *records * (size_t)columns, max_records - *records);
        if (*records == max_records || s->at >= stop || s->at == s->size) break;
        uint64_t lines = s->lines;
        if (columns > 1 && ends_record(s->base[s->at])) { /* a blank line */
            size_t mark = s->at;
            (void)next_mark(s, &mark);
            if (pass_line_end(s, mark)) continue;
            restart(s, s->at);
            r = KN_CSV_MORE;
            break;
        }
        size_t start = s->at, count = 0;
        r = scan_record(s, fields + *records * (size_t)columns, (size_t)columns, &count);
        if (r == KN_CSV_OK && count < (size_t)columns) {
            s->error_at = start;
            r = KN_CSV_TOO_FEW;
        }
        if (r != KN_CSV_OK) {
            s->at = start;
            s->lines = lines;
            restart(s, start);
            break;
        }
        ++*records;
    }
    return r;
}

kn_csv_result kn_csv_scan_any(kn_csv_scanner *s, kn_csv_field *fields, size_t capacity, size_t *count)
{
    *count = 0;
    kn_csv_result r = skip_blank_lines(s);
    uint64_t      lines = s->lines;
    size_t        start = s->at;
    s->judged = false;
    if (r == KN_CSV_OK && s->at < s->size) r = scan_record(s, fields, capacity, count);
    if (r != KN_CSV_OK) {
        s->at = start;
        s->lines = lines;
        restart(s, start);
    }
    return r;
}

size_t kn_csv_undouble(char *out, const char *text, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < size; i++) {
        out[n++] = text[i];
        if (text[i] == '"') i++; /* inside a cell quotes come in pairs */
    }
    return n;
}

size_t kn_csv_guess_start(const char *base, size_t size, size_t from, bool inside)
{
    for (size_t i = from; i < size; i++) {
        char c = base[i];
        if (c == '"') inside = !inside;
        if (inside || !ends_record(c)) continue;
        if (c == '\r' && i + 1 < size && base[i + 1] == '\n') i++;
        return i + 1;
    }
    return size;
}

size_t kn_csv_count_quotes(const char *text, size_t size)
{
    const char *end = text + size;
    size_t      n = 0;
    /* Most files have none, some have a few: memchr is fastest. */
    for (int tries = 0; tries < 16; tries++) {
        text = memchr(text, '"', (size_t)(end - text));
        if (!text) return n;
        text++;
        n++;
    }
    while (text < end) { /* many: bytewise sums that the compiler turns into vectors, too short to overflow */
        size_t  run = (size_t)(end - text) < UINT8_MAX ? (size_t)(end - text) : UINT8_MAX;
        uint8_t sum = 0;
        for (size_t i = 0; i < run; i++) sum = (uint8_t)(sum + (text[i] == '"'));
        n += sum;
        text += run;
    }
    return n;
}

uint64_t kn_csv_count_lines(const char *text, size_t size)
{
    uint64_t n = 0;
    for (size_t i = 0; i < size; i++)
        n += text[i] == '\n' || (text[i] == '\r' && !(i + 1 < size && text[i + 1] == '\n'));
    return n;
}
