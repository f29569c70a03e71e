/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads load reports (ORCA). The text comes from an app, which may be of someone else: nothing in it is
 * copied or allocated, and every byte is looked at once. JSON is read as far as a report needs it, with
 * members in members; a string with an escape is no name that is looked for. */
#include "ballast/live/server_report.h"

#include "ballast/number.h"

#include <math.h>
#include <string.h>

enum { DEPTH = 8, DIGITS = 40 };

struct load_text {
    const char *at, *end;
};

struct load_span {
    const char *at;
    size_t length;
};

static const struct load_span none = {"", 0};

struct load_reader {
    const struct bal_load_fields *fields;
    struct bal_load_report *report;
    double application, cpu;
    bool good;
};

static bool is_name(const struct load_span *prefix, const struct load_span *name, const char *wanted) {
    const size_t length = strlen(wanted);
    const size_t whole = prefix->length + (prefix->length > 0) + name->length;
    if (length == 0 || whole != length)
        return false;
    if (prefix->length && (memcmp(prefix->at, wanted, prefix->length) != 0 || wanted[prefix->length] != '.'))
        return false;
    return memcmp(name->at, wanted + length - name->length, name->length) == 0;
}

static void set_number(struct load_reader *r, double *into, const struct load_span *digits) {
    char copy[DIGITS + 1];
    double value;
    r->good = r->good && isnan(*into) && digits->length > 0 && digits->length <= DIGITS;
    if (!r->good)
        return;
    memcpy(copy, digits->at, digits->length);
    copy[digits->length] = 0;
    const char *end = bli_number_read(copy, &value);
    r->good = end && *end == 0 && value >= 0 && value <= BAL_LOAD_VALUE_MAX;
    if (r->good)
        *into = value;
}

static void read_member(struct load_reader *r, const struct load_span *prefix, const struct load_span *name,
                        const struct load_span *digits) {
    const struct bal_load_fields *fields = r->fields;
    if (is_name(prefix, name, fields->running))
        set_number(r, &r->report->running, digits);
    if (is_name(prefix, name, fields->waiting))
        set_number(r, &r->report->waiting, digits);
    if (is_name(prefix, name, fields->utilization))
        set_number(r, &r->report->utilization, digits);
    if (*fields->utilization)
        return;
    if (is_name(prefix, name, "application_utilization"))
        set_number(r, &r->application, digits);
    if (is_name(prefix, name, "cpu_utilization"))
        set_number(r, &r->cpu, digits);
}

static void skip_blanks(struct load_text *t) {
    while (t->at < t->end && (*t->at == ' ' || *t->at == '\t'))
        t->at++;
}

static bool skip_mark(struct load_text *t, char mark) {
    skip_blanks(t);
    if (t->at == t->end || *t->at != mark)
        return false;
    t->at++;
    return true;
}

/* ---- name=number, name=number ---- */

static struct load_span trimmed(const char *at, const char *end) {
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    while (end > at && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    return (struct load_span){at, (size_t)(end - at)};
}

static void read_pairs(struct load_reader *r, struct load_text t) {
    while (r->good && t.at < t.end) {
        const char *comma = memchr(t.at, ',', (size_t)(t.end - t.at));
        const char *stop = comma ? comma : t.end;
        const char *sign = memchr(t.at, '=', (size_t)(stop - t.at));
        if (!sign) {
            r->good = false;
            return;
        }
        const struct load_span name = trimmed(t.at, sign), digits = trimmed(sign + 1, stop);
        r->good = name.length > 0;
        if (r->good)
            read_member(r, &none, &name, &digits);
        t.at = comma ? comma + 1 : t.end;
        if (comma && trimmed(t.at, t.end).length == 0)
            r->good = false;
    }
}

/* ---- JSON ---- */

/* Behind the opening quote. */
static bool read_string(struct load_text *t, struct load_span *string) {
    string->at = t->at;
    for (; t->at < t->end && *t->at != '"'; t->at++) {
        if ((unsigned char)*t->at < ' ' || (*t->at == '\\' && ++t->at == t->end))
            return false;
    }
    if (t->at == t->end)
        return false;
    string->length = (size_t)(t->at++ - string->at);
    return true;
}

static bool is_plain(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
           c == '-' || c == '+';
}

/* A number, true, false or null. */
static struct load_span read_word(struct load_text *t) {
    const struct load_span word = {t->at, 0};
    while (t->at < t->end && is_plain(*t->at))
        t->at++;
    return (struct load_span){word.at, (size_t)(t->at - word.at)};
}

static void read_object(struct load_reader *r, struct load_text *t, const struct load_span *prefix,
                        int depth);

/* Of the member `name` of the object `prefix`. */
static void read_value(struct load_reader *r, struct load_text *t, const struct load_span *prefix,
                       const struct load_span *name, int depth) {
    struct load_span string;
    skip_blanks(t);
    if (t->at == t->end || depth == DEPTH) {
        r->good = false;
    } else if (*t->at == '{') {
        read_object(r, t, name, depth + 1);
    } else if (*t->at == '"') {
        t->at++;
        r->good = read_string(t, &string);
        if (r->good && depth <= 2)
            read_member(r, prefix, name, &none); /* a number must not be a string */
    } else {
        const struct load_span word = read_word(t);
        r->good = word.length > 0;
        if (r->good && depth <= 2)
            read_member(r, prefix, name, &word);
    }
}

static void read_object(struct load_reader *r, struct load_text *t, const struct load_span *prefix,
                        int depth) {
    r->good = skip_mark(t, '{');
    if (r->good && skip_mark(t, '}'))
        return;
    while (r->good) {
        struct load_span name;
        r->good = skip_mark(t, '"') && read_string(t, &name) && skip_mark(t, ':');
        if (r->good)
            read_value(r, t, prefix, &name, depth);
        if (!r->good || skip_mark(t, '}'))
            return;
        r->good = skip_mark(t, ',');
    }
}

/* ---- the whole ---- */

static bool skip_word(struct load_text *t, const char *word) {
    const size_t length = strlen(word);
    if ((size_t)(t->end - t->at) < length || memcmp(t->at, word, length) != 0)
        return false;
    t->at += length;
    return t->at < t->end && (*t->at == ' ' || *t->at == '\t');
}

static void read_json(struct load_reader *r, struct load_text t) {
    read_object(r, &t, &none, 1);
    skip_blanks(&t);
    r->good = r->good && t.at == t.end;
}

bool bal_load_report_read(const struct bal_load_fields *fields, const char *text, size_t length,
                          struct bal_load_report *report) {
    const struct bal_load_report silent = {NAN, NAN, NAN};
    struct load_reader r = {fields, report, NAN, NAN, length <= BAL_LOAD_LENGTH};
    struct load_text t = {text, text + length};
    *report = silent;
    if (!r.good)
        return false;
    skip_blanks(&t);
    if (skip_word(&t, "JSON"))
        read_json(&r, t);
    else if (skip_word(&t, "TEXT"))
        read_pairs(&r, (struct load_text){trimmed(t.at, t.end).at, t.end});
    else
        r.good = false;
    if (!*fields->utilization)
        report->utilization = isnan(r.application) ? r.cpu : r.application;
    if (!r.good)
        *report = silent;
    return r.good;
}
