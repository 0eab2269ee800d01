/* kn_version.c: the version that was compiled in. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <kanon/version.h>

const char *kn_version(void)
{
    return KN_VERSION;
}

int kn_version_number(void)
{
    return KN_VERSION_NUMBER;
}
