/* recipe.c: kn_apply: other rows, released by an old decision (kanon/recipe.h). The driver is the one of every release; only the
 * search is another (table/apply.c).
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "kn_context.h"
#include "kn_error.h"
#include "kn_recipe.h"
#include "kn_shape.h"
#include "kn_spec.h"

/* Does the request still ask for what the recipe decided? */
static kn_status check_request(const kn_recipe *recipe, kn_error *err)
{
    const kn_spec *spec = recipe->spec;
    int            q = 0;
    bool           same = spec->method_auto || spec->method == recipe->method;
    for (int i = 0; i < spec->attribute_count && same; i++) {
        if (spec->attributes[i].role != KN_ROLE_QUASI) continue;
        same = q < recipe->column_count && strcmp(spec->attributes[i].name, recipe->columns[q].name) == 0;
        q++;
    }
    if (same && q == recipe->column_count) return KN_OK;
    return kn_fail(err, KN_USAGE, "method and quasi-identifiers are the recipe's and cannot be changed");
}

kn_status kn_apply(kn_release_result **out, kn_context *ctx, kn_recipe *recipe, const kn_anonymize_options *options,
                   kn_error *err)
{
    *out = NULL;
    KN_SERVE(ctx, err);
    KN_TRY(check_request(recipe, err));
    kn_release_head *head = NULL;
    kn_status        st = kn_release_apply(&head, &kn_table_shape, ctx, recipe, options, err);
    *out = (kn_release_result *)(void *)head;
    return st;
}
