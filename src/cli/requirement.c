/* requirement.c: reads privacy models as `--require` takes them: NAME:key=value,key=value (requirement.h). */
#include "requirement.h"

#include <kanon/catalogue.h>
#include <stdlib.h>
#include <string.h>

#include "lists.h"

typedef struct reader {
    const cli_command *command;
    const char        *text;
    bool               release;
    const char        *variant;
    kn_model          *model;
} reader;

static int bad(const reader *r, const char *why)
{
    return cli_usage(r->command, "--require '%s': %s", r->text, why);
}

static bool is(const char *key, const char *name)
{
    return strcmp(key, name) == 0;
}

static int read_parameter(reader *r, const char *key, const char *value)
{
    kn_ratio  ratio = {0, 1};
    bool      number = kn_ratio_parse(value, &ratio);
    kn_model *m = r->model;
    if (is(key, "attribute"))
        m->attribute = value;
    else if (is(key, "kind") || is(key, "distance"))
        r->variant = value;
    else if (!number)
        return bad(r, "a number was expected");
    else if (is(key, "k") && ratio.denominator == 1)
        m->k = (int64_t)ratio.numerator;
    else if (is(key, "l"))
        m->l = ratio;
    else if (is(key, "c"))
        m->c = ratio;
    else if (is(key, "t") || is(key, "alpha") || is(key, "beta") || is(key, "delta"))
        m->bound = ratio;
    else if (r->release && (is(key, "risk") || is(key, "max")))
        m->bound = ratio;
    else if (r->release && is(key, "min"))
        m->low = ratio;
    else
        return bad(r,
                   r->release
                       ? "known keys are attribute, kind, distance, k, l, c, t, alpha, beta, delta, min, max and risk"
                       : "known keys are attribute, kind, distance, k, l, c, t, alpha, beta and delta");
    return 0;
}

/* The model of that name; some are of releases alone. */
static int find_model(reader *r, const char *name)
{
    if (kn_model_parse(name, r->variant, &r->model->kind) && (r->release || kn_model_diagnosed(r->model->kind)))
        return 0;
    char *names = cli_model_names(r->release);
    int   code = cli_usage(r->command, "--require '%s': not a privacy model; there are %s", r->text, names);
    free(names);
    return code;
}

int cli_requirement_read(cli_requirement *out, const cli_command *command, const char *text, bool release)
{
    const kn_model plain = KN_MODEL_INIT;
    *out = (cli_requirement){cli_strndup(text, strlen(text)), plain};
    reader r = {command, text, release, NULL, &out->model};
    char  *rest = strchr(out->text, ':');
    if (!rest) return bad(&r, "write it like l-diversity:kind=distinct,l=3");
    *rest++ = '\0';
    while (rest && *rest) {
        char *key = rest, *value = strchr(rest, '='), *next = strchr(rest, ',');
        if (!value || (next && next < value)) return bad(&r, "write parameters like l=3,attribute=disease");
        *value++ = '\0';
        if (next) *next++ = '\0';
        int code = read_parameter(&r, key, value);
        if (code) return code;
        rest = next;
    }
    return find_model(&r, out->text);
}

void cli_requirement_free(cli_requirement *requirement)
{
    free(requirement->text);
    requirement->text = NULL;
}

bool cli_requirement_of_column(kn_model_kind kind)
{
    return kind != KN_MODEL_K && kind < KN_MODEL_K_MAP;
}
