/* publish.c: kn_job_publish.h. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kn_job_publish.h"

#include "kn_public_report.h"

kn_status kn_job_put(kn_set *set, kn_set_role role, const char *path, kn_buffer *text, kn_status made, kn_error *err)
{
    kn_output *output = NULL;
    kn_status  st = made == KN_OK ? kn_set_create(set, &output, role, path, err) : made;
    if (st == KN_OK) kn_output_write(output, text->data, text->size);
    kn_buffer_free(text);
    return st;
}

kn_status kn_job_write_file(kn_context *ctx, const char *path, unsigned mode, kn_buffer *text, kn_status made,
                            kn_error *err)
{
    kn_output *output = NULL;
    kn_status  st = made == KN_OK ? kn_output_open(&output, ctx, path, &(kn_output_options){.mode = mode}, err) : made;
    if (st == KN_OK) {
        kn_output_write(output, text->data, text->size);
        st = kn_output_commit(output, err);
    }
    kn_buffer_free(text);
    return st;
}

kn_status kn_job_put_certificate(kn_set *set, const kn_public *facts, const kn_public_seal *seal, kn_error *err)
{
    kn_buffer text;
    kn_buffer_init(&text, facts->ctx);
    kn_status st = kn_public_certificate(&text, facts, seal, err);
    return kn_job_put(set, KN_SET_CERTIFICATE, NULL, &text, st, err);
}

kn_status kn_job_put_page(kn_set *set, const char *path, const kn_public *facts, const kn_public_seal *seal,
                          kn_error *err)
{
    kn_buffer page;
    if (!path) return KN_OK;
    kn_buffer_init(&page, facts->ctx);
    kn_status st = kn_public_report_render(&page, facts, seal, err);
    return kn_job_put(set, KN_SET_PAGE, path, &page, st, err);
}
