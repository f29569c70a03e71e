#include "ballast/model.h"

#include "ballast/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static enum bal_code bad_servers(const char *text, struct bal_error *err, const char *why) {
    return bal_fail(err, BAL_E_RANGE,
                    "servers '%.80s': %s; write a number such as 100 or groups COUNTxSPEED such as 50x1,50x10", text, why);
}

static enum bal_code parse_group(const char *text, const char *piece, size_t length, struct bal_group *group,
                                 struct bal_error *err) {
    const char *x = memchr(piece, 'x', length);
    const size_t count_length = x ? (size_t)(x - piece) : length;
    double count, speed = 1;
    if (!bal_number_parse(piece, count_length, &count) || count != floor(count) || count < 1 ||
        count > BAL_SERVERS_MAX)
        return bad_servers(text, err, "a count must be a whole number from 1 to 100M");
    if (x && (!bal_number_parse(x + 1, length - count_length - 1, &speed) || !(speed > 0)))
        return bad_servers(text, err, "a speed must be a number above 0");
    *group = (struct bal_group){(uint32_t)count, speed};
    return BAL_OK;
}

enum bal_code bal_servers_parse(const char *text, struct bal_servers *servers, struct bal_error *err) {
    struct bal_servers result = {0};
    uint64_t total = 0;
    for (const char *rest = text;;) {
        const size_t length = strcspn(rest, ",");
        if (result.groups == BAL_GROUPS_MAX)
            return bad_servers(text, err, "there are more than 32 groups");
        const enum bal_code code = parse_group(text, rest, length, &result.group[result.groups], err);
        if (code)
            return code;
        total += result.group[result.groups++].count;
        if (rest[length] == 0)
            break;
        rest += length + 1;
    }
    if (total > BAL_SERVERS_MAX)
        return bad_servers(text, err, "there are more than 100M servers in all");
    *servers = result;
    return BAL_OK;
}

size_t bal_servers_print(const struct bal_servers *servers, char *text, size_t size) {
    size_t length = 0;
    if (size)
        text[0] = 0;
    for (unsigned i = 0; i < servers->groups; i++) {
        const struct bal_group *group = &servers->group[i];
        char speed[BAL_NUMBER_TEXT];
        bal_number_print(group->speed, speed);
        const bool plain = servers->groups == 1 && group->speed == 1;
        const size_t room = length < size ? size - length : 0;
        length += (size_t)snprintf(room ? text + length : NULL, room, "%s%u%s%s", i ? "," : "", group->count,
                                   plain ? "" : "x", plain ? "" : speed);
    }
    return length;
}

uint32_t bal_servers_count(const struct bal_servers *servers) {
    uint32_t count = 0;
    for (unsigned i = 0; i < servers->groups; i++)
        count += servers->group[i].count;
    return count;
}

double bal_servers_capacity(const struct bal_servers *servers) {
    double capacity = 0;
    for (unsigned i = 0; i < servers->groups; i++)
        capacity += servers->group[i].count * servers->group[i].speed;
    return capacity;
}

double bal_model_arrival_rate(const struct bal_model *model) {
    return model->load * bal_servers_capacity(&model->servers) / model->size.mean;
}

enum bal_code bal_model_check(const struct bal_model *model, struct bal_error *err) {
    if (model->servers.groups == 0)
        return bal_fail(err, BAL_E_MODEL, "no servers are given; there must be at least 1");
    if (!(model->load > 0) || !isfinite(model->load))
        return bal_fail(err, BAL_E_RANGE, "load %g is not a number above 0", model->load);
    if (!(model->size.mean > 0) || !isfinite(model->size.mean)) {
        char law[200];
        bal_law_print(&model->size, law, sizeof law);
        return bal_fail(err, BAL_E_MODEL, "service '%s' has mean %g; a load needs a mean that is finite and above 0", law,
                        model->size.mean);
    }
    return BAL_OK;
}
