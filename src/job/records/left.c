/* records/left.c: is anything left of the values that may be known? Interface: kn_records_run.h.
 *
 * A node holds information if its value is below its class's top. A class that no record has is probably misspelt, or
 * below an element that is not declared; if no class holds information the release is refused unless it is forced.
 * Sensitive values, which stay unchanged, do not count.
 *
 * Cost: one pass over the nodes.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_error.h"
#include "kn_nearest.h"
#include "kn_records_run.h"

/* Nodes of a class that are at least this deep. */
static uint64_t count(const kn_records *records, int cls, int depth)
{
    const kn_vocabulary *v = records->vocabulary;
    uint64_t             found = 0;
    for (uint64_t i = 0; i < records->nodes; i++)
        found += v->cls[records->value[i]] == cls && v->depth[records->value[i]] >= depth;
    return found;
}

static kn_status note_absent(kn_records_run *run, const char *name, kn_error *err)
{
    kn_nearest near = {.text = name};
    for (int i = 0; i < run->result->head.dropped_count; i++) /* one of its own name is not at its path */
        if (strcmp(run->result->head.dropped[i], name) != 0) kn_nearest_try(&near, run->result->head.dropped[i]);
    return kn_release_note(&run->all, err, "class \"%s\" occurs in no record%s%s%s", name, KN_MEANT(near));
}

kn_status kn_records_run_left(kn_release_run *all, const char **nothing, const char **why, kn_error *err)
{
    const kn_records_run *run = kn_records_run_of(all);
    const kn_vocabulary  *v = run->records->vocabulary;
    uint64_t              left = 0;
    for (int c = 0; c < v->class_count; c++) {
        uint64_t shown = count(run->released, c, 2);
        if (!v->sensitive[c]) left += shown;
        if (count(run->records, c, 0) == 0)
            KN_TRY(note_absent(kn_records_run_of(all), v->class_names[c], err));
        else if (shown == 0)
            KN_TRY(kn_release_note(all, err, "nothing is left of class \"%s\"", v->class_names[c]));
    }
    if (left > 0) return KN_OK;
    *nothing = "no record shows a value that may be known";
    *why = "nothing would be left: no record would show a value that may be known; ask for less, give hierarchies with "
           "more levels or declare the classes that the records have; --force releases it as it is";
    return KN_OK;
}
