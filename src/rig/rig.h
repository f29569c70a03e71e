/* A fleet of real processes on loopback, as a case of an experiment says: servers, stations before them where
 * the policy needs to hear of them, keepers where they are asked for, and dispatchers. */
#ifndef RIG_RIG_H
#define RIG_RIG_H

#include "ballast/experiment.h"
#include "rig/place.h"
#include "rig/process.h"

#include <stdio.h>

enum { RIG_DISPATCHERS = 64, RIG_SERVERS = 200, RIG_PROCESSES = RIG_DISPATCHERS + 2 * RIG_SERVERS + 2 };

/* The programs that are started. */
struct rig_programs {
    const char *self;   /* ballast, which also is the servers */
    const char *nginx;  /* NULL: not found; so with the others */
    const char *module; /* for nginx */
    const char *haproxy;
    const char *keeper;
    const char *dropper; /* a library that loses datagrams */
    const char *runner;  /* for messages: how the user calls them */
};

struct rig {
    const struct rig_programs *programs;
    const struct bal_live *live;
    const struct bal_entry *entry;
    struct bal_case c;
    char place[RIG_PATH];
    unsigned servers, dispatchers;
    bool stations;
    uint16_t port;                 /* the first of those that we choose */
    uint16_t app[RIG_SERVERS];     /* ports of the servers themselves */
    unsigned controls;             /* processes that the servers are in */
    uint16_t control[RIG_SERVERS]; /* where these are controlled */
    struct rig_process front[RIG_DISPATCHERS], station[RIG_SERVERS], serving, keeper;
    char key[33]; /* which signs datagrams */
    bool loses;   /* datagrams */
};

/* Can what the experiment asks for be started with these programs? The error says what to install. */
enum bal_code bal_rig_check(const struct rig_programs *programs, const struct bal_experiment *e,
                            struct bal_error *err);

/* Starts all for a policy at a point, in a directory of its own inside `place`, and waits until it is ready.
 * On failure nothing runs. */
enum bal_code bal_rig_start(struct rig *rig, const struct rig_programs *programs,
                            const struct bal_experiment *e, size_t point, size_t policy, const char *place,
                            struct bal_error *err);
void bal_rig_stop(struct rig *rig);

/* Single processes, for faults. */
enum bal_code bal_rig_start_front(struct rig *rig, unsigned i, struct bal_error *err);
enum bal_code bal_rig_start_station(struct rig *rig, unsigned i, struct bal_error *err);
enum bal_code bal_rig_start_keeper(struct rig *rig, struct bal_error *err);
/* Processes that the stations are in, and the dispatchers: one each, but for HAProxy. */
unsigned bal_rig_stations(const struct rig *rig);
unsigned bal_rig_fronts(const struct rig *rig);

/* Ports: dispatchers, where these hear datagrams, stations, the keeper, servers and their controls. */
uint16_t bal_rig_front_port(const struct rig *rig, unsigned i);
uint16_t bal_rig_ear_port(const struct rig *rig, unsigned i);
uint16_t bal_rig_station_port(const struct rig *rig, unsigned k);
uint16_t bal_rig_keeper_port(const struct rig *rig);
enum bal_code bal_rig_choose_ports(struct rig *rig, struct bal_error *err);

/* Configurations, as texts. */
void bal_rig_front_nginx(const struct rig *rig, unsigned i, const char *directory, FILE *out);
void bal_rig_front_haproxy(const struct rig *rig, unsigned first, unsigned count, FILE *out);
void bal_rig_stations_nginx(const struct rig *rig, unsigned first, unsigned count, const char *directory,
                            FILE *out);
void bal_rig_keeper_yaml(const struct rig *rig, const uint64_t *ids, const char *directory, FILE *out);

/* GET from a port of ours; the body, to be freed. NULL: no answer in 30 s, or one of more than FETCH_MOST
 * bytes; the error says which. */
char *bal_rig_get(uint16_t port, const char *path, struct bal_error *err);
bool bal_rig_answers(uint16_t port);

#endif
