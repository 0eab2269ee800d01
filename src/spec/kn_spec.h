/* kn_spec.h: the inside of a spec: what is behind the public fields, and where in the release file it came from. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KN_SPEC_H
#define KN_SPEC_H

#include <kanon/spec.h>

#include "kn_arena.h"

/* A place in the release file; line 0: not from there. */
typedef struct kn_place {
    int64_t line, column;
} kn_place;

/* The top-level fields, in the order in which they are documented, then those of `options`. */
typedef enum kn_field {
    KN_FIELD_VERSION = 0,
    KN_FIELD_INPUT,
    KN_FIELD_DELIMITER,
    KN_FIELD_HEADER,
    KN_FIELD_ENCODING,
    KN_FIELD_DECIMAL,
    KN_FIELD_TIMEZONE,
    KN_FIELD_NA,
    KN_FIELD_POPULATION,
    KN_FIELD_ATTRIBUTES,
    KN_FIELD_ENTITY,
    KN_FIELD_TABLES,
    KN_FIELD_RECORD,
    KN_FIELD_RESOURCES,
    KN_FIELD_CLASSES,
    KN_FIELD_UNDECLARED,
    KN_FIELD_MISSING,
    KN_FIELD_PRIVACY,
    KN_FIELD_SUPPRESSION,
    KN_FIELD_SUPPRESSED,
    KN_FIELD_DEPENDENCIES,
    KN_FIELD_METHOD,
    KN_FIELD_UTILITY,
    KN_FIELD_LEVELS,
    KN_FIELD_WORKLOAD,
    KN_FIELD_OPTIONS,
    KN_FIELD_OUTPUT,
    KN_FIELD_REPORT,
    KN_FIELD_PUBLIC_REPORT,
    KN_FIELD_SUMMARY,
    KN_FIELD_SPREADSHEET_SAFE,
    KN_FIELD_EXPAND,
    KN_FIELD_KEEP_ORDER,
    KN_FIELD_KEEP_ROWMAP,
    KN_FIELD_KEEP_RECIPE,
    KN_FIELD_FORCE,
    KN_FIELD_REPLACE,
    KN_FIELDS,
    KN_OPTION_TIME_LIMIT = KN_FIELDS,
    KN_OPTION_SEED,
    KN_OPTION_CHOOSE,
    KN_OPTION_ROW_ORDER,
    KN_OPTION_ALLOW_BROKEN,
    KN_OPTION_THRESHOLD,
    KN_OPTION_CLIMIT,
    KN_OPTION_MATCHING,
    KN_OPTION_CLUSTERING,
    KN_OPTION_LEFTOVERS,
    KN_OPTION_DIVERSITY,
    KN_OPTION_COMPLETE,
    KN_OPTION_ANATOMY,
    KN_OPTION_REFERENCE,
    KN_OPTION_G,
    KN_OPTION_SEMANTICS,
    KN_OPTION_STRICT_STRUCTURE,
    KN_OPTION_SUPPORT,
    KN_OPTION_DISASSOCIATION,
    KN_FIELDS_AND_OPTIONS
} kn_field;

/* All that a failed change must leave as it was. The lists belong to it; texts are in the arena. */
typedef struct kn_spec_state {
    kn_spec         spec; /* what the user sees; its lists are those below */
    kn_attribute   *attributes;
    kn_column_type *types; /* spec.csv.types: as much space as attributes has */
    size_t          attribute_capacity, type_capacity;
    kn_model       *models;
    kn_place       *model_places; /* of each model */
    size_t          model_capacity, place_capacity;
    kn_place        places[KN_FIELDS_AND_OPTIONS]; /* of each value                                    */
    const char     *said[KN_FIELDS_AND_OPTIONS];   /* the name by which it was given: "g", "--g"; NULL: it was not */
} kn_spec_state;

/* What kn_spec_create makes: the public struct comes first. */
typedef struct kn_spec_inner {
    kn_spec_state state;
    kn_context   *ctx;
    kn_arena      arena;
} kn_spec_inner;

static inline kn_spec_inner *kn_spec_inside(kn_spec *spec)
{
    return (kn_spec_inner *)spec;
}

/* kn_spec_read from memory; `name` stands for the file in messages. */
KN_CHECK kn_status kn_spec_parse(kn_spec **out, kn_context *ctx, const char *path, const char *name, const char *text,
                                 size_t size, kn_error *err);

/* Copies the lists, so that they can be changed while `saved` keeps the old ones; one of the other two functions must
 * follow. false: out of memory, nothing changed. */
KN_CHECK bool kn_spec_begin(kn_spec_inner *inner, kn_spec_state *saved);
void          kn_spec_keep(kn_spec_state *saved);
void          kn_spec_undo(kn_spec_inner *inner, kn_spec_state *saved);

/* Replaces the attribute at `index`, or adds one (index -1). Its texts must be in the arena.
 * false: out of memory. */
KN_CHECK bool kn_spec_put_attribute(kn_spec_inner *inner, int index, const kn_attribute *attribute);

/* Adds a model; its attribute must be in the arena. false: out of memory. */
KN_CHECK bool kn_spec_add_model(kn_spec_inner *inner, const kn_model *model, kn_place place);

/* Promises of one model about one column: a flag's replace the file's, and the rest become one that implies them all. */
void kn_spec_join_models(kn_spec_inner *inner);

/* An attribute with nothing declared. */
kn_attribute kn_attribute_new(const char *name);

/* Fails at a place of the release file; with KN_USAGE if the value does not come from there. */
kn_status kn_spec_fail_place(const kn_spec_inner *inner, kn_place place, kn_error *err, const char *format, ...)
    KN_PRINTF(4, 5);

/* Something is missing altogether: the message names the file, if there is one. */
kn_status kn_spec_fail_lacking(const kn_spec_inner *inner, kn_error *err, const char *message);

/* Do data and method fit? Fills in the method if none is given. */
KN_CHECK kn_status kn_spec_check_shape(kn_spec_inner *inner, kn_error *err);

/* Do the levels that are asked for go together, and are they of quasi-identifiers? */
KN_CHECK kn_status kn_spec_check_levels(const kn_spec_inner *inner, kn_error *err);

/* Does a column of sets go with all else that is asked; and is k-mn promised of nothing? (kn_spec_items.c) */
KN_CHECK kn_status kn_spec_check_items(const kn_spec_inner *inner, kn_error *err);

/* Is anything asked of the levels of any column? */
bool kn_spec_has_level_bounds(const kn_spec *spec);

/* Does the hierarchy of a quasi-identifier carry a population? */
bool kn_spec_counts_people(const kn_spec *spec);

/* "summary", or of an option "seed". Static. */
const char *kn_field_name(int field);

/* Is everything that was given used, with this shape and method? To be called once the method is known. */
KN_CHECK kn_status kn_spec_check_applies(const kn_spec_inner *inner, kn_error *err);

/* What a database, or records that are trees, must have. */
KN_CHECK kn_status kn_spec_check_database(const kn_spec_inner *inner, kn_error *err);
KN_CHECK kn_status kn_spec_check_records(const kn_spec_inner *inner, kn_error *err);

/* The paths of classes fit the resources (kn_spec_resources.c). */
KN_CHECK kn_status kn_spec_check_resources(const kn_spec_inner *inner, kn_error *err);

#endif
