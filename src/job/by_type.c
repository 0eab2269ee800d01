/* by_type.c: what is said of a hierarchy that nobody gave but that a column's type suggests (kn_shape.h). */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kn_buffer.h"
#include "kn_error.h"
#include "kn_shape.h"

/* What a rule does, in words. */
static void add_rule(kn_buffer *to, const kn_hierarchy_spec *rule, kn_type type)
{
    switch (rule->kind) {
    case KN_HIERARCHY_RANGES:
        kn_buffer_add(to, "ranges of ");
        for (int i = 0; i < rule->width_count; i++)
            kn_buffer_format(to, "%s%s", i == 0 ? "" : i + 1 < rule->width_count ? ", " : " and ", rule->widths[i]);
        break;
    case KN_HIERARCHY_CALENDAR:
        kn_buffer_format(to, "%smonths, quarters, years and decades", type == KN_TYPE_DATETIME ? "days, " : "");
        break;
    case KN_HIERARCHY_MASK:
        kn_buffer_format(to, "masks that hide %s from the right",
                         rule->mask_step > 1 ? "some characters" : "characters");
        break;
    default: break;
    }
}

kn_status kn_release_say_by_type(kn_release_run *run, const char *column, const kn_hierarchy_spec *rule, kn_type type,
                                 kn_error *err)
{
    kn_buffer text;
    kn_buffer_init(&text, run->ctx);
    add_rule(&text, rule, type);
    const char *taken = kn_buffer_text(&text);
    kn_status   st = taken ? kn_release_note(run, err,
                                             "column \"%s\": no hierarchy was given; %s were taken "
                                               "(hierarchy: suppress keeps it to a value or *)",
                                             column, taken)
                           : kn_fail_memory(err, run->ctx, "choosing a hierarchy");
    kn_buffer_free(&text);
    return st;
}
