/* topics.h: `kanon help TOPIC`: explains a term to a reader who has never heard of it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_TOPICS_H
#define CLI_TOPICS_H

#include <stdbool.h>

/* `name` is shown in the list; `aliases` are other words for it, each between blanks. */
typedef struct cli_topic {
    const char *name, *aliases, *summary, *text;
} cli_topic;

extern const cli_topic cli_topics[]; /* ends with a NULL name */

enum { CLI_TOPIC_WORD = 80 };

/* "Release Rules" -> "release-rules", into CLI_TOPIC_WORD bytes; false: too long, or nothing. */
bool cli_topic_word(char *out, char *const *words, int count);

/* The topic that some words name: "k", "K-anonymity", "release rules"; NULL: none. Case, blanks, '-' and '_' do not
 * matter. */
const cli_topic *cli_topic_find(char *const *words, int count);

#endif
