/* kn_records_layout.h: how a file writes its records, for readers and writers. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_RECORDS_LAYOUT_H
#define KN_RECORDS_LAYOUT_H

#include <kanon/records.h>

/* How a file wrote its records: what a release of the same form needs to know. */
typedef struct kn_records_layout {
    kn_records_form form;
    char           *path;      /* XML: elements from the root to the record; JSON: keys to the list of records; NULL: records
                                  (and record), "" in JSON: the document is the list                            */
    char           *namespaces; /* XML: what is declared around the records, as kn_records_namespaces has it; NULL: nothing */
    bool            nested;    /* JSON: class names are keys                                                     */
    bool            classes;   /* JSON: nodes say their class                                                    */
    char            delimiter; /* of baskets                                                                     */
} kn_records_layout;

#endif
