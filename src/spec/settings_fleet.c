/* SPDX-License-Identifier: BSD-2-Clause */
/* Settings of the servers. */
#include "spec/setting.h"
#include "spec/value.h"

#include <string.h>

static enum bal_code set_servers(struct bli_draft *draft, const char *text, struct bal_error *err) {
    return bli_servers_parse(text, &draft->c.model.servers, err);
}

static size_t print_servers(const struct bli_draft *draft, char *text, size_t size) {
    return bli_servers_print(&draft->c.model.servers, text, size);
}

static const char *weights_name(int i) {
    return bli_weights_text((enum bli_weights)i);
}

static enum bal_code set_weights(struct bli_draft *draft, const char *text, struct bal_error *err) {
    int choice = 0;
    const enum bal_code code = bli_value_choice(text, weights_name, BLI_WEIGHTS_NONE + 1, &choice, err);
    if (!code)
        draft->c.model.weights = (enum bli_weights)choice;
    return code;
}

static size_t print_weights(const struct bli_draft *draft, char *text, size_t size) {
    return bli_value_print_text(bli_weights_text(draft->c.model.weights), text, size);
}

static enum bal_code set_slots(struct bli_draft *draft, const char *text, struct bal_error *err) {
    static const struct bli_value_range range = {1, 1e6, true,
                                                 "a whole number of jobs from 1 to 1M, or all with speeds"};
    if (strcmp(text, "all") != 0)
        return bli_value_whole(text, &range, &draft->c.model.slots, err);
    draft->c.model.slots = BLI_SLOTS_ALL;
    return BAL_OK;
}

static size_t print_slots(const struct bli_draft *draft, char *text, size_t size) {
    if (draft->c.model.slots == BLI_SLOTS_ALL)
        return bli_value_print_text("all", text, size);
    return bli_value_print_number(draft->c.model.slots ? draft->c.model.slots : 1, text, size);
}

static enum bal_code set_speeds(struct bli_draft *draft, const char *text, struct bal_error *err) {
    return bli_speeds_parse(text, &draft->c.model.speeds, err);
}

static size_t print_speeds(const struct bli_draft *draft, char *text, size_t size) {
    return bli_speeds_print(&draft->c.model.speeds, text, size);
}

static const char *discipline_name(int i) {
    return bli_discipline_text((enum bli_discipline)i);
}

static enum bal_code set_discipline(struct bli_draft *draft, const char *text, struct bal_error *err) {
    int choice = 0;
    const enum bal_code code = bli_value_choice(text, discipline_name, BLI_DISCIPLINE_LIFO + 1, &choice, err);
    if (!code)
        draft->c.model.discipline = (enum bli_discipline)choice;
    return code;
}

static size_t print_discipline(const struct bli_draft *draft, char *text, size_t size) {
    return bli_value_print_text(bli_discipline_text(draft->c.model.discipline), text, size);
}

static enum bal_code set_buffer(struct bli_draft *draft, const char *text, struct bal_error *err) {
    static const struct bli_value_range range = {1, 1e9, true, "a whole number of jobs from 1, or none"};
    if (strcmp(text, "none") != 0)
        return bli_value_whole(text, &range, &draft->c.model.buffer, err);
    draft->c.model.buffer = 0;
    return BAL_OK;
}

static size_t print_buffer(const struct bli_draft *draft, char *text, size_t size) {
    return bli_value_print_or(draft->c.model.buffer, draft->c.model.buffer > 0, "none", text, size);
}

/* A law, or a number that is the mean of an exponential one. */
static enum bal_code set_timer(const char *text, struct bli_dist *dist, struct bal_error *err) {
    static const struct bli_value_range range = {
        1e-9, 1e9, false, "a mean above 0 or a law, such as 10, det(10) or erlang(4,10)"};
    double mean = 1;
    if (strchr("0123456789.", text[0]) == NULL)
        return bli_dist_parse(text, dist, err);
    const enum bal_code code = bli_value_number(text, &range, &mean, err);
    if (!code)
        *dist = bli_dist_exponential(mean);
    return code;
}

/* With its mean, also where that is 1: other than sizes, these times are no unit for anything. */
static size_t print_timer(const struct bli_dist *dist, char *text, size_t size) {
    if (!(dist->mean > 0))
        return bli_value_print_text("", text, size);
    const size_t length = bli_dist_print(dist, text, size);
    return strchr(text, '(') || length + 3 >= size ? length
                                                   : length + bli_value_print_text("(1)", text + length, 4);
}

static enum bal_code set_standby(struct bli_draft *draft, const char *text, struct bal_error *err) {
    return set_timer(text, &draft->c.model.standby, err);
}

static size_t print_standby(const struct bli_draft *draft, char *text, size_t size) {
    return print_timer(&draft->c.model.standby, text, size);
}

static enum bal_code set_setup(struct bli_draft *draft, const char *text, struct bal_error *err) {
    return set_timer(text, &draft->c.model.setup, err);
}

static size_t print_setup(const struct bli_draft *draft, char *text, size_t size) {
    return print_timer(&draft->c.model.setup, text, size);
}

/* Its form counts; how often servers report is the policy's. */
static enum bal_code set_reports(struct bli_draft *draft, const char *text, struct bal_error *err) {
    return bli_dist_parse(text, &draft->c.model.reports, err);
}

static size_t print_reports(const struct bli_draft *draft, char *text, size_t size) {
    const struct bli_dist *dist = &draft->c.model.reports;
    return dist->mean > 0 ? bli_dist_print(dist, text, size) : bli_value_print_text("exp", text, size);
}

static enum bal_code set_failures(struct bli_draft *draft, const char *text, struct bal_error *err) {
    return bli_failures_parse(text, &draft->c.model.failures, err);
}

static size_t print_failures(const struct bli_draft *draft, char *text, size_t size) {
    return bli_failures_print(&draft->c.model.failures, text, size);
}

static enum bal_code set_start(struct bli_draft *draft, const char *text, struct bal_error *err) {
    return bli_start_parse(text, &draft->c.model.start, err);
}

static size_t print_start(const struct bli_draft *draft, char *text, size_t size) {
    return bli_start_print(&draft->c.model.start, text, size);
}

static enum bal_code set_watts(struct bli_draft *draft, const char *text, struct bal_error *err) {
    return bli_watts_parse(text, &draft->c.model.watts, err);
}

static size_t print_watts(const struct bli_draft *draft, char *text, size_t size) {
    return bli_watts_print(&draft->c.model.watts, text, size);
}

static const struct bli_field fields[] = {
    {.name = "servers",
     BLI_SETTING_AT(servers, c.model.servers),
     .whole = true,
     .argument = "FLEET",
     .cli_default = "100",
     .help = "how many, or COUNTxSPEED,...: `50x1,50x10`; slotted also `50xuniform(1,19)`"},
    {.name = "weights",
     BLI_SETTING_AT(weights, c.model.weights),
     .default_value = "speeds",
     .argument = "NAME",
     .help = "what the dispatcher knows of unequal servers: `speeds`, or `none`"},
    {.name = "slots",
     BLI_SETTING_AT(slots, c.model.slots),
     .whole = true,
     .default_value = "1",
     .argument = "K",
     .help = "jobs that a server works on at once, each at its full speed unless `speeds` are given; "
             "`all`: with these"},
    {.name = "speeds",
     BLI_SETTING_AT(speeds, c.model.speeds),
     .default_value = "none",
     .argument = "RATES",
     .help = "speed of a server by the jobs in service, which share it: `cores(4)`, `batch(8,0.15)`, "
             "`table(1:1 2:1.8 8:4.5)`"},
    {.name = "discipline",
     BLI_SETTING_AT(discipline, c.model.discipline),
     .default_value = "auto",
     .argument = "NAME",
     .help =
         "how servers work: `fifo`, `preemptive`, `nonpreemptive`, `ps`, `lifo`; `auto`: as the policy asks"},
    {.name = "buffer",
     BLI_SETTING_AT(buffer, c.model.buffer),
     .whole = true,
     .default_value = "none",
     .argument = "B",
     .help = "most jobs at a server, one more is lost"},
    {.name = "standby",
     BLI_SETTING_AT(standby, c.model.standby),
     .default_value = "",
     .argument = "LAW",
     .help = "idle time before a server switches off, in place of 1/mu: `10`, `det(10)`, ..."},
    {.name = "setup",
     BLI_SETTING_AT(setup, c.model.setup),
     .default_value = "",
     .argument = "LAW",
     .help = "time to switch a server on, in place of 1/nu: `10`, `det(10)`, `erlang(4,10)`, ..."},
    {.name = "reports",
     BLI_SETTING_AT(reports, c.model.reports),
     .default_value = "exp",
     .argument = "LAW",
     .help = "times between reports of an idle server, by their form: `det`, `erlang(4)`, ...; the policy "
             "says how "
             "many"},
    {.name = "failures",
     BLI_SETTING_AT(failures, c.model.failures),
     .default_value = "none",
     .argument = "HOW",
     .help =
         "servers fail and are repaired: `mtbf=1000,mttr=10`, also `...,jobs=restart` or `lost`, `seen=no`"},
    {.name = "start",
     BLI_SETTING_AT(start, c.model.start),
     .default_value = "idle",
     .argument = "STATE",
     .help = "how servers start: `idle`, or fractions such as `busy=0.3,off=0.7`; `busy=0.3,jobs=5`: with "
             "five jobs each"},
    {.name = "watts",
     BLI_SETTING_AT(watts, c.model.watts),
     .default_value = "200,140,200,0",
     .argument = "B,I,S,O",
     .help = "watts of a server: BUSY,IDLE,SETUP,OFF"},
};

const struct bli_table bli_fleet_table = {"fleet", "The servers.", fields, sizeof fields / sizeof *fields};
