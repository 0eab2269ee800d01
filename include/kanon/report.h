/* kanon/report.h: a diagnosis, or a release, as one self-contained HTML page with pictures, for readers who do not
 * know k-anonymity.
 *
 * The page makes no request, runs no script and holds no value of the data: column names, file names and counts only. Pages
 * of a release for its owner are the exception: they show values of its columns where kn_spec.report asked for them.
 * Equal input gives equal bytes. docs/report.md explains each picture.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KANON_REPORT_H
#define KANON_REPORT_H

#include <kanon/anonymize.h>
#include <kanon/document.h>
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
 * each column before and after (kn_release_distribution_at), the lattice with the chosen node. It is for the owner, and only they can read the file (mode 0600): it holds
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

/* ---- Evidence for those who must decide (docs/compliance.md) ---- */

/* Whose questions the page is arranged by. */
typedef enum kn_compliance_kind {
    KN_COMPLIANCE_EU = 1,    /* the three criteria of WP29 Opinion 05/2014          */
    KN_COMPLIANCE_HIPAA = 2, /* expert determination, 45 CFR 164.514(b)(1)          */
    KN_COMPLIANCE_NIST = 4,  /* NIST SP 800-188                                     */
    KN_COMPLIANCE_ETHICS = 8 /* an ethics board                                     */
} kn_compliance_kind;

/* "eu", "hipaa", "nist", "ethics"; NULL: there is no such kind. Static. */
KN_API const char *kn_compliance_kind_name(kn_compliance_kind kind);

/* All pointers are borrowed for the duration of the call. */
typedef struct kn_compliance_input {
    size_t                    size;      /* sizeof(kn_compliance_input), set by the initializer                    */
    unsigned                  kinds;     /* of kn_compliance_kind, added; 0: all                                   */
    const kn_document *const *documents; /* kn_document_read: one certificate, and of the release that it belongs to at
                                            most one private file, verify, attack, and diagnose with risk           */
    const char *const        *names;     /* their files: for messages, and for the commands on the page             */
    int                       document_count;
    const char               *spec;      /* the release file, as commands name it; NULL: none                       */
    const char               *external;  /* the attacker's table, as commands name it; NULL: not known              */
    const char               *version;   /* of the program, for the last line; NULL: left out                       */
} kn_compliance_input;

#define KN_COMPLIANCE_INPUT_INIT {sizeof(kn_compliance_input), 0, NULL, NULL, 0, NULL, NULL, NULL}
KN_API void kn_compliance_input_init(kn_compliance_input *options, size_t size);

/* What is on the page. */
typedef struct kn_compliance_summary {
    bool    is_public; /* it holds what the certificate holds, and nothing else */
    int64_t figures;   /* each below its command                                */
    int64_t open;      /* questions that are left to a person                   */
} kn_compliance_summary;

/* Writes a page of evidence on a release: figures, each with the command that reproduces it, arranged by what a rule asks;
 * what a person must judge is an empty box. It never says that singling out or inference are excluded. From a certificate
 * alone the page may be published; with any other document it holds the owner's figures, says so at its top, and has mode
 * 0600. `out` may be NULL. KN_USAGE: there is no certificate, or two documents of a kind; KN_INPUT: a document belongs to
 * another release. */
KN_API KN_CHECK kn_status kn_compliance_write(kn_context *ctx, const char *path, const kn_compliance_input *input,
                                              kn_compliance_summary *out, kn_error *err);

#ifdef __cplusplus
}
#endif

#endif
