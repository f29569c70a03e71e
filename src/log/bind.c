/* SPDX-License-Identifier: BSD-2-Clause */
/* Decides which fields of a log give arrival time, service time, class, server and status. */
#include "log/bind.h"

#include "log/infer_units.h"

#include <strings.h>

static const struct bli_log_binding nothing_bound = {
    .until = -1,
    .service = {.field = -1},
    .whole = {.field = -1},
    .ahead = {{.field = -1}, {.field = -1}, {.field = -1}},
    .path = -1,
    .method = -1,
    .high = -1,
    .server = -1,
    .slots = -1,
    .status = -1,
    .statuses = -1,
    .state = -1,
};

/* What is looked for, and in what. */
struct column_search {
    struct bli_log_format *format;
    const struct bli_log_sample *sample;
    const struct bli_log_field_names *words;
};

static struct bli_log_span span_of(const char *text) {
    return (struct bli_log_span){text, strlen(text)};
}

static int find_usual(const struct column_search *search, const char *name) {
    return search->format->kind->find(search->format, span_of(name), search->sample, true);
}

/* The first word of a role that the format has; its field, -1 when there is none. */
static int find_role(const struct column_search *search, enum bli_log_role role, const char **name) {
    for (size_t i = 0; i < search->words->count; i++) {
        const struct bli_log_field_name *word = &search->words->word[i];
        const int field = word->role == role ? find_usual(search, word->name) : -1;
        if (field >= 0 && name)
            *name = word->name;
        if (field >= 0)
            return field;
    }
    return -1;
}

static bool has_text(struct bli_log_span line, const char *text) {
    const size_t length = strlen(text);
    for (size_t i = 0; i + length <= line.length; i++)
        if (strncasecmp(line.text + i, text, length) == 0)
            return true;
    return false;
}

/* Is it worthwhile to look for a name with endings? */
static bool is_mentioned(const struct column_search *search, const char *name) {
    for (size_t i = 0; i < search->sample->count && i < 10; i++)
        if (has_text(search->sample->line[i], name))
            return true;
    return false;
}

static void set_length(struct bli_log_length *length, int field, int unit, enum bli_log_shape shape,
                       const char *name) {
    *length = (struct bli_log_length){
        .field = field, .scale = {.unit = unit, .list = shape == BLI_LOG_THOUSANDTHS}, .shape = shape};
    snprintf(length->name, sizeof length->name, "%s", name);
}

/* A name whose unit is open may have an ending that gives it. */
static bool find_with_ending(const struct column_search *search, const struct bli_log_field_name *word,
                             struct bli_log_length *length) {
    const char *ending;
    int unit;
    for (size_t i = 0; (ending = bli_log_ending(i, &unit)); i++) {
        char name[BLI_LOG_NAME];
        snprintf(name, sizeof name, "%s%s", word->name, ending);
        const int field = find_usual(search, name);
        if (field < 0)
            continue;
        set_length(length, field, unit, BLI_LOG_ANY, name);
        return true;
    }
    return false;
}

/* Does a field whose name leaves its unit open have texts in it, and no length of time: the name of a service
 * rather than how long that took? */
static bool is_text(const struct column_search *search, const struct bli_log_field_name *word, int field) {
    const struct bli_log_scale scale = {.unit = BLI_LOG_S};
    size_t texts = 0, lengths = 0;
    for (size_t i = 0; word->unit == BLI_LOG_UNIT_OPEN && i < search->sample->count; i++) {
        struct bli_log_span fields[BLI_LOG_FIELDS];
        int64_t value, step;
        if (!search->format->kind->split(search->format, search->sample->line[i], fields))
            continue;
        const struct bli_log_span text = fields[field];
        if (!text.text || text.length == 0 || bli_log_is(text, "-"))
            continue;
        texts++;
        lengths += bli_log_duration_read(text, scale, &value, &step);
    }
    return texts > 1 && lengths == 0;
}

/* The first length of a role that the format has. */
static bool find_length(const struct column_search *search, enum bli_log_role role,
                        struct bli_log_length *length) {
    for (size_t i = 0; i < search->words->count; i++) {
        const struct bli_log_field_name *word = &search->words->word[i];
        if (word->role != role)
            continue;
        const int field = find_usual(search, word->name);
        if (field >= 0 && !is_text(search, word, field)) {
            set_length(length, field, word->unit, word->shape, word->name);
            return true;
        }
        if (word->unit == BLI_LOG_UNIT_OPEN && is_mentioned(search, word->name) &&
            find_with_ending(search, word, length))
            return true;
    }
    return false;
}

/* Takes an ending such as ":ms" off; whether it was there. */
static bool strip_ending(struct bli_log_span *name, const char *ending) {
    const size_t length = strlen(ending);
    if (name->length <= length || memcmp(name->text + name->length - length, ending, length) != 0)
        return false;
    name->length -= length;
    return true;
}

static enum bal_code fail_unknown(const struct column_search *search, struct bli_log_span name,
                                  struct bal_error *err) {
    char list[256] = "";
    size_t used = 0;
    struct bli_log_span other;
    const struct bli_log_format *format = search->format;
    for (size_t i = 0; used < sizeof list && (other = format->kind->name(format, search->sample, i)).text;
         i++) {
        const int length = other.length < 40 ? (int)other.length : 40;
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s%.*s", i ? ", " : "",
                                 search->words->sign, length, other.text);
    }
    return bal_fail(err, BAL_E_UNKNOWN, "the log has no field '%.*s'; it has %s%s", (int)name.length,
                    name.text, *list ? list : "none", used < sizeof list ? "" : "...");
}

/* A field that the user has named, with or without the sign of its program; the sign is taken off. */
static enum bal_code find_named(const struct column_search *search, struct bli_log_span *name, int *field,
                                struct bal_error *err) {
    const struct bli_log_format *format = search->format;
    *field = format->kind->find(search->format, *name, search->sample, false);
    const char *sign = search->words->sign;
    if (*field >= 0 || name->length < 2 || !*sign || name->text[0] != *sign)
        return *field >= 0 ? BAL_OK : fail_unknown(search, *name, err);
    const struct bli_log_span rest = {name->text + 1, name->length - 1};
    *field = format->kind->find(search->format, rest, search->sample, false);
    if (*field < 0)
        return fail_unknown(search, *name, err);
    *name = rest;
    return BAL_OK;
}

/* The unit that the ending of a name gives. */
static int unit_of_ending(struct bli_log_span name) {
    const char *ending;
    int unit;
    for (size_t i = 0; (ending = bli_log_ending(i, &unit)); i++)
        if (strip_ending(&name, ending))
            return unit;
    return BLI_LOG_UNIT_OPEN;
}

/* NAME or NAME:ms, as the user has given it. */
static enum bal_code find_given_length(const struct column_search *search, const char *given,
                                       struct bli_log_length *length, struct bal_error *err) {
    struct bli_log_span name = span_of(given);
    const char *colon = strrchr(given, ':');
    int unit = colon && colon > given ? bli_log_unit_of(span_of(colon + 1)) : BLI_LOG_UNIT_OPEN, field;
    if (unit != BLI_LOG_UNIT_OPEN)
        name.length = (size_t)(colon - given);
    const enum bal_code code = find_named(search, &name, &field, err);
    if (code)
        return code;
    const struct bli_log_field_name *word = bli_log_field_name_find(search->words, name);
    const bool known =
        word && (word->role == BLI_LOG_SERVICE || word->role == BLI_LOG_WHOLE || word->role == BLI_LOG_AHEAD);
    char text[BLI_LOG_NAME];
    snprintf(text, sizeof text, "%.*s", (int)name.length, name.text);
    if (unit != BLI_LOG_UNIT_OPEN) { /* the user's unit has precedence over that of the table */
        set_length(length, field, unit, BLI_LOG_ANY, text);
        length->scale.list = known && word->shape == BLI_LOG_THOUSANDTHS;
        length->said = true;
    } else if (known) {
        set_length(length, field, word->unit, word->shape, text);
    } else {
        set_length(length, field, unit_of_ending(name), BLI_LOG_ANY, text);
    }
    return BAL_OK;
}

/* A name that contains "service" means service only; one of the words means all that the proxy waited for. */
static enum bli_log_covers covers_of(const struct column_search *search, const char *name) {
    if (strncasecmp(name, "service", 7) == 0)
        return BLI_LOG_COVERS_SERVICE;
    const struct bli_log_field_name *word = bli_log_field_name_find(search->words, span_of(name));
    return word && word->role == BLI_LOG_SERVICE ? BLI_LOG_COVERS_SERVER : BLI_LOG_COVERS_REQUEST;
}

/* A text that is no field may be an expression over fields. What is computed was not measured: only a time of
 * the whole request with a known unit tells how long ago the request came when its line was written. */
static enum bal_code bind_expression(const struct column_search *search, const char *given,
                                     struct bli_log_binding *binding, struct bal_error *err) {
    enum bal_code code = bli_log_expression_parse(given, &binding->expression, err);
    for (int i = 0; i < binding->expression.columns && !code; i++) {
        struct bli_log_span name = binding->expression.column[i];
        code = find_named(search, &name, &binding->expression_field[i], err);
    }
    if (binding->whole.scale.unit == BLI_LOG_UNIT_OPEN)
        binding->whole.field = -1;
    binding->covers = BLI_LOG_COVERS_SERVICE;
    return code;
}

static bool is_expression(const struct column_search *search, const char *given) {
    if (!given || !bli_log_expression_is_meant(given))
        return false;
    struct bli_log_span name = span_of(given);
    int field;
    return find_named(search, &name, &field, NULL) != BAL_OK;
}

/* The service time, and the time of the whole request. A unit that was given for a field applies wherever it
 * is used. */
static enum bal_code bind_lengths(const struct column_search *search, const char *given,
                                  struct bli_log_binding *binding, struct bal_error *err) {
    find_length(search, BLI_LOG_WHOLE, &binding->whole);
    if (is_expression(search, given))
        return bind_expression(search, given, binding, err);
    if (given) {
        const enum bal_code code = find_given_length(search, given, &binding->service, err);
        if (code)
            return code;
    } else if (!find_length(search, BLI_LOG_SERVICE, &binding->service)) {
        binding->service = binding->whole;
    }
    if (binding->service.field == binding->whole.field)
        binding->whole = binding->service;
    binding->covers = covers_of(search, binding->service.name);
    return BAL_OK;
}

static void bind_ahead(const struct column_search *search, bool given, struct bli_log_binding *binding) {
    int count = 0;
    for (size_t i = 0; i < search->words->count && count < BLI_LOG_AHEADS; i++) {
        const struct bli_log_field_name *word = &search->words->word[i];
        const int field = word->role == BLI_LOG_AHEAD ? find_usual(search, word->name) : -1;
        if (field >= 0)
            set_length(&binding->ahead[count++], field, word->unit, word->shape, word->name);
    }
    binding->less_ahead = count > 0 && !given && binding->service.field == binding->whole.field;
}

/* Does a name that is not one of the words mean the beginning of a request? */
static bool means_start(struct bli_log_span name) {
    return has_text(name, "start") || has_text(name, "begin") || has_text(name, "arrival");
}

static bool is_at_end(const struct column_search *search, struct bli_log_span name) {
    const struct bli_log_field_name *word = bli_log_field_name_find(search->words, name);
    if (word && (word->role == BLI_LOG_START || word->role == BLI_LOG_END))
        return word->role == BLI_LOG_END;
    return search->words->starts ? has_text(name, "{end:") : !means_start(name);
}

static enum bal_code bind_usual_time(const struct column_search *search, struct bli_log_binding *binding,
                                     struct bal_error *err) {
    for (size_t i = 0; i < search->words->count; i++) {
        const struct bli_log_field_name *word = &search->words->word[i];
        if (word->role != BLI_LOG_START && word->role != BLI_LOG_END)
            continue;
        binding->time = find_usual(search, word->name);
        if (binding->time < 0)
            continue;
        binding->at_end = word->role == BLI_LOG_END;
        binding->open = search->words == &bli_log_names_columns;
        snprintf(binding->time_name, sizeof binding->time_name, "%s", word->name);
        return BAL_OK;
    }
    return bal_fail(err, BAL_E_UNKNOWN, "no field of the log looks like a time; name one: --time-field NAME");
}

static enum bal_code bind_time(const struct column_search *search, const char *given,
                               struct bli_log_binding *binding, struct bal_error *err) {
    if (!given)
        return bind_usual_time(search, binding, err);
    struct bli_log_span name = span_of(given);
    const bool start = strip_ending(&name, ":start");
    const bool end = !start && strip_ending(&name, ":end");
    const enum bal_code code = find_named(search, &name, &binding->time, err);
    binding->at_end = end || (!start && is_at_end(search, name));
    snprintf(binding->time_name, sizeof binding->time_name, "%.*s", (int)name.length, name.text);
    return code;
}

/* A computed service time does not lie between the arrival and the time of the line, unless it is said. */
static void set_moment(const char *given, struct bli_log_binding *binding) {
    struct bli_log_span name = span_of(given ? given : "");
    if (binding->expression.steps > 0 && binding->whole.field < 0 && !strip_ending(&name, ":end"))
        binding->at_end = binding->open = false;
}

/* If the log has the end as well as the start, they give how long the request took. */
static enum bal_code bind_until(const struct column_search *search, struct bli_log_binding *binding,
                                struct bal_error *err) {
    if (binding->expression.steps > 0)
        return BAL_OK;
    if (!binding->at_end && binding->whole.field < 0)
        binding->until = find_role(search, BLI_LOG_END, NULL);
    if (binding->service.field >= 0 || binding->until >= 0)
        return BAL_OK;
    return bal_fail(err, BAL_E_UNKNOWN,
                    "no field of the log looks like a service time; name one: --service-field NAME");
}

/* The class, by a field or by the path; and the path, if it is asked for. */
static enum bal_code bind_class(const struct column_search *search, const struct bli_log_options *options,
                                struct bli_log_binding *binding, struct bal_error *err) {
    if (options->high_pattern && options->high_field) {
        struct bli_log_span name = span_of(options->high_field);
        const enum bal_code code = find_named(search, &name, &binding->high, err);
        if (code)
            return code;
    }
    if (!options->path && options->kinds == 0 && !(options->high_pattern && !options->high_field))
        return BAL_OK;
    binding->path = find_role(search, BLI_LOG_PATH, NULL);
    if (binding->path >= 0)
        return BAL_OK;
    return bal_fail(err, BAL_E_UNKNOWN, "no field of the log looks like the path of a request%s",
                    options->high_pattern && !options->high_field
                        ? "; say which one tells the class: --high-field NAME"
                    : options->kinds ? ", by which --group tells requests apart; leave that out"
                                     : ", by which --path chooses requests; leave that out");
}

static enum bal_code bind_server(const struct column_search *search, const char *given,
                                 struct bli_log_binding *binding, struct bal_error *err) {
    const char *name = "";
    if (given) {
        struct bli_log_span span = span_of(given);
        const enum bal_code code = find_named(search, &span, &binding->server, err);
        if (code)
            return code;
        name = span.text; /* it is the end of what was given */
    } else {
        binding->server = find_role(search, BLI_LOG_SERVER, &name);
    }
    if (binding->server >= 0)
        snprintf(binding->server_text, sizeof binding->server_text, "%s%s", search->words->sign, name);
    return BAL_OK;
}

static enum bal_code bind_outcome(const struct column_search *search, const struct bli_log_options *options,
                                  struct bli_log_binding *binding, struct bal_error *err) {
    binding->slots = find_role(search, BLI_LOG_SLOTS, NULL);
    binding->status = find_role(search, BLI_LOG_STATUS, NULL);
    binding->statuses = find_role(search, BLI_LOG_STATUSES, NULL);
    binding->state = find_role(search, BLI_LOG_STATE, NULL);
    if (binding->state < 0) {
        binding->state = find_role(search, BLI_LOG_FLAGS, NULL);
        binding->state_flags = binding->state >= 0;
    }
    if (options->status && binding->status < 0)
        return bal_fail(err, BAL_E_UNKNOWN, "no field of the log looks like the status of an answer");
    return BAL_OK;
}

static void describe_binding(const struct column_search *search, const char *given,
                             struct bli_log_binding *binding) {
    const char *sign = search->words->sign;
    const struct bli_log_length *service = &binding->service, *whole = &binding->whole;
    if (binding->expression.steps > 0)
        snprintf(binding->service_text, sizeof binding->service_text, "%.100s", given);
    else if (service->field < 0)
        snprintf(binding->service_text, sizeof binding->service_text,
                 "from the start of the request to its end");
    else
        snprintf(binding->service_text, sizeof binding->service_text, "%s%.50s (%s%s)%s", sign, service->name,
                 bli_log_unit_text(service->scale.unit), service->scale.comma ? ", with decimal commas" : "",
                 binding->less_ahead ? ", less what lies ahead of the server" : "");
    if (!binding->at_end)
        snprintf(binding->time_text, sizeof binding->time_text, "%s%.40s (start of the request)", sign,
                 binding->time_name);
    else
        snprintf(binding->time_text, sizeof binding->time_text,
                 "%s%.40s (end of the request; %s%.30s is subtracted)", sign, binding->time_name,
                 whole->field >= 0 ? sign : "", whole->field >= 0 ? whole->name : "the service time");
}

static enum bal_code bind_all(const struct column_search *search, const struct bli_log_options *options,
                              struct bli_log_binding *binding, struct bal_error *err) {
    enum bal_code code = bind_lengths(search, options->service, binding, err);
    if (!code)
        code = bind_time(search, options->time, binding, err);
    set_moment(options->time, binding);
    if (!code)
        code = bind_until(search, binding, err);
    if (!code)
        code = bind_class(search, options, binding, err);
    if (code)
        return code;
    if (options->requests) {
        binding->path = find_role(search, BLI_LOG_PATH, NULL);
        binding->method = find_role(search, BLI_LOG_METHOD, NULL);
    }
    bind_ahead(search, options->service != NULL, binding);
    if (options->servers)
        code = bind_server(search, options->server, binding, err);
    if (!code && (options->servers || options->status))
        code = bind_outcome(search, options, binding, err);
    return code;
}

enum bal_code bli_log_bind(struct bli_log_format *format, const struct bli_log_options *options,
                           const struct bli_log_sample *sample, struct bli_log_binding *binding,
                           struct bal_error *err) {
    *binding = nothing_bound;
    const struct column_search search = {format, sample, format->kind->words(format, sample)};
    enum bal_code code = bind_all(&search, options, binding, err);
    if (!code)
        code = bli_log_infer_units(format, search.words, sample, binding, err);
    if (!code)
        describe_binding(&search, options->service, binding);
    return code;
}

bool bli_log_bind_time(struct bli_log_format *format, const struct bli_log_sample *sample,
                       struct bli_log_binding *binding) {
    *binding = nothing_bound;
    const struct column_search search = {format, sample, format->kind->words(format, sample)};
    return bind_usual_time(&search, binding, NULL) == BAL_OK;
}
