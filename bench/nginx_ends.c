/* SPDX-License-Identifier: BSD-2-Clause */
/* Both ends of nginx, for bench/nginx: servers that answer at once, and clients of which each asks again as
 * soon as it is answered, in one process. What is compared takes turns in blocks of some requests over the
 * same connections of the same clients, within milliseconds of each other, so that a machine whose speed
 * changes disturbs both alike: here the noise is as great over a second as over a millisecond, so that many
 * short blocks tell more than a few long ones.
 *
 * usage: bench-nginx_ends SERVERS CLIENTS
 * Prints the ports of its servers in a line, and reads lines from then on:
 *     PORT WORKER US THEM ROUNDS REQUESTS
 * of an nginx that listens at PORT: /US and /THEM are compared in so many rounds of four blocks of REQUESTS
 * each, after one of each client that is not measured (us, them, them, us, in every other round the other way
 * round). Prints a line for each round: of a request of us nanoseconds of processor of the process WORKER,
 * nanoseconds that passed, and connections to servers that were opened; then the same of them. Then an empty
 * line. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS = 64, TEXT = 2048, SETTLE_NS = 20000, PATIENCE = 20 /* seconds */ };

static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok";

enum kind { NONE, LISTENER, SERVER, CLIENT };

/* By the number of its descriptor. */
static struct connection {
    enum kind kind;
    uint32_t length; /* of what has come of a request or answer */
    char text[TEXT];
} * connection;

static int loop;
static long descriptors;
static uint32_t clients;
static int *client;
static char request[128];
static uint32_t to_send, answered; /* in this block */
static uint32_t opened;            /* connections to servers, so far */

_Noreturn static void die(const char *what) {
    fprintf(stderr, "nginx_ends: %s: %s\n", what, errno ? strerror(errno) : "not as it should be");
    exit(1);
}

/* ---- connections ---- */

static void watch_descriptor(int fd, enum kind kind) {
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    if (fd >= descriptors || epoll_ctl(loop, EPOLL_CTL_ADD, fd, &event))
        die("epoll");
    connection[fd].kind = kind;
    connection[fd].length = 0;
}

static struct sockaddr_in loopback_address(uint16_t port) {
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
}

static uint16_t listen_on_any_port(void) {
    struct sockaddr_in at = loopback_address(0);
    socklen_t size = sizeof at;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, size) || listen(fd, 4096) ||
        getsockname(fd, (struct sockaddr *)&at, &size))
        die("listen");
    watch_descriptor(fd, LISTENER);
    return ntohs(at.sin_port);
}

static void set_nodelay(int fd) {
    const int on = 1;
    if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on))
        die("TCP_NODELAY");
}

/* ---- what comes ---- */

static void send_all(int fd, const char *text, size_t length) {
    if (write(fd, text, length) != (ssize_t)length)
        die("write");
}

static void send_request(int fd) {
    if (!to_send)
        return;
    to_send--;
    send_all(fd, request, strlen(request));
}

static void ask_for(const char *path) {
    snprintf(request, sizeof request, "GET /%s HTTP/1.1\r\nHost: a\r\n\r\n", path);
}

static void connect_clients(uint16_t port) {
    const struct sockaddr_in at = loopback_address(port);
    for (uint32_t i = 0; i < clients; i++) {
        if (client[i] >= 0)
            close(client[i]);
        client[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (client[i] < 0 || connect(client[i], (const struct sockaddr *)&at, sizeof at))
            die("connect");
        set_nodelay(client[i]);
        watch_descriptor(client[i], CLIENT);
    }
}

static void accept_connection(int fd) {
    const int peer = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (peer < 0)
        return;
    opened++;
    set_nodelay(peer);
    watch_descriptor(peer, SERVER);
}

static bool ends_with(const struct connection *c, const char *end) {
    const size_t length = strlen(end);
    return c->length >= length && memcmp(c->text + c->length - length, end, length) == 0;
}

/* Reads what has come; false: the other side has closed. */
static bool read_more(int fd, struct connection *c) {
    const ssize_t got = read(fd, c->text + c->length, TEXT - c->length);
    if (got <= 0)
        return got < 0 && errno == EAGAIN;
    c->length += (uint32_t)got;
    return true;
}

static void serve_connection(int fd, struct connection *c) {
    if (!read_more(fd, c)) {
        c->kind = NONE;
        close(fd);
    } else if (ends_with(c, "\r\n\r\n")) {
        c->length = 0;
        send_all(fd, answer, sizeof answer - 1);
    }
}

static void read_response(int fd, struct connection *c) {
    if (!read_more(fd, c))
        die("nginx has closed a connection");
    if (!ends_with(c, "\r\n\r\nok"))
        return;
    if (memcmp(c->text, "HTTP/1.1 200", 12) != 0) {
        errno = 0;
        die("an answer of nginx");
    }
    c->length = 0;
    answered++;
    send_request(fd);
}

/* Without sleeping: to wake us would be work of the worker, the more the longer we wait for it. */
static void poll_once(void) {
    struct epoll_event event[EVENTS];
    const int count = epoll_wait(loop, event, EVENTS, 0);
    for (int i = 0; i < count; i++) {
        const int fd = event[i].data.fd;
        struct connection *c = &connection[fd];
        if (c->kind == LISTENER)
            accept_connection(fd);
        else if (c->kind == SERVER)
            serve_connection(fd, c);
        else if (c->kind == CLIENT)
            read_response(fd, c);
    }
}

/* ---- blocks ---- */

static uint64_t clock_ns(clockid_t id) {
    struct timespec t;
    if (clock_gettime(id, &t))
        die("the clock of the worker");
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

struct cost {
    uint64_t cpu, passed, opened;
};

/* It ends us if nginx does not answer. */
static void run_requests(uint32_t count) {
    alarm(PATIENCE);
    answered = 0;
    to_send = count;
    for (uint32_t i = 0; i < clients; i++)
        send_request(client[i]);
    while (answered < count)
        poll_once();
    alarm(0);
}

/* When the worker sleeps, which it does soon after its last answer, what it has used is exactly known. */
static void wait_for_idle_worker(void) {
    const uint64_t began = clock_ns(CLOCK_MONOTONIC);
    while (clock_ns(CLOCK_MONOTONIC) - began < SETTLE_NS)
        ;
}

static void measure_block(const char *path, uint32_t count, clockid_t worker, struct cost *cost) {
    ask_for(path);
    run_requests(clients);
    wait_for_idle_worker();
    const uint32_t before = opened;
    const uint64_t cpu = clock_ns(worker), began = clock_ns(CLOCK_MONOTONIC);
    run_requests(count);
    cost->passed += clock_ns(CLOCK_MONOTONIC) - began;
    wait_for_idle_worker();
    cost->cpu += clock_ns(worker) - cpu;
    cost->opened += opened - before;
}

static void compare_paths(const char *const path[2], clockid_t worker, unsigned rounds, uint32_t count) {
    for (unsigned round = 0; round < rounds; round++) {
        struct cost cost[2] = {{0, 0, 0}, {0, 0, 0}};
        for (unsigned i = 0; i < 4; i++) {
            const unsigned who = (i == 1 || i == 2) ^ (round & 1);
            measure_block(path[who], count, worker, &cost[who]);
        }
        for (unsigned who = 0; who < 2; who++)
            printf("%.1f %.1f %.4f%c", (double)cost[who].cpu / (2.0 * count),
                   (double)cost[who].passed / (2.0 * count), (double)cost[who].opened / (2.0 * count),
                   who ? '\n' : ' ');
    }
    printf("\n");
    fflush(stdout);
}

static unsigned long parse_number(const char *text) {
    char *end;
    errno = 0;
    const unsigned long value = text ? strtoul(text, &end, 10) : 0;
    if (!text || errno || end == text || *end)
        die("a number");
    return value;
}

static void run_command(char *line) {
    static uint16_t connected;
    enum { PORT, WORKER, US, THEM, ROUNDS, REQUESTS, WORDS };
    const char *word[WORDS];
    char *rest = NULL;
    for (int i = 0; i < WORDS; i++)
        if (!(word[i] = strtok_r(i ? NULL : line, " \n", &rest)))
            die("a line of PORT WORKER US THEM ROUNDS REQUESTS");
    const uint16_t port = (uint16_t)parse_number(word[PORT]);
    clockid_t worker;
    if (clock_getcpuclockid((pid_t)parse_number(word[WORKER]), &worker))
        die("the worker");
    if (port != connected)
        connect_clients(port);
    connected = port;
    compare_paths((const char *const[2]){word[US], word[THEM]}, worker, (unsigned)parse_number(word[ROUNDS]),
                  (uint32_t)parse_number(word[REQUESTS]));
}

int main(int argc, char **argv) {
    struct rlimit limit;
    char line[256];
    if (argc != 3)
        die("usage: bench-nginx_ends SERVERS CLIENTS");
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max < 65536 ? limit.rlim_max : 65536;
    setrlimit(RLIMIT_NOFILE, &limit);
    descriptors = (long)limit.rlim_cur;
    clients = (uint32_t)parse_number(argv[2]);
    connection = calloc((size_t)descriptors, sizeof *connection);
    client = malloc(clients * sizeof *client);
    loop = epoll_create1(EPOLL_CLOEXEC);
    if (!connection || !client || loop < 0)
        die("memory");
    for (uint32_t i = 0; i < clients; i++)
        client[i] = -1;
    setvbuf(stdout, NULL, _IOFBF, 1 << 22); /* so that nothing is written before the end of a comparison */
    for (unsigned long i = 0, servers = parse_number(argv[1]); i < servers; i++)
        printf("%u ", listen_on_any_port());
    printf("\n");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin))
        run_command(line);
    return 0;
}
