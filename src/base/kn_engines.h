/* kn_engines.h: the engines of a context (kanon/engine.h), by the names of their tables. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_ENGINES_H
#define KN_ENGINES_H

#include <kanon/engine.h>

/* The engine of "engine:NAME#RELATION", and what stands behind '#'; NULL: it is no such name, or there is no such engine. */
const kn_connection *kn_engine_of(const kn_context *ctx, const char *name, const char **relation);

/* Ends with the context. */
void kn_engines_clear(kn_context *ctx);

#endif
