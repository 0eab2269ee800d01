/* fuzz_xml.c: bytes → records of an XML file → XML and JSON Lines → the same records. The first byte chooses the classes. And
 * bytes → the names that they have. */
/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "kn_outline.h"
#include "records_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Parents come before their children, and nothing has more values than there are of it. */
static void try_outline(const uint8_t *data, size_t size)
{
    prepare();
    put_file(fuzz.file, data, size);
    kn_source *source = NULL;
    kn_error   err = KN_ERROR_INIT;
    kn_outline o = {.ctx = fuzz.ctx, .file = "fuzz", .form = KN_RECORDS_XML};
    kn_arena_init(&o.arena, fuzz.ctx);
    demand(kn_source_open(&source, fuzz.ctx, fuzz.path, &err) == KN_OK, "the file is not opened");
    kn_status st = kn_outline_xml(&o, source, &err);
    demand(st == KN_OK || (st == KN_INPUT && err.message[0] != '\0'), "an unexpected status");
    for (int i = 0; i < o.count; i++)
        demand(o.nodes[i].parent < i && o.nodes[i].valued <= o.nodes[i].count, "an outline that is none");
    kn_source_free(source);
    kn_outline_free(&o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > FUZZ_MAX_FILE) return 0;
    try_outline(data + 1, size - 1);
    try_records(KN_RECORDS_XML, data[0], data + 1, size - 1, data[0] & 64 ? "q/p" : NULL);
    return 0;
}
