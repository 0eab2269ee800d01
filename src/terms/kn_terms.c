/* kn_terms.c: the names used in a request: types, roles, methods, metrics and the options of methods.
 *
 * Interface: the public headers. One list per enumeration, in its order. Cost: a look-up, or a walk through one list.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <kanon/advise.h>
#include <kanon/diagnose.h>
#include <kanon/table.h>
#include <kanon/workload.h>
#include <string.h>

#define COUNT(names) ((int)(sizeof(names) / sizeof *(names)))

static const char *const types[] = {"auto", "text", "integer", "decimal", "date", "datetime"};
static const char *const roles[] = {"quasi", "identifier", "sensitive", "weight", "keep", "count", "set"};
static const char *const missing_cells[] = {"value", "wildcard", "drop"};

static const char *const methods[KN_METHODS] = {
    [KN_METHOD_OPTIMAL] = "optimal",
    [KN_METHOD_SAMARATI] = "samarati",
    [KN_METHOD_BOTTOM_UP] = "bottom-up",
    [KN_METHOD_BOTTOM_UP_ROLLUP] = "bottom-up-rollup",
    [KN_METHOD_INCOGNITO] = "incognito",
    [KN_METHOD_INCOGNITO_SUPERROOTS] = "incognito-superroots",
    [KN_METHOD_INCOGNITO_CUBE] = "incognito-cube",
    [KN_METHOD_HEURISTIC] = "heuristic",
    [KN_METHOD_DATAFLY] = "datafly",
    [KN_METHOD_MONDRIAN] = "mondrian",
    [KN_METHOD_MONDRIAN_RELAXED] = "mondrian-relaxed",
    [KN_METHOD_MONDRIAN_1D] = "mondrian-1d",
    [KN_METHOD_MONDRIAN_BEST] = "mondrian-best",
    [KN_METHOD_MONDRIAN_WORKLOAD] = "mondrian-workload",
    [KN_METHOD_KMSD] = "kmsd",
    [KN_METHOD_KMSD_AG] = "kmsd-ag",
    [KN_METHOD_MIRACLE] = "miracle",
    [KN_METHOD_MIRACLE_X] = "miracle-x",
    [KN_METHOD_MIRACLE_X_LEVEL] = "miracle-x-level",
    [KN_METHOD_DMIRACLE] = "dmiracle",
    [KN_METHOD_BITMAP] = "bitmap",
    [KN_METHOD_ACS] = "acs",
    [KN_METHOD_GCS] = "gcs",
    [KN_METHOD_OCS] = "ocs",
};

static const char *const metrics[KN_METRICS] = {
    [KN_METRIC_LM] = "lm",           [KN_METRIC_NCP] = "ncp", [KN_METRIC_PREC] = "prec",
    [KN_METRIC_ENTROPY] = "entropy", [KN_METRIC_DM] = "dm",   [KN_METRIC_DM_STAR] = "dm_star",
    [KN_METRIC_C_AVG] = "c_avg",
};

/* The index of a name, or -1. */
static int find_name(const char *const *names, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0) return i;
    return -1;
}

/* ---- Columns ---- */

const char *kn_type_name(kn_type type)
{
    return (size_t)type < (size_t)COUNT(types) ? types[type] : "unknown";
}

bool kn_type_parse(const char *name, kn_type *out)
{
    int found = find_name(types, COUNT(types), name);
    if (found >= 0) *out = (kn_type)found;
    return found >= 0;
}

/* Letters of ASCII, whatever the locale. */
static bool same_letters(const char *a, const char *small)
{
    while (*a && (*a >= 'A' && *a <= 'Z' ? *a + ('a' - 'A') : *a) == *small) a++, small++;
    return !*a && !*small;
}

bool kn_encoding_parse(const char *name, kn_encoding *out)
{
    static const struct {
        const char *name;
        kn_encoding encoding;
    } known[] = {
        {"utf-8", KN_ENCODING_UTF8},
        {"utf8", KN_ENCODING_UTF8},
        {"windows-1252", KN_ENCODING_WINDOWS_1252},
        {"cp1252", KN_ENCODING_WINDOWS_1252},
        {"latin-1", KN_ENCODING_LATIN_1},
        {"latin1", KN_ENCODING_LATIN_1},
        {"iso-8859-1", KN_ENCODING_LATIN_1},
    };
    for (size_t i = 0; i < COUNT(known); i++) {
        if (!same_letters(name, known[i].name)) continue;
        *out = known[i].encoding;
        return true;
    }
    return false;
}

const char *kn_role_name(kn_role role)
{
    return roles[role];
}

const char *kn_missing_name(kn_missing missing)
{
    return missing_cells[missing];
}

bool kn_missing_parse(const char *name, kn_missing *out)
{
    int found = find_name(missing_cells, COUNT(missing_cells), name);
    if (found >= 0) *out = (kn_missing)found;
    return found >= 0;
}

/* ---- Methods and metrics ---- */

const char *kn_method_name(kn_method method)
{
    return methods[method];
}

bool kn_method_parse(const char *name, kn_method *out)
{
    int found = find_name(methods, KN_METHODS, name);
    if (found >= 0) *out = (kn_method)found;
    return found >= 0;
}

kn_family kn_method_family(kn_method method)
{
    if (method >= KN_METHOD_ACS) return KN_FAMILY_TREE;
    if (method >= KN_METHOD_MIRACLE) return KN_FAMILY_RELATIONAL;
    if (method >= KN_METHOD_KMSD) return KN_FAMILY_KMSD;
    return method >= KN_METHOD_MONDRIAN ? KN_FAMILY_PARTITION : KN_FAMILY_FULL_DOMAIN;
}

const char *kn_advice_state_name(kn_advice_state state)
{
    static const char *const names[KN_ADVICE_STATES] = {"kept", "stopped", "late", "none", "refused", "left-out"};
    return names[state];
}

const char *kn_metric_name(kn_metric metric)
{
    return metrics[metric];
}

bool kn_metric_parse(const char *name, kn_metric *out)
{
    int found = find_name(metrics, KN_METRICS, name);
    if (found >= 0) *out = (kn_metric)found;
    return found >= 0;
}

/* ---- Options of methods, and workloads ---- */

const char *kn_choose_name(kn_choose choose)
{
    static const char *const names[KN_CHOICES] = {"range", "entropy", "loss"};
    return names[choose];
}

const char *kn_group_by_name(kn_group_by group_by)
{
    static const char *const names[KN_GROUP_BYS] = {"order", "frequency", "prefix"};
    return names[group_by];
}

const char *kn_matching_name(kn_matching matching)
{
    static const char *const names[KN_MATCHINGS] = {"greedy", "exact"};
    return names[matching];
}

const char *kn_clustering_name(kn_clustering clustering)
{
    static const char *const names[KN_CLUSTERINGS] = {"cdgh", "k-member", "mdav", "r-gather", "top-down"};
    return names[clustering];
}

const char *kn_leftovers_name(kn_leftovers leftovers)
{
    static const char *const names[KN_LEFTOVER_CHOICES] = {"absorb", "drop"};
    return names[leftovers];
}

const char *kn_diversity_name(kn_diversity diversity)
{
    static const char *const names[KN_DIVERSITIES] = {"merge", "distance", "suppress"};
    return names[diversity];
}

const char *kn_semantics_name(kn_semantics semantics)
{
    static const char *const names[KN_SEMANTICS] = {"pairs", "paths"};
    return names[semantics];
}

const char *kn_disassociate_name(kn_disassociate how)
{
    static const char *const names[KN_DISASSOCIATES] = {"node", "subtree", "ancestor"};
    return names[how];
}

const char *kn_aggregate_name(kn_aggregate aggregate)
{
    static const char *const names[] = {"COUNT", "SUM", "AVG", "MIN", "MAX"};
    return (unsigned)aggregate < KN_AGGREGATES ? names[aggregate] : "?";
}

const char *kn_answer_source_name(kn_answer_source source)
{
    static const char *const names[] = {"counted", "exact", "published", "cells"};
    return (unsigned)source <= KN_ANSWER_CELLS ? names[source] : "?";
}
