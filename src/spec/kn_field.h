/* kn_field.h: a node of a release file → a value; a mapping → the functions that read its keys.
 *
 * Whatever is kept is copied into the spec's arena. Every error has the place of the value (of the key, if that is
 * unknown) and says what is expected; it does not quote the text, unless it is a name that is nearly right.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_FIELD_H
#define KN_FIELD_H

#include "kn_spec.h"
#include "kn_yaml.h"

typedef struct kn_reader {
    kn_spec_inner *inner;
    kn_yaml_origin origin;
    bool           from_file;
    const char    *folder; /* with its last slash: what relative paths are relative to; "": the working folder */
    kn_error      *err;
} kn_reader;

/* Reads a value into `target`, whose type the function names. */
typedef kn_status (*kn_read_fn)(kn_reader *r, const kn_yaml *value, void *target);

typedef struct kn_key {
    const char *name;
    kn_read_fn  read;
    size_t      offset; /* offset of the member in the struct that the mapping fills in */
} kn_key;

/* Reads a mapping by a table of keys (ended by a NULL name). */
KN_CHECK kn_status kn_read_map(kn_reader *r, const kn_yaml *map, const kn_key *keys, void *target);
#define KN_KEYS_END {NULL, NULL, 0}

/* The index of a key in names; fails where there is none, with the nearest one or the list of all. */
KN_CHECK kn_status kn_read_key(kn_reader *r, const kn_yaml *key, const char *const *names, size_t count, size_t *out);

/* One of a few words, as its index; `what` names them in messages: "a role". */
KN_CHECK kn_status kn_read_word(kn_reader *r, const kn_yaml *value, const char *const *names, size_t count,
                                const char *what, size_t *out);

/* One of two words: is it the second? */
KN_CHECK kn_status kn_read_either(kn_reader *r, const kn_yaml *value, const char *first, const char *second,
                                  const char *what, bool *out);

KN_CHECK kn_status kn_read_whole(kn_reader *r, const kn_yaml *value, int64_t low, int64_t high, int64_t *out);
KN_CHECK kn_status kn_read_seed(kn_reader *r, const kn_yaml *value, uint64_t *out);

/* A text that is not empty. */
KN_CHECK kn_status kn_read_text(kn_reader *r, const kn_yaml *value, const char *what, const char **out);

/* For tables of keys; `target` is ... */
KN_CHECK kn_status kn_read_bool(kn_reader *r, const kn_yaml *value, void *target);      /* ... a bool            */
KN_CHECK kn_status kn_read_positive(kn_reader *r, const kn_yaml *value, void *target);  /* ... an int64_t        */
KN_CHECK kn_status kn_read_ratio(kn_reader *r, const kn_yaml *value, void *target);     /* ... a kn_ratio        */
KN_CHECK kn_status kn_read_path(kn_reader *r, const kn_yaml *value, void *target);      /* ... a const char *, ready to
                                                                                           be opened */
KN_CHECK kn_status kn_read_delimiter(kn_reader *r, const kn_yaml *value, void *target); /* ... a char; "tab"     */

/* A path, or the name of a database: of sqlite:FILE the file is relative, a server's name stays. */
KN_CHECK kn_status kn_read_place(kn_reader *r, const kn_yaml *value, void *target);

/* A list of texts, or one text instead of a list of one. `read` fills in a const char *. An empty list: a pointer to
 * nothing, not NULL. */
KN_CHECK kn_status kn_read_list(kn_reader *r, const kn_yaml *value, const char *what, kn_read_fn read,
                                const char *const **out, int *count);

/* Is there a value? A plain null, ~ or nothing is none. */
bool               kn_yaml_missing(const kn_yaml *value);
KN_CHECK kn_status kn_want_text(kn_reader *r, const kn_yaml *value, const char *what);
KN_CHECK kn_status kn_want_map(kn_reader *r, const kn_yaml *value, const char *what);

/* Fails at a node; KN_MEMORY. */
kn_status kn_field_fail(kn_reader *r, const kn_yaml *node, const char *format, ...) KN_PRINTF(3, 4);
kn_status kn_field_memory(kn_reader *r);

/* The place of a node; none where the text is not a file's. */
kn_place kn_field_place(const kn_reader *r, const kn_yaml *node);

/* ---- The parts of a release file ---- */

/* attributes: {name: ...}; `target` is the spec, here and below. */
KN_CHECK kn_status kn_read_attributes(kn_reader *r, const kn_yaml *value, void *target);

/* What is declared of one attribute, added to earlier declarations; `key` has its place. */
KN_CHECK kn_status kn_read_attribute(kn_reader *r, const kn_yaml *key, const char *name, const kn_yaml *value);

/* One attribute outside the spec's own list. */
KN_CHECK kn_status kn_read_attribute_alone(kn_reader *r, const kn_yaml *key, const kn_yaml *value, kn_attribute *out);

/* tables: {name: ...} and entity: {table, key}. */
KN_CHECK kn_status kn_read_tables(kn_reader *r, const kn_yaml *value, void *target);
KN_CHECK kn_status kn_read_entity(kn_reader *r, const kn_yaml *value, void *target);

/* record:, resources: and classes: of tree records; k-mn: {k, m, n} among the models. */
KN_CHECK kn_status kn_read_record(kn_reader *r, const kn_yaml *value, void *target);
KN_CHECK kn_status kn_read_resources(kn_reader *r, const kn_yaml *value, void *target);
KN_CHECK kn_status kn_read_classes(kn_reader *r, const kn_yaml *value, void *target);
KN_CHECK kn_status kn_read_kmn(kn_reader *r, const kn_yaml *value);
KN_CHECK kn_status kn_read_hierarchy(kn_reader *r, const kn_yaml *value, kn_hierarchy_spec *out);

/* levels: {name: level}, or a list; and one level. */
KN_CHECK kn_status kn_read_levels(kn_reader *r, const kn_yaml *value, void *target);
KN_CHECK kn_status kn_read_level(kn_reader *r, const kn_yaml *value, int64_t *out);

/* privacy: [...]: replaces the models. */
KN_CHECK kn_status kn_read_privacy(kn_reader *r, const kn_yaml *value, void *target);

#endif
