/* spec_help.h: the help of the options that describe a release (the options themselves are in anonymize.h): one text
 * for all commands, so that an option means, and is explained, the same everywhere. Each macro begins with its
 * heading.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_SPEC_HELP_H
#define CLI_SPEC_HELP_H

#define CLI_COLUMNS_HELP                                                                                               \
    "Columns (any other is dropped, and named):\n"                                                                     \
    "      --qi COLUMNS         quasi-identifiers: what somebody else may know; in this order\n"                       \
    "                           stand the levels of a node\n"                                                          \
    "      --sensitive COLUMNS  what nobody should learn about a person; published as it is\n"                         \
    "      --identifier COLUMNS dropped without a word\n"                                                              \
    "      --keep COLUMNS       published as they are\n"                                                               \
    "      --weight COLUMN      sampling weights\n"                                                                    \
    "      --entity COLUMNS     whose row it is: classes then count persons, not rows\n"                               \
    "      --hierarchy COLUMN:FILE, COLUMN:KIND\n"                                                                     \
    "                           what a column's values become: a file, mask=right,\n"                                  \
    "                           ranges=5,10,20, breaks=18,65/18, calendar=month,year,\n"                               \
    "                           prefix=., taxonomy=FILE or suppress; repeatable\n"                                     \
    "      --attribute 'COLUMN:{...}'\n"                                                                               \
    "                           more of a column, as in a release file; repeatable\n"                                  \
    "      --missing HOW        what a missing cell is: a value of its own ('value', default),\n"                      \
    "                           or, of a quasi-identifier, a reason to drop the row ('drop')\n"

#define CLI_PROMISES_HELP                                                                                              \
    "Promises:\n"                                                                                                      \
    "  -k, --k K                every class has at least K rows\n"                                                     \
    "      --require MODEL      a privacy model that must hold: l-diversity:kind=distinct,l=3,\n"                      \
    "                           t-closeness:distance=equal,t=0.2, ...; repeatable, all hold together;\n"               \
    "                           instead of the release file's of the same model (--list-models)\n"                     \
    "      --population FILE    everybody the table may be about, for k-map and delta-presence\n"                      \
    "      --suppression SHARE  rows that may be suppressed: 0.05, 5% or '100 rows' (default: 0)\n"                    \
    "      --suppressed HOW     what they show: '*' in every column ('star', default), nothing:\n"                     \
    "                           they are left out ('drop'), or '*' in the quasi-identifiers\n"                         \
    "                           ('keep-sensitive')\n"                                                                  \
    "      --dependency 'A -> B'\n"                                                                                    \
    "                           a dependency of the data that the release must keep (A ->> B, A -2-> B\n"              \
    "                           too); repeatable\n"                                                                    \
    "      --allow-broken       go on where a dependency does not hold\n"

#define CLI_NODE_HELP                                                                                                  \
    "      --node LEVELS        exactly these levels: 1,0,2 in the order of the quasi-identifiers,\n"                 \
    "                           or age=1,zip=0 for some of them\n"

#define CLI_DATABASE_HELP                                                                                              \
    "Databases (a release file with tables; sqlite:FILE, postgresql://... or FOLDER/):\n"                              \
    "      --threshold T        a person farther than T from every cluster begins a new one\n"                         \
    "                           (default: 0.1)\n"                                                                      \
    "      --climit N           while there are fewer than N clusters (default: 150)\n"                                \
    "      --matching HOW       rows of two persons are paired one by one, the cheapest first\n"                       \
    "                           ('greedy', default), or at the least cost ('exact')\n"                                 \
    "      --clustering HOW     persons are put together one by one ('cdgh', default), class by\n"                     \
    "                           class ('k-member', 'mdav'), within a radius ('r-gather') or by\n"                     \
    "                           cuts of all of them ('top-down')\n"                                                   \
    "      --leftovers HOW      fewer than k who are left join the nearest class ('absorb',\n"                         \
    "                           default) or are left out ('drop')\n"                                                   \
    "      --diversity HOW      dmiracle: classes that are not diverse are merged ('merge',\n"                         \
    "                           default), avoided from the start ('distance') or left out\n"                           \
    "                           ('suppress')\n"                                                                        \
    "      --anatomy            dmiracle: values as they are, sensitive ones by groups\n"                              \
    "      --complete           bitmap: what a person has not is known not to be\n"                                    \
    "      --reference          the plain algorithm: the same release, slowly (trees too)\n"

#define CLI_TREES_PROMISE_HELP                                                                                         \
    "Trees (a release file with classes; .xml, .json, .jsonl, or one basket per line):\n"                              \
    "      --kmn K,M,N          whoever knows M values and N relations between them finds none or\n"                   \
    "                           at least K records\n"                                                                  \
    "      --record NAME        the element or key that is one person (default: record)\n"                             \
    "      --semantics HOW      relations are known pair by pair ('pairs', default), or with the\n"                    \
    "                           path they lie on ('paths')\n"                                                          \
    "      --strict-structure   moved nodes do not show\n"

#define CLI_TREES_HELP                                                                                                 \
    CLI_TREES_PROMISE_HELP                                                                                             \
    "      --g N                gcs follows the N best cuts of each step (default: 2)\n"                               \
    "      --disassociation HOW\n"                                                                                     \
    "                           where a relation vanishes the lower node moves ('node', default),\n"                   \
    "                           or it and all below it ('subtree'), or the upper one leaves the\n"                     \
    "                           path ('ancestor'): not for ocs\n"                                                      \
    "      --support SHARE      also mine frequent subtrees, for ml2 and dml2: in at least this\n"                     \
    "                           share of the records\n"

#endif
