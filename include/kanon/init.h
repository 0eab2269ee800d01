/* kanon/init.h: a first release file for data that nobody has described yet.
 *
 * kn_init reads a table, a database or tree records and makes the text of a release file that runs as it is: roles
 * with their reasons, a hierarchy for each type of column, promises, method auto. Categories get hierarchies in
 * separate files, to be edited. All of it is a suggestion: only the owner of the data knows what others may know.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KANON_INIT_H
#define KANON_INIT_H

#include <kanon/spec.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kn_init_options {
    size_t                size;   /* sizeof(kn_init_options), set by the initializer                            */
    const kn_csv_options *csv;    /* for a table or the files of a folder; NULL: the defaults                   */
    const char           *folder; /* of the release file: what its paths are relative to; NULL: the working folder */
    bool                  files;  /* hierarchy files for categories; false: none for these                      */
    int64_t               k;      /* what is promised; 0: 5, or 2 for very few rows                             */
    const char           *entity; /* of a database: the table of persons; NULL: the one with the most below it  */
    const char           *record; /* of records: the element or key that is one person; NULL: guess             */
    const kn_table       *table;  /* the inputs, if they were read already as `csv` says; NULL: they are read   */
} kn_init_options;

#define KN_INIT_OPTIONS_INIT {sizeof(kn_init_options), NULL, NULL, false, 0, NULL, NULL, NULL}
KN_API void kn_init_options_init(kn_init_options *options, size_t size);

/* A hierarchy file that the release file names. It contains the values of its column. */
typedef struct kn_draft_file {
    const char *name; /* without a folder */
    const char *text;
    size_t      size;
} kn_draft_file;

/* The suggestion for a column or for a class of records. */
typedef struct kn_draft_column {
    const char *table;     /* of a database; NULL: none                               */
    const char *name;
    const char *role;      /* "quasi", ...; NULL: it is part of a key, or has no value */
    const char *reason;
    const char *hierarchy; /* as in the release file; NULL: none                      */
} kn_draft_column;

typedef struct kn_draft {
    kn_shape               shape;
    const char            *text; /* the release file */
    int                    file_count;
    const kn_draft_file   *KN_PRIVATE(files); /* kn_draft_file_at */
    int                    column_count;
    const kn_draft_column *KN_PRIVATE(columns); /* kn_draft_column_at */
    int                    note_count;
    const char *const     *notes; /* what the owner should check: sentences without values of the data */
} kn_draft;

KN_API const kn_draft_file   *kn_draft_file_at(const kn_draft *draft, int index);   /* NULL: none */
KN_API const kn_draft_column *kn_draft_column_at(const kn_draft *draft, int index);

/* Reads the inputs: a database if it has such a name (kn_database_named), records likewise (.xml, .json, .jsonl,
 * .ndjson), else a table of one or several files. `options` may be NULL. KN_INPUT, with what to do: no release could
 * be made of them. */
KN_API KN_CHECK kn_status kn_init(kn_draft **out, kn_context *ctx, const char *const *inputs, int input_count,
                                  const kn_init_options *options, kn_error *err);
KN_API void               kn_draft_free(kn_draft *draft);

/* Writes the release file and its hierarchies to the same folder. KN_USAGE, with nothing written: one of them already
 * exists and `replace` is false. */
KN_API KN_CHECK kn_status kn_draft_write(const kn_draft *draft, kn_context *ctx, const char *path, bool replace,
                                         kn_error *err);

/* ---- Suggested hierarchies ---- */

/* One way to build a hierarchy of a column, and the loss of a release with it. */
typedef struct kn_suggestion {
    const char *build;   /* for `kanon hierarchy build`: "--groups order --fan-out 4"; NULL: see rule               */
    const char *rule;    /* as in a release file: "{ranges: [5, 10]}"; NULL: a file                                 */
    int         levels;  /* including level 0                                                                       */
    double      loss;    /* lm of a release; NAN: there is none                                                     */
    bool        counted; /* its groups depend on the frequencies of values, and reveal something about them         */
    const char *text;    /* of a file: "leaf;parent;...;root" lines; NULL: a rule                                   */
} kn_suggestion;

typedef struct kn_suggestions {
    int                  count;
    const kn_suggestion *KN_PRIVATE(list); /* kn_suggestion_at: the least loss first */
} kn_suggestions;

KN_API const kn_suggestion *kn_suggestion_at(const kn_suggestions *suggestions, int index); /* NULL: none */

/* Tries ways to build a hierarchy of a quasi-identifier: each is set in the spec in turn, and a release is searched
 * for (none is written). Afterwards the spec's hierarchy of the column is unspecified. KN_INPUT: there is no such
 * column. */
KN_API KN_CHECK kn_status kn_hierarchy_suggest(kn_suggestions **out, kn_context *ctx, kn_spec *spec, const char *column,
                                               kn_error *err);
KN_API void               kn_suggestions_free(kn_suggestions *suggestions);

#ifdef __cplusplus
}
#endif

#endif
