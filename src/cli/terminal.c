/* terminal.c: messages on stderr, the progress line, Ctrl-C, and the end of standard output.
 *
 * The progress line is drawn by whichever worker makes the callback (never two at once), only if stderr is a
 * terminal, and erased when its stage ends or a message is printed. Signals reach the main thread only: the library's
 * workers block them. The handler cancels the context; calls then clean up and return KN_CANCELLED. The few variables
 * at file scope are there for the signal handler.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LINE_SIZE = 1024, MAX_BAR = 30, MIN_BAR = 8, DEFAULT_WIDTH = 80, SAME_STROKE_MS = 100 };

/* ---- The terminal ---- */

int cli_terminal_width(FILE *file)
{
    struct winsize size;
    if (ioctl(fileno(file), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    return DEFAULT_WIDTH;
}

static bool is_dumb(void)
{
    const char *term = getenv("TERM");
    return !term || !*term || strcmp(term, "dumb") == 0;
}

const char *cli_style_on(FILE *file, cli_style style)
{
    static const char *const sequences[] = {
        [CLI_PLAIN] = "\033[0m", [CLI_BOLD] = "\033[1m",   [CLI_DIM] = "\033[2m",
        [CLI_RED] = "\033[31m",  [CLI_GREEN] = "\033[32m", [CLI_YELLOW] = "\033[33m",
    };
    const char *no_color = getenv("NO_COLOR");
    if ((no_color && *no_color) || is_dumb() || !isatty(fileno(file))) return "";
    return sequences[style];
}

/* ---- The progress line ---- */

/* Columns of the line now on the terminal; 0: none. */
static atomic_int line_width;

static void erase_line(void)
{
    int width = atomic_exchange(&line_width, 0);
    if (width == 0) return;
    if (is_dumb())
        fprintf(stderr, "\r%*s\r", width, "");
    else
        fputs("\r\033[K", stderr);
    fflush(stderr);
}

static void format_time(char *buffer, size_t size, double seconds)
{
    uint64_t s = seconds < 360000 ? (uint64_t)(seconds + 0.5) : 359999;
    if (s >= 3600)
        snprintf(buffer, size, "%" PRIu64 ":%02" PRIu64 ":%02" PRIu64, s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(buffer, size, "%" PRIu64 ":%02" PRIu64, s / 60, s % 60);
}

/* "12.3 MB" or "1,234 rows" */
static void format_amount(char *buffer, size_t size, uint64_t amount, const char *unit)
{
    char number[CLI_NUMBER_SIZE];
    if (unit && strcmp(unit, "bytes") == 0)
        snprintf(buffer, size, "%s", cli_format_bytes(number, amount));
    else
        snprintf(buffer, size, "%s %s", cli_format_integer(number, (int64_t)amount), unit ? unit : "");
}

/* The text after the bar: "120.3 MB/s  ETA 0:12". */
static void format_rate(char *buffer, size_t size, const kn_progress *p)
{
    char   rate[80], left[32], done[80];
    double per_second = p->seconds > 0 ? (double)p->done / p->seconds : 0;
    format_amount(rate, sizeof rate, (uint64_t)per_second, p->unit);
    if (p->total > 0 && per_second > 0) {
        double remaining = p->done < p->total ? (double)(p->total - p->done) : 0;
        format_time(left, sizeof left, remaining / per_second);
        snprintf(buffer, size, "%s/s  ETA %s", rate, left);
    } else {
        format_amount(done, sizeof done, p->done, p->unit);
        format_time(left, sizeof left, p->seconds);
        snprintf(buffer, size, "%s  %s/s  %s", done, rate, left);
    }
}

/* Appends a bar of exactly `width` columns with its frame; returns the bytes written. */
static size_t format_bar(char *buffer, size_t size, double share, int width)
{
    char        bar[CLI_BAR_SIZE(MAX_BAR)];
    const char *filled = cli_bar(bar, share, width);
    return (size_t)snprintf(buffer, size, "[%s%s%s%*s]  ", cli_style_on(stderr, CLI_GREEN), filled,
                            cli_style_on(stderr, CLI_PLAIN), width - cli_text_width(filled), "");
}

static void draw(void *user, const kn_progress *p)
{
    (void)user;
    if (p->finished || cli_stopped()) {
        erase_line();
        return;
    }
    char   rate[200], line[LINE_SIZE];
    int    limit = cli_terminal_width(stderr) - 1; /* a full line would wrap */
    double share = p->total > 0 ? (double)p->done / (double)p->total : 0;
    if (share > 1) share = 1;
    format_rate(rate, sizeof rate, p);
    int used = p->total > 0 ? snprintf(line, sizeof line, "%-10s %3d %%  ", p->stage, (int)(share * 100))
                            : snprintf(line, sizeof line, "%-10s ", p->stage);
    int visible = used + (int)strlen(rate);
    int bar = limit - visible - 4;
    if (bar > MAX_BAR) bar = MAX_BAR;
    if (p->total > 0 && bar >= MIN_BAR) {
        used += (int)format_bar(line + used, sizeof line - (size_t)used, share, bar);
        visible += bar + 4;
    }
    snprintf(line + used, sizeof line - (size_t)used, "%s", rate);
    if (visible > limit) { /* without a bar the line is ASCII: bytes are columns */
        line[limit > 0 ? limit : 0] = '\0';
        visible = limit;
    }
    int before = atomic_exchange(&line_width, visible > 0 ? visible : 0);
    if (is_dumb())
        fprintf(stderr, "\r%s%*s", line, before > visible ? before - visible : 0, "");
    else
        fprintf(stderr, "\r%s\033[K", line);
    fflush(stderr);
}

/* ---- Ctrl-C ---- */

static const int stop_signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { STOP_SIGNALS = sizeof stop_signals / sizeof *stop_signals };
static struct sigaction      before_context[STOP_SIGNALS];
static _Atomic(kn_context *) current;
static atomic_bool           stop_asked;
static struct timespec       stop_time; /* of the first signal; only the handler uses it */

static void on_stop(int signal_number)
{
    int             saved = errno;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!atomic_exchange(&stop_asked, true)) {
        stop_time = now;
        kn_context *ctx = atomic_load(&current);
        if (ctx) kn_context_cancel(ctx);
    } else if (signal_number != SIGHUP) {
        /* A wrapper may forward the same keystroke again, and a closed terminal is reported twice. */
        int64_t ms = (int64_t)(now.tv_sec - stop_time.tv_sec) * 1000 + (now.tv_nsec - stop_time.tv_nsec) / 1000000;
        if (ms > SAME_STROKE_MS) {
            signal(signal_number, SIG_DFL);
            raise(signal_number); /* delivered when this handler returns */
        }
    }
    errno = saved;
}

bool cli_stopped(void)
{
    return atomic_load(&stop_asked);
}

int cli_stop(void)
{
    erase_line();
    fputs("kanon: stopped\n", stderr);
    return 3;
}

static void watch_signals(void)
{
    for (int i = 0; i < STOP_SIGNALS; i++) {
        struct sigaction action = {0};
        /* No SA_RESTART: a read that waits for a person to type must return. */
        action.sa_handler = on_stop;
        sigemptyset(&action.sa_mask);
        for (int j = 0; j < STOP_SIGNALS; j++) sigaddset(&action.sa_mask, stop_signals[j]);
        sigaction(stop_signals[i], NULL, &before_context[i]);
        /* A signal that our parent ignored (nohup, a shell's background job) stays ignored. */
        if (before_context[i].sa_handler != SIG_IGN) sigaction(stop_signals[i], &action, NULL);
    }
}

kn_context *cli_context(const cli_common *common)
{
    kn_context_options options = KN_CONTEXT_OPTIONS_INIT;
    options.threads = (int)common->threads;
    options.memory_limit = common->memory_limit;
    bool in_the_way = common->streams && isatty(STDOUT_FILENO);
    if (!common->quiet && !in_the_way && isatty(STDERR_FILENO)) options.progress = draw;
    kn_error    err = KN_ERROR_INIT;
    kn_context *ctx = NULL;
    if (kn_context_create(&ctx, &options, &err) != KN_OK) {
        cli_fail(&err);
        return NULL;
    }
    atomic_store(&current, ctx);
    watch_signals();
    return ctx;
}

kn_context *cli_context_now(void)
{
    return atomic_load(&current);
}

void cli_context_free(kn_context *ctx)
{
    if (!ctx) return;
    for (int i = 0; i < STOP_SIGNALS; i++) sigaction(stop_signals[i], &before_context[i], NULL);
    atomic_store(&current, NULL);
    kn_context_free(ctx);
    erase_line();
}

/* ---- Messages ---- */

/* Is standard output a pipe whose reader has gone (`kanon ... | head`)? */
static bool reader_gone(void)
{
    struct stat   info;
    struct pollfd out = {STDOUT_FILENO, POLLOUT, 0};
    if (fstat(STDOUT_FILENO, &info) != 0 || !(S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode))) return false;
    return poll(&out, 1, 0) > 0 && (out.revents & (POLLERR | POLLHUP)) != 0;
}

int cli_fail(const kn_error *err)
{
    if (err->status == KN_CANCELLED) return cli_stop();
    int code = kn_status_exit_code(err->status);
    if (err->status == KN_IO && strstr(err->message, strerror(EPIPE)) && reader_gone()) return code;
    erase_line();
    const char *text = err->message[0] ? err->message : kn_status_name(err->status);
    char       *safe = cli_escape(text, strlen(text));
    fprintf(stderr, "kanon: %s%s\n", err->status == KN_INTERNAL ? "internal error: " : "", safe);
    free(safe);
    return code;
}

static char *message_of(const char *format, va_list args) KN_PRINTF(1, 0);

/* The formatted message, made safe for a terminal; free it. */
static char *message_of(const char *format, va_list args)
{
    char text[2000];
    (void)vsnprintf(text, sizeof text, format, args);
    kn_hide_secrets(text, sizeof text);
    return cli_escape(text, strlen(text));
}

int cli_usage(const cli_command *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = message_of(format, args);
    va_end(args);
    erase_line();
    fprintf(stderr, "kanon: %s\nTry 'kanon %s --help'.\n", text, command->name);
    free(text);
    return 2;
}

static void print_note(const char *text)
{
    erase_line();
    fprintf(stderr, "kanon: %snote:%s %s\n", cli_style_on(stderr, CLI_YELLOW), cli_style_on(stderr, CLI_PLAIN), text);
}

static cli_list notes; /* until the program ends */

const cli_list *cli_notes(void)
{
    return &notes;
}

void cli_say(const char *note)
{
    char *text = cli_escape(note, strlen(note));
    print_note(text);
    free(text);
}

void cli_note(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = message_of(format, args);
    va_end(args);
    print_note(text);
    notes.items = cli_realloc(notes.items, (size_t)(notes.count + 1) * sizeof *notes.items);
    notes.items[notes.count++] = text;
}

void cli_done(const cli_common *common, const char *format, ...)
{
    if (common->quiet) return;
    va_list args;
    va_start(args, format);
    char *text = message_of(format, args);
    va_end(args);
    print_note(text);
    free(text);
}

int cli_finish(int code)
{
    errno = 0;
    bool failed = fflush(stdout) != 0 || ferror(stdout);
    int  why = errno;
    /* Some file systems report a full disk or quota only when a descriptor is closed. */
    int copy = failed ? -1 : dup(STDOUT_FILENO);
    if (copy >= 0 && close(copy) != 0) {
        failed = true;
        why = errno;
    }
    if (!failed) return code;
    if (!reader_gone()) fprintf(stderr, "kanon: writing to standard output: %s\n", why ? strerror(why) : "failed");
    return 3;
}
