/* Rules of one common queue. They are no dispatch policies: nothing is routed, servers take work when they
 * can. They are yardsticks for those that are, run by an engine of their own.
 *
 * central: M/M/N. A job takes an idle server or waits at the back of the one queue. With exponential sizes no
 * dispatch policy waits less.
 *
 * delayed-off: M/M/N/setup/delayedoff (Gandhi, Doroudi, Harchol-Balter and Scheller-Wolf 2013). A job that
 * finds an idle server which is on takes it; otherwise it waits and starts the set-up of a server that is
 * off, if there is one. A server that runs out of work stays on for a while and then switches off. A
 * completed service or set-up takes the job at the head of the queue, and a set-up in excess of the jobs that
 * wait is cancelled. */
#include "ballast/scheme.h"

enum { MU, NU };

static const struct bal_param power_params[] = {
    [MU] = {"mu", 0, 1e9, 0.1, false, true, "rate at which an idle server switches off; 0: never"},
    [NU] = {"nu", 1e-9, 1e9, 0.1, false, true, "rate at which a set-up completes"},
};

static struct bal_power power(const double *value) {
    return (struct bal_power){.standby_rate = value[MU], .setup_rate = value[NU]};
}

static const struct bal_policy central = {
    .name = "central",
    .summary = "one common queue for all servers: nothing is routed",
    .paper = "M/M/N, Erlang 1917",
    .cost = "none counted",
};

static const struct bal_policy delayed_off = {
    .name = "delayed-off",
    .summary = "one common queue; idle servers switch off, a job that waits starts one",
    .paper = "Gandhi et al. 2013",
    .cost = "none counted",
    .params = power_params,
    .param_count = sizeof power_params / sizeof *power_params,
    .power = power,
};

const struct bal_policy *const bal_pooled_table[] = {&central, &delayed_off};
const size_t bal_pooled_count = sizeof bal_pooled_table / sizeof *bal_pooled_table;
