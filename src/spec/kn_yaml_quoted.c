/* kn_yaml_quoted.c: decoding of 'single' and "double" quoted texts (YAML 1.2.2, sections 5.7 and 7.3).
 *
 * Done here because libfyaml 0.7 decodes two cases wrong: doubled single quotes side by side ('a''''b'), and an escaped
 * backslash before an escaped line end. It does find where the text ends.
 *
 * In both kinds one line end is a blank and n are n - 1 line ends; the blanks around them are dropped. JSON's pairs of
 * \u escapes are one character.
 *
 * Cost: linear.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_yaml_quoted.h"

#include <stdint.h>
#include <string.h>

#include "kn_utf8.h"

typedef struct decoder {
    const char *text;
    size_t      at, end; /* end: the closing quote */
    char       *out;
    size_t      used;
} decoder;

size_t kn_yaml_quoted_end(const char *text, size_t size, size_t at)
{
    char quote = at < size ? text[at++] : '\0';
    for (; at < size; at++) {
        if (text[at] == '\\' && quote == '"') {
            at++;
        } else if (text[at] == quote) {
            if (quote == '"' || at + 1 == size || text[at + 1] != quote) return at + 1;
            at++;
        }
    }
    return 0;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* The length of the line end at a byte; 0: none. */
static size_t line_end(const decoder *d, size_t at)
{
    if (at >= d->end || (d->text[at] != '\n' && d->text[at] != '\r')) return 0;
    return d->text[at] == '\r' && at + 1 < d->end && d->text[at + 1] == '\n' ? 2 : 1;
}

static size_t skip_blanks(const decoder *d, size_t at)
{
    while (at < d->end && is_blank(d->text[at])) at++;
    return at;
}

/* Blanks, and line ends with the blanks around them. */
static void take_white(decoder *d)
{
    size_t to = skip_blanks(d, d->at), breaks = 0;
    for (size_t n; (n = line_end(d, to)) > 0; breaks++) to = skip_blanks(d, to + n);
    if (breaks == 0) {
        memcpy(d->out + d->used, d->text + d->at, to - d->at);
        d->used += to - d->at;
    }
    if (breaks == 1) d->out[d->used++] = ' ';
    for (size_t i = 1; i < breaks; i++) d->out[d->used++] = '\n';
    d->at = to;
}

/* An escaped line end is nothing; empty lines after it are line ends. */
static void take_escaped_end(decoder *d)
{
    d->at = skip_blanks(d, d->at + line_end(d, d->at));
    for (size_t n; (n = line_end(d, d->at)) > 0; d->at = skip_blanks(d, d->at + n)) d->out[d->used++] = '\n';
}

static bool take_hex(decoder *d, int digits, uint32_t *code)
{
    *code = 0;
    for (int i = 0; i < digits; i++, d->at++) {
        char     c = d->at < d->end ? d->text[d->at] : '\0';
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                         : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                                : 16;
        if (digit == 16) return false;
        *code = *code << 4 | digit;
    }
    return true;
}

static bool put_character(decoder *d, uint32_t c)
{
    if (c == 0 || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) return false;
    d->used += kn_utf8_put(d->out + d->used, c);
    return true;
}

/* \u, with the second half where it is the first of a pair. */
static bool take_unicode(decoder *d)
{
    uint32_t high, low;
    if (!take_hex(d, 4, &high)) return false;
    if (high < 0xD800 || high > 0xDBFF) return put_character(d, high);
    if (d->end - d->at < 6 || d->text[d->at] != '\\' || d->text[d->at + 1] != 'u') return false;
    d->at += 2;
    if (!take_hex(d, 4, &low) || low < 0xDC00 || low > 0xDFFF) return false;
    return put_character(d, 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00));
}

static bool take_escape(decoder *d)
{
    static const char     letters[] = "abtnvfre \"/\\N_LP\t";
    static const uint32_t meanings[] = {7,   8,   9,    10,   11,   12,     13,     27, ' ',
                                        '"', '/', '\\', 0x85, 0xA0, 0x2028, 0x2029, 9};
    uint32_t              code;
    if (++d->at >= d->end) return false;
    if (line_end(d, d->at) > 0) {
        take_escaped_end(d);
        return true;
    }
    char        letter = d->text[d->at++];
    const char *known = letter ? strchr(letters, letter) : NULL;
    if (known) return put_character(d, meanings[known - letters]);
    if (letter == 'u') return take_unicode(d);
    return (letter == 'x' || letter == 'U') && take_hex(d, letter == 'x' ? 2 : 8, &code) && put_character(d, code);
}

bool kn_yaml_unquote(const char *text, size_t size, char *out, size_t *used)
{
    decoder d = {.text = text, .at = 1, .end = size - 1, .out = out};
    while (d.at < d.end) {
        char c = text[d.at];
        if (is_blank(c) || c == '\n' || c == '\r') {
            take_white(&d);
        } else if (c == '\\' && text[0] == '"') {
            if (!take_escape(&d)) return false;
        } else {
            d.out[d.used++] = c;
            d.at += c == '\'' && text[0] == '\'' ? 2 : 1;
        }
    }
    *used = d.used;
    return true;
}
