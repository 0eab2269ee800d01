/* kn_clock.c: the monotonic clock and deadlines. Interface: kn_clock.h. */
#include "kn_clock.h"

#include <time.h>

uint64_t kn_clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

double kn_clock_seconds(void)
{
    return (double)kn_clock_ns() * 1e-9;
}

void kn_deadline_start(kn_deadline *deadline, double seconds)
{
    /* A hundred years and "never" are the same thing, and fit. */
    deadline->end_ns = seconds > 0 && seconds < 3e9 ? kn_clock_ns() + (uint64_t)(seconds * 1e9) : 0;
    atomic_init(&deadline->passed, false);
}

bool kn_deadline_passed(kn_deadline *deadline)
{
    if (!deadline || deadline->end_ns == 0) return false;
    if (atomic_load_explicit(&deadline->passed, memory_order_relaxed)) return true;
    if (kn_clock_ns() < deadline->end_ns) return false;
    atomic_store_explicit(&deadline->passed, true, memory_order_relaxed);
    return true;
}
