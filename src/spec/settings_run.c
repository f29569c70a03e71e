/* SPDX-License-Identifier: BSD-2-Clause */
/* Settings of runs: how long and how often. */
#include "spec/setting.h"
#include "spec/value.h"

#include <math.h>
#include <string.h>

static enum bal_code set_jobs(struct bli_draft *draft, const char *text, struct bal_error *err) {
    static const struct bli_value_range range = {1, 1e15, true, "a whole number of jobs from 1, such as 2M"};
    const enum bal_code code = bli_value_number(text, &range, &draft->jobs, err);
    if (!code)
        draft->time = NAN;
    return code;
}

static size_t print_jobs(const struct bli_draft *draft, char *text, size_t size) {
    return bli_value_print_or(draft->jobs, !isnan(draft->jobs), "", text, size);
}

static enum bal_code set_time(struct bli_draft *draft, const char *text, struct bal_error *err) {
    static const struct bli_value_range range = {1e-6, 1e15, false, "a length of time above 0, such as 10k"};
    const enum bal_code code = bli_value_number(text, &range, &draft->time, err);
    if (!code)
        draft->jobs = NAN;
    return code;
}

static size_t print_time(const struct bli_draft *draft, char *text, size_t size) {
    return bli_value_print_or(draft->time, !isnan(draft->time), "", text, size);
}

/* The time of slotted runs had a name of its own, until servers had slots too. */
static enum bal_code set_slots(struct bli_draft *draft, const char *text, struct bal_error *err) {
    static const struct bli_value_range range = {1, 1e15, true, "a whole number of slots from 1, such as 1M"};
    const enum bal_code code = bli_value_number(text, &range, &draft->time, err);
    if (!code)
        draft->jobs = NAN;
    return code;
}

static size_t print_slots(const struct bli_draft *draft, char *text, size_t size) {
    (void)draft;
    return bli_value_print_text("", text, size); /* the time is printed instead */
}

static enum bal_code set_replications(struct bli_draft *draft, const char *text, struct bal_error *err) {
    static const struct bli_value_range range = {1, 100000, true, "a whole number from 1 to 100000"};
    uint32_t value = 0;
    const enum bal_code code = bli_value_whole(text, &range, &value, err);
    if (!code)
        draft->c.replications = value;
    return code;
}

static size_t print_replications(const struct bli_draft *draft, char *text, size_t size) {
    return bli_value_print_number(draft->c.replications, text, size);
}

static enum bal_code set_precision(struct bli_draft *draft, const char *text, struct bal_error *err) {
    static const struct bli_value_range range = {
        1e-6, 1, false, "a relative half-width from 0.000001 to 1, such as 0.01, or none"};
    if (strcmp(text, "none") != 0)
        return bli_value_number(text, &range, &draft->c.precision, err);
    draft->c.precision = 0;
    return BAL_OK;
}

static size_t print_precision(const struct bli_draft *draft, char *text, size_t size) {
    return bli_value_print_or(draft->c.precision, draft->c.precision > 0, "none", text, size);
}

static enum bal_code set_most(struct bli_draft *draft, const char *text, struct bal_error *err) {
    static const struct bli_value_range range = {1, 100000, true, "a whole number from 1 to 100000"};
    return bli_value_number(text, &range, &draft->most, err);
}

static size_t print_most(const struct bli_draft *draft, char *text, size_t size) {
    return bli_value_print_number(draft->most, text, size);
}

static enum bal_code set_warmup(struct bli_draft *draft, const char *text, struct bal_error *err) {
    static const struct bli_value_range range = {0, 0.999, false,
                                                 "auto, mser, or the part of the run to cut, 0 to 0.999"};
    const bool automatic = strcmp(text, "auto") == 0;
    double warmup = automatic ? NAN : BLI_WARMUP_MSER;
    const bool word = automatic || strcmp(text, "mser") == 0;
    const enum bal_code code = word ? BAL_OK : bli_value_number(text, &range, &warmup, err);
    if (!code)
        draft->warmup = draft->c.run.warmup = warmup;
    return code;
}

static size_t print_warmup(const struct bli_draft *draft, char *text, size_t size) {
    const double warmup = draft->window > 0 ? NAN : draft->c.run.warmup; /* a window says what is cut */
    const char *word = warmup == BLI_WARMUP_MSER ? "mser" : "auto";
    return bli_value_print_or(warmup, warmup >= 0, word, text, size);
}

static enum bal_code set_window(struct bli_draft *draft, const char *text, struct bal_error *err) {
    static const struct bli_value_range range = {1e-6, 1e15, false,
                                                 "a length of time above 0, such as 10, or none"};
    if (strcmp(text, "none") != 0)
        return bli_value_number(text, &range, &draft->window, err);
    draft->window = 0;
    return BAL_OK;
}

static size_t print_window(const struct bli_draft *draft, char *text, size_t size) {
    return bli_value_print_or(draft->window, draft->window > 0, "none", text, size);
}

static enum bal_code set_fluid(struct bli_draft *draft, const char *text, struct bal_error *err) {
    return bli_value_flag(text, &draft->c.fluid, err);
}

static size_t print_fluid(const struct bli_draft *draft, char *text, size_t size) {
    return bli_value_print_flag(draft->c.fluid, text, size);
}

/* All but real processes. */
static const char *engine_name(int i) {
    return bli_engine_text((enum bli_engine)(i + (i >= BLI_ENGINE_LIVE)));
}

static enum bal_code set_engine(struct bli_draft *draft, const char *text, struct bal_error *err) {
    int choice = 0;
    const enum bal_code code = bli_value_choice(text, engine_name, BLI_ENGINE_COUNT - 1, &choice, err);
    if (!code)
        draft->c.run.engine = (enum bli_engine)(choice + (choice >= BLI_ENGINE_LIVE));
    return code;
}

static size_t print_engine(const struct bli_draft *draft, char *text, size_t size) {
    return bli_value_print_text(bli_engine_text(draft->c.run.engine), text, size);
}

static const struct bli_field fields[] = {
    {.name = "jobs",
     BLI_SETTING_AT(jobs, jobs),
     .whole = true,
     .default_value = "",
     .argument = "J",
     .help = "length of a replication in expected jobs (default 2M, 100 a server, 100k slots, or more)"},
    {.name = "time",
     BLI_SETTING(time),
     .default_value = "",
     .argument = "T",
     .help = "or in time: in slots where time is slotted"},
    {.name = "slots",
     BLI_SETTING(slots),
     .whole = true,
     .default_value = "",
     .deprecated = true,
     .help = "`time`"},
    {.name = "replications",
     BLI_SETTING_AT(replications, c.replications),
     .whole = true,
     .default_value = "10",
     .argument = "R",
     .help = "independent runs of each policy; two at least make an interval"},
    {.name = "precision",
     BLI_SETTING_AT(precision, c.precision),
     .default_value = "none",
     .argument = "P",
     .help = "simulate until the mean response time is known to within this: `1%`"},
    {.name = "most",
     BLI_SETTING_AT(most, most),
     .whole = true,
     .default_value = "1000",
     .argument = "R",
     .help = "most replications that `precision` may ask for"},
    {.name = "warmup",
     BLI_SETTING(warmup),
     .default_value = "auto",
     .argument = "PART",
     .help = "part of a run to cut; `auto`: a fifth, or more; `mser`: what MSER-5 finds in each run"},
    {.name = "window",
     BLI_SETTING_AT(window, window),
     .default_value = "none",
     .argument = "W",
     .help = "or measure this last span of a run alone; with the time given it is a span of a path, which "
             "need not be settled"},
    {.name = "fluid",
     BLI_SETTING_AT(fluid, c.fluid),
     .default_value = "no",
     .help = "compare the path from an idle fleet with that of the fluid model: `fluid.distance`"},
    {.name = "engine",
     BLI_SETTING_AT(engine, c.run.engine),
     .default_value = "auto",
     .argument = "NAME",
     .help = "`markov`, `event`, `network`, `live-core`, `slotted`, `pooled`, `stealing`; `auto`: by the "
             "model"},
};

const struct bli_table bli_run_table = {"run", "How long and how often.", fields,
                                        sizeof fields / sizeof *fields};
