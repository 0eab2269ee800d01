/* kn_xml_without.c: in the place of kn_xml_read.c and kn_outline_xml.c where kanon is built without expat. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kn_error.h"
#include "kn_outline.h"
#include "kn_records_collect.h"

kn_status kn_xml_read(kn_collector *c, kn_error *err)
{
    return kn_fail(err, KN_INPUT, "%s: kanon was built without expat, and cannot read XML", c->file);
}

kn_status kn_outline_xml(kn_outline *o, kn_source *source, kn_error *err)
{
    (void)source;
    return kn_fail(err, KN_INPUT, "%s: kanon was built without expat, and cannot read XML", o->file);
}
