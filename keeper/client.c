/* SPDX-License-Identifier: BSD-2-Clause */
/* Shows the state of a running keeper, or requests that it start or stop an app. */
#include "client.h"

#include "app.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

enum { ANSWER_MS = 2000 };

static int print_error(const char *what, const char *why) {
    fprintf(stderr, "ballastd: %s: %s\n", what, why);
    return 1;
}

/* A keeper that runs holds the lock of its state. */
static bool is_running(const struct config *config) {
    char path[PATH_MAX];
    app_path(path, config->state, "keeper", "lock");
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    const bool free = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;
    if (fd >= 0)
        close(fd);
    return fd >= 0 && !free;
}

static int show_status(const struct config *config) {
    char path[PATH_MAX], text[4096];
    app_path(path, config->state, "keeper", "status");
    if (!is_running(config))
        return print_error(config->state, "no keeper runs there");
    FILE *in = fopen(path, "re");
    if (!in)
        return print_error(path, strerror(errno));
    for (size_t size; (size = fread(text, 1, sizeof text, in)) > 0;)
        fwrite(text, 1, size, stdout);
    fclose(in);
    return 0;
}

/* A socket with a name that the kernel chooses, so that the keeper can answer. */
static int open_socket(const struct config *config) {
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    const sa_family_t mine = AF_UNIX;
    memcpy(to.sun_path, config->socket, strlen(config->socket) + 1);
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && bind(fd, (const struct sockaddr *)&mine, sizeof mine) == 0 &&
        connect(fd, (const struct sockaddr *)&to, sizeof to) == 0)
        return fd;
    print_error(config->socket, strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

/* The client as a sender: a new one with every call, which has to prove its boot. */
struct client {
    const struct config *config;
    const struct app_config *app;
    struct bal_sender sender;
    struct bal_receiver receiver;
    int fd;
};

static bool send_message(struct client *s, struct bal_message message) {
    uint8_t bytes[BAL_DATAGRAM_MAX];
    message.receiver = s->app->id;
    bal_sender_stamp(&s->sender, &message);
    const size_t size = bal_message_encode(&message, &s->config->keys.first, bytes);
    return send(s->fd, bytes, size, 0) == (ssize_t)size;
}

static void print_power(const struct app_config *app, const struct bal_message_power *power) {
    static const char *const powers[] = {"off", "set-up", "on", "draining"};
    printf("%s: %s", app->name, powers[power->power]);
    if (power->failures)
        printf(", %u failed starts, next after %u ms", power->failures, power->retry_ms);
    putchar('\n');
}

/* The keeper sends a challenge first, to be sure that this is not a replay. */
static int await_answer(struct client *s, enum bal_message_type type) {
    struct pollfd in = {.fd = s->fd, .events = POLLIN};
    struct bal_message message;
    uint8_t bytes[BAL_DATAGRAM_MAX];
    while (poll(&in, 1, ANSWER_MS) == 1) {
        const ssize_t size = recv(s->fd, bytes, sizeof bytes, 0);
        if (size < 0)
            break;
        if (bal_receiver_open(&s->receiver, bytes, (size_t)size, &message) != BAL_RECEIPT_FRESH)
            continue;
        if (message.type == BAL_MSG_CHALLENGE &&
            !(send_message(s, (struct bal_message){.type = BAL_MSG_PROOF, .nonce = message.nonce}) &&
              send_message(s, (struct bal_message){.type = type})))
            break;
        if (message.type != BAL_MSG_POWER)
            continue;
        print_power(s->app, &message.power);
        return 0;
    }
    return print_error(s->app->name, "the keeper does not answer");
}

static int request_power(const struct config *config, const struct app_config *app,
                         enum bal_message_type type) {
    struct client s = {.config = config, .app = app, .fd = open_socket(config)};
    uint64_t boot = 0;
    if (s.fd < 0)
        return 1;
    (void)!getrandom(&boot, sizeof boot, 0);
    bal_sender_init(&s.sender, config->fleet, app->id, boot ? boot : 1);
    bal_receiver_init_keys(&s.receiver, config->fleet, app->id, &config->keys);
    const int status = send_message(&s, (struct bal_message){.type = type})
                           ? await_answer(&s, type)
                           : print_error(config->socket, strerror(errno));
    close(s.fd);
    return status;
}

int client_run(const struct config *config, int argc, char **argv) {
    if (argc == 1 && strcmp(argv[0], "status") == 0)
        return show_status(config);
    const bool wake = strcmp(argv[0], "wake") == 0;
    if (argc != 2 || (!wake && strcmp(argv[0], "rest") != 0)) {
        print_error(argv[0], "say status, wake APP or rest APP");
        return 2;
    }
    for (size_t i = 0; i < config->apps; i++)
        if (strcmp(config->app[i].name, argv[1]) == 0)
            return request_power(config, &config->app[i], wake ? BAL_MSG_START : BAL_MSG_STOP);
    print_error(argv[1], "the configuration has no app of that name");
    return 2;
}
