/* SPDX-License-Identifier: BSD-2-Clause */
/* Logs: what jobs a file gives, under which format, and what becomes of lines and files that are not right.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <bzlib.h>
#include <fcntl.h>
#include <lzma.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "ballast/log.h"
#include "log/expression.h"
#include "log/request_line.h"

#define MS INT64_C(1000000)
#define S (1000 * MS)
#define TEN (INT64_C(1794737472) * S) /* 2026-11-15 10:11:12 UTC */

static char path[] = "/tmp/ballast-log-XXXXXX";

static void write_bytes(const char *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void write_text(const char *text) {
    write_bytes(text, strlen(text));
}

enum { JOBS = 64 };

struct result {
    enum bal_code code;
    struct bal_error err;
    struct bli_log_summary summary;
    uint64_t jobs, unordered;
    struct bli_trace_job job[JOBS];
};

static void take_jobs(struct bli_trace *trace, struct result *r) {
    assert_int_equal(bli_trace_finish(trace, NULL, &r->err), BAL_OK);
    r->jobs = bli_trace_info(trace)->jobs;
    r->unordered = bli_trace_info(trace)->unordered;
    assert_int_equal(r->jobs, r->summary.jobs);
    struct bli_trace_cursor *cursor;
    assert_int_equal(bli_trace_cursor_new(trace, &cursor, &r->err), BAL_OK);
    for (uint64_t i = 0; i < r->jobs && i < JOBS; i++)
        assert_int_equal(bli_trace_next(cursor, &r->job[i], &r->err), BAL_OK);
    bli_trace_cursor_free(cursor);
}

/* Every line is accounted for. */
static void check_account(const struct bli_log_summary *summary) {
    uint64_t sum = summary->jobs + summary->filtered + summary->empty, examples = 0;
    for (int i = 0; i < BLI_LOG_REASON_COUNT; i++) {
        sum += summary->skipped[i];
        examples += summary->skipped[i] < 2 ? summary->skipped[i] : 2;
    }
    assert_int_equal(sum, summary->lines);
    assert_int_equal(summary->examples, examples < BLI_LOG_EXAMPLES ? examples : BLI_LOG_EXAMPLES);
}

static enum bal_code add_wanted_job(void *trace, const struct bli_log_record *record, struct bal_error *err) {
    return record->wanted ? bli_trace_add(trace, &record->job, err) : BAL_OK;
}

static struct result *read_paths(const char *const *paths, size_t count,
                                 const struct bli_log_options *options) {
    static struct result r;
    bli_log_summary_fini(&r.summary);
    r = (struct result){0};
    struct bli_trace *trace;
    assert_int_equal(bli_trace_new(NULL, &trace, &r.err), BAL_OK);
    struct bli_log_options into = *options;
    if (!into.take) {
        into.take = add_wanted_job;
        into.take_context = trace;
    }
    r.code = bli_log_read(paths, count, &into, &r.summary, &r.err);
    if (!r.code) {
        check_account(&r.summary);
        if (r.summary.jobs > 0)
            take_jobs(trace, &r);
    }
    bli_trace_free(trace);
    return &r;
}

static struct result *read_log(const struct bli_log_options *options) {
    const char *const paths[] = {path};
    return read_paths(paths, 1, options);
}

static struct result *read_text(const char *text, const struct bli_log_options *options) {
    write_text(text);
    return read_log(options);
}

static void assert_job(const struct result *r, uint64_t i, int64_t time, int64_t size) {
    assert_int_equal(r->code, BAL_OK);
    assert_true(i < r->jobs);
    if (r->job[i].time != time || r->job[i].size != size)
        fail_msg("job %d is at %lld of size %lld, not at %lld of size %lld", (int)i,
                 (long long)r->job[i].time, (long long)r->job[i].size, (long long)time, (long long)size);
}

static void assert_fails(const struct result *r, enum bal_code code, const char *part) {
    if (r->code != code)
        fail_msg("code %d where %d should be, with '%s': %s", r->code, code, part, r->err.text);
    assert_int_equal(r->err.code, code);
    if (!strstr(r->err.text, part))
        fail_msg("'%s' does not have '%s'", r->err.text, part);
}

#define HOST "10.0.0.7 - - [15/Nov/2026:10:11:12 +0000] "
#define GET "\"GET /a?b=1 HTTP/1.1\" 200 512"
#define AGENT " \"-\" \"curl/8 \\\"x\\\" y\""
#define COMBINED HOST GET AGENT

/* Each is told by its lines alone. */
static void finds_formats(void **state) {
    (void)state;
    const struct {
        const char *text, *format, *service, *time;
        int64_t before; /* from the arrival to TEN */
        int64_t size;
    } cases[] = {
        {COMBINED " 0.250 0.200\n", "nginx: combined $request_time $upstream_response_time",
         "$upstream_response_time (s)", "$time_local (end of the request; $request_time is subtracted)",
         250 * MS, 200 * MS},
        {COMBINED " 0.250 0.100, 0.100\n", "nginx: ", "$upstream_response_time (s)", NULL, 250 * MS,
         200 * MS},
        {COMBINED " 0.250\n", "nginx: ", "$request_time (s)", NULL, 250 * MS, 250 * MS},
        {COMBINED " \"1.2.3.4, 5.6.7.8\" 0.250 0.200\n", "nginx: ", "$upstream_response_time (s)", NULL,
         250 * MS, 200 * MS},
        {COMBINED " \"-\" 0.250\n", "nginx: ", "$request_time (s)", NULL, 250 * MS, 250 * MS},
        {COMBINED " rt=0.250 uct=\"0.000\" uht=\"0.1\" urt=\"0.200\"\n",
         "nginx: ", "$upstream_response_time (s)", NULL, 250 * MS, 200 * MS},
        {COMBINED
         " 812 0.250 [default-web-80] [] 10.0.0.1:80, 10.0.0.2:80 0, 512 0.050, 0.150 502, 200 f00d\n",
         "nginx: ", "$upstream_response_time (s)", NULL, 250 * MS, 200 * MS},
        {HOST GET " 0.250\n", "nginx: ", "$request_time (s)", NULL, 250 * MS, 250 * MS},
        {"Nov 15 10:11:12 lb haproxy[14389]: 10.0.1.2:33317 [15/Nov/2026:10:11:12.000] http-in  "
         "static/srv1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 {1wt.eu} {} \"GET /index.html "
         "HTTP/1.1\"\n",
         "haproxy", "Tr (ms)", "tr (start of the request)", 0, 69 * MS},
        {"10.0.1.2:3 [15/Nov/2026:10:11:12.000] f b/s 10/0/30/69/+109 200 +50 - - ---- 1/1/1/1/0 0/0 \"GE\n",
         "haproxy", "Tr (ms)", NULL, 0, 69 * MS},
        {"{\"time_iso8601\":\"2026-11-15T10:11:12.000+00:00\",\"request_time\":0.25,"
         "\"upstream_response_time\":\"0.200\"}\n",
         "json", "upstream_response_time (s)",
         "time_iso8601 (end of the request; request_time is subtracted)", 250 * MS, 200 * MS},
        {" { \"x\" : [1,{\"a\":\"]\\\"\"},[]] ,\t\"ts\" : 1794737472.0 , \"duration_ms\" : 2e2 } \n", "json",
         "duration_ms (ms)", "ts (end of the request; duration_ms is subtracted)", 200 * MS, 200 * MS},
        {"{\"start_time\":1794737472000,\"latencyMs\":200}\n", "json", "latencyMs (ms)",
         "start_time (start of the request)", 0, 200 * MS},
        {"{\"@timestamp\":\"2026-11-15T10:11:12.0Z\",\"event\":{\"id\":{},\"duration\":200000000}}\n", "json",
         "event.duration (ns)", NULL, 200 * MS, 200 * MS},
        {"{\"@timestamp\":\"2026-11-15T10:11:12.0Z\",\"event.duration\":200000000}\n", "json",
         "event.duration (ns)", NULL, 200 * MS, 200 * MS},
        {"{\"time\":\"15\\/Nov\\/2026:10:11:12.0 +0000\",\"latency\":\"200ms\"}\n", "json", "latency (s)",
         NULL, 200 * MS, 200 * MS},
        {"time,service_time_us\n2026-11-15T10:11:12.0Z,200000\n", "csv", "service_time_us (us)",
         "time (end of the request; the service time is subtracted)", 200 * MS, 200 * MS},
        {"# made by hand\n\n\"Path\";\"Arrival\"; Duration_s ;\"x\"\n\"a;\"\"b\";\"1794737472.0\";0.2\n",
         "csv", "duration_s (s)", "arrival (start of the request)", 0, 200 * MS},
        {"arrival\tduration_s\n1794737472.0\t0.2\n", "csv", "duration_s (s)", NULL, 0, 200 * MS},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct result *r = read_text(cases[i].text, &(struct bli_log_options){0});
        if (r->code || r->jobs != 1)
            fail_msg("%s gives %d jobs: %s", cases[i].text, (int)r->jobs, r->err.text);
        assert_int_equal(strncmp(r->summary.file[0].format, cases[i].format, strlen(cases[i].format)), 0);
        assert_string_equal(r->summary.file[0].service, cases[i].service);
        if (cases[i].time)
            assert_string_equal(r->summary.file[0].time, cases[i].time);
        if (r->summary.spread)
            assert_in_range(r->job[0].time, TEN - cases[i].before, TEN - cases[i].before + S - 1);
        else
            assert_true(r->job[0].time == TEN - cases[i].before);
        assert_true(r->job[0].size == cases[i].size);
    }
}

static void reads_patterns(void **state) {
    (void)state;
    struct bli_log_options options = {.format = "$msec|$request_time|$upstream_response_time|$request"};
    const struct result *r = read_text("1794737472.345|0.100|0.080 : 0.010|GET / HTTP/1.1\n"
                                       "1794737472.200|0.100|-|GET / HTTP/1.1\n"
                                       "1794737472.100|0.000|0.001|GET / HTTP/1.1\n",
                                       &options);
    assert_job(r, 0, TEN + 100 * MS, 1 * MS);
    assert_job(r, 1, TEN + 245 * MS, 90 * MS);
    assert_int_equal(r->jobs, 2);
    assert_int_equal(r->unordered, 1);
    assert_int_equal(r->summary.skipped[BLI_LOG_NO_SERVICE], 1);
    assert_true(r->summary.resolution == 0.001 && !r->summary.spread);

    /* the whole directive, as it stands in a configuration */
    options.format =
        "log_format timed escape=json '$msec ${request_time} '\n\t\"\\\"$request\\\"\\t$status\";";
    assert_job(read_text("1794737472.345 0.100 \"GET\"\t200\n", &options), 0, TEN + 245 * MS, 100 * MS);

    options.format = "%{begin:msec}t %{Host}i \\\"%r\\\" %>s %{ms}T";
    options.time = "%{begin:msec}t";
    r = read_text("1794737472345 www \"GET \\\" /x HTTP/1.1\" 200 17\n", &options);
    assert_job(r, 0, TEN + 345 * MS, 17 * MS);
    options.time = NULL;
    options.format = "apache:%t \"%r\" %D";
    assert_job(read_text("[15/Nov/2026:10:11:12.000 +0000] \"GET\" 5\n", &options), 0, TEN, 5000);

    /* operators of Envoy, with the end of the line that they are told */
    options.format = "[%START_TIME%] %REQ(:PATH):20% %DURATION%\\n";
    r = read_text("[2026-11-15T10:11:12.000Z] /a?b 17\n", &options);
    assert_job(r, 0, TEN, 17 * MS);
    assert_string_equal(r->summary.file[0].service, "DURATION (ms)");

    const struct {
        const char *format, *part;
        enum bal_code code;
    } bad[] = {
        {"%START_TIME% %DURATION", "not a directive at '%DURATION'", BAL_E_SYNTAX},
        {"squid:%ts.%03tu %6", "not a directive at '%6'", BAL_E_SYNTAX},
        {"combind", "'combind' is none of auto, json, caddy, haproxy", BAL_E_SYNTAX},
        {"", "has neither $variables nor %directives", BAL_E_SYNTAX},
        {"$msec$request_time", "where the last value ends at '$request_time'", BAL_E_SYNTAX},
        {"$msec ${request_time", "not a variable at '${request_time'", BAL_E_SYNTAX},
        {"%t %{ms", "not a directive at '%{ms'", BAL_E_SYNTAX},
        {"%t %^", "not a directive", BAL_E_SYNTAX},
        {"$msec $status", "no field of the log looks like a service time", BAL_E_UNKNOWN},
        {"$status $request_time", "no field of the log looks like a time", BAL_E_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_fails(read_text("1\n", &(struct bli_log_options){.format = bad[i].format}), bad[i].code,
                     bad[i].part);
}

/* Lines as a server writes them that logs the start of requests: in the order of their ends. Every tenth
 * request takes some seconds; unit: of the numbers, in seconds. */
static const char *make_ends(double unit, const char *before, const char *after) {
    static char text[60000];
    enum { LINES = 300 };
    size_t used = 0;
    for (int line = 0; line < LINES; line++) {
        const double end = line * 0.2, took = line % 10 == 9 ? 4.5 : 0.03 + 0.001 * (line % 7);
        const int start = 20 + (int)(end - took);
        used += (size_t)sprintf(text + used,
                                "10.0.0.7 - - [15/Nov/2026:10:%02d:%02d +0000] " GET AGENT "%s %.0f%s\n",
                                11 + start / 60, start % 60, before, took / unit, after);
    }
    return text;
}

/* Where starts are out of order, only one unit makes ends that are in order. */
static void tells_units_by_the_order_of_lines(void **state) {
    (void)state;
    const struct result *r = read_text(make_ends(1e-6, "", ""), &(struct bli_log_options){0});
    if (r->code)
        fail_msg("%s", r->err.text);
    assert_string_equal(r->summary.file[0].service, "column1 (us)");
    assert_string_equal(r->summary.file[0].time, "time_local (start of the request)");
    assert_int_equal(r->jobs, 300);
    r = read_text(make_ends(1e-3, "", ""), &(struct bli_log_options){0});
    assert_string_equal(r->summary.file[0].service, "column1 (ms)");
    r = read_text(make_ends(1e-6, " 512 17", " 0"), &(struct bli_log_options){0});
    assert_string_equal(r->summary.file[0].service, "column3 (us)");
    /* the directive of nobody knows whom */
    r = read_text(make_ends(1e-3, "", ""),
                  &(struct bli_log_options){.format = "%h %l %u %t \"%r\" %s %b \"%{Referer}i\" "
                                                      "\"%{User-Agent}i\" %D"});
    assert_string_equal(r->summary.file[0].service, "%D (ms)");
    /* what is said but cannot be */
    r = read_text(make_ends(1e-6, "", ""),
                  &(struct bli_log_options){.format = "apache:%h %l %u %t \"%r\" %>s %b \"%{Referer}i\" "
                                                      "\"%{User-Agent}i\" %{ms}T"});
    assert_fails(r, BAL_E_FORMAT, "requests would end before one that was logged earlier");
    r = read_text(make_ends(1e-3, "", ""), &(struct bli_log_options){.format = "apache"});
    assert_fails(
        r, BAL_E_FORMAT,
        "lines are in the order in which requests end if %D is in ms, and not if it is in us; say which");
    r = read_text(make_ends(1e-3, "", ""), &(struct bli_log_options){.format = "apache", .service = "%D:us"});
    assert_string_equal(r->summary.file[0].service, "%D (us)"); /* the user's word */
    r = read_text(make_ends(1e-6, "", ""), &(struct bli_log_options){.format = "apache"});
    assert_string_equal(r->summary.file[0].service, "%D (us)");
}

/* Which of several times is which shows in their lengths; where it does not, they are listed. */
static void tells_times_of_nginx_apart(void **state) {
    (void)state;
    const struct {
        const char *text, *format;
    } cases[] = {
        {COMBINED " 0.250 0.200\n", "nginx: combined $request_time $upstream_response_time"},
        {COMBINED " 0.200 0.250\n", "nginx: combined $upstream_response_time $request_time"},
        {COMBINED " 0.001 0.250 0.240 0.200\n",
         "nginx: combined $column1 $request_time $upstream_response_time $column4"},
        {COMBINED " 0.250\n", "nginx: combined $request_time"},
        {COMBINED " 0.250\n" COMBINED " -\n", "nginx: combined $upstream_response_time"},
        /* addresses are those of the servers where tries or a label show it */
        {COMBINED " 0.250 0.200 10.0.0.1:80\n" COMBINED " 0.250 0.100, 0.100 10.0.0.1:80, [::1]:80\n",
         "nginx: combined $request_time $upstream_response_time $upstream_addr"},
        {COMBINED " 0.250 0.200 unix:/run/a\n" COMBINED " 0.250 - -\n",
         "nginx: combined $request_time $upstream_response_time $upstream_addr"},
        {COMBINED " 0.250 0.200 10.0.0.1:80\n",
         "nginx: combined $request_time $upstream_response_time $column3"},
        {COMBINED " 0.250 0.200 10.0.0.1:80\n" COMBINED " 0.250 0.100, 0.100 10.0.0.1:80\n",
         "nginx: combined $request_time $upstream_response_time $column3"},
        {COMBINED " rt=0.250 urt=0.200 ua=10.0.0.1:80\n",
         "nginx: combined rt=$request_time urt=$upstream_response_time ua=$upstream_addr"},
        {COMBINED " 0.250, 0.010\n", "nginx: combined $upstream_response_time"},
        {COMBINED " 1794737472.345 0.250 \"x y\" [z]\n",
         "nginx: combined $msec $request_time \"$column3\" [$column4]"},
        {COMBINED " t=1.20 request_time=0.250 up=\"10.0.0.1:80, 10.0.0.2:80\"\n",
         "nginx: combined t=$column1 request_time=$request_time up=\"$column3\""},
        {HOST GET " 0.250 512\n", "nginx: common $request_time $column2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct result *r = read_text(cases[i].text, &(struct bli_log_options){0});
        if (r->code)
            fail_msg("%s: %s", cases[i].text, r->err.text);
        assert_string_equal(r->summary.file[0].format, cases[i].format);
    }
    const struct {
        const char *text, *part;
    } bad[] = {
        {COMBINED " 0.250 0.200\n" COMBINED " 0.200 0.250\n", "none of them is always the longest"},
        {COMBINED " 0.250 0.001\n",
         "column1 (mean 0.25 s), column2 (mean 0.001 s)? a short one may be the time to connect"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_fails(read_text(bad[i].text, &(struct bli_log_options){0}), BAL_E_FORMAT, bad[i].part);
    const struct bli_log_options said = {.service = "column2:s", .time = "time_local:start"};
    const struct result *r = read_text(COMBINED " 0.250 0.001\n", &said);
    assert_int_equal(r->jobs, 1);
    assert_int_equal(r->job[0].size, MS);
    assert_in_range(r->job[0].time, TEN, TEN + S - 1);
}

/* Addresses with a port that come again and again are those of servers, as the log shows them where every
 * request was proxied. Clients have a port of their own, again only as long as they keep their connection;
 * one address alone may be the proxy's; a name with a port may be the host that was asked for. */
static void addresses_that_recur_are_servers(void **state) {
    (void)state;
    static const struct {
        const char *before, *after;
        int different;
        const char *server, *perhaps;
    } cases[] = {{" 0.250 0.200 10.0.0.", ":80", 2, "$upstream_addr", ""},
                 {" 0.250 0.200 [fe80::", "]:80", 3, "$upstream_addr", ""},
                 {" 0.250 0.200 unix:/run/app.", "", 3, "$upstream_addr", ""},
                 {" 1794737472.345 0.250 0.200 10.0.0.1:808", "", 2, "$upstream_addr", ""},
                 {" 0.250 10.0.0.", ":80", 2, "$upstream_addr", ""},
                 {" 0.250 0.200 10.0.0.", ":80", 1, "", "column3"},
                 {" 0.250 0.200 shop", ":80", 2, "", "column3"},
                 {" 0.250 0.200 10.0.0.7:4567", "", 2, "", "column3"},
                 {" 0.250 0.200 10.0.0.1:4", "", 100, "", ""},
                 {" 0.250 0.200 10.0.0.", "", 2, "", ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[3000] = "";
        for (int line = 0; line < 8; line++)
            snprintf(text + strlen(text), sizeof text - strlen(text), COMBINED "%s%d%s\n", cases[i].before,
                     line % cases[i].different, cases[i].after);
        struct bli_log_servers *servers;
        assert_int_equal(bli_log_servers_new(&servers, NULL), BAL_OK);
        const struct result *r = read_text(text, &(struct bli_log_options){.servers = servers});
        if (r->code)
            fail_msg("%s: %s", cases[i].before, r->err.text);
        assert_string_equal(r->summary.file[0].server, cases[i].server);
        assert_string_equal(r->summary.file[0].perhaps, cases[i].perhaps);
        bli_log_servers_free(servers);
    }
}

/* What may be one is taken when it is named. */
static void takes_the_column_of_servers_that_is_named(void **state) {
    (void)state;
    struct bli_log_servers *servers;
    assert_int_equal(bli_log_servers_new(&servers, NULL), BAL_OK);
    const struct result *r = read_text(COMBINED " 0.250 0.200 shop:80\n",
                                       &(struct bli_log_options){.servers = servers, .server = "column3"});
    assert_string_equal(r->summary.file[0].server, "$column3");
    assert_string_equal(r->summary.file[0].perhaps, "");
    bli_log_servers_free(servers);
}

/* A column `service` may be the name of one; and traces have a word of their own for their start. */
static void names_of_services_are_no_times(void **state) {
    (void)state;
    const struct result *r = read_text("trace_id,service,start_time_unix_nano,duration_ns\n"
                                       "a1,checkout,1794737472345000000,250000000\n"
                                       "a2,search,1794737473345000000,350000000\n",
                                       &(struct bli_log_options){0});
    if (r->code)
        fail_msg("%s", r->err.text);
    assert_int_equal(r->jobs, 2);
    assert_string_equal(r->summary.file[0].service, "duration_ns (ns)");
    assert_int_equal(r->job[0].size, 250 * MS);
    assert_true(r->job[0].time == INT64_C(1794737472345000000));
}

/* A format is shown to its end. */
static void shows_long_formats_whole(void **state) {
    (void)state;
    static const char format[] = "$msec $request_time \"$request\" $status $body_bytes_sent $connection "
                                 "$connection_requests $server_name "
                                 "$upstream_response_time ua=$upstream_addr";
    const struct bli_log_options options = {.format = format};
    const struct result *r =
        read_text("1794737472.345 0.250 \"GET / HTTP/1.1\" 200 7 1 1 a 0.200 ua=10.0.0.1:80\n", &options);
    assert_int_equal(r->code, BAL_OK);
    assert_string_equal(r->summary.file[0].format + strlen("nginx: "), format);
}

/* One line in many that is broken, or is somebody else's, does not change how the others are read. */
static void reads_past_odd_lines(void **state) {
    (void)state;
    static const struct {
        const char *line, *odd, *format;
        enum bli_log_reason reason;
    } cases[] = {
        {COMBINED " 0.250 0.200\n", COMBINED " 250 x\n", NULL, BLI_LOG_NO_SERVICE},
        {COMBINED " 0.250 0.200\n", COMBINED " 0.250 17\n",
         "nginx:$remote_addr - $remote_user [$time_local] \"$request\" $status $body_bytes_sent "
         "\"$http_referer\" "
         "\"$http_user_agent\" $request_time $upstream_response_time",
         BLI_LOG_OK},
        {"{\"ts\":1.5,\"request_time\":0.25}\n", "{\"ts\":1.5,\"request_time\":0.123456}\n", NULL,
         BLI_LOG_OK},
        {"{\"start\":1.5,\"duration_s\":\"0.25\"}\n", "{\"start\":1.5,\"duration_s\":\"0,25\"}\n", NULL,
         BLI_LOG_NO_SERVICE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static char text[20000];
        *text = 0;
        for (int line = 0; line < 40; line++)
            strcat(text, line == 7 ? cases[i].odd : cases[i].line);
        const struct result *r = read_text(text, &(struct bli_log_options){.format = cases[i].format});
        if (r->code)
            fail_msg("%s: %s", cases[i].odd, r->err.text);
        const bool skipped = cases[i].reason != BLI_LOG_OK;
        assert_int_equal(r->jobs, 40 - skipped);
        if (skipped)
            assert_int_equal(r->summary.skipped[cases[i].reason], 1);
    }
}

/* What begins as the text behind a value does, inside of it: " - " behind "10.0.0.1 --", " [" behind names
 * with blanks, a quote that is escaped. */
static void values_may_look_like_their_ends(void **state) {
    (void)state;
    static const char *const users[] = {"Ann Lee", "somebody with a long name", "-"};
    for (size_t i = 0; i < sizeof users / sizeof *users; i++) {
        char text[400];
        snprintf(text, sizeof text, "10.0.0.1 -- - %s [16/Nov/2026:10:00:00 +0000] \"GET /a\\\" b\" 0.250\n",
                 users[i]);
        const struct result *r = read_text(
            text, &(struct bli_log_options){
                      .format = "nginx:$remote_addr - $remote_user [$time_local] \"$request\" $request_time",
                      .high_field = "remote_user",
                      .high_pattern = users[i]});
        assert_int_equal(r->code, BAL_OK);
        assert_int_equal(r->jobs, 1);
        assert_int_equal(r->job[0].size, 250 * MS);
        assert_true(r->job[0].high);
    }
}

/* Commas: decimal ones are told from those between thousands, and one too many makes a line another. */
static void reads_decimal_commas(void **state) {
    (void)state;
    const struct result *r =
        read_text("arrival;duration_s\n1,5;0,25\n2,5;1,125\n3;2\n", &(struct bli_log_options){0});
    assert_job(r, 0, 3 * S / 2, S / 4);
    assert_job(r, 1, 5 * S / 2, 1125 * MS);
    assert_job(r, 2, 3 * S, 2 * S);
    assert_fails(read_text("arrival;duration_s\n1,5;1,125\n", &(struct bli_log_options){0}), BAL_E_FORMAT,
                 "the commas of duration_s may stand before a fraction or between thousands");
    r = read_text("arrival,duration_s\n1.5,0.5\n2.5,0,25\n3.5,0.5\n", &(struct bli_log_options){0});
    assert_int_equal(r->jobs, 2);
    assert_int_equal(r->summary.skipped[BLI_LOG_MALFORMED], 1);
    r = read_text("{\"start\":1.5,\"duration_s\":\"0,25\"}\n", &(struct bli_log_options){0});
    assert_job(r, 0, 3 * S / 2, S / 4);
}

/* Names that are those of a program but whose numbers are not, and units that the numbers rule out. */
static void asks_for_units(void **state) {
    (void)state;
    const struct {
        const char *text, *part;
    } bad[] = {
        {"{\"ts\":1.5,\"request_time\":41}\n",
         "in which unit is request_time, 41 on average? its mean is 41 s (--service-field request_time:s), "
         "41 ms "
         "(--service-field request_time:ms) or 41 us (--service-field request_time:us)"},
        {"{\"ts\":1.5,\"request_time\":0.0412345}\n",
         "is 41.2 ms (--service-field request_time:s) or 41.2 us"},
        {"{\"ts\":1.5,\"responseTime\":41}\n", "in which unit is responseTime"},
        {"{\"ts\":1.5,\"latency\":41.5}\n", "in which unit is latency"},
        {"{\"ts\":1.5,\"duration\":\"-\"}\n", "no number of the first lines tells the unit of duration"},
        {"arrival,service\n1.5,1\n", "in which unit is service"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_fails(read_text(bad[i].text, &(struct bli_log_options){0}), BAL_E_FORMAT, bad[i].part);
    /* a mean above an hour, or below a microsecond, is none */
    const struct result *r =
        read_text("{\"ts\":1.5,\"duration\":2500000000000.5}\n", &(struct bli_log_options){0});
    assert_fails(r, BAL_E_FORMAT, "is no length of time in any unit");
    r = read_text("{\"start\":1.5,\"duration\":5000000000000}\n", &(struct bli_log_options){0});
    assert_fails(r, BAL_E_FORMAT, "is no length of time in any unit");
    r = read_text("{\"start\":1.5,\"duration\":500000000000}\n", &(struct bli_log_options){0});
    assert_string_equal(r->summary.file[0].service, "duration (ns)");
    /* one that is beyond everything rules nothing out */
    static char text[3000];
    *text = 0;
    for (int i = 0; i < 40; i++)
        strcat(text, i == 7 ? "{\"ts\":1.5,\"duration\":1e15}\n" : "{\"ts\":1.5,\"duration\":41000}\n");
    assert_fails(read_text(text, &(struct bli_log_options){0}), BAL_E_FORMAT, "in which unit is duration");
    r = read_text("{\"start\":1.5,\"latency\":\"41ms\"}\n", &(struct bli_log_options){0});
    assert_job(r, 0, 3 * S / 2, 41 * MS);
    r = read_text("start,duration [ms],x\n1.5,41,y\n", &(struct bli_log_options){0});
    assert_job(r, 0, 3 * S / 2, 41 * MS);
}

static void takes_the_fields_it_is_told(void **state) {
    (void)state;
    static const char haproxy[] = "10.0.1.2:3 [15/Nov/2026:10:11:12.345] f b/s 10/20/30/69/129 200 50 - - "
                                  "---- 1/1/1/1/0 0/0 \"GET /x\"\n";
    assert_job(read_text(haproxy, &(struct bli_log_options){.service = "Tt"}), 0, TEN + 345 * MS, 129 * MS);
    assert_job(read_text(haproxy, &(struct bli_log_options){.service = "Tw", .time = "tr:end"}), 0,
               TEN + 216 * MS, 20 * MS);
    static const char json[] = "{\"a\":{\"b\":{\"t\":1794737472000},\"c\":250},\"t\":7,\"duration_s\":9}\n";
    assert_job(read_text(json, &(struct bli_log_options){.service = "a.c:us", .time = "a.b.t:start"}), 0, TEN,
               250000);
    assert_job(read_text(json, &(struct bli_log_options){.service = "a.c:ms", .time = "a.b.t"}), 0,
               TEN - 9 * S, 250 * MS);
    const struct result *r =
        read_text(COMBINED " 0.250 0.200\n",
                  &(struct bli_log_options){.format = "combined", .service = "$request_time:ms"});
    assert_int_equal(r->jobs, 1);
    assert_true(r->job[0].size == 250000);

    assert_fails(read_text(json, &(struct bli_log_options){.service = "d"}), BAL_E_UNKNOWN,
                 "no field 'd'; it has a, t, duration_s");
    assert_fails(read_text(haproxy, &(struct bli_log_options){.service = "Tx"}), BAL_E_UNKNOWN,
                 "no field 'Tx'; it has tr, TR, Tw");
    assert_fails(read_text(COMBINED " 0.250\n", &(struct bli_log_options){.service = "$upstream"}),
                 BAL_E_UNKNOWN, "no field '$upstream'; it has $remote_addr, ");
    assert_fails(read_text("a,b\n1,2\n", &(struct bli_log_options){.format = "csv", .service = "c"}),
                 BAL_E_UNKNOWN, "no field 'c'; it has a, b");
}

/* A unit that was said of a field holds for what is subtracted from the end too. */
static void scales_what_is_subtracted(void **state) {
    (void)state;
    static const char json[] =
        "{\"ts\":1794737472.0,\"duration\":50}\n{\"ts\":1794737473.0,\"duration\":900}\n";
    const struct result *r = read_text(json, &(struct bli_log_options){.service = "duration:ms"});
    assert_job(r, 0, TEN - 50 * MS, 50 * MS);
    assert_job(r, 1, TEN + 100 * MS, 900 * MS);
}

enum { RECORDS = 16 };

struct records {
    size_t count;
    struct bli_log_record record[RECORDS];
};

static enum bal_code keep_record(void *context, const struct bli_log_record *record, struct bal_error *err) {
    (void)err;
    struct records *records = context;
    assert_true(records->count < RECORDS);
    records->record[records->count++] = *record;
    return BAL_OK;
}

static enum bal_code drop_record(void *context, const struct bli_log_record *record, struct bal_error *err) {
    (void)context, (void)record, (void)err;
    return BAL_OK;
}

/* The text's records, with the names of the servers in the order of their numbers. */
static void assert_records(const char *text, struct bli_log_options options, struct records *records,
                           const char *const *names, size_t count) {
    struct bli_log_summary summary;
    struct bal_error err;
    assert_int_equal(bli_log_servers_new(&options.servers, &err), BAL_OK);
    *records = (struct records){0};
    options.take = keep_record;
    options.take_context = records;
    write_text(text);
    const char *const paths[] = {path};
    if (bli_log_read(paths, 1, &options, &summary, &err))
        fail_msg("%s", err.text);
    assert_int_equal(bli_log_servers_count(options.servers), count);
    for (uint32_t i = 0; i < count; i++)
        assert_string_equal(bli_log_servers_name(options.servers, i), names[i]);
    bli_log_servers_free(options.servers);
    bli_log_summary_fini(&summary);
}

static void assert_visit(const struct bli_log_record *record, unsigned i, uint32_t server, int64_t took,
                         int status) {
    assert_true(i < record->tries);
    assert_int_equal(record->visit[i].server, server);
    assert_int_equal(record->visit[i].took, took);
    assert_int_equal(record->visit[i].status, status);
}

/* nginx lists tries with commas, and colons where a request was handed on. */
static void tells_tries_of_nginx(void **state) {
    (void)state;
    static const char *const names[] = {"10.0.0.1:80", "10.0.0.2:80", "[::1]:80", "unix:/run/a"};
    struct records records;
    assert_records(
        "1794737472.000 0.100 0.090 10.0.0.1:80 200 200\n"
        "1794737472.000 0.100 0.010, 0.050 : - 10.0.0.2:80, 10.0.0.1:80 : [::1]:80 502, 200 : - 499\n"
        "1794737472.000 0.001 - - - 304\n"
        "1794737472.000 0.000 0.000 unix:/run/a 200 200\n",
        (struct bli_log_options){.format = "$msec $request_time $upstream_response_time "
                                           "$upstream_addr $upstream_status $status"},
        &records, names, 4);
    assert_int_equal(records.count, 3);
    const struct bli_log_record *r = records.record;
    assert_int_equal(r[0].tries, 1);
    assert_visit(&r[0], 0, 0, 90 * MS, 200);
    assert_int_equal(r[0].covers, BLI_LOG_COVERS_SERVER);
    assert_int_equal(r[0].status, 200);
    assert_true(r[0].whole == 100 * MS && r[0].ahead == -1 && !r[0].aborted);
    assert_int_equal(r[1].tries, 3);
    assert_visit(&r[1], 0, 1, 10 * MS, 502);
    assert_visit(&r[1], 1, 0, 50 * MS, 200);
    assert_visit(&r[1], 2, 2, -1, 0);
    assert_int_equal(r[1].status, 499);
    assert_true(r[1].aborted && r[1].job.size == 60 * MS);
    assert_visit(&r[2], 0, 3, 0, 200);
    assert_true(r[2].zero && r[2].job.size == MS / 4);
}

/* Those that a filter leaves out were served too, and are handed on as such. */
static void hands_on_what_is_left_out(void **state) {
    (void)state;
    static const char *const names[] = {"a"};
    struct records records;
    assert_records("start,duration_s,host,path\n1.5,1,a,/x\n2.5,2,a,/y\n3.5,3,a,/x\n",
                   (struct bli_log_options){.server = "host", .path = "x"}, &records, names, 1);
    assert_int_equal(records.count, 3);
    for (int i = 0; i < 3; i++)
        assert_true(records.record[i].wanted == (i != 1) && records.record[i].tries == 1);
}

/* A server that has not answered was occupied until the session ended. */
static void tells_servers_of_haproxy(void **state) {
    (void)state;
    static const char *const names[] = {"b/s1", "c/s1"};
    static const char rest[] = "1/1/1/1/0 0/0 \"GET /x\"\n";
    char text[1000];
    snprintf(text, sizeof text,
             "10.0.1.2:3 [15/Nov/2026:10:11:12.345] f b/s1 10/20/30/69/140 200 50 - - ---- %s"
             "10.0.1.2:3 [15/Nov/2026:10:11:12.345] f c/s1 0/100/50/-1/5150 504 50 - - sH-- %s"
             "10.0.1.2:3 [15/Nov/2026:10:11:12.345] f b/<NOSRV> 0/-1/-1/-1/10 503 50 - - SC-- %s",
             rest, rest, rest);
    struct records records;
    assert_records(text, (struct bli_log_options){0}, &records, names, 2);
    assert_int_equal(records.count, 2);
    const struct bli_log_record *r = records.record;
    assert_visit(&r[0], 0, 0, 69 * MS, 0);
    assert_true(r[0].ahead == 60 * MS && r[0].whole == 140 * MS && r[0].status == 200 && !r[0].aborted);
    assert_visit(&r[1], 0, 1, 5000 * MS, 0);
    assert_true(r[1].job.size == 5000 * MS && r[1].aborted && r[1].status == 504);
}

/* In JSON and csv the field is named; one that names a client is found out. */
static void tells_servers_of_named_fields(void **state) {
    (void)state;
    static const char *const names[] = {"b", "a"};
    struct records records;
    assert_records("start,duration_s,host\n1.5,1,b\n1.5,1,a\n1.5,1,b\n1.5,1,\n",
                   (struct bli_log_options){.server = "host"}, &records, names, 2);
    assert_int_equal(records.count, 4);
    assert_visit(&records.record[1], 0, 1, S, 0);
    assert_visit(&records.record[2], 0, 0, S, 0);
    assert_int_equal(records.record[3].tries, 0);
    assert_int_equal(records.record[0].covers, BLI_LOG_COVERS_REQUEST);

    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs("start,service_time_s,client\n", file);
    for (int i = 0; i < 70000; i++)
        fprintf(file, "1.5,1,%d\n", i);
    assert_int_equal(fclose(file), 0);
    struct bli_log_options options = {.server = "client", .take = drop_record};
    struct bli_log_summary summary;
    struct bal_error err;
    assert_int_equal(bli_log_servers_new(&options.servers, &err), BAL_OK);
    const char *const paths[] = {path};
    assert_int_equal(bli_log_read(paths, 1, &options, &summary, &err), BAL_E_RANGE);
    assert_non_null(strstr(err.text, "more than 65536 names of servers, the last being '65536'"));
    bli_log_summary_fini(&summary);
    bli_log_servers_free(options.servers);
}

static void tells_classes(void **state) {
    (void)state;
    static const char text[] =
        "{\"ts\":1.5,\"duration_s\":1,\"request\":\"GET /checkout/1?a=/x HTTP/1.1\",\"h\":\"www\"}\n"
        "{\"ts\":2.5,\"duration_s\":1,\"request\":\"POST https://www/checkout\",\"h\":\"api\"}\n"
        "{\"ts\":3.5,\"duration_s\":1,\"request\":\"/x?/checkout\",\"h\":\"\\u0061pi\"}\n"
        "{\"ts\":4.5,\"duration_s\":1,\"h\":\"\\ud83d\\ude00\\n\\/\"}\n"
        "{\"ts\":5.5,\"duration_s\":1,\"request\":\"GET /a\\u002fb\"}\n";
    const struct {
        const char *field, *pattern;
        bool high[5];
    } cases[] = {{NULL, "^/checkout", {true, true, false, false, false}},
                 {NULL, "/x$", {false, false, true, false, false}},
                 {NULL, "^/a/b$", {false, false, false, false, true}},
                 {"h", "^api$", {false, true, true, false, false}},
                 {"h", "^\xf0\x9f\x98\x80\n/$", {false, false, false, true, false}},
                 {"request", "^POST ", {false, true, false, false, false}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct result *r = read_text(
            text, &(struct bli_log_options){.high_field = cases[i].field, .high_pattern = cases[i].pattern});
        assert_int_equal(r->code, BAL_OK);
        assert_int_equal(r->jobs, 5);
        for (int k = 0; k < 5; k++)
            assert_int_equal(r->job[k].high, cases[i].high[k]);
    }
    assert_fails(read_text(text, &(struct bli_log_options){.high_pattern = "^(/a"}), BAL_E_SYNTAX,
                 "pattern '^(/a' cannot be read beyond its character 4");
    assert_fails(read_text(text, &(struct bli_log_options){.high_pattern = "x", .high_field = "nix"}),
                 BAL_E_UNKNOWN, "no field 'nix'");
    assert_fails(read_text("time,duration_s\n1,1\n", &(struct bli_log_options){.high_pattern = "x"}),
                 BAL_E_UNKNOWN, "path of a request");
}

/* A URL of a megabyte is beyond the stack of a compiled pattern; one that would take for ever is refused. */
static void limits_patterns(void **state) {
    (void)state;
    static char line[(1 << 20) + 1];
    size_t used = (size_t)sprintf(line, "{\"ts\":1.5,\"duration_s\":1,\"path\":\"");
    for (; used + 20 < sizeof line; used += 10)
        memcpy(line + used, "/abcdefghi", 10);
    memcpy(line + used, "\"}\n", 4);
    const struct result *r = read_text(line, &(struct bli_log_options){.high_pattern = "^(/[a-z]+)*$"});
    if (r->code)
        fail_msg("%s", r->err.text);
    assert_int_equal(r->jobs, 1);
    assert_true(r->job[0].high);

    static const char slow[] =
        "{\"ts\":1.5,\"duration_s\":1,\"path\":\"/b\"}\n"
        "{\"ts\":1.5,\"duration_s\":1,\"path\":\"/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\"}\n";
    r = read_text(slow, &(struct bli_log_options){.format = "json", .high_pattern = "^/((a+)+)+$"});
    assert_fails(r, BAL_E_RANGE, ":2: pattern '^/((a+)+)+$' takes too much to match '/aaaa");
    assert_fails(r, BAL_E_RANGE, "more than 10000000 steps; write a simpler one");
    r = read_text(slow, &(struct bli_log_options){.format = "json", .path = "^/((a+)+)+$"});
    assert_fails(r, BAL_E_RANGE, "write a simpler one");
}

static volatile int stop_soon;

static enum bal_code ask_to_stop(void *context, const struct bli_log_record *record, struct bal_error *err) {
    (void)record, (void)err;
    ++*(int *)context;
    stop_soon = 1;
    return BAL_OK;
}

/* Not at the end of a block of bytes but at once: a line may take long when its pattern does. */
static void stops_between_lines(void **state) {
    (void)state;
    int taken = 0;
    stop_soon = 0;
    const struct bli_log_options options = {.take = ask_to_stop, .take_context = &taken, .stop = &stop_soon};
    assert_fails(read_text("start,duration_s\n1.5,1\n1.5,1\n1.5,1\n", &options), BAL_E_STOPPED, "stopped");
    assert_int_equal(taken, 1);
}

/* Whole seconds: anywhere within them, the same for the same seed. */
static void spreads_whole_seconds(void **state) {
    (void)state;
    char text[JOBS * 32];
    size_t used = 0;
    for (int i = 0; i < JOBS; i++)
        used += (size_t)sprintf(text + used, "%d,1\n", 1794737472) - 0;
    char whole[sizeof text + 32];
    snprintf(whole, sizeof whole, "arrival,duration_s\n%s", text);
    struct bli_log_options options = {.seed = 5};
    const struct result *r = read_text(whole, &options);
    assert_int_equal(r->jobs, JOBS);
    assert_true(r->summary.spread && r->summary.resolution == 1);
    double mean = 0;
    int64_t first[JOBS];
    for (int i = 0; i < JOBS; i++) {
        first[i] = r->job[i].time;
        assert_in_range(first[i] - TEN, 0, S - 1);
        if (i > 0)
            assert_true(first[i] > first[i - 1]);
        mean += (double)(first[i] - TEN) / (double)S / JOBS;
    }
    /* uniform: mean 1/2, standard deviation 1/sqrt(12 x 64) = 0.036; beyond 4.5 of these with 7e-6 */
    assert_true(fabs(mean - 0.5) < 4.5 / sqrt(12.0 * JOBS));
    r = read_log(&options);
    for (int i = 0; i < JOBS; i++)
        assert_true(r->job[i].time == first[i]);
    options.seed = 6;
    r = read_log(&options);
    int same = 0;
    for (int i = 0; i < JOBS; i++)
        same += r->job[i].time == first[i];
    assert_int_equal(same, 0);

    /* a writer that leaves out a fraction of zeros has finer times all the same */
    r = read_text("arrival,duration_s\n1794737472,1\n1794737472.5,1\n", &options);
    assert_job(r, 0, TEN, S);
    assert_true(!r->summary.spread && r->summary.resolution == 0.1);
}

/* Lines of a second stand in the order in which requests end: so they are spread. Sizes tell the lines. */
static void spreads_ends_in_the_order_of_lines(void **state) {
    (void)state;
    enum { SECONDS = 3, EACH = 20 };
    char text[SECONDS * EACH * 40];
    size_t used = (size_t)sprintf(text, "ts,duration_ms\n");
    for (int i = 0; i < SECONDS * EACH; i++)
        used += (size_t)sprintf(text + used, "%d,%d\n", 1794737472 + i / EACH, 1 + i);
    const struct result *r = read_text(text, &(struct bli_log_options){.seed = 5});
    assert_int_equal(r->jobs, SECONDS * EACH);
    int64_t end[SECONDS * EACH];
    for (uint64_t i = 0; i < r->jobs; i++) { /* they are sorted by arrival */
        const int64_t line = r->job[i].size / MS - 1;
        end[line] = r->job[i].time + r->job[i].size;
        assert_true(r->job[i].spread && end[line] - r->job[i].drawn == TEN + line / EACH * S);
    }
    for (int i = 1; i < SECONDS * EACH; i++)
        assert_true(end[i] > end[i - 1]);
}

static void tells_kinds(void **state) {
    (void)state;
    static const char text[] = "{\"start\":1.5,\"duration_s\":1,\"path\":\"/api/a\"}\n"
                               "{\"start\":2.5,\"duration_s\":1,\"path\":\"/b\"}\n"
                               "{\"start\":3.5,\"duration_s\":1,\"path\":\"/api/login\"}\n"
                               "{\"start\":4.5,\"duration_s\":1}\n";
    static const char *const patterns[] = {"login$", "^/api/"};
    const struct bli_log_options options = {.kind = patterns, .kinds = 2, .high_pattern = "^/b"};
    const struct result *r = read_text(text, &options);
    static const uint8_t wanted[] = {2, 0, 1, 0}; /* the first that matches */
    for (int i = 0; i < 4; i++) {
        assert_int_equal(r->job[i].kind, wanted[i]);
        assert_int_equal(r->job[i].high, i == 1);
    }
    static const char *const bad[] = {"a", "("};
    assert_fails(read_text(text, &(struct bli_log_options){.kind = bad, .kinds = 2}), BAL_E_SYNTAX,
                 "pattern '(' cannot be read");
    assert_fails(
        read_text("start,duration_s\n1.5,1\n", &(struct bli_log_options){.kind = patterns, .kinds = 1}),
        BAL_E_UNKNOWN, "no field of the log looks like the path");
}

static void accounts_for_skipped_lines(void **state) {
    (void)state;
    static const char text[] = "\xef\xbb\xbf"
                               "# a comment\r\n"
                               "{\"ts\":1.5,\"duration_s\":1}\r\n"
                               "\r\n"
                               "  \t\n"
                               "{\"ts\":2.5,\"duration_s\":\"-\"}\n"
                               "{\"ts\":2.5,\"duration_s\":null}\n"
                               "{\"ts\":2.5}\n"
                               "{\"duration_s\":1}\n"
                               "{\"ts\":\"late\",\"duration_s\":1}\n"
                               "{\"ts\":2.5,\"duration_s\":1}}\n"
                               "{\"ts\":2.5,\"duration_s\":1,}\n"
                               "{\"ts\":2.5 \"duration_s\":1}\n"
                               "a tab\tand \xc3\xa9, no \x01\n"
                               "plain\n"
                               "{\"ts\":3.5,\"duration_s\":1}\n"
                               "{}\n"
                               "{\"ts\":0.5,\"duration_s\":1}\n"
                               "{\"ts\":9.5,\"durat";
    const struct result *r = read_text(text, &(struct bli_log_options){.format = "json", .time = "ts:start"});
    assert_job(r, 0, S / 2, S);
    assert_job(r, 1, 3 * S / 2, S);
    assert_job(r, 2, 7 * S / 2, S);
    const struct bli_log_summary *summary = &r->summary;
    assert_int_equal(summary->jobs, 3);
    assert_int_equal(r->unordered, 1);
    assert_int_equal(summary->empty, 3);
    assert_int_equal(summary->lines, 18);
    assert_int_equal(summary->bytes, sizeof text - 1);
    const uint64_t skipped[] = {[BLI_LOG_MALFORMED] = 4, [BLI_LOG_NO_TIME] = 3, [BLI_LOG_NO_SERVICE] = 3,
                                [BLI_LOG_ZERO] = 0,      [BLI_LOG_BINARY] = 1,  [BLI_LOG_TRUNCATED] = 1};
    for (size_t i = 0; i < sizeof skipped / sizeof *skipped; i++)
        assert_int_equal(summary->skipped[i], skipped[i]);
    assert_int_equal(summary->example[0].reason, BLI_LOG_NO_SERVICE);
    assert_int_equal(summary->example[0].line, 5);
    assert_string_equal(summary->example[0].file, path);
    assert_string_equal(summary->example[0].text, "{\"ts\":2.5,\"duration_s\":\"-\"}");
    assert_int_equal(summary->example[4].line, 10); /* two have no service, two no time */

    r = read_text("arrival,duration_s\n1.5,1\n1.5,1\n\tb\xc3\xa9\x7f\n", &(struct bli_log_options){0});
    assert_string_equal(r->summary.example[0].text, " b\xc3\xa9?");

    /* of each reason two are shown, and of a line that does not fit both ends */
    r = read_text(COMBINED " 0.250\n" COMBINED " 0.000\n" COMBINED " 0.000\n" COMBINED " 0.000\nx\n",
                  &(struct bli_log_options){0});
    assert_int_equal(r->summary.examples, 1);
    assert_int_equal(r->summary.example[0].line, 5);
    /* 0.000 is less than half a millisecond: a job all the same, of a quarter */
    assert_int_equal(r->summary.skipped[BLI_LOG_ZERO], 0);
    assert_int_equal(r->summary.zeros, 3);
    assert_true(r->summary.max_zero == 0.25e-3);
    assert_int_equal(r->summary.jobs, 4);
    assert_int_equal(r->job[0].size + r->job[1].size + r->job[2].size + r->job[3].size, S / 4 + 3 * S / 4000);
    r = read_text(
        "arrival,duration_s,text\n1.5,1,x\n1.5,-,begins here and goes on beyond what can be shown of it,"
        " since nobody wants to see all of a line that has nothing of interest before it ends\n",
        &(struct bli_log_options){.format = "csv"});
    assert_string_equal(r->summary.example[0].text,
                        "1.5,-,begins here and goes on beyond what can be shown of"
                        " ... all of a line that has nothing of interest before it ends");
}

/* Whole seconds leave out what is short. A few such lines are counted; many make a wrong story. */
static void refuses_coarse_times(void **state) {
    (void)state;
    char text[1000];
    size_t used = (size_t)sprintf(text, "arrival,duration_s\n");
    for (int i = 0; i < 19; i++)
        used += (size_t)sprintf(text + used, "%d.5,1\n", i);
    sprintf(text + used, "1.5,0\n1.5,0\n");
    const struct result *r = read_text(text, &(struct bli_log_options){0});
    assert_int_equal(r->jobs, 19);
    assert_int_equal(r->summary.skipped[BLI_LOG_ZERO], 2);
    strcat(text, "1.5,0\n");
    assert_fails(read_text(text, &(struct bli_log_options){0}), BAL_E_FORMAT,
                 "duration_s (s) tells 3 of 22 service times as 0");
}

/* Lines beyond 1 MiB are dropped in bounded memory; those just below it are not. */
static void drops_long_lines(void **state) {
    (void)state;
    const size_t lengths[] = {10000000, (1 << 20) + 1, 1 << 20, (1 << 20) - 1, 300000};
    static const char job[] = "{\"ts\":1.5,\"duration_s\":1}\n";
    for (int order = 0; order < 2; order++) {
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        if (order == 0)
            fputs(job, file);
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            static const char start[] = "{\"ts\":2.5,\"duration_s\":1,\"x\":\"", end[] = "\"}";
            fputs(start, file);
            for (size_t k = sizeof start - 1 + sizeof end - 1; k < lengths[i]; k++)
                fputc('x', file);
            fprintf(file, "%s%s", end, i + 1 < sizeof lengths / sizeof *lengths ? "\n" : "");
        }
        assert_int_equal(fclose(file), 0);
        const struct result *r = read_log(&(struct bli_log_options){0});
        assert_int_equal(r->code, BAL_OK);
        assert_int_equal(r->summary.jobs, 3 + !order);
        assert_int_equal(r->summary.skipped[BLI_LOG_TOO_LONG], 2);
        assert_int_equal(strncmp(r->summary.example[0].text, "{\"ts\":2.5", 9), 0);
        assert_int_equal(r->summary.example[0].line, 1 + !order);
    }
    /* nothing else, and without an end */
    char *zeros = calloc(1, 5000000);
    assert_non_null(zeros);
    write_bytes(zeros, 5000000);
    free(zeros);
    const struct result *r = read_log(&(struct bli_log_options){0});
    assert_int_equal(r->code, BAL_OK);
    assert_int_equal(r->summary.lines, 1);
    assert_int_equal(r->summary.skipped[BLI_LOG_TOO_LONG], 1);
}

static size_t pack_gzip(const char *text, size_t length, char *to, size_t room) {
    z_stream stream = {0};
    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (unsigned char *)(uintptr_t)text;
    stream.avail_in = (unsigned)length;
    stream.next_out = (unsigned char *)to;
    stream.avail_out = (unsigned)room;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    deflateEnd(&stream);
    return room - stream.avail_out;
}

static size_t pack_zstd(const char *text, size_t length, char *to, size_t room) {
    ZSTD_CCtx *context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1); /* as the program does */
    const size_t size = ZSTD_compress2(context, to, room, text, length);
    ZSTD_freeCCtx(context);
    assert_false(ZSTD_isError(size));
    return size;
}

static size_t pack_xz(const char *text, size_t length, char *to, size_t room) {
    size_t size = 0;
    assert_int_equal(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC64, NULL, (const uint8_t *)text, length,
                                             (uint8_t *)to, &size, room),
                     LZMA_OK);
    return size;
}

static size_t pack_bzip2(const char *text, size_t length, char *to, size_t room) {
    unsigned size = (unsigned)room;
    assert_int_equal(BZ2_bzBuffToBuffCompress(to, &size, (char *)(uintptr_t)text, (unsigned)length, 1, 0, 0),
                     BZ_OK);
    return size;
}

enum { PACKED_LINES = 50000 };

/* Two members, the cut in the middle of a line; zeros behind them; cut anywhere; damaged. */
static void check_packing(size_t (*pack)(const char *, size_t, char *, size_t), const char *text,
                          size_t length) {
    char *both = calloc(1, length + 2000);
    assert_non_null(both);
    const size_t a = pack(text, length / 2, both, length);
    const size_t b = pack(text + length / 2, length - length / 2, both + a, length - a);
    for (size_t zeros = 0; zeros <= 1000; zeros += 500) {
        write_bytes(both, a + b + zeros);
        const struct result *r = read_log(&(struct bli_log_options){0});
        assert_int_equal(r->code, BAL_OK);
        assert_int_equal(r->jobs, PACKED_LINES);
        assert_int_equal(r->summary.bytes, length);
        assert_false(r->summary.truncated);
        assert_job(r, 3, TEN + 3 * MS, 10 * MS);
    }
    for (size_t cut = 6; cut < a + b; cut += cut < 40 ? 1 : 7919) {
        write_bytes(both, cut);
        const struct result *r = read_log(&(struct bli_log_options){0});
        if (r->code)
            fail_msg("cut after %zu of %zu and %zu bytes: %s", cut, a, b, r->err.text);
        assert_int_equal(r->summary.truncated, cut != a);
        assert_true(r->jobs < PACKED_LINES);
        assert_int_equal(r->summary.skipped[BLI_LOG_MALFORMED], 0);
    }
    memcpy(both + a + b, "xyz of something else", 21);
    write_bytes(both, a + b + 21);
    assert_fails(read_log(&(struct bli_log_options){0}), BAL_E_FORMAT, "is damaged");
    both[a / 2] ^= 0x55;
    write_bytes(both, a + b);
    assert_fails(read_log(&(struct bli_log_options){0}), BAL_E_FORMAT, path);
    free(both);
}

static void reads_compressed_files(void **state) {
    (void)state;
    char *text = malloc(PACKED_LINES * 40);
    assert_non_null(text);
    size_t length = (size_t)sprintf(text, "arrival,duration_ms\n");
    for (int i = 0; i < PACKED_LINES; i++)
        length +=
            (size_t)sprintf(text + length, "%d.%03d,%d\n", 1794737472 + i / 1000, i % 1000, 1 + i % 997 * 3);
    check_packing(pack_gzip, text, length);
    check_packing(pack_zstd, text, length);
    check_packing(pack_xz, text, length);
    check_packing(pack_bzip2, text, length);

    /* a frame of zstd to be skipped, and one whose window is larger than what is allowed */
    static char skipped[10000] = "\x50\x2a\x4d\x18\x04\0\0\0abcd";
    const size_t size = 12 + pack_zstd("arrival,duration_s\n1.5,1\n", 25, skipped + 12, sizeof skipped - 12);
    write_bytes(skipped, size);
    assert_int_equal(read_log(&(struct bli_log_options){0})->jobs, 1);
    write_bytes("\x28\xb5\x2f\xfd\x00\xa8\x01\x00\x00", 9);
    assert_fails(read_log(&(struct bli_log_options){0}), BAL_E_RANGE, "zstdcat --long=31");
    free(text);
}

static void refuses_files(void **state) {
    (void)state;
    const struct bli_log_options options = {0};
    const char *missing[] = {"/nowhere/access.log"}, *directory[] = {"/tmp"};
    assert_fails(read_paths(missing, 1, &options), BAL_E_IO,
                 "'/nowhere/access.log' cannot be read: No such file");
    assert_fails(read_paths(directory, 1, &options), BAL_E_IO, "'/tmp' is a directory; name the files in it");
    write_text("x");
    if (geteuid() != 0) {
        assert_int_equal(chmod(path, 0), 0);
        assert_fails(read_log(&options), BAL_E_IO, "Permission denied");
        assert_int_equal(chmod(path, 0600), 0);
    }
    const struct {
        const char *text, *part;
    } cases[] = {
        {COMBINED "\n", "does not say how long requests took; add $request_time"},
        {COMBINED " \"-\"\n", "does not say how long requests took"},
        {HOST GET "\n", "does not say how long requests took"},
        {COMBINED " 812 5120\n",
         "which of column1 (812 on average), column2 (5120 on average) is the service"},
        {"nonsense\nof two lines\n", "its first line is 'nonsense'"},
        {"\x04\x22\x4d\x18", "is compressed with lz4; read it with lz4cat"},
        {"\x1f\x9d\x90", "zcat"},
        {"\xfd\x37zXZ\nlonger than a header", "is damaged"},
        {"PK\x03\x04", "unzip -p"},
        {"\xff\xfe{", "UTF-16"},
        {"\x89PNG\r\n\x1a\n", "its first line is '?PNG'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_fails(read_text(cases[i].text, &options), BAL_E_FORMAT, cases[i].part);
    assert_fails(read_text(COMBINED " 0.250\n", &(struct bli_log_options){.format = "apache"}), BAL_E_FORMAT,
                 "0 whole numbers stand behind the combined format");
    /* Half of the lines are not enough. */
    assert_fails(read_text(COMBINED " 0.250\nno\n", &options), BAL_E_FORMAT, "not in a format");
    assert_int_equal(read_text(COMBINED " 0.250\nno\n" COMBINED " 0.000\n", &options)->jobs, 2);

    const char *const empty[] = {"", "\n", "# nothing\n\n", "\xef\xbb\xbf", "time,duration_s\n"};
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) {
        const struct result *r = read_text(empty[i], &options);
        assert_int_equal(r->code, BAL_OK);
        assert_int_equal(r->summary.jobs, 0);
    }
}

/* The first lines tell nothing of the clock: the first that has a time does. */
static void measures_the_clock_late(void **state) {
    (void)state;
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    for (int i = 0; i < 1200; i++)
        fprintf(file, "not a line of the format\n");
    fprintf(file, "1794737472.345 0.100\n1794737473.345 0.100\n");
    assert_int_equal(fclose(file), 0);
    const struct result *r = read_log(&(struct bli_log_options){.format = "$msec $request_time"});
    assert_job(r, 0, TEN + 245 * MS, 100 * MS);
    assert_true(r->summary.resolution == 0.001 && !r->summary.spread);
}

/* Comments by the thousand before the first line that tells the format. */
static void looks_behind_comments(void **state) {
    (void)state;
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    for (int i = 0; i < 100000; i++)
        fprintf(file, "# %d\n", i);
    fprintf(file, "%s", COMBINED " 0.250\n");
    assert_int_equal(fclose(file), 0);
    const struct result *r = read_log(&(struct bli_log_options){0});
    assert_int_equal(r->code, BAL_OK);
    assert_int_equal(r->jobs, 1);
    assert_int_equal(r->summary.empty, 100000);
}

/* Files of several formats and a pipe, merged by time. */
static void reads_several(void **state) {
    (void)state;
    char other[] = "/tmp/ballast-log-XXXXXX";
    const int fd = mkstemp(other);
    assert_true(fd >= 0);
    static const char csv[] = "arrival,duration_s\n1.5,1\n3.5,3\n";
    assert_int_equal(write(fd, csv, sizeof csv - 1), sizeof csv - 1);
    close(fd);
    write_text("{\"start\":2.5,\"duration_s\":2}\n{\"start\":4.5,\"duration_s\":4}\n");

    int ends[2];
    assert_int_equal(pipe(ends), 0);
    static const char piped[] = "[01/Jan/1970:00:00:00.500 +0000] 500000\n";
    assert_int_equal(write(ends[1], piped, sizeof piped - 1), sizeof piped - 1);
    close(ends[1]);
    const int before = dup(STDIN_FILENO);
    dup2(ends[0], STDIN_FILENO);
    const char *const paths[] = {other, path, other};
    const struct result *r = read_paths(paths, 2, &(struct bli_log_options){0});
    assert_int_equal(r->jobs, 4);
    for (int i = 0; i < 4; i++)
        assert_job(r, (uint64_t)i, i * S + 3 * S / 2, (i + 1) * S);
    assert_int_equal(r->summary.files, 2);
    assert_string_equal(r->summary.file[0].format, "csv");
    assert_string_equal(r->summary.file[0].time, "arrival (start of the request)");
    assert_string_equal(r->summary.file[1].format, "json");
    assert_string_equal(r->summary.file[1].path, path);
    assert_int_equal(r->summary.file[1].jobs, 2);
    assert_int_equal(r->summary.file[1].lines, 2);
    const char *const standard[] = {"-"};
    r = read_paths(standard, 1, &(struct bli_log_options){.format = "apache:%t %D"});
    assert_job(r, 0, S / 2, S / 2);
    dup2(before, STDIN_FILENO);
    close(before);
    close(ends[0]);
    unlink(other);
}

/* A file given twice is found out, by whatever name, also as a copy that is compressed. */
static void finds_the_same_file_twice(void **state) {
    (void)state;
    char other[] = "/tmp/ballast-log-XXXXXX", packed[] = "/tmp/ballast-log-XXXXXX";
    static const char text[] = "arrival,duration_s\n1,1\n1,2\n3,3\n"; /* in whole seconds, so there is a draw
                                                                       */
    int fd = mkstemp(other);
    assert_int_equal(write(fd, "arrival,duration_s\n1,1\n1,2\n3,4\n", 32), 32);
    close(fd);
    fd = mkstemp(packed);
    char bytes[200];
    const size_t size = pack_gzip(text, sizeof text - 1, bytes, sizeof bytes);
    assert_int_equal(write(fd, bytes, size), size);
    close(fd);
    write_text(text);
    const char *const paths[] = {path, other, packed, path};
    const struct result *r = read_paths(paths, 4, &(struct bli_log_options){0});
    assert_int_equal(r->jobs, 12);
    assert_int_equal(r->summary.file[0].same, 0);
    assert_int_equal(r->summary.file[1].same, 0);
    assert_int_equal(r->summary.file[2].same, 1);
    assert_int_equal(r->summary.file[3].same, 1);
    unlink(other);
    unlink(packed);
}

static void filters_jobs(void **state) {
    (void)state;
    static const char text[] =
        "{\"start\":\"2026-11-15T10:11:12.000Z\",\"latency_ms\":1,\"path\":\"/api/a?x=/b\",\"status\":200}\n"
        "{\"start\":\"2026-11-15T10:11:13.000Z\",\"latency_ms\":2,\"path\":\"/b\",\"status\":404}\n"
        "{\"start\":\"2026-11-16T00:00:00.000Z\",\"latency_ms\":3,\"path\":\"/api/c\",\"status\":\"503\"}\n"
        "{\"start\":\"2026-11-16T10:11:12.000Z\",\"latency_ms\":4,\"status\":204}\n";
    const struct {
        struct bli_log_options options;
        const char *left; /* sizes in milliseconds */
    } cases[] = {
        {{.from = "2026-11-15T10:11:13Z"}, "234"},
        {{.from = "2026-11-16"}, "34"},
        {{.to = "2026-11-16"}, "12"},
        {{.from = "15/Nov/2026:10:12", .to = "2026-11-16T10:00"}, "3"},
        {{.from = "1794737473", .to = "2026-11-16T01:00+01:00"}, "2"},
        {{.path = "^/api/"}, "13"},
        {{.path = "b"}, "2"},
        {{.status = "200"}, "1"},
        {{.status = "2xx,503"}, "134"},
        {{.status = "4xx", .path = "c"}, ""},
        {{.status = "4xx,5xx", .path = "c", .to = "2026-11-16T00:01"}, "3"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct result *r = read_text(text, &cases[i].options);
        assert_int_equal(r->code, BAL_OK);
        assert_int_equal(r->summary.jobs, strlen(cases[i].left));
        assert_int_equal(r->summary.filtered, 4 - r->summary.jobs);
        for (uint64_t k = 0; k < r->summary.jobs; k++)
            assert_int_equal(r->job[k].size, (cases[i].left[k] - '0') * MS);
    }
    const struct {
        struct bli_log_options options;
        enum bal_code code;
        const char *part;
    } bad[] = {
        {{.from = "soon"}, BAL_E_SYNTAX, "from 'soon' is no time; write it as in the log, or 2026-11-15"},
        {{.to = "2026-02-30"}, BAL_E_SYNTAX, "to '2026-02-30' is no time"},
        {{.from = "2026-11-16", .to = "2026-11-16"}, BAL_E_RANGE, "nothing lies between"},
        {{.status = "20x,"}, BAL_E_SYNTAX, "status '20x,' is none; write 200, 5xx"},
        {{.status = "2000"}, BAL_E_SYNTAX, "status '2000' is none"},
        {{.path = "("}, BAL_E_SYNTAX, "pattern '(' cannot be read"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_fails(read_text(text, &bad[i].options), bad[i].code, bad[i].part);
    assert_fails(read_text("start,duration_s\n1.5,1\n", &(struct bli_log_options){.status = "200"}),
                 BAL_E_UNKNOWN, "no field of the log looks like the status");
    assert_fails(read_text("start,duration_s\n1.5,1\n", &(struct bli_log_options){.path = "x"}),
                 BAL_E_UNKNOWN, "no field of the log looks like the path");
}

static void note_progress(void *context, double part) {
    double *last = context;
    assert_true(part >= *last && part <= 1);
    *last = part;
}

static void stops_and_reports(void **state) {
    (void)state;
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs("arrival,duration_s\n", file);
    for (int i = 0; i < 300000; i++)
        fprintf(file, "%d.5,1\n", i);
    assert_int_equal(fclose(file), 0);
    double part = 0;
    const struct bli_log_options report = {.progress = note_progress, .progress_context = &part};
    assert_int_equal(read_log(&report)->jobs, 300000);
    assert_true(part > 0.5);
    const volatile int stop = 1;
    assert_fails(read_log(&(struct bli_log_options){.stop = &stop}), BAL_E_STOPPED, "stopped");
}

static int make_path(void **state) {
    (void)state;
    const int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int remove_path(void **state) {
    (void)state;
    return unlink(path);
}

/* ---- requests that can be sent again ---- */

static void requests_are_taken_apart(void **state) {
    (void)state;
    static const struct {
        const char *request, *method, *text;
    } samples[] = {
        {"GET /a?b=1 HTTP/1.1", NULL, "GET /a?b=1"},
        {"POST /buy HTTP/2.0", "-", "POST /buy"},
        {"/a/b?c", "PUT", "PUT /a/b?c"},
        {"/a b", "GET /other HTTP/1.1", "GET /a"},
        {"/a", NULL, "GET /a"},
        {"/a", "/a", "GET /a"},
        {"/a#part", "HEAD", "HEAD /a"},
        {"https://host:8443/x?y", "GET", "GET /x?y"},
        {"GET http://host HTTP/1.0", NULL, "GET /"},
        {"/to?u=http://x/", "GET", "GET /to?u=http://x/"},
        {"OPTIONS * HTTP/1.1", NULL, "OPTIONS *"},
        {"GET * HTTP/1.1", NULL, ""},
        {"HEAD /c\\x22d\\x4 HTTP/1.1", NULL, "HEAD /c%22d\\x4"},
        {"/\"\xc3\xa4\x01\x7f", NULL, "GET /%22%C3%A4%01%7F"},
        {"\\x16\\x03\\x01", NULL, ""},
        {"-", NULL, ""},
        {"", "GET", ""},
        {NULL, "GET", ""},
        {"get / HTTP/1.1", NULL, ""},
        {"CONNECT host:443 HTTP/1.1", NULL, ""},
        {"PRI * HTTP/2.0", NULL, ""},
        {"AMETHODTHATISTOOLONG / HTTP/1.1", NULL, ""},
        {"GET  / HTTP/1.1", NULL, ""},
        {"/a", "-", ""},
    };
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        const char *request = samples[i].request, *method = samples[i].method;
        char text[BLI_LOG_REQUEST] = "";
        const size_t length =
            bli_log_request_text((struct bli_log_span){request, request ? strlen(request) : 0},
                                 (struct bli_log_span){method, method ? strlen(method) : 0}, text);
        assert_int_equal(length, strlen(samples[i].text));
        if (length > 0)
            assert_string_equal(text, samples[i].text);
    }
    char path_text[BLI_LOG_REQUEST + 1], text[BLI_LOG_REQUEST];
    memset(path_text, 'x', sizeof path_text);
    path_text[0] = '/';
    for (size_t length = BLI_LOG_REQUEST - 20; length <= sizeof path_text; length++) {
        const size_t got =
            bli_log_request_text((struct bli_log_span){path_text, length}, (struct bli_log_span){0}, text);
        assert_true(got == 0 || (got == length + 4 && text[got] == 0));
        assert_true((got == 0) == (length > BLI_LOG_REQUEST - 7)); /* what may take three bytes has room */
    }
}

/* Each once, whatever the order and the number of its jobs. */
static void requests_are_collected(void **state) {
    (void)state;
    write_text("start,duration_ms,method,path\n"
               "2026-11-15T10:11:12.1Z,5,POST,/buy\n"
               "2026-11-15T10:11:12.2Z,5,GET,/a?b\n"
               "2026-11-15T10:11:12.3Z,5,GET,none\n"
               "2026-11-15T10:11:12.4Z,5,POST,/buy\n");
    struct bli_log_options options = {.take = add_wanted_job};
    struct result r = {0};
    struct bli_trace *trace;
    const char *paths[] = {path};
    assert_int_equal(bli_log_requests_new(&options.requests, &r.err), BAL_OK);
    assert_int_equal(bli_trace_new(NULL, &trace, &r.err), BAL_OK);
    options.take_context = trace;
    assert_int_equal(bli_log_read(paths, 1, &options, &r.summary, &r.err), BAL_OK);
    take_jobs(trace, &r);
    assert_int_equal(r.jobs, 4);
    assert_true(r.job[0].request == 1 && r.job[1].request == 2 && r.job[2].request == 0 &&
                r.job[3].request == 1);
    assert_int_equal(r.summary.unsendable, 1);
    assert_int_equal(bli_log_servers_count(options.requests), 2);
    assert_string_equal(bli_log_servers_name(options.requests, 0), "POST /buy");
    assert_string_equal(bli_log_servers_name(options.requests, 1), "GET /a?b");
    bli_log_servers_free(options.requests);
    bli_log_summary_fini(&r.summary);
    bli_trace_free(trace);
}

/* ---- service times that are computed ---- */

static struct bli_log_span span_of(const char *text) {
    return (struct bli_log_span){text, strlen(text)};
}

/* With the columns a = 374, b = 44, c = 0.5, d: no number. */
static bool value_of(const char *text, int64_t *value) {
    struct bli_log_expression expression;
    struct bal_error err;
    assert_int_equal(bli_log_expression_parse(text, &expression, &err), BAL_OK);
    const struct bli_log_span fields[] = {span_of("44"), span_of(" 374 "), span_of("0.5"), span_of("-")};
    int field[BLI_LOG_EXPRESSION_COLUMNS];
    for (int i = 0; i < expression.columns; i++)
        field[i] = *expression.column[i].text == 'a'   ? 1
                   : *expression.column[i].text == 'b' ? 0
                   : *expression.column[i].text == 'c' ? 2
                                                       : 3;
    return bli_log_expression_value(&expression, fields, field, value);
}

static void expressions_are_computed(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t value; /* -1: none */
    } samples[] = {
        {"a*0.2ms + b*25ms", 374 * 200000 + 44 * 25 * MS},
        {"25ms", 25 * MS},
        {"1h-1min-1s-1us-1ns", 3600 * S - 60 * S - S - 1001},
        {"10s/4/5*2", S},
        {"10s - 4s - 3s", 3 * S},
        {"2*(a + b)*1us", 836000},
        {"(2*(a + \"b\")+1) * 1us", 837000},
        {"1ms*c/2+a*(1ms-1ms)", MS / 4},
        {"1ms*1s/1s", MS},
        {"a*1ms/a", MS},
        {"1.4ns", 1},
        {".5ns*3", 2},
        {"1ms/(a-a)", -1},
        {"(a-a)*1ms/(a-a)", -1},
        {"b*1ms - a*1ms", -1},
        {"a*1000000000h", -1},
        {"d*1ms", -1},
        {"0s", 0},
    };
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        int64_t value = -1;
        const bool is = value_of(samples[i].text, &value);
        assert_int_equal(is, samples[i].value >= 0);
        assert_int_equal(value, samples[i].value);
    }
}

static void bad_expressions_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *error;
    } samples[] = {
        {"a*2", "'a*2', at the end: that is no time; write units, as in GeneratedTokens*25ms"},
        {"1ms*1ms", "'1ms*1ms', at the end: that is no time; write units, as in GeneratedTokens*25ms"},
        {"a*2ms + b",
         "'a*2ms + b', at '+ b': a time and a number cannot be added; give both a unit, as in 25ms"},
        {"a*2mz", "'a*2mz', at 'mz': not a unit of time; ns, us, ms, s, min and h are"},
        {"a*", "'a*', at the end: a number, a column or ( is missing"},
        {"", "'', at the end: a number, a column or ( is missing"},
        {"a 2ms", "'a 2ms', at '2ms': +, -, * or / is missing"},
        {"(a*1ms", "'(a*1ms', at '(a*1ms': this parenthesis is not closed"},
        {"a*1ms)", "'a*1ms)', at ')': +, -, * or / is missing"},
        {"\"a*1ms", "'\"a*1ms', at '\"a*1ms': a name in quotes that does not end"},
        {"1.2.3ms", "'1.2.3ms', at '1.2.3ms': not a number such as 25, 0.2 or 25ms"},
        {"a*-1ms", "'a*-1ms', at '-1ms': a number, a column or ( is missing"},
    };
    struct bli_log_expression expression;
    struct bal_error err;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        assert_int_equal(bli_log_expression_parse(samples[i].text, &expression, &err), BAL_E_SYNTAX);
        assert_string_equal(err.text, samples[i].error);
    }
    char deep[100], wide[300] = "";
    memset(deep, '(', sizeof deep);
    deep[sizeof deep - 1] = 0;
    assert_int_equal(bli_log_expression_parse(deep, &expression, &err), BAL_E_SYNTAX);
    for (int i = 0; i < 70; i++)
        strcat(wide, "1s+");
    strcat(wide, "1s");
    assert_int_equal(bli_log_expression_parse(wide, &expression, &err), BAL_E_SYNTAX);
    assert_int_equal(bli_log_expression_parse("(a+b+c+d+e+f+g+h+i)*1s", &expression, &err), BAL_E_SYNTAX);
}

/* A trace of tokens: the time is that of the arrival, as nothing was measured. */
static void reads_traces_of_tokens(void **state) {
    (void)state;
    write_text("TIMESTAMP,ContextTokens,GeneratedTokens\n"
               "2026-11-15 10:11:12.0005900,100,10\n"
               "2026-11-15 10:11:12.2000000,200,\n"
               "2026-11-15 10:11:12.1000001,300,20\n");
    struct bli_log_options options = {.service = "ContextTokens*0.2ms + GeneratedTokens*25ms",
                                      .take = add_wanted_job};
    struct result r = {0};
    struct bli_trace *trace;
    const char *paths[] = {path};
    assert_int_equal(bli_trace_new(NULL, &trace, &r.err), BAL_OK);
    options.take_context = trace;
    assert_int_equal(bli_log_read(paths, 1, &options, &r.summary, &r.err), BAL_OK);
    take_jobs(trace, &r);
    assert_int_equal(r.jobs, 2);
    assert_int_equal(r.job[0].time, TEN + 590000);
    assert_int_equal(r.job[0].size, 270 * MS);
    assert_int_equal(r.job[1].time, TEN + 100000100);
    assert_int_equal(r.job[1].size, 560 * MS);
    assert_int_equal(r.summary.skipped[BLI_LOG_NO_SERVICE], 1);
    assert_string_equal(r.summary.file[0].time, "timestamp (start of the request)");
    bli_log_summary_fini(&r.summary);
    bli_trace_free(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_formats),
        cmocka_unit_test(reads_patterns),
        cmocka_unit_test(tells_units_by_the_order_of_lines),
        cmocka_unit_test(tells_times_of_nginx_apart),
        cmocka_unit_test(addresses_that_recur_are_servers),
        cmocka_unit_test(takes_the_column_of_servers_that_is_named),
        cmocka_unit_test(names_of_services_are_no_times),
        cmocka_unit_test(shows_long_formats_whole),
        cmocka_unit_test(reads_past_odd_lines),
        cmocka_unit_test(values_may_look_like_their_ends),
        cmocka_unit_test(reads_decimal_commas),
        cmocka_unit_test(asks_for_units),
        cmocka_unit_test(takes_the_fields_it_is_told),
        cmocka_unit_test(scales_what_is_subtracted),
        cmocka_unit_test(tells_tries_of_nginx),
        cmocka_unit_test(hands_on_what_is_left_out),
        cmocka_unit_test(tells_servers_of_haproxy),
        cmocka_unit_test(tells_servers_of_named_fields),
        cmocka_unit_test(tells_classes),
        cmocka_unit_test(limits_patterns),
        cmocka_unit_test(stops_between_lines),
        cmocka_unit_test(spreads_whole_seconds),
        cmocka_unit_test(spreads_ends_in_the_order_of_lines),
        cmocka_unit_test(tells_kinds),
        cmocka_unit_test(accounts_for_skipped_lines),
        cmocka_unit_test(refuses_coarse_times),
        cmocka_unit_test(drops_long_lines),
        cmocka_unit_test(reads_compressed_files),
        cmocka_unit_test(refuses_files),
        cmocka_unit_test(measures_the_clock_late),
        cmocka_unit_test(looks_behind_comments),
        cmocka_unit_test(reads_several),
        cmocka_unit_test(finds_the_same_file_twice),
        cmocka_unit_test(filters_jobs),
        cmocka_unit_test(stops_and_reports),
        cmocka_unit_test(requests_are_taken_apart),
        cmocka_unit_test(requests_are_collected),
        cmocka_unit_test(expressions_are_computed),
        cmocka_unit_test(bad_expressions_are_refused),
        cmocka_unit_test(reads_traces_of_tokens),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
