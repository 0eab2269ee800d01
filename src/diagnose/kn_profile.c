/* kn_profile.c: a profile of each column: how many values, how identifying they are, what role it probably has.
 *
 * The role is a suggestion with its reason, from the values first (unique: identifier; constant: keep) and then from
 * the column's name. When in doubt a column is a quasi-identifier: that errs on the safe side. Numbers with a decimal
 * comma are judged as numbers, although the column is text: `init` reads them so. Cost: one grouping per column.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <kanon/diagnose.h>

#include <math.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_freq.h"
#include "kn_names.h"

/* Words in column names that suggest a role: English, German, French, Spanish. A name is split at everything that is
 * not a letter, and before a capital behind a small one (customerId); what is not ASCII is a letter. "weight" is not
 * among them: a table of patients has weights in kilograms, and a column of sampling weights is published unchanged. */
typedef struct hint {
    const char *word;
    kn_role     role;
} hint;

static const hint hints[] = {
    {"id", KN_ROLE_IDENTIFIER},
    {"ids", KN_ROLE_IDENTIFIER},
    {"ssn", KN_ROLE_IDENTIFIER},
    {"uid", KN_ROLE_IDENTIFIER},
    {"guid", KN_ROLE_IDENTIFIER},
    {"uuid", KN_ROLE_IDENTIFIER},
    {"name", KN_ROLE_IDENTIFIER},
    {"names", KN_ROLE_IDENTIFIER},
    {"surname", KN_ROLE_IDENTIFIER},
    {"firstname", KN_ROLE_IDENTIFIER},
    {"lastname", KN_ROLE_IDENTIFIER},
    {"fullname", KN_ROLE_IDENTIFIER},
    {"nickname", KN_ROLE_IDENTIFIER},
    {"email", KN_ROLE_IDENTIFIER},
    {"mail", KN_ROLE_IDENTIFIER},
    {"phone", KN_ROLE_IDENTIFIER},
    {"telephone", KN_ROLE_IDENTIFIER},
    {"mobile", KN_ROLE_IDENTIFIER},
    {"fax", KN_ROLE_IDENTIFIER},
    {"address", KN_ROLE_IDENTIFIER},
    {"street", KN_ROLE_IDENTIFIER},
    {"passport", KN_ROLE_IDENTIFIER},
    {"iban", KN_ROLE_IDENTIFIER},
    {"vorname", KN_ROLE_IDENTIFIER},
    {"nachname", KN_ROLE_IDENTIFIER},
    {"familienname", KN_ROLE_IDENTIFIER},
    {"strasse", KN_ROLE_IDENTIFIER},
    {"straße", KN_ROLE_IDENTIFIER},
    {"hausnummer", KN_ROLE_IDENTIFIER},
    {"anschrift", KN_ROLE_IDENTIFIER},
    {"adresse", KN_ROLE_IDENTIFIER},
    {"telefon", KN_ROLE_IDENTIFIER},
    {"telefonnummer", KN_ROLE_IDENTIFIER},
    {"handy", KN_ROLE_IDENTIFIER},
    {"kundennummer", KN_ROLE_IDENTIFIER},
    {"patientennummer", KN_ROLE_IDENTIFIER},
    {"personalnummer", KN_ROLE_IDENTIFIER},
    {"versichertennummer", KN_ROLE_IDENTIFIER},
    {"matrikelnummer", KN_ROLE_IDENTIFIER},
    {"ausweis", KN_ROLE_IDENTIFIER},
    {"nom", KN_ROLE_IDENTIFIER},
    {"prenom", KN_ROLE_IDENTIFIER},
    {"prénom", KN_ROLE_IDENTIFIER},
    {"courriel", KN_ROLE_IDENTIFIER},
    {"téléphone", KN_ROLE_IDENTIFIER},
    {"rue", KN_ROLE_IDENTIFIER},
    {"matricule", KN_ROLE_IDENTIFIER},
    {"nombre", KN_ROLE_IDENTIFIER},
    {"nombres", KN_ROLE_IDENTIFIER},
    {"apellido", KN_ROLE_IDENTIFIER},
    {"apellidos", KN_ROLE_IDENTIFIER},
    {"correo", KN_ROLE_IDENTIFIER},
    {"telefono", KN_ROLE_IDENTIFIER},
    {"teléfono", KN_ROLE_IDENTIFIER},
    {"direccion", KN_ROLE_IDENTIFIER},
    {"dirección", KN_ROLE_IDENTIFIER},
    {"calle", KN_ROLE_IDENTIFIER},
    {"dni", KN_ROLE_IDENTIFIER},
    {"diagnosis", KN_ROLE_SENSITIVE},
    {"diagnoses", KN_ROLE_SENSITIVE},
    {"disease", KN_ROLE_SENSITIVE},
    {"illness", KN_ROLE_SENSITIVE},
    {"condition", KN_ROLE_SENSITIVE},
    {"treatment", KN_ROLE_SENSITIVE},
    {"medication", KN_ROLE_SENSITIVE},
    {"drug", KN_ROLE_SENSITIVE},
    {"salary", KN_ROLE_SENSITIVE},
    {"income", KN_ROLE_SENSITIVE},
    {"wage", KN_ROLE_SENSITIVE},
    {"wages", KN_ROLE_SENSITIVE},
    {"debt", KN_ROLE_SENSITIVE},
    {"religion", KN_ROLE_SENSITIVE},
    {"party", KN_ROLE_SENSITIVE},
    {"hiv", KN_ROLE_SENSITIVE},
    {"diagnose", KN_ROLE_SENSITIVE},
    {"krankheit", KN_ROLE_SENSITIVE},
    {"behandlung", KN_ROLE_SENSITIVE},
    {"medikament", KN_ROLE_SENSITIVE},
    {"gehalt", KN_ROLE_SENSITIVE},
    {"lohn", KN_ROLE_SENSITIVE},
    {"einkommen", KN_ROLE_SENSITIVE},
    {"schulden", KN_ROLE_SENSITIVE},
    {"partei", KN_ROLE_SENSITIVE},
    {"konfession", KN_ROLE_SENSITIVE},
    {"diagnostic", KN_ROLE_SENSITIVE},
    {"maladie", KN_ROLE_SENSITIVE},
    {"traitement", KN_ROLE_SENSITIVE},
    {"medicament", KN_ROLE_SENSITIVE},
    {"médicament", KN_ROLE_SENSITIVE},
    {"salaire", KN_ROLE_SENSITIVE},
    {"revenu", KN_ROLE_SENSITIVE},
    {"dette", KN_ROLE_SENSITIVE},
    {"parti", KN_ROLE_SENSITIVE},
    {"diagnostico", KN_ROLE_SENSITIVE},
    {"diagnóstico", KN_ROLE_SENSITIVE},
    {"enfermedad", KN_ROLE_SENSITIVE},
    {"tratamiento", KN_ROLE_SENSITIVE},
    {"medicamento", KN_ROLE_SENSITIVE},
    {"salario", KN_ROLE_SENSITIVE},
    {"ingresos", KN_ROLE_SENSITIVE},
    {"ingreso", KN_ROLE_SENSITIVE},
    {"deuda", KN_ROLE_SENSITIVE},
    {"partido", KN_ROLE_SENSITIVE},
    {"sampling", KN_ROLE_WEIGHT},
    {"fnlwgt", KN_ROLE_WEIGHT},
    {"wgt", KN_ROLE_WEIGHT},
    {"gewichtung", KN_ROLE_WEIGHT},
    {"ponderation", KN_ROLE_WEIGHT},
    {"pondération", KN_ROLE_WEIGHT},
    {"birth", KN_ROLE_QUASI},
    {"birthdate", KN_ROLE_QUASI},
    {"birthday", KN_ROLE_QUASI},
    {"born", KN_ROLE_QUASI},
    {"dob", KN_ROLE_QUASI},
    {"death", KN_ROLE_QUASI},
    {"age", KN_ROLE_QUASI},
    {"date", KN_ROLE_QUASI},
    {"zip", KN_ROLE_QUASI},
    {"zipcode", KN_ROLE_QUASI},
    {"postcode", KN_ROLE_QUASI},
    {"postal", KN_ROLE_QUASI},
    {"plz", KN_ROLE_QUASI},
    {"city", KN_ROLE_QUASI},
    {"town", KN_ROLE_QUASI},
    {"geburtsdatum", KN_ROLE_QUASI},
    {"geburtstag", KN_ROLE_QUASI},
    {"geburtsjahr", KN_ROLE_QUASI},
    {"geburtsort", KN_ROLE_QUASI},
    {"alter", KN_ROLE_QUASI},
    {"datum", KN_ROLE_QUASI},
    {"postleitzahl", KN_ROLE_QUASI},
    {"stadt", KN_ROLE_QUASI},
    {"wohnort", KN_ROLE_QUASI},
    {"naissance", KN_ROLE_QUASI},
    {"âge", KN_ROLE_QUASI},
    {"ville", KN_ROLE_QUASI},
    {"codepostal", KN_ROLE_QUASI},
    {"deces", KN_ROLE_QUASI},
    {"décès", KN_ROLE_QUASI},
    {"nacimiento", KN_ROLE_QUASI},
    {"edad", KN_ROLE_QUASI},
    {"fecha", KN_ROLE_QUASI},
    {"ciudad", KN_ROLE_QUASI},
};

static const char *hint_reason(kn_role role)
{
    switch (role) {
    case KN_ROLE_IDENTIFIER: return "its name says that it identifies a person";
    case KN_ROLE_SENSITIVE: return "its name says that it is private";
    case KN_ROLE_WEIGHT: return "its name says that it is a sampling weight";
    case KN_ROLE_QUASI:
    case KN_ROLE_KEEP:
    case KN_ROLE_COUNT:
    case KN_ROLE_SET: break;
    }
    return "";
}

/* The first word that suggests a role. Quasi-identifiers come last: a "birth name" is a name. */
static const hint *find_hint(const char *name)
{
    const hint *quasi = NULL;
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
        if (!kn_name_says(name, hints[i].word)) continue;
        if (hints[i].role != KN_ROLE_QUASI) return &hints[i];
        quasi = &hints[i];
    }
    return quasi;
}

/* `commas`: it is text, but of numbers with a decimal comma. */
static void suggest_role(kn_column_profile *p, bool commas, int64_t rows)
{
    int64_t     present = rows - p->missing;
    const hint *named = find_hint(p->name);
    double      unique = present > 0 ? (double)p->unique_rows / (double)present : 0;
    kn_type     type = commas ? KN_TYPE_DECIMAL : p->type;
    bool        number = type == KN_TYPE_DECIMAL || type == KN_TYPE_INTEGER;
    p->role = KN_ROLE_QUASI;
    p->reason = "others may know it; to be safe";
    bool person = named && named->role == KN_ROLE_IDENTIFIER;
    if (p->distinct <= 1 && p->missing == 0 && !person) {
        p->role = KN_ROLE_KEEP;
        p->reason = "it has the same value in every row";
    } else if (named && named->role == KN_ROLE_WEIGHT) {
        if (number) {
            p->role = named->role;
            p->reason = hint_reason(named->role);
        }
    } else if (named && named->role != KN_ROLE_QUASI) {
        p->role = named->role;
        p->reason = hint_reason(named->role);
    } else if (named || type == KN_TYPE_DATE || type == KN_TYPE_DATETIME) {
        return; /* however many there are: a day and a place can be blurred */
    } else if (present >= 10 && unique > 0.9 && type != KN_TYPE_DECIMAL) {
        p->role = KN_ROLE_IDENTIFIER;
        p->reason = "nearly every row has a value of its own";
    } else if (present >= 10 && type == KN_TYPE_TEXT && (double)p->distinct > 0.5 * (double)present) {
        p->role = KN_ROLE_IDENTIFIER;
        p->reason = "so many different texts look like free text";
    }
}

static kn_status profile_column(kn_column_profile *p, kn_context *ctx, const kn_table *table, int column, bool commas,
                                kn_error *err)
{
    const kn_column *c = &table->columns[column];
    kn_freq         *freq = NULL;
    p->name = kn_strndup(ctx, c->name, strlen(c->name)); /* the profile may outlive the table */
    if (!p->name) return kn_fail_memory(err, ctx, "profiling");
    KN_TRY(kn_freq_of_table(&freq, ctx, table, &column, 1, err));
    *p = (kn_column_profile){.name = p->name,
                             .type = c->type,
                             .distinct = c->dict.count,
                             .missing = c->missing,
                             .respelled = c->respelled,
                             .ambiguous_dates = c->ambiguous_date};
    for (int64_t i = 0; i < freq->classes; i++) {
        uint32_t code = kn_freq_code(freq, i, 0);
        int64_t  n = freq->counts[i];
        double   share = (double)n / (double)freq->rows;
        p->entropy -= share * log2(share);
        p->unique_rows += n == 1 && code < c->dict.count;
        if (n > p->most_common_rows) {
            p->most_common_rows = n;
            p->most_common = code;
        }
    }
    if (p->entropy < 0) p->entropy = 0; /* a single value gives -0 */
    kn_freq_free(freq);
    suggest_role(p, commas && kn_column_decimal_commas(c), kn_table_total(table));
    return KN_OK;
}

kn_status kn_profile_table(kn_profile **out, kn_context *ctx, const kn_table *table, kn_error *err)
{
    *out = NULL;
    KN_SERVE(ctx, err);
    kn_profile *profile = kn_alloc_zero(ctx, sizeof *profile);
    if (!profile) return kn_fail_memory(err, ctx, "profiling");
    profile->rows = kn_table_total(table);
    profile->columns = table->column_count;
    profile->column = kn_alloc_array_zero(ctx, (size_t)table->column_count, sizeof *profile->column);
    kn_status st = profile->column ? KN_OK : kn_fail_memory(err, ctx, "profiling");
    bool      commas = kn_table_decimal_commas(table);
    for (int c = 0; c < table->column_count && st == KN_OK; c++)
        st = profile_column(&profile->column[c], ctx, table, c, commas, err);
    if (st != KN_OK) {
        kn_profile_free(profile);
        return st;
    }
    *out = profile;
    return KN_OK;
}

void kn_profile_free(kn_profile *profile)
{
    if (!profile) return;
    for (int c = 0; profile->column && c < profile->columns; c++) kn_free((char *)profile->column[c].name);
    KN_FREE(profile->column, profile);
}
