#include "log/bind.h"

#include "log/decimal.h"

#include <strings.h>

enum { OF_NAME = -1 }; /* the unit is told by the name's ending, and is seconds when it is not */

struct usual {
    const char *name;
    int unit;
};

/* Names of the time that a server worked on a request, the closest to that first: what the proxy waited for,
 * then what the whole request took. */
static const struct usual services[] = {
    {"upstream_response_time", BAL_LOG_S}, /* nginx */
    {"urt", BAL_LOG_S},
    {"Tr", BAL_LOG_MS},             /* HAProxy */
    {"OriginDuration", BAL_LOG_NS}, /* Traefik */
    {"service_time", OF_NAME},
    {"service", OF_NAME},
};
static const struct usual wholes[] = {
    {"request_time", BAL_LOG_S}, /* nginx */
    {"rt", BAL_LOG_S},
    {"%D", BAL_LOG_US}, /* Apache */
    {"%{us}T", BAL_LOG_US},
    {"%{ms}T", BAL_LOG_MS},
    {"%{s}T", BAL_LOG_S},
    {"%T", BAL_LOG_S},
    {"Ta", BAL_LOG_MS},             /* HAProxy */
    {"event.duration", BAL_LOG_NS}, /* Elastic Common Schema */
    {"request_duration", OF_NAME},
    {"response_time", OF_NAME},
    {"duration", OF_NAME},
    {"latency", OF_NAME},
    {"elapsed", OF_NAME},
    {"elapsed_time", OF_NAME},
    {"time_taken", OF_NAME},
    {"responseTime", OF_NAME},
};

/* Endings of names that tell a unit. */
static const struct {
    const char *ending;
    int unit;
} endings[] = {{"_ms", BAL_LOG_MS},     {"Ms", BAL_LOG_MS},  {"_msec", BAL_LOG_MS},
               {"_millis", BAL_LOG_MS}, {"_us", BAL_LOG_US}, {"_usec", BAL_LOG_US},
               {"_micros", BAL_LOG_US}, {"_ns", BAL_LOG_NS}, {"_nanos", BAL_LOG_NS},
               {"_s", BAL_LOG_S},       {"_sec", BAL_LOG_S}, {"_seconds", BAL_LOG_S}};

/* Names of times: arrivals first, then the moment at which a line was written. */
static const char *const times[] = {
    "tr",                                                      /* HAProxy */
    "%{usec}t",     "%{msec}t",     "%t",           "%{sec}t", /* Apache */
    "StartUTC",     "arrival",      "arrival_time", "start_time", "start",    "request_start",
    "msec",         "time_iso8601", "time_local", /* nginx */
    "@timestamp",   "timestamp",    "time",         "ts",         "datetime", "date",
    "timestamp_ms", "time_ms",      "ts_ms",
};

/* Names of what tells the class of a request when nothing is said: all of them hold its path. */
static const char *const paths[] = {"request_uri", "uri",         "path",    "url",
                                    "request",     "%U",          "%r",      "request_path",
                                    "RequestPath", "request.uri", "url.path"};

static struct bal_log_span span_of(const char *text) {
    return (struct bal_log_span){text, strlen(text)};
}

static int find_usual(struct bal_log_format *format, struct bal_log_span name,
                      const struct bal_log_sample *sample) {
    return format->kind->find(format, name, sample, true);
}

static int find_first(struct bal_log_format *format, const char *const *names, size_t count,
                      const struct bal_log_sample *sample, const char **name) {
    for (size_t i = 0; i < count; i++) {
        const int field = find_usual(format, span_of(names[i]), sample);
        *name = names[i];
        if (field >= 0)
            return field;
    }
    return -1;
}

struct found {
    int field, unit;
    char name[BAL_LOG_NAME];
};

/* The usual name as it is, or with an ending. */
static bool find_duration(struct bal_log_format *format, const struct usual *usual,
                          const struct bal_log_sample *sample, struct found *found) {
    snprintf(found->name, sizeof found->name, "%s", usual->name);
    found->unit = usual->unit == OF_NAME ? BAL_LOG_S : usual->unit;
    found->field = find_usual(format, span_of(found->name), sample);
    if (usual->name[0] == '%')
        return found->field >= 0;
    for (size_t i = 0; found->field < 0 && i < sizeof endings / sizeof *endings; i++) {
        snprintf(found->name, sizeof found->name, "%s%s", usual->name, endings[i].ending);
        found->unit = endings[i].unit;
        found->field = find_usual(format, span_of(found->name), sample);
    }
    return found->field >= 0;
}

static bool find_durations(struct bal_log_format *format, const struct usual *usual, size_t count,
                           const struct bal_log_sample *sample, struct found *found) {
    for (size_t i = 0; i < count; i++)
        if (find_duration(format, &usual[i], sample, found))
            return true;
    return false;
}

static bool find_whole(struct bal_log_format *format, const struct bal_log_sample *sample,
                       struct found *found) {
    return find_durations(format, wholes, sizeof wholes / sizeof *wholes, sample, found);
}

static int unit_of_name(struct bal_log_span name) {
    for (size_t i = 0; i < sizeof services / sizeof *services; i++)
        if (services[i].unit != OF_NAME && bal_log_is(name, services[i].name))
            return services[i].unit;
    for (size_t i = 0; i < sizeof wholes / sizeof *wholes; i++)
        if (wholes[i].unit != OF_NAME && bal_log_is(name, wholes[i].name))
            return wholes[i].unit;
    static const char *const timers[] = {"TR", "Tw", "Tc", "Tq", "Tt"}; /* the other ones of HAProxy */
    for (size_t i = 0; i < sizeof timers / sizeof *timers; i++)
        if (bal_log_is(name, timers[i]))
            return BAL_LOG_MS;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const size_t length = strlen(endings[i].ending);
        if (name.length > length && memcmp(name.text + name.length - length, endings[i].ending, length) == 0)
            return endings[i].unit;
    }
    return BAL_LOG_S;
}

/* A name that speaks of service means that alone; one of the list above what the proxy waited for. */
static enum bal_log_covers covers_of(const char *name) {
    if (strncasecmp(name, "service", 7) == 0)
        return BAL_LOG_COVERS_SERVICE;
    for (size_t i = 0; i < sizeof services / sizeof *services; i++)
        if (strcmp(name, services[i].name) == 0)
            return BAL_LOG_COVERS_SERVER;
    return BAL_LOG_COVERS_REQUEST;
}

static const char *unit_text(int unit) {
    return unit == BAL_LOG_NS ? "ns" : unit == BAL_LOG_US ? "us" : unit == BAL_LOG_MS ? "ms" : "s";
}

/* Names of nginx are shown with their $. */
static const char *sign_of(const struct bal_log_format *format) {
    return strncmp(format->name, "nginx", 5) == 0 ? "$" : "";
}

/* Takes an ending such as ":ms" off; whether it was there. */
static bool take_off(struct bal_log_span *name, const char *ending) {
    const size_t length = strlen(ending);
    if (name->length <= length || memcmp(name->text + name->length - length, ending, length) != 0)
        return false;
    name->length -= length;
    return true;
}

static enum bal_code fail_unknown(const struct bal_log_format *format, struct bal_log_span name,
                                  const struct bal_log_sample *sample, struct bal_error *err) {
    char list[256] = "";
    size_t used = 0;
    struct bal_log_span other;
    for (size_t i = 0; used < sizeof list && (other = format->kind->name(format, sample, i)).text; i++) {
        const int length = other.length < 40 ? (int)other.length : 40;
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s%.*s", i ? ", " : "", sign_of(format),
                                 length, other.text);
    }
    return bal_fail(err, BAL_E_UNKNOWN, "the log has no field '%.*s'; it has %s%s", (int)name.length,
                    name.text, *list ? list : "none", used < sizeof list ? "" : "...");
}

/* A field that the user has named, with or without the $ of nginx. */
static enum bal_code find_named(struct bal_log_format *format, struct bal_log_span name,
                                const struct bal_log_sample *sample, int *field, struct bal_error *err) {
    *field = format->kind->find(format, name, sample, false);
    if (*field < 0 && name.length > 1 && name.text[0] == '$')
        *field =
            format->kind->find(format, (struct bal_log_span){name.text + 1, name.length - 1}, sample, false);
    return *field < 0 ? fail_unknown(format, name, sample, err) : BAL_OK;
}

static struct bal_log_span without_sign(struct bal_log_span name) {
    return name.length > 1 && name.text[0] == '$' ? (struct bal_log_span){name.text + 1, name.length - 1}
                                                  : name;
}

static enum bal_code bind_service(struct bal_log_format *format, const char *given,
                                  const struct bal_log_sample *sample, struct bal_log_binding *binding,
                                  struct bal_error *err) {
    struct found found;
    if (given) {
        struct bal_log_span name = span_of(given);
        static const struct {
            const char *ending;
            int unit;
        } units[] = {{":ns", BAL_LOG_NS}, {":us", BAL_LOG_US}, {":ms", BAL_LOG_MS}, {":s", BAL_LOG_S}};
        found.unit = OF_NAME;
        for (size_t i = 0; i < sizeof units / sizeof *units && found.unit == OF_NAME; i++)
            if (take_off(&name, units[i].ending))
                found.unit = units[i].unit;
        const enum bal_code code = find_named(format, name, sample, &found.field, err);
        if (code)
            return code;
        name = without_sign(name);
        if (found.unit == OF_NAME)
            found.unit = unit_of_name(name);
        snprintf(found.name, sizeof found.name, "%.*s", (int)name.length, name.text);
    } else if (!find_durations(format, services, sizeof services / sizeof *services, sample, &found) &&
               !find_whole(format, sample, &found)) {
        return bal_fail(err, BAL_E_UNKNOWN, "no field of the log looks like a service time; name one");
    }
    binding->service = found.field;
    binding->service_unit = found.unit;
    binding->covers = covers_of(found.name);
    snprintf(binding->service_text, sizeof binding->service_text, "%s%.100s (%s)", sign_of(format),
             found.name, unit_text(found.unit));
    return BAL_OK;
}

/* Does a name say that it is the beginning of a request? Apache and HAProxy mean that unless they say else.
 */
static bool means_start(struct bal_log_span name) {
    char text[BAL_LOG_NAME];
    snprintf(text, sizeof text, "%.*s", (int)name.length, name.text);
    if (text[0] == '%')
        return strncmp(text, "%{end:", 6) != 0;
    return strcmp(text, "tr") == 0 || strcasestr(text, "start") || strcasestr(text, "begin") ||
           strcasestr(text, "arrival");
}

static enum bal_code find_time(struct bal_log_format *format, const char *given,
                               const struct bal_log_sample *sample, struct bal_log_span *name,
                               struct bal_log_binding *binding, struct bal_error *err) {
    if (!given) {
        const char *usual;
        binding->time = find_first(format, times, sizeof times / sizeof *times, sample, &usual);
        *name = span_of(usual);
        binding->at_end = !means_start(*name);
        return binding->time >= 0
                   ? BAL_OK
                   : bal_fail(err, BAL_E_UNKNOWN, "no field of the log looks like a time; name one");
    }
    *name = span_of(given);
    const bool start = take_off(name, ":start");
    const bool end = !start && take_off(name, ":end");
    const enum bal_code code = find_named(format, *name, sample, &binding->time, err);
    *name = without_sign(*name);
    binding->at_end = end || (!start && !means_start(*name));
    return code;
}

/* How long the whole request took. What was said of the unit of a field holds wherever it is used. */
static void bind_whole(struct bal_log_format *format, const struct bal_log_sample *sample,
                       struct bal_log_binding *binding, struct found *whole) {
    if (!find_whole(format, sample, whole))
        whole->field = -1;
    binding->whole = whole->field;
    binding->whole_unit = whole->field == binding->service ? binding->service_unit : whole->unit;
}

static enum bal_code bind_time(struct bal_log_format *format, const char *given,
                               const struct bal_log_sample *sample, const char *whole,
                               struct bal_log_binding *binding, struct bal_error *err) {
    struct bal_log_span name;
    const enum bal_code code = find_time(format, given, sample, &name, binding, err);
    if (code)
        return code;
    const int length = name.length < 40 ? (int)name.length : 40;
    const char *sign = sign_of(format);
    if (!binding->at_end) {
        snprintf(binding->time_text, sizeof binding->time_text, "%s%.*s (start of the request)", sign, length,
                 name.text);
        return BAL_OK;
    }
    snprintf(binding->time_text, sizeof binding->time_text,
             "%s%.*s (end of the request; %s%.30s is subtracted)", sign, length, name.text,
             binding->whole >= 0 ? sign : "", binding->whole >= 0 ? whole : "the service time");
    return BAL_OK;
}

static enum bal_code bind_path(struct bal_log_format *format, const struct bal_log_sample *sample,
                               struct bal_log_binding *binding, struct bal_error *err) {
    const char *name;
    binding->path = find_first(format, paths, sizeof paths / sizeof *paths, sample, &name);
    if (binding->path >= 0)
        return BAL_OK;
    return bal_fail(err, BAL_E_UNKNOWN,
                    "no field of the log looks like the path of a request; name the one that"
                    " tells the class");
}

/* The class, by a field or by the path; and the path, if it is asked for. */
static enum bal_code bind_high(struct bal_log_format *format, const struct bal_log_options *options,
                               const struct bal_log_sample *sample, struct bal_log_binding *binding,
                               struct bal_error *err) {
    enum bal_code code = BAL_OK;
    if (options->high_pattern && options->high_field)
        code = find_named(format, span_of(options->high_field), sample, &binding->high, err);
    if (!code && (options->path || options->kinds > 0 || (options->high_pattern && !options->high_field)))
        code = bind_path(format, sample, binding, err);
    return code;
}

/* Names of the server that a request was handed to. Names that could as well be that of the proxy itself
 * (server, host, upstream) are taken only when they are given. */
static const char *const servers[] = {
    "upstream_addr",  /* nginx */
    "backend/server", /* HAProxy */
    "UPSTREAM_HOST",
    "upstream_host", /* Envoy */
    "ServiceAddr",
    "ServiceURL", /* Traefik */
    "%{X-Server}o",
    "upstream_http_x_server",
    "sent_http_x_server",
    "x_server",
    "%{BALANCER_WORKER_NAME}e", /* Apache */
};

static void bind_ahead(struct bal_log_format *format, const struct bal_log_sample *sample,
                       struct bal_log_binding *binding) {
    static const char *const timers[BAL_LOG_AHEADS] = {"TR", "Tw", "Tc"}; /* HAProxy */
    binding->ahead_unit = BAL_LOG_MS;
    for (int i = 0; i < BAL_LOG_AHEADS; i++) {
        binding->ahead[i] = find_usual(format, span_of(timers[i]), sample);
        if (binding->ahead[i] < 0) {
            binding->ahead[0] = -1;
            return;
        }
    }
}

static void bind_outcome(struct bal_log_format *format, const struct bal_log_sample *sample,
                         struct bal_log_binding *binding) {
    static const char *const status[] = {"status",        "%>s",           "%s",
                                         "RESPONSE_CODE", "response_code", "DownstreamStatus"};
    static const char *const states[] = {"termination", "RESPONSE_FLAGS", "response_flags"};
    const char *name;
    binding->status = find_first(format, status, sizeof status / sizeof *status, sample, &name);
    binding->statuses = find_usual(format, span_of("upstream_status"), sample);
    binding->state = find_first(format, states, sizeof states / sizeof *states, sample, &name);
    binding->state_reasons = binding->state >= 0 && strcmp(name, "termination") != 0;
}

static enum bal_code bind_server(struct bal_log_format *format, const char *given,
                                 const struct bal_log_sample *sample, struct bal_log_binding *binding,
                                 struct bal_error *err) {
    const char *name = given;
    if (given) {
        const enum bal_code code = find_named(format, span_of(given), sample, &binding->server, err);
        if (code)
            return code;
    } else {
        binding->server = find_first(format, servers, sizeof servers / sizeof *servers, sample, &name);
    }
    if (binding->server >= 0)
        snprintf(binding->server_text, sizeof binding->server_text, "%s%s",
                 *name == '$' ? "" : sign_of(format), name);
    bind_ahead(format, sample, binding);
    return BAL_OK;
}

static const struct bal_log_binding nothing_bound = {.whole = -1,
                                                     .path = -1,
                                                     .high = -1,
                                                     .server = -1,
                                                     .status = -1,
                                                     .statuses = -1,
                                                     .state = -1,
                                                     .ahead = {-1, -1, -1}};

enum bal_code bal_log_bind(struct bal_log_format *format, const struct bal_log_options *options,
                           const struct bal_log_sample *sample, struct bal_log_binding *binding,
                           struct bal_error *err) {
    *binding = nothing_bound;
    enum bal_code code = bind_service(format, options->service, sample, binding, err);
    if (code)
        return code;
    struct found whole;
    bind_whole(format, sample, binding, &whole);
    code = bind_time(format, options->time, sample, whole.name, binding, err);
    if (!code)
        code = bind_high(format, options, sample, binding, err);
    if (!code && options->servers)
        code = bind_server(format, options->server, sample, binding, err);
    if (!code && (options->servers || options->status))
        bind_outcome(format, sample, binding);
    if (!code && options->status && binding->status < 0)
        code = bal_fail(err, BAL_E_UNKNOWN, "no field of the log looks like the status of an answer");
    return code;
}

bool bal_log_bind_time(struct bal_log_format *format, const struct bal_log_sample *sample,
                       struct bal_log_binding *binding) {
    *binding = nothing_bound;
    struct bal_log_span name;
    return find_time(format, NULL, sample, &name, binding, NULL) == BAL_OK;
}
