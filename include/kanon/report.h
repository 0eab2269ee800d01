/* kanon/report.h: a diagnosis, or a release, as one self-contained HTML page with pictures, for readers who do not
 * know k-anonymity.
 *
 * The page makes no request, runs no script and holds no value of the data: column names, file names and counts only.
 * Equal input gives equal bytes. docs/report.md explains each picture.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KANON_REPORT_H
#define KANON_REPORT_H

#include <kanon/anonymize.h>
#include <kanon/questions.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One line of a table of figures: what is it, how much, what does it mean. `meaning` may be NULL. */
typedef struct kn_report_figure {
    const char *name;
    const char *value;
    const char *meaning;
} kn_report_figure;

/* More figures under a heading of their own: risk, models, whatever the caller measured. `intro` may be NULL. */
typedef struct kn_report_section {
    const char             *title;
    const char             *intro;
    const kn_report_figure *figures;
    int                     figure_count;
} kn_report_section;

/* All pointers are borrowed for the duration of the call. Names may hold any bytes: they are escaped. */
typedef struct kn_report_input {
    size_t             size;   /* sizeof(kn_report_input), set by the initializer                        */
    const char        *title;  /* NULL: "Privacy report"                                                 */
    const char        *version; /* of the program, for the last line; NULL: left out                     */
    const char *const *inputs; /* files; their folders are not shown, "-" is standard input              */
    int                input_count;
    /* What was asked, as in kn_diagnose_options and kn_sets_options. */
    const char *const *quasi;
    int                quasi_count;
    const char *const *over;
    int                over_count;
    const char        *entity;
    kn_missing         missing;
    int64_t            k; /* 0: not asked */
    bool               at_most;
    kn_suppress_mode   suppress_mode;
    /* The answers; at least one of the two. */
    const kn_diagnosis      *diagnosis; /* on `quasi`            */
    const kn_sets_diagnosis *sets;      /* on the subsets of `over` */
    const kn_report_section *sections;
    int                      section_count;
    const char *const       *notes; /* what the user should know, in sentences without a value of the data */
    int                      note_count;
} kn_report_input;

#define KN_REPORT_INPUT_INIT                                                                                           \
    {sizeof(kn_report_input),                                                                                          \
     NULL,                                                                                                             \
     NULL,                                                                                                             \
     NULL,                                                                                                             \
     0,                                                                                                                \
     NULL,                                                                                                             \
     0,                                                                                                                \
     NULL,                                                                                                             \
     0,                                                                                                                \
     NULL,                                                                                                             \
     KN_MISSING_VALUE,                                                                                                 \
     0,                                                                                                                \
     false,                                                                                                            \
     KN_SUPPRESS_NONE,                                                                                                 \
     NULL,                                                                                                             \
     NULL,                                                                                                             \
     NULL,                                                                                                             \
     0,                                                                                                                \
     NULL,                                                                                                             \
     0}
KN_API void kn_report_input_init(kn_report_input *options, size_t size);

/* Writes the page to `path` ("-": standard output); the file appears whole or not at all. KN_USAGE: neither answer is
 * given, or one without the names of its columns. */
KN_API KN_CHECK kn_status kn_report_write(kn_context *ctx, const char *path, const kn_report_input *input,
                                          kn_error *err);

/* The page of a release: what was asked and reached, risk and class sizes before and after, what each column lost,
 * the lattice with the chosen node. It is for the owner, and only they can read the file (mode 0600): it holds
 * figures of the original. The report that may be published is written by kn_anonymize (kn_spec.public_report).
 * `spec` and `result` are those of kn_anonymize; a result without a release says why there is none. `version` may be
 * NULL. Times are left out, so that equal runs give equal bytes. KN_USAGE: `spec` or `result` is NULL. */
KN_API KN_CHECK kn_status kn_release_report_write(kn_context *ctx, const char *path, const kn_spec *spec,
                                                  const kn_release_result *result, const char *version, kn_error *err);

/* The same for a release of a database, and of tree records. */
KN_API KN_CHECK kn_status kn_database_report_write(kn_context *ctx, const char *path, const kn_spec *spec,
                                                   const kn_database_result *result, const char *version,
                                                   kn_error *err);
KN_API KN_CHECK kn_status kn_records_report_write(kn_context *ctx, const char *path, const kn_spec *spec,
                                                  const kn_records_result *result, const char *version, kn_error *err);

#ifdef __cplusplus
}
#endif

#endif
