/* fuzz_json.c: bytes → records of a JSON, JSON Lines or basket file → the same form and XML → the same records. The first
 * byte chooses the classes, the second the form.
 * SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "records_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_baskets(const uint8_t *data, size_t size)
{
    kn_records_options options = KN_RECORDS_OPTIONS_INIT;
    prepare();
    options.form = KN_RECORDS_BASKETS;
    options.classes = &fuzz.classes[3];
    options.class_count = 1;
    put_file(fuzz.file, data, size);
    kn_records *r = read_records(&options);
    if (r) read_again(r, options, r->layout);
    kn_records_free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > FUZZ_MAX_FILE) return 0;
    kn_records_form form = data[1] & 1 ? KN_RECORDS_JSON_LINES : KN_RECORDS_JSON;
    if (data[1] % 8 == 7)
        try_baskets(data + 2, size - 2);
    else
        try_records(form, data[0], data + 2, size - 2, data[0] & 64 ? "q/p" : NULL);
    return 0;
}
