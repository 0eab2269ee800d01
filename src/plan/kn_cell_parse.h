/* kn_cell_parse.h: the text of a released cell → what it covers, as a cell of a plan. For releases that are read back:
 * made by kanon or not.
 *
 * A text is, in this order:
 *
 *     a label of the hierarchy        the node ("[20, 29]" is a label if there is one of that name)
 *     empty                           a missing cell, unless it is a value of the column; a text without data always is one
 *     *                               anything
 *     a value of the column           by spelling, with its spaces or without; numbers, dates and times by value (7.0 is 7)
 *     {a;b;"c;d"}                     a set of values; in quotes (a quote inside doubled) where one holds a semicolon, a
 *                                     quote or outer spaces; an empty member is a missing cell
 *     [20, 30]                        an interval of numbers, dates or times, both ends included: docs/hierarchies.md
 *     [20, 30), (-inf, 30], [20, inf) without its upper end, without bounds below or above
 *     20-30, [20-30], [20,30), ]20,30[  the same as others write it; "(" and "]" in front: without the lower end
 *
 * An interval becomes the range of the column's values inside it; what covers no value of the column becomes a set
 * without members. Ends may be negative, contain the separator (dates, 1e-5) or use a decimal comma: of all places
 * where a text can be cut into two ends, the low one not above the high one, there must be exactly one, with ", " tried
 * before "," and "," before "-". Text columns have no intervals.
 *
 * A label of several nodes: alone, the node that covers the fewest leaves, of equal ones the lowest. Within a whole
 * column (kn_cell_parse_column) the nodes of one level, if all its texts can be of one level.
 *
 * A parser never changes once made; any thread may use it, with its own members.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_CELL_PARSE_H
#define KN_CELL_PARSE_H

#include "kn_plan.h"
#include "kn_value.h"

typedef struct kn_cell_parser kn_cell_parser;

/* How values are written. */
typedef struct kn_cell_rules {
    char               decimal;  /* '.' or ','                                                   */
    const char        *format;   /* of dates and times; NULL: found out from the column's values */
    const kn_timezone *timezone; /* of times that carry none; NULL: UTC                          */
} kn_cell_rules;

/* Borrows the column, the hierarchy (NULL: none; bound to the column) and what the rules point to. */
KN_CHECK kn_status kn_cell_parser_make(kn_cell_parser **out, kn_context *ctx, const kn_column *column,
                                       const kn_hierarchy *hierarchy, const kn_cell_rules *rules, kn_error *err);
void               kn_cell_parser_free(kn_cell_parser *parser);

/* From now on the column is an external one and need not have every value of the release: a member of a set that it
 * lacks covers nothing, and a label that stands at several nodes covers what any of them does, of those on a level
 * that all texts of the column can be of where there is such a level. */
void kn_cell_parser_foreign(kn_cell_parser *parser);

/* The members of sets: a growing list that a plan can take ownership of. Start with zeros and the context. */
typedef struct kn_cell_members {
    kn_context *ctx;
    uint32_t   *codes;
    size_t      count, capacity;
} kn_cell_members;

void kn_cell_members_free(kn_cell_members *members);

/* KN_INPUT: it is none of these; the message says so without the text. */
KN_CHECK kn_status kn_cell_parse(kn_cell *out, const kn_cell_parser *parser, kn_string text, kn_cell_members *members,
                                 kn_error *err);

/* Parses the distinct texts of a column together. `*level` (may be NULL) is the lowest level of the hierarchy that
 * all of them can be of; -1: there is none, no hierarchy or no text. KN_INPUT: *first_bad is the index of the first
 * text that is no cell. */
KN_CHECK kn_status kn_cell_parse_column(kn_cell *cells, int *level, const kn_cell_parser *parser,
                                        const kn_string *texts, size_t count, kn_cell_members *members,
                                        size_t *first_bad, kn_error *err);

#endif
