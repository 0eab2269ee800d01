/* test_verify_edges_files.c: what the verifier reads beside the tables, where one line decides: headers, row maps, files of
 * hierarchies.
 * SPDX-License-Identifier: Apache-2.0 */
#include "verify_testing.h"

static void headers(void **state)
{
    (void)state;
    const char *yaml = HEAD "attributes: {a: {role: quasi}}\nprivacy: [{k: 2}]\n";
    expect_error(yaml, "a,b,a\n1,2,1\n1,2,1\n", "a\n1\n1\n", NULL, KN_INPUT, "columns 1 and 3 have the same name");
    expect_error(yaml, "a\n1\n1\n", "a,x,y,x\n1,2,1,2\n1,2,1,2\n", NULL, KN_INPUT,
                 "columns 2 and 4 have the same name");
    expect_error(yaml, "a,\xff\n1,1\n1,1\n", "a\n1\n1\n", NULL, KN_INPUT, "original.csv:1: the header is not text");
}

static void numbers_of_a_row_map(void **state)
{
    (void)state;
    const char *yaml = HEAD "attributes: {a: {role: quasi}}\nprivacy: [{k: 2}]\n", *table = "a\n1\n1\n";
    expect(yaml, table, table, "kanon-rowmap 1\r\n2\r\n1\r\n", NULL);
    expect(yaml, table, table, "kanon-rowmap 1\n02\n1", NULL);
    static const char *const bad[] = {"/", ":", "-1", "+1", " 1", "1 ", "", "0", "1.", "1111111111111111111"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char map[60];
        snprintf(map, sizeof map, "kanon-rowmap 1\n2\n%s\n", bad[i]);
        expect_error(yaml, table, table, map, KN_INPUT, ":3: not the number of a row");
    }
    expect(yaml, table, table, "kanon-rowmap 1\n1\n111111111111111111\n", "does not have");
    expect(yaml, table, table, "kanon-rowmap 1\n1\n2\n2\n", "3 entries for 2 released rows");
    expect_error(yaml, table, table, "kanon-rowmap 2\n1\n2\n", KN_INPUT, ":1: this is not a row map");
    expect_error(yaml, table, table, "kanon-rowmap 11\n1\n2\n", KN_INPUT, ":1: this is not a row map");
}

static void hierarchy_files(void **state)
{
    (void)state;
    char deep[200000] = "", label[20];
    static const struct {
        const char *text, *kind;
        bool        good;
    } cases[] = {
        {"Any\n  P\n    a\n    b\n  Q\n    c\n", "{taxonomy: t}", true},
        {"Any\r\n  P\r\n    a\r\n    b\r\n\r\n  Q\r\n    c\r\n", "{taxonomy: t}", true},
        {"Any\r  P\r    a\r    b\r  Q\r    c", "{taxonomy: t}", true},
        {"\xef\xbb\xbf"
         "Any\n P\n  a\n  b\n Q\n  c\n",
         "{taxonomy: t}", true},
        {"P\n  a\n  b\nQ\n  c\n", "{taxonomy: t}", true},
        {"a;P;Any\nb;P;Any\nc;Q;Any\n", "t", true},
        {"\xef\xbb\xbf"
         "a;P;Any\r\nb;P;Any\r\nc;Q;Any\r\n",
         "t", true},
        {"Any\n  P\n     a\n    b\n  Q\n    c\n", "{taxonomy: t}", false},
        {"Any\n    P\n  a\n  b\n", "{taxonomy: t}", false},
        {"  Any\n    a\n", "{taxonomy: t}", false},
        {"Any\n  P\n      a\n", "{taxonomy: t}", false},
        {" \n\n", "{taxonomy: t}", false},
        {"a;P;Any\nb;\xff;Any\n", "t", false},
        {"a;P;Any\na;Q;Any\nb;P;Any\n", "t", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char yaml[300];
        file("t", cases[i].text);
        snprintf(yaml, sizeof yaml,
                 HEAD "attributes: {a: {role: quasi, type: text, hierarchy: %s}}\nprivacy: [{k: 2}]\n", cases[i].kind);
        if (cases[i].good) {
            expect(yaml, "a\na\nb\nc\nc\n", "a\nP\nP\nc\nc\n", NULL, NULL);
            expect(yaml, "a\na\nb\nc\nc\n", "a\nP\nP\nQ\nQ\n", NULL, NULL);
            expect(yaml, "a\na\nb\nc\nc\n", "a\nQ\nQ\nc\nc\n", NULL, "cannot come from the original");
        } else {
            expect_error(yaml, "a\na\nb\n", "a\nP\nP\n", NULL, KN_INPUT, "t");
        }
    }
    for (int depth = 0; depth < 300; depth++) {
        memset(deep + strlen(deep), ' ', (size_t)depth + 1);
        snprintf(label, sizeof label, "n%d\n", depth);
        strcpy(strchr(deep, '\0') - 1, label);
    }
    file("t", deep);
    expect_error(HEAD "attributes: {a: {role: quasi, hierarchy: {taxonomy: t}}}\nprivacy: [{k: 2}]\n",
                 "a\nn299\nn299\n", "a\nn299\nn299\n", NULL, KN_INPUT, "this indentation fits no level");
}

/* 256 levels, whose marks take four words; and not one more. */
static void the_deepest_hierarchy(void **state)
{
    (void)state;
    static char text[8000];
    for (int labels = 256; labels <= 257; labels++) {
        char *at = text;
        for (int leaf = 0; leaf < 3; leaf++) {
            at += sprintf(at, "%c", 'a' + leaf);
            for (int i = 1; i < labels; i++)
                at += i < 100 && leaf == 2 ? sprintf(at, ";m%d", i) : sprintf(at, ";l%d", i);
            *at++ = '\n';
        }
        *at = '\0';
        file("deep.csv", text);
        const char *yaml = HEAD "attributes: {a: {role: quasi, hierarchy: deep.csv}}\nprivacy: [{k: 2}]\n";
        if (labels == 257) {
            expect_error(yaml, "a\na\nb\n", "a\nl1\nl1\n", NULL, KN_INPUT, "deep.csv:1: this line cannot be read");
            break;
        }
        static const int levels[] = {1, 63, 64, 65, 99, 127, 128, 191, 192, 200, 255};
        for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
            for (int claim = -1; claim <= 1; claim++)
                for (int map = 0; map < 2; map++) {
                    char release[60];
                    int  claimed[] = {levels[i] + claim};
                    snprintf(release, sizeof release, "a\nl%d\nl%d\n", levels[i], levels[i]);
                    verify_case c = {.yaml = yaml,
                                     .original = "a\na\nb\n",
                                     .release = release,
                                     .map = map ? "kanon-rowmap 1\n1\n2\n" : NULL,
                                     .levels = claimed,
                                     .level_count = 1};
                    expect_case(&c, claim ? "its cells are not those of level" : NULL);
                    c.levels = NULL;
                    c.level_count = 0;
                    c.original = "a\na\nc\n"; /* c is below l100 and what lies above it */
                    expect_case(&c, levels[i] >= 100 ? NULL : "");
                }
    }
}

static void what_is_no_tree(void **state)
{
    (void)state;
    static const char *const cases[][2] = {{"a;P;X;Any\nb;P;Y;Any\n", "a label on one level has two parents"},
                                           {"a;P;Any\nb;Q;Other\n", "there is more than one root"},
                                           {"a;P;Any\na;P;Any\n", "the same leaf appears twice"},
                                           {"a\nb\n", "deep.csv"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        file("deep.csv", cases[i][0]);
        expect_error(HEAD "attributes: {a: {role: quasi, hierarchy: deep.csv}}\nprivacy: [{k: 2}]\n", "a\na\nb\n",
                     "a\nP\nP\n", NULL, KN_INPUT, cases[i][1]);
    }
}

/* More rows than are turned round at once: what is wrong is found in the share of any original. The release is in reverse order. */
static void a_row_map_by_shares(void **state)
{
    (void)state;
    enum { ROWS = 70000, TOLD = 5 };
    static const char *const wrong[] = {NULL, "the cell does not stand for", "an earlier row has already",
                                        "names a row that the original does not have"};
    const char              *yaml = HEAD "attributes: {a: {role: quasi, type: text}}\nprivacy: [{k: 2}]\n";
    char *original = malloc(ROWS * 3 + 10), *release = malloc(ROWS * 3 + 10), *map = malloc(ROWS * 7 + 40);
    assert_true(original && release && map);
    for (int fault = 0; fault < 4; fault++) {
        for (int share = 0; share < (fault ? TOLD : 1); share++) {
            size_t o = (size_t)sprintf(original, "a\n"), r = (size_t)sprintf(release, "a\n"),
                   m = (size_t)sprintf(map, "kanon-rowmap 1\n");
            int at = share * (ROWS - 2) / (TOLD - 1);
            for (int i = 0; i < ROWS; i++) {
                int place = ROWS - i;
                if (fault == 1 && (i == at || i == at + 1)) place = ROWS - (2 * at + 1 - i); /* two are exchanged */
                if (fault == 2 && i == at + 1) place = ROWS - at;
                if (fault == 3 && i == at) place = ROWS + 1;
                o += (size_t)sprintf(original + o, "%d\n", i % 3);
                r += (size_t)sprintf(release + r, "%d\n", (ROWS - 1 - i) % 3);
                m += (size_t)sprintf(map + m, "%d\n", place);
            }
            expect(yaml, original, release, map, wrong[fault]);
        }
    }
    free(original);
    free(release);
    free(map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        testing_alone(headers),
        cmocka_unit_test(numbers_of_a_row_map),
        cmocka_unit_test(hierarchy_files),
        cmocka_unit_test(the_deepest_hierarchy),
        testing_alone(what_is_no_tree),
        cmocka_unit_test(a_row_map_by_shares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
