/* kn_shape.h: a release of a table, a database or records in progress, and the functions of a shape that the driver
 * (release.c) calls.
 *
 * The driver knows the stages and their order; a shape implements each of them separately:
 *
 *     check     does the spec fit? Before anything is read
 *     open      the output, under a temporary name: one that cannot be written costs no search
 *     read      inputs → data; notes on them
 *     (choose)  method: auto: each candidate as far as judge; one is chosen
 *     search    data → plan, or why there is none
 *     measure   plan → claims
 *     left      is anything left of what others may know? If not, there is a release only by force
 *     warn      what the owner should know of the plan
 *     (spread)  for the owner's page: how the values of each column are spread, before and after
 *     write     plan + data → bytes under the temporary name
 *     verify    these bytes, read back, against the original; every claim against every finding
 *     publish   what the release shows by itself
 *     (commit)  certificate, private file, row map and reports; all get their names as one set (kn_set.h)
 *
 * A shape's run begins with a kn_release_run, its result with a kn_release_head: pointers to either may be cast.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_SHAPE_H
#define KN_SHAPE_H

#include <kanon/anonymize.h>
#include <kanon/verify.h>

#include "kn_arena.h"
#include "kn_digest.h"
#include "kn_input_mark.h"
#include "kn_job_advise.h"
#include "kn_output.h"
#include "kn_private.h"
#include "kn_public.h"
#include "kn_set.h"
#include "kn_sha256.h"

struct kn_release_shape;
struct kn_recipe;

/* What was read: files, or a database. */
typedef struct kn_originals {
    int                count;
    const char *const *names;  /* their names for the user                             */
    const char *const *paths;  /* where they are read: a stream's copy                 */
    kn_input_mark    **marks;  /* their state before they were read; in scratch        */
    bool               digested; /* the private file holds their SHA-256               */
    char (*sums)[KN_SHA256_TEXT]; /* room for it, in scratch; NULL: it is not taken as they are read */
    const char       **texts;     /* it, if it was; in scratch                                       */
    kn_digest_job     *digests;   /* by a thread beside what follows; NULL: it is not                */
} kn_originals;

/* What every release has. All fields belong to the run, except those marked as borrowed. */
typedef struct kn_release_run {
    kn_context                    *ctx;
    const struct kn_release_shape *shape;
    const kn_spec                 *asked;   /* borrowed: the user's                               */
    const kn_spec                 *spec;    /* the user's; with method: auto, once one was chosen, `chosen` */
    kn_spec                        chosen;
    const kn_anonymize_options    *options; /* borrowed                                           */
    struct kn_recipe              *recipe;  /* borrowed: what is done instead of a search; NULL: none */
    kn_release_head               *head;    /* of the shape's result                              */
    kn_arena                      *arena;   /* of the result                                      */
    kn_arena                       scratch;
    kn_originals                   originals;
    uint64_t                       seed;    /* that was used                                      */
    const char *base;   /* the release's path, the prefix of the files beside it; NULL: a stream. In the spec or result    */
    kn_set     *set;     /* the release and the files beside it; NULL: nothing is written         */
    kn_output  *output;  /* the release: the set's, of a stream the run's own; NULL: a database   */
    kn_output  *summary; /* the set's: a file of statistics; NULL: none                           */
    int                file_count; /* of the release, to be digested: 0: verify reports the digest, or a server has it */
    const char       **files;      /* their temporary paths; in scratch                           */
    const char       **file_names; /* without a folder; in scratch                                */
    kn_digest_job     *digests;
    kn_public         *facts; /* what the release shows by itself                                 */
    kn_public_seal     seal;
    const char        *sha256; /* for the seal of one file                                        */
} kn_release_run;

typedef struct kn_release_shape {
    size_t run_size, result_size;
    kn_status (*check)(const kn_spec *spec, kn_error *err);
    /* Fills in the empty result; for a trial also what `read` wrote into the parent run's result. */
    kn_status (*begin)(kn_release_run *run, const kn_release_head *of, kn_error *err);
    kn_status (*open)(kn_release_run *run, kn_error *err);
    kn_status (*read)(kn_release_run *run, kn_error *err);
    kn_status (*count)(kn_release_run *run, kn_advisor *out, kn_error *err); /* how much was read, for the choice */
    kn_status (*search)(kn_release_run *run, kn_error *err);  /* head: found, complete, reason, counters  */
    kn_status (*measure)(kn_release_run *run, kn_error *err); /* with or without a plan                   */
    kn_status (*judge)(kn_release_run *run, kn_advice_candidate *out, kn_error *err); /* of a plan: loss, own figures */
    /* Adds notes on what is lost altogether. If nothing of use is left: `nothing` says so, `why` is the reason for no
     * release. */
    kn_status (*left)(kn_release_run *run, const char **nothing, const char **why, kn_error *err);
    kn_status (*warn)(kn_release_run *run, kn_error *err); /* may be NULL */
    kn_status (*spread)(kn_release_run *run, kn_error *err); /* fills in the head's distributions */
    kn_status (*write)(kn_release_run *run, kn_error *err);
    kn_status (*verify)(kn_release_run *run, kn_error *err);
    kn_status (*publish)(kn_release_run *run, kn_error *err); /* NULL: `write` did it, while what was read back was at hand */
    void (*describe)(kn_release_run *run, kn_private_input *out); /* what the private file has of this shape; NULL: nothing */
    kn_status (*map)(kn_release_run *run, kn_output *to, kn_error *err);
    kn_status (*report)(kn_buffer *to, kn_release_run *run, kn_error *err); /* the owner's; also without a release */
    void (*end_search)(kn_release_run *run); /* frees what search and measure made    */
    void (*end)(kn_release_run *run);        /* and all else                          */
} kn_release_shape;

extern const kn_release_shape kn_table_shape, kn_database_shape, kn_records_shape;

/* ---- The driver ---- */

/* A release by a recipe, whose spec it is: *out is the head of the shape's result, to be freed as that. */
KN_CHECK kn_status kn_release_apply(kn_release_head **out, const kn_release_shape *shape, kn_context *ctx,
                                    struct kn_recipe *recipe, const kn_anonymize_options *options, kn_error *err);

/* Reads as a release would, and tries the methods (kn_advise). */
KN_CHECK kn_status kn_release_advise(kn_advice *out, kn_arena *arena, const kn_release_shape *shape, kn_context *ctx,
                                     const kn_spec *spec, kn_error *err);

/* Reads as a release would, looks at what was read, and ends. What is noted and dropped goes to the arena. */
typedef kn_status (*kn_look_fn)(kn_release_run *run, void *user, kn_error *err);
KN_CHECK kn_status kn_release_look(kn_look_fn look, void *user, kn_arena *arena, const kn_release_shape *shape,
                                   kn_context *ctx, const kn_spec *spec, kn_error *err);

/* KN_INPUT: an original has changed since it was read, and which. */
KN_CHECK kn_status kn_release_unchanged(const kn_release_run *run, kn_error *err);

/* The last stages (commit.c): the files beside the release are written, and all files get their names. */
KN_CHECK kn_status kn_release_commit(kn_release_run *run, kn_error *err);
KN_CHECK kn_status kn_release_report(kn_release_run *run, kn_error *err); /* there is no release: the page says why */

/* ---- What shapes use ---- */

/* Declares what will be read, before it is; the lists are borrowed. */
KN_CHECK kn_status kn_release_originals(kn_release_run *run, const char *const *names, const char *const *paths, int count,
                                        bool digested, kn_error *err);

/* Sets the result to "no release", and why. */
KN_CHECK kn_status kn_release_none(kn_release_run *run, const char *why, kn_error *err);

/* Adds a sentence for the user, or the name of something that was dropped, to the result. */
KN_CHECK kn_status kn_release_note(kn_release_run *run, kn_error *err, const char *format, ...) KN_PRINTF(3, 4);
KN_CHECK kn_status kn_release_drop(kn_release_run *run, const char *name, kn_error *err);

/* Notes that a column got a hierarchy because of its type. */
KN_CHECK kn_status kn_release_say_by_type(kn_release_run *run, const char *column, const kn_hierarchy_spec *rule,
                                          kn_type type, kn_error *err);

/* The notes from that one on become the first. */
KN_CHECK kn_status kn_release_move_notes(kn_release_run *run, int from, kn_error *err);

/* Copies to the result: counters; the promises, with what the original and the release reach (NULL: NAN). */
KN_CHECK kn_status kn_release_set_counters(kn_release_run *run, const kn_release_counter *counters, size_t count,
                                       kn_error *err);
KN_CHECK kn_status kn_release_set_models(kn_release_run *run, const double *original, const double *reached, kn_error *err);

/* How many classes have each size, in the result; `rows` per class: the same array where a class's size is its rows. */
KN_CHECK kn_status kn_release_sizes_of(kn_release_run *run, const int64_t *sizes, const int64_t *rows, int64_t count,
                                       const kn_size_count **out, int *out_count, kn_error *err);

/* Zeroed memory of the run or the result; NULL after KN_MEMORY was reported. A copy of a text in the result. */
void *kn_release_alloc(kn_release_run *run, kn_arena *arena, size_t count, size_t size, kn_error *err);
char *kn_release_text(kn_release_run *run, const char *text, kn_error *err);

/* Reads the hierarchy file of a column again, for the public facts (kn_public_reader). `run`: a kn_release_run. */
KN_CHECK kn_status kn_release_read_hierarchy(kn_hierarchy **out, void *run, const kn_attribute *attribute, kn_error *err);

/* The verifier's outcome as a status: KN_OK if all holds, KN_UNDECIDED with what is open, or KN_INTERNAL with the
 * first problem. If it cannot read what was just written or already read, that is a mistake, too. */
KN_CHECK kn_status kn_release_verdict(kn_outcome outcome, const char *const *problems, int count, const char *open,
                                      kn_error *err);
KN_CHECK kn_status kn_release_unread(kn_status status, kn_error *err);

/* A figure by the plan and by the verifier; `found` NAN: the release does not determine it. */
typedef struct kn_claim {
    const char *what;
    double      claimed, found;
} kn_claim;

/* KN_INTERNAL if a claim differs from what was found. */
KN_CHECK kn_status kn_release_compare(const kn_claim *claims, int count, kn_error *err);

/* The same for what promises reach. `derived`: figures that only the verifier derives (NAN so far) are taken over. */
KN_CHECK kn_status kn_release_compare_models(kn_release_run *run, const kn_verified_model *found, int count, bool derived,
                                             kn_error *err);

#endif
