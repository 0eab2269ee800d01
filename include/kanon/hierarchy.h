/* kanon/hierarchy.h: generalization hierarchies: which value becomes what, level by level.
 *
 * A hierarchy is a tree of labels. Its leaves are the values; level 0 consists of the values themselves, the highest
 * level of the root. It comes from a file (one line per leaf, "leaf;parent;...;root") or is built over the values of
 * a column. It is made for, or bound to, at most one column; after that it does not change and may be read by any
 * thread. It may carry a population: how many people have each leaf.
 *
 * Nodes are numbers: leaves 0 .. kn_hierarchy_leaves() - 1 in an order in which the leaves below any node are
 * neighbours, and the root kn_hierarchy_root(). A missing cell is a leaf of its own directly below the root, which no
 * count of leaves includes.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KANON_HIERARCHY_H
#define KANON_HIERARCHY_H

#include <kanon/table.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kn_hierarchy kn_hierarchy;

#define KN_NODE_NONE UINT32_MAX
#define KN_HIERARCHY_MAX_LEVELS 256 /* with level 0 */

typedef enum kn_hierarchy_kind {
    KN_HIERARCHY_FILE = 0, /* path: leaf;parent;...;root per line                               */
    KN_HIERARCHY_TAXONOMY, /* path: indented text, the most general first                       */
    KN_HIERARCHY_MASK,     /* 47906 -> 4790* -> 479** ...                                       */
    KN_HIERARCHY_RANGES,   /* 23 -> [20, 24] -> [20, 29] ... by widths                          */
    KN_HIERARCHY_BREAKS,   /* 23 -> 18-64 -> >=18 ... by cut points                             */
    KN_HIERARCHY_CALENDAR, /* day -> month -> quarter -> year -> decade                         */
    KN_HIERARCHY_PREFIX,   /* a.b.c -> a.b -> a                                                 */
    KN_HIERARCHY_SUPPRESS, /* value -> *                                                        */
    KN_HIERARCHY_GROUPS    /* a -> [a, d] -> [a, k] ...: depends on the values; not for a release file, but for a
                              file that it names (kn_hierarchy_write)                           */
} kn_hierarchy_kind;

/* How categories become groups. */
typedef enum kn_group_by {
    KN_GROUP_BY_ORDER = 0, /* neighbours in their own order, or in a given one: [a, d]           */
    KN_GROUP_BY_FREQUENCY, /* those that equally many rows have: {a;d;k}                         */
    KN_GROUP_BY_PREFIX,    /* those that begin alike: ab*                                        */
    KN_GROUP_BYS
} kn_group_by;

/* "order", ... Static. */
KN_API const char *kn_group_by_name(kn_group_by group_by);

/* The steps of a calendar hierarchy, to be joined with |. */
enum {
    KN_CALENDAR_DAY = 1, /* of a column of times; in a column of dates the values are the days */
    KN_CALENDAR_MONTH = 2,
    KN_CALENDAR_QUARTER = 4,
    KN_CALENDAR_YEAR = 8,
    KN_CALENDAR_DECADE = 16
};

/* The cut points of one level, ascending. */
typedef struct kn_hierarchy_cuts {
    const char *const *points;
    int                count;
} kn_hierarchy_cuts;

/* What a hierarchy is made from; only the fields of its kind are used. Numbers are texts ("0.5"), so that they are
 * exact; their decimal mark is a point. Everything is borrowed for the duration of the call. */
typedef struct kn_hierarchy_spec {
    size_t                   size; /* sizeof(kn_hierarchy_spec), set by the initializer                        */
    kn_hierarchy_kind        kind;
    const char              *path;        /* FILE, TAXONOMY; "-": standard input                               */
    char                     delimiter;   /* FILE; 0: sniffed among ; tab | ,                                  */
    char                     decimal;     /* the decimal mark of the data: '.' or ','                          */
    bool                     mask_left;   /* MASK: 47906 -> *7906 -> **906 ...                                 */
    bool                     mask_pad;    /* MASK: shorter values count as filled up with the mask             */
    int                      mask_step;   /* MASK: characters per level; 0: 1                                  */
    const char              *mask;        /* MASK: one character; NULL: *                                      */
    const char *const       *widths;      /* RANGES: ascending, each a multiple of the one before              */
    int                      width_count;
    const char              *origin;      /* RANGES: where a range begins; NULL: 0                             */
    const kn_hierarchy_cuts *breaks;      /* BREAKS: level by level, each some of the points of the one before */
    int                      break_count;
    unsigned                 calendar;    /* CALENDAR: KN_CALENDAR_...; 0: all                                 */
    const char              *separator;   /* PREFIX                                                            */
    int                      mask_width;  /* MASK: what is masked throughout is the root if it has so many characters, and
                                             with pad values are filled up to these; others stay apart. 0: the longest
                                             value's, and without pad only where all have as many              */
    int64_t                  group_rows;  /* GROUPS but PREFIX: the smallest groups have so many rows; 0: any  */
    kn_group_by              group_by;    /* GROUPS                                                            */
    int                      fan_out;     /* GROUPS but PREFIX: members of a group, at most; 0: 4              */
    const char *const       *order;       /* GROUPS by ORDER: all values, the least first; NULL: their own order */
    int                      order_count;
    const char              *timezone;    /* CALENDAR, BREAKS of times: whose days they are; NULL: UTC's       */
    const char              *population;  /* any kind but GROUPS: a file with a line "leaf;people" per leaf; NULL: none */
} kn_hierarchy_spec;

#define KN_HIERARCHY_SPEC_INIT                                                                                         \
    {sizeof(kn_hierarchy_spec), KN_HIERARCHY_FILE, NULL, 0, '.', false, false, 0, NULL, NULL, 0, NULL, NULL, 0, 0, NULL, 0, \
     0, KN_GROUP_BY_ORDER, 0, NULL, 0, NULL, NULL}
KN_API void kn_hierarchy_spec_init(kn_hierarchy_spec *options, size_t size);

/* Reads a hierarchy file or a taxonomy (the only kinds that need no column). Not bound to a column. KN_INPUT with line
 * and column where the file is not a tree. */
KN_API KN_CHECK kn_status kn_hierarchy_read(kn_hierarchy **out, kn_context *ctx, const kn_hierarchy_spec *spec,
                                            kn_error *err);

/* Makes the hierarchy of any kind for one column of a table, and binds it. `show_values`: an error may name a value of
 * the data. */
KN_API KN_CHECK kn_status kn_hierarchy_make(kn_hierarchy **out, kn_context *ctx, const kn_table *table, int column,
                                            const kn_hierarchy_spec *spec, bool show_values, kn_error *err);

/* Finds the leaf of every value of a column: by spelling; numbers and dates by value too. KN_INPUT if a value has
 * none; the hierarchy is then unchanged. `decimal` is the decimal mark of the data. */
KN_API KN_CHECK kn_status kn_hierarchy_bind(kn_hierarchy *hierarchy, const kn_table *table, int column, char decimal,
                                            bool show_values, kn_error *err);

/* Writes the hierarchy as a file that kn_hierarchy_read reads back the same; "-" is standard output. A temporary file is
 * renamed at the end. `delimiter` 0: a semicolon. */
KN_API KN_CHECK kn_status kn_hierarchy_write(const kn_hierarchy *hierarchy, kn_context *ctx, const char *path,
                                             char delimiter, kn_error *err);

KN_API void kn_hierarchy_free(kn_hierarchy *hierarchy);

KN_API int      kn_hierarchy_levels(const kn_hierarchy *hierarchy);   /* with level 0; at least 2               */
KN_API uint32_t kn_hierarchy_leaves(const kn_hierarchy *hierarchy);   /* of the hierarchy, bound to a value or not */
KN_API uint32_t kn_hierarchy_nodes(const kn_hierarchy *hierarchy);    /* leaves, groups and root                */
KN_API bool     kn_hierarchy_balanced(const kn_hierarchy *hierarchy); /* is every leaf equally far from the root? */

/* The number of nodes of a level. If leaves have different depths, level i is what is left after cutting the tree i
 * steps above its deepest leaf; leaves above the cut stay themselves. */
KN_API uint32_t kn_hierarchy_level_size(const kn_hierarchy *hierarchy, int level);

/* The nodes of a level, in leaf order; KN_NODE_NONE after the last. */
KN_API uint32_t kn_hierarchy_level_first(const kn_hierarchy *hierarchy, int level);
KN_API uint32_t kn_hierarchy_level_next(const kn_hierarchy *hierarchy, int level, uint32_t node);

/* Up and down the tree; KN_NODE_NONE where there is none. */
KN_API uint32_t kn_hierarchy_root(const kn_hierarchy *hierarchy);
KN_API uint32_t kn_hierarchy_parent(const kn_hierarchy *hierarchy, uint32_t node);
KN_API uint32_t kn_hierarchy_child(const kn_hierarchy *hierarchy, uint32_t node); /* the first */
KN_API uint32_t kn_hierarchy_sibling(const kn_hierarchy *hierarchy, uint32_t node); /* the next */

/* The number of leaves below a node (1 for a leaf), and its label (UTF-8, not NUL-terminated). */
KN_API uint32_t    kn_hierarchy_cover(const kn_hierarchy *hierarchy, uint32_t node);
KN_API const char *kn_hierarchy_label(const kn_hierarchy *hierarchy, uint32_t node, size_t *length);

/* The people of the population that have a leaf below a node, the root's with those whose cell is missing; -1: the
 * hierarchy carries no population, or there is no such node. */
KN_API int64_t kn_hierarchy_people(const kn_hierarchy *hierarchy, uint32_t node);

/* A label that stands for different sets of leaves: legal, but a reader of a release cannot tell them apart. Lines and
 * columns are 0 where the hierarchy does not come from a file. */
typedef struct kn_hierarchy_warning {
    uint32_t node, other_node;
    int      level, other_level; /* level < other_level, or a leaf of an unbalanced tree */
    int64_t  line, other_line;
    int64_t  column, other_column;
} kn_hierarchy_warning;

KN_API uint32_t                    kn_hierarchy_warnings(const kn_hierarchy *hierarchy);
KN_API const kn_hierarchy_warning *kn_hierarchy_warning_at(const kn_hierarchy *hierarchy, uint32_t index);

/* Checks every invariant; for tests and fuzzers. */
KN_API bool kn_hierarchy_validate(const kn_hierarchy *hierarchy, const char **reason);

#ifdef __cplusplus
}
#endif

#endif
