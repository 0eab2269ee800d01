/* fuzz_json.c: bytes → records of a JSON, JSON Lines or basket file → the same form and XML → the same records;
 * and of resources that refer to each other → valid records. The first byte chooses the classes, the second the form.
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
    if (r && is_plain(r)) read_again(r, options, r->layout);
    kn_records_free(r);
}

/* Resources that refer to each other, as FHIR has them: bundles, and lines. Released they are written as they were, or not at all. */
static void try_resources(bool lines, bool released, const uint8_t *data, size_t size)
{
    static const char *const patient[] = {"subject", "patient"}, *const encounter[] = {"encounter", "subject"};
    static const int              to_patient[] = {0, 0}, to_either[] = {1, 0};
    static const kn_spec_resource resources[] = {
        {.name = "Patient"},
        {.name = "Encounter", .parent_count = 2, .parents = patient, .targets = to_patient},
        {.name = "Condition", .parent_count = 2, .parents = encounter, .targets = to_either}};
    kn_records_options options = KN_RECORDS_OPTIONS_INIT;
    prepare();
    kn_spec_class            classes[3];
    static const char *const paths[] = {"Patient/gender", "Encounter/type", "Condition/code/coding[system=s]/code"};
    for (int i = 0; i < 3; i++) {
        classes[i] = fuzz.classes[i];
        classes[i].path = paths[i];
        classes[i].value = NULL;
    }
    if (released) classes[2].broader = "Condition/code/text";
    options.form = lines ? KN_RECORDS_JSON_LINES : KN_RECORDS_JSON;
    options.classes = classes;
    options.class_count = 3;
    options.resources = resources;
    options.resource_count = 3;
    options.released = released;
    put_file(fuzz.file, data, size);
    uint64_t    before = kn_context_memory_used(fuzz.ctx);
    kn_records *r = read_records(&options);
    kn_records_free(r);
    demand(kn_context_memory_used(fuzz.ctx) == before, "memory was left");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > FUZZ_MAX_FILE) return 0;
    kn_records_form form = data[1] & 1 ? KN_RECORDS_JSON_LINES : KN_RECORDS_JSON;
    if (data[1] % 8 == 7)
        try_baskets(data + 2, size - 2);
    else if (data[1] % 8 == 6 || data[1] % 8 == 5)
        try_resources(data[1] & 1, data[0] & 1, data + 2, size - 2);
    else
        try_records(form, data[0], data + 2, size - 2, data[0] & 64 ? "q/p" : NULL);
    return 0;
}
