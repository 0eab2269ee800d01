/* kn_kind_adult.c: rows that look like the UCI Adult census extract.
 *
 * A small chain of dependencies, each column drawn from a table given the columns before it:
 *
 *     age → sex → race → native-country        age, sex → marital-status       age, country → education
 *     age, sex, education → occupation → workclass     age, sex, marital-status, education, occupation → salary-class
 *
 * Where three columns act on one, their effects are multiplied (education's table × factors of sex and age), which
 * keeps the tables short. The model is about 50 KiB of alias tables; a row takes nine random numbers.
 */
#include <string.h>

#include "kn_adult_tables.h"
#include "kn_alloc.h"
#include "kn_choice.h"
#include "kn_hash.h"
#include "kn_kind.h"

/* In the order of the columns. */
enum { SEX, AGE, RACE, MARITAL, EDUCATION, COUNTRY, WORKCLASS, OCCUPATION, SALARY, CELLS };

static const char *const columns[CELLS + 1] = {
    "sex",       "age",        "race",         "marital-status", "education", "native-country",
    "workclass", "occupation", "salary-class", "education-num"};

typedef struct adult {
    kn_choice age[AGES];
    kn_choice sex[MARITAL_BANDS][SEXES];
    kn_choice race[SEXES][RACES];
    kn_choice country[RACES][COUNTRIES];
    kn_choice marital[SEXES][MARITAL_BANDS][MARITALS];
    kn_choice education[COUNTRY_GROUPS][EDUCATION_BANDS][EDUCATIONS];
    kn_choice occupation[OCCUPATION_BANDS][SEXES][EDUCATIONS][OCCUPATIONS];
    kn_choice workclass[OCCUPATIONS][WORKCLASSES];
    uint8_t   marital_band[AGES], education_band[AGES], occupation_band[AGES];
} adult;

static uint8_t band(int age, const int *ends, int count)
{
    int b = 0;
    while (b < count && age >= ends[b]) b++;
    return (uint8_t)b;
}

static void create_education(adult *model)
{
    uint32_t weights[EDUCATIONS];
    for (int group = 0; group < COUNTRY_GROUPS; group++)
        for (int b = 0; b < EDUCATION_BANDS; b++) {
            for (int e = 0; e < EDUCATIONS; e++) weights[e] = education_weights[b][e] * education_factors[group][e];
            kn_choice_init(model->education[group][b], weights, EDUCATIONS);
        }
}

static void create_occupation(adult *model)
{
    uint32_t weights[OCCUPATIONS];
    for (int b = 0; b < OCCUPATION_BANDS; b++)
        for (int sex = 0; sex < SEXES; sex++)
            for (int e = 0; e < EDUCATIONS; e++) {
                for (int o = 0; o < OCCUPATIONS; o++)
                    weights[o] =
                        occupation_weights[e][o] * occupation_sex_factors[sex][o] * occupation_age_factors[b][o];
                kn_choice_init(model->occupation[b][sex][e], weights, OCCUPATIONS);
            }
}

static void *create(kn_context *ctx, const kn_generate_options *options)
{
    (void)options;
    adult *model = kn_alloc(ctx, sizeof *model);
    if (!model) return NULL;
    kn_choice_init(model->age, age_weights, AGES);
    for (int b = 0; b < MARITAL_BANDS; b++) kn_choice_init(model->sex[b], sex_weights[b], SEXES);
    for (int s = 0; s < SEXES; s++) kn_choice_init(model->race[s], race_weights[s], RACES);
    for (int r = 0; r < RACES; r++) kn_choice_init(model->country[r], country_weights[r], COUNTRIES);
    for (int s = 0; s < SEXES; s++)
        for (int b = 0; b < MARITAL_BANDS; b++) kn_choice_init(model->marital[s][b], marital_weights[s][b], MARITALS);
    for (int o = 0; o < OCCUPATIONS; o++) kn_choice_init(model->workclass[o], workclass_weights[o], WORKCLASSES);
    create_education(model);
    create_occupation(model);
    for (int a = 0; a < AGES; a++) {
        model->marital_band[a] = band(FIRST_AGE + a, marital_band_ends, MARITAL_BANDS - 1);
        model->education_band[a] = band(FIRST_AGE + a, education_band_ends, EDUCATION_BANDS - 1);
        model->occupation_band[a] = band(FIRST_AGE + a, occupation_band_ends, OCCUPATION_BANDS - 1);
    }
    return model;
}

/* Occupation, workclass and salary, given the rest. */
static void draw_work(const adult *model, kn_rng *rng, uint32_t *cells)
{
    uint8_t b = model->occupation_band[cells[AGE]];
    cells[OCCUPATION] = kn_choice_draw(model->occupation[b][cells[SEX]][cells[EDUCATION]], OCCUPATIONS, rng);
    cells[WORKCLASS] = kn_choice_draw(model->workclass[cells[OCCUPATION]], WORKCLASSES, rng);

    /* P(above) = odds / (1 + odds), compared in whole numbers. The product stays below 2^37. */
    const uint64_t one = (uint64_t)100 * 100 * 100 * 100 * 100;
    uint64_t odds = (uint64_t)odds_sex[cells[SEX]] * odds_marital[cells[MARITAL]] * odds_education[cells[EDUCATION]] *
                    odds_occupation[cells[OCCUPATION]] * odds_age[b];
    uint64_t bits = kn_rng_next(rng) >> 16;
    cells[SALARY] = (kn_u128)bits * (odds + one) < (kn_u128)odds << 48;
}

static void draw(const void *of, kn_rng *rng, uint32_t *cells)
{
    const adult *model = of;
    uint32_t     age = cells[AGE] = kn_choice_draw(model->age, AGES, rng);
    uint32_t     sex = cells[SEX] = kn_choice_draw(model->sex[model->marital_band[age]], SEXES, rng);
    cells[RACE] = kn_choice_draw(model->race[sex], RACES, rng);
    cells[COUNTRY] = kn_choice_draw(model->country[cells[RACE]], COUNTRIES, rng);
    cells[MARITAL] = kn_choice_draw(model->marital[sex][model->marital_band[age]], MARITALS, rng);
    cells[EDUCATION] =
        kn_choice_draw(model->education[country_groups[cells[COUNTRY]]][model->education_band[age]], EDUCATIONS, rng);
    draw_work(model, rng, cells);
}

/* One record in four is from another year, with other work. */
static void again(const void *of, kn_rng *rng, uint32_t *cells)
{
    const adult *model = of;
    if (kn_rng_below(rng, 4) != 0) return;
    if (cells[AGE] < AGES - 1) cells[AGE]++;
    draw_work(model, rng, cells);
}

static char *put(const void *of, int column, const uint32_t *cells, char *to)
{
    static const adult_value *const values[CELLS] = {sexes,     NULL,        races,       maritals, educations,
                                                     countries, workclasses, occupations, salaries};
    (void)of;
    if (column == AGE) { /* two digits, always */
        uint32_t age = FIRST_AGE + cells[AGE];
        to[0] = (char)('0' + age / 10);
        to[1] = (char)('0' + age % 10);
        return to + 2;
    }
    if (column == CELLS) return kn_synthetic_number(to, cells[EDUCATION] + 1);
    const adult_value *value = &values[column][cells[column]];
    memcpy(to, value->text, sizeof value->text);
    return to + value->size;
}

const kn_kind kn_kind_adult_like = {
    .name = "adult-like",
    .columns = columns,
    .column_count = CELLS,
    .may_miss = 1u << WORKCLASS | 1u << OCCUPATION | 1u << COUNTRY,
    .create = create,
    .draw = draw,
    .again = again,
    .put = put,
};

/* The same rows with one more column that another determines, and that determines it: education-num. */
const kn_kind kn_kind_adult_dependent = {
    .name = "adult-dependent",
    .columns = columns,
    .column_count = CELLS + 1,
    .cell_count = CELLS,
    .may_miss = 1u << WORKCLASS | 1u << OCCUPATION | 1u << COUNTRY,
    .create = create,
    .draw = draw,
    .again = again,
    .put = put,
};
