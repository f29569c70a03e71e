/* SPDX-License-Identifier: BSD-2-Clause */
/* The configurations of dispatchers, stations and keepers. */
#include "rig/rig.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

enum { URGENCIES = 8, USUAL = 3 }; /* of RFC 9218: u=0 ... u=7, and the default */

/* Of a policy to which idle servers report at a rate. */
static double report_rate(const struct rig *rig) {
    const struct bal_policy_spec *spec = &rig->c.policy;
    const double load = rig->c.model.load;
    double mu = NAN, mup = 1;
    for (unsigned i = 0; i < spec->policy->param_count; i++) {
        mu = strcmp(spec->policy->params[i].name, "mu") == 0 ? spec->value[i] : mu;
        if (strcmp(spec->policy->params[i].name, "mup") == 0 && !isnan(spec->value[i]))
            mup = spec->value[i];
    }
    return (isnan(mu) ? mup * load / (1 - load) : mu) / rig->c.model.size.mean;
}

static bool reports_by_rate(const struct rig *rig) {
    return rig->c.policy.policy->wants & BAL_WANTS_STILL_IDLE;
}

/* The text of the policy for nginx, where rates are per second. */
static void put_policy(const struct rig *rig, FILE *out) {
    struct bal_policy_spec spec = rig->c.policy;
    char text[400];
    for (unsigned i = 0; reports_by_rate(rig) && i < spec.policy->param_count; i++) {
        if (strcmp(spec.policy->params[i].name, "mu") == 0)
            spec.value[i] = report_rate(rig);
        if (strcmp(spec.policy->params[i].name, "mup") == 0)
            spec.value[i] = NAN;
    }
    bal_policy_print(&spec, text, sizeof text);
    fputs(text, out);
}

/* Whole numbers in proportion to the speeds; 1 where they are equal or not given. */
static unsigned server_weight(const struct rig *rig, unsigned server) {
    const struct bli_servers *servers = &rig->c.model.servers;
    if (!bli_model_is_weighted(&rig->c.model))
        return 1;
    if (rig->entry->proxy == BLI_PROXY_BALLAST &&
        !(bal_policy_flags(&rig->c.policy) & (BAL_NEEDS_OWN | BAL_TAKES_WEIGHTS)))
        return 1;
    double most = 0, speed = 0;
    unsigned before = 0;
    for (unsigned g = 0; g < servers->groups; g++) {
        most = fmax(most, servers->group[g].speed);
        if (server >= before && server < before + servers->group[g].count)
            speed = servers->group[g].speed;
        before += servers->group[g].count;
    }
    return (unsigned)fmax(1, round(100 * speed / most));
}

/* ---- nginx ---- */

static void put_head(const struct rig *rig, const char *directory, FILE *out) {
    if (rig->programs->module && (rig->entry->proxy == BLI_PROXY_BALLAST))
        fprintf(out, "load_module %s;\n", rig->programs->module);
    fputs("daemon off;\nworker_processes 1;\nworker_shutdown_timeout 20s;\n", out);
    if (geteuid() == 0)
        fputs("user root;\n", out);
    fprintf(out, "pid %s/pid;\nerror_log %s/error.log notice;\nevents { worker_connections 16384; }\n",
            directory, directory);
    fputs("http {\naccess_log off;\n", out);
    static const char *const temporary[] = {"client_body", "proxy", "fastcgi", "uwsgi", "scgi"};
    for (size_t i = 0; i < sizeof temporary / sizeof *temporary; i++)
        fprintf(out, "%s_temp_path %s/%s;\n", temporary[i], directory, temporary[i]);
    fputs("proxy_http_version 1.1;\nproxy_set_header Connection \"\";\nkeepalive_requests 1000000;\n", out);
    if (rig->entry->proxy == BLI_PROXY_BALLAST)
        fprintf(out, "ballast_key %s;\n", rig->key);
    fprintf(out, "proxy_read_timeout %gs;\nproxy_connect_timeout 2s;\n", ceil(rig->live->timeout));
}

static void put_address(const struct rig *rig, const char *before, unsigned host, uint16_t port, FILE *out) {
    char address[RIG_ADDRESS];
    bli_rig_address(rig, host, address);
    fprintf(out, "%s%s:%u", before, address, port);
}

/* For requests. On hosts at every address, so that it can be asked over loopback there. */
static void put_http_listen(const struct rig *rig, uint16_t port, FILE *out) {
    const char *address = !rig->hosts ? "127.0.0.1" : rig->live->ipv6 ? "[::]" : "0.0.0.0";
    const char *rest = rig->hosts && rig->live->ipv6 ? " ipv6only=off" : "";
    fprintf(out, "server {\nlisten %s:%u backlog=4096%s;\n", address, port, rest);
}

unsigned bli_rig_urgency(uint32_t classes, uint32_t rank) {
    if (classes == 2)
        return rank ? USUAL + 2 : USUAL - 2;
    return USUAL + classes - 2 >= URGENCIES ? rank : rank ? USUAL + rank - 1 : USUAL - 2;
}

static void put_rule(const struct rig *rig, unsigned i, FILE *out) {
    if (rig->entry->proxy == BLI_PROXY_NGINX) {
        if (strcmp(rig->entry->text, "round_robin") != 0)
            fprintf(out, "%s;\n", rig->entry->text);
        return;
    }
    fputs("ballast ", out);
    put_policy(rig, out);
    const bool holds = bal_policy_flags(&rig->c.policy) & BAL_MAY_HOLD;
    if (holds || rig->c.model.slots > 1)
        fprintf(out, " slots=%u", rig->c.model.slots ? rig->c.model.slots : 1);
    if (rig->live->faults == 0 && !rig->c.model.network.ejection)
        fputs(" ejection=off", out);
    if (rig->c.model.classes)
        fputs(" class=$http_priority", out);
    if (holds)
        fputs(" hold=10000,60s", out);
    if (rig->stations)
        put_address(rig, " listen=", bli_rig_front_host(rig, i), bli_rig_datagram_port(rig, i), out);
    fputs(";\n", out);
}

void bli_rig_front_nginx(const struct rig *rig, unsigned i, const char *directory, FILE *out) {
    const bool ours = rig->entry->proxy == BLI_PROXY_BALLAST;
    put_head(rig, directory, out);
    fputs("upstream fleet {\n", out);
    put_rule(rig, i, out);
    for (unsigned k = 0; k < rig->servers; k++) {
        put_address(rig, "server ", bli_rig_server_host(rig, k),
                    rig->stations ? bli_rig_station_port(rig, k) : rig->app[k], out);
        if (server_weight(rig, k) > 1)
            fprintf(out, " weight=%u", server_weight(rig, k));
        fputs(";\n", out);
    }
    fputs("keepalive 256;\n}\n", out);
    put_http_listen(rig, bli_rig_front_port(rig, i), out);
    if (ours)
        fputs("location = /ballast { ballast_status; }\n", out);
    fputs("location / {\nproxy_pass http://fleet;\n", out);
    if (rig->live->faults > 0)
        fputs("proxy_next_upstream error timeout http_500 http_502 http_503 http_504;\n"
              "proxy_next_upstream_tries 4;\n",
              out);
    if (rig->stations)
        fputs("proxy_set_header Connection \"\";\nproxy_set_header Ballast-From $ballast_from;\n"
              "proxy_set_header Ballast-Moved \"\";\n",
              out);
    fputs("}\n}\n}\n", out);
}

static void put_dispatchers(const struct rig *rig, FILE *out) {
    for (unsigned i = 0; i < rig->dispatchers; i++)
        put_address(rig, i ? "," : "", bli_rig_front_host(rig, i), bli_rig_datagram_port(rig, i), out);
}

static void put_stations(const struct rig *rig, FILE *out) {
    for (unsigned k = 0; k < rig->servers; k++)
        put_address(rig, k ? "," : "", bli_rig_server_host(rig, k), bli_rig_station_port(rig, k), out);
}

static void put_station(const struct rig *rig, unsigned k, FILE *out) {
    const struct bli_model *model = &rig->c.model;
    char steal[100];
    const uint16_t port = bli_rig_station_port(rig, k);
    fprintf(out, "upstream app%u {\nserver 127.0.0.1:%u max_fails=0;\n", k, rig->app[k]);
    const unsigned host = bli_rig_server_host(rig, k);
    fprintf(out, "ballast_station slots=%u queue=10000", model->slots ? model->slots : 1);
    put_address(rig, " listen=", host, port, out);
    fputs(" dispatchers=", out);
    put_dispatchers(rig, out);
    if (model->steal.kind != BAL_STEAL_NONE || bal_policy_flags(&rig->c.policy) & BAL_MOVES_JOBS) {
        fputs(" stations=", out);
        put_stations(rig, out);
    }
    if (model->steal.kind != BAL_STEAL_NONE) {
        bal_steal_print(&model->steal, steal, sizeof steal);
        fprintf(out, " steal=%s", steal);
    }
    if (model->classes && model->discipline != BLI_DISCIPLINE_FIFO)
        fprintf(out, " class=$http_priority classes=%d", bli_model_classes(model) > 2 ? URGENCIES : 2);
    if (reports_by_rate(rig))
        fprintf(out, " report=%.0fms", fmax(1, 1000 / report_rate(rig)));
    if (rig->live->keepers)
        put_address(rig, " keeper=", host, bli_rig_keeper_port(rig), out);
    if (rig->live->keepers)
        fprintf(out, ",%u", 101 + k);
    if (rig->live->keepers && rig->c.policy.policy->wants & BAL_WANTS_POWER)
        fprintf(out, " standby=%.0fms", 1000 * fmax(model->standby.mean, 0.1));
    fputs(";\nkeepalive 64;\n}\n", out);
    put_http_listen(rig, port, out);
    fprintf(out, "location = /ballast { ballast_status; }\nlocation / {\nproxy_pass http://app%u;\n", k);
    fputs("proxy_next_upstream error timeout http_503;\nproxy_set_header Connection \"\";\n"
          "proxy_set_header Ballast-Moved $ballast_moved;\n}\n}\n",
          out);
}

void bli_rig_stations_nginx(const struct rig *rig, unsigned first, unsigned count, const char *directory,
                            FILE *out) {
    put_head(rig, directory, out);
    for (unsigned k = first; k < first + count; k++)
        put_station(rig, k, out);
    fputs("}\n", out);
}

/* ---- HAProxy ---- */

static void put_listen(const struct rig *rig, unsigned i, FILE *out) {
    /* Its random draws go by a ring on which a server has 16 points for each unit of its weight: with a
     * weight of 1 some servers are drawn a third more often than others. */
    const bool draws = strncmp(rig->entry->text, "random", strlen("random")) == 0;
    const bool waits = rig->c.model.classes || strstr(rig->entry->text, " maxconn");
    const char *address = !rig->hosts ? "127.0.0.1" : rig->live->ipv6 ? "::" : "0.0.0.0";
    fprintf(out, "listen fleet%u\n    bind %s:%u%s\n    balance %.*s\n    http-reuse always\n", i, address,
            bli_rig_front_port(rig, i), rig->hosts && rig->live->ipv6 ? " v4v6" : "",
            (int)strcspn(rig->entry->text, " "), rig->entry->text);
    /* Classes wait in HAProxy: each of the dispatchers may then have one request at a slot. */
    const uint32_t classes = bli_model_classes(&rig->c.model);
    for (uint32_t r = 0; r + 1 < classes; r++)
        fprintf(out, "    http-request set-priority-class int(-%u) if { req.hdr(priority) -m beg u=%u }\n",
                10 * (classes - 1 - r), bli_rig_urgency(classes, r));
    for (unsigned k = 0; k < rig->servers; k++) {
        fprintf(out, "    server s%u", k);
        put_address(rig, " ", bli_rig_server_host(rig, k), rig->app[k], out);
        if (server_weight(rig, k) > 1 || draws)
            fprintf(out, " weight %u", server_weight(rig, k) > 1 ? server_weight(rig, k) : 100);
        if (waits)
            fprintf(out, " maxconn %u", rig->c.model.slots ? rig->c.model.slots : 1);
        if (rig->live->faults > 0)
            fputs(" check inter 500ms fall 2 rise 1", out);
        fputs("\n", out);
    }
}

void bli_rig_front_haproxy(const struct rig *rig, unsigned first, unsigned count, FILE *out) {
    fprintf(
        out,
        "global\n    nbthread 1\ndefaults\n    mode http\n    timeout connect 2s\n    timeout client 300s\n"
        "    timeout server %gs\n    timeout queue 300s\n",
        ceil(rig->live->timeout));
    if (rig->live->faults > 0)
        fputs("    option redispatch 1\n    retries 3\n    retry-on all-retryable-errors\n", out);
    for (unsigned i = first; i < first + count; i++)
        put_listen(rig, i, out);
}

/* ---- ballastd ---- */

static void put_app(const struct rig *rig, unsigned k, uint64_t id, const char *address, FILE *out) {
    char dist[400];
    bli_dist_print(&rig->c.model.size, dist, sizeof dist);
    fprintf(out, "  - name: app%u\n    id: %u\n    station: {id: %" PRIu64 ", address: \"%s:%u\"}\n", k,
            101 + k, id, address, bli_rig_station_port(rig, k));
    fprintf(out,
            "    run: [\"%s\", serve, --slots, \"%u\", --service, \"%s\", --port, \"%u\", --control, \"%u\", "
            "--with, \"%ld\", --address, \"%s\"]\n",
            rig->programs->self, rig->c.model.slots ? rig->c.model.slots : 1, dist, rig->app[k],
            rig->control[k], (long)getpid(), bli_rig_app_address(rig));
    fprintf(out, "    ready: {tcp: \"127.0.0.1:%u\"}\n    standby: 100ms\n", rig->app[k]);
    fputs("    times: {check: 50ms, drain: 100ms, beat: 200ms}\n", out);
}

void bli_rig_keeper_yaml(const struct rig *rig, unsigned group, const uint64_t *ids, const char *directory,
                         FILE *out) {
    char address[RIG_ADDRESS];
    bli_rig_address(rig, bli_rig_group_host(rig, group), address);
    fprintf(out, "key: %s\nlisten: \"%s:%u\"\nsocket: %s/control\nstate: %s\non_exit: stop\napps:\n",
            rig->key, address, bli_rig_keeper_port(rig), directory, directory);
    for (unsigned k = bli_rig_group_first(rig, group); k < bli_rig_group_first(rig, group + 1); k++)
        put_app(rig, k, ids[k], address, out);
}
