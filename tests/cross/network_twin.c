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

enum law { AT_ONCE, DETERMINISTIC, EXPONENTIAL };

struct setting {
    unsigned dispatchers;
    enum law delay;
    double mean_delay;
    double loss, heartbeat;
    double load;
    double up, down; /* 0: servers do not fail */
};

enum policy { RANDOM, OWN, OWN_2, POD_2, JIQ, JIQ_OWN, JIQ_OWN_2, JIQ_HOLD, JIQ_REPORT_2 };

static const char *const policy_text[] = {
    [RANDOM] = "random",
    [OWN] = "own",
    [OWN_2] = "own:d=2",
    [POD_2] = "pod:d=2",
    [JIQ] = "jiq",
    [JIQ_OWN] = "jiq:else=own",
    [JIQ_OWN_2] = "jiq:else=own2",
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
    unsigned failures;
    bool failed_at[SERVERS];
    /* while it waits for replies */
    unsigned probed, replied;
    bool decided;
    unsigned reply_server[PROBES], reply_length[PROBES];
};

struct server {
    unsigned *queue; /* jobs, the one in service first */
    unsigned length;
    unsigned holder;
    bool down;
    unsigned failures; /* so many times it has failed: what was going on before does not end */
};

struct dispatcher {
    bool token[SERVERS], closed[SERVERS];
    unsigned own[SERVERS];
    double heard[SERVERS];
    unsigned *held, held_from, held_to; /* jobs held[from ... to) */
};

enum kind {
    JOB,
    RESPONSE,
    FAILURE, /* its news */
    IDLE,
    BUSY,
    PROBE,
    REPLY,
    HUNGER,
    BEAT,       /* as a message: a heartbeat */
    SERVICE,    /* ends */
    TIME_OUT,   /* of a job's probes */
    BEAT_NOW,   /* a server sends heartbeats */
    HUNGER_NOW, /* a dispatcher tells how hungry it is */
    LOOK,       /* a dispatcher looks who is silent */
    CHURN,      /* a server fails or comes back */
    ARRIVAL,
};

struct happening {
    double time;
    unsigned rank; /* at equal times: messages that take no time, then what was put off, then arrivals */
    unsigned long put_off;
    enum kind kind;
    unsigned server, dispatcher, job;
    unsigned asked; /* probes, replies and time-outs: after so many failures of the job */
    unsigned value; /* length, hunger; BEAT: idle? SERVICE: after so many failures of the server */
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
    bool hungry[DISPATCHERS_MAX]; /* as the servers know it */
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

/* What can be lost. */
static void send(struct world *w, struct happening what) {
    if (w->setting->loss > 0 && bal_rng_uniform(&w->rng) < w->setting->loss)
        return;
    travel(w, what);
}

static void send_report(struct world *w, enum kind kind, unsigned server, unsigned dispatcher) {
    w->m.reports += measuring(w);
    send(w, (struct happening){.kind = kind, .server = server, .dispatcher = dispatcher});
}

static unsigned held_by(const struct dispatcher *d) {
    return d->held_to - d->held_from;
}

static void send_hunger(struct world *w, unsigned dispatcher) {
    w->m.reports += measuring(w) ? SERVERS : 0;
    send(w, (struct happening){
                .kind = HUNGER, .dispatcher = dispatcher, .value = held_by(&w->dispatcher[dispatcher])});
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
    return !w->dispatcher[job->dispatcher].closed[server] && !job->failed_at[server];
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

static void send_job(struct world *w, unsigned number, unsigned server) {
    struct job *job = &w->job[number];
    if (server == NOBODY) {
        w->m.refused += measuring(w) && job->failures == 0;
        w->m.failed += measuring(w) && job->failures > 0;
        w->in_system--;
        return;
    }
    job->server = server;
    w->dispatcher[job->dispatcher].own[server]++;
    travel(w,
           (struct happening){.kind = JOB, .server = server, .dispatcher = job->dispatcher, .job = number});
}

/* ---- probes ---- */

static bool probes_take_no_time(const struct world *w) {
    return w->setting->delay == AT_ONCE && w->setting->loss == 0 && w->setting->up == 0;
}

static double time_out(const struct world *w) {
    return w->setting->delay == AT_ONCE ? 0.1 : 10 * w->setting->mean_delay;
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
    job->decided = true;
    if (job->replied == PROBES && job->reply_server[0] == job->reply_server[1])
        job->reply_length[0] = job->reply_length[1];
    send_job(w, number,
             job->replied > 0 ? shortest(job->reply_server, job->reply_length, job->replied)
                              : any_open(w, job));
}

static void probe_for(struct world *w, unsigned number) {
    struct job *job = &w->job[number];
    unsigned server[PROBES], length[PROBES];
    job->replied = 0;
    job->decided = false;
    for (unsigned i = 0; i < PROBES; i++) {
        server[i] = any_open(w, job);
        if (server[i] == NOBODY) {
            send_job(w, number, NOBODY);
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
            if (job->failures > 0 && any_open(w, job) == NOBODY)
                break;
            hold(&w->dispatcher[job->dispatcher], number);
            return;
        }
    send_job(w, number, to);
}

static void ask_again(struct world *w, struct dispatcher *d) {
    while (held_by(d) > 0) {
        const unsigned to = use_token(w, &w->job[d->held[d->held_from]]);
        if (to == NOBODY)
            return;
        send_job(w, d->held[d->held_from++], to);
    }
}

/* What happened at the dispatcher is over: has it begun or ceased to hold jobs? */
static void tell_if_changed(struct world *w, unsigned dispatcher, unsigned held_before) {
    const unsigned held = held_by(&w->dispatcher[dispatcher]);
    if (w->setting->dispatchers > 1 && (held > 0) != (held_before > 0))
        send_hunger(w, dispatcher);
}

static void arrive(struct world *w) {
    assert_true(w->jobs < w->room);
    const unsigned number = w->jobs++;
    struct job *job = &w->job[number];
    *job = (struct job){
        .arrival = w->now, .size = exponential(w, 1), .dispatcher = uniform(w, w->setting->dispatchers)};
    w->in_system++;
    w->m.arrived += measuring(w);
    const unsigned before = held_by(&w->dispatcher[job->dispatcher]);
    dispatch(w, number);
    tell_if_changed(w, job->dispatcher, before);
    put(w, (struct happening){.kind = ARRIVAL}, exponential(w, 1 / (w->setting->load * SERVERS)), 2);
}

/* Something has come from a server: it is there. */
static void hear(struct world *w, struct dispatcher *d, unsigned server) {
    d->heard[server] = w->now;
    d->closed[server] = false;
}

static void hear_report(struct world *w, const struct happening *what, bool idle) {
    struct dispatcher *d = &w->dispatcher[what->dispatcher];
    const unsigned before = held_by(d);
    hear(w, d, what->server);
    if (wants_idle(w->policy)) {
        d->token[what->server] = idle;
        ask_again(w, d);
    }
    tell_if_changed(w, what->dispatcher, before);
}

static void hear_reply(struct world *w, const struct happening *what) {
    struct job *job = &w->job[what->job];
    hear(w, &w->dispatcher[what->dispatcher], what->server);
    if (job->decided || what->asked != job->failures)
        return;
    job->reply_server[job->replied] = what->server;
    job->reply_length[job->replied++] = what->value;
    if (job->replied == PROBES)
        decide_by_replies(w, what->job);
}

static void hear_response(struct world *w, const struct happening *what) {
    const struct job *job = &w->job[what->job];
    w->dispatcher[job->dispatcher].own[job->server]--;
    w->in_system--;
    if (!measuring(w))
        return;
    w->m.responses++;
    w->m.response += w->now - job->arrival;
}

/* Where it has failed it does not go again. */
static void hear_failure(struct world *w, const struct happening *what) {
    struct job *job = &w->job[what->job];
    const unsigned before = held_by(&w->dispatcher[job->dispatcher]);
    w->dispatcher[job->dispatcher].own[job->server]--;
    job->failed_at[job->server] = true;
    if (++job->failures == TRIES)
        send_job(w, what->job, NOBODY);
    else
        dispatch(w, what->job);
    tell_if_changed(w, job->dispatcher, before);
}

static void look(struct world *w, unsigned dispatcher) {
    struct dispatcher *d = &w->dispatcher[dispatcher];
    for (unsigned s = 0; s < SERVERS; s++)
        if (w->now - d->heard[s] > 3 * w->setting->heartbeat) {
            d->closed[s] = true;
            d->token[s] = false;
        }
    put_off(w, (struct happening){.kind = LOOK, .dispatcher = dispatcher}, w->setting->heartbeat);
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
        travel(w, (struct happening){.kind = FAILURE, .job = what->job});
        return;
    }
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

static unsigned whom_to_tell(struct world *w) {
    unsigned who[DISPATCHERS_MAX], count = 0;
    for (unsigned d = 0; d < w->setting->dispatchers; d++)
        if (w->hungry[d])
            who[count++] = d;
    if (count > 0)
        return who[uniform(w, count)];
    const unsigned first = uniform(w, w->setting->dispatchers);
    if (w->policy != JIQ_REPORT_2 || w->setting->dispatchers == 1)
        return first;
    const unsigned second = uniform(w, w->setting->dispatchers);
    w->m.probes += measuring(w) ? 2 : 0;
    return tokens_of(&w->dispatcher[second]) < tokens_of(&w->dispatcher[first]) ? second : first;
}

static void say_idle(struct world *w, unsigned server) {
    if (!wants_idle(w->policy))
        return;
    w->server[server].holder = whom_to_tell(w);
    send_report(w, IDLE, server, w->server[server].holder);
}

static void end_service(struct world *w, const struct happening *what) {
    struct server *server = &w->server[what->server];
    if (what->value != server->failures)
        return;
    assert_int_equal(server->queue[0], what->job);
    server->length--;
    memmove(server->queue, server->queue + 1, server->length * sizeof *server->queue);
    if (server->length == 0)
        say_idle(w, what->server);
    travel(w, (struct happening){.kind = RESPONSE, .server = what->server, .job = what->job});
    if (server->length > 0)
        begin_service(w, what->server);
}

static void fail_or_return(struct world *w, unsigned number) {
    struct server *server = &w->server[number];
    server->down = !server->down;
    put_off(w, (struct happening){.kind = CHURN, .server = number},
            exponential(w, server->down ? w->setting->down : w->setting->up));
    if (!server->down) {
        say_idle(w, number);
        return;
    }
    server->failures++;
    server->holder = NOBODY;
    for (unsigned i = 0; i < server->length; i++)
        travel(w, (struct happening){.kind = FAILURE, .job = server->queue[i]});
    server->length = 0;
}

static void answer_probe(struct world *w, const struct happening *what) {
    if (w->server[what->server].down)
        return;
    send(w, (struct happening){.kind = REPLY,
                               .server = what->server,
                               .dispatcher = what->dispatcher,
                               .job = what->job,
                               .asked = what->asked,
                               .value = w->server[what->server].length});
}

static void hear_hunger(struct world *w, const struct happening *what) {
    w->hungry[what->dispatcher] = what->value > 0;
    bool may[SERVERS];
    for (unsigned s = 0; s < SERVERS; s++)
        may[s] = w->server[s].length == 0 && !w->server[s].down && w->server[s].holder != what->dispatcher;
    for (unsigned fed = 0; fed < what->value && fed < 16; fed++) {
        const unsigned s = uniform_of(w, may);
        if (s == NOBODY)
            return;
        may[s] = false;
        if (w->server[s].holder != NOBODY)
            send_report(w, BUSY, s, w->server[s].holder);
        send_report(w, IDLE, s, what->dispatcher);
        w->server[s].holder = what->dispatcher;
    }
}

static void beat(struct world *w, unsigned server) {
    for (unsigned d = 0; d < w->setting->dispatchers && !w->server[server].down; d++) {
        w->m.reports += measuring(w);
        send(w, (struct happening){.kind = BEAT,
                                   .server = server,
                                   .dispatcher = d,
                                   .value = w->server[server].length == 0 && w->server[server].holder == d});
    }
    put_off(w, (struct happening){.kind = BEAT_NOW, .server = server}, w->setting->heartbeat);
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
    case IDLE:
        hear_report(w, what, true);
        break;
    case BUSY:
        hear_report(w, what, false);
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
    case HUNGER_NOW:
        send_hunger(w, what->dispatcher);
        put_off(w, (struct happening){.kind = HUNGER_NOW, .dispatcher = what->dispatcher},
                w->setting->heartbeat);
        break;
    case LOOK:
        look(w, what->dispatcher);
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
        }
    }
    for (unsigned s = 0; s < SERVERS && setting->up > 0; s++)
        put_off(w, (struct happening){.kind = CHURN, .server = s}, exponential(w, setting->up));
    if (setting->heartbeat > 0) {
        for (unsigned s = 0; s < SERVERS; s++)
            put_off(w, (struct happening){.kind = BEAT_NOW, .server = s},
                    setting->heartbeat * bal_rng_uniform(&w->rng));
        for (unsigned d = 0; d < setting->dispatchers; d++) {
            put_off(w, (struct happening){.kind = LOOK, .dispatcher = d}, setting->heartbeat);
            if (w->policy == JIQ_HOLD && setting->dispatchers > 1)
                put_off(w, (struct happening){.kind = HUNGER_NOW, .dispatcher = d},
                        setting->heartbeat * bal_rng_uniform(&w->rng));
        }
    }
    put(w, (struct happening){.kind = ARRIVAL}, exponential(w, 1 / (setting->load * SERVERS)), 2);
}

static void conclude(const struct world *w, double *value) {
    const struct measured *m = &w->m;
    for (int quantity = 0; quantity < QUANTITIES; quantity++)
        value[quantity] = NAN;
    const double span = w->end - w->warm, probes = (double)m->probes, reports = (double)m->reports;
    const double arrived = (double)m->arrived;
    value[BAL_RESPONSE_MEAN] = m->response / (double)m->responses;
    value[BAL_WAITING_MEAN] = m->waiting / (double)m->begun;
    value[BAL_WAITING_PROBABILITY] = (double)m->waited / (double)m->begun;
    value[BAL_QUEUE_TOTAL] = m->total / span;
    value[BAL_PROBES_PER_JOB] = probes / arrived;
    value[BAL_REPORTS_PER_JOB] = reports / arrived;
    value[BAL_MESSAGES_PER_JOB] = (2 * probes + reports) / arrived;
    value[BAL_MESSAGES_PER_TIME] = (probes + reports) / span;
    value[BAL_REFUSED] = (double)m->refused / arrived;
    value[BAL_FAILED] = (double)m->failed / arrived;
    for (int level = 1; level <= AGREE_TAIL; level++)
        value[BAL_METRIC_COUNT + level - 1] = m->level[level] / span / SERVERS;
}

/* ---- the comparison ---- */

struct twin_task {
    const struct setting *setting;
    enum policy policy;
    const struct bal_run *run;
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

static struct bal_model model_of(const struct setting *setting) {
    struct bal_model model = {.load = setting->load};
    model.servers = (struct bal_servers){.groups = 1, .group = {{.count = SERVERS, .speed = 1}}};
    char delay[40];
    snprintf(delay, sizeof delay, "%s(%g)", setting->delay == EXPONENTIAL ? "exp" : "det",
             setting->mean_delay);
    assert_int_equal(bal_law_parse("exp", &model.size, NULL), BAL_OK);
    if (setting->delay != AT_ONCE)
        assert_int_equal(bal_law_parse(delay, &model.network.delay, NULL), BAL_OK);
    model.network.dispatchers.count = setting->dispatchers;
    model.network.loss = setting->loss;
    model.network.heartbeat = setting->heartbeat;
    model.network.churn = (struct bal_churn){.up = setting->up, .down = setting->down};
    return model;
}

/* 8 settings x 9 policies x 19 quantities that may differ: with 5e-8 for each of them the test fails by
 * chance with a probability below 1e-4 in total. */
enum { RUNS = 40 };
static const double alarm = 5e-8;
static const double jobs_per_run = 1000;

static bool agrees_with_engine(const struct setting *setting, enum policy policy) {
    const struct bal_model model = model_of(setting);
    struct bal_policy_spec spec;
    struct bal_error err;
    if (bal_policy_parse(policy_text[policy], &spec, &err))
        fail_msg("%s", err.text);
    struct bal_run run = {.seed = 17 + policy,
                          .time = jobs_per_run / bal_model_arrival_rate(&model),
                          .warmup = 0.2,
                          .engine = BAL_ENGINE_NETWORK};
    struct replications twin = replications_new(RUNS);
    struct twin_task task = {setting, policy, &run, &twin};
    assert_int_equal(bal_pool_run(2, RUNS, live_once, &task, NULL), BAL_OK);
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

/* Nobody takes back the tokens of those that are down. */
static void servers_that_fail_at_one_dispatcher(void **state) {
    (void)state;
    expect_agreement(&(struct setting){.dispatchers = 1, .load = 0.6, .up = 20, .down = 4});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_dispatcher_with_delay),
        cmocka_unit_test(two_dispatchers_with_loss),
        cmocka_unit_test(two_dispatchers_with_delay_and_heartbeats),
        cmocka_unit_test(four_dispatchers_with_delay_and_loss),
        cmocka_unit_test(four_dispatchers_with_everything),
        cmocka_unit_test(servers_that_are_not_heard_of),
        cmocka_unit_test(servers_that_fail),
        cmocka_unit_test(servers_that_fail_at_one_dispatcher),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
