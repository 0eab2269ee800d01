/* kn_timezone.c: time zones from the system's database (TZif files, RFC 8536) or as a fixed offset.
 *
 * Interface: kn_timezone_open, kn_timezone_parse, kn_timezone_offset, kn_timezone_offset_at.
 *
 * A zone is kept as intervals of *local* time, each with its offset: interval i ends, in local time, at T +
 * max(offset before T, offset after T) for the moment T of the i-th change. With that end, a wall-clock time that
 * occurs twice (clocks set back) is still in the interval before T, so it is the first of the two; one that is
 * skipped (clocks set forward) is also in the interval before T and ends up after the change, so it is moved forward.
 * The rule at the end of the file for all later times is unrolled for 400 years, after which the calendar and its
 * weekdays repeat.
 *
 * Cost: a binary search per look-up; some ten microseconds and a few kilobytes to open. Limits: files up to 1 MiB;
 * zones that count leap seconds ("right/...") are refused; offsets within 26 hours of UTC. The file is not trusted.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kn_alloc.h"
#include "kn_error.h"
#include "kn_value.h"

#define DEFAULT_FOLDER "/usr/share/zoneinfo"

enum { MAX_FILE = 1 << 20, MAX_NAME = 255, MAX_PATH = 4096, MAX_OFFSET = 26 * 3600 };
enum { HEADER_SIZE = 44, MAX_FOOTER = 512, CYCLE_YEARS = 400 };

#define CYCLE_SECONDS ((int64_t)146097 * 86400)
#define MAX_MOMENT ((int64_t)1 << 60) /* margin to add offsets without overflow */

struct kn_timezone {
    size_t   count;   /* changes of the offset                                              */
    int64_t *ends;    /* count: where interval i ends in local time; never descends         */
    int32_t *offsets; /* count + 1: seconds east of UTC in each interval                    */
    int64_t  cycle;   /* local times from here on are looked up 400 years earlier, as often
                         as needed; INT64_MAX: there is no rule for later times             */
};

/* ---- Look-up ---- */

int32_t kn_timezone_offset(const kn_timezone *zone, int64_t local)
{
    if (!zone) return 0;
    if (local > MAX_MOMENT) local = MAX_MOMENT;
    if (local >= zone->cycle) local -= ((local - zone->cycle) / CYCLE_SECONDS + 1) * CYCLE_SECONDS;
    size_t low = 0, high = zone->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (local < zone->ends[middle])
            high = middle;
        else
            low = middle + 1;
    }
    return zone->offsets[low];
}

/* The moment of a change: its interval ends there by the larger of both offsets. */
static int64_t moment_of(const kn_timezone *zone, size_t change)
{
    int32_t before = zone->offsets[change], after = zone->offsets[change + 1];
    return zone->ends[change] - (before > after ? before : after);
}

int32_t kn_timezone_offset_at(const kn_timezone *zone, int64_t seconds)
{
    if (!zone) return 0;
    if (seconds > MAX_MOMENT) seconds = MAX_MOMENT;
    if (seconds >= zone->cycle) seconds -= ((seconds - zone->cycle) / CYCLE_SECONDS + 1) * CYCLE_SECONDS;
    size_t low = 0, high = zone->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (seconds < moment_of(zone, middle))
            high = middle;
        else
            low = middle + 1;
    }
    return zone->offsets[low];
}

void kn_timezone_free(kn_timezone *zone)
{
    if (!zone) return;
    KN_FREE(zone->ends, zone->offsets, zone);
}

/* ---- The rule for later times: a POSIX TZ string ---- */

/* A day of the year on which clocks change, and when. */
typedef struct change {
    char    kind; /* 'M' month.week.weekday, 'J' day 1-365 without leap days, 'D' day 0-365 */
    int     month, week, day;
    int32_t seconds; /* after midnight, in the local time before the change; may be negative */
} change;

typedef struct rule {
    bool    has_dst;
    int32_t standard, summer; /* offsets */
    change  start, end;       /* of summer time */
} rule;

static bool read_number(const char **at, int low, int high, int *out)
{
    int value = 0, digits = 0;
    for (; kn_is_digit(**at) && digits < 4; digits++) value = value * 10 + (*(*at)++ - '0');
    *out = value;
    return digits > 0 && value >= low && value <= high;
}

/* [+-]hh[:mm[:ss]] in seconds. */
static bool read_time(const char **at, int max_hours, int32_t *out)
{
    int hours, minutes = 0, seconds = 0;
    int sign = **at == '-' ? -1 : 1;
    if (**at == '-' || **at == '+') (*at)++;
    if (!read_number(at, 0, max_hours, &hours)) return false;
    if (**at == ':') {
        (*at)++;
        if (!read_number(at, 0, 59, &minutes)) return false;
        if (**at == ':') {
            (*at)++;
            if (!read_number(at, 0, 59, &seconds)) return false;
        }
    }
    *out = sign * (hours * 3600 + minutes * 60 + seconds);
    return true;
}

/* The name of a zone: letters, or anything short of '>' in <>. */
static bool skip_name(const char **at)
{
    const char *p = *at;
    if (*p == '<') {
        while (*p && *p != '>') p++;
        if (*p != '>') return false;
        p++;
    } else {
        while ((*p >= 'A' && *p <= 'Z') || (*p >= 'a' && *p <= 'z')) p++;
    }
    bool any = p > *at;
    *at = p;
    return any;
}

static bool read_change(const char **at, change *c)
{
    if (*(*at)++ != ',') return false;
    *c = (change){.kind = 'D', .seconds = 7200};
    if (**at == 'M') {
        c->kind = 'M';
        (*at)++;
        if (!read_number(at, 1, 12, &c->month) || *(*at)++ != '.') return false;
        if (!read_number(at, 1, 5, &c->week) || *(*at)++ != '.') return false;
        if (!read_number(at, 0, 6, &c->day)) return false;
    } else if (**at == 'J') {
        c->kind = 'J';
        (*at)++;
        if (!read_number(at, 1, 365, &c->day)) return false;
    } else if (!read_number(at, 0, 365, &c->day)) {
        return false;
    }
    if (**at != '/') return true;
    (*at)++;
    return read_time(at, 167, &c->seconds);
}

/* std offset [dst [offset] , start , end]. The string counts offsets west of UTC; we count east. */
static bool read_rule(const char *text, rule *r)
{
    *r = (rule){0};
    if (!*text) return true;
    if (!skip_name(&text) || !read_time(&text, 25, &r->standard)) return false;
    r->standard = -r->standard;
    if (!*text) return true; /* no summer time: the file's last offset continues */
    r->has_dst = true;
    r->summer = r->standard + 3600;
    if (!skip_name(&text)) return false;
    if (*text != ',') {
        if (!read_time(&text, 25, &r->summer)) return false;
        r->summer = -r->summer;
    }
    if (r->standard < -MAX_OFFSET || r->standard > MAX_OFFSET || r->summer < -MAX_OFFSET || r->summer > MAX_OFFSET)
        return false;
    return read_change(&text, &r->start) && read_change(&text, &r->end) && !*text;
}

/* The day of a change in a year, in days since 1970. */
static int64_t change_day(const change *c, int year)
{
    int64_t january = kn_days_from_civil(year, 1, 1);
    if (c->kind == 'D') return january + c->day;
    if (c->kind == 'J') return january + c->day - 1 + (c->day >= 60 && kn_days_in_month(year, 2) == 29);
    int64_t first = kn_days_from_civil(year, c->month, 1);
    /* 1970-01-01 was a Thursday (4); 7 × 10^6 keeps the remainder from being negative. */
    int     weekday = (int)((first + 4 + 7000000) % 7);
    int64_t day = first + (c->day - weekday + 7) % 7 + (c->week - 1) * 7;
    return day < first + kn_days_in_month(year, c->month) ? day : day - 7; /* week 5 is the last there is */
}

/* ---- Building the intervals ---- */

typedef struct builder {
    kn_timezone *zone; /* has space for every change   */
    int64_t      last; /* the latest change; INT64_MIN before the first */
} builder;

/* Adds a change to `offset` at `moment` (UTC), which is not before the last one. */
static void add_change(builder *b, int64_t moment, int32_t offset)
{
    kn_timezone *z = b->zone;
    if (b->last == moment && z->count > 0) z->count--; /* a second change at once: the interval between is empty */
    int32_t before = z->offsets[z->count];
    int64_t end = moment + (before > offset ? before : offset);
    if (z->count > 0 && end < z->ends[z->count - 1]) end = z->ends[z->count - 1];
    z->ends[z->count++] = end;
    z->offsets[z->count] = offset;
    b->last = moment;
}

static int year_of(int64_t moment)
{
    int     year, month, day;
    int64_t days = moment / 86400 - (moment % 86400 < 0);
    kn_civil_from_days(days, &year, &month, &day);
    return year;
}

/* Unrolls the rule from the last change in the file on. Without summer time there is nothing to add: the last
 * interval continues. */
static void add_rule(builder *b, const rule *r)
{
    kn_timezone *z = b->zone;
    if (!r->has_dst) return;
    size_t from_file = z->count;
    int    first = 1;
    if (from_file > 0)
        first = year_of(b->last);
    else
        z->offsets[0] = r->standard;
    /* The first two years may be partly the file's: the cycle consists of the 400 after them. */
    int last = first + CYCLE_YEARS + 2;
    for (int year = first; year <= last && year <= 9999; year++) {
        int64_t start = change_day(&r->start, year) * 86400 + r->start.seconds - r->standard;
        int64_t end = change_day(&r->end, year) * 86400 + r->end.seconds - r->summer;
        for (int i = 0; i < 2; i++) {
            bool    starts = (i == 0) == (start <= end);
            int64_t moment = starts ? start : end;
            if (moment > b->last)
                add_change(b, moment, starts ? r->summer : r->standard);
            else if (z->count > from_file) /* summer time begins when it ends, or before: they cancel out */
                z->count--;
        }
    }
    if (last <= 9999) z->cycle = kn_days_from_civil(last, 1, 1) * 86400;
}

/* ---- TZif ---- */

typedef struct block {
    const uint8_t *times, *indices, *types;
    uint32_t       time_count, type_count;
    int            time_size; /* bytes of a time: 4 or 8 */
} block;

static uint32_t get32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static int64_t get_time(const block *b, uint32_t i)
{
    const uint8_t *p = b->times + (size_t)i * (size_t)b->time_size;
    if (b->time_size == 4) return (int32_t)get32(p);
    return (int64_t)((uint64_t)get32(p) << 32 | get32(p + 4));
}

/* Reads a header and the extent of the data after it. `used` becomes the size of both. */
static const char *read_block(const uint8_t *p, size_t size, int time_size, block *b, size_t *used)
{
    if (size < HEADER_SIZE || memcmp(p, "TZif", 4) != 0) return "it is not a time zone file";
    uint64_t utc = get32(p + 20), std = get32(p + 24), leap = get32(p + 28), time = get32(p + 32), type = get32(p + 36),
             chars = get32(p + 40), t = (uint64_t)time_size;
    uint64_t need = HEADER_SIZE + time * t + time + type * 6 + chars + leap * (t + 4) + std + utc;
    if (need > size) return "the file is cut short";
    if (leap > 0) return "it counts leap seconds";
    b->time_count = (uint32_t)time;
    b->type_count = (uint32_t)type;
    b->time_size = time_size;
    b->times = p + HEADER_SIZE;
    b->indices = b->times + time * t;
    b->types = b->indices + time;
    *used = (size_t)need;
    return NULL;
}

static const char *read_footer(const uint8_t *p, size_t size, rule *r)
{
    char text[MAX_FOOTER];
    if (size < 2 || p[0] != '\n') return "its last line is missing";
    const uint8_t *end = memchr(p + 1, '\n', size - 1);
    if (!end) return "its last line is missing";
    size_t length = (size_t)(end - p) - 1;
    if (length >= sizeof text || memchr(p + 1, '\0', length)) return "its last line makes no sense";
    memcpy(text, p + 1, length);
    text[length] = '\0';
    return read_rule(text, r) ? NULL : "its last line makes no sense";
}

/* Finds the data to use: the 64-bit block of version 2 and later, else the 32-bit one. */
static const char *read_file(const uint8_t *p, size_t size, block *b, rule *r)
{
    size_t      used;
    const char *why = read_block(p, size, 4, b, &used);
    *r = (rule){0};
    if (why || p[4] < '2') return why;
    p += used;
    size -= used;
    why = read_block(p, size, 8, b, &used);
    return why ? why : read_footer(p + used, size - used, r);
}

static const char *add_block(builder *to, const block *b)
{
    if (b->type_count == 0) return "it has no local time";
    for (uint32_t i = 0; i < b->type_count; i++) {
        int32_t offset = (int32_t)get32(b->types + (size_t)i * 6);
        if (offset < -MAX_OFFSET || offset > MAX_OFFSET) return "an offset is out of range";
    }
    to->zone->offsets[0] = (int32_t)get32(b->types);
    for (uint32_t i = 0; i < b->time_count; i++) {
        int64_t moment = get_time(b, i);
        if (moment < -MAX_MOMENT || moment > MAX_MOMENT) return "a time is out of range";
        if (moment < to->last) return "its times are not in order";
        if (b->indices[i] >= b->type_count) return "a local time is missing";
        add_change(to, moment, (int32_t)get32(b->types + (size_t)b->indices[i] * 6));
    }
    return NULL;
}

static kn_timezone *new_zone(kn_context *ctx, size_t capacity)
{
    kn_timezone *zone = kn_alloc_zero(ctx, sizeof *zone);
    if (!zone) return NULL;
    zone->cycle = INT64_MAX;
    zone->ends = kn_alloc_array(ctx, capacity + 1, sizeof *zone->ends);
    zone->offsets = kn_alloc_array_zero(ctx, capacity + 1, sizeof *zone->offsets);
    if (zone->ends && zone->offsets) return zone;
    kn_timezone_free(zone);
    return NULL;
}

kn_status kn_timezone_parse(kn_timezone **out, kn_context *ctx, const char *name, const void *data, size_t size,
                            kn_error *err)
{
    block       file;
    rule        later;
    const char *why = read_file(data, size, &file, &later);
    *out = NULL;
    if (why) return kn_fail(err, KN_INPUT, "time zone %s: %s", name, why);
    size_t       capacity = (size_t)file.time_count + (later.has_dst ? 2 * (CYCLE_YEARS + 3) : 0);
    kn_timezone *zone = new_zone(ctx, capacity);
    if (!zone) return kn_fail_memory(err, ctx, "reading a time zone");
    builder b = {.zone = zone, .last = INT64_MIN};
    why = add_block(&b, &file);
    if (why) {
        kn_timezone_free(zone);
        return kn_fail(err, KN_INPUT, "time zone %s: %s", name, why);
    }
    add_rule(&b, &later);
    *out = zone;
    return KN_OK;
}

/* ---- Opening ---- */

/* ±hh, ±hhmm or ±hh:mm. */
static bool fixed_offset(const char *name, int32_t *out)
{
    int n = (int)strlen(name), hours, minutes = 0;
    if ((name[0] != '+' && name[0] != '-') || (n != 3 && n != 5 && n != 6) || (n == 6 && name[3] != ':')) return false;
    for (int i = 1; i < n; i++)
        if (!kn_is_digit(name[i]) && !(n == 6 && i == 3)) return false;
    hours = (name[1] - '0') * 10 + (name[2] - '0');
    if (n > 3) minutes = (name[n - 2] - '0') * 10 + (name[n - 1] - '0');
    if (hours > 23 || minutes > 59) return false;
    *out = (hours * 60 + minutes) * 60 * (name[0] == '-' ? -1 : 1);
    return true;
}

/* Without '.' and a leading '/' a name cannot leave the folder. */
static bool valid_name(const char *name)
{
    size_t n = strlen(name);
    if (n == 0 || n > MAX_NAME || name[0] == '/' || name[0] == '+' || name[0] == '-') return false;
    for (const char *p = name; *p; p++)
        if (!(*p >= 'A' && *p <= 'Z') && !(*p >= 'a' && *p <= 'z') && !kn_is_digit(*p) && !strchr("_+-/", *p))
            return false;
    return true;
}

static kn_status read_whole(uint8_t **data, size_t *size, kn_context *ctx, int fd, const char *name, kn_error *err)
{
    struct stat info;
    if (fstat(fd, &info) != 0) return kn_fail(err, KN_IO, "time zone %s: %s", name, strerror(errno));
    if (!S_ISREG(info.st_mode)) return kn_fail(err, KN_USAGE, "there is no time zone %s", name);
    if (info.st_size > MAX_FILE) return kn_fail(err, KN_INPUT, "time zone %s: the file is too large", name);
    size_t capacity = (size_t)info.st_size, n = 0;
    *data = kn_alloc(ctx, capacity + 1);
    if (!*data) return kn_fail_memory(err, ctx, "reading a time zone");
    while (n < capacity) {
        ssize_t got = read(fd, *data + n, capacity - n);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return kn_fail(err, KN_IO, "time zone %s: %s", name, strerror(errno));
        if (got == 0) break;
        n += (size_t)got;
    }
    *size = n;
    return KN_OK;
}

static kn_status open_named(kn_timezone **out, kn_context *ctx, const char *name, kn_error *err)
{
    char        path[MAX_PATH + MAX_NAME + 2];
    const char *folder = getenv("TZDIR");
    if (!folder || !*folder) folder = DEFAULT_FOLDER;
    size_t length = strlen(folder);
    if (length > MAX_PATH) return kn_fail(err, KN_IO, "the path in TZDIR is too long");
    memcpy(path, folder, length + 1);
    if (access(path, F_OK) != 0)
        return kn_fail(err, KN_IO, "there is no time zone database in %s: install it (tzdata) or set TZDIR", folder);
    path[length] = '/';
    memcpy(path + length + 1, name, strlen(name) + 1);

    /* Without O_NONBLOCK a named pipe in the folder would block. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return kn_fail(err, KN_USAGE, "there is no time zone %s", name);
    if (fd < 0) return kn_fail(err, KN_IO, "time zone %s: %s", name, strerror(errno));
    uint8_t  *data = NULL;
    size_t    size = 0;
    kn_status st = read_whole(&data, &size, ctx, fd, name, err);
    close(fd);
    if (st == KN_OK) st = kn_timezone_parse(out, ctx, name, data, size, err);
    kn_free(data);
    return st;
}

kn_status kn_timezone_open(kn_timezone **out, kn_context *ctx, const char *name, kn_error *err)
{
    int32_t offset = 0;
    *out = NULL;
    if (strcmp(name, "UTC") != 0 && !fixed_offset(name, &offset)) {
        if (!valid_name(name))
            return kn_fail(err, KN_USAGE, "a time zone is UTC, an offset like +02:00 or a name like Europe/Paris");
        return open_named(out, ctx, name, err);
    }
    *out = new_zone(ctx, 0);
    if (!*out) return kn_fail_memory(err, ctx, "a time zone");
    (*out)->offsets[0] = offset;
    return KN_OK;
}
