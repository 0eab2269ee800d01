/* looking_testing.h: for tests of functions that look at data and at a release (diagnose, measure, attack): each request for memory is
 * refused once. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LOOKING_TESTING_H
#define LOOKING_TESTING_H

#include <kanon/spec.h>

#include "testing.h"

/* Looks at what the release file describes, and judges the answer. */
typedef kn_status look(kn_context *ctx, const kn_spec *spec, const char *path, kn_error *err);

static inline void looking_refused(const char *path, look *function)
{
    kn_status st = KN_MEMORY;
    int64_t   refused = 0;
    for (; st != KN_OK; refused += testing_step()) {
        assert_true(refused < 20000);
        testing_allocator counts = {.refuse_at = refused};
        kn_context       *ctx = NULL;
        kn_spec          *spec = NULL;
        kn_error          err = KN_ERROR_INIT;
        st = testing_refusing_context(&ctx, &counts, 1, &err);
        if (st == KN_OK) st = kn_spec_read(&spec, ctx, path, &err);
        if (st == KN_OK) st = function(ctx, spec, path, &err);
        if (st != KN_OK && st != KN_MEMORY) fail_msg("refused %d: %s", (int)refused, err.message);
        kn_spec_free(spec);
        kn_context_free(ctx);
        assert_int_equal(counts.live, 0);
    }
    assert_true(refused > 100);
}

#endif
