/* release_files.c: which files of a release may be published and which are the owner's, in words and as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "anonymize.h"
#include "cli.h"

enum { MOST = 6 };

/* Paths, each to be freed. */
typedef struct list {
    char *paths[MOST];
    int   count;
} list;

static void add(list *l, const char *base, const char *ending)
{
    l->paths[l->count++] = cli_beside(base, ending);
}

static list public_files(const kn_spec *spec, const char *release, const char *base)
{
    list l = {.count = 0};
    add(&l, release ? release : base, release ? "" : "/");
    add(&l, base, release ? ".certificate.json" : "/certificate.json");
    if (spec->summary) add(&l, base, ".summary.csv");
    if (spec->public_report) add(&l, spec->public_report, "");
    return l;
}

static list private_files(const kn_spec *spec, const char *base)
{
    list l = {.count = 0};
    add(&l, base, ".private.json");
    if (spec->keep_rowmap) add(&l, base, ".rowmap");
    if (spec->report) add(&l, spec->report, "");
    return l;
}

static void end(list *l)
{
    for (int i = 0; i < l->count; i++) free(l->paths[i]);
}

static void print(const list *l, const char *title, FILE *out)
{
    for (int i = 0; i < l->count; i++) {
        char *path = cli_escape(l->paths[i], strlen(l->paths[i]));
        fprintf(out, "  %-12s  %s\n", i == 0 ? title : "", path);
        free(path);
    }
}

void cli_print_files(const kn_spec *spec, const char *release, const char *base, FILE *out)
{
    list shown = public_files(spec, release, base), kept = private_files(spec, base);
    fputc('\n', out);
    print(&shown, "publish", out);
    print(&kept, "keep private", out);
    end(&shown);
    end(&kept);
}

static json_t *texts(const list *l)
{
    return cli_texts_json((const char *const *)l->paths, l->count);
}

void cli_set_files(json_t *o, const kn_spec *spec, const char *release, const char *base)
{
    list shown = public_files(spec, release, base), kept = private_files(spec, base);
    cli_json_set(o, "publish", texts(&shown));
    cli_json_set(o, "keep_private", texts(&kept));
    end(&shown);
    end(&kept);
}
