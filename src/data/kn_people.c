/* kn_people.c: do the names of a table and its columns speak of people? Interface: kn_database.h. A guess, for proposals.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_database.h"
#include "kn_names.h"

int kn_table_people(const char *name, const kn_table *table)
{
    static const char *const tables[] = {
        "person",    "people",   "patient",   "student",     "pupil",       "customer",   "client",    "user",
        "member",    "employee", "staff",     "citizen",     "resident",    "respondent", "personen",  "kunde",
        "kunden",    "schueler", "schüler",   "mitarbeiter", "versicherte", "personne",   "clients",   "eleves",
        "élèves",    "persona",  "personas",  "clientes",    "alumnos",     "pacientes",  "persons",   "patients",
        "students",  "pupils",   "customers", "users",       "members",     "employees",  "patienten", "studenten",
        "personnes", "usuarios", "teacher",   "teachers",    "trainer",     "trainers",   "doctor",    "doctors",
        "physician", "nurse",    "nurses",    "physicians",  "instructor",  "instructors"};
    static const char *const columns[] = {"name",     "surname", "firstname", "lastname",  "birth",      "birthdate",
                                          "born",     "dob",     "age",       "sex",       "gender",     "email",
                                          "ssn",      "vorname", "nachname",  "alter",     "geschlecht", "geburtsdatum",
                                          "nom",      "prenom",  "prénom",    "naissance", "sexe",       "nombre",
                                          "apellido", "edad",    "sexo",      "nacimiento"};
    int                      people = 0;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        people += KN_PEOPLE_TABLE * kn_name_says(name, tables[i]);
    for (int c = 0; c < table->column_count; c++)
        for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
            people += kn_name_says(table->columns[c].name, columns[i]);
    return people;
}

int64_t kn_table_person_rank(const char *name, const kn_table *table, int key_count)
{
    int people = kn_table_people(name, table);
    return people >= KN_PEOPLE_TABLE && key_count == 1 ? ((int64_t)1 << 40) + table->rows : people;
}
