/* SPDX-License-Identifier: BSD-2-Clause */
/* A fleet over hosts under random faults, cycle by cycle: everything is repaired, and then must be as before.
 *
 * usage: live-chaos BALLAST MODULE [--seed S] [--cycles N] [--policy P]... [--ipv6] [--trial] [--print]
 *                   [--times]
 *
 * Each cycle starts a fleet with one of the policies, in turn, and the faults of its seed. Where one fails,
 * plain nginx (least_conn) goes through the same: what it does not survive either counts apart. A cycle in
 * which the machine stood still is repeated. --trial: instead, the dispatcher that dies while it holds.
 * --ipv6: over IPv6. --print: the live file of the first cycle, and nothing else. --times: also mean response
 * times and losses in each half second, by dispatcher. Needs root. */
#include "chaos.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { POLICIES = 16, TRIES = 5 };

static const char *const usual[] = {"jiq:else=hold", "jiq:else=least-conn", "pod:d=2", "tabs:else=hold"};
static const char rival[] = "{nginx: least_conn}";

struct options {
    struct rig_programs programs;
    uint64_t seed;
    unsigned cycles;
    const char *policy[POLICIES];
    unsigned policies;
    bool ipv6, trial, print, times;
    char place[RIG_PATH];
};

static volatile int stop;

static void on_signal(int number) {
    (void)number;
    stop = 1;
}

/* By how much generator and servers were late on average, in times of service. */
static double late_by(const struct rig_block *block) {
    const struct bli_load_times *late = &block->load->late;
    return ((late->count ? late->sum / (double)late->count : 0) + block->overslept) /
           block->rig->c.model.size.mean;
}

static bool holds(const struct bli_experiment *e) {
    const struct bal_policy_spec *spec = &e->policy[0].spec;
    return e->policy[0].proxy == BLI_PROXY_BALLAST && bal_policy_flags(spec) & BAL_MAY_HOLD &&
           !(spec->policy->wants & BAL_WANTS_POWER);
}

/* Mean response time and losses of what was sent to each dispatcher, half second by half second. */
static void print_times(const struct rig_block *block) {
    for (double from = 0; from < block->rig->live->seconds; from += 0.5) {
        printf("  %4.1f s:", from);
        for (unsigned front = 0; front < block->rig->dispatchers; front++) {
            double sum = 0;
            unsigned count = 0, lost = 0;
            for (size_t i = 0; i < block->outcomes; i++) {
                const struct rig_request_outcome *outcome = &block->outcome[i];
                if (outcome->front != front || outcome->time < from || outcome->time >= from + 0.5)
                    continue;
                count++;
                lost += !outcome->good;
                sum += outcome->ended - outcome->time;
            }
            printf("  %5.0f ms (%3u, %3u lost)", count ? 1e3 * sum / count : 0, count, lost);
        }
        printf("\n");
    }
}

static enum bal_code run_block(const struct options *o, const struct bli_experiment *e, struct rig *rig,
                               struct chaos_verdict *verdict, double *late, struct bal_error *err) {
    struct rig_block block = {0};
    struct bli_trial trial = {0};
    trial.histogram[0] = calloc(1, sizeof *trial.histogram[0]);
    trial.histogram[1] = calloc(1, sizeof *trial.histogram[1]);
    enum bal_code code = bli_rig_start(rig, &o->programs, e, 0, 0, o->place, err);
    if (!code) {
        code = bli_block_run(&block, rig, 0, &stop, NULL, NULL, &trial, err);
        if (!code)
            (o->trial ? chaos_check_trial : chaos_check)(&block, holds(e), verdict);
        if (!code && o->times)
            print_times(&block);
        if (!code && o->times)
            printf("  late by %.1f %% of a service time on average, %.1f %% at servers\n",
                   100 * late_by(&block), 100 * block.overslept / rig->c.model.size.mean);
        *late = code ? 0 : late_by(&block);
        bli_rig_stop(rig);
        bli_block_fini(&block);
    }
    free(trial.histogram[0]);
    free(trial.histogram[1]);
    return code;
}

/* One cycle, again where the machine stood still. False: it could not be run, or was interrupted. */
static bool run_cycle(const struct options *o, uint64_t seed, const char *policy,
                      struct chaos_verdict *verdict, unsigned *repeated) {
    char text[CHAOS_FILE];
    struct bal_error err = {0};
    struct bli_experiment *e = NULL;
    struct rig *rig = calloc(1, sizeof *rig);
    (o->trial ? chaos_trial_file : chaos_file)(seed, policy, o->ipv6, text);
    enum bal_code code =
        rig ? bli_experiment_parse(text, strlen(text), "chaos", BLI_MODE_PLAIN, &e, &err) : BAL_E_MEMORY;
    bool still = true; /* late by more than a twentieth: then nothing can be said */
    for (int i = 0; !code && i < TRIES && still && (i == 0 || *verdict->text); i++) {
        *repeated += i > 0;
        double late = 0;
        code = run_block(o, e, rig, verdict, &late, &err);
        still = !code && late > 0.05;
        if (!code && still && *verdict->text)
            printf("seed %-6llu %-20s the machine stood still (%.0f %% of a service time): %s\n",
                   (unsigned long long)seed, policy, 100 * late, verdict->text);
    }
    bli_experiment_free(e);
    free(rig);
    if (code && !stop)
        fprintf(stderr, "seed %llu, %s: %s\n", (unsigned long long)seed, policy, err.text);
    return !code && !stop;
}

/* ---- all cycles ---- */

struct tally {
    unsigned cycles, failed, rival_too, repeated;
};

static void print_line(uint64_t seed, const char *policy, const struct chaos_verdict *verdict) {
    printf("seed %-6llu %-20s %4.0f ms, normally %3.0f, worst %5.0f  ", (unsigned long long)seed, policy,
           1e3 * verdict->mean, 1e3 * verdict->normal, 1e3 * verdict->worst);
    if (verdict->worst_ratio > 0)
        printf("%.2f times the service at most  ", verdict->worst_ratio);
    puts(*verdict->text ? verdict->text : "ok");
    fflush(stdout);
}

static bool run_one(const struct options *o, uint64_t seed, const char *policy, struct tally *tally) {
    struct chaos_verdict verdict, other;
    unsigned unused = 0;
    if (!run_cycle(o, seed, policy, &verdict, &tally->repeated))
        return false;
    print_line(seed, policy, &verdict);
    tally->cycles++;
    if (!*verdict.text)
        return true;
    if (!o->trial) {
        if (!run_cycle(o, seed, rival, &other, &unused))
            return false;
        print_line(seed, rival, &other);
    }
    if (!o->trial && *other.text)
        tally->rival_too++;
    else
        tally->failed++;
    return true;
}

static int run_all(const struct options *o) {
    struct tally tally[POLICIES] = {0};
    unsigned failed = 0;
    bool complete = true;
    for (unsigned i = 0; complete && i < o->cycles * o->policies; i++) {
        const unsigned p = i % o->policies;
        complete = run_one(o, o->seed + i / o->policies, o->policy[p], &tally[p]);
    }
    for (unsigned p = 0; p < o->policies; p++) {
        printf(
            "%-20s %u of %u cycles failed, and %u that plain nginx failed too; %u runs repeated, the machine "
            "stood still\n",
            o->policy[p], tally[p].failed, tally[p].cycles, tally[p].rival_too, tally[p].repeated);
        failed += tally[p].failed;
    }
    printf("seeds %llu to %llu; the same with --seed, one policy with --policy, its file with --print\n",
           (unsigned long long)o->seed, (unsigned long long)(o->seed + o->cycles - 1));
    return failed > 0 || !complete;
}

static bool read_options(struct options *o, int argc, char **argv) {
    for (int i = 3; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--trial") == 0)
            o->trial = true;
        else if (strcmp(argv[i], "--ipv6") == 0)
            o->ipv6 = true;
        else if (strcmp(argv[i], "--print") == 0)
            o->print = true;
        else if (strcmp(argv[i], "--times") == 0)
            o->times = true;
        else if (value && strcmp(argv[i], "--seed") == 0)
            o->seed = strtoull(argv[++i], NULL, 10);
        else if (value && strcmp(argv[i], "--cycles") == 0)
            o->cycles = (unsigned)strtoul(argv[++i], NULL, 10);
        else if (value && strcmp(argv[i], "--policy") == 0 && o->policies < POLICIES)
            o->policy[o->policies++] = argv[++i];
        else
            return false;
    }
    const bool named = o->policies > 0;
    for (unsigned i = 0; !named && i < sizeof usual / sizeof *usual; i++)
        o->policy[o->policies++] = usual[i];
    return argc >= 3;
}

/* Next to ballast, as it is built, or in the usual place. */
static char *path_of(const char *ballast, const char *name) {
    char path[2 * RIG_PATH];
    const char *slash = strrchr(ballast, '/');
    snprintf(path, sizeof path, "%.*s/%s", slash ? (int)(slash - ballast) : 1, slash ? ballast : ".", name);
    return realpath(path, NULL);
}

static void find_programs(struct rig_programs *programs, const char *ballast, const char *module) {
    programs->self = realpath(ballast, NULL);
    programs->module = realpath(module, NULL);
    programs->keeper = path_of(ballast, "ballastd");
    programs->nginx = access("/usr/sbin/nginx", X_OK) == 0 ? "/usr/sbin/nginx" : NULL;
    programs->haproxy = access("/usr/sbin/haproxy", X_OK) == 0 ? "/usr/sbin/haproxy" : NULL;
}

int main(int argc, char **argv) {
    struct options o = {.seed = 1, .cycles = 1};
    struct bal_error err = {0};
    const struct sched_param first = {.sched_priority = 10};
    if (!read_options(&o, argc, argv)) {
        fputs("usage: live-chaos BALLAST MODULE [--seed S] [--cycles N] [--policy P]... [--ipv6] [--trial] "
              "[--print] [--times]\n",
              stderr);
        return 2;
    }
    if (o.print) {
        char text[CHAOS_FILE];
        (o.trial ? chaos_trial_file : chaos_file)(o.seed, o.policy[0], o.ipv6, text);
        fputs(text, stdout);
        return 0;
    }
    if (bli_hosts_check(&err)) {
        printf("1..0 # SKIP %s\n", err.text);
        return 77; /* skipped, to meson */
    }
    find_programs(&o.programs, argv[1], argv[2]);
    if (!o.programs.self || !o.programs.module || !o.programs.nginx || bli_workdir_create(o.place, &err)) {
        fprintf(stderr, "ballast, its module or nginx is not there %s\n", err.text);
        return 2;
    }
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    sched_setscheduler(0, SCHED_FIFO, &first); /* where that is allowed */
    const int status = run_all(&o);
    bli_workdir_remove(o.place);
    return status;
}
