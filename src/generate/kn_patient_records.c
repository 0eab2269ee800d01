/* kn_patient_records.c: patients as trees: hospitals, the diseases that were treated there, the drugs that were given for
 * them. Interface: kn_patient_records.h; the records of examples/patients.
 *
 * A patient lives near one town and goes to its hospitals more often than to others; hospitals have specialties, and a
 * disease has three drugs that are common, less common and rare. So values are frequent of which some relations are rare:
 * what structural disassociation is for. A record depends on the seed and its number alone.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_patient_records.h"

#include <string.h>

#include "kn_rng.h"

enum { HOSPITALS = 8, TOWNS = 3, DISEASES = 18, DRUGS = 18, DRUGS_OF = 3, MOST = 3 };

static const char *const towns[TOWNS] = {"Marlow", "Ashby", "Norwick"};

/* `favours`: the group of diseases that most of its patients come for; NULL: none. */
static const struct {
    const char *name;
    int         town, weight;
    const char *favours;
} hospitals[HOSPITALS] = {
    {"General Hospital", 0, 9, NULL},        {"Lakeside Clinic", 0, 5, "Lung disease"},
    {"St. Mary's", 0, 3, "Mental illness"},  {"River Hospital", 1, 7, NULL},
    {"Heart Centre", 1, 3, "Heart disease"}, {"Old Mill Clinic", 1, 2, "Stomach disorder"},
    {"Hill Hospital", 2, 6, NULL},           {"Forest Clinic", 2, 2, "Lung disease"},
};

/* `drugs`: common, less common, rare. */
static const struct {
    const char *name, *group;
    int         weight, drugs[DRUGS_OF];
} diseases[DISEASES] = {
    {"Influenza", "Lung disease", 12, {0, 14, 3}},    {"Bronchitis", "Lung disease", 10, {3, 12, 4}},
    {"Pneumonia", "Lung disease", 5, {3, 4, 13}},     {"Asthma", "Lung disease", 7, {12, 13, 10}},
    {"Gastritis", "Stomach disorder", 9, {16, 1, 3}}, {"Appendicitis", "Stomach disorder", 4, {1, 2, 3}},
    {"Diarrhea", "Stomach disorder", 6, {17, 3, 0}},  {"Hypertension", "Heart disease", 11, {6, 5, 10}},
    {"Angina", "Heart disease", 5, {7, 5, 0}},        {"Heart failure", "Heart disease", 4, {6, 5, 7}},
    {"Depression", "Mental illness", 7, {9, 10, 8}},  {"Anxiety", "Mental illness", 5, {10, 9, 5}},
    {"Dementia", "Mental illness", 2, {8, 10, 9}},    {"HIV infection", "Virus infection", 1, {15, 14, 3}},
    {"Hepatitis", "Virus infection", 2, {15, 0, 14}}, {"Shingles", "Virus infection", 3, {14, 1, 2}},
    {"Diabetes", "Metabolic disease", 8, {11, 6, 5}}, {"Gout", "Metabolic disease", 3, {1, 0, 2}},
};

static const struct {
    const char *name, *group;
} drugs[DRUGS] = {
    {"Paracetamol", "Painkiller"},      {"Ibuprofen", "Painkiller"},       {"Morphine", "Painkiller"},
    {"Amoxicillin", "Antibiotic"},      {"Azithromycin", "Antibiotic"},    {"Bisoprolol", "Heart drug"},
    {"Ramipril", "Heart drug"},         {"Nitroglycerin", "Heart drug"},   {"Donepezil", "Psychiatric drug"},
    {"Sertraline", "Psychiatric drug"}, {"Lorazepam", "Psychiatric drug"}, {"Insulin", "Metabolic drug"},
    {"Salbutamol", "Lung drug"},        {"Budesonide", "Lung drug"},       {"Aciclovir", "Antiviral"},
    {"Tenofovir", "Antiviral"},         {"Omeprazole", "Stomach drug"},    {"Loperamide", "Stomach drug"},
};

static int below(kn_rng *rng, int bound)
{
    return (int)kn_rng_below(rng, (uint64_t)bound);
}

/* 1 to MOST: half, a third, a sixth of the time. */
static int how_many(kn_rng *rng)
{
    int draw = below(rng, 6);
    return draw < 3 ? 1 : draw < 5 ? 2 : 3;
}

/* One of `count` by weight; its weight becomes 0, so that the next one is another. */
static int take(kn_rng *rng, int *weights, int count)
{
    int total = 0, at = 0;
    for (int i = 0; i < count; i++) total += weights[i];
    int draw = below(rng, total);
    for (; draw >= weights[at]; at++) draw -= weights[at];
    weights[at] = 0;
    return at;
}

/* ---- A record: each value is drawn and written at once ---- */

typedef struct writing {
    kn_buffer      *to;
    kn_patient_form form;
    kn_rng          rng;
} writing;

static const char *const classes[] = {"hospital", "disease", "drug"};

/* Begins node number `at` of its siblings. */
static void begin_node(writing *w, int depth, int at, const char *value)
{
    if (w->form == KN_PATIENT_XML)
        kn_buffer_format(w->to, "%*s<%s name=\"%s\"", 2 * depth + 2, "", classes[depth], value);
    else if (at == 0)
        kn_buffer_format(w->to, ", \"%s\": [{\"name\": \"%s\"", classes[depth], value);
    else
        kn_buffer_format(w->to, ", {\"name\": \"%s\"", value);
}

/* Says whether the node that was begun has children. */
static void open_node(writing *w, bool any)
{
    if (w->form == KN_PATIENT_XML) kn_buffer_add(w->to, any ? ">\n" : "/>\n");
}

static void end_node(writing *w, int depth, bool any, bool last)
{
    if (w->form == KN_PATIENT_JSON_LINES)
        kn_buffer_add(w->to, last ? "}]" : "}");
    else if (any)
        kn_buffer_format(w->to, "%*s</%s>\n", 2 * depth + 2, "", classes[depth]);
}

/* None, one or two drugs. */
static void write_drugs(writing *w, int disease, int count)
{
    int weights[DRUGS_OF] = {12, 5, 1};
    for (int i = 0; i < count; i++) {
        begin_node(w, 2, i, drugs[diseases[disease].drugs[take(&w->rng, weights, DRUGS_OF)]].name);
        open_node(w, false);
        end_node(w, 2, false, i == count - 1);
    }
}

static void write_diseases(writing *w, int hospital, int count)
{
    const char *favours = hospitals[hospital].favours;
    int         weights[DISEASES];
    for (int d = 0; d < DISEASES; d++)
        weights[d] = diseases[d].weight * (favours && strcmp(favours, diseases[d].group) == 0 ? 12 : 1);
    for (int i = 0; i < count; i++) {
        int disease = take(&w->rng, weights, DISEASES);
        int given = below(&w->rng, 10) < 6 ? 1 : below(&w->rng, 3) == 0 ? 2 : 0;
        begin_node(w, 1, i, diseases[disease].name);
        open_node(w, given > 0);
        write_drugs(w, disease, given);
        end_node(w, 1, given > 0, i == count - 1);
    }
}

static void write_hospitals(writing *w)
{
    int home = below(&w->rng, 10), count = how_many(&w->rng), weights[HOSPITALS];
    home = home < 5 ? 0 : home < 8 ? 1 : 2;
    for (int h = 0; h < HOSPITALS; h++) weights[h] = hospitals[h].weight * (hospitals[h].town == home ? 6 : 1);
    for (int i = 0; i < count; i++) {
        int hospital = take(&w->rng, weights, HOSPITALS);
        begin_node(w, 0, i, hospitals[hospital].name);
        open_node(w, true);
        write_diseases(w, hospital, how_many(&w->rng));
        end_node(w, 0, true, i == count - 1);
    }
}

void kn_patient_begin(kn_buffer *to, kn_patient_form form)
{
    if (form == KN_PATIENT_XML) kn_buffer_add(to, "<patients>\n");
}

void kn_patient_record(kn_buffer *to, kn_patient_form form, int64_t number, uint64_t seed)
{
    writing w = {.to = to, .form = form};
    kn_rng_init(&w.rng, seed, (uint64_t)number);
    kn_buffer_format(to, form == KN_PATIENT_XML ? "<patient id=\"%lld\">\n" : "{\"id\": %lld", (long long)number + 1);
    write_hospitals(&w);
    kn_buffer_add(to, form == KN_PATIENT_XML ? "</patient>\n" : "}\n");
}

void kn_patient_end(kn_buffer *to, kn_patient_form form)
{
    if (form == KN_PATIENT_XML) kn_buffer_add(to, "</patients>\n");
}

/* ---- Files beside it ---- */

const char *kn_patient_file_name(int file)
{
    static const char *const names[] = {"hospital.csv", "disease.csv", "drug.csv", "release.yaml"};
    return file >= 0 && file < (int)(sizeof names / sizeof *names) ? names[file] : NULL;
}

static void write_release_file(kn_buffer *to)
{
    kn_buffer_add(to, "kanon: 1\n"
                      "input: patients.xml\n"
                      "output: release.xml\n"
                      "report: report.html\n"
                      "record: patient\n"
                      "classes:\n"
                      "  hospital: {value: \"@name\", hierarchy: hospital.csv}\n"
                      "  disease: {value: \"@name\", hierarchy: disease.csv}\n"
                      "  drug: {value: \"@name\", hierarchy: drug.csv}\n"
                      "privacy: [{k-mn: {k: 5, m: 2, n: 1}}]\n");
}

void kn_patient_file(kn_buffer *to, int file)
{
    switch (file) {
    case 0:
        for (int h = 0; h < HOSPITALS; h++)
            kn_buffer_format(to, "%s;Hospital in %s;Hospital;*\n", hospitals[h].name, towns[hospitals[h].town]);
        break;
    case 1:
        for (int d = 0; d < DISEASES; d++)
            kn_buffer_format(to, "%s;%s;Disease;*\n", diseases[d].name, diseases[d].group);
        break;
    case 2:
        for (int d = 0; d < DRUGS; d++) kn_buffer_format(to, "%s;%s;Drug;*\n", drugs[d].name, drugs[d].group);
        break;
    default: write_release_file(to);
    }
}
