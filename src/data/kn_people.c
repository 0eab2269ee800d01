/* kn_people.c: do the names of a table and its columns speak of people? Interface: kn_database.h. A guess, for proposals.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_database.h"
#include "kn_names.h"

static const char *const persons[] = {
    "person",    "people",   "patient",   "student",     "pupil",       "customer",   "client",    "user",
    "member",    "employee", "staff",     "citizen",     "resident",    "respondent", "personen",  "kunde",
    "kunden",    "schueler", "schüler",   "mitarbeiter", "versicherte", "personne",   "clients",   "eleves",
    "élèves",    "persona",  "personas",  "clientes",    "alumnos",     "pacientes",  "persons",   "patients",
    "students",  "pupils",   "customers", "users",       "members",     "employees",  "patienten", "studenten",
    "personnes", "usuarios", "mitglied",  "mitglieder",  "teilnehmer",  "klienten",   "bürger",    "buerger",
    "einwohner", "membre",   "membres",   "adherents",   "adhérents",   "miembros",   "socios"};

/* People who are rather there for the persons: they are them only if nothing says more about others. */
static const char *const serving[] = {"teacher",   "teachers", "trainer", "trainers",   "doctor",     "doctors",
                                      "physician", "nurse",    "nurses",  "physicians", "instructor", "instructors",
                                      "lehrer",    "arzt",     "ärzte",   "aerzte",     "pfleger"};

static int count_words(const char *name, const char *const *words, size_t count)
{
    int found = 0;
    for (size_t i = 0; i < count; i++) found += kn_name_says(name, words[i]);
    return found;
}

/* What the names of the columns say. */
static int columns_say(const kn_table *table)
{
    static const char *const words[] = {"name",     "surname", "firstname", "lastname",  "birth",      "birthdate",
                                        "born",     "dob",     "age",       "sex",       "gender",     "email",
                                        "ssn",      "vorname", "nachname",  "alter",     "geschlecht", "geburtsdatum",
                                        "nom",      "prenom",  "prénom",    "naissance", "sexe",       "nombre",
                                        "apellido", "edad",    "sexo",      "nacimiento"};
    int                      found = 0;
    for (int c = 0; c < table->column_count; c++)
        found += count_words(table->columns[c].name, words, sizeof words / sizeof *words);
    return found;
}

int kn_table_people(const char *name, const kn_table *table)
{
    return KN_PEOPLE_TABLE * (count_words(name, persons, sizeof persons / sizeof *persons) +
                              count_words(name, serving, sizeof serving / sizeof *serving)) +
           columns_say(table);
}

int64_t kn_table_person_rank(const char *name, const kn_table *table, int key_count)
{
    bool named = count_words(name, persons, sizeof persons / sizeof *persons) > 0;
    return named && key_count == 1 ? ((int64_t)1 << 40) + table->rows : columns_say(table);
}
