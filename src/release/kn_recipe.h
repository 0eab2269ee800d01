/* kn_recipe.h: the inside of a recipe (kanon/recipe.h): what a method decided, with the request and the hierarchies it needs.
 *
 * The same struct is filled by whoever made a decision (src/job/table) and by whoever reads one. Its texts lie in its arena.
 * A hierarchy that came from a file is held as text, and as a file without a place on a disk while the recipe is in use, so
 * that methods and verifier read it like any other. SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_RECIPE_H
#define KN_RECIPE_H

#include <kanon/recipe.h>

#include "kn_arena.h"
#include "kn_buffer.h"
#include "kn_context.h"
#include "kn_plan.h"

#define KN_RECIPE_VERSION 1

/* What a recipe holds, by the method that decided. */
typedef enum kn_recipe_kind {
    KN_RECIPE_LEVELS, /* one level for a whole column                                         */
    KN_RECIPE_CUTS,   /* a tree of cuts                                                       */
    KN_RECIPE_JOIN    /* which combination of values became which cells                       */
} kn_recipe_kind;

/* A quasi-identifier. */
typedef struct kn_recipe_column {
    const char *name;
    kn_type     type;
    int         level, height; /* -1: the method has no levels */
    uint32_t     value_count;  /* of a join table: the values that the rows had, ascending; as in a cut */
    const char **values;
} kn_recipe_column;

/* A cut of the Mondrian family: which values of a column go to the first side. */
typedef struct kn_recipe_cut {
    int         column;
    const char *up_to;         /* those up to this one: a text, a number, days or microseconds since 1970; NULL: see below */
    const char *label;         /* those below this node of the hierarchy; both NULL: all but missing ones                 */
    int         level;         /* of the node                                                                             */
    int64_t     first, second; /* the cuts of both sides; -1: none                                                        */
} kn_recipe_cut;

/* A cell of a join table: a cell of a plan, whose codes are places in the column's values (their number: a missing
 * cell), and whose nodes have a level and a label. */
typedef struct kn_recipe_cell {
    kn_cell         cell;    /* of a set only kind and number of members count */
    const uint32_t *members; /* of a set */
    int             level;   /* of a node */
    const char     *label;
} kn_recipe_cell;

/* So many rows of a combination, in the order of kn_table_order, went to a class. */
typedef struct kn_recipe_share {
    int64_t class; /* -1: suppressed */
    int64_t rows;
} kn_recipe_share;

/* A join table. */
typedef struct kn_recipe_join {
    int64_t          class_count;
    kn_recipe_cell  *cells; /* classes × columns */
    int64_t          combination_count;
    uint32_t        *codes;       /* combinations × columns: places in the columns' values; ascending */
    int64_t         *share_start; /* combinations + 1 */
    kn_recipe_share *shares;
} kn_recipe_join;

/* A file without a place on a disk. */
typedef struct kn_recipe_file {
    int      fd; /* -1: none yet */
    char     path[32];
    kn_alias alias;
} kn_recipe_file;

/* A hierarchy that came from a file. */
typedef struct kn_recipe_hierarchy {
    const char    *column;
    char           delimiter;     /* as it was declared; 0: it was not, and is found       */
    kn_buffer      text;          /* leaf;parent;...;root lines                           */
    kn_recipe_file file, extended; /* as it is; with the new values of the rows at hand    */
} kn_recipe_hierarchy;

struct kn_recipe {
    kn_context          *ctx;
    kn_arena             arena;
    kn_spec             *spec;   /* the request; NULL while a recipe is being made */
    kn_method            method; /* that decided                                   */
    int                  column_count;
    kn_recipe_column    *columns;
    int                  hierarchy_count;
    kn_recipe_hierarchy *hierarchies;
    int64_t              cut_count; /* the first is of all rows, those of its sides come later; in the arena */
    kn_recipe_cut       *cuts;
    kn_recipe_join       join; /* in the arena */
};

/* An empty one, with space for so many columns and hierarchies. */
KN_CHECK kn_status kn_recipe_create(kn_recipe **out, kn_context *ctx, int columns, int hierarchies, kn_error *err);

/* Methods on a table only. */
kn_recipe_kind kn_recipe_kind_of(kn_method method);

/* May the method put rows that are equal in the quasi-identifiers into different classes? */
bool kn_recipe_parts_equal_rows(kn_method method);

/* Appends the recipe as a document. `request`: with which the method was asked; `version`: of the program, NULL: left out. */
KN_CHECK kn_status kn_recipe_render(kn_buffer *to, const kn_recipe *recipe, const kn_spec *request, const char *version,
                                    kn_error *err);

/* Puts text into a file of the recipe, whose name in messages is `name` (borrowed). */
KN_CHECK kn_status kn_recipe_file_put(kn_recipe_file *file, kn_context *ctx, const char *name, const kn_buffer *text,
                                      kn_error *err);

#endif
