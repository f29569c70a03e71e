/* SPDX-License-Identifier: BSD-2-Clause */
/* The servers behind nginx in the tests of the live half: those of `ballast test-server`, in a program that
 * needs nothing of the lab.
 *
 * usage: app SERVERS SLOTS SERVICE [FIRST_PORT]; APP_SPEEDS in the environment is what --speeds is there */
#include "serve/serve.h"

#include "ballast/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_count(const char *text, unsigned most, unsigned *count) {
    double number;
    if (!bli_number_parse(text, strlen(text), &number) || number < 0 || number > most ||
        number != floor(number))
        return false;
    *count = (unsigned)number;
    return true;
}

int main(int argc, char **argv) {
    struct bal_error err = {0};
    struct serve_options options = {.seed = 1};
    unsigned first = 0;
    if (argc < 4 || argc > 5 || bli_servers_parse(argv[1], &options.servers, &err) ||
        bli_servers_count(&options.servers) > SERVE_MAX || !read_count(argv[2], 1000000, &options.slots) ||
        options.slots == 0 || bli_dist_parse(argv[3], &options.service, &err) ||
        (argc == 5 && !read_count(argv[4], 65535, &first))) {
        fprintf(stderr, "usage: app SERVERS SLOTS SERVICE [FIRST_PORT] %s\n", err.text);
        return 2;
    }
    const char *speeds = getenv("APP_SPEEDS");
    if (speeds && bli_speeds_parse(speeds, &options.speeds, &err)) {
        fprintf(stderr, "app: APP_SPEEDS: %s\n", err.text);
        return 2;
    }
    options.port = (uint16_t)first;
    if (serve_run(&options, stdout, &err)) {
        fprintf(stderr, "app: %s\n", err.text);
        return 1;
    }
    return fflush(stdout) ? 1 : 0;
}
