/* kn_studio_http.c: loading libmicrohttpd and finding its functions (kn_studio_http.h). Cost: some milliseconds, once.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_studio_http.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "kn_studio_session.h"

/* The name of the interface that the header describes. */
static const char soname[] = "libmicrohttpd.so.12";

static const struct {
    const char *name;
    size_t      offset; /* of its member */
} functions[] = {
#define ENTRY(function) {"MHD_" #function, offsetof(kn_studio_http, function)},
    KN_STUDIO_HTTP_FUNCTIONS(ENTRY)
#undef ENTRY
};

kn_status kn_studio_http_open(kn_studio_http *out, kn_error *err)
{
    /* It stays loaded: GnuTLS leaves handlers behind. */
    *out = (kn_studio_http){.handle = dlopen(soname, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)};
    if (!out->handle)
        return kn_studio_error(err, KN_USAGE, "the studio needs %s; install libmicrohttpd (Debian: libmicrohttpd12)",
                               soname);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *found = dlsym(out->handle, functions[i].name);
        if (!found) {
            kn_studio_http_close(out);
            return kn_studio_error(err, KN_USAGE, "%s has no function %s; install a newer libmicrohttpd", soname,
                                   functions[i].name);
        }
        memcpy((char *)out + functions[i].offset, &found, sizeof found); /* ISO C has no cast from one to the other */
    }
    return KN_OK;
}

void kn_studio_http_close(kn_studio_http *http)
{
    if (http->handle) (void)dlclose(http->handle);
    *http = (kn_studio_http){0};
}
