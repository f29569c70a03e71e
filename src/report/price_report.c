/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints the prices of policies and the offers that meet a target. */
#include "report/price_report.h"

#include "ballast/predict.h"
#include "report/comparison.h"
#include "report/doubt_notes.h"
#include "report/json_parts.h"
#include "report/metric.h"
#include "report/report_columns.h"
#include "report/sizes.h"

#include <math.h>
#include <string.h>

static const char *memory_text(enum bli_growth growth) {
    static const char *const texts[] = {"0", "log N", "> log N"};
    return texts[growth];
}

static const char *messages_text(enum bli_growth growth) {
    static const char *const texts[] = {"0", "N", "> N"};
    return texts[growth];
}

static const char *fulfilment_text(enum bli_fulfilment fulfilment) {
    static const char *const texts[] = {"met", "undecided", "missed"};
    return texts[fulfilment];
}

static double messages_once(const struct bli_result *result) {
    return result->metric[BLI_PROBES_PER_JOB].mean + result->metric[BLI_REPORTS_PER_JOB].mean;
}

static struct bli_estimate waiting_of(const struct bli_result *result) {
    return bli_comparison_has_means(result) ? result->metric[BLI_WAITING_MEAN]
                                            : (struct bli_estimate){NAN, NAN};
}

/* Three digits. */
static void add_number(struct table *table, double value) {
    if (isnan(value))
        bli_table_add(table, "%s", "");
    else if (isinf(value))
        bli_table_add(table, "inf");
    else if (value != 0 && fabs(value) < 0.0005)
        bli_table_add(table, "%.0e", value);
    else
        bli_table_add(table, "%.*f",
                      fabs(value) >= 99.95    ? 0
                      : fabs(value) >= 9.995  ? 1
                      : fabs(value) >= 0.9995 ? 2
                                              : 3,
                      value);
}

static void add_waiting(struct table *table, const struct bli_result *result, const char *mark) {
    if (!bli_comparison_has_means(result)) {
        bli_table_add(table, "%s", bli_comparison_no_means(result));
        return;
    }
    char text[BLI_METRIC_TEXT];
    bli_metric_print(result->metric[BLI_WAITING_MEAN], text);
    bli_table_add(table, "%s%s", text, mark);
}

/* As theory knows the case: its expansion, where that is close for so many servers. */
static struct bli_prediction best_of_row(const struct bli_theory_row *row) {
    struct bli_prediction known = row->known;
    if (known.kind != BLI_THEORY_LIMIT || !row->expanded || !bli_expansion_is_close(&row->expansion))
        return known;
    known.kind = BLI_THEORY_APPROXIMATE;
    known.waiting_mean += row->expansion.response_mean - known.response_mean;
    known.response_mean = row->expansion.response_mean;
    return known;
}

/* "= 2.61" where theory is exact, "≈ 2.66" where it is close, "→ 2.61" where it is the limit of many servers.
 */
static void add_theory(struct table *table, const struct bli_prediction *known) {
    if (isnan(known->waiting_mean)) {
        bli_table_add(table, "%s", "");
        return;
    }
    bli_table_add(table, "%s %.*f", bli_theory_sign(known->kind), known->waiting_mean >= 9.995 ? 1 : 3,
                  known->waiting_mean);
}

/* time: of the runs, or of the shortest of them. */
static void print_setting(const struct bli_case *c, double time, const struct bli_draft *draft, FILE *out) {
    static const char *const told[] = {"servers", "load", "service", "jobs", "time", "replications", NULL};
    struct bli_head head = {.used = 0};
    char servers[300], service[200];
    bli_servers_print(&c->model.servers, servers, sizeof servers);
    bli_dist_print(&c->model.size, service, sizeof service);
    const double jobs = time * bli_model_arrival_rate(&c->model);
    bli_head_add(&head, "%s servers at load %g, service %s", servers, c->model.load, service);
    bli_head_add_settings(&head, draft, true, told);
    bli_head_add(&head, "; %s%u replications of %.*g%s jobs each%s", c->precision > 0 ? "at least " : "",
                 c->replications, jobs >= 1e4 ? 3 : 4,
                 jobs >= 1e6   ? jobs / 1e6
                 : jobs >= 1e4 ? jobs / 1e3
                               : jobs,
                 jobs >= 1e6   ? "M"
                 : jobs >= 1e4 ? "k"
                               : "",
                 draft->c.max_run_length > 0 ? " or more" : "");
    bli_head_add_settings(&head, draft, false, told);
    bli_head_add(&head, ", seed" BLI_TABLE_JOIN "%llu", (unsigned long long)c->run.seed);
    bli_head_print(&head, out);
}

/* ---- the list ---- */

static void add_price(struct table *table, const struct bli_price_list *list, size_t i,
                      struct doubt_notes *notes) {
    const struct bli_case *c = &list->cases[i];
    const struct bli_result *result = &list->results[i];
    const struct bli_price *price = &list->prices[i];
    char policy[200];
    bal_policy_print(&c->policy, policy, sizeof policy);
    bli_table_add(table, "%s%s", policy, bli_sizes_mark(c->policy.policy));
    add_waiting(table, result, bli_doubt_add(notes, policy, c, result));
    const struct bli_prediction known = best_of_row(&list->theory_row[i]);
    add_theory(table, &known);
    add_number(table, result->metric[BLI_MESSAGES_PER_JOB].mean);
    add_number(table, messages_once(result));
    bli_table_add(table, "%.0f", price->memory_bits);
    bli_table_add(table, "%s", messages_text(price->messages));
    bli_table_add(table, "%s", memory_text(price->memory));
    bli_table_add(table, "%s", bli_vanishing_text(price->vanishing));
}

static bool has_vanishing(const struct bli_price_list *list, enum bli_vanishing vanishing) {
    for (size_t i = 0; i < list->count; i++)
        if (list->prices[i].vanishing == vanishing)
            return true;
    return false;
}

static bool has_policy(const struct bli_price_list *list, const char *name) {
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->cases[i].policy.policy->name, name) == 0)
            return true;
    return false;
}

static void print_list_notes(const struct bli_price_list *list, FILE *out) {
    fputs("\nwaiting: mean time before service, simulated \u00b1 95 %; theory: = exact, \u2248 close for so "
          "many "
          "servers, \u2192 limit of many.\n"
          "msgs: per job, a probe counted as two (query and reply), and as one. bits: memory of the "
          "dispatcher.\n"
          "As N servers grow with the load and the parameters as they are: messages in a unit of time, bits "
          "of memory,\n"
          "and whether the waiting time vanishes:\n",
          out);
    if (has_vanishing(list, BLI_VANISHING_NEVER))
        fputs("  cannot: no symmetric policy can with so few messages and so little memory (Theorem 5 of "
              "Gamarnik,\n"
              "          Tsitsiklis and Zubeldia 2016: at most a constant times N messages and log N bits)\n",
              out);
    if (has_vanishing(list, BLI_VANISHING_NO))
        fputs("  no: it is known not to\n", out);
    if (has_vanishing(list, BLI_VANISHING_YES))
        fputs("  yes: it is proved to, for every load below 1\n", out);
    if (has_vanishing(list, BLI_VANISHING_POSSIBLE))
        fputs("  may: the theorem leaves it open, because of more messages or more memory\n", out);
    if (has_vanishing(list, BLI_VANISHING_UNKNOWN))
        fputs("  not covered: the theorem is about symmetric policies, equal servers, exponential sizes, "
              "jobs of one task\n"
              "          and one class, and loads below 1\n",
              out);
    if (has_policy(list, "least-work"))
        fputs(BLI_SIZES_NOTE "\n", out);
    if (has_policy(list, "rcpb"))
        fputs("rcpb: with c growing with N and mup at least 1, or with mu growing with N, the waiting time "
              "does vanish.\n",
              out);
}

static void print_list(const struct bli_price_list *list, enum bli_table_style style, FILE *out) {
    struct doubt_notes notes = {0};
    print_setting(&list->cases[0], list->results[0].time, list->draft, out);
    fputc('\n', out);
    struct table table;
    bli_table_begin(&table, "policy|waiting|theory|msgs|(one)|bits|msgs ~|bits ~|vanishes");
    for (size_t i = 0; i < list->count; i++)
        add_price(&table, list, i, &notes);
    bli_table_print(&table, "lrlrrrlll", style, out);
    bli_table_fini(&table);
    print_list_notes(list, out);
    bli_doubt_print(&notes, BLI_REMEDY_OPTION, out);
}

/* The columns of a list and of offers. */
static void put_measured(struct bli_rows *rows, const struct bli_case *c, const struct bli_result *result,
                         const struct bli_price *price, const struct bli_prediction *theory) {
    bli_row_begin(rows);
    bli_row_policy(rows, &c->policy);
    bli_row_verdict(rows, result->verdict);
    bli_row_metric(rows, BLI_WAITING_MEAN, waiting_of(result));
    bli_row_number(rows, "theory.waiting_mean", "the same, as theory knows it|time", theory->waiting_mean);
    bli_row_number(rows, "messages.per_job", "a probe is two|per job",
                   result->metric[BLI_MESSAGES_PER_JOB].mean);
    bli_row_number(rows, "messages.once_per_job", "a probe is one|per job", messages_once(result));
    bli_row_number(rows, "memory_bits", "memory of the dispatcher|bits", price->memory_bits);
    bli_row_doubts(rows, result->doubts);
}

static void put_list(const struct bli_price_list *list, struct bli_rows *rows) {
    for (size_t i = 0; i < list->count; i++) {
        const struct bli_price *price = &list->prices[i];
        const struct bli_prediction known = best_of_row(&list->theory_row[i]);
        do {
            put_measured(rows, &list->cases[i], &list->results[i], price, &known);
            bli_row_text(rows, "messages.growth", "with N servers", messages_text(price->messages));
            bli_row_text(rows, "memory.growth", "with N servers", memory_text(price->memory));
            bli_row_text(rows, "vanishes", "does the waiting time vanish with many servers?",
                         bli_vanishing_text(price->vanishing));
        } while (bli_row_end(rows, list->draft));
    }
}

static void json_setting(struct json *json, const struct bli_case *c, double time) {
    bli_json_model(json, &c->model, "servers load# service");
    bli_json_number(json, "time", time);
    bli_json_count(json, "replications", c->replications);
    bli_json_count(json, "seed", c->run.seed);
}

static void json_measured(struct json *json, const struct bli_case *c, const struct bli_result *result,
                          const struct bli_price *price, const struct bli_prediction *theory) {
    char policy[200];
    bal_policy_print(&c->policy, policy, sizeof policy);
    bli_json_text(json, "policy", policy);
    bli_json_text(json, "verdict", bli_verdict_text(result->verdict));
    bli_doubt_json(json, result->doubts);
    bli_json_number(json, "time", result->time);
    bli_json_open_line(json, "waiting", '{');
    bli_json_number(json, "mean", waiting_of(result).mean);
    bli_json_number(json, "ci", waiting_of(result).half_width);
    bli_json_number(json, "theory", theory->waiting_mean);
    bli_json_number(json, "limit", theory->waiting_limit);
    bli_json_close(json, '}');
    bli_json_open_line(json, "messages", '{');
    bli_json_number(json, "probes_per_job", result->metric[BLI_PROBES_PER_JOB].mean);
    bli_json_number(json, "reports_per_job", result->metric[BLI_REPORTS_PER_JOB].mean);
    bli_json_number(json, "per_job", result->metric[BLI_MESSAGES_PER_JOB].mean);
    bli_json_number(json, "once_per_job", messages_once(result));
    bli_json_text(json, "growth", messages_text(price->messages));
    bli_json_close(json, '}');
    bli_json_open_line(json, "memory", '{');
    bli_json_number(json, "bits", price->memory_bits);
    bli_json_text(json, "growth", memory_text(price->memory));
    bli_json_close(json, '}');
    bli_json_bool(json, "symmetric", bal_policy_flags(&c->policy) & BAL_SYMMETRIC);
    bli_json_text(json, "vanishes", bli_vanishing_text(price->vanishing));
}

static void json_list(const struct bli_price_list *list, struct bli_rows *rows) {
    struct json *json = rows->json;
    bli_rows_open(rows);
    bli_json_open(json, "spec", '{');
    json_setting(json, &list->cases[0], list->results[0].time);
    bli_json_bool(json, "cut_short", list->cut_short);
    bli_json_close(json, '}');
    bli_head_json(json, list->draft, NULL);
    bli_json_open(json, "results", '[');
    for (size_t i = 0; i < list->count; i++) {
        bli_json_open(json, NULL, '{');
        const struct bli_prediction known = best_of_row(&list->theory_row[i]);
        json_measured(json, &list->cases[i], &list->results[i], &list->prices[i], &known);
        bli_json_close(json, '}');
    }
    bli_json_close(json, ']');
    bli_json_close(json, '}');
}

void bli_price_list_print(const struct bli_price_list *list, struct bli_rows *rows) {
    if (rows->text)
        print_list(list, rows->style, rows->text);
    else if (rows->json)
        json_list(list, rows);
    else
        put_list(list, rows);
}

/* ---- offers ---- */

static void print_wish(const struct bli_wish *wish, FILE *out) {
    fprintf(out, "wanted: a mean waiting time of at most %g", wish->waiting);
    if (isfinite(wish->messages))
        fprintf(out, ", with at most %g message%s per job", wish->messages, wish->messages == 1 ? "" : "s");
    if (isfinite(wish->memory_bits))
        fprintf(out, "%s %g bits of memory", isfinite(wish->messages) ? " and" : ", with at most",
                wish->memory_bits);
    fputs("\n", out);
}

static void add_offer(struct table *table, const struct bli_offer *offer, const struct bli_case *c,
                      struct doubt_notes *notes) {
    static const char *const marks[] = {"", "not sure", "no, waits longer"};
    struct bli_case own = *c;
    own.policy = offer->policy;
    char policy[200];
    bal_policy_print(&offer->policy, policy, sizeof policy);
    bli_table_add(table, "%s", policy);
    if (offer->by_theory)
        bli_table_add(table, "by theory");
    else
        add_waiting(table, &offer->result, bli_doubt_add(notes, policy, &own, &offer->result));
    add_theory(table, &offer->known);
    add_number(table, offer->result.metric[BLI_MESSAGES_PER_JOB].mean);
    bli_table_add(table, "%.0f", offer->price.memory_bits);
    bli_table_add(table, "%s",
                  offer->fulfilment != BLI_WISH_MET ? marks[offer->fulfilment]
                  : offer->cheapest                 ? "yes, cheapest"
                                                    : "yes");
}

static void print_hint(const struct bli_offer_hint *hint, const char *what, FILE *out) {
    if (!hint->policy.policy)
        return;
    char text[200];
    bal_policy_print(&hint->policy, text, sizeof text);
    const double messages = bli_price_messages(&hint->price);
    fprintf(
        out,
        "With more %s it can be done, by theory: %s waits %.4g, for %.3g message%s a job and %.0f bits.\n",
        what, text, hint->waiting, messages, messages == 1 ? "" : "s", hint->price.memory_bits);
}

static bool is_any_by_theory(const struct bli_price_offers *offers) {
    for (size_t i = 0; i < offers->count; i++)
        if (offers->offer[i].by_theory)
            return true;
    return false;
}

/* Might one do, the nearest or one of which no waiting time is known? */
static bool is_undecided(const struct bli_price_offers *offers) {
    for (size_t i = 0; i < offers->count; i++)
        if (offers->offer[i].fulfilment == BLI_WISH_UNDECIDED &&
            (i == 0 || isnan(offers->offer[i].result.metric[BLI_WAITING_MEAN].mean)))
            return true;
    return false;
}

static void print_outcome(const struct bli_price_offers *offers, const struct bli_wish *wish, FILE *out) {
    if (offers->count > 0 && offers->offer[0].fulfilment == BLI_WISH_MET) {
        fputs("\nyes: by the 95 % interval of the simulation", out);
        fputs(is_any_by_theory(offers) ? ", or by theory that is exact (=) or close (\u2248).\n" : ". ", out);
        fputs("cheapest: nothing that does costs less of one and no more of the other.\n", out);
        return;
    }
    if (wish->waiting < offers->floor_waiting) {
        fprintf(out, "\nno policy meets this: even one common queue for all servers (M/M/N) waits %.4g\n",
                offers->floor_waiting);
        return;
    }
    const bool open = is_undecided(offers);
    fputs(open ? "\nundecided: no policy is known to meet this" : "\nno policy meets this", out);
    if (offers->count == 0) {
        fputs(": there is none with so few messages and so little memory\n", out);
    } else if (offers->offer[0].result.jobs == 0 && !offers->offer[0].by_theory) {
        fputs(", as far as is known: no job was measured; use longer runs (--jobs)\n", out);
    } else {
        char policy[200], waiting[BLI_METRIC_TEXT];
        bal_policy_print(&offers->offer[0].policy, policy, sizeof policy);
        if (offers->offer[0].by_theory)
            snprintf(waiting, sizeof waiting, "%.4g by theory", offers->offer[0].known.waiting_mean);
        else
            bli_metric_print(offers->offer[0].result.metric[BLI_WAITING_MEAN], waiting);
        fprintf(out, "; the nearest is %s, which waits %s\n", policy, waiting);
    }
    print_hint(&offers->more_messages, "messages", out);
    print_hint(&offers->more_memory, "memory", out);
}

static void print_offers(const struct bli_price_offers *offers, const struct bli_draft *draft,
                         const struct bli_wish *wish, enum bli_table_style style, FILE *out) {
    print_wish(wish, out);
    struct doubt_notes notes = {0};
    print_setting(&draft->c, draft->c.run.time, draft, out);
    if (offers->count > 0) {
        fputc('\n', out);
        struct table table;
        bli_table_begin(&table, "policy|waiting|theory|msgs|bits|does it?");
        for (size_t i = 0; i < offers->count; i++)
            add_offer(&table, &offers->offer[i], &draft->c, &notes);
        bli_table_print(&table, "lrlrrl", style, out);
        bli_table_fini(&table);
    }
    print_outcome(offers, wish, out);
    bli_doubt_print(&notes, BLI_REMEDY_OPTION, out);
}

static void put_offers(const struct bli_price_offers *offers, const struct bli_draft *draft,
                       struct bli_rows *rows) {
    static const struct bli_offer none;
    rows->names_only = offers->count == 0;
    for (size_t i = 0; i < offers->count + rows->names_only; i++) {
        const struct bli_offer *offer = rows->names_only ? &none : &offers->offer[i];
        struct bli_case own = draft->c;
        own.policy = offer->policy;
        do {
            put_measured(rows, &own, &offer->result, &offer->price, &offer->known);
            bli_row_text(rows, "wish", "`met`, `undecided` or `missed`", fulfilment_text(offer->fulfilment));
            bli_row_bool(rows, "cheapest", "does nothing that meets it cost less?", offer->cheapest,
                         bli_no_yes);
            bli_row_text(rows, "by", "`theory` or `simulation`", offer->by_theory ? "theory" : "simulation");
        } while (bli_row_end(rows, draft));
    }
}

static void json_hint(struct json *json, const char *key, const struct bal_policy_spec *policy) {
    char text[200];
    if (policy->policy)
        bal_policy_print(policy, text, sizeof text);
    bli_json_text(json, key, policy->policy ? text : NULL);
}

static void json_offers(const struct bli_price_offers *offers, const struct bli_draft *draft,
                        const struct bli_wish *wish, struct bli_rows *rows) {
    struct json *json = rows->json;
    bli_rows_open(rows);
    bli_json_open(json, "spec", '{');
    bli_json_number(json, "delay", wish->waiting);
    bli_json_number(json, "messages", wish->messages);
    bli_json_number(json, "memory", wish->memory_bits);
    json_setting(json, &draft->c, draft->c.run.time);
    bli_json_close(json, '}');
    bli_head_json(json, draft, NULL);
    bli_json_open(json, "offers", '[');
    for (size_t i = 0; i < offers->count; i++) {
        const struct bli_offer *offer = &offers->offer[i];
        struct bli_case own = draft->c;
        own.policy = offer->policy;
        bli_json_open(json, NULL, '{');
        json_measured(json, &own, &offer->result, &offer->price, &offer->known);
        bli_json_text(json, "wish", fulfilment_text(offer->fulfilment));
        bli_json_bool(json, "cheapest", offer->cheapest);
        bli_json_text(json, "by", offer->by_theory ? "theory" : "simulation");
        bli_json_close(json, '}');
    }
    bli_json_close(json, ']');
    bli_json_number(json, "floor_waiting", offers->floor_waiting);
    json_hint(json, "more_messages", &offers->more_messages.policy);
    json_hint(json, "more_memory", &offers->more_memory.policy);
    bli_json_close(json, '}');
}

void bli_price_offers_print(const struct bli_price_offers *offers, const struct bli_draft *draft,
                            const struct bli_wish *wish, struct bli_rows *rows) {
    if (rows->text)
        print_offers(offers, draft, wish, rows->style, rows->text);
    else if (rows->json)
        json_offers(offers, draft, wish, rows);
    else
        put_offers(offers, draft, rows);
}

/* ---- what it is made of ---- */

void bli_price_list_describe(struct bli_rows *rows) {
    const struct bli_draft draft = bli_rows_sample();
    const struct bli_result result = {.replications = 0};
    const struct bli_price price = {.memory_bits = 0};
    const struct bli_theory_row theory_row = bli_theory_row_of(&draft.c);
    const struct bli_price_list list = {&draft.c, &result, &price, &theory_row, 1, &draft, false};
    bli_price_list_print(&list, rows);
}

void bli_price_offers_describe(struct bli_rows *rows) {
    const struct bli_draft draft = bli_rows_sample();
    const struct bli_wish wish = {.waiting = 1};
    const struct bli_price_offers offers = {.count = 1, .offer = {{.policy = draft.c.policy}}};
    bli_price_offers_print(&offers, &draft, &wish, rows);
}
