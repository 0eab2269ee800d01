/* kanon/init.h: a first release file for data that nobody has described yet.
 *
 * kn_init looks at a table, a database or tree records and makes the text of a release file that runs as it is: roles with their
 * reasons, a hierarchy for each type of column, promises, method auto. Categories get hierarchies in files of their own, to be
 * edited. All of it is a suggestion: only the owner of the data knows what others may know.
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
    const kn_csv_options *csv;    /* of a table, of a folder's files; NULL: the usual ones                      */
    const char           *folder; /* of the release file: what its paths are relative to; NULL: the working folder */
    bool                  files;  /* hierarchies of categories as files beside it; false: none for these        */
    int64_t               k;      /* what is promised; 0: 5, and 2 of very few rows                             */
    const char           *entity; /* of a database: the table of persons; NULL: the one with the most below it  */
    const char           *record; /* of records: the element or key that is one person; NULL: found out         */
} kn_init_options;

#define KN_INIT_OPTIONS_INIT {sizeof(kn_init_options), NULL, NULL, false, 0, NULL, NULL}
KN_API void kn_init_options_init(kn_init_options *options, size_t size);

/* A hierarchy file that the release file names. It holds the values of its column. */
typedef struct kn_draft_file {
    const char *name; /* without a folder */
    const char *text;
    size_t      size;
} kn_draft_file;

/* What is suggested of a column, or of a class of records. */
typedef struct kn_draft_column {
    const char *table;     /* of a database; NULL: none                               */
    const char *name;
    const char *role;      /* "quasi", ...; NULL: it is part of a key, or has no value */
    const char *reason;
    const char *hierarchy; /* as the release file says it; NULL: none                 */
} kn_draft_column;

typedef struct kn_draft {
    kn_shape               shape;
    const char            *text; /* the release file */
    int                    file_count;
    const kn_draft_file   *KN_PRIVATE(files); /* kn_draft_file_at */
    int                    column_count;
    const kn_draft_column *KN_PRIVATE(columns); /* kn_draft_column_at */
    int                    note_count;
    const char *const     *notes; /* what its owner should look at: sentences without a value of the data */
} kn_draft;

KN_API const kn_draft_file   *kn_draft_file_at(const kn_draft *draft, int index);   /* NULL: none */
KN_API const kn_draft_column *kn_draft_column_at(const kn_draft *draft, int index);

/* Looks at the inputs: a database by its name (kn_database_named), records by theirs (.xml, .json, .jsonl, .ndjson), else a table
 * of one or several files. `options` may be NULL. KN_INPUT, with what to do, where no release could be made of them. */
KN_API KN_CHECK kn_status kn_init(kn_draft **out, kn_context *ctx, const char *const *inputs, int input_count,
                                  const kn_init_options *options, kn_error *err);
KN_API void               kn_draft_free(kn_draft *draft);

/* Writes the release file and its hierarchies, which stand in the same folder. KN_USAGE where one of them is there already,
 * unless it may be replaced; then nothing is written. */
KN_API KN_CHECK kn_status kn_draft_write(const kn_draft *draft, kn_context *ctx, const char *path, bool replace,
                                         kn_error *err);

/* ---- Hierarchies, suggested ---- */

/* One way to build a hierarchy of a column, and what a release loses by it. */
typedef struct kn_suggestion {
    const char *build;   /* as `kanon hierarchy build` takes it: "--groups order --fan-out 4"; NULL: see rule       */
    const char *rule;    /* as a release file says it: "{ranges: [5, 10]}"; NULL: a file                            */
    int         levels;  /* with level 0                                                                            */
    double      loss;    /* lm of a release; NAN: there is none                                                     */
    bool        counted; /* its groups depend on how many rows have a value, and tell something of that             */
    const char *text;    /* of a file: "leaf;parent;...;root" lines; NULL: a rule                                   */
} kn_suggestion;

typedef struct kn_suggestions {
    int                  count;
    const kn_suggestion *KN_PRIVATE(list); /* kn_suggestion_at: the least loss first */
} kn_suggestions;

KN_API const kn_suggestion *kn_suggestion_at(const kn_suggestions *suggestions, int index); /* NULL: none */

/* Tries ways to build a hierarchy of a quasi-identifier: each is put into the spec in turn, and a release is searched for (none
 * is written). The spec is changed: its last hierarchy of the column is none to rely on. KN_INPUT: there is no such column. */
KN_API KN_CHECK kn_status kn_hierarchy_suggest(kn_suggestions **out, kn_context *ctx, kn_spec *spec, const char *column,
                                               kn_error *err);
KN_API void               kn_suggestions_free(kn_suggestions *suggestions);

#ifdef __cplusplus
}
#endif

#endif
