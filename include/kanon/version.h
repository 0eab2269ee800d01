/* kanon/version.h: which kanon a program was compiled for, and which one it runs with. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KANON_VERSION_H
#define KANON_VERSION_H

#include <kanon/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of these headers. */
#define KN_VERSION_MAJOR 0
#define KN_VERSION_MINOR 9
#define KN_VERSION_PATCH 1
#define KN_VERSION "0.9.1"
#define KN_VERSION_NUMBER (KN_VERSION_MAJOR * 10000 + KN_VERSION_MINOR * 100 + KN_VERSION_PATCH)

/* Of the library: its KN_VERSION and KN_VERSION_NUMBER. Static. */
KN_API const char *kn_version(void);
KN_API int         kn_version_number(void);

#ifdef __cplusplus
}
#endif

#endif
