/* test_records.c: tree records: reading, their one order, disassociation, plans, writing. */
/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "testing.h"

#include <inttypes.h>
#include <unistd.h>

#include "kn_alloc.h"
#include "kn_output.h"
#include "kn_records_plan.h"
#include "kn_records_write.h"
#include "kn_rng.h"
#include "kn_vocabulary_make.h"
#include "records_testing.h"

/* ---- Help ---- */

static kn_status read_text(kn_records **out, kn_context *ctx, const char *name, const char *text,
                           const kn_records_options *options, kn_error *err)
{
    return kn_records_read(out, ctx, testing_file(name, text, strlen(text)), options, err);
}

static kn_records *read_hospital(kn_context *ctx, const char *name, const char *text, bool released)
{
    kn_error           err = KN_ERROR_INIT;
    kn_spec_class      classes[3];
    kn_records        *r = NULL;
    kn_records_options options = KN_RECORDS_OPTIONS_INIT;
    const char        *reason = NULL;
    hospital_classes(classes, testing_file("hospital.dgh", figure_4, strlen(figure_4)));
    options.classes = classes;
    options.class_count = 3;
    options.released = released;
    assert_ok(read_text(&r, ctx, name, text, &options, &err), err);
    if (!kn_records_validate(r, &reason)) fail_msg("%s", reason);
    if (!kn_vocabulary_validate(r->vocabulary, &reason)) fail_msg("%s", reason);
    return r;
}

static uint32_t value_of(const kn_records *r, const char *label)
{
    for (int c = -1; c < r->vocabulary->class_count; c++) {
        uint32_t v = kn_vocabulary_find(r->vocabulary, c, kn_string_of(label));
        if (v != UINT32_MAX) return v;
    }
    fail_msg("no value %s", label);
    return 0;
}

/* The finest cut, with some values replaced by one above them. */
static kn_records_plan *make_plan(kn_context *ctx, const kn_records *r, const char *const *generalized, int count,
                                  int64_t relations)
{
    kn_error             err = KN_ERROR_INIT;
    kn_records_plan     *p = NULL;
    const kn_vocabulary *v = r->vocabulary;
    assert_ok(kn_records_plan_create(&p, ctx, v, relations, &err), err);
    for (uint32_t n = 0; n < v->nodes; n++) p->image[n] = v->height[n] == 0 ? n : UINT32_MAX;
    for (int i = 0; i < count; i++) {
        uint32_t top = value_of(r, generalized[i]);
        for (uint32_t n = top; n < v->end[top]; n++) p->image[n] = top;
    }
    return p;
}

static void apply_and_compare(kn_context *ctx, const kn_records *r, const kn_records_plan *p, const char *expected)
{
    kn_error    err = KN_ERROR_INIT;
    kn_records *out = NULL;
    const char *reason = NULL;
    if (!kn_records_plan_validate(p, r->vocabulary, &reason)) fail_msg("%s", reason);
    assert_ok(kn_records_apply(&out, NULL, ctx, r, p, &err), err);
    if (!kn_records_validate(out, &reason)) fail_msg("%s", reason);
    assert_string_equal(record_line(out, 0), expected);
    kn_records_free(out);
}

/* Writes records in a layout and returns the file's text; freed with free(). */
static char *written(kn_context *ctx, const kn_records *r, const kn_records_layout *layout,
                     const kn_spec_class *classes, int class_count, const char *name)
{
    kn_error    err = KN_ERROR_INIT;
    kn_output  *output = NULL;
    const char *path = testing_file(name, "", 0);
    assert_ok(kn_output_open(&output, ctx, path, NULL, &err), err);
    assert_ok(kn_records_write(output, ctx, r, layout, classes, class_count, &err), err);
    assert_ok(kn_output_flush(output, &err), err);
    char *text = testing_contents(kn_output_temporary(output), NULL);
    kn_output_abort(output);
    return text;
}

/* ---- The figures ---- */

static void test_figures(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_records *r = read_hospital(ctx, "fig2.xml", figure_2, false);
    assert_int_equal(kn_records_count(r), 1);
    assert_string_equal(record_line(r, 0), "Hospital1(Gastritis) Hospital2(Flu(Pain killer) Bronchitis(Antibiotics))");
    assert_int_equal(kn_records_class(r, 0, 0), 0);
    assert_int_equal(kn_records_class(r, 0, 1), 1);
    assert_int_equal(kn_records_class(r, 0, 4), 2);

    const char      *lung[] = {"Lung Disease"};
    kn_records_plan *p = make_plan(ctx, r, lung, 1, 0);
    apply_and_compare(ctx, r, p, "Hospital1(Gastritis) Hospital2(Lung Disease(Pain killer Antibiotics))");
    kn_records_plan_free(p);

    p = make_plan(ctx, r, NULL, 0, 1);
    p->disassociations[0] = (kn_disassociation){value_of(r, "Hospital2"), value_of(r, "Pain killer")};
    apply_and_compare(ctx, r, p, "Hospital1(Gastritis) Hospital2(Flu Bronchitis(Antibiotics)) Pain killer");

    p->disassociations[0] = (kn_disassociation){value_of(r, "Hospital2"), value_of(r, "Bronchitis")};
    apply_and_compare(ctx, r, p, "Hospital1(Gastritis) Hospital2(Flu(Pain killer) Antibiotics) Bronchitis");
    kn_records_plan_free(p);
    kn_records_free(r);
    testing_context_free(ctx);
}

/* What order a list of disassociations is replayed in matters (K7), and the cut "*" shows only depth (K8). */
static void test_order_and_star(void **state)
{
    (void)state;
    kn_context       *ctx = testing_context(1);
    kn_records       *r = read_hospital(ctx, "fig2.xml", figure_2, false);
    kn_records_plan  *p = make_plan(ctx, r, NULL, 0, 2);
    kn_disassociation one = {value_of(r, "Bronchitis"), value_of(r, "Antibiotics")};
    kn_disassociation two = {value_of(r, "Hospital2"), value_of(r, "Bronchitis")};
    p->disassociations[0] = one;
    p->disassociations[1] = two;
    apply_and_compare(ctx, r, p, "Hospital1(Gastritis) Hospital2(Flu(Pain killer) Antibiotics) Bronchitis");
    p->disassociations[0] = (kn_disassociation){value_of(r, "Hospital2"), value_of(r, "Antibiotics")};
    p->disassociations[1] = two;
    apply_and_compare(ctx, r, p, "Hospital1(Gastritis) Hospital2(Flu(Pain killer)) Bronchitis Antibiotics");
    kn_records_plan_free(p);

    const char *star[] = {"*"};
    p = make_plan(ctx, r, star, 1, 0);
    apply_and_compare(ctx, r, p, "*(*(*))");
    kn_records_plan_free(p);
    p = make_plan(ctx, r, star, 1, 1);
    apply_and_compare(ctx, r, p, "*");
    kn_records_plan_free(p);
    kn_records_free(r);
    testing_context_free(ctx);
}

/* ---- Forms ---- */

static const char json_children[] = "{\"records\": [{\"id\": \"A\", \"children\": [\n"
                                    "  {\"v\": \"Hospital1\", \"children\": [{\"v\": \"Gastritis\"}]},\n"
                                    "  {\"children\": [{\"v\": \"Bronchitis\", \"children\": [\"Antibiotics\"]}, "
                                    "{\"children\": [{\"v\": \"Pain \\u006biller\"}],\n"
                                    "   \"v\": \"Flu\"}], \"v\": \"Hospital2\"}]}]}\n";

static const char json_nested[] =
    "[{\"id\": 1, \"MedicalCenter\": [{\"v\": \"Hospital1\", \"Disease\": \"Gastritis\"},\n"
    " {\"v\": \"Hospital2\", \"Disease\": [{\"Treatment\": \"Antibiotics\", \"v\": \"Bronchitis\"}, \n"
    "  {\"v\": \"Flu\", \"Treatment\": {\"v\": \"Pain killer\"}}]}]}]";

static void test_forms(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
    } files[] = {
        {"a.xml", figure_2},
        {"a.json", json_children},
        {"b.json", json_nested},
        {"a.jsonl", "\xef\xbb\xbf{\"MedicalCenter\": [{\"v\": \"Hospital1\", \"Disease\": [{\"v\": \"Gastritis\"}, "
                    "null]}, {\"v\": "
                    "\"Hospital2\",\"children\":[{\"v\":\"Flu\",\"class\":\"Disease\",\"Treatment\":\"Pain killer\"},"
                    "{\"class\":\"Disease\",\"v\":\"Bronchitis\",\"children\":{\"v\":\"Antibiotics\"}}]}]}\n\n"},
        {"b.xml", "<?xml version='1.0' encoding='ISO-8859-1'?><!DOCTYPE a><a><b><record note='&lt;x>'>"
                  "<MedicalCenter v='Hospital1' Disease='Gastritis'/><MedicalCenter>Hospital<!-- no -->2 "
                  "<Disease v='Flu'><Treatment> Pain <![CDATA[killer]]>\n</Treatment></Disease>"
                  "<Disease>Bronchitis<Treatment v='Anti&#98;iotics'/></Disease></MedicalCenter>"
                  "<Phone v='1'><Disease v='Diarrhea'/></Phone></record></b></a>"},
    };
    kn_context *ctx = testing_context(1);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        kn_records *r = read_hospital(ctx, files[i].name, files[i].text, false);
        assert_int_equal(kn_records_count(r), 1);
        assert_string_equal(record_line(r, 0),
                            "Hospital1(Gastritis) Hospital2(Flu(Pain killer) Bronchitis(Antibiotics))");
        if (i == 4) {
            assert_int_equal(kn_records_ignored(r), 2);
            assert_string_equal(kn_records_ignored_name(r, 0), "@note");
            assert_string_equal(kn_records_ignored_name(r, 1), "Phone");
            assert_null(kn_records_ignored_name(r, 2));
            assert_string_equal(r->layout.path, "a/b/record");
        }
        kn_records_free(r);
    }
    testing_context_free(ctx);
}

static void test_merging(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    kn_records *r = read_hospital(ctx, "m.jsonl",
                                  "{\"MedicalCenter\": [{\"v\": \"Hospital2\", \"Disease\": [\"Flu\", "
                                  "{\"v\":\"Flu\",\"Treatment\":[\"Antibiotics\"]}]},\n"
                                  "{\"v\": \"Hospital1\"}, {\"v\": \"Hospital2\", \"Disease\": "
                                  "[{\"v\":\"Flu\",\"Treatment\":[\"Orthopedic\"]}]}]}{}",
                                  false);
    assert_int_equal(kn_records_count(r), 2);
    assert_string_equal(record_line(r, 0), "Hospital1 Hospital2(Flu(Orthopedic Antibiotics))");
    assert_string_equal(record_line(r, 1), "");
    assert_int_equal(kn_records_merged(r), 3);
    kn_records_free(r);
    testing_context_free(ctx);
}

static void test_baskets(void **state)
{
    (void)state;
    static const char  text[] = "milk, bread ,\"a,b \"\"c\"\"\"\r\n\nbeer\nbread,,milk,bread";
    kn_context        *ctx = testing_context(1);
    kn_error           err = KN_ERROR_INIT;
    kn_records        *r = NULL, *again = NULL;
    kn_spec_class      item = {.name = "item", .hierarchy = KN_HIERARCHY_SPEC_INIT};
    kn_records_options options = KN_RECORDS_OPTIONS_INIT;
    options.classes = &item;
    options.class_count = 1;
    assert_ok(read_text(&r, ctx, "baskets.txt", text, &options, &err), err);
    assert_int_equal(kn_records_count(r), 4);
    assert_string_equal(record_line(r, 0), "a,b \"c\" bread milk");
    assert_string_equal(record_line(r, 1), "");
    assert_string_equal(record_line(r, 3), "bread milk");
    assert_int_equal(kn_records_merged(r), 1);
    kn_vocabulary *v = r->vocabulary;
    kn_string      top = kn_vocabulary_label(v, v->top[0]);
    assert_memory_equal(top.data, "item", top.size);
    char *out = written(ctx, r, &r->layout, &item, 1, "out.txt");
    assert_string_equal(out, "\"a,b \"\"c\"\"\",bread,milk\n\nbeer\nbread,milk\n");
    options.released = true;
    assert_ok(read_text(&again, ctx, "again.txt", "*\nitem\n", &options, &err), err);
    assert_string_equal(record_line(again, 0), "*");
    assert_string_equal(record_line(again, 1), "item");
    assert_int_equal(kn_records_class(again, 0, 0), -1);
    assert_int_equal(kn_records_class(again, 1, 0), 0);
    kn_records_free(again);
    free(out);
    kn_records_free(r);
    testing_context_free(ctx);
}

/* A class of which absences may be known is read and written as any other. */
static void test_negative(void **state)
{
    (void)state;
    kn_context        *ctx = testing_context(1);
    kn_error           err = KN_ERROR_INIT;
    kn_records        *r = NULL, *out = NULL;
    const char        *reason = NULL;
    kn_spec_class      classes[3];
    kn_records_options options = KN_RECORDS_OPTIONS_INIT;
    hospital_classes(classes, testing_file("hospital.dgh", figure_4, strlen(figure_4)));
    classes[1].negative = true;
    options.classes = classes;
    options.class_count = 3;
    assert_ok(read_text(&r, ctx, "fig2.xml", figure_2, &options, &err), err);
    assert_true(kn_vocabulary_validate(r->vocabulary, &reason));
    assert_true(kn_records_validate(r, &reason));
    assert_true(!r->vocabulary->negative[0] && r->vocabulary->negative[1] && !r->vocabulary->negative[2]);
    kn_records_plan *p = make_plan(ctx, r, NULL, 0, 0);
    assert_ok(kn_records_apply(&out, NULL, ctx, r, p, &err), err);
    assert_string_equal(record_line(out, 0),
                        "Hospital1(Gastritis) Hospital2(Flu(Pain killer) Bronchitis(Antibiotics))");
    kn_records_plan_free(p);
    kn_records_free(out);
    kn_records_free(r);
    testing_context_free(ctx);
}

/* Namespaces around the records are kept; those inside, or of other elements, are told as dropped. */
static void test_namespaces(void **state)
{
    (void)state;
    static const char  text[] = "<a xmlns='urn:x' xmlns:h='urn:\"h&amp;h\"' id='7'><h:b xmlns:i='urn:i'>"
                                "<h:record xmlns:j='urn:j'><h:D v='1'/></h:record></h:b>"
                                "<h:b xmlns:i='urn:i' xmlns:k='urn:k'><h:record><h:D v='2'/></h:record></h:b></a>";
    kn_context        *ctx = testing_context(1);
    kn_error           err = KN_ERROR_INIT;
    kn_records        *r = NULL, *again = NULL;
    kn_buffer          out;
    kn_spec_class      classes[1] = {{.name = "h:D", .value = "@v", .hierarchy = KN_HIERARCHY_SPEC_INIT}};
    kn_records_options options = KN_RECORDS_OPTIONS_INIT;
    options.classes = classes;
    options.class_count = 1;
    options.record = "h:record";
    assert_ok(read_text(&r, ctx, "names.xml", text, &options, &err), err);
    assert_string_equal(kn_records_namespaces(r), "1\txmlns\turn:x\n1\txmlns:h\turn:\"h&h\"\n2\txmlns:i\turn:i\n");
    assert_int_equal(kn_records_ignored(r), 3);
    assert_string_equal(kn_records_ignored_name(r, 0), "@id");
    assert_string_equal(kn_records_ignored_name(r, 1), "@xmlns:j");
    assert_string_equal(kn_records_ignored_name(r, 2), "@xmlns:k");
    kn_buffer_init(&out, ctx);
    assert_ok(kn_records_format(&out, r, &r->layout, classes, 1, &err), err);
    kn_buffer_char(&out, '\0');
    assert_false(out.failed);
    assert_string_equal(out.data, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                                  "<a xmlns=\"urn:x\" xmlns:h=\"urn:&quot;h&amp;h&quot;\">\n"
                                  " <h:b xmlns:i=\"urn:i\">\n"
                                  "  <h:record>\n   <h:D v=\"1\"/>\n  </h:record>\n"
                                  "  <h:record>\n   <h:D v=\"2\"/>\n  </h:record>\n"
                                  " </h:b>\n</a>\n");
    assert_ok(read_text(&again, ctx, "again.xml", out.data, &options, &err), err);
    assert_string_equal(kn_records_namespaces(again), kn_records_namespaces(r));
    assert_int_equal(kn_records_ignored(again), 0);
    kn_buffer_free(&out);
    kn_records_free(again);
    kn_records_free(r);
    testing_context_free(ctx);
}

/* ---- Refusals ---- */

typedef struct refusal {
    const char *name, *text, *message; /* the message behind the folder's name */
    kn_status   status;
} refusal;

static void refuse_all(const refusal *list, size_t count, const kn_records_options *options)
{
    kn_context *ctx = testing_context(1);
    int         wrong = 0;
    for (size_t i = 0; i < count; i++) {
        kn_error    err = KN_ERROR_INIT;
        kn_records *r = NULL;
        kn_status   st = read_text(&r, ctx, list[i].name, list[i].text, options, &err);
        assert_true(st != KN_OK && !r);
        if (st == list[i].status && strstr(err.message, list[i].message)) continue;
        print_error("%s: expected \"%s\", not status %d, \"%s\"\n", list[i].name, list[i].message, st, err.message);
        wrong++;
    }
    assert_int_equal(wrong, 0);
    testing_context_free(ctx);
}

static void test_refusals(void **state)
{
    (void)state;
    static const refusal list[] = {
        {"x.xml", "<r><record>", "x.xml:1:12: not XML: no element found", KN_INPUT},
        {"x.xml", "<r>\n<record></r>", "x.xml:2:11: not XML: mismatched tag", KN_INPUT},
        {"x.xml", "", "x.xml:1:1: not XML: no element found", KN_INPUT},
        {"x.xml", "<r/>", "there is no element <record> that would be a record", KN_INPUT},
        {"x.xml", "<!DOCTYPE r [<!ENTITY a 'b'>]>\n<r><record/></r>", "x.xml:1:25: a document that defines entities",
         KN_INPUT},
        {"x.xml", "<!DOCTYPE r [<!ENTITY % a 'b'>]>\n<r><record/></r>", "a document that defines entities", KN_INPUT},
        {"x.xml", "<!DOCTYPE r SYSTEM 'http://example.org/x.dtd'>\n<r><record/></r>",
         "x.xml:1:46: a DOCTYPE that names another file", KN_INPUT},
        {"x.xml", "<!DOCTYPE r [<!ENTITY a SYSTEM '/etc/passwd'>]><r>&a;</r>", "a document that defines entities",
         KN_INPUT},
        {"x.xml", "<r><record>&nbsp;</record></r>", "x.xml:1:12: an entity other than the five of XML", KN_INPUT},
        {"x.xml", "<r><record><Disease v='&b;'/></record></r>", "x.xml:1:12: an entity other than the five of XML",
         KN_INPUT},
        {"x.xml", "<r><record><MedicalCenter><Disease v='Flu'/></MedicalCenter></record></r>",
         "x.xml:1:12: record 1: a node without a value", KN_INPUT},
        {"x.xml", "<r><record/>\n<record><Disease><Treatment v='x'/></Disease></record></r>",
         "x.xml:2:9: record 2: a node without a value", KN_INPUT},
        {"x.xml", "<r><record>\n<Disease v='Cold'/></record></r>",
         "x.xml:2:1: record 1: a value of class \"Disease\", which its hierarchy lacks", KN_INPUT},
        {"x.xml", "<r><record>\n<Disease v='Lung Disease'/></record></r>",
         "x.xml:2:1: record 1: a value of class \"Disease\", which stands for a group in its hierarchy", KN_INPUT},
        {"x.xml", "<r><record>\n<Disease v='*'/></record></r>", "which its hierarchy lacks", KN_INPUT},
        {"x.xml", "<r><record>\n<Disease v='Hospital1'/></record></r>", "which its hierarchy lacks", KN_INPUT},
        {"x.xml", "<r><record><Disease v='Flu'><Disease v='Flu'/></Disease></record></r>",
         "x.xml:1:29: record 1: a node of class \"Disease\" below one of class \"Disease\": a class occurs at most "
         "once on a "
         "path",
         KN_INPUT},
        {"x.xml", "<r><record><Treatment v='Orthopedic'><Disease v='Flu'/></Treatment></record></r>",
         "record 1: a node of class \"Disease\" below one of class \"Treatment\": classes nest the other way round",
         KN_INPUT},
        {"x.xml", "<r><record>was ill <Disease v='Flu'/></record></r>",
         "x.xml:1:20: mixed content: text beside elements", KN_INPUT},
        {"x.xml", "<r><record><Disease v='Flu'/> again</record></r>", "x.xml:1:30: mixed content: text beside elements",
         KN_INPUT},
        {"x.xml", "<r><record><MedicalCenter>Hos<Disease v='Flu'/>pital1</MedicalCenter></record></r>",
         "x.xml:1:48: mixed content: text beside elements", KN_INPUT},
        {"x.xml", "<r><record id='7'/>\n <record id='7'/></r>",
         "x.xml:2:2: record 2 has the id of an earlier one: a person has one record", KN_INPUT},
        {"x.json", "{\"records\": [{\"id\": 7}, {\"id\": \"7\"}]}",
         "x.json:1:25: record 2 has the id of an earlier one", KN_INPUT},
        {"x.json", "", "x.json:1:1: not JSON: the file ends too early", KN_INPUT},
        {"x.json", "{\"records\": [}", "x.json:1:14: not JSON: a value is expected", KN_INPUT},
        {"x.json", "{\"records\": [{} {}]}", "x.json:1:17: not JSON: a comma is expected", KN_INPUT},
        {"x.json", "[{},]", "x.json:1:5: not JSON: a value is expected", KN_INPUT},
        {"x.json", "[{}]\n x", "x.json:2:2: not JSON: something follows the document", KN_INPUT},
        {"x.json", "[{\"id\" 1}]", "x.json:1:8: not JSON: a colon is expected", KN_INPUT},
        {"x.json", "[{id: 1}]", "x.json:1:3: not JSON: a name in quotes is expected", KN_INPUT},
        {"x.json", "[{\"id\": 01}]", "x.json:1:10: not JSON: a comma is expected", KN_INPUT},
        {"x.json", "[{\"id\": 1.}]", "x.json:1:11: not JSON: a digit is expected", KN_INPUT},
        {"x.json", "[{\"id\": nul}]", "x.json:1:12: not JSON: no such word", KN_INPUT},
        {"x.json", "[{\"\xc3\xbc\": 1, \"id\": \"\\q\"}]", "x.json:1:19: not JSON: no such escape", KN_INPUT},
        {"x.json", "[{\"id\": \"\\ud800x\"}]", "x.json:1:16: not JSON: half of a surrogate pair", KN_INPUT},
        {"x.json", "[{\"id\": \"\\udc00\"}]", "not JSON: half of a surrogate pair", KN_INPUT},
        {"x.json", "[{\"id\": \"\\u0000\"}]", "not JSON: a NUL in a text", KN_INPUT},
        {"x.json", "[{\"id\": \"\\u12g4\"}]", "x.json:1:14: not JSON: four hexadecimal digits", KN_INPUT},
        {"x.json", "[{\"id\": \"a\nb\"}]", "x.json:1:11: not JSON: a control character", KN_INPUT},
        {"x.json", "[{\"id\": \"a\xff\"}]", "x.json:1:11: not JSON: bytes that are not UTF-8", KN_INPUT},
        {"x.json", "[{\"id\": \"a\xc3\"}]", "x.json:1:11: not JSON: bytes that are not UTF-8", KN_INPUT},
        {"x.json", "[{\"id\": \"a", "x.json:1:11: not JSON: the file ends inside a text", KN_INPUT},
        {"x.json", "[3]", "x.json:1:2: a record is an object, or a list of values", KN_INPUT},
        {"x.json", "{\"people\": []}", "there are no records; they are looked for in \"record\"", KN_INPUT},
        {"x.json", "[]", "there are no records", KN_INPUT},
        {"x.json", "[{\"Disease\": [[\"Flu\"]]}]", "x.json:1:15: a list of nodes cannot hold lists", KN_INPUT},
        {"x.json", "[{\"Disease\": {\"v\": {}}}]", "x.json:1:20: a value is a text or a number", KN_INPUT},
        {"x.json", "[{\"Disease\": {\"v\": \"Flu\", \"v\": \"Flu\"}}]",
         "x.json:1:27: this name occurs twice in the object", KN_INPUT},
        {"x.json", "[{\"Disease\": [], \"Disease\": []}]", "x.json:1:18: this name occurs twice in the object",
         KN_INPUT},
        {"x.json", "[{\"children\": [{\"v\": \"Flu\", \"class\": \"Illness\"}]}]",
         "x.json:1:38: there is no such class", KN_INPUT},
        {"x.json", "[{\"Disease\": [{\"v\": \"Flu\", \"class\": \"Treatment\"}]}]", "the class is not that of the key",
         KN_INPUT},
        {"x.json", "[{\"children\": [{\"v\": \"Cold\"}]}]",
         "x.json:1:16: record 1: a value of a node without a class, which no class has", KN_INPUT},
        {"x.json", "[{},\n{\"children\": [{\"v\": \"Flu\", \"children\": [{\"v\": \"Rea\"}]}]}]",
         "x.json:2: record 2, node 2: a node of class \"MedicalCenter\" below one of class \"Disease\": classes nest "
         "the "
         "other way round",
         KN_INPUT},
        {"x.jsonl", "{}\n[]", "x.jsonl:2:1: some records are lists and others objects", KN_INPUT},
        {"x.jsonl", "\n", "there are no records", KN_INPUT},
        {"x.txt", "a,b", "baskets have values of one class", KN_USAGE},
    };
    kn_spec_class      classes[3];
    kn_records_options options = KN_RECORDS_OPTIONS_INIT;
    hospital_classes(classes, testing_file("hospital.dgh", figure_4, strlen(figure_4)));
    options.classes = classes;
    options.class_count = 3;
    refuse_all(list, sizeof list / sizeof *list, &options);

    static const refusal baskets[] = {
        {"x.txt", "a,\"b", "x.txt:1:3: a quote that is not closed", KN_INPUT},
        {"x.txt", "a,\"b\" c", "x.txt:1:7: text after a closing quote", KN_INPUT},
        {"x.txt", "a,b\rc", "x.txt:1:4: a carriage return inside a line", KN_INPUT},
        {"x.txt", "a\nb\xff", "x.txt:2:2: not UTF-8, or a NUL", KN_INPUT},
        {"x.txt", "a,*", "class \"item\": one of its values or groups is called \"*\", which stands for anything",
         KN_INPUT},
        {"x.txt", "a,item", "class \"item\": one of its values or groups bears the name that stands for all of them",
         KN_INPUT},
    };
    kn_spec_class item = {.name = "item", .hierarchy = KN_HIERARCHY_SPEC_INIT};
    options.classes = &item;
    options.class_count = 1;
    refuse_all(baskets, sizeof baskets / sizeof *baskets, &options);
}

/* Depth, length and number of names. */
static void test_limits(void **state)
{
    (void)state;
    kn_context        *ctx = testing_context(1);
    kn_spec_class      classes[3];
    kn_records_options options = KN_RECORDS_OPTIONS_INIT;
    size_t             room = 8 << 20;
    char              *text = malloc(room);
    hospital_classes(classes, testing_file("hospital.dgh", figure_4, strlen(figure_4)));
    options.classes = classes;
    options.class_count = 3;
    for (int i = 0; i < 5; i++) {
        static const char *const names[] = {"x.xml", "x.json", "x.xml", "x.json", "x.xml"};
        static const char *const wrong[] = {"elements nest too deeply", "lists and objects nest too deeply",
                                            "an element's start, a comment or the like of more than",
                                            "a text that is too long", "more than 10000 different names"};
        size_t                   at = (size_t)sprintf(text, i == 1 || i == 3 ? "[{\"x\":" : "<r><record>");
        for (int n = 0; n < 10000000 && at < room - 100; n++) {
            if (i == 0) at += (size_t)sprintf(text + at, "<a>");
            if (i == 1) at += (size_t)sprintf(text + at, "[");
            if (i == 2) at += (size_t)sprintf(text + at, n ? "xxxxxxxxxxx" : "<Disease v='");
            if (i == 3) at += (size_t)sprintf(text + at, n ? "xxxxxxxxxxx" : "\"");
            if (i == 4) at += (size_t)sprintf(text + at, "<a%d/>", n);
        }
        kn_error    err = KN_ERROR_INIT;
        kn_records *r = NULL;
        assert_int_equal(read_text(&r, ctx, names[i], text, &options, &err), KN_INPUT);
        if (!strstr(err.message, wrong[i])) fail_msg("%s", err.message);
    }
    free(text);
    testing_context_free(ctx);
}

/* ---- Hierarchies of classes ---- */

static void test_vocabularies(void **state)
{
    (void)state;
    kn_context *ctx = testing_context(1);
    static const struct {
        const char *dgh, *name, *message; /* message NULL: read, with the top below */
        const char *top;
    } cases[] = {
        {"a;A\nb;A\n", "C", NULL, "A"},
        {"a;A;*\nb;A;*\n", "C", NULL, "A"},
        {"a;*\nb;*\n", "C", NULL, "C"},
        {"a;A;*\nb;B;*\n", "C", NULL, "C"},
        {"a;A;*\nb;C;*\n", "C", NULL, "C"},
        {"a;*\n", "C", NULL, "C"},
        {"a;a;A;*\nb;b;A;*\n", "C", NULL, "A"},
        {"a;A;A;*\nb;B;A;*\n", "C",
         "class \"C\": one of its values or groups bears the name that stands for all of them", NULL},
        {"C;A;*\nb;B;*\n", "C", "class \"C\": one of its values or groups bears the name that stands for all of them",
         NULL},
        {"b;b;A;*\nd;b;A;*\n", "C", "class \"C\": a label of its hierarchy stands for two different values or groups",
         NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kn_error       err = KN_ERROR_INIT;
        kn_vocabulary *v = NULL;
        kn_spec_class  cls = {.name = cases[i].name, .has_hierarchy = true, .hierarchy = KN_HIERARCHY_SPEC_INIT};
        const char    *reason = NULL;
        cls.hierarchy.path = testing_file("v.dgh", cases[i].dgh, strlen(cases[i].dgh));
        kn_status st = kn_vocabulary_make(&v, ctx, &cls, 1, NULL, &err);
        if (cases[i].message) {
            assert_int_equal(st, KN_INPUT);
            if (!strstr(err.message, cases[i].message)) fail_msg("%zu: %s", i, err.message);
            continue;
        }
        if (st != KN_OK) fail_msg("%zu: %s", i, err.message);
        if (!kn_vocabulary_validate(v, &reason)) fail_msg("%s", reason);
        kn_string top = kn_vocabulary_label(v, v->top[0]);
        assert_true(kn_string_equal(top, kn_string_of(cases[i].top)));
        assert_int_equal(kn_vocabulary_find(v, 0, kn_string_of("a")) != UINT32_MAX, i != 4);
        kn_vocabulary_free(v);
    }
    testing_context_free(ctx);
}

/* One file for several classes: those of which no record has a value need no part of it. A release that shows "*" for all
 * values of two of them is read. */
static void test_classes_without_values(void **state)
{
    (void)state;
    static const char dgh[] = "a;x;*\nb;y;*\nc;z;*\n";
    static const struct {
        const char *text, *line;
        bool        released;
    } cases[] = {
        {"<records><record><Disease v=\"a\"/></record></records>", "a", false},
        {"<records><record><Disease v=\"a\"/><node v=\"*\"/></record></records>", "* a", true},
        {"<records><record><node v=\"*\"/></record></records>", "*", true},
    };
    kn_context        *ctx = testing_context(1);
    kn_spec_class      classes[3];
    kn_records_options options = KN_RECORDS_OPTIONS_INIT;
    hospital_classes(classes, testing_file("shared.dgh", dgh, strlen(dgh)));
    options.classes = classes;
    options.class_count = 3;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kn_error    err = KN_ERROR_INIT;
        kn_records *r = NULL;
        const char *reason = NULL;
        options.released = cases[i].released;
        assert_ok(read_text(&r, ctx, "shared.xml", cases[i].text, &options, &err), err);
        if (!kn_records_validate(r, &reason)) fail_msg("%s", reason);
        if (!kn_vocabulary_validate(r->vocabulary, &reason)) fail_msg("%s", reason);
        assert_string_equal(record_line(r, 0), cases[i].line);
        kn_records_free(r);
    }
    static const refusal unsaid = {"shared.jsonl", "{\"children\": [{\"v\": \"a\"}]}\n",
                                   "class \"MedicalCenter\": no group below the root has its name or holds its values",
                                   KN_INPUT};
    options.released = false;
    refuse_all(&unsaid, 1, &options);
    testing_context_free(ctx);
}

/* Built hierarchies: numbers in two spellings are one value. */
static void test_built(void **state)
{
    (void)state;
    kn_context              *ctx = testing_context(1);
    kn_error                 err = KN_ERROR_INIT;
    kn_records              *r = NULL;
    static const char *const widths[] = {"10"};
    kn_spec_class            cls = {.name = "price", .has_hierarchy = true, .hierarchy = KN_HIERARCHY_SPEC_INIT};
    kn_records_options       options = KN_RECORDS_OPTIONS_INIT;
    const char              *reason = NULL;
    cls.hierarchy.kind = KN_HIERARCHY_RANGES;
    cls.hierarchy.widths = widths;
    cls.hierarchy.width_count = 1;
    options.classes = &cls;
    options.class_count = 1;
    assert_ok(read_text(&r, ctx, "b.txt", "1.5,1.50,12\n12.0\n", &options, &err), err);
    assert_true(kn_vocabulary_validate(r->vocabulary, &reason));
    assert_string_equal(record_line(r, 0), "1.5 12");
    assert_string_equal(record_line(r, 1), "12");
    assert_int_equal(r->vocabulary->leaves[0], 2);
    assert_int_equal(r->vocabulary->height[r->vocabulary->top[0]], 2);
    kn_records_free(r);
    options.released = true; /* groups, and the name of the class */
    assert_ok(read_text(&r, ctx, "b.txt", "0-9.9,12,*\nprice\n", &options, &err), err);
    assert_string_equal(record_line(r, 0), "* 0-9.9 12");
    assert_string_equal(record_line(r, 1), "price");
    assert_int_equal(kn_records_class(r, 0, 1), 0);
    kn_records_free(r);
    testing_context_free(ctx);
}

/* ---- Properties: trees as sets of paths ---- */

enum { MOST_NODES = 40, MOST_PATHS = 4096, PATH = 64 };

/* A record as the set of its paths from the root, each a string of values: the twin of arrays. */
typedef struct path_set {
    int  count;
    char path[MOST_PATHS][PATH];
} path_set;

static void add_path(path_set *s, const char *path)
{
    for (int i = 0; i < s->count; i++)
        if (strcmp(s->path[i], path) == 0) return;
    assert_true(s->count < MOST_PATHS);
    strcpy(s->path[s->count++], path);
}

static void paths_of(path_set *s, const kn_record_node *nodes, uint32_t count)
{
    s->count = 0;
    for (uint32_t i = 0; i < count; i++) {
        char path[PATH];
        int  at = PATH - 1;
        path[at] = '\0';
        for (uint32_t n = i; n != KN_RECORDS_ROOT; n = nodes[n].parent) path[--at] = (char)('A' + nodes[n].value);
        add_path(s, path + at);
    }
}

static bool same_paths(const path_set *a, const path_set *b)
{
    if (a->count != b->count) return false;
    for (int i = 0; i < a->count; i++) {
        bool found = false;
        for (int j = 0; j < b->count && !found; j++) found = strcmp(a->path[i], b->path[j]) == 0;
        if (!found) return false;
    }
    return true;
}

/* Definition 2, path by path, until nothing changes. */
static void disassociate_paths(path_set *s, char a, char b)
{
    for (bool changed = true; changed;) {
        static path_set next;
        changed = false;
        next.count = 0;
        for (int i = 0; i < s->count; i++) {
            char *path = s->path[i], *first = strchr(path, a), *second = first ? strchr(first + 1, b) : NULL;
            if (!second) {
                add_path(&next, path);
                continue;
            }
            char kept[PATH], moved[PATH];
            changed = true;
            snprintf(kept, sizeof kept, "%.*s%s", (int)(second - path), path, second + 1);
            snprintf(moved, sizeof moved, "%.*s%c", (int)(first - path), path, b);
            if (kept[0]) add_path(&next, kept);
            add_path(&next, moved);
        }
        *s = next;
    }
}

static uint32_t random_record(kn_rng *rng, kn_record_node *nodes, uint32_t values)
{
    uint32_t count = (uint32_t)kn_rng_below(rng, MOST_NODES);
    uint32_t depth[MOST_NODES];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t parent = i == 0 || kn_rng_below(rng, 3) == 0 ? KN_RECORDS_ROOT : (uint32_t)kn_rng_below(rng, i);
        if (parent != KN_RECORDS_ROOT && depth[parent] > 6) parent = KN_RECORDS_ROOT;
        depth[i] = parent == KN_RECORDS_ROOT ? 0 : depth[parent] + 1;
        nodes[i] = (kn_record_node){parent, (uint32_t)kn_rng_below(rng, values)};
    }
    return count;
}

static void assert_canonical(const kn_record_node *nodes, uint32_t count)
{
    kn_vocabulary v = {.nodes = 64};
    uint64_t      start[] = {0, count};
    uint32_t      parent[MOST_NODES], value[MOST_NODES];
    const char   *reason = NULL;
    for (uint32_t i = 0; i < count; i++) {
        parent[i] = nodes[i].parent;
        value[i] = nodes[i].value;
    }
    kn_records r = {.vocabulary = &v, .count = 1, .nodes = count, .start = start, .parent = parent, .value = value};
    if (!kn_records_validate(&r, &reason)) fail_msg("%s", reason);
}

static void test_random_records(void **state)
{
    (void)state;
    static path_set before, after;
    kn_record_node  nodes[MOST_NODES];
    char            scratch[MOST_NODES * KN_RECORD_SCRATCH];
    kn_rng          rng;
    kn_rng_init(&rng, testing_seed(), 0);
    int merged = 0, moved = 0;
    for (int round = 0; round < testing_rounds(4000); round++) {
        uint32_t values = 2 + (uint32_t)kn_rng_below(&rng, 12), count = random_record(&rng, nodes, values);
        paths_of(&before, nodes, count);
        uint32_t left = kn_record_canonical(nodes, count, scratch);
        merged += left < count;
        assert_int_equal(left, before.count);
        assert_canonical(nodes, left);
        paths_of(&after, nodes, left);
        assert_true(same_paths(&before, &after));
        for (int i = 0; i < 4; i++) {
            kn_disassociation d = {(uint32_t)kn_rng_below(&rng, values), (uint32_t)kn_rng_below(&rng, values)};
            disassociate_paths(&after, (char)('A' + d.ancestor), (char)('A' + d.descendant));
            left = kn_record_disassociate(nodes, left, d, KN_DISASSOCIATE_NODE, scratch);
            assert_canonical(nodes, left);
            paths_of(&before, nodes, left);
            if (!same_paths(&before, &after)) fail_msg("round %d: disassociated differently", round);
            moved++;
        }
    }
    assert_true(merged > testing_least(500) && moved > testing_least(1000));
}

/* ---- Round trips ---- */

/* A random forest over figure 4 as JSON Lines. */
static char *random_file(kn_rng *rng, int records)
{
    static const char *const leaves[3][4] = {{"Hospital1", "Hospital2", "Rea", "Gaia"},
                                             {"Flu", "Bronchitis", "Diarrhea", "Gastritis"},
                                             {"Neurological", "Orthopedic", "Pain killer", "Antibiotics"}};
    static const char *const names[3] = {"MedicalCenter", "Disease", "Treatment"};
    char                    *text = malloc((size_t)records * 2000 + 1);
    size_t                   at = 0;
    for (int i = 0; i < records; i++) {
        at += (size_t)sprintf(text + at, "{");
        int used = 0;
        for (int top = 0; top < 3; top++) {
            int nodes = (int)kn_rng_below(rng, 3);
            if (nodes) at += (size_t)sprintf(text + at, "%s\"%s\":[", used++ ? "," : "", names[top]);
            for (int n = 0; n < nodes; n++) {
                at += (size_t)sprintf(text + at, "%s{\"v\":\"%s\"", n ? "," : "", leaves[top][kn_rng_below(rng, 4)]);
                for (int c = top + 1; c < 3; c++)
                    if (kn_rng_below(rng, 2))
                        at += (size_t)sprintf(text + at, ",\"%s\":[\"%s\",\"%s\"]", names[c],
                                              leaves[c][kn_rng_below(rng, 4)], leaves[c][kn_rng_below(rng, 4)]);
                at += (size_t)sprintf(text + at, "}");
            }
            if (nodes) at += (size_t)sprintf(text + at, "]");
        }
        at += (size_t)sprintf(text + at, "}\n");
    }
    return text;
}

static kn_records_plan *random_plan(kn_context *ctx, kn_rng *rng, const kn_records *r)
{
    kn_error             err = KN_ERROR_INIT;
    const kn_vocabulary *v = r->vocabulary;
    int64_t              relations = (int64_t)kn_rng_below(rng, 6), count = 0;
    kn_records_plan     *p = NULL;
    uint32_t             cut[64];
    const char          *reason = NULL;
    assert_ok(kn_records_plan_create(&p, ctx, v, relations, &err), err);
    for (uint32_t n = kn_rng_below(rng, 5) == 0 ? 0 : 1; n < v->nodes;) {
        if (n == 0 || v->height[n] == 0 || kn_rng_below(rng, 3) == 0) {
            cut[count++] = n;
            n = v->end[n];
        } else {
            n++;
        }
    }
    kn_records_plan_set_cut(p, v, cut, count);
    for (int64_t i = 0; i < relations; i++)
        p->disassociations[i] =
            (kn_disassociation){cut[kn_rng_below(rng, (uint64_t)count)], cut[kn_rng_below(rng, (uint64_t)count)]};
    if (!kn_records_plan_validate(p, v, &reason)) fail_msg("%s", reason);
    return p;
}

/* The released record by the twin: image by image, then relation by relation. */
static void check_applied(const kn_records *r, const kn_records_plan *p, const kn_records *out, const int64_t *original)
{
    static path_set expected, got;
    kn_record_node  nodes[256];
    for (int64_t i = 0; i < out->count; i++) {
        int64_t  o = original[i];
        uint64_t first = r->start[o];
        for (uint32_t n = 0; n < kn_records_size(r, o); n++)
            nodes[n] = (kn_record_node){r->parent[first + n], p->image[r->value[first + n]]};
        paths_of(&expected, nodes, kn_records_size(r, o));
        for (int64_t d = 0; d < p->disassociation_count; d++)
            disassociate_paths(&expected, (char)('A' + p->disassociations[d].ancestor),
                               (char)('A' + p->disassociations[d].descendant));
        first = out->start[i];
        for (uint32_t n = 0; n < kn_records_size(out, i); n++)
            nodes[n] = (kn_record_node){out->parent[first + n], out->value[first + n]};
        paths_of(&got, nodes, kn_records_size(out, i));
        if (!same_paths(&expected, &got)) fail_msg("record %" PRId64 " was released differently", o);
    }
}

static void check_round_trip(kn_context *ctx, const kn_records *out, const kn_spec_class *said, int round)
{
    static const char *const     names[] = {"rt.xml", "rt.json", "rt.jsonl", "rt.json"};
    static const kn_records_form forms[] = {KN_RECORDS_XML, KN_RECORDS_JSON, KN_RECORDS_JSON_LINES, KN_RECORDS_JSON};
    char                         path[] = "people/person", inside[] = "data/entry/resource";
    kn_spec_class                classes[3] = {said[0], said[1], said[2]};
    kn_records_layout layout = {.form = forms[round % 4], .nested = round % 3 == 0, .classes = round % 5 == 0};
    if (round % 3 == 0 && layout.form == KN_RECORDS_XML) layout.path = path;
    if (round % 8 == 4) { /* XML: elements around nodes that are none */
        classes[1].path = "in/deeper/what";
        classes[2].path = "in/kind";
    }
    if (round % 4 == 3) { /* JSON: each record in an object of a list */
        layout.path = inside;
        layout.around = 1 + round % 8 / 4;
    }
    kn_records_options options = KN_RECORDS_OPTIONS_INIT;
    kn_error           err = KN_ERROR_INIT;
    kn_records        *again = NULL;
    options.classes = classes;
    options.class_count = 3;
    options.released = true;
    options.record = layout.path == path ? "person" : layout.path;
    char *text = written(ctx, out, &layout, classes, 3, names[round % 4]);
    assert_ok(read_text(&again, ctx, names[round % 4], text, &options, &err), err);
    assert_int_equal(again->count, out->count);
    assert_int_equal(again->nodes, out->nodes);
    assert_memory_equal(again->start, out->start, ((size_t)out->count + 1) * sizeof *out->start);
    for (uint64_t i = 0; i < out->nodes; i++) {
        assert_int_equal(again->parent[i], out->parent[i]);
        assert_int_equal(again->value[i], out->value[i]);
    }
    assert_int_equal(kn_records_merged(again), 0);
    assert_int_equal(kn_records_ignored(again), 0);
    kn_records_free(again);
    free(text);
}

static void test_apply_and_write(void **state)
{
    (void)state;
    kn_rng        rng;
    kn_context   *ctx = testing_context(2);
    kn_spec_class classes[3];
    kn_rng_init(&rng, testing_seed(), 1);
    hospital_classes(classes, testing_file("hospital.dgh", figure_4, strlen(figure_4)));
    for (int round = 0; round < testing_rounds(120); round++) {
        if (round == 40) classes[1].value = "text";
        if (round == 60) classes[1].value = "@name";
        if (round == 80) classes[2].value = "kind";
        char            *text = random_file(&rng, 1 + (int)kn_rng_below(&rng, 60));
        kn_records      *r = read_hospital(ctx, "random.jsonl", text, false), *out = NULL, *one = NULL;
        int64_t         *original = NULL;
        kn_error         err = KN_ERROR_INIT;
        const char      *reason = NULL;
        kn_records_plan *p = random_plan(ctx, &rng, r);
        assert_ok(kn_records_apply(&out, &original, ctx, r, p, &err), err);
        if (!kn_records_validate(out, &reason)) fail_msg("%s", reason);
        check_applied(r, p, out, original);
        kn_context *single = testing_context(1);
        assert_ok(kn_records_apply(&one, NULL, single, r, p, &err), err);
        assert_memory_equal(one->start, out->start, ((size_t)out->count + 1) * sizeof *out->start);
        assert_memory_equal(one->value, out->value, (size_t)out->nodes * sizeof *out->value);
        kn_records_free(one);
        testing_context_free(single);
        check_round_trip(ctx, out, classes, round);
        kn_free(original);
        kn_records_plan_free(p);
        kn_records_free(out);
        kn_records_free(r);
        free(text);
    }
    testing_context_free(ctx);
}

/* The bytes of a release, as they are to be. */
static void test_bytes(void **state)
{
    (void)state;
    kn_context      *ctx = testing_context(1);
    kn_spec_class    classes[3];
    kn_error         err = KN_ERROR_INIT;
    kn_records      *r = read_hospital(ctx, "fig2.xml", figure_2, false), *out = NULL;
    const char      *lung[] = {"Lung Disease", "Medical Center"};
    kn_records_plan *p = make_plan(ctx, r, lung, 2, 1);
    hospital_classes(classes, testing_file("hospital.dgh", figure_4, strlen(figure_4)));
    const kn_vocabulary *v = r->vocabulary;
    uint32_t             treatment = v->top[2];
    for (uint32_t n = treatment; n < v->end[treatment]; n++) p->image[n] = treatment;
    p->disassociations[0] = (kn_disassociation){v->top[0], value_of(r, "Lung Disease")};
    assert_ok(kn_records_apply(&out, NULL, ctx, r, p, &err), err);
    char *text = written(ctx, out, &r->layout, classes, 3, "bytes.xml");
    assert_string_equal(text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                              "<records>\n"
                              " <record>\n"
                              "  <MedicalCenter v=\"Medical Center\">\n"
                              "   <Disease v=\"Gastritis\"/>\n"
                              "   <Treatment v=\"Treatment\"/>\n"
                              "  </MedicalCenter>\n"
                              "  <Disease v=\"Lung Disease\"/>\n"
                              " </record>\n"
                              "</records>\n");
    free(text);
    kn_records_free(out);
    for (uint32_t n = 0; n < v->nodes; n++) p->image[n] = 0;
    p->disassociation_count = 0;
    assert_ok(kn_records_apply(&out, NULL, ctx, r, p, &err), err);
    kn_records_layout layout = {.form = KN_RECORDS_JSON};
    text = written(ctx, out, &layout, classes, 3, "bytes.json");
    assert_string_equal(
        text, "{\"records\": [\n"
              "  {\"children\": [{\"v\": \"*\", \"children\": [{\"v\": \"*\", \"children\": [{\"v\": \"*\"}]}]}]}\n"
              " ]}\n");
    free(text);
    layout.form = KN_RECORDS_XML;
    text = written(ctx, out, &layout, classes, 3, "bytes.xml");
    assert_non_null(strstr(text, "  <node v=\"*\">\n   <node v=\"*\">\n    <node v=\"*\"/>\n   </node>\n  </node>\n"));
    free(text);
    kn_records_plan_free(p);
    kn_records_free(out);
    kn_records_free(r);
    testing_context_free(ctx);
}

/* ---- Failing memory ---- */

static kn_status whole_way(kn_context *ctx, const char *path, const kn_spec_class *classes, int count, kn_error *err)
{
    kn_records_options options = KN_RECORDS_OPTIONS_INIT;
    kn_records        *r = NULL, *out = NULL;
    kn_records_plan   *p = NULL;
    kn_output         *output = NULL;
    int64_t           *original = NULL;
    options.classes = classes;
    options.class_count = count;
    kn_status st = kn_records_read(&r, ctx, path, &options, err);
    if (st == KN_OK) st = kn_records_plan_create(&p, ctx, r->vocabulary, 1, err);
    if (st == KN_OK) st = kn_records_apply(&out, &original, ctx, r, p, err);
    if (st == KN_OK) st = kn_output_open(&output, ctx, "/dev/null", NULL, err);
    if (st == KN_OK) st = kn_records_write(output, ctx, out, &r->layout, classes, count, err);
    kn_output_abort(output);
    kn_free(original);
    kn_records_plan_free(p);
    kn_records_free(out);
    kn_records_free(r);
    return st;
}

static void fail_every_allocation(const char *path, const kn_spec_class *classes, int count)
{
    for (int64_t refuse_at = 0;; refuse_at++) {
        testing_allocator  memory = {.refuse_at = refuse_at};
        kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
        kn_allocator       allocator = testing_failing_allocator(&memory);
        kn_context        *ctx = NULL;
        kn_error           err = KN_ERROR_INIT;
        options.threads = 1;
        options.allocator = &allocator;
        kn_status st = kn_context_create(&ctx, &options, &err);
        if (st == KN_OK) st = whole_way(ctx, path, classes, count, &err);
        kn_context_free(ctx);
        assert_int_equal(memory.live, 0);
        if (st == KN_OK) {
            assert_true(refuse_at > 20);
            return;
        }
        if (st != KN_MEMORY) fail_msg("refused at %" PRId64 ": %s", refuse_at, err.message);
    }
}

static void test_failing_memory(void **state)
{
    (void)state;
    kn_spec_class classes[3];
    hospital_classes(classes, testing_file("hospital.dgh", figure_4, strlen(figure_4)));
    fail_every_allocation(testing_file("f.xml", figure_2, strlen(figure_2)), classes, 3);
    static const char named[] = "<a xmlns='urn:x'><b xmlns:h='urn:h'><record><Disease v='Flu'/></record></b></a>";
    fail_every_allocation(testing_file("named.xml", named, sizeof named - 1), classes, 3);
    fail_every_allocation(testing_file("f.json", json_children, strlen(json_children)), classes, 3);
    static const char        numbers[] = "1.5,1.50,\"2\"\n3\n";
    static const char *const widths[] = {"10"};
    kn_spec_class            price = {.name = "price", .has_hierarchy = true, .hierarchy = KN_HIERARCHY_SPEC_INIT};
    price.hierarchy.kind = KN_HIERARCHY_RANGES;
    price.hierarchy.widths = widths;
    price.hierarchy.width_count = 1;
    fail_every_allocation(testing_file("f.txt", numbers, strlen(numbers)), &price, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        testing_alone(test_figures),
        testing_alone(test_order_and_star),
        testing_alone(test_forms),
        testing_alone(test_merging),
        testing_alone(test_baskets),
        testing_alone(test_negative),
        testing_alone(test_namespaces),
        testing_alone(test_refusals),
        testing_alone(test_limits),
        testing_alone(test_vocabularies),
        testing_alone(test_classes_without_values),
        testing_alone(test_built),
        cmocka_unit_test(test_random_records),
        cmocka_unit_test(test_apply_and_write),
        testing_alone(test_bytes),
        testing_alone(test_failing_memory),
    };
    return cmocka_run_group_tests_name("records", tests, NULL, NULL);
}
