/* text.c: text for people: safe for a terminal, aligned, with readable numbers and bars.
 *
 * Everything that comes from a user's files (column names, paths, labels) goes through cli_escape before it is
 * printed: a terminal obeys control characters, and direction marks can disguise a line. Widths are in terminal
 * columns (wide East Asian characters take two, combining marks none).
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli.h"

#include <inttypes.h>
#include <langinfo.h>
#include <locale.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

/* ---- Memory ---- */

static void *or_end(void *block)
{
    if (block) return block;
    fputs("kanon: out of memory\n", stderr);
    exit(3);
}

void *cli_alloc(size_t size)
{
    return or_end(malloc(size ? size : 1));
}

void *cli_realloc(void *block, size_t size)
{
    return or_end(realloc(block, size ? size : 1));
}

char *cli_strndup(const char *text, size_t length)
{
    char *copy = cli_alloc(length + 1);
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

/* ---- Characters ---- */

/* Characters that move the cursor, end the line or change the direction of the text. */
static bool is_unsafe(int32_t c)
{
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x061C || c == 0x200E || c == 0x200F ||
           (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

/* The character at `text`, its length in *bytes; -1 (and one byte) if it is not UTF-8. */
static int32_t next_character(const char *text, size_t length, size_t *bytes)
{
    utf8proc_int32_t c;
    size_t           look = length < 4 ? length : 4;
    utf8proc_ssize_t n = utf8proc_iterate((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)look, &c);
    *bytes = n > 0 ? (size_t)n : 1;
    return n > 0 ? c : -1;
}

char *cli_escape(const char *text, size_t length)
{
    /* The longest replacement of one byte is \xNN; \uNNNN replaces at least two. */
    char  *out = cli_alloc(length * 4 + 1);
    size_t used = 0;
    for (size_t i = 0, bytes; i < length; i += bytes) {
        int32_t c = next_character(text + i, length - i, &bytes);
        if (c >= 0 && !is_unsafe(c)) {
            memcpy(out + used, text + i, bytes);
            used += bytes;
        } else if (c == '\n' || c == '\t') {
            out[used++] = '\\';
            out[used++] = c == '\n' ? 'n' : 't';
        } else if (c < 0x80) {
            used += (size_t)sprintf(out + used, "\\x%02X", (unsigned)(unsigned char)text[i]);
        } else {
            used += (size_t)sprintf(out + used, "\\u%04" PRIX32, (uint32_t)c);
        }
    }
    out[used] = '\0';
    return out;
}

int cli_text_width(const char *text)
{
    int    width = 0;
    size_t length = strlen(text);
    for (size_t i = 0, bytes; i < length; i += bytes) {
        int32_t c = next_character(text + i, length - i, &bytes);
        width += c < 0 ? 1 : utf8proc_charwidth(c);
    }
    return width;
}

bool cli_utf8(void)
{
    /* No setlocale: the program itself stays in the C locale, and numbers keep their decimal point. */
    locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    if (!locale) return false;
    bool utf8 = strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
    freelocale(locale);
    return utf8;
}

/* ---- Numbers and bars ---- */

const char *cli_format_integer(char *buffer, int64_t value)
{
    char     digits[24];
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    int      n = snprintf(digits, sizeof digits, "%" PRIu64, magnitude);
    char    *p = buffer;
    if (value < 0) *p++ = '-';
    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0) *p++ = ',';
        *p++ = digits[i];
    }
    *p = '\0';
    return buffer;
}

cli_phrase cli_count_of(int64_t n, const char *one, const char *many)
{
    char       number[CLI_NUMBER_SIZE];
    cli_phrase p;
    snprintf(p.text, sizeof p.text, "%s %s", cli_format_integer(number, n), n == 1 ? one : many);
    return p;
}

cli_phrase cli_choices_of(double n, const char *one, const char *many)
{
    cli_phrase p;
    if (n < 1e15) return cli_count_of((int64_t)n, one, many);
    snprintf(p.text, sizeof p.text, "%.3g %s", n, many);
    return p;
}

cli_phrase cli_rows_of(int64_t n)
{
    return cli_count_of(n, "row", "rows");
}

const char *cli_format_bytes(char *buffer, uint64_t bytes)
{
    static const char *const units[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
    if (bytes < 1000) {
        snprintf(buffer, CLI_NUMBER_SIZE, "%" PRIu64 " B", bytes);
        return buffer;
    }
    double value = (double)bytes / 1000;
    size_t unit = 0;
    /* 999.95 would be printed as 1000.0. */
    for (; value >= 999.95; unit++) value /= 1000;
    snprintf(buffer, CLI_NUMBER_SIZE, "%.1f %s", value, units[unit]);
    return buffer;
}

const char *cli_bar(char *buffer, double share, int width)
{
    bool   utf8 = cli_utf8();
    int    steps = utf8 ? 8 : 1;
    double in_range = share > 0 ? (share < 1 ? share : 1) : 0; /* NaN becomes 0 */
    int    filled = (int)(in_range * width * steps + 0.5);
    if (in_range > 0 && filled == 0 && width > 0) filled = 1;
    char *p = buffer;
    for (; filled >= steps; filled -= steps) {
        const char *full = utf8 ? "\xE2\x96\x88" : "#";
        for (; *full; full++) *p++ = *full;
    }
    if (filled > 0) {
        *p++ = '\xE2';
        *p++ = '\x96';
        *p++ = (char)(0x90 - filled); /* U+2589 (seven eighths) to U+258F (one eighth) */
    }
    *p = '\0';
    return buffer;
}

/* ---- Aligned columns ---- */

typedef struct cell {
    char     *text; /* escaped */
    int       width;
    cli_style style;
} cell;

struct cli_text_table {
    int        columns;
    bool       titled; /* the first row is the heading */
    cli_align *aligns;
    cell      *cells; /* row by row */
    size_t     count;
    size_t     capacity;
};

static void add_cell(cli_text_table *table, char *text, cli_style style)
{
    if (table->count == table->capacity) {
        table->capacity = table->capacity ? table->capacity * 2 : 64;
        table->cells = cli_realloc(table->cells, table->capacity * sizeof *table->cells);
    }
    table->cells[table->count++] = (cell){text, cli_text_width(text), style};
}

cli_text_table *cli_text_table_new(int columns, const char *const *titles, const cli_align *aligns)
{
    cli_text_table *table = cli_alloc(sizeof *table);
    *table = (cli_text_table){.columns = columns, .titled = titles != NULL};
    table->aligns = cli_alloc((size_t)columns * sizeof *aligns);
    memcpy(table->aligns, aligns, (size_t)columns * sizeof *aligns);
    for (int i = 0; titles && i < columns; i++) add_cell(table, cli_escape(titles[i], strlen(titles[i])), CLI_BOLD);
    return table;
}

void cli_text_table_free(cli_text_table *table)
{
    if (!table) return;
    for (size_t i = 0; i < table->count; i++) free(table->cells[i].text);
    free(table->cells);
    free(table->aligns);
    free(table);
}

void cli_text_table_bytes(cli_text_table *table, const char *text, size_t length)
{
    add_cell(table, cli_escape(text, length), CLI_PLAIN);
}

void cli_text_table_text(cli_text_table *table, const char *text)
{
    cli_text_table_bytes(table, text ? text : "", text ? strlen(text) : 0);
}

void cli_text_table_integer(cli_text_table *table, int64_t value)
{
    char number[CLI_NUMBER_SIZE];
    cli_text_table_text(table, cli_format_integer(number, value));
}

void cli_text_table_format(cli_text_table *table, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = cli_alloc(length > 0 ? (size_t)length + 1 : 1);
    text[0] = '\0';
    if (length > 0) (void)vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    cli_text_table_text(table, text);
    free(text);
}

void cli_text_table_bar(cli_text_table *table, double share, int width)
{
    char *bar = cli_alloc(CLI_BAR_SIZE(width));
    add_cell(table, (char *)(uintptr_t)cli_bar(bar, share, width), CLI_PLAIN);
}

void cli_text_table_style(cli_text_table *table, cli_style style)
{
    if (table->count > 0) table->cells[table->count - 1].style = style;
}

static void print_cell(FILE *file, const cell *c, cli_align align, int width, bool last)
{
    int         padding = width - c->width;
    const char *on = c->style == CLI_PLAIN ? "" : cli_style_on(file, c->style);
    const char *off = *on ? cli_style_on(file, CLI_PLAIN) : "";
    fprintf(file, "%*s%s%s%s", align == CLI_RIGHT ? padding : 0, "", on, c->text, off);
    if (!last) fprintf(file, "%*s", (align == CLI_LEFT ? padding : 0) + 2, "");
}

void cli_text_table_print(cli_text_table *table, FILE *file, int indent)
{
    while (table->count % (size_t)table->columns != 0) cli_text_table_text(table, "");
    int *widths = cli_alloc((size_t)table->columns * sizeof *widths);
    for (int i = 0; i < table->columns; i++) widths[i] = 0;
    for (size_t i = 0; i < table->count; i++) {
        int column = (int)(i % (size_t)table->columns);
        if (table->cells[i].width > widths[column]) widths[column] = table->cells[i].width;
    }
    for (size_t row = 0; row < table->count; row += (size_t)table->columns) {
        const cell *cells = table->cells + row;
        int         last = table->columns - 1;
        while (last >= 0 && cells[last].width == 0) last--;
        if (last >= 0) fprintf(file, "%*s", indent, "");
        for (int i = 0; i <= last; i++) print_cell(file, &cells[i], table->aligns[i], widths[i], i == last);
        fputc('\n', file);
    }
    free(widths);
}
