/* kn_verify_references.h: what the two files on references share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_VERIFY_REFERENCES_H
#define KN_VERIFY_REFERENCES_H

#include "kn_verify_database.h"

/* A column of a reference that holds keys of another. */
typedef struct kn_vref_link {
    int       column, target; /* a reference */
    uint32_t *rows;           /* of the target; KN_V_NONE: none */
} kn_vref_link;

typedef enum kn_vref_kind { KN_VREF_NUMBERS, KN_VREF_UUIDS, KN_VREF_TEXTS } kn_vref_kind;

typedef struct kn_vref {
    const char          *name;
    const kn_vsheet     *original;
    const kn_spec_table *said;
    int                  key_count;
    int                 *key;
    bool                *left_out; /* per column                                                */
    int                  target_count;
    int                 *targets; /* references that it refers to in any way                   */
    int                  link_count; /* by one column, to a key of one column, and not back     */
    kn_vref_link        *links;
    kn_vref_kind         kind;  /* of its keys                                                */
    bool                 wide;  /* it has broader rows                                        */
    uint32_t             count; /* of these; the last stands for everything                   */
    bool                 direct; /* persons' rows refer to it: the last is there, too        */
    bool                 labels; /* no rows are added: groups are shown as labels             */
    bool                 needed; /* its broader rows are in the release                       */
    uint32_t            *sizes;  /* of the broader rows but the last: the rows below           */
    kn_string           *row_keys; /* per row: its key as one text                            */
    kn_string           *names;  /* of the broader rows: their labels                         */
    uint32_t            *above; /* per row, then per broader row; of the last KN_V_NONE       */
    kn_string           *keys;  /* of the broader rows                                        */
    kn_string           *cells; /* of the broader rows, column by column; data NULL: missing  */
} kn_vref;

#endif
