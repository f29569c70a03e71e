/* Each format that comes into question is tried on the first lines; the one that reads the most of them wins,
 * if that is more than half. */
#include "log/detect.h"

enum family { NGINX, APACHE, HAPROXY, JSON, CSV, FAMILIES };

static const char *const family_name[FAMILIES] = {"combined", "apache", "haproxy", "json", "csv"};

struct candidate {
    enum family family;
    const char *pattern;
};

/* Of two that read the same lines the earlier wins. */
static const struct candidate candidates[] = {
    {JSON, NULL},
    {HAPROXY, NULL},
    {NGINX, BAL_LOG_COMBINED " $request_time $upstream_response_time"},
    {NGINX, BAL_LOG_COMBINED " $request_time"},
    {NGINX, BAL_LOG_COMBINED " \"$http_x_forwarded_for\" $request_time $upstream_response_time"},
    {NGINX, BAL_LOG_COMBINED " \"$http_x_forwarded_for\" $request_time"},
    {NGINX, BAL_LOG_COMBINED " rt=$request_time uct=\"$upstream_connect_time\" uht=\"$upstream_header_time\""
                             " urt=\"$upstream_response_time\""},
    {NGINX, BAL_LOG_COMBINED " rt=$request_time uct=$upstream_connect_time uht=$upstream_header_time"
                             " urt=$upstream_response_time"},
    {NGINX, BAL_LOG_COMBINED " rt=$request_time urt=$upstream_response_time"},
    {NGINX, BAL_LOG_COMBINED " rt=$request_time"},
    {NGINX, BAL_LOG_COMBINED " \"$request_time\" \"$upstream_response_time\""},
    {NGINX, BAL_LOG_COMBINED " \"$request_time\""},
    /* the default of the ingress controller of Kubernetes */
    {NGINX, BAL_LOG_COMBINED
     " $request_length $request_time [$proxy_upstream_name] [$proxy_alternative_upstream_name]"
     " $upstream_addr $upstream_response_length $upstream_response_time $upstream_status $req_id"},
    {NGINX, BAL_LOG_COMMON " $request_time $upstream_response_time"},
    {NGINX, BAL_LOG_COMMON " $request_time"},
    {APACHE, BAL_LOG_APACHE_COMBINED " %D"},
    {APACHE, BAL_LOG_APACHE_COMBINED " %I %O %D"},
    {APACHE, BAL_LOG_APACHE_COMMON " %D"},
    {CSV, NULL},
};

static enum bal_code make(const struct candidate *candidate, const struct bal_log_sample *sample,
                          struct bal_log_format *format, struct bal_error *err) {
    switch (candidate->family) {
    case HAPROXY:
        return bal_log_haproxy_new(format, err);
    case JSON:
        return bal_log_json_new(format, err);
    case CSV:
        return bal_log_csv_new(sample->line[0], format, err);
    default:
        return bal_log_pattern_new(candidate->pattern, format, err);
    }
}

/* nginx writes seconds with three decimals, Apache whole microseconds: what tells one from the other. */
static bool looks_right(enum family family, struct bal_log_span service) {
    const bool has_point = memchr(service.text, '.', service.length) != NULL;
    return family == NGINX ? has_point : family == APACHE ? !has_point : true;
}

/* A request without a service time is in the format too: it says "-" or -1, or nothing. */
static bool is_in_format(enum family family, enum bal_log_reason reason, const struct bal_log_entry *entry) {
    const struct bal_log_span service = entry->service_text;
    if (reason == BAL_LOG_NO_SERVICE)
        return service.length == 0 || service.text[0] == '-';
    if (reason != BAL_LOG_ZERO && reason != BAL_LOG_REASON_COUNT)
        return false;
    return looks_right(family, service) && !(family == NGINX && entry->guessed);
}

/* How many lines of the sample (in csv the first is none) are in the format; none if not one of them has a
 * service time. */
static size_t count_read(enum family family, const struct bal_log_format *format,
                         const struct bal_log_binding *binding, const struct bal_log_sample *sample) {
    struct bal_log_clock clock = {0};
    size_t count = 0, without = 0;
    for (size_t i = family == CSV; i < sample->count; i++) {
        struct bal_log_entry entry = {0};
        const enum bal_log_reason reason =
            bal_log_entry_read(format, binding, &clock, sample->line[i], &entry);
        const bool fits = is_in_format(family, reason, &entry);
        count += fits;
        without += fits && reason == BAL_LOG_NO_SERVICE;
    }
    return without < count ? count : 0;
}

static size_t count_split(const struct bal_log_format *format, const struct bal_log_sample *sample) {
    struct bal_log_span fields[BAL_LOG_FIELDS];
    size_t count = 0;
    for (size_t i = 0; i < sample->count; i++)
        count += format->kind->split(format, sample->line[i], fields);
    return count;
}

/* A format with its fields, and how many lines it reads. */
struct attempt {
    struct bal_log_format format;
    struct bal_log_binding binding;
    size_t read;
    bool most; /* of the lines */
    enum bal_code code;
    struct bal_error err;
};

static void try_one(const struct candidate *candidate, const struct bal_log_options *options,
                    const struct bal_log_sample *sample, struct attempt *attempt) {
    *attempt = (struct attempt){0};
    attempt->code = make(candidate, sample, &attempt->format, &attempt->err);
    if (attempt->code)
        return;
    attempt->code = bal_log_bind(&attempt->format, options, sample, &attempt->binding, &attempt->err);
    if (attempt->code) {
        attempt->most = 2 * count_split(&attempt->format, sample) > sample->count;
        if (candidate->family == CSV) /* any text is one of one column: there must be a known name too */
            attempt->most &= bal_log_bind_time(&attempt->format, sample, &attempt->binding);
        return;
    }
    const size_t lines = sample->count - (candidate->family == CSV);
    attempt->read = count_read(candidate->family, &attempt->format, &attempt->binding, sample);
    attempt->most = 2 * attempt->read > lines || lines == 0;
}

/* Are the lines in a pattern that has no service time? Bytes are read in its place, to be sure of them. */
static bool fits_untimed(const char *pattern, const char *bytes, const struct bal_log_sample *sample) {
    struct bal_log_format format;
    struct bal_log_binding binding;
    bool fits = !bal_log_pattern_new(pattern, &format, NULL) && bal_log_bind_time(&format, sample, &binding);
    if (fits) {
        const struct bal_log_span name = {bytes, strlen(bytes)};
        binding.service = binding.whole = format.kind->find(&format, name, sample, false);
        fits = 2 * count_read(FAMILIES, &format, &binding, sample) > sample->count;
    }
    bal_log_format_free(&format);
    return fits;
}

static bool is_untimed(const struct bal_log_sample *sample) {
    return fits_untimed(BAL_LOG_COMBINED, "body_bytes_sent", sample) ||
           fits_untimed(BAL_LOG_COMBINED " \"$http_x_forwarded_for\"", "body_bytes_sent", sample) ||
           fits_untimed(BAL_LOG_COMMON, "body_bytes_sent", sample) ||
           fits_untimed(BAL_LOG_APACHE_COMBINED " %I %O", "%O", sample);
}

static enum bal_code fail_format(const char *path, const struct bal_log_options *options,
                                 const struct bal_log_sample *sample, const char *family,
                                 struct bal_error *err) {
    if (is_untimed(sample))
        return bal_fail(
            err, BAL_E_FORMAT,
            "'%s' does not say how long requests took; add $request_time and"
            " $upstream_response_time to the log_format of nginx, or %%D to the LogFormat of Apache",
            path);
    char first[80];
    bal_log_show(sample->line[0], first, sizeof first);
    if (options->service || options->time)
        return bal_fail(err, BAL_E_FORMAT,
                        "'%s' is in no known format in which '%.60s' is a %s; its first line is '%s'", path,
                        options->service ? options->service : options->time,
                        options->service ? "service time" : "time", first);
    return bal_fail(
        err, BAL_E_FORMAT,
        "'%s' is not in a format that is known%s%s; its first line is '%s'; say what it is: haproxy,"
        " json, csv, or the log_format itself",
        path, family ? " as " : "", family ? family : "", first);
}

/* Tries the formats of a family, or of all; a family with one member needs no lines to be sure. */
static enum bal_code choose(const char *path, const struct bal_log_options *options, int family,
                            const struct bal_log_sample *sample, struct attempt *best,
                            struct bal_error *err) {
    struct bal_error first = {0}; /* why the first that reads the lines has not the fields that are asked for
                                   */
    bool found = false;
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++) {
        if (family != FAMILIES && candidates[i].family != (enum family)family)
            continue;
        const bool only = family == HAPROXY || family == JSON || family == CSV;
        struct attempt attempt;
        try_one(&candidates[i], options, sample, &attempt);
        const bool wins = !attempt.code && (only || (attempt.most && (!found || attempt.read > best->read)));
        if (attempt.code && (attempt.most || only || attempt.code == BAL_E_MEMORY) && !first.code)
            first = attempt.err;
        if (wins && found)
            bal_log_format_free(&best->format);
        if (wins)
            *best = attempt;
        else
            bal_log_format_free(&attempt.format);
        found |= wins;
    }
    if (found)
        return BAL_OK;
    if (first.code)
        return bal_fail(err, first.code, "'%s': %s", path, first.text);
    return fail_format(path, options, sample, family == FAMILIES ? NULL : family_name[family], err);
}

enum bal_code bal_log_detect(const char *path, const struct bal_log_options *options,
                             const struct bal_log_sample *sample, struct bal_log_format *format,
                             struct bal_log_binding *binding, struct bal_error *err) {
    *format = (struct bal_log_format){0};
    const char *wanted = options->format ? options->format : "auto";
    int family = 0;
    while (family < FAMILIES && strcmp(wanted, family_name[family]) != 0)
        family++;
    if (family == FAMILIES && strcmp(wanted, "auto") != 0) {
        const enum bal_code code = bal_log_pattern_new(wanted, format, err);
        return code ? code : bal_log_bind(format, options, sample, binding, err);
    }
    struct attempt best = {0};
    const enum bal_code code = choose(path, options, family, sample, &best, err);
    *format = best.format;
    *binding = best.binding;
    return code;
}
