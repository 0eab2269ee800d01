/* hierarchy.c: the public functions of hierarchies that read or write files. See kanon/hierarchy.h. */
#include <kanon/hierarchy.h>

#include "kn_error.h"
#include "kn_hierarchy.h"
#include "kn_hierarchy_file.h"

static kn_status check_spec(const kn_hierarchy_spec *spec, kn_error *err)
{
    if (!spec || spec->size != sizeof *spec)
        return kn_fail(err, KN_USAGE, "kn_hierarchy_spec was not initialized with KN_HIERARCHY_SPEC_INIT");
    if (spec->decimal != '.' && spec->decimal != ',') return kn_fail(err, KN_USAGE, "the decimal mark is '.' or ','");
    return KN_OK;
}

static bool from_file(const kn_hierarchy_spec *spec)
{
    return spec->kind == KN_HIERARCHY_FILE || spec->kind == KN_HIERARCHY_TAXONOMY;
}

kn_status kn_hierarchy_read(kn_hierarchy **out, kn_context *ctx, const kn_hierarchy_spec *spec, kn_error *err)
{
    KN_TRY(check_spec(spec, err));
    if (!from_file(spec)) return kn_fail(err, KN_USAGE, "this kind of hierarchy needs a column");
    return kn_hierarchy_read_file(out, ctx, spec, err);
}

kn_status kn_hierarchy_make(kn_hierarchy **out, kn_context *ctx, const kn_table *table, int column,
                            const kn_hierarchy_spec *spec, bool show_values, kn_error *err)
{
    KN_TRY(check_spec(spec, err));
    if (column < 0 || column >= table->column_count) return kn_fail(err, KN_USAGE, "there is no column %d", column);
    if (!from_file(spec)) return kn_hierarchy_build(out, ctx, &table->columns[column], spec, err);
    kn_hierarchy *h = NULL;
    KN_TRY(kn_hierarchy_read_file(&h, ctx, spec, err));
    kn_status status = kn_hierarchy_bind(h, table, column, spec->decimal, show_values, err);
    if (status != KN_OK)
        kn_hierarchy_free(h);
    else
        *out = h;
    return status;
}

kn_status kn_hierarchy_write(const kn_hierarchy *h, kn_context *ctx, const char *path, char delimiter, kn_error *err)
{
    return kn_hierarchy_write_file(h, ctx, path, delimiter, err);
}
