/* kn_answer_advise.c: the methods that were tried and the best one, as a document and as a part of others. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kn_answer.h"
#include "kn_error.h"

#define S kn_advice_candidate
static const kn_field_row candidate_rows[] = {
    KN_FIELD_WORDS(S, method, kn_method_name, KN_METHODS - 1, 0, "the method"),
    KN_FIELD_WORDS(S, state, kn_advice_state_name, KN_ADVICE_STATES - 1, 0,
                   "what became of it: 'kept', 'stopped', 'late', 'none', 'refused' or 'left-out'"),
    KN_FIELD(S, reason, KN_F_TEXT | KN_F_OPTIONAL, "why it has no release"),
    KN_VALUE("loss", KN_F_NUMBER | KN_F_OPTIONAL, "of its release, by the metric; smaller is better"),
    KN_VALUE("suppressed", KN_F_COUNT | KN_F_OPTIONAL,
             "rows of a table, persons of a database that its release leaves out"),
    KN_VALUE("k", KN_F_COUNT | KN_F_OPTIONAL, "the smallest class of its release"),
    KN_VALUE("classes", KN_F_CLASSES | KN_F_OPTIONAL, "classes of its release"),
    KN_VALUE("node_survival", KN_F_SHARE | KN_F_OPTIONAL, "of trees: nodes that show their own value"),
    KN_VALUE("relation_survival", KN_F_SHARE | KN_F_OPTIONAL,
             "of trees: relations still there, be it between broader values"),
    KN_VALUE("seconds", KN_F_SECONDS | KN_F_OPTIONAL, "how long it was tried"),
};
#undef S
static const kn_fields candidate_part = KN_FIELDS(kn_advice_candidate, "candidate", candidate_rows, NULL);

#define S kn_advice_setting
static const kn_field_row setting_rows[] = {
    KN_FIELD_AS(S, kmn.k, "k", KN_F_RECORDS, "records that somebody finds, at least"),
    KN_FIELD_AS(S, kmn.m, "m", KN_F_COUNT, "values that somebody knows, at most"),
    KN_FIELD_AS(S, kmn.n, "n", KN_F_COUNT, "relations between them that somebody knows, at most"),
    KN_VALUE("suppression", KN_F_SHARE, "of values and records that may be given up"),
    KN_FIELD_WORDS(S, state, kn_advice_state_name, KN_ADVICE_STATES - 1, 0, "what became of it, as of a method"),
    KN_VALUE("loss", KN_F_NUMBER | KN_F_OPTIONAL, "of its release, by the metric; smaller is better"),
    KN_VALUE("node_survival", KN_F_SHARE | KN_F_OPTIONAL, "nodes that show their own value"),
    KN_VALUE("relation_survival", KN_F_SHARE | KN_F_OPTIONAL, "relations still there, be it between broader values"),
    KN_FIELD(S, seconds, KN_F_SECONDS, "how long it was tried"),
};
#undef S
static const kn_fields setting_part = KN_FIELDS(kn_advice_setting, "setting", setting_rows, NULL);

#define ADVICE_ROWS                                                                                                    \
    KN_FIELD(kn_advice, metric, KN_F_TEXT, "the metric that they are compared by"),                                    \
        KN_FIELD_AS(kn_advice, limit, "time-limit", KN_F_SECONDS, "for all of them together"),                         \
        KN_VALUE_OF("candidates", KN_F_LIST, &candidate_part, "every method of the shape, the simpler ones first"),    \
        KN_FIELD_LIST(kn_advice, sentences, sentence_count, NULL, KN_F_TEXTS,                                          \
                      "why it was chosen, and when another is preferable")

static bool has_release(const kn_advice_candidate *c)
{
    return c->state == KN_ADVICE_KEPT || c->state == KN_ADVICE_STOPPED;
}

static void fill_advice(kn_to to, const void *from)
{
    const kn_advice *advice = from;
    kn_to            list = kn_put_list(to, "candidates");
    for (int i = 0; i < advice->candidate_count; i++) {
        const kn_advice_candidate *c = &advice->candidates[i];
        kn_to                      one = kn_append_object(list);
        kn_put_struct(one, c);
        if (c->allowed > 0) kn_put_number(one, "seconds", c->seconds);
        if (!has_release(c)) continue;
        kn_put_number(one, "loss", c->loss);
        if (advice->shape == KN_SHAPE_RECORDS) {
            kn_put_number(one, "node_survival", c->node_survival);
            kn_put_number(one, "relation_survival", c->relation_survival);
        } else {
            kn_put_integer(one, "suppressed", c->suppressed);
            kn_put_integer(one, "k", c->k);
            kn_put_integer(one, "classes", c->classes);
        }
    }
}

static const kn_field_row advice_rows[] = {ADVICE_ROWS};
const kn_fields           kn_advice_part = KN_FIELDS(kn_advice, "auto", advice_rows, fill_advice);

static const kn_field_row rows[] = {
    KN_ANSWER_ROW,
    KN_FIELD(kn_advice, found, KN_F_BOOLEAN, "whether a method keeps what is asked"),
    KN_VALUE_WORDS("method", kn_method_name, KN_METHODS - 1, KN_F_OPTIONAL, "the best one"),
    KN_VALUE("command", KN_F_TEXT | KN_F_OPTIONAL, "the command that makes the release by it"),
    KN_VALUE("reason", KN_F_TEXT | KN_F_OPTIONAL, "if none does: why"),
    KN_VALUE("rows", KN_F_ROWS | KN_F_OPTIONAL, "of a table: its rows"),
    KN_VALUE("persons", KN_F_PERSONS | KN_F_OPTIONAL, "of a database: its persons"),
    KN_VALUE("records", KN_F_RECORDS | KN_F_OPTIONAL, "of trees: their number"),
    ADVICE_ROWS,
    KN_VALUE_OF("settings", KN_F_LIST | KN_F_OPTIONAL, &setting_part,
                "of trees: the best method with other promises and budgets, one changed at a time"),
    KN_NOTES_ROW,
};
const kn_fields kn_answer_advise = KN_ANSWER(kn_advice, "advise", rows, fill_advice, "Which method should be used?");

static void put_settings(kn_to to, const kn_advice *advice)
{
    kn_to list = kn_put_list(to, "settings");
    for (int i = 0; i < advice->setting_count; i++) {
        const kn_advice_setting *s = &advice->settings[i];
        kn_to                    one = kn_append_object(list);
        kn_put_struct(one, s);
        kn_put_number(one, "suppression",
                      s->suppression.numerator ? (double)s->suppression.numerator / (double)s->suppression.denominator
                                               : 0);
        if (s->state != KN_ADVICE_KEPT && s->state != KN_ADVICE_STOPPED) continue;
        kn_put_number(one, "loss", s->loss);
        kn_put_number(one, "node_survival", s->node_survival);
        kn_put_number(one, "relation_survival", s->relation_survival);
    }
}

kn_status kn_document_advise(kn_document **out, kn_context *ctx, const kn_advice *advice, const char *command,
                             kn_error *err)
{
    static const char *const counted[] = {"rows", "persons", "records"};
    kn_document             *doc;
    KN_TRY(kn_answer_begin(&doc, ctx, &kn_answer_advise, advice, err));
    kn_to to = kn_document_top(doc);
    if (advice->found) kn_put_text(to, "method", kn_method_name(advice->candidates[advice->chosen].method));
    if (advice->found && command) kn_put_text(to, "command", command);
    if (!advice->found) kn_put_text(to, "reason", advice->reason);
    kn_put_integer(to, counted[advice->shape], advice->count);
    if (advice->setting_count > 0) put_settings(to, advice);
    kn_note_dropped(doc, advice->dropped, advice->dropped_count);
    kn_put_notes(doc, advice->notes, advice->note_count);
    return kn_document_end(out, doc, err);
}
