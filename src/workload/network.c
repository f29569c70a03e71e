/* SPDX-License-Identifier: BSD-2-Clause */
/* Dispatchers, churn and servers that fail fast: reading and writing their texts, drawing the dispatcher of a
 * job. */
#include "ballast/network.h"

#include "ballast/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool bli_network_is_plain(const struct bli_network *network) {
    return network->dispatchers.count <= 1 && !(network->delay.mean > 0) && !(network->loss > 0) &&
           !(network->heartbeat > 0) && !(network->churn.up > 0) && !(network->fail_fast.share > 0) &&
           !network->ejection && network->events.count == 0 && !(network->cold.factor > 0) &&
           !(network->slow_start > 0);
}

bool bli_network_is_near(const struct bli_network *network) {
    struct bli_network one = *network;
    one.dispatchers = (struct bli_dispatchers){0};
    return bli_network_is_plain(&one);
}

bool bli_network_events_include(const struct bli_network_events *events, enum bli_network_event_kind kind) {
    for (unsigned i = 0; i < events->count; i++)
        if (events->event[i].kind == kind)
            return true;
    return false;
}

double bli_network_timeout(const struct bli_network *network, double unit) {
    return network->timeout > 0      ? network->timeout
           : network->delay.mean > 0 ? 10 * network->delay.mean
                                     : unit / 10;
}

bool bli_network_takes_time(const struct bli_network *network) {
    const struct bli_network_events *events = &network->events;
    return network->delay.mean > 0 || network->loss > 0 || network->churn.up > 0 ||
           bli_network_events_include(events, BLI_EVENT_LOSS) ||
           bli_network_events_include(events, BLI_EVENT_CUT) ||
           bli_network_events_include(events, BLI_EVENT_RESTART_SERVERS);
}

bool bli_network_fails(const struct bli_network *network) {
    return network->churn.up > 0 || network->fail_fast.share > 0 ||
           bli_network_events_include(&network->events, BLI_EVENT_RESTART_SERVERS) ||
           bli_network_events_include(&network->events, BLI_EVENT_CUT);
}

uint32_t bli_dispatchers_draw(const struct bli_dispatchers *dispatchers, struct bal_rng *rng) {
    if (dispatchers->count <= 1)
        return 0;
    if (!dispatchers->unequal)
        return bal_rng_below(rng, dispatchers->count);
    double u = bal_rng_uniform(rng);
    uint32_t d = 0;
    while (d + 1 < dispatchers->count && u >= dispatchers->share[d])
        u -= dispatchers->share[d++];
    return d;
}

/* The part of a text up to the next comma, without spaces around it. Returns where the rest begins, or NULL.
 */
static const char *next_part(const char *text, char part[64]) {
    const char *comma = strchr(text, ',');
    size_t length = comma ? (size_t)(comma - text) : strlen(text);
    while (length > 0 && text[0] == ' ') {
        text++;
        length--;
    }
    while (length > 0 && text[length - 1] == ' ')
        length--;
    snprintf(part, 64, "%.*s", (int)(length < 63 ? length : 63), text);
    return comma ? comma + 1 : NULL;
}

/* A number in a range, both ends included. */
static bool parse_number(const char *part, double low, double high, double *number) {
    return bli_share_parse(part, strlen(part), number) && *number >= low && *number <= high;
}

static enum bal_code wrong_dispatchers(const char *text, struct bal_error *err) {
    return bal_fail(
        err, BAL_E_SYNTAX,
        "'%.60s' is neither a number of dispatchers from 1 to %d nor shares of the jobs that sum to 1, "
        "such as 0.5,0.3,0.2",
        text, BLI_DISPATCHERS_MAX);
}

enum bal_code bli_dispatchers_parse(const char *text, struct bli_dispatchers *dispatchers,
                                    struct bal_error *err) {
    struct bli_dispatchers read = {0};
    char part[64];
    double sum = 0;
    if (!strchr(text, ',')) {
        next_part(text, part);
        double count;
        if (!parse_number(part, 1, BLI_DISPATCHERS_MAX, &count) || count != floor(count))
            return wrong_dispatchers(text, err);
        read.count = (uint32_t)count;
        *dispatchers = read;
        return BAL_OK;
    }
    read.unequal = true;
    for (const char *rest = text; rest; read.count++) {
        rest = next_part(rest, part);
        if (read.count == BLI_SHARES_MAX)
            return bal_fail(err, BAL_E_RANGE, "more than %d shares; give the number of dispatchers instead",
                            BLI_SHARES_MAX);
        if (!parse_number(part, 0, 1, &read.share[read.count]))
            return wrong_dispatchers(text, err);
        sum += read.share[read.count];
    }
    if (fabs(sum - 1) > 1e-9)
        return bal_fail(err, BAL_E_RANGE, "the shares of the dispatchers sum to %g, not to 1", sum);
    *dispatchers = read;
    return BAL_OK;
}

/* Appends to a text of limited size, as snprintf counts. */
static size_t append_text(char *text, size_t size, size_t length, const char *piece) {
    return length + (size_t)snprintf(length < size ? text + length : NULL, length < size ? size - length : 0,
                                     "%s", piece);
}

static size_t append_number(char *text, size_t size, size_t length, double number) {
    char piece[BLI_NUMBER_TEXT];
    bli_number_print(number, piece);
    return append_text(text, size, length, piece);
}

size_t bli_dispatchers_print(const struct bli_dispatchers *dispatchers, char *text, size_t size) {
    if (!dispatchers->unequal)
        return append_number(text, size, 0, dispatchers->count ? dispatchers->count : 1);
    size_t length = 0;
    for (uint32_t i = 0; i < dispatchers->count; i++) {
        length = append_text(text, size, length, i ? "," : "");
        length = append_number(text, size, length, dispatchers->share[i]);
    }
    return length;
}

enum bal_code bli_churn_parse(const char *text, struct bli_churn *churn, struct bal_error *err) {
    struct bli_churn read = {0};
    char up[64], down[64] = "", what[64] = "";
    const char *rest = next_part(text, up);
    if (!rest && strcmp(up, "none") == 0) {
        *churn = read;
        return BAL_OK;
    }
    rest = rest ? next_part(rest, down) : NULL;
    if (rest)
        rest = next_part(rest, what);
    read.lose = strcmp(what, "lose") == 0;
    if (rest || (*what && !read.lose) || !parse_number(up, 1e-9, 1e15, &read.up) ||
        !parse_number(down, 1e-9, 1e15, &read.down))
        return bal_fail(
            err, BAL_E_SYNTAX,
            "'%.60s' is neither none nor the mean times for which servers work and are down, such as "
            "1000,10 or, if their jobs are lost, 1000,10,lose",
            text);
    *churn = read;
    return BAL_OK;
}

size_t bli_churn_print(const struct bli_churn *churn, char *text, size_t size) {
    if (!(churn->up > 0))
        return append_text(text, size, 0, "none");
    size_t length = append_number(text, size, 0, churn->up);
    length = append_text(text, size, length, ",");
    length = append_number(text, size, length, churn->down);
    return append_text(text, size, length, churn->lose ? ",lose" : "");
}

enum bal_code bli_cold_parse(const char *text, struct bli_cold *cold, struct bal_error *err) {
    struct bli_cold read = {0};
    char factor[64], over[64] = "", what[64] = "";
    const char *rest = next_part(text, factor);
    if (!rest && strcmp(factor, "none") == 0) {
        *cold = read;
        return BAL_OK;
    }
    rest = rest ? next_part(rest, over) : NULL;
    if (rest)
        rest = next_part(rest, what);
    read.jobs = strcmp(what, "jobs") == 0;
    if (rest || (*what && !read.jobs) || !parse_number(factor, 1, 1e6, &read.factor) ||
        !parse_number(over, 1e-9, 1e15, &read.over))
        return bal_fail(err, BAL_E_SYNTAX,
                        "'%.60s' is neither none nor how many times as long jobs take at a server that has "
                        "come back, from 1 on, and for how long that falls, such as 5,20 or, by the number "
                        "of jobs, 5,100,jobs",
                        text);
    *cold = read;
    return BAL_OK;
}

size_t bli_cold_print(const struct bli_cold *cold, char *text, size_t size) {
    if (!(cold->factor > 0))
        return append_text(text, size, 0, "none");
    size_t length = append_number(text, size, 0, cold->factor);
    length = append_text(text, size, length, ",");
    length = append_number(text, size, length, cold->over);
    return append_text(text, size, length, cold->jobs ? ",jobs" : "");
}

enum bal_code bli_fail_fast_parse(const char *text, struct bli_fail_fast *fail_fast, struct bal_error *err) {
    struct bli_fail_fast read = {0};
    char share[64], time[64] = "";
    const char *rest = next_part(text, share);
    if (!rest && strcmp(share, "none") == 0) {
        *fail_fast = read;
        return BAL_OK;
    }
    if (rest)
        rest = next_part(rest, time);
    if (rest || !parse_number(share, 0, 1, &read.share) ||
        (*time && !parse_number(time, 1e-9, 1e15, &read.time)))
        return bal_fail(
            err, BAL_E_SYNTAX,
            "'%.60s' is neither none nor the share of servers that fail fast, such as 0.1, or with the "
            "time that they take, 0.1,0.05",
            text);
    *fail_fast = read;
    return BAL_OK;
}

size_t bli_fail_fast_print(const struct bli_fail_fast *fail_fast, char *text, size_t size) {
    if (!(fail_fast->share > 0))
        return append_text(text, size, 0, "none");
    size_t length = append_number(text, size, 0, fail_fast->share);
    if (fail_fast->time > 0) {
        length = append_text(text, size, length, ",");
        length = append_number(text, size, length, fail_fast->time);
    }
    return length;
}
