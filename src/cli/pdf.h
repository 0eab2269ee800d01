/* pdf.h: a page as PDF, by the Chromium that is installed. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_PDF_H
#define CLI_PDF_H

#include <kanon/status.h>
#include <stdbool.h>

/* Is there a browser that makes PDFs? Its path, to be freed; NULL: none, and `err` says what to do. */
char *cli_pdf_browser(kn_error *err);

/* Prints the page to `output`, which appears whole or not at all; `mine`: only its owner can read it (mode 0600). KN_IO: something
 * cannot be written, or the browser made no PDF. */
KN_CHECK kn_status cli_pdf_write(const char *browser, const char *page, const char *output, bool mine, kn_error *err);

#endif
