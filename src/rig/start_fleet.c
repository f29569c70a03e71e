/* SPDX-License-Identifier: BSD-2-Clause */
/* Starts and stops a fleet of real processes. */
#include "rig/rig.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { PATIENCE = 20 };             /* seconds until a process must be ready */
static const double settling = 0.5; /* until dispatchers have heard of all stations: five heartbeats */

/* ---- one process ---- */

/* The last line of a process's log that is not a notice, for messages. Without one: that the disk is full, or
 * that it printed nothing. */
static void read_log_tail(const char *path, char *text, size_t size) {
    FILE *file = fopen(path, "re");
    char line[400];
    struct statvfs space;
    if (statvfs(path, &space) == 0 && space.f_bavail == 0)
        snprintf(text, size, "no space is left for %.200s", path);
    else
        snprintf(text, size, "it says nothing");
    while (file && fgets(line, sizeof line, file))
        if (line[strspn(line, " \t\n")] && !strstr(line, "[notice]")) {
            line[strcspn(line, "\n")] = 0;
            snprintf(text, size, "%.250s", line);
        }
    if (file)
        fclose(file);
}

static enum bal_code wait_until_listening(const struct rig *rig, struct rig_process *process, unsigned host,
                                          uint16_t port, const char *what, const char *log,
                                          struct bal_error *err) {
    for (const double until = bli_clock() + PATIENCE; bli_clock() < until; bli_pause(0.005)) {
        if (bli_rig_is_listening(rig, host, port))
            return BAL_OK;
        if (bli_process_has_ended(process))
            break;
    }
    char words[300];
    read_log_tail(log, words, sizeof words);
    return bal_fail(err, BAL_E_IO, "%s did not start: %s", what, words);
}

/* A file of the configuration; its directory is made if need be. */
static FILE *create_config(const struct rig *rig, const char *name, const char *file,
                           char directory[RIG_PATH], char path[RIG_PATH], struct bal_error *err) {
    const int a = snprintf(directory, RIG_PATH, "%s/%s", rig->workdir, name);
    const int b = snprintf(path, RIG_PATH, "%s/%s/%s", rig->workdir, name, file);
    FILE *out = NULL;
    if (a < RIG_PATH && b < RIG_PATH && (mkdir(directory, 0700) == 0 || errno == EEXIST))
        out = fopen(path, "we");
    if (!out)
        bal_fail(err, BAL_E_IO, "%s/%s: cannot be written: %s", rig->workdir, name, strerror(errno));
    return out;
}

/* Has all of it been written? */
static enum bal_code close_config(FILE *out, const char *path, struct bal_error *err) {
    const bool failed = ferror(out);
    if (fclose(out) == 0 && !failed)
        return BAL_OK;
    return bal_fail(err, BAL_E_IO, "%s: cannot be written: %s", path, strerror(errno));
}

static enum bal_code run_nginx(struct rig *rig, struct rig_process *process, unsigned host,
                               const char *directory, const char *conf, struct bal_error *err) {
    char log[RIG_PATH + 20], preload[RIG_PATH + 20], loss[RIG_PATH + 30];
    snprintf(loss, sizeof loss, "BALLAST_LOSS=%s/loss", rig->workdir);
    snprintf(log, sizeof log, "%s/error.log", directory);
    snprintf(preload, sizeof preload, "LD_PRELOAD=%s",
             rig->programs->lossy_preload ? rig->programs->lossy_preload : "");
    const char *const losing[] = {preload, loss, NULL};
    const char *const argv[] = {rig->programs->nginx, "-e", "stderr", "-p", directory, "-c", conf, NULL};
    return bli_process_start(process, argv, rig->loses ? losing : NULL, log, false, bli_rig_space(rig, host),
                             SIGTERM, err);
}

static enum bal_code run_haproxy(struct rig *rig, struct rig_process *process, unsigned host,
                                 const char *directory, const char *conf, struct bal_error *err) {
    char log[RIG_PATH + 20];
    snprintf(log, sizeof log, "%s/error.log", directory);
    /* A master, as on a real host, so that it can reload its configuration. */
    const char *const argv[] = {rig->programs->haproxy, "-W", "-db", "-f", conf, NULL};
    return bli_process_start(process, argv, NULL, log, false, bli_rig_space(rig, host), SIGTERM, err);
}

enum bal_code bli_rig_start_front(struct rig *rig, unsigned i, struct bal_error *err) {
    char name[40], directory[RIG_PATH], conf[RIG_PATH];
    const bool haproxy = rig->entry->proxy == BLI_PROXY_HAPROXY;
    snprintf(name, sizeof name, "front%u", i);
    FILE *out = create_config(rig, name, haproxy ? "haproxy.cfg" : "nginx.conf", directory, conf, err);
    if (!out)
        return BAL_E_IO;
    if (haproxy)
        bli_rig_front_haproxy(rig, i, rig->dispatchers / bli_rig_fronts(rig), out);
    else
        bli_rig_front_nginx(rig, i, directory, out);
    const enum bal_code code = close_config(out, conf, err);
    if (code)
        return code;
    return (haproxy ? run_haproxy : run_nginx)(rig, &rig->front[i], rig->front_host[i], directory, conf, err);
}

enum bal_code bli_rig_start_station(struct rig *rig, unsigned i, struct bal_error *err) {
    char name[40], directory[RIG_PATH], conf[RIG_PATH];
    snprintf(name, sizeof name, "station%u", i);
    FILE *out = create_config(rig, name, "nginx.conf", directory, conf, err);
    if (!out)
        return BAL_E_IO;
    const unsigned first = bli_rig_station_first(rig, i);
    const unsigned count = rig->live->apart ? 1 : bli_rig_station_first(rig, i + 1) - first;
    bli_rig_stations_nginx(rig, first, count, directory, out);
    const enum bal_code code = close_config(out, conf, err);
    return code ? code : run_nginx(rig, &rig->station[i], bli_rig_station_host(rig, i), directory, conf, err);
}

/* ---- servers ---- */

/* The speeds of servers that follow each other. */
static struct bli_servers slice_servers(const struct bli_servers *all, unsigned from, unsigned to) {
    struct bli_servers part = {0};
    unsigned before = 0;
    for (unsigned g = 0; g < all->groups; g++) {
        const unsigned after = before + all->group[g].count, low = from > before ? from : before,
                       high = to < after ? to : after;
        if (high > low) {
            part.group[part.groups] = all->group[g];
            part.group[part.groups++].count = high - low;
        }
        before = after;
    }
    return part;
}

/* The line that a process prints when it is ready. */
static void read_first_line(int fd, char *line, size_t size) {
    size_t used = 0;
    ssize_t got;
    while (used < size - 1 && (got = read(fd, line + used, size - 1 - used)) != 0) {
        if (got < 0 && errno != EINTR)
            break;
        used += got > 0 ? (size_t)got : 0;
        if (used > 0 && line[used - 1] == '\n')
            break;
    }
    line[used] = 0;
}

/* Where servers listen: on loopback, or for all that come to their host. */
const char *bli_rig_app_address(const struct rig *rig) {
    return !rig->hosts ? "127.0.0.1" : rig->live->ipv6 ? "::" : "0.0.0.0";
}

static enum bal_code run_servers(struct rig *rig, unsigned group, const char *log, struct bal_error *err) {
    char fleet[1000], slots[20], dist[400], pid[20];
    const struct bli_model *model = &rig->c.model;
    const struct bli_servers part =
        slice_servers(&model->servers, bli_rig_group_first(rig, group), bli_rig_group_first(rig, group + 1));
    bli_servers_print(&part, fleet, sizeof fleet);
    bli_dist_print(&model->size, dist, sizeof dist);
    snprintf(slots, sizeof slots, "%u", model->slots ? model->slots : 1);
    snprintf(pid, sizeof pid, "%ld", (long)getpid());
    const char *const argv[] = {rig->programs->self,
                                "test-server",
                                "--servers",
                                fleet,
                                "--slots",
                                slots,
                                "--service",
                                dist,
                                "--exit-with-pid",
                                pid,
                                "--address",
                                bli_rig_app_address(rig),
                                rig->live->burn ? "--burn" : NULL,
                                NULL};
    return bli_process_start(&rig->serving[group], argv, NULL, log, true,
                             bli_rig_space(rig, bli_rig_group_host(rig, group)), SIGKILL, err);
}

/* One process for those of a host; its first line lists the ports. */
static enum bal_code start_group(struct rig *rig, unsigned group, struct bal_error *err) {
    char log[RIG_PATH + 30], line[8 * RIG_SERVERS + 16], words[300];
    snprintf(log, sizeof log, "%s/serve%u.log", rig->workdir, group);
    const enum bal_code code = run_servers(rig, group, log, err);
    if (code)
        return code;
    read_first_line(rig->serving[group].out, line, sizeof line);
    char *at = line;
    const unsigned last = bli_rig_group_first(rig, group + 1);
    rig->control[group] = (uint16_t)strtoul(at, &at, 10);
    for (unsigned k = bli_rig_group_first(rig, group); k < last; k++)
        rig->app[k] = (uint16_t)strtoul(at, &at, 10);
    if (rig->app[last - 1])
        return BAL_OK;
    read_log_tail(log, words, sizeof words);
    return bal_fail(err, BAL_E_IO, "the servers did not start: %s", words);
}

static enum bal_code start_servers(struct rig *rig, struct bal_error *err) {
    enum bal_code code = BAL_OK;
    rig->controls = rig->groups;
    for (unsigned group = 0; !code && group < rig->groups; group++)
        code = start_group(rig, group, err);
    return code;
}

/* The ids of stations, which the keeper must know: "id": N in their status. */
static enum bal_code ask_ids(const struct rig *rig, uint64_t *ids, struct bal_error *err) {
    for (unsigned i = 0; i < bli_rig_stations(rig); i++) {
        const unsigned first = bli_rig_station_first(rig, i),
                       count = rig->live->apart ? 1 : bli_rig_station_first(rig, i + 1) - first;
        char *text = bli_rig_get(rig, bli_rig_station_host(rig, i), bli_rig_station_port(rig, first),
                                 "/ballast", NULL);
        const char *at = text ? strstr(text, "\"stations\"") : NULL;
        for (unsigned k = 0; at && k < count; k++) {
            at = strstr(at, "\"id\":");
            if (at) {
                at += strlen("\"id\":");
                at += strspn(at, " \""); /* a text: not every reader of JSON takes so large a number */
                ids[first + k] = strtoull(at, NULL, 10);
            }
        }
        free(text);
        if (!at)
            return bal_fail(err, BAL_E_IO, "station %u does not tell who it is", first);
    }
    return BAL_OK;
}

enum bal_code bli_rig_start_keeper(struct rig *rig, unsigned group, struct bal_error *err) {
    char name[40], directory[RIG_PATH], conf[RIG_PATH], log[RIG_PATH + 30];
    snprintf(name, sizeof name, "keeper%u", group);
    if (snprintf(conf, sizeof conf, "%s/%s/keeper.yaml", rig->workdir, name) >= RIG_PATH)
        return bal_fail(err, BAL_E_IO, "%s: too long a path", rig->workdir);
    if (access(conf, F_OK) != 0) {
        uint64_t ids[RIG_SERVERS];
        enum bal_code code = ask_ids(rig, ids, err);
        FILE *out = code ? NULL : create_config(rig, name, "keeper.yaml", directory, conf, err);
        if (!out)
            return BAL_E_IO;
        bli_rig_keeper_yaml(rig, group, ids, directory, out);
        code = close_config(out, conf, err);
        if (code)
            return code;
        chmod(conf, 0600);
    }
    snprintf(log, sizeof log, "%s/keeper%u.log", rig->workdir, group);
    const char *const argv[] = {rig->programs->keeper, "--config", conf, NULL};
    return bli_process_start(&rig->keeper[group], argv, NULL, log, false,
                             bli_rig_space(rig, bli_rig_group_host(rig, group)), SIGTERM, err);
}

static enum bal_code start_keepers(struct rig *rig, struct bal_error *err) {
    enum bal_code code = BAL_OK;
    for (unsigned group = 0; !code && group < rig->groups; group++)
        code = bli_rig_start_keeper(rig, group, err);
    const bool resting = rig->c.policy.policy->wants & BAL_WANTS_POWER;
    rig->controls = rig->servers;
    for (unsigned k = 0; !code && !resting && k < rig->servers; k++) {
        const unsigned group = bli_rig_group_of(rig, k);
        char log[RIG_PATH + 30];
        snprintf(log, sizeof log, "%s/keeper%u.log", rig->workdir, group);
        code = wait_until_listening(rig, &rig->keeper[group], bli_rig_group_host(rig, group), rig->app[k],
                                    "a server of the keeper", log, err);
    }
    return code;
}

/* ---- all ---- */

static bool needs_stations(const struct rig *rig) {
    static const char *const blind[] = {"random", "round-robin", "weighted-random", "weighted-round-robin"};
    const struct bal_policy *policy = rig->c.policy.policy;
    if (rig->entry->proxy != BLI_PROXY_BALLAST || rig->live->stations == BLI_STATIONS_NO)
        return false;
    if (rig->live->stations == BLI_STATIONS_YES || rig->live->keepers || rig->c.model.classes ||
        rig->c.model.steal.kind != BAL_STEAL_NONE)
        return true;
    for (size_t i = 0; i < sizeof blind / sizeof *blind; i++)
        if (strcmp(policy->name, blind[i]) == 0)
            return false;
    return policy->wants != 0 || !(bal_policy_flags(&rig->c.policy) & BAL_NEEDS_OWN);
}

static enum bal_code start_proxies(struct rig *rig, struct bal_error *err) {
    char log[RIG_PATH + 40];
    enum bal_code code = BAL_OK;
    for (unsigned i = 0; !code && i < bli_rig_stations(rig); i++)
        code = bli_rig_start_station(rig, i, err);
    for (unsigned i = 0; !code && i < bli_rig_fronts(rig); i++)
        code = bli_rig_start_front(rig, i, err);
    for (unsigned i = 0; !code && i < bli_rig_stations(rig); i++) {
        snprintf(log, sizeof log, "%s/station%u/error.log", rig->workdir, i);
        code = wait_until_listening(rig, &rig->station[i], bli_rig_station_host(rig, i),
                                    bli_rig_station_port(rig, bli_rig_station_first(rig, i)), "a station",
                                    log, err);
    }
    for (unsigned i = 0; !code && i < bli_rig_fronts(rig); i++) {
        snprintf(log, sizeof log, "%s/front%u/error.log", rig->workdir, i);
        code = wait_until_listening(rig, &rig->front[i], rig->front_host[i], bli_rig_front_port(rig, i),
                                    "a dispatcher", log, err);
    }
    return code;
}

/* Where datagrams are to be lost for a time, a library in each nginx looks at a file. */
static enum bal_code prepare_loss(struct rig *rig, struct bal_error *err) {
    for (size_t i = 0; i < rig->live->faults; i++)
        rig->loses |= rig->live->fault[i].kind == BLI_FAULT_LOSS;
    char path[RIG_PATH + 10];
    snprintf(path, sizeof path, "%s/loss", rig->workdir);
    FILE *file = rig->loses ? fopen(path, "we") : NULL;
    if (!rig->loses)
        return BAL_OK;
    if (!file)
        return bal_fail(err, BAL_E_IO, "%s: cannot be written: %s", path, strerror(errno));
    fputs("0\n", file);
    return close_config(file, path, err);
}

static void make_key(char key[33]) {
    unsigned char bytes[16] = {0};
    if (getentropy(bytes, sizeof bytes))
        memset(bytes, 1, sizeof bytes); /* all is on loopback */
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(key + 2 * i, 3, "%02x", bytes[i]);
}

static void raise_file_limit(void) {
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
}

/* As many groups of servers as there are hosts for them. */
static enum bal_code start_hosts(struct rig *rig, struct bal_error *err) {
    const unsigned hosts = rig->live->hosts;
    rig->groups = 1;
    if (!hosts)
        return BAL_OK;
    const enum bal_code code = bli_hosts_start(&rig->hosts, hosts, rig->live->ipv6, err);
    const unsigned groups = hosts > rig->dispatchers ? hosts - rig->dispatchers : hosts;
    rig->groups = groups < rig->servers ? groups : rig->servers;
    for (unsigned i = 0; i < rig->dispatchers; i++)
        rig->front_host[i] = bli_rig_front_host(rig, i);
    return code;
}

enum bal_code bli_rig_start(struct rig *rig, const struct rig_programs *programs,
                            const struct bli_experiment *e, size_t point, size_t policy, const char *workdir,
                            struct bal_error *err) {
    memset(rig, 0, sizeof *rig);
    rig->programs = programs;
    rig->live = e->live;
    rig->entry = &e->policy[policy];
    bli_experiment_case(e, point, policy, &rig->c);
    snprintf(rig->workdir, sizeof rig->workdir, "%s/fleet", workdir);
    rig->servers = bli_servers_count(&rig->c.model.servers);
    rig->dispatchers = rig->c.model.network.dispatchers.count ? rig->c.model.network.dispatchers.count : 1;
    rig->stations = needs_stations(rig);
    raise_file_limit();
    make_key(rig->key);
    enum bal_code code = start_hosts(rig, err);
    if (!code)
        code = bli_rig_choose_ports(rig, err);
    if (!code && mkdir(rig->workdir, 0700))
        code = bal_fail(err, BAL_E_IO, "%s: cannot be made: %s", rig->workdir, strerror(errno));
    if (!code)
        code = prepare_loss(rig, err);
    if (!code && !(rig->live->keepers && rig->stations))
        code = start_servers(rig, err);
    if (!code)
        code = start_proxies(rig, err);
    if (!code && rig->live->keepers && rig->stations)
        code = start_keepers(rig, err);
    if (code)
        bli_rig_stop(rig);
    else if (rig->stations)
        bli_pause(settling);
    return code;
}

/* All are asked to end before any is waited for; servers come last, so that no dispatcher or station notices
 * their end. */
void bli_rig_stop(struct rig *rig) {
    for (unsigned i = 0; i < rig->dispatchers; i++)
        bli_process_kill(&rig->aborter[i]);
    for (unsigned i = 0; i < rig->dispatchers; i++)
        bli_process_terminate(&rig->front[i]);
    for (unsigned i = 0; i < rig->servers; i++)
        bli_process_terminate(&rig->station[i]);
    for (unsigned g = 0; g < rig->groups; g++)
        bli_process_terminate(&rig->keeper[g]);
    for (unsigned i = 0; i < rig->dispatchers; i++)
        bli_process_end(&rig->front[i]);
    for (unsigned i = 0; i < rig->servers; i++)
        bli_process_end(&rig->station[i]);
    for (unsigned g = 0; g < rig->groups; g++)
        bli_process_end(&rig->keeper[g]);
    for (unsigned g = 0; g < rig->groups; g++)
        bli_process_end(&rig->serving[g]);
    bli_workdir_remove(rig->workdir);
    bli_hosts_stop(rig->hosts);
    rig->hosts = NULL;
}
