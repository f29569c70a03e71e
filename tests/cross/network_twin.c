/* SPDX-License-Identifier: BSD-2-Clause */
/* A second simulator of dispatchers and servers with a network between them, written from "The model,
 * exactly" in docs/network.md alone, against the engine.
 *
 * Everything that will happen stands in one list, in the order in which it will; jobs are records in an array
 * that are never thrown away, sets are flags that are counted through, and the rules of the policies are
 * written out once more. It is slow and has nothing in common with the engine but the generator of random
 * bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../agree.h"

enum { SERVERS = 8, DISPATCHERS_MAX = 4, LIST_ROOM = 4000, PROBES = 2, TRIES = 4, NOBODY = 1000 };

/* ---- the settings ---- */

enum dist { AT_ONCE, DETERMINISTIC, EXPONENTIAL };

struct setting {
    unsigned dispatchers;
    enum dist delay;
    double mean_delay;
    double loss, heartbeat;
    double load;
    double up, down; /* 0: servers do not fail */
    double timeout;  /* 0: as it is unless said */
    double jobs;     /* of a run; 0: 1000 */
    struct {         /* 0: these do not happen */
        double cut_at, cut_for, restart_at, restart_for, reload_at, reload_for, reload_down, storm_at,
            storm_for, storm;
        unsigned cut_servers, cut_dispatchers, restarts, reloads;
    } events;
};

enum policy { RANDOM, OWN, OWN_2, POD_2, JIQ, JIQ_OWN, JIQ_OWN_2, JIQ_HOLD, JIQ_REPORT_2 };

static const char *const policy_text[] = {
    [RANDOM] = "random",
    [OWN] = "least-conn",
    [OWN_2] = "least-conn:d=2",
    [POD_2] = "pod:d=2",
    [JIQ] = "jiq",
    [JIQ_OWN] = "jiq:else=least-conn",
    [JIQ_OWN_2] = "jiq:else=least-conn2",
    [JIQ_HOLD] = "jiq:else=hold",
    [JIQ_REPORT_2] = "jiq:report=2",
};

static bool wants_idle(enum policy policy) {
    return policy >= JIQ;
}

/* ---- what there is ---- */

struct job {
    double arrival, size;
    unsigned dispatcher, server;
    unsigned restarts; /* of the dispatcher, before it was sent */
    unsigned failures;
    bool failed_at[SERVERS];
    /* while it waits for replies */
    unsigned probed, replied;
    bool decided;
    unsigned reply_server[PROBES];
};

/* What a server knows of a dispatcher to which it offers its slot. */
struct claim {
    unsigned held;
    bool by_question;
    double backlog_valid_until, barred_until, offered_at;
    unsigned long last; /* number of its last word */
};

struct server {
    unsigned *queue; /* jobs, the one in service first */
    unsigned length;
    unsigned holder;
    bool down;
    unsigned failures; /* so many times it has failed: what was going on before does not end */
    struct claim claim[DISPATCHERS_MAX];
    unsigned long words; /* that it has said to dispatchers */
};

struct dispatcher {
    bool token[SERVERS];
    bool silent[SERVERS], unreachable[SERVERS]; /* it is closed for these reasons */
    unsigned own[SERVERS], restarts;
    double known_until[SERVERS], token_until[SERVERS];
    unsigned long newest[SERVERS];      /* word of the server */
    unsigned length[SERVERS];           /* as its newest word says */
    unsigned *held, held_from, held_to; /* jobs held[from ... to) */
    /* of its backlog */
    bool told;
    double announce_at;
    unsigned misses;
    unsigned long words;
    bool looks_busy[SERVERS];
    double asked_until[SERVERS], declined_until[SERVERS]; /* 0: not */
};

enum kind {
    JOB,
    RESPONSE,
    FAILURE, /* its news */
    IDLE,
    PROBE,
    REPLY,
    HUNGER,     /* a question too */
    RESUME,     /* a dispatcher can use the server again */
    BEAT,       /* as a message: a heartbeat */
    SERVICE,    /* ends */
    TIME_OUT,   /* of a job's probes */
    BEAT_NOW,   /* a server sends heartbeats */
    TELL_NOW,   /* it is time to tell all servers of the backlog */
    UNANSWERED, /* a question */
    SILENCE,    /* what a server has said expires at a dispatcher */
    CHURN,      /* a server fails or comes back */
    RESTART,    /* a dispatcher begins again */
    RELOAD,     /* a server fails, and is back later */
    BACK,
    ARRIVAL,
};

struct happening {
    double time;
    unsigned rank; /* at equal times: messages that take no time, then what was put off, then arrivals */
    unsigned long put_off;
    enum kind kind;
    unsigned server, dispatcher, job;
    unsigned asked;  /* probes, replies and time-outs: after so many failures of the job */
    unsigned value;  /* length, hunger; BEAT: idle? SERVICE: after so many failures of the server */
    unsigned length; /* BEAT */
    bool alone;      /* HUNGER: to this server alone. RESPONSE: it brings an offer */
    unsigned long word;
};

struct measured {
    double response, waiting, level[AGREE_TAIL + 1], total;
    unsigned long responses, begun, waited, arrived, refused, failed, probes, reports;
};

struct world {
    struct bal_rng rng;
    const struct setting *setting;
    enum policy policy;
    double now, warm, end;
    struct happening list[LIST_ROOM]; /* the next one last */
    unsigned listed;
    unsigned long put_off;
    struct server server[SERVERS];
    struct dispatcher dispatcher[DISPATCHERS_MAX];
    struct job *job;
    unsigned jobs, room;
    unsigned in_system; /* jobs that have come and whose response is not back */
    struct measured m;
};

static bool measuring(const struct world *w) {
    return w->now > w->warm;
}

/* ---- chance ---- */

static double exponential(struct world *w, double mean) {
    return -mean * log(1 - bal_rng_uniform(&w->rng));
}

/* Uniform on 0 ... n-1, by throwing away what does not fit. */
static unsigned uniform(struct world *w, unsigned n) {
    unsigned draw;
    do
        draw = (unsigned)(bal_rng_next(&w->rng) >> 58);
    while (draw >= n);
    return draw;
}

/* ---- the list ---- */

static bool is_before(const struct happening *a, const struct happening *b) {
    if (a->time != b->time)
        return a->time < b->time;
    return a->rank != b->rank ? a->rank < b->rank : a->put_off < b->put_off;
}

static void put(struct world *w, struct happening what, double delay, unsigned rank) {
    what.time = w->now + delay;
    what.rank = rank;
    what.put_off = w->put_off++;
    assert_true(w->listed < LIST_ROOM);
    unsigned at = w->listed++;
    for (; at > 0 && is_before(&w->list[at - 1], &what); at--)
        w->list[at] = w->list[at - 1];
    w->list[at] = what;
}

static void put_off(struct world *w, struct happening what, double delay) {
    put(w, what, delay, 1);
}

/* ---- messages ---- */

/* Whatever travels. */
static void travel(struct world *w, struct happening what) {
    switch (w->setting->delay) {
    case AT_ONCE:
        put(w, what, 0, 0);
        break;
    case DETERMINISTIC:
        put(w, what, w->setting->mean_delay, 1);
        break;
    case EXPONENTIAL:
        put(w, what, exponential(w, w->setting->mean_delay), 1);
        break;
    }
}

static double loss_now(const struct world *w) {
    const struct setting *s = w->setting;
    const bool storm = w->now >= s->events.storm_at && w->now < s->events.storm_at + s->events.storm_for;
    return storm && s->events.storm > s->loss ? s->events.storm : s->loss;
}

static bool is_cut(const struct world *w, unsigned dispatcher, unsigned server) {
    const struct setting *s = w->setting;
    return w->now >= s->events.cut_at && w->now < s->events.cut_at + s->events.cut_for &&
           server < s->events.cut_servers && dispatcher < s->events.cut_dispatchers;
}

/* What can be lost; nothing else knows of cuts but jobs and what becomes of them. */
static void send(struct world *w, struct happening what) {
    const double loss = loss_now(w);
    if (loss > 0 && bal_rng_uniform(&w->rng) < loss)
        return;
    if (!is_cut(w, what.dispatcher, what.server))
        travel(w, what);
}

/* What has become of a job goes back to where it came from, when the way is free. */
static void send_back(struct world *w, unsigned server, struct happening what) {
    const struct setting *s = w->setting;
    if (!is_cut(w, w->job[what.job].dispatcher, server)) {
        travel(w, what);
        return;
    }
    const double wait = s->events.cut_at + s->events.cut_for - w->now;
    put_off(w, what,
            wait + (s->delay == AT_ONCE         ? 0
                    : s->delay == DETERMINISTIC ? s->mean_delay
                                                : exponential(w, s->mean_delay)));
}

static void send_report(struct world *w, enum kind kind, unsigned server, unsigned dispatcher) {
    w->m.reports += measuring(w);
    send(w, (struct happening){
                .kind = kind, .server = server, .dispatcher = dispatcher, .word = ++w->server[server].words});
}

static unsigned held_by(const struct dispatcher *d) {
    return d->held_to - d->held_from;
}

static void send_hunger(struct world *w, unsigned dispatcher, unsigned server, unsigned held, bool alone) {
    w->m.reports += measuring(w);
    send(w, (struct happening){.kind = HUNGER,
                               .server = server,
                               .dispatcher = dispatcher,
                               .value = held,
                               .alone = alone,
                               .word = ++w->dispatcher[dispatcher].words});
}

static bool has_backlogs(const struct world *w) {
    return wants_idle(w->policy);
}

/* For so long what a dispatcher says of its backlog is believed. */
static double three_beats(const struct world *w) {
    return w->setting->heartbeat > 0 ? 3 * w->setting->heartbeat : INFINITY;
}

static void give_back(struct world *w, unsigned dispatcher, unsigned server) {
    struct dispatcher *d = &w->dispatcher[dispatcher];
    d->declined_until[server] = w->now + three_beats(w);
    send_hunger(w, dispatcher, server, 0, true);
}

static bool is_closed(const struct dispatcher *d, unsigned server) {
    return d->silent[server] || d->unreachable[server];
}

/* One of its two reasons to be closed holds from now on. */
static void close_server(struct world *w, unsigned dispatcher, unsigned server, bool *reason) {
    struct dispatcher *d = &w->dispatcher[dispatcher];
    const bool was_closed = is_closed(d, server);
    *reason = true;
    if (was_closed)
        return;
    if (has_backlogs(w) && (d->token[server] || d->told))
        give_back(w, dispatcher, server);
    d->token[server] = false;
}

/* ---- a dispatcher decides ---- */

/* A uniform one of those with the flag, or NOBODY. */
static unsigned uniform_of(struct world *w, const bool flag[SERVERS]) {
    unsigned who[SERVERS], count = 0;
    for (unsigned s = 0; s < SERVERS; s++)
        if (flag[s])
            who[count++] = s;
    return count > 0 ? who[uniform(w, count)] : NOBODY;
}

/* To a job: those that are open, but for those at which it has failed. */
static bool is_open(const struct world *w, const struct job *job, unsigned server) {
    return !is_closed(&w->dispatcher[job->dispatcher], server) && !job->failed_at[server];
}

static void find_open(const struct world *w, const struct job *job, bool open[SERVERS]) {
    for (unsigned s = 0; s < SERVERS; s++)
        open[s] = is_open(w, job, s);
}

static unsigned any_open(struct world *w, const struct job *job) {
    bool open[SERVERS];
    find_open(w, job, open);
    return uniform_of(w, open);
}

static unsigned fewest_own(struct world *w, const struct job *job) {
    const unsigned *own = w->dispatcher[job->dispatcher].own;
    bool best[SERVERS];
    unsigned least = UINT32_MAX;
    for (unsigned s = 0; s < SERVERS; s++)
        if (is_open(w, job, s) && own[s] < least)
            least = own[s];
    for (unsigned s = 0; s < SERVERS; s++)
        best[s] = is_open(w, job, s) && own[s] == least;
    return uniform_of(w, best);
}

static unsigned fewer_own_of_two(struct world *w, const struct job *job) {
    const unsigned *own = w->dispatcher[job->dispatcher].own;
    bool open[SERVERS];
    find_open(w, job, open);
    const unsigned first = uniform_of(w, open);
    if (first == NOBODY)
        return NOBODY;
    open[first] = false;
    const unsigned second = uniform_of(w, open);
    return second != NOBODY && own[second] < own[first] ? second : first;
}

/* A token of an open server, used up; or NOBODY. */
static unsigned use_token(struct world *w, const struct job *job) {
    struct dispatcher *d = &w->dispatcher[job->dispatcher];
    bool good[SERVERS];
    for (unsigned s = 0; s < SERVERS; s++)
        good[s] = d->token[s] && is_open(w, job, s);
    const unsigned server = uniform_of(w, good);
    if (server != NOBODY)
        d->token[server] = false;
    return server;
}

/* Where a job goes for which the policy has no server: to one of those that it has not tried with the fewest
 * jobs of its dispatcher, even if it is closed. NOBODY: it has tried all. */
static unsigned closed_one(struct world *w, const struct job *job) {
    const unsigned *own = w->dispatcher[job->dispatcher].own;
    bool best[SERVERS];
    unsigned least = UINT32_MAX;
    for (unsigned s = 0; s < SERVERS; s++)
        if (!job->failed_at[s] && own[s] < least)
            least = own[s];
    for (unsigned s = 0; s < SERVERS; s++)
        best[s] = !job->failed_at[s] && own[s] == least;
    return uniform_of(w, best);
}

/* May a job that is held wait for an open server, or for one that could not be reached and is not silent? */
static bool may_wait(const struct world *w, const struct job *job) {
    const struct dispatcher *d = &w->dispatcher[job->dispatcher];
    for (unsigned s = 0; s < SERVERS; s++)
        if (!job->failed_at[s] && !d->silent[s])
            return true;
    return false;
}

static double time_out(const struct world *w) {
    if (w->setting->timeout > 0)
        return w->setting->timeout;
    return w->setting->delay == AT_ONCE ? 0.1 : 10 * w->setting->mean_delay;
}

static void send_job(struct world *w, unsigned number, unsigned server) {
    struct job *job = &w->job[number];
    if (server == NOBODY) {
        w->m.refused += measuring(w) && job->failures == 0;
        w->m.failed += measuring(w) && job->failures > 0;
        w->in_system--;
        return;
    }
    job->server = server;
    job->restarts = w->dispatcher[job->dispatcher].restarts;
    w->dispatcher[job->dispatcher].own[server]++;
    if (is_cut(w, job->dispatcher, server))
        put_off(w, (struct happening){.kind = FAILURE, .job = number}, time_out(w));
    else
        travel(w, (struct happening){
                      .kind = JOB, .server = server, .dispatcher = job->dispatcher, .job = number});
}

/* A job has come back that the dispatcher knows to have sent. */
static void count_back(struct world *w, const struct job *job) {
    struct dispatcher *d = &w->dispatcher[job->dispatcher];
    if (job->restarts == d->restarts)
        d->own[job->server]--;
}

/* ---- probes ---- */

static bool probes_take_no_time(const struct world *w) {
    const struct setting *s = w->setting;
    return s->delay == AT_ONCE && s->loss == 0 && s->up == 0 && s->events.cut_for == 0 &&
           s->events.reloads == 0 && s->events.storm == 0;
}

/* Of equal ones the first. */
static unsigned shortest(const unsigned *server, const unsigned *length, unsigned count) {
    unsigned best = 0;
    for (unsigned i = 1; i < count; i++)
        if (length[i] < length[best])
            best = i;
    return server[best];
}

static void decide_by_replies(struct world *w, unsigned number) {
    struct job *job = &w->job[number];
    unsigned length[PROBES], to;
    job->decided = true;
    for (unsigned i = 0; i < job->replied; i++)
        length[i] = w->dispatcher[job->dispatcher].length[job->reply_server[i]];
    to = job->replied > 0 ? shortest(job->reply_server, length, job->replied) : any_open(w, job);
    send_job(w, number, to == NOBODY ? closed_one(w, job) : to);
}

static void probe_for(struct world *w, unsigned number) {
    struct job *job = &w->job[number];
    unsigned server[PROBES], length[PROBES];
    job->replied = 0;
    job->decided = false;
    for (unsigned i = 0; i < PROBES; i++) {
        server[i] = any_open(w, job);
        if (server[i] == NOBODY) {
            send_job(w, number, closed_one(w, job));
            return;
        }
        w->m.probes += measuring(w);
        length[i] = w->server[server[i]].length;
    }
    if (probes_take_no_time(w)) {
        send_job(w, number, shortest(server, length, PROBES));
        return;
    }
    for (unsigned i = 0; i < PROBES; i++)
        send(w, (struct happening){.kind = PROBE,
                                   .server = server[i],
                                   .dispatcher = job->dispatcher,
                                   .job = number,
                                   .asked = job->failures});
    put_off(w, (struct happening){.kind = TIME_OUT, .job = number, .asked = job->failures}, time_out(w));
}

/* ---- jobs at a dispatcher ---- */

static void hold(struct dispatcher *d, unsigned number) {
    d->held[d->held_to++] = number;
}

static void dispatch(struct world *w, unsigned number) {
    const struct job *job = &w->job[number];
    if (w->policy == POD_2) {
        probe_for(w, number);
        return;
    }
    if (held_by(&w->dispatcher[job->dispatcher]) > 0 && may_wait(w, job)) {
        hold(&w->dispatcher[job->dispatcher], number); /* behind the others */
        return;
    }
    unsigned to = NOBODY;
    if (wants_idle(w->policy))
        to = use_token(w, job);
    if (to == NOBODY)
        switch (w->policy) {
        case RANDOM:
        case JIQ:
        case JIQ_REPORT_2:
        case POD_2:
            to = any_open(w, job);
            break;
        case OWN:
        case JIQ_OWN:
            to = fewest_own(w, job);
            break;
        case OWN_2:
        case JIQ_OWN_2:
            to = fewer_own_of_two(w, job);
            break;
        case JIQ_HOLD:
            if (!may_wait(w, job))
                break;
            hold(&w->dispatcher[job->dispatcher], number);
            return;
        }
    send_job(w, number, to == NOBODY ? closed_one(w, job) : to);
}

static void ask_again(struct world *w, struct dispatcher *d) {
    while (held_by(d) > 0) {
        const struct job *job = &w->job[d->held[d->held_from]];
        unsigned to = use_token(w, job);
        if (to == NOBODY && !may_wait(w, job))
            to = closed_one(w, job);
        if (to == NOBODY && (may_wait(w, job) || job->failures == 0))
            return;
        send_job(w, d->held[d->held_from++], to);
    }
}

static void tell_all(struct world *w, unsigned dispatcher) {
    const struct dispatcher *d = &w->dispatcher[dispatcher];
    for (unsigned s = 0; s < SERVERS; s++)
        send_hunger(w, dispatcher, s, held_by(d), false);
    for (unsigned s = 0; s < SERVERS && held_by(d) > 0; s++)
        if (is_closed(d, s))
            give_back(w, dispatcher, s);
}

static void plan_to_tell(struct world *w, unsigned dispatcher, double delay) {
    w->dispatcher[dispatcher].announce_at = w->now + delay;
    put_off(w, (struct happening){.kind = TELL_NOW, .dispatcher = dispatcher}, delay);
}

static unsigned find_one_that_looks_idle(struct world *w, const struct dispatcher *d) {
    for (int draw = 0; draw < 8; draw++) {
        bool open[SERVERS];
        for (unsigned s = 0; s < SERVERS; s++)
            open[s] = !is_closed(d, s);
        const unsigned s = uniform_of(w, open);
        if (s == NOBODY || (!d->token[s] && d->asked_until[s] == 0 && !d->looks_busy[s] && d->own[s] == 0))
            return s;
    }
    return NOBODY;
}

static unsigned count_questions(const struct dispatcher *d) {
    unsigned open = 0;
    for (unsigned s = 0; s < SERVERS; s++)
        open += d->asked_until[s] > 0;
    return open;
}

static void ask_servers(struct world *w, unsigned dispatcher) {
    struct dispatcher *d = &w->dispatcher[dispatcher];
    for (unsigned open = count_questions(d); open < held_by(d) && d->misses < 4; open++) {
        const unsigned s = find_one_that_looks_idle(w, d);
        if (s == NOBODY)
            return;
        d->asked_until[s] = w->now + time_out(w);
        put_off(w, (struct happening){.kind = UNANSWERED, .dispatcher = dispatcher, .server = s},
                time_out(w));
        send_hunger(w, dispatcher, s, 1, true);
    }
}

/* A little longer than the page says: questions that end at the same time do so first, whatever is rounded.
 */
static double patience(const struct world *w) {
    return time_out(w) / 2 * SERVERS / 100 * (1 + 1e-8);
}

/* What happened at the dispatcher is over: what about the jobs that it holds? */
static void mind_backlog(struct world *w, unsigned dispatcher) {
    struct dispatcher *d = &w->dispatcher[dispatcher];
    const double now = w->now + 1e-5 * patience(w);
    if (!has_backlogs(w))
        return;
    if (held_by(d) == 0) {
        if (d->told)
            tell_all(w, dispatcher);
        d->told = false;
        d->announce_at = INFINITY;
        d->misses = 0;
        return;
    }
    const bool answers_may_come = !d->told && count_questions(d) > 0 && d->misses < 4;
    if ((!d->told && d->announce_at == INFINITY) || (now >= d->announce_at && answers_may_come))
        plan_to_tell(w, dispatcher, patience(w));
    if (now >= d->announce_at) {
        d->told = true;
        d->announce_at = INFINITY;
        if (w->setting->heartbeat > 0)
            plan_to_tell(w, dispatcher, w->setting->heartbeat);
        tell_all(w, dispatcher);
    }
    if (!d->told)
        ask_servers(w, dispatcher);
}

static void end_question(struct dispatcher *d, unsigned server) {
    if (d->asked_until[server] > 0 && !d->token[server])
        d->misses++;
    d->asked_until[server] = 0;
}

static void arrive(struct world *w) {
    assert_true(w->jobs < w->room);
    const unsigned number = w->jobs++;
    struct job *job = &w->job[number];
    *job = (struct job){
        .arrival = w->now, .size = exponential(w, 1), .dispatcher = uniform(w, w->setting->dispatchers)};
    w->in_system++;
    w->m.arrived += measuring(w);
    dispatch(w, number);
    mind_backlog(w, job->dispatcher);
    put(w, (struct happening){.kind = ARRIVAL}, exponential(w, 1 / (w->setting->load * SERVERS)), 2);
}

/* Is this word of a server newer than all that have come? One that is not says nothing of the present. */
static bool is_new(struct world *w, const struct happening *what) {
    unsigned long *newest = &w->dispatcher[what->dispatcher].newest[what->server];
    if (what->word <= *newest)
        return false;
    *newest = what->word;
    return true;
}

/* Something new has come from a server: it is there. */
static void hear(struct world *w, unsigned dispatcher, unsigned server) {
    struct dispatcher *d = &w->dispatcher[dispatcher];
    if (w->setting->heartbeat > 0) {
        d->known_until[server] = w->now + 3 * w->setting->heartbeat;
        put_off(w, (struct happening){.kind = SILENCE, .server = server, .dispatcher = dispatcher},
                3 * w->setting->heartbeat);
    }
    if (is_closed(d, server) && d->declined_until[server] > w->now) {
        d->declined_until[server] = 0;
        w->m.reports += measuring(w);
        send(w, (struct happening){.kind = RESUME, .server = server, .dispatcher = dispatcher});
    }
    d->silent[server] = d->unreachable[server] = false;
}

/* An offer or a heartbeat; or a response with an offer, which does not open a server that is closed. */
static void hear_report(struct world *w, const struct happening *what, bool idle) {
    struct dispatcher *d = &w->dispatcher[what->dispatcher];
    const unsigned server = what->server;
    const bool new = is_new(w, what);
    if (new && what->kind != RESPONSE)
        hear(w, what->dispatcher, server);
    if (new) {
        d->length[server] = what->kind == BEAT ? what->length : 0;
        d->looks_busy[server] = d->length[server] > 0;
    }
    if (wants_idle(w->policy)) {
        d->token[server] = new ? idle : d->token[server];
        if (new &&idle)
            d->token_until[server] = w->now + three_beats(w);
        end_question(d, server);
        if (d->token[server] && is_closed(d, server)) {
            d->token[server] = false;
            give_back(w, what->dispatcher, server);
        }
        ask_again(w, d);
    }
    mind_backlog(w, what->dispatcher);
}

static void hear_reply(struct world *w, const struct happening *what) {
    struct job *job = &w->job[what->job];
    if (is_new(w, what)) {
        hear(w, what->dispatcher, what->server);
        w->dispatcher[what->dispatcher].length[what->server] = what->value;
    }
    if (job->decided || what->asked != job->failures)
        return;
    job->reply_server[job->replied++] = what->server;
    if (job->replied == PROBES)
        decide_by_replies(w, what->job);
}

static void hear_response(struct world *w, const struct happening *what) {
    const struct job *job = &w->job[what->job];
    count_back(w, job);
    w->in_system--;
    if (measuring(w)) {
        w->m.responses++;
        w->m.response += w->now - job->arrival;
    }
    if (what->alone)
        hear_report(w, what, true);
    else
        mind_backlog(w, job->dispatcher);
}

/* Where it has failed it does not go again. */
static void hear_failure(struct world *w, const struct happening *what) {
    struct job *job = &w->job[what->job];
    count_back(w, job);
    if (w->setting->heartbeat > 0)
        close_server(w, job->dispatcher, job->server,
                     &w->dispatcher[job->dispatcher].unreachable[job->server]);
    job->failed_at[job->server] = true;
    if (++job->failures == TRIES)
        send_job(w, what->job, NOBODY);
    else
        dispatch(w, what->job);
    mind_backlog(w, job->dispatcher);
}

/* It knows nothing any longer but the jobs that it has, asks all servers how things are, and decides again.
 */
static void restart(struct world *w, unsigned dispatcher) {
    struct dispatcher *d = &w->dispatcher[dispatcher];
    *d = (struct dispatcher){.held = d->held,
                             .held_from = d->held_from,
                             .held_to = d->held_to,
                             .words = d->words,
                             .restarts = d->restarts + 1,
                             .announce_at = INFINITY};
    for (unsigned s = 0; s < SERVERS && (has_backlogs(w) || w->setting->heartbeat > 0); s++) {
        w->m.reports += measuring(w);
        send(w, (struct happening){.kind = RESUME, .server = s, .dispatcher = dispatcher});
    }
    for (unsigned s = 0; s < SERVERS; s++)
        hear(w, dispatcher, s); /* as it were */
    ask_again(w, d);
    mind_backlog(w, dispatcher);
}

/* What it said has expired, unless it has said something else since. What it has offered is as old, unless
 * that came later, with a response. */
static void end_knowledge(struct world *w, const struct happening *what) {
    struct dispatcher *d = &w->dispatcher[what->dispatcher];
    if (d->known_until[what->server] != w->now)
        return;
    d->token[what->server] &= d->token_until[what->server] > w->now;
    close_server(w, what->dispatcher, what->server, &d->silent[what->server]);
    ask_again(w, d);
    mind_backlog(w, what->dispatcher);
}

/* ---- at a server ---- */

static void begin_service(struct world *w, unsigned server) {
    const unsigned number = w->server[server].queue[0];
    const struct job *job = &w->job[number];
    if (measuring(w)) {
        w->m.begun++;
        w->m.waiting += w->now - job->arrival;
        w->m.waited += w->now > job->arrival;
    }
    put_off(w,
            (struct happening){
                .kind = SERVICE, .server = server, .job = number, .value = w->server[server].failures},
            job->size);
}

static void join(struct world *w, const struct happening *what) {
    struct server *server = &w->server[what->server];
    if (server->down) {
        send_back(w, what->server, (struct happening){.kind = FAILURE, .job = what->job});
        return;
    }
    struct claim *claim = &server->claim[what->dispatcher];
    claim->barred_until = 0;
    if (claim->by_question)
        claim->held = 0;
    server->queue[server->length++] = what->job;
    if (server->length == 1)
        begin_service(w, what->server);
}

static unsigned tokens_of(const struct dispatcher *d) {
    unsigned count = 0;
    for (unsigned s = 0; s < SERVERS; s++)
        count += d->token[s];
    return count;
}

static bool is_hungry(const struct world *w, const struct claim *claim) {
    return claim->held > 0 && w->now < claim->backlog_valid_until;
}

static bool is_barred(const struct world *w, const struct claim *claim) {
    return w->now < claim->barred_until;
}

/* But for one; NOBODY: there is none. */
static unsigned hungry_one(struct world *w, unsigned server, unsigned but) {
    const struct claim *claim = w->server[server].claim;
    unsigned who[DISPATCHERS_MAX], count = 0;
    for (unsigned d = 0; d < w->setting->dispatchers; d++)
        if (d != but && is_hungry(w, &claim[d]) && !is_barred(w, &claim[d]))
            who[count++] = d;
    return count > 0 ? who[uniform(w, count)] : NOBODY;
}

static unsigned whom_to_tell(struct world *w, unsigned server) {
    const unsigned hungry = hungry_one(w, server, NOBODY);
    if (hungry != NOBODY)
        return hungry;
    unsigned first = uniform(w, w->setting->dispatchers);
    for (int i = 0; i < 16 && is_barred(w, &w->server[server].claim[first]); i++)
        first = uniform(w, w->setting->dispatchers);
    if (w->policy != JIQ_REPORT_2 || w->setting->dispatchers == 1)
        return first;
    const unsigned second = uniform(w, w->setting->dispatchers);
    w->m.probes += measuring(w) ? 2 : 0;
    return tokens_of(&w->dispatcher[second]) < tokens_of(&w->dispatcher[first]) ? second : first;
}

static void offer(struct world *w, unsigned server, unsigned dispatcher) {
    w->server[server].holder = dispatcher;
    w->server[server].claim[dispatcher].offered_at = w->now;
    send_report(w, IDLE, server, dispatcher);
}

static void say_idle(struct world *w, unsigned server) {
    if (!wants_idle(w->policy))
        return;
    offer(w, server, whom_to_tell(w, server));
}

static void end_service(struct world *w, const struct happening *what) {
    struct server *server = &w->server[what->server];
    if (what->value != server->failures)
        return;
    assert_int_equal(server->queue[0], what->job);
    server->length--;
    memmove(server->queue, server->queue + 1, server->length * sizeof *server->queue);
    struct happening response = {.kind = RESPONSE,
                                 .server = what->server,
                                 .dispatcher = w->job[what->job].dispatcher,
                                 .job = what->job};
    const unsigned to = wants_idle(w->policy) && server->length == 0 ? whom_to_tell(w, what->server) : NOBODY;
    if (to == response.dispatcher) {
        server->holder = to;
        server->claim[to].offered_at = w->now;
        response.alone = true;
        response.word = ++server->words;
    } else if (to != NOBODY) {
        offer(w, what->server, to);
    }
    send_back(w, what->server, response);
    if (server->length > 0)
        begin_service(w, what->server);
}

static void go_down(struct world *w, unsigned number) {
    struct server *server = &w->server[number];
    server->down = true;
    server->failures++;
    server->holder = NOBODY;
    for (unsigned d = 0; d < w->setting->dispatchers; d++) {
        server->claim[d].held = 0;
        server->claim[d].barred_until = 0;
    }
    for (unsigned i = 0; i < server->length; i++)
        send_back(w, number, (struct happening){.kind = FAILURE, .job = server->queue[i]});
    server->length = 0;
}

static void come_back(struct world *w, unsigned number) {
    w->server[number].down = false;
    say_idle(w, number);
}

static void fail_or_return(struct world *w, unsigned number) {
    const bool fails = !w->server[number].down;
    put_off(w, (struct happening){.kind = CHURN, .server = number},
            exponential(w, fails ? w->setting->down : w->setting->up));
    if (fails)
        go_down(w, number);
    else
        come_back(w, number);
}

static void reload(struct world *w, unsigned number) {
    go_down(w, number);
    put_off(w, (struct happening){.kind = BACK, .server = number}, w->setting->events.reload_down);
}

static void answer_probe(struct world *w, const struct happening *what) {
    if (w->server[what->server].down)
        return;
    send(w, (struct happening){.kind = REPLY,
                               .server = what->server,
                               .dispatcher = what->dispatcher,
                               .job = what->job,
                               .asked = what->asked,
                               .word = ++w->server[what->server].words,
                               .value = w->server[what->server].length});
}

static void send_beat(struct world *w, unsigned server, unsigned dispatcher) {
    struct server *s = &w->server[server];
    w->m.reports += measuring(w);
    send(w, (struct happening){.kind = BEAT,
                               .word = ++s->words,
                               .server = server,
                               .dispatcher = dispatcher,
                               .length = s->length,
                               .value = s->length == 0 && s->holder == dispatcher});
}

static bool is_idle(const struct server *server) {
    return server->length == 0 && !server->down;
}

/* Is the slot to be had, and given to the dispatcher? */
static bool feed(struct world *w, unsigned server, unsigned dispatcher) {
    struct server *s = &w->server[server];
    if (!is_idle(s) || s->holder == dispatcher)
        return false;
    if (s->holder != NOBODY) {
        struct claim *claim = &s->claim[s->holder];
        const double beat = three_beats(w) / 3;
        if (is_hungry(w, claim) && !is_barred(w, claim) && w->now < claim->offered_at + beat)
            return false;
        if (is_hungry(w, claim))
            claim->barred_until = w->now + three_beats(w);
        const unsigned before = s->holder;
        s->holder = NOBODY;
        send_beat(w, server, before);
    }
    offer(w, server, dispatcher);
    return true;
}

static void feed_a_hungry_one(struct world *w, unsigned server) {
    const unsigned holder = w->server[server].holder;
    if (holder == NOBODY)
        return;
    const unsigned hungry = hungry_one(w, server, holder);
    if (hungry != NOBODY)
        feed(w, server, hungry);
}

/* To one that is not barred, if there is one to be found. */
static void offer_elsewhere(struct world *w, unsigned server) {
    if (!is_idle(&w->server[server]) || w->server[server].holder != NOBODY)
        return;
    const unsigned to = whom_to_tell(w, server);
    if (!is_barred(w, &w->server[server].claim[to]))
        offer(w, server, to);
}

static void hear_hunger(struct world *w, const struct happening *what) {
    struct server *server = &w->server[what->server];
    struct claim *claim = &server->claim[what->dispatcher];
    if (server->down || what->word <= claim->last)
        return;
    claim->last = what->word;
    claim->held = what->value;
    claim->by_question = what->alone;
    claim->backlog_valid_until = w->now + (what->alone && what->value > 0 ? time_out(w) : three_beats(w));
    if (!what->alone && what->value > 0 && !is_barred(w, claim))
        feed(w, what->server, what->dispatcher);
    if (what->alone && what->value > 0 && !feed(w, what->server, what->dispatcher)) {
        claim->held = 0;
        send_beat(w, what->server, what->dispatcher);
    }
    if (what->alone && what->value == 0) {
        claim->barred_until = w->now + three_beats(w);
        if (server->holder == what->dispatcher)
            server->holder = NOBODY;
        offer_elsewhere(w, what->server);
    }
    if (what->value == 0)
        feed_a_hungry_one(w, what->server);
}

static void hear_resume(struct world *w, const struct happening *what) {
    struct server *server = &w->server[what->server];
    if (server->down)
        return;
    server->claim[what->dispatcher].held = 0;
    server->claim[what->dispatcher].barred_until = 0;
    if (server->holder == what->dispatcher)
        server->holder = NOBODY;
    send_beat(w, what->server, what->dispatcher);
    if (is_idle(server) && server->holder == NOBODY)
        say_idle(w, what->server);
}

static void beat(struct world *w, unsigned server) {
    for (unsigned d = 0; d < w->setting->dispatchers && !w->server[server].down; d++)
        send_beat(w, server, d);
    if (is_idle(&w->server[server]) && w->server[server].holder == NOBODY)
        say_idle(w, server);
    feed_a_hungry_one(w, server);
    put_off(w, (struct happening){.kind = BEAT_NOW, .server = server}, w->setting->heartbeat);
}

static void end_unanswered(struct world *w, const struct happening *what) {
    struct dispatcher *d = &w->dispatcher[what->dispatcher];
    if (d->asked_until[what->server] != w->now)
        return;
    end_question(d, what->server);
    mind_backlog(w, what->dispatcher);
}

/* ---- time ---- */

static void happen(struct world *w, const struct happening *what) {
    switch (what->kind) {
    case JOB:
        join(w, what);
        break;
    case RESPONSE:
        hear_response(w, what);
        break;
    case FAILURE:
        hear_failure(w, what);
        break;
    case CHURN:
        fail_or_return(w, what->server);
        break;
    case RESTART:
        restart(w, what->dispatcher);
        break;
    case RELOAD:
        reload(w, what->server);
        break;
    case BACK:
        come_back(w, what->server);
        break;
    case IDLE:
        hear_report(w, what, true);
        break;
    case BEAT:
        hear_report(w, what, what->value);
        break;
    case PROBE:
        answer_probe(w, what);
        break;
    case REPLY:
        hear_reply(w, what);
        break;
    case HUNGER:
        hear_hunger(w, what);
        break;
    case SERVICE:
        end_service(w, what);
        break;
    case TIME_OUT:
        if (!w->job[what->job].decided && w->job[what->job].failures == what->asked)
            decide_by_replies(w, what->job);
        break;
    case BEAT_NOW:
        beat(w, what->server);
        break;
    case RESUME:
        hear_resume(w, what);
        break;
    case TELL_NOW:
        if (w->dispatcher[what->dispatcher].announce_at == w->now)
            mind_backlog(w, what->dispatcher);
        break;
    case UNANSWERED:
        end_unanswered(w, what);
        break;
    case SILENCE:
        end_knowledge(w, what);
        break;
    case ARRIVAL:
        arrive(w);
        break;
    }
}

static void pass(struct world *w, double until) {
    const double from = w->now > w->warm ? w->now : w->warm, to = until < w->end ? until : w->end;
    const double span = to > from ? to - from : 0;
    for (unsigned s = 0; s < SERVERS; s++)
        for (unsigned level = 1; level <= AGREE_TAIL && level <= w->server[s].length; level++)
            w->m.level[level] += span;
    w->m.total += span * w->in_system;
    w->now = until;
}

static void live(struct world *w) {
    for (;;) {
        const struct happening next = w->list[--w->listed];
        pass(w, next.time);
        if (w->now >= w->end)
            return;
        happen(w, &next);
    }
}

static void begin(struct world *w) {
    const struct setting *setting = w->setting;
    for (unsigned s = 0; s < SERVERS; s++) {
        w->server[s].holder = NOBODY;
        if (wants_idle(w->policy)) {
            w->server[s].holder = uniform(w, setting->dispatchers);
            w->dispatcher[w->server[s].holder].token[s] = true;
            w->dispatcher[w->server[s].holder].token_until[s] = three_beats(w);
        }
    }
    for (unsigned s = 0; s < SERVERS && setting->up > 0; s++)
        put_off(w, (struct happening){.kind = CHURN, .server = s}, exponential(w, setting->up));
    if (setting->heartbeat > 0) {
        for (unsigned s = 0; s < SERVERS; s++)
            put_off(w, (struct happening){.kind = BEAT_NOW, .server = s},
                    setting->heartbeat * bal_rng_uniform(&w->rng));
        for (unsigned d = 0; d < setting->dispatchers; d++)
            for (unsigned s = 0; s < SERVERS; s++)
                hear(w, d, s); /* as it were */
    }
    for (unsigned d = 0; d < setting->dispatchers; d++)
        w->dispatcher[d].announce_at = INFINITY;
    for (unsigned d = 0; d < setting->events.restarts; d++)
        put_off(w, (struct happening){.kind = RESTART, .dispatcher = d},
                setting->events.restart_at + setting->events.restart_for * d / setting->events.restarts);
    for (unsigned s = 0; s < setting->events.reloads; s++)
        put_off(w, (struct happening){.kind = RELOAD, .server = s},
                setting->events.reload_at + setting->events.reload_for * s / setting->events.reloads);
    put(w, (struct happening){.kind = ARRIVAL}, exponential(w, 1 / (setting->load * SERVERS)), 2);
}

static void conclude(const struct world *w, double *value) {
    const struct measured *m = &w->m;
    for (int quantity = 0; quantity < QUANTITIES; quantity++)
        value[quantity] = NAN;
    const double span = w->end - w->warm, probes = (double)m->probes, reports = (double)m->reports;
    const double arrived = (double)m->arrived;
    value[BLI_RESPONSE_MEAN] = m->response / (double)m->responses;
    value[BLI_WAITING_MEAN] = m->waiting / (double)m->begun;
    value[BLI_WAITING_PROBABILITY] = (double)m->waited / (double)m->begun;
    value[BLI_QUEUE_TOTAL] = m->total / span;
    value[BLI_PROBES_PER_JOB] = probes / arrived;
    value[BLI_REPORTS_PER_JOB] = reports / arrived;
    value[BLI_MESSAGES_PER_JOB] = (2 * probes + reports) / arrived;
    value[BLI_MESSAGES_PER_TIME] = (probes + reports) / span;
    value[BLI_REFUSED] = (double)m->refused / arrived;
    value[BLI_FAILED] = (double)m->failed / arrived;
    for (int level = 1; level <= AGREE_TAIL; level++)
        value[BLI_METRIC_COUNT + level - 1] = m->level[level] / span / SERVERS;
}

/* ---- the comparison ---- */

struct twin_task {
    const struct setting *setting;
    enum policy policy;
    const struct bli_run *run;
    struct replications *into;
};

static unsigned *numbers(unsigned count) {
    unsigned *array = malloc(count * sizeof *array);
    if (!array)
        abort();
    return array;
}

static void live_once(void *context, size_t i) {
    const struct twin_task *task = context;
    struct world *w = calloc(1, sizeof *w);
    if (!w)
        abort();
    w->setting = task->setting;
    w->policy = task->policy;
    w->end = task->run->time;
    w->warm = task->run->warmup * w->end;
    w->room = (unsigned)(2 * w->end * w->setting->load * SERVERS) + 1000;
    w->job = malloc(w->room * sizeof *w->job);
    if (!w->job)
        abort();
    for (unsigned s = 0; s < SERVERS; s++)
        w->server[s].queue = numbers(w->room);
    for (unsigned d = 0; d < w->setting->dispatchers; d++)
        w->dispatcher[d].held = numbers(w->room);
    bal_rng_init(&w->rng, task->run->seed, i, BAL_STREAM_TEST);
    begin(w);
    live(w);
    conclude(w, task->into->value[i]);
    for (unsigned s = 0; s < SERVERS; s++)
        free(w->server[s].queue);
    for (unsigned d = 0; d < w->setting->dispatchers; d++)
        free(w->dispatcher[d].held);
    free(w->job);
    free(w);
}

static void add_event(struct bli_network_events *events, struct bli_network_event event) {
    events->event[events->count++] = event;
}

static void set_events(const struct setting *setting, struct bli_network_events *events) {
    const double servers = SERVERS, dispatchers = setting->dispatchers;
    if (setting->events.restarts)
        add_event(events, (struct bli_network_event){.kind = BLI_EVENT_RESTART_DISPATCHERS,
                                                     .at = setting->events.restart_at,
                                                     .length = setting->events.restart_for,
                                                     .share = setting->events.restarts / dispatchers,
                                                     .dispatchers = 1});
    if (setting->events.reloads)
        add_event(events, (struct bli_network_event){.kind = BLI_EVENT_RESTART_SERVERS,
                                                     .at = setting->events.reload_at,
                                                     .length = setting->events.reload_for,
                                                     .share = setting->events.reloads / servers,
                                                     .dispatchers = 1,
                                                     .down = setting->events.reload_down});
    if (setting->events.cut_for > 0)
        add_event(events,
                  (struct bli_network_event){.kind = BLI_EVENT_CUT,
                                             .at = setting->events.cut_at,
                                             .length = setting->events.cut_for,
                                             .share = setting->events.cut_servers / servers,
                                             .dispatchers = setting->events.cut_dispatchers / dispatchers});
    if (setting->events.storm > 0)
        add_event(events, (struct bli_network_event){.kind = BLI_EVENT_LOSS,
                                                     .at = setting->events.storm_at,
                                                     .length = setting->events.storm_for,
                                                     .share = setting->events.storm,
                                                     .dispatchers = 1});
}

static struct bli_model model_of(const struct setting *setting) {
    struct bli_model model = {.load = setting->load};
    model.servers = (struct bli_servers){.groups = 1, .group = {{.count = SERVERS, .speed = 1}}};
    char delay[40];
    snprintf(delay, sizeof delay, "%s(%g)", setting->delay == EXPONENTIAL ? "exp" : "det",
             setting->mean_delay);
    assert_int_equal(bli_dist_parse("exp", &model.size, NULL), BAL_OK);
    if (setting->delay != AT_ONCE)
        assert_int_equal(bli_dist_parse(delay, &model.network.delay, NULL), BAL_OK);
    model.network.dispatchers.count = setting->dispatchers;
    model.network.loss = setting->loss;
    model.network.heartbeat = setting->heartbeat;
    model.network.timeout = setting->timeout;
    model.network.churn = (struct bli_churn){.up = setting->up, .down = setting->down};
    set_events(setting, &model.network.events);
    return model;
}

/* 116 settings with a policy x 19 quantities that may differ: with 4e-8 for each of them the test fails by
 * chance with a probability below 1e-4 in total. */
enum { RUNS = 40 };
static const double alarm = 4e-8;

static bool agrees_with_engine(const struct setting *setting, enum policy policy) {
    const struct bli_model model = model_of(setting);
    struct bal_policy_spec spec;
    struct bal_error err;
    if (bal_policy_parse(policy_text[policy], &spec, &err))
        fail_msg("%s", err.text);
    struct bli_run run = {.seed = 17 + policy,
                          .time = (setting->jobs > 0 ? setting->jobs : 1000) / bli_model_arrival_rate(&model),
                          .warmup = 0.2,
                          .engine = BLI_ENGINE_NETWORK};
    struct replications twin = replications_new(RUNS);
    struct twin_task task = {setting, policy, &run, &twin};
    assert_int_equal(bli_pool_run(2, RUNS, live_once, &task, NULL), BAL_OK);
    run.seed += 100;
    struct replications engine = replicate(&model, &spec, &run, RUNS);
    char what[200];
    snprintf(what, sizeof what,
             "%s, %u dispatchers, delay %s %g, loss %g, heartbeat %g, up %g: twin and engine",
             policy_text[policy], setting->dispatchers,
             setting->delay == AT_ONCE       ? "none"
             : setting->delay == EXPONENTIAL ? "exp"
                                             : "det",
             setting->mean_delay, setting->loss, setting->heartbeat, setting->up);
    bool good = true;
    for (int quantity = 0; quantity < QUANTITIES; quantity++)
        if (!isnan(twin.value[0][quantity]))
            good &= agrees(&twin, &engine, quantity, alarm, 0, what);
    replications_free(&twin);
    replications_free(&engine);
    return good;
}

static void expect_agreement(const struct setting *setting) {
    bool good = true;
    for (unsigned policy = RANDOM; policy <= JIQ_REPORT_2; policy++)
        good &= agrees_with_engine(setting, (enum policy)policy);
    assert_true(good);
}

static void one_dispatcher_with_delay(void **state) {
    (void)state;
    expect_agreement(
        &(struct setting){.dispatchers = 1, .delay = DETERMINISTIC, .mean_delay = 0.2, .load = 0.8});
}

static void two_dispatchers_with_loss(void **state) {
    (void)state;
    expect_agreement(&(struct setting){.dispatchers = 2, .loss = 0.05, .heartbeat = 2, .load = 0.85});
}

static void two_dispatchers_with_delay_and_heartbeats(void **state) {
    (void)state;
    expect_agreement(&(struct setting){
        .dispatchers = 2, .delay = DETERMINISTIC, .mean_delay = 0.05, .heartbeat = 5, .load = 0.9});
}

static void four_dispatchers_with_delay_and_loss(void **state) {
    (void)state;
    expect_agreement(&(struct setting){
        .dispatchers = 4, .delay = EXPONENTIAL, .mean_delay = 0.3, .loss = 0.05, .load = 0.75});
}

static void four_dispatchers_with_everything(void **state) {
    (void)state;
    expect_agreement(&(struct setting){.dispatchers = 4,
                                       .delay = EXPONENTIAL,
                                       .mean_delay = 0.1,
                                       .loss = 0.05,
                                       .heartbeat = 1,
                                       .load = 0.8});
}

/* So much is lost that servers are closed all the time. What one of them said before it was closed is not the
 * present when it is heard of again. */
static void servers_that_are_not_heard_of(void **state) {
    (void)state;
    expect_agreement(&(struct setting){
        .dispatchers = 2, .delay = EXPONENTIAL, .mean_delay = 0.1, .loss = 0.6, .heartbeat = 1, .load = 0.5});
}

/* So much that often none is open: jobs go to silent servers. */
static void servers_of_which_none_is_heard_of(void **state) {
    (void)state;
    const struct setting setting = {
        .dispatchers = 2, .delay = EXPONENTIAL, .mean_delay = 0.1, .loss = 0.9, .heartbeat = 1, .load = 0.5};
    bool good = agrees_with_engine(&setting, RANDOM);
    good &= agrees_with_engine(&setting, OWN);
    good &= agrees_with_engine(&setting, POD_2);
    good &= agrees_with_engine(&setting, JIQ_HOLD);
    assert_true(good);
}

static void servers_that_fail(void **state) {
    (void)state;
    expect_agreement(&(struct setting){.dispatchers = 2,
                                       .delay = EXPONENTIAL,
                                       .mean_delay = 0.1,
                                       .loss = 0.05,
                                       .heartbeat = 1,
                                       .load = 0.6,
                                       .up = 20,
                                       .down = 4});
}

/* One that could not be reached is closed at once, not after three heartbeats. */
static void servers_that_fail_between_heartbeats(void **state) {
    (void)state;
    const struct setting setting = {.dispatchers = 2,
                                    .delay = EXPONENTIAL,
                                    .mean_delay = 1,
                                    .heartbeat = 10,
                                    .load = 0.2,
                                    .up = 60,
                                    .down = 30,
                                    .jobs = 5000};
    bool good = agrees_with_engine(&setting, RANDOM);
    good &= agrees_with_engine(&setting, OWN);
    good &= agrees_with_engine(&setting, JIQ_HOLD);
    assert_true(good);
}

/* Nobody takes back the tokens of those that are down. */
static void servers_that_fail_at_one_dispatcher(void **state) {
    (void)state;
    expect_agreement(&(struct setting){.dispatchers = 1, .load = 0.6, .up = 20, .down = 4});
}

/* Single servers are asked long before all are told. */
static void backlogs_that_are_told_late(void **state) {
    (void)state;
    const struct setting quiet = {.dispatchers = 4,
                                  .delay = DETERMINISTIC,
                                  .mean_delay = 0.02,
                                  .heartbeat = 10,
                                  .load = 0.3,
                                  .timeout = 20};
    struct setting busy = quiet, lossy = quiet;
    busy.load = 0.7;
    lossy.loss = 0.1;
    lossy.heartbeat = 2;
    /* The end of a backlog often overtakes its announcement, and nothing is repeated. */
    const struct setting overtaken = {
        .dispatchers = 4, .delay = EXPONENTIAL, .mean_delay = 1, .load = 0.3, .timeout = 1};
    bool good = agrees_with_engine(&quiet, JIQ_HOLD);
    good &= agrees_with_engine(&overtaken, JIQ_HOLD);
    good &= agrees_with_engine(&busy, JIQ_HOLD);
    good &= agrees_with_engine(&lossy, JIQ_HOLD);
    assert_true(good);
}

/* Runs of 1000 jobs at load 0.8 take 156; the first 31 are not measured. */
static void dispatchers_that_restart(void **state) {
    (void)state;
    struct setting setting = {.dispatchers = 4,
                              .delay = DETERMINISTIC,
                              .mean_delay = 0.05,
                              .heartbeat = 5,
                              .load = 0.8,
                              .events = {.restart_at = 40, .restart_for = 60, .restarts = 4}};
    expect_agreement(&setting);
    setting.heartbeat = 0;
    setting.loss = 0.05;
    setting.events.restarts = 3;
    bool good = agrees_with_engine(&setting, OWN);
    good &= agrees_with_engine(&setting, JIQ_HOLD);
    assert_true(good);
}

static void links_that_are_cut(void **state) {
    (void)state;
    struct setting setting = {
        .dispatchers = 4,
        .delay = EXPONENTIAL,
        .mean_delay = 0.1,
        .heartbeat = 2,
        .load = 0.5,
        .events = {.cut_at = 60, .cut_for = 40, .cut_servers = 3, .cut_dispatchers = 3}};
    expect_agreement(&setting);
    setting.heartbeat = 0; /* it is found out again with each job */
    setting.delay = AT_ONCE;
    bool good = agrees_with_engine(&setting, RANDOM);
    good &= agrees_with_engine(&setting, JIQ_HOLD);
    /* All of them, so that many responses have to wait. */
    setting.load = 0.7;
    setting.events.cut_for = 60;
    setting.events.cut_servers = SERVERS;
    setting.events.cut_dispatchers = 4;
    good &= agrees_with_engine(&setting, OWN);
    good &= agrees_with_engine(&setting, JIQ);
    assert_true(good);
}

static void everything_at_stated_times(void **state) {
    (void)state;
    expect_agreement(&(struct setting){.dispatchers = 3,
                                       .delay = EXPONENTIAL,
                                       .mean_delay = 0.1,
                                       .loss = 0.02,
                                       .heartbeat = 3,
                                       .load = 0.6,
                                       .events = {.cut_at = 50,
                                                  .cut_for = 30,
                                                  .cut_servers = 2,
                                                  .cut_dispatchers = 3,
                                                  .restart_at = 60,
                                                  .restart_for = 30,
                                                  .restarts = 3,
                                                  .reload_at = 70,
                                                  .reload_for = 60,
                                                  .reloads = 8,
                                                  .reload_down = 4,
                                                  .storm_at = 100,
                                                  .storm_for = 40,
                                                  .storm = 0.6}});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dispatchers_that_restart),
        cmocka_unit_test(links_that_are_cut),
        cmocka_unit_test(everything_at_stated_times),
        cmocka_unit_test(one_dispatcher_with_delay),
        cmocka_unit_test(two_dispatchers_with_loss),
        cmocka_unit_test(two_dispatchers_with_delay_and_heartbeats),
        cmocka_unit_test(four_dispatchers_with_delay_and_loss),
        cmocka_unit_test(four_dispatchers_with_everything),
        cmocka_unit_test(servers_that_are_not_heard_of),
        cmocka_unit_test(servers_of_which_none_is_heard_of),
        cmocka_unit_test(servers_that_fail),
        cmocka_unit_test(servers_that_fail_at_one_dispatcher),
        cmocka_unit_test(servers_that_fail_between_heartbeats),
        cmocka_unit_test(backlogs_that_are_told_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
