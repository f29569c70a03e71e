/* SPDX-License-Identifier: BSD-2-Clause */
/* Clients that send a request and disconnect before the answer can arrive. */
#include "rig/rig.h"

#include "load/target.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

/* Does not allocate: it runs in a child of a process that has threads. */
static void send_and_abort(void *context) {
    static const char request[] = "GET / HTTP/1.1\r\nHost: abort\r\nX-Service: 50000\r\n\r\n";
    static const double pause = 0.02;
    const struct target *target = context;
    const struct timeval limit = {.tv_sec = 1};
    for (;;) {
        const int fd = socket(target->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
        if (connect(fd, (const struct sockaddr *)&target->address, target->address_length) == 0)
            send(fd, request, strlen(request), MSG_NOSIGNAL);
        bli_pause(pause);
        close(fd);
    }
}

enum bal_code bli_abort_start(struct rig *rig, unsigned front, struct bal_error *err) {
    char url[RIG_ADDRESS + 20], address[RIG_ADDRESS];
    struct target target;
    bli_rig_address(rig, bli_rig_front_host(rig, front), address);
    snprintf(url, sizeof url, "http://%s:%u/", address, bli_rig_front_port(rig, front));
    enum bal_code code = bli_load_target_parse(&target, url, err);
    if (!code)
        code = bli_load_target_resolve(&target, err);
    return code ? code : bli_process_run(&rig->aborter[front], send_and_abort, &target, err);
}
