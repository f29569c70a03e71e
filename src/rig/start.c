/* Starting and stopping. */
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

/* The last words of a process, for messages. One that cannot write its log says nothing. */
static void last_words(const char *path, char *text, size_t size) {
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

static enum bal_code await(struct rig_process *process, uint16_t port, const char *what, const char *log,
                           struct bal_error *err) {
    for (const double until = bal_clock() + PATIENCE; bal_clock() < until; bal_pause(0.005)) {
        if (bal_rig_answers(port))
            return BAL_OK;
        if (bal_process_has_ended(process))
            break;
    }
    char words[300];
    last_words(log, words, sizeof words);
    return bal_fail(err, BAL_E_IO, "%s did not start: %s", what, words);
}

/* A file of the configuration; its directory is made if need be. */
static FILE *create(const struct rig *rig, const char *name, const char *file, char directory[RIG_PATH],
                    char path[RIG_PATH], struct bal_error *err) {
    const int a = snprintf(directory, RIG_PATH, "%s/%s", rig->place, name);
    const int b = snprintf(path, RIG_PATH, "%s/%s/%s", rig->place, name, file);
    FILE *out = NULL;
    if (a < RIG_PATH && b < RIG_PATH && (mkdir(directory, 0700) == 0 || errno == EEXIST))
        out = fopen(path, "we");
    if (!out)
        bal_fail(err, BAL_E_IO, "%s/%s: cannot be written: %s", rig->place, name, strerror(errno));
    return out;
}

/* Has all of it been written? */
static enum bal_code finish(FILE *out, const char *path, struct bal_error *err) {
    const bool failed = ferror(out);
    if (fclose(out) == 0 && !failed)
        return BAL_OK;
    return bal_fail(err, BAL_E_IO, "%s: cannot be written: %s", path, strerror(errno));
}

static enum bal_code run_nginx(struct rig *rig, struct rig_process *process, const char *directory,
                               const char *conf, struct bal_error *err) {
    char log[RIG_PATH + 20], preload[RIG_PATH + 20], loss[RIG_PATH + 30];
    snprintf(loss, sizeof loss, "BALLAST_LOSS=%s/loss", rig->place);
    snprintf(log, sizeof log, "%s/error.log", directory);
    snprintf(preload, sizeof preload, "LD_PRELOAD=%s", rig->programs->dropper ? rig->programs->dropper : "");
    const char *const losing[] = {preload, loss, NULL};
    const char *const argv[] = {rig->programs->nginx, "-e", "stderr", "-p", directory, "-c", conf, NULL};
    return bal_process_start(process, argv, rig->loses ? losing : NULL, log, false, SIGTERM, err);
}

static enum bal_code run_haproxy(struct rig *rig, struct rig_process *process, const char *directory,
                                 const char *conf, struct bal_error *err) {
    char log[RIG_PATH + 20];
    snprintf(log, sizeof log, "%s/error.log", directory);
    /* A master, as on a real host, so that it can be told to read its configuration again. */
    const char *const argv[] = {rig->programs->haproxy, "-W", "-db", "-f", conf, NULL};
    return bal_process_start(process, argv, NULL, log, false, SIGTERM, err);
}

enum bal_code bal_rig_start_front(struct rig *rig, unsigned i, struct bal_error *err) {
    char name[40], directory[RIG_PATH], conf[RIG_PATH];
    const bool haproxy = rig->entry->proxy == BAL_PROXY_HAPROXY;
    snprintf(name, sizeof name, "front%u", i);
    FILE *out = create(rig, name, haproxy ? "haproxy.cfg" : "nginx.conf", directory, conf, err);
    if (!out)
        return BAL_E_IO;
    if (haproxy)
        bal_rig_front_haproxy(rig, i, rig->dispatchers / bal_rig_fronts(rig), out);
    else
        bal_rig_front_nginx(rig, i, directory, out);
    const enum bal_code code = finish(out, conf, err);
    return code ? code : (haproxy ? run_haproxy : run_nginx)(rig, &rig->front[i], directory, conf, err);
}

/* Every process of HAProxy draws the same random numbers: those that begin together choose the same servers.
 * So its dispatchers are in one process, unless something is to happen to one of them. */
unsigned bal_rig_fronts(const struct rig *rig) {
    return rig->entry->proxy == BAL_PROXY_HAPROXY && rig->live->faults == 0 ? 1 : rig->dispatchers;
}

unsigned bal_rig_stations(const struct rig *rig) {
    return !rig->stations ? 0 : rig->live->apart ? rig->servers : 1;
}

enum bal_code bal_rig_start_station(struct rig *rig, unsigned i, struct bal_error *err) {
    char name[40], directory[RIG_PATH], conf[RIG_PATH];
    snprintf(name, sizeof name, "station%u", i);
    FILE *out = create(rig, name, "nginx.conf", directory, conf, err);
    if (!out)
        return BAL_E_IO;
    const unsigned each = rig->live->apart ? 1 : rig->servers;
    bal_rig_stations_nginx(rig, i * each, each, directory, out);
    const enum bal_code code = finish(out, conf, err);
    return code ? code : run_nginx(rig, &rig->station[i], directory, conf, err);
}

/* ---- servers ---- */

/* One process for all; its first line tells the ports. */
static enum bal_code start_servers(struct rig *rig, struct bal_error *err) {
    char fleet[1000], slots[20], law[400], pid[20], log[RIG_PATH + 20];
    const struct bal_model *model = &rig->c.model;
    bal_servers_print(&model->servers, fleet, sizeof fleet);
    bal_law_print(&model->size, law, sizeof law);
    snprintf(slots, sizeof slots, "%u", model->slots ? model->slots : 1);
    snprintf(pid, sizeof pid, "%ld", (long)getpid());
    snprintf(log, sizeof log, "%s/serve.log", rig->place);
    const char *const argv[] = {rig->programs->self,
                                "serve",
                                "--servers",
                                fleet,
                                "--slots",
                                slots,
                                "--service",
                                law,
                                "--with",
                                pid,
                                rig->live->burn ? "--burn" : NULL,
                                NULL};
    const enum bal_code code = bal_process_start(&rig->serving, argv, NULL, log, true, SIGKILL, err);
    if (code)
        return code;
    char line[8 * RIG_SERVERS + 16], words[300];
    size_t used = 0;
    ssize_t got;
    while (used < sizeof line - 1 &&
           (got = read(rig->serving.out, line + used, sizeof line - 1 - used)) != 0) {
        if (got < 0 && errno != EINTR)
            break;
        used += got > 0 ? (size_t)got : 0;
        if (used > 0 && line[used - 1] == '\n')
            break;
    }
    line[used] = 0;
    char *at = line;
    rig->controls = 1;
    rig->control[0] = (uint16_t)strtoul(at, &at, 10);
    for (unsigned k = 0; k < rig->servers; k++)
        rig->app[k] = (uint16_t)strtoul(at, &at, 10);
    if (rig->app[rig->servers - 1])
        return BAL_OK;
    last_words(log, words, sizeof words);
    return bal_fail(err, BAL_E_IO, "the servers did not start: %s", words);
}

/* The ids of stations, which the keeper must know: "id": N in what they tell of themselves. */
static enum bal_code ask_ids(const struct rig *rig, uint64_t *ids, struct bal_error *err) {
    const unsigned each = rig->live->apart ? 1 : rig->servers;
    for (unsigned i = 0; i < bal_rig_stations(rig); i++) {
        char *text = bal_rig_get(bal_rig_station_port(rig, i * each), "/ballast", NULL);
        const char *at = text ? strstr(text, "\"stations\"") : NULL;
        for (unsigned k = 0; at && k < each; k++) {
            at = strstr(at, "\"id\":");
            if (at) {
                at += strlen("\"id\":");
                at += strspn(at, " \""); /* a text: not every reader of JSON takes so large a number */
                ids[i * each + k] = strtoull(at, NULL, 10);
            }
        }
        free(text);
        if (!at)
            return bal_fail(err, BAL_E_IO, "station %u does not tell who it is", i * each);
    }
    return BAL_OK;
}

enum bal_code bal_rig_start_keeper(struct rig *rig, struct bal_error *err) {
    char directory[RIG_PATH], conf[RIG_PATH], log[RIG_PATH + 20];
    if (snprintf(conf, sizeof conf, "%s/keeper/keeper.yaml", rig->place) >= RIG_PATH)
        return bal_fail(err, BAL_E_IO, "%s: too long a path", rig->place);
    if (access(conf, F_OK) != 0) {
        uint64_t ids[RIG_SERVERS];
        enum bal_code code = ask_ids(rig, ids, err);
        FILE *out = code ? NULL : create(rig, "keeper", "keeper.yaml", directory, conf, err);
        if (!out)
            return BAL_E_IO;
        bal_rig_keeper_yaml(rig, ids, directory, out);
        code = finish(out, conf, err);
        if (code)
            return code;
        chmod(conf, 0600);
    }
    snprintf(log, sizeof log, "%s/keeper.log", rig->place);
    const char *const argv[] = {rig->programs->keeper, "--config", conf, NULL};
    return bal_process_start(&rig->keeper, argv, NULL, log, false, SIGTERM, err);
}

static enum bal_code start_keeper(struct rig *rig, struct bal_error *err) {
    enum bal_code code = bal_rig_start_keeper(rig, err);
    char log[RIG_PATH + 20];
    snprintf(log, sizeof log, "%s/keeper.log", rig->place);
    const bool resting = rig->c.policy.policy->wants & BAL_WANTS_POWER;
    rig->controls = rig->servers;
    for (unsigned k = 0; !code && !resting && k < rig->servers; k++)
        code = await(&rig->keeper, rig->app[k], "a server of the keeper", log, err);
    return code;
}

/* ---- all ---- */

static bool needs_stations(const struct rig *rig) {
    static const char *const blind[] = {"random", "round-robin", "weighted-random", "weighted-round-robin"};
    const struct bal_policy *policy = rig->c.policy.policy;
    if (rig->entry->proxy != BAL_PROXY_BALLAST || rig->live->stations == BAL_STATIONS_NO)
        return false;
    if (rig->live->stations == BAL_STATIONS_YES || rig->live->keepers || rig->c.model.classes ||
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
    for (unsigned i = 0; !code && i < bal_rig_stations(rig); i++)
        code = bal_rig_start_station(rig, i, err);
    for (unsigned i = 0; !code && i < bal_rig_fronts(rig); i++)
        code = bal_rig_start_front(rig, i, err);
    for (unsigned i = 0; !code && i < bal_rig_stations(rig); i++) {
        snprintf(log, sizeof log, "%s/station%u/error.log", rig->place, i);
        code = await(&rig->station[i], bal_rig_station_port(rig, i), "a station", log, err);
    }
    for (unsigned i = 0; !code && i < bal_rig_fronts(rig); i++) {
        snprintf(log, sizeof log, "%s/front%u/error.log", rig->place, i);
        code = await(&rig->front[i], bal_rig_front_port(rig, i), "a dispatcher", log, err);
    }
    return code;
}

/* Where datagrams are to be lost for a time, a library in each nginx looks at a file. */
static enum bal_code prepare_loss(struct rig *rig, struct bal_error *err) {
    for (size_t i = 0; i < rig->live->faults; i++)
        rig->loses |= rig->live->fault[i].kind == BAL_FAULT_LOSS;
    char path[RIG_PATH + 10];
    snprintf(path, sizeof path, "%s/loss", rig->place);
    FILE *file = rig->loses ? fopen(path, "we") : NULL;
    if (!rig->loses)
        return BAL_OK;
    if (!file)
        return bal_fail(err, BAL_E_IO, "%s: cannot be written: %s", path, strerror(errno));
    fputs("0\n", file);
    return finish(file, path, err);
}

static void make_key(char key[33]) {
    unsigned char bytes[16] = {0};
    if (getentropy(bytes, sizeof bytes))
        memset(bytes, 1, sizeof bytes); /* all is on loopback */
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(key + 2 * i, 3, "%02x", bytes[i]);
}

static void allow_files(void) {
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
}

enum bal_code bal_rig_start(struct rig *rig, const struct rig_programs *programs,
                            const struct bal_experiment *e, size_t point, size_t policy, const char *place,
                            struct bal_error *err) {
    memset(rig, 0, sizeof *rig);
    rig->programs = programs;
    rig->live = e->live;
    rig->entry = &e->policy[policy];
    bal_experiment_case(e, point, policy, &rig->c);
    snprintf(rig->place, sizeof rig->place, "%s/fleet", place);
    rig->servers = bal_servers_count(&rig->c.model.servers);
    rig->dispatchers = rig->c.model.network.dispatchers.count ? rig->c.model.network.dispatchers.count : 1;
    rig->stations = needs_stations(rig);
    allow_files();
    make_key(rig->key);
    enum bal_code code = bal_rig_choose_ports(rig, err);
    if (!code && mkdir(rig->place, 0700))
        code = bal_fail(err, BAL_E_IO, "%s: cannot be made: %s", rig->place, strerror(errno));
    if (!code)
        code = prepare_loss(rig, err);
    if (!code && !(rig->live->keepers && rig->stations))
        code = start_servers(rig, err);
    if (!code)
        code = start_proxies(rig, err);
    if (!code && rig->live->keepers && rig->stations)
        code = start_keeper(rig, err);
    if (code)
        bal_rig_stop(rig);
    else if (rig->stations)
        bal_pause(settling);
    return code;
}

/* All are asked before any is waited for; servers last, so that nobody sees them go. */
void bal_rig_stop(struct rig *rig) {
    for (unsigned i = 0; i < rig->dispatchers; i++)
        bal_process_ask(&rig->front[i]);
    for (unsigned i = 0; i < rig->servers; i++)
        bal_process_ask(&rig->station[i]);
    bal_process_ask(&rig->keeper);
    for (unsigned i = 0; i < rig->dispatchers; i++)
        bal_process_end(&rig->front[i]);
    for (unsigned i = 0; i < rig->servers; i++)
        bal_process_end(&rig->station[i]);
    bal_process_end(&rig->keeper);
    bal_process_end(&rig->serving);
    bal_place_remove(rig->place);
}
