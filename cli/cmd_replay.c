/* SPDX-License-Identifier: BSD-2-Clause */
/* ballast replay LOG...: recorded requests on a fleet of one's own choice, under every policy. */
#include "commands.h"

#include <stdlib.h>
#include <string.h>

static const char follow_option[] = "--follow";

/* "--follow LOG" or "--follow=LOG". */
static bool is_follow(const char *word) {
    const size_t length = strlen(follow_option);
    return strncmp(word, follow_option, length) == 0 && (word[length] == 0 || word[length] == '=');
}

/* The twin has the same options, except for the name of the log. */
static int follow_with_twin(int argc, char **argv) {
    char **words = calloc((size_t)argc + 1, sizeof *words);
    if (!words)
        return cli_no_memory();
    bool complete = true;
    for (int i = 0; i < argc; i++) {
        const int length = is_follow(argv[i])
                               ? asprintf(&words[i], "--log%s", argv[i] + strlen(follow_option))
                               : asprintf(&words[i], "%s", i == 0 ? "twin" : argv[i]);
        complete = complete && length >= 0;
    }
    char **moved = calloc((size_t)argc + 1, sizeof *moved); /* reading them changes their order */
    complete = complete && moved;
    if (complete)
        memcpy(moved, words, (size_t)argc * sizeof *moved);
    const int status = complete ? cmd_twin.run(&cmd_twin, argc, moved) : cli_no_memory();
    for (int i = 0; i < argc; i++)
        free(words[i]);
    free(words);
    free(moved);
    return status;
}

static int replay_main(const struct cli_command *command, int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        if (is_follow(argv[i]))
            return follow_with_twin(argc, argv);
    return cli_ask(command, argc, argv);
}

const struct cli_command cmd_replay = {
    .name = "replay",
    .summary = "replay access logs: which policy, how many servers, what energy",
    .operands = "LOG...",
    .description =
        "Reads the requests of access logs (nginx, Apache, HAProxy, Envoy, AWS and others, JSON lines, csv;\n"
        "also compressed; - is standard input) and replays them, each at its recorded time and with its\n"
        "recorded service time, on a fleet of servers under each policy. Prints what was read, response\n"
        "times, messages and energy, best first. With --target it also finds the least number of servers\n"
        "that each policy needs; exit status 1 when no number will do. With --autoscale it says what servers "
        "that\n"
        "switch off would have cost (docs/autoscaling.md).",
    .examples =
        "  ballast replay access.log --servers 40\n"
        "  ballast replay access.log.gz --servers 40 --slots 8 --speedup 2 --target p99=200ms\n"
        "  ballast replay access.log --autoscale --setup 10s --standby 1s\n"
        "  ballast replay haproxy.log --service-field Tr --high '^/checkout' --report replay.html\n"
        "  ballast replay logs/*.json.zst --service-field duration:ms --from 2026-11-15T18:00 --status 2xx\n",
    .question = &bli_question_replay,
    .run = replay_main,
};
