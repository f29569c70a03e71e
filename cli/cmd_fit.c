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
    struct bal_log_request log; /* first: its setters take the whole */
    int dist;                   /* an enum bal_fit_method, or -1: the best */
};

/* ---- options ---- */

static enum bal_code set_law(void *into, const char *value, struct bal_error *err) {
    char list[200] = "";
    size_t used = 0;
    for (int i = 0; i < BAL_FIT_METHOD_COUNT; i++) {
        if (strcmp(value, bal_fit_method_table[i].name) == 0) {
            ((struct args *)into)->dist = i;
            return BAL_OK;
        }
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "",
                                 bal_fit_method_table[i].name);
    }
    return bal_fail(err, BAL_E_UNKNOWN, "not one of %s", list);
}

static const struct bal_option options[] = {
    {.help = "a number, or COUNTxSPEED,...: 40 or 20x1,20x2 (default: for a load of 0.7)",
     .setting = "servers",
     .default_value = ""},
    {.setting = "slots"},
    {"law", "NAME", "det, exp, erlang, lognormal, moments, hyper or phase (default: the best)", set_law},
    BAL_LOG_OPTIONS,
    {"seed", "S", "another seed for arrivals that are spread within their second (default 1)",
     BAL_STORES_WHOLE(struct bal_request, seed, 0, 9007199254740991, "a whole number from 0")},
    {"format", "FORM", "of the table of laws: text, markdown or json (default text)",
     bal_request_set_format_but_csv},
    {"output", "FILE", "write the experiment there (default: standard output)",
     BAL_STORES_TEXT(struct bal_request, output)},
    {"quiet", NULL, "neither progress bar nor table of laws", BAL_STORES_FLAG(struct bal_request, quiet)},
};

/* ---- the work, in the order in which it is done ---- */

struct fit_work {
    const struct args *args;
    struct bal_logs logs;
    struct bal_fit_sample *sample;
    struct bal_fit_arrivals arrivals;
    struct bal_fits fits;
    struct bal_fit_report report;
};

static enum bal_code fit_models(struct fit_work *work, struct bal_error *err) {
    enum bal_code code = bal_fit_sample_new(&work->sample, err);
    if (!code)
        code = bal_fit_trace(work->logs.trace, work->logs.summary.resolution, cli_stop_flag(), work->sample,
                             &work->arrivals, err);
    if (!code)
        code = bal_fit_laws(work->sample, cli_stop_flag(), &work->fits, err);
    return code;
}

/* The fleet as asked, or that of the log, or as many servers as bring the peak to DEFAULT_LOAD. */
static struct bal_model model_of(const struct fit_work *work, enum bal_fit_method dist) {
    const struct bal_trace_info *info = bal_trace_info(work->logs.trace);
    struct bal_model model = work->args->log.common.draft.c.model;
    model.size = work->fits.fit[dist].dist;
    model.curve = work->arrivals.curve;
    if (work->arrivals.flow == BAL_FIT_BURSTY)
        model.arrivals = work->arrivals.burst[work->arrivals.as].arrivals;
    model.classes = work->args->log.log.high_pattern != NULL;
    model.high = (double)info->high / (double)info->jobs;
    const double work_rate = info->work / info->span;
    const struct bal_recovery *recovery = &work->logs.recovery;
    if (!bal_request_has(&work->args->log.common, "slots") && recovery->servers > 0)
        model.slots = recovery->slots;
    if (!bal_request_has(&work->args->log.common, "servers")) {
        bal_servers_parse("1", &model.servers, NULL);
        const double peak = work_rate * bal_curve_max(&model.curve) / bal_model_capacity(&model);
        const double wanted = recovery->servers > 0 ? recovery->servers : ceil(peak / DEFAULT_LOAD);
        model.servers.group[0].count = (uint32_t)fmin(fmax(wanted, 1), BAL_SERVERS_MAX);
    }
    model.load = work_rate / bal_model_capacity(&model);
    return model;
}

static int report_of(struct fit_work *work, char **logs, int count) {
    const bool given = bal_request_has(&work->args->log.common, "servers");
    const bool recorded = work->logs.recovery.servers > 0;
    const int dist = work->args->dist >= 0 ? work->args->dist : (int)work->fits.best;
    struct bal_error err = {0};
    if (!work->fits.fit[dist].made)
        return cli_fail("--law %s: there is none that is as variable as these sizes (c2 %.3g); leave it out "
                        "to see which there are",
                        bal_fit_method_table[dist].name, work->fits.c2);
    work->report = (struct bal_fit_report){
        .logs = (const char *const *)logs,
        .log_count = (size_t)count,
        .summary = &work->logs.summary,
        .times = &work->logs.times,
        .info = bal_trace_info(work->logs.trace),
        .fits = &work->fits,
        .arrivals = &work->arrivals,
        .chosen = (enum bal_fit_method)dist,
        .forced = work->args->dist >= 0,
        .sized_for = given || recorded ? 0 : DEFAULT_LOAD,
        .recorded = !given && recorded,
        .model = model_of(work, (enum bal_fit_method)dist),
    };
    return bal_model_check(&work->report.model, &err) ? cli_fail("%s", err.text) : -1;
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
    const struct bal_request *common = &work->args->log.common;
    struct bal_strbuf table;
    const bool shown = bal_strbuf_open(&table) && !common->quiet;
    if (shown && common->format == BAL_FORM_JSON)
        bal_fit_json(&work->report, table.stream);
    else if (shown)
        bal_fit_text(&work->report, bal_form_style(common->format), table.stream);
    if (!bal_strbuf_close(&table)) {
        cli_output_discard(output);
        return cli_no_memory();
    }
    bal_fit_yaml(&work->report, output->stream);
    int status = cli_output_close(output);
    if (status == CLI_OK && common->output)
        status = cli_print("", table.text, table.size);
    else if (status == CLI_OK)
        fputs(table.text, stderr);
    bal_strbuf_discard(&table);
    return status;
}

static int fit_main(const struct cli_command *command, int argc, char **argv) {
    struct args args = {.dist = -1};
    struct bal_options table;
    cli_command_options(command, &table);
    bal_request_init(&args.log.common, &table);
    int logs;
    int status = cli_parse(command, argc, argv, &args, LOGS_MAX, &logs);
    if (status >= 0)
        return status;
    struct bal_error err = {0};
    if (bal_check_not_logs("--output", args.log.common.output, (const char *const *)argv + 1, (size_t)logs,
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
        bal_fit_sample_free(work->sample);
        bal_logs_fini(&work->logs);
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
