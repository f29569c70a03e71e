/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of log formats that are known by name. */
#include "log/formats.h"

#include "log/combined_suffix.h"

static enum bal_code make_pattern(const struct bli_log_format_entry *known,
                                  const struct bli_log_sample *sample, const char *service,
                                  struct bli_log_format *format, struct bal_error *err) {
    (void)sample, (void)service;
    const enum bal_code code = bli_log_pattern_new(known->pattern, format, err);
    if (!code && strcmp(known->name, "combined") != 0) /* too long to print in full */
        snprintf(format->name, sizeof format->name, "%s", format->kind->words(format, sample)->program);
    return code;
}

static enum bal_code make_json(const struct bli_log_format_entry *known, const struct bli_log_sample *sample,
                               const char *service, struct bli_log_format *format, struct bal_error *err) {
    (void)known, (void)sample, (void)service;
    return bli_log_json_new(false, format, err);
}

static enum bal_code make_caddy(const struct bli_log_format_entry *known, const struct bli_log_sample *sample,
                                const char *service, struct bli_log_format *format, struct bal_error *err) {
    (void)known, (void)sample, (void)service;
    return bli_log_json_new(true, format, err);
}

static enum bal_code make_csv(const struct bli_log_format_entry *known, const struct bli_log_sample *sample,
                              const char *service, struct bli_log_format *format, struct bal_error *err) {
    (void)known, (void)service;
    return bli_log_csv_new(sample->line[0], format, err);
}

static enum bal_code make_w3c(const struct bli_log_format_entry *known, const struct bli_log_sample *sample,
                              const char *service, struct bli_log_format *format, struct bal_error *err) {
    (void)known, (void)service;
    return bli_log_w3c_new(sample, format, err);
}

static enum bal_code make_http(const struct bli_log_format_entry *known, const struct bli_log_sample *sample,
                               const char *service, struct bli_log_format *format, struct bal_error *err) {
    (void)known, (void)sample, (void)service;
    return bli_log_haproxy_new(BLI_LOG_HAPROXY_HTTP, format, err);
}

static enum bal_code make_tcp(const struct bli_log_format_entry *known, const struct bli_log_sample *sample,
                              const char *service, struct bli_log_format *format, struct bal_error *err) {
    (void)known, (void)sample, (void)service;
    return bli_log_haproxy_new(BLI_LOG_HAPROXY_TCP, format, err);
}

static enum bal_code make_clf(const struct bli_log_format_entry *known, const struct bli_log_sample *sample,
                              const char *service, struct bli_log_format *format, struct bal_error *err) {
    (void)known, (void)sample, (void)service;
    return bli_log_haproxy_new(BLI_LOG_HAPROXY_CLF, format, err);
}

/* More fields follow the combined format; the numbers show what they are. */
static enum bal_code make_trail(const struct bli_log_format_entry *known, const struct bli_log_sample *sample,
                                const char *service, struct bli_log_format *format, struct bal_error *err) {
    const char *program = strcmp(known->name, "combined") == 0 ? NULL : known->name;
    return bli_log_combined_suffix_new(sample, program, service, format, err);
}

/* The default of Envoy, and that of Istio, which has more. */
#define ENVOY_HEAD                                                                                           \
    "[%START_TIME%] \"%REQ(:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %PROTOCOL%\" %RESPONSE_CODE% "       \
    "%RESPONSE_FLAGS% "
#define ENVOY_TAIL                                                                                           \
    "%BYTES_RECEIVED% %BYTES_SENT% %DURATION% %RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)% "                        \
    "\"%REQ(X-FORWARDED-FOR)%\" \"%REQ(USER-AGENT)%\" \"%REQ(X-REQUEST-ID)%\" \"%REQ(:AUTHORITY)%\" "        \
    "\"%UPSTREAM_HOST%\""

/* Of two that read the same lines the earlier wins. */
const struct bli_log_format_entry bli_log_formats[] = {
    {.name = "json", .make = make_json, .sure = true},
    {.name = "caddy", .make = make_caddy, .sure = true},
    {.name = "haproxy", .make = make_http},
    {.name = "haproxy", .make = make_tcp},
    {.name = "haproxy", .make = make_clf},
    /* balancers of AWS, the application's and the classic; fields that were added later stand at the end */
    {.name = "alb",
     .make = make_pattern,
     .pattern =
         "alb:$type $time $elb $client:port $target:port $request_processing_time $target_processing_time"
         " $response_processing_time $elb_status_code $target_status_code $received_bytes $sent_bytes"
         " \"$request\" \"$user_agent\" $ssl_cipher $ssl_protocol $target_group_arn \"$trace_id\""
         " \"$domain_name\" \"$chosen_cert_arn\" $matched_rule_priority $request_creation_time $rest"},
    {.name = "alb",
     .make = make_pattern,
     .pattern = "elb:$time $elb $client:port $target:port $request_processing_time $target_processing_time"
                " $response_processing_time $elb_status_code $target_status_code $received_bytes $sent_bytes"
                " \"$request\" \"$user_agent\" $ssl_cipher $ssl_protocol"},
    {.name = "envoy", .make = make_pattern, .pattern = "envoy:" ENVOY_HEAD ENVOY_TAIL},
    {.name = "envoy",
     .make = make_pattern,
     .pattern = "envoy:" ENVOY_HEAD "%RESPONSE_CODE_DETAILS% %CONNECTION_TERMINATION_DETAILS% "
                "\"%UPSTREAM_TRANSPORT_FAILURE_REASON%\" " ENVOY_TAIL " %UPSTREAM_CLUSTER% "
                "%UPSTREAM_LOCAL_ADDRESS% %DOWNSTREAM_LOCAL_ADDRESS% %DOWNSTREAM_REMOTE_ADDRESS% "
                "%REQUESTED_SERVER_NAME% %ROUTE_NAME%"},
    {.name = "squid",
     .make = make_pattern,
     .pattern = "squid:%ts.%03tu %6tr %>a %Ss/%03>Hs %<st %rm %ru %[un %Sh/%<a %mt"},
    {.name = "traefik",
     .make = make_pattern,
     .pattern =
         "traefik:$ClientHost - $ClientUsername [$StartUTC] \"$request\" $OriginStatus"
         " $OriginContentSize \"$request_Referer\" \"$request_User_Agent\" $RequestCount \"$RouterName\""
         " \"$ServiceURL\" $Duration"},
    {.name = "w3c", .make = make_w3c},
    {.name = "iis", .make = make_w3c, .named = true},
    {.name = "cloudfront", .make = make_w3c, .named = true},
    /* the default of the ingress controller of Kubernetes */
    {.name = "combined",
     .make = make_pattern,
     .pattern = BLI_LOG_COMBINED
     " $request_length $request_time [$proxy_upstream_name] [$proxy_alternative_upstream_name]"
     " $upstream_addr $upstream_response_length $upstream_response_time $upstream_status $req_id"},
    {.name = "combined", .make = make_trail, .tells = true},
    {.name = "apache", .make = make_trail, .named = true, .tells = true},
    {.name = "varnish", .make = make_trail, .named = true, .tells = true},
    {.name = "lighttpd", .make = make_trail, .named = true, .tells = true},
    {.name = "tomcat", .make = make_trail, .named = true, .tells = true},
    {.name = "csv", .make = make_csv, .header = true},
};
const size_t bli_log_format_count = sizeof bli_log_formats / sizeof *bli_log_formats;

const char *bli_log_format_names(void) {
    static _Thread_local char names[300];
    size_t used = (size_t)snprintf(names, sizeof names, "auto");
    for (size_t i = 0; i < bli_log_format_count && used < sizeof names; i++)
        if (i == 0 || strcmp(bli_log_formats[i].name, bli_log_formats[i - 1].name) != 0)
            used += (size_t)snprintf(names + used, sizeof names - used, ", %s", bli_log_formats[i].name);
    return names;
}
