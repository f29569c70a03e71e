/* SPDX-License-Identifier: BSD-2-Clause */
/* The keys of replicas, and which apps are their places. */
#include "config_reader.h"

#include <stddef.h>
#include <string.h>

enum { DAY = 86400000 };

#define AT(member) offsetof(struct replicas_config, member)
#define AS(member) offsetof(struct replicas_config, hook.member)
static const struct key replicas_keys[] = {
    {"name", config_read_name, AS(name), NULL,
     "in logs, metrics and in the state directory; apps name it with `replica_of`"},
    {"scale", config_read_command, AT(scale), NULL,
     "the command that sees to it that `{n}` replicas run; without it the number is only published"},
    {"min", config_read_count, AT(limits.min), "0", "replicas that are kept", 0, CONFIG_APPS_MAX},
    {"max", config_read_count, AT(limits.max), "0", "replicas at most; 0: as many as there are apps", 0,
     CONFIG_APPS_MAX},
    {"pause_up", config_read_time, AT(limits.pause_up_ns), "0s",
     "after the number has changed it is not raised for so long", 0, DAY},
    {"pause_down", config_read_time, AT(limits.pause_down_ns), "30s",
     "after the number has changed it is not lowered for so long", 0, DAY},
    {"timeout", config_read_time, AT(limits.timeout_ns), "30s",
     "`scale` may take so long; then it is ended by force", 1, DAY},
    {"back_off", config_read_time, AT(limits.back_off_ns), "1s",
     "after a `scale` that failed; then twice as long each time", 1, DAY},
    {"back_off_most", config_read_time, AT(limits.back_off_most_ns), "1min", "but not longer than this", 1,
     DAY},
    {"restate", config_read_time, AT(limits.restate_ns), "1min",
     "`scale` is run so often even when the number has not changed", 1, DAY},
    {"shell", config_read_flag, AS(shell), "false", "`scale` is a text and is given to /bin/sh"},
    {"user", config_read_text, AS(user), NULL, "`scale` runs as this user; without it as the keeper's"},
    {"directory", config_read_path, AS(directory), "/", "where it runs"},
    {"environment", config_read_environment, AS(environment), NULL, "`{NAME: value}`, as for apps"},
    {"new_privileges", config_read_flag, AS(new_privileges), "false", "it may gain privileges (sudo)"},
    {"processes", config_read_count, AS(processes), "4096", "processes that the user may have (RLIMIT_NPROC)",
     1, 1 << 22},
    {"output", config_read_id, AS(output), "4096", "bytes of its output that are logged", 0, 1 << 20},
};
#undef AT
#undef AS
const struct config_table config_replicas_table = {"replicas", replicas_keys,
                                                   sizeof replicas_keys / sizeof *replicas_keys};

static bool names_number(const struct command *command) {
    for (char **word = command->argv; *word; word++)
        if (strstr(*word, "{n}"))
            return true;
    return false;
}

static void read_group(struct config_reader *r, int node, struct replicas_config *replicas) {
    if (!config_is_kind(r, node, "replicas", BLI_NODE_MAP))
        return;
    const size_t mistakes = r->mistakes;
    config_read_map(r, &config_replicas_table, node, 0, replicas);
    const struct bal_scaler_config *limits = &replicas->limits;
    if (!replicas->hook.name)
        config_mistake(r, node, "replicas", "replicas need a name");
    if (r->mistakes > mistakes)
        return; /* what follows would only be a consequence */
    config_find_user(r, node, &replicas->hook);
    config_check_shell(r, bli_node_get(r->document, node, "scale"), "scale", &replicas->scale,
                       replicas->hook.shell);
    if (replicas->scale.argv && !names_number(&replicas->scale))
        config_mistake(r, bli_node_get(r->document, node, "scale"), "scale",
                       "no word has {n}, which stands for the number of replicas");
    if (limits->back_off_most_ns < limits->back_off_ns)
        config_mistake(r, node, "back_off_most", "the longest back-off is shorter than the first");
}

void config_read_replicas(struct config_reader *r, int node, const struct key *key, void *into) {
    struct config *config = into;
    if (!config_is_kind(r, node, key->name, BLI_NODE_LIST))
        return;
    const size_t count = bli_node_count(r->document, node);
    config->replicas = bli_arena_take(&config->arena, count, sizeof *config->replicas);
    config->groups = config->replicas ? count : 0;
    for (size_t i = 0; i < config->groups; i++)
        read_group(r, bli_node_item(r->document, node, i), &config->replicas[i]);
}

static struct replicas_config *find_group(const struct config *config, const char *name) {
    for (size_t i = 0; i < config->groups; i++)
        if (config->replicas[i].hook.name && strcmp(config->replicas[i].hook.name, name) == 0)
            return &config->replicas[i];
    return NULL;
}

/* Files of the state directory are named after apps and replicas alike. */
static void check_names(struct config_reader *r, int list) {
    const struct config *config = r->config;
    for (size_t i = 0; i < config->groups; i++) {
        const char *name = config->replicas[i].hook.name;
        const int node = bli_node_item(r->document, list, i);
        if (name && find_group(config, name) != &config->replicas[i])
            config_mistake(r, node, "name", "there are two replicas '%s'", name);
        for (size_t k = 0; name && k < config->apps; k++)
            if (config->app[k].name && strcmp(config->app[k].name, name) == 0)
                config_mistake(r, node, "name", "there is an app '%s', too", name);
    }
}

static void check_limits(struct config_reader *r, int node, struct replicas_config *replicas) {
    struct bal_scaler_config *limits = &replicas->limits;
    const uint32_t places = (uint32_t)replicas->places;
    if (places == 0)
        config_mistake(r, node, replicas->hook.name, "no app is a replica of it (replica_of: %s)",
                       replicas->hook.name);
    if (limits->max > places)
        config_mistake(r, node, "max", "%u is more than there are apps of it, %u", limits->max, places);
    limits->max = limits->max ? limits->max : places;
    if (limits->min > limits->max)
        config_mistake(r, node, "min", "%u is more than max, %u", limits->min, limits->max);
}

void config_find_places(struct config_reader *r, int root) {
    struct config *config = r->config;
    const int apps = bli_node_get(r->document, root, "apps");
    const int list = bli_node_get(r->document, root, "replicas");
    for (size_t i = 0; i < config->apps; i++) {
        struct app_config *app = &config->app[i];
        struct replicas_config *replicas = app->replica_of ? find_group(config, app->replica_of) : NULL;
        if (app->replica_of && !replicas)
            config_mistake(r, bli_node_item(r->document, apps, i), "replica_of",
                           "there are no replicas '%.60s'", app->replica_of);
        if (replicas)
            app->place = (uint32_t)replicas->places++;
        app->replicas = replicas;
    }
    check_names(r, list);
    for (size_t i = 0; i < config->groups; i++)
        if (config->replicas[i].hook.name)
            check_limits(r, bli_node_item(r->document, list, i), &config->replicas[i]);
}
