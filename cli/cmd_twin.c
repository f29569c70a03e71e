/* SPDX-License-Identifier: BSD-2-Clause */
/* ballast twin: what would another policy do with the traffic of the last minutes? */
#include "commands.h"

#include "base/strbuf.h"
#include "format/file.h"
#include "plugin/loader.h"
#include "question/read_logs.h"
#include "report/twin_report.h"
#include "twin/fetch_requests.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    LINE_BYTES = 512, /* bytes of a log that are read for each request of the capacity */
    POLL_MS = 200,    /* how often new lines are looked for ... */
    ASK_MS = 1000,    /* ... and records are asked for */
};
#define PATIENCE 5.0 /* seconds, when a dispatcher is polled */

struct args {
    struct bli_log_request log; /* first: its setters take the whole */
    const char *path;           /* of the log that is followed; NULL: none is */
    const char *url;            /* of ballast_status; NULL: no dispatcher is polled */
    struct bal_policy_spec now;
    bool has_now;
    double window, every, share, keep, fewer, traffic;
    const char *publish;
    bool once, nginx;
    struct bli_strbuf command;
};

/* ---- options ---- */

static enum bal_code set_log(void *into, const char *value, struct bal_error *err) {
    if (*value == 0 || strcmp(value, "-") == 0)
        return bal_fail(err, BAL_E_SYNTAX, "name a file: what comes through a pipe does not grow");
    ((struct args *)into)->path = value;
    return BAL_OK;
}

static enum bal_code set_now(void *into, const char *value, struct bal_error *err) {
    struct args *args = into;
    const enum bal_code code = bli_plugin_is_path(value) ? bli_plugin_parse(value, &args->now, err)
                                                         : bal_policy_parse(value, &args->now, err);
    args->has_now = !code;
    if (!code)
        bal_policy_wait_for_power(&args->now);
    return code;
}

static enum bal_code set_policy(void *into, const char *value, struct bal_error *err) {
    struct bli_request *common = into;
    const enum bal_code code = bli_request_set_policy(into, value, err);
    if (!code)
        bal_policy_wait_for_power(&common->policy[common->policies - 1]);
    return code;
}

static enum bal_code set_length(const char *value, double low, double high, double *seconds,
                                struct bal_error *err) {
    double length = 0;
    const enum bal_code code = bli_duration_parse(value, &length, err);
    if (!code && !(length >= low && length <= high))
        return bal_fail(err, BAL_E_RANGE, "a length of time from %gs to %gs is wanted", low, high);
    if (!code)
        *seconds = length;
    return code;
}

static enum bal_code set_window(void *into, const char *value, struct bal_error *err) {
    return set_length(value, 1, 86400, &((struct args *)into)->window, err);
}

static enum bal_code set_every(void *into, const char *value, struct bal_error *err) {
    return set_length(value, 0.1, 3600, &((struct args *)into)->every, err);
}

static const struct bli_option options[] = {
    {"log", "FILE", "the access log that is followed, as tail -F does", set_log},
    {"from", "URL",
     "ballast_status of the dispatcher: its records (record=N), unless --log; policy, slots, servers",
     BLI_STORES_TEXT(struct args, url)},
    {"current-policy", "POLICY",
     "what the fleet runs: a policy of the lab, or least_conn, ... (default: not known)", set_now},
    {"policy", "POLICY", "ask about this one; repeat it (default: all that nginx can run)", set_policy},
    {"remove-servers", "K", "ask about K servers fewer (default 2; 0: do not)",
     BLI_STORES_WHOLE(struct args, fewer, 0, 1e6, "a whole number from 0 (not asked) to 1M")},
    {"traffic-factor", "X", "ask about X times the traffic (default 2; 1: do not)",
     BLI_STORES_WHOLE(struct args, traffic, 1, 100, "a whole number from 1 (not asked) to 100")},
    {"window", "TIME", "the requests of so long a time (default 5min)", set_window},
    {"every", "TIME", "answer again after this time (default 5s)", set_every},
    {"share", "X", "of one core that it may use (default 0.25)",
     BLI_STORES_NUMBER(struct args, share, 1e-3, 1, "a share of a core from 0.001 to 1, such as 0.25")},
    {"keep", "N", "room for so many requests, 72 bytes each (default 200k)",
     BLI_STORES_WHOLE(struct args, keep, 1000, 1e8, "a whole number from 1000 to 100M")},
    {"publish", "FILE", "write each answer there as JSON, whole or not at all",
     BLI_STORES_TEXT(struct args, publish)},
    {"once", NULL, "answer once, by the end of the log as it is, and end",
     BLI_STORES_FLAG(struct args, once)},
    {"nginx", NULL, "print the upstream block for what is recommended, too",
     BLI_STORES_FLAG(struct args, nginx)},
    {.subject = "fleet"},
    {.setting = "servers",
     .default_value = "",
     .help = "a number, or COUNTxSPEED,... (default: as many as the log names)"},
    {.setting = "slots"},
    {"speeds", "S",
     "how fast a server is by the number in service: cores(4), batch(8,0.15), table(...); find: as the "
     "requests say",
     bli_request_set_log_speeds},
    {.setting = "discipline",
     .help = "ps: servers share; lifo: last come, first served; with --high: auto, fifo, preemptive or "
             "nonpreemptive"},
    {"standby", "TIME", "tabs: idle time before a server switches off: 10s, or a law: exp(60)",
     bli_request_set_standby},
    {"setup", "TIME", "tabs: time to switch a server on: 5s, or a law in seconds", bli_request_set_setup},
    {.subject = "network"},
    {.setting = "dispatchers"},
    {.setting = "delay",
     .help = "seconds that every message takes, and a job and its response: 0.001, exp(0.001)"},
    {.setting = "loss"},
    {.setting = "heartbeat",
     .help = "seconds after which each server tells each dispatcher again what is so (docs/network.md)"},
    {.setting = "timeout", .help = "seconds that a job waits for replies to probes"},
    BLI_LOG_FIELDS_OPTIONS,
    BLI_LOG_CHOICE_OPTIONS,
    BLI_ANSWER_SUBJECT,
    BLI_SEED_OPTION,
    {"format", "FORM", "text, or json, an object a line (default text)",
     BLI_STORES_FORM(struct bli_request, format)},
    {"quiet", NULL, "answers one below the other, also on a terminal",
     BLI_STORES_FLAG(struct bli_request, quiet)},
};

/* ---- the work ---- */

struct twin_work {
    struct args *args;
    struct bal_policy_spec policy[BLI_REQUEST_POLICIES];
    size_t policies;
    struct bli_log_options log; /* what is read, and how it is read */
    struct bli_log_summary summary;
    struct bli_log_servers *servers;
    struct bli_log_tail *follow;
    struct bli_remote remote;
    char class[BLI_RING_NAME]; /* the value of its class=; "": none */
    bool options_known;
    char options[BLI_RING_OPTIONS]; /* of its directive */
    double asked_at;                /* when it was asked last */
    struct bal_error trouble;       /* it could not be */
    struct bli_twin *twin;
    uint64_t seen;  /* requests by the last look */
    double seen_at; /* when the last of them was read; seconds as of seconds_now() */
    double began;   /* likewise */
    double spent;   /* processor time when it began */
    size_t next;    /* the row that is evaluated next, in addition to the first */
};

static double clock_seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double seconds_now(void) {
    return clock_seconds(CLOCK_MONOTONIC);
}

static double processor_now(void) {
    return clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
}

static bool has_speeds(const struct args *args) {
    return args->log.find_speeds || bli_speeds_given(&args->log.common.draft.c.model.speeds);
}

/* Recorded requests have their class. */
static bool is_ranked(const struct args *args) {
    return args->url && !args->path;
}

static void add_policy(struct twin_work *work, const char *name) {
    if (bal_policy_parse(name, &work->policy[work->policies], NULL) == BAL_OK)
        work->policies++;
}

/* By default: what the module can run in front of plain servers, and two more that work well there. The first
 * one is what most fleets run; the others are compared with it if the present policy is unknown. */
static void choose_policies(struct twin_work *work) {
    const struct bli_request *common = &work->args->log.common;
    memcpy(work->policy, common->policy, sizeof work->policy);
    work->policies = common->policies;
    if (common->policies > 0)
        return;
    const bool classes = work->args->log.log.high_pattern || is_ranked(work->args);
    const unsigned beyond = BAL_CAN_WORK | BAL_CAN_POWER | BAL_CAN_MOVE;
    add_policy(work, "least-conn");
    add_policy(work, "jiq:else=least-conn");
    add_policy(work, "jiq:else=hold");
    for (size_t i = 0; i < bal_policy_count && work->policies < BLI_REQUEST_POLICIES; i++) {
        struct bal_policy_spec spec;
        if (bal_policy_parse(bal_policy_table[i]->name, &spec, NULL) || bal_policy_needs(&spec) & beyond)
            continue;
        if ((bal_policy_flags(&spec) & BAL_TAKES_RANKS && !classes) ||
            strcmp(spec.policy->name, "least-conn") == 0 ||
            !bli_simulate_is_distinct(&common->draft.c.model, spec.policy))
            continue;
        work->policy[work->policies++] = spec;
    }
}

static enum bal_code add_record(void *context, const struct bli_log_record *record, struct bal_error *err) {
    struct twin_work *work = context;
    struct bli_trace_job jobs[BLI_LOG_TRIES];
    const unsigned count = bli_recover_jobs(record, jobs);
    (void)err;
    for (unsigned i = 0; i < count; i++)
        bli_recent_add(&work->twin->window, &jobs[i]);
    return BAL_OK;
}

/* A failure after a request to stop is not a failure. */
static int fail_unless_ended(const char *where, const struct bal_error *err) {
    return *cli_stop_flag() ? CLI_OK : cli_fail("%s%s", where, err->text);
}

/* Standby and set-up times cannot be inferred from requests. */
static enum bal_code check_power(const struct twin_work *work, const struct bal_policy_spec *policy,
                                 struct bal_error *err) {
    const struct bli_model *model = &work->args->log.common.draft.c.model;
    if (!policy->policy->power || (model->standby.mean > 0 && model->setup.mean > 0))
        return BAL_OK;
    return bal_fail(
        err, BAL_E_MODEL,
        "policy '%s' switches servers off; say after which idle time, and how long a start takes: "
        "--standby 10s --setup 5s",
        policy->policy->name);
}

/* ---- whom to ask ---- */

/* What the dispatcher reports about its fleet, unless the command line gives it. */
static enum bal_code ask_fleet(struct twin_work *work, struct bal_error *err) {
    const struct args *args = work->args;
    const struct bli_request *common = &args->log.common;
    struct bli_ring_fleet fleet;
    struct bli_twin_fleet told = {.now = args->now};
    struct bli_log_servers *names = NULL;
    enum bal_code code = args->path ? BAL_OK : bli_log_servers_new(&names, err);
    if (!code)
        code = bli_remote_fleet(&work->remote, PATIENCE, &fleet, names, err);
    if (!code && !args->has_now) {
        code = bal_policy_parse(fleet.policy, &told.now, err);
        if (!code)
            bal_policy_wait_for_power(&told.now);
        if (!code)
            code = check_power(work, &told.now, err);
    }
    if (!code && names) {
        bli_log_servers_free(work->servers);
        work->servers = names;
        names = NULL;
    }
    if (!code) {
        told.slots = bli_request_has(common, "slots") ? 0 : fleet.slots;
        told.servers = bli_request_has(common, "servers") ? 0 : fleet.servers;
        told.away = fleet.away;
        told.stations = fleet.stations;
        bli_twin_change(work->twin, &told);
        memcpy(work->class, fleet.class, sizeof work->class);
        memcpy(work->options, fleet.options, sizeof work->options);
        work->options_known = fleet.options_known;
    }
    bli_log_servers_free(names);
    return code;
}

static enum bal_code ask_records(struct twin_work *work, struct bal_error *err) {
    work->asked_at = seconds_now();
    return bli_remote_poll(&work->remote, PATIENCE, &work->twin->window, err);
}

/* A dispatcher that does not answer at the start is probably a wrong address. */
static int start_remote(struct twin_work *work) {
    struct bal_error err = {0};
    enum bal_code code = bli_remote_open(&work->remote, work->args->url, &err);
    if (!code && !work->args->path)
        code = ask_records(work, &err);
    if (!code)
        code = ask_fleet(work, &err);
    return code ? fail_unless_ended("--from: ", &err) : -1;
}

/* Returns -1 to go on, or the exit status. */
static int start_twin(struct twin_work *work) {
    struct args *args = work->args;
    const struct bli_request *common = &args->log.common;
    struct bal_error err = {0};
    choose_policies(work);
    if (args->has_now && check_power(work, &args->now, &err))
        return cli_fail("--current-policy: %s", err.text);
    for (size_t i = 0; i < work->policies; i++)
        if (check_power(work, &work->policy[i], &err))
            return cli_fail("--policy: %s", err.text);
    struct bli_twin_options asked = {
        .model = common->draft.c.model,
        .servers_given = bli_request_has(common, "servers"),
        .slots_given = bli_request_has(common, "slots"),
        .find_speeds = args->log.find_speeds,
        .has_now = args->has_now,
        .now = args->now,
        .policy = work->policy,
        .policies = work->policies,
        .fewer = (uint32_t)args->fewer,
        .traffic = (unsigned)args->traffic,
        .window = args->window,
        .keep_waiting = args->log.keep_waiting,
        .ranked = is_ranked(args),
        .seed = (uint64_t)common->seed,
        .stop = cli_stop_flag(),
    };
    asked.model.classes = args->log.log.high_pattern;
    work->log = args->log.log;
    work->log.seed = (uint64_t)common->seed;
    work->log.take = add_record;
    work->log.take_context = work;
    work->log.stop = cli_stop_flag();
    if (bli_twin_new(&asked, (size_t)args->keep, &work->twin, &err) ||
        bli_log_servers_new(&work->servers, &err))
        return cli_fail("%s", err.text);
    work->log.servers = work->servers;
    if (args->path && bli_log_tail_new(args->path, LINE_BYTES * (uint64_t)args->keep, &work->log,
                                       &work->summary, &work->follow, &err))
        return fail_unless_ended("--log: ", &err);
    return args->url ? start_remote(work) : -1;
}

static void free_work(struct twin_work *work) {
    bli_log_tail_free(work->follow);
    bli_log_summary_fini(&work->summary);
    bli_log_servers_free(work->servers);
    bli_twin_free(work->twin);
}

/* ---- rounds ---- */

static enum bal_code read_log(struct twin_work *work, struct bal_error *err) {
    struct bli_twin *twin = work->twin;
    enum bal_code code = bli_log_tail_poll(work->follow, err);
    if (!code && work->args->once)
        code = bli_log_tail_end(work->follow, err);
    twin->options.step = work->summary.resolution;
    twin->options.length_step = work->summary.step;
    twin->options.told_slots = bli_log_slots(&work->summary);
    twin->options.service = work->summary.files > 0 && work->summary.file[0].jobs > 0 &&
                            work->summary.file[0].covers == BLI_LOG_COVERS_SERVICE;
    if (work->seen == 0 && twin->window.taken > 0 && bli_log_tail_skipped(work->follow))
        bli_recent_miss(&twin->window);
    return code;
}

/* A dispatcher that does not answer may do so later. */
static void read_records(struct twin_work *work) {
    work->twin->options.step = 1e-6;
    if (1000 * (seconds_now() - work->asked_at) < ASK_MS)
        return;
    struct bal_error err = {0};
    ask_records(work, &err);
    work->trouble = err;
}

/* Reads what has come. */
static enum bal_code read_more(struct twin_work *work, struct bal_error *err) {
    enum bal_code code = BAL_OK;
    if (work->follow)
        code = read_log(work, err);
    else
        read_records(work);
    if (work->twin->window.taken > work->seen) {
        work->seen = work->twin->window.taken;
        work->seen_at = seconds_now();
    }
    return code;
}

/* The present in the clock of the requests: as much after the last of them as has passed since it was read.
 */
static int64_t current_time(const struct twin_work *work) {
    const double passed = work->args->once ? 0 : seconds_now() - work->seen_at;
    return work->twin->window.latest + (int64_t)(1e9 * passed);
}

/* Answers from views that do not overlap with the present one are discarded. */
static void drop_old_files(struct bli_twin *twin) {
    for (size_t i = 0; i < twin->rows; i++)
        if (twin->row[i].answered && (twin->row[i].at <= twin->view.from || twin->row[i].at > twin->view.to))
            twin->row[i].answered = false;
}

/* The first row always; of the others, in turn, as many as the share of the core allows. */
static enum bal_code evaluate_rows(struct twin_work *work, double budget, struct bal_error *err) {
    struct bli_twin *twin = work->twin;
    const double began = processor_now();
    enum bal_code code = bli_twin_evaluate(twin, 0, err);
    for (size_t asked = 1; !code && asked < twin->rows; asked++) {
        if (work->next == 0 || work->next >= twin->rows)
            work->next = 1;
        const struct bli_twin_row *row = &twin->row[work->next];
        const double cost = row->cost > 0 ? row->cost : twin->row[0].cost;
        if (asked > 1 && processor_now() - began + cost > budget)
            break;
        code = bli_twin_evaluate(twin, work->next++, err);
    }
    bli_twin_judge(twin);
    return code;
}

static struct bli_twin_report report_of(const struct twin_work *work) {
    const struct args *args = work->args;
    uint64_t skipped = 0;
    for (unsigned i = 0; i < BLI_LOG_REASON_COUNT; i++)
        skipped += work->summary.skipped[i];
    const double silent = seconds_now() - work->seen_at;
    return (struct bli_twin_report){
        .twin = work->twin,
        .source = args->path ? args->path : args->url,
        .command = args->command.text,
        .names = work->servers,
        .high = args->log.log.high_pattern,
        .high_by = args->log.log.high_field,
        .class = work->class,
        .upstream = work->remote.upstream,
        .options = work->options_known ? work->options : NULL,
        .time = clock_seconds(CLOCK_REALTIME),
        .silent = args->once || work->seen == 0 || silent < 2 * args->every ? 0 : silent,
        .skipped = skipped,
        .lost = work->remote.lost,
        .renewed = work->follow ? bli_log_tail_restarts(work->follow) : 0,
        .trouble = work->trouble.code ? work->trouble.text
                   : work->follow     ? bli_log_tail_problem(work->follow)
                                      : NULL,
        .used = (processor_now() - work->spent) / fmax(seconds_now() - work->began, 1e-9),
        .nginx = args->nginx,
    };
}

/* A full disk may have space later; the old file stays. */
static int publish_status(const struct bli_twin_report *report, const char *path) {
    struct bli_strbuf page;
    if (!bli_strbuf_open(&page))
        return cli_no_memory();
    bli_twin_json(report, false, page.stream);
    struct bal_error err = {0};
    if (!bli_strbuf_close(&page))
        return cli_no_memory();
    if (bli_file_write(path, page.text, page.size, &err))
        cli_warn("--publish: %s", err.text);
    bli_strbuf_discard(&page);
    return -1;
}

/* On a terminal each answer replaces the previous one. */
static int show_report(const struct twin_work *work, const struct bli_twin_report *report) {
    struct bli_strbuf text;
    if (!bli_strbuf_open(&text))
        return cli_no_memory();
    const bool refreshes = !work->args->once && !work->args->log.common.quiet && isatty(STDOUT_FILENO);
    if (work->args->log.common.format == BLI_FORM_JSON) {
        bli_twin_json(report, !work->args->once, text.stream);
    } else {
        fputs(refreshes ? "\033[H\033[J" : "", text.stream);
        bli_twin_text(report, text.stream);
        fputs(refreshes || work->args->once ? "" : "\n", text.stream);
    }
    if (!bli_strbuf_close(&text))
        return cli_no_memory();
    const int status = cli_print("the results ", text.text, text.size);
    bli_strbuf_discard(&text);
    return status ? status : -1;
}

static int output_report(const struct twin_work *work) {
    const struct bli_twin_report report = report_of(work);
    int status = -1;
    if (work->args->publish)
        status = publish_status(&report, work->args->publish);
    return status < 0 ? show_report(work, &report) : status;
}

/* If a field may name the servers, the user should know. */
static int fail_with_hint(const struct twin_work *work, const struct bal_error *err) {
    const char *perhaps = work->summary.files > 0 ? work->summary.file[0].perhaps : "";
    if (err->code == BAL_E_MODEL && *perhaps)
        return cli_fail("%s; %s may name them: --server-field %s", err->text, perhaps, perhaps);
    return fail_unless_ended("", err);
}

/* One round: reads, evaluates and prints. Returns -1 to go on, or the exit status. */
static int round_once(struct twin_work *work) {
    struct bal_error err = {0};
    const double began = processor_now();
    const double budget = work->args->once ? INFINITY : work->args->share * work->args->every;
    enum bal_code code = read_more(work, &err);
    if (work->follow)
        work->trouble = (struct bal_error){0};
    if (!code && work->args->url && !work->trouble.code && ask_fleet(work, &work->trouble) &&
        work->args->once)
        code = bal_fail(&err, BAL_E_IO, "%s", work->trouble.text);
    if (!code && work->summary.spread && has_speeds(work->args))
        code = bal_fail(&err, BAL_E_MODEL, "%s", bli_speeds_need_fine_times);
    if (!code)
        code = bli_twin_analyse(work->twin, current_time(work), &err);
    if (!code && work->twin->state == BLI_TWIN_READY) {
        drop_old_files(work->twin);
        code = evaluate_rows(work, budget - (processor_now() - began), &err);
    }
    return code ? fail_with_hint(work, &err) : output_report(work);
}

/* Until the time for the next round has come, and processor time is again within the share of all time. New
 * lines are read meanwhile. */
static int wait_for_next_round(struct twin_work *work, double round_began) {
    const struct args *args = work->args;
    struct bal_error err = {0};
    while (!*cli_stop_flag()) {
        const double now = seconds_now(), used = processor_now() - work->spent;
        if (now - round_began >= args->every && used <= args->share * (now - work->began))
            return -1;
        const struct timespec pause = {0, POLL_MS * 1000000L};
        nanosleep(&pause, NULL);
        const enum bal_code code = read_more(work, &err);
        if (code)
            return fail_unless_ended("", &err);
    }
    return CLI_OK;
}

static int run_rounds(struct twin_work *work) {
    int status = -1;
    work->began = work->seen_at = seconds_now();
    work->spent = processor_now();
    while (status < 0) {
        const double began = seconds_now();
        status = round_once(work);
        if (status < 0)
            status = wait_for_next_round(work, began);
    }
    return status;
}

static int run_single_round(struct twin_work *work) {
    work->began = work->seen_at = seconds_now();
    work->spent = processor_now();
    const int status = round_once(work);
    if (status >= 0)
        return *cli_stop_flag() ? CLI_INTERRUPTED : status;
    return work->twin->state == BLI_TWIN_READY ? CLI_OK : CLI_OUTCOME;
}

/* ---- the command ---- */

static int check_args(const struct args *args) {
    struct bal_error err = {0};
    if (!args->path && !args->url)
        return cli_fail("which traffic? say it with --log FILE, or name the URL of ballast_status");
    if (args->log.common.format == BLI_FORM_CSV || args->log.common.format == BLI_FORM_MARKDOWN)
        return cli_fail("--format: write text or json");
    if (args->log.log.high_field && !args->log.log.high_pattern)
        return cli_fail("--high-field: which values are high? add --high PATTERN");
    if (args->log.keep_waiting && has_speeds(args))
        return cli_fail("--speeds tell who waits, and --waiting keep has no effect; leave out one of them");
    const enum bli_discipline discipline = args->log.common.draft.c.model.discipline;
    if (discipline != BLI_DISCIPLINE_AUTO && discipline != BLI_DISCIPLINE_SHARING &&
        discipline != BLI_DISCIPLINE_LIFO && !args->log.log.high_pattern && !is_ranked(args))
        return cli_fail("--discipline: it tells classes of jobs apart; say with --high which are high");
    if (args->publish && bli_file_check(args->publish, &err))
        return cli_fail("--publish: %s", err.text);
    return args->publish && args->path
               ? cli_check_not_input("--publish", args->publish, args->path, "the log")
               : -1;
}

static int twin_main(const struct cli_command *command, int argc, char **argv) {
    struct args *args = calloc(1, sizeof *args);
    struct twin_work *work = calloc(1, sizeof *work);
    int status, operands;
    if (!args || !work || !cli_command_text(argc, argv, &args->command)) {
        status = cli_no_memory();
        goto out;
    }
    struct bli_options table;
    cli_command_options(command, &table);
    bli_request_init(&args->log.common, &table);
    *args = (struct args){.log = args->log,
                          .command = args->command,
                          .window = 300,
                          .every = 5,
                          .share = 0.25,
                          .keep = 200000,
                          .fewer = 2,
                          .traffic = 2};
    work->args = args;
    status = cli_parse(command, argc, argv, args, 1, &operands);
    if (status < 0 && operands > 0)
        args->url = argv[1];
    if (status < 0)
        status = check_args(args);
    if (status >= 0)
        goto out;
    cli_catch_signals();
    status = start_twin(work);
    if (status < 0)
        status = args->once ? run_single_round(work) : run_rounds(work);
    free_work(work);
out:
    if (args)
        bli_strbuf_discard(&args->command);
    free(work);
    free(args);
    return status;
}

const struct cli_command cmd_twin = {
    .name = "twin",
    .summary = "follow live traffic and predict what other policies, or fewer servers, would do with it",
    .operands = "[URL]",
    .description =
        "Follows an access log as it grows, or asks the module for nginx (docs/metrics.md) for the\n"
        "requests that it has recorded, and every few seconds replays those of the last minutes: under\n"
        "the policy that the fleet has, compared with what was measured; under others; with fewer servers;\n"
        "with more traffic. Says so when prediction and measurement part, and what it cannot know. It\n"
        "keeps to a share of one core and to memory that is fixed beforehand, and ends with Ctrl-C.",
    .examples = "  ballast twin --log /var/log/nginx/app.log --current-policy least_conn\n"
                "  ballast twin --log app.log --current-policy jiq --slots 4 --window 10min --publish "
                "/run/twin.json\n"
                "  ballast twin http://127.0.0.1:8080/ballast --publish /run/twin.json\n"
                "  ballast twin --log app.log --once --nginx\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = twin_main,
};
