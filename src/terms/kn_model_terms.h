/* kn_model_terms.h: what follows from a privacy model's kind alone. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_MODEL_TERMS_H
#define KN_MODEL_TERMS_H

#include <kanon/models.h>

/* Is it a promise about a sensitive column? */
bool kn_model_needs_attribute(kn_model_kind kind);

#endif
