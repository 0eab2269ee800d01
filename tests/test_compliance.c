/* test_compliance.c: documents that were written are read back unchanged; the page of evidence from them: well-formed whatever it
 * is told, never a plain yes, nothing of the owner's where everybody may read it, and clean when memory runs out.
 * SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include <kanon/answers.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "html_check.h"
#include "kn_buffer.h"
#include "kn_compliance.h"

#define SHA "b0a22edd0a942cd4ccc8625b26d8f22ea1f07f977006ff1fb271791966a1e719"

/* A certificate as it is written; %s: columns, models. */
#define CERTIFICATE(columns, models)                                                                                   \
    "{\n  \"kanon-certificate\": 2,\n  \"shape\": \"table\",\n  \"method\": \"optimal\",\n"                            \
    "  \"options\": {\n    \"suppressed\": \"star\",\n    \"missing\": \"value\",\n    \"keep-order\": false\n  },\n"  \
    "  \"requested\": {\n    \"k\": 4,\n    \"models\": [\n" models "    ],\n"                                         \
    "    \"quasi\": [\n      \"age\"\n    ],\n    \"suppression\": 0.05\n  },\n  \"columns\": [\n" columns "  ],\n"    \
    "  \"node\": [\n    2\n  ],\n  \"rows\": 1000,\n  \"suppressed\": 0,\n  \"k\": 4,\n  \"classes\": 208,\n"          \
    "  \"sizes\": [\n    {\n      \"size\": 4,\n      \"classes\": 208\n    }\n  ],\n"                                 \
    "  \"metrics\": {\n    \"lm\": 0.25,\n    \"dm\": 5022.0,\n    \"c_avg\": 1.25\n  },\n  \"models\": [],\n"         \
    "  \"verified\": true,\n  \"sha256\": \"" SHA "\",\n  \"version\": \"0.1.0\"\n}\n"

#define AGE                                                                                                            \
    "    {\n      \"name\": \"age\",\n      \"role\": \"quasi\",\n      \"hierarchy\": {\n        \"ranges\": [\n"     \
    "          \"10\"\n        ],\n        \"origin\": \"0\"\n      },\n      \"labels\": 38,\n      \"stars\": 0,\n"  \
    "      \"level\": null,\n      \"lm\": 0.5\n    }"
#define K4 "      {\n        \"model\": \"k\",\n        \"k\": 4\n      }\n"

static const char plain[] = CERTIFICATE(AGE "\n", K4);
static const char odd[] =
    CERTIFICATE(AGE ",\n    {\n      \"name\": \"<b>&amp;\\u202e' \\\"x\\n\",\n      \"role\": \"keep\"\n    }\n", K4);
static const char attack[] =
    "{\n  \"answer\": \"attack\",\n  \"people\": 7,\n  \"k\": 4,\n  \"links\": [\n    \"age\"\n  ],\n  \"sensitive\": "
    "[\n    \"ill\"\n  ],\n"
    "  \"after\": {\n    \"rows\": 1000,\n    \"none\": 0,\n    \"unplaced\": 0,\n    \"unique\": 3,\n    \"below_k\": "
    "3,\n"
    "    \"least\": 1,\n    \"counts\": [\n      {\n        \"matches\": 1,\n        \"people\": 3\n      }\n    ],\n"
    "    \"certain\": {\n      \"ill\": 5\n    }\n  },\n  \"database\": false,\n  \"records\": false,\n  \"holds\": "
    "false,\n"
    "  \"notes\": [\n    \"one \\\"note\\\"\"\n  ]\n}\n";

static kn_document *read_text(kn_context *ctx, const char *text)
{
    kn_document *doc = NULL;
    kn_error     err = KN_ERROR_INIT;
    const char  *path = testing_file("document.json", text, strlen(text));
    if (kn_document_read(&doc, ctx, path, &err) != KN_OK) fail_msg("%s", err.message);
    return doc;
}

/* ---- Reading ---- */

static void test_round_trip(void **state)
{
    (void)state;
    const char *const all[] = {plain, odd, attack};
    kn_context       *ctx = testing_context(1);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        kn_document *doc = read_text(ctx, all[i]);
        char        *text = NULL;
        assert_int_equal(kn_document_json(&text, NULL, doc, NULL), KN_OK);
        if (i != 1) assert_string_equal(text, all[i]); /* JSON may be escaped in several ways */
        kn_document *again = read_text(ctx, text);
        char        *second = NULL;
        assert_int_equal(kn_document_json(&second, NULL, again, NULL), KN_OK);
        assert_string_equal(text, second);
        kn_text_free(text);
        kn_text_free(second);
        kn_document_free(doc);
        kn_document_free(again);
    }
    testing_context_free(ctx);
}

static void test_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "",
        "{}",
        "[]",
        "{\"k\": 1}",
        "{\"answer\": 3}",
        "{\"answer\": \"nonsense\"}",
        "{\"answer\": \"certificate\"}",
        "{\"kanon-certificate\": 3, \"shape\": \"table\"}",
        "{\"kanon-certificate\": \"2\", \"shape\": \"table\"}",
        "{\"kanon-certificate\": 2, \"shape\": \"ring\"}",
        "{\"kanon-certificate\": 2, \"method\": \"optimal\"}",
        "{\"kanon-certificate\": 2, \"shape\": \"table\"}",
        "{\"kanon-private\": 3, \"shape\": \"table\", \"shape\": \"table\"}",
        "{\"answer\": \"generate\", \"kind\": 7, \"rows\": 1, \"seed\": 1, \"output\": \"x\"}",
        "{\"answer\": \"generate\", \"kind\": \"a\", \"rows\": [1], \"seed\": 1, \"output\": \"x\"}",
        "{\"answer\": \"generate\", \"kind\": \"a\", \"rows\": 1.5, \"seed\": 1, \"output\": \"x\"}",
        "{\"answer\": \"generate\", \"kind\": \"a\", \"rows\": 1, \"seed\": 1, \"output\": \"x\"} x",
        "{\"answer\": \"generate\", \"notes\": [3]}"};
    kn_context *ctx = testing_context(1);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        kn_document *doc = NULL;
        kn_error     err = KN_ERROR_INIT;
        const char  *path = testing_file("wrong.json", wrong[i], strlen(wrong[i]));
        if (kn_document_read(&doc, ctx, path, &err) != KN_INPUT) fail_msg("%s was not refused", wrong[i]);
        assert_null(doc);
        assert_non_null(strstr(err.message, "wrong.json"));
    }
    testing_context_free(ctx);
}

/* ---- The page ---- */

static char *render(kn_context *ctx, kn_document *const *docs, int count, kn_compliance_summary *summary)
{
    static const char *const names[] = {"some/folder/r.csv.certificate.json", "some/attack.json"};
    kn_compliance_input      in = KN_COMPLIANCE_INPUT_INIT;
    kn_buffer                page;
    kn_error                 err = KN_ERROR_INIT;
    in.documents = (const kn_document *const *)docs;
    in.names = names;
    in.document_count = count;
    in.spec = "secret folder/release.yaml";
    in.external = "some/voters.csv";
    kn_buffer_init(&page, ctx);
    if (kn_compliance_render(&page, &in, summary, &err) != KN_OK) fail_msg("%s", err.message);
    char *text = strdup(kn_buffer_text(&page));
    assert_non_null(text);
    kn_buffer_free(&page);
    return text;
}

static void test_public(void **state)
{
    (void)state;
    kn_context           *ctx = testing_context(1);
    kn_document          *doc = read_text(ctx, odd);
    kn_compliance_summary summary;
    char                 *page = render(ctx, &doc, 1, &summary);
    check_page(page);
    assert_true(summary.is_public);
    assert_non_null(strstr(page, "may be published with the release"));
    assert_non_null(strstr(page, "r.csv --qi age --risk"));
    /* Neither a folder nor anything of the owner's. */
    assert_null(strstr(page, "some/"));
    assert_null(strstr(page, "secret folder"));
    assert_null(strstr(page, "voters"));
    assert_null(strstr(page, "kanon verify"));
    assert_null(strstr(page, "Smallest class before"));
    free(page);
    kn_document_free(doc);
    testing_context_free(ctx);
}

static void test_open(void **state)
{
    (void)state;
    kn_context           *ctx = testing_context(1);
    kn_document          *docs[] = {read_text(ctx, plain), read_text(ctx, attack)};
    kn_compliance_summary summary;
    char                 *page = render(ctx, docs, 2, &summary);
    check_page(page);
    assert_false(summary.is_public);
    assert_non_null(strstr(page, "not to be published"));
    assert_int_equal(occurrences(page, "<div class=\"judge\">"), summary.open);
    for (int e = 1; e <= summary.figures; e++) {
        char id[32];
        snprintf(id, sizeof id, "<b id=\"e%d\">", e);
        assert_int_equal(occurrences(page, id), 1);
    }
    /* Three criteria, each open; k alone bounds no inference; the value that the attack finds certain is told. */
    assert_int_equal(occurrences(page, "<p class=\"state\"><b class=\"open\">Open</b>"), 3);
    const char *inference = strstr(page, "<h3>Inference");
    assert_non_null(inference);
    assert_non_null(strstr(inference, "No promise bounds it."));
    must_hold(page, "Cohen and Nissim 2020");
    assert_non_null(strstr(inference, "<bdi class=\"name\">ill</bdi> 5"));
    assert_null(strstr(page, "is anonymous."));
    assert_null(strstr(page, "prevented"));
    assert_non_null(strstr(page, "&#39;secret folder/release.yaml&#39;"));
    free(page);
    kn_document_free(docs[0]);
    kn_document_free(docs[1]);
    testing_context_free(ctx);
}

static void test_mode(void **state)
{
    (void)state;
    kn_context         *ctx = testing_context(1);
    kn_document        *docs[] = {read_text(ctx, plain), read_text(ctx, attack)};
    kn_compliance_input in = KN_COMPLIANCE_INPUT_INIT;
    kn_error            err = KN_ERROR_INIT;
    char                path[200];
    struct stat         found;
    snprintf(path, sizeof path, "%s", testing_file("page.html", "", 0));
    in.documents = (const kn_document *const *)docs;
    in.document_count = 2;
    assert_int_equal(kn_compliance_write(ctx, path, &in, NULL, &err), KN_OK);
    assert_int_equal(stat(path, &found), 0);
    assert_int_equal(found.st_mode & 0777, 0600);
    in.document_count = 0;
    assert_int_equal(kn_compliance_write(ctx, path, &in, NULL, &err), KN_USAGE);
    in.documents = (const kn_document *const[]){docs[1]};
    in.document_count = 1;
    assert_int_equal(kn_compliance_write(ctx, path, &in, NULL, &err), KN_USAGE);
    in.documents = (const kn_document *const[]){docs[0], docs[0]};
    in.document_count = 2;
    assert_int_equal(kn_compliance_write(ctx, path, &in, NULL, &err), KN_USAGE);
    kn_document_free(docs[0]);
    kn_document_free(docs[1]);
    testing_context_free(ctx);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    const char *first = testing_file("certificate.json", odd, strlen(odd));
    char        path[200];
    snprintf(path, sizeof path, "%s", first);
    for (int n = 0;; n += testing_step()) {
        testing_allocator allocator = {.refuse_at = n};
        kn_context       *ctx = NULL;
        kn_document      *doc = NULL;
        kn_error          err = KN_ERROR_INIT;
        kn_status         st = testing_refusing_context(&ctx, &allocator, 1, &err);
        if (st == KN_OK) st = kn_document_read(&doc, ctx, path, &err);
        if (st == KN_OK) {
            kn_compliance_input   in = KN_COMPLIANCE_INPUT_INIT;
            kn_compliance_summary summary;
            kn_buffer             page;
            in.documents = (const kn_document *const[]){doc};
            in.document_count = 1;
            kn_buffer_init(&page, ctx);
            st = kn_compliance_render(&page, &in, &summary, &err);
            kn_buffer_free(&page);
        }
        kn_document_free(doc);
        if (ctx) kn_context_free(ctx);
        assert_int_equal(allocator.live, 0);
        if (st == KN_OK) break;
        assert_int_equal(st, KN_MEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_round_trip), cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_public),     cmocka_unit_test(test_open),
                                       cmocka_unit_test(test_mode),       cmocka_unit_test(test_out_of_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
