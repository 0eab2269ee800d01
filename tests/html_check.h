/* html_check.h: what must hold for every page of HTML that kanon writes: a checker of well-formed XML, and nothing that runs
 * or asks for anything.
 *
 * Elements balanced, attributes quoted and not repeated, the five entities and decimal references only, no control
 * characters, no comments, CDATA or processing instructions: all that a page of ours may hold.
 * SPDX-License-Identifier: Apache-2.0 */

#ifndef HTML_CHECK_H
#define HTML_CHECK_H

#include <stdbool.h>
#include <string.h>

#include "testing.h"

typedef struct checker {
    const char *p;
    char        open[64][24];
    int         depth;
    const char *problem;
} checker;

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == ':';
}

static bool bad(checker *c, const char *problem)
{
    c->problem = problem;
    return false;
}

static bool check_character(checker *c)
{
    static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    unsigned char            byte = (unsigned char)*c->p;
    if (byte == 0) return bad(c, "it ends too early");
    if ((byte < 0x20 && byte != '\n') || byte == 0x7F) return bad(c, "a control character");
    if (byte == '<') return bad(c, "a bare <");
    if (byte != '&') {
        c->p++;
        return true;
    }
    for (int i = 0; i < 5; i++) {
        if (strncmp(c->p, entities[i], strlen(entities[i])) != 0) continue;
        c->p += strlen(entities[i]);
        return true;
    }
    return bad(c, "a bare &");
}

static bool check_attributes(checker *c)
{
    char seen[20][24];
    int  count = 0;
    while (*c->p == ' ') {
        c->p++;
        const char *name = c->p;
        while (is_name(*c->p)) c->p++;
        size_t size = (size_t)(c->p - name);
        if (size == 0 || size >= sizeof seen[0] || count == 20) return bad(c, "an attribute without a name");
        if (c->p[0] != '=' || c->p[1] != '"') return bad(c, "an attribute without a quoted value");
        memcpy(seen[count], name, size);
        seen[count][size] = '\0';
        for (int i = 0; i < count; i++)
            if (strcmp(seen[i], seen[count]) == 0) return bad(c, "an attribute twice");
        count++;
        for (c->p += 2; *c->p != '"';)
            if (!check_character(c)) return false;
        c->p++;
    }
    return true;
}

static bool check_tag(checker *c)
{
    bool        closing = c->p[1] == '/';
    const char *name = c->p + 1 + closing;
    size_t      size = 0;
    while (is_name(name[size])) size++;
    if (size == 0 || size >= sizeof c->open[0]) return bad(c, "a tag without a name");
    c->p = name + size;
    if (closing) {
        if (c->depth == 0 || strlen(c->open[c->depth - 1]) != size || memcmp(c->open[c->depth - 1], name, size) != 0)
            return bad(c, "a tag closed that is not open");
        c->depth--;
    } else {
        if (!check_attributes(c)) return false;
        bool empty = *c->p == '/';
        c->p += empty;
        if (!empty) {
            if (c->depth == 64) return bad(c, "nested too deep");
            memcpy(c->open[c->depth], name, size);
            c->open[c->depth++][size] = '\0';
        }
    }
    if (*c->p != '>') return bad(c, "a tag that does not end");
    c->p++;
    return true;
}

static const char *not_well_formed(const char *page, const char **where)
{
    static const char doctype[] = "<!DOCTYPE html>\n";
    checker           c = {.p = page};
    if (strncmp(page, doctype, sizeof doctype - 1) != 0) return "no doctype";
    c.p += sizeof doctype - 1;
    while (!c.problem && *c.p) {
        if (*c.p == '<')
            check_tag(&c);
        else
            check_character(&c);
    }
    *where = c.p;
    return c.problem ? c.problem : c.depth > 0 ? "a tag left open" : NULL;
}

/* Fails the test unless the page is well-formed, runs nothing and loads nothing. */
static void check_page(const char *page)
{
    static const char *const never[] = {
        "<script", "javascript:", "url(", " src=", "@import", "onload=\"", "inf\""};
    const char *where = NULL, *problem = not_well_formed(page, &where);
    if (problem) fail_msg("not well-formed: %s at: %.60s", problem, where);
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        if (strstr(page, never[i])) fail_msg("the page holds %s", never[i]);
    for (const char *p = page; (p = strstr(p, "nan")); p++)
        if (!is_name(p[-1]) || !is_name(p[3])) fail_msg("the page holds nan: %.40s", p); /* a word may hold it: governance */
    for (const char *p = page; (p = strstr(p, " href=")); p++)
        if (strncmp(p, " href=\"#", 8) != 0) fail_msg("the page leads elsewhere: %.60s", p);
    /* The only address is the name of the SVG language. */
    for (const char *p = page; (p = strstr(p, "http")); p++) {
        bool policy = strncmp(p, "http-equiv", 10) == 0;
        assert_true(policy || strncmp(p, "http://www.w3.org/2000/svg", 26) == 0);
    }
}

static int occurrences(const char *text, const char *part)
{
    int n = 0;
    for (; (text = strstr(text, part)); text++) n++;
    return n;
}

static void must_hold(const char *page, const char *part)
{
    if (!strstr(page, part)) fail_msg("the page lacks: %s", part);
}

#endif
