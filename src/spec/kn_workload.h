/* kn_workload.h: the inside of a workload file's reader: words with their places.
 *
 *     workload  = { query ";" }                                     the last ";" may be missing
 *     query     = [number] SELECT what [FROM name] [WHERE predicate { AND predicate }]
 *     what      = COUNT ( * ) | (SUM | AVG | MIN | MAX) ( name )
 *     predicate = name (= | <> | != | < | <= | > | >=) value
 *               | name [NOT] BETWEEN value AND value
 *               | name [NOT] IN ( value { , value } )
 *               | name IS [NOT] NULL
 *     value     = 'text' | number
 *
 * Keywords in either case. A name is a letter, "_" or a character beyond ASCII, followed by more of these, digits,
 * "." and "-" (but not "--", which begins a comment up to the end of the line); any other name is in double quotes. A
 * quote inside its own kind is doubled.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_WORKLOAD_H
#define KN_WORKLOAD_H

#include <kanon/workload.h>

#include "kn_string.h"

typedef enum kn_word_kind {
    KN_WORD_END = 0,
    KN_WORD_NAME,   /* bare: a keyword or a name */
    KN_WORD_QUOTED, /* "name"                    */
    KN_WORD_TEXT,   /* 'text'                    */
    KN_WORD_NUMBER,
    KN_WORD_SIGN, /* ( ) , ; * and comparisons   */
    KN_WORD_BAD   /* nothing that can be         */
} kn_word_kind;

typedef struct kn_word {
    kn_word_kind kind;
    kn_string    text; /* as written, without outer quotes */
    size_t       begin, end; /* in the input, with quotes  */
    int64_t      line, column;
} kn_word;

typedef struct kn_words {
    kn_string text;
    size_t    at;
    int64_t   line, column;
} kn_words;

#endif
