/* kn_studio_without.c: the studio of a build without libmicrohttpd: it says what is missing (kn_studio.h). */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "kn_studio.h"

kn_status kn_studio_start(kn_studio **out, const kn_studio_options *options, kn_error *err)
{
    (void)out;
    (void)options;
    err->status = KN_USAGE;
    snprintf(
        err->message, sizeof err->message,
        "kanon was built without libmicrohttpd, which the studio needs; install libmicrohttpd-dev and build it again");
    return KN_USAGE;
}

const char *kn_studio_address(const kn_studio *studio)
{
    (void)studio;
    return "";
}

bool kn_studio_open(kn_studio *studio)
{
    (void)studio;
    return false;
}

void kn_studio_stop(kn_studio *studio)
{
    (void)studio;
}
