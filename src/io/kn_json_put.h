/* kn_json_put.h: values of JSON, written. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_JSON_PUT_H
#define KN_JSON_PUT_H

#include "kn_buffer.h"
#include "kn_string.h"

/* A text in quotes, escaped. */
void kn_json_put_text(kn_buffer *to, kn_string text);

/* Is it a number, true or false, as JSON has them? */
bool kn_json_is_literal(kn_string text);

#endif
