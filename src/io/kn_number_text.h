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

#endif
