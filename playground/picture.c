/* SPDX-License-Identifier: BSD-2-Clause */
/* The picture: policies next to each other on the same arrivals, event by event on the network engine, which
 * runs all that takes place in continuous time, with one dispatcher exactly as the other engines do.
 *
 * A change of a setting ends the runs and begins others with the queues that are there, at the time at which
 * it is; random numbers are then those of another replication, again the same for all policies. */
#include "host.h"

#include "ballast/lab.h"
#include "ballast/predict.h"
#include "engine/network_engine.h"
#include "page_json.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCHES = 20, BATCH_MIN = 100, PROBES_SHOWN = 16, TAIL_SHOWN = 40, SERVERS_MAX = 10000 };

/* Batches of jobs that left one after another: they stand in for replications. Full, they are merged by
 * pairs, so that there are always 10 to 20 and each is long compared with what links jobs. */
struct batch {
    uint64_t jobs;
    double response;
    struct bli_histogram histogram;
};

struct view {
    struct bli_case c; /* the network points into it */
    struct network *net;
    struct network_observer observer;
    enum bal_code code; /* of the last step */
    uint32_t *initial;
    struct play_server *servers;
    uint32_t *before; /* lengths in front of a step, to see who has stolen */
    void *state;      /* copy of a policy's, to see whom it will ask */
    uint32_t *ask;    /* ... and a buffer for their names */
    uint64_t stolen;  /* totals at the last step */
    bool sent;        /* since `routes` */
    uint32_t routed;  /* the job of the last `routes` */
    /* measured */
    unsigned batches;
    uint64_t batch_jobs; /* of a full one */
    uint64_t done;       /* jobs in all batches so far, and their responses */
    double done_response;
    struct batch batch[BATCHES];
    struct bli_histogram taken; /* of the jobs in batches */
};

static struct {
    struct view *view[PLAY_VIEWS];
    uint32_t views, servers;
    unsigned changes;
    double begun; /* the time at which the runs that are open began */
    double now;
    bool noting;
    uint32_t events;
    struct play_event event[PLAY_EVENTS];
    struct play_server none;
} stage;

/* ---- what is seen ---- */

static void record_event(const struct view *view, enum play_kind kind, uint32_t from, uint32_t to,
                         uint32_t rank) {
    if (!stage.noting || stage.events == PLAY_EVENTS)
        return;
    uint32_t index = 0;
    while (stage.view[index] != view)
        index++;
    stage.event[stage.events++] = (struct play_event){.time = stage.begun + view->net->now,
                                                      .view = index,
                                                      .kind = kind,
                                                      .from = from,
                                                      .to = to,
                                                      .rank = rank,
                                                      .lasts = view->net->wire->delay.mean > 0};
}

/* Where probes take no time, no message is sent. To show them, the policy decides on a copy of its state and
 * of its random stream: the servers that it probes there are those that it probes next. */
static void note_probes(struct view *view, uint32_t job) {
    struct network *net = view->net;
    const struct job *j = &net->job[job];
    const struct dispatcher *d = &net->dispatcher[j->dispatcher];
    const struct bal_policy_context setting = {net->system.servers, net->model->load};
    if (net->takes_time || !net->spec->policy->sample)
        return;
    const size_t size = bal_policy_size(net->spec, &setting);
    memcpy(view->state, d->state, size);
    struct bal_rng rng = d->rng;
    struct bal_fleet fleet = d->fleet;
    fleet.ask = view->ask;
    fleet.ask_room = net->system.servers;
    const struct bal_job what = {.count = 1, .rank = j->rank};
    const uint32_t asked = bal_policy_sample(net->spec, view->state, &fleet, &what, &rng);
    for (uint32_t i = 0; i < asked && asked <= PROBES_SHOWN; i++)
        record_event(view, PLAY_PROBE, j->dispatcher, view->ask[i], j->rank);
}

static void observe_route(void *context, uint32_t job) {
    struct view *view = context;
    if (!stage.noting)
        return;
    const struct job *j = &view->net->job[job];
    record_event(view, PLAY_ARRIVAL, j->dispatcher, 0, j->rank);
    note_probes(view, job);
    view->routed = job;
    view->sent = false;
}

static void observe_send(void *context, const struct message *message) {
    struct view *view = context;
    if (!stage.noting)
        return;
    const uint32_t rank = message->type == JOB ? view->net->job[message->job].rank : 1;
    switch ((enum message_type)message->type) {
    case JOB:
        view->sent = view->sent || message->job == view->routed;
        record_event(view, PLAY_SEND, message->dispatcher, message->server, rank);
        break;
    case PROBE:
        record_event(view, PLAY_PROBE, message->dispatcher, message->server, rank);
        break;
    case REPORT:
        record_event(view,
                     message->detail == BAL_REPORT_IDLE || message->detail == BAL_REPORT_ON ? PLAY_TOKEN
                                                                                            : PLAY_REPORT,
                     message->server, message->dispatcher, rank);
        break;
    case WAKE:
        record_event(view, PLAY_WAKE, message->dispatcher, message->server, rank);
        break;
    case MOVE:
        record_event(view, PLAY_MOVE, message->server, message->other, 1);
        break;
    case FAILURE:
    case LOST:
        record_event(view, PLAY_FAILURE, view->net->job[message->job].server, 0, rank);
        break;
    default:
        break;
    }
}

static void observe_delivery(void *context, const struct message *message) {
    struct view *view = context;
    if (message->type == COMPLETE && net_service_ends(view->net, message))
        record_event(view, PLAY_COMPLETE, message->server, 0, view->net->job[message->job].rank);
    if (message->type == POWER_TIMER && view->net->net_server[message->server].timer == message->version)
        record_event(view, PLAY_POWER, message->server, 0, 1);
}

/* Where messages take no time stolen jobs are there at once: the server that has more than it had got them
 * from the one that has less. */
static void note_stolen(struct view *view) {
    const struct system *system = &view->net->system;
    if (system->tally.totals.stolen == view->stolen)
        return;
    uint32_t from = BAL_NONE, to = BAL_NONE, most = 0;
    for (uint32_t server = 0; server < system->servers; server++) {
        const uint32_t fell = view->before[server] - system->length[server];
        if (system->length[server] < view->before[server] && fell >= most) {
            from = server;
            most = fell;
        }
        if (system->length[server] >= view->before[server] && view->net->net_server[server].running &&
            view->net->job[view->net->net_server[server].in_slot[0]].since == view->net->now)
            to = server;
    }
    for (uint64_t i = view->stolen; i < system->tally.totals.stolen && from != BAL_NONE && to != BAL_NONE;
         i++)
        record_event(view, PLAY_MOVE, from, to, 1);
    view->stolen = system->tally.totals.stolen;
}

/* ---- what is measured ---- */

static void merge_batches(struct view *view) {
    for (unsigned i = 0; i < BATCHES / 2; i++) {
        struct batch *into = &view->batch[i];
        if (i > 0)
            *into = view->batch[2 * i];
        into->jobs += view->batch[2 * i + 1].jobs;
        into->response += view->batch[2 * i + 1].response;
        bli_histogram_merge(&into->histogram, &view->batch[2 * i + 1].histogram);
    }
    view->batches = BATCHES / 2;
    view->batch_jobs *= 2;
}

/* Jobs that have left since the last batch make a new one, once there are enough of them. */
static void take_batch(struct view *view) {
    struct tally *tally = &view->net->system.tally;
    if (tally->all.completed + tally->all.responses.count < view->done + view->batch_jobs)
        return;
    bli_channel_take(&tally->all, tally->per_unit);
    if (view->batches == BATCHES)
        merge_batches(view);
    if (tally->all.completed < view->done + view->batch_jobs)
        return;
    struct batch *batch = &view->batch[view->batches++];
    batch->jobs = tally->all.completed - view->done;
    batch->response = tally->all.response - view->done_response;
    batch->histogram = tally->all.response_histogram;
    bli_histogram_subtract(&batch->histogram, &view->taken);
    view->taken = tally->all.response_histogram;
    view->done = tally->all.completed;
    view->done_response = tally->all.response;
}

static void write_estimate(struct json *json, const char *key, double value, const double *values, size_t n) {
    bli_json_open_line(json, key, '{');
    bli_json_number(json, "value", value);
    bli_json_number(json, "half", n >= BATCHES / 2 ? bli_estimate_mean(values, n).half_width : NAN);
    bli_json_close(json, '}');
}

static void write_times(struct json *json, const struct view *view) {
    static const double quantile[] = {0.5, 0.99};
    static const char *const name[] = {"p50", "p99"};
    const struct tally *tally = &view->net->system.tally;
    double values[BATCHES];
    for (unsigned i = 0; i < view->batches; i++)
        values[i] = view->batch[i].response / (double)view->batch[i].jobs;
    write_estimate(json, "mean", tally->all.response / (double)tally->all.completed, values, view->batches);
    for (int q = 0; q < 2; q++) {
        for (unsigned i = 0; i < view->batches; i++)
            values[i] = bli_histogram_quantile(&view->batch[i].histogram, quantile[q]) * tally->unit;
        write_estimate(json, name[q],
                       bli_histogram_quantile(&tally->all.response_histogram, quantile[q]) * tally->unit,
                       values, view->batches);
    }
}

/* The time that the runs have measured. */
static double passed(void) {
    return stage.now - stage.begun;
}

/* The part of time that a server has had at least so many jobs. */
static double tail_at(const struct network *net, unsigned level) {
    const struct tally *tally = &net->system.tally;
    const struct level *at = &tally->level[level];
    const double area =
        tally->totals.tail[level] + at->area + (double)at->count * (passed() - tally->slice_start);
    return area / passed() / net->system.servers;
}

static void write_tail(struct json *json, const struct network *net) {
    bli_json_open_line(json, "tail", '[');
    bli_json_number(json, NULL, 1);
    for (unsigned level = 1; passed() > 0 && level < TAIL_SHOWN; level++) {
        const double tail = tail_at(net, level);
        if (tail < 1e-6)
            break;
        bli_json_number(json, NULL, tail);
    }
    bli_json_close(json, ']');
}

static double per(double a, double b) {
    return b > 0 ? a / b : NAN;
}

static void write_class(struct json *json, const char *key, struct view *view, unsigned rank) {
    struct tally *tally = &view->net->system.tally;
    struct channel *channel = &tally->by_class[rank];
    bli_channel_take(channel, tally->per_unit);
    bli_json_number(json, key, per(channel->response, (double)channel->completed));
}

static void write_view(struct json *json, struct view *view) {
    const struct network *net = view->net;
    struct tally *tally = &view->net->system.tally;
    bli_channel_take(&tally->all, tally->per_unit);
    const struct totals *totals = &tally->totals;
    const double offered = (double)(tally->all.completed + (uint64_t)bli_tally_queue(tally) + totals->lost +
                                    totals->refused + totals->failed);
    uint32_t held = 0;
    for (uint32_t d = 0; d < net->dispatchers; d++)
        held += net_dispatcher_held(&net->dispatcher[d]);
    bli_json_open(json, NULL, '{');
    bli_json_count(json, "jobs", tally->all.completed);
    write_times(json, view);
    write_tail(json, net);
    bli_json_number(json, "messages",
                    per(2 * (double)net->system.fleet.probes + (double)totals->reports, offered));
    bli_json_number(
        json, "watts",
        per(bli_tally_energy(tally, net->system.servers, passed()), passed() * net->system.servers));
    bli_json_number(json, "failed", per((double)totals->failed, offered));
    bli_json_number(json, "refused", per((double)(totals->refused + totals->lost), offered));
    bli_json_count(json, "held", held);
    bli_json_count(json, "moved", totals->moves + totals->stolen);
    if (net->system.features & HAS_CLASSES) {
        write_class(json, "high", view, 0);
        write_class(json, "low", view, 1);
    }
    bli_json_close(json, '}');
}

void play_measure(void) {
    struct page_json out;
    struct json *json = page_json_open(&out);
    if (!json)
        return;
    bli_json_open(json, NULL, '{');
    bli_json_number(json, "time", passed());
    bli_json_open(json, "views", '[');
    for (uint32_t i = 0; i < stage.views; i++)
        write_view(json, stage.view[i]);
    bli_json_close(json, ']');
    bli_json_close(json, '}');
    page_json_close(&out);
}

/* ---- time ---- */

static double next_of(const struct view *view) {
    return view->code ? INFINITY : fmin(view->net->arrives, bli_event_list_next_time(&view->net->events));
}

/* The view with the next event; NULL: nothing will happen. */
static struct view *first_view(void) {
    struct view *first = NULL;
    double least = INFINITY;
    for (uint32_t i = 0; i < stage.views; i++)
        if (next_of(stage.view[i]) < least) {
            first = stage.view[i];
            least = next_of(first);
        }
    return first;
}

double play_next(void) {
    const struct view *view = first_view();
    return view ? stage.begun + next_of(view) : INFINITY;
}

double play_now(void) {
    return stage.now;
}

static void step(struct view *view) {
    struct network *net = view->net;
    const bool steals = stage.noting && net->model->steal.kind != BAL_STEAL_NONE && !net->takes_time;
    if (steals)
        memcpy(view->before, net->system.length, stage.servers * sizeof *view->before);
    view->routed = NO_INDEX;
    view->sent = true;
    view->code = bli_network_step(net);
    if (!view->sent && !net->takes_time)
        record_event(view, PLAY_HOLD, net->dispatchers > 1 ? net->job[view->routed].dispatcher : 0, 0, 1);
    if (steals)
        note_stolen(view);
    take_batch(view);
}

uint32_t play_advance(uint32_t events, double until, int noted) {
    stage.noting = noted != 0;
    stage.events = 0;
    uint32_t done = 0;
    for (struct view *view; done < events && stage.events < PLAY_EVENTS - 64 && (view = first_view());
         done++) {
        const double time = stage.begun + next_of(view);
        if (time > until) {
            stage.now = until;
            break;
        }
        step(view);
        stage.now = time;
    }
    return done;
}

const struct play_event *play_events(void) {
    return stage.event;
}

uint32_t play_event_count(void) {
    return stage.events;
}

static struct play_server look_at(const struct network *net, uint32_t server) {
    const struct net_server *station = &net->net_server[server];
    const uint32_t length = net->system.length[server];
    const uint32_t urgent = net->system.urgent ? net->system.urgent[server] : 0;
    const bool urgent_first =
        station->running && net->system.urgent && net->job[station->in_slot[0]].rank == 0;
    return (struct play_server){.length = (uint16_t)(length < UINT16_MAX ? length : UINT16_MAX),
                                .urgent = (uint16_t)(urgent < UINT16_MAX ? urgent : UINT16_MAX),
                                .running =
                                    (uint16_t)(station->running < UINT16_MAX ? station->running : UINT16_MAX),
                                .power = (uint8_t)station->power,
                                .marks = (uint8_t)((station->fails_fast ? 2 : 0) | (urgent_first ? 4 : 0))};
}

const struct play_server *play_servers(uint32_t index) {
    if (index >= stage.views)
        return &stage.none;
    struct view *view = stage.view[index];
    for (uint32_t server = 0; server < stage.servers; server++)
        view->servers[server] = look_at(view->net, server);
    return view->servers;
}

/* ---- opening ---- */

static int fail(const char *format, ...) {
    char text[600];
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    page_tell(text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
    return 2;
}

static void close_view(struct view *view) {
    if (!view)
        return;
    if (view->net)
        bli_network_close(view->net, BAL_OK, NULL, NULL);
    free(view->initial);
    free(view->servers);
    free(view->before);
    free(view->state);
    free(view->ask);
    free(view);
}

static void copy_queues(struct view *view, const struct view *from, uint32_t servers, uint32_t before) {
    for (uint32_t server = 0; from && server < servers && server < before; server++)
        view->initial[server] = from->net->system.length[server];
}

/* How long a picture may go on; slices of it are then long, too. */
static const double longest = 1e9;

static struct view *open_view(const struct bli_case *c, const struct view *from, uint32_t servers) {
    struct view *view = calloc(1, sizeof *view);
    if (!view)
        return NULL;
    view->c = *c;
    view->batch_jobs = BATCH_MIN;
    const struct bal_policy_context setting = {servers, view->c.model.load};
    view->initial = calloc(servers, sizeof *view->initial);
    view->servers = calloc(servers, sizeof *view->servers);
    view->before = calloc(servers, sizeof *view->before);
    view->ask = calloc(servers, sizeof *view->ask);
    view->state = calloc(1, bal_policy_size(&view->c.policy, &setting) + 1);
    if (!view->initial || !view->servers || !view->before || !view->ask || !view->state) {
        close_view(view);
        return NULL;
    }
    copy_queues(view, from, servers, stage.servers);
    struct bli_run *run = &view->c.run;
    run->engine = BLI_ENGINE_NETWORK;
    run->replication = stage.changes;
    run->time = longest * view->c.model.size.mean;
    run->warmup = 0;
    run->initial = from ? view->initial : NULL;
    return view;
}

/* One that has no network to look at yet. */
static int begin_view(struct view *view) {
    struct bal_error err = {0};
    enum bli_engine engine;
    const struct bli_network *wire = &view->c.model.network;
    if (view->c.policy.policy == &play_yours && bli_network_takes_time(wire))
        return fail(
            "your own policy asks servers and does not wait: leave out the delay, the loss and the churn");
    if (bli_simulate_check(&view->c.model, &view->c.policy, BLI_ENGINE_NETWORK, &engine, &err) ||
        bli_network_open(&view->c.model, &view->c.policy, &view->c.run, &view->net, &err))
        return fail("%s", err.text);
    view->observer = (struct network_observer){view, observe_route, observe_send, observe_delivery};
    view->net->observer = &view->observer;
    return 0;
}

static void write_known(struct json *json, const struct view *view) {
    const struct bli_prediction known = bli_theory_predict(&view->c.model, &view->c.policy);
    if (known.kind == BLI_THEORY_UNKNOWN) {
        bli_json_null(json, "theory");
        return;
    }
    bli_json_open(json, "theory", '{');
    bli_json_text(json, "kind", bli_theory_kind_name(known.kind));
    bli_json_text(json, "source", known.source);
    bli_json_number(json, "mean", known.response_mean);
    bli_json_open_line(json, "tail", '[');
    for (unsigned i = 0; i < known.levels && i < TAIL_SHOWN && known.tail[i] > 1e-6; i++)
        bli_json_number(json, NULL, known.tail[i]);
    bli_json_close(json, ']');
    bli_json_close(json, '}');
}

static void write_opened(void) {
    struct page_json out;
    struct json *json = page_json_open(&out);
    if (!json)
        return;
    const struct bli_model *model = &stage.view[0]->c.model;
    bli_json_open(json, NULL, '{');
    bli_json_count(json, "servers", stage.servers);
    bli_json_count(json, "dispatchers", stage.view[0]->net->dispatchers);
    bli_json_count(json, "slots", model->slots > 1 ? model->slots : 1);
    bli_json_number(json, "rate", bli_model_arrival_rate(model));
    bli_json_bool(json, "classes", model->classes);
    bli_json_open_line(json, "speeds", '[');
    for (unsigned g = 0; g < model->servers.groups; g++)
        for (uint32_t i = 0; i < model->servers.group[g].count && model->servers.groups > 1; i++)
            bli_json_number(json, NULL, model->servers.group[g].speed);
    bli_json_close(json, ']');
    bli_json_open(json, "views", '[');
    for (uint32_t i = 0; i < stage.views; i++) {
        char policy[200];
        bal_policy_print(&stage.view[i]->c.policy, policy, sizeof policy);
        bli_json_open(json, NULL, '{');
        bli_json_text(json, "policy", policy);
        bli_json_bool(json, "powered", stage.view[i]->net->system.features & POWER_SWITCHING);
        bli_json_bool(json, "reports", stage.view[i]->c.policy.policy->wants & BAL_WANTS_IDLE);
        write_known(json, stage.view[i]);
        bli_json_close(json, '}');
    }
    bli_json_close(json, ']');
    bli_json_close(json, '}');
    page_json_close(&out);
}

static int check_picture(const struct bli_case *c, size_t count) {
    if (c->model.clock == BLI_CLOCK_SLOTTED)
        return fail("the picture shows continuous time; leave out slotted");
    if (count > PLAY_VIEWS)
        return fail("%zu policies are too many side by side; at most %d", count, PLAY_VIEWS);
    const uint32_t servers = bli_servers_count(&c->model.servers);
    return servers > SERVERS_MAX
               ? fail("%u servers are too many to be seen; at most %d", servers, SERVERS_MAX)
               : 0;
}

/* The old picture stays open unless the new one is complete. */
int play_open(int count, int keep) {
    static struct bli_case cases[64];
    size_t policies = 0;
    int status = play_settings(count, cases, &policies);
    if (!status)
        status = check_picture(cases, policies);
    if (status)
        return status;
    const uint32_t servers = bli_servers_count(&cases[0].model.servers);
    struct view *opened[PLAY_VIEWS] = {NULL};
    const unsigned changes = stage.changes;
    stage.changes = keep ? changes + 1 : 0;
    for (uint32_t i = 0; !status && i < policies; i++) {
        const struct view *from = keep && stage.views ? stage.view[i < stage.views ? i : 0] : NULL;
        opened[i] = open_view(&cases[i], from, servers);
        status = opened[i] ? begin_view(opened[i]) : fail("not enough memory for %u servers", servers);
    }
    if (status) {
        for (uint32_t i = 0; i < PLAY_VIEWS; i++)
            close_view(opened[i]);
        stage.changes = changes;
        return status;
    }
    for (uint32_t i = 0; i < stage.views; i++)
        close_view(stage.view[i]);
    memcpy(stage.view, opened, sizeof opened);
    stage.views = (uint32_t)policies;
    stage.servers = servers;
    stage.now = stage.begun = keep ? stage.now : 0;
    stage.events = 0;
    write_opened();
    return 0;
}
