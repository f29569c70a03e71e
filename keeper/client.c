#include "client.h"

#include "app.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

enum { ANSWER_MS = 2000 };

static int complain(const char *what, const char *why) {
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
        return complain(config->state, "no keeper runs there");
    FILE *in = fopen(path, "re");
    if (!in)
        return complain(path, strerror(errno));
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
    complain(config->socket, strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

static int await_answer(const struct config *config, const struct app_config *app, int fd) {
    static const char *const powers[] = {"off", "set-up", "on", "draining"};
    struct pollfd in = {.fd = fd, .events = POLLIN};
    struct bal_receiver ear;
    struct bal_message message;
    uint8_t bytes[BAL_DATAGRAM_MAX];
    bal_receiver_init(&ear, config->fleet, app->id, &config->key);
    while (poll(&in, 1, ANSWER_MS) == 1) {
        const ssize_t size = recv(fd, bytes, sizeof bytes, 0);
        if (size < 0)
            break;
        if (bal_receiver_open(&ear, bytes, (size_t)size, &message) != BAL_RECEIPT_FRESH ||
            message.type != BAL_MSG_POWER)
            continue;
        printf("%s: %s", app->name, powers[message.power.power]);
        if (message.power.failures)
            printf(", %u failed starts, next after %u ms", message.power.failures, message.power.retry_ms);
        putchar('\n');
        return 0;
    }
    return complain(app->name, "the keeper does not answer");
}

static int say(const struct config *config, const struct app_config *app, enum bal_message_type type) {
    struct timespec now;
    struct bal_sender me;
    struct bal_message message = {.type = type, .receiver = app->id};
    uint8_t bytes[BAL_DATAGRAM_MAX];
    clock_gettime(CLOCK_REALTIME, &now);
    bal_sender_init(&me, config->fleet, app->id, (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec);
    bal_sender_stamp(&me, &message);
    const size_t size = bal_message_encode(&message, &config->key, bytes);
    const int fd = open_socket(config);
    if (fd < 0)
        return 1;
    const int status = send(fd, bytes, size, 0) == (ssize_t)size ? await_answer(config, app, fd)
                                                                 : complain(config->socket, strerror(errno));
    close(fd);
    return status;
}

int client_run(const struct config *config, int argc, char **argv) {
    if (argc == 1 && strcmp(argv[0], "status") == 0)
        return show_status(config);
    const bool wake = strcmp(argv[0], "wake") == 0;
    if (argc != 2 || (!wake && strcmp(argv[0], "rest") != 0)) {
        complain(argv[0], "say status, wake APP or rest APP");
        return 2;
    }
    for (size_t i = 0; i < config->apps; i++)
        if (strcmp(config->app[i].name, argv[1]) == 0)
            return say(config, &config->app[i], wake ? BAL_MSG_WAKE : BAL_MSG_REST);
    complain(argv[1], "the configuration has no app of that name");
    return 2;
}
