/* kn_verify_internal.h: what the parts of the verifier share.
 *
 * The verifier reads both files itself (through io's sources and tokenizer), numbers their texts itself, derives
 * hierarchies, classes, models and metrics itself. Of src/data it uses kn_value.h alone: what a text means as a
 * number, a date or a time. It uses no tables, hierarchies or plans, so that a mistake there is not repeated here.
 *
 * Words: a *text* is one of the distinct spellings of a column, a *value* is what equal texts mean (1.5 and 1.50), a
 * *cell* is what a text of the release stands for. Numbers of texts, values and cells are 32 bits wide and local to a
 * column.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KN_VERIFY_INTERNAL_H
#define KN_VERIFY_INTERNAL_H

#include <kanon/verify.h>

#include "kn_arena.h"
#include "kn_hash.h"
#include "kn_sort.h"
#include "kn_string.h"
#include "kn_value.h"
#include "kn_verify_problems.h"

__extension__ typedef __int128 kn_i128;

#define KN_V_NONE UINT32_MAX          /* no such thing                        */
#define KN_V_MISSING (UINT32_MAX - 1) /* as a value: the cell is missing      */

/* An array of `count` numbers that are all KN_V_NONE. */
static inline uint32_t *kn_varray_none(kn_arena *arena, size_t count)
{
    uint32_t *array = kn_arena_array(arena, count, sizeof *array);
    return array ? memset(array, 0xff, count * sizeof *array) : NULL;
}

/* The index of the first record with this key or a greater one, in a list sorted by keys; count: there is none. */
static inline size_t kn_vsorted_find(const kn_sort_record *list, size_t count, uint64_t key)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- Texts and words by number (texts.c) ---- */

/* A text of at most KN_VSHORT bytes as words, filled up with zeroes. */
enum { KN_VSHORT = 24 };

typedef struct kn_vshort {
    uint64_t words[3];
    uint32_t size;
    uint32_t place; /* its number + 1; 0: free */
} kn_vshort;

/* Texts → dense numbers. One thread at a time. */
typedef struct kn_texts {
    kn_context *ctx;
    kn_arena    bytes;
    kn_string  *texts;
    uint64_t   *slots; /* the hash's upper half and number + 1; 0: free */
    size_t      capacity, mask;
    uint32_t    count;
    kn_vshort  *quick; /* the short ones once more; NULL: none, or there are too many texts */
    uint32_t    quick_count, quick_mask;
} kn_texts;

void kn_texts_init(kn_texts *t, kn_context *ctx);
void kn_texts_free(kn_texts *t);

/* The number of a text, new or known; KN_V_NONE: out of memory. `copy`: the bytes are kept here. */
uint32_t kn_texts_add(kn_texts *t, kn_string text, bool copy);
uint32_t kn_texts_find(const kn_texts *t, kn_string text); /* KN_V_NONE: not there */

/* The same as kn_texts_add with a copy, for a text behind whose beginning KN_VSHORT bytes can be read, whatever its size: short ones
 * are then found by kn_texts_quick. */
uint32_t kn_texts_add_short(kn_texts *t, kn_string text);

static inline void kn_vshort_words(uint64_t words[3], kn_string text)
{
    static const uint64_t ones[6] = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
    uint64_t              keep[3];
    memcpy(keep, (const char *)ones + KN_VSHORT - text.size, KN_VSHORT);
    memcpy(words, text.data, KN_VSHORT);
    for (int i = 0; i < 3; i++) words[i] &= keep[i];
}

static inline uint32_t kn_vshort_slot(const uint64_t words[3], uint32_t size)
{
    return (uint32_t)kn_hash_mix(words[0] ^ words[2] ^ 0x9e3779b97f4a7c15u, (words[1] + size) ^ 0xd1342543de82ef95u);
}

/* Such a text, in `quick`; KN_V_NONE: it is not there. */
static inline uint32_t kn_texts_quick(const kn_texts *t, kn_string text)
{
    uint64_t words[3];
    uint32_t size = (uint32_t)text.size;
    kn_vshort_words(words, text);
    for (uint32_t at = kn_vshort_slot(words, size) & t->quick_mask;; at = (at + 1) & t->quick_mask) {
        const kn_vshort *slot = &t->quick[at];
        bool same = ((words[0] ^ slot->words[0]) | (words[1] ^ slot->words[1]) | (words[2] ^ slot->words[2]) | (size ^ slot->size)) == 0;
        if (same || slot->place == 0) return slot->place - 1; /* KN_V_NONE if it is free */
    }
}

/* Words → dense numbers, in order of appearance. {.ctx = ctx} is empty. One thread at a time. */
typedef struct kn_vnumbers {
    kn_context *ctx;
    uint64_t   *words; /* + 1; 0: free */
    uint32_t   *numbers;
    size_t      size;
    uint32_t    count;
} kn_vnumbers;

bool kn_vnumbers_grow(kn_vnumbers *n); /* false: out of memory */
void kn_vnumbers_free(kn_vnumbers *n);

/* The number of a word below UINT64_MAX, new (the old `count`) or known; KN_V_NONE: out of memory. */
static inline uint32_t kn_vnumbers_add(kn_vnumbers *n, uint64_t word)
{
    if ((size_t)n->count * 2 >= n->size && !kn_vnumbers_grow(n)) return KN_V_NONE;
    size_t at = kn_hash_word(++word) & (n->size - 1);
    for (; n->words[at]; at = (at + 1) & (n->size - 1))
        if (n->words[at] == word) return n->numbers[at];
    n->words[at] = word;
    n->numbers[at] = n->count;
    return n->count++;
}

/* Texts → dense numbers as above, in one block: 4 bytes per text besides its own, where kn_texts takes 17. */
enum { KN_VWORDS_TURNS = 64 }; /* of 4 GB; more are refused as out of memory */

typedef struct kn_vwords {
    char     *bytes;
    uint32_t *starts; /* count + 1, each modulo 2^32 */
    uint64_t *slots;  /* as in kn_texts; NULL once all texts are there, and as long as each was greater than those before */
    size_t    size, room, capacity, mask;
    uint32_t  count;
    int       turn_count;
    uint32_t *turns; /* the texts from which on starts are 2^32 larger, again and again; NULL: none */
} kn_vwords;

uint32_t kn_vwords_add(kn_vwords *w, kn_context *ctx, kn_string text); /* KN_V_NONE: out of memory */

/* Several, of which those without data get no number (KN_V_NONE); false: out of memory. */
bool     kn_vwords_add_all(kn_vwords *w, kn_context *ctx, const kn_string *texts, int count, uint32_t *numbers);
bool     kn_vwords_settle(kn_vwords *w, kn_context *ctx); /* no more texts come; false: out of memory */
void     kn_vwords_free(kn_vwords *w);

static inline size_t kn_vwords_start(const kn_vwords *w, uint32_t number)
{
    size_t at = w->starts[number];
    for (int t = 0; t < w->turn_count && w->turns[t] <= number; t++) at += (size_t)1 << 32;
    return at;
}

static inline kn_string kn_vwords_text(const kn_vwords *w, uint32_t number)
{
    size_t at = kn_vwords_start(w, number);
    return (kn_string){w->bytes + at, kn_vwords_start(w, number + 1) - at};
}

/* ---- Files (table/read.c) ---- */

typedef struct kn_vcolumn {
    const kn_string *texts; /* in the order in which rows first have them; NULL: as words */
    kn_vwords        words;
    uint32_t         count;
    int              width; /* bytes per row: 1, 2 or 4 */
    void            *codes;
    bool             mixed; /* of a stream: it has missing cells and empty texts */
    const int64_t   *rows; /* of each text, where the table's own rows do not show them (table/where_coded.c); NULL: they do */
} kn_vcolumn;

/* What the bytes of a CSV file show beyond its cells (table/form.c): how records end, blank lines, and per kept
 * column its cells in quotes: empty ones, others that do not need them, those that do. */
enum { KN_VFORM_EMPTY, KN_VFORM_BARE, KN_VFORM_NEEDED, KN_VFORM_KINDS };

/* What columns in memory (table/batches.c) can hold beyond their cells, per kept column, as bits. */
enum {
    KN_VMARK_UNUSED = 1, /* an entry of a dictionary that no row shows                  */
    KN_VMARK_TWICE = 2,  /* two entries with the same text                              */
    KN_VMARK_HIDDEN = 4, /* something in the place of a missing cell                    */
    KN_VMARK_EMPTY = 8,  /* missing cells and empty texts                               */
    KN_VMARK_MORE = 16,  /* buffers with something before the first row, or around a text */
    KN_VMARK_ZERO = 32   /* a zero with a sign                                          */
};

typedef struct kn_vform {
    int64_t     lf, crlf, cr;
    int64_t     blank;
    int64_t    *quoted;  /* columns x KN_VFORM_KINDS                                 */
    int64_t    *cells;   /* the same of all cells, in quotes or not; NULL: they were not counted */
    const char *wrapped; /* what a compressed file holds besides the data; NULL: nothing */
    uint8_t    *marks;   /* per column: KN_VMARK_*; NULL: bytes of a CSV file        */
    bool        uneven;  /* batches of different sizes                               */
    bool        others;  /* a folder of parts with something else in it              */
} kn_vform;

/* The records of one scan, `fields` with `names` cells each, from *at on, which is moved past the last. */
struct kn_csv_field;
void kn_vform_take(kn_vform *form, const char *text, size_t size, char delimiter, const struct kn_csv_field *fields,
                   size_t records, int names, const int *place, int columns, size_t *at);

/* A record's end at `at`: notes how it ends, returns where the next may begin. */
size_t kn_vform_end(kn_vform *form, const char *text, size_t size, size_t at);
bool   kn_vneeds_quotes(kn_string text, char delimiter);
void   kn_vform_add(kn_vform *to, const kn_vform *from, int columns);

typedef struct kn_vtable {
    kn_context *ctx;
    int64_t     rows;   /* that it holds                                                        */
    int64_t    *counts; /* per row: how many it stands for; NULL: itself (table/counts.c)       */
    int64_t     total;  /* of the counts; without them not used: kn_vtotal                      */
    int         name_count;
    kn_string  *names; /* of all columns of the file, NUL-terminated                   */
    bool       *unnamed; /* per name: it is not the file's                               */
    int        *kept;  /* per name: which of `columns` it is; -1: not asked for         */
    int         column_count;
    kn_vcolumn *columns;
    kn_texts   *texts;  /* per column; the numbers before renumbering                   */
    kn_texts   *locals; /* per worker and column: they hold the bytes                   */
    int         local_count;
    kn_arena    arena;
    char        delimiter;
    char        sha256[65]; /* of the bytes, where asked for */
    int64_t     unguarded;  /* texts that a spreadsheet would execute although the file is guarded */
    kn_vform    form;       /* where asked for               */
} kn_vtable;

static inline int64_t kn_vcount(const kn_vtable *t, int64_t row)
{
    return t->counts ? t->counts[row] : 1;
}

static inline int64_t kn_vtotal(const kn_vtable *t)
{
    return t->counts ? t->total : t->rows;
}

typedef struct kn_vread_options {
    const kn_csv_options *csv;
    const char *const    *columns; /* keep these, if the file has them                                           */
    int                   column_count;
    bool                  all; /* keep every column, in the order of the file */
    const char *const    *header; /* with csv->delimiter 0: take a delimiter that makes these the header's names */
    int                   header_count;
    char                  hint; /* the delimiter to try first     */
    bool                  digest;
    bool                  guarded; /* remove the apostrophe before a formula (spreadsheet-safe)               */
    bool                  form;  /* check it too                  */
    bool                  text;  /* of a stream: its cells come from CSV files, to which all of `csv` applied */
    size_t                piece; /* bytes; 0: the usual size      */
} kn_vread_options;

/* What is wrong with the form of a file: anything that may differ from row to row although the cells do not. Calls `report` with a
 * sentence for each. */
typedef void (*kn_vform_fn)(void *arg, const char *sentence);
void kn_vform_judge(const kn_vtable *table, kn_vform_fn report, void *arg);
void kn_vform_marks(const char *name, int marks, kn_vform_fn report, void *arg); /* KN_VMARK_* of one column */

/* All bytes of a source, appended. KN_INPUT: more than `most`, which is 1 GiB or SIZE_MAX. */
struct kn_source;
struct kn_buffer;
KN_CHECK kn_status kn_vread_all(struct kn_source *source, struct kn_buffer *text, size_t most, kn_error *err);

/* SHA-256 of a file's bytes, of a folder those of its parts one after the other (table/parquet.c); nothing is written where one
 * cannot be read. */
void kn_vdigest_file(const char *path, char out[65]);

KN_CHECK kn_status kn_vtable_read(kn_vtable **out, kn_context *ctx, const char *const *paths, int path_count,
                                  const kn_vread_options *options, kn_error *err);
/* The same for a table in memory or of an engine (table/batches.c); called by kn_vtable_read. */
KN_CHECK kn_status kn_vtable_read_batches(kn_vtable **out, kn_context *ctx, const char *const *names, int count,
                                          const kn_vread_options *options, kn_error *err);
/* The same for rows that come from a query of an engine, which are consumed. `name` begins messages. */
struct ArrowArrayStream;
KN_CHECK kn_status kn_vtable_read_stream(kn_vtable **out, kn_context *ctx, struct ArrowArrayStream *stream, const char *name,
                                         const kn_vread_options *options, kn_error *err);
KN_CHECK kn_status kn_vtable_look_parquet(kn_vtable *t, const char *path, kn_error *err); /* its form (table/parquet.c) */
KN_CHECK kn_status kn_vtable_digest(kn_vtable *t, kn_error *err); /* its sha256, of all columns kept (table/digest.c) */
void               kn_vtable_free(kn_vtable *t);
/* Gives it all names of its source, which are copied: those that it does not have yet are columns that were not read. */
KN_CHECK kn_status kn_vtable_take_names(kn_vtable *t, const char *const *names, int count, kn_error *err);
void               kn_vtable_unguard(kn_vtable *t); /* does what `guarded` asks for, afterwards */
int                kn_vtable_name(const kn_vtable *t, const char *name); /* index into names; -1: there is none */
const kn_vcolumn  *kn_vtable_column(const kn_vtable *t, const char *name); /* NULL: does not exist or is not kept */

static inline uint32_t kn_vcode(const kn_vcolumn *c, int64_t row)
{
    switch (c->width) {
    case 1: return ((const uint8_t *)c->codes)[row];
    case 2: return ((const uint16_t *)c->codes)[row];
    default: return ((const uint32_t *)c->codes)[row];
    }
}

static inline kn_string kn_vtext(const kn_vcolumn *c, uint32_t code)
{
    return c->texts ? c->texts[code] : kn_vwords_text(&c->words, code);
}

static inline void kn_vcode_set(kn_vcolumn *c, int64_t row, uint32_t code)
{
    switch (c->width) {
    case 1: ((uint8_t *)c->codes)[row] = (uint8_t)code; break;
    case 2: ((uint16_t *)c->codes)[row] = (uint16_t)code; break;
    default: ((uint32_t *)c->codes)[row] = code; break;
    }
}

/* to[code of `from`]: the number that `in`, whose texts are all different, has for the same text, or KN_V_NONE. false: out of
 * memory. NULL: nothing is done. */
bool kn_vcolumn_translate(uint32_t *to, kn_context *ctx, const kn_vcolumn *from, const kn_vcolumn *in);

/* The first row that has a text, which some row has. */
static inline int64_t kn_vcolumn_first(const kn_vcolumn *c, uint32_t code)
{
    int64_t row = 0;
    while (kn_vcode(c, row) != code) row++;
    return row;
}

/* ---- What texts mean (domain.c) ---- */

/* The values of a column of the original (and of the population, where there is one), in their own order. */
typedef struct kn_vdomain {
    kn_context     *ctx;
    kn_arena        arena; /* of all arrays */
    kn_type         type;
    const char     *format; /* of dates; NULL: unknown or none */
    kn_value_rules  rules;
    const kn_spec  *spec; /* for the spellings of "missing" */
    uint32_t        count;
    kn_string      *spelling; /* per value: the shortest, the first by bytes */
    int64_t        *integers; /* per value; NULL: not of that kind           */
    kn_decimal     *decimals;
    kn_texts        texts;         /* every spelling                                   */
    uint32_t       *value_of_text; /* per text of `texts`: value, or KN_V_MISSING      */
    uint32_t       *of_original;   /* per text of the original's column                */
    uint32_t       *of_population; /* per text of the population's column; NULL: none  */
} kn_vdomain;

/* The rows of the original, without those dropped for a missing cell. */
typedef struct kn_vrows {
    int64_t     count;
    const bool *dropped; /* per row; NULL: none */
} kn_vrows;

KN_CHECK kn_status kn_vdomain_make(kn_vdomain *out, kn_context *ctx, const kn_spec *spec, const kn_attribute *attribute,
                                   const kn_vrows *rows, const kn_vcolumn *original, const kn_vcolumn *population,
                                   const kn_timezone *zone, kn_error *err);
void               kn_vdomain_free(kn_vdomain *d);

/* The value of a text of the release; KN_V_MISSING; KN_V_NONE: it is not one of the column's. */
uint32_t kn_vdomain_find(const kn_vdomain *d, kn_string text);
bool     kn_vdomain_readable(const kn_vdomain *d, kn_string text); /* could the column hold this text? Text: never */
bool     kn_v_is_missing(const kn_spec *spec, kn_string text);

/* The values inside [low, high]; a NULL end is open, `open` excludes the upper one. false: an end cannot be read as the
 * column's type, or the column has no order. */
bool kn_vdomain_between(const kn_vdomain *d, const kn_string *low, const kn_string *high, bool open, uint32_t *first,
                        uint32_t *last);
/* high - low over largest - smallest value; NAN where it is not defined. */
double kn_vdomain_width(const kn_vdomain *d, const kn_string *low, const kn_string *high);

/* ---- Hierarchies (hierarchy.c) ---- */

/* Nodes are numbered level by level; leaves are nodes 0 .. leaves - 1. Missing cells have no leaf here: they stand
 * directly below the root. */
typedef struct kn_vtree {
    kn_context *ctx;
    uint32_t    leaves, height, nodes;
    kn_texts    labels;
    uint32_t   *label; /* per node                                                                        */
    uint32_t   *level; /* per node                                                                        */
    uint32_t   *cover; /* per node: leaves below it                                                       */
    uint32_t   *parent; /* per node; KN_V_NONE: the root                                                  */
    uint32_t   *paths; /* [leaf × (height + 1) + level]: the node of that level, or the leaf that stays   */
    uint32_t   *leaf_of_value; /* per value of the domain                                                 */
} kn_vtree;

KN_CHECK kn_status kn_vtree_make(kn_vtree **out, kn_context *ctx, const kn_attribute *attribute, const kn_vdomain *domain,
                                 kn_error *err);
void               kn_vtree_free(kn_vtree *tree);

/* Receives the paths of the leaves one by one, from the leaf to the root. */
typedef struct kn_vtree_maker kn_vtree_maker;
KN_CHECK kn_status kn_vtree_add(kn_vtree_maker *maker, const kn_string *path, uint32_t count, int64_t line, kn_error *err);

/* A tree of the paths that a function gives; `name` is for messages. */
typedef kn_status (*kn_vtree_fn)(kn_vtree_maker *maker, void *arg, kn_error *err);
KN_CHECK kn_status kn_vtree_make_from(kn_vtree **out, kn_context *ctx, const char *name, kn_vtree_fn give, void *arg,
                                      const kn_vdomain *domain, kn_error *err);

/* The two file formats (hierarchy_file.c) and the built kinds (hierarchy_build.c). */
KN_CHECK kn_status kn_vtree_read_file(kn_vtree_maker *maker, kn_context *ctx, const kn_hierarchy_spec *spec,
                                      kn_error *err);
KN_CHECK kn_status kn_vtree_build(kn_vtree_maker *maker, kn_context *ctx, const kn_attribute *attribute,
                                  const kn_vdomain *domain, kn_error *err);
/* The rule of a column for which none was given (hierarchy_by_type.c); its texts are in the arena. */
KN_CHECK kn_status kn_vtree_by_type(kn_hierarchy_spec *out, kn_arena *arena, const kn_vdomain *domain, kn_error *err);

/* ---- Cells of the release (cell.c) ---- */

typedef enum kn_vcell_kind {
    KN_VCELL_UNKNOWN = 0, /* not a possible cell of the column      */
    KN_VCELL_MISSING,
    KN_VCELL_STAR,
    KN_VCELL_NAMED, /* a value, a label, or both              */
    KN_VCELL_RANGE,
    KN_VCELL_SET
} kn_vcell_kind;

typedef struct kn_vcell {
    kn_vcell_kind kind;
    uint32_t      value;       /* NAMED: KN_V_NONE where it is only a label                       */
    uint32_t      label;       /* NAMED: KN_V_NONE where it is only a value                       */
    uint32_t      first, last; /* RANGE: values [first, last); SET: of `members`                  */
    bool          missing;     /* SET: an empty cell is among them                                */
    uint32_t      others;      /* SET: members that the original does not have                    */
    double        width;       /* RANGE: its share of the whole; NAN where not defined            */
} kn_vcell;

/* A quasi-identifier: its column in both files and everything derived about it. */
typedef struct kn_vquasi {
    const kn_attribute *attribute;
    const kn_vcolumn   *original, *release, *population;
    kn_vtable          *people; /* the population that its hierarchy carries, counted; NULL: none  */
    kn_vdomain          domain;
    kn_vtree           *tree;  /* NULL: no hierarchy            */
    kn_vcell           *cells; /* per text of the release       */
    uint32_t           *members;
    size_t              member_count, member_capacity;
    uint64_t            levels[4]; /* bit l: every cell seen may be its value's ancestor at level l; all 0: none  */
    bool                levels_known; /* from pairs of original and release */
    uint64_t           *text_levels;  /* 4 per text of the release: the same for the text alone; NULL: no pairs known */
    int                 level;        /* that the whole column was generalized to; -1: none  */
    bool                unclaimed;    /* the claimed level does not fit                      */
} kn_vquasi;

KN_CHECK kn_status kn_vcells_make(kn_vquasi *q, kn_context *ctx, kn_error *err);

/* Does the cell stand for this value (or KN_V_MISSING)? */
bool kn_vcell_covers(const kn_vquasi *q, const kn_vcell *cell, uint32_t value);

/* The levels at which the value's ancestor has this text, as bits. */
void kn_vcell_levels(const kn_vquasi *q, const kn_vcell *cell, uint32_t value, uint64_t levels[4]);

/* ---- Grouping (table/group.c) ---- */

/* Rows → groups of equal keys, numbered as they first appear. */
typedef struct kn_vgroups {
    uint32_t *of_row; /* KN_V_NONE: the row was left out */
    uint32_t  count;
    int64_t  *rows;   /* per group */
    int64_t  *first;  /* per group: its first row */
} kn_vgroups;

/* One part of a key: a number per row; KN_V_NONE leaves the row out. */
typedef struct kn_vkey {
    const kn_vcolumn *column;
    const uint32_t   *translate; /* of the column's codes; NULL: the codes themselves     */
    const uint32_t   *direct;    /* with column NULL: the numbers                        */
    const bool       *omit;      /* with both NULL: the rows to leave out; NULL: none     */
    const int64_t    *rows;      /* use row rows[i] of the column; NULL: row i            */
} kn_vkey;

/* By one key or more; `counts`: how many each row stands for, NULL: itself. */
KN_CHECK kn_status kn_vgroup(kn_vgroups *out, kn_context *ctx, int64_t rows, const int64_t *counts, const kn_vkey *keys,
                             int key_count, kn_error *err);
/* The sizes of these groups alone (no of_row, no first), in an order that depends on the keys: takes less memory. */
KN_CHECK kn_status kn_vgroup_sizes(kn_vgroups *out, kn_context *ctx, int64_t rows, const int64_t *counts,
                                   const kn_vkey *keys, int key_count, kn_error *err);
void               kn_vgroups_free(kn_vgroups *groups);

/* ---- The whole verification ---- */

/* A column that is copied: sensitive, kept or weight; or an identifier that became a pseudonym. */
typedef struct kn_vcopy {
    const kn_attribute *attribute;
    const kn_vcolumn   *original, *release;
    kn_vdomain          domain; /* not of a pseudonym */
    uint32_t           *of_release; /* per text of the release: value, KN_V_MISSING or KN_V_NONE */
    uint32_t           *exact; /* per text of the release: the original's text, or KN_V_NONE; NULL: each value has the one
                                  spelling that a release gives it                                 */
    kn_vtree           *tree;       /* sensitive: for the hierarchical distance; NULL: none      */
    bool                pseudonym, repeats; /* `repeats`: an identifier is on several rows that are not left out */
} kn_vcopy;

/* The sets of items that the texts of a column stand for (table/items.c). */
typedef struct kn_vsets {
    kn_texts  texts;   /* the items                                                       */
    uint64_t *start;   /* per text of the column, and one more: where its items begin       */
    uint32_t *items;   /* numbers of `texts`                                              */
    bool     *ordered; /* per text of the column: items in the order of their bytes, each once, nothing else */
} kn_vsets;

/* The column of sets. */
typedef struct kn_vitems {
    const kn_attribute *attribute;
    const kn_vcolumn   *original, *release;
    char                separator;
    kn_vsets            original_sets, release_sets;
    kn_spec             plain;  /* the spec, for which no item is missing     */
    kn_vcolumn          column; /* the original's items, each once            */
    kn_vdomain          domain; /* what they mean                             */
    kn_vtree           *tree;
    uint32_t           *value_of, *label_of; /* per item of the release: value of the domain, label of the tree; KN_V_NONE */
    uint32_t            star; /* the number of "*" among them; KN_V_NONE      */
} kn_vitems;

/* Tables that stay where they are (table/where.c): what the engine says about their columns. */
typedef struct kn_vside {
    const struct kn_engine_table *table;
    int                           count;
    const char                  **names;
    const char                  **formats; /* Arrow's                                                       */
    bool                         *text, *real; /* is it one of texts; of numbers with fractions?             */
    bool                         *coded;   /* with a dictionary: it is read as text                         */
} kn_vside;

typedef struct kn_vwhere {
    kn_vside          original, release;
    const kn_vcolumn *stars; /* of the released rows: "*" where every kept column is; NULL: there is no such column */
    bool              whole; /* kept columns are among the combinations: judged here, not by the engine            */
    bool              local; /* the release has no level per column, and classes overlap: the engine cannot judge kept columns */
    bool              apart; /* the original's combinations are not to be read: its rows stay in the engine (table/where_coded.c) */
    struct kn_vcoded *coded; /* they do; NULL: they were read */
    double            squares; /* then: of the sizes of the original's classes at the levels of the release; NAN: not known */
    const kn_vtable  *text; /* of a release in CSV: its form and digest (table/text.c); NULL: it is none */
    bool              from_text; /* the original is CSV */
} kn_vwhere;

typedef struct kn_verifier {
    kn_context              *ctx;
    const kn_spec           *spec;
    const kn_verify_options *options;
    kn_verify_report        *report;
    kn_vnotes               *notes;
    kn_arena                 arena; /* freed at the end of the verification   */
    kn_timezone             *zone;
    kn_vtable               *original, *release, *population;
    kn_vwhere               *where; /* the tables above are their distinct rows, counted; NULL: all rows were read */
    int                      quasi_count;
    kn_vquasi               *quasi;
    int                      copy_count;
    kn_vcopy                *copies;
    kn_vitems               *items; /* the column of sets; NULL: there is none */
    const kn_vcolumn        *entity, *entity_release; /* NULL: none, or not in the release */
    const kn_vcolumn        *weight;
    /* rows */
    bool        *dropped;   /* per original row: left out for a missing cell; NULL: none       */
    int64_t      originals; /* rows of the original that are not                                */
    bool        *starred;   /* per released row: shown as suppressed                           */
    int64_t      star_rows;
    int64_t      suppressed, budget;
    int64_t      class_count; /* with a row that is not suppressed                              */
    const int64_t *map; /* the caller's, or the next; NULL: none                                */
    int64_t     *own_map; /* from a file                                                        */
    const uint32_t *narrow_map; /* instead of `map`: the caller's, 4 bytes a row, for rows and metrics alone; NULL: none */
    int64_t      narrow_count;
    bool         map_ok;
    kn_vgroups   classes; /* of the release, by the texts of the quasi-identifiers: with keep-sensitive the suppressed
                             rows too                                                            */
    int64_t     *shown;   /* per class: rows that are not suppressed                             */
    kn_vdomain   entities; /* what the entity column's texts mean                                */
    kn_vcolumn   joined;   /* the entity's columns as one, where there are several               */
    bool         linked;   /* the release shows which rows are one person's                      */
} kn_verifier;

/* The original of a released row. */
static inline int64_t kn_vmapped(const kn_verifier *v, int64_t row)
{
    return v->narrow_map ? (int64_t)v->narrow_map[row] : v->map[row];
}

/* Is the column one of the release's? */
bool kn_verify_is_released(const kn_spec *spec, const kn_attribute *attribute);

/* Begins the report; judges what was read; ends everything but the report (table/verify.c). */
KN_CHECK kn_status kn_verify_begin(kn_verifier *v, kn_error *err);
KN_CHECK kn_status kn_verify_judge(kn_verifier *v, kn_error *err);
void               kn_verifier_free(kn_verifier *v);

/* Verifies tables where they are if they do not fit the memory, or belong to an engine; else they are not taken (table/large.c). */
KN_CHECK kn_status kn_verify_large(kn_verify_report **out, bool *taken, kn_context *ctx, const kn_spec *spec,
                                   const kn_verify_options *options, kn_error *err);
const char        *kn_verify_needs_rows(const kn_spec *spec, const kn_verify_options *options); /* what of it; NULL: nothing */

/* Kept columns of tables that stay where they are, compared there (table/where_kept.c). */
KN_CHECK kn_status kn_verify_kept(kn_verifier *v, kn_error *err);
/* Of a release without levels: hands the classes to the engine, if each combination of the original has at most one (table/where_classes.c). */
KN_CHECK kn_status kn_vclasses_give(kn_verifier *v, bool *single, kn_error *err);
/* The original by the values of its columns, and its rows as numbers in the engine; then, once levels are known, whether every released
 * row has an original of its own, by the engine (table/where_coded.c). */
KN_CHECK kn_status kn_vcoded_read(kn_verifier *v, const kn_vread_options *options, kn_error *err);
KN_CHECK kn_status kn_verify_coded(kn_verifier *v, kn_error *err);
void               kn_vcoded_free(kn_verifier *v); /* and what the engine holds for it; there may be none */
/* Numbers by which cells are compared there: of a value of the original (or KN_V_MISSING) at the column's level, of a released cell. */
enum { KN_VCODE_NO_ORIGINAL = -1, KN_VCODE_NO_RELEASE = -2, KN_VCODE_LEFT_OUT = -3, KN_VCODE_MISSING = -4 };
int64_t kn_vquasi_code(const kn_verifier *v, const kn_vquasi *q, int level, uint32_t value);
int64_t kn_vcell_code(const kn_vquasi *q, int level, const kn_vcell *cell);
int                kn_vside_find(const kn_vside *side, const char *name);                  /* -1: there is none */
const char        *kn_vside_word(const kn_vside *side);                                    /* for texts        */
void               kn_vside_put(struct kn_buffer *to, const kn_vside *side, int column);   /* a cell of "t"     */

/* The distinct rows of a table, with their counts; kept columns only say whether they are "*" (where->stars). */
KN_CHECK kn_status kn_vside_read(kn_vtable **out, kn_verifier *v, kn_vside *side, const kn_vread_options *options, kn_error *err);

/* Several releases as one table, v->release (table/together.c): whole, or as distinct rows where v->where names a connection. */
KN_CHECK kn_status kn_vtogether_read(kn_verifier *v, const char *const *releases, int count, const kn_vread_options *read,
                                     kn_error *err);

/* Rows that stand for several (table/counts.c): the counts of both files. Of the original rows that stand for none are taken out;
 * a release that does not count as it should is a problem, and where it cannot be read at all nothing more is said of it. */
KN_CHECK kn_status kn_verify_take_counts(const kn_verifier *v, kn_vtable *t, const kn_vcolumn *column, const char *where,
                                         kn_error *err); /* of any table; `where` begins a message */
KN_CHECK kn_status kn_verify_count_original(kn_verifier *v, const kn_attribute *a, kn_error *err);
KN_CHECK kn_status kn_verify_count_release(kn_verifier *v, const kn_attribute *a, bool *readable, kn_error *err);

/* Are the cells of a copied column spelled as a release spells them, or each as in the original (table/form.c)? */
KN_CHECK kn_status kn_verify_spelling(kn_verifier *v, kn_vcopy *c, kn_error *err);

/* Cells of copied columns with unusual spellings, and the file's form (table/form.c). */
void kn_verify_form(kn_verifier *v);

/* Originals that are left out because a quasi-identifier is missing (table/rules.c). */
KN_CHECK kn_status kn_verify_dropped(kn_verifier *v, kn_error *err);

/* The column of sets (table/items.c): what its texts mean, and their form; may a released text stand for an original one; every combination of
 * items in every class, and what was lost. Nothing is done where there is none. */
KN_CHECK kn_status kn_verify_open_items(kn_verifier *v, kn_error *err);
void               kn_verify_close_items(kn_verifier *v);
bool               kn_verify_items_stand(const kn_vitems *items, uint32_t original, uint32_t release);
KN_CHECK kn_status kn_verify_items(kn_verifier *v, bool *counted, kn_error *err);

/* The checks, each in its own file; what does not hold becomes a problem. */
KN_CHECK kn_status kn_verify_starred(kn_verifier *v, kn_error *err); /* of these: the rows that are shown as suppressed   */
KN_CHECK kn_status kn_verify_group(kn_verifier *v, kn_error *err);   /* and the classes of the others                     */
KN_CHECK kn_status kn_verify_rows(kn_verifier *v, kn_error *err);    /* columns, suppressed rows, budget (table/rules.c)  */
KN_CHECK kn_status kn_verify_map(kn_verifier *v, kn_error *err);     /* with a row map                    (table/map.c)   */
KN_CHECK kn_status kn_verify_match(kn_verifier *v, kn_error *err);   /* without one                       (table/match.c) */
KN_CHECK kn_status kn_verify_levels(kn_verifier *v, kn_error *err);  /* one level per column?             (table/levels.c) */
KN_CHECK kn_status kn_verify_models(kn_verifier *v, bool *counted, kn_error *err); /* every promise (table/models.c); not counted: persons are not known */
KN_CHECK kn_status kn_verify_metrics(kn_verifier *v, kn_error *err); /* what was lost                     (table/metrics.c) */
KN_CHECK kn_status kn_verify_dependencies(kn_verifier *v, kn_error *err); /* those declared          (table/dependencies.c) */

/* Does the release show which rows belong to one person (table/linked.c)? Without an `entity` the persons are those
 * of the identifier whose pseudonym links rows. */
KN_CHECK kn_status  kn_verify_find_repeats(const kn_verifier *v, kn_vcopy *c, kn_error *err);
const kn_attribute *kn_verify_link_column(const kn_verifier *v); /* that identifier; NULL: none */
KN_CHECK kn_status  kn_verify_find_links(kn_verifier *v, kn_error *err);

/* Persons by what they show with all their rows. Ends with its arena. */
typedef struct kn_vlinked {
    kn_arena   room;
    int64_t    signatures;
    int64_t   *persons;      /* per signature                                          */
    int64_t   *starts;       /* signatures + 1: its positions                          */
    kn_vgroups positions;    /* of the released rows; those of a signature are adjacent */
    uint32_t  *signature_of; /* per position                                           */
} kn_vlinked;

KN_CHECK kn_status kn_vlinked_make(kn_vlinked *out, kn_verifier *v, const kn_vkey *person, kn_error *err);

/* Is everybody shown with all their rows, or with none? As far as the persons are known. */
KN_CHECK kn_status kn_vlinked_whole(kn_verifier *v, kn_error *err);

KN_CHECK kn_status kn_verify_summary(kn_verifier *v, kn_error *err); /* published statistics             (table/summary.c) */

/* How many people of the population (in units of *unit) each class's cells stand for, and whether somebody of it is in no
 * class (table/population.c). */
KN_CHECK kn_status kn_verify_population(kn_verifier *v, int64_t *people, int64_t *unit, bool *absent, kn_error *err);

/* The populations that the hierarchies carry, before the domains are made; and, of several quasi-identifiers, the fewest
 * people that each class can have (table/people.c). */
KN_CHECK kn_status kn_verify_read_people(kn_verifier *v, kn_error *err);
KN_CHECK kn_status kn_verify_one_count(const kn_verifier *v, const kn_vquasi *q, kn_error *err); /* KN_INPUT: a leaf has two */
KN_CHECK kn_status kn_verify_fewest_people(kn_verifier *v, int64_t *people, kn_error *err);

/* Which tuples of released texts stand for a tuple of values (table/cover.c): a trie over the classes' cells. Freed
 * with its arena. */
typedef struct kn_vcover {
    kn_verifier *v;
    kn_arena     room;
    int          depth;
    uint32_t    *order;  /* classes, sorted by their texts' numbers, column by column                        */
    uint32_t    *codes;  /* class × depth                                                                    */
    uint32_t   **lists;  /* per quasi-identifier: the texts that cover each value (+ 1 for missing), in a row */
    uint32_t   **starts; /* per quasi-identifier: values + 2: where a value's texts begin                     */
    int64_t      work;   /* steps so far                                                                      */
    bool         by_level;
} kn_vcover;

/* `by_level`: in a column that was generalized to one level, a label stands only for what is below it on that level. */
KN_CHECK kn_status kn_vcover_make(kn_vcover *out, kn_verifier *v, bool by_level, kn_error *err);

/* Calls `found` with each class that covers the values (one per quasi-identifier). Stops if it returns false. */
typedef bool (*kn_vcover_fn)(void *arg, uint32_t class_number);
bool kn_vcover_each(kn_vcover *cover, const uint32_t *values, kn_vcover_fn found, void *arg);

/* ---- Privacy models of one class (formulas.c) ---- */

typedef struct kn_vhistogram {
    const uint32_t *values; /* KN_V_MISSING allowed; ascending */
    const int64_t  *counts;
    uint32_t        count;
    int64_t         total;
} kn_vhistogram;

/* A bend of a piecewise linear function. */
typedef struct kn_vbreak {
    int64_t at;
    kn_i128 weight;
} kn_vbreak;

/* What a class is compared with: the whole original. */
typedef struct kn_vreference {
    uint32_t        values; /* of the domain */
    const int64_t  *counts; /* values + 1; the last: missing */
    int64_t         total;
    const kn_vtree *tree;   /* NULL: none */
    const int64_t  *node_counts;  /* per node of the tree                                              */
    kn_u128         node_sum;     /* of node_counts × the step to the parent, over nodes below the root */
    int64_t        *node_scratch; /* per node, all 0 between calls                                     */
    uint32_t       *touched;      /* per node                                                          */
    kn_vbreak      *breaks;       /* 2 × (2 × values + 2)                                              */
} kn_vreference;

/* Does the class keep the promise, and what does it reach? `size` is the class's number of persons. */
bool kn_vmodel_holds(const kn_model *m, int64_t size, const kn_vhistogram *h, const kn_vreference *r, double *reached);

/* Turns a histogram of the rows of a position into that of the worst node they may be assigned to, one row per person
 * (table/linked.c); `values` and `counts` are arrays of h->count. */
void kn_vlinked_deal(kn_vhistogram *h, uint32_t *values, int64_t *counts, int64_t persons);

/* The smallest class size that any model allows; at least 1. */
int64_t kn_v_requested_k(const kn_spec *spec);

/* a / b against c / d, exactly: negative, 0 or positive. */
int kn_v_compare(kn_u128 a, kn_u128 b, uint64_t c, uint64_t d);

#endif
