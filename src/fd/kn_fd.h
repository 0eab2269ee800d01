/* kn_fd.h: the search for minimal functional dependencies: the parts and what they share.
 *
 * Columns of the search are numbered by falling number of values: 0 has the most. A set of them is one word, bit c
 * for column c. Equivalent columns (a bijection) are searched as one; constant columns not at all.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_FD_H
#define KN_FD_H

#include <stdatomic.h>

#include <kanon/dependencies.h>

#include "kn_clock.h"
#include "kn_freq.h"

enum { KN_FD_COLUMNS = 64, KN_FD_SMALL = 32767 /* rows of a small table */ };

#define KN_FD_LEVEL_WORK 4e9 /* of kn_fd_search: some seconds */

static inline uint64_t kn_fd_bit(int column)
{
    return (uint64_t)1 << column;
}

/* ---- The data (kn_fd_data.c) ---- */

/* Rows that share a value of one column with others: those of one value are members[starts[i] .. starts[i + 1]). */
typedef struct kn_fd_clusters {
    uint32_t  count;
    uint32_t *starts; /* count + 1 */
    uint32_t *members;
} kn_fd_clusters;

/* Immutable once made; read by any thread. "Rows" are the different rows of the table, each with its weight. */
typedef struct kn_fd_data {
    kn_context     *ctx;
    kn_freq        *freq;  /* holds the weights; its keys are gone                                    */
    uint32_t        rows;
    int             columns;
    uint32_t       *codes; /* rows × columns, row by row                                              */
    uint32_t        values[KN_FD_COLUMNS];
    uint32_t        codes_of[KN_FD_COLUMNS]; /* one more than the highest code                       */
    uint32_t        most_codes;              /* the same of any column                               */
    kn_fd_clusters  clusters[KN_FD_COLUMNS];
    int64_t         constant_error[KN_FD_COLUMNS]; /* rows without which the column would be constant */
    int             member_count[KN_FD_COLUMNS];   /* equivalent columns of the table                 */
    int             members[KN_FD_COLUMNS][KN_FD_COLUMNS];
    int             constants[KN_FD_COLUMNS]; /* columns of the table with one value                  */
    int             constant_count;
} kn_fd_data;

KN_CHECK kn_status kn_fd_data_make(kn_fd_data **out, kn_context *ctx, const kn_table *table, const int *columns,
                                   int count, kn_error *err);
void               kn_fd_data_free(kn_fd_data *data);

static inline const uint32_t *kn_fd_row(const kn_fd_data *data, uint32_t row)
{
    return data->codes + (size_t)row * (size_t)data->columns;
}

/* The columns in which two rows agree. */
static inline uint64_t kn_fd_agree(const kn_fd_data *data, uint32_t a, uint32_t b)
{
    const uint32_t *x = kn_fd_row(data, a), *y = kn_fd_row(data, b);
    uint64_t        set = 0;
    for (int c = 0; c < data->columns; c++) set |= (uint64_t)(x[c] == y[c]) << c;
    return set;
}

/* ---- When to stop ---- */

/* Shared by all workers. */
typedef struct kn_fd_clock {
    kn_context *ctx;
    kn_deadline deadline;
} kn_fd_clock;

void kn_fd_clock_start(kn_fd_clock *clock, kn_context *ctx, double seconds);
bool kn_fd_clock_passed(kn_fd_clock *clock); /* reads the clock: also true once the context was cancelled */

/* ---- Sets of columns (kn_fd_sets.c) ---- */

/* A growing list of sets. */
typedef struct kn_fd_list {
    uint64_t *sets;
    size_t    count, capacity;
} kn_fd_list;

KN_CHECK bool kn_fd_list_add(kn_fd_list *list, kn_context *ctx, uint64_t set);
void          kn_fd_list_sort(kn_fd_list *list); /* ascending as numbers                       */
bool          kn_fd_list_has(const kn_fd_list *list, uint64_t set); /* of a sorted list         */
void          kn_fd_list_free(kn_fd_list *list);

/* Different sets, none empty, in the order they were added. */
typedef struct kn_fd_pool {
    kn_fd_list list;
    uint64_t  *slots; /* 0: free */
    size_t     slot_count;
} kn_fd_pool;

KN_CHECK bool kn_fd_pool_add(kn_fd_pool *pool, kn_context *ctx, uint64_t set, bool *added);
bool          kn_fd_pool_has(const kn_fd_pool *pool, uint64_t set);
void          kn_fd_pool_free(kn_fd_pool *pool);

/* Keeps an antichain: the maximal ones of the sets added. */
KN_CHECK bool kn_fd_maximal_add(kn_fd_list *maximal, kn_context *ctx, uint64_t set, bool *changed);

/* The minimal sets of columns out of `universe` that have a column outside each of `sets` (all parts of `universe`),
 * those of at most `max_size` columns; *cut: there are larger ones. Stops early when the clock says so. */
KN_CHECK kn_status kn_fd_hitting(kn_fd_list *out, bool *cut, kn_fd_clock *clock, const kn_fd_list *sets,
                                 uint64_t universe, int max_size, kn_error *err);

/* ---- Checking candidates on the data (kn_fd_validate.c) ---- */

/* left -> each column of `right`. */
typedef struct kn_fd_candidate {
    uint64_t left; /* not empty                                                        */
    uint64_t right;
    uint64_t broken;  /* out: those of `right` that do not hold                        */
    int64_t *removed; /* out, with a budget: the exceptions of each of `right` that holds, ascending; the caller's */
} kn_fd_candidate;

/* Candidates from lists of left sides, one for each column as the right side: each left side once, smaller ones first.
 * Freed by the caller. */
KN_CHECK kn_status kn_fd_candidates_make(kn_fd_candidate **out, size_t *count, const kn_fd_data *data,
                                         const kn_fd_list *left, kn_error *err);

/* Space for the exceptions of each candidate, in one block that the caller frees; NULL: out of memory. */
int64_t *kn_fd_candidates_reserve(kn_context *ctx, kn_fd_candidate *candidates, size_t count);

typedef struct kn_fd_effort {
    int64_t     budget; /* exceptions allowed; 0: exact                                                       */
    bool        guess;  /* with a budget: look at some of the rows and judge by them; `removed` is not given  */
    kn_fd_pool *agree;  /* exact: gets the agree sets of pairs of rows that break a candidate, in an order    */
                        /* that does not depend on the threads; NULL: not wanted                              */
} kn_fd_effort;

/* Checks all candidates (left sides all different; the array is put in an order of its own). *done false: the clock
 * ran out and nothing is known. */
KN_CHECK kn_status kn_fd_validate(bool *done, const kn_fd_data *data, kn_fd_clock *clock, kn_fd_candidate *candidates,
                                  size_t count, const kn_fd_effort *effort, kn_error *err);

/* ---- The search (kn_fd_search.c) ---- */

/* left -> right holds and is minimal. */
typedef struct kn_fd_result {
    uint64_t left;
    int      right;
    int64_t  removed;
} kn_fd_result;

typedef struct kn_fd_search {
    kn_context       *ctx;
    const kn_fd_data *data;
    kn_fd_clock      *clock;
    int64_t           budget;
    int               max_left;
    double            level_work; /* with a budget: rows × left sides that a level may have; 0: no levels */
    kn_fd_result     *results;
    size_t            count, capacity;
    int64_t           checked, refuted, rounds;
    bool              cut;  /* by max_left  */
    bool              late; /* by the clock */
    int               whole; /* with at most so many columns on the left, everything there is was found */
    bool              settled; /* the levels left nothing to be searched */
    bool              apart;   /* for tests: left sides of a small table are not checked together */
    /* Per right side A: */
    kn_fd_list failing[KN_FD_COLUMNS]; /* maximal left sides known to fail                  */
    kn_fd_list open[KN_FD_COLUMNS];    /* minimal left sides that may hold, to be checked   */
    kn_fd_list valid[KN_FD_COLUMNS];   /* those that do, sorted                             */
    bool       changed[KN_FD_COLUMNS]; /* `failing` has, since `open` was made              */
    bool       longer[KN_FD_COLUMNS];  /* there may be some of more than max_left columns   */
    /* Exact: */
    kn_fd_pool agree;  /* sets of columns in which two rows agree                           */
    size_t     spread; /* of these, how many `failing` knows                                */
} kn_fd_search;

static inline uint64_t kn_fd_others(const kn_fd_search *search, int right)
{
    int      columns = search->data->columns;
    uint64_t all = columns == KN_FD_COLUMNS ? UINT64_MAX : kn_fd_bit(columns) - 1;
    return all & ~kn_fd_bit(right);
}

/* Fills in the results. What is found before the clock runs out is right and minimal. */
KN_CHECK kn_status kn_fd_search_run(kn_fd_search *search, kn_error *err);
void               kn_fd_search_free(kn_fd_search *search);

/* left -> right fails. */
KN_CHECK bool kn_fd_search_failed(kn_fd_search *search, int right, uint64_t left);
KN_CHECK bool kn_fd_search_found(kn_fd_search *search, int right, uint64_t left, int64_t removed);

/* Left sides of one size, in lexicographic order (kn_fd_together.c). */
typedef struct kn_fd_many {
    uint64_t left;
    uint64_t right; /* to be checked; out: those that fail */
} kn_fd_many;

/* Checks them with a budget, and adds what holds to the results. If the clock ran out, `late` is set and only the results
 * are right. */
KN_CHECK kn_status kn_fd_check_many(kn_fd_search *search, kn_fd_many *candidates, size_t count, kn_error *err);

/* How failures are found: at the start, and from candidates that were refuted. */
KN_CHECK kn_status kn_fd_agree_begin(kn_fd_search *search, kn_error *err); /* kn_fd_agree.c: exact */
KN_CHECK kn_status kn_fd_agree_spread(kn_fd_search *search, kn_error *err);
KN_CHECK kn_status kn_fd_levels(kn_fd_search *search, kn_error *err); /* kn_fd_levels.c: with a budget, before the next */
KN_CHECK kn_status kn_fd_advance_begin(kn_fd_search *search, kn_error *err); /* kn_fd_advance.c: with a budget */
/* Guesses which candidates fail (`broken`), and looks for large failures above these. What is then known to fail, or is
 * to be left for later, is taken out of `right`; what is left in `right` is to be checked. */
KN_CHECK kn_status kn_fd_advance(kn_fd_search *search, kn_fd_candidate *candidates, size_t count, kn_error *err);

#endif
