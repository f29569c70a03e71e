/* SPDX-License-Identifier: BSD-2-Clause */
/* A fleet of real processes on loopback, or on hosts of its own, as a case of an experiment says: servers,
 * stations in front of them where the policy needs their reports, keepers where the experiment has them, and
 * dispatchers. */
#ifndef RIG_RIG_H
#define RIG_RIG_H

#include "ballast/experiment.h"
#include "rig/child_process.h"
#include "rig/hosts.h"
#include "rig/workdir.h"

#include <stdio.h>

enum {
    RIG_DISPATCHERS = 128, /* as many as a station in nginx knows */
    RIG_SERVERS = 200,
    RIG_PROCESSES = RIG_DISPATCHERS + 2 * RIG_SERVERS + 2 * RIG_HOSTS
};

/* The programs that are started. */
struct rig_programs {
    const char *self;   /* ballast, which also runs as the servers */
    const char *nginx;  /* NULL: not found; so with the others */
    const char *module; /* for nginx */
    const char *haproxy;
    const char *keeper;
    const char *lossy_preload; /* a library that loses datagrams */
    const char *runner;        /* for messages: how the user calls them */
};

struct rig {
    const struct rig_programs *programs;
    const struct bli_live *live;
    const struct bli_experiment_policy *entry;
    struct bli_case c;
    char workdir[RIG_PATH];
    unsigned servers, dispatchers;
    struct rig_hosts *hosts; /* NULL: all is on loopback */
    unsigned groups;         /* hosts that servers are on; 1 on loopback */
    bool stations;
    unsigned front_host[RIG_DISPATCHERS]; /* where each dispatcher runs now */
    uint16_t port;                        /* the first port of those that we choose */
    uint16_t app[RIG_SERVERS];            /* ports of the servers themselves */
    unsigned controls;                    /* processes that the servers are in */
    uint16_t control[RIG_SERVERS];        /* the ports that control these */
    struct rig_process front[RIG_DISPATCHERS], station[RIG_SERVERS], serving[RIG_HOSTS], keeper[RIG_HOSTS];
    struct rig_process aborter[RIG_DISPATCHERS]; /* clients of a dispatcher that leave */
    pid_t stopped[RIG_DISPATCHERS];              /* workers that are stopped (SIGSTOP); 0: none */
    char key[33];                                /* which signs datagrams */
    bool loses;                                  /* datagrams */
};

/* Can these programs run the experiment? The error says what to install. */
enum bal_code bli_rig_check(const struct rig_programs *programs, const struct bli_experiment *e,
                            struct bal_error *err);

/* Starts all for a policy at a point, in a directory of its own inside `workdir`, and waits until it is
 * ready. On failure no process is left running. */
enum bal_code bli_rig_start(struct rig *rig, const struct rig_programs *programs,
                            const struct bli_experiment *e, size_t point, size_t policy, const char *workdir,
                            struct bal_error *err);
void bli_rig_stop(struct rig *rig);

/* Single processes, for faults. */
enum bal_code bli_rig_start_front(struct rig *rig, unsigned i, struct bal_error *err);
enum bal_code bli_rig_start_station(struct rig *rig, unsigned i, struct bal_error *err);
enum bal_code bli_rig_start_keeper(struct rig *rig, unsigned group, struct bal_error *err);
/* Processes that the stations are in, and the dispatchers: one each, but for HAProxy on loopback. */
unsigned bli_rig_stations(const struct rig *rig);
unsigned bli_rig_fronts(const struct rig *rig);

/* Clients of a dispatcher that disconnect before they get their answers; ended as rig->aborter. */
enum bal_code bli_abort_start(struct rig *rig, unsigned front, struct bal_error *err);

/* Which host runs what. Each host that has servers runs a group of them with consecutive numbers, with their
 * stations and keepers. */
unsigned bli_rig_front_host(const struct rig *rig, unsigned i);
unsigned bli_rig_group_host(const struct rig *rig, unsigned group);
unsigned bli_rig_group_of(const struct rig *rig, unsigned server);
unsigned bli_rig_server_host(const struct rig *rig, unsigned server);
unsigned bli_rig_group_first(const struct rig *rig, unsigned group); /* also of the one after the last */
unsigned bli_rig_station_first(const struct rig *rig, unsigned i);   /* server of a process of stations */
unsigned bli_rig_station_host(const struct rig *rig, unsigned i);
/* The address at which servers listen. */
const char *bli_rig_app_address(const struct rig *rig);
/* The namespace of a host, -1: ours; its address as it stands in URLs. */
int bli_rig_space(const struct rig *rig, unsigned host);
void bli_rig_address(const struct rig *rig, unsigned host, char text[RIG_ADDRESS]);
/* The process that controls a server, and the number of the server there. */
unsigned bli_rig_control_of(const struct rig *rig, unsigned server, unsigned *number);
unsigned bli_rig_control_host(const struct rig *rig, unsigned control);

/* Ports: of dispatchers, of their datagrams, of stations, of the keeper, of servers and of their controls. */
uint16_t bli_rig_front_port(const struct rig *rig, unsigned i);
uint16_t bli_rig_datagram_port(const struct rig *rig, unsigned i);
uint16_t bli_rig_station_port(const struct rig *rig, unsigned k);
uint16_t bli_rig_keeper_port(const struct rig *rig);
enum bal_code bli_rig_choose_ports(struct rig *rig, struct bal_error *err);

/* The urgency (Priority: u=) of a class, 0 being the most urgent. The first one is in front of the usual
 * urgency and the others are not, so that policies for two classes tell it from all others; only with seven
 * or eight there are not enough urgencies for that. */
unsigned bli_rig_urgency(uint32_t classes, uint32_t rank);

/* Configurations, as texts. */
void bli_rig_front_nginx(const struct rig *rig, unsigned i, const char *directory, FILE *out);
void bli_rig_front_haproxy(const struct rig *rig, unsigned first, unsigned count, FILE *out);
void bli_rig_stations_nginx(const struct rig *rig, unsigned first, unsigned count, const char *directory,
                            FILE *out);
void bli_rig_keeper_yaml(const struct rig *rig, unsigned group, const uint64_t *ids, const char *directory,
                         FILE *out);

/* GET from a port of ours on a host, over loopback there; the body, to be freed. NULL: no answer in 30 s, or
 * one of more than FETCH_MAX bytes; the error says which. */
char *bli_rig_get(const struct rig *rig, unsigned host, uint16_t port, const char *path,
                  struct bal_error *err);
bool bli_rig_is_listening(const struct rig *rig, unsigned host, uint16_t port);

#endif
