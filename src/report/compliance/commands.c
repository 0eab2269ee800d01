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

/* The release by its certificate: FILE.certificate.json, or certificate.json in its folder. */
static void release_with(kn_buffer *to, const kn_compliance *c, const char *file, const char *suffix)
{
    static const char ending[] = ".certificate.json", inside[] = "certificate.json";
    const char       *path = c->certificate_name ? c->certificate_name : "";
    kn_buffer         text;
    kn_buffer_init(&text, to->ctx);
    if (ends_with(path, ending)) {
        path = shown(c, path);
        kn_buffer_append(&text, path, strlen(path) - strlen(ending));
    } else if (strcmp(path, inside) == 0 || ends_with(path, "/certificate.json")) {
        size_t end = strlen(path) - strlen(inside), from = 0;
        while (!c->owner && end > 1 && from + 1 < end && memchr(path + from, '/', end - from - 1))
            from = (size_t)((const char *)memchr(path + from, '/', end - from - 1) - path) + 1;
        if (end == 0)
            kn_buffer_add(&text, "./");
        else
            kn_buffer_append(&text, path + from, end - from);
    } else
        kn_buffer_add(&text, file ? "RELEASE/" : "RELEASE");
    if (file) kn_buffer_add(&text, file);
    if (suffix && text.size > 1 && text.data[text.size - 1] == '/') text.size--;
    if (suffix) kn_buffer_add(&text, suffix);
    const char *whole = kn_buffer_text(&text);
    if (whole)
        word(to, whole);
    else
        to->failed = true;
    kn_buffer_free(&text);
}

static void release(kn_buffer *to, const kn_compliance *c)
{
    release_with(to, c, NULL, NULL);
}

static void original(kn_buffer *to, const kn_compliance *c)
{
    value *inputs = c->secret ? kn_document_find(c->secret, "inputs") : NULL;
    for (int64_t i = 0; i < kn_document_count(inputs); i++) {
        const char *path = kn_document_text_of(kn_document_member(kn_document_at(inputs, i), "path"));
        word(to, path ? path : "ORIGINAL");
    }
    if (kn_document_count(inputs) == 0) kn_buffer_add(to, " ORIGINAL");
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
    if (kn_document_kind_of(h) == KN_DOCUMENT_NULL) return true;
    if (kn_document_member(h, "suppress") || kn_document_member(h, "calendar")) return true;
    if (kn_document_member(h, "ranges")) return is(h, "origin", "0");
    return kn_document_member(h, "mask") && is(h, "character", "*") &&
           kn_document_integer_of(kn_document_member(h, "step")) == 1 &&
           !kn_document_boolean_of(kn_document_member(h, "pad"));
}

/* Do the certificate's words say all that options need? */
static bool simple(const kn_compliance *c)
{
    value *columns = kn_document_find(c->certificate, "columns"), *o = kn_document_find(c->certificate, "options");
    if (c->shape != KN_SHAPE_TABLE || c->entity || kn_document_find(c->certificate, "dependencies")) return false;
    if (kn_document_member(o, "missing-text") || kn_document_member(o, "decimal")) return false;
    for (int64_t i = 0; i < kn_document_count(columns); i++) {
        value *column = kn_document_at(columns, i);
        if (!is(column, "role", "quasi") && !is(column, "role", "sensitive") && !is(column, "role", "keep"))
            return false;
        if (kn_document_member(column, "type") || !simple_hierarchy(kn_document_member(column, "hierarchy")))
            return false;
        if (strchr(text_of(column, "name"), ':')) return false;
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

static void hierarchy(kn_buffer *to, value *column)
{
    value      *h = kn_document_member(column, "hierarchy"), *list;
    const char *kind = NULL;
    kn_buffer   text;
    if (kn_document_kind_of(h) == KN_DOCUMENT_NULL) return;
    kn_buffer_init(&text, to->ctx);
    kn_buffer_format(&text, "%s:", text_of(column, "name"));
    if (kn_document_member(h, "mask"))
        kn_buffer_format(&text, "mask=%s", text_of(h, "mask"));
    else if (kn_document_member(h, "suppress"))
        kn_buffer_add(&text, "suppress");
    else
        kind = kn_document_member(h, "ranges") ? "ranges" : "calendar";
    if (kind) kn_buffer_format(&text, "%s=", kind);
    list = kind ? kn_document_member(h, kind) : NULL;
    for (int64_t i = 0; i < kn_document_count(list); i++)
        kn_buffer_format(&text, i > 0 ? ",%s" : "%s", kn_document_text_of(kn_document_at(list, i)));
    option(to, "--hierarchy", &text);
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

/* What was asked: by the release file, or in options. Promises are always written: a run may have asked for others than its
 * release file. */
static void request(kn_buffer *to, const kn_compliance *c, bool whole)
{
    if (c->in->spec || !simple(c)) {
        kn_buffer_add(to, " --spec");
        if (c->owner && c->in->spec)
            word(to, c->in->spec);
        else
            kn_buffer_add(to, " RELEASE.yaml");
        if (whole)
            promises(to, c);
        else if (c->asked > 0 && c->shape != KN_SHAPE_RECORDS)
            kn_buffer_format(to, " -k %lld", (long long)c->asked);
        return;
    }
    roles(to, c, "--qi", "quasi");
    roles(to, c, "--sensitive", "sensitive");
    if (whole) roles(to, c, "--keep", "keep");
    hierarchies(to, c);
    if (whole) {
        promises(to, c);
        budget(to, c);
    } else if (c->asked > 0)
        kn_buffer_format(to, " -k %lld", (long long)c->asked);
}

/* ---- Commands ---- */

static void digest(kn_buffer *to, const kn_compliance *c)
{
    value *files = kn_document_find(c->certificate, "files");
    kn_buffer_add(to, "sha256sum");
    for (int64_t i = 0; i < kn_document_count(files); i++)
        release_with(to, c, text_of(kn_document_at(files, i), "name"), NULL);
    if (!files) release(to, c);
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

static void count_of(kn_buffer *to, const kn_compliance *c)
{
    roles(to, c, "--count", "count");
}

static void diagnose_original(kn_buffer *to, const kn_compliance *c)
{
    const char *entity = kn_document_text(c->secret, "options.entity");
    kn_buffer_add(to, "kanon diagnose");
    original(to, c);
    if (c->shape != KN_SHAPE_TABLE) {
        kn_buffer_add(to, " --spec");
        word(to, c->in->spec ? c->in->spec : "RELEASE.yaml");
        return;
    }
    roles(to, c, "--qi", "quasi");
    count_of(to, c);
    if (is(kn_document_find(c->certificate, "options"), "missing", "drop")) kn_buffer_add(to, " --missing drop");
    if (entity) {
        kn_buffer_add(to, " --entity");
        word(to, entity);
    }
}

static void given_risk(kn_buffer *to, const kn_compliance *c)
{
    if (c->risk_original)
        diagnose_original(to, c);
    else {
        kn_buffer_add(to, "kanon diagnose");
        release(to, c);
        roles(to, c, "--qi", "quasi");
        count_of(to, c);
    }
    kn_buffer_add(to, " --risk");
    if (kn_document_find(c->risk, "risk.journalist")) kn_buffer_add(to, " --population POPULATION");
    if (kn_document_find(c->risk, "risk.population_size")) kn_buffer_add(to, " --sampling SHARE");
    if (kn_document_find(c->risk, "risk.individual")) kn_buffer_add(to, " --weight COLUMN");
}

static void attack(kn_buffer *to, const kn_compliance *c)
{
    kn_buffer_add(to, "kanon attack");
    release(to, c);
    kn_buffer_add(to, " --external");
    word(to, c->owner && c->in->external ? c->in->external : "EXTERNAL");
    request(to, c, false);
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
        count_of(&raw, c);
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
    }
    const char *text = kn_buffer_text(&raw);
    if (text) {
        kn_buffer_add(to, "<code class=\"run\">");
        kn_html_text(to, text);
        kn_buffer_add(to, "</code>\n");
    }
    bool failed = !text || to->failed;
    kn_buffer_free(&raw);
    return failed ? kn_fail_memory(err, to->ctx, "writing a report") : KN_OK;
}
