/* SPDX-License-Identifier: BSD-2-Clause */
/* The load generator, mostly without its sockets: answers in whatever pieces they come, URLs, and the
 * schedule. What it measures is tried on real servers by tests/nginx/load. */
#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "load/http_response.h"
#include "load/request_tally.h"
#include "load/schedule.h"
#include "load/target.h"
#include "report/load_report.h"

/* ---- answers ---- */

#define OK_HEAD "HTTP/1.1 200 OK\r\nServer: x\r\n"

struct sample {
    const char *text;
    enum http_response_state state; /* at its end */
    int status;
    bool keep;
    size_t extra; /* bytes that belong to nothing */
    uint64_t id;
};

static const struct sample samples[] = {
    {OK_HEAD "Content-Length: 5\r\n\r\nhello", RESPONSE_DONE, 200, true, 0, UINT64_MAX},
    {OK_HEAD "content-length:0\r\n\r\n", RESPONSE_DONE, 200, true, 0, UINT64_MAX},
    {OK_HEAD "Content-Length: 5\r\nConnection: close\r\n\r\nhello", RESPONSE_DONE, 200, false, 0, UINT64_MAX},
    {OK_HEAD "Connection: keep-alive, Close\r\nContent-Length: 1\r\n\r\nx", RESPONSE_DONE, 200, false, 0,
     UINT64_MAX},
    {OK_HEAD "Content-Length: 5\r\n\r\nhelloHTTP", RESPONSE_DONE, 200, true, 4, UINT64_MAX},
    {OK_HEAD "Content-Length: 6\r\n\r\nhello", RESPONSE_BODY, 200, true, 0, UINT64_MAX},
    {OK_HEAD "X-Request-Id: 77-12\r\nContent-Length: 0\r\n\r\n", RESPONSE_DONE, 200, true, 0, 12},
    {OK_HEAD "X-Request-Id: 77\r\nContent-Length: 0\r\n\r\n", RESPONSE_DONE, 200, true, 0, UINT64_MAX},
    {OK_HEAD "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n",
     RESPONSE_DONE, 200, true, 0, UINT64_MAX},
    {OK_HEAD "Transfer-Encoding: chunked\r\n\r\n1a\r\nabcdefghijklmnopqrstuvwxyz\r\n0\r\n\r\n", RESPONSE_DONE,
     200, true, 0, UINT64_MAX},
    {OK_HEAD "Transfer-Encoding: gzip, chunked\r\n\r\n1\r\nx\r\n0\r\nTrailer: y\r\n\r\n", RESPONSE_DONE, 200,
     true, 0, UINT64_MAX},
    {OK_HEAD "Transfer-Encoding: chunked\r\n\r\n1\r\nxy", RESPONSE_BAD, 200, true, 0, UINT64_MAX},
    {OK_HEAD "Transfer-Encoding: chunked\r\n\r\nx\r\n", RESPONSE_BAD, 200, true, 2, UINT64_MAX},
    {OK_HEAD "Transfer-Encoding: chunked\r\n\r\n\r\n", RESPONSE_BAD, 200, true, 0, UINT64_MAX},
    {OK_HEAD "Transfer-Encoding: chunked\r\n\r\n1234567890123456\r\n", RESPONSE_BAD, 200, true, 2,
     UINT64_MAX},
    {"HTTP/1.1 204 No Content\r\n\r\n", RESPONSE_DONE, 204, true, 0, UINT64_MAX},
    {"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", RESPONSE_DONE, 304, true, 0, UINT64_MAX},
    {"HTTP/1.1 101 Switching Protocols\r\n\r\n", RESPONSE_DONE, 101, false, 0, UINT64_MAX},
    {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", RESPONSE_DONE, 503, true,
     0, UINT64_MAX},
    {"HTTP/1.0 200 OK\r\n\r\nhello", RESPONSE_BODY, 200, false, 0, UINT64_MAX},
    {"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", RESPONSE_DONE, 200, false, 0, UINT64_MAX},
    {"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx", RESPONSE_DONE, 200, true, 0,
     UINT64_MAX},
    {"HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", RESPONSE_DONE, 200, true, 0, UINT64_MAX},
    {OK_HEAD "Content-Length: 5x\r\nContent-Length: 4\r\n\r\n", RESPONSE_BAD, 200, false, 0, UINT64_MAX},
    {OK_HEAD "Content-Length: -5\r\n\r\n", RESPONSE_BAD, 200, false, 0, UINT64_MAX},
    {OK_HEAD "Content-Length: 99999999999999999999\r\n\r\n", RESPONSE_BAD, 200, false, 0, UINT64_MAX},
    {"HTTP/2 200 OK\r\n\r\n", RESPONSE_BAD, 0, false, 0, UINT64_MAX},
    {"HTTP/1.1 099 Odd\r\n\r\n", RESPONSE_BAD, 0, false, 0, UINT64_MAX},
    {"HTTP/1.1 600 Odd\r\n\r\n", RESPONSE_BAD, 0, false, 0, UINT64_MAX},
    {"HTTP/1.1 abc\r\n\r\n", RESPONSE_BAD, 0, false, 0, UINT64_MAX},
    {"", RESPONSE_HEAD_STATE, 0, false, 0, UINT64_MAX},
};

/* Takes the text in pieces of that length; returns what was left over. */
static size_t take(struct http_response *answer, const char *text, size_t piece) {
    const size_t length = strlen(text);
    size_t done = 0;
    bli_http_response_init(answer);
    while (done < length && answer->state != RESPONSE_DONE && answer->state != RESPONSE_BAD) {
        const size_t part = piece < length - done ? piece : length - done;
        done += bli_http_response_parse(answer, text + done, part);
    }
    return length - done;
}

static void answers_are_read_in_any_pieces(void **state) {
    (void)state;
    struct http_response *answer = malloc(sizeof *answer);
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        for (size_t piece = 1; piece < 100; piece++) {
            const struct sample *sample = &samples[i];
            const size_t extra = take(answer, sample->text, piece);
            if (answer->state != sample->state || extra != sample->extra)
                fail_msg("in pieces of %zu: state %d, %zu left: %s", piece, answer->state, extra,
                         sample->text);
            assert_int_equal(answer->id, sample->id);
            if (sample->state == RESPONSE_BAD)
                continue;
            assert_int_equal(answer->status, sample->status);
            assert_int_equal(answer->keep, sample->keep);
        }
    free(answer);
}

static void the_end_of_a_connection_ends_only_what_has_no_length(void **state) {
    (void)state;
    struct http_response *answer = malloc(sizeof *answer);
    take(answer, "HTTP/1.1 200 OK\r\n\r\nhello", 100);
    assert_true(bli_http_response_finish(answer));
    take(answer, OK_HEAD "Content-Length: 6\r\n\r\nhello", 100);
    assert_false(bli_http_response_finish(answer));
    take(answer, OK_HEAD "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", 100);
    assert_false(bli_http_response_finish(answer));
    take(answer, "HTTP/1.1 200 OK\r\n", 100);
    assert_false(bli_http_response_finish(answer));
    free(answer);
}

/* The answer to HEAD has the length of a body that does not follow, also behind an interim answer. */
static void answers_to_head_have_no_body(void **state) {
    (void)state;
    static const char text[] = "HTTP/1.1 103 Early Hints\r\n\r\n" OK_HEAD "Content-Length: 5\r\n\r\n";
    struct http_response answer;
    bli_http_response_init(&answer);
    answer.bodiless = true;
    assert_int_equal(bli_http_response_parse(&answer, text, strlen(text)), strlen(text));
    assert_int_equal(answer.state, RESPONSE_DONE);
    assert_true(answer.status == 200 && answer.keep);
}

static void heads_without_end_are_refused(void **state) {
    (void)state;
    struct http_response *answer = malloc(sizeof *answer);
    bli_http_response_init(answer);
    for (int i = 0; i < RESPONSE_HEAD && answer->state == RESPONSE_HEAD_STATE; i++)
        bli_http_response_parse(answer, "x", 1);
    assert_int_equal(answer->state, RESPONSE_BAD);
    free(answer);
}

/* ---- URLs ---- */

static void urls_are_taken_apart(void **state) {
    (void)state;
    struct target target;
    struct bal_error err;
    assert_int_equal(bli_load_target_parse(&target, "http://127.0.0.1:8080/a?b=c#d", &err), BAL_OK);
    assert_string_equal(target.host, "127.0.0.1:8080");
    assert_string_equal(target.path, "/a?b=c");
    assert_int_equal(bli_load_target_resolve(&target, &err), BAL_OK);
    const struct sockaddr_in *address = (const void *)&target.address;
    assert_int_equal(ntohs(address->sin_port), 8080);
    assert_int_equal(ntohl(address->sin_addr.s_addr), INADDR_LOOPBACK);
    assert_int_equal(bli_load_target_parse(&target, "http://[::1]?x", &err), BAL_OK);
    assert_string_equal(target.host, "[::1]");
    assert_string_equal(target.path, "/?x");
    assert_int_equal(bli_load_target_resolve(&target, &err), BAL_OK);
    const struct sockaddr_in6 *six = (const void *)&target.address;
    assert_int_equal(six->sin6_family, AF_INET6);
    assert_int_equal(ntohs(six->sin6_port), 80);
}

static void bad_urls_are_refused(void **state) {
    (void)state;
    static const char *const bad[] = {"",
                                      "127.0.0.1",
                                      "https://127.0.0.1/",
                                      "ftp://x/",
                                      "http://",
                                      "http:///x",
                                      "http://a b/",
                                      "http://x/\r\nHost: y",
                                      "http://user@host/",
                                      "http://127.0.0.1:",
                                      "http://127.0.0.1:x",
                                      "http://127.0.0.1:65536",
                                      "http://127.0.0.1:999999",
                                      "http://[::1",
                                      "http://[::1]x",
                                      "http://:80"};
    struct bal_error err;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_not_equal(bli_load_url_check(bad[i], &err), BAL_OK);
}

/* ---- the schedule ---- */

static struct bli_load a_load(void) {
    return (struct bli_load){
        .url = {"http://a/", "http://b/", "http://c/"}, .urls = 3, .rate = 1000, .seconds = 10, .seed = 3};
}

/* How many there are, and how many of class 0; asserts order, numbers and targets. */
static uint64_t count_all(const struct bli_load *load, double from, double to, uint64_t *first_class) {
    struct schedule schedule;
    struct bal_error err;
    struct load_request request;
    double last = 0;
    uint64_t count = 0, number = 0;
    assert_int_equal(bli_load_schedule_init(&schedule, load, &err), BAL_OK);
    *first_class = 0;
    for (; bli_load_schedule_next(&schedule, &request); number++) {
        assert_true(request.time >= last);
        assert_int_equal(request.number, number);
        assert_true(request.target < load->urls);
        last = request.time;
        count += request.time >= from && request.time < to;
        *first_class += request.class_ == 0;
    }
    bli_load_schedule_fini(&schedule);
    return count;
}

/* A Poisson number of mean m lies within 5 sqrt(m) of it but for a chance of 1e-6. */
static void assert_poisson(uint64_t count, double mean) {
    assert_true(fabs((double)count - mean) < 5 * sqrt(mean));
}

static void requests_come_at_the_rate(void **state) {
    (void)state;
    struct bli_load load = a_load();
    uint64_t urgent;
    assert_poisson(count_all(&load, 0, INFINITY, &urgent), 10000);
    load.requests = 777;
    assert_int_equal(count_all(&load, 0, INFINITY, &urgent), 777);
    load.seconds = 0;
    assert_int_equal(count_all(&load, 0, INFINITY, &urgent), 777);
}

/* Of 10000 Poisson requests each URL gets a Poisson number, and so does each pair of one after the other: a
 * rotation would have only three of the nine. */
static void urls_are_drawn_by_weight(void **state) {
    (void)state;
    static const double weights[][3] = {{0, 0, 0}, {3, 1, 0.5}, {1e-6, 1e6, 1}};
    for (size_t i = 0; i < sizeof weights / sizeof *weights; i++) {
        struct bli_load load = a_load();
        double sum = 0, share[3];
        for (int k = 0; k < 3; k++)
            sum += load.weight[k] = weights[i][k];
        for (int k = 0; k < 3; k++)
            share[k] = sum > 0 ? weights[i][k] / sum : 1.0 / 3;
        struct schedule schedule;
        struct load_request request;
        struct bal_error err;
        uint64_t count[3] = {0}, pair[3][3] = {{0}};
        assert_int_equal(bli_load_schedule_init(&schedule, &load, &err), BAL_OK);
        for (unsigned before = 0; bli_load_schedule_next(&schedule, &request); before = request.target) {
            count[request.target]++;
            pair[before][request.target]++;
        }
        bli_load_schedule_fini(&schedule);
        for (int k = 0; k < 3; k++) {
            assert_true(fabs((double)count[k] - 10000 * share[k]) < 5 * sqrt(10000 * share[k]) + 5);
            for (int m = 0; m < 3; m++) {
                const double mean = 10000 * share[k] * share[m];
                assert_true(fabs((double)pair[k][m] - mean) < 7 * sqrt(mean) + 5);
            }
        }
    }
}

static void requests_follow_the_curve(void **state) {
    (void)state;
    struct bli_load load = a_load();
    struct bal_error err;
    uint64_t urgent;
    assert_int_equal(bli_curve_parse("table(0:1 5:1 5.001:3 10:3)", &load.curve, &err), BAL_OK);
    assert_poisson(count_all(&load, 0, 5, &urgent), 5000);
    assert_poisson(count_all(&load, 5, 10, &urgent), 15000);
}

static void classes_have_their_shares(void **state) {
    (void)state;
    struct bli_load load = a_load();
    load.classes = 2;
    load.class_[0] = (struct bli_load_class){1, 0.2};
    load.class_[1] = (struct bli_load_class){5, 0.8};
    uint64_t urgent;
    count_all(&load, 0, INFINITY, &urgent);
    assert_poisson(urgent, 2000);
}

static void service_times_are_those_of_the_law(void **state) {
    (void)state;
    struct bli_dist dist;
    struct bal_error err;
    assert_int_equal(bli_dist_parse("det(0.025)", &dist, &err), BAL_OK);
    struct bli_load load = a_load();
    load.service = &dist;
    struct schedule schedule;
    struct load_request request;
    assert_int_equal(bli_load_schedule_init(&schedule, &load, &err), BAL_OK);
    assert_true(bli_load_schedule_next(&schedule, &request));
    assert_true(fabs(request.service - 25000) < 1e-6);
    bli_load_schedule_fini(&schedule);
}

/* A recorded job every second, the third of them urgent. */
static void recorded_requests_come_as_recorded(void **state) {
    (void)state;
    struct bal_error err;
    struct bli_trace *trace;
    assert_int_equal(bli_trace_new(NULL, &trace, &err), BAL_OK);
    for (int i = 0; i < 5; i++) {
        const struct bli_trace_job job = {.time = INT64_C(1700000000000000000) + i * INT64_C(1000000000),
                                          .size = 20000000,
                                          .high = i == 2,
                                          .request = (uint32_t)i};
        assert_int_equal(bli_trace_add(trace, &job, &err), BAL_OK);
    }
    assert_int_equal(bli_trace_finish(trace, NULL, &err), BAL_OK);
    struct bli_load load = a_load();
    load.trace = trace;
    load.speedup = 4;
    load.recorded = true;
    load.classes = 2;
    load.class_[0] = (struct bli_load_class){1, 0.5};
    load.class_[1] = (struct bli_load_class){5, 0.5};
    struct schedule schedule;
    struct load_request request;
    assert_int_equal(bli_load_schedule_init(&schedule, &load, &err), BAL_OK);
    for (int i = 0; i < 5; i++) {
        assert_true(bli_load_schedule_next(&schedule, &request));
        assert_true(fabs(request.time - 0.25 * i) < 1e-6);
        assert_true(fabs(request.service - 20000) < 1e-6);
        assert_int_equal(request.class_, i != 2);
        assert_int_equal(request.recorded, i);
    }
    assert_false(bli_load_schedule_next(&schedule, &request));
    bli_load_schedule_fini(&schedule);
    bli_trace_free(trace);
}

/* ---- what is counted, and what is said of it ---- */

struct counted {
    struct bli_load load;
    struct bli_load_result result;
    struct request_tally tally;
};

static struct counted *begin_counting(void) {
    struct counted *counted = calloc(1, sizeof *counted);
    assert_non_null(counted);
    counted->load = a_load();
    bli_load_tally_begin(&counted->tally, &counted->load, &counted->result, 10);
    return counted;
}

static void end_counting(struct counted *counted) {
    bli_load_result_fini(&counted->result);
    free(counted);
}

/* So many good answers that took so long, evenly over the schedule, each sent so late. */
static void count_good(struct counted *counted, int count, double latency, double late) {
    for (int i = 0; i < count; i++) {
        const struct load_request request = {.time = 10.0 * i / count};
        assert_true(bli_load_tally_answer(&counted->tally, &request, 200, request.time + latency));
        bli_load_tally_late(&counted->tally, late);
        counted->result.due++;
    }
}

static void latency_counts_from_the_schedule(void **state) {
    (void)state;
    struct counted *counted = begin_counting();
    const struct load_request request = {.time = 2, .class_ = 1};
    assert_true(bli_load_tally_answer(&counted->tally, &request, 200, 2.5));
    assert_true(bli_load_tally_answer(&counted->tally, &request, 503, 2.001));
    bli_load_tally_error(&counted->tally, &request, BLI_LOAD_TIMEOUT, 1);
    assert_true(fabs(counted->result.good.sum - 0.5) < 1e-12);
    assert_int_equal(counted->result.good.count, 1);
    assert_int_equal(counted->result.class_[1].count, 1);
    assert_int_equal(counted->result.failed[1], 2);
    assert_int_equal(counted->result.status[503]->count, 1);
    assert_true(fabs(counted->result.status[503]->most - 0.001) < 1e-12);
    assert_int_equal(counted->result.error[BLI_LOAD_TIMEOUT], 1);
    end_counting(counted);
}

/* Blocks of 1 and 3 seconds in turn: the mean is 2, and its interval that of ten independent pairs. */
static void the_interval_is_that_of_blocks(void **state) {
    (void)state;
    struct counted *counted = begin_counting();
    for (int i = 0; i < 2000; i++) {
        const struct load_request request = {.time = i * 0.005};
        const double latency = i / 100 % 2 ? 3 : 1;
        assert_true(bli_load_tally_answer(&counted->tally, &request, 200, request.time + latency));
    }
    bli_load_tally_close(&counted->tally);
    assert_true(fabs(counted->result.mean.mean - 2) < 1e-9);
    /* Standard deviation of the 20 blocks sqrt(20/19), Student's t with 19 degrees of freedom 2.093. */
    assert_true(fabs(counted->result.mean.half_width - 2.093 * sqrt(20.0 / 19 / 20)) < 1e-3);
    end_counting(counted);
}

static bool is_said(const struct counted *counted, const char *what) {
    char text[BLI_LOAD_WARNING];
    for (unsigned i = 0; bli_load_warning(&counted->load, &counted->result, i, text); i++)
        if (strstr(text, what))
            return true;
    return false;
}

static void a_late_generator_is_told(void **state) {
    (void)state;
    struct counted *counted = begin_counting();
    count_good(counted, 1000, 0.05, 0.001); /* 2 % */
    assert_false(is_said(counted, "was late"));
    count_good(counted, 15, 0.06, 0.02); /* in the last percent a third */
    assert_true(is_said(counted, "p99 "));
    end_counting(counted);
    counted = begin_counting();
    count_good(counted, 1000, 0.01, 0.002); /* a fifth */
    assert_true(is_said(counted, "p50 "));
    end_counting(counted);
    counted = begin_counting();
    count_good(counted, 1000, 0.0002, 0.00005); /* that cannot be told from nothing */
    assert_false(is_said(counted, "was late"));
    end_counting(counted);
}

static void what_was_not_sent_is_told(void **state) {
    (void)state;
    struct counted *counted = begin_counting();
    count_good(counted, 100, 0.05, 0.0001);
    assert_false(is_said(counted, ""));
    const struct load_request request = {.time = 2};
    bli_load_tally_error(&counted->tally, &request, BLI_LOAD_UNSENT, 1);
    assert_true(is_said(counted, "schedule could not be kept"));
    counted->result.held_back = 1;
    assert_true(is_said(counted, "had to wait for one of"));
    counted->result.strange = 1;
    assert_true(is_said(counted, "X-Request-Id of another"));
    end_counting(counted);
}

/* ---- connections ---- */

/* Answers one after the other, each after 10 ms, and closes. */
static _Noreturn void serve(int listener) {
    static const char answer[] = OK_HEAD "Connection: close\r\nContent-Length: 0\r\n\r\n";
    for (;;) {
        char request[2000];
        const int fd = accept(listener, NULL, NULL);
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        if (read(fd, request, sizeof request) <= 0 || write(fd, answer, strlen(answer)) < 0)
            _exit(1);
        close(fd);
    }
}

/* After a tenth of a second there is another process, which has all that is open then. */
static double start_another(void *context, double now) {
    pid_t *other = context;
    if (now < 0.1)
        return 0.1;
    *other = fork();
    while (*other == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0)
        pause();
    return INFINITY;
}

static void end_process(pid_t pid) {
    if (pid <= 0)
        return;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

/* Whoever calls may start processes, and they have its connections until they do something else: what is
 * closed here is not told of again, neither once nor without end. */
static void connections_that_another_process_has_are_closed(void **state) {
    (void)state;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof at;
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(listener, (const struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(listener, 100), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &length), 0);
    const pid_t server = fork();
    if (server == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        serve(listener);
    }
    char url[60];
    pid_t other = 0;
    snprintf(url, sizeof url, "http://127.0.0.1:%u/", ntohs(at.sin_port));
    struct bli_load load = a_load();
    load.url[0] = url;
    load.urls = 1;
    load.rate = 200;
    load.seconds = 0;
    load.requests = 60;
    load.timeout = 100;
    load.connections = 100;
    load.event = start_another;
    load.context = &other;
    struct bli_load_result *result = calloc(1, sizeof *result);
    struct bal_error err = {0};
    const clock_t before = clock();
    const enum bal_code code = bli_load_run(&load, result, &err);
    const clock_t used = clock() - before;
    end_process(server);
    end_process(other);
    close(listener);
    assert_int_equal(code, BAL_OK);
    assert_int_equal(result->due, 60);
    for (unsigned i = 0; i < BLI_LOAD_ERRORS; i++)
        assert_int_equal(result->error[i], 0);
    assert_true(used < CLOCKS_PER_SEC / 5); /* of half a second that it waits */
    bli_load_result_fini(result);
    free(result);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(connections_that_another_process_has_are_closed),
        cmocka_unit_test(answers_are_read_in_any_pieces),
        cmocka_unit_test(the_end_of_a_connection_ends_only_what_has_no_length),
        cmocka_unit_test(answers_to_head_have_no_body),
        cmocka_unit_test(heads_without_end_are_refused),
        cmocka_unit_test(urls_are_taken_apart),
        cmocka_unit_test(bad_urls_are_refused),
        cmocka_unit_test(requests_come_at_the_rate),
        cmocka_unit_test(urls_are_drawn_by_weight),
        cmocka_unit_test(requests_follow_the_curve),
        cmocka_unit_test(classes_have_their_shares),
        cmocka_unit_test(service_times_are_those_of_the_law),
        cmocka_unit_test(recorded_requests_come_as_recorded),
        cmocka_unit_test(latency_counts_from_the_schedule),
        cmocka_unit_test(the_interval_is_that_of_blocks),
        cmocka_unit_test(a_late_generator_is_told),
        cmocka_unit_test(what_was_not_sent_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
