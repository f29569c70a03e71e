/* SPDX-License-Identifier: BSD-2-Clause */
/* Settings of what lies between dispatchers and servers. */
#include "spec/setting.h"
#include "spec/value.h"

#include <string.h>

static enum bal_code set_dispatchers(struct bli_draft *draft, const char *text, struct bal_error *err) {
    return bli_dispatchers_parse(text, &draft->c.model.network.dispatchers, err);
}

static size_t print_dispatchers(const struct bli_draft *draft, char *text, size_t size) {
    return bli_dispatchers_print(&draft->c.model.network.dispatchers, text, size);
}

/* A law, or a number that is always so. */
static enum bal_code set_delay(struct bli_draft *draft, const char *text, struct bal_error *err) {
    static const struct bli_value_range range = {
        1e-9, 1e9, false, "a time above 0, a law such as exp(0.1) or uniform(0.05,0.15), or none"};
    struct bli_dist *dist = &draft->c.model.network.delay;
    double value = 1;
    const bool measured = strcmp(text, "measured") == 0;
    if (measured && !draft->live)
        return bal_fail(err, BAL_E_MODEL,
                        "'measured': only `ballast live` measures it; give a time, a law, or none");
    draft->delay_measured = measured;
    if (measured || strcmp(text, "none") == 0) {
        memset(dist, 0, sizeof *dist);
        return BAL_OK;
    }
    if (strchr("0123456789.", text[0]) == NULL)
        return bli_dist_parse(text, dist, err);
    const enum bal_code code = bli_value_number(text, &range, &value, err);
    if (!code)
        *dist = bli_dist_constant(value);
    return code;
}

static size_t print_delay(const struct bli_draft *draft, char *text, size_t size) {
    const struct bli_dist *dist = &draft->c.model.network.delay;
    return dist->mean > 0 ? bli_dist_print(dist, text, size) : bli_value_print_text("none", text, size);
}

static enum bal_code set_loss(struct bli_draft *draft, const char *text, struct bal_error *err) {
    static const struct bli_value_range range = {0, 0.99, false,
                                                 "a probability from 0 to 0.99, such as 0.01"};
    return bli_value_number(text, &range, &draft->c.model.network.loss, err);
}

static size_t print_loss(const struct bli_draft *draft, char *text, size_t size) {
    return bli_value_print_number(draft->c.model.network.loss, text, size);
}

/* A time, or none. */
static enum bal_code set_time(const char *text, double *time, struct bal_error *err) {
    static const struct bli_value_range range = {1e-9, 1e15, false, "a time above 0, such as 10, or none"};
    if (strcmp(text, "none") != 0)
        return bli_value_number(text, &range, time, err);
    *time = 0;
    return BAL_OK;
}

static enum bal_code set_heartbeat(struct bli_draft *draft, const char *text, struct bal_error *err) {
    return set_time(text, &draft->c.model.network.heartbeat, err);
}

static size_t print_heartbeat(const struct bli_draft *draft, char *text, size_t size) {
    const double time = draft->c.model.network.heartbeat;
    return bli_value_print_or(time, time > 0, "none", text, size);
}

static enum bal_code set_timeout(struct bli_draft *draft, const char *text, struct bal_error *err) {
    return set_time(text, &draft->c.model.network.timeout, err);
}

static size_t print_timeout(const struct bli_draft *draft, char *text, size_t size) {
    const double time = draft->c.model.network.timeout;
    return bli_value_print_or(time, time > 0, "none", text, size);
}

static enum bal_code set_churn(struct bli_draft *draft, const char *text, struct bal_error *err) {
    return bli_churn_parse(text, &draft->c.model.network.churn, err);
}

static size_t print_churn(const struct bli_draft *draft, char *text, size_t size) {
    return bli_churn_print(&draft->c.model.network.churn, text, size);
}

static enum bal_code set_cold(struct bli_draft *draft, const char *text, struct bal_error *err) {
    return bli_cold_parse(text, &draft->c.model.network.cold, err);
}

static size_t print_cold(const struct bli_draft *draft, char *text, size_t size) {
    return bli_cold_print(&draft->c.model.network.cold, text, size);
}

static enum bal_code set_slow_start(struct bli_draft *draft, const char *text, struct bal_error *err) {
    return set_time(text, &draft->c.model.network.slow_start, err);
}

static size_t print_slow_start(const struct bli_draft *draft, char *text, size_t size) {
    const double time = draft->c.model.network.slow_start;
    return bli_value_print_or(time, time > 0, "none", text, size);
}

static enum bal_code set_fail_fast(struct bli_draft *draft, const char *text, struct bal_error *err) {
    return bli_fail_fast_parse(text, &draft->c.model.network.fail_fast, err);
}

static size_t print_fail_fast(const struct bli_draft *draft, char *text, size_t size) {
    return bli_fail_fast_print(&draft->c.model.network.fail_fast, text, size);
}

static enum bal_code set_ejection(struct bli_draft *draft, const char *text, struct bal_error *err) {
    return bli_value_flag(text, &draft->c.model.network.ejection, err);
}

static size_t print_ejection(const struct bli_draft *draft, char *text, size_t size) {
    return bli_value_print_flag(draft->c.model.network.ejection, text, size);
}

static enum bal_code set_events(struct bli_draft *draft, const char *text, struct bal_error *err) {
    return bli_network_events_parse(text, &draft->c.model.network.events, err);
}

static size_t print_events(const struct bli_draft *draft, char *text, size_t size) {
    return bli_network_events_print(&draft->c.model.network.events, text, size);
}

static enum bal_code set_backlog(struct bli_draft *draft, const char *text, struct bal_error *err) {
    static const struct bli_value_range range = {1, 1e6, true,
                                                 "a whole number of jobs from 1 to 1M, or none"};
    if (strcmp(text, "none") != 0)
        return bli_value_whole(text, &range, &draft->c.model.backlog, err);
    draft->c.model.backlog = 0;
    return BAL_OK;
}

static size_t print_backlog(const struct bli_draft *draft, char *text, size_t size) {
    return bli_value_print_or(draft->c.model.backlog, draft->c.model.backlog > 0, "none", text, size);
}

static enum bal_code set_hold_limit(struct bli_draft *draft, const char *text, struct bal_error *err) {
    return bli_hold_limit_parse(text, &draft->c.model.hold_limit, err);
}

static size_t print_hold_limit(const struct bli_draft *draft, char *text, size_t size) {
    return bli_hold_limit_print(&draft->c.model.hold_limit, text, size);
}

/* For a deprecated name: its value is printed under the new name. */
static size_t print_nothing(const struct bli_draft *draft, char *text, size_t size) {
    (void)draft;
    return bli_value_print_text("", text, size);
}

static const struct bli_field fields[] = {
    {.name = "dispatchers",
     BLI_SETTING_AT(dispatchers, c.model.network.dispatchers),
     .whole = true,
     .default_value = "1",
     .argument = "M",
     .help = "how many, each with a view of its own; or the share of the jobs of each: `0.5,0.3,0.2`"},
    {.name = "backlog",
     BLI_SETTING_AT(backlog, c.model.backlog),
     .whole = true,
     .default_value = "none",
     .argument = "B",
     .help = "most jobs that a dispatcher holds (`else=hold`), one more goes to a uniform server"},
    {.name = "hold-limit",
     BLI_SETTING_AT(hold_limit, c.model.hold_limit),
     .whole = true,
     .default_value = "none",
     .argument = "N",
     .help = "most jobs that a dispatcher holds, one more is refused, or a less urgent one; of each class: "
             "`20,20,5`"},
    {.name = "delay",
     BLI_SETTING_AT(delay, c.model.network.delay),
     .default_value = "none",
     .argument = "LAW",
     .help = "time that every message takes, and a job and its response: `0.1`, `exp(0.1)`, ..."},
    {.name = "loss",
     BLI_SETTING_AT(loss, c.model.network.loss),
     .default_value = "0",
     .argument = "P",
     .help = "probability that a message gets lost; jobs and responses never do"},
    {.name = "heartbeat",
     BLI_SETTING_AT(heartbeat, c.model.network.heartbeat),
     .default_value = "none",
     .argument = "TIME",
     .help = "how often each server tells each dispatcher what is so; not heard three times: not chosen"},
    {.name = "timeout",
     BLI_SETTING_AT(timeout, c.model.network.timeout),
     .default_value = "none",
     .argument = "TIME",
     .help = "how long a job waits for replies to probes (`none`: ten delays, or 0.1 service times)"},
    {.name = "churn",
     BLI_SETTING_AT(churn, c.model.network.churn),
     .default_value = "none",
     .argument = "UP,DOWN",
     .help =
         "mean times for which servers work and are down; jobs there are retried, or lost: `1000,10,lose`"},
    {.name = "cold",
     BLI_SETTING_AT(cold, c.model.network.cold),
     .default_value = "none",
     .argument = "FACTOR,TIME",
     .help =
         "jobs take so many times as long at a server that has come back; falls to 1 in that time, or in so "
         "many jobs: `5,20`, `5,100,jobs`"},
    {.name = "slow-start",
     BLI_SETTING_AT(slow_start, c.model.network.slow_start),
     .default_value = "none",
     .argument = "TIME",
     .help = "for so long dispatchers give a server that has come back a growing share"},
    {.name = "fail-fast",
     BLI_SETTING_AT(fail_fast, c.model.network.fail_fast),
     .default_value = "none",
     .argument = "SHARE",
     .help = "share of servers that answer fast and wrongly, and how fast: `0.1`, `0.1,0.05`"},
    {.name = "sinkhole",
     .is = BLI_IS_TEXT,
     .type = BLI_TYPE_SETTING,
     .set = set_fail_fast,
     .print = print_nothing,
     .default_value = "",
     .deprecated = true,
     .help = "`fail-fast`"},
    {.name = "ejection",
     BLI_SETTING_AT(ejection, c.model.network.ejection),
     .default_value = "no",
     .flag = "yes",
     .help = "dispatchers eject servers that fail several times in a row, and try them again later"},
    {.name = "quarantine",
     .is = BLI_IS_TEXT,
     .type = BLI_TYPE_SETTING,
     .set = set_ejection,
     .print = print_nothing,
     .default_value = "",
     .deprecated = true,
     .help = "`ejection`"},
    {.name = "events",
     BLI_SETTING_AT(events, c.model.network.events),
     .default_value = "none",
     .argument = "LIST",
     .help = "what happens when: `restart-dispatchers@1k+10`, `restart-servers:0.5,1@1k+10`, "
             "`cut:0.3@1k+50`, `loss:0.1@1k+50`, ..."},
};

const struct bli_table bli_network_table = {"network", "What lies between dispatchers and servers.", fields,
                                            sizeof fields / sizeof *fields};
