/* kn_synopsis.h: all records superimposed (Gkountouna, Terrovitis 2013, section III-A): one trie over the paths of
 * all records, for each value the links to its nodes, for each node of flat records the list of the records that have it (for
 * others the values of a record tell); and its projection to a cut.
 *
 * Generalization and disassociation (Definition 2) rewrite paths, each separately and in the same way in all records.
 * So the state of a solution is one path per node of the trie; no record is ever rebuilt. A record is the set of its
 * nodes. (What moves where an ancestor leaves a path depends on the record: there each row has nodes of its own.)
 *
 * A synopsis does not change once made and may be read by any thread.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_SYNOPSIS_H
#define KN_SYNOPSIS_H

#include "kn_bitset.h"
#include "kn_records.h"
#include "kn_rows.h"

#define KN_SYNOPSIS_ROOT UINT32_MAX

/* So many values can be read from any value of a row, whether it has so many or not. */
enum { KN_VALUES_AHEAD = 16 };

typedef struct kn_synopsis {
    kn_context          *ctx;
    const kn_vocabulary *vocabulary;
    int64_t              records;
    uint32_t             nodes;  /* without the root; in preorder, children by value  */
    uint32_t            *parent; /* KN_SYNOPSIS_ROOT                                  */
    uint32_t            *end;    /* the first node after the subtree                  */
    uint32_t            *value;
    kn_rows              rows;       /* distinct records, by their first nodes: nodes ascending         */
    uint32_t            *value_start; /* rows.count + 1: the values of each row, ascending, each once; NULL: more than 2^32 */
    uint16_t            *narrow_values; /* where they fit into 16 bits, else ...; KN_VALUES_AHEAD more that mean nothing */
    uint32_t            *values;
    uint64_t            *list_start; /* nodes + 1: where the list of each node begins; NULL: the records are not flat */
    uint8_t             *lists;      /* its rows, ascending: what each adds to the one before, 7 bits to a byte */
    uint32_t            *side_start; /* values + 1: the nodes of each value, ascending                 */
    uint32_t            *side;
    uint32_t            *absence;     /* per value: how many values of the records lie at or below it, if that a record lacks
                                         them may be known (III-G), else 0; NULL: no value can be known to be absent      */
    uint32_t            *set_of;      /* per value: 1 + the number of its set; 0: none, nothing is below it            */
    uint64_t            *sets;        /* `set_words` each: the rows with something below a value; NULL: not made        */
    size_t               set_words;
    bool                *class_pairs; /* (class + 1) × (class + 1), 0: the root; does class b stand directly below a? */
} kn_synopsis;

/* A value of a row. */
static inline uint32_t kn_synopsis_value(const kn_synopsis *s, uint64_t at)
{
    return s->narrow_values ? s->narrow_values[at] : s->values[at];
}

/* Has a row a value from `first` to before `end`? Narrow ones are compared without a branch for each: which of them it is cannot be
 * foreseen. */
static inline bool kn_synopsis_has(const kn_synopsis *s, uint32_t row, uint32_t first, uint32_t end)
{
    uint32_t at = s->value_start[row], stop = s->value_start[row + 1];
    for (; !s->narrow_values && at < stop; at++)
        if (s->values[at] >= first && s->values[at] < end) return true;
    for (; at < stop; at += KN_VALUES_AHEAD) {
        const uint16_t *values = s->narrow_values + at;
        uint32_t        left = stop - at;
        bool            any = false;
        for (uint32_t i = 0; i < KN_VALUES_AHEAD; i++)
            any |= ((uint16_t)(values[i] - first) < end - first) & (i < left);
        if (any) return true;
    }
    return false;
}

/* Reads a list of rows, front to back; of flat records. */
typedef struct kn_list_reader {
    const uint8_t *at, *end;
    uint32_t       row;
} kn_list_reader;

static inline kn_list_reader kn_synopsis_list(const kn_synopsis *s, uint32_t node)
{
    return (kn_list_reader){s->lists + s->list_start[node], s->lists + s->list_start[node + 1], 0};
}

/* false: there are no more. */
static inline bool kn_list_next(kn_list_reader *r)
{
    if (r->at == r->end) return false;
    uint32_t step = 0;
    for (int shift = 0;; shift += 7) {
        step |= (uint32_t)(*r->at & 127) << shift;
        if (*r->at++ < 128) break;
    }
    r->row += step;
    return true;
}

KN_CHECK kn_status kn_synopsis_make(kn_synopsis **out, kn_context *ctx, const kn_records *records, kn_error *err);
void               kn_synopsis_free(kn_synopsis *synopsis); /* NULL is fine */

/* Makes the sets, unless they would take much memory: then each is worked out whenever it is asked for. */
KN_CHECK kn_status kn_synopsis_make_sets(kn_synopsis *synopsis, kn_error *err);

/* The rows that have something at or below a value, as bits; NULL: there is no such set. */
static inline const uint64_t *kn_synopsis_set(const kn_synopsis *s, uint32_t value)
{
    return s->sets && s->set_of[value] ? s->sets + (s->set_of[value] - 1) * s->set_words : NULL;
}

/* ---- Projected to a cut ---- */

typedef struct kn_projection {
    kn_context     *ctx;
    uint32_t        places; /* values of the cut; a place is a value's number there, ascending by value */
    const uint32_t *values; /* borrowed                                                                */
    uint32_t        nodes;  /* parents first                                                           */
    uint32_t       *parent;
    uint32_t       *place;
    uint64_t       *path_start; /* nodes + 1: the places on the path down to the node, itself last       */
    uint32_t       *path;
    uint32_t       *image; /* per node of the synopsis: its node here; UINT32_MAX: none                 */
    kn_rows         rows;  /* distinct projected records: nodes ascending                               */
    uint64_t       *known_start; /* rows.count + 1: the known places of each row, ascending                */
    uint32_t       *known;
    uint32_t       *absence;      /* per place, as the synopsis has it per value; NULL: none               */
    uint64_t       *absent_start; /* rows.count + 1: the known places of each row with an absence > 0      */
    uint32_t       *absent;
} kn_projection;

/* `values`: the cut, ascending. `known` (per place; NULL: all): may be known to an attacker. */
KN_CHECK kn_status kn_projection_make(kn_projection **out, const kn_synopsis *synopsis, const uint32_t *values,
                                      uint32_t count, const bool *known, kn_error *err);
void               kn_projection_free(kn_projection *projection); /* NULL is fine */

/* Gives each row nodes of its own: those of row r are rows.start[r] and the following ones. `parent` and `image` are gone. */
KN_CHECK kn_status kn_projection_split(kn_projection *projection, kn_error *err);

#endif
