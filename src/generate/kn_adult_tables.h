/* kn_adult_tables.h: the numbers behind adult-like tables: values of each column and weights of their dependencies.
 *
 * Rounded by hand from the published summary of the UCI Adult data (1994 census, 30,162 complete rows). The order of
 * the values is the order of the weights. Included by kn_kind_adult.c only.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_ADULT_TABLES_H
#define KN_ADULT_TABLES_H

#include <stdint.h>

/* Padded to a fixed size: a cell is copied without looking at its length. */
typedef struct adult_value {
    char    text[31];
    uint8_t size;
} adult_value;

#define V(text)                                                                                                        \
    {                                                                                                                  \
        text, sizeof text - 1                                                                                          \
    }

enum {
    FIRST_AGE = 17,
    AGES = 74,
    SEXES = 2,
    RACES = 5,
    MARITALS = 7,
    EDUCATIONS = 16,
    COUNTRIES = 41,
    COUNTRY_GROUPS = 3,
    WORKCLASSES = 7,
    OCCUPATIONS = 14,
    SALARIES = 2,
    MARITAL_BANDS = 14,
    EDUCATION_BANDS = 9,
    OCCUPATION_BANDS = 8
};

static const adult_value sexes[SEXES] = {V("Male"), V("Female")};
static const adult_value races[RACES] = {V("White"), V("Black"), V("Asian-Pac-Islander"), V("Amer-Indian-Eskimo"),
                                         V("Other")};
static const adult_value maritals[MARITALS] = {V("Married-civ-spouse"), V("Never-married"), V("Divorced"),
                                               V("Separated"),          V("Widowed"),       V("Married-spouse-absent"),
                                               V("Married-AF-spouse")};
static const adult_value educations[EDUCATIONS] = {V("Preschool"), V("1st-4th"),      V("5th-6th"),     V("7th-8th"),
                                                   V("9th"),       V("10th"),         V("11th"),        V("12th"),
                                                   V("HS-grad"),   V("Some-college"), V("Assoc-voc"),   V("Assoc-acdm"),
                                                   V("Bachelors"), V("Masters"),      V("Prof-school"), V("Doctorate")};
static const adult_value countries[COUNTRIES] = {V("United-States"),
                                                 V("Mexico"),
                                                 V("Philippines"),
                                                 V("Germany"),
                                                 V("Puerto-Rico"),
                                                 V("Canada"),
                                                 V("India"),
                                                 V("El-Salvador"),
                                                 V("Cuba"),
                                                 V("England"),
                                                 V("Jamaica"),
                                                 V("South"),
                                                 V("Italy"),
                                                 V("China"),
                                                 V("Dominican-Republic"),
                                                 V("Vietnam"),
                                                 V("Guatemala"),
                                                 V("Japan"),
                                                 V("Poland"),
                                                 V("Columbia"),
                                                 V("Iran"),
                                                 V("Taiwan"),
                                                 V("Haiti"),
                                                 V("Portugal"),
                                                 V("Nicaragua"),
                                                 V("Peru"),
                                                 V("Greece"),
                                                 V("Ecuador"),
                                                 V("France"),
                                                 V("Ireland"),
                                                 V("Hong"),
                                                 V("Cambodia"),
                                                 V("Trinadad&Tobago"),
                                                 V("Thailand"),
                                                 V("Laos"),
                                                 V("Yugoslavia"),
                                                 V("Outlying-US(Guam-USVI-etc)"),
                                                 V("Hungary"),
                                                 V("Honduras"),
                                                 V("Scotland"),
                                                 V("Holand-Netherlands")};
static const adult_value workclasses[WORKCLASSES] = {V("Private"),    V("Self-emp-not-inc"), V("Self-emp-inc"),
                                                     V("Local-gov"),  V("State-gov"),        V("Federal-gov"),
                                                     V("Without-pay")};
static const adult_value occupations[OCCUPATIONS] = {
    V("Adm-clerical"),    V("Armed-Forces"),      V("Craft-repair"),      V("Exec-managerial"),
    V("Farming-fishing"), V("Handlers-cleaners"), V("Machine-op-inspct"), V("Other-service"),
    V("Priv-house-serv"), V("Prof-specialty"),    V("Protective-serv"),   V("Sales"),
    V("Tech-support"),    V("Transport-moving")};
static const adult_value salaries[SALARIES] = {V("<=50K"), V(">50K")};

/* Age 17, 18, ..., 90 (which stands for 90 and above), per 10,000. */
static const uint32_t age_weights[AGES] = {109, 148, 197, 209, 206, 223, 273, 249, 265, 247, 262, 268, 257, 270, 282,
                                           262, 278, 277, 275, 282, 275, 262, 261, 254, 255, 246, 246, 233, 234, 236,
                                           226, 173, 184, 191, 189, 151, 149, 131, 128, 114, 112, 114, 110, 92,  86,
                                           71,  62,  57,  45,  36,  37,  30,  27,  21,  18,  13,  16,  13,  11,  10,
                                           7,   5,   5,   5,   4,   3,   2,   2,   1,   1,   1,   1,   1,   12};

/* The ages at which the bands end, for what depends on age. */
static const int marital_band_ends[MARITAL_BANDS - 1] = {20, 23, 26, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75};
static const int education_band_ends[EDUCATION_BANDS - 1] = {18, 20, 22, 25, 30, 40, 50, 60};
static const int occupation_band_ends[OCCUPATION_BANDS - 1] = {20, 25, 30, 40, 50, 60, 65};

/* Sex by age band (of marital status), per 1,000. */
static const uint32_t sex_weights[MARITAL_BANDS][SEXES] = {{516, 484}, {549, 451}, {614, 386}, {658, 342}, {704, 296},
                                                           {711, 289}, {706, 294}, {697, 303}, {728, 272}, {718, 282},
                                                           {704, 296}, {664, 336}, {661, 339}, {695, 305}};

/* Race by sex, per 1,000. */
static const uint32_t race_weights[SEXES][RACES] = {{885, 70, 29, 9, 7}, {807, 143, 30, 11, 9}};

/* Country by race, per 10,000. */
static const uint32_t country_weights[RACES][COUNTRIES] = {
    {9339, 216, 3,  46, 30, 40, 3, 37, 34, 30, 2, 1, 26, 1, 14, 1, 23, 7, 21, 19, 13,
     1,    1,   13, 10, 11, 11, 7, 10, 9,  1,  1, 1, 1,  1, 6,  3, 5,  4, 4,  1},
    {9333, 14,  4, 21, 32, 1, 7, 4, 11, 25, 263, 0,  0, 0, 43, 0,  0, 11, 0, 0, 0,
     0,    146, 0, 7,  0,  0, 0, 4, 0,  0,  0,   53, 0, 0, 0,  21, 0, 4,  0, 0},
    {3050, 11, 1989, 22, 11, 11, 950, 0, 0,  11,  0,   760, 0,   737, 11, 693, 0, 413, 11, 0, 67,
     447,  11, 11,   0,  0,  11, 0,   0, 11, 179, 201, 22,  168, 190, 0,  0,   0, 0,   0,  0},
    {9476, 280, 35, 35, 35, 0, 0, 0, 0, 0,  0, 70, 0, 0, 0, 0, 0, 0, 0, 35, 0,
     0,    0,   0,  0,  0,  0, 0, 0, 0, 34, 0, 0,  0, 0, 0, 0, 0, 0, 0, 0},
    {4892, 1645, 0, 43,  866, 43, 216, 173, 87, 0, 43, 0,  0, 0, 779, 0, 173, 43, 0, 260, 87,
     0,    0,    0, 173, 43,  0,  390, 0,   0,  0, 0,  43, 0, 0, 0,   0, 0,   0,  0, 0}};

/* Marital status by sex and age band, per 1,000. */
static const uint32_t marital_weights[SEXES][MARITAL_BANDS][MARITALS] = {{{17, 980, 1, 1, 0, 1, 0},
                                                                          {116, 861, 9, 7, 0, 7, 0},
                                                                          {254, 702, 21, 16, 0, 7, 0},
                                                                          {467, 457, 49, 18, 1, 6, 2},
                                                                          {623, 260, 84, 22, 1, 10, 0},
                                                                          {700, 160, 105, 27, 2, 6, 0},
                                                                          {730, 99, 131, 25, 3, 12, 0},
                                                                          {779, 69, 119, 14, 5, 14, 0},
                                                                          {817, 48, 103, 13, 10, 9, 0},
                                                                          {808, 55, 92, 17, 20, 8, 0},
                                                                          {847, 34, 83, 9, 18, 9, 0},
                                                                          {837, 38, 51, 11, 54, 9, 0},
                                                                          {809, 44, 43, 12, 86, 6, 0},
                                                                          {667, 135, 14, 2, 163, 19, 0}},
                                                                         {{12, 964, 9, 8, 0, 5, 2},
                                                                          {30, 924, 16, 17, 2, 10, 1},
                                                                          {103, 784, 65, 33, 1, 13, 1},
                                                                          {161, 634, 132, 45, 5, 23, 0},
                                                                          {190, 438, 255, 82, 11, 21, 3},
                                                                          {212, 294, 365, 76, 29, 22, 2},
                                                                          {218, 218, 417, 89, 33, 24, 1},
                                                                          {178, 165, 467, 88, 77, 25, 0},
                                                                          {197, 128, 426, 81, 139, 29, 0},
                                                                          {173, 98, 423, 53, 234, 19, 0},
                                                                          {152, 91, 305, 46, 390, 16, 0},
                                                                          {56, 85, 243, 34, 571, 11, 0},
                                                                          {84, 133, 217, 12, 550, 4, 0},
                                                                          {81, 145, 97, 16, 629, 32, 0}}};

/* Education by age band, per 1,000, for most countries ... */
static const uint32_t education_weights[EDUCATION_BANDS][EDUCATIONS] = {
    {0, 0, 0, 6, 70, 324, 473, 102, 19, 6, 0, 0, 0, 0, 0, 0},
    {0, 0, 1, 9, 8, 42, 177, 75, 354, 327, 3, 2, 1, 1, 0, 0},
    {1, 0, 1, 6, 9, 20, 23, 14, 345, 517, 32, 24, 6, 2, 0, 0},
    {1, 1, 1, 7, 7, 17, 28, 14, 311, 319, 40, 39, 207, 7, 1, 0},
    {1, 1, 2, 5, 9, 22, 25, 8, 345, 216, 51, 40, 226, 35, 11, 3},
    {1, 1, 1, 8, 11, 19, 25, 8, 355, 206, 55, 43, 190, 48, 19, 10},
    {1, 1, 3, 13, 10, 17, 18, 6, 309, 214, 51, 40, 184, 88, 28, 17},
    {1, 5, 7, 28, 18, 36, 27, 10, 354, 184, 34, 26, 145, 83, 21, 21},
    {1, 8, 14, 72, 28, 43, 30, 9, 340, 177, 34, 14, 125, 54, 28, 23}};

/* ... and the factors, in percent, for countries with less and with more schooling. */
static const uint32_t education_factors[COUNTRY_GROUPS][EDUCATIONS] = {
    {100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100},
    {3300, 5200, 5100, 500, 550, 145, 130, 230, 68, 54, 31, 36, 37, 26, 30, 23},
    {880, 60, 300, 72, 74, 39, 71, 17, 60, 71, 79, 90, 172, 209, 248, 476}};

/* Which group a country is in. */
static const uint8_t country_groups[COUNTRIES] = {0, 1, 2, 2, 1, 2, 2, 1, 0, 2, 0, 2, 1, 2, 1, 0, 1, 2, 0, 0, 2,
                                                  2, 1, 1, 1, 0, 0, 0, 2, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0};

/* Occupation by education, per 1,000, ... */
static const uint32_t occupation_weights[EDUCATIONS][OCCUPATIONS] = {
    {44, 0, 89, 0, 200, 44, 246, 311, 44, 22, 0, 0, 0, 0},
    {0, 0, 152, 20, 119, 106, 152, 252, 73, 26, 7, 46, 1, 46},
    {21, 0, 142, 3, 125, 135, 174, 208, 49, 3, 3, 38, 3, 96},
    {20, 0, 199, 32, 124, 83, 165, 163, 14, 14, 16, 52, 9, 109},
    {31, 0, 204, 26, 62, 108, 165, 215, 22, 7, 9, 70, 4, 77},
    {46, 0, 199, 29, 52, 87, 123, 235, 7, 11, 7, 98, 4, 102},
    {64, 0, 165, 31, 35, 116, 94, 227, 13, 19, 7, 134, 6, 89},
    {95, 2, 146, 34, 42, 98, 90, 220, 11, 24, 13, 117, 8, 100},
    {137, 1, 193, 81, 41, 61, 103, 127, 5, 23, 22, 107, 16, 83},
    {189, 0, 128, 130, 26, 39, 46, 114, 2, 63, 30, 149, 41, 43},
    {126, 0, 190, 115, 40, 21, 47, 84, 3, 130, 37, 80, 96, 31},
    {189, 0, 113, 142, 14, 22, 33, 77, 2, 135, 34, 141, 71, 27},
    {99, 0, 44, 264, 15, 10, 12, 34, 1, 290, 20, 157, 44, 10},
    {41, 1, 13, 302, 6, 3, 5, 11, 0, 503, 9, 79, 21, 6},
    {15, 0, 13, 89, 7, 0, 0, 7, 0, 817, 2, 31, 13, 6},
    {11, 0, 5, 144, 3, 0, 3, 0, 0, 805, 0, 21, 5, 3}};

/* ... and the factors, in percent, of sex and of age band. */
static const uint32_t occupation_sex_factors[SEXES][OCCUPATIONS] = {
    {48, 148, 140, 106, 138, 130, 107, 67, 8, 93, 131, 96, 93, 140},
    {208, 0, 17, 88, 20, 37, 85, 169, 291, 114, 36, 107, 115, 18}};
static const uint32_t occupation_age_factors[OCCUPATION_BANDS][OCCUPATIONS] = {
    {114, 0, 31, 20, 87, 147, 40, 189, 129, 89, 46, 186, 42, 26},
    {120, 367, 66, 46, 88, 187, 108, 145, 131, 93, 67, 116, 96, 68},
    {108, 88, 101, 74, 87, 139, 115, 95, 105, 104, 118, 90, 131, 100},
    {89, 125, 123, 102, 93, 93, 111, 88, 49, 101, 115, 86, 101, 107},
    {96, 49, 112, 118, 95, 69, 116, 76, 82, 102, 93, 85, 96, 122},
    {94, 0, 111, 132, 106, 49, 89, 74, 81, 95, 95, 105, 101, 120},
    {97, 0, 87, 119, 150, 44, 66, 99, 125, 106, 120, 116, 93, 112},
    {114, 0, 44, 145, 186, 54, 46, 102, 358, 93, 152, 139, 42, 84}};

/* Workclass by occupation, per 1,000. */
static const uint32_t workclass_weights[OCCUPATIONS][WORKCLASSES] = {
    {751, 13, 8, 76, 67, 84, 1},    {0, 0, 0, 0, 0, 1000, 0},     {780, 130, 25, 35, 14, 16, 0},
    {663, 96, 96, 53, 47, 45, 0},   {455, 435, 52, 29, 15, 8, 6}, {930, 11, 1, 34, 7, 16, 1},
    {956, 18, 5, 6, 7, 7, 1},       {830, 54, 8, 59, 38, 11, 0},  {1000, 0, 0, 0, 0, 0, 0},
    {558, 90, 40, 171, 100, 41, 0}, {289, 9, 8, 472, 180, 42, 0}, {808, 105, 78, 2, 3, 4, 0},
    {793, 29, 3, 42, 61, 72, 0},    {793, 75, 17, 73, 26, 15, 1}};

/* The odds of a salary above 50K are the product of these five numbers, each in hundredths. */
static const uint16_t odds_sex[SEXES] = {41, 29};
static const uint16_t odds_marital[MARITALS] = {236, 24, 30, 26, 41, 29, 400};
static const uint16_t odds_education[EDUCATIONS] = {2, 12, 15, 16, 19, 27, 31, 42, 58, 81, 93, 95, 183, 253, 570, 554};
static const uint16_t odds_occupation[OCCUPATIONS] = {80, 45, 75, 191, 32, 36, 54, 30, 10, 126, 123, 115, 138, 70};
static const uint16_t odds_age[OCCUPATION_BANDS] = {3, 14, 45, 100, 145, 162, 104, 65};

#undef V

#endif
