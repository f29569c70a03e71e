/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the programs and the nginx module that `ballast live` starts. */
#include "programs.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MODULE "ngx_http_ballast_module.so"

static bool try_path(char path[RIG_PATH], const char *directory, size_t length, const char *name, int mode) {
    const int needed = snprintf(path, RIG_PATH, "%.*s/%s", (int)length, directory, name);
    return needed < RIG_PATH && access(path, mode) == 0;
}

/* In PATH, and where servers are that are not in the PATH of users. */
static bool find_program(char path[RIG_PATH], const char *name) {
    const char *more[] = {getenv("PATH"), "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin"};
    for (size_t i = 0; i < 2; i++)
        for (const char *at = more[i]; at && *at;) {
            const size_t length = strcspn(at, ":");
            if (length > 0 && try_path(path, at, length, name, X_OK))
                return true;
            at += length + (at[length] == ':');
        }
    return false;
}

static size_t directory_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) : 0;
}

static bool find_module(char path[RIG_PATH], const char *self) {
    static const char *const places[] = {"/usr/lib/nginx/modules", "/usr/local/lib/nginx/modules",
                                         "/usr/share/nginx/modules", "/usr/local/share/nginx/modules"};
    const size_t length = directory_of(self);
    if (try_path(path, self, length, "nginx/" MODULE, R_OK) ||
        try_path(path, self, length, "../lib/nginx/modules/" MODULE, R_OK))
        return true;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (try_path(path, places[i], strlen(places[i]), MODULE, R_OK))
            return true;
    return false;
}

struct rig_programs cli_find_programs(struct cli_programs *found) {
    const ssize_t length = readlink("/proc/self/exe", found->self, RIG_PATH - 1);
    found->self[length > 0 ? length : 0] = 0;
    const size_t here = directory_of(found->self);
    return (struct rig_programs){
        .self = found->self,
        .nginx = find_program(found->nginx, "nginx") ? found->nginx : NULL,
        .haproxy = find_program(found->haproxy, "haproxy") ? found->haproxy : NULL,
        .module = find_module(found->module, found->self) ? found->module : NULL,
        .keeper = try_path(found->keeper, found->self, here, "ballastd", X_OK) ||
                          find_program(found->keeper, "ballastd")
                      ? found->keeper
                      : NULL,
        .lossy_preload =
            try_path(found->lossy_preload, found->self, here, "ballast-loss.so", R_OK) ||
                    try_path(found->lossy_preload, found->self, here, "../lib/ballast/ballast-loss.so", R_OK)
                ? found->lossy_preload
                : NULL,
    };
}
