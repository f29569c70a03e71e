/* SPDX-License-Identifier: BSD-2-Clause */
/* Turns the fields of one log line into a job, or gives the reason why there is none. */
#include "log/entry.h"

#include "log/decimal.h"
#include "log/upstream_tries.h"

/* A time of 0 at a resolution coarser than 10 ms is no information. */
static const int64_t ZERO_STEP_MAX = 10000000;

/* Of "GET /a/b?c HTTP/1.1" or "https://host/a/b?c": /a/b. */
static struct bli_log_span cut_path(struct bli_log_span request) {
    const char *at = request.text, *end = at + request.length;
    if (at < end && *at != '/') {
        const char *blank = memchr(at, ' ', (size_t)(end - at));
        at = blank ? blank + 1 : at;
        const char *second = memchr(at, ' ', (size_t)(end - at));
        end = second ? second : end;
        const char *host = memmem(at, (size_t)(end - at), "://", 3);
        const char *slash = host ? memchr(host + 3, '/', (size_t)(end - host - 3)) : NULL;
        at = slash ? slash : at;
    }
    const char *query = memchr(at, '?', (size_t)(end - at));
    return (struct bli_log_span){at, (size_t)((query ? query : end) - at)};
}

static struct bli_log_span text_of(const struct bli_log_span *fields, int field) {
    return field >= 0 ? fields[field] : (struct bli_log_span){0};
}

/* A length of time; -1 when the log does not have it. */
static int64_t read_length(const struct bli_log_span *fields, const struct bli_log_length *length) {
    int64_t value, step;
    const struct bli_log_span text = text_of(fields, length->field);
    return text.text && bli_log_duration_read(text, length->scale, &value, &step) ? value : -1;
}

/* The time between the arrival and the server; -1 when the log lacks a part of it. */
static int64_t read_ahead(const struct bli_log_span *fields, const struct bli_log_binding *binding) {
    int64_t sum = binding->ahead[0].field >= 0 ? 0 : -1;
    for (int i = 0; i < BLI_LOG_AHEADS && binding->ahead[i].field >= 0; i++) {
        const int64_t length = read_length(fields, &binding->ahead[i]);
        if (length < 0)
            return -1;
        sum += length;
    }
    return sum;
}

/* A server that has not answered when the client or the proxy gave up was occupied until then. */
static bool use_whole_time(struct bli_log_entry *entry) {
    entry->unanswered =
        bli_log_names_server(entry->server) && entry->whole > 0 && entry->ahead < entry->whole;
    entry->service = entry->whole - (entry->ahead > 0 ? entry->ahead : 0);
    return entry->unanswered;
}

static int64_t step_of_unit(int unit) {
    int64_t step = 1;
    while (unit-- > 0)
        step *= 10;
    return step;
}

static int64_t step_of_clock(int decimals) {
    return step_of_unit(BLI_LOG_S - decimals);
}

/* The service time as logged, and the unit of its last digit; false when the log does not have it. */
static bool read_logged(const struct bli_log_span *fields, const struct bli_log_binding *binding,
                        struct bli_log_entry *entry) {
    if (binding->expression.steps > 0) {
        entry->step = 1;
        return bli_log_expression_value(&binding->expression, fields, binding->expression_field,
                                        &entry->service);
    }
    if (binding->service.field < 0) { /* from the start to the end */
        entry->service = entry->whole;
        entry->step = step_of_clock(entry->decimals);
        return entry->whole >= 0;
    }
    if (!entry->service_text.text ||
        !bli_log_duration_read(entry->service_text, binding->service.scale, &entry->logged_ns, &entry->step))
        return false;
    entry->service = entry->logged_ns;
    if (binding->service.field == binding->whole.field)
        entry->whole = entry->service;
    if (!binding->less_ahead)
        return true;
    entry->service -= entry->ahead < entry->service ? entry->ahead : entry->service;
    entry->step = step_of_unit(binding->service.scale.unit);
    return entry->ahead >= 0; /* else it did not get to a server */
}

static enum bli_log_reason read_service(const struct bli_log_span *fields,
                                        const struct bli_log_binding *binding, struct bli_log_entry *entry) {
    entry->unanswered = entry->zero = false;
    entry->logged_ns = -1;
    entry->step = 0;
    if (!read_logged(fields, binding, entry)) {
        const bool computed = binding->expression.steps > 0;
        return !computed && use_whole_time(entry) ? BLI_LOG_OK : BLI_LOG_NO_SERVICE;
    }
    entry->zero = entry->service == 0;
    if (entry->zero && entry->step > ZERO_STEP_MAX)
        return BLI_LOG_ZERO;
    if (entry->zero) /* what is rounded to 0 lies between 0 and half a step */
        entry->service = entry->step >= 4 ? entry->step / 4 : 1;
    return BLI_LOG_OK;
}

/* How long the whole request took: as logged, or from the start to the end; -1 when neither is there. */
static int64_t read_whole(const struct bli_log_span *fields, const struct bli_log_binding *binding,
                          struct bli_log_clock *clock, const struct bli_log_entry *entry) {
    if (binding->until < 0) {
        if (binding->whole.field == binding->service.field)
            return -1; /* it is read already */
        return read_length(fields, &binding->whole);
    }
    int64_t end;
    int decimals;
    const struct bli_log_span until = fields[binding->until];
    return until.text && bli_log_clock_read(clock, until, &end, &decimals) && end >= entry->time
               ? end - entry->time
               : -1;
}

enum bli_log_reason bli_log_entry_read(const struct bli_log_format *format,
                                       const struct bli_log_binding *binding, struct bli_log_clock *clock,
                                       struct bli_log_span line, struct bli_log_entry *entry) {
    struct bli_log_span fields[BLI_LOG_FIELDS];
    if (!format->kind->split(format, line, fields))
        return BLI_LOG_MALFORMED;
    const struct bli_log_span time = fields[binding->time];
    entry->service_text = text_of(fields, binding->service.field);
    if (!time.text || !bli_log_clock_read(clock, time, &entry->time, &entry->decimals))
        return BLI_LOG_NO_TIME;
    entry->whole = read_whole(fields, binding, clock, entry);
    entry->ahead = read_ahead(fields, binding);
    entry->server = text_of(fields, binding->server);
    entry->slots = text_of(fields, binding->slots);
    entry->status = text_of(fields, binding->status);
    entry->statuses = text_of(fields, binding->statuses);
    entry->state = text_of(fields, binding->state);
    const enum bli_log_reason reason = read_service(fields, binding, entry);
    if (reason != BLI_LOG_OK)
        return reason;
    entry->guessed = binding->at_end && entry->whole < 0;
    entry->before = !binding->at_end ? 0 : entry->guessed ? entry->service : entry->whole;
    entry->path = entry->request = text_of(fields, binding->path);
    entry->method = text_of(fields, binding->method);
    if (entry->path.text)
        entry->path = cut_path(entry->path);
    entry->class = binding->high >= 0 ? fields[binding->high] : entry->path;
    return BLI_LOG_OK;
}
