/* cmd_report.c: `kanon report`: a page of evidence on a release, for those who must decide (docs/compliance.md). */
/* SPDX-License-Identifier: Apache-2.0 */
#include <kanon/report.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "document.h"
#include "pdf.h"

static const char help[] =
    "Usage: kanon report CERTIFICATE [DOCUMENT]... --output FILE [OPTION]...\n"
    "\n"
    "Writes what is known of a release as one HTML page for those who must decide whether it may\n"
    "be given away: each figure below the command that reproduces it, arranged by what a rule\n"
    "asks. The page answers no legal question. What is for a person to judge is an empty box,\n"
    "marked as open; singling out and inference are never called excluded.\n"
    "\n"
    "From the certificate alone the page may be published. Other documents add the owner's\n"
    "figures: the private file, and what verify, attack and diagnose --risk printed with --json.\n"
    "Then the page says so at its top, and only its owner can read the file (mode 0600). All\n"
    "must be about one release.\n"
    "\n"
    "Options:\n"
    "      --kind LIST          whose questions (default: all): eu (the three criteria of WP29\n"
    "                           Opinion 05/2014), hipaa (expert determination, 45 CFR\n"
    "                           164.514(b)(1)), nist (SP 800-188), ethics (an ethics board)\n"
    "  -o, --output FILE        where the result goes: the page\n"
    "      --pdf FILE           the page as PDF, too, printed by an installed Chromium\n"
    "      --spec FILE          the release file, as the commands on the page name it\n"
    "      --external FILE      the attacker's table, as the commands on the page name it\n"
    "\n" CLI_COMMON_HELP "\n" CLI_EXIT_HELP "\n"
    "Examples:\n"
    "  $ kanon anonymize people.csv --qi sex,age --hierarchy age:ranges=5,10,20 -k 5 \\\n"
    "    --suppression 5% --output release.csv\n"
    "  $ kanon report release.csv.certificate.json --kind eu --output evidence.html\n"
    "  $ kanon attack release.csv --external people.csv --original people.csv --qi sex,age \\\n"
    "    --hierarchy age:ranges=5,10,20 -k 5 --json > attack.json\n"
    "  $ kanon report release.csv.certificate.json release.csv.private.json attack.json \\\n"
    "    --external people.csv --output owner.html\n";

static void print_words(const cli_value *answer)
{
    printf("%s: %s, ", cli_text(answer, "output"),
           cli_count_of(cli_integer(answer, "figures"), "figure", "figures").text);
    printf("%s left to a person; %s\n", cli_count_of(cli_integer(answer, "open"), "question", "questions").text,
           cli_true(answer, "public") ? "may be published" : "for you alone: it holds figures of the original");
}

/* Adds up the kinds of a list; false after a message. */
static bool read_kinds(unsigned *kinds, const cli_list *list)
{
    for (int i = 0; i < list->count; i++) {
        unsigned found = 0;
        if (strcmp(list->items[i], "all") == 0) found = ~0u;
        for (unsigned kind = KN_COMPLIANCE_EU; kind <= KN_COMPLIANCE_ETHICS; kind <<= 1)
            if (strcmp(list->items[i], kn_compliance_kind_name((kn_compliance_kind)kind)) == 0) found = kind;
        if (!found) {
            (void)cli_usage(&cli_report, "--kind: it is eu, hipaa, nist, ethics or all, or several with commas");
            return false;
        }
        *kinds |= found;
    }
    return true;
}

/* Where the page goes, and where it goes as PDF, which `browser` makes; both NULL: not asked for. */
typedef struct targets {
    const char *output, *pdf;
    char       *browser;
} targets;

static int write_page(const cli_common *common, kn_context *ctx, kn_compliance_input *in, char **files, int count,
                      const targets *to)
{
    const char           *output = to->output;
    kn_compliance_summary summary = {0};
    kn_document         **docs = calloc((size_t)count, sizeof *docs), *answer = NULL;
    kn_error              err = KN_ERROR_INIT;
    kn_status             st = docs ? KN_OK : KN_MEMORY;
    for (int i = 0; st == KN_OK && i < count; i++)
        if ((st = kn_document_read(&docs[i], ctx, files[i], &err)) == KN_INPUT)
            cli_meant_beside(&err, files[i], ".certificate.json");
    in->documents = (const kn_document *const *)docs;
    in->names = (const char *const *)files;
    in->document_count = count;
    in->version = KANON_VERSION;
    if (st == KN_OK) st = kn_compliance_write(ctx, output, in, &summary, &err);
    if (st == KN_OK && to->pdf) st = cli_pdf_write(to->browser, output, to->pdf, !summary.is_public, &err);
    if (st == KN_OK) st = kn_document_report(&answer, ctx, output, in->kinds, &summary, &err);
    /* A page on standard output is the answer. */
    int code = st == KN_OK && strcmp(output, "-") == 0 ? 0 : cli_answer(common, st, answer, &err, print_words);
    if (strcmp(output, "-") == 0 && st == KN_OK) kn_document_free(answer);
    for (int i = 0; docs && i < count; i++) kn_document_free(docs[i]);
    free(docs);
    return code;
}

static bool same_file(const char *a, const char *b)
{
    char *const list[] = {(char *)b};
    return strcmp(a, b) == 0 || cli_overwrites_input(a, list, 1);
}

/* What is wrong with the targets; 0: nothing. */
static int check(const cli_common *common, const targets *to, char **files, int count)
{
    if (!to->output) return cli_usage(&cli_report, "--output is needed: where the page goes");
    bool stream = strcmp(to->output, "-") == 0;
    if (common->json && stream)
        return cli_usage(&cli_report, "--json and the page cannot both go to standard output; name a file (--output)");
    if (cli_overwrites_input(to->output, files, count))
        return cli_usage(&cli_report, "--output is one of the documents; name another file");
    if (!to->pdf) return 0;
    if (stream || strcmp(to->pdf, "-") == 0)
        return cli_usage(&cli_report, "--pdf needs files: name one for the page (--output) and one for the PDF");
    if (cli_overwrites_input(to->pdf, files, count) || same_file(to->pdf, to->output))
        return cli_usage(&cli_report, "--pdf is the page or one of the documents; name another file");
    return 0;
}

static int run(int argc, char **argv)
{
    cli_common          common = {0};
    cli_list            kinds = {0};
    targets             to = {0};
    kn_error            err = KN_ERROR_INIT;
    kn_compliance_input in = KN_COMPLIANCE_INPUT_INIT;
    const cli_option    options[] = {{"--kind", CLI_LIST, &kinds},           {"-o|--output", CLI_TEXT, &to.output},
                                     {"--pdf", CLI_TEXT, &to.pdf},           {"--spec", CLI_TEXT, &in.spec},
                                     {"--external", CLI_TEXT, &in.external}, {0}};
    if (!cli_parse(&cli_report, &argc, argv, options, &common)) return 2;
    if (common.help) return 0;
    int code = 0;
    if (argc == 0)
        code = cli_usage(&cli_report,
                         "a certificate is needed: it stands beside each release, as RELEASE.certificate.json");
    else if (!read_kinds(&in.kinds, &kinds))
        code = 2;
    else
        code = check(&common, &to, argv, argc);
    if (code == 0 && to.pdf && !(to.browser = cli_pdf_browser(&err))) code = cli_fail(&err);
    kn_context *ctx = code == 0 ? cli_context(&common) : NULL;
    if (code == 0) code = ctx ? write_page(&common, ctx, &in, argv, argc, &to) : 3;
    cli_context_free(ctx);
    cli_list_free(&kinds);
    free(to.browser);
    return code;
}

const cli_command cli_report = {
    .name = "report",
    .summary = "a page of evidence on a release, for those who must decide",
    .help = help,
    .run = run,
};
