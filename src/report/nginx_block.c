/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints the upstream block of nginx for a policy. */
#include "report/nginx_block.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POLICY_TEXT = 200 };

/* ---- the policy ---- */

bool bli_nginx_can(const struct bal_policy_spec *policy) {
    return bal_policy_find(policy->policy->name) == policy->policy &&
           !(bal_policy_needs(policy) & (BAL_CAN_WORK | BAL_CAN_POWER | BAL_CAN_MOVE));
}

const char *bli_nginx_words(const struct bal_policy_spec *policy) {
    const char *name = policy->policy->name;
    char text[POLICY_TEXT];
    bal_policy_print(policy, text, sizeof text);
    if (strcmp(name, "round-robin") == 0 || strcmp(name, "weighted-round-robin") == 0)
        return "";
    if (strcmp(name, "random") == 0 || strcmp(name, "weighted-random") == 0)
        return "random;";
    if (strcmp(text, "pod:d=2") == 0 || strcmp(text, "least-conn:d=2") == 0)
        return "random two least_conn;";
    if (strcmp(name, "jsq") == 0 || strcmp(text, "least-conn") == 0)
        return "least_conn;";
    return NULL;
}

/* Service times are not known more exactly than that. */
static double four_digits(double value) {
    const double scale = pow(10, 3 - floor(log10(value)));
    return rint(value * scale) / scale;
}

/* The lab has rates per mean service time, nginx per second. */
static void print_policy(const struct bli_nginx_block *block, char text[POLICY_TEXT]) {
    struct bal_policy_spec policy = *block->policy;
    const struct bal_param *param = policy.policy->params;
    for (unsigned i = 0; i < policy.policy->param_count; i++)
        if (strcmp(param[i].name, "mu") == 0 && !isnan(policy.value[i]) && block->mean > 0)
            policy.value[i] = four_digits(policy.value[i] / block->mean);
    bal_policy_print(&policy, text, POLICY_TEXT);
}

/* ---- classes ---- */

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

static bool is_variable(const char *name) {
    return name[0] == '$' && name[1] && name[1 + strspn(name + 1, LETTERS)] == 0;
}

static bool is_word(const char *name) {
    return name[0] && name[strspn(name, LETTERS ".-")] == 0;
}

/* The variable that the configuration has already. */
static bool is_known_class(const struct bli_nginx_block *block) {
    return block->class && is_variable(block->class);
}

static bool needs_classes(const struct bli_nginx_block *block) {
    return (block->high || is_known_class(block)) &&
           bal_policy_flags(block->policy) & (BAL_MAY_HOLD | BAL_TAKES_RANKS);
}

/* Quoted for nginx. Line breaks do not end the text. */
static void print_quoted(const char *text, FILE *out) {
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        fputc((unsigned char)*text < ' ' ? '.' : *text, out);
    }
}

static void print_map(const struct bli_nginx_block *block, FILE *out) {
    const bool known = !block->high_by || is_variable(block->high_by);
    fprintf(out, "map %s $fleet_class {%s\n", known && block->high_by ? block->high_by : "$uri",
            known ? "" : " # put the variable here that the pattern is for");
    fputs("    \"~", out);
    print_quoted(block->high, out);
    fputs("\" 0;\n    default 3;\n}\n", out);
}

/* ---- servers ---- */

static bool is_port(const char *text) {
    char *end;
    const long port = strtol(text, &end, 10);
    return isdigit((unsigned char)*text) && *end == 0 && port > 0 && port < 65536;
}

/* nginx takes addresses as they are, and looks names up when it starts. Only the former are copied from a
 * log: they cannot be anything else. IPv4 and IPv6 in brackets, with a port or without; a socket. */
static bool is_address(const char *name) {
    static const char path[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-";
    if (strncmp(name, "unix:/", 6) == 0)
        return name[5 + strspn(name + 5, path)] == 0;
    const bool bracket = *name == '[';
    const char *host = name + bracket;
    const size_t length = strcspn(host, bracket ? "]" : ":");
    char address[INET6_ADDRSTRLEN];
    if (length >= sizeof address || (bracket && !host[length]))
        return false;
    snprintf(address, sizeof address, "%.*s", (int)length, host);
    struct in6_addr binary; /* large enough for either kind */
    const char *behind = host + length + bracket;
    return inet_pton(bracket ? AF_INET6 : AF_INET, address, &binary) == 1 &&
           (*behind == 0 || (*behind == ':' && is_port(behind + 1)));
}

/* How much of the traffic is meant for servers of that speed: small whole numbers in the right ratio. */
static unsigned weight_of(const struct bli_servers *servers, double speed) {
    enum { PARTS = 10 };
    double slowest = speed;
    for (unsigned g = 0; g < servers->groups; g++)
        slowest = fmin(slowest, servers->group[g].speed);
    unsigned divisor = PARTS;
    for (unsigned g = 0; g < servers->groups; g++)
        for (unsigned rest = (unsigned)rint(PARTS * servers->group[g].speed / slowest); rest > 0;) {
            const unsigned next = divisor % rest;
            divisor = rest;
            rest = next;
        }
    return (unsigned)rint(PARTS * speed / slowest) / divisor;
}

/* Servers whose addresses are in the log come first; the others are placeholders for servers to be added. */
static void print_server(const struct bli_nginx_block *block, uint32_t number, unsigned weight, FILE *out) {
    const size_t known = block->names ? bli_log_servers_count(block->names) : 0;
    const char *name = number < known ? bli_log_servers_name(block->names, number) : "";
    if (is_address(name))
        fprintf(out, "    server %s", name);
    else
        fprintf(out, "    server 10.0.%u.%u:80", number / 250 % 250, 1 + number % 250);
    if (weight > 1)
        fprintf(out, " weight=%u", weight);
    fputs(is_address(name) ? ";\n" : "; # put its address here\n", out);
}

/* The module refuses weights where a policy does not look at them. */
static void print_servers(const struct bli_nginx_block *block, FILE *out) {
    const bool weighted = bal_policy_flags(block->policy) & (BAL_NEEDS_OWN | BAL_TAKES_WEIGHTS);
    uint32_t number = 0;
    for (unsigned g = 0; g < block->servers->groups; g++) {
        const struct bli_group *group = &block->servers->group[g];
        for (uint32_t i = 0; i < group->count; i++)
            print_server(block, number++, weighted ? weight_of(block->servers, group->speed) : 1, out);
    }
}

/* ---- the block ---- */

/* As long and as many as is usual for the module, or twice what was seen to be needed. */
static void print_hold(const struct bli_nginx_block *block, FILE *out) {
    const double seconds = fmin(fmax(10, ceil(2 * fmax(block->longest, 0))), 3600);
    const double requests = fmin(fmax(1000, ceil(block->rate * seconds / 1000) * 1000), 1e6);
    fprintf(out, " hold=%.0f,%.0fs", requests, seconds);
}

/* Is there an option that begins so? In quotes it cannot be one of these. */
static bool has_option(const char *options, const char *name) {
    for (const char *at = options; (at = strstr(at, name)); at++)
        if (at == options || at[-1] == ' ')
            return true;
    return false;
}

bool bli_nginx_changes_one_line(const struct bli_nginx_block *block) {
    return block->options && (!needs_classes(block) || has_option(block->options, "class="));
}

void bli_nginx_line(const struct bli_nginx_block *block, FILE *out) {
    const char *options = block->options ? block->options : "";
    char policy[POLICY_TEXT];
    print_policy(block, policy);
    fprintf(out, "ballast %s%s%s", policy, *options ? " " : "", options);
    const bool waits = bal_policy_flags(block->policy) & BAL_MAY_HOLD;
    if (!has_option(options, "slots=") && (!block->options || (waits && !has_option(options, "listen="))))
        fprintf(out, " slots=%u", block->slots > 0 ? block->slots : 1);
    if (waits && !has_option(options, "hold="))
        print_hold(block, out);
    if (needs_classes(block) && !has_option(options, "class="))
        fprintf(out, " class=%s", is_known_class(block) ? block->class : "$fleet_class");
    fputc(';', out);
}

void bli_nginx_block(const struct bli_nginx_block *block, FILE *out) {
    const char *name = block->upstream && is_word(block->upstream) ? block->upstream : "fleet";
    if (needs_classes(block) && !is_known_class(block))
        print_map(block, out);
    fprintf(out, "upstream %s {\n    ", name);
    bli_nginx_line(block, out);
    fputc('\n', out);
    const char *words = bli_nginx_words(block->policy);
    if (words) /* nginx 1.22 needs less than 1 kB for a server */
        fprintf(out, "    # without the module: zone %s %uk;%s%s\n", name,
                64 + bli_servers_count(block->servers), *words ? " " : "", words);
    print_servers(block, out);
    fputs("}\n", out);
}
