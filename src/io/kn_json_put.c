/* kn_json_put.c: values of JSON, written. See the header. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kn_json_put.h"

#include <string.h>

void kn_json_put_text(kn_buffer *to, kn_string text)
{
    static const char from[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    size_t            done = 0;
    kn_buffer_char(to, '"');
    for (size_t i = 0; i < text.size; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (c >= 0x20 && c != '"' && c != '\\') continue;
        const char *found = c ? strchr(from, c) : NULL;
        kn_buffer_append(to, text.data + done, i - done);
        done = i + 1;
        if (found) {
            kn_buffer_char(to, '\\');
            kn_buffer_char(to, letters[found - from]);
        } else {
            kn_buffer_format(to, "\\u%04x", c);
        }
    }
    kn_buffer_append(to, text.data + done, text.size - done);
    kn_buffer_char(to, '"');
}

bool kn_json_is_literal(kn_string s)
{
    const char *at = s.data, *end = s.data + s.size;
    if (kn_string_equal(s, kn_string_of("true")) || kn_string_equal(s, kn_string_of("false"))) return true;
    if (at < end && *at == '-') at++;
    const char *digits = at;
    while (at < end && *at >= '0' && *at <= '9') at++;
    if (at == digits || (*digits == '0' && at - digits > 1)) return false;
    if (at < end && *at == '.') {
        digits = ++at;
        while (at < end && *at >= '0' && *at <= '9') at++;
        if (at == digits) return false;
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        if (at < end && (*at == '+' || *at == '-')) at++;
        digits = at;
        while (at < end && *at >= '0' && *at <= '9') at++;
        if (at == digits) return false;
    }
    return at == end;
}
