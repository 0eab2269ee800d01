/* kanon/measure.h: what did a release lose? Every metric from the files alone, without the plan that made it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KANON_MEASURE_H
#define KANON_MEASURE_H

#include <kanon/spec.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kn_measured_attribute {
    const char *name;
    double      lm, ncp, prec, entropy;
} kn_measured_attribute;

typedef struct kn_measure_report {
    int64_t                      rows; /* of the original, without those that missing: drop leaves out       */
    int64_t                      released, suppressed, classes;
    int64_t                      k; /* smallest released class, in rows; 0: none                            */
    int                          attribute_count;
    const kn_measured_attribute *KN_PRIVATE(attributes);          /* kn_measured_attribute_at */
    double                       KN_PRIVATE(metrics)[KN_METRICS]; /* kn_measured_metric; the end */
} kn_measure_report;

/* dm_star NAN where the files do not say; c_avg INFINITY without a released row. */
KN_API double                       kn_measured_metric(const kn_measure_report *report, kn_metric metric);
KN_API const kn_measured_attribute *kn_measured_attribute_at(const kn_measure_report *report, int index); /* NULL: none */

typedef struct kn_measure_options {
    size_t             size;      /* sizeof(kn_measure_options), set by the initializer */
    const char *const *originals; /* files; NULL: the spec's inputs                     */
    int                original_count;
    const char        *release; /* file; NULL: the spec's output                        */
} kn_measure_options;

#define KN_MEASURE_OPTIONS_INIT {sizeof(kn_measure_options), NULL, 0, NULL}
KN_API void kn_measure_options_init(kn_measure_options *options, size_t size);

/* Measures any release of the quasi-identifiers in `spec`, made by kanon or not; docs/metrics.md says how cells are
 * read. Of the spec only the inputs, attributes, models and the treatment of missing and suppressed rows are used; it
 * need not pass kn_spec_check. KN_INPUT with row and column where a cell is neither a value, a label of the
 * hierarchy, an interval, a set nor "*"; a missing column; more rows than the original has. KN_USAGE: no
 * quasi-identifier, original or release. `options` may be NULL. */
KN_API KN_CHECK kn_status kn_measure(kn_measure_report **out, kn_context *ctx, const kn_spec *spec,
                                     const kn_measure_options *options, kn_error *err);
KN_API void               kn_measure_report_free(kn_measure_report *report);

#ifdef __cplusplus
}
#endif

#endif
