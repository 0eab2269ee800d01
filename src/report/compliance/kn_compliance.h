/* kn_compliance.h: evidence on a release as one page of HTML (kn_compliance_write), in a buffer.
 *
 * The page is made from documents alone: the certificate, and what the owner adds. Every figure has a number (E1, E2, ...) and
 * stands below the command that reproduces it; the sections of a rule cite these numbers and leave open what is for a person to
 * judge.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_COMPLIANCE_H
#define KN_COMPLIANCE_H

#include <kanon/catalogue.h>
#include <kanon/report.h>

#include "kn_buffer.h"

/* Appends the page. KN_USAGE: there is no certificate; KN_INPUT: a document is about another release; KN_MEMORY. */
KN_CHECK kn_status kn_compliance_render(kn_buffer *to, const kn_compliance_input *input, kn_compliance_summary *out,
                                        kn_error *err);

/* Figures that sentences cite. */
typedef enum kn_evidence {
    KN_E_FILE,
    KN_E_UNITS,
    KN_E_SUPPRESSED,
    KN_E_SMALLEST,
    KN_E_CLASSES,
    KN_E_HIGHEST,
    KN_E_AVERAGE,
    KN_E_LOSS,
    KN_E_PROMISES, /* the first of them                     */
    KN_E_REACHED,  /* the first of what the verifier found  */
    KN_E_VERIFIED,
    KN_E_BEFORE,
    KN_E_LEFT_OUT,
    KN_E_FOUND,   /* people of the attack who match one row   */
    KN_E_BELOW,   /* ... fewer than k                         */
    KN_E_CERTAIN, /* ... whose sensitive value is certain     */
    KN_E_RISK,
    KN_EVIDENCES
} kn_evidence;

/* A release as its documents describe it. */
typedef struct kn_compliance {
    const kn_compliance_input *in;
    const kn_document         *certificate, *secret, *attack, *verify, *risk; /* all but the first may be NULL */
    const char                *certificate_name;
    kn_shape                   shape;
    bool                       owner;         /* it holds the owner's figures                                  */
    bool                       risk_original; /* the diagnosis is of the original                              */
    bool                       entity, anatomy, pseudonym;
    int64_t                    asked;   /* the largest k that was promised; 0: none                            */
    int64_t                    m, n;    /* of records                                                          */
    int64_t                    units;   /* rows, persons or records of the release                             */
    int64_t                    k, classes, suppressed; /* -1: the certificate does not say                     */
    kn_compliance_summary     *summary;
    int                        number[KN_EVIDENCES]; /* 0: there is no such figure                             */
} kn_compliance;

/* "row", "rows", "person", ... of what a class is counted in. */
const char *kn_compliance_unit(const kn_compliance *c, int64_t count);

/* The released columns, or classes of nodes, of a role ("keep"; "pseudonym" is that of a keyed code; "covered" and "uncovered"
 * are sensitive, with and without a promise that bears on them): how many there are; `to` (NULL: none) gets their names. */
int kn_compliance_columns(kn_buffer *to, const kn_compliance *c, const char *role);

/* Does a promise that says something of a sensitive column name this one? `table`: of a database; else NULL. */
bool kn_compliance_covered(const kn_compliance *c, const char *table, const char *name);

/* The tables of a database that are references, likewise. */
int kn_compliance_references(kn_buffer *to, const kn_compliance *c);

/* Of a promised model its thresholds; NULL: it was not promised. */
const kn_document_value *kn_compliance_promised(const kn_compliance *c, const char *model);

/* " (E4)", a link; nothing where there is no such figure. */
void kn_compliance_cite(kn_buffer *to, const kn_compliance *c, kn_evidence figure);

/* A question with an empty box: for a person to judge. */
void kn_compliance_open(kn_buffer *to, kn_compliance *c, const char *question);

/* commands.c: shell commands, escaped as HTML. */
typedef enum kn_command {
    KN_RUN_DIGEST,    /* of the released files                              */
    KN_RUN_CHECK,     /* the certificate of a table, without kanon          */
    KN_RUN_RISK,      /* risk in a released table                           */
    KN_RUN_VERIFY,
    KN_RUN_BEFORE,    /* the original                                       */
    KN_RUN_ATTACK,
    KN_RUN_GIVEN_RISK, /* the diagnosis that was given                      */
    KN_RUN_NOTHING     /* there is no command                               */
} kn_command;
/* Is the release a table of a SQLite file? By the name of its certificate. */
bool kn_compliance_in_sqlite(const kn_compliance *c);

/* How many inputs the private file names; commands name as many as this. */
enum { KN_INPUTS_NAMED = 8 };
int64_t kn_compliance_inputs(const kn_compliance *c);

KN_CHECK kn_status kn_compliance_command(kn_buffer *to, const kn_compliance *c, kn_command command, kn_error *err);

/* evidence.c: all figures, numbered. */
KN_CHECK kn_status kn_compliance_evidence(kn_buffer *to, kn_compliance *c, kn_error *err);

/* criteria.c: the three criteria of the EU's opinion. rules.c: the others. */
void kn_compliance_eu(kn_buffer *to, kn_compliance *c);
void kn_compliance_hipaa(kn_buffer *to, kn_compliance *c);
void kn_compliance_nist(kn_buffer *to, kn_compliance *c);
void kn_compliance_ethics(kn_buffer *to, kn_compliance *c);

#endif
