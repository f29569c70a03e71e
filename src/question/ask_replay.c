/* SPDX-License-Identifier: BSD-2-Clause */
/* The question replay: recorded requests on a fleet of one's own choice, under every policy. */
#include "question/read_logs.h"

#include "ballast/number.h"
#include "format/file.h"
#include "format/time_text.h"
#include "report/replay_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LOGS_MAX = 10000,
    REPLICATIONS = 5, /* as a rule ... */
    THREADS_MAX = 16, /* a replay has a histogram for each part of the log, 6 MB in all */
    KINDS_MAX = BLI_TRACE_KINDS - 1,
};
#define MANY_JOBS 2e6    /* ... and a single one of more jobs than this */
#define DEFAULT_LOAD 0.7 /* of the fleet that is chosen where none is given, in the busiest window */

/* When servers fail: after a time, or when the log is busiest. */
struct failure {
    uint32_t servers; /* 0: none does */
    bool busiest;
    double after; /* seconds from the first arrival */
};

struct args {
    struct bli_log_request log; /* first: its setters take the whole */
    double speedup;
    struct bli_target target; /* seconds 0: none */
    struct failure failure;
    bool vary; /* the number of one group of servers is open: this one */
    unsigned open;
    double price; /* of a server for an hour; NaN: not given */
    bool nginx, explain;
    bool keeper; /* what switching servers off would have cost */
    const char *page;
    size_t kinds;
    char *kind_name[KINDS_MAX];
    const char *kind_pattern[KINDS_MAX];
    size_t paths;
    const char *path[LOGS_MAX];
};

/* ---- options ---- */

/* Rates of a policy are per mean service time, which is no usual unit for users with a log. */
static enum bal_code set_policy(void *into, const char *value, struct bal_error *err) {
    struct bli_request *common = into;
    const enum bal_code code = bli_request_set_policy(into, value, err);
    if (!code)
        bal_policy_wait_for_power(&common->policy[common->policies - 1]);
    const bool rates =
        strstr(value, ":mu=") || strstr(value, ",mu=") || strstr(value, ":nu=") || strstr(value, ",nu=");
    if (!code && common->policy[common->policies - 1].policy->power && rates)
        return bal_fail(err, BAL_E_MODEL,
                        "in a replay its times are said by --standby and --setup, such as 60s; write '%s'",
                        common->policy[common->policies - 1].policy->name);
    return code;
}

/* "Nx2" at the beginning of a group, or "N" alone: N is the number to be found. *group: the index of that
 * group. */
static char *find_open(char *text, unsigned *group) {
    *group = 0;
    for (char *at = text; *at; at++) {
        const bool begins = at == text || at[-1] == ',';
        if (begins && *at == 'N' && (at[1] == 'x' || at[1] == 0 || at[1] == ','))
            return at;
        *group += *at == ',';
    }
    return NULL;
}

static enum bal_code set_servers(void *into, const char *value, struct bal_error *err) {
    struct args *args = into;
    char text[400];
    if (strlen(value) >= sizeof text)
        return bal_fail(err, BAL_E_SYNTAX, "too long for a fleet");
    snprintf(text, sizeof text, "%s", value);
    char *open = find_open(text, &args->open);
    args->vary = open;
    if (open)
        *open = '1';
    unsigned second;
    if (open && find_open(text, &second))
        return bal_fail(err, BAL_E_SYNTAX, "only one number can be looked for; write one N, as in 4x1,Nx2");
    const enum bal_code code = bli_request_set(&args->log.common, bli_setting_find("servers"), text, err);
    if (!code)
        bli_request_mark(&args->log.common, "servers");
    return code;
}

/* "1@30min", "2@busiest". */
static enum bal_code set_failure(void *into, const char *value, struct bal_error *err) {
    static const char what[] =
        "write how many servers fail and when, after the first arrival: 1@30min, 1@busiest";
    struct args *args = into;
    double servers;
    const char *at = bli_number_read(value, &servers);
    if (!at || *at != '@' || servers != floor(servers) || !(servers >= 1 && servers <= BLI_SERVERS_MAX))
        return bal_fail(err, BAL_E_SYNTAX, "%s", what);
    struct failure failure = {.servers = (uint32_t)servers, .busiest = strcmp(at + 1, "busiest") == 0};
    if (!failure.busiest && bli_duration_parse(at + 1, &failure.after, NULL))
        return bal_fail(err, BAL_E_SYNTAX, "%s", what);
    args->failure = failure;
    return BAL_OK;
}

static enum bal_code set_log(void *into, const char *value, struct bal_error *err) {
    struct args *args = into;
    if (args->paths == LOGS_MAX)
        return bal_fail(err, BAL_E_RANGE, "more than %d logs", LOGS_MAX);
    args->path[args->paths++] = value;
    return BAL_OK;
}

/* "NAME=PATTERN". */
static enum bal_code set_kind(void *into, const char *value, struct bal_error *err) {
    struct args *args = into;
    const char *equals = strchr(value, '=');
    if (!equals || equals == value || !equals[1])
        return bal_fail(err, BAL_E_SYNTAX, "write a name and a pattern of paths: checkout=^/checkout");
    if (args->kinds == KINDS_MAX)
        return bal_fail(err, BAL_E_RANGE, "at most %d classes can be told apart", KINDS_MAX);
    const size_t length = (size_t)(equals - value);
    for (size_t i = 0; i < args->kinds; i++)
        if (strlen(args->kind_name[i]) == length && memcmp(args->kind_name[i], value, length) == 0)
            return bal_fail(err, BAL_E_SYNTAX,
                            "there is a class of that name already; one pattern can have both: a=^/(x|y)");
    char *name = strndup(value, length);
    if (!name)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory");
    args->kind_name[args->kinds] = name;
    args->kind_pattern[args->kinds++] = equals + 1;
    return BAL_OK;
}

static enum bal_code set_target(void *into, const char *value, struct bal_error *err) {
    return bli_target_parse(value, &((struct args *)into)->target, err);
}

static const struct bli_option options[] = {
    {"target", "WHAT", "find how many servers each policy needs: p99=200ms (mean, or any percentile)",
     set_target},
    {"speedup", "X", "jobs come X times as fast: 2 doubles the traffic (default 1)",
     BLI_STORES_NUMBER(struct args, speedup, 1e-6, 1e6, "a number from 1e-6 to 1e6, such as 2")},
    {"policy", "POLICY", "name or name:key=value,...; repeat it (default: all that fit)", set_policy},
    {"autoscale", NULL,
     "what servers that switch off would have cost, in server-hours too: tabs, delayed-off and windowed "
     "next to jiq, always on",
     BLI_STORES_FLAG(struct args, keeper)},
    {.subject = "fleet"},
    {"servers", "FLEET",
     "a number, or COUNTxSPEED,...: 40, 20x1,20x2; 4x1,Nx2 with --target (default: that of the log)",
     set_servers},
    {.setting = "slots"},
    {"speeds", "S",
     "how fast a server is by the number in service: cores(4), batch(8,0.15), table(...); find: as the log "
     "says",
     bli_request_set_log_speeds},
    {.setting = "discipline",
     .help = "ps: servers share; lifo: last come, first served; with --high: auto, fifo, preemptive or "
             "nonpreemptive"},
    {.setting = "steal",
     .help = "servers that run out of work steal from others: half, one, constant(K), ..."},
    {"fail", "N@TIME", "so many servers fail then: 1@30min after the first arrival, or 1@busiest",
     set_failure},
    {"standby", "TIME", "tabs: idle time before a server switches off: 60s (default), or a law: exp(60)",
     bli_request_set_standby},
    {"setup", "TIME", "tabs: time to switch a server on: 30s (default), or a law in seconds",
     bli_request_set_setup},
    {.setting = "watts"},
    {"cost-per-hour", "X", "price per server-hour: what the fleet costs, next to its energy",
     BLI_STORES_NUMBER(struct args, price, 0, 1e9, "a number from 0 to 1e9, such as 0.12")},
    {.subject = "network"},
    {.setting = "dispatchers"},
    {.setting = "delay",
     .help = "seconds that every message takes, and a job and its response: 0.001, exp(0.001)"},
    {.setting = "loss"},
    {.setting = "heartbeat",
     .help = "seconds after which each server tells each dispatcher again what is so (docs/network.md)"},
    {.setting = "timeout", .help = "seconds that a job waits for replies to probes"},
    {.setting = "churn", .help = "seconds for which servers work and are down on average: 3600,60"},
    {.setting = "fail-fast"},
    {.setting = "ejection"},
    {.setting = "events"},
    BLI_LOG_OPTIONS,
    {"service", "TIME", "a service time computed from columns: 'ContextTokens*0.2ms + GeneratedTokens*25ms'",
     bli_request_set_service_time},
    {"group", "NAME=PATTERN", "times of requests whose path matches, apart; repeat it: api=^/api/", set_kind},
    {.subject = "run"},
    {.help = "replays of each policy (default 5; 1 from 2M jobs on)",
     .setting = "run.replications",
     .default_value = ""},
    BLI_SEED_OPTION,
    BLI_THREADS_OPTION,
    BLI_ANSWER_SUBJECT,
    BLI_PERCENTILES_OPTION,
    {"explain", NULL, "say below the tables which policy to take, why, and what not to believe",
     BLI_STORES_FLAG(struct args, explain)},
    {"nginx", NULL, "print what to tell nginx too: the policy to take, why, and its upstream block",
     BLI_STORES_FLAG(struct args, nginx)},
    {"figure", "FILE",
     "draw arrivals, p99 and power over time: FILE.svg, .png, .pdf or .eps (needs gnuplot), or the data as "
     ".csv",
     bli_request_set_figure},
    {"report", "FILE", "write a page with all of it: FILE.html", BLI_STORES_TEXT(struct args, page)},
    BLI_OUTPUT_OPTIONS,
};

/* ---- what is replayed ---- */

/* The fleet of the log, if the log shows it; else one with a certain load. For traffic that is sped up, the
 * fleet is that of the original traffic. */
static void choose_fleet(struct bli_replay *replay, const struct bli_recovery *recovery,
                         const struct bli_demand *demand) {
    bli_servers_parse("1", &replay->model.servers, NULL);
    const double load = bli_replay_load(replay, demand->peak_work) / replay->speedup;
    const double wanted = fmin(fmax(ceil(load / DEFAULT_LOAD), 1), BLI_REPLAY_SERVERS);
    replay->model.servers.group[0].count = recovery->servers > 0 ? recovery->servers : (uint32_t)wanted;
}

/* The number to be found needs a value until the search begins. */
static void choose_open(struct bli_replay *replay, const struct bli_demand *demand) {
    struct bli_group *open = &replay->model.servers.group[replay->vary];
    while (bli_replay_load(replay, demand->peak_work) / replay->speedup > DEFAULT_LOAD &&
           bli_servers_count(&replay->model.servers) < BLI_REPLAY_SERVERS)
        open->count += open->count / 16 + 1;
}

/* The replay as asked, its fleet chosen where none was given. */
static struct bli_replay replay_of(const struct args *args, const struct bli_logs *logs,
                                   const struct bli_demand *demand) {
    const struct bli_request *common = &args->log.common;
    const bool many = (double)bli_trace_info(logs->trace)->jobs > MANY_JOBS;
    struct bli_replay replay = {
        .trace = logs->trace,
        .speedup = args->speedup,
        .model = common->draft.c.model,
        .seed = (uint64_t)common->seed,
        .replications = bli_request_has(common, "run.replications") ? common->draft.c.replications
                        : many                                      ? 1
                                                                    : REPLICATIONS,
    };
    replay.model.classes = args->log.log.high_pattern != NULL;
    replay.target = args->target.seconds > 0 ? &args->target : NULL;
    replay.percentiles = common->percentiles;
    replay.vary = args->open;
    replay.vary_given = args->vary;
    replay.failing = args->failure.servers;
    replay.fail_at = args->failure.busiest
                         ? fmax(demand->peak_at - (double)bli_trace_info(logs->trace)->first * 1e-9, 0)
                         : args->failure.after;
    bli_logs_describe_servers(&args->log, logs, &replay.model);
    if (!bli_request_has(common, "servers"))
        choose_fleet(&replay, &logs->recovery, demand);
    else if (args->vary)
        choose_open(&replay, demand);
    return replay;
}

/* Without --policy: every policy that can replay this; one that switches servers off as it runs live, with
 * jobs that find none idle held until one is. */
static void choose_all(struct bli_request *common, const struct bli_replay *replay) {
    const char *name;
    for (size_t i = 0; (name = bli_default_policy(i)) && common->policies < BLI_REQUEST_POLICIES; i++) {
        struct bal_policy_spec spec;
        struct bli_case c;
        if (bal_policy_parse(strcmp(name, "tabs") == 0 ? "tabs:else=hold" : name, &spec, NULL) == BAL_OK &&
            bli_replay_case(replay, &spec, &c, NULL) == BAL_OK &&
            bli_simulate_is_distinct(&c.model, spec.policy))
            common->policy[common->policies++] = spec;
    }
}

/* With --autoscale: always on, and all that switch servers off. */
static enum bal_code choose_keepers(struct bli_request *common, const struct bli_replay *replay,
                                    struct bal_error *err) {
    static const char *const names[] = {"jiq", "tabs", "tabs:else=hold", "delayed-off", "windowed"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct bli_case c;
        struct bal_error why = {0};
        struct bal_policy_spec *spec = &common->policy[common->policies];
        enum bal_code code = bli_scheme_parse(names[i], spec, &why);
        if (!code) {
            bal_policy_wait_for_power(spec);
            code = bli_replay_case(replay, spec, &c, &why);
        }
        if (code)
            return bal_fail(err, code, "--autoscale: %s", why.text);
        common->policies++;
    }
    return BAL_OK;
}

/* ---- the work, in the order in which it is done ---- */

struct replay_work {
    struct args *args;
    struct bli_asking *asking;
    struct bli_logs logs;
    struct bli_demand demand;
    struct bli_replay replay;
    size_t count;
    struct bli_case *cases;
    struct bli_replay_outcome *outcomes;
    struct bli_history *history;
    double *history_values;
    struct bli_sizing *sizing;
};

static void work_fini(struct replay_work *work) {
    bli_logs_fini(&work->logs);
    free(work->cases);
    free(work->outcomes);
    free(work->history);
    free(work->history_values);
    free(work->sizing);
}

static bool allocate_work(struct replay_work *work) {
    enum { LISTS = 4 };
    work->cases = calloc(work->count, sizeof *work->cases);
    work->outcomes = calloc(work->count, sizeof *work->outcomes);
    work->history = calloc(work->count, sizeof *work->history);
    work->history_values = calloc(work->count * LISTS * BLI_REPLAY_SPANS, sizeof *work->history_values);
    work->sizing = calloc(work->count, sizeof *work->sizing);
    if (!work->cases || !work->outcomes || !work->history || !work->history_values || !work->sizing)
        return false;
    for (size_t i = 0; i < work->count; i++) {
        double *values = work->history_values + i * LISTS * BLI_REPLAY_SPANS;
        work->history[i] = (struct bli_history){.spans = BLI_REPLAY_SPANS,
                                                .jobs = values,
                                                .response = values + BLI_REPLAY_SPANS,
                                                .p99 = values + 2 * BLI_REPLAY_SPANS,
                                                .watts = values + 3 * BLI_REPLAY_SPANS};
    }
    return true;
}

/* Those that fail are in the fleet and in the log. */
static enum bal_code check_failure(const struct bli_replay *replay, struct bal_error *err) {
    const uint32_t servers = bli_servers_count(&replay->model.servers);
    if (replay->failing == 0)
        return BAL_OK;
    if (replay->failing >= servers)
        return bal_fail(err, BAL_E_MODEL,
                        "--fail: %u of %u server%s: some must be left; give fewer, or more with --servers",
                        replay->failing, servers, servers == 1 ? "" : "s");
    const double span = bli_trace_info(replay->trace)->span;
    if (replay->fail_at < span)
        return BAL_OK;
    char length[BLI_TIME_TEXT];
    bli_time_length(span, length);
    return bal_fail(err, BAL_E_MODEL,
                    "--fail: then the log is over, which is %s long; give a time within it, or busiest",
                    length);
}

/* As above, for what happens at stated times. */
static enum bal_code check_events_in_log(const struct bli_replay *replay, struct bal_error *err) {
    const struct bli_network_events *events = &replay->model.network.events;
    const double span = bli_trace_info(replay->trace)->span / replay->speedup;
    char length[BLI_TIME_TEXT];
    bli_time_length(span, length);
    for (unsigned i = 0; i < events->count; i++)
        if (events->event[i].at >= span)
            return bal_fail(err, BAL_E_MODEL,
                            "--events: at %g s the log is over, which takes %s; give a time within it",
                            events->event[i].at, length);
    return BAL_OK;
}

/* A pattern that matches nothing is hardly what was meant. */
static void warn_of_kinds(const struct replay_work *work, const struct bli_trace_info *info) {
    const struct args *args = work->args;
    for (size_t k = 0; k < args->kinds; k++)
        if (info->kind[k + 1] == 0)
            bli_asking_warn(work->asking, "--group %s=%s: no job matches%s", args->kind_name[k],
                            args->kind_pattern[k], k > 0 ? ", or all that do are of an earlier class" : "");
}

/* Twice the slots are half the servers. */
static void warn_of_slots(const struct replay_work *work) {
    const struct bli_recovery *recovery = &work->logs.recovery;
    if (work->args->target.seconds > 0 && recovery->servers > 0 &&
        bli_recovery_slots_are_guessed(&work->logs.times))
        bli_asking_warn(work->asking,
                        "how many requests a server works on at a time is a guess, %u, and decides how many "
                        "servers are needed; say it with --slots, or log it ($ballast_slots)",
                        recovery->slots);
}

static enum bal_code choose_policies(struct replay_work *work, struct bal_error *err) {
    struct bli_request *common = &work->args->log.common;
    if (common->policies == 0 && work->args->keeper) {
        const enum bal_code code = choose_keepers(common, &work->replay, err);
        if (code)
            return code;
    }
    if (common->policies == 0)
        choose_all(common, &work->replay);
    return common->policies > 0
               ? BAL_OK
               : bal_fail(err, BAL_E_MODEL, "no policy fits this fleet; name one with --policy to see why");
}

static enum bal_code make_cases(struct replay_work *work, struct bal_error *err) {
    const struct bli_request *common = &work->args->log.common;
    work->count = common->policies;
    if (!allocate_work(work))
        return bal_fail(err, BAL_E_MEMORY, "not enough memory");
    for (size_t i = 0; i < work->count; i++) {
        const struct bal_policy_spec *policy = &common->policy[i];
        if (policy->policy->flags & BAL_TAKES_RANKS && !work->replay.model.classes)
            return bal_fail(err, BAL_E_MODEL,
                            "--policy %s: needs two classes of jobs; say with --high which are high",
                            policy->policy->name);
        struct bal_error why = {0};
        const enum bal_code code = bli_replay_case(&work->replay, policy, &work->cases[i], &why);
        if (code)
            return bal_fail(err, code, "--policy: %s", why.text);
        work->cases[i].run.history = &work->history[i];
    }
    return BAL_OK;
}

/* Reads the logs and sets up the cases. */
static enum bal_code prepare_cases(struct replay_work *work, struct bal_error *err) {
    struct args *args = work->args;
    enum bal_code code = bli_read_logs(&args->log, args->path, args->paths, work->asking, &work->logs, err);
    if (!code)
        code = bli_demand_of(work->logs.trace, work->asking->host->stop, &work->demand, err);
    if (code)
        return code;
    work->replay = replay_of(args, &work->logs, &work->demand);
    warn_of_kinds(work, bli_trace_info(work->logs.trace));
    warn_of_slots(work);
    code = check_failure(&work->replay, err);
    if (!code)
        code = check_events_in_log(&work->replay, err);
    if (!code)
        code = choose_policies(work, err);
    return code ? code : make_cases(work, err);
}

static unsigned threads_of(const struct bli_request *common) {
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    const double wanted = common->threads > 0 ? common->threads : fmax((double)processors, 1);
    return (unsigned)fmin(wanted, THREADS_MAX);
}

/* The search comes first: it detects at once what it cannot do. */
static enum bal_code replay_all(struct replay_work *work, struct bal_error *err) {
    const struct bli_request *common = &work->args->log.common;
    struct bli_doing doing;
    const struct bli_lab_options lab = {.threads = threads_of(common),
                                        .stop = work->asking->host->stop,
                                        .progress = bli_doing_show,
                                        .progress_context = &doing};
    if (work->args->target.seconds > 0) {
        struct bal_error why = {0};
        doing = bli_doing_start(work->asking, "looking for the least fleets");
        const enum bal_code code = bli_replay_size(&work->replay, &work->demand, common->policy, work->count,
                                                   &lab, work->sizing, &why);
        if (code)
            return bal_fail(err, code, "--target: %s", why.text);
    }
    doing = bli_doing_start(work->asking, "replaying");
    return bli_replay_run(&work->replay, work->cases, work->count, &lab, work->outcomes, err);
}

/* ---- results ---- */

static enum bal_code write_page(const struct bli_replay_report *report, const char *path,
                                struct bal_error *err) {
    struct bli_strbuf page;
    struct bal_error why = {0};
    enum bal_code code = bli_strbuf_open(&page) ? bli_replay_page(report, page.stream, &why)
                                                : bal_fail(&why, BAL_E_MEMORY, "not enough memory");
    if (!code && !bli_strbuf_close(&page))
        code = bal_fail(&why, BAL_E_MEMORY, "not enough memory");
    if (!code)
        code = bli_file_write(path, page.text, page.size, &why);
    bli_strbuf_discard(&page);
    return code ? bal_fail(err, code, "--report: %s", why.text) : BAL_OK;
}

/* Did a target have an answer? */
static bool is_answered(const struct bli_replay_report *report) {
    for (size_t i = 0; i < report->count && report->target; i++)
        if (report->sizing[i].outcome == BLI_SIZED)
            return true;
    return !report->target;
}

/* "access.log", "access.log and 3 more". */
static void title_of(const struct args *args, char *title, size_t size) {
    const char *log = args->path[0];
    const char *slash = strrchr(log, '/');
    const char *name = strcmp(log, "-") == 0 ? "standard input" : slash ? slash + 1 : log;
    if (args->paths > 1)
        snprintf(title, size, "%.150s and %zu more", name, args->paths - 1);
    else
        snprintf(title, size, "%.150s", name);
}

static enum bal_code write_all(const struct replay_work *work, struct bal_error *err) {
    const struct args *args = work->args;
    const bool target = args->target.seconds > 0;
    const bool given = bli_request_has(&args->log.common, "servers");
    const bool recorded = work->logs.recovery.servers > 0;
    char title[200];
    title_of(args, title, sizeof title);
    const struct bli_replay_report report = {
        .summary = &work->logs.summary,
        .times = &work->logs.times,
        .demand = &work->demand,
        .replay = &work->replay,
        .sized_for = (given || recorded) && !args->vary ? 0 : DEFAULT_LOAD,
        .recorded = !given && recorded,
        .title = title,
        .count = work->count,
        .cases = work->cases,
        .outcomes = work->outcomes,
        .history = work->history,
        .target = target ? &args->target : NULL,
        .sizing = target ? work->sizing : NULL,
        .kinds = args->kinds,
        .kind = (const char *const *)args->kind_name,
        .price = args->price,
        .servers = work->logs.servers,
        .nginx = args->nginx,
        .explain = args->explain,
        .command = work->asking->host->command,
        .high_pattern = args->log.log.high_pattern,
        .high_field = args->log.log.high_field,
        .keeper = args->keeper,
    };
    struct bal_error why = {0};
    const char *figure = args->log.common.figure;
    enum bal_code code = figure ? bli_replay_figure(&report, figure, &why) : BAL_OK;
    if (code)
        return bal_fail(err, code, "--figure %s: %s", figure, why.text);
    if (args->page && (code = write_page(&report, args->page, err)))
        return code;
    bli_replay_print(&report, BLI_ROWS(args->log.common.format, work->asking->out));
    work->asking->kind = is_answered(&report) ? BAL_ANSWER_GOOD : BAL_ANSWER_NONE;
    return BAL_OK;
}

static enum bal_code ask(void *request, struct bli_asking *asking, struct bal_error *err) {
    struct replay_work work = {.args = request, .asking = asking};
    enum bal_code code = prepare_cases(&work, err);
    if (!code)
        code = replay_all(&work, err);
    if (!code)
        code = write_all(&work, err);
    work_fini(&work);
    return code;
}

/* ---- what fits together ---- */

/* A terminal, a pipe, /dev/null. */
static bool is_device(const char *path) {
    struct stat there;
    return stat(path, &there) == 0 && !S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode);
}

/* An output that cannot be written is reported before the work, not after it. */
static enum bal_code check_outputs(const struct args *args, struct bal_error *err) {
    const struct {
        const char *option, *path;
    } places[] = {{"--output", args->log.common.output},
                  {"--figure", args->log.common.figure},
                  {"--report", args->page}};
    enum { PLACES = sizeof places / sizeof *places };
    for (unsigned i = 0; i < PLACES; i++) {
        if (!places[i].path)
            continue;
        for (unsigned k = 0; k < i; k++)
            if (places[k].path && strcmp(places[k].path, places[i].path) == 0 && !is_device(places[i].path))
                return bal_fail(err, BAL_E_MODEL, "%s %s: that is where %s goes; choose another place",
                                places[i].option, places[i].path, places[k].option);
        struct bal_error why = {0};
        enum bal_code code = bli_file_check(places[i].path, &why);
        if (code)
            return bal_fail(err, code, "%s: %s", places[i].option, why.text);
        code = bli_check_not_logs(places[i].option, places[i].path, args->path, args->paths, err);
        if (code)
            return code;
    }
    return BAL_OK;
}

/* Options that contradict each other. */
static enum bal_code check(void *request, struct bal_error *err) {
    struct args *args = request;
    const struct bli_request *common = &args->log.common;
    const enum bli_discipline discipline = common->draft.c.model.discipline;
    if (discipline != BLI_DISCIPLINE_AUTO && discipline != BLI_DISCIPLINE_SHARING &&
        discipline != BLI_DISCIPLINE_LIFO && !args->log.log.high_pattern)
        return bal_fail(err, BAL_E_MODEL,
                        "--discipline: it tells classes of jobs apart; say with --high which are high");
    if (args->vary && args->target.seconds == 0)
        return bal_fail(
            err, BAL_E_MODEL,
            "--servers: N is what --target looks for; add one, such as p99=200ms, or give a number");
    if (args->nginx && common->format != BLI_FORM_TEXT)
        return bal_fail(err, BAL_E_MODEL, "--nginx: the block is a text; leave out --format");
    enum bal_code code = bli_request_check_explain(common, args->explain, err);
    if (!code)
        code = check_outputs(args, err);
    args->log.log.kind = args->kind_pattern;
    args->log.log.kinds = args->kinds;
    return code;
}

static void init(void *request) {
    struct args *args = request;
    args->speedup = 1;
    args->price = NAN;
    bli_request_set_standby(request, "60s", NULL);
    bli_request_set_setup(request, "30s", NULL);
}

static void fini(void *request) {
    struct args *args = request;
    for (size_t i = 0; i < args->kinds; i++)
        free(args->kind_name[i]);
}

const struct bli_question_kind bli_question_replay = {
    .name = "replay",
    .shows_command = true,
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .operand = "log",
    .operands = LOGS_MAX,
    .set_operand = set_log,
    .size = sizeof(struct args),
    .init = init,
    .fini = fini,
    .check = check,
    .ask = ask,
};
