/* SPDX-License-Identifier: BSD-2-Clause */
/* ballastd: starts apps when they are wanted and stops them when they are not. */
#include "client.h"
#include "config.h"
#include "daemon.h"

#include "ballast/version.h"

#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char default_path[] = "/etc/ballast/keeper.yaml";

static const char help[] =
    "usage: ballastd [--config FILE]                    run the keeper\n"
    "       ballastd [--config FILE] --check            tell all mistakes of the configuration\n"
    "       ballastd [--config FILE] status             show the apps and replicas of the keeper that runs\n"
    "       ballastd [--config FILE] wake|rest APP      wake an app, or let it rest\n"
    "       ballastd --ids ADDRESS...                   print the ids that these addresses have in "
    "datagrams\n"
    "\n"
    "Starts apps when they are wanted and stops them when they have no work. Stations and dispatchers of a\n"
    "fleet say when; replicas of one thing are scaled by one command. SIGTERM ends the keeper and leaves or\n"
    "stops the apps as the configuration says, SIGHUP reads it again. Killed and started again, it finds "
    "its\n"
    "apps.\n"
    "\n"
    "  --config FILE   the configuration (default /etc/ballast/keeper.yaml)\n"
    "  --check         read it, print each mistake as FILE:LINE:COLUMN: ..., and do nothing else\n"
    "  --ids           print the number that stands for each address, IP:PORT or unix:PATH, in datagrams and "
    "in\n"
    "                  debug lines of nginx\n"
    "  --keys          print all keys of the configuration with their defaults\n"
    "  --version       print the version\n"
    "  --help          print this\n"
    "\n"
    "Exit status: 0 success, 1 it could not run or the keeper did not answer, 2 bad input.\n";

enum run_mode { RUN, CHECK };

/* Where a standard descriptor is closed a socket or a lock would be opened in its place, logs would be
 * written there, and apps would inherit it. */
static bool have_standard_descriptors(void) {
    int fd;
    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static void print_mistake(void *context, const char *mistake) {
    (void)context;
    fprintf(stderr, "%s\n", mistake);
}

static int run(const char *path, enum run_mode mode, int argc, char **argv) {
    struct config *config = NULL;
    const size_t mistakes = config_read(path, &config, print_mistake, NULL);
    if (mistakes)
        return 2;
    if (mode == RUN && argc == 0)
        return daemon_run(config, path);
    int status = 0;
    if (mode == CHECK)
        printf("%s: in order, %zu app%s\n", path, config->apps, config->apps == 1 ? "" : "s");
    else
        status = client_run(config, argc, argv);
    config_free(config);
    return status;
}

/* Datagrams name stations and dispatchers by a hash of their address. */
static int print_ids(int count, char **text) {
    if (count == 0) {
        fputs("ballastd: --ids: name addresses, as in 10.0.0.11:8080\n", stderr);
        return 2;
    }
    struct address address;
    uint64_t id;
    for (int i = 0; i < count; i++)
        if (!address_read_station(text[i], &address, &id)) {
            fprintf(stderr,
                    "ballastd: --ids: '%.200s' is no address; write IP:PORT, [IPV6]:PORT or unix:PATH\n",
                    text[i]);
            return 2;
        }
    for (int i = 0; i < count && address_read_station(text[i], &address, &id); i++)
        printf("%" PRIu64 " %s\n", id, text[i]);
    return fflush(stdout) ? 1 : 0;
}

int main(int argc, char **argv) {
    static const struct option options[] = {{"config", required_argument, NULL, 'c'},
                                            {"check", no_argument, NULL, 'k'},
                                            {"ids", no_argument, NULL, 'i'},
                                            {"keys", no_argument, NULL, 'y'},
                                            {"version", no_argument, NULL, 'v'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    const char *path = default_path;
    enum run_mode mode = RUN;
    if (!have_standard_descriptors())
        return 1;
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;)
        switch (option) {
        case 'c':
            path = optarg;
            break;
        case 'k':
            mode = CHECK;
            break;
        case 'i':
            return print_ids(argc - optind, argv + optind);
        case 'y':
            config_print_keys(stdout);
            return 0;
        case 'v':
            puts("ballastd " BALLAST_VERSION);
            return 0;
        case 'h':
            fputs(help, stdout);
            return 0;
        default:
            fputs("ballastd: see ballastd --help\n", stderr);
            return 2;
        }
    if (mode == CHECK && optind < argc) {
        fprintf(stderr, "ballastd: --check takes no '%s'; the file is named with --config\n", argv[optind]);
        return 2;
    }
    return run(path, mode, argc - optind, argv + optind);
}
