/* kn_studio_question.h: a question while it is answered: what the files that answer the kinds of questions share.
 *
 * A question has a spec, read from the session's release file as it was when it was asked; the table is borrowed from the
 * session. The answer is one of the library's documents, or JSON of the studio's own (studio/protocol.json).
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_STUDIO_QUESTION_H
#define KN_STUDIO_QUESTION_H

#include <kanon/answers.h>

#include "kn_studio_jobs.h"

typedef struct kn_studio_question {
    kn_studio_job   *job;
    kn_context      *ctx;
    kn_spec         *spec;
    kn_studio_table *table; /* NULL: not needed so far */
    const char     **names; /* of columns              */
    int              name_count;
    kn_document     *doc; /* one of these */
    json_t          *own;
} kn_studio_question;

/* The table, read if need be. KN_USAGE: the data are of another shape. */
KN_CHECK kn_status kn_studio_need_table(kn_studio_question *q, kn_error *err);

/* The columns of the parameter "columns", or else the quasi-identifiers. KN_USAGE: none. */
KN_CHECK kn_status kn_studio_need_names(kn_studio_question *q, kn_error *err);

/* Parameters; a text may be NULL. */
int64_t     kn_studio_number(const kn_studio_question *q, const char *name, int64_t otherwise);
bool        kn_studio_flag(const kn_studio_question *q, const char *name);
const char *kn_studio_text(const kn_studio_question *q, const char *name);

/* What is promised of k; 0: nothing. */
int64_t kn_studio_promised_k(const kn_spec *spec);

/* For questions that write nothing: checks the spec, to which an output need not be given. */
KN_CHECK kn_status kn_studio_check_unwritten(kn_studio_question *q, kn_error *err);

/* The release file as it is on disk: what a later run by the program reads. */
KN_CHECK kn_status kn_studio_read_saved(kn_studio_question *q, kn_error *err);

/* Is there a release under the output's name? A server's is taken to be there: only asking it tells. */
bool kn_studio_is_released(const kn_spec *spec);

/* Takes the file of the parameter "path" for a session that was started without one. */
KN_CHECK kn_status kn_studio_choose(kn_studio_question *q, kn_error *err);

/* ---- The kinds of questions ---- */

kn_status kn_studio_answer_folder(kn_studio_question *q, kn_error *err);
kn_status kn_studio_answer_profile(kn_studio_question *q, kn_error *err);
kn_status kn_studio_answer_distributions(kn_studio_question *q, kn_error *err);
kn_status kn_studio_answer_diagnose(kn_studio_question *q, kn_error *err);
kn_status kn_studio_answer_released(kn_studio_question *q, kn_error *err);
kn_status kn_studio_answer_sets(kn_studio_question *q, kn_error *err);
kn_status kn_studio_answer_standing(kn_studio_question *q, kn_error *err);
kn_status kn_studio_answer_telling(kn_studio_question *q, kn_error *err);
kn_status kn_studio_answer_hierarchy(kn_studio_question *q, kn_error *err);
kn_status kn_studio_answer_suggest(kn_studio_question *q, kn_error *err);
kn_status kn_studio_answer_frontier(kn_studio_question *q, kn_error *err);
kn_status kn_studio_answer_explain(kn_studio_question *q, kn_error *err);
kn_status kn_studio_answer_lattice(kn_studio_question *q, kn_error *err);
kn_status kn_studio_answer_search(kn_studio_question *q, kn_error *err);
kn_status kn_studio_answer_preview(kn_studio_question *q, kn_error *err);
kn_status kn_studio_answer_queries(kn_studio_question *q, kn_error *err);
kn_status kn_studio_answer_trees(kn_studio_question *q, kn_error *err);
kn_status kn_studio_answer_publish(kn_studio_question *q, kn_error *err);
kn_status kn_studio_answer_verify(kn_studio_question *q, kn_error *err);
kn_status kn_studio_answer_attack(kn_studio_question *q, kn_error *err);
kn_status kn_studio_answer_catalogue(kn_studio_question *q, kn_error *err);

#endif
