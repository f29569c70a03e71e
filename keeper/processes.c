/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds processes in /proc, and signals them by descriptors.
 *
 * The environment of a process can be read by its own user and by a process with CAP_SYS_PTRACE, not by root
 * as such. So it is read as the app's user (setfsuid(2)): the kernel compares the file system ids of the
 * reader. */
#include "processes.h"

#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NO_PROCESS = -1 };

struct process {
    pid_t pid, parent, session;
    uint64_t start;
    bool dead;   /* it has ended, and its parent has not waited for it yet */
    bool chosen; /* to be sent a signal */
};

/* Fields 3 (state), 4 (parent), 6 (session), 20 (threads) and 22 (start time) of /proc/PID/stat. The name of
 * the program, field 2, may hold anything, so they are counted from its end. A process whose first thread has
 * ended is in state Z too, and is not dead while it has others. */
static bool read_process(pid_t pid, struct process *process) {
    char path[40], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const ssize_t size = read(fd, text, sizeof text - 1);
    close(fd);
    if (size <= 0)
        return false;
    text[size] = '\0';
    char *rest = strrchr(text, ')');
    *process = (struct process){.pid = pid};
    char *save = NULL, *word = rest ? strtok_r(rest + 1, " ", &save) : NULL;
    for (int field = 3; word && field <= 22; field++, word = strtok_r(NULL, " ", &save)) {
        uint64_t number;
        if (field == 3)
            process->dead = *word == 'Z' || *word == 'X';
        if (field == 20 && config_whole_number(word, &number))
            process->dead = process->dead && number <= 1;
        if (field == 4 && config_whole_number(word, &number))
            process->parent = (pid_t)number;
        if (field == 6 && config_whole_number(word, &number))
            process->session = (pid_t)number;
        if (field == 22)
            return config_whole_number(word, &process->start);
    }
    return false;
}

uint64_t process_start_time(pid_t pid) {
    struct process process;
    return read_process(pid, &process) ? process.start : 0;
}

int process_open(pid_t pid, uint64_t start) {
    const int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (fd < 0 || process_start_time(pid) == start)
        return fd;
    close(fd);
    return -1;
}

/* All processes except this one; NULL when out of memory. */
static struct process *list_all(size_t *count) {
    struct process *all = NULL;
    size_t capacity = *count = 0;
    DIR *directory = opendir("/proc");
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        uint64_t number;
        struct process process;
        if (!config_whole_number(entry->d_name, &number) || (pid_t)number == getpid() ||
            !read_process((pid_t)number, &process))
            continue;
        if (*count == capacity) {
            capacity = capacity ? 2 * capacity : 256;
            struct process *more = realloc(all, capacity * sizeof *all);
            if (!more)
                break;
            all = more;
        }
        all[(*count)++] = process;
    }
    if (directory)
        closedir(directory);
    return all;
}

/* Marks descendants of the one process and of those that are marked; each round finds one generation. */
static void mark_descendants(struct process *all, size_t count, pid_t root) {
    for (bool found = true; found;) {
        found = false;
        for (size_t i = 0; i < count; i++) {
            bool below = all[i].parent == root;
            for (size_t j = 0; j < count && !below; j++)
                below = all[j].chosen && all[j].pid == all[i].parent;
            if (all[i].chosen || !below)
                continue;
            all[i].chosen = found = true;
        }
    }
}

static bool has_entry(const char *entries, size_t size, const char *entry) {
    const size_t length = strlen(entry) + 1;
    for (size_t at = 0; at + length <= size; at += strnlen(entries + at, size - at) + 1)
        if (memcmp(entries + at, entry, length) == 0)
            return true;
    return false;
}

static bool has_marks(pid_t pid, const struct process_marks *marks) {
    /* The variables that matter are the first, unless a shell has put them elsewhere. */
    static char entries[131072];
    char path[40];
    snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    size_t size = 0;
    for (ssize_t got = 1; got > 0 && size<sizeof entries; size += got> 0 ? (size_t)got : 0)
        got = read(fd, entries + size, sizeof entries - size);
    close(fd);
    return has_entry(entries, size, marks->variable) && has_entry(entries, size, marks->other);
}

/* As the keeper's user, and as the app's. */
static void mark_by_environment(struct process *all, size_t count, const struct process_marks *marks) {
    for (size_t i = 0; i < count; i++)
        all[i].chosen = has_marks(all[i].pid, marks);
    if (marks->uid == geteuid())
        return;
    const int gid = setfsgid(marks->gid), uid = setfsuid(marks->uid);
    for (size_t i = 0; i < count; i++)
        all[i].chosen = all[i].chosen || has_marks(all[i].pid, marks);
    setfsuid((uid_t)uid);
    setfsgid((gid_t)gid);
}

/* A session id is not reused while any process is in the session; but all of them may have ended, and the id
 * may belong to another leader. */
static void mark_session(struct process *all, size_t count, const struct process_marks *marks) {
    for (size_t i = 0; i < count; i++)
        if (all[i].pid == marks->session && all[i].start != marks->session_start)
            return;
    for (size_t i = 0; i < count; i++)
        all[i].chosen =
            all[i].chosen || (all[i].session == marks->session && all[i].start >= marks->session_start);
}

static void send_signal(const struct process *process, int signal) {
    const int fd = process_open(process->pid, process->start);
    if (fd < 0)
        return;
    (void)syscall(SYS_pidfd_send_signal, fd, signal, NULL, 0);
    close(fd);
}

static size_t send_all(const struct process *all, size_t count, int signal) {
    size_t chosen = 0;
    for (size_t i = 0; i < count; i++)
        if (all[i].chosen && !all[i].dead) {
            send_signal(&all[i], signal);
            chosen++;
        }
    return chosen;
}

/* Sends a signal to all descendants and returns how many there are. */
static size_t send_to_descendants(int signal) {
    size_t count;
    struct process *all = list_all(&count);
    if (all)
        mark_descendants(all, count, getpid());
    const size_t sent = all ? send_all(all, count, signal) : 0;
    free(all);
    return sent;
}

void process_kill_descendants(void) {
    enum { ROUNDS = 20 };
    size_t before = 0;
    for (int round = 0; round < ROUNDS; round++) {
        const size_t now = send_to_descendants(SIGSTOP);
        if (now == before)
            break;
        before = now;
    }
    send_to_descendants(SIGKILL);
}

size_t process_kill_marked(const struct process_marks *marks) {
    size_t count;
    struct process *all = list_all(&count);
    if (!all)
        return 0;
    mark_by_environment(all, count, marks);
    if (marks->session)
        mark_session(all, count, marks);
    mark_descendants(all, count, NO_PROCESS);
    const size_t sent = send_all(all, count, SIGKILL);
    free(all);
    return sent;
}

void process_boot_id(char id[PROCESS_BOOT_ID]) {
    const int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    const ssize_t size = fd < 0 ? -1 : read(fd, id, PROCESS_BOOT_ID - 1);
    if (fd >= 0)
        close(fd);
    id[size > 0 ? size : 0] = '\0';
    id[strcspn(id, "\n")] = '\0';
    if (!*id)
        strcpy(id, "-");
}
