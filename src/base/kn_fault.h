/* kn_fault.h: deliberate mistakes, to show that the verifier catches them. Only in builds with -Dfaults=true, for
 * tests; otherwise kn_fault is the constant false and the mistake is not compiled in.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_FAULT_H
#define KN_FAULT_H

#include <stdbool.h>

#ifdef KN_FAULTS
#include <stdlib.h>
#include <string.h>

/* Is this the fault that the environment variable KANON_FAULT asks for? */
static inline bool kn_fault(const char *name)
{
    const char *asked = getenv("KANON_FAULT");
    return asked && strcmp(asked, name) == 0;
}
#else
#define kn_fault(name) false
#endif

#endif
