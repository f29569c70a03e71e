/* SPDX-License-Identifier: BSD-2-Clause */
/* ballast load URL...: open-loop load on real servers. */
#include "commands.h"

#include "ballast/load.h"
#include "question/read_logs.h"
#include "report/load_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_SECONDS 10

struct args {
    struct bli_log_request log; /* first: its setters take the whole */
    const char *replay;         /* a log; NULL: none */
    struct bli_load load;
    struct bli_dist service;
    double requests, connections;
};

/* ---- options ---- */

static enum bal_code set_service(void *into, const char *value, struct bal_error *err) {
    struct args *args = into;
    args->load.service = &args->service;
    return bli_dist_parse(value, &args->service, err);
}

static enum bal_code set_class(void *into, const char *value, struct bal_error *err) {
    static const struct bli_option_range range = {0, 1, false, ""};
    struct bli_load *load = &((struct args *)into)->load;
    struct bli_load_class *class_ = &load->class_[load->classes];
    if (load->classes == BLI_LOAD_CLASSES)
        return bal_fail(err, BAL_E_RANGE, "too many; there are urgencies from 0 to 7");
    if (value[0] < '0' || value[0] > '7' || value[1] != '=' ||
        bli_option_number(value + 2, &range, &class_->share, NULL))
        return bal_fail(err, BAL_E_SYNTAX, "not an urgency from 0 to 7 and its share, such as 1=0.2");
    class_->urgency = (unsigned)(value[0] - '0');
    load->classes++;
    return BAL_OK;
}

static enum bal_code set_header(void *into, const char *value, struct bal_error *err) {
    struct bli_load *load = &((struct args *)into)->load;
    if (load->headers == BLI_LOAD_HEADERS)
        return bal_fail(err, BAL_E_RANGE, "too many; at most %d can be sent", BLI_LOAD_HEADERS);
    const size_t name = strcspn(value, ": ");
    if (name == 0 || value[name] != ':' || strlen(value) > 400 || strpbrk(value, "\r\n"))
        return bal_fail(err, BAL_E_SYNTAX, "not a header such as 'Accept: text/html' (at most 400 bytes)");
    load->header[load->headers++] = value;
    return BAL_OK;
}

/* A word of capital letters, such as POST. */
static enum bal_code set_method(void *into, const char *value, struct bal_error *err) {
    const size_t length = strspn(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-_");
    if (length == 0 || length > 16 || value[length] || strcmp(value, "CONNECT") == 0)
        return bal_fail(err, BAL_E_SYNTAX, "not a method such as GET, HEAD or POST");
    ((struct args *)into)->load.method = value;
    return BAL_OK;
}

static enum bal_code set_body(void *into, const char *value, struct bal_error *err) {
    static const struct bli_option_range range = {0, 1e9, true, "a whole number of bytes from 0 to 1G"};
    double bytes = 0;
    const enum bal_code code = bli_option_number(value, &range, &bytes, err);
    ((struct args *)into)->load.body = (uint64_t)bytes;
    return code;
}

static const struct bli_option options[] = {
    {"rate", "R", "requests per second (default 100)",
     BLI_STORES_NUMBER(struct args, load.rate, 1e-3, 1e6, "a number from 0.001 to 1M")},
    {"seconds", "T", "send for so long (default 10, unless --requests is given)",
     BLI_STORES_NUMBER(struct args, load.seconds, 1e-3, 1e7, "a number of seconds from 0.001 to 10M")},
    {"requests", "N", "end after so many",
     BLI_STORES_WHOLE(struct args, requests, 1, 1e12, "a whole number from 1")},
    {.setting = "arrivals",
     .help = "how requests come: poisson, mmpp(R1,T1;R2,T2;...), renewal(LAW) or batch(LAW)"},
    {.setting = "curve", .help = "rate over time in seconds: sine(A,P), table(T:F ...), file(PATH)"},
    {"service", "LAW", "draw service times, in seconds, and tell servers in X-Service: exp(0.02), ...",
     set_service},
    {"class", "U=SHARE", "requests of this urgency, sent as Priority: u=U; repeat it: 1=0.2", set_class},
    {"header", "LINE", "a header to send: 'Accept: text/html'; repeat it", set_header},
    {"method", "METHOD", "of all requests (default GET; of --replay: as logged)", set_method},
    {"body", "BYTES", "how long the bodies of POST, PUT and PATCH are (default 0)", set_body},
    {"connections", "N", "at most so many at a time (default 1000)",
     BLI_STORES_WHOLE(struct args, connections, 1, 1e6, "a whole number from 1 to 1M")},
    {"timeout", "T", "seconds to wait for an answer, from the intended time (default 10)",
     BLI_STORES_NUMBER(struct args, load.timeout, 1e-3, 1e5, "a number of seconds from 0.001 to 100k")},
    {"fresh", NULL, "a new connection for each request", BLI_STORES_FLAG(struct args, load.fresh)},
    {"no-resend", NULL, "a kept connection that closes without an answer is an error",
     BLI_STORES_FLAG(struct args, load.no_resend)},
    {"replay", "LOG", "send what an access log has: methods, paths, times, service times",
     BLI_STORES_TEXT(struct args, replay)},
    {"speedup", "X", "of --replay: X times as fast as recorded (default 1)",
     BLI_STORES_NUMBER(struct args, load.speedup, 1e-6, 1e6, "a number from 1e-6 to 1M")},
    BLI_SEED_OPTION,
    BLI_LOG_OPTIONS,
    BLI_OUTPUT_OPTIONS,
};

/* ---- the work ---- */

static int check_classes(const struct bli_load *load) {
    double sum = 0;
    for (size_t i = 0; i < load->classes; i++) {
        sum += load->class_[i].share;
        for (size_t k = 0; k < i; k++)
            if (load->class_[k].urgency == load->class_[i].urgency)
                return cli_fail("--class: urgency %u is given twice", load->class_[i].urgency);
    }
    return load->classes && fabs(sum - 1) > 1e-9 ? cli_fail("--class: the shares sum to %g, not to 1", sum)
                                                 : -1;
}

/* What a log has cannot be asked for in another way. Fills in the defaults. */
static int check_replay(struct args *args) {
    struct bli_load *load = &args->load;
    const struct bli_request *common = &args->log.common;
    if (!args->replay && (load->speedup > 0 || args->log.log.high_pattern))
        return cli_fail("--speedup and --high are about a log; add --replay LOG");
    if (args->replay && (load->rate > 0 || load->service || bli_request_has(common, "arrivals") ||
                         bli_request_has(common, "curve")))
        return cli_fail("--replay: the log says when requests come and how long they take; leave out --rate, "
                        "--arrivals, --curve and --service");
    load->recorded = args->log.log.high_pattern != NULL;
    if (load->recorded && load->classes == 0) {
        load->class_[0] = (struct bli_load_class){.urgency = 1};
        load->class_[1] = (struct bli_load_class){.urgency = 5};
        load->classes = 2;
    }
    if (load->recorded && load->classes != 2)
        return cli_fail("--high: what matches is of the first of two classes; write two, such as --class 1=1 "
                        "--class 5=0, or none");
    args->log.requests = args->replay != NULL;
    load->rate = load->rate > 0 ? load->rate : 100;
    load->speedup = load->speedup > 0 ? load->speedup : 1;
    return -1;
}

/* [WEIGHT=]URL. */
static int read_target(struct bli_load *load, size_t i, char *given) {
    static const struct bli_option_range range = {1e-6, 1e6, false, "a number from 1e-6 to 1M"};
    struct bal_error err = {0};
    const size_t length = strcspn(given, "=:/");
    load->url[i] = given;
    if (given[length] == '=') {
        given[length] = 0;
        const enum bal_code code = bli_option_number(given, &range, &load->weight[i], &err);
        given[length] = '=';
        if (code)
            return cli_fail("'%s': the weight in front of = is %s", given, err.text);
        load->url[i] = given + length + 1;
    }
    return bli_load_url_check(load->url[i], &err) ? cli_fail("%s", err.text) : -1;
}

/* A URL without a weight has 1, if others have one. */
static int read_targets(struct bli_load *load, char **given, int count) {
    bool weighted = false;
    load->urls = (size_t)count;
    for (size_t i = 0; i < load->urls; i++) {
        const int status = read_target(load, i, given[i]);
        if (status >= 0)
            return status;
        weighted = weighted || load->weight[i] > 0;
    }
    for (size_t i = 0; i < load->urls && weighted; i++)
        load->weight[i] = load->weight[i] > 0 ? load->weight[i] : 1;
    return -1;
}

/* What was asked, whole. */
static int check_args(struct args *args, char **urls, int count) {
    struct bli_load *load = &args->load;
    if (count == 0)
        return cli_fail("load: a URL is missing: ballast load http://127.0.0.1:8080/ --rate 100");
    int status = read_targets(load, urls, count);
    if (status >= 0)
        return status;
    load->arrivals = args->log.common.draft.c.model.arrivals;
    load->curve = args->log.common.draft.c.model.curve;
    load->requests = (uint64_t)args->requests;
    load->connections = (unsigned)args->connections;
    load->seed = (uint64_t)args->log.common.seed;
    load->stop = cli_stop_flag();
    if (load->seconds <= 0 && load->requests == 0 && !args->replay)
        load->seconds = DEFAULT_SECONDS;
    status = check_classes(load);
    return status < 0 ? check_replay(args) : status;
}

static void show_progress(void *context, double part, uint64_t sent, uint64_t failed) {
    struct cli_progress *progress = context;
    snprintf(progress->note, sizeof progress->note, "%llu sent, %llu failed", (unsigned long long)sent,
             (unsigned long long)failed);
    cli_progress_show(progress, part);
}

static int run_load(struct args *args, struct bli_load_result *result, struct cli_output *output) {
    struct cli_progress progress;
    struct bal_error err = {0};
    cli_catch_signals();
    cli_progress_start(&progress, args->log.common.quiet);
    args->load.progress = show_progress;
    args->load.progress_context = &progress;
    const enum bal_code code = bli_load_run(&args->load, result, &err);
    cli_progress_end(&progress);
    if (code) {
        cli_output_discard(output);
        return cli_fail("%s", err.text);
    }
    bli_load_print(&args->load, result, BLI_ROWS(args->log.common.format, output->stream));
    const int status = cli_output_close(output);
    char warning[BLI_LOAD_WARNING];
    for (unsigned i = 0; bli_load_warning(&args->load, result, i, warning); i++)
        cli_warn("%s", warning);
    if (status == CLI_OK && result->stopped)
        cli_warn("interrupted; what was measured until then has been printed");
    return status == CLI_OK && result->stopped ? CLI_INTERRUPTED : status;
}

/* What cannot be sent as it was logged is sent as without a log. */
static void warn_of_unsendable(const struct bli_load *load, const struct bli_log_summary *summary) {
    if (summary->unsendable > 0 && summary->unsendable < summary->jobs)
        cli_warn(
            "%llu of %llu requests of the log have no method and path that can be sent again; they go as "
            "%s to the path of the URL",
            (unsigned long long)summary->unsendable, (unsigned long long)summary->jobs,
            load->method ? load->method : "GET");
}

/* The texts of the requests, by number; NULL without memory. */
static const char **list_requests(const struct bli_log_servers *requests) {
    const size_t count = bli_log_servers_count(requests);
    const char **list = calloc(count + 1, sizeof *list);
    for (uint32_t i = 0; list && i < count; i++)
        list[i] = bli_log_servers_name(requests, i);
    return list;
}

/* Reads the log if there is one, then sends. */
static int read_and_run(struct args *args, struct bli_load_result *result, struct cli_output *output) {
    if (!args->replay)
        return run_load(args, result, output);
    struct bli_logs logs;
    int status = cli_read_logs(&args->log, &args->replay, 1, &logs);
    const char **requests = status < 0 ? list_requests(logs.requests) : NULL;
    if (status < 0 && !requests)
        status = cli_no_memory();
    if (status < 0) {
        warn_of_unsendable(&args->load, &logs.summary);
        args->load.trace = logs.trace;
        args->load.recorded_request = requests;
        status = run_load(args, result, output);
    } else {
        cli_output_discard(output);
    }
    free(requests);
    bli_logs_fini(&logs);
    return status;
}

static int check_output(const struct args *args) {
    struct bal_error err = {0};
    const char *const log = args->replay;
    return bli_check_not_logs("--output", args->log.common.output, &log, log ? 1 : 0, &err)
               ? cli_fail("%s", err.text)
               : -1;
}

static int load_main(const struct cli_command *command, int argc, char **argv) {
    struct args *args = calloc(1, sizeof *args);
    struct bli_load_result *result = calloc(1, sizeof *result);
    int status = CLI_BAD_INPUT, urls;
    struct cli_output output;
    if (!args || !result) {
        status = cli_no_memory();
        goto out;
    }
    struct bli_options table;
    cli_command_options(command, &table);
    bli_request_init(&args->log.common, &table);
    args->load.timeout = 10;
    args->connections = 1000;
    status = cli_parse(command, argc, argv, args, BLI_LOAD_TARGETS, &urls);
    if (status < 0)
        status = check_args(args, argv + 1, urls);
    if (status < 0)
        status = check_output(args);
    if (status >= 0)
        goto out;
    status = cli_output_open(&output, args->log.common.output);
    if (status == CLI_OK)
        status = read_and_run(args, result, &output);
out:
    if (result)
        bli_load_result_fini(result);
    free(result);
    free(args);
    return status;
}

const struct cli_command cmd_load = {
    .name = "load",
    .summary = "send open-loop HTTP load to real servers and measure their answers",
    .operands = "[WEIGHT=]URL...",
    .description = "Sends HTTP/1.1 requests at times that do not depend on the answers, as real clients do, "
                   "each to one of\n"
                   "the URLs drawn at random (3=URL has weight 3), and tells what came back and how long it "
                   "took: from the\n"
                   "intended time of sending to the last byte. Each request has an X-Request-Id of its own. "
                   "What the\n"
                   "generator itself added is shown as `late`; when it could not keep its schedule it says "
                   "so.",
    .examples =
        "  ballast load http://127.0.0.1:8080/ --rate 200 --seconds 30\n"
        "  ballast load http://127.0.0.1:8080/ --rate 50 --service 'exp(0.02)' --class 1=0.2 --class 5=0.8\n"
        "  ballast load 3=http://10.0.0.1/ http://10.0.0.2/ --rate 1k --arrivals 'mmpp(1,5;4,1)'\n"
        "  ballast load http://127.0.0.1:8080/ --replay access.log --speedup 2 --body 2k\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = load_main,
};
