/* records/left.c: is anything left of the values that may be known? Interface: kn_job_records.h.
 *
 * A node says something where its value lies below its class's top. A class that no record has is probably a name that is
 * spelled otherwise in the file, or stands below an element that is not declared; where no class says anything the release
 * is refused unless it is forced. Sensitive values, which stay as they are, are no answer to that.
 *
 * Cost: one pass over the nodes.
 */
#include <string.h>

#include "kn_error.h"
#include "kn_job_records.h"
#include "kn_nearest.h"

/* Nodes of a class that lie at least so deep. */
static uint64_t count(const kn_records *records, int cls, int depth)
{
    const kn_vocabulary *v = records->vocabulary;
    uint64_t             found = 0;
    for (uint64_t i = 0; i < records->nodes; i++)
        found += v->cls[records->value[i]] == cls && v->depth[records->value[i]] >= depth;
    return found;
}

static kn_status note_absent(kn_recrun *run, const char *name, kn_error *err)
{
    kn_nearest near = {.text = name};
    for (int i = 0; i < run->result->dropped_count; i++) kn_nearest_try(&near, run->result->dropped[i]);
    return kn_recrun_note(run, err, "class \"%s\" occurs in no record%s%s%s", name, KN_MEANT(near));
}

kn_status kn_recrun_check_left(kn_recrun *run, kn_error *err)
{
    static const char why[] =
        "nothing would be left: no record would show a value that may be known; ask for less, give "
        "hierarchies with more levels or declare the classes that the records have; --force "
        "releases it as it is";
    const kn_vocabulary *v = run->records->vocabulary;
    uint64_t             left = 0;
    for (int c = 0; c < v->class_count; c++) {
        uint64_t shown = count(run->released, c, 2);
        if (!v->sensitive[c]) left += shown;
        if (count(run->records, c, 0) == 0)
            KN_TRY(note_absent(run, v->class_names[c], err));
        else if (shown == 0)
            KN_TRY(kn_recrun_note(run, err, "nothing is left of class \"%s\"", v->class_names[c]));
    }
    if (left > 0) return KN_OK;
    run->result->nothing_left = "no record shows a value that may be known";
    if (run->spec->force) return kn_recrun_note(run, err, "nothing is left: %s", run->result->nothing_left);
    run->result->found = false;
    run->result->reason = kn_arena_strndup(run->arena, why, strlen(why));
    return run->result->reason ? KN_OK : kn_fail_memory(err, run->ctx, "making a release");
}
