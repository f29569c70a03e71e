/* SPDX-License-Identifier: BSD-2-Clause */
/* A server that speaks FastCGI at one port and uwsgi at another, one request at a time, each on a connection
 * of its own. The first line that it prints is the two ports; SIGTERM ends it. usage: responder */
#include <arpa/inet.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FCGI_BEGIN = 1, FCGI_END = 3, FCGI_STDIN = 5, FCGI_STDOUT = 6, FCGI_HEAD = 8 };

static int listen_somewhere(void) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof address;
    if (fd < 0 || bind(fd, (const struct sockaddr *)&address, length) || listen(fd, 128) ||
        getsockname(fd, (struct sockaddr *)&address, &length)) {
        perror("responder");
        exit(1);
    }
    printf("%u\n", ntohs(address.sin_port));
    return fd;
}

static bool read_all(int fd, void *into, size_t length) {
    char *at = into;
    while (length > 0) {
        const ssize_t got = read(fd, at, length);
        if (got <= 0)
            return false;
        at += got;
        length -= (size_t)got;
    }
    return true;
}

static void put_record(int fd, uint8_t type, const uint8_t id[2], const char *text) {
    const size_t length = type == FCGI_END ? 8 : strlen(text);
    uint8_t record[FCGI_HEAD + 512] = {1, type, id[0], id[1], (uint8_t)(length >> 8), (uint8_t)length};
    if (type != FCGI_END)
        memcpy(record + FCGI_HEAD, text, length);
    if (write(fd, record, FCGI_HEAD + length) < 0)
        perror("responder");
}

static void serve_fastcgi(int fd) {
    uint8_t head[FCGI_HEAD], id[2] = {0, 1};
    static char content[65536 + 256];
    while (read_all(fd, head, sizeof head)) {
        const size_t length = (size_t)head[4] << 8 | head[5];
        if (!read_all(fd, content, length + head[6]))
            return;
        memcpy(id, head + 2, 2);
        if (head[1] != FCGI_STDIN || length > 0)
            continue;
        put_record(fd, FCGI_STDOUT, id, "Status: 200 OK\r\nContent-Type: text/plain\r\n\r\nfastcgi\n");
        put_record(fd, FCGI_STDOUT, id, "");
        put_record(fd, FCGI_END, id, "");
        return;
    }
}

static void serve_uwsgi(int fd) {
    static const char answer[] =
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 6\r\n\r\nuwsgi\n";
    uint8_t head[4];
    static char content[65536];
    if (read_all(fd, head, sizeof head) && read_all(fd, content, (size_t)head[2] << 8 | head[1]) &&
        write(fd, answer, sizeof answer - 1) < 0)
        perror("responder");
}

int main(void) {
    struct pollfd listener[2];
    for (int i = 0; i < 2; i++)
        listener[i] = (struct pollfd){.fd = listen_somewhere(), .events = POLLIN};
    fflush(stdout);
    while (poll(listener, 2, -1) > 0)
        for (int i = 0; i < 2; i++) {
            const int fd = listener[i].revents & POLLIN ? accept(listener[i].fd, NULL, NULL) : -1;
            if (fd < 0)
                continue;
            (i == 0 ? serve_fastcgi : serve_uwsgi)(fd);
            close(fd);
        }
    return 1;
}
