/* SPDX-License-Identifier: BSD-2-Clause */
/* Owner and mode of a directory and of all above it. */
#include "trust.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool trust_is_safe(const struct stat *status) {
    const bool own_group = status->st_gid == 0 || status->st_gid == getegid();
    const mode_t forbidden = S_IWOTH | (own_group ? 0 : S_IWGRP);
    if (status->st_uid != 0 && status->st_uid != geteuid())
        return false;
    return !(status->st_mode & forbidden) || status->st_mode & S_ISVTX;
}

/* name: for the message. */
static const char *fault_of(const char *directory, const char *name, char fault[TRUST_FAULT]) {
    struct stat status;
    if (stat(directory, &status))
        snprintf(fault, TRUST_FAULT, "directory %s: %s", name, strerror(errno));
    else if (!trust_is_safe(&status))
        snprintf(fault, TRUST_FAULT, "others than root and this user may change what is in %s", name);
    else
        return NULL;
    return fault;
}

/* From the root down: a user who may change a directory can replace those below it. */
const char *trust_fault(const char *directory, char fault[TRUST_FAULT]) {
    char path[PATH_MAX];
    if (!realpath(directory, path)) {
        snprintf(fault, TRUST_FAULT, "directory %s: %s", directory, strerror(errno));
        return fault;
    }
    const char *wrong = fault_of("/", "/", fault);
    for (char *slash = strchr(path + 1, '/'); slash && !wrong; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        wrong = fault_of(path, path, fault);
        *slash = '/';
    }
    return wrong ? wrong : fault_of(path, directory, fault);
}
