/* reference.c: how little could a local recoding of Adult lose? A slow search that mondrian-best is compared with.
 *
 *     cc -O3 -march=native -o reference bench/mondrian/reference.c -lm
 *     reference FOLDER K SECONDS [SEED] [HOT] [whole]
 *
 * FOLDER has adult.csv and its hierarchies. Simulated annealing over all rows at once, with the exact loss of the released
 * cells: a row moves to another class, two rows change places, a class is dissolved, a class is made of rows that others
 * can spare. Equal rows may part. It begins with the better of MDAV and greedy k-member clustering, both over the
 * whole table, and prints the mean loss (lm) of these two and of the best partition found. HOT: the first temperature, in
 * cells. whole: equal rows stay together, as in mondrian-best. Shares no code with the library and is no part of it.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DIMENSIONS = 9, LANES = 16, MOST_VALUES = 128, MOST_ROWS = 40000, NEAREST = 40, LINE = 4096, LEVELS = 8 };

static const char *const NAMES[DIMENSIONS] = {
    "sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation", "salary-class"};

typedef struct unit {
    uint8_t at[LANES]; /* leaf of each dimension */
} unit;

typedef struct box {
    uint8_t low[LANES], high[LANES];
} box;

typedef struct class {
    int   *rows;
    int    count, capacity, weight;
    box    cells;
    double loss; /* of one row: sum over dimensions */
} class;

static char     leaves[DIMENSIONS][MOST_VALUES][64];
static int      leaf_count[DIMENSIONS];
static float    cost[DIMENSIONS][MOST_VALUES * MOST_VALUES]; /* low, high → loss of the cell */
static unit     rows[MOST_ROWS];
static int      weight[MOST_ROWS]; /* of a row: 1, or with equal rows together their number */
static int      row_count, row_sum, k;
static int      point_of[MOST_ROWS], point_start[MOST_ROWS + 1], point_row[MOST_ROWS], by_point[MOST_ROWS], points;
static int     *nearest; /* point × NEAREST */
static int      class_of[MOST_ROWS], place_of[MOST_ROWS];
static class   *classes;
static int      class_count;
static double   total;
static unit     left_units[MOST_ROWS];
static int     *left;
static int      left_count;
static int      best_class[MOST_ROWS];
static double   best_total = 1e300;
static uint64_t state;

static uint64_t random_bits(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static int below(int n)
{
    return (int)(((random_bits() >> 32) * (uint64_t)n) >> 32);
}

static double unit_random(void)
{
    return (double)(random_bits() >> 11) * 0x1p-53;
}

/* ---- Reading ---- */

static int split(char *line, char **parts, int most)
{
    int n = 0;
    line[strcspn(line, "\r\n")] = 0;
    for (char *at = line; at && n < most; n++) {
        parts[n] = at;
        at = strchr(at, ';');
        if (at) *at++ = 0;
    }
    return n;
}

static FILE *open_in(const char *folder, const char *name)
{
    char path[LINE];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    if (!file) {
        fprintf(stderr, "reference: cannot read %s\n", path);
        exit(3);
    }
    return file;
}

typedef char path_text[LEVELS][64];

static int by_path(const void *a, const void *b)
{
    for (int level = LEVELS - 1; level >= 0; level--) {
        int c = strcmp(((const char(*)[64])a)[level], ((const char(*)[64])b)[level]);
        if (c) return c;
    }
    return 0;
}

/* Leaves in the order of their paths from the root, so that the leaves of a node are a range. */
static void read_hierarchy(const char *folder, int q)
{
    char             name[128], line[LINE], *parts[LEVELS];
    static path_text paths[MOST_VALUES];
    int              n = 0, levels = 0;
    snprintf(name, sizeof name, "adult_hierarchy_%s.csv", NAMES[q]);
    FILE *file = open_in(folder, name);
    memset(paths, 0, sizeof paths);
    while (fgets(line, sizeof line, file) && n < MOST_VALUES) {
        levels = split(line, parts, LEVELS);
        for (int l = 0; l < levels; l++) snprintf(paths[n][l], 64, "%s", parts[l]);
        n++;
    }
    fclose(file);
    qsort(paths, (size_t)n, sizeof *paths, by_path);
    leaf_count[q] = n;
    for (int i = 0; i < n; i++) memcpy(leaves[q][i], paths[i][0], 64);
    for (int low = 0; low < n; low++)
        for (int high = low; high < n; high++) {
            int level = 0, cover = 0;
            if (low != high)
                for (level = 1; strcmp(paths[low][level], paths[high][level]) != 0;) level++;
            for (int i = 0; i < n; i++) cover += strcmp(paths[i][level], paths[low][level]) == 0;
            cost[q][low * MOST_VALUES + high] = (float)((cover - 1.0) / (n - 1.0));
        }
}

static void read_rows(const char *folder)
{
    char  line[LINE], *parts[32];
    int   column[DIMENSIONS];
    FILE *file = open_in(folder, "adult.csv");
    if (!fgets(line, sizeof line, file)) exit(3);
    int n = split(line, parts, 32);
    for (int q = 0; q < DIMENSIONS; q++)
        for (int c = 0; c < n; c++)
            if (strcmp(parts[c], NAMES[q]) == 0) column[q] = c;
    while (fgets(line, sizeof line, file) && row_count < MOST_ROWS) {
        split(line, parts, 32);
        for (int q = 0; q < DIMENSIONS; q++) {
            int v = 0;
            while (v < leaf_count[q] && strcmp(leaves[q][v], parts[column[q]]) != 0) v++;
            if (v == leaf_count[q]) {
                fprintf(stderr, "reference: %s is no leaf of %s\n", parts[column[q]], NAMES[q]);
                exit(3);
            }
            rows[row_count].at[q] = (uint8_t)v;
        }
        row_count++;
    }
    fclose(file);
}

static int by_values(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b, c = memcmp(&rows[x], &rows[y], sizeof *rows);
    return c ? c : x - y;
}

/* Equal rows become one that weighs as much. */
static void join_equal(void)
{
    int n = 0;
    for (int p = 0; p < points; p++) {
        unit u = rows[point_row[p]];
        left[p] = point_start[p + 1] - point_start[p];
        memcpy(&left_units[n++], &u, sizeof u);
    }
    for (int p = 0; p < points; p++) {
        rows[p] = left_units[p];
        weight[p] = left[p];
        by_point[p] = point_of[p] = point_row[p] = point_start[p] = p;
    }
    row_count = points;
    point_start[points] = points;
}

static void find_points(void)
{
    for (int i = 0; i < row_count; i++) by_point[i] = i;
    qsort(by_point, (size_t)row_count, sizeof *by_point, by_values);
    for (int i = 0; i < row_count; i++) {
        if (i == 0 || memcmp(&rows[by_point[i]], &rows[by_point[i - 1]], sizeof *rows) != 0) {
            point_row[points] = by_point[i];
            point_start[points++] = i;
        }
        point_of[by_point[i]] = points - 1;
    }
    point_start[points] = row_count;
}

/* ---- Losses ---- */

static double loss_of(const box *b)
{
    double sum = 0;
    for (int q = 0; q < DIMENSIONS; q++) sum += cost[q][b->low[q] * MOST_VALUES + b->high[q]];
    return sum;
}

static void widen(box *b, const unit *u)
{
    for (int q = 0; q < LANES; q++) {
        b->low[q] = u->at[q] < b->low[q] ? u->at[q] : b->low[q];
        b->high[q] = u->at[q] > b->high[q] ? u->at[q] : b->high[q];
    }
}

static box box_of(const unit *u)
{
    box b;
    memcpy(b.low, u->at, LANES);
    memcpy(b.high, u->at, LANES);
    return b;
}

static double distance(int a, int b)
{
    box both = box_of(&rows[a]);
    widen(&both, &rows[b]);
    return loss_of(&both);
}

static void find_nearest(void)
{
    nearest = malloc((size_t)points * NEAREST * sizeof *nearest);
    float best[NEAREST];
    for (int p = 0; p < points; p++) {
        int found = 0, *to = nearest + (size_t)p * NEAREST;
        for (int o = 0; o < points; o++) {
            if (o == p) continue;
            float d = (float)distance(point_row[p], point_row[o]);
            if (found == NEAREST && d >= best[NEAREST - 1]) continue;
            int at = found < NEAREST ? found++ : NEAREST - 1;
            for (; at > 0 && best[at - 1] > d; at--) {
                best[at] = best[at - 1];
                to[at] = to[at - 1];
            }
            best[at] = d;
            to[at] = o;
        }
    }
}

/* ---- Classes ---- */

static void put(int c, int row)
{
    class *g = &classes[c];
    if (g->count == g->capacity) g->rows = realloc(g->rows, (size_t)(g->capacity = 2 * g->capacity + 8) * sizeof(int));
    if (g->count == 0)
        g->cells = box_of(&rows[row]);
    else
        widen(&g->cells, &rows[row]);
    place_of[row] = g->count;
    g->rows[g->count++] = row;
    g->weight += weight[row];
    class_of[row] = c;
    g->loss = loss_of(&g->cells);
}

/* The cells without `without` (-1: none) and with `with` (-1: none). */
static double loss_changed(int c, int without, int with, box *b)
{
    const class *g = &classes[c];
    memset(b->low, 255, LANES);
    memset(b->high, 0, LANES);
    if (with >= 0) *b = box_of(&rows[with]);
    for (int i = 0; i < g->count; i++)
        if (g->rows[i] != without) widen(b, &rows[g->rows[i]]);
    return loss_of(b);
}

static void take(int row)
{
    class *g = &classes[class_of[row]];
    int    last = g->rows[--g->count];
    g->rows[place_of[row]] = last;
    place_of[last] = place_of[row];
    g->weight -= weight[row];
    g->loss = g->count ? loss_changed(class_of[row], -1, -1, &g->cells) : 0;
    class_of[row] = -1;
}

static double sum_all(void)
{
    double sum = 0;
    for (int c = 0; c < class_count; c++) sum += classes[c].weight * classes[c].loss;
    return sum;
}

static void empty_classes(void)
{
    for (int c = 0; c < class_count; c++) classes[c].count = classes[c].weight = 0;
    class_count = 0;
}

static int make_class(void)
{
    return class_count++;
}

static void use_labels(const int *labels)
{
    empty_classes();
    for (int i = 0; i < row_count; i++) {
        if (labels[i] >= class_count) class_count = labels[i] + 1;
        put(labels[i], i);
    }
    total = sum_all();
}

/* An empty class gives its number to the last. */
static void drop_class(int c)
{
    int last = --class_count;
    if (c == last) return;
    class swap = classes[c];
    classes[c] = classes[last];
    classes[last] = swap;
    for (int i = 0; i < classes[c].count; i++) class_of[classes[c].rows[i]] = c;
}

static double rise(int c, int row)
{
    box b = classes[c].cells;
    widen(&b, &rows[row]);
    return (classes[c].weight + weight[row]) * loss_of(&b) - classes[c].weight * classes[c].loss;
}

/* ---- Two ways to begin ---- */

static void place_leftovers(void)
{
    while (left_count > 0) {
        int    row = left[--left_count], at = 0;
        double best = 1e300;
        for (int c = 0; c < class_count; c++) {
            double r = rise(c, row);
            if (r < best) best = r, at = c;
        }
        put(at, row);
    }
    total = sum_all();
}

static int farthest_from(const unit *centre)
{
    double best = -1;
    int    at = 0;
    for (int i = 0; i < left_count; i++) {
        box b = box_of(centre);
        widen(&b, &rows[left[i]]);
        double d = loss_of(&b);
        if (d > best) best = d, at = i;
    }
    return at;
}

static void k_member(void)
{
    empty_classes();
    left_count = row_count;
    for (int i = 0; i < row_count; i++) left[i] = i;
    int seed = below(left_count);
    for (int free = row_sum; free >= k;) {
        int  c = make_class(), row = left[seed];
        unit last = rows[row];
        left[seed] = left[--left_count];
        put(c, row);
        while (classes[c].weight < k) {
            int    at = 0;
            double best = 1e300;
            for (int i = 0; i < left_count; i++) {
                double r = rise(c, left[i]) / weight[left[i]];
                if (r < best) best = r, at = i;
            }
            put(c, left[at]);
            left[at] = left[--left_count];
        }
        free -= classes[c].weight;
        seed = left_count ? farthest_from(&last) : 0;
    }
    place_leftovers();
}

static unit centre_of_left(void)
{
    unit centre = {{0}};
    for (int q = 0; q < DIMENSIONS; q++) {
        int counts[MOST_VALUES] = {0}, seen = 0, v = 0;
        for (int i = 0; i < left_count; i++) counts[rows[left[i]].at[q]]++;
        while (2 * (seen += counts[v]) < left_count) v++;
        centre.at[q] = (uint8_t)v;
    }
    return centre;
}

/* The k rows nearest to a row, itself included, as a class. */
static int class_around(int at)
{
    int c = make_class(), row = left[at];
    put(c, row);
    left[at] = left[--left_count];
    while (classes[c].weight < k) {
        double best = 1e300;
        int    found = 0;
        for (int i = 0; i < left_count; i++) {
            double d = distance(row, left[i]);
            if (d < best) best = d, found = i;
        }
        put(c, left[found]);
        left[found] = left[--left_count];
    }
    return classes[c].weight;
}

static void mdav(void)
{
    empty_classes();
    left_count = row_count;
    for (int i = 0; i < row_count; i++) left[i] = i;
    int free = row_sum;
    while (free >= 2 * k) {
        unit centre = centre_of_left();
        int  at = farthest_from(&centre);
        unit r = rows[left[at]];
        free -= class_around(at);
        if (free >= 2 * k) free -= class_around(farthest_from(&r));
    }
    if (free >= k) class_around(0);
    place_leftovers();
}

/* ---- Annealing ---- */

static bool accepts(double change, double heat)
{
    return change <= 0 || unit_random() < exp(-change / heat);
}

static int some_row(int p)
{
    return by_point[point_start[p] + below(point_start[p + 1] - point_start[p])];
}

static int neighbour(int row)
{
    int p = point_of[row], extra = point_start[p + 1] - point_start[p] - 1;
    if (extra > 0 && below(8) == 0) return some_row(p);
    double u = unit_random();
    return some_row(nearest[(size_t)p * NEAREST + (size_t)(u * u * NEAREST)]);
}

static void try_move(int row, int to, double heat)
{
    int    from = class_of[row];
    box    a, b = classes[to].cells;
    class *g = &classes[from], *h = &classes[to];
    int    w = weight[row];
    if (g->weight - w < k) return;
    widen(&b, &rows[row]);
    double change = (h->weight + w) * loss_of(&b) - h->weight * h->loss - g->weight * g->loss;
    change += (g->weight - w) * loss_changed(from, row, -1, &a);
    if (!accepts(change, heat)) return;
    take(row);
    put(to, row);
    total += change;
}

static void try_swap(int row, int to, double heat)
{
    int    from = class_of[row], other = classes[to].rows[below(classes[to].count)];
    box    a, b;
    class *g = &classes[from], *h = &classes[to];
    int    more = weight[other] - weight[row], a_weight = g->weight + more, b_weight = h->weight - more;
    if (a_weight < k || b_weight < k) return;
    double x = loss_changed(from, row, other, &a), y = loss_changed(to, other, row, &b);
    double change = a_weight * x - g->weight * g->loss + b_weight * y - h->weight * h->loss;
    if (!accepts(change, heat)) return;
    g->rows[place_of[row]] = other;
    h->rows[place_of[other]] = row;
    int place = place_of[row];
    place_of[row] = place_of[other];
    place_of[other] = place;
    class_of[row] = to;
    class_of[other] = from;
    g->weight = a_weight;
    h->weight = b_weight;
    g->cells = a;
    g->loss = x;
    h->cells = b;
    h->loss = y;
    total += change;
}

static void try_dissolve(int c, double heat)
{
    int    n = classes[c].count, moved[512], to[512];
    double before = total, change = -classes[c].weight * classes[c].loss;
    if (n > 512) return;
    memcpy(moved, classes[c].rows, (size_t)n * sizeof *moved);
    for (int i = 0; i < n; i++) {
        double best = 1e300;
        to[i] = -1;
        for (int j = 0; j < NEAREST; j++) {
            int p = nearest[(size_t)point_of[moved[i]] * NEAREST + (size_t)j];
            int g = class_of[by_point[point_start[p]]];
            if (g == c || g < 0) continue;
            double r = rise(g, moved[i]);
            if (r < best) best = r, to[i] = g;
        }
        if (to[i] < 0) best = 1e9, to[i] = c;
        change += best;
        if (to[i] != c) {
            take(moved[i]);
            put(to[i], moved[i]);
        }
    }
    if (change < 1e8 && accepts(change, heat)) {
        total = before + change;
        drop_class(c);
        return;
    }
    for (int i = 0; i < n; i++)
        if (to[i] != c) {
            take(moved[i]);
            put(c, moved[i]);
        }
}

static void try_create(int row, double heat)
{
    int    got[512], from[512], n = 0, sum = 0, c = class_count;
    double before = total, was = 0;
    if (k > 512) return;
    /* Candidates are the nearest rows whose classes can spare one. */
    for (int j = -1; j < NEAREST && sum < k; j++) {
        int p = j < 0 ? point_of[row] : nearest[(size_t)point_of[row] * NEAREST + (size_t)j];
        for (int i = point_start[p]; i < point_start[p + 1] && sum < k; i++) {
            int r = by_point[i], g = class_of[r];
            if (g == c || classes[g].weight - weight[r] < k) continue;
            double loss = classes[g].weight * classes[g].loss;
            take(r);
            was += loss - classes[g].weight * classes[g].loss;
            sum += weight[r];
            got[n] = r;
            from[n++] = g;
            if (class_count == c) make_class();
            put(c, r);
        }
    }
    if (n == 0) return;
    double change = sum * classes[c].loss - was;
    if (sum >= k && accepts(change, heat)) {
        total = before + change;
        return;
    }
    while (n-- > 0) {
        take(got[n]);
        put(from[n], got[n]);
    }
    class_count = c;
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double lm(double sum)
{
    return sum / row_sum / DIMENSIONS;
}

static void anneal(double hot, double cold, double budget)
{
    double start = seconds(), heat = hot, next = 0;
    for (long step = 0;; step++) {
        if (step % 4096 == 0) {
            double share = (seconds() - start) / budget;
            if (share >= 1) break;
            heat = hot * pow(cold / hot, share);
            if (share >= next) {
                printf("k %d  %3.0f %%  heat %.4f  lm %.5f  classes %d  steps %ld\n", k, 100 * share, heat,
                       lm(sum_all()), class_count, step);
                fflush(stdout);
                next += 0.05;
            }
        }
        int row = below(row_count), other = neighbour(row), kind = below(100);
        if (kind == 0 && k < 256)
            try_dissolve(class_of[row], heat);
        else if (kind < 3)
            try_create(row, heat);
        else if (class_of[row] != class_of[other]) {
            if (kind < 40 && classes[class_of[row]].weight > k)
                try_move(row, class_of[other], heat);
            else
                try_swap(row, class_of[other], heat);
        }
        if (total < best_total - 1e-6 && heat < 2 * cold) {
            best_total = total;
            memcpy(best_class, class_of, sizeof best_class);
        }
    }
    total = sum_all();
    if (total < best_total) {
        best_total = total;
        memcpy(best_class, class_of, sizeof best_class);
    }
}

static void check(void)
{
    use_labels(best_class);
    for (int c = 0; c < class_count; c++)
        if (classes[c].weight < k) {
            fprintf(stderr, "reference: a class of %d rows\n", classes[c].weight);
            exit(1);
        }
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "reference FOLDER K SECONDS [SEED] [HOT] [whole]\n");
        return 2;
    }
    k = atoi(argv[2]);
    double budget = atof(argv[3]), hot = argc > 5 ? atof(argv[5]) : 0.05 * k;
    state = 88172645463325252u + (argc > 4 ? strtoull(argv[4], NULL, 10) : 1) * 0x9e3779b97f4a7c15u;
    for (int q = 0; q < DIMENSIONS; q++) read_hierarchy(argv[1], q);
    read_rows(argv[1]);
    find_points();
    classes = calloc((size_t)row_count + 1, sizeof *classes);
    left = malloc((size_t)row_count * sizeof *left);
    row_sum = row_count;
    for (int i = 0; i < row_count; i++) weight[i] = 1;
    printf("%d rows, %d points\n", row_count, points);
    if (argc > 6 && strcmp(argv[6], "whole") == 0) join_equal();
    mdav();
    printf("k %d  MDAV lm %.5f\n", k, lm(total));
    int   *first = malloc(sizeof class_of);
    double of_mdav = total;
    memcpy(first, class_of, sizeof class_of);
    k_member();
    printf("k %d  k-member lm %.5f\n", k, lm(total));
    fflush(stdout);
    if (of_mdav < total) use_labels(first);
    find_nearest();
    anneal(hot, hot / 30, budget);
    check();
    printf("k %d  reference lm %.5f  classes %d\n", k, lm(total), class_count);
    return 0;
}
