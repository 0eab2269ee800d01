/* kn_records_picture.h: parts of the report of tree records: what the words mean, and how much is left, as a picture. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_RECORDS_PICTURE_H
#define KN_RECORDS_PICTURE_H

#include <kanon/report.h>

#include "kn_buffer.h"

/* The words of the page, as a section. */
void kn_records_words(kn_buffer *to, const kn_spec *spec, const kn_records_result *r);

/* Values, nodes and relations: how much of each is left, as bars. Nothing where there is no release. */
void kn_records_picture(kn_buffer *to, const kn_records_result *r);

/* A figure of the page that is a share. */
void kn_records_share_tile(kn_buffer *to, const char *name, double share);

#endif
