/* kn_kind_hospital.c: a year's admissions to a hospital, one row each: the table of examples/hospital.
 *
 * Two columns are determined by others: a zip code lies in one city, a diagnosis is treated in one ward. Diagnoses depend on
 * age and sex, and some on the season. examples/hospital/place.csv is the hierarchy of the zip codes: a value without a leaf
 * would fail the example. The model is a few KiB of alias tables; a row takes six random numbers. All of it is invented.
 */
#include "kn_alloc.h"
#include "kn_choice.h"
#include "kn_kind.h"
#include "kn_value.h"

/* A ward has no number of its own: it is the diagnosis's. */
enum { AGE, SEX, ZIP, CITY, ADMITTED, WARD, DIAGNOSIS, COLUMNS };

static const char *const columns[COLUMNS] = {"age", "sex", "zip", "city", "admitted", "ward", "diagnosis"};

enum { CITIES = 6, DECADES = 10, STAGES = 4, SEASONS = 2, DIAGNOSES = 20 };

/* A city has `zips` codes, one after the other. */
static const struct {
    const char *name;
    uint32_t    first, zips, weight;
} cities[CITIES] = {{"Marlow", 20101, 5, 34}, {"Tilden", 20111, 3, 13},  {"Ashby", 20201, 4, 22},
                    {"Corvin", 20211, 3, 11}, {"Norwick", 20301, 3, 13}, {"Eastmoor", 20311, 2, 7}};

/* Age in decades: 0-9, 10-19, ..., 90-99. */
static const uint32_t decade_weights[DECADES] = {70, 50, 85, 100, 105, 135, 160, 160, 110, 25};

static const char *const sexes[2] = {"F", "M"};

/* Weights at ages 0-17, 18-44, 45-64, 65 and above; percent of them for women and men, and in winter (December to March). */
static const struct {
    const char *name, *ward;
    uint32_t    weights[STAGES], sex[2], winter;
} diagnoses[DIAGNOSES] = {{"Influenza", "Internal medicine", {140, 70, 50, 80}, {100, 100}, 350},
                          {"Pneumonia", "Internal medicine", {70, 25, 45, 110}, {90, 110}, 200},
                          {"Asthma", "Internal medicine", {160, 55, 35, 25}, {110, 90}, 130},
                          {"Bronchitis", "Internal medicine", {110, 50, 50, 60}, {100, 100}, 220},
                          {"Type 2 diabetes", "Internal medicine", {3, 35, 110, 120}, {90, 110}, 100},
                          {"Gastritis", "Internal medicine", {30, 75, 70, 45}, {110, 90}, 100},
                          {"Hepatitis C", "Internal medicine", {1, 14, 16, 6}, {70, 130}, 100},
                          {"HIV infection", "Internal medicine", {1, 14, 9, 2}, {50, 150}, 100},
                          {"Hypertension", "Cardiology", {2, 30, 120, 150}, {95, 105}, 110},
                          {"Angina pectoris", "Cardiology", {0, 10, 80, 130}, {75, 125}, 120},
                          {"Heart failure", "Cardiology", {3, 6, 45, 160}, {95, 105}, 130},
                          {"Appendicitis", "Surgery", {90, 60, 20, 10}, {95, 105}, 100},
                          {"Fracture", "Surgery", {180, 90, 75, 130}, {100, 100}, 140},
                          {"Hernia", "Surgery", {20, 40, 60, 55}, {40, 160}, 100},
                          {"Depression", "Psychiatry", {15, 80, 60, 35}, {130, 70}, 120},
                          {"Alcohol dependence", "Psychiatry", {2, 45, 60, 15}, {50, 150}, 100},
                          {"Childbirth", "Obstetrics", {4, 260, 0, 0}, {200, 0}, 100},
                          {"Breast cancer", "Oncology", {0, 14, 45, 35}, {195, 5}, 100},
                          {"Lung cancer", "Oncology", {0, 4, 35, 50}, {80, 120}, 100},
                          {"Stroke", "Neurology", {2, 8, 40, 110}, {95, 105}, 110}};

typedef struct hospital {
    kn_choice city[CITIES];
    kn_choice decade[DECADES];
    kn_choice diagnosis[STAGES][2][SEASONS][DIAGNOSES];
    int64_t   first_day, days; /* the year: 2024 */
} hospital;

static void *create(kn_context *ctx, const kn_generate_options *options)
{
    (void)options;
    hospital *model = kn_alloc(ctx, sizeof *model);
    if (!model) return NULL;
    uint32_t weights[DIAGNOSES];
    for (int c = 0; c < CITIES; c++) weights[c] = cities[c].weight;
    kn_choice_init(model->city, weights, CITIES);
    kn_choice_init(model->decade, decade_weights, DECADES);
    for (int stage = 0; stage < STAGES; stage++)
        for (int sex = 0; sex < 2; sex++)
            for (int season = 0; season < SEASONS; season++) {
                for (int d = 0; d < DIAGNOSES; d++)
                    weights[d] =
                        diagnoses[d].weights[stage] * diagnoses[d].sex[sex] * (season ? diagnoses[d].winter : 100);
                kn_choice_init(model->diagnosis[stage][sex][season], weights, DIAGNOSES);
            }
    model->first_day = kn_days_from_civil(2024, 1, 1);
    model->days = kn_days_from_civil(2025, 1, 1) - model->first_day;
    return model;
}

static void draw_place(const hospital *model, kn_rng *rng, uint32_t *cells)
{
    cells[CITY] = kn_choice_draw(model->city, CITIES, rng);
    cells[ZIP] = cities[cells[CITY]].first + (uint32_t)kn_rng_below(rng, cities[cells[CITY]].zips);
}

static void draw_admission(const hospital *model, kn_rng *rng, uint32_t *cells)
{
    uint32_t age = cells[AGE];
    int      stage = age < 18 ? 0 : age < 45 ? 1 : age < 65 ? 2 : 3;
    int      year, month, day;
    cells[ADMITTED] = (uint32_t)kn_rng_below(rng, (uint64_t)model->days);
    kn_civil_from_days(model->first_day + cells[ADMITTED], &year, &month, &day);
    bool winter = month == 12 || month <= 3;
    cells[DIAGNOSIS] = kn_choice_draw(model->diagnosis[stage][cells[SEX]][winter], DIAGNOSES, rng);
}

static void draw(const void *of, kn_rng *rng, uint32_t *cells)
{
    const hospital *model = of;
    cells[AGE] = kn_choice_draw(model->decade, DECADES, rng) * 10 + (uint32_t)kn_rng_below(rng, 10);
    cells[SEX] = (uint32_t)kn_rng_below(rng, 2);
    draw_place(model, rng, cells);
    draw_admission(model, rng, cells);
}

/* Another admission of the same person: another day and diagnosis, and one time in eight another address. */
static void again(const void *of, kn_rng *rng, uint32_t *cells)
{
    const hospital *model = of;
    if (kn_rng_below(rng, 8) == 0) draw_place(model, rng, cells);
    draw_admission(model, rng, cells);
}

static char *put(const void *of, int column, const uint32_t *cells, char *to)
{
    const hospital *model = of;
    switch (column) {
    case AGE: return kn_synthetic_number(to, cells[AGE]);
    case SEX: return kn_synthetic_text(to, sexes[cells[SEX]]);
    case ZIP: return kn_synthetic_digits(to, cells[ZIP], 5);
    case CITY: return kn_synthetic_text(to, cities[cells[CITY]].name);
    case ADMITTED: return kn_synthetic_date(to, model->first_day + cells[ADMITTED]);
    case WARD: return kn_synthetic_text(to, diagnoses[cells[DIAGNOSIS]].ward);
    default: return kn_synthetic_text(to, diagnoses[cells[DIAGNOSIS]].name);
    }
}

const kn_kind kn_kind_hospital = {
    .name = "hospital",
    .columns = columns,
    .column_count = COLUMNS,
    .cell_count = COLUMNS,
    .may_miss = 1u << ZIP | 1u << CITY,
    .create = create,
    .draw = draw,
    .again = again,
    .put = put,
};
