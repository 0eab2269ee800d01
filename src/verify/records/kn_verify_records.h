/* kn_verify_records.h: what the parts of the verifier of tree records share.
 *
 * Records are received node by node (kn_records_scan.h, or the verifier's own reader of databases); labels are
 * numbered here, hierarchies are read by the verifier's own reader (hierarchy.c). Nothing of src/data's records,
 * vocabularies or plans is known.
 *
 * Words: a *label* is a class with a text, numbered over both files; a *combination* is what an attacker may know: a
 * set of labels and relations between them; the *image* of an original label is what the release shows instead.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_VERIFY_RECORDS_H
#define KN_VERIFY_RECORDS_H

#include "kn_records_scan.h"
#include "kn_verify_internal.h"

/* The records of one file: nodes one after the other, parents before children. */
typedef struct kn_vforest {
    int64_t   count;
    uint64_t *start;  /* count + 1                                              */
    uint32_t *parent; /* counted from the record's first node; KN_V_NONE: none */
    uint32_t *label;
} kn_vforest;

/* The most nodes of a record. */
static inline uint64_t kn_vforest_largest(const kn_vforest *f)
{
    uint64_t largest = 0;
    for (int64_t r = 0; r < f->count; r++)
        if (f->start[r + 1] - f->start[r] > largest) largest = f->start[r + 1] - f->start[r];
    return largest;
}

/* A class: where its labels begin, and its hierarchy. Class `class_count` is that of labels without one: "*". */
typedef struct kn_vclass {
    const kn_spec_class *spec;  /* NULL: no class                                                                */
    kn_texts             texts; /* per label - first                                                             */
    uint32_t             first;
    kn_vtree            *tree;
    uint32_t             top;           /* its node of the tree; KN_V_NONE: above the tree, with the class's name */
    uint32_t             top_label;     /* ... and then its label, where it occurs; KN_V_NONE                     */
    uint32_t            *node;          /* per label: its node, the lowest of that text; KN_V_NONE: none          */
    uint32_t            *label_of_node; /* KN_V_NONE: neither file has it                                         */
    uint32_t            *domain;        /* per node: |C(u)|: how many values its level has; 0: not the class's    */
    kn_ratio             l;             /* asked of it; 0/1: nothing                                              */
    int                  model;         /* of the spec that asks for it; -1: none                                 */
} kn_vclass;

typedef struct kn_records_verifier {
    kn_context                      *ctx;
    const kn_spec                   *spec;
    const kn_records_verify_options *options;
    kn_records_verify_report        *report;
    kn_vnotes                       *notes;
    kn_arena                         arena; /* freed at the end of the verification   */
    int                              class_count;
    kn_vclass                       *classes;  /* class_count + 1                         */
    uint32_t                         labels;   /* of both files                           */
    uint32_t                         star;     /* the label "*" of no class; KN_V_NONE    */
    uint16_t                        *class_of; /* per label                               */
    kn_vforest                       original, release;
    kn_vforest                       raised; /* the original under its images, equal siblings merged */
    int64_t                         *map; /* per released record: its original; NULL: none or a wrong one */
    uint32_t                        *image; /* per label of the original; KN_V_NONE: none is shown         */
    bool                             whole; /* all of them that need one have it, and they are a cut       */
    int64_t                          work_limit;
    int64_t                          record_limit; /* sets of values of one record */
    int64_t                          spare_nodes, spare_records; /* what suppression may take */
    bool                             single; /* it took single nodes */
    bool                             budget_open; /* how many is not known, and may be too many */
    bool                             diverse; /* l-diversity is promised of some class ... */
    bool                             spread;  /* ... of a kind that is not distinct (spread.c) */
} kn_records_verifier;

/* Is it a value that attackers are assumed not to know, and that is published unchanged (III-F)? */
static inline bool kn_vlabel_sensitive(const kn_records_verifier *v, uint32_t label)
{
    const kn_spec_class *c = v->classes[v->class_of[label]].spec;
    return c && c->sensitive;
}

kn_status kn_vrecords_no_memory(const kn_records_verifier *v, kn_error *err);
KN_CHECK kn_status kn_vrecords_check_spec(const kn_spec *spec, kn_error *err);

/* ---- Reading (read.c) ---- */

/* Where records come from: they are passed to a sink as kn_records_scan passes them. Texts of `layout` are to be freed. */
typedef struct kn_vteller {
    void *state;
    kn_status (*tell)(void *state, const kn_records_sink *sink, kn_records_layout *layout, kn_error *err);
    void (*begin)(void *state, struct kn_records_verifier *v); /* called before; NULL: it need not know */
} kn_vteller;

/* The whole verification (verify.c): kn_verify_records with records from any source. */
KN_CHECK kn_status kn_vrecords_verify(kn_records_verify_report **out, kn_context *ctx, const kn_spec *spec,
                                      const kn_vteller *original, const kn_vteller *release,
                                      const kn_records_verify_options *options, kn_error *err);

/* Both sides as forests, their labels numbered. */
KN_CHECK kn_status kn_vrecords_read(kn_records_verifier *v, const kn_vteller *original, const kn_vteller *release,
                                    kn_error *err);

/* The persons of a database as records (database.c; docs/trees.md): `input` is its name, `snapshot` as for kn_cells_open. */
typedef struct kn_vpersons {
    kn_context    *ctx;
    const kn_spec *spec;
    const char    *input, *snapshot;
} kn_vpersons;

KN_CHECK kn_status kn_vrecords_tell_persons(void *state, const kn_records_sink *sink, kn_records_layout *layout,
                                            kn_error *err);

/* A class's column in the original: "table.column", or "column" where only one table has it. After kn_vdb_look. */
struct kn_vdb;
typedef struct kn_vclass_column {
    int table, column;
} kn_vclass_column;

KN_CHECK kn_status kn_vrecords_find_column(const struct kn_vdb *v, const char *name, kn_vclass_column *out, kn_error *err);

/* A release of such persons that is a database, too (released.c): its name or, before it is committed, its cells. */
typedef struct kn_vreleased {
    kn_context            *ctx;
    const kn_spec         *spec;
    const char            *original, *snapshot, *release;
    const struct kn_cells *cells;
    kn_records_verifier   *of;
} kn_vreleased;

void               kn_vrecords_begin_released(void *state, kn_records_verifier *v);
KN_CHECK kn_status kn_vrecords_tell_released(void *state, const kn_records_sink *sink, kn_records_layout *layout,
                                             kn_error *err);

/* A file that is scanned. */
typedef struct kn_vscanning {
    kn_context        *ctx;
    const char        *path;
    kn_records_options options;
} kn_vscanning;

/* Records that are put together from resources (resources.c). */
KN_CHECK kn_status kn_vrecords_tell_resources(const kn_vscanning *from, const kn_records_sink *sink,
                                              kn_records_layout *layout, kn_error *err);

/* Which class a text can belong to if its file does not say (classes.c): before labels are numbered. */
typedef struct kn_vknown {
    kn_vtree **trees; /* per class; NULL: no file                           */
    uint8_t  **flags; /* per label of the tree: 1 the class's, 2 and a leaf */
} kn_vknown;

KN_CHECK kn_status kn_vrecords_known(kn_vknown *out, kn_records_verifier *v, kn_error *err);
void               kn_vrecords_known_free(kn_vknown *known, const kn_records_verifier *v);
bool kn_vrecords_knows(const kn_records_verifier *v, const kn_vknown *known, int cls, kn_string text, bool leaf);

/* ---- The release alone ---- */

/* k^(m,n) and l-diversity: every combination that occurs is counted (count.c). */
KN_CHECK kn_status kn_vrecords_count(kn_records_verifier *v, kn_error *err);

/* Positions where only a moved node can be (S1; strict.c). */
KN_CHECK kn_status kn_vrecords_strict(kn_records_verifier *v, kn_error *err);

/* ---- Against the original ---- */

/* The hierarchies of all classes, bound to the labels of both files (classes.c). */
KN_CHECK kn_status kn_vrecords_classes(kn_records_verifier *v, kn_error *err);
void               kn_vrecords_classes_free(kn_records_verifier *v);

/* The labels of both files that may stand for one, itself first, then upwards to "*"; how many (at most
 * KN_HIERARCHY_MAX_LEVELS + 3). */
uint32_t kn_vlabel_path(const kn_records_verifier *v, uint32_t label, uint32_t *out);

/* |C(u)|; 0: the hierarchy does not know it. */
uint32_t kn_vlabel_domain(const kn_records_verifier *v, uint32_t label);

/* The cut: one image for every label of the original (cut.c). v->whole: every label has one, and they are a cut; then the
 * raised records are made too. */
KN_CHECK kn_status kn_vrecords_cut(kn_records_verifier *v, kn_error *err);

/* k^(m,n) and l-diversity again, if attackers may also know that values of negative classes are absent: after _count,
 * and with the whole cut (absent.c). */
KN_CHECK kn_status kn_vrecords_absent(kn_records_verifier *v, kn_error *err);

/* k^(m,n) again, if attackers may also know that values do not stand below others: likewise (unrelated.c). */
KN_CHECK kn_status kn_vrecords_unrelated(kn_records_verifier *v, kn_error *err);

/* Can the generalized record have become the released one? Steps are counted in *work; *decided becomes false if
 * there are too many (embed.c). Scratch for records of at most `largest` nodes, freed with the arena. One thread at a
 * time. */
typedef struct kn_vembed kn_vembed;
KN_CHECK kn_vembed *kn_vembed_create(kn_arena *room, kn_records_verifier *v, uint32_t largest);
bool kn_vembed_holds(kn_vembed *e, int64_t original, int64_t released, int64_t *work, bool *decided);

/* How many nodes were given up in single records if it is not known which record became which (single.c): at least by any assignment, and at most by one
 * that leaves `unpaired` originals with each label without a release. */
KN_CHECK kn_status kn_vrecords_count_single(kn_records_verifier *v, const int64_t *unpaired, int64_t *least, int64_t *most,
                                            kn_error *err);

/* Does every released record have its own original? With a map or by search (match.c). */
KN_CHECK kn_status kn_vrecords_match(kn_records_verifier *v, kn_error *err);

/* How broad values became, and RPD of both files (measure.c). */
KN_CHECK kn_status kn_vrecords_measure(kn_records_verifier *v, kn_error *err);

#endif
