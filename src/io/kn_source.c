/* kn_source.c: one reader for plain, gzip and zstd input, and for tables that are not text files.
 *
 * A plain regular file is read with pread by several workers at once; everything else is a stream. A gzip file may have
 * several members, a zstd file several frames (as `cat a.gz b.gz` makes them). Truncated or corrupt input is an error.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "kn_alloc.h"
#include "kn_context.h"
#include "kn_error.h"
#include "kn_foreign.h"
#include "kn_memory.h"
#include "kn_names.h"
#include "kn_parallel.h"
#include "kn_table_stream.h"
#include "kn_zstd.h"

enum { RAW_SIZE = 1 << 18, PARALLEL_READ = 1 << 20 };

typedef enum form { PLAIN, GZIP, ZSTD, TABLE } form;

struct kn_source {
    kn_context     *ctx;
    char           *name;
    int             fd;
    bool            close_fd;
    form            form;
    bool            seekable; /* a regular file: pread works */
    uint64_t        file_size;
    uint64_t        consumed;
    char           *raw; /* bytes read but not yet returned or decompressed   */
    size_t          raw_at, raw_end;
    bool            raw_eof;
    z_stream        gzip;
    bool            gzip_open;
    bool            between; /* between two members or frames: the input may end here */
    kn_zstd        *zstd;
    int64_t         parts;   /* members or frames so far                              */
    const char     *wrapped; /* what there is besides the data; NULL: nothing         */
    gz_header       header;  /* of the current member, into these                     */
    Bytef           extra[1], title[256], comment[1];
    kn_table_stream table; /* not text: the bytes of a CSV file are made from it    */
    kn_buffer       text;  /* made, and returned up to `raw_at`                     */
};

static void *zlib_alloc(void *ctx, uInt count, uInt size)
{
    return kn_alloc_array(ctx, count, size);
}

static void zlib_free(void *ctx, void *block)
{
    (void)ctx;
    kn_free(block);
}

static kn_status read_error(const kn_source *s, kn_error *err)
{
    return kn_fail(err, KN_IO, "%s: cannot read: %s", s->name, strerror(errno));
}

/* Refills `raw` once it is empty. */
static kn_status refill(kn_source *s, kn_error *err)
{
    if (s->raw_at < s->raw_end || s->raw_eof) return KN_OK;
    ssize_t n;
    do {
        if (kn_cancelled(s->ctx)) return kn_fail_cancelled(err);
        n = read(s->fd, s->raw, RAW_SIZE);
    } while (n < 0 && errno == EINTR);
    if (n < 0) return read_error(s, err);
    s->raw_at = 0;
    s->raw_end = (size_t)n;
    s->raw_eof = n == 0;
    s->consumed += (uint64_t)n;
    return KN_OK;
}

/* A frame, or a skippable one, with which files of parallel compressors begin. */
static bool is_zstd(const unsigned char *b)
{
    return (b[0] == 0x28 && b[1] == 0xb5 && b[2] == 0x2f && b[3] == 0xfd) ||
           ((b[0] & 0xf0) == 0x50 && b[1] == 0x2a && b[2] == 0x4d && b[3] == 0x18);
}

/* Collects the first bytes (a pipe may give them one by one) and recognizes the form. */
static kn_status recognize(kn_source *s, kn_error *err)
{
    while (s->raw_end < KN_FOREIGN_BYTES && !s->raw_eof) {
        ssize_t n = read(s->fd, s->raw + s->raw_end, RAW_SIZE - s->raw_end);
        if (n < 0 && errno == EINTR) {
            if (kn_cancelled(s->ctx)) return kn_fail_cancelled(err);
            continue;
        }
        if (n < 0) return read_error(s, err);
        s->raw_eof = n == 0;
        s->raw_end += (size_t)n;
        s->consumed += (uint64_t)n;
    }
    const unsigned char *b = (const unsigned char *)s->raw;
    if (s->raw_end >= 2 && b[0] == 0x1f && b[1] == 0x8b) {
        s->form = GZIP;
        s->gzip.zalloc = zlib_alloc;
        s->gzip.zfree = zlib_free;
        s->gzip.opaque = s->ctx;
        if (inflateInit2(&s->gzip, 15 + 16) != Z_OK) return kn_fail_memory(err, s->ctx, s->name);
        s->gzip_open = true;
    } else if (s->raw_end >= 4 && is_zstd(b)) {
        s->form = ZSTD;
        KN_TRY(kn_zstd_open(&s->zstd, s->ctx, s->name, err));
    }
    const char *foreign = s->form == PLAIN ? kn_foreign_form(b, s->raw_end) : NULL;
    if (foreign) return kn_fail(err, KN_INPUT, "%s: %s", s->name, foreign);
    s->between = true;
    if (s->form != PLAIN) s->seekable = false;
    return KN_OK;
}

static kn_status open_table(kn_source **out, kn_context *ctx, const char *path, kn_error *err)
{
    kn_source *s = kn_alloc_zero(ctx, sizeof *s);
    if (!s) return kn_fail_memory(err, ctx, "reading a table");
    *s = (kn_source){.ctx = ctx, .fd = -1, .form = TABLE};
    kn_buffer_init(&s->text, ctx);
    kn_status st = kn_table_stream_open(&s->table, ctx, path, err);
    if (st == KN_OK) {
        s->name = kn_strndup(ctx, s->table.name, strlen(s->table.name));
        if (!s->name) st = kn_fail_memory(err, ctx, "reading a table");
    }
    if (st == KN_OK)
        *out = s;
    else
        kn_source_free(s);
    return st;
}

kn_status kn_source_open(kn_source **out, kn_context *ctx, const char *path, kn_error *err)
{
    *out = NULL;
    bool standard = strcmp(path, "-") == 0;
    if (kn_table_named(ctx, path)) return open_table(out, ctx, path, err);
    if (kn_name_server(path)) return kn_fail(err, KN_USAGE, "%s: is a database of a server, not a file", path);
    if (*path && !*kn_memory_path(ctx, path))
        return kn_fail(err, KN_INPUT, "%s: %s", path,
                       kn_memory_there(ctx, path) ? "holds a table, not bytes"
                                                  : "there is nothing of this name in memory");
    kn_source *s = kn_alloc_zero(ctx, sizeof *s);
    if (!s) return kn_fail_memory(err, ctx, path);
    s->ctx = ctx;
    s->fd = -1;
    const char *name = kn_path_name(ctx, path);
    s->name = kn_strndup(ctx, name, strlen(name));
    s->raw = kn_alloc(ctx, RAW_SIZE);
    kn_status st = KN_OK;
    if (!s->name || !s->raw) {
        st = kn_fail_memory(err, ctx, name);
        goto failed;
    }
    s->fd = standard ? STDIN_FILENO : open(kn_memory_path(ctx, path), O_RDONLY | O_CLOEXEC);
    s->close_fd = !standard;
    struct stat info;
    if (s->fd < 0 || fstat(s->fd, &info) != 0) {
        bool mistaken = errno == ENOENT || errno == EACCES || errno == ENOTDIR;
        bool pattern = errno == ENOENT && strpbrk(name, "*?[");
        st = kn_fail(err, mistaken ? KN_INPUT : KN_IO, "%s: cannot open: %s%s", name, strerror(errno),
                     pattern ? "; only names of Parquet files may be patterns: without quotes the shell names the files"
                             : "");
        goto failed;
    }
    if (S_ISDIR(info.st_mode)) {
        st = kn_fail(err, KN_INPUT, "%s: is a folder, not a file", name);
        goto failed;
    }
    s->seekable = S_ISREG(info.st_mode) && info.st_size > 0 && !standard; /* size 0: perhaps one of /proc's */
    if (S_ISREG(info.st_mode)) s->file_size = (uint64_t)info.st_size;
    st = recognize(s, err);
    if (st != KN_OK) goto failed;
    *out = s;
    return KN_OK;
failed:
    kn_source_free(s);
    return st;
}

void kn_source_free(kn_source *s)
{
    if (!s) return;
    if (s->gzip_open) inflateEnd(&s->gzip);
    if (s->zstd) kn_zstd_free(s->zstd);
    if (s->table.close) s->table.close(s->table.state);
    kn_buffer_free(&s->text);
    if (s->close_fd && s->fd >= 0) close(s->fd);
    KN_FREE(s->raw, s->name, s);
}

const char *kn_source_name(const kn_source *s)
{
    return s->name;
}

uint64_t kn_source_size(const kn_source *s)
{
    return s->file_size;
}

uint64_t kn_source_consumed(const kn_source *s)
{
    return s->consumed;
}

static kn_status corrupt(const kn_source *s, const char *what, kn_error *err)
{
    return kn_fail(err, KN_INPUT, "%s: the %s data are damaged or cut short", s->name, what);
}

const char *kn_source_wrapped(const kn_source *s)
{
    return s->wrapped;
}

/* Is it the name that gzip itself writes: the file's own, without .gz? */
static bool own_title(const kn_source *s)
{
    const char *slash = strrchr(s->name, '/'), *name = slash ? slash + 1 : s->name;
    size_t      size = strlen(name), end = strlen(".gz");
    if (size > end && strcmp(name + size - end, ".gz") == 0) size -= end;
    return memchr(s->title, 0, sizeof s->title) && strlen((const char *)s->title) == size &&
           memcmp(s->title, name, size) == 0;
}

static void begin_member(kn_source *s)
{
    s->header = (gz_header){.extra = s->extra,
                            .extra_max = sizeof s->extra,
                            .name = s->title,
                            .name_max = sizeof s->title,
                            .comment = s->comment,
                            .comm_max = sizeof s->comment};
    memset(s->title, 1, sizeof s->title);
    (void)inflateGetHeader(&s->gzip, &s->header);
    if (s->parts++ > 0 && !s->wrapped) s->wrapped = "more than one gzip member";
}

/* Fields that are not there were set to Z_NULL. */
static void look_at_header(kn_source *s)
{
    if (s->header.done != 1 || s->wrapped) return;
    if (s->header.extra)
        s->wrapped = "an extra field of gzip";
    else if (s->header.comment)
        s->wrapped = "a comment of gzip";
    else if (s->header.name && !own_title(s))
        s->wrapped = "a name of gzip that is not the file's own";
    s->header.done = 0;
}

static kn_status read_gzip(kn_source *s, char *buffer, size_t size, size_t *got, kn_error *err)
{
    while (*got < size) {
        KN_TRY(refill(s, err));
        if (s->raw_at == s->raw_end) return s->between ? KN_OK : corrupt(s, "gzip", err);
        if (s->between) {
            if (inflateReset(&s->gzip) != Z_OK) return corrupt(s, "gzip", err);
            begin_member(s);
            s->between = false;
        }
        size_t room = size - *got;
        s->gzip.next_in = (Bytef *)(s->raw + s->raw_at);
        s->gzip.avail_in = (uInt)(s->raw_end - s->raw_at);
        s->gzip.next_out = (Bytef *)(buffer + *got);
        s->gzip.avail_out = room > UINT32_MAX ? UINT32_MAX : (uInt)room;
        uInt before = s->gzip.avail_out;
        int  z = inflate(&s->gzip, Z_NO_FLUSH);
        s->raw_at = s->raw_end - s->gzip.avail_in;
        *got += before - s->gzip.avail_out;
        look_at_header(s);
        if (z == Z_MEM_ERROR) return kn_fail_memory(err, s->ctx, s->name);
        if (z == Z_STREAM_END)
            s->between = true;
        else if (z != Z_OK && z != Z_BUF_ERROR)
            return corrupt(s, "gzip", err);
    }
    return KN_OK;
}

/* A frame begins: the first byte says whether it is skipped or holds data. */
static void begin_frame(kn_source *s)
{
    if (((unsigned char)s->raw[s->raw_at] & 0xf0) == 0x50)
        s->wrapped = "a skippable frame of zstd";
    else if (s->parts++ > 0 && !s->wrapped)
        s->wrapped = "more than one zstd frame";
}

static kn_status read_zstd(kn_source *s, char *buffer, size_t size, size_t *got, kn_error *err)
{
    while (*got < size) {
        KN_TRY(refill(s, err));
        bool   ended = s->raw_at == s->raw_end;
        size_t taken = 0, made = 0;
        if (ended && s->between) return KN_OK;
        if (!ended && s->between) begin_frame(s);
        if (!kn_zstd_step(s->zstd, s->raw + s->raw_at, s->raw_end - s->raw_at, &taken, buffer + *got, size - *got,
                          &made, &s->between))
            return corrupt(s, "zstd", err);
        s->raw_at += taken;
        *got += made;
        if (ended && made == 0) return s->between ? KN_OK : corrupt(s, "zstd", err);
    }
    return KN_OK;
}

static kn_status read_stream(kn_source *s, char *buffer, size_t size, size_t *got, kn_error *err)
{
    while (*got < size) {
        KN_TRY(refill(s, err));
        size_t n = s->raw_end - s->raw_at;
        if (n == 0) return KN_OK;
        if (n > size - *got) n = size - *got;
        memcpy(buffer + *got, s->raw + s->raw_at, n);
        s->raw_at += n;
        *got += n;
    }
    return KN_OK;
}

typedef struct pread_job {
    kn_source *source;
    char      *buffer;
    uint64_t   offset;
} pread_job;

static kn_status pread_range(void *arg, int64_t begin, int64_t end, int worker, kn_error *err)
{
    (void)worker;
    pread_job *job = arg;
    while (begin < end) {
        ssize_t n = pread(job->source->fd, job->buffer + begin, (size_t)(end - begin), (off_t)job->offset + begin);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return read_error(job->source, err);
        if (n == 0) return kn_fail(err, KN_IO, "%s: the file shrank while it was read", job->source->name);
        begin += n;
    }
    return KN_OK;
}

/* A plain file from its current place: the bytes recognized at the start come from `raw`. */
static kn_status read_file(kn_source *s, char *buffer, size_t size, size_t *got, kn_error *err)
{
    size_t held = s->raw_end - s->raw_at;
    if (held > size) held = size;
    memcpy(buffer, s->raw + s->raw_at, held);
    s->raw_at += held;
    *got = held;
    uint64_t left = s->file_size > s->consumed ? s->file_size - s->consumed : 0;
    size_t   rest = size - held < left ? size - held : (size_t)left;
    if (s->raw_at < s->raw_end || rest == 0) return KN_OK;
    pread_job job = {s, buffer + held, s->consumed};
    KN_TRY(kn_parallel_for(s->ctx, (int64_t)rest, PARALLEL_READ, pread_range, &job, err));
    s->consumed += rest;
    *got += rest;
    return KN_OK;
}

static kn_status read_table(kn_source *s, char *buffer, size_t size, size_t *got, kn_error *err)
{
    while (*got < size) {
        if (s->raw_at == s->text.size) {
            if (s->raw_eof) return KN_OK;
            if (kn_cancelled(s->ctx)) return kn_fail_cancelled(err);
            kn_buffer_clear(&s->text);
            s->raw_at = 0;
            KN_TRY(s->table.more(s->table.state, &s->text, &s->raw_eof, err));
            if (s->text.failed) return kn_fail_memory(err, s->ctx, s->name);
            s->consumed += s->text.size;
            continue;
        }
        size_t n = s->text.size - s->raw_at;
        if (n > size - *got) n = size - *got;
        memcpy(buffer + *got, s->text.data + s->raw_at, n);
        s->raw_at += n;
        *got += n;
    }
    return KN_OK;
}

bool kn_source_plain(const kn_source *s)
{
    return s->form == PLAIN;
}

char kn_source_delimiter(const kn_source *s)
{
    return s->form == TABLE ? ',' : '\0';
}

kn_status kn_source_read(kn_source *s, char *buffer, size_t size, size_t *got, kn_error *err)
{
    *got = 0;
    switch (s->form) {
    case GZIP: return read_gzip(s, buffer, size, got, err);
    case ZSTD: return read_zstd(s, buffer, size, got, err);
    case TABLE: return read_table(s, buffer, size, got, err);
    case PLAIN: break;
    }
    return s->seekable ? read_file(s, buffer, size, got, err) : read_stream(s, buffer, size, got, err);
}

kn_status kn_source_read_all(kn_source *s, kn_buffer *to, size_t most, kn_error *err)
{
    for (size_t chunk = 1 << 16, got = 1; got > 0 && to->size <= most;) {
        char *space = kn_buffer_reserve(to, chunk);
        if (!space) return kn_fail_memory(err, s->ctx, s->name);
        KN_TRY(kn_source_read(s, space, chunk, &got, err));
        to->size += got;
    }
    return KN_OK;
}
