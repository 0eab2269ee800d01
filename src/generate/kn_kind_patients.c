/* kn_kind_patients.c: a hospital's list of patients, for demonstrations: text with leading zeros, dates, a sensitive
 * column that depends on age and sex.
 *
 * Names are strings of syllables: some 40,000 given and 1.2 million family names, so that a name is nearly an identifier.
 * Zip codes fall into AREAS areas (the first three digits), the first ones being large towns. Ages are those on
 * 2024-12-31. The model is a few KiB of alias tables; a row takes about ten random numbers.
 */
#include "kn_alloc.h"
#include "kn_choice.h"
#include "kn_kind.h"
#include "kn_value.h"

/* Columns; the name has two cells, the second one behind the columns. */
enum { NAME, ZIP, BIRTH, SEX, COUNTRY, DIAGNOSIS, COLUMNS, FAMILY = COLUMNS, CELLS };

static const char *const columns[COLUMNS] = {"name", "zip", "birth-date", "sex", "country", "diagnosis"};

enum { SYLLABLES = 36, ENDINGS = 32, AREAS = 24, DECADES = 10, COUNTRIES = 12, DIAGNOSES = 20 };

static const char syllables[SYLLABLES][4] = {"ba", "be",  "bri", "ca",  "cor", "da",  "del", "do", "el",
                                             "fa", "fer", "ga",  "gri", "ha",  "hel", "is",  "ja", "jo",
                                             "ka", "kri", "la",  "le",  "mar", "mi",  "na",  "no", "or",
                                             "pe", "ra",  "ri",  "sa",  "sil", "ta",  "tor", "va", "wil"};
static const char endings[ENDINGS][4] = {"a",  "an", "ar", "as", "ba",  "da", "den", "do", "dra", "el",  "en",
                                         "er", "ia", "in", "is", "ka",  "la", "len", "lo", "man", "mon", "na",
                                         "ne", "ni", "on", "ra", "ric", "ro", "sen", "ta", "to",  "win"};

/* The first three digits of the zip codes, most populous first. */
static const uint16_t area_codes[AREAS] = {479, 462, 21,  606, 13,  463, 100, 941, 752, 303, 981, 48,
                                           331, 802, 554, 191, 850, 613, 372, 435, 64,  970, 5,   799};
static const uint32_t area_weights[AREAS] = {140, 110, 90, 80, 70, 60, 55, 50, 45, 40, 36, 32,
                                             29,  26,  24, 21, 19, 17, 15, 12, 10, 8,  6,  5};

/* Age in decades: 0-9, 10-19, ..., 90-99. */
static const uint32_t decade_weights[DECADES] = {60, 45, 90, 110, 120, 150, 165, 150, 90, 20};

static const char *const sexes[3] = {"F", "M", "X"};
static const uint32_t    sex_weights[3] = {520, 475, 5};

static const char *const countries[COUNTRIES] = {"United States", "Mexico",      "India",   "Canada",
                                                 "China",         "Philippines", "Vietnam", "Germany",
                                                 "Cuba",          "Jamaica",     "Nigeria", "Portugal"};
static const uint32_t    country_weights[COUNTRIES] = {780, 70, 28, 22, 20, 18, 14, 13, 12, 10, 8, 5};

static const char *const diagnoses[DIAGNOSES] = {"Influenza",       "Asthma",          "Bronchitis",    "Pneumonia",
                                                 "Type 2 diabetes", "Hypertension",    "Heart disease", "Stroke",
                                                 "Fracture",        "Appendicitis",    "Gastritis",     "Migraine",
                                                 "Depression",      "Anxiety",         "HIV infection", "Breast cancer",
                                                 "Lung cancer",     "Prostate cancer", "Pregnancy",     "Dementia"};

/* Ages 0-17, 18-44, 45-64, 65 and above. */
enum { STAGES = 4 };
static const uint32_t diagnosis_weights[STAGES][DIAGNOSES] = {
    {260, 190, 130, 70, 4, 3, 8, 1, 170, 80, 40, 25, 12, 15, 1, 0, 0, 0, 0, 0},
    {150, 60, 55, 25, 45, 50, 15, 5, 90, 45, 70, 75, 90, 85, 14, 14, 3, 0, 120, 0},
    {80, 35, 50, 35, 150, 190, 90, 30, 60, 18, 65, 35, 60, 45, 9, 40, 30, 28, 0, 4},
    {70, 20, 55, 85, 140, 180, 170, 85, 90, 6, 35, 8, 35, 20, 2, 28, 45, 50, 0, 95}};

/* What a sex cannot have, or seldom has, in percent of the weights above. */
static const uint32_t diagnosis_sex_factors[3][DIAGNOSES] = {
    {100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 130, 120, 120, 60, 200, 100, 0, 200, 100},
    {100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 70, 80, 80, 140, 2, 100, 200, 0, 100},
    {100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 0, 100}};

typedef struct patients {
    kn_choice area[AREAS];
    kn_choice decade[DECADES];
    kn_choice sex[3];
    kn_choice country[COUNTRIES];
    kn_choice diagnosis[STAGES][3][DIAGNOSES];
    int64_t   today; /* days since 1970-01-01 */
} patients;

static void *create(kn_context *ctx, const kn_generate_options *options)
{
    (void)options;
    patients *model = kn_alloc(ctx, sizeof *model);
    if (!model) return NULL;
    kn_choice_init(model->area, area_weights, AREAS);
    kn_choice_init(model->decade, decade_weights, DECADES);
    kn_choice_init(model->sex, sex_weights, 3);
    kn_choice_init(model->country, country_weights, COUNTRIES);
    for (int stage = 0; stage < STAGES; stage++)
        for (int sex = 0; sex < 3; sex++) {
            uint32_t weights[DIAGNOSES];
            for (int d = 0; d < DIAGNOSES; d++)
                weights[d] = diagnosis_weights[stage][d] * diagnosis_sex_factors[sex][d];
            kn_choice_init(model->diagnosis[stage][sex], weights, DIAGNOSES);
        }
    model->today = kn_days_from_civil(2024, 12, 31);
    return model;
}

static void draw_zip(const patients *model, kn_rng *rng, uint32_t *cells)
{
    uint32_t area = area_codes[kn_choice_draw(model->area, AREAS, rng)];
    cells[ZIP] = area * 100 + (uint32_t)kn_rng_below(rng, 30);
}

static void draw_diagnosis(const patients *model, kn_rng *rng, uint32_t *cells)
{
    int64_t days = model->today - (int64_t)(int32_t)cells[BIRTH];
    int64_t years = days * 400 / 146097; /* the calendar's mean year */
    int     stage = years < 18 ? 0 : years < 45 ? 1 : years < 65 ? 2 : 3;
    cells[DIAGNOSIS] = kn_choice_draw(model->diagnosis[stage][cells[SEX]], DIAGNOSES, rng);
}

static void draw(const void *of, kn_rng *rng, uint32_t *cells)
{
    const patients *model = of;
    cells[NAME] = (uint32_t)kn_rng_below(rng, SYLLABLES * SYLLABLES * ENDINGS);
    cells[FAMILY] = (uint32_t)kn_rng_below(rng, SYLLABLES * SYLLABLES * SYLLABLES * ENDINGS);
    draw_zip(model, rng, cells);
    uint32_t decade = kn_choice_draw(model->decade, DECADES, rng);
    uint32_t days = (uint32_t)kn_rng_below(rng, 3652); /* a decade has 3652 or 3653 days */
    cells[BIRTH] = (uint32_t)(int32_t)(model->today - (int64_t)decade * 3652 - (int64_t)days);
    cells[SEX] = kn_choice_draw(model->sex, 3, rng);
    cells[COUNTRY] = kn_choice_draw(model->country, COUNTRIES, rng);
    draw_diagnosis(model, rng, cells);
}

/* Another visit: another diagnosis, and one time in eight another address. */
static void again(const void *of, kn_rng *rng, uint32_t *cells)
{
    const patients *model = of;
    if (kn_rng_below(rng, 8) == 0) draw_zip(model, rng, cells);
    draw_diagnosis(model, rng, cells);
}

/* Writes `count` syllables and an ending, the first letter in upper case. At most 3 × 3 + 3 bytes. */
static char *put_syllables(char *to, uint32_t number, int count)
{
    char *first = to;
    for (int i = 0; i < count; i++, number /= SYLLABLES) to = kn_synthetic_text(to, syllables[number % SYLLABLES]);
    to = kn_synthetic_text(to, endings[number]);
    *first = (char)(*first - 'a' + 'A');
    return to;
}

static char *put(const void *of, int column, const uint32_t *cells, char *to)
{
    (void)of;
    switch (column) {
    case NAME:
        to = put_syllables(to, cells[NAME], 2);
        *to++ = ' ';
        return put_syllables(to, cells[FAMILY], 3);
    case ZIP: return kn_synthetic_digits(to, cells[ZIP], 5);
    case BIRTH: return kn_synthetic_date(to, (int32_t)cells[BIRTH]);
    case SEX: return kn_synthetic_text(to, sexes[cells[SEX]]);
    case COUNTRY: return kn_synthetic_text(to, countries[cells[COUNTRY]]);
    default: return kn_synthetic_text(to, diagnoses[cells[DIAGNOSIS]]);
    }
}

const kn_kind kn_kind_patients = {
    .name = "patients",
    .columns = columns,
    .column_count = COLUMNS,
    .cell_count = CELLS,
    .may_miss = 1u << ZIP | 1u << COUNTRY,
    .create = create,
    .draw = draw,
    .again = again,
    .put = put,
};
