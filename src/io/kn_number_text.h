/* kn_number_text.h: numbers of sources that hold numbers, not texts, in their shortest exact spelling. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_NUMBER_TEXT_H
#define KN_NUMBER_TEXT_H

#include <stdint.h>

#include "kn_string.h"

enum { KN_NUMBER_TEXT = 40 }; /* bytes: space for a number as text */

/* The texts are in `room`. */
kn_string kn_integer_text(int64_t value, char room[KN_NUMBER_TEXT]);
kn_string kn_real_text(double value, char room[KN_NUMBER_TEXT]);

/* Is this a text as kn_integer_text makes it, of at most 18 digits? */
bool kn_plain_integer(kn_string text, int64_t *out);

/* Digits, a point and digits, fifteen at most, which are no integer? Then the number that is nearest to it. */
bool kn_plain_decimal(kn_string text, double *out);

/* A number where a text, or a cell of a source, is plainly one. All zero: it is none. */
typedef enum kn_plain_kind { KN_PLAIN_NONE = 0, KN_PLAIN_INTEGER, KN_PLAIN_REAL } kn_plain_kind;
typedef struct kn_plain {
    kn_plain_kind kind;
    union {
        int64_t integer;
        double  real;
    };
} kn_plain;

/* By the two above. Data NULL: none. */
kn_plain kn_plain_of(kn_string text);

/* Is the text of this number (kn_real_text) one that kn_plain_decimal takes, and gives the number again? */
bool kn_plain_real(double value);

#endif
