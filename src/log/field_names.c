/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables of the field names that programs use in their logs, with their meanings and units. */
#include "log/field_names.h"

#define LENGTH(list) (sizeof(list) / sizeof *(list))
#define WORDS(program, sign, starts, needs, list)                                                            \
    { program, sign, starts, needs, list, LENGTH(list) }

enum { NS = BLI_LOG_NS, US = BLI_LOG_US, MS = BLI_LOG_MS, S = BLI_LOG_S, OPEN = BLI_LOG_UNIT_OPEN };

/* $request_time is until the last byte is sent, $upstream_response_time until the last one is received. All
 * times are those of the end, when the line is written. */
static const struct bli_log_field_name nginx[] = {
    {BLI_LOG_START, "ballast_start", 0, 0}, /* of our own module, to the microsecond */
    {BLI_LOG_END, "msec", 0, 0},
    {BLI_LOG_END, "time_iso8601", 0, 0},
    {BLI_LOG_END, "time_local", 0, 0},
    {BLI_LOG_SERVICE, "ballast_time", S, 0},
    {BLI_LOG_SERVICE, "upstream_response_time", S, BLI_LOG_THOUSANDTHS},
    {BLI_LOG_WHOLE, "request_time", S, BLI_LOG_THOUSANDTHS},
    {BLI_LOG_AHEAD, "ballast_wait", S, 0},
    {BLI_LOG_SERVER, "ballast_server", 0, 0},
    {BLI_LOG_SLOTS, "ballast_slots", 0, 0},
    {BLI_LOG_SERVER, "upstream_addr", 0, 0},
    {BLI_LOG_SERVER, "upstream_http_x_server", 0, 0},
    {BLI_LOG_SERVER, "sent_http_x_server", 0, 0},
    {BLI_LOG_STATUS, "status", 0, 0},
    {BLI_LOG_STATUSES, "upstream_status", 0, 0},
    {BLI_LOG_PATH, "request_uri", 0, 0},
    {BLI_LOG_PATH, "uri", 0, 0},
    {BLI_LOG_PATH, "request", 0, 0},
    {BLI_LOG_METHOD, "request_method", 0, 0},
    {BLI_LOG_METHOD, "request", 0, 0},
};
const struct bli_log_field_names bli_log_names_nginx = WORDS("nginx", "$", false, NULL, nginx);

/* The words that servers with directives share. */
#define PERCENT_WORDS                                                                                        \
    {BLI_LOG_WHOLE, "%{us}T", US, BLI_LOG_WHOLES}, {BLI_LOG_WHOLE, "%{ms}T", MS, BLI_LOG_WHOLES},            \
        {BLI_LOG_WHOLE, "%{s}T", S, BLI_LOG_WHOLES}, {BLI_LOG_WHOLE, "%T", S, 0},                            \
        {BLI_LOG_STATUS, "%>s", 0, 0}, {BLI_LOG_STATUS, "%s", 0, 0}, {BLI_LOG_PATH, "%U", 0, 0},             \
        {BLI_LOG_PATH, "%r", 0, 0}, {BLI_LOG_METHOD, "%m", 0, 0}, {BLI_LOG_METHOD, "%r", 0, 0}, {            \
        BLI_LOG_SERVER, "%{X-Server}o", 0, 0                                                                 \
    }

/* %t is the moment at which the request was received. */
#define APACHE_TIMES                                                                                         \
    {BLI_LOG_START, "%{usec}t", 0, 0}, {BLI_LOG_START, "%{begin:usec}t", 0, 0},                              \
        {BLI_LOG_START, "%{msec}t", 0, 0}, {BLI_LOG_START, "%{begin:msec}t", 0, 0},                          \
        {BLI_LOG_END, "%{end:usec}t", 0, 0}, {BLI_LOG_END, "%{end:msec}t", 0, 0},                            \
        {BLI_LOG_START, "%t", 0, 0}, {BLI_LOG_START, "%{sec}t", 0, 0},                                       \
        {BLI_LOG_START, "%{begin:sec}t", 0, 0}, {                                                            \
        BLI_LOG_END, "%{end:sec}t", 0, 0                                                                     \
    }

static const struct bli_log_field_name apache[] = {
    APACHE_TIMES,
    {BLI_LOG_WHOLE, "%D", US, BLI_LOG_WHOLES},
    PERCENT_WORDS,
    {BLI_LOG_SERVER, "%{BALANCER_WORKER_NAME}e", 0, 0},
};
const struct bli_log_field_names bli_log_names_apache = WORDS("apache", "", true, NULL, apache);

/* The time to the first byte is what the server needed, and what the client needs is not in it. */
static const struct bli_log_field_name varnish[] = {
    {BLI_LOG_START, "%t", 0, 0},
    {BLI_LOG_SERVICE, "%{Varnish:time_firstbyte}x", S, 0},
    {BLI_LOG_WHOLE, "%D", US, BLI_LOG_WHOLES},
    PERCENT_WORDS,
};
const struct bli_log_field_names bli_log_names_varnish = WORDS("varnish", "", true, NULL, varnish);

/* %t is the end of the request. */
static const struct bli_log_field_name lighttpd[] = {
    {BLI_LOG_END, "%{end:usec}t", 0, 0},
    {BLI_LOG_END, "%{end:msec}t", 0, 0},
    {BLI_LOG_START, "%{begin:usec}t", 0, 0},
    {BLI_LOG_START, "%{begin:msec}t", 0, 0},
    {BLI_LOG_END, "%t", 0, 0},
    {BLI_LOG_END, "%{sec}t", 0, 0},
    {BLI_LOG_WHOLE, "%D", US, BLI_LOG_WHOLES},
    PERCENT_WORDS,
};
const struct bli_log_field_names bli_log_names_lighttpd = WORDS("lighttpd", "", false, NULL, lighttpd);

/* %t is the end, %D milliseconds up to 10.0 and microseconds from 10.1 on. */
static const struct bli_log_field_name tomcat[] = {
    {BLI_LOG_START, "%{begin:msec}t", 0, 0},
    {BLI_LOG_END, "%{end:msec}t", 0, 0},
    {BLI_LOG_END, "%{msec}t", 0, 0},
    {BLI_LOG_END, "%t", 0, 0},
    {BLI_LOG_START, "%{begin:sec}t", 0, 0},
    {BLI_LOG_END, "%{end:sec}t", 0, 0},
    {BLI_LOG_END, "%{sec}t", 0, 0},
    {BLI_LOG_WHOLE, "%D", OPEN, BLI_LOG_WHOLES},
    {BLI_LOG_WHOLE, "%{fracsec}T", S, 0},
    {BLI_LOG_WHOLE, "%{ns}T", NS, BLI_LOG_WHOLES},
    PERCENT_WORDS,
};
const struct bli_log_field_names bli_log_names_tomcat = WORDS("tomcat", "", false, NULL, tomcat);

/* Directives of an unknown program: those of Apache, but %D may be Tomcat's. */
static const struct bli_log_field_name percent[] = {
    APACHE_TIMES,
    {BLI_LOG_WHOLE, "%D", OPEN, BLI_LOG_WHOLES},
    PERCENT_WORDS,
};
const struct bli_log_field_names bli_log_names_percent = WORDS("apache", "", true, NULL, percent);

static const struct bli_log_field_name squid[] = {
    {BLI_LOG_END, "ts.tu", 0, 0},
    {BLI_LOG_END, "tl", 0, 0},
    {BLI_LOG_END, "tg", 0, 0},
    {BLI_LOG_END, "ts", 0, 0},
    {BLI_LOG_START, "tS", 0, 0},
    {BLI_LOG_SERVICE, "<tt", MS, BLI_LOG_WHOLES}, /* all that servers took */
    {BLI_LOG_SERVICE, "<pt", MS, BLI_LOG_WHOLES}, /* the last of them, until it answered */
    {BLI_LOG_WHOLE, "tr", MS, BLI_LOG_WHOLES},
    {BLI_LOG_SERVER, "<a", 0, 0},
    {BLI_LOG_SERVER, "<A", 0, 0},
    {BLI_LOG_STATUS, ">Hs", 0, 0},
    {BLI_LOG_STATUS, "Hs", 0, 0},
    {BLI_LOG_STATUSES, "<Hs", 0, 0},
    {BLI_LOG_PATH, "rp", 0, 0},
    {BLI_LOG_PATH, ">rp", 0, 0},
    {BLI_LOG_PATH, "ru", 0, 0},
    {BLI_LOG_PATH, ">ru", 0, 0},
    {BLI_LOG_METHOD, "rm", 0, 0},
    {BLI_LOG_METHOD, ">rm", 0, 0},
};
const struct bli_log_field_names bli_log_names_squid = WORDS("squid", "%", false, NULL, squid);

/* TR until the request is received, Tw in queues, Tc to connect, Tr until the server answers, Ta or Tt all of
 * it. The date is that of the beginning. */
static const struct bli_log_field_name haproxy[] = {
    {BLI_LOG_START, "tr", 0, 0},
    {BLI_LOG_SERVICE, "Tr", MS, BLI_LOG_WHOLES},
    {BLI_LOG_WHOLE, "Ta", MS, BLI_LOG_WHOLES},
    {BLI_LOG_WHOLE, "Tt", MS, BLI_LOG_WHOLES},
    {BLI_LOG_AHEAD, "ballast_wait", S, 0},
    {BLI_LOG_AHEAD, "TR", MS, BLI_LOG_WHOLES},
    {BLI_LOG_AHEAD, "Tw", MS, BLI_LOG_WHOLES},
    {BLI_LOG_AHEAD, "Tc", MS, BLI_LOG_WHOLES},
    {BLI_LOG_SERVER, "backend/server", 0, 0},
    {BLI_LOG_STATUS, "status", 0, 0},
    {BLI_LOG_STATE, "termination", 0, 0},
    {BLI_LOG_PATH, "request", 0, 0},
};
const struct bli_log_field_names bli_log_names_haproxy = WORDS("haproxy", "", true, NULL, haproxy);

static const struct bli_log_field_name envoy[] = {
    {BLI_LOG_START, "START_TIME", 0, 0},
    {BLI_LOG_SERVICE, "RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)", MS, BLI_LOG_WHOLES},
    {BLI_LOG_WHOLE, "DURATION", MS, BLI_LOG_WHOLES},
    {BLI_LOG_SERVER, "UPSTREAM_HOST", 0, 0},
    {BLI_LOG_STATUS, "RESPONSE_CODE", 0, 0},
    {BLI_LOG_FLAGS, "RESPONSE_FLAGS", 0, 0},
    {BLI_LOG_PATH, "REQ(X-ENVOY-ORIGINAL-PATH?:PATH)", 0, 0},
    {BLI_LOG_PATH, "REQ(:PATH)", 0, 0},
    {BLI_LOG_METHOD, "REQ(:METHOD)", 0, 0},
};
const struct bli_log_field_names bli_log_names_envoy = WORDS("envoy", "", true, NULL, envoy);

/* The duration has its unit with it. */
static const struct bli_log_field_name traefik[] = {
    {BLI_LOG_START, "StartUTC", 0, 0},    {BLI_LOG_WHOLE, "Duration", MS, 0},
    {BLI_LOG_SERVER, "ServiceURL", 0, 0}, {BLI_LOG_STATUS, "OriginStatus", 0, 0},
    {BLI_LOG_PATH, "request", 0, 0},
};
const struct bli_log_field_names bli_log_names_traefik = WORDS("traefik", "", true, NULL, traefik);

/* Load balancers of AWS. The time of an application's is that of its answer, and it also logs when the
 * request arrived; the time of a classic one is that of the arrival already. */
static const struct bli_log_field_name alb[] = {
    {BLI_LOG_START, "request_creation_time", 0, 0},
    {BLI_LOG_END, "time", 0, 0},
    {BLI_LOG_SERVICE, "target_processing_time", S, 0},
    {BLI_LOG_AHEAD, "request_processing_time", S, 0},
    {BLI_LOG_SERVER, "target:port", 0, 0},
    {BLI_LOG_STATUS, "elb_status_code", 0, 0},
    {BLI_LOG_STATUSES, "target_status_code", 0, 0},
    {BLI_LOG_PATH, "request", 0, 0},
};
const struct bli_log_field_names bli_log_names_alb = WORDS("alb", "", false, NULL, alb);
static const struct bli_log_field_name elb[] = {
    {BLI_LOG_START, "time", 0, 0},
    {BLI_LOG_SERVICE, "target_processing_time", S, 0},
    {BLI_LOG_AHEAD, "request_processing_time", S, 0},
    {BLI_LOG_SERVER, "target:port", 0, 0},
    {BLI_LOG_STATUS, "elb_status_code", 0, 0},
    {BLI_LOG_STATUSES, "target_status_code", 0, 0},
    {BLI_LOG_PATH, "request", 0, 0},
};
const struct bli_log_field_names bli_log_names_elb = WORDS("elb", "", false, NULL, elb);

/* The time is that of the end. time-taken is seconds at CloudFront, milliseconds at IIS. */
#define W3C_WORDS                                                                                            \
    {BLI_LOG_END, "date time", 0, 0}, {BLI_LOG_STATUS, "sc-status", 0, 0},                                   \
        {BLI_LOG_METHOD, "cs-method", 0, 0}, {BLI_LOG_PATH, "cs-uri-stem", 0, 0}, {                          \
        BLI_LOG_PATH, "cs-uri", 0, 0                                                                         \
    }

static const struct bli_log_field_name cloudfront[] = {{BLI_LOG_WHOLE, "time-taken", S, 0}, W3C_WORDS};
const struct bli_log_field_names bli_log_names_cloudfront = WORDS("cloudfront", "", false, NULL, cloudfront);
static const struct bli_log_field_name iis[] = {{BLI_LOG_WHOLE, "time-taken", MS, BLI_LOG_WHOLES}, W3C_WORDS};
const struct bli_log_field_names bli_log_names_iis = WORDS("iis", "", false, NULL, iis);
static const struct bli_log_field_name w3c[] = {{BLI_LOG_WHOLE, "time-taken", OPEN, 0}, W3C_WORDS};
const struct bli_log_field_names bli_log_names_w3c = WORDS("w3c", "", false, NULL, w3c);

/* Unknown columns after those of a known format. Whether the time is that of the start or of the end is
 * inferred from the order of the lines. */
static const struct bli_log_field_name columns[] = {
    {BLI_LOG_END, "time_local", 0, 0},
    {BLI_LOG_STATUS, "status", 0, 0},
    {BLI_LOG_PATH, "request", 0, 0},
};
const struct bli_log_field_names bli_log_names_columns = WORDS("columns", "", false, NULL, columns);

/* JSON of Caddy: seconds, or, when configured, nanoseconds as whole numbers, or milliseconds. */
static const char *const needs_caddy[] = {"logger", "duration", "request.uri", NULL};
static const struct bli_log_field_name caddy[] = {
    {BLI_LOG_END, "ts", 0, 0},
    {BLI_LOG_WHOLE, "duration", OPEN, BLI_LOG_NANOSECONDS},
    {BLI_LOG_STATUS, "status", 0, 0},
    {BLI_LOG_PATH, "request.uri", 0, 0},
    {BLI_LOG_METHOD, "request.method", 0, 0},
};
static const struct bli_log_field_names words_caddy = WORDS("caddy", "", false, needs_caddy, caddy);

/* The same in the console format: the time and other text are in front of the object. */
static const char *const needs_console[] = {"head", "duration", "request.uri", NULL};
static const struct bli_log_field_name console[] = {
    {BLI_LOG_END, "head", 0, 0},
    {BLI_LOG_WHOLE, "duration", OPEN, BLI_LOG_NANOSECONDS},
    {BLI_LOG_STATUS, "status", 0, 0},
    {BLI_LOG_PATH, "request.uri", 0, 0},
    {BLI_LOG_METHOD, "request.method", 0, 0},
};
static const struct bli_log_field_names words_console =
    WORDS("caddy console", "", false, needs_console, console);

static const char *const needs_traefik[] = {"StartUTC", "Duration", NULL};
static const struct bli_log_field_name traefik_json[] = {
    {BLI_LOG_START, "StartUTC", 0, 0},
    {BLI_LOG_SERVICE, "OriginDuration", NS, BLI_LOG_WHOLES},
    {BLI_LOG_WHOLE, "Duration", NS, BLI_LOG_WHOLES},
    {BLI_LOG_SERVER, "ServiceAddr", 0, 0},
    {BLI_LOG_SERVER, "ServiceURL", 0, 0},
    {BLI_LOG_STATUS, "DownstreamStatus", 0, 0},
    {BLI_LOG_STATUSES, "OriginStatus", 0, 0},
    {BLI_LOG_PATH, "RequestPath", 0, 0},
    {BLI_LOG_METHOD, "RequestMethod", 0, 0},
};
static const struct bli_log_field_names words_traefik =
    WORDS("traefik", "", true, needs_traefik, traefik_json);

/* Envoy as Istio configures it. */
static const char *const needs_envoy[] = {"start_time", "duration", "response_flags", NULL};
static const struct bli_log_field_name envoy_json[] = {
    {BLI_LOG_START, "start_time", 0, 0},
    {BLI_LOG_SERVICE, "upstream_service_time", MS, BLI_LOG_WHOLES},
    {BLI_LOG_WHOLE, "duration", MS, BLI_LOG_WHOLES},
    {BLI_LOG_SERVER, "upstream_host", 0, 0},
    {BLI_LOG_STATUS, "response_code", 0, 0},
    {BLI_LOG_FLAGS, "response_flags", 0, 0},
    {BLI_LOG_PATH, "path", 0, 0},
    {BLI_LOG_METHOD, "method", 0, 0},
};
static const struct bli_log_field_names words_envoy = WORDS("envoy", "", true, needs_envoy, envoy_json);

/* pino-http, of Node.js */
static const char *const needs_pino[] = {"responseTime", "level", "pid", "time", NULL};
static const struct bli_log_field_name pino[] = {
    {BLI_LOG_END, "time", 0, 0},
    {BLI_LOG_WHOLE, "responseTime", MS, 0},
    {BLI_LOG_STATUS, "res.statusCode", 0, 0},
    {BLI_LOG_PATH, "req.url", 0, 0},
    {BLI_LOG_METHOD, "req.method", 0, 0},
};
static const struct bli_log_field_names words_pino = WORDS("pino", "", false, needs_pino, pino);

/* lograge, of Rails */
static const char *const needs_lograge[] = {"controller", "action", "duration", NULL};
static const struct bli_log_field_name lograge[] = {
    {BLI_LOG_END, "@timestamp", 0, 0},  {BLI_LOG_END, "time", 0, 0},      {BLI_LOG_END, "timestamp", 0, 0},
    {BLI_LOG_WHOLE, "duration", MS, 0}, {BLI_LOG_STATUS, "status", 0, 0}, {BLI_LOG_PATH, "path", 0, 0},
    {BLI_LOG_METHOD, "method", 0, 0},
};
static const struct bli_log_field_names words_lograge = WORDS("lograge", "", false, needs_lograge, lograge);

/* Names that any program may use, in JSON lines and csv: those of the programs above whose meaning is
 * certain, and common ones, whose unit is open. */
static const struct bli_log_field_name any[] = {
    {BLI_LOG_START, "ballast_start", 0, 0},
    {BLI_LOG_START, "StartUTC", 0, 0},
    {BLI_LOG_START, "arrival", 0, 0},
    {BLI_LOG_START, "arrival_time", 0, 0},
    {BLI_LOG_START, "start_time", 0, 0},
    {BLI_LOG_START, "start", 0, 0},
    {BLI_LOG_START, "request_start", 0, 0},
    {BLI_LOG_START, "start_time_unix_nano", 0, 0}, /* OpenTelemetry */
    {BLI_LOG_START, "startTimeUnixNano", 0, 0},
    {BLI_LOG_END, "msec", 0, 0},
    {BLI_LOG_END, "time_iso8601", 0, 0},
    {BLI_LOG_END, "time_local", 0, 0},
    {BLI_LOG_END, "@timestamp", 0, 0},
    {BLI_LOG_END, "timestamp", 0, 0},
    {BLI_LOG_END, "time", 0, 0},
    {BLI_LOG_END, "ts", 0, 0},
    {BLI_LOG_END, "datetime", 0, 0},
    {BLI_LOG_END, "date", 0, 0},
    {BLI_LOG_END, "timestamp_ms", 0, 0},
    {BLI_LOG_END, "time_ms", 0, 0},
    {BLI_LOG_END, "ts_ms", 0, 0},
    {BLI_LOG_END, "end_time", 0, 0},
    {BLI_LOG_SERVICE, "ballast_time", S, 0},
    {BLI_LOG_SERVICE, "upstream_response_time", S, BLI_LOG_THOUSANDTHS},
    {BLI_LOG_SERVICE, "urt", S, BLI_LOG_THOUSANDTHS},
    {BLI_LOG_SERVICE, "Tr", MS, BLI_LOG_WHOLES},
    {BLI_LOG_SERVICE, "OriginDuration", NS, BLI_LOG_WHOLES},
    {BLI_LOG_SERVICE, "service_time", OPEN, 0},
    {BLI_LOG_SERVICE, "service", OPEN, 0},
    {BLI_LOG_WHOLE, "request_time", S, BLI_LOG_THOUSANDTHS},
    {BLI_LOG_WHOLE, "rt", S, BLI_LOG_THOUSANDTHS},
    {BLI_LOG_WHOLE, "Ta", MS, BLI_LOG_WHOLES},
    {BLI_LOG_WHOLE, "event.duration", NS, BLI_LOG_WHOLES}, /* Elastic Common Schema */
    {BLI_LOG_WHOLE, "httpRequest.latency", S, 0},          /* Google Cloud: "0.5s" */
    {BLI_LOG_WHOLE, "request_duration", OPEN, 0},
    {BLI_LOG_WHOLE, "response_time", OPEN, 0},
    {BLI_LOG_WHOLE, "duration", OPEN, 0},
    {BLI_LOG_WHOLE, "latency", OPEN, 0},
    {BLI_LOG_WHOLE, "elapsed", OPEN, 0},
    {BLI_LOG_WHOLE, "elapsed_time", OPEN, 0},
    {BLI_LOG_WHOLE, "time_taken", OPEN, 0},
    {BLI_LOG_WHOLE, "responseTime", OPEN, 0},
    {BLI_LOG_AHEAD, "ballast_wait", S, 0},
    {BLI_LOG_AHEAD, "TR", MS, BLI_LOG_WHOLES},
    {BLI_LOG_AHEAD, "Tw", MS, BLI_LOG_WHOLES},
    {BLI_LOG_AHEAD, "Tc", MS, BLI_LOG_WHOLES},
    /* Names that could as well be that of the proxy itself (server, host, upstream) are taken only when they
     * are given. */
    {BLI_LOG_SERVER, "ballast_server", 0, 0},
    {BLI_LOG_SLOTS, "ballast_slots", 0, 0},
    {BLI_LOG_SERVER, "upstream_addr", 0, 0},
    {BLI_LOG_SERVER, "upstream_host", 0, 0},
    {BLI_LOG_SERVER, "ServiceAddr", 0, 0},
    {BLI_LOG_SERVER, "x_server", 0, 0},
    {BLI_LOG_STATUS, "status", 0, 0},
    {BLI_LOG_STATUS, "response_code", 0, 0},
    {BLI_LOG_STATUS, "httpRequest.status", 0, 0},
    {BLI_LOG_STATUSES, "upstream_status", 0, 0},
    {BLI_LOG_PATH, "request_uri", 0, 0},
    {BLI_LOG_PATH, "uri", 0, 0},
    {BLI_LOG_PATH, "path", 0, 0},
    {BLI_LOG_PATH, "url", 0, 0},
    {BLI_LOG_PATH, "request", 0, 0},
    {BLI_LOG_PATH, "request_path", 0, 0},
    {BLI_LOG_PATH, "RequestPath", 0, 0},
    {BLI_LOG_PATH, "request.uri", 0, 0},
    {BLI_LOG_PATH, "url.path", 0, 0},
    {BLI_LOG_PATH, "httpRequest.requestUrl", 0, 0},
    {BLI_LOG_METHOD, "request_method", 0, 0},
    {BLI_LOG_METHOD, "method", 0, 0},
    {BLI_LOG_METHOD, "http_method", 0, 0},
    {BLI_LOG_METHOD, "RequestMethod", 0, 0},
    {BLI_LOG_METHOD, "request.method", 0, 0},
    {BLI_LOG_METHOD, "http.request.method", 0, 0},
    {BLI_LOG_METHOD, "httpRequest.requestMethod", 0, 0},
    {BLI_LOG_METHOD, "request", 0, 0},
};
const struct bli_log_field_names bli_log_names_any = WORDS("", "", false, NULL, any);

const struct bli_log_field_names *const bli_log_names_json[] = {
    &words_caddy, &words_console, &words_traefik,     &words_envoy,
    &words_pino,  &words_lograge, &bli_log_names_any,
};
const size_t bli_log_names_json_count = LENGTH(bli_log_names_json);

const struct bli_log_field_name *bli_log_field_name_find(const struct bli_log_field_names *words,
                                                         struct bli_log_span name) {
    for (size_t i = 0; i < words->count; i++)
        if (bli_log_is(name, words->word[i].name))
            return &words->word[i];
    return NULL;
}

const char *bli_log_ending(size_t i, int *unit) {
    static const struct {
        const char *text;
        int unit;
    } endings[] = {
        {"_ms", MS},     {"Ms", MS},   {"_msec", MS},  {"_millis", MS}, {"_us", US},   {"_usec", US},
        {"_micros", US}, {"_ns", NS},  {"_nanos", NS}, {"_s", S},       {"_sec", S},   {"_seconds", S},
        {" (ms)", MS},   {"(ms)", MS}, {" [ms]", MS},  {"[ms]", MS},    {" (us)", US}, {"(us)", US},
        {" [us]", US},   {"[us]", US}, {" (s)", S},    {"(s)", S},      {" [s]", S},   {"[s]", S},
    };
    if (i >= LENGTH(endings))
        return NULL;
    *unit = endings[i].unit;
    return endings[i].text;
}

static const int units[] = {S, MS, US, NS};

const char *bli_log_unit_text(int unit) {
    return unit == NS ? "ns" : unit == US ? "us" : unit == MS ? "ms" : "s";
}

int bli_log_unit_of(struct bli_log_span text) {
    for (size_t i = 0; i < LENGTH(units); i++)
        if (bli_log_is(text, bli_log_unit_text(units[i])))
            return units[i];
    return OPEN;
}
