/* SPDX-License-Identifier: BSD-2-Clause */
/* The text form of a policy: name[:key=value,...]. */
#include "base/nearest.h"

#include "ballast/number.h"
#include "policy/aliases.h"
#include "policy/parse.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Appends to a text of limited size and keeps the length that would have been needed. */
struct spec_writer {
    char *text;
    size_t size;
    size_t length;
};

static void append_text(struct spec_writer *w, const char *piece) {
    const size_t piece_length = strlen(piece);
    if (w->length < w->size) {
        const size_t room = w->size - w->length - 1;
        const size_t taken = piece_length < room ? piece_length : room;
        memcpy(w->text + w->length, piece, taken);
        w->text[w->length + taken] = 0;
    }
    w->length += piece_length;
}

static void append_number(struct spec_writer *w, double value) {
    char number[BLI_NUMBER_TEXT];
    bli_number_print(value, number);
    append_text(w, number);
}

typedef const struct bal_policy *policies(size_t i);

/* Of each thread, because commands run side by side in threads of one program (Python), and the policies of
 * one are not for the others. */
static _Thread_local const struct bal_policy *added[BLI_POLICIES_ADDED_MAX];
static _Thread_local size_t added_count;

bool bli_policy_add(const struct bal_policy *policy) {
    size_t kept = 0;
    for (size_t i = 0; i < added_count; i++)
        if (added[i] != policy)
            added[kept++] = added[i];
    added_count = kept;
    if (added_count == BLI_POLICIES_ADDED_MAX)
        return false;
    added[added_count++] = policy;
    return true;
}

bool bli_policy_is_added(const struct bal_policy *policy) {
    for (size_t i = 0; i < added_count; i++)
        if (added[i] == policy)
            return true;
    return false;
}

void bli_policy_remove_added(void) {
    added_count = 0;
}

static enum bal_code unknown_policy(policies *at, const char *name, int length, struct bal_error *err) {
    char list[400] = "";
    struct spec_writer w = {list, sizeof list, 0};
    struct bli_nearest nearest = {.text = name, .length = (size_t)length};
    const struct bal_policy *known;
    for (size_t i = 0; (known = at(i)); i++) {
        append_text(&w, i ? ", " : "");
        append_text(&w, known->name);
        bli_nearest_offer(&nearest, known->name);
    }
    for (size_t i = 0; bal_policy_alias_at(i, NULL); i++)
        bli_nearest_offer(&nearest, bal_policy_alias_at(i, NULL));
    if (nearest.name)
        return bal_fail(err, BAL_E_UNKNOWN, "unknown policy '%.*s'; did you mean '%s'?",
                        length > 60 ? 60 : length, name, nearest.name);
    return bal_fail(err, BAL_E_UNKNOWN, "unknown policy '%.*s': the policies are %s",
                    length > 60 ? 60 : length, name, list);
}

static enum bal_code unknown_param(const struct bal_policy *policy, const char *key, int length,
                                   struct bal_error *err) {
    if (policy->param_count == 0)
        return bal_fail(err, BAL_E_UNKNOWN, "policy '%s' takes no parameters, but '%.*s' was given",
                        policy->name, length > 60 ? 60 : length, key);
    char list[300] = "";
    struct spec_writer w = {list, sizeof list, 0};
    for (unsigned i = 0; i < policy->param_count; i++) {
        append_text(&w, i ? ", " : "");
        append_text(&w, policy->params[i].name);
    }
    return bal_fail(err, BAL_E_UNKNOWN, "policy '%s' has no parameter '%.*s': it takes %s", policy->name,
                    length > 60 ? 60 : length, key, list);
}

/* The words of a parameter, as "a, b or c". */
static void list_words(const struct bal_param *param, struct spec_writer *w) {
    for (unsigned i = 0; i <= (unsigned)param->high; i++) {
        append_text(w, i == 0 ? "" : i == (unsigned)param->high ? " or " : ", ");
        append_text(w, param->words[i]);
    }
}

static enum bal_code bad_word(const struct bal_policy *policy, const struct bal_param *param,
                              const char *value, int length, struct bal_error *err) {
    char list[200] = "";
    list_words(param, &(struct spec_writer){list, sizeof list, 0});
    return bal_fail(err, BAL_E_RANGE, "policy '%s': %s=%.*s is not one of %s", policy->name, param->name,
                    length > 60 ? 60 : length, value, list);
}

static enum bal_code bad_value(const struct bal_policy *policy, const struct bal_param *param,
                               const char *value, int length, struct bal_error *err) {
    char low[BLI_NUMBER_TEXT], high[BLI_NUMBER_TEXT];
    bli_number_print(param->low, low);
    bli_number_print(param->high, high);
    return bal_fail(err, BAL_E_RANGE, "policy '%s': %s=%.*s is not a%s number from %s to %s (%s)",
                    policy->name, param->name, length > 60 ? 60 : length, value, param->whole ? " whole" : "",
                    low, high, param->help);
}

static const struct bal_param *find_param(const struct bal_policy *policy, const char *key, size_t length) {
    for (unsigned i = 0; i < policy->param_count; i++)
        if (strlen(policy->params[i].name) == length && strncmp(policy->params[i].name, key, length) == 0)
            return &policy->params[i];
    return NULL;
}

static const struct bal_policy *find_policy(policies *at, const char *name, size_t length) {
    const struct bal_policy *policy;
    for (size_t i = 0; (policy = at(i)); i++)
        if (strlen(policy->name) == length && strncmp(policy->name, name, length) == 0)
            return policy;
    for (size_t i = added_count; i-- > 0;)
        if (strlen(added[i]->name) == length && strncmp(added[i]->name, name, length) == 0)
            return added[i];
    return NULL;
}

static bool parse_word(const struct bal_param *param, const char *text, size_t length, double *value) {
    const char *now = bli_deprecated_name_find(text, length);
    if (now)
        return parse_word(param, now, strlen(now), value);
    for (unsigned i = 0; i <= (unsigned)param->high; i++)
        if (strlen(param->words[i]) == length && strncmp(param->words[i], text, length) == 0) {
            *value = i;
            return true;
        }
    return false;
}

/* What lies between 0 and 1 may be given in percent. */
static bool read_number(const struct bal_param *param, const char *text, size_t length, double *value) {
    return (param->low >= 0 && param->high <= 1 ? bli_share_parse : bli_number_parse)(text, length, value);
}

/* Reads one key=value of the given length into the spec; seen has a bit for each parameter given already. */
static enum bal_code parse_pair(const char *pair, size_t length, struct bal_policy_spec *spec, unsigned *seen,
                                struct bal_error *err) {
    const struct bal_policy *policy = spec->policy;
    const char *equals = memchr(pair, '=', length);
    const size_t key_length = equals ? (size_t)(equals - pair) : length;
    const struct bal_param *param = find_param(policy, pair, key_length);
    if (!param)
        return unknown_param(policy, pair, (int)key_length, err);
    const char *text = equals ? equals + 1 : pair + length;
    const size_t text_length = (size_t)(pair + length - text);
    double value;
    if (param->words && !parse_word(param, text, text_length, &value))
        return bad_word(policy, param, text, (int)text_length, err);
    if (!param->words &&
        (!read_number(param, text, text_length, &value) || !(value >= param->low && value <= param->high) ||
         (param->whole && value != floor(value))))
        return bad_value(policy, param, text, (int)text_length, err);
    const unsigned bit = 1u << (param - policy->params);
    if (*seen & bit)
        return bal_fail(err, BAL_E_SYNTAX, "policy '%s': parameter %s is given twice; give it once",
                        policy->name, param->name);
    *seen |= bit;
    spec->value[param - policy->params] = value;
    return BAL_OK;
}

/* The policy of that name with its defaults; or the one that people know under it, with what it then means.
 * False: there is none. */
static bool find_named(policies *at, const char *name, size_t length, struct bal_policy_spec *spec) {
    spec->policy = find_policy(at, name, length);
    for (size_t i = 0; !spec->policy && at(i); i++)
        if (bli_name_is(at(i)->name, name, length))
            spec->policy = at(i);
    const char *known = spec->policy ? NULL : bli_deprecated_name_find(name, length);
    if (!spec->policy && !known)
        known = bli_policy_alias_find(name, length);
    if (known)
        return bli_policy_parse_among(at, known, spec, NULL) == BAL_OK;
    for (unsigned i = 0; spec->policy && i < spec->policy->param_count; i++)
        spec->value[i] = spec->policy->params[i].default_value;
    return spec->policy;
}

enum bal_code bli_policy_parse_among(const struct bal_policy *(*at)(size_t i), const char *text,
                                     struct bal_policy_spec *spec, struct bal_error *err) {
    const size_t name_length = strcspn(text, ":");
    struct bal_policy_spec result = {0};
    if (!find_named(at, text, name_length, &result))
        return unknown_policy(at, text, name_length > 1000 ? 1000 : (int)name_length, err);
    unsigned seen = 0;
    const char *rest = text + name_length;
    while (*rest) {
        rest++; /* the ':' or ',' before the next pair */
        const size_t length = strcspn(rest, ",");
        if (length > 1000)
            return bal_fail(err, BAL_E_SYNTAX, "policy '%s': a parameter of %zu characters is too long",
                            result.policy->name, length);
        const enum bal_code code = parse_pair(rest, length, &result, &seen, err);
        if (code)
            return code;
        rest += length;
    }
    *spec = result;
    return BAL_OK;
}

enum bal_code bal_policy_parse(const char *text, struct bal_policy_spec *spec, struct bal_error *err) {
    return bli_policy_parse_among(bal_policy_at, text, spec, err);
}

size_t bal_policy_print(const struct bal_policy_spec *spec, char *text, size_t size) {
    const struct bal_policy *policy = spec->policy;
    if (size)
        text[0] = 0;
    struct spec_writer w = {text, size, 0};
    append_text(&w, policy->name);
    const char *separator = ":";
    for (unsigned i = 0; i < policy->param_count; i++) {
        const struct bal_param *param = &policy->params[i];
        const double value = spec->value[i];
        const bool is_default =
            value == param->default_value || (isnan(value) && isnan(param->default_value));
        if (isnan(value) || (is_default && !param->always_shown))
            continue;
        append_text(&w, separator);
        append_text(&w, param->name);
        append_text(&w, "=");
        if (param->words)
            append_text(&w, param->words[(unsigned)value]);
        else
            append_number(&w, value);
        separator = ",";
    }
    return w.length;
}

double *bal_policy_param(struct bal_policy_spec *spec, const char *name) {
    for (unsigned i = 0; i < spec->policy->param_count; i++)
        if (strcmp(spec->policy->params[i].name, name) == 0)
            return &spec->value[i];
    return NULL;
}

void bal_policy_wait_for_power(struct bal_policy_spec *spec) {
    double *none = spec->policy->power ? bal_policy_param(spec, "none") : NULL;
    if (!none || !isnan(*none) || bal_policy_flags(spec) & BAL_MAY_HOLD)
        return;
    const struct bal_param *param = &spec->policy->params[none - spec->value];
    for (unsigned i = 0; param->words && i <= (unsigned)param->high; i++)
        if (strcmp(param->words[i], "hold") == 0)
            *none = i;
}

double bal_policy_value(const struct bal_policy_spec *spec, const char *name) {
    struct bal_policy_spec copy = *spec;
    const double *value = bal_policy_param(&copy, name);
    return value ? *value : NAN;
}
