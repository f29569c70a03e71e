/* SPDX-License-Identifier: BSD-2-Clause */
/* A log of ten million lines from its file to the table of one policy: `ballast replay` as a user runs it,
 * its time and its memory; service times as they are logged, and with waiting at servers to be taken out of
 * them. And what the least fleets of ten policies take beside the table of these. usage: bench-replay BALLAST
 * MAKE_LOG */
#include "skim.h"
#include "temporary.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LINES "10000000"
#define WANTED_SECONDS 10
#define WANTED_MB 200

static void die(const char *what) {
    perror(what);
    exit(1);
}

static double wall_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Runs a program with its standard output in a file and waits for it. */
static struct rusage run_program(const char *const *command, const char *output) {
    const pid_t child = fork();
    if (child < 0)
        die("fork");
    if (child == 0) {
        const int fd = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (fd < 0 || dup2(fd, 1) < 0)
            _exit(126);
        execv(command[0], (char *const *)command); /* which it does not change */
        _exit(127);
    }
    int status;
    struct rusage usage;
    if (wait4(child, &status, 0, &usage) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        die(command[0]);
    return usage;
}

static double processor_time_of(const struct rusage *usage) {
    return (double)usage->ru_utime.tv_sec + 1e-6 * (double)usage->ru_utime.tv_usec +
           (double)usage->ru_stime.tv_sec + 1e-6 * (double)usage->ru_stime.tv_usec;
}

/* The lines are counted before and after, as a yardstick. */
static void measure_replay(const char *ballast, const char *path, const char *what,
                           const char *server_field) {
    const char *command[] = {ballast,          "replay", path,      "--servers", "40", "--policy", "pod:d=2",
                             "--replications", "1",      "--quiet", NULL,        NULL, NULL};
    if (server_field) {
        command[10] = "--server-field";
        command[11] = server_field;
    }
    struct stat log;
    double lines;
    if (stat(path, &log))
        die(path);
    const double before = scan_lines(path, &lines), start = wall_seconds();
    const struct rusage usage = run_program(command, "/dev/null");
    const double seconds = wall_seconds() - start, processor = processor_time_of(&usage),
                 mb = (double)usage.ru_maxrss / 1024, after = scan_lines(path, &lines);
    if (before < 0 || after < 0)
        die(path);
    printf("%s, %.0f lines (%.2f GB): %.1f s, %.1f s of processor time, %.0f times that of counting them, "
           "%.0f MB"
           "  (wanted %d s: %s; %d MB: %s)\n",
           what, lines, (double)log.st_size / 1e9, seconds, processor, 2 * processor / (before + after), mb,
           WANTED_SECONDS, seconds <= WANTED_SECONDS ? "met" : "not met", WANTED_MB,
           mb <= WANTED_MB ? "met" : "not met");
    fflush(stdout);
}

/* Twice the table of ten policies, the second time with the least fleet of each. */
static void measure_search(const char *ballast, const char *path) {
    const char *command[] = {ballast,
                             "replay",
                             path,
                             "--replications=1",
                             "--quiet",
                             "--policy=jsq",
                             "--policy=jiq",
                             "--policy=pi",
                             "--policy=pod:d=2",
                             "--policy=pod-memory",
                             "--policy=round-robin",
                             "--policy=random",
                             "--policy=rcpb",
                             "--policy=lsq",
                             "--policy=tabs",
                             NULL,
                             NULL};
    enum { LAST = sizeof command / sizeof *command - 2 };
    const struct rusage table = run_program(command, "/dev/null");
    command[LAST] = "--target=p99=2s";
    const double start = wall_seconds();
    const struct rusage both = run_program(command, "/dev/null");
    printf(
        "ten policies: %.1f s of processor time; with the least fleet of each %.1f s, in %.1f s, %.0f MB\n",
        processor_time_of(&table), processor_time_of(&both), wall_seconds() - start,
        (double)both.ru_maxrss / 1024);
    fflush(stdout);
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fputs("usage: bench-replay BALLAST MAKE_LOG\n", stderr);
        return 2;
    }
    char *path = temporary_file();
    if (!path)
        die("no temporary file");
    static const char lines[] = "--lines=" LINES;
    run_program((const char *[]){argv[2], lines, "--servers=40", "--load=0.6", NULL}, path);
    measure_replay(argv[1], path, "replay", NULL);
    measure_search(argv[1], path);
    run_program((const char *[]){argv[2], lines, "--servers=40", "--load=0.6", "--queue", NULL}, path);
    measure_replay(argv[1], path, "replay, waiting removed", "column3");
    unlink(path);
    free(path);
    return 0;
}
