/* Policies from files: finds and loads them, checks the version that they were built for, and parses them
 * like the others. */
#include "ballast/plugin.h"

#include "policy/parse.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 64, PATH_MOST = 4000 };
static const struct bal_policy *loaded[MOST + 1]; /* NULL behind the last */

static const struct bal_policy *loaded_at(size_t i) {
    return i < MOST ? loaded[i] : NULL;
}

/* The length of the path in front of the parameters; 0: it is none. */
static size_t path_length(const char *text) {
    for (const char *at = strstr(text, ".so"); at; at = strstr(at + 1, ".so"))
        if (at[3] == 0 || at[3] == ':')
            return (size_t)(at + 3 - text);
    return 0;
}

bool bal_plugin_is_path(const char *text) {
    return path_length(text) > 0;
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

/* Two files may not have one name. */
static enum bal_code add_loaded(const char *path, const struct bal_policy *policy, struct bal_error *err) {
    size_t i = 0;
    for (; i < MOST && loaded[i]; i++) {
        if (loaded[i] == policy)
            return BAL_OK;
        if (strcmp(loaded[i]->name, policy->name) == 0)
            return bal_fail(err, BAL_E_MODEL, "two files have a policy '%s', one of them '%s'", policy->name,
                            path);
    }
    if (i == MOST)
        return bal_fail(err, BAL_E_RANGE, "'%s': more than %d files of policies", path, MOST);
    loaded[i] = policy;
    return BAL_OK;
}

static enum bal_code load_plugin(const char *path, const struct bal_policy **policy, struct bal_error *err) {
    char there[PATH_MOST + 3];
    snprintf(there, sizeof there, "%s%s", strchr(path, '/') ? "" : "./", path); /* never along a search path
                                                                                 */
    void *file = dlopen(there, RTLD_NOW | RTLD_LOCAL);
    if (!file)
        return bal_fail(err, BAL_E_IO, "cannot load the policy: %s", dlerror());
    const struct bal_plugin *plugin = dlsym(file, "bal_plugin");
    if (!plugin)
        return bal_fail(
            err, BAL_E_MODEL,
            "'%s' is no policy: it does not export bal_plugin; see BAL_PLUGIN in ballast/plugin.h", path);
    enum bal_code code = check_plugin(path, plugin, err);
    if (!code)
        code = add_loaded(path, plugin->policy, err);
    *policy = plugin->policy;
    return code;
}

enum bal_code bal_plugin_parse(const char *text, struct bal_policy_spec *spec, struct bal_error *err) {
    const size_t length = path_length(text);
    if (length == 0 || length > PATH_MOST)
        return bal_fail(err, BAL_E_SYNTAX, "'%.60s' is no path of a policy: it ends in .so", text);
    char path[PATH_MOST + 1], named[1200];
    snprintf(path, sizeof path, "%.*s", (int)length, text);
    const struct bal_policy *policy = NULL;
    const enum bal_code code = load_plugin(path, &policy, err);
    if (code)
        return code;
    if ((size_t)snprintf(named, sizeof named, "%s%s", policy->name, text + length) >= sizeof named)
        return bal_fail(err, BAL_E_SYNTAX, "policy '%s': the parameters are too long", policy->name);
    return bal_policy_parse_among(loaded_at, named, spec, err);
}
