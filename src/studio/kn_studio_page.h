/* kn_studio_page.h: the page as bytes, compressed by gzip: page.html, page.js and page.css, which studio/ builds. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_STUDIO_PAGE_H
#define KN_STUDIO_PAGE_H

#include <stddef.h>

typedef struct kn_studio_file {
    const char          *type; /* for Content-Type */
    const unsigned char *bytes;
    size_t               size;
} kn_studio_file;

/* In the order of the routes: page, script, style. */
extern const kn_studio_file kn_studio_files[3];

#endif
