/* test_verify_memory.c: the verifier where memory is refused, holds anything, or ends: small releases of tables, databases and tree
 * records. A verdict is the same with a request refused, or memory is said to be missing; nothing is written behind a block.
 * SPDX-License-Identifier: Apache-2.0 */
#include <kanon/verify.h>
#include <stdint.h>
#include <sys/stat.h>

#include "folder_testing.h"
#include "kn_verify_internal.h"
#include "verify_testing.h"

/* Refuses one request, or several in a row, of those of at least so many bytes; what it gives is full of one byte, with a
 * fence behind it. */
typedef struct memory {
    int64_t at, requests, live;
    size_t  least;
    int     fill, more;
} memory;

static bool is_refused(memory *m, size_t size)
{
    int64_t past = size >= m->least ? m->requests++ - m->at : -1;
    return m->at >= 0 && past >= 0 && past <= m->more;
}

static const char fence[] = "nothing is written here";

static char *put_fence(char *block, size_t size)
{
    assert_non_null(block);
    memcpy(block + size, fence, sizeof fence);
    return block;
}

static void *get_block(void *user, size_t size)
{
    memory *m = user;
    if (is_refused(m, size)) return NULL;
    char *block = put_fence(malloc(size + sizeof fence), size);
    m->live++;
    return memset(block, m->fill, size);
}

static void *resize_block(void *user, void *block, size_t old_size, size_t new_size)
{
    memory *m = user;
    if (!block) return get_block(user, new_size);
    if (is_refused(m, new_size)) return NULL;
    assert_memory_equal((char *)block + old_size, fence, sizeof fence);
    char *moved = put_fence(realloc(block, new_size + sizeof fence), new_size);
    if (new_size > old_size) memset(moved + old_size, m->fill, new_size - old_size);
    return moved;
}

static void release_block(void *user, void *block, size_t size)
{
    memory *m = user;
    assert_memory_equal((char *)block + size, fence, sizeof fence);
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

static bool with_map, with_summary;

static kn_status verify_table(kn_context *ctx, const kn_spec *spec, bool *ok, kn_error *err)
{
    kn_verify_report *r = NULL;
    kn_verify_options options = KN_VERIFY_OPTIONS_INIT;
    const char *const originals[] = {path_of("original.csv")};
    options.originals = originals;
    options.original_count = 1;
    options.release = path_of("release.csv");
    options.map_path = with_map ? path_of("release.rowmap") : NULL;
    options.summary = with_summary ? path_of("summary.csv") : NULL;
    kn_status st = kn_verify(&r, ctx, spec, &options, err);
    *ok = st == KN_OK && r->ok;
    kn_verify_report_free(r);
    return st;
}

static kn_status verify_database(kn_context *ctx, const kn_spec *spec, bool *ok, kn_error *err)
{
    kn_database_verify_report *r = NULL;
    kn_database_verify_options options = KN_DATABASE_VERIFY_OPTIONS_INIT;
    options.map_path = with_map ? path_of("release.rowmap") : NULL;
    kn_status st = kn_verify_database(&r, ctx, spec, &options, err);
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

/* One round; false: nothing was refused any more. */
static bool refuse_one(verifying *verify, size_t least, bool holds, int64_t at, int more)
{
    memory      m = {.at = -1, .least = least, .fill = 0xa5, .more = more};
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
    if (st == KN_OK && ok != holds) fail_msg("request %d: it %s", (int)at, ok ? "holds" : "holds no longer");
    kn_spec_free(spec);
    kn_context_free(ctx);
    assert_int_equal(m.live, 0);
    return reached;
}

/* The verdict is the one that is expected, or memory is said to be missing; what was taken is given back. Two in a row: arrays
 * that grow ask again for less. */
static void refuse_each(verifying *verify, const char *yaml, size_t least, bool holds)
{
    put("spec.yaml", yaml);
    for (int more = 0; more < (testing_step() == 1 ? 2 : 1); more++) { /* once where a sanitizer looks on */
        int64_t at = 0;
        while (refuse_one(verify, least, holds, at, more)) at += testing_step();
        assert_true(at > 20);
    }
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
                0, true);
}

/* Ranges and sets that overlap, with their originals told or not, and with a summary. */
static void memory_for_ranges(void **state)
{
    (void)state;
#define RANGES HEAD "attributes: {a: {role: quasi, type: integer}, b: {role: quasi}, s: {role: sensitive}}\n"
    put("original.csv", "a,b,s\n2,u,x\n3,u,y\n2,v,y\n3,v,x\n9,w,x\n");
    put("release.csv", "a,b,s\n[1-3],{u;v},x\n[1-3],{u;v},y\n[2-4],{u;v},y\n[2-4],{u;v},x\n*,*,*\n");
    put("release.rowmap", "kanon-rowmap 1\n1\n2\n3\n4\n5\n");
    put("summary.csv", "a,b,rows,a_min,a_max,a_mean\n[1-3],{u;v},2,2,3,2.5\n[2-4],{u;v},2,2,3,2.5\n");
    for (int way = 0; way < 4; way++) {
        with_map = way > 0;
        with_summary = way > 1;
        if (way == 3) put("summary.csv", "a,b,rows,a_min,a_max,a_mean\n[1-3],{u;v},2,2,3,2.5\n[2-4],{u;v},2,2,3,2.6\n");
        refuse_each(verify_table, RANGES "privacy: [{k: 2}, {l-diversity: {l: 2}}]\nsuppression: {rows: 1}\n", 0,
                    way < 3);
    }
    with_map = with_summary = false;
    /* The first, 2, could be in either class and is needed in that of 1: no shortage may hide it. */
    put("original.csv", "a\n2\n1\n4\n4\n");
    put("release.csv", "a\n[1-3]\n[1-3]\n[2-4]\n[2-4]\n");
    refuse_each(verify_table, HEAD "attributes: {a: {role: quasi, type: integer}}\nprivacy: [{k: 2}]\n", 0, true);
}

/* More pairs of values than there is an array for: those that occur are listed, in a list that grows. */
static void memory_for_many_pairs(void **state)
{
    (void)state;
    enum { VALUES = 2060, LINE = 5 }; /* 2060 * 2060 > 2^22 */
    char *table = malloc(VALUES * LINE + 3), *map = malloc(VALUES * LINE + 20);
    int   t = sprintf(table, "a\n"), m = sprintf(map, "kanon-rowmap 1\n");
    for (int i = 0; i < VALUES; i++) {
        t += sprintf(table + t, "%d\n", 1000 + i);
        m += sprintf(map + m, "%d\n", 1 + i);
    }
    put("original.csv", table);
    table[5] = '1'; /* the first value is not the original's: no refusal may hide it */
    put("release.csv", table);
    put("release.rowmap", map);
    put("spec.yaml", HEAD "attributes: {a: {role: quasi, type: integer}}\nprivacy: [{k: 1}]\n");
    with_map = true;
    int step = testing_step() == 1 ? 1 : 31; /* nearly all are for rows of the same kind */
    for (int64_t at = 0; refuse_one(verify_table, 0, false, at, 1); at += step) continue;
    with_map = false;
    free(table);
    free(map);
}

/* Persons with several rows, who are told by two columns, and a population. */
static void memory_for_persons(void **state)
{
    (void)state;
    put("crowd.csv", "a\n1\n1\n1\n1\n");
    put("original.csv", "f,g,n,a\nA,1,m,1\nA,1,m,1\nB,1,n,1\nB,1,n,1\n");
    put("release.csv", "n,a\n0123456789abcdef0123456789abcdef,1\n0123456789abcdef0123456789abcdef,1\n"
                       "fedcba9876543210fedcba9876543210,1\nfedcba9876543210fedcba9876543210,1\n");
    put("release.rowmap", "kanon-rowmap 1\n1\n2\n3\n4\n");
    with_map = true;
    refuse_each(verify_table,
                HEAD "entity: [f, g]\nattributes: {n: {role: identifier, pseudonym: {key-file: none.key}}, a: {role: "
                     "quasi}}\nprivacy: [{k: 2}]\n",
                0, true);
    put("original.csv", "a\n1\n1\n");
    put("release.csv", "a\n1\n1\n");
    put("release.rowmap", "kanon-rowmap 1\n1\n2\n");
    refuse_each(verify_table,
                HEAD "attributes: {a: {role: quasi}}\npopulation: crowd.csv\nprivacy: [{k: 2}, {k-map: {k: 4}}, "
                     "{delta-presence: {min: 0.5, max: 0.5}}]\n",
                0, true);
    with_map = false;
}

#define PERSON                                                                                                         \
    "kanon: 1\ninput: in/\noutput: out/\nentity: {table: person}\ntables:\n"                                           \
    "  person: {key: [id], attributes: {city: {role: quasi}}}\n"

static void memory_for_databases(void **state)
{
    (void)state;
    mkdir(path_of("in"), 0700);
    mkdir(path_of("out"), 0700);
    put("in/person.csv", "id,city\np1,Nice\np2,Nice\n");
    put("out/person.csv", "id,city\n1,Nice\n2,Nice\n");
    refuse_each(verify_database, PERSON "privacy: [{k: 2}]\n", 0, true);
    put("out/person.csv", "id,city\n1,Nice\n2,\"Nice\"\n"); /* a mark */
    refuse_each(verify_database, PERSON "privacy: [{k: 2}]\n", 0, false);
}

/* Two visits alike and two exams alike in each: what they hide is found by exchanging them. */
static void memory_for_anatomies(void **state)
{
    (void)state;
    mkdir(path_of("in"), 0700);
    mkdir(path_of("out"), 0700);
    put("in/person.csv", "id,city\np1,Nice\np2,Nice\n");
    put("out/person.csv", "id,city\n1,Nice\n2,Nice\n");
    put("release.rowmap", "released id,original id\n1,p1\n2,p2\n");
    put("in/visit.csv", "vid,id,ward\nv1,p1,A\nv2,p1,A\nv3,p2,A\nv4,p2,A\n");
    put("out/visit.csv", "vid,id,ward\n1,1,A\n2,1,A\n3,2,A\n4,2,A\n");
    put("in/exam.csv", "eid,vid,kind,ill\ne1,v1,K,a\ne2,v1,K,b\ne3,v2,K,c\ne4,v2,K,d\ne5,v3,K,a\ne6,v3,K,b\ne7,v4,K,"
                       "c\ne8,v4,K,d\n");
    put("out/exam.csv", "eid,vid,kind,group\n1,1,K,1\n2,1,K,2\n3,2,K,3\n4,2,K,4\n5,3,K,2\n6,3,K,1\n7,4,K,3\n8,4,K,4\n");
    put("out/exam_sensitive.csv", "group,ill,count\n1,c,1\n1,d,1\n2,c,1\n2,d,1\n3,a,1\n3,b,1\n4,a,1\n4,b,1\n");
    with_map = true;
    refuse_each(verify_database,
                PERSON "  visit: {key: [vid], parent: {table: person, columns: [id]}, attributes: {ward: {role: "
                       "quasi}}}\n  exam: {key: [eid], parent: {table: visit, columns: [vid]}, attributes: {kind: "
                       "{role: quasi}, ill: {role: sensitive}}}\nprivacy: [{k: 2}, {l-diversity: {attribute: "
                       "exam.ill, l: 2}}]\noptions: {anatomy: true}\n",
                0, true);
    with_map = false;
    remove(path_of("out/exam_sensitive.csv"));
    remove(path_of("in/exam.csv"));
    remove(path_of("out/exam.csv"));
    remove(path_of("in/visit.csv"));
    remove(path_of("out/visit.csv"));
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
                COLUMNS * sizeof(int), true);
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
                0, true);
    for (int records = 15; records <= 17; records++) { /* the list of where each begins is full */
        char baskets[40] = "";
        for (int i = 0; i < records; i++) strcat(baskets, "a\n");
        put("in.txt", baskets);
        put("out.txt", baskets);
        refuse_each(verify_records,
                    "kanon: 1\ninput: in.txt\noutput: out.txt\nclasses: {Item: {hierarchy: item.csv}}\n"
                    "privacy: [{k-mn: {k: 2, m: 1, n: 0}}]\n",
                    0, true);
    }
    put("in.txt", "a\n");
    put("out.txt", ""); /* no record at all */
    refuse_each(verify_records,
                "kanon: 1\ninput: in.txt\noutput: out.txt\nclasses: {Item: {hierarchy: item.csv}}\n"
                "privacy: [{k-mn: {k: 1, m: 1, n: 0}}]\n",
                0, false);
    /* Without c there is one: no shortage hides it. */
    put("in.txt", "a,c\na,c\na\n");
    put("out.txt", "a,c\na,c\na\n");
    refuse_each(verify_records,
                "kanon: 1\ninput: in.txt\noutput: out.txt\nclasses: {Item: {hierarchy: item.csv, negative: true}}\n"
                "privacy: [{k-mn: {k: 2, m: 1, n: 0}}]\n",
                0, false);
}

/* Nodes that were moved: where they stand is counted, and what they come from is searched for. */
static void memory_for_moved_nodes(void **state)
{
    (void)state;
#define BELOW "{\"children\": [{\"v\": \"h\", \"children\": [{\"v\": \"a\"}, {\"v\": \"b\"}]}]}"
#define BESIDE "{\"children\": [{\"v\": \"h\", \"children\": [{\"v\": \"a\"}]}, {\"v\": \"b\"}]}"
    put("head.csv", "h;*\n");
    put("items.csv", "a;*\nb;*\n");
    put("in.json", "[" BELOW ", " BELOW ", " BELOW "]");
    put("out.json", "[\n  " BESIDE ",\n  " BESIDE ",\n  " BESIDE "\n ]\n");
    refuse_each(
        verify_records,
        "kanon: 1\ninput: in.json\noutput: out.json\nclasses: {Head: {value: v, hierarchy: head.csv}, Item: {value: "
        "v, hierarchy: items.csv}}\nprivacy: [{k-mn: {k: 2, m: 2, n: 1}}]\noptions: {strict-structure: true}\n",
        0, true);
}

/* Nodes that do not say their class, below one another; that a value is absent may be known, and a class is sensitive. */
static void memory_for_trees(void **state)
{
    (void)state;
#define TREE(m, d)                                                                                                     \
    "{\"children\": [{\"v\": \"" m "\", \"children\": [{\"v\": \"" d "\", \"children\": [{\"v\": \"x\"}]}]}]}"
    put("shared.csv", "m1;M;Med;*\nm2;M;Med;*\nd1;D;Dis;*\nd2;D;Dis;*\n");
    put("ills.csv", "x;*\ny;*\n");
    put("in.json", "[" TREE("m1", "d1") ", " TREE("m2", "d2") ", " TREE("m1", "d2") "]");
    put("out.json", "[\n  " TREE("M", "D") ",\n  " TREE("M", "D") ",\n  " TREE("M", "D") "\n ]\n");
    static const char *const promises[] = {
        "privacy: [{k-mn: {k: 2, m: 3, n: 2}}]\n",
        "privacy: [{k-mn: {k: 2, m: 2, n: 1}}]\noptions: {semantics: paths}\n",
        "privacy: [{k-mn: {k: 2, m: 2, n: 1}}]\noptions: {strict-structure: true}\n",
        "privacy: [{k-mn: {k: 2, m: 1, n: 0}}, {l-diversity: {attribute: Ill, l: 1}}]\n",
    };
    for (int i = 0; i < 4; i++) {
        char yaml[1000];
        snprintf(
            yaml, sizeof yaml,
            "kanon: 1\ninput: in.json\noutput: out.json\nclasses: {Med: {value: v, hierarchy: shared.csv, negative: "
            "true}, Other: {value: v, hierarchy: shared.csv}, Ill: {value: v, hierarchy: ills.csv%s}}\n%s",
            i == 3 ? ", role: sensitive" : "", promises[i]);
        refuse_each(verify_records, yaml, 0, true);
    }
}

/* More marks than are told: none is written behind the list. */
static void marks_in_many_columns(void **state)
{
    (void)state;
    enum { COLUMNS = 260 };
    char   yaml[9000] = "", header[2000] = "", plain[600] = "", marked[1200] = "", file[4000];
    size_t h = 0;
    int    y = snprintf(yaml, sizeof yaml,
                        "kanon: 1\ninput: in/\noutput: out/\nentity: {table: person}\ntables:\n  person: "
                           "{key: [id], attributes: {c0: {role: quasi}");
    for (int i = 0; i < COLUMNS; i++) {
        if (i > 0) y += snprintf(yaml + y, sizeof yaml - (size_t)y, ", c%d: {role: quasi}", i);
        h += (size_t)snprintf(header + h, sizeof header - h, ",c%d", i);
        strcat(plain, ",x");
        strcat(marked, ",\"x\"");
    }
    snprintf(yaml + y, sizeof yaml - (size_t)y, "}}\nprivacy: [{k: 2}]\n");
    mkdir(path_of("in"), 0700);
    mkdir(path_of("out"), 0700);
    snprintf(file, sizeof file, "id%s\np1%s\np2%s\n", header, plain, plain);
    put("in/person.csv", file);
    snprintf(file, sizeof file, "id%s\n1%s\n2%s\n", header, plain, marked);
    put("out/person.csv", file);
    put("spec.yaml", yaml);
    assert_false(refuse_one(verify_database, 0, false, INT32_MAX, 0));
}

/* What nobody wrote is looked at nowhere: 7 is a value of a row that is left out; a column may have no value at all. */
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
        {.yaml = HEAD "attributes: {a: {role: quasi}, b: {role: quasi}}\nprivacy: [{k: 2}]\n",
         .original = "a,b\n,1\n,1\n",
         .release = "a,b\n,1\n,1\n"},
    };
    enum { CASES = sizeof cases / sizeof *cases };
    for (size_t i = 0; i < CASES * (sizeof fills / sizeof *fills); i++) {
        memory            m = {.at = -1, .fill = fills[i / CASES]};
        kn_context       *ctx = context_of(&m);
        kn_error          err = KN_ERROR_INIT;
        kn_verify_report *r = NULL;
        assert_ok(run_case(&r, ctx, &cases[i % CASES], &err), err);
        show(r);
        assert_true(r->ok);
        if (i % CASES == 0) assert_close(r->metrics[KN_METRIC_NCP], 0.5); /* all of a, nothing of b */
        kn_verify_report_free(r);
        kn_context_free(ctx);
        assert_int_equal(m.live, 0);
    }
}

/* Texts that are copied end with a NUL, which the next does not write over. */
static void texts_end(void **state)
{
    (void)state;
    enum { TEXTS = 20000 };
    memory      m = {.at = -1, .fill = 0xa5};
    kn_context *ctx = context_of(&m);
    kn_texts    t;
    kn_texts_init(&t, ctx);
    for (uint32_t i = 0; i < TEXTS; i++) {
        char name[20];
        snprintf(name, sizeof name, "%u", i);
        assert_int_equal(kn_texts_add(&t, kn_string_of(name), true), i);
    }
    for (uint32_t i = 0; i < TEXTS; i++) {
        assert_int_equal(strlen(t.texts[i].data), t.texts[i].size);
        assert_int_equal(atoi(t.texts[i].data), (int)i);
    }
    kn_texts_free(&t);
    kn_context_free(ctx);
    assert_int_equal(m.live, 0);
}

int main(void)
{
    folder_set_up();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_for_tables),
        cmocka_unit_test(memory_for_ranges),
        cmocka_unit_test(memory_for_many_pairs),
        cmocka_unit_test(memory_for_persons),
        cmocka_unit_test(memory_for_databases),
        cmocka_unit_test(memory_for_anatomies),
        cmocka_unit_test(memory_for_wide_databases),
        cmocka_unit_test(memory_for_records),
        cmocka_unit_test(memory_for_moved_nodes),
        cmocka_unit_test(memory_for_trees),
        cmocka_unit_test(marks_in_many_columns),
        cmocka_unit_test(memory_full_of_anything),
        cmocka_unit_test(texts_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
