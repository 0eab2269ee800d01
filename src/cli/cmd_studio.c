/* cmd_studio.c: `kanon studio`: the engine with a page in the browser, until Ctrl-C. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "kn_studio.h"

static const char help[] =
    "Usage: kanon studio FILE | DATABASE | RECORDS [OPTION]...\n"
    "       kanon studio RELEASE.yaml [OPTION]...\n"
    "       kanon studio [OPTION]...\n"
    "\n"
    "Opens a page in the browser: who stands out, what to blur, what is "
    "promised, and the\n"
    "release, verified. Everything that is clicked is written into a release file, which runs\n"
    "without the studio and makes the same bytes. The page is served by this program to this\n"
    "machine alone, and asks for nothing elsewhere; who has not got the address that is\n"
    "printed gets no answer. Without a file the page asks for one. Ctrl-C ends it; what was not\n"
    "saved is gone.\n"
    "\n"
    "Options:\n"
    "      --spec FILE          the release file, whatever it is called: where a new one is saved\n"
    "                           (default: release.yaml)\n"
    "      --no-open            print the address, open no browser\n"
    "\n" CLI_COMMON_HELP "\n" CLI_EXIT_HELP "\n"
    "Examples:\n"
    "  $ kanon studio people.csv\n"
    "  $ kanon init people.csv --output release.yaml --force\n"
    "  $ kanon studio release.yaml --memory-limit 2G\n";

static bool ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text), end = strlen(ending);
    return length >= end && strcmp(text + length - end, ending) == 0;
}

static int serve(const kn_studio_options *options, bool no_open, bool json)
{
    kn_studio *studio = NULL;
    kn_error   err = KN_ERROR_INIT;
    sigset_t   signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    if (pthread_sigmask(SIG_BLOCK, &signals, NULL) != 0) return 3; /* before there are threads: they inherit it */
    if (kn_studio_start(&studio, options, &err) != KN_OK) return cli_fail(&err);
    printf(json ? "{\"address\": \"%s\"}\n" : "%s\n", kn_studio_address(studio));
    fflush(stdout);
    if (!no_open) (void)kn_studio_open(studio);
    while (sigwaitinfo(&signals, NULL) < 0 && errno == EINTR) continue;
    kn_studio_stop(studio);
    return 0;
}

/* Paths in a release file are relative to it: its folder becomes the working folder. */
static int enter_folder(const char **file)
{
    const char *slash = strrchr(*file, '/');
    if (!slash) return 0;
    char *folder = cli_strndup(*file, (size_t)(slash + 1 - *file));
    int   failed = chdir(folder);
    free(folder);
    if (failed) return cli_usage(&cli_studio, "the folder of the release file cannot be entered");
    *file = slash + 1;
    return 0;
}

static int run(int argc, char **argv)
{
    cli_common        common = {0};
    kn_studio_options o = KN_STUDIO_OPTIONS_INIT;
    bool              no_open = false;
    const cli_option  options[] = {{"--spec", CLI_TEXT, &o.release}, {"--no-open", CLI_FLAG, &no_open}, {0}};
    if (!cli_parse(&cli_studio, &argc, argv, options, &common)) return 2;
    if (common.help) return 0;
    if (argc > 1) return cli_usage(&cli_studio, "one table, database, file of records or release file at a time");
    if (argc == 1 && !o.release && (ends_with(argv[0], ".yaml") || ends_with(argv[0], ".yml")))
        o.release = argv[0];
    else if (argc == 1)
        o.input = argv[0];
    int code = o.input || !o.release ? 0 : enter_folder(&o.release);
    if (code) return code;
    o.threads = (int)common.threads;
    o.memory_limit = common.memory_limit;
    o.version = KANON_VERSION;
    return serve(&o, no_open, common.json);
}

const cli_command cli_studio = {"studio", "a page in the browser: look, choose, publish", help, run};
