/* kn_release_report.h: a release rendered as one page of HTML (kn_release_report_write), in a buffer. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_RELEASE_REPORT_H
#define KN_RELEASE_REPORT_H

#include <kanon/report.h>

#include "kn_buffer.h"

/* Appends the page. KN_USAGE: something is NULL; KN_MEMORY. */
KN_CHECK kn_status kn_release_report_render(kn_buffer *to, const kn_spec *spec, const kn_release_result *result,
                                            const char *version, kn_error *err);

/* What the parts of the page share. */
typedef struct kn_release_page {
    const kn_spec           *spec;
    const kn_release_result *result;
    int64_t                  asked; /* the largest crowd asked for; below 2: none */
} kn_release_page;

/* "row" or "rows"; "person" or "persons" where an entity is given: what a class is counted in. */
const char *kn_release_unit(const kn_release_page *page, int64_t count);

/* A figure: whole numbers with separators, others with up to four digits behind the point, "none" for NaN. */
void kn_release_figure(kn_buffer *to, double value);
/* A threshold: as many digits as were asked for, up to six behind the point. */
void kn_release_asked(kn_buffer *to, double value);

/* ---- Small parts ---- */

/* A file without its folder, which the reader need not know. NULL for standard output. */
const char *kn_release_file_name(const char *path);

/* The largest crowd that is promised: k, or 1 divided by a highest risk; below 2: none. */
int64_t kn_release_crowd(const kn_spec *spec);

/* " · method NAME", and of method: auto among which. */
void kn_release_method(kn_buffer *to, kn_method method, const kn_advice *advice);
void kn_release_tile(kn_buffer *to, const char *name, double value);
void kn_release_word(kn_buffer *to, const char *name, const char *meaning);
/* `head`: of the owner's page; NULL: a page for everybody. */
void kn_release_footer(kn_buffer *to, const kn_release_head *head, const char *version);

/* What was not declared and so is not in the release, as a paragraph; nothing where there is none. */
void kn_release_dropped(kn_buffer *to, const kn_release_head *head, const char *title);

/* Begins the page's header: its title and the release's name (NULL: none). To be ended with "</p>\n</header>\n". */
void kn_release_heading(kn_buffer *to, const char *title, const char *name);

/* Begins the section on what may be published; to be ended. `name`: the release's; the texts say what a file holds. */
typedef struct kn_release_files {
    const char *name;
    const char *certificate; /* its name, where that is not the release's with an ending; NULL */
    const char *in_certificate, *in_private, *in_map;
} kn_release_files;
void kn_release_files_begin(kn_buffer *to, const kn_spec *spec, const kn_release_files *files);

/* ---- Sections ---- */

/* risk.c: risk and class sizes, before and after. */
void kn_release_risk(kn_buffer *to, const kn_release_page *page);
void kn_release_sizes(kn_buffer *to, const kn_release_page *page);

/* loss.c: the models asked for, what each column lost, the metrics, the counters. */
void kn_release_models(kn_buffer *to, const kn_release_page *page);
void kn_release_columns(kn_buffer *to, const kn_release_page *page);
void kn_release_metrics(kn_buffer *to, const kn_release_page *page);
void kn_release_counters(kn_buffer *to, const kn_release_page *page);

/* distributions.c: each column before and after; of records each class. The only part of the page that shows values. */
void kn_release_distribution_section(kn_buffer *to, const kn_release_head *head, bool records);

/* lattice.c: the lattice as a picture with the chosen node. */
void kn_release_lattice(kn_buffer *to, const kn_release_page *page);

#endif
