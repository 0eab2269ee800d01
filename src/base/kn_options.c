/* kn_options.c: options of programs older or newer than the library, and the initializers of all structs of options.
 *
 * Interface: kn_options.h, and the functions kn_..._init of the public headers. An initializer gets the size of the
 * program's struct: members that this library does not know are set to zero, which always means "as before".
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_options.h"

#include <kanon/kanon.h>
#include <string.h>

/* No struct of options is larger: a larger size was never initialized. */
enum { LARGEST = 4096 };

static bool all_zero(const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (bytes[i] != 0) return false;
    return true;
}

kn_status kn_options_take(void *to, size_t known, const void *from, const char *what, kn_error *err)
{
    if (!from) return KN_OK;
    size_t size = 0;
    memcpy(&size, from, sizeof size);
    if (size < sizeof size || size > LARGEST || size % sizeof size != 0)
        return kn_fail(err, KN_USAGE, "%s: the size field is not set (use the initializer)", what);
    if (size > known && !all_zero((const unsigned char *)from + known, size - known))
        return kn_fail(
            err, KN_USAGE,
            "%s: the program was compiled for a newer kanon and sets an option that this library (" KN_VERSION
            ") does not know",
            what);
    memcpy(to, from, size < known ? size : known);
    memcpy(to, &known, sizeof known);
    return KN_OK;
}

static void initialize(void *options, size_t size, const void *initial, size_t known)
{
    if (size < sizeof size) return;
    memset(options, 0, size);
    memcpy(options, initial, size < known ? size : known);
    memcpy(options, &size, sizeof size);
}

#define INITIALIZER(type, init)                                                                                        \
    void type##_init(type *options, size_t size)                                                                       \
    {                                                                                                                  \
        static const type initial = init;                                                                              \
        initialize(options, size, &initial, sizeof initial);                                                           \
    }

INITIALIZER(kn_diagnose_answers, KN_DIAGNOSE_ANSWERS_INIT)
INITIALIZER(kn_sets_answers, KN_SETS_ANSWERS_INIT)
INITIALIZER(kn_dependency_answers, KN_DEPENDENCY_ANSWERS_INIT)
INITIALIZER(kn_anonymize_options, KN_ANONYMIZE_OPTIONS_INIT)
INITIALIZER(kn_arrow_options, KN_ARROW_OPTIONS_INIT)
INITIALIZER(kn_arrow_export_options, KN_ARROW_EXPORT_OPTIONS_INIT)
INITIALIZER(kn_attack_options, KN_ATTACK_OPTIONS_INIT)
INITIALIZER(kn_attack_demo_options, KN_ATTACK_DEMO_OPTIONS_INIT)
INITIALIZER(kn_connection, KN_CONNECTION_INIT)
INITIALIZER(kn_context_options, KN_CONTEXT_OPTIONS_INIT)
INITIALIZER(kn_database_options, KN_DATABASE_OPTIONS_INIT)
INITIALIZER(kn_database_diagnose_options, KN_DATABASE_DIAGNOSE_OPTIONS_INIT)
INITIALIZER(kn_discover_options, KN_DISCOVER_OPTIONS_INIT)
INITIALIZER(kn_diagnose_options, KN_DIAGNOSE_OPTIONS_INIT)
INITIALIZER(kn_generate_options, KN_GENERATE_OPTIONS_INIT)
INITIALIZER(kn_hierarchy_spec, KN_HIERARCHY_SPEC_INIT)
INITIALIZER(kn_init_options, KN_INIT_OPTIONS_INIT)
INITIALIZER(kn_measure_options, KN_MEASURE_OPTIONS_INIT)
INITIALIZER(kn_model_options, KN_MODEL_OPTIONS_INIT)
INITIALIZER(kn_sets_options, KN_SETS_OPTIONS_INIT)
INITIALIZER(kn_records_options, KN_RECORDS_OPTIONS_INIT)
INITIALIZER(kn_records_diagnose_options, KN_RECORDS_DIAGNOSE_OPTIONS_INIT)
INITIALIZER(kn_report_input, KN_REPORT_INPUT_INIT)
INITIALIZER(kn_compliance_input, KN_COMPLIANCE_INPUT_INIT)
INITIALIZER(kn_risk_options, KN_RISK_OPTIONS_INIT)
INITIALIZER(kn_suda_options, KN_SUDA_OPTIONS_INIT)
INITIALIZER(kn_csv_options, KN_CSV_OPTIONS_INIT)
INITIALIZER(kn_verify_options, KN_VERIFY_OPTIONS_INIT)
INITIALIZER(kn_database_verify_options, KN_DATABASE_VERIFY_OPTIONS_INIT)
INITIALIZER(kn_records_verify_options, KN_RECORDS_VERIFY_OPTIONS_INIT)
