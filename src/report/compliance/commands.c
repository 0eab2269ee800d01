/* compliance/commands.c: the commands that reproduce the figures of a page of evidence, as a shell takes them.
 *
 * Interface: kn_compliance_command (kn_compliance.h). Files are those of this release. Where the release file is not named, the
 * request of a table is written as options, if its certificate says all that they need; otherwise a word in capitals stands for a
 * file that the page does not know. A page that may be published names no folder and nothing of the owner's.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kn_compliance.h"
#include "kn_error.h"
#include "kn_html.h"
#include "kn_release_report.h"

typedef const kn_document_value value;

/* ---- Words ---- */

static bool is_plain(const char *text)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:=,@%+-";
    return *text && strspn(text, plain) == strlen(text);
}

/* One word of a command, after a blank. */
static void word(kn_buffer *to, const char *text)
{
    kn_buffer_char(to, ' ');
    if (is_plain(text)) {
        kn_buffer_add(to, text);
        return;
    }
    kn_buffer_char(to, '\'');
    for (; *text; text++) {
        if (*text == '\'')
            kn_buffer_add(to, "'\\''");
        else
            kn_buffer_char(to, *text);
    }
    kn_buffer_char(to, '\'');
}

/* An option with a value that is put together in a buffer. */
static void option(kn_buffer *to, const char *name, kn_buffer *text)
{
    const char *whole = kn_buffer_text(text);
    if (!whole)
        to->failed = true;
    else {
        kn_buffer_char(to, ' ');
        kn_buffer_add(to, name);
        word(to, whole);
    }
    kn_buffer_free(text);
}

/* An item of a list: commas and backslashes are escaped. */
static void item(kn_buffer *list, const char *name)
{
    if (list->size > 0) kn_buffer_char(list, ',');
    for (; *name; name++) {
        if (*name == ',' || *name == '\\') kn_buffer_char(list, '\\');
        kn_buffer_char(list, *name);
    }
}

static void number(kn_buffer *to, double v)
{
    kn_buffer_format(to, "%.15g", v);
}

/* ---- Files ---- */

/* Folders are left out where everybody may read the page. */
static const char *shown(const kn_compliance *c, const char *path)
{
    const char *name = c->owner || !path ? path : kn_release_file_name(path);
    return name ? name : "-";
}

static bool ends_with(const char *text, const char *ending)
{
    size_t n = strlen(text), e = strlen(ending);
    return n > e && strcmp(text + n - e, ending) == 0;
}

/* Does a path end as those of SQLite files do? Longer: what follows `path` is not looked at. */
static bool is_sqlite(const char *path, size_t size)
{
    static const char *const endings[] = {".sqlite", ".sqlite3", ".db"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t e = strlen(endings[i]);
        if (size > e && strncmp(path + size - e, endings[i], e) == 0) return true;
    }
    return false;
}

/* What is beside a table of a SQLite file is named FILE.TABLE: the dot before the table; NULL: another name. */
static const char *table_of(const char *name, size_t size)
{
    const char *dot = size > 0 ? name + size - 1 : name;
    while (dot > name && *dot != '.' && *dot != '/') dot--;
    bool file = size > 4 && (strncmp(name + size - 4, ".csv", 4) == 0 || strncmp(name + size - 4, ".tsv", 4) == 0);
    return dot > name && *dot == '.' && !file && is_sqlite(name, (size_t)(dot - name)) ? dot : NULL;
}

static const char ending[] = ".certificate.json", inside[] = "certificate.json";

bool kn_compliance_in_sqlite(const kn_compliance *c)
{
    const char *path = c->certificate_name ? c->certificate_name : "";
    return c->shape == KN_SHAPE_TABLE && ends_with(path, ending) && table_of(path, strlen(path) - strlen(ending));
}

/* The release by its certificate: FILE.certificate.json, or certificate.json in its folder. */
static void path_of_release(kn_buffer *text, const kn_compliance *c, bool folder)
{
    const char *path = c->certificate_name ? c->certificate_name : "";
    if (ends_with(path, ending)) {
        path = shown(c, path);
        kn_buffer_append(text, path, strlen(path) - strlen(ending));
    } else if (strcmp(path, inside) == 0 || ends_with(path, "/certificate.json")) {
        size_t end = strlen(path) - strlen(inside), from = 0;
        while (!c->owner && end > 1 && from + 1 < end && memchr(path + from, '/', end - from - 1))
            from = (size_t)((const char *)memchr(path + from, '/', end - from - 1) - path) + 1;
        if (end == 0)
            kn_buffer_add(text, "./");
        else
            kn_buffer_append(text, path + from, end - from);
    } else
        kn_buffer_add(text, folder ? "RELEASE/" : "RELEASE");
}

static void word_of(kn_buffer *to, kn_buffer *text)
{
    const char *whole = kn_buffer_text(text);
    if (whole)
        word(to, whole);
    else
        to->failed = true;
    kn_buffer_free(text);
}

/* A file of the release, or beside it. */
static void release_with(kn_buffer *to, const kn_compliance *c, const char *file, const char *suffix)
{
    kn_buffer text;
    kn_buffer_init(&text, to->ctx);
    path_of_release(&text, c, file != NULL);
    if (file) kn_buffer_add(&text, file);
    if (suffix && text.size > 1 && text.data[text.size - 1] == '/') text.size--;
    if (suffix) kn_buffer_add(&text, suffix);
    word_of(to, &text);
}

/* The release as kanon takes it: a database in one file is sqlite:FILE, a table of one sqlite:FILE#TABLE. */
static void release(kn_buffer *to, const kn_compliance *c)
{
    kn_buffer path, text;
    kn_buffer_init(&path, to->ctx);
    kn_buffer_init(&text, to->ctx);
    path_of_release(&path, c, false);
    const char *whole = kn_buffer_text(&path), *dot = whole ? table_of(whole, path.size) : NULL;
    bool        single = c->shape == KN_SHAPE_DATABASE && kn_document_text(c->certificate, "sha256");
    if (!whole)
        to->failed = true;
    else if (c->shape == KN_SHAPE_TABLE && dot)
        kn_buffer_format(&text, "sqlite:%.*s#%s", (int)(dot - whole), whole, dot + 1);
    else
        kn_buffer_format(
            &text, single || (c->shape == KN_SHAPE_RECORDS && is_sqlite(whole, path.size)) ? "sqlite:%s" : "%s", whole);
    word_of(to, &text);
    kn_buffer_free(&path);
}

int64_t kn_compliance_inputs(const kn_compliance *c)
{
    return c->secret ? kn_document_count(kn_document_find(c->secret, "inputs")) : 0;
}

static void original(kn_buffer *to, const kn_compliance *c)
{
    int64_t count = kn_compliance_inputs(c);
    for (int64_t i = 0; i < count && count <= KN_INPUTS_NAMED; i++) {
        value      *one = kn_document_at(kn_document_find(c->secret, "inputs"), i);
        const char *path = kn_document_text_of(kn_document_member(one, "path"));
        kn_buffer   text;
        kn_buffer_init(&text, to->ctx);
        if (path && c->shape != KN_SHAPE_TABLE && !strchr(path, ':') && is_sqlite(path, strlen(path)))
            kn_buffer_add(&text, "sqlite:"); /* as private files of 0.9 name it */
        kn_buffer_add(&text, path ? path : "ORIGINAL");
        word_of(to, &text);
    }
    if (count == 0 || count > KN_INPUTS_NAMED) kn_buffer_add(to, " ORIGINAL");
}

/* ---- The request as options ---- */

static const char *text_of(value *object, const char *key)
{
    return kn_document_text_of(kn_document_member(object, key));
}

static bool is(value *object, const char *key, const char *text)
{
    const char *found = text_of(object, key);
    return found && strcmp(found, text) == 0;
}

/* Can its hierarchy be written as --hierarchy COLUMN:KIND? */
static bool simple_hierarchy(value *h)
{
    static const char *const kinds[] = {"suppress", "calendar", "ranges", "mask", "breaks", "prefix"};
    if (kn_document_kind_of(h) == KN_DOCUMENT_NULL) return true;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kn_document_member(h, kinds[i])) return !is(h, "prefix", ":") && !is(h, "character", ":");
    return false;
}

/* How the original was read, where that is not as usual. NULL: a private file of 0.9, or none. */
static value *reading(const kn_compliance *c)
{
    return c->secret ? kn_document_find(c->secret, "options.reading") : NULL;
}

/* Do the documents say all that options need? */
static bool simple(const kn_compliance *c)
{
    value *columns = kn_document_find(c->certificate, "columns"), *o = kn_document_find(c->certificate, "options");
    if (c->shape != KN_SHAPE_TABLE || kn_document_find(c->certificate, "dependencies")) return false;
    if (c->entity && (c->pseudonym || !c->secret || !kn_document_find(c->secret, "options.entity"))) return false;
    if (!reading(c) && (kn_document_member(o, "missing-text") || kn_document_member(o, "decimal"))) return false;
    for (int64_t i = 0; i < kn_document_count(columns); i++) {
        value *column = kn_document_at(columns, i), *h = kn_document_member(column, "hierarchy");
        bool   named = kn_document_member(column, "type") || kn_document_kind_of(h) != KN_DOCUMENT_NULL;
        if (!is(column, "role", "quasi") && !is(column, "role", "sensitive") && !is(column, "role", "keep") &&
            !is(column, "role", "weight") && !is(column, "role", "count"))
            return false;
        if (!simple_hierarchy(h) || (named && strchr(text_of(column, "name"), ':'))) return false;
    }
    return true;
}

static void roles(kn_buffer *to, const kn_compliance *c, const char *name, const char *role)
{
    kn_buffer list;
    value    *columns = kn_document_find(c->certificate, "columns"),
          *quasi = kn_document_find(c->certificate, "requested.quasi");
    kn_buffer_init(&list, to->ctx);
    if (strcmp(role, "quasi") == 0)
        for (int64_t i = 0; i < kn_document_count(quasi); i++)
            item(&list, kn_document_text_of(kn_document_at(quasi, i)));
    else
        for (int64_t i = 0; i < kn_document_count(columns); i++)
            if (is(kn_document_at(columns, i), "role", role)) item(&list, text_of(kn_document_at(columns, i), "name"));
    if (list.size > 0)
        option(to, name, &list);
    else
        kn_buffer_free(&list);
}

/* "18,65/18": the cut points, level by level. */
static void breaks(kn_buffer *text, value *levels)
{
    for (int64_t i = 0; i < kn_document_count(levels); i++)
        for (int64_t p = 0; p < kn_document_count(kn_document_at(levels, i)); p++)
            kn_buffer_format(text, "%s%s",
                             p > 0   ? ","
                             : i > 0 ? "/"
                                     : "",
                             kn_document_text_of(kn_document_at(kn_document_at(levels, i), p)));
}

static void hierarchy(kn_buffer *to, value *column)
{
    value      *h = kn_document_member(column, "hierarchy"), *list;
    const char *kind = NULL;
    int64_t     step;
    kn_buffer   text;
    if (kn_document_kind_of(h) == KN_DOCUMENT_NULL) return;
    kn_buffer_init(&text, to->ctx);
    kn_buffer_format(&text, "%s:", text_of(column, "name"));
    if (kn_document_member(h, "mask")) {
        kn_buffer_format(&text, "mask=%s", text_of(h, "mask"));
        step = kn_document_integer_of(kn_document_member(h, "step"));
        if (step != 1) kn_buffer_format(&text, ":step=%lld", (long long)step);
        if (!is(h, "character", "*")) kn_buffer_format(&text, ":character=%s", text_of(h, "character"));
        if (kn_document_boolean_of(kn_document_member(h, "pad"))) kn_buffer_add(&text, ":pad");
    } else if (kn_document_member(h, "suppress"))
        kn_buffer_add(&text, "suppress");
    else if (kn_document_member(h, "prefix"))
        kn_buffer_format(&text, "prefix=%s", text_of(h, "prefix"));
    else if (kn_document_member(h, "breaks")) {
        kn_buffer_add(&text, "breaks=");
        breaks(&text, kn_document_member(h, "breaks"));
    } else
        kind = kn_document_member(h, "ranges") ? "ranges" : "calendar";
    if (kind) kn_buffer_format(&text, "%s=", kind);
    list = kind ? kn_document_member(h, kind) : NULL;
    for (int64_t i = 0; i < kn_document_count(list); i++)
        kn_buffer_format(&text, i > 0 ? ",%s" : "%s", kn_document_text_of(kn_document_at(list, i)));
    if (text_of(h, "origin") && !is(h, "origin", "0")) kn_buffer_format(&text, ":origin=%s", text_of(h, "origin"));
    option(to, "--hierarchy", &text);
}

/* How the original is read: what was said of the file, and the types that were declared. */
static void reads(kn_buffer *to, const kn_compliance *c)
{
    static const char *const names[] = {"delimiter", "encoding", "decimal", "timezone"};
    value *r = reading(c), *na = kn_document_member(r, "na"), *columns = kn_document_find(c->certificate, "columns");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (text_of(r, names[i])) {
            kn_buffer_format(to, " --%s", names[i]);
            word(to, text_of(r, names[i]));
        }
    if (kn_document_member(r, "header")) kn_buffer_add(to, " --no-header");
    if (na && kn_document_count(na) == 0) kn_buffer_add(to, " --no-na");
    for (int64_t i = 0; i < kn_document_count(na); i++) {
        kn_buffer list;
        kn_buffer_init(&list, to->ctx);
        item(&list, kn_document_text_of(kn_document_at(na, i)));
        option(to, "--na", &list);
    }
    for (int64_t i = 0; i < kn_document_count(columns); i++) {
        value    *column = kn_document_at(columns, i);
        kn_buffer text;
        if (!text_of(column, "type") || strchr(text_of(column, "name"), ':')) continue;
        kn_buffer_init(&text, to->ctx);
        kn_buffer_format(&text, "%s:%s", text_of(column, "name"), text_of(column, "type"));
        if (text_of(column, "format")) kn_buffer_format(&text, ":%s", text_of(column, "format"));
        option(to, "--type", &text);
    }
}

static void hierarchies(kn_buffer *to, const kn_compliance *c)
{
    value *columns = kn_document_find(c->certificate, "columns");
    for (int64_t i = 0; i < kn_document_count(columns); i++) hierarchy(to, kn_document_at(columns, i));
}

static void promise(kn_buffer *to, value *model)
{
    kn_buffer text;
    kn_buffer_init(&text, to->ctx);
    kn_buffer_add(&text, text_of(model, "model"));
    for (int64_t i = 0, parts = 0; i < kn_document_count(model); i++) {
        const char *key = kn_document_key(model, i);
        value      *v = kn_document_at(model, i);
        if (strcmp(key, "model") == 0 || kn_document_kind_of(v) == KN_DOCUMENT_NULL) continue;
        kn_buffer_format(&text, "%c%s=", parts++ == 0 ? ':' : ',', key);
        if (kn_document_text_of(v))
            kn_buffer_add(&text, kn_document_text_of(v));
        else
            number(&text, kn_document_number_of(v));
    }
    option(to, "--require", &text);
}

static void promises(kn_buffer *to, const kn_compliance *c)
{
    value *models = kn_document_find(c->certificate, "requested.models");
    if (c->shape == KN_SHAPE_RECORDS)
        kn_buffer_format(to, " --kmn %lld,%lld,%lld", (long long)c->asked, (long long)c->m, (long long)c->n);
    for (int64_t i = 0; i < kn_document_count(models); i++) {
        value *m = kn_document_at(models, i);
        if (is(m, "model", "k"))
            kn_buffer_format(to, " -k %lld", (long long)kn_document_integer_of(kn_document_member(m, "k")));
        else
            promise(to, m);
    }
}

static void budget(kn_buffer *to, const kn_compliance *c)
{
    value *may = kn_document_find(c->certificate, "requested.suppression"), *rows = kn_document_member(may, "rows"),
          *o = kn_document_find(c->certificate, "options");
    if (rows)
        kn_buffer_format(to, " --suppression '%lld rows'", (long long)kn_document_integer_of(rows));
    else if (kn_document_number_of(may) > 0) {
        kn_buffer_add(to, " --suppression ");
        number(to, kn_document_number_of(may));
    }
    if (text_of(o, "suppressed") && !is(o, "suppressed", "star"))
        kn_buffer_format(to, " --suppressed %s", text_of(o, "suppressed"));
    if (is(o, "missing", "drop")) kn_buffer_add(to, " --missing drop");
    if (kn_document_member(o, "spreadsheet-safe")) kn_buffer_add(to, " --spreadsheet-safe");
}

/* A population that a release file does not name. */
static void population(kn_buffer *to, const kn_compliance *c)
{
    bool weighted = kn_compliance_columns(NULL, c, "weight") > 0;
    if (kn_compliance_promised(c, "delta-presence") || (kn_compliance_promised(c, "k-map") && !weighted))
        kn_buffer_add(to, " --population POPULATION");
}

/* Columns that name the person together stand in the private file with ", " between them. */
static void entity(kn_buffer *to, const kn_compliance *c)
{
    const char *columns = c->secret ? kn_document_text(c->secret, "options.entity") : NULL;
    kn_buffer   list, one;
    if (!columns) return;
    kn_buffer_init(&list, to->ctx);
    kn_buffer_init(&one, to->ctx);
    for (const char *end; columns; columns = end ? end + 2 : NULL) {
        end = strstr(columns, ", ");
        kn_buffer_clear(&one);
        kn_buffer_append(&one, columns, end ? (size_t)(end - columns) : strlen(columns));
        const char *name = kn_buffer_text(&one);
        if (name)
            item(&list, name);
        else
            list.failed = true;
    }
    kn_buffer_free(&one);
    option(to, "--entity", &list);
}

/* What was asked: by the release file, or in options. Promises and the budget are always written: a run may have asked for others
 * than its release file. */
static void request(kn_buffer *to, const kn_compliance *c, bool whole)
{
    bool spec = c->in->spec || !simple(c);
    if (spec) {
        kn_buffer_add(to, " --spec");
        if (c->owner && c->in->spec)
            word(to, c->in->spec);
        else
            kn_buffer_add(to, " RELEASE.yaml");
    } else {
        roles(to, c, "--qi", "quasi");
        roles(to, c, "--sensitive", "sensitive");
        if (whole) roles(to, c, "--keep", "keep");
        if (whole) roles(to, c, "--weight", "weight");
        roles(to, c, "--count", "count");
        if (whole) entity(to, c);
        reads(to, c);
        hierarchies(to, c);
    }
    if (!whole) return;
    promises(to, c);
    if (!spec) population(to, c);
    if (c->shape == KN_SHAPE_TABLE) budget(to, c);
}

/* ---- Commands ---- */

static void digest(kn_buffer *to, const kn_compliance *c)
{
    value *files = kn_document_find(c->certificate, "files");
    kn_buffer_add(to, "sha256sum");
    for (int64_t i = 0; i < kn_document_count(files); i++)
        release_with(to, c, text_of(kn_document_at(files, i), "name"), NULL);
    if (!files) release_with(to, c, NULL, NULL);
}

static void check(kn_buffer *to, const kn_compliance *c)
{
    value *columns = kn_document_find(c->certificate, "columns");
    kn_buffer_add(to, "tools/check_release.py");
    release(to, c);
    word(to, c->certificate_name ? shown(c, c->certificate_name) : "CERTIFICATE");
    for (int64_t i = 0; i < kn_document_count(columns); i++) {
        value    *column = kn_document_at(columns, i), *h = kn_document_member(column, "hierarchy");
        kn_buffer text;
        if (!kn_document_member(h, "file") && !kn_document_member(h, "taxonomy")) continue;
        kn_buffer_init(&text, to->ctx);
        kn_buffer_format(&text, "%s=HIERARCHY", text_of(column, "name"));
        option(to, "--hierarchy", &text);
    }
}

static void diagnose_original(kn_buffer *to, const kn_compliance *c)
{
    kn_buffer_add(to, "kanon diagnose");
    original(to, c);
    if (c->shape != KN_SHAPE_TABLE) {
        kn_buffer_add(to, " --spec");
        word(to, c->in->spec ? c->in->spec : "RELEASE.yaml");
        return;
    }
    roles(to, c, "--qi", "quasi");
    roles(to, c, "--count", "count");
    if (is(kn_document_find(c->certificate, "options"), "missing", "drop")) kn_buffer_add(to, " --missing drop");
    entity(to, c);
    reads(to, c);
}

static void given_risk(kn_buffer *to, const kn_compliance *c)
{
    if (c->risk_original)
        diagnose_original(to, c);
    else {
        kn_buffer_add(to, "kanon diagnose");
        release(to, c);
        roles(to, c, "--qi", "quasi");
        roles(to, c, "--count", "count");
    }
    kn_buffer_add(to, " --risk");
    if (kn_document_find(c->risk, "risk.journalist")) kn_buffer_add(to, " --population POPULATION");
    if (kn_document_find(c->risk, "risk.population_size")) kn_buffer_add(to, " --sampling SHARE");
    if (kn_document_find(c->risk, "risk.individual")) kn_buffer_add(to, " --weight COLUMN");
}

/* Its k is the attack's: it need not be that of the promise. */
static void attack(kn_buffer *to, const kn_compliance *c)
{
    int64_t k = 0;
    kn_buffer_add(to, "kanon attack");
    release(to, c);
    kn_buffer_add(to, " --external");
    word(to, c->owner && c->in->external ? c->in->external : "EXTERNAL");
    request(to, c, false);
    if (kn_document_integer(c->attack, "k", &k) && (c->shape != KN_SHAPE_RECORDS || k != c->asked))
        kn_buffer_format(to, " -k %lld", (long long)k);
    if (!c->in->spec && simple(c) && kn_document_find(c->attack, "before")) {
        kn_buffer_add(to, " --original");
        original(to, c);
    }
}

kn_status kn_compliance_command(kn_buffer *to, const kn_compliance *c, kn_command command, kn_error *err)
{
    kn_buffer raw;
    bool      map = false;
    kn_buffer_init(&raw, to->ctx);
    switch (command) {
    case KN_RUN_DIGEST: digest(&raw, c); break;
    case KN_RUN_CHECK: check(&raw, c); break;
    case KN_RUN_RISK:
        kn_buffer_add(&raw, "kanon diagnose");
        release(&raw, c);
        roles(&raw, c, "--qi", "quasi");
        roles(&raw, c, "--count", "count");
        kn_buffer_add(&raw, " --risk");
        break;
    case KN_RUN_VERIFY:
        kn_buffer_add(&raw, "kanon verify");
        original(&raw, c);
        release(&raw, c);
        request(&raw, c, true);
        if (c->secret && kn_document_boolean(c->secret, "rowmap", &map) && map) {
            kn_buffer_add(&raw, " --map");
            release_with(&raw, c, NULL, ".rowmap");
        }
        break;
    case KN_RUN_BEFORE: diagnose_original(&raw, c); break;
    case KN_RUN_ATTACK: attack(&raw, c); break;
    case KN_RUN_GIVEN_RISK: given_risk(&raw, c); break;
    case KN_RUN_NOTHING: break;
    }
    const char *text = kn_buffer_text(&raw);
    if (text && command != KN_RUN_NOTHING) {
        kn_buffer_add(to, "<code class=\"run\">");
        kn_html_text(to, text);
        kn_buffer_add(to, "</code>\n");
    }
    bool failed = !text || to->failed;
    kn_buffer_free(&raw);
    return failed ? kn_fail_memory(err, to->ctx, "writing a report") : KN_OK;
}
