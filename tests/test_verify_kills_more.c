/* test_verify_kills_more.c: the verifier where rows are left out or linked, where a file is written otherwise than its original,
 * and where memory is refused or holds anything: small releases of tables, databases and tree records.
 * SPDX-License-Identifier: Apache-2.0 */
#include <kanon/verify.h>
#include <stdint.h>
#include <sys/stat.h>

#include "folder_testing.h"
#include "verify_testing.h"

#define P1 "0123456789abcdef0123456789abcdef"
#define P2 "fedcba9876543210fedcba9876543210"
#define MAP(rows) "kanon-rowmap 1\n" rows

/* ---- Rows that stay linked ---- */

static void expect_links(const verify_case *c, bool linked)
{
    kn_context       *ctx = testing_context(1);
    kn_error          err = KN_ERROR_INIT;
    kn_verify_report *r = NULL;
    assert_ok(run_case(&r, ctx, c, &err), err);
    show(r);
    assert_true(r->ok);
    assert_int_equal(r->linked, linked);
    kn_verify_report_free(r);
    testing_context_free(ctx);
}

/* Identifiers that are all different link nothing; a missing one is no second of any. */
static void identifiers_of_one_row_each(void **state)
{
    (void)state;
    verify_case c = {.yaml = HEAD "entity: who\nattributes: {n: {role: identifier, pseudonym: {key-file: none.key}}, "
                                  "a: {role: quasi}}\nprivacy: [{k: 2}]\n",
                     .original = "who,n,a\nAnn,x,1\nBob,,1\n",
                     .release = "n,a\n" P1 ",1\n,1\n",
                     .map = MAP("1\n2\n")};
    expect_links(&c, false);
    c.original = "who,n,a\nAnn,x,1\nAnn,x,1\nBob,,1\nBob,,1\n";
    c.release = "n,a\n" P1 ",1\n" P1 ",1\n,1\n,1\n";
    c.map = MAP("1\n2\n3\n4\n");
    expect_links(&c, true);
}

/* g is the same in all rows of each person that take part: what a row that is left out holds does not matter. */
static void links_of_rows_that_are_left_out(void **state)
{
    (void)state;
    verify_case c = {.yaml = HEAD "entity: who\nmissing: drop\nattributes: {a: {role: quasi}, g: {role: keep}}\n"
                                  "privacy: [{k: 2}]\n",
                     .original = "who,a,g\nAnn,1,p\nAnn,1,p\nBob,1,q\nBob,1,q\nAnn,,q\n",
                     .release = "a,g\n1,p\n1,p\n1,q\n1,q\n",
                     .map = MAP("1\n2\n3\n4\n")};
    expect_links(&c, true);
    c.original = "who,a,g\nAnn,1,p\nAnn,1,q\nBob,1,q\nBob,1,q\nAnn,,q\n";
    c.release = "a,g\n1,p\n1,q\n1,q\n1,q\n";
    expect_links(&c, false);
}

/* ---- Pseudonyms ---- */

/* One pseudonym of eight identifiers: seven rows say so, five of them are told one by one. */
static void a_pseudonym_of_many(void **state)
{
    (void)state;
    verify_case c = {.yaml = HEAD "attributes: {n: {role: identifier, pseudonym: {key-file: none.key}}, "
                                  "a: {role: quasi}}\nprivacy: [{k: 2}]\n",
                     .original = "n,a\nA,1\nB,1\nC,1\nD,1\nE,1\nF,1\nG,1\nH,1\n",
                     .release = "n,a\n" P1 ",1\n" P1 ",1\n" P1 ",1\n" P1 ",1\n" P1 ",1\n" P1 ",1\n" P1 ",1\n" P1 ",1\n",
                     .map = MAP("1\n2\n3\n4\n5\n6\n7\n8\n")};
    expect_case(&c, "row 6, column \"n\": one pseudonym stands for two identifiers");
    expect_case(&c, "column \"n\": the same in 2 more rows");
}

/* ---- How the file is written ---- */

/* A quote within a cell needs quotes around it, all of them or none. */
static void quotes_within_cells(void **state)
{
    (void)state;
    static const char told[] = "column \"a\": some cells stand in quotes and others do not";
    const char       *yaml = HEAD "attributes: {a: {role: quasi}, b: {role: quasi}}\nprivacy: [{k: 2}]\n";
    const char       *original = "a,b\n\"x\"\"y\",1\n\"x\"\"y\",1\n";
    expect(yaml, original, original, NULL, NULL);
    expect(yaml, original, "a,b\nx\"y,1\nx\"y,1\n", NULL, told);
    expect(yaml, original, "a,b\n\"x\"\"y\",1\nx\"y,1\n", NULL, told);
}

/* Names and sets with as many semicolons: the delimiter is the one that gives the names that are expected. */
static void sets_that_look_like_columns(void **state)
{
    (void)state;
    const char *yaml = HEAD "attributes: {\"p;q;r\": {role: quasi}, b: {role: quasi}}\nprivacy: [{k: 3}]\n";
    expect(yaml, "p;q;r,b\nx,1\ny,1\nz,1\n", "p;q;r,b\n{x;y;z},1\n{x;y;z},1\n{x;y;z},1\n", NULL, NULL);
}

/* ---- Rows that have no original ---- */

/* Row 2 has an illness that nobody has: that is one row, however often it is looked for. */
static void counted_once(void **state)
{
    (void)state;
    const char *yaml = HEAD "attributes: {a: {role: quasi}, s: {role: sensitive}}\nprivacy: [{k: 2}]\n"
                            "suppressed: keep-sensitive\nsuppression: {rows: 2}\n";
    const char *original = "a,s\n1,x\n1,y\n2,z\n3,w\n";
    expect(yaml, original, "a,s\n1,x\n1,y\n*,z\n*,w\n", NULL, NULL);
    expect(yaml, original, "a,s\n1,x\n1,v\n*,z\n*,w\n", NULL, "1 released row cannot come from the original");
}

/* ---- Memory ---- */

/* Refuses one request, of those of at least so many bytes; what it gives is full of one byte. */
typedef struct memory {
    int64_t at, requests, live;
    size_t  least;
    int     fill;
} memory;

static void *get_block(void *user, size_t size)
{
    memory *m = user;
    if (size >= m->least && m->requests++ == m->at) return NULL;
    void *block = malloc(size);
    assert_non_null(block);
    m->live++;
    return memset(block, m->fill, size);
}

static void *resize_block(void *user, void *block, size_t old_size, size_t new_size)
{
    memory *m = user;
    if (!block) return get_block(user, new_size);
    if (new_size >= m->least && m->requests++ == m->at) return NULL;
    char *moved = realloc(block, new_size);
    assert_non_null(moved);
    if (new_size > old_size) memset(moved + old_size, m->fill, new_size - old_size);
    return moved;
}

static void release_block(void *user, void *block, size_t size)
{
    memory *m = user;
    (void)size;
    m->live--;
    free(block);
}

static kn_context *context_of(memory *m)
{
    kn_context        *ctx = NULL;
    kn_error           err = KN_ERROR_INIT;
    kn_allocator       allocator = {get_block, resize_block, release_block, m};
    kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
    options.allocator = &allocator;
    options.threads = 1;
    assert_ok(kn_context_create(&ctx, &options, &err), err);
    return ctx;
}

/* Verifies what is in the folder; *ok: it holds. */
typedef kn_status verifying(kn_context *ctx, const kn_spec *spec, bool *ok, kn_error *err);

static kn_status verify_table(kn_context *ctx, const kn_spec *spec, bool *ok, kn_error *err)
{
    kn_verify_report *r = NULL;
    kn_verify_options options = KN_VERIFY_OPTIONS_INIT;
    const char *const originals[] = {path_of("original.csv")};
    options.originals = originals;
    options.original_count = 1;
    options.release = path_of("release.csv");
    kn_status st = kn_verify(&r, ctx, spec, &options, err);
    *ok = st == KN_OK && r->ok;
    kn_verify_report_free(r);
    return st;
}

static kn_status verify_database(kn_context *ctx, const kn_spec *spec, bool *ok, kn_error *err)
{
    kn_database_verify_report *r = NULL;
    kn_status                  st = kn_verify_database(&r, ctx, spec, NULL, err);
    *ok = st == KN_OK && r->ok;
    kn_database_verify_report_free(r);
    return st;
}

static kn_status verify_records(kn_context *ctx, const kn_spec *spec, bool *ok, kn_error *err)
{
    kn_records_verify_report *r = NULL;
    kn_status                 st = kn_verify_records(&r, ctx, spec, NULL, err);
    *ok = st == KN_OK && r->ok;
    kn_records_verify_report_free(r);
    return st;
}

/* The call makes do with less, or says that memory is missing; what it took it gives back. */
static void refuse_each(verifying *verify, const char *yaml, size_t least)
{
    int64_t refused = 0;
    put("spec.yaml", yaml);
    for (int64_t at = 0;; at += testing_step()) {
        memory      m = {.at = -1, .least = least, .fill = 0xa5};
        kn_context *ctx = context_of(&m);
        kn_spec    *spec = NULL;
        kn_error    err = KN_ERROR_INIT;
        bool        ok = false;
        assert_ok(kn_spec_read(&spec, ctx, path_of("spec.yaml"), &err), err);
        assert_ok(kn_spec_check(spec, &err), err);
        m.at = m.requests + at;
        kn_status st = verify(ctx, spec, &ok, &err);
        bool      reached = m.requests > m.at;
        if (st != KN_OK && !(st == KN_MEMORY && reached)) fail_msg("request %d: %s", (int)at, err.message);
        if (st == KN_OK && !ok) fail_msg("request %d: it holds no longer", (int)at);
        kn_spec_free(spec);
        kn_context_free(ctx);
        assert_int_equal(m.live, 0);
        refused += st == KN_MEMORY;
        if (!reached) break;
    }
    print_message("refused %d times\n", (int)refused);
    assert_true(refused > 0);
}

static void memory_for_tables(void **state)
{
    (void)state;
    put("tree.csv", "1;p;*\n2;p;*\n3;q;*\n");
    put("ills.csv", "x;r;*\ny;r;*\nz;s;*\n");
    put("original.csv", "a,b,s\n1,u,x\n2,u,y\n1,v,y\n2,v,x\n");
    put("release.csv", "a,b,s\np,u,x\np,u,y\np,v,y\np,v,x\n");
    refuse_each(verify_table,
                HEAD "attributes: {a: {role: quasi, hierarchy: tree.csv}, b: {role: quasi}, s: {role: sensitive, "
                     "hierarchy: ills.csv}}\ndependencies: [\"b -> a\", \"b ->> s\"]\nprivacy: [{k: 2}, {l-diversity: "
                     "{l: 2}}, {t-closeness: {t: 0.5, distance: hierarchical}}]\n",
                0);
}

static void memory_for_databases(void **state)
{
    (void)state;
    mkdir(path_of("in"), 0700);
    mkdir(path_of("out"), 0700);
    put("in/person.csv", "id,city\np1,Nice\np2,Nice\n");
    put("out/person.csv", "id,city\n1,Nice\n2,Nice\n");
    refuse_each(verify_database,
                "kanon: 1\ninput: in/\noutput: out/\nentity: {table: person}\ntables:\n"
                "  person: {key: [id], attributes: {city: {role: quasi}}}\nprivacy: [{k: 2}]\n",
                0);
}

/* So many columns that what is kept per column is a request of its own. */
static void memory_for_wide_databases(void **state)
{
    (void)state;
    enum { COLUMNS = 2000 };
    char  *header = malloc(COLUMNS * 8 + 100), *row = malloc(COLUMNS * 2 + 100), *text;
    size_t h = 0, r = 0;
    assert_true(header && row);
    for (int i = 0; i < COLUMNS; i++) {
        h += (size_t)sprintf(header + h, ",c%d", i);
        r += (size_t)sprintf(row + r, ",");
    }
    text = malloc(h + 2 * r + 100);
    assert_non_null(text);
    sprintf(text, "id,city%s\np1,Nice%s\np2,Nice%s\n", header, row, row);
    mkdir(path_of("in"), 0700);
    mkdir(path_of("out"), 0700);
    put("in/person.csv", text);
    put("out/person.csv", "id,city\n1,Nice\n2,Nice\n");
    refuse_each(verify_database,
                "kanon: 1\ninput: in/\noutput: out/\nentity: {table: person}\ntables:\n"
                "  person: {key: [id], attributes: {city: {role: quasi}}}\nprivacy: [{k: 2}]\n",
                COLUMNS * sizeof(int));
    free(header);
    free(row);
    free(text);
}

static void memory_for_records(void **state)
{
    (void)state;
    put("item.csv", "a;AB;*\nb;AB;*\nc;CD;*\nd;CD;*\n");
    put("in.txt", "a,c\nb,c\n");
    put("out.txt", "AB,c\nAB,c\n");
    refuse_each(verify_records,
                "kanon: 1\ninput: in.txt\noutput: out.txt\nclasses: {Item: {hierarchy: item.csv}}\n"
                "privacy: [{k-mn: {k: 2, m: 1, n: 0}}]\n",
                0);
}

/* What nobody wrote is looked at nowhere: 7 is a value of a row that is left out. */
static void memory_full_of_anything(void **state)
{
    (void)state;
    static const int fills[] = {0, 1, 0xa5, 0xff};
    file("crowd.csv", "a,b\n1,x\n2,x\n");
    file("some.key", "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk");
    const verify_case cases[] = {
        {.yaml = HEAD "attributes: {a: {role: quasi, type: integer}, b: {role: quasi}}\npopulation: crowd.csv\n"
                      "missing: drop\nprivacy: [{k-map: {k: 2}}]\n",
         .original = "a,b\n7,\n1,x\n2,x\n",
         .release = "a,b\n\"[1, 2]\",x\n\"[1, 2]\",x\n"},
        {.yaml = HEAD "attributes: {n: {role: identifier, pseudonym: {key-file: some.key}}, a: {role: quasi}}\n"
                      "privacy: [{k: 2}]\n",
         .original = "n,a\nAnn,1\nBob,1\n",
         .release = "n,a\n42df7a474cd4748f61b92892f0e5ecbb,1\n35d07f89c2df3b9ebfcca1a44638778d,1\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases * (sizeof fills / sizeof *fills); i++) {
        memory            m = {.at = -1, .fill = fills[i / 2]};
        kn_context       *ctx = context_of(&m);
        kn_error          err = KN_ERROR_INIT;
        kn_verify_report *r = NULL;
        assert_ok(run_case(&r, ctx, &cases[i % 2], &err), err);
        show(r);
        assert_true(r->ok);
        if (i % 2 == 0) assert_close(r->metrics[KN_METRIC_NCP], 0.5); /* all of a, nothing of b */
        kn_verify_report_free(r);
        kn_context_free(ctx);
        assert_int_equal(m.live, 0);
    }
}

int main(void)
{
    folder_set_up();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(identifiers_of_one_row_each), cmocka_unit_test(links_of_rows_that_are_left_out),
        cmocka_unit_test(a_pseudonym_of_many),         cmocka_unit_test(quotes_within_cells),
        cmocka_unit_test(sets_that_look_like_columns), cmocka_unit_test(counted_once),
        cmocka_unit_test(memory_for_tables),           cmocka_unit_test(memory_for_databases),
        cmocka_unit_test(memory_for_wide_databases),   cmocka_unit_test(memory_for_records),
        cmocka_unit_test(memory_full_of_anything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
