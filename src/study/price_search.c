/* SPDX-License-Identifier: BSD-2-Clause */
/* The cheapest policies for a wanted delay. Theory proposes, simulation disposes: at a finite number of
 * servers jobs wait a little longer than in the limit, so that what theory proposes has to be made a little
 * dearer. Where theory is exact or close for so many servers, and its error does not matter, it disposes too.
 */
#include "ballast/predict.h"
#include "ballast/price.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROUNDS = 8,        /* of simulation, after each of which offers that do not do are made dearer */
    NAMES_MAX = 10000, /* most names that rcpb is tried with */
    PROBES_MAX = 1000, /* most probes that pod is tried with */
    MEMORY_PROBES = 8, /* most d + b of pod-memory */
};

#define MUP_LOW 1e-6
#define MUP_HIGH 1e6

struct price_search {
    const struct bli_case *c;
    const struct bli_wish *wish;
    struct bli_lab_options options;
    struct bal_policy_context setting;
    double name_bits; /* of the name of a server */
    struct bli_price_offers *offers;
    bool pending[BLI_OFFERS_MAX];        /* to be simulated */
    double last_waiting[BLI_OFFERS_MAX]; /* its mean wait in the round before; 0: there was none */
    struct bli_case cases[BLI_OFFERS_MAX];
    struct bli_result results[BLI_OFFERS_MAX];
};

/* ---- policies and their parameters ---- */

static struct bal_policy_spec pod_of(double d) {
    struct bal_policy_spec spec;
    bal_policy_parse("pod", &spec, NULL);
    *bal_policy_param(&spec, "d") = d;
    return spec;
}

static struct bal_policy_spec pod_memory_of(double d, double b) {
    struct bal_policy_spec spec;
    bal_policy_parse("pod-memory", &spec, NULL);
    *bal_policy_param(&spec, "d") = d;
    *bal_policy_param(&spec, "b") = b;
    return spec;
}

static struct bal_policy_spec rcpb_of(double c, double mup) {
    struct bal_policy_spec spec;
    bal_policy_parse("rcpb", &spec, NULL);
    *bal_policy_param(&spec, "c") = c;
    *bal_policy_param(&spec, "mup") = mup;
    return spec;
}

static bool is_named(const struct bal_policy_spec *spec, const char *name) {
    return strcmp(spec->policy->name, name) == 0;
}

/* What theory says, by its expansion where that is close. *error: how far it may be off; NaN where it is a
 * limit, or not known. */
static struct bli_prediction predict(const struct price_search *search, const struct bal_policy_spec *spec,
                                     double *error) {
    struct bli_prediction known = bli_theory_predict(&search->c->model, spec);
    struct bli_expansion expansion;
    *error = known.kind == BLI_THEORY_EXACT ? 0 : NAN;
    if (known.kind != BLI_THEORY_LIMIT || !bli_theory_expand(&search->c->model, spec, &expansion) ||
        !bli_expansion_is_close(&expansion))
        return known;
    known.kind = BLI_THEORY_APPROXIMATE;
    known.waiting_mean += expansion.response_mean - known.response_mean;
    known.response_mean = expansion.response_mean;
    *error = expansion.error;
    return known;
}

static double theory_of(const struct price_search *search, const struct bal_policy_spec *spec) {
    double error;
    return predict(search, spec, &error).waiting_mean;
}

/* Up to three digits. */
static double rounded_up(double x) {
    char text[32];
    const double unit = pow(10, floor(log10(x)) - 2);
    snprintf(text, sizeof text, "%.3g", ceil(x / unit - 1e-9) * unit);
    return strtod(text, NULL);
}

/* The fewest reports per job with which c names keep the waiting time down to this; INFINITY: no number does.
 */
static double fewest_reports(const struct price_search *search, double c, double waiting) {
    const struct bal_policy_spec all = rcpb_of(c, MUP_HIGH), hardly_any = rcpb_of(c, MUP_LOW);
    if (theory_of(search, &all) > waiting)
        return INFINITY;
    if (theory_of(search, &hardly_any) <= waiting)
        return MUP_LOW;
    double low = log(MUP_LOW), high = log(MUP_HIGH);
    while (high - low > 1e-6) {
        const double middle = (low + high) / 2;
        const struct bal_policy_spec spec = rcpb_of(c, exp(middle));
        *(theory_of(search, &spec) <= waiting ? &high : &low) = middle;
    }
    return rounded_up(exp(high));
}

/* The fewest names with which so many reports per job do; INFINITY: no number does. */
static double fewest_names(const struct price_search *search, double mup, double waiting) {
    const double most = fmin(search->setting.servers - 1, NAMES_MAX);
    for (double c = 1; c <= most; c++) {
        const struct bal_policy_spec spec = rcpb_of(c, mup);
        if (theory_of(search, &spec) <= waiting)
            return c;
    }
    return INFINITY;
}

static double fewest_probes(const struct price_search *search, double waiting) {
    const double most = fmin(search->setting.servers, PROBES_MAX);
    for (double d = 1; d <= most; d++) {
        const struct bal_policy_spec spec = pod_of(d);
        if (theory_of(search, &spec) <= waiting)
            return d;
    }
    return INFINITY;
}

static double most_names(const struct price_search *search) {
    const double names = search->name_bits > 0 ? floor(search->wish->memory_bits / search->name_bits) : 0;
    return fmin(names, fmin(search->setting.servers - 1, NAMES_MAX));
}

static double most_probes(const struct price_search *search) {
    return fmin(floor(search->wish->messages / 2), fmin(search->setting.servers, PROBES_MAX));
}

/* ---- proposals ---- */

/* Adds it if it can run here within the budgets, as far as that is known before a run. */
static enum bal_code add_candidate(struct price_search *search, const struct bal_policy_spec *spec,
                                   struct bal_error *err) {
    struct bli_price_offers *offers = search->offers;
    enum bli_engine engine;
    if (offers->count == BLI_OFFERS_MAX ||
        bli_simulate_check(&search->c->model, spec, BLI_ENGINE_AUTO, &engine, NULL))
        return BAL_OK;
    struct bli_offer *offer = &offers->offer[offers->count];
    *offer = (struct bli_offer){.policy = *spec};
    offer->known = predict(search, spec, &offer->error);
    const enum bal_code code = bli_price_of(&search->c->model, spec, &offer->price, err);
    if (code)
        return code;
    if (offer->price.memory_bits > search->wish->memory_bits ||
        2 * offer->price.probes > search->wish->messages)
        return BAL_OK;
    search->pending[offers->count++] = true;
    return BAL_OK;
}

/* Those without a parameter to choose. */
static enum bal_code propose_fixed(struct price_search *search, struct bal_error *err) {
    enum bal_code code = BAL_OK;
    for (size_t i = 0; i < bal_policy_count && !code; i++) {
        struct bal_policy_spec spec;
        bal_policy_parse(bal_policy_table[i]->name, &spec, NULL);
        if (bli_simulate_is_distinct(&search->c->model, spec.policy) && !is_named(&spec, "pod") &&
            !is_named(&spec, "pod-memory") && !is_named(&spec, "rcpb"))
            code = add_candidate(search, &spec, err);
    }
    return code;
}

static enum bal_code propose_pod(struct price_search *search, struct bal_error *err) {
    const double most = most_probes(search);
    if (most < 1)
        return BAL_OK;
    const struct bal_policy_spec spec = pod_of(fmin(fewest_probes(search, search->wish->waiting), most));
    return add_candidate(search, &spec, err);
}

/* Names against reports: more names save reports, but less and less; they are tried in steps (Fibonacci's
 * numbers) as long as a step saves one report in fifty. */
static enum bal_code propose_rcpb(struct price_search *search, struct bal_error *err) {
    const double most = most_names(search), reports = fmin(search->wish->messages, MUP_HIGH);
    if (most < 1 || reports < MUP_LOW)
        return BAL_OK;
    enum bal_code code = BAL_OK;
    bool met = false;
    double before = INFINITY;
    for (double c = 1, next = 2; c <= most && !code;) {
        const double mup = fewest_reports(search, c, search->wish->waiting);
        if (mup <= reports && mup < 0.98 * before) {
            const struct bal_policy_spec spec = rcpb_of(c, mup);
            code = add_candidate(search, &spec, err);
            before = mup;
            met = true;
        }
        const double sum = c + next;
        c = next;
        next = sum;
    }
    if (met || code)
        return code;
    const struct bal_policy_spec best = rcpb_of(most, reports);
    return add_candidate(search, &best, err);
}

/* ---- simulation ---- */

static enum bal_code simulate_candidates(struct price_search *search, const struct bal_policy_spec *specs,
                                         size_t count, bool briefly, struct bal_error *err) {
    for (size_t i = 0; i < count; i++) {
        search->cases[i] = *search->c;
        search->cases[i].policy = specs[i];
        if (!briefly && search->c->max_run_length > 0)
            bli_choose_length(&search->cases[i], 1, search->c->run.time, 0);
        if (!briefly)
            continue;
        search->cases[i].max_run_length = 0;
        search->cases[i].run.time /= 4;
        search->cases[i].precision = 0;
        if (search->cases[i].replications > 4)
            search->cases[i].replications = 4;
    }
    return bli_lab_run(search->cases, count, &search->options, search->results, err);
}

static double upper_end(struct bli_estimate estimate) {
    return estimate.mean + (isnan(estimate.half_width) ? 0 : estimate.half_width);
}

static double lower_end(struct bli_estimate estimate) {
    return estimate.mean - (isnan(estimate.half_width) ? 0 : estimate.half_width);
}

/* There is no theory of pod-memory here: all d + b = 2, 3, ... are tried briefly until one seems to do; the
 * fewest names win, and the shortest wait when none does. */
static enum bal_code propose_pod_memory(struct price_search *search, struct bal_error *err) {
    const double most = fmin(most_probes(search), MEMORY_PROBES), names = most_names(search);
    struct bal_policy_spec best = {0};
    double best_waiting = INFINITY;
    for (double total = 2; total <= most && best_waiting > search->wish->waiting; total++) {
        struct bal_policy_spec specs[MEMORY_PROBES];
        size_t count = 0;
        for (double b = 1; b < total && b <= names; b++)
            specs[count++] = pod_memory_of(total - b, b);
        if (count == 0)
            return BAL_OK;
        const enum bal_code code = simulate_candidates(search, specs, count, true, err);
        if (code)
            return code;
        for (size_t i = 0; i < count && best_waiting > search->wish->waiting; i++) {
            const double waiting = search->results[i].metric[BLI_WAITING_MEAN].mean;
            if (!(waiting < best_waiting))
                continue;
            best = specs[i];
            best_waiting = waiting;
        }
    }
    return best.policy ? add_candidate(search, &best, err) : BAL_OK;
}

/* ---- making it dearer ---- */

/* Parameters that cost more and do more, as far as the budgets go; false when there are none. */
static bool raise_cost(const struct price_search *search, struct bli_offer *offer) {
    struct bal_policy_spec spec = offer->policy;
    if (isnan(offer->result.metric[BLI_WAITING_MEAN].mean))
        return false;
    const double factor = search->wish->waiting / upper_end(offer->result.metric[BLI_WAITING_MEAN]);
    if (is_named(&spec, "pod") || is_named(&spec, "pod-memory")) {
        double *d = bal_policy_param(&spec, "d");
        const double b = is_named(&spec, "pod") ? 0 : *bal_policy_param(&spec, "b");
        if (++*d + b > most_probes(search))
            return false;
    } else if (is_named(&spec, "rcpb")) {
        double *mup = bal_policy_param(&spec, "mup");
        const double wanted = fewest_reports(search, *bal_policy_param(&spec, "c"),
                                             0.995 * pow(factor, 1.5) * offer->known.waiting_mean);
        const double cautious = fmin(fmax(wanted, rounded_up(1.002 * *mup)), rounded_up(4 * *mup));
        const double dearer = fmin(cautious, search->wish->messages);
        if (!(dearer > *mup) || dearer > MUP_HIGH)
            return false;
        *mup = dearer;
    } else {
        return false;
    }
    struct bli_price price;
    if (bli_price_of(&search->c->model, &spec, &price, NULL))
        return false;
    offer->policy = spec;
    offer->price = price;
    offer->known = predict(search, &spec, &offer->error);
    return true;
}

/* Whatever its error may be; undecided where that matters, or nothing is known. */
static enum bli_fulfilment check_theory(const struct price_search *search, const struct bli_offer *offer) {
    const double waiting = offer->known.waiting_mean, wanted = search->wish->waiting;
    return waiting + offer->error <= wanted  ? BLI_WISH_MET
           : waiting - offer->error > wanted ? BLI_WISH_MISSED
                                             : BLI_WISH_UNDECIDED;
}

/* Without reports its messages are its probes; with them, theory would have to know how many there are. */
static bool decide_by_theory(const struct price_search *search, struct bli_offer *offer) {
    const enum bli_fulfilment fulfilment = check_theory(search, offer);
    if (fulfilment == BLI_WISH_UNDECIDED || offer->price.reports > 0)
        return false;
    const double probes = offer->price.probes;
    offer->by_theory = true;
    offer->fulfilment = fulfilment;
    offer->result = (struct bli_result){.verdict = BLI_STABLE};
    offer->result.metric[BLI_WAITING_MEAN] = (struct bli_estimate){offer->known.waiting_mean, offer->error};
    offer->result.metric[BLI_PROBES_PER_JOB] = (struct bli_estimate){probes, 0};
    offer->result.metric[BLI_MESSAGES_PER_JOB] = (struct bli_estimate){2 * probes, 0};
    return true;
}

/* By the interval. A doubted result decides nothing, nor does one of no job at all; what is known exactly, or
 * closely, may. */
static enum bli_fulfilment check_offer(const struct price_search *search, const struct bli_offer *offer) {
    const struct bli_result *result = &offer->result;
    const struct bli_estimate measured = result->metric[BLI_WAITING_MEAN];
    const double waiting = search->wish->waiting;
    if (result->verdict == BLI_UNSTABLE)
        return BLI_WISH_MISSED;
    if (!bli_result_is_sure(result))
        return check_theory(search, offer);
    if (measured.mean - measured.half_width > waiting)
        return BLI_WISH_MISSED;
    return measured.mean + measured.half_width <= waiting ? BLI_WISH_MET : BLI_WISH_UNDECIDED;
}

/* What a raise gains grows smaller from one to the next, and the jobs that come are the same; a tenth of the
 * interval is allowed for chance. What is missing for certain may be more than the rounds that are left can
 * gain. */
static bool is_out_of_reach(struct price_search *search, size_t i, int rounds_left) {
    const struct bli_estimate waiting = search->offers->offer[i].result.metric[BLI_WAITING_MEAN];
    const double before = search->last_waiting[i], missing = lower_end(waiting) - search->wish->waiting;
    search->last_waiting[i] = waiting.mean;
    const double gained = fmax(before - waiting.mean, 0.1 * waiting.half_width);
    return before > 0 && missing > rounds_left * gained;
}

/* Simulates what is pending and judges it. The last word on an offer that cannot be made dearer is what was
 * found. */
static enum bal_code run_round(struct price_search *search, int rounds_left, bool *more,
                               struct bal_error *err) {
    struct bal_policy_spec specs[BLI_OFFERS_MAX] = {0};
    size_t which[BLI_OFFERS_MAX], count = 0;
    for (size_t i = 0; i < search->offers->count; i++) {
        search->pending[i] = search->pending[i] && !decide_by_theory(search, &search->offers->offer[i]);
        if (search->pending[i]) {
            specs[count] = search->offers->offer[i].policy;
            which[count++] = i;
        }
    }
    *more = false;
    const enum bal_code code = count ? simulate_candidates(search, specs, count, false, err) : BAL_OK;
    for (size_t i = 0; i < count && !code; i++) {
        struct bli_offer *offer = &search->offers->offer[which[i]];
        offer->result = search->results[i];
        offer->fulfilment = check_offer(search, offer);
        search->pending[which[i]] = offer->fulfilment != BLI_WISH_MET && rounds_left > 0 &&
                                    !is_out_of_reach(search, which[i], rounds_left) &&
                                    raise_cost(search, offer);
        *more = *more || search->pending[which[i]];
    }
    return code;
}

/* ---- conclusions ---- */

static double messages_of(const struct bli_offer *offer) {
    return offer->result.metric[BLI_MESSAGES_PER_JOB].mean;
}

/* How many reports a job costs is known only now. */
static void drop_over_budget(struct price_search *search) {
    struct bli_price_offers *offers = search->offers;
    size_t kept = 0;
    for (size_t i = 0; i < offers->count; i++)
        if (!(lower_end(offers->offer[i].result.metric[BLI_MESSAGES_PER_JOB]) > search->wish->messages))
            offers->offer[kept++] = offers->offer[i]; /* also where it is not known */
    offers->count = kept;
}

/* Measured numbers of messages that differ by half a percent count as equal. */
static bool costs_less(const struct bli_offer *a, const struct bli_offer *b) {
    const double messages = messages_of(a), other = messages_of(b);
    const double bits = a->price.memory_bits, other_bits = b->price.memory_bits;
    return messages <= 1.005 * other && bits <= other_bits && (messages < 0.995 * other || bits < other_bits);
}

static void mark_cheapest(struct bli_price_offers *offers) {
    for (size_t i = 0; i < offers->count; i++) {
        bool beaten = offers->offer[i].fulfilment != BLI_WISH_MET;
        for (size_t k = 0; k < offers->count && !beaten; k++)
            beaten = offers->offer[k].fulfilment == BLI_WISH_MET &&
                     costs_less(&offers->offer[k], &offers->offer[i]);
        offers->offer[i].cheapest = !beaten;
    }
}

/* What is not known comes last. */
static int compare_numbers(double x, double y) {
    if (isnan(x) || isnan(y))
        return isnan(x) - isnan(y);
    return (x > y) - (x < y);
}

static int best_first(const void *a, const void *b) {
    const struct bli_offer *x = a, *y = b;
    const bool x_met = x->fulfilment == BLI_WISH_MET, y_met = y->fulfilment == BLI_WISH_MET;
    if (x_met != y_met)
        return x_met ? -1 : 1;
    const double x_waiting = x->result.metric[BLI_WAITING_MEAN].mean,
                 y_waiting = y->result.metric[BLI_WAITING_MEAN].mean;
    const int by_waiting = compare_numbers(x_waiting, y_waiting);
    const int by_messages = compare_numbers(messages_of(x), messages_of(y));
    const int by_memory = compare_numbers(x->price.memory_bits, y->price.memory_bits);
    if (!x_met)
        return by_waiting ? by_waiting : by_messages ? by_messages : by_memory;
    return by_messages ? by_messages : by_memory ? by_memory : by_waiting;
}

static struct bli_offer_hint hint_of(const struct price_search *search, struct bal_policy_spec policy) {
    struct bli_offer_hint hint = {.policy = policy, .waiting = theory_of(search, &policy)};
    if (bli_price_of(&search->c->model, &policy, &hint.price, NULL))
        hint.policy.policy = NULL;
    return hint;
}

/* Only what exceeds a budget is printed as a hint: within the budget, simulation has excluded it. */
static void find_hints(struct price_search *search) {
    const struct bli_wish *wish = search->wish;
    const double names = most_names(search);
    const double reports = names >= 1 ? fewest_reports(search, names, wish->waiting) : INFINITY;
    const double probes = fewest_probes(search, wish->waiting);
    const double messages = fmin(reports, 2 * probes);
    if (messages > wish->messages && messages < INFINITY)
        search->offers->more_messages =
            hint_of(search, reports <= 2 * probes ? rcpb_of(names, reports) : pod_of(probes));
    const double mup = fmin(wish->messages, MUP_HIGH);
    const double more_names = mup >= MUP_LOW ? fewest_names(search, mup, wish->waiting) : INFINITY;
    if (more_names > names && more_names < INFINITY)
        search->offers->more_memory = hint_of(search, rcpb_of(more_names, mup));
}

static void finish_offers(struct price_search *search) {
    struct bli_price_offers *offers = search->offers;
    drop_over_budget(search);
    mark_cheapest(offers);
    qsort(offers->offer, offers->count, sizeof *offers->offer, best_first);
    if (offers->count == 0 || offers->offer[0].fulfilment != BLI_WISH_MET)
        find_hints(search);
}

/* What no policy beats; a wish for less is not searched for. */
static double floor_of(const struct bli_model *model) {
    return bli_theory_lower_bound(model) - model->size.mean / model->servers.group[0].speed;
}

static enum bal_code propose(struct price_search *search, struct bal_error *err) {
    enum bal_code code = propose_fixed(search, err);
    if (!code)
        code = propose_pod(search, err);
    if (!code)
        code = propose_rcpb(search, err);
    return code ? code : propose_pod_memory(search, err);
}

static enum bal_code check_wish(const struct bli_model *model, const struct bli_wish *wish,
                                struct bal_error *err) {
    if (!(wish->waiting > 0) || !(wish->messages >= 0) || !(wish->memory_bits >= 0))
        return bal_fail(
            err, BAL_E_RANGE,
            "a wish of waiting %g, messages %g and memory %g; waiting must be above 0, the others at least 0",
            wish->waiting, wish->messages, wish->memory_bits);
    const enum bal_code code = bli_model_check(model, err);
    if (code)
        return code;
    if (!isfinite(bli_theory_lower_bound(model)) || model->classes)
        return bal_fail(err, BAL_E_MODEL,
                        "theory knows the cheapest policy for equal servers, exponential sizes, one class of "
                        "jobs of one task and "
                        "a load below 1; compare the policies on this model instead");
    return BAL_OK;
}

enum bal_code bli_price_search(const struct bli_case *c, const struct bli_wish *wish,
                               const struct bli_lab_options *options, struct bli_price_offers **offers,
                               struct bal_error *err) {
    *offers = NULL;
    enum bal_code code = check_wish(&c->model, wish, err);
    if (code)
        return code;
    struct price_search *search = calloc(1, sizeof *search);
    struct bli_price_offers *found = calloc(1, sizeof *found);
    if (!search || !found) {
        code = bal_fail(err, BAL_E_MEMORY, "not enough memory to search");
        goto out;
    }
    search->c = c;
    search->wish = wish;
    search->options = *options;
    search->options.independent_lengths = true;
    search->offers = found;
    search->setting = (struct bal_policy_context){bli_servers_count(&c->model.servers), c->model.load};
    const struct bal_policy_spec one_name = rcpb_of(1, 1);
    search->name_bits = bal_policy_memory_bits(&one_name, &search->setting);
    found->floor_waiting = floor_of(&c->model);
    if (wish->waiting >= found->floor_waiting)
        code = propose(search, err);
    bool more = found->count > 0;
    for (int round = 1; round <= ROUNDS && more && !code; round++)
        code = run_round(search, ROUNDS - round, &more, err);
    if (code)
        goto out;
    finish_offers(search);
    *offers = found;
    found = NULL;
out:
    free(found);
    free(search);
    return code;
}
