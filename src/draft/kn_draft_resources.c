/* kn_draft_resources.c: a first release file for resources (FHIR): who the person is, what belongs to whom, which elements are classes.
 *
 * The files are read once for their names (kn_resource_outline.h), then for the values of the classes. The person is Patient, or the
 * type that was asked for. A type belongs to the person if an element of it refers there; an Encounter may stand between. Of
 * the person a few elements are kept, of any other type its code (below: `heads`). Names, identifiers, texts and whatever else is left out are
 * named with the reason, and what could be a class stands there as a comment.
 *
 * A resource has no place for "*". So a class is left out if it occurs in fewer than k records, or together with another class
 * in fewer than k: then the classes' names alone keep the promise of two values, and a release without "*" exists.
 *
 * Cost: two passes over the files. Memory: the names of resources (kn_resource_outline.c), the different values.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <kanon/diagnose.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_draft.h"
#include "kn_error.h"
#include "kn_feed.h"
#include "kn_records_layout.h"
#include "kn_records_scan.h"
#include "kn_resource_outline.h"

enum { MOST_CLASSES = KN_STYLE_CLASSES, MOST_TYPES = 100, FEW_RECORDS = 20 };

static const char to_be_safe[] = "others may know it; to be safe";
static const char broader_url[] = "http://example.org/fhir/broader-value";

typedef struct class {
    const char *name, *path;
    const char *broader; /* NULL: broader values stand in its place       */
    int         type, element;
    bool concept;    /* its values are codes, also where they look like numbers */
    const char *out; /* why it is left out; NULL: it is kept */
    kn_feed     feed;
    kn_table   *values;
    kn_profile *profile;
} class;

typedef struct type {
    int         element;
    const char *out;          /* why it is left out; NULL: it is kept                  */
    int         to_person;    /* the element that refers to the person; -1: none       */
    int         to_encounter; /* ... to the encounter                                  */
} type;

typedef struct resources {
    kn_drafting        *d;
    kn_resource_outline outline;
    int                 type_count;
    type                types[MOST_TYPES]; /* the person, then the encounter, if there are any */
    int                 encounter;         /* its place there; -1: none                        */
    int                 count;
    class classes[MOST_CLASSES];
    int64_t  people, k;
    uint64_t present;                              /* the classes of the current record, as bits */
    int64_t  together[MOST_CLASSES][MOST_CLASSES]; /* in so many records; with itself: it alone  */
} resources;

static const kn_element *element_at(const resources *r, int at)
{
    return &r->outline.elements[at];
}

static const char *name_at(const resources *r, int at)
{
    return element_at(r, at)->name;
}

static bool is_one_of(const char *name, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(name, *words) == 0) return true;
    return false;
}

/* The element inside another; -1: there is none. */
static int inside(const resources *r, int at, const char *name)
{
    for (int i = at < 0 ? -1 : element_at(r, at)->first; i >= 0; i = element_at(r, i)->next)
        if (strcmp(name_at(r, i), name) == 0) return i;
    return -1;
}

/* One with values that can be read: texts, numbers, true and false. */
static int scalar_inside(const resources *r, int at, const char *name)
{
    int found = inside(r, at, name);
    if (found < 0 || element_at(r, found)->nested) return -1;
    return element_at(r, found)->count > 0 && element_at(r, found)->scalars == element_at(r, found)->count ? found : -1;
}

/* A text in the arena; NULL: out of memory. */
static const char *joined(const resources *r, const char *a, const char *b, const char *c)
{
    char       *text = kn_strformat(r->d->ctx, "%s%s%s", a, b, c);
    const char *copy = text ? kn_arena_strndup(r->d->arena, text, strlen(text)) : NULL;
    kn_free(text);
    return copy;
}

/* ---- What belongs to whom ---- */

/* Types that are no part of what a person has. */
static const char *why_no_type(const char *name)
{
    static const char *const bills[] = {"Claim",   "ClaimResponse", "Coverage",      "ExplanationOfBenefit",
                                        "Account", "Invoice",       "PaymentNotice", NULL};
    static const char *const papers[] = {"DocumentReference",
                                         "DocumentManifest",
                                         "Composition",
                                         "Communication",
                                         "Media",
                                         "Binary",
                                         "QuestionnaireResponse",
                                         NULL};
    static const char *const people[] = {"RelatedPerson", "FamilyMemberHistory", "Person", NULL};
    static const char *const logs[] = {"Provenance", "AuditEvent", "Consent", "Task", "List", NULL};
    if (is_one_of(name, bills)) return "what was billed is said by other resources";
    if (is_one_of(name, papers)) return "documents: free text";
    if (is_one_of(name, people)) return "it is about other people";
    return is_one_of(name, logs) ? "it is about records, not about the person" : NULL;
}

/* The element of a type by which most of its resources refer to another type; -1: none. */
static int link_to(const resources *r, int from, int target)
{
    int     best = -1;
    int64_t most = 0;
    for (int i = 0; i < r->outline.link_count; i++) {
        const kn_link *l = &r->outline.links[i];
        if (element_at(r, l->element)->parent != from || l->target != target || l->count <= most) continue;
        best = l->element;
        most = l->count;
    }
    return best;
}

static void add_type(resources *r, int element)
{
    if (r->type_count < MOST_TYPES) r->types[r->type_count++] = (type){element, NULL, -1, -1};
}

static kn_status find_types(resources *r, kn_error *err)
{
    const char *asked = r->d->options->record ? r->d->options->record : "Patient";
    int         person = -1, encounter = -1;
    for (int i = r->outline.count ? 0 : -1; i >= 0; i = element_at(r, i)->next) {
        if (strcmp(name_at(r, i), asked) == 0) person = i;
        if (strcmp(name_at(r, i), "Encounter") == 0 && strcmp(asked, "Encounter") != 0) encounter = i;
    }
    if (person < 0)
        return kn_fail(err, KN_INPUT, "%s: no resource is a %s; --record says which type is the person",
                       r->d->inputs[0], asked);
    add_type(r, person);
    if (encounter >= 0) add_type(r, encounter);
    r->encounter = encounter >= 0 ? 1 : -1;
    for (int i = 0; i >= 0; i = element_at(r, i)->next)
        if (i != person && i != encounter) add_type(r, i);
    for (int t = 1; t < r->type_count; t++) {
        type *own = &r->types[t];
        own->out = why_no_type(name_at(r, own->element));
        own->to_person = link_to(r, own->element, person);
        if (encounter >= 0 && t != r->encounter) own->to_encounter = link_to(r, own->element, encounter);
        if (!own->out && own->to_person < 0) own->out = "it refers to no person";
    }
    return KN_OK;
}

/* ---- Classes ---- */

/* A name that no class has yet. */
static const char *free_name(const resources *r, const char *wanted, int of)
{
    for (int i = 0; i < r->count; i++)
        if (strcmp(r->classes[i].name, wanted) == 0) return joined(r, name_at(r, r->types[of].element), " ", wanted);
    return wanted;
}

static kn_status add_class(resources *r, class c, kn_error *err)
{
    if (r->count == MOST_CLASSES) return KN_OK; /* its type has no class then, and is left out */
    c.name = c.name ? free_name(r, c.name, c.type) : NULL;
    if (!c.name || !c.path || r->d->arena->failed) return kn_draft_memory(r->d, err);
    r->classes[r->count++] = c;
    return KN_OK;
}

/* The system that most resources use for the codes of an element; NULL: none. */
static const kn_coding *system_of(const resources *r, int coding)
{
    const kn_coding *best = NULL;
    for (int i = 0; i < r->outline.coding_count; i++) {
        const kn_coding *c = &r->outline.codings[i];
        if (c->element == coding && !strpbrk(c->system, "]\"\\") && (!best || c->resources > best->resources)) best = c;
    }
    return best;
}

/* "Condition/code" for an element; NULL: out of memory. */
static const char *path_of(const resources *r, int element)
{
    const char *path = name_at(r, element);
    for (int up = element_at(r, element)->parent; up >= 0 && path; up = element_at(r, up)->parent)
        path = joined(r, name_at(r, up), "/", path);
    return path;
}

/* A concept's codes: those of one system, if they say any. False: it has none. */
static bool concept_class(const resources *r, int element, class *out)
{
    int coding = inside(r, element, "coding"), code = scalar_inside(r, coding, "code");
    if (code < 0) return false;
    const char      *path = path_of(r, element);
    const kn_coding *system = system_of(r, coding);
    const char      *chosen = system ? joined(r, "/coding[system=", system->system, "]/code") : "/coding/code";
    out->path = path && chosen ? joined(r, path, chosen, "") : NULL;
    out->broader = path ? joined(r, path, "/text", "") : NULL;
    out->element = code;
    out->concept = true;
    return true;
}

/* A plain value: directly in the resource, FHIR keeps what is no code or date of its own beside it. */
static void plain_class(const resources *r, int element, class *out)
{
    int up = element_at(r, element)->parent;
    out->path = path_of(r, element);
    out->element = element;
    if (element_at(r, up)->parent >= 0) return;
    const char *beside = joined(r, name_at(r, up), "/_", name_at(r, element));
    const char *place = joined(r, "/extension[url=", broader_url, "]/valueString");
    out->broader = beside && place ? joined(r, beside, place, "") : NULL;
}

/* What others may know of a person; of where people live, the narrowest that is there. */
static kn_status add_person(resources *r, kn_error *err)
{
    static const char *const plain[] = {"gender", "birthDate", "deceasedBoolean", "deceasedDateTime",
                                        "multipleBirthBoolean"};
    static const char *const homes[] = {"postalCode", "city", "district", "state", "country"};
    int                      own = r->types[0].element;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        class c = {.name = plain[i]};
        int at = scalar_inside(r, own, plain[i]);
        if (at < 0) continue;
        plain_class(r, at, &c);
        KN_TRY(add_class(r, c, err));
    }
    for (size_t i = 0; i < sizeof homes / sizeof *homes; i++) {
        class c = {.name = homes[i]};
        int at = scalar_inside(r, inside(r, own, "address"), homes[i]);
        if (at < 0) continue;
        plain_class(r, at, &c);
        KN_TRY(add_class(r, c, err));
        break;
    }
    class status = {.name = "maritalStatus"}, language = {.name = "language"};
    if (concept_class(r, inside(r, own, "maritalStatus"), &status)) KN_TRY(add_class(r, status, err));
    if (concept_class(r, inside(r, inside(r, own, "communication"), "language"), &language))
        KN_TRY(add_class(r, language, err));
    return KN_OK;
}

/* What a resource is about: its code; of encounters also where they were, or of which class. */
static bool head_of(const resources *r, int own, class *out)
{
    static const char *const heads[] = {"code", "vaccineCode", "medicationCodeableConcept", "type", "category"};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        if (concept_class(r, inside(r, own, heads[i]), out)) return true;
    for (int i = element_at(r, own)->first; i >= 0; i = element_at(r, i)->next)
        if (concept_class(r, i, out)) return true;
    int place = scalar_inside(r, inside(r, own, "serviceProvider"), "display"),
        kind = scalar_inside(r, inside(r, own, "class"), "code");
    if (place >= 0 || kind >= 0) plain_class(r, place >= 0 ? place : kind, out);
    if (place < 0 && kind >= 0) out->broader = joined(r, name_at(r, own), "/class/display", "");
    return place >= 0 || kind >= 0;
}

/* "medicationRequest" for MedicationRequest. */
static const char *small(const resources *r, const char *name)
{
    char *copy = kn_arena_strndup(r->d->arena, name, strlen(name));
    if (copy && copy[0] >= 'A' && copy[0] <= 'Z') copy[0] = (char)(copy[0] - 'A' + 'a');
    return copy;
}

static kn_status find_classes(resources *r, kn_error *err)
{
    KN_TRY(add_person(r, err));
    for (int t = 1; t < r->type_count; t++) {
        class c = {.type = t};
        if (r->types[t].out) continue;
        c.name = small(r, name_at(r, r->types[t].element));
        int before = r->count;
        if (head_of(r, r->types[t].element, &c)) KN_TRY(add_class(r, c, err));
        if (r->count == before) r->types[t].out = "nothing in it has a code";
    }
    if (r->count > 0) return KN_OK;
    return kn_fail(err, KN_INPUT,
                   "%s: nothing in its resources is known to become a class; write a release file with resources",
                   r->d->inputs[0]);
}

/* ---- Their values ---- */

static void end_record(resources *r)
{
    for (int a = 0; a < r->count; a++)
        for (int b = 0; b < r->count && (r->present >> a & 1); b++) r->together[a][b] += r->present >> b & 1;
    r->present = 0;
}

static kn_status on_record(void *state, kn_string id, const kn_records_place *place, kn_error *err)
{
    resources *r = state;
    (void)id, (void)place, (void)err;
    end_record(r);
    r->people++;
    return KN_OK;
}

static kn_status on_node(void *state, int64_t parent, int cls, kn_string value, const kn_records_place *place,
                         kn_error *err)
{
    resources *r = state;
    (void)parent, (void)place;
    r->present |= (uint64_t)1 << cls;
    return kn_feed_cell(&r->classes[cls].feed, value, err);
}

static kn_status on_ignored(void *state, kn_string name, kn_error *err)
{
    (void)state, (void)name, (void)err;
    return KN_OK;
}

/* How the kept types refer to one another, as a release file says it. `numbers`: per type, its number there; -1: it is left out. */
static int list_types(const resources *r, kn_spec_resource *list, const char *(*parents)[2], int (*targets)[2],
                      int *numbers)
{
    int count = 0;
    for (int t = 0; t < r->type_count; t++) {
        const type *own = &r->types[t];
        numbers[t] = own->out ? -1 : count;
        if (own->out) continue;
        kn_spec_resource *to = &list[count];
        *to =
            (kn_spec_resource){.name = name_at(r, own->element), .parents = parents[count], .targets = targets[count]};
        bool through = own->to_encounter >= 0 && !r->types[r->encounter].out;
        if (through) {
            parents[count][to->parent_count] = name_at(r, own->to_encounter);
            targets[count][to->parent_count++] = numbers[r->encounter];
        }
        if (t > 0) {
            parents[count][to->parent_count] = name_at(r, own->to_person);
            targets[count][to->parent_count++] = 0;
        }
        count++;
    }
    return count;
}

static kn_status read_values(resources *r, kn_error *err)
{
    kn_spec_class       classes[MOST_CLASSES];
    kn_spec_resource    types[MOST_TYPES];
    const char         *parents[MOST_TYPES][2];
    int                 targets[MOST_TYPES][2], numbers[MOST_TYPES];
    kn_records_options  options = KN_RECORDS_OPTIONS_INIT;
    kn_records_sink     sink = {r, on_record, on_node, on_ignored};
    kn_catalog_column   column = {0};
    kn_catalog_table    table = {.name = "records", .column_count = 1, .columns = &column};
    kn_csv_options      csv = KN_CSV_OPTIONS_INIT;
    kn_database_options reading = KN_DATABASE_OPTIONS_INIT;
    reading.csv = &csv;
    options.classes = classes;
    options.class_count = r->count;
    options.resources = types;
    options.resource_count = list_types(r, types, parents, targets, numbers);
    for (int i = 0; i < r->count; i++) {
        classes[i] = (kn_spec_class){.name = r->classes[i].name, .path = r->classes[i].path};
        column.name = r->classes[i].name;
        KN_TRY(kn_feed_open(&r->classes[i].feed, r->d->ctx, r->d->inputs[0], &table, err));
    }
    KN_TRY(kn_records_scan(r->d->ctx, r->d->inputs[0], &options, &sink, NULL, err));
    end_record(r);
    for (int i = 0; i < r->count; i++) {
        class *c = &r->classes[i];
        KN_TRY(kn_feed_finish(&c->values, &c->feed, NULL, &reading, err));
        KN_TRY(kn_profile_table(&c->profile, r->d->ctx, c->values, err));
    }
    return KN_OK;
}

/* A class's name stands for all of its values, and so is none of them. */
static bool is_value(const class *c)
{
    const kn_dictionary *dict = &c->values->columns[0].dict;
    for (uint32_t v = 0; v < dict->count; v++)
        if (kn_string_equal(kn_dictionary_text(dict, v), kn_string_of(c->name))) return true;
    return false;
}

/* The kept class that is in most pairs that are too rare; -1: there are none. */
static int rarest(const resources *r)
{
    int worst = -1, most = 0;
    for (int a = 0; a < r->count; a++) {
        int rare = 0;
        for (int b = 0; b < r->count && !r->classes[a].out; b++) {
            bool few = !r->classes[b].out && r->together[a][b] > 0 && r->together[a][b] < r->k;
            rare += few ? (a == b ? MOST_CLASSES : 1) : 0;
        }
        /* Of two the one that fewer have. */
        if (rare > most || (rare == most && rare > 0 && r->together[a][a] < r->together[worst][worst])) {
            worst = a;
            most = rare;
        }
    }
    return worst;
}

static void drop(resources *r, int at, const char *why)
{
    class *c = &r->classes[at];
    c->out = why;
    if (c->type > 0) r->types[c->type].out = why; /* it has no other */
}

static kn_status choose(resources *r, kn_error *err)
{
    r->k = r->d->options->k > 0 ? r->d->options->k : r->people < FEW_RECORDS ? 2 : 5;
    if (r->people < r->k)
        return kn_fail(err, KN_INPUT, "%s: it has fewer than %lld persons", r->d->inputs[0], (long long)r->k);
    int left = r->count;
    for (int i = 0; i < r->count; i++) {
        class *c = &r->classes[i];
        bool   text = c->values->columns[0].type == KN_TYPE_TEXT;
        if (c->values->rows == 0) drop(r, i, "nobody has it");
        if (!c->out && text && kn_column_profile_at(c->profile, 0)->role == KN_ROLE_IDENTIFIER)
            drop(r, i, kn_column_profile_at(c->profile, 0)->reason);
        if (!c->out && is_value(c)) c->name = joined(r, "any ", c->name, "");
        if (!c->name) return kn_draft_memory(r->d, err);
        left -= c->out != NULL;
    }
    for (int at = rarest(r); at >= 0; at = rarest(r), left--) {
        bool alone = r->together[at][at] < r->k;
        drop(r, at,
             alone ? "fewer persons have it than the promise needs"
                   : "fewer persons have it together with something else than the promise needs");
    }
    return left > 0 ? KN_OK : kn_fail(err, KN_INPUT, "%s: everything in it is too rare for a release", r->d->inputs[0]);
}

/* ---- Text ---- */

/* What FHIR demands of a type: the same in all resources, so that it says nothing. */
static const struct demand {
    const char *type, *member, *value;
} demands[] = {
#define ABSENT "{extension: [{url: \"http://hl7.org/fhir/StructureDefinition/data-absent-reason\", valueCode: masked}]}"
    {"Encounter", "status", "unknown"},
    {"Encounter", "class", "{system: \"http://terminology.hl7.org/CodeSystem/data-absent-reason\", code: masked}"},
    {"Observation", "status", "unknown"},
    {"DiagnosticReport", "status", "unknown"},
    {"ImagingStudy", "status", "unknown"},
    {"Procedure", "status", "unknown"},
    {"CarePlan", "status", "unknown"},
    {"CarePlan", "intent", "plan"},
    {"ServiceRequest", "status", "unknown"},
    {"ServiceRequest", "intent", "order"},
    {"MedicationRequest", "status", "unknown"},
    {"MedicationRequest", "intent", "order"},
    {"MedicationStatement", "status", "unknown"},
    {"MedicationDispense", "status", "unknown"},
    {"MedicationAdministration", "status", "unknown"},
    {"MedicationAdministration", "_effectiveDateTime", ABSENT},
    {"Immunization", "_status", ABSENT},
    {"Immunization", "occurrenceString", "unknown"},
#undef ABSENT
};

/* Does the path of a class of this type begin with a member? */
static bool leads_through(const resources *r, int t, const char *member)
{
    for (int i = 0; i < r->count; i++) {
        const class *c = &r->classes[i];
        int          at = c->element;
        if (c->type != t || c->out) continue;
        while (element_at(r, element_at(r, at)->parent)->parent >= 0) at = element_at(r, at)->parent;
        if (strcmp(name_at(r, at), member) == 0) return true;
    }
    return false;
}

/* Is a member of a type the same in all resources? (_status: what stands beside status.) */
static bool is_fixed(const resources *r, int t, const char *member)
{
    for (size_t i = 0; i < sizeof demands / sizeof *demands; i++) {
        const char *own = demands[i].member;
        bool        same = strcmp(own, member) == 0 || (own[0] == '_' && strcmp(own + 1, member) == 0);
        if (strcmp(demands[i].type, name_at(r, r->types[t].element)) == 0 && same) return !leads_through(r, t, member);
    }
    return false;
}

static void write_type(resources *r, int t, const kn_spec_resource *own, const kn_spec_resource *list)
{
    kn_buffer *to = &r->d->text;
    bool       begun = false;
    kn_buffer_add(to, "  ");
    kn_draft_quote(to, own->name);
    kn_buffer_add(to, ": {");
    for (int i = 0; i < own->parent_count; i++) {
        kn_buffer_add(to, i ? ", " : "parent: {");
        kn_draft_quote(to, own->parents[i]);
        kn_buffer_add(to, ": ");
        kn_draft_quote(to, list[own->targets[i]].name);
    }
    if (own->parent_count > 0) kn_buffer_char(to, '}');
    for (size_t i = 0; i < sizeof demands / sizeof *demands; i++) {
        if (strcmp(demands[i].type, own->name) != 0 || !is_fixed(r, t, demands[i].member)) continue;
        kn_buffer_format(to, "%s%s: %s", begun ? ", " : ", fixed: {", demands[i].member, demands[i].value);
        begun = true;
    }
    kn_buffer_add(to, begun ? "}}" : "}");
    kn_buffer_add(to, t == 0  ? "  # the person\n"
                      : begun ? "  # fixed: what FHIR demands, the same for everybody\n"
                              : "\n");
}

static kn_status write_types(resources *r, kn_error *err)
{
    kn_spec_resource list[MOST_TYPES];
    const char      *parents[MOST_TYPES][2];
    int              targets[MOST_TYPES][2], numbers[MOST_TYPES];
    kn_buffer       *to = &r->d->text;
    list_types(r, list, parents, targets, numbers);
    kn_buffer_add(
        to,
        "\nresources:  # a record is a person with what belongs to it, by the elements that refer there (parent)\n");
    for (int t = 0; t < r->type_count; t++)
        if (numbers[t] >= 0) write_type(r, t, &list[numbers[t]], list);
    for (int t = 0; t < r->type_count; t++) {
        const char *name = name_at(r, r->types[t].element);
        if (numbers[t] >= 0) continue;
        kn_buffer_add(to, "  # left out: ");
        kn_draft_quote(to, name);
        kn_buffer_format(to, "  (%s)\n", r->types[t].out);
        KN_TRY(kn_draft_add_column(r->d, NULL, name, "identifier", r->types[t].out, NULL, err));
    }
    return KN_OK;
}

static void write_paths(kn_buffer *to, const class *c)
{
    kn_draft_quote(to, c->name);
    kn_buffer_add(to, ": {path: ");
    kn_draft_quote(to, c->path);
    if (!c->broader) return;
    kn_buffer_add(to, ", broader: ");
    kn_draft_quote(to, c->broader);
}

static kn_status write_class(resources *r, const class *c, kn_error *err)
{
    kn_draft_rule    rule;
    kn_buffer       *to = &r->d->text;
    const kn_column *column = &c->values->columns[0];
    bool             numbers = c->concept && column->type != KN_TYPE_TEXT; /* as SNOMED's: no amounts */
    KN_TRY(kn_draft_rule_of(&rule, r->d, c->values, 0, NULL, numbers, err));
    kn_buffer_add(to, "  ");
    write_paths(to, c);
    if (rule.hierarchy) kn_buffer_format(to, ", hierarchy: %s", rule.hierarchy);
    kn_buffer_format(to, "}  # %s (%s)\n", to_be_safe, rule.why);
    return kn_draft_add_column(r->d, name_at(r, r->types[c->type].element), c->name, "quasi", to_be_safe,
                               rule.hierarchy, err);
}

/* ---- What is left out ---- */

/* Why an element is no class; NULL: it might be one. */
static const char *why_not(const resources *r, int at)
{
    static const char *const people[] = {"name",    "telecom", "photo", "contact", "identifier",
                                         "address", "line",    "link",  NULL};
    static const char *const texts[] = {
        "text", "note",       "comment",       "description",       "patientInstruction",
        "div",  "conclusion", "presentedForm", "dosageInstruction", NULL};
    static const char *const frames[] = {"meta", "implicitRules", "language", "contained", NULL};
    const char              *name = name_at(r, at);
    if (is_one_of(name, people)) return "it names the person, or leads there";
    if (is_one_of(name, texts)) return "free text";
    if (is_one_of(name, frames)) return "it is about the resource, not about the person";
    if (name[0] == '_' || strcmp(name, "extension") == 0 || strcmp(name, "modifierExtension") == 0)
        return "an extension: only you know what it holds";
    return inside(r, at, "reference") >= 0 ? "it refers to another resource" : NULL;
}

/* A class that could be added for an element: its codes, its values, an amount or the beginning of a time. False: none. */
static bool could_be(const resources *r, int at, class *out)
{
    static const char *const parts[] = {"value", "start", "code", "end"};
    if (concept_class(r, at, out)) return true;
    const kn_element *e = element_at(r, at);
    int               found = e->scalars == e->count && e->count > 0 && !e->nested ? at : -1;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && found < 0; i++) found = scalar_inside(r, at, parts[i]);
    if (found >= 0) plain_class(r, found, out);
    return found >= 0;
}

static kn_status write_left_out(resources *r, int t, int at, const char *why, kn_error *err)
{
    kn_buffer *to = &r->d->text;
    class c = {.type = t};
    const char *path = path_of(r, at);
    if (!why && could_be(r, at, &c)) {
        c.name = joined(r, name_at(r, r->types[t].element), " ", name_at(r, at));
        if (!c.name || !c.path) return kn_draft_memory(r->d, err);
        kn_buffer_add(to, "  # ");
        write_paths(to, &c);
        kn_buffer_add(to, "}  # left out: add it where it matters, for it makes people easier to find\n");
        return KN_OK;
    }
    if (!path) return kn_draft_memory(r->d, err);
    if (!why) why = "several values; add those that matter";
    kn_buffer_add(to, "  # left out: ");
    kn_draft_quote(to, path);
    kn_buffer_format(to, "  (%s)\n", why);
    return kn_draft_add_column(r->d, name_at(r, r->types[t].element), path, "identifier", why, NULL, err);
}

static bool is_above(const resources *r, int above, int at)
{
    while (at >= 0 && at != above) at = element_at(r, at)->parent;
    return at == above;
}

/* The class that an element leads to; NULL: none. */
static const class *class_in(const resources *r, int at)
{
    for (int i = 0; i < r->count; i++)
        if (is_above(r, at, r->classes[i].element)) return &r->classes[i];
    return NULL;
}

/* Other systems say what the chosen one says, or more. */
static kn_status write_other_systems(resources *r, int t, int coding, const class *chosen, kn_error *err)
{
    static const char reason[] = "codes of another system: what the chosen one says in other words, or more";
    for (int i = 0; i < r->outline.coding_count; i++) {
        const kn_coding *c = &r->outline.codings[i];
        if (c->element != coding || strstr(chosen->path, c->system)) continue;
        const char *path = path_of(r, coding), *rest = joined(r, "[system=", c->system, "]");
        const char *whole = path && rest ? joined(r, path, rest, "") : NULL;
        if (!whole) return kn_draft_memory(r->d, err);
        kn_buffer_add(&r->d->text, "  # left out: ");
        kn_draft_quote(&r->d->text, whole);
        kn_buffer_format(&r->d->text, "  (%s)\n", reason);
        KN_TRY(kn_draft_add_column(r->d, name_at(r, r->types[t].element), whole, "identifier", reason, NULL, err));
    }
    return KN_OK;
}

/* The elements inside one that has a class somewhere below it, or inside a type. */
static kn_status write_others(resources *r, int t, int at, kn_error *err)
{
    const type *own = &r->types[t];
    for (int i = element_at(r, at)->first; i >= 0; i = element_at(r, i)->next) {
        const class *c = class_in(r, i);
        bool         frame =
            at == own->element && (strcmp(name_at(r, i), "id") == 0 || strcmp(name_at(r, i), "resourceType") == 0);
        bool words = c && c->concept && (strcmp(name_at(r, i), "display") == 0 || strcmp(name_at(r, i), "system") == 0);
        if (frame || words || i == own->to_person || i == own->to_encounter || (c && c->element == i && !c->out))
            continue;
        if (!c || c->element == i) {
            bool fixed = at == own->element && is_fixed(r, t, name_at(r, i));
            KN_TRY(write_left_out(r, t, i, c ? c->out : fixed ? "it is fixed" : why_not(r, i), err));
            continue;
        }
        if (c->concept && element_at(r, c->element)->parent == i) {
            if (c->out) KN_TRY(write_left_out(r, t, i, c->out, err));
            if (!c->out) KN_TRY(write_other_systems(r, t, i, c, err));
            continue;
        }
        KN_TRY(write_others(r, t, i, err));
    }
    return KN_OK;
}

static kn_status write_all(resources *r, kn_error *err)
{
    kn_drafting   *d = r->d;
    kn_csv_options csv = KN_CSV_OPTIONS_INIT;
    bool           lines = r->outline.form == KN_RECORDS_JSON_LINES;
    KN_TRY(kn_draft_opening(d, &csv, lines ? "release.ndjson" : "release.json", err));
    KN_TRY(write_types(r, err));
    kn_buffer_add(&d->text, "classes:  # all other elements are left out. Broader values, for which FHIR has no code "
                            "or date, stand at broader:\n"
                            "          # in a text, or in an extension, whose address is yours to choose\n");
    for (int i = 0; i < r->count; i++)
        if (!r->classes[i].out) KN_TRY(write_class(r, &r->classes[i], err));
    for (int t = 0; t < r->type_count; t++)
        if (!r->types[t].out) KN_TRY(write_others(r, t, r->types[t].element, err));
    kn_buffer_format(
        &d->text,
        "\nprivacy:\n  - k-mn: {k: %lld, m: 2, n: 1}  # whoever knows 2 values of somebody, and which stands "
        "above which, finds nobody or at least so many\n"
        "suppression: 5%%  # so many values and records may be given up where a rare one would blur everybody's\n"
        "\nmethod: auto  # the methods that fit are tried, and the one that loses least is taken\n",
        (long long)r->k);
    return d->text.failed ? kn_draft_memory(d, err) : KN_OK;
}

static void forget(resources *r)
{
    for (int i = 0; i < r->count; i++) {
        kn_feed_abort(&r->classes[i].feed);
        kn_profile_free(r->classes[i].profile);
        kn_table_free(r->classes[i].values);
    }
    kn_resource_outline_free(&r->outline);
    kn_free(r);
}

kn_status kn_draft_resources(kn_drafting *d, kn_error *err)
{
    resources *r = kn_alloc_zero(d->ctx, sizeof *r);
    if (!r) return kn_draft_memory(d, err);
    r->d = d;
    kn_status st = kn_resource_outline_read(&r->outline, d->ctx, d->inputs[0], err);
    if (st == KN_OK) st = find_types(r, err);
    if (st == KN_OK) st = find_classes(r, err);
    if (st == KN_OK) st = read_values(r, err);
    if (st == KN_OK) st = choose(r, err);
    if (st == KN_OK) st = write_all(r, err);
    forget(r);
    return st;
}
