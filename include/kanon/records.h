/* kanon/records.h: records that are trees: XML, JSON, JSON Lines, one basket per line, or persons of a database.
 *
 * A record is one person. Its root has no value; every other node has a value of a class (the element's name, the key
 * of an object). Each class has a domain with a hierarchy; one "*" is the root of all hierarchies. The rules of
 * the model (Gkountouna, Terrovitis 2013, section II-A) are checked while reading: no class twice on a path, classes
 * in the order in which the release file lists them, siblings that differ. Records do not change once read and may be
 * read by any thread.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KANON_RECORDS_H
#define KANON_RECORDS_H

#include <kanon/spec.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kn_records kn_records;

typedef enum kn_records_form {
    KN_RECORDS_AUTO = 0, /* by the name: .xml, .json, .jsonl or .ndjson, a database; anything else: baskets */
    KN_RECORDS_XML,
    KN_RECORDS_JSON,
    KN_RECORDS_JSON_LINES,
    KN_RECORDS_BASKETS, /* one record per line, its values between delimiters: flat */
    KN_RECORDS_DATABASE /* through the forest of its persons: one node per value, classes are columns */
} kn_records_form;

typedef struct kn_records_options {
    size_t               size; /* sizeof(kn_records_options), set by the initializer                        */
    kn_records_form      form;
    const char          *record;  /* the element or key (or path a/b/c) that is one person; NULL: "record"  */
    const kn_spec_class *classes; /* in the order in which they nest                                        */
    int                  class_count;
    char                 delimiter; /* of baskets; 0: a comma                                               */
    bool                 released;  /* values may be of any level of the hierarchy, classes may stand in any
                                       order and nodes may have none: what kanon writes                     */
    const char *const   *more; /* further files or folders: records of one collection are in all of them     */
    int                  more_count;
    const kn_spec_resource *resources; /* JSON: records are put together from these; NULL: each is one object. They, and the
                                          classes, are valid as long as the records are                      */
    int                     resource_count;
} kn_records_options;

#define KN_RECORDS_OPTIONS_INIT {sizeof(kn_records_options), KN_RECORDS_AUTO, NULL, NULL, 0, 0, false, NULL, 0, NULL, 0}
KN_API void kn_records_options_init(kn_records_options *options, size_t size);

/* Reads all records of a file ("-": standard input) or of the files of a folder, in the order of their names, then those of
 * options->more. KN_INPUT with file, line and column: broken XML or JSON, an entity
 * that is not one of the five, a document that nests too deeply, a node of no class, a value that its hierarchy lacks, a
 * rule of the model that is broken (with the record's number). KN_IO: it cannot be read. */
KN_API KN_CHECK kn_status kn_records_read(kn_records **out, kn_context *ctx, const char *path,
                                          const kn_records_options *options, kn_error *err);

/* Reads the persons of a database as records: every cell of a quasi-identifier or sensitive column is a node of class
 * "table.column" (docs/trees.md). The spec lists tables and passed kn_spec_check, which makes its classes of them. */
KN_API KN_CHECK kn_status kn_records_read_database(kn_records **out, kn_context *ctx, const char *input,
                                                   const kn_spec *spec, kn_error *err);
KN_API void               kn_records_free(kn_records *records);

KN_API int64_t  kn_records_count(const kn_records *records);
KN_API uint32_t kn_records_size(const kn_records *records, int64_t record); /* nodes without the root */

/* Of a node, numbered from 0 in each record, parents before children: the parent (-1: the root), the class as its index in
 * options.classes (-1: none) and the value as text (size bytes, not ended by 0). */
KN_API int64_t     kn_records_parent(const kn_records *records, int64_t record, uint32_t node);
KN_API int         kn_records_class(const kn_records *records, int64_t record, uint32_t node);
KN_API const char *kn_records_label(const kn_records *records, int64_t record, uint32_t node, size_t *size);

/* What reading skipped: nodes equal to a sibling (one of them stays, with the nodes below both), and the names of
 * elements, attributes and keys that no class has. For a release also "id" if a record has one, and "text", "comment"
 * and the like if the XML contains them. */
KN_API int64_t     kn_records_merged(const kn_records *records);
KN_API int         kn_records_ignored(const kn_records *records);
KN_API const char *kn_records_ignored_name(const kn_records *records, int index);

/* XML: the namespaces that the elements around the records declare, which a release keeps: a line each, of the element's depth,
 * the attribute (xmlns, xmlns:PREFIX) and the URI, with tabs between. "": none. */
KN_API const char *kn_records_namespaces(const kn_records *records);

#ifdef __cplusplus
}
#endif

#endif
