/* requirement.c: reads privacy models as `--require` takes them: NAME:key=value,key=value (requirement.h). */
/* SPDX-License-Identifier: Apache-2.0 */
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

/* The parameters of each model, named as in a release file. */
static const struct {
    const char *model, *keys[5];
} taken[] = {{"k", {"k"}},
             {"l-diversity", {"attribute", "kind", "l", "c"}},
             {"t-closeness", {"attribute", "distance", "t"}},
             {"alpha-k", {"attribute", "alpha", "k"}},
             {"beta-likeness", {"attribute", "kind", "beta"}},
             {"delta-disclosure", {"attribute", "delta"}},
             {"k-map", {"k"}},
             {"delta-presence", {"min", "max"}},
             {"max-risk", {"risk"}},
             {"average-risk", {"risk"}}};
enum { TAKEN = sizeof taken / sizeof *taken };

/* The key's index among those that the model takes; -1 after reporting which they are. */
static int find_key(const reader *r, const char *model, const char *key)
{
    char keys[80] = "";
    for (int i = 0; i < TAKEN; i++) {
        if (!is(model, taken[i].model)) continue;
        for (int k = 0; taken[i].keys[k]; k++) {
            if (is(key, taken[i].keys[k])) return k;
            size_t used = strlen(keys);
            snprintf(keys + used, sizeof keys - used, "%s%s",
                     k == 0                 ? ""
                     : taken[i].keys[k + 1] ? ", "
                                            : " and ",
                     taken[i].keys[k]);
        }
        cli_usage(r->command, "--require '%s': %s takes %s", r->text, model, keys);
    }
    return -1;
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
    else if (is(key, "k")) {
        if (ratio.denominator != 1) return bad(r, "k is a whole number");
        m->k = (int64_t)ratio.numerator;
    } else if (is(key, "l"))
        m->l = ratio;
    else if (is(key, "c"))
        m->c = ratio;
    else if (is(key, "min"))
        m->low = ratio;
    else
        m->bound = ratio;
    return 0;
}

/* The model of that name; some are for releases only. */
static int find_model(reader *r, const char *name)
{
    if (kn_model_parse(name, r->variant, &r->model->kind) && (r->release || kn_model_diagnosed(r->model->kind)))
        return 0;
    char *names = cli_model_names(r->release);
    int   code = cli_usage(r->command, "--require '%s': not a privacy model; there are %s", r->text, names);
    free(names);
    return code;
}

/* Reads the parameters; each may be given once. */
static int read_parameters(reader *r, const char *model, char *rest)
{
    unsigned seen = 0;
    while (rest && *rest) {
        char *key = rest, *value = strchr(rest, '='), *next = strchr(rest, ',');
        if (!value || (next && next < value)) return bad(r, "write parameters like l=3,attribute=disease");
        *value++ = '\0';
        if (next) *next++ = '\0';
        int which = find_key(r, model, key);
        if (which < 0) return 2;
        if (seen >> which & 1) return bad(r, "a parameter stands there twice");
        seen |= 1u << which;
        int code = read_parameter(r, key, value);
        if (code) return code;
        rest = next;
    }
    return 0;
}

int cli_requirement_read(cli_requirement *out, const cli_command *command, const char *text, bool release)
{
    const kn_model plain = KN_MODEL_INIT;
    *out = (cli_requirement){cli_strndup(text, strlen(text)), plain};
    reader r = {command, text, release, NULL, &out->model};
    char  *rest = strchr(out->text, ':');
    if (!rest) return bad(&r, "write it like l-diversity:kind=distinct,l=3");
    *rest++ = '\0';
    int code = find_model(&r, out->text);
    if (code == 0) code = read_parameters(&r, out->text, rest);
    if (code == 0) code = find_model(&r, out->text);
    if (code) return code;
    if (out->model.c.numerator > 0 && out->model.kind != KN_MODEL_RECURSIVE)
        return bad(&r, "c goes with kind=recursive");
    return 0;
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
