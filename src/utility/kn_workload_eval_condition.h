/* kn_workload_eval_condition.h: what the predicates of a query ask of one column.
 *
 * Values of ordered columns become keys: integers, days and microseconds as they are, decimals as the nearest doubles
 * mapped to integers in the same order. A condition on such a column is then a list of closed intervals of keys,
 * whatever its predicates were. Text is compared by bytes. Nothing here changes once made; any thread may use it.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_WORKLOAD_EVAL_CONDITION_H
#define KN_WORKLOAD_EVAL_CONDITION_H

#include <kanon/workload.h>

#include "kn_arena.h"
#include "kn_table.h"
#include "kn_value.h"

enum { KN_LINE_FORMATS = 3 };

/* How texts of a column are read. */
typedef struct kn_value_line {
    const char        *name; /* of the column */
    kn_type            type;
    char               decimal;
    const kn_timezone *timezone;
    const char        *formats[KN_LINE_FORMATS]; /* of dates and times; NULL: none */
} kn_value_line;

typedef struct kn_interval {
    int64_t low, high; /* keys, both included */
} kn_interval;

typedef struct kn_condition {
    const kn_value_line       *line;
    bool                       null; /* a missing cell satisfies it                */
    int                        interval_count;
    const kn_interval         *intervals; /* ordered columns: ascending, disjoint  */
    int                        predicate_count;
    const kn_predicate *const *predicates; /* text columns                         */
} kn_condition;

/* The part of an interval of values that satisfies a condition. */
typedef struct kn_overlap {
    double  share;     /* of the interval: of its whole numbers, days or microseconds; of its length where decimal */
    double  mean;      /* of the part, if values are spread evenly; NAN: there is no such part                      */
    int64_t low, high; /* keys: its ends, where it touches                                                          */
    bool    inside, touches;
} kn_overlap;

/* Fills in how a column is read. `format` (NULL: found out from its values) is of dates. */
KN_CHECK kn_status kn_value_line_make(kn_value_line *out, kn_context *ctx, const kn_column *column, const char *format,
                                      char decimal, const kn_timezone *timezone, kn_error *err);

static inline bool kn_line_ordered(const kn_value_line *line)
{
    return line->type != KN_TYPE_TEXT;
}

static inline bool kn_line_numbers(const kn_value_line *line)
{
    return line->type == KN_TYPE_INTEGER || line->type == KN_TYPE_DECIMAL;
}

/* A key as a number. */
double kn_line_number(const kn_value_line *line, int64_t key);

/* The key of a value of the column. */
int64_t kn_line_key_of_code(const kn_value_line *line, const kn_dictionary *dict, uint32_t code);

/* The key of a text; false: it is no value of the type. */
bool kn_line_key(const kn_value_line *line, kn_string text, int64_t *key);

/* The conjunction of `count` predicates, all about one column. Lives in the arena, as long as the workload and the line
 * do. KN_INPUT with the workload's line and column: a value that is none of the column's type. */
KN_CHECK kn_status kn_condition_make(kn_condition *out, kn_arena *arena, const kn_value_line *line,
                                     const kn_predicate *const *predicates, int count, const char *path, kn_error *err);

bool kn_condition_holds_key(const kn_condition *condition, int64_t key);
bool kn_condition_holds_text(const kn_condition *condition, kn_string text);

/* Ordered columns: how much of the values low .. high satisfies the condition (NULL: all of them). */
kn_overlap kn_condition_overlap(const kn_condition *condition, const kn_value_line *line, int64_t low, int64_t high);

#endif
