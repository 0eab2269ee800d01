/* kn_tree.h: k^(m,n)-anonymity of tree records (Gkountouna, Terrovitis 2013, section III; docs/errata.md 5): whoever
 * knows up to m values of a record and up to n ancestor ⇝ descendant relations between them finds no record, or at
 * least k.
 *
 * The promise, and how it is reached. The fast path and the reference both follow this text.
 *
 * Known. Every value of the cut may be known, except those of sensitive classes (III-F): these are published
 * unchanged. Every cut has their leaves, and "*" stands for values of the other classes alone. A combination is a set
 * of 1 to m known values and a set of at most n relations between them; its support is the number of released records
 * that have all of them. Pairs: each relation is looked for by itself. Paths (S2): there must be one node of the
 * record for each known value under which all the relations hold. "*" is a value; "*" above "*" is a relation, which
 * stands alone and is looked for by itself (K8). The release keeps the promise if every support is 0 or at least k.
 *
 * Absent (III-G). For a negative class (which is never sensitive) attackers may also know that a record lacks a value
 * of the original. Every such absence is one of the m known facts. It has no relations. A released record that shows
 * u has one of the original's values at or below u, unknown which, and is ruled out only by knowing that all of these
 * are absent. So knowing "-u" for a value u of the cut costs as many facts as there are values of the original (those
 * that occur, not the hierarchy's: that nobody has a value may be known) at or below u; of "*" only where all of them
 * are of negative classes. A combination is then a set of known values, a set of known -u, together at most m, and
 * relations between the former; its support is the number of released records that have the former and none of the
 * latter. Where something may be known to be absent both may be empty: to know an absence that rules out nobody is to
 * know nothing, and of all records, too, no more than 1 / l have one sensitive value.
 * - It is enough. An attacker who knows values P and absences N of a record, |P| + |N| <= m, cannot rule out a
 * released record that
 *   has the images of P and their relations, and shows no u all of whose values are in N. Those u weigh at most |N|, so
 *   that combination was counted; the record itself has it; so there are at least k.
 * - ValueCheck still prunes (K9): where u is replaced by its children, their weights add up to its own and to lack them
 *   all is to lack u, so that every combination of a cut is one of the finer cut with the same support, or, with u among
 *   the known values, one with a child in its place has a support in between.
 * - The paper gives "-a" a node, a class and a hierarchy of its own, and generalizes it on its own. That does not
 * protect: -Gastritis may become "-Disease" while Gastritis is shown, so everybody sees who lacks it. Absences affect
 * neither records nor cost nor output.
 *
 * Unrelated (III-G). For a class that says so (never a sensitive one) attackers may also know that a value x does not stand above a value y of the
 * class in a record: pairs of the original's values. A fact like that is one of the n relations, and its ends are among the m values, whether the record has
 * them or not. A released record that shows u above w has one of the pairs of the original at or below u and w, unknown which, and is
 * ruled out only by knowing that all of these are unrelated. So a combination may also have a set Q of relations of the cut that are not there: with
 * the pairs that they stand for it has at most n relations, and with the ends of these pairs, a known value above an end aside, at most m values. Its
 * support is the number of released records that have the values and relations and show none of Q.
 * - It is enough. Of what an attacker knows let Q be the relations of the cut all of whose pairs are known to be unrelated. That combination was
 *   counted; the record itself shows none of Q, since no release adds a relation; so there are at least k, or, where a known relation was taken away, none.
 * - A round of FixStructure that names none looks at these combinations: each that is rare names the relation of Q and of its known ones with the least support of
 *   its own, as above. Every cut can be mended so: a relation that nobody shows rules out nobody. Only with relations pair by pair, and not
 *   with absences, diversity, strict positions or OCS.
 *
 * ValueCheck: the combinations without relations. A cut that fails is not followed (K9).
 *
 * FixStructure works in rounds. A round looks at all combinations with one relation, then with two, up to n, and
 * stops at the first number of relations at which a support lies in (0, k). Each such combination with that many
 * relations names one of them: the one with the least support of its own in the current records, of equal ones the
 * smallest (ancestor, descendant). The named relations are disassociated in ascending order, in all records, in the way that
 * the problem says (kn_record_disassociate), and the next round begins. Every way only takes relations away. A round that names none is the last (K4, K5, K6): it is the final check. Rounds do not depend on
 * the order in which combinations are visited, so they can be counted in parallel, and reused from one cut to the
 * next.
 *
 * Strict (S1): a round that names none checks positions. A position is the value of a node and that of its parent
 * (KN_RECORDS_ROOT below the root). It is tell-tale where both (or the one, below the root) have a class and the pair
 * of classes occurs in no original record. Each tell-tale position that between 1 and k - 1 released records have
 * names a relation: (parent, value); below the root the (a, value) with the least support of its own, of equal ones
 * the smallest a, if there is one (there is, unless the value is not known and has fewer than k records). They are
 * disassociated as above and the next round begins. OCS disassociates nothing, so nothing moves.
 *
 * Cost: RPDa of the released records: equations 7 and 8 with d = 1 below the root, paths added in preorder, children
 * by value; nds and lvs without the root. |C(u)|: values of u's class (with level_domains: of all classes) in the
 * full-domain cut at the depth of u, of a leaf all leaves (K2, K13); 1 for "*". Smaller is better, and costs that are
 * equal as rational numbers are equal. Of equal ones the cut with more values, of those the one whose values are
 * deeper (their depths added up), of those the one that comes first.
 *
 * Weights. Where classes weigh differently the cost is another one: the mean over the nodes of the original, by the weights of
 * their classes, of how broad they become (of a value u of the cut: (leaves at or below u - 1) / leaves of the class; 1 for "*"),
 * plus the share by which the relations of the released records are fewer than the original's (0 if it has none).
 *
 * A cut is followed if it passes ValueCheck and, for OCS, needs no disassociation. A cut that is followed is a
 * solution if, with l > 0, it is diverse too: for every combination with support s > 0, each sensitive value of the
 * cut is in at most s / l of these records; and if every other promise about a sensitive class (entropy and recursive
 * l-diversity: kn_spread.h) holds of these records. ACS follows every cut. GCS and OCS begin with {*} and follow the g best
 * of all cuts that the step before led to and no earlier step had seen (K10, K11). Fewer than k records, or {*} not
 * followed: nothing is found.
 *
 * Suppression. Within a budget values may be given up: the nodes of a leaf vanish from every record, what was below them is
 * below the next one up, and nothing at or above the leaf is shown. So whoever knows such a value finds nobody by it, and what
 * they know besides is counted as ever. Records may be left out. Single nodes may be given up, too: a node vanishes from its record alone, with
 * what is below it. The promise is made for what is released; the budgets are of nodes of the original that their record does not show, not even as a
 * broader value (of a record left out: whose value is nowhere shown), and of records. kn_tree_suppress.c and kn_single.h say what is tried.
 * - It is enough. Somebody knows P of a record, at most m values and n relations. Released records have P, at least k; or none has, and then of what is left of P
 *   if one of them is missing again none has it or at least k do, and so on: whatever they think was given up, they find nobody or at least k. What is left of the
 *   record, with no node moved, is a record that somebody might have had: kn_single.h says how a node is not missed.
 * With a budget relations may also be taken away in single records (kn_single_detach.c), where nobody sees that a node was moved. The promise is counted in what is
 * released; no relation is added, so what is said of missing ones stays true.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_TREE_H
#define KN_TREE_H

#include <kanon/models.h>

#include "kn_records_plan.h"

/* Entropy or recursive l-diversity of a sensitive class. */
typedef struct kn_tree_promise {
    uint16_t cls;
    kn_model model;
} kn_tree_promise;

typedef struct kn_tree_problem {
    const kn_records *records;
    kn_method         method; /* KN_METHOD_ACS, _GCS or _OCS                                                      */
    int64_t           k;
    int               m, n;       /* 0 <= n <= m (m - 1) / 2; n = 0: k^m-anonymity                               */
    int               g;          /* gcs: cuts that are followed in each step                                     */
    kn_semantics      semantics;  /* relations pair by pair, or also that they share nodes of one path (S2)       */
    bool              strict;     /* a node where only a moved one can be: in at least k records (S1)                */
    bool              level_domains; /* |C(u)| counts the whole level of the hierarchies instead of the class (K2)  */
    double            time_limit; /* seconds; 0: none                                                             */
    int64_t           l;          /* at least this many records per record of one sensitive value: share <= 1 / l;
                                     0: no such promise (K18)                                                     */
    bool              reference;  /* the plain algorithm: same plan, slowly                                       */
    int64_t           spare_nodes;   /* suppression: of the original's nodes, how many may be given up; not with strict ... */
    int64_t           spare_records; /* ... and of its records                                                      */
    bool              as_is;         /* records that keep the promise as they are stay so: without, a blur may cost less */
    const kn_ratio   *weights;       /* per class, greater than 0; NULL: RPDa is the cost                          */
    const kn_tree_promise *promises; /* besides l                                                                  */
    int                    promise_count;
    kn_disassociate        how; /* a relation is taken away; OCS takes none                                     */
    const uint32_t        *only; /* the one cut that is looked at, ascending, with the sensitive leaves; NULL: it is searched */
    uint32_t               only_size;
} kn_tree_problem;

#define KN_TREE_PROBLEM_INIT                                                                                           \
    {NULL, KN_METHOD_GCS, 2, 2, 1, 2, KN_SEMANTICS_PAIRS, false, false, 0, 0, false, 0, 0, false, NULL, NULL, 0, KN_DISASSOCIATE_NODE, NULL, 0}

/* Is anything promised about sensitive values? */
static inline bool kn_tree_asks_diversity(const kn_tree_problem *p)
{
    return p->l > 0 || p->promise_count > 0;
}

typedef struct kn_tree_counters {
    int64_t cuts;          /* looked at                                                   */
    int64_t value_checks;  /* ... and how many of them passed ValueCheck                  */
    int64_t passed;
    int64_t intersections; /* of id lists                                                 */
    int64_t relations;     /* combinations with relations that were counted               */
    int64_t disassociations; /* tried, over all cuts                                      */
} kn_tree_counters;

typedef struct kn_tree_result {
    bool             found;    /* false: not even "*" alone satisfies it; no plan         */
    bool             complete; /* false: the time limit ended the search                  */
    kn_records_plan *plan;     /* owned                                                   */
    double           cost;     /* of the solution                                         */
    int64_t          given_up; /* nodes of the original whose value is nowhere shown      */
    int64_t          left_out; /* records                                                 */
    kn_tree_counters counters;
} kn_tree_result;

/* The same plan on any number of threads; counters too, but for a time limit. KN_USAGE: options that make no sense. */
KN_CHECK kn_status kn_tree_search(kn_tree_result **out, kn_context *ctx, const kn_tree_problem *problem, kn_error *err);
void               kn_tree_result_free(kn_tree_result *result); /* NULL is fine */

/* ---- What it cost (kn_tree_metrics.c, kn_subtree_miner.c) ---- */

typedef struct kn_tree_metrics_options {
    bool    level_domains; /* as above                                                     */
    bool    mine;          /* ml2 and dml2 are wanted: the costly ones                     */
    double  support;       /* share of the records from which a subtree is frequent        */
    int     largest;       /* nodes of a mined subtree at most, without the record's root  */
    bool    embedded;      /* descendants count as children                                */
} kn_tree_metrics_options;

#define KN_TREE_METRICS_OPTIONS_INIT {false, false, 0.01, 3, false}

typedef struct kn_tree_metrics {
    double  rpd, rpd_original;  /* equation 3 (K2, K3)                                     */
    double  ml2, dml2;          /* equations 4 to 6 (K15); NAN where not mined             */
    int64_t nodes, nodes_original;
    int64_t relations, relations_original; /* ancestor ⇝ descendant pairs over all records */
    double  node_survival;      /* of the original's nodes: share that still shows its own value            */
    double  relation_survival;  /* of the original's relations: share that is still there, at any level     */
    double  relation_unchanged; /* ... between the same values                                              */
} kn_tree_metrics;

/* The mean over the original's nodes, by the weights of their classes (NULL: all equal), of how broad they became: 0: as it was; 1: "*",
 * given up or left out. `released` is kn_records_apply's. */
KN_CHECK kn_status kn_tree_breadth(double *out, kn_context *ctx, const kn_records *original, const kn_records *released,
                                   const int64_t *original_of, const kn_records_plan *plan, const kn_ratio *weights,
                                   kn_error *err);

/* `released` is kn_records_apply's, `original_of` too: first of the released records, then of those left out, of which
 * nothing survives. */
KN_CHECK kn_status kn_tree_measure(kn_tree_metrics *out, kn_context *ctx, const kn_records *original,
                                   const kn_records *released, const int64_t *original_of,
                                   const kn_tree_metrics_options *options, kn_error *err);

#endif
