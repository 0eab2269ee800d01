/* test_guard.c: what a spreadsheet would execute, and the apostrophe before it (kn_csv_write.h). */
/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "kn_buffer.h"
#include "kn_csv_write.h"
#include "kn_rng.h"
#include "testing.h"

static void formulas_by_example(void **state)
{
    (void)state;
    static const char *const formulas[] = {"=1",          "=cmd|' /C calc'!A0",
                                           "+7 days",     "-x",
                                           "--5",         "@SUM(1)",
                                           "\t=1",        "\r=1",
                                           "+49 30 1234", "-5e",
                                           "-.",          "+,",
                                           "-1-2",        "==",
                                           "-5e+1x",      "=\n"};
    static const char *const plain[] = {
        "",     "=",     "-",        "+",       "@",        "5",          "-5", "+5",    "-5.25",        "-1,5",
        "-1e5", "-1E-5", "+1,000.5", "a=b",     "[40, 49]", "(-inf, 17]", "*",  "{a;b}", "'s-Graveland", "'",
        "''",   " =1",   "\"=1\"",   "2024-M03"};
    for (size_t i = 0; i < sizeof formulas / sizeof *formulas; i++)
        if (!kn_csv_formula(kn_string_of(formulas[i]))) fail_msg("not taken for a formula: %s", formulas[i]);
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (kn_csv_formula(kn_string_of(plain[i]))) fail_msg("taken for a formula: %s", plain[i]);
}

/* Every text comes back, nothing that is written is a formula, and what needs no apostrophe gets none. */
static void apostrophes_come_off(void **state)
{
    (void)state;
    static const char alphabet[] = "'''==+-@\t\r5.,eEa\"";
    kn_context       *ctx = testing_context(1);
    kn_rng            rng;
    kn_rng_init(&rng, testing_seed(), 0);
    kn_buffer cell;
    kn_buffer_init(&cell, ctx);
    for (int round = 0; round < testing_rounds(20000); round++) {
        char   text[8];
        size_t size = (size_t)kn_rng_below(&rng, sizeof text);
        for (size_t i = 0; i < size; i++) text[i] = alphabet[(size_t)kn_rng_below(&rng, sizeof alphabet - 1)];
        kn_string original = {text, size};
        kn_buffer_clear(&cell);
        kn_csv_guarded_cell(&cell, original, '|');
        assert_false(cell.failed);
        kn_string written = {cell.data, cell.size};
        char      bare[32];
        if (written.size > 0 && written.data[0] == '"') { /* in quotes, doubled inside */
            size_t n = 0;
            for (size_t i = 1; i + 1 < written.size; i++) {
                bare[n++] = written.data[i];
                i += written.data[i] == '"';
            }
            written = (kn_string){bare, n};
        }
        assert_false(kn_csv_formula(written));
        assert_true(kn_string_equal(kn_csv_unguarded(written), original));
        assert_int_equal(written.size, original.size + kn_csv_guards(original));
    }
    kn_buffer_free(&cell);
    testing_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formulas_by_example),
        cmocka_unit_test(apostrophes_come_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
