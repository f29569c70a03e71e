/* SPDX-License-Identifier: BSD-2-Clause */
/* Whatever the bytes, as a configuration of the keeper: one that can be used, or lines that name the file,
 * the line and the column of each mistake. */
#include "config.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void hear(void *context, const char *mistake) {
    size_t *told = context;
    ++*told;
    assert(strncmp(mistake, "fuzz.yaml:", 10) == 0);
    assert(mistake[10] >= '1' && mistake[10] <= '9');
    for (const char *c = mistake; *c; c++)
        assert((unsigned char)*c >= ' ' && *c != 0x7f);
}

static void check_app(const struct app_config *app) {
    struct bal_error err;
    assert(app->name && *app->name && strlen(app->name) <= CONFIG_NAME_MAX && !strchr(app->name, '/'));
    assert(app->id);
    assert((app->run.argv != NULL) + (app->start.argv != NULL) + (app->replicas != NULL) == 1);
    assert(!app->replicas || (app->ready.kind != CHECK_NONE && app->place < app->replicas->places));
    assert(!app->start.argv || app->stop.argv);
    assert(!app->run.argv || app->run.argv[0]);
    assert(bal_keeper_check(&app->times, &err) == BAL_OK);
    assert(app->ready.kind != CHECK_TCP || app->ready.address.size);
    assert(app->ready.kind != CHECK_HTTP || (app->ready.path && app->ready.host));
    assert(app->directory && app->directory[0] == '/');
}

static void check_replicas(const struct replicas_config *replicas) {
    struct bal_error err;
    assert(replicas->hook.name && *replicas->hook.name && !strchr(replicas->hook.name, '/'));
    assert(bal_scaler_check(&replicas->limits, &err) == BAL_OK);
    assert(replicas->places && replicas->limits.max <= replicas->places);
    assert(!replicas->scale.argv || replicas->scale.argv[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct config *config = NULL;
    size_t told = 0;
    const size_t mistakes =
        config_parse((const char *)data, size, "fuzz.yaml", "/nonexistent", &config, hear, &told);
    assert((mistakes == 0) == (told == 0) && told <= mistakes);
    if (mistakes)
        return 0;
    assert(bal_key_is_secret(&config->keys.first) && config->apps > 0);
    for (size_t i = 0; i < config->apps; i++)
        check_app(&config->app[i]);
    for (size_t i = 0; i < config->groups; i++)
        check_replicas(&config->replicas[i]);
    config_free(config);
    return 0;
}
