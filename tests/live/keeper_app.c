/* SPDX-License-Identifier: BSD-2-Clause */
/* An app for the tests of ballastd: it does not do anything, but it knows whether it is alone, and goes wrong
 * as it is told.
 *
 * usage: keeper-app DIRECTORY NAME [ready-after=MS] [die-after=MS] [ignore-term] [spawn] [flood] [bomb]
 *
 * DIRECTORY/NAME.alone is locked while it lives, and has its number: a second instance leaves
 * DIRECTORY/double behind. DIRECTORY/NAME.ready is there while it is ready. spawn: it has a child in a
 * session of its own that ignores SIGTERM. bomb: it has children without end, as many as the system lets it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

static void sleep_ms(long ms) {
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&time, &time) && errno == EINTR)
        continue;
}

static const char *path_of(const char *directory, const char *name, const char *kind) {
    static char path[4][500];
    static int next;
    char *to = path[next++ % 4];
    snprintf(to, sizeof *path, "%s/%s%s", directory, name, kind);
    return to;
}

static char ready_path[500];

static void end(int signal) {
    (void)signal;
    unlink(ready_path);
    _exit(0);
}

static void be_alone(const char *directory, const char *name) {
    const int fd = open(path_of(directory, name, ".alone"), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB))
        close(open(path_of(directory, "double", ""), O_RDWR | O_CREAT, 0666));
    else if (ftruncate(fd, 0) == 0)
        dprintf(fd, "%d\n", (int)getpid());
}

/* Escapes from the session and group of its parent, and from its parent. */
static void spawn(void) {
    if (fork())
        return;
    setsid();
    if (fork())
        _exit(0);
    signal(SIGTERM, SIG_IGN);
    for (;;)
        pause();
}

static void bomb(void) {
    for (;;)
        if (fork() < 0)
            sleep_ms(1);
}

static void flood(void) {
    char line[1001];
    memset(line, 'x', 1000);
    line[1000] = '\n';
    for (int i = 0; i < 50000; i++)
        if (write(STDOUT_FILENO, line, sizeof line) < 0)
            return;
}

int main(int argc, char **argv) {
    long ready_after = 0, die_after = -1;
    if (argc < 3)
        return 2;
    snprintf(ready_path, sizeof ready_path, "%s/%s.ready", argv[1], argv[2]);
    unlink(ready_path);
    signal(SIGTERM, end);
    be_alone(argv[1], argv[2]);
    for (int i = 3; i < argc; i++) {
        if (strncmp(argv[i], "ready-after=", 12) == 0)
            ready_after = strtol(argv[i] + 12, NULL, 10);
        else if (strncmp(argv[i], "die-after=", 10) == 0)
            die_after = strtol(argv[i] + 10, NULL, 10);
        else if (strcmp(argv[i], "ignore-term") == 0)
            signal(SIGTERM, SIG_IGN);
        else if (strcmp(argv[i], "spawn") == 0)
            spawn();
        else if (strcmp(argv[i], "flood") == 0)
            flood();
        else if (strcmp(argv[i], "bomb") == 0)
            bomb();
        else
            return 2;
    }
    const bool dies_first = die_after >= 0 && die_after < ready_after;
    sleep_ms(dies_first ? die_after : ready_after);
    if (dies_first)
        return 3;
    close(open(ready_path, O_RDWR | O_CREAT, 0666));
    printf("%s is ready\n", argv[2]);
    fflush(stdout);
    if (die_after >= 0) {
        sleep_ms(die_after - ready_after);
        unlink(ready_path);
        return 3;
    }
    for (;;)
        pause();
}
