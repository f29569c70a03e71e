/* SPDX-License-Identifier: BSD-2-Clause */
/* Settings of what arrives. */
#include "spec/setting.h"
#include "spec/value.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *clock_name(int i) {
    return bli_clock_text((enum bli_clock)i);
}

static enum bal_code set_clock(struct bli_draft *draft, const char *text, struct bal_error *err) {
    int choice = 0;
    const enum bal_code code = bli_value_choice(text, clock_name, BLI_CLOCK_SLOTTED + 1, &choice, err);
    if (!code)
        draft->c.model.clock = (enum bli_clock)choice;
    return code;
}

static size_t print_clock(const struct bli_draft *draft, char *text, size_t size) {
    return bli_value_print_text(bli_clock_text(draft->c.model.clock), text, size);
}

static enum bal_code set_load(struct bli_draft *draft, const char *text, struct bal_error *err) {
    static const struct bli_value_range range = {1e-6, 100, false, "a load above 0 (to 100), such as 0.9"};
    return bli_value_number(text, &range, &draft->c.model.load, err);
}

static size_t print_load(const struct bli_draft *draft, char *text, size_t size) {
    return bli_value_print_or(draft->c.model.load, !isnan(draft->c.model.load), "", text, size);
}

static enum bal_code set_service(struct bli_draft *draft, const char *text, struct bal_error *err) {
    struct bli_dist dist;
    const enum bal_code code = bli_dist_parse(text, &dist, err);
    if (code)
        return code;
    if (isinf(dist.mean))
        return bal_fail(err, BAL_E_MODEL,
                        "the mean is infinite, and a load needs a finite one; for pareto A must be above 1");
    draft->c.model.size = dist;
    return BAL_OK;
}

static size_t print_service(const struct bli_draft *draft, char *text, size_t size) {
    return bli_dist_print(&draft->c.model.size, text, size);
}

static enum bal_code set_tasks(struct bli_draft *draft, const char *text, struct bal_error *err) {
    static const struct bli_value_range range = {1, 10000, true, "a whole number from 1 to 10000"};
    return bli_value_whole(text, &range, &draft->c.model.tasks, err);
}

static size_t print_tasks(const struct bli_draft *draft, char *text, size_t size) {
    return bli_value_print_number(draft->c.model.tasks ? draft->c.model.tasks : 1, text, size);
}

static enum bal_code set_high(struct bli_draft *draft, const char *text, struct bal_error *err) {
    static const struct bli_value_range range = {0, 1, false, "a share from 0 to 1, such as 0.3, or none"};
    double high = 0;
    const bool classes = strcmp(text, "none") != 0;
    const enum bal_code code = classes ? bli_value_number(text, &range, &high, err) : BAL_OK;
    if (code || (!classes && draft->c.model.class_count > 2))
        return code;
    if (draft->c.model.class_count > 2)
        return bal_fail(err, BAL_E_RANGE,
                        "the shares of more than two classes are said (classes); leave one out");
    draft->c.model.classes = classes;
    draft->c.model.high = high;
    return BAL_OK;
}

static size_t print_high(const struct bli_draft *draft, char *text, size_t size) {
    const bool two = draft->c.model.classes && draft->c.model.class_count <= 2;
    return bli_value_print_or(draft->c.model.high, two, "none", text, size);
}

static enum bal_code set_classes(struct bli_draft *draft, const char *text, struct bal_error *err) {
    struct bli_model *model = &draft->c.model;
    if (strcmp(text, "none") == 0)
        return BAL_OK;
    if (model->classes && model->class_count <= 2)
        return bal_fail(err, BAL_E_RANGE,
                        "the share of the high one of two classes is said (high); leave one out");
    return bli_model_parse_classes(text, model, err);
}

/* Two of them are `high`. */
static size_t print_classes(const struct bli_draft *draft, char *text, size_t size) {
    return draft->c.model.class_count > 2 ? bli_model_print_classes(&draft->c.model, text, size)
                                          : (size_t)snprintf(text, size, "none");
}

static enum bal_code set_arrivals(struct bli_draft *draft, const char *text, struct bal_error *err) {
    return bli_arrivals_parse(text, &draft->c.model.arrivals, err);
}

static size_t print_arrivals(const struct bli_draft *draft, char *text, size_t size) {
    return bli_arrivals_print(&draft->c.model.arrivals, text, size);
}

static enum bal_code set_curve(struct bli_draft *draft, const char *text, struct bal_error *err) {
    return bli_curve_parse(text, &draft->c.model.curve, err);
}

static size_t print_curve(const struct bli_draft *draft, char *text, size_t size) {
    return bli_curve_print(&draft->c.model.curve, text, size);
}

static enum bal_code set_batch(struct bli_draft *draft, const char *text, struct bal_error *err) {
    return bli_batch_parse(text, &draft->c.model.batch, err);
}

static size_t print_batch(const struct bli_draft *draft, char *text, size_t size) {
    const struct bli_batch *batch = &draft->c.model.batch;
    return batch->kind == BLI_BATCH_NONE ? bli_value_print_text("", text, size)
                                         : bli_batch_print(batch, text, size);
}

static enum bal_code set_patience(struct bli_draft *draft, const char *text, struct bal_error *err) {
    struct bli_dist dist = {.mean = 0};
    if (strcmp(text, "none") != 0) {
        const enum bal_code code = bli_dist_parse(text, &dist, err);
        if (code)
            return code;
    }
    draft->c.model.patience = dist;
    return BAL_OK;
}

static size_t print_patience(const struct bli_draft *draft, char *text, size_t size) {
    const struct bli_dist *dist = &draft->c.model.patience;
    return dist->mean > 0 ? bli_dist_print(dist, text, size) : bli_value_print_text("none", text, size);
}

static enum bal_code set_split(struct bli_draft *draft, const char *text, struct bal_error *err) {
    return bli_value_flag(text, &draft->c.model.split, err);
}

static size_t print_split(const struct bli_draft *draft, char *text, size_t size) {
    return bli_value_print_flag(draft->c.model.split, text, size);
}

static enum bal_code set_steal(struct bli_draft *draft, const char *text, struct bal_error *err) {
    return bal_steal_parse(text, &draft->c.model.steal, err);
}

static size_t print_steal(const struct bli_draft *draft, char *text, size_t size) {
    return bal_steal_print(&draft->c.model.steal, text, size);
}

static const char *victims_name(int i) {
    return i ? "others" : "all";
}

static enum bal_code set_victims(struct bli_draft *draft, const char *text, struct bal_error *err) {
    int choice = 0;
    const enum bal_code code = bli_value_choice(text, victims_name, 2, &choice, err);
    if (!code)
        draft->c.model.others = choice;
    return code;
}

static size_t print_victims(const struct bli_draft *draft, char *text, size_t size) {
    return bli_value_print_text(victims_name(draft->c.model.others), text, size);
}

static enum bal_code set_placement(struct bli_draft *draft, const char *text, struct bal_error *err) {
    return bal_placement_parse(text, &draft->c.model.placement, err);
}

static size_t print_placement(const struct bli_draft *draft, char *text, size_t size) {
    return bal_placement_print(&draft->c.model.placement, text, size);
}

static const struct bli_field fields[] = {
    {.name = "clock",
     BLI_SETTING_AT(clock, c.model.clock),
     .default_value = "continuous",
     .option = "slotted",
     .flag = "slotted",
     .help = "`slotted`: time in slots, with a batch of jobs in each; or `continuous`"},
    {.name = "load",
     BLI_SETTING_AT(load, c.model.load),
     .default_value = "",
     .argument = "X",
     .cli_default = "0.9",
     .help = "arriving work over the fleet's capacity, where `batch` does not tell it"},
    {.name = "service",
     BLI_SETTING_AT(service, c.model.size),
     .default_value = "exp",
     .argument = "LAW",
     .help = "law of the job sizes: `exp`, `det`, `erlang(K)`, `hyper(C2)`, `pareto(A)`, ..."},
    {.name = "tasks",
     BLI_SETTING_AT(tasks, c.model.tasks),
     .whole = true,
     .default_value = "1",
     .argument = "M",
     .help = "tasks of a job, routed together and divided among servers"},
    {.name = "high",
     BLI_SETTING(high),
     .default_value = "none",
     .argument = "P",
     .help = "two classes of jobs: the share of the high one, 0 to 1"},
    {.name = "classes",
     BLI_SETTING(classes),
     .default_value = "none",
     .argument = "P,P,...",
     .help = "two to eight classes of jobs: the share of each, the most urgent first: `0.2,0.3,0.5`"},
    {.name = "arrivals",
     BLI_SETTING_AT(arrivals, c.model.arrivals),
     .default_value = "poisson",
     .argument = "HOW",
     .help = "how jobs come: `poisson`, `mmpp(R1,T1;R2,T2;...)`, `renewal(LAW)` or `batch(LAW)`"},
    {.name = "curve",
     BLI_SETTING_AT(curve, c.model.curve),
     .default_value = "constant",
     .argument = "SHAPE",
     .help = "load over time: `sine(A,P)`, `table(T:F ...)`, `file(PATH)`; `table(...) repeat`"},
    {.name = "patience",
     BLI_SETTING_AT(patience, c.model.patience),
     .default_value = "none",
     .argument = "LAW",
     .help = "time after which jobs whose service has not begun give up: `exp(2)`, `det(10)`, ..."},
    {.name = "batch",
     BLI_SETTING_AT(batch, c.model.batch),
     .default_value = "",
     .argument = "LAW",
     .help = "slotted: jobs in a slot: `poisson` (the default), `geometric`, `table(0:0.5 8:0.5)`, ..."},
    {.name = "split",
     BLI_SETTING_AT(split, c.model.split),
     .default_value = "no",
     .flag = "yes",
     .help = "slotted: batches may be divided among servers"},
    {.name = "steal",
     BLI_SETTING_AT(steal, c.model.steal),
     .default_value = "none",
     .argument = "F",
     .help = "idle servers steal: `half`, `one`, a number, `log2`, `sqrt`, `fraction(A)`, `table(F ...)`"},
    {.name = "victims",
     BLI_SETTING_AT(victims, c.model.others),
     .default_value = "all",
     .argument = "WHOM",
     .help = "whom they ask: one of `all` servers, themselves included, or of the `others`"},
    {.name = "placement",
     BLI_SETTING_AT(placement, c.model.placement),
     .default_value = "even",
     .argument = "P",
     .help = "policy `stealing`: where jobs are made: `even`, `hosts(K)`, `moving`, `walk`, "
             "`longest`, `shortest`, `cycling`, `map(H:C ...)`"},
};

const struct bli_table bli_workload_table = {"workload", "What arrives.", fields,
                                             sizeof fields / sizeof *fields};
