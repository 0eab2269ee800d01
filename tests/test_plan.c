/* test_plan.c: plans and their validation; what a cell covers; released texts read back as cells. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "utility_testing.h"

#include "kn_alloc.h"
#include "kn_cell_parse.h"
#include "kn_plan.h"

/* ---- Plans ---- */

/* Four rows, two classes, the last row suppressed. */
static kn_plan *small_plan(kn_context *ctx, const kn_table *t, const kn_hierarchy *h)
{
    kn_error err = KN_ERROR_INIT;
    kn_plan *p = NULL;
    assert_ok(kn_plan_create(&p, ctx, 4, 2, 2, &err), err);
    static const uint32_t members[] = {0, 2, 0, 1, 2, 0, 1, 2};
    p->members = kn_alloc_array(ctx, 8, sizeof *p->members);
    assert_non_null(p->members);
    memcpy(p->members, members, sizeof members);
    p->member_count = 8;
    p->class_of_row[2] = 1;
    p->class_of_row[3] = KN_CLASS_SUPPRESSED;
    p->class_rows[0] = 2;
    p->class_rows[1] = 1;
    p->suppressed = 1;
    p->cells[0] = (kn_cell){KN_CELL_NODE, kn_hierarchy_of_code(h, kn_table_code(t, 0, 0), 1), 0};
    p->cells[1] = (kn_cell){KN_CELL_RANGE, 0, 1};
    p->cells[2] = (kn_cell){KN_CELL_STAR, 0, 0};
    p->cells[3] = (kn_cell){KN_CELL_SET, 0, 2};
    return p;
}

static const char *const small_names[] = {"a", "b"};
static const char *const small_cells[] = {"x", "1", "y", "2", "z", "3", NULL, NULL};

enum { SAME_CELLS = 18 };

static void damage(kn_plan *p, int what)
{
    switch (what) {
    case 0: p->class_of_row[0] = 2; break;
    case 1: p->class_of_row[0] = KN_CLASS_SUPPRESSED; break;
    case 2: p->suppressed = 0; break;
    case 3: p->class_rows[1] = 2; break;
    case 4: p->class_of_row[2] = 0; break; /* leaves class 1 empty */
    case 5: p->cells[0].a = 1000; break;
    case 6: p->cells[0].kind = 9; break;
    case 7: p->cells[1].b = 3; break;
    case 8: p->cells[1] = (kn_cell){KN_CELL_RANGE, 1, 0}; break;
    case 9: p->cells[1] = (kn_cell){KN_CELL_RANGE, 0, 0}; break; /* covers one of its rows only */
    case 10: p->cells[3].b = 1; break;
    case 11: p->cells[3].a = 7; break;
    case 12: p->members[1] = 0; break;
    case 13: p->members[1] = 4; break;
    case 14: p->cells[2] = (kn_cell){KN_CELL_VALUE, 4, 0}; break;
    case 15: p->cells[2] = (kn_cell){KN_CELL_VALUE, 0, 0}; break; /* of another row */
    case 16: p->cells[3] = (kn_cell){KN_CELL_NODE, 0, 0}; break;  /* of a column without a hierarchy */
    case 17: p->level_count = 1; break;
    case SAME_CELLS: /* the same set from another place */
        p->cells[0] = p->cells[2];
        p->cells[1] = (kn_cell){KN_CELL_SET, 2, 3};
        p->cells[3] = (kn_cell){KN_CELL_SET, 5, 3};
        break;
    default: p->rows = 3; break;
    }
}

static void validation_sees_damage(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_table   *t = NULL;
    kn_error    err = KN_ERROR_INIT;
    const int   quasi[] = {0, 1};
    assert_ok(make_table(&t, ctx, small_names, 2, small_cells, 4, NULL, &err), err);
    const kn_hierarchy *h[] = {hierarchy_of(ctx, "x;g;*\ny;g;*\nz;f;*\n", t, 0), NULL};
    for (int what = -1; what < 20; what++) {
        kn_plan    *p = small_plan(ctx, t, h[0]);
        const char *reason = NULL;
        if (what >= 0) damage(p, what);
        if (kn_plan_validate(p, t, quasi, h, &reason) != (what < 0)) fail_msg("damage %d: %s", what, reason);
        if (what >= 0) assert_non_null(reason);
        if (what == SAME_CELLS) assert_string_equal(reason, "two classes show the same cells");
        kn_plan_free(p);
    }
    kn_hierarchy_free((kn_hierarchy *)h[0]);
    kn_table_free(t);
    testing_context_free(ctx);
}

static void cells_cover_what_they_say(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_table   *t = NULL;
    kn_error    err = KN_ERROR_INIT;
    assert_ok(make_table(&t, ctx, small_names, 2, small_cells, 4, NULL, &err), err);
    kn_hierarchy *h = hierarchy_of(ctx, "x;g;*\ny;g;*\nz;f;*\n", t, 0);
    kn_plan      *p = small_plan(ctx, t, h);
    const struct {
        kn_cell cell;
        bool    covers[4]; /* x, y, z, missing */
    } cases[] = {
        {{KN_CELL_VALUE, 1, 0}, {false, true, false, false}},
        {{KN_CELL_VALUE, 3, 0}, {false, false, false, true}},
        {p->cells[0], {true, true, false, false}},
        {{KN_CELL_NODE, kn_hierarchy_root(h), 0}, {true, true, true, true}},
        {{KN_CELL_RANGE, 1, 2}, {false, true, true, false}},
        {{KN_CELL_SET, 0, 2}, {true, false, true, false}},
        {{KN_CELL_STAR, 0, 0}, {true, true, true, true}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint32_t c = 0; c < 4; c++)
            if (kn_cell_covers(p, &cases[i].cell, c, h) != cases[i].covers[c]) fail_msg("case %zu, code %u", i, c);
    kn_plan_free(p);
    kn_hierarchy_free(h);
    kn_table_free(t);
    testing_context_free(ctx);
}

/* ---- Reading cells: examples ---- */

typedef struct example {
    const char *text;
    const char *covers; /* the codes covered, as digits ('m': missing), sorted; NULL: not a cell */
    int         kind;   /* -1: any */
} example;

/* Which codes a cell covers, as in `example`. */
static void covered_text(char *out, const kn_cell *cell, const kn_cell_members *members, const kn_column *column,
                         const kn_hierarchy *h)
{
    kn_plan plan = {.members = members->codes, .member_count = members->count};
    for (uint32_t c = 0; c <= column->dict.count; c++)
        if (kn_cell_covers(&plan, cell, c, h)) *out++ = c < column->dict.count ? (char)('0' + c) : 'm';
    *out = '\0';
}

static void check_examples(const char *const *cells, int rows, kn_type type, const char *hierarchy, kn_cell_rules rules,
                           const example *examples, int count)
{
    kn_context       *ctx = testing_context(1);
    const char *const names[] = {"c"};
    kn_table         *t = NULL;
    kn_error          err = KN_ERROR_INIT;
    kn_cell_parser   *p = NULL;
    kn_cell_members   members = {.ctx = ctx};
    kn_string         name = kn_string_of(names[0]);
    kn_builder       *b = NULL;
    assert_ok(kn_builder_create(&b, ctx, &name, 1, 1, &err), err);
    uint32_t ids[10];
    int64_t  first;
    for (int r = 0; r < rows; r++)
        ids[r] = cells[r] ? kn_intern(kn_builder_interner(b, 0, 0), kn_string_of(cells[r])) : KN_ID_MISSING;
    assert_ok(kn_builder_extend(b, rows, 0, &first, &err), err);
    kn_builder_write(b, 0, first, ids, rows);
    kn_value_rules  reading = {rules.decimal, NULL};
    kn_builder_type given = {type, rules.format};
    assert_ok(kn_builder_finish(&t, b, &given, &reading, &err), err);
    assert_int_equal(t->columns[0].type, type);
    kn_hierarchy *h = hierarchy ? hierarchy_of(ctx, hierarchy, t, 0) : NULL;
    assert_ok(kn_cell_parser_make(&p, ctx, &t->columns[0], h, &rules, &err), err);
    for (int i = 0; i < count; i++) {
        kn_cell   cell;
        char      found[16] = "";
        kn_status st = kn_cell_parse(&cell, p, kn_string_of(examples[i].text), &members, &err);
        if (!examples[i].covers) {
            if (st != KN_INPUT) fail_msg("\"%s\" is taken for a cell", examples[i].text);
            continue;
        }
        if (st != KN_OK) fail_msg("\"%s\" is no cell: %s", examples[i].text, err.message);
        covered_text(found, &cell, &members, &t->columns[0], h);
        if (strcmp(found, examples[i].covers) != 0)
            fail_msg("\"%s\" covers %s, not %s", examples[i].text, found, examples[i].covers);
        if (examples[i].kind >= 0 && (int)cell.kind != examples[i].kind)
            fail_msg("\"%s\" is of kind %u, not %d", examples[i].text, cell.kind, examples[i].kind);
    }
    kn_cell_members_free(&members);
    kn_cell_parser_free(p);
    kn_hierarchy_free(h);
    kn_table_free(t);
    testing_context_free(ctx);
}

#define EXAMPLES(list) (list), (int)(sizeof(list) / sizeof *(list))
static const kn_cell_rules point = {'.', NULL, NULL};

static void integers_are_read(void **state)
{
    (void)state;
    const char *const cells[] = {"-10", "-5", "0", "7", "20", "25", "30", NULL};
    const example     list[] = {
            {"7", "3", KN_CELL_VALUE},
            {"7.0", "3", KN_CELL_VALUE},
            {"007", "3", KN_CELL_VALUE},
            {" 7 ", "3", KN_CELL_VALUE},
            {"8", NULL, 0},
            {"-5", "1", KN_CELL_VALUE},
            {"", "m", KN_CELL_VALUE},
            {"*", "0123456m", KN_CELL_STAR},
            {"20-30", "456", KN_CELL_RANGE},
            {"[20-30]", "456", KN_CELL_RANGE},
            {"[20, 30]", "456", KN_CELL_RANGE},
            {"[20,30]", "456", KN_CELL_RANGE},
            {"[20,30)", "45", KN_CELL_RANGE},
            {"[20, 30[", "45", KN_CELL_RANGE},
            {"[25, inf)", "56", KN_CELL_RANGE},
            {"(25, inf)", "6", KN_CELL_VALUE},
            {"(-inf, 0]", "012", KN_CELL_RANGE},
            {"(-inf, 0)", "01", KN_CELL_RANGE},
            {"(-inf, inf)", "0123456", KN_CELL_RANGE},
            {"[-inf, 0]", NULL, 0},
            {"[0, inf]", NULL, 0},
            {"(20, 30]", "56", KN_CELL_RANGE},
            {"]20, 30[", "5", -1},
            {"(20,25)", "", KN_CELL_SET},
            {"[20,20)", "", KN_CELL_SET},
            {"20-20", "4", -1},
            {"21-24", "", KN_CELL_SET},
            {"19.5-25.5", "45", KN_CELL_RANGE},
            {"-10--5", "01", KN_CELL_RANGE},
            {"[-10--5]", "01", KN_CELL_RANGE},
            {"-7-7", "123", KN_CELL_RANGE},
            {"[-7, 7]", "123", KN_CELL_RANGE},
            {"[-1e1, 1e1)", "0123", KN_CELL_RANGE},
            {"30-20", NULL, 0},
            {"[30, 20]", NULL, 0},
            {"5--1", NULL, 0},
            {"20, 30", NULL, 0},
            {"20-", NULL, 0},
            {"-20", NULL, 0},
            {"[20]", NULL, 0},
            {"[20,30", NULL, 0},
            {"20-25-30", NULL, 0},
            {"[]", NULL, 0},
            {"[", NULL, 0},
            {"{7;20}", "34", KN_CELL_SET},
            {"{20; 7.0;20}", "34", KN_CELL_SET},
            {"{7}", "3", KN_CELL_VALUE},
            {"{7;}", "3m", KN_CELL_SET},
            {"{7;8}", NULL, 0},
            {"{}", NULL, 0},
            {"seven", NULL, 0},
            {"**", NULL, 0},
    };
    check_examples(cells, 8, KN_TYPE_INTEGER, NULL, point, EXAMPLES(list));
}

static void labels_win_over_intervals(void **state)
{
    (void)state;
    const char *const cells[] = {"7", "20", "25", "30"};
    /* The label 20-30 covers 7 too: it is a name, not an interval. */
    const char    hierarchy[] = "7;20-30;any\n20;20-30;any\n25;rest;any\n30;rest;any\n40;rest;any\n";
    const example list[] = {
        {"20-30", "01", KN_CELL_NODE},  {"[20-30]", "123", KN_CELL_RANGE},
        {"20-25", "12", KN_CELL_RANGE}, {"25", "2", KN_CELL_NODE},
        {"25.0", "2", KN_CELL_VALUE},   {"40", "", KN_CELL_NODE},
        {"any", "0123m", KN_CELL_NODE}, {" rest", "23", KN_CELL_NODE},
        {"*", "0123m", KN_CELL_STAR},   {"{7;40}", "0", -1},
        {"{40}", "", KN_CELL_SET},      {"{7;rest}", NULL, 0},
    };
    check_examples(cells, 4, KN_TYPE_INTEGER, hierarchy, point, EXAMPLES(list));
}

static void decimals_are_read(void **state)
{
    (void)state;
    const char *const cells[] = {"-0.5", "0.1", "1.5", "2.25", "1e3"};
    const example     list[] = {
            {"1.50", "2", KN_CELL_VALUE}, {"0.1-2.25", "123", KN_CELL_RANGE},        {"[-0.5-0.1]", "01", KN_CELL_RANGE},
            {"-0.5--0.5", "0", -1},       {"1e-1-1e3", "1234", KN_CELL_RANGE},       {"[1e-5, 2.25)", "12", KN_CELL_RANGE},
            {"1000", "4", KN_CELL_VALUE}, {"0.1000000000000000000001-1.5", "2", -1}, {"[0.1,0.2,0.3]", NULL, 0},
    };
    check_examples(cells, 5, KN_TYPE_DECIMAL, NULL, point, EXAMPLES(list));
    const char *const   comma_cells[] = {"-0,5", "0,1", "1,5", "2,25"};
    const kn_cell_rules comma = {',', NULL, NULL};
    const example       comma_list[] = {
              {"1,50", "2", KN_CELL_VALUE},
              {"[0,1, 1,5]", "12", KN_CELL_RANGE},
              {"[0,1-1,5]", "12", KN_CELL_RANGE},
              {"[0,1;1,5]", NULL, 0},
              {"[0,1,1]", NULL, 0}, /* 0 to 1,1 or 0,1 to 1 */
              {"[0,1]", "1", -1},   /* no decimal mark is left for a single number: 0 to 1 */
              {"{0,1;1,5}", "12", KN_CELL_SET},
    };
    check_examples(comma_cells, 4, KN_TYPE_DECIMAL, NULL, comma, EXAMPLES(comma_list));
}

static void dates_are_read(void **state)
{
    (void)state;
    const char *const cells[] = {"2020-01-05", "2020-01-20", "2020-02-01", NULL};
    const example     list[] = {
            {"2020-01-20", "1", KN_CELL_VALUE},
            {"2020-01-05-2020-01-31", "01", KN_CELL_RANGE},
            {"[2020-01-05, 2020-02-01)", "01", KN_CELL_RANGE},
            {"[2020-01-06, 2020-02-01]", "12", KN_CELL_RANGE},
            {"[2020-01-05,2020-02-01[", "01", KN_CELL_RANGE},
            {"{2020-01-05;2020-02-01}", "02", KN_CELL_SET},
            {"2020-01", NULL, 0},
            {"2020-02-01-2020-01-05", NULL, 0},
            {"2020-01-05-2020-01", NULL, 0},
    };
    check_examples(cells, 4, KN_TYPE_DATE, NULL, point, EXAMPLES(list));
    const char *const german[] = {"05.01.2020", "20.01.2020", "01.02.2020"};
    const example     german_list[] = {
            {"05.01.2020-31.01.2020", "01", KN_CELL_RANGE},
            {"[2020-01-06, 2020-02-01]", "12", KN_CELL_RANGE}, /* hierarchies speak ISO */
            {"20.1.2020", "1", KN_CELL_VALUE},
    };
    check_examples(german, 3, KN_TYPE_DATE, NULL, point, EXAMPLES(german_list));
    const char *const   dashed[] = {"05-01-2020", "20-01-2020", "01-02-2020"};
    const kn_cell_rules with_format = {'.', "%d-%m-%Y", NULL};
    const example       dashed_list[] = {
              {"05-01-2020-31-01-2020", "01", KN_CELL_RANGE},
              {"[05-01-2020-01-02-2020)", "01", KN_CELL_RANGE},
    };
    check_examples(dashed, 3, KN_TYPE_DATE, NULL, with_format, EXAMPLES(dashed_list));
    const char *const times[] = {"2020-01-05T10:00:00Z", "2020-01-05T12:00:00Z", "2020-01-06T00:00:00Z"};
    const example     times_list[] = {
            {"2020-01-05T11:00:00+01:00", "0", KN_CELL_VALUE},
            {"[2020-01-05T10:00:00Z, 2020-01-06T00:00:00Z)", "01", KN_CELL_RANGE},
            {"2020-01-05 11:00:00-2020-01-06 01:00:00", "12", KN_CELL_RANGE},
    };
    check_examples(times, 3, KN_TYPE_DATETIME, NULL, point, EXAMPLES(times_list));
}

static void texts_have_no_intervals(void **state)
{
    (void)state;
    const char *const cells[] = {"02138", "02139", "a-b", "{x;y}", NULL};
    const example     list[] = {
            {"02138", "0", KN_CELL_VALUE},        {"2138", NULL, 0},           {"02138-02139", NULL, 0},
            {"[02138, 02139]", NULL, 0},          {"a-b", "2", KN_CELL_VALUE}, {"{x;y}", "3", KN_CELL_VALUE},
            {"{02138;a-b;}", "02m", KN_CELL_SET}, {"{a-b;c}", NULL, 0},        {"*", "0123m", KN_CELL_STAR},
    };
    check_examples(cells, 5, KN_TYPE_TEXT, NULL, point, EXAMPLES(list));
}

static void members_in_quotes_are_read(void **state)
{
    (void)state;
    const char *const cells[] = {" lead", "a", "a;b", "b", "q\"q", "{a;b}", NULL};
    const example     list[] = {
            {" lead", "0", KN_CELL_VALUE},
            {"lead", NULL, 0},
            {" a ", "1", KN_CELL_VALUE},
            {"{a;b}", "5", KN_CELL_VALUE},
            {"{b;a}", "13", KN_CELL_SET},
            {"{\"a\";\"b\"}", "13", KN_CELL_SET},
            {"{\"a;b\";b}", "23", KN_CELL_SET},
            {"{\" lead\"; lead;b}", "03", KN_CELL_SET},
            {"{a;\"q\"\"q\"}", "14", KN_CELL_SET},
            {"{a;q\"q}", "14", KN_CELL_SET},
            {"{\"{a;b}\";a;}", "15m", KN_CELL_SET},
            {"{\"a;b}", NULL, 0},
            {"{\"a\"b;a}", NULL, 0},
            {"{\"\"\";a}", NULL, 0},
            {"{\"}", NULL, 0},
    };
    check_examples(cells, 7, KN_TYPE_TEXT, NULL, point, EXAMPLES(list));
    const char *const empty[] = {"", "a", NULL}; /* a value, where missing cells are spelled otherwise */
    const example     empty_list[] = {{"", "0", KN_CELL_VALUE}, {" ", "0", -1}, {"{\"\";a}", "01", KN_CELL_SET}};
    check_examples(empty, 3, KN_TYPE_TEXT, NULL, point, EXAMPLES(empty_list));
}

/* ---- A label at several nodes ---- */

static void a_label_may_stand_at_several_nodes(void **state)
{
    (void)state;
    kn_context       *ctx = testing_context(1);
    const char *const names[] = {"job"}, *const cells[] = {"Maths", "Physics1", "Nurse"};
    kn_table       *t = NULL;
    kn_error        err = KN_ERROR_INIT;
    kn_cell_parser *p = NULL;
    kn_cell_members members = {.ctx = ctx};
    assert_ok(make_table(&t, ctx, names, 1, cells, 3, NULL, &err), err);
    kn_hierarchy *h =
        hierarchy_of(ctx, "Maths;Teaching;Teaching;*\nPhysics1;Physics;Teaching;*\nNurse;Nurse;Health;*\n", t, 0);
    assert_ok(kn_cell_parser_make(&p, ctx, &t->columns[0], h, &point, &err), err);
    const struct {
        const char *texts[2];
        int         level, levels[2];
        uint32_t    covers[2];
    } cases[] = {
        {{"Teaching", "Physics"}, 1, {1, 1}, {1, 1}},
        {{"Teaching", "Health"}, 2, {2, 2}, {2, 1}},
        {{"Teaching", "Maths"}, -1, {1, 0}, {1, 1}},
        {{"Nurse", "Teaching"}, 1, {1, 1}, {1, 1}},
        {{"Nurse", "Maths"}, 0, {0, 0}, {1, 1}},
        {{"", "Teaching"}, 1, {-1, 1}, {0, 1}},
        {{"", "*"}, -1, {-1, 3}, {0, 3}}, /* at the root a missing cell is covered */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kn_string texts[2] = {kn_string_of(cases[i].texts[0]), kn_string_of(cases[i].texts[1])};
        kn_cell   found[2];
        int       level;
        size_t    bad;
        assert_ok(kn_cell_parse_column(found, &level, p, texts, 2, &members, &bad, &err), err);
        if (level != cases[i].level) fail_msg("case %zu: level %d", i, level);
        for (int j = 0; j < 2; j++) {
            if (cases[i].levels[j] < 0) continue;
            assert_int_equal(found[j].kind, KN_CELL_NODE);
            if (h->level[found[j].a] != cases[i].levels[j] || kn_hierarchy_cover(h, found[j].a) != cases[i].covers[j])
                fail_msg("case %zu, text %d: level %d", i, j, h->level[found[j].a]);
        }
    }
    kn_string wrong[3] = {kn_string_of("Maths"), kn_string_of("Chemistry"), kn_string_of("?")};
    kn_cell   found[3];
    size_t    bad = 0;
    assert_int_equal(kn_cell_parse_column(found, NULL, p, wrong, 3, &members, &bad, &err), KN_INPUT);
    assert_int_equal(bad, 1);
    assert_null(strstr(err.message, "Chemistry"));
    kn_cell_members_free(&members);
    kn_cell_parser_free(p);
    kn_hierarchy_free(h);
    kn_table_free(t);
    testing_context_free(ctx);
}

/* ---- Any node of any tree; any text ---- */

static void labels_find_their_nodes(void **state)
{
    (void)state;
    kn_rng      rng;
    kn_context *ctx = testing_context(1);
    kn_error    err = KN_ERROR_INIT;
    kn_rng_init(&rng, testing_seed(), 4);
    for (int round = 0; round < testing_rounds(300); round++) {
        world w;
        world_make(&w, ctx, &rng);
        for (int q = 0; q < w.quasi_count; q++) {
            const kn_hierarchy *h = w.hierarchies[q];
            kn_cell_parser     *p = NULL;
            kn_cell_members     members = {.ctx = ctx};
            kn_string           texts[MOST_ROWS];
            kn_cell             cells[MOST_ROWS];
            int                 level = (int)kn_rng_below(&rng, (uint64_t)w.trees[q].height + 1), found;
            size_t              bad;
            assert_ok(kn_cell_parser_make(&p, ctx, &w.table->columns[q], h, &point, &err), err);
            for (int r = 0; r < w.rows; r++)
                texts[r] = kn_hierarchy_text(h, kn_hierarchy_of_code(h, kn_table_code(w.table, q, r), (uint32_t)level));
            assert_ok(kn_cell_parse_column(cells, &found, p, texts, (size_t)w.rows, &members, &bad, &err), err);
            assert_true(w.rows == 0 ? found == -1 : found >= 0 && found <= level);
            for (int r = 0; r < w.rows; r++) {
                uint32_t code = kn_table_code(w.table, q, r), node = kn_hierarchy_of_code(h, code, (uint32_t)level);
                if (node == h->leaves) /* a missing cell */
                    assert_true(cells[r].kind == KN_CELL_VALUE && cells[r].a == w.table->columns[q].dict.count);
                else
                    assert_true(cells[r].kind == KN_CELL_NODE && cells[r].a == node);
            }
            kn_cell_members_free(&members);
            kn_cell_parser_free(p);
        }
        world_free(&w);
    }
    testing_context_free(ctx);
}

/* Random texts of the characters that matter: whatever comes out is a valid cell. */
static void any_text_is_survived(void **state)
{
    (void)state;
    static const char characters[] = "0123456789.,;-+e[](){}* :TZ/ab";
    kn_rng            rng;
    kn_context       *ctx = testing_context(1);
    kn_error          err = KN_ERROR_INIT;
    const char *const names[] = {"i", "d", "t", "x"};
    const char *const cells[] = {"1",          "0.5", "2020-01-01", "a", "2",          "1.5",
                                 "2020-02-01", "b",   "30",         "2", "2021-01-01", "[1,2)"};
    kn_table         *t = NULL;
    int               taken = 0;
    kn_rng_init(&rng, testing_seed(), 5);
    assert_ok(make_table(&t, ctx, names, 4, cells, 3, NULL, &err), err);
    for (int c = 0; c < 4; c++) {
        kn_cell_parser *p = NULL;
        kn_cell_members members = {.ctx = ctx};
        kn_hierarchy   *h = c == 0 ? hierarchy_of(ctx, "1;1-2;*\n2;1-2;*\n30;3;*\n", t, 0) : NULL;
        assert_ok(kn_cell_parser_make(&p, ctx, &t->columns[c], h, &point, &err), err);
        for (int round = 0; round < 100000; round++) {
            char    text[12];
            size_t  size = kn_rng_below(&rng, sizeof text);
            kn_cell cell = {99, 0, 0};
            for (size_t i = 0; i < size; i++) text[i] = characters[kn_rng_below(&rng, sizeof characters - 1)];
            kn_string piece = {text, size};
            if (kn_cell_parse(&cell, p, piece, &members, &err) != KN_OK) continue;
            taken++;
            assert_true(cell.kind <= KN_CELL_STAR);
            if (cell.kind == KN_CELL_RANGE) assert_true(cell.a < cell.b && cell.b < t->columns[c].dict.count);
            if (cell.kind != KN_CELL_SET) continue;
            assert_true(cell.b != 1 && (size_t)cell.a + cell.b <= members.count);
            for (uint32_t i = 1; i < cell.b; i++)
                assert_true(members.codes[cell.a + i - 1] < members.codes[cell.a + i]);
        }
        kn_cell_members_free(&members);
        kn_cell_parser_free(p);
        kn_hierarchy_free(h);
    }
    assert_true(taken > 1000);
    kn_table_free(t);
    testing_context_free(ctx);
}

/* ---- Memory ---- */

static kn_status make_and_parse(kn_context *ctx, const kn_table *t, const kn_hierarchy *h, kn_error *err)
{
    kn_plan        *plan = NULL;
    kn_cell_parser *p = NULL, *dates = NULL;
    kn_cell_members members = {.ctx = ctx};
    kn_cell         cell;
    const char     *reason = NULL;
    const int       quasi[] = {0};
    kn_status       st = kn_plan_create(&plan, ctx, 2, 1, 1, err);
    if (st == KN_OK) {
        plan->class_rows[0] = 2;
        plan->cells[0].kind = KN_CELL_STAR;
        if (!kn_plan_validate(plan, t, quasi, &h, &reason)) st = kn_context_memory_used(ctx) ? KN_MEMORY : KN_OK;
    }
    if (st == KN_OK) st = kn_cell_parser_make(&p, ctx, &t->columns[0], h, &point, err);
    if (st == KN_OK) st = kn_cell_parser_make(&dates, ctx, &t->columns[1], NULL, &point, err);
    if (st == KN_OK) st = kn_cell_parse(&cell, p, kn_string_of("{x;\"y\"}"), &members, err);
    kn_cell_members_free(&members);
    kn_cell_parser_free(p);
    kn_cell_parser_free(dates);
    kn_plan_free(plan);
    return st;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    kn_context       *plain = testing_context(1);
    const char *const names[] = {"a", "b"}, *const cells[] = {"x", "2020-01-31", "y", "2020-01-30"};
    kn_table *t = NULL;
    kn_error  err = KN_ERROR_INIT;
    assert_ok(make_table(&t, plain, names, 2, cells, 2, NULL, &err), err);
    kn_hierarchy *h = hierarchy_of(plain, "x;*\ny;*\n", t, 0);
    kn_status     st = KN_MEMORY;
    int64_t       at = 0;
    for (; st != KN_OK; at++) {
        testing_allocator memory = {.refuse_at = at};
        kn_context       *ctx = NULL;
        st = testing_refusing_context(&ctx, &memory, 1, &err);
        if (st == KN_OK) st = make_and_parse(ctx, t, h, &err);
        if (st != KN_OK) assert_int_equal(st, KN_MEMORY);
        kn_context_free(ctx);
        assert_int_equal(memory.live, 0);
    }
    assert_true(at > 10);
    kn_hierarchy_free(h);
    kn_table_free(t);
    testing_context_free(plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(validation_sees_damage),
        cmocka_unit_test(cells_cover_what_they_say),
        cmocka_unit_test(integers_are_read),
        cmocka_unit_test(labels_win_over_intervals),
        cmocka_unit_test(decimals_are_read),
        cmocka_unit_test(dates_are_read),
        cmocka_unit_test(texts_have_no_intervals),
        cmocka_unit_test(members_in_quotes_are_read),
        cmocka_unit_test(a_label_may_stand_at_several_nodes),
        cmocka_unit_test(labels_find_their_nodes),
        cmocka_unit_test(any_text_is_survived),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
