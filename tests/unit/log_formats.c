/* SPDX-License-Identifier: BSD-2-Clause */
/* What becomes of the logs that people have: each is read rightly or refused with the reason, never read
 * wrongly without a word. The samples are in tests/logs, whose README says how they were made; the table of
 * docs/logs.md is this one.
 *
 * usage: unit-log_formats [--table]        prints the table instead */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ballast/log.h"

/* How long servers had the requests of a sample, on average, in seconds. */
struct truth {
    double least, most;
};

/* tests/logs/traffic.py asks for 3100 ms, for those of its list, 2149 in all, for 50, and for 900, of which
 * it waits 300: 23 requests. Machines add to that, and what the client needs is in the time of the whole
 * request. */
static const struct truth traffic = {5.599 / 23, 1.4 * 5.599 / 23};
static const struct truth traffic_ended = {5.299 / 22, 1.4 * 5.299 / 22}; /* Caddy has not logged the last */
static const struct truth waited = {6.199 / 23, 1.4 * 6.199 / 23}; /* servers do not see that the client left
                                                                    */
static const struct truth by_hand = {0.0957, 0.0958};
static const struct truth timed_out = {(0.383 + 15) / 5 - 0.001, (0.383 + 15) / 5 + 0.001};
static const struct truth gave_up = {(0.383 + 60) / 5 - 0.001, (0.383 + 60) / 5 + 0.001};

struct row {
    const char *what;    /* is logged, and by whom */
    const char *sample;  /* the file */
    const char *format;  /* that is said; NULL: nothing */
    const char *service; /* the same */
    const char *outcome; /* the field and its unit, or what the error says */
    const char *time;    /* the part of its text that counts; NULL: the log is refused */
    size_t servers;      /* that it names */
    const struct truth *truth;
};

#define START "start of the request"
#define END "end of the request"
#define DIRECTIVE(text)                                                                                      \
    "LogFormat \"%h %l %u %t \\\"%r\\\" %>s %b \\\"%{Referer}i\\\" \\\"%{User-Agent}i\\\" " text "\" x"

static const struct row rows[] = {
    /* nginx */
    {"nginx, combined `$request_time $upstream_response_time`", "nginx-timed.log", NULL, NULL,
     "$upstream_response_time (s)", END, 0, &traffic},
    {"nginx, the same two swapped", "nginx-swapped.log", NULL, NULL, "$upstream_response_time (s)", END, 0,
     &traffic},
    {"nginx, combined `$request_time`", "nginx-request.log", NULL, NULL, "$request_time (s)", END, 0,
     &traffic},
    {"nginx, combined `$request_time $gzip_ratio`", "nginx-ratio.log", NULL, NULL, "$request_time (s)", END,
     0, &traffic},
    {"nginx, combined `$request_length $request_time`", "nginx-length.log", NULL, NULL, "$request_time (s)",
     END, 0, &traffic},
    {"nginx, combined `$upstream_status $upstream_response_time`", "nginx-answer.log", NULL, NULL,
     "$upstream_response_time (s)", END, 0, &traffic},
    {"nginx, combined `rt=$request_time ... urt=\"$upstream_response_time\"`", "nginx-labels.log", NULL, NULL,
     "$upstream_response_time (s)", END, 0, &traffic},
    {"nginx, `compression` of the manual: combined `\"$gzip_ratio\"`", "nginx-compression.log", NULL, NULL,
     "in which unit is column1, 15.06 on average? its mean is 15.1 s", NULL, 0, NULL},
    {"nginx, a `log_format` with `$upstream_addr`", "nginx-servers.log",
     "log_format servers '$msec $request_time $upstream_response_time $upstream_addr $upstream_status "
     "$status "
     "\"$request\"';",
     NULL, "$upstream_response_time (s)", END, 3, &traffic},
    {"nginx, a `log_format` that does not fit", "nginx-length.log",
     "nginx:$remote_addr - $remote_user [$time_local] \"$request\" $status $body_bytes_sent "
     "\"$http_referer\" "
     "\"$http_user_agent\" $request_time $request_length",
     NULL, "but nginx writes seconds with three decimals", NULL, 0, NULL},
    {"nginx, a `log_format` with the two times swapped", "nginx-timed.log",
     "nginx:$remote_addr - $remote_user [$time_local] \"$request\" $status $body_bytes_sent "
     "\"$http_referer\" "
     "\"$http_user_agent\" $upstream_response_time $request_time",
     NULL, "are they swapped?", NULL, 0, NULL},
    {"nginx, JSON lines", "nginx.json", NULL, NULL, "upstream_response_time (s)", END, 3, &traffic},
    {"nginx, the ingress controller of Kubernetes", "ingress.log", NULL, NULL, "$upstream_response_time (s)",
     END, 2, &by_hand},
    /* Apache */
    {"Apache, combined `%D`", "apache-D.log", NULL, NULL, "303 ms (--service-field column1:us)", NULL, 0,
     NULL},
    {"Apache, combined `%D`", "apache-D.log", "apache", NULL, "%D (us)", START, 0, &traffic},
    {"Apache, combined `%D`, the directive", "apache-D.log", DIRECTIVE("%D"), NULL, "%D (us)", START, 0,
     &traffic},
    {"Apache, combined `%{ms}T`", "apache-ms.log", NULL, NULL, "303 ms (--service-field column1:ms)", NULL, 0,
     NULL},
    {"Apache, combined `%{ms}T`, the directive", "apache-ms.log", DIRECTIVE("%{ms}T"), NULL, "%{ms}T (ms)",
     START, 0, &traffic},
    {"Apache, combined `%{ms}T`, the column named", "apache-ms.log", NULL, "column1:ms", "column1 (ms)", END,
     0, &traffic},
    {"Apache, combined `%T`", "apache-T.log", NULL, NULL, "130 ms (--service-field column1:s)", NULL, 0,
     NULL},
    {"Apache, combined `%T`", "apache-T.log", "apache", NULL,
     "%D would be 130 ns on average, which cannot be", NULL, 0, NULL},
    {"Apache, combined `%T`, the directive", "apache-T.log", DIRECTIVE("%T"), NULL,
     "tells 22 of 23 service times as 0", NULL, 0, NULL},
    {"Apache, combined `%k`", "apache-k.log", NULL, NULL,
     "column1, 0 on average, is no length of time in any unit", NULL, 0, NULL},
    {"Apache, combined `%I`", "apache-I.log", NULL, NULL,
     "if it is none, the log does not say how long requests took", NULL, 0, NULL},
    {"Apache, combined `%D %I %O`", "apache-DIO.log", NULL, NULL,
     "which of column1 (303482 on average), column2", NULL, 0, NULL},
    {"Apache, combined `%D %I %O`", "apache-DIO.log", "apache", NULL,
     "3 whole numbers stand behind the combined format", NULL, 0, NULL},
    {"Apache, combined `%D %I %O`, the directive", "apache-DIO.log", DIRECTIVE("%D %I %O"), NULL, "%D (us)",
     START, 0, &traffic},
    {"Apache, combined `%I %O %D`", "apache-IOD.log", NULL, NULL,
     "column3 (303482 on average) is the service time", NULL, 0, NULL},
    {"Apache, combined `%I %O %D`, the directive", "apache-IOD.log", DIRECTIVE("%I %O %D"), NULL, "%D (us)",
     START, 0, &traffic},
    {"Apache, `%{usec}t %D ... %{X-Server}o`, the directive", "apache-fine.log",
     "LogFormat \"%{usec}t %D %>s \\\"%r\\\" %{X-Server}o\" fine", NULL, "%D (us)", START, 1, &traffic},
    {"Apache, JSON lines, `duration` is `%D`", "apache.json", NULL, NULL,
     "303 ms (--service-field duration:us)", NULL, 0, NULL},
    {"Apache, JSON lines, `duration` is `%D`", "apache.json", NULL, "duration:us", "duration (us)", END, 0,
     &traffic},
    /* HAProxy */
    {"HAProxy, option httplog", "haproxy-httplog.log", NULL, NULL, "Tr (ms)", START, 2, &traffic},
    {"HAProxy, option httplog clf", "haproxy-httplog-clf.log", NULL, NULL, "Tr (ms)", START, 2, &traffic},
    {"HAProxy, option tcplog", "haproxy-tcplog.log", NULL, NULL,
     "Tt (ms), less what lies ahead of the server", START, 2, &traffic},
    /* others who follow Apache */
    {"Varnish, combined `%D`", "varnish-D.log", NULL, NULL, "325 ms (--service-field column1:us)", NULL, 0,
     NULL},
    {"Varnish, combined `%D`", "varnish-D.log", "varnish", NULL, "%D (us)", START, 0, &waited},
    {"Varnish, combined `%T`", "varnish-T.log", "varnish", NULL,
     "%D would be 130 ns on average, which cannot be", NULL, 0, NULL},
    {"Varnish, combined `%{Varnish:time_firstbyte}x`", "varnish-first.log", NULL, NULL,
     "288 ms (--service-field column1:s)", NULL, 0, NULL},
    {"Varnish, combined `%{Varnish:time_firstbyte}x`", "varnish-first.log", "varnish", NULL,
     "%{Varnish:time_firstbyte}x (s)", START, 0, &waited},
    {"Varnish, without a time", "varnish-plain.log", NULL, NULL, "it does not say how long requests took",
     NULL, 0, NULL},
    {"lighttpd, combined `%D`", "lighttpd-D.log", NULL, NULL, "289 ms (--service-field column1:us)", NULL, 0,
     NULL},
    {"lighttpd, combined `%D`", "lighttpd-D.log", "lighttpd", NULL, "%D (us)", END, 0, &waited},
    {"lighttpd, combined `%T`", "lighttpd-T.log", NULL, "column1:s", "tells 18 of 23 service times as 0",
     NULL, 0, NULL},
    {"lighttpd, without a time", "lighttpd-plain.log", NULL, NULL, "it does not say how long requests took",
     NULL, 0, NULL},
    {"Tomcat 10.1, common `%D`", "tomcat-D.log", NULL, NULL, "282 ms (--service-field column1:us)", NULL, 0,
     NULL},
    {"Tomcat 10.1, common `%D`", "tomcat-D.log", "tomcat", NULL, "282 ms (--service-field %D:us)", NULL, 0,
     NULL},
    {"Tomcat 10.1, common `%D`", "tomcat-D.log", "tomcat", "%D:us", "%D (us)", END, 0, &waited},
    {"Tomcat 10.1, the valve", "tomcat-D.log",
     "<Valve className=\"...AccessLogValve\" pattern=\"%h %l %u %t &quot;%r&quot; %s %b %D\" />", "%D:us",
     "%D (us)", END, 0, &waited},
    {"directives without `%>s`, so of Apache or Tomcat", "tomcat-D.log", "%h %l %u %t \"%r\" %s %b %D", NULL,
     "in which unit is %D, 281952 on average?", NULL, 0, NULL},
    /* squid, Caddy */
    {"squid, its own format", "squid-native.log", NULL, NULL, "%tr (ms)", END, 1, &traffic},
    {"squid, combined `%tr`", "squid-timed.log", NULL, NULL, "295 ms (--service-field column1:ms)", NULL, 0,
     NULL},
    {"squid, combined `%tr`, the directive", "squid-timed.log",
     "logformat timed %>a %[ui %[un [%tl] \"%rm %ru HTTP/%rv\" %>Hs %<st \"%{Referer}>h\" "
     "\"%{User-Agent}>h\" %tr",
     NULL, "%tr (ms)", END, 0, &traffic},
    {"Caddy, console", "caddy-console.log", NULL, NULL, "duration (s)", END, 0, &traffic_ended},
    {"Caddy, JSON", "caddy.json", NULL, NULL, "duration (s)", END, 0, &traffic_ended},
    {"Caddy, JSON with nanoseconds", "caddy-nano.json", NULL, NULL, "duration (ns)", END, 0, &traffic_ended},
    /* made by hand */
    {"AWS, application load balancer", "alb.log", NULL, NULL, "target_processing_time (s)", START, 2,
     &gave_up},
    {"AWS, classic load balancer", "elb.log", NULL, NULL, "target_processing_time (s)", START, 2, &by_hand},
    {"AWS, CloudFront", "cloudfront.log", NULL, NULL, "time-taken (s)", END, 0, &by_hand},
    {"IIS (W3C), columns change on the way", "iis.log", NULL, NULL, "time-taken (ms)", END, 0, &by_hand},
    {"W3C of nobody knows whom", "w3c.log", NULL, NULL, "95.8 ms (--service-field time-taken:ms)", NULL, 0,
     NULL},
    {"W3C of nobody knows whom", "w3c.log", NULL, "time-taken:ms", "time-taken (ms)", END, 0, &by_hand},
    {"Envoy", "envoy.log", NULL, NULL, "RESP(X-ENVOY-UPSTREAM-SERVICE-TIME) (ms)", START, 2, &timed_out},
    {"Istio", "istio.log", NULL, NULL, "RESP(X-ENVOY-UPSTREAM-SERVICE-TIME) (ms)", START, 2, &by_hand},
    {"Istio, JSON", "istio.json", NULL, NULL, "upstream_service_time (ms)", START, 2, &by_hand},
    {"Traefik", "traefik.log", NULL, NULL, "Duration (ms)", START, 2, &by_hand},
    {"Traefik, JSON", "traefik.json", NULL, NULL, "OriginDuration (ns)", START, 2, &by_hand},
    {"pino-http (Node.js)", "pino.json", NULL, NULL, "responseTime (ms)", END, 0, &by_hand},
    {"lograge (Rails)", "lograge.json", NULL, NULL, "duration (ms)", END, 0, &by_hand},
    {"csv with decimal commas", "comma.csv", NULL, NULL, "duration_s (s, with decimal commas)", START, 0,
     &by_hand},
    {"csv with a start and an end", "span.csv", NULL, NULL, "from the start of the request to its end", START,
     0, &by_hand},
    {"csv, `duration` without a unit", "unit.csv", NULL, NULL, "95.8 ms (--service-field duration:ms)", NULL,
     0, NULL},
    {"csv, `duration` without a unit", "unit.csv", NULL, "duration:ms", "duration (ms)", START, 0, &by_hand},
};

enum { ROWS = sizeof rows / sizeof *rows };

static const char *source_root(void) {
    const char *root = getenv("BALLAST_SOURCE");
    return root ? root : ".";
}

struct sum {
    uint64_t jobs;
    double seconds;
};

static enum bal_code add_job(void *context, const struct bli_log_record *record, struct bal_error *err) {
    (void)err;
    struct sum *sum = context;
    sum->jobs++;
    sum->seconds += (double)record->job.size * 1e-9;
    return BAL_OK;
}

static void check_read(const struct row *row, const struct bli_log_summary *summary, const struct sum *sum,
                       size_t servers) {
    const double mean = sum->seconds / (double)sum->jobs;
    if (!row->time)
        fail_msg("%s: it is read, as %s, where it must be refused", row->sample, summary->file[0].service);
    if (strcmp(summary->file[0].service, row->outcome) != 0)
        fail_msg("%s: %s, not %s", row->sample, summary->file[0].service, row->outcome);
    if (!strstr(summary->file[0].time, row->time))
        fail_msg("%s: the time is %s, not the %s", row->sample, summary->file[0].time, row->time);
    if (!(mean >= row->truth->least && mean <= row->truth->most))
        fail_msg("%s: mean %g s, not from %g to %g", row->sample, mean, row->truth->least, row->truth->most);
    if (servers != row->servers)
        fail_msg("%s: %zu servers, not %zu", row->sample, servers, row->servers);
}

static void check_refused(const struct row *row, const struct bal_error *err) {
    if (row->time)
        fail_msg("%s: %s", row->sample, err->text);
    if (err->code != BAL_E_FORMAT || !strstr(err->text, row->outcome))
        fail_msg("%s: '%s' does not have '%s'", row->sample, err->text, row->outcome);
    assert_non_null(strstr(err->text, row->sample)); /* it says of which file */
    if (strlen(err->text) > 3 && strcmp(err->text + strlen(err->text) - 3, "...") == 0)
        fail_msg("%s: the error is cut off: %s", row->sample, err->text);
}

static void reads_or_refuses(const struct row *row) {
    char path[1000];
    snprintf(path, sizeof path, "%s/tests/logs/%s", source_root(), row->sample);
    struct sum sum = {0};
    struct bli_log_options options = {
        .format = row->format, .service = row->service, .take = add_job, .take_context = &sum};
    struct bli_log_summary summary;
    struct bal_error err = {0};
    assert_int_equal(bli_log_servers_new(&options.servers, &err), BAL_OK);
    const char *const paths[] = {path};
    if (bli_log_read(paths, 1, &options, &summary, &err))
        check_refused(row, &err);
    else
        check_read(row, &summary, &sum, bli_log_servers_count(options.servers));
    bli_log_servers_free(options.servers);
    bli_log_summary_fini(&summary);
}

static void no_log_is_read_wrongly_without_a_word(void **state) {
    (void)state;
    for (size_t i = 0; i < ROWS; i++)
        reads_or_refuses(&rows[i]);
}

/* As text of Markdown: a bar would end the cell. */
static size_t print_cell(char *to, size_t room, const char *text) {
    size_t used = 0;
    for (; *text && used + 3 < room; text++) {
        if (*text == '|')
            to[used++] = '\\';
        to[used++] = *text;
    }
    to[used] = 0;
    return used;
}

static void print_said(const struct row *row, char *to, size_t room) {
    char format[400] = "", short_format[60] = "";
    if (row->format)
        print_cell(format, sizeof format, row->format);
    /* a whole format is given in the sample's README */
    if (strlen(format) > 24)
        snprintf(short_format, sizeof short_format, "`--log-format '%.12s...'`", format);
    else if (*format)
        snprintf(short_format, sizeof short_format, "`--log-format %.24s`", format);
    snprintf(to, room, "%s%s%s%s%s", short_format, *short_format && row->service ? " " : "",
             row->service ? "`--service-field " : "", row->service ? row->service : "",
             row->service ? "`" : "");
}

static void print_row(const struct row *row, char *to, size_t room) {
    char said[300], outcome[400];
    print_said(row, said, sizeof said);
    print_cell(outcome, sizeof outcome, row->outcome);
    if (row->time)
        snprintf(to, room, "| %s | `%s` | %s | read: %s; time of the %s |\n", row->what, row->sample, said,
                 outcome, strcmp(row->time, START) == 0 ? "start" : "end");
    else
        snprintf(to, room, "| %s | `%s` | %s | refused: \"%s ...\" |\n", row->what, row->sample, said,
                 outcome);
}

static void the_page_has_this_table(void **state) {
    (void)state;
    char path[1000], line[2000], wanted[2000];
    snprintf(path, sizeof path, "%s/docs/logs.md", source_root());
    FILE *page = fopen(path, "r");
    assert_non_null(page);
    size_t row = 0;
    bool inside = false;
    while (fgets(line, sizeof line, page)) {
        if (strncmp(line, "<!-- end of matrix", 18) == 0)
            inside = false;
        if (inside && strncmp(line, "| ", 2) == 0 && strstr(line, "` |")) {
            assert_true(row < ROWS);
            print_row(&rows[row++], wanted, sizeof wanted);
            if (strcmp(line, wanted) != 0)
                fail_msg("docs/logs.md has '%s' where '%s' should be; unit-log_formats --table prints it",
                         line, wanted);
        }
        if (strncmp(line, "<!-- matrix", 11) == 0)
            inside = true;
    }
    fclose(page);
    assert_int_equal(row, ROWS);
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "--table") == 0) {
        char line[2000];
        for (size_t i = 0; i < ROWS; i++) {
            print_row(&rows[i], line, sizeof line);
            fputs(line, stdout);
        }
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_log_is_read_wrongly_without_a_word),
        cmocka_unit_test(the_page_has_this_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
