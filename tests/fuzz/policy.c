/* SPDX-License-Identifier: BSD-2-Clause */
/* Whatever the bytes: a policy or one line of error. And a policy must survive printing, and do its duty on a
 * small fleet. */
#include "ballast/policy.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_error(const struct bal_error *err, enum bal_code code) {
    assert(err->code == code && code != BAL_E_MEMORY);
    assert(strstr(err->text, "policy '"));
    for (const char *c = err->text; *c; c++)
        assert((unsigned char)*c >= ' ' && *c != 0x7f);
}

static void check_text(const struct bal_policy_spec *spec) {
    char text[200], again[200];
    assert(bal_policy_print(spec, text, sizeof text) < sizeof text);
    struct bal_policy_spec back;
    assert(bal_policy_parse(text, &back, NULL) == BAL_OK);
    assert(back.policy == spec->policy);
    for (unsigned i = 0; i < spec->policy->param_count; i++) {
        const struct bal_param *param = &spec->policy->params[i];
        const double value = spec->value[i];
        assert(isnan(value) ? isnan(back.value[i]) && isnan(param->default_value) : value == back.value[i]);
        assert(isnan(value) || (value >= param->low && value <= param->high));
    }
    bal_policy_print(&back, again, sizeof again);
    assert(strcmp(text, again) == 0);
}

static double work(struct bal_fleet *fleet, uint32_t server) {
    return fleet->length[server];
}

/* A few jobs on a fleet of 6. */
static void check_routing(const struct bal_policy_spec *spec) {
    enum { N = 6 };
    const struct bal_policy_context setting = {.servers = N, .load = 0.9};
    struct bal_error err;
    const enum bal_code code = bal_policy_check(spec, &setting, NULL, &err);
    if (code) {
        check_error(&err, code);
        return;
    }
    for (unsigned i = 0; i < spec->policy->param_count; i++)
        if (spec->value[i] > 1000) /* right, but slow */
            return;
    const size_t size = bal_policy_size(spec, &setting);
    void *state = malloc(size ? size : 1);
    assert(state);
    bal_policy_init(spec, &setting, state);
    assert(bal_policy_memory_bits(spec, &setting) >= 0 && bal_policy_report_rate(spec, &setting) >= 0);
    uint32_t length[N] = {0}, urgent[N] = {0};
    struct bal_share shares[N];
    struct bal_fleet fleet = {
        .servers = N, .length = length, .urgent = urgent, .shares = shares, .work = work, .own = length};
    struct bal_rng rng;
    bal_rng_init(&rng, 1, 0, BAL_STREAM_TEST);
    const unsigned flags = bal_policy_flags(spec);
    for (uint32_t job = 0; job < 8; job++) {
        bal_policy_report(spec, state, &fleet, BAL_REPORT_IDLE, job % N, NULL);
        bal_policy_report(spec, state, &fleet, BAL_REPORT_STILL_IDLE, job % N, NULL);
        const struct bal_job arriving = {.count = 1 + job % 3, .rank = job % 2, .split = job > 4};
        const struct bal_decision decision = bal_policy_route(spec, state, &fleet, &arriving, &rng);
        assert(decision.server < N || (decision.server == BAL_NONE && flags & BAL_MAY_REFUSE) ||
               (decision.server == BAL_HOLD && flags & BAL_MAY_HOLD));
        uint32_t total = 0;
        for (uint32_t part = 0; part < decision.parts; part++) {
            assert(shares[part].server < N);
            length[shares[part].server] += shares[part].count;
            total += shares[part].count;
        }
        assert(decision.parts == 0 || total == arriving.count);
        if (decision.parts == 0 && decision.server < N)
            length[decision.server] += arriving.count;
    }
    free(state);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    assert(text);
    memcpy(text, data, size);
    text[size] = '\0';
    struct bal_policy_spec spec;
    struct bal_error err;
    const enum bal_code code = bal_policy_parse(text, &spec, &err);
    if (code) {
        check_error(&err, code);
    } else {
        check_text(&spec);
        check_routing(&spec);
    }
    free(text);
    return 0;
}
