/* kanon/recipe.h: what a method decided, stored with a release and applied to other rows.
 *
 * A release with `keep-recipe` leaves OUTPUT.recipe.json (mode 0600): the request, the hierarchies from files, and
 * the decision: a level for each column, a tree of cuts, or which combination of values became which cells. kn_apply
 * releases other rows by it: there is no search, but every promise is checked on these rows, by the code that
 * verifies every release. For the rows that the recipe was made from it writes the same bytes.
 *
 *     kn_recipe_read(&recipe, ctx, "release.csv.recipe.json", err);
 *     kn_spec_set_texts(kn_recipe_spec(recipe), "input", (const char *const[]){"may.csv"}, 1, "input", err);
 *     kn_spec_set_texts(kn_recipe_spec(recipe), "output", (const char *const[]){"may-release.csv"}, 1, "output", err);
 *     kn_apply(&result, ctx, recipe, NULL, err);
 *
 * docs/recipes.md describes what happens to new values, and what is not promised.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KANON_RECIPE_H
#define KANON_RECIPE_H

#include <kanon/anonymize.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kn_recipe kn_recipe;

/* Reads a recipe ("-": standard input). KN_INPUT: not a recipe, another version, or changed since it was written. For
 * one thread at a time. */
KN_API KN_CHECK kn_status kn_recipe_read(kn_recipe **out, kn_context *ctx, const char *path, kn_error *err);
KN_API void               kn_recipe_free(kn_recipe *recipe); /* NULL is fine */

/* The request, without input and output, which the caller sets; promises, budget and the files written with the
 * release may also be changed. It belongs to the recipe. */
KN_API kn_spec *kn_recipe_spec(kn_recipe *recipe);

/* Releases the inputs of the recipe's spec by its decision. Statuses as for kn_anonymize: "this recipe gives no such
 * release" is KN_OK with found == false. KN_USAGE: attributes or method of the spec were changed; an earlier release
 * (options) without the word that nobody is in both. KN_INPUT: one that is not by this recipe. The context must be the one
 * that the recipe was read with. */
KN_API KN_CHECK kn_status kn_apply(kn_release_result **out, kn_context *ctx, kn_recipe *recipe,
                                   const kn_anonymize_options *options, kn_error *err);

#ifdef __cplusplus
}
#endif

#endif
