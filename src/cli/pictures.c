/* pictures.c: pictures of a diagnosis as text (pictures.h).
 *
 * The staircase is drawn column by column on a grid of characters; the subsets of a list are lines of letters. What
 * is known of a set comes from the list of sets or follows from the borders: a set that fails also fails with more
 * columns, a set that holds also holds with fewer. Cost: one pass over the class sizes; 2^n sets for up to twenty
 * columns, beyond that, only the sizes of the borders.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pictures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Staircase ---- */

enum { HEIGHT = 10, MOST_WIDTH = 64 };

typedef struct plot {
    int    width;
    int    row[MOST_WIDTH];          /* where the line is in each column; 0 is the top */
    char   cell[HEIGHT][MOST_WIDTH]; /* ' ', '-', '|', '/' (end of a rise), 'J' (its start) */
    double low, high;                /* log k */
    double most;                     /* share at the right edge */
} plot;

static int row_of(const plot *p, double k)
{
    double up = (log(k) - p->low) / (p->high - p->low) * (HEIGHT - 1);
    return HEIGHT - 1 - (int)lround(up);
}

static int64_t size_at(const cli_value *sizes, int64_t index, const char *key)
{
    return cli_integer(kn_document_at(sizes, index), key);
}

static void draw_plot(plot *p, const cli_value *sizes, int64_t last)
{
    int64_t step = 0, removed = size_at(sizes, 0, "rows"); /* the current step, and the rows the next one removes */
    memset(p->cell, ' ', sizeof p->cell);
    for (int x = 0; x < p->width; x++) {
        /* The last column is exactly the last step. */
        double removable = x + 1 == p->width ? (double)last : (double)last * x / (p->width - 1);
        while (step + 1 < kn_document_count(sizes) && (double)removed <= removable)
            removed += size_at(sizes, ++step, "rows");
        p->row[x] = row_of(p, (double)size_at(sizes, step, "size"));
        int before = x > 0 ? p->row[x - 1] : p->row[x];
        p->cell[p->row[x]][x] = '-';
        if (before <= p->row[x]) continue;
        p->cell[before][x] = 'J';
        for (int y = p->row[x] + 1; y < before; y++) p->cell[y][x] = '|';
        p->cell[p->row[x]][x] = '/';
    }
}

static void print_cells(const plot *p, int y, bool utf8, FILE *out)
{
    int end = p->width;
    while (end > 0 && p->cell[y][end - 1] == ' ') end--;
    for (int x = 0; x < end; x++) switch (p->cell[y][x]) {
        case '-': fputs(utf8 ? "─" : "-", out); break;
        case '|': fputs(utf8 ? "│" : "|", out); break;
        case '/': fputs(utf8 ? "┌" : "+", out); break;
        case 'J': fputs(utf8 ? "┘" : "+", out); break;
        default: fputc(' ', out);
        }
}

/* "12 %", with enough decimals not to be 0. */
static int percent(char *text, size_t size, double share)
{
    double value = 100 * share;
    int    digits = value <= 0 || value >= 10 ? 0 : value >= 1 ? 1 : value >= 0.1 ? 2 : 4;
    return snprintf(text, size, "%.*f %%", digits, value);
}

static void print_axis(const plot *p, int margin, bool utf8, FILE *out)
{
    char left[32], middle[32], right[32];
    int  a = percent(left, sizeof left, 0), b = percent(middle, sizeof middle, p->most / 2),
        c = percent(right, sizeof right, p->most);
    fprintf(out, "  %*s %s", margin, "", utf8 ? "└" : "+");
    for (int x = 0; x < p->width; x++) fputs(utf8 ? "─" : "-", out);
    int half = p->width / 2 - b / 2, end = p->width - c;
    fprintf(out, "\n  %*s  %s", margin, "", left);
    if (half > a + 1 && half + b + 1 < end)
        fprintf(out, "%*s%s%*s%s\n", half - a, "", middle, end - half - b, "", right);
    else
        fprintf(out, "%*s%s\n", end > a ? end - a : 1, "", right);
    fprintf(out, "  %*s  share of the rows removed\n", margin, "");
}

/* Chooses the values of k to label on the axis: the ends, and round numbers at a distance from them. */
static void label_rows(int64_t *labels, const plot *p, int64_t low, int64_t high)
{
    for (int y = 0; y < HEIGHT; y++) labels[y] = 0;
    labels[0] = high;
    labels[HEIGHT - 1] = low;
    for (int64_t power = 1; power <= high; power *= 10) {
        int y = power > low ? row_of(p, (double)power) : 0;
        if (y > 1 && y < HEIGHT - 2) labels[y] = power;
        if (power > INT64_MAX / 10) break;
    }
}

void cli_picture_staircase(const cli_value *sizes, FILE *out)
{
    int64_t count = kn_document_count(sizes), rows = 0, labels[HEIGHT];
    if (count < 2) return;
    bool    utf8 = cli_utf8();
    int64_t low = size_at(sizes, 0, "size"), high = size_at(sizes, count - 1, "size");
    for (int64_t i = 0; i < count; i++) rows += size_at(sizes, i, "rows");
    int64_t last = rows - size_at(sizes, count - 1, "rows");
    char    number[CLI_NUMBER_SIZE];
    int     margin = (int)strlen(cli_format_integer(number, high)), room = cli_terminal_width(out) - margin - 5;
    plot    p = {.width = room > MOST_WIDTH ? MOST_WIDTH : room, .low = log((double)low), .high = log((double)high)};
    if (p.width < 10) p.width = 10;
    p.most = (double)last / (double)rows;
    draw_plot(&p, sizes, last);
    label_rows(labels, &p, low, high);
    fprintf(out, "  %*s\n", margin, "k");
    for (int y = 0; y < HEIGHT; y++) {
        fprintf(out, "  %*s %s", margin, labels[y] ? cli_format_integer(number, labels[y]) : "",
                utf8 ? (labels[y] ? "┤" : "│") : "|");
        print_cells(&p, y, utf8, out);
        fputc('\n', out);
    }
    print_axis(&p, margin, utf8, out);
}

/* ---- Attribute sets ---- */

enum { PICTURE_COLUMNS = 6, MAP_COLUMNS = 20 };
typedef enum state { UNKNOWN, HOLDS, BREAKS } state;

typedef struct map {
    const cli_value *over;
    int              n;
    int64_t          k; /* a set holds if it reaches this */
    bool             figures;
    unsigned char   *state;
    int64_t         *value; /* k; -1: not known */
} map;

const cli_value *cli_largest_sets(const cli_value *answer)
{
    const cli_value *sets = kn_document_member(answer, "maximal");
    return sets ? sets : kn_document_member(answer, "maximal_violating");
}

const cli_value *cli_smallest_sets(const cli_value *answer)
{
    const cli_value *sets = kn_document_member(answer, "minimal_violating");
    return sets ? sets : kn_document_member(answer, "minimal");
}

/* The names of a set are in the order of the list. */
static uint32_t mask_of(const map *m, const cli_value *set)
{
    uint32_t mask = 0;
    int64_t  i = 0;
    for (int c = 0; c < m->n; c++) {
        if (i == kn_document_count(set) || strcmp(cli_text_at(set, i), cli_text_at(m->over, c)) != 0) continue;
        mask |= (uint32_t)1 << c;
        i++;
    }
    return mask;
}

static void mark_sets(map *m, const cli_value *sets, state s)
{
    for (int64_t i = 0; i < kn_document_count(sets); i++)
        m->state[mask_of(m, kn_document_at(sets, i))] = (unsigned char)s;
}

static map make_map(const cli_value *answer, int n, int64_t k)
{
    size_t           count = (size_t)1 << n;
    int64_t          listed;
    const cli_value *sets = cli_list_of(answer, "sets", &listed);
    map              m = {kn_document_member(answer, "over"), n, k > 0 ? k : 2, listed > 0, cli_alloc(count),
                          cli_alloc(count * sizeof(int64_t))};
    memset(m.state, UNKNOWN, count);
    memset(m.value, -1, count * sizeof(int64_t));
    for (int64_t i = 0; i < listed; i++) {
        const cli_value *one = kn_document_at(sets, i);
        uint32_t         set = mask_of(&m, kn_document_member(one, "attributes"));
        m.value[set] = cli_integer(one, "k");
        m.state[set] = m.value[set] >= m.k ? HOLDS : BREAKS;
    }
    mark_sets(&m, cli_largest_sets(answer), HOLDS);
    mark_sets(&m, cli_smallest_sets(answer), BREAKS);
    for (uint32_t set = 1; set < count; set++)
        for (int c = 0; c < n; c++)
            if ((set >> c & 1) && m.state[set ^ (uint32_t)1 << c] == BREAKS) m.state[set] = BREAKS;
    for (uint32_t set = (uint32_t)count; set-- > 0;)
        for (int c = 0; c < n; c++)
            if (!(set >> c & 1) && m.state[set | (uint32_t)1 << c] == HOLDS) m.state[set] = HOLDS;
    return m;
}

static void free_map(map *m)
{
    free(m->state);
    free(m->value);
}

/* Is it one of the smallest sets that fail or of the largest that hold? */
static bool on_border(const map *m, uint32_t set)
{
    state s = (state)m->state[set];
    if (s == UNKNOWN) return false;
    for (int c = 0; c < m->n; c++) {
        uint32_t bit = (uint32_t)1 << c, other = set ^ bit;
        if (s == BREAKS && (set & bit) && m->state[other] != HOLDS && (other != 0 || m->state[0] == BREAKS))
            return false;
        if (s == HOLDS && !(set & bit) && m->state[other] != BREAKS) return false;
    }
    return true;
}

static const char *mark_of(state s, bool utf8)
{
    static const char *const marks[2][3] = {{"?", "+", "-"}, {"?", "●", "○"}};
    return marks[utf8][s];
}

/* One set: "●ABC", its figure if it has one, brackets if on the border. Returns its width; prints if `out` is not
 * NULL. */
static int print_set(const map *m, uint32_t set, bool utf8, FILE *out)
{
    static const cli_style styles[] = {CLI_DIM, CLI_GREEN, CLI_RED};
    char                   text[64], number[CLI_NUMBER_SIZE];
    int                    width = 0;
    bool                   border = on_border(m, set);
    if (border) text[width++] = '[';
    for (int c = 0; c < m->n; c++)
        if (set >> c & 1) text[width++] = (char)('A' + c);
    if (m->value[set] >= 0)
        width += snprintf(text + width, sizeof text - (size_t)width, ":%s", cli_format_integer(number, m->value[set]));
    if (border) text[width++] = ']';
    text[width] = '\0';
    if (out)
        fprintf(out, "%s%s%s%s", cli_style_on(out, styles[m->state[set]]), mark_of((state)m->state[set], utf8), text,
                cli_style_on(out, CLI_PLAIN));
    return width + 1;
}

/* The sets of a level in the order A, AB, ABC, ...: by their columns. */
static int compare_sets(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b, differ = x ^ y;
    if (differ == 0) return 0;
    return x & differ & (~differ + 1) ? -1 : 1;
}

static void print_level(const map *m, int level, bool utf8, FILE *out)
{
    uint32_t sets[1 << PICTURE_COLUMNS];
    int      count = 0, column = 12, room = cli_terminal_width(out);
    for (uint32_t set = 1; set < (uint32_t)1 << m->n; set++)
        if (__builtin_popcount(set) == level) sets[count++] = set;
    qsort(sets, (size_t)count, sizeof *sets, compare_sets);
    fprintf(out, "  %d %-8s", level, level == 1 ? "column" : "columns");
    for (int i = 0; i < count; i++) {
        int width = print_set(m, sets[i], utf8, NULL);
        if (i > 0 && column + 1 + width > room) {
            fprintf(out, "\n%*s", 12, "");
            column = 12;
        }
        fputc(' ', out);
        print_set(m, sets[i], utf8, out);
        column += 1 + width;
    }
    fputc('\n', out);
}

/* Which letter is which column. */
static void print_letters(const map *m, FILE *out)
{
    int room = cli_terminal_width(out), column = 0;
    for (int c = 0; c < m->n; c++) {
        const char *given = cli_text_at(m->over, c);
        char       *name = cli_escape(given, strlen(given));
        int         width = cli_text_width(name) + 4;
        if (c > 0 && column + 2 + width > room) {
            fputc('\n', out);
            column = 0;
        }
        fprintf(out, "  %c %s", 'A' + c, name);
        column += width;
        free(name);
    }
    fputs("\n\n", out);
}

static void print_legend(const map *m, bool utf8, FILE *out)
{
    char number[CLI_NUMBER_SIZE];
    bool unknown = false;
    for (uint32_t set = 1; set < (uint32_t)1 << m->n; set++) unknown |= m->state[set] == UNKNOWN;
    cli_format_integer(number, m->k);
    if (m->figures)
        fprintf(out, "\n  %s nobody stands alone   %s somebody does   the number is k", mark_of(HOLDS, utf8),
                mark_of(BREAKS, utf8));
    else
        fprintf(out, "\n  %s at least %s   %s fewer", mark_of(HOLDS, utf8), number, mark_of(BREAKS, utf8));
    fprintf(out, "%s\n  [ ] the border: the largest that hold, the smallest that do not\n",
            unknown ? "   ? not known" : "");
}

/* Too many columns for a picture: how many sets of each size hold. */
static void print_counts(const map *m, bool asked, FILE *out)
{
    const char *const titles[] = {
        "columns", "sets", asked ? "hold" : "nobody alone", asked ? "break" : "somebody alone", "not known", ""};
    static const cli_align aligns[] = {CLI_RIGHT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT, CLI_RIGHT, CLI_LEFT};
    int64_t                counts[MAP_COLUMNS + 1][3] = {{0}};
    for (uint32_t set = 1; set < (uint32_t)1 << m->n; set++) counts[__builtin_popcount(set)][m->state[set]]++;
    cli_text_table *t = cli_text_table_new(6, titles, aligns);
    for (int level = 1; level <= m->n; level++) {
        const int64_t *c = counts[level];
        int64_t        all = c[UNKNOWN] + c[HOLDS] + c[BREAKS];
        cli_text_table_integer(t, level);
        cli_text_table_integer(t, all);
        cli_text_table_integer(t, c[HOLDS]);
        cli_text_table_integer(t, c[BREAKS]);
        cli_text_table_integer(t, c[UNKNOWN]);
        cli_text_table_bar(t, (double)c[HOLDS] / (double)all, 24);
    }
    cli_text_table_print(t, out, 2);
    cli_text_table_free(t);
}

/* Too many columns to count sets: how large the sets of the borders are. */
static void print_border_sizes(const cli_value *answer, int n, FILE *out)
{
    static const char *const titles[] = {"columns", "smallest that break", "largest that hold"};
    static const cli_align   aligns[] = {CLI_RIGHT, CLI_RIGHT, CLI_RIGHT};
    int64_t                 *counts = cli_alloc(2 * ((size_t)n + 1) * sizeof *counts);
    memset(counts, 0, 2 * ((size_t)n + 1) * sizeof *counts);
    const cli_value *borders[] = {cli_smallest_sets(answer), cli_largest_sets(answer)};
    for (int b = 0; b < 2; b++)
        for (int64_t i = 0; i < kn_document_count(borders[b]); i++)
            counts[2 * kn_document_count(kn_document_at(borders[b], i)) + b]++;
    cli_text_table *t = cli_text_table_new(3, titles, aligns);
    for (int size = 0; size <= n; size++) {
        if (counts[2 * size] == 0 && counts[2 * size + 1] == 0) continue;
        cli_text_table_integer(t, size);
        cli_text_table_integer(t, counts[2 * size]);
        cli_text_table_integer(t, counts[2 * size + 1]);
    }
    cli_text_table_print(t, out, 2);
    cli_text_table_free(t);
    free(counts);
}

void cli_picture_lattice(const cli_value *answer, FILE *out)
{
    int     n = (int)kn_document_count(kn_document_member(answer, "over"));
    int64_t k = cli_integer(answer, "requested") + cli_is(answer, "reading", "at most");
    if (n > MAP_COLUMNS) {
        if (!kn_document_member(answer, "sets")) print_border_sizes(answer, n, out);
        return;
    }
    bool utf8 = cli_utf8();
    map  m = make_map(answer, n, k);
    if (n > PICTURE_COLUMNS) {
        print_counts(&m, k > 0, out);
    } else {
        print_letters(&m, out);
        for (int level = 1; level <= n; level++) print_level(&m, level, utf8, out);
        print_legend(&m, utf8, out);
    }
    free_map(&m);
}
