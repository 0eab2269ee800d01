/* cli.h: what the commands share. The command line uses the public API only.
 *
 * The outline of a command:
 *
 *     static int run(int argc, char **argv)
 *     {
 *         cli_common        common = {0};
 *         cli_table_options table = {0};
 *         cli_list          qi = {0};
 *         const cli_option  options[] = {{"--qi", CLI_LIST, &qi}, CLI_TABLE_OPTIONS(table), {0}};
 *         if (!cli_parse(&cli_diagnose, &argc, argv, options, &common)) return 2;
 *         if (common.help) return 0;
 *         ...
 *     }
 *
 * All functions are for one thread only, unless stated otherwise. The command line's own memory comes from malloc;
 * when it runs out, the program reports that and ends with exit code 3.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_H
#define CLI_H

#include <kanon/context.h>
#include <kanon/table.h>
#include <stdio.h>

/* A command: `run` gets the arguments after its name and returns the exit code. */
typedef struct cli_command {
    const char *name;
    const char *summary; /* one line for `kanon --help`                */
    const char *help;    /* the whole text of `kanon NAME --help`      */
    int (*run)(int argc, char **argv);
} cli_command;

extern const cli_command cli_init;
extern const cli_command cli_profile;
extern const cli_command cli_diagnose;
extern const cli_command cli_dependencies;
extern const cli_command cli_hierarchy;
extern const cli_command cli_anonymize;
extern const cli_command cli_apply;
extern const cli_command cli_advise;
extern const cli_command cli_explain;
extern const cli_command cli_frontier;
extern const cli_command cli_verify;
extern const cli_command cli_measure;
extern const cli_command cli_attack;
extern const cli_command cli_report;
extern const cli_command cli_generate;
extern const cli_command cli_studio;

/* ---- Options ----
 * A command describes its options in an array that ends with {0}; cli_parse fills them in and leaves the other
 * arguments, in order, at the front of argv. Accepted forms: `--name value`, `--name=value`, `-n value`, `-nvalue`;
 * `--` ends the options, `-` is an ordinary argument. A target keeps its value if its option is not given. */
typedef enum cli_kind {
    CLI_FLAG,    /* bool *: set to true                                                        */
    CLI_TEXT,    /* const char **: points into argv                                            */
    CLI_LIST,    /* cli_list *: items separated by commas, repeatable                          */
    CLI_INTEGER, /* int64_t *                                                                  */
    CLI_NUMBER,  /* double *: finite, with a point                                             */
    CLI_REPEAT,  /* cli_list *: one item each time the option is given, commas and all         */
    CLI_SIZE     /* uint64_t *: bytes, see cli_parse_size                                      */
} cli_kind;

typedef struct cli_option {
    const char *name;    /* "--rows"; an alias after a bar: "-k|--k"  */
    cli_kind    kind;
    void       *target;  /* bool *, const char **, cli_list *, int64_t *, double * */
} cli_option;

/* A repeatable option; a value may hold several items separated by commas (`a,b`), a backslash escapes a comma (`\,`)
 * or a backslash (`\\`) and is an ordinary character elsewhere. An empty value is one empty item. Items are freed by
 * cli_list_free. */
typedef struct cli_list {
    char **items;
    int    count;
} cli_list;

void cli_list_free(cli_list *list);

/* The options of every command. Filled in by cli_parse. */
typedef struct cli_common {
    bool     json;
    bool     quiet;        /* --quiet: no progress; notes stay          */
    bool     help;         /* the help, or a list, was printed: return 0 */
    int64_t  threads;      /* 0: all                                    */
    uint64_t memory_limit; /* bytes; 0: none                            */
    bool     list_methods, list_models, list_metrics; /* if the command has them (lists.h) */
    bool     streams;      /* set by the command, before cli_context: it writes data to standard output during work,
                              and a progress line on the same terminal would be mixed into it */
} cli_common;

/* Parses argv; on a mistake prints a message and returns false (exit code 2). *argc becomes the number of the other
 * arguments. After false, or with common->help set, every list among the options is empty: nothing needs freeing. */
bool cli_parse(const cli_command *command, int *argc, char **argv, const cli_option *options, cli_common *common);

/* Strict readers of a whole token; false if it is malformed or out of range. A size is a number of bytes with an
 * optional fraction and unit: k M G T (powers of 1000), Ki Mi Gi Ti (powers of 1024), an optional B, in either
 * case. */
bool cli_parse_integer(const char *text, int64_t *out);
bool cli_parse_number(const char *text, double *out);
bool cli_parse_size(const char *text, uint64_t *out);

/* "100 rows" is 100, for options that take a share or a number of rows; -1: not of this form. */
int64_t cli_rows_text(const char *text);

/* The name nearest to a mistyped word, or NULL if none is similar. `names` ends with NULL. */
const char *cli_nearest(const char *word, const char *const *names);

/* The help text for the options of every command, with its heading. */
#define CLI_COMMON_HELP                                                                                                \
    "Options of every command:\n"                                                                                      \
    "      --json               write the result as JSON\n"                                                            \
    "  -q, --quiet              no progress; notes are still printed\n"                                                \
    "      --threads N          work on N threads (default: all processors)\n"                                         \
    "      --memory-limit SIZE  stop rather than use more memory: 500M, 2G, 1.5GiB\n"                                  \
    "  -h, --help               show this text\n"

#define CLI_EXIT_HELP                                                                                                  \
    "Exit codes: 0 it holds or is done, 1 it does not hold, 2 bad usage or bad input,\n"                               \
    "3 the system failed (input or output, memory) or the run was stopped, 4 it could not be\n"                          \
    "decided.\n"

/* ---- Reading tables ----
 * The same options for every command that reads a table: start from {0}, put CLI_TABLE_OPTIONS(table) into the
 * options, CLI_TABLE_HELP into the help, then call cli_table_read and finally cli_table_options_free. */
typedef struct cli_table_options {
    const char *delimiter;
    bool        no_header;
    const char *encoding;
    const char *decimal;
    const char *timezone;
    cli_list    na;
    bool        no_na;
    cli_list    types;
    const char *count;
    bool        grouped; /* no option: equal rows may come as one (kn_csv_options) */
} cli_table_options;

#define CLI_TABLE_OPTIONS(t)                                                                                           \
    {"-d|--delimiter", CLI_TEXT, &(t).delimiter}, {"--no-header", CLI_FLAG, &(t).no_header},                           \
        {"--encoding", CLI_TEXT, &(t).encoding}, {"--decimal", CLI_TEXT, &(t).decimal},                                \
        {"--timezone", CLI_TEXT, &(t).timezone}, {"--na", CLI_LIST, &(t).na}, {"--no-na", CLI_FLAG, &(t).no_na},       \
        {"--count", CLI_TEXT, &(t).count},                                                                             \
    {                                                                                                                  \
        "--type", CLI_REPEAT, &(t).types                                                                               \
    }

#define CLI_TABLE_HELP                                                                                                 \
    "Reading tables:\n"                                                                                                \
    "  -d, --delimiter C        one character between cells, or 'tab' (default: detected)\n"                           \
    "      --no-header          the first line is data; columns are named c1, c2, ...\n"                               \
    "      --encoding NAME      utf-8 (default), windows-1252 or latin-1\n"                                            \
    "      --decimal C          decimal mark of numbers: '.' (default) or ','\n"                                       \
    "      --timezone ZONE      zone of times that carry none, e.g. Europe/Athens (default: UTC)\n"                    \
    "      --na LIST            spellings of a missing cell, instead of the usual ones;\n"                             \
    "                           repeatable; --na '' means: only empty cells\n"                                         \
    "      --no-na              no cell is missing; an empty one is a value\n"                                         \
    "      --count COLUMN       how many equal rows each row stands for; it is a count, no column\n"                   \
    "      --type COL:TYPE[:FORMAT]\n"                                                                                 \
    "                           text, integer, decimal, date or datetime instead of the type\n"                        \
    "                           found; FORMAT is for dates (%d/%m/%Y); repeatable\n"


/* Reads the files (same columns; "-" is standard input) as one table with these columns only (NULL: all). On failure
 * prints why, sets *exit_code and returns false. Checks the table options first: a mistake there is reported before
 * anything is read. */
bool cli_table_read(kn_table **out, kn_context *ctx, const cli_table_options *options, char *const *paths,
                    int path_count, const char *const *columns, int column_count, int *exit_code);

/* Is one of the inputs the file to be written? Writing it would destroy the original. */
bool cli_overwrites_input(const char *output, char *const *inputs, int input_count);

/* Of a file that is no document: where its document stands beside it (PATH and `ending`), the error names that. */
void cli_meant_beside(kn_error *err, const char *path, const char *ending);

/* The library's options for these, for a command that calls the reader itself. `csv` points into `options` and into
 * *types, which the caller frees with cli_column_types_free. Returns false after printing what is wrong (exit code
 * 2). */
typedef struct cli_column_types {
    kn_column_type *items;
    int             count;
} cli_column_types;

bool cli_table_csv_options(kn_csv_options *csv, const cli_table_options *options, cli_column_types *types);
void cli_column_types_free(cli_column_types *types);
void cli_table_options_free(cli_table_options *options);

/* ---- Running ---- */

/* A context that shows progress on a terminal; NULL after printing why not (exit code 3). One at a time. Ctrl-C,
 * SIGTERM and SIGHUP cancel it; a second signal ends the program at once. */
kn_context *cli_context(const cli_common *common);
kn_context *cli_context_now(void); /* the one in use; NULL: none */
void        cli_context_free(kn_context *ctx);

/* True once the user asked to stop; for a command's own long loops, which then return cli_stop(). */
bool cli_stopped(void);
int  cli_stop(void);

/* Prints "kanon: message" on stderr; returns the exit code of the error's status. Silent if standard output is a pipe
 * that nobody reads any more. */
int cli_fail(const kn_error *err);

/* Prints "kanon: message" and a line that points to the command's --help; returns 2. Every message has the form
 * "where: what is wrong; what to do" (docs/commands.md). */
int cli_usage(const cli_command *command, const char *format, ...) KN_PRINTF(2, 3);

/* Prints a note for the user: on stderr ("kanon: note: ..."), even with --quiet, and in the "notes" of the JSON that
 * is printed afterwards. */
void cli_note(const char *format, ...) KN_PRINTF(1, 2);

/* The same for a note that the answer already has: on stderr only. */
void cli_say(const char *note);

/* The notes so far, made safe for a terminal. */
const cli_list *cli_notes(void);

/* Reports what was done ("kanon: 3 rows written to ...") on stderr, unless --quiet. */
void cli_done(const cli_common *common, const char *format, ...) KN_PRINTF(2, 3);

/* Does any option describe the format of a file? Types and counts do not. */
bool cli_format_said(const cli_table_options *options);

/* Completes or undoes what a killed run left at a file that will be read or replaced, and reports it even with
 * --quiet. `wait`: waits for another run that is just renaming its files to their final names. Returns 0, or an exit
 * code after reporting what failed. */
int cli_settle(kn_context *ctx, const char *path, bool wait);

/* Flushes standard output and checks that all of it arrived; returns `code`, or 3 after reporting why not. main calls
 * it at the end of every command. */
int cli_finish(int code);

/* malloc, realloc and strndup that end the program with exit code 3 when memory runs out. */
void *cli_alloc(size_t size);
void *cli_realloc(void *block, size_t size);
char *cli_strndup(const char *text, size_t length);

/* ---- Text for people ---- */

/* Text made safe for a terminal, as a new string (free it): control characters, direction marks and bytes that are
 * not UTF-8 become \n, \t, \xNN or \uNNNN. */
char *cli_escape(const char *text, size_t length);

/* How many terminal columns an escaped text takes. */
int cli_text_width(const char *text);

bool cli_utf8(void);                 /* the locale's character set is UTF-8                          */
int  cli_terminal_width(FILE *file); /* columns of the terminal; 80 if it is not one                 */

typedef enum cli_style { CLI_PLAIN, CLI_BOLD, CLI_DIM, CLI_RED, CLI_GREEN, CLI_YELLOW } cli_style;

/* The escape sequence that turns a style on (CLI_PLAIN: all off); "" if the file is not a terminal, NO_COLOR is set
 * or TERM is "dumb". */
const char *cli_style_on(FILE *file, cli_style style);

enum { CLI_NUMBER_SIZE = 32 };

/* Write into `buffer` (CLI_NUMBER_SIZE bytes) and return it: 1,234,567 and 12.3 MB. */
const char *cli_format_integer(char *buffer, int64_t value);
const char *cli_format_bytes(char *buffer, uint64_t bytes);

/* "1 row", "2,345 rows". */
typedef struct cli_phrase {
    char text[CLI_NUMBER_SIZE + 48];
} cli_phrase;

cli_phrase cli_count_of(int64_t n, const char *one, const char *many);
cli_phrase cli_choices_of(double n, const char *one, const char *many); /* may be more than any integer */
cli_phrase cli_rows_of(int64_t n);

/* A bar that fills `share` (0 to 1) of `width` columns, without trailing blanks: eighth blocks where the locale is
 * UTF-8, '#' otherwise. A share above 0 never looks empty. `buffer` has CLI_BAR_SIZE(width) bytes; returns it. */
#define CLI_BAR_SIZE(width) ((size_t)(width)*3 + 4)
const char *cli_bar(char *buffer, double share, int width);

/* Aligned columns. Cells are added row by row, left to right; text is escaped, widths are terminal columns. No
 * line ends with blanks. */
typedef enum cli_align { CLI_LEFT, CLI_RIGHT } cli_align;
typedef struct cli_text_table cli_text_table;

/* `titles` NULL: no heading; both arrays hold `columns` entries and are copied. */
cli_text_table *cli_text_table_new(int columns, const char *const *titles, const cli_align *aligns);
void            cli_text_table_free(cli_text_table *table);

void cli_text_table_text(cli_text_table *table, const char *text);                        /* NULL: an empty cell */
void cli_text_table_bytes(cli_text_table *table, const char *text, size_t length);        /* not NUL-terminated  */
void cli_text_table_integer(cli_text_table *table, int64_t value);                        /* 1,234,567           */
void cli_text_table_format(cli_text_table *table, const char *format, ...) KN_PRINTF(2, 3);
void cli_text_table_style(cli_text_table *table, cli_style style);                        /* of the cell just added */
void cli_text_table_bar(cli_text_table *table, double share, int width);                  /* see cli_bar         */

/* Prints the table, each line indented by `indent` blanks. Fills an unfinished row with empty cells. */
void cli_text_table_print(cli_text_table *table, FILE *file, int indent);

#endif
