/* publish.c: kn_job_publish.h. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kn_job_publish.h"

#include "kn_public_report.h"

kn_status kn_job_certificate(kn_output *certificate, const kn_public *facts, const kn_public_seal *seal, kn_error *err)
{
    kn_buffer text;
    if (!certificate) return KN_OK;
    kn_buffer_init(&text, facts->ctx);
    kn_status st = kn_public_certificate(&text, facts, seal, err);
    if (st == KN_OK) kn_output_write(certificate, text.data, text.size);
    kn_buffer_free(&text);
    return st;
}

kn_status kn_job_public_page(const char *path, const kn_public *facts, const kn_public_seal *seal, kn_error *err)
{
    kn_buffer  page;
    kn_output *output = NULL;
    kn_buffer_init(&page, facts->ctx);
    kn_status st = kn_public_report_render(&page, facts, seal, err);
    if (st == KN_OK) st = kn_output_open(&output, facts->ctx, path, NULL, err);
    if (st == KN_OK) {
        kn_output_write(output, page.data, page.size);
        st = kn_output_commit(output, err);
    }
    kn_buffer_free(&page);
    return st;
}
