/* kanon/catalogue.h: every method, privacy model and metric with what helps to choose one: for which data, what it
 * can promise, its source, its cost, when to use it.
 *
 * The only such list: `kanon anonymize --list-methods`, checks of a spec, messages and completions come from it, and
 * tests compare the manual with it. All texts are static and in plain words, without a full stop at the end. No
 * function fails; any thread may call them.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KANON_CATALOGUE_H
#define KANON_CATALOGUE_H

#include <kanon/spec.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Shapes of data ---- */

enum { KN_SHAPES = KN_SHAPE_RECORDS + 1 };

/* "table", "database", "records": as in lists and JSON. */
KN_API const char *kn_shape_name(kn_shape shape);

/* ---- Methods ---- */

typedef struct kn_method_entry {
    const char *name;
    const char *kind;  /* what it decides, the same for neighbours: "one level for a whole column"    */
    const char *paper; /* authors, year, part; begins with "own" where it comes from no paper      */
    const char *cost;  /* of time and memory, in plain words                                          */
    const char *use;   /* when to take it                                                             */
} kn_method_entry;

/* The methods in their order, then "auto", which is not a kn_method: it tries those that fit (kanon/advise.h). */
enum { KN_CATALOGUE_AUTO = KN_METHODS, KN_CATALOGUE_METHODS };

/* `method`: a kn_method, or KN_CATALOGUE_AUTO. */
KN_API const kn_method_entry *kn_catalogue_method(int method);

KN_API kn_shape kn_method_shape(kn_method method);

/* Does it search a lattice, whose minimal nodes can be listed (kn_anonymize_options.all_solutions)? */
KN_API bool kn_method_has_nodes(kn_method method);

/* Does it use a field of the release file, or one of its options ("seed")? Others are refused (kn_spec_check). */
KN_API bool kn_method_uses(kn_method method, const char *field);

/* Is it the default for a release of its shape that promises k (trees: k-mn) alone? */
KN_API bool kn_method_is_default(kn_method method);

/* ---- Privacy models ---- */

/* The models in their order, then k-mn, which is not a kn_model_kind. */
enum { KN_CATALOGUE_KMN = KN_MODEL_KINDS, KN_CATALOGUE_MODELS };

typedef struct kn_model_entry {
    const char *name;    /* "l-diversity"                                                             */
    const char *variant; /* "distinct"; NULL: none                                                    */
    const char *example; /* as --require takes it, or --kmn: "l-diversity:kind=distinct,l=3"          */
    const char *says;    /* of every class                                                            */
    const char *needs;   /* needed besides quasi-identifiers: "a sensitive column"; NULL: nothing     */
    const char *paper;
    const char *use;
} kn_model_entry;

/* `model`: a kn_model_kind, or KN_CATALOGUE_KMN. */
KN_API const kn_model_entry *kn_catalogue_model(int model);

/* Can a release by that method promise it? */
KN_API bool kn_method_keeps(kn_method method, int model);

/* Can it be asked of a table as it is (kanon diagnose --require)? */
KN_API bool kn_model_diagnosed(int model);

/* ---- Metrics ---- */

/* The metrics of tables in their order, then those of tree records alone. */
enum { KN_CATALOGUE_METRICS = KN_METRICS + 8 };

typedef struct kn_metric_entry {
    const char *name;
    unsigned    shapes; /* bit kn_shape: a release of such data is measured by it                     */
    bool        larger_is_better;
    const char *says;
    const char *range; /* what is best and what is worst                                              */
    const char *paper;
    const char *use;
} kn_metric_entry;

/* `metric`: below KN_METRICS a kn_metric, which a search can minimize (--utility). */
KN_API const kn_metric_entry *kn_catalogue_metric(int metric);

#ifdef __cplusplus
}
#endif

#endif
