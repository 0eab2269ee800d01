/* kn_records_layout.h: how a file writes its records, for readers and writers. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_RECORDS_LAYOUT_H
#define KN_RECORDS_LAYOUT_H

#include <kanon/records.h>
#include <stdint.h>

/* In which form each class stands in a file. It is one for the whole file, so that it can mark no record. */
enum { KN_STYLE_CLASSES = 64 }; /* of more classes no form is kept */

typedef struct kn_class_style {
    bool texts, literals; /* JSON: values are texts; numbers, true or false              */
    bool objects;         /* JSON: some nodes are objects, with a key for their value    */
    bool elements, attributes; /* XML: nodes are elements; attributes of the element around them */
    bool in_text, in_attribute; /* XML: an element's value is its text; an attribute of it        */
    uint32_t lists;             /* resources: which steps of its path after the type are lists, as bits */
} kn_class_style;

/* Of a class directly below another, or below the record. */
typedef struct kn_place_style {
    bool     there;             /* JSON: its key occurs                                              */
    bool     list, none, empty; /* JSON: some are lists; some are null; some are []                  */
    uint64_t after;             /* JSON: the classes whose keys come before its own in some object   */
} kn_place_style;

typedef struct kn_records_style {
    kn_class_style of[KN_STYLE_CLASSES + 1];                     /* by class + 1; 0: nodes without a class */
    kn_place_style below[KN_STYLE_CLASSES + 2][KN_STYLE_CLASSES]; /* by the parent's class + 2 (0: the record), and the class */
} kn_records_style;

/* How a file wrote its records: what a release of the same form needs to know. */
typedef struct kn_records_layout {
    kn_records_form form;
    char           *path;      /* XML: elements from the root to the record; JSON: keys to the list of records; NULL: records
                                  (and record), "" in JSON: the document is the list                            */
    char           *namespaces; /* XML: what is declared around the records, as kn_records_namespaces has it; NULL: nothing */
    kn_records_style *style;   /* XML, JSON; NULL: classes are objects in lists, or elements                     */
    int             around;    /* JSON: of the path's keys, how many are around a list of objects with one record each; 0: all are
                                  around the list of records                                                     */
    bool            nested;    /* JSON: class names are keys                                                     */
    bool            classes;   /* JSON: nodes say their class                                                    */
    bool            listed;    /* JSON: records are lists of values of the only class                            */
    char            delimiter; /* of baskets                                                                     */
    const kn_spec_resource *resources; /* JSON: what records are put together from, as the options had it; NULL: objects */
    int             resource_count;
    int64_t         orphans;   /* resources that belong to no person                                             */
    int64_t         empty;     /* elements, attributes and texts without a value, which are no nodes             */
} kn_records_layout;

#endif
