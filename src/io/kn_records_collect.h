/* kn_records_collect.h: one record at a time, collected before it is passed on: a value may come after its children.
 *
 * Shared by the readers of the forms (kn_xml_read.c, kn_json_read.c, kn_records_baskets.c).
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_RECORDS_COLLECT_H
#define KN_RECORDS_COLLECT_H

#include "kn_buffer.h"
#include "kn_interner.h"
#include "kn_records_scan.h"
#include "kn_resources.h"
#include "kn_source.h"

/* A node of the current record. */
typedef struct kn_collected {
    int64_t  line, column;
    uint64_t text; /* where its value begins in `bytes` */
    uint32_t size;
    int32_t  cls;
    int64_t  parent;
    bool     has_value;
    bool     holds;  /* something below it has a value                        */
    int64_t  number; /* that the sink knows it by                             */
} kn_collected;

typedef struct kn_collector {
    kn_context               *ctx;
    const kn_records_options *options;
    const kn_records_sink    *sink;
    const kn_resources_sink  *resources; /* receives resources instead of records; NULL: none */
    kn_records_layout        *layout; /* never NULL */
    kn_source                *source;
    const char               *file;
    kn_interner               names; /* unknown ones       */
    int64_t                   records;
    int64_t                   earlier; /* of these, in the files before */
    /* The current record. */
    kn_collected *nodes;
    size_t        count, capacity;
    kn_buffer     bytes;
    bool          has_id;
    uint64_t      id;
    size_t        id_size;
    int64_t       line, column;
} kn_collector;

/* The class of that name; -1: none. */
int kn_collector_class(const kn_collector *c, kn_string name);

/* The form of a node's class, and of a class below a node (-1: the record); NULL: it is not kept. */
kn_class_style *kn_collector_style(const kn_collector *c, int64_t node);
kn_place_style *kn_collector_place(const kn_collector *c, int64_t parent, int cls);

/* An unknown name, after `prefix` (may be empty): reported once. */
KN_CHECK kn_status kn_collector_ignore(kn_collector *c, const char *prefix, kn_string name, kn_error *err);

/* A name that a parser remembers: counted with them, not reported. */
KN_CHECK kn_status kn_collector_count(kn_collector *c, kn_string name, kn_error *err);

/* Without the white space around it. */
kn_string kn_records_trimmed(kn_string text);

void kn_collector_begin(kn_collector *c, int64_t line, int64_t column);

/* KN_INPUT: the record already has one. */
KN_CHECK kn_status kn_collector_id(kn_collector *c, kn_string id, int64_t line, int64_t column, kn_error *err);

/* Adds a node without a value; *index is its number. */
KN_CHECK kn_status kn_collector_node(kn_collector *c, int64_t parent, int cls, int64_t line, int64_t column,
                                     int64_t *index, kn_error *err);

/* Gives it its value, without the white space around it. KN_INPUT: it already has one, or the text is too long. */
KN_CHECK kn_status kn_collector_value(kn_collector *c, int64_t node, kn_string text, kn_error *err);

/* Passes the record to the sink. What has no value, and holds nothing that has one, is no node (in a release there is no such
 * thing). KN_INPUT: a node without a value. */
KN_CHECK kn_status kn_collector_end(kn_collector *c, kn_error *err);

/* Has this file no record? */
static inline bool kn_collector_none(const kn_collector *c)
{
    return c->records == c->earlier;
}

/* ---- The forms: one file, from its beginning to its end ---- */

KN_CHECK kn_status kn_xml_read(kn_collector *c, kn_error *err);
KN_CHECK kn_status kn_json_read(kn_collector *c, bool lines, kn_error *err);
KN_CHECK kn_status kn_baskets_read(kn_collector *c, kn_error *err);

#endif
