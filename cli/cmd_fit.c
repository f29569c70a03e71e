/* SPDX-License-Identifier: BSD-2-Clause */
/* ballast fit LOG...: from recorded jobs to an experiment file. */
#include "commands.h"

#include "ballast/fit.h"
#include "question/read_logs.h"
#include "report/fit_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LOGS_MAX = 10000 };
#define DEFAULT_LOAD 0.7 /* at the peak, of the fleet that is chosen where none is given */

struct args {
    struct bli_log_request log; /* first: its setters take the whole */
    int dist;                   /* an enum bli_fit_method, or -1: the best */
};

/* ---- options ---- */

static enum bal_code set_law(void *into, const char *value, struct bal_error *err) {
    char list[200] = "";
    size_t used = 0;
    for (int i = 0; i < BLI_FIT_METHOD_COUNT; i++) {
        if (strcmp(value, bli_fit_method_table[i].name) == 0) {
            ((struct args *)into)->dist = i;
            return BAL_OK;
        }
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "",
                                 bli_fit_method_table[i].name);
    }
    return bal_fail(err, BAL_E_UNKNOWN, "not one of %s", list);
}

static const struct bli_option options[] = {
    {.help = "a number, or COUNTxSPEED,...: 40 or 20x1,20x2 (default: for a load of 0.7)",
     .setting = "servers",
     .default_value = ""},
    {.setting = "slots"},
    {"speeds", "S",
     "how fast a server is by the number in service: cores(4), batch(8,0.15), table(...); find: as the log "
     "says",
     bli_request_set_log_speeds},
    {"law", "NAME", "det, exp, erlang, lognormal, moments, hyper or phase (default: the best)", set_law},
    BLI_LOG_OPTIONS,
    {"seed", "S", "another seed for arrivals that are spread within their second (default 1)",
     BLI_STORES_WHOLE(struct bli_request, seed, 0, 9007199254740991, "a whole number from 0")},
    {"format", "FORM", "of the table of laws: text, markdown or json (default text)",
     bli_request_set_format_but_csv},
    {"output", "FILE", "write the experiment there (default: standard output)",
     BLI_STORES_TEXT(struct bli_request, output)},
    {"quiet", NULL, "neither progress bar nor table of laws", BLI_STORES_FLAG(struct bli_request, quiet)},
};

/* ---- the work, in the order in which it is done ---- */

struct fit_work {
    const struct args *args;
    struct bli_logs logs;
    struct bli_fit_sample *sample;
    struct bli_fit_arrivals arrivals;
    struct bli_fits fits;
    struct bli_fit_report report;
};

static enum bal_code fit_models(struct fit_work *work, struct bal_error *err) {
    enum bal_code code = bli_fit_sample_new(&work->sample, err);
    if (!code)
        code = bli_fit_trace(work->logs.trace, work->logs.summary.resolution, cli_stop_flag(), work->sample,
                             &work->arrivals, err);
    if (!code)
        code = bli_fit_laws(work->sample, cli_stop_flag(), &work->fits, err);
    return code;
}

/* The fleet as asked, or that of the log, or as many servers as bring the peak to DEFAULT_LOAD. */
static struct bli_model model_of(const struct fit_work *work, enum bli_fit_method dist) {
    const struct bli_trace_info *info = bli_trace_info(work->logs.trace);
    struct bli_model model = work->args->log.common.draft.c.model;
    model.size = work->fits.fit[dist].dist;
    model.curve = work->arrivals.curve;
    if (work->arrivals.flow == BLI_FIT_BURSTY)
        model.arrivals = work->arrivals.burst[work->arrivals.as].arrivals;
    model.classes = work->args->log.log.high_pattern != NULL;
    model.high = (double)info->high / (double)info->jobs;
    const double work_rate = info->work / info->span;
    const struct bli_recovery *recovery = &work->logs.recovery;
    bli_logs_describe_servers(&work->args->log, &work->logs, &model);
    if (!bli_request_has(&work->args->log.common, "servers")) {
        bli_servers_parse("1", &model.servers, NULL);
        const double peak = work_rate * bli_curve_max(&model.curve) / bli_model_capacity(&model);
        const double wanted = recovery->servers > 0 ? recovery->servers : ceil(peak / DEFAULT_LOAD);
        model.servers.group[0].count = (uint32_t)fmin(fmax(wanted, 1), BLI_SERVERS_MAX);
    }
    model.load = work_rate / bli_model_capacity(&model);
    return model;
}

static int report_of(struct fit_work *work, char **logs, int count) {
    const bool given = bli_request_has(&work->args->log.common, "servers");
    const bool recorded = work->logs.recovery.servers > 0;
    const int dist = work->args->dist >= 0 ? work->args->dist : (int)work->fits.best;
    struct bal_error err = {0};
    if (!work->fits.fit[dist].made)
        return cli_fail("--law %s: there is none that is as variable as these sizes (c2 %.3g); leave it out "
                        "to see which there are",
                        bli_fit_method_table[dist].name, work->fits.c2);
    work->report = (struct bli_fit_report){
        .logs = (const char *const *)logs,
        .log_count = (size_t)count,
        .summary = &work->logs.summary,
        .times = &work->logs.times,
        .info = bli_trace_info(work->logs.trace),
        .fits = &work->fits,
        .arrivals = &work->arrivals,
        .chosen = (enum bli_fit_method)dist,
        .forced = work->args->dist >= 0,
        .sized_for = given || recorded ? 0 : DEFAULT_LOAD,
        .recorded = !given && recorded,
        .model = model_of(work, (enum bli_fit_method)dist),
    };
    return bli_model_check(&work->report.model, &err) ? cli_fail("%s", err.text) : -1;
}

static int fit_logs(struct fit_work *work, char **logs, int count) {
    struct bal_error err = {0};
    const int status = cli_read_logs(&work->args->log, (const char *const *)logs, count, &work->logs);
    if (status >= 0)
        return status;
    const enum bal_code code = fit_models(work, &err);
    if (code == BAL_E_STOPPED) {
        cli_warn("interrupted");
        return CLI_INTERRUPTED;
    }
    return code ? cli_fail("%s", err.text) : report_of(work, logs, count);
}

/* The table goes where the experiment does not. */
static int print_all(const struct fit_work *work, struct cli_output *output) {
    const struct bli_request *common = &work->args->log.common;
    struct bli_strbuf table;
    const bool shown = bli_strbuf_open(&table) && !common->quiet;
    if (shown)
        bli_fit_print(&work->report, BLI_ROWS(common->format, table.stream));
    if (!bli_strbuf_close(&table)) {
        cli_output_discard(output);
        return cli_no_memory();
    }
    bli_fit_yaml(&work->report, output->stream);
    int status = cli_output_close(output);
    if (status == CLI_OK && common->output)
        status = cli_print("", table.text, table.size);
    else if (status == CLI_OK)
        fputs(table.text, stderr);
    bli_strbuf_discard(&table);
    return status;
}

static int fit_main(const struct cli_command *command, int argc, char **argv) {
    struct args args = {.dist = -1};
    struct bli_options table;
    cli_command_options(command, &table);
    bli_request_init(&args.log.common, &table);
    int logs;
    int status = cli_parse(command, argc, argv, &args, LOGS_MAX, &logs);
    if (status >= 0)
        return status;
    struct bal_error err = {0};
    if (bli_check_not_logs("--output", args.log.common.output, (const char *const *)argv + 1, (size_t)logs,
                           &err))
        return cli_fail("%s", err.text);
    struct cli_output output;
    status = cli_output_open(&output, args.log.common.output);
    if (status)
        return status;
    struct fit_work *work = calloc(1, sizeof *work);
    if (work) {
        work->args = &args;
        status = fit_logs(work, argv + 1, logs);
    } else {
        status = cli_no_memory();
    }
    if (status < 0)
        status = print_all(work, &output);
    else
        cli_output_discard(&output);
    if (work) {
        bli_fit_sample_free(work->sample);
        bli_logs_fini(&work->logs);
    }
    free(work);
    return status;
}

const struct cli_command cmd_fit = {
    .name = "fit",
    .summary = "fit a workload to access logs: an experiment file to ask what if",
    .operands = "LOG...",
    .description =
        "Reads access logs as replay does and writes an experiment file for `ballast run`: a law fitted to "
        "the service\n"
        "times, a curve fitted to the arrivals, bursts if the log has them, a fleet, and a sweep over loads "
        "below and\n"
        "above that of the log. A table of laws says how well each fits; it goes to standard error, or to "
        "standard\n"
        "output with --output.",
    .examples = "  ballast fit access.log --servers 40 --output day.yaml && ballast run day.yaml\n"
                "  ballast fit access.log.1.gz access.log --slots 8 --service-field upstream_response_time\n"
                "  ballast fit requests.jsonl --law lognormal --format json --output day.yaml\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = fit_main,
};
