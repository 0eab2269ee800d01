/* kn_libpq.c: loading libpq and finding its functions. Interface: kn_libpq.h. Cost: some 30 ms the first time, for what libpq
 * itself is linked with; then microseconds.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kn_libpq.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "kn_error.h"

/* The name of the interface, not of a release: it has been this since PostgreSQL 8. */
static const char soname[] = "libpq.so.5";

static const struct {
    const char *name;
    size_t      offset; /* of its member */
} functions[] = {
#define ENTRY(function) {"PQ" #function, offsetof(kn_libpq, function)},
    KN_LIBPQ_FUNCTIONS(ENTRY)
#undef ENTRY
};

kn_status kn_libpq_open(kn_libpq *out, kn_error *err)
{
    /* It stays loaded: what it is linked with (OpenSSL, Kerberos) leaves threads and handlers behind. */
    *out = (kn_libpq){.handle = dlopen(soname, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)};
    if (!out->handle) {
        const char *why = dlerror();
        return kn_fail(err, KN_IO,
                       "postgresql: %s cannot be loaded (%s); install PostgreSQL's client library (Debian: libpq5)",
                       soname, why ? why : "no reason given");
    }
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *found = dlsym(out->handle, functions[i].name);
        if (!found) {
            kn_libpq_close(out);
            return kn_fail(err, KN_IO, "postgresql: %s has no function %s; install a newer one (Debian: libpq5)",
                           soname, functions[i].name);
        }
        memcpy((char *)out + functions[i].offset, &found, sizeof found); /* ISO C has no cast from one to the other   */
    }
    return KN_OK;
}

void kn_libpq_close(kn_libpq *pq)
{
    if (pq->handle) (void)dlclose(pq->handle);
    *pq = (kn_libpq){0};
}
