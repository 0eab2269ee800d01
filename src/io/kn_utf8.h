/* kn_utf8.h: checking UTF-8, and reading the two old one-byte encodings. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_UTF8_H
#define KN_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True if all bytes are ASCII and none is NUL. */
bool kn_plain_ascii(const char *text, size_t size);

/* The offset of the first byte that is NUL or does not belong to well-formed UTF-8 (Unicode 15, table 3-7); `size` if
 * there is none. */
size_t kn_utf8_check(const char *text, size_t size);

/* The number of code points in well-formed UTF-8. */
size_t kn_utf8_length(const char *text, size_t size);

/* Writes a valid code point and returns its number of bytes: at most four. */
size_t kn_utf8_put(char *out, uint32_t code);

/* The offset of the first byte that is NUL or, unless `latin1`, has no meaning in Windows-1252; `size` if there is none. */
size_t kn_bytes_check(const char *text, size_t size, bool latin1);

/* Bytes ≥ 0x80 of Windows-1252 (or, `latin1`, ISO 8859-1) as UTF-8. `out` has space for 3 × size bytes. Returns the
 * number of bytes written, or SIZE_MAX where a byte has no meaning in Windows-1252. */
size_t kn_utf8_from_bytes(char *out, const char *text, size_t size, bool latin1);

#endif
