/* kn_targets.h: what a run writes must not be what it reads. */
#ifndef KN_TARGETS_H
#define KN_TARGETS_H

#include <kanon/spec.h>

/* base: the path of the release, with which the files beside it begin; NULL: it goes to a stream. KN_USAGE: it, one of
 * those files or the report would take the place of an input, a hierarchy, a key, the population, the queries or the
 * release file; or the report that of one of those. Paths are compared by the files that they lead to. */
KN_CHECK kn_status kn_targets_check(kn_context *ctx, const kn_spec *spec, const char *base, kn_error *err);

#endif
