/* kn_parquet.c: a Parquet file, group by group. Interface: kn_parquet.h.
 *
 * A column of a group is a list of runs of codes, in the order in which its values first appear. It is written as a dictionary and the
 * codes, in runs and packed bits, or, where that takes more, as its values themselves. Cells may be missing in every column. Nothing
 * but the cells is in the file: no pairs of metadata, and statistics that follow from them.
 *
 * Cost: O(runs), besides a look-up per value. Memory: the distinct values and the runs of a group.
 * Format: https://parquet.apache.org/docs/file-format/
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_parquet.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_hash.h"
#include "kn_parquet_thrift.h"

enum { PAGE = 1 << 20, LARGEST_DICTIONARY = 1 << 20, LONGEST_BOUND = 64 };
enum { ENCODING_PLAIN = 0, ENCODING_RLE = 3, ENCODING_DICTIONARY = 8 };
enum { PAGE_DATA = 0, PAGE_DICTIONARY = 2 };

typedef struct run {
    int32_t code;
    int32_t times;
} run;

/* A column of the group that is being made. */
typedef struct chunk {
    kn_parquet_type type;
    const char     *name;
    kn_string      *values; /* per code; borrowed */
    size_t          value_capacity;
    uint64_t        bytes; /* of all of them in the file */
    int32_t         count;
    int32_t        *slots; /* codes + 1 by hash; 0: free */
    size_t          slot_count;
    run            *runs;
    size_t          run_count, run_capacity;
    int64_t         rows, nulls;
    uint64_t        plain; /* bytes of all its cells     */
} chunk;

struct kn_parquet {
    kn_context *ctx;
    const char *name;
    int         fd, error; /* errno of a write that failed */
    bool        failed;    /* out of memory                */
    int         column_count;
    chunk      *columns;
    int64_t     rows, at; /* written so far: rows, bytes */
    kn_buffer   page, packed;
    kn_buffer   groups; /* what the footer says of them */
    int         group_count;
};

static const int type_numbers[] = {
    [KN_PARQUET_TEXT] = 6, [KN_PARQUET_INTEGER] = 2, [KN_PARQUET_DATE] = 1, [KN_PARQUET_REAL] = 5};

/* ---- Values ---- */

/* Bytes of a value in the file: before a text stands its length. */
static size_t size_of(const chunk *c, int32_t code)
{
    return c->values[code].size + (c->type == KN_PARQUET_TEXT ? sizeof(uint32_t) : 0);
}

static void put_value(kn_buffer *to, const chunk *c, int32_t code)
{
    uint32_t size = (uint32_t)c->values[code].size;
    if (c->type == KN_PARQUET_TEXT) kn_buffer_append(to, &size, sizeof size);
    kn_buffer_append(to, c->values[code].data, size);
}

static bool grow_slots(kn_context *ctx, chunk *c)
{
    size_t   count = c->slot_count ? 2 * c->slot_count : 64;
    int32_t *slots = kn_alloc_array_zero(ctx, count, sizeof *slots);
    if (!slots) return false;
    for (int32_t code = 0; code < c->count; code++) {
        kn_string v = c->values[code];
        size_t    at = kn_hash_bytes(v.data, v.size) & (count - 1);
        while (slots[at]) at = (at + 1) & (count - 1);
        slots[at] = code + 1;
    }
    kn_free(c->slots);
    c->slots = slots;
    c->slot_count = count;
    return true;
}

static int32_t add_value(kn_parquet *p, chunk *c, kn_string value)
{
    if (value.size > INT32_MAX / 2) p->error = EFBIG;
    if (p->failed || p->error || !KN_GROW(p->ctx, &c->values, &c->value_capacity, (size_t)c->count + 1)) {
        p->failed = p->failed || !p->error;
        return KN_PARQUET_NULL;
    }
    c->values[c->count] = value;
    c->bytes += size_of(c, c->count);
    return c->count++;
}

int32_t kn_parquet_code(kn_parquet *p, int column, kn_string value, bool fresh)
{
    chunk *c = &p->columns[column];
    if (fresh) return add_value(p, c, value);
    if ((size_t)c->count * 2 >= c->slot_count && !grow_slots(p->ctx, c)) {
        p->failed = true;
        return KN_PARQUET_NULL;
    }
    size_t at = kn_hash_bytes(value.data, value.size) & (c->slot_count - 1);
    for (; c->slots[at]; at = (at + 1) & (c->slot_count - 1))
        if (kn_string_equal(c->values[c->slots[at] - 1], value)) return c->slots[at] - 1;
    int32_t code = add_value(p, c, value);
    c->slots[at] = code + 1;
    return code;
}

void kn_parquet_run(kn_parquet *p, int column, int32_t code, int64_t times)
{
    chunk *c = &p->columns[column];
    if (p->failed || p->error || times < 1) return;
    c->rows += times;
    if (code < 0)
        c->nulls += times;
    else
        c->plain += (uint64_t)times * size_of(c, code);
    if (c->run_count > 0 && c->runs[c->run_count - 1].code == code) {
        c->runs[c->run_count - 1].times += (int32_t)times;
        return;
    }
    if (!KN_GROW(p->ctx, &c->runs, &c->run_capacity, c->run_count + 1)) {
        p->failed = true;
        return;
    }
    c->runs[c->run_count++] = (run){code, (int32_t)times};
}

/* ---- Runs and packed bits ---- */

typedef struct hybrid {
    kn_buffer *to;
    int        width;
    uint32_t   pending[504]; /* multiples of eight: 63 groups have a header of one byte */
    int        count;
} hybrid;

static void flush_pending(hybrid *h)
{
    uint64_t bits = 0;
    int      have = 0;
    if (h->count == 0) return;
    while (h->count % 8) h->pending[h->count++] = 0;
    kn_thrift_varint(h->to, (uint64_t)(h->count / 8) << 1 | 1);
    for (int i = 0; i < h->count; i++) {
        bits |= (uint64_t)h->pending[i] << have;
        for (have += h->width; have >= 8; have -= 8, bits >>= 8) kn_buffer_char(h->to, (char)bits);
    }
    h->count = 0;
}

static void put_hybrid(hybrid *h, uint32_t value, int64_t times)
{
    for (; times > 0 && (h->count % 8 || times < 8); times--) {
        if (h->count == (int)(sizeof h->pending / sizeof *h->pending)) flush_pending(h);
        h->pending[h->count++] = value;
    }
    if (times == 0) return;
    flush_pending(h);
    kn_thrift_varint(h->to, (uint64_t)times << 1);
    for (int bits = 0; bits < h->width; bits += 8) kn_buffer_char(h->to, (char)(value >> bits));
}

static int width_of(int32_t count)
{
    int width = 1;
    while (count > 1 << width) width++;
    return width;
}

/* ---- Pages ---- */

static void write_bytes(kn_parquet *p, const char *data, size_t size)
{
    while (size > 0 && !p->error) {
        ssize_t done = write(p->fd, data, size < INT_MAX ? size : INT_MAX);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) {
            p->error = done < 0 ? errno : EIO;
            return;
        }
        data += done;
        size -= (size_t)done;
        p->at += done;
    }
}

/* Writes p->page; returns its bytes before it was compressed, with its header. */
static int64_t write_page(kn_parquet *p, int kind, int64_t values, int encoding)
{
    kn_buffer head;
    kn_buffer_init(&head, p->ctx);
    kn_buffer_clear(&p->packed);
    kn_snappy_put(&p->packed, p->page.data, p->page.size);
    kn_thrift t = kn_thrift_begin(&head);
    kn_thrift_number(&t, 1, KN_THRIFT_I32, kind);
    kn_thrift_number(&t, 2, KN_THRIFT_I32, (int64_t)p->page.size);
    kn_thrift_number(&t, 3, KN_THRIFT_I32, (int64_t)p->packed.size);
    kn_thrift inner = kn_thrift_struct(&t, kind == PAGE_DATA ? 5 : 7);
    kn_thrift_number(&inner, 1, KN_THRIFT_I32, values);
    kn_thrift_number(&inner, 2, KN_THRIFT_I32, encoding);
    if (kind == PAGE_DATA) kn_thrift_number(&inner, 3, KN_THRIFT_I32, ENCODING_RLE);
    if (kind == PAGE_DATA) kn_thrift_number(&inner, 4, KN_THRIFT_I32, ENCODING_RLE);
    kn_thrift_end(&inner);
    kn_thrift_end(&t);
    p->failed = p->failed || p->page.failed || p->packed.failed || head.failed;
    int64_t size = (int64_t)(head.size + p->page.size);
    if (!p->failed) write_bytes(p, head.data, head.size);
    if (!p->failed) write_bytes(p, p->packed.data, p->packed.size);
    kn_buffer_free(&head);
    return size;
}

/* Runs [first, end) of a column, without the first `skipped` cells and those behind `rows` of them. */
typedef struct cells {
    const chunk *chunk;
    size_t       next;
    int32_t      used;
} cells;

/* The next piece of a run, of at most so many cells. */
static run next_run(cells *s, int64_t most)
{
    run r = s->chunk->runs[s->next];
    r.times -= s->used;
    if (r.times > most) {
        r.times = (int32_t)most;
        s->used += r.times;
    } else {
        s->next++;
        s->used = 0;
    }
    return r;
}

/* Which of the cells are there: their number of bytes, and runs of one bit. */
static void put_levels(kn_buffer *to, cells from, int64_t rows)
{
    hybrid   h = {.to = to, .width = 1};
    size_t   begin = to->size;
    uint32_t size = 0;
    kn_buffer_append(to, &size, sizeof size);
    if (from.chunk->nulls == 0) {
        put_hybrid(&h, 1, rows);
    } else {
        for (int64_t left = rows; left > 0;) {
            run r = next_run(&from, left);
            put_hybrid(&h, r.code >= 0, r.times);
            left -= r.times;
        }
    }
    flush_pending(&h);
    size = (uint32_t)(to->size - begin - sizeof size);
    if (!to->failed) memcpy(to->data + begin, &size, sizeof size);
}

static int64_t write_codes(kn_parquet *p, const chunk *c)
{
    kn_buffer_clear(&p->page);
    put_levels(&p->page, (cells){.chunk = c}, c->rows);
    hybrid h = {.to = &p->page, .width = width_of(c->count)};
    kn_buffer_char(&p->page, (char)h.width);
    for (size_t i = 0; i < c->run_count; i++)
        if (c->runs[i].code >= 0) put_hybrid(&h, (uint32_t)c->runs[i].code, c->runs[i].times);
    flush_pending(&h);
    return write_page(p, PAGE_DATA, c->rows, ENCODING_DICTIONARY);
}

/* How many cells fit a page, at least one. */
static int64_t cells_of_page(cells from, int64_t left)
{
    const chunk *c = from.chunk;
    size_t       bytes = 0;
    int64_t      rows = 0;
    while (rows < left) {
        run     r = next_run(&from, left - rows);
        size_t  size = r.code >= 0 ? size_of(c, r.code) : 0;
        int64_t fit = size == 0 || bytes >= PAGE ? r.times : (int64_t)((PAGE - bytes) / size);
        if (size > 0 && (bytes >= PAGE || fit < r.times)) {
            rows += bytes >= PAGE ? 0 : fit;
            break;
        }
        rows += r.times;
        bytes += size * (size_t)r.times;
    }
    return rows > 0 ? rows : 1;
}

static int64_t write_plain(kn_parquet *p, const chunk *c)
{
    cells   from = {.chunk = c};
    int64_t size = 0;
    for (int64_t left = c->rows; left > 0;) {
        int64_t rows = cells_of_page(from, left);
        kn_buffer_clear(&p->page);
        put_levels(&p->page, from, rows);
        for (int64_t n = rows; n > 0;) {
            run r = next_run(&from, n);
            n -= r.times;
            for (int32_t i = 0; r.code >= 0 && i < r.times; i++) put_value(&p->page, c, r.code);
        }
        size += write_page(p, PAGE_DATA, rows, ENCODING_PLAIN);
        left -= rows;
    }
    return size;
}

/* ---- What is said of a column ---- */

static int compare_values(const chunk *c, int32_t a, int32_t b)
{
    kn_string x = c->values[a], y = c->values[b];
    int64_t   m = 0, n = 0;
    int32_t   i = 0, j = 0;
    if (c->type == KN_PARQUET_TEXT) return kn_string_compare(x, y);
    if (c->type == KN_PARQUET_INTEGER) {
        memcpy(&m, x.data, sizeof m);
        memcpy(&n, y.data, sizeof n);
        return m < n ? -1 : m > n;
    }
    memcpy(&i, x.data, sizeof i);
    memcpy(&j, y.data, sizeof j);
    return i < j ? -1 : i > j;
}

/* The least and the greatest value, where they are short and ordered by more than their bits. */
static void put_statistics(kn_thrift *t, const chunk *c)
{
    int32_t   least = 0, most = 0;
    kn_thrift inner = kn_thrift_struct(t, 12);
    kn_thrift_number(&inner, 3, KN_THRIFT_I64, c->nulls);
    for (int32_t i = 1; i < c->count && c->type != KN_PARQUET_REAL; i++) {
        if (compare_values(c, i, least) < 0) least = i;
        if (compare_values(c, i, most) > 0) most = i;
    }
    if (c->count > 0 && c->type != KN_PARQUET_REAL && c->values[least].size <= LONGEST_BOUND &&
        c->values[most].size <= LONGEST_BOUND) {
        kn_thrift_bytes(&inner, 5, c->values[most]);
        kn_thrift_bytes(&inner, 6, c->values[least]);
    }
    kn_thrift_end(&inner);
}

typedef struct written {
    int64_t begin, data, plain_bytes; /* where; bytes before they were compressed */
    bool    coded;
} written;

static void put_chunk(kn_parquet *p, const chunk *c, const written *w)
{
    kn_thrift t = kn_thrift_begin(&p->groups);
    kn_thrift_number(&t, 2, KN_THRIFT_I64, w->begin);
    kn_thrift inner = kn_thrift_struct(&t, 3);
    kn_thrift_number(&inner, 1, KN_THRIFT_I32, type_numbers[c->type]);
    kn_thrift_list(&inner, 2, KN_THRIFT_I32, w->coded ? 3 : 2);
    kn_thrift_zigzag(&p->groups, ENCODING_PLAIN);
    kn_thrift_zigzag(&p->groups, ENCODING_RLE);
    if (w->coded) kn_thrift_zigzag(&p->groups, ENCODING_DICTIONARY);
    kn_thrift_list(&inner, 3, KN_THRIFT_BYTES, 1);
    kn_thrift_text(&p->groups, kn_string_of(c->name));
    kn_thrift_number(&inner, 4, KN_THRIFT_I32, 1); /* Snappy */
    kn_thrift_number(&inner, 5, KN_THRIFT_I64, c->rows);
    kn_thrift_number(&inner, 6, KN_THRIFT_I64, w->plain_bytes);
    kn_thrift_number(&inner, 7, KN_THRIFT_I64, p->at - w->begin);
    kn_thrift_number(&inner, 9, KN_THRIFT_I64, w->data);
    if (w->coded) kn_thrift_number(&inner, 11, KN_THRIFT_I64, w->begin);
    put_statistics(&inner, c);
    kn_thrift_end(&inner);
    kn_thrift_end(&t);
}

static int64_t write_chunk(kn_parquet *p, const chunk *c)
{
    int64_t  present = c->rows - c->nulls;
    uint64_t coded = c->bytes + (uint64_t)(present * width_of(c->count) + 7) / 8;
    written  w = {.begin = p->at, .data = p->at};
    w.coded = c->count > 0 && c->bytes <= LARGEST_DICTIONARY && coded <= c->plain;
    if (w.coded) {
        kn_buffer_clear(&p->page);
        for (int32_t i = 0; i < c->count; i++) put_value(&p->page, c, i);
        w.plain_bytes = write_page(p, PAGE_DICTIONARY, c->count, ENCODING_PLAIN);
        w.data = p->at;
    }
    w.plain_bytes += w.coded ? write_codes(p, c) : write_plain(p, c);
    put_chunk(p, c, &w);
    return w.plain_bytes;
}

/* ---- Groups ---- */

static kn_status judge(kn_parquet *p, kn_error *err)
{
    if (p->failed || p->groups.failed) return kn_fail_memory(err, p->ctx, "writing the release");
    if (p->error) return kn_fail(err, KN_IO, "%.300s: cannot be written: %s", p->name, strerror(p->error));
    return KN_OK;
}

static void forget_rows(chunk *c)
{
    c->bytes = 0;
    if (c->slots) memset(c->slots, 0, c->slot_count * sizeof *c->slots);
    c->run_count = 0;
    c->count = 0;
    c->rows = c->nulls = 0;
    c->plain = 0;
}

kn_status kn_parquet_group(kn_parquet *p, int64_t rows, kn_error *err)
{
    int64_t begin = p->at, bytes = 0;
    if (kn_cancelled(p->ctx)) return kn_fail_cancelled(err);
    if (rows == 0 || p->failed || p->error) return judge(p, err);
    kn_thrift t = kn_thrift_begin(&p->groups);
    kn_thrift_list(&t, 1, KN_THRIFT_STRUCT, p->column_count);
    for (int i = 0; i < p->column_count; i++) {
        bytes += write_chunk(p, &p->columns[i]);
        forget_rows(&p->columns[i]);
    }
    kn_thrift_number(&t, 2, KN_THRIFT_I64, bytes);
    kn_thrift_number(&t, 3, KN_THRIFT_I64, rows);
    kn_thrift_number(&t, 5, KN_THRIFT_I64, begin);
    kn_thrift_number(&t, 6, KN_THRIFT_I64, p->at - begin);
    kn_thrift_end(&t);
    p->rows += rows;
    p->group_count++;
    kn_progress_add(p->ctx, (uint64_t)rows);
    return judge(p, err);
}

/* ---- The file ---- */

static void put_column(kn_buffer *to, const chunk *c)
{
    kn_thrift t = kn_thrift_begin(to);
    kn_thrift_number(&t, 1, KN_THRIFT_I32, type_numbers[c->type]);
    kn_thrift_number(&t, 3, KN_THRIFT_I32, 1); /* a cell may be missing */
    kn_thrift_bytes(&t, 4, kn_string_of(c->name));
    if (c->type == KN_PARQUET_TEXT || c->type == KN_PARQUET_DATE) {
        bool text = c->type == KN_PARQUET_TEXT;
        kn_thrift_number(&t, 6, KN_THRIFT_I32, text ? 0 : 6);
        kn_thrift logical = kn_thrift_struct(&t, 10), empty = kn_thrift_struct(&logical, text ? 1 : 6);
        kn_thrift_end(&empty);
        kn_thrift_end(&logical);
    }
    kn_thrift_end(&t);
}

static void put_footer(kn_parquet *p, kn_buffer *to)
{
    kn_thrift t = kn_thrift_begin(to);
    kn_thrift_number(&t, 1, KN_THRIFT_I32, 1);
    kn_thrift_list(&t, 2, KN_THRIFT_STRUCT, p->column_count + 1);
    kn_thrift root = kn_thrift_begin(to);
    kn_thrift_bytes(&root, 4, kn_string_of("schema"));
    kn_thrift_number(&root, 5, KN_THRIFT_I32, p->column_count);
    kn_thrift_end(&root);
    for (int i = 0; i < p->column_count; i++) put_column(to, &p->columns[i]);
    kn_thrift_number(&t, 3, KN_THRIFT_I64, p->rows);
    kn_thrift_list(&t, 4, KN_THRIFT_STRUCT, p->group_count);
    kn_buffer_append(to, p->groups.data, p->groups.size);
    kn_thrift_bytes(&t, 6, kn_string_of("kanon"));
    kn_thrift_list(&t, 7, KN_THRIFT_STRUCT, p->column_count);
    for (int i = 0; i < p->column_count; i++) {
        kn_thrift order = kn_thrift_begin(to), by_type = kn_thrift_struct(&order, 1);
        kn_thrift_end(&by_type);
        kn_thrift_end(&order);
    }
    kn_thrift_end(&t);
}

kn_status kn_parquet_open(kn_parquet **out, kn_context *ctx, const kn_parquet_column *columns, int count,
                          const char *path, const char *name, kn_error *err)
{
    kn_parquet *p = kn_alloc_zero(ctx, sizeof *p);
    chunk      *chunks = kn_alloc_array_zero(ctx, (size_t)count + 1, sizeof *chunks);
    *out = NULL;
    if (!p || !chunks) {
        KN_FREE(p, chunks);
        return kn_fail_memory(err, ctx, "writing the release");
    }
    *p = (kn_parquet){.ctx = ctx, .name = name, .fd = -1, .column_count = count, .columns = chunks};
    for (int i = 0; i < count; i++) chunks[i] = (chunk){.type = columns[i].type, .name = columns[i].name};
    kn_buffer_init(&p->page, ctx);
    kn_buffer_init(&p->packed, ctx);
    kn_buffer_init(&p->groups, ctx);
    p->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (p->fd < 0) p->error = errno;
    write_bytes(p, "PAR1", 4);
    kn_status st = judge(p, err);
    if (st == KN_OK)
        *out = p;
    else
        kn_parquet_abandon(p);
    return st;
}

void kn_parquet_abandon(kn_parquet *p)
{
    if (!p) return;
    for (int i = 0; i < p->column_count; i++) KN_FREE(p->columns[i].values, p->columns[i].slots, p->columns[i].runs);
    kn_buffer_free(&p->page);
    kn_buffer_free(&p->packed);
    kn_buffer_free(&p->groups);
    if (p->fd >= 0) close(p->fd);
    KN_FREE(p->columns, p);
}

kn_status kn_parquet_close(kn_parquet *p, kn_error *err)
{
    kn_buffer footer;
    if (!p) return KN_OK;
    kn_buffer_init(&footer, p->ctx);
    put_footer(p, &footer);
    uint32_t size = (uint32_t)footer.size;
    kn_buffer_append(&footer, &size, sizeof size);
    kn_buffer_add(&footer, "PAR1");
    p->failed = p->failed || footer.failed;
    if (!p->failed) write_bytes(p, footer.data, footer.size);
    kn_buffer_free(&footer);
    int fd = p->fd;
    p->fd = -1;
    if (close(fd) != 0 && !p->error) p->error = errno;
    kn_status st = judge(p, err);
    kn_parquet_abandon(p);
    return st;
}
