/* kn_clock.h: the monotonic clock: for durations and deadlines, never for the content of a release. Any thread may
 * call these. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_CLOCK_H
#define KN_CLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

uint64_t kn_clock_ns(void);
double   kn_clock_seconds(void);

/* A deadline, shared by all workers. */
typedef struct kn_deadline {
    uint64_t    end_ns; /* of the monotonic clock; 0: never */
    atomic_bool passed;
} kn_deadline;

void kn_deadline_start(kn_deadline *deadline, double seconds); /* 0: never */
bool kn_deadline_passed(kn_deadline *deadline);                /* has it passed? NULL: no  */

#endif
