/* kanon/attack.h: the linking attack: how many people of somebody else's table are found in a release? */
#ifndef KANON_ATTACK_H
#define KANON_ATTACK_H

#include <kanon/spec.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How many people of the external table match so many released rows. */
typedef struct kn_match_count {
    int64_t matches;
    int64_t people;
} kn_match_count;

typedef struct kn_attack_table {
    int64_t               rows;   /* of the table attacked                                         */
    int64_t               none;   /* people who match no row                                       */
    int64_t               unique; /* exactly one                                                   */
    int64_t               below;  /* at least one, fewer than k                                    */
    int64_t               least;  /* the fewest rows that anybody who matches matches; 0: nobody   */
    int                   count;  /* 1, 2, ... ascending                                           */
    const kn_match_count *counts;
    int                   sensitive_count; /* per sensitive column: people whose value is certain: all their matches agree */
    const int64_t        *certain;
} kn_attack_table;

typedef struct kn_attack_report {
    int64_t            people; /* rows of the external table                      */
    int64_t            k;
    int                link_count; /* columns both tables have, quasi-identifiers  */
    const char *const *links;
    int                sensitive_count;
    const char *const *sensitive;
    kn_attack_table    after;  /* the release                                      */
    bool               has_before;
    kn_attack_table    before; /* the original, where it was given                 */
} kn_attack_report;

typedef struct kn_attack_options {
    size_t      size;     /* sizeof(kn_attack_options), set by the initializer                     */
    const char *release;  /* file                                                                  */
    const char *external; /* file                                                                  */
    const char *original; /* file; NULL: the spec's inputs if there are any, else no "before"      */
    bool        no_original; /* no "before", whatever the spec says                                */
    int64_t     k;        /* 0: the spec's, and 2 where it has none                                */
    const kn_csv_options *csv; /* how the external table is written; NULL: found out. Its types and columns are not
                                  looked at: types are the spec's                                  */
} kn_attack_options;

#define KN_ATTACK_OPTIONS_INIT {sizeof(kn_attack_options), NULL, NULL, NULL, false, 0, NULL}

/* Links the external table with the release over the quasi-identifiers of the spec that both have (at least one). A
 * released cell matches a value that it covers: the value itself, an ancestor in the hierarchy, an interval, a set or
 * "*". Suppressed rows ("*" in every column) match nobody: they tell nothing. A missing cell matches a missing one, and with
 * the spec's `missing: wildcard` anything. Only the spec's columns, hierarchies, models and reading options are looked at:
 * it need not pass kn_spec_check. KN_INPUT: a file cannot be read as a table, or has not the columns. */
KN_API KN_CHECK kn_status kn_attack(kn_attack_report **out, kn_context *ctx, const kn_spec *spec,
                                    const kn_attack_options *options, kn_error *err);
KN_API void               kn_attack_report_free(kn_attack_report *report);

#ifdef __cplusplus
}
#endif

#endif
