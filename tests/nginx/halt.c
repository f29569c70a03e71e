/* SPDX-License-Identifier: BSD-2-Clause */
/* Stops a worker of nginx while it holds the lock of a zone, for LD_PRELOAD: BALLAST_HALT=FILE begins with
 * the pid (32 bits) of the worker that is to stop itself when it next looks at the clock with a lock. That it
 * has one is seen in shared memory, where the lock contains who holds it (nginx/lock.h). */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { ZONES_MAX = 64 };

static volatile int32_t *wanted;
static struct {
    const volatile uint64_t *words;
    size_t count;
} zones[ZONES_MAX];
static int zone_count;

/* Before the program begins: nginx takes the environment from its workers. */
__attribute__((constructor)) static void open_file(void) {
    const char *path = getenv("BALLAST_HALT");
    const int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *page = (void *)syscall(SYS_mmap, NULL, sizeof *wanted, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    wanted = fd >= 0 && page != MAP_FAILED ? page : NULL;
    if (fd >= 0)
        close(fd);
}

/* With files of 64 bits it is mmap64, in nginx as here. */
void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset) {
    void *zone = (void *)syscall(SYS_mmap, address, size, protection, flags, fd, offset);
    if (zone != MAP_FAILED && flags & MAP_SHARED && flags & MAP_ANONYMOUS && zone_count < ZONES_MAX) {
        zones[zone_count].words = zone;
        zones[zone_count++].count = size / sizeof(uint64_t);
    }
    return zone;
}

/* Field 22 of /proc/self/stat; the second is in parentheses. */
static uint32_t start_time(void) {
    char text[1024] = "";
    const int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || read(fd, text, sizeof text - 1) <= 0)
        abort();
    close(fd);
    const char *at = strrchr(text, ')');
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    return at ? (uint32_t)strtoull(at, NULL, 10) : 0;
}

static int holds_lock(void) {
    const uint64_t self = (uint64_t)getpid() << 32 | start_time();
    for (int i = 0; i < zone_count; i++)
        for (size_t k = 0; k < zones[i].count; k++)
            if (zones[i].words[k] == self)
                return 1;
    return 0;
}

int clock_gettime(clockid_t clock, struct timespec *t) {
    if (wanted && *wanted == getpid() && holds_lock()) {
        *wanted = 0;
        raise(SIGSTOP);
    }
    return (int)syscall(SYS_clock_gettime, clock, t);
}
