/* test_spec.c: release files: every field, every mistake with its place, YAML and JSON alike, random files in many styles
 * read back, files cut short at every byte, memory that runs out.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kn_spec.h"
#include "testing.h"

#include <inttypes.h>
#include <kanon/spec.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_buffer.h"
#include "kn_rng.h"

static kn_context *ctx;
static const char *file_path;         /* the one release file, written anew for each reading */
static char        file_folder[4096]; /* with its slash                                      */

static int set_up(void **state)
{
    (void)state;
    ctx = testing_context(1);
    file_path = testing_file("release.yaml", "", 0);
    snprintf(file_folder, sizeof file_folder, "%.*s", (int)(strrchr(file_path, '/') - file_path) + 1, file_path);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    testing_context_free(ctx);
    return 0;
}

static void write_file(const char *text, size_t size)
{
    FILE *f = fopen(file_path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

static kn_status read_bytes(kn_spec **out, const char *text, size_t size, kn_error *err)
{
    write_file(text, size);
    return kn_spec_read(out, ctx, file_path, err);
}

static kn_spec *read_good(const char *text)
{
    kn_spec *spec = NULL;
    kn_error err = KN_ERROR_INIT;
    assert_ok(read_bytes(&spec, text, strlen(text), &err), err);
    return spec;
}

/* ---- A spec as text, for comparing ---- */

static void dump_text(kn_buffer *out, const char *name, const char *text)
{
    if (text) kn_buffer_format(out, "%s=%s\n", name, text);
}

static void dump_hierarchy(kn_buffer *out, const kn_hierarchy_spec *h)
{
    static const char *const kinds[] = {"file",   "taxonomy", "mask",   "ranges",
                                        "breaks", "calendar", "prefix", "suppress"};
    kn_buffer_format(out, " %s decimal=%c", kinds[h->kind], h->decimal);
    if (h->path) kn_buffer_format(out, " path=%s", h->path);
    if (h->delimiter) kn_buffer_format(out, " delimiter=%c", h->delimiter);
    if (h->kind == KN_HIERARCHY_MASK)
        kn_buffer_format(out, " %s step=%d pad=%d character=%s", h->mask_left ? "left" : "right", h->mask_step,
                         h->mask_pad, h->mask ? h->mask : "(usual)");
    for (int i = 0; i < h->width_count; i++) kn_buffer_format(out, " width=%s", h->widths[i]);
    if (h->origin) kn_buffer_format(out, " origin=%s", h->origin);
    for (int i = 0; i < h->break_count; i++) {
        kn_buffer_add(out, " level");
        for (int j = 0; j < h->breaks[i].count; j++) kn_buffer_format(out, " %s", h->breaks[i].points[j]);
    }
    if (h->kind == KN_HIERARCHY_CALENDAR) kn_buffer_format(out, " steps=%u", h->calendar);
    if (h->separator) kn_buffer_format(out, " separator=%s", h->separator);
}

static void dump_ratio(kn_buffer *out, const char *name, kn_ratio r)
{
    kn_buffer_format(out, " %s=%" PRIu64 "/%" PRIu64, name, r.numerator, r.denominator);
}

static void dump_attribute(kn_buffer *out, const kn_attribute *a)
{
    kn_buffer_format(out, "attribute=%s role=%s type=%s", a->name, a->has_role ? kn_role_name(a->role) : "(none)",
                     kn_type_name(a->type));
    if (a->format) kn_buffer_format(out, " format=%s", a->format);
    if (a->has_hierarchy) dump_hierarchy(out, &a->hierarchy);
    dump_ratio(out, "weight", a->weight);
    if (a->pseudonym_key_file) kn_buffer_format(out, " key=%s", a->pseudonym_key_file);
    kn_buffer_char(out, '\n');
}

static void dump_model(kn_buffer *out, const kn_model *m)
{
    const char *variant = kn_model_variant(m->kind);
    kn_buffer_format(out, "model=%s %s of=%s k=%" PRId64, kn_model_name(m->kind), variant ? variant : "-",
                     m->attribute ? m->attribute : "-", m->k);
    dump_ratio(out, "l", m->l);
    dump_ratio(out, "c", m->c);
    dump_ratio(out, "bound", m->bound);
    dump_ratio(out, "low", m->low);
    kn_buffer_char(out, '\n');
}

static void dump_how(kn_buffer *out, const kn_spec *s)
{
    static const char *const suppressed[] = {"star", "drop", "keep-sensitive"};
    if (s->suppression_is_count)
        kn_buffer_format(out, "suppression=%" PRId64 " rows\n", s->suppression_rows);
    else
        kn_buffer_format(out, "suppression=%" PRIu64 "/%" PRIu64 "\n", s->suppression.numerator,
                         s->suppression.denominator);
    kn_buffer_format(out, "suppressed=%s method=%s utility=%s", suppressed[s->suppressed], kn_method_name(s->method),
                     kn_metric_name(s->utility));
    kn_buffer_format(out, " time=%.17g seed=%" PRIu64 " seeded=%d\n", s->time_limit, s->seed, s->seeded);
    kn_buffer_format(out, "order=%d rowmap=%d force=%d\n", s->keep_order, s->keep_rowmap, s->force);
}

/* All but the places. The caller frees the result. */
static char *dump(const kn_spec *s)
{
    kn_buffer out;
    kn_buffer_init(&out, ctx);
    for (int i = 0; i < s->input_count; i++) dump_text(&out, "input", s->inputs[i]);
    kn_buffer_format(&out, "delimiter=%d header=%d encoding=%d decimal=%c\n", s->csv.delimiter, !s->csv.no_header,
                     (int)s->csv.encoding, s->csv.decimal);
    dump_text(&out, "timezone", s->csv.timezone);
    if (s->csv.na) kn_buffer_format(&out, "na: %d\n", s->csv.na_count);
    for (int i = 0; i < s->csv.na_count; i++) dump_text(&out, "na", s->csv.na[i]);
    for (int i = 0; i < s->csv.type_count; i++) {
        const kn_column_type *t = &s->csv.types[i];
        kn_buffer_format(&out, "type=%s %s %s\n", t->column, kn_type_name(t->type), t->format ? t->format : "-");
    }
    dump_text(&out, "population", s->population);
    for (int i = 0; i < s->attribute_count; i++) dump_attribute(&out, &s->attributes[i]);
    dump_text(&out, "entity", s->entity);
    kn_buffer_format(&out, "undeclared=%s missing=%s\n", s->undeclared_refuse ? "refuse" : "drop",
                     kn_missing_name(s->missing));
    for (int i = 0; i < s->model_count; i++) dump_model(&out, &s->models[i]);
    for (int i = 0; i < s->dependency_count; i++) dump_text(&out, "dependency", s->dependencies[i]);
    dump_how(&out, s);
    dump_text(&out, "output", s->output);
    dump_text(&out, "report", s->report);
    const char *text = kn_buffer_text(&out);
    assert_non_null(text);
    char *copy = malloc(strlen(text) + 1);
    assert_non_null(copy);
    strcpy(copy, text);
    kn_buffer_free(&out);
    return copy;
}

static void assert_same(const kn_spec *a, const kn_spec *b)
{
    char *x = dump(a), *y = dump(b);
    assert_string_equal(x, y);
    free(x);
    free(y);
}

/* ---- Names, defaults ---- */

static void test_names(void **state)
{
    (void)state;
    static const char *const methods[] = {"optimal",
                                          "samarati",
                                          "bottom-up",
                                          "bottom-up-rollup",
                                          "incognito",
                                          "incognito-superroots",
                                          "incognito-cube",
                                          "heuristic",
                                          "datafly",
                                          "mondrian",
                                          "mondrian-relaxed",
                                          "mondrian-1d",
                                          "mondrian-best",
                                          "mondrian-workload",
                                          "kmsd",
                                          "kmsd-ag",
                                          "miracle",
                                          "miracle-x",
                                          "miracle-x-level",
                                          "dmiracle",
                                          "bitmap",
                                          "acs",
                                          "gcs",
                                          "ocs"};
    static const char *const metrics[] = {"lm", "ncp", "prec", "entropy", "dm", "dm_star", "c_avg"};
    kn_method                method;
    kn_metric                metric;
    assert_int_equal(sizeof methods / sizeof *methods, KN_METHODS);
    assert_int_equal(sizeof metrics / sizeof *metrics, KN_METRICS);
    for (int i = 0; i < KN_METHODS; i++) {
        assert_string_equal(kn_method_name((kn_method)i), methods[i]);
        assert_true(kn_method_parse(methods[i], &method));
        assert_int_equal(method, i);
    }
    for (int i = 0; i < KN_METRICS; i++) {
        assert_string_equal(kn_metric_name((kn_metric)i), metrics[i]);
        assert_true(kn_metric_parse(metrics[i], &metric));
        assert_int_equal(metric, i);
    }
    assert_false(kn_method_parse("Optimal", &method));
    assert_false(kn_method_parse("", &method));
    assert_false(kn_metric_parse("dm*", &metric));
}

static const char defaults[] = "delimiter=0 header=1 encoding=0 decimal=.\n"
                               "undeclared=drop missing=value\n"
                               "suppression=0/1\n"
                               "suppressed=star method=optimal utility=lm time=0 seed=0 seeded=0\n"
                               "order=0 rowmap=0 force=0\n";

static void test_defaults(void **state)
{
    (void)state;
    kn_spec *spec = NULL;
    kn_error err = KN_ERROR_INIT;
    assert_ok(kn_spec_create(&spec, ctx, &err), err);
    char *text = dump(spec);
    assert_string_equal(text, defaults);
    assert_null(spec->path);
    assert_null(spec->csv.na);
    assert_int_equal(spec->csv.size, sizeof spec->csv);
    free(text);
    kn_spec_free(spec);
    kn_spec_free(NULL);
    spec = read_good("kanon: 1\n");
    text = dump(spec);
    assert_string_equal(text, defaults);
    assert_string_equal(spec->path, file_path);
    free(text);
    kn_spec_free(spec);
}

/* ---- Every field ---- */

static const char everything[] =
    "# a complete file\n"
    "kanon: 1\n"
    "input: [patients.csv, /data/more.csv]\n"
    "delimiter: \";\"\n"
    "header: false\n"
    "encoding: Latin-1\n"
    "decimal: \",\"\n"
    "timezone: \"+02:00\"\n"
    "na: [\"\", NA, null, \"-\"]\n"
    "population: ../all.csv\n"
    "output: release.csv\n"
    "report: report.html\n"
    "attributes:\n"
    "  name:      {role: identifier, pseudonym: {key-file: secret.key}}\n"
    "  patient:   identifier\n"
    "  zip:       {role: quasi, type: text, hierarchy: {mask: left, step: 2, pad: true, character: x}, weight: 2.5}\n"
    "  age:       {role: quasi, type: integer, hierarchy: {ranges: [5, 10, 0.25], origin: -3}}\n"
    "  \"income: net\": {role: quasi, type: decimal, hierarchy: {breaks: [[18, 65], [18]]}}\n"
    "  country:   {role: quasi, hierarchy: country.csv, weight: 50%}\n"
    "  course:    {role: quasi, hierarchy: {taxonomy: course.txt}}\n"
    "  city:      {role: quasi, hierarchy: {taxonomy: city.txt}}\n"
    "  street:    {role: quasi, hierarchy: {file: street.txt, delimiter: tab}}\n"
    "  born:      {role: quasi, type: date, format: \"%d.%m.%Y\", hierarchy: {calendar: [month, year]}}\n"
    "  seen:      {role: quasi, type: datetime, hierarchy: {calendar: all}}\n"
    "  code:      {role: quasi, hierarchy: {prefix: \".\"}}\n"
    "  sex:       {role: quasi, hierarchy: suppress}\n"
    "  diagnosis: {role: sensitive, hierarchy: icd.csv}\n"
    "  comment:   {role: keep}\n"
    "  n:         {role: weight}\n"
    "entity: {key: patient}\n"
    "undeclared: refuse\n"
    "missing: wildcard\n"
    "privacy:\n"
    "  - k: 5\n"
    "  - l-diversity: {attribute: diagnosis, kind: recursive, l: 3, c: 2.5}\n"
    "  - l-diversity: {attribute: diagnosis, l: 2}\n"
    "  - l-diversity: {attribute: diagnosis, kind: entropy, l: 1.5}\n"
    "  - t-closeness: {attribute: diagnosis, distance: hierarchical, t: 0.15}\n"
    "  - t-closeness: {t: 20%}\n"
    "  - t-closeness: {distance: ordered, t: 1}\n"
    "  - alpha-k: {attribute: diagnosis, alpha: 0.5, k: 3}\n"
    "  - alpha-k: {attribute: \"?\", alpha: 0.5}\n"
    "  - beta-likeness: {attribute: diagnosis, beta: 4}\n"
    "  - beta-likeness: {attribute: diagnosis, kind: enhanced, beta: 0.75}\n"
    "  - delta-disclosure: {attribute: diagnosis, delta: 1.2}\n"
    "  - k-map: 7\n"
    "  - delta-presence: {min: 0.1, max: 0.9}\n"
    "  - max-risk: 0.2\n"
    "  - average-risk: {risk: 5%}\n"
    "suppression: 5%\n"
    "suppressed: keep-sensitive\n"
    "dependencies: [\"department -> phone\", \"a, b -> c\"]\n"
    "method: incognito-cube\n"
    "utility: dm_star\n"
    "options: {time-limit: 2.5, seed: 18446744073709551615}\n"
    "keep-order: true\n"
    "keep-rowmap: yes\n"
    "force: true\n";

/* The same as JSON, in another order, with tabs. */
static const char everything_json[] =
    "{\n\t\"kanon\": 1,\n\t\"input\": [\"patients.csv\", \"\\/data\\/more.csv\"],\n"
    "\t\"force\": true, \"keep-rowmap\": true, \"keep-order\": true,\n"
    "\t\"options\": {\"seed\": 18446744073709551615, \"time-limit\": 2.5},\n"
    "\t\"method\": \"incognito-cube\", \"utility\": \"dm_star\",\n"
    "\t\"dependencies\": [\"department -> phone\", \"a, b -> c\"],\n"
    "\t\"suppressed\": \"keep-sensitive\", \"suppression\": \"5%\",\n"
    "\t\"privacy\": [\n"
    "\t\t{\"k\": {\"k\": 5}},\n"
    "\t\t{\"l-diversity\": {\"attribute\": \"diagnosis\", \"kind\": \"recursive\", \"l\": 3, \"c\": 2.5}},\n"
    "\t\t{\"l-diversity\": {\"attribute\": \"diagnosis\", \"kind\": \"distinct\", \"l\": 2}},\n"
    "\t\t{\"l-diversity\": {\"attribute\": \"diagnosis\", \"kind\": \"entropy\", \"l\": 1.5}},\n"
    "\t\t{\"t-closeness\": {\"attribute\": \"diagnosis\", \"distance\": \"hierarchical\", \"t\": 0.15}},\n"
    "\t\t{\"t-closeness\": {\"t\": \"20%\"}}, {\"t-closeness\": {\"distance\": \"ordered\", \"t\": 1}},\n"
    "\t\t{\"alpha-k\": {\"k\": 3, \"attribute\": \"diagnosis\", \"alpha\": 0.5}},\n"
    "\t\t{\"alpha-k\": {\"attribute\": \"?\", \"alpha\": 0.5}},\n"
    "\t\t{\"beta-likeness\": {\"attribute\": \"diagnosis\", \"beta\": 4, \"kind\": \"basic\"}},\n"
    "\t\t{\"beta-likeness\": {\"attribute\": \"diagnosis\", \"kind\": \"enhanced\", \"beta\": 0.75}},\n"
    "\t\t{\"delta-disclosure\": {\"attribute\": \"diagnosis\", \"delta\": 1.2}},\n"
    "\t\t{\"k-map\": {\"k\": 7}}, {\"delta-presence\": {\"max\": 0.9, \"min\": 0.1}},\n"
    "\t\t{\"max-risk\": {\"risk\": 0.2}}, {\"average-risk\": {\"risk\": \"5%\"}}],\n"
    "\t\"missing\": \"wildcard\", \"undeclared\": \"refuse\", \"entity\": \"patient\",\n"
    "\t\"attributes\": {\n"
    "\t\t\"name\": {\"role\": \"identifier\", \"pseudonym\": {\"key-file\": \"secret.key\"}},\n"
    "\t\t\"patient\": {\"role\": \"identifier\"},\n"
    "\t\t\"zip\": {\"role\": \"quasi\", \"type\": \"text\", \"weight\": 2.5,\n"
    "\t\t\t\"hierarchy\": {\"character\": \"x\", \"mask\": \"left\", \"step\": 2, \"pad\": true}},\n"
    "\t\t\"age\": {\"role\": \"quasi\", \"type\": \"integer\", \"hierarchy\": {\"origin\": -3, \"ranges\": "
    "[5, 10, 0.25]}},\n"
    "\t\t\"income: net\": {\"role\": \"quasi\", \"type\": \"decimal\", \"hierarchy\": {\"breaks\": [[18, 65], "
    "[18]]}},\n"
    "\t\t\"country\": {\"role\": \"quasi\", \"hierarchy\": {\"file\": \"country.csv\"}, \"weight\": \"50%\"},\n"
    "\t\t\"course\": {\"role\": \"quasi\", \"hierarchy\": {\"taxonomy\": \"course.txt\"}},\n"
    "\t\t\"city\": {\"role\": \"quasi\", \"hierarchy\": {\"taxonomy\": \"city.txt\"}},\n"
    "\t\t\"street\": {\"role\": \"quasi\", \"hierarchy\": {\"file\": \"street.txt\", \"delimiter\": \"\\t\"}},\n"
    "\t\t\"born\": {\"role\": \"quasi\", \"type\": \"date\", \"format\": \"%d.%m.%Y\", \"hierarchy\": {\"calendar\": "
    "[\"year\", \"month\"]}},\n"
    "\t\t\"seen\": {\"role\": \"quasi\", \"type\": \"datetime\", \"hierarchy\": {\"calendar\": \"all\"}},\n"
    "\t\t\"code\": {\"role\": \"quasi\", \"hierarchy\": {\"prefix\": \"\\u002e\"}},\n"
    "\t\t\"sex\": {\"role\": \"quasi\", \"hierarchy\": \"suppress\"},\n"
    "\t\t\"diagnosis\": {\"role\": \"sensitive\", \"hierarchy\": \"icd.csv\"},\n"
    "\t\t\"comment\": \"keep\", \"n\": \"weight\"\n\t},\n"
    "\t\"report\": \"report.html\", \"output\": \"release.csv\", \"population\": \"../all.csv\",\n"
    "\t\"na\": [\"\", \"NA\", \"null\", \"-\"], \"timezone\": \"+02:00\", \"decimal\": \",\",\n"
    "\t\"encoding\": \"iso-8859-1\", \"header\": false, \"delimiter\": \";\"\n}\n";

/* What must come of both; @ stands for the folder of the file. */
static const char everything_dump[] =
    "input=@patients.csv\ninput=/data/more.csv\n"
    "delimiter=59 header=0 encoding=2 decimal=,\n"
    "timezone=+02:00\nna: 4\nna=\nna=NA\nna=null\nna=-\n"
    "type=zip text -\ntype=age integer -\ntype=income: net decimal -\ntype=born date %d.%m.%Y\ntype=seen datetime -\n"
    "population=@../all.csv\n"
    "attribute=name role=identifier type=auto weight=1/1 key=@secret.key\n"
    "attribute=patient role=identifier type=auto weight=1/1\n"
    "attribute=zip role=quasi type=text mask decimal=, left step=2 pad=1 character=x weight=25/10\n"
    "attribute=age role=quasi type=integer ranges decimal=, width=5 width=10 width=0.25 origin=-3 weight=1/1\n"
    "attribute=income: net role=quasi type=decimal breaks decimal=, level 18 65 level 18 weight=1/1\n"
    "attribute=country role=quasi type=auto file decimal=, path=@country.csv weight=50/100\n"
    "attribute=course role=quasi type=auto taxonomy decimal=, path=@course.txt weight=1/1\n"
    "attribute=city role=quasi type=auto taxonomy decimal=, path=@city.txt weight=1/1\n"
    "attribute=street role=quasi type=auto file decimal=, path=@street.txt delimiter=\t weight=1/1\n"
    "attribute=born role=quasi type=date format=%d.%m.%Y calendar decimal=, steps=10 weight=1/1\n"
    "attribute=seen role=quasi type=datetime calendar decimal=, steps=0 weight=1/1\n"
    "attribute=code role=quasi type=auto prefix decimal=, separator=. weight=1/1\n"
    "attribute=sex role=quasi type=auto suppress decimal=, weight=1/1\n"
    "attribute=diagnosis role=sensitive type=auto file decimal=, path=@icd.csv weight=1/1\n"
    "attribute=comment role=keep type=auto weight=1/1\n"
    "attribute=n role=weight type=auto weight=1/1\n"
    "entity=patient\n"
    "undeclared=refuse missing=wildcard\n"
    "model=k - of=- k=5 l=0/1 c=0/1 bound=0/1 low=0/1\n"
    "model=l-diversity recursive of=diagnosis k=0 l=3/1 c=25/10 bound=0/1 low=0/1\n"
    "model=l-diversity distinct of=diagnosis k=0 l=2/1 c=0/1 bound=0/1 low=0/1\n"
    "model=l-diversity entropy of=diagnosis k=0 l=15/10 c=0/1 bound=0/1 low=0/1\n"
    "model=t-closeness hierarchical of=diagnosis k=0 l=0/1 c=0/1 bound=15/100 low=0/1\n"
    "model=t-closeness equal of=- k=0 l=0/1 c=0/1 bound=20/100 low=0/1\n"
    "model=t-closeness ordered of=- k=0 l=0/1 c=0/1 bound=1/1 low=0/1\n"
    "model=alpha-k - of=diagnosis k=3 l=0/1 c=0/1 bound=5/10 low=0/1\n"
    "model=alpha-k - of=? k=0 l=0/1 c=0/1 bound=5/10 low=0/1\n"
    "model=beta-likeness basic of=diagnosis k=0 l=0/1 c=0/1 bound=4/1 low=0/1\n"
    "model=beta-likeness enhanced of=diagnosis k=0 l=0/1 c=0/1 bound=75/100 low=0/1\n"
    "model=delta-disclosure - of=diagnosis k=0 l=0/1 c=0/1 bound=12/10 low=0/1\n"
    "model=k-map - of=- k=7 l=0/1 c=0/1 bound=0/1 low=0/1\n"
    "model=delta-presence - of=- k=0 l=0/1 c=0/1 bound=9/10 low=1/10\n"
    "model=max-risk - of=- k=0 l=0/1 c=0/1 bound=2/10 low=0/1\n"
    "model=average-risk - of=- k=0 l=0/1 c=0/1 bound=5/100 low=0/1\n"
    "dependency=department -> phone\ndependency=a, b -> c\n"
    "suppression=5/100\n"
    "suppressed=keep-sensitive method=incognito-cube utility=dm_star time=2.5 seed=18446744073709551615 seeded=1\n"
    "order=1 rowmap=1 force=1\n"
    "output=@release.csv\nreport=@report.html\n";

/* The text with `folder` in the place of every @. The caller frees it. */
static char *with_folder(const char *text, const char *folder)
{
    size_t at = 0, size = 1;
    for (const char *c = text; *c; c++) size += *c == '@' ? strlen(folder) : 1;
    char *out = malloc(size);
    assert_non_null(out);
    for (const char *c = text; *c; c++) {
        if (*c != '@') {
            out[at++] = *c;
            continue;
        }
        memcpy(out + at, folder, strlen(folder));
        at += strlen(folder);
    }
    out[at] = '\0';
    return out;
}

static void assert_dump(const kn_spec *spec, const char *expected, const char *folder)
{
    char *found = dump(spec), *wanted = with_folder(expected, folder);
    assert_string_equal(found, wanted);
    free(found);
    free(wanted);
}

static void test_everything(void **state)
{
    (void)state;
    kn_spec *yaml = read_good(everything), *json = read_good(everything_json);
    assert_dump(yaml, everything_dump, file_folder);
    assert_dump(json, everything_dump, file_folder);
    assert_int_equal(yaml->attributes[0].line, 14);
    assert_int_equal(yaml->attributes[0].column, 3);
    assert_int_equal(yaml->attributes[4].line, 18);
    assert_int_equal(yaml->attributes[4].column, 3);
    assert_int_equal(kn_spec_find(yaml, "zip"), 2);
    assert_int_equal(kn_spec_find(yaml, "Zip"), -1);
    kn_spec_free(json);
    kn_spec_free(yaml);
}

/* A byte order mark and other line ends change nothing, and neither does compression of blank lines. */
static void test_line_ends(void **state)
{
    (void)state;
    static const char *const ends[] = {"\r\n", "\r", "\n\n", "\n# comment: [\n"};
    kn_spec                 *plain = read_good(everything);
    for (size_t e = 0; e < sizeof ends / sizeof *ends; e++) {
        kn_buffer text;
        kn_buffer_init(&text, ctx);
        if (e == 0) kn_buffer_add(&text, "\xef\xbb\xbf");
        for (const char *c = everything; *c; c++)
            if (*c == '\n')
                kn_buffer_add(&text, ends[e]);
            else
                kn_buffer_char(&text, *c);
        kn_spec *other = read_good(kn_buffer_text(&text));
        assert_same(plain, other);
        if (e < 2) assert_int_equal(other->attributes[4].line, 18);
        kn_spec_free(other);
        kn_buffer_free(&text);
    }
    kn_spec_free(plain);
}

static void test_forms(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
    } same[] = {
        {"input: a.csv", "input: [a.csv]"},
        {"na: NA", "na: [NA]"},
        {"entity: id", "entity: {key: id}"},
        {"entity: [id]", "entity: {key: id}"},
        {"entity: [a, b]", "entity: {key: [a, b]}"},
        {"dependencies: a -> b", "dependencies: ['a -> b']"},
        {"suppression: 0.05", "suppression: '0.05'"},
        {"privacy: [k: 5]", "privacy: [{k: {k: 5}}]"},
        {"privacy: [k-map: 5]", "privacy: [{k-map: {k: 5}}]"},
        {"privacy: [max-risk: 0.5]", "privacy: [{max-risk: {risk: 0.5}}]"},
        {"privacy: [average-risk: 0.5]", "privacy: [{average-risk: {risk: 0.5}}]"},
        {"privacy: [delta-presence: {max: 0.5}]", "privacy: [delta-presence: {min: 0, max: 0.5}]"},
        {"attributes: {a: quasi}", "attributes: {a: {role: quasi}}"},
        {"attributes: {a: {hierarchy: {calendar: year}}}", "attributes: {a: {hierarchy: {calendar: [year]}}}"},
        {"attributes: {a: {hierarchy: {breaks: [1, 2]}}}", "attributes: {a: {hierarchy: {breaks: [[1, 2]]}}}"},
        {"attributes: {a: {hierarchy: {ranges: 5}}}", "attributes: {a: {hierarchy: {ranges: [5]}}}"},
        {"attributes: {a: {hierarchy: x.dgh}}", "attributes: {a: {hierarchy: {file: x.dgh}}}"},
        {"delimiter: tab", "delimiter: \"\\t\""},
        {"encoding: UTF8", "encoding: utf-8"},
        {"encoding: CP1252", "encoding: windows-1252"},
        {"header: yes", "header: true"},
        {"force: no", "force: false"},
        {"input: \"-\"", "input: ['-']"},
        {"na: []", "na: [ ]"},
        {"options: {seed: 0}\nkanon: \"1\"", "options:\n    seed: 0"},
        {"--- # begins\nmethod: datafly\n...\n", "%YAML 1.2\n---\nmethod: datafly"},
        {"method: |-\n  datafly\n", "method: datafly"},
        {"output: 'a''''b'''", "output: \"a''b'\""},
        {"output: 'a\n   b\n \n\n  c '", "output: \"a b\\n\\nc \""},
        {"output: \"a \\\n   b\\\\\\\n\n  c \\t\n d\"", "output: \"a b\\\\\\nc \\t d\""},
        {"output: \"\\x41\\u00e9\\U0001F600\\ud83d\\ude00\\/\\_\\N\\L\\P\\e\"",
         "output: \"A\xc3\xa9\xf0\x9f\x98\x80\xf0\x9f\x98\x80/\xc2\xa0\xc2\x85\xe2\x80\xa8\xe2\x80\xa9\\x1b\""},
        {"output: a\n  b\n\n  c", "output: \"a b\\nc\""},
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        kn_spec *a = read_good(same[i].a), *b = read_good(same[i].b);
        assert_same(a, b);
        kn_spec_free(a);
        kn_spec_free(b);
    }
    kn_spec *none = read_good("na: []");
    assert_non_null(none->csv.na);
    assert_int_equal(none->csv.na_count, 0);
    kn_spec_free(none);
    kn_spec *rows = read_good("suppression: {rows: 12}");
    assert_true(rows->suppression_is_count);
    assert_int_equal(rows->suppression_rows, 12);
    kn_spec_free(rows);
}

/* ---- Mistakes ---- */

typedef struct mistake {
    const char *text;
    int64_t     line, column;
    const char *message; /* all that stands behind the place */
} mistake;

#define NO_ANCHORS                                                                                                     \
    "anchors (&) and aliases (*) are not supported; a text that begins with one of these signs is written in quotes"
#define NO_TAGS "tags (!) are not supported; a text that begins with this sign is written in quotes"
#define NO_NUMBER "not a number like 2, 0.15 or 15% (at most 18 digits)"
#define ALL_FIELDS                                                                                                     \
    "kanon, input, delimiter, header, encoding, decimal, timezone, na, population, attributes, entity, tables, "       \
    "record, resources, classes, undeclared, missing, privacy, suppression, suppressed, dependencies, method, "        \
    "utility, "                                                                                                        \
    "levels, workload, options, output, report, public-report, "                                                       \
    "summary, spreadsheet-safe, expand, keep-order, "                                                                  \
    "keep-rowmap, keep-recipe, force and replace"
#define ALL_MODELS                                                                                                     \
    "k, l-diversity, t-closeness, alpha-k, beta-likeness, delta-disclosure, k-map, delta-presence, max-risk, "         \
    "average-risk and k-mn"

static const mistake mistakes[] = {
    {"method: [", 1, 10, "not YAML or JSON: a '[' is never closed"},
    {"a: b: c", 1, 5, "not YAML or JSON: a text with ': ' in it is written in quotes"},
    {"input: \"x", 1, 8, "not YAML or JSON: this quote is never closed"},
    {"a: [1, 2", 1, 9, "not YAML or JSON: a '[' is never closed"},
    {"input: *x", 1, 8, NO_ANCHORS},
    {"input: &x y", 1, 8, NO_ANCHORS},
    {"input: !foo y", 1, 8, NO_TAGS},
    {"input: !!str y", 1, 8, NO_TAGS},
    {"input: [a, *b]", 1, 12, NO_ANCHORS},
    {"privacy: &p [k: 5]", 1, 10, NO_ANCHORS},
    {"\ta: b", 1, 1, "not YAML or JSON: lines are indented with blanks, not with tabs"},
    {"method: @x", 1, 9, "not YAML or JSON: plain scalar cannot start with '@'"},
    {"}", 1, 1, "not YAML or JSON: flow mapping with invalid extra closing brace"},
    {"a: b\n c: d", 1, 4, "not YAML or JSON: the line after this value is indented wrongly"},
    {"input: a\n---\ninput: b", 2, 1, "a second document begins here"},
    {"%TAG ! x", 1, 9, "not YAML or JSON: it is empty"},
    {"input: \"\\q\"", 1, 9, "not YAML or JSON: invalid escape 'q' in double-quoted string"},
    {"input: \"\\0\"", 1, 8, "this text holds an escape that stands for no character"},
    {"input: \"\\ud83d\"", 1, 9, "not YAML or JSON: double-quoted scalar has invalid UTF8 escape"},
    {"input: a\ninput: b", 2, 1, "this key is used twice (first in line 1, column 1)"},
    {"attributes: {a: quasi, b: quasi, a: keep}", 1, 34, "this key is used twice (first in line 1, column 14)"},
    {"attributes:\n  \"a\": quasi\n  b: quasi\n  a: keep\n  b: keep", 4, 3,
     "this key is used twice (first in line 2, column 3)"},
    {"? [input]\n: b", 1, 3, "a key must be a text"},
    {"{{a: b}: c}", 1, 2, "a key must be a text"},
    {"- input", 1, 1, "a mapping of fields is expected here, not a list"},
    {"just words", 1, 1, "a mapping of fields is expected here, not a single value"},
    {"input", 1, 1, "a mapping of fields is expected here, not a single value"},
    {"null", 1, 1, "a mapping of fields is missing here"},
    {"~", 1, 1, "a mapping of fields is missing here"},
    {"\"text\"", 1, 1, "a mapping of fields is expected here, not a single value"},
    {"[]", 1, 1, "a mapping of fields is expected here, not a list"},
    {"metod: optimal", 1, 1, "unknown key 'metod'; did you mean 'method'?"},
    {"Method: optimal", 1, 1, "unknown key 'Method'; did you mean 'method'?"},
    {"privacy-models: []", 1, 1, "unknown key; known here are " ALL_FIELDS},
    {"\xc3\xa9"
     ": 1",
     1, 1, "unknown key; known here are " ALL_FIELDS},
    {"tables: {}", 1, 9, "from 1 to 4096 tables are expected here"},
    {"tables: {a: {parent: {table: b, column: c}}}", 1, 10, "the parent of table \"a\" is not listed"},
    {"tables: {a: {parent: {table: a}}}", 1, 22,
     "a parent needs a table and the column (or columns) that name its rows"},
    {"tables: {a: {keys: b}}", 1, 14, "unknown key 'keys'; did you mean 'key'?"},
    {"rekord: r", 1, 1, "unknown key 'rekord'; did you mean 'record'?"},
    {"kanon: 2", 1, 8, "this program reads release files of version 1"},
    {"kanon: [1]", 1, 8, "a version is expected here, not a list"},
    {"kanon:", 1, 1, "a version is missing here"},
    {"input:", 1, 1, "a path or a list of paths is missing here"},
    {"input: []", 1, 8, "a path or a list of paths is expected here"},
    {"input: {a: b}", 1, 8, "a path or a list of paths is expected here, not a mapping"},
    {"input: \"\"", 1, 8, "a path is empty"},
    {"input: [a, [b]]", 1, 12, "a path is expected here, not a list"},
    {"input: [a, \"\"]", 1, 12, "a path is empty"},
    {"input: [a, null]", 1, 12, "a path is missing here"},
    {"delimiter: ;;", 1, 12, "not one ASCII character that may stand between cells (or tab)"},
    {"delimiter: \"\"", 1, 12, "not one ASCII character that may stand between cells (or tab)"},
    {"delimiter: \"\\\"\"", 1, 12, "not one ASCII character that may stand between cells (or tab)"},
    {"delimiter: \xc3\xa9"
     "",
     1, 12, "not one ASCII character that may stand between cells (or tab)"},
    {"delimiter:", 1, 1, "a delimiter is missing here"},
    {"header: 1", 1, 9, "neither true nor false"},
    {"header: [true]", 1, 9, "true or false is expected here, not a list"},
    {"encoding: utf-16", 1, 11, "not an encoding; there are utf-8, windows-1252 and latin-1"},
    {"encoding: 8859", 1, 11, "not an encoding; there are utf-8, windows-1252 and latin-1"},
    {"decimal: .,", 1, 10, "a decimal mark is \".\" or \",\""},
    {"decimal: \"x\"", 1, 10, "a decimal mark is \".\" or \",\""},
    {"decimal: ,", 1, 10, "not YAML or JSON: a value is expected here"},
    {"timezone: Mars/Olympus", 1, 11, "there is no time zone Mars/Olympus"},
    {"timezone: \"../x\"", 1, 11, "a time zone is UTC, an offset like +02:00 or a name like Europe/Paris"},
    {"timezone: \"\"", 1, 11, "a time zone is empty"},
    {"na: {a: b}", 1, 5, "a list of texts is expected here, not a mapping"},
    {"na:", 1, 1, "a list of texts is missing here"},
    {"na: [[a]]", 1, 6, "a text is expected here (the empty one is \"\")"},
    {"na:\n  - a\n  -", 2, 5, "a text is expected here (the empty one is \"\")"},
    {"population:", 1, 1, "a path is missing here"},
    {"population: [a]", 1, 13, "a path is expected here, not a list"},
    {"attributes:", 1, 1, "a mapping of columns is missing here"},
    {"attributes: []", 1, 13, "a mapping of columns is expected here, not a list"},
    {"attributes: [a]", 1, 13, "a mapping of columns is expected here, not a list"},
    {"attributes: {a: }", 1, 14, "a mapping like {role: ...} is missing here"},
    {"attributes: {a}", 1, 14, "a mapping like {role: ...} is missing here"},
    {"attributes: {a: []}", 1, 17, "a mapping like {role: ...} is expected here, not a list"},
    {"attributes: {a: qasi}", 1, 17, "'qasi' is not a role; did you mean 'quasi'?"},
    {"attributes: {a: public}", 1, 17,
     "not a role; there are identifier, quasi, sensitive, keep, weight, count and set"},
    {"attributes: {a: {rolle: quasi}}", 1, 18, "unknown key 'rolle'; did you mean 'role'?"},
    {"attributes: {a: {colour: red}}", 1, 18,
     "unknown key; known here are role, type, format, hierarchy, cuts, weight, pseudonym, min-level, max-level and "
     "separator"},
    {"attributes: {a: {role: [quasi]}}", 1, 24, "a role is expected here, not a list"},
    {"attributes: {a: {role: insensitive}}", 1, 24, "'insensitive' is not a role; did you mean 'sensitive'?"},
    {"attributes: {a: {role: quasi-identifier}}", 1, 24,
     "not a role; there are identifier, quasi, sensitive, keep, weight, count and set"},
    {"attributes: {\"\": quasi}", 1, 14, "the name of a column is empty"},
    {"attributes: {a: {type: int}}", 1, 24, "not a type; there are text, integer, decimal, date, datetime and auto"},
    {"attributes: {a: {type: integr}}", 1, 24, "'integr' is not a type; did you mean 'integer'?"},
    {"attributes: {a: {type: text, format: \"%Y\"}}", 1, 38, "a format goes with type: date or type: datetime"},
    {"attributes: {a: {format: \"%Y-%m-%d\"}}", 1, 26, "a format goes with type: date or type: datetime"},
    {"attributes: {a: {type: date, format: \"%Y\"}}", 1, 38, "a date needs %Y, %m (or %b) and %d"},
    {"attributes: {a: {type: date, format: \"\"}}", 1, 38, "a date format is empty"},
    {"attributes: {a: {weight: -1}}", 1, 26, NO_NUMBER},
    {"attributes: {a: {weight: heavy}}", 1, 26, NO_NUMBER},
    {"attributes: {a: {weight: 1e3}}", 1, 26, NO_NUMBER},
    {"attributes: {a: {weight: 1.0000000000000000001}}", 1, 26, NO_NUMBER},
    {"attributes: {a: {role: keep, hierarchy: x.csv}}", 1, 41,
     "only a quasi-identifier, a sensitive column or a set has a hierarchy"},
    {"attributes: {a: {role: identifier, hierarchy: x.csv}}", 1, 47,
     "only a quasi-identifier, a sensitive column or a set has a hierarchy"},
    {"attributes: {a: {role: sensitive, weight: 2}}", 1, 43, "only a quasi-identifier has a weight"},
    {"attributes: {a: {role: quasi, pseudonym: {key-file: x}}}", 1, 42, "a pseudonym stands for an identifier"},
    {"attributes: {a: {role: identifier, pseudonym: x}}", 1, 47,
     "a mapping like {key-file: ...} is expected here, not a single value"},
    {"attributes: {a: {role: identifier, pseudonym: {}}}", 1, 47, "a pseudonym needs a key-file"},
    {"attributes: {a: {role: identifier, pseudonym: {keyfile: x}}}", 1, 48,
     "unknown key 'keyfile'; did you mean 'key-file'?"},
    {"attributes: {a: {role: identifier, pseudonym: {key-file: }}}", 1, 48, "a path is missing here"},
    {"attributes: {a: {role: quasi, hierarchy: }}", 1, 31, "a path is missing here"},
    {"attributes: {a: {role: quasi, hierarchy: \"\"}}", 1, 42, "a path is empty"},
    {"attributes: {a: {role: quasi, hierarchy: []}}", 1, 42,
     "a path or a mapping like {mask: right} is expected here, not a list"},
    {"attributes: {a: {role: quasi, hierarchy: {}}}", 1, 42,
     "a hierarchy needs one of file, taxonomy, mask, ranges, breaks, calendar and prefix"},
    {"attributes: {a: {role: quasi, hierarchy: {step: 2}}}", 1, 42,
     "a hierarchy needs one of file, taxonomy, mask, ranges, breaks, calendar and prefix"},
    {"attributes: {a: {role: quasi, hierarchy: {maks: right}}}", 1, 43, "unknown key 'maks'; did you mean 'mask'?"},
    {"attributes: {a: {role: quasi, hierarchy: {mask: up}}}", 1, 49, "not a side; there are right and left"},
    {"attributes: {a: {role: quasi, hierarchy: {mask: rigth}}}", 1, 49, "'rigth' is not a side; did you mean 'right'?"},
    {"attributes: {a: {role: quasi, hierarchy: {mask: right, ranges: [5]}}}", 1, 56,
     "a hierarchy is of one kind: 'mask' and 'ranges' exclude each other"},
    {"attributes: {a: {role: quasi, hierarchy: {mask: right, origin: 5}}}", 1, 56,
     "'origin' goes with 'ranges', not with 'mask'"},
    {"attributes: {a: {role: quasi, hierarchy: {ranges: [5], step: 5}}}", 1, 56,
     "'step' goes with 'mask', not with 'ranges'"},
    {"attributes: {a: {role: quasi, hierarchy: {file: x, pad: true}}}", 1, 52,
     "'pad' goes with 'mask', not with 'file'"},
    {"attributes: {a: {role: quasi, hierarchy: {breaks: [[1]], delimiter: \";\"}}}", 1, 58,
     "'delimiter' goes with 'file', not with 'breaks'"},
    {"attributes: {a: {role: quasi, hierarchy: {mask: right, step: 0}}}", 1, 62, "not a whole number from 1 to 1000"},
    {"attributes: {a: {role: quasi, hierarchy: {mask: right, step: 1001}}}", 1, 62,
     "not a whole number from 1 to 1000"},
    {"attributes: {a: {role: quasi, hierarchy: {mask: right, step: 1.5}}}", 1, 62, "not a whole number from 1 to 1000"},
    {"attributes: {a: {role: quasi, hierarchy: {mask: right, pad: maybe}}}", 1, 61, "neither true nor false"},
    {"attributes: {a: {role: quasi, hierarchy: {mask: right, character: ab}}}", 1, 67, "not one character"},
    {"attributes: {a: {role: quasi, hierarchy: {mask: right, character: \"\"}}}", 1, 67, "not one character"},
    {"attributes: {a: {role: quasi, hierarchy: {mask: right, character: [a]}}}", 1, 67,
     "a character is expected here, not a list"},
    {"attributes: {a: {role: quasi, hierarchy: {ranges: []}}}", 1, 51, "a list of widths is expected here"},
    {"attributes: {a: {role: quasi, hierarchy: {ranges: [5, -10]}}}", 1, 55, "not a width: a number greater than 0"},
    {"attributes: {a: {role: quasi, hierarchy: {ranges: [0]}}}", 1, 52, "not a width: a number greater than 0"},
    {"attributes: {a: {role: quasi, hierarchy: {ranges: [5, ten]}}}", 1, 55, "not a width: a number greater than 0"},
    {"attributes: {a: {role: quasi, hierarchy: {ranges: {a: b}}}}", 1, 51,
     "a list of widths is expected here, not a mapping"},
    {"attributes: {a: {role: quasi, hierarchy: {ranges: [5], origin: x}}}", 1, 64, "not a number like 5 or 0.5"},
    {"attributes: {a: {role: quasi, hierarchy: {breaks: []}}}", 1, 51,
     "a list of lists of cut points is expected here"},
    {"attributes: {a: {role: quasi, hierarchy: {breaks: 5}}}", 1, 51, "a list of lists of cut points is expected here"},
    {"attributes: {a: {role: quasi, hierarchy: {breaks: [[]]}}}", 1, 52, "a list of cut points is expected here"},
    {"attributes: {a: {role: quasi, hierarchy: {breaks: [[1], 2]}}}", 1, 57, "a list of cut points is expected here"},
    {"attributes: {a: {role: quasi, hierarchy: {breaks: [1, [2]]}}}", 1, 55,
     "a cut point is expected here, not a list"},
    {"attributes: {a: {role: quasi, hierarchy: {breaks: [[1, x]]}}}", 1, 56,
     "not a cut point: a number, or a day like 2020-12-31"},
    {"attributes: {a: {role: quasi, hierarchy: {breaks: [[2020-13-01]]}}}", 1, 53,
     "not a cut point: a number, or a day like 2020-12-31"},
    {"attributes: {a: {role: quasi, hierarchy: {calendar: week}}}", 1, 53,
     "not a calendar step; there are day, month, quarter, year and decade"},
    {"attributes: {a: {role: quasi, hierarchy: {calendar: []}}}", 1, 53, "a list of calendar steps is expected here"},
    {"attributes: {a: {role: quasi, hierarchy: {calendar: [month, yaer]}}}", 1, 61,
     "'yaer' is not a calendar step; did you mean 'year'?"},
    {"attributes: {a: {role: quasi, hierarchy: {calendar: {a: b}}}}", 1, 53,
     "a calendar step is expected here, not a mapping"},
    {"attributes: {a: {role: quasi, hierarchy: {prefix: \"\"}}}", 1, 51, "a separator is empty"},
    {"attributes: {a: {role: quasi, hierarchy: {prefix: }}}", 1, 43, "a separator is missing here"},
    {"attributes: {a: {role: quasi, hierarchy: {file: }}}", 1, 43, "a path is missing here"},
    {"attributes: {a: {role: quasi, hierarchy: {taxonomy: []}}}", 1, 53, "a path is expected here, not a list"},
    {"attributes: {a: {role: quasi, hierarchy: {file: x, delimiter: xx}}}", 1, 63,
     "not one ASCII character that may stand between cells (or tab)"},
    {"entity:", 1, 1, "a column or a list of columns is missing here"},
    {"entity: []", 1, 9, "an entity needs a column, or several"},
    {"entity: {key: [a, b, a]}", 1, 15, "a column is named twice"},
    {"entity: {}", 1, 9, "an entity needs a key, or a table"},
    {"entity: {tabel: t, key: k}", 1, 10, "unknown key 'tabel'; did you mean 'table'?"},
    {"entity: {key: \"\"}", 1, 15, "the name of a column is empty"},
    {"undeclared: keep", 1, 13, "not a treatment of undeclared columns; there are drop and refuse"},
    {"undeclared: refuze", 1, 13, "'refuze' is not a treatment of undeclared columns; did you mean 'refuse'?"},
    {"missing: ignore", 1, 10, "not a treatment of missing cells; there are value, wildcard and drop"},
    {"privacy:", 1, 1, "a list of models is expected here: [k: 5]"},
    {"privacy: k", 1, 10, "a list of models is expected here: [k: 5]"},
    {"privacy: {k: 5}", 1, 10, "a list of models is expected here: [k: 5]"},
    {"privacy: [k]", 1, 11, "a model is expected here, not a single value"},
    {"privacy: [[k]]", 1, 11, "a model is expected here, not a list"},
    {"privacy: [{}]", 1, 11, "each model is an item of its own: a mapping of its name to its parameters"},
    {"privacy:\n  - l-diversity:\n    l: 3", 2, 5,
     "each model is an item of its own: a mapping of its name to its parameters"},
    {"privacy: [{k: 5, l-diversity: {l: 2}}]", 1, 11,
     "each model is an item of its own: a mapping of its name to its parameters"},
    {"privacy: [kk: 5]", 1, 11, "unknown key; known here are " ALL_MODELS},
    {"privacy: [anonymity: 5]", 1, 11, "unknown key; known here are " ALL_MODELS},
    {"privacy: [k: 0]", 1, 14, "not a whole number of at least 1"},
    {"privacy: [k: five]", 1, 14, "not a whole number of at least 1"},
    {"privacy: [k: 2.5]", 1, 14, "not a whole number of at least 1"},
    {"privacy: [k: -1]", 1, 14, "not a whole number of at least 1"},
    {"privacy: [k: 99999999999999999999]", 1, 14, "not a whole number of at least 1"},
    {"privacy: [k: [5]]", 1, 14, "a mapping of parameters is expected here, not a list"},
    {"privacy: [k: {k: 5, l: 3}]", 1, 21, "unknown key; known here is k"},
    {"privacy: [k: {}]", 1, 14, "k needs 'k'"},
    {"privacy: [k: ]", 1, 11, "a whole number is missing here"},
    {"privacy: [l-diversity: 3]", 1, 24, "a mapping of parameters is expected here, not a single value"},
    {"privacy: [l-diversity: {attribute: d}]", 1, 24, "l-diversity needs 'l'"},
    {"privacy: [l-diversity: {attribute: d, l: 0}]", 1, 42, "l-diversity: l must be at least 1"},
    {"privacy: [l-diversity: {attribute: d, l: 2.5}]", 1, 42, "l-diversity: l must be a whole number"},
    {"privacy: [l-diversity: {attribute: d, l: 3, kind: distnct}]", 1, 51,
     "'distnct' is not a kind; did you mean 'distinct'?"},
    {"privacy: [l-diversity: {attribute: d, l: 3, kind: shannon}]", 1, 51,
     "not a kind; there are distinct, entropy and recursive"},
    {"privacy: [l-diversity: {attribute: d, l: 3, c: 2}]", 1, 48, "c goes with kind: recursive"},
    {"privacy: [l-diversity: {attribute: d, l: 3, kind: recursive}]", 1, 24, "kind: recursive needs 'c'"},
    {"privacy: [l-diversity: {attribute: d, l: 3, kind: recursive, c: 0}]", 1, 65, "c must be greater than 0"},
    {"privacy: [l-diversity: {attribute: d, l: 3, kind: recursive, c: x}]", 1, 65, NO_NUMBER},
    {"privacy: [l-diversity: {attribute: [d], l: 3}]", 1, 36, "the name of a column is expected here, not a list"},
    {"privacy: [l-diversity: {attribute: \"\", l: 3}]", 1, 36, "the name of a column is empty"},
    {"privacy: [l-diversity: {atribute: d, l: 3}]", 1, 25, "unknown key 'atribute'; did you mean 'attribute'?"},
    {"privacy: [t-closeness: {attribute: d}]", 1, 24, "t-closeness needs 't'"},
    {"privacy: [t-closeness: {attribute: d, t: 1.5}]", 1, 42, "t-closeness: t must be between 0 and 1"},
    {"privacy: [t-closeness: {attribute: d, t: 0.2, distance: emd}]", 1, 57,
     "not a distance; there are equal, ordered and hierarchical"},
    {"privacy: [t-closeness: {attribute: d, t: 0.2, kind: equal}]", 1, 47,
     "unknown key; known here are attribute, distance and t"},
    {"privacy: [alpha-k: {attribute: d, k: 2}]", 1, 20, "alpha-k needs 'alpha'"},
    {"privacy: [alpha-k: {attribute: d, alpha: 0}]", 1, 42, "alpha-k: alpha must be greater than 0 and at most 1"},
    {"privacy: [alpha-k: {attribute: d, alpha: 1.1}]", 1, 42, "alpha-k: alpha must be greater than 0 and at most 1"},
    {"privacy: [alpha-k: {attribute: d, alpha: 0.1, k: 0}]", 1, 50, "not a whole number of at least 1"},
    {"privacy: [beta-likeness: {attribute: d, beta: 0}]", 1, 47, "beta-likeness: beta must be greater than 0"},
    {"privacy: [beta-likeness: {attribute: d, beta: 1, kind: best}]", 1, 56,
     "not a kind; there are basic and enhanced"},
    {"privacy: [delta-disclosure: {attribute: d, delta: 0}]", 1, 51, "delta-disclosure: delta must be greater than 0"},
    {"privacy: [delta-disclosure: 0.5]", 1, 29, "a mapping of parameters is expected here, not a single value"},
    {"privacy: [k-map: 0]", 1, 18, "not a whole number of at least 1"},
    {"privacy: [k-map: {attribute: d, k: 2}]", 1, 19, "unknown key; known here is k"},
    {"privacy: [delta-presence: {min: 0.5}]", 1, 27, "delta-presence needs 'max'"},
    {"privacy: [delta-presence: {min: 0.5, max: 0.2}]", 1, 43, "delta-presence: min must be at most max"},
    {"privacy: [delta-presence: {max: 1.5}]", 1, 33, "delta-presence: max must be greater than 0 and at most 1"},
    {"privacy: [max-risk: 0]", 1, 21, "max-risk: risk must be greater than 0 and at most 1"},
    {"privacy: [max-risk: 1.5]", 1, 21, "max-risk: risk must be greater than 0 and at most 1"},
    {"privacy: [average-risk: {risk: 0}]", 1, 32, "average-risk: risk must be greater than 0 and at most 1"},
    {"privacy: [average-risk: {}]", 1, 25, "average-risk needs 'risk'"},
    {"suppression: 1.5", 1, 14,
     "not a fraction from 0 to 1 or a percentage; a number of rows is {rows: N}, as an option 'N rows'"},
    {"suppression: -0.1", 1, 14,
     "not a fraction from 0 to 1 or a percentage; a number of rows is {rows: N}, as an option 'N rows'"},
    {"suppression: 10", 1, 14,
     "not a fraction from 0 to 1 or a percentage; a number of rows is {rows: N}, as an option 'N rows'"},
    {"suppression: {rows: -1}", 1, 21, "not a whole number of at least 0"},
    {"suppression: {rows: many}", 1, 21, "not a whole number of at least 0"},
    {"suppression: {row: 1}", 1, 15, "unknown key 'row'; did you mean 'rows'?"},
    {"suppression: {}", 1, 14, "suppression needs a number of rows"},
    {"suppression: [0.1]", 1, 14, "a fraction is expected here, not a list"},
    {"suppression:", 1, 1, "a fraction is missing here"},
    {"suppressed: hide", 1, 13, "not a treatment of suppressed rows; there are star, drop and keep-sensitive"},
    {"suppressed: stars", 1, 13, "'stars' is not a treatment of suppressed rows; did you mean 'star'?"},
    {"dependencies: {a: b}", 1, 15, "a list of dependencies is expected here, not a mapping"},
    {"dependencies: [\"\"]", 1, 16, "a dependency is empty"},
    {"dependencies: [[a]]", 1, 16, "a dependency is expected here, not a list"},
    {"method: fast", 1, 9,
     "not a method; there are optimal, samarati, bottom-up, bottom-up-rollup, incognito, incognito-superroots, "
     "incognito-cube, heuristic, datafly, mondrian, mondrian-relaxed, mondrian-1d, "
     "mondrian-best, mondrian-workload, kmsd, kmsd-ag, miracle, miracle-x, miracle-x-level, dmiracle, bitmap, "
     "acs, gcs, ocs and auto"},
    {"method: incognto", 1, 9, "'incognto' is not a method; did you mean 'incognito'?"},
    {"method:", 1, 1, "a method is missing here"},
    {"utility: dm*", 1, 10, "'dm*' is not a metric; did you mean 'dm'?"},
    {"utility: loss", 1, 10, "not a metric; there are lm, ncp, prec, entropy, dm, dm_star and c_avg"},
    {"options: 5", 1, 10, "a mapping like {time-limit: ...} is expected here, not a single value"},
    {"options: {timelimit: 5}", 1, 11, "unknown key 'timelimit'; did you mean 'time-limit'?"},
    {"options: {time-limit: -5}", 1, 23, NO_NUMBER},
    {"options: {time-limit: 5s}", 1, 23, NO_NUMBER},
    {"options: {seed: -1}", 1, 17, "not a whole number from 0 to 18446744073709551615"},
    {"options: {seed: 18446744073709551616}", 1, 17, "not a whole number from 0 to 18446744073709551615"},
    {"options: {seed: 1.5}", 1, 17, "not a whole number from 0 to 18446744073709551615"},
    {"options: {choose: wide}", 1, 19, "not a way to choose; there are range, entropy and loss"},
    {"attributes: {a: {role: quasi, cuts: across}}", 1, 37, "not a way to cut; there are hierarchy and order"},
    {"attributes: {a: {role: keep, cuts: order}}", 1, 36, "only a quasi-identifier has cuts"},
    {"attributes: {a: {role: keep, min-level: 1}}", 1, 41, "only a quasi-identifier has a min-level or a max-level"},
    {"levels: 3", 1, 9, "a mapping of quasi-identifiers to levels is expected here: {age: 2, zip: 1}"},
    {"levels: {a: -1}", 1, 13, "not a whole number from 0 to 255"},
    {"levels: [1, a=2]", 1, 9, "give every level with its quasi-identifier, or one for each in their order"},
    {"options: {climits: 5}", 1, 11, "unknown key 'climits'; did you mean 'climit'?"},
    {"output: []", 1, 9, "a path is expected here, not a list"},
    {"output: \"\"", 1, 9, "a path is empty"},
    {"report: {a: b}", 1, 9, "a path is expected here, not a mapping"},
    {"spreadsheet-safe: 2", 1, 19, "neither true nor false"},
    {"keep-order: 2", 1, 13, "neither true nor false"},
    {"keep-rowmap: maybe", 1, 14, "neither true nor false"},
    {"force: x", 1, 8, "neither true nor false"},
    {"keep_order: true", 1, 1, "unknown key 'keep_order'; did you mean 'keep-order'?"},
};

/* The whole message. */
static void expect(char *out, size_t size, const mistake *m)
{
    if (m->line > 0)
        snprintf(out, size, "%s:%" PRId64 ":%" PRId64 ": %s", file_path, m->line, m->column, m->message);
    else
        snprintf(out, size, "%s: %s", file_path, m->message);
}

/* Reads a text that is wrong, and compares what is said. */
static void assert_mistake(const char *text, size_t size, const mistake *m)
{
    kn_spec *spec = NULL;
    kn_error err = KN_ERROR_INIT;
    char     expected[1000];
    if (read_bytes(&spec, text, size, &err) != KN_INPUT) fail_msg("was read: %s", m->text);
    expect(expected, sizeof expected, m);
    assert_null(spec);
    if (strcmp(err.message, expected) != 0)
        fail_msg("\n%s\n  said:     %s\n  expected: %s", m->text, err.message, expected);
    assert_int_equal(err.line, m->line);
    assert_int_equal(err.column, m->column);
}

static void test_mistakes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++)
        assert_mistake(mistakes[i].text, strlen(mistakes[i].text), &mistakes[i]);
}

/* The same mistakes behind other lines, in other line ends and further to the right: the place moves along. */
static void test_places(void **state)
{
    (void)state;
    static const char *const before[] = {"# \xc3\xa9\n\n", "# a\r\n\r\n", "#\r\r"};
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        if (mistakes[i].text[0] == '%') continue; /* stands at the beginning */
        mistake m = mistakes[i];
        char    text[1000], message[1000];
        snprintf(text, sizeof text, "%s%s", before[i % 3], m.text);
        m.line += 2;
        if (strstr(m.message, "(first in line ")) {
            int line = 0, column = 0;
            assert_int_equal(
                sscanf(strstr(m.message, "(first in line "), "(first in line %d, column %d)", &line, &column), 2);
            snprintf(message, sizeof message, "this key is used twice (first in line %d, column %d)", line + 2, column);
            m.message = message;
        }
        assert_mistake(text, strlen(text), &m);
    }
    /* Columns count characters. */
    static const char    text[] = "{\"input\":\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80.csv\", na: [],  \"metod\": 1}";
    static const mistake m = {text, 1, 30, "unknown key 'metod'; did you mean 'method'?"};
    assert_mistake(text, strlen(text), &m);
}

/* ---- What the parser must not fall for ---- */

static void test_bytes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t      size;
        mistake     said;
    } bad[] = {
        {"", 0, {"", 0, 0, "it is empty"}},
        {"# x\n", 4, {"comment", 0, 0, "it is empty"}},
        {"\xef\xbb\xbf", 3, {"bom", 0, 0, "it is empty"}},
        {"input: a\0b", 10, {"NUL", 1, 9, "not UTF-8 text"}},
        {"input: a\n\0", 10, {"NUL at the end", 2, 1, "not UTF-8 text"}},
        {"input: \xff", 8, {"ff", 1, 8, "not UTF-8 text"}},
        {"input: \xc3\xa9\n# \xed\xa0\x80", 15, {"surrogate", 2, 3, "not UTF-8 text"}},
        {"\xff\xfei\0n\0", 6, {"UTF-16", 1, 1, "not UTF-8 text"}},
        {"i\0n\0p\0", 6, {"UTF-16 without mark", 1, 2, "not UTF-8 text"}},
        {"\x1f\x8b", 2, {"cut gzip", 0, 0, NULL}},
        {"input: >-\n  a\n", 14, {"folded", 2, 1, "folded texts (>) are not supported; write the text in quotes"}},
        {"input: \"\\U00110000\"", 20, {"beyond Unicode", 0, 0, NULL}},
        {"input: \"\\ude00\"", 15, {"half a pair", 0, 0, NULL}},
        {"input: \"\\ud83dx\"", 16, {"half a pair", 0, 0, NULL}},
        {"input: \"\\ud83d\\u0041\"", 21, {"half a pair", 0, 0, NULL}},
        {"input: \"\\x4\"", 12, {"half a byte", 0, 0, NULL}},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        kn_spec *spec = NULL;
        kn_error err = KN_ERROR_INIT;
        if (bad[i].said.message)
            assert_mistake(bad[i].text, bad[i].size, &bad[i].said);
        else
            assert_int_not_equal(read_bytes(&spec, bad[i].text, bad[i].size, &err), KN_OK);
    }
    kn_spec *spec = NULL;
    kn_error err = KN_ERROR_INIT;
    assert_int_equal(kn_spec_read(&spec, ctx, "/nowhere/release.yaml", &err), KN_INPUT);
    assert_null(spec);
    assert_non_null(strstr(err.message, "/nowhere/release.yaml: cannot open"));
    assert_int_equal(kn_spec_read(&spec, ctx, "/", &err), KN_INPUT);
}

/* `before` repeated, then `after`. */
static void assert_repeated(const char *begin, const char *piece, size_t count, const char *end, const char *message)
{
    size_t size = strlen(begin) + strlen(piece) * count + strlen(end), at = 0;
    char  *text = malloc(size + 1);
    assert_non_null(text);
    at = strlen(strcpy(text, begin));
    for (size_t i = 0; i < count; i++, at += strlen(piece)) memcpy(text + at, piece, strlen(piece));
    strcpy(text + at, end);
    kn_spec  *spec = NULL;
    kn_error  err = KN_ERROR_INIT;
    kn_status status = read_bytes(&spec, text, size, &err);
    if (message) {
        assert_int_equal(status, KN_INPUT);
        if (!strstr(err.message, message)) fail_msg("said: %s", err.message);
    } else {
        assert_ok(status, err);
    }
    kn_spec_free(spec);
    free(text);
}

static void test_limits(void **state)
{
    (void)state;
    static const char deep[] = "more than 32 lists and mappings inside each other";
    assert_repeated("", "[", 1 << 18, "", deep);
    assert_repeated("", "[", 1 << 20, "", ":1:1000001: more than 1000000 values");
    assert_repeated("", "{a: ", 1 << 18, "", deep);
    assert_repeated("", "- ", 1 << 18, "a", deep);
    assert_repeated("", "? ", 1 << 18, "a", "key must be a text");
    assert_repeated("input: ", "[", 31, "]", "never closed");
    assert_repeated("input: [a", "\\\n", 3, "", "never closed");
    assert_repeated("output: \"", "x", 1 << 20, "\"", NULL);
    assert_repeated("output: ", "x ", 1 << 18, "", NULL);
    assert_repeated("", "x", 1 << 20, ": y", "unknown key");
    assert_repeated("", "#\n", 1 << 20, "input: a", NULL);
    assert_repeated("na: [", "a, ", 200000, "]", NULL);
    assert_repeated("na: [", "a, ", 1000001, "]", "more than 1000000 values");
    assert_repeated("privacy: [", "k: 5, ", 1001, "]", "more than 1000 models");
    assert_repeated("", " ", 16 << 20, "input: a", "larger than 16 MiB");
    assert_repeated("", "a: &a [*a, *a]\n", 100, "", "anchors");
    assert_repeated("", "!a ", 1000, "", "tags");
    assert_repeated("", "---\n", 1000, "", "second document");
    assert_repeated("", "%TAG !a! b\n", 2, "", "not YAML");
}

/* Many columns, in a time that does not grow with their square. */
static void test_many_attributes(void **state)
{
    (void)state;
    enum { MANY = 65535 };
    for (int more = 0; more < 2; more++) {
        kn_buffer text;
        kn_buffer_init(&text, ctx);
        kn_buffer_add(&text, "attributes:\n");
        for (int i = 0; i < MANY + more; i++) kn_buffer_format(&text, "  c%d: {role: quasi, type: text}\n", i);
        kn_spec *spec = NULL;
        kn_error err = KN_ERROR_INIT;
        if (more == 0) {
            assert_ok(read_bytes(&spec, text.data, text.size, &err), err);
            assert_int_equal(spec->attribute_count, MANY);
            assert_int_equal(spec->csv.type_count, MANY);
            assert_string_equal(spec->csv.types[MANY - 1].column, "c65534");
            assert_int_equal(spec->attributes[MANY - 1].line, MANY + 1);
        } else {
            assert_int_equal(read_bytes(&spec, text.data, text.size, &err), KN_INPUT);
            assert_non_null(strstr(err.message, ":65537:3: more than 65535 columns"));
        }
        kn_spec_free(spec);
        kn_buffer_free(&text);
    }
}

/* A table named by mistake: nothing of it is said. */
static void test_nothing_shown(void **state)
{
    (void)state;
    static const char *const data[] = {
        "name,age\nZORRO,34\nZORRO,35\n",
        "name;age\nZORRO;34\n",
        "ZORRO: 34\n",
        "{\"ZORRO\": \"ZORRO\"}",
        "[{\"name\": \"ZORRO\"}]",
        "name: {ZORRO",
        "\"ZORRO",
        "!ZORRO!x y",
        "*ZORRO",
        "a: \"\\ZORRO\"",
        "%ZORRO\n---\nx",
        "method: ZORRO",
        "kanon: ZORRO",
        "privacy: [k: ZORRO]",
        "attributes: {a: ZORRO}",
        "suppression: ZORRO",
        "ZORRO\tZORRO\n\tZORRO: x",
        "- ZORRO\n- ZORRO: ZORRO: x",
    };
    for (size_t i = 0; i < sizeof data / sizeof *data; i++) {
        kn_spec *spec = NULL;
        kn_error err = KN_ERROR_INIT;
        assert_int_equal(read_bytes(&spec, data[i], strlen(data[i]), &err), KN_INPUT);
        if (strstr(err.message, "ZORRO")) fail_msg("shown: %s", err.message);
    }
}

/* ---- Cut short ---- */

static void test_truncated(void **state)
{
    (void)state;
    static const char *const whole[] = {everything, everything_json};
    int                      good = 0;
    for (int w = 0; w < 2; w++)
        for (size_t size = 0; size < strlen(whole[w]); size++) {
            kn_spec *spec = NULL;
            kn_error err = KN_ERROR_INIT;
            char    *exact = malloc(size + 1); /* so that a read past the end is seen */
            assert_non_null(exact);
            memcpy(exact, whole[w], size);
            kn_status status = read_bytes(&spec, exact, size, &err);
            free(exact);
            if (status == KN_OK) {
                good++;
                free(dump(spec));
            } else {
                assert_int_equal(status, KN_INPUT);
                assert_int_equal(strncmp(err.message, file_path, strlen(file_path)), 0);
                assert_null(spec);
            }
            kn_spec_free(spec);
        }
    assert_true(good > 20); /* after most lines of the first */
}

/* ---- Field by field ---- */

static kn_spec *new_spec(void)
{
    kn_spec *spec = NULL;
    kn_error err = KN_ERROR_INIT;
    assert_ok(kn_spec_create(&spec, ctx, &err), err);
    return spec;
}

/* Setting every field one by one gives the same as the file. */
static void test_set(void **state)
{
    (void)state;
    static const char *const fields[][2] = {
        {"kanon", "1"},
        {"force", "true"},
        {"keep-rowmap", "true"},
        {"keep-order", "true"},
        {"options", "{time-limit: 2.5}"},
        {"seed", "18446744073709551615"},
        {"method", "incognito-cube"},
        {"utility", "dm_star"},
        {"dependencies", "['department -> phone', 'a, b -> c']"},
        {"suppressed", "keep-sensitive"},
        {"suppression", "5%"},
        {"missing", "wildcard"},
        {"undeclared", "refuse"},
        {"entity", "patient"},
        {"report", "report.html"},
        {"output", "release.csv"},
        {"population", "../all.csv"},
        {"na", "[\"\", NA, null, '-']"},
        {"timezone", "+02:00"},
        {"encoding", "latin1"},
        {"header", "false"},
        {"delimiter", "';'"},
        {"input", "[patients.csv, /data/more.csv]"},
    };
    kn_error err = KN_ERROR_INIT;
    kn_spec *spec = new_spec();
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        assert_ok(kn_spec_set(spec, fields[i][0], fields[i][1], "--x", &err), err);
    char part[sizeof everything]; /* of the file */
    strcpy(part, strstr(everything, "attributes:\n") + strlen("attributes:\n"));
    *strstr(part, "entity:") = '\0';
    assert_ok(kn_spec_set(spec, "attributes", part, "--x", &err), err);
    strcpy(part, strstr(everything, "privacy:\n") + strlen("privacy:\n"));
    *strstr(part, "suppression:") = '\0';
    assert_ok(kn_spec_set(spec, "privacy", part, "--x", &err), err);
    assert_ok(kn_spec_set(spec, "decimal", "','", "--x", &err), err); /* behind the hierarchies: reaches them */
    assert_dump(spec, everything_dump, "");
    assert_int_equal(spec->attributes[0].line, 0);
    kn_spec_free(spec);
}

static void test_set_texts(void **state)
{
    (void)state;
    static const char *const odd[] = {"*a", "[b]", "x: y", "null", "# c", "", "\"", "\xc3\xa9"};
    kn_error                 err = KN_ERROR_INIT;
    kn_spec                 *spec = new_spec();
    assert_ok(kn_spec_set_texts(spec, "na", odd, 8, "--na", &err), err);
    assert_int_equal(spec->csv.na_count, 8);
    for (int i = 0; i < 8; i++) assert_string_equal(spec->csv.na[i], odd[i]);
    assert_ok(kn_spec_set_texts(spec, "input", odd, 3, "FILE", &err), err);
    assert_string_equal(spec->inputs[2], "x: y");
    assert_ok(kn_spec_set_texts(spec, "output", odd + 3, 1, "--output", &err), err);
    assert_string_equal(spec->output, "null");
    assert_ok(kn_spec_set_texts(spec, "entity", odd, 1, "--entity", &err), err);
    assert_string_equal(spec->entity, "*a");
    assert_ok(kn_spec_set_texts(spec, "na", NULL, 0, "--no-na", &err), err);
    assert_non_null(spec->csv.na);
    assert_int_equal(spec->csv.na_count, 0);
    char *before = dump(spec);
    assert_int_equal(kn_spec_set_texts(spec, "input", odd, 8, "FILE", &err), KN_USAGE);
    assert_string_equal(err.message, "FILE: a path is empty");
    assert_int_equal(kn_spec_set_texts(spec, "output", odd, 2, "--output", &err), KN_USAGE);
    assert_string_equal(err.message, "--output: takes one value");
    assert_int_equal(kn_spec_set_texts(spec, "input", NULL, 0, "FILE", &err), KN_USAGE);
    assert_int_equal(kn_spec_set_texts(spec, "nonsense", odd, 1, "--x", &err), KN_USAGE);
    char *after = dump(spec);
    assert_string_equal(before, after);
    free(before);
    free(after);
    kn_spec_free(spec);
}

/* A change that makes no sense says so and changes nothing. */
static void test_set_mistakes(void **state)
{
    (void)state;
    static const struct {
        const char *field, *text, *message;
    } bad[] = {
        {"method", "incognto", "--x: 'incognto' is not a method; did you mean 'incognito'?"},
        {"suppression", "2",
         "--x: not a fraction from 0 to 1 or a percentage; a number of rows is {rows: N}, as an option 'N rows'"},
        {"output", "", "--x: a value is missing"},
        {"output", "# c", "--x: a value is missing"},
        {"output", "*a", "--x: " NO_ANCHORS},
        {"output", "[a", "--x:1:3: not YAML or JSON: a '[' is never closed"},
        {"outputs", "a", "--x: there is no field 'outputs'"},
        {"privacy", "[k: 7, l-diversity: {l: x}]", "--x:1:25: " NO_NUMBER},
        {"attributes", "{new: keep, zip: {role: weight, type: date, format: x}}",
         "--x:1:53: a date needs %Y, %m (or %b) and %d"},
        {"attributes", "{zip: sensitive, \"\": quasi}", "--x:1:18: the name of a column is empty"},
        {"options", "{time-limit: 9, seed: x}", "--x:1:23: not a whole number from 0 to 18446744073709551615"},
        {"seed", "x", "--x: not a whole number from 0 to 18446744073709551615"},
        {"input", "[a, '']", "--x:1:5: a path is empty"},
        {"na", "[a, {b: c}]", "--x:1:5: a text is expected here (the empty one is \"\")"},
        {"entity", "{key: x, y: z}", "--x:1:10: unknown key; known here are key and table"},
    };
    kn_spec *spec = read_good(everything);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        kn_error err = KN_ERROR_INIT;
        char    *before = dump(spec);
        assert_int_equal(kn_spec_set(spec, bad[i].field, bad[i].text, "--x", &err), KN_USAGE);
        if (strcmp(err.message, bad[i].message) != 0)
            fail_msg("\n  said:     %s\n  expected: %s", err.message, bad[i].message);
        char *after = dump(spec);
        assert_string_equal(before, after);
        free(before);
        free(after);
    }
    kn_error err = KN_ERROR_INIT;
    assert_int_equal(kn_spec_set(spec, "method", "x", NULL, &err), KN_USAGE);
    assert_int_equal(strncmp(err.message, "method: ", 8), 0);
    assert_int_equal(kn_spec_set(spec, "method", "x", NULL, NULL), KN_USAGE);
    kn_spec_free(spec);
}

static void test_later_wins(void **state)
{
    (void)state;
    kn_error err = KN_ERROR_INIT;
    kn_spec *spec = read_good("attributes:\n  zip: {role: quasi, type: date, format: '%Y-%m-%d', hierarchy: suppress}\n"
                              "  age: {type: integer}\n"
                              "privacy: [k: 5, l-diversity: {attribute: d, l: 3}]\n"
                              "options: {seed: 3, time-limit: 4}\nsuppression: {rows: 5}\n");
    assert_ok(kn_spec_set_role(spec, "zip", KN_ROLE_KEEP, &err), err);
    assert_ok(kn_spec_set_role(spec, "new", KN_ROLE_SENSITIVE, &err), err);
    assert_int_equal(kn_spec_set_role(spec, "", KN_ROLE_KEEP, &err), KN_USAGE);
    assert_true(spec->attributes[0].has_hierarchy && spec->attributes[0].line == 2);
    assert_ok(kn_spec_set_attribute(spec, "zip", "{type: datetime}", "--attribute", &err), err);
    assert_null(spec->attributes[0].format); /* it was the date's */
    assert_ok(kn_spec_set_attribute(spec, "age", "quasi", "--attribute", &err), err);
    assert_ok(kn_spec_set_attribute(spec, "newer", "{role: quasi, weight: 3}", "--attribute", &err), err);
    assert_int_equal(kn_spec_set_attribute(spec, "newer", "{role: quasi, wieght: 3}", "--attribute", &err), KN_USAGE);
    assert_string_equal(err.message, "--attribute:1:15: unknown key 'wieght'; did you mean 'weight'?");
    assert_int_equal(kn_spec_set_attribute(spec, "", "quasi", "--attribute", &err), KN_USAGE);
    assert_ok(kn_spec_set(spec, "attributes", "{age: {weight: 2}, last: keep}", "--attributes", &err), err);
    assert_ok(kn_spec_set(spec, "options", "{seed: 9}", "--options", &err), err);
    assert_ok(kn_spec_set(spec, "suppression", "0.5", "--suppression", &err), err);
    kn_model m = KN_MODEL_INIT;
    char     column[] = "d";
    m.k = 9;
    assert_ok(kn_spec_set_model(spec, &m, &err), err);
    m = (kn_model)KN_MODEL_INIT;
    m.kind = KN_MODEL_DISTINCT;
    m.attribute = column;
    m.l = (kn_ratio){7, 1};
    assert_ok(kn_spec_set_model(spec, &m, &err), err);
    m.kind = KN_MODEL_ENTROPY;
    assert_ok(kn_spec_set_model(spec, &m, &err), err);
    column[0] = 'x'; /* it was copied */
    assert_dump(spec,
                "delimiter=0 header=1 encoding=0 decimal=.\n"
                "type=zip datetime -\ntype=age integer -\n"
                "attribute=zip role=keep type=datetime suppress decimal=. weight=1/1\n"
                "attribute=age role=quasi type=integer weight=2/1\n"
                "attribute=new role=sensitive type=auto weight=1/1\n"
                "attribute=newer role=quasi type=auto weight=3/1\n"
                "attribute=last role=keep type=auto weight=1/1\n"
                "undeclared=drop missing=value\n"
                "model=k - of=- k=9 l=0/1 c=0/1 bound=0/1 low=0/1\n"
                "model=l-diversity distinct of=d k=0 l=7/1 c=0/1 bound=0/1 low=0/1\n"
                "model=l-diversity entropy of=d k=0 l=7/1 c=0/1 bound=0/1 low=0/1\n"
                "suppression=5/10\n"
                "suppressed=star method=optimal utility=lm time=4 seed=9 seeded=1\n"
                "order=0 rowmap=0 force=0\n",
                "");
    assert_ok(kn_spec_set(spec, "privacy", "[]", "--privacy", &err), err);
    assert_int_equal(spec->model_count, 0);
    kn_spec_free(spec);
}

/* ---- Trees ---- */

static const char trees[] =
    "input: records.xml\noutput: release.xml\nrecord: people/person\n"
    "classes:\n"
    "  MedicalCenter: {value: '@v', hierarchy: h.dgh}\n"
    "  Disease: {value: text, hierarchy: h.dgh, role: sensitive}\n"
    "  Treatment:\n"
    "  Ward: {negative: true, role: quasi}\n"
    "privacy: [{k-mn: {k: 3, m: 2, n: 1}}, {l-diversity: {attribute: Disease, l: 2}}]\n"
    "options: {g: 4, semantics: paths, strict-structure: true, disassociation: ancestor, support: 0.05}\n";

static void test_trees(void **state)
{
    (void)state;
    kn_error err = KN_ERROR_INIT;
    kn_spec *spec = read_good(trees);
    char     path[5000];
    snprintf(path, sizeof path, "%sh.dgh", file_folder);
    assert_int_equal(kn_spec_shape(spec), KN_SHAPE_RECORDS);
    assert_string_equal(spec->record, "people/person");
    assert_int_equal(spec->class_count, 4);
    const kn_spec_class *c = spec->classes;
    assert_string_equal(c[0].name, "MedicalCenter");
    assert_string_equal(c[0].value, "@v");
    assert_true(c[0].has_hierarchy && !c[0].sensitive && !c[0].negative);
    assert_string_equal(c[0].hierarchy.path, path);
    assert_int_equal(c[0].line, 5);
    assert_int_equal(c[0].column, 3);
    assert_string_equal(c[1].value, "text");
    assert_true(c[1].sensitive);
    assert_null(c[2].value);
    assert_false(c[2].has_hierarchy);
    assert_string_equal(c[3].name, "Ward");
    assert_true(c[3].negative);
    assert_true(spec->kmn.k == 3 && spec->kmn.m == 2 && spec->kmn.n == 1);
    assert_int_equal(spec->model_count, 1);
    assert_true(spec->g == 4 && spec->semantics == KN_SEMANTICS_PATHS && spec->strict_structure);
    assert_int_equal(spec->disassociation, KN_DISASSOCIATE_ANCESTOR);
    assert_true(spec->support.numerator * 20 == spec->support.denominator);

    /* A list, and what comes later wins; a failure changes nothing. */
    assert_ok(kn_spec_set(spec, "classes", "[{item: {hierarchy: {mask: right}}}, other]", "--classes", &err), err);
    assert_int_equal(spec->class_count, 2);
    assert_int_equal(spec->classes[0].hierarchy.kind, KN_HIERARCHY_MASK);
    assert_string_equal(spec->classes[1].name, "other");
    assert_int_equal(kn_spec_set(spec, "classes", "[a, b, a]", "--classes", &err), KN_USAGE);
    assert_int_equal(spec->class_count, 2);
    assert_ok(kn_spec_set(spec, "privacy", "[{k-mn: {k: 5, m: 3}}]", "--privacy", &err), err);
    assert_true(spec->kmn.k == 5 && spec->kmn.m == 3 && spec->kmn.n == 0 && spec->model_count == 0);
    assert_int_equal(kn_spec_set(spec, "privacy", "[{k-mn: {k: 5, m: 3, n: 4}}]", "--privacy", &err), KN_USAGE);
    assert_int_equal(spec->kmn.k, 5);
    assert_ok(kn_spec_set(spec, "g", "7", "--g", &err), err);
    assert_int_equal(spec->g, 7);
    assert_ok(kn_spec_check(spec, &err), err);
    assert_int_equal(spec->method, KN_METHOD_GCS);
    assert_ok(kn_spec_set(spec, "classes", "{item: {hierarchy: release.dgh}}", "--classes", &err), err);
    assert_ok(kn_spec_set(spec, "output", "release.dgh", "--output", &err), err);
    assert_int_equal(kn_spec_check(spec, &err), KN_USAGE);
    assert_non_null(strstr(err.message, "the output would overwrite a file that is read"));
    assert_ok(kn_spec_set(spec, "privacy", "[{k: 5}]", "--privacy", &err), err);
    assert_int_equal(spec->kmn.k, 0);
    kn_spec_free(spec);
}

static void test_trees_wrong(void **state)
{
    (void)state;
    static const mistake bad[] = {
        {"classes: a", 1, 10, "a mapping or a list of classes is expected here"},
        {"classes: {}", 1, 10, "from 1 to 1000 classes are expected here"},
        {"classes: [a, {b: {}, c: {}}]", 1, 14, "each class is an item of its own: its name, or a mapping of it"},
        {"classes: [a, [b]]", 1, 14, "each class is an item of its own: its name, or a mapping of it"},
        {"classes: [a, b, a]", 1, 17, "class \"a\" is given twice"},
        {"classes: {a: {valeu: x}}", 1, 15, "unknown key 'valeu'; did you mean 'value'?"},
        {"classes: {a: {value: '@'}}", 1, 22, "the name of an attribute is expected after @"},
        {"classes: {a: {role: keep}}", 1, 21, "not a role of a class; there are quasi and sensitive"},
        {"classes: {a: {role: sensitive, negative: true}}", 1, 11,
         "class \"a\": nobody is assumed to know values of a sensitive class, nor that they are absent"},
        {"record: a//b", 1, 9, "a path is names with one / between them"},
        {"record: a/", 1, 9, "a path is names with one / between them"},
        {"privacy: [{k-mn: 3}]", 1, 18, "a mapping like {k: 3, m: 2, n: 1} is expected here, not a single value"},
        {"privacy: [{k-mn: {k: 3}}]", 1, 18, "k-mn needs 'k' and 'm'"},
        {"privacy: [{k-mn: {m: 3}}]", 1, 18, "k-mn needs 'k' and 'm'"},
        {"privacy: [{k-mn: {k: 3, m: 2, n: 2}}]", 1, 18,
         "n is at most m (m - 1) / 2, here 1: there are no more relations"},
        {"privacy: [{k-mn: {k: 3, m: 1, n: 1}}]", 1, 18,
         "n is at most m (m - 1) / 2, here 0: there are no more relations"},
        {"privacy: [{k-mn: {k: 3, m: 2}}, {k-mn: {k: 4, m: 2}}]", 1, 40, "this model is given twice"},
        {"privacy: [{k-nm: {k: 3, m: 2}}]", 1, 12, "unknown key 'k-nm'; did you mean 'k-mn'?"},
        {"options: {support: 2}", 1, 20, "a share from 0 to 1 is expected here"},
        {"options: {semantics: path}", 1, 22, "'path' is not a kind of knowledge of relations; did you mean 'paths'?"},
    };
    static const char *const outside[] = {"privacy: [{k-mn: {k: 0, m: 2}}]",
                                          "privacy: [{k-mn: {k: 3, m: 0}}]",
                                          "privacy: [{k-mn: {k: 3, m: 65}}]",
                                          "privacy: [{k-mn: {k: 3, m: 2, n: -1}}]",
                                          "options: {g: 0}",
                                          "options: {strict-structure: maybe}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_mistake(bad[i].text, strlen(bad[i].text), &bad[i]);
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        kn_spec *spec = NULL;
        assert_int_equal(read_bytes(&spec, outside[i], strlen(outside[i]), NULL), KN_INPUT);
    }
}

/* ---- Does it fit together? ---- */

#define INPUT "input: a.csv\noutput: b.csv\n"
#define QUASI "attributes: {q: quasi, s: sensitive, t: keep}\n"

static void test_check(void **state)
{
    (void)state;
    static const mistake bad[] = {
        {"kanon: 1", 0, 0, "no input is given (input: FILE, or a file on the command line)"},
        {"input: a", 0, 0, "no output is given (output: FILE, as an option --output FILE)"},
        {"input: a\noutput: ./a\nprivacy: [k: 2]\nattributes: {q: quasi}", -1, 0, ""},
        {"input: [x, a]\noutput: a", 2, 9, "the output would overwrite a file that is read"},
        {"input: a\noutput: b\nreport: a", 3, 9, "the report would overwrite a file that is read"},
        {"input: a\noutput: release.yaml", 2, 9, "the output would overwrite a file that is read"},
        {"input: a\npopulation: p\noutput: p", 3, 9, "the output would overwrite a file that is read"},
        {"input: a\noutput: h\nattributes: {q: {role: quasi, hierarchy: h}}", 2, 9,
         "the output would overwrite a file that is read"},
        {"input: a\noutput: h\nattributes: {q: {role: identifier, pseudonym: {key-file: h}}}", 2, 9,
         "the output would overwrite a file that is read"},
        {"input: a\noutput: b\nreport: b", 3, 9, "the report and the output are the same file"},
        {INPUT "delimiter: ','\ndecimal: ','", 4, 10, "the delimiter and the decimal mark are the same"},
        {INPUT, 0, 0, "no column is a quasi-identifier (role: quasi, as an option --qi COLUMNS)"},
        {INPUT "attributes: {a: keep, b: {type: text}}", 3, 23, "column \"b\" has no role"},
        {INPUT "attributes: {a: weight, b: weight}", 3, 25, "column \"b\" is a second weight"},
        {INPUT "attributes: {a: {role: quasi, weight: 0}}", 0, 0, "every quasi-identifier has weight 0"},
        {INPUT QUASI, 0, 0, "no privacy model is given"},
        {INPUT QUASI "privacy: []", 0, 0, "no privacy model is given"},
        {INPUT QUASI "entity: {key: s}", 4, 9, NULL},
        {INPUT QUASI "entity: t", 4, 9, "column \"t\" says whose row it is: its role can only be identifier, not keep"},
        {INPUT QUASI "privacy: [k: 2, l-diversity: {attribute: u, l: 2}]", 4, 17,
         "l-diversity: column \"u\" is not declared"},
        {INPUT QUASI "privacy:\n- t-closeness: {attribute: q, t: 0.2}", 5, 3,
         "t-closeness: column \"q\" is quasi, not sensitive"},
        {INPUT QUASI "privacy:\n- t-closeness: {distance: hierarchical, t: 0.2}", 5, 3,
         "t-closeness: column \"s\" has no hierarchy, which the distance needs"},
        {INPUT "attributes: {q: quasi}\nprivacy: [l-diversity: {l: 2}]", 4, 11,
         "l-diversity does not say of which column (attribute: COLUMN): there is not exactly one sensitive one"},
        {INPUT "attributes: {q: quasi, s: sensitive, t: sensitive}\nprivacy: [l-diversity: {l: 2}]", 4, 11,
         "l-diversity does not say of which column (attribute: COLUMN): there is not exactly one sensitive one"},
        {INPUT QUASI "privacy: [k-map: 2]", 4, 11,
         "k-map needs a population, hierarchies that carry one, or a column of weights (role: weight)"},
        {INPUT QUASI "privacy: [delta-presence: {max: 0.5}]", 4, 11, "delta-presence needs a population"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        kn_error  err = KN_ERROR_INIT;
        kn_spec  *spec = read_good(bad[i].text);
        char      expected[1000];
        kn_status status = kn_spec_check(spec, &err);
        kn_spec_free(spec);
        if (bad[i].line < 0) {
            assert_ok(status, err);
            continue;
        }
        assert_int_equal(status, KN_INPUT);
        assert_int_equal(err.line, bad[i].line);
        if (!bad[i].message) continue;
        expect(expected, sizeof expected, &bad[i]);
        assert_string_equal(err.message, expected);
    }
}

static void test_check_good(void **state)
{
    (void)state;
    static const char *const good[] = {
        INPUT QUASI "privacy: [k: 2]",
        INPUT QUASI "privacy: [l-diversity: {l: 2}, t-closeness: {attribute: s, t: 0.1}]",
        INPUT QUASI "privacy: [k: 2]\nentity: nobody",
        INPUT "attributes: {q: quasi, p: identifier, w: weight}\nprivacy: [k-map: 2]\nentity: p",
        INPUT QUASI "privacy: [k-map: 2, delta-presence: {max: 0.5}]\npopulation: p.csv",
        INPUT QUASI "privacy: [max-risk: 0.2, average-risk: 0.1]",
        "input: ['-', a]\noutput: '-'\n" QUASI "privacy: [k: 2]",
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        kn_error err = KN_ERROR_INIT;
        kn_spec *spec = read_good(good[i]);
        assert_ok(kn_spec_check(spec, &err), err);
        assert_ok(kn_spec_check(spec, &err), err); /* a second time too */
        for (int m = 0; m < spec->model_count; m++)
            if (spec->models[m].kind >= KN_MODEL_DISTINCT && spec->models[m].kind <= KN_MODEL_DELTA)
                assert_string_equal(spec->models[m].attribute, "s"); /* filled in */
        kn_spec_free(spec);
    }
}

/* Built without a file: what is wrong is KN_USAGE. Models of the same column hold together, named or not. */
static void test_check_built(void **state)
{
    (void)state;
    kn_error err = KN_ERROR_INIT;
    kn_spec *spec = new_spec();
    assert_int_equal(kn_spec_check(spec, &err), KN_USAGE);
    assert_string_equal(err.message, "no input is given (input: FILE, or a file on the command line)");
    assert_ok(kn_spec_set(spec, "input", "['-', '-']", "FILE", &err), err);
    assert_ok(kn_spec_set(spec, "output", "b", "--output", &err), err);
    assert_int_equal(kn_spec_check(spec, &err), KN_USAGE);
    assert_string_equal(err.message, "standard input ('-') can be read once only");
    assert_ok(kn_spec_set(spec, "input", "a", "FILE", &err), err);
    assert_ok(kn_spec_set_role(spec, "q", KN_ROLE_QUASI, &err), err);
    assert_ok(kn_spec_set_role(spec, "s", KN_ROLE_SENSITIVE, &err), err);
    kn_model m = KN_MODEL_INIT;
    assert_int_equal(kn_spec_set_model(spec, &m, &err), KN_USAGE); /* k is 0 */
    assert_int_equal(spec->model_count, 0);
    m.k = 3;
    assert_ok(kn_spec_set_model(spec, &m, &err), err);
    m.kind = KN_MODEL_T_EQUAL;
    m.attribute = "s";
    m.bound = (kn_ratio){1, 10};
    assert_ok(kn_spec_set_model(spec, &m, &err), err);
    m.kind = KN_MODEL_T_ORDERED;
    m.attribute = NULL;
    assert_ok(kn_spec_set_model(spec, &m, &err), err);
    m.kind = KN_MODEL_T_EQUAL;
    m.bound = (kn_ratio){2, 10};
    assert_ok(kn_spec_set_model(spec, &m, &err), err);
    assert_int_equal(spec->model_count, 4);
    assert_ok(kn_spec_check(spec, &err), err);
    assert_int_equal(spec->model_count, 3);
    assert_int_equal(spec->models[1].kind, KN_MODEL_T_EQUAL);
    assert_int_equal(spec->models[1].bound.numerator, 1);
    assert_int_equal(spec->models[2].kind, KN_MODEL_T_ORDERED);
    assert_string_equal(spec->models[2].attribute, "s");
    kn_spec_free(spec);
}

/* Promises of one model about one column all hold: one says as much as all. */
static void test_models_together(void **state)
{
    (void)state;
    static const struct {
        const char *privacy;
        int         count;
        kn_model    first;
    } cases[] = {
        {"[k: 2, k: 7, k: 3]", 1, {.kind = KN_MODEL_K, .k = 7, .l = {0, 1}, .bound = {0, 1}, .low = {0, 1}}},
        {"[{l-diversity: {l: 2, attribute: s}}, {l-diversity: {l: 4}}, {l-diversity: {l: 3, kind: entropy}}]",
         2,
         {.kind = KN_MODEL_DISTINCT, .l = {4, 1}, .bound = {0, 1}, .low = {0, 1}}},
        {"[{t-closeness: {t: 20%}}, {t-closeness: {t: 0.15}}, {t-closeness: {t: 0.3}}]",
         1,
         {.kind = KN_MODEL_T_EQUAL, .l = {0, 1}, .bound = {15, 100}, .low = {0, 1}}},
        {"[{alpha-k: {alpha: 0.5, k: 2}}, {alpha-k: {alpha: 0.4}}, {alpha-k: {alpha: 0.6, k: 5}}]",
         1,
         {.kind = KN_MODEL_ALPHA_K, .k = 5, .l = {0, 1}, .bound = {4, 10}, .low = {0, 1}}},
        {"[max-risk: 0.2, max-risk: 0.1]",
         1,
         {.kind = KN_MODEL_MAX_RISK, .l = {0, 1}, .bound = {1, 10}, .low = {0, 1}}},
        {"[{delta-presence: {min: 0.1, max: 0.5}}, {delta-presence: {min: 0.2, max: 0.6}}]",
         1,
         {.kind = KN_MODEL_PRESENCE, .l = {0, 1}, .bound = {5, 10}, .low = {2, 10}}},
        {"[{delta-presence: {min: 0.1, max: 0.2}}, {delta-presence: {min: 0.3, max: 0.6}}]",
         2,
         {.kind = KN_MODEL_PRESENCE, .l = {0, 1}, .bound = {2, 10}, .low = {1, 10}}},
        {"[{l-diversity: {l: 2, c: 2, kind: recursive}}, {l-diversity: {l: 3, c: 1, kind: recursive}}]",
         1,
         {.kind = KN_MODEL_RECURSIVE, .l = {3, 1}, .c = {1, 1}, .bound = {0, 1}, .low = {0, 1}}},
        {"[{l-diversity: {l: 2, c: 1, kind: recursive}}, {l-diversity: {l: 3, c: 2, kind: recursive}}]",
         2,
         {.kind = KN_MODEL_RECURSIVE, .l = {2, 1}, .c = {1, 1}, .bound = {0, 1}, .low = {0, 1}}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kn_error err = KN_ERROR_INIT;
        kn_spec *spec = new_spec();
        assert_ok(kn_spec_set(spec, "input", "a", "FILE", &err), err);
        assert_ok(kn_spec_set(spec, "output", "b", "--output", &err), err);
        if (strstr(cases[i].privacy, "presence"))
            assert_ok(kn_spec_set(spec, "population", "p", "--population", &err), err);
        assert_ok(kn_spec_set(spec, "attributes", "{q: quasi, s: sensitive}", "x", &err), err);
        assert_ok(kn_spec_set(spec, "privacy", cases[i].privacy, "x", &err), err);
        assert_ok(kn_spec_check(spec, &err), err);
        const kn_model *m = &spec->models[0], *want = &cases[i].first;
        assert_int_equal(spec->model_count, cases[i].count);
        assert_int_equal(m->kind, want->kind);
        assert_int_equal(m->k, want->k);
        assert_true(m->l.numerator == want->l.numerator && m->l.denominator == want->l.denominator);
        assert_true(want->kind != KN_MODEL_RECURSIVE || m->c.numerator == want->c.numerator);
        assert_true(m->bound.numerator * want->bound.denominator == want->bound.numerator * m->bound.denominator);
        assert_true(m->low.numerator * want->low.denominator == want->low.numerator * m->low.denominator);
        kn_spec_free(spec);
    }
}

/* What is set takes the place of the file's promises of the same model and column, whether the column is named or not. */
static void test_models_override(void **state)
{
    (void)state;
    static const char text[] = "input: a\noutput: b\nattributes: {q: quasi, s: sensitive}\n"
                               "privacy: [k: 9, {l-diversity: {l: 5}}, {t-closeness: {t: 0.2}}]\n";
    kn_error          err = KN_ERROR_INIT;
    kn_spec          *spec = NULL;
    kn_model          k = KN_MODEL_INIT, l = KN_MODEL_INIT;
    assert_ok(kn_spec_parse(&spec, ctx, "r.yaml", "r.yaml", text, strlen(text), &err), err);
    k.k = 3;
    assert_ok(kn_spec_set_model(spec, &k, &err), err);
    k.k = 2;
    assert_ok(kn_spec_set_model(spec, &k, &err), err);
    l.kind = KN_MODEL_DISTINCT;
    l.attribute = "s";
    l.l = (kn_ratio){2, 1};
    assert_ok(kn_spec_set_model(spec, &l, &err), err);
    assert_ok(kn_spec_check(spec, &err), err);
    assert_int_equal(spec->model_count, 3);
    assert_int_equal(spec->models[0].k, 3);
    assert_int_equal(spec->models[1].l.numerator, 2);
    assert_int_equal(spec->models[2].kind, KN_MODEL_T_EQUAL);
    kn_spec_free(spec);
}

/* Standard input has a name of its own in messages, and paths are those of the working folder. */
static void test_standard_input(void **state)
{
    (void)state;
    static const char *const texts[] = {"input: x\nmetod: y\n", "input: x\n",
                                        "output: o\ninput: x\nprivacy: [k-map: 3]\nattributes: {q: quasi}\n"};
    for (int i = 0; i < 3; i++) {
        kn_spec *spec = NULL;
        kn_error err = KN_ERROR_INIT;
        write_file(texts[i], strlen(texts[i]));
        assert_non_null(freopen(file_path, "rb", stdin));
        kn_status status = kn_spec_read(&spec, ctx, "-", &err);
        if (i == 0) {
            assert_int_equal(status, KN_INPUT);
            assert_string_equal(err.message, "(standard input):2:1: unknown key 'metod'; did you mean 'method'?");
            continue;
        }
        assert_ok(status, err);
        assert_string_equal(spec->path, "-");
        assert_string_equal(spec->inputs[0], "x");
        assert_int_equal(kn_spec_check(spec, &err), KN_INPUT);
        assert_string_equal(
            err.message,
            i == 1
                ? "(standard input): no output is given (output: FILE, as an option --output FILE)"
                : "(standard input):3:11: k-map needs a population, hierarchies that carry one, or a column of weights "
                  "(role: weight)");
        kn_spec_free(spec);
    }
}

static void test_paths(void **state)
{
    (void)state;
    kn_error err = KN_ERROR_INIT;
    kn_spec *spec = read_good("input: ['-', /x/a.csv, b/../c.csv]\noutput: '-'\nreport: ./r.html\n"
                              "attributes: {a: {hierarchy: '-'}, b: {hierarchy: {file: /h}}}");
    char     joined[5000];
    assert_string_equal(spec->inputs[0], "-");
    assert_string_equal(spec->inputs[1], "/x/a.csv");
    snprintf(joined, sizeof joined, "%sb/../c.csv", file_folder);
    assert_string_equal(spec->inputs[2], joined);
    assert_string_equal(spec->output, "-");
    snprintf(joined, sizeof joined, "%s./r.html", file_folder);
    assert_string_equal(spec->report, joined);
    assert_string_equal(spec->attributes[0].hierarchy.path, "-");
    assert_string_equal(spec->attributes[1].hierarchy.path, "/h");
    assert_ok(kn_spec_set(spec, "report", "s.html", "--report", &err), err);
    assert_string_equal(spec->report, "s.html"); /* of the working folder */
    kn_spec_free(spec);
}

/* ---- Random files ----
 *
 * A random release is made twice at once: as a tree, which is then written in a random style, and as the text that dump
 * must give for it. Neither knows anything of the reader.
 */

typedef struct tree {
    char         kind; /* 't' text, 'l' list, 'm' mapping */
    char         text[48];
    int          count;
    char         keys[24][48];
    struct tree *items[24];
} tree;

static kn_rng rng;

static unsigned below(unsigned n)
{
    return (unsigned)kn_rng_below(&rng, n);
}

static tree *new_tree(char kind, const char *text)
{
    tree *t = calloc(1, sizeof *t);
    assert_non_null(t);
    t->kind = kind;
    snprintf(t->text, sizeof t->text, "%s", text);
    return t;
}

static void free_tree(tree *t)
{
    for (int i = 0; i < t->count; i++) free_tree(t->items[i]);
    free(t);
}

/* Adds an item; in a mapping somewhere among the others, if `ordered` is not asked for. */
static tree *add(tree *t, const char *key, tree *item, bool ordered)
{
    int at = t->count++;
    assert_true(at < 24);
    if (!ordered)
        for (int to = (int)below((unsigned)at + 1); at > to; at--) {
            memcpy(t->keys[at], t->keys[at - 1], sizeof t->keys[at]);
            t->items[at] = t->items[at - 1];
        }
    snprintf(t->keys[at], sizeof t->keys[at], "%s", key);
    t->items[at] = item;
    return item;
}

static void add_text(tree *t, const char *key, const char *text)
{
    add(t, key, new_tree('t', text), t->kind == 'l');
}

/* A text that needs care in YAML more often than not. */
static char *random_text(char *out)
{
    static const char *const pieces[] = {"a",
                                         "b",
                                         " ",
                                         "x y",
                                         ": ",
                                         " #",
                                         "-",
                                         "'",
                                         "\"",
                                         "\\",
                                         "[",
                                         "{",
                                         "}",
                                         "]",
                                         ",",
                                         "&",
                                         "*",
                                         "!",
                                         "|",
                                         ">",
                                         "%",
                                         "@",
                                         "`",
                                         "null",
                                         "~",
                                         "true",
                                         "1",
                                         ".",
                                         "\t",
                                         "\xc3\xa9",
                                         "\n",
                                         "...",
                                         "---",
                                         "<<",
                                         "=",
                                         "\\n",
                                         "0x1f",
                                         "?",
                                         ":",
                                         "k ",
                                         "\xf0\x9f\x98\x80"};
    int                      n = 1 + (int)below(5);
    out[0] = '\0';
    for (int i = 0; i < n; i++) strcat(out, pieces[below(sizeof pieces / sizeof *pieces)]);
    return out;
}

/* ---- Writing ---- */

static void write_double(kn_buffer *out, const char *text)
{
    kn_buffer_char(out, '"');
    for (const char *c = text; *c; c++)
        if (*c == '"' || *c == '\\')
            kn_buffer_format(out, "\\%c", *c);
        else if (*c == '\n' || *c == '\t')
            kn_buffer_add(out, *c == '\n' ? "\\n" : "\\t");
        else if (*c > 0 && below(8) == 0)
            kn_buffer_format(out, "\\u%04x", (unsigned)*c);
        else
            kn_buffer_char(out, *c);
    kn_buffer_char(out, '"');
}

static bool may_be_plain(const char *text)
{
    if (!*text || !strcmp(text, "null") || !strcmp(text, "---") || !strcmp(text, "...")) return false;
    if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789", *text)) return false;
    for (const char *c = text; *c; c++)
        if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789-_./%", *c)) return false;
    return true;
}

static void write_text(kn_buffer *out, const char *text, bool json)
{
    bool number = *text && strspn(text, "0123456789") == strlen(text) && *text != '0';
    if (json && number && below(2)) {
        kn_buffer_add(out, text);
    } else if (json) {
        write_double(out, text);
    } else if (may_be_plain(text) && below(3) > 0) {
        kn_buffer_add(out, text);
    } else if (!strpbrk(text, "\n\t") && below(2)) {
        kn_buffer_char(out, '\'');
        for (const char *c = text; *c; c++) kn_buffer_add(out, *c == '\'' ? "''" : (char[]){*c, '\0'});
        kn_buffer_char(out, '\'');
    } else {
        write_double(out, text);
    }
}

static void write_gap(kn_buffer *out, bool json)
{
    static const char *const gaps[] = {"", " ", "\n                               ", "\n\t",
                                       " # [x\n                                "};
    unsigned                 gap = below(4);
    kn_buffer_add(out, gaps[gap == 3 && !json ? 4 : gap]);
}

/* [...] and {...}, as in JSON. */
static void write_flow(kn_buffer *out, const tree *t, bool json)
{
    if (t->kind == 't') {
        write_text(out, t->text, json);
        return;
    }
    kn_buffer_char(out, t->kind == 'l' ? '[' : '{');
    for (int i = 0; i < t->count; i++) {
        if (i > 0) kn_buffer_char(out, ',');
        write_gap(out, json);
        if (t->kind == 'm') {
            write_text(out, t->keys[i], json);
            kn_buffer_add(out, below(2) ? ": " : ":  ");
        }
        write_flow(out, t->items[i], json);
        write_gap(out, json);
    }
    kn_buffer_char(out, t->kind == 'l' ? ']' : '}');
}

static void write_block(kn_buffer *out, const tree *t, int indent)
{
    if (t->kind == 't' || t->count == 0 || (indent > 0 && below(4) == 0)) {
        kn_buffer_char(out, ' ');
        write_flow(out, t, false);
        kn_buffer_add(out, below(6) ? "\n" : "  # comment: {\n");
        return;
    }
    int step = 1 + (int)below(4);
    kn_buffer_char(out, '\n');
    for (int i = 0; i < t->count; i++) {
        if (below(10) == 0) kn_buffer_add(out, "\n    # comment\n");
        for (int s = 0; s < indent; s++) kn_buffer_char(out, ' ');
        if (t->kind == 'l') {
            kn_buffer_char(out, '-');
        } else {
            write_text(out, t->keys[i], false);
            kn_buffer_char(out, ':');
        }
        write_block(out, t->items[i], indent + step);
    }
}

/* ---- Making ---- */

static void make_number(char *out, size_t size, kn_ratio *value)
{
    unsigned long whole = below(3), part = below(1000);
    switch (below(3)) {
    case 0:
        snprintf(out, size, "%lu", whole + 1);
        *value = (kn_ratio){whole + 1, 1};
        break;
    case 1:
        snprintf(out, size, "0.%03lu", part + 1 == 1000 ? 999 : part + 1);
        *value = (kn_ratio){part + 1 == 1000 ? 999 : part + 1, 1000};
        break;
    default:
        snprintf(out, size, "%lu%%", part % 100 + 1);
        *value = (kn_ratio){part % 100 + 1, 100};
        break;
    }
}

static void make_hierarchy(tree *attribute, kn_buffer *dumped, const char *decimal)
{
    static const char *const steps[] = {"day", "month", "quarter", "year", "decade"};
    char                     text[48];
    unsigned                 mask = 0;
    tree                    *h = new_tree('m', ""), *list;
    switch (below(6)) {
    case 0:
        free(h);
        h = new_tree('t', below(2) ? "suppress" : "h/x.dgh");
        if (h->text[0] == 's')
            kn_buffer_format(dumped, " suppress decimal=%s", decimal);
        else
            kn_buffer_format(dumped, " file decimal=%s path=%sh/x.dgh", decimal, file_folder);
        break;
    case 1:
        add_text(h, "mask", "left");
        add_text(h, "step", "3");
        add_text(h, "character", "\xc3\xa9");
        kn_buffer_format(dumped, " mask decimal=%s left step=3 pad=0 character=\xc3\xa9", decimal);
        break;
    case 2:
        list = add(h, "ranges", new_tree('l', ""), false);
        kn_buffer_format(dumped, " ranges decimal=%s", decimal);
        for (unsigned i = 0, n = 1 + below(4); i < n; i++) {
            snprintf(text, sizeof text, "%u.%u", below(5), 1 + below(8));
            add_text(list, "", text);
            kn_buffer_format(dumped, " width=%s", text);
        }
        break;
    case 3:
        list = add(h, "breaks", new_tree('l', ""), false);
        kn_buffer_format(dumped, " breaks decimal=%s", decimal);
        for (unsigned i = 0, n = 1 + below(3); i < n; i++) {
            tree *level = add(list, "", new_tree('l', ""), true);
            kn_buffer_add(dumped, " level");
            for (unsigned j = 0, m = 1 + below(3); j < m; j++) {
                snprintf(text, sizeof text, below(2) ? "-%u" : "2020-01-%02u", 10 + below(20));
                add_text(level, "", text);
                kn_buffer_format(dumped, " %s", text);
            }
        }
        break;
    case 4:
        list = add(h, "calendar", new_tree('l', ""), false);
        for (unsigned i = 0, n = 1 + below(4); i < n; i++) {
            unsigned step = below(5);
            add_text(list, "", steps[step]);
            mask |= 1u << step;
        }
        kn_buffer_format(dumped, " calendar decimal=%s steps=%u", decimal, mask);
        break;
    default:
        add_text(h, "prefix", random_text(text));
        kn_buffer_format(dumped, " prefix decimal=%s separator=%s", decimal, text);
        break;
    }
    add(attribute, "hierarchy", h, false);
}

static void make_attributes(tree *root, kn_buffer *types, kn_buffer *dumped, const char *decimal)
{
    static const char *const roles[] = {"quasi", "identifier", "sensitive", "weight", "keep"};
    tree                    *all = add(root, "attributes", new_tree('m', ""), false);
    for (unsigned i = 0, n = below(6); i < n; i++) {
        char        name[40], text[48], number[16];
        kn_ratio    weight = {1, 1};
        const char *role = below(2) ? "quasi" : roles[below(5)];
        tree       *a = new_tree('m', "");
        snprintf(number, sizeof number, "%u", i); /* names differ */
        strcat(random_text(name), number);
        kn_buffer_format(dumped, "attribute=%s role=%s", name, role);
        add(all, name, a, true);
        add_text(a, "role", role);
        if (below(3) == 0) {
            add_text(a, "type", "date");
            add_text(a, "format", "%d.%m.%Y");
            kn_buffer_add(dumped, " type=date format=%d.%m.%Y");
            kn_buffer_format(types, "type=%s date %%d.%%m.%%Y\n", name);
        } else {
            kn_buffer_add(dumped, " type=auto");
        }
        if ((*role == 'q' || *role == 's') && below(2)) make_hierarchy(a, dumped, decimal);
        if (*role == 'q' && below(2)) {
            make_number(text, sizeof text, &weight);
            add_text(a, "weight", text);
        }
        dump_ratio(dumped, "weight", weight);
        if (*role == 'i' && below(2)) {
            add_text(add(a, "pseudonym", new_tree('m', ""), false), "key-file", random_text(text));
            kn_buffer_format(dumped, " key=%s%s", strcmp(text, "-") == 0 ? "" : file_folder, text);
        }
        kn_buffer_char(dumped, '\n');
    }
}

static void make_privacy(tree *root, kn_buffer *dumped)
{
    static const char *const variants[] = {"equal", "ordered", "hierarchical"};
    tree                    *all = add(root, "privacy", new_tree('l', ""), false);
    for (unsigned i = 0, n = below(5); i < n; i++) {
        char     text[48], column[16];
        kn_model m = KN_MODEL_INIT;
        tree    *item = add(all, "", new_tree('m', ""), true), *parameters = new_tree('m', "");
        snprintf(column, sizeof column, "s %u", i);
        m.attribute = column;
        add_text(parameters, "attribute", column);
        switch (below(3)) {
        case 0: {
            unsigned variant = below(3);
            m.kind = (kn_model_kind)(KN_MODEL_T_EQUAL + (int)variant);
            snprintf(text, sizeof text, "0.%02u", below(100));
            m.bound = (kn_ratio){(uint64_t)strtoul(text + 2, NULL, 10), 100};
            if (variant > 0 || below(2)) add_text(parameters, "distance", variants[variant]);
            add_text(parameters, "t", text);
            add(item, "t-closeness", parameters, false);
            break;
        }
        case 1:
            m.kind = KN_MODEL_RECURSIVE;
            m.l = (kn_ratio){1 + below(9), 1};
            snprintf(text, sizeof text, "%u", (unsigned)m.l.numerator);
            add_text(parameters, "l", text);
            make_number(text, sizeof text, &m.c);
            add_text(parameters, "c", text);
            add_text(parameters, "kind", "recursive");
            add(item, "l-diversity", parameters, false);
            break;
        default:
            m.kind = KN_MODEL_BETA_ENHANCED;
            make_number(text, sizeof text, &m.bound);
            add_text(parameters, "beta", text);
            add_text(parameters, "kind", "enhanced");
            add(item, "beta-likeness", parameters, false);
            break;
        }
        dump_model(dumped, &m);
    }
}

/* A list of texts under `key`; each dumped as `shown`=... */
static void make_list(tree *root, const char *key, const char *shown, bool path, kn_buffer *dumped)
{
    tree *list = add(root, key, new_tree('l', ""), false);
    for (unsigned i = 0, n = 1 + below(3); i < n; i++) {
        char text[48];
        add_text(list, "", random_text(text));
        kn_buffer_format(dumped, "%s=%s%s\n", shown, path && strcmp(text, "-") != 0 ? file_folder : "", text);
    }
}

/* The release as a tree; what dump must say into `out`. */
static tree *make_release(kn_buffer *out)
{
    static const char *const suppressed[] = {"star", "drop", "keep-sensitive"};
    char                     text[48];
    const char              *decimal = below(2) ? "," : ".";
    tree                    *root = new_tree('m', "");
    kn_buffer                types, attributes;
    kn_ratio                 number;
    unsigned                 method = below(KN_METHODS), metric = below(KN_METRICS), way = below(3), rows = below(100);
    kn_buffer_init(&types, ctx);
    kn_buffer_init(&attributes, ctx);
    make_list(root, "input", "input", true, out);
    add_text(root, "decimal", decimal);
    kn_buffer_format(out, "delimiter=0 header=1 encoding=0 decimal=%s\n", decimal);
    make_attributes(root, &types, &attributes, decimal);
    kn_buffer_append(out, types.data, types.size);
    kn_buffer_append(out, attributes.data, attributes.size);
    add_text(add(root, "entity", new_tree('m', ""), false), "key", random_text(text));
    kn_buffer_format(out, "entity=%s\nundeclared=drop missing=value\n", text);
    make_privacy(root, out);
    make_list(root, "dependencies", "dependency", false, out);
    if (below(2)) {
        do make_number(text, sizeof text, &number);
        while (number.numerator > number.denominator);
        add_text(root, "suppression", text);
        kn_buffer_format(out, "suppression=%" PRIu64 "/%" PRIu64 "\n", number.numerator, number.denominator);
    } else {
        snprintf(text, sizeof text, "%u", rows);
        add_text(add(root, "suppression", new_tree('m', ""), false), "rows", text);
        kn_buffer_format(out, "suppression=%u rows\n", rows);
    }
    add_text(root, "suppressed", suppressed[way]);
    add_text(root, "method", kn_method_name((kn_method)method));
    add_text(root, "utility", kn_metric_name((kn_metric)metric));
    uint64_t seed = kn_rng_next(&rng);
    snprintf(text, sizeof text, "%" PRIu64, seed);
    add_text(add(root, "options", new_tree('m', ""), false), "seed", text);
    kn_buffer_format(out, "suppressed=%s method=%s utility=%s time=0 seed=%" PRIu64 " seeded=1\n", suppressed[way],
                     kn_method_name((kn_method)method), kn_metric_name((kn_metric)metric), seed);
    add_text(root, "force", rows % 2 ? "true" : "false");
    kn_buffer_format(out, "order=0 rowmap=0 force=%u\noutput=%so\n", rows % 2, file_folder);
    add_text(root, "output", "o");
    kn_buffer_free(&types);
    kn_buffer_free(&attributes);
    return root;
}

static void test_random(void **state)
{
    (void)state;
    kn_rng_init(&rng, testing_seed(), 0);
    for (int round = 0; round < 400; round++) {
        kn_buffer expected, text;
        kn_buffer_init(&expected, ctx);
        kn_buffer_init(&text, ctx);
        tree *root = make_release(&expected);
        bool  json = below(3) == 0;
        if (json || below(3) == 0)
            write_flow(&text, root, json);
        else
            write_block(&text, root, 0);
        kn_error err = KN_ERROR_INIT;
        kn_spec *spec = NULL;
        if (read_bytes(&spec, text.data, text.size, &err) != KN_OK)
            fail_msg("%s\n%s", err.message, kn_buffer_text(&text));
        char *found = dump(spec);
        if (strcmp(found, kn_buffer_text(&expected)) != 0)
            fail_msg("from:\n%s\nread:\n%s\nexpected:\n%s", kn_buffer_text(&text), found, kn_buffer_text(&expected));
        free(found);
        kn_spec_free(spec);
        free_tree(root);
        kn_buffer_free(&expected);
        kn_buffer_free(&text);
    }
}

/* ---- Memory that runs out ---- */

/* Reads, changes and checks; the first failure ends it. */
static kn_status use_all(kn_context *scarce, kn_error *err)
{
    static const char *const texts[] = {"x", "y"};
    kn_spec                 *spec = NULL;
    kn_model                 m = KN_MODEL_INIT;
    kn_status                status = kn_spec_read(&spec, scarce, file_path, err);
    m.kind = KN_MODEL_ENTROPY;
    m.attribute = "other";
    m.l = (kn_ratio){2, 1};
    if (status == KN_OK) status = kn_spec_set(spec, "attributes", "{u: quasi, v: {type: text}, zip: keep}", "-a", err);
    if (status == KN_OK) status = kn_spec_set(spec, "privacy", "[k: 2, l-diversity: {l: 2}]", "-p", err);
    if (status == KN_OK) status = kn_spec_set(spec, "timezone", "Europe/Paris", "-t", err);
    if (status == KN_OK) status = kn_spec_set_texts(spec, "input", texts, 2, "-i", err);
    if (status == KN_OK) status = kn_spec_set_role(spec, "w", KN_ROLE_QUASI, err);
    if (status == KN_OK) status = kn_spec_set_attribute(spec, "v", "{role: keep}", "-v", err);
    if (status == KN_OK) status = kn_spec_set_model(spec, &m, err);
    kn_spec_free(spec);
    return status;
}

static void test_memory(void **state)
{
    (void)state;
    write_file(everything, strlen(everything));
    for (int64_t refuse_at = 0;; refuse_at++) {
        testing_allocator counted = {.refuse_at = -1};
        kn_context       *scarce = NULL;
        kn_error          err = KN_ERROR_INIT;
        assert_ok(testing_refusing_context(&scarce, &counted, 1, &err), err);
        counted.refuse_at = counted.requests + refuse_at;
        kn_status status = use_all(scarce, &err);
        kn_context_free(scarce);
        assert_int_equal(counted.live, 0);
        if (status == KN_OK) {
            assert_true(refuse_at > 20);
            break;
        }
        if (status != KN_MEMORY) fail_msg("request %d: %s", (int)refuse_at, err.message);
        assert_non_null(strstr(err.message, "out of memory"));
    }
}

/* A change that runs out of memory leaves the spec as it was. */
static void test_memory_unchanged(void **state)
{
    (void)state;
    static const char *const changes[][2] = {
        {"attributes", "{u: quasi, v: {type: text, role: keep}, zip: keep}"},
        {"privacy", "[k: 2, l-diversity: {l: 2}, k-map: 3]"},
        {"input", "[a, b, c]"},
        {"options", "{seed: 1}"},
    };
    write_file(everything, strlen(everything));
    for (size_t c = 0; c < sizeof changes / sizeof *changes; c++)
        for (int64_t refuse_at = 0, done = 0; !done; refuse_at++) {
            testing_allocator counted = {.refuse_at = -1};
            kn_context       *scarce = NULL;
            kn_spec          *spec = NULL;
            kn_error          err = KN_ERROR_INIT;
            assert_ok(testing_refusing_context(&scarce, &counted, 1, &err), err);
            assert_ok(kn_spec_read(&spec, scarce, file_path, &err), err);
            counted.refuse_at = counted.requests + refuse_at;
            done = kn_spec_set(spec, changes[c][0], changes[c][1], "-x", &err) == KN_OK;
            if (!done) assert_dump(spec, everything_dump, file_folder);
            kn_spec_free(spec);
            kn_context_free(scarce);
            assert_int_equal(counted.live, 0);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_defaults, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_everything, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_line_ends, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_forms, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_mistakes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_places, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_limits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_many_attributes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_nothing_shown, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_truncated, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_set, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_set_texts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_set_mistakes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_later_wins, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_trees, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_trees_wrong, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_check, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_check_good, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_check_built, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_models_together, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_models_override, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_standard_input, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_paths, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_random, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_memory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_memory_unchanged, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
