/* main.c: `kanon COMMAND ...`: finds the command, prints the general help, checks standard output at the end. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"

#include <fcntl.h>
#include <signal.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "document.h"
#include "lists.h"
#include "topics.h"

static const cli_command *const commands[] = {&cli_init,      &cli_profile, &cli_diagnose, &cli_dependencies,
                                              &cli_hierarchy, &cli_advise,  &cli_frontier, &cli_explain,
                                              &cli_anonymize, &cli_apply,   &cli_verify,   &cli_measure,
                                              &cli_attack,    &cli_report,  &cli_generate, &cli_studio};
static const char *const        other_words[] = {"help", "--help", "--version"};
enum {
    COMMANDS = sizeof commands / sizeof commands[0],
    OTHER_WORDS = sizeof other_words / sizeof other_words[0],
    MOST_TOPICS = 64,
    LINE_WIDTH = 76
};

/* "  k, l, t, ...", a few lines. */
static void print_topic_names(void)
{
    size_t used = 0;
    for (const cli_topic *t = cli_topics; t->name; t++) {
        bool wrap = used == 0 || used + strlen(t->name) + 2 > LINE_WIDTH;
        used = (wrap ? 0 : used) + strlen(t->name) + 2;
        printf("%s%s%s", wrap ? t == cli_topics ? "  " : "\n  " : " ", t->name, t[1].name ? "," : "\n");
    }
}

static void print_topics(void)
{
    fputs("Topics of 'kanon help TOPIC':\n\n", stdout);
    for (const cli_topic *t = cli_topics; t->name; t++) printf("  %-14s %s\n", t->name, t->summary);
}

static void print_help(void)
{
    fputs("Usage: kanon COMMAND [OPTION...] [ARGUMENT...]\n"
          "\n"
          "Says what a table gives away about the people in it, and what is the least to\n"
          "blur before it may be published.\n"
          "\n"
          "Commands:\n",
          stdout);
    for (int i = 0; i < COMMANDS; i++) printf("  %-12s %s\n", commands[i]->name, commands[i]->summary);
    fputs("  help [WORD]  show the help of a command, a topic, a method, a model or a metric\n"
          "\n"
          "Topics, in plain words ('kanon help TOPIC'; 'kanon help topics' lists them):\n",
          stdout);
    print_topic_names();
    fputs("\n" CLI_COMMON_HELP "\n"
          "`kanon --version` prints the version. Data goes to standard output, words to\n"
          "standard error; '-' as a file is standard input or output.\n"
          "\n" CLI_EXIT_HELP,
          stdout);
}

static const cli_command *find_command(const char *name)
{
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i]->name, name) == 0) return commands[i];
    return NULL;
}

/* `what`: "command", or "command or topic" after `help`. */
static int unknown_word(const char *word, const char *what, bool topics)
{
    const char *names[COMMANDS + OTHER_WORDS + MOST_TOPICS + CLI_ENTRIES + 1];
    int         count = 0;
    for (int i = 0; i < COMMANDS; i++) names[count++] = commands[i]->name;
    for (int i = 0; i < OTHER_WORDS; i++) names[count++] = other_words[i];
    for (const cli_topic *t = cli_topics; topics && t->name && t - cli_topics < MOST_TOPICS; t++)
        names[count++] = t->name;
    for (int i = 0; topics && i < CLI_ENTRIES; i++) names[count++] = cli_entry_name(i);
    names[count] = NULL;
    const char *near = cli_nearest(word, names);
    char       *shown = cli_escape(word, strlen(word));
    kn_hide_secrets(shown, strlen(shown) + 2);
    fprintf(stderr, "kanon: there is no %s '%s'", word[0] == '-' ? "option" : what, shown);
    if (near) fprintf(stderr, "; did you mean '%s'?", near);
    fputs("\nTry 'kanon --help'.\n", stderr);
    free(shown);
    return 2;
}

/* `kanon help COMMAND WORD` is `kanon COMMAND WORD --help`: a command may have help for each of its actions. A topic
 * may have several words: `kanon help release rules`. `kanon help answers NAME` is the schema of an answer. The names of
 * methods, models and metrics are known, too. */
static int help(int argc, char **argv)
{
    if (argc == 0 || strcmp(argv[0], "help") == 0 || strcmp(argv[0], "--help") == 0) {
        print_help();
        return 0;
    }
    if (strcmp(argv[0], "topics") == 0) {
        print_topics();
        return 0;
    }
    if (argc == 2 && strcmp(argv[0], "answers") == 0) return cli_schema_print(argv[1]);
    const cli_command *command = find_command(argv[0]);
    if (!command) {
        const cli_topic *topic = cli_topic_find(argv, argc);
        char             word[CLI_TOPIC_WORD];
        if (!topic && cli_topic_word(word, argv, argc) && cli_entry_print(word)) return 0;
        if (!topic) return unknown_word(argv[0], "command or topic", true);
        fputs(topic->text, stdout);
        if (strcmp(topic->name, "answers") == 0) cli_answers_print();
        return 0;
    }
    if (argc == 1) {
        fputs(command->help, stdout);
        return 0;
    }
    char  option[] = "--help";
    char *words[] = {argv[1], option, NULL};
    return command->run(2, words);
}

static int run(int argc, char **argv)
{
    if (argc < 2) {
        fputs("kanon: a command is needed\nTry 'kanon --help'.\n", stderr);
        return 2;
    }
    const char *word = argv[1];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) return help(0, NULL);
    if (strcmp(word, "help") == 0) return help(argc - 2, argv + 2);
    if (strcmp(word, "--version") == 0) {
        puts("kanon " KANON_VERSION);
        return 0;
    }
    const cli_command *command = find_command(word);
    return command ? command->run(argc - 2, argv + 2) : unknown_word(word, "command", false);
}

/* The next file opened would get the number of a closed standard descriptor, and stray output would be written into
 * it. The descriptors opened here in its place fail every use. */
static void fill_closed_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) == -1) (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* Returns large freed blocks to the system at once: by default malloc raises its threshold and keeps them. */
static void give_memory_back(void)
{
#ifdef __GLIBC__
    (void)mallopt(M_MMAP_THRESHOLD, 1 << 22);
#endif
}

int main(int argc, char **argv)
{
    fill_closed_descriptors();
    /* A reader that goes away, or a file size limit, is reported as a write error instead of ending the program. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    give_memory_back();
    return cli_finish(run(argc, argv));
}
