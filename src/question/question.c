/* SPDX-License-Identifier: BSD-2-Clause */
/* Questions by name: settings are read into the request of their kind, which answers it. */
#include "ballast/question.h"

#include "base/c_locale.h"
#include "base/memory.h"
#include "base/nearest.h"
#include "base/utf8.h"
#include "question/caller_policy.h"
#include "question/datum_tree.h"
#include "question/kind.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct answer_text {
    struct answer_text *next;
    char text[];
};

struct bal_question {
    const struct bli_question_kind *kind;
    struct bal_question_host host;
    struct bli_options options;
    struct answer_text *texts; /* values of settings, which requests point to */
    bool checked, has_policies;
    void *request;
};

struct bal_answer {
    enum bal_answer_kind kind;
    struct bli_strbuf text;
    bool is_json;
    struct bal_datum *root; /* read when it is asked for */
};

static enum bal_code fail_memory(struct bal_error *err) {
    return bal_fail(err, BAL_E_MEMORY, "not enough memory");
}

/* ---- building one ---- */

/* Names of commands of earlier versions. */
static const struct {
    const char *name, *now;
} deprecated[] = {{"frontier", "stability"}, {"price", "cheapest"}, {"share", "priority-share"}};

static const struct bli_question_kind *find_kind(const char *name) {
    for (size_t i = 0; i < sizeof deprecated / sizeof *deprecated; i++)
        if (strcmp(deprecated[i].name, name) == 0)
            name = deprecated[i].now;
    for (size_t i = 0; bli_question_kinds[i]; i++)
        if (strcmp(bli_question_kinds[i]->name, name) == 0)
            return bli_question_kinds[i];
    return NULL;
}

static enum bal_code fail_unknown_kind(const char *name, struct bal_error *err) {
    struct bli_nearest nearest = {.text = name, .length = strlen(name)};
    for (size_t i = 0; bli_question_kinds[i]; i++)
        bli_nearest_offer(&nearest, bli_question_kinds[i]->name);
    return bal_fail(err, BAL_E_UNKNOWN, "unknown question '%.100s'%s%s%s", name,
                    nearest.name ? "; did you mean '" : "", nearest.name ? nearest.name : "",
                    nearest.name ? "'?" : "");
}

enum bal_code bal_question_new(const char *name, const struct bal_question_host *host,
                               struct bal_question **question, struct bal_error *err) {
    const struct bli_question_kind *kind = find_kind(name);
    *question = NULL;
    if (!kind)
        return fail_unknown_kind(name, err);
    struct bal_question *q = calloc(1, sizeof *q);
    void *request = calloc(1, kind->size);
    if (!q || !request) {
        free(q);
        free(request);
        return fail_memory(err);
    }
    *q = (struct bal_question){.kind = kind, .request = request};
    if (host)
        q->host = *host;
    bli_options_expand(&q->options, kind->name, kind->options, kind->option_count);
    bli_request_init(request, &q->options);
    ((struct bli_request *)request)->format = BLI_FORM_JSON;
    if (kind->init)
        kind->init(request);
    if (!q->host.policies || bli_caller_policies_begin(&q->host, &q->has_policies)) {
        *question = q;
        return BAL_OK;
    }
    bal_question_free(q);
    return fail_memory(err);
}

void bal_question_free(struct bal_question *question) {
    if (!question)
        return;
    if (question->has_policies)
        bli_caller_policies_end();
    if (question->kind->fini)
        question->kind->fini(question->request);
    for (struct answer_text *text = question->texts, *next; text; text = next) {
        next = text->next;
        free(text);
    }
    free(question->request);
    free(question);
}

void *bli_question_request(struct bal_question *question) {
    return question->request;
}

const struct bli_question_kind *bli_question_kind(const struct bal_question *question) {
    return question->kind;
}

/* Requests point to values, so they stay. */
static const char *keep(struct bal_question *question, const char *value) {
    const size_t size = strlen(value) + 1;
    struct answer_text *text = malloc(sizeof *text + size);
    if (!text)
        return NULL;
    memcpy(text->text, value, size);
    text->next = question->texts;
    question->texts = text;
    return text->text;
}

static enum bal_code fail_unknown(const struct bal_question *question, const char *name, const char *value,
                                  struct bal_error *err) {
    struct bli_nearest nearest = {.text = name, .length = strlen(name)};
    char given[101];
    snprintf(given, sizeof given, "--%s%s%s", name, *value ? "=" : "", value);
    for (size_t i = 0; i < question->options.count; i++)
        bli_nearest_offer(&nearest, question->options.option[i].name);
    if (nearest.name)
        return bal_fail(err, BAL_E_UNKNOWN, "%s: unknown option '%s'; did you mean '--%s'?",
                        question->kind->name, given, nearest.name);
    return bal_fail(err, BAL_E_UNKNOWN, "%s: unknown option '%s'; ballast help %s lists them",
                    question->kind->name, given, question->kind->name);
}

static enum bal_code set_setting(struct bal_question *question, const char *name, const char *value,
                                 struct bal_error *err) {
    const struct bli_question_kind *kind = question->kind;
    const struct bli_option *option = bli_option_find(&question->options, name, strlen(name));
    const bool operand = !option && kind->operand && strcmp(name, kind->operand) == 0;
    if (!operand && (!option || option->of_host))
        return fail_unknown(question, name, value, err);
    const char *kept = keep(question, value);
    if (!kept)
        return fail_memory(err);
    if (operand)
        return kind->set_operand(question->request, kept, err);
    if (!option->argument && *value)
        return bal_fail(err, BAL_E_SYNTAX, "--%s: takes no value, but '%.100s' was given", option->name,
                        value);
    struct bal_error why = {0};
    const enum bal_code code = bli_option_set(option, kept, question->request, &why);
    return code ? bal_fail(err, code, "--%s%s%.200s: %s", option->name, option->argument ? " " : "", kept,
                           why.text)
                : BAL_OK;
}

/* The program that asks may have a locale in which numbers have a comma. */
enum bal_code bal_question_set(struct bal_question *question, const char *name, const char *value,
                               struct bal_error *err) {
    const struct bli_locale_swap swap = bli_locale_enter_c();
    const enum bal_code code = set_setting(question, name, value, err);
    bli_locale_leave(swap);
    return code;
}

bool bal_question_setting_at(const struct bal_question *question, size_t i,
                             struct bal_question_setting *setting) {
    const struct bli_options *options = &question->options;
    size_t at = 0;
    while (at < options->count && (options->option[at].of_host || i-- > 0))
        at++;
    if (at == options->count)
        return false;
    setting->name = options->option[at].name;
    setting->argument = options->option[at].argument;
    const struct bli_locale_swap swap = bli_locale_enter_c();
    bli_option_help(&options->option[at], setting->help);
    bli_locale_leave(swap);
    return true;
}

/* ---- asking it ---- */

enum bal_code bal_question_check(struct bal_question *question, struct bal_error *err) {
    const struct bli_locale_swap swap = bli_locale_enter_c();
    const enum bal_code code = question->checked ? BAL_OK : question->kind->check(question->request, err);
    bli_locale_leave(swap);
    question->checked = !code;
    return code;
}

/* Text without bytes that would confuse a terminal. */
static enum bal_code finish(struct bal_answer *answer, struct bal_error *err) {
    if (!bli_strbuf_close(&answer->text) || bli_memory_is_lost())
        return fail_memory(err);
    answer->text.size = bli_utf8_tame(answer->text.text, "\n\t");
    return BAL_OK;
}

enum bal_code bal_question_run(struct bal_question *question, struct bal_answer **answer,
                               struct bal_error *err) {
    *answer = NULL;
    enum bal_code code = bal_question_check(question, err);
    if (code)
        return code;
    struct bal_answer *a = calloc(1, sizeof *a);
    if (!a || !bli_strbuf_open(&a->text)) {
        free(a);
        return fail_memory(err);
    }
    struct bli_asking asking = {.host = &question->host, .out = a->text.stream};
    const struct bli_locale_swap swap = bli_locale_enter_c();
    code = question->kind->ask(question->request, &asking, err);
    bli_locale_leave(swap);
    a->kind = asking.kind;
    a->is_json = ((const struct bli_request *)question->request)->format == BLI_FORM_JSON;
    if (!code)
        code = finish(a, err);
    if (code)
        bal_answer_free(a);
    else
        *answer = a;
    return code;
}

void bal_answer_free(struct bal_answer *answer) {
    if (!answer)
        return;
    bli_strbuf_discard(&answer->text);
    free(answer->root);
    free(answer);
}

enum bal_answer_kind bal_answer_kind(const struct bal_answer *answer) {
    return answer->kind;
}

const char *bal_answer_text(const struct bal_answer *answer, size_t *size) {
    if (size)
        *size = answer->text.size;
    return answer->text.text;
}

const struct bal_datum *bal_answer_root(struct bal_answer *answer) {
    if (answer->is_json && !answer->root)
        answer->root = bli_datum_tree_new(answer->text.text, answer->text.size);
    return answer->root;
}

/* ---- what kinds tell the host ---- */

const char bli_cut_short_text[] =
    "interrupted: these results are cut short and come from the replications that were complete";

static void vwarn(const struct bli_asking *asking, bool of_answer, const char *format, va_list args) {
    if (!asking->host->warn)
        return;
    char text[4096];
    vsnprintf(text, sizeof text, format, args);
    bli_utf8_tame(text, "");
    asking->host->warn(asking->host->context, text, of_answer);
}

void bli_asking_warn(const struct bli_asking *asking, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vwarn(asking, false, format, args);
    va_end(args);
}

void bli_asking_warn_answer(const struct bli_asking *asking, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vwarn(asking, true, format, args);
    va_end(args);
}

void bli_asking_cut_short(struct bli_asking *asking, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vwarn(asking, true, format, args);
    va_end(args);
    asking->kind = BAL_ANSWER_CUT_SHORT;
}

bool bli_asking_is_stopped(const struct bli_asking *asking) {
    return asking->host->stop && *asking->host->stop;
}

struct bli_doing bli_doing_start(const struct bli_asking *asking, const char *what) {
    struct bli_doing doing = {asking->host, what};
    bli_doing_show(&doing, 0);
    return doing;
}

void bli_doing_show(void *context, double part) {
    const struct bli_doing *doing = context;
    if (doing->host->progress)
        doing->host->progress(doing->host->context, doing->what, part > 0 ? part < 1 ? part : 1 : 0);
}

struct bli_lab_options bli_asking_lab(const struct bli_asking *asking, const struct bli_request *request,
                                      struct bli_doing *doing) {
    *doing = bli_doing_start(asking, NULL);
    return (struct bli_lab_options){.threads = (unsigned)request->threads,
                                    .max_replications = (unsigned)request->draft.most,
                                    .stop = asking->host->stop,
                                    .progress = bli_doing_show,
                                    .progress_context = doing};
}
