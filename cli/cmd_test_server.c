/* SPDX-License-Identifier: BSD-2-Clause */
/* ballast test-server: servers that stand for an app. */
#include "commands.h"

#include "ballast/number.h"

#include "serve/serve.h"

#include <arpa/inet.h>
#include <string.h>

static enum bal_code set_servers(void *into, const char *value, struct bal_error *err) {
    struct serve_options *options = into;
    struct bli_servers servers;
    const enum bal_code code = bli_servers_parse(value, &servers, err);
    if (code)
        return code;
    if (bli_servers_count(&servers) > SERVE_MAX)
        return bal_fail(err, BAL_E_RANGE, "at most %d servers", SERVE_MAX);
    options->servers = servers;
    return BAL_OK;
}

static enum bal_code set_slots(void *into, const char *value, struct bal_error *err) {
    static const struct bli_option_range range = {1, 1e6, true, "a whole number from 1 to 1M"};
    double slots = 1;
    const enum bal_code code = bli_option_number(value, &range, &slots, err);
    ((struct serve_options *)into)->slots = (unsigned)slots;
    return code;
}

static enum bal_code set_speeds(void *into, const char *value, struct bal_error *err) {
    return bli_speeds_parse(value, &((struct serve_options *)into)->speeds, err);
}

static enum bal_code set_service(void *into, const char *value, struct bal_error *err) {
    return bli_dist_parse(value, &((struct serve_options *)into)->service, err);
}

static enum bal_code set_tokens(void *into, const char *value, struct bal_error *err) {
    struct serve_options *options = into;
    const char *comma = strchr(value, ',');
    double prompt, answer;
    if (!comma || !bli_number_parse(value, (size_t)(comma - value), &prompt) ||
        !bli_number_parse(comma + 1, strlen(comma + 1), &answer) || !(prompt >= 0 && prompt <= 1e3) ||
        !(answer > 0 && answer <= 1e3))
        return bal_fail(err, BAL_E_RANGE,
                        "not two numbers of seconds, to read a token of the prompt and to write one, such as "
                        "0.0002,0.025");
    options->token_service[0] = prompt;
    options->token_service[1] = answer;
    return BAL_OK;
}

static enum bal_code read_port(const char *value, uint16_t *port, struct bal_error *err) {
    static const struct bli_option_range range = {1, 65535, true, "a port from 1 to 65535"};
    double number = 0;
    const enum bal_code code = bli_option_number(value, &range, &number, err);
    *port = (uint16_t)number;
    return code;
}

static enum bal_code set_address(void *into, const char *value, struct bal_error *err) {
    unsigned char bytes[16];
    if (inet_pton(strchr(value, ':') ? AF_INET6 : AF_INET, value, bytes) != 1)
        return bal_fail(err, BAL_E_SYNTAX, "'%.60s' is no address in numbers, such as 0.0.0.0 or ::", value);
    ((struct serve_options *)into)->address = value;
    return BAL_OK;
}

static enum bal_code set_port(void *into, const char *value, struct bal_error *err) {
    return read_port(value, &((struct serve_options *)into)->port, err);
}

static enum bal_code set_control(void *into, const char *value, struct bal_error *err) {
    return read_port(value, &((struct serve_options *)into)->control, err);
}

static enum bal_code set_with(void *into, const char *value, struct bal_error *err) {
    static const struct bli_option_range range = {1, 4194304, true, "the number of a process"};
    double number = 0;
    const enum bal_code code = bli_option_number(value, &range, &number, err);
    ((struct serve_options *)into)->with = (pid_t)number;
    return code;
}

static enum bal_code set_seed(void *into, const char *value, struct bal_error *err) {
    static const struct bli_option_range range = {0, 9007199254740991, true, "a whole number from 0"};
    double number = 0;
    const enum bal_code code = bli_option_number(value, &range, &number, err);
    ((struct serve_options *)into)->seed = (uint64_t)number;
    return code;
}

static const struct bli_option options[] = {
    {"servers", "FLEET", "how many, or COUNTxSPEED,... (default 1)", set_servers},
    {"slots", "K", "requests that a server works on at once (default 1)", set_slots},
    {"speeds", "S", "how fast by the number in service, which share it: cores(4), batch(8,0.15), table(...)",
     set_speeds},
    {"tokens", "P,T", "stream tokens to /generate?prompt=N&tokens=M: seconds to read one, to write one",
     set_tokens},
    {"service", "LAW", "service times in seconds, where a request does not say (default exp(0.02))",
     set_service},
    {"address", "A", "where they listen, in numbers; :: takes IPv4 too (default 127.0.0.1)", set_address},
    {"port", "P", "of the first server, the others follow (default: as the kernel chooses)", set_port},
    {"control", "P", "where they are controlled (default: as the kernel chooses)", set_control},
    {"burn", NULL, "use the processor for the time of the service, instead of sleeping",
     BLI_STORES_FLAG(struct serve_options, burn)},
    {"exit-with-pid", "PID", "end when this process ends", set_with},
    {"seed", "S", "other service times (default 1)", set_seed},
};

static int serve_main(const struct cli_command *command, int argc, char **argv) {
    struct serve_options request = {.slots = 1, .seed = 1};
    int operands;
    bli_servers_parse("1", &request.servers, NULL);
    request.service = bli_dist_exponential(0.02);
    const int status = cli_parse(command, argc, argv, &request, 0, &operands);
    if (status >= 0)
        return status;
    if (request.port && request.port + bli_servers_count(&request.servers) > 65536)
        return cli_fail("test-server: there are no %u ports from %u on", bli_servers_count(&request.servers),
                        request.port);
    if (bli_speeds_given(&request.speeds) && (request.slots == 1 || request.burn))
        return cli_fail(request.burn
                            ? "test-server: --burn is as fast as the processor is; leave out --speeds"
                            : "test-server: --speeds has no effect with one slot; use --slots, such as "
                              "--slots 100");
    if (request.token_service[1] > 0 && request.burn)
        return cli_fail("test-server: --burn streams no tokens; leave out one of --burn and --tokens");
    struct bal_error err;
    return serve_run(&request, stdout, &err) ? cli_fail("test-server: %s", err.text) : CLI_OK;
}

const struct cli_command cmd_test_server = {
    .name = "test-server",
    .summary = "run test servers in place of an app, to try and measure a load balancer",
    .operands = "",
    .description =
        "Servers on loopback that each work on a few requests at a time, in the order in which they\n"
        "come, asleep or at work for the time of the law, or for what X-Service says (in\n"
        "microseconds). The first line that is printed is the port where they are controlled and then\n"
        "that of each server: /set?server=0&mode=fail (hang, slow, close, refuse, ok) makes one ill or\n"
        "well, /stats and /log tell what has been seen, by X-Request-Id. Every request is remembered,\n"
        "in about a hundred bytes, until /reset. Ctrl-C ends them.\n"
        "\n"
        "Requests with endpoint-load-metrics-format: text (or json) in their head are answered with a\n"
        "report of the load (ORCA): num_requests_running, num_requests_waiting and\n"
        "application_utilization, the share of slots in use.",
    .examples = "  ballast test-server --servers 4 --slots 2 --service 'exp(0.05)'\n"
                "  ballast test-server --servers 2x1,2x4 --port 9001 --burn\n"
                "  ballast test-server --slots 1000 --speeds 'batch(8,0.15)'\n"
                "  ballast test-server --slots 8 --speeds 'batch(8,0.15)' --tokens 0.0002,0.025\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = serve_main,
};
