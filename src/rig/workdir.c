/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes and removes the private directory for the files of real processes. */
#include "rig/workdir.h"

#include "ballast/number.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "ballast-live."

static int remove_one(const char *path, const struct stat *about, int type, struct FTW *where) {
    (void)about, (void)type, (void)where;
    remove(path);
    return 0;
}

void bli_workdir_remove(const char *path) {
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static const char *temp_directory(void) {
    const char *given = getenv("TMPDIR");
    return given && *given && strlen(given) < RIG_PATH - 100 ? given : "/tmp";
}

/* Is it ours, of a process that is no more? The name has its number. */
static bool is_stale(const char *name, const char *path) {
    const size_t length = strlen(PREFIX);
    double pid;
    struct stat about;
    if (strncmp(name, PREFIX, length) != 0)
        return false;
    const size_t digits = strspn(name + length, "0123456789");
    return digits > 0 && bli_number_parse(name + length, digits, &pid) && pid < 1e9 &&
           lstat(path, &about) == 0 && S_ISDIR(about.st_mode) && about.st_uid == geteuid() &&
           kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

static void remove_stale(void) {
    DIR *directory = opendir(temp_directory());
    const struct dirent *entry;
    while (directory && (entry = readdir(directory))) {
        char path[2 * RIG_PATH];
        snprintf(path, sizeof path, "%s/%s", temp_directory(), entry->d_name);
        if (is_stale(entry->d_name, path))
            bli_workdir_remove(path);
    }
    if (directory)
        closedir(directory);
}

enum bal_code bli_workdir_create(char path[RIG_PATH], struct bal_error *err) {
    remove_stale();
    snprintf(path, RIG_PATH, "%s/" PREFIX "%ld.XXXXXX", temp_directory(), (long)getpid());
    return mkdtemp(path) ? BAL_OK
                         : bal_fail(err, BAL_E_IO, "no private directory can be made in %s: %s; set TMPDIR",
                                    temp_directory(), strerror(errno));
}
