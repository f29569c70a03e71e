/* SPDX-License-Identifier: BSD-2-Clause */
/* A server of the fleet that tests/fleet/record records: it works on a few requests at a time, in the order
 * in which they come, and on each for as long as its header X-Service says, in microseconds, asleep. When it
 * ends it prints the path of each and how long that really took, from accepting the connection to closing it.
 * usage: app PORT SLOTS >TRUTH; ends with SIGTERM */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BACKLOG = 4096, SLOTS_MAX = 64, REQUESTS = 1 << 20 };

static int listener;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static struct {
    unsigned number;
    int64_t took; /* microseconds */
} served[REQUESTS];
static size_t count;

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000) + t.tv_nsec / 1000;
}

static void sleep_until(int64_t time) {
    const struct timespec t = {.tv_sec = time / 1000000, .tv_nsec = time % 1000000 * 1000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL))
        ;
}

/* All up to the blank line. */
static void read_request(int connection, char *text, size_t size) {
    size_t used = 0;
    ssize_t got;
    *text = 0;
    while (!strstr(text, "\r\n\r\n") && used + 1 < size &&
           (got = read(connection, text + used, size - 1 - used)) > 0) {
        used += (size_t)got;
        text[used] = 0;
    }
}

static void serve(int connection, int64_t began) {
    static const char answer[] = "HTTP/1.0 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\nok\n";
    char text[4096];
    read_request(connection, text, sizeof text);
    const char *header = strstr(text, "X-Service: "), *path = strchr(text, '/');
    sleep_until(began + (header ? strtoll(header + strlen("X-Service: "), NULL, 10) : 0));
    if (write(connection, answer, sizeof answer - 1) < 0)
        perror("app: write");
    close(connection);
    const int64_t took = now() - began;
    pthread_mutex_lock(&lock);
    if (count < REQUESTS && path) {
        served[count].number = (unsigned)strtoul(path + 1, NULL, 10);
        served[count++].took = took;
    }
    pthread_mutex_unlock(&lock);
}

static void *work(void *unused) {
    (void)unused;
    for (;;) {
        const int connection = accept(listener, NULL, NULL);
        if (connection >= 0)
            serve(connection, now());
    }
    return NULL;
}

static int listen_on(int port) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_port = htons((uint16_t)port),
                                        .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof address) || listen(fd, BACKLOG)) {
        perror("app: listen");
        exit(1);
    }
    return fd;
}

int main(int argc, char **argv) {
    const int port = argc == 3 ? atoi(argv[1]) : 0, slots = argc == 3 ? atoi(argv[2]) : 0;
    if (port <= 0 || slots <= 0 || slots > SLOTS_MAX) {
        fputs("usage: app PORT SLOTS\n", stderr);
        return 2;
    }
    sigset_t end;
    sigemptyset(&end);
    sigaddset(&end, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &end, NULL);
    listener = listen_on(port);
    for (int i = 0; i < slots; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, work, NULL)) {
            perror("app: thread");
            return 1;
        }
    }
    int signal;
    sigwait(&end, &signal);
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < count; i++)
        printf("%u %lld\n", served[i].number, (long long)served[i].took);
    return fflush(stdout) ? 1 : 0;
}
