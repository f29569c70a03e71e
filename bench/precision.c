/* How long it takes to know the mean response to a hundredth: for each policy, processor time until the 95 %
 * interval is 1 % of the mean to each side. Worked out from the spread of short runs, so that it is itself
 * known to a fifth or so; what users wait for, and what engines and estimates share. */
#include "bare.h"
#include "measure.h"

#include <math.h>
#include <stdio.h>

enum { RUNS = 40, SERVERS = 100, JOBS = 40000 };

static void measure(const struct bal_policy *policy) {
    struct bal_model model = {.load = 0.9, .classes = policy->flags & BAL_TAKES_RANKS, .high = 0.5};
    struct bal_policy_spec spec;
    struct bal_error err;
    if (bal_servers_parse("100", &model.servers, &err) || bal_law_parse("exp", &model.size, &err) ||
        bal_scheme_parse(policy->name, &spec, &err))
        fail(err.text);
    if (!bal_simulate_is_distinct(&model, policy))
        return;
    struct bal_run run = {.seed = 1, .time = JOBS / bal_model_arrival_rate(&model), .warmup = NAN};
    static struct bal_trial trial;
    double sum = 0, squares = 0;
    const double start = processor_time();
    for (int i = 0; i < RUNS; i++) {
        run.replication = (uint64_t)i;
        if (bal_simulate(&model, &spec, &run, &trial, &err))
            fail(err.text);
        sum += trial.metric[BAL_RESPONSE_MEAN];
        squares += trial.metric[BAL_RESPONSE_MEAN] * trial.metric[BAL_RESPONSE_MEAN];
    }
    const double seconds = (processor_time() - start) / RUNS;
    const double mean = sum / RUNS, variance = (squares - sum * mean) / (RUNS - 1);
    const double runs = variance * pow(1.96 / (0.01 * mean), 2);
    printf("%-22s %8.3f s to 1 %%  (%.1f M jobs)\n", policy->name, runs * seconds, runs * JOBS / 1e6);
    fflush(stdout);
}

int main(void) {
    printf("%d servers at load 0.9, exponential sizes\n", SERVERS);
    for (size_t i = 0; i < bal_policy_count; i++)
        measure(bal_policy_table[i]);
    return 0;
}
