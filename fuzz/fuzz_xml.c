/* fuzz_xml.c: bytes → records of an XML file → XML and JSON Lines → the same records. The first byte chooses the classes. */
/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "records_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > FUZZ_MAX_FILE) return 0;
    try_records(KN_RECORDS_XML, data[0], data + 1, size - 1, data[0] & 64 ? "q/p" : NULL);
    return 0;
}
