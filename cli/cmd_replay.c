/* SPDX-License-Identifier: BSD-2-Clause */
/* ballast replay LOG...: recorded requests on a fleet of one's own choice, under every policy. */
#include "commands.h"
#include "log_options.h"

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
    KINDS_MAX = BAL_TRACE_KINDS - 1,
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
    struct cli_log_request log; /* first: its setters take the whole */
    double speedup;
    struct bal_target target; /* seconds 0: none */
    struct failure failure;
    bool vary; /* the number of one group of servers is open: this one */
    unsigned open;
    double price; /* of a server for an hour; NaN: not given */
    bool nginx, explain;
    struct bal_strbuf command; /* as it was typed */
    bool keeper;               /* what switching servers off would have cost */
    const char *page;
    size_t kinds;
    char *kind_name[KINDS_MAX];
    const char *kind_pattern[KINDS_MAX];
};

/* ---- options ---- */

/* Rates of a policy are per mean service time, which is no usual unit for users with a log. */
static enum bal_code set_policy(void *into, const char *value, struct bal_error *err) {
    struct cli_common *common = into;
    const enum bal_code code = cli_set_policy(into, value, err);
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
    const enum bal_code code = cli_common_set(&args->log.common, bal_setting_find("servers"), text, err);
    if (!code)
        cli_common_give(&args->log.common, "servers");
    return code;
}

/* "1@30min", "2@busiest". */
static enum bal_code set_failure(void *into, const char *value, struct bal_error *err) {
    static const char what[] =
        "write how many servers fail and when, after the first arrival: 1@30min, 1@busiest";
    struct args *args = into;
    double servers;
    const char *at = bal_number_read(value, &servers);
    if (!at || *at != '@' || servers != floor(servers) || !(servers >= 1 && servers <= BAL_SERVERS_MAX))
        return bal_fail(err, BAL_E_SYNTAX, "%s", what);
    struct failure failure = {.servers = (uint32_t)servers, .busiest = strcmp(at + 1, "busiest") == 0};
    if (!failure.busiest && bal_duration_parse(at + 1, &failure.after, NULL))
        return bal_fail(err, BAL_E_SYNTAX, "%s", what);
    args->failure = failure;
    return BAL_OK;
}

static enum bal_code set_price(void *into, const char *value, struct bal_error *err) {
    static const struct cli_range range = {0, 1e9, false, "a number from 0 to 1e9, such as 0.12"};
    return cli_number(value, &range, &((struct args *)into)->price, err);
}

static enum bal_code set_nginx(void *into, const char *value, struct bal_error *err) {
    (void)value, (void)err;
    ((struct args *)into)->nginx = true;
    return BAL_OK;
}

static enum bal_code set_explain(void *into, const char *value, struct bal_error *err) {
    (void)value, (void)err;
    ((struct args *)into)->explain = true;
    return BAL_OK;
}

/* Never called: --follow runs the twin before any option is read. */
static enum bal_code set_follow(void *into, const char *value, struct bal_error *err) {
    (void)into, (void)value;
    return bal_fail(err, BAL_E_MODEL, "a log that grows is followed by ballast twin");
}

static enum bal_code set_keeper(void *into, const char *value, struct bal_error *err) {
    (void)value, (void)err;
    ((struct args *)into)->keeper = true;
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

static enum bal_code set_speedup(void *into, const char *value, struct bal_error *err) {
    static const struct cli_range range = {1e-6, 1e6, false, "a number from 1e-6 to 1e6, such as 2"};
    return cli_number(value, &range, &((struct args *)into)->speedup, err);
}

static enum bal_code set_target(void *into, const char *value, struct bal_error *err) {
    return bal_target_parse(value, &((struct args *)into)->target, err);
}

static enum bal_code set_page(void *into, const char *value, struct bal_error *err) {
    (void)err;
    ((struct args *)into)->page = value;
    return BAL_OK;
}

static const struct cli_option options[] = {
    {"servers", "FLEET",
     "a number, or COUNTxSPEED,...: 40, 20x1,20x2; 4x1,Nx2 with --target (default: that of the log)",
     set_servers},
    {.setting = "slots"},
    {"policy", "POLICY", "name or name:key=value,...; repeat it (default: all that fit)", set_policy},
    {.setting = "steal",
     .help = "servers that run out of work steal from others: half, one, constant(K), ..."},
    {"speedup", "X", "jobs come X times as fast: 2 doubles the traffic (default 1)", set_speedup},
    {"target", "WHAT", "find how many servers each policy needs: p99=200ms (mean, or any percentile)",
     set_target},
    CLI_PERCENTILES_OPTION,
    {"fail", "N@TIME", "so many servers fail then: 1@30min after the first arrival, or 1@busiest",
     set_failure},
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
    {"cost-per-hour", "X", "price per server-hour: what the fleet costs, next to its energy", set_price},
    {"autoscale", NULL,
     "what servers that switch off would have cost, in server-hours too: tabs, delayed-off and windowed "
     "next to jiq, always on",
     set_keeper},
    {"nginx", NULL, "print what to tell nginx too: the policy to take, why, and its upstream block",
     set_nginx},
    {"explain", NULL, "say below the tables which policy to take, why, and what not to believe", set_explain},
    {"follow", "LOG", "a log that grows, by its last minutes, again and again: as `ballast twin --log LOG`",
     set_follow},
    CLI_LOG_OPTIONS,
    {"group", "NAME=PATTERN", "times of requests whose path matches, apart; repeat it: api=^/api/", set_kind},
    {.setting = "discipline",
     .help = "ps: servers share; lifo: last come, first served; with --high: auto, fifo, preemptive or "
             "nonpreemptive"},
    {"standby", "TIME", "tabs: idle time before a server switches off: 60s (default), or a law: exp(60)",
     cli_set_standby},
    {"setup", "TIME", "tabs: time to switch a server on: 30s (default), or a law in seconds", cli_set_setup},
    {.setting = "watts"},
    {"figure", "FILE",
     "draw arrivals, p99 and power over time: FILE.svg, .png, .pdf or .eps (needs gnuplot), or the data as "
     ".csv",
     cli_set_figure},
    {"report", "FILE", "write a page with all of it: FILE.html", set_page},
    {.help = "replays of each policy (default 5; 1 from 2M jobs on)",
     .setting = "run.replications",
     .default_value = ""},
    CLI_SEED_OPTION,
    CLI_THREADS_OPTION,
    CLI_OUTPUT_OPTIONS,
};

/* ---- what is replayed ---- */

/* The fleet of the log, if the log shows it; else one with a certain load. For traffic that is sped up, the
 * fleet is that of the original traffic. */
static void choose_fleet(struct bal_replay *replay, const struct bal_recovery *recovery,
                         const struct bal_demand *demand) {
    bal_servers_parse("1", &replay->model.servers, NULL);
    const double load = bal_replay_load(replay, demand->peak_work) / replay->speedup;
    const double wanted = fmin(fmax(ceil(load / DEFAULT_LOAD), 1), BAL_REPLAY_SERVERS);
    replay->model.servers.group[0].count = recovery->servers > 0 ? recovery->servers : (uint32_t)wanted;
}

/* The number to be found needs a value until the search begins. */
static void choose_open(struct bal_replay *replay, const struct bal_demand *demand) {
    struct bal_group *open = &replay->model.servers.group[replay->vary];
    while (bal_replay_load(replay, demand->peak_work) / replay->speedup > DEFAULT_LOAD &&
           bal_servers_count(&replay->model.servers) < BAL_REPLAY_SERVERS)
        open->count += open->count / 16 + 1;
}

/* The replay as asked, its fleet chosen where none was given. */
static struct bal_replay replay_of(const struct args *args, const struct cli_logs *logs,
                                   const struct bal_demand *demand) {
    const struct cli_common *common = &args->log.common;
    const bool many = (double)bal_trace_info(logs->trace)->jobs > MANY_JOBS;
    struct bal_replay replay = {
        .trace = logs->trace,
        .speedup = args->speedup,
        .model = common->draft.c.model,
        .seed = (uint64_t)common->seed,
        .replications = cli_common_given(common, "run.replications") ? common->draft.c.replications
                        : many                                       ? 1
                                                                     : REPLICATIONS,
    };
    replay.model.classes = args->log.log.high_pattern != NULL;
    replay.target = args->target.seconds > 0 ? &args->target : NULL;
    replay.percentiles = common->percentiles;
    replay.vary = args->open;
    replay.vary_given = args->vary;
    replay.failing = args->failure.servers;
    replay.fail_at = args->failure.busiest
                         ? fmax(demand->peak_at - (double)bal_trace_info(logs->trace)->first * 1e-9, 0)
                         : args->failure.after;
    if (!cli_common_given(common, "slots") && logs->recovery.servers > 0)
        replay.model.slots = logs->recovery.slots;
    if (!cli_common_given(common, "servers"))
        choose_fleet(&replay, &logs->recovery, demand);
    else if (args->vary)
        choose_open(&replay, demand);
    return replay;
}

/* Without --policy: every policy that can replay this; one that switches servers off as it runs live, with
 * jobs that find none idle held until one is. */
static void choose_all(struct cli_common *common, const struct bal_replay *replay) {
    const char *name;
    for (size_t i = 0; (name = cli_default_policy(i)) && common->policies < CLI_POLICIES_MAX; i++) {
        struct bal_policy_spec spec;
        struct bal_case c;
        if (bal_policy_parse(strcmp(name, "tabs") == 0 ? "tabs:else=hold" : name, &spec, NULL) == BAL_OK &&
            bal_replay_case(replay, &spec, &c, NULL) == BAL_OK &&
            bal_simulate_is_distinct(&c.model, spec.policy))
            common->policy[common->policies++] = spec;
    }
}

/* With --autoscale: always on, and all that switch servers off. Returns -1 to go on, or the exit status. */
static int choose_keepers(struct cli_common *common, const struct bal_replay *replay) {
    static const char *const names[] = {"jiq", "tabs", "tabs:else=hold", "delayed-off", "windowed"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct bal_case c;
        struct bal_error err = {0};
        struct bal_policy_spec *spec = &common->policy[common->policies];
        if (bal_scheme_parse(names[i], spec, &err))
            return cli_fail("--autoscale: %s", err.text);
        bal_policy_wait_for_power(spec);
        if (bal_replay_case(replay, spec, &c, &err))
            return cli_fail("--autoscale: %s", err.text);
        common->policies++;
    }
    return -1;
}

/* ---- the work, in the order in which it is done ---- */

struct work {
    struct args *args;
    struct cli_logs logs;
    struct bal_demand demand;
    struct bal_replay replay;
    size_t count;
    struct bal_case *cases;
    struct bal_replay_outcome *outcomes;
    struct bal_history *history;
    double *history_values;
    struct bal_sizing *sizing;
};

static void work_fini(struct work *work) {
    cli_logs_fini(&work->logs);
    free(work->cases);
    free(work->outcomes);
    free(work->history);
    free(work->history_values);
    free(work->sizing);
}

static int stopped_or_failed(enum bal_code code, const struct bal_error *err) {
    if (code != BAL_E_STOPPED)
        return cli_fail("%s", err->text);
    cli_warn("interrupted");
    return CLI_INTERRUPTED;
}

static bool allocate_work(struct work *work) {
    enum { LISTS = 4 };
    work->cases = calloc(work->count, sizeof *work->cases);
    work->outcomes = calloc(work->count, sizeof *work->outcomes);
    work->history = calloc(work->count, sizeof *work->history);
    work->history_values = calloc(work->count * LISTS * BAL_REPLAY_SPANS, sizeof *work->history_values);
    work->sizing = calloc(work->count, sizeof *work->sizing);
    if (!work->cases || !work->outcomes || !work->history || !work->history_values || !work->sizing)
        return false;
    for (size_t i = 0; i < work->count; i++) {
        double *values = work->history_values + i * LISTS * BAL_REPLAY_SPANS;
        work->history[i] = (struct bal_history){.spans = BAL_REPLAY_SPANS,
                                                .jobs = values,
                                                .response = values + BAL_REPLAY_SPANS,
                                                .p99 = values + 2 * BAL_REPLAY_SPANS,
                                                .watts = values + 3 * BAL_REPLAY_SPANS};
    }
    return true;
}

/* Those that fail are in the fleet and in the log. Returns -1 to go on, or the exit status. */
static int check_failure(const struct bal_replay *replay) {
    const uint32_t servers = bal_servers_count(&replay->model.servers);
    if (replay->failing == 0)
        return -1;
    if (replay->failing >= servers)
        return cli_fail("--fail: %u of %u server%s: some must be left; give fewer, or more with --servers",
                        replay->failing, servers, servers == 1 ? "" : "s");
    const double span = bal_trace_info(replay->trace)->span;
    if (replay->fail_at < span)
        return -1;
    char length[BAL_TIME_TEXT];
    bal_time_length(span, length);
    return cli_fail("--fail: then the log is over, which is %s long; give a time within it, or busiest",
                    length);
}

/* A pattern that matches nothing is hardly what was meant. */
static void warn_of_kinds(const struct args *args, const struct bal_trace_info *info) {
    for (size_t k = 0; k < args->kinds; k++)
        if (info->kind[k + 1] == 0)
            cli_warn("--group %s=%s: no job matches%s", args->kind_name[k], args->kind_pattern[k],
                     k > 0 ? ", or all that do are of an earlier class" : "");
}

/* Twice the slots are half the servers. */
static void warn_of_slots(const struct work *work) {
    const struct bal_recovery *recovery = &work->logs.recovery;
    if (work->args->target.seconds > 0 && recovery->servers > 0 &&
        bal_recovery_slots_are_guessed(&work->logs.times))
        cli_warn("how many requests a server works on at a time is a guess, %u, and decides how many servers "
                 "are needed; say it with --slots, or log it ($ballast_slots)",
                 recovery->slots);
}

/* Reads the logs and sets up the cases. Returns -1 to go on, or the exit status. */
static int prepare_cases(struct work *work, char **logs, int log_count) {
    struct cli_common *common = &work->args->log.common;
    const int status = cli_read_logs(&work->args->log, logs, log_count, &work->logs);
    if (status >= 0)
        return status;
    struct bal_error err = {0};
    const enum bal_code code = bal_demand_of(work->logs.trace, cli_stop_flag(), &work->demand, &err);
    if (code)
        return stopped_or_failed(code, &err);
    work->replay = replay_of(work->args, &work->logs, &work->demand);
    warn_of_kinds(work->args, bal_trace_info(work->logs.trace));
    warn_of_slots(work);
    const int failed = check_failure(&work->replay);
    if (failed >= 0)
        return failed;
    if (common->policies == 0 && work->args->keeper) {
        const int unfit = choose_keepers(common, &work->replay);
        if (unfit >= 0)
            return unfit;
    }
    if (common->policies == 0)
        choose_all(common, &work->replay);
    if (common->policies == 0)
        return cli_fail("no policy fits this fleet; name one with --policy to see why");
    work->count = common->policies;
    if (!allocate_work(work))
        return cli_no_memory();
    for (size_t i = 0; i < work->count; i++) {
        if (common->policy[i].policy->flags & BAL_TAKES_RANKS && !work->replay.model.classes)
            return cli_fail("--policy %s: needs two classes of jobs; say with --high which are high",
                            common->policy[i].policy->name);
        if (bal_replay_case(&work->replay, &common->policy[i], &work->cases[i], &err))
            return cli_fail("--policy: %s", err.text);
        work->cases[i].run.history = &work->history[i];
    }
    return -1;
}

static unsigned threads_of(const struct cli_common *common) {
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    const double wanted = common->threads > 0 ? common->threads : fmax((double)processors, 1);
    return (unsigned)fmin(wanted, THREADS_MAX);
}

/* The search comes first: it detects at once what it cannot do. */
static int replay_all(struct work *work) {
    const struct cli_common *common = &work->args->log.common;
    struct cli_progress progress;
    const struct bal_lab_options lab = {.threads = threads_of(common),
                                        .stop = cli_stop_flag(),
                                        .progress = cli_progress_show,
                                        .progress_context = &progress};
    struct bal_error err = {0};
    enum bal_code code = BAL_OK;
    if (work->args->target.seconds > 0) {
        cli_progress_start(&progress, common->quiet);
        snprintf(progress.note, sizeof progress.note, "looking for the least fleets");
        code = bal_replay_size(&work->replay, &work->demand, common->policy, work->count, &lab, work->sizing,
                               &err);
        cli_progress_end(&progress);
        if (code && code != BAL_E_STOPPED)
            return cli_fail("--target: %s", err.text);
    }
    if (!code) {
        cli_progress_start(&progress, common->quiet);
        snprintf(progress.note, sizeof progress.note, "replaying");
        code = bal_replay_run(&work->replay, work->cases, work->count, &lab, work->outcomes, &err);
        cli_progress_end(&progress);
    }
    return code ? stopped_or_failed(code, &err) : -1;
}

/* ---- results ---- */

static int write_page(const struct bal_replay_report *report, const char *path) {
    struct bal_strbuf page;
    if (!bal_strbuf_open(&page))
        return cli_no_memory();
    struct bal_error err = {0};
    enum bal_code code = bal_replay_page(report, page.stream, &err);
    if (!code && !bal_strbuf_close(&page))
        code = bal_fail(&err, BAL_E_MEMORY, "not enough memory");
    if (!code)
        code = bal_file_write(path, page.text, page.size, &err);
    bal_strbuf_discard(&page);
    return code ? cli_fail("--report: %s", err.text) : -1;
}

/* Did a target have an answer? */
static bool is_answered(const struct bal_replay_report *report) {
    for (size_t i = 0; i < report->count && report->target; i++)
        if (report->sizing[i].outcome == BAL_SIZED)
            return true;
    return !report->target;
}

static int write_all(const struct work *work, const char *title, struct cli_output *output) {
    const struct args *args = work->args;
    const bool target = args->target.seconds > 0;
    const bool given = cli_common_given(&args->log.common, "servers");
    const bool recorded = work->logs.recovery.servers > 0;
    const struct bal_replay_report report = {
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
        .command = args->command.text,
        .high_pattern = args->log.log.high_pattern,
        .high_field = args->log.log.high_field,
        .keeper = args->keeper,
    };
    struct bal_error err = {0};
    if (args->log.common.figure && bal_replay_figure(&report, args->log.common.figure, &err))
        return cli_fail("--figure %s: %s", args->log.common.figure, err.text);
    if (args->page) {
        const int status = write_page(&report, args->page);
        if (status >= 0)
            return status;
    }
    if (args->log.common.format == CLI_JSON)
        bal_replay_json(&report, output->stream);
    else if (args->log.common.format == CLI_CSV)
        bal_replay_csv(&report, output->stream);
    else
        bal_replay_text(&report, cli_style(args->log.common.format), output->stream);
    const int status = cli_output_close(output);
    return status ? status : is_answered(&report) ? CLI_OK : CLI_OUTCOME;
}

/* ---- the command ---- */

/* A terminal, a pipe, /dev/null. */
static bool is_device(const char *path) {
    struct stat there;
    return stat(path, &there) == 0 && !S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode);
}

/* An output that cannot be written is reported before the work, not after it. */
static int check_outputs(const struct args *args, char *const *logs, int count) {
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
                return cli_fail("%s %s: that is where %s goes; choose another place", places[i].option,
                                places[i].path, places[k].option);
        struct bal_error err = {0};
        if (bal_file_check(places[i].path, &err))
            return cli_fail("%s: %s", places[i].option, err.text);
        const int status = cli_check_not_logs(places[i].option, places[i].path, logs, count);
        if (status >= 0)
            return status;
    }
    return -1;
}

/* "access.log", "access.log and 3 more". */
static void title_of(char **logs, int count, char *title, size_t size) {
    const char *slash = strrchr(logs[0], '/');
    const char *name = strcmp(logs[0], "-") == 0 ? "standard input" : slash ? slash + 1 : logs[0];
    if (count > 1)
        snprintf(title, size, "%.150s and %d more", name, count - 1);
    else
        snprintf(title, size, "%.150s", name);
}

static int replay_and_print(struct args *args, char **logs, int count) {
    struct cli_output output;
    int status = check_outputs(args, logs, count);
    if (status < 0)
        status = cli_output_open(&output, args->log.common.output);
    if (status)
        return status;
    struct work work = {.args = args};
    status = prepare_cases(&work, logs, count);
    if (status < 0)
        status = replay_all(&work);
    if (status < 0) {
        char title[200];
        title_of(logs, count, title, sizeof title);
        status = write_all(&work, title, &output);
    }
    if (output.stream) /* not written: nothing may stay */
        cli_output_discard(&output);
    work_fini(&work);
    return status;
}

/* Options that contradict each other. Returns -1 to go on, or the exit status. */
static int check_options(const struct args *args) {
    const struct cli_common *common = &args->log.common;
    const enum bal_discipline discipline = common->draft.c.model.discipline;
    if (discipline != BAL_DISCIPLINE_AUTO && discipline != BAL_DISCIPLINE_SHARING &&
        discipline != BAL_DISCIPLINE_LIFO && !args->log.log.high_pattern)
        return cli_fail("--discipline: it tells classes of jobs apart; say with --high which are high");
    if (args->vary && args->target.seconds == 0)
        return cli_fail(
            "--servers: N is what --target looks for; add one, such as p99=200ms, or give a number");
    if (args->nginx && common->format != CLI_TEXT)
        return cli_fail("--nginx: the block is a text; leave out --format");
    if (args->explain && (common->format == CLI_CSV || common->format == CLI_JSON))
        return cli_fail("--explain: sentences belong below a table; use --format text or markdown");
    return -1;
}

static const char follow_option[] = "--follow";

/* "--follow LOG" or "--follow=LOG". */
static bool is_follow(const char *word) {
    const size_t length = strlen(follow_option);
    return strncmp(word, follow_option, length) == 0 && (word[length] == 0 || word[length] == '=');
}

/* The twin has the same options, except for the name of the log. */
static int follow_with_twin(int argc, char **argv) {
    char **words = calloc((size_t)argc + 1, sizeof *words);
    if (!words)
        return cli_no_memory();
    bool complete = true;
    for (int i = 0; i < argc; i++) {
        const int length = is_follow(argv[i])
                               ? asprintf(&words[i], "--log%s", argv[i] + strlen(follow_option))
                               : asprintf(&words[i], "%s", i == 0 ? "twin" : argv[i]);
        complete = complete && length >= 0;
    }
    char **moved = calloc((size_t)argc + 1, sizeof *moved); /* reading them changes their order */
    complete = complete && moved;
    if (complete)
        memcpy(moved, words, (size_t)argc * sizeof *moved);
    const int status = complete ? cli_follow(argc, moved) : cli_no_memory();
    for (int i = 0; i < argc; i++)
        free(words[i]);
    free(words);
    free(moved);
    return status;
}

static int replay_main(const struct cli_command *command, int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        if (is_follow(argv[i]))
            return follow_with_twin(argc, argv);
    struct args args = {.speedup = 1, .price = NAN};
    cli_common_init(&args.log.common, command);
    cli_set_standby(&args, "60s", NULL);
    cli_set_setup(&args, "30s", NULL);
    int operands;
    if (!cli_command_text(argc, argv, &args.command)) /* before the operands are moved */
        return cli_no_memory();
    int status = cli_parse(command, argc, argv, &args, LOGS_MAX, &operands);
    if (status < 0)
        status = check_options(&args);
    if (status < 0) {
        args.log.log.kind = args.kind_pattern;
        args.log.log.kinds = args.kinds;
        status = replay_and_print(&args, argv + 1, operands);
    }
    for (size_t i = 0; i < args.kinds; i++)
        free(args.kind_name[i]);
    bal_strbuf_discard(&args.command);
    return status;
}

const struct cli_command cmd_replay = {
    .name = "replay",
    .summary = "replay access logs: which policy, how many servers, what energy",
    .operands = "LOG...",
    .description =
        "Reads the requests of access logs (nginx, Apache, HAProxy, Envoy, AWS and others, JSON lines, csv;\n"
        "also compressed; - is standard input) and replays them, each at its recorded time and with its\n"
        "recorded service time, on a fleet of servers under each policy. Prints what was read, response\n"
        "times, messages and energy, best first. With --target it also finds the least number of servers\n"
        "that each policy needs; exit status 1 when no number will do. With --autoscale it says what servers "
        "that\n"
        "switch off would have cost (docs/autoscaling.md).",
    .examples =
        "  ballast replay access.log --servers 40\n"
        "  ballast replay access.log.gz --servers 40 --slots 8 --speedup 2 --target p99=200ms\n"
        "  ballast replay access.log --autoscale --setup 10s --standby 1s\n"
        "  ballast replay haproxy.log --service-field Tr --high '^/checkout' --report replay.html\n"
        "  ballast replay logs/*.json.zst --service-field duration:ms --from 2026-11-15T18:00 --status 2xx\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = replay_main,
};
