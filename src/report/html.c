/* html.c: writing a page of HTML into a buffer (kn_html.h).
 *
 * The style sheet is below: light and dark by the reader's setting, paper in print, one column on a phone. Colours
 * have a contrast of at least 4.5 to 1 where text is involved; colour-blind readers can distinguish blue and orange,
 * which differ in lightness too. Cost: linear in what is written.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kn_html.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <utf8proc.h>

/* ---- Text ---- */

/* Characters that XML forbids, that end a line or that turn the direction of the text around. */
static bool is_unsafe(int32_t c)
{
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x061C || c == 0x200E || c == 0x200F ||
           (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF || (c & 0xFFFE) == 0xFFFE ||
           (c >= 0xFDD0 && c <= 0xFDEF);
}

/* One character of a text as it is written. */
typedef struct piece {
    char   text[16];
    size_t size;
    int    width;
} piece;

/* Escapes the character at `text` (not at its end) and returns how many bytes it took. */
static size_t escape_one(piece *out, const char *text)
{
    size_t           look = strnlen(text, 4);
    utf8proc_int32_t c;
    utf8proc_ssize_t n = utf8proc_iterate((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)look, &c);
    const char      *entity = NULL;
    if (n <= 0) {
        c = -1;
        n = 1;
    }
    if (c == '&') entity = "&amp;";
    if (c == '<') entity = "&lt;";
    if (c == '>') entity = "&gt;";
    if (c == '"') entity = "&quot;";
    if (c == '\'') entity = "&#39;";
    if (c == '\n') entity = "\\n";
    if (c == '\t') entity = "\\t";
    if (entity) {
        out->size = (size_t)snprintf(out->text, sizeof out->text, "%s", entity);
        out->width = c == '\n' || c == '\t' ? 2 : 1;
    } else if (c >= 0 && !is_unsafe(c)) {
        memcpy(out->text, text, (size_t)n);
        out->size = (size_t)n;
        out->width = c < 0x80 && strchr("MWm@%", c) ? 2 : utf8proc_charwidth(c); /* in letters of no fixed width */
    } else {
        if (c < 0x80)
            out->size = (size_t)snprintf(out->text, sizeof out->text, "\\x%02X", (unsigned)(unsigned char)text[0]);
        else if (c <= 0xFFFF)
            out->size = (size_t)snprintf(out->text, sizeof out->text, "\\u%04X", (unsigned)c);
        else
            out->size = (size_t)snprintf(out->text, sizeof out->text, "\\U%06X", (unsigned)c);
        out->width = (int)out->size;
    }
    return (size_t)n;
}

void kn_html_text(kn_buffer *to, const char *text)
{
    piece p;
    while (*text) {
        text += escape_one(&p, text);
        kn_buffer_append(to, p.text, p.size);
    }
}

int kn_html_width(const char *text)
{
    int   width = 0;
    piece p;
    while (*text) {
        text += escape_one(&p, text);
        width += p.width;
    }
    return width;
}

void kn_html_text_fit(kn_buffer *to, const char *text, int columns)
{
    if (kn_html_width(text) <= columns) {
        kn_html_text(to, text);
        return;
    }
    int   left = columns - 1;
    piece p;
    while (*text) {
        text += escape_one(&p, text);
        if (p.width > left) break;
        left -= p.width;
        kn_buffer_append(to, p.text, p.size);
    }
    kn_buffer_add(to, "…");
}

void kn_html_name(kn_buffer *to, const char *name)
{
    kn_buffer_add(to, "<bdi class=\"name\">");
    kn_html_text(to, name);
    kn_buffer_add(to, "</bdi>");
}

/* ---- Numbers ---- */

void kn_html_integer(kn_buffer *to, int64_t value)
{
    char     digits[24];
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    int      n = snprintf(digits, sizeof digits, "%llu", (unsigned long long)magnitude);
    if (value < 0) kn_buffer_char(to, '-');
    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0) kn_buffer_char(to, ',');
        kn_buffer_char(to, digits[i]);
    }
}

void kn_html_count(kn_buffer *to, int64_t value, const char *one, const char *many)
{
    kn_html_integer(to, value);
    kn_buffer_add(to, "\u00A0");
    kn_buffer_add(to, value == 1 ? one : many);
}

void kn_html_decimal(kn_buffer *to, double value, int digits)
{
    int64_t scale = 1;
    for (int i = 0; i < digits; i++) scale *= 10;
    double scaled = value * (double)scale;
    if (!(fabs(scaled) < 9e15)) scaled = 0;
    int64_t whole = llround(scaled);
    if (whole < 0) kn_buffer_char(to, '-');
    if (whole < 0) whole = -whole;
    kn_buffer_format(to, "%lld", (long long)(whole / scale));
    if (digits > 0) kn_buffer_format(to, ".%0*lld", digits, (long long)(whole % scale));
}

void kn_html_percent(kn_buffer *to, double share)
{
    double percent = 100 * share;
    if (share > 0 && percent < 0.01)
        kn_buffer_add(to, "&lt;\u00A00.01");
    else if (share < 1 && percent > 99.99)
        kn_buffer_add(to, "&gt;\u00A099.99");
    else if (share <= 0 || share >= 1)
        kn_html_decimal(to, percent, 0);
    else
        kn_html_decimal(to, percent, percent < 0.995 || percent > 99 ? 2 : 1);
    kn_buffer_add(to, "\u00A0%");
}

void kn_html_share(kn_buffer *to, int64_t part, int64_t whole)
{
    kn_html_percent(to, whole > 0 ? (double)part / (double)whole : 0);
}

/* ---- The page ---- */

/* The colours: safe (blue), risk (orange) and five steps between them; each fill with the ink to write on it. */
static const char light_colours[] =
    "--bg:#f3f5f8;--card:#ffffff;--ink:#18202b;--muted:#566070;--line:#dde2e9;--edge:#c9d0da;"
    "--safe:#1d68ad;--safe-soft:#e3eefa;--safe-ink:#123f6b;--risk:#bf4408;--risk-soft:#fdeee4;--risk-ink:#8a2f04;"
    "--note-soft:#eef1f5;"
    "--s0:#bf4408;--s0-ink:#ffffff;--s1:#f4b183;--s1-ink:#47200a;--s2:#f2ead9;--s2-ink:#3b3524;"
    "--s3:#b5d3ef;--s3-ink:#0f2e4d;--s4:#1d68ad;--s4-ink:#ffffff;";
static const char dark_colours[] =
    "--bg:#0f1319;--card:#181e27;--ink:#e7ebf1;--muted:#a5afbd;--line:#2e3743;--edge:#3d4856;"
    "--safe:#74b4f0;--safe-soft:#182f47;--safe-ink:#b9dbfb;--risk:#f7935c;--risk-soft:#3d2315;--risk-ink:#ffc5a1;"
    "--note-soft:#222a35;"
    "--s0:#f7935c;--s0-ink:#2a0f00;--s1:#8f4a22;--s1-ink:#ffffff;--s2:#4a4639;--s2-ink:#f4efe2;"
    "--s3:#2a5580;--s3-ink:#ffffff;--s4:#74b4f0;--s4-ink:#04192d;";

static const char layout[] =
    "*{box-sizing:border-box}"
    "html{-webkit-text-size-adjust:100%;text-size-adjust:100%}"
    "body{margin:0;background:var(--bg);color:var(--ink);"
    "font:16px/1.55 system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,'Noto Sans','Liberation "
    "Sans',sans-serif;"
    "font-variant-numeric:tabular-nums}"
    "main{max-width:1000px;margin:0 auto;padding:40px 20px 28px}"
    "h1{font-size:30px;line-height:1.2;letter-spacing:-.015em;margin:0 0 6px;overflow-wrap:anywhere}"
    "h2{font-size:20px;line-height:1.3;letter-spacing:-.01em;margin:0 0 8px}"
    "h3{font-size:15px;margin:22px 0 8px}"
    "p{margin:0 0 12px;max-width:72ch}"
    "p:last-child{margin-bottom:0}"
    "p.about{color:var(--muted);margin-bottom:22px!important;overflow-wrap:anywhere}"
    ".name{font-weight:600;overflow-wrap:anywhere}"
    "section,.verdict{background:var(--card);border:1px solid var(--line);border-radius:14px;padding:24px "
    "28px;margin:0 0 18px}"
    ".verdict{border-left:6px solid var(--muted);padding-left:24px}"
    ".verdict p{font-size:17px;max-width:66ch}"
    ".verdict "
    ".answer{font-size:23px;line-height:1.35;font-weight:650;letter-spacing:-.01em;margin-bottom:8px;max-width:48ch}"
    ".verdict.safe{border-left-color:var(--safe);background:var(--safe-soft)}"
    ".verdict.risk{border-left-color:var(--risk);background:var(--risk-soft)}"
    ".verdict.safe .answer{color:var(--safe-ink)}.verdict.risk .answer{color:var(--risk-ink)}";

static const char parts[] =
    ".tiles{display:grid;grid-template-columns:repeat(4,1fr);gap:14px;margin:0 0 18px;padding:0}"
    ".tile{background:var(--card);border:1px solid var(--line);border-radius:14px;padding:16px 18px;display:flex;"
    "flex-direction:column;justify-content:space-between;gap:2px}"
    ".tile dt{color:var(--muted);font-size:14px;line-height:1.4}"
    ".tile dd{margin:0;font-size:27px;font-weight:650;letter-spacing:-.02em;line-height:1.2;overflow-wrap:anywhere}"
    ".words{display:grid;grid-template-columns:max-content 1fr;gap:8px 22px;margin:0}"
    ".words dt{font-weight:650}.words dd{margin:0;max-width:66ch;color:var(--ink)}"
    "figure{margin:18px 0 "
    "0}figcaption{color:var(--muted);font-size:14px;line-height:1.5;margin-top:12px;max-width:76ch}"
    ".scroll{overflow-x:auto;-webkit-overflow-scrolling:touch}"
    "svg{display:block;width:100%;height:auto;overflow:visible}"
    "svg text{fill:var(--ink);font-size:13px}"
    "svg .m{fill:var(--muted)}svg .b{font-weight:650}svg .s{font-size:11.5px}"
    "svg .halo{paint-order:stroke;stroke:var(--card);stroke-width:5px;stroke-linejoin:round}"
    "svg .grid{stroke:var(--line);stroke-width:1}svg .axis{stroke:var(--edge);stroke-width:1.2}"
    "svg .track{fill:var(--note-soft)}svg .bar{fill:var(--safe)}svg .bad{fill:var(--risk)}"
    "svg .curve{fill:none;stroke:var(--safe);stroke-width:2.4;stroke-linejoin:round}svg "
    ".area{fill:var(--safe);opacity:.11}"
    "svg .ask{stroke:var(--risk);stroke-width:1.5;stroke-dasharray:5 4}svg .allow{stroke:var(--muted);stroke-width:1.5;"
    "stroke-dasharray:2 4}svg .dot{fill:var(--risk);stroke:var(--card);stroke-width:2}svg .dot.ok{fill:var(--safe)}"
    "svg .asktext{fill:var(--risk)}"
    "svg .e{stroke:var(--edge);stroke-width:1;opacity:.75}"
    "svg .n rect{stroke:transparent;stroke-width:3}svg .n text{text-anchor:middle;unicode-bidi:isolate}"
    "svg .small text{font-size:11.5px}svg .border rect{stroke:var(--ink)}"
    "svg .u rect{fill:var(--card);stroke:var(--edge);stroke-width:1.5;stroke-dasharray:4 3}"
    ".narrow{display:none;max-width:480px}";

static const char lists[] =
    ".f0{fill:var(--s0)}.f1{fill:var(--s1)}.f2{fill:var(--s2)}.f3{fill:var(--s3)}.f4{fill:var(--s4)}.fu{fill:var(--"
    "note-soft)}"
    "svg .i0{fill:var(--s0-ink)}svg .i1{fill:var(--s1-ink)}svg .i2{fill:var(--s2-ink)}svg .i3{fill:var(--s3-ink)}"
    "svg .i4{fill:var(--s4-ink)}"
    ".key{display:flex;flex-wrap:wrap;gap:6px 20px;list-style:none;margin:14px 0 0;padding:0;font-size:14px}"
    ".key li{display:flex;align-items:center;gap:8px;min-width:0}.key svg{width:16px;height:16px;flex:none}"
    ".key.narrow{display:none;max-width:none}.key b{display:inline-block;min-width:1.1em}"
    ".sets{display:flex;flex-wrap:wrap;gap:8px;list-style:none;margin:0;padding:0}"
    ".sets li{border:1px solid var(--line);border-radius:999px;padding:3px 13px;font-size:14px;max-width:100%;"
    "background:var(--note-soft)}"
    ".sets .name{font-weight:500}.sets i{font-style:normal;color:var(--muted);padding:0 5px}"
    ".sets.risk li{background:var(--risk-soft);border-color:var(--risk)}.sets.safe li{background:var(--safe-soft);"
    "border-color:var(--safe)}"
    ".sets .more{border-style:dashed;color:var(--muted);background:none!important}"
    "table{border-collapse:collapse;font-size:15px;margin:12px 0 0;min-width:min(100%,420px)}"
    "th,td{padding:7px 22px 7px 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--line)}"
    "th{font-size:13px;font-weight:600;color:var(--muted);vertical-align:bottom}"
    "td:last-child,th:last-child{padding-right:0}"
    "tr:last-child td{border-bottom:0}"
    "ul:not([class]){margin:0 0 12px;padding-left:1.4em}ul:last-child{margin-bottom:0!important}ul:not([class]) "
    "li+li{margin-top:6px}"
    ".r{text-align:right}td.r{white-space:nowrap}"
    "td.w{color:var(--muted);max-width:56ch;min-width:17ch}"
    "details{margin-top:16px}summary{cursor:pointer;color:var(--muted);font-size:14px}"
    ".run{display:block;font:13px/1.5 ui-monospace,'DejaVu Sans "
    "Mono',Menlo,Consolas,monospace;background:var(--note-soft);"
    "border-radius:8px;padding:8px 12px;margin:8px 0 0;white-space:pre-wrap;overflow-wrap:anywhere}"
    "a{color:var(--safe)}td .name{overflow-wrap:break-word}td>.name:only-child{display:inline-block;max-width:30ch}td "
    "small "
    ".name{display:inline;font-weight:500;overflow-wrap:anywhere}.scroll+p{margin-top:12px}"
    "b.open{display:inline-block;font-size:12px;line-height:1.6;letter-spacing:.03em;border:1.5px solid "
    "var(--risk);color:var(--risk-ink);"
    "background:var(--risk-soft);border-radius:6px;padding:0 7px;margin-right:6px}"
    ".verdict b.open{margin-right:0}td small{display:block;color:var(--muted);font-size:13.5px;max-width:68ch}"
    ".state{font-weight:600}.judge{border:1.5px dashed var(--edge);border-radius:10px;padding:12px 16px;margin:12px "
    "0;break-inside:avoid}"
    ".judge .blank{color:var(--muted);font-size:13px;min-height:76px;margin-top:10px;border-top:1px solid "
    "var(--line);padding-top:6px;"
    "max-width:none}"
    "footer{color:var(--muted);font-size:13px;margin:22px 4px 0}footer p{max-width:none}";

/* On a phone the words of a row, its last column (n2 to n4: that many stand before them), are below its figures instead of
 * beside them. */
static const char phone[] =
    "@media screen and (max-width:680px){"
    "main{padding:22px 12px 20px}h1{font-size:25px}section,.verdict{padding:18px 16px}.verdict{padding-left:14px}"
    ".verdict .answer{font-size:20px}.tiles{grid-template-columns:1fr 1fr;gap:10px}.tile{padding:12px 14px}"
    ".tile dd{font-size:22px}.words{grid-template-columns:1fr;gap:2px}.words dd{margin-bottom:10px}"
    ".wide{display:none}.narrow{display:block}.key.narrow{display:flex}svg.keep{min-width:740px}th,td{padding-right:"
    "14px}"
    ".n2,.n3,.n4{display:grid;min-width:0;grid-template-columns:minmax(0,1fr) auto}"
    ".n3{grid-template-columns:minmax(0,1fr) repeat(2,auto)}.n4{font-size:14px;grid-template-columns:minmax(6.6em,1fr) "
    "repeat(3,auto)}"
    ":is(.n2,.n3,.n4) :is(thead,tbody,tr){display:contents}:is(.n2,.n3,.n4) th:last-child{display:none}"
    ":is(.n2,.n3,.n4) td:not(.w){border-bottom:0;padding-bottom:2px}:is(.n2,.n3,.n4) .name{display:inline}"
    ":is(.n2,.n3,.n4) td.w{grid-column:1/-1;padding-top:0;min-width:0;max-width:none;overflow-wrap:anywhere}"
    ":is(.n2,.n3,.n4) :is(td,th):nth-last-child(2){padding-right:0}}";

/* Paper: smaller letters, whole cards where they fit on a page, and a card that does not fit is closed at each end. */
static const char paper[] =
    "@media print{"
    "@page{margin:16mm}body{background:#fff;font-size:10pt;line-height:1.45}main{max-width:none;padding:0}"
    "h1{font-size:18pt}h2{font-size:12.5pt}h3{font-size:10pt}table,.verdict p{font-size:9.5pt}.verdict "
    ".answer{font-size:13.5pt}"
    "th,td small,.tile dt,.key,figcaption,footer,.sets li{font-size:8.5pt}.tile dd{font-size:15pt}.run{font-size:8pt}"
    "th,td{padding-top:3px;padding-bottom:3px}section,.verdict{padding:12px 18px;margin-bottom:12px;"
    "-webkit-box-decoration-break:clone;box-decoration-break:clone}.tile{padding:8px 12px}.tiles{margin-bottom:12px}"
    "h3{margin-top:14px}figure{margin-top:12px}.judge .blank{min-height:64px}"
    "*{-webkit-print-color-adjust:exact;print-color-adjust:exact}"
    "section,.verdict,.tile,figure,tr{break-inside:avoid}section:has(figure~figure),section:has(.judge),section:has(."
    "run){break-inside:auto}details:not(["
    "open]"
    "){display:none}h2,h3,h2+p,h3+p,.run,p:has(+.run),p:has(+.scroll){break-after:avoid}.scroll{overflow:visible}"
    ".tiles{grid-template-columns:repeat(4,1fr)}"
    ":root{color-scheme:light}}";

void kn_html_begin(kn_buffer *to, const char *title)
{
    kn_buffer_add(to, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
                      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
                      "'unsafe-inline'\"/>\n"
                      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
                      "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
                      "<meta name=\"referrer\" content=\"no-referrer\"/>\n<title>");
    kn_html_text(to, title);
    /* Paper is light whatever the reader's screen is: the dark colours are for screens only. */
    kn_buffer_format(to,
                     "</title>\n<style>\n:root{%s}\n@media screen and (prefers-color-scheme:dark){:root{%s}}\n%s\n%s\n"
                     "%s\n%s\n%s\n</style>\n</head>\n<body>\n<main>\n",
                     light_colours, dark_colours, layout, parts, lists, phone, paper);
}

void kn_html_end(kn_buffer *to)
{
    kn_buffer_add(to, "</main>\n</body>\n</html>\n");
}

void kn_html_section(kn_buffer *to, const char *title)
{
    kn_buffer_add(to, "<section>\n<h2>");
    kn_html_text(to, title);
    kn_buffer_add(to, "</h2>\n");
}

void kn_html_section_end(kn_buffer *to)
{
    kn_buffer_add(to, "</section>\n");
}

/* ---- Tables ---- */

static void close_row(kn_html_table *table)
{
    if (!table->in_row) return;
    if (table->column >= 0) kn_buffer_add(table->to, "</td>");
    kn_buffer_add(table->to, "</tr>\n");
    table->in_row = false;
    table->column = -1;
}

void kn_html_table_begin(kn_html_table *table, kn_buffer *to, const char *aligns, const char *const *titles)
{
    *table = (kn_html_table){to, aligns, false, -1};
    size_t columns = strlen(aligns);
    if (aligns[columns - 1] == 'w')
        kn_buffer_format(to, "<div class=\"scroll\"><table class=\"n%zu\">\n<thead><tr>", columns - 1);
    else
        kn_buffer_add(to, "<div class=\"scroll\"><table>\n<thead><tr>");
    for (int i = 0; aligns[i]; i++) {
        kn_buffer_add(to, aligns[i] == 'r' ? "<th scope=\"col\" class=\"r\">" : "<th scope=\"col\">");
        kn_html_text(to, titles[i]);
        kn_buffer_add(to, "</th>");
    }
    kn_buffer_add(to, "</tr></thead>\n<tbody>\n");
}

void kn_html_table_row(kn_html_table *table)
{
    close_row(table);
    kn_buffer_add(table->to, "<tr>");
    table->in_row = true;
}

void kn_html_table_cell(kn_html_table *table)
{
    static const char *const open[] = {"<td>", "<td class=\"r\">", "<td class=\"w\">"};
    if (table->column >= 0) kn_buffer_add(table->to, "</td>");
    char align = table->aligns[++table->column];
    kn_buffer_add(table->to, open[align == 'r' ? 1 : align == 'w' ? 2 : 0]);
}

void kn_html_table_end(kn_html_table *table)
{
    close_row(table);
    kn_buffer_add(table->to, "</tbody></table></div>\n");
}

void kn_html_notes(kn_buffer *to, const char *const *notes, int count)
{
    if (count == 0) return;
    kn_html_section(to, "What you should know");
    kn_buffer_add(to, "<ul>\n");
    for (int i = 0; i < count; i++) {
        kn_buffer_add(to, "<li>");
        kn_html_text(to, notes[i]);
        kn_buffer_add(to, "</li>\n");
    }
    kn_buffer_add(to, "</ul>\n");
    kn_html_section_end(to);
}
