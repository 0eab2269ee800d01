/* cli.h: what the commands share. The command line uses the public API only. */
#ifndef CLI_H
#define CLI_H

#include <kanon/context.h>
#include <stdio.h>

/* A command: `run` gets the arguments behind its name and returns the exit code. */
typedef struct cli_command {
    const char *name;
    const char *summary; /* one line for `kanon --help`                */
    const char *help;    /* the whole text of `kanon NAME --help`      */
    int (*run)(int argc, char **argv);
} cli_command;

extern const cli_command cli_profile;
extern const cli_command cli_diagnose;
extern const cli_command cli_hierarchy;
extern const cli_command cli_generate;

/* ---- Options ----
 * A command describes its options in an array that ends with {0}; cli_parse fills them in and leaves the other
 * arguments, in order, at the front of argv. */
typedef enum cli_kind { CLI_FLAG, CLI_TEXT, CLI_LIST, CLI_INTEGER, CLI_NUMBER } cli_kind;

typedef struct cli_option {
    const char *name;    /* "--rows"; an alias after a bar: "-k|--k"  */
    cli_kind    kind;
    void       *target;  /* bool *, const char **, cli_list *, int64_t *, double * */
} cli_option;

/* A repeatable option; a value may hold several items separated by commas (`a,b`), a backslash keeps a comma. Items are
 * freed by cli_list_free. */
typedef struct cli_list {
    char **items;
    int    count;
} cli_list;

void cli_list_free(cli_list *list);

/* The options that every command has. Filled in by cli_parse. */
typedef struct cli_common {
    bool     json;
    bool     quiet;        /* --quiet: no progress, no notes            */
    bool     help;         /* the command's help was printed: return 0  */
    int64_t  threads;      /* 0: all                                    */
    uint64_t memory_limit; /* bytes; 0: none                            */
} cli_common;

/* Parses argv; on a mistake prints a message and returns false (exit code 2). `positional` receives the other
 * arguments' count. */
bool cli_parse(const cli_command *command, int *argc, char **argv, const cli_option *options, cli_common *common);

/* A context with progress on a terminal and Ctrl-C tied to it; NULL after printing why not. */
kn_context *cli_context(const cli_common *common);
void        cli_context_free(kn_context *ctx);

/* Prints "kanon: message" on stderr; returns the exit code of the error's status. */
int cli_fail(const kn_error *err);

/* Prints "kanon COMMAND: message" and a pointer to --help; returns 2. */
int cli_usage(const cli_command *command, const char *format, ...) KN_PRINTF(2, 3);

/* A remark on stderr ("kanon: note: ..."), unless --quiet. */
void cli_note(const cli_common *common, const char *format, ...) KN_PRINTF(2, 3);

#endif
