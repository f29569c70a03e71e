/* SPDX-License-Identifier: BSD-2-Clause */
/* Policies from files: finds and loads them, checks the version that they were built for, and parses them
 * like the others.
 *
 * A file is known by the SHA-256 of its contents. Its path alone would not do: somebody who works on a policy
 * builds it again under the same name, and a program that runs for long (a Python session) must then use the
 * new one. dlopen would return the old one for the same path, so a second version is loaded from a copy in
 * memory. So are files for a program that must survive that one is overwritten in place: dlopen maps the file
 * itself. */
#include "ballast/plugin.h"
#include "plugin/loader.h"

#include "base/sha256.h"
#include "policy/parse.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PLUGIN_PATH_MAX = 4000, FILE_MAX = 256 << 20, HASH = BLI_SHA256_TEXT - 1 };

struct loaded {
    const struct bal_policy *policy;
    char hash[BLI_SHA256_TEXT];
    char *path;
};
static struct loaded loaded[BLI_POLICIES_ADDED_MAX];
static size_t loaded_count;
static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER; /* of what is loaded */

/* "PATH.so@HASH:key=value": where its parts are. */
struct parts {
    size_t path;      /* the length of the path */
    const char *hash; /* of HASH digits; NULL: not given */
    const char *rest; /* "" or ":key=value,..." */
};

static bool split_text(const char *text, struct parts *parts) {
    for (const char *at = strstr(text, ".so"); at; at = strstr(at + 1, ".so")) {
        const char *end = at + strlen(".so");
        *parts = (struct parts){.path = (size_t)(end - text), .rest = end};
        if (*end == '@' && strspn(end + 1, "0123456789abcdef") == HASH) {
            parts->hash = end + 1;
            parts->rest = end + 1 + HASH;
        }
        if (*parts->rest == 0 || *parts->rest == ':')
            return true;
    }
    return false;
}

bool bli_plugin_is_path(const char *text) {
    struct parts parts;
    return split_text(text, &parts);
}

static bool is_plain_line(const char *text) {
    return text && *text && !strpbrk(text, "\n\r|");
}

static bool is_name(const char *text) {
    return is_plain_line(text) && strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(text);
}

/* The function that a policy lacks for what it declares; NULL: it has all. */
static const char *missing_of(const struct bal_policy *policy) {
    if (!is_name(policy->name))
        return "its name is not made of small letters, digits and dashes";
    if (!is_plain_line(policy->summary) || !is_plain_line(policy->paper) || !is_plain_line(policy->cost))
        return "summary, paper and cost must be one plain line each";
    if (!policy->route)
        return "it has no route";
    if (!policy->size != !policy->init || !policy->size != !policy->is_consistent)
        return "size, init and sound must be there all three, or none of them";
    if (policy->wants && !policy->report)
        return "it wants reports and has no function for them";
    if (!(policy->wants & BAL_WANTS_STILL_IDLE) != !policy->report_rate)
        return "reports of idle servers at a rate and report_rate belong together";
    if (!(policy->wants & BAL_WANTS_POWER) != !policy->power)
        return "reports of power and the function power belong together";
    if (policy->param_count > BAL_PARAMS_MAX || (policy->param_count && !policy->params))
        return "it has too many parameters, or no table of them";
    for (unsigned i = 0; i < policy->param_count; i++)
        if (!is_name(policy->params[i].name) || !is_plain_line(policy->params[i].help))
            return "a parameter has no plain name or help";
    return NULL;
}

static enum bal_code check_plugin(const char *path, const struct bal_plugin *plugin, struct bal_error *err) {
    if (plugin->contract != BAL_PLUGIN_CONTRACT)
        return bal_fail(err, BAL_E_MODEL,
                        "'%s' was built for contract %u of policies, and this is %d; build it again with the "
                        "headers of this version",
                        path, plugin->contract, BAL_PLUGIN_CONTRACT);
    if (plugin->policy_size != sizeof(struct bal_policy) || plugin->fleet_size != sizeof(struct bal_fleet))
        return bal_fail(err, BAL_E_MODEL,
                        "'%s' was built with other headers; build it again with those of this version", path);
    if (!plugin->policy)
        return bal_fail(err, BAL_E_MODEL, "'%s' exports no policy", path);
    const char *missing = missing_of(plugin->policy);
    if (missing)
        return bal_fail(err, BAL_E_MODEL, "the policy of '%s': %s", path, missing);
    if (bal_policy_find(plugin->policy->name))
        return bal_fail(
            err, BAL_E_MODEL,
            "the policy of '%s' is called '%s', as one that is there already; give it another name", path,
            plugin->policy->name);
    return BAL_OK;
}

/* ---- the file ---- */

struct contents {
    void *data;
    size_t size;
    char hash[BLI_SHA256_TEXT];
};

static enum bal_code read_contents(const char *path, struct contents *contents, struct bal_error *err) {
    struct stat status;
    FILE *file = fopen(path, "rbe");
    if (!file || fstat(fileno(file), &status) != 0) {
        const int reason = errno;
        if (file)
            fclose(file);
        return bal_fail(err, BAL_E_IO, "cannot load the policy '%.300s': %s", path, strerror(reason));
    }
    contents->size = S_ISREG(status.st_mode) && status.st_size <= FILE_MAX ? (size_t)status.st_size : 0;
    contents->data = malloc(contents->size + 1);
    const bool whole =
        contents->data && contents->size && fread(contents->data, 1, contents->size, file) == contents->size;
    fclose(file);
    if (!whole) {
        free(contents->data);
        contents->data = NULL;
        return bal_fail(err, BAL_E_IO, "cannot load the policy '%.300s': it is no file of code", path);
    }
    bli_sha256(contents->data, contents->size, contents->hash);
    return BAL_OK;
}

static bool was_loaded_from(const char *path) {
    for (size_t i = 0; i < loaded_count; i++)
        if (strcmp(loaded[i].path, path) == 0)
            return true;
    return false;
}

/* The descriptor stays open: dlopen knows files by their names, and this name must not come back. */
static void *open_copy(const struct contents *contents) {
#ifdef __linux__
    char name[40];
    const int copy = memfd_create("policy", MFD_CLOEXEC);
    if (copy < 0)
        return NULL;
    const unsigned char *at = contents->data;
    for (size_t left = contents->size; left > 0;) {
        const ssize_t written = write(copy, at, left);
        if (written <= 0)
            break;
        at += written;
        left -= (size_t)written;
    }
    snprintf(name, sizeof name, "/proc/self/fd/%d", copy);
    void *file = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!file)
        close(copy);
    return file;
#else
    (void)contents;
    return NULL; /* a file that has changed is loaded by another process only */
#endif
}

/* ---- loading ---- */

static const struct loaded *find_hash(const char *hash) {
    for (size_t i = 0; i < loaded_count; i++)
        if (strcmp(loaded[i].hash, hash) == 0)
            return &loaded[i];
    return NULL;
}

/* A file finds the functions that policies call among the global symbols of the process. Those of a program
 * are global; those of a library that another program has loaded for itself, as Python does, become so here.
 */
static void show_symbols(void) {
    static bool shown;
    Dl_info host;
    void *self = NULL;
    if (!shown && dladdr(&loading, &host) && host.dli_fname)
        self = dlopen(host.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
    if (self)
        dlclose(self); /* it stays loaded, and global */
    shown = true;
}

/* Two files may not have one name; a new version of a file takes the place of the old one. */
static enum bal_code add_loaded(const char *path, const char *hash, const struct bal_policy *policy,
                                struct bal_error *err) {
    for (size_t i = 0; i < loaded_count; i++)
        if (bli_policy_is_added(loaded[i].policy) && strcmp(loaded[i].policy->name, policy->name) == 0 &&
            strcmp(loaded[i].path, path) != 0)
            return bal_fail(err, BAL_E_MODEL, "two files have a policy '%s': '%s' and '%s'", policy->name,
                            loaded[i].path, path);
    char *copy = strdup(path);
    if (!copy)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory to load a policy");
    if (loaded_count == BLI_POLICIES_ADDED_MAX || !bli_policy_add(policy)) {
        free(copy);
        return bal_fail(err, BAL_E_RANGE, "'%s': more than %d files of policies", path,
                        BLI_POLICIES_ADDED_MAX);
    }
    struct loaded *added = &loaded[loaded_count++];
    *added = (struct loaded){.policy = policy, .path = copy};
    memcpy(added->hash, hash, sizeof added->hash);
    return BAL_OK;
}

static enum bal_code load_contents(const char *path, const struct contents *contents, bool copied,
                                   const struct bal_policy **policy, struct bal_error *err) {
    show_symbols();
    void *file = copied || was_loaded_from(path) ? open_copy(contents) : dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!file) {
        const char *reason = dlerror();
        return bal_fail(err, BAL_E_IO, "cannot load the policy: %s", reason ? reason : strerror(errno));
    }
    const struct bal_plugin *plugin = dlsym(file, "bal_plugin");
    enum bal_code code = plugin
                             ? check_plugin(path, plugin, err)
                             : bal_fail(err, BAL_E_MODEL,
                                        "'%s' is no policy: it does not export bal_plugin; see BAL_PLUGIN in "
                                        "ballast/plugin.h",
                                        path);
    if (!code)
        code = add_loaded(path, contents->hash, plugin->policy, err);
    if (!code)
        *policy = plugin->policy;
    return code;
}

static enum bal_code check_hash(const char *path, const struct contents *contents, const char *wanted,
                                struct bal_error *err) {
    if (!wanted || strncmp(wanted, contents->hash, HASH) == 0)
        return BAL_OK;
    return bal_fail(err, BAL_E_MODEL,
                    "the policy '%s' is another one now: its SHA-256 begins with %.12s, and %.12s is wanted; "
                    "bring that version back, or run the experiment again",
                    path, contents->hash, wanted);
}

static enum bal_code load_plugin(const char *text, const struct parts *parts, bool copied,
                                 const struct bal_policy **policy, struct bal_error *err) {
    char path[PLUGIN_PATH_MAX + 3];
    const char *here = memchr(text, '/', parts->path) ? "" : "./"; /* never along a search path */
    snprintf(path, sizeof path, "%s%.*s", here, (int)parts->path, text);
    struct contents contents;
    enum bal_code code = read_contents(path, &contents, err);
    if (code)
        return code;
    code = check_hash(path, &contents, parts->hash, err);
    const struct loaded *known = code ? NULL : find_hash(contents.hash);
    if (known) {
        *policy = known->policy;
        bli_policy_add(known->policy); /* the newest of its name again */
    } else if (!code) {
        code = load_contents(path, &contents, copied, policy, err);
    }
    free(contents.data);
    return code;
}

static enum bal_code parse_text(const char *text, bool copied, struct bal_policy_spec *spec,
                                struct bal_error *err) {
    struct parts parts;
    if (!split_text(text, &parts) || parts.path > PLUGIN_PATH_MAX)
        return bal_fail(err, BAL_E_SYNTAX, "'%.60s' is no path of a policy: it ends in .so", text);
    char named[1200];
    const struct bal_policy *policy = NULL;
    pthread_mutex_lock(&loading);
    const enum bal_code code = load_plugin(text, &parts, copied, &policy, err);
    pthread_mutex_unlock(&loading);
    if (code)
        return code;
    if ((size_t)snprintf(named, sizeof named, "%s%s", policy->name, parts.rest) >= sizeof named)
        return bal_fail(err, BAL_E_SYNTAX, "policy '%s': the parameters are too long", policy->name);
    return bal_policy_parse(named, spec, err);
}

enum bal_code bli_plugin_parse(const char *text, struct bal_policy_spec *spec, struct bal_error *err) {
    return parse_text(text, false, spec, err);
}

enum bal_code bli_plugin_parse_copy(const char *text, struct bal_policy_spec *spec, struct bal_error *err) {
    return parse_text(text, true, spec, err);
}

void bli_plugin_forget_names(void) {
    bli_policy_remove_added();
}

const char *bli_plugin_hash(const struct bal_policy *policy) {
    const char *hash = NULL;
    pthread_mutex_lock(&loading);
    for (size_t i = 0; i < loaded_count && !hash; i++)
        if (loaded[i].policy == policy)
            hash = loaded[i].hash;
    pthread_mutex_unlock(&loading);
    return hash;
}

/* ---- naming a file for good ---- */

bool bli_plugin_is_pinned(const char *text) {
    struct parts parts;
    return split_text(text, &parts) && parts.hash;
}

enum bal_code bli_plugin_pin(const char *text, const char *next_to, char **pinned, struct bal_error *err) {
    struct parts parts;
    if (!split_text(text, &parts) || parts.path > PLUGIN_PATH_MAX)
        return bal_fail(err, BAL_E_SYNTAX, "'%.60s' is no path of a policy: it ends in .so", text);
    const char *slash = *text != '/' && next_to ? strrchr(next_to, '/') : NULL;
    char *path = NULL, *real = NULL;
    struct contents contents;
    enum bal_code code = BAL_OK;
    *pinned = NULL;
    if (asprintf(&path, "%.*s%.*s", slash ? (int)(slash + 1 - next_to) : 0, slash ? next_to : "",
                 (int)parts.path, text) < 0)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory to name a policy");
    code = read_contents(path, &contents, err);
    if (!code) {
        free(contents.data);
        code = check_hash(path, &contents, parts.hash, err);
    }
    if (!code && (!(real = realpath(path, NULL)) ||
                  asprintf(pinned, "%s@%s%s", real, contents.hash, parts.rest) < 0)) {
        *pinned = NULL;
        code = bal_fail(err, BAL_E_IO, "cannot load the policy '%.300s': %s", path, strerror(errno));
    }
    free(real);
    free(path);
    return code;
}

bool bli_plugin_is_same(const char *pinned, const char *text) {
    struct parts known, named;
    if (!split_text(pinned, &known) || !split_text(text, &named) || strcmp(known.rest, named.rest) != 0)
        return false;
    while (strncmp(text, "./", 2) == 0) {
        text += 2;
        named.path -= 2;
    }
    const size_t before = known.path - named.path;
    return named.path <= known.path && strncmp(pinned + before, text, named.path) == 0 &&
           (before == 0 || pinned[before - 1] == '/');
}

const char *bli_plugin_params(const char *text) {
    struct parts parts;
    return split_text(text, &parts) ? parts.rest : "";
}
