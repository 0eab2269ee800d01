/* kn_engines.c: the engines of a context: a list, as there are few. Interface: kn_engines.h, kanon/engine.h. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kn_engines.h"

#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_names.h"
#include "kn_options.h"

struct kn_engine {
    struct kn_engine *next;
    kn_connection     connection;
    char              name[];
};

static void remove_named(kn_context *ctx, const char *name)
{
    for (struct kn_engine **at = &ctx->engines; *at; at = &(*at)->next) {
        struct kn_engine *found = *at;
        if (strcmp(found->name, name) != 0) continue;
        *at = found->next;
        kn_free(found);
        return;
    }
}

kn_status kn_engine_add(kn_context *ctx, const char *name, const kn_connection *connection, kn_error *err)
{
    KN_SERVE(ctx, err);
    KN_OPTIONS(kn_connection, KN_CONNECTION_INIT, connection, "a connection", err);
    if (!name || !*name || strchr(name, '#'))
        return kn_fail(err, KN_USAGE, "an engine has a name without '#', which engine:NAME#TABLE says");
    if (!connection->run || !connection->query || !connection->put)
        return kn_fail(err, KN_USAGE, "the connection of engine \"%.100s\" lacks one of run, query and put", name);
    size_t            size = strlen(name) + 1;
    struct kn_engine *added = kn_alloc_zero(ctx, sizeof *added + size);
    if (!added) return kn_fail_memory(err, ctx, "adding an engine");
    added->connection = *connection;
    memcpy(added->name, name, size);
    remove_named(ctx, name);
    added->next = ctx->engines;
    ctx->engines = added;
    return KN_OK;
}

void kn_engine_remove(kn_context *ctx, const char *name)
{
    kn_error                                                err = KN_ERROR_INIT;
    __attribute__((cleanup(kn_context_served))) kn_context *served = NULL;
    if (!name || kn_context_serve(&served, ctx, &err) != KN_OK) return;
    remove_named(ctx, name);
}

const kn_connection *kn_engine_of(const kn_context *ctx, const char *name, const char **relation)
{
    const char *rest = kn_name_engine(name), *mark = rest ? strchr(rest, '#') : NULL;
    for (const struct kn_engine *e = mark ? ctx->engines : NULL; e; e = e->next) {
        if (strlen(e->name) != (size_t)(mark - rest) || strncmp(e->name, rest, (size_t)(mark - rest)) != 0) continue;
        if (relation) *relation = mark + 1;
        return &e->connection;
    }
    return NULL;
}

void kn_engines_clear(kn_context *ctx)
{
    while (ctx->engines) {
        struct kn_engine *next = ctx->engines->next;
        kn_free(ctx->engines);
        ctx->engines = next;
    }
}
