/* SPDX-License-Identifier: BSD-2-Clause */
/* gnuplot reads its script from and writes its picture and its complaints to files in memory: nothing is left
 * behind however this ends, no pipe can block, and no signal is raised when gnuplot dies early. */
#include "figure/gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static enum bal_code no_resource(int error, struct bal_error *err) {
    return bal_fail(err, error == ENOMEM ? BAL_E_MEMORY : BAL_E_IO, "gnuplot cannot be run: %s",
                    strerror(error));
}

static bool write_all(int file, const char *text, size_t length) {
    while (length > 0) {
        const ssize_t wrote = write(file, text, length);
        if (wrote < 0 && errno != EINTR)
            return false;
        if (wrote > 0) {
            text += wrote;
            length -= (size_t)wrote;
        }
    }
    return lseek(file, 0, SEEK_SET) == 0;
}

/* All of a file, terminated. NULL when that fails. */
static char *read_all(int file, size_t *size) {
    struct stat about;
    if (fstat(file, &about) != 0)
        return NULL;
    char *data = malloc((size_t)about.st_size + 1);
    size_t got = 0;
    while (data && got < (size_t)about.st_size) {
        const ssize_t more = pread(file, data + got, (size_t)about.st_size - got, (off_t)got);
        if (more < 0 && errno == EINTR)
            continue;
        if (more <= 0)
            break;
        got += (size_t)more;
    }
    if (!data)
        return NULL;
    data[got] = '\0';
    *size = got;
    return data;
}

/* In memory, or without a name where the system has no files there. */
static int open_nameless(const char *name) {
#ifdef __linux__
    return memfd_create(name, MFD_CLOEXEC);
#else
    char path[] = "/tmp/ballast-XXXXXX";
    (void)name;
    const int file = mkostemp(path, O_CLOEXEC);
    if (file >= 0)
        unlink(path);
    return file;
#endif
}

/* A file in memory whose number is above those of the standard files, also where the program has closed
 * these. */
static int memory_file(const char *name) {
    const int file = open_nameless(name);
    if (file < 0 || file > 2)
        return file;
    const int higher = fcntl(file, F_DUPFD_CLOEXEC, 3);
    close(file);
    return higher;
}

/* Starts gnuplot with these as its standard files, without the start-up files of the user. */
static int spawn_gnuplot(const int file[3], pid_t *child) {
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error)
        return error;
    for (int i = 0; i < 3 && !error; i++)
        error = posix_spawn_file_actions_adddup2(&actions, file[i], i);
    char name[] = "gnuplot", plain[] = "--default-settings", from_input[] = "-";
    char *const argv[] = {name, plain, from_input, NULL};
    if (!error)
        error = posix_spawnp(child, name, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* gnuplot prints the line that it could not read, a caret under the place, and the reason in the last line.
 */
static enum bal_code report_failure(int status, char *said, struct bal_error *err) {
    if (WIFSIGNALED(status))
        return bal_fail(err, BAL_E_IO, "gnuplot was ended by signal %d (%s)", WTERMSIG(status),
                        strsignal(WTERMSIG(status)));
    size_t length = strlen(said);
    while (length > 0 && strchr(" \t\n", said[length - 1]))
        said[--length] = '\0';
    const char *last = strrchr(said, '\n');
    last = last ? last + 1 : said;
    last += strspn(last, " \t");
    return bal_fail(err, BAL_E_IO, "gnuplot failed: %s", *last ? last : "it gave no reason");
}

static enum bal_code run_gnuplot(const int file[3], char **data, size_t *size, struct bal_error *err) {
    pid_t child;
    const int error = spawn_gnuplot(file, &child);
    if (error == ENOENT)
        return bal_fail(err, BAL_E_IO,
                        "gnuplot is not installed, and figures need it; on Debian it is in the package "
                        "gnuplot-nox");
    if (error)
        return no_resource(error, err);
    int status;
    pid_t ended;
    while ((ended = waitpid(child, &status, 0)) < 0 && errno == EINTR)
        continue;
    if (ended < 0)
        return no_resource(errno, err);
    char *picture = read_all(file[1], size);
    size_t length;
    char *said = read_all(file[2], &length);
    enum bal_code code = BAL_OK;
    if (!picture || !said)
        code = bal_fail(err, BAL_E_MEMORY, "not enough memory for what gnuplot has drawn");
    else if (status != 0 || *size == 0)
        code = report_failure(status, said, err);
    free(said);
    if (code)
        free(picture);
    else
        *data = picture;
    return code;
}

enum bal_code bli_gnuplot_run(const char *script, size_t length, char **data, size_t *size,
                              struct bal_error *err) {
    int file[3] = {-1, -1, -1};
    static const char *const name[] = {"script", "picture", "complaints"};
    enum bal_code code = BAL_OK;
    for (int i = 0; i < 3; i++) {
        file[i] = memory_file(name[i]);
        if (file[i] < 0) {
            code = no_resource(errno, err);
            goto out;
        }
    }
    if (!write_all(file[0], script, length))
        code = no_resource(errno, err);
    else
        code = run_gnuplot(file, data, size, err);
out:
    for (int i = 0; i < 3; i++)
        if (file[i] >= 0)
            close(file[i]);
    return code;
}
