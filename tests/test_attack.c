/* test_attack.c: the linking attack: the join against a naive twin that compares every person with every row, overlapping
 * labels of every kind, files through the public function, every failure of memory.
 * SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "testing.h"

#include <kanon/attack.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_attack.h"
#include "kn_link.h"
#include "kn_rng.h"

/* ---- The join ---- */

enum { COLUMNS = 4, MOST_LABELS = 12 };

/* Rows of small numbers as CSV text; 0: an empty cell. Free it. */
static char *random_csv(kn_rng *rng, int columns, int rows, int values, char letter)
{
    char  *csv = malloc((size_t)(rows + 1) * (size_t)columns * 6 + 16);
    size_t used = 0;
    assert_non_null(csv);
    for (int c = 0; c < columns; c++) used += (size_t)sprintf(csv + used, "%sc%d", c ? "," : "", c);
    csv[used++] = '\n';
    for (int r = 0; r < rows; r++) {
        for (int c = 0; c < columns; c++) {
            uint64_t v = kn_rng_below(rng, (uint64_t)values + 1);
            if (c) csv[used++] = ',';
            /* A lone empty cell would be an empty line. */
            if (v > 0 || columns == 1) used += (size_t)sprintf(csv + used, "%c%02d", letter, (int)v);
        }
        csv[used++] = '\n';
    }
    csv[used] = '\0';
    return csv;
}

static kn_table *table_of(kn_context *ctx, const char *csv)
{
    kn_error       err = KN_ERROR_INIT;
    kn_table      *table = NULL;
    kn_csv_options o = KN_CSV_OPTIONS_INIT;
    o.delimiter = ',';
    assert_ok(kn_table_read_csv(&table, ctx, testing_file("table.csv", csv, strlen(csv)), &o, &err), err);
    return table;
}

static void random_cells(kn_rng *rng, kn_cell *cells, uint32_t labels, uint32_t values, uint32_t *members,
                         bool wildcard)
{
    uint32_t used = 0;
    for (uint32_t l = 0; l < labels; l++) {
        uint32_t a = (uint32_t)kn_rng_below(rng, values), b = (uint32_t)kn_rng_below(rng, values), from = used;
        switch (kn_rng_below(rng, 5)) {
        case 0: cells[l] = (kn_cell){KN_CELL_VALUE, a, 0}; break;
        case 1: cells[l] = (kn_cell){KN_CELL_RANGE, a < b ? a : b, a < b ? b : a}; break;
        case 2: cells[l] = (kn_cell){KN_CELL_STAR, 0, 0}; break;
        default:
            for (uint32_t v = 0; v < values; v++)
                if (kn_rng_below(rng, 3) == 0) members[used++] = v;
            cells[l] = (kn_cell){KN_CELL_SET, from, used - from};
        }
    }
    if (wildcard) cells[labels - 1] = (kn_cell){KN_CELL_STAR, 0, 0};
}

static bool twin_covers(const kn_link_attribute *a, uint32_t label, uint32_t value)
{
    const kn_cell *c = &a->cells[label];
    if (a->wildcard && (value == a->values - 1 || label == a->labels - 1)) return true;
    if (c->kind == KN_CELL_VALUE) return c->a == value;
    if (c->kind == KN_CELL_RANGE) return c->a <= value && value <= c->b;
    if (c->kind == KN_CELL_STAR) return true;
    for (uint32_t i = 0; i < c->b; i++)
        if (a->members[c->a + i] == value) return true;
    return false;
}

/* Every person class against every class. */
static void check_join(const kn_link_input *in, const kn_link_result *found)
{
    int64_t certain[2] = {0, 0};
    for (int64_t p = 0; p < in->people->classes; p++) {
        int64_t matches = 0, values[2] = {-1, -1};
        for (int64_t c = 0; c < in->classes->classes; c++) {
            bool match = true;
            for (int a = 0; a < in->attribute_count && match; a++)
                match =
                    twin_covers(&in->attributes[a], kn_freq_code(in->classes, c, a), kn_freq_code(in->people, p, a));
            if (!match || in->rows[c] == 0) continue;
            matches += in->rows[c];
            for (int s = 0; s < in->sensitive_count; s++) {
                int64_t v = in->sensitive[s][c] == KN_LINK_MIXED ? -2 : (int64_t)in->sensitive[s][c];
                values[s] = values[s] == -1 || values[s] == v ? v : -2;
            }
        }
        assert_int_equal(found->matches[p], matches);
        for (int s = 0; s < in->sensitive_count; s++)
            if (values[s] >= 0) certain[s] += in->people->counts[p];
    }
    for (int s = 0; s < in->sensitive_count; s++) assert_int_equal(found->certain[s], certain[s]);
}

static void one_join(kn_context *ctx, kn_rng *rng)
{
    int               columns = 1 + (int)kn_rng_below(rng, COLUMNS), all[COLUMNS] = {0, 1, 2, 3};
    char             *people_csv = random_csv(rng, columns, 1 + (int)kn_rng_below(rng, 200), 6, 'a');
    char             *target_csv = random_csv(rng, columns, 1 + (int)kn_rng_below(rng, 200), MOST_LABELS, 'z');
    kn_table         *people = table_of(ctx, people_csv), *target = table_of(ctx, target_csv);
    kn_link_attribute attributes[COLUMNS];
    static kn_cell    cells[COLUMNS][MOST_LABELS + 2];
    static uint32_t   members[COLUMNS][(MOST_LABELS + 2) * 16];
    kn_error          err = KN_ERROR_INIT;
    kn_link_input     in = {.attribute_count = columns, .attributes = attributes};
    kn_freq          *p = NULL, *t = NULL;
    static int64_t    rows[400];
    static uint32_t   values[2][400];
    const uint32_t   *sensitive[2] = {values[0], values[1]};
    for (int c = 0; c < columns; c++) {
        attributes[c] = (kn_link_attribute){.values = kn_table_distinct(people, c) + 1,
                                            .labels = kn_table_distinct(target, c) + 1,
                                            .cells = cells[c],
                                            .members = members[c],
                                            .wildcard = kn_rng_below(rng, 3) == 0};
        random_cells(rng, cells[c], attributes[c].labels, attributes[c].values, members[c], attributes[c].wildcard);
    }
    assert_ok(kn_freq_of_table(&p, ctx, people, all, columns, &err), err);
    assert_ok(kn_freq_of_table(&t, ctx, target, all, columns, &err), err);
    for (int64_t c = 0; c < t->classes; c++) {
        rows[c] = kn_rng_below(rng, 10) ? t->counts[c] : 0;
        for (int s = 0; s < 2; s++)
            values[s][c] = kn_rng_below(rng, 8) ? (uint32_t)kn_rng_below(rng, 2) : KN_LINK_MIXED;
    }
    in.people = p;
    in.classes = t;
    in.rows = rows;
    in.sensitive_count = (int)kn_rng_below(rng, 3);
    in.sensitive = sensitive;
    for (uint64_t limit = 0; limit < 2; limit++) { /* with lists of pairs, and without any */
        kn_link_result found = {NULL, NULL};
        in.pair_limit = limit;
        assert_ok(kn_link_tables(&found, ctx, &in, &err), err);
        check_join(&in, &found);
        kn_free(found.matches);
        kn_free(found.certain);
    }
    kn_freq_free(p);
    kn_freq_free(t);
    kn_table_free(people);
    kn_table_free(target);
    free(people_csv);
    free(target_csv);
}

static void joins(void **state)
{
    (void)state;
    kn_rng rng;
    kn_rng_init(&rng, testing_seed(), 0);
    for (int round = 0; round < testing_rounds(120); round++) {
        kn_context *ctx = testing_context(1 + round % 3);
        one_join(ctx, &rng);
        testing_context_free(ctx);
    }
}

/* ---- Files ---- */

typedef struct text {
    char  *data;
    size_t size, capacity;
} text;

static void add(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(text *t, const char *format, ...)
{
    va_list args;
    if (t->size + 300 > t->capacity) {
        t->capacity = t->capacity * 2 + 4096;
        t->data = realloc(t->data, t->capacity);
        assert_non_null(t->data);
    }
    va_start(args, format);
    t->size += (size_t)vsnprintf(t->data + t->size, 300, format, args);
    va_end(args);
}

/* What a released row may stand for: ages from .. to, the first digits of the zip, one or all towns. */
typedef struct released {
    int  low, high;
    int  digits, zip;
    int  town; /* -1: any; 10 + group: a group of towns; 100: a set of towns 1 and 2 */
    int  job;
    bool suppressed;
} released;

typedef struct person {
    int age, zip, town, job;
} person;

enum { PEOPLE = 150, ROWS = 200 };
static person   originals[ROWS], people[PEOPLE];
static released rows[ROWS];

static person draw(kn_rng *rng)
{
    return (person){20 + (int)kn_rng_below(rng, 30), 47900 + (int)kn_rng_below(rng, 12), (int)kn_rng_below(rng, 6),
                    (int)kn_rng_below(rng, 3)};
}

static void add_age(text *t, kn_rng *rng, released *r, int age)
{
    static const int widths[] = {1, 5, 10};
    int              width = widths[kn_rng_below(rng, 3)];
    r->low = age / width * width;
    r->high = r->low + width - 1;
    switch (kn_rng_below(rng, 5)) {
    case 0: /* an interval that is no label, open above */
        r->low = age - 2;
        r->high = age + 3;
        add(t, "\"[%d, %d[\"", r->low, r->high + 1);
        break;
    case 1:
        r->low = 0;
        r->high = 1000;
        add(t, "*");
        break;
    default: add(t, width == 1 ? "%d" : "%d-%d", r->low, r->high);
    }
}

/* A release by local recoding: every row goes its own way. */
static void make_release(text *t, kn_rng *rng)
{
    add(t, "age,zip,town,job,other\n");
    for (int i = 0; i < ROWS; i++) {
        released *r = &rows[i];
        person    o = originals[i];
        *r = (released){.job = o.job, .suppressed = kn_rng_below(rng, 12) == 0};
        if (r->suppressed) {
            add(t, "*,*,*,*,*\n");
            continue;
        }
        add_age(t, rng, r, o.age);
        r->digits = (int)kn_rng_below(rng, 6);
        r->zip = o.zip;
        add(t, ",%.*s%.*s", r->digits, (char[]){'4', '7', '9', (char)('0' + o.zip / 10 % 10), (char)('0' + o.zip % 10)},
            5 - r->digits, "*****");
        r->town = o.town;
        switch (kn_rng_below(rng, 4)) {
        case 0: add(t, ",t%d", o.town); break;
        case 1:
            r->town = 10 + o.town / 2;
            add(t, ",g%d", o.town / 2);
            break;
        case 2:
            r->town = o.town == 1 || o.town == 2 ? 100 : -1;
            add(t, r->town == 100 ? ",{t1;t2}" : ",*");
            break;
        default: r->town = -1; add(t, ",*");
        }
        add(t, ",j%d,x\n", o.job);
    }
}

static bool town_matches(const released *r, int town)
{
    if (r->town == -1) return true;
    if (r->town == 100) return town == 1 || town == 2;
    /* Town 5 is not in the hierarchy: only "*" covers it, and its own name. */
    return r->town >= 10 ? town != 5 && town / 2 == r->town - 10 : r->town == town;
}

static bool matches(const person *p, const released *r)
{
    int power = 1;
    for (int i = r->digits; i < 5; i++) power *= 10;
    return !r->suppressed && r->low <= p->age && p->age <= r->high && p->zip / power == r->zip / power &&
           town_matches(r, p->town);
}

static bool equal(const person *p, const person *o)
{
    return p->age == o->age && p->zip == o->zip && p->town == o->town;
}

static void naive(kn_attack_table *out, int64_t *certain, int64_t *by_count, bool after, int64_t k)
{
    *out = (kn_attack_table){.rows = ROWS};
    *certain = 0;
    memset(by_count, 0, (ROWS + 1) * sizeof *by_count);
    for (int p = 0; p < PEOPLE; p++) {
        int64_t n = 0;
        int     job = -1;
        for (int r = 0; r < ROWS; r++) {
            if (!(after ? matches(&people[p], &rows[r]) : equal(&people[p], &originals[r]))) continue;
            n++;
            job = job == -1 || job == originals[r].job ? originals[r].job : -2;
        }
        by_count[n]++;
        out->none += n == 0;
        out->unique += n == 1;
        out->below += n > 0 && n < k;
        *certain += job >= 0;
        if (n > 0 && (out->least == 0 || n < out->least)) out->least = n;
    }
}

static void compare(const kn_attack_table *found, bool after, int64_t k)
{
    kn_attack_table expected;
    int64_t         certain, by_count[ROWS + 1];
    naive(&expected, &certain, by_count, after, k);
    assert_int_equal(found->rows, expected.rows);
    assert_int_equal(found->none, expected.none);
    assert_int_equal(found->unique, expected.unique);
    assert_int_equal(found->below, expected.below);
    assert_int_equal(found->least, expected.least);
    assert_int_equal(found->sensitive_count, 1);
    assert_int_equal(found->certain[0], certain);
    int at = 0;
    for (int64_t n = 1; n <= ROWS; n++) {
        if (by_count[n] == 0) continue;
        assert_true(at < found->count);
        assert_int_equal(found->counts[at].matches, n);
        assert_int_equal(found->counts[at++].people, by_count[n]);
    }
    assert_int_equal(at, found->count);
}

static kn_status make_spec(kn_spec **out, kn_context *ctx, const char *towns, kn_error *err)
{
    char      hierarchy[1200];
    kn_spec  *spec = NULL;
    kn_status st = kn_spec_create(&spec, ctx, err);
    snprintf(hierarchy, sizeof hierarchy, "{role: quasi, hierarchy: \"%s\"}", towns);
    if (st == KN_OK)
        st = kn_spec_set_attribute(spec, "age", "{role: quasi, type: integer, hierarchy: {ranges: [5, 10]}}", "x", err);
    if (st == KN_OK)
        st = kn_spec_set_attribute(spec, "zip", "{role: quasi, type: text, hierarchy: {mask: right}}", "x", err);
    if (st == KN_OK) st = kn_spec_set_attribute(spec, "town", hierarchy, "x", err);
    if (st == KN_OK) st = kn_spec_set_attribute(spec, "absent", "{role: quasi}", "x", err);
    if (st == KN_OK) st = kn_spec_set_role(spec, "job", KN_ROLE_SENSITIVE, err);
    if (st != KN_OK) {
        kn_spec_free(spec);
        spec = NULL;
    }
    *out = spec;
    return st;
}

static const char towns_file[] = "t0;g0;*\nt1;g0;*\nt2;g1;*\nt3;g1;*\nt4;g2;*\n";

typedef struct files {
    const char *release, *original, *external, *towns;
} files;

static files make_files(kn_rng *rng)
{
    text  release = {0}, original = {0}, external = {0};
    files f;
    add(&original, "name,age,zip,town,job\n");
    for (int i = 0; i < ROWS; i++) {
        originals[i] = draw(rng);
        /* Town 5 has no place in the hierarchy: nobody of the original lives there. */
        if (originals[i].town == 5) originals[i].town = 4;
        add(&original, "n%d,%d,%d,t%d,j%d\n", i, originals[i].age, originals[i].zip, originals[i].town,
            originals[i].job);
    }
    make_release(&release, rng);
    add(&external, "who;zip;age;town\n");
    for (int i = 0; i < PEOPLE; i++) {
        people[i] = kn_rng_below(rng, 3) ? originals[kn_rng_below(rng, ROWS)] : draw(rng);
        add(&external, "w%d;%d;%s%d;t%d\n", i, people[i].zip, i % 7 ? "" : "0", people[i].age, people[i].town);
    }
    f.release = testing_file("release.csv", release.data, release.size);
    f.original = testing_file("original.csv", original.data, original.size);
    f.external = testing_file("external.csv", external.data, external.size);
    f.towns = testing_file("towns.csv", towns_file, strlen(towns_file));
    free(release.data);
    free(original.data);
    free(external.data);
    return f;
}

static void whole_attacks(void **state)
{
    (void)state;
    kn_rng rng;
    kn_rng_init(&rng, testing_seed(), 1);
    for (int round = 0; round < testing_rounds(30); round++) {
        files f = make_files(&rng);
        for (int threads = 1; threads <= 8; threads *= 2) {
            kn_context       *ctx = testing_context(threads);
            kn_error          err = KN_ERROR_INIT;
            kn_spec          *spec = NULL;
            kn_attack_report *r = NULL;
            kn_attack_options o = KN_ATTACK_OPTIONS_INIT;
            o.release = f.release;
            o.external = f.external;
            o.original = round % 4 ? f.original : NULL;
            o.k = round % 2 ? 5 : 0;
            assert_ok(make_spec(&spec, ctx, f.towns, &err), err);
            assert_ok(kn_attack(&r, ctx, spec, &o, &err), err);
            assert_int_equal(r->people, PEOPLE);
            assert_int_equal(r->k, round % 2 ? 5 : 2);
            assert_int_equal(r->link_count, 3);
            assert_string_equal(r->links[1], "zip");
            assert_string_equal(r->sensitive[0], "job");
            assert_int_equal(r->has_before, round % 4 != 0);
            compare(&r->after, true, r->k);
            if (r->has_before) compare(&r->before, false, r->k);
            kn_attack_report_free(r);
            kn_spec_free(spec);
            testing_context_free(ctx);
        }
    }
}

/* ---- A small case by hand ---- */

static kn_attack_report *attack_text(kn_context *ctx, kn_spec *spec, const char *release, const char *external,
                                     kn_error *err)
{
    kn_attack_options o = KN_ATTACK_OPTIONS_INIT;
    kn_attack_report *r = NULL;
    o.release = testing_file("small-release.csv", release, strlen(release));
    o.external = testing_file("small-external.csv", external, strlen(external));
    return kn_attack(&r, ctx, spec, &o, err) == KN_OK ? r : NULL;
}

static void by_hand(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(2);
    kn_error    err = KN_ERROR_INIT;
    kn_spec    *spec = NULL;
    assert_ok(kn_spec_create(&spec, ctx, &err), err);
    assert_ok(kn_spec_set_attribute(spec, "age", "{role: quasi, hierarchy: {ranges: [10]}}", "x", &err), err);
    assert_ok(kn_spec_set_role(spec, "sex", KN_ROLE_QUASI, &err), err);
    assert_ok(kn_spec_set_role(spec, "illness", KN_ROLE_SENSITIVE, &err), err);
    /* Two in their twenties with one illness; one all "*" but for the illness, who may be anybody; one suppressed; one whose
     * sex is missing. */
    const char       *release = "age,sex,illness\n20-29,F,flu\n20-29,F,flu\n*,*,*\n*,*,pox\n30-39,,pox\n";
    const char       *external = "name,sex,age\nann,F,23\nbob,M,23\ncim,F,31\ndan,,34\n";
    kn_attack_report *r = attack_text(ctx, spec, release, external, &err);
    if (!r) fail_msg("%s", err.message);
    assert_int_equal(r->after.rows, 5);
    assert_int_equal(r->after.none, 0);
    assert_int_equal(r->after.unique, 2); /* bob and cim: the row that may be anybody */
    assert_int_equal(r->after.least, 1);
    assert_int_equal(r->after.count, 3); /* 1 row: 2 people; 2 rows: dan; 3 rows: ann */
    assert_int_equal(r->after.counts[1].matches, 2);
    assert_int_equal(r->after.counts[2].matches, 3);
    assert_int_equal(r->after.certain[0], 3); /* all but ann, who has flu or pox */
    assert_false(r->has_before);
    kn_attack_report_free(r);
    /* A missing cell agrees with anything. */
    assert_ok(kn_spec_set(spec, "missing", "wildcard", "x", &err), err);
    r = attack_text(ctx, spec, release, external, &err);
    assert_non_null(r);
    assert_int_equal(r->after.unique, 1);           /* bob */
    assert_int_equal(r->after.counts[1].people, 2); /* cim and dan */
    kn_attack_report_free(r);
    kn_spec_free(spec);
    testing_context_free(ctx);
}

static void refusals(void **state)
{
    (void)state;
    kn_context       *ctx = testing_context(1);
    kn_error          err = KN_ERROR_INIT;
    kn_spec          *spec = NULL;
    kn_attack_report *r = NULL;
    kn_attack_options o = KN_ATTACK_OPTIONS_INIT;
    assert_ok(kn_spec_create(&spec, ctx, &err), err);
    assert_ok(kn_spec_set_role(spec, "age", KN_ROLE_QUASI, &err), err);
    assert_int_equal(kn_attack(&r, ctx, NULL, &o, &err), KN_USAGE);
    assert_int_equal(kn_attack(&r, ctx, spec, NULL, &err), KN_USAGE);
    assert_int_equal(kn_attack(&r, ctx, spec, &o, &err), KN_USAGE);
    o.release = "no/such.csv";
    o.external = "-";
    assert_int_equal(kn_attack(&r, ctx, spec, &o, &err), KN_USAGE);
    o.external = "no/such.csv";
    o.k = -1;
    assert_int_equal(kn_attack(&r, ctx, spec, &o, &err), KN_USAGE);
    o.k = 0;
    assert_int_equal(kn_attack(&r, ctx, spec, &o, &err), KN_INPUT);
    assert_null(attack_text(ctx, spec, "size\n1\n", "age\n2\n", &err));
    assert_int_equal(err.status, KN_INPUT);
    assert_non_null(strstr(err.message, "no quasi-identifier in common"));
    /* A release without rows, and nobody outside. */
    r = attack_text(ctx, spec, "age\n", "age\n2\n", &err);
    assert_non_null(r);
    assert_int_equal(r->after.none, 1);
    kn_attack_report_free(r);
    r = attack_text(ctx, spec, "age\n4\n", "age\n", &err);
    assert_non_null(r);
    assert_int_equal(r->people, 0);
    assert_int_equal(r->after.count, 0);
    kn_attack_report_free(r);
    kn_spec_free(spec);
    testing_context_free(ctx);
}

/* ---- Memory ---- */

static void memory_runs_out(void **state)
{
    (void)state;
    kn_rng rng;
    kn_rng_init(&rng, 5, 0);
    files     f = make_files(&rng);
    kn_status st = KN_MEMORY;
    int64_t   refused = 0;
    for (; st != KN_OK; refused += testing_step()) {
        assert_true(refused < 20000);
        testing_allocator counts = {.refuse_at = refused};
        kn_context       *ctx = NULL;
        kn_error          err = KN_ERROR_INIT;
        kn_spec          *spec = NULL;
        kn_attack_report *r = NULL;
        kn_attack_options o = KN_ATTACK_OPTIONS_INIT;
        o.release = f.release;
        o.external = f.external;
        o.original = f.original;
        st = testing_refusing_context(&ctx, &counts, 1, &err);
        if (st == KN_OK) st = make_spec(&spec, ctx, f.towns, &err);
        if (st == KN_OK) st = kn_attack(&r, ctx, spec, &o, &err);
        if (st != KN_OK && st != KN_MEMORY) fail_msg("refused %d: %s", (int)refused, err.message);
        if (st == KN_OK) compare(&r->after, true, 2);
        kn_attack_report_free(r);
        kn_spec_free(spec);
        kn_context_free(ctx);
        assert_int_equal(counts.live, 0);
    }
    assert_true(refused > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joins), cmocka_unit_test(whole_attacks), cmocka_unit_test(by_hand),
        testing_alone(refusals), testing_alone(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
