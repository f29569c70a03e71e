/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs one block of requests against a fleet of real processes and collects the results. */
#include "rig/block.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- what comes in ---- */

static bool grow_array(void **at, size_t *room, size_t wanted, size_t size) {
    if (wanted <= *room)
        return true;
    const size_t larger = wanted < 1024 ? 1024 : 2 * wanted;
    char *grown = realloc(*at, larger * size);
    if (!grown)
        return false;
    memset(grown + *room * size, 0, (larger - *room) * size);
    *at = grown;
    *room = larger;
    return true;
}

void bli_block_record(struct rig_block *block, double value, const char *name, ...) {
    void *facts = block->fact;
    if (isnan(value))
        return;
    if (!grow_array(&facts, &block->fact_room, block->facts + 1, sizeof *block->fact)) {
        block->no_memory = true;
        return;
    }
    block->fact = facts;
    struct bli_fact *fact = &block->fact[block->facts++];
    va_list args;
    va_start(args, name);
    vsnprintf(fact->name, sizeof fact->name, name, args);
    va_end(args);
    fact->value = value;
}

static void on_complete(void *context, const struct bli_load_outcome *outcome) {
    struct rig_block *block = context;
    void *outcomes = block->outcome;
    if (!grow_array(&outcomes, &block->room, outcome->number + 1, sizeof *block->outcome)) {
        block->no_memory = true;
        return;
    }
    block->outcome = outcomes;
    block->outcomes = outcome->number + 1 > block->outcomes ? outcome->number + 1 : block->outcomes;
    block->outcome[outcome->number] =
        (struct rig_request_outcome){.time = outcome->time,
                                     .ended = outcome->ended,
                                     .class_ = outcome->class_,
                                     .front = outcome->target,
                                     .resent = outcome->resent,
                                     .good = outcome->status >= 100 && outcome->status < 400};
}

/* A line of the servers' log: TAG-NUMBER SERVER ARRIVED BEGUN ENDED STATUS. */
static void read_line(struct rig_block *block, char *line, unsigned first_server) {
    char *at = strchr(line, '-');
    if (!at || at == line)
        return;
    const unsigned long long number = strtoull(at + 1, &at, 10);
    const unsigned server = (unsigned)strtoul(at, &at, 10);
    const double arrived = strtod(at, &at);
    strtod(at, &at);
    const double ended = strtod(at, &at);
    const long status = strtol(at, &at, 10);
    if (status >= 100 && status < 500 && number < block->outcomes)
        block->outcome[number].served++;
    block->visit[block->visits++] = (struct rig_visit){.from = arrived - block->start,
                                                       .to = ended - block->start,
                                                       .server = first_server + server,
                                                       .number = number};
}

/* Returns how many lines there were. */
static size_t read_log(struct rig_block *block, char *text, unsigned first_server) {
    size_t lines = 0;
    for (const char *at = text; (at = strchr(at, '\n')); at++)
        lines++;
    struct rig_visit *visit = realloc(block->visit, (block->visits + lines + 1) * sizeof *visit);
    if (!visit) {
        block->no_memory = true;
        return 0;
    }
    block->visit = visit;
    char *rest = text, *line;
    while ((line = strsep(&rest, "\n")) && rest)
        read_line(block, line, first_server);
    return lines;
}

/* In pieces: the log of an hour is longer than any answer may be. */
static bool ask_log(struct rig_block *block, unsigned control, unsigned first_server, struct bal_error *err) {
    const struct rig *rig = block->rig;
    enum { PIECE = 100000 };
    for (size_t from = 0, lines = PIECE; lines == PIECE && !block->no_memory; from += lines) {
        char path[80];
        snprintf(path, sizeof path, "/log?from=%zu&most=%d", from, PIECE);
        char *log = bli_rig_get(rig, bli_rig_control_host(rig, control), rig->control[control], path, err);
        if (!log)
            return false;
        lines = read_log(block, log, first_server);
        free(log);
    }
    return true;
}

static bool ask_stats(struct rig_block *block, unsigned control, struct bal_error *err) {
    const struct rig *rig = block->rig;
    static const char name[] = "\"overslept\": ";
    char *stats = bli_rig_get(rig, bli_rig_control_host(rig, control), rig->control[control], "/stats", err);
    const char *at = stats ? strstr(stats, name) : NULL;
    if (at)
        block->overslept += strtod(at + strlen(name), NULL) / rig->controls;
    free(stats);
    return at;
}

/* What the servers have seen. With keepers there is one log for each server; a server that is stopped has
 * none. */
static enum bal_code ask_servers(struct rig_block *block, struct bal_error *err) {
    const struct rig *rig = block->rig;
    for (unsigned i = 0; i < rig->controls; i++) {
        struct bal_error inner = {0};
        const unsigned first = rig->controls == rig->groups ? bli_rig_group_first(rig, i) : i;
        const bool told = ask_log(block, i, first, &inner) && ask_stats(block, i, &inner);
        if (!told && !rig->live->keepers)
            return bal_fail(err, BAL_E_IO, "the servers do not tell what they have seen: %s", inner.text);
    }
    return BAL_OK;
}

/* All numbers behind a name in a text of JSON, added up. */
static double sum_of(const char *text, const char *name) {
    double sum = 0;
    for (const char *at = text; (at = strstr(at, name));) {
        at += strlen(name);
        sum += strtod(at, NULL);
    }
    return sum;
}

/* How often stations have offered a slot to a dispatcher, and how often that was with a response. */
static void ask_stations(struct rig_block *block) {
    const struct rig *rig = block->rig;
    double offers = 0, rode = 0;
    for (unsigned i = 0; i < bli_rig_stations(rig); i++) {
        char *text = bli_rig_get(rig, bli_rig_station_host(rig, i),
                                 bli_rig_station_port(rig, bli_rig_station_first(rig, i)), "/ballast", NULL);
        offers += text ? sum_of(text, "\"offers\":") : 0;
        rode += text ? sum_of(text, "\"rode\":") : 0;
        free(text);
    }
    if (rig->stations) {
        bli_block_record(block, offers, "offers");
        bli_block_record(block, rode, "rode");
    }
}

/* ---- sending ---- */

struct hooks {
    struct rig_block *block;
    void (*progress)(void *context, double part);
    void *context;
};

static void on_progress(void *context, double part, uint64_t sent, uint64_t failed) {
    const struct hooks *hooks = context;
    (void)sent, (void)failed;
    if (hooks->progress)
        hooks->progress(hooks->context, part);
}

static double on_event(void *context, double now) {
    struct rig_block *block = context;
    const double fault = bli_fault_step(block, now), look = bli_memory_step(block, now);
    return fmin(fault, look);
}

/* The most urgent class first. */
static void set_classes(struct bli_load *load, const struct bli_model *model) {
    if (!model->classes)
        return;
    const uint32_t classes = bli_model_classes(model);
    load->classes = classes;
    for (uint32_t i = 0; i < classes; i++)
        load->class_[i] = (struct bli_load_class){.urgency = bli_rig_urgency(classes, i),
                                                  .share = classes > 2 ? model->share[i]
                                                           : i         ? 1 - model->high
                                                                       : model->high};
}

static enum bal_code send_all(struct rig_block *block, uint64_t replication, const volatile int *stop,
                              struct hooks *hooks, struct bal_error *err) {
    const struct rig *rig = block->rig;
    const struct bli_model *model = &rig->c.model;
    struct bli_load load = {.urls = rig->dispatchers,
                            .rate = bli_model_arrival_rate(model),
                            .arrivals = model->arrivals,
                            .curve = model->curve,
                            .seconds = rig->live->seconds,
                            .service = &model->size,
                            .connections = 4000,
                            .timeout = 2 * rig->live->timeout + 5,
                            .seed = rig->c.run.seed,
                            .replication = replication,
                            .stop = stop,
                            .progress = on_progress,
                            .progress_context = hooks,
                            .outcome = on_complete,
                            .event = on_event,
                            .context = block};
    char url[RIG_DISPATCHERS][RIG_ADDRESS + 20], address[RIG_ADDRESS];
    for (unsigned i = 0; i < rig->dispatchers; i++) {
        bli_rig_address(rig, bli_rig_front_host(rig, i), address);
        snprintf(url[i], sizeof url[i], "http://%s:%u/", address, bli_rig_front_port(rig, i));
        load.url[i] = url[i];
    }
    set_classes(&load, model);
    block->start = bli_clock();
    return bli_load_run(&load, block->load, err);
}

/* ---- what it says ---- */

/* Of all requests, or of those of a class: answers that came in the time that is measured, as in the lab. */
static void put_times(const struct rig_block *block, double from, double to, int class_, double unit,
                      struct bli_histogram *histogram, double *metric) {
    double sum = 0;
    uint64_t count = 0;
    memset(histogram, 0, sizeof *histogram);
    for (size_t i = 0; i < block->outcomes; i++) {
        const struct rig_request_outcome *outcome = &block->outcome[i];
        if (!outcome->good || outcome->ended <= from || outcome->ended > to ||
            (class_ >= 0 && outcome->class_ != (unsigned)class_))
            continue;
        sum += outcome->ended - outcome->time;
        count++;
        bli_histogram_add(histogram, (outcome->ended - outcome->time) / unit);
    }
    static const double parts[] = {0.5, 0.9, 0.99, 0.999};
    metric[0] = count ? sum / (double)count : NAN;
    for (int i = 0; i < 4; i++)
        metric[1 + i] = count ? unit * bli_histogram_quantile(histogram, parts[i]) : NAN;
}

/* Requests under way between two times, on average. */
static double mean_queue(const struct rig_block *block, double from, double to) {
    double sum = 0;
    for (size_t i = 0; i < block->outcomes; i++)
        sum += fmax(0, fmin(block->outcome[i].ended, to) - fmax(block->outcome[i].time, from));
    return sum / (to - from);
}

/* High is the first class, low the last. */
static void put_class_times(const struct rig_block *block, double cut, struct bli_histogram *scratch,
                            struct bli_trial *trial) {
    const struct bli_model *model = &block->rig->c.model;
    const double time = block->rig->live->seconds, unit = model->size.mean;
    const int classes = (int)bli_model_classes(model);
    if (classes == 1)
        return;
    put_times(block, cut, time, 0, unit, scratch, &trial->metric[BLI_HIGH_RESPONSE_MEAN]);
    put_times(block, cut, time, classes - 1, unit, scratch, &trial->metric[BLI_LOW_RESPONSE_MEAN]);
    for (int i = 0; classes > 2 && i < classes; i++) {
        double metric[BLI_RESPONSE_P999 - BLI_RESPONSE_MEAN + 1];
        put_times(block, cut, time, i, unit, scratch, metric);
        trial->metric[BLI_CLASS_1_RESPONSE_MEAN + 2 * i] = metric[0];
        trial->metric[BLI_CLASS_1_RESPONSE_P99 + 2 * i] = metric[BLI_RESPONSE_P99 - BLI_RESPONSE_MEAN];
    }
}

static enum bal_code fill_trial(const struct rig_block *block, struct bli_trial *trial,
                                struct bal_error *err) {
    const struct rig *rig = block->rig;
    const double time = rig->live->seconds, unit = rig->c.model.size.mean;
    const double cut = rig->c.run.warmup > 0 ? rig->c.run.warmup * time : 0;
    struct bli_histogram *scratch = malloc(sizeof *scratch);
    if (!scratch)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for a block");
    for (int m = 0; m < BLI_METRIC_COUNT; m++)
        trial->metric[m] = NAN;
    for (int i = 0; i < BLI_TAIL_LEVELS; i++)
        trial->tail[i] = NAN;
    for (int q = 0; q < 4; q++)
        trial->quarter[q] = mean_queue(block, time * q / 4, time * (q + 1) / 4);
    put_times(block, cut, time, -1, unit, trial->histogram[BLI_OF_RESPONSE],
              &trial->metric[BLI_RESPONSE_MEAN]);
    trial->jobs = bli_histogram_total(trial->histogram[BLI_OF_RESPONSE]);
    put_class_times(block, cut, scratch, trial);
    free(scratch);
    trial->metric[BLI_QUEUE_TOTAL] = mean_queue(block, cut, time);
    trial->metric[BLI_QUEUE_MEAN] = trial->metric[BLI_QUEUE_TOTAL] / rig->servers;
    trial->warmup = cut;
    trial->events = 2 * block->load->due;
    trial->seconds = block->load->drained;
    trial->engine = BLI_ENGINE_LIVE;
    return BAL_OK;
}

static double late_of(const struct bli_load_result *load) {
    return load->late.count ? load->late.sum / (double)load->late.count : 0;
}

static void record_facts(struct rig_block *block, struct bli_trial *trial) {
    const struct rig *rig = block->rig;
    const struct bli_load_result *load = block->load;
    double lost = 0, doubled = 0;
    for (size_t i = 0; i < block->outcomes; i++) {
        lost += !block->outcome[i].good;
        doubled += block->outcome[i].served > 1;
    }
    const unsigned slots = rig->c.model.slots ? rig->c.model.slots : 1;
    const unsigned most = bli_max_concurrent(block, 0, INFINITY);
    trial->metric[BLI_FAILED] = load->due ? lost / (double)load->due : 0;
    bli_block_record(block, (double)load->due, "requests");
    bli_block_record(block, lost, "lost");
    bli_block_record(block, doubled, "doubled");
    bli_block_record(block, (double)load->resent, "resent");
    bli_block_record(block, (double)load->strange, "strange");
    bli_block_record(block, late_of(load), "late.mean");
    bli_block_record(block, bli_histogram_quantile(&load->late.histogram, 0.99), "late.p99");
    bli_block_record(block, block->overslept, "overslept");
    if (rig->stations)
        bli_block_record(block, most > slots ? most - slots : 0, "exceeded");
    bli_recovery_record(block);
    bli_memory_record(block);
}

enum bal_code bli_block_run(struct rig_block *block, struct rig *rig, uint64_t replication,
                            const volatile int *stop, void (*progress)(void *context, double part),
                            void *context, struct bli_trial *trial, struct bal_error *err) {
    *block = (struct rig_block){.rig = rig, .load = calloc(1, sizeof *block->load)};
    struct hooks hooks = {.block = block, .progress = progress, .context = context};
    if (!block->load || !bli_fault_plan(block))
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for a block");
    enum bal_code code = send_all(block, replication, stop, &hooks, err);
    if (!code && block->load->stopped)
        code = bal_fail(err, BAL_E_STOPPED, "stopped");
    if (!code && block->fault.code) {
        *err = block->fault;
        code = err->code;
    }
    if (!code)
        code = ask_servers(block, err);
    if (!code)
        code = fill_trial(block, trial, err);
    if (!code) {
        record_facts(block, trial);
        ask_stations(block);
    }
    if (!code && block->no_memory)
        code = bal_fail(err, BAL_E_MEMORY, "not enough memory for a block");
    return code;
}

/* ---- the delay of messages ---- */

static int compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Half of the median of what requests took beyond their visits; NaN: none was answered. */
static double median_delay(const struct rig_block *block) {
    double *beyond = malloc((block->visits + 1) * sizeof *beyond), delay = NAN;
    size_t count = 0;
    for (size_t i = 0; beyond && i < block->visits; i++) {
        const struct rig_visit *visit = &block->visit[i];
        if (visit->number < block->outcomes && block->outcome[visit->number].good) {
            const struct rig_request_outcome *outcome = &block->outcome[visit->number];
            beyond[count++] = outcome->ended - outcome->time - (visit->to - visit->from);
        }
    }
    if (count) {
        qsort(beyond, count, sizeof *beyond, compare_doubles);
        delay = fmax(beyond[count / 2], 2e-9) / 2;
    }
    free(beyond);
    return delay;
}

static double round_to_two_digits(double value) {
    const double unit = pow(10, floor(log10(value)) - 1);
    return round(value / unit) * unit;
}

enum bal_code bli_block_measure_delay(struct rig *rig, const volatile int *stop, double *delay,
                                      struct bal_error *err) {
    static const double each = 0.001, rate = 100, lasts = 0.5;
    const struct bli_case c = rig->c;
    const struct bli_live *live = rig->live;
    struct bli_live brief = *live;
    struct rig_block block = {.rig = rig, .load = calloc(1, sizeof *block.load)};
    struct hooks hooks = {.block = &block};
    brief.seconds = lasts;
    brief.faults = 0;
    rig->live = &brief;
    rig->c.model.size = bli_dist_constant(each);
    rig->c.model.arrivals = (struct bli_arrivals){0};
    rig->c.model.curve = (struct bli_curve){0};
    rig->c.model.load *= rate / bli_model_arrival_rate(&rig->c.model);
    enum bal_code code = block.load && bli_fault_plan(&block)
                             ? send_all(&block, 0, stop, &hooks, err)
                             : bal_fail(err, BAL_E_MEMORY, "not enough memory for a block");
    if (!code && block.load->stopped)
        code = bal_fail(err, BAL_E_STOPPED, "stopped");
    if (!code)
        code = ask_servers(&block, err);
    *delay = code ? NAN : median_delay(&block);
    if (!code && isnan(*delay))
        code = bal_fail(err, BAL_E_IO, "no request was answered when the delay of messages was measured");
    if (!code)
        *delay = round_to_two_digits(*delay);
    bli_block_fini(&block);
    rig->c = c;
    rig->live = live;
    return code;
}

bool bli_block_is_disturbed(const struct rig_block *block) {
    static const double most = 0.05; /* of a service time */
    enum { SHORT = 30 };             /* seconds */
    const struct rig *rig = block->rig;
    return rig->live->urgent && rig->live->faults == 0 && rig->live->seconds <= SHORT &&
           late_of(block->load) + block->overslept > most * rig->c.model.size.mean;
}

void bli_block_fini(struct rig_block *block) {
    if (block->load)
        bli_load_result_fini(block->load);
    free(block->load);
    free(block->outcome);
    free(block->visit);
    free(block->memory);
    free(block->event);
    free(block->fact);
}
