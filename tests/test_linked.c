/* test_linked.c: persons by what they show with all their rows: signatures and positions against comparing persons one by
 * one, the worst node of a position against every way to deal its rows, verification on hand-made files, little memory.
 * SPDX-License-Identifier: Apache-2.0 */
#include <kanon/anonymize.h>
#include <kanon/verify.h>
#include <stdio.h>
#include <string.h>

#include "kn_alloc.h"
#include "kn_linked.h"
#include "kn_rng.h"
#include "kn_verify_internal.h"
#include "testing.h"

enum { MOST_ROWS = 24, MOST_PERSONS = 7, CLASSES = 3, VALUES = 3 };

/* ---- A random table: class, value, person ---- */

typedef struct visits {
    int       rows, persons;
    int       class_of[MOST_ROWS], value[MOST_ROWS], person[MOST_ROWS];
    kn_table *table;
} visits;

static void make_visits(visits *v, kn_context *ctx, kn_rng *rng)
{
    kn_error err = KN_ERROR_INIT;
    char     text[MOST_ROWS * 16 + 16];
    size_t   at = (size_t)snprintf(text, sizeof text, "c,v,p\n");
    v->rows = 1 + (int)kn_rng_below(rng, MOST_ROWS);
    v->persons = 1 + (int)kn_rng_below(rng, MOST_PERSONS);
    for (int i = 0; i < v->rows; i++) {
        v->class_of[i] = (int)kn_rng_below(rng, CLASSES);
        v->value[i] = (int)kn_rng_below(rng, VALUES);
        v->person[i] = (int)kn_rng_below(rng, (uint64_t)v->persons);
        at += (size_t)snprintf(text + at, sizeof text - at, "%d,%d,%d\n", v->class_of[i], v->value[i], v->person[i]);
    }
    assert_ok(kn_table_read_csv(&v->table, ctx, testing_file("visits.csv", text, at), NULL, &err), err);
}

static int rows_in(const visits *v, int person, int class_index)
{
    int n = 0;
    for (int i = 0; i < v->rows; i++) n += v->person[i] == person && v->class_of[i] == class_index;
    return n;
}

static bool alike(const visits *v, int a, int b)
{
    for (int c = 0; c < CLASSES; c++)
        if (rows_in(v, a, c) != rows_in(v, b, c)) return false;
    return true;
}

/* Values are digits. */
static int number_of(const visits *v, int column, uint32_t code)
{
    return kn_dictionary_text(&v->table->columns[column].dict, code).data[0] - '0';
}

/* ---- Signatures ---- */

static kn_status link_visits(const visits *v, kn_context *ctx, kn_linked *out, kn_class_histograms *h, kn_error *err)
{
    const int pair[] = {0, 2}, fine[] = {0, 1, 2};
    kn_freq  *pairs = NULL, *classes = NULL, *all = NULL;
    int64_t  *starts = NULL;
    *out = (kn_linked){0};
    *h = (kn_class_histograms){0};
    kn_status st = kn_freq_of_table(&pairs, ctx, v->table, pair, 2, err);
    if (st == KN_OK) st = kn_freq_fold(&classes, &starts, pairs, 1, err);
    if (st == KN_OK)
        st = kn_linked_make(out, pairs, starts, classes->classes, v->table->columns[2].dict.count + 1, err);
    if (st == KN_OK) st = kn_freq_of_table(&all, ctx, v->table, fine, 3, err);
    if (st == KN_OK) st = kn_linked_histograms(h, out, all, 1, classes->classes, err);
    kn_free(starts);
    kn_freq_free(all);
    kn_freq_free(classes);
    kn_freq_free(pairs);
    return st;
}

static void check_signatures(const visits *v, const kn_linked *l)
{
    const kn_dictionary *persons = &v->table->columns[2].dict;
    for (uint32_t a = 0; a < persons->count; a++) {
        int     who = number_of(v, 2, a), same = 0, rows = 0;
        int64_t s = l->of_person[a];
        for (uint32_t b = 0; b < persons->count; b++) {
            bool equal = alike(v, who, number_of(v, 2, b));
            assert_int_equal(equal, l->of_person[b] == l->of_person[a]);
            same += equal;
        }
        for (int c = 0; c < CLASSES; c++) rows += rows_in(v, who, c);
        assert_int_equal(l->persons[s], same);
        assert_int_equal(l->rows[s], same * rows);
        for (int64_t p = l->starts[s]; p < l->starts[s + 1]; p++)
            assert_int_equal(l->each[p], rows_in(v, who, number_of(v, 0, l->classes[p])));
    }
    assert_int_equal(l->of_person[persons->count], KN_LINKED_NOBODY);
}

/* ---- The worst node ---- */

/* Every way to deal `each` rows of every person to as many nodes: is there one whose nodes all have `least` values, and no
 * value more than `most` times? Persons are dealt one after the other. */
typedef struct dealing {
    int persons, each, values[MOST_PERSONS][MOST_ROWS], nodes[MOST_ROWS][VALUES], least, most;
} dealing;

static bool deal_from(dealing *d, int person, unsigned used, int node)
{
    if (person == d->persons) {
        for (int i = 0; i < d->each; i++) {
            int different = 0;
            for (int x = 0; x < VALUES; x++) {
                different += d->nodes[i][x] > 0;
                if (d->nodes[i][x] > d->most) return false;
            }
            if (different < d->least) return false;
        }
        return true;
    }
    if (node == d->each) return deal_from(d, person + 1, 0, 0);
    for (int i = 0; i < d->each; i++) {
        if (used >> i & 1) continue;
        d->nodes[node][d->values[person][i]]++;
        bool found = deal_from(d, person, used | 1u << i, node + 1);
        d->nodes[node][d->values[person][i]]--;
        if (found) return true;
    }
    return false;
}

/* What the worst node has, every node of some deal has at least. */
static bool check_position(const visits *v, const kn_linked *l, const kn_class_histograms *h, int64_t s, int64_t p)
{
    dealing d = {.each = (int)l->each[p], .least = (int)(h->starts[p + 1] - h->starts[p])};
    int64_t sum = 0, before = -1;
    for (int64_t i = h->starts[p]; i < h->starts[p + 1]; i++) {
        sum += h->counts[i];
        if (h->counts[i] > d.most) d.most = (int)h->counts[i];
        assert_true(h->counts[i] > 0 && (int64_t)h->codes[i] > before);
        before = h->codes[i];
    }
    assert_int_equal(sum, l->persons[s]);
    if (d.each > 3 || l->persons[s] > 4) return false; /* too many ways */
    for (uint32_t a = 0; a < v->table->columns[2].dict.count; a++) {
        if (l->of_person[a] != s) continue;
        int n = 0;
        for (int row = 0; row < v->rows; row++)
            if (v->person[row] == number_of(v, 2, a) && v->class_of[row] == number_of(v, 0, l->classes[p]))
                d.values[d.persons][n++] = v->value[row];
        assert_int_equal(n, d.each);
        d.persons++;
    }
    assert_true(deal_from(&d, 0, 0, 0));
    return d.each > 1 && d.persons > 1;
}

static void signatures_and_positions(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(2);
    kn_rng      rng;
    int         shared = 0, rounds = testing_rounds(2000);
    kn_rng_init(&rng, testing_seed(), 0);
    for (int round = 0; round < rounds; round++) {
        visits              v;
        kn_linked           l;
        kn_class_histograms h;
        kn_error            err = KN_ERROR_INIT;
        make_visits(&v, ctx, &rng);
        assert_ok(link_visits(&v, ctx, &l, &h, &err), err);
        check_signatures(&v, &l);
        for (int64_t s = 0; s < l.signatures; s++)
            for (int64_t p = l.starts[s]; p < l.starts[s + 1]; p++) shared += check_position(&v, &l, &h, s, p);
        kn_class_histograms_free(&h);
        kn_linked_free(&l);
        kn_table_free(v.table);
    }
    assert_true(shared >= testing_least(20));
    testing_context_free(ctx);
}

/* The verifier's own deal of the same rows. */
static void worst_node_of_the_verifier(void **state)
{
    (void)state;
    kn_rng rng;
    kn_rng_init(&rng, testing_seed(), 1);
    for (int round = 0; round < testing_rounds(3000); round++) {
        uint32_t values[VALUES], node[VALUES];
        int64_t  counts[VALUES], dealt[VALUES];
        int64_t  persons = 1 + (int64_t)kn_rng_below(&rng, 5), each = 1 + (int64_t)kn_rng_below(&rng, 4),
                left = persons * each;
        uint32_t n = 0;
        for (uint32_t x = 0; x < VALUES && left > 0; x++) {
            int64_t m = x + 1 == VALUES ? left : (int64_t)kn_rng_below(&rng, (uint64_t)left + 1);
            if (m == 0) continue;
            values[n] = x;
            counts[n++] = m;
            left -= m;
        }
        kn_vhistogram h = {values, counts, n, persons * each};
        kn_vlinked_deal(&h, node, dealt, persons);
        int64_t sum = 0;
        for (uint32_t i = 0; i < h.count; i++) {
            uint32_t at = 0;
            while (values[at] != h.values[i]) at++;
            int64_t low = counts[at] / each, high = low + (counts[at] % each != 0);
            assert_true(h.counts[i] > 0 && h.counts[i] >= low && h.counts[i] <= high);
            sum += h.counts[i];
            /* Nothing could be moved to a value of which there is more, or as much. */
            for (uint32_t j = 0; j < h.count; j++) {
                uint32_t to = 0;
                while (values[to] != h.values[j]) to++;
                bool taken = h.counts[i] > low, open = h.counts[j] < counts[to] / each + (counts[to] % each != 0);
                assert_false(taken && open && i != j && h.counts[j] > h.counts[i] - 1);
            }
        }
        assert_int_equal(sum, persons);
    }
}

/* ---- Verification ---- */

#define P1 "0123456789abcdef0123456789abcdef"
#define P2 "fedcba9876543210fedcba9876543210"
#define P3 "00000000000000000000000000000000"
#define P4 "11111111111111111111111111111111"
#define PSEUDONYM "who: {role: identifier, pseudonym: {key-file: none.key}}"
#define MAP8 "kanon-rowmap 1\n1\n2\n3\n4\n5\n6\n7\n8\n"

static const char *put(const char *name, const char *text)
{
    return testing_file(name, text, strlen(text));
}

static kn_status verify(kn_verify_report **out, kn_context *ctx, const char *yaml, const char *original,
                        const char *release, const char *map, kn_error *err)
{
    kn_spec          *spec = NULL;
    kn_verify_options options = KN_VERIFY_OPTIONS_INIT;
    const char       *originals[] = {put("o.csv", original)};
    options.originals = originals;
    options.original_count = 1;
    options.release = put("r.csv", release);
    options.map_path = map ? put("r.csv.rowmap", map) : NULL;
    kn_status st = kn_spec_read(&spec, ctx, put("s.yaml", yaml), err);
    if (st == KN_OK) st = kn_spec_check(spec, err);
    if (st == KN_OK) st = kn_verify(out, ctx, spec, &options, err);
    kn_spec_free(spec);
    return st;
}

/* `problem` NULL: it holds. */
static void expect(const char *yaml, const char *original, const char *release, const char *map, const char *problem)
{
    kn_context       *ctx = testing_context(2);
    kn_error          err = KN_ERROR_INIT;
    kn_verify_report *r = NULL;
    bool              told = false;
    assert_ok(verify(&r, ctx, yaml, original, release, map, &err), err);
    for (int i = 0; i < r->problem_count; i++) {
        told = told || (problem && strstr(r->problems[i], problem));
        if (!problem) print_message("  %s\n", r->problems[i]);
    }
    if (problem ? r->ok || !told : !r->ok) {
        for (int i = 0; i < r->problem_count; i++) print_message("  %s\n", r->problems[i]);
        fail_msg("%s: %s", problem ? problem : "it must hold", release);
    }
    assert_true(r->linked);
    kn_verify_report_free(r);
    testing_context_free(ctx);
}

#define HEAD "kanon: 1\ninput: o.csv\noutput: r.csv\n"
#define QUASI "a: {role: quasi, type: text}"
#define TWO "who,a,s\nAnn,1,x\nAnn,2,y\nBob,1,y\nBob,2,x\nCid,1,x\nCid,1,y\nDan,1,y\nDan,1,x\n"

static void whole_persons(void **state)
{
    (void)state;
    const char *yaml =
        HEAD "entity: who\nattributes: {" PSEUDONYM ", " QUASI ", s: {role: sensitive}}\nprivacy: [{k: 2}]\n";
    const char *good =
        "who,a,s\n" P1 ",1,x\n" P1 ",2,y\n" P2 ",1,y\n" P2 ",2,x\n" P3 ",1,x\n" P3 ",1,y\n" P4 ",1,y\n" P4 ",1,x\n";
    expect(yaml, TWO, good, MAP8, NULL);
    /* Each row looks like three others; Dan's two rows like nobody's. */
    expect(yaml, "who,a,s\nAnn,1,x\nAnn,2,y\nBob,1,y\nBob,2,x\nCid,1,x\nCid,2,y\nDan,1,y\nDan,1,x\n",
           "who,a,s\n" P1 ",1,x\n" P1 ",2,y\n" P2 ",1,y\n" P2 ",2,x\n" P3 ",1,x\n" P3 ",2,y\n" P4 ",1,y\n" P4 ",1,x\n",
           MAP8, "k: 1 class of 2 fails, the first in row 7");
    /* Rows of Bob and Cid are exchanged: no longer two by two. */
    expect(yaml, TWO,
           "who,a,s\n" P1 ",1,x\n" P1 ",2,y\n" P2 ",1,y\n" P3 ",2,x\n" P3 ",1,x\n" P2 ",1,y\n" P4 ",1,y\n" P4 ",1,x\n",
           MAP8, "one identifier has two pseudonyms");
    /* Without an entity the pseudonym says whose rows they are. */
    expect(HEAD "attributes: {" PSEUDONYM ", " QUASI "}\nprivacy: [{k: 2}]\n", "who,a\nAnn,1\nAnn,2\nBob,1\nBob,2\n",
           "who,a\n" P1 ",1\n" P1 ",2\n" P2 ",1\n" P2 ",2\n", "kanon-rowmap 1\n1\n2\n3\n4\n", NULL);
    expect(HEAD "attributes: {" PSEUDONYM ", " QUASI "}\nprivacy: [{k: 2}]\n",
           "who,a\nAnn,1\nAnn,2\nBob,1\nBob,1\nCid,2\n", "who,a\n" P1 ",1\n" P1 ",2\n" P2 ",1\n" P2 ",1\n" P3 ",2\n",
           "kanon-rowmap 1\n1\n2\n3\n4\n5\n", "3 classes of 3 fail");
}

static void suppressed_whole(void **state)
{
    (void)state;
    const char *yaml =
        HEAD "entity: who\nattributes: {" PSEUDONYM ", " QUASI "}\nprivacy: [{k: 2}]\nsuppression: {rows: 4}\n";
    const char *original = "who,a\nAnn,1\nBob,1\nCid,1\nCid,2\nCid,3\nDan,1\n",
               *map = "kanon-rowmap 1\n1\n2\n3\n4\n5\n6\n";
    expect(yaml, original, "who,a\n" P1 ",1\n" P2 ",1\n*,*\n*,*\n*,*\n" P4 ",1\n", map, NULL);
    expect(yaml, original, "who,a\n" P1 ",1\n" P2 ",1\n" P3 ",1\n*,*\n*,*\n" P4 ",1\n", map,
           "1 person is shown with some of their rows only, such as that of row 3");
    const char *drop = HEAD "entity: who\nattributes: {" PSEUDONYM ", " QUASI
                            "}\nprivacy: [{k: 2}]\nsuppression: {rows: 4}\nsuppressed: drop\n";
    expect(drop, original, "who,a\n" P1 ",1\n" P2 ",1\n" P4 ",1\n", "kanon-rowmap 1\n1\n2\n6\n", NULL);
    expect(drop, original, "who,a\n" P1 ",1\n" P2 ",1\n" P3 ",1\n" P4 ",1\n", "kanon-rowmap 1\n1\n2\n3\n6\n",
           "1 person is shown with some of their rows only");
}

static void promises_of_places(void **state)
{
    (void)state;
    static const struct {
        const char *model, *problem;
    } cases[] = {
        {"{l-diversity: {kind: distinct, l: 2}}", NULL},
        {"{l-diversity: {kind: entropy, l: 2}}", NULL},
        {"{l-diversity: {kind: entropy, l: 2.01}}", "fail"},
        {"{l-diversity: {kind: recursive, l: 2, c: 1.01}}", NULL},
        {"{l-diversity: {kind: recursive, l: 2, c: 1}}", "fail"},
        {"{alpha-k: {alpha: 0.5, k: 2}}", NULL},
        {"{alpha-k: {alpha: 0.49, k: 2}}", "fail"},
        {"{max-risk: {risk: 0.5}}", NULL},
        {"{max-risk: {risk: 0.49}}", "fail"},
        {"{average-risk: {risk: 0.5}}", NULL},
        {"{average-risk: {risk: 0.49}}", "average-risk"},
        {"{t-closeness: {distance: equal, t: 1}}", "t-closeness cannot be promised"},
        {"{beta-likeness: {kind: basic, beta: 9}}", "beta-likeness cannot be promised"},
        {"{delta-disclosure: {delta: 9}}", "delta-disclosure cannot be promised"},
    };
    const char *release =
        "who,a,s\n" P1 ",1,x\n" P1 ",2,y\n" P2 ",1,y\n" P2 ",2,x\n" P3 ",1,x\n" P3 ",1,y\n" P4 ",1,y\n" P4 ",1,x\n";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char yaml[600];
        snprintf(yaml, sizeof yaml,
                 HEAD "entity: who\nattributes: {" PSEUDONYM ", " QUASI ", s: {role: sensitive}}\nprivacy: [%s]\n",
                 cases[i].model);
        expect(yaml, TWO, release, MAP8, cases[i].problem);
    }
    /* Of two rows each that look the same one has the flu in both: it is certain, although there are two values. */
    expect(HEAD "entity: who\nattributes: {" PSEUDONYM ", " QUASI
                ", s: {role: sensitive}}\nprivacy: [{l-diversity: {kind: distinct, l: 2}}]\n",
           "who,a,s\nAnn,1,flu\nAnn,1,flu\nBob,1,flu\nBob,1,cold\n",
           "who,a,s\n" P1 ",1,flu\n" P1 ",1,flu\n" P2 ",1,flu\n" P2 ",1,cold\n", "kanon-rowmap 1\n1\n2\n3\n4\n",
           "1 class of 1 fails");
}

static void columns_of_the_person(void **state)
{
    (void)state;
    const char *map = "kanon-rowmap 1\n1\n2\n3\n4\n5\n6\n",
               *original = "who,a,w\nAnn,1,5\nAnn,2,5\nBob,1,6\nBob,3,6\nCid,2,6\nCid,3,6\n";
    const char *roles[] = {"keep", "weight", "sensitive"};
    for (size_t i = 0; i < 3; i++) {
        char yaml[400];
        snprintf(yaml, sizeof yaml, HEAD "entity: who\nattributes: {" QUASI ", w: {role: %s}}\nprivacy: [{k: 2}]\n",
                 roles[i]);
        expect(yaml, original, "a,w\n1,5\n2,5\n1,6\n3,6\n2,6\n3,6\n", map, "3 classes of 3 fail");
        expect(yaml, original, "a,w\n*,5\n*,5\n*,6\n*,6\n*,6\n*,6\n", map, NULL);
    }
    /* Two identifiers, or one that groups rows otherwise. */
    expect(HEAD "attributes: {" PSEUDONYM ", n: {role: identifier, pseudonym: {key-file: none.key}}, " QUASI
                "}\nprivacy: [{k: 1}]\n",
           "who,n,a\nAnn,7,1\nAnn,8,1\nBob,7,1\n", "who,n,a\n" P1 "," P3 ",1\n" P1 "," P4 ",1\n" P2 "," P3 ",1\n",
           "kanon-rowmap 1\n1\n2\n3\n", "both link rows");
    expect(HEAD "entity: who\nattributes: {n: {role: identifier, pseudonym: {key-file: none.key}}, " QUASI
                "}\nprivacy: [{k: 1}]\n",
           "who,n,a\nAnn,7,1\nAnn,8,1\nBob,7,1\n", "n,a\n" P3 ",1\n" P4 ",1\n" P3 ",1\n", "kanon-rowmap 1\n1\n2\n3\n",
           "differently from the persons' column");
}

/* ---- Little memory ---- */

static void memory_runs_out(void **state)
{
    (void)state;
    const char *yaml = HEAD "entity: who\nattributes: {" PSEUDONYM ", " QUASI
                            ", s: {role: sensitive}}\nprivacy: [{k: 2}, {l-diversity: {kind: distinct, l: 2}}]\n";
    const char *release =
        "who,a,s\n" P1 ",1,x\n" P1 ",2,y\n" P2 ",1,y\n" P2 ",2,x\n" P3 ",1,x\n" P3 ",1,y\n" P4 ",1,y\n" P4 ",1,x\n";
    kn_status st = KN_MEMORY;
    for (int64_t at = 0; st != KN_OK; at += testing_step()) {
        testing_allocator allocator = {.refuse_at = at};
        kn_context       *ctx = NULL;
        kn_verify_report *r = NULL;
        kn_error          err = KN_ERROR_INIT;
        st = testing_refusing_context(&ctx, &allocator, 1, &err);
        if (st == KN_OK) st = verify(&r, ctx, yaml, TWO, release, MAP8, &err);
        if (st != KN_OK && st != KN_MEMORY) fail_msg("request %lld: %s", (long long)at, err.message);
        kn_verify_report_free(r);
        kn_context_free(ctx);
        assert_int_equal(allocator.live, 0);
    }
    st = KN_MEMORY;
    for (int64_t at = 0; st != KN_OK; at += testing_step()) {
        testing_allocator    allocator = {.refuse_at = at};
        kn_context          *ctx = NULL;
        kn_spec             *spec = NULL;
        kn_release_result   *r = NULL;
        kn_error             err = KN_ERROR_INIT;
        kn_anonymize_options options = KN_ANONYMIZE_OPTIONS_INIT;
        options.dry_run = true;
        const char *text =
            HEAD "attributes: {who: {role: identifier}, " QUASI ", s: {role: sensitive}, w: {role: keep}}\n"
                 "entity: who\nprivacy: [{k: 2}, {l-diversity: {attribute: s, kind: distinct, l: 2}}]\n"
                 "suppression: 50%\n";
        put("o.csv", "who,a,s,w\nAnn,1,x,7\nAnn,1,y,7\nBob,1,y,8\nBob,1,x,8\nCid,2,x,9\nCid,1,y,9\n");
        st = testing_refusing_context(&ctx, &allocator, 1, &err);
        if (st == KN_OK) st = kn_spec_read(&spec, ctx, put("s.yaml", text), &err);
        if (st == KN_OK) st = kn_anonymize(&r, ctx, spec, &options, &err);
        if (st != KN_OK && st != KN_MEMORY) fail_msg("request %lld: %s", (long long)at, err.message);
        if (st == KN_OK) assert_true(r->head.found && r->head.k == 2);
        kn_release_result_free(r);
        kn_spec_free(spec);
        kn_context_free(ctx);
        assert_int_equal(allocator.live, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signatures_and_positions),
        testing_alone(worst_node_of_the_verifier),
        cmocka_unit_test(whole_persons),
        cmocka_unit_test(suppressed_whole),
        cmocka_unit_test(promises_of_places),
        cmocka_unit_test(columns_of_the_person),
        testing_alone(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
