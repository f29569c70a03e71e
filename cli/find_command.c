/* SPDX-License-Identifier: BSD-2-Clause */
/* Commands by their names. */
#include "commands.h"

#include "base/nearest.h"

#include <string.h>

/* Names of earlier versions: accepted, but not shown. */
static const struct {
    const char *name, *now;
} deprecated[] = {
    {"frontier", "stability"}, {"price", "cheapest"}, {"serve", "test-server"}, {"share", "priority-share"}};

static const char *replace_deprecated(const char *name) {
    for (size_t i = 0; i < sizeof deprecated / sizeof *deprecated; i++)
        if (strcmp(deprecated[i].name, name) == 0)
            return deprecated[i].now;
    return name;
}

const struct cli_command *cli_find_command(const char *given) {
    const char *name = replace_deprecated(given);
    for (size_t i = 0; i < cli_command_count; i++)
        if (strcmp(cli_commands[i]->name, name) == 0)
            return cli_commands[i];
    return NULL;
}

int cli_unknown_command(const char *name) {
    char list[500] = "";
    size_t used = 0;
    struct bli_nearest nearest = {.text = name, .length = strlen(name)};
    for (size_t i = 0; i < cli_command_count && used < sizeof list; i++) {
        bli_nearest_offer(&nearest, cli_commands[i]->name);
        used +=
            (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", cli_commands[i]->name);
    }
    if (nearest.name)
        return cli_fail("unknown command '%.100s'; did you mean '%s'?", name, nearest.name);
    return cli_fail("unknown command '%.100s'; the commands are %s", name, list);
}
