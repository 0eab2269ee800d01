/* kn_answer.c: the list of answers, their fields and their schemas. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kn_answer.h"

#include <string.h>

#include "kn_certificate_fields.h"
#include "kn_error.h"
#include "kn_private_fields.h"
#include "kn_recipe_fields.h"

static const kn_fields *const answers[] = {
    &kn_answer_init,
    &kn_answer_profile,
    &kn_answer_profile_database,
    &kn_answer_diagnose,
    &kn_answer_diagnose_over,
    &kn_answer_diagnose_database,
    &kn_answer_diagnose_records,
    &kn_answer_dependencies,
    &kn_answer_hierarchy_build,
    &kn_answer_hierarchy_suggest,
    &kn_answer_hierarchy_check,
    &kn_answer_hierarchy_show,
    &kn_answer_advise,
    &kn_answer_frontier,
    &kn_answer_explain,
    &kn_answer_anonymize,
    &kn_answer_anonymize_database,
    &kn_answer_anonymize_records,
    &kn_answer_verify,
    &kn_answer_verify_database,
    &kn_answer_verify_records,
    &kn_answer_measure,
    &kn_answer_measure_database,
    &kn_answer_measure_records,
    &kn_answer_attack,
    &kn_answer_attack_demo,
    &kn_answer_report,
    &kn_certificate_of_table,
    &kn_certificate_of_database,
    &kn_certificate_of_records,
    &kn_private_of_table,
    &kn_private_of_database,
    &kn_private_of_records,
    &kn_recipe_document,
    &kn_answer_generate,
    &kn_answer_catalogue,
};

enum { ANSWERS = sizeof answers / sizeof *answers };

const kn_fields *kn_answer_at(int index)
{
    return index >= 0 && index < ANSWERS ? answers[index] : NULL;
}

const char *kn_answer_name(int index)
{
    return kn_answer_at(index) ? answers[index]->name : NULL;
}

const char *kn_answer_sentence(int index)
{
    return kn_answer_at(index) ? answers[index]->sentence : NULL;
}

static const kn_fields *find(const char *name, kn_error *err)
{
    for (int i = 0; i < ANSWERS; i++)
        if (strcmp(answers[i]->name, name) == 0) return answers[i];
    (void)kn_fail(err, KN_USAGE, "there is no answer '%s'; kanon help answers lists them", name);
    return NULL;
}

kn_status kn_answer_fields(const char *answer, void (*each)(void *user, const kn_answer_field *field), void *user,
                           kn_error *err)
{
    const kn_fields *fields = find(answer, err);
    if (!fields) return KN_USAGE;
    kn_fields_list(fields, each, user);
    return KN_OK;
}

kn_status kn_answer_schema(char **text, size_t *size, kn_context *ctx, const char *answer, kn_error *err)
{
    const kn_fields *fields = find(answer, err);
    return fields ? kn_fields_schema(text, size, ctx, fields, err) : KN_USAGE;
}
